# What a choice of ufs_select() is worth: here, beside random choices; elsewhere, from the stored
# table; and what looks wrong about it.

# A data frame: measure, chosen, random (mean of the draws), beaten (in how many of them), draws,
# more_is_better. NULL where there is too little to compare.
selection_worth <- function(fit, x, draws = 20L) {
  seed <- draw_seeds(1L)[[1L]]
  if (fit$n < 6L) return(NULL)
  chosen <- suppressMessages(if (fit$task == "label") selected_samples(fit, as = "index") else
    selected_features(fit, as = "index"))
  with_seed(seed, if (fit$task == "label") worth_of_samples(fit, x, chosen, draws) else
    worth_of_features(fit, x, chosen, draws))
}

worth_of_features <- function(fit, x, chosen, draws) {
  chosen <- setdiff(chosen, fit$constant)
  open <- x$p - length(fit$constant)
  if (!length(chosen) || length(chosen) >= open || open < 5L) return(NULL)
  columns <- setdiff(seq_len(x$p), chosen)
  if (length(columns) > 1000L) columns <- sort(sample(columns, 1000L))
  columns <- sort(c(columns, chosen))
  rows <- rows_that_vary(x, if (x$n > 400L) sort(sample.int(x$n, 400L)), columns)
  part <- dense_part(x, rows, columns)
  data <- as_rescaled_operator(open_quietly(part), TRUE, !isFALSE(fit$params$scale))
  usable <- columns[data$keep]
  at <- match(intersect(chosen, usable), usable)
  near <- nearest(data$x, knn_size(data$x))
  decoys <- random_decoys(part)
  value <- function(j) {
    c(captured = captured_share(data$x, j),
      knn_overlap = neighbour_overlap(near, nearest(data$x[, j, drop = FALSE], knn_size(data$x))),
      noise = if (!is.null(decoys)) noise_share(unname(decoys$behind[[1L]])[j]))
  }
  own <- value(at)
  # Random ones are as many as are wanted, wherever they come from.
  random <- vapply(seq_len(draws), function(i) value(sample.int(length(usable), length(at))), own)
  worth_table(own, random, names(own) != "noise")
}

worth_of_samples <- function(fit, x, chosen, draws) {
  m <- length(chosen)
  if (m >= x$n) return(NULL)
  others <- setdiff(seq_len(x$n), chosen)
  if (length(others) > 1000L) others <- sort(sample(others, 1000L))
  columns <- if (x$p > 1000L) sort(sample.int(x$p, 1000L))
  part <- dense_part(x, c(chosen, others), columns)
  z <- as_rescaled_operator(open_quietly(part), TRUE, !isFALSE(fit$params$scale))$x
  value <- function(i) {
    nearest <- apply(square_distances(z, z[i, , drop = FALSE]), 1L, min)
    c(uncovered = mean(pmax(nearest, 0)) / mean(rowSums(z^2)))
  }
  random <- vapply(seq_len(draws), function(i) value(sample.int(nrow(z), m)), 0)
  worth_table(value(seq_len(m)), t(random), FALSE)
}

worth_table <- function(own, random, more_is_better) {
  # A draw that is as good is half beaten.
  better <- sign(ifelse(more_is_better, 1, -1) * (own - random))
  data.frame(measure = names(own), chosen = unname(own), random = unname(rowMeans(random)),
    beaten = unname(rowSums(better + 1) / 2), draws = ncol(random))
}

# ---- what looks wrong ----------------------------------------------------------------------------

selection_checks <- function(fit, x) {
  if (fit$task == "label") return(character())
  chosen <- suppressMessages(selected_features(fit, as = "index"))
  score <- unname(fit$feature_scores)[chosen]
  out <- character()
  add <- function(...) out <<- c(out, paste0(...))
  if (anyNA(score)) add(sum(is.na(score)), " of the chosen columns have no score (constant)")
  live <- live_scores(fit$feature_scores)
  if (live < length(chosen)) {
    add("only ", live, " of ", length(chosen), " have a score above 0; the rest fills the list")
  }
  rows <- if (x$n > 2000L) round(seq(1, x$n, length.out = 2000L))
  z <- dense_part(x, rows, chosen)$x
  empty <- mean(rowSums(z != 0) == 0)
  if (empty > .5) {
    add("the chosen columns are all 0 in ", percent(empty), " of the rows")
    ufs_warn("empty", "The ", length(chosen), " chosen columns are all 0 in ", percent(empty),
      " of the rows: nothing tells these rows apart. Choose more of them, or see `counts` of ",
      "ufs_data().")
  }
  zero <- sum(colMeans(z != 0) < .05)
  if (zero > length(chosen) / 2) {
    add(zero, " of the chosen columns are 0 in more than 95 % of the rows")
  }
  wanted <- if (is.null(fit$params$n_clusters)) 2L else fit$params$n_clusters
  patterns <- length(unique(equal_rows(unname(z))))
  if (patterns < min(wanted, nrow(z))) {
    add("the chosen columns have ", patterns, " different rows, fewer than ", wanted, " clusters")
  }
  noise <- fit$worth$chosen[fit$worth$measure == "noise"]
  if (isTRUE(noise > .5)) add("about ", percent(noise), " of the chosen columns are noise")
  out
}

# ---- elsewhere -----------------------------------------------------------------------------------

# What the task's advice was worth on the stored sets, one sentence; NULL without the table.
selection_record <- function(task, noise) {
  file <- system.file("benchmarks", "results", "select.csv", package = "ufselect")
  if (!nzchar(file)) return(NULL)
  table <- utils::read.csv(file)
  table <- table[table$task == task & table$noise == (if (noise) 10L else 0L), ]
  if (!nrow(table)) return(NULL)
  gain <- tapply(table$score - table$random, table$set, mean)
  all <- tapply(table$score - table$all, table$set, mean)
  apart <- function(value) {
    sprintf("%.1f points %s", abs(value), if (value < 0) "below" else "above")
  }
  paste0("on ", length(gain), " real sets", if (noise) " with 10 noise columns for each",
    " (", table$what[1L], ") ", apart(mean(gain)), sprintf(
      " random choice (s.e. %.1f, from %+.1f to %+.1f)", stats::sd(gain) / sqrt(length(gain)),
      min(gain), max(gain)), if (!anyNA(all)) paste0(" and ", apart(mean(all)), " all columns"))
}

# ---- methods -------------------------------------------------------------------------------------

#' @export
selected_features.ufs_select <- function(fit, k = NULL, as = NULL, ...) {
  selected_features(without_task(fit), if (is.null(k)) fit$size else k, as, ...)
}

#' @export
selected_samples.ufs_select <- function(fit, m = NULL, as = NULL, ...) {
  selected_samples(without_task(fit), if (is.null(m)) fit$size else m, as, ...)
}

#' @export
predict.ufs_select <- function(object, newdata, k = object$size, ...) {
  stats::predict(without_task(object), newdata, k = k, ...)
}

without_task <- function(fit) {
  class(fit) <- setdiff(class(fit), "ufs_select")
  fit
}

#' @export
print.ufs_select <- function(x, n = 10L, ...) {
  check_dots_empty(...)
  n <- check_count(n, "n", 0L)
  check_fit(x)
  # Columns without names are V1, V2, ... here as in every other print.
  chosen <- suppressMessages(if (x$task == "label") selected_samples(x) else
    names(x$feature_scores)[selected_features(x, as = "index")])
  line <- function(name, ...) cat_line(formatC(name, width = -14L), ...)
  # Sentences are broken where the console ends, but not before "%"; names and code are not.
  sentence <- function(name, ...) {
    text <- strwrap(gsub(" %", "~%", paste0(...), fixed = TRUE), max(40L, getOption("width") - 15L))
    text <- gsub("~%", " %", text, fixed = TRUE)
    cat(paste0(formatC(c(name, rep("", length(text) - 1L)), width = -15L), text, "\n"), sep = "")
  }
  cat_line("<ufs_select> ", x$size, " of ",
    if (x$task == "label") count_words(x$n, "sample") else count_words(x$p, "feature"), ", chosen ",
    c(compress = "for compression", classify = "for classification", cluster = "for clustering",
      label = "to be labelled")[[x$task]])
  line("  chosen", " ", best_line(chosen, NULL, n))
  seen <- look_words(x$look)
  sentence("  data", seen[1L])
  sentence("", seen[2L])
  sentence("  method", "ufs_", x$method, "() ", x$reason,
    if (!is.null(x$params$scale)) if (isFALSE(x$params$scale)) "; columns as they are" else
      "; columns standardised")
  for (words in x$decided) sentence("", words)
  if (!is.null(x$worth)) sentence("  worth, here", worth_words(x$worth))
  record <- selection_record(x$task, x$method %in% c("consensus", "pca") && x$look$noisy &&
    x$task != "label")
  if (!is.null(record)) sentence("  elsewhere", record)
  sentence("  checks", if (length(x$checks)) paste(x$checks, collapse = "; ") else
    "nothing looks wrong")
  code <- gsub("\n", "; ", x$code)
  line("  to repeat", " ", if (nchar(code) <= 300L) code else
    paste0(substr(code, 1L, 250L), " ... (the whole: cat(fit$code))"))
  line("  status", " ", x$status)
  if (length(x$certificate)) line("  certificate", " ", format_certificate(x$certificate))
  invisible(x)
}

worth_words <- function(worth) {
  words <- c(captured = "of x captured", knn_overlap = "of the nearest neighbours kept",
    noise = "no better than noise", uncovered = "of the variance left uncovered")
  paste(paste0(percent(worth$chosen), " ", words[worth$measure], " (random choice: ",
    percent(worth$random), ", worse in ", worth$beaten, " of ", worth$draws, " draws)"),
  collapse = ", ")
}
