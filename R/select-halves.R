# How much a choice of columns hangs on the rows: the same call on random halves of them.

# list(count: how many of the chosen would be chosen again from as many other rows, of these; share,
# chance; again: which; stand_in: how many of the others have one; apart: by how many points the
# explained variance differs; levels: are halves of levels?). A half has half of its rows in common
# with the choice of all and the other none with it, but both have fewer rows: agreement with the
# whole says too much and agreement of two halves too little, so the mean of both is said. NULL
# where there is too little to halve, or too little to choose from.
row_halves <- function(fit, x, args, pairs = 2L) {
  level <- independent_rows(x)
  all <- unique(level)
  whole <- chosen_indices(fit)
  chosen <- setdiff(whole, placed_columns(x$held))
  open <- length(setdiff(seq_len(x$p), c(fit$constant, placed_columns(x$held))))
  if (length(all) < 12L || !length(chosen) || length(chosen) >= open) return(NULL)
  x$quiet <- TRUE
  with_seed(looking_seed, {
    halves <- unlist(lapply(seq_len(pairs), function(i) {
      half <- level %in% all[sample.int(length(all), length(all) %/% 2L)]
      list(which(half), which(!half))
    }), recursive = FALSE)
    sets <- lapply(halves, function(rows) {
      chosen_quickly(x[rows, , drop = FALSE], fit$method, args, looking_seed)
    })
    if (!all(lengths(sets))) return(NULL)
    there <- vapply(sets, function(set) chosen %in% set, logical(length(chosen)))
    there <- matrix(there, length(chosen))
    pair <- function(i) mean(setdiff(sets[[i]], placed_columns(x$held)) %in% sets[[i + 1L]])
    share <- mean(c(mean(there), mean(vapply(2L * seq_len(pairs) - 1L, pair, 0))))
    count <- round(share * length(chosen))
    back <- order(-rowSums(there))[seq_len(count)]
    lost <- setdiff(seq_along(chosen), back)
    drawn <- quality_sample(fit, x, c(list(whole), sets, as.list(chosen[lost])),
      max(400L, 3L * length(whole)))
    if (is.null(drawn)) return(NULL)
    told <- foretold_share(drawn$x, drawn$sets[seq_len(1L + length(sets))], drawn$columns)
    list(count = count, of = length(chosen), share = share, chance = length(chosen)^2 / open,
      again = names(fit$feature_scores)[chosen[back]], stand_in = stand_ins(drawn,
      !there[lost, , drop = FALSE]), apart = 100 * mean(abs(told[-1L] - told[1L])),
      levels = length(all) < x$n)
  })
}

# How many of the columns that were lost have a column that correlates with them by more than 0.8 in
# most of the halves that do not choose them (`missed`: columns x halves).
stand_ins <- function(drawn, missed) {
  sets <- drawn$sets[1L + seq_len(ncol(missed))]
  lost <- drawn$sets[-seq_len(1L + ncol(missed))]
  sum(vapply(seq_along(lost), function(i) {
    near <- vapply(sets[missed[i, ]], function(set) {
      max(0, abs(stats::cor(x_columns(drawn$x, lost[[i]]), x_columns(drawn$x, set)))) > 0.8
    }, NA)
    length(near) > 0L && mean(near) > 0.5
  }, NA))
}

# The same of a fit of any method and its data, with what the call says of these. A call has no
# long values: they come with the data.
with_halves <- function(fit, x) {
  if (fit$task == "label") refuse("x", "`x` is for a choice of columns: their halves are of rows.")
  given <- as.list(fit$call)[-1L]
  given$x <- NULL
  known <- setdiff(input_arguments(), c("counts", "rows"))
  if (inherits(x, "ufs_data")) given <- given[!names(given) %in% known]
  long <- names(Filter(is.name, given))
  if (length(long)) {
    refuse("x", "The call of the fit does not hold `", long[1L], "`, which repeating it needs: ",
      "give `x` as a result of ufs_data() with it, or see ufs_stability().")
  }
  # Rows that were drawn.
  given <- lapply(given, function(v) if (is.call(v)) with_seed(looking_seed, eval(v)) else v)
  opened <- open_some(x, given)
  if (opened$x$n != fit$n || opened$x$p != fit$p) {
    refuse("x", "`x` must be the data of the fit: ", size_words(fit$n, fit$p), ".")
  }
  fit$halves <- row_halves(fit, opened$x, opened$rest)
  fit
}

#' @export
summary.ufs_select <- function(object, x = NULL, ...) {
  check_fit(object)
  if (!is.null(x)) object <- with_halves(object, x)
  out <- summary(without_task(object), ...)
  structure(c(unclass(out), list(selection = object)), class = c("summary.ufs_select", class(out)))
}
