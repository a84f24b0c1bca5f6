# What the adapters to other frameworks (recipes.R, mlr3.R, explore.R) share.

# Options that a framework passes to a method: named, and names the method has.
check_method_options <- function(method, options, arg) {
  if (!is.list(options) || (length(options) && (is.null(names(options)) ||
      any(names(options) == "") || anyDuplicated(names(options))))) {
    ufs_abort("argument", "`", arg, "` must be a list in which each element has a name of its ",
      "own.", argument = arg)
  }
  known <- arguments_of(method_row(method)$fit)
  unknown <- setdiff(names(options), known)
  if (length(unknown)) {
    ufs_abort("argument", "`", arg, "`: ufs_", method, "() has no argument ",
      paste0("`", unknown, "`", collapse = ", "), "; it has ",
      paste0("`", known, "`", collapse = ", "), ".", argument = arg)
  }
  invisible(options)
}

# Fits a method whose first k features will be taken. A method that solves for one number of
# features is told that number, unless the user has.
fit_for_k <- function(x, method, k, options) {
  argument <- method_row(method)$per_k
  if (!is.null(argument) && is.null(options[[argument]])) options[[argument]] <- k
  do.call(ufs, c(list(x = x, method = method), options))
}
