/* base_rsr.c: regularised self-representation (Zhu, Zuo, Zhang, Hu and Shiu, Pattern
 * Recognition 48, 2015).
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
 * with tau = min(1, 1/max|y_i|, lambda/max|(X'Y)_j|); <Y, X> = 2 lambda tr(R^{-1}W).
 *
 * The plain iteration is linear, and slow where rows die; `accelerate` extrapolates the
 * square roots of r and g (Anderson), goes back to the plain step whenever the smoothed
 * objective rose, and stops on the duality gap instead of on the change. */
#include "base_rsr.h"
#include "anderson.h"
#include "la.h"

enum { DEPTH = 5 };
/* Smallest pivot of a Cholesky factor of X'X, relative: the rounding of singular ones lies near
 * 1e-8, far enough below for any order of the rows to decide alike. */
static const double FULL_RANK = 1e-5;
/* A bound above the objective by more than that: the systems were too badly scaled. */
static const double ABOVE = 1e-8;

typedef struct {
    const rsr_problem *problem;
    const rsr_settings *settings;
    bool p_form;
    int m;                          /* order of the system: min(n, p) */
    double *r, *g;                  /* weights of the rows of W and of E, p and n */
    double *root;                   /* T, n x n (p > n only) */
    double *a, *k, *z;              /* m x m */
    double *y;                      /* n x p */
    double *u, *f, *weight, *plain; /* p + n: accelerated state, its image, scales */
    double *tau, *reflect;          /* LQ: scalars and workspace */
    int n_reflect;
    double inner; /* <Y, X> */
    anderson history;
} rsr_work;

static void init(rsr_work *s, const rsr_problem *problem, const rsr_settings *settings);
static int root_of_gram(int n, int p, const double *x, double *root);
static int step(rsr_work *s, rsr_result *out);
static int step_p(rsr_work *s, rsr_result *out);
static int step_n(rsr_work *s, rsr_result *out);
static void lq(rsr_work *s, double *a);
static void smoothed_and_gap(const rsr_work *s, const rsr_result *out, double *smoothed,
                             double *gap);
static void image(const rsr_work *s, const rsr_result *out, double *f);
static void set_weights(rsr_work *s, const double *u);
static void extrapolate(rsr_work *s);
static void coefficients(rsr_work *s, double *w);

void rsr_solve(const rsr_problem *problem, const rsr_settings *settings, rsr_result *result,
               ufs_run *run)
{
    static const char *const columns[] = {"iteration", "objective", "gap", NULL};
    rsr_work s;
    double old = R_PosInf;

    init(&s, problem, settings);
    ufs_trace_named(&run->trace, settings->max_iter, columns);
    run->status = UFS_MAX_ITER;
    result->objective = R_NaN;
    result->gap = R_NaN;
    run->lapack = s.p_form ? 0 : root_of_gram(problem->n, problem->p, problem->x, s.root);

    while (run->lapack == 0 && run->iterations < settings->max_iter) {
        double objective, gap, change;
        run->lapack = step(&s, result);
        if (run->lapack) break;
        run->iterations++;
        smoothed_and_gap(&s, result, &objective, &gap);
        if (!R_FINITE(objective)) {
            run->status = UFS_DIVERGED;
            break;
        }
        /* An extrapolation that raised the objective: take the plain step instead. */
        if (s.history.has_last && settings->accelerate && objective > old * (1.0 + 1e-12)) {
            anderson_reset(&s.history);
            set_weights(&s, s.plain);
            ufs_run_step(run, objective, R_NaN);
            continue;
        }
        change = R_FINITE(old) ? fabs(old - objective) / fabs(objective) : R_NaN;
        result->objective = objective;
        result->gap = gap;
        ufs_trace_add(&run->trace, (double[]){run->iterations, objective, gap});
        ufs_run_step(run, objective, settings->accelerate ? gap : change);
        if (settings->accelerate ? gap <= settings->tol : change <= settings->tol) {
            run->status = gap < -ABOVE ? UFS_NUMERICAL : UFS_CONVERGED;
            break;
        }
        old = objective;
        image(&s, result, s.plain);
        if (run->iterations == settings->max_iter) break;
        if (settings->accelerate && run->iterations < settings->max_iter - 1) {
            extrapolate(&s);
        } else {
            /* The last step is a plain one: it cannot be refused. */
            anderson_reset(&s.history);
            set_weights(&s, s.plain);
        }
    }
    if (result->w != NULL && run->lapack == 0 && run->iterations > 0) coefficients(&s, result->w);
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
    s->root = s->p_form ? NULL : ufs_dalloc(M, M);
    s->a = s->p_form ? ufs_dalloc(M, M) : NULL;
    s->k = ufs_dalloc(M, M);
    s->z = ufs_dalloc(M, M);
    s->y = ufs_dalloc(N, P);
    s->u = ufs_dalloc(N + P, 1);
    for (size_t j = 0; j < P; j++) s->u[j] = 1.0;
    for (size_t i = 0; i < N; i++) s->u[P + i] = sqrt(settings->start_g);
    s->f = ufs_dalloc(N + P, 1);
    s->plain = ufs_dalloc(N + P, 1);
    s->weight = ufs_dalloc(N + P, 1);
    s->tau = ufs_dalloc(M, 1);
    s->n_reflect = la_lq_work(s->m, s->m);
    s->reflect = ufs_dalloc((size_t) s->n_reflect, 1);
    anderson_init(&s->history, problem->n + problem->p, DEPTH);
}

/* T with T T' = X X', from the eigenvectors of X X': singular when the columns are centred,
 * so no Cholesky factor. */
static int root_of_gram(int n, int p, const double *x, double *root)
{
    double *gram = ufs_dalloc((size_t) n, (size_t) n), *value = ufs_dalloc((size_t) n, 1);
    int lapack;
    la_gram('N', n, p, x, gram);
    lapack = la_eig_range(n, gram, 1, n, value, root);
    for (int j = 0; j < n; j++) {
        double scale = sqrt(fmax(value[j], 0.0)), *col = root + (size_t) j * (size_t) n;
        for (int i = 0; i < n; i++) col[i] *= scale;
    }
    return lapack;
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
    ufs_copy(s->z, s->root, N * N);
    la_chol_solve(n, n, s->k, s->z);
    la_row_norms(n, n, s->z, out->residual);
    for (size_t i = 0; i < N; i++) out->residual[i] *= lambda * s->g[i];
    s->inner = 0.0;
    for (size_t j = 0; j < N; j++)
        s->inner += 2.0 * lambda * la_dot(n, s->z + j * N, s->root + j * N);
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

/* State of the iteration: square roots of the weights, rows of W first. */
static void image(const rsr_work *s, const rsr_result *out, double *f)
{
    int n = s->problem->n, p = s->problem->p;
    la_irls_g(p, out->row, s->settings->eps_row, f);
    la_irls_g(n, out->residual, s->settings->eps_residual, f + p);
    for (int j = 0; j < p + n; j++) f[j] = sqrt(f[j]);
}

static void set_weights(rsr_work *s, const double *u)
{
    int n = s->problem->n, p = s->problem->p;
    for (int j = 0; j < p; j++) s->r[j] = u[j] * u[j];
    for (int i = 0; i < n; i++) s->g[i] = u[p + i] * u[p + i];
    if (u != s->u) ufs_copy(s->u, u, (size_t) (n + p));
}

/* Both blocks count by their mean size; no weight moves by more than a factor e^6 beyond
 * its plain value. */
static void extrapolate(rsr_work *s)
{
    int n = s->problem->n, p = s->problem->p;
    double mean_row = 0.0, mean_residual = 0.0;
    for (int j = 0; j < p; j++) mean_row += s->plain[j] / p;
    for (int i = 0; i < n; i++) mean_residual += s->plain[p + i] / n;
    for (int j = 0; j < p; j++) s->weight[j] = 1.0 / mean_row;
    for (int i = 0; i < n; i++) s->weight[p + i] = 1.0 / mean_residual;
    anderson_step(&s->history, s->u, s->plain, s->weight, s->f);
    for (int j = 0; j < n + p; j++)
        s->u[j] = fmin(fmax(s->f[j], s->plain[j] * exp(-3.0)), s->plain[j] * exp(3.0));
    set_weights(s, s->u);
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

int rsr_window(int n, int p, const double *x, double *identity, double *zero)
{
    size_t N = (size_t) n, P = (size_t) p;
    double *length = ufs_dalloc(N, 1), *y = ufs_dalloc(N, P), *norm;
    int lapack = 0;

    *identity = R_NaN;
    *zero = 0.0;
    la_row_norms(n, p, x, length);
    if (p > n) {
        /* |sum_i x_ij x_i / |x_i|| through T: rows of X turn into rows of T. */
        double *root = ufs_dalloc(N, N);
        norm = ufs_dalloc(P, 1);
        lapack = root_of_gram(n, p, x, root);
        for (size_t j = 0; j < N; j++)
            for (size_t i = 0; i < N; i++)
                root[i + j * N] = length[i] > 0.0 ? root[i + j * N] / length[i] : 0.0;
        la_gemm('T', 'N', n, p, n, 1.0, root, n, x, n, 0.0, y, n);
        la_col_norms(n, p, y, norm);
    } else {
        double *m = ufs_dalloc(P, P), most = 0.0, least = R_PosInf;
        norm = ufs_dalloc(N, 1);
        for (size_t j = 0; j < P; j++)
            for (size_t i = 0; i < N; i++)
                y[i + j * N] = length[i] > 0.0 ? x[i + j * N] / sqrt(length[i]) : 0.0;
        la_gram('T', n, p, y, m);
        la_row_norms(p, p, m, norm);
        for (int j = 0; j < p; j++) *zero = fmax(*zero, norm[j]);

        /* Rows of X (X'X)^{-1} = X R^{-1} R^{-T}. */
        la_gram('T', n, p, x, m);
        if (la_chol(p, m) == 0) {
            for (size_t j = 0; j < P; j++) {
                most = fmax(most, m[j + j * P]);
                least = fmin(least, m[j + j * P]);
            }
            if (least > FULL_RANK * most) {
                double top = 0.0;
                ufs_copy(y, x, N * P);
                la_trsm('R', 'U', 'N', n, p, 1.0, m, p, y, n);
                la_trsm('R', 'U', 'T', n, p, 1.0, m, p, y, n);
                la_row_norms(n, p, y, norm);
                for (int i = 0; i < n; i++) top = fmax(top, norm[i]);
                *identity = 1.0 / top;
            }
        }
        return 0;
    }
    for (int j = 0; j < p; j++) *zero = fmax(*zero, norm[j]);
    return lapack;
}
