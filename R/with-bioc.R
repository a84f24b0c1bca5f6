# Back to where the data came from, and the samples-in-columns containers.

#' Write a fit into the object its data came from
#'
#' Puts scores, ranks and the chosen features into the row data of a SummarizedExperiment or
#' SingleCellExperiment, or makes the chosen features the variable features of a Seurat object,
#' so that the next step of a Bioconductor or Seurat pipeline finds them.
#'
#' @param object A SummarizedExperiment, SingleCellExperiment or Seurat object, a named list of
#'   them, or a MultiAssayExperiment.
#' @param fit A fit of this package on that object (or on a part of it): features and samples are
#'   matched by position if they are those of the fit in their order or have no names, else by name.
#'   A name that several of them have is then an error. In a Seurat object the assay of the fit is
#'   written to, whichever is the default one.
#' @param k How many features are marked as selected. The default is the number that the method was
#'   asked for.
#' @param m How many samples are marked as selected, if the fit selects samples only.
#' @return `object` with columns `ufs_score`, `ufs_rank` and `ufs_selected` in `rowData()`, or in
#'   `colData()` if the fit selects samples only. Of a fit that selects both, the features are
#'   written. In a Seurat object the `VariableFeatures()` are set. Features that the fit did not see
#'   have `NA` and are not selected.
#' @section Errors:
#'   `ufs_error_argument` if the object is of another class or does not fit.
#' @examples
#' counts <- matrix(rpois(200, 3), 10,
#'   dimnames = list(paste0("gene", 1:10), paste0("cell", 1:20)))
#' if (requireNamespace("SeuratObject", quietly = TRUE)) {
#'   object <- SeuratObject::CreateSeuratObject(Matrix::Matrix(counts, sparse = TRUE))
#'   object <- ufs_annotate(object, ufs_variance(t(counts)), k = 3)
#'   SeuratObject::VariableFeatures(object)
#' }
#'
#' # Loading Bioconductor takes some seconds.
#' if (interactive() && requireNamespace("SummarizedExperiment", quietly = TRUE)) {
#'   se <- SummarizedExperiment::SummarizedExperiment(list(counts = counts))
#'   se <- ufs_annotate(se, ufs_variance(se), k = 3)
#'   SummarizedExperiment::rowData(se)
#' }
#' @export
ufs_annotate <- function(object, fit, k = NULL, m = NULL) {
  check_given(object, fit)
  check_fit(fit)
  parts <- samples_first(object)
  tables <- is_tables(parts)
  known <- if (tables) vapply(parts, has_feature_rows, NA) else has_feature_rows(parts)
  if (!any(known)) {
    refuse("object", "`object` must be a SummarizedExperiment, SingleCellExperiment or Seurat ",
      "object, a list of them or a MultiAssayExperiment, not ", kind_of(object), ".")
  }
  by_feature <- !is.null(fit$feature_ranking)
  what <- if (by_feature) "feature" else "sample"
  name <- if (by_feature) "k" else "m"
  if (!is.null(if (by_feature) m else k)) {
    refuse(setdiff(c("k", "m"), name), "ufs_", fit$method, "() ranks ", what, "s: give `", name,
      "`.")
  }
  chosen <- check_count(wanted_number(fit, if (by_feature) k else m, name), name, 1L,
    length(fit[[paste0(what, "_ranking")]]), "there are that many")
  if (!tables) return(annotate_one(object, fit, chosen, what))
  parts[known] <- lapply(names(parts)[known], function(table) {
    annotate_one(parts[[table]], fit, chosen, what, table)
  })
  if (!isS4(object)) return(parts)
  # Written where they were, under the samples' own names.
  for (table in names(parts)[known]) {
    colnames(parts[[table]]) <- colnames(object@ExperimentList@listData[[table]])
    object@ExperimentList@listData[[table]] <- parts[[table]]
  }
  object
}

# `table`: its name in a list of tables.
annotate_one <- function(object, fit, chosen, what, table = NULL) {
  by_feature <- what == "feature"
  score <- unname(fit[[paste0(what, "_scores")]])
  names <- if (!by_feature) fit$names$samples else if (fit$names$named) fit$names$features
  assay <- fit_assay(if (is.null(table)) fit$input else fit$input$tables$read[[table]], object,
    "object")
  features <- feature_names_of(object, assay)
  own <- if (!by_feature) colnames(object) else if (is.null(table)) features$names else
    table_columns_of(table, list(features = features$names, p = features$size))
  size <- if (by_feature) features$size else ncol(object)
  at <- if (is.null(names) || is.null(own)) {
    if (length(score) != size) {
      refuse("object", "`object` has ", size, " ", what, "s, the fit ", length(score),
        ", and there are no names to match.")
    }
    seq_len(size)
  } else if (!by_feature) {
    places_of_samples(fit, own, "object")
  } else if (identical(feature_names(own, length(own), warn = FALSE), names)) {
    seq_along(names)
  } else places_by_name(own, names, names(fit$names$repeated), "object", "feature")
  if (all(is.na(at))) refuse("object", "`object` and `fit` have no ", what, " in common.")
  rank <- match(at, unname(fit[[paste0(what, "_ranking")]]))
  columns <- list(ufs_score = score[at], ufs_rank = rank,
    ufs_selected = !is.na(rank) & rank <= chosen)
  if (inherits(object, "Seurat")) {
    check_installed("SeuratObject", "to annotate a Seurat object")
    if (!by_feature) {
      refuse("fit", "For Seurat objects only features can be marked, and the fit selects samples.")
    }
    best <- order(columns$ufs_rank)[seq_len(sum(columns$ufs_selected))]
    SeuratObject::VariableFeatures(object, assay = assay) <- features$names[best]
    return(object)
  }
  check_installed("SummarizedExperiment", "to annotate a SummarizedExperiment")
  frame <- described(object, if (by_feature) "columns" else "rows")
  for (name in names(columns)) frame[[name]] <- columns[[name]]
  if (by_feature) SummarizedExperiment::rowData(object) <- frame else
    SummarizedExperiment::colData(object) <- frame
  object
}
