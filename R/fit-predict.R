# Rows of such a container, in the order given. A Seurat assay of version 5 is cut in its own order
# (in another one, SeuratObject 5.4 would not move the layers along with what is known of the
# features) and put in order afterwards.
feature_rows <- function(object, rows) {
  force(rows) # an error while an S4 method looks for its class would lose its own
  if (!inherits(object, "Seurat")) return(object[rows, ])
  assay <- SeuratObject::DefaultAssay(object)
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

# New rows as the rows of the fit were transformed, with all features of the fit. What comes from
# ufs_data() with a transformation of its own is left as it is.
transform_new <- function(object, newdata, arg = "newdata") {
  how <- object$input$transform
  data <- open_data(newdata, arg)
  if (!is.null(data$input$transform)) return(data)
  if (how$p != object$p) {
    refuse(arg, "The features of this fit were chosen after ufs_data() had transformed the rows: ",
      "transform `", arg, "` by ufs_data(), too.")
  }
  data <- subset_data(data, features = match_columns(object, data))
  if (how$counts != "none") check_counted(data, arg)
  apply_transform(data, how, arg)
}

#' Chosen columns of new data
#'
#' Keeps the best `k` features of `newdata`, by name if the columns had names when the
#' method was fitted, and by position otherwise. Use it to reduce the data that the method saw, or
#' new samples of the same kind, to the chosen columns.
#'
#' @param object A fit that selects features.
#' @param newdata A matrix, data frame or whatever [ufs_data()] reads, with the chosen columns.
#' @param k How many features to keep. The default `NULL` takes the number given to the method.
#' @param ... Must be empty: an unknown argument is an error.
#' @return `newdata[, chosen]`, of the class of `newdata`, best feature first; values are not
#'   changed. In a SummarizedExperiment or Seurat object features are rows, and these are kept. A
#'   big.matrix gives a matrix in memory.
#' @examples
#' fit <- ufs_variance(iris[1:100, 1:4])
#' head(predict(fit, iris[101:150, ], k = 2))
#' @export
predict.ufs <- function(object, newdata, k = NULL, ...) {
  check_dots_empty(...)
  check_fit(object)
  check_newdata(newdata)
  chosen <- selected_features(object, k, as = "index")
  if (!is.null(object$input$transform)) {
    data <- transform_new(object, newdata)
    at <- match_columns(object, data, chosen)
    if (data$kind != "source") return(data$x[, at, drop = FALSE])
    return(`dimnames<-`(data_columns(data, at), list(data$samples, data$features[at])))
  }
  if (has_feature_rows(newdata)) {
    return(feature_rows(newdata, match_columns(object, newdata, chosen)))
  }
  if (inherits(newdata, "ufs_sketch")) newdata <- newdata$data
  newdata[, match_columns(object, newdata, chosen), drop = FALSE]
}

check_newdata <- function(newdata) {
  if (missing(newdata) || length(dim(newdata)) != 2L) {
    refuse("newdata", "`newdata` must be a matrix or data frame.")
  }
}

# The given features of the fit in newdata, as a dense matrix: of data of any kind only these.
new_columns <- function(object, newdata, index = seq_len(object$p), arg = "newdata") {
  if (!is.null(object$input$transform)) newdata <- transform_new(object, newdata, arg)
  # A table may have columns beside those of the fit that are not numeric.
  if (is.data.frame(newdata)) {
    at <- match_columns(object, newdata, index)
    return(as_plain_matrix(newdata[, at, drop = FALSE], arg))
  }
  data <- open_data(newdata, arg)
  at <- match_columns(object, data, index)
  if (data$kind != "dense") {
    check_bytes(8 * as.double(data$n) * length(at), paste0("`", arg, "` as a dense matrix"),
      dense_advice)
  }
  out <- data_columns(data, at)
  dimnames(out) <- list(data$samples, data$features[at])
  out
}

# newdata's columns centred and scaled as the fit's data were, and back.
scaled_as <- function(fit, z, index = seq_len(fit$p)) {
  if (!isFALSE(fit$center)) z <- sweep(z, 2L, fit$center[index])
  if (!isFALSE(fit$scale)) z <- sweep(z, 2L, fit$scale[index], "/")
  z
}

unscaled <- function(fit, z) {
  if (!isFALSE(fit$scale)) z <- sweep(z, 2L, fit$scale, "*")
  if (!isFALSE(fit$center)) z <- sweep(z, 2L, fit$center, "+")
  z
}

# Some columns of newdata, which must be finite, ready for a product.
scaled_columns <- function(fit, newdata, index = seq_len(fit$p)) {
  if (missing(newdata)) refuse("newdata", "`newdata` is missing.")
  z <- new_columns(fit, newdata, index)
  bad <- which(colSums(!is.finite(z)) > 0)
  if (length(bad)) {
    ufs_abort("input", "`newdata` has missing or infinite values (NA, NaN, Inf) in ",
      some_columns(fit$names$features[index[bad]]), ".", argument = "newdata")
  }
  scaled_as(fit, z, index)
}

# Where the given features of the fit are in newdata.
match_columns <- function(object, newdata, index = seq_len(object$p)) {
  turned <- has_feature_rows(newdata)
  names <- if (turned) rownames(newdata) else colnames(newdata)
  size <- if (turned) nrow(newdata) else ncol(newdata)
  if (!object$names$named || is.null(names)) {
    if (size != object$p) {
      ufs_abort("input", "`newdata` has ", size, " features without names to match; ",
        "the fit has ", object$p, ".", argument = "newdata")
    }
    return(index)
  }
  wanted <- object$names$features[index]
  at <- match(wanted, names)
  if (anyNA(at) && size == object$p) {
    # Names that were made unique for the fit: same columns, same repair.
    at <- match(wanted, feature_names(names, object$p, warn = FALSE))
  }
  if (anyNA(at)) {
    ufs_abort("input", "`newdata` lacks ", some_columns(wanted[is.na(at)]), ".",
      argument = "newdata")
  }
  at
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
  turned <- !identical(rownames(value), features) && identical(colnames(value), features)
  if (turned) t(value) else value
}
