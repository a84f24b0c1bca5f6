#!/usr/bin/env bash
# The tests with the native code under AddressSanitizer and UBSan: tests/dev/sanitize.sh [filter].
# Without a filter all of them, half an hour or more.
set -eu
lib=$(mktemp -d)
printf 'CFLAGS = -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer\nLDFLAGS = -fsanitize=address,undefined\n' >"$lib/Makevars"
cp -R . "$lib/tree" && rm -f "$lib"/tree/src/*.o "$lib"/tree/src/*.so
R_MAKEVARS_USER="$lib/Makevars" R CMD INSTALL --preclean --no-test-load --no-docs --library="$lib" "$lib/tree" >"$lib/log" 2>&1 || { tail "$lib/log"; exit 1; }
cd "$lib/tree"
LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" ASAN_OPTIONS=detect_leaks=0 \
  R_LIBS="$lib:${R_LIBS:-}" NOT_CRAN=true UFSELECT_ONE_PROCESS=true TESTTHAT_PARALLEL=false Rscript tests/dev/run-tests.R sanitize "$@"
