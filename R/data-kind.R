# Do the columns have different units? Those of one unit differ in their spread as well, so the two
# limits are wide; they were set by hand on some twenty sets. The largest standard
# deviation against the median one finds a few columns of another unit, a tenth of the columns
# against another tenth finds many. Sparse data and counts have one unit.
different_units <- function(data, look, most = 15, wide = 40) {
  if (data$kind == "sparse" || (data$kind == "dense" && is_counts(data$x))) {
    return(list(mixed = FALSE, reason = "counts"))
  }
  spread <- sqrt(look()$variance)
  range <- c(min(spread), max(spread))
  tenth <- stats::quantile(spread, c(0.1, 0.9), names = FALSE)
  list(mixed = range[2L] > most * stats::median(spread) || tenth[2L] > wide * tenth[1L],
    reason = paste("standard deviations from", signif(range[1L], 2L), "to", signif(range[2L], 2L)))
}

# Whole numbers from 0, most of them small or zero.
is_counts <- function(x) {
  some <- x[seq_len(min(nrow(x), 50L)), , drop = FALSE]
  all(some >= 0) && mean(some == 0) > 0.2 && all(some == round(some))
}

# Why the rows seem to be features, NULL if they do not.
looks_turned <- function(n, p, rows, columns) {
  if (is.null(rows)) return(NULL)
  some <- function(names) if (is.null(names)) character() else utils::head(names, 20000L)
  if (genes_among(some(rows)) && !genes_among(some(columns))) return("row names look like genes")
  barcode <- "^[ACGT]{8,}([-_.][A-Za-z0-9]+)*$"
  if (length(columns) && mean(grepl(barcode, some(columns))) > .5 &&
      mean(grepl(barcode, some(rows))) < .5) {
    return("column names look like barcodes of cells")
  }
  # Samples often have a number, with a few letters before it.
  if (n >= 20 * p && n >= 500 && !anyDuplicated(rows) &&
      mean(grepl("^[^0-9]*[0-9]+$", some(rows))) < .5) {
    return("far more rows than columns, and rows with names")
  }
  NULL
}

# Identifiers of the large collections, or genes that hardly any table of genes is without.
genes_among <- function(names) {
  known <- paste0("^(ENS[A-Z]*[GT][0-9]{6,}([.][0-9]+)?|AT[1-5CM]G[0-9]{5}|Y[A-P][LR][0-9]{3}[CW]|",
    "[0-9]+(_[a-z]+)?_at|(gene|probe|transcript|cg|rs)[_.-]?[0-9]+)$")
  common <- paste0("^(ACTB|ACTG1|B2M|GAPDH|EEF1A1|EEF2|FTL1?|FTH1|TMSB4X|MALAT1|TP53|TRP53|UBC|",
    "UBB|VIM|PGK1|HPRT1?|TBP|MYC|EGFR|CD[348][A-G]?|RP[LS][0-9]+[AXYL]*|MT-[A-Z0-9]+)$")
  length(names) > 0L && (mean(grepl(known, names)) > .5 ||
    sum(grepl(common, names, ignore.case = TRUE)) >= 5L)
}

# Are the columns points of smooth curves, as wavelengths of a spectrum? Then a column hardly
# differs from its neighbour, and by far less than from other columns. 1 - r of standardised columns,
# on at most 300 rows and 1000 neighbouring pairs.
is_smooth_columns <- function(x) {
  data <- open_data(x)
  if (data$kind == "sparse" || data$p < 20L || data$n < 5L) return(FALSE)
  rows <- unique(round(seq(1, data$n, length.out = min(data$n, 300L))))
  first <- unique(round(seq(1, data$p - 1L, length.out = min(data$p - 1L, 1000L))))
  part <- subset_data(data, rows)
  columns <- function(j) {
    z <- data_columns(part, j)
    z <- sweep(z, 2L, colMeans(z))
    sweep(z, 2L, pmax(sqrt(colSums(z^2)), .Machine$double.xmin), "/")
  }
  apart <- function(a, b) stats::median(1 - colSums(a * b))
  here <- columns(first)
  near <- apart(here, columns(first + 1L))
  far <- apart(here, columns((first + data$p %/% 3L - 1L) %% data$p + 1L))
  isTRUE(near < 0.03 && near < 0.1 * far)
}
