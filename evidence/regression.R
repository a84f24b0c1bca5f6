# Which samples to send to the laboratory: m of the pool are chosen without labels, a model is learnt
# on them, and its error on the other part is compared with the mean of random choices.
#   Rscript regression.R [--data=FOLDER] [--sets=gasoline,concrete] [--splits=5] [--out=file.csv]
#       FOLDER/regression/sets.rds is a list of list(x, y (responses), spectra); default: environment
#       variable UFSELECT_DATA. One line for each set, choice, number of samples and learner: the RMSE
#       over that of random choices (mean over splits and responses), the coverage, CPU seconds of the choice.
# Beside ours: prospectr (kenStone, duplex, puchwein, honigs, shenkWest, naes) and clhs, if installed.
library(ufselect)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "common.R"))

# ---- choices: each a function of the context of a pool and of m ---------------------------------

# Spectra have SNV rows and leading scores; other columns are standardised. Field tools get scores.
# untreated: the leading scores of spectra whose rows are as they are.
context <- function(x, spectra) {
  x <- x[, apply(x, 2L, stats::sd) > 1e-12, drop = FALSE]
  centred <- function(rows) {
    ufselect:::as_ufs_matrix(ufselect:::open_quietly(ufs_data(x, rows = rows)), TRUE, !spectra)
  }
  ready <- centred(if (spectra) "snv" else "none")
  scores <- silently(ufselect:::smooth_scores(ready))
  list(x = x, spectra = spectra, scores = scores, rows = if (spectra) scores else ready$x,
    untreated = if (spectra) silently(ufselect:::smooth_scores(centred("none"))), pc = ncol(scores))
}
index <- function(fit, m) unname(selected_samples(fit, m, as = "index"))[seq_len(m)]

# The largest distance at which at least m are chosen; of more, the first m.
by_distance <- function(choose, m, high) {
  low <- 0
  best <- NULL
  for (i in 1:12) {
    middle <- (low + high) / 2
    at <- tryCatch(silently(choose(middle)), error = function(e) NULL)
    if (length(at) >= m) {
      if (is.null(best) || length(at) <= length(best)) best <- at
      low <- middle
    } else high <- middle
    if (length(at) == m) break
  }
  if (is.null(best)) rep(NA_integer_, m) else best[seq_len(m)]
}

ours <- list(
  "ted, heat" = function(c, m) index(silently(ufs_ted(c$rows, m = m, similarity = "heat", scale = FALSE)), m),
  "ted, heat, without SNV" = function(c, m) if (c$spectra) index(silently(ufs_ted(c$untreated, m = m, similarity = "heat",
    scale = FALSE)), m),
  "medoids, lengths kept" = function(c, m) index(silently(ufs_medoids(c$rows, m = m, unit = FALSE, scale = FALSE)), m),
  "medoids" = function(c, m) index(silently(ufs_medoids(c$x, m = m)), m),
  "facility" = function(c, m) index(silently(ufs_facility(c$x, m = m)), m),
  "ted, linear" = function(c, m) index(silently(ufs_ted(c$x, m = m)), m))
field <- list(
  kenStone = function(c, m) prospectr::kenStone(c$scores, k = m, metric = "euclid")$model,
  duplex = function(c, m) prospectr::duplex(c$scores, k = m, metric = "mahal", pc = c$pc)$model,
  naes = function(c, m) prospectr::naes(c$scores, k = m, pc = c$pc, iter.max = 50, method = 0)$model,
  honigs = function(c, m) if (c$spectra) prospectr::honigs(c$x, k = m, type = "A")$model,
  puchwein = function(c, m) by_distance(function(d) prospectr::puchwein(c$scores, k = d, pc = c$pc, min.sel = m)$model, m, 3),
  shenkWest = function(c, m) by_distance(function(d) prospectr::shenkWest(c$scores, d.min = d, pc = c$pc)$model, m, 6),
  clhs = function(c, m) clhs::clhs(as.data.frame(c$scores[, seq_len(min(10L, c$pc)), drop = FALSE]), size = m, iter = 5000, progress = FALSE, simple = TRUE))
has <- vapply(c("prospectr", "clhs"), requireNamespace, NA, quietly = TRUE)
choices <- c(ours, field[rep(has, c(6L, 1L))])

# ---- learners -----------------------------------------------------------------------------------

# PLS by NIPALS-like deflation (SIMPLS for one response), components by leave-out in five parts.
pls_path <- function(x, y, most) {
  mx <- colMeans(x)
  x0 <- sweep(x, 2L, mx)
  my <- mean(y)
  s <- crossprod(x0, y - my)
  r <- v <- NULL
  q <- numeric()
  beta <- matrix(0, ncol(x), most)
  for (a in seq_len(most)) {
    t <- x0 %*% s
    size <- sqrt(sum(t^2))
    if (!is.finite(size) || size < 1e-12) {
      if (a > 1L) beta[, a:most] <- beta[, a - 1L]
      break
    }
    t <- t / size
    r <- cbind(r, s / size)
    p <- crossprod(x0, t)
    q <- c(q, sum((y - my) * t))
    u <- p
    if (a > 1L) u <- u - v %*% crossprod(v, p)
    u <- u / sqrt(sum(u^2))
    v <- cbind(v, u)
    s <- s - u %*% crossprod(u, s)
    beta[, a] <- r %*% q
  }
  list(beta = beta, mx = mx, my = my)
}
pls_guess <- function(path, x, a) path$my + sweep(x, 2L, path$mx) %*% path$beta[, a, drop = FALSE]
in_fifths <- function(m) rep_len(1:5, m)[order(stats::runif(m))]
fit_pls <- function(x, y, new) {
  most <- max(1L, min(15L, length(y) - 2L - ceiling(length(y) / 5), ncol(x)))
  part <- in_fifths(length(y))
  error <- rowSums(matrix(vapply(1:5, function(f) {
    out <- part == f
    path <- pls_path(x[!out, , drop = FALSE], y[!out], most)
    colSums((pls_guess(path, x[out, , drop = FALSE], seq_len(most)) - y[out])^2)
  }, numeric(most)), most))
  drop(pls_guess(pls_path(x, y, most), new, which.min(error)))
}

# Ridge in the heat kernel; width and ridge by leaving one out.
fit_kernel <- function(x, y, new) {
  d2 <- function(a, b) pmax(outer(rowSums(a^2), rowSums(b^2), "+") - 2 * tcrossprod(a, b), 0)
  own <- d2(x, x)
  middle <- stats::median(own[lower.tri(own)])
  my <- mean(y)
  best <- Inf
  for (by in c(.5, 1, 2, 4, 16)) {
    k <- eigen(exp(-own / (by * middle)), symmetric = TRUE)
    for (ridge in 10^(-5:1)) {
      hat <- k$vectors %*% (pmax(k$values, 0) / (pmax(k$values, 0) + ridge) * t(k$vectors))
      error <- mean(((y - my - hat %*% (y - my)) / pmax(1 - diag(hat), 1e-6))^2)
      if (error < best) {
        best <- error
        alpha <- k$vectors %*% (crossprod(k$vectors, y - my) / (pmax(k$values, 0) + ridge))
        width <- by * middle
      }
    }
  }
  drop(my + exp(-d2(new, x) / width) %*% alpha)
}

# ---- one set ------------------------------------------------------------------------------------

# RMSE of both learners on the test part, all responses, each over the sd of the response.
errors_of <- function(context, part, chosen, y_pool, y_test) {
  chosen <- unique(chosen)
  vapply(c("PLS", "kernel"), function(learner) {
    mean(vapply(seq_len(ncol(y_pool)), function(r) {
      guess <- (if (learner == "PLS") fit_pls else fit_kernel)(context$rows_for[[learner]][chosen, , drop = FALSE],
        y_pool[chosen, r], part[[learner]])
      sqrt(mean((guess - y_test[, r])^2)) / stats::sd(y_pool[, r])
    }, 0))
  }, 0)
}

one_split <- function(set, data, split, n_random, sizes) {
  set.seed(split)
  x <- as.matrix(data$x)
  y <- as.matrix(data$y)
  fine <- rowSums(is.na(cbind(x, y))) == 0
  x <- x[fine, ]
  y <- y[fine, , drop = FALSE]
  pool <- sort(sample.int(nrow(x), round(.7 * nrow(x))))
  if (length(pool) > 700L) pool <- sort(sample(pool, 700L))
  sizes <- sizes[sizes <= length(pool) / 2]
  context <- context(x[pool, ], data$spectra)
  # Both learners see what the field would give them: SNV spectra, or standardised columns.
  seen <- if (data$spectra) t(scale(t(x))) else {
    z <- scale(x, colMeans(x[pool, ]), apply(x[pool, ], 2L, stats::sd))
    z[, colSums(!is.finite(z)) == 0, drop = FALSE]
  }
  base <- stats::prcomp(seen[pool, ], rank. = context$pc)
  scores <- stats::predict(base, seen)
  context$rows_for <- list(PLS = seen[pool, ], kernel = if (data$spectra) scores[pool, ] else seen[pool, ])
  part <- list(PLS = seen[-pool, ], kernel = if (data$spectra) scores[-pool, ] else seen[-pool, ])
  size <- mean(rowSums(context$rows^2))
  judge <- function(choice, m, chosen, seconds) {
    error <- errors_of(context, part, chosen, y[pool, , drop = FALSE], y[-pool, , drop = FALSE])
    nearest <- apply(ufselect:::square_distances(context$rows, context$rows[chosen, , drop = FALSE]), 1L, min)
    data.frame(set, spectra = data$spectra, split, m, choice, learner = names(error), rmse = unname(error),
      uncovered = mean(pmax(nearest, 0)) / size, seconds)
  }
  rows <- list()
  for (m in sizes) {
    for (i in seq_len(n_random)) rows <- c(rows, list(judge("random", m, sample.int(length(pool), m), 0)))
    for (name in names(choices)) {
      seconds <- cpu(chosen <- tryCatch(silently(choices[[name]](context, m)), error = function(e) NULL))
      if (length(chosen) == m && !anyNA(chosen)) rows <- c(rows, list(judge(name, m, chosen, seconds)))
    }
  }
  out <- do.call(rbind, rows)
  random <- stats::aggregate(rmse ~ m + learner, out[out$choice == "random", ], mean)
  out$ratio <- out$rmse / random$rmse[match(paste(out$m, out$learner), paste(random$m, random$learner))]
  out
}

sets <- readRDS(file.path(option("data", Sys.getenv("UFSELECT_DATA")), "regression", "sets.rds"))
use <- words(option("sets", paste(names(sets), collapse = ",")))
out <- do.call(rbind, lapply(use, function(set) {
  all <- do.call(rbind, lapply(seq_len(as.integer(option("splits", "5"))), function(split) {
    one_split(set, sets[[set]], split, 20L, c(10L, 20L, 40L, 80L))
  }))
  # Does a measure tell which choices have a small error? By rank, over the choices of a split.
  tells <- function(what) mean(unlist(lapply(split(all, list(all$split, all$m, all$learner)), function(d) {
    if (nrow(d) > 5L) stats::cor(d[[what]], d$rmse, method = "spearman")
  })))
  table <- stats::aggregate(cbind(ratio, rmse, uncovered, seconds) ~ set + spectra + m + choice + learner, all, mean)
  table$splits <- length(unique(all$split))
  table$tells_uncovered <- tells("uncovered")
  cat(set, "done\n")
  table
}))
for (column in c("ratio", "rmse", "uncovered", "seconds", "tells_uncovered")) {
  out[[column]] <- signif(out[[column]], 4L)
}
if (!is.null(option("out"))) write_table(out, option("out"))
