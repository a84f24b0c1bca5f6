# Factors: variables that are several columns.

# The one place where variables become columns: a column of zeros and ones for each level that
# occurs, in the place of a factor. Beside x, names and constraints the data then have
#   variable   the variable of each column
#   level      which of its levels, NA of numbers
#   inertia    the root of what is left of the variance of a standardised column: 1, or of a level
#              that a share p of the rows has sqrt(1 - p), so that a factor of L levels has L - 1 in
#              all (factor analysis of mixed data)
#   table      the data as they were
# judge_columns() then points from columns to variables, and expand_features() gathers them.
with_levels <- function(data) {
  nominal <- nominal_columns(data$input$coding)
  if (!length(nominal)) return(data)
  level <- as.list(rep(NA_integer_, data$p))
  level[nominal] <- lapply(nominal, function(j) {
    found <- sort(unique(as.vector(data_columns(data, j))))
    if (length(found)) found else NA
  })
  of <- rep(seq_len(data$p), lengths(level))
  level <- unlist(level)
  out <- subset_data(data, features = of)
  at <- which(of %in% nominal)
  out$x[, at] <- as.double(as.matrix(out$x[, at, drop = FALSE]) == rep(level[at], each = data$n))
  several <- at[lengths(split(of, of))[as.character(of[at])] > 1L]
  name <- feature_names(data$features, data$p, FALSE)[of]
  name[several] <- paste0(name[several], "=", mapply(function(j, l) {
    data$input$coding[[j]]$levels[l]
  }, of[several], level[several]))
  out$features <- make.unique(name)
  colnames(out$x) <- out$features
  share <- colMeans(as.matrix(out$x[, at, drop = FALSE]))
  out$inertia <- replace(rep(1, out$p), at, ifelse(is.na(share) | share == 1, 1, sqrt(1 - share)))
  # The columns of a factor share its part of a table.
  out$input$tables$share <- lapply(out$input$tables$share, `/`, tabulate(of)[of])
  out$input$coding <- NULL
  out[c("variable", "level")] <- list(of, level)
  out$table <- data
  out["held"] <- list(constraints_of_levels(out$held, of))
  out
}
