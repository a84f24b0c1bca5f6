test_that("the R Markdown template renders, with the user's own file too", {
  skip_processes()
  skip_if_not_installed("rmarkdown")
  skip_if_not_installed("clue")
  skip_if_not(rmarkdown::pandoc_available("1.12.3"))
  folder <- withr::local_tempdir()
  draft <- rmarkdown::draft(file.path(folder, "report.Rmd"), "selection-report", package = "ufselect", edit = FALSE)
  page <- rmarkdown::render(draft, quiet = TRUE, envir = new.env())
  # Fixed strings, line by line: the pictures make megabytes of one line.
  says <- function(page, text) any(grepl(text, readLines(page, warn = FALSE), fixed = TRUE))
  expect_true(says(page, "Petal.Length"))
  expect_true(says(page, "k-means on the chosen features"))
  file <- file.path(folder, "mine.csv")
  utils::write.csv(data.frame(class = iris$Species, iris[, 1:4]), file, row.names = FALSE)
  page <- rmarkdown::render(draft, quiet = TRUE, envir = new.env(),
    params = list(file = file, label = "class", method = "pca"))
  expect_true(says(page, "ufs_pca"))
  # A method that chooses samples only, and one that solves for its k.
  page <- rmarkdown::render(draft, quiet = TRUE, envir = new.env(),
    params = list(file = file, label = "class", method = "ted", k = 9))
  expect_true(says(page, "ufs_ted"))
  page <- rmarkdown::render(draft, quiet = TRUE, envir = new.env(),
    params = list(file = file, label = "class", method = "topk", k = 2))
  expect_true(says(page, "ufs_topk"))
})
