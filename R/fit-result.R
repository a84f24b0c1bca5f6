# What all results have alike. A result has print() and, where there is something to it,
# as.data.frame(), summary() and picture(); plot() and autoplot() draw its picture.

#' @export
summary.ufs_result <- whole_summary

# Which of the dots a picture takes: by their names, or by their places where they have none.
picture_dots <- function(x, dots) {
  fun <- declared_method("picture", x)
  name <- names_of(dots)
  own <- setdiff(names(formals(fun))[-1L], "...")
  bare <- !nzchar(name)
  name %in% own | bare & cumsum(bare) <= length(setdiff(own, name))
}

declared_method <- function(generic, x) {
  for (class in class(x)) {
    found <- utils::getS3method(generic, class, optional = TRUE, envir = topenv())
    if (!is.null(found)) return(found)
  }
  refuse("x", "There is no ", generic, " of ", kind_of(x), ".")
}

#' @export
plot.ufs_result <- function(x, ...) {
  dots <- list(...)
  own <- picture_dots(x, dots)
  pic <- do.call(picture, c(list(x), dots[own]), quote = TRUE)
  do.call(show_picture, c(list(x, pic), dots[!own]), quote = TRUE)
}

#' @exportS3Method ggplot2::autoplot
autoplot.ufs_result <- function(object, ...) {
  dots <- list(...)
  own <- picture_dots(object, dots)
  if (!all(own)) refuse_argument(names_of(dots)[!own][1L])
  ggplot_picture(picture(object, ...))
}

#' @exportS3Method generics::tidy
tidy.ufs_result <- function(x, ...) as_tibble_if(as.data.frame(x, ...))

#' @exportS3Method generics::glance
glance.ufs_result <- function(x, ...) as_tibble_if(as.data.frame(x, ...))

# A tibble if the package is installed. Dots are refused before the table is made.
as_tibble_if <- function(table, ...) {
  check_dots_empty(...)
  rownames(table) <- NULL
  if (requireNamespace("tibble", quietly = TRUE)) tibble::as_tibble(table) else table
}
