# A labelling team: 600 short texts of unknown topics, 20 labels a week; which texts this week, and when to stop?
library(ufselect)
set.seed(5)
topic <- sample(5, 600, replace = TRUE, prob = c(.4, .3, .15, .1, .05))
rate <- matrix(.02, 5, 400)
for (k in 1:5) rate[k, (k - 1) * 30 + 1:30] <- .25
texts <- Matrix::Matrix(matrix(rpois(600 * 400, rate[topic, ]), 600), sparse = TRUE,
  dimnames = list(paste0("text", 1:600), paste0("word", 1:400)))
known <- integer()
for (week in 1:4) {
  fit <- ufs_select(texts, m = 20, task = "label", labelled = known)
  if (week == 1) print(fit)
  new <- selected_samples(fit, as = "index")
  y <- factor(rep(NA, 600), levels = 1:5)
  y[known] <- topic[known]
  # Were the labels of this week's texts foreseen by those of the weeks before?
  foreseen <- if (length(known)) mean(ufs_propagate(ufs_graph(texts), y)$label[new] == topic[new]) else NA
  known <- c(known, new)
  cat("week", week, ": topics seen", length(unique(topic[known])), " foreseen", round(foreseen, 2), "\n")
}
