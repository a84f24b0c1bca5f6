# Constraints of columns and rows in ufs_css(): what the choice captures of wdbc (standardised) beside what
# one gets without them, and beside the most that there is.
#   Rscript constraints.R --data=FOLDER [--draws=8] [--out=constraints.csv]
#
# include  two columns that must be in and five that must be out, drawn at random; k = 4, 6, 10.
#          by hand: the two, then the columns of the unrestricted ranking that are allowed.
# cost     whole prices from 1 to 5, drawn at random; budgets of 6, 12 and 24. by hand: the ranking is
#          gone through and what is still affordable is taken. components: as many principal components
#          as the cheapest columns that the budget pays for, which nothing can beat.
# blocks   rows on three plates, each with a shift of its own of every column (normal, as large as the
#          column's standard deviation); k = 5 columns are chosen on the shifted rows and judged on the
#          clean ones. by hand: without the blocks; clean: chosen on the clean rows.
# `captured` is a share. starts: of 20 starts; proved: optimal = TRUE.
library(ufselect)
file <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])
source(file.path(dirname(file), "common.R"))
x <- read_set(option("data", Sys.getenv("UFSELECT_DATA")), "wdbc")$x
colnames(x) <- paste0("V", seq_len(ncol(x)))
p <- ncol(x)
all <- NULL
add <- function(case, draw, size, how, captured, seconds = NA) {
  all <<- rbind(all, data.frame(case, draw, size, how, captured = round(captured, 4L),
    cpu_seconds = signif(seconds, 2L)))
}
share <- function(columns) ufs_captured(columns, x)$captured
chosen <- function(fit) unname(fit$solution$order)
ranking <- unname(feature_ranking(ufs_css(x, k = p, mu_rel = 0)))

for (draw in seq_len(as.integer(option("draws", "8")))) {
  set.seed(draw)
  drawn <- sample.int(p, 7L)
  data <- ufs_data(x, include = drawn[1:2], exclude = drawn[3:7])
  for (k in c(4L, 6L, 10L)) {
    add("include", draw, k, "by hand", share(c(drawn[1:2], setdiff(ranking, drawn)[seq_len(k - 2L)])))
    for (how in c("default", "swaps", "starts", "proved")) {
      set.seed(draw)
      seconds <- cpu(fit <- switch(how, default = ufs_css(data, k), swaps = ufs_css(data, k, swaps = TRUE),
        starts = ufs_css(data, k, starts = 20), proved = ufs_css(data, k, optimal = TRUE)))
      stopifnot(drawn[1:2] %in% chosen(fit), !drawn[3:7] %in% chosen(fit))
      if (how == "proved") stopifnot(fit$certificate[["optimal"]] == 1)
      add("include", draw, k, how, share(chosen(fit)), seconds)
    }
  }

  set.seed(draw)
  cost <- sample(1:5, p, replace = TRUE)
  for (budget in c(6, 12, 24)) {
    taken <- integer()
    for (j in ranking) if (sum(cost[c(taken, j)]) <= budget) taken <- c(taken, j)
    add("cost", draw, budget, "by hand", share(taken))
    data <- ufs_data(x, cost = cost, budget = budget)
    for (how in c("default", "starts", "proved")) {
      set.seed(draw)
      seconds <- cpu(fit <- switch(how, default = ufs_css(data),
        starts = ufs_css(data, starts = 20), proved = ufs_css(data, optimal = TRUE)))
      stopifnot(sum(cost[chosen(fit)]) <= budget)
      if (how == "proved" && fit$certificate[["optimal"]] < 1) how <- "not proved"
      add("cost", draw, budget, how, share(chosen(fit)), seconds)
    }
    add("cost", draw, budget, "components", fit$certificate[["bound"]])
  }

  set.seed(draw)
  plate <- sample.int(3L, nrow(x), replace = TRUE)
  shift <- matrix(stats::rnorm(3L * p), 3L) %*% diag(apply(x, 2L, stats::sd))
  shifted <- x + shift[plate, ]
  for (how in c("default", "starts")) {
    set.seed(draw)
    pick <- function(data) chosen(ufs_css(data, 5L, starts = if (how == "starts") 20 else 1))
    add("blocks", draw, 5L, paste("clean,", how), share(pick(x)))
    add("blocks", draw, 5L, paste("by hand,", how), share(pick(shifted)))
    add("blocks", draw, 5L, paste("blocks,", how), share(pick(ufs_data(shifted, blocks = plate))))
  }
}
if (!is.null(option("out"))) write_table(all, option("out"))
print(stats::aggregate(cbind(captured) ~ how + size + case, all, function(a) round(mean(a), 3L)))
