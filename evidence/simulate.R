# Data with known answers.

# A problem in the style of Madelon (Guyon, 2003, NIPS feature selection benchmark): clusters of points, each stretched in its own
# directions, around the vertices of a cube in 5 dimensions, half of the vertices of each class; redundant combinations; probes.
simulate_madelon <- function(n, d = 5L, n_redundant = 15L, n_probe = 480L, separation = 2, flip = 0.01) {
  corner <- outer(seq_len(2L^d) - 1L, seq_len(d) - 1L, function(v, bit) (v %/% 2^bit) %% 2)
  corner <- separation * (2 * corner - 1)
  of_class <- sample(rep(c("-1", "1"), length.out = 2L^d))
  vertex <- sample(rep(seq_len(2L^d), length.out = n))
  informative <- matrix(stats::rnorm(n * d), n, d)
  for (v in seq_len(2L^d)) {
    rows <- which(vertex == v)
    informative[rows, ] <- sweep(informative[rows, , drop = FALSE] %*% matrix(stats::runif(d * d, -1, 1), d, d), 2L, corner[v, ], "+")
  }
  combination <- matrix(stats::runif(d * n_redundant, -1, 1), d, n_redundant)
  x <- cbind(informative, informative %*% combination, matrix(stats::rnorm(n * n_probe), n, n_probe))
  y <- of_class[vertex]
  flipped <- utils::head(sample.int(n), round(flip * n))
  y[flipped] <- ifelse(y[flipped] == "1", "-1", "1")
  roles <- factor(rep(c("informative", "redundant", "probe"), c(d, n_redundant, n_probe)), c("informative", "redundant", "probe"))
  at <- sample.int(ncol(x))
  list(x = `dimnames<-`(x[, at], list(NULL, paste0("V", seq_along(at)))), y = factor(y, c("-1", "1")), roles = roles[at])
}

# A fifth as many rows of standard normal numbers with labels drawn at random (ALFS paper, section 4.2): which rows, too.
add_noise <- function(x, y, share = 0.2) {
  more <- max(1L, as.integer(round(share * nrow(x))))
  x <- rbind(x, matrix(stats::rnorm(more * ncol(x)), more))
  list(x = x, noise = seq_len(nrow(x)) > nrow(x) - more,
    y = factor(c(as.character(y), sample(levels(y), more, replace = TRUE)), levels(y)))
}
