# PCA-Part (Su and Dy 2007), then k-means: the widest cluster is split at the mean of its first
# principal component.
ref_parted <- function(z, c) {
  cluster <- rep(1, nrow(z))
  centred <- function(rows) sweep(z[rows, , drop = FALSE], 2, colMeans(z[rows, , drop = FALSE]))
  while (max(cluster) < c) {
    spread <- sapply(seq_len(max(cluster)), function(g) sum(centred(cluster == g)^2))
    rows <- which(cluster == which.max(spread))
    along <- centred(rows) %*% svd(centred(rows))$v[, 1]
    cluster[rows[along > 0]] <- max(cluster) + 1
  }
  centre <- t(sapply(seq_len(c), function(g) colMeans(z[cluster == g, , drop = FALSE])))
  suppressWarnings(stats::kmeans(z, centre, iter.max = 100)$cluster)
}

# The real columns by the decoys of several draws, from the mean of two judges' places in each.
ref_safe <- function(x, seeds, judges, share, n_decoys = ncol(x)) {
  q <- ncol(x)
  before <- sapply(seeds, function(seed) {
    places <- lapply(judges, function(judge) {
      with_seed(seed, {
        with <- with_decoys(open_data(x), seq_len(q), seq_len(q), n_decoys)
        ranking <- with$column[feature_ranking(judge(as.matrix(with$data)))]
        match(c(1:q, sort(ranking[ranking > q])), ranking)
      })
    })
    o <- order(places[[1]] + places[[2]], places[[1]])
    sapply(1:q, function(j) sum(o[seq_len(match(j, o))] > q))
  })
  total <- rowSums(before)
  o <- order(total)
  noise <- q / (n_decoys * length(seeds)) * total[o] / 1:q
  safe <- which(noise + 1 / (n_decoys * length(seeds)) * q / 1:q <= share)
  list(share = noise, safe = 1:q %in% o[seq_len(max(0, safe))])
}
