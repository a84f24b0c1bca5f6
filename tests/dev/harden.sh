#!/usr/bin/env bash
# All of this folder with small budgets, some 15 minutes: make harden. Prints tried / survived; the
# exit status is 0 only if nothing failed. --quick: what CI runs, some 2 minutes.
set -u
cd "$(dirname "$0")/../.."
quick=no; [ "${1:-}" = --quick ] && quick=yes
failed=0
run() { "$@" || failed=1; }
if [ $quick = yes ]; then
  run Rscript tests/dev/fuzz.R --calls=300
  run Rscript tests/dev/metamorphic.R --repeats=1
  run Rscript tests/dev/kill-resume.R --kills=2
else
  run Rscript tests/dev/fuzz.R --calls=3000
  run Rscript tests/dev/metamorphic.R --repeats=3
  run Rscript tests/dev/certificates.R --repeats=5
  run Rscript tests/dev/kill-resume.R
  run Rscript tests/dev/blas.R
  run Rscript tests/dev/interrupts.R
  run Rscript tests/dev/memory.R
  run Rscript tests/dev/gctorture.R --step=20
  run tests/dev/sanitize.sh kernel
fi
exit $failed
