/* ffi_sogfs.c: ufs_sogfs() to sogfs_solve(). */
#include "sogfs.h"
#include "ffi_util.h"

/* x: n x p. settings: list(n_clusters, n_dims, k, gamma, factor, accelerate). list(w, row2, reach, f,
 * neighbour, s, component, run with the counters alpha, lambda and residual);
 * neighbour and s are k x n, neighbour and component 0-based. */
SEXP ffi_sogfs(SEXP x_, SEXP settings_, SEXP control)
{
    ffi_mat x = ffi_matrix(x_, "x");
    int c = ffi_count(settings_, "n_clusters", 1, x.n - 1);
    int m = ffi_count(settings_, "n_dims", 1, x.p);
    int k = ffi_count(settings_, "k", 1, x.n - 1);
    if ((double) x.n * k > INT_MAX) Rf_error("internal error: too many neighbours");
    SEXP out = PROTECT(ffi_list("w row2 reach f neighbour s component run"));
    ufs_run run = ffi_run_begin(control, "sogfs");
    sogfs_problem problem = {
        .step = {.n = x.n,
                 .p = x.p,
                 .c = m,
                 .x = x.x,
                 .settings = {.penalty = ffi_real(settings_, "gamma"),
                              .factor = ffi_data(ffi_get(settings_, "factor"), (size_t) x.p,
                                                 "factor"),
                              .eps_row = ffi_real(control, "eps"),
                              .accelerate = ffi_flag(settings_, "accelerate")}},
        .c = c,
        .k = k};
    sogfs_settings settings = {.inner_max_iter = ffi_int(control, "inner_max_iter"),
                               .inner_tol = ffi_real(control, "inner_tol")};
    sogfs_result result = {.step = {.w = ffi_set_zero(out, "w", x.p, m),
                                    .norms = {.row = ffi_set_zero(out, "row2", x.p, 0),
                                              .dual = ffi_set_zero(out, "reach", x.p, 0)}},
                           .f = ffi_set_zero(out, "f", x.n, c),
                           .neighbour = ffi_set_ints(out, "neighbour", x.n * k),
                           .s = ffi_set_zero(out, "s", k, x.n),
                           .component = ffi_set_ints(out, "component", x.n)};

    sogfs_solve(&problem, &settings, &result, &run);
    ffi_run_end(out, &run, "alpha lambda residual",
                FFI_VALUES(result.alpha, result.lambda, result.step.residual));
    UNPROTECT(1);
    return out;
}
