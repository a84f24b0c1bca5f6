# A table and a value of every constraint, for tests that ask each door about each of them
# (test-constraints-doors.R, test-with-recipes.R, test-with-mlr3.R).

doors_x <- function() {
  x <- withr::with_seed(5, matrix(rnorm(30 * 9), 30))
  x[, 1:3] <- x[, 1:3] + 2 * rep(1:3, 10)
  x[, 4] <- x[, 2] + .2 * x[, 4]
  dimnames(x) <- list(paste0("r", 1:30), paste0("c", 1:9))
  x
}
# What each constraint is given as, with what it needs.
asked_for <- list(include = c("c5", "c4"), exclude = c("c1", "c2", "c6", "c8", "c9"), cost = stats::setNames(c(1, 5, 2, 1, 3, 1, 4, 5, 2), paste0("c", 1:9)), budget = 2.5,
  groups = list(c("c1", "c6"), c("c2", "c9")), max_cor = .3, weights = rep(1:3, each = 10), blocks = rep(1:3, 10),
  block_scale = TRUE, candidates = c(3:12, 20:27), labelled = c(1:5, 9, 17, 21:24), replicates = c(rep(1, 14), rep(2:9, 2)),
  sample_cost = rep(c(1, 2, 5), 10), sample_budget = 3, strata = rep(1:2, c(20, 10)), quotas = c("1" = 2, "2" = 5),
  feature_strata = stats::setNames(rep(c("a", "b", "c"), each = 3), paste0("c", 1:9)), feature_quotas = list(a = 0, c = c(1, 3)))
given_as <- function(name) {
  row <- constraint_rows()[[name]]
  if (is.null(asked_for[[name]])) stop("say in asked_for what `", name, "` is given as")
  asked_for[c(row$needs[1L], name)]
}
# A fit of any method with as little as it needs, and constraints.
constraint_fit <- function(method, x, ...) fit_of(method = method, x = x, alpha_e = if (method == "topk") 20, ...)
# What a method cannot do without in a framework, which gives it the number to choose.
needs <- function(method) {
  given <- needed(method)
  lapply(given[intersect(c("n_clusters", "n_components"), names(given))], as.integer)
}
# Copies, a constant column, a linear combination, and columns that scores cannot tell apart.
tied_columns <- function() {
  withr::with_seed(3, {
    x <- data.frame(matrix(rnorm(40 * 8), 40))
    x[1:20, 1:3] <- x[1:20, 1:3] + 3
    cbind(x, c1 = x[[1]], c2 = x[[1]], c5 = x[[5]], flat = 1, both = x[[1]] + x[[2]])[sample(13)]
  })
}
