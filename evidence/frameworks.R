# What recipes and mlr3 add to a fit: CPU seconds of the least of several runs.
#   Rscript frameworks.R [--sizes=200x50,2000x1000] [--methods=variance,css] [--runs=9] [--out=file.csv]
# direct: the method on the data frame. rm: prep() of a recipe whose step removes as many numeric
# columns by name, which is recipes' own work. step: prep() with step_select_ufs(). own: what the step costs over
# both. All standardised but the variance.
# mlr3: flt("ufs_variance") over mlr3's flt("variance"), each on a task.
suppressPackageStartupMessages({
  library(ufselect)
  library(recipes)
})
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "common.R"))
runs <- as.integer(option("runs", "9"))
methods <- words(option("methods", "variance,pca,laplacian,css,socfs"))
least <- function(f) min(vapply(seq_len(runs), function(i) cpu(suppressWarnings(suppressMessages(f()))), 0))

rows <- lapply(words(option("sizes", "200x50,500x200,2000x1000")), function(size) {
  size <- as.integer(words(size, "x"))
  d <- as.data.frame(clustered(size[1L], size[2L], FALSE))
  do.call(rbind, lapply(methods, function(method) {
    scaled <- method != "variance"
    options <- switch(method, socfs = list(n_clusters = 5L), pca = list(n_components = 5L), list())
    select <- function(k) prep(recipe(~., d) %>% step_select_ufs(all_numeric_predictors(), method = method, num_terms = k,
      standardise = scaled, options = options))
    kept <- names(d)[1:10]
    out <- data.frame(n = size[1L], p = size[2L], method = method,
      direct = least(function() do.call(ufs, c(list(d, method, scale = scaled), options, if (method == "css") list(k = 10L)))),
      rm = least(function() prep(recipe(~., d) %>% step_rm(all_numeric_predictors(), -dplyr::all_of(kept)))),
      step = least(function() select(10L)))
    out$own <- out$step - out$rm - out$direct
    out
  }))
})
rows <- do.call(rbind, rows)
if (requireNamespace("mlr3filters", quietly = TRUE)) {
  d <- as.data.frame(clustered(2000L, 1000L, FALSE))
  d$target <- factor(rep_len(c("a", "b"), nrow(d)))
  task <- mlr3::as_task_classif(d, target = "target")
  one <- function(key) least(function() mlr3filters::flt(key)$calculate(task))
  rows <- rbind(rows, data.frame(n = 2000L, p = 1000L, method = c("mlr3 variance", "mlr3 ufs_variance"),
    direct = c(one("variance"), one("ufs_variance")), rm = NA, step = NA, own = NA))
}
rows[4:7] <- round(rows[4:7], 4L)
print(rows, row.names = FALSE)
if (!is.null(option("out"))) utils::write.csv(rows, option("out"), row.names = FALSE)
