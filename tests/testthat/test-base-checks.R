# Words about arguments that are wrong or missing, and calls as they are kept.

test_that("a missing number, a value by its class and a setting that no plot has are named", {
  for (check in list(check_count, check_counts, check_number)) {
    asks <- function(k) check(k, "k")
    expect_error(asks(), "`k` is missing", class = "ufs_error_argument")
  }
  expect_refusals("it is an object of class numeric" = ufs_graph(mtcars, n_neighbours = seq(1, 9, 0.7)),
    "it is 1.5" = ufs_graph(mtcars, n_neighbours = 1.5))
  withr::local_pdf(NULL)
  expect_error(plot(ufs_graph(mtcars), colour = 2), "Unknown argument `colour`", class = "ufs_error_argument")
})

test_that("calls with data in quote(), packages that are not there and choices of several words are named", {
  fit <- eval(call("ufs_variance", call("quote", as.matrix(mtcars)), k = 2))
  expect_identical(fit$call$x, as.name("<matrix 32 x 11>"))
  expect_identical(fit$call$k, 2)
  expect_refused(check_installed("nosuchpackage", "for a test"),
    "The package 'nosuchpackage' is needed for a test. Install it with install.packages(\"nosuchpackage\").", "ufs_error_package")
  expect_refused(ufs_data(NULL), "not NULL", "ufs_error_input")
  for (odd in list(factor("a"), c("a", "b"), list("a"), 1, NA)) {
    expect_error(check_choice(odd, "how", c("a", "b", "c")), "`how`", class = "ufs_error_argument")
  }
  expect_identical(check_choice("b", "how", c("a", "b", "c")), "b")
})
