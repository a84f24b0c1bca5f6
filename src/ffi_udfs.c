/* ffi_udfs.c: ufs_udfs() to udfs_solve(). */
#include "udfs.h"
#include "ffi_util.h"

/* x: n x p. settings: list(n_clusters, k, lambda, gamma, factor, accelerate). list(w, row2, reach, run with
 * the counter residual). */
SEXP ffi_udfs(SEXP x_, SEXP settings_, SEXP control)
{
    ffi_mat x = ffi_matrix(x_, "x");
    int c = ffi_count(settings_, "n_clusters", 1, x.p);
    SEXP out = PROTECT(ffi_list("w row2 reach run"));
    ufs_run run = ffi_run_begin(control, "udfs");
    udfs_problem problem = {.step = {.n = x.n,
                                     .p = x.p,
                                     .c = c,
                                     .x = x.x,
                                     .settings = {.penalty = ffi_real(settings_, "gamma"),
                                                  .factor = ffi_data(ffi_get(settings_, "factor"),
                                                                     (size_t) x.p, "factor"),
                                                  .eps_row = ffi_real(control, "eps"),
                                                  .accelerate = ffi_flag(settings_, "accelerate")}},
                            .k = ffi_count(settings_, "k", 1, x.n - 1),
                            .lambda = ffi_real(settings_, "lambda")};
    wstep_result result = {.w = ffi_set_zero(out, "w", x.p, c),
                           .norms = {.row = ffi_set_zero(out, "row2", x.p, 0),
                                     .dual = ffi_set_zero(out, "reach", x.p, 0)}};

    udfs_solve(&problem, &result, &run);
    ffi_run_end(out, &run, "residual", FFI_VALUES(result.residual));
    UNPROTECT(1);
    return out;
}
