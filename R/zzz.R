#' ufselect: choose features and samples without labels
#'
#' ufselect finds, in a wide numeric table `x` (n samples in rows, p features in columns) and
#' without labels, which columns to keep and which rows to label. Start with [ufs_select()],
#' which looks at the data and applies what worked best on real data for the task you name; every
#' method is there under its own name as well.
#'
#' # Where to start
#' | you want | use | and to go on |
#' |---|---|---|
#' | few columns that stand for all, also for a classifier later | [ufs_css()] | [ufs_captured()] |
#' | few columns for clustering | [ufs_consensus()], [ufs_mcfs()] | [ufs_diversify()] |
#' | the real columns among many of pure noise | [ufs_consensus()], [ufs_pca()] | [ufs_decoys()] |
#' | samples worth labelling | [ufs_facility()], [ufs_medoids()] | [ufs_propagate()] |
#' | to reproduce what was published | [ufs_socfs()] and the other systems | [ufs_compare()] |
#'
#' [ufs_methods()] lists all methods with a line of advice for each, and
#' `vignette("which-method")` shows the evidence. No selection of features reliably beats all
#' features: it saves columns, and wins where most columns are noise.
#'
#' # What every method shares
#' The fit has class `ufs`. [feature_scores()] and [sample_scores()] are larger for better ones;
#' [selected_features()] and [selected_samples()] name the best k or m; `predict()` cuts new data
#' down to the chosen columns; `plot()`, `summary()` and `as.data.frame()` show the rest. Its
#' `status` says whether the solver converged, its `certificate` how far from the optimum the
#' answer can be.
#'
#' Constant columns have score `NA` and come last, and ties go to the lowest index. Random
#' numbers are R's, so `set.seed()` fixes a result, and a deterministic method draws none. Column
#' names are case-sensitive. No method but [ufs_inffs()] forms a p x p matrix when p > n; what needs
#' n x n says so first, and stops above `getOption("ufselect.max_bytes")` (8 GiB). Data with missing
#' values are refused unless [ufs_data()] is told what to do with them.
#'
#' # Many fits
#' [ufs_grid()] runs many settings, [ufs_tune()] chooses one without labels, [ufs_compare()] judges
#' methods with labels, and [ufs_stability()] says how repeatable a choice is. All run in parallel
#' under a plan of the package future, report progress and resume from a checkpoint folder.
#'
#' In an interactive session a long run says what it is doing, and before a fit that is expected to
#' take long begins it names what shortens it; `options(ufselect.progress = FALSE)` silences both,
#' and `TRUE` has them in scripts, too.
#'
#' `vignette("getting-started")` is the page to start with, and
#' `vignette("methods-and-mathematics")` has the formula, time and memory of every method.
#'
#' @keywords internal
#' @useDynLib ufselect, .registration = TRUE, .fixes = "C_"
"_PACKAGE"

.onLoad <- function(libname, pkgname) {
  when_loaded("mlr3filters", add_mlr3_filters)
  when_loaded("mlr3pipelines", function() {
    mlr3_dictionary("mlr3pipelines", "mlr_pipeops")$add("ufs_sample", mlr3_pipeop_class())
  })
}

.onUnload <- function(libpath) {
  remove <- function(package, name, keys) {
    if (isNamespaceLoaded(package)) {
      dictionary <- mlr3_dictionary(package, name)
      for (key in intersect(keys, dictionary$keys())) dictionary$remove(key)
    }
  }
  remove("mlr3filters", "mlr_filters", c("ufs", paste0("ufs_", feature_methods())))
  remove("mlr3pipelines", "mlr_pipeops", "ufs_sample")
  library.dynam.unload("ufselect", libpath)
}
