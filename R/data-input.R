# ufs_data(): every `x` is read here, once, whatever it is kept in.

#' Data of any kind for the methods of the package
#'
#' Every `ufs_*()` function takes `x` as it is: a matrix, data frame, tibble, data.table, a sparse
#' or dense matrix of the Matrix package, a DelayedMatrix or HDF5Matrix, a big.matrix, a
#' SummarizedExperiment, SingleCellExperiment or Seurat object. Call `ufs_data()` yourself to
#' choose an assay, a subset, what happens to missing values or how blocks of a file are
#' read, and give its result to a method instead of `x`.
#'
#' Rows are samples and columns are features. Bioconductor and Seurat objects have it the other
#' way round (features are rows) and are transposed here; `print()` says "n samples x p features":
#' check the printed size, and transpose the table if the two are swapped.
#'
#' # What is made dense and what is not
#' A sparse matrix is used as it is: centring and scaling are done inside the products, and a
#' matrix with a million columns needs little more memory than its non-zeros. Data on disk are
#' read in blocks of whole rows or columns, whichever follows the chunks of the file, of at most
#' `block_bytes`. A file that is stored by rows, where each read of some columns is a pass over
#' all of it, is copied to `tempdir()` in one pass where several such reads are to come (a message
#' announces copies above 100 MB), and the copy is deleted with the fit.
#'
#' A file that holds no zeros (TENxMatrix, H5ADMatrix and whatever else `is_sparse()` says of a
#' DelayedMatrix) is read without them. If its entries take at most a quarter of
#' `getOption("ufselect.max_bytes")`, that is 2 GiB, it is read once and is a sparse matrix from
#' then on; otherwise, or if you give `block_bytes` or `BPPARAM`, each pass reads sparse blocks.
#'
#' A dense matrix is centred and scaled in a copy. [ufs_socfs()], [ufs_jspca()] and [ufs_pca()] do
#' without one where there are more features than samples and the matrix takes more than
#' `getOption("ufselect.copy_bytes")` (256 MiB): they standardise some columns at a time, whenever
#' they need them.
#'
#' Methods that need x itself make it dense if that takes at most `getOption("ufselect.max_bytes")`
#' (8 GiB). Beyond that they stop and say how many bytes it would take; [ufs_sketch()] or fewer
#' columns is then the way out. `vignette("large-and-sparse-data")` says which methods these are.
#'
#' # Several tables
#' A named list of tables of the same samples, such as `list(genes = a, proteins = b)`, is taken as
#' one table with columns `genes:...` and `proteins:...`. By themselves, the columns of the largest
#' table would decide everything; so after its columns were centred and scaled (as `center` and
#' `scale` of the method say) each table is multiplied by a number that gives all tables the same
#' total variance, as in multiple factor analysis (Escofier and Pages 1994,
#' \doi{10.1016/0167-9473(94)90135-X}, who make the first principal components equal instead). The
#' sum of the variances over all columns stays what it was, and a list of one table is that table.
#' How many columns come from where is said by `feature_quotas`, say
#' `list(genes = c(2, 5), proteins = 3)`.
#' With `scale = FALSE` the columns of a table keep their own spread. Every method but
#' [ufs_moments()] takes such a list, [predict()] too, and the fit prints how many columns come from
#' each table. A MultiAssayExperiment is such a list, matched by its sample map.
#'
#' Rows are matched by their names, in the order of the first table; each sample must be in every
#' table, and once; `join = "inner"` keeps the samples that all tables share, and a message says how
#' many these are. If no table has row names, all must have the same number of rows, in the same
#' order. Row names of one table only are an error, and so are tables without a name. A part of the
#' data, `ufs_data(x)[rows, columns]`, keeps what the tables weigh; columns that `features` leaves
#' out while the list is read do not count. Sparse tables stay sparse, and dense ones beside them
#' become so; tables on disk have to be read first. `counts` and `rows` are for the rows of one
#' table: transform the tables before. In a list, `factors` and `assay` are for every table. An
#' experiment with raw counts only becomes log counts as it does alone, by itself, unless
#' `counts = "none"`.
#'
#' # Counts: words, reads, cells
#' Counts differ by the size of the sample before they differ by anything else: long documents and
#' deeply sequenced cells have more of every feature. Standardising columns of counts makes it
#' worse, because a word of a single document gets the same weight as any other. So choose here what
#' takes the size out, keep sparse data sparse, and fit with `scale = FALSE`:
#'
#' * `counts = "log"` is the way of single cells: each sample is divided by its total relative to
#'   the mean total (its size factor), and log(1 + count) is taken.
#' * `counts = "tfidf"` is the way of text: each feature is multiplied by its inverse
#'   document frequency, log((1 + n) / (1 + df)) + 1 with df the samples that have it, so that
#'   words that are everywhere count less.
#' * `rows = "unit"` divides each sample by its length afterwards. The inner product of two
#'   samples is then the cosine of their angle: with `center = FALSE, scale = FALSE`,
#'   [ufs_facility()] and [ufs_medoids()] cover documents by what they are about and not by how long
#'   they are.
#' * `min_samples` and `max_samples` leave out features that are above zero in too few or too many
#'   samples, before anything else.
#'
#' # Rows that differ by more than what they say
#' Two spectra of the same sample differ by a baseline and by a factor (how the light was
#' scattered), and often that is most of the variance of a set of spectra. `rows = "snv"` takes both
#' away: each row minus its mean, divided by its standard deviation (standard normal variate;
#' Barnes, Dhanoa and Lister 1989, \doi{10.1366/0003702894202201}). `"center"` takes the mean only,
#' and `"unit"` divides by the length only. A row without any variation becomes zeros. This happens
#' to every row by itself, over all of its columns, before columns are centred and scaled. It makes
#' sense only where all columns have one unit. Sparse data take `"unit"`, since the others would
#' fill in the zeros; data on disk are changed block by block, after one or two more passes.
#'
#' A fit remembers the transformation: [predict()] does the same to new rows, with the document
#' frequencies and the mean total of the rows of the fit.
#'
#' # Constraints
#' What you know about your columns and rows is given beside the data, to `ufs_data()` or directly
#' to any function that takes `x`, and goes with them: into subsets, resamples, grids, comparisons
#' and decoys, and into the fit, whose print repeats it.
#'
#' * About columns: `include` and `exclude` say which must and which may not be chosen, `cost` and
#'   `budget` what they cost, `groups` which belong together, `max_cor` how similar two chosen
#'   ones may be, and `feature_strata` and `feature_quotas` how many to take from where.
#' * About rows: `candidates`, `labelled` and `replicates` say which may be chosen, `sample_cost`
#'   and `sample_budget` what they cost, and `strata` and `quotas` how many to take from where.
#' * About what is fitted: `weights` count a row several times, and `blocks` remove the differences
#'   between batches before any method sees the data.
#'
#' Each method treats a constraint in one of three ways, which `ufs_methods(what = "constraints")`
#' lists:
#'
#' * `"solver"`: the method takes it into account while it optimises, so that the other columns are
#'   chosen to go with those that must be in. Methods that penalise the weights of each column
#'   ([ufs_socfs()], [ufs_jspca()], [ufs_ndfs()], [ufs_spca()], [ufs_rsr()], [ufs_udfs()] and
#'   [ufs_sogfs()]) do so by the penalty: there is none on columns that must be in, those that may
#'   not be in have no weight and are still to be explained, and that of each other column is
#'   multiplied by its cost over the mean cost of the others. Their solver `"irls"` or `"paper"`
#'   leaves these constraints to the ranking. [ufs_topk()] looks at sets with the columns that must
#'   be in, without those that may not and within the budget, and so does its bound.
#' * `"ranking"`: the method runs without it, and its ranking is rearranged. Included columns come
#'   first; the others follow by score, divided by their cost where there is one. A group has the
#'   mean score of its members, and a column that is too similar to an earlier one is skipped, or
#'   one that leaves no room for the least that other strata need. The constraint is always met, but
#'   the choice is not optimised for it.
#' * `"refused"`: an error, which gives the method's reason. `weights` are refused by methods that
#'   are no sums over rows, `replicates` by a few that choose columns. A single setting may refuse
#'   more: there is no `groups` with `optimal = TRUE` of [ufs_css()].
#'
#' A dash in that table means that the method does not choose what the constraint is about: given to
#' the method it is an error, given to `ufs_data()` it is kept for methods that do. Under a budget a
#' column that no longer fits is passed over, and cheaper ones after it may still be taken. Where
#' the constraints leave fewer than `k` columns, only those are chosen, and a message says so.
#' Constraints that contradict each other are errors that name the columns: a column that is both
#' included and excluded, `k` below the number of included columns, included columns that cost more
#' than the budget, or quotas that ask for more columns of a stratum than there are, for more than
#' `k` in all, or that allow fewer than `k`. Choices under quotas of at least some columns are not
#' nested: that of `k - 1` may have columns that are not in that of `k`.
#'
#' # Replicates
#' Where rows measure the same thing several times, `replicates` says which columns measure
#' anything. A method that chooses columns, and no rows, then works on one row a level: the mean of
#' the prepared column, times the reliability of the column by [ufs_reliability()], so that what
#' does not come back counts for nothing. Levels count once each, however many rows they have; a
#' missing value is left out of its mean; `weights` and `blocks` are heeded. The reliability of each
#' column is in `fit$levels`, and `print()` says how many levels there are. Decoys of [ufs_decoys()]
#' go the same way, and so do `k = "auto"` and [ufs_size()] for a method. A graph given to such a
#' method is one of the levels, in the order in which [ufs_reliability()] has them. Scores that are
#' coefficients ([ufs_mcfs()]), or come from columns that the method rescales ([ufs_blfse()]), are
#' multiplied by the reliability. Methods that prefer small columns, or do not look at their size,
#' refuse replicates and say so.
#'
#' On six real sets (`evidence/results/replicates.csv`) columns chosen so by [ufs_css()] came back
#' better in samples left out than those chosen from the rows or from plain means, and they rebuilt
#' more where noise had been added; where all columns repeat they rebuilt a few points less.
#' Choosing by the largest F of what is left rebuilt less throughout, and was better at telling
#' classes.
#'
#' # Missing values
#' The default is an error that names the columns, because no choice is right for all data.
#' `"omit"` leaves out every feature with a missing value, or every sample with one, whichever is
#' the smaller share. Without names those that are left have their old numbers as names (`"V3"`,
#' `"12"`), and so with `features` and `samples`; indices count what is left.
#' `"median"` puts in the feature's median. `"knn"` puts in the mean of the 10
#' nearest samples that have the value (Euclidean distance over the standardised features both
#' have), or the mean of the feature where no such sample has anything in common with it, which a
#' message says. [predict()] fills new rows with the medians of the fit's rows, or with the means of
#' neighbours among them: for `"knn"` the fit keeps them, evenly spaced ones if they hold more than
#' a million numbers, and takes the means of the features where these would be fewer than 50 rows.
#' What was left out or filled in is in the fit (`fit$input`) and in its print. Sparse data
#' take `"error"`, `"omit"` and `"median"`, data on disk only `"error"`. Infinite values are always
#' an error.
#'
#' # Constant columns and the ends of double precision
#' A column is constant if its largest and least value differ by at most \eqn{8 \epsilon} times the
#' largest modulus (\eqn{\epsilon}: the precision of doubles), whatever holds the data. Any other
#' column can be centred and scaled if its values are at most \eqn{2^{1000}} and its standard
#' deviation is at least \eqn{2^{-1000}}; beyond, an error names it. With `scale = FALSE` most
#' methods refuse columns whose norm is not between 1e-150 and 1e150.
#'
#' @param x The data, of any of the kinds that [ufs_data()] names, or a named list of tables of the
#'   same samples.
#' @param assay For Bioconductor objects the name or number of the assay (default: `"logcounts"` if
#'   there is one, else the first, which a message names); for Seurat the name of the assay, whose
#'   `data` layer is used, or its `counts` if there is none. Layers that are split must be joined
#'   first. For everything else it is `NULL`. Where no assay is named and raw counts are all that
#'   there is, `counts` is `"log"` unless you say otherwise.
#' @param ... Not used: all other arguments need their whole names.
#' @param features,samples Names, indices or a logical vector of what to use; `NULL` for all.
#' @param na What to do about missing values: `"error"`, `"omit"`, `"median"` or `"knn"`.
#' @param block_bytes Memory for a block of data on disk and the copy that reading it makes, in
#'   bytes: blocks take half of it. The default `NULL` is `getOption("ufselect.block_bytes")`, or
#'   64 MiB where that is not set. What a method itself takes, and what R has not freed yet, come
#'   on top: with the default, 0.06 to 0.25 GB in all for a file of 100,000 x 2,000.
#' @param BPPARAM For data on disk: a `BiocParallelParam` of package BiocParallel, e.g.
#'   `MulticoreParam(2)` (Windows: `SnowParam(2)`) or a `BatchtoolsParam`, over whose workers the
#'   blocks of a pass are spread. The result is the same, bit for bit, for any number of workers.
#'   The default `NULL` uses none.
#' @param counts What to do with counts: nothing, `"log"` or `"tfidf"`. Whole numbers are not
#'   required, but none may be negative. Not for data on disk. Of an object with raw counts only
#'   (see `assay`) the default is `"log"`, which a message and the print say.
#' @param min_samples,max_samples The least and the largest number of samples in which a feature is
#'   above zero; numbers below 1 are shares of the samples. `NULL`: no limit.
#' @param rows What to do with each row: nothing, `"center"` (minus its mean), `"snv"` (also divided
#'   by its standard deviation) or `"unit"` (divided by its Euclidean length). Of a
#'   data frame with a column that is a matrix, such as spectra beside an outcome, the other columns
#'   have to be left out by `features` first.
#' @param join For a list of tables, `"same"` if all have the same samples, `"inner"` to take those
#'   that all tables share.
#' @param include,exclude Columns that are chosen whatever their scores are, and columns that are
#'   never chosen: names, indices, a logical vector, or a function that makes one of these of the
#'   column names. Included columns count in `k` and come first in the ranking. Excluded columns
#'   have no score and come last, but the method still sees them; `features` leaves columns out
#'   altogether.
#' @param cost,budget What each column costs (positive numbers, one for each column, or with its
#'   name), and how much the chosen columns may cost together, in the same unit. A budget may take
#'   the place of `k`; it needs `cost`. Without a budget costs change no choice: prints tell what
#'   was spent.
#' @param groups Columns that are chosen together or not at all, such as answers to one question:
#'   a factor with one value for each column (`NA`: on its own), or a list of sets of columns.
#' @param max_cor The largest absolute correlation between two chosen columns, from 0 to 1. Included
#'   columns, and columns of one group, are not compared with each other.
#' @param feature_strata,feature_quotas A factor over the columns (scales of a questionnaire, types
#'   of genes, plates), in their order or with their names, `NA` for a column of no stratum, and how
#'   many to choose from its levels: a vector or list with the names of levels, each the exact
#'   number or `c(least, most)`, or one of these without a name for every level. Levels that are not
#'   named are free. Without quotas, no level gets more than its share of the choice. Of several
#'   tables the table is the stratum where `feature_quotas` comes alone.
#' @param weights How many rows each row stands for: positive numbers, one for each row. Here and in
#'   `blocks`, `replicates`, `strata` and `sample_cost` one name stands for that column of the
#'   `colData()` of a Bioconductor object, or of the `meta.data` of a Seurat object, also where
#'   several are in a list; those over columns likewise take one of `rowData()`.
#' @param blocks A factor over the rows: batches, plates or persons. Each column is shifted to the
#'   same mean in all blocks, so that differences between blocks are not chosen for;
#'   groups that coincide with blocks are lost, too.
#' @param block_scale Should each column also get the same standard deviation in all blocks?
#' @param candidates Rows that may be chosen; all others are only represented. Given like `include`.
#' @param labelled Rows that are labelled already: they are never chosen. Given like `include`.
#' @param replicates A factor over the rows: rows of one level measure the same. Of these a method
#'   that chooses rows takes at most one, and none if one of them is labelled; a method that chooses
#'   columns alone works on the means of the levels, see below. `NA`: on its own.
#' @param sample_cost,sample_budget `cost` and `budget` of rows; the budget may take the place of
#'   `m`.
#' @param strata,quotas A factor over the rows, and the largest number of rows to choose from each
#'   of its levels: whole numbers with the names of the levels. Without `quotas`, each level gets
#'   its share of the choice.
#' @param factors What to do with the factors of a data frame: stop, `"dummies"` or `"codes"`. With
#'   `"dummies"` a factor stays one column of the table: it counts once in `k`, has one score, the
#'   sum of those of its levels, and is chosen whole. Methods see a column of zeros and ones for
#'   each level that occurs, which standardising divides by the root of the share of rows that have
#'   it, so that a factor of L levels has L - 1 times the variance of a number (factor analysis of
#'   mixed data); matrices in the fit have a row for each, named `factor=level`. Ordered factors
#'   are numbers, the rank of the level. With `"codes"` every factor is one number, that of the
#'   level, which says something only where the levels have an order, or are two. Missing levels
#'   become the most frequent one by `na` = `"median"` or `"knn"`. Character columns are no
#'   factors: choose their levels by `factor()`. `vignette("mixed-tables")` has more.
#' @return An object of class `ufs_data`, to be used as `x`. It has `dim()`, `dimnames()`, `print()`
#'   and `[`.
#' @section Errors:
#'   `ufs_error_input` for data that cannot be used (not numeric, a malformed sparse matrix,
#'   missing values), `ufs_error_argument` for arguments, `ufs_error_package` if a package that
#'   reads this class of data is not installed, and of a fit `ufs_error_worker` if a worker of
#'   `BPPARAM` died.
#' @seealso [ufs_sketch()], [ufs_annotate()]
#' @examples
#' ufs_data(airquality[, 1:4], na = "median")
#' fit <- ufs_pca(ufs_data(airquality[, 1:4], na = "omit"), n_components = 2)
#' fit$input$dropped_features
#'
#' if (requireNamespace("Matrix", quietly = TRUE)) {
#'   counts <- Matrix::rsparsematrix(100, 2000, density = 0.02)
#'   print(ufs_data(counts))
#'   ufs_variance(counts)
#'
#'   words <- Matrix::Matrix(matrix(rpois(2000, 0.3), 40), sparse = TRUE)
#'   ufs_data(words, counts = "tfidf", rows = "unit", min_samples = 2)
#' }
#'
#' # Two columns must stay, one is out of the question, and no two may say the same
#' fit <- ufs_css(mtcars, k = 5, include = c("mpg", "hp"), exclude = "qsec", max_cor = .9)
#' selected_features(fit)
#' subset(ufs_methods(what = "constraints"), method %in% c("css", "facility"))
#'
#' # Two tables of the same cars: three columns of engines weigh as much as six others
#' engine <- mtcars[, c("cyl", "disp", "hp")]
#' other <- mtcars[, c("mpg", "drat", "wt", "qsec", "gear", "carb")]
#' ufs_css(list(engine = engine, other = other), k = 3)
#'
#' # What they cost instead of how many
#' priced <- ufs_data(mtcars, cost = c(1, 1, 3, 2, 2, 1, 4, 1, 1, 1, 1), budget = 6)
#' selected_features(ufs_pca(priced, n_components = 2))
#'
#' # Two or three columns of the engine, one at least of how fast a car is, and weight with the rest
#' part <- c(mpg = "speed", cyl = "engine", disp = "engine", hp = "engine", drat = "gears",
#'   wt = "body", qsec = "speed", vs = "engine", am = "gears", gear = "gears", carb = "engine")
#' fit <- ufs_css(mtcars, k = 5, feature_strata = part,
#'   feature_quotas = list(engine = c(2, 3), speed = c(1, Inf), gears = 1))
#' table(part[selected_features(fit)])
#' @export
ufs_data <- function(x, assay = NULL, ..., features = NULL, samples = NULL,
                     na = c("error", "omit", "median", "knn"), block_bytes = NULL,
                     BPPARAM = NULL, counts = c("none", "log", "tfidf"), min_samples = 0,
                     max_samples = NULL,
                     rows = c("none", "center", "snv", "unit"),
                     factors = c("error", "dummies", "codes"), join = c("same", "inner"),
                     include = NULL, exclude = NULL, cost = NULL, budget = NULL, groups = NULL,
                     max_cor = NULL,
                     feature_strata = NULL, feature_quotas = NULL, weights = NULL, blocks = NULL,
                     block_scale = FALSE, candidates = NULL, labelled = NULL, replicates = NULL,
                     sample_cost = NULL, sample_budget = NULL, strata = NULL, quotas = NULL) {
  check_given(x)
  check_dots_empty(...)
  constraints <- mget(constraint_names())
  factors <- check_choice(factors, "factors")
  reading <- list(assay = assay, block_bytes = block_bytes, BPPARAM = BPPARAM,
    factors = if (factors != "error") factors, raw = TRUE,
    join = if (check_choice(join, "join") != "same") join)
  data <- open_data(x, "x", na, reading, list_of(features, samples), constraints)
  included <- data$input$included
  data$input$included <- NULL
  if (!missing(rows)) data$input$rows_told <- TRUE
  if (!missing(counts)) data$input$counts_told <- TRUE
  asked <- !missing(counts) || !missing(rows) || !missing(min_samples) || !missing(max_samples)
  if (asked || !is.null(data$input$raw)) {
    how <- list(counts = check_choice(counts, "counts"), rows = check_choice(rows, "rows"))
    if (missing(counts)) how <- with_default(how, data)
    data$input$raw <- NULL
    data <- transform_data(data, how, min_samples, max_samples, "x")
  }
  check_constraints(data, included)
}

# The same for an argument of another name. `reading`: list(assay, block_bytes, BPPARAM, factors,
# raw: leave the counts of an object as they are; layer: of a Seurat object); `part`:
# list(features, samples); `constraints`: by the names of the arguments of ufs_data().
open_data <- function(x, arg = "x", na = "error", reading = list(), part = list(),
                      constraints = NULL) {
  if (!identical(na, "error")) na <- check_choice(na, "na", c("error", "omit", "median", "knn"))
  if (inherits(x, "ufs_sketch")) x <- x$data
  if (inherits(x, "ufs_moments")) refuse_moments(arg)
  asked <- c("assay", "block_bytes", "BPPARAM") %in% names(Filter(Negate(is.null), reading))
  # Most x are a numeric matrix, or a data frame of numeric columns, and of no class besides.
  plain <- !any(asked) && if (identical(class(x), "data.frame")) {
    length(x) > 0L && !"sparsevctrs" %in% loadedNamespaces() && all(vapply(x, is_plain_number, NA))
  } else is.matrix(x) && !is.object(x) && (is.numeric(x) || is.logical(x))
  if (plain) {
    origin <- class(x)[1L]
    if (is.data.frame(x)) x <- as.matrix(x, rownames.force = .row_names_info(x) > 0L)
    x <- new_data("dense", as_double(x), dimnames(x), origin)
  } else if (!inherits(x, "ufs_data")) {
    x <- samples_first(x)
    # Names of places are those of samples or features.
    if (has_feature_rows(x) || is_tables(x)) for (row in constraint_rows()) {
      if (row$kind != "places") constraints[[row$name]] <-
        named_column(constraints[[row$name]], x, row$name, row$about, reading$assay)
    }
    # A table of any other kind, or several.
    bytes <- reading$block_bytes
    if (!is.null(bytes)) reading$block_bytes <- check_number(bytes, "block_bytes", lower = 8)
    if (!is.null(reading$BPPARAM) && !inherits(reading$BPPARAM, "BiocParallelParam")) {
      refuse("BPPARAM", "`BPPARAM` must be NULL or a BiocParallelParam, not ",
        kind_of(reading$BPPARAM), ".")
    }
    if (!is_tables(x)) x <- read_table(x, arg, reading) else {
      x <- join_tables(x, arg, function(table, arg, name) read_table(table, arg, reading),
        inner = !is.null(reading$join))
      x$input$origin <- "a list of tables"
    }
  } else if (!all(vapply(reading[names(reading) != "raw"], is.null, NA))) {
    refuse("assay", "`", arg, "` is a result of ufs_data(): give it `assay`, `block_bytes`, ",
      "`BPPARAM` and `factors` there.")
  }
  if (length(constraints)) x <- set_constraints(x, constraints)
  if (!all(vapply(part, is.null, NA))) {
    rows <- resolve_index(part$samples, x$n, x$samples, "samples")
    columns <- resolve_index(part$features, x$p, x$features, "features")
    if (!is.null(rows)) x <- keep_samples(x, rows)
    if (!is.null(columns)) x <- keep_features(x, columns)
  }
  if (na != "error") x <- fill_data(x, na, arg)
  if (!is.null(x$input$raw) && !isTRUE(reading$raw)) {
    how <- with_default(list(counts = "none", rows = "none"), x)
    x$input$raw <- NULL
    x <- transform_data(x, how, 0, NULL, arg)
  }
  tables <- x$input$tables
  if (!is.null(tables) && is.null(tables$share)) weigh_tables(x) else x
}

# One table, its factors coded.
read_table <- function(x, arg, reading) {
  # The widest column that is a matrix, such as spectra beside an outcome, with the names that
  # flat_table() gives its columns.
  width <- if (is.data.frame(x)) vapply(x, NCOL, 0)
  at <- which.max(width)
  widest <- if (any(width > 1L)) {
    list(name = names(x)[at], columns = flat_names(names(x)[at], x[[at]]))
  }
  coding <- if (!is.null(reading$factors) && is.data.frame(x)) {
    coding_of(x <- flat_table(x), reading$factors == "dummies")
  }
  if (!is.null(coding)) x <- coded_table(x, coding, arg)
  out <- read_data(x, arg, reading)
  out$input$widest <- widest
  out$input$coding <- coding
  out
}

# By class: the one place that knows the classes that are read.
read_data <- function(x, arg, reading) {
  origin <- class(x)[1L]
  x <- samples_first(x)
  bytes <- if (is.null(reading$block_bytes)) block_bytes() else reading$block_bytes
  if (has_feature_rows(x)) {
    taken <- if (inherits(x, "Seurat")) seurat_assay(x, reading$assay, reading$layer) else
      experiment_assay(x, reading$assay)
    reading$assay <- NULL
    out <- read_data(taken$x, arg, reading)
    out$input$assay <- taken$assay
    out$input$layer <- taken$layer
    if (taken$raw) out$input$raw <- TRUE
  } else if (!is.null(reading$assay) && !inherits(x, "formula")) {
    refuse("assay", "`assay` is for SummarizedExperiment, SingleCellExperiment and Seurat ",
      "objects; `", arg, "` is ", kind_of(x), ".")
  } else if (inherits(x, "DelayedMatrix") && !is.null(sparse_seed(x))) {
    out <- read_matrix_package(sparse_seed(x), arg)
  } else if (inherits(x, "DelayedMatrix")) {
    # A file may be gone, and names are kept in it.
    names <- from_source(dimnames(x))
    source <- delayed_source(x, bytes, reading$BPPARAM)
    # A user who says how blocks are to be read wants blocks.
    by_blocks <- !is.null(reading$block_bytes) || !is.null(reading$BPPARAM)
    whole <- if (isTRUE(source$sparse) && !by_blocks) hold_source(source)
    out <- new_data(if (is.null(whole)) "source" else "sparse",
      if (is.null(whole)) source else whole, names)
  } else if (inherits(x, "big.matrix")) {
    # Its own methods, which base dim() and dimnames() reach through S4.
    check_installed("bigmemory", "for big.matrix input")
    object <- if (is.null(reading$BPPARAM)) x else bigmemory::describe(x)
    # Stored by columns.
    out <- new_data("source", new_source(object, "big", dim(x), c(nrow(x), 1L),
      bytes, reading$BPPARAM), dimnames(x))
  } else if (inherits(x, "Matrix")) {
    out <- read_matrix_package(x, arg)
  } else if (is.data.frame(x) && "sparsevctrs" %in% loadedNamespaces() &&
      any(vapply(x, sparsevctrs::is_sparse_vector, NA))) {
    # As recipes makes them.
    check_installed("Matrix", "for sparse columns")
    dense <- !vapply(x, function(col) sparsevctrs::is_sparse_vector(col) && is.numeric(col), NA)
    # Refuses in words what is not numeric.
    if (any(dense)) x[dense] <- as.data.frame(table_matrix(as.data.frame(x)[dense], arg))
    out <- read_matrix_package(sparsevctrs::coerce_to_sparse_matrix(x), arg)
  } else {
    x <- table_matrix(x, arg)
    out <- new_data("dense", x, dimnames(x))
  }
  out$input$origin <- origin
  out
}

# Sparse classes stay sparse, whichever; the others are plain matrices.
read_matrix_package <- function(x, arg) {
  origin <- class(x)[1L]
  check_installed("Matrix", "for sparse and other Matrix input")
  if (!inherits(x, c("sparseMatrix", "diagonalMatrix", "indMatrix"))) {
    x <- table_matrix(as.matrix(x), arg)
    return(new_data("dense", x, dimnames(x)))
  }
  if (origin != "dgCMatrix") {
    x <- on_error({
      methods::validObject(x)
      methods::as(methods::as(methods::as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix")
    }, function(e) {
      refuse_data(arg, "`", arg, "` of class ", origin, " cannot be read: ",
        conditionMessage(e))
    })
  }
  # Before anything else touches a sparse matrix: its slots may have been edited.
  size <- x@Dim
  names <- x@Dimnames
  wrong <- if (!is.integer(size) || length(size) != 2L || anyNA(size))
    "slot Dim must hold two numbers" else .Call(C_x_check, size[1L], size[2L], x@p, x@i, x@x)
  if (is.null(wrong) && !(is.list(names) && length(names) == 2L &&
      all(mapply(function(own, n) is.null(own) || length(own) == n, names, size)))) {
    wrong <- "slot Dimnames does not fit"
  }
  if (!is.null(wrong)) {
    refuse_data(arg, "`", arg, "` is not a sound ", class(x)[1L], ": ", wrong, ".")
  }
  new_data("sparse", x, x@Dimnames)
}

# ---- arguments of ufs_data() in other functions --------------------------------------------------

# x, opened with the arguments of ufs_data() in the dots of the function `fun`, if there are any.
open_with <- function(x, fun, name, dots) {
  if (!length(dots)) return(x)
  given <- names_of(dots)
  if (!all(nzchar(given))) {
    ufs_abort("argument", "ufs_", name, "(): unexpected unnamed argument. The data come first, as ",
      "`x`, and what follows has its name.")
  }
  unknown <- setdiff(given, input_arguments())
  if (length(unknown)) {
    check_arguments(unknown, fun, name)
    refuse_argument(unknown[1L])
  }
  # Moments in the place of x have no rows for anything to be about.
  wrong <- if (inherits(x, "ufs_data") && !is.null(x$n_rows)) {
    setdiff(names(dots), c("features", constraint_names("columns")))
  }
  if (length(wrong)) {
    refuse(wrong[1L], "`", wrong[1L], "` is about rows, and `x` is a result of ufs_moments(), ",
      "which holds none: give it where the rows are read.")
  }
  do.call(ufs_data, c(list(x), dots), quote = TRUE)
}

# The same for functions whose `...` are the arguments of a method: list(x, rest). `own`: the
# arguments of that method, which come first.
open_some <- function(x, dots, own = character()) {
  mine <- names_of(dots) %in% setdiff(input_arguments(), own)
  rest <- dots[!mine]
  if (!is.null(rest$labelled)) rest["labelled"] <- list(labelled_left(x, rest$labelled, dots[mine]))
  list(x = do.call(ufs_data, c(list(x), dots[mine]), quote = TRUE), rest = rest)
}

# Places in `x` as places among the rows that `dots`, arguments of ufs_data(), leave over; names are
# left to those who read them. For the argument `labelled` of methods, which is not one of the data.
labelled_left <- function(x, labelled, dots) {
  by_place <- is.numeric(labelled) || is.logical(labelled)
  if (!by_place || !any(c("na", "samples") %in% names_of(dots))) return(labelled)
  suppressMessages(suppressWarnings(do.call(ufs_data, c(list(x), dots,
    list(labelled = labelled)), quote = TRUE)))$row_held$labelled
}

# ---- parts -------------------------------------------------------------------------------------

#' @export
summary.ufs_data <- whole_summary

#' @export
print.ufs_data <- function(x, ...) {
  check_dots_empty(...)
  dense <- 8 * as.double(x$n) * x$p
  cat_line("<ufs_data> ", size_words(x$n, x$p), ", from ", x$input$origin,
    if (!is.null(x$input$assay)) paste0(" (assay ", x$input$assay, ")"))
  cat_line("  held         ", switch(x$kind,
    dense = paste0("dense, ", format_bytes(dense)),
    sparse = paste0("sparse, ", format(length(x$x@x), big.mark = ","), " non-zeros (",
      signif(100 * length(x$x@x) / (as.double(x$n) * x$p), 3L), " %), ",
      format_bytes(12 * length(x$x@x) + 4 * (x$p + 1)), "; dense it would be ",
      format_bytes(dense)),
    source = paste0("not in memory, read ", block_text(x$x), "; dense it would be ",
      format_bytes(dense))
  ))
  for (line in c(tables_words(x$input$tables$of), input_notes(x$input),
    constraint_line("columns", constraint_words(expand_groups(x$held), "columns")),
    constraint_line("rows", c(constraint_words(x$row_held, "rows"),
      constraint_words(x$row_held, "rows", sums = TRUE))))) {
    cat_line("  ", line)
  }
  invisible(x)
}

block_text <- function(source) {
  size <- if (source$by == "rows") c(source$n, source$p) else c(source$p, source$n)
  if (source$step >= size[1L]) return("in one block")
  bytes <- 8 * source$step * size[2L]
  if (isTRUE(source$sparse)) bytes <- bytes * entry_share * source$fill
  paste0("by blocks of ", source$step, " ", source$by, " (",
    if (isTRUE(source$sparse)) "sparse, about ", format_bytes(bytes), ")")
}

# The record of the data that a fit keeps; the passes over a file are known only at the end.
final_input <- function(data) {
  input <- data$input
  input$tables[c("share", "root")] <- NULL
  if (!is.matrix(data$x) && identical(data$x$kind, "source") && !data$x$held) {
    input$passes <- as.integer(ceiling(data$x$count$passes - 1e-9)) + 1L
  }
  input
}

# Columns of which more than a fifth was filled in, in words after `what`; NULL without any.
much_filled <- function(share, what, names = NULL, most = 0.2) {
  much <- which(share > most)
  if (length(much)) {
    paste0(what, if (is.null(names)) count_words(length(much), "column") else
      some_columns(names[much]), " (", percent(max(share)), " at most)")
  }
}

# Rows that na = "omit" left out, in words; NULL if none, or fewer than the share `above`
# of the rows or columns.
omitted_words <- function(input, above = 0, what = c("rows", "columns")) {
  if (!identical(input$na, "omit") || is.null(input$given)) return(NULL)
  lost <- c(rows = length(input$dropped_samples), columns = length(input$dropped_features))
  lost <- lost[lost > above * input$given & names(lost) %in% what]
  if (length(lost)) {
    given <- c(rows = input$given[1L], columns = input$given[2L])[names(lost)]
    paste0("na = \"omit\" left out ", paste(lost, "of", given, names(lost), collapse = ", "))
  }
}

# Runs code on opened data x: an error that there are too few of them says what na = "omit" took.
naming_omitted <- function(x, code) {
  words <- if (inherits(x, "ufs_data")) omitted_words(x$input)
  if (is.null(words)) return(code)
  withCallingHandlers(code, ufs_error = function(e) {
    if (inherits(e, c("ufs_error_argument", "ufs_error_input")) &&
        grepl("at most|at least", conditionMessage(e)) && !grepl(words, e$message, fixed = TRUE)) {
      e$message <- paste0(e$message, " In `x` ", words, ".")
      stop(e)
    }
  })
}

# Lines for print() on rows left out and values filled in.
input_notes <- function(input) {
  count <- function(names, what, all) if (length(names)) {
    paste0(length(names), " of ", count_words(all, what), " (", best_line(names, NULL, 3L), ")")
  }
  coded <- input$coding[lengths(input$coding) > 0L]
  levels <- vapply(coded, function(how) {
    if (how$nominal) count_words(length(how$levels), "level") else "number of the level"
  }, "")
  out <- c(count(input$dropped_features, "feature", input$given[2L]),
    count(input$dropped_samples, "sample", input$given[1L]))
  c(if (length(out)) paste0("left out     ", paste(out, collapse = ", "), " with missing values"),
    if (isTRUE(input$filled > 0)) {
      paste0("filled in    ", count_words(input$filled, "missing value"), " (", input$na, ")",
        much_filled(input$filled_share, "; more than a fifth of "))
    },
    if (length(coded)) {
      paste0("factors      ", best_line(paste0(names(coded), " (", levels, ")"), NULL, 3L))
    },
    if (!is.null(input$passes)) {
      paste0("data         ", input$passes, " pass", if (input$passes != 1L) "es", " over the file")
    },
    transform_words(input), input$note)
}

# ---- what methods ask for ----------------------------------------------------------------------

is_plain_number <- function(column) {
  (is.numeric(column) || is.logical(column)) && !is.object(column) && is.null(dim(column))
}

# A double matrix from matrix, data.frame, tibble or data.table.
table_matrix <- function(x, arg) {
  if (is.data.frame(x)) {
    given <- x
    x <- flat_table(as.data.frame(x))
    unit <- vapply(x, time_unit, "")
    if (any(nzchar(unit))) ufs_inform("dates", some_columns(names(x)[nzchar(unit)]),
      if (sum(nzchar(unit)) == 1L) " is" else " are", " taken as numbers: ",
      paste(setdiff(unique(unit), ""), collapse = " and "), ".")
    x <- plain_numbers(x)
    fine <- vapply(x, is_plain_number, NA)
    if (!all(fine)) {
      refuse_text(x[!fine], NULL, arg)
      # The data of a fit say what becomes of factors, new data follow them.
      coding <- sub("[$[].*", "", arg) == "x" && any(vapply(x[!fine], is.factor, NA))
      # Code that leaves the columns out that are no numbers.
      kept <- vapply(plain_numbers(as.data.frame(given)), function(col) {
        is_plain_number(col) || length(dim(col)) == 2L
      }, NA)
      drop <- paste0(if (inherits(given, "data.table")) paste0("as.data.frame(", arg, ")") else arg,
        "[setdiff(names(", arg, "), ", paste(deparse(names(given)[!kept], 500L), collapse = " "),
        ")]")
      refuse_data(arg, "`", arg, "` has columns that are not numeric: ",
        some_columns(names(x)[!fine]), ". Drop them (", drop, " keeps the ",
        "others), ", if (coding) {
          "give factors = \"dummies\" (or \"codes\") for factors, "
        } else if (any(vapply(x[!fine], is.character, NA))) {
          "make them factors by factor() and give factors = \"dummies\", "
        }, "or code them yourself, e.g. with model.matrix().")
    }
    x <- as.matrix(x, rownames.force = .row_names_info(x) > 0L)
  } else if (length(attr(x, "dim")) != 2L) {
    refuse_data(arg, "`", arg, "` must be a numeric matrix, data frame, sparse matrix or ",
      "another class that ufs_data() reads, not ", kind_of(x), ".", reading_advice(x))
  }
  x <- as_number(samples_first(x))
  if (!(is.numeric(x) || is.logical(x))) {
    refuse_data(arg, "`", arg, "` must be numeric, not of type ", typeof(x), ".")
  }
  as_double(x)
}
