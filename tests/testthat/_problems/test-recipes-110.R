# Extracted from test-recipes.R:110

# setup ------------------------------------------------------------------------
library(testthat)
test_env <- simulate_test_env(package = "ufselect", path = "..")
attach(test_env, warn.conflicts = FALSE)

# prequel ----------------------------------------------------------------------
skip_if_not_installed("recipes", "1.1.0")
suppressPackageStartupMessages(library(recipes))

# test -------------------------------------------------------------------------
rec <- recipe(mpg ~ ., mtcars) |>
    step_select_ufs(all_predictors(), method = "variance", num_terms = 3)
trained <- prep(rec)
kept <- setdiff(names(bake(trained, mtcars)), "mpg")
gone <- setdiff(names(mtcars), c(kept, "mpg"))
loose <- update_role(rec, all_of(kept), new_role = "other") |>
    update_role_requirements("other", bake = FALSE)
expect_error(bake(trained, mtcars[setdiff(names(mtcars), kept[1])]), kept[1])
expect_named(bake(trained, mtcars[c(kept, "mpg")]), c(names(mtcars)[names(mtcars) %in% kept], "mpg"))
