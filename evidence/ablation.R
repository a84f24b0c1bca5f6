# Which fast paths pay: each path of src/paths.h switched off, at several sizes.
#
#   Rscript ablation.R [--paths=gl_newton,topk_admm] [--out=ablation.csv]
#
# CPU seconds with the path and without it, the better of two runs (one where a run takes more than three
# seconds), alone on the machine. A path stays in the package if its best ratio is at least 1.3 at a size
# users have, or if it halves the memory. The table holds the rows of two BLAS: run it with R's reference
# BLAS and again with an optimised one; rows of this BLAS are replaced, the others stay. Each line is
# appended as it comes.
library(ufselect)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "common.R"))

out <- option("out", "")
quiet <- ufs_control(warn = FALSE)

# ---- data ------------------------------------------------------------------------------------------

# Five groups that differ in the first `informative` columns.
groups <- function(n, p, informative = max(5, p %/% 20), noise = 1, k = 5) {
  set.seed(1)
  x <- matrix(stats::rnorm(n * p, sd = noise), n)
  at <- seq_len(informative)
  x[, at] <- x[, at] + 2 * matrix(stats::rnorm(k * informative), k)[rep_len(seq_len(k), n), ]
  x
}
# Neighbouring columns nearly equal: descent by rows is slow there.
smooth <- function(n, p) {
  set.seed(1)
  t(apply(matrix(stats::rnorm(n * p), n), 1L, stats::filter, 0.97, method = "recursive"))
}

# ---- rows: path, what is fitted, and the fit ---------------------------------------------------------

row <- function(path, method, x, ..., note = "") {
  args <- list(...)
  list(path = path, label = paste0(method, " ", nrow(x), " x ", ncol(x), note), args = args,
    run = function() {
      set.seed(1)
      suppressMessages(suppressWarnings(do.call(ufs, c(list(x, method), args[names(args) != "lambda_rel" | method != "alfs"],
        list(control = if (method == "alfs") ufs_control(warn = FALSE, paper = args[names(args) == "lambda_rel"]) else quiet)))))
    })
}
sized <- function(path, method, sizes, ..., make = groups, note = "") {
  lapply(sizes, function(size) function() row(path, method, make(size[1L], size[2L]), ..., note = note))
}
few <- function(n, p) groups(n, p, informative = 15, noise = 0.3)
labels_of <- function(n) rep_len(1:5, n)
plain_topk <- function(sizes) {
  lapply(sizes, function(size) function() {
    row("topk_compress", "topk", groups(size[1L], size[2L]), k = 10, y = labels_of(size[1L]), note = ", labels given")
  })
}
wide <- list(c(60, 300), c(100, 5000), c(100, 1e5))
rows <- c(
  sized("gl_newton", "jspca", list(c(360, 90)), n_components = 10, lambda_rel = 0.01, make = smooth, note = ", smooth"),
  sized("gl_newton", "jspca", list(c(600, 600)), n_components = 8, lambda_rel = 0.01, make = smooth, note = ", smooth"),
  sized("gl_newton", "socfs", list(c(300, 300)), n_clusters = 5, lambda_rel = 0.05, make = smooth, note = ", smooth"),
  sized("jspca_kernel", "jspca", wide, n_components = 5),
  sized("jspca_anderson", "jspca", list(c(60, 300), c(100, 5000), c(5000, 40)), n_components = 5),
  sized("jspca_forward", "jspca", list(c(60, 300), c(100, 5000), c(50000, 30)), n_components = 5),
  sized("jspca_stale", "jspca", list(c(60, 300), c(100, 5000), c(1000, 1000)), n_components = 5),
  sized("jspca_stale", "jspca", list(c(600, 600)), n_components = 8, make = smooth, note = ", smooth"),
  sized("inffs_short", "inffs", list(c(50, 500), c(50, 2000), c(50, 5000))),
  sized("inffs_float", "inffs", list(c(200, 500), c(200, 2000), c(200, 5000))),
  sized("topk_admm", "topk", list(c(200, 300), c(300, 500), c(800, 120)), k = 10, n_clusters = 5, alpha_e = 20, solver = "admm"),
  sized("topk_by_features", "topk", list(c(200, 30), c(800, 120), c(1500, 150)), k = 10, n_clusters = 5, solver = "admm"),
  plain_topk(list(c(200, 20), c(500, 40), c(1000, 60))),
  sized("alfs_newton", "alfs", list(c(300, 60), c(300, 300)), lambda_rel = 0.001, select_samples = "norm", scale = FALSE, make = few),
  sized("alfs_newton", "alfs", list(c(500, 100)), alpha_rel = 0.05, beta_rel = 0.05, lambda_rel = 0.005, select_samples = "norm",
    scale = FALSE, make = few),
  sized("alfs_columns", "alfs", list(c(300, 60), c(300, 300)), lambda_rel = 0.001, select_samples = "norm", scale = FALSE, make = few)
)

# What a path is, for the article.
what_is <- c(gl_newton = "Newton steps of the row-sparse regression", alfs_columns = "work on the columns in use",
  alfs_newton = "Newton's method near the optimum",
  topk_admm = "ADMM in place of linear programmes", topk_by_features = "systems of size p where p is small",
  topk_compress = "selection in few dimensions",
  jspca_kernel = "XX' formed once", jspca_anderson = "extrapolation over samples",
  jspca_forward = "no extrapolation while changes grow", jspca_stale = "one Gram matrix for several steps",
  inffs_short = "products in 16 bits", inffs_float = "products in 32 bits")

# ---- measured -------------------------------------------------------------------------------------

cpu <- function(run) {
  one <- function() sum(system.time(run())[1:2])
  first <- one()
  if (first > 3) first else min(first, one())
}
# Closed forms have none.
objective <- function(fit) {
  value <- fit$trace$objective[NROW(fit$trace)]
  if (length(value)) value else NA_real_
}

wanted <- words(option("paths", paste(names(what_is), collapse = ",")))
if (nzchar(out) && file.exists(out)) {
  old <- utils::read.csv(out, stringsAsFactors = FALSE)
  utils::write.csv(old[old$blas != blas_name() | !old$path %in% wanted, ], out, row.names = FALSE)
}
for (make in rows) {
  cell <- make()
  if (!cell$path %in% wanted) next
  value <- NULL
  on <- cpu(function() value <<- cell$run())
  with_it <- objective(value)
  # Without its sets of columns ALFS has no use for Newton's method.
  off_paths <- c(cell$path, if (cell$path == "alfs_columns") "alfs_newton")
  off <- cpu(function() value <<- ufselect:::with_paths_off(off_paths, cell$run()))
  said <- data.frame(path = cell$path, what = what_is[[cell$path]], fit = cell$label, on = round(on, 3),
    off = round(off, 3), ratio = round(off / on, 2),
    objective_change = signif(objective(value) / with_it - 1, 2), blas = blas_name(),
    call = paste0("set.seed(1); ufs(x, ...): ", gsub("\\s+", " ", paste(deparse(cell$args), collapse = ""))),
    version = format(utils::packageVersion("ufselect")), date = format(Sys.Date()))
  cat(sprintf("%-17s %-32s on %7.3f  off %7.3f  ratio %6.2f\n", said$path, said$fit, on, off, said$ratio))
  if (nzchar(out)) {
    new <- !file.exists(out)
    utils::write.table(said, out, sep = ",", row.names = FALSE, col.names = new, append = !new)
  }
}
