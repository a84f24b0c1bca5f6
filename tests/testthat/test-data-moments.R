# Moments of tables in pieces: against cov() and cor(), across pieces and databases.

skip_on_cran()

moments_data <- function(n = 300, p = 6) {
  withr::with_seed(1, {
    x <- matrix(rnorm(n * p), n) %*% matrix(rnorm(p^2), p) + rep(10^(0:(p - 1)), each = n)
    `colnames<-`(x, paste0("v", seq_len(p)))
  })
}
expect_moments <- function(m, x, tolerance = 1e-10) {
  expect_identical(dim(m), as.double(base::dim(x)))
  expect_identical(names(m), colnames(x))
  expect_equal(m$mean, colMeans(x), tolerance = tolerance)
  expect_equal(as.matrix(m, "covariance"), cov(x), tolerance = tolerance)
  expect_equal(as.matrix(m), cor(x), tolerance = tolerance)
}

x <- moments_data(40, 4)
far <- withr::with_seed(4, matrix(rnorm(600), 200, dimnames = list(NULL, letters[1:3])) + 1e6)

test_that("moments are those of cov() and cor(), in one piece and in several", {
  x <- moments_data()
  expect_moments(ufs_moments(x), x)
  expect_moments(ufs_moments(as.data.frame(x)), x)
  parts <- c(ufs_moments(x[1:7, ]), ufs_moments(x[8, , drop = FALSE][c(1, 1), ]), ufs_moments(x[9:300, ]))
  expect_moments(parts, x[c(1:8, 8:300), ])
  expect_moments(c(ufs_moments(x[1:100, ]), ufs_moments(x[101:300, 6:1])), x)
  expect_moments(ufs_moments(x)[, c("v4", "v2")], x[, c(4, 2)])
  expect_output(print(ufs_moments(x)), "300 rows x 6 features")
  expect_equal(own_products(x, flops = 4000), crossprod(x), ignore_attr = TRUE)
})

test_that("counts are rows, rows that lack a value are left out and counted; what cannot be is said in words", {
  counts <- rep(c(0, 1, 2, 5), 10)
  long <- x[rep(seq_len(40), counts), ]
  weighted <- ufs_moments(x, weights = counts)
  expect_equal(as.matrix(weighted, "covariance"), cov(long), tolerance = 1e-12)
  expect_equal(weighted$n, nrow(long))
  expect_equal(ufs_moments(data.frame(x, count = counts), weights = "count"), weighted)
  holes <- x
  holes[3, 2] <- holes[9, 4] <- NA
  m <- ufs_moments(holes)
  expect_identical(m$dropped, 2)
  expect_equal(as.matrix(m), cor(x[-c(3, 9), ]))
  expect_error(ufs_moments(holes, na = "error"), class = "ufs_error_input", "2 rows")
  for (none in list(x[, 0], unname(x)[, 0], as.data.frame(x)[0], iris["Species"])) {
    expect_error(ufs_moments(none), class = "ufs_error_argument", "no numeric column")
  }
  expect_refusals("'v9'" = ufs_moments(x, "v9"), "Not numeric: column 'Species'" = ufs_moments(iris, "Species"),
    "40 numbers" = ufs_moments(x, weights = 1:3), "not negative" = ufs_moments(x, weights = rep(-1, 40)),
    "'v4'" = c(ufs_moments(x), ufs_moments(x[, 1:3])), "Only results" = c(ufs_moments(x), 3),
    "`x` has no column 'none' of weights." = ufs_moments(mtcars, weights = "none"),
    "rows of moments are gone" = ufs_moments(x)[1, ])
  expect_error(ufs_moments(x[1, , drop = FALSE]), class = "ufs_error_input", "fewer than 2")
  x[4, 2] <- Inf
  expect_error(ufs_moments(x), class = "ufs_error_input", "'v2'")
})

test_that("columns without any value are named, whatever is done about missing ones", {
  # Every row lacks a value, but every column has some.
  holes <- x
  holes[1:20, 2] <- holes[21:40, 3] <- NA
  expect_error(ufs_moments(holes), class = "ufs_error_input", "fewer than 2 complete rows")
  # As versions before the first release made them.
  old <- ufs_moments(x)
  old$least <- old$most <- NULL
  for (call in expression(ufs_css(old, k = 2), as.matrix(old), c(old, old), old[, 1:2])) {
    expect_error(eval(call), "saved by an earlier version", class = "ufs_error_input")
  }
  for (size in c(1e-162, 1e-170)) expect_error(ufs_moments(x * size), "too small to be squared", class = "ufs_error_input")
  expect_error(ufs_moments(cov = diag(1e308, 3), n = 40), "too large", class = "ufs_error_input")
  x[, c(2, 4)] <- NA
  for (na in c("omit", "error", "pairwise")) {
    for (own in list(x, as.data.frame(x))) {
      expect_error(ufs_moments(own, na = na), class = "ufs_error_input", "no value at all in columns 'v2', 'v4'")
    }
  }
  expect_identical(seen_columns(seen_columns(NULL, holes[21:40, 1:3]), holes[1:20, 3:1]),
    c(v1 = TRUE, v2 = TRUE, v3 = TRUE))
  expect_identical(seen_columns(seen_columns(NULL, holes[21:40, 1:3]), holes[21:40, 3:1]),
    c(v1 = TRUE, v2 = TRUE, v3 = FALSE))
  connection <- local_sqlite()
  DBI::dbWriteTable(connection, "t", as.data.frame(x))
  table <- database_table(connection, "t", colnames(x), NULL)
  expect_error(moments_by_sql(table), class = "ufs_error_input", "no value at all in columns 'v2', 'v4'")
})

test_that("sparse matrices are read by blocks", {
  skip_if_not_installed("Matrix")
  x <- withr::with_seed(3, as.matrix(Matrix::rsparsematrix(200, 5, .3)))
  colnames(x) <- paste0("v", 1:5)
  withr::local_options(ufselect.block_bytes = 8 * 5 * 32)
  expect_moments(ufs_moments(Matrix::Matrix(x, sparse = TRUE)), x)
  expect_moments(ufs_moments(ufs_data(x)), x)
})

test_that("a table in a database gives the same by fetching and by sums in the engine", {
  connection <- local_sqlite()
  x <- moments_data(120, 5)
  rows <- data.frame(x, count = rep(1:3, 40))
  rows$v2[7] <- NA
  names(rows)[3] <- "v 3"
  DBI::dbWriteTable(connection, "t", rows)
  whole <- x[-7, ]
  colnames(whole)[3] <- "v 3"
  for (where in c("fetch", "database")) {
    m <- ufs_moments(connection, from = "t", columns = colnames(whole), where = where)
    expect_moments(m, whole)
    expect_equal(m$dropped, 1)
    query <- DBI::SQL("SELECT * FROM t WHERE count > 1")
    expect_moments(ufs_moments(connection, from = query, columns = colnames(whole), where = where),
      whole[rows$count[-7] > 1, ])
    counted <- ufs_moments(connection, from = "t", weights = "count", where = where)
    expect_equal(as.matrix(counted), cor(whole[rep(seq_len(119), rows$count[-7]), ]))
  }
  DBI::dbWriteTable(connection, "far", as.data.frame(far))
  for (where in c("fetch", "database")) {
    expect_lt(max(abs(as.matrix(ufs_moments(connection, from = "far", where = where)) - cor(far - 1e6))), 1e-9)
  }
  # More sums than one query takes.
  batches <- 0L
  table <- database_table(connection, "t", colnames(whole), NULL)
  again <- moments_by_sql(table, function(sql) {
    batches <<- batches + 1L
    DBI::dbGetQuery(connection, sql)
  }, batch = 4L)
  expect_moments(again, whole)
  expect_gt(batches, 5L)
  expect_refusals("`from`" = ufs_moments(connection), "'zz'" = ufs_moments(connection, from = "t", columns = "zz"))
  skip_if_not_installed("dbplyr")
  skip_if_not_installed("dplyr")
  tbl <- dplyr::filter(dplyr::tbl(connection, "t"), count > 1)
  for (where in c("fetch", "database")) {
    expect_moments(ufs_moments(tbl, columns = colnames(whole), where = where), whole[rows$count[-7] > 1, ])
  }
})

# A PostgreSQL of its own, on a socket in a folder of its own, which ends with the test; Debian's
# program, and RPostgres or RPostgreSQL.
local_postgres <- function(env = parent.frame()) {
  driver <- Filter(function(name) requireNamespace(name, quietly = TRUE), c("RPostgres", "RPostgreSQL"))
  bin <- utils::tail(sort(Sys.glob("/usr/lib/postgresql/*/bin")), 1L)
  if (!length(driver) || !length(bin)) {
    why <- "PostgreSQL was not tested: it takes the package RPostgres or RPostgreSQL, and a server in /usr/lib/postgresql"
    message(why)
    skip(why)
  }
  folder <- tempfile("ufselect-pg-", "/tmp")
  dir.create(folder)
  root <- identical(unname(Sys.info()["effective_user"]), "root")
  if (root) system2("chown", c("postgres", folder))
  run <- function(program, ...) {
    command <- c(if (root) c("runuser", "-u", "postgres", "--"), file.path(bin, program), "-D", file.path(folder, "data"), ...)
    withr::with_dir("/tmp", system2(command[1L], command[-1L], stdout = FALSE, stderr = FALSE))
  }
  options <- shQuote(sprintf("-k %s -c listen_addresses=''", folder))
  failed <- run("initdb", "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8") ||
    run("pg_ctl", "-w", "-l", file.path(folder, "log"), "-o", options, "start")
  withr::defer({
    run("pg_ctl", "-m", "immediate", "stop")
    unlink(folder, recursive = TRUE)
  }, envir = env)
  if (failed) {
    message("PostgreSQL was not tested: it does not start here")
    skip("PostgreSQL does not start here")
  }
  make <- getExportedValue(driver[1L], if (driver[1L] == "RPostgres") "Postgres" else "PostgreSQL")
  connection <- DBI::dbConnect(make(), host = folder, user = "postgres", dbname = "postgres")
  withr::defer(DBI::dbDisconnect(connection), envir = env)
  connection
}

test_that("PostgreSQL: both ways, halves of two sites, means far from zero, and rows drawn by the engine", {
  skip_processes()
  skip_if_not_installed("DBI")
  connection <- local_postgres()
  x <- moments_data(500, 5)
  rows <- data.frame(x, site = rep(1:2, 250), words = "a")
  rows$v2[7] <- NA
  invisible(DBI::dbWriteTable(connection, "t", rows, row.names = FALSE))
  half <- function(site, where) ufs_moments(connection, colnames(x), where = where,
    from = DBI::SQL(paste("SELECT * FROM t WHERE site =", site)))
  for (where in c("fetch", "database")) {
    whole <- ufs_moments(connection, colnames(x), from = "t", where = where)
    expect_moments(whole, x[-7, ])
    expect_identical(whole$dropped, 1)
    both <- c(half(1, where), half(2, where))
    for (part in c("n", "mean", "css", "dropped")) {
      expect_equal(unclass(both)[[part]], unclass(whole)[[part]], tolerance = 1e-12)
    }
    expect_identical(feature_ranking(ufs_css(both, k = 3)), feature_ranking(ufs_css(whole, k = 3)))
  }
  invisible(DBI::dbWriteTable(connection, "far", as.data.frame(far), row.names = FALSE))
  for (where in c("fetch", "database")) {
    expect_lt(max(abs(as.matrix(ufs_moments(connection, from = "far", where = where)) - cor(far - 1e6))), 1e-9)
  }
  skip_if_not_installed("dbplyr")
  # dbplyr knows no method for the older driver's connections in all of its versions.
  part <- function() tryCatch(withr::with_seed(1, ufs_sketch(dplyr::tbl(connection, "far"), 40)),
    error = function(e) skip(conditionMessage(e)))
  expect_identical(dim(part()), c(40L, 3L))
  expect_identical(as.matrix(part()$data), as.matrix(part()$data))
  expect_identical(anyDuplicated(as.matrix(part()$data)), 0L)
  expect_true(all(round(as.matrix(part()$data), 6) %in% round(far, 6)))
})

test_that("a sketch of a table in a database has rows that the engine drew", {
  skip_if_not_installed("dbplyr")
  skip_if_not_installed("dplyr")
  connection <- local_sqlite()
  DBI::dbWriteTable(connection, "cars", data.frame(mtcars, name = rownames(mtcars)))
  table <- dplyr::tbl(connection, "cars")
  part <- ufs_sketch(table, 12)
  expect_identical(dim(part), c(12L, 11L))
  expect_identical(part$n, 32)
  expect_equal(sum(part$weights), 32)
  drawn <- as.matrix(part$data)
  expect_identical(anyDuplicated(drawn), 0L)
  expect_true(all(do.call(paste, as.data.frame(drawn)) %in% do.call(paste, mtcars)))
  expect_output(print(part), "12 of 32 samples x 11 features.*drawn alike by the database")
  expect_length(selected_features(ufs_kmeans_f(part, 3), k = 2), 2)
  expect_identical(dim(ufs_sketch(dplyr::filter(table, cyl == 4), 5)), c(5L, 11L))
  expect_refusals("uniform" = ufs_sketch(table, 12, "leverage"), ufs_sketch(table, 33))
  expect_error(ufs_data(table), class = "ufs_error_input", "ufs_sketch")
})

test_that("other engines get SQL that they know", {
  skip_if_not_installed("dbplyr")
  skip_if_not_installed("dplyr")
  engines <- list(mssql = dbplyr::simulate_mssql(), snowflake = dbplyr::simulate_snowflake(),
    oracle = dbplyr::simulate_oracle(), postgres = dbplyr::simulate_postgres(), mysql = dbplyr::simulate_mysql(),
    redshift = dbplyr::simulate_redshift(), impala = dbplyr::simulate_impala(), hive = dbplyr::simulate_hive())
  for (engine in names(engines)) {
    table <- dplyr::filter(dbplyr::lazy_frame(a = 1, `b c` = 2, con = engines[[engine]]), a > 1)
    # A simulated one has no other difference to one of a database.
    class(table) <- c("tbl_sql", class(table))
    asked <- character()
    sums <- list(c(5, 4), 4, c(2, 3, 0, 0, 5, 5), c(0, 0, 2, 1, 2))
    found <- database_table(table, NULL, c("a", "b c"), NULL)
    m <- moments_by_sql(found, function(sql) {
      asked <<- c(asked, sql)
      as.data.frame(as.list(sums[[length(asked)]]))
    })
    expect_identical(m$n, 4)
    expect_match(asked[[2L]], "AS e1 FROM (SELECT", fixed = TRUE, info = engine)
    # Plain SQL: sums, the names as dbplyr quotes them (simulated engines before dbplyr 2.4 all alike), and no row
    # without a value.
    expect_match(asked[[3L]], "SUM\\(1.0 \\* [^a-z ]b c[^a-z ]\\) AS e2", info = engine)
    expect_match(asked[[4L]], "IS NOT NULL AND [^a-z ]b c[^a-z ] IS NOT NULL", info = engine)
    expect_false(any(grepl(";|LIMIT|::", asked)))
  }
})

test_that("methods to which moments are enough give for them what they give for the rows", {
  x <- planted(60, 9, seed = 3)$x %*% diag(10^(0:8 / 4)) + rep(c(5, -30, 1e3), 3)[col(matrix(0, 60, 9))]
  x <- cbind(`colnames<-`(x, paste0("c", 1:9)), flat = 3)
  m <- c(ufs_moments(x[1:20, ]), ufs_moments(x[21:60, ]))
  calls <- alist(ufs_variance(), ufs_pca(n_components = 3), ufs_css(k = 4), ufs_css(k = 4, mu_rel = 0, swaps = TRUE),
    ufs_spca(n_components = 2, k = 4), ufs_jspca(n_components = 2, loss = "feature"))
  for (call in calls) for (scale in c(TRUE, FALSE)) {
    one <- suppressWarnings(eval(as.call(c(as.list(call), x = quote(x), scale = scale))))
    two <- suppressWarnings(eval(as.call(c(as.list(call), x = quote(m), scale = scale))))
    expect_identical(two$feature_ranking, one$feature_ranking)
    expect_equal(two$feature_scores, one$feature_scores, tolerance = 1e-8)
    expect_equal(two$certificate, one$certificate, tolerance = 1e-8)
    expect_equal(two$n, 60)
    expect_null(two$solution$scores)
    expect_output(print(two), "60 samples x 10 features")
  }
  constrained <- suppressWarnings(ufs_css(m, k = 3, include = "c9", exclude = "c1", max_cor = .9))
  rows <- suppressWarnings(ufs_css(x, k = 3, include = "c9", exclude = "c1", max_cor = .9))
  expect_identical(constrained$feature_ranking, rows$feature_ranking)
  fit <- suppressWarnings(ufs_css(m, k = 3))
  expect_equal(suppressWarnings(ufs_captured(fit, m)), suppressWarnings(ufs_captured(fit, x)), tolerance = 1e-8)
  expect_equal(suppressWarnings(ufs_captured(c("c1", "c5"), m)), suppressWarnings(ufs_captured(c("c1", "c5"), x)),
    tolerance = 1e-8)
  chosen <- suppressWarnings(ufs_select(m, k = 3))
  expect_identical(chosen$feature_ranking, suppressWarnings(ufs_css(x, k = 3, mu_rel = 0, swaps = TRUE))$feature_ranking)
})

test_that("everything that needs rows refuses moments and says where to get rows", {
  m <- ufs_moments(mtcars)
  for (method in setdiff(subset(ufs_methods(), !moments)$method, "random")) {
    expect_refusals(rows = fit_of(method, m), class = "ufs_error")
  }
  expect_refusals(rows = ufs_jspca(m, 2), rows = ufs_look(m), rows = ufs_size(m, "mcfs", n_clusters = 2),
    rows = ufs_size(m, task = "cluster"), rows = ufs_decoys(m, "pca", n_components = 2), rows = ufs_sketch(m, 5),
    rows = ufs_stability(m, "pca", k = 3, n_components = 2), rows = ufs_grid(m, "pca", list(n_components = 1:2)),
    rows = ufs_graph(m), rows = ufs_data(m), rows = ufs_select(m, k = 3, task = "classify"),
    rows = ufs_select(m, k = 3, task = "cluster"), rows = ufs_select(m, m = 3, task = "label"),
    rows = ufs_compare(m, factor(mtcars$cyl), "pca", k = 2), class = "ufs_error")
})

test_that("an engine that is not SQLite is asked for sums, with the result of the rows", {
  connection <- local_sqlite()
  x <- moments_data(40, 3)
  DBI::dbWriteTable(connection, "t", as.data.frame(x))
  as_it_is <- database_table
  replaced("database_table", function(...) replace(as_it_is(...), "is_sqlite", FALSE))
  for (where in c("database", "fetch")) expect_moments(ufs_moments(connection, from = "t", where = where), x)
})

test_that("columns without names are numbered; no complete row and negative weights are refused in the engine, too", {
  x <- moments_data(40, 3)
  m <- ufs_moments(unname(x))
  expect_identical(names(m), c("V1", "V2", "V3"))
  expect_equal(unname(m$mean), unname(colMeans(x)))
  expect_identical(m[, ], m)
  connection <- local_sqlite()
  DBI::dbWriteTable(connection, "none", data.frame(a = 1, b = 2)[0, ])
  DBI::dbWriteTable(connection, "holes", data.frame(a = c(1, NA, 3), b = c(NA, 4, NA)))
  DBI::dbWriteTable(connection, "t", data.frame(a = 1:4, b = c(2, 4, 4, 1), w = c(1, -1, 1, 1)))
  expect_refused(ufs_moments(connection, from = "none"), "`x` has no rows.", "ufs_error_input")
  as_it_is <- database_table
  replaced("database_table", function(...) replace(as_it_is(...), "is_sqlite", FALSE))
  expect_refused(ufs_moments(connection, from = "holes", where = "database"),
    "The table has no complete row.", "ufs_error_input")
  expect_refused(ufs_moments(connection, columns = c("a", "b"), weights = "w", from = "t",
    where = "database"), "`weights` must be finite and not negative.")
})

test_that("moments: other numbers are numbers, no digits lost far from zero, constant columns those of rows", {
  x <- data.frame(a = 1:5, t = as.difftime(1:5, units = "mins"), l = c(TRUE, FALSE, TRUE, FALSE, FALSE))
  x$a <- as_integer64(1:5)
  x$q <- structure(c(1, 2, 2, 99, 1), labels = c(low = 1, high = 2), na_values = 99, class = c("haven_labelled_spss", "haven_labelled"))
  expect_identical(ufs_moments(x[1:3])$mean, c(a = 3, t = 3, l = .4))
  expect_identical(ufs_moments(x)$n, 4)
  expect_message(m <- ufs_moments(iris), "'Species'")
  expect_identical(dim(m), c(150, 4))
  expect_error(ufs_moments(data.frame(a = c("1", "2", "x", "4"), b = 1:4)), class = "ufs_error_input", "'x' in row 3")
  x <- withr::with_seed(1, cbind(us = 1.6e15 + sample(0:9000, 1e4, TRUE), v = rnorm(1e4)))
  near <- var(x[, 1] - 1.6e15)
  m <- ufs_moments(x)
  expect_lt(abs(feature_scores(ufs_variance(m, scale = FALSE))[[1]] / near - 1), 1e-9)
  expect_lt(abs(as.matrix(m, "covariance")[1, 1] / near - 1), 1e-12)
  far <- withr::with_seed(2, matrix(rnorm(6150), 2050, dimnames = list(NULL, letters[1:3]))) + 1e8
  parts <- Reduce(c, lapply(split(1:2050, rep(1:41, each = 50)), function(i) ufs_moments(far[i, ])))
  expect_lt(max(abs(as.matrix(parts) - cor(far - 1e8))), 1e-14)
  flat <- cbind(a = 1e8 * (1 + c(0, 1, 0, 1, 0) * .Machine$double.eps), b = 1:5, c = c(2, 1, 4, 3, 5))
  expect_identical(suppressWarnings(ufs_variance(ufs_moments(flat)))$constant, suppressWarnings(ufs_variance(flat))$constant)
})

test_that("a database: text is an error both ways, weights and columns are checked, nothing stays open", {
  connection <- local_sqlite()
  DBI::dbWriteTable(connection, "t", data.frame(a = c("1", "2", "x", "4", "x"), b = 1:5, w = -1))
  DBI::dbWriteTable(connection, "n", data.frame(name = letters[1:5], b = c(1, 2, 4, 3, 9)))
  for (where in c("fetch", "database")) {
    expect_error(ufs_moments(connection, from = "t", where = where), class = "ufs_error_input", "'a'.*'x' in row 3")
    expect_refusals("not negative" = ufs_moments(connection, "b", "w", from = "t", where = where),
      distinct = ufs_moments(connection, c("b", "b"), from = "t", where = where),
      distinct = ufs_moments(connection, character(), from = "t", where = where))
    expect_message(m <- ufs_moments(connection, from = "n", where = where), "'name'")
    expect_equal(m$mean, c(b = 3.8))
  }
  expect_refused(ufs_moments(connection, "b", 1:3, from = "t"), "`weights` must be the name of a column of the table.")
  # A result that was left open would stop this with a warning.
  expect_silent(DBI::dbGetQuery(connection, "SELECT 1"))
})

test_that("SQLite: each value counts as it is stored, whatever type the first one had", {
  connection <- local_sqlite()
  ask <- function(sql) DBI::dbExecute(connection, sql)
  ask("CREATE TABLE t (a, b, c REAL)")
  # Below an integer of 64 bits RSQLite takes 2.5 for 2.
  ask("INSERT INTO t VALUES (1, 5000000000, NULL), (2.5, 2.5, NULL), (4, 3, NULL), (NULL, 1, 2), (7, 1.75, 8)")
  ask("CREATE VIEW v AS SELECT * FROM t")
  x <- cbind(a = c(1, 2.5, 4, 7), b = c(5e9, 2.5, 3, 1.75))
  y <- cbind(b = c(1, 1.75), c = c(2, 8))
  # So does a column that is empty in the pieces before.
  as_it_is <- query_pieces
  replaced("query_pieces", function(table, held, rows = 2L) as_it_is(table, held, 2L))
  for (where in c("fetch", "database")) for (from in c("t", "v")) {
    m <- expect_silent(ufs_moments(connection, c("a", "b"), from = from, where = where))
    expect_equal(m$mean, colMeans(x), tolerance = 1e-14)
    expect_equal(as.matrix(m, "covariance"), cov(x), tolerance = 1e-14)
    m <- ufs_moments(connection, c("b", "c"), from = from, where = where)
    expect_equal(as.matrix(m, "covariance"), cov(y), tolerance = 1e-14)
  }
})

test_that("SQLite: text and blobs anywhere below numbers are an error, large whole numbers a warning", {
  connection <- local_sqlite()
  put <- function(last) {
    rows <- paste0("(", 1:1500, ", ", 1:1500 %% 7, ")", collapse = ", ")
    DBI::dbExecute(connection, "DROP TABLE IF EXISTS t")
    DBI::dbExecute(connection, "CREATE TABLE t (a, b)")
    DBI::dbExecute(connection, paste0("INSERT INTO t VALUES ", rows, ", (3, ", last, ")"))
  }
  for (where in c("fetch", "database")) {
    for (odd in c("'x'", "'12'", "x'31'", "9e999")) {
      put(odd)
      expect_refusals("Text, or infinite values, in column 'b'" = ufs_moments(connection, from = "t", where = where),
        "in column 'b'" = ufs_moments(connection, "a", "b", from = "t", where = where))
    }
    put("9007199254740995")
    expect_warning(ufs_moments(connection, from = "t", where = where), "'b'", class = "ufs_warning_digits")
  }
  expect_silent(DBI::dbGetQuery(connection, "SELECT 1"))
})

# A function that gives the pieces of a table, one at each call.
pieces_of <- function(parts) {
  at <- 0L
  function() {
    at <<- at + 1L
    if (at <= length(parts)) parts[[at]]
  }
}

test_that("a function gives the rows in pieces, by name and in any order", {
  x <- moments_data(90, 4)
  turned <- list(x[1:50, ], x[51:51, 4:1, drop = FALSE], x[52:90, c(2, 1, 3, 4)])
  expect_moments(ufs_moments(pieces_of(turned)), x)
  named <- lapply(turned, function(part) data.frame(part, word = "w", w = 2))
  expect_message(m <- ufs_moments(pieces_of(named), weights = "w"), "'word'", class = "ufs_message_columns")
  expect_equal(m$n, 180)
  expect_equal(as.matrix(m), cor(x), tolerance = 1e-10)
  expect_moments(ufs_moments(pieces_of(named), colnames(x)), x)
  holes <- replace(x, cbind(c(3, 60), c(2, 4)), NA)
  expect_equal(as.matrix(ufs_moments(pieces_of(list(holes[1:30, ], holes[31:90, ])), na = "pairwise")),
    as.matrix(ufs_moments(holes, na = "pairwise")), tolerance = 1e-12)
  late <- list(data.frame(a = c(1, 4), b = NA), data.frame(a = c(2, 9, 3), b = c(1, 2, 4)))
  expect_identical(ufs_moments(pieces_of(late))$dropped, 2)
  expect_refused(ufs_moments(pieces_of(list())), "`x` has no rows.", "ufs_error_input")
  expect_refusals("'b'" = ufs_moments(pieces_of(list(late[[2]], late[[2]]["a"]))),
    "Not numeric: column 'b'" = ufs_moments(pieces_of(list(late[[2]], data.frame(a = 1:2, b = c("x", "y"))))),
    "must give a matrix or data frame at each call" = ufs_moments(function() 1:3),
    "a function without arguments" = ufs_moments(function(at) at),
    "name of a column of what the function" = ufs_moments(pieces_of(late), weights = c(1, 1)))
})

test_that("text files are read by others: the error is code that reads them, whole and in pieces", {
  skip_if_not_installed("data.table")
  x <- moments_data(90, 4)
  file <- withr::local_tempfile(fileext = ".csv")
  utils::write.csv(data.frame(x, word = "w"), file, row.names = FALSE)
  said <- conditionMessage(expect_error(ufs_moments(file), class = "ufs_error_argument"))
  code <- grep("^  ", strsplit(said, "\n")[[1L]], value = TRUE)
  expect_length(code, 3L)
  whole <- suppressMessages(eval(parse(text = code[1L])))
  expect_moments(whole, x, 1e-9)
  own <- new.env()
  m <- suppressMessages(eval(parse(text = sub("1e5", "25", code, fixed = TRUE)[2:3]), own))
  close(own$rows)
  expect_equal(m, whole)
  for (ending in c("tsv", "txt", "tab", "csv.gz")) expect_refused(ufs_moments(paste0("a.", ending)), "data.table::fread(")
  expect_refused(ufs_moments("a.parquet"), "arrow::read_parquet(file)")
  expect_refused(ufs_moments(c("a.csv", "b.csv")), "fread(\"a.csv\")")
})

test_that("extreme scales prove what the rows prove, for moments and for rows with weights", {
  x <- withr::with_seed(1, scale(matrix(rnorm(200), 20, dimnames = list(NULL, letters[1:10]))))
  fit <- function(x, ...) ufs_css(x, k = 3, mu_rel = 0, scale = FALSE, optimal = TRUE, ...)
  weights <- rep(1:2, 10)
  right <- fit(x)
  weighted <- fit(x, weights = weights)
  expect_identical(selected_features(right), c("j", "a", "i"))
  for (times in 2^c(-400, -300, -266, 0, 266, 332)) {
    own <- fit(ufs_moments(x * times))
    expect_identical(selected_features(own), selected_features(right), info = times)
    expect_equal(own$certificate, right$certificate, tolerance = 1e-8, info = times)
    own <- fit(x * times, weights = weights)
    expect_identical(selected_features(own), selected_features(weighted), info = times)
    expect_equal(own$certificate, weighted$certificate, tolerance = 1e-8, info = times)
  }
})

test_that("rows that stand for moments have these moments, equal columns and numbers of rows", {
  x <- withr::with_seed(3, cbind(id = sample(60), a = rnorm(60), b = 1e6 + rnorm(60), n = rpois(60, 90)))
  x <- cbind(x, copy = x[, "a"], sum = x[, "a"] + x[, "b"], flat = 7)
  like <- rows_like(ufs_moments(x))
  expect_identical(like$stands_for, 60)
  z <- as.matrix(like)
  at <- c("a", "b", "copy", "sum")
  expect_equal(unname(cov(z)[at, at]), unname(cov(x)[at, at]), tolerance = 1e-8)
  expect_equal(colMeans(z)[at], colMeans(x)[at], tolerance = 1e-10)
  expect_setequal(z[, "id"], 1:60)
  expect_identical(z[, "copy"], z[, "a"])
  expect_true(all(z[, "n"] == round(z[, "n"]) & z[, "n"] >= min(x[, "n"]) & z[, "n"] <= max(x[, "n"])))
  expect_true(all(z[, "flat"] == 7))
  expect_gt(cor(z[, "n"], z[, "a"]) * cor(x[, "n"], x[, "a"]), 0)
  # More rows than are drawn, and fewer than columns.
  long <- ufs_moments(withr::with_seed(4, matrix(rnorm(9000), 3000, dimnames = list(NULL, letters[1:3])) %*% matrix(1:9, 3)))
  expect_identical(dim(rows_like(long)), c(1000L, 3L))
  expect_equal(cor(as.matrix(rows_like(long))), as.matrix(long), tolerance = .1, ignore_attr = TRUE)
  wide <- ufs_moments(withr::with_seed(5, matrix(rnorm(80), 8, dimnames = list(NULL, letters[1:10]))))
  expect_equal(cor(as.matrix(rows_like(wide))), as.matrix(wide), tolerance = 1e-6, ignore_attr = TRUE)
})

test_that("a choice from moments is one of ufs_select(): code that runs, checks and constraints as by rows", {
  x <- withr::with_seed(3, data.frame(order_id = sample(1000:9000, 300), a = rnorm(300), b = rnorm(300), e = rnorm(300)))
  x$c <- x$a
  x$d <- x$a + x$b + withr::with_seed(4, rnorm(300))
  m <- ufs_moments(x)
  own <- withr::with_seed(1, suppressMessages(ufs_select(m, k = 3)))
  rows <- withr::with_seed(1, suppressMessages(ufs_select(x, k = 3)))
  expect_identical(class(own), class(rows))
  expect_identical(selected_features(own), selected_features(rows))
  expect_equal(own$look[c("n", "p", "equal", "constant", "doubts")], rows$look[c("n", "p", "equal", "constant", "doubts")])
  expect_match(own$checks, "'order_id'", all = FALSE)
  expect_identical(selected_features(eval(parse(text = own$code))), selected_features(own))
  expect_equal(own$worth$captured[1], rows$worth$captured[1], tolerance = 1e-8)
  expect_output(print(own), "300 samples x 6 features .1 copy of another.")
  constrained <- suppressMessages(ufs_select(m, k = 3, include = "b", exclude = "order_id"))
  expect_true("b" %in% selected_features(constrained))
  expect_false("order_id" %in% selected_features(constrained))
  expect_match(constrained$code, "include = \"b\"", fixed = TRUE)
  expect_true("price" %in% names(constrained))
  expect_lte(length(selected_features(suppressMessages(ufs_select(m, cost = rep(2, 6), budget = 6)))), 3)
  expect_error(ufs_select(m, k = 3, weights = rep(1, 300)), class = "ufs_error_argument")
})

test_that("how many columns is told from moments where n is known", {
  x <- withr::with_seed(1, {
    z <- matrix(rnorm(400 * 3), 400)
    `colnames<-`(cbind(z[, rep(1:3, 4)] + .3 * rnorm(4800), matrix(rnorm(400 * 8), 400)), paste0("v", 1:20))
  })
  m <- ufs_moments(x)
  of <- function(x) {
    withr::with_seed(1, ufs_size(x, "pca", n_components = 3, repeats = 3, n_resamples = 2))[c("n", "p", "k", "verdict")]
  }
  expect_identical(of(m)[c("n", "p", "verdict")], list(n = 400, p = 20L, verdict = of(x)$verdict))
  expect_lte(abs(of(m)$k - of(x)$k), 1)
  task <- ufs_size(m, task = "compress")
  expect_identical(task$n, 400)
  expect_identical(suppressMessages(withr::with_seed(1, ufs_select(m, "auto")))$size, task$k)
  expect_lte(abs(task$k - ufs_size(x, task = "compress")$k), 2)
  fit <- withr::with_seed(1, suppressMessages(ufs_pca(m, 3, k = "auto")))
  expect_length(selected_features(fit), withr::with_seed(1, ufs_size(m, "pca", n_components = 3))$k)
})
