/* ffi_represent.c: ufs_represent() to sub-problem 1 of top-k selection. */
#include "ffi_topk.h"
#include "solve_topk_lp.h"
#include "solve_topk_represent.h"

static void by_admm(SEXP x, const double *theta, SEXP s, SEXP control, double *z, double *e,
                    double *objective, double *gap, ufs_run *run)
{
    static const char *const columns[] = {"outer", "iteration", "mu",        "error",
                                          "split", "change",    "objective", NULL};
    int n = Rf_nrows(x), p = Rf_ncols(x);
    topk_represent_settings settings = ffi_topk_represent(s, ffi_real(control, "tol"),
                                                          ffi_int(control, "max_iter"), 'a');
    topk_represent work;

    ufs_trace_named(&run->trace, settings.max_iter, columns);
    run->lapack = topk_represent_init(&work, n, p, REAL_RO(x), z, e,
                                      ufs_dalloc((size_t) n, (size_t) p), settings.form);
    if (run->lapack) return;
    work.hook = &run->hook;
    topk_represent_solve(&work, &settings, theta, false, 1, &run->trace);
    run->iterations = work.iterations;
    run->status = work.converged ? UFS_CONVERGED : UFS_MAX_ITER;
    *objective = work.objective;
    *gap = topk_represent_gap(&work, &settings, theta);
}

static void by_lp(SEXP x, const double *theta, SEXP s, double *z, double *e, double *objective,
                  double *gap, ufs_run *run)
{
    static const char *const columns[] = {"iteration", "pivots", "objective", "gap", NULL};
    int n = Rf_nrows(x), p = Rf_ncols(x);
    topk_lp_settings settings = {.lambda_e = ffi_real(s, "lambda_e"),
                                 .lambda_z = ffi_real(s, "lambda_z"),
                                 .tol = 1e-9,
                                 .most_pivots = 1000 + 20 * (n < p ? n : p),
                                 .nonnegative = ffi_flag(s, "nonnegative")};
    topk_lp work;

    ufs_trace_named(&run->trace, 1, columns);
    topk_lp_init(&work, n, p, REAL_RO(x), z, e, ufs_dalloc((size_t) p, (size_t) n));
    topk_lp_solve(&work, &settings, &(topk_theta){.matrix = theta, .n = n});
    run->iterations = n;
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
    int n = ffi_matrix(x, "x").n, p = ffi_matrix(x, "x").p;
    const double *weights = ffi_sized(theta, n, n, "theta");
    size_t N = (size_t) n;
    SEXP out = PROTECT(ffi_list(names));
    ufs_run run = ffi_run_begin(control, "represent");
    double objective = R_NaN, gap = NA_REAL, *z = ffi_topk_links(out, "z", n, shape);
    double *w = ffi_topk_links(out, "w", n, shape), *e = ffi_topk_errors(out, "e", n, p, shape);

    if (ffi_flag(s, "exact"))
        by_lp(x, weights, s, z, e, &objective, &gap, &run);
    else
        by_admm(x, weights, s, control, z, e, &objective, &gap, &run);
    ffi_topk_spread(e, n, p, shape);
    for (size_t j = 0; j < N; j++)
        for (size_t i = 0; i <= j; i++)
            w[i + j * N] = w[j + i * N] = 0.5 * (fabs(z[i + j * N]) + fabs(z[j + i * N]));
    ffi_run_end(out, &run, (ffi_counter[]){{"objective", objective}, {"gap", gap}, {NULL, 0}});
    UNPROTECT(1);
    return out;
}
