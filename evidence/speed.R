# Speed, in four parts; the first argument names one.
#
#   Rscript speed.R floor         every method against the BLAS and LAPACK calls that it cannot avoid
#   Rscript speed.R scaling       how time and memory grow with n and with p
#   Rscript speed.R before-after  versions of the package side by side, method by method
#   Rscript speed.R waits         versions side by side, on the jobs that people wait for
#
# What each part takes is said above it. CPU seconds; each job in a session of its own, which this script
# starts by itself. Set OPENBLAS_NUM_THREADS=1. With --out the table is written to a file.
#
# All but the first take --libraries=4ce6f69=FOLDER,e91431e=FOLDER,...: versions of the package, each installed
# by R CMD INSTALL --library=FOLDER from a checkout of the commit that names it, the newest last; of these,
# --versions measures some. All use the BLAS that the caller sets (LD_PRELOAD), which stands in every line.
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])
source(file.path(dirname(script), "common.R"))

# ---- floor -------------------------------------------------------------------------------------

# Every method against the floor: its CPU time over that of the BLAS and LAPACK calls that it cannot
# avoid, and over one pass through x (a product with one vector), both measured in the same process
# just before. The calls are a lower bound for the method as it is published: what must be formed or
# factored once, products once; iterations beyond the first are not in it.
#
#   Rscript speed.R floor [--sizes=300x500,500x2000] [--methods=socfs,pca] [--seconds=30] [--out=file.csv]
#
# Data: five Gaussian clusters in 5 % of the columns. One thread; with OpenBLAS the floor is lower
# than with the reference BLAS and the ratios therefore larger. A fit may use `seconds`.
floor_part <- function() {
  library(ufselect)
  options(matprod = "blas")

  # The building blocks, r = min(n, p), five clusters or components.
  blocks <- function(x) {
    n <- nrow(x)
    p <- ncol(x)
    r <- min(n, p)
    narrow <- x[seq_len(n), seq_len(r), drop = FALSE]
    groups <- matrix(rnorm(5 * n), n)
    centres <- matrix(rnorm(5 * r), r)
    side <- min(p, 1000L)
    part <- x[, seq_len(side), drop = FALSE]
    square <- if (n < p) tcrossprod(x) else crossprod(x)
    diag(square) <- diag(square) + 1
    list(
      gram = function() if (n < p) tcrossprod(x) else crossprod(x),   # the smaller side
      rows = function() tcrossprod(x),                                # n x n
      columns = function() crossprod(part),                           # p x p, by columns
      factor = function() chol(square),                               # r x r
      eigen = function() eigen(square, symmetric = TRUE),
      cross = function() crossprod(x, groups),                        # x' times n x 5
      assign = function() narrow %*% centres                          # n x r times r x 5
    )
  }

  # How often each block is needed at least. k-means: 20 starts of one step each, for p > n in the n
  # coordinates of the rows.
  floor_of <- function(method, n, p) {
    wide <- p > n
    kmeans <- c(if (wide) c(gram = 1), assign = 20)
    graph <- c(rows = 1)
    both <- c(rows = 1, if (!wide) c(gram = 1), factor = 1)
    switch(method,
      variance = , random = NULL,
      pca = , cur = c(gram = 1, cross = 1),
      kmeans_f = , medoids = kmeans,
      socfs = c(kmeans, cross = 2),
      jspca = , spca = c(gram = 1, cross = 3),
      alfs = c(gram = 1, eigen = 1),
      topk = c(rows = 1, factor = 1),
      inffs = c(columns = 1),
      blfse = c(columns = 1, graph),
      laplacian = , spec = , alnr = , facility = graph,
      mcfs = c(graph, cross = 1),
      ndfs = , udfs = , sogfs = both,
      rsr = , rrss = c(gram = 1, factor = 1),
      css = c(gram = 1, cross = 4),
      ted = c(gram = 1),
      consensus = {
        members <- eval(formals(ufs_consensus)$members)
        unlist(lapply(members, floor_of, n = n, p = p))
      },
      stop("no floor is stated for ", method))
  }

  one <- function(method, n, p, seconds) {
    x <- clustered(n, p)
    ones <- rep(1, p)
    pass <- cpu_of_one(function() x %*% ones)
    calls <- floor_of(method, n, p)
    block <- blocks(x)
    times <- vapply(unique(as.character(names(calls))), function(name) {
      cpu_of_one(block[[name]]) * if (name == "columns") max(1, p / 1000)^2 else 1
    }, 0)
    bottom <- if (length(calls)) sum(times[names(calls)] * calls) else NA
    calls <- if (length(calls)) tapply(calls, names(calls), sum)
    fit <- NULL
    used <- within_time(cpu_of_one(function() fit <<- fit_once(method, x)), seconds)
    if (is.null(used)) used <- NA
    text <- if (length(calls)) paste(calls, names(calls), collapse = " + ") else ""
    print_row(method, n, p, signif(used, 3), signif(bottom, 3), signif(pass, 3),
      signif(used / bottom, 3), signif(used / pass, 3),
      if (is.null(fit$iterations)) NA else fit$iterations,
      if (is.null(fit)) "stopped" else fit$status, text, blas_name())
  }

  if (!is.null(option("method"))) {
    one(option("method"), as.integer(option("n")), as.integer(option("p")),
      as.numeric(option("seconds")))
  } else {
    sizes <- words(option("sizes", "300x500,500x2000,100x10000,5000x500"))
    sizes <- do.call(rbind, strsplit(sizes, "x"))
    methods <- wanted_methods()
    jobs <- expand.grid(method = methods, size = seq_len(nrow(sizes)), stringsAsFactors = FALSE)
    jobs <- data.frame(part = "floor", method = jobs$method, n = sizes[jobs$size, 1L], p = sizes[jobs$size, 2L])
    table <- run_jobs(jobs, as.numeric(option("seconds", "30")))
    names(table) <- c("method", "n", "p", "cpu_seconds", "floor_seconds", "pass_seconds", "in_floors",
      "in_passes", "iterations", "status", "floor", "blas")
    if (!is.null(option("out"))) write.csv(table, option("out"), row.names = FALSE)
  }
}

# ---- scaling -----------------------------------------------------------------------------------

# How time grows: exponents of CPU time in p (100 rows) and in n (50 columns), by a line through the
# logarithms of the last three sizes, for the whole fit and per iteration; and the peak of resident
# memory above the start, as a multiple of x, at the largest size. Sizes double until a fit takes a
# second, three times at least. Goal: 1.1 in p for p >> n, and 1.1 in n for n >> p but for methods
# that are n x n by nature.
#
#   Rscript speed.R scaling [--libraries=...] [--methods=socfs,pca] [--seconds=20] [--out=file.csv]
scaling_part <- function() {
  # They hold or walk through all pairs of samples: a graph, a kernel, a representation of every
  # sample by every other.
  by_nature <- c("topk", "blfse", "laplacian", "spec", "mcfs", "udfs", "sogfs", "ndfs",
    "consensus", "alnr", "facility", "ted", "rrss")
  largest <- c(n = 256000L, p = 80000L)
  smallest <- c(n = 500L, p = 1250L)

  one <- function(method, along, seconds) {
    size <- smallest[[along]]
    seen <- NULL
    repeat {
      x <- if (along == "p") clustered(100L, size) else clustered(size, 50L)
      invisible(gc())
      reset_peak()
      before <- resident_mb("VmRSS")
      fit <- NULL
      used <- within_time(cpu_of_one(function() fit <<- fit_once(method, x), enough = .1), seconds)
      if (is.null(used)) break
      steps <- max(1, fit$iterations)
      seen <- rbind(seen, data.frame(size, used, each = used / steps, steps,
        memory = (resident_mb("VmHWM") - before) / (8 * length(x) / 2^20)))
      if ((used > 1 && nrow(seen) >= 3L) || size >= largest[[along]]) break
      size <- 2L * size
    }
    if (is.null(seen)) return()
    last <- utils::tail(seen, 3L)
    slope <- function(y) {
      if (nrow(last) < 2L) return(NA)
      stats::coef(stats::lm(log(y) ~ log(last$size)))[[2L]]
    }
    end <- last[nrow(last), ]
    print_row(option("version"), method, along, along == "n" && method %in% by_nature, last$size[1L], end$size,
      signif(end$used, 3), round(slope(last$used), 2), round(slope(last$each), 2), end$steps,
      round(end$memory, 1), blas_name())
  }

  if (!is.null(option("method"))) {
    library(ufselect, lib.loc = option("library"))
    one(option("method"), option("along"), as.numeric(option("seconds")))
  } else {
    lines <- expand.grid(along = c("p", "n"), method = wanted_methods(), stringsAsFactors = FALSE)
    lines$part <- "scaling"
    jobs <- with_versions(lines)
    columns <- c("version", "method", "along", "n_by_n", "from", "to", "cpu_seconds", "exponent",
      "exponent_per_iteration", "iterations", "peak_in_x", "blas")
    # glibc: what is freed goes back at once, or the next fit would find it and look thrifty.
    measure_in_turn(jobs, as.numeric(option("seconds", "20")), columns, c("method", "along", "blas"),
      unique(lines$method), "MALLOC_MMAP_THRESHOLD_=131072")
  }
}

# ---- before-after ------------------------------------------------------------------------------

# Versions of the package side by side: CPU seconds of one fit at its defaults (the least of three where that
# takes less than a second), the memory that it adds to its data, and status, iterations, objective
# and certificate beside them, so that no speed is bought with a worse answer.
#
#   Rscript speed.R before-after --libraries=... --data=FOLDER [--out=file.csv] [--methods=topk,rsr]
#                          [--seconds=60]
#
# Real sets of --data by name, and five Gaussian clusters (common.R) by "n x p". The labels that SOCFS and
# NDFS start from are drawn before the clock runs. What takes over --seconds is stopped.
before_after_part <- function() {
  # The penalty on the weights was an argument of ufs_alfs(), and is one of ufs_control(paper = ) now.
  alfs_penalty <- function(x, lambda_rel, ...) {
    before <- "lambda_rel" %in% names(formals(ufselect::ufs_alfs))
    if (before) return(ufselect::ufs_alfs(x, lambda_rel = lambda_rel, ...))
    ufselect::ufs_alfs(x, control = ufselect::ufs_control(paper = list(lambda_rel = lambda_rel)), ...)
  }
  fits <- list(
    alfs = function(x, g, labels) ufselect::ufs_alfs(x),
    alfs_weights = function(x, g, labels) alfs_penalty(x, .001),
    alfs_few = function(x, g, labels) alfs_penalty(x, 1e-4, beta_rel = .6),
    alnr = function(x, g, labels) ufselect::ufs_alnr(x),
    blfse = function(x, g, labels) ufselect::ufs_blfse(x, g, k = 20),
    consensus = function(x, g, labels) ufselect::ufs_consensus(x, g),
    css = function(x, g, labels) ufselect::ufs_css(x, k = 20),
    cur = function(x, g, labels) ufselect::ufs_cur(x),
    facility = function(x, g, labels) ufselect::ufs_facility(x, m = 20),
    inffs = function(x, g, labels) ufselect::ufs_inffs(x),
    jspca = function(x, g, labels) ufselect::ufs_jspca(x, g, loss = "feature"),
    jspca_sample = function(x, g, labels) ufselect::ufs_jspca(x, g, loss = "sample"),
    kmeans_f = function(x, g, labels) ufselect::ufs_kmeans_f(x, g),
    laplacian = function(x, g, labels) ufselect::ufs_laplacian(x),
    mcfs = function(x, g, labels) ufselect::ufs_mcfs(x, g),
    medoids = function(x, g, labels) ufselect::ufs_medoids(x, m = 20),
    ndfs = function(x, g, labels) ufselect::ufs_ndfs(x, g, init = labels),
    pca = function(x, g, labels) ufselect::ufs_pca(x, g),
    rrss = function(x, g, labels) ufselect::ufs_rrss(x),
    rsr = function(x, g, labels) ufselect::ufs_rsr(x),
    socfs = function(x, g, labels) ufselect::ufs_socfs(x, g, init = labels),
    sogfs = function(x, g, labels) ufselect::ufs_sogfs(x, g),
    spca = function(x, g, labels) ufselect::ufs_spca(x, g),
    spec = function(x, g, labels) ufselect::ufs_spec(x),
    ted = function(x, g, labels) ufselect::ufs_ted(x),
    topk = function(x, g, labels) ufselect::ufs_topk(x, k = 20, n_clusters = g),
    topk_links = function(x, g, labels) {
      ufselect::ufs_topk(x, k = 20, n_clusters = g, alpha_e = 20)
    },
    udfs = function(x, g, labels) ufselect::ufs_udfs(x, g),
    variance = function(x, g, labels) ufselect::ufs_variance(x)
  )

  cases <- list(
    topk = c("300x500", "100x2000", "500x2000", "1000x1000", "2000x200"),
    topk_links = c("300x500", "500x2000", "1000x1000"),
    kmeans_f = c("300x500", "500x2000", "1000x1000", "5000x500", "100x100000"),
    variance = c("300x500", "500x2000", "100x10000", "5000x500"),
    pca = "1000x1000",
    laplacian = "100x10000",
    spec = c("100x10000", "5000x500"),
    spca = c("500x2000", "100x10000"),
    udfs = c("lung_discrete", "300x500", "1000x1000", "orl", "100x10000", "100x100000"),
    rsr = c("1000x1000", "5000x500", "100x100000"),
    rrss = c("1000x1000", "8000x200", "7352x561"),
    ted = c("1000x1000", "5000x500", "100x100000"),
    alnr = c("1000x1000", "5000x500"),
    cur = c("1000x1000", "100x100000"),
    facility = c("1000x1000", "5000x500"),
    medoids = c("1000x1000", "5000x500"),
    alfs = c("300x500", "500x2000", "1000x1000", "100x100000"),
    alfs_weights = c("500x100", "300x500"),
    alfs_few = c("500x100", "300x500"),
    ndfs = c("lung_discrete", "tissue", "orl", "100x100000"),
    jspca = c("lung_discrete", "tissue", "warpPIE10P", "musk1", "libras", "segment", "500x2000",
      "100x10000", "100x100000"),
    jspca_sample = c("lung_discrete", "tissue", "warpPIE10P", "musk1", "libras", "segment",
      "500x2000", "100x10000"),
    socfs = c("lung_discrete", "tissue", "warpPIE10P", "100x100000"),
    sogfs = c("1000x1000", "5000x500", "8000x200", "100x10000", "100x40000"),
    blfse = c("8000x200", "100x10000"),
    inffs = c("100x10000", "100x40000"),
    mcfs = c("100x100000", "50x1000000"),
    css = "100x100000",
    consensus = "100x100000"
  )

  # The measure of the answer that the fit itself gives, and the tightest of its certificates.
  answer <- function(fit) {
    certificate <- fit$certificate
    value <- fit$solution$within_ss
    if (length(value)) value <- sum(value)
    if ("selection_objective" %in% names(certificate)) value <- certificate[["selection_objective"]]
    if (!length(value)) value <- utils::tail(fit$trace$objective, 1L)
    shown <- intersect(c("gap", "kkt", "residual", "change"), names(certificate))
    list(objective = if (length(value)) signif(value, 8) else NA,
      certificate = if (length(shown)) paste(shown[1L], signif(certificate[[shown[1L]]], 2)) else "")
  }

  one <- function(method, data, version, seconds) {
    if (grepl("^[0-9]+x[0-9]+$", data)) {
      size <- as.integer(strsplit(data, "x")[[1L]])
      x <- clustered(size[1L], size[2L])
      n_clusters <- 5L
    } else {
      set <- read_set(option("data"), data)
      x <- scale(set$x)
      x <- x[, colSums(is.finite(x)) == nrow(x)]
      x <- matrix(x, nrow(x), dimnames = list(NULL, paste0("f", seq_len(ncol(x)))))
      n_clusters <- nlevels(set$y)
    }
    labels <- if (method %in% c("socfs", "ndfs") && ncol(x) < 10000L) {
      set.seed(1)
      stats::kmeans(x, n_clusters, nstart = 5, iter.max = 50)$cluster
    } else {
      "kmeans"
    }
    fit <- NULL
    invisible(gc())
    reset_peak()
    start <- resident_mb("VmRSS")
    used <- least_of_three(function() {
      set.seed(1)
      fit <<- suppressMessages(suppressWarnings(fits[[method]](x, n_clusters, labels)))
    }, seconds, start)
    if (nzchar(used$note)) {
      print_row(version, method, data, nrow(x), ncol(x), NA, NA, NA, used$note, NA, "", blas_name())
    } else {
      said <- answer(fit)
      print_row(version, method, data, nrow(x), ncol(x), used$seconds, used$mb, fit$iterations, fit$status,
        said$objective, said$certificate, blas_name())
    }
  }

  columns <- c("version", "method", "set", "n", "p", "seconds", "mb", "iterations", "status",
    "objective", "certificate", "blas")
  if (!is.null(option("method"))) {
    library(ufselect, lib.loc = option("library"))
    one(option("method"), option("set"), option("version"), as.numeric(option("limit")))
  } else {
    methods <- words(option("methods", paste(names(cases), collapse = ",")))
    lines <- data.frame(method = rep(methods, lengths(cases[methods])),
      set = unlist(cases[methods], use.names = FALSE))
    lines$limit <- option("seconds", "60")
    lines$part <- "before-after"
    if (!is.null(option("data"))) lines$data <- option("data")
    ended <- function(job) {
      data.frame(job$version, job$method, job$set, NA, NA, NA, NA, NA, paste("over", job$limit, "s"), NA, "", blas_name())
    }
    measure_in_turn(with_versions(lines), as.numeric(lines$limit[1L]), columns, c("method", "set", "blas"),
      names(cases), ended = ended)
  }
}

# ---- waits -------------------------------------------------------------------------------------

# The times people wait for, in versions of the package side by side: CPU seconds (the least of three where
# that is less than a second) and peak memory of one call each, and the criterion of its answer, so that no
# speed is bought with a worse one.
#
#   Rscript speed.R waits --libraries=... [--out=file.csv] [--cases=medoids_texts,...] [--seconds=60]
#
# A case is a function that makes the data, a call on them, and what to read from the answer. What takes over
# --seconds is stopped; what a version cannot do yet says so. With --out, lines of other cases in the
# file stay.
waits_part <- function() {
  # Eight subjects with words of their own, 3 % of the entries filled, as term frequencies of unit
  # length.
  texts <- function(n = 5000L, p = 1500L, filled = 45L) {
    set.seed(1)
    subject <- sample.int(8L, n, replace = TRUE)
    common <- 1 / seq_len(p)^.7
    i <- rep(seq_len(n), each = filled)
    j <- unlist(lapply(subject, function(s) {
      own <- seq_len(p) %% 8L == s - 1L
      sample.int(p, filled, replace = TRUE, prob = common * ifelse(own, 4, 1))
    }))
    x <- Matrix::sparseMatrix(i, j, x = 1, dims = c(n, p))
    dimnames(x) <- list(NULL, paste0("w", seq_len(p)))
    ufselect::ufs_data(x, counts = "tfidf", unit_rows = TRUE)
  }

  # Clusters in half of the columns, noise in the others.
  rows <- function(n, p, clusters = 8L) {
    set.seed(1)
    centre <- matrix(stats::rnorm(clusters * p), clusters)
    centre[, seq_len(p) > p / 2] <- 0
    x <- centre[sample.int(clusters, n, replace = TRUE), ] + matrix(stats::rnorm(n * p), n)
    dimnames(x) <- list(NULL, paste0("f", seq_len(p)))
    x
  }

  # Counts of four in a hundred entries, as of genes in single cells.
  sparse <- function(n, p) {
    set.seed(1)
    x <- abs(Matrix::rsparsematrix(n, p, .04))
    dimnames(x) <- list(NULL, paste0("g", seq_len(p)))
    x
  }

  labels_of <- function(n, known, classes = 8L) {
    set.seed(2)
    y <- factor(rep(NA, n), levels = seq_len(classes))
    y[sample.int(n, known)] <- rep_len(seq_len(classes), known)
    y
  }

  graph_of <- function(n) {
    set.seed(1)
    x <- cbind(stats::rnorm(n), stats::rnorm(n), stats::rnorm(n))
    at <- order(x[, 1L])
    # Neighbours along three directions: a graph of the right size without a search.
    edges <- do.call(rbind, lapply(1:3, function(d) {
      at <- order(x[, d])
      do.call(rbind, lapply(1:2, function(s) cbind(at[seq_len(n - s)], at[s + seq_len(n - s)])))
    }))
    w <- Matrix::sparseMatrix(edges[, 1L], edges[, 2L], x = 1, dims = c(n, n))
    (w + Matrix::t(w) > 0) * 1
  }

  first <- function(name) function(fit) fit$certificate[[name]]
  none <- function(fit) NA_real_

  # Small calls in loops.
  iris_1000 <- function(call) {
    list(function() as.matrix(datasets::iris[1:4]), function(x) {
      for (i in 1:1000) fit <- call(x)
      fit
    }, none)
  }

  cases <- list(
    variance_iris_1000 = iris_1000(function(x) ufselect::ufs_variance(x)),
    css_iris_1000 = iris_1000(function(x) ufselect::ufs_css(x, k = 2)),
    pca_iris_1000 = iris_1000(function(x) ufselect::ufs_pca(x, n_components = 2)),
    ted_iris_1000 = iris_1000(function(x) ufselect::ufs_ted(x)),
    select_iris_1000 = iris_1000(function(x) ufselect::ufs_select(x, k = 2)),
    css_mtcars_1000 = list(function() as.matrix(datasets::mtcars), function(x) {
      for (i in 1:1000) fit <- ufselect::ufs_css(x[sample.int(nrow(x), replace = TRUE), ], k = 4)
      fit
    }, first("captured")),
    medoids_texts = list(texts, function(x) ufselect::ufs_medoids(x, m = 20, center = FALSE,
      scale = FALSE), first("within_ss")),
    medoids_texts_labelled = list(texts, function(x) ufselect::ufs_medoids(x, m = 20,
      labelled = 1:20, center = FALSE, scale = FALSE), first("within_ss")),
    facility_texts = list(texts, function(x) ufselect::ufs_facility(x, m = 20, center = FALSE,
      scale = FALSE), first("value")),
    medoids_50000x60 = list(function() rows(50000L, 60L), function(x) ufselect::ufs_medoids(x,
      m = 20), first("within_ss")),
    medoids_50000x200 = list(function() rows(50000L, 200L), function(x) ufselect::ufs_medoids(x,
      m = 20), first("within_ss")),
    facility_10000x200 = list(function() rows(10000L, 200L), function(x) ufselect::ufs_facility(x,
      m = 100), first("value")),
    propagate_5000 = list(function() list(w = ufselect::ufs_graph(texts(), 10), y = labels_of(5000L,
      40L)), function(d) ufselect::ufs_propagate(d$w, d$y), none),
    propagate_100000 = list(function() list(w = graph_of(100000L), y = labels_of(100000L, 400L)),
      function(d) ufselect::ufs_propagate(d$w, d$y), none),
    select_label_texts = list(texts, function(x) ufselect::ufs_select(x, m = 20, task = "label"),
      first("within_ss")),
    select_label_50000x60 = list(function() rows(50000L, 60L), function(x) {
      ufselect::ufs_select(x, task = "label", m = 20)
    }, first("within_ss")),
    select_cluster_50000x60 = list(function() rows(50000L, 60L), function(x) {
      ufselect::ufs_select(x, k = 20, task = "cluster")
    }, none),
    select_classify_50000x60 = list(function() rows(50000L, 60L), function(x) {
      ufselect::ufs_select(x, k = 20, task = "classify")
    }, none),
    size_50000x60 = list(function() rows(50000L, 60L), function(x) ufselect::ufs_size(x, "pca", n_components = 8),
      function(fit) fit$k),
    size_5000x60 = list(function() rows(5000L, 60L), function(x) ufselect::ufs_size(x, "pca", n_components = 8),
      function(fit) fit$k),
    laplacian_100000x60 = list(function() rows(100000L, 60L), function(x) ufselect::ufs_laplacian(x),
      none),
    mcfs_100000x60 = list(function() rows(100000L, 60L), function(x) ufselect::ufs_mcfs(x, 8), none),
    select_cluster_100000x60 = list(function() rows(100000L, 60L), function(x) {
      ufselect::ufs_select(x, k = 20, task = "cluster")
    }, none),
    split_1000x50 = list(function() rows(1000L, 50L), function(x) ufselect::ufs_split(x, m = 100),
      function(split) split$coverage$uncovered[1L]),
    split_50000x60 = list(function() rows(50000L, 60L), function(x) ufselect::ufs_split(x, m = 100),
      function(split) split$coverage$uncovered[1L]),
    pam_2000x50 = list(function() rows(2000L, 50L), function(x) {
      ufselect::ufs_medoids(x, m = 10, form = "pam")
    }, first("mean_distance")),
    pam_1000x20_50 = list(function() rows(1000L, 20L), function(x) {
      ufselect::ufs_medoids(x, m = 50, form = "pam")
    }, first("mean_distance")),
    select_compress_150x500 = list(function() rows(150L, 500L), function(x) {
      ufselect::ufs_select(x, k = 5, task = "compress")
    }, none),
    select_cluster_150x500 = list(function() rows(150L, 500L), function(x) {
      ufselect::ufs_select(x, k = 20, task = "cluster")
    }, none),
    select_compress_300x800 = list(function() rows(300L, 800L), function(x) {
      ufselect::ufs_select(x, k = 20, task = "compress")
    }, none),
    select_cluster_300x800 = list(function() rows(300L, 800L), function(x) {
      ufselect::ufs_select(x, k = 20, task = "cluster")
    }, none),
    select_compress_2000x500 = list(function() rows(2000L, 500L), function(x) {
      ufselect::ufs_select(x, k = 20, task = "compress")
    }, none),
    select_cluster_2000x500 = list(function() rows(2000L, 500L), function(x) {
      ufselect::ufs_select(x, k = 20, task = "cluster")
    }, none),
    select_compress_texts = list(texts, function(x) ufselect::ufs_select(x, k = 20,
      task = "compress"), none),
    select_cluster_texts = list(texts, function(x) ufselect::ufs_select(x, k = 20,
      task = "cluster"), none),
    select_classify_texts = list(texts, function(x) ufselect::ufs_select(x, k = 20,
      task = "classify"), none),
    select_k5000_270x20000 = list(function() rows(270L, 20000L), function(x) {
      ufselect::ufs_select(x, k = 5000)
    }, none),
    css_sparse_2000x9015 = list(function() sparse(2000L, 9015L), function(x) {
      ufselect::ufs_css(x, k = 20)
    }, first("captured")),
    css_sparse_blocks_2000x9015 = list(function() {
      ufselect::ufs_data(sparse(2000L, 9015L), blocks = rep_len(letters[1:4], 2000L))
    }, function(x) ufselect::ufs_css(x, k = 20), first("captured")),
    represent_2000x500 = list(function() rows(2000L, 500L), function(x) ufselect::ufs_represent(x),
      function(fit) fit$objective),
    represent_300x5000 = list(function() rows(300L, 5000L), function(x) ufselect::ufs_represent(x),
      function(fit) fit$objective),
    size_css_300x5000 = list(function() rows(300L, 5000L), function(x) ufselect::ufs_size(x, "css"),
      function(fit) fit$k),
    compare_css_2000x500 = list(function() rows(2000L, 500L), function(x) {
      ufselect::ufs_compare(x, factor(rep_len(1:5, 2000L)), methods = "css", k = c(10, 20))
    }, none),
    topk_300x5000 = list(function() rows(300L, 5000L), function(x) {
      ufselect::ufs_topk(x, k = 20, n_clusters = 5)
    }, first("selection_objective")),
    topk_clustered_300x5000 = list(function() clustered(300L, 5000L), function(x) {
      ufselect::ufs_topk(x, k = 20, n_clusters = 5)
    }, first("selection_objective")),
    topk_2000x500 = list(function() rows(2000L, 500L), function(x) {
      ufselect::ufs_topk(x, k = 20, n_clusters = 5)
    }, first("selection_objective")),
    alfs_path_2000x500 = list(function() rows(2000L, 500L), function(x) ufselect::ufs_alfs_path(x),
      function(path) path$table$objective[nrow(path$table)]),
    decoys_css_100000x60 = list(function() rows(100000L, 60L), function(x) {
      ufselect::ufs_decoys(x, "css", k = 20)
    }, function(fit) fit$k[[1L]]),
    facility_10000x60 = list(function() rows(10000L, 60L), function(x) ufselect::ufs_facility(x, m = 20),
      first("value")),
    facility_50000x60 = list(function() rows(50000L, 60L), function(x) ufselect::ufs_facility(x, m = 20),
      first("value")),
    facility_100000x25 = list(function() rows(100000L, 25L), function(x) ufselect::ufs_facility(x, m = 100),
      first("value")),
    medoids_100000x25 = list(function() rows(100000L, 25L), function(x) ufselect::ufs_medoids(x, m = 100),
      first("within_ss")),
    graph_50000x60 = list(function() rows(50000L, 60L), function(x) ufselect::ufs_graph(x), none),
    laplacian_50000x60 = list(function() rows(50000L, 60L), function(x) ufselect::ufs_laplacian(x), none),
    mcfs_50000x60 = list(function() rows(50000L, 60L), function(x) ufselect::ufs_mcfs(x, 8), none),
    spec_50000x60 = list(function() rows(50000L, 60L), function(x) ufselect::ufs_spec(x), none),
    laplacian_100x20000 = list(function() rows(100L, 20000L), function(x) ufselect::ufs_laplacian(x), none),
    consensus_50000x60 = list(function() rows(50000L, 60L), function(x) ufselect::ufs_consensus(x, 8), none),
    consensus_100x50000 = list(function() rows(100L, 50000L), function(x) ufselect::ufs_consensus(x, 8), none),
    stability_50000x60 = list(function() rows(50000L, 60L), function(x) {
      ufselect::ufs_stability(x, "socfs", k = 20, n_clusters = 8)
    }, function(fit) fit$stability[[1L]]),
    tune_50000x60 = list(function() rows(50000L, 60L), function(x) {
      ufselect::ufs_tune(x, "socfs", list(n_clusters = 6:8), k = 20)
    }, none),
    grid_50000x60 = list(function() rows(50000L, 60L), function(x) {
      ufselect::ufs_grid(x, "socfs", list(n_clusters = 6:8))
    }, none),
    decoys_css_100x20000 = list(function() rows(100L, 20000L), function(x) ufselect::ufs_decoys(x, "css", k = 20),
      function(fit) fit$k[[1L]]),
    # What a sparse file is to the package: a DelayedMatrix that is_sparse() and no Matrix.
    sparse_pca_20000x2000 = list(function() {
      x <- abs(Matrix::rsparsematrix(20000L, 2000L, .05))
      dimnames(x) <- list(NULL, paste0("g", 1:2000))
      log1p(DelayedArray::DelayedArray(x))
    }, function(x) ufselect::ufs_pca(x, n_components = 20), first("captured"))
  )

  one <- function(case, version, seconds) {
    parts <- cases[[case]]
    # The data are the same for all versions.
    set.seed(1)
    data <- tryCatch(suppressMessages(suppressWarnings(parts[[1L]]())), error = function(e) {
      print_row(version, case, NA, NA, NA, paste("data:", substr(conditionMessage(e), 1L, 90L)), blas_name())
      quit(status = 0L)
    })
    fit <- NULL
    invisible(gc())
    reset_peak()
    start <- resident_mb("VmRSS")
    used <- least_of_three(function() {
      set.seed(1)
      fit <<- suppressMessages(suppressWarnings(parts[[2L]](data)))
    }, seconds, start)
    criterion <- if (nzchar(used$note)) NA else signif(parts[[3L]](fit), 8)
    print_row(version, case, used$seconds, used$mb, criterion, used$note, blas_name())
  }

  columns <- c("version", "case", "seconds", "mb", "criterion", "note", "blas")
  if (!is.null(option("case"))) {
    library(ufselect, lib.loc = option("library"))
    one(option("case"), option("version"), as.numeric(option("limit")))
  } else {
    lines <- data.frame(case = words(option("cases", paste(names(cases), collapse = ","))))
    lines$limit <- option("seconds", "60")
    lines$part <- "waits"
    ended <- function(job) {
      data.frame(job$version, job$case, NA, NA, NA, paste("ended, over", job$limit, "s"), blas_name())
    }
    measure_in_turn(with_versions(lines), as.numeric(lines$limit[1L]), columns, c("case", "blas"), names(cases),
      ended = ended)
  }
}

# ---- both ----------------------------------------------------------------------------------------

# CPU seconds of one call, the least of three where that is less than a second, and the memory that the first
# one adds to `start`; the note says why there is none.
least_of_three <- function(f, seconds, start) {
  mb <- NA
  used <- tryCatch({
    on.exit(setTimeLimit())
    setTimeLimit(cpu = seconds, transient = TRUE)
    used <- cpu(f())
    mb <- round(resident_mb("VmHWM") - start)
    if (used < 1) min(used, cpu(f()), cpu(f())) else used
  }, error = function(e) conditionMessage(e))
  over <- if (is.character(used)) grepl("time limit", used) else used > seconds
  note <- if (over) paste("over", seconds, "s") else if (is.character(used)) gsub("\n", " ", substr(used, 1L, 90L)) else ""
  list(seconds = if (nzchar(note)) NA else signif(used, 3), mb = if (nzchar(note)) NA else mb, note = note)
}

# Every job in a session of its own; each line is written at once, in the order of the first column of the key.
# ended(job): the line of a session that did not come to its end; none without.
measure_in_turn <- function(jobs, seconds, columns, key, order, env = character(), ended = function(job) NULL) {
  table <- NULL
  for (i in seq_len(nrow(jobs))) {
    found <- run_jobs(jobs[i, ], seconds, env)
    if (is.null(found)) found <- ended(jobs[i, ])
    if (is.null(found)) next
    found <- stats::setNames(found, columns)
    table <- rbind(table, found)
    out <- option("out")
    if (is.null(out)) next
    all <- renewed(out, found, key)
    all <- all[order(match(all[[key[1L]]], order), all$blas, match(all$version, names(libraries()))), ]
    utils::write.csv(all, out, row.names = FALSE)
  }
  invisible(table)
}

part <- option("part", Filter(function(a) !startsWith(a, "--"), commandArgs(TRUE))[1L])
switch(part, floor = floor_part(), scaling = scaling_part(), "before-after" = before_after_part(), waits = waits_part(),
  stop("first argument: floor, scaling, before-after or waits"))
