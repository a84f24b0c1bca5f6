# testthat is suggested: without it there is nothing to run.
if (requireNamespace("testthat", quietly = TRUE)) {
  library(testthat)
  library(ufselect)
  test_check("ufselect")
}
