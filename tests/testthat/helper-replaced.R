# One function of the package, or of a package it uses, replaced until the caller ends. The oldest
# testthat that DESCRIPTION names has no local_mocked_bindings().
replaced <- function(name, value, package = "ufselect", env = parent.frame()) {
  home <- asNamespace(package)
  old <- get(name, home)
  put <- function(value) {
    unlockBinding(name, home)
    assign(name, value, home)
    lockBinding(name, home)
  }
  put(value)
  withr::defer(put(old), envir = env)
}
