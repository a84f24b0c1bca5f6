#' ALFS along several penalties
#'
#' Fits [ufs_alfs()] for a sequence of penalties and says how many samples and features each of them
#' keeps. Use it to choose penalties; it takes less time than single fits, because all share one
#' decomposition of the data.
#'
#' At `lambda = 0` each fit starts from the one before. Such a start saves few iterations when
#' penalties differ by a factor of 2 or more. Each fit carries its own gap, so the order of
#' the penalties changes the answers by no more than that.
#'
#' @inheritParams ufs_alfs
#' @param n_features The number of features that `select = "auto"` compares, and in whose space
#'   `select_samples = "ted"` and `"facility"` work, see [ufs_alfs()]. The default `NULL` is 50, at
#'   most half of the features.
#' @param alpha_rel,beta_rel,lambda_rel Penalties as shares, as in [ufs_alfs()], of one common
#'   length or of length 1. Give them from strong to weak.
#' @param control Iteration limits and tolerances, made by [ufs_control()]. `max_iter` is 2000, and
#'   `tol`, the relative duality gap, is 1e-4 at `lambda_rel = 0` and 1e-3 above.
#' @return An object of class `ufs_alfs_path`: `fits`, the list of fits, and `table`, a data frame
#'   with the penalties, objective, gap, iterations, status, and the numbers of samples and features
#'   with non-zero rows and columns.
#' @examples
#' path <- ufs_alfs_path(mtcars, alpha_rel = c(.4, .2, .1, .05), beta_rel = .1)
#' path
#' selected_features(path$fits[[2]], 3)
#' plot(path, type = "features")
#' @export
ufs_alfs_path <- function(x, alpha_rel = c(.2, .1, .05, .02, .01), ..., beta_rel = .2,
                          lambda_rel = 0, select = c("norm", "pivot", "auto"),
                          select_samples = c("ted", "facility", "norm"), n_features = NULL,
                          center = TRUE, scale = TRUE, control = ufs_control()) {
  check_given(x)
  watch_over("ufs_alfs_path()")
  call <- plain_call(match.call(), "ufs_alfs_path")
  x <- open_with(x, ufs_alfs_path, "alfs_path", list(...))
  select <- check_choice(select, "select")
  select_samples <- check_choice(select_samples, "select_samples")
  paper_settings(list(), "alfs_path", control, list())
  control <- resolve_control(control)
  for (name in c("alpha_rel", "beta_rel", "lambda_rel")) {
    if (!is.numeric(get(name)) || !all(is.finite(get(name)))) {
      refuse(name, "`", name, "` must be finite numbers.")
    }
  }
  size <- c(length(alpha_rel), length(beta_rel), length(lambda_rel))
  if (any(size == 0L | size != max(size) & size != 1L)) {
    refuse("alpha_rel", "`alpha_rel`, `beta_rel` and `lambda_rel` must have one common length, or ",
      "length 1.")
  }
  rel <- data.frame(alpha_rel = alpha_rel, beta_rel = beta_rel, lambda_rel = lambda_rel)
  data <- if (select != "auto" && all(lambda_rel == 0)) as_ufs_operator(x, center, scale) else
    as_ufs_matrix(x, center, scale)
  n_features <- alfs_n_features(n_features, data)
  basis <- alfs_basis(data$x)
  fits <- vector("list", nrow(rel))
  begin <- NULL
  for (i in seq_len(nrow(rel))) {
    start <- proc.time()[[3L]]
    penalty <- alfs_penalties(basis, NULL, NULL, NULL, rel$alpha_rel[i], rel$beta_rel[i],
      rel$lambda_rel[i])
    found <- alfs_solve(data, basis, penalty, "admm", control, alfs_begin(begin, penalty, data))
    begin <- list(found = found, penalty = penalty)
    made <- alfs_slots(data, penalty, found, list_of(solver = "admm", select, select_samples,
      n_features))
    made$params <- c(made$params, list_of(center, scale))
    fit <- finish_fit("alfs", call, made, x, start)
    fits[[i]] <- alfs_rank(fit, data)
  }
  value <- function(get, type) vapply(fits, get, type)
  structure(list(call = call, fits = fits, table = data.frame(rel,
    objective = value(function(fit) fit$trace$objective[nrow(fit$trace)], 0),
    gap = value(function(fit) fit$certificate[["gap"]], 0),
    iterations = value(function(fit) fit$iterations, 0L),
    status = value(function(fit) fit$status, ""),
    samples = value(function(fit) fit$support[["samples"]], 0L),
    features = value(function(fit) fit$support[["features"]], 0L))),
  class = c("ufs_alfs_path", "ufs_result"))
}

# The last solution with its multipliers stretched to the new bounds.
alfs_begin <- function(last, penalty, data) {
  if (is.null(last) || last$penalty[["lambda"]] > 0 || penalty[["lambda"]] > 0 ||
      any(last$penalty[1:2] == 0) || any(last$found$rho[1:2] <= 0)) {
    return(NULL)
  }
  up <- penalty / last$penalty
  kept <- function(name) {
    value <- last$found[[name]]
    shape <- shape_of(data)
    if (length(shape$keep) < shape$p) value[, shape$keep, drop = FALSE] else value
  }
  list(w = kept("w"), p = kept("p") * up[["alpha"]], q = kept("q") * up[["beta"]],
    rho = last$found$rho)
}

#' @export
print.ufs_alfs_path <- function(x, ...) {
  check_dots_empty(...)
  cat_line("<ufs_alfs_path> ", count_words(nrow(x$table), "fit"))
  table <- x$table
  number <- vapply(table, is.double, NA)
  table[number] <- lapply(table[number], signif, 4L)
  print(table, row.names = FALSE)
  invisible(x)
}

#' @export
picture.ufs_alfs_path <- function(object, type = c("features", "samples", "gap"), k = 10L,
                                  m = 10L, ...) {
  type <- check_choice(type, "type", c("features", "samples", "gap"))
  rel <- object$table[c("alpha_rel", "beta_rel", "lambda_rel")]
  varies <- names(rel)[vapply(rel, function(v) length(unique(v)) > 1L && all(v > 0), NA)]
  at <- if (length(varies)) -log10(rel[[varies[1L]]]) else seq_len(nrow(rel))
  axis <- if (length(varies)) sprintf("-log10(%s)", varies[1L]) else "fit"
  if (type == "gap") {
    return(new_picture("curves", table = data.frame(x = at, y = pmax(object$table$gap, 1e-16)),
      log = "y", xlab = axis, ylab = "relative duality gap", title = "ufs_alfs_path: certificates"))
  }
  last <- object$fits[[length(object$fits)]]
  many <- if (type == "features") check_count(k, "k", 1L) else check_count(m, "m", 1L)
  slot <- if (type == "features") "column_norm" else "row_norm"
  best <- utils::head(order(-last$solution[[slot]], na.last = NA), many)
  # One column per fit, one row per curve.
  norms <- vapply(object$fits, function(fit) fit$solution[[slot]][best], numeric(length(best)))
  name <- labels_of(names(last$solution[[slot]]), length(last$solution[[slot]]))[best]
  new_picture("curves", table = data.frame(x = at, y = as.vector(t(norms)),
    series = rep(name, each = length(at))), xlab = axis,
    ylab = sprintf("norm in W (%s)", type), title = "ufs_alfs_path: the best of the last fit")
}
