# Do the tests notice a wrong line? Makes one-line mutants of R/*.R and src/*.c by rule and runs those
# tests that reach the changed line. Nothing is kept in the repository: the list of a run is
# mutants.csv in the folder --work, so that a run goes on where it stopped.
#
#   Rscript tests/dev/mutate.R                    300 mutants, two at a time (about an hour)
#   Rscript tests/dev/mutate.R --n=60 --cores=1   the first 60 of the same 300
#   Rscript tests/dev/mutate.R --rerun-survivors  also those that survived (new tests, more time)
#   Rscript tests/dev/mutate.R --only=stability   files whose name matches: what a change should run
#   Rscript tests/dev/mutate.R --patience=5       on a busy machine: five times the seconds before a
#                                                 test is taken to hang
#   Rscript tests/dev/mutate.R --tests=native --work=folder   only mutants of lines that these tests reach,
#                                                 tried by these alone: a few CPU seconds each
#   Rscript tests/dev/mutate.R --table            no run: the counts of the list
#
# Which mutants: every candidate has a number made of the seed, its file, rule and line as text; of each
# language and rule those with the lowest numbers are taken. An edit elsewhere changes no number, so
# that a run goes on where it stopped, or after a merge, and only mutants with new text are run.
# Rules: comparison (< and >, == and !=, && and || exchanged), sign (+ and -, * and /), constant
# (k to k + 1, other numbers times ten, TRUE and FALSE), dropped (one term or factor), swapped (two
# neighbouring arguments), returned (a field of a returned list, or of a C result, gets another's value or
# none). Headers, ffi_test_*.c and register() lines are left out.
#
# Which tests: --map (made by itself when there is none) runs each test file once with R/ and src/
# instrumented and keeps the lines it reaches, as text, in the folder --work. A mutant is tried by the files that
# reach its line: first those named like its file, then those that reach most of the file for their seconds, up
# to --limit CPU seconds of tests, each up to its first failure. A line that no file reaches has survived at once.
#
# Outcomes: caught, survived, same (the machine code did not change), broken (does not build or load). The
# share caught is of caught and survived: read the survivors, some change nothing that is returned or printed.
source("tests/dev/options.R")
opt <- options_of(n = 300, seed = 1, cores = 2, limit = 60, patience = 1, only = "", tests = "", rerun_survivors = FALSE,
  map = FALSE, table = FALSE,
  work = file.path(tools::R_user_dir("ufselect", "cache"), "mutate"))
top <- normalizePath(".")
stopifnot(file.exists(file.path(top, "DESCRIPTION")))
dir.create(opt$work, recursive = TRUE, showWarnings = FALSE)
work <- normalizePath(opt$work)
csv <- file.path(work, "mutants.csv")

# ---- candidates: file, line, from and to (columns), what to put there, rule -----------------------

spot <- function(line, from, to, put, rule) list(list(line, from, to, put, rule))
spots_table <- function(found) {
  found <- do.call(c, found)
  data.frame(line = vapply(found, `[[`, 0L, 1L), from = vapply(found, function(s) as.integer(s[[2L]]), 0L),
    to = vapply(found, function(s) as.integer(s[[3L]]), 0L), put = vapply(found, `[[`, "", 4L),
    rule = vapply(found, `[[`, "", 5L), stringsAsFactors = FALSE)
}

flipped <- c("<" = ">", ">" = "<", "<=" = ">=", ">=" = "<=", "==" = "!=", "!=" = "==", "&&" = "||",
  "||" = "&&", "&" = "|", "|" = "&")
other_sign <- c("+" = "-", "-" = "+", "*" = "/", "/" = "*", "+=" = "-=", "-=" = "+=", "*=" = "/=", "/=" = "*=")
symmetric <- c("max", "min", "pmax", "pmin", "sum", "all", "any", "identical", "intersect", "union",
  "setequal", "fmax", "fmin", "hypot", "c", "is.null", "all.equal", "switch", "list")

other_constant <- function(text) {
  if (text %in% c("TRUE", "FALSE", "true", "false")) {
    return(unname(c("TRUE" = "FALSE", "FALSE" = "TRUE", true = "false", false = "true")[text]))
  }
  value <- suppressWarnings(as.numeric(sub("[LfFuU]+$", "", text)))
  if (is.na(value)) return(NA_character_)
  end <- sub("^[^LuU]*", "", text)
  if (grepl("^[0-9]+[LuU]*$", text)) return(paste0(format(value + 1, scientific = FALSE), end))
  changed <- if (value == 0) 1 else if (value == 1) 2 else if (value == round(value)) value + 1 else 10 * value
  out <- format(changed, digits = 15)
  if (grepl("[.]", text) && !grepl("[.e]", out)) paste0(out, ".0") else out
}

# Neighbouring arguments that can change places: texts of one line each, and different.
exchange <- function(line1, col1, line2, col2, text) {
  out <- list()
  for (i in seq_len(length(text) - 1L)) {
    if (line1[i] != line2[i + 1L] || text[i] == text[i + 1L]) next
    out <- c(out, spot(line1[i], col1[i], col2[i + 1L], paste0(text[i + 1L], ", ", text[i]), "swapped"))
  }
  out
}

r_candidates <- function(path) {
  exprs <- parse(path, keep.source = TRUE)
  d <- utils::getParseData(exprs, includeText = TRUE)
  skip <- d$id[d$parent == 0 & grepl("^register\\(", d$text)]
  for (i in skip) {
    inside <- d$line1 >= d$line1[d$id == i] & d$line2 <= d$line2[d$id == i]
    d <- d[!inside, ]
  }
  of <- split(seq_len(nrow(d)), d$parent)
  children <- function(id) {
    at <- of[[as.character(id)]]
    if (is.null(at)) return(d[0L, ])
    at <- at[d$token[at] != "COMMENT"]
    d[at[order(d$line1[at], d$col1[at], -d$line2[at], -d$col2[at])], ]
  }
  out <- list()
  add <- function(x) if (!is.null(x)) out[[length(out) + 1L]] <<- x
  one_line <- function(x) nrow(x) > 0L && x$line1[1L] == x$line2[nrow(x)]
  for (i in which(d$token %in% c("LT", "GT", "LE", "GE", "EQ", "NE", "AND2", "OR2", "AND", "OR"))) {
    add(spot(d$line1[i], d$col1[i], d$col2[i], flipped[[d$text[i]]], "comparison"))
  }
  for (i in which(d$token %in% c("'+'", "'-'", "'*'", "'/'", "AND2", "OR2"))) {
    kin <- children(d$parent[i])
    if (nrow(kin) == 2L) { # a sign in front: dropped
      if (d$text[i] == "-") add(spot(d$line1[i], d$col1[i], d$col2[i], "", "sign"))
      next
    }
    if (d$text[i] %in% names(other_sign)) {
      add(spot(d$line1[i], d$col1[i], d$col2[i], other_sign[[d$text[i]]], "sign"))
    }
    if (nrow(kin) != 3L) next
    if (kin$line2[1L] == kin$line1[3L] && kin$line1[3L] == kin$line2[3L]) {
      add(spot(kin$line2[1L], kin$col2[1L] + 1L, kin$col2[3L], "", "dropped"))
    }
    if (one_line(kin) && d$text[i] != "/") {
      add(spot(kin$line1[1L], kin$col1[1L], kin$col1[3L] - 1L, if (d$text[i] == "-") "-" else "", "dropped"))
    }
  }
  for (i in which(d$token == "NUM_CONST")) {
    put <- other_constant(d$text[i])
    if (!is.na(put)) add(spot(d$line1[i], d$col1[i], d$col2[i], put, "constant"))
  }
  for (call in unique(d$parent[d$token == "'('"])) {
    kin <- children(call)
    if (nrow(kin) < 4L || kin$token[1L] != "expr" || kin$text[2L] != "(") next
    name <- sub("^.*:", "", kin$text[1L])
    start <- c(3L, which(kin$token == "','") + 1L)
    end <- c(which(kin$token == "','") - 1L, nrow(kin) - 1L)
    fine <- start <= end
    start <- start[fine]
    end <- end[fine]
    plain <- start == end & kin$token[start] == "expr"
    text <- kin$text[start]
    if (!name %in% symmetric && !grepl("abort|warn|inform|message|stop|cat$|paste|inherits|library", name) &&
      sum(plain) > 1L) {
      at <- which(plain)
      s <- start[at[seq_len(sum(at == at[1L] + seq_along(at) - 1L))]]
      add(exchange(kin$line1[s], kin$col1[s], kin$line2[s], kin$col2[s], kin$text[s]))
    }
    if (name %in% c("list", "c", "data.frame", "structure", "new_ufs")) {
      field <- which(end - start == 2L & kin$token[start] %in% c("SYMBOL_SUB", "STR_CONST"))
      for (l in field) {
        value <- kin[end[l], ]
        if (value$line1 != value$line2) next
        other <- field[match(TRUE, field > l)]
        put <- if (!is.na(other)) kin$text[end[other]] else "NULL"
        if (grepl("\n", put) || nchar(put) > 60L || put == value$text) put <- "NULL"
        if (put == value$text) next
        add(spot(value$line1, value$col1, value$col2, put, "returned"))
      }
    }
  }
  # x$field <- value
  for (i in which(d$token == "LEFT_ASSIGN")) {
    kin <- children(d$parent[i])
    if (nrow(kin) != 3L || !one_line(kin) || !grepl("^(out|fit|result|res|x|object)[$]", kin$text[1L])) next
    add(spot(kin$line1[1L], kin$col1[1L], kin$col2[3L], "NULL", "returned"))
  }
  spots_table(out)
}

# Tokens of C: data frame of line, from, to, text; comments, strings and directives are left out.
c_tokens <- function(text) {
  whole <- paste(text, collapse = "\n")
  at <- gregexpr("(?s)/\\*.*?\\*/", whole, perl = TRUE)
  regmatches(whole, at) <- lapply(regmatches(whole, at), function(s) gsub("[^\n]", " ", s))
  text <- strsplit(whole, "\n", fixed = TRUE)[[1L]]
  text <- gsub("\"(\\\\.|[^\"\\\\])*\"", strrep("\"", 3L), text) # changes columns: such lines are dropped below
  directive <- grepl("^\\s*#", text)
  text[directive | grepl("\"", text)] <- ""
  pattern <- paste0("[A-Za-z_][A-Za-z_0-9]*|(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][-+]?[0-9]+)?[fFuUlL]*|'.'|",
    "->|[+][+]|--|<<|>>|[-+*/%<>=!&|]=|&&|[|][|]|[^\\sA-Za-z_0-9]")
  at <- gregexpr(pattern, text, perl = TRUE)
  n <- vapply(at, function(a) sum(a > 0L), 0L)
  data.frame(line = rep(seq_along(text), n), from = unlist(lapply(at, function(a) a[a > 0L])),
    text = unlist(regmatches(text, at)), stringsAsFactors = FALSE)
}

c_candidates <- function(path) {
  source <- readLines(path)
  k <- c_tokens(source)
  k$to <- k$from + nchar(k$text) - 1L
  n <- nrow(k)
  word <- grepl("^[A-Za-z_0-9.]", k$text)
  depth <- cumsum(k$text %in% c("{")) - cumsum(k$text %in% c("}"))
  operand_before <- c(FALSE, (word & !k$text %in% c("return", "case", "else"))[-n] | k$text[-n] %in% c(")", "]"))
  opens <- k$text %in% c("(", "[")
  closes <- k$text %in% c(")", "]")
  level <- cumsum(opens) - cumsum(closes) - opens # of a bracket: the level outside it
  # Last token of the operand that starts at i: up to one of `stop` at the same level.
  operand_end <- function(i, stop) {
    j <- i
    stop <- c(stop, ";", ",", "?", ":", "{", "}")
    while (j < n && level[j + 1L] >= level[i] && !(level[j + 1L] == level[i] && k$text[j + 1L] %in% stop)) j <- j + 1L
    j
  }
  out <- list()
  add <- function(x) if (!is.null(x)) out[[length(out) + 1L]] <<- x
  relation <- c("<", ">", "<=", ">=", "==", "!=")
  # Subscripts and sizes are left alone too: memory errors are what the sanitizers are for.
  subscript <- cumsum(k$text == "[") - cumsum(k$text == "]") > 0L |
    grepl("(size_t)|sizeof|alloc\\(|memcpy|memset", source)[k$line]
  for (i in which(depth > 0L & !subscript)) {
    t <- k$text[i]
    # The condition of a loop is left alone: a loop that never runs is no test of tests.
    if (t %in% c(relation, "&&", "||") && !grepl("^\\s*for \\(", source[k$line[i]])) {
      add(spot(k$line[i], k$from[i], k$to[i], flipped[[t]], "comparison"))
    }
    if (t %in% c("+", "-", "*", "/", "+=", "-=", "*=", "/=")) {
      pointer <- t == "*" && (!operand_before[i] || k$text[i - 1L] %in%
        c("double", "int", "void", "char", "bool", "size_t", "const") || grepl("^(ufs|la|graph)_[a-z]+$", k$text[i - 1L]) &&
        k$text[i - 2L] %in% c("const", "(", ",", ";", "{"))
      if (pointer) next
      if (!operand_before[i]) {
        if (t == "-") add(spot(k$line[i], k$from[i], k$to[i], "", "sign"))
        next
      }
      add(spot(k$line[i], k$from[i], k$to[i], other_sign[[t]], "sign"))
    }
    if (t %in% c("+", "-", "*", "/", "&&", "||") && operand_before[i]) {
      stop <- switch(t, "+" = , "-" = c("+", "-", "=", relation, "&&", "||"),
        "*" = , "/" = c("+", "-", "*", "/", "%", "=", relation, "&&", "||"), c("&&", "||"))
      e <- operand_end(i + 1L, stop)
      if (k$line[e] == k$line[i]) add(spot(k$line[i], k$from[i], k$to[e], "", "dropped"))
    }
    if (grepl("^[0-9.]", t) && t != "." || t %in% c("true", "false")) {
      put <- other_constant(t)
      if (!is.na(put)) add(spot(k$line[i], k$from[i], k$to[i], put, "constant"))
    }
    if (t == "(" && i > 1L && grepl("^[A-Za-z_]", k$text[i - 1L]) &&
      !k$text[i - 1L] %in% c("if", "for", "while", "switch", "return", "sizeof", symmetric)) {
      close <- i + which(closes[later <- i + seq_len(min(n - i, 200L))] & level[later] == level[i])[1L]
      inside <- if (is.na(close)) integer() else seq_len(close - i - 1L) + i
      comma <- inside[k$text[inside] == "," & level[inside] == level[i] + 1L]
      if (length(comma) && !any(k$text[inside] %in% c("{", ";"))) {
        s <- c(i, comma) + 1L
        e <- c(comma, close) - 1L
        whole <- k$line[s] == k$line[e]
        text <- ifelse(whole, substr(source[k$line[s]], k$from[s], k$to[e]), "")
        add(exchange(k$line[s], k$from[s], ifelse(whole, k$line[e], -1L), k$to[e], text))
      }
    }
    # result->field = value; as a statement of its own
    if (t == "=" && i > 4L && k$text[i - 2L] == "->" && k$text[i - 3L] %in% c("result", "info", "out", "run") &&
      k$text[i - 4L] %in% c(";", "{", "}", ")", "else")) {
      e <- operand_end(i + 1L, character())
      if (k$line[e] == k$line[i] && k$text[e + 1L] == ";" && k$line[i - 3L] == k$line[i]) {
        add(spot(k$line[i], k$from[i - 3L], k$to[e], "(void) 0", "returned"))
      }
    }
    # .field = value in a result, {"name", value} of a counter
    if (t == "=" && i > 2L && k$text[i - 2L] == "." && k$text[i - 3L] %in% c("{", ",") && k$text[i + 1L] != "{") {
      e <- operand_end(i + 1L, character())
      if (k$line[e] == k$line[i]) add(spot(k$line[i], k$from[i + 1L], k$to[e], "0", "returned"))
    }
  }
  spots_table(out)
}

# A number below 2^31 for each text: the order in which mutants are taken.
number_of <- function(text, seed) {
  prime <- 2147483647
  power <- numeric(2000L)
  power[1L] <- 48271
  for (i in seq_along(power)[-1L]) power[i] <- (power[i - 1L] * 16807) %% prime
  vapply(paste0(seed, text), function(s) {
    byte <- utils::head(as.integer(charToRaw(s)), length(power))
    h <- sum(byte * power[seq_along(byte)]) %% prime
    for (i in 1:3) h <- (h * 69621 + 12345) %% prime
    h
  }, 0, USE.NAMES = FALSE)
}

sources <- function() {
  c(file.path("R", sort(list.files("R", "[.]R$"))), file.path("src", sort(list.files("src", "[.]c$"))))
}

all_candidates <- function() {
  files <- grep("ffi_test|/hook.c$|/init.c$|R/zzz", sources(), value = TRUE, invert = TRUE)
  files <- grep(opt$only, files, value = TRUE)
  found <- lapply(files, function(file) {
    d <- if (endsWith(file, ".R")) r_candidates(file) else c_candidates(file)
    if (!nrow(d)) return(NULL)
    line <- readLines(file)[d$line]
    after <- paste0(substr(line, 1L, d$from - 1L), d$put, substr(line, d$to + 1L, nchar(line)))
    data.frame(file = file, line = d$line, rule = d$rule, before = trimws(line), after = trimws(after),
      text = after, stringsAsFactors = FALSE)
  })
  d <- do.call(rbind, found)
  d <- d[d$before != d$after & !duplicated(d[c("file", "line", "after")]), ]
  # The same text twice in a file: the first place only.
  d <- d[!duplicated(key_of(d)), ]
  d$number <- number_of(key_of(d), opt$seed)
  d[order(d$number), ]
}
key_of <- function(d) paste(d$file, d$rule, d$before, d$after, sep = "\r")

# ---- trees and libraries ---------------------------------------------------------------------------

rscript <- file.path(R.home("bin"), "Rscript")
run <- function(cmd, args, env = character(), out = FALSE) {
  suppressWarnings(system2("env", c(env, cmd, args), stdout = out, stderr = out))
}
install <- function(tree, lib, ..., env = character()) {
  run(file.path(R.home("bin"), "R"), c("CMD", "INSTALL", "--no-docs", "--no-test-load", "--no-byte-compile",
    "--no-staged-install", ..., paste0("--library=", lib), tree), env, file.path(work, "install.log")) == 0
}
copy_tree <- function(to) {
  unlink(to, recursive = TRUE)
  dir.create(to, recursive = TRUE)
  for (part in c("DESCRIPTION", "NAMESPACE", "R", "src", "tests", "inst")) {
    file.copy(file.path(top, part), to, recursive = TRUE, copy.date = TRUE)
  }
  unlink(c(file.path(to, "tests", "dev"), list.files(file.path(to, "src"), "[.](o|so|dll)$", full.names = TRUE)),
    recursive = TRUE)
}
# The hashes of what is installed, so that it is made again when a source has changed.
state_of <- function(files) unname(tools::md5sum(sort(files)))
tests_env <- c("NOT_CRAN=true", "TESTTHAT_PARALLEL=false", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")

# ---- the map: which test file reaches which line -----------------------------------------------------

# The text of an R file with cov__(id) at the start of every statement, and the lines of these.
instrument <- function(path, first) {
  text <- readLines(path)
  exprs <- parse(path, keep.source = TRUE)
  d <- utils::getParseData(exprs, includeText = FALSE)
  put <- list()
  line <- last <- integer()
  mark <- function(l, c, what, id) put[[length(put) + 1L]] <<- data.frame(line = l, col = c, what, id)
  blocks <- d$parent[d$token == "'{'"]
  for (b in blocks) {
    kin <- d[d$parent == b & d$token == "expr" | d$parent == b & d$token %in% c("expr_or_assign_or_help", "equal_assign"), ]
    for (i in seq_len(nrow(kin))) {
      line <- c(line, kin$line1[i])
      last <- c(last, kin$line2[i])
      mark(kin$line1[i], kin$col1[i], sprintf("cov__(%d); ", first + length(line)), length(put))
    }
  }
  for (f in which(d$token == "FUNCTION")) {
    kin <- d[d$parent == d$parent[f] & d$token == "expr", ]
    body <- kin[which.max(kin$line2 * 1e4 + kin$col2), ]
    if (any(d$parent == body$id & d$token == "'{'")) next
    line <- c(line, body$line1)
    last <- c(last, body$line2)
    mark(body$line1, body$col1, sprintf("{ cov__(%d); ", first + length(line)), length(put))
    mark(body$line2, body$col2 + 1L, " }", -length(put))
  }
  put <- do.call(rbind, put)
  if (!is.null(put)) {
    # From the end to the start; at one place closing braces come first.
    for (i in order(-put$line, -put$col, put$id > 0, put$id)) {
      l <- put$line[i]
      text[l] <- paste0(substr(text[l], 1L, put$col[i] - 1L), put$what[i], substr(text[l], put$col[i], nchar(text[l])))
    }
  }
  list(text = text, line = line, last = last)
}

make_map <- function() {
  map_file <- file.path(work, "map.rds")
  tree <- file.path(work, "map-tree")
  lib <- file.path(work, "map-lib")
  results <- file.path(work, "map")
  state <- state_of(c(list.files("R", full.names = TRUE), list.files("src", "[.][ch]$", full.names = TRUE)))
  stamp <- file.path(work, "map-state.rds")
  if (!file.exists(stamp) || !identical(readRDS(stamp), state)) {
    unlink(c(lib, results), recursive = TRUE)
    copy_tree(tree)
    dir.create(lib)
    dir.create(results)
    ids <- list()
    first <- 0L
    for (file in grep("^R/", sources(), value = TRUE)) {
      new <- instrument(file, first)
      writeLines(new$text, file.path(tree, file))
      ids[[file]] <- data.frame(file = rep(file, length(new$line)), line = new$line)
      first <- first + length(new$line)
    }
    writeLines(c("cov_store <- new.env()", sprintf("cov_store$hit <- logical(%d)", first),
      # Assigned once only: an assignment inside an environment copies the whole vector.
      "cov__ <- function(i) if (!cov_store$hit[i]) cov_store$hit[i] <- TRUE"), file.path(tree, "R", "aaa-cov.R"))
    makevars <- file.path(work, "Makevars")
    user <- path.expand("~/.R/Makevars")
    writeLines(c(if (file.exists(user)) readLines(user), "CFLAGS = -O2 --coverage", "LDFLAGS += --coverage"), makevars)
    stopifnot(install(tree, lib, "--no-clean-on-error", env = paste0("R_MAKEVARS_USER=", makevars)))
    saveRDS(do.call(rbind, ids), file.path(work, "map-ids.rds"))
    saveRDS(state, stamp)
  }
  ids <- readRDS(file.path(work, "map-ids.rds"))
  code <- "a <- commandArgs(TRUE); library(testthat); library(ufselect); set.seed(1)
t <- system.time(r <- as.data.frame(test_file(a[1], package = 'ufselect', load_package = 'installed', stop_on_failure = FALSE,
  reporter = 'silent')))
saveRDS(list(hit = which(getFromNamespace('cov_store', 'ufselect')$hit), seconds = sum(t[c(1, 2, 4, 5)], na.rm = TRUE),
  failed = unique(r$test[r$failed > 0 | r$error])), a[2])"
  script <- file.path(work, "map.R")
  writeLines(code, script)
  files <- grep(opt$tests, list.files(file.path(top, "tests", "testthat"), "^test-.*[.]R$"), value = TRUE)
  sizes <- file.size(file.path(top, "tests", "testthat", files))
  one <- function(file) {
    out <- file.path(results, sub("[.]R$", ".rds", file))
    test <- file.path(top, "tests", "testthat", file)
    gone <- file.path(tree, "tests", "testthat", file)
    old <- if (file.exists(out)) readRDS(out)
    if (!is.null(old) && identical(old$md5, unname(tools::md5sum(test)))) return(invisible())
    file.copy(test, gone, overwrite = TRUE)
    counts <- file.path(work, paste0("gcda-", file))
    unlink(counts, recursive = TRUE)
    dir.create(counts)
    raw <- paste0(out, ".raw")
    run(rscript, c("--vanilla", script, gone, raw), c(tests_env, paste0("R_LIBS=", lib, ":", Sys.getenv("R_LIBS")),
      paste0("GCOV_PREFIX=", counts), paste0("GCOV_PREFIX_STRIP=", length(strsplit(file.path(tree, "src"), "/")[[1L]]) - 1L)))
    if (!file.exists(raw)) {
      cat("no map of", file, "\n")
      return(invisible())
    }
    r <- readRDS(raw)
    data <- list.files(counts, "[.]gcda$", full.names = TRUE)
    file.copy(sub("[.]gcda$", ".gcno", file.path(tree, "src", basename(data))), counts)
    for (part in list.files(file.path(tree, "src"), "[.][ch]$", full.names = TRUE)) { # gcov reads them
      file.symlink(part, file.path(counts, basename(part)))
    }
    said <- if (length(data)) {
      suppressWarnings(system2("env", c("-C", counts, "gcov", "-t", basename(data)), stdout = TRUE, stderr = FALSE))
    }
    head <- cumsum(grepl("^ *-: +0:Source:", said))
    name <- sub("^.*Source:", "", said[grepl("^ *-: +0:Source:", said)])[pmax(head, 1L)]
    places <- function(count) {
      at <- grepl(paste0("^ +", count, ": *[1-9]"), said)
      data.frame(file = file.path("src", basename(name[at])), line = as.integer(sub("^[^:]*: *([0-9]+):.*$", "\\1", said[at])))
    }
    lines <- places("[0-9]+[*]?")
    every <- places("([0-9]+[*]?|#####)")
    saveRDS(list(lines = unique(rbind(ids[r$hit, ], lines)), every = unique(every), seconds = r$seconds, failed = r$failed,
      md5 = unname(tools::md5sum(test))), out)
    unlink(c(counts, raw), recursive = TRUE)
    cat(sprintf("map: %-26s %5.1f s, %d lines%s\n", file, r$seconds, nrow(lines) + length(r$hit),
      if (length(r$failed)) paste0(", FAILED: ", paste(r$failed, collapse = "; ")) else ""))
  }
  parallel::mclapply(files[order(sizes)], one, mc.cores = opt$cores, mc.preschedule = FALSE)
  got <- lapply(stats::setNames(files, files), function(file) {
    out <- file.path(results, sub("[.]R$", ".rds", file))
    if (file.exists(out)) readRDS(out)
  })
  got <- got[!vapply(got, is.null, NA)]
  cat(length(got), "of", length(files), "test files are in the map\n")
  text <- lapply(stats::setNames(nm = sources()), readLines)
  as_text <- function(d) {
    d <- d[d$file %in% names(text), ]
    d$text <- trimws(unlist(Map(function(f, l) text[[f]][l], d$file, d$line), use.names = FALSE))
    d
  }
  hits <- do.call(rbind, lapply(names(got), function(test) {
    d <- as_text(got[[test]]$lines)
    if (nrow(d)) cbind(d, test = test, stringsAsFactors = FALSE)
  }))
  every <- unique(as_text(rbind(ids, do.call(rbind, lapply(got, `[[`, "every")))))
  map <- list(hits = hits, every = every, seconds = vapply(got, `[[`, 0, "seconds"),
    failed = unlist(lapply(got, `[[`, "failed"), use.names = FALSE))
  saveRDS(map, map_file)
  map
}

# The test files that can notice a change of this line, in the order in which they are tried.
tests_for <- function(map, file, line, text) {
  # A test file is named like a source if they share a word: rsr.c and test-method-rsr.R.
  # What many names share says nothing.
  words <- setdiff(strsplit(sub("[.][Rc]$", "", basename(file)), "[-_]")[[1L]],
    c("solve", "work", "ffi", "la", "x", "f", "data", "fit", "method", "run", "select", "with"))
  is_named <- function(test) {
    vapply(strsplit(sub("[.]R$", "", test), "[-_]"), function(part) any(part[-1L] %in% words), NA)
  }
  known <- map$every[map$every$file == file, ]
  hits <- map$hits[map$hits$file == file, ]
  if (startsWith(file, "R/")) { # the smallest statement around the line
    all <- instrument(file, 0L)
    around <- which(all$line <= line & all$last >= line)
    at <- all$line[around[which.min(all$last[around] - all$line[around])]]
  } else { # the nearest line above that is code
    at <- line
    while (at > 1L && !(trimws(text[at]) %in% known$text)) at <- at - 1L
  }
  # Text that the map does not know is newer than it, or runs when the package is built: all that reach the file.
  found <- length(at) && trimws(text[at]) %in% known$text
  tests <- unique(if (found) hits$test[hits$text == trimws(text[at])] else hits$test)
  tests[order(!is_named(tests), (map$seconds[tests] + 1) / table(hits$test)[tests])]
}

# ---- one mutant ----------------------------------------------------------------------------------------

# The package as it is: a tree with objects, a library, and copies of the tests.
make_base <- function() {
  tree <- file.path(work, "base")
  lib <- file.path(work, "base-lib")
  state <- state_of(c("DESCRIPTION", "NAMESPACE", list.files(c("R", "src", "inst"), recursive = TRUE, full.names = TRUE)))
  stamp <- file.path(work, "base-state.rds")
  if (!file.exists(stamp) || !identical(readRDS(stamp), state)) {
    copy_tree(tree)
    unlink(lib, recursive = TRUE)
    dir.create(lib)
    stopifnot(install(tree, lib))
    saveRDS(state, stamp)
  }
  unlink(file.path(tree, "tests"), recursive = TRUE)
  file.copy(file.path(top, "tests"), tree, recursive = TRUE, copy.date = TRUE)
  unlink(file.path(tree, "tests", "dev"), recursive = TRUE)
}

symlink_all <- function(from, to, except) {
  dir.create(to, recursive = TRUE, showWarnings = FALSE)
  for (part in setdiff(list.files(from), except)) file.symlink(file.path(from, part), file.path(to, part))
}

# A library with the mutant: "", or why there is none.
build <- function(m, lib) {
  base <- file.path(work, "base")
  good <- file.path(work, "base-lib", "ufselect")
  text <- readLines(file.path(top, m$file))
  at <- which(trimws(text) == m$before)
  text[at[which.min(abs(at - m$line))]] <- m$text
  if (startsWith(m$file, "R/") && !any(grepl("^[a-z_]+ <- new.env|^set(Class|Method)|globalVariables", text))) {
    # No installation: the child reads the file into the namespace.
    if (inherits(try(parse(text = text), silent = TRUE), "try-error")) return("broken")
    dir.create(lib)
    file.symlink(good, file.path(lib, "ufselect"))
    writeLines(text, file.path(lib, "changed.R"))
    return("")
  }
  if (startsWith(m$file, "R/")) {
    tree <- paste0(lib, "-tree")
    symlink_all(base, tree, c("R", "tests", "src"))
    file.copy(file.path(base, "R"), tree, recursive = TRUE)
    writeLines(text, file.path(tree, m$file))
    dir.create(lib)
    if (!install(tree, lib, "--no-libs")) return("broken")
    file.symlink(file.path(good, "libs"), file.path(lib, "ufselect", "libs"))
    return("")
  }
  # callable.c looks for the header beside src/, in inst/include.
  src <- file.path(paste0(lib, "-src"), "src")
  object <- sub("[.]c$", ".o", basename(m$file))
  symlink_all(file.path(base, "src"), src, c("Makevars", object, list.files(file.path(base, "src"), "[.](c|so)$")))
  file.symlink(file.path(base, "inst"), file.path(dirname(src), "inst"))
  # A mutant of the wrong type is none.
  writeLines(sub("^PKG_CFLAGS *=", "PKG_CFLAGS = -Werror=incompatible-pointer-types -Werror=int-conversion",
    readLines(file.path(base, "src", "Makevars"))), file.path(src, "Makevars"))
  writeLines(text, file.path(src, basename(m$file)))
  objects <- sub("[.]c$", ".o", list.files(file.path(base, "src"), "[.]c$"))
  compile <- sprintf("cd %s && R CMD SHLIB -o ufselect.so %s >make.log 2>&1", shQuote(src), paste(objects, collapse = " "))
  if (system(compile) != 0L) return("broken")
  code <- function(path) {
    bare <- tempfile()
    system2("objcopy", c("--strip-debug", shQuote(path), bare), stdout = FALSE, stderr = FALSE)
    unname(tools::md5sum(bare))
  }
  if (identical(code(file.path(src, object)), code(file.path(base, "src", object)))) return("same")
  symlink_all(good, file.path(lib, "ufselect"), "libs")
  dir.create(file.path(lib, "ufselect", "libs"))
  file.copy(file.path(src, "ufselect.so"), file.path(lib, "ufselect", "libs"))
  ""
}

# Runs test files in order and ends at the first failure. CPU limits catch endless loops.
child <- "a <- commandArgs(TRUE); library(testthat)
known <- readLines(file.path(dirname(a[2]), 'failed'))
changed <- file.path(.libPaths()[1L], 'changed.R')
read_in <- function() {
  code <- parse(changed, keep.source = FALSE)
  space <- asNamespace('ufselect')
  for (name in ls(space, all.names = TRUE)) unlockBinding(name, space)
  eval(code, space)
  names <- unlist(lapply(code, function(e) if (is.call(e) && identical(e[[1L]], quote(`<-`)) && is.name(e[[2L]])) as.character(e[[2L]])))
  shown <- as.environment('package:ufselect')
  for (name in intersect(names, ls(shown))) {
    unlockBinding(name, shown)
    assign(name, get(name, space), shown)
  }
  method <- getNamespaceInfo(space, 'S3methods')
  for (i in which(method[, 3L] %in% names)) {
    # A method of another package's generic waits for that package to be loaded, as it was.
    home <- method[i, 4L]
    if (!is.na(home) && !requireNamespace(home, quietly = TRUE)) next
    try(registerS3method(method[i, 1L], method[i, 2L], get(method[i, 3L], space),
      envir = if (is.na(home)) space else asNamespace(home)), silent = TRUE)
  }
}
ok <- tryCatch({ library(ufselect); if (file.exists(changed)) read_in(); TRUE }, error = function(e) FALSE)
if (!ok) { writeLines('broken', a[1]); quit(status = 0) }
first <- R6::R6Class('first', inherit = Reporter, public = list(add_result = function(context, test, result) {
  if (inherits(result, c('expectation_failure', 'expectation_error')) && !test %in% known) quit(save = 'no', status = 3)
}))
for (f in a[-(1:2)]) {
  own <- strsplit(f, '=', fixed = TRUE)[[1L]]
  writeLines(own[1L], a[1])
  setTimeLimit(cpu = 15 + 6 * as.numeric(own[2L]))
  set.seed(1)
  tryCatch(test_file(file.path(a[2], own[1L]), package = 'ufselect', load_package = 'installed', reporter = first$new()),
    error = function(e) quit(save = 'no', status = 3))
  setTimeLimit(cpu = Inf)
}
writeLines('none', a[1])"

try_one <- function(m, map) {
  started <- proc.time()
  lib <- tempfile(paste0("mutant-", basename(m$file), "-"), work)
  on.exit(unlink(c(lib, paste0(lib, c("-tree", "-src", "-tests"))), recursive = TRUE))
  done <- function(outcome, by) {
    list(outcome = outcome, by = by, seconds = round(sum((proc.time() - started)[c(1, 2, 4, 5)])))
  }
  tests <- tests_for(map, m$file, m$line, readLines(file.path(top, m$file)))
  if (!length(tests)) return(done("survived", "no test reaches the line"))
  built <- build(m, lib)
  if (nzchar(built)) return(done(built, ""))
  own <- pmax(map$seconds[tests], .1)
  within <- cumsum(own) <= opt$limit | seq_along(own) <= 1L
  dir <- paste0(lib, "-tests")
  symlink_all(file.path(work, "base", "tests", "testthat"), dir, "_snaps")
  file.copy(file.path(work, "base", "tests", "testthat", "_snaps"), dir, recursive = TRUE)
  # A crash may leave R waiting for a lock for ever.
  status <- run("timeout", c(round(opt$patience * (60 + 4 * sum(own[within]))), rscript, "--vanilla", file.path(work, "child.R"), file.path(dir, "at"), dir,
    sprintf("%s=%.1f", tests[within], own[within])),
    c(tests_env, paste0("R_LIBS=", lib, ":", Sys.getenv("R_LIBS"))))
  at <- readLines(file.path(dir, "at"))
  if (at == "broken") return(done("broken", ""))
  if (at != "none") return(done("caught", paste0(at, if (status != 3) " (ended R)")))
  done("survived", paste0(sum(within), " of ", length(tests), " files"))
}

# ---- the list --------------------------------------------------------------------------------------------

columns <- c("file", "line", "rule", "before", "after", "outcome", "by", "seconds", "date")
read_list <- function() {
  if (!file.exists(csv)) return(stats::setNames(data.frame(matrix(character(), 0L, length(columns))), columns))
  utils::read.csv(csv, colClasses = "character")
}
record <- function(m, r) {
  lock <- file.path(work, "lock")
  while (!dir.create(lock, showWarnings = FALSE)) Sys.sleep(.05)
  on.exit(unlink(lock, recursive = TRUE))
  old <- read_list()
  was <- match(key_of(m), key_of(old))
  row <- data.frame(m[c("file", "line", "rule", "before", "after")], r, date = format(Sys.Date()))
  row[] <- lapply(row, as.character)
  if (is.na(was)) old <- rbind(old, row) else old[was, ] <- row
  utils::write.csv(old, csv, row.names = FALSE)
}

print_table <- function(d) {
  d$language <- ifelse(startsWith(d$file, "R/"), "R", "C")
  d <- d[d$outcome != "broken", ]
  print(table(paste(d$language, d$rule), d$outcome))
  caught <- sum(d$outcome == "caught")
  left <- sum(d$outcome == "survived")
  cat(sprintf("\n%d mutants: %d caught, %d survived, %d with the same machine code: %.1f %% caught\n",
    nrow(d), caught, left, nrow(d) - caught - left, 100 * caught / (caught + left)))
}

# The first n of each language and rule in turn: n in all, without those that do not build.
choose <- function(d, n, known) {
  known <- known[known$outcome == "broken", ]
  d <- d[!key_of(d) %in% key_of(known), ]
  stratum <- paste(startsWith(d$file, "R/"), d$rule)
  place <- stats::ave(seq_along(stratum), stratum, FUN = seq_along)
  d[utils::head(order(place, stratum), n), ]
}

main <- function() {
  if (opt$table) return(print_table(read_list()))
  if (opt$map) return(invisible(make_map()))
  d <- all_candidates()
  map <- if (file.exists(file.path(work, "map.rds"))) readRDS(file.path(work, "map.rds")) else make_map()
  # Of a part of the tests the lines that it does not reach say nothing.
  if (nzchar(opt$tests)) d <- d[paste(d$file, d$before) %in% paste(map$hits$file, map$hits$text), ]
  make_base()
  writeLines(child, file.path(work, "child.R"))
  # Tests that fail without a mutant (another version of testthat, say) say nothing about one.
  writeLines(as.character(map$failed), file.path(work, "failed"))
  one <- function(i, todo) {
    m <- todo[i, ]
    r <- try_one(m, map)
    record(m, r)
    cat(sprintf("%3d of %d  %-9s %s:%d %s, %s, %s s\n     - %s\n     + %s\n", i, nrow(todo), r$outcome, m$file, m$line, m$rule,
      r$by, r$seconds, m$before, m$after))
  }
  again <- opt$rerun_survivors
  repeat {
    # Those that turn out not to build are replaced by the next ones.
    known <- read_list()
    chosen <- choose(d, opt$n, known)
    old <- match(key_of(chosen), key_of(known))
    todo <- chosen[is.na(old) | (again & known$outcome[old] %in% "survived"), ]
    again <- FALSE
    if (!nrow(todo)) break
    parallel::mclapply(seq_len(nrow(todo)), one, todo = todo, mc.cores = opt$cores, mc.preschedule = FALSE)
  }
  known <- read_list()
  print_table(known[key_of(known) %in% key_of(chosen), ])
}
main()
