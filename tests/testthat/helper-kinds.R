# Tables of each kind that people bring: for each a function of n and p that simulates one with the
# caller's random numbers, what it is to be called, and the fewest and most columns that it has.
# All have three groups of samples, so that none is mere noise.

kind_makers <- function() {
  group <- function(n) rep_len(1:3, n)
  latent <- latent_groups
  rate <- function(n, p, base, times) base * ifelse(outer(group(n), rep_len(1:3, p), "=="), times, 1)
  words <- function(n, p) {
    usual <- rep(sample(.4 / (1 + seq_len(p) / 20)^.5), each = n)
    x <- matrix(rpois(n * p, rate(n, p, usual, 5) * exp(rnorm(n, sd = .4))), n)
    x[rowSums(x) == 0, 1] <- 1
    x
  }
  cells <- function(n, p) {
    usual <- rep(rexp(p, 1) + .05, each = n) * exp(rnorm(n, sd = .3))
    x <- matrix(rnbinom(n * p, size = 1, mu = rate(n, p, usual, 5)), n)
    x[rowSums(x) == 0, 1] <- 1
    x
  }
  species <- function(n, p) {
    x <- matrix(rnbinom(n * p, size = .4, mu = rate(n, p, rep(exp(rnorm(p, 1, 1.2)), each = n), 6)), n)
    x[rowSums(x) == 0, 1] <- 1
    x
  }
  likert <- function(n, p) matrix(pmin(5, pmax(1, round(3 + latent(n, p)))), n)
  flags <- function(n, p, at = .5) 1 * (latent(n, p) > at)
  one_hot <- function(n, p) {
    levels <- 4L
    items <- ceiling(p / levels)
    answer <- ceiling(levels * stats::pnorm(latent(n, items)))
    x <- do.call(cbind, lapply(seq_len(items), function(j) 1 * outer(answer[, j], 1:levels, "==")))
    x[, seq_len(p), drop = FALSE]
  }
  images <- function(n, p) {
    side <- ceiling(sqrt(p))
    at <- expand.grid(seq_len(side), seq_len(side)) / side
    x <- t(vapply(group(n), function(g) {
      spot <- c(.3, .5, .7)[g] + rnorm(2, sd = .08)
      pmax(0, round(255 * exp(-((at[, 1] - spot[1])^2 + (at[, 2] - spot[2])^2) / .03) - 20))
    }, numeric(side^2)))
    matrix(pmin(255, 1.3 * x) %/% 1, n)[, seq_len(p)]
  }
  curves <- function(n, p) {
    at <- seq(0, 1, length.out = p)
    peak <- function(centre) exp(-(at - centre)^2 / .02)
    f <- exp(latent(n, 3, .2) / 2)
    f %*% rbind(peak(.2), peak(.5), peak(.8)) + .2 + rnorm(n, sd = .05) + rnorm(n * p, sd = .001)
  }
  logged <- function(n, p) latent(n, p, .4) * rep(.15 + rexp(p, 4), each = n) + rep(rnorm(p, 8, 1.5), each = n)
  shares <- function(n, p) {
    x <- matrix(rgamma(n * p, rate(n, p, rep(rexp(p, .5) + .3, each = n), 3)), n)
    x / rowSums(x)
  }
  clinic <- function(n, p) {
    f <- latent(n, max(p, 10))
    x <- cbind(round(50 + 9 * f[, 1]), round(75 + 8 * f[, 2], 1), round(1.7 + .06 * f[, 3], 2),
      round(128 + 12 * f[, 4]), round(5 + .6 * f[, 5], 1), round(exp(3 + .5 * f[, 6])),
      1 * (f[, 7] > 0), round(36.8 + .3 * f[, 8], 1), round(240 + 50 * f[, 9]), round(14 + f[, 10], 1))
    more <- seq_len(ncol(f))[-(1:10)]
    cbind(x, f[, more] * rep(10^stats::runif(length(more), -2, 3), each = n))[, seq_len(p)]
  }
  # Units of similar size, read to different decimals.
  weather <- function(n, p) {
    digits <- rep_len(c(0, 1, 1, 2), p)
    f <- latent(n, p) * rep(rep_len(c(9, 3, 5, 2), p), each = n) + 40
    vapply(seq_len(p), function(j) round(f[, j], digits[j]), numeric(n))
  }
  sensors <- function(n, p) latent(n, p) * rep(rep_len(c(.02, 3, 400, .5), p), each = n)
  of <- function(make, values, p = c(5, 2000), n = c(30, 2000)) list(make = make, values = values, p = p, n = n)
  list(
    words = of(words, "counts", c(100, 2000)), cells = of(cells, "counts", c(100, 2000)),
    species = of(species, "counts", c(20, 200)),
    log_cells = of(function(n, p) as.matrix(ufs_data(cells(n, p), counts = "log")), "log counts", c(100, 2000)),
    log2_cells = of(function(n, p) {
      x <- cells(n, p)
      round(log2(1 + 1e4 * x / rowSums(x)), 3)
    }, "log counts", c(100, 2000)),
    log_rates = of(function(n, p) {
      x <- cells(n, p) * rep(rexp(p, 1) + .1, each = n)
      log10(1 + 1e6 * x / rowSums(x))
    }, "log counts", c(100, 2000)),
    tfidf = of(function(n, p) as.matrix(ufs_data(words(n, p), counts = "tfidf", rows = "unit")), "one unit",
      c(100, 2000)),
    shares = of(shares, "one unit"), per_cent = of(function(n, p) round(100 * shares(n, p), 2), "one unit"),
    embeddings = of(function(n, p) unit_rows(latent(n, p)), "one unit", c(30, 2000)),
    binary = of(flags, "grades"), rare_flags = of(function(n, p) flags(n, p, 2.5), "grades", n = c(200, 2000)),
    one_hot = of(one_hot, "grades"),
    likert = of(likert, "grades"), likert_0 = of(function(n, p) likert(n, p) - 1, "grades"),
    genotypes = of(function(n, p) matrix(rbinom(n * p, 2, stats::plogis(latent(n, p) - 1)), n), "grades"),
    images = of(images, "one unit", c(64, 2000)), images_01 = of(function(n, p) images(n, p) / 255, "one unit", c(64, 2000)),
    curves = of(curves, "one unit", c(20, 2000)),
    factor = of(function(n, p) outer(group(n) + rnorm(n), rep(1, p)) + rnorm(n * p, sd = .3), "one unit"),
    logged_array = of(logged, "one unit", c(100, 2000)),
    raw_array = of(function(n, p) 2^logged(n, p), "one unit", c(100, 2000)),
    bulk_counts = of(function(n, p) round(20 * 2^logged(n, p)), "one unit", c(100, 2000)),
    measured = of(latent, "one unit"), measured_1 = of(function(n, p) round(5 + latent(n, p), 1), "one unit"),
    standardised = of(function(n, p) scale(latent(n, p)), "standardised"),
    standardised_3 = of(function(n, p) round(scale(latent(n, p)) * sqrt(n / (n - 1)), 3), "standardised"),
    beside_age = of(function(n, p) cbind(likert(n, p - 1), sample(18:90, n, TRUE)), "mixed units"),
    # A few of the answers never have the largest grade.
    grades_beside_age = of(function(n, p) {
      cbind(pmin(rep(1:3, length.out = (p - 1))[col(matrix(0, n, p - 1))], matrix(rpois(n * (p - 1), .6), n)),
        sample(18:90, n, TRUE))
    }, "mixed units", c(100, 1000)),
    # A composition of which traces are not measured; percentages, some columns of which were rounded.
    traces = of(function(n, p) round(100 * shares(n, p + 2)[, seq_len(p), drop = FALSE], 2), "one unit", c(20, 40)),
    rounded = of(function(n, p) {
      x <- 50 + 9 * scale(latent(n, p))
      round(x, 1 + (col(x) > p / 10))
    }, "one unit", c(12, 40)),
    flags_beside_age = of(function(n, p) cbind(one_hot(n, p - 1), round(20 + 60 * stats::runif(n))), "mixed units"),
    flags_beside_measures = of(function(n, p) cbind(flags(n, p - 3), latent(n, 3) + 2), "mixed units"),
    clinic = of(clinic, "mixed units"), weather = of(weather, "mixed units", c(5, 40)),
    sensors = of(sensors, "mixed units"),
    positive_sensors = of(function(n, p) sensors(n, p) + rep(rep_len(c(.2, 30, 4000, 5), p), each = n), "mixed units")
  )
}

# Columns that follow three groups of samples with loadings of their own.
latent_groups <- function(n, p, noise = .6) {
  f <- matrix(c(-1, 1, 0, 1, 0, -1, 0, 1, 1), 3)[rep_len(1:3, n), ] + matrix(rnorm(3 * n, sd = .4), n)
  f %*% matrix(rnorm(3 * p), 3) + matrix(rnorm(n * p, sd = noise), n)
}

# A table large enough that ufs_select() draws rows of it.
drawn_table <- function(n = 4100) withr::with_seed(1, `dimnames<-`(latent_groups(n, 8), list(NULL, paste0("v", 1:8))))

# Small tables of all kinds, and some that ship with R: list(x, values).
kind_tables <- function() {
  set.seed(7)
  simulated <- lapply(kind_makers(), function(kind) {
    list(kind$make(max(kind$n[1L], 60L), min(max(kind$p[1L], 24L), kind$p[2L])), kind$values)
  })
  c(simulated, list(
    mtcars = list(mtcars, "mixed units"), arrests = list(USArrests, "mixed units"),
    air = list(stats::na.omit(airquality[1:4]), "mixed units"), longley = list(longley, "mixed units"),
    swiss = list(swiss, "mixed units"), trees = list(trees, "mixed units"),
    # Small contingency tables are not told from measurements.
    admissions = list(matrix(UCBAdmissions, 6, byrow = TRUE), "one unit"),
    hair = list(matrix(HairEyeColor, 8, byrow = TRUE), "one unit"),
    iris = list(iris[1:4], "one unit"), attitude = list(attitude, "one unit"),
    judges = list(USJudgeRatings, "one unit"), volcano = list(volcano, "one unit"),
    standardised_iris = list(scale(iris[1:4]), "standardised"),
    one_column = list(iris[, 1, drop = FALSE], "one unit"), two_columns = list(iris[1:2], "one unit"),
    ten_rows = list(iris[c(1:4, 51:53, 101:103), 1:4], "one unit"),
    copies = list(iris[rep(1:50 * 3, each = 4), 1:4], "one unit")
  ))
}
