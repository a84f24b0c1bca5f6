# predict() and coef() of a fit, and its features in other data.

#' Chosen columns of new data
#'
#' Keeps the best `k` features of `newdata`: by position if its features are those of the fit in
#' their order or have no names, and by name otherwise. A chosen name that several features have is
#' then an error. Use it to reduce the data that the method saw, or
#' new samples of the same kind, to the chosen columns.
#'
#' @param object A fit that selects features.
#' @param newdata A matrix, data frame or whatever [ufs_data()] reads, with the chosen columns.
#' @param k How many features to keep. The default `NULL` takes the number given to the method.
#' @param ... Must be empty: an unknown argument is an error.
#' @return `newdata[, chosen]`, of the class of `newdata`, best feature first; values are not
#'   changed, factors stay factors, and
#'   missing values are filled as those of the fit were, if `na` of [ufs_data()] said so (data on
#'   disk with missing values then come into memory). In a SummarizedExperiment or Seurat object
#'   features are rows, and these are kept; the
#'   assay is that of the fit, which becomes the default one of a Seurat object. A
#'   big.matrix gives a matrix in memory, and so does a phyloseq table, with samples in rows.
#' @examples
#' fit <- ufs_variance(iris[1:100, 1:4])
#' head(predict(fit, iris[101:150, ], k = 2))
#' @export
predict.ufs <- function(object, newdata, k = NULL, ...) {
  check_dots_empty(...)
  check_fit(object)
  if (!missing(newdata)) newdata <- samples_first(newdata)
  check_newdata(newdata)
  # A ufs_data() that is given back holds the constraints of its rows.
  check_door(newdata, "predict()", if (is.null(object$input$transform)) "rows", object)
  newdata <- new_table(object, newdata)
  chosen <- selected_features(object, k, as = "index")
  # An object whose counts were logged because nothing else was there keeps its counts.
  if (!is.null(object$input$transform) &&
      !(isTRUE(object$input$transform$default) && has_feature_rows(newdata))) {
    data <- transform_new(object, newdata)
    at <- match_columns(object, data, chosen)
    if (data$kind != "source") return(data$x[, at, drop = FALSE])
    return(`dimnames<-`(data_columns(data, at), list(data$samples, data$features[at])))
  }
  if (has_feature_rows(newdata)) {
    assay <- fit_assay(object$input, newdata, "newdata")
    rows <- match_columns(object, newdata, chosen)
    return(fill_assay(object, feature_rows(newdata, rows, assay), newdata, rows, chosen))
  }
  if (inherits(newdata, "ufs_sketch")) newdata <- newdata$data
  out <- newdata[, match_columns(object, newdata, chosen), drop = FALSE]
  out <- fill_new(object, out, newdata, chosen)
  # A data.table that shares its columns with newdata would change them there, too.
  if (inherits(out, "data.table")) data.table::copy(out) else out
}

check_newdata <- function(newdata) {
  if (missing(newdata) || length(dim(newdata)) != 2L && !is_tables(newdata)) {
    refuse("newdata", "`newdata` must be a matrix or data frame, or a list of tables.")
  }
}

# A table of columns that are no matrices.
new_table <- function(object, newdata, arg = "newdata") {
  if (is_tables(newdata)) {
    # Several tables as one, with the numbers of the levels that those of the fit have.
    input <- object$input
    return(join_tables(newdata, arg, function(table, arg, name) {
      if (is.data.frame(table)) {
        table <- flat_table(table)
        own <- match(paste0(name, ":", names(table)), names(input$coding))
        table <- coded_table(table, input$coding[own], arg)
      }
      read_data(table, arg, reading_of(input$tables$read[[name]], table, arg))
    }, inner = isTRUE(input$tables$inner))$x)
  }
  newdata <- samples_first(newdata)
  if (is.data.frame(newdata)) flat_table(newdata) else newdata
}

# New rows as the rows of the fit were transformed, with all features of the fit. What comes from
# ufs_data() with a transformation of its own is left as it is.
transform_new <- function(object, newdata, arg = "newdata") {
  how <- object$input$transform
  newdata <- new_table(object, newdata, arg)
  data <- open_data(newdata, arg, reading = reading_of(object$input, newdata, arg))
  if (!is.null(data$input$transform)) return(data)
  if (how$p != object$p) {
    refuse(arg, "The features of this fit were chosen after ufs_data() had transformed the rows: ",
      "transform `", arg, "` by ufs_data(), too.")
  }
  data <- subset_data(data, features = match_columns(object, data, arg = arg))
  data <- fill_new(object, data, data, seq_len(object$p), arg)
  load_reader(data)
  if (how$counts != "none") check_counted(data, arg, how$of)
  apply_transform(data, how, arg)
}

# The features `index` of the fit in newdata, `out`, filled as its own rows were by `na` of
# ufs_data(); of the class that `out` has.
fill_new <- function(object, out, newdata, index, arg = "newdata") {
  fill <- object$input$new_rows
  if (is.null(fill)) return(out)
  # Rows of newdata with all features of the fit, NA where they are not there.
  whole <- function(rows) {
    names <- feature_names_of(newdata)
    clear <- which(!shared_names(names$names))
    same <- !object$names$named || is.null(names$names) || (names$size == object$p &&
      identical(feature_names(names$names, names$size, FALSE), object$names$features))
    at <- if (same) seq_len(object$p) else
      clear[match(object$names$features, names$names[clear])]
    at[!same & seq_along(at) %in% object$names$repeated] <- NA
    full <- matrix(NA_real_, length(rows), object$p)
    there <- which(!is.na(at))
    own <- newdata[rows, at[there], drop = FALSE]
    if (is.data.frame(own)) own <- coded_table(own, object$input$coding[there], arg)
    full[, there] <- as_plain_matrix(own, arg)
    full
  }
  if (inherits(out, "DelayedMatrix") || inherits(out, "ufs_data") && out$kind == "source") {
    # Missing values bring data on disk into memory.
    values <- dense_data(open_data(out, arg), arg, quiet = TRUE)
    if (!anyNA(values)) return(out)
    filled <- `dimnames<-`(fill_columns(values, fill, index, whole, arg), dimnames(out))
    if (inherits(out, "DelayedMatrix")) return(DelayedArray::DelayedArray(filled))
    input <- out$input
    out <- open_data(filled, arg)
    out$input <- input
  } else if (inherits(out, "ufs_data")) {
    out$x <- fill_new(object, out$x, newdata, index, arg)
  } else if (is.data.frame(out)) {
    coding <- object$input$coding[index]
    plain <- as_plain_matrix(coded_table(out, coding, arg), arg)
    filled <- fill_columns(plain, fill, index, whole, arg)
    for (j in which(colSums(is.na(plain)) > 0)) {
      value <- as.vector(filled[, j])
      out[[j]] <- if (!is.factor(out[[j]])) in_class_of(value, out[[j]]) else
        factor(coding[[j]]$levels[value], levels(out[[j]]), ordered = is.ordered(out[[j]]))
    }
  } else if (is.matrix(out)) {
    out <- in_class_of(fill_columns(as_number(out), fill, index, whole, arg), out)
  } else if (inherits(out, "sparseMatrix")) {
    if (!inherits(out, "dgCMatrix")) {
      out <- methods::as(methods::as(out, "CsparseMatrix"), "dMatrix")
    }
    if (fill$na == "median") return(put_values(out, fill$value[index]))
    gone <- which(is.na(out@x))
    filled <- if (length(gone)) fill_columns(as.matrix(out), fill, index, whole, arg)
    out@x[gone] <- filled[cbind(out@i[gone] + 1L, stored_column(out)[gone])]
  }
  out
}

# The same for `out`, the given rows of an experiment or a Seurat object, in the assay of the fit.
fill_assay <- function(object, out, newdata, rows, index) {
  if (is.null(object$input$new_rows)) return(out)
  data <- open_data(newdata, "newdata", reading = reading_of(object$input, newdata, "newdata"))
  values <- if (data$kind == "source") data_columns(data, rows) else data$x[, rows, drop = FALSE]
  if (!anyNA(values)) return(out)
  filled <- transposed(fill_new(object, values, data, index))
  dimnames(filled) <- list(rownames(out), colnames(out))
  # `values`, rows being features, in the place of those that experiment_assay() or seurat_assay()
  # reads.
  x <- out
  layer <- data$input$layer
  if (!inherits(x, "Seurat")) {
    SummarizedExperiment::assay(x, data$input$assay, withDimnames = FALSE) <- filled
    return(x)
  }
  if (is.null(layer)) layer <- intersect(c("data", "counts"),
    seurat_layers(x[[data$input$assay]]))[1L]
  set <- SeuratObject::SetAssayData
  if (utils::packageVersion("SeuratObject") >= "5.0.0") {
    set(x, layer = layer, new.data = filled, assay = data$input$assay)
  } else set(x, slot = layer, new.data = filled, assay = data$input$assay)
}

#' @export
coef.ufs <- function(object, ...) {
  check_dots_empty(...)
  check_fit(object)
  if (is.null(object$coef_name)) {
    refuse("object", "ufs_", object$method, "() has no coefficient matrix.")
  }
  value <- object$solution[[object$coef_name]]
  # Features in rows, whatever the orientation in which the method writes its matrix.
  features <- object$names$features
  in_columns <- !identical(rownames(value), features) && identical(colnames(value), features)
  if (in_columns) t(value) else value
}

# ---- columns of new data -------------------------------------------------------------------------

# The given features of the fit in newdata, as a dense matrix: of data of any kind only these. Of a
# factor it has a column for each level that the fit knew.
new_columns <- function(object, newdata, index = seq_len(object$p), arg = "newdata") {
  z <- new_numbers(object, newdata, index, arg)
  coded <- object$coded[order(match(object$coded$variable, index)), ]
  coded <- coded[coded$variable %in% index, ]
  if (is.null(object$coded)) return(z)
  z <- z[, match(coded$variable, index), drop = FALSE]
  for (j in which(!is.na(coded$level))) z[, j] <- as.double(z[, j] == coded$level[j])
  `colnames<-`(z, coded$name)
}

new_numbers <- function(object, newdata, index, arg) {
  if (!is.null(object$input$transform)) newdata <- transform_new(object, newdata, arg)
  newdata <- new_table(object, newdata, arg)
  coding <- object$input$coding[index]
  # A table may have columns beside those of the fit that are not numeric.
  if (is.data.frame(newdata)) {
    at <- match_columns(object, newdata, index, arg)
    own <- coded_table(newdata[, at, drop = FALSE], coding, arg)
    return(fill_new(object, as_plain_matrix(own, arg), newdata, index, arg))
  }
  data <- open_data(newdata, arg, reading = reading_of(object$input, newdata, arg))
  at <- match_columns(object, data, index, arg)
  if (data$kind != "dense") {
    check_bytes(8 * as.double(data$n) * length(at), paste0("`", arg, "` as a dense matrix"),
      dense_advice)
  }
  out <- data_columns(data, at)
  dimnames(out) <- list(data$samples, data$features[at])
  # The same levels may have other numbers there.
  for (j in which(lengths(coding) > 0L & lengths(data$input$coding[at]) > 0L)) {
    out[, j] <- match(data$input$coding[[at[j]]]$levels, coding[[j]]$levels)[out[, j]]
  }
  # Counts were filled before they were transformed.
  if (is.null(object$input$transform)) fill_new(object, out, data, index, arg) else out
}

# Some columns of newdata, which must be finite, ready for a product.
scaled_columns <- function(fit, newdata, index = seq_len(fit$p)) {
  if (missing(newdata)) refuse("newdata", "`newdata` is missing.")
  check_door(newdata, "predict()", fit = fit)
  z <- new_columns(fit, newdata, index)
  bad <- which(colSums(!is.finite(z)) > 0)
  if (length(bad)) {
    refuse_data("newdata", "`newdata` has missing or infinite values (NA, NaN, Inf) in ",
      some_columns(if (is.null(fit$coded)) fit$names$features[index[bad]] else colnames(z)[bad]),
      ".")
  }
  scaled_as(fit, z, index)
}

# newdata's columns centred and scaled as the fit's data were, and back.
scaled_as <- function(fit, z, index = seq_len(fit$p)) {
  if (anyNA(fit$center)) {
    refuse("newdata", "The means of the columns are unknown: the fit is of a covariance matrix ",
      "(`mean` of ufs_moments()).")
  }
  if (!is.null(fit$coded)) index <- colnames(z)
  if (!isFALSE(fit$center)) z <- sweep(z, 2L, fit$center[index])
  if (!isFALSE(fit$scale)) z <- sweep(z, 2L, fit$scale[index], "/")
  z
}

unscaled <- function(fit, z) {
  if (!isFALSE(fit$scale)) z <- sweep(z, 2L, fit$scale, "*")
  if (!isFALSE(fit$center)) z <- sweep(z, 2L, fit$center, "+")
  z
}

# Places of the given features of the fit in newdata: by position where these are all of the fit's
# in their order, else by name.
match_columns <- function(object, newdata, index = seq_len(object$p), arg = "newdata") {
  names <- feature_names_of(newdata, fit_assay(object$input, newdata, arg))
  size <- names$size
  names <- names$names
  if (!object$names$named || is.null(names)) {
    if (size != object$p) {
      refuse_data("newdata", "`newdata` has ", size, " features without names to match; ",
        "the fit has ", object$p, ".")
    }
    return(index)
  }
  known <- object$names$features
  # The same repair of names that are empty or not unique.
  if (size == object$p && identical(feature_names(names, size, warn = FALSE), known)) return(index)
  repeated <- object$names$repeated
  unclear <- match(index, repeated, 0L)
  if (any(unclear > 0L)) refuse_shared(names(repeated)[unclear], arg, "feature")
  at <- places_by_name(known[index], names, character(), arg, "feature")
  if (anyNA(at)) refuse_data(arg, "`", arg, "` lacks ", some_columns(known[index][is.na(at)]), ".")
  at
}

# list(names, size) of what stands for features in data of any kind.
feature_names_of <- function(data, assay = NULL) {
  if (!has_feature_rows(data)) return(list(names = colnames(data), size = ncol(data)))
  if (!is.null(assay) && inherits(data, "Seurat")) data <- data[[assay]]
  list(names = rownames(data), size = nrow(data))
}

# The assay of the fit in another container of its kind, which must have it; NULL, the default one,
# where the fit is of other data.
fit_assay <- function(input, object, arg) {
  assay <- input$assay
  seurat <- inherits(object, "Seurat")
  if (is.null(assay) || !has_feature_rows(object) || seurat != identical(input$origin, "Seurat")) {
    return(NULL)
  }
  known <- if (seurat) SeuratObject::Assays(object) else SummarizedExperiment::assayNames(object)
  there <- if (is.character(assay)) assay %in% known else
    assay <= length(SummarizedExperiment::assays(object))
  if (!there) {
    refuse(arg, "`", arg, "` has no assay \"", assay, "\", from which the fit was made; it has ",
      if (length(known)) some_names(known) else "none with a name", ".")
  }
  assay
}

# How new data are read: an object as that of the fit was (`input` of the fit, or of its table), and
# its counts as they are, since the fit says what is done to them.
reading_of <- function(input, newdata, arg) {
  if (!has_feature_rows(newdata)) return(list())
  list(assay = fit_assay(input, newdata, arg), raw = TRUE,
    layer = if (inherits(newdata, "Seurat")) input$layer)
}

# Rows of a SummarizedExperiment or Seurat object, in the order given; `assay`: the one they are of
# in a Seurat object, which becomes its default. A Seurat assay of version 5 is cut in its own order
# and put in order afterwards: in any other order SeuratObject 5.4 would not move the layers along
# with what is known of the features.
feature_rows <- function(object, rows, assay = NULL) {
  force(rows) # an error while an S4 method looks for its class would lose its own
  if (!inherits(object, "Seurat")) return(object[rows, ])
  if (is.null(assay)) assay <- SeuratObject::DefaultAssay(object)
  SeuratObject::DefaultAssay(object) <- assay
  if (!inherits(object[[assay]], "StdAssay") || !is.unsorted(rows)) return(object[rows, ])
  out <- object[sort(rows), ]
  out@assays[[assay]] <- order_assay(out@assays[[assay]], rownames(object)[rows])
  out
}

# Layers hold their features in the order of the assay's map of features, a logical matrix.
order_assay <- function(assay, features) {
  map <- assay@features
  at <- match(features, rownames(map))
  for (layer in names(assay@layers)) {
    own <- which(map[, layer])
    assay@layers[[layer]] <- assay@layers[[layer]][match(at[at %in% own], own), , drop = FALSE]
  }
  map[] <- map[at, ]
  rownames(map) <- features
  assay@features <- map
  assay@meta.data <- assay@meta.data[at, , drop = FALSE]
  methods::validObject(assay)
  assay
}
