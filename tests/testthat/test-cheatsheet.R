# Every call on the cheat sheet runs, in its order, on data of the kind it is about.

skip_on_cran()

# The calls in the R blocks that are printed and not run, one list for each block.
printed_calls <- function(path) {
  lines <- readLines(path)
  begin <- which(lines == "```r")
  end <- vapply(begin, function(at) at + which(lines[-seq_len(at)] == "```")[1L], 0L)
  Map(function(a, b) parse(text = lines[(a + 1L):(b - 1L)], keep.source = FALSE), begin, end)
}

# What a call needs that may be absent, by the words in it.
needs <- list(recipes = "step_|recipe", tune = "tune", mlr3filters = "mlr3filters", HDF5Array = "HDF5Array",
  mlr3pipelines = "mlr3pipelines", SummarizedExperiment = "sce", Matrix = "dgCMatrix", future = "future::",
  generics = "generics::", e1071 = "ufs_compare", rpart = "ufs_compare")
# These need a session of one's own: a pager, a browser, handlers around all that follows.
elsewhere <- "^`\\?`|ufs_explore|progressr::handlers"

# What the sheet calls x, y and so on.
sheet_data <- function() {
  env <- new.env()
  data <- planted(120, 60, informative = 12)
  env$x <- `dimnames<-`(data$x, list(paste0("s", 1:120), paste0("f", 1:60)))
  env$newdata <- env$x[1:5, ]
  env$y <- factor(data$cluster)
  env$y_some <- replace(env$y, -(1:20), NA)
  env$fit1 <- ufs_css(env$x)
  env$fit2 <- suppressWarnings(ufs_variance(env$x, scale = FALSE))
  env$table <- data.frame(env$x, y = env$y)
  if (requireNamespace("Matrix", quietly = TRUE)) env$dgCMatrix <- Matrix::Matrix(round(env$x), sparse = TRUE)
  if (requireNamespace("HDF5Array", quietly = TRUE)) env$HDF5Array <- methods::as(env$x, "HDF5Array")
  if (requireNamespace("SummarizedExperiment", quietly = TRUE)) {
    env$sce <- SummarizedExperiment::SummarizedExperiment(list(logcounts = t(env$x)))
  }
  env
}

# Debian's recipes may be older than the step needs.
has_package <- function(name) {
  requireNamespace(name, quietly = TRUE) && (name != "recipes" || utils::packageVersion(name) >= "1.1.0")
}

test_that("every call of the cheat sheet runs", {
  path <- system.file("cheatsheet", "ufselect.Rmd", package = "ufselect")
  skip_if(path == "")
  skip_processes()
  blocks <- printed_calls(path)
  expect_gt(length(unlist(blocks)), 40)
  withr::local_dir(withr::local_tempdir())
  withr::local_options(ufselect.max_bytes = NULL)
  withr::local_pdf(NULL)
  env <- sheet_data()
  ran <- 0L
  for (block in blocks) for (call in block) {
    text <- paste(deparse(call), collapse = " ")
    wanted <- names(needs)[vapply(needs, grepl, NA, text)]
    if (grepl(elsewhere, text) || length(wanted[!vapply(wanted, has_package, NA)])) next
    failed <- tryCatch({
      suppressMessages(suppressWarnings(utils::capture.output(print(eval(call, env)))))
      NULL
    }, error = conditionMessage)
    expect_identical(failed, NULL, info = text)
    if (grepl("future::plan", text)) future::plan("sequential")
    ran <- ran + 1L
  }
  expect_gt(ran, 35)
})
