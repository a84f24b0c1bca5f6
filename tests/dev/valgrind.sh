#!/usr/bin/env bash
# Native code under valgrind: tests/dev/valgrind.sh [filter] runs small.R (every method on dense,
# sparse and file input), or the test files that match the filter.
set -eu
script=(tests/dev/small.R)
[ $# = 0 ] || script=(tests/dev/run-tests.R --args valgrind "$1")
NOT_CRAN=true UFSELECT_ONE_PROCESS=true TESTTHAT_PARALLEL=false R -d "valgrind --leak-check=summary --error-exitcode=7 -q" --vanilla --no-echo -f "${script[@]}"
