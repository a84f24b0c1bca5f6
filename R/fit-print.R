# print(), summary() and as.data.frame() of a fit.

#' @export
print.ufs <- function(x, n = 5L, ...) {
  check_dots_empty(...)
  check_fit(x)
  n <- check_count(n, "n", 0L)
  cat_line("<ufs_", x$method, "> ", method_title(x$method))
  constant <- if (is.null(x$levels)) x$constant else x$levels$constant
  cat_line("  data         ", size_words(rows_of(x), x$p),
    if (length(constant)) paste0(" (", length(constant), " constant)"))
  if (!is.null(status_text(x))) cat_line("  status       ", status_text(x))
  notes <- c(data_notes(x), own_notes(x))
  for (line in c(certificate_note(x), notes)) {
    cat_field(paste0("  ", substr(line, 1L, 13L)), substring(line, 14L))
  }
  if (!is.null(x$feature_scores) && !any(grepl("^non-zero", notes))) {
    nonzero <- count_scored(x$feature_scores)
    if (nonzero < sum(!is.na(x$feature_scores))) {
      cat_field("  scores", nonzero, " of ", x$p, " features have a score above 0; the rest is ",
        order_of_rest(x$feature_scores, x$feature_key))
    }
  }
  advice <- registry()[[x$method]]$advice
  if (isTRUE(nzchar(advice))) cat_field("  advice", advice_sentence(advice))
  if (!is.null(x$feature_ranking)) {
    shown <- shown_ranking(x, "feature")
    cat_line("  features     ", best_line(shown$ranking, names(x$feature_scores), n, shown$size))
  }
  if (!is.null(x$sample_ranking)) {
    shown <- shown_ranking(x, "sample")
    cat_line("  samples      ", best_line(shown$ranking, x$names$samples, n, shown$size))
  }
  invisible(x)
}

# Lines of every print: what the data lost on the way in, and what was asked of the choice.
data_notes <- function(x) c(tables_note(x), input_notes(x$input), wish_notes(x))

# How many columns of each of several tables are chosen.
tables_note <- function(x) {
  shown <- if (!is.null(x$feature_ranking)) shown_ranking(x, "feature")
  chosen <- if (!is.null(shown$size)) utils::head(shown$ranking, shown$size)
  tables_words(x$input$tables$of, chosen)
}

# Advice of ufs_methods() as a sentence: print() has room for one.
advice_sentence <- function(advice) {
  more <- sub("^[a-z]+:? *[(]?", "", advice)
  if (grepl("^[a-z]+ [(]", advice)) more <- sub("[)]$", "", more)
  switch(sub("[ :].*", "", advice),
    recommended = paste0("R", substring(advice, 2L), "."),
    situational = paste0("Situational: ", if (nzchar(more)) paste0(more, "; "),
      "see vignette(\"which-method\")."),
    baseline = "Baseline, included for comparison only.",
    historical = "Included for comparison only.",
    paste0(toupper(substr(advice, 1L, 1L)), substring(advice, 2L), "."))
}

# How the run ended; NULL for methods that do not iterate, where there is nothing to converge.
status_text <- function(x) {
  if (x$iterations > 0L) paste(x$status, "after", count_words(x$iterations, "iteration")) else
    if (x$status != "converged") x$status
}

# A fit may have been saved without its trace, which methods' own lines sum up.
own_notes <- function(x) if (is.null(x$trace)) print_notes.default(x) else print_notes(x)

# One or two more lines of a method's own: "non-zero     12 of 500 ...", say.
print_notes <- function(x) UseMethod("print_notes")

# Methods whose own lines say in words what the certificate holds print no numbers beside them.
certificate_note <- function(x) UseMethod("certificate_note")

#' @export
certificate_note.default <- function(x) {
  # The line on non-zero features says how many rows these are.
  shown <- x$certificate[names(x$certificate) != "live_rows"]
  if (length(shown)) paste0("certificate  ", format_certificate(shown))
}

# Lines about fields that several methods have: features with a weight, samples with one (of the
# convex selectors, whose dual gives each an activity), labels, graph.
#' @export
print_notes.default <- function(x) {
  convex <- !is.null(x$solution$activity)
  c(if (!is.null(x$params$n_scores) && !is.null(x$params$n_clusters)) {
      paste0("clusters     of the leading ", x$params$n_scores, " principal component scores")
    },
    if (!is.null(x$n_nonzero)) nonzero_note(x),
    if (convex) paste0("non-zero     ", sum(x$sample_scores > 0, na.rm = TRUE), " of ",
      count_words(x$n, "sample")),
    labelled_note(x), copies_note(x), if (convex) chance_note,
    if (!is.null(x$solution$graph)) graph_note(x$solution$graph))
}

# For methods that may pick samples that are nearly the same.
copies_note <- function(x) {
  if (!isTRUE(x$params$copies > 0L)) return(NULL)
  paste0("copies       ", count_words(x$params$copies, "pick"), " nearly the same as an earlier ",
    "one; ufs_medoids() or similarity = \"heat\" of ufs_ted() pick none")
}

# Values and their bounds are read side by side: three digits would show a dual of 3176 as 3180,
# above its objective. Residuals and shares need no more than three.
format_certificate <- function(certificate) {
  digits <- ifelse(abs(certificate) >= 1, 6L, 3L)
  paste(names(certificate), signif(certificate, digits), sep = " = ", collapse = ", ")
}

#' @export
summary.ufs <- function(object, ...) {
  check_dots_empty(...)
  check_fit(object)
  objective <- object$trace$objective
  kept <- c("method", "call", "n", "p", "status", "iterations", "elapsed", "certificate", "params")
  out <- c(unclass(object)[kept], list(
    title = method_title(object$method), constant = length(object$constant),
    notes = own_notes(object),
    objective = if (length(objective)) c(first = objective[1L], last = utils::tail(objective, 1L)),
    features = if (!is.null(object$feature_scores)) score_summary(object$feature_scores),
    samples = if (!is.null(object$sample_scores)) score_summary(object$sample_scores),
    best = if (!is.null(object$feature_scores)) utils::head(as.data.frame(object), 10L)
  ))
  structure(out, class = "summary.ufs")
}

last_objective <- function(fit) utils::tail(c(NA_real_, fit$trace$objective), 1L)

score_summary <- function(score) {
  score <- unname(score[!is.na(score)])
  list(quantiles = stats::quantile(score), zero = sum(score == 0), distinct = length(unique(score)))
}

#' @export
print.summary.ufs <- function(x, digits = 4L, ...) {
  check_dots_empty(...)
  digits <- check_count(digits, "digits", 1L, 22L)
  cat_line("<ufs_", x$method, "> ", x$title)
  if (!is.null(x$call)) {
    cat_line("call: ", paste(deparse(x$call, width.cutoff = 80L), collapse = "\n      "))
  }
  cat_line("data: ", size_words(x$n, x$p), ", ", x$constant, " constant")
  cat_line(if (is.null(status_text(x))) "time: " else paste0("status: ", status_text(x), ", "),
    format(x$elapsed, digits = 3L), " s")
  if (!is.null(x$objective)) {
    cat_line("objective: ", paste(signif(x$objective, digits + 2L), collapse = " -> "))
  }
  if (length(x$certificate)) cat_line("certificate: ", format_certificate(x$certificate))
  for (line in x$notes) cat_line(line)
  short <- Filter(function(value) is.atomic(value) && length(value) == 1L, x$params)
  short$given <- NULL
  if (length(short)) {
    cat_line("parameters: ", paste(names(short), vapply(short, format, "", digits = digits),
      sep = " = ", collapse = ", "))
  }
  for (what in c("features", "samples")) {
    part <- x[[what]]
    if (is.null(part)) next
    cat_line(what, ": scores from ", signif(part$quantiles[[1L]], digits), " to ",
      signif(part$quantiles[[5L]], digits), ", median ", signif(part$quantiles[[3L]], digits),
      ", ", part$zero, " exactly zero")
  }
  if (!is.null(x$best)) {
    cat("best features:\n")
    told <- !all(is.na(x$best$chosen))
    print(x$best[told | names(x$best) != "chosen"], digits = digits, row.names = FALSE)
  }
  invisible(x)
}

#' A fit as a data frame
#'
#' Gives the ranking of a fit as a table, to be saved, joined with other tables or drawn.
#'
#' @param x A fit.
#' @param row.names,optional Ignored; there for the generic.
#' @param what `"features"` or `"samples"`; the default is what the method selects.
#' @param ... Must be empty.
#' @return One row per feature (sample), best first: its name (`feature` or `sample`), `index`,
#'   `score`, `rank`, `chosen` (is it one of those that [selected_features()] or
#'   [selected_samples()] gives by default? `NA` where the fit was not told how many) and, of
#'   methods with one, the `key` that orders equal scores (larger first).
#' @examples
#' as.data.frame(ufs_variance(iris[, 1:4]))
#' @export
as.data.frame.ufs <- function(x, row.names = NULL, optional = FALSE, what = NULL, ...) {
  check_dots_empty(...)
  check_fit(x)
  have <- c(if (!is.null(x$feature_scores)) "features", if (!is.null(x$sample_scores)) "samples")
  what <- if (is.null(what)) have[[1L]] else check_choice(what, "what", have)
  one <- if (what == "features") "feature" else "sample"
  ranking <- unname(x[[paste0(one, "_ranking")]])
  score <- x[[paste0(one, "_scores")]]
  name <- labels_of(x$names[[what]], length(score))
  out <- data.frame(name = name[ranking], index = ranking, score = unname(score[ranking]),
    rank = seq_along(ranking), chosen = NA)
  names(out)[1L] <- one
  shown <- shown_ranking(x, one)
  if (!is.null(shown$size)) {
    out$chosen <- ranking %in% utils::head(shown$ranking, shown$size)
  }
  key <- unname(x[[paste0(one, "_key")]])
  if (length(unique(key[!is.na(key)])) > 1L) out$key <- key[ranking]
  out
}

# One line for print().
graph_note <- function(graph) {
  paste0("graph        ", graph_text(graph), "; ", count_words(graph$n_components, "component"))
}

graph_text <- function(graph) {
  what <- switch(graph$kind,
    heat = sprintf("heat weights, bandwidth %s", format(signif(graph$bandwidth, 3L))),
    user = "weights given by the user",
    paste(graph$kind, "weights")
  )
  if (is.na(graph$n_neighbours)) what else {
    paste0(sprintf("%d nearest neighbours (%s), %s", graph$n_neighbours, graph$symmetrise, what),
      if (!is.null(graph$note)) paste0("; ", graph$note))
  }
}

nonzero_note <- function(fit, nonzero = fit$n_nonzero) {
  rest <- sum(!is.na(fit$feature_scores)) - nonzero
  paste0("non-zero     ", nonzero, " of ", count_words(fit$p, "feature"),
    if (rest > 0) paste0("; the other ", rest, " are ranked by how close they are to entering"))
}

labelled_note <- function(x) {
  known <- length(x$params$labelled)
  if (known) paste0("labelled     ", known, " already: not picked again")
}

# For print() of rankings that do worse than random choice where labels are few.
chance_note <- paste("for labels   use ufs_facility() or ufs_medoids(): this ranking does worse",
  "than chance there")
