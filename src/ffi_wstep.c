/* ffi_wstep.c: ufs_udfs() to udfs_solve(), ufs_sogfs() to sogfs_solve(). */
#include "ffi_util.h"
#include "sogfs.h"
#include "udfs.h"

/* The problem over W, p x c: settings: list(gamma, factor, accelerate). */
static wstep_problem step_problem(SEXP x_, int c, SEXP settings, SEXP control)
{
    ffi_mat x = ffi_matrix(x_, "x");

    return (wstep_problem){
        .n = x.n,
        .p = x.p,
        .c = c,
        .x = x.x,
        .settings = {.penalty = ffi_real(settings, "gamma"),
                     .factor = ffi_data(ffi_get(settings, "factor"), (size_t) x.p, "factor"),
                     .eps_row = ffi_real(control, "eps"),
                     .accelerate = ffi_flag(settings, "accelerate")}};
}

static wstep_result step_result(SEXP out, const wstep_problem *step)
{
    return (wstep_result){.w = ffi_set_zero(out, "w", step->p, step->c),
                          .norms = {.row = ffi_set_zero(out, "row2", step->p, 0),
                                    .dual = ffi_set_zero(out, "reach", step->p, 0)}};
}

/* x: n x p. settings: list(n_clusters, k, lambda) and those above. list(w, row2, reach, run with
 * the counter residual). */
SEXP ffi_udfs(SEXP x, SEXP settings, SEXP control)
{
    SEXP out = PROTECT(ffi_list("w row2 reach run"));
    ufs_run run = ffi_run_begin(control, "udfs");
    int c = ffi_count(settings, "n_clusters", 1, ffi_table(x, "x").p);
    udfs_problem problem = {.step = step_problem(x, c, settings, control),
                            .lambda = ffi_real(settings, "lambda")};
    problem.k = ffi_count(settings, "k", 1, problem.step.n - 1);
    wstep_result result = step_result(out, &problem.step);

    udfs_solve(&problem, &result, &run);
    ffi_run_end(out, &run, "residual", FFI_VALUES(result.residual));
    UNPROTECT(1);
    return out;
}

/* x: n x p. settings: list(n_clusters, n_dims, k) and those above. list(w, row2, reach, f,
 * neighbour, s, component, run with the counters alpha, lambda and residual);
 * neighbour and s are k x n, neighbour and component 0-based. */
SEXP ffi_sogfs(SEXP x, SEXP settings_, SEXP control)
{
    SEXP out = PROTECT(ffi_list("w row2 reach f neighbour s component run"));
    ufs_run run = ffi_run_begin(control, "sogfs");
    int m = ffi_count(settings_, "n_dims", 1, ffi_table(x, "x").p);
    sogfs_problem problem = {.step = step_problem(x, m, settings_, control)};
    int n = problem.step.n;
    problem.c = ffi_count(settings_, "n_clusters", 1, n - 1);
    problem.k = ffi_count(settings_, "k", 1, n - 1);
    if ((double) n * problem.k > INT_MAX) Rf_error("internal error: too many neighbours");
    sogfs_settings settings = {.inner_max_iter = ffi_int(control, "inner_max_iter"),
                               .inner_tol = ffi_real(control, "inner_tol")};
    sogfs_result result = {.step = step_result(out, &problem.step),
                           .f = ffi_set_zero(out, "f", n, problem.c),
                           .neighbour = ffi_set_ints(out, "neighbour", n * problem.k),
                           .s = ffi_set_zero(out, "s", problem.k, n),
                           .component = ffi_set_ints(out, "component", n)};

    sogfs_solve(&problem, &settings, &result, &run);
    ffi_run_end(out, &run, "alpha lambda residual",
                FFI_VALUES(result.alpha, result.lambda, result.step.residual));
    UNPROTECT(1);
    return out;
}
