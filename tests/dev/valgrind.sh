#!/usr/bin/env bash
# The kernel tests under valgrind: tests/dev/valgrind.sh [filter]
set -eu
TESTTHAT_PARALLEL=false R -d "valgrind --leak-check=summary --error-exitcode=7 -q" --vanilla --no-echo -f tests/dev/run-tests.R \
  --args valgrind "${1:-kernel}"
