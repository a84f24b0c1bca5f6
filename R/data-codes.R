# Codes for what is missing, among the values of x: a check of every fit.

# A sentence with values and counts: 99 or -9 among answers from 1 to 5, -9999 among measurements.
# Of stored tables only where a user wants them looked at (`closely`).
missing_codes <- function(data, closely = FALSE) {
  if (data$n < 20L || data$kind == "source" && !closely) return(NULL)
  at <- evenly(data$p, 1000L)
  rows <- (if (closely) 2e6 else min(2e5, max_bytes() / 100)) %/% length(at)
  if (rows < 20) return(NULL)
  # Every fit looks: one quick pass rules out nearly all columns.
  z <- if (data$kind == "dense") data$x else even_part(data, c(rows, 1000L))
  odd <- .Call(C_x_odd, z, evenly(nrow(z), rows), evenly(ncol(z), 1000L))
  near <- which(odd$look | !is.na(odd$between))
  if (!length(near)) return(NULL)
  z <- even_part(data, c(rows, 1000L))
  # An amount is never below zero, in no column.
  amounts <- length(unique(z[z < 0])) <= 3L
  found <- lapply(near, function(j) odd_values(z[, j], odd$between[j], amounts))
  column <- rep(near, vapply(found, NROW, 0L))
  if (!length(column)) return(NULL)
  found <- as.data.frame(do.call(rbind, found))
  each <- split(seq_along(column), found$value)
  # What few columns have, or many of one code; what many have, each its own, is their scale. Of
  # values that only look odd beside few others, those that are odd wherever they are.
  rare <- length(unique(column)) <= max(2, 0.25 * ncol(z))
  told <- vapply(each, function(i) {
    value <- found$value[i[1L]]
    again <- length(i) > 1L && (value != 0 || rare)
    if (all(found$sure[i] == 1)) return(again || rare)
    again && length(each) <= 5L && sum(colSums(z == value) > 0) == length(i)
  }, NA)
  if (!any(told)) return(NULL)
  names <- readable(feature_names(data$features, data$p, FALSE)[at])
  words <- vapply(utils::head(each[told], 3L), function(i) {
    value <- signif(found$value[i[1L]], 10L)
    own <- colSums(z == found$value[i[1L]])
    at <- if (length(i) == 1L) column[i] else which(own > 0)
    if (length(at) == 1L) {
      return(paste0("'", names[at], "' is ", value, " in ", count_words(own[at], "row")))
    }
    paste0(value, " is in ", sum(own), " cells of ", length(at), " columns")
  }, "")
  part <- if (nrow(z) < data$n) paste(" of", nrow(z), "rows looked at")
  paste0(paste(words, collapse = ", "), part,
    ", apart from all other values: a code for what is missing?")
}

# Up to three rare values at one end of a column, further from all others than twice what these
# span, or three steps beyond a scale without gaps, or below zero among amounts; or the one
# `between` the steps of a scale. Only nines (-9, 99, 9999) may be there once. A matrix with a row
# for each: value, count, and whether this column alone shows that it is a code (`sure`).
odd_values <- function(value, between, amounts, nines = 10^(1:9) - 1,
                       usual = c(7:9, 77, 88, 96:99, 777, 888, 996:999, 7777, 8888, nines)) {
  n <- length(value)
  few <- length(unique(value[seq.int(1L, n, by = 1L + n %/% 100L)])) <= 12L
  for (end in c(max, min)) {
    rest <- value
    odd <- numeric()
    while (length(odd) < 3L && length(rest)) {
      own <- end(rest)
      at <- rest == own
      # Once, 9 is a code below zero only, 99 also among few different values, 999 among any.
      code <- -own %in% nines || own %in% nines[-seq_len(2 - few)]
      if (sum(at) < 2L && !code || length(rest) - sum(at) < 0.7 * n) break
      odd <- c(odd, own)
      rest <- rest[!at]
      span <- range(rest)
      gap <- max(span[1L] - own, own - span[2L])
      steps <- unique(rest)
      below <- own < 0 && span[1L] >= 0 && (code || own == -1) && all(rest %% 1 == 0 | code)
      far <- gap > 2 * diff(span) || below && amounts && length(steps) >= 8L
      if (!far && !(few && gap >= 3 - (below && span[1L] > 0))) next
      scale <- length(steps) %in% 3:7 && length(steps) == diff(span) + 1 && all(steps %% 1 == 0)
      # Counts become rarer as they grow.
      tail <- few && own > 0 && span[1L] == 0 && sum(rest == 0) > sum(rest > 0) / 2
      if (length(steps) > 1L && if (tail) gap > 10 * diff(span) else far || scale) {
        count <- vapply(odd, function(own) sum(value == own), 0)
        usual <- abs(odd) %in% usual & (span[1L] != 0 | far) | odd < 0 & span[1L] >= 0
        return(cbind(value = odd, count = count, sure = length(steps) >= 8L || all(usual)))
      }
    }
  }
  if (!is.na(between)) cbind(value = between, count = sum(value == between), sure = 1)
}

# At most so many rows and columns, evenly, as a dense matrix.
even_part <- function(data, most = c(200L, 1000L), columns = evenly(data$p, most[2L])) {
  rows <- evenly(data$n, most[1L])
  if (data$kind == "dense") return(unname(data$x[rows, columns, drop = FALSE]))
  part <- subset_data(data, if (length(rows) < data$n) rows,
    if (length(columns) < data$p) columns)
  unname(dense_data(part, "x", quiet = TRUE))
}
