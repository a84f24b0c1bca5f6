skip_on_cran()

x <- as.matrix(iris[, 1:4])
y <- iris$Species

first_class <- list(first = function(x, y, newx) rep(levels(y)[1], nrow(newx)))
near_class <- list(near = function(x, y, newx) y[apply(newx, 1, function(r) which.min(colSums((t(x) - r)^2)))])
once <- function(..., repeats = 1, seed = 1) withr::with_seed(seed, ufs_compare(..., repeats = repeats, baselines = FALSE))

test_that("halves are stratified and every class is on both sides", {
  set.seed(1)
  expect_identical(as.vector(table(y[stratified(y, .5)])), c(25L, 25L, 25L))
  rare <- factor(c("a", "a", "b", "b", "b", "c"))
  half <- stratified(rare, .9)
  expect_true(all(c("a", "b", "c") %in% rare[half]))
  expect_true(all(c("a", "b") %in% rare[-half]))
})

test_that("a comparison has every line it must have; labels of one's own do not shift the baselines", {
  skip_if_not_installed("rpart")
  set.seed(1)
  out <- ufs_compare(x, y, c("pca+random"), k = 1:2, m = c(10, 30), classifiers = "tree", repeats = 2, n_random = 3)
  expect_setequal(unique(out$results$method), c("pca+random", "all", "random",
    "random (best of 3)", "pca", "variance", "kmeans_f"))
  expect_true(all(out$results$accuracy >= 0 & out$results$accuracy <= 1))
  expect_true(all(out$results$labelled == out$results$m))
  table <- summary(out)$table
  expect_true(all(table[table$method == "random (best of 3)", ]$difference >= 0))
  expect_setequal(table$k[table$method == "all"], 1:2)
  expect_true(all(table$difference[table$method == "random"] == 0))
  expect_output(print(out), "30 labelled samples")
  expect_output(print(summary(out)), "paired difference to 'random'")
  withr::local_pdf(NULL)
  expect_identical(plot(out), out)
  expect_identical(plot(out, over = "m"), out)
  expect_error(plot(out, at = 999), class = "ufs_error_argument")
  baselines <- c("all", "random", "pca", "variance", "kmeans_f")
  plan <- function(methods) vapply(compare_plan(methods, TRUE, list(), 3L, "classify"), `[[`, "", "features")
  expect_identical(plan(c(mine = "pca")), c(mine = "pca", stats::setNames(nm = baselines)))
  expect_identical(plan(c(pca = "variance")), c(pca = "variance", stats::setNames(nm = baselines[-3L])))
  expect_identical(plan("pca"), stats::setNames(nm = c("pca", baselines[-3L])))
  expect_identical(plan(character()), stats::setNames(nm = baselines))
})

test_that("missing classes are counted, pipelines choose samples on the chosen features, and failures are recorded", {
  out <- once(x, y, "variance", k = 2, m = 1, classifiers = first_class, repeats = 3, seed = 5)
  expect_true(all(out$results$missing == 2))
  expect_equal(out$results$accuracy, rep(1 / 3, 3))
  seen <- list()
  out <- once(x, y, c(a = "variance+random"), k = 2, m = 9, classifiers = list(c1 = function(x, y, newx) {
    seen[[length(seen) + 1]] <<- dim(x)
    rep("setosa", nrow(newx))
  }))
  expect_identical(seen[[1]], c(9L, 2L))
  expect_identical(unique(out$results$method), "a")
  out <- once(x, y, c(bad = "pca"), k = 2, classifiers = list(f = function(x, y, newx) newx[, 1]),
    args = list(bad = list(n_components = 99)))
  expect_true(is.na(out$results$accuracy))
  expect_match(out$results$error, "n_components")
  expect_output(print(out), "Failed: bad")
})

test_that("cluster mode reports accuracy, nmi and ari", {
  skip_if_not_installed("clue")
  set.seed(1)
  out <- ufs_compare(x, y, "kmeans_f", k = 1:2, mode = "cluster", repeats = 2, n_random = 3)
  expect_true(all(c("accuracy", "nmi", "ari") %in% names(out$results)))
  table <- summary(out, "nmi")$table
  expect_gt(table$mean[table$method == "kmeans_f" & table$k == 2], .8)
  expect_error(ufs_compare(x, y, "random+random", k = 1, mode = "cluster", repeats = 1)$results, NA)
})

test_that("same seed, same comparison, also with two workers", {
  skip_processes()
  skip_if_not_installed("rpart")
  run <- function() {
    set.seed(9)
    out <- ufs_compare(x, y, "kmeans_f", k = 2, m = 20, classifiers = "tree", repeats = 2, n_random = 2)
    out$results[setdiff(names(out$results), "seconds")]
  }
  serial <- run()
  expect_identical(run(), serial)
  local_workers()
  expect_identical(run(), serial)
})

test_that("what a comparison cannot use is refused by name", {
  run <- function(which = "pca", ..., y. = y, k = 2, classifiers = first_class, repeats = 1, n_random = 2) {
    ufs_compare(x, y., which, k = k, classifiers = classifiers, repeats = repeats, n_random = n_random,
      baselines = FALSE, ...)
  }
  # Too few predictions would be recycled against the truth.
  short <- list(short = function(x, y, newx) rep(levels(y)[1], 25))
  boom <- list(mine = function(x, y, newx) stop("no model today"))
  own <- list(own = function(x, y, newx) refuse("depth", "`depth` must be positive."))
  # The first three are no runs that would never end.
  expect_arguments(repeats = run(repeats = 1e9), n_random = run(n_random = 1e9),
    n_starts = ufs_tune(x, "variance", list(scale = TRUE), k = 2, n_starts = 1e9), y = run(y. = rep("a", 150)),
    y = run(y. = y[-1]), y = run(y. = x[, 1]), y = run(y. = as.list(y)), y = run(y. = data.frame(y)),
    y = run(y. = cbind(as.integer(y), 1:150)), methods = run("nonsense"), methods = run("random+pca"),
    methods = run("a+b+c"), methods = run(c("pca", "pca")), methods = run("ted", mode = "cluster"),
    methods = run(character()), k = run(k = 5), m = run(m = 76), m = run("ted"), m = run("pca+ted"),
    m = run("pca+diversify+ted"), mode = run(mode = "regress"), classifiers = run(classifiers = "forest"),
    classifiers = run(classifiers = short), classifiers = run(classifiers = boom), depth = run(classifiers = own),
    args = run(args = list(alfs = list())), args = run(args = 1),
    args = run("ted", m = 9, args = list(ted = list(gamma = 1))),
    args = run("pca+ted", m = 9, args = list("pca+ted" = list(nothing = 1))),
    args = run("pca+ted", m = 9, args = list(pca = list(mu_rel = 1))),
    args = run("random", m = 9, args = list(random = list(grid = list(k = 1)))),
    args = run("pca+ted", m = 9, args = list("pca+ted" = list(grid = list(n_components = 1:2, mu_rel = 1:2)))),
    args = run("pca", m = 9, args = list(pca = list(2))))
  expect_refusals("numeric" = run(y. = x[, 1]), "'.*ted' chooses samples" = run("pca+diversify+ted"),
    "nothing to compare" = run(character()), "'mine' failed: no model today" = run(classifiers = boom))
  expect_message(run(y. = as.integer(y)), class = "ufs_message_classes")
  # Features of a method that selects both need no m.
  out <- withr::with_seed(1, run(c("pca", "alfs", "all", "pca+random")))
  expect_setequal(out$results$method, c("pca", "alfs", "all", "pca+random"))
  expect_refusals(print(out, digits = NA), print(summary(out), digits = "a"))
})

test_that("the built-in classifiers classify; many rows are compared without svm, unless it is asked for", {
  for (package in c("e1071", "rpart", "class")) skip_if_not_installed(package)
  expect_true(all(once(x, y, "all", k = 1, classifiers = c("svm", "tree", "full_tree", "knn"))$results$accuracy > .85))
  x <- withr::with_seed(1, matrix(stats::rnorm(1600 * 4), 1600, dimnames = list(NULL, letters[1:4])))
  y <- factor(rep_len(1:2, 1600))
  compare <- function(x, y, ...) {
    withr::with_seed(1, suppressMessages(ufs_compare(x, y, "variance", k = 2, repeats = 1, baselines = FALSE, ...)))
  }
  many <- compare(x, y)
  expect_identical(unique(many$results$classifier), "tree")
  expect_output(print(many), "without svm")
  expect_setequal(compare(x[1:100, ], y[1:100])$results$classifier, c("svm", "tree"))
  expect_identical(unique(compare(x[1:1510, ], y[1:1510], classifiers = "svm")$results$classifier), "svm")
})

test_that("a grid gives the label-free choice and the best with labels", {
  skip_if_not_installed("clue")
  data <- planted(60, 25)
  grid <- list(n_components = c(1, 2, 6))
  out <- once(data$x, data$cluster, "pca", k = c(4, 8), mode = "cluster", args = list(pca = list(grid = grid)))
  expect_setequal(unique(out$results$method), c("pca", "pca (best of 3)"))
  wide <- reshape(out$results[c("method", "k", "accuracy")], idvar = "k", timevar = "method", direction = "wide")
  expect_true(all(wide[["accuracy.pca (best of 3)"]] >= wide[["accuracy.pca"]]))
  classified <- once(data$x, data$cluster, "pca+random", k = 4, m = 12, classifiers = first_class, repeats = 2,
    args = list("pca+random" = list(grid = grid, criterion = "knn_overlap")))
  expect_setequal(unique(classified$results$method), c("pca+random", "pca+random (best of 3)"))
  expect_false(anyNA(classified$results$accuracy))
})

test_that("a grid of a sample method is run: the choice without labels and the best with them", {
  grid <- list(mu_rel = c(.001, .1, 100))
  out <- once(x, y, c("ted", "pca+ted"), k = 2, m = c(5, 8), classifiers = near_class, repeats = 2,
    args = list(ted = list(grid = grid), pca = list(n_components = 2)))
  expect_setequal(out$results$method, c("ted", "ted (best of 3)", "pca+ted", "pca+ted (best of 3)"))
  table <- as.data.frame(out, what = "grid")
  expect_identical(nrow(table), 2L * 2L * 2L * 3L)
  for (label in c("ted", "pca+ted")) for (m in c(5, 8)) for (rep in 1:2) {
    cell <- table[table$method == label & table$m == m & table$rep == rep, ]
    mine <- out$results[out$results$m == m & out$results$rep == rep, ]
    expect_identical(sum(cell$chosen), 1L)
    expect_identical(cell$accuracy[cell$chosen], mine$accuracy[mine$method == label])
    expect_identical(max(cell$accuracy), mine$accuracy[mine$method == paste0(label, " (best of 3)")])
    expect_identical(cell$sample_setting, 1:3)
    half <- out$halves[[rep]]
    z <- scale(as.matrix(x)[half, ])
    columns <- if (label == "ted") 1:4 else selected_features(ufs_pca(x[half, ], n_components = 2), 2, as = "index")
    covered <- vapply(grid$mu_rel, function(mu) {
      fit <- ufs_ted(x[half, columns], mu_rel = mu)
      unit <- z[, columns] / sqrt(rowSums(z[, columns]^2))
      mean(apply(unit %*% t(unit[selected_samples(fit, m, as = "index"), ]), 1, max))
    }, 0)
    expect_identical(which(cell$chosen), which.max(covered))
  }
})

test_that("warnings and empty rankings are counted and shown", {
  data <- planted(40, 30)
  out <- once(data$x, data$cluster, "alfs", k = 25, m = 6, classifiers = first_class, repeats = 2,
    args = list(alfs = list(control = list(max_iter = 1))))
  expect_true(all(out$results$status == "max_iter"))
  expect_true(all(grepl("max_iter", out$results$warnings)))
  expect_true(all(out$results$live >= 0))
  expect_output(print(out), "Warnings: 2 of 2 rows")
  few <- once(data$x, data$cluster, "socfs", k = 25, classifiers = first_class,
    args = list(socfs = list(lambda_rel = .9)))
  expect_lt(few$results$live, 25)
  expect_output(print(few), paste0("Fewer features have a score above 0.*: socfs \\(", few$results$live, " of 25\\)"))
  expect_identical(summary(few)$table$live, few$results$live)
})

test_that("every value of `at` is drawn, and the best one for each method", {
  out <- once(x, y, c("variance", "ted"), k = 2:3, m = c(3, 9, 20), classifiers = near_class, n_random = 2)
  pages <- function(...) {
    drawn <- 0
    old <- getHook("before.plot.new")
    setHook("before.plot.new", function(...) drawn <<- drawn + 1)
    withr::local_pdf(withr::local_tempfile(fileext = ".pdf"))
    withr::defer(setHook("before.plot.new", old, "replace"))
    plot(out, ...)
    drawn
  }
  expect_identical(pages(at = c(3, 20)), 2)
  expect_identical(pages(), 1)
  expect_identical(pages(over = "m", at = "best"), 1)
  expect_refusals(plot(out, at = 99), plot(out, at = c(3, 99)))
  table <- summary(out)$table
  best <- picture(out, over = "m", at = "best")$table
  own <- table[table$method == "variance", ]
  expect_equal(best$y[best$series == "variance"], as.vector(tapply(own$mean, own$m, max)))
})

test_that("k = \"auto\" is one number for all methods, by decoys", {
  data <- planted(60, 40, informative = 10)
  x <- `colnames<-`(data$x, paste0("f", 1:40))
  run <- function(..., seed = 1) {
    suppressMessages(once(x, data$cluster, c("pca", "variance"), k = "auto", mode = "cluster", seed = seed, ...))
  }
  found <- run()
  expect_length(found$k, 1)
  expect_lte(abs(found$k - 10), 3)
  expect_identical(unique(found$results$k[found$results$method %in% c("pca", "variance")]), found$k)
  folder <- withr::local_tempdir()
  run(checkpoint = folder)
  expect_identical(run(checkpoint = folder, seed = 99)$k, found$k)
})

test_that("under blocks classifiers see what the methods see: no differences between blocks", {
  d <- planted(90, 12, informative = 5)
  plate <- withr::with_seed(1, sample(rep(1:3, 30)))
  moved <- d$x + withr::with_seed(1, matrix(rnorm(36, sd = 12), 3))[plate, ]
  mean_class <- list(near = function(z, y, new) {
    known <- unique(y)
    mean <- rowsum(z, y)[known, ] / tabulate(match(y, known))
    known[apply(new, 1, function(row) which.min(colSums((t(mean) - row)^2)))]
  })
  accuracy <- function(...) {
    run <- suppressMessages(once(y = factor(letters[d$cluster]), methods = "all", k = 4, repeats = 3, seed = 2,
      classifiers = mean_class, ...))
    mean(run$results$accuracy)
  }
  clean <- accuracy(d$x)
  expect_gt(clean, .95)
  noisy <- accuracy(moved)
  expect_lt(noisy, clean - .2)
  expect_gt(accuracy(moved, blocks = plate), noisy + .1)
  expect_gt(accuracy(moved, blocks = plate, block_scale = TRUE), noisy + .1)
  # The same as of data that were centred within the blocks of each half by hand.
  half <- split_data(list(x = open_data(ufs_data(moved, blocks = plate)), y = factor(d$cluster), halves = list(1:45),
    classifiers = list()), 1L)
  z <- moved[1:45, ]
  for (b in 1:3) z[plate[1:45] == b, ] <- scale(z[plate[1:45] == b, ], scale = FALSE)
  expect_equal(unname(half$block(1:12)), unname(z / rep(sqrt(colSums(z^2) / 42), each = 45)), tolerance = 1e-10)
})

test_that("a classifier is trained once on a set of columns, and its answers stay", {
  seen <- new.env()
  nearest <- function(x, y, newx) {
    seen$sets <- c(seen$sets, paste(c(colnames(x), nrow(newx), sum(x)), collapse = " "))
    centre <- rowsum(x, y) / tabulate(y)
    rownames(centre)[apply(newx, 1L, function(row) which.min(colSums((t(centre) - row)^2)))]
  }
  run <- function(near, ...) {
    seen$sets <- NULL
    found <- withr::with_seed(3, suppressMessages(ufs_compare(x, y, "variance", k = c(2, 4), repeats = 2,
      classifiers = c(near = near, first_class), ...)$results))
    list(results = found[names(found) != "seconds"], sets = seen$sets)
  }
  often <- run(nearest)
  once <- run(structure(nearest, by_set = TRUE))
  expect_identical(once$results, often$results)
  expect_gt(anyDuplicated(often$sets), 0L)
  expect_identical(anyDuplicated(once$sets), 0L)
  # In the order of the table: 6 pairs of columns and all of them, in either half.
  expect_lte(length(once$sets), 2L * 7L)
  expect_gt(length(run(structure(nearest, by_set = TRUE), m = 30)$sets), length(once$sets))
})

test_that("a table without grids has no rows of grids; labels that k-means cannot make are missing", {
  for (package in c("e1071", "rpart", "clue")) skip_if_not_installed(package)
  out <- ufs_compare(mtcars[, 3:7], factor(mtcars$am), "variance", k = 2, repeats = 1, n_random = 2)
  expect_identical(as.data.frame(out), out$results)
  grid <- as.data.frame(out, what = "grid")
  expect_identical(nrow(grid), 0L)
  expect_named(grid, c(names(out$results), "setting", "sample_setting", "chosen"))
  flags <- cbind(a = rep(0:1, 15), b = rep(0:1, each = 15))
  out <- ufs_compare(flags, gl(3, 1, 30), "variance", k = 1, mode = "cluster", repeats = 1, n_random = 2)
  one <- out$results[out$results$method == "variance", ]
  expect_identical(one$accuracy, NA_real_)
  expect_identical(one$error, "")
  expect_identical(is.na(out$results$accuracy[out$results$method == "all"]), FALSE)
  x <- withr::with_seed(1, matrix(stats::rnorm(400), 40) + 4 * rep(0:1, each = 20))
  z <- as_ufs_operator(ufs_data(Matrix::Matrix(x, sparse = TRUE)))$x
  dist_of <- function(points) as.vector(stats::dist(as.matrix(points)))
  whole <- cluster_rows(z, 1:6, 2L)
  withr::local_options(ufselect.block_bytes = 100)
  expect_equal(dist_of(cluster_rows(z, 1:6, 2L)), dist_of(whole), tolerance = 1e-6)
})

test_that("a sampler that solves for its number gets it, and one classifier may be given as it is", {
  skip_if_not_installed("e1071")
  skip_if_not_installed("rpart")
  withr::defer(forget_methods("first_m"))
  ufs_register("first_m", function(x, m) as.numeric(seq_len(nrow(x)) <= m), what = "samples")
  out <- ufs_compare(iris[1:4], iris$Species, "all+first_m", k = 2, m = c(3, 60), repeats = 1, n_random = 1)
  own <- out$results[out$results$method == "all+first_m", ]
  expect_setequal(own$labelled, c(3L, 60L))
  expect_identical(own$error, rep("", nrow(own)))
  expect_identical(check_classifiers(first_class[[1]]), list(classifier = first_class[[1]]))
  out <- ufs_compare(iris[1:4], y, "variance", k = 2, m = 60, classifiers = first_class[[1]], repeats = 1, n_random = 1)
  expect_identical(unique(out$results$classifier), "classifier")
})
