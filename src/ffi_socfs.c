/* ffi_socfs.c: ufs_socfs() to socfs_solve(). */
#include "ffi_util.h"
#include "solve_socfs.h"

/* x: n x p. start: list(E, F, V, g), the last three may be NULL. stages: one row per
 * stage, columns exact, lambda, max_iter, inner_max_iter, tol, inner_tol. options:
 * list(lambda, gamma, eps, memory, verbose, progress). */
SEXP ffi_socfs(SEXP x, SEXP start, SEXP stages, SEXP options)
{
    static const char *const names[] = {"V", "E", "F", "kkt", "trace", "status",
        "iterations", "objective", "gap", "violation", "counts", "info", NULL};
    SEXP e0 = ffi_get(start, "E");
    int n = Rf_nrows(x), p = Rf_ncols(x), c = Rf_ncols(e0), n_stage = Rf_nrows(stages);
    size_t N = (size_t) n, P = (size_t) p, C = (size_t) c, rows = 1;
    const double *table = ffi_data(stages, 6 * (size_t) n_stage, "stages");
    SEXP out = PROTECT(ffi_list(names));
    socfs_problem problem = {
        .n = n, .p = p, .c = c, .x = ffi_data(x, N * P, "x"),
        .lambda = ffi_real(options, "lambda"), .gamma = ffi_real(options, "gamma"),
        .eps = ffi_real(options, "eps"), .e0 = ffi_data(e0, N * C, "E"),
        .f0 = ffi_data(ffi_get(start, "F"), N * C, "F"),
        .v0 = ffi_data(ffi_get(start, "V"), P * C, "V"),
        .g0 = ffi_data(ffi_get(start, "g"), P, "g")};
    socfs_stage *stage = (socfs_stage *) R_alloc((size_t) n_stage, sizeof(socfs_stage));
    socfs_settings settings = {.n_stage = n_stage, .stage = stage,
                               .memory = ffi_int(options, "memory")};
    socfs_info info;
    ufs_trace trace;
    ffi_hook_data hook_data;
    ufs_hook hook = ffi_hook(options, "socfs", &hook_data);

    for (int k = 0; k < n_stage; k++) {
        const double *at = table + k;
        stage[k].exact = at[0] != 0.0;
        stage[k].lambda = at[n_stage];
        stage[k].max_iter = (int) at[2 * n_stage];
        stage[k].inner_max_iter = (int) at[3 * n_stage];
        stage[k].tol = at[4 * n_stage];
        stage[k].inner_tol = at[5 * n_stage];
        if (stage[k].lambda == problem.lambda) rows += (size_t) stage[k].max_iter;
    }
    if (settings.memory < 0 || settings.memory > SOCFS_MEMORY || rows > INT_MAX)
        Rf_error("internal error: settings of socfs out of range");
    ufs_trace_init(&trace, (int) rows, SOCFS_TRACE_COLS);

    double *v = ffi_set_matrix(out, "V", p, c), *e = ffi_set_matrix(out, "E", n, c);
    double *f = ffi_set_matrix(out, "F", n, c), *kkt = ffi_set_vector(out, "kkt", p);
    socfs_solve(&problem, &settings, &hook, v, e, f, kkt, &trace, &info);

    double *counts = ffi_set_vector(out, "counts", 3);
    counts[0] = info.products;
    counts[1] = info.sweeps;
    counts[2] = info.columns;
    ffi_set_trace(out, "trace", &trace);
    ffi_set(out, "status", Rf_ScalarInteger((int) info.status));
    ffi_set(out, "iterations", Rf_ScalarInteger(info.iterations));
    ffi_set(out, "objective", Rf_ScalarReal(info.objective));
    ffi_set(out, "gap", Rf_ScalarReal(info.gap));
    ffi_set(out, "violation", Rf_ScalarReal(info.violation));
    ffi_set(out, "info", Rf_ScalarInteger(info.info));
    UNPROTECT(1);
    return out;
}
