# What a comparison shows: summary, tables, curves.

#' @export
summary.ufs_compare <- function(object, measure = "accuracy", reference = "random", ...) {
  results <- spread_all(object)
  measure <- check_choice(measure, "measure", intersect(c("accuracy", "nmi", "ari"), names(results)))
  if (!reference %in% results$method) reference <- results$method[1L]
  cell <- function(r) paste(r$k, r$m, r$classifier, r$rep)
  ref <- results[results$method == reference, ]
  base <- stats::setNames(ref[[measure]], cell(ref))
  results$difference <- results[[measure]] - base[cell(results)]
  group <- interaction(factor(results$method, unique(results$method)), results$k,
    ifelse(is.na(results$m), 0L, results$m), results$classifier, drop = TRUE, lex.order = TRUE)
  out <- lapply(split(results, group), function(r) {
    value <- r[[measure]]
    data.frame(method = r$method[1L], k = r$k[1L], m = r$m[1L], classifier = r$classifier[1L],
      mean = mean(value, na.rm = TRUE), sd = stats::sd(value, na.rm = TRUE), runs = sum(!is.na(value)),
      difference = mean(r$difference, na.rm = TRUE), difference_sd = stats::sd(r$difference, na.rm = TRUE),
      missing = mean(r$missing), seconds = mean(r$seconds), errors = sum(nzchar(r$error)),
      stringsAsFactors = FALSE)
  })
  out <- do.call(rbind, out)
  rownames(out) <- NULL
  structure(list(table = out, measure = measure, reference = reference, mode = object$mode),
    class = "summary.ufs_compare")
}

# All features do not depend on k: their rows are shown at every k.
spread_all <- function(object) {
  full <- object$results$k == object$p & !(object$p %in% object$k)
  all <- object$results[full, ]
  do.call(rbind, c(list(object$results[!full, ]), lapply(object$k, function(k) {
    all$k <- rep(k, nrow(all))
    all
  })))
}

#' @export
print.summary.ufs_compare <- function(x, digits = 3L, ...) {
  cat("Mean ", x$measure, ", standard deviation over repeats, and paired difference to '",
    x$reference, "'\n", sep = "")
  print(x$table, digits = digits, row.names = FALSE)
  invisible(x)
}

#' @export
as.data.frame.ufs_compare <- function(x, row.names = NULL, optional = FALSE, ...) x$results

#' @export
print.ufs_compare <- function(x, measure = "accuracy", digits = 1L, ...) {
  table <- summary(x, measure)$table
  cat("<ufs_compare> ", x$n, " x ", x$p, " data, ", length(x$classes), " classes, ", x$repeats,
    " repeat", if (x$repeats != 1L) "s", ", ",
    if (x$mode == "classify") paste0(100 * x$train, "% candidates") else "k-means on the chosen features",
    "\n", sep = "")
  for (classifier in unique(table$classifier)) for (m in unique(table$m)) {
    part <- table[table$classifier == classifier & table$m %in% m, ]
    cat("\n100 x ", measure, if (x$mode == "classify") {
      paste0(", ", classifier, ", ", m, " labelled samples")
    }, ", mean (sd):\n", sep = "")
    cell <- paste0(formatC(100 * part$mean, digits = digits, format = "f"), " (",
      formatC(100 * part$sd, digits = digits, format = "f"), ")")
    methods <- unique(part$method)
    shown <- matrix("", length(methods), length(x$k), dimnames = list(methods, paste0("k=", x$k)))
    shown[cbind(part$method, paste0("k=", part$k))] <- cell
    print(shown, quote = FALSE, right = TRUE)
    gone <- part[part$missing > 0, ]
    if (nrow(gone)) {
      cat("  classes without a labelled sample, mean: ", paste(unique(paste0(gone$method, " ",
        round(stats::ave(gone$missing, gone$method), 1L))), collapse = ", "), "\n", sep = "")
    }
  }
  failed <- table[table$errors > 0, ]
  if (nrow(failed)) {
    cat("\nFailed: ", paste(unique(failed$method), collapse = ", "), " (see $results$error)\n", sep = "")
  }
  invisible(x)
}
