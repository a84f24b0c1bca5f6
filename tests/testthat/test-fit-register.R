# Methods of users: ufs_register(), and functions in the place of names.

x <- withr::with_seed(1, cbind(flat = 3, matrix(rnorm(40 * 6)^2, 40, dimnames = list(NULL, letters[1:6]))))
flatness <- function(x) -colMeans(x^4) / colMeans(x^2)^2
with_method <- function(method, fun, ..., env = parent.frame()) {
  withr::defer(ufs_register(method, NULL), envir = env)
  ufs_register(method, fun, ...)
}
# The same by hand: centred, divided by the standard deviation.
kurtosis <- function(x) apply(x, 2, function(v) mean((v - mean(v))^4) / mean((v - mean(v))^2)^2)

y <- x[, -1]

test_that("a function of the columns becomes a method; recipes, sizes, settings and consensus take the name", {
  f <- with_method("flatness", flatness, title = "Flat columns")
  fit <- suppressWarnings(f(x, k = 2))
  expect_s3_class(fit, c("ufs_flatness", "ufs"), exact = TRUE)
  expect_equal(feature_scores(fit), c(flat = NA, -kurtosis(x[, -1])))
  expect_identical(selected_features(fit), names(sort(kurtosis(x[, -1])))[1:2])
  expect_output(print(fit), "<ufs_flatness> Flat columns", fixed = TRUE)
  row <- ufs_methods()[ufs_methods()$method == "flatness", ]
  expect_identical(unlist(row[c("selects", "title")], use.names = FALSE), c("features", "Flat columns"))
  expect_identical(selected_features(ufs(y, "flatness", k = 3, include = "a", exclude = "b"))[1], "a")
  expect_false("b" %in% selected_features(ufs(y, "flatness", k = 5, exclude = "b")))
  expect_equal(unname(ufs_grid(y, "flatness", list(scale = c(TRUE, FALSE)))$feature_scores[, 1]), unname(-kurtosis(y)))
  expect_identical(ufs_decoys(y, "flatness", repeats = 2)$methods, "flatness")
  expect_identical(ufs_stability(y, "flatness", k = 2, n_resamples = 3)$method, "flatness")
  expect_error(ufs(y, "flatness", weights = rep(1, 40)), "no argument `weights`", class = "ufs_error_argument")
  expect_error(ufs(y, "flatness", gamma = 1), "no argument `gamma`", class = "ufs_error_argument")
  # Permuted copies say nothing of a score of each column alone.
  expect_identical(sizing_method(open_data(y), "flatness", list())$method, "pca")
  with_method("spread", function(x, power = 2) colMeans(abs(x)^power))
  expect_identical(suppressWarnings(ufs_size(y, "spread"))$by, "pca")
  tuned <- withr::with_seed(1, ufs_tune(y, "spread", list(power = 2:3), k = 3, n_clusters = 2))
  expect_identical(tuned$method, "spread")
  both <- withr::with_seed(1, suppressWarnings(ufs_consensus(y, 2, members = c("pca", "flatness"), k = 3)))
  expect_identical(both$members$member, c("pca", "flatness"))
  skip_if_not_installed("recipes", "1.1.0")
  table <- as.data.frame(y)
  step <- step_select_ufs(recipes::recipe(~., table), recipes::all_numeric_predictors(), method = "flatness", num_terms = 2)
  expect_setequal(names(recipes::bake(recipes::prep(step), NULL)), selected_features(ufs(y, "flatness", k = 2)))
})

test_that("arguments of the function are those of the method; methods for samples take rows", {
  power <- with_method("power", function(x, power = 2, absolute = TRUE, base = length(x)) {
    colMeans(if (absolute) abs(x)^power else x^power) + base - length(x)
  }, scale = FALSE)
  by_hand <- function(power) colMeans(abs(sweep(y, 2, colMeans(y)))^power)
  expect_equal(feature_scores(power(y)), by_hand(2))
  expect_equal(feature_scores(ufs(y, "power", power = 3)), by_hand(3))
  expect_equal(unname(ufs_grid(y, "power", list(power = 1:2))$feature_scores[, 1]), unname(by_hand(1)))
  expect_error(power(y, absolute = 3), "TRUE or FALSE", class = "ufs_error_argument")
  expect_true("k" %in% names(formals(power)))
  top <- with_method("top", function(x, k) utils::head(order(-colSums(x^2)), k), returns = "order", scale = FALSE)
  expect_identical(registered$top$per_k, "k")
  expect_error(top(y), "`k` is missing", class = "ufs_error_argument")
  expect_identical(selected_features(top(y, 2), as = "index"), order(-apply(y, 2, var))[1:2])
  expect_error(top(y, 9), "at most 6", class = "ufs_error_argument")
  unused <- with_method("unused", function(x, k) colSums(x))
  expect_null(registered$unused$per_k)
  weighted <- with_method("weighted", function(x, weights) colSums(x * weights), scale = FALSE)
  w <- rep(1:2, 20)
  expect_equal(feature_scores(weighted(y, weights = w)), colSums(sweep(y, 2, apply(y, 2, stats::weighted.mean, w)) * w))
  expect_identical(ufs_methods("constraints")$weights[ufs_methods()$method == "weighted"], "solver")
  far <- with_method("far", function(x) rowSums(x^2), what = "samples", scale = FALSE)
  distance <- rowSums(sweep(y, 2, colMeans(y))^2)
  expect_equal(unname(sample_scores(far(y))), distance)
  expect_identical(selected_samples(far(y, m = 3)), order(-distance)[1:3])
  expect_identical(selected_samples(far(y, m = 3, labelled = order(-distance)[1])), order(-distance)[2:4])
  expect_error(ufs_stability(y, "far", k = 2), "does not select features", class = "ufs_error_argument")
})

test_that("what a function returns is checked", {
  gives <- function(value, ..., says) {
    with_method("gives", function(x) value, ..., replace = TRUE)
    expect_error(ufs(y, "gives"), says, class = "ufs_error_argument")
  }
  gives(1:3, says = "3 numbers for 6 columns")
  gives(c(1:5, NaN), says = "score of column 'f' is NaN")
  gives(c(1:5, Inf), says = "score of column 'f' is Inf")
  gives(c("a", "z"), says = "'z', which is no column")
  gives(c("a", "a"), says = "'a' twice")
  gives(c(a = 1, b = 2, c = 3, d = 4, e = 5, z = 6), says = "'z', which is no column")
  gives(list(1), says = "one number for each column")
  gives(factor(letters[1:6]), says = "one number for each column")
  gives(matrix(1, 2, 3), says = "one number for each column")
  gives(c(0, 1), returns = "order", says = "numbers of columns, from 1 to 6")
  gives(character(), says = "empty")
  with_method("gives", function(x) c(b = 2, a = 1, c = 3, d = 4, e = 5, f = 6), replace = TRUE)
  expect_identical(unname(feature_scores(ufs(y, "gives"))), as.double(1:6))
  with_method("gives", function(x) c("c", "a"), replace = TRUE)
  expect_identical(unname(feature_scores(ufs(y, "gives"))), c(0.5, 0, 1, 0, 0, 0))
  with_method("gives", function(x) rnorm(ncol(x)), replace = TRUE)
  withr::defer(said_once[["random-gives"]] <- NULL)
  expect_warning(withr::with_seed(1, ufs(y, "gives")), "random = TRUE", class = "ufs_warning_random")
})

test_that("names that have a meaning are refused; a method works where it was not registered", {
  refused <- function(method, fun = flatness, ..., says) {
    expect_error(ufs_register(method, fun, ...), says, class = "ufs_error_argument")
  }
  for (name in c("pca", "all", "classify")) refused(name, says = paste0("^`method`: \"", name, "\" has a meaning"))
  for (name in list("a b", "a+b", NA, c("a", "b"), 1)) refused(name, says = "one name")
  refused("one", 3, says = "must be a function")
  refused("one", function() 1, says = "must be a function of a matrix")
  refused("one", function(x, scale) 1, says = "`scale` has a meaning")
  refused("one", function(x, m) 1, says = "`m` has a meaning")
  refused("one", title = 1:2, says = "`title` must be one text")
  with_method("one", flatness)
  # The same function may come again, as when a script is run twice.
  expect_identical(names(formals(ufs_register("one", flatness))), names(formals(ufs_pca))[-2])
  refused("one", function(x) colSums(x), says = "replace = TRUE")
  refused("one", flatness, scale = FALSE, says = "replace = TRUE")
  f <- ufs_register("travels", flatness)
  file <- withr::local_tempfile(fileext = ".rds")
  saveRDS(f, file)
  ufs_register("travels", NULL)
  withr::defer(ufs_register("travels", NULL))
  expect_error(ufs(x[, -1], "travels"), "must be one of", class = "ufs_error_argument")
  expect_equal(unname(feature_scores(readRDS(file)(x[, -1]))), unname(-kurtosis(x[, -1])))
  ufs_register("travels", function(x) colSums(x), replace = TRUE)
  expect_error(f(x[, -1]), "registered anew", class = "ufs_error_argument")
})

test_that("functions stand in the place of names", {
  expect_identical(withr::with_seed(1, ufs_stability(y, flatness, k = 2, n_resamples = 4))$method, "flatness")
  expect_false("flatness" %in% ufs_methods()$method)
  two <- withr::with_seed(1, ufs_stability(y, list("variance", mine = flatness), k = 2, n_resamples = 4))
  expect_identical(two$methods, c("variance", "mine"))
  with_method("again", flatness)
  named <- withr::with_seed(1, ufs_stability(y, c("variance", "again"), k = 2, n_resamples = 4))
  expect_identical(two$fits$mine$selected, named$fits$again$selected)
  again <- flatness
  withr::with_seed(1, ufs_stability(y, again, k = 2, n_resamples = 4))
  expect_true("again" %in% ufs_methods()$method)
  withr::with_seed(1, ufs_stability(y, list(again, flatness), k = 2, n_resamples = 4))
  expect_identical(c("again", "flatness") %in% ufs_methods()$method, c(TRUE, FALSE))
  expect_error(ufs("again", y, k = 2), "`x`, the data, comes before `method`: ufs(x, \"again\")", fixed = TRUE,
    class = "ufs_error_argument")
  three <- withr::with_seed(1, ufs_stability(y, ufs_variance, k = 2, n_resamples = 4))
  expect_identical(three$selected, withr::with_seed(1, ufs_stability(y, "variance", k = 2, n_resamples = 4))$selected)
  class <- factor(rep(1:2, 20))
  done <- ufs_compare(y, class, list("pca", flatness, best = function(x) -seq_len(ncol(x))), k = 2, m = 8,
    classifiers = list(first = function(x, y, newx) rep(y[1], nrow(newx))), repeats = 2, n_random = 2, baselines = FALSE)
  expect_identical(done$methods, c("pca", "flatness", "best"))
  expect_error(ufs_compare(y, class, list(flatness, 3), k = 2), class = "ufs_error_argument")
})

test_that("stored results belong to the code of a method; a folder takes functions that stand alone", {
  folder <- withr::local_tempdir()
  grid <- function() suppressMessages(ufs_grid(y, "stored", list(scale = TRUE), checkpoint = folder))$checkpoint$reused
  with_method("stored", function(x) colSums(x^4))
  expect_identical(c(grid(), grid()), c(0L, 1L))
  with_method("stored", function(x, power = 6) colSums(x^power), replace = TRUE)
  expect_identical(c(grid(), grid()), c(0L, 1L))
  power <- 2
  with_method("stored", function(x) colSums(x^power), replace = TRUE)
  expect_refused(grid(), "one uses `power` from outside of it: make that an argument with a default")
  helper <- function(x) colSums(x)
  with_method("stored", function(x) helper(x), replace = TRUE)
  expect_refused(grid(), "one uses `helper` from outside")
  run <- function(fun) ufs_stability(y, fun, k = 2, n_resamples = 3, checkpoint = folder)
  expect_refused(run(function(x) colSums(x^2)), "no function in the place of a method")
  compared <- function(classifier) ufs_compare(y, factor(rep(1:2, 20)), "pca", k = 2, m = 8, classifiers = list(own = classifier),
    repeats = 1, n_random = 1, baselines = FALSE, checkpoint = folder)
  expect_refused(compared(function(x, y, newx) rep(y[power], nrow(newx))), "one uses `power` from outside")
  expect_s3_class(compared(function(x, y, newx) rep(y[2], nrow(newx))), "ufs_compare")
})

test_that("workers take methods that stand alone; with others fits run in this session", {
  skip_on_cran()
  skip_if_not_installed("future")
  with_method("alone", function(x, power = 3) {
    raised <- function(v) mean(abs(v)^power)
    apply(x, 2, raised)
  })
  session <- Sys.getpid()
  with_method("bound", function(x) if (Sys.getpid() == session) colMeans(x^4) else stop("not here"))
  expect_true(stands_alone(own_methods()$alone) && stands_alone(list(fun = max)))
  expect_false(stands_alone(own_methods()$bound))
  run <- function(method) withr::with_seed(1, ufs_stability(y, method, k = 2, n_resamples = 4)$selected)
  here <- run("alone")
  local_workers()
  expect_message(there <- run("alone"), NA)
  expect_identical(there, here)
  expect_message(run("bound"), "\"bound\" cannot leave it", class = "ufs_message_workers")
  expect_message(again <- run(function(x) apply(x, 2, function(v) mean(abs(v)^3))), "cannot leave it", class = "ufs_message_workers")
  expect_identical(again, here)
})

test_that("a function that cannot do without its number is fitted for each number", {
  withr::defer(forget_methods(c("needs_k", "takes_k")))
  ufs_register("needs_k", function(x, k) apply(x, 2L, stats::var) * (seq_len(ncol(x)) != k))
  ufs_register("takes_k", function(x, k = 2L) apply(x, 2L, stats::var) * (seq_len(ncol(x)) != k))
  expect_identical(method_row("needs_k")$required, "k")
  expect_length(method_row("takes_k")$required, 0L)
  expect_error(ufs(mtcars, "needs_k"), "`k`", class = "ufs_error_argument")
  fit <- ufs(mtcars, "needs_k", k = 4, scale = FALSE)
  expect_identical(fit$feature_scores[["hp"]], 0)
  expect_identical(selected_features(fit), c("disp", "mpg", "qsec", "cyl"))
  for (door in list(ufs_size, function(x, method) ufs(x, method, k = "auto"))) {
    expect_error(door(mtcars, "needs_k"), "solves for one number", class = "ufs_error_argument")
  }
})

test_that("calls among the arguments reach the function; its error names the method, and its call holds no data", {
  given <- NULL
  with_method("spread", function(x, rule = NULL) {
    given <<- rule
    colMeans(x^2)
  })
  ufs(x[, -1], "spread", rule = quote(stop("evaluated")))
  expect_identical(given, quote(stop("evaluated")))
  stops <- ufs_register("stops_here", function(x) stop("no luck"))
  withr::defer(ufs_register("stops_here", NULL))
  error <- tryCatch(stops(iris[, 1:4]), error = identity)
  expect_s3_class(error, "ufs_error_argument")
  expect_match(conditionMessage(error), "ufs_stops_here() stopped: no luck", fixed = TRUE)
  expect_lt(object.size(conditionCall(error)), 2000)
})

test_that("an order that might be scores is asked about", {
  x <- as.matrix(mtcars)
  f <- function(x) order(-colSums(x^4))
  withr::defer(ufs_register("of_order", NULL))
  expect_error(ufs_register("of_order", f)(x), "returns = .order. or returns = .scores.", class = "ufs_error_argument")
  ordered <- ufs_register("of_order", f, returns = "order", replace = TRUE)(x)
  expect_identical(unname(feature_ranking(ordered)), f(scale(x)))
  ranks <- ufs_register("of_order", function(x) rank(colSums(x^4)), returns = "scores", replace = TRUE)(x)
  expect_identical(unname(feature_ranking(ranks)), f(scale(x)))
})
