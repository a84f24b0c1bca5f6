# One word for one thing: fixtures/arguments.csv has every argument of every function that users
# can reach, with its one meaning. `functions` names those that have it, so that another function
# with the same word is looked at before it gets in; * is the vocabulary that all may use.

# A data frame with the arguments of exported functions and registered methods, one row for each.
arguments_of_package <- function() {
  space <- asNamespace("ufselect")
  # A method that is registered as a function has no name here.
  methods <- unique(unlist(Filter(is.character, space$.__NAMESPACE__.$S3methods[, 3L])))
  found <- lapply(sort(unique(c(getNamespaceExports(space), methods)), method = "radix"), function(name) {
    value <- get0(name, space)
    arguments <- if (is.function(value)) names(formals(value))
    data.frame(argument = as.character(arguments), name = rep(name, length(arguments)), stringsAsFactors = FALSE)
  })
  do.call(rbind, found)
}

wrong_words <- function(found, table) {
  twice <- unique(table$argument[duplicated(table$argument)])
  users <- strsplit(table$functions, " ", fixed = TRUE)
  listed <- data.frame(argument = rep(table$argument, lengths(users)), name = unlist(users), stringsAsFactors = FALSE)
  any_may <- table$argument[table$functions == "*"]
  pair <- function(x) paste0("`", x$argument, "` of ", x$name)
  own <- function(x) pair(x[!x$argument %in% any_may, ])
  say <- function(what, words) if (length(what)) paste(what, words)
  c(say(twice, "has two meanings"), say(setdiff(own(found), own(listed)), "is not in the table"),
    say(setdiff(own(listed), own(found)), "is not there"), say(setdiff(any_may, found$argument), "is no argument"))
}

test_that("every argument is in the table, with one meaning", {
  skip_on_cran()
  table <- utils::read.csv(test_path("fixtures", "arguments.csv"), stringsAsFactors = FALSE)
  expect_named(table, c("argument", "meaning", "functions"))
  expect_identical(table$meaning[duplicated(table$meaning)], character())
  expect_true(all(nzchar(table$meaning)))
  found <- arguments_of_package()
  expect_gt(nrow(found), 500)
  expect_identical(wrong_words(found, table), NULL)
  more <- rbind(found, data.frame(argument = c("samples", "frobnicate"), name = "ufs_new"))
  expect_match(wrong_words(more, table), "`samples` of ufs_new is not in the table", fixed = TRUE, all = FALSE)
  expect_match(wrong_words(more, table), "`frobnicate` of ufs_new", fixed = TRUE, all = FALSE)
  expect_match(wrong_words(found, rbind(table, table[1L, ])), "has two meanings", all = FALSE)
  expect_match(wrong_words(found[found$argument != "swaps", ], table), "`swaps` of .* is not there", all = FALSE)
})

test_that("names of arguments are not completed", {
  x <- as.matrix(mtcars)
  meant <- function(code, name, argument) {
    expect_error(code, paste0("no argument `", name, "`: is it `", argument, "`"), class = "ufs_error_argument")
  }
  expect_error(ufs_represent(x, rho = 1), "Is it `rho0`", class = "ufs_error_argument")
  expect_error(ufs_css(x, s = 5), "no argument `s`; it has k, mu, mu_rel, swaps, starts", class = "ufs_error_argument")
  meant(ufs_size(x, meth = "css"), "meth", "method")
  meant(ufs_select(x, k = 3, tas = "compress"), "tas", "task")
  meant(ufs_stability(x, "pca", n_components = 2, k = 2, met = "css"), "met", "method")
  expect_error(ufs_pca(x, n_comp = 2), "n_components", class = "ufs_error_argument")
  fit <- ufs_pca(x, n_components = 2, k = 3)
  meant(feature_ranking(fi = fit), "fi", "fit")
  meant(selected_features(fit, a = "index"), "a", "as")
  meant(predict(fit, newd = x), "newd", "newdata")
  meant(ufs_methods(wha = "methods"), "wha", "what")
  meant(ufs_control(max_it = 2), "max_it", "max_iter")
  # Arguments of the function that was called are guessed, too.
  expect_error(ufs_decoys(x, "variance", n_decoy = 3), "Is it `n_decoys`", class = "ufs_error_argument")
  expect_error(ufs_grid(x, "css", list(k = 2), keep_fit = TRUE), "Is it `keep_fits`", class = "ufs_error_argument")
})
