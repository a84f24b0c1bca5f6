# All that is said of results: a line that is false is seen here, whatever else is green.

test_that("print, summary, tables and pictures say what they said", {
  skip_on_cran()
  for (package in c("generics", "ggplot2")) skip_if_not_installed(package)
  skip_if_not_installed("tibble")
  results <- results_to_show()
  said <- unlist(lapply(names(results), function(name) all_said(name, results[[name]])))
  expect_snapshot(writeLines(said))
})

test_that("every result refuses what it does not know, in words of this package", {
  skip_on_cran()
  for (package in c("generics", "ggplot2")) skip_if_not_installed(package)
  results <- results_to_show()
  doors <- list(print = print, summary = summary, as.data.frame = as.data.frame, autoplot = ggplot2::autoplot,
    tidy = generics::tidy, glance = generics::glance)
  for (name in names(results)) for (door in names(doors)) {
    if (!inherits(results[[name]], "ufs_result") && !door %in% c("print", if (name != "control") "summary")) next
    expect_error(utils::capture.output(doors[[door]](results[[name]], foo = 1)), class = "ufs_error_argument", label = paste(door, name))
  }
})
