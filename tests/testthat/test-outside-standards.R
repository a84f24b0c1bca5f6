# tests/dev/standards.csv: each standard of rOpenSci with the places that show it.

test_that("each standard that is met names a place that exists, and nine tenths are met", {
  top <- test_path("..", "..")
  file <- file.path(top, "tests", "dev", "standards.csv")
  skip_if_not(file.exists(file))
  table <- utils::read.csv(file, colClasses = "character")
  expect_identical(anyDuplicated(table$id), 0L)
  expect_true(all(table$state %in% c("met", "not met", "not applicable")))
  applies <- table$state != "not applicable"
  expect_gte(mean(table$state[applies] == "met"), .9)
  # Standards that are not met, or do not apply, are argued.
  expect_true(all(nzchar(table$where)))
  expect_true(all(nzchar(table$place[table$state == "met"])))
  # "file" or "file: words that are in it".
  places <- strsplit(table$place, "; ", fixed = TRUE)
  for (i in seq_along(places)) for (place in places[[i]]) {
    path <- file.path(top, sub(": .*", "", place))
    words <- if (grepl(": ", place, fixed = TRUE)) sub("^[^:]*: ", "", place)
    there <- file.exists(path) && (is.null(words) ||
      any(grepl(words, readLines(path, encoding = "UTF-8"), fixed = TRUE)))
    expect_true(there, info = paste(table$id[i], place))
  }
})
