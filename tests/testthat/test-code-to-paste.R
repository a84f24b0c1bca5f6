# Code that is shown to be pasted parses, and is the fit and nothing else, whatever the data, the
# columns or the fits are called.

skip_on_cran()

canary <- file.path(tempdir(), "canary")
run <- sprintf("file.create(\"%s\")", normalizePath(canary, "/", mustWork = FALSE))
hostile <- c("my data", "a\"b", "it's", "a`b", "a\\b", "a\nb", "a # b", "x)", "(x", "[[", "if", "function",
  "TRUE", "..1", "_x", "1st", "a; b", "{", "%in%", "'", "\"", "\\", "\\\"", "\u00e9t\u00e9 x", "a\tb", " ", "=",
  paste0("mtcars, k = {", run, "; 3L}) #"), paste0("x); ", run, " #"), paste0("x\n", run, "\n"),
  paste0("`); ", run, "; (`"), paste0("\"); ", run, "; (\""), paste0("x, k = 3)\n", run, "\n#"))
# "..1" is an argument of the function that called, and has no name of its own.
names <- setdiff(hostile, "..1")
x <- withr::with_seed(1, matrix(rnorm(40 * 12), 40) %*% diag(12:1))
colnames(x) <- names[seq_len(12) + 15L]

calls_in <- function(code) {
  found <- character()
  look <- function(part) if (is.call(part)) {
    found <<- c(found, paste(deparse(part[[1L]]), collapse = ""))
    for (one in as.list(part)[-1L]) if (!identical(one, quote(expr = ))) look(one)
  }
  for (one in as.list(code)) look(one)
  unique(found)
}

test_that("the code of a selection is the fit and nothing else, for every name of the data and of its columns", {
  unlink(canary)
  env <- new.env(parent = globalenv())
  for (name in names) {
    assign(name, x, env)
    task <- if (name %in% names[1:3]) c("compress", "cluster", "label") else "compress"
    for (one in task) {
      fit <- suppressMessages(eval(as.call(list(quote(ufs_select), as.name(name), 3, one)), env))
      code <- parse(text = fit$code)
      expect_length(code, if (startsWith(fit$code, "set.seed(")) 2 else 1)
      expect_identical(setdiff(calls_in(code), c("set.seed", "c", ":", "-")), paste0("ufs_", fit$method), info = name)
      expect_identical(code[[length(code)]]$x, as.name(name))
      again <- suppressMessages(eval(code, env))
      expect_identical(again$feature_ranking, fit$feature_ranking, info = name)
      expect_identical(again$sample_ranking, fit$sample_ranking, info = name)
      line <- grep("^  code ", utils::capture.output(print(summary(fit))), value = TRUE)
      if (!grepl("the whole: cat", line, fixed = TRUE)) {
        expect_identical(parse(text = sub("^  code +", "", line), keep.source = FALSE),
          parse(text = fit$code, keep.source = FALSE), info = name)
      }
    }
  }
  expect_false(file.exists(canary))
  unlink(canary)
  priced <- stats::setNames(as.list(seq_len(12)), colnames(x))
  code_of <- function(...) {
    fit <- suppressMessages(ufs_select(x, 4, ...))
    code <- parse(text = fit$code)
    expect_identical(setdiff(calls_in(code), c("set.seed", "c", ":", "-", "list", "structure", "unlist")),
      paste0("ufs_", fit$method))
    expect_identical(suppressMessages(eval(code))$feature_ranking, fit$feature_ranking)
  }
  code_of(include = colnames(x)[2:3], exclude = colnames(x)[5])
  code_of(cost = unlist(priced))
  code_of(cost = unlist(priced))
  code_of(groups = list(colnames(x)[1:2], colnames(x)[7:8]))
  expect_false(file.exists(canary))
})

test_that("code that the user wrote comes back as written", {
  back <- function(code) expect_identical(parse(text = expression_text(code, "otherwise"), keep.source = FALSE)[[1]],
    without_source(code))
  for (code in expression({
    a
    b(1)
  }, subset(d, a > 1, select = -c(`b c`)), d$`a b`, d[, 1], `my f`(x), Filter(function(v) is.numeric(v), d),
    f({
      if (u) v else w
    }, "a\nb"), x[["it's"]], -x, !x)) back(code)
  expect_identical(c(expression_text(quote(..1), "x"), expression_text(mtcars, "x")), c("x", "x"))
  expect_identical(expression_text(quote(f(x)), "x", 3L), "x")
  # Values in code have no such text; nor have names that are none in this encoding.
  expect_identical(expression_text(call("quote", mtcars), "x"), "x")
  expect_identical(expression_text(call("f", call("quote", c(a = 1))), "x"), "x")
  for (odd in list(call("quote", matrix(1:2, 1, dimnames = list(NULL, c("\xe9t", "b")))), call("f", as.name("\xe9t")))) {
    expect_identical(expression_text(odd, "x"), "x")
  }
  # Values: nothing runs while their text is made, and none is believed that is not theirs.
  unlink(canary)
  expect_null(exact_text(parse(text = run)[[1]]))
  for (name in c(paste0("a\" = 1); ", run, "; c(\"b"), paste0("a\" = {", run, "; 2}, \"b"))) {
    text <- exact_text(forged <- stats::setNames(1, name))
    if (!is.null(text)) expect_identical(eval(parse(text = text)), forged)
  }
  expect_null(exact_text(list(function() 1)))
  expect_false(file.exists(canary))
  for (value in list(1:3, c(a = 1, `b c` = NA), .1 + .2, "a\"b\n", NULL, TRUE, list(1, "a", list(b = -2L)),
    factor(c("u", "v")), ufs_control(max_iter = 3), c(NaN, Inf), 2 + 3i, as.raw(7))) {
    expect_identical(eval(parse(text = exact_text(value))), value)
  }
  expect_identical(as_comment("a\nb"), "# a\n# b")
})

test_that("the explorer's code is the choice and nothing else", {
  unlink(canary)
  known <- c("library", "<-", "ufs_css", "selected_features", "predict", "c", "[[")
  env <- new.env(parent = globalenv())
  # The name in the code of data whose own name cannot be written in the locale of the session.
  env$x <- x
  plain <- unname(x)
  for (name in names) {
    assign(name, x, env)
    fit <- eval(as.call(list(quote(ufs_css), as.name(name), k = 4)), env)
    said <- list(fit = as.name(paste("fit", name)), x = as.name(name))
    assign(paste("fit", name), fit, env)
    model <- explore_model(fit, x, NULL, NULL, said)
    model$env <- env
    for (shown in list(model, constrained_model(model, 2L, 3L))) {
      code <- parse(text = explore_code(shown, names(shown$fits)[1], 4))
      expect_identical(setdiff(calls_in(code), known), character(), info = name)
      eval(code, env)
      expect_identical(env$chosen, selected_features(shown$fits[[1]], 4), info = name)
    }
    # Fits in a list, and one that draws random numbers, whose line is a comment.
    both <- stats::setNames(list(fit, ufs_pca(x, 2)), c(name, "other"))
    model <- explore_model(both, x, NULL, NULL, list(fit = as.name("both"), x = as.name(name)))
    assign("both", both, env)
    code <- parse(text = explore_code(model, names(model$fits)[1], 4))
    expect_identical(setdiff(calls_in(code), known), character(), info = name)
    eval(code, env)
    random <- explore_model(ufs_random(x), x, NULL, NULL, list(fit = as.name(name), x = as.name(name)))
    expect_identical(setdiff(calls_in(parse(text = explore_code(random, "random", 4))), known), character())
  }
  expect_false(file.exists(canary))
})
