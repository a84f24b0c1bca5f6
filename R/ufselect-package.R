#' ufselect: unsupervised selection of features and samples
#'
#' From a wide numeric matrix `x` (n samples by p features) and no, or few, labels: which
#' features to keep and which samples to label. Start with [ufs_methods()], the list of
#' what there is, and with `vignette("getting-started", package = "ufselect")`.
#'
#' @keywords internal
#' @useDynLib ufselect, .registration = TRUE, .fixes = "C_"
"_PACKAGE"

.onUnload <- function(libpath) library.dynam.unload("ufselect", libpath)
