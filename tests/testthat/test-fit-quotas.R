# Quotas of columns: choices are what enumeration of all sets finds, beside every other constraint.

quota_parts <- c("speed", "engine", "engine", "engine", "gears", "body", "speed", "engine", "gears", "gears", "engine")
many <- list(engine = c(2, 3), speed = c(1, Inf), gears = 1)

# All sets of k of p columns that keep to the constraints, as a list. What must be in may be near to each other, and so may
# members of a group, which is taken whole.
allowed_sets <- function(x, k, asked) {
  near <- abs(cor(x)) > (if (is.null(asked$max_cor)) 1 else asked$max_cor) + 1e-12
  within <- c(asked$groups, list(c(asked$include, unlist(Filter(function(g) any(g %in% asked$include), asked$groups)))))
  for (at in within) near[at, at] <- FALSE
  diag(near) <- FALSE
  Filter(function(set) {
    have <- tabulate(asked$level[set], nrow(asked$quota))
    all(have >= asked$quota[, 1]) && all(have <= asked$quota[, 2]) && all(asked$include %in% set) &&
      !any(asked$exclude %in% set) && (is.null(asked$budget) || sum(asked$cost[set]) <= asked$budget + 1e-9) &&
      !any(near[set, set]) && all(vapply(asked$groups, function(g) sum(g %in% set) %in% c(0, length(g)), NA))
  }, utils::combn(ncol(x), k, simplify = FALSE))
}

# A random problem of p columns: quotas, and one of the other constraints (or two, of a list).
quota_case <- function(seed, p = 8L, other = c("none", "include", "exclude", "budget", "groups", "max_cor")) {
  withr::with_seed(seed, {
    x <- matrix(rnorm(20 * p), 20) %*% (diag(p) + .5 * matrix(rnorm(p * p), p))
    level <- sample(c(1:3, 1:3, NA), p, TRUE)
    have <- tabulate(level, 3)
    least <- vapply(pmin(have, 2L), function(n) sample.int(n + 1L, 1L) - 1L, 0L)
    quota <- cbind(least, ifelse(runif(3) < .3, Inf, least + sample(0:2, 3, TRUE)))
    asked <- list(level = level, quota = quota)
    other <- other[[seed %% length(other) + 1L]]
    if ("include" %in% other) asked$include <- sample.int(p, 2)
    if ("exclude" %in% other) asked$exclude <- sample(setdiff(seq_len(p), asked$include), 2)
    if ("budget" %in% other) asked[c("cost", "budget")] <- list(sample(1:5, p, TRUE), sample(6:15, 1))
    if ("groups" %in% other) asked$groups <- split(sample.int(p)[1:4], c(1, 1, 2, 2))[seq_along(other)]
    if ("max_cor" %in% other) asked$max_cor <- runif(1, .2, .8)
    there <- which(have > 0)
    arguments <- c(list(x = x, feature_strata = c("a", "b", "c")[level],
      feature_quotas = stats::setNames(lapply(there, function(l) quota[l, ]), c("a", "b", "c")[there])),
      asked[intersect(names(asked), c("include", "exclude", "cost", "budget", "groups", "max_cor"))])
    list(x = x, asked = asked, other = paste(other, collapse = "+"), arguments = arguments)
  })
}

test_that("rankings choose sets that quotas and another constraint allow", {
  for (seed in seq_len(if (on_cran()) 6L else 60L)) {
    case <- quota_case(seed)
    sizes <- Filter(function(k) length(allowed_sets(case$x, k, case$asked)) > 0, seq_len(ncol(case$x)))
    data <- tryCatch(do.call(ufs_data, case$arguments), ufs_error_argument = identity)
    if (!length(sizes)) next
    expect_s3_class(data, "ufs_data")
    fit <- quietly(ufs_variance(data))
    for (k in sizes) {
      set <- suppressMessages(selected_features(fit, k, as = "index", budget = case$asked$budget))
      about <- paste(seed, case$other, k)
      # Under a budget, groups and max_cor a walk may end with fewer than there could be.
      if (case$other %in% c("none", "include", "exclude")) expect_length(set, k) else expect_lte(length(set), k)
      expect_true(any(vapply(allowed_sets(case$x, length(set), case$asked), setequal, NA, set)), info = about)
    }
  }
  score <- 11:1
  pick <- function(k, quota, ...) {
    asked <- list(feature_strata = ufs_data(mtcars, feature_strata = quota_parts, feature_quotas = quota)$held$feature_strata, ...)
    fit <- rank_features(list(feature_scores = score, constraints = list(features = asked)))
    choose_best(fit, "feature", k, asked$budget)
  }
  expect_identical(pick(4, list(engine = c(0, 2))), c(1L, 2L, 3L, 5L))
  expect_identical(pick(4, list(gears = 2)), c(1L, 2L, 5L, 9L))
  expect_identical(pick(3, list(gears = c(1, Inf), body = 1)), c(1L, 5L, 6L))
  expect_identical(pick(4, list(body = 1), include = 11L), c(11L, 1L, 2L, 6L))
  # The money for the body is kept: nothing but the cheapest goes beside it.
  expect_identical(pick(3, list(body = 1), cost = c(3, 3, 3, 1, 3, 3, 3, 3, 3, 3, 3), budget = 5), c(4L, 6L))
  expect_identical(as.vector(table(quota_parts[pick(6, NULL)])), c(3L, 2L, 1L))
  named <- stats::setNames(quota_parts, names(mtcars))
  held <- function(strata, quota = many) {
    ufs_data(mtcars, feature_strata = strata, feature_quotas = quota)$held$feature_strata
  }
  expect_identical(held(quota_parts), held(rev(named)))
  expect_identical(held(quota_parts), held(function(names) named[names]))
  expect_identical(held(factor(quota_parts)), held(quota_parts))
  expect_identical(held(replace(quota_parts, 6, NA))$level[6], NA_integer_)
  expect_identical(held(quota_parts, 1)$quota, held(quota_parts, c(speed = 1, engine = 1, gears = 1, body = 1))$quota)
  expect_identical(held(quota_parts, c(1, Inf))$quota, cbind(least = rep(1, 4), most = rep(Inf, 4)))
  expect_identical(held(replace(quota_parts, 6, NA), NULL)$level[6], NA_integer_)
})

test_that("impossible quotas are errors that say what does not fit", {
  no <- function(..., why) expect_error(ufs_data(mtcars, feature_strata = quota_parts, ...), class = "ufs_error_argument", why)
  no(feature_quotas = list(engine = 6), why = "6 columns of 'engine', of which 5 may be chosen")
  no(feature_quotas = list(body = 1), exclude = "wt", why = "1 column of 'body', of which 0 may")
  no(feature_quotas = c(engine = 1), include = c("cyl", "hp"), why = "allows 1 column of 'engine', but 2 must be in")
  no(feature_quotas = c(engin = 1), why = "'engin', which no column has")
  no(feature_quotas = list(engine = c(3, 2)), why = "of engine is c\\(3, 2\\)")
  for (bad in list(-1, .5, NA, "a", 1:3, Inf)) no(feature_quotas = list(engine = bad), why = "of engine is")
  no(feature_quotas = list(2, 3), why = "has no names")
  no(feature_quotas = c(engine = 1, engine = 2), why = "twice")
  expect_error(ufs_data(mtcars, feature_strata = 1:3), class = "ufs_error_argument", "11 values")
  data <- ufs_data(mtcars, feature_strata = quota_parts, feature_quotas = many)
  for (fit in list(function(k) ufs_pca(data, 2, k = k), function(k) selected_features(ufs_variance(data), k),
    function(k) ufs_css(data, k = k))) {
    expect_error(fit(3), class = "ufs_error_argument", "`k` is 3, but `feature_quotas` asks for at least 4 columns")
    expect_error(fit(8), class = "ufs_error_argument", "`k` is 8, but `feature_quotas` allows at most 7 columns")
  }
  exact <- ufs_data(mtcars, feature_strata = quota_parts, feature_quotas = 1)
  expect_error(ufs_variance(exact, k = 9), "at most .*; one number is exact, c[(]2, Inf[)] is at least two")
  flat <- replace(mtcars, c("cyl", "disp", "hp", "vs"), 1)
  expect_error(suppressWarnings(ufs_variance(flat, feature_strata = quota_parts, feature_quotas = many)),
    class = "ufs_error_argument", "of which 1 may be chosen")
  expect_error(ufs_variance(mtcars, feature_strata = quota_parts, feature_quotas = list(speed = 2), max_cor = .1),
    class = "ufs_error_argument", "No choice meets `feature_quotas` with `max_cor`")
  # The columns of a group fill one stratum beyond its quota, and the other has no other column.
  expect_error(ufs_variance(mtcars, feature_strata = quota_parts, feature_quotas = list(body = 1, gears = 1),
    groups = list(c("wt", "drat", "am"))), class = "ufs_error_argument", "No choice.* with `groups`")
})

test_that("css keeps to quotas and two more constraints in all of its forms; a proved choice is the best of all sets", {
  cases <- if (on_cran()) 6L else 24L
  pairs <- c(utils::combn(c("include", "exclude", "budget", "groups", "max_cor"), 2, simplify = FALSE), "groups", "none")
  proved <- 0L
  for (seed in seq_len(cases)) {
    case <- quota_case(seed, p = 8L, pairs)
    z <- scale(case$x)
    held <- function(set) sum(qr.fitted(qr(z[, set, drop = FALSE]), z)^2) / sum(z^2)
    sets <- lapply(seq_len(8), function(k) allowed_sets(case$x, k, case$asked))
    best <- vapply(sets, function(all) max(-Inf, vapply(all, held, 0)), 0)
    for (k in which(is.finite(best))) for (form in c("picks", "starts", "optimal")) {
      if (form == "optimal" && grepl("groups", case$other)) next
      more <- switch(form, picks = list(), starts = list(starts = 4), optimal = list(optimal = TRUE))
      fit <- withr::with_seed(1, suppressMessages(do.call(ufs_css, c(case$arguments, k = k, more))))
      set <- unname(fit$solution$order)
      about <- paste(seed, case$other, k, form)
      expect_lte(length(set), k)
      expect_true(any(vapply(sets[[length(set)]], setequal, NA, set)), info = about)
      expect_setequal(suppressMessages(selected_features(fit, k, as = "index", budget = case$asked$budget)), set)
      expect_identical(fit$constraints$features$by[["feature_strata"]], "solver")
      if (form == "optimal") {
        proved <- proved + 1L
        expect_equal(held(set), max(best[seq_len(k)]), tolerance = 1e-9, info = about)
        expect_identical(fit$certificate[["optimal"]], 1)
      }
    }
  }
  expect_gt(proved, cases)
  skip_if_not_installed("Matrix")
  x <- withr::with_seed(2, round(matrix(rexp(60 * 30), 60) * rbinom(1800, 1, .3), 2))
  strata <- rep(c("a", "b", "c"), c(5, 10, 15))
  quotas <- list(a = 4, b = c(1, 2), c = c(0, 3))
  counts <- function(fit) as.vector(table(factor(strata[fit$solution$order], c("a", "b", "c"))))
  fits <- list(ufs_css(x, k = 8, feature_strata = strata, feature_quotas = quotas),
    ufs_css(t(x)[, 1:30], k = 8, feature_strata = strata, feature_quotas = quotas),
    ufs_css(x[1:12, ], k = 8, feature_strata = strata, feature_quotas = quotas, swaps = TRUE),
    withr::with_options(list(ufselect.max_bytes = 2e5), ufs_css(Matrix::Matrix(x, sparse = TRUE), k = 8,
      feature_strata = strata, feature_quotas = quotas)))
  for (fit in fits) expect_true(counts(fit)[1] == 4 && counts(fit)[2] %in% 1:2 && counts(fit)[3] <= 3)
  # The rest of `a` are copies of columns that are in: they add nothing, and are taken all the same.
  x[, 2:5] <- x[, 6]
  for (more in list(list(), list(starts = 3), list(optimal = TRUE))) {
    fit <- withr::with_seed(1, suppressMessages(do.call(ufs_css, c(list(x[, 1:9], k = 6, feature_strata = strata[1:9],
      feature_quotas = list(a = c(3, 4), b = c(1, Inf))), more))))
    expect_gte(counts(fit)[1], 3L)
  }
  expect_error(ufs_css(x[, 6:30], k = 6, feature_strata = strata[6:30], feature_quotas = list(b = 2), budget = 3,
    cost = rep(2, 25)), class = "ufs_error_argument", "`feature_quotas` with the budget of 3")
  expect_identical(selected_features(ufs_css(mtcars[c(2, 10, 11, 3)], 2, scale = FALSE, cost = c(5, 5, 1, 4), budget = 5,
    feature_strata = c("a", "a", "a", "b"), feature_quotas = c(a = 1))), c("disp", "carb"))
})

test_that("ufs_topk() claims nothing of a set that the ranking changed", {
  run <- function(...) withr::with_seed(1, ufs_topk(mtcars, k = 3, n_clusters = 2, ...))
  free <- run()
  expect_true(is.finite(free$certificate[["gap"]]))
  fit <- run(groups = list(c(free$solution$selected[1], setdiff(1:11, free$solution$selected)[1])))
  expect_false(setequal(selected_features(fit, as = "index"), free$solution$selected))
  expect_true(is.na(fit$certificate[["gap"]]))
  expect_false(fit$search$proved)
  expect_match(capture.output(print(fit)), "no proof", all = FALSE)
})

test_that("top-k under quotas: the best set of enumeration, proved, and a bound for all of them", {
  skip_on_cran()
  fits <- moved <- 0L
  for (seed in 1:14) {
    case <- quota_case(seed, p = 8L, other = c("none", "include", "exclude", "budget"))
    y <- withr::with_seed(seed, sample(c(1:3, sample(3L, 17L, TRUE))))
    z <- unit_rows(scale(case$x))
    b <- crossprod(z, outer(y, 1:3, `==`) + 0)
    criterion <- function(s) 20 - sum(b[s, ] * solve(crossprod(z)[s, s] + .01 * diag(length(s)), b[s, , drop = FALSE]))
    for (k in 1:7) {
      sets <- allowed_sets(case$x, k, case$asked)
      about <- paste(seed, case$other, k)
      run <- function(solver, ...) suppressMessages(do.call(ufs_topk, c(case$arguments, list(k = k, y = factor(y),
        solver = solver, control = ufs_control(warn = FALSE, paper = list(...))))))
      if (!length(sets)) {
        if (k > 8L - length(case$asked$exclude)) next
        expect_error(run("exact"), class = "ufs_error_argument")
        next
      }
      best <- min(vapply(sets, criterion, 0))
      for (solver in c("exact", "paper")) for (proved in c(TRUE, FALSE)) {
        fit <- run(solver, branch_and_bound = proved, polish = !proved || solver == "paper")
        set <- unname(fit$solution$selected)
        expect_true(any(vapply(sets, setequal, NA, set)), info = about)
        expect_setequal(selected_features(fit, as = "index"), set)
        expect_equal(fit$certificate[["selection_objective"]], criterion(set), tolerance = 1e-8)
        expect_lte(fit$certificate[["bound"]], best + 1e-8)
        if (proved) {
          expect_true(fit$search$proved)
          expect_equal(criterion(set), best, tolerance = 1e-8, info = about)
        }
        fits <- fits + 1L
      }
      moved <- moved + (min(utils::combn(8, k, criterion)) < best - 1e-6)
    }
    expect_identical(fit$constraints$features$by[["feature_strata"]], "solver")
  }
  expect_gt(moved, fits / 20)
})

test_that("top-k keeps to quotas in its other forms, and knows that most sets are not allowed", {
  x <- as.matrix(mtcars)
  quota <- list(engine = 1, gears = 2)
  y <- mtcars$cyl
  run <- function(...) suppressMessages(ufs_topk(x, 4, ..., control = ufs_control(warn = FALSE)))
  counts <- function(fit) as.vector(table(factor(quota_parts[fit$solution$selected], c("engine", "gears"))))
  for (solver in c("paper", "exact", "admm")) {
    fit <- run(n_clusters = 3, alpha_e = 20, solver = solver, feature_strata = quota_parts, feature_quotas = quota)
    expect_identical(counts(fit), 1:2)
    expect_true(is.finite(fit$certificate[["gap"]]))
    some <- run(y = replace(y, 1:20 * 1.5, NA), alpha_e = 20, solver = solver, feature_strata = quota_parts,
      feature_quotas = quota)
    expect_identical(counts(some), 1:2)
  }
  held <- run(y = y, feature_strata = quota_parts, feature_quotas = quota)
  expect_gt(held$certificate[["bound"]], run(y = y)$certificate[["bound"]] + 1e-3)
  # In proportion, without quotas: no stratum has more than its share.
  shares <- run(y = y, feature_strata = quota_parts)
  expect_true(all(table(quota_parts[shares$solution$selected]) <= c(body = 1, engine = 2, gears = 1, speed = 1)[
    names(table(quota_parts[shares$solution$selected]))]))
  twin <- cbind(x, x[, "gear"], x[, "gear"])
  parts <- c(quota_parts, "new", "new")
  fit <- run <- suppressMessages(ufs_topk(twin, 4, y = y, feature_strata = parts, feature_quotas = c(new = 2),
    control = ufs_control(warn = FALSE)))
  expect_setequal(intersect(fit$solution$selected, 10:13), c(intersect(fit$solution$selected, 10:11), 12:13))
  expect_error(ufs_topk(x, 3, y = y, feature_strata = quota_parts, feature_quotas = c(engine = 2), cost = 1:11, budget = 5),
    class = "ufs_error_argument", "within the quotas")
})

test_that("base clusterings are on columns that quotas allow; a search ends where there is no room or no try is left", {
  one <- rep(1:2, each = 10)
  two <- rep(1:2, 10)
  x <- withr::with_seed(1, cbind(one, one, two, two) * 9 + rnorm(80))
  colnames(x) <- NULL
  scores <- rbind(4:1, c(4, 4, 1, 1), c(4, 3, 2, 2)) + 0
  labels <- function(...) {
    fit <- withr::with_seed(1, ufs_blfse(x, 2, 2, scores = scores, scale = FALSE, ..., control = ufs_control(warn = FALSE)))
    unique(apply(fit$solution$labels, 2, canonical_labels), MARGIN = 2)
  }
  expect_equal(labels(), cbind(one), ignore_attr = TRUE)
  expect_equal(labels(feature_strata = c("a", "a", "b", "b"), feature_quotas = c(b = 2)), cbind(two), ignore_attr = TRUE)
  expect_equal(labels(exclude = 1:2), cbind(two), ignore_attr = TRUE)
  expect_error(labels(groups = list(1:3), exclude = 4), class = "ufs_error_argument")
  walk <- list(least = c(1, 1), most = c(2, 2), level = c(1, 2, 1), whole = FALSE)
  expect_identical(completion(walk, c(0, 0), 2, Inf, rep(TRUE, 3)), 1:2)
  expect_identical(completion(walk, c(1, 0), 1, Inf, rep(TRUE, 3)), 2L)
  expect_null(completion(walk, c(0, 0), 1, Inf, rep(TRUE, 3)))
  expect_null(completion(new_quota_walk(walk[1:2], c(1, 1, 2), group = c(1, 1, 2)), c(0, 0), 2, Inf, rep(TRUE, 3)))
  replaced("most_tries", 0L)
  expect_null(completion(walk, c(0, 0), 2, Inf, rep(TRUE, 3)))
})

test_that("without quotas no stratum has more than its share, counted with those that must be in", {
  # Webster's rule, seat by seat: the next column is of the level with the most columns for each
  # seat and a half.
  literal <- function(level, include, size) {
    n <- tabulate(level, 3L)
    have <- tabulate(level[include], 3L)
    while (sum(have) < size) {
      next_one <- which.max(ifelse(have < n, n / (have + .5), -1))
      have[next_one] <- have[next_one] + 1L
    }
    have
  }
  level <- rep(1:3, c(9, 5, 3))
  asked <- list(feature_strata = list(level = level, name = c("a", "b", "c")))
  for (include in list(integer(), 1L, c(10L, 15L), c(15L, 16L, 17L))) for (size in c(3L, 6L, 11L)) {
    asked$include <- include
    expect_identical(as.integer(quotas_at(asked, size, seq_along(level))$most), literal(level, include, size))
  }
})
