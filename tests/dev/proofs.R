# Proofs of ufs_css(optimal = TRUE) against every choice there is, helper-proofs.R has what is tried:
# Rscript tests/dev/proofs.R --cases=2000 --seed=0. A proof is false where enumeration finds a choice that
# holds more by 1e-7 of all squares. --show=yes prints the first cases that failed.
source("tests/dev/common.R")
source("tests/testthat/helper-proofs.R")
set <- options_of(cases = 2000, seed = 0, show = "yes")
found <- character()
for (i in seq_len(set$cases)) {
  one <- proof_case(set$seed + i)
  found[i] <- one$status
  if (!one$status %in% c("proved", "open", "refused", "ambiguous") && set$show == "yes") {
    case <- one$case
    cat(sprintf("  seed %d: %s, %s, k %d, target %s, center %s, scale %s, %s: off by %.2g\n", case$seed,
      one$status, case$kind, case$k, format(case$target), case$center, case$scale,
      paste(names(case$wish), collapse = " "), one$off))
  }
}
print(table(found))
finish("proofs", length(found), sum(!found %in% c("proved", "open", "refused", "ambiguous")))
