# Columns beside their permuted copies by principal components and neighbours, of which the part of
# the table itself is computed once; the rankings of R/run-decoys.R are for any method.

# How many principal components have a larger variance than any of permuted columns (Horn 1965), on
# at most 400 rows and 2,000 columns of dense data; 0 where all rows are equal.
components_above <- function(x, scale = TRUE) {
  # Rare flags may be the same in all of the rows drawn.
  if (all(x$x == rep(x$x[1L, ], each = x$n))) return(0L)
  z <- as_rescaled_operator(open_quietly(x), TRUE, scale)$x
  squares <- function(z) {
    eigen(if (nrow(z) < ncol(z)) tcrossprod(z) else crossprod(z), TRUE, TRUE)$values
  }
  # The largest of one draw varies by more than neighbouring components differ.
  largest <- vapply(seq_len(3L), function(draw) {
    for (j in seq_len(ncol(z))) z[, j] <- z[sample.int(nrow(z)), j]
    squares(z)[1L]
  }, 0)
  sum(squares(z) > mean(largest))
}

# A function of a seed: the rankings of the columns of x and of decoys by some methods, as
# decoys_fit() has them: by so many principal components, or by neighbours. `data` are those of
# as_ufs_operator(), however they are held: standardised once, and so are their products made. Rows
# that are not alone, several tables and factors are fitted anew with the decoys of each.
decoys_ranked <- function(x, data, first, plan) {
  distinct <- which(first == seq_along(first))
  n_decoys <- decoys_number(NULL, x, length(distinct), FALSE)
  if (!is.null(x$input$tables) || !is.null(x$row_held) || !is.null(data$coded)) {
    return(function(seed) lapply(seq_along(plan), function(at) {
      decoys_fit(list_of(seed, at), list_of(x, keep = unique(data$keep), first, n_decoys, plan))
    }))
  }
  z <- data$x
  q <- ncol(z)
  n <- as.double(nrow(z))
  # Products of rows for neighbours, too, unless they would be many more numbers than x has.
  by_rows <- n <= q + n_decoys
  near <- by_rows || 8 * n^2 <= block_bytes()
  judges <- vapply(plan, `[[`, "", "method")
  rows <- if (by_rows || near && "laplacian" %in% judges) x_gram(z, rows = TRUE)
  own <- if (by_rows) rows else if ("pca" %in% judges) x_gram(z, rows = FALSE)
  judge <- list(
    pca = function(beside, args) {
      component_weights(z, beside, own, by_rows, min(args$n_components, n - 1L, q))
    },
    laplacian = function(beside, args) {
      graph <- if (near) graph_of_products(x_gram(beside, TRUE, rows)) else
        as_ufs_graph(NULL, list(x = cbind(x_dense(z), beside), n = n))
      score <- -c(.Call(C_spec_quadratic, unclass(graph), z, 1L, TRUE),
        .Call(C_spec_quadratic, unclass(graph), beside, 1L, TRUE))
      replace(score, is.nan(score), -Inf)
    })
  function(seed) {
    drawn <- with_seed(seed, {
      of <- distinct[sample.int(length(distinct), n_decoys)]
      # The columns of z, permuted as permuted() does it with those of x, of which they are made.
      from <- data_columns(x, data$keep[of])
      beside <- x_columns(z, of)
      for (j in seq_along(of)) {
        full <- from[, j] != 0
        value <- beside[full, j]
        if (length(value) < n) beside[, j] <- beside[match(FALSE, full), j]
        beside[sample.int(n, length(value)), j] <- value
      }
      list(of = of, z = beside, ord = mixed_order(q, n_decoys))
    })
    lapply(plan, function(own) on_error({
      score <- judge[[own$method]](drawn$z, own$args)
      list(ranking = c(seq_len(q), q + drawn$of)[drawn$ord][ufs_rank(score[drawn$ord])])
    }, function(e) list(error = conditionMessage(e))))
  }
}

# The row norms of the leading loadings of cbind(z, beside); `own`: the Gram matrix of the rows of
# z, or of its columns.
component_weights <- function(z, beside, own, rows, count) {
  gram <- if (rows) x_gram(beside, TRUE, own) else {
    across <- x_cross(z, beside)
    rbind(cbind(own, across), cbind(t(across), crossprod(beside)))
  }
  loadings <- check_solved(.Call(C_x_leading, gram, count, 1e-10), "pca")$vectors
  if (rows) {
    loadings <- rbind(x_cross(z, loadings), crossprod(beside, loadings))
    loadings <- loadings / rep(sqrt(colSums(loadings^2)), each = nrow(loadings))
  }
  sqrt(rowSums(loadings^2))
}
