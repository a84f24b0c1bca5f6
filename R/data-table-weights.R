# Weights of several tables (data-tables.R): after columns were centred and scaled, all tables have
# the same total variance.

# The roots of the total variances of tables, from the standard deviations of their columns: the
# largest one of all is taken out before squares are.
table_roots <- function(spread, of) {
  most <- max(spread, 0)
  if (most == 0) most <- 1
  sums <- rowsum((spread / most)^2, of)
  replace(stats::setNames(rep(0, nlevels(of)), levels(of)), rownames(sums), most * sqrt(sums))
}

# Divisors of the columns of several tables, or of levels of factors, after they were standardised
# (`scaled`) or left as they are (`plain`).
column_roots <- function(data, moments) {
  tables <- data$input$tables
  inertia <- if (is.null(data$inertia)) 1 else data$inertia
  if (nlevels(tables$of) < 2L) return(list(scaled = 1 / inertia))
  spread <- ifelse(moments$constant, 0, moments$sd)
  list(scaled = table_divisors(tables, unit_spread(spread, data), "scaled") / inertia,
    plain = table_divisors(tables, spread, "plain"))
}

# Standard deviations of columns that were standardised, and are constant where `spread` is 0.
unit_spread <- function(spread, data) {
  out <- as.double(spread > 0)
  if (is.null(data$inertia)) out else out * data$inertia
}

divide_moments <- function(moments, root) {
  moments$divide <- moments$divide * root
  moments[c("norm", "largest")] <- list(moments$norm / root, moments$largest / root)
  moments
}

# So that all tables have the mean of their total variances. `spread`: the standard deviations of
# the columns, 0 for constant ones. The total of a table of which some columns are left is what it
# would be if all of them had changed as these have.
table_divisors <- function(tables, spread, kind) {
  of <- tables$of
  share <- rowsum(tables$share[[kind]], of)
  before <- tables$root[[kind]]
  now <- table_roots(spread, of)
  there <- rownames(share)[share > 0 & now[rownames(share)] > 0]
  now <- now[there] / sqrt(share[there, 1L])
  size <- max(before)
  usual <- sqrt(mean((before[before > 0] / size)^2)) *
    sqrt(sum((now / size)^2) / sum((before[there] / size)^2))
  root <- replace(stats::setNames(rep(1, nlevels(of)), levels(of)), there, now / size / usual)
  unname(root[as.character(of)])
}

subset_tables <- function(tables, columns) {
  if (is.null(tables)) return(NULL)
  tables$of <- tables$of[columns]
  if (!is.null(tables$share)) tables$share <- lapply(tables$share, `[`, columns)
  tables
}

# ---- words ---------------------------------------------------------------------------------------

# How many columns each table has, and of a fit how many of them are chosen.
tables_words <- function(of, chosen = NULL) {
  if (is.null(of)) return(NULL)
  size <- tabulate(of, nlevels(of))
  own <- if (is.null(chosen)) size else tabulate(of[chosen], nlevels(of))
  paste0("tables       ", if (is.null(chosen)) "columns: " else "columns chosen: ",
    paste0(levels(of), " ", own, if (!is.null(chosen)) paste(" of", size), collapse = ", "))
}
