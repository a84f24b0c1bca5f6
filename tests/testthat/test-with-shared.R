# What the adapters to recipes and mlr3 share.

test_that("what is given by place is refused where a framework may put columns in another order", {
  given <- list(cost = 1:4, include = 2, exclude = c(TRUE, FALSE, FALSE, FALSE), feature_strata = c("a", "a", "b", "b"))
  by_name <- list(cost = c(Sepal.Length = 5, Sepal.Width = 1, Petal.Length = 1, Petal.Width = 1),
    include = "Sepal.Width", exclude = function(name) name == "Sepal.Length",
    feature_strata = c(Sepal.Length = "a", Sepal.Width = "a", Petal.Length = "b", Petal.Width = "b"))
  expect_setequal(c(names(given), "feature_quotas"), constraint_names(option = TRUE))
  ranked <- function(option) rank_for(iris[4:1], "variance", 2, option, standardise = "auto", na = "error", seed = 1)
  for (name in names(given)) {
    expect_error(ranked(given[name]), class = "ufs_error_argument", paste0("`", name, "` needs the names of the columns"))
    expect_type(ranked(by_name[name]), "list")
  }
  expect_identical(ranked(by_name["include"])$features[ranked(by_name["include"])$ranking[1]], "Sepal.Width")
})
