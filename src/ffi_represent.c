/* ffi_represent.c: ufs_represent() to sub-problem 1 of top-k selection. */
#include "ffi_topk.h"

static topk_z_state by_admm(ffi_mat x, const topk_z_settings *settings, const topk_theta *theta,
                            double *z, double *e, double *gap, ufs_run *run)
{
    static const char *const columns[] = {"outer", "iteration", "mu",        "error",
                                          "split", "change",    "objective", NULL};
    topk_admm work;

    ufs_trace_named(&run->trace, settings->max_iter, columns);
    run->lapack = topk_admm_init(&work, x.n, x.p, x.x, z, e, ufs_dalloc((size_t) x.p, (size_t) x.n),
                                 true, &run->paths);
    if (run->lapack) return (topk_z_state){.objective = R_NaN};
    topk_admm_paper(&work, settings, theta, 1, &run->trace, &run->hook);
    run->iterations = work.state.iterations;
    run->status = work.state.solved ? UFS_CONVERGED : UFS_MAX_ITER;
    *gap = topk_admm_gap(&work, settings, theta);
    return work.state;
}

static topk_z_state by_lp(ffi_mat x, const topk_z_settings *settings, const topk_theta *theta,
                          double *z, double *e, double *gap, ufs_run *run)
{
    static const char *const columns[] = {"iteration", "pivots", "objective", "gap", NULL};
    topk_lp work;

    ufs_trace_named(&run->trace, 1, columns);
    topk_lp_init(&work, x.n, x.p, x.x, z, e, ufs_dalloc((size_t) x.p, (size_t) x.n));
    topk_lp_solve(&work, settings, theta);
    run->iterations = x.n;
    run->status = work.state.solved ? UFS_CONVERGED : UFS_STALLED;
    *gap = work.state.residual;
    ufs_trace_add(&run->trace, (double[]){1, work.state.iterations, work.state.objective, *gap});
    return work.state;
}

/* x: n x p, rows normalised; theta: n x n; s: list(exact, lambda_e, lambda_z, nonnegative, rho,
 * mu); shape: see ffi_topk.h. list(z, e, w, run with the counters objective and gap). */
SEXP ffi_represent(SEXP x, SEXP theta, SEXP s, SEXP shape, SEXP control)
{
    ffi_mat from = ffi_matrix(x, "x");
    int n = from.n, p = from.p;
    topk_theta weights = {.matrix = ffi_sized(theta, n, n, "theta"), .n = n};
    topk_z_settings settings = ffi_topk_z(s, ffi_real(control, "tol"),
                                          ffi_int(control, "max_iter"));
    SEXP out = PROTECT(ffi_list("z e w run"));
    ufs_run run = ffi_run_begin(control, "represent");
    double gap = NA_REAL, *z = ffi_topk_links(out, "z", n, shape);
    double *w = ffi_topk_links(out, "w", n, shape), *e = ffi_topk_errors(out, "e", n, p, shape);
    topk_z_state end = (ffi_flag(s, "exact") ? by_lp : by_admm)(from, &settings, &weights, z, e,
                                                                &gap, &run);

    ffi_spread(e, n, p, INTEGER_RO(ffi_get(shape, "keep")));
    topk_links(n, z, w);
    ffi_run_end(out, &run, (ffi_counter[]){{"objective", end.objective}, {"gap", gap}, {NULL, 0}});
    UNPROTECT(1);
    return out;
}
