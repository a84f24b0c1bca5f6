/* ffi_represent.c: ufs_represent() to sub-problem 1 of top-k selection. */
#include "ffi_util.h"
#include "solve_topk_lp.h"
#include "solve_topk_represent.h"

static void by_admm(SEXP out, SEXP x, const double *theta, SEXP s, SEXP control, double *z,
                    double *e, double *objective, ufs_run *run)
{
    static const char *const columns[] = {"outer", "iteration", "mu",        "error",
                                          "split", "change",    "objective", NULL};
    int n = Rf_nrows(x), p = Rf_ncols(x);
    size_t len = (size_t) n * (size_t) p;
    topk_represent_settings settings = {.lambda_e = ffi_real(s, "lambda_e"),
                                        .lambda_z = ffi_real(s, "lambda_z"),
                                        .mu = ffi_real(s, "mu"),
                                        .growth = ffi_real(s, "rho"),
                                        .mu_max = 1e8,
                                        .tol = ffi_real(control, "tol"),
                                        .max_iter = ffi_int(control, "max_iter"),
                                        .nonnegative = ffi_flag(s, "nonnegative"),
                                        .form = 'a'};
    topk_represent work;

    ufs_trace_named(&run->trace, settings.max_iter, columns);
    run->lapack = topk_represent_init(&work, n, p, REAL_RO(x), z, settings.form);
    if (run->lapack) return;
    work.hook = &run->hook;
    topk_represent_solve(&work, &settings, theta, false, 1, &run->trace);
    run->iterations = work.iterations;
    run->status = work.converged ? UFS_CONVERGED : UFS_MAX_ITER;
    *objective = work.objective;
    ufs_copy(e, work.e, len);
    ufs_copy(ffi_set_matrix(out, "y1", n, p), work.y1, len);
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
    topk_lp_init(&work, n, p, REAL_RO(x), z, e);
    topk_lp_solve(&work, &settings, theta);
    run->iterations = n;
    run->status = work.unsolved == 0 ? UFS_CONVERGED : UFS_STALLED;
    *objective = work.objective;
    *gap = work.gap;
    ufs_trace_add(&run->trace, (double[]){1, (double) work.pivots, work.objective, work.gap});
}

/* x: n x p, rows normalised; theta: n x n; s: list(exact, lambda_e, lambda_z, nonnegative, rho,
 * mu). list(z, e, y1 (multiplier of the ADMM), run with the counters objective and gap). */
SEXP ffi_represent(SEXP x, SEXP theta, SEXP s, SEXP control)
{
    static const char *const names[] = {"z", "e", "y1", "run", NULL};
    int n = Rf_nrows(x), p = Rf_ncols(x);
    SEXP out = PROTECT(ffi_list(names));
    ufs_run run = ffi_run_begin(control, "represent");
    double objective = R_NaN, gap = NA_REAL;
    double *z = ffi_set_zero(out, "z", n, n), *e = ffi_set_zero(out, "e", n, p);

    if (Rf_nrows(theta) != n || Rf_ncols(theta) != n) Rf_error("internal error: size of 'theta'");
    if (ffi_flag(s, "exact"))
        by_lp(x, REAL_RO(theta), s, z, e, &objective, &gap, &run);
    else
        by_admm(out, x, REAL_RO(theta), s, control, z, e, &objective, &run);
    ffi_run_end(out, &run, (ffi_counter[]){{"objective", objective}, {"gap", gap}, {NULL, 0}});
    UNPROTECT(1);
    return out;
}
