# Options of the command line as --name=value, or --name for a switch, with defaults.
options_of <- function(...) {
  out <- list(...)
  for (arg in commandArgs(TRUE)) {
    name <- gsub("-", "_", sub("^--([a-z_-]+)(=.*)?$", "\\1", arg))
    if (!name %in% names(out)) stop("there is no option ", arg)
    value <- sub("^[^=]*=?", "", arg)
    out[[name]] <- if (is.logical(out[[name]])) TRUE else if (is.numeric(out[[name]])) as.numeric(value) else value
  }
  out
}
