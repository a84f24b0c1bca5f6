# How much of a selection is no better than noise: columns with their rows permuted, among the real
# ones. Cost: one fit of x with n_decoys columns more, for each method and repeat.

#' How much of a selection is no better than noise
#'
#' Adds decoys to your data: copies of some columns, each with its rows permuted. A decoy has the
#' values of a real column and no relation to anything. The method is run anew on all of them, and
#' what it ranks below decoys is no better than noise. The result says, without any labels, which
#' share of the best k columns are of that kind, and how many columns are better than noise. Use it
#' to decide how many features to keep, to choose between methods, and to see whether a table
#' has any structure at all.
#'
#' `share` at k is the number of decoys ranked before the k-th real column, scaled to one decoy per
#' column, divided by k, and averaged over the repeats. A column that is independent of all others
#' has the same chance as its decoy of any rank, so that on average this is at least the share of
#' such columns among the best k. `k` in the result is the largest k at which it is at most `share`.
#' A second condition guards against luck. If all columns were noise, each would stand before its
#' decoy with probability one half. A sign test of that hypothesis must reject it at the level
#' `share`, or `k` is 0; with a handful of columns it cannot.
#' Constant columns are left out and equal columns count once. Of data with `replicates` their
#' levels are permuted, and columns that do not repeat at all are left out, too.
#'
#' `conservative = TRUE` controls the share instead of estimating it. Every column gets a
#' decoy, the two compete, and the share is one plus the decoys that won, over the real columns that
#' won (Barber and Candes 2015). In a single repeat (`repeats = 1`) the expected share of columns of
#' pure noise among `columns` is then at most `share`. It needs `1 / share` winning columns at
#' least, and says 0 on a small table. Over several repeats `columns` are those that most of them
#' list, and `k` is their number.
#'
#' Columns that must be in are first in every ranking, and those that may not be are last, because
#' you said so: they are not judged, and their decoys do not count. Those that must be in count in
#' `k`, as they do in [selected_features()]; for no more columns than these `share` is `NA`.
#'
#' # What it does not see
#' * Structure that is not wanted (batches, artefacts, positions) beats decoys too. So do rows that
#'   depend on each other, such as time series.
#' * The answer is about a method on these data, not about the data alone: a method that fails finds
#'   nothing better than noise where others do.
#' * Methods that choose columns to complement each other ([ufs_css()], [ufs_mcfs()]) take noise on
#'   purpose once what is common has been explained. Their share is high on clean data also, and
#'   says where that begins.
#' * A method that looks at the values of each column alone ([ufs_variance()], [ufs_random()])
#'   cannot tell a column from its decoy: its share is about 1 whatever the data are.
#'
#' @inheritParams ufs_grid
#' @param method The name of a method that selects features, or of several; or a fit, or several
#'   ([c()]). Of a fit the method and the arguments in its call are taken. Several methods
#'   meet the same decoys, and each gets those of the arguments in `...` that it has. A graph or a
#'   start that was made without the decoys is refused.
#' @param ... Arguments of the method, and those of [ufs_data()], like `assay`.
#' @param k Before how many columns decoys are counted in the print, besides those of the answer.
#'   A method that solves for its number ([ufs_topk()], [ufs_blfse()]) is asked for this many (by
#'   default 50, or all).
#' @param n_decoys How many decoys to add. The default is a fifth of the columns, but at least 50
#'   and at most 2000, never more than there are columns, nor than `getOption("ufselect.max_bytes")`
#'   holds where the data are on disk: the decoys themselves are in memory.
#' @param repeats How many times the method is run, each time with other decoys.
#' @param share The share of columns no better than noise that is accepted.
#' @param conservative Should the share be controlled instead of estimated?
#' @return An object of class `ufs_decoys`: `k`, a whole number for each method; `columns`, for each
#'   method those that are above the threshold in most of the repeats; `curve`, a data frame with
#'   `share` and its range over the repeats (`low`, `high`) for each method and k; `noise`, the
#'   estimated share of noise among all columns, whatever the method, as [ufs_look()] has it (`NA`
#'   of few rows or columns), and the upper end of its range, `noise_high`; `n_decoys`;
#'   and `errors`. [as.data.frame()] gives a row per method.
#' @references Barber, R. F. and Candes, E. J. (2015) Controlling the false discovery rate via
#'   knockoffs. *Annals of Statistics* **43**(5), 2055-2085. \doi{10.1214/15-AOS1337}
#'
#'   Chung, N. C. and Storey, J. D. (2015) Statistical significance of variables driving systematic
#'   variation in high-dimensional data. *Bioinformatics* **31**(4), 545-554.
#'   \doi{10.1093/bioinformatics/btu674}: package jackstraw, for principal components and clusters.
#'
#'   Kursa, M. B. and Rudnicki, W. R. (2010) Feature selection with the Boruta package. *Journal of
#'   Statistical Software* **36**(11). \doi{10.18637/jss.v036.i11}: the same idea with labels.
#'
#'   Storey, J. D. (2002) A direct approach to false discovery rates. *Journal of the Royal
#'   Statistical Society B* **64**(3), 479-498. \doi{10.1111/1467-9868.00346}
#' @seealso [ufs_size()], which sets this beside other answers to "how many?"
#' @examples
#' # 5 columns with structure among 25 of noise
#' set.seed(1)
#' x <- matrix(rnorm(60 * 30), 60)
#' x[, 1:5] <- x[, 1:5] + 3 * rep(0:1, each = 30)
#' colnames(x) <- paste0("v", 1:30)
#' found <- ufs_decoys(x, "pca", n_components = 2)
#' found
#' found$columns
#' @export
ufs_decoys <- function(x, method, ..., k = NULL, n_decoys = NULL, repeats = 5L, share = 0.05,
                       conservative = FALSE, checkpoint = NULL) {
  check_given(x, method)
  call <- plain_call(match.call(), "ufs_decoys")
  plan <- decoys_plan(method, list(...), parent.frame())
  x <- data_of_levels(check_door(open_some(x, plan$input)$x, "ufs_decoys()"))
  checkpoint <- check_checkpoint(checkpoint)
  repeats <- check_count(repeats, "repeats", 1L, 1e6, "a million repeats")
  share <- check_number(share, "share", 0, 1, open = TRUE)
  conservative <- check_flag(conservative, "conservative")
  data <- as_column_stats(x)
  q <- length(data$keep)
  if (!is.null(k)) k <- check_count(k, "k", 1L, q, "the features that are not constant")
  first <- equal_of_data(x, data)
  distinct <- sum(first == seq_len(q))
  n_decoys <- decoys_number(n_decoys, x, distinct, conservative)
  if (length(placed_columns(data$held)) >= q) {
    refuse("include", "`include` and `exclude` leave no column that decoys could judge.")
  }
  common <- list(x = to_travel(x), keep = data$keep, first = first, n_decoys = n_decoys,
    per_k = min(q, if (is.null(k)) 50L else k), plan = plan$methods)
  run <- start_run("decoys", x, checkpoint)
  # The seed does not depend on the method, so that all methods meet the same decoys.
  tasks <- Map(function(i, at) list(seed = task_seed(run, "repeat", i), at = at),
    rep(seq_len(repeats), length(plan$methods)), rep(seq_along(plan$methods), each = repeats))
  # The value of a task depends on its own method alone.
  keys <- task_keys(run, lapply(tasks, function(task) c(task["seed"], common$plan[[task$at]])),
    common[setdiff(names(common), "plan")])
  # A ranking of the real columns 1 .. q, and of n_decoys decoys of distinct ones of them.
  done <- run_tasks(tasks, decoys_fit, common, run, keys, usable = function(value) {
    decoys <- value$ranking[value$ranking > q] - q
    is_order(value$ranking[value$ranking <= q], q) && length(decoys) == n_decoys &&
      is_choice(decoys, q) && all(first[decoys] == decoys)
  })
  found <- Map(decoys_result, method = names(plan$methods),
    runs = split(done$values, vapply(tasks, `[[`, 0L, "at")), MoreArgs = list(first = first,
      level = share, conservative = conservative, held = data$held))
  noise <- table_noise(x, data$keep)
  labels <- if (data$named) data$features else seq_len(data$p)
  structure(list_of(call, methods = names(found), k = vapply(found, `[[`, 0L, "k"),
    columns = lapply(found, function(one) labels[data$keep[one$columns]]),
    curve = do.call(rbind, unname(lapply(found, `[[`, "curve"))),
    noise = c(noise$noise, NA_real_)[1L], noise_high = c(noise$high, NA_real_)[1L],
    asked = k, share, conservative, n_decoys, repeats, n = c(x$levels$n_rows, data$n)[1L],
    levels = x$levels$n_levels, p = data$p, usable = q, distinct,
    included = length(data$held$include), excluded = length(data$held$exclude),
    seconds = vapply(found, `[[`, 0, "seconds"), errors = lapply(found, `[[`, "errors"),
    checkpoint = done$report), class = c("ufs_decoys", "ufs_result"))
}

# ---- what is run ---------------------------------------------------------------------------------

# list(methods, input): for each method list(method, args), by a name of its own; and which of the
# arguments are those of ufs_data().
decoys_plan <- function(method, dots, frame) {
  if (inherits(method, "ufs")) method <- list(method)
  if (is.list(method)) {
    own <- setdiff(names_of(dots), input_arguments())
    if (length(own)) {
      refuse(own[1L], "`", own[1L], "`: the arguments of a fit are those of its call.")
    }
    for (fit in method) check_fit(fit, "feature_ranking", "features")
    # The arguments in the call of a fit, as far as they are not data.
    out <- lapply(method, function(fit) {
      given <- as.list(fit$call)[-1L]
      given <- given[names(given) %in% method_row(fit$method)$arguments]
      list(method = fit$method, args = Map(function(value, name) {
        on_error(eval(value, frame), function(e) {
          refuse("method", "`", name, "` in the call of the fit (", deparse_short(value),
            ") cannot be found here: give the name of the method and its arguments instead.")
        })
      }, given, names(given)))
    })
    names(out) <- make.unique(vapply(out, `[[`, "", "method"), " ")
  } else {
    if (!is.character(method) || !length(method)) method_row(method)
    known <- method_rows(method, dots)
    out <- Map(function(name, row) {
      list(method = name, args = dots[names_of(dots) %in% row$arguments])
    }, method, known$rows)
    dots <- dots[!names_of(dots) %in% known$own]
  }
  for (one in out) {
    row <- method_row(one$method)
    if (row$selects == "samples") {
      refuse("method", "ufs_", one$method, "() selects samples; decoys are columns.")
    }
    # Refuses arguments that were made of x without the decoys: they would favour real columns.
    for (name in names(one$args)) {
      value <- one$args[[name]]
      if (!is.null(dim(value)) || inherits(value, c("ufs", "ufs_graph")) ||
          name == "init" && !is.null(value) && !is.character(value)) {
        refuse(name, "`", name, "` of ufs_", one$method, "() was made without the decoys; let ",
          "it be made anew with them", if (name == "graph") {
            ", e.g. graph = list(n_neighbours = 5)"
          }, ".")
      }
    }
  }
  list(methods = out, input = dots)
}

decoys_number <- function(n_decoys, x, distinct, conservative) {
  most <- min(distinct, if (x$kind == "source") max(1, floor(max_bytes() / (8 * x$n))))
  if (conservative && (most < distinct || (!is.null(n_decoys) && !isTRUE(n_decoys == distinct)))) {
    refuse("n_decoys", "`conservative` = TRUE takes one decoy for each of the ", distinct,
      " columns", if (most < distinct) ", more than fit into memory", ".")
  }
  if (conservative) return(as.integer(distinct))
  if (is.null(n_decoys)) n_decoys <- min(most, max(50, min(2000, round(distinct / 5))))
  check_count(n_decoys, "n_decoys", 1L, most, "the features that differ")
}

# One method with one draw of decoys. The ranking of real columns (1 .. q) and of decoys (q + the
# number of their column).
decoys_fit <- function(task, common) {
  own <- common$plan[[task$at]]
  row <- method_row(own$method)
  args <- own$args
  # Methods that see columns only through their inner products get a triangle in place of many rows.
  if (8 * as.double(common$x$n) * common$x$p > 1e7 && common$x$n > 4 * common$x$p) {
    old <- options(ufselect.copy_bytes = 0)
    on.exit(options(old))
  }
  with_seed(task$seed, {
    with <- with_decoys(common$x, common$keep, common$first, common$n_decoys)
    if (!is.null(row$per_k) && is.null(args[[row$per_k]])) args[[row$per_k]] <- common$per_k
    # Seed NULL: the method goes on with the numbers of this repeat.
    run <- quiet_fit(for_ranking(with$data, own$method, args), own$method, args, NULL)
  })
  if (!is.null(run$error)) return(list(error = run$error))
  list(ranking = with$column[unname(run$fit$feature_ranking)], status = run$fit$status,
    seconds = run$seconds)
}

# ---- the data with decoys ------------------------------------------------------------------------

# list(data, column): the usable columns of x and `n_decoys` decoys of distinct ones, in random
# order, so that ties favour neither; and what each is.
with_decoys <- function(x, keep, first, n_decoys) {
  q <- length(keep)
  distinct <- which(first == seq_len(q))
  of <- distinct[sample.int(length(distinct), n_decoys)]
  from <- keep[of]
  load_reader(x)
  by_columns <- x$kind == "source" && x$x$by == "columns"
  blocks <- if (is.null(x$row_held$blocks)) list(seq_len(x$n)) else
    unname(split(seq_len(x$n), x$row_held$blocks))
  made <- if (x$kind == "dense") dense_with_decoys(x$x, keep, from, blocks) else {
    parts <- if (x$kind == "sparse") sparse_decoys(x$x, from, blocks) else if (isTRUE(x$x$sparse)) {
      sparse_decoys(if (by_columns) read_sparse_part(x$x, j = from) else gather_sparse(x$x, from),
        seq_along(from), blocks)
    } else permuted(data_columns(x, from), blocks)
    ord <- mixed_order(q, n_decoys, if (by_columns) x$x$lines_per_chunk else 1)
    base <- (if (q < x$p) subset_data(x, features = keep) else x)$x
    list(x = if (x$kind == "sparse") interleaved(base, parts, ord) else
      bound_source(base, parts, ord), ord = ord)
  }
  ord <- made$ord
  names <- paste0("v", seq_along(ord))
  if (x$kind == "sparse") made$x@Dimnames <- list(NULL, names)
  data <- new_data(x$kind, made$x, list(NULL, names), x$input$origin)
  data$quiet <- TRUE
  data$input$tables <- subset_tables(x$input$tables, c(keep, from)[ord])
  data$input$coding <- x$input$coding[c(keep, from)[ord]]
  # A constraint is about a column, wherever it stands now.
  held <- if (q < x$p) subset_constraints(x$held, keep) else x$held
  data["held"] <- list(subset_constraints(widen_constraints(held, of, q), ord))
  data["row_held"] <- list(x$row_held)
  if (!is.null(x$levels)) data$levels <- subset_levels(x$levels, c(keep, from)[ord])
  list(data = data, column = c(seq_len(q), q + of)[ord])
}

# cbind(x, beside)[, ord] of sparse matrices without a copy in between.
interleaved <- function(x, beside, ord) {
  start <- c(0L, cumsum(c(diff(x@p), diff(beside@p))[ord]))
  to <- replace(integer(length(ord)), ord, utils::head(start, -1L))
  room <- .Call(C_x_room, start)
  for (part in list(x, beside)) {
    room$at <- to[seq_len(part@Dim[2L])]
    .Call(C_x_place, room, list(start = part@p, i = part@i, x = part@x), 0L)
    to <- to[-seq_len(part@Dim[2L])]
  }
  methods::new("dgCMatrix", i = room$i, p = start, x = room$x, Dim = c(x@Dim[1L], length(ord)))
}

# A random order of q columns and of d behind them. Columns of one chunk in a file (`chunk` of them)
# stay together, for each read takes all of it. The random numbers are as many, whatever it is.
mixed_order <- function(q, d, chunk = 1) {
  key <- sample.int(q)
  real <- if (chunk == 1) order(key) else
    order(stats::ave(key, (seq_len(q) - 1) %/% chunk, FUN = min), key)
  at <- sample.int(q + d, d)
  out <- integer(q + d)
  out[at] <- q + seq_len(d)
  out[-at] <- real
  out
}

# list(x = cbind(x[, keep], permuted(x[, from]))[, ord], ord), without a copy in between.
dense_with_decoys <- function(x, keep, from, blocks) {
  q <- length(keep)
  out <- matrix(0, nrow(x), q + length(from))
  if (length(blocks) == 1L) blocks <- list(NULL)
  for (j in seq_along(from)) for (rows in blocks) {
    size <- if (is.null(rows)) nrow(x) else length(rows)
    at <- sample.int(size, .Call(C_decoy_filled, x, from[j], rows))
    .Call(C_decoy_place, out, q + j, x, from[j], rows, at)
  }
  ord <- mixed_order(q, length(from))
  .Call(C_decoy_arrange, out, ord, x, keep)
  list(x = out, ord = ord)
}

sparse_decoys <- function(x, columns, blocks) {
  block <- rep(seq_along(blocks), lengths(blocks))[order(unlist(blocks))]
  parts <- lapply(columns, function(j) {
    at <- seq.int(x@p[j] + 1, length.out = x@p[j + 1L] - x@p[j])
    at <- at[x@x[at] != 0]
    at <- at[order(block[x@i[at] + 1L])]
    many <- tabulate(block[x@i[at] + 1L], length(blocks))
    list(value = x@x[at], row = unlist(lapply(seq_along(blocks), function(b) {
      blocks[[b]][sample.int(length(blocks[[b]]), many[b])]
    })))
  })
  rows <- lapply(parts, `[[`, "row")
  Matrix::sparseMatrix(unlist(rows), rep(seq_along(columns), lengths(rows)),
    x = unlist(lapply(parts, `[[`, "value")), dims = c(x@Dim[1L], length(columns)))
}

# ---- by components and neighbours ----------------------------------------------------------------

# A function of a seed: the rankings of the columns of x and of decoys by some methods, as
# decoys_fit() has them: by so many principal components, or by neighbours. `data` are those of
# as_ufs_operator(), however they are held: standardised once, and so are their products made. Rows
# that are not alone, several tables and factors are fitted anew with the decoys of each.
decoys_ranked <- function(x, data, first, plan) {
  distinct <- which(first == seq_along(first))
  n_decoys <- decoys_number(NULL, x, length(distinct), FALSE)
  if (!is.null(x$input$tables) || !is.null(x$row_held) || !is.null(data$coded)) {
    return(function(seed) lapply(seq_along(plan), function(at) {
      decoys_fit(list_of(seed, at), list_of(x, keep = unique(data$keep), first, n_decoys, plan))
    }))
  }
  z <- data$x
  q <- ncol(z)
  n <- as.double(nrow(z))
  # Products of rows for neighbours, too, unless they would be many more numbers than x has.
  by_rows <- n <= q + n_decoys
  near <- by_rows || 8 * n^2 <= block_bytes()
  judges <- vapply(plan, `[[`, "", "method")
  rows <- if (by_rows || near && "laplacian" %in% judges) x_gram(z, rows = TRUE)
  own <- if (by_rows) rows else if ("pca" %in% judges) x_gram(z, rows = FALSE)
  judge <- list(
    pca = function(beside, args) {
      component_weights(z, beside, own, by_rows, min(args$n_components, n - 1L, q))
    },
    laplacian = function(beside, args) {
      graph <- if (near) graph_of_products(x_gram(beside, TRUE, rows)) else
        as_ufs_graph(NULL, list(x = cbind(x_dense(z), beside), n = n))
      score <- -c(.Call(C_spec_quadratic, unclass(graph), z, 1L, TRUE),
        .Call(C_spec_quadratic, unclass(graph), beside, 1L, TRUE))
      replace(score, is.nan(score), -Inf)
    })
  function(seed) {
    drawn <- with_seed(seed, {
      of <- distinct[sample.int(length(distinct), n_decoys)]
      # The columns of z, permuted as permuted() does it with those of x, of which they are made.
      from <- data_columns(x, data$keep[of])
      beside <- x_columns(z, of)
      for (j in seq_along(of)) {
        full <- from[, j] != 0
        value <- beside[full, j]
        if (length(value) < n) beside[, j] <- beside[match(FALSE, full), j]
        beside[sample.int(n, length(value)), j] <- value
      }
      list(of = of, z = beside, ord = mixed_order(q, n_decoys))
    })
    lapply(plan, function(own) on_error({
      score <- judge[[own$method]](drawn$z, own$args)
      list(ranking = c(seq_len(q), q + drawn$of)[drawn$ord][ufs_rank(score[drawn$ord])])
    }, function(e) list(error = conditionMessage(e))))
  }
}

# The row norms of the leading loadings of cbind(z, beside); `own`: the Gram matrix of the rows of
# z, or of its columns.
component_weights <- function(z, beside, own, rows, count) {
  gram <- if (rows) x_gram(beside, TRUE, own) else {
    across <- x_cross(z, beside)
    rbind(cbind(own, across), cbind(t(across), crossprod(beside)))
  }
  loadings <- check_solved(.Call(C_x_leading, gram, count, 1e-10), "pca")$vectors
  if (rows) {
    loadings <- rbind(x_cross(z, loadings), crossprod(beside, loadings))
    loadings <- loadings / rep(sqrt(colSums(loadings^2)), each = nrow(loadings))
  }
  sqrt(rowSums(loadings^2))
}

# ---- what came out -------------------------------------------------------------------------------

# Result for one method: list(k, columns, curve, seconds, errors). Columns that must or may not be
# in are where constraints put them, before or behind all decoys: they are no evidence, and neither
# are their decoys. Those that must be in count in k.
decoys_result <- function(runs, method, first, level, conservative, held = NULL) {
  failed <- vapply(runs, function(run) !is.null(run$error), NA)
  errors <- vapply(runs[failed], `[[`, "", "error")
  if (all(failed)) {
    refuse("method", "ufs_", method, "() failed on x with decoys, first with: ", errors[1L])
  }
  q <- length(first)
  rankings <- lapply(runs[!failed], function(run) {
    run$ranking[!((run$ranking - 1L) %% q + 1L) %in% placed_columns(held)]
  })
  given <- length(held$include)
  counts <- lapply(rankings, if (conservative) winners_of_pairs else decoys_before, first)
  each <- lapply(counts, function(count) noise_curve(list(count), level))
  all <- noise_curve(counts, level)
  within <- tabulate(unlist(Map(function(count, one) {
    real <- count$real[seq_len(one$k)]
    if (conservative) which(first %in% real) else real
  }, counts, each)), q)
  table <- for_each(each, q, function(one) one$share)
  later <- function(share) c(rep(NA_real_, given), share)[seq_len(q)]
  curve <- data.frame(method = method, k = seq_len(q), share = later(all$share),
    low = later(apply(table, 1L, min)), high = later(apply(table, 1L, max)))
  # The order of the columns: their mean place.
  place <- rowMeans(for_each(rankings, q, function(one) match(seq_len(q), one[one <= q])))
  chosen <- which(within > length(rankings) / 2)
  # The control is of the list of a repeat, not of a mean of shares.
  if (conservative) all$k <- sum(first[chosen] == chosen) else if (all$k == 0L) chosen <- integer()
  better <- all$k > 0L
  list_of(k = if (better) given + all$k else 0L,
    columns = c(if (better) held$include, chosen[order(place[chosen])]), curve,
    seconds = sum(vapply(runs[!failed], `[[`, 0, "seconds")), errors)
}

# `size` numbers of each value, side by side.
for_each <- function(values, size, fun) {
  matrix(vapply(values, function(value) as.double(fun(value)), numeric(size)), size)
}

# For each k, at the k-th real column of a ranking: how many decoys are before it (scaled: per
# distinct column), and how many distinct real ones there are up to it.
decoys_before <- function(ranking, first) {
  q <- length(first)
  is_real <- ranking <= q
  real <- ranking[is_real]
  list(real = real, before = cumsum(!is_real)[is_real], distinct = cumsum(!duplicated(first[real])),
    decoys = sum(!is_real), plus = 0, size = q)
}

# A column and its decoy: only the one that ranks higher stays in the ranking.
winners_of_pairs <- function(ranking, first) {
  q <- length(first)
  of <- ifelse(ranking > q, ranking - q, ranking)
  ranking <- ranking[first[of] == of & !duplicated(of)]
  out <- decoys_before(ranking, first)
  out[c("decoys", "plus")] <- list(length(ranking), 1)
  out
}

# Mean over rankings: list(share at each k, k). Beyond the real columns that won there is no share
# but 1.
noise_curve <- function(counts, level) {
  size <- counts[[1L]]$size
  share <- rowMeans(for_each(counts, size, function(count) {
    weight <- if (count$plus) 1 else max(count$distinct) / max(count$decoys, 1)
    value <- (weight * count$before + count$plus) / count$distinct
    c(value, rep(1, size - length(value)))
  }))
  fine <- share <= level
  if (!counts[[1L]]$plus) {
    all <- function(x) c(x, rep(x[length(x)], size - length(x)))
    before <- rowSums(for_each(counts, size, function(count) all(count$before)))
    distinct <- round(rowMeans(for_each(counts, size, function(count) all(count$distinct))))
    decoys <- sum(vapply(counts, `[[`, 0, "decoys"))
    # On pure noise: the probability of no more decoys before so many real columns.
    fine <- fine & stats::phyper(distinct - 1, max(counts[[1L]]$distinct), decoys,
      distinct + before, lower.tail = FALSE) <= level
  }
  list(share = share, k = if (any(fine)) max(which(fine)) else 0L)
}

#' @export
print_lines.ufs_decoys <- function(x) {
  cat_line("<ufs_decoys> ", size_words(x$n, x$p), if (!is.null(x$levels)) {
    paste0(" (", x$levels, " levels of replicates)")
  }, ", ", count_words(x$n_decoys, "decoy"), " (permuted columns), ",
    count_words(x$repeats, "repeat"))
  for (name in x$methods[order(-x$k)]) {
    cat_line("  ", decoys_words(x, name))
    if (!is.null(x$asked) && x$asked > x$included) {
      at <- x$curve[x$curve$method == name, ][x$asked, ]
      said <- percent(c(at$share, at$low, at$high))
      cat_line("    decoys before the best ", x$asked, ": ", said[1L], " of their number (repeats ",
        said[2L], " to ", said[3L], ")")
    }
    if (length(x$columns[[name]])) cat_line("    best: ", best_line(x$columns[[name]], NULL, 5L))
    print_failed(x$errors[[name]], "    ", "repeat")
  }
  if (any(x$k > 0L)) {
    cat_line("  of these, at most ", percent(x$share), " are noise",
      if (!x$conservative) " (estimated)")
  }
  print_checkpoint(x$checkpoint)
}

decoys_words <- function(x, name) {
  k <- x$k[[name]]
  paste0(if (k == 0L) "no column is" else if (k == x$usable - sum(x$excluded)) {
    paste0("all ", k, " columns", if (sum(x$excluded)) " that may be chosen" else
      if (x$usable < x$p) paste(" that", if (is.null(x$levels)) "are not constant" else "repeat"),
      " are")
  } else {
    paste0(k, " of ", x$p, if (k == 1L) " columns is" else " columns are")
  }, " better than noise by ufs_", sub(" .*", "", name), "()",
    if (k > 0L && isTRUE(x$included > 0L)) paste0(" (", x$included, " in by constraint)"))
}

#' @export
as.data.frame.ufs_decoys <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_dots_empty(...)
  size <- if (is.null(x$asked)) x$k else rep(x$asked, length(x$methods))
  at <- function(what) mapply(function(name, k) {
    if (k == 0L) NA_real_ else x$curve[[what]][x$curve$method == name][k]
  }, x$methods, size)
  data.frame(method = x$methods, k = x$k, of = x$p, columns = lengths(x$columns), at = size,
    share = at("share"), noise = x$noise, low = at("low"), high = at("high"),
    n_decoys = x$n_decoys, repeats = x$repeats, errors = lengths(x$errors), seconds = x$seconds,
    row.names = NULL)
}

#' @export
picture.ufs_decoys <- function(object, to = NULL, ...) {
  if (is.null(to)) to <- min(object$usable, max(4 * max(object$k, object$asked), 50))
  to <- check_count(to, "to", 1L, object$usable, "the features that are not constant")
  table <- object$curve[!is.na(object$curve$share), ]
  # A few hundred places are as many as a screen shows.
  table <- table[table$k %in% evenly(to, 400), ]
  several <- length(object$methods) > 1L
  new_picture("curves", table = data.frame(x = table$k, y = table$share,
    series = sprintf("%s: %d", table$method, object$k[table$method])), points = to <= 30,
    x_labels = if (to <= 12) seq_len(to),
    lines = list(h = object$share, v = if (!several && object$k > 0L) object$k[[1L]]),
    xlab = "features chosen (k)", ylab = "share no better than noise",
    title = "ufs_decoys: how much of a selection is noise",
    subtitle = if (several) {
      sprintf("legend: columns better than noise, of %d (at most %s of them are noise)", object$p,
        percent(object$share))
    } else decoys_words(object, object$methods))
}
