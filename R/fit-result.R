# Methods that all results share. A result has print() and, where there is something to it,
# as.data.frame(), summary() and picture(); plot() and autoplot() draw its picture.

#' @export
summary.ufs_result <- whole_summary

#' @export
print.ufs_result <- function(x, ...) {
  check_dots_empty(...)
  print_lines(x)
  invisible(x)
}

# What print() of a result writes.
print_lines <- function(x) UseMethod("print_lines")

# Which of the dots a picture takes: by their names, or by their places where they have none.
picture_dots <- function(x, dots) {
  known <- lapply(class(x), utils::getS3method, f = "picture", optional = TRUE, envir = topenv())
  fun <- Find(Negate(is.null), known)
  if (is.null(fun)) refuse("x", "There is no picture of a ", class(x)[1L], ".")
  name <- names_of(dots)
  own <- setdiff(names(formals(fun))[-1L], "...")
  bare <- !nzchar(name)
  name %in% own | bare & cumsum(bare) <= length(setdiff(own, name))
}

#' @export
as.data.frame.ufs_result <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_dots_empty(...)
  if (is.null(x$table)) refuse("x", "There is no table of a ", class(x)[1L], ".")
  x$table
}

#' Pictures of results
#'
#' Results other than fits have one picture each; `plot()` draws it with R's graphics, `autoplot()`
#' as a ggplot.
#'
#' * [ufs_compare()]: one curve for each method, or a line of a dot plot
#'   where there is one size; bars are one standard deviation, baselines are grey and dashed.
#'   Arguments: `over`, `measure`, `classifier`, `at`, `methods`.
#' * [ufs_grid()], [ufs_tune()]: settings as a heat map over two arguments or a curve over one; what
#'   a tuning chose is in red. `value`, `over`.
#' * [ufs_stability()]: how often each of the features or samples chosen most often was among the
#'   best. `what`.
#' * [ufs_decoys()]: the share of noise among the best k against k. `to`.
#' * [ufs_size()]: noise, what is captured, neighbours kept and repeatability against k.
#' * [ufs_reliability()]: the reliability of each column, those that repeat in colour.
#' * [ufs_overlap()]: the shares of all pairs of fits, or who chose what. `what`; of fits joined by
#'   [c()] `k` before it.
#' * [ufs_graph()]: degrees or weights, largest first. `what`.
#' * [ufs_represent()]: the links between samples, or the objective. `type`.
#'
#' @param x,object A result.
#' @param ... Arguments of the picture, named or in the order given above, and for `plot()`
#'   graphical parameters such as `main`:
#'
#'   * `over`: of a comparison `"k"` or `"m"`, what the horizontal axis shows; of a grid the names
#'     of one or two arguments that span the picture (values are averaged over the others).
#'   * `measure`: `"accuracy"`, `"nmi"` or `"ari"`; `classifier`: which one; `methods`: which to
#'     draw; `at`: values of the other one of k and m, a panel for each, or `"best"`: for every
#'     method the value at which its mean is largest, judged with the labels.
#'   * `value`: a numeric column of `as.data.frame(x)`, or one number per setting. The default is
#'     the criterion of a tuning, and of a grid the share of its best ten features that a setting
#'     has in common with the other settings, on average: where it is large, the choice hardly
#'     depends on the setting. Not the objective: settings with different penalties minimise
#'     different objectives.
#'   * `what`: `"features"` or `"samples"`; of an overlap `"pairs"` or `"features"`; of a graph
#'     `"degree"` or `"weights"`.
#'   * `to`: the largest k to show; by default four times the largest answer, and at least 50.
#'   * `type`: of [ufs_represent()] `"links"` or `"objective"`.
#' @return `plot()` returns `x`, invisibly; `autoplot()` a ggplot.
#' @examples
#' grid <- ufs_grid(iris[, 1:4], "pca", list(n_components = 1:3, scale = c(TRUE, FALSE)))
#' plot(grid, value = "seconds")
#' set.seed(1)
#' plot(ufs_stability(mtcars, "variance", k = 3, n_resamples = 20))
#' @export
plot.ufs_result <- function(x, ...) {
  dots <- list(...)
  own <- picture_dots(x, dots)
  pic <- do.call(picture, c(list(x), dots[own]), quote = TRUE)
  do.call(show_picture, c(list(x, pic), dots[!own]), quote = TRUE)
}

#' @rdname plot.ufs_result
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
