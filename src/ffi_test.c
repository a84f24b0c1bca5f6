/* ffi_test.c: the kernels, and the parts of some solvers, one by one, for tests/testthat. */
#include "anderson.h"
#include "ffi_topk.h"
#include "ffi_util.h"
#include "qp_simplex.h"
#include "eig.h"
#include "gl.h"
#include "ridge.h"

static void set_eigs(SEXP out, const eig_info *info, const char *lapack, const char *products)
{
    ffi_set(out, products, Rf_ScalarInteger(info->products));
    ffi_set(out, "residual", Rf_ScalarReal(info->residual));
    ffi_set(out, "converged", Rf_ScalarLogical(info->converged));
    ffi_set(out, lapack, Rf_ScalarInteger(info->lapack));
}

/* ---- linear algebra ----------------------------------------------------------------- */

SEXP ffi_test_ridge(SEXP x, SEXP t, SEXP g, SEXP lambda, SEXP form)
{
    ffi_mat from = ffi_matrix(x, "x");
    int n = from.n, p = from.p, c = ffi_matrix(t, "t").p;
    const double *target = ffi_sized(t, n, c, "t"), *weight = ffi_given(g, (size_t) p, "g");
    double penalty = ffi_number(lambda, "lambda");
    SEXP out = PROTECT(ffi_list("v p_form info"));
    double *v = ffi_set_matrix(out, "v", p, c);
    ufs_x op = ufs_x_dense(n, p, from.x);
    ridge_work work;
    if (!Rf_isString(form) || Rf_xlength(form) != 1) Rf_error("internal error: 'form'");
    ridge_init(&work, c, &op, CHAR(STRING_ELT(form, 0))[0]);
    *ffi_set_ints(out, "info", 1) = ridge_solve(&work, target, weight, penalty, v);
    ffi_set(out, "p_form", Rf_ScalarLogical(work.p_form));
    UNPROTECT(1);
    return out;
}

SEXP ffi_test_polar(SEXP a, SEXP e_old)
{
    ffi_mat from = ffi_matrix(a, "a");
    int n = from.n, c = from.p;
    const double *old = e_old == R_NilValue ? NULL : ffi_sized(e_old, n, c, "e_old");
    if (c > n) Rf_error("internal error: 'a' is wide");
    SEXP out = PROTECT(ffi_list("e info"));
    double *e = ffi_set_matrix(out, "e", n, c);
    la_polar_work work;
    la_polar_init(&work, n, c);
    *ffi_set_ints(out, "info", 1) = la_polar(&work, from.x, old, e);
    UNPROTECT(1);
    return out;
}

/* The inverse of a positive definite matrix by its Cholesky factor. */
SEXP ffi_test_inverse(SEXP a)
{
    int n = ffi_matrix(a, "a").n, info;
    const double *from = ffi_sized(a, n, n, "a");
    SEXP out = PROTECT(ffi_list("inverse info"));
    double *r = ffi_set_matrix(out, "inverse", n, n);
    ufs_copy(r, from, (size_t) n * (size_t) n);
    info = la_chol_checked(n, r);
    *ffi_set_ints(out, "info", 1) = info ? info : la_chol_inverse(n, r);
    UNPROTECT(1);
    return out;
}

/* c + a b, or c + a b'. */
SEXP ffi_test_gemm(SEXP a, SEXP b, SEXP c)
{
    ffi_mat left = ffi_matrix(a, "a"), right = ffi_matrix(b, "b");
    int m = left.n, k = left.p, n = ffi_matrix(c, "c").p;
    bool plain = right.n == k;
    ffi_sized(b, plain ? k : n, plain ? n : k, "b");
    ffi_sized(c, m, n, "c");
    SEXP out = PROTECT(Rf_duplicate(c));
    la_gemm_checked('N', plain ? 'N' : 'T', m, n, k, 1.0, left.x, m, right.x, right.n, 1.0,
                    REAL(out), m);
    UNPROTECT(1);
    return out;
}

SEXP ffi_test_proj(SEXP y, SEXP total)
{
    int n = Rf_length(y);
    const double *from = ffi_given(y, (size_t) n, "y"), sum = ffi_number(total, "total");
    if (n < 1) Rf_error("internal error: 'y' is empty");
    SEXP out = PROTECT(ffi_list("simplex sphere capped"));
    proj_simplex(n, from, sum, ufs_dalloc((size_t) n, 1), ffi_set_vector(out, "simplex", n));
    proj_half_sphere(n, from, NULL, ffi_set_vector(out, "sphere", n));
    proj_capped_simplex(n, from, fmin(sum, n), ffi_set_vector(out, "capped", n));
    UNPROTECT(1);
    return out;
}

/* t: n x (c blocks), solved one after the other from the last v, so that the cached
 * Gram columns are used again. */
SEXP ffi_test_gl(SEXP x, SEXP t, SEXP v0, SEXP options)
{
    ufs_x op = ffi_x(x);
    int n = op.n, p = op.p, c = ffi_matrix(v0, "v0").p, blocks = ffi_matrix(t, "t").p / c;
    size_t block = (size_t) n * (size_t) c;
    const double *target = ffi_sized(t, n, blocks < 1 ? c : blocks * c, "t");
    const double *start = ffi_sized(v0, p, c, "v0");
    double lambda = ffi_real(options, "lambda");
    SEXP out = PROTECT(
        ffi_list("v xv kkt gap dual objective violation settled products sweeps columns m"));
    double *v = ffi_set_matrix(out, "v", p, c);
    gl_work w;

    gl_init(&w, c, &op, ffi_count(options, "slots", 1, INT_MAX));
    if (ffi_get(options, "root") != R_NilValue)
        gl_set_rows(&w, ffi_given(ffi_get(options, "root"), (size_t) n, "root"));
    gl_copies copies = ffi_copies(options, p);
    gl_set_penalty(&w, ffi_data(ffi_get(options, "factor"), (size_t) p, "factor"), &copies);
    ufs_copy(v, start, (size_t) p * (size_t) c);
    for (int b = 0; b < blocks; b++)
        gl_solve(&w, target + (size_t) b * block, lambda, ffi_real(options, "vtol"),
                 ffi_flag(options, "full"), ffi_real(options, "prune"), v);
    ufs_copy(ffi_set_matrix(out, "xv", n, c), w.xv, block);
    *ffi_set_vector(out, "objective", 1) = w.objective;
    *ffi_set_vector(out, "sweeps", 1) = w.sweeps;
    *ffi_set_vector(out, "columns", 1) = w.columns;
    *ffi_set_vector(out, "products", 1) = w.products;
    *ffi_set_ints(out, "m", 1) = w.m;
    ffi_set(out, "settled", Rf_ScalarLogical(w.settled));
    if (ffi_flag(options, "certify"))
        gl_certify(&w, target + (size_t) (blocks - 1) * block, lambda, v);
    ufs_copy(ffi_set_vector(out, "kkt", p), w.kkt, (size_t) p);
    *ffi_set_vector(out, "gap", 1) = w.gap;
    *ffi_set_vector(out, "dual", 1) = w.dual;
    /* It reads kkt, which a full solve or certify sets. */
    bool judged = ffi_flag(options, "full") || ffi_flag(options, "certify");
    *ffi_set_vector(out, "violation", 1) = judged ? gl_violation(&w, lambda, 0.0, v) : R_NaN;
    UNPROTECT(1);
    return out;
}

/* `steps` accelerated steps of u <- a u + b from u = 0: the last u. */
SEXP ffi_test_anderson(SEXP a_, SEXP b, SEXP depth, SEXP steps)
{
    ffi_mat a = ffi_matrix(a_, "a");
    const double *shift = ffi_given(b, (size_t) a.n, "b");
    if (a.n != a.p) Rf_error("internal error: a and b do not fit");
    SEXP out = PROTECT(Rf_allocVector(REALSXP, a.n));
    double *u = REAL(out), *f = ufs_dalloc((size_t) a.n, 1), *weight = ufs_dalloc((size_t) a.n, 1);
    anderson history;

    anderson_init(&history, a.n, ffi_whole(depth, 1, 100, "depth"));
    memset(u, 0, (size_t) a.n * sizeof(double));
    for (int i = 0; i < a.n; i++) weight[i] = 1.0;
    for (int t = 0; t < ffi_whole(steps, 0, 10000, "steps"); t++) {
        ufs_copy(f, shift, (size_t) a.n);
        la_gemv('N', a.n, a.n, 1.0, a.x, a.n, u, 1.0, f);
        anderson_push(&history, u, f);
        if (!anderson_mix(&history, weight, u)) ufs_copy(u, f, (size_t) a.n);
    }
    UNPROTECT(1);
    return out;
}

/* The c lowest eigenpairs of diag(delta) + m, or + b'b if m is NULL; start NULL or p x c. */
SEXP ffi_test_lowest(SEXP m_, SEXP b_, SEXP delta, SEXP c_, SEXP start, SEXP tol)
{
    bool low_rank = m_ == R_NilValue, warm = start != R_NilValue;
    double limit = ffi_number(tol, "tol");
    ffi_mat given = ffi_matrix(low_rank ? b_ : m_, "m or b");
    int p = given.p, c = ffi_whole(c_, 1, p, "c");
    const double *guess = ffi_data(start, (size_t) p * (size_t) c, "start");
    const double *diagonal = ffi_given(delta, (size_t) p, "delta");
    if (!low_rank && given.n != p) Rf_error("internal error: sizes of the matrices do not fit");
    SEXP out = PROTECT(ffi_list("values vectors applied residual converged lapack"));
    double *values = ffi_set_vector(out, "values", c);
    double *vectors = ffi_set_matrix(out, "vectors", p, c);
    eig_lowest work;
    eig_info info;

    if (warm) ufs_copy(vectors, guess, (size_t) p * (size_t) c);
    eig_lowest_init(&work, p, c, given.n, low_rank ? NULL : given.x, low_rank ? given.x : NULL);
    eig_lowest_solve(&work, diagonal, warm, limit, values, vectors, &info);
    set_eigs(out, &info, "lapack", "applied");
    UNPROTECT(1);
    return out;
}

typedef struct {
    int n;
    const double *a, *diagonal;
    double last;
} matrix_data;

static void cg_product(void *data, const double *x, double *y)
{
    matrix_data *d = data;
    la_gemv('N', d->n, d->n, 1.0, d->a, d->n, x, 0.0, y);
}

static void cg_scale(void *data, const double *x, double *y)
{
    matrix_data *d = data;
    for (int i = 0; i < d->n; i++) y[i] = x[i] / d->diagonal[i];
}

static void cg_norm(void *data, double norm)
{
    matrix_data *d = data;
    d->last = norm;
}

/* a: n x n; diagonal: that of the preconditioner, or NULL; stop: list(tol, natural, max_iter).
 * list(x, steps, norm (of the last residual, NA if there was no step)). */
SEXP ffi_test_cg(SEXP a, SEXP b, SEXP start, SEXP diagonal, SEXP stop)
{
    int n = Rf_length(b);
    size_t N = (size_t) n;
    SEXP out = PROTECT(ffi_list("x steps norm"));
    double *x = ffi_set_vector(out, "x", n);
    bool given = diagonal != R_NilValue;
    const double *right = ffi_given(b, N, "b"), *first = ffi_given(start, N, "start");
    matrix_data data = {n, ffi_sized(a, n, n, "a"), ffi_data(diagonal, N, "diagonal"), NA_REAL};
    la_cg_problem cg = {.n = n,
                        .apply = cg_product,
                        .precondition = given ? cg_scale : NULL,
                        .data = &data,
                        .tol = ffi_real(stop, "tol"),
                        .natural = ffi_flag(stop, "natural"),
                        .max_iter = ffi_int(stop, "max_iter"),
                        .watch = cg_norm,
                        .work = ufs_dalloc(N, 4)};

    ufs_copy(x, first, N);
    *ffi_set_ints(out, "steps", 1) = la_cg(&cg, right, x);
    *ffi_set_vector(out, "norm", 1) = data.last;
    UNPROTECT(1);
    return out;
}

/* ---- the operator: what no R function calls --------------------------------------------- */

/* list(cross_rows = (X'T)', gram_mul = X X'T, dot = x_j't_1 for every j,
 * axpy = sum_j v_j x_j, gram_rows = X diag(w) X'). */
SEXP ffi_test_x(SEXP x, SEXP t, SEXP v, SEXP w)
{
    ufs_x op = ffi_x(x);
    int c = ffi_matrix(t, "t").p;
    size_t N = (size_t) op.n, P = (size_t) op.p;
    const double *from = ffi_sized(t, op.n, c, "t"), *step = ffi_given(v, P, "v");
    double total = 0.0, off = 0.0, *scratch = ufs_dalloc(N, 1);
    SEXP out = PROTECT(ffi_list("cross_rows gram_mul dot axpy gram_rows"));

    ufs_x_cross_rows(&op, c, from, ffi_set_matrix(out, "cross_rows", c, op.p));
    ufs_x_gram_mul(&op, c, from, ffi_set_matrix(out, "gram_mul", op.n, c));
    double *dot = ffi_set_vector(out, "dot", op.p), *sum = ffi_set_vector(out, "axpy", op.n);
    for (size_t i = 0; i < N; i++) {
        total += from[i];
        sum[i] = 0.0;
    }
    for (int j = 0; j < op.p; j++) {
        dot[j] = ufs_x_dot(&op, j, from, total, scratch);
        off += ufs_x_axpy(&op, j, step[j], sum, scratch);
    }
    for (size_t i = 0; i < N; i++) sum[i] -= off;
    ufs_x_gram_rows(&op, ffi_data(w, P, "w"), ffi_set_matrix(out, "gram_rows", op.n, op.n));
    UNPROTECT(1);
    return out;
}

static void apply_test(const void *data, int m, const double *x, double *y)
{
    const matrix_data *op = data;
    la_mul('N', 'N', op->n, m, op->n, 1.0, op->a, x, 0.0, y);
}

/* Eigenpairs of the symmetric a (n x n): with block NULL il to iu, ascending, by LAPACK; else the
 * iu - il + 1 largest by products with blocks of vectors. */
SEXP ffi_test_eigs(SEXP a, SEXP il, SEXP iu, SEXP tol, SEXP block)
{
    int n = ffi_matrix(a, "a").n, lo = ffi_whole(il, 1, n, "il"), k = ffi_whole(iu, lo, n, "iu");
    bool whole = block == R_NilValue;
    matrix_data op = {.n = n, .a = ffi_sized(a, n, n, "a")};
    eig_info info = {.converged = true};
    SEXP out = PROTECT(ffi_list("values vectors products residual converged info"));

    k -= lo - 1;
    double *w = ffi_set_vector(out, "values", k), *z = ffi_set_matrix(out, "vectors", n, k);
    if (whole) {
        double *copy = ufs_dalloc((size_t) n, (size_t) n);
        ufs_copy(copy, op.a, (size_t) n * (size_t) n);
        info.lapack = eig_range(n, copy, lo, lo + k - 1, w, z);
        la_fix_signs(n, k, z);
    } else {
        eig_problem problem = {.n = n,
                               .k = k,
                               .apply = apply_test,
                               .data = &op,
                               .block = ffi_whole(block, 0, n, "block"),
                               .proof = true,
                               .tol = ffi_number(tol, "tol"),
                               .max_iter = 13 * (k + 10)};
        eig_krylov(&problem, w, z, &info);
    }
    set_eigs(out, &info, "info", "products");
    UNPROTECT(1);
    return out;
}

/* ---- quadratic programs on the simplex ------------------------------------------------- */

/* kind "dense": parts = list(h, upper); "diagonal": list(h); "hadamard": list(f r x p,
 * rt k x p, w0, sign, scale, shift, upper). */
SEXP ffi_test_qp(SEXP kind, SEXP parts, SEXP b, SEXP start, SEXP tol)
{
    SEXP out = PROTECT(ffi_list("v hv diag kkt rel gap products rounds"));
    int p = Rf_length(b);
    size_t P = (size_t) p;
    const double *linear = ffi_given(b, P, "b"), *first = ffi_given(start, P, "start");
    double limit = ffi_number(tol, "tol");
    if (p < 1 || !Rf_isString(kind) || Rf_xlength(kind) != 1)
        Rf_error("internal error: 'kind' or 'b'");
    const char *which = CHAR(STRING_ELT(kind, 0));
    double *v = ffi_set_vector(out, "v", p), *diag = ffi_set_vector(out, "diag", p);
    double *g_diag = ufs_dalloc(P, 1);
    qp_problem prob = {p, linear, NULL, NULL, NULL, diag, NULL};
    qp_info info;
    qp_work work;
    hadamard op;

    ufs_copy(v, first, P);
    qp_init(&work, p);
    if (strcmp(which, "diagonal") == 0) {
        ufs_copy(diag, ffi_given(ffi_get(parts, "h"), P, "h"), P);
        qp_diagonal(p, diag, linear, &work, v, &info);
    } else {
        prob.upper = ffi_data(ffi_get(parts, "upper"), (size_t) p, "upper");
        if (strcmp(which, "dense") == 0) {
            prob.dense = ffi_sized(ffi_get(parts, "h"), p, p, "h");
            for (int i = 0; i < p; i++) diag[i] = prob.dense[(size_t) i * ((size_t) p + 1)];
        } else {
            ffi_mat f = ffi_matrix(ffi_get(parts, "f"), "f");
            SEXP rt = ffi_get(parts, "rt"); /* may have no rows */
            if (f.p != p || !Rf_isReal(rt) || !Rf_isMatrix(rt) || Rf_ncols(rt) != p)
                Rf_error("internal error: sizes of 'f' or 'rt'");
            hadamard_init(&op, p, f.n, Rf_nrows(rt));
            op.r = f.n;
            op.k = Rf_nrows(rt);
            op.f = f.x;
            op.rt = REAL_RO(rt);
            op.w0 = ffi_real(parts, "w0");
            op.sign = ffi_real(parts, "sign");
            op.scale = ffi_real(parts, "scale");
            op.shift = ffi_real(parts, "shift");
            for (size_t i = 0; i < P; i++)
                g_diag[i] = la_ss((size_t) op.r, op.f + i * (size_t) op.r);
            op.g_diag = g_diag;
            hadamard_diag(&op, diag);
            prob.apply = hadamard_apply;
            prob.data = &op;
        }
        qp_simplex(&prob, limit, &work, v, &info);
    }
    ufs_copy(ffi_set_vector(out, "hv", p), work.hv, (size_t) p);
    ffi_set(out, "kkt", Rf_ScalarReal(info.kkt));
    ffi_set(out, "rel", Rf_ScalarReal(info.rel));
    ffi_set(out, "gap", Rf_ScalarReal(info.gap));
    ffi_set(out, "products", Rf_ScalarInteger(info.products));
    ffi_set(out, "rounds", Rf_ScalarInteger(info.rounds));
    UNPROTECT(1);
    return out;
}

/* ---- top-k selection --------------------------------------------------------------------- */

/* Sub-problem 2 alone, its polish from `start` (0-based), and the criterion's parts.
 * w: n x n or NULL. */
SEXP ffi_test_topk_select(SEXP x, SEXP label, SEXP c_, SEXP k_, SEXP w, SEXP start, SEXP s)
{
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
    SEXP out = PROTECT(ffi_list("chosen value v a iterations polished polished_value trace relaxed "
                                "h lower compressed info"));

    ufs_trace_init(&trace, settings.max_iter, 7);
    g = (topk_criterion){
        .n = n, .p = p, .c = c, .k = k, .x = from.x, .lambda_a = settings.lambda_a};
    topk_criterion_init(&g, links != NULL && settings.lambda_i > 0.0, &paths);
    topk_select_init(&work, &g);
    topk_polish_init(&polish, &g);
    topk_bound_init(&bound, &g);
    lapack = topk_criterion_set(&g, labels, links, settings.lambda_i);
    if (lapack == 0) lapack = topk_select_admm(&work, &settings, 1, &trace);
    if (lapack == 0)
        lapack = topk_bound_solve(&bound, &g, NULL, bound.s, NA_REAL, ffi_real(s, "bound_tol"),
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
    int n = ffi_matrix(z, "z").n, c = ffi_whole(c_, 1, n, "c");
    const double *from = ffi_sized(z, n, n, "z");
    bool have = previous != R_NilValue;
    const int *before = have ? ffi_ints(previous, (size_t) n, 1, c, "previous") : NULL;
    topk_label work;
    SEXP out = PROTECT(ffi_list("label info"));
    int *label = ffi_set_ints(out, "label", n);

    if (have) memcpy(label, before, (size_t) n * sizeof(int));
    topk_label_init(&work, n, c, ufs_dalloc((size_t) n, (size_t) n));
    ffi_set(out, "info", Rf_ScalarInteger(topk_label_solve(&work, from, have, label)));
    UNPROTECT(1);
    return out;
}
