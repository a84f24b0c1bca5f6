# The gadget: its model and its server; test-outside-frameworks.R has a real browser.

skip_on_cran()

skip_if_not_installed("shiny")
skip_if_not_installed("miniUI")

x <- `dimnames<-`(planted(40, 25, informative = 6)$x, list(paste0("s", 1:40), paste0("f", 1:25)))
fit <- withr::with_seed(1, ufs_kmeans_f(x, 3))
other <- ufs_laplacian(x)
model_of <- function(fits, said = list(), y = NULL, stability = NULL) explore_model(fits, x, y, stability, said)

test_that("the table has the chosen features, best first; the slider starts at the fit's k", {
  table <- explore_table(model_of(list(a = fit, b = other)), "a", 7)
  expect_named(table, c("rank", "feature", "index", "score", "rank in b"))
  expect_identical(table$feature, selected_features(fit, 7))
  expect_identical(table$score, unname(feature_scores(fit)[table$feature]))
  expect_identical(table$`rank in b`, match(table$index, unname(feature_ranking(other))))
  stable <- withr::with_seed(2, ufs_stability(x, "laplacian", k = 5, n_resamples = 5))
  model <- model_of(other, stability = stable)
  expect_identical(explore_table(model, "laplacian", 3)$stability, unname(stable$frequency[selected_features(other, 3)]))
  expect_identical(model_of(ufs_css(x, k = 6))$start, 6L)
  # The captured share is that of ufs_captured().
  share <- ufs_captured(fit, x, 4)
  model <- model_of(fit)
  expect_identical(model$start, 10L)
  said <- captured_words(model, "kmeans_f", 4)
  numbers <- as.numeric(regmatches(said, gregexpr("[0-9.]+", said))[[1]])
  expect_equal(numbers, signif(100 * c(share$captured, share$bound), 3))
  samples <- model_of(ufs_facility(x, m = 5))
  expect_identical(samples$start, 5L)
  expect_match(captured_words(samples, "facility", 5), "similarity covered: .* %, at most .* % possible")
  # Nothing is said of a number that no share is known for, and columns that are not shown are counted.
  expect_identical(captured_words(samples, "facility", 39), "")
  wide <- ufs_variance(withr::with_seed(1, matrix(stats::rnorm(3000), 20)))
  shown <- as.character(tick_table(wide, integer(), integer(), most = 100L))
  for (words in c("50 columns", "find them by name")) expect_match(shown, words, fixed = TRUE)
  expect_false(grepl("find them", as.character(tick_table(wide, integer(), integer()))))
})

test_that("the code gives what is shown, and starts with what has to run before it", {
  env <- list2env(list(fit = fit, other = other, x = x, both = list(fit, other), named = list(a = fit, `b"` = other)))
  for (said in list(quote(fit), quote(both), quote(named), quote(c(fit, k = other)))) {
    model <- model_of(eval(said, env), list(fit = said, x = quote(x)))
    shown <- utils::tail(model$fits, 1L)
    eval(parse(text = explore_code(model, names(shown), 4)), env)
    expect_identical(env$chosen, selected_features(if (identical(said, quote(fit))) fit else other, 4))
    expect_identical(env$x_chosen, predict(shown[[1L]], x, k = 4))
  }
  samples <- model_of(ufs_ted(x), list(fit = quote(t)))
  expect_identical(explore_code(samples, "ted", 3), "library(ufselect)\nchosen <- selected_samples(t, m = 3)\n")
  css <- ufs_css(x, k = 6)
  model <- model_of(css, list(fit = quote(css), x = quote(x)))
  expect_identical(strsplit(explore_code(model, "css", 3), "\n")[[1]], c("library(ufselect)", "css <- ufs_css(x = x, k = 6)",
    "chosen <- selected_features(css, k = 3)", "x_chosen <- predict(css, x, k = 3)",
    "# How many? ufs_size(x, css) names a number, with its reason."))
  env <- list2env(list(x = x))
  eval(parse(text = explore_code(model, "css", 3)), env)
  expect_identical(env$chosen, selected_features(css, 3))
  # A small window has room for one picture of two fits.
  withr::local_pdf(NULL, width = 3, height = 3)
  draw_overlap(ufs_overlap(list(a = css, b = ufs_pca(x, 3)), k = 5), c(1, 2))
  expect_identical(graphics::par("mfrow"), c(1L, 1L))
  # A fit that needs a seed is named, but not made again by other random numbers.
  model <- model_of(fit, list(fit = quote(fit), x = quote(x)))
  expect_match(explore_code(model, "kmeans_f", 3), "\n# fit <- ufs_kmeans_f(x = x, n_clusters = 3)\n", fixed = TRUE)
})

test_that("constraints: the fit that is shown is that of the code, and its numbers are those of its print", {
  same <- function(fit, said_fit, must, never, ...) {
    env <- list2env(list(x = x, data = ufs_data(x, cost = rep(1:5, 5), budget = 12), three = 3, fit = fit,
      both = list(a = fit)), parent = environment())
    model <- explore_model(fit, ..., said = list(fit = said_fit, x = quote(x)))
    model$env <- env
    model <- constrained_model(model, must, never)
    again <- model$fits[[1]]
    expect_setequal(c(again$constraints$features$include, integer()), must)
    expect_setequal(c(again$constraints$features$exclude, integer()), never)
    code <- explore_code(model, names(model$fits)[1], 5)
    eval(parse(text = code), env)
    expect_identical(env$chosen, suppressMessages(selected_features(again, 5)))
    expect_identical(env$x_chosen, suppressMessages(predict(again, x, k = 5)))
    back <- constrained_model(model, integer(), integer())
    expect_length(back$fits[[1]]$constraints$features$include, 0)
    list(model = model, code = code, back = back)
  }
  css <- ufs_css(x, k = 6)
  gone <- model_of(css, list(fit = quote(css), x = quote(x)))
  gone$fits[[1L]]$call[[1L]] <- quote(stop)
  expect_error(constrained_model(gone, 24L, integer()), "cannot be made again here", class = "ufs_error_argument")
  found <- same(css, quote(css), c(24L, 9L), 1L, x, NULL, NULL)
  expect_match(found$code, 'css <- ufs_css(x = x, k = 6, include = c("f24", "f9"), exclude = "f1")', fixed = TRUE)
  expect_identical(feature_scores(found$back$fits[[1]]), feature_scores(css))
  share <- ufs_captured(found$model$fits[[1]], x, 6)$captured
  expect_match(captured_words(found$model, "css", 6), per_cent(share), fixed = TRUE)
  # Random numbers: the seed is in the code. Fits that are no name get one.
  found <- same(fit <- ufs_kmeans_f(x, n_clusters = 3), quote(ufs_kmeans_f(x, 3)), 24L, integer(), x, NULL, NULL)
  expect_match(found$code, "set.seed(1)\nfit <- ufs_kmeans_f(", fixed = TRUE)
  two <- list(css = css, pca = ufs_pca(x, 3), css = ufs_css(x, k = 4))
  env <- list2env(list(x = x), parent = environment())
  model <- model_of(two, list(fit = quote(list(ufs_css(x, k = 6), ufs_pca(x, 3), ufs_css(x, k = 4))), x = quote(x)))
  model$env <- env
  model <- constrained_model(model, 24L, integer())
  expect_identical(model$code_fit, c("fit_css", "fit_pca", "fit_css.1"))
  for (at in 1:2) {
    eval(parse(text = explore_code(model, names(model$fits)[at], 3)), env)
    expect_identical(env$chosen, suppressMessages(selected_features(model$fits[[at]], 3)))
  }
  # Variables of the caller, and costs of the data.
  data <- ufs_data(x, cost = rep(1:5, 5), budget = 12)
  three <- 3
  found <- same(ufs_pca(data, n_components = three), quote(both[["a"]]), 24L, 2:3, x, NULL, NULL)
  expect_match(found$code, 'both[["a"]] <- ufs_pca(', fixed = TRUE)
  expect_match(captured_words(found$model, "pca", 3), "; cost [0-9]+, budget 12$")
  # Data with choices of their own, which the ticks replace.
  env <- list2env(list(held = ufs_data(x, exclude = 1:2)), parent = environment())
  env$fit <- ufs_css(env$held, k = 3)
  model <- explore_model(env$fit, env$held, NULL, NULL, said = list(fit = quote(fit), x = quote(held)))
  model$env <- env
  for (times in 1:2) {
    model <- constrained_model(model, 24L, 3L)
    eval(parse(text = explore_code(model, "css", 3)), env)
    expect_identical(colnames(env$x_chosen), selected_features(model$fits[[1]], 3))
  }
  expect_error(constrained_model(found$model, 1L, 1L), class = "ufs_error_argument", "'f1'")
  lost <- model_of(ufs_pca(x, n_components = three))
  lost$env <- emptyenv()
  expect_error(constrained_model(lost, 1L, integer()), class = "ufs_error_argument", "there is no object `three`")
})

test_that("the tab for constraints: ticks, and the fit that follows", {
  model <- model_of(ufs_css(x, k = 6), list(fit = quote(css), x = quote(x)))
  model$env <- environment()
  tick <- function(index, word, on = TRUE) list(index = index, constraint = word, on = on)
  shiny::testServer(explore_server(model), {
    session$setInputs(k = 2, find = "")
    rows <- function() lengths(regmatches(output$ticks$html, gregexpr("<tr>", output$ticks$html)))
    expect_identical(rows(), 26L)
    session$setInputs(find = "f2")
    expect_identical(rows(), 8L)
    before <- output$table
    ticks <- list(tick(24, "must"), tick(9, "must"), tick(3, "must"), tick(1, "never"), tick(3, "must", FALSE),
      tick(9, "never"))
    for (one in ticks) session$setInputs(tick = one)
    expect_identical(output$table, before)
    session$setInputs(again = 1)
    expect_match(output$code, 'css <- ufs_css(x = x, k = 6, include = "f24", exclude = c("f1", "f9"))', fixed = TRUE)
    want <- ufs_css(x, k = 6, include = "f24", exclude = c("f1", "f9"))
    for (name in selected_features(want, 2)) expect_match(output$table, paste0(" ", name, " "), fixed = TRUE)
    expect_match(output$captured, per_cent(ufs_captured(want, x, 2)$captured), fixed = TRUE)
    expect_match(output$ticks$html, 'value="24" data-constraint="must" aria-label="f24 must" checked', fixed = TRUE)
    # What no page sends is no tick, and does not end the session.
    for (wrong in list(tick(99, "must"), tick(0, "must"), tick(-3, "never"), tick(1.5, "must"), tick(NA, "must"),
      tick("f1", "must"), tick(2, "maybe"), tick(2, "must", NA)[1:2], "24", 7)) session$setInputs(tick = wrong)
    session$setInputs(again = 3)
    expect_match(output$code, 'include = "f24", exclude = c("f1", "f9"))', fixed = TRUE)
    for (j in 1:25) session$setInputs(tick = tick(j, "never"))
    session$setInputs(again = 2)
    expect_match(output$code, 'include = "f24"', fixed = TRUE)
  })
  # Samples have no such tab.
  expect_false(grepl("Constraints", as.character(explore_ui(model_of(ufs_ted(x))))))
})

test_that("the slider moves everything, but not where a method is not nested", {
  shiny::testServer(explore_server(model_of(c(a = fit, b = other), y = factor(rep(1:2, 20)))), {
    session$setInputs(k = 3, fit = "a")
    expect_match(output$code, "k = 3)", fixed = TRUE)
    expect_match(output$captured, "variance explained")
    three <- output$table
    expect_identical(lengths(regmatches(three, gregexpr("<tr>", three))), 4L)
    for (picture in c("scores", "map", "heatmap", "overlap")) expect_true(grepl("image/png", output[[picture]]$src))
    before <- output$heatmap$src
    session$setInputs(k = 8)
    expect_match(output$code, "k = 8)", fixed = TRUE)
    expect_false(identical(output$heatmap$src, before))
    session$setInputs(fit = "b")
    expect_match(output$table, selected_features(other, 1), fixed = TRUE)
    expect_identical(utils::read.csv(output$save, check.names = FALSE)$feature, selected_features(other, 8))
    expect_match(basename(output$save), "b-8.csv", fixed = TRUE)
  })
  exact <- ufs_topk(x, k = 4, n_clusters = 3)
  model <- model_of(exact)
  expect_false(model$adjustable)
  expect_false(grepl("shiny-input-container.*id=\"k\"", as.character(explore_ui(model))))
  shiny::testServer(explore_server(model), {
    session$setInputs(insert = 0)
    expect_match(output$code, "k = 4)", fixed = TRUE)
    expect_true(grepl("image/png", output$map$src))
  })
  # Beside a nested one: said in the place of the picture, not a crash.
  shiny::testServer(explore_server(model_of(list(exact = exact, b = other))), {
    session$setInputs(k = 6, fit = "exact")
    expect_error(output$map, "not nested")
  })
  shiny::testServer(explore_server(model_of(ufs_ted(x))), {
    session$setInputs(k = 5)
    expect_match(output$table, selected_samples(ufs_ted(x), 1), fixed = TRUE)
    for (picture in c("scores", "map")) expect_true(grepl("image/png", output[[picture]]$src))
  })
})

test_that("bad input is refused before a window opens; the addin finds fits and their data", {
  expect_arguments(fit = explore_app(1, x), fit = explore_app(list(fit, 2), x), x = ufs_explore(fit))
  told <- function(x) tryCatch(explore_app(fit, x), ufs_error_input = function(error) error$argument)
  expect_identical(c(told(x[, 1:5]), told(x[1:10, ])), c("newdata", "x"))
  expect_arguments(y = explore_app(fit, x, y = 1:3), stability = explore_app(fit, x, stability = 3))
  skip_if(interactive())
  expect_error(ufs_explore(fit, x), class = "ufs_error_interactive")
  env <- list2env(list(a = fit, b = other, table = as.data.frame(x), wrong = x[1:3, ], n = 3, s = ufs_ted(x),
    small = ufs_variance(x[, 1:4])))
  expect_identical(explore_candidates("a", env), list(fit = quote(a), x = quote(table)))
  expect_identical(explore_candidates("", env)$fit, quote(list(a = a, b = b)))
  expect_arguments(fit = explore_candidates("nothing", env), fit = explore_candidates("", new.env()),
    x = explore_candidates("", list2env(list(a = fit))))
  dcf <- read.dcf(system.file("rstudio", "addins.dcf", package = "ufselect"))
  expect_true(is.function(getFromNamespace(dcf[1, "Binding"], "ufselect")))
})

test_that("the window opens in a dialog, and the addin calls it on what is selected", {
  own <- ufs_explore
  environment(own) <- list2env(list(interactive = function() TRUE), parent = environment(own))
  shown <- NULL
  replaced("runGadget", function(app, viewer, ...) shown <<- list(app, viewer), "shiny")
  own(fit, x)
  expect_s3_class(shown[[1L]], "shiny.appobj")
  expect_true(is.function(shown[[2L]]))
  own(fit, x, viewer = "mine")
  expect_identical(shown[[2L]], "mine")

  skip_if_not_installed("rstudioapi")
  replaced("getActiveDocumentContext", function(...) list(selection = list(list(text = " here "))), "rstudioapi")
  replaced("ufs_explore", function(...) as.list(sys.call())[-1L])
  replaced("explore_candidates", function(selected, env) list(fit = as.name(selected), x = quote(y)))
  expect_identical(explore_addin(), list(quote(here), quote(y)))
})

test_that("code goes to the editor that is there, and Done gives the choice", {
  skip_if_not_installed("rstudioapi")
  model <- model_of(fit)
  inserted <- given <- NULL
  replaced("isAvailable", function(...) TRUE, "rstudioapi")
  replaced("insertText", function(text) inserted <<- text, "rstudioapi")
  replaced("stopApp", function(value = NULL) given <<- value, "shiny")
  shiny::testServer(explore_server(model), {
    session$setInputs(k = 4, fit = "kmeans_f")
    session$setInputs(insert = 1)
    expect_identical(trimws(paste(inserted, collapse = "\n")), trimws(output$code))
    session$setInputs(done = 1)
  })
  expect_identical(given, explore_chosen(model, fit, 4))
})
