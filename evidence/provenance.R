# Where a stored result comes from: the sources that it depends on as one hash, the data as another. Sourced by common.R; results.R has the list of all tables.

# The folder of the sources, or NULL where the package is installed without them.
source_root <- function() {
  tried <- c(Sys.getenv("UFSELECT_SOURCES", "."), file.path("..", ".."))
  found <- Filter(function(at) file.exists(file.path(at, "src", "entries.h")), tried)
  if (length(found)) normalizePath(found[1L]) else NULL
}

hash_of_text <- function(text) {
  file <- tempfile()
  on.exit(unlink(file))
  writeBin(charToRaw(paste(enc2utf8(text), collapse = "\n")), file)
  substr(unname(tools::md5sum(file)), 1L, 12L)
}

# A data set: its size, its numbers to seven digits and its classes.
hash_of_data <- function(x, y = NULL) {
  x <- as.matrix(x)
  hash_of_text(c(dim(x), formatC(as.vector(x), digits = 6L, format = "e"), as.character(y)))
}

# What stands in R/: for each name its words without comments and blanks, and register() lines by method.
read_definitions <- function(root) {
  out <- list()
  for (file in sort(list.files(file.path(root, "R"), "[.]R$", full.names = TRUE), method = "radix")) {
    parsed <- utils::getParseData(parse(file, keep.source = TRUE, encoding = "UTF-8"))
    top <- parsed$id[parsed$parent == 0L & parsed$token != "COMMENT"]
    parent <- parsed$parent
    names(parent) <- parsed$id
    leaf <- parsed[parsed$terminal & parsed$token != "COMMENT", ]
    owner <- leaf$id
    repeat {
      up <- parent[as.character(owner)]
      move <- up > 0L
      if (!any(move)) break
      owner[move] <- up[move]
    }
    for (id in top) {
      words <- leaf[owner == id, ]
      text <- words$text
      name <- if (length(text) > 1L && text[2L] %in% c("<-", "=")) gsub("`", "", text[1L]) else
        if (text[1L] == "register") paste0("register:", gsub("\"", "", text[3L])) else next
      used <- unique(gsub("`", "", words$text[words$token %in% c("SYMBOL", "SYMBOL_FUNCTION_CALL")]))
      out[[name]] <- list(text = text, uses = setdiff(used, name))
    }
  }
  out
}

# Files of src/ with the C function behind each entry, and what each file includes.
read_native <- function(root) {
  files <- list.files(file.path(root, "src"), "[.][ch]$", full.names = TRUE)
  text <- lapply(files, function(file) paste(readLines(file, encoding = "UTF-8"), collapse = "\n"))
  names(text) <- basename(files)
  entries <- list()
  for (name in grep("^ffi_.*[.]c$", names(text), value = TRUE)) {
    found <- regmatches(text[[name]], gregexpr("(?m)^SEXP ffi_[a-z0-9_]+", text[[name]], perl = TRUE))[[1L]]
    entries[sub("SEXP ffi_", "C_", found)] <- name
  }
  includes <- lapply(text, function(t) {
    found <- regmatches(t, gregexpr("#include \"[a-z0-9_]+[.]h\"", t))[[1L]]
    sub(".*\"(.*)\"", "\\1", found)
  })
  bare <- vapply(text, function(t) {
    gsub("[[:space:]]+", "", gsub("(?s)/[*].*?[*]/|//[^\n]*", "", t, perl = TRUE))
  }, "")
  list(entries = entries, includes = includes, text = bare)
}

# Everything that `from` reaches, by a function that says what one name uses.
reach <- function(from, uses) {
  seen <- character()
  while (length(from)) {
    seen <- c(seen, from)
    from <- setdiff(unique(unlist(lapply(from, uses))), seen)
  }
  sort(seen, method = "radix")
}

source_cache <- new.env()

# One hash of all R functions and C files that fits by `methods`, and calls of `functions`, can reach:
# every name that a function mentions, the S3 methods of the classes of these fits and of the data, the C
# file of each .Call() and all that it includes. Comments, blanks and line ends do not count.
sources_of <- function(methods, functions = character(), root = source_root()) {
  if (is.null(root)) return("unknown")
  if (is.null(source_cache[[root]])) {
    source_cache[[root]] <- list(r = read_definitions(root), c = read_native(root))
  }
  known <- source_cache[[root]]
  kinds <- c("ufs", paste0("ufs_", methods))
  generic <- function(name) intersect(paste(name, kinds, sep = "."), names(known$r))
  accessors <- c("selected_features", "selected_samples", "feature_scores")
  # `[`, dim() and the like are called without their names.
  of_data <- setdiff(grep("[.]ufs_(data|moments|graph)$", names(known$r), value = TRUE),
    grep("^(print|plot|format|summary|autoplot|picture)[.]", names(known$r), value = TRUE))
  start <- c("run_fit", "ufs", paste0("ufs_", methods), paste0("register:", methods), accessors, of_data, functions)
  absent <- setdiff(start, names(known$r))
  if (length(absent)) stop("not in R/: ", paste(absent, collapse = ", "))
  names_reached <- reach(start, function(name) {
    used <- c(known$r[[name]]$uses, generic(name))
    # Methods by name: only those of this table.
    intersect(used, c(names(known$r), names(known$c$entries)))
  })
  entries <- intersect(names_reached, names(known$c$entries))
  files <- reach(c("ufs.h", unlist(known$c$entries[entries])), function(file) {
    # A header of several files (css.h: css_solve.c, css_swap.c ...) brings all of them.
    parts <- if (endsWith(file, ".h")) grep(paste0("^", sub("[.]h$", "", file), "(_.*)?[.]c$"), names(known$c$text), value = TRUE)
    intersect(c(known$c$includes[[file]], parts), names(known$c$text))
  })
  hash_of_text(c(unlist(lapply(setdiff(names_reached, entries), function(name) c(name, known$r[[name]]$text))),
    files, known$c$text[files]))
}

# What is stored beside what comes out now: rows with the same keys, compared in `values`.
differing <- function(stored, now, keys, values, tolerance) {
  key <- function(table) do.call(paste, c(lapply(table[keys], as.character), sep = " | "))
  at <- match(key(now), key(stored))
  if (anyNA(at)) return(paste("not stored:", key(now)[is.na(at)][1L]))
  unlist(lapply(values, function(value) {
    was <- stored[[value]][at]
    is <- now[[value]]
    bad <- if (is.numeric(was)) {
      which(is.na(was) != is.na(is) | abs(was - is) > tolerance * if (tolerance < 1e-2) 1 else pmax(1, abs(was)))
    } else which(as.character(was) != as.character(is))
    sprintf("%s of %s is stored as %s and comes out as %s", value, key(now)[bad], was[bad], is[bad])
  }))
}

# A file in the first of the folders that has it, or, where none has, in the last.
place_among <- function(file, folders) {
  places <- file.path(folders, file)
  c(places[file.exists(places)], utils::tail(places, 1L))[1L]
}
