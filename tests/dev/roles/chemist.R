# A chemist with a label budget: 120 spectra, money for 12 assays, three are known already.
library(ufselect)
set.seed(3)
kind <- rep(1:4, c(70, 30, 15, 5))
x <- matrix(rnorm(120 * 200), 120) + matrix(rnorm(800, sd = 1.5), 4)[kind, ]
dimnames(x) <- list(paste0("spectrum", 1:120), NULL)
fit <- ufs_facility(x, labelled = c(1, 2, 75), m = 12)
print(fit)
cat("kinds covered by coverage:", length(unique(kind[c(1, 2, 75, selected_samples(fit, as = "index"))])),
  " by random choice (mean):", mean(replicate(200, length(unique(kind[c(1, 2, 75, sample(120, 12))])))), "\n")
y <- factor(rep(NA, 120), levels = 1:4)
known <- c(1, 2, 75, selected_samples(fit, as = "index"))
y[known] <- kind[known]
spread <- ufs_propagate(ufs_graph(x), y)
cat("labels right after propagation:", round(mean(spread$label == kind), 2), "\n")
