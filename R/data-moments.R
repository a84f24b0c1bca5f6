# Moments of tables that need not fit into memory: n, means and centred cross products, in pieces
# that add up.

#' Means and cross products of a table, in pieces that add up
#'
#' Computes what methods of covariances need, the number of rows, the means and the centred cross
#' products of the columns, from a table of any length: a matrix or data frame, [ufs_data()], a
#' table in a database, or a function that gives the next rows. [ufs_css()], [ufs_pca()],
#' [ufs_spca()], [ufs_variance()] and `ufs_jspca(loss = "feature")` take the result as `x` and give
#' what they give for the rows; so do [ufs_captured()] and `ufs_select(task = "compress")`. Methods
#' that look at single rows refuse it: give those a sample of the rows, see [ufs_sketch()].
#'
#' [ufs_select()], [ufs_size()] and `k = "auto"` look, for what needs rows, at 1,000 rows at most
#' from a normal distribution with these moments, which `fit$decided` says.
#'
#' A covariance or correlation matrix that somebody else computed takes the place of the rows by
#' `ufs_moments(cov = S, n = )`; to a method itself it would be a table of p samples, which a
#' warning of class `ufs_warning_covariance` says.
#'
#' Results for parts of a table add up: `c(a, b)` is the result for the rows of both. So sites that
#' share no rows, or the tasks of any engine, send p x p numbers each, and the sum is exact. Pieces
#' are merged by the formulas of Chan, Golub and LeVeque (1983), which lose no digits where means
#' are large beside standard deviations.
#'
#' # Pairs that are there
#' With `na = "pairwise"` the correlation of two columns is that of the rows that have both, and
#' means and variances are those of all values of a column. Such correlations need not fit together:
#' negative eigenvalues are set to 0 and the diagonal is restored, and `print()` says how far
#' correlations were moved. Where a column does not vary in the rows that have another, nothing is
#' known of their correlation: 0 is taken, with a warning of class `ufs_warning_pairs`. `n` counts
#' the rows that have any value. Pieces add up as others do.
#'
#' Values were removed from ten real sets, and columns chosen by [ufs_css()] without them
#' (`evidence/results/pairwise.csv`): by pairs they captured more of the complete table than after
#' `na = "median"` of [ufs_data()] and far more than after `"omit"`. With a fifth of the values
#' missing, or more, `"knn"` there did better by over half a point on some sets, with fewer gaps
#' hardly ever, and never by two points: choose it where the rows are at hand.
#'
#' # Tables in a database
#' `where = "fetch"` brings the rows in pieces, of 20,000 at most, and needs memory for one piece,
#' whatever the length. `where = "database"` sends sums as SQL instead, so that no row travels: one
#' query for the means, then queries for the products of deviations from them, 500 expressions each,
#' \eqn{p^2 / 1000} queries in all. It is for engines where the data cannot travel. SQLite runs
#' inside R's own process: its rows are read in pieces either way, which is faster.
#'
#' An interrupt is heard between pieces and between queries, each of which takes about half a second
#' at most. A query that takes longer before its first row, or a table so long that one sum over it
#' does, is interrupted only where the driver can.
#'
#' @param x A numeric matrix, a data frame, [ufs_data()] (sparse and stored matrices are read by
#'   blocks), a table of package dbplyr, a DBI connection, or a function without arguments that
#'   gives the next rows, a matrix or data frame, at each call, and `NULL` at the end. Text files
#'   are read by others, whole or in pieces, see the examples.
#' @param columns Names of the columns to use; `NULL` for all numeric ones (a message names the
#'   others; the first piece tells). A column most of whose values are numbers is one; text in it
#'   is an error.
#' @param weights How many rows a row stands for: the name of a column of counts, or for a matrix or
#'   data frame a numeric vector. `NULL`: one each.
#' @param na What to do about missing values: `"omit"` leaves out rows that lack one of the columns
#'   (their number is kept as `dropped`), `"error"` stops, `"pairwise"` takes for each pair of
#'   columns the rows that have both, see below. The default counts each row once or not at all.
#' @param where For tables in a database: `"fetch"` or `"database"`, see below.
#' @param from If `x` is a connection: the name of a table, `DBI::Id()`, or a query as `DBI::SQL()`.
#' @param cov In the place of `x`: a covariance matrix (denominator n - 1) or a correlation matrix,
#'   with the names of the columns, or one of its triangles (the other `NA` or 0); or what
#'   [stats::cov.wt()], [stats::factanal()] or package psych hand on, a list with `cov` (or
#'   `correlation`, `r`), `n.obs` and `center`.
#' @param n With `cov`: the number of rows that it was computed from, at least 2.
#' @param mean With `cov`: the means of the columns, in their order or by name. `NULL`: not known,
#'   which methods with `center = FALSE` and `predict()` refuse.
#' @param sd With `cov`: the standard deviations of the columns, in their order or by name, which a
#'   correlation matrix does not hold. It has to be given beside `mean`; without it all variances
#'   are 1.
#' @param ... Must be empty.
#' @return An object of class `ufs_moments`: a list with `n` (the number of rows, or the sum of
#'   their weights), `mean`, `css` (p x p, centred sums of squares and products) and `dropped`. It
#'   has `dim()`, `names()`, `c()`, `[ , columns]`, `print()` and `as.matrix()`, which gives the
#'   `"correlation"` or `"covariance"` matrix.
#' @section Errors: `ufs_error_input` for a value that is no number among numbers, with its column
#'   and row, `ufs_error_argument` for columns that are absent or not numeric, for a `cov`
#'   that is not symmetric, has missing values, negative variances, other names of rows than of
#'   columns, or negative eigenvalues beyond rounding (correlations would have to change by more
#'   than .01), `ufs_error_input` for missing values with `na = "error"`, tables without a complete
#'   row, or pairs of columns with fewer than 3 rows, `ufs_error_package` where a reader is not
#'   installed.
#' @references Chan, Golub and LeVeque (1983) Algorithms for computing the sample variance.
#'   \doi{10.1080/00031305.1983.10483115}
#' @examples
#' first <- ufs_moments(mtcars[1:20, ])
#' both <- c(first, ufs_moments(mtcars[21:32, ]))
#' both
#' all.equal(as.matrix(both), cor(mtcars))
#' both[, c("mpg", "hp", "wt")]
#'
#' ufs_moments(airquality[, 1:4], na = "pairwise")
#'
#' # A text file in pieces of ten rows: a function that gives the next ones
#' file <- tempfile(fileext = ".csv")
#' write.csv(iris, file, row.names = FALSE)
#' rows <- file(file, "r")
#' top <- readLines(rows, 1)
#' ufs_moments(function() {
#'   part <- readLines(rows, 10)
#'   if (length(part)) read.csv(text = c(top, part))
#' })
#' close(rows)
#'
#' # What a paper prints, instead of rows
#' ufs_css(ufs_moments(cov = cor(mtcars), n = 32), k = 3)
#' @export
ufs_moments <- function(x, columns = NULL, weights = NULL, ..., na = c("omit", "error", "pairwise"),
                        where = c("fetch", "database"), from = NULL, cov = NULL, n = NULL,
                        mean = NULL, sd = NULL) {
  check_dots_empty(...)
  if (!is.null(cov)) {
    twice <- intersect(c("x", "weights", "na", "where", "from"), names(match.call()))
    if (length(twice)) {
      refuse(twice[1L], "`", twice[1L], "` is about rows; beside `cov` there are none.")
    }
    return(moments_of_cov(cov, n, mean, sd, columns))
  }
  check_given(x)
  for (lost in names(Filter(Negate(is.null), list_of(n, mean, sd)))) {
    refuse(lost, "`", lost, "` is for a covariance matrix in `cov`; rows have their own.")
  }
  watch_over("ufs_moments()")
  held <- new_held()
  on.exit(held$close(), add = TRUE)
  na <- check_choice(na, "na", c("omit", "error", "pairwise"))
  where <- check_choice(where, "where", c("fetch", "database"))
  by_pairs <- na == "pairwise"
  if (by_pairs && where == "database") {
    refuse("na", "`na` = \"pairwise\" needs the rows: use where = \"fetch\".")
  }
  pieces <- moment_pieces(x, columns, weights, where, from, held)
  if (inherits(pieces, "ufs_moments")) return(check_moments(pieces, na))
  total <- NULL
  seen <- NULL
  read <- 0
  repeat {
    piece <- pieces()
    if (is.null(piece)) break
    read <- read + nrow(piece$x)
    watch_says(function(step) paste(format(read, big.mark = ","), "rows read"))
    seen <- seen_columns(seen, piece$x)
    total <- if (by_pairs) merge_pairs(total, pairs_of_rows(piece$x, piece$weights)) else
      merge_moments(total, moments_of_rows(piece$x, piece$weights))
  }
  if (is.null(total)) refuse_data("x", "`x` has no rows.")
  refuse_blank(names(seen)[!seen])
  check_moments(if (by_pairs) moments_of_pairs(total) else total, na)
}

# Did each column have a value in any piece, by name? Pieces may have their columns in any order.
seen_columns <- function(seen, x) {
  if (is.null(seen)) seen <- stats::setNames(logical(ncol(x)), colnames(x))
  open <- intersect(names(seen)[!seen], colnames(x))
  if (length(open)) seen[open] <- colSums(!is.na(x[, open, drop = FALSE])) > 0
  seen
}

# Three passes over a piece in memory: differences from the first row, which are exact to their own
# digits however far from zero the columns lie, their means, then products of deviations.
moments_of_rows <- function(x, weights = NULL) {
  check_bytes(16 * as.double(ncol(x))^2, "The products of all pairs of columns",
    "Give fewer `columns`.")
  names <- colnames(x)
  kept <- rows_to_count(x, weights, rowSums(is.na(x)) == 0)
  x <- kept$x
  weights <- kept$weights
  n <- if (is.null(weights)) nrow(x) else sum(weights)
  zero <- numeric(ncol(x))
  if (n == 0) {
    return(new_moments(0, zero, matrix(0, ncol(x), ncol(x), dimnames = list(names, names)),
      kept$dropped, zero, zero + Inf, zero - Inf))
  }
  ends <- .Call(C_moments, unname(x))[c("low", "high")]
  one <- rep(1, ncol(x))
  first <- unname(x[1L, ])
  x <- .Call(C_x_standardise, unname(x), first, one)
  step <- if (is.null(weights)) colMeans(x) else colSums(x * weights) / n
  x <- .Call(C_x_standardise, x, step, one)
  mean <- two_sum(first, step)
  css <- own_products(if (is.null(weights)) x else x * sqrt(weights))
  new_moments(n, mean$total, `dimnames<-`(css, list(names, names)), kept$dropped, mean$rest,
    ends$low, ends$high)
}

# crossprod(x), some columns after the other, between which an interrupt is heard.
own_products <- function(x, flops = 1e9) {
  pieces <- in_pieces(ncol(x), max(1, floor(flops / (2 * as.double(length(x))))))
  if (length(pieces) == 1L) return(crossprod(x))
  out <- matrix(0, ncol(x), ncol(x))
  for (at in pieces) {
    own <- x[, at, drop = FALSE]
    before <- seq_len(at[1L] - 1L)
    out[at, at] <- crossprod(own)
    out[before, at] <- crossprod(x[, before, drop = FALSE], own)
    out[at, before] <- t(out[before, at])
  }
  out
}

# Moments of two sets of rows together; columns by name.
merge_moments <- function(a, b) {
  if (is.null(a)) return(b)
  if (!identical(names(b$mean), names(a$mean))) {
    check_same_columns(names(a$mean), names(b$mean))
    b <- b[, names(a$mean)]
  }
  dropped <- a$dropped + b$dropped
  if (a$n == 0 || b$n == 0) {
    out <- if (a$n == 0) b else a
    out$dropped <- dropped
    return(out)
  }
  step <- (b$mean - a$mean) + (b$rest - a$rest)
  both <- union_of_rows(a$n, b$n, step, tcrossprod(step))
  mean <- two_sum(a$mean, both$mean + a$rest)
  new_moments(both$n, mean$total, a$css + b$css + both$css, dropped, mean$rest,
    pmin(a$least, b$least), pmax(a$most, b$most))
}

# ---- where the rows come from ------------------------------------------------------------

# A function that gives the next piece, list(x = numeric matrix, weights), and NULL at the end; or
# the result itself where a database made it.
moment_pieces <- function(x, columns, weights, where, from, held) {
  if (!is.null(from) && !inherits(x, "DBIConnection")) {
    refuse("from", "`from` names a table of a connection, and `x` is none.")
  }
  if (is.matrix(x) && !is.data.frame(x)) x <- table_matrix(x, "x")
  if (is.data.frame(x) || is.matrix(x)) {
    whole <- if (nrow(x) == ncol(x) && identical(rownames(x), colnames(x))) as.matrix(x)
    if (is.numeric(whole)) warn_covariance(new_data("dense", whole, dimnames(whole)), "x")
    piece <- moment_columns(x, columns, weights)
    function() {
      out <- piece
      piece <<- NULL
      out
    }
  } else if (is.character(x)) {
    # Files are read by others. What reads one of text is shown, whole and in pieces.
    if (!grepl("[.](csv|tsv|tab|txt)$", x[1L])) refuse("x", "`x` is text.", reading_advice(x[1L]))
    file <- encodeString(x[1L], quote = "\"")
    refuse("x", "A file of text is not read here. Give what data.table::fread() makes of it,\n",
      "  ufs_moments(data.table::fread(", file, "))\nor, where it is larger than memory, a ",
      "function that gives the next rows:\n  rows <- file(", file,
      ", \"r\"); top <- readLines(rows, 1)\n  ufs_moments(function() if (length(part <- ",
      "readLines(rows, 1e5))) data.table::fread(text = c(top, part), header = TRUE))")
  } else if (is.function(x)) {
    # The columns of numbers in the first piece that the user's function gives are those of all.
    if (!is.null(weights) && !(is.character(weights) && length(weights) == 1L)) {
      refuse("weights", "`weights` must be the name of a column of what the function `x` gives.")
    }
    function() {
      part <- on_error(x(), function(e) refuse("x", "`x` must be a function without arguments ",
        "that gives the next rows; it failed: ", conditionMessage(e)))
      if (is.null(part)) return(NULL)
      if (!is.data.frame(part) && !is.matrix(part)) {
        refuse("x", "`x` must give a matrix or data frame at each call and NULL at the end, not ",
          kind_of(part), ".")
      }
      piece <- moment_columns(part, columns, weights)
      columns <<- colnames(piece$x)
      piece
    }
  } else if (inherits(x, "DBIConnection") || inherits(x, "tbl_sql")) {
    check_installed("DBI", "for tables in a database")
    table <- settle_database(database_table(x, from, columns, weights), held)
    if (where == "database" && !table$is_sqlite) moments_by_sql(table) else
      query_pieces(table, held)
  } else {
    data <- check_door(open_data(x), "ufs_moments()")
    if (!is.null(data$input$tables)) {
      refuse("x", "`x` has several tables, and moments are those of one: give a list of tables to ",
        "the method itself.")
    }
    if (!is.null(data$row_held$weights)) {
      if (!is.null(weights)) refuse("weights", "`x` has `weights` of its own; give one of them.")
      weights <- data$row_held$weights
    }
    data_pieces(data, columns, weights)
  }
}

# The numeric columns of a table in memory, and the weights beside them: list(x, weights). Other
# columns are left out where no `columns` are asked for, which a message says; text most of whose
# values are numbers is an error.
moment_columns <- function(x, columns, weights) {
  check_columns(columns)
  if (is.null(colnames(x))) colnames(x) <- feature_names(NULL, ncol(x), FALSE)
  by_name <- is.character(weights) && length(weights) == 1L
  wanted <- c(columns, if (by_name) weights)
  names <- if (is.data.frame(x)) names(flat_table(x[0L, , drop = FALSE])) else colnames(x)
  refuse_unclear(if (is.null(columns)) names else wanted, names(repeated_names(names)), "columns",
    "moments are added up by name, so give each column its own")
  if (by_name && !weights %in% names) refuse("weights", "`x` has no column '", weights,
    "' of weights.")
  absent <- setdiff(columns, names)
  if (length(absent)) refuse("columns", "Not among the columns of `x`: ", some_columns(absent), ".")
  if (is.data.frame(x)) {
    # data.table has a `[` of its own.
    x <- flat_table(as.data.frame(x))
    x <- plain_numbers(if (is.null(columns)) x else x[wanted])
    text <- !vapply(x, is_plain_number, NA)
    refuse_text(x[text], if (is.null(columns)) weights else wanted)
    if (any(text)) ufs_inform("columns", "Left out, for not numeric: ",
      some_columns(names(x)[text]), ".")
    x <- as.matrix(x[!text])
  } else x <- as_number(x)
  counts <- weights
  if (by_name) {
    counts <- as.double(x[, weights])
    x <- x[, colnames(x) != weights, drop = FALSE]
  }
  if (!is.null(counts)) {
    counts <- as_number(counts)
    if (!is.numeric(counts) || length(counts) != nrow(x)) refuse("weights",
      "`weights` must be the name of a column or ", nrow(x), " numbers.")
  }
  if (!is.null(columns)) x <- x[, columns, drop = FALSE]
  if (!ncol(x)) refuse("columns", "`x` has no numeric column.")
  storage.mode(x) <- "double"
  list(x = `rownames<-`(x, NULL), weights = counts)
}

# Sparse matrices and files by blocks of rows.
data_pieces <- function(data, columns, weights) {
  load_reader(data)
  by_name <- is.character(weights) && length(weights) == 1L
  if (by_name) {
    at <- resolve_index(weights, data$p, data$features, "weights")
    if (is.null(columns)) columns <- setdiff(seq_len(data$p), at)
    weights <- as.vector(data_columns(data, at))
  }
  if (!is.null(weights) && (!is.numeric(weights) || length(weights) != data$n)) {
    refuse("weights", "`weights` must be the name of a column or ", data$n, " numbers.")
  }
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

# ---- tables in a database -------------------------------------------------------------------

# list(connection, from = text after FROM, columns, weights, quote; take: from quoted names to what
# is selected).
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
  absent <- setdiff(c(columns, weights), known)
  if (length(absent)) refuse("columns", "Not among the columns of the table: ",
    some_columns(absent), ".")
  check_columns(columns)
  list_of(connection, from, columns = if (is.null(columns)) setdiff(known, weights) else columns,
    weights, quote, all = is.null(columns), take = identity,
    is_sqlite = inherits(connection, "SQLiteConnection"))
}

# The table with its columns of numbers, as the first rows tell them.
settle_database <- function(table, held) {
  first <- withCallingHandlers(query_pieces(table, held, 1000L)(raw = TRUE), warning = function(w) {
    if (grepl("mixed type", conditionMessage(w), fixed = TRUE)) invokeRestart("muffleWarning")
  })
  held$close()
  table$columns <- colnames(moment_columns(first, if (!table$all) table$columns, table$weights)$x)
  table$whole <- names(first)[vapply(first, inherits, NA, c("integer", "integer64"))]
  # A value of SQLite has a type of its own, and RSQLite gives a whole column the type of the first:
  # 2.5 below a large integer would be 2, and text 0. Text comes as Inf, which no sum takes.
  if (table$is_sqlite) table$take <- function(id) {
    paste0("CASE TYPEOF(", id, ") WHEN 'real' THEN ", id, " WHEN 'integer' THEN CAST(", id,
      " AS REAL) WHEN 'null' THEN NULL ELSE 9e999 END AS ", id)
  }
  table
}

# `held`: what keeps the result, to be closed whatever happens. No fetch can be interrupted, so none
# asks for more than two million values, half a second.
query_pieces <- function(table, held, rows = 20000L) {
  names <- c(table$columns, table$weights)
  rows <- max(1L, min(rows, 2e6 %/% length(names)))
  function(raw = FALSE) {
    if (is.null(held$result)) {
      sql <- paste("SELECT", paste(table$take(table$quote(names)), collapse = ", "), "FROM",
        table$from)
      send <- function() held$result <- DBI::dbSendQuery(table$connection, sql)
      # SQLite runs in this process and hears no interrupt: one that comes meanwhile waits until the
      # result is kept where it will be closed.
      if (table$is_sqlite) suspendInterrupts(send()) else send()
    }
    part <- DBI::dbFetch(held$result, n = rows)
    if (raw) return(part)
    if (!nrow(part)) return(NULL)
    if (table$is_sqlite) {
      text <- names[vapply(part, function(col) any(is.infinite(col)), NA)]
      if (length(text)) refuse("columns", "Text, or infinite values, in ", some_columns(text), ".")
      long <- Filter(function(name) {
        col <- part[[name]]
        is.double(col) && !is.object(col) &&
          any(abs(col) > 2^53 & col == round(col) & abs(col) < 2^64, na.rm = TRUE)
      }, intersect(table$whole, names))
      if (length(long)) digits_lost("numbers", long)
    }
    moment_columns(part, table$columns, table$weights)
  }
}

# Holds the result of a query while it is open.
new_held <- function() {
  held <- new.env(parent = emptyenv())
  held$close <- function() suspendInterrupts({
    if (!is.null(held$result)) DBI::dbClearResult(held$result)
    held$result <- NULL
  })
  held
}

# Sums in the engine: means of the complete rows first, then products of deviations from them. Means
# as literals lose their last digits; the first moments that are left correct both. No query can be
# interrupted, so none asks for more expressions than take half a second.
moments_by_sql <- function(table, run = function(sql) DBI::dbGetQuery(table$connection, sql),
                           batch = 500L) {
  id <- table$quote(table$columns)
  p <- length(id)
  counts <- if (!is.null(table$weights)) table$quote(table$weights)
  present <- paste(c(id, counts), "IS NOT NULL", collapse = " AND ")
  complete <- paste("WHERE", paste(c(present, if (!is.null(counts)) paste(counts, "> 0")),
    collapse = " AND "))
  total <- function(term) paste0("SUM(", if (is.null(counts)) "" else
    paste0("1.0 * ", counts, " * "), term, ")")
  ask <- engine_sums(table$from, run, batch)
  known <- as.double(ask(c("COUNT(*)", paste0("SUM(CASE WHEN ", present, " THEN 1 ELSE 0 END)"),
    if (!is.null(counts)) paste0("MIN(", counts, ")")), ""))
  if (isTRUE(known[3L] < 0)) refuse("weights", "`weights` must be finite and not negative.")
  n <- as.double(ask(total("1.0"), complete))
  if (is.na(n) || n == 0) {
    refuse_blank(table$columns[as.double(ask(paste0("COUNT(", id, ")"), "")) == 0])
    refuse_data("x", "The table has no complete row.")
  }
  ends <- as.double(ask(c(total(paste0("1.0 * ", id)), paste0("MIN(", id, ")"),
    paste0("MAX(", id, ")")), complete))
  mean <- ends[seq_len(p)] / n
  deviation <- paste0("(", id, " - (", sprintf("%.17e", mean), "))")
  at <- which(upper.tri(diag(p), diag = TRUE), arr.ind = TRUE)
  sums <- as.double(ask(c(total(deviation), total(paste0(deviation[at[, 1L]], " * ",
    deviation[at[, 2L]]))), complete))
  left <- sums[seq_len(p)]
  css <- matrix(0, p, p, dimnames = list(table$columns, table$columns))
  css[at] <- sums[-seq_len(p)]
  css[lower.tri(css)] <- t(css)[lower.tri(css)]
  mean <- two_sum(mean, left / n)
  new_moments(n, mean$total, css - tcrossprod(left) / n, known[1L] - known[2L], mean$rest,
    ends[p + seq_len(p)], ends[2L * p + seq_len(p)])
}

# A function of expressions and a condition, whose queries have at most `batch` expressions, and as
# many as half a second allows.
engine_sums <- function(from, run, batch, seconds = .5) {
  queries <- 0L
  size <- min(batch, 20L)
  function(terms, where) {
    out <- NULL
    while (length(terms)) {
      some <- utils::head(terms, size)
      terms <- terms[-seq_along(some)]
      queries <<- queries + 1L
      watch_says(function(step) paste(count_words(queries, "query"), "sent"))
      start <- proc.time()[[3L]]
      out <- c(out, unlist(run(trimws(paste0("SELECT ", paste0(some, " AS e", seq_along(some),
        collapse = ", "), " FROM ", from, " ", where))), use.names = FALSE))
      able <- length(some) * seconds / max(proc.time()[[3L]] - start, 1e-3)
      size <<- as.integer(max(1, min(batch, able, 4 * size)))
    }
    out
  }
}

# ---- moments in the place of rows -----------------------------------------------------------

# p + 1 rows that have these moments: with the weight n / (p + 1) each, their sum of weights is n,
# and their weighted means and cross products are those of the table. H has orthonormal columns that
# sum to zero. The means stay beside the rows, as `offset`: added to them, they would take digits
# from the deviations. Columns are constant where they are for rows (src/prepare.h).
rows_of_moments <- function(moments) {
  p <- length(moments$mean)
  size <- sqrt(diag(moments$css))
  varies <- unname(columns_vary(moments))
  h <- stats::contr.helmert(p + 1)
  h <- h / rep(sqrt(colSums(h^2)), each = p + 1)
  weight <- moments$n / (p + 1)
  x <- h %*% (root_of_moments(moments, size, varies) * rep(size / sqrt(weight), each = p))
  # A constant column is constant to the last bit.
  x[, !varies] <- 0
  data <- new_data("dense", unname(x), list(NULL, names(moments)), "ufs_moments")
  data$row_held <- list(weights = rep(weight, p + 1))
  data$n_rows <- moments$n
  data$offset <- unname(moments$mean)
  if (isTRUE(moments$repaired > 0)) {
    data$input$note <- paste0("moments      correlations ", repaired_words(moments))
  }
  data
}

# p rows, of which the first may be other than 0, whose products are the correlations.
root_of_moments <- function(moments, size, varies) {
  root <- matrix(0, length(size), length(size))
  spectrum <- eigen(moments$css[varies, varies, drop = FALSE] / tcrossprod(size[varies]),
    symmetric = TRUE)
  root[seq_len(sum(varies)), varies] <- sqrt(pmax(spectrum$values, 0)) * t(spectrum$vectors)
  root
}

# Rows to look at where only moments are known: normal ones with these moments, exactly where there
# are as many of them as there were. Columns whose ends and sum are whole are whole numbers, where
# that moves them by little, columns with the moments of 1 to n (or 0 to n - 1) number the rows, and
# equal ones are equal.
rows_like <- function(moments, most = 1000L) {
  n <- as.integer(min(moments$n, most))
  size <- sqrt(diag(moments$css))
  varies <- unname(columns_vary(moments))
  root <- root_of_moments(moments, size, varies)
  root <- root[rowSums(root^2) > 1e-12 * sum(varies), , drop = FALSE]
  z <- with_seed(looking_seed, matrix(stats::rnorm(n * nrow(root)), n))
  z <- sweep(z, 2L, colMeans(z))
  z <- if (n == moments$n && n > nrow(root)) qr.Q(qr(z)) else z / sqrt(moments$n - 1)
  x <- z %*% (root * rep(size, each = nrow(root)))
  mean <- ifelse(is.na(moments$mean), 0, moments$mean)
  x <- x + rep(mean, each = n)
  whole <- function(value) abs(value - round(value)) <= 1e-9 * pmax(1, abs(value))
  far <- moments$most - moments$least > 10
  for (j in which(far & whole(moments$least) & whole(moments$most) & whole(mean * moments$n))) {
    ends <- c(moments$least[j], moments$most[j])
    numbers <- ends[1L] %in% 0:1 && diff(ends) == moments$n - 1 &&
      abs(12 * moments$css[j, j] / (moments$n^3 - moments$n) - 1) < 1e-9
    x[, j] <- if (numbers) ends[1L] + rank(x[, j], ties.method = "first") - 1 else
      pmin(pmax(round(x[, j]), ends[1L]), ends[2L])
  }
  x[, !varies] <- rep(mean[!varies], each = n)
  r <- moments$css / tcrossprod(pmax(size, .Machine$double.xmin))
  for (j in which(varies)) {
    of <- which(r[j, ] > 1 - 1e-12 & abs(size - size[j]) <= 1e-9 * size[j] & mean == mean[j])[1L]
    x[, j] <- x[, of]
  }
  data <- new_data("dense", unname(x), list(NULL, names(moments)), "ufs_moments")
  data$stands_for <- moments$n
  data
}

# ---- the object -----------------------------------------------------------------------------

#' @export
dim.ufs_moments <- function(x) c(x$n, length(x$mean))

#' @export
names.ufs_moments <- function(x) names(unclass(x)$mean)

#' @export
c.ufs_moments <- function(...) {
  parts <- list(...)
  if (!all(vapply(parts, inherits, NA, "ufs_moments"))) {
    refuse("...", "Only results of ufs_moments() add up to one.")
  }
  for (part in parts) check_saved(part)
  by_pairs <- vapply(parts, function(part) !is.null(part$pairs), NA)
  if (all(by_pairs)) return(moments_of_pairs(Reduce(merge_pairs, lapply(parts, `[[`, "pairs"))))
  if (any(by_pairs)) refuse("...", "All parts or none must be by pairs (na = \"pairwise\").")
  if (any(vapply(parts, function(part) isTRUE(part$unit), NA))) {
    refuse("...", "Correlations add up where the standard deviations of all parts are known: give ",
      "`sd` beside `cov`.")
  }
  if (anyNA(unlist(lapply(parts, `[[`, "mean")))) {
    refuse("...", "Moments add up where the means of all parts are known: give `mean` beside ",
      "`cov`.")
  }
  Reduce(merge_moments, parts)
}

#' @export
`[.ufs_moments` <- function(x, i, j, ..., drop = FALSE) {
  if (!missing(i)) refuse("i",
    "The rows of moments are gone: only columns can be chosen, as in x[, columns].")
  if (missing(j)) return(x)
  check_saved(x)
  j <- resolve_index(j, length(x$mean), names(x), "j")
  if (!is.null(x$pairs)) return(moments_of_pairs(pairs_of(x$pairs, j)))
  out <- new_moments(x$n, x$mean[j], x$css[j, j, drop = FALSE], x$dropped, x$rest[j], x$least[j],
    x$most[j])
  out[c("repaired", "unit")] <- unclass(x)[c("repaired", "unit")]
  out
}

#' @export
as.matrix.ufs_moments <- function(x, what = c("correlation", "covariance"), ...) {
  check_dots_empty(...)
  what <- check_choice(what, "what", c("correlation", "covariance"))
  if (what == "covariance") return(x$css / (x$n - 1))
  varies <- columns_vary(x)
  out <- x$css / tcrossprod(sqrt(diag(x$css)))
  out[!varies, ] <- out[, !varies] <- NA
  diag(out)[varies] <- 1
  out
}

#' @export
summary.ufs_moments <- whole_summary

#' @export
print.ufs_moments <- function(x, ...) {
  check_dots_empty(...)
  cat_line("<ufs_moments> moments of ",
    format(x$n, big.mark = ",", scientific = FALSE), if (x$n == 1) " row x " else " rows x ",
    count_words(length(x$mean), "feature"), ": ",
    if (isTRUE(x$unit)) "correlations alone" else if (anyNA(x$mean))
      "cross products, means unknown" else "means and cross products",
    if (!is.null(x$pairs)) " of the pairs that are there",
    if (x$dropped > 0) paste0("; ", count_words(x$dropped, "row"), if (is.null(x$pairs))
      " with missing values left out" else " without any value left out"))
  if (!is.null(x$pairs)) {
    share <- x$pairs$n[upper.tri(x$pairs$n, diag = TRUE)] / x$n
    cat_line("  pairs        ", percent(min(share)), " to ", percent(max(share)), " of the rows")
  }
  if (isTRUE(x$repaired > 0)) cat_line("  correlations ", repaired_words(x))
  invisible(x)
}

# How far correlations were moved to be positive semidefinite.
repaired_words <- function(moments) {
  paste0("changed by at most ", format(moments$repaired, digits = 2L),
    if (!is.null(moments$repaired_mean)) {
      paste0(" (", format(moments$repaired_mean, digits = 2L), " in the mean)")
    }, ", to have no negative eigenvalue")
}
