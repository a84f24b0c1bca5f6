# Through how many functions and files of the package a call goes: each function is wrapped to count
# itself, and the calls are made once.
#
#   Rscript tests/dev/walk.R            css, css with a column that must be in, a selection to cluster
suppressPackageStartupMessages(library(ufselect))
home <- asNamespace("ufselect")
file_of <- new.env(parent = emptyenv())
for (file in list.files("R", "[.]R$", full.names = TRUE)) {
  for (part in parse(file, keep.source = FALSE)) {
    if (is.call(part) && identical(part[[1L]], as.name("<-")) && is.name(part[[2L]])) {
      assign(as.character(part[[2L]]), basename(file), file_of)
    }
  }
}
counts <- new.env(parent = emptyenv())
for (name in ls(home, all.names = TRUE)) {
  value <- get(name, home)
  if (!is.function(value) || is.primitive(value) || !exists(name, file_of)) next
  body(value) <- call("{", bquote(.(function(name) {
    counts[[name]] <- c(counts[[name]], 0L)[1L] + 1L
  })(.(name))), body(value))
  unlockBinding(name, home)
  assign(name, value, home)
}
# Functions that a method's register() line holds were taken before they were wrapped.
table <- get("registered", home)
for (method in ls(table)) {
  row <- table[[method]]
  for (slot in c("fit", "solve")) {
    name <- paste0(c(fit = "ufs_", solve = "solve_")[[slot]], method)
    if (exists(name, home)) row[[slot]] <- get(name, home)
  }
  assign(method, row, table)
}
walk <- function(call) {
  rm(list = ls(counts), envir = counts)
  set.seed(1)
  suppressMessages(suppressWarnings(eval(call)))
  names <- ls(counts)
  files <- vapply(names, function(name) get(name, file_of), "")
  cat(sprintf("%-55s %5d calls of %3d functions in %2d files\n", deparse(call)[1L],
    sum(unlist(mget(names, counts))), length(names), length(unique(files))))
  if (nzchar(Sys.getenv("WALK"))) print(split(names, files))
}
walk(quote(ufs_css(mtcars, 5)))
walk(quote(ufs_css(mtcars, 5, include = "mpg")))
walk(quote(ufs_select(mtcars, 5, "cluster")))
