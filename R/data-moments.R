# Moments of tables that need not fit into memory: n, means and centred cross products, in pieces
# that add up.

#' Means and cross products of a table, in pieces that add up
#'
#' Computes what methods of covariances need, the number of rows, the means and the centred cross
#' products of the columns, from a table of any length: a matrix or data frame, [ufs_data()], a CSV
#' or Parquet file, or a table in a database. [ufs_css()], [ufs_pca()], [ufs_spca()],
#' [ufs_variance()] and `ufs_jspca(loss = "feature")` take the result as `x` and give what they give
#' for the rows; so do [ufs_captured()] and `ufs_select(task = "compress")`. Methods that look at
#' single rows refuse it: give those a sample of the rows, see [ufs_sketch()].
#'
#' Results for parts of a table add up: `c(a, b)` is the result for the rows of both. So sites that
#' share no rows, or the tasks of any engine, send p x p numbers each, and the sum is exact. Pieces
#' are merged by the formulas of Chan, Golub and LeVeque (1983), which lose no digits where means
#' are large beside standard deviations.
#'
#' # Tables in a database
#' `where = "fetch"` brings the rows in pieces of 20,000 and needs memory for one piece, whatever
#' the length. `where = "database"` sends sums as SQL instead, so that no row travels: one query for
#' the means, then queries for the products of deviations from them, 500 expressions each,
#' \eqn{p^2 / 1000} queries in all. It is for engines where the data cannot travel.
#'
#' @param x A numeric matrix, a data frame, [ufs_data()] (sparse matrices and files are read by
#'   blocks), the name of one or more CSV files (read with package data.table) or Parquet files
#'   (package nanoparquet, a file at a time), a table of package dbplyr, or a DBI connection.
#' @param columns Names of the columns to use; `NULL` for all numeric ones.
#' @param weights How many rows a row stands for: the name of a column of counts, or for a matrix or
#'   data frame a numeric vector. `NULL`: one each.
#' @param na What to do about missing values: `"omit"` leaves out rows that lack one of the columns
#'   (their number is kept as `dropped`), `"error"` stops.
#' @param where For tables in a database: `"fetch"` or `"database"`, see below.
#' @param from If `x` is a connection: the name of a table, `DBI::Id()`, or a query as `DBI::SQL()`.
#' @param ... Must be empty.
#' @return An object of class `ufs_moments`: a list with `n` (the number of rows, or the sum of
#'   their weights), `mean`, `css` (p x p, centred sums of squares and products) and `dropped`. It
#'   has `dim()`, `names()`, `c()`, `[ , columns]`, `print()` and `as.matrix()`, which gives the
#'   `"correlation"` or `"covariance"` matrix.
#' @section Errors: `ufs_error_argument` for columns that are absent or not numeric,
#'   `ufs_error_input` for missing values with `na = "error"` or tables without a complete row,
#'   `ufs_error_package` where a reader is not installed.
#' @references Chan, Golub and LeVeque (1983) Algorithms for computing the sample variance.
#'   \doi{10.1080/00031305.1983.10483115}
#' @examples
#' first <- ufs_moments(mtcars[1:20, ])
#' both <- c(first, ufs_moments(mtcars[21:32, ]))
#' both
#' all.equal(as.matrix(both), cor(mtcars))
#' both[, c("mpg", "hp", "wt")]
#' @export
ufs_moments <- function(x, columns = NULL, weights = NULL, na = c("omit", "error"),
                        where = c("fetch", "database"), from = NULL, ...) {
  check_given(x)
  check_dots_empty(...)
  watched <- watch_over("ufs_moments()")
  on.exit(options(watched))
  na <- check_choice(na, "na", c("omit", "error"))
  where <- check_choice(where, "where", c("fetch", "database"))
  pieces <- moment_pieces(x, columns, weights, where, from)
  if (inherits(pieces, "ufs_moments")) return(check_moments(pieces, na))
  total <- NULL
  read <- 0
  repeat {
    piece <- pieces()
    if (is.null(piece)) break
    read <- read + nrow(piece$x)
    watch_says(function(step) paste(format(read, big.mark = ","), "rows read"))
    total <- merge_moments(total, moments_of_rows(piece$x, piece$weights))
  }
  if (is.null(total)) ufs_abort("input", "`x` has no rows.", argument = "x")
  check_moments(total, na)
}

new_moments <- function(n, mean, css, dropped) {
  structure(list(n = as.double(n), mean = mean, css = css, dropped = as.double(dropped)),
    class = "ufs_moments")
}

check_moments <- function(moments, na) {
  if (moments$dropped > 0 && na == "error") {
    ufs_abort("input", count_words(moments$dropped, "row"),
      " of `x` lack a value. Choose na = \"omit\" to leave them out.", argument = "x")
  }
  if (moments$n <= 1) ufs_abort("input", "`x` has fewer than 2 complete rows.", argument = "x")
  if (any(!is.finite(moments$css))) {
    ufs_abort("input", "`x` has infinite values, or values too large to be squared, in ",
      some_columns(names(moments$mean)[!is.finite(diag(moments$css))]), ".", argument = "x")
  }
  moments
}

# Two passes over a piece in memory: means, then products of deviations.
moments_of_rows <- function(x, weights = NULL) {
  check_bytes(16 * as.double(ncol(x))^2, "The products of all pairs of columns",
    "Give fewer `columns`.")
  complete <- rowSums(is.na(x)) == 0
  if (!is.null(weights)) complete <- complete & !is.na(weights)
  dropped <- sum(!complete)
  if (dropped) {
    x <- x[complete, , drop = FALSE]
    weights <- weights[complete]
  }
  n <- if (is.null(weights)) nrow(x) else sum(weights)
  if (!is.null(weights) && any(weights < 0 | !is.finite(weights))) {
    refuse("weights", "`weights` must be finite and not negative.")
  }
  if (n == 0) {
    zero <- matrix(0, ncol(x), ncol(x), dimnames = list(colnames(x), colnames(x)))
    return(new_moments(0, stats::setNames(numeric(ncol(x)), colnames(x)), zero, dropped))
  }
  mean <- if (is.null(weights)) colMeans(x) else colSums(x * weights) / n
  deviation <- x - rep(mean, each = nrow(x))
  new_moments(n, mean, crossprod(if (is.null(weights)) deviation else deviation * sqrt(weights)),
    dropped)
}

# Moments of two sets of rows together, by the rule of Chan, Golub and LeVeque.
merge_moments <- function(a, b) {
  if (is.null(a)) return(b)
  dropped <- a$dropped + b$dropped
  if (a$n == 0 || b$n == 0) {
    out <- if (a$n == 0) b else a
    out$dropped <- dropped
    return(out)
  }
  n <- a$n + b$n
  step <- b$mean - a$mean
  new_moments(n, a$mean + step * (b$n / n), a$css + b$css + tcrossprod(step) * (a$n * (b$n / n)),
    dropped)
}

# ---- where the rows come from ----------------------------------------------------------------

# A function that gives the next piece, list(x = numeric matrix, weights), and NULL at the end; or
# the result itself where a database made it.
moment_pieces <- function(x, columns, weights, where, from) {
  if (is.data.frame(x) || (is.matrix(x) && is.numeric(x))) {
    once(moment_columns(x, columns, weights))
  } else if (is.character(x)) {
    file_pieces(x, columns, weights)
  } else if (inherits(x, "DBIConnection") || inherits(x, "tbl_sql")) {
    check_installed("DBI", "for tables in a database")
    table <- database_table(x, from, columns, weights)
    if (where == "database") moments_by_sql(table) else query_pieces(table)
  } else {
    data_pieces(open_data(x), columns, weights)
  }
}

once <- function(piece) function() {
  out <- piece
  piece <<- NULL
  out
}

# The numeric columns of a table in memory, and the weights beside them.
moment_columns <- function(x, columns, weights) {
  by_name <- is.character(weights) && length(weights) == 1L
  if (by_name && !weights %in% colnames(x)) refuse("weights", "`x` has no column '", weights,
    "' of weights.")
  counts <- if (by_name) as.double(if (is.data.frame(x)) x[[weights]] else x[, weights]) else
    weights
  if (!is.null(counts) && (!is.numeric(counts) || length(counts) != nrow(x))) {
    refuse("weights", "`weights` must be the name of a column or ", nrow(x), " numbers.")
  }
  usable <- function(column) is.numeric(column) || is.logical(column)
  if (is.null(columns)) {
    numeric <- if (is.data.frame(x)) vapply(x, usable, NA) else rep(TRUE, ncol(x))
    if (is.null(colnames(x))) colnames(x) <- feature_names(NULL, ncol(x), FALSE)
    columns <- colnames(x)[numeric & !colnames(x) %in% if (by_name) weights]
  }
  refuse_unclear(c(columns, if (by_name) weights), names(repeated_names(colnames(x))), "columns",
    "moments are added up by name, so give each column its own")
  absent <- setdiff(columns, colnames(x))
  if (length(absent)) refuse("columns", "Not among the columns of `x`: ", some_columns(absent), ".")
  if (!length(columns)) refuse("columns", "`x` has no numeric column.")
  part <- if (is.data.frame(x)) as.data.frame(x)[columns] else x[, columns, drop = FALSE]
  if (is.data.frame(part)) {
    text <- !vapply(part, usable, NA)
    if (any(text)) refuse("columns", "Not numeric: ", some_columns(columns[text]), ".")
    part <- as.matrix(part)
  }
  storage.mode(part) <- "double"
  list(x = `rownames<-`(part, NULL), weights = counts)
}

# Sparse matrices and files by blocks of rows.
data_pieces <- function(data, columns, weights) {
  load_reader(data)
  if (!is.null(columns)) data <- subset_data(data, NULL,
    resolve_index(columns, data$p, data$features, "columns"))
  names <- if (is.null(data$features)) feature_names(NULL, data$p, FALSE) else data$features
  blocks <- in_pieces(data$n, max(1, floor(block_bytes() / (8 * data$p))))
  next_block <- 0L
  function() {
    next_block <<- next_block + 1L
    if (next_block > length(blocks)) return(NULL)
    rows <- blocks[[next_block]]
    x <- if (data$kind == "source") read_source(data$x, i = rows) else
      as.matrix(data$x[rows, , drop = FALSE])
    moment_columns(`colnames<-`(x, names), NULL, weights[rows])
  }
}

# Lines of CSV files are read by base R, some at a time, and taken apart by fread(). An empty line
# more keeps a piece of one line from being taken for the name of a file.
file_pieces <- function(files, columns, weights, lines = 20000L) {
  absent <- files[!file.exists(files)]
  if (length(absent)) refuse("x", "There is no file '", absent[1L], "'.")
  parquet <- grepl("[.]parquet$", files)
  check_installed(if (all(parquet)) "nanoparquet" else "data.table", "to read these files")
  wanted <- if (!is.null(columns)) c(columns, weights)
  connection <- NULL
  header <- NULL
  at <- 0L
  open_next <- function() {
    at <<- at + 1L
    connection <<- file(files[at], "r", encoding = "UTF-8")
    header <<- names(data.table::fread(text = c(readLines(connection, n = 1L), ""), nrows = 0L))
  }
  function() {
    repeat {
      if (is.null(connection)) {
        if (at >= length(files)) return(NULL)
        if (parquet[at + 1L]) {
          at <<- at + 1L
          return(moment_columns(nanoparquet::read_parquet(files[at], col_select = wanted), columns,
            weights))
        }
        open_next()
      }
      text <- readLines(connection, n = lines)
      if (length(text)) break
      close(connection)
      connection <<- NULL
    }
    rows <- data.table::fread(text = c(text, ""), header = FALSE, col.names = header,
      data.table = FALSE,
      na.strings = c("", "NA", "NaN"), integer64 = "double")
    moment_columns(rows, columns, weights)
  }
}

# ---- tables in a database -------------------------------------------------------------------

# list(connection, from = text after FROM, columns, weights, quote).
database_table <- function(x, from, columns, weights) {
  if (inherits(x, "tbl_sql")) {
    check_installed("dbplyr", "for a table of dbplyr")
    connection <- dbplyr::remote_con(x)
    from <- paste0("(", dbplyr::sql_render(x), ") ufs_rows")
    known <- colnames(x)
    quote <- function(names) as.character(dbplyr::escape(dbplyr::ident(names), parens = FALSE,
      collapse = NULL, con = connection))
  } else {
    connection <- x
    quote <- function(names) as.character(DBI::dbQuoteIdentifier(connection, names))
    if (is.null(from)) refuse("from",
      "`from`, the name of a table or a query as DBI::SQL(), is missing.")
    from <- if (inherits(from, "SQL")) paste0("(", from, ") ufs_rows") else
      as.character(DBI::dbQuoteIdentifier(connection, from))
    known <- names(DBI::dbGetQuery(connection, paste("SELECT * FROM", from, "WHERE 1 = 0")))
  }
  if (!is.null(weights) && !(is.character(weights) && length(weights) == 1L)) {
    refuse("weights", "`weights` must be the name of a column of the table.")
  }
  if (is.null(columns)) columns <- setdiff(known, weights)
  absent <- setdiff(c(columns, weights), known)
  if (length(absent)) refuse("columns", "Not among the columns of the table: ",
    some_columns(absent), ".")
  list_of(connection, from, columns, weights, quote)
}

query_pieces <- function(table, rows = 20000L) {
  names <- c(table$columns, table$weights)
  result <- DBI::dbSendQuery(table$connection,
    paste("SELECT", paste(table$quote(names), collapse = ", "), "FROM", table$from))
  open <- TRUE
  function() {
    if (!open) return(NULL)
    part <- tryCatch(DBI::dbFetch(result, n = rows), error = function(e) {
      DBI::dbClearResult(result)
      stop(e)
    })
    if (!nrow(part)) {
      DBI::dbClearResult(result)
      open <<- FALSE
      return(NULL)
    }
    moment_columns(part, table$columns, table$weights)
  }
}

# Sums in the engine: means of the complete rows first, then products of deviations from them. Means
# as literals lose their last digits; the first moments that are left correct both.
moments_by_sql <- function(table, run = function(sql) DBI::dbGetQuery(table$connection, sql),
                           batch = 500L) {
  id <- table$quote(table$columns)
  p <- length(id)
  counts <- if (!is.null(table$weights)) table$quote(table$weights)
  complete <- paste("WHERE", paste(c(id, counts), "IS NOT NULL", collapse = " AND "))
  total <- function(term) paste0("SUM(", if (is.null(counts)) "" else
    paste0("1.0 * ", counts, " * "), term, ")")
  ask <- function(terms) {
    queries <<- queries + 1L
    watch_says(function(step) paste(count_words(queries, "query"), "sent"))
    unlist(run(paste0("SELECT ", paste0(terms, " AS e", seq_along(terms), collapse = ", "),
      " FROM ", table$from, " ", complete)), use.names = FALSE)
  }
  queries <- 0L
  ask_all <- function(terms) unlist(lapply(in_pieces(length(terms), batch),
    function(at) ask(terms[at])))
  rows <- unlist(run(paste("SELECT COUNT(*) AS e1 FROM", table$from)), use.names = FALSE)
  used <- as.double(ask(c("COUNT(*)", total("1.0"))))
  n <- used[2L]
  if (is.na(n) || n == 0) ufs_abort("input", "The table has no complete row.", argument = "x")
  mean <- as.double(ask_all(total(paste0("1.0 * ", id)))) / n
  deviation <- paste0("(", id, " - (", sprintf("%.17e", mean), "))")
  at <- which(upper.tri(diag(p), diag = TRUE), arr.ind = TRUE)
  sums <- as.double(ask_all(c(total(deviation), total(paste0(deviation[at[, 1L]], " * ",
    deviation[at[, 2L]])))))
  left <- sums[seq_len(p)]
  css <- matrix(0, p, p, dimnames = list(table$columns, table$columns))
  css[at] <- sums[-seq_len(p)]
  css[lower.tri(css)] <- t(css)[lower.tri(css)]
  new_moments(n, stats::setNames(mean + left / n, table$columns), css - tcrossprod(left) / n,
    as.double(rows) - used[1L])
}

# ---- moments in the place of rows ---------------------------------------------------------------

# p + 1 rows that have these moments: with the weight n / (p + 1) each, their sum of weights is n,
# and their weighted means and cross products are those of the table. H has orthonormal columns that
# sum to zero.
rows_of_moments <- function(moments) {
  p <- length(moments$mean)
  size <- sqrt(diag(moments$css))
  varies <- size > 0
  root <- matrix(0, p, p)
  spectrum <- eigen(moments$css[varies, varies, drop = FALSE] / tcrossprod(size[varies]),
    symmetric = TRUE)
  root[seq_len(sum(varies)), varies] <- sqrt(pmax(spectrum$values, 0)) * t(spectrum$vectors)
  h <- stats::contr.helmert(p + 1)
  h <- h / rep(sqrt(colSums(h^2)), each = p + 1)
  weight <- moments$n / (p + 1)
  x <- h %*% (root * rep(size / sqrt(weight), each = p)) + rep(moments$mean, each = p + 1)
  # A constant column is constant to the last bit.
  x[, !varies] <- rep(moments$mean[!varies], each = p + 1)
  data <- new_data("dense", unname(x), list(NULL, names(moments)), "ufs_moments")
  data$row_wish <- list(weights = rep(weight, p + 1))
  data$n_rows <- moments$n
  data
}

# ---- the object ---------------------------------------------------------------------------------

#' @export
dim.ufs_moments <- function(x) c(x$n, length(x$mean))

#' @export
names.ufs_moments <- function(x) names(unclass(x)$mean)

#' @export
`$.ufs_moments` <- function(x, name) unclass(x)[[name]]

#' @export
c.ufs_moments <- function(...) {
  parts <- list(...)
  if (!all(vapply(parts, inherits, NA, "ufs_moments"))) {
    refuse("...", "Only results of ufs_moments() add up to one.")
  }
  columns <- names(parts[[1L]])
  for (part in parts[-1L]) {
    if (!setequal(columns, names(part)) || length(columns) != length(names(part))) {
      refuse("...", "The parts have different columns: ",
        some_columns(c(setdiff(columns, names(part)), setdiff(names(part), columns))), ".")
    }
  }
  Reduce(merge_moments, lapply(parts, function(part) part[, columns]))
}

#' @export
`[.ufs_moments` <- function(x, i, j, ..., drop = FALSE) {
  if (!missing(i)) refuse("i",
    "The rows of moments are gone: only columns can be chosen, as in x[, columns].")
  if (missing(j)) return(x)
  j <- resolve_index(j, length(x$mean), names(x), "j")
  new_moments(x$n, x$mean[j], x$css[j, j, drop = FALSE], x$dropped)
}

#' @export
as.matrix.ufs_moments <- function(x, what = c("correlation", "covariance"), ...) {
  check_dots_empty(...)
  what <- check_choice(what, "what", c("correlation", "covariance"))
  if (what == "covariance") return(x$css / (x$n - 1))
  size <- sqrt(diag(x$css))
  out <- x$css / tcrossprod(size)
  out[size == 0, ] <- out[, size == 0] <- NA
  diag(out)[size > 0] <- 1
  out
}

#' @export
print.ufs_moments <- function(x, ...) {
  cat_line("<ufs_moments> moments of ",
    format(x$n, big.mark = ",", scientific = FALSE), " rows x ", length(x$mean),
    " features: means and cross products",
    if (x$dropped > 0) paste0("; ", count_words(x$dropped, "row"), " with missing values left out"))
  invisible(x)
}
