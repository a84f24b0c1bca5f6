# A part of the samples that stands for all of them.

#' A sketch: few samples that stand for many
#'
#' Chooses `m` of the samples and returns them as a smaller data set. Use it when a method needs all
#' of the data in memory, or all pairs of samples, and there are too many of them: any method takes
#' the result as its `x`, and its print says that it saw only a sketch.
#'
#' * `"leverage"` (default) draws samples without replacement with probabilities proportional to
#'   their leverage on the leading `n_vectors` singular vectors: rare kinds of samples are kept. The
#'   number of features does not matter, nor whether there are more of them than samples.
#' * `"uniform"` draws all samples with the same probability. It is the obvious alternative, and for
#'   ranking features it was as good or better on real data (`vignette("large-and-sparse-data")`).
#' * `"facility"` picks samples so that every sample has a similar one among them, as
#'   [ufs_facility()] does. It uses no random numbers, but it looks at all pairs of samples.
#'
#' The draws use R's random numbers, so `set.seed()` makes them repeatable.
#'
#' # Tables in a database
#' Of a table of package dbplyr only the rows drawn travel. All rows have the same chance
#' (`"uniform"`), and the numeric columns are used. A table of PostgreSQL is sampled by
#' `TABLESAMPLE`, with a seed from R's random numbers; everything else is put into a random order by
#' the engine, whose random numbers `set.seed()` does not reach.
#'
#' @inheritParams ufs_kmeans_f
#' @param x Data of any kind, see [ufs_data()], or a table of package dbplyr.
#' @param m The number of samples to choose, from 3 to the number there are.
#' @param type `"leverage"`, `"uniform"` or `"facility"`; of a table in a database `"uniform"`.
#' @param n_vectors The number of leading singular vectors for `"leverage"`; at most the rank.
#' @param center,scale Should the columns be centred and standardised before the singular vectors or
#'   similarities are computed? The sketch itself has the numbers of `x`.
#' @return An object of class `ufs_sketch`, with `index` (the chosen samples, ascending; `NULL` for
#'   a table in a database, whose rows have no numbers),
#'   `weights` (how many samples each one stands for: the inverse of its probability of being
#'   drawn, for `"facility"` the number of samples nearest to it; they sum to the number of
#'   samples), `leverage` (of all samples; sums to `n_vectors`), `type`, `n`, and `data`, the chosen
#'   rows as [ufs_data()] holds them. `weights` are for the user: no method uses them.
#' @seealso [ufs_data()]
#' @examples
#' set.seed(1)
#' part <- ufs_sketch(iris[, 1:4], m = 40, n_vectors = 2)
#' part
#' ufs_rsr(part)
#' @export
ufs_sketch <- function(x, m, type = c("leverage", "uniform", "facility"), n_vectors = 50,
                       center = TRUE, scale = TRUE, ...) {
  check_given(x)
  by_default <- missing(type)
  type <- check_choice(type, "type")
  watch_over("ufs_sketch()")
  if (inherits(x, "tbl_sql")) {
    check_dots_empty(...)
    if (!by_default && type != "uniform") refuse("type", "Of a table in a database rows can only ",
      "be drawn with type = \"uniform\".")
    return(sketch_of_table(x, m))
  }
  x <- open_with(x, ufs_sketch, "sketch", list(...))
  opened <- check_door(open_data(x), "ufs_sketch()", if (type == "facility") "rows")
  open <- open_rows(NULL, opened)
  m <- check_count(m, "m", min(3L, open$free), open$free, open$limit)
  leverage <- NULL
  if (type == "leverage") {
    data <- as_ufs_operator(open_quietly(opened), center, scale)
    n_vectors <- check_count(n_vectors, "n_vectors", 1L)
    watch_components(data$x)
    pca <- x_pca(data$x, min(n_vectors, dim(data$x)), "sketch", FALSE, coordinate_tol)
    watch_says(function(step) "drawing rows")
    kept <- pca$sdev2 > pca$sdev2[[1L]] * max(dim(data$x)) * .Machine$double.eps
    u <- sweep(pca$scores[, kept, drop = FALSE], 2L, sqrt(pca$sdev2[kept]), "/")
    leverage <- stats::setNames(rowSums(u^2), opened$samples)
    # A sample without leverage can still be drawn, if there are no others left.
    chance <- pmax(leverage / sum(leverage[open$rows]), 1e-12)
    index <- open$rows[order((stats::rexp(opened$n) / chance)[open$rows])[seq_len(m)]]
    weights <- 1 / pmin(1, m * chance[index])
  } else if (type == "uniform") {
    index <- open$rows[sample.int(open$free, m)]
    weights <- rep(1, m)
  } else {
    fit <- ufs(opened, method = "facility", m = m, center = center, scale = scale)
    index <- selected_samples(fit, m, as = "index")
    m <- length(index)
    x <- as_ufs_matrix(open_quietly(opened), center, scale)$x
    # How many samples each chosen one is the nearest of.
    distance <- square_distances(x, x[index, , drop = FALSE])
    weights <- tabulate(max.col(-distance, ties.method = "first"), m)
  }
  at <- order(index)
  index <- index[at]
  part <- subset_data(opened, samples = index)
  part$input$note <- paste0("sketch       ", m, " of ", opened$n, " samples, ", switch(type,
    leverage = paste("by leverage on", count_words(sum(kept), "singular vector")),
    uniform = "drawn alike", facility = "by facility location"))
  structure(list_of(index, weights = unname(weights[at] * opened$n / sum(weights)),
    type, n = opened$n, leverage, data = part), class = c("ufs_sketch", "ufs_result"))
}

# Rows drawn by the engine.
sketch_of_table <- function(x, m) {
  for (package in c("DBI", "dplyr", "dbplyr")) check_installed(package, "for a table of dbplyr")
  held <- new_held()
  on.exit(held$close())
  table <- settle_database(database_table(x, NULL, NULL, NULL), held)
  n <- as.double(DBI::dbGetQuery(table$connection, paste("SELECT COUNT(*) AS n FROM",
    table$from))[[1L]])
  m <- check_count(m, "m", min(3L, n), n, "the number of rows")
  rows <- sampled_rows(x, m, n, table$connection)
  # Read as all rows of a table are, so that each value is what is stored.
  table$from <- paste0("(", dbplyr::sql_render(dplyr::slice_sample(x, n = m)), ") ufs_rows")
  next_piece <- query_pieces(table, held)
  parts <- if (!is.null(rows)) list(moment_columns(rows[table$columns], NULL, NULL)$x)
  while (is.null(rows) && !is.null(piece <- next_piece())) parts <- c(parts, list(piece$x))
  part <- open_data(do.call(rbind, parts))
  part$input$origin <- class(x)[1L]
  part$input$note <- paste0("sketch       ", m, " of ",
    format(n, big.mark = ",", scientific = FALSE), " rows, drawn alike by the database")
  structure(list(index = NULL, weights = rep(n / m, m), type = "uniform", n = n, leverage = NULL,
    data = part), class = c("ufs_sketch", "ufs_result"))
}

# By TABLESAMPLE of PostgreSQL, which reads no more than it must, some more than m and of them m;
# NULL where there is none, or where they are too few.
sampled_rows <- function(x, m, n, connection) {
  name <- dbplyr::remote_name(x)
  if (is.null(name) || !inherits(connection, c("PqConnection", "PostgreSQLConnection"))) {
    return(NULL)
  }
  share <- min(100, 100 * (m + 6 * sqrt(m) + 6) / n)
  sql <- sprintf("SELECT * FROM %s TABLESAMPLE BERNOULLI (%.12g) REPEATABLE (%d)",
    DBI::dbQuoteIdentifier(connection, as.character(name)), share,
    sample.int(.Machine$integer.max, 1L))
  # A view has none.
  rows <- on_error(DBI::dbGetQuery(connection, sql), function(e) NULL)
  if (NROW(rows) >= m) rows[sort(sample.int(nrow(rows), m)), , drop = FALSE]
}

#' @export
dim.ufs_sketch <- function(x) dim(x$data)

#' @export
dimnames.ufs_sketch <- function(x) dimnames(x$data)

#' @export
print_lines.ufs_sketch <- function(x) {
  cat_line("<ufs_sketch> ", length(x$weights), " of ", format(x$n, scientific = FALSE),
    " samples x ", count_words(x$data$p, "feature"), "\n",
    "  ", x$data$input$note, "\n",
    "  weights      from ", signif(min(x$weights), 3L), " to ", signif(max(x$weights), 3L))
}
