# Spelling of help, vignettes, README and NEWS: words that are right and unknown go to inst/WORDLIST.
if (requireNamespace("spelling", quietly = TRUE)) {
  spelling::spell_check_test(vignettes = TRUE, error = TRUE, skip_on_cran = TRUE)
}
