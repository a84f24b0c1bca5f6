# Contents of a fit of ufs_blfse(), its print and its pictures.

#' @export
print_notes.ufs_blfse <- function(x) {
  c(
    sprintf("consensus    %d components for %d clusters, rho = %s", x$n_component,
      x$params$n_clusters, format(signif(x$solution$rho, 3L))),
    sprintf("weights      largest alpha %.2f, beta %.2f of %d base results",
      max(x$solution$alpha), max(x$solution$beta), x$params$n_base)
  )
}

#' @export
picture_types.ufs_blfse <- function(fit) {
  c("objective", "consensus", setdiff(NextMethod(), c("objective", "samples")))
}

#' @export
picture.ufs_blfse <- function(object, type, ...) {
  trace <- object$trace
  switch(type,
    objective = {
      stage <- which(trace$block == "start")
      new_picture("curves", table = data.frame(x = seq_len(nrow(trace)), y = trace$objective),
        lines = list(v = stage[-1L] - 0.5), xlab = "block update", ylab = "objective",
        subtitle = if (length(stage) > 1L) {
          paste("new psi at each dotted line:",
            paste(signif(trace$psi[stage], 3L), collapse = ", "))
        },
        title = sprintf("ufs_blfse: objective (%s)", status_words(object$status)))
    },
    consensus = {
      s <- object$solution$S
      picture_links(object, s, order(object$solution$cluster, -rowSums(s)), c(0, 1), "similarity",
        sprintf("ufs_blfse: consensus of %d clusterings", object$params$n_base))
    },
    NextMethod()
  )
}
