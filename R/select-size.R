# How many features or samples "auto" means in ufs_select(): a curve against their number, what
# halves of the rows differ by, and an answer with its reason. On a part of the rows and columns: a
# ranking by the method, or one on each half of the rows, and what each number keeps.

# keep: the share of the nearest neighbours, or of the variance, that is enough; share: of all
# columns; least and most: whatever these say. Those to cluster and classify were chosen on twenty
# real sets, leaving out each in turn (evidence/auto.R).
auto_settings <- list(compress = list(keep = 0.95, least = 1L),
  cluster = list(keep = 0.7, least = 10L),
  classify = list(keep = 0.95, share = 0.45, least = 60L, most = 300L))

# list(k, verdict, reason, curve); curve: a data frame with number, measure, value, low and high.
# Where most columns look like noise, and about `real` of them do not, it is the number that is
# better than noise, as in ufs_size().
planned_size <- function(x, method, args, task, real = NULL) {
  seed <- draw_seeds(1L)[[1L]]
  if (!is.null(real)) {
    components <- with_seed(seed, planned_components(x, TRUE))
    found <- decoys_size(x, "pca", list(n_components = components), seed = seed)
    if (found$verdict %in% c("some", "unstable")) {
      numbers <- unique(round(exp(seq(0, log(length(found$share)), length.out = 12L))))
      return(c(found[c("k", "verdict", "reason")], list(curve = data.frame(number = numbers,
        measure = "no better than noise", value = found$share[numbers], low = NA_real_,
        high = NA_real_))))
    }
    if (found$verdict == "noise") {
      ufs_warn("size", "k = \"auto\": no column is better than noise by ufs_", found$by,
        "(); the number is one of columns that look like noise.")
    }
  }
  out <- with_seed(seed, task_size(x, method, args, task))
  if (isTRUE(real >= 1L && real < out$k)) {
    out[c("k", "verdict", "reason")] <- list(real, "some",
      "about as many columns do not look like noise")
  }
  out
}

task_size <- function(x, method, args, task, steps = 12L) {
  part <- drawn_part(x, c(400L, 1000L))
  data <- as_rescaled_operator(open_quietly(part), TRUE, !isFALSE(args$scale))
  q <- length(data$keep)
  # The drawn columns stand for all.
  all <- x$p - (part$p - q)
  if (data$n < 12L || q < 3L) {
    return(list(k = all, verdict = "all", reason = "all columns: too few to judge fewer"))
  }
  sizes <- unique(round(exp(seq(log(2), log(q), length.out = steps))))
  curve <- if (task == "compress") rebuilt_curve(data$x, sizes) else
    kept_curve(data$x, size_ranking(part, data, method, args), sizes)
  k <- wanted_size(curve, auto_settings[[task]], all)
  k <- as.integer(if (k >= q && task != "classify") all else min(k, all))
  list(k = k, verdict = if (k < all) "some" else "all", curve = curve,
    reason = size_reason(k, all, curve, task))
}

# The smallest number that keeps enough of the neighbours, within the limits of the task.
wanted_size <- function(curve, limits, all) {
  enough <- number_at(curve, limits$keep)
  if (is.null(limits$share)) return(max(enough, limits$least))
  min(enough, max(limits$least, min(limits$most, ceiling(limits$share * all))))
}

# Where a curve first reaches a value, between two of its numbers if need be.
number_at <- function(curve, value) {
  at <- which(curve$value >= value)[1L]
  if (is.na(at)) return(max(curve$number))
  if (at == 1L) return(curve$number[1L])
  two <- at - 1:0
  ceiling(exp(stats::approx(curve$value[two], log(curve$number[two]), value)$y) - 1e-9)
}

size_reason <- function(k, all, curve, task) {
  limits <- auto_settings[[task]]
  enough <- paste0("about ", percent(limits$keep), " of the ", if (task == "compress") {
    "variance of rows left out"
  } else "nearest neighbours")
  verb <- if (task == "compress") "explain" else "keep"
  if (k < all && k >= number_at(curve, limits$keep)) {
    return(paste0("the smallest number", if (limits$least > 1L && task == "cluster") {
      paste0(", ", limits$least, " at least,")
    }, " that ", verb, "s ", enough))
  }
  if (k >= all && all <= limits$least) {
    return(paste0("all columns: on real sets ", limits$least, " at least were needed"))
  }
  if (task != "classify") return(paste0("all columns: fewer ", verb, " less than ", enough))
  paste0(percent(limits$share), " of the columns, ", limits$least, " at least and ", limits$most,
    " at most: on real sets labels that come later needed as many")
}

# The ranking of the part, by a setting of the method that does not depend on k.
size_ranking <- function(part, data, method, args) {
  own <- if (method %in% c("consensus", "mcfs", "pca")) args else list(mu_rel = 0.1)
  own <- own[names(own) %in% arguments_of(method_row(method)$fit)]
  if (method == "pca") own$n_components <- sizing_method(part, "random", list())$args$n_components
  own$scale <- args$scale
  fit <- quiet_fit(part, method, own, draw_seeds(1L)[[1L]])
  if (!is.null(fit$error)) refuse("k", "k = \"auto\": ufs_", method, "() failed: ", fit$error)
  ranking <- match(unname(fit$fit$feature_ranking), data$keep)
  ranking[!is.na(ranking)]
}

# low, high: the range over four halves of the rows.
kept_curve <- function(z, ranking, sizes) {
  kept <- function(z) {
    near <- nearest(z, knn_size(z))
    vapply(sizes, function(k) {
      neighbour_overlap(near, nearest(z[, ranking[seq_len(k)], drop = FALSE], knn_size(z)))
    }, 0)
  }
  first <- lapply(1:2, function(i) sample.int(nrow(z), nrow(z) %/% 2L))
  halves <- vapply(c(first, lapply(first, function(i) setdiff(seq_len(nrow(z)), i))),
    function(rows) kept(z[rows, , drop = FALSE]), sizes)
  data.frame(number = sizes, measure = "nearest neighbours kept", value = kept(z),
    low = apply(halves, 1L, min), high = apply(halves, 1L, max))
}

# Each half of the rows, rebuilt as learnt on the other.
rebuilt_curve <- function(z, sizes) {
  half <- sample.int(nrow(z), nrow(z) %/% 2L)
  explained <- function(own, other) {
    varying <- sum(!prepare_columns(own, TRUE)$constant)
    # What ufs_css() says of columns would be about this half alone.
    ranking <- if (varying) {
      unname(ufs_css(open_quietly(own), min(varying, nrow(own)), mu_rel = 0, scale = FALSE,
        control = ufs_control(warn = FALSE))$feature_ranking)
    }
    mean <- colMeans(own)
    own <- sweep(own, 2L, mean)
    other <- sweep(other, 2L, mean)
    total <- sum(other^2)
    if (!varying || total == 0) return(rep(as.numeric(total == 0), length(sizes)))
    vapply(sizes, function(k) {
      chosen <- ranking[seq_len(k)]
      gram <- crossprod(own[, chosen, drop = FALSE])
      # A small ridge: as many columns as rows would rebuild these rows and no others.
      coef <- solve(gram + 0.01 * mean(diag(gram)) * diag(k),
        crossprod(own[, chosen, drop = FALSE], own))
      1 - sum((other - other[, chosen, drop = FALSE] %*% coef)^2) / total
    }, 0)
  }
  both <- suppressWarnings(cbind(explained(z[half, , drop = FALSE], z[-half, , drop = FALSE]),
    explained(z[-half, , drop = FALSE], z[half, , drop = FALSE])))
  data.frame(number = sizes, measure = "variance of rows left out explained",
    value = rowMeans(both), low = apply(both, 1L, min), high = apply(both, 1L, max))
}

# The principal components with a variance above those of permuted columns, 1 to 5.
planned_components <- function(x, scale) {
  h <- with_seed(draw_seeds(1L)[[1L]], components_above(drawn_part(x, c(400L, 2000L)), scale))
  max(1L, min(5L, h))
}

# ---- samples -------------------------------------------------------------------------------------

# bend: beyond a bend no step falls by more than so much of the mean step up to it. Set with
# simulated groups in view; a gentler bend is one of every curve, at a number that says nothing of
# how many labels are needed (evidence/auto-samples.R). rows, columns: so many are looked at.
sample_settings <- list(bend = 0.25, rows = 400L, columns = 500L, halvings = 4L)

# The number of samples that m = "auto" means, list(k, verdict, reason, curve) as above: that of 2,
# 3, 4, 6, 8, ... where the squared distance to the nearest chosen sample and the residual variance
# of a smooth function both have a bend. Each half is judged by samples of the other. `args`: center
# and scale of the columns, unit: rows of unit length; labelled: how many samples are, so far.
planned_samples <- function(x, args, labelled = 0L) {
  seed <- draw_seeds(1L)[[1L]]
  if (x$n < 24L) {
    refuse("m", "m = \"auto\" cannot say how many from ", x$n, " samples: give a number.")
  }
  with_seed(seed, {
    part <- drawn_part(x, c(sample_settings$rows, sample_settings$columns))
    z <- as_rescaled_operator(open_quietly(part), args$center, args$scale)$x
    curves <- sample_curves(if (args$unit) unit_rows(z) else z)
  })
  m <- enough_samples(curves)
  if (is.na(m)) {
    refuse("m", "m = \"auto\" cannot say how many, for the curves have no bend: with ",
      fall_words(curves), " of ", count_words(nrow(z), "sample"), if (nrow(z) < x$n) " drawn",
      ". Give a number, as many as you can afford.")
  }
  list(k = max(1L, m - labelled), verdict = "some", curve = sample_curve_table(curves),
    reason = paste0("beyond ", m, " samples the distance to the nearest chosen and the ",
      "residual variance of a smooth function fall by little", if (labelled) {
        paste0("; ", labelled, " of them are labelled already")
      }))
}

# list(number, value): value is an array of numbers x measures x halves x halvings.
sample_curves <- function(z) {
  h <- nrow(z) %/% 2L
  number <- unique(round(2^seq(0, log2(h), 0.5)))
  value <- replicate(sample_settings$halvings, {
    a <- sample.int(nrow(z), h)
    b <- setdiff(seq_len(nrow(z)), a)
    array(c(sample_curve(z[a, , drop = FALSE], z[b, , drop = FALSE], number),
      sample_curve(z[b, , drop = FALSE], z[a, , drop = FALSE], number)), c(length(number), 2L, 2L))
  })
  list_of(number, value)
}

# Samples in an order of which every beginning is a good choice (ufs_facility()), judged on other
# rows: numbers x measures. The smooth function is a Gaussian process with a heat kernel as wide as
# the median distance, and a hundredth of its variance as noise.
sample_curve <- function(own, other, number) {
  order <- ufs_facility(own, max(number), center = FALSE, scale = FALSE,
    control = ufs_control(warn = FALSE))$sample_ranking
  among <- square_distances(own, own)
  to <- square_distances(other, own)
  width <- max(stats::median(among[upper.tri(among)]), .Machine$double.xmin)
  total <- mean(rowSums(sweep(other, 2L, colMeans(own))^2))
  t(vapply(number, function(m) {
    i <- order[seq_len(m)]
    like <- exp(-to[, i, drop = FALSE] / width)
    known <- solve(exp(-among[i, i, drop = FALSE] / width) + diag(0.01, m), t(like))
    far <- pmax(apply(to[, i, drop = FALSE], 1L, min), 0)
    c(mean(far) / total, mean(1 - rowSums(like * t(known))))
  }, c(0, 0)))
}

# NA where there is no bend, or five times as many were not tried: every curve levels off.
enough_samples <- function(curves) {
  mean <- apply(curves$value, 1:2, mean)
  last <- nrow(mean)
  fall <- mean[-last, ] - mean[-1L, ]
  flat <- vapply(2:(last - 1L), function(i) {
    before <- (mean[1L, ] - mean[i, ]) / (i - 1L)
    all(fall[i:(last - 1L), ] <= rep(sample_settings$bend * before, each = last - i))
  }, NA)
  m <- curves$number[which(flat)[1L] + 1L]
  if (is.na(m) || 5L * m > max(curves$number)) NA_integer_ else as.integer(m)
}

# What the curves are at some of their numbers.
fall_words <- function(curves) {
  mean <- apply(curves$value, 1:2, mean)
  at <- unique(round(seq(3, nrow(mean), length.out = 4L)))
  shown <- function(j) paste(round(100 * mean[at, j]), collapse = ", ")
  paste0(paste(curves$number[at], collapse = ", "), " samples the squared distance to the nearest ",
    "is ", shown(1L), " % of that to the mean, and ", shown(2L), " % of the variance of a smooth ",
    "function are left, judged on one half")
}

sample_curve_table <- function(curves) {
  measures <- c("squared distance to the nearest chosen",
    "residual variance of a smooth function")
  do.call(rbind, lapply(1:2, function(j) {
    value <- matrix(curves$value[, j, , ], length(curves$number))
    data.frame(number = curves$number, measure = measures[j], value = rowMeans(value),
      low = apply(value, 1L, min), high = apply(value, 1L, max))
  }))
}

# ---- shown ---------------------------------------------------------------------------------------

# The curve in one line: up to four of its numbers around the answer, and how far halves differ.
curve_words <- function(curve, size) {
  parts <- vapply(split(curve, factor(curve$measure, unique(curve$measure))), function(part) {
    near <- order(abs(log(part$number / size)))
    at <- part[sort(utils::head(near, 4L)), ]
    halves <- max(at$high - at$low)
    paste0(at$measure[1L], " at ", paste(at$number, collapse = ", "), ": ",
      paste(format(round(100 * at$value), trim = TRUE), collapse = ", "), " %",
      if (is.finite(halves)) paste0(" (halves of the rows differ by up to ", percent(halves), ")"))
  }, "")
  paste0(paste(parts, collapse = "; "), "; see plot(fit, \"size\")")
}

#' @export
picture_types.ufs_select <- function(fit) {
  types <- NextMethod()
  # What was chosen comes first, how the method got there last.
  c(setdiff(types, "objective"), if (!is.null(fit$size_curve)) "size",
    intersect(types, "objective"))
}

#' @export
picture.ufs_select <- function(object, type, ...) {
  if (type != "size") return(NextMethod())
  curve <- object$size_curve
  numbers <- sort(unique(curve$number))
  # From 2 to thousands: equal steps of the grid.
  curve$number <- match(curve$number, numbers)
  what <- if (object$task == "label") "samples" else "features"
  new_picture("curves", table = data.frame(x = curve$number, y = curve$value,
    series = curve$measure, label = curve$measure, low = curve$low, high = curve$high),
    x_labels = numbers, percent = TRUE, xlab = paste(what, "chosen"),
    ylab = if (length(unique(curve$measure)) == 1L) paste(curve$measure[1L], "(%)") else "%",
    lines = list(v = if (length(numbers) > 1L) {
      stats::approx(log(numbers), seq_along(numbers), log(object$size), rule = 2)$y
    }), title = paste("How many", what), subtitle = paste(object$size, "were chosen"))
}
