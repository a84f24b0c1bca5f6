# Spelling of help, vignettes, README and NEWS, for the reader of this log: dictionaries differ from one
# machine to the next. Words that are right and unknown go to inst/WORDLIST; `make lint` fails on others.
if (requireNamespace("spelling", quietly = TRUE)) {
  spelling::spell_check_test(vignettes = TRUE, error = FALSE, skip_on_cran = TRUE)
}
