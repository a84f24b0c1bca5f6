ufs_rrss <- function(x, gamma = NULL, gamma_rel = 0.2, center = TRUE, scale = TRUE,
                     control = ufs_control()) {
  start <- proc.time()[[3L]]
  call <- match.call()
  control <- resolve_control(control, max_iter = 300L, tol = 1e-3, eps = 1e-8)
  data <- as_ufs_matrix(x, center, scale)
  coordinates <- sample_coordinates(data$x)
  unit <- mean(sqrt(colSums(coordinates^2)))
  coordinates <- coordinates / unit
  bound <- .Call(C_rrss_max, coordinates)$max
  gamma <- check_penalty(gamma, gamma_rel, bound * unit, "gamma")
  control$eps <- control$eps[[1L]]
  out <- .Call(C_rrss, coordinates, gamma$value / unit, control)
  check_lapack(out$info, "rrss")
  out$unit<-unit
  out
}

# The samples as columns of min(n, p) coordinates with the same inner products: x
# transposed, or its triangular factor if there are more features than samples.
sample_coordinates <- function(x) {
  if (ncol(x) <= nrow(x)) {
    return(t(x))
  }
  qr <- qr(t(x), LAPACK = TRUE)
  qr.R(qr)[, order(qr$pivot), drop = FALSE]
}
