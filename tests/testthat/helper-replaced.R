# A name for a file that goes when `env` ends: withr before 2.5.0 cannot be told whose end that is.
temporary_file <- function(extension, env) {
  file <- tempfile(fileext = extension)
  withr::defer(unlink(file), envir = env)
  file
}

# A table in an HDF5 file until the caller ends.
stored <- function(x, chunk = NULL, env = parent.frame()) {
  suppressMessages(HDF5Array::writeHDF5Array(x, temporary_file(".h5", env), "x", chunkdim = chunk, with.dimnames = TRUE))
}

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

# `code` without some of the fast paths of src/paths.h.
with_paths_off <- function(off, code) {
  old <- options(ufselect.paths_off = off)
  on.exit(options(old))
  force(code)
}

# Two workers until the caller ends, which get all tasks, however small.
local_workers <- function(env = parent.frame()) {
  skip_if_not_installed("future")
  old <- future::plan("multisession", workers = 2)
  withr::defer(future::plan(old), envir = env)
  replaced("workers_pay", function(workers, ...) workers > 0, env = env)
}

# Names of what differs: to print all options that do takes long.
changed <- function(now, before) names(before)[!mapply(identical, now, before)]

# A database in memory until the caller ends.
local_sqlite <- function(env = parent.frame()) {
  testthat::skip_if_not_installed("RSQLite")
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(connection), envir = env)
  connection
}
