# A fit that takes long says so before it begins.

# Seconds on one core, coarsely, of methods that may take long on a table that fits into memory: n
# rows, p columns, r the smaller number, `many` clusters, components, features or samples asked for.
# Beside them what makes it shorter.
waits <- list(
  alfs = quote(c(`ufs_control(max_iter = )` = 4e-9 * n * p * r)),
  blfse = quote(c(`ufs_control(max_iter = )` = 4e-6 * n * p + 2e-10 * n^3)),
  consensus = quote(c(members = 1e-7 * n * p * (5 + many) + 2e-9 * min(n, 15000)^2 * p)),
  css = quote(c(k = 2e-9 * n * p * (r + many))),
  facility = quote(c(m = 2e-10 * n^2 * (p + many))),
  inffs = quote(c(`ufs_control(max_iter = )` = 2e-10 * (n * p^2 + p^2 * r))),
  jspca = quote(c(n_components = 1e-7 * n * p * many)),
  laplacian = quote(c(graph = 5e-11 * n^2 * p)),
  mcfs = quote(c(graph = 4e-11 * n^2 * p + 1e-8 * n * p * many)),
  medoids = quote(c(m = 2e-8 * n * p * many)),
  ndfs = quote(c(`ufs_control(max_iter = )` = 5e-11 * n^2 * p + 2e-9 * r^2 * p)),
  rsr = quote(c(`ufs_control(max_iter = )` = 4e-9 * r^2 * max(n, p))),
  socfs = quote(c(n_clusters = 4e-8 * n * p * many)),
  sogfs = quote(c(`ufs_control(max_iter = )` = 5e-9 * n * p * max(n, p))),
  spca = quote(c(n_components = 1e-7 * n * p * many)),
  spec = quote(c(graph = 5e-11 * n^2 * p)),
  topk = quote(c(`ufs_control(max_iter = )` = 3e-8 * n * p * r)),
  udfs = quote(c(`ufs_control(max_iter = )` = 2e-10 * n * p * max(n, p) + 5e-9 * r^2 * p)))

# The seconds of one fit, named by what shortens it; NULL where nothing is known.
wait_of <- function(method, x, args) {
  size <- as.double(dim(x))
  dense <- is.matrix(x) || is.data.frame(x) || inherits(x, "ufs_data") && x$kind == "dense"
  if (is.null(waits[[method]]) || !dense) return(NULL)
  asked <- Filter(is.numeric, args[c("n_clusters", "n_components", "k", "m")])
  eval(waits[[method]], list(n = size[1L], p = size[2L], r = min(size),
    many = c(unlist(asked, use.names = FALSE), 5)[1L]))
}

# Once for the outermost run, where watch_over() found somebody who waits.
foretell <- function(name, x, seconds, shorter = names(seconds), after = 5) {
  watch <- environment(getOption("ufselect.watch", mean))
  if (!identical(watch$foretold, FALSE) || !isTRUE(seconds > after)) return()
  watch$foretold <- TRUE
  about <- signif(seconds, 1L)
  message(structure(class = c("ufs_wait", "ufs_progress", "message", "condition"), list(
    message = paste0(name, " on ", size_words(nrow(x), ncol(x)), " will take about ",
      if (about < 100) paste(about, "seconds") else paste(round(about / 60), "minutes"),
      "; to shorten it: ", paste0("`", shorter, "`", collapse = " and "),
      ", or fewer rows or columns (`samples`, `features`).\n"), call = NULL)))
}
