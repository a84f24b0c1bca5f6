#!/usr/bin/env bash
# The kernel tests under valgrind: tests/dev/valgrind.sh [filter]
set -eu
R -d "valgrind --leak-check=summary --error-exitcode=7 -q" --vanilla --no-echo -e "library(testthat); library(ufselect)
  test_dir('tests/testthat', filter = '${1:-kernel}', package = 'ufselect', load_package = 'installed', reporter = 'summary')"
echo "valgrind: clean"
