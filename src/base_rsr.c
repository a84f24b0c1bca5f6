/* base_rsr.c: regularised self-representation (Zhu, Zuo, Zhang, Hu and Shiu, Pattern
 * Recognition 48, 2015): the window of lambda and the authors' iteration. base_rsr_exact.c has
 * the solver that is the default.
 *
 *   min_W  P(W) = sum_i |e_i| + lambda sum_j |w_j|,   E = X - X W,
 *
 * X n x p, W p x p; e_i and w_j are rows. Convex. Reweighted least squares: with
 * g_i = 2 sqrt(|e_i|^2 + eps), r_j = 2 sqrt(|w_j|^2 + eps), G and R their diagonals,
 *
 *   W = (X'G^{-1}X + lambda R^{-1})^{-1} X'G^{-1}X.
 *
 * Two forms, neither of which divides by a small r or, for p > n, by a small g:
 *   p <= n: A = X'G^{-1}X, W = R^{1/2} (R^{1/2}AR^{1/2} + lambda I)^{-1} R^{1/2}A
 *   p > n:  K = X R X' + lambda G, Z = K^{-1} T with T T' = X X' (T n x n); then
 *           |w_j| = r_j |Z'x_j| and |e_i| = lambda g_i |z_i|, for E T-rotated is lambda G Z.
 * Row norms of X C are those of X L with C = L Q (LQ factors, L triangular): half the flops.
 * Per iteration about 2np^2 + 5p^3 (p <= n) or 2n^2p + 5n^3 flops; memory np + 3 min(n,p)^2.
 *
 * Certificate, free in every iteration: Y with y_i = 2 e_i / g_i (E of this step, g of the step
 * before) satisfies X'Y = 2 lambda R^{-1} W, and tau Y is feasible for the dual
 *   max <Y, X>  s.t. |y_i| <= 1, |(X'Y)_j| <= lambda
 * with tau = min(1, 1/max|y_i|, lambda/max|(X'Y)_j|); <Y, X> = 2 lambda tr(R^{-1}W). */
#include "base_rsr.h"
#include "la.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

enum { STRIP = 256 }; /* rows or columns at a time where one pass is enough */
/* Smallest pivot of a Cholesky factor of X'X, relative: the rounding of singular ones lies near
 * 1e-8, far enough below for any order of the rows to decide alike. */
static const double FULL_RANK = 1e-5;

typedef struct {
    const rsr_problem *problem;
    const rsr_settings *settings;
    bool p_form;
    int m;                 /* order of the system: min(n, p) */
    double *r, *g;         /* weights of the rows of W and of E, p and n */
    double *a, *k, *z;     /* m x m */
    double *y;             /* n x p */
    double *tau, *reflect; /* LQ: scalars and workspace */
    int n_reflect;
    double inner; /* <Y, X> */
} rsr_work;

static void plain_solve(const rsr_problem *problem, const rsr_settings *settings,
                        rsr_result *result, ufs_run *run);
static void init(rsr_work *s, const rsr_problem *problem, const rsr_settings *settings);
static int step(rsr_work *s, rsr_result *out);
static int step_p(rsr_work *s, rsr_result *out);
static int step_n(rsr_work *s, rsr_result *out);
static void lq(rsr_work *s, double *a);
static void smoothed_and_gap(const rsr_work *s, const rsr_result *out, double *smoothed,
                             double *gap);
static void coefficients(rsr_work *s, double *w);
static int root_of_gram(int n, int p, const double *x, double *root);
static double zero_from_root(int n, int p, const double *x, const double *root,
                             const double *length, double *activity);
static double zero_from_columns(int n, int p, const double *x, const double *length,
                                double *activity);
static double identity_bound(int n, int p, const double *x);

void rsr_solve(const rsr_problem *problem, const rsr_settings *settings, rsr_result *result,
               ufs_run *run)
{
    result->objective = R_NaN;
    result->gap = R_NaN;
    run->status = UFS_MAX_ITER;
    if (settings->accelerate)
        rsr_exact_solve(problem, settings, result, run);
    else
        plain_solve(problem, settings, result, run);
}

static void plain_solve(const rsr_problem *problem, const rsr_settings *settings,
                        rsr_result *result, ufs_run *run)
{
    static const char *const columns[] = {"iteration", "objective", "gap", NULL};
    rsr_work s;
    double old = R_PosInf, *floor = ufs_dalloc((size_t) problem->n, 1);
    bool floored =
        false; /* the authors' iteration as it is, as long as its systems can be solved */

    init(&s, problem, settings);
    ufs_trace_named(&run->trace, settings->max_iter, columns);
    while (run->iterations < settings->max_iter) {
        double objective, gap, change;
        if (floored) rsr_floor(problem, problem->p, NULL, s.r, s.g, floor);
        run->lapack = step(&s, result);
        if (run->lapack && !floored) {
            floored = true;
            continue;
        }
        if (run->lapack) return;
        run->iterations++;
        smoothed_and_gap(&s, result, &objective, &gap);
        if (!R_FINITE(objective)) {
            run->status = UFS_DIVERGED;
            break;
        }
        change = R_FINITE(old) ? fabs(old - objective) / fabs(objective) : R_NaN;
        result->objective = objective;
        result->gap = gap;
        ufs_trace_add(&run->trace, (double[]){run->iterations, objective, gap});
        ufs_run_step(run, objective, change);
        if (change <= settings->tol) {
            run->status = gap < -RSR_ABOVE ? UFS_NUMERICAL : UFS_CONVERGED;
            break;
        }
        old = objective;
        if (run->iterations == settings->max_iter) break;
        la_irls_g(problem->p, result->row, settings->eps_row, s.r);
        la_irls_g(problem->n, result->residual, settings->eps_residual, s.g);
    }
    if (result->w != NULL && run->iterations > 0) coefficients(&s, result->w);
}

static void init(rsr_work *s, const rsr_problem *problem, const rsr_settings *settings)
{
    size_t N = (size_t) problem->n, P = (size_t) problem->p, M;

    s->problem = problem;
    s->settings = settings;
    s->p_form = problem->p <= problem->n;
    s->m = s->p_form ? problem->p : problem->n;
    M = (size_t) s->m;
    s->r = ufs_dalloc(P, 1);
    s->g = ufs_dalloc(N, 1);
    for (size_t j = 0; j < P; j++) s->r[j] = 1.0;
    for (size_t i = 0; i < N; i++) s->g[i] = settings->start_g;
    s->a = s->p_form ? ufs_dalloc(M, M) : NULL;
    s->k = ufs_dalloc(M, M);
    s->z = ufs_dalloc(M, M);
    s->y = ufs_dalloc(N, P);
    s->tau = ufs_dalloc(M, 1);
    s->n_reflect = la_lq_work(s->m, s->m);
    s->reflect = ufs_dalloc((size_t) s->n_reflect, 1);
}

/* One step: row norms of W and E and the dual point, from the weights r and g. */
static int step(rsr_work *s, rsr_result *out)
{
    return s->p_form ? step_p(s, out) : step_n(s, out);
}

static int step_p(rsr_work *s, rsr_result *out)
{
    int n = s->problem->n, p = s->problem->p, lapack;
    size_t N = (size_t) n, P = (size_t) p;
    double lambda = s->problem->lambda, trace = 0.0;
    const double *x = s->problem->x;

    for (size_t j = 0; j < P; j++)
        for (size_t i = 0; i < N; i++) s->y[i + j * N] = x[i + j * N] / sqrt(s->g[i]);
    la_gram('T', n, p, s->y, s->a);
    for (size_t j = 0; j < P; j++) {
        double root = sqrt(s->r[j]);
        for (size_t i = 0; i < P; i++) {
            s->z[i + j * P] = sqrt(s->r[i]) * s->a[i + j * P];
            s->k[i + j * P] = s->z[i + j * P] * root;
        }
        s->k[j + j * P] += lambda;
    }
    lapack = la_chol(p, s->k);
    if (lapack) return lapack;
    la_chol_solve(p, p, s->k, s->z);
    for (size_t j = 0; j < P; j++)
        for (size_t i = 0; i < P; i++) s->z[i + j * P] *= sqrt(s->r[i]);
    la_row_norms(p, p, s->z, out->row);
    for (size_t j = 0; j < P; j++) {
        out->dual[j] = 2.0 * out->row[j] / s->r[j];
        trace += s->z[j + j * P] / s->r[j];
    }
    s->inner = 2.0 * lambda * trace;
    /* E = X (I - W). */
    for (size_t j = 0; j < P; j++)
        for (size_t i = 0; i < P; i++) s->z[i + j * P] = (i == j) - s->z[i + j * P];
    lq(s, s->z);
    ufs_copy(s->y, x, N * P);
    la_trmm('R', 'L', 'N', n, p, 1.0, s->z, p, s->y, n);
    la_row_norms(n, p, s->y, out->residual);
    return 0;
}

static int step_n(rsr_work *s, rsr_result *out)
{
    int n = s->problem->n, p = s->problem->p, lapack;
    size_t N = (size_t) n, P = (size_t) p;
    double lambda = s->problem->lambda;
    const double *x = s->problem->x;

    for (size_t j = 0; j < P; j++) {
        double root = sqrt(s->r[j]);
        for (size_t i = 0; i < N; i++) s->y[i + j * N] = x[i + j * N] * root;
    }
    la_gram('N', n, p, s->y, s->k);
    for (size_t i = 0; i < N; i++) s->k[i + i * N] += lambda * s->g[i];
    lapack = la_chol(n, s->k);
    if (lapack) return lapack;
    ufs_copy(s->z, s->problem->root, N * N);
    la_chol_solve(n, n, s->k, s->z);
    la_row_norms(n, n, s->z, out->residual);
    for (size_t i = 0; i < N; i++) out->residual[i] *= lambda * s->g[i];
    s->inner = 0.0;
    for (size_t j = 0; j < N; j++)
        s->inner += 2.0 * lambda * la_dot(n, s->z + j * N, s->problem->root + j * N);
    lq(s, s->z);
    ufs_copy(s->y, x, N * P);
    la_trmm('L', 'L', 'T', n, p, 1.0, s->z, n, s->y, n);
    la_col_norms(n, p, s->y, out->row);
    for (size_t j = 0; j < P; j++) {
        out->dual[j] = 2.0 * out->row[j];
        out->row[j] *= s->r[j];
    }
    return 0;
}

/* Lower triangle of a (m x m) becomes L of a = L Q. */
static void lq(rsr_work *s, double *a)
{
    la_lq(s->m, s->m, a, s->tau, s->reflect, s->n_reflect);
}

/* The smoothed objective, which the plain iteration never raises, and the relative gap
 * of the objective itself. */
static void smoothed_and_gap(const rsr_work *s, const rsr_result *out, double *smoothed,
                             double *gap)
{
    const rsr_settings *set = s->settings;
    int n = s->problem->n, p = s->problem->p;
    double lambda = s->problem->lambda, top_y = 0.0, top_dual = 0.0, primal, tau;

    primal = la_l21(n, out->residual, 0.0) + lambda * la_l21(p, out->row, 0.0);
    *smoothed = la_l21(n, out->residual, set->eps_residual) +
                lambda * la_l21(p, out->row, set->eps_row);
    for (int i = 0; i < n; i++) top_y = fmax(top_y, 2.0 * out->residual[i] / s->g[i]);
    for (int j = 0; j < p; j++) top_dual = fmax(top_dual, out->dual[j]);
    tau = 1.0 / fmax(1.0, fmax(top_y, top_dual));
    *gap = (primal - tau * s->inner) / primal;
}

/* W of the last step (weights r and g still stand), p x p. */
static void coefficients(rsr_work *s, double *w)
{
    int n = s->problem->n, p = s->problem->p;
    size_t N = (size_t) n, P = (size_t) p;
    if (s->p_form) {
        for (size_t j = 0; j < P; j++)
            for (size_t i = 0; i < P; i++) w[i + j * P] = sqrt(s->r[i]) * s->a[i + j * P];
        la_chol_solve(p, p, s->k, w);
        for (size_t j = 0; j < P; j++)
            for (size_t i = 0; i < P; i++) w[i + j * P] *= sqrt(s->r[i]);
        return;
    }
    ufs_copy(s->y, s->problem->x, N * P);
    la_chol_solve(n, p, s->k, s->y);
    la_gemm('T', 'N', p, p, n, 1.0, s->problem->x, n, s->y, n, 0.0, w, p);
    for (size_t j = 0; j < P; j++)
        for (size_t i = 0; i < P; i++) w[i + j * P] *= s->r[i];
}

/* ---- the window of lambda ------------------------------------------------------------- */

int rsr_window(int n, int p, const double *x, double *identity, double *zero, double *activity,
               double *root)
{
    double *length = ufs_dalloc((size_t) n, 1);
    int lapack = root != NULL ? root_of_gram(n, p, x, root) : 0;

    *identity = R_NaN;
    *zero = 0.0;
    if (lapack) return lapack;
    la_row_norms(n, p, x, length);
    if (root != NULL) {
        *zero = zero_from_root(n, p, x, root, length, activity);
    } else {
        *zero = zero_from_columns(n, p, x, length, activity);
        *identity = identity_bound(n, p, x);
    }
    return 0;
}

/* T with T T' = X X': P R' of the pivoted Cholesky factor, for X X' is singular when the columns
 * are centred. n^2 p + n^3/3 flops. */
static int root_of_gram(int n, int p, const double *x, double *root)
{
    size_t N = (size_t) n;
    void *mark = vmaxget();
    double *gram = ufs_dalloc(N, N), *work = ufs_dalloc(2 * N, 1);
    int *pivot = ufs_ialloc(N), rank, lapack;

    la_gram('N', n, p, x, gram);
    lapack = la_chol_pivoted(n, gram, pivot, &rank, work);
    for (size_t i = 0; i < N && lapack == 0; i++) {
        size_t row = (size_t) (pivot[i] - 1);
        for (size_t j = 0; j < N; j++) root[row + j * N] = j <= i ? gram[j + i * N] : 0.0;
    }
    vmaxset(mark);
    return lapack;
}

/* |sum_i x_ij x_i / |x_i|| for all j, through T: rows of X turn into rows of T. By strips of
 * columns, so that nothing of the size of x is needed. */
static double zero_from_root(int n, int p, const double *x, const double *root,
                             const double *length, double *activity)
{
    size_t N = (size_t) n;
    void *mark = vmaxget();
    double *unit = ufs_dalloc(N, N), top = 0.0;

    for (size_t j = 0; j < N; j++)
        for (size_t i = 0; i < N; i++)
            unit[i + j * N] = length[i] > 0.0 ? root[i + j * N] / length[i] : 0.0;
    rsr_products(n, p, n, x, unit, activity);
    for (int j = 0; j < p; j++) top = fmax(top, activity[j]);
    vmaxset(mark);
    return top;
}

void rsr_floor(const rsr_problem *problem, int q, const int *set, const double *r, double *g,
               double *scratch)
{
    size_t N = (size_t) problem->n;

    memset(scratch, 0, N * sizeof(double));
    for (int a = 0; a < q; a++) {
        const double *x = problem->x + (size_t) (set ? set[a] : a) * N;
        for (size_t i = 0; i < N; i++) scratch[i] += r[a] * x[i] * x[i];
    }
    for (size_t i = 0; i < N; i++) g[i] = fmax(g[i], RSR_FLOOR * scratch[i] / problem->lambda);
}

void rsr_products(int n, int p, int r, const double *x, double *y, double *norm)
{
    size_t N = (size_t) n, R = (size_t) r, width = p < STRIP ? (size_t) p : STRIP;
    void *mark = vmaxget();
    bool triangular = r == n && p > 2 * n;
    double *strip = ufs_dalloc(R, width);

    if (triangular) {
        int len = la_lq_work(n, n);
        double *tau = ufs_dalloc(N, 1), *work = ufs_dalloc((size_t) len, 1);
        triangular = la_lq(n, n, y, tau, work, len) == 0;
    }
    for (int from = 0; from < p; from += STRIP) {
        int cols = p - from < STRIP ? p - from : STRIP;
        const double *part = x + (size_t) from * N;
        R_CheckUserInterrupt();
        if (triangular) {
            ufs_copy(strip, part, N * (size_t) cols);
            la_trmm('L', 'L', 'T', n, cols, 1.0, y, n, strip, n);
        } else {
            la_gemm('T', 'N', r, cols, n, 1.0, y, n, part, n, 0.0, strip, r);
        }
        la_col_norms(r, cols, strip, norm + from);
    }
    vmaxset(mark);
}

/* The same for p <= n: row norms of sum_i x_i'x_i / |x_i|. */
static double zero_from_columns(int n, int p, const double *x, const double *length,
                                double *activity)
{
    size_t P = (size_t) p;
    void *mark = vmaxget();
    double *m = ufs_dzero(P, P), *rows = ufs_dalloc(STRIP, P), top = 0.0;

    for (int from = 0; from < n; from += STRIP) {
        int count = n - from < STRIP ? n - from : STRIP;
        for (size_t j = 0; j < P; j++)
            for (size_t i = 0; i < (size_t) count; i++) {
                size_t at = (size_t) from + i;
                double norm = length[at];
                rows[i + j * (size_t) count] = norm > 0.0 ? x[at + j * (size_t) n] / sqrt(norm)
                                                          : 0.0;
            }
        la_syrk('T', p, count, 1.0, rows, count, 1.0, m, p);
    }
    la_fill_lower(p, m);
    la_row_norms(p, p, m, activity);
    for (int j = 0; j < p; j++) top = fmax(top, activity[j]);
    vmaxset(mark);
    return top;
}

/* 1 / max_i |row i of X (X'X)^{-1}|; NaN without full rank. The rank is read off a pivoted
 * factor, which does not depend on the order of the columns. */
static double identity_bound(int n, int p, const double *x)
{
    size_t P = (size_t) p;
    void *mark = vmaxget();
    double *m = ufs_dalloc(P, P), *work = ufs_dalloc(2 * P, 1), top = 0.0;
    double *rows = ufs_dalloc(STRIP, P), *norm = ufs_dalloc(STRIP, 1);
    int *pivot = ufs_ialloc(P), rank, lapack;

    la_gram('T', n, p, x, m);
    lapack = la_chol_pivoted(p, m, pivot, &rank, work);
    if (lapack || rank < p || !(m[P * P - 1] > FULL_RANK * m[0])) {
        vmaxset(mark);
        return R_NaN;
    }
    for (int from = 0; from < n; from += STRIP) {
        int count = n - from < STRIP ? n - from : STRIP;
        for (size_t j = 0; j < P; j++)
            ufs_copy(rows + j * (size_t) count,
                     x + (size_t) from + (size_t) (pivot[j] - 1) * (size_t) n, (size_t) count);
        la_trsm('R', 'U', 'N', count, p, 1.0, m, p, rows, count);
        la_trsm('R', 'U', 'T', count, p, 1.0, m, p, rows, count);
        la_row_norms(count, p, rows, norm);
        for (int i = 0; i < count; i++) top = fmax(top, norm[i]);
    }
    vmaxset(mark);
    return 1.0 / top;
}
