# Constraints: what users ask of a choice besides its size. They are a property of the data. Each
# is declared by one row at the end of this file; the arguments of ufs_data(), checks, subsets,
# decoys, print, ufs_methods(what = "constraints") and the frameworks' options follow from the row.
# A new one is its row, an argument of ufs_data(), and what rank_features(), rank_samples() or a
# solver does about it.

declared <- new.env(parent = emptyenv())
declared$rows <- list()

# name    the argument of ufs_data(); `held`, its name in data$held or data$row_held
# about   "columns" or "rows"
# kind    "places"   some of them, by name, index, flag or function; follows subsets
#         "numbers"  a positive number for each; follows subsets
#         "groups"   which of them go together (NA: alone); follows subsets
#         "levels"   a factor over all of them, "some levels" with NA; follows subsets
#         "strata"   a factor with quotas (of columns: NA, of none); follows subsets
#         "limit", "share", "switch", "quotas"  one value for all
# ranked  can a ranking see to it, where the solver of a method does not?
# sums    TRUE: it is in every sum over rows and decides nothing by itself
# evidence  TRUE: of rows, and says something about columns to methods that choose these alone
# option  do recipes and mlr3 take it among their options?
# needs   c(argument, what it is): the argument without which this one means nothing
# words   function(value, all) of the words for print(), or NULL; `all`: what else is held
# done    function(value, all, chosen) of words on how a choice keeps to it, or NULL
declare_constraint <- function(name, about, kind, ..., words = NULL, done = NULL) {
  row <- list(name = name, held = name, about = about, kind = kind, ranked = FALSE, sums = FALSE,
    evidence = FALSE, option = FALSE, needs = NULL, words = words, done = done)
  given <- list(...)
  stopifnot(names(given) %in% names(row), about %in% c("columns", "rows"))
  row[names(given)] <- given
  declared$rows[[name]] <- row
}

# Rows about columns or rows, of some kinds, and by other fields: constraint_rows(ranked = TRUE).
constraint_rows <- function(about = c("columns", "rows"), kind = NULL, ...) {
  wanted <- list(...)
  Filter(function(row) {
    row$about %in% about && (is.null(kind) || row$kind %in% kind) &&
      all(vapply(names(wanted), function(name) identical(row[[name]], wanted[[name]]), NA))
  }, declared$rows)
}

# Their arguments of ufs_data(), and their names in the data.
constraint_names <- function(...) {
  if (...length()) names(constraint_rows(...)) else names(declared$rows)
}
held_names <- function(...) vapply(constraint_rows(...), `[[`, "", "held", USE.NAMES = FALSE)

# Kinds that have a value for each column or row.
value_kinds <- c("numbers", "groups", "levels", "some levels")

# The slot of the data, or of a fit's constraints, that holds a constraint.
constraint_slot <- function(row) if (row$about == "columns") "held" else "row_held"

# The constraints of those columns or rows that stay, in their new order. `into`: their indices.
subset_constraints <- function(held, into, about = "columns") {
  if (is.null(held)) return(NULL)
  for (name in intersect(held_names(about, "places"), names(held))) {
    at <- which(into %in% held[[name]])
    held[[name]] <- at[order(match(into[at], held[[name]]))]
  }
  for (name in intersect(held_names(about, value_kinds), names(held))) {
    held[[name]] <- held[[name]][into]
  }
  for (name in intersect(held_names(about, "strata"), names(held))) {
    held[[name]]$level <- held[[name]]$level[into]
  }
  held
}

# One phrase for each constraint that is held, for print(). `sums`: those in every sum, or the
# others. `chosen`: the choice of which it is said how it keeps to them.
constraint_words <- function(held, about, sums = FALSE, chosen = NULL) {
  unlist(lapply(constraint_rows(about, sums = sums), function(row) {
    value <- held[[row$held]]
    if (!length(value) || is.null(row$words)) return(NULL)
    done <- if (length(chosen) && !is.null(row$done)) row$done(value, held, chosen)
    paste0(row$words(value, held), if (!is.null(done)) paste0(" (", done, ")"))
  }), use.names = FALSE)
}

count_places <- function(what, word) function(at, all) paste(count_words(length(at), what), word)

# Words only where a constraint is broken: a column that must be in is missing, or the reverse.
places_kept <- function(at, all, chosen) {
  if (!all(at %in% chosen)) paste(sum(at %in% chosen), "of", length(at), "kept")
}
places_left <- function(at, all, chosen) {
  if (any(at %in% chosen)) paste(sum(at %in% chosen), "chosen")
}
cost_spent <- function(cost, all, chosen) {
  paste(format(signif(sum(cost[chosen]), 4L), scientific = FALSE), "spent")
}
groups_whole <- function(group, all, chosen) {
  touched <- unique(stats::na.omit(group[chosen]))
  whole <- vapply(touched, function(g) all(setdiff(which(group == g), all$constant) %in% chosen),
    NA)
  paste0(if (!all(whole)) paste(sum(whole), "of "), length(touched), " chosen whole")
}
each_level <- function(strata, all, chosen, most = 10L) {
  count <- in_strata(strata, chosen)
  paste0(paste(utils::head(paste0(strata$name, ": ", count), most), collapse = ", "),
    if (length(count) > most) ", ...")
}

# How many of the columns or rows `at` are of each stratum.
in_strata <- function(strata, at) tabulate(strata$level[at], length(strata$name))

cost_words <- function(cost, all) {
  paste0("costs", if (!is.null(all$budget)) paste0(", budget ", format(all$budget)))
}

declare_constraint("include", "columns", "places", ranked = TRUE, option = TRUE,
  words = count_places("column", "in"), done = places_kept)
declare_constraint("exclude", "columns", "places", ranked = TRUE, option = TRUE,
  words = count_places("column", "out"), done = places_left)
declare_constraint("cost", "columns", "numbers", ranked = TRUE, option = TRUE, words = cost_words,
  done = cost_spent)
declare_constraint("budget", "columns", "limit",
  needs = c("cost", "what each column costs; for rows: `sample_budget`"))
declare_constraint("groups", "columns", "groups", ranked = TRUE,
  words = function(group, all) count_words(length(unique(group[!is.na(group)])), "group"),
  done = groups_whole)
declare_constraint("max_cor", "columns", "share", ranked = TRUE,
  words = function(most, all) {
    which <- c(length(all$include) > 1L, length(all$groups) > 0L)
    apart <- c("included ones", "those of one group")[which]
    paste0("no two correlated above ", format(most), if (length(apart)) ", but for ",
      paste(apart, collapse = " and "))
  })
declare_constraint("feature_strata", "columns", "strata", ranked = TRUE, option = TRUE,
  words = function(strata, all) {
    paste0(length(strata$name), " strata", if (!is.null(strata$quota)) " with quotas")
  }, done = each_level)
declare_constraint("feature_quotas", "columns", "quotas", option = TRUE,
  needs = c("feature_strata", "a factor over the columns"))
declare_constraint("weights", "rows", "numbers", sums = TRUE,
  words = function(weight, all) paste("weights of sum", format(sum(weight))))
declare_constraint("blocks", "rows", "levels", sums = TRUE,
  words = function(block, all) {
    paste0("centred ", if (isTRUE(all$block_scale)) "and scaled ", "within ",
      count_words(length(unique(block)), "block"))
  })
declare_constraint("block_scale", "rows", "switch", sums = TRUE,
  needs = c("blocks", "a factor over the rows"))
declare_constraint("candidates", "rows", "places", ranked = TRUE,
  words = function(at, all) count_words(length(at), "candidate"),
  done = function(at, all, chosen) {
    wrong <- sum(!chosen %in% at)
    if (wrong) paste(wrong, "chosen are none")
  })
declare_constraint("labelled", "rows", "places", ranked = TRUE,
  words = count_places("row", "labelled"), done = places_left)
declare_constraint("replicates", "rows", "some levels", ranked = TRUE, evidence = TRUE,
  words = function(level, all) "one of each replicate",
  done = function(level, all, chosen) {
    twice <- sum(duplicated(stats::na.omit(level[chosen])))
    if (twice) paste(twice, "chosen again")
  })
declare_constraint("sample_cost", "rows", "numbers", held = "cost", ranked = TRUE,
  words = cost_words, done = cost_spent)
declare_constraint("sample_budget", "rows", "limit", held = "budget",
  needs = c("sample_cost", "what each row costs; for columns: `budget`"))
declare_constraint("strata", "rows", "strata", ranked = TRUE,
  words = function(strata, all) paste(max(strata$level), "strata"), done = each_level)
declare_constraint("quotas", "rows", "quotas", needs = c("strata", "a factor over the rows"))
