# Soundness of the shares, and that they are those of the definition.

skip_on_cran()

# `real` columns of three groups among `noise` independent ones.
hidden <- function(n, real, noise, size = 2) {
  x <- matrix(rnorm(n * (real + noise)), n)
  if (real) x[, seq_len(real)] <- x[, seq_len(real)] + matrix(rnorm(3 * real, sd = size), 3)[rep_len(1:3, n), ]
  `colnames<-`(x, paste0("c", seq_len(real + noise)))
}

test_that("shares are counted as defined", {
  # 1 .. 4 are real, above are decoys of columns 2 and 4.
  count <- decoys_before(c(3, 6, 1, 8, 2, 4), 1:4)
  expect_identical(count$real, c(3, 1, 2, 4))
  expect_identical(count$before, c(0L, 1L, 2L, 2L))
  # Two decoys stand for four columns.
  expect_equal(noise_curve(list(count), .05)$share, c(0, 2 / 2, 4 / 3, 4 / 4))
  # Columns 1 and 2 are equal: three that differ.
  twins <- decoys_before(c(2, 1, 7, 3, 4, 5), c(1, 1, 3, 4))
  expect_equal(twins$distinct, c(1L, 1L, 2L, 3L))
  expect_equal(noise_curve(list(twins), .05)$share, c(0, 0, 3 / 2 * 1 / 2, 3 / 2 * 1 / 3))
  # Pairs: 2 beats its decoy 6, decoy 5 beats 1; 3 beats 7; decoy 8 beats 4.
  pairs <- winners_of_pairs(c(2, 5, 3, 6, 8, 4, 7, 1), 1:4)
  expect_identical(pairs$real, c(2, 3))
  expect_equal(noise_curve(list(pairs), .05)$share, c(1, (1 + 1) / 2, 1, 1))
  # Few columns are called better than noise only if noise would hardly do so.
  before <- function(k, decoys) decoys_before(c(seq_len(k), 100 + seq_len(decoys), (k + 1):100), 1:100)
  expect_identical(noise_curve(list(before(4, 100)), .05)$k, 0L)
  expect_identical(noise_curve(list(before(5, 100)), .05)$k, 5L)
  # phyper() is the chance that a random order has no decoy before its first k real columns.
  set.seed(1)
  seen <- mean(replicate(4000, all(sample.int(200, 4) <= 100)))
  expect_equal(phyper(3, 100, 100, 4, lower.tail = FALSE), seen, tolerance = .1)
})

test_that("a decoy has the values of its column in each block of rows, sparse or not, by the same random numbers", {
  skip_if_not_installed("Matrix")
  x <- withr::with_seed(2, matrix(rpois(120, .8), 30))
  block <- rep_len(c("a", "b", "b"), 30)
  at <- c(4, 2, 3)
  for (rows in list(list(1:30), unname(split(1:30, block)))) {
    dense <- withr::with_seed(4, permuted(x[, at], rows))
    sparse <- withr::with_seed(4, sparse_decoys(to_sparse(x), at, rows))
    expect_true(methods::validObject(sparse))
    expect_identical(unname(as.matrix(sparse)), dense)
    for (part in rows) for (j in 1:3) expect_identical(sort(dense[part, j]), as.numeric(sort(x[part, at[j]])))
    expect_false(identical(dense, x[, at] + 0))
  }
  # What differs between blocks does not matter to the columns and decoys of the data.
  made <- lapply(list(x + 1, x + 50 * (block == "a") + 1), function(x) {
    data <- open_data(ufs_data(x, blocks = block))
    withr::with_seed(1, as_rescaled_operator(with_decoys(data, 1:4, 1:4, 3)$data, TRUE, FALSE)$x)
  })
  expect_equal(made[[1]], made[[2]])
})

test_that("columns and decoys in random order are those of a table made in pieces", {
  x <- withr::with_seed(2, matrix(rnorm(40 * 30), 40, dimnames = list(NULL, paste0("v", 1:30))))
  blocks <- list(1:25, 26:40)
  keep <- setdiff(1:30, c(4, 9))
  from <- c(2, 30, 7, 8, 1)
  made <- withr::with_seed(3, dense_with_decoys(x, keep, from, blocks))
  plain <- withr::with_seed(3, {
    parts <- permuted(x[, from], blocks)
    unname(cbind(x[, keep], parts)[, mixed_order(length(keep), length(from))])
  })
  expect_identical(made$x, plain)
  expect_false(identical(made$x[, seq_along(keep)], unname(x[, keep])))
  # The user's own matrix is not touched.
  expect_identical(x, withr::with_seed(2, matrix(rnorm(40 * 30), 40, dimnames = list(NULL, colnames(x)))))
})

test_that("a table made for one ranking is written over, the user's is not", {
  x <- withr::with_seed(5, hidden(40, 8, 60))
  kept <- x + 0
  spend <- names(Filter(function(row) row$spends, registry()))
  expect_true(all(c("css", "laplacian", "pca") %in% spend))
  arguments <- list(n_components = 3, n_clusters = 3, scale = TRUE)
  for (method in spend) {
    args <- arguments[names(arguments) %in% registry()[[method]]$arguments]
    quietly(withr::with_seed(1, do.call(ufs_decoys, c(list(x, method, repeats = 2), args))))
    expect_identical(x, kept)
  }
  made <- withr::with_seed(1, with_decoys(open_data(x), 1:68, 1:68, 10L))$data
  plain <- made$x + 0
  expected <- as_lazy_operator(made)$x
  expect_identical(made$x, plain)
  made$spare <- TRUE
  expect_identical(as_lazy_operator(made)$x, expected)
  expect_identical(made$x, expected)
  # A proof has its bound from what a ranking alone does without.
  small <- x[, 1:12]
  fit <- quietly(ufs_css(small, k = 2, optimal = TRUE))
  expect_length(quietly(withr::with_seed(1, ufs_decoys(small, fit, repeats = 1)))$errors[[1L]], 0)
})

test_that("every order of columns and decoys has the same chance, chunks stay together, and ties favour nobody", {
  set.seed(3)
  turns <- replicate(6000, paste(mixed_order(3, 1), collapse = ""))
  expect_length(unique(turns), 24)
  expect_gt(chisq.test(table(turns))$p.value, 1e-4)
  turn <- mixed_order(12, 5, chunk = 4)
  expect_setequal(turn, 1:17)
  expect_identical(rle((turn[turn <= 12] - 1) %/% 4)$lengths, rep(4L, 3))
  # All variances are 1: the ranking is the order of the columns.
  set.seed(12)
  found <- quietly(ufs_decoys(hidden(20, 10, 10), "variance", scale = TRUE))
  expect_identical(found$k, c(variance = 0L))
  expect_lt(abs(found$curve$share[10] - 1), .6)
})

test_that("on pure noise the share is about 1; control keeps its promise in a single repeat", {
  set.seed(5)
  out <- replicate(12, {
    found <- quietly(ufs_decoys(hidden(80, 0, 60), c("pca", "laplacian", "kmeans_f", "random"), n_components = 2,
      n_clusters = 3))
    c(found$k, found$curve$share[found$curve$k == 30])
  })
  share <- rowMeans(out[5:8, ])
  expect_true(all(abs(share - 1) < .15), info = paste(share, collapse = " "))
  expect_lte(mean(out[1:4, ] > 0), .1)
  set.seed(7)
  share <- replicate(60, {
    found <- ufs_decoys(hidden(60, 30, 120, size = 1.2), "pca", n_components = 2, share = .1,
      conservative = TRUE, repeats = 1)
    chosen <- as.integer(sub("c", "", found$columns$pca))
    expect_identical(found$k[["pca"]], length(chosen))
    c(if (length(chosen)) mean(chosen > 30) else 0, sum(chosen <= 30))
  })
  expect_lte(mean(share[1, ]), .1 + 2 * sd(share[1, ]) / sqrt(60))
  # And not by saying nothing.
  expect_gt(mean(share[2, ]), 10)
})

test_that("sizes, copies, constants and names", {
  set.seed(8)
  x <- hidden(60, 8, 12, size = 4)
  run <- function(x, ...) {
    out <- withr::with_seed(1, quietly(ufs_decoys(x, "pca", n_components = 2, repeats = 3, ...)))
    out[setdiff(names(out), c("seconds", "call"))]
  }
  found <- run(x, k = 10)
  expect_gt(found$k[["pca"]], 5)
  expect_identical(found$n_decoys, 20L)
  for (size in list(c(600, 120), c(60, 50), c(30000, 2000))) {
    expect_identical(decoys_number(NULL, list(kind = "dense"), size[1], FALSE), as.integer(size[2]))
  }
  withr::with_options(list(ufselect.max_bytes = 8 * 100 * 70), {
    expect_identical(decoys_number(NULL, list(kind = "source", n = 100), 600, FALSE), 70L)
  })
  expect_true(all(found$columns$pca %in% colnames(x)))
  expect_identical(run(x, k = 10), found)
  # Units and constant columns change nothing.
  flat <- run(cbind(flat = 1, sweep(x, 2, 1:20, "*")))
  expect_identical(flat$curve, found$curve)
  expect_identical(flat$columns, found$columns)
  expect_false("flat" %in% flat$columns$pca)
  # Copies count once: the curve reaches the same end.
  twice <- run(cbind(x, `colnames<-`(x, paste0("copy", 1:20))))
  expect_identical(twice$n_decoys, 20L)
  expect_identical(twice$distinct, 20L)
  expect_lt(abs(twice$k[["pca"]] - 2 * found$k[["pca"]]), 5)
  expect_identical(paste0("c", run(unname(x))$columns$pca), found$columns$pca)
})

test_that("several methods meet the same decoys; what was made without them, and odd arguments, are refused", {
  x <- hidden(40, 8, 12)
  set.seed(9)
  both <- ufs_decoys(x, c("pca", "laplacian"), n_components = 2, repeats = 2)
  set.seed(9)
  expect_identical(both$curve[both$curve$method == "pca", ], ufs_decoys(x, "pca", n_components = 2, repeats = 2)$curve)
  components <- 2
  fits <- c(ufs_pca(x, n_components = components), ufs(x, "laplacian"))
  set.seed(9)
  expect_identical(ufs_decoys(x, fits, repeats = 2)$curve, both$curve)
  rm(components)
  expect_error(ufs_decoys(x, fits, repeats = 2), "cannot be found here", class = "ufs_error_argument")
  expect_identical(decoys_number(1, list(kind = "dense"), 5L, FALSE), 1L)
  expect_error(decoys_number(0, list(kind = "dense"), 5L, FALSE), class = "ufs_error_argument")
  run <- function(...) ufs_decoys(hidden(30, 5, 5), ...)
  expect_arguments(method = run(1), graph = run("laplacian", graph = quietly(ufs_graph(hidden(30, 5, 5)))),
    init = run("socfs", n_clusters = 2, init = rep(1:2, 15)), method = run("ted"), method = run("nosuch"),
    method = run(c("pca", "pca"), n_components = 2), n_comp = run("pca", n_comp = 2),
    nothing = run(c("pca", "laplacian"), nothing = 2), k = run("pca", n_components = 2, k = 11),
    share = run("pca", n_components = 2, share = 0), repeats = run("pca", n_components = 2, repeats = 0),
    n_decoys = run("pca", n_components = 2, n_decoys = 11),
    n_decoys = run("pca", n_components = 2, n_decoys = 5, conservative = TRUE), method = run("pca", n_components = 99),
    n_components = run(ufs_pca(x, 2), n_components = 3))
})

for (method in subset(ufs_methods(), selects != "samples")$method) {
  test_that(paste0(method, ": has a share among decoys"), {
    set.seed(1)
    x <- hidden(24, 6, 8)
    args <- utils::modifyList(needed(method), list(k = 4, what = NULL))
    run <- function() withr::with_seed(2, quietly(do.call(ufs_decoys, c(list(x, method, repeats = 2), args))))
    found <- run()
    expect_named(found$k, method)
    expect_length(found$errors[[method]], 0)
    expect_identical(found$curve$k, 1:14)
    expect_true(all(found$curve$low <= found$curve$share + 1e-12 & found$curve$high >= found$curve$share - 1e-12))
    # At the last real column few or all decoys are before it: never more than there are.
    expect_lte(found$curve$share[14], 1)
    expect_identical(run()$curve, found$curve)
    # Of the values of each column alone nothing can be learnt.
    if (method == "variance") expect_identical(found$k[[1]], 0L)
  })
}

test_that("the same on sparse data and on files, by rows and by columns", {
  # Many rows of few columns, whose inner products take their place.
  long <- withr::with_seed(1, matrix(rnorm(2600 * 500), 2600))
  long[, 1:40] <- long[, 1:40] + 3 * long[, 41]
  expect_gte(withr::with_seed(1, quietly(ufs_decoys(long, "pca", n_components = 1, repeats = 1)))$k[["pca"]], 40L)
  # Without ties, which rounding would decide.
  set.seed(2)
  x <- hidden(40, 12, 17)
  x[sample(length(x), 500)] <- 0
  kinds <- layouts_of(x)
  run <- function(x) {
    withr::with_seed(3, quietly(ufs_decoys(x, c("pca", "kmeans_f"), n_components = 2, n_clusters = 3, repeats = 2)))
  }
  dense <- run(x)
  for (name in intersect(names(kinds), c("sparse", "by_rows", "by_columns", "shared"))) {
    found <- run(kinds[[name]])
    # Chunks of several columns stay together: another order of the same decoys.
    expect_equal(found$curve$share, dense$curve$share, tolerance = 1e-12, info = name)
    expect_identical(found$columns, dense$columns, info = name)
  }
})

test_that("a source with decoys beside it reads as the matrix it stands for", {
  skip_if_not_installed("HDF5Array")
  x <- unname(hidden(20, 4, 8))
  for (name in c("by_rows", "by_columns", "tiny_columns")) {
    part <- layouts_of(x)[[name]][c(3, 1, 9:20), c(2, 12, 5:9)]
    beside <- matrix(rnorm(14 * 3), 14)
    turn <- sample(10)
    whole <- cbind(x[c(3, 1, 9:20), c(2, 12, 5:9)], beside)[, turn]
    bound <- bound_source(part$x, beside, turn)
    expect_equal(read_source(bound), whole)
    expect_equal(read_source(bound, i = c(5, 2), j = c(4, 1, 9)), whole[c(5, 2), c(4, 1, 9)])
    expect_equal(read_source(subset_source(bound, 7:3, c(8, 2))), whole[7:3, c(8, 2)])
    expect_equal(read_source(source_by_name(bound)), whole)
  }
})

test_that("a checkpoint folder keeps what is done; workers change nothing", {
  x <- hidden(30, 5, 9)
  folder <- withr::local_tempdir()
  run <- function(n) quietly(ufs_decoys(x, "pca", n_components = 2, repeats = n, checkpoint = folder))
  set.seed(1)
  expect_identical(run(2)$checkpoint$reused, 0L)
  expect_length(list.files(folder, "^decoys.*rds$"), 2)
  more <- run(3)
  expect_identical(more$checkpoint$reused, 2L)
  expect_output(print(more), "2 of 3 reused")
  skip_processes()
  skip_if_not_installed("future")
  once <- function() withr::with_seed(1, ufs_decoys(x, c("pca", "random"), n_components = 2, repeats = 2)$curve)
  serial <- once()
  local_workers()
  expect_identical(once(), serial)
})

test_that("tables and pictures say what was found; the share of noise among all columns", {
  set.seed(10)
  found <- ufs_decoys(hidden(60, 10, 20), c("pca", "random"), n_components = 2, repeats = 3, k = 15)
  table <- as.data.frame(found)
  expect_identical(table$k, unname(found$k))
  expect_identical(table$seconds, unname(found$seconds))
  expect_equal(table$share[1], found$curve$share[15])
  expect_identical(picture(found, 20)$table$y, found$curve$share[found$curve$k <= 20])
  noise <- matrix(rnorm(80 * 90), 80)
  x <- cbind(matrix(rnorm(30 * 2), 2)[rep(1:2, 40), ] * 3, matrix(0, 80, 60)) + noise[, 1:90]
  noise_of <- function(x) withr::with_seed(1, ufs_decoys(x, "pca", n_components = 1, repeats = 1))$noise
  expect_lt(abs(noise_of(x) - 2 / 3), .1)
  expect_gt(noise_of(noise), .85)
  expect_lt(noise_of(x[, 1:30]), .1)
  expect_identical(noise_of(x), ufs_look(x)$noise)
  expect_identical(noise_of(x[, 1:4]), NA_real_)
})

test_that("columns that must be in are no evidence: they are not judged, and neither are their decoys", {
  noise <- withr::with_seed(1, matrix(rnorm(60 * 40), 60))
  for (conservative in c(FALSE, TRUE)) {
    found <- withr::with_seed(2, ufs_decoys(noise, "pca", n_components = 3, include = 1:10, exclude = 11:12,
      repeats = 3, conservative = conservative))
    expect_identical(unname(found$k), 0L)
    expect_length(found$columns[[1]], 0L)
    expect_identical(which(is.na(found$curve$share)), 1:10)
    expect_gt(found$noise, .8)
  }
  # Structure in columns 1 to 8; two columns of noise must be in, and one with structure may not be.
  x <- planted(80, 40, informative = 8)$x
  run <- function(...) withr::with_seed(2, ufs_decoys(x, "pca", n_components = 2, repeats = 4, ...))
  with <- run(include = c(30, 31), exclude = 1)
  without <- run()
  expect_gte(without$k[[1]], 6L)
  expect_lte(abs(with$k[[1]] - 2L - (without$k[[1]] - 1L)), 2L)
  expect_identical(with$columns[[1]][1:2], c(30L, 31L))
  expect_false(1L %in% with$columns[[1]])
  expect_identical(with$noise, without$noise)
  expect_output(print(with), "by constraint")
  expect_error(ufs_decoys(x, "pca", n_components = 2, include = 1:40), class = "ufs_error_argument", "no column")
  # In their own columns the shares are those of decoys before the column, counted here.
  fit <- withr::with_seed(2, ufs_decoys(x, "variance", include = c(30, 31), repeats = 1, scale = FALSE))
  expect_s3_class(picture(fit, NULL), "ufs_picture")
  # The noise of a table is not that of what is to be chosen from it.
  noise_seen <- function(x) withr::with_seed(1, look_unchecked(x))$noise
  expect_identical(noise_seen(ufs_data(x, include = 20:29)), noise_seen(x))
})

test_that("a table has a row per method, NA where no column is better; a picture marks where columns end", {
  x <- withr::with_seed(1, hidden(30, 5, 5))
  found <- withr::with_seed(1, ufs_decoys(x, c("pca", "random"), n_components = 2, repeats = 2))
  found$k[] <- c(4L, 0L)
  table <- as.data.frame(found)
  expect_identical(table$at, c(4L, 0L))
  expect_equal(table$share, c(found$curve$share[found$curve$method == "pca"][4], NA))
  expect_identical(table$columns, unname(lengths(found$columns)))
  # Few columns: each has its label below the curve.
  expect_identical(picture(found, 8)$x_labels, 1:8)
  # Rows that are all equal have no component above those of permuted columns.
  expect_identical(components_above(open_data(matrix(1, 5, 3))), 0L)
  x <- withr::with_seed(1, matrix(stats::rnorm(50 * 12), 50)) + cbind(matrix(3 * rep(0:1, 25), 50, 6), matrix(0, 50, 6))
  found <- withr::with_seed(1, ufs_decoys(x, "pca", n_components = 1, repeats = 2))
  pic <- picture(found, 12)
  expect_identical(pic$lines, list(h = 0.05, v = found$k[["pca"]]))
  expect_identical(pic$title, "ufs_decoys: how much of a selection is noise")
  expect_identical(pic[c("xlab", "ylab")], list(xlab = "features chosen (k)", ylab = "share no better than noise"))
  x <- as.matrix(mtcars)
  expect_refusals(
    "`include` and `exclude` leave no column that decoys could judge." =
      ufs_decoys(x, "variance", include = "mpg", exclude = colnames(x)[-1]),
    "`n_clusters`: the arguments of a fit are those of its call." = ufs_decoys(x, ufs_variance(x), k = 2, n_clusters = 2),
    "let it be made anew with them, e.g. graph = list(n_neighbours = 5)." = ufs_decoys(x, "laplacian", graph = ufs_graph(x)),
    "one decoy for each of the 11 columns." = ufs_decoys(x, "variance", conservative = TRUE, n_decoys = 3),
    "`method` has 'pca' twice." = ufs_decoys(x, c("pca", "pca"), n_components = 2))
})

test_that("the print says how many decoys come before more columns than are better than noise, and else nothing more", {
  found <- withr::with_seed(1, ufs_decoys(iris[, 1:4], "variance", k = 3, repeats = 2))
  expect_lt(found$included, 3L)
  at <- found$curve[3, ]
  text <- gsub("\\s+", " ", paste(capture.output(print(found)), collapse = " "))
  expect_match(text, fixed = TRUE, paste0("decoys before the best 3: ", percent(at$share),
    " of their number (repeats ", percent(at$low), " to ", percent(at$high), ")"))
  # Decoys may come before more than all of them, but the table of sizes has no more noise than the whole table.
  x <- withr::with_seed(1, cbind(iris[1:4], matrix(rnorm(900), 150)))
  found <- withr::with_seed(1, ufs_decoys(x, "css", k = 8))
  expect_gt(found$curve$share[8], 1)
  size <- withr::with_seed(1, ufs_size(x, "css", k = 8:9))
  expect_true(all(size$curve$share * size$curve$k <= found$noise * ncol(x) + 1e-8))
  shown <- capture.output(print(suppressMessages(ufs_size(swiss, task = "compress"))))
  expect_match(shown, "^ *number +measure +value +low +high$", all = FALSE)
  # Decoys of many rows are permuted columns.
  x <- cbind(sin(1:3e5), cos(1:3e5))[, rep(1:2, 4)]
  made <- withr::with_seed(1, dense_with_decoys(x, 1:8, 1:8, list(NULL)))
  expect_setequal(made$ord, 1:16)
  for (j in c(1L, 8L)) {
    expect_identical(made$x[, match(j, made$ord)], x[, j])
    decoy <- made$x[, match(8L + j, made$ord)]
    expect_false(identical(decoy, x[, j]))
    expect_identical(sort(decoy), sort(x[, j]))
  }
  none <- withr::with_seed(1, ufs_decoys(mtcars[, 1:2], "variance", repeats = 2))
  expect_identical(none$k[["variance"]], 0L)
  expect_false(any(grepl("of these", capture.output(print(none)))))
  expect_true(any(grepl("of these", capture.output(print(withr::with_seed(1, ufs_decoys(mtcars, "pca", n_components = 2)))))))
})
