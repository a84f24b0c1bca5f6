# Extracted from test-recipes.R:164

# setup ------------------------------------------------------------------------
library(testthat)
test_env <- simulate_test_env(package = "ufselect", path = "..")
attach(test_env, warn.conflicts = FALSE)

# prequel ----------------------------------------------------------------------
skip_if_not_installed("recipes", "1.1.0")
suppressPackageStartupMessages(library(recipes))

# test -------------------------------------------------------------------------
skip_if_not_installed("dials", "1.4.1")
for (which in c("num_terms", "prop_terms")) {
    rec <- do.call(step_select_ufs, c(list(recipe(~., mtcars), quote(all_predictors())),
      stats::setNames(list(hardhat::tune()), which)))
    params <- extract_parameter_set_dials(rec)
    expect_s3_class(params, "parameters")
    expect_identical(nrow(params), 1L)
    expect_identical(params$name, which)
    ready <- dials::finalize(params$object[[1]], mtcars)
    expect_identical(ready$range$upper, if (which == "num_terms") 11L else 1)
  }
