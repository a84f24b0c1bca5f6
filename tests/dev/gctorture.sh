#!/usr/bin/env bash
# Garbage collections at every allocation inside .Call(), so that a value without protection shows as
# a crash or as another answer: tests/dev/gctorture.sh [filter], small.R and the test files that
# match; without a filter all of them, hours.
# Only in the first calls of each entry with small arguments, for each kind of x: R code needs no
# protection. Entries of src/entries.h that were not reached are named, and failures without a filter.
# GCTORTURE_CALLS=1: calls of an entry in a file; GCTORTURE_STEP=1: allocations to a collection.
set -u
lib=$(mktemp -d)
trap 'rm -rf "$lib"' EXIT
cp -R . "$lib/tree" && rm -f "$lib"/tree/src/*.o "$lib"/tree/src/*.so
cd "$lib/tree" || exit 1
sed -i 's/\.Call\([(,]\)/tortured_call\1/g' R/*.R tests/testthat/*.R
cat >>R/base-conditions.R <<'R'

tortured_call <- function(.NAME, ...) {
  args <- list(...)
  x <- if (length(args)) args[[1L]]
  kind <- if (is.list(x) && is.character(x$kind)) x$kind else "dense"
  key <- paste(.NAME$name, kind)
  most <- as.numeric(Sys.getenv("GCTORTURE_CALLS", "1"))
  if (sum(tortured$keys == key) >= most || size_of_all(args) > 2000) return(.Call(.NAME, ...))
  tortured$keys <- c(tortured$keys, key)
  cat(key, "\n", sep = "", file = Sys.getenv("GCTORTURE_SEEN"), append = TRUE)
  if (kind == "source") args[[1L]][] <- lapply(x, spared)
  # The packages that read files make a heap that takes long to collect.
  step <- as.integer(Sys.getenv("GCTORTURE_STEP", "1")) + if (kind == "source") 400L else 0L
  old <- gctorture2(step)
  on.exit(gctorture2(old))
  do.call(.Call, c(list(.NAME), args), quote = TRUE)
}
# R code that C calls back runs at its own speed.
spared <- function(f) {
  if (!is.function(f)) return(f)
  function(...) {
    old <- gctorture2(0L)
    on.exit(gctorture2(old))
    f(...)
  }
}
size_of_all <- function(a) if (is.list(a)) sum(vapply(a, size_of_all, 0)) else as.numeric(length(a))
tortured <- new.env()
R
R CMD INSTALL --preclean --no-test-load --no-docs --library="$lib" . >"$lib/log" 2>&1 || { tail "$lib/log"; exit 1; }
export R_LIBS="$lib:${R_LIBS:-}" NOT_CRAN=true UFSELECT_ONE_PROCESS=true TESTTHAT_PARALLEL=false GCTORTURE_SEEN="$lib/seen"
tried=0
failed=0
for file in tests/dev/small.R tests/testthat/test-*.R; do
  name=$(basename "$file" .R)
  name=${name#test-}
  if [ "$name" = small ]; then
    GCTORTURE_CALLS=0 Rscript tests/dev/small.R --out="$lib/calm" >"$lib/log" 2>&1 &&
      Rscript tests/dev/small.R --out="$lib/torn" >"$lib/log" 2>&1 &&
      Rscript -e 'a <- commandArgs(TRUE); quit(status = !identical(readRDS(a[1]), readRDS(a[2])))' \
        "$lib/calm" "$lib/torn" 2>>"$lib/log"
  else
    [[ "$name" =~ ${1:-.} ]] || continue
    Rscript tests/dev/run-tests.R "$name" "^$name\$" >"$lib/log" 2>&1
  fi
  status=$?
  tried=$((tried + 1))
  tail -n 1 "$lib/log"
  [ $status = 0 ] || { failed=$((failed + 1)); tail -n 30 "$lib/log"; }
done
for entry in $(sed -n 's/^ *ENTRY(\([a-z0-9_]*\),.*/\1/p' src/entries.h); do
  grep -q "^$entry " "$lib/seen" && continue
  echo "  $entry was not reached"
  [ $# != 0 ] || failed=$((failed + 1))
done
printf '%-14s tried %6d   survived %6d   failed %4d\n' gctorture $tried $((tried - failed)) $failed
[ $failed = 0 ]
