# Extracted from test-recipes.R:120

# setup ------------------------------------------------------------------------
library(testthat)
test_env <- simulate_test_env(package = "ufselect", path = "..")
attach(test_env, warn.conflicts = FALSE)

# prequel ----------------------------------------------------------------------
skip_if_not_installed("recipes", "1.1.0")
suppressPackageStartupMessages(library(recipes))

# test -------------------------------------------------------------------------
rec <- recipe(mpg ~ ., mtcars) |>
    update_role(disp, hp, wt, new_role = "potato") |>
    update_role_requirements("potato", bake = FALSE) |>
    step_select_ufs(has_role("potato"), method = "variance", num_terms = 2)
trained <- prep(rec)
kept <- tidy(trained, 1)$terms[!tidy(trained, 1)$removed]
expect_error(bake(trained, mtcars[setdiff(names(mtcars), kept[1])]), class = "new_data_missing_column")
