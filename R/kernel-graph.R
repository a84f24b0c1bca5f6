#' Neighbour graph of the samples
#'
#' Joins each sample with its `n_neighbours` nearest others (by Euclidean distance) and gives the
#' edges weights. The methods that need a graph build this one by default; build it yourself to look
#' at it, to change it, or to use it for several methods.
#'
#' With `d_ij` the distance of samples i and j, the weights of edges are
#' * `"heat"`: `exp(-d_ij^2 / (2 t^2))`, with `t = bandwidth`. The default `t` is the mean of all
#'   n^2 distances, which follows the scale of the data; with a fixed one such as 1 all weights
#'   underflow from a few hundred columns on. (He et al. write `exp(-d^2 / t)`: their t is `2 t^2`.)
#' * `"binary"`: 1.
#' * `"cosine"`: `x_i'x_j / (|x_i| |x_j|)`, negative values set to 0. The neighbours are still those
#'   of the Euclidean distance; divide the rows by their norms to have the nearest in angle.
#'
#' A sample is never its own neighbour, even where samples coincide, and there are no self
#' loops. Distances that agree to a relative 1e-10 are ties, and ties go to the lower index.
#'
#' It takes n^2 p flops, in blocks of matrix products, and memory for 2 n p doubles beside `x` and
#' at most 2 n `n_neighbours` edges: the n x n distances are never stored. Use `n_neighbours = n -
#' 1` for the complete graph.
#'
#' Of data on disk beyond four blocks (see [ufs_data()]), and of sparse data with more than 20,000
#' samples, the neighbours are those on the leading 50 principal component scores, which a message
#' of class `ufs_message_scores` says; they may be quite others than those on `x` itself.
#' `exact = TRUE` searches `x`: a file is then read into memory, as far as
#' `getOption("ufselect.max_bytes")` allows.
#'
#' With more than 20,000 samples of any kind (`getOption("ufselect.exact_neighbours")`) the search
#' is approximate: random projection trees, and then neighbours of neighbours until few are found.
#' Which share of the true neighbours it found is measured on 200 samples; a message of class
#' `ufs_message_neighbours` and the print say it, and the graph has it as `recall`. Few independent
#' columns make it high. `exact = TRUE` compares all samples.
#'
#' @section The argument `graph` of the methods:
#' `NULL` builds the default graph on the columns as the method sees them (after its own `center`
#' and `scale`); `list(n_neighbours = 10, weights = "binary")` builds it with those arguments of
#' `ufs_graph()`; a graph from `ufs_graph()` is used as it is; and an n x n weight matrix (or
#' Matrix) of your own must be symmetric, finite and not negative. Its diagonal is dropped, with a
#' message of class `ufs_message_loops`.
#'
#' @param x For `ufs_graph()` the data, a numeric matrix, data frame or Matrix with n samples (rows)
#'   and p features (columns), as for every method. For `plot()` a graph.
#' @param n_neighbours The number of neighbours, from 1 to n - 1.
#' @param weights The kind of weights: `"heat"`, `"binary"` or `"cosine"`.
#' @param bandwidth The bandwidth t of heat weights, a positive number. `NULL`: the mean distance.
#' @param symmetrise When two samples are joined: `"max"` joins them if either is a neighbour of the
#'   other, `"min"` only if both are. `"mean"` takes the mean of the two weights, so a one-sided
#'   edge counts half.
#' @param center,scale Should the columns be centred and standardised first? Neighbours depend on
#'   units, so use `scale = TRUE` if these differ. Centring matters to cosine weights only.
#' @param ... Further arguments of [ufs_data()]; for `as.matrix()` and `plot()` see there.
#' @param exact Should all samples be compared, on `x` itself, however large it is? See
#'   the details.
#' @return An object of class `ufs_graph`, a list with
#'   * `weights`: the sparse matrix W, as `start`, `index` (from 0) and `value`; these are the
#'     slots p, i and x of a `dgCMatrix`. `as.matrix()` makes it n x n, and
#'     `as.matrix(graph, sparse = TRUE)` a `dgCMatrix` (package Matrix).
#'   * `n`, `n_edges`, `n_neighbours`, `kind` (of weights), `bandwidth`, `symmetrise`.
#'   * `degree` (row sums of W), `component` (of each sample, numbered by first
#'     appearance), `n_components`, `n_isolated` (samples without an edge, which are
#'     components of their own), `samples` (their names).
#'
#'   A graph without edges or in several pieces gives a warning of class `ufs_warning_graph`.
#' @references He, Cai and Niyogi (2005) Laplacian score for feature selection. Advances in
#'   Neural Information Processing Systems 18.
#'
#'   Dasgupta and Freund (2008) Random projection trees and low dimensional manifolds. STOC.
#'   \doi{10.1145/1374376.1374452}
#'
#'   Dong, Moses and Li (2011) Efficient k-nearest neighbor graph construction for generic
#'   similarity measures. WWW. \doi{10.1145/1963405.1963487}
#' @examples
#' graph <- ufs_graph(mtcars, n_neighbours = 5, scale = TRUE)
#' graph
#' as.matrix(graph)[1:4, 1:4]
#' plot(graph)
#' ufs_laplacian(mtcars, graph)
#' @export
ufs_graph <- function(x, n_neighbours = 5, weights = c("heat", "binary", "cosine"), ...,
                      bandwidth = NULL, symmetrise = c("max", "min", "mean"), center = FALSE,
                      scale = FALSE, exact = FALSE) {
  check_given(x)
  watch_over("ufs_graph()")
  x <- open_with(x, ufs_graph, "graph", list(...))
  data <- as_ufs_operator(check_door(x, "ufs_graph()"), center, scale, as_is = TRUE)
  graph <- build_graph(data, n_neighbours, weights, bandwidth, symmetrise, exact)
  warn_graph(graph, connected = TRUE)
  graph
}

# The graph a method uses, from its argument `graph` (see ?ufs_graph) and the list from
# as_ufs_matrix(). `connected = TRUE`: say if there are several components (an arbitrary answer).
as_ufs_graph <- function(graph, data, connected = FALSE) {
  if (is.null(graph)) graph <- list()
  if (inherits(graph, "ufs_graph")) {
    check_graph(graph)
    check_graph_size(graph$n, data$n)
  } else if (is.matrix(graph) || inherits(graph, "Matrix")) {
    # A weight matrix of the user's as a graph.
    check_graph_size(nrow(graph), data$n)
    parts <- edges_of(graph, "graph")
    if (parts$loops) {
      ufs_inform("loops", "The diagonal of `graph` is not used: ",
        count_words(parts$loops, "self loop"), " dropped.")
    }
    graph <- new_graph(parts, data, kind = "user")
  } else if (is.list(graph) && !is.object(graph)) {
    known <- setdiff(names(formals(ufs_graph)), c("x", "..."))
    given <- names(graph)
    if (length(graph) && (is.null(given) || !all(given %in% known) || anyDuplicated(given))) {
      refuse("graph", "A list given as `graph` must have names among ",
        paste0("`", known, "`", collapse = ", "), ", each once.")
    }
    used <- utils::modifyList(as.list(formals(ufs_graph))[known], graph, keep.null = TRUE)
    used[c("weights", "symmetrise")] <- lapply(used[c("weights", "symmetrise")], eval)
    center <- check_flag(used$center, "center")
    scale <- check_flag(used$scale, "scale")
    if (center || scale) {
      data$x <- centred_again(data$x, center, scale,
        if (length(data$roots)) data$roots$scaled else 1)
    }
    graph <- build_graph(data, used$n_neighbours, used$weights, used$bandwidth, used$symmetrise,
      used$exact)
  } else {
    refuse("graph", "`graph` must be NULL, a list of arguments of ufs_graph(), a graph from ",
      "ufs_graph(), or an n x n weight matrix, not ", kind_of(graph), ".")
  }
  if (graph$n_isolated == graph$n) {
    ufs_abort("graph", "The graph has no edges: all weights are 0. Use a larger `bandwidth`, ",
      "or weights = \"binary\".", argument = "graph")
  }
  warn_graph(graph, connected)
  graph
}

build_graph <- function(data, n_neighbours, weights, bandwidth, symmetrise, exact) {
  kinds <- c("heat", "binary", "cosine")
  rules <- c("max", "min", "mean")
  k <- check_count(n_neighbours, "n_neighbours", 1L, data$n - 1L,
    paste("one fewer than the", data$n, "samples"))
  weights <- check_choice(weights, "weights", kinds)
  symmetrise <- check_choice(symmetrise, "symmetrise", rules)
  exact <- check_flag(exact, "exact")
  if (!is.null(bandwidth)) bandwidth <- check_number(bandwidth, "bandwidth", lower = 0, open = TRUE)
  entries <- 2 * data$n * as.double(k)
  # Candidate heaps, neighbour lists, their two sorted copies, and the result.
  rows <- graph_rows(data$x, exact)
  sparse <- is_operator(rows$x) && rows$x$kind == "sparse"
  values <- as.double(data$n) * ncol(rows$x)
  check_bytes(40 * entries + if (sparse) 20 * length(rows$x$value) else 24 * values, "The graph",
    "Use a smaller `n_neighbours`.")
  if (entries > .Machine$integer.max) {
    refuse("n_neighbours", "`n_neighbours` is too large: a graph can have at most ",
      .Machine$integer.max, " entries.")
  }
  watch_says(function(step) paste0("looking for neighbours, ", step, " % done"))
  lists <- if (rows$approximate) approximate_neighbours(rows$x, k) else
    .Call(C_graph_knn, rows$x, k)
  watch_says(function(step) "neighbours are found")
  if (is.null(bandwidth)) bandwidth <- lists$mean_distance
  if (weights != "heat") bandwidth <- NA_real_
  made <- .Call(C_graph_lists, rows$x, lists$index, lists$d2, match(weights, kinds) - 1L,
    bandwidth, match(symmetrise, rules) - 1L)
  if (!made$finite) refuse_range("Distances between the rows of `x`")
  graph <- new_graph(made, data, kind = weights, n_neighbours = k, bandwidth = bandwidth,
    symmetrise = symmetrise)
  graph$note <- rows$note
  if (rows$approximate) {
    graph$recall <- lists$recall
    share <- paste0("approximate (", percent(lists$recall), " of the true neighbours)")
    graph$note <- paste(c(share, rows$note), collapse = ", ")
    ufs_inform("neighbours", "`x` has many samples: their neighbours were found by an approximate ",
      "search, ", percent(lists$recall), " of the true ones as measured on ", min(200L, graph$n),
      " samples. ufs_graph(exact = TRUE), or graph = list(exact = TRUE) of a method, finds all.")
  }
  graph
}

# The graph that ufs_graph() makes by itself, of rows of which the inner products are known.
graph_of_products <- function(gram) {
  lists <- .Call(C_graph_products, gram, 5L)
  made <- .Call(C_graph_lists, NULL, lists$index, lists$d2, 0L, lists$mean_distance, 0L)
  if (!made$finite) refuse_range("Distances between the rows of `x`")
  new_graph(made, list(n = nrow(gram)), kind = "heat")
}

# Points among which neighbours are searched. A sparse x as it is, exactly, up to 20,000 samples;
# beyond them, and for data on disk that do not fit into a few blocks, the leading principal
# component scores; of any kind exactly up to 20,000 samples, above by an approximate search. With
# `exact` always x itself, exactly.
graph_rows <- function(x, exact = FALSE, most = getOption("ufselect.exact_neighbours", 20000L),
                       n_scores = 50L) {
  out <- list(x = x, approximate = FALSE, note = NULL)
  out$approximate <- !exact && nrow(x) > most
  if (is.matrix(x) || x$kind == "scaled") return(out)
  if (x$kind == "source" && (exact || 8 * as.double(x$n) * x$p <= 4 * x$bytes)) {
    out$x <- x_dense(x)
    return(out)
  }
  if (exact || (x$kind == "sparse" && x$n <= most)) return(replace(out, "approximate", FALSE))
  scores <- x_pca(x, min(n_scores, dim(x)), "graph", loadings = FALSE, tol = coordinate_tol)$scores
  out$x <- scores[, colSums(scores^2) > 0, drop = FALSE]
  out$note <- paste0("on the leading ", ncol(out$x), " principal component scores")
  ufs_inform("scores", "`x` is large: neighbours are those on the leading ", ncol(out$x),
    " principal component scores. ufs_graph(exact = TRUE), or graph = list(exact = TRUE) of a ",
    "method, searches `x` itself.")
  out
}

# k approximate nearest neighbours (src/graph_near.c): one thread and no random numbers, so that the
# result is reproducible.
approximate_neighbours <- function(z, k) {
  c(.Call(C_graph_near, z, as.integer(k)), mean_distance = mean_distance(z))
}

# Mean of the distances between all samples, from 1,000 evenly spaced ones.
mean_distance <- function(z) {
  distance <- stats::dist(x_rows(z, evenly(nrow(z), 1000L)))
  2 * sum(distance) / attr(distance, "Size")^2
}

# `parts`: start, index, value, degree, component, n_components, n_isolated.
new_graph <- function(parts, data, kind, n_neighbours = NA_integer_, bandwidth = NA_real_,
                      symmetrise = NA_character_) {
  weights <- structure(parts[c("start", "index", "value")], class = "ufs_csr")
  structure(list_of(weights, n = data$n, n_edges = length(parts$index) %/% 2L, kind, n_neighbours,
    bandwidth, symmetrise, degree = parts$degree, component = parts$component,
    n_components = parts$n_components, n_isolated = parts$n_isolated,
    samples = data$samples), class = c("ufs_graph", "ufs_result"))
}

# The edges of a symmetric matrix of weights, by columns, without those of its diagonal (`loops`).
edges_of <- function(w, arg) {
  if (nrow(w) != ncol(w)) {
    refuse(arg, "`", arg, "` must be square, n x n; it is ", nrow(w), " x ", ncol(w), ".")
  }
  sparse <- inherits(w, "Matrix")
  if (sparse) check_installed("Matrix", "for a graph of class Matrix")
  # sum() sees missing values in sparse matrices, which `!= 0` would lose.
  if (!(sparse || is.numeric(w) || is.logical(w)) || !is.finite(sum(w))) {
    refuse(arg, "`", arg, "` must be numeric, without missing or infinite weights.")
  }
  at <- if (sparse) places_of(w) else which(w != 0, arr.ind = TRUE, useNames = FALSE)
  value <- as.double(w[at])
  if (any(value < 0)) {
    refuse(arg, "`", arg, "` has negative weights: similarities of at least 0 are needed.")
  }
  loop <- at[, 1L] == at[, 2L]
  parts <- list(start = c(0L, cumsum(tabulate(at[!loop, 2L], nrow(w)))),
    index = as.integer(at[!loop, 1L]) - 1L, value = value[!loop])
  parts <- c(parts, .Call(C_graph_describe, parts$start, parts$index, parts$value))
  if (parts$asymmetry > 1e-8 * max(value, 0)) {
    refuse(arg, "`", arg, "` is not symmetric: weights differ from their transposes by up to ",
      signif(parts$asymmetry, 3L), ". Use (W + t(W)) / 2, say.")
  }
  c(parts, loops = sum(loop))
}

# A graph object may have been edited since ufs_graph() made it.
check_graph <- function(graph) {
  wrong <- .Call(C_graph_check, unclass(graph))
  if (is.null(wrong) && !(identical(as.integer(graph$n), length(graph$degree)) &&
      identical(as.integer(graph$n_isolated), sum(graph$degree == 0)))) {
    wrong <- "its counts do not fit its weights"
  }
  if (!is.null(wrong)) {
    refuse("graph", "`graph` is not a sound graph: ", wrong, ". Make it with ufs_graph(), or give ",
      "an n x n weight matrix.")
  }
}

check_graph_size <- function(have, n) {
  if (have != n) refuse("graph", "`graph` is for ", have, " samples, but `x` has ", n, ".")
}

# Warns of isolated samples, and of several components where `connected` is wanted.
warn_graph <- function(graph, connected) {
  pieces <- graph$n_components - graph$n_isolated
  say <- c(
    if (graph$n_isolated > 0L) {
      sprintf("%d of %d samples have no edge in the neighbour graph", graph$n_isolated, graph$n)
    },
    if (connected && pieces > 1L) paste("The neighbour graph has", pieces, "separate parts")
  )
  if (length(say)) {
    ufs_warn("graph", paste(say, collapse = ". "), ". A larger `n_neighbours` may join them (see ",
      "?ufs_graph).",
      data = list(n_components = graph$n_components, n_isolated = graph$n_isolated))
  }
}

# The parameters of a graph as a fit records them.
graph_params <- function(graph) {
  list(graph = graph$kind, n_neighbours = graph$n_neighbours, bandwidth = graph$bandwidth,
    symmetrise = graph$symmetrise)
}

# A ranking in which all scores agree says nothing.
warn_void <- function(score, method, why) {
  score <- score[!is.na(score)]
  if (length(score) > 1L && diff(range(score)) <= 1e-8 * max(abs(score))) {
    ufs_warn("void", "ufs_", method, "(): all scores are equal, so the ranking says nothing. ", why)
  }
}

# ---- eigenvectors --------------------------------------------------------------------------

# The m smallest non-trivial eigenpairs of the normalised Laplacian, on the samples that
# have edges (their number bounds m): values, vectors, degree, n_zero, next, status.
embed_graph <- function(graph, m, method, what = NULL) {
  linked <- graph$n - graph$n_isolated
  if (m > linked - 1L) {
    refuse("n_clusters", "`n_clusters` is too large: only ", linked, " samples have neighbours.")
  }
  out <- check_solved(.Call(C_graph_embed, unclass(graph), as.integer(m)), method)
  out$status <- if (out$converged) "converged" else "max_iter"
  # The last eigenvalue taken and the first one left out are the same.
  last <- out$values[length(out$values)]
  if (!is.null(what) && out$next_value - last <= 1e-9) {
    ufs_warn("cut", what, ": `n_clusters` cuts through equal eigenvalues of the graph (",
      format(signif(last, 3L)), "), so the eigenvectors are one choice among many. ",
      "Change `n_clusters`, or the graph.")
  }
  out
}

linked_rows <- function(x, graph) {
  if (graph$n_isolated == 0L) x else x_subset_rows(x, which(graph$degree > 0))
}

# Back to all samples, 0 for isolated ones.
spread_rows <- function(value, graph) {
  out <- matrix(0, graph$n, ncol(value), dimnames = list(graph$samples, NULL))
  out[graph$degree > 0, ] <- value
  out
}

# ---- as a matrix ----------------------------------------------------------------------------

#' @export
as.matrix.ufs_graph <- function(x, sparse = FALSE, ...) {
  check_graph(x)
  out <- if (sparse) {
    check_installed("Matrix", "for as.matrix(graph, sparse = TRUE)")
    Matrix::sparseMatrix(i = x$weights$index, p = x$weights$start, x = x$weights$value,
      dims = dim(x), index1 = FALSE)
  } else as.matrix(x$weights)
  if (!is.null(x$samples)) dimnames(out) <- list(x$samples, x$samples)
  out
}

#' @export
as.matrix.ufs_csr <- function(x, ...) {
  n <- length(x$start) - 1L
  check_bytes(8 * as.double(n)^2, "The graph as a dense matrix",
    "Use as.matrix(graph, sparse = TRUE).")
  out <- matrix(0, n, n)
  out[cbind(rep.int(seq_len(n), diff(x$start)), x$index + 1L)] <- x$value
  out
}

#' @export
dim.ufs_graph <- function(x) c(x$n, x$n)

#' @export
print_lines.ufs_graph <- function(x) {
  cat_line("<ufs_graph> ", graph_text(x), "\n  samples      ", x$n,
    if (x$n_isolated > 0L) paste0(" (", x$n_isolated, " isolated)"), "\n  edges        ", x$n_edges,
    "\n  components   ", x$n_components)
}

#' @export
picture.ufs_graph <- function(object, what = c("degree", "weights"), ...) {
  what <- check_choice(what, "what", c("degree", "weights"))
  check_graph(object)
  value <- if (what == "degree") object$degree else {
    # Every edge once.
    row <- rep.int(seq_along(object$degree), diff(object$weights$start))
    object$weights$value[row <= object$weights$index]
  }
  value <- sort(value, decreasing = TRUE)
  # A picture is some hundreds of dots wide.
  at <- evenly(length(value), 1000L)
  new_picture("spikes", table = data.frame(x = at, y = value[at], best = FALSE),
    xlab = if (what == "degree") "sample, by degree" else "edge, by weight",
    ylab = if (what == "degree") "degree (sum of weights)" else "weight",
    title = graph_text(object))
}

# Rows and columns of what is not zero in a Matrix, by columns: symmetric classes list triangles.
places_of <- function(s) {
  at <- Matrix::which(s != 0, arr.ind = TRUE, useNames = FALSE)
  at[order(at[, 2L], at[, 1L]), , drop = FALSE]
}
