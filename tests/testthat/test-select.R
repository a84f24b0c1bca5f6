x <- `dimnames<-`(planted(40, 20, gap = 1)$x, list(paste0("s", 1:40), paste0("f", 1:20)))

test_that("every task applies its method, and the call repeats it", {
  wanted <- c(compress = "css", classify = "css", cluster = "mcfs", label = "facility")
  for (task in names(wanted)) {
    fit <- ufs_select(x, 5, task)
    expect_identical(fit$method, wanted[[task]])
    expect_s3_class(fit, c("ufs_select", paste0("ufs_", wanted[[task]]), "ufs"))
    again <- suppressMessages(eval(fit$call))
    expect_identical(class(again)[1], paste0("ufs_", wanted[[task]]))
    if (task == "label") {
      expect_identical(selected_samples(fit), selected_samples(again, 5))
      expect_length(selected_samples(fit), 5L)
    } else {
      expect_identical(selected_features(fit), selected_features(again, 5))
      expect_identical(predict(fit, x), x[, selected_features(fit)])
    }
    lines <- capture.output(print(fit))
    expect_match(lines, paste0("ufs_", wanted[[task]], "\\(\\)"), all = FALSE)
    expect_match(lines, "worth .*real sets", all = FALSE)
    expect_match(lines, "to repeat +ufs_.*x = x", all = FALSE)
  }
  expect_false(identical(ufs_select(x, 5, "compress")$params$mu_rel, ufs_select(x, 5, "classify")$params$mu_rel))
  # The first task is the default.
  expect_identical(ufs_select(x, 5)$task, "compress")
})

test_that("arguments go on to the method, data stay out of the call", {
  fit <- ufs_select(x, m = 4, task = "label", labelled = c("s1", "s2"), similarity = "heat")
  expect_identical(fit$params$labelled, 1:2)
  expect_identical(ufs_select(x, 4, "label")$params$m, 4L)
  expect_identical(ufs_select(x, 4, "cluster", n_clusters = 3)$params$n_clusters, 3L)
  expect_equal(ufs_select(x, 4, "classify", mu_rel = .5)$params$mu_rel, .5)
  expect_identical(ufs_select(x, 4, "classify", noise = TRUE)$method, "laplacian")
  expect_lt(object.size(do.call(ufs_select, list(x, 4, "classify"))$call), 5000)
  expect_identical(dim(predict(ufs_select(x, 4), x, type = "reconstruction")), dim(x))
  expect_error(selected_samples(ufs_select(x, 4)), class = "ufs_error_argument")
  expect_error(selected_features(ufs_select(x, 4, "label")), class = "ufs_error_argument")
})

test_that("errors name their argument", {
  bad <- function(object, argument) {
    expect_identical(expect_error(object, class = "ufs_error_argument")$argument, argument)
  }
  bad(ufs_select(x), "k")
  bad(ufs_select(x, task = "label"), "m")
  bad(ufs_select(x, 21), "k")
  bad(ufs_select(x, m = 41, task = "label"), "m")
  bad(ufs_select(x, 3, m = 2), "m")
  bad(ufs_select(x, 3, m = 2, task = "label"), "k")
  bad(ufs_select(x, 3, "explain"), "task")
  bad(ufs_select(x, 3, "classify", n_clusters = 2), "n_clusters")
  bad(ufs_select(x, 3, "label", noise = TRUE), "noise")
  expect_error(ufs_select(x, 3, unknown = 2), class = "ufs_error_argument")
  expect_error(ufs_select("a", 3), class = "ufs_error_input")
})

test_that("every method has advice", {
  table <- ufs_methods()
  expect_true(all(grepl("^(recommended|situational|historical|baseline)", table$advice)))
  expect_match(capture.output(print(ufs_variance(x))), "advice +.* for comparison", all = FALSE)
})
