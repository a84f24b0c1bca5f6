# print, summary, predict, coef, as.data.frame. Pictures are in plots.R.

# What the registry calls a method; its bare name if it is not registered.
method_title <- function(method) {
  row <- registry()[[method]]
  if (is.null(row)) method else row$title
}

#' @export
print.ufs <- function(x, n = 5L, ...) {
  check_dots_empty(...)
  check_fit(x)
  n <- check_count(n, "n", 0L)
  put("<ufs_", x$method, "> ", method_title(x$method))
  put("  data         ", size_words(x$n, x$p),
    if (length(x$constant)) paste0(" (", length(x$constant), " constant)"))
  put("  status       ", x$status,
    if (x$iterations > 0L) paste(" after", count_words(x$iterations, "iteration")))
  if (length(x$certificate)) put("  certificate  ", format_certificate(x$certificate))
  notes <- c(input_notes(x$input), print_notes(x))
  for (line in notes) put("  ", line)
  if (!is.null(x$feature_scores) && !any(grepl("^live", notes))) {
    live <- live_scores(x$feature_scores)
    if (live < x$p - length(x$constant)) {
      put("  live         ", live, " of ", x$p, " features have a score above 0; beyond them the ",
        "ranking is ", order_of_rest(x$feature_scores, x$feature_key))
    }
  }
  advice <- registry()[[x$method]]$advice
  if (isTRUE(nzchar(advice))) put("  advice       ", advice_sentence(advice))
  if (!is.null(x$feature_ranking)) {
    put("  features     ", best_line(x$feature_ranking, names(x$feature_scores), n,
      remembered_size(x, "k")))
  }
  if (!is.null(x$sample_ranking)) {
    put("  samples      ", best_line(x$sample_ranking, x$names$samples, n, remembered_size(x, "m")))
  }
  invisible(x)
}

# A line of print().
put <- function(...) cat(..., "\n", sep = "")

# "24 samples x 1 feature"
size_words <- function(n, p) paste(count_words(n, "sample"), "x", count_words(p, "feature"))

count_words <- function(n, word) paste0(n, " ", word, if (n != 1L) "s")

# What ufs_methods() says in a word or two, as a sentence: print() has room for one.
advice_sentence <- function(advice) {
  more <- sub("^[a-z]+:? *[(]?", "", advice)
  if (grepl("^[a-z]+ [(]", advice)) more <- sub("[)]$", "", more)
  switch(sub("[ :].*", "", advice),
    recommended = paste0("It is r", substring(advice, 2L), "."),
    situational = paste0("It is useful in some situations",
      if (nzchar(more)) paste0(" (", more, ")"), "; see vignette(\"which-method\")."),
    baseline = "It is a baseline, there for comparison.",
    historical = "It is there for comparison; other methods did better on real data.",
    paste0(toupper(substr(advice, 1L, 1L)), substring(advice, 2L), "."))
}

# One or two more lines of a method's own: "live rows    12 of 500", say.
print_notes <- function(x) UseMethod("print_notes")

# What all methods with such fields say: live features, live samples of the convex selectors, whose
# dual gives each an activity, labels, graph.
#' @export
print_notes.default <- function(x) {
  convex <- !is.null(x$solution$activity)
  c(if (!is.null(x$params$n_scores)) {
      paste0("clusters     of the leading ", x$params$n_scores, " principal component scores")
    },
    if (!is.null(x$n_live)) live_note(x),
    if (convex) paste0("live rows    ", sum(x$sample_scores > 0), " of ", x$n),
    labelled_note(x), if (convex) chance_note,
    if (!is.null(x$solution$graph)) graph_note(x$solution$graph))
}

# Values and their bounds are read side by side: three digits would show a dual of 3176 as 3180,
# above its objective. Residuals and shares need no more than three.
format_certificate <- function(certificate) {
  digits <- ifelse(abs(certificate) >= 1, 6L, 3L)
  paste(names(certificate), signif(certificate, digits), sep = " = ", collapse = ", ")
}

# The first n of those chosen, and how many these are; of the whole ranking where it was left open.
best_line <- function(ranking, names, n, size = NULL) {
  best <- utils::head(ranking, min(n, size))
  text <- if (is.null(names)) as.character(best) else names[best]
  paste0(paste(text, collapse = ", "), if (min(length(ranking), size) > n) ", ...",
    if (!is.null(size)) paste0(" (", size, " of ", length(ranking), ")"))
}

# k or m as the method was given it, or NULL: methods that pick one by one note how many they
# picked, and whether anybody asked for it.
remembered_size <- function(fit, name) if (!isFALSE(fit$params$given)) fit$params[[name]]

#' @export
summary.ufs <- function(object, ...) {
  check_dots_empty(...)
  check_fit(object)
  objective <- object$trace$objective
  kept <- c("method", "call", "n", "p", "status", "iterations", "elapsed", "certificate", "params")
  out <- c(unclass(object)[kept], list(
    title = method_title(object$method), constant = length(object$constant),
    notes = print_notes(object),
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
  put("<ufs_", x$method, "> ", x$title)
  put("call: ", paste(deparse(x$call, width.cutoff = 80L), collapse = "\n      "))
  put("data: ", size_words(x$n, x$p), ", ", x$constant, " constant")
  put("status: ", x$status, ", ", count_words(x$iterations, "iteration"), ", ",
    format(x$elapsed, digits = 3L), " s")
  if (!is.null(x$objective)) {
    put("objective: ", paste(signif(x$objective, digits + 2L), collapse = " -> "))
  }
  if (length(x$certificate)) put("certificate: ", format_certificate(x$certificate))
  for (line in x$notes) put(line)
  short <- Filter(function(value) is.atomic(value) && length(value) == 1L, x$params)
  short$given <- NULL
  if (length(short)) {
    put("parameters: ", paste(names(short), vapply(short, format, "", digits = digits),
      sep = " = ", collapse = ", "))
  }
  for (what in c("features", "samples")) {
    part <- x[[what]]
    if (is.null(part)) next
    put(what, ": scores from ", signif(part$quantiles[[1L]], digits), " to ",
      signif(part$quantiles[[5L]], digits), ", median ", signif(part$quantiles[[3L]], digits),
      ", ", part$zero, " exactly zero")
  }
  if (!is.null(x$best)) {
    cat("best features:\n")
    print(x$best, digits = digits, row.names = FALSE)
  }
  invisible(x)
}

#' Chosen columns of new data
#'
#' Keeps the best `k` features of `newdata`, by name if the columns had names when the
#' method was fitted, and by position otherwise. Use it to reduce the data that the method saw, or
#' new samples of the same kind, to the chosen columns.
#'
#' @param object A fit that selects features.
#' @param newdata A matrix, data frame or whatever [ufs_data()] reads, with the chosen columns.
#' @param k How many features to keep. The default `NULL` takes the number given to the method.
#' @param ... Must be empty: an unknown argument is an error.
#' @return `newdata[, chosen]`, of the class of `newdata`, best feature first; values are not
#'   changed. In a SummarizedExperiment or Seurat object features are rows, and these are kept. A
#'   big.matrix gives a matrix in memory.
#' @examples
#' fit <- ufs_variance(iris[1:100, 1:4])
#' head(predict(fit, iris[101:150, ], k = 2))
#' @export
predict.ufs <- function(object, newdata, k = NULL, ...) {
  check_dots_empty(...)
  check_fit(object)
  check_newdata(newdata)
  chosen <- selected_features(object, k, as = "index")
  if (!is.null(object$input$transform)) {
    data <- transform_new(object, newdata)
    return(data$x[, match_columns(object, data, chosen), drop = FALSE])
  }
  if (has_feature_rows(newdata)) {
    return(feature_rows(newdata, match_columns(object, newdata, chosen)))
  }
  if (inherits(newdata, "ufs_sketch")) newdata <- newdata$data
  newdata[, match_columns(object, newdata, chosen), drop = FALSE]
}

check_newdata <- function(newdata) {
  if (missing(newdata) || length(dim(newdata)) != 2L) {
    refuse("newdata", "`newdata` must be a matrix or data frame.")
  }
}

# The given features of the fit in newdata, as a dense matrix: of data of any kind only these.
new_columns <- function(object, newdata, index = seq_len(object$p), arg = "newdata") {
  if (!is.null(object$input$transform)) newdata <- transform_new(object, newdata, arg)
  # A table may have columns beside those of the fit that are not numeric.
  if (is.data.frame(newdata)) {
    at <- match_columns(object, newdata, index)
    return(as_plain_matrix(newdata[, at, drop = FALSE], arg))
  }
  data <- open_data(newdata, arg)
  at <- match_columns(object, data, index)
  if (data$kind != "dense") {
    check_bytes(8 * as.double(data$n) * length(at), paste0("`", arg, "` as a dense matrix"),
      dense_advice)
  }
  out <- data_columns(data, at)
  dimnames(out) <- list(data$samples, data$features[at])
  out
}

# newdata's columns centred and scaled as the fit's data were, and back.
scaled_as <- function(fit, z, index = seq_len(fit$p)) {
  if (!isFALSE(fit$center)) z <- sweep(z, 2L, fit$center[index])
  if (!isFALSE(fit$scale)) z <- sweep(z, 2L, fit$scale[index], "/")
  z
}

unscaled <- function(fit, z) {
  if (!isFALSE(fit$scale)) z <- sweep(z, 2L, fit$scale, "*")
  if (!isFALSE(fit$center)) z <- sweep(z, 2L, fit$center, "+")
  z
}

# Some columns of newdata, which must be finite, ready for a product.
scaled_columns <- function(fit, newdata, index = seq_len(fit$p)) {
  if (missing(newdata)) refuse("newdata", "`newdata` is missing.")
  z <- new_columns(fit, newdata, index)
  bad <- which(colSums(!is.finite(z)) > 0)
  if (length(bad)) {
    ufs_abort("input", "`newdata` has missing or infinite values (NA, NaN, Inf) in ",
      some_columns(fit$names$features[index[bad]]), ".", argument = "newdata")
  }
  scaled_as(fit, z, index)
}

# Where the given features of the fit are in newdata.
match_columns <- function(object, newdata, index = seq_len(object$p)) {
  turned <- has_feature_rows(newdata)
  names <- if (turned) rownames(newdata) else colnames(newdata)
  size <- if (turned) nrow(newdata) else ncol(newdata)
  if (!object$names$named || is.null(names)) {
    if (size != object$p) {
      ufs_abort("input", "`newdata` has ", size, " features without names to match; ",
        "the fit has ", object$p, ".", argument = "newdata")
    }
    return(index)
  }
  wanted <- object$names$features[index]
  at <- match(wanted, names)
  if (anyNA(at) && size == object$p) {
    # Names that were made unique for the fit: same columns, same repair.
    at <- match(wanted, feature_names(names, object$p, warn = FALSE))
  }
  if (anyNA(at)) {
    ufs_abort("input", "`newdata` lacks ", some_columns(wanted[is.na(at)]), ".",
      argument = "newdata")
  }
  at
}

#' @export
coef.ufs <- function(object, ...) {
  check_dots_empty(...)
  check_fit(object)
  if (is.null(object$coef_name)) {
    refuse("object", "ufs_", object$method, "() has no coefficient matrix.")
  }
  value <- object$solution[[object$coef_name]]
  # Features in rows, whatever the orientation in which the method writes its matrix.
  features <- object$names$features
  turned <- !identical(rownames(value), features) && identical(colnames(value), features)
  if (turned) t(value) else value
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
#'   `score`, `rank` and, of methods with one, the `key` that orders equal scores (larger first).
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
    rank = seq_along(ranking))
  names(out)[1L] <- one
  key <- unname(x[[paste0(one, "_key")]])
  if (length(unique(key[!is.na(key)])) > 1L) out$key <- key[ranking]
  out
}
