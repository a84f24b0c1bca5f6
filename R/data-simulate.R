# Data with known answers, for tests, vignettes and benchmarks of selection.

#' Data in the style of Madelon
#'
#' Draws a classification problem whose relevant columns are known, as Guyon (2003) describes the
#' artificial set Madelon of the NIPS 2003 feature selection challenge. Use it to see
#' whether a method finds columns that matter only together: no informative column says anything
#' about the class alone.
#'
#' Points are drawn around the vertices of a hypercube in `n_informative` dimensions, equally many
#' (to one) per vertex; half of the vertices, drawn at random, belong to each class. Within a
#' cluster the points are standard normal, multiplied by a random matrix with entries uniform in
#' \[-1, 1\], so that each cluster is stretched in its own directions. Redundant columns are
#' linear combinations of the informative ones with coefficients uniform in \[-1, 1\], probes are
#' standard normal and independent of everything. The original data are rescaled to whole numbers;
#' these are not.
#'
#' Random numbers are R's: `set.seed()` before the call fixes the data.
#'
#' @param n_samples The number of samples, at least one per vertex. The original has 2600 with
#'   labels.
#' @param n_informative The number of dimensions of the hypercube, from 1 to 20.
#' @param n_redundant The number of linear combinations of the informative columns.
#' @param n_probe The number of columns without any information.
#' @param separation Half of the length of the sides of the hypercube; larger is easier.
#' @param flip The share of the samples whose class is changed to the other one after all else.
#' @param shuffle Should the columns be put in random order? Otherwise the informative ones come
#'   first, then the redundant ones and the probes.
#' @return A list: `x` (n x p matrix with column names), `y` (factor with levels `"-1"` and `"1"`),
#'   `roles` (factor of length p, named like the columns: `"informative"`, `"redundant"` or
#'   `"probe"`), `vertex` (for each sample the number of its vertex) and `coefficients`
#'   (`n_informative` x `n_redundant`: what the redundant columns are made of, in the order of the
#'   columns).
#' @references Guyon, I. (2003) Design of experiments of the NIPS 2003 variable selection
#'   benchmark. NIPS 2003 workshop on feature extraction and feature selection.
#' @seealso [ufs_add_noise()] for samples that belong to nothing.
#' @examples
#' set.seed(1)
#' madelon <- ufs_simulate_madelon(200, n_probe = 30)
#' table(madelon$roles)
#' fit <- ufs_alfs(madelon$x)
#' table(madelon$roles[selected_features(fit, 10)])
#' @export
ufs_simulate_madelon <- function(n_samples, n_informative = 5, n_redundant = 15, n_probe = 480,
                                 separation = 2, flip = 0.01, shuffle = TRUE) {
  d <- check_count(n_informative, "n_informative", 1L, 20L, "20 dimensions have a million vertices")
  n_vertices <- 2L^d
  n <- check_count(n_samples, "n_samples", 2L)
  if (n < n_vertices) {
    refuse("n_samples", "`n_samples` must be at least ", n_vertices, ", the number of vertices of ",
      "a hypercube of `n_informative` = ", d, " dimensions; it is ", n, ".")
  }
  n_redundant <- check_count(n_redundant, "n_redundant", 0L)
  n_probe <- check_count(n_probe, "n_probe", 0L)
  check_bytes(16 * as.double(n) * (d + as.double(n_redundant) + n_probe), "A table of that size",
    "Ask for fewer samples or features.")
  separation <- check_number(separation, "separation", lower = 0)
  flip <- check_number(flip, "flip", 0, 1)
  shuffle <- check_flag(shuffle, "shuffle")

  # Bits of 0, 1, ..., 2^d - 1 are the vertices.
  corner <- outer(seq_len(n_vertices) - 1L, seq_len(d) - 1L, function(v, bit) (v %/% 2^bit) %% 2)
  corner <- separation * (2 * corner - 1)
  of_class <- sample(rep(c("-1", "1"), length.out = n_vertices))
  vertex <- sample(rep(seq_len(n_vertices), length.out = n))
  informative <- matrix(stats::rnorm(n * d), n, d)
  for (v in seq_len(n_vertices)) {
    rows <- which(vertex == v)
    stretch <- matrix(stats::runif(d * d, -1, 1), d, d)
    informative[rows, ] <- sweep(informative[rows, , drop = FALSE] %*% stretch, 2L, corner[v, ],
      "+")
  }
  coefficients <- matrix(stats::runif(d * n_redundant, -1, 1), d, n_redundant)
  x <- cbind(informative, informative %*% coefficients,
    matrix(stats::rnorm(n * n_probe), n, n_probe))
  y <- of_class[vertex]
  flipped <- utils::head(sample.int(n), round(flip * n))
  y[flipped] <- ifelse(y[flipped] == "1", "-1", "1")
  role <- c("informative", "redundant", "probe")
  roles <- factor(rep(role, c(d, n_redundant, n_probe)), role)
  # Column order, and with it the order of the combinations.
  at <- if (shuffle) sample.int(ncol(x)) else seq_len(ncol(x))
  name <- paste0("V", seq_along(at))
  list(x = `dimnames<-`(x[, at, drop = FALSE], list(NULL, name)),
    y = factor(y, c("-1", "1")), roles = stats::setNames(roles[at], name), vertex = vertex,
    coefficients = coefficients[at[roles[at] == "informative"], at[roles[at] == "redundant"] - d,
      drop = FALSE])
}

#' Add samples that are pure noise
#'
#' Appends rows of independent normal numbers, with labels drawn at random, to see whether a choice
#' of samples avoids them. This is the extension of section 4.2 (Table XI) of the ALFS paper. There
#' a fifth as many standard normal samples are added to TOX-171. The paper does not say whether its
#' data were standardised before; on columns of large spread a standard normal row is a point at the
#' origin, so standardise first or give `sd` in the unit of the columns.
#'
#' @param x A numeric matrix or data frame with samples in rows.
#' @param share The number of rows to add, as a share of those of `x`. It is rounded, and at least
#'   one is added.
#' @param sd The standard deviation of the added numbers, one for all columns or one per column.
#'   Their mean is zero.
#' @param y `NULL`, or the classes of the rows. Those of the added rows are drawn uniformly
#'   from the levels.
#' @return A list: `x` (numeric matrix, the added rows last), `noise` (logical, which rows were
#'   added) and, if `y` was given, `y` (factor). Random numbers are R's.
#' @references Li, C. et al. (2019) Joint active learning with feature selection via CUR
#'   matrix decomposition. *IEEE TPAMI* **41**(6), 1382-1396. \doi{10.1109/TPAMI.2018.2840980}
#' @examples
#' set.seed(1)
#' noisy <- ufs_add_noise(scale(iris[, 1:4]), share = .2, y = iris$Species)
#' table(noisy$noise)
#' # How many of the 30 samples chosen are noise? Random choice takes 5.
#' sum(noisy$noise[selected_samples(ufs_ted(noisy$x), 30, as = "index")])
#' @export
ufs_add_noise <- function(x, share = 0.2, sd = 1, y = NULL) {
  check_given(x)
  x <- as_plain_matrix(check_door(x, "ufs_add_noise()"), "x")
  share <- check_number(share, "share", lower = 0, upper = 100)
  if (share == 0) refuse("share", "`share` must be above 0.")
  if (!is.numeric(sd) || !length(sd) %in% c(1L, ncol(x)) || !all(is.finite(sd)) || any(sd < 0)) {
    refuse("sd", "`sd` must be one number of at least 0, or one per column of `x`.")
  }
  if (!is.null(y)) {
    if (!is.atomic(y) || !is.null(dim(y)) || length(y) != nrow(x)) {
      refuse("y", "`y` must have one class per row of `x`.")
    }
    y <- factor(y)
    if (!nlevels(y)) refuse("y", "`y` has no class: all its values are missing.")
  }
  more <- max(1L, as.integer(round(share * nrow(x))))
  added <- matrix(stats::rnorm(more * ncol(x), sd = rep(sd, each = more)), more, ncol(x))
  if (!is.null(rownames(x))) rownames(added) <- paste0("noise", seq_len(more))
  out <- list(x = rbind(x, added), noise = rep(c(FALSE, TRUE), c(nrow(x), more)))
  if (!is.null(y)) {
    out$y <- factor(c(as.character(y), sample(levels(y), more, replace = TRUE)), levels(y))
  }
  out
}
