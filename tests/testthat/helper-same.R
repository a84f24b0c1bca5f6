# What is said of results, in a form that machines and versions of R share: numbers to three digits, what is only rounding
# as zero, and of a picture its words and how much it draws.

# One of each kind of result; times are zero.
results_to_show <- function() {
  seed <- function(code) suppressMessages(suppressWarnings(withr::with_seed(1, code)))
  no_time <- function(x) {
    if (is.list(x$results)) x$results$seconds <- 0
    if (!is.null(x$table$seconds)) x$table$seconds <- 0
    if (!is.null(x$table$elapsed)) x$table$elapsed <- 0
    if (!is.null(x$seconds)) x$seconds[] <- 0
    if (!is.null(x$fit)) x$fit$elapsed <- 0
    x
  }
  fits <- c(a = ufs_variance(mtcars), b = ufs_pca(mtcars, n_components = 2))
  for (i in 1:2) fits[[i]]$elapsed <- 0
  graph <- seed(ufs_graph(mtcars))
  sample <- rep(1:20, each = 3)
  repeated <- seed(cbind(a = rnorm(20)[sample], b = rnorm(20)[sample], c = 0, d = 0) + rnorm(240, sd = .5))
  lapply(list(grid = seed(ufs_grid(iris[, 1:4], "pca", list(n_components = 1:4, scale = c(TRUE, FALSE)))),
    `grid with errors` = seed(ufs_grid(iris[, 1:4], "kmeans_f", list(n_clusters = c(2, 500)))),
    `grid of rows` = seed(ufs_grid(mtcars, "ted", list(mu_rel = c(0.01, 0.1)))),
    tune = seed(ufs_tune(mtcars, "pca", list(n_components = 1:9), k = 4)),
    stability = seed(ufs_stability(mtcars, "pca", k = 3, n_components = 2, n_resamples = 9)),
    `stability of rows` = seed(ufs_stability(mtcars, "ted", m = 3, n_resamples = 5)),
    `stability of several` = seed(ufs_stability(mtcars, c("pca", "variance"), k = 3, n_components = 2, n_resamples = 5)),
    decoys = seed(ufs_decoys(mtcars, c("pca", "laplacian"), n_components = 2, k = 4)),
    `decoys under constraints` = seed(ufs_decoys(ufs_data(mtcars, include = "mpg", exclude = "am"), "pca", n_components = 2)),
    reliability = seed(ufs_reliability(repeated, sample)), overlap = ufs_overlap(fits, 4), fits = fits,
    size = seed(ufs_size(mtcars, "pca", n_components = 2, repeats = 2, n_resamples = 4)),
    split = seed(ufs_split(mtcars, 10)), graph = graph,
    propagation = ufs_propagate(graph, replace(mtcars$am, 3:25, NA)),
    represent = ufs_represent(as.matrix(mtcars[1:12, 1:5])),
    sketch = seed(ufs_sketch(mtcars, 10, n_vectors = 2)), look = seed(ufs_look(mtcars)), data = ufs_data(mtcars, include = "mpg"),
    moments = ufs_moments(mtcars), control = ufs_control(tol = 1e-3)), no_time)
}

# Arguments of pictures besides none.
pictures_to_show <- list(grid = list(list(value = "iterations"), list(over = "scale")), tune = list(list(value = "seconds")),
  stability = list(list("samples")), decoys = list(list(to = 5), list(to = 500)), overlap = list(list("features")),
  fits = list(list(k = 3, what = "features")), graph = list(list("weights")), path = list(list(type = "gap")))

# What is printed, with numbers of fewer digits.
said <- function(code) {
  withr::local_options(ufselect.width = 90, width = 120, digits = 3)
  lines <- tryCatch(utils::capture.output(code), error = conditionMessage)
  small <- "-?[0-9][0-9.]*e-(0[89]|[1-9][0-9]+)"
  gsub(" +$", "", gsub(small, "0", lines))
}

table_of <- function(code) {
  table <- as.data.frame(code)
  numbers <- vapply(table, is.double, NA)
  table[numbers] <- lapply(table[numbers], function(x) ifelse(abs(x) < 1e-8, 0, signif(x, 3L)))
  table
}

picture_said <- function(object, args) {
  drawn <- do.call(ggplot2::autoplot, c(list(object), args))
  layers <- ggplot2::ggplot_build(drawn)$data
  cat(drawn$labels$title, "|", drawn$labels$subtitle, "|", vapply(layers, nrow, 0L), "\n")
  withr::with_pdf(NULL, do.call(plot, c(list(object), args, list(main = "Mine"))))
}

# Everything that is said of one result.
all_said <- function(name, object) {
  title <- paste("=====", name)
  if (name == "control") return(c(title, said(print(object))))
  whole <- c(title, said(print(object)), "--- summary", same_as(said(print(summary(object))), said(print(object)), "print"))
  if (!inherits(object, "ufs_result")) return(whole)
  table <- said(print(table_of(as.data.frame(object))))
  c(whole, "--- table", table, "--- tidy", same_as(said(print(table_of(generics::tidy(object)))), table, "table"),
    "--- glance", same_as(said(print(table_of(generics::glance(object)))), table, "table"), "--- picture",
    unlist(lapply(c(list(list()), pictures_to_show[[name]]), function(args) said(picture_said(object, args)))))
}

same_as <- function(lines, other, word) if (identical(lines, other)) paste("as the", word) else lines
