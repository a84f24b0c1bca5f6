percent <- function(share) paste0(signif(100 * share, 2L), " %")

some_columns <- function(names, most = 5L) {
  paste0(if (length(names) == 1L) "column " else "columns ", some_names(names, most))
}

some_names <- function(names, most = 5L) {
  shown <- paste0("'", utils::head(names, most), "'", collapse = ", ")
  more <- length(names) - most
  paste0(shown, if (more > 0L) paste(" and", more, "more"))
}

# Names, or numbers where there are none, or an empty one.
labels_of <- function(names, size) {
  if (is.null(names)) return(as.character(seq_len(size)))
  bare <- is.na(names) | !nzchar(names)
  replace(names, bare, as.character(which(bare)))
}

kind_of <- function(x) {
  if (is.null(x)) "NULL" else paste0("an object of class ", paste(class(x), collapse = "/"))
}

deparse_short <- function(value) {
  # A number that was made whole on the way is shown as it was given: 16, not 16L.
  text <- paste(deparse(value, width.cutoff = 60L, control = c("keepNA", "niceNames",
    "showAttributes")), collapse = "")
  if (nchar(text) > 40L) kind_of(value) else text
}

# A line of print().
cat_line <- function(...) cat(..., "\n", sep = "")

# A name and a sentence from column `at` on, which is broken where the console ends (or at option
# "ufselect.width", which the tests set, for testthat sets the width itself), but not before "%".
cat_field <- function(name, ..., at = 15L) {
  text <- gsub(" %", "~%", readable(paste0(...)), fixed = TRUE)
  text <- strwrap(text, max(40L, getOption("ufselect.width", getOption("width")) - at))
  text <- gsub("~%", " %", text, fixed = TRUE)
  cat(paste0(formatC(c(name, rep("", length(text) - 1L)), width = -at), text, "\n"), sep = "")
}

# Bytes that are no characters in this locale, which nothing can measure, are shown as <e9>.
readable <- function(text) {
  odd <- !validEnc(text)
  if (any(odd)) text[odd] <- iconv(text[odd], sub = "byte")
  text
}

# "24 samples x 1 feature"
size_words <- function(n, p) paste(count_words(n, "sample"), "x", count_words(p, "feature"))

# Never "1e+05 samples".
count_words <- function(n, word) {
  paste0(format(n, scientific = FALSE, trim = TRUE), " ", word, if (n != 1L) "s")
}

# The first n of those chosen, and how many these are; of the whole ranking where it was left open.
best_line <- function(ranking, names, n, size = NULL) {
  # Constraints may leave fewer than were asked for.
  if (!is.null(size)) size <- min(size, length(ranking))
  best <- utils::head(ranking, min(n, size))
  text <- if (is.null(names)) as.character(best) else labels_of(names)[best]
  paste0(paste(text, collapse = ", "), if (min(length(ranking), size) > n) ", ...",
    if (!is.null(size)) paste0(" (", size, " of ", length(ranking), ")"))
}

# The word for the repeats of a comparison.
repeat_words <- function(object) if (object$mode == "classify") "splits" else "runs of k-means"
