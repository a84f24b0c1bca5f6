# One small table of each kind that people bring, with what it is to be called.
kind_tables <- function() {
  set.seed(7)
  rate <- function(n, p, base, times) {
    matrix(base, n, p) * ifelse((row(diag(1, n, p)) - 1) %/% (n / 3) == (col(diag(1, n, p)) - 1) %/% (p / 3),
      times, 1)
  }
  words <- matrix(rpois(90 * 150, rate(90, 150, .15, 4)), 90)
  cells <- matrix(rnbinom(90 * 150, size = 1, mu = rate(90, 150, .5, 6)), 90)
  tfidf <- as.matrix(ufs_data(words + (rowSums(words) == 0), counts = "tfidf", unit_rows = TRUE))
  logged <- as.matrix(ufs_data(cells, counts = "log"))
  shares <- matrix(rgamma(60 * 12, 2), 60)
  factor <- rnorm(60)
  likert <- round(3 + outer(factor, rep(1, 120)) + matrix(rnorm(60 * 120), 60))
  likert[] <- pmin(5, pmax(1, likert))
  curve <- t(apply(matrix(rnorm(60 * 120), 60), 1, cumsum))
  array <- 2^(matrix(rnorm(40 * 600, 0, .5), 40) + rep(rnorm(600, 8, 1.5), each = 40))
  image <- matrix(sample(c(rep(0, 40), 30:255), 60 * 144, TRUE), 60)
  image[, 1] <- 255
  image[1, ] <- 255
  list(
    words = list(words, "counts"), cells = list(cells, "counts"), logcells = list(logged, "one unit"),
    tfidf = list(tfidf, "one unit"), shares = list(shares / rowSums(shares), "one unit"),
    binary = list(matrix(rbinom(60 * 150, 1, .3), 60), "grades"), likert = list(likert, "grades"),
    likert0 = list(likert - 1, "grades"), few_grades = list(likert[, 1:12], "grades"),
    beside_age = list(cbind(likert, sample(18:90, 60, TRUE)), "mixed units"),
    images = list(image, "one unit"), curves = list(curve, "one unit"),
    factor = list(outer(factor, rep(1, 40)) + rnorm(60 * 40, sd = .3), "one unit"),
    logged_array = list(log2(array), "one unit"), raw_array = list(array, "one unit"),
    mtcars = list(mtcars, "mixed units"), arrests = list(USArrests, "mixed units"),
    air = list(na.omit(airquality[1:4]), "mixed units"), longley = list(longley, "mixed units"),
    iris = list(iris[1:4], "one unit"), standardised = list(scale(iris[1:4]), "standardised"),
    one_column = list(iris[, 1, drop = FALSE], "one unit"), ten_rows = list(iris[1:10, 1:4], "one unit")
  )
}
