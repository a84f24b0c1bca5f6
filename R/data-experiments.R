# Matrices out of SummarizedExperiment, SingleCellExperiment and Seurat objects.

# Samples are the columns of an assay: list(x, assay, raw: whether these are counts because there
# is nothing else).
experiment_assay <- function(x, assay) {
  check_installed("SummarizedExperiment", "for SummarizedExperiment input")
  names <- SummarizedExperiment::assayNames(x)
  count <- length(SummarizedExperiment::assays(x))
  if (count == 0L) refuse_data("x", "`x` has no assay.")
  if (is.null(assay)) {
    chosen <- if ("logcounts" %in% names) "logcounts" else 1L
    if (count > 1L) {
      ufs_inform("assay", "The assay \"", if (is.character(chosen)) chosen else c(names, 1L)[[1L]],
        "\"", if (is.numeric(chosen)) " (the first)", " is used.")
    }
  } else {
    chosen <- if (!is.numeric(assay)) check_choice(assay, "assay", as.list(names)) else
      check_count(assay, "assay", 1L, count, "there are that many assays")
  }
  list(x = transposed(SummarizedExperiment::assay(x, chosen)),
    raw = is.null(assay) && is.numeric(chosen) && identical(names[1L], "counts"),
    assay = if (is.character(chosen) || is.null(names)) chosen else names[[chosen]])
}

# `layer`: "counts" where these are wanted, whatever else there is.
seurat_assay <- function(x, assay, layer = NULL) {
  check_installed("SeuratObject", "for Seurat input")
  given <- !is.null(assay)
  assay <- if (is.null(assay)) SeuratObject::DefaultAssay(x) else
    check_choice(assay, "assay", as.list(SeuratObject::Assays(x)))
  own <- x[[assay]]
  layers <- seurat_layers(own)
  what <- if (is.null(layer)) c("data", "counts") else layer
  there <- vapply(what, function(name) any(grepl(paste0("^", name, "([.]|$)"), layers)), NA)
  if (!any(there)) {
    refuse_data("x", "Assay \"", assay, "\" of `x` has ", if (is.null(layer))
      "neither normalised data nor counts." else paste0("no ", layer, "."))
  }
  layer <- what[there][1L]
  if (!layer %in% layers) {
    refuse_data("x", "The ", layer, " of assay \"", assay, "\" are split into layers (",
      some_columns(grep(paste0("^", layer, "[.]"), layers, value = TRUE)), "): join them first, ",
      "with SeuratObject::JoinLayers().")
  }
  values <- seurat_layer(own, layer)
  # Until data are normalised, assays of version 3 hold the counts there once more.
  raw <- layer == "counts" ||
    ("counts" %in% layers && identical(values, seurat_layer(own, "counts")))
  list(x = transposed(values), assay = assay, layer = if (raw) "counts", raw = raw && !given)
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

# `how` of transform_data() with what is done to counts of an object where nobody said it: counts
# without log-normalised values beside them become log counts, where that can be. data$input$raw:
# TRUE for the counts of an object, the names of such objects in a list of tables.
with_default <- function(how, data) {
  raw <- data$input$raw
  if (is.null(raw)) return(how)
  of <- as.vector(data$input$tables$of)
  negative <- if (data$kind != "source") negative_columns(data)
  logged <- if (is.null(of)) data$kind != "source" && !length(negative) else
    setdiff(intersect(raw, of), of[negative])
  some <- !isFALSE(logged) && length(logged) > 0L
  what <- if (is.null(of)) "`x`" else
    paste0("`", vapply(if (some) logged else raw, element_words, "", arg = "x"), "`")
  inform_once("counts", paste(what, collapse = ", "), if (length(what) > 1L) " have" else " has",
    " raw counts and no log-normalised values: ", if (some)
    "log(1 + count / size of the sample) is used (`counts` of ufs_data()). " else
    "they are used as they are. ", "scuttle::logNormCounts() or Seurat::NormalizeData() ",
    "normalises them, counts = \"none\" takes them as they are. ")
  if (!some) return(how)
  how <- replace(c(how, default = TRUE), "counts", "log")
  if (!is.null(of)) how$of <- factor(of, logged)
  how
}

# The values of a column of colData(), rowData() or meta.data that a constraint over the samples or
# features of x names; anything else as it is.
named_column <- function(value, x, arg, about = "rows", assay = NULL) {
  x <- samples_first(x)
  objects <- if (is_tables(x)) x else list(x)
  known <- vapply(objects, has_feature_rows, NA)
  side <- if (about == "rows") ncol else nrow
  if (!is.character(value) || length(value) != 1L || !any(known) ||
    !is_tables(x) && side(x) == 1L) return(value)
  frames <- lapply(objects[known], described, about, assay)
  # A MultiAssayExperiment describes its samples itself.
  if (about == "rows" && !is.null(attr(x, "samples"))) frames <- c(list(attr(x, "samples")), frames)
  there <- vapply(frames, function(frame) value %in% names(frame), NA)
  if (!any(there)) {
    names <- unique(unlist(lapply(frames, names)))
    of <- if (inherits(x, "Seurat")) "meta.data" else if (about == "rows") "colData()" else
      "rowData()"
    refuse(arg, "`", arg, "`: there is no column '", value, "' in ", of, " of the object",
      if (length(names)) paste0("; there are ", some_names(names)), ".")
  }
  if (!is_tables(x)) return(as.vector(frames[[1L]][[value]]))
  if (about == "columns") {
    return(unlist(lapply(names(x), function(name) {
      own <- if (known[[name]]) frames[[name]][[value]]
      if (!is.null(own)) return(as.vector(own))
      rep(NA, if (known[[name]]) nrow(x[[name]]) else ncol(x[[name]]))
    })))
  }
  samples <- Reduce(intersect, lapply(x, function(table) {
    if (has_feature_rows(table)) colnames(table) else rownames(table)
  }))
  own <- unique(lapply(frames[there], function(frame) {
    out <- as.vector(frame[[value]])
    if (is.null(samples)) out else out[match(samples, rownames(frame))]
  }))
  if (length(own) > 1L) refuse(arg, "`", arg, "`: column '", value, "' differs between the tables.")
  own[[1L]]
}

# The data frame in which an object describes its samples, or its features.
described <- function(x, about, assay = NULL) {
  if (!inherits(x, "Seurat")) {
    return(if (about == "rows") SummarizedExperiment::colData(x) else
      SummarizedExperiment::rowData(x))
  }
  if (about == "rows") x[[]] else x[[if (is.null(assay)) SeuratObject::DefaultAssay(x) else
    assay]][[]]
}

# The experiments of a MultiAssayExperiment as a list of tables whose samples have the names of the
# map; its own colData() goes along. Slots are read, so its package is not needed.
mapped_tables <- function(x) {
  map <- attr(attr(x, "sampleMap"), "listData")
  tables <- attr(attr(x, "ExperimentList"), "listData")
  out <- Map(function(table, name) {
    if (!has_feature_rows(table)) table <- transposed(table)
    own <- if (has_feature_rows(table)) colnames(table) else rownames(table)
    of <- as.character(map$assay) == name
    sample <- as.character(map$primary)[of][match(own, map$colname[of])]
    if (anyDuplicated(sample)) {
      refuse_data("x", "Experiment '", name, "' has several columns of sample ",
        some_names(unique(sample[duplicated(sample)])), ": join them, with ",
        "MultiAssayExperiment::mergeReplicates().")
    }
    if (has_feature_rows(table)) colnames(table) <- sample else rownames(table) <- sample
    table
  }, tables, names(tables))
  structure(out, samples = attr(x, "colData"))
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
  if (inherits(x, "Matrix")) Matrix::t(x) else
    if (inherits(x, "DelayedMatrix")) DelayedArray::t(x) else t(x)
}

# The table of a phyloseq object as a matrix with samples in rows: it says itself where its taxa
# are. Everything else as it is.
samples_first <- function(x) {
  if (inherits(x, "MultiAssayExperiment")) return(mapped_tables(x))
  if (inherits(x, "phyloseq")) x <- attr(x, "otu_table")
  if (!inherits(x, "otu_table")) return(x)
  if (isTRUE(attr(x, "taxa_are_rows"))) t(as_number(x)) else as_number(x)
}
