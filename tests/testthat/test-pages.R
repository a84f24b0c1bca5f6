# The advice of pages, prints and the table of methods, read side by side.

# The text of a page of help, on lines as long as they come.
help_lines <- function(name, width = 500) {
  page <- tools::Rd_db("ufselect")[[paste0(name, ".Rd")]]
  capture.output(tools::Rd2txt(page, options = list(underline_titles = FALSE, width = width)))
}

functions_in <- function(text) unlist(regmatches(text, gregexpr("ufs_[a-z_]+(?=\\()", text, perl = TRUE)))

vignette_lines <- function(name) {
  source <- test_path("..", "..", "vignettes", paste0(name, ".Rmd"))
  installed <- system.file("doc", paste0(name, ".Rmd"), package = "ufselect")
  file <- c(source, installed)[file.exists(c(source, installed))]
  if (!length(file)) skip("no vignettes here")
  readLines(file[1L], encoding = "UTF-8")
}

# What each is recommended for, in the words of ufs_methods().
advised <- c(compress = "compressing", classify = "classifying with few columns",
  cluster = "clustering with few columns", wide = "clustering with few columns of wide data",
  label = "choosing samples to label when m is fixed", ordered = "choosing samples to label when m is open",
  curves = "choosing spectra to measure")

# The method that ufs_select() takes for each.
planned <- function(what) {
  task <- if (what == "wide") "cluster" else if (what %in% c("ordered", "curves")) "label" else what
  planned_method(list(values = "one unit"), list(task = task, noise = FALSE, weights = FALSE, ordered = what == "ordered",
    curves = what == "curves"), what == "wide", character())
}

recommended <- function() {
  table <- ufs_methods()
  table <- table[grepl("^recommended for ", table$advice), ]
  said <- strsplit(sub("^recommended for ", "", table$advice), ", and for ", fixed = TRUE)
  said <- lapply(said, function(words) sub("(: an order|, with .*)$", "", words))
  data.frame(method = rep(table$method, lengths(said)), what = unlist(said))
}

test_that("one method is recommended for each task and kind, the same in ufs_select(), help, pages and prints", {
  found <- recommended()
  expect_setequal(found$what, advised)
  expect_identical(anyDuplicated(found$what), 0L)
  for (what in names(advised)) expect_identical(found$method[found$what == advised[[what]]], planned(what), info = what)
  # A method of another task is not advertised in the words of this one.
  others <- ufs_methods()
  others <- others[!grepl("^recommended", others$advice) & grepl("compress|classif|label", others$advice), ]
  expect_match(others$advice, "^situational: .*(ufs_css|loss|select)")
  expect_true(all(grepl("ufs_css()", others$advice, fixed = TRUE)))
  expect_lte(length(help_lines("ufs_select", 80)), 120L)
  lines <- help_lines("ufs_select")
  row <- function(task) {
    line <- grep(paste0("^ *.\"", task, "\". +.ufs_"), lines, value = TRUE)
    expect_length(line, 1L)
    functions_in(line)
  }
  name <- function(...) paste0("ufs_", vapply(c(...), planned, ""))
  expect_identical(row("compress"), name("compress"))
  expect_identical(row("classify")[1L], name("classify"))
  expect_identical(row("cluster")[1:2], name("cluster", "wide"))
  expect_identical(row("label")[1:3], name("label", "ordered", "curves"))
  noisy <- function(large) paste0("ufs_", planned_method(list(values = "one unit"), list(task = "classify", noise = TRUE),
    large, character()))
  expect_identical(row("classify")[2:3], c(noisy(FALSE), noisy(TRUE)))
  expect_match(paste(lines, collapse = " "), "explained variance beside random choices is of rows left out", fixed = TRUE)
  lines <- vignette_lines("which-method")
  row <- function(words) functions_in(strsplit(grep(words, lines, value = TRUE, fixed = TRUE)[1L], "|", fixed = TRUE)[[1L]][3L])
  name <- function(...) paste0("ufs_", vapply(c(...), planned, ""))
  expect_identical(row("(compress) |"), name("compress"))
  expect_identical(row("(classify) |"), name("classify"))
  expect_identical(row("(cluster) |"), name("cluster", "wide"))
  expect_identical(row("| samples to label first |"), name("label", "ordered"))
  samples <- paste(vignette_lines("which-samples"), collapse = " ")
  expect_match(samples, "task = \"label\")`, which takes `ufs_medoids()`", fixed = TRUE)
  expect_match(samples, "take `ufs_facility()` (`ordered = TRUE`)", fixed = TRUE)

  laboratory <- paste(vignette_lines("laboratory"), collapse = " ")
  expect_match(laboratory, "For spectra: `ufs_select(spectra, m = 30, task = \"label\")`, which takes SNV", fixed = TRUE)
  said <- gsub(" +", " ", paste(capture.output(print(ufs_ted(iris[, 1:4], m = 3))), collapse = " "))
  expect_match(said, "Recommended for choosing spectra to measure, with similarity = \"heat\"", fixed = TRUE)
})

test_that("the page of the fields that fits share has all of them", {
  page <- paste(help_lines("ufs_fields"), collapse = " ")
  x <- iris[, 1:4]
  fits <- list(ufs_pca(x, 2), ufs_css(x, 2), ufs_medoids(x, m = 3), ufs_socfs(x, 3), ufs_alfs(x))
  shared <- Reduce(intersect, lapply(fits, names))
  expect_true(all(c("params", "certificate", "constraints") %in% union(shared, "constraints")))
  for (name in shared) expect_match(page, paste0("['\u2018]", name, "['\u2019]"))
})

test_that("each of the five systems has its section, with the settings of its paper and what was measured here", {
  file <- test_path("..", "..", "vignettes", "articles", "papers.Rmd")
  if (!file.exists(file)) skip("no articles here")
  lines <- readLines(file, encoding = "UTF-8")
  start <- grep("^## ", lines)
  parts <- split(lines, findInterval(seq_along(lines), start))[-1L]
  names(parts) <- sub("^## ", "", lines[start])
  method <- c(SOCFS = "socfs", JSPCA = "jspca", ALFS = "alfs", `Top-k` = "topk", BLFSE = "blfse")
  expect_named(parts, names(method))
  for (name in names(method)) {
    text <- paste(parts[[name]], collapse = "\n")
    expect_match(text, paste0("ufs_grid\\(.*\"", method[[name]], "\", \""), info = name)
    expect_match(text, "fit <- ", info = name)
    expect_match(text, "pairs_plot\\(|points\\(table|figures\\(table|evidence/decisions[.]md", info = name)
  }
})
