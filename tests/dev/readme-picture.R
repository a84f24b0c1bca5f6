# The picture of the README: Rscript tests/dev/readme-picture.R, in the package's folder.
library(ufselect)
data <- dslabs::tissue_gene_expression
fit <- ufs_select(data$x, k = 20, task = "compress")
grDevices::png("man/figures/README-picture.png", 1000, 420, res = 96, type = "cairo")
graphics::par(mfrow = c(1, 2), mar = c(4.5, 4.5, 3, 1))
plot(fit)
plot(fit, "embedding", data$x, y = data$y)
grDevices::dev.off()
