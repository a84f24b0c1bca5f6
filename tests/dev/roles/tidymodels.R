# A tidymodels user: a step in a recipe, tuned; and an mlr3 user: a filter.
library(ufselect)
if (requireNamespace("recipes", quietly = TRUE) && utils::packageVersion("recipes") >= "1.1.0") {
  library(recipes)
  rec <- step_normalize(recipe(Species ~ ., iris), all_numeric_predictors())
  rec <- step_select_ufs(rec, all_numeric_predictors(), method = "pca", num_terms = 2, options = list(n_components = 2))
  done <- prep(rec)
  print(done)
  print(tidy(done, 2))
  print(head(bake(done, iris)))
} else cat("recipes >= 1.1.0 is not installed here\n")
if (requireNamespace("mlr3filters", quietly = TRUE)) {
  library(mlr3filters)
  filter <- flt("ufs", method = "variance")
  filter$calculate(mlr3::tsk("iris"))
  print(filter)
} else cat("mlr3filters is not installed here\n")
if (requireNamespace("generics", quietly = TRUE)) {
  fit <- ufs_pca(mtcars, n_components = 2)
  print(generics::tidy(fit))
  print(generics::glance(fit))
}
