# Tags of package srr (rOpenSci statistical standards) and its report: Rscript tests/dev/srr.R, or
# `make srr`. standards.csv is the one place where a standard is stated; the tags are written from it
# into a copy of the package, each into the file that its row names first, so that `make doc` does not
# depend on srr. Needs srr (CRAN) and network for the list of standards; without them the counts are all.
# test-outside-standards.R looks up every place.
counts <- table(utils::read.csv("tests/dev/standards.csv", colClasses = "character")$state)
cat(sprintf("%d standards, %d do not apply; of the others %d are met\n", sum(counts), counts[["not applicable"]], counts[["met"]]))
if (!requireNamespace("srr", quietly = TRUE)) {
  cat("srr is not installed: left out\n")
  quit(save = "no")
}
top <- normalizePath(".")
stopifnot(file.exists(file.path(top, "DESCRIPTION")))
copy <- file.path(tempdir(), "ufselect")
dir.create(copy)
for (part in c("DESCRIPTION", "NAMESPACE", "LICENSE", "NEWS.md", "README.md", "R", "src", "man", "tests", "vignettes")) {
  file.copy(file.path(top, part), copy, recursive = TRUE)
}
unlink(file.path(copy, "tests", "dev"), recursive = TRUE)
path <- file.path(copy, "DESCRIPTION")
said <- readLines(path)
writeLines(sub("^Roxygen:.*", "Roxygen: list(markdown = TRUE, roclets = c(\"namespace\", \"rd\", \"srr::srr_stats_roclet\"))",
  said), path)
table <- utils::read.csv("tests/dev/standards.csv", colClasses = "character")
# The file with the code: the first name of an existing R file or function in the row.
home <- function(where) {
  named <- regmatches(where, regexpr("R/[a-z-]+\\.R", where))
  if (length(named) && file.exists(file.path(top, named))) return(named)
  called <- regmatches(where, regexpr("[a-z_]+(?=\\(\\))", where, perl = TRUE))
  if (length(called)) {
    files <- list.files(file.path(top, "R"), full.names = TRUE)
    has <- vapply(files, function(f) any(startsWith(readLines(f), paste0(called, " <- function"))), NA)
    if (any(has)) return(file.path("R", basename(files[has][1L])))
  }
  "R/zzz.R"
}
applies <- table$state != "not applicable"
for (i in which(applies)) {
  text <- gsub("[{}@%]", "", table$where[i])
  line <- sprintf("#' @srrstats%s {%s} *%s*", if (table$state[i] == "not met") "TODO" else "", table$id[i], text)
  cat("\n", line, "\n#' @noRd\nNULL\n", file = file.path(copy, home(table$where[i])), append = TRUE, sep = "")
}
cat("#' NA_standards\n#'\n", sprintf("#' @srrstatsNA {%s} *%s*\n", table$id[!applies], gsub("[{}@%]", "", table$where[!applies])),
  "#' @noRd\nNULL\n", file = file.path(copy, "R", "srr-standards.R"), sep = "")

old <- setwd(copy)
system2("git", c("init", "-q", "."))
roxygen2::roxygenise(".", load_code = "source", roclets = "srr::srr_stats_roclet")
try(srr::srr_stats_pre_submit("."))
try(srr::srr_report(".", view = FALSE, roxygenise = FALSE))
setwd(old)
