# SOCFS: what the objective is worth, and that the exact solver keeps the promises of its help page.
#
#   Rscript socfs-objective.R worth  --data=FOLDER [--sets=wine,tissue] [--out=file.csv]
#   Rscript socfs-objective.R starts --data=FOLDER [--sets=...] [--rows=400] [--seconds=150] [--out=file.csv]
#
# worth: the default call against the lowest objective that a path of rising penalties finds from
# k-means and from three random starts: objective, live features, and the accuracy of k-means on
# the best k columns. One line per set, penalty and variant, with the call.
# starts: from random orthonormal E, five penalties and up to five seeds: the objective of the
# paper's iteration (solver = "paper", with its last V-step exact, which is never above the iteration
# itself), of exact steps alone, and of solver = "exact". One line per set and penalty. At most
# `rows` samples; seeds are taken in turn until `seconds` of CPU are used on a set.
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

# ---- starts ---------------------------------------------------------------------------------------

some_rows <- function(data, most) {
  if (nrow(data$x) <= most) return(data$x)
  set.seed(1)
  data$x[sort(sample.int(nrow(data$x), most)), ]
}

starts <- function() {
  rows <- as.integer(option("rows", "400"))
  budget <- as.numeric(option("seconds", "150"))
  penalties <- c(.05, .1, .2, .3, .5)
  for (set in sets) {
    data <- read_set(folder, set)
    x <- unname(some_rows(data, rows))
    clusters <- nlevels(data$y)
    used <- 0
    cases <- NULL
    for (seed in 1:5) {
      if (seed > 1L && used * seed / (seed - 1) > budget) break
      e <- random_start(nrow(x), clusters, seed)
      for (rel in penalties) {
        fit <- function(...) {
          silently(ufs_socfs(x, clusters, lambda_rel = rel, init = e, control = quiet, ...))
        }
        used <- used + cpu({
          plain_cpu <- cpu(plain <- fit(solver = "paper"))
          before_cpu <- cpu(before <- exact_steps(x, e, plain$params$lambda))
          after_cpu <- cpu(after <- fit())
        })
        # The last row of the plain part: rows above the smoothing.
        literal_live <- utils::tail(plain$trace$live[plain$trace$solver == "paper"], 1L)
        cases <- rbind(cases, data.frame(rel = rel, seed = seed, literal = objective(plain),
          before = before$objective, after = objective(after), literal_live = literal_live,
          polished_live = plain$certificate[["live_rows"]], before_live = before$live,
          after_live = after$certificate[["live_rows"]], literal_cpu = plain_cpu, before_cpu = before_cpu,
          after_cpu = after_cpu))
      }
    }
    for (rel in penalties) {
      here <- cases[cases$rel == rel, ]
      excess <- function(j) j / here$literal - 1
      zero <- function(live) sum(live == 0 & (here$literal_live > 0 | here$polished_live > 0))
      write_row(data.frame(set = set, n = nrow(x), p = ncol(x), n_clusters = clusters,
        lambda_rel = rel, seeds = nrow(here), literal = signif(mean(here$literal), 6L),
        before = signif(mean(here$before), 6L), after = signif(mean(here$after), 6L),
        before_above = sum(excess(here$before) > 1e-6), before_worst = signif(max(excess(here$before)), 2L),
        before_false_zero = zero(here$before_live),
        after_above = sum(excess(here$after) > 1e-6), after_worst = signif(max(excess(here$after)), 2L),
        after_false_zero = zero(here$after_live), after_below = sum(excess(here$after) < -1e-3),
        literal_cpu = signif(mean(here$literal_cpu), 3L), before_cpu = signif(mean(here$before_cpu), 3L),
        after_cpu = signif(mean(here$after_cpu), 3L)))
    }
  }
}

switch(commandArgs(TRUE)[1L], worth = worth(), starts = starts(), stop("first argument: worth or starts"))
