# Functions that take x and are no methods, and what each does about the constraints of the data: it
# keeps to those that its row names, and refuses every other that the data hold. So a new constraint
# is refused by all of them until a row names it.

doors <- new.env(parent = emptyenv())
doors$rows <- list()

# heeds   names of constraints; "columns", "rows" and "sums" stand for all of their kind
# ...     the reasons for refusing others, "columns" and "rows", or by name those that are refused
#         where all others of the kind are kept to; "evidence": rows that say which columns repeat
declare_door <- function(door, heeds, ...) doors$rows[[door]] <- list(heeds = heeds, why = c(...))

# The data, if they hold nothing that the function does not keep to. `also`: what it keeps to in
# this call; `fit`: the fit that it is about, which may hold the same.
check_door <- function(data, door, also = NULL, fit = NULL) {
  sketched <- if (inherits(data, "ufs_sketch")) data$data else data
  if (!inherits(sketched, "ufs_data") || is.null(sketched$held) && is.null(sketched$row_held)) {
    return(invisible(data))
  }
  row <- doors$rows[[door]]
  heeded <- c(row$heeds, also)
  heeded <- c(heeded, constraint_names(intersect(c("columns", "rows"), heeded)),
    if ("sums" %in% heeded) constraint_names(sums = TRUE))
  heeded <- setdiff(heeded, names(row$why))
  held <- list(held = expand_groups(sketched$held), row_held = sketched$row_held)
  own <- list(held = fit$constraints$features, row_held = fit$constraints$samples)
  for (one in constraint_rows()) {
    value <- held_constraint(held, one)
    # The user asked for none that the fit holds itself, nor for weights of rows that were made up.
    if (one$name %in% heeded || !length(value) || identical(value, held_constraint(own, one)) ||
        (one$name == "weights" && !is.null(sketched$n_rows))) next
    why <- c(one$name, if (one$evidence) "evidence", one$about)
    why <- row$why[intersect(why, names(row$why))][1L]
    refuse(one$name, "`", one$name, "`: ", door, " ", why, ". Give it `x` without",
      if (one$name == "replicates") ", or the means of its levels: rowsum(x, id) / c(table(id))",
      ".")
  }
  invisible(data)
}

held_constraint <- function(slots, row) {
  if (row$kind == "quotas") return(held_constraint(slots, constraint_rows()[[row$needs[1L]]])$quota)
  slots[[constraint_slot(row)]][[row$held]]
}

# The data for what chooses nothing of that kind: "columns" or "rows". Evidence about columns stays
# where columns are chosen.
without_choices <- function(data, about) {
  for (row in constraint_rows(about, sums = FALSE)) {
    if (!row$evidence || "columns" %in% about) data[[constraint_slot(row)]][row$held] <- NULL
  }
  data
}

# Reasons for refusing a budget and quotas where columns are told from noise.
no_noise <- vapply(c(budget = "whatever they cost",
  feature_strata = "however many of each are wanted",
  feature_quotas = "however many of each are wanted"), function(so) {
    paste0("tells columns from noise, ", so, "; ufs_select() and the methods keep to it")
  }, "")

single_rows <- function(how) {
  paste(how, "single rows, and not by what repeats in them; ufs_reliability() and the methods do")
}

declare_door("ufs_moments()", "weights",
  columns = "adds up rows and chooses no columns: the method that takes the moments takes it",
  rows = "adds up all rows and chooses none",
  blocks = "gives each column one mean, and parts of a table have their blocks apart",
  block_scale = "gives each column one standard deviation")
declare_door("ufs_sketch()", c("columns", "sums", "candidates", "labelled"),
  rows = "draws each row by itself; type = \"facility\" keeps to it")
declare_door("ufs_split()", c("candidates", "replicates", "strata", "blocks", "block_scale"),
  columns = "chooses no columns", rows = "counts rows alone",
  weights = "compares single rows, however many each stands for",
  labelled = "chooses the rows to learn from, too: leave these out by `samples` or `candidates`",
  quotas = "gives each stratum its share")
declare_door("ufs_size()", "sums", columns = "chooses no columns here",
  rows = "chooses no rows here", evidence = single_rows("counts"), no_noise)
declare_door("ufs_decoys()", c("columns", "sums", "replicates"),
  rows = "judges columns and chooses no rows", no_noise)
declare_door("ufs_captured()", "sums", rows = "chooses no rows",
  columns = "measures the columns of the fit, or those given, and chooses none")
declare_door("representatives()", character(), rows = "looks at all rows of the fit",
  columns = "looks at the columns of the fit, which was made without it")
declare_door("predict()", character(), rows = "gives numbers of all rows of `newdata`",
  columns = "takes the columns of the fit, which was made without it")
declare_door("ufs_represent()", c("blocks", "block_scale"), columns = "chooses no columns",
  rows = "links all rows", weights = "links single rows, however many each stands for")
declare_door("ufs_graph()", c("blocks", "block_scale"), columns = "chooses no columns",
  rows = "joins all rows", weights = "joins single rows, however many each stands for")
declare_door("ufs_reliability()", c("replicates", "sums"), columns = "judges all columns",
  rows = "uses all rows that `replicates` names")
declare_door("ufs_look()", "replicates", columns = "chooses no columns",
  rows = "looks at the numbers as they are, of all rows")
declare_door("ufs_compare()", "sums", columns = "compares no choices of columns here",
  rows = "compares no choices of rows here", evidence = single_rows("compares choices by"))
declare_door("ufs_stability()", "sums", columns = "chooses no columns here",
  rows = "chooses no rows here", evidence = single_rows("draws"))
declare_door("ufs_grid()", c("sums", "replicates"), columns = "chooses no columns here",
  rows = "chooses no rows here")
declare_door("ufs_tune()", c("columns", "sums"), rows = "judges choices of columns",
  evidence = single_rows("judges settings by"))
declare_door("ufs_select()", "sums", columns = "chooses no columns for this task",
  rows = "chooses no rows for this task", evidence = single_rows("judges columns by"))
declare_door("ufs_diversify()", c("columns", "sums"), rows = "chooses no rows")
declare_door("ufs_propagate()", character(), columns = "chooses no columns",
  rows = "labels all rows")
declare_door("ufs_explore()", character(), columns = "shows the fit, which was made without it",
  rows = "shows the fit, which was made without it")
