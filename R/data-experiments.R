# Matrices out of SummarizedExperiment, SingleCellExperiment and Seurat objects.

# Samples are the columns of an assay.
experiment_assay <- function(x, assay) {
  check_installed("SummarizedExperiment", "for SummarizedExperiment input")
  names <- SummarizedExperiment::assayNames(x)
  count <- length(SummarizedExperiment::assays(x))
  if (count == 0L) ufs_abort("input", "`x` has no assay.", argument = "x")
  if (is.null(assay)) {
    chosen <- if ("logcounts" %in% names) "logcounts" else 1L
    if (count > 1L) {
      ufs_inform("assay", "The assay \"", if (is.character(chosen)) chosen else c(names, 1L)[[1L]],
        "\"", if (is.numeric(chosen)) " (the first)", " is used.")
    }
    if (is.numeric(chosen) && identical(names[1L], "counts")) {
      hint_counts("`x`", "scuttle::logNormCounts()")
    }
  } else {
    chosen <- if (!is.numeric(assay)) check_choice(assay, "assay", as.list(names)) else
      check_count(assay, "assay", 1L, count, "there are that many assays")
  }
  list(x = transposed(SummarizedExperiment::assay(x, chosen)),
    assay = if (is.character(chosen) || is.null(names)) chosen else names[[chosen]])
}

seurat_assay <- function(x, assay) {
  check_installed("SeuratObject", "for Seurat input")
  names <- SeuratObject::Assays(x)
  assay <- if (is.null(assay)) SeuratObject::DefaultAssay(x) else
    check_choice(assay, "assay", as.list(names))
  own <- x[[assay]]
  layers <- seurat_layers(own)
  what <- c("data", "counts")
  there <- vapply(what, function(name) any(grepl(paste0("^", name, "([.]|$)"), layers)), NA)
  if (!any(there)) {
    ufs_abort("input", "Assay \"", assay, "\" of `x` has neither normalised data nor counts.",
      argument = "x")
  }
  layer <- what[there][1L]
  if (!layer %in% layers) {
    ufs_abort("input", "The ", layer, " of assay \"", assay, "\" are split into layers (",
      some_columns(grep(paste0("^", layer, "[.]"), layers, value = TRUE)), "): join them first, ",
      "with SeuratObject::JoinLayers().", argument = "x")
  }
  values <- seurat_layer(own, layer)
  # Until data are normalised, assays of version 3 hold the counts there once more.
  raw <- layer == "counts" ||
    ("counts" %in% layers && identical(values, seurat_layer(own, "counts")))
  if (raw) hint_counts(paste0("Assay \"", assay, "\" of `x`"), "Seurat::NormalizeData()")
  list(x = transposed(values), assay = assay)
}

# `values`, rows being features, in the place of those that experiment_assay() or seurat_assay()
# reads.
put_assay <- function(x, values, assay) {
  if (!inherits(x, "Seurat")) {
    SummarizedExperiment::assay(x, assay, withDimnames = FALSE) <- values
    return(x)
  }
  layers <- seurat_layers(x[[assay]])
  layer <- intersect(c("data", "counts"), layers)[1L]
  set <- SeuratObject::SetAssayData
  if (utils::packageVersion("SeuratObject") >= "5.0.0") {
    set(x, layer = layer, new.data = values, assay = assay)
  } else set(x, slot = layer, new.data = values, assay = assay)
}

# The layers of an assay that hold something. Assays of version 5 have any number of them, those
# before have slots, which version 5 of SeuratObject calls layers.
seurat_layers <- function(assay) {
  if (inherits(assay, "StdAssay")) return(getExportedValue("SeuratObject", "Layers")(assay))
  Filter(function(name) all(dim(seurat_layer(assay, name)) > 0L), c("counts", "data"))
}

seurat_layer <- function(assay, name) {
  get <- SeuratObject::GetAssayData
  if (utils::packageVersion("SeuratObject") >= "5.0.0") get(assay, layer = name) else
    get(assay, slot = name)
}

# Said where counts are used because there are no log-normalised values.
hint_counts <- function(what, advice) {
  inform_once("counts", what, " has raw counts and no log-normalised values: the counts are used ",
    "as they are. ", advice, " normalises them. ")
}

# Containers in which features are rows.
has_feature_rows <- function(x) inherits(x, c("SummarizedExperiment", "Seurat"))

# The sparse matrix that a DelayedMatrix wraps and leaves as it is (but for its names): it is in
# memory already and needs no blocks. NULL for any other.
sparse_seed <- function(x) {
  check_installed("DelayedArray", "for DelayedMatrix input")
  if (!DelayedArray::isPristine(x, ignore.dimnames = TRUE)) return(NULL)
  seed <- DelayedArray::seed(x)
  if (inherits(seed, "sparseMatrix")) `dimnames<-`(seed, dimnames(x))
}

transposed <- function(x) {
  if (inherits(x, "DelayedMatrix") && !is.null(sparse_seed(x))) x <- sparse_seed(x)
  if (inherits(x, "Matrix")) Matrix::t(x) else if (inherits(x, "DelayedMatrix")) {
    BiocGenerics::t(x)
  } else t(x)
}
