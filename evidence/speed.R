# Speed, in three parts; the first argument names one.
#
#   Rscript speed.R scaling       how time and memory grow with n and with p
#   Rscript speed.R before-after  versions of the package side by side, method by method
#   Rscript speed.R waits         versions side by side, on the jobs that people wait for
#
# What each part takes is said above it. CPU seconds; each job in a session of its own, which this script
# starts by itself. Set OPENBLAS_NUM_THREADS=1. With --out the table is written to a file.
#
# They take --libraries=4ce6f69=FOLDER,e91431e=FOLDER,...: versions of the package, each installed
# by R CMD INSTALL --library=FOLDER from a checkout of the commit that names it, the newest last; of these,
# --versions measures some. All use the BLAS that the caller sets (LD_PRELOAD), which stands in every line.
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])
source(file.path(dirname(script), "common.R"))

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

# ---- versions side by side -----------------------------------------------------------------------

# CPU seconds of one call (the least of three where that takes less than a second), the memory that it adds to its
# data, and beside them what the answer is worth, so that no speed is bought with a worse one. Versions take
# turns; what takes over --seconds is stopped; what a version cannot do yet says so. With --out, lines of other cases
# in the file stay, so that a table can be made in pieces.
#
#   Rscript speed.R before-after --libraries=... --data=FOLDER [--out=file.csv] [--methods=topk,rsr] [--seconds=60]
#   Rscript speed.R waits --libraries=... [--out=file.csv] [--cases=medoids_texts,...] [--seconds=60]

# One fit at its defaults: method | call | sets, a set of --data by its name or five Gaussian clusters (common.R) as
# "n x p"; g clusters, whose labels, which SOCFS and NDFS start from, are drawn before the clock runs.
before_after_cases <- "
alfs         | ufs_alfs(x)                                | 300x500 500x2000 1000x1000 100x100000
alfs_weights | alfs_penalty(x, .001)                      | 500x100 300x500
alfs_few     | alfs_penalty(x, 1e-4, beta_rel = .6)       | 500x100 300x500
alnr         | ufs_alnr(x)                                | 1000x1000 5000x500
blfse        | ufs_blfse(x, g, k = 20)                    | 8000x200 100x10000
consensus    | ufs_consensus(x, g)                        | 100x100000
css          | ufs_css(x, k = 20)                         | 100x100000
cur          | ufs_cur(x)                                 | 1000x1000 100x100000
facility     | ufs_facility(x, m = 20)                    | 1000x1000 5000x500
inffs        | ufs_inffs(x)                               | 100x10000 100x40000
jspca        | ufs_jspca(x, g, loss = 'feature')          | lung_discrete tissue warpPIE10P musk1 libras segment 500x2000 100x10000 100x100000
jspca_sample | ufs_jspca(x, g, loss = 'sample')           | lung_discrete tissue warpPIE10P musk1 libras segment 500x2000 100x10000
kmeans_f     | ufs_kmeans_f(x, g)                         | 300x500 500x2000 1000x1000 5000x500 100x100000
laplacian    | ufs_laplacian(x)                           | 100x10000
mcfs         | ufs_mcfs(x, g)                             | 100x100000 50x1000000
medoids      | ufs_medoids(x, m = 20)                     | 1000x1000 5000x500
ndfs         | ufs_ndfs(x, g, init = labels)              | lung_discrete tissue orl 100x100000
pca          | ufs_pca(x, g)                              | 1000x1000
rrss         | ufs_rrss(x)                                | 1000x1000 8000x200 7352x561
rsr          | ufs_rsr(x)                                 | 1000x1000 5000x500 100x100000
socfs        | ufs_socfs(x, g, init = labels)             | lung_discrete tissue warpPIE10P 100x100000
sogfs        | ufs_sogfs(x, g)                            | 1000x1000 5000x500 8000x200 100x10000 100x40000
spca         | ufs_spca(x, g)                             | 500x2000 100x10000
spec         | ufs_spec(x)                                | 100x10000 5000x500
ted          | ufs_ted(x)                                 | 1000x1000 5000x500 100x100000
topk         | ufs_topk(x, k = 20, n_clusters = g)        | 300x500 100x2000 500x2000 1000x1000 2000x200
topk_links   | ufs_topk(x, k = 20, n_clusters = g, alpha_e = 20) | 300x500 500x2000 1000x1000
udfs         | ufs_udfs(x, g)                             | lung_discrete 300x500 1000x1000 orl 100x10000 100x100000
variance     | ufs_variance(x)                            | 300x500 500x2000 100x10000 5000x500"

# The times people wait for: case | data | call | what the answer is worth, read from `fit`.
waits_cases <- "
variance_iris_1000        | small(iris[1:4])    | loop(ufs_variance(x))                                 |
css_iris_1000             | small(iris[1:4])    | loop(ufs_css(x, k = 2))                               |
pca_iris_1000             | small(iris[1:4])    | loop(ufs_pca(x, n_components = 2))                    |
ted_iris_1000             | small(iris[1:4])    | loop(ufs_ted(x))                                      |
select_iris_1000          | small(iris[1:4])    | loop(ufs_select(x, k = 2))                            |
css_mtcars_1000           | small(mtcars)       | loop(ufs_css(x[sample.int(nrow(x), replace = TRUE), ], k = 4)) | proved$captured
medoids_texts             | texts()             | ufs_medoids(x, m = 20, center = FALSE, scale = FALSE) | proved$within_ss
medoids_texts_labelled    | texts()             | ufs_medoids(x, m = 20, labelled = 1:20, center = FALSE, scale = FALSE) | proved$within_ss
facility_texts            | texts()             | ufs_facility(x, m = 20, center = FALSE, scale = FALSE) | proved$value
medoids_50000x60          | rows(50000, 60)     | ufs_medoids(x, m = 20)                                | proved$within_ss
medoids_50000x200         | rows(50000, 200)    | ufs_medoids(x, m = 20)                                | proved$within_ss
facility_10000x200        | rows(10000, 200)    | ufs_facility(x, m = 100)                              | proved$value
propagate_5000            | list(w = ufs_graph(texts(), 10), y = labels_of(5000, 40)) | ufs_propagate(x$w, x$y) |
propagate_100000          | list(w = graph_of(100000), y = labels_of(100000, 400))    | ufs_propagate(x$w, x$y) |
select_label_texts        | texts()             | ufs_select(x, m = 20, task = 'label')                 | proved$within_ss
select_label_50000x60     | rows(50000, 60)     | ufs_select(x, m = 20, task = 'label')                 | proved$within_ss
select_cluster_50000x60   | rows(50000, 60)     | ufs_select(x, 20, 'cluster')                          |
select_classify_50000x60  | rows(50000, 60)     | ufs_select(x, 20, 'classify')                         |
size_50000x60             | rows(50000, 60)     | ufs_size(x, 'pca', n_components = 8)                  | fit$k
size_5000x60              | rows(5000, 60)      | ufs_size(x, 'pca', n_components = 8)                  | fit$k
laplacian_100000x60       | rows(100000, 60)    | ufs_laplacian(x)                                      |
mcfs_100000x60            | rows(100000, 60)    | ufs_mcfs(x, 8)                                        |
select_cluster_100000x60  | rows(100000, 60)    | ufs_select(x, 20, 'cluster')                          |
split_1000x50             | rows(1000, 50)      | ufs_split(x, m = 100)                                 | fit$coverage$uncovered[1]
split_50000x60            | rows(50000, 60)     | ufs_split(x, m = 100)                                 | fit$coverage$uncovered[1]
pam_2000x50               | rows(2000, 50)      | ufs_medoids(x, m = 10, form = 'pam')                  | proved$mean_distance
pam_1000x20_50            | rows(1000, 20)      | ufs_medoids(x, m = 50, form = 'pam')                  | proved$mean_distance
select_compress_150x500   | rows(150, 500)      | ufs_select(x, 5, 'compress')                          |
select_cluster_150x500    | rows(150, 500)      | ufs_select(x, 20, 'cluster')                          |
select_compress_300x800   | rows(300, 800)      | ufs_select(x, 20, 'compress')                         |
select_cluster_300x800    | rows(300, 800)      | ufs_select(x, 20, 'cluster')                          |
select_compress_2000x500  | rows(2000, 500)     | ufs_select(x, 20, 'compress')                         |
select_cluster_2000x500   | rows(2000, 500)     | ufs_select(x, 20, 'cluster')                          |
select_compress_texts     | texts()             | ufs_select(x, 20, 'compress')                         |
select_cluster_texts      | texts()             | ufs_select(x, 20, 'cluster')                          |
select_classify_texts     | texts()             | ufs_select(x, 20, 'classify')                         |
select_classify_300x5000  | rows(300, 5000)     | ufs_select(x, 20, 'classify')                         |
select_cluster_300x5000   | rows(300, 5000)     | ufs_select(x, 20, 'cluster')                          |
select_cluster_4000x400   | noise(4000, 400)    | ufs_select(x, 20, 'cluster')                          |
select_cluster_tox171     | set('tox171')       | ufs_select(x, 20, 'cluster')                          |
select_cluster_coil20     | set('coil20', 400)  | ufs_select(x, 20, 'cluster')                          |
select_cluster_low        | low_rank()          | ufs_select(x, 20, 'cluster')                          |
jspca_low                 | low_rank()          | ufs_jspca(x, 13, scale = FALSE)                       | proved$kkt
select_k5000_270x20000    | rows(270, 20000)    | ufs_select(x, k = 5000)                               |
css_sparse_2000x9015      | sparse(2000, 9015, .04) | ufs_css(x, k = 20)                                | proved$captured
css_sparse_3000x5000      | sparse(3000, 5000, .01) | ufs_css(x, k = 20)                                | proved$captured
css_sparse_blocks_2000x9015 | ufs_data(sparse(2000, 9015, .04), blocks = rep_len(letters[1:4], 2000)) | ufs_css(x, k = 20) | proved$captured
represent_2000x500        | rows(2000, 500)     | ufs_represent(x)                                      | fit$objective
represent_300x5000        | rows(300, 5000)     | ufs_represent(x)                                      | fit$objective
size_css_300x5000         | rows(300, 5000)     | ufs_size(x, 'css')                                    | fit$k
size_css_2000x500         | rows(2000, 500)     | ufs_size(x, 'css')                                    | fit$k
compare_css_2000x500      | rows(2000, 500)     | ufs_compare(x, factor(rep_len(1:5, 2000)), methods = 'css', k = c(10, 20), repeats = 3) |
stability_css_2000x500    | rows(2000, 500)     | ufs_stability(x, 'css', k = 20, n_resamples = 20)     | fit$stability[[1]]
topk_300x5000             | rows(300, 5000)     | ufs_topk(x, k = 20, n_clusters = 5)                   | proved$selection_objective
topk_clustered_300x5000   | clustered(300, 5000) | ufs_topk(x, k = 20, n_clusters = 5)                  | proved$selection_objective
topk_2000x500             | rows(2000, 500)     | ufs_topk(x, k = 20, n_clusters = 5)                   | proved$selection_objective
decoys_pca_2000x500       | rows(2000, 500)     | ufs_decoys(x, 'pca', n_components = 5)                | fit$k[[1]]
decoys_css_100000x60      | rows(100000, 60)    | ufs_decoys(x, 'css', k = 20)                          | fit$k[[1]]
decoys_css_100x20000      | rows(100, 20000)    | ufs_decoys(x, 'css', k = 20)                          | fit$k[[1]]
facility_10000x60         | rows(10000, 60)     | ufs_facility(x, m = 20)                               | proved$value
facility_50000x60         | rows(50000, 60)     | ufs_facility(x, m = 20)                               | proved$value
facility_100000x25        | rows(100000, 25)    | ufs_facility(x, m = 100)                              | proved$value
medoids_100000x25         | rows(100000, 25)    | ufs_medoids(x, m = 100)                               | proved$within_ss
graph_50000x60            | rows(50000, 60)     | ufs_graph(x)                                          |
laplacian_50000x60        | rows(50000, 60)     | ufs_laplacian(x)                                      |
mcfs_50000x60             | rows(50000, 60)     | ufs_mcfs(x, 8)                                        |
spec_50000x60             | rows(50000, 60)     | ufs_spec(x)                                           |
laplacian_100x20000       | rows(100, 20000)    | ufs_laplacian(x)                                      |
consensus_50000x60        | rows(50000, 60)     | ufs_consensus(x, 8)                                   |
consensus_100x50000       | rows(100, 50000)    | ufs_consensus(x, 8)                                   |
consensus_300x5000        | rows(300, 5000)     | ufs_consensus(x, 8, k = 20)                           |
consensus_2000x500        | rows(2000, 500)     | ufs_consensus(x, 8, k = 20)                           |
stability_50000x60        | rows(50000, 60)     | ufs_stability(x, 'socfs', k = 20, n_clusters = 8)     | fit$stability[[1]]
tune_50000x60             | rows(50000, 60)     | ufs_tune(x, 'socfs', list(n_clusters = 6:8), k = 20)  |
grid_50000x60             | rows(50000, 60)     | ufs_grid(x, 'socfs', list(n_clusters = 6:8))          |
sparse_pca_20000x2000     | log1p(DelayedArray::DelayedArray(sparse(20000, 2000, .05))) | ufs_pca(x, n_components = 20) | proved$captured"

# What the lines above are made of.
makers <- list(
  alfs_penalty = function(x, lambda_rel, ...) {
    # The penalty on the weights was an argument of ufs_alfs(), and is one of ufs_control(paper = ) now.
    given <- list(lambda_rel = lambda_rel, ...)
    if (!"lambda_rel" %in% names(formals(ufselect::ufs_alfs))) given <- alfs_settings(given)
    do.call(ufselect::ufs_alfs, c(list(x), given))
  },
  small = as.matrix,
  loop = function(call) {
    call <- substitute(call)
    for (i in 1:1000) fit <- eval(call, parent.frame())
    fit
  },
  set = function(name, rows = Inf) {
    x <- read_set(option("data"), name)$x
    x[seq_len(min(rows, nrow(x))), ]
  },
  named = function(x, letter) `dimnames<-`(x, list(NULL, paste0(letter, seq_len(ncol(x))))),
  # Eight subjects with words of their own, 3 % of the entries filled, as term frequencies of unit length.
  texts = function(n = 5000L, p = 1500L, filled = 45L) {
    subject <- sample.int(8L, n, replace = TRUE)
    common <- 1 / seq_len(p)^.7
    j <- unlist(lapply(subject, function(s) {
      sample.int(p, filled, replace = TRUE, prob = common * ifelse(seq_len(p) %% 8L == s - 1L, 4, 1))
    }))
    x <- Matrix::sparseMatrix(rep(seq_len(n), each = filled), j, x = 1, dims = c(n, p))
    ufselect::ufs_data(named(x, "w"), counts = "tfidf", rows = "unit")
  },
  # Clusters in half of the columns, noise in the others.
  rows = function(n, p, clusters = 8L) {
    centre <- matrix(stats::rnorm(clusters * p), clusters)
    centre[, seq_len(p) > p / 2] <- 0
    named(centre[sample.int(clusters, n, replace = TRUE), ] + matrix(stats::rnorm(n * p), n), "f")
  },
  noise = function(n, p) named(matrix(stats::rnorm(n * p), n), "f"),
  # As copy numbers of genes: 13 patterns over the samples, and genes that are copies of others.
  low_rank = function(n = 147L, p = 500L, rank = 13L, copies = 96L) {
    x <- matrix(stats::rnorm(n * rank), n) %*% matrix(stats::rnorm(rank * (p - copies)), rank)
    named(cbind(x, x[, seq_len(copies)]), "g")
  },
  # Counts, as of genes in single cells.
  sparse = function(n, p, share) named(abs(Matrix::rsparsematrix(n, p, share)), "g"),
  labels_of = function(n, known, classes = 8L) {
    y <- factor(rep(NA, n), levels = seq_len(classes))
    y[sample.int(n, known)] <- rep_len(seq_len(classes), known)
    y
  },
  # Neighbours along three directions: a graph of the right size without a search.
  graph_of = function(n) {
    edges <- do.call(rbind, lapply(1:3, function(d) {
      at <- order(stats::rnorm(n))
      do.call(rbind, lapply(1:2, function(s) cbind(at[seq_len(n - s)], at[s + seq_len(n - s)])))
    }))
    w <- Matrix::sparseMatrix(edges[, 1L], edges[, 2L], x = 1, dims = c(n, n))
    (w + Matrix::t(w) > 0) * 1
  })

cases_of <- function(text, columns) {
  stats::setNames(utils::read.table(text = text, sep = "|", quote = "", strip.white = TRUE, comment.char = "",
    stringsAsFactors = FALSE, fill = TRUE), columns)
}

# A place where the package, the makers and `values` are found.
bench <- function(values = list()) {
  library(ufselect, lib.loc = option("library"))
  place <- list2env(values, parent = globalenv())
  for (name in names(makers)) place[[name]] <- `environment<-`(makers[[name]], place)
  place
}

# The call measured in its place: list(fit, used, of least_of_three()).
measured <- function(call, place, seconds) {
  fit <- NULL
  invisible(gc())
  reset_peak()
  start <- resident_mb("VmRSS")
  used <- least_of_three(function() {
    set.seed(1)
    fit <<- suppressMessages(suppressWarnings(eval(parse(text = call), place)))
  }, seconds, start)
  list(fit = fit, used = used)
}

before_after_part <- function() {
  cases <- cases_of(before_after_cases, c("method", "call", "sets"))
  sets <- strsplit(cases$sets, " +")
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
    g <- 5L
    if (grepl("^[0-9]+x[0-9]+$", data)) {
      size <- as.integer(strsplit(data, "x")[[1L]])
      x <- clustered(size[1L], size[2L])
    } else {
      found <- read_set(option("data"), data)
      x <- scale(found$x)
      x <- x[, colSums(is.finite(x)) == nrow(x)]
      x <- matrix(x, nrow(x), dimnames = list(NULL, paste0("f", seq_len(ncol(x)))))
      g <- nlevels(found$y)
    }
    labels <- "kmeans"
    if (method %in% c("socfs", "ndfs") && ncol(x) < 10000L) {
      set.seed(1)
      labels <- stats::kmeans(x, g, nstart = 5, iter.max = 50)$cluster
    }
    done <- measured(cases$call[cases$method == method], bench(list(x = x, g = g, labels = labels)), seconds)
    failed <- nzchar(done$used$note)
    said <- if (failed) list(objective = NA, certificate = "") else answer(done$fit)
    print_row(version, method, data, nrow(x), ncol(x), done$used$seconds, done$used$mb,
      if (failed) NA else done$fit$iterations, if (failed) done$used$note else done$fit$status, said$objective, said$certificate,
      blas_name())
  }
  if (!is.null(option("method"))) {
    return(one(option("method"), option("set"), option("version"), as.numeric(option("limit"))))
  }
  lines <- data.frame(method = rep(cases$method, lengths(sets)), set = unlist(sets))
  lines <- lines[lines$method %in% words(option("methods", paste(cases$method, collapse = ","))), ]
  side_by_side(lines, "before-after", c("version", "method", "set", "n", "p", "seconds", "mb", "iterations", "status",
    "objective", "certificate", "blas"), c("method", "set", "blas"), cases$method, function(job) {
      data.frame(job$version, job$method, job$set, NA, NA, NA, NA, NA, paste("over", job$limit, "s"), NA, "", blas_name())
    })
}

waits_part <- function() {
  cases <- cases_of(waits_cases, c("case", "data", "call", "worth"))
  one <- function(case, version, seconds) {
    at <- cases[cases$case == case, ]
    place <- bench()
    set.seed(1)
    made <- tryCatch({
      place$x <- suppressMessages(suppressWarnings(eval(parse(text = at$data), place)))
      ""
    }, error = function(e) paste("data:", substr(conditionMessage(e), 1L, 90L)))
    if (nzchar(made)) return(print_row(version, case, NA, NA, NA, made, blas_name()))
    done <- measured(at$call, place, seconds)
    worth <- if (nzchar(at$worth) && !nzchar(done$used$note)) {
      signif(eval(parse(text = at$worth), list(fit = done$fit, proved = as.list(done$fit$certificate))), 8)
    }
    print_row(version, case, done$used$seconds, done$used$mb, if (length(worth)) worth else NA, done$used$note, blas_name())
  }
  if (!is.null(option("case"))) return(one(option("case"), option("version"), as.numeric(option("limit"))))
  lines <- data.frame(case = words(option("cases", paste(cases$case, collapse = ","))))
  side_by_side(lines, "waits", c("version", "case", "seconds", "mb", "criterion", "note", "blas"), c("case", "blas"), cases$case,
    function(job) data.frame(job$version, job$case, NA, NA, NA, paste("ended, over", job$limit, "s"), blas_name()))
}

side_by_side <- function(lines, part, columns, key, order, ended) {
  lines$limit <- option("seconds", "60")
  lines$part <- part
  if (!is.null(option("data"))) lines$data <- option("data")
  measure_in_turn(with_versions(lines), as.numeric(lines$limit[1L]), columns, key, order, ended = ended)
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
switch(part, scaling = scaling_part(), "before-after" = before_after_part(), waits = waits_part(),
  stop("first argument: scaling, before-after or waits"))
