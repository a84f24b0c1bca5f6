# SOCFS: what the objective is worth.
#   Rscript socfs-objective.R --data=FOLDER [--sets=wine,tissue] [--out=file.csv]
# The default call against the lowest objective that a path of rising penalties finds from
# k-means and from three random starts: objective, live features, and the accuracy of k-means on
# the best k columns. One line per set, penalty and variant, with the call.
# Each line is appended to the file as it comes.
library(ufselect)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "common.R"))

folder <- option("data", Sys.getenv("UFSELECT_DATA"))
sets <- words(option("sets", paste(sub("[.]rds$", "", list.files(folder, "[.]rds$")), collapse = ",")))
out <- option("out", "")
quiet <- ufs_control(warn = FALSE)

write_row <- function(row) {
  cat(paste(format(row, digits = 6L), collapse = " "), "\n")
  if (nzchar(out)) {
    new <- !file.exists(out)
    utils::write.table(row, out, sep = ",", row.names = FALSE, col.names = new, append = !new)
  }
}

silently <- function(code) suppressWarnings(suppressMessages(code))
objective <- function(fit) fit$trace$objective[nrow(fit$trace)]

# ---- what the objective is worth ----------------------------------------------------------------

# Accuracy in per cent of k-means on the best k columns, the mean over five seeds and the k's.
accuracy <- function(fit, x, y) {
  at_k <- vapply(two_k(ncol(x)), function(k) {
    z <- scale(x[, selected_features(fit, k, as = "index"), drop = FALSE])
    z <- z[, colSums(is.na(z)) == 0, drop = FALSE]
    if (nrow(unique(z)) < nlevels(y)) return(NA_real_)
    mean(vapply(1:5, function(seed) {
      set.seed(seed)
      found <- stats::kmeans(z, nlevels(y), nstart = 5L, iter.max = 100L)$cluster
      ufs_cluster_metrics(found, y)[["accuracy"]]
    }, 0))
  }, 0)
  100 * mean(at_k, na.rm = TRUE)
}

# Exact steps from E, at each of the penalties in turn until they converge. The columns are merged
# as in ufs_socfs().
exact_steps <- function(x, e, lambdas) {
  inside <- asNamespace("ufselect")
  data <- silently(inside$as_ufs_matrix(x))
  z <- data$x[, unique(inside$x_equal_columns(data$x)), drop = FALSE]
  control <- inside$resolve_control(quiet, max_iter = 500L, tol = 1e-7, inner_max_iter = 10L, inner_tol = 1e-4)
  lambda <- lambdas[length(lambdas)]
  problem <- list(x = z, lambda = lambda, gamma = 1, eps = (1e-6 / max(data$norm))^2)
  stages <- do.call(rbind, lapply(lambdas, function(value) {
    inside$socfs_stages("exact", value, control, 0L, NULL, TRUE)
  }))
  found <- inside$socfs_run(problem, list(E = e), stages, control)
  list(e = found$E, objective = inside$socfs_objective(found), live = sum(rowSums(found$V^2) > 0))
}

random_start <- function(n, clusters, seed) {
  set.seed(seed)
  qr.Q(qr(matrix(stats::runif(n * clusters), n)))
}

worth <- function() {
  shares <- c(.05, .15, .4, 1)
  for (set in sets) {
    data <- read_set(folder, set)
    x <- unname(data$x)
    clusters <- nlevels(data$y)
    for (rel in c(.1, .3)) {
      call <- call("ufs_socfs", quote(x), clusters, lambda_rel = rel)
      # The V of a given E.
      at <- function(e) silently(ufs_socfs(x, clusters, lambda_rel = rel, init = e,
        control = ufs_control(max_iter = 0, warn = FALSE)))
      set.seed(1)
      cpu_default <- cpu(default <- silently(eval(call)))
      set.seed(1)
      e <- silently(ufs_socfs(x, clusters, lambda_rel = rel, control = ufs_control(max_iter = 0, warn = FALSE)))
      starts <- c(list(e$solution$E), lapply(1:3, function(seed) random_start(nrow(x), clusters, seed)))
      cpu_path <- cpu(paths <- lapply(starts, function(e) exact_steps(x, e, shares * default$params$lambda)))
      lowest <- which.min(vapply(paths, `[[`, 0, "objective"))
      row <- function(variant, fit, seconds, call) {
        write_row(data.frame(set = set, n = nrow(x), p = ncol(x), lambda_rel = rel, variant = variant,
          objective = signif(objective(fit), 6L), live = fit$certificate[["live_rows"]],
          k = paste(two_k(ncol(x)), collapse = " "),
          accuracy = round(silently(accuracy(fit, x, data$y)), 1L), cpu_seconds = signif(seconds, 3L),
          call = call))
      }
      call <- paste(deparse(call), collapse = "")
      row("default", default, cpu_default, paste("set.seed(1);", call))
      row("path", at(paths[[lowest]]$e), cpu_path, sprintf("%s at %s of lambda, each from the E before; from %s",
        call, paste(shares, collapse = ", "), c("k-means", paste("random start", 1:3))[lowest]))
    }
  }
}

worth()
