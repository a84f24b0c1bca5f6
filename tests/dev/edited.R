# Edited fits: each field of a fit of each method is removed, or made missing, of another type or of
# another length, and the fit is then used in every way there is. An answer or a classed error is fine;
# an error in R's own words is a failure.
#   Rscript tests/dev/edited.R [--uses=3000] [--seed=1]
source("tests/dev/common.R")
set <- options_of(uses = 3000, seed = 1)
set.seed(set$seed)
x <- clustered(24, 8)
fits <- lapply(stats::setNames(nm = ufs_methods()$method), fit_of, x)
fits$select <- suppressMessages(ufs_select(x, 3, "compress"))
fits$label <- suppressMessages(ufs_select(x, m = 3, task = "label"))
fits$diversify <- ufs_diversify(fits$variance, x, 3)
fits$aggregate <- ufs_aggregate(fits[c("variance", "pca")])

# Where a fit has something to change: its fields, and those of its lists.
places <- function(fit) {
  top <- as.list(setdiff(names(fit), "call"))
  deep <- unlist(lapply(names(fit), function(name) {
    if (is.list(fit[[name]])) lapply(names(fit[[name]]), function(inner) c(name, inner))
  }), recursive = FALSE)
  list(top, deep)
}
edits <- list(
  removed = function(value) NULL,
  missing = function(value) if (is.atomic(value) && length(value)) replace(value, TRUE, NA) else NA,
  text = function(value) if (is.character(value)) seq_along(value) else "a",
  a_list = function(value) list(1, 2),
  none = function(value) if (is.atomic(value)) value[0] else list(),
  one = function(value) if (length(value) > 1) value[1] else c(value, value),
  longer = function(value) c(value, value),
  a_matrix = function(value) matrix(0, 2, 2)
)
edit <- function(fit, place, how) {
  value <- how(fit[[place]])
  if (length(place) == 1L) fit[place] <- list(value) else fit[[place[1L]]][place[2L]] <- list(value)
  fit
}
uses <- list(
  print = function(fit) utils::capture.output(print(fit)),
  summary = function(fit) utils::capture.output(print(summary(fit))),
  plot = function(fit) plot(fit),
  plot_scores = function(fit) plot(fit, "scores"),
  plot_embedding = function(fit) plot(fit, "embedding", x),
  plot_heatmap = function(fit) plot(fit, "heatmap", x, k = 4),
  predict = function(fit) predict(fit, x, k = 4),
  reconstruction = function(fit) predict(fit, x, type = "reconstruction"),
  coef = function(fit) coef(fit),
  features = function(fit) selected_features(fit, 4),
  samples = function(fit) selected_samples(fit, 4),
  scores = function(fit) feature_scores(fit),
  sample_scores = function(fit) sample_scores(fit),
  ranking = function(fit) feature_ranking(fit),
  clusters = function(fit) cluster_labels(fit),
  frame = function(fit) as.data.frame(fit),
  tidy = function(fit) generics::tidy(fit),
  glance = function(fit) generics::glance(fit),
  augment = function(fit) generics::augment(fit, x),
  overlap = function(fit) ufs_overlap(list(fit, fits$variance), 3),
  aggregate = function(fit) ufs_aggregate(list(fit, fits$variance)),
  diversify = function(fit) ufs_diversify(fit, x, 3),
  captured = function(fit) ufs_captured(fit, x, 2),
  representatives = function(fit) if (inherits(fit, "ufs_alfs")) representatives(fit, x) else representatives(fit),
  joined = function(fit) utils::capture.output(print(c(fit, fits$variance)))
)
if (!requireNamespace("generics", quietly = TRUE)) uses[c("tidy", "glance", "augment")] <- NULL

grDevices::pdf(NULL)
said <- list()
failed <- 0
for (i in seq_len(set$uses)) {
  name <- sample(names(fits), 1L)
  place <- sample(sample(places(fits[[name]]), 1L)[[1L]], 1L)[[1L]]
  how <- sample(names(edits), 1L)
  use <- sample(names(uses), 1L)
  fit <- tryCatch(edit(fits[[name]], place, edits[[how]]), error = function(e) NULL)
  if (is.null(fit)) next
  error <- tryCatch({
    suppressMessages(withCallingHandlers(uses[[use]](fit), ufs_warning = function(w) invokeRestart("muffleWarning")))
    NULL
  }, ufs_error = function(e) NULL, error = conditionMessage,
  warning = function(w) paste("warning:", conditionMessage(w)))
  if (!is.null(error)) {
    failed <- failed + 1
    line <- paste0("  ", use, "(", name, "$", paste(place, collapse = "$"), " ", how, "): ", substr(error, 1, 90))
    if (failed <= 40) cat(line, "\n")
  }
}
finish("edited", set$uses, failed)
