# Methods whose fits at p = 50 n take many steps, with the settings of a grid: for test-run-grid.R and
# tests/dev/kill-resume.R. How good a result is follows from what the fit returns and from x alone.

steps_grids <- list(
  sogfs = list(grid = list(gamma = c(.003, .01, .03)), args = list(n_clusters = 2, control = ufs_control(max_iter = 30))),
  udfs = list(grid = list(gamma = c(.03, .1, .3)), args = list(n_clusters = 2)),
  rsr = list(grid = list(lambda_rel = c(.3, .5, .7)), args = list(coefficients = TRUE)),
  socfs = list(grid = list(lambda_rel = c(.2, .3, .4)), args = list(n_clusters = 2, n_starts = 5)))

steps_grid <- function(method, x, folder = NULL) {
  set.seed(8)
  one <- steps_grids[[method]]
  suppressMessages(suppressWarnings(do.call(ufs_grid,
    c(list(x, method, one$grid, keep_fits = TRUE, checkpoint = folder), one$args))))
}

# By how much of the objective it may lie above its minimum for RSR, and above that for the same E or the same
# weights of the rows for the others: by a point that is feasible in the dual, and by eigen().
room_below <- list(
  rsr = function(fit, x) {
    z <- as_seen(fit, x)
    value <- objectives$rsr(fit, x)
    1 - ref_rsr_bound(z, fit$solution$W, fit$params$lambda) / value
  },
  socfs = function(fit, x) {
    z <- as_seen(fit, x)
    s <- fit$solution
    y <- 2 * (s$E - z %*% s$V)
    y <- y * min(1, fit$params$lambda / max(sqrt(rowSums(crossprod(z, y)^2))))
    value <- sum((s$E - z %*% s$V)^2) + fit$params$lambda * l21(s$V)
    1 - (sum(y * s$E) - sum(y^2) / 4) / value
  },
  udfs = function(fit, x) {
    step_left(fit, first_m(fit, as_seen(fit, x)), objectives$udfs(fit, x))
  },
  sogfs = function(fit, x) {
    z <- as_seen(fit, x)
    s <- as.matrix(fit$solution$S)
    step_left(fit, 2 * crossprod(z, laplacian_of((s + t(s)) / 2) %*% z), objectives$sogfs(fit, x))
  })
step_left <- function(fit, m, value) {
  w <- fit$solution$W
  m <- m + diag(fit$params$gamma / 2 / sqrt(rowSums(w^2) + fit$control$eps))
  best <- sum(utils::tail(eigen(m, TRUE, TRUE)$values, ncol(w)))
  (sum((m %*% w) * w) - best) / value
}

# Two runs of a grid must agree in all but times.
steps_result <- function(grid) {
  list(grid$feature_scores, grid$feature_rankings, grid$results[setdiff(names(grid$results), "seconds")],
    lapply(grid$fits, function(fit) fit[setdiff(names(fit), c("call", "seconds", "elapsed"))]))
}
