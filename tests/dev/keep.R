# What every method answers, kept from before a change of the engines and held against after it.
#
#   R_LIBS=<library before> Rscript tests/dev/keep.R --data=FOLDER --out=before.csv
#   R_LIBS=<library after>  Rscript tests/dev/keep.R --data=FOLDER --out=after.csv
#   Rscript tests/dev/keep.R --before=before.csv --after=after.csv [--out=moved.csv]
#
# Each method, with each value of its arguments that are a choice of words, on eight real sets and six
# simulated ones: status, the last objective of the trace, certificate, the best 20 features or samples
# and their scores, CPU seconds. --methods=socfs,jspca: only these. A fit of more than --seconds is noted
# as "time". The comparison prints what moved: an objective that rose by more than 1e-6, a certificate or a status
# that is worse, other best features (ties apart), a CPU time 1.25 times as long. Its exit status is 0
# only if no objective rose and no status is worse.
suppressPackageStartupMessages(library(ufselect))
source("tests/dev/options.R")
set <- options_of(data = Sys.getenv("UFSELECT_DATA"), out = "", before = "", after = "", methods = "",
  seconds = 60)

# ---- fits ----------------------------------------------------------------------------------------

real <- function(name, rows = Inf, columns = Inf) {
  x <- as.matrix(readRDS(file.path(set$data, paste0(name, ".rds")))$x)
  storage.mode(x) <- "double"
  set.seed(1)
  if (nrow(x) > rows) x <- x[sort(sample(nrow(x), rows)), ]
  if (ncol(x) > columns) x <- x[, sort(sample(ncol(x), columns))]
  x
}
normal <- function(n, p) matrix(stats::rnorm(n * p), n)
groups <- function(n, p, k) normal(n, p) + rbind(normal(k, p) * 2)[rep_len(seq_len(k), n), ]
sets <- list(
  wine = function() real("wine"),
  wdbc = function() real("wdbc", 300),
  ionosphere = function() real("ionosphere"),
  musk1 = function() real("musk1", 200),
  lung_discrete = function() real("lung_discrete"),
  tissue = function() real("tissue"),
  warpPIE10P = function() real("warpPIE10P", columns = 1200),
  segment = function() real("segment", 500),
  wide = function() groups(25, 150, 3),
  tall = function() groups(300, 8, 4),
  square = function() groups(60, 60, 3),
  noise = function() normal(50, 40),
  copies = function() { x <- groups(40, 12, 3); cbind(x, x[, 1:6], -x[, 7]) },
  ill_conditioned = function() groups(60, 20, 3) %*% diag(10^seq(0, -6, length.out = 20)) %*% normal(20, 20)
)

# Arguments that are a choice of words, one at a time: list("", c(solver = "irls"), ...).
variants <- function(method) {
  known <- formals(getFromNamespace("registry", "ufselect")()[[method]]$fit)
  out <- list(list())
  for (name in setdiff(names(known), c("what", "na", "members", "psi"))) {
    if (!is.call(known[[name]]) || !identical(known[[name]][[1L]], quote(c))) next
    value <- tryCatch(eval(known[[name]], baseenv()), error = function(e) NULL)
    if (!is.character(value)) next
    out <- c(out, lapply(value[-1L], function(word) stats::setNames(list(word), name)))
  }
  out
}

needed <- function(method, x) {
  row <- getFromNamespace("registry", "ufselect")()[[method]]
  k <- min(20L, ncol(x) - 1L)
  given <- list(n_clusters = 4L, n_components = 4L, k = k, n_features = k, m = 10L, n_samples = 10L)
  given[intersect(names(given), c(getFromNamespace("required_arguments", "ufselect")(row$fit), row$per_k,
    if (method == "topk") "n_clusters"))]
}

row_of <- function(name, x, method, variant) {
  set.seed(1)
  args <- utils::modifyList(c(list(x = x, method = method), needed(method, x)), variant)
  started <- proc.time()
  fit <- tryCatch({
    setTimeLimit(elapsed = set$seconds, transient = TRUE)
    suppressMessages(suppressWarnings(do.call(ufs, args)))
  }, error = function(e) conditionMessage(e), finally = setTimeLimit())
  used <- proc.time() - started
  out <- data.frame(set = name, n = nrow(x), p = ncol(x), method = method,
    variant = paste(names(variant), unlist(variant), sep = "=", collapse = ","), status = "error",
    objective = NA_real_, certificate = "", iterations = NA_integer_, best = "", scores = "",
    cpu = round(sum(used[1:2]), 3), said = "", stringsAsFactors = FALSE)
  if (!inherits(fit, "ufs")) {
    if (grepl("time limit", fit)) out$status <- "time" else out$said <- substr(gsub("\n", " ", fit), 1L, 120L)
    return(out)
  }
  out$status <- fit$status
  if (NROW(fit$trace) && "objective" %in% names(fit$trace)) out$objective <- fit$trace$objective[NROW(fit$trace)]
  if (length(fit$iterations)) out$iterations <- fit$iterations
  number <- unlist(fit$certificate[vapply(fit$certificate, function(v) is.numeric(v) && length(v) == 1L, NA)])
  out$certificate <- paste(names(number), signif(number, 6L), sep = "=", collapse = " ")
  score <- if (is.null(fit$feature_scores)) fit$sample_scores else fit$feature_scores
  first <- utils::head(if (is.null(fit$feature_scores)) fit$sample_ranking else fit$feature_ranking, 20L)
  out$best <- paste(first, collapse = " ")
  out$scores <- paste(signif(unname(score[first]), 8L), collapse = " ")
  out
}

if (!nzchar(set$before)) {
  stopifnot(dir.exists(set$data), nzchar(set$out))
  methods <- if (nzchar(set$methods)) strsplit(set$methods, ",")[[1L]] else ufs_methods()$method
  for (name in names(sets)) {
    set.seed(1)
    x <- sets[[name]]()
    dimnames(x) <- list(NULL, paste0("f", seq_len(ncol(x))))
    rows <- do.call(rbind, unlist(lapply(methods, function(method) {
      lapply(variants(method), function(variant) row_of(name, x, method, variant))
    }), recursive = FALSE))
    new <- !file.exists(set$out)
    utils::write.table(rows, set$out, sep = ",", row.names = FALSE, col.names = new, append = !new)
    cat(name, ": ", nrow(rows), " fits, ", round(sum(rows$cpu), 1), " CPU s\n", sep = "")
  }
  quit(save = "no")
}

# ---- what moved ----------------------------------------------------------------------------------

numbers <- function(text) as.numeric(strsplit(text, " ")[[1L]])
read <- function(file) utils::read.csv(file, colClasses = c(best = "character", scores = "character",
  certificate = "character", variant = "character", said = "character"))
both <- merge(read(set$before), read(set$after), by = c("set", "n", "p", "method", "variant"), suffixes = c("", "_after"))
order_of_status <- c("closed_form", "converged", "stalled", "max_iter", "diverged", "numerical", "time", "error")
rank_of <- function(status) match(status, order_of_status, nomatch = 2L)

# The chosen differ, and not only among equal scores: before or after, the k-th and the others' scores tie.
other_choice <- function(row) {
  a <- numbers(row$best)
  b <- numbers(row$best_after)
  if (identical(a, b)) return("")
  shared <- length(intersect(a, b))
  if (shared == length(a)) return("order")
  s <- numbers(row$scores)
  tied <- s[match(setdiff(a, b), a)]
  if (anyNA(tied) || all(abs(tied - s[length(s)]) <= 1e-6 * max(abs(s), na.rm = TRUE))) return("ties")
  paste(length(a) - shared, "of", length(a))
}
both$choice <- vapply(seq_len(nrow(both)), function(i) other_choice(both[i, ]), "")
both$rise <- (both$objective_after - both$objective) / pmax(abs(both$objective), 1e-12)
both$worse <- rank_of(both$status_after) > rank_of(both$status)
both$slower <- both$cpu_after / pmax(both$cpu, .02)
moved <- both[(!is.na(both$rise) & abs(both$rise) > 1e-6) | both$worse | !both$choice %in% c("", "order", "ties") |
  (both$slower > 1.25 & both$cpu_after > .2), ]
shown <- c("set", "method", "variant", "status", "status_after", "objective", "rise", "certificate", "certificate_after",
  "choice", "cpu", "cpu_after")
print(moved[order(moved$method, moved$set), shown], row.names = FALSE, digits = 4L)
if (nzchar(set$out)) utils::write.csv(moved[shown], set$out, row.names = FALSE)
rose <- sum(both$rise > 1e-6, na.rm = TRUE)
cat(sprintf("%d fits compared: %d objectives higher, %d lower, %d states worse, %d other choices, CPU %.1f -> %.1f s\n", nrow(both),
  rose, sum(both$rise < -1e-6, na.rm = TRUE), sum(both$worse), sum(!both$choice %in% c("", "order", "ties")), sum(both$cpu),
  sum(both$cpu_after)))
quit(save = "no", status = as.integer(rose > 0 || any(both$worse)))
