# For how many columns is the rest noise? Level and power of the test behind ufs_size(x, "css")$rest, by simulation.
#   Rscript rest.R [--draws=200] [--out=rest.csv]
#
# `true` columns are independent, and each of the others is a mix of them, which makes `signal` of its variance, and
# noise of its own: normal, or of Student's t with five degrees of freedom (t5). Without true columns all are noise.
# right, more, less: of the columns that ufs_css() picks: the share of draws in which the answer is the true number, more, or less
# given: the true columns are given: the share of draws in which the test rejects them (its level is .05)
library(ufselect)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "common.R"))
rest_is_noise <- utils::getFromNamespace("rest_is_noise", "ufselect")

draws_of <- list(normal = stats::rnorm, t5 = function(n) stats::rt(n, 5) / sqrt(5 / 3))
cases <- list(c(50, 20, 0), c(60, 200, 0), c(50, 20, 3), c(200, 20, 3), c(200, 50, 5), c(60, 200, 3), c(100, 400, 5),
  c(1000, 30, 4))

simulated <- function(n, p, true, signal, noise) {
  own <- matrix(noise(n * (p - true)), n)
  if (true == 0) return(own)
  x <- matrix(stats::rnorm(n * true), n)
  w <- matrix(stats::rnorm(true * (p - true)), true)
  w <- w * rep(sqrt(signal / colSums(w^2)), each = true)
  cbind(x, x %*% w + sqrt(1 - signal) * own)
}

answers <- function(n, p, true, signal, noise) {
  x <- simulated(n, p, true, signal, noise)
  fit <- suppressMessages(ufs_css(x, min(n - 2, p - 1, 30), control = ufs_control(warn = FALSE)))
  count <- function(ranking) {
    k <- rest_is_noise(scale(x), ranking, n - 1L, 50L)$k
    if (is.na(k)) Inf else k
  }
  c(picks = count(unname(fit$feature_ranking)), given = count(seq_len(p)))
}

draws <- as.integer(option("draws", "200"))
all <- NULL
for (name in names(draws_of)) for (case in cases) for (signal in if (case[3L] > 0) c(.3, .6, .9) else 0) {
  set.seed(1)
  k <- replicate(draws, answers(case[1L], case[2L], case[3L], signal, draws_of[[name]]))
  all <- rbind(all, data.frame(noise = name, n = case[1L], p = case[2L], true = case[3L], signal,
    right = mean(k["picks", ] == case[3L]), more = mean(k["picks", ] > case[3L]), less = mean(k["picks", ] < case[3L]),
    given = mean(k["given", ] > case[3L])))
}
print(all, row.names = FALSE)
write_table(all, option("out", "rest.csv"))
