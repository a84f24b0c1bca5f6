/* ffi_ndfs.c: ufs_ndfs() to ndfs_solve(). */
#include "ndfs.h"
#include "ffi_util.h"

/* x: n x p. f0: n x c start of F. settings: list(alpha, beta, gamma, start_g, exact, split,
 * normalised, factor, first). list(f, w, reach, run with the counters orthogonality and kkt). */
SEXP ffi_ndfs(SEXP x_, SEXP graph, SEXP f0_, SEXP settings_, SEXP control)
{
    ffi_mat x = ffi_matrix(x_, "x"), f0 = ffi_matrix(f0_, "f0");
    graph_csr g = ffi_graph_for(graph, x.n);
    if (f0.n != x.n || f0.p < 1) Rf_error("internal error: arguments of ndfs do not fit");
    SEXP out = PROTECT(ffi_list("f w reach run"));
    ufs_run run = ffi_run_begin(control, "ndfs");
    ndfs_problem problem = {
        .n = x.n,
        .p = x.p,
        .c = f0.p,
        .x = x.x,
        .graph = &g,
        .normalised = ffi_flag(settings_, "normalised"),
        .alpha = ffi_real(settings_, "alpha"),
        .copies = ffi_copies(settings_, x.p),
        .beta = ffi_real(settings_, "beta"),
        .gamma = ffi_real(settings_, "gamma"),
        .factor = ffi_data(ffi_get(settings_, "factor"), (size_t) x.p, "factor")};
    ndfs_settings settings = {.eps = ffi_real(control, "eps"),
                              .kkt_tol = ffi_real(control, "inner_tol"),
                              .start_g = ffi_real(settings_, "start_g"),
                              .exact = ffi_flag(settings_, "exact"),
                              .split = ffi_flag(settings_, "split")};
    ndfs_result result = {.f = ffi_set_matrix(out, "f", x.n, f0.p),
                          .w = ffi_set_zero(out, "w", x.p, f0.p),
                          .reach = ffi_set_zero(out, "reach", x.p, 0)};

    ufs_copy(result.f, f0.x, (size_t) f0.n * (size_t) f0.p);
    ndfs_solve(&problem, &settings, &result, &run);
    ffi_run_end(out, &run, "orthogonality kkt", FFI_VALUES(result.orthogonality, result.kkt));
    UNPROTECT(1);
    return out;
}
