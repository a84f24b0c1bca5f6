# The calls in NEWS exist.

skip_on_cran()

test_that("the calls that NEWS names exist with the arguments that it gives them", {
  file <- system.file("NEWS.md", package = "ufselect")
  skip_if(!nzchar(file), "NEWS.md is not installed")
  lines <- readLines(file, encoding = "UTF-8")
  # News of the version that is installed.
  heads <- grep("^# ", lines)
  lines <- lines[seq(heads[1L], c(heads, length(lines) + 1L)[2L] - 1L)]
  text <- gsub("[ \n]+", " ", paste(lines, collapse = " "))
  calls <- unique(regmatches(text, gregexpr("`ufs_[a-z_]+\\([^`]*\\)`", text))[[1L]])
  expect_gt(length(calls), 5L)
  gone <- regmatches(text, gregexpr("`ufs_[a-z_]+\\(\\)` (is gone|was removed)", text))[[1L]]
  for (call in setdiff(calls, sub(" .*", "", gone))) {
    bare <- gsub("`", "", call)
    name <- sub("\\(.*", "", bare)
    expect_true(name %in% getNamespaceExports("ufselect"), label = call)
    inside <- sub("^[^(]*\\((.*)\\)$", "\\1", bare)
    given <- regmatches(inside, gregexpr("(^|, *)[a-z_]+ *=", inside))[[1L]]
    wanted <- names(formals(getExportedValue("ufselect", name)))
    if (!"..." %in% wanted) expect_identical(setdiff(gsub("[^a-z_]", "", given), wanted), character(), label = call)
  }
})
