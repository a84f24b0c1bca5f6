# Output of a comparison: summary, tables, curves.

#' @export
summary.ufs_compare <- function(object, measure = "accuracy", reference = "random", ...) {
  check_dots_empty(...)
  # All features do not depend on k: their rows are shown at every k.
  full <- object$results$k == object$p & !(object$p %in% object$k)
  all <- object$results[full, ]
  results <- rbind(object$results[!full, ], do.call(rbind, lapply(object$k, function(k) {
    replace(all, "k", rep(k, nrow(all)))
  })))
  measure <- check_choice(measure, "measure",
    intersect(c("accuracy", "nmi", "ari"), names(results)))
  if (!reference %in% results$method) reference <- results$method[1L]
  cell <- paste(results$k, results$m, results$classifier, results$rep)
  base <- results$method == reference
  results$difference <- results[[measure]] - results[[measure]][base][match(cell, cell[base])]
  group <- interaction(factor(results$method, unique(results$method)), results$k,
    ifelse(is.na(results$m), 0L, results$m), results$classifier, drop = TRUE, lex.order = TRUE)
  table <- do.call(rbind, lapply(split(results, group), function(r) {
    value <- r[[measure]]
    data.frame(r[1L, c("method", "k", "m", "classifier")],
      mean = mean(value, na.rm = TRUE), sd = stats::sd(value, na.rm = TRUE),
      runs = sum(!is.na(value)), difference = mean(r$difference, na.rm = TRUE),
      difference_sd = stats::sd(r$difference, na.rm = TRUE), missing = mean(r$missing),
      seconds = mean(r$seconds), errors = sum(nzchar(r$error)), warned = sum(nzchar(r$warnings)),
      live = extreme(r$live, min))
  }))
  rownames(table) <- NULL
  structure(list_of(table, measure, reference, mode = object$mode, over = repeat_words(object)),
    class = "summary.ufs_compare")
}

# The smallest or largest value that there is (`which`: min or max).
extreme <- function(value, which) {
  if (all(is.na(value))) value[NA_integer_] else which(value, na.rm = TRUE)
}

#' @export
print.summary.ufs_compare <- function(x, digits = 3L, ...) {
  check_dots_empty(...)
  digits <- check_count(digits, "digits", 1L, 22L)
  cat_field(at = 0L, "", "Mean ", x$measure, ", its standard deviation over ", x$over,
    ", and the paired difference to '", x$reference, "', in per cent")
  table <- x$table
  shares <- c("mean", "sd", "difference", "difference_sd")
  table[shares] <- 100 * table[shares]
  print(table, digits = digits, row.names = FALSE)
  invisible(x)
}

#' A comparison as a data frame
#'
#' Gives the single results behind the means that `print()` and `summary()` show. Use it to draw or
#' test them yourself.
#'
#' @param x A [ufs_compare()] result.
#' @param row.names,optional Ignored; there for the generic.
#' @param ... Must be empty.
#' @param what `"results"` gives one row per method, k, m, classifier and repeat. `"grid"` gives one
#'   row per setting of every grid as well, with `setting` (the row of the feature selector's grid),
#'   `sample_setting` (that of the sample selector's) and `chosen` (`TRUE` for the one chosen
#'   without labels).
#' @return A data frame. With `"grid"` it has no rows if there was no grid.
#' @examples
#' set.seed(1)
#' nearest <- function(x, y, newx) {
#'   y[apply(newx, 1, function(row) which.min(colSums((t(x) - row)^2)))]
#' }
#' out <- ufs_compare(iris[, 1:4], iris$Species, "pca", k = 2,
#'   classifiers = list(nn = nearest),
#'   repeats = 1, n_random = 2, args = list(pca = list(grid = list(n_components = 1:2))))
#' as.data.frame(out, what = "grid")[c("method", "k", "setting", "accuracy", "chosen")]
#' @export
as.data.frame.ufs_compare <- function(x, row.names = NULL, optional = FALSE,
                                      what = c("results", "grid"), ...) {
  check_dots_empty(...)
  what <- check_choice(what, "what")
  if (what == "results") return(x$results)
  if (!is.null(x$grid)) return(x$grid)
  cbind(x$results, setting = 1L, sample_setting = 1L, chosen = TRUE)[0L, ]
}

#' @export
print.ufs_compare <- function(x, measure = "accuracy", digits = 1L, ...) {
  check_dots_empty(...)
  digits <- check_count(digits, "digits", 0L, 15L)
  table <- summary(x, measure)$table
  cat_field(at = 0L, "", "<ufs_compare> ", size_words(x$n, x$p), ", ",
    length(x$classes), " classes, ", count_words(x$repeats, "repeat"), ", ",
    if (x$mode != "classify") "k-means on the chosen features" else
      paste0(signif(100 * x$train, 3L), " % of the samples to learn from"))
  if (!is.null(x$left_out)) {
    cat_line("without svm, which would take most of the time on so many rows: name it in ",
      "`classifiers` to have it")
  }
  for (classifier in unique(table$classifier)) for (m in unique(table$m)) {
    part <- table[table$classifier == classifier & table$m %in% m, ]
    cat("\n")
    cat_field(at = 0L, "", "Mean ", measure, " in % (standard deviation over ",
      repeat_words(x), ")",
      if (x$mode == "classify") {
        paste0(", ", classifier, if (!is.na(m)) paste0(", ", m, " labelled samples"))
      }, ":")
    percent <- function(value) formatC(100 * value, digits = digits, format = "f")
    cell <- ifelse(is.na(part$mean), "failed",
      paste0(percent(part$mean), ifelse(is.na(part$sd), "", paste0(" (", percent(part$sd), ")"))))
    methods <- unique(part$method)
    shown <- matrix("", length(methods), length(x$k), dimnames = list(methods, paste0("k=", x$k)))
    shown[cbind(part$method, paste0("k=", part$k))] <- cell
    print(shown, quote = FALSE, right = TRUE)
    lost <- tapply(part$missing, factor(part$method, methods), mean)
    lost <- lost[lost > 0 & !is.na(lost)]
    if (length(lost)) cat_line("  classes without a labelled sample, mean: ",
      paste(names(lost), signif(lost, 2L), collapse = ", "))
  }
  print_checkpoint(x$checkpoint)
  failed <- unique(table$method[table$errors > 0])
  if (length(failed)) {
    cat_line("\nFailed: ", paste(failed, collapse = ", "), "; first with: ",
      x$results$error[nzchar(x$results$error)][1L], " (all: $results$error)")
  }
  # Says where the table promises more than it holds: fits that warned, rankings with fewer scores
  # above zero than features that were asked for.
  fits <- unique(x$results[c("method", "k", "m", "rep", "warnings", "live")])
  warned <- fits[nzchar(fits$warnings), ]
  if (nrow(warned)) {
    kinds <- sort(table(unlist(strsplit(warned$warnings, ", ", fixed = TRUE))), decreasing = TRUE)
    cat_line("\nWarnings: ", nrow(warned), " of ", nrow(fits), " rows come from fits that warned (",
      paste(names(kinds), kinds, sep = ": ", collapse = ", "), "): ",
      paste(unique(warned$method), collapse = ", "), " (see $results$warnings)")
  }
  few <- fits[order(fits$live), ]
  few <- few[!is.na(few$live) & few$live < few$k & few$k < x$p, ]
  if (nrow(few)) {
    few <- few[!duplicated(few$method), ]
    cat_line("\nFewer features have a score above 0 than were chosen; the remaining places were ",
      "filled by the tie rule: ", paste0(few$method, " (", few$live, " of ", few$k, ")",
        collapse = ", "))
  }
  invisible(x)
}

#' @export
picture.ufs_compare <- function(object, over = NULL, measure = "accuracy", classifier = NULL,
                                at = NULL, methods = NULL, ...) {
  table <- summary(object, measure)$table
  if (is.null(over)) over <- if (length(object$m) > 1L && length(object$k) == 1L) "m" else "k"
  over <- check_choice(over, "over", c("k", "m"))
  other <- setdiff(c("k", "m"), over)
  if (is.null(classifier)) classifier <- table$classifier[1L]
  classifier <- check_choice(classifier, "classifier", unique(table$classifier))
  for (name in methods) check_choice(name, "methods", unique(table$method))
  if (is.null(methods)) methods <- unique(table$method)
  table <- table[table$classifier == classifier & table$method %in% methods, ]
  best <- identical(at, "best")
  values <- if (is.null(at)) table[[other]][1L] else unique(at)
  if (!best && !all(values %in% table[[other]])) {
    refuse("at", "There are no results with ", other, " = ",
      deparse_short(values[!values %in% table[[other]]][1L]), ".")
  }
  table <- if (!best) table[table[[other]] %in% values, ] else {
    # For each method and value of `over` the row with the largest mean.
    cells <- split(table, list(table$method, table[[over]]), drop = TRUE)
    top <- do.call(rbind, lapply(cells, function(part) part[which.max(part$mean), ]))
    top[order(match(top$method, unique(table$method)), top[[over]]), ]
  }
  table <- table[is.finite(table$mean), ]
  # In colour what was asked for, grey what was added to it.
  plain <- setdiff(table$method, object$asked)
  one <- length(values) == 1L
  said <- c(if (best) paste("best", other, "of each method") else
    if (one && !is.na(values)) sprintf("%s = %s", other, values),
  if (any(table$sd > 0, na.rm = TRUE)) {
    sprintf("bars: standard deviation over %d %s", object$repeats, repeat_words(object))
  })
  spread <- ifelse(is.na(table$sd), 0, table$sd)
  pic <- data.frame(x = table[[over]], y = table$mean, series = table$method,
    low = table$mean - spread, high = table$mean + spread)
  title <- sprintf("ufs_compare: %s of %s", measure,
    if (object$mode == "classify") classifier else "k-means")
  ylab <- paste0("mean ", measure, ", per cent")
  if (length(unique(pic$x)) == 1L && (best || one)) {
    pic <- pic[order(-pic$y, pic$series %in% plain), ]
    names(pic)[2L] <- "value"
    return(new_picture("dots", table = pic, plain = plain, percent = TRUE, xlab = ylab,
      ylab = "", title = title,
      subtitle = paste(c(sprintf("%s = %s", over, pic$x[1L]), said), collapse = "; ")))
  }
  pic$panel <- if (!best && !one) paste(other, "=", table[[other]])
  new_picture("curves", table = pic, plain = plain, percent = TRUE,
    xlab = if (over == "k") "features chosen (k)" else "samples labelled (m)", ylab = ylab,
    title = title, subtitle = if (length(said)) paste(said, collapse = "; "))
}
