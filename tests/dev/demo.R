# `make demo` with values of its variables that nobody should give: Rscript tests/dev/demo.R --share=.25 --seed=1
# Nothing in them may be run, and each is refused in words, with a status, or is harmless. The first two lines of the
# recipe, which install the package, are a make that does nothing; --whole=yes runs them for one value of each
# variable, as R's own make is the one that runs things (half a minute for each).
source("tests/dev/common.R")
set <- options_of(share = 1, seed = 1, whole = "no")
top <- getwd()
folder <- tempfile("demo")
dir.create(file.path(folder, "inst"), recursive = TRUE)
invisible(file.copy("inst/scripts", file.path(folder, "inst"), recursive = TRUE))
lines <- readLines("Makefile")
installs <- grep("^demo:", lines) + 1:2
stopifnot(grepl("setup demo", lines[installs[1]]), grepl("INSTALL", lines[installs[2]]))
lines[installs] <- "\t@printf 'all:\\n\\t@true\\n' | make -s -f - all"
writeLines(lines, file.path(folder, "Makefile"))

canary <- file.path(folder, "canary")
rows <- c("id,a,b,c,d,kind", "r1,1,2,3,4,u", "r2,2,3,1,7,v", "r3,3,1,2,5,u", "r4,9,4,7,1,v", "r5,3,8,2,2,u", "r6,6,1,1,9,v",
  "r7,2,2,8,3,u", "r8,5,1,4,4,v")
file_of <- function(name, text = rows) {
  path <- file.path(folder, name)
  writeLines(text, path)
  path
}
good <- file_of("good.csv")
hostile <- c(sprintf(c("; touch %s", "$(touch %s)", "$(shell touch %s)", "`touch %s`", "\"; touch %s; \"",
  "'; touch %s; '", "| touch %s", "&& touch %s", "\nsystem('touch %s')\n", "$(eval y := $(shell touch %s))",
  "\"); system(\"touch %s\"); (\"", "'); system('touch %s'); ('", "${IFS}touch${IFS}%s"), canary),
  "$$", "\\", "%s%n", "*", "~", "--version", "-e", strrep("x", 1e5), "-1", "0", "1e9", "1e400", "NaN", "TRUE", "1.5", "",
  rawToChar(as.raw(c(255, 254, 128))))
variables <- c("DATA", "K", "CLUSTERS", "LABEL", "HEADER", "ID", "NA", "DROP", "DEC", "OUT")
cases <- unlist(lapply(variables, function(variable) lapply(hostile, function(value) {
  stats::setNames(value, variable)
})), recursive = FALSE)
more <- list(c(DATA = "/dev/zero"), c(DATA = "/dev/null"), c(DATA = folder), c(DATA = file_of("empty.csv", character())),
  c(OUT = good), c(OUT = "/dev/null"), c(K = "5"), c(CLUSTERS = "8"), c(LABEL = "id"), c(DROP = "a,b,c,d"),
  c(DATA = file_of("a b;c's \"$(touch x)`.csv")), c(DATA = "", LABEL = "kind"))
set.seed(set$seed)
cases <- c(sample(cases, ceiling(set$share * length(cases))), more)
# What ends well: nothing given, a folder of any name, and the file that is there.
may_end_well <- function(case) {
  name <- utils::tail(names(case), 1)
  !nzchar(case[[1]]) && length(case) == 1 || name == "OUT" || identical(case[["DATA"]], file.path(folder, "a b;c's \"$(touch x)`.csv"))
}
# A script hands the bytes on as they are.
run <- function(case, where = folder, more = character()) {
  values <- c(list(DATA = good, OUT = file.path(folder, "out")), as.list(case))
  values <- values[!duplicated(names(values), fromLast = TRUE)]
  script <- tempfile()
  words <- vapply(names(values), function(name) paste0(name, "=", values[[name]]), "")
  connection <- file(script, "wb")
  for (word in c("make", "-C", where, "demo", more, words)) {
    quoted <- gsub("'", "'\\''", word, fixed = TRUE, useBytes = TRUE)
    writeBin(c(as.raw(39), charToRaw(quoted), as.raw(c(39, 32))), connection)
  }
  close(connection)
  out <- suppressWarnings(system2("timeout", c("120", "sh", script), stdout = TRUE, stderr = TRUE, input = ""))
  status <- attr(out, "status")
  said <- paste(iconv(out, "UTF-8", "UTF-8", sub = "?"), collapse = "\n")
  c(if (file.exists(canary) && !dir.exists(canary)) "RUN",
    if (identical(status, 124L)) "no end",
    if (is.null(status) && !may_end_well(case)) "accepted",
    if (!is.null(status) && !grepl("Sorry:", said)) "no words",
    if (grepl("Error in|Execution halted|subscript out|argument is of length", said)) "an error of R",
    if (is.null(status) && !grepl("Written to", said)) "nothing written")
}
tried <- failed <- 0
judge <- function(case, ...) {
  why <- run(case, ...)
  tried <<- tried + 1
  failed <<- failed + (length(why) > 0)
  if (length(why)) {
    shown <- substr(iconv(case, "UTF-8", "UTF-8", sub = "?"), 1, 60)
    cat(sprintf("  %s: %s\n", paste(names(case), shown, sep = "=", collapse = " "), paste(why, collapse = ", ")))
  }
  unlink(canary, recursive = TRUE)
}
libraries <- paste0("LIB=", paste(.libPaths(), collapse = ":"))
for (case in cases) judge(case, more = libraries)
if (set$whole == "yes") for (variable in variables) {
  judge(stats::setNames(sprintf("$(shell touch %s)", canary), variable), top)
}
unlink(folder, recursive = TRUE)
finish("demo", tried, failed)
