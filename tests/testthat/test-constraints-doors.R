# Functions that take x and are no methods, by every row of the table of constraints: each cell is kept to, which an
# effect shows, or refused with a reason. Costs have one under a budget only. A new row, and a new function that takes x, makes these tests ask.

skip_on_cran()

quietly <- function(code) withr::with_seed(1, suppressMessages(suppressWarnings(code)))
chosen_of <- function(fit) list(suppressMessages(selected_features(fit, 3, as = "index")), fit$feature_scores)

# What each function makes of data; where it needs a fit, of one without constraints. Two forms where it chooses columns
# or rows.
calls_of <- function(x, y = rep(1:3, 10)) {
  list(
    "ufs_moments()" = list(function(d) ufs_moments(d)),
    "ufs_sketch()" = list(function(d) sketch_seen(ufs_sketch(d, 8, "uniform")),
      function(d) sketch_seen(ufs_sketch(d, 8, "leverage", n_vectors = 3)),
      function(d) sketch_seen(ufs_sketch(d, 8, "facility"))),
    "ufs_split()" = list(function(d) ufs_split(d, 5, 3)[c("train", "test")]),
    "ufs_size()" = list(
      function(d) ufs_size(d, "pca", n_components = 2, n_resamples = 2, repeats = 1)[c("curve", "k")]),
    "ufs_decoys()" = list(function(d) ufs_decoys(d, "pca", n_components = 2, repeats = 2)[c("columns", "curve")]),
    "ufs_captured()" = list(function(d) ufs_captured(ufs_css(x, k = 3), d, k = 1:3), function(d) ufs_captured(1:3, d)),
    "representatives()" = list(function(d) representatives(ufs_variance(x, k = 3), d),
      function(d) representatives(ufs_alfs(x, alpha_rel = .2, beta_rel = .05), d)),
    "predict()" = list(function(d) held_by(predict(ufs_css(x, k = 3), d)), function(d) predict(ufs_css(x, k = 3), d,
      type = "reconstruction"), function(d) predict(ufs_jspca(x, 2), d, type = "scores")),
    "ufs_represent()" = list(function(d) ufs_represent(d)$Z),
    "ufs_graph()" = list(function(d) as.matrix(ufs_graph(d, scale = TRUE))),
    "ufs_reliability()" = list(function(d) ufs_reliability(d)$table),
    "ufs_look()" = list(function(d) ufs_look(d)),
    "ufs_compare()" = list(function(d) compared(d, y, "pca", NULL), function(d) compared(d, y, "facility", 5)),
    "ufs_stability()" = list(function(d) ufs_stability(d, "pca", k = 3, n_components = 2, n_resamples = 4)$selected,
      function(d) ufs_stability(d, "facility", m = 5, n_resamples = 4)$sample_frequency),
    "ufs_grid()" = list(function(d) chosen_of(kept_fit(ufs_grid(d, "pca", list(n_components = 2:3), keep_fits = TRUE))),
      function(d) kept_fit(ufs_grid(d, "facility", list(similarity = "cosine"), m = 5, keep_fits = TRUE))$sample_ranking),
    "ufs_tune()" = list(function(d) {
      chosen_of(ufs_tune(d, "spca", k = 3, grid = list(lambda_rel = c(.05, .2)), n_components = 2)$fit)
    }),
    "ufs_select()" = list(function(d) chosen_of(ufs_select(d, k = 3, task = "compress")),
      function(d) selected_samples(ufs_select(d, task = "label", m = 6))),
    "ufs_diversify()" = list(function(d) {
      fit <- ufs_diversify(ufs_variance(x, k = 3), d, k = 3)
      list(chosen_of(fit), fit$certificate)
    }),
    "ufs_propagate()" = list(function(d) ufs_propagate(as.matrix(ufs_graph(x)), c(1, 2, rep(NA, 28)), x = d)),
    "ufs_explore()" = list(function(d) explore_model(ufs_pca(x, 2, k = 3), d, NULL, NULL, list())$x)
  )
}
# What goes on to whom takes the sketch is held by its data.
sketch_seen <- function(s) list(s$index, held_by(s$data))
held_by <- function(data) list(data$x, data$held, data$row_held)
kept_fit <- function(grid) {
  if (is.null(grid$fits[[1L]])) refuse("grid", grid$results$error[1L])
  grid$fits[[1L]]
}
compared <- function(d, y, methods, m) {
  seen <- list()
  show <- list(show = function(x, y, new) {
    seen[[length(seen) + 1L]] <<- list(sort(colnames(x)), round(x, 8))
    rep(y[1L], nrow(new))
  })
  out <- ufs_compare(d, y, methods, k = 3, m = m, repeats = 2, n_random = 2, baselines = FALSE, classifiers = show)
  if (all(nzchar(out$results$error))) refuse("methods", out$results$error[1L])
  list(seen, out$results$seconds * 0)
}

x <- doors_x()

test_that("every exported function that takes x is a method, one that makes data, or has its row", {
  exported <- getNamespaceExports("ufselect")
  takes <- Filter(function(name) "x" %in% names(formals(get(name, asNamespace("ufselect")))), exported)
  # The first make or run methods with what the data hold; each goes to run_fit() or to a function with a row.
  other <- setdiff(takes, c(paste0("ufs_", names(registry())), c("ufs", "ufs_data")))
  expect_setequal(paste0(other, "()"), setdiff(names(doors$rows), c("predict()", "representatives()")))
  expect_setequal(names(calls_of(x)), names(doors$rows))
  calls <- calls_of(x)
  for (door in names(calls)) {
    base <- if (door == "ufs_reliability()") ufs_data(x, replicates = rep(1:15, 2)) else ufs_data(x)
    plain <- lapply(calls[[door]], function(call) quietly(call(base)))
    for (name in names(constraint_rows())) {
      data <- do.call(ufs_data, c(list(base), given_as(name)))
      needs <- constraint_rows()[[name]]$needs[1L]
      less <- if (!is.null(needs)) do.call(ufs_data, c(list(base), given_as(needs)))
      for (i in seq_along(calls[[door]])) {
        about <- paste(door, i, name)
        made <- tryCatch(quietly(calls[[door]][[i]](data)), ufs_error = identity)
        if (inherits(made, "ufs_error")) {
          expect_s3_class(made, "ufs_error_argument")
          expect_match(conditionMessage(made), if (is.null(needs)) name else paste0(name, "|", needs), info = about)
        } else {
          if (name %in% c("cost", "sample_cost")) next
          before <- if (is.null(less)) plain[[i]] else quietly(calls[[door]][[i]](less))
          expect_false(isTRUE(all.equal(made, before)), label = about)
        }
      }
    }
  }
  data <- ufs_data(x)
  declare_constraint("prefer", "rows", "numbers")
  withr::defer(declared$rows[["prefer"]] <- NULL)
  data$row_held$prefer <- rep(1, 30)
  for (door in setdiff(names(doors$rows), "predict()")) {
    expect_error(check_door(data, door), class = "ufs_error_argument", paste("`prefer`:", door), fixed = TRUE)
  }
  for (call in list(ufs_moments, function(d) ufs_captured(1:3, d))) {
    expect_error(quietly(call(data)), class = "ufs_error_argument", "`prefer`: ufs_")
  }
})

test_that("what the fit holds too is no news to functions of the fit", {
  data <- ufs_data(x, include = "c9", exclude = "c1", weights = rep(1:3, each = 10), groups = list(c("c2", "c9")))
  fit <- ufs_pca(data, n_components = 2, k = 3)
  for (same in list(data, x)) {
    captured <- ufs_captured(fit, same)
    # Weights are frequencies: the table of all rows.
    long <- x[rep(1:30, rep(1:3, each = 10)), ]
    expect_equal(captured$captured, ufs_captured(selected_features(fit), long)$captured, tolerance = 1e-10)
    expect_identical(representatives(fit, same), representatives(fit, data))
    expect_identical(unname(as.matrix(predict(fit, same))), unname(x[, selected_features(fit)]))
    expect_s3_class(ufs_diversify(fit, same, k = 3), "ufs_diversify")
  }
  # New rows bring what is theirs along; columns are those of the fit.
  expect_identical(predict(fit, data[1:10, ])$row_held$weights, rep(1, 10))
  expect_error(predict(fit, ufs_data(x, include = "c5")), class = "ufs_error_argument", "`include`: predict\\(\\)")
  # The dummies of a factor belong together wherever they are chosen, and keep nobody from looking.
  table <- data.frame(x, f = factor(rep(c("a", "b", "c"), 10)))
  expect_s3_class(ufs_graph(table, factors = "dummies"), "ufs_graph")
  expect_error(ufs_graph(table, factors = "dummies", groups = rep(1:6, 2)), class = "ufs_error_argument", "`groups`")
})

test_that("sketches and splits choose among the candidates, and quotas hold", {
  for (type in c("uniform", "leverage", "facility")) for (seed in 1:20) {
    rows <- withr::with_seed(seed, ufs_sketch(x, 6, type, candidates = 1:12, labelled = 3:4)$index)
    expect_length(rows, 6L)
    expect_true(all(rows %in% c(1, 2, 5:12)), info = type)
  }
  expect_error(ufs_sketch(x, 11, "uniform", candidates = 1:10), class = "ufs_error_argument", "candidates")
  strata <- rep(c("a", "b"), c(20, 10))
  part <- ufs_sketch(x, 4, "facility", strata = strata, quotas = c(a = 1, b = 3))
  expect_identical(as.vector(table(strata[part$index])), c(1L, 3L))
  expect_identical(sum(part$weights), 30)
  expect_identical(names(part$data$samples), NULL)
  for (seed in 1:5) {
    split <- withr::with_seed(seed, ufs_split(x, 5, 3, candidates = 1:10))
    expect_true(all(c(split$train, split$test) %in% 1:10))
    expect_length(intersect(split$train, split$test), 0L)
  }
  expect_error(ufs_split(x, 9, 3, candidates = 1:10), class = "ufs_error_argument", "candidates")
  # A sample is chosen whole, so all of its rows must be candidates; by an argument or by the data.
  split <- withr::with_seed(1, ufs_split(ufs_data(x, replicates = rep(1:15, 2), candidates = c(1:8, 16:21)), 3, 2))
  expect_true(all(c(split$train, split$test) %in% c(1:6, 16:21)))
  own <- withr::with_seed(1, ufs_split(ufs_data(x, candidates = c(1:8, 16:21)), 3, 2, replicates = rep(1:15, 2)))
  expect_identical(own[c("train", "test")], split[c("train", "test")])
})

test_that("nothing about rows is asked of moments, and weights have one for each row", {
  moments <- ufs_moments(x)
  given <- list(samples = 1:6, rows = "snv", blocks = rep(1:2, 5), weights = 1:10, candidates = 1:3,
    labelled = 1, replicates = 1:10, sample_cost = 1:10, strata = rep(1:2, 5), na = "omit", counts = "log")
  for (name in names(given)) {
    expect_error(do.call(ufs_css, c(list(moments, k = 2), given[name])), class = "ufs_error_argument",
      paste0("`", name, "`"), fixed = TRUE)
    expect_error(do.call(ufs_captured, c(list(1:3, moments), given[name])), class = "ufs_error_argument",
      paste0("`", name, "`"), fixed = TRUE)
  }
  expect_identical(selected_features(ufs_css(moments, k = 2, include = "c9"))[1], "c9")
  weights <- rep(1:3, each = 10)
  right <- ufs_moments(x[rep(1:30, weights), ])
  for (one in list(ufs_moments(x, weights = weights), ufs_moments(ufs_data(x, weights = weights)))) {
    expect_equal(one$css, right$css, tolerance = 1e-12)
    expect_equal(one$n, 60)
  }
  expect_error(ufs_moments(ufs_data(x, weights = weights), weights = weights), class = "ufs_error_argument", "`weights`")
  skip_if_not_installed("Matrix")
  sparse <- Matrix::Matrix(cbind(x, count = weights), sparse = TRUE)
  for (bad in list(1:29, 1:31, 1, "no such column", letters[1:30])) {
    expect_error(ufs_moments(sparse, weights = bad), class = "ufs_error_argument", "`weights`")
  }
  expect_equal(ufs_moments(sparse, weights = "count")$css, right$css, tolerance = 1e-12)
  expect_equal(ufs_moments(sparse[, 1:9], weights = weights)$css, right$css, tolerance = 1e-12)
})

test_that("max_cor is of the columns, whatever rows are seen; strata of rows are a vector or a function of the names", {
  largest <- function(fit, weights = rep(1, 32)) {
    chosen <- suppressMessages(selected_features(fit, 4))
    r <- abs(stats::cov.wt(mtcars[, chosen], weights / sum(weights), cor = TRUE)$cor)
    max(r[upper.tri(r)], 0)
  }
  for (limit in c(.5, .6, .8)) {
    expect_lte(largest(quietly(ufs_topk(mtcars, k = 4, n_clusters = 2, max_cor = limit))), limit + 1e-9)
    expect_lte(largest(quietly(ufs_blfse(mtcars, 2, k = 4, max_cor = limit))), limit + 1e-9)
    expect_lte(largest(ufs_laplacian(mtcars, weights = 1:32, max_cor = limit), 1:32), limit + 1e-9)
  }
  type <- ifelse(mtcars$cyl == 4, "four", "more")
  quotas <- c(more = 1, four = 3)
  fit <- ufs_medoids(mtcars, 4, strata = type, quotas = quotas)
  expect_output(print(fit), "2 strata (more: 1, four: 3)", fixed = TRUE)
  by_name <- ufs_medoids(mtcars, 4, strata = function(names) type[match(names, rownames(mtcars))], quotas = quotas)
  expect_identical(selected_samples(by_name), selected_samples(fit))
  many <- ufs_medoids(mtcars, 12, strata = rep(1:12, length.out = 32))
  expect_output(print(many), "12 strata (1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1, 8: 1, 9: 1, 10: 1, ...)", fixed = TRUE)
})

test_that("`labelled` by place means rows of x, also where some of them are left out", {
  x <- as.matrix(airquality)
  rownames(x) <- NULL
  left <- which(stats::complete.cases(x))
  own <- c(1L, 20L, 47L)
  stopifnot(own %in% left)
  # Row 5 has a missing value.
  flags <- seq_len(nrow(x)) %in% c(5L, own)
  for (labelled in list(c(own, 5L), flags)) {
    for (method in c("medoids", "facility", "ted", "alnr", "rrss", "cur")) {
      m <- if (method != "cur") list(m = 3) else list(rank = 2, m = 3)
      fit <- withr::with_seed(1, do.call(ufs, c(list(x, method, na = "omit", labelled = labelled), m)))
      alone <- withr::with_seed(1, do.call(ufs, c(list(x[left, ], method, labelled = match(own, left)), m)))
      expect_identical(sort(fit$params$labelled), match(own, left), info = method)
      expect_identical(selected_samples(fit), as.character(left[selected_samples(alone)]), info = method)
    }
  }
  expect_identical(ufs_medoids(x, 3, labelled = own, samples = left)$params$labelled, match(own, left))
  held <- ufs_medoids(ufs_data(x, na = "omit", labelled = own), 3)
  expect_identical(selected_samples(held), selected_samples(ufs_medoids(x, 3, na = "omit", labelled = own)))
  picked <- withr::with_seed(1, ufs_select(x, m = 3, task = "label", na = "omit", labelled = own))
  expect_identical(picked$params$labelled, match(own, left))
  expect_match(picked$code, "labelled = c(\"1\", \"20\", \"47\")", fixed = TRUE)
  expect_identical(selected_samples(eval(parse(text = picked$code))), selected_samples(picked))
  grid <- ufs_grid(x, "facility", list(m = 2:3), labelled = own, na = "omit", keep_fits = TRUE)
  expect_identical(grid$fits[[2]]$params$labelled, match(own, left))
})
