# print(), summary() and as.data.frame() of a fit.

# What a print of a fit, of ufs_select() or of ufs_split() says: a title, and below it fields of
# these parts in this order. A part is a character vector: sentences named by their fields, "" where
# one goes on.
report_parts <- c("chosen", "data", "constraints", "method", "worth", "checks", "records", "code")

print_report <- function(title, parts) {
  stopifnot(names(parts) %in% report_parts)
  cat_line(title)
  for (name in intersect(report_parts, names(parts))) {
    part <- parts[[name]]
    for (i in seq_along(part)) {
      label <- paste0("  ", names(part)[i])
      # Code is pasted, so that no line of it may be broken.
      if (name == "code") cat_line(formatC(label, width = -15L), part[[i]]) else
        cat_field(label, part[[i]])
    }
  }
}

# Notes of methods ("non-zero     12 of 500 ...") as fields.
as_fields <- function(notes) {
  if (length(notes)) stats::setNames(substring(notes, 14L), trimws(substr(notes, 1L, 13L)))
}

#' @export
print.ufs <- function(x, n = 5L, ...) {
  check_dots_empty(...)
  check_fit(x)
  n <- check_count(n, "n", 0L)
  constant <- if (is.null(x$levels)) x$constant else x$levels$constant
  line <- function(one, names) {
    if (is.null(x[[paste0(one, "_ranking")]])) return(NULL)
    shown <- shown_ranking(x, one)
    stats::setNames(best_line(shown$ranking, names, n, shown$size), paste0(one, "s"))
  }
  # How the run went, by what, and what the method is good for.
  status <- status_text(x)
  own <- own_notes(x)
  # The line on non-zero features says how many rows these are.
  shown <- x$certificate[names(x$certificate) != "live_rows"]
  scored <- if (!is.null(x$feature_scores)) count_scored(x$feature_scores)
  rest <- if (!any(grepl("^non-zero", own)) && isTRUE(scored < sum(!is.na(x$feature_scores)))) {
    paste0(scored, " of ", x$p, " features have a score above 0; the rest is ",
      order_of_rest(x$feature_scores, x$feature_key))
  }
  advice <- registry()[[x$method]]$advice
  print_report(paste0("<ufs_", x$method, "> ", method_title(x$method)), list(
    chosen = c(line("feature", names(x$feature_scores)), line("sample", x$names$samples)),
    data = c(data = paste0(size_words(x$n, x$p),
      if (length(constant)) paste0(" (", length(constant), " constant)")),
      as_fields(data_notes(x))),
    constraints = as_fields(constraint_notes(x)),
    method = c(if (!is.null(status)) c(status = status),
      # The lines of a method say these in words.
      if (length(shown) && !any(c("max_correlation", "ratio", "within_ss") %in% names(shown))) {
        c(certificate = paste0(format_certificate(shown), certified_number(x)))
      }, as_fields(own),
      if (!is.null(rest)) c(scores = rest),
      if (isTRUE(nzchar(advice))) c(advice = advice_sentence(advice))),
    checks = if (length(faults <- fit_checks(x))) c(checks = paste(faults, collapse = "; ")),
    code = c(code = if (!is.null(x$call)) {
      code_line(paste(deparse(x$call, 500L), collapse = " "), "fit$call")
    })))
  invisible(x)
}

code_line <- function(code, whole) {
  if (nchar(code) <= 300L) return(code)
  paste0(substr(code, 1L, 250L), " ... (the whole: ", whole, ")")
}

# Lines of every print: what the data lost on the way in.
data_notes <- function(x) {
  c(tables_words(x$input$tables$of, chosen_now(x, "feature")), input_notes(x$input))
}

# ---- what looks wrong ---------------------------------------------------------------------------

# Checks that need the fit alone.
fit_checks <- function(fit, chosen = chosen_now(fit, "feature")) {
  score <- unname(fit$feature_scores)[chosen]
  scored <- if (length(chosen)) count_scored(fit$feature_scores)
  c(if (fit$status != "converged") paste0("the run ended as \"", fit$status, "\""),
    fit$input$codes,
    omitted_words(fit$input, 0.1, "rows"),
    much_filled(fit$input$filled_share[chosen], "more than a fifth was filled in of ",
      names(fit$feature_scores)[chosen]),
    if (anyNA(score)) paste(sum(is.na(score)), "of the chosen columns have no score (constant)"),
    if (length(chosen) && scored < length(chosen)) {
      paste("only", scored, "of", length(chosen),
        "have a score above 0; the rest fills the list")
    })
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

# What is captured and its bound are of as many columns as there are components, whatever `k` is.
certified_number <- function(x) {
  if ("captured" %in% names(x$certificate) && length(x$params$n_components) == 1L) {
    paste0(" (best ", x$params$n_components, ")")
  }
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
  if (length(x$certificate)) cat_line("certificate: ", format_certificate(x$certificate),
    certified_number(x))
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
  if (!is.null(shown$size)) out$chosen <- ranking %in% utils::head(shown$ranking, shown$size)
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

#' @exportS3Method stats::nobs ufs
nobs.ufs <- function(object, ...) object$n
