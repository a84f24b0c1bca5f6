/* ffi_test_topk.c: the parts of top-k selection, one by one, for
 * tests/testthat/test-kernel-topk.R. */
#include "ffi_topk.h"

/* Sub-problem 2 alone, its polish from `start` (0-based), and the criterion's parts.
 * w: n x n or NULL. */
SEXP ffi_test_topk_select(SEXP x, SEXP label, SEXP c_, SEXP k_, SEXP w, SEXP start, SEXP s)
{
    static const char *const names[] = {
        "chosen", "value",   "v", "a",     "iterations", "polished", "polished_value",
        "trace",  "relaxed", "h", "lower", "compressed", "info",     NULL};
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
    ufs_paths paths = ffi_paths();
    SEXP out = PROTECT(ffi_list(names));

    ufs_trace_init(&trace, settings.max_iter, TOPK_SELECT_COLUMNS);
    topk_criterion_init(&g, n, p, c, k, from.x, settings.lambda_a,
                        links != NULL && settings.lambda_i > 0.0, &paths);
    topk_select_init(&work, &g, ufs_dalloc((size_t) g.r, (size_t) p));
    topk_polish_init(&polish, &g);
    topk_bound_init(&bound, &g, ufs_dalloc((size_t) g.r, (size_t) p));
    lapack = topk_criterion_set(&g, labels, links, settings.lambda_i);
    if (lapack == 0) lapack = topk_select_admm(&work, &settings, 1, &trace);
    if (lapack == 0)
        lapack = topk_bound_solve(&bound, &g, NULL, bound.s, R_PosInf, ffi_real(s, "bound_tol"),
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
    ffi_set(out, "compressed", Rf_ScalarLogical(g.compressed));
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
