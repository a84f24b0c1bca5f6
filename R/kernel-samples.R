# Nearest neighbours of samples, for whoever compares neighbourhoods before and after a selection.

knn_size <- function(z) min(5L, nrow(z) - 1L)

# Indices of the k nearest other rows, k x n: one column per sample.
nearest <- function(z, k) .Call(C_graph_knn, z, as.integer(k))$index

# Squared distances of the rows of x to those of `to`, up to rounding.
square_distances <- function(x, to) {
  both <- outer(rowSums(x^2), rowSums(to^2), "+")
  d2 <- both - 2 * tcrossprod(x, to)
  # Differences of squares hold no more than their rounding.
  lost <- which(d2 < 1e-6 * both, arr.ind = TRUE)
  for (i in in_pieces(nrow(lost), 5000L)) {
    at <- lost[i, , drop = FALSE]
    d2[at] <- rowSums((x[at[, 1L], , drop = FALSE] - to[at[, 2L], , drop = FALSE])^2)
  }
  d2
}

# The place of the smallest entry of each row.
least_of_rows <- function(d2) cbind(seq_len(nrow(d2)), max.col(-d2, ties.method = "first"))

# A function of columns of z (a matrix or operator): the share of the nearest neighbours of each row
# by all columns, or those of `all`, that these keep; of `rows` among each other (NULL: all).
neighbours_kept <- function(z, all = NULL, rows = NULL) {
  size <- knn_size(z)
  found <- function(points) {
    nearest(if (is.null(rows)) points else points[rows, , drop = FALSE], size)
  }
  near <- found(if (is.null(all)) sample_points(z) else x_columns(z, all))
  function(columns) {
    if (!length(columns)) return(0)
    neighbour_overlap(near, found(x_columns(z, columns)))
  }
}

# The same of each of `sets` of columns, which grow: the products of rows grow with them. n^2 p
# flops, and n^2 numbers.
neighbours_along <- function(z, sets) {
  near <- function(gram) .Call(C_graph_products, gram, knn_size(z))$index
  whole <- near(x_gram(z, rows = TRUE))
  gram <- 0
  done <- integer()
  vapply(sets, function(columns) {
    gram <<- gram + tcrossprod(x_columns(z, setdiff(columns, done)))
    done <<- columns
    neighbour_overlap(whole, near(gram))
  }, 0)
}

# Mean share of common neighbours.
neighbour_overlap <- function(a, b) {
  sample <- as.double(ncol(a)) * (col(a) - 1)
  mean((a + sample) %in% (b + sample))
}

# Singular values of x and the singular vectors of its smaller side; see src/ffi_alfs.c.
alfs_basis <- function(x, method = "alfs") check_solved(.Call(C_alfs_basis, x), method)

# C_alfs with the settings that are the same for most: see src/ffi_alfs.c.
alfs_call <- function(x, basis, penalties, control, settings = list()) {
  all <- list(paper = FALSE, rho0 = 1e-6, tau = 1.1, rho_max = 1e10, identity = FALSE, p = ncol(x),
    keep = seq_len(ncol(x)), dimnames = NULL)
  all[names(settings)] <- settings
  .Call(C_alfs, x, basis, penalties, all, control)
}

# Samples already labelled, as sorted indices: those that the data say, and those of the argument
# (indices, row names or a logical vector).
check_labelled <- function(labelled, data) {
  labelled <- made_of_names(labelled, data$samples, "labelled")
  if (is.atomic(labelled) && !is.logical(labelled)) labelled <- unique(labelled)
  given <- read_places(labelled, "labelled", list(size = data$n, names = data$samples))
  labelled <- sort(unique(c(given, data$row_held$labelled, data$constraints$samples$labelled)))
  if (length(labelled) >= data$n) refuse("labelled", "`labelled` leaves no sample to choose.")
  labelled
}

# The rest of x that labelled rows leave for others to complement: rows with the inner products
# K - K_L (K_LL + mu I)^-1 K_L', those of x less what a ridge regression on the labelled rows
# rebuilds, as after so many picks of ufs_ted() with its default penalty. mu_rel = 0: what least
# squares on them leaves. Cost: 4 n p l for l rows.
beside_labelled <- function(x, labelled, mu_rel = 0.01) {
  if (!length(labelled)) return(x)
  mu <- mu_rel * mean_square(x)
  own <- svd(x[labelled, , drop = FALSE], nu = 0L)
  some <- own$d > 1e-10 * own$d[1L]
  v <- own$v[, some, drop = FALSE]
  rest <- x - (x %*% v) %*% ((1 - sqrt(mu / (own$d[some]^2 + mu))) * t(v))
  # Rounding has no direction where nothing is left.
  rest[row_norms(rest) <= 1e-10 * row_norms(x), ] <- 0
  rest
}

# Without a penalty on labelled samples each sample is rebuilt from them by least squares, and the
# others rebuild the rest: list(x, by_ranking: "labelled" where nothing is left of it).
without_penalty <- function(x, labelled, method, say) {
  rest <- beside_labelled(x, labelled, 0)
  if (sum(rest^2) > 1e-12 * sum(x^2)) return(list(x = rest, by_ranking = NULL))
  if (say) {
    ufs_inform("labelled", "ufs_", method, "(): the labelled samples rebuild all others, so they ",
      "are left out only.")
  }
  list(x = x, by_ranking = "labelled")
}

# Constraints on the rows (R/data-constraints.R) for a solver: list(labelled, rows = those
# that may be chosen, free = how many, limit = what these are called, allowed = a flag for each row,
# NULL: all, cost and budget, NULL without a budget).
open_rows <- function(labelled, data) {
  held <- if (inherits(data, "ufs_data")) data$row_held else data$constraints$samples
  labelled <- check_labelled(labelled, data)
  open <- setdiff(if (is.null(held$candidates)) seq_len(data$n) else held$candidates, labelled)
  if (!length(open)) {
    refuse("candidates", "`candidates` leaves no sample to choose: all of them are labelled.")
  }
  check_row_quotas(held, labelled)
  cost <- priced(held)
  if (!is.null(cost) && min(cost[open]) > held$budget) {
    refuse("sample_budget", "`sample_budget` is ", format(held$budget), ", less than the ",
      format(min(cost[open])), " that the cheapest sample costs.")
  }
  what <- if (is.null(held$candidates)) "samples" else "candidates"
  list(labelled = labelled, rows = sort(open), free = length(open),
    cost = if (!is.null(cost)) as.double(cost),
    budget = held$budget,
    limit = paste0("the ", what, if (length(labelled)) " without a label"),
    allowed = if (!is.null(held$candidates)) seq_len(data$n) %in% open)
}

# x, divided by a power of two if its squares could leave the range of doubles.
in_range <- function(x, limit = 1e100) {
  top <- largest(x)
  divisor <- if (top > limit || top < 1 / limit) power_of_two(top) else 1
  list(x = if (divisor == 1) x else x / divisor, divisor = divisor)
}

# representatives() of the sample selectors that cover.
representative_table <- function(fit, who, chosen, what) {
  name <- function(index) if (named_samples(fit)) fit$names$samples[index] else index
  if (what == "samples") {
    return(data.frame(sample = name(seq_len(fit$n)), representative = name(who)))
  }
  all <- c(unname(chosen), fit$params$labelled)
  weight <- tabulate(match(who, all), length(all))
  data.frame(sample = name(all), index = all, weight = weight, share = weight / fit$n,
    labelled = rep(c(FALSE, TRUE), c(length(chosen), length(fit$params$labelled))))
}

# An n x n matrix of similarities that the user gives; `or`: what else the argument may be.
check_similarity <- function(s, n, or) {
  if (length(dim(s)) != 2L || is.data.frame(s)) {
    refuse_similarity("must be ", or, " or an n x n matrix, not ", kind_of(s))
  }
  if (any(dim(s) != n)) refuse_similarity("must be n x n, ", n, " x ", n, "; it is ", nrow(s),
    " x ", ncol(s))
  if (inherits(s, "Matrix")) check_installed("Matrix", "for similarities of class Matrix")
  if (!(inherits(s, "Matrix") || is.numeric(s) || is.logical(s)) || !is.finite(sum(s))) {
    refuse_similarity("must be numeric, without missing or infinite values")
  }
}

refuse_similarity <- function(...) refuse("similarity", "`similarity` ", ..., ".")

# Rows of length one; rows of zeros stay.
unit_rows <- function(x) {
  size <- row_norms(x)
  x / ifelse(size > 0, size, 1)
}

mm_defaults <- function(args) {
  eps <- args$control$eps
  if (!is.null(eps) && !(is.numeric(eps) && length(eps) == 1L && isTRUE(eps > 0))) {
    ufs_abort("control", "`eps` must be one positive number here.", argument = "eps")
  }
  list(max_iter = 300L, tol = 1e-3, eps = 1e-8)
}

# The penalty for x / mean(row_norms(x)), as a number or as a share of the bound that C computes.
mm_penalty <- function(gamma, gamma_rel, divisor) {
  given <- check_penalty(gamma, gamma_rel, 1, "gamma")$value
  list(gamma = if (is.null(gamma)) given else given / divisor, relative = is.null(gamma))
}

# The samples as columns of min(n, p) coordinates with the same inner products, divided by
# `divisor`: x transposed, or its triangular factor if there are more features than samples.
sample_coordinates <- function(x, divisor = 1) {
  if (ncol(x) <= nrow(x)) return(t(x) / divisor)
  qr <- qr(t(x), LAPACK = TRUE)
  qr.R(qr)[, order(qr$pivot), drop = FALSE] / divisor
}

# Fields for run_fit() from the result of C: `divisor` times its objective is that of x.
mm_fit_fields <- function(data, params, found, divisor, solution = list()) {
  trace <- found$run$trace
  sums <- c("objective", "best", "bound")
  trace[, sums] <- trace[, sums] * divisor
  first <- equal_rows(data$x)
  score <- ifelse(found$row_norm > 1e-6 * max(found$row_norm), found$row_norm, 0)[first]
  shown <- utils::head(order(-score), min(params$m, 10L[is.null(params$m)], length(score) - 1L))
  params$copies <- near_copies(data$x, shown)
  used <- found$run$counters[c("gamma", "gamma_max")]
  if (is.null(params$gamma)) params$gamma <- used[[1]] * divisor
  params$gamma_rel <- used[[1]] / used[[2]]
  solution <- c(list(row_norm = found$row_norm, activity = found$activity), solution)
  list_of(params, run = found$run, trace,
    sample_scores = without_labelled(score, params$labelled),
    sample_key = replace(ifelse(score > 0, 0, found$activity[first]), params$labelled, 0),
    solution = lapply(solution, stats::setNames, data$samples),
    certificate = c(found$run$counters["gap"], dual = found$run$counters[["dual"]] * divisor),
    finish = function(fit) warn_zero(fit, "gamma"))
}

warn_zero <- function(fit, penalty) {
  if (all(fit$sample_scores == 0, na.rm = TRUE) && fit$status == "converged" && fit$control$warn) {
    ufs_warn("zero", "All scores of ufs_", fit$method, "() are zero at this penalty; the ranking ",
      "follows the dual activity only. Use a smaller `", penalty, "_rel`.")
  }
  fit
}

# Greedy TED on the rows of x: m picks with ridge mu, after those labelled. list(order = picks,
# score = decrease of the objective by each pick, left = decrease that every other row would bring
# next, start = objective before the first pick, trace, run). No random numbers; ties within
# rounding go to the lowest index (src/ted.c). `open` is as open_rows() makes it: rows that
# may not be picked still count in the objective, and with costs the better of the picks by decrease
# and by decrease over cost is taken.
ted_greedy <- function(x, m, mu, form = "a", open = list(), control = ufs_control(),
                       divisor = NULL) {
  # Fourth powers of x occur inside: dividing by a power of two keeps them in range. An operator is
  # divided already, unless it has no more rows than columns.
  if (is.null(divisor)) {
    divisor <- power_of_two(largest(x))
    if (abs(log2(divisor)) < 60) divisor <- 1 # they are: no copy of x
    if (divisor != 1) x <- x / divisor
  }
  settings <- list(m = as.integer(m), mu = as.double(mu) / divisor^2, form = form,
    given = sort(as.integer(open$labelled)), allowed = if (!is.null(open$allowed)) +open$allowed,
    cost = open$cost, budget = min(open$budget, 1e300), per_cost = FALSE)
  run <- function(per_cost) {
    settings$per_cost <- per_cost
    check_solved(.Call(C_ted_greedy, x, settings, control), "ted")
  }
  found <- run(FALSE)
  if (!is.null(open$cost)) {
    by_cost <- run(TRUE)
    if (sum(by_cost$score) > sum(found$score)) found <- by_cost
  }
  picks <- seq_len(found$run$counters[["count"]])
  found[c("order", "score")] <- list(found$order[picks], found$score[picks])
  found$start <- found$run$counters[["start"]]
  found$p_form <- found$run$counters[["p_form"]] == 1
  for (name in c("score", "left", "start")) found[[name]] <- found[[name]] * divisor^2
  found$trace <- found$run$trace * divisor^2
  found$trace[, "objective"] <- pmax(found$trace[, "objective"], 0)
  found
}

# Short rows whose inner products are a kernel of the rows of x, exp(-d^2 / width), or the given
# n x n matrix: list(root, rank, trace, left = share of the trace not in them, least = what is left
# on the diagonal at least). They have as many columns as about 4e9 multiplications allow, and
# enough for m picks.
kernel_root <- function(x, width, m, matrix = NULL, tol = 1e-4) {
  n <- if (is.null(matrix)) nrow(x) else nrow(matrix)
  most <- if (is.null(matrix)) min(n, max(floor(sqrt(4e9 / n)), m + 100L)) else n
  check_bytes(8 * as.double(n) * most, "The kernel of ufs_ted()", "Choose fewer samples.")
  kernel <- list(x = x, width = width, matrix = matrix, tol = tol, most = as.integer(most))
  found <- .Call(C_ted_root, kernel)
  names(found$values) <- c("rank", "trace", "left", "least")
  list(root = found$root[, seq_len(found$values[["rank"]]), drop = FALSE],
    rank = as.integer(found$values[["rank"]]), trace = found$values[["trace"]],
    left = found$values[["left"]] / found$values[["trace"]], least = found$values[["least"]])
}

# Median squared distance between rows, of at most 2000 evenly spaced ones.
median_square <- function(x, most = 2000L) {
  if (nrow(x) > most) x <- x[round(seq(1, nrow(x), length.out = most)), , drop = FALSE]
  product <- tcrossprod(x)
  square <- diag(product)
  d2 <- (outer(square, square, "+") - 2 * product)[lower.tri(product)]
  middle <- stats::median(d2)
  if (middle <= 1e-6 * max(square)) {
    # Differences of squares hold no more than their rounding.
    if (nrow(x) > 300L) x <- x[round(seq(1, nrow(x), length.out = 300L)), , drop = FALSE]
    d2 <- as.vector(stats::dist(x))^2
    middle <- stats::median(d2)
  }
  if (middle > 1e-28 * max(square)) middle else mean(d2)
}

# Rows of z far from all others: the squared distance to the third nearest of the rows (of at most
# 1000 evenly spaced ones) is large beside those of the other rows, and beside the
# median one between any two. At most one row in ten, or there is no bulk to be far from.
far_rows <- function(z, most = 1000L, factor = 2) {
  n <- nrow(z)
  if (n < 10L) return(integer())
  to <- evenly(n, most)
  near <- numeric(n)
  for (rows in in_pieces(n, 500L)) {
    d2 <- square_distances(z[rows, , drop = FALSE], z[to, , drop = FALSE])
    own <- match(rows, to)
    d2[cbind(seq_along(rows), own)[!is.na(own), , drop = FALSE]] <- Inf
    for (nearer in 1:2) d2[least_of_rows(d2)] <- Inf
    near[rows] <- pmax(d2[least_of_rows(d2)], 0)
  }
  size <- log(pmax(near, 1e-12 * max(near, .Machine$double.xmin)))
  far <- which(size > stats::median(size) + 3.5 * stats::mad(size))
  if (length(far)) far <- far[near[far] > factor * median_square(z, most)]
  if (length(far) > n / 10) integer() else far
}

tell_far_rows <- function(far, names, more) {
  if (!length(far)) return(invisible())
  bare <- if (is.null(names)) rep(TRUE, length(far)) else is.na(names[far]) | !nzchar(names[far])
  who <- best_line(ifelse(bare, paste("row", far), names[far]), NULL, 5L)
  message(new_condition("message", "outliers", count_words(length(far), "row"), " of `x` ",
    if (length(far) == 1L) "is" else "are", " far from all others (", who, ").", more, "\n",
    fields = list(rows = far)))
}

# How many of the picks are copies, or nearly, of an earlier one: closer to it than a hundredth of
# the median squared distance between two rows.
near_copies <- function(z, picks) {
  if (length(picks) < 2L) return(0L)
  chosen <- x_rows_of(z, picks)
  d2 <- pmax(square_distances(chosen, chosen), 0)
  some <- evenly(nrow(z), 500L)
  rows <- if (is.matrix(z) && length(some) == nrow(z)) z else x_rows(z, some)
  # The median is at most twice the mean, which takes no pairs.
  mean_square <- 2 * (sum(rows^2) / nrow(rows) - sum(colMeans(rows)^2)) * nrow(rows) /
    (nrow(rows) - 1)
  if (min(d2[lower.tri(d2)]) > 2.001 * mean_square / 100) return(0L)
  limit <- median_square(rows)
  sum(vapply(seq_along(picks)[-1L], function(i) any(d2[i, seq_len(i - 1L)] <= limit / 100), NA))
}

# Rows in any order; x_rows() reads them ascending.
x_rows_of <- function(z, rows) {
  sorted <- sort(rows)
  x_rows(z, sorted)[match(rows, sorted), , drop = FALSE]
}

# The share of the variance of a smooth function of n rows (a Gaussian process with the kernel
# exp(-d^2 / width) and noise `mu`) that is left when it is known at the chosen rows, from the
# kernel of these and the cross product of that of the n rows with them.
left_of_kernel <- function(own, squares, n, mu = 0.01) {
  1 - sum(chol2inv(chol(own + diag(mu, nrow(own)))) * squares) / n
}

# The leading principal component scores of data (see as_ufs_matrix()) that hold `share` of the
# variance, 2 to `most` of them. Distances between smooth curves are those of these few numbers.
smooth_scores <- function(data, share = .99, most = 20L) {
  pca <- x_pca(data$x, min(most, dim(data$x)), loadings = FALSE)
  held <- cumsum(colSums(pca$scores^2)) / sum(x_ss(data$x))
  q <- max(min(2L, ncol(pca$scores)), min(which(held >= share), ncol(pca$scores)))
  pca$scores[, seq_len(q), drop = FALSE]
}

# How many scores smooth_scores() takes.
curve_components <- function(x) {
  data <- as_rescaled_operator(open_quietly(x), TRUE, FALSE)
  on.exit(close_source(data$x))
  ncol(smooth_scores(data))
}

# Refuses x whose squares, or sums of them, would overflow or underflow.
check_squares <- function(x, top = largest(x)) {
  if (!is.finite(top) || top > 1e145 || top < 1e-145) {
    refuse_range("The squares of the values of `x`")
  }
}

# Mean squared norm of the rows, without a copy of x.
mean_square <- function(x) {
  if (is_operator(x)) sum(x_ss(x)) / nrow(x) else
    sum(vapply(seq_len(ncol(x)), function(j) sum(x[, j]^2), 0)) / nrow(x)
}
