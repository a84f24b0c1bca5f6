# All that is said of results: a line that is false is seen here, whatever else is green.

skip_on_cran()
skip_if_not_installed("generics")
skip_if_not_installed("ggplot2")

test_that("print, summary, tables and pictures say what they said", {
  skip_if_not_installed("tibble")
  results <- results_to_show()
  said <- unlist(lapply(names(results), function(name) all_said(name, results[[name]])))
  expect_snapshot(writeLines(said))
})

test_that("every result refuses what it does not know, in words of this package", {
  results <- results_to_show()
  doors <- list(print = print, summary = summary, as.data.frame = as.data.frame, autoplot = ggplot2::autoplot,
    tidy = generics::tidy, glance = generics::glance)
  for (name in names(results)) for (door in names(doors)) {
    if (!inherits(results[[name]], "ufs_result") && !door %in% c("print", if (name != "control") "summary")) next
    expect_error(utils::capture.output(doors[[door]](results[[name]], foo = 1)), class = "ufs_error_argument", label = paste(door, name))
  }
})
