# Meaning of names: those of features and samples may occur more than once.

# Names that are empty or not unique.
shared_names <- function(names) {
  empty <- is.na(names) | names == ""
  empty | names %in% names[duplicated(names)]
}

# A fit has made the names of features unique: the places of those that were not, with their names
# in the data.
repeated_names <- function(names) {
  at <- which(shared_names(names))
  stats::setNames(at, names[at])
}

# For each of `wanted` its place among `names`, NA where it is not there. `shared`: the names of the
# other side that stand for several things. Such a name, here or there, points to none of them: that
# is an error which names it, and no guess.
places_by_name <- function(wanted, names, shared, arg, what) {
  at <- match(wanted, names)
  unclear <- (!is.na(at) & shared_names(names)[at]) | wanted %in% shared
  if (any(unclear)) refuse_shared(wanted[unclear], arg, what)
  at
}

refuse_shared <- function(names, arg, what) {
  names <- unique(names)
  names[is.na(names)] <- ""
  refuse(arg, "Several ", what, "s have the name ", some_names(names), ", so those of `", arg,
    "` and of the fit cannot be matched by name. Give them unique names before the fit, or give ",
    "the data of the fit with all ", what, "s in their order, which are matched by position.")
}
