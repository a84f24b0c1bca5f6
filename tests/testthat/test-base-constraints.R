# The table of constraints: every row goes through all that the table promises, and so does a row that
# only this file knows.

x <- withr::with_seed(3, matrix(stats::rnorm(144), 24, dimnames = list(paste0("r", 1:24), paste0("c", 1:6))))
# A value of each kind, for columns or rows.
value_of <- function(row, size) {
  switch(row$kind,
    places = if (row$name == "exclude") 2L else if (row$name == "candidates") seq_len(size - 1L) else c(3L, 1L),
    numbers = seq_len(size) / 2 + 1, groups = c(1, 1, rep(NA, size - 2L)), levels = rep(1:3, length.out = size),
    "some levels" = c(NA, rep(1:4, length.out = size - 1L)), strata = rep(1:2, length.out = size), limit = 1e4,
    share = .95, switch = TRUE, quotas = if (row$about == "rows") c("1" = 3, "2" = 4) else list("1" = 1, "2" = c(0, 2)))
}
# The arguments of ufs_data() for a row, with those that it needs.
given_for <- function(row, x) {
  size <- if (row$about == "columns") ncol(x) else nrow(x)
  given <- stats::setNames(list(value_of(row, size)), row$name)
  if (!is.null(row$needs)) given <- c(given, given_for(constraint_rows()[[row$needs[1L]]], x))
  given
}
# As it stands in the namespace, where declare_here() may have given it an argument more: testthat sees a copy.
door <- function() get("ufs_data", asNamespace("ufselect"))
held_in <- function(data, row) data[[constraint_slot(row)]][[row$held]]
# A constraint of columns, declared for one test: ufs_data() has an argument for it.
declare_here <- function(name, ..., env = parent.frame()) {
  declare_constraint(name, ...)
  withr::defer(declared$rows[[name]] <- NULL, envir = env)
  with_it <- ufs_data
  formals(with_it) <- c(formals(ufs_data), stats::setNames(list(NULL), name))
  replaced("ufs_data", with_it, env = env)
}

test_that("ufs_data() has an argument for each row, and rows name what there is", {
  arguments <- names(formals(ufs_data))
  expect_identical(setdiff(constraint_names(), arguments), character())
  expect_setequal(input_arguments(), setdiff(arguments, c("x", "...")))
  expect_identical(anyDuplicated(vapply(constraint_rows("rows"), `[[`, "", "held")), 0L)
  for (row in constraint_rows()) if (!is.null(row$needs)) expect_true(row$needs[1L] %in% constraint_names(), info = row$name)
})

follows_everywhere <- function(row, x) {
  about <- paste(row$name, row$kind)
  given <- given_for(row, x)
  data <- do.call(door(), c(list(x), given))
  expect_gt(length(held_in(data, row)), 0, label = about)
  # Without what it needs it is an error that names it.
  if (!is.null(row$needs)) {
    expect_error(do.call(door(), c(list(x), given[row$name])), class = "ufs_error_argument",
      paste0("`", row$name, "` needs `", row$needs[1L], "`"), fixed = TRUE)
  }
  size <- if (row$about == "columns") ncol(x) else nrow(x)
  ord <- c(3L, 1L, 5L, 4L)
  part <- function(data, at) if (row$about == "columns") data[, at] else data[at, ]
  names <- if (row$about == "columns") colnames(x) else rownames(x)
  right <- held_in(data, row)
  if (row$kind %in% value_kinds) right <- right[ord]
  if (row$kind == "strata") right$level <- right$level[ord]
  if (row$kind == "places") right <- match(intersect(right, ord), ord)
  for (at in list(ord, names[ord])) expect_identical(held_in(part(data, at), row), right, info = about)
  expect_identical(held_in(part(data, -setdiff(seq_len(size), ord)), row),
    held_in(part(data, sort(ord)), row), info = about)
  expect_identical(held_in(part(part(data, rev(seq_len(size))), rev(seq_len(size))), row), held_in(data, row), info = about)
  if (row$kind %in% value_kinds) {
    expect_identical(held_in(part(data, c(2L, 2L, 1L)), row), held_in(data, row)[c(2L, 2L, 1L)], info = about)
  }
  expect_identical(held_in(unserialize(serialize(data, NULL)), row), held_in(data, row))
  expect_identical(held_in(to_travel(data), row), held_in(data, row))
  expect_false(identical(data_key(data), data_key(door()(x))), info = about)
  if (!is.null(row$words)) {
    words <- row$words(held_in(replace(data, "held", list(expand_groups(data$held))), row), data[[constraint_slot(row)]])
    expect_output(print(data), words, fixed = TRUE, info = about)
  }
  list(data = data, given = given)
}

test_that("every constraint follows through data, subsets, saving, workers, print, decoys, listings and frameworks", {
  for (row in constraint_rows()) if (row$kind != "quotas") follows_everywhere(row, x)
  for (row in constraint_rows("columns")) {
    if (row$kind == "quotas") next
    both <- with_decoys(do.call(door(), c(list(x), given_for(row, x))), seq_len(6), seq_len(6), 6L)
    kept <- both$data$held[[row$held]]
    expect_gt(length(kept), 0, label = row$name)
    if (row$kind %in% value_kinds) expect_length(kept, 12L)
    if (row$kind == "strata") expect_length(kept$level, 12L)
  }
  listed <- names(ufs_methods(what = "constraints"))
  for (row in constraint_rows(ranked = TRUE)) expect_true(row$name %in% listed, info = row$name)
  for (row in constraint_rows("columns", option = TRUE)) {
    expect_silent(check_method_options("variance", stats::setNames(list(1L), row$name)))
  }
})

test_that("a constraint that is one row and one argument follows everywhere", {
  declare_here("prefer", "columns", "numbers", ranked = TRUE, option = TRUE,
    words = function(value, all) paste("preferences of sum", sum(value)))
  row <- constraint_rows()[["prefer"]]
  made <- follows_everywhere(row, x)
  expect_true("prefer" %in% input_arguments())
  both <- with_decoys(made$data, seq_len(6), seq_len(6), 6L)
  expect_length(both$data$held$prefer, 12L)
  expect_setequal(both$data$held$prefer, made$data$held$prefer)
  expect_identical(ufs_methods(what = "constraints")$prefer, ifelse(ufs_methods()$selects == "samples", "-", "ranking"))
  fit <- ufs_pca(x, 2, prefer = value_of(row, 6L))
  expect_identical(fit$constraints$features$prefer, made$data$held$prefer)
  expect_identical(fit$constraints$features$by[["prefer"]], "ranking")
  expect_output(print(fit), "preferences of sum", fixed = TRUE)
  expect_silent(check_method_options("variance", list(prefer = 1:6)))
  expect_error(ufs_facility(x, m = 3, prefer = 1:6), "is about features", class = "ufs_error_argument")
  # As it is cut, so it comes to methods: the third column is constant.
  x[, 3] <- 1
  expect_identical(suppressWarnings(as_ufs_matrix(door()(x, prefer = 1:6)))$held$prefer, c(1, 2, 4, 5, 6))
})

test_that("a constraint on rows that only a test knows follows, too", {
  declare_here("recent", "rows", "some levels", ranked = TRUE, words = function(value, all) "levels of age")
  follows_everywhere(constraint_rows()[["recent"]], x)
  fit <- ufs_facility(x, m = 3, recent = rep(1:4, 6))
  expect_identical(fit$constraints$samples$recent, rep(1:4, 6))
  expect_output(print(fit), "levels of age", fixed = TRUE)
  expect_error(ufs_pca(x, 2, recent = 1:24), "is about samples", class = "ufs_error_argument")
})
