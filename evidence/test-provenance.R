# Stored results say where they come from, and the check of results.R, which runs these tests, sees what changed.

provenance <- function() {
  place <- new.env(parent = globalenv())
  sys.source("provenance.R", place)
  place
}

# Sources of a package with two methods, of which one calls C.
small_sources <- function(root) {
  dir.create(file.path(root, "R"), recursive = TRUE)
  dir.create(file.path(root, "src"))
  writeLines(c("run_fit <- function(x) x", "ufs <- function(x) x", "feature_scores <- function(fit) fit",
    "selected_features <- function(fit, ...) UseMethod(\"selected_features\")",
    "selected_samples <- function(fit, ...) UseMethod(\"selected_samples\")",
    "selected_features.ufs <- function(fit, ...) 1", "selected_samples.ufs <- function(fit, ...) 1",
    "helper <- function(x) x + 1"), file.path(root, "R", "all.R"))
  writeLines(c("# One.", "ufs_one <- function(x, samples = c(\"ted\", \"norm\")) .Call(C_one, helper(x))",
    "register(\"one\", ufs_one)"), file.path(root, "R", "one.R"))
  writeLines(c("ufs_two <- function(x) x", "register(\"two\", ufs_two)"), file.path(root, "R", "two.R"))
  writeLines("/* entries */", file.path(root, "src", "entries.h"))
  writeLines("/* floor */", file.path(root, "src", "ufs.h"))
  writeLines(c("#include \"kernel.h\"", "SEXP ffi_one(SEXP x)", "{ return x; }"), file.path(root, "src", "ffi_one.c"))
  writeLines("double k(double);", file.path(root, "src", "kernel.h"))
  writeLines("double k(double x) { return x; }", file.path(root, "src", "kernel.c"))
}

test_that("the hash of a table follows what its methods reach, and nothing else", {
  place <- provenance()
  root <- tempfile()
  withr::defer(unlink(root, recursive = TRUE))
  small_sources(root)
  change <- function(file, from, to) {
    path <- file.path(root, file)
    lines <- readLines(path)
    expect_true(any(grepl(from, lines, fixed = TRUE)))
    writeLines(sub(from, to, lines, fixed = TRUE), path)
    rm(list = ls(place$source_cache), envir = place$source_cache)
    c(place$sources_of("one", root = root), place$sources_of("two", root = root))
  }
  first <- c(place$sources_of("one", root = root), place$sources_of("two", root = root))
  expect_match(first, "^[0-9a-f]{12}$")
  expect_false(first[1] == first[2])
  expect_identical(change("R/one.R", "# One.", "# Another comment."), first)
  expect_identical(change("src/kernel.c", "return x;", "return x; /* so */"), first)
  # A default, a helper, and a C file behind an include.
  second <- change("R/one.R", "c(\"ted\", \"norm\")", "c(\"norm\", \"ted\")")
  expect_false(second[1] == first[1])
  expect_identical(second[2], first[2])
  third <- change("R/all.R", "x + 1", "x + 2")
  expect_false(third[1] == second[1])
  expect_identical(third[2], first[2])
  fourth <- change("src/kernel.c", "return x;", "return 2 * x;")
  expect_false(fourth[1] == third[1])
  expect_identical(fourth[2], first[2])
  expect_error(place$sources_of("three", root = root), "not in R/: ufs_three")
})

test_that("recomputed cells are held against the stored ones", {
  place <- provenance()
  stored <- data.frame(set = c("a", "b"), k = c(10, 20), mean = c(.5, .6))
  now <- stored[2L, ]
  expect_length(place$differing(stored, now, c("set", "k"), "mean", .004), 0L)
  now$mean <- .61
  expect_match(place$differing(stored, now, c("set", "k"), "mean", .004), "stored as 0.6 and comes out as 0.61")
  now$k <- 30
  expect_match(place$differing(stored, now, c("set", "k"), "mean", .004), "not stored: b | 30", fixed = TRUE)
})

test_that("every stored table has a header", {
  shipped <- file.path("..", "inst", "benchmarks", "results")
  headers <- utils::read.csv(file.path("results", "headers.csv"), colClasses = "character")
  files <- c(list.files("results", "csv"), list.files(shipped, "csv"))
  tables <- setdiff(sub("[.]csv([.]gz)?$", "", files), c("headers", "outdated", "published", "fseval-published"))
  moved <- utils::read.csv(file.path(shipped, "outdated.csv"), colClasses = "character")
  expect_identical(moved$value, headers$value[headers$item == "outdated"])
  expect_identical(setdiff(tables, headers$table), character())
  for (name in unique(headers$table)) {
    items <- headers$item[headers$table == name]
    expect_true(all(c("script", "command", "version", "seed", "computed", "sources") %in% items))
    expect_true(any(grepl("^[0-9a-f]{12}", headers$value[headers$table == name & headers$item %in% c("sources", "confirmed")])))
  }
})

test_that("a table is where it is stored, and a new one is not installed", {
  place <- provenance()
  root <- withr::local_tempdir()
  folders <- file.path(root, c("installed", "evidence"))
  for (folder in folders) dir.create(folder)
  file.create(file.path(folders, c("shown.csv", "other.csv")))
  expect_identical(place$place_among("shown.csv", folders), file.path(root, "installed", "shown.csv"))
  expect_identical(place$place_among("other.csv", folders), file.path(root, "evidence", "other.csv"))
  expect_identical(place$place_among("new.csv", folders), file.path(root, "evidence", "new.csv"))
})
