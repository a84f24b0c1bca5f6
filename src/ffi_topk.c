/* ffi_topk.c: ufs_topk() to topk_solve(), ufs_represent() to its sub-problem 1. */
#include "ffi_topk.h"

/* Of the traces of the ADMMs. */
static const double ROWS = 1e5;
static const char *const columns_z[] = {"outer", "iteration", "mu",        "error",
                                        "split", "change",    "objective", NULL};

static topk_z_settings z_settings(SEXP s, double tol, int max_iter)
{
    return (topk_z_settings){.lambda_e = ffi_real(s, "lambda_e"),
                             .lambda_z = ffi_real(s, "lambda_z"),
                             .nonnegative = ffi_flag(s, "nonnegative"),
                             .mu = ffi_real(s, "mu"),
                             .growth = ffi_real(s, "rho"),
                             .tol = tol,
                             .max_iter = max_iter};
}

topk_select_settings ffi_topk_select(SEXP s)
{
    return (topk_select_settings){.lambda_a = ffi_real(s, "lambda_a"),
                                  .lambda_i = ffi_real(s, "lambda_i"),
                                  .growth = ffi_real(s, "rho"),
                                  .tol = ffi_real(s, "inner_tol"),
                                  .max_iter = ffi_int(s, "v_max_iter")};
}

/* A zero n x n matrix, samples by samples. shape: list(p, keep, samples, features): the user's
 * number of columns, which of them are the solver's (0-based, ascending), and names or NULL. */
static double *links(SEXP out, const char *name, int n, SEXP shape)
{
    double *value = ffi_set_zero(out, name, n, n);
    ffi_set_names(out, name, ffi_get(shape, "samples"), ffi_get(shape, "samples"));
    return value;
}

/* A zero n x p matrix with the user's columns; the solver's q come first until they are spread. */
static double *errors(SEXP out, const char *name, int n, int q, SEXP shape)
{
    int p = ffi_count(shape, "p", q, INT_MAX);
    const int *keep = ffi_ints(ffi_get(shape, "keep"), (size_t) q, 0, p - 1, "keep");
    double *value = ffi_set_zero(out, name, n, p);

    for (int j = 1; j < q; j++)
        if (keep[j] <= keep[j - 1]) Rf_error("internal error: 'keep' does not ascend");
    ffi_set_names(out, name, ffi_get(shape, "samples"), ffi_get(shape, "features"));
    return value;
}

static topk_settings all_settings(SEXP s)
{
    topk_settings settings = {
        .solver = (topk_solver) ffi_count(s, "solver", TOPK_PAPER, TOPK_ADMM),
        .z = z_settings(s, ffi_real(s, "inner_tol"), ffi_int(s, "inner_max_iter")),
        .select = ffi_topk_select(s),
        .polish = ffi_flag(s, "polish"),
        .bound = ffi_flag(s, "bound"),
        .branch = ffi_flag(s, "branch_and_bound"),
        .cmn = ffi_flag(s, "cmn"),
        .bound_max_iter = ffi_int(s, "bound_max_iter"),
        .node_limit = ffi_int(s, "node_limit"),
        .bound_tol = ffi_real(s, "bound_tol"),
        .alpha = ffi_real(s, "alpha")};

    if (settings.solver == TOPK_ADMM && !ffi_paths().topk_admm) settings.solver = TOPK_EXACT;
    return settings;
}

/* n x n results only where the mode has them. */
static topk_result all_results(SEXP out, const topk_problem *problem, bool relaxed, SEXP shape)
{
    int n = problem->n, p = problem->p;
    topk_result result = {0};

    if (problem->mode != TOPK_PLAIN) {
        result.z = links(out, "z", n, shape);
        result.e = errors(out, "e", n, p, shape);
        result.w = links(out, "w", n, shape);
    }
    if (problem->mode == TOPK_PROPAGATE) {
        result.probability = ffi_set_zero(out, "probability", n, problem->c);
        result.reached = ffi_set_ints(out, "reached", n);
    }
    result.a = ffi_set_zero(out, "a", p, problem->c);
    result.v_cont = ffi_set_zero(out, "v_cont", p, 0);
    if (relaxed) result.relaxed = ffi_set_zero(out, "relaxed", p, 0);
    result.label = ffi_set_ints(out, "label", n);
    result.chosen = ffi_set_ints(out, "chosen", problem->k);
    return result;
}

/* x: n x p, rows normalised; known: classes 1..c and 0, or NULL; s: the settings, with n_clusters,
 * k, must, cost, budget, quota, mode and solver (as in topk.h).
 * shape: see links(). */
SEXP ffi_topk(SEXP x, SEXP known, SEXP s, SEXP shape, SEXP control)
{
    static const char *const columns_v[] = {"outer",  "iteration", "sum",       "box",
                                            "sphere", "change",    "objective", NULL};
    ffi_mat from = ffi_matrix(x, "x");
    size_t N = (size_t) from.n;
    int c = ffi_count(s, "n_clusters", 1, from.n);
    topk_problem problem = {.n = from.n,
                            .p = from.p,
                            .c = c,
                            .k = ffi_count(s, "k", 1, from.p),
                            .mode = (topk_mode) ffi_count(s, "mode", TOPK_CLUSTER, TOPK_PLAIN),
                            .x = from.x,
                            .known = known == R_NilValue ? NULL
                                                         : ffi_ints(known, N, 0, c, "known")};
    SEXP must = ffi_get(s, "must");
    if (must != R_NilValue) problem.must = ffi_ints(must, (size_t) from.p, -1, 1, "must");
    problem.cost = ffi_data(ffi_get(s, "cost"), (size_t) from.p, "cost");
    if (problem.cost != NULL) problem.budget = ffi_real(s, "budget");
    problem.quota = ffi_quota(ffi_get(s, "quota"), from.p);
    topk_settings settings = all_settings(s);
    bool graph = problem.mode != TOPK_PLAIN;
    SEXP out = PROTECT(
        ffi_list("z e w a v_cont relaxed label chosen probability reached run inner_z inner_v"));
    ufs_run run = ffi_run_begin(control, "topk");
    double outer = settings.solver == TOPK_PAPER ? run.max_iter : 0.0;
    topk_result result;

    if (problem.known == NULL && problem.mode != TOPK_CLUSTER)
        Rf_error("internal error: 'known' is missing");
    result = all_results(out, &problem, settings.bound, shape);
    ufs_trace_named(&result.inner_z, graph ? (int) fmin(outer * settings.z.max_iter, ROWS) : 0,
                    columns_z);
    ufs_trace_named(&result.inner_v, (int) fmin(outer * settings.select.max_iter, ROWS), columns_v);

    topk_solve(&problem, &settings, &result, &run);
    if (graph) ffi_spread(result.e, problem.n, problem.p, INTEGER_RO(ffi_get(shape, "keep")));

    ffi_set_trace(out, "inner_z", &result.inner_z);
    ffi_set_trace(out, "inner_v", &result.inner_v);
    ffi_run_end(
        out, &run, "selection_objective bound too_few_links nodes proved",
        FFI_VALUES(result.value, result.bound, result.too_few_links, result.nodes, result.proved));
    UNPROTECT(1);
    return out;
}

/* How much work linear programmes would be: for some samples (0-based) the number of links at
 * equal weights, and the pivots it took to find them. */
SEXP ffi_topk_probe(SEXP x, SEXP rows, SEXP s)
{
    ffi_mat from = ffi_matrix(x, "x");
    int n = from.n, p = from.p, count = Rf_length(rows);
    size_t N = (size_t) n, P = (size_t) p;
    const int *at = ffi_ints(rows, (size_t) count, 0, n - 1, "rows");
    topk_z_settings settings = {.lambda_e = ffi_real(s, "lambda_e"),
                                .lambda_z = ffi_real(s, "lambda_z"),
                                .nonnegative = ffi_flag(s, "nonnegative")};
    topk_lp work;
    SEXP out = PROTECT(ffi_list("links pivots"));
    int *found = ffi_set_ints(out, "links", count);
    int *pivots = ffi_set_ints(out, "pivots", count);

    topk_lp_init(&work, n, p, from.x, ufs_dalloc(N, N), ufs_dalloc(N, P), ufs_dalloc(P, N));
    work.most_pivots = ffi_int(s, "most_pivots");
    for (int i = 0; i < count; i++) {
        work.state.iterations = 0;
        found[i] = topk_lp_links(&work, &settings, at[i]);
        pivots[i] = work.state.iterations;
    }
    UNPROTECT(1);
    return out;
}

/* ---- sub-problem 1 alone ----------------------------------------------------------------- */

/* Linear programmes, the paper's schedule, or the running one in a single call; the residual is the
 * relative duality gap of each. */
static topk_z_state solve_alone(ffi_mat x, topk_solver solver, const topk_z_settings *settings,
                                const topk_theta *theta, double *z, double *e, ufs_run *run)
{
    static const char *const columns[2][5] = {{"iteration", "pivots", "objective", "gap", NULL},
                                              {"iteration", "steps", "objective", "gap", NULL}};
    bool paper = solver == TOPK_PAPER, exact = solver == TOPK_EXACT;
    double *xt = ufs_dalloc((size_t) x.p, (size_t) x.n);
    topk_admm admm = {.n = x.n, .p = x.p, .paper = paper, .x = x.x, .z = z, .e = e, .xt = xt};
    topk_lp lp;
    topk_z_state *end = exact ? &lp.state : &admm.state;

    ufs_trace_named(&run->trace, paper ? settings->max_iter : 1,
                    paper ? columns_z : columns[solver == TOPK_ADMM]);
    if (exact) {
        topk_lp_init(&lp, x.n, x.p, x.x, z, e, xt);
        topk_lp_solve(&lp, settings, theta);
    } else {
        run->lapack = topk_admm_init(&admm, &run->paths);
        if (run->lapack) return (topk_z_state){.objective = R_NaN, .residual = NA_REAL};
        if (paper)
            topk_admm_paper(&admm, settings, theta, 1, &run->trace, &run->hook);
        else
            topk_admm_go_on(&admm, settings, theta, R_PosInf, false);
    }
    if (!exact) end->residual = topk_admm_gap(&admm, settings, theta);
    if (!paper)
        ufs_trace_add(&run->trace, (double[]){1, end->iterations, end->objective, end->residual});
    run->iterations = exact ? x.n : end->iterations;
    run->status = end->solved ? UFS_CONVERGED : exact ? UFS_STALLED : UFS_MAX_ITER;
    return *end;
}

/* x: n x p, rows normalised; theta: n x n; s: list(solver, lambda_e, lambda_z, nonnegative,
 * rho, mu); shape: see links(). list(z, e, w, run with the counters objective and gap). */
SEXP ffi_represent(SEXP x, SEXP theta, SEXP s, SEXP shape, SEXP control)
{
    ffi_mat from = ffi_matrix(x, "x");
    int n = from.n, p = from.p;
    topk_theta weights = {.matrix = ffi_sized(theta, n, n, "theta"), .n = n};
    SEXP out = PROTECT(ffi_list("z e w run"));
    ufs_run run = ffi_run_begin(control, "represent");
    topk_z_settings settings = z_settings(s, run.tol, run.max_iter);
    double *z = links(out, "z", n, shape);
    double *w = links(out, "w", n, shape), *e = errors(out, "e", n, p, shape);
    topk_solver solver = (topk_solver) ffi_count(s, "solver", TOPK_PAPER, TOPK_ADMM);
    topk_z_state end = solve_alone(from, solver, &settings, &weights, z, e, &run);

    ffi_spread(e, n, p, INTEGER_RO(ffi_get(shape, "keep")));
    topk_links(n, z, w);
    ffi_run_end(out, &run, "objective gap", FFI_VALUES(end.objective, end.residual));
    UNPROTECT(1);
    return out;
}
