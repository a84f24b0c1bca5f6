/* ffi_socfs.c: ufs_socfs() to socfs_solve(). */
#include "ffi_util.h"
#include "socfs.h"

static void read_stages(SEXP stages, socfs_stage *stage, int n_stage)
{
    const double *table = ffi_sized(stages, n_stage, 6, "stages");

    for (int k = 0; k < n_stage; k++) {
        const double *at = table + k;
        if (!(at[2 * n_stage] >= 0.0 && at[2 * n_stage] <= INT_MAX) ||
            !(at[3 * n_stage] >= 0.0 && at[3 * n_stage] <= INT_MAX))
            Rf_error("internal error: iterations of a stage");
        stage[k].exact = at[0] != 0.0;
        stage[k].lambda = at[n_stage];
        stage[k].max_iter = (int) at[2 * n_stage];
        stage[k].inner_max_iter = (int) at[3 * n_stage];
        stage[k].tol = at[4 * n_stage];
        stage[k].inner_tol = at[5 * n_stage];
    }
}

/* x: n x p, see ffi_x(). start: list(E, F, V, g), the last three may be NULL. settings:
 * list(stages,
 * lambda, gamma, eps, factor, memory); stages has one row per stage and columns exact, lambda,
 * max_iter, inner_max_iter, tol, inner_tol. list(V, E, F, kkt, inner, run with the counters
 * objective, gap, violation, products, sweeps, columns). */
SEXP ffi_socfs(SEXP x, SEXP start, SEXP settings_, SEXP control)
{
    SEXP e0 = ffi_get(start, "E"), stages = ffi_get(settings_, "stages");
    ufs_x op = ffi_x_finite(x);
    int n = op.n, p = op.p, c = ffi_matrix(e0, "E").p, n_stage = ffi_matrix(stages, "stages").n;
    size_t N = (size_t) n, P = (size_t) p, C = (size_t) c;
    SEXP out = PROTECT(ffi_list("V E F kkt inner run"));
    ufs_run run = ffi_run_begin(control, "socfs");
    socfs_problem problem = {.n = n,
                             .p = p,
                             .c = c,
                             .x = &op,
                             .lambda = ffi_real(settings_, "lambda"),
                             .gamma = ffi_real(settings_, "gamma"),
                             .eps = ffi_real(settings_, "eps"),
                             .factor = ffi_data(ffi_get(settings_, "factor"), P, "factor"),
                             .e0 = ffi_sized(e0, n, c, "E"),
                             .f0 = ffi_data(ffi_get(start, "F"), N * C, "F"),
                             .v0 = ffi_data(ffi_get(start, "V"), P * C, "V"),
                             .g0 = ffi_data(ffi_get(start, "g"), P, "g")};
    socfs_stage *stage = (socfs_stage *) R_alloc((size_t) n_stage, sizeof(socfs_stage));
    socfs_settings settings = {
        .n_stage = n_stage, .stage = stage, .memory = ffi_count(settings_, "memory", 0, 1000)};
    socfs_result result = {.v = ffi_set_zero(out, "V", p, c),
                           .e = ffi_set_zero(out, "E", n, c),
                           .f = ffi_set_zero(out, "F", n, c),
                           .kkt = ffi_set_zero(out, "kkt", p, 0)};

    read_stages(stages, stage, n_stage);
    socfs_solve(&problem, &settings, &result, &run);
    ffi_set_trace(out, "inner", &result.inner);
    ffi_run_end(out, &run, "objective gap violation products sweeps columns",
                FFI_VALUES(result.objective, result.gap, result.violation, result.products,
                           result.sweeps, result.columns));
    UNPROTECT(1);
    return out;
}
