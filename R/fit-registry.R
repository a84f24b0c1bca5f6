# The registry; its name puts it before methods' files, whose last lines call register().

registered <- new.env(parent = emptyenv())

# Questions of a fit to the floors above, whose files put the answers here when they are loaded:
#   size(x, method, args)  list(k, reason): how many features `k = "auto"` means
asked_above <- new.env(parent = emptyenv())

# The last lines of a method's file: everything that grids, comparisons and ensembles must
# know about it. Nothing else in the package knows a method by name.
#
# method         its name for ufs(); `fit` its function, whose defaults say which arguments are a
#                choice of words or a switch
# solve          solve_<method>(data, control, its arguments ...), which does the work; see
# run_fit() prepare        function(x, args) of the data as the solver wants them
#                (R/data-prepare.R); NULL: it prepares them itself, where that depends on more
# control        its iteration settings, a list or function(args), for what ufs_control() leaves
# open arguments      the ranges of its numbers: list(lambda = a_number(0, open = TRUE)); those that
#                depend on the data are checked where these are known
# free           arguments whose default is a choice of words, but which may be something else
# paper          alist(lambda_z = 0.05, ...): settings of the published method that few users
#                change, with their defaults, which may depend on arguments. They are given in
#                ufs_control(paper = list()), and solve_<method>() gets them as arguments
# only           list(solver = "paper"): arguments for which it has one value and no formal; they
#                may be given in the dots
# group          "system" (of the five papers), "baseline" (shown in every comparison),
#                "features" or "samples" (what it is compared with): the order of ufs_methods()
# selects        "features", "samples" or "both"
# deterministic  no random numbers by default
# cost           leading term of its time
# advice         what to use it for: "recommended for ...", "situational", "historical (...)"
# per_k          the argument that is the number of features to choose, where selections are
#                not nested and every number needs a fit of its own
# picks          list(argument, unless): the argument that is the number of features to pick one by
#                one, where selections are nested and the fit picks some by itself; not nested if
#                one of the arguments in `unless` is given
# sized_by       the method whose decoys say how many features to keep, where its own say nothing:
#                it ranks to complement, looks at each column alone, solves for one number, or takes
#                long
# mixed_units    what the frameworks' adapters do by default about columns in different units:
#                "standardise", for a method that leaves them as they are and depends on them;
#                "leave" for all others
# shares         what all settings of a grid have in common beside the neighbour graph:
#                list(argument, unless, make); make(x, value) gives the value of `argument`
#                (NULL = none), where value(name) is an argument's value; not used if one of
#                the arguments in `unless` varies over the grid
# base_args      its arguments when it is a base selector of an ensemble
# paper_grid     the settings a paper searched: list(source, grids), where grids is a named list of
#                argument lists, the first the default; NULL where no source states one
# constraints         which constraints (R/data-constraints.R) its own solver sees to; the ranking
# sees to the
#                others, but for `weights`, which are refused. A form of the method that leaves some
#                of them to the ranking names these in `by_ranking` (fit_parts)
# refuses        why it refuses `weights`, or evidence about columns: c(weights = the words after
#                "takes no `weights`: ")
# moments        TRUE if it needs no more of x than what ufs_moments() holds, in one of its forms at
#                least; its solver takes `weights` then: rows with these moments take their place
# spends         TRUE if it reads the values of x in its prepare() alone, and there once: of a table
#                that was made for this fit they may be written over
# own            what ufs_register() was given, for methods of users
register <- function(method, fit, ...) {
  row <- list(fit = fit, solve = NULL, prepare = NULL, control = list(), arguments = list(),
    paper = NULL, only = list(), free = character(),
    group = "features", selects = "features", title = NULL,
    deterministic = TRUE, cost = NULL, reference = "", advice = "", per_k = NULL, picks = NULL,
    sized_by = NULL, mixed_units = "leave", shares = NULL, base_args = list(), paper_grid = NULL,
    constraints = character(), refuses = character(), moments = FALSE, spends = FALSE,
    own = NULL)
  given <- list(...)
  stopifnot(names(given) %in% names(row))
  row[names(given)] <- given
  stopifnot(row$group %in% registry_groups, is.character(row$title), is.character(row$cost),
    "weights" %in% row$constraints || is.character(row$refuses["weights"]))
  row$ranges <- row$arguments
  # Rules for the arguments of a method, read once from its formals: names, those without a
  # default, choices of words, switches, and the numbers `k` and `m` where they are left open.
  known <- c(formals(fit), row$paper)
  required <- required_arguments(fit)
  judged <- setdiff(names(known), c("center", "scale", "...", required, row$free))
  is_choice <- vapply(known[judged], function(default) {
    is.call(default) && length(default) > 2L &&
      all(vapply(as.list(default)[-1L], is.character, NA))
  }, NA)
  is_switch <- vapply(known[judged], function(default) is.logical(default) && !is.na(default), NA)
  rules <- list(arguments = c(arguments_of(fit), names(row$paper), names(row$only)),
    required = setdiff(required, c("x", "...")),
    choices = lapply(known[judged[is_choice]], eval, baseenv()), switches = judged[is_switch],
    open_numbers = Filter(function(name) name %in% judged && is.null(known[[name]]), c("k", "m")))
  row$published <- length(c(row$paper, row$only)) > 0L
  assign(method, c(row[names(row) != "arguments"], rules), envir = registered)
}

# The name of a task in the place of a method means that ufs_select() decides.
task_names <- c("compress", "classify", "cluster", "label")

registry_groups <- c("system", "baseline", "features", "samples")

# The grid that Li et al. searched for the methods they compared ALFS with.
alfs_rival_grid <- function(...) {
  list(source = "Li et al. (2019), section 4.1, for all sample methods it compares with",
    grids = list(ALFS = list(...)))
}

# All rows, by group and name.
registry <- function() {
  table <- mget(sort(ls(registered), method = "radix"), envir = registered)
  table[order(match(vapply(table, `[[`, "", "group"), registry_groups))]
}

# The argument that is this number; NULL where a method has none.
number_argument <- function(row) if (is.null(row$per_k)) row$picks$argument else row$per_k

# Title of a method in the registry; its bare name if it is not registered.
method_title <- function(method) c(registered[[method]]$title, method)[1L]

# Checks names of methods; returns their registry rows.
method_row <- function(method, arg = "method") {
  row <- if (is.character(method) && length(method) == 1L) registered[[method]]
  if (is.null(row)) {
    refuse(arg, "`", arg, "`: there is no method ", deparse_short(method), "; see ufs_methods().",
      if (is.numeric(method)) " (Write `method =` in full beside an argument `m`.)")
  }
  row
}

# "columns" or "rows", whichever a method chooses, as R/data-doors.R has it.
chosen_by <- function(row) c(features = "columns", samples = "rows")[
  if (row$selects == "both") c("features", "samples") else row$selects]
