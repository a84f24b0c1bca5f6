#!/usr/bin/env bash
# All of this folder with small budgets, some 20 minutes alone on a machine: make harden. Prints tried /
# survived, and all counts once more at its end; the exit status is 0 only if nothing failed.
# --quick: what CI runs, some 2 minutes, no table.
set -u
cd "$(dirname "$0")/../.."
quick=no; [ "${1:-}" = --quick ] && quick=yes
failed=0
log=$(mktemp)
run() {
  "$@" 2>&1 | tee -a "$log"
  local status=${PIPESTATUS[0]}
  [ "$status" = 0 ] && return
  failed=1
  # A script that died before it could say how it went must not be missing from the table.
  tail -5 "$log" | grep -q ' tried ' || echo "$(printf '%s\n' "$@" | sed -n 's|^tests/dev/\([a-z-]*\).*|\1|p') tried 1 survived 0 failed 1" | tee -a "$log"
}
if [ $quick = yes ]; then
  run Rscript tests/dev/fuzz.R --calls=300
  run Rscript tests/dev/metamorphic.R --repeats=1
  run Rscript tests/dev/kill-resume.R --kills=2
else
  run Rscript tests/dev/fuzz.R --calls=3000
  run Rscript tests/dev/fuzz.R --sweep
  run Rscript tests/dev/door.R --calls=500
  run Rscript tests/dev/metamorphic.R --repeats=3
  run Rscript tests/dev/certificates.R --repeats=2
  run Rscript tests/dev/proofs.R --cases=2000
  # Each constraint at each door, each part of a key of a stored result, and errors and interrupts in moments.
  run env NOT_CRAN=true Rscript tests/dev/run-tests.R doors '^constraints-doors$'
  run env NOT_CRAN=true Rscript tests/dev/run-tests.R keys '^checkpoint-contract$'
  run env NOT_CRAN=true Rscript tests/dev/run-tests.R left-behind '^left-behind$'
  run Rscript tests/dev/demo.R --share=.25
  run Rscript tests/dev/layouts.R --rows=20 --columns=16 --sets=wide
  run Rscript tests/dev/ccall.R --calls=2000
  run Rscript tests/dev/kill-resume.R
  run Rscript tests/dev/checkpoints.R
  run Rscript tests/dev/blas.R
  run Rscript tests/dev/interrupts.R
  run Rscript tests/dev/memory.R --p=12000
  run tests/dev/gctorture.sh 'native-(graph|la|lowest|qp|topk)'
  run tests/dev/sanitize.sh native
  echo
  grep -E ' tried +[0-9]+ +survived +[0-9]+ +failed +[0-9]+ *$' "$log"
fi
rm -f "$log"
exit $failed
