#' ufselect: unsupervised selection of features and samples
#'
#' From a wide numeric matrix `x` (n samples by p features) and no, or few, labels: which
#' features to keep and which samples to label. Every method takes `x` first and returns an
#' object of class `ufs` with scores (larger = better), a ranking, a trace, a status and a
#' certificate; [ufs()] fits any of them by name.
#'
#' # What each method optimises
#' \eqn{\|V\|_{2,1}} is the sum of the norms of the rows of V; c is the number of clusters or
#' components, r = min(n, p), L the Laplacian of a neighbour graph W with degrees D.
#'
#' | method | objective (minimised unless stated) | time | memory beside x | when to use |
#' |---|---|---|---|---|
#' | [ufs_socfs()] | \eqn{\|XV-E\|^2+\lambda\|V\|_{2,1}+\gamma\|F-E\|^2}, E orthonormal, F >= 0 | npc per full product | pc | clusters are expected |
#' | [ufs_jspca()] | \eqn{\|X'-PQ'X'\|_{2,1}+\lambda\|Q\|_{2,1}} | npc per full product | pc | factors are expected; outliers: `loss = "sample"` |
#' | [ufs_alfs()] | \eqn{\|X-XWX\|^2+\alpha\|W\|_{2,1}+\beta\|W'\|_{2,1}} (+ local term) | npr per iteration | 6 np | features and samples together |
#' | [ufs_topk()] | 0-1 program: exactly k features, labels optional | n^2 p + n^3 | n^2 | some labels are known, or k is fixed |
#' | [ufs_blfse()] | consensus of m base scores and clusterings | n^2 p + n^3 per sweep | n^2 | many base results are at hand |
#' | [ufs_variance()] | variance (maximised) | np | p | columns share a scale |
#' | [ufs_pca()] | norms of the leading loadings (maximised) | npr | r^2 | a fast first look |
#' | [ufs_kmeans_f()] | F statistic between k-means clusters (maximised) | npc per k-means step | nc | the rival to beat |
#' | [ufs_laplacian()] | \eqn{f'Lf/f'Df}, f centred by degree | n^2 p | nk | local structure matters |
#' | [ufs_spec()] | spectral quotients of the normalised Laplacian | n^2 p | nk | as above, with a choice of spectral function |
#' | [ufs_mcfs()] | lasso of spectral embeddings on X | n^2 p + lasso paths | nk | clusters of any shape |
#' | [ufs_udfs()] | \eqn{\mathrm{tr}(V'MV)+\gamma\|V\|_{2,1}}, local scatter M | n^2 p per iteration | n^2 | local discrimination |
#' | [ufs_sogfs()] | the same with a learnt graph of c components | n^2 p per iteration | n^2 | the graph itself is unsure |
#' | [ufs_ndfs()] | spectral labels F >= 0 and row-sparse regression on X | n^2 p per iteration | n^2 | clusters, close to k-means labels |
#' | [ufs_rsr()] | \eqn{\|X-XV\|_{2,1}+\lambda\|V\|_{2,1}} | n^2 p + n^3 per iteration | n^2 | redundant features |
#' | [ufs_inffs()] | all paths in a graph of features | n p^2 (tiles) | p^2 or less | small p |
#' | [ufs_ted()] | reconstruct all samples from few (greedy, convex) | n p r | np | samples to label |
#' | [ufs_rrss()] | the same, robust | n r^2 per iteration | nr | samples to label, outliers |
#' | [ufs_alnr()] | the same, from neighbours | n k^3 per iteration | nk | samples to label, curved data |
#' | [ufs_cur()] | leverage scores of the leading singular vectors | npr | nr | a quick joint choice |
#' | [ufs_random()] | nothing | n + p | p | the baseline in every table |
#'
#' # Above the methods
#' [ufs_grid()] runs many settings, [ufs_tune()] chooses one without labels, [ufs_compare()]
#' judges methods with labels by the papers' protocols, [ufs_stability()] says how repeatable a
#' choice is, [ufs_aggregate()] averages fits, [ufs_propagate()] spreads few labels over a graph.
#'
#' # Rules of the package
#' * Nothing of size p x p when p > n. Methods that need n x n compute the bytes first and stop
#'   above `getOption("ufselect.max_bytes")` (8 GiB).
#' * Randomness is R's: `set.seed()` fixes a result, deterministic methods draw nothing.
#' * Ties go to the lowest index. Constant columns have score `NA` and come last.
#' * A fit that did not converge says so in its status and by a warning.
#'
#' @keywords internal
#' @useDynLib ufselect, .registration = TRUE, .fixes = "C_"
"_PACKAGE"

.onLoad <- function(libname, pkgname) register_mlr3_filter()

.onUnload <- function(libpath) {
  remove_mlr3_filter()
  library.dynam.unload("ufselect", libpath)
}
