/* ffi_test_topk.c: the parts of top-k selection, one by one, for
 * tests/testthat/test-kernel-topk.R. */
#include "ffi_topk.h"
#include "proj.h"
#include "solve_topk_bound.h"
#include "solve_topk_label.h"
#include "solve_topk_lp.h"
#include "solve_topk_polish.h"

/* Sub-problem 1 alone. */
SEXP ffi_test_topk_represent(SEXP x, SEXP theta, SEXP s)
{
    static const char *const names[] = {"z",     "e",          "q",         "y1",       "y2",
                                        "trace", "iterations", "objective", "screened", "n_form",
                                        "info",  "gap",        NULL};
    ffi_mat from = ffi_matrix(x, "x");
    int n = from.n, p = from.p, lapack;
    size_t N = (size_t) n;
    const double *weights = ffi_sized(theta, n, n, "theta");
    topk_represent_settings settings = ffi_topk_inner_represent(s);
    topk_represent work;
    ufs_trace trace;
    SEXP out = PROTECT(ffi_list(names));

    ufs_trace_init(&trace, settings.max_iter, TOPK_REPRESENT_COLUMNS);
    lapack = topk_represent_init(&work, n, p, from.x, ffi_set_matrix(out, "z", n, n),
                                 ffi_set_matrix(out, "e", n, p), ffi_set_matrix(out, "y1", n, p),
                                 settings.form);
    ffi_set(out, "info", Rf_ScalarInteger(lapack));
    if (lapack == 0) {
        topk_represent_solve(&work, &settings, weights, false, 1, &trace);
        double *q = ffi_set_matrix(out, "q", n, n), *y2 = ffi_set_matrix(out, "y2", n, n);
        if (work.n_form) {
            ufs_copy(q, work.q, N * N);
            ufs_copy(y2, work.y2, N * N);
        } else {
            topk_blocks_copies(&work, q, y2);
        }
        ffi_set(out, "gap", Rf_ScalarReal(topk_represent_gap(&work, &settings, weights)));
        ffi_set(out, "iterations", Rf_ScalarInteger(work.iterations));
        ffi_set(out, "screened", Rf_ScalarInteger(work.n_screened));
        *ffi_set_vector(out, "objective", 1) = work.objective;
        ffi_set_trace(out, "trace", &trace);
    }
    ffi_set(out, "n_form", Rf_ScalarLogical(work.n_form));
    UNPROTECT(1);
    return out;
}

/* Sub-problem 1 sample by sample, for each of the n x n matrices in the list `thetas`; the
 * results are those of the last. */
SEXP ffi_test_topk_lp(SEXP x, SEXP thetas, SEXP s)
{
    static const char *const names[] = {"z", "e", "objective", "gap", "pivots", "unsolved", NULL};
    ffi_mat from = ffi_matrix(x, "x");
    int n = from.n, p = from.p, calls = Rf_isNewList(thetas) ? Rf_length(thetas) : 0;
    topk_lp_settings settings = {ffi_real(s, "lambda_e"), ffi_real(s, "lambda_z"), 1e-9,
                                 ffi_int(s, "inner_max_iter"), ffi_flag(s, "nonnegative")};
    topk_lp work;
    SEXP out = PROTECT(ffi_list(names));
    double *z = ffi_set_zero(out, "z", n, n), *e = ffi_set_zero(out, "e", n, p);
    double *pivots = ffi_set_vector(out, "pivots", calls);

    topk_lp_init(&work, n, p, from.x, z, e, ufs_dalloc((size_t) p, (size_t) n));
    for (int i = 0; i < calls; i++) {
        topk_theta theta = {.matrix = ffi_sized(VECTOR_ELT(thetas, i), n, n, "theta"), .n = n};
        topk_lp_solve(&work, &settings, &theta);
        pivots[i] = (double) work.pivots;
    }
    ffi_set(out, "objective", Rf_ScalarReal(work.objective));
    ffi_set(out, "gap", Rf_ScalarReal(work.gap));
    ffi_set(out, "unsolved", Rf_ScalarInteger(work.unsolved));
    UNPROTECT(1);
    return out;
}

/* Sub-problem 2 alone, its polish from `start` (0-based), and the criterion's parts.
 * w: n x n or NULL. */
SEXP ffi_test_topk_select(SEXP x, SEXP label, SEXP c_, SEXP k_, SEXP w, SEXP start, SEXP s)
{
    static const char *const names[] = {
        "chosen", "value",   "v", "a",     "iterations", "polished", "polished_value",
        "trace",  "relaxed", "h", "lower", "dense",      "info",     NULL};
    ffi_mat from = ffi_matrix(x, "x");
    int n = from.n, p = from.p, lapack, swaps = 0;
    int k = ffi_whole(k_, 1, p, "k"), c = ffi_whole(c_, 1, n, "c");
    const int *labels = ffi_ints(label, (size_t) n, 1, c, "label");
    const int *first = ffi_ints(start, (size_t) k, 0, p - 1, "start");
    const double *links = w == R_NilValue ? NULL : ffi_sized(w, n, n, "w");
    topk_select_settings settings = ffi_topk_select(s);
    topk_criterion g;
    topk_select work;
    topk_polish polish;
    topk_bound bound;
    ufs_trace trace;
    SEXP out = PROTECT(ffi_list(names));

    ufs_trace_init(&trace, settings.max_iter, TOPK_SELECT_COLUMNS);
    topk_criterion_init(&g, n, p, c, k, from.x, settings.lambda_a,
                        links != NULL && settings.lambda_i > 0.0, settings.form, true);
    topk_select_init(&work, &g, ufs_dalloc((size_t) g.r, (size_t) p));
    topk_polish_init(&polish, &g);
    topk_bound_init(&bound, &g, ufs_dalloc((size_t) g.r, (size_t) p));
    lapack = topk_criterion_set(&g, labels, links, settings.lambda_i);
    if (lapack == 0) lapack = topk_select_admm(&work, &settings, 1, &trace);
    if (lapack == 0) lapack = topk_criterion_factor(&g);
    if (lapack == 0)
        lapack = topk_bound_solve(&bound, &g, NULL, NULL, R_PosInf, ffi_real(s, "bound_tol"),
                                  ffi_int(s, "bound_max_iter"));
    if (lapack == 0) {
        int *polished = ffi_set_ints(out, "polished", k);
        memcpy(polished, first, (size_t) k * sizeof(int));
        *ffi_set_vector(out, "polished_value", 1) = topk_polish_solve(&polish, &g, polished,
                                                                      &swaps);
        memcpy(ffi_set_ints(out, "chosen", k), work.chosen, (size_t) k * sizeof(int));
        *ffi_set_vector(out, "value", 1) = work.value;
        ufs_copy(ffi_set_vector(out, "v", p), work.v, (size_t) p);
        lapack = topk_criterion_coef(&g, work.chosen, ffi_set_matrix(out, "a", p, c));
        ffi_set(out, "iterations", Rf_ScalarInteger(work.iterations));
        ffi_set_trace(out, "trace", &trace);
        ufs_copy(ffi_set_vector(out, "relaxed", p), bound.s, (size_t) p);
        *ffi_set_vector(out, "h", 1) = bound.value;
        *ffi_set_vector(out, "lower", 1) = bound.lower;
    }
    ffi_set(out, "dense", Rf_ScalarLogical(g.dense));
    ffi_set(out, "info", Rf_ScalarInteger(lapack));
    UNPROTECT(1);
    return out;
}

SEXP ffi_test_topk_label(SEXP z, SEXP c_, SEXP previous)
{
    static const char *const names[] = {"label", "info", NULL};
    int n = ffi_matrix(z, "z").n, c = ffi_whole(c_, 1, n, "c");
    const double *from = ffi_sized(z, n, n, "z");
    bool have = previous != R_NilValue;
    const int *before = have ? ffi_ints(previous, (size_t) n, 1, c, "previous") : NULL;
    topk_label work;
    SEXP out = PROTECT(ffi_list(names));
    int *label = ffi_set_ints(out, "label", n);

    if (have) memcpy(label, before, (size_t) n * sizeof(int));
    topk_label_init(&work, n, c, ufs_dalloc((size_t) n, (size_t) n));
    ffi_set(out, "info", Rf_ScalarInteger(topk_label_solve(&work, from, have, label)));
    UNPROTECT(1);
    return out;
}

SEXP ffi_test_proj_capped(SEXP y, SEXP total)
{
    int n = Rf_length(y);
    const double *from = ffi_given(y, (size_t) n, "y"), sum = ffi_number(total, "total");
    if (n < 1) Rf_error("internal error: 'y' is empty");
    SEXP out = PROTECT(Rf_allocVector(REALSXP, n));
    proj_capped_simplex(n, from, sum, REAL(out));
    UNPROTECT(1);
    return out;
}
