/* ffi_represent.c: ufs_represent() to sub-problem 1 of top-k selection. */
#include "ffi_topk.h"

static void by_admm(ffi_mat x, const topk_theta *theta, SEXP s, SEXP control, double *z, double *e,
                    double *objective, double *gap, ufs_run *run)
{
    static const char *const columns[] = {"outer", "iteration", "mu",        "error",
                                          "split", "change",    "objective", NULL};
    topk_admm_settings settings = ffi_topk_admm(s, ffi_real(control, "tol"),
                                                ffi_int(control, "max_iter"));
    topk_admm work;

    ufs_trace_named(&run->trace, settings.max_iter, columns);
    run->lapack = topk_admm_init(&work, x.n, x.p, x.x, z, e, ufs_dalloc((size_t) x.p, (size_t) x.n),
                                 true, &run->paths);
    if (run->lapack) return;
    topk_admm_paper(&work, &settings, theta, 1, &run->trace, &run->hook);
    run->iterations = work.iterations;
    run->status = work.converged ? UFS_CONVERGED : UFS_MAX_ITER;
    *objective = work.objective;
    *gap = topk_admm_gap(&work, &settings, theta);
}

static void by_lp(ffi_mat x, const topk_theta *theta, SEXP s, double *z, double *e,
                  double *objective, double *gap, ufs_run *run)
{
    static const char *const columns[] = {"iteration", "pivots", "objective", "gap", NULL};
    topk_lp_settings settings = ffi_topk_lp(s, ffi_topk_pivots(x.n, x.p));
    topk_lp work;

    ufs_trace_named(&run->trace, 1, columns);
    topk_lp_init(&work, x.n, x.p, x.x, z, e, ufs_dalloc((size_t) x.p, (size_t) x.n));
    topk_lp_solve(&work, &settings, theta);
    run->iterations = x.n;
    run->status = work.unsolved == 0 ? UFS_CONVERGED : UFS_STALLED;
    *objective = work.objective;
    *gap = work.gap;
    ufs_trace_add(&run->trace, (double[]){1, (double) work.pivots, work.objective, work.gap});
}

/* x: n x p, rows normalised; theta: n x n; s: list(exact, lambda_e, lambda_z, nonnegative, rho,
 * mu); shape: see ffi_topk.h. list(z, e, w, run with the counters objective and gap). */
SEXP ffi_represent(SEXP x, SEXP theta, SEXP s, SEXP shape, SEXP control)
{
    static const char *const names[] = {"z", "e", "w", "run", NULL};
    ffi_mat from = ffi_matrix(x, "x");
    int n = from.n, p = from.p;
    topk_theta weights = {.matrix = ffi_sized(theta, n, n, "theta"), .n = n};
    size_t N = (size_t) n;
    SEXP out = PROTECT(ffi_list(names));
    ufs_run run = ffi_run_begin(control, "represent");
    double objective = R_NaN, gap = NA_REAL, *z = ffi_topk_links(out, "z", n, shape);
    double *w = ffi_topk_links(out, "w", n, shape), *e = ffi_topk_errors(out, "e", n, p, shape);

    if (ffi_flag(s, "exact"))
        by_lp(from, &weights, s, z, e, &objective, &gap, &run);
    else
        by_admm(from, &weights, s, control, z, e, &objective, &gap, &run);
    ffi_topk_spread(e, n, p, shape);
    for (size_t j = 0; j < N; j++)
        for (size_t i = 0; i <= j; i++)
            w[i + j * N] = w[j + i * N] = 0.5 * (fabs(z[i + j * N]) + fabs(z[j + i * N]));
    ffi_run_end(out, &run, (ffi_counter[]){{"objective", objective}, {"gap", gap}, {NULL, 0}});
    UNPROTECT(1);
    return out;
}
