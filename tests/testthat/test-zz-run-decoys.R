# Soundness of the shares, and that they are those of the definition.

quiet <- function(code) suppressMessages(suppressWarnings(code))
# `real` columns of three groups among `noise` independent ones.
hidden <- function(n, real, noise, size = 2) {
  x <- matrix(rnorm(n * (real + noise)), n)
  group <- rep_len(1:3, n)
  centre <- matrix(rnorm(3 * real, sd = size), 3)
  if (real) x[, seq_len(real)] <- x[, seq_len(real)] + centre[group, ]
  `colnames<-`(x, paste0("c", seq_len(real + noise)))
}

# Soundness of the shares, and that they are those of the definition.

quiet <- function(code) suppressMessages(suppressWarnings(code))
# `real` columns of three groups among `noise` independent ones.
hidden <- function(n, real, noise, size = 2) {
  x <- matrix(rnorm(n * (real + noise)), n)
  group <- rep_len(1:3, n)
  centre <- matrix(rnorm(3 * real, sd = size), 3)
  if (real) x[, seq_len(real)] <- x[, seq_len(real)] + centre[group, ]
  `colnames<-`(x, paste0("c", seq_len(real + noise)))
}

})
