# Several tables of the same samples: list(genes = a, proteins = b) becomes one table whose columns
# are named table:column, and which remembers the table of each column. After columns were centred
# and scaled, all tables have the same total variance, as in multiple factor analysis.
#
# data$input$tables   list(of, inner, read, share, root): the factor of the tables over the columns;
#                     TRUE where only samples of all tables were taken; of
#                     experiments list(assay, layer, origin), from where they were read; for each
#                     column the part that it had, when the data were read, of the variance of its
#                     table, standardised (share$scaled) and as it is (share$plain); the roots of
#                     the total variances of the tables then, under the same names. Subsets of rows
#                     and columns hold on to these, and so to the weights.

is_tables <- function(x) is.list(x) && !is.object(x) && any(vapply(x, is_table, NA))

is_table <- function(x) length(dim(x)) == 2L

# The tables as one. `read(table, arg, name)`: the ufs_data of one of them.
join_tables <- function(x, arg, read, inner = FALSE) {
  names <- names_of(x)
  if (!all(nzchar(names)) || anyDuplicated(names)) {
    refuse_data(arg, "`", arg, "` is a list of tables: each needs a name of its own, as in ",
      "list(genes = a, proteins = b).")
  }
  other <- names[!vapply(x, is_table, NA)]
  held <- names[vapply(x, inherits, NA, c("ufs_data", "ufs_sketch", "ufs_moments"))]
  if (length(other)) {
    refuse_data(arg, "`", arg, "` is a list of tables, but ", some_names(other),
      if (length(other) == 1L) " is no table." else " are no tables.",
      if ("cov" %in% names) " A covariance matrix is given by ufs_moments(cov = ).")
  }
  if (length(held)) {
    refuse_data(arg, "`", arg, "`: give ", some_names(held), " as a table, not as ",
      kind_of(x[[held[1L]]]), "; arguments of ufs_data() are for the whole list.")
  }
  parts <- Map(function(table, name) read(table, element_words(arg, name), name), x, names(x))
  empty <- names(parts)[vapply(parts, `[[`, 0L, "p") == 0L]
  if (length(empty)) refuse_data(arg, "`", element_words(arg, empty[1L]), "` has no columns.")
  disk <- names(parts)[vapply(parts, function(part) part$kind == "source", NA)]
  if (length(disk)) {
    refuse_data(arg, "`", arg, "`: ", some_names(disk), if (length(disk) == 1L) " is" else " are",
      " on disk, and several tables are joined in memory: give as.matrix() of it, or some of its ",
      "columns.")
  }
  rows <- match_rows(parts, arg, inner)
  features <- unlist(Map(table_columns_of, names(parts), parts), use.names = FALSE)
  samples <- parts[[1L]]$samples
  if (!is.null(rows[[1L]])) samples <- samples[rows[[1L]]]
  sparse <- vapply(parts, function(part) part$kind == "sparse", NA)
  if (any(sparse)) loadNamespace("Matrix")
  values <- Map(function(part, at, keep) {
    own <- if (any(sparse) && !keep) methods::as(part$x, "CsparseMatrix") else part$x
    if (is.null(at)) own else own[at, , drop = FALSE]
  }, parts, rows, sparse)
  joined <- do.call(cbind, unname(lapply(values, `dimnames<-`, list(NULL, NULL))))
  dimnames(joined) <- list(samples, features)
  if (any(sparse)) joined <- methods::as(joined, "CsparseMatrix")
  out <- new_data(if (any(sparse)) "sparse" else "dense", joined, list(samples, features))
  of <- factor(rep(names(parts), vapply(parts, `[[`, 0L, "p")), names(parts))
  out$input$tables <- c(list(of = of), if (inner) list(inner = TRUE))
  out$input$tables$read <- Filter(function(own) !is.null(own$assay), lapply(parts, function(part) {
    part$input[names(part$input) %in% c("assay", "layer", "origin")]
  }))
  raw <- names(parts)[vapply(parts, function(part) isTRUE(part$input$raw), NA)]
  if (length(raw)) out$input$raw <- raw
  coding <- lapply(parts, function(part) {
    if (is.null(part$input$coding)) vector("list", part$p) else part$input$coding
  })
  coding <- stats::setNames(unlist(unname(coding), FALSE), features)
  if (any(lengths(coding))) out$input$coding <- coding
  out
}

element_words <- function(arg, name) {
  if (identical(make.names(name), name)) paste0(arg, "$", name) else
    paste0(arg, "[[\"", name, "\"]]")
}

# A column without a name has its number in its table.
table_columns_of <- function(name, part) {
  own <- if (is.null(part$features)) rep("", part$p) else part$features
  empty <- is.na(own) | own == ""
  own[empty] <- paste0("V", which(empty))
  paste0(rep(name, part$p), rep(":", part$p), own)
}

# For each table where the rows of the first one are in it, NULL for those of the same order.
match_rows <- function(parts, arg, inner) {
  first <- parts[[1L]]
  named <- vapply(parts, function(part) !is.null(part$samples), NA)
  if (!any(named)) {
    size <- vapply(parts, `[[`, 0L, "n")
    if (any(size != size[1L])) {
      refuse_data(arg, "The tables of `", arg, "` have ", paste(paste0(size, " (", names(parts),
        ")"), collapse = ", "), " rows, and no names by which to match these.")
    }
    return(lapply(parts, function(part) NULL))
  }
  if (!all(named)) {
    refuse_data(arg, "The tables of `", arg, "` are matched by row names, and ",
      some_names(names(parts)[!named]), " has none: give each table row names, or none of them.")
  }
  for (name in names(parts)) {
    twice <- unique(parts[[name]]$samples[duplicated(parts[[name]]$samples)])
    if (length(twice)) {
      refuse_data(arg, "`", element_words(arg, name), "` has row names more than once: ",
        some_names(twice), ".")
    }
  }
  all <- unique(unlist(lapply(parts, `[[`, "samples"), use.names = FALSE))
  lost <- lapply(parts, function(part) setdiff(all, part$samples))
  short <- names(parts)[lengths(lost) > 0L]
  if (inner && length(short)) {
    shared <- setdiff(first$samples, unlist(lost))
    if (!length(shared)) {
      refuse_data(arg, "The tables of `", arg, "` share no sample: compare their row names.")
    }
    ufs_inform("join", length(shared), " of ", count_words(length(all), "sample"),
      " are in every table and taken.")
    return(lapply(parts, function(part) match(shared, part$samples)))
  }
  if (length(short)) {
    refuse_data(arg, "The tables of `", arg, "` must have the same samples: ",
      paste0("'", short, "' lacks ", vapply(lost[short], some_names, "", most = 20L),
        collapse = "; "), ". join = \"inner\" of ufs_data() keeps the rows that all have.")
  }
  lapply(parts, function(part) {
    if (!identical(part$samples, first$samples)) match(first$samples, part$samples)
  })
}

# The data with what their tables weigh, by all rows and columns that were read.
weigh_tables <- function(data) {
  of <- data$input$tables$of
  if (is.null(of)) return(data)
  load_reader(data)
  coded <- with_levels(data)
  found <- judge_moments(.Call(C_moments, if (data$kind == "dense") coded$x else
    sparse_operator(coded$x)), FALSE)
  spread <- ifelse(found$constant | !is.finite(found$sd), 0, found$sd)
  weighed <- lapply(list(scaled = unit_spread(spread, coded), plain = spread), function(spread) {
    # The columns of a factor are one.
    if (!is.null(coded$variable)) spread <- sqrt(drop(rowsum(spread^2, coded$variable)))
    root <- table_roots(spread, of)
    part <- (spread / root[of])^2
    list(share = unname(ifelse(is.finite(part), part, 0)), root = root)
  })
  data$input$tables$share <- lapply(weighed, `[[`, "share")
  data$input$tables$root <- lapply(weighed, `[[`, "root")
  data
}
