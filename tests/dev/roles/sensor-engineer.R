# A sensor engineer: 60 channels, some dead, some copies, one with a gap; which 8 to keep on the device?
library(ufselect)
set.seed(2)
state <- sin(outer(1:400, 1:5 / 20))
x <- as.data.frame(state %*% matrix(rnorm(5 * 60), 5) + .1 * matrix(rnorm(400 * 60), 400))
names(x) <- sprintf("ch%02d", 1:60)
x$ch07 <- 4.2
x$ch12 <- 3 * x$ch03
try(ufs_select(replace(x, 5, replace(x[[5]], 17, NA)), k = 8))
fit <- ufs_select(x, k = 8, task = "compress")
print(fit)
new <- predict(fit, x[1:5, ], k = 8)
print(round(new, 2))
print(ufs_stability(x, "css", k = 8, n_resamples = 10))
