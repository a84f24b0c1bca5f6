#' The settings a paper searched
#'
#' Returns, as a data frame, the grid over which a published comparison searched the
#' penalties of a method, to be handed to [ufs_grid()], [ufs_tune()] or [ufs_compare()].
#'
#' The ALFS paper searches its three penalties, and those of TED, RRSS and ALNR, over
#' \{1e-4, 1e-3, ..., 1e3\} and reports the best result. These are absolute penalties: what they
#' mean depends on the unit and the size of the data, which the paper does not state to have been
#' standardised. On raw musk, ORL and TOX-171 nearly all of them are so small that they choose the
#' same; the relative penalties of this package (`alpha_rel`, `mu_rel`, `gamma_rel`) are free of
#' that. The text the package was written from states no grid for the other methods.
#'
#' @param method Name of a method with a published grid: `"alfs"`, `"ted"`, `"rrss"`, `"alnr"`.
#' @param variant Which grid, where there are several: for `"alfs"` `"ALFS-II"` (the default, 512
#'   settings) or `"ALFS-I"` (lambda = 0, 64 settings).
#' @return A data frame, one row per setting, one column per argument, with attribute `source`.
#' @references Li, C. et al. (2019) Joint active learning with feature selection via CUR
#'   matrix decomposition. *IEEE TPAMI* **41**(6), 1382-1396. \doi{10.1109/TPAMI.2018.2840980}
#' @examples
#' ufs_grid_paper("ted")
#' grid <- ufs_grid_paper("alfs", "ALFS-I")
#' nrow(grid)
#' # Every ninth of the 64 settings by the published algorithm, on data as they are:
#' ufs_grid(mtcars, "alfs", grid[seq(1, 64, by = 9), ], solver = "paper", center = FALSE,
#'   scale = FALSE, control = ufs_control(warn = FALSE))
#' @export
ufs_grid_paper <- function(method, variant = NULL) {
  known <- Filter(function(row) !is.null(row$paper_grid), registry())
  if (missing(method) || !is.character(method) || length(method) != 1L ||
      !method %in% names(known)) {
    refuse("method", "`method` must be one of ", paste0("\"", names(known), "\"", collapse = ", "),
      ", whose grids a paper states", if (!missing(method)) paste0("; it is ", brief(method)), ".")
  }
  paper <- known[[method]]$paper_grid
  if (is.null(variant)) variant <- names(paper$grids)[1L]
  variant <- check_choice(variant, "variant", names(paper$grids))
  grid <- do.call(expand.grid, c(paper$grids[[variant]], list(KEEP.OUT.ATTRS = FALSE)))
  attr(grid, "source") <- paper$source
  grid
}
