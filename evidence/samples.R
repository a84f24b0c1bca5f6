# The sample selectors: speed, and whether their samples are worth labelling.
#   Rscript samples.R speed            CPU seconds, gap, ratio to one tcrossprod(x) and to the literal form
#   Rscript samples.R har              RRSS and TED at 10299 x 561 (simulated), about 9 minutes
#   Rscript samples.R evidence --data=FOLDER [--sets=musk1,orl] [--repeats=3] [--out=file.csv]
#       candidates = half of each set, m of them labelled, accuracy on the other half
#       by 1-NN, linear SVM and a fully grown tree, beside the mean and the best of 20 random draws.
#       FOLDER has one .rds per set with list(x, y); default: environment variable UFSELECT_DATA.
library(ufselect)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "common.R"))

simulate <- function(n, p, rank = min(n, p) %/% 4L) {
  scores <- matrix(stats::rnorm(n * rank), n)
  loadings <- matrix(stats::rnorm(rank * p), rank) / sqrt(seq_len(rank))
  scale(scores %*% loadings + 0.3 * matrix(stats::rnorm(n * p), n))
}

# ---- literal forms ---------------------------------------------------------------------

literal_ted <- function(x, m, mu) {
  k <- tcrossprod(x)
  left <- rep(TRUE, nrow(x))
  for (t in seq_len(m)) {
    gain <- ifelse(left, colSums(k^2) / (diag(k) + mu), -1)
    j <- which.max(gain)
    left[j] <- FALSE
    k <- k - tcrossprod(k[, j]) / (k[j, j] + mu)
  }
}
literal_rrss <- function(x, gamma, iterations) {
  k <- tcrossprod(x)
  n <- nrow(x)
  u <- v <- rep(1, n)
  for (t in seq_len(iterations)) {
    a <- vapply(seq_len(n), function(i) solve(u[i] * k + gamma * diag(v), u[i] * k[, i]), u)
    u <- 1 / (2 * sqrt(colSums((t(x) - t(x) %*% a)^2) + 1e-16))
    v <- 1 / (2 * sqrt(rowSums(a^2) + 1e-16))
  }
}
literal_ted_convex <- function(x, mu, objective) {
  # Reweighting on n x n matrices until it is within 1e-4 of the certified objective.
  k <- tcrossprod(x)
  b <- rep(1, nrow(x))
  for (t in 1:2000) {
    root <- sqrt(b)
    a <- root * solve(root * t(root * k) + diag(mu / 2, nrow(x)), root * k)
    b <- sqrt(rowSums(a^2))
    if (sum((x - t(a) %*% x)^2) + mu * sum(b) <= objective * (1 + 1e-4)) break
  }
  t
}

speed <- function() {
  row <- function(n, p, method, fit, seconds, pass, literal = NA) {
    gap <- if ("gap" %in% names(fit$certificate)) fit$certificate[["gap"]] else NA
    data.frame(n = n, p = p, method = method, cpu = round(seconds, 3), iterations = fit$iterations,
      gap = signif(gap, 2), of_tcrossprod = round(seconds / pass, 1),
      literal_over_ours = round(literal / seconds, 1))
  }
  out <- NULL
  for (size in list(c(80, 50), c(500, 100), c(100, 500), c(2000, 200))) {
    set.seed(1)
    n <- size[1L]
    p <- size[2L]
    x <- simulate(n, p)
    pass <- cpu(for (i in 1:5) tcrossprod(x)) / 5
    # Short calls are repeated; a pass below the clock's resolution counts as 1 ms.
    pass <- max(pass, 1e-3)
    timed <- function(f) {
      reps <- if (n * p < 1e5) 5 else 1
      seconds <- cpu(for (i in seq_len(reps)) fit <- f()) / reps
      list(fit = fit, seconds = max(seconds, 1e-3))
    }
    ted <- timed(function() ufs_ted(x))
    out <- rbind(out, row(n, p, "ted (all n)", ted$fit, ted$seconds, pass,
      if (n <= 500) cpu(literal_ted(x, min(n, 1000), ted$fit$params$mu)) else NA))
    convex <- timed(function() ufs_ted(x, form = "convex"))
    out <- rbind(out, row(n, p, "ted convex", convex$fit, convex$seconds, pass,
      if (n <= 100) cpu(literal_ted_convex(x, convex$fit$params$mu,
        utils::tail(convex$fit$trace$objective, 1L))) else NA))
    rrss <- timed(function() ufs_rrss(x))
    # n systems of size n cost n^4: one iteration, times as many as ours took.
    out <- rbind(out, row(n, p, "rrss", rrss$fit, rrss$seconds, pass,
      if (n <= 100) cpu(literal_rrss(x, rrss$fit$params$gamma, 2)) / 2 * rrss$fit$iterations else NA))
    alnr <- timed(function() ufs_alnr(x))
    out <- rbind(out, row(n, p, "alnr", alnr$fit, alnr$seconds, pass))
    cur <- timed(function() ufs_cur(x))
    out <- rbind(out, row(n, p, "cur", cur$fit, cur$seconds, pass))
  }
  print(out, row.names = FALSE)
}

har <- function() {
  set.seed(1)
  x <- simulate(10299, 561, 60)
  cat("crossprod(x):", cpu(crossprod(x)), "s\n")
  two <- cpu(ufs_rrss(x, control = ufs_control(max_iter = 2, warn = FALSE)))
  seven <- cpu(ufs_rrss(x, control = ufs_control(max_iter = 7, warn = FALSE)))
  cat("rrss, per iteration:", (seven - two) / 5, "s\n")
  cat("rrss, in all:", cpu(fit <- ufs_rrss(x)), "s\n")
  print(fit)
  cat("ted, first 1000:", cpu(ufs_ted(x)), "s\n")
  memory <- "/proc/self/status"
  if (file.exists(memory)) cat(grep("VmHWM", readLines(memory), value = TRUE), "\n")
}

# ---- real data -------------------------------------------------------------------------------

accuracy <- function(train, test) {
  y <- droplevels(train$y)
  same <- function(predicted) 100 * mean(as.character(predicted) == as.character(test$y))
  if (nlevels(y) < 2L) {
    return(rep(same(rep(levels(y), length(test$y))), 3L))
  }
  frame <- data.frame(y = y, unname(train$x))
  tree <- rpart::rpart(y ~ ., frame, method = "class",
    control = rpart::rpart.control(minsplit = 10, minbucket = 1, cp = 0, xval = 0))
  svm <- e1071::svm(train$x, y, kernel = "linear", cost = 100, scale = FALSE)
  c(same(class::knn1(train$x, test$x, y)), same(stats::predict(svm, test$x)),
    same(stats::predict(tree, data.frame(unname(test$x)), type = "class")))
}

# Half of each class are candidates; both halves on the candidates' mean and sd.
split_half <- function(data) {
  x <- as.matrix(data$x)
  y <- factor(data$y)
  at <- sort(unlist(lapply(split(seq_along(y), y), function(i) {
    i[sample.int(length(i), length(i) %/% 2L)]
  })))
  sd <- apply(x[at, ], 2L, stats::sd)
  x <- scale(x[, sd > 0], colMeans(x[at, sd > 0]), sd[sd > 0])
  list(candidates = list(x = x[at, ], y = y[at]), test = list(x = x[-at, ], y = y[-at]))
}

evidence <- function() {
  folder <- option("data", Sys.getenv("UFSELECT_DATA"))
  sets <- strsplit(option("sets", "musk1,orl,tox171,madelon"), ",")[[1L]]
  repeats <- as.integer(option("repeats", "3"))
  n_random <- 20L
  out <- NULL
  for (set in sets) {
    data <- readRDS(file.path(folder, paste0(set, ".rds")))
    for (r in seq_len(repeats)) {
      set.seed(r)
      half <- split_half(data)
      x <- half$candidates$x
      n <- nrow(x)
      seconds <- c()
      order_of <- function(name, code) {
        seconds[[name]] <<- cpu(ranking <- sample_ranking(suppressWarnings(code)))
        ranking
      }
      rankings <- list(
        ted = order_of("ted", ufs_ted(x)),
        `ted convex` = order_of("ted convex", ufs_ted(x, form = "convex")),
        rrss = order_of("rrss", ufs_rrss(x)),
        alnr = order_of("alnr", ufs_alnr(x)),
        `alfs norm` = order_of("alfs norm", ufs_alfs(x, select_samples = "norm")),
        `cur top` = order_of("cur top", ufs_cur(x, draw = "top"))
      )
      for (i in 1:5) rankings[[paste0("cur#", i)]] <- order_of("cur", ufs_cur(x))
      for (i in seq_len(n_random)) {
        rankings[[paste0("random#", i)]] <- order_of("random", ufs_random(x, "samples"))
      }
      size <- unique(round(n * c(.1, .25, .5)))
      for (m in if (nlevels(half$test$y) > 10) size[-1L] else size) {
        for (name in names(rankings)) {
          chosen <- rankings[[name]][seq_len(m)]
          train <- list(x = x[chosen, , drop = FALSE], y = half$candidates$y[chosen])
          score <- accuracy(train, half$test)
          method <- sub("#.*", "", name)
          out <- rbind(out, data.frame(set, r, m, method, nn = score[1L], svm = score[2L],
            tree = score[3L], classes = nlevels(droplevels(train$y)), seconds = seconds[[method]]))
        }
      }
    }
  }
  best <- stats::aggregate(cbind(nn, svm, tree, classes) ~ set + r + m, max,
    data = out[out$method == "random", ])
  best <- cbind(best, method = "random, best of 20", seconds = NA)[names(out)]
  out <- rbind(out, best)
  if (!is.null(option("out"))) utils::write.csv(out, option("out"), row.names = FALSE)
  for (what in c("nn", "svm", "tree", "classes")) {
    cat("\n", c(nn = "accuracy of 1-NN, %", svm = "accuracy of a linear SVM, %",
      tree = "accuracy of a tree, %", classes = "classes hit")[[what]], "\n", sep = "")
    print(round(tapply(out[[what]], list(out$method, paste(out$set, formatC(out$m, width = 4))),
      mean), 1L))
  }
  cat("\nCPU seconds of one ranking\n")
  print(round(tapply(out$seconds, list(out$method, out$set), mean), 3L))
}

task <- grep("^--", commandArgs(TRUE), value = TRUE, invert = TRUE)
switch(if (length(task)) task[[1L]] else "speed", speed = speed(), har = har(),
  evidence = evidence(), stop("Tasks: speed, har, evidence"))
