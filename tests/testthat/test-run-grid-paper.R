test_that("the grids are those stated and fit their methods", {
  powers <- c(1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1000)
  full <- published_grid("paper", "alfs")
  expect_identical(dim(full), c(512L, 3L))
  expect_identical(nrow(unique(full)), 512L)
  for (column in full) expect_equal(sort(unique(column)), powers, tolerance = 1e-15)
  first <- published_grid("ALFS-I", "alfs")
  expect_identical(dim(first), c(64L, 3L))
  expect_identical(unique(first$lambda), 0)
  for (method in c("ted", "rrss", "alnr")) expect_equal(published_grid("paper", method)[[1L]], powers)
  # A method without a stated grid is refused, with those that have one.
  expect_refusals("\"alfs\".*\"ted\"" = ufs_grid(mtcars, "spec", "paper"), "ALFS-II" = ufs_grid(mtcars, "alfs", "III"))
  expect_identical(ufs_grid(mtcars, "ted", "paper", m = 3)$settings, published_grid("paper", "ted"))
  expect_match(attr(full, "source"), "4.1")
})

test_that("every registered grid names arguments of its method and runs", {
  skip_on_cran()
  x <- sample_data(12, 5)
  for (method in names(registry())) {
    paper <- registry()[[method]]$paper_grid
    if (is.null(paper)) next
    for (variant in names(paper$grids)) {
      grid <- published_grid(variant, method)
      given <- needed(method)
      given$k <- if (!is.null(given$k)) 2
      few <- do.call(ufs_grid, c(list(x, method, grid[c(1, nrow(grid)), , drop = FALSE],
        control = ufs_control(warn = FALSE)), given))
      expect_identical(few$results$error, c("", ""))
      expect_identical(nrow(grid), as.integer(prod(lengths(paper$grids[[variant]]))))
    }
  }
})

test_that("each of the five systems has a grid, which says where it is from, and solver = \"paper\"", {
  skip_on_cran()
  x <- sample_data(30, 6)
  for (method in c("socfs", "jspca", "alfs", "topk", "blfse")) {
    expect_match(attr(published_grid("paper", method), "source"), "et al[.]|and Kim|and Du", label = method)
    expect_warning(fit <- fit_of(method, x, solver = "paper", control = ufs_control(max_iter = 3, warn = FALSE),
      hear = identity), NA)
    if (method != "blfse") expect_identical(fit$params$solver, "paper")
  }
  expect_refusals("only be" = ufs_blfse(x, 3, 2, solver = "exact"))
  expect_arguments(solver = ufs_blfse(x, 3, 2, solver = "exact"))
})
