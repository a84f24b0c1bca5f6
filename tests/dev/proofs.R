# Proofs and bounds against every choice there is: Rscript tests/dev/proofs.R --cases=2000 --seed=0
# ufs_css(optimal = TRUE): helper-proofs.R has what is tried; a proof is false where enumeration finds a choice that
# holds more by 1e-7 of all squares. A quarter as many of ufs_topk() and of ufs_facility(), with each of the
# constraints, columns on scales from 1e-8 to 1e8. --show=no does not print the first cases that failed.
source("tests/dev/common.R")
source("tests/testthat/helper-proofs.R")
set <- options_of(cases = 2000, seed = 0, show = "yes")
quietly <- function(code) tryCatch(suppressWarnings(suppressMessages(code)), error = function(e) e)
maybe <- function(share) stats::runif(1) < share
fine <- c("proved", "open", "refused", "ambiguous")

on_scales <- function(n, p) {
  x <- matrix(if (maybe(.3)) sample(-3:3, n * p, TRUE) + 0 else stats::rnorm(n * p), n)
  if (maybe(.6)) x <- x %*% diag(10^stats::runif(p, -8, 8))
  x
}
sets_of <- function(among, size) {
  if (size > length(among)) return(list())
  utils::combn(length(among), size, function(i) among[i], simplify = FALSE)
}
# "error" for what is said in R's own words.
status_of <- function(fit, why, proved) {
  if (inherits(fit, "error")) {
    return(if (length(why)) why else if (inherits(fit, "ufs_error")) "refused" else conditionMessage(fit))
  }
  if (length(why)) paste(why, collapse = ", ") else if (proved) "proved" else "open"
}

css_case <- function(seed) {
  one <- proof_case(seed)
  if (!one$status %in% fine) sprintf("%s, off by %.2g", one$status, one$off) else one$status
}

topk_case <- function(seed) {
  set.seed(seed)
  p <- sample(4:9, 1)
  n <- sample(8:20, 1)
  k <- sample(min(5, p - 1), 1)
  x <- on_scales(n, p)
  y <- sample(c(1:2, sample(3, n - 2, TRUE)))
  asked <- proof_constraints(p, k)
  asked$max_cor <- NULL
  centred <- maybe(.5)
  fit <- quietly(ufs_topk(do.call(ufs_data, c(list(x), asked)), k = k, y = factor(y), center = centred, scale = centred,
    control = ufs_control(warn = FALSE, paper = list(branch_and_bound = TRUE))))
  varies <- which(apply(x, 2, function(v) any(v != v[1])))
  sets <- Filter(function(s) {
    all(asked$include %in% s) && !any(asked$exclude %in% s) && proof_counts(s, asked) &&
      (is.null(asked$budget) || sum(asked$cost[s]) <= asked$budget * (1 + 1e-12))
  }, sets_of(varies, k))
  if (inherits(fit, "error")) {
    return(status_of(fit, if (length(sets) && inherits(fit, "ufs_error")) "refused wrongly", FALSE))
  }
  z <- if (centred) scale(x) else x
  z[is.nan(z)] <- 0
  z <- z / pmax(sqrt(rowSums(z^2)), .Machine$double.xmin)
  gram <- crossprod(z)
  b <- crossprod(z, outer(y, sort(unique(y)), `==`) + 0)
  criterion <- function(s) {
    n - sum(b[s, ] * solve(gram[s, s] + fit$params$lambda_a * diag(length(s)), b[s, , drop = FALSE]))
  }
  chosen <- unname(quietly(selected_features(fit, k, as = "index")))
  # With a budget there may be fewer.
  if (length(chosen) < k || !length(sets)) return("open")
  best <- min(vapply(sets, criterion, 0))
  said <- fit$certificate
  proved <- isTRUE(fit$search$proved)
  off <- function(name, how) !is.na(said[[name]]) && how(said[[name]])
  why <- c(
    if (!any(vapply(sets, setequal, NA, chosen))) "not allowed",
    if (off("bound", function(bound) bound > best * (1 + 1e-7) + 1e-9)) "bound",
    if (off("selection_objective", function(value) abs(value - criterion(chosen)) > 1e-6)) "value",
    if (proved && criterion(chosen) > best + 1e-6) "false")
  status_of(fit, why, proved)
}

row_held <- function(n) {
  asked <- list()
  if (maybe(.3)) asked$candidates <- sort(sample(n, sample(2:n, 1)))
  if (maybe(.3)) asked$weights <- sample(1:4, n, TRUE) / 4
  if (maybe(.3)) asked[c("sample_cost", "sample_budget")] <- list(stats::runif(n, .1, 3), stats::runif(1, 1, 6))
  if (maybe(.25)) {
    asked$strata <- sample(c("a", "b"), n, TRUE)
    counts <- table(asked$strata)
    if (maybe(.5)) asked$quotas <- vapply(names(counts), function(level) sample(0:counts[[level]], 1), 0L)
  }
  if (maybe(.2)) asked$replicates <- sample(3, n, TRUE)
  if (maybe(.3)) asked$labelled <- sort(sample(n, sample(2, 1)))
  asked
}
facility_case <- function(seed) {
  set.seed(seed)
  n <- sample(4:10, 1)
  m <- sample(min(4, n - 1), 1)
  x <- on_scales(n, 5)
  asked <- row_held(n)
  given <- if (maybe(.5)) matrix(stats::runif(n * n), n) * 10^matrix(stats::runif(n * n, -8, 8) * maybe(.3), n)
  centred <- maybe(.5)
  fit <- quietly(ufs_facility(do.call(ufs_data, c(list(x), asked)), m = m, swaps = sample(c(0, 2), 1),
    similarity = if (is.null(given)) "cosine" else given, center = centred, scale = centred))
  if (inherits(fit, "error")) return(status_of(fit, NULL, FALSE))
  w <- if (is.null(asked$weights)) rep(1, n) else asked$weights
  s <- given
  if (is.null(s)) {
    z <- x
    if (centred) {
      z <- sweep(z, 2, colSums(w * z) / sum(w))
      spread <- sqrt(colSums(w * z^2))
      z <- sweep(z, 2, ifelse(spread > 1e-9 * sqrt(colSums(w * x^2)), spread, Inf), "/")
    }
    s <- 1 + tcrossprod(z / pmax(sqrt(rowSums(z^2)), .Machine$double.xmin))
  }
  held <- function(rows) sum(w * apply(s[, c(asked$labelled, rows), drop = FALSE], 1, max))
  open <- setdiff(if (is.null(asked$candidates)) seq_len(n) else asked$candidates, asked$labelled)
  pays <- function(rows) {
    is.null(asked$sample_budget) || sum(asked$sample_cost[rows]) <= asked$sample_budget * (1 + 1e-12)
  }
  best <- max(0, vapply(Filter(pays, sets_of(open, min(fit$params$m, length(open)))), held, 0))
  picks <- unname(fit$solution$order)
  chosen <- quietly(selected_samples(fit, m, as = "index"))
  if (inherits(chosen, "error")) return(status_of(chosen, NULL, FALSE))
  said <- fit$certificate
  why <- c(
    if (!is.na(said[["value"]]) && abs(said[["value"]] - held(picks)) > 1e-7 * held(picks)) "value",
    if (said[["bound"]] < best * (1 - 1e-7)) "bound",
    if (!all(c(picks, chosen) %in% open) || !pays(picks) || !pays(chosen)) "not allowed",
    if (!is.null(asked$replicates) && anyDuplicated(asked$replicates[chosen])) "replicates",
    if (!is.null(asked$quotas) && any(table(asked$strata[chosen]) > asked$quotas[sort(unique(asked$strata[chosen]))])) "quotas")
  status_of(fit, why, FALSE)
}

tried <- failed <- 0
for (what in c("css", "topk", "facility")) {
  seeds <- set$seed + seq_len(set$cases / if (what == "css") 1 else 4)
  found <- vapply(seeds, match.fun(paste0(what, "_case")), "")
  bad <- !found %in% fine
  if (set$show == "yes") {
    cat(sprintf("  %s, seed %d: %s\n", what, seeds[bad], found[bad])[seq_len(min(20, sum(bad)))], sep = "")
  }
  counts <- table(ifelse(bad, "failed", found))
  cat(sprintf("  %-8s %s\n", what, paste(names(counts), counts, collapse = ", ")))
  tried <- tried + length(found)
  failed <- failed + sum(bad)
}
finish("proofs", tried, failed)
