/* ffi_topk.c: edge of ufs_topk() and ufs_propagate(), and test entries of their parts. */
#include "ffi_util.h"
#include "la.h"
#include "proj.h"
#include "propagate.h"
#include "solve_topk.h"

static char form_of(SEXP settings, const char *name)
{
    return CHAR(STRING_ELT(ffi_get(settings, name), 0))[0];
}

static topk_represent_settings represent_settings(SEXP s)
{
    topk_represent_settings set = {
        ffi_real(s, "lambda_e"), ffi_real(s, "lambda_z"), ffi_real(s, "mu"),
        ffi_real(s, "rho"), 1e8, ffi_real(s, "inner_tol"), ffi_int(s, "inner_max_iter"),
        ffi_flag(s, "nonnegative"), form_of(s, "represent_form")};
    return set;
}

static topk_select_settings select_settings(SEXP s)
{
    topk_select_settings set = {
        .lambda_a = ffi_real(s, "lambda_a"), .lambda_i = ffi_real(s, "lambda_i"),
        .growth = 1.1, .tol = ffi_real(s, "inner_tol"), .max_iter = ffi_int(s, "v_max_iter"),
        .incumbent = ffi_flag(s, "incumbent"), .polish = ffi_flag(s, "polish"),
        .bound = ffi_flag(s, "bound"), .branch = ffi_flag(s, "branch_and_bound"),
        .bound_max_iter = ffi_int(s, "bound_max_iter"),
        .node_limit = ffi_int(s, "node_limit"), .bound_tol = ffi_real(s, "bound_tol"),
        .form = form_of(s, "select_form")};
    return set;
}

static int capacity(int outer, int inner)
{
    double rows = (double) outer * (double) inner;
    return rows < TOPK_INNER_ROWS ? (int) rows : TOPK_INNER_ROWS;
}

/* x: n x p, rows normalised; known: classes 1..c and 0, or NULL; k, c: sizes; mode as in
 * topk_mode; s: settings. n x n results only where the mode has them. */
SEXP ffi_topk(SEXP x, SEXP known, SEXP c_, SEXP k_, SEXP mode_, SEXP s, SEXP control)
{
    static const char *const names[] = {
        "z", "e", "w", "theta", "a", "v", "v_cont", "relaxed", "probability", "reached", "label",
        "chosen", "trace", "inner_z", "inner_v", "status", "iterations", "info",
        "too_few_links", "isolated", "unreached", "nodes", "proved", "value", "bound",
        NULL};
    topk_problem prob = {
        .n = Rf_nrows(x), .p = Rf_ncols(x), .c = Rf_asInteger(c_), .k = Rf_asInteger(k_),
        .mode = (topk_mode) Rf_asInteger(mode_), .x = REAL_RO(x),
        .known = known == R_NilValue ? NULL : INTEGER_RO(known)};
    topk_settings set = {
        .represent = represent_settings(s), .select = select_settings(s),
        .alpha = ffi_real(s, "alpha"), .tol = ffi_real(s, "tol"),
        .max_iter = ffi_int(s, "max_iter"), .cmn = ffi_flag(s, "cmn")};
    bool graph = prob.mode != TOPK_PLAIN;
    SEXP out = PROTECT(ffi_list(names));
    topk_result res = {0};
    topk_info info;
    ffi_hook_data data;
    ufs_hook hook = ffi_hook(control, "topk", &data);

    if (graph) {
        res.z = ffi_set_matrix(out, "z", prob.n, prob.n);
        res.e = ffi_set_matrix(out, "e", prob.n, prob.p);
        res.w = ffi_set_matrix(out, "w", prob.n, prob.n);
        res.theta = ffi_set_matrix(out, "theta", prob.n, prob.n);
    }
    if (prob.mode == TOPK_PROPAGATE) {
        res.probability = ffi_set_matrix(out, "probability", prob.n, prob.c);
        res.reached = ffi_set_ints(out, "reached", prob.n);
    }
    res.a = ffi_set_matrix(out, "a", prob.p, prob.c);
    res.v = ffi_set_vector(out, "v", prob.p);
    res.v_cont = ffi_set_vector(out, "v_cont", prob.p);
    if (set.select.bound) res.relaxed = ffi_set_vector(out, "relaxed", prob.p);
    res.label = ffi_set_ints(out, "label", prob.n);
    res.chosen = ffi_set_ints(out, "chosen", prob.k);
    ufs_trace_init(&info.trace, set.max_iter, TOPK_TRACE_COLS);
    ufs_trace_init(&info.inner_z, graph ? capacity(set.max_iter, set.represent.max_iter) : 0,
                   TOPK_INNER_COLS);
    ufs_trace_init(&info.inner_v, capacity(set.max_iter, set.select.max_iter),
                   TOPK_INNER_COLS);

    topk_solve(&prob, &set, &res, &info, &hook);

    ffi_set_trace(out, "trace", &info.trace);
    ffi_set_trace(out, "inner_z", &info.inner_z);
    ffi_set_trace(out, "inner_v", &info.inner_v);
    ffi_set(out, "status", Rf_ScalarInteger((int) info.status));
    ffi_set(out, "iterations", Rf_ScalarInteger(info.iterations));
    ffi_set(out, "info", Rf_ScalarInteger(info.lapack));
    ffi_set(out, "too_few_links", Rf_ScalarLogical(info.too_few_links));
    ffi_set(out, "isolated", Rf_ScalarInteger(info.isolated));
    ffi_set(out, "unreached", Rf_ScalarInteger(info.unreached));
    ffi_set(out, "nodes", Rf_ScalarInteger(info.nodes));
    ffi_set(out, "proved", Rf_ScalarLogical(info.proved));
    *ffi_set_vector(out, "value", 1) = info.value;
    *ffi_set_vector(out, "bound", 1) = info.bound;
    UNPROTECT(1);
    return out;
}

/* w: n x n; known: 0..c; x: n x p or NULL. */
SEXP ffi_propagate(SEXP w, SEXP known, SEXP c_, SEXP cmn, SEXP x)
{
    static const char *const names[] = {"label", "probability", "reached", "info", NULL};
    propagate_problem prob = {
        Rf_nrows(w), Rf_asInteger(c_), REAL_RO(w), INTEGER_RO(known),
        Rf_asLogical(cmn) == 1, x == R_NilValue ? 0 : Rf_ncols(x),
        x == R_NilValue ? NULL : REAL_RO(x)};
    SEXP out = PROTECT(ffi_list(names));
    int *label = ffi_set_ints(out, "label", prob.n);
    int *reached = ffi_set_ints(out, "reached", prob.n);
    double *probability = ffi_set_matrix(out, "probability", prob.n, prob.c);
    ffi_set(out, "info", Rf_ScalarInteger(propagate_solve(&prob, label, probability, reached)));
    UNPROTECT(1);
    return out;
}

/* Sub-problem 1 alone. */
SEXP ffi_test_topk_represent(SEXP x, SEXP theta, SEXP s)
{
    static const char *const names[] = {"z", "e", "q", "y1", "y2", "trace", "iterations",
                                        "objective", "screened", "n_form", "info", NULL};
    int n = Rf_nrows(x), p = Rf_ncols(x), info;
    size_t N = (size_t) n, P = (size_t) p;
    topk_represent_settings set = represent_settings(s);
    topk_represent work;
    ufs_trace trace;
    SEXP out = PROTECT(ffi_list(names));

    ufs_trace_init(&trace, set.max_iter, TOPK_INNER_COLS);
    info = topk_represent_init(&work, n, p, REAL_RO(x), ffi_set_matrix(out, "z", n, n),
                               set.form);
    ffi_set(out, "info", Rf_ScalarInteger(info));
    if (info == 0) {
        topk_represent_solve(&work, &set, REAL_RO(theta), false, 1, &trace);
        ufs_copy(ffi_set_matrix(out, "e", n, p), work.e, N * P);
        ufs_copy(ffi_set_matrix(out, "q", n, n), work.q, N * N);
        ufs_copy(ffi_set_matrix(out, "y1", n, p), work.y1, N * P);
        ufs_copy(ffi_set_matrix(out, "y2", n, n), work.y2, N * N);
        ffi_set(out, "iterations", Rf_ScalarInteger(work.iterations));
        ffi_set(out, "screened", Rf_ScalarInteger(work.n_screened));
        *ffi_set_vector(out, "objective", 1) = work.objective;
        ffi_set_trace(out, "trace", &trace);
    }
    ffi_set(out, "n_form", Rf_ScalarLogical(work.n_form));
    UNPROTECT(1);
    return out;
}

/* Sub-problem 2 alone, its polish from `start` (0-based), and the criterion's parts.
 * w: n x n or NULL. */
SEXP ffi_test_topk_select(SEXP x, SEXP label, SEXP c_, SEXP k_, SEXP w, SEXP start, SEXP s)
{
    static const char *const names[] = {"chosen", "value", "v", "a", "iterations", "polished",
                                        "polished_value", "trace", "relaxed", "h", "lower",
                                        "dense", "info", NULL};
    int p = Rf_ncols(x), k = Rf_asInteger(k_), c = Rf_asInteger(c_), info, swaps = 0;
    topk_select_settings set = select_settings(s);
    topk_criterion g;
    topk_select work;
    topk_polish polish;
    topk_bound bound;
    ufs_trace trace;
    SEXP out = PROTECT(ffi_list(names));

    ufs_trace_init(&trace, set.max_iter, TOPK_INNER_COLS);
    topk_criterion_init(&g, Rf_nrows(x), p, c, k, REAL_RO(x), set.lambda_a,
                        w != R_NilValue && set.lambda_i > 0.0, set.form, true);
    topk_select_init(&work, &g);
    topk_polish_init(&polish, &g);
    topk_bound_init(&bound, &g);
    info = topk_criterion_set(&g, INTEGER_RO(label), w == R_NilValue ? NULL : REAL_RO(w),
                              set.lambda_i);
    if (info == 0) info = topk_select_admm(&work, &set, 1, &trace);
    if (info == 0) info = topk_criterion_factor(&g);
    if (info == 0)
        info = topk_bound_solve(&bound, &g, NULL, NULL, R_PosInf, set.bound_tol,
                                set.bound_max_iter);
    if (info == 0) {
        int *polished = ffi_set_ints(out, "polished", k);
        memcpy(polished, INTEGER_RO(start), (size_t) k * sizeof(int));
        *ffi_set_vector(out, "polished_value", 1) =
            topk_polish_solve(&polish, &g, polished, &swaps);
        memcpy(ffi_set_ints(out, "chosen", k), work.chosen, (size_t) k * sizeof(int));
        *ffi_set_vector(out, "value", 1) = work.value;
        ufs_copy(ffi_set_vector(out, "v", p), work.v, (size_t) p);
        info = topk_criterion_coef(&g, work.chosen, ffi_set_matrix(out, "a", p, c));
        ffi_set(out, "iterations", Rf_ScalarInteger(work.iterations));
        ffi_set_trace(out, "trace", &trace);
        ufs_copy(ffi_set_vector(out, "relaxed", p), bound.s, (size_t) p);
        *ffi_set_vector(out, "h", 1) = bound.value;
        *ffi_set_vector(out, "lower", 1) = bound.lower;
    }
    ffi_set(out, "dense", Rf_ScalarLogical(g.dense));
    ffi_set(out, "info", Rf_ScalarInteger(info));
    UNPROTECT(1);
    return out;
}

SEXP ffi_test_topk_label(SEXP z, SEXP c_, SEXP previous)
{
    static const char *const names[] = {"label", "info", NULL};
    int n = Rf_nrows(z);
    bool have = previous != R_NilValue;
    topk_label work;
    SEXP out = PROTECT(ffi_list(names));
    int *label = ffi_set_ints(out, "label", n);

    if (have) memcpy(label, INTEGER_RO(previous), (size_t) n * sizeof(int));
    topk_label_init(&work, n, Rf_asInteger(c_));
    ffi_set(out, "info", Rf_ScalarInteger(topk_label_solve(&work, REAL_RO(z), have, label)));
    UNPROTECT(1);
    return out;
}

SEXP ffi_test_proj_capped(SEXP y, SEXP total)
{
    int n = (int) Rf_xlength(y);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, n));
    proj_capped_simplex(n, REAL_RO(y), Rf_asReal(total), REAL(out));
    UNPROTECT(1);
    return out;
}
