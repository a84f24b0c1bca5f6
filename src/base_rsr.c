/* base_rsr.c: regularised self-representation (Zhu, Zuo, Zhang, Hu and Shiu, Pattern
 * Recognition 48, 2015).
 *
 *   min_W  P(W) = sum_i |e_i| + lambda sum_j |w_j|,   E = X - X W,
 *
 * X n x p, W p x p; e_i and w_j are rows. Convex. Reweighted least squares: with
 * g_i = 2 sqrt(|e_i|^2 + eps), r_j = 2 sqrt(|w_j|^2 + eps), G and R their diagonals,
 * W = (X'G^{-1}X + lambda R^{-1})^{-1} X'G^{-1}X. The iteration is that of mm.c: plain, as the
 * authors have it, or accelerated, with the rows S of W that are in use, q = |S|; X_S are their
 * columns. As only norms of rows are needed, X on the left is replaced by any T (n x r, r = min(n,
 * p)) with T T' = X X'. Neither form divides by a small r_j:
 *
 *   p <= n: H = X'G^{-1}X, K = R^{1/2} H_SS R^{1/2} + lambda I, W_S = R^{1/2} K^{-1} R^{1/2} H_S,
 *           E = X - X_S W_S.                              np^2 + 2npq + nq^2 + 2q^2 p + q^3 flops
 *   p > n:  K = X_S R X_S' + lambda G = C'C, B = C^{-T} T, |e_i| = lambda g_i |row i of
 *           C^{-1} B|, |w_j| = r_j |B' C^{-T} x_j|.       3n^2 q + 13n^3/3 flops
 *
 * For mm.c's Newton steps: the derivative of log |w_j| by log r_j is 1 - W_jj, and that of
 * log |e_i| by log g_i is x_i R^{1/2} K^{-1} R^{1/2} x_i' / g_i (p <= n).
 *
 * Certificate: Y with y_i = 2 e_i / g_i (E of this step, g of the step before) satisfies X_S'Y =
 * 2 lambda R^{-1} W_S, and Y over the largest of |y_i| and |(X'Y)_j| / lambda is feasible for the
 * dual
 *   max <Y, X>  s.t. |y_i| <= 1, |(X'Y)_j| <= lambda.
 * <Y, X> costs nothing; the columns left out are priced when the rest is nearly solved (2npr).
 *
 * Memory: 2np + 4p^2 doubles (p <= n), 5n^2 (p > n). */
#include "base_rsr.h"
#include "la.h"
#include "mm.h"
#include <R_ext/Utils.h>

enum { STRIP = 256 };
static const double FLOOR = 1e-12; /* of a residual's weight, of the fit's: see weights() */
static const double FIT = 0.9;     /* most that W explains of E at first, and least */
static const double ABOVE = 1e-8;  /* a bound above the objective by more: bad scaling */

typedef struct {
    const rsr_problem *problem;
    const rsr_settings *settings;
    rsr_result *out;
    ufs_run *run;
    int n, p, r;
    bool wide;       /* p > n */
    bool floored;    /* see weights() */
    const double *t; /* n x r */
    double lambda;
    double *wr, *wg;   /* weights: r of the p rows, 0 if not in use, and g of the n samples */
    double *h, *k, *b; /* r x r each */
    double *y;         /* n x r: E or, p > n, K^{-1} T */
    double *xs;        /* n x p; n x STRIP if p > n: columns in use, scaled */
    double *norm;      /* max(r, STRIP): scratch */
    double *reflect;
    int n_reflect;
    double primal, inner, over; /* of the last step: objective, <Y, X>, what Y is divided by */
    double bound, gap;          /* best dual value; relative gap of the last pricing */
} rsr_work;

static int init(rsr_work *w);
static void known_result(rsr_work *w, double row);
static int first_weights(rsr_work *w, mm *s);
static void balance(const double *value, int order, int n, double rows, double lambda, double *r,
                    double *g);
static int step(void *data, mm *s);
static void weights(rsr_work *w, const mm *s);
static void fill_k(rsr_work *w, const mm *s);
static int step_tall(rsr_work *w, mm *s);
static int step_wide(rsr_work *w, mm *s);
static void take_columns(rsr_work *w, const mm *s, int from, int count, bool scaled);
static void add_norms(rsr_work *w, mm *s, int count, double price, double eps, const double *weight,
                      double *norm, double *plain, double *dual);
static bool judge(void *data, mm *s, bool accepted);
static void price(rsr_work *w, mm *s);
static void coefficients(rsr_work *w, const mm *s, double *out);

void rsr_solve(const rsr_problem *problem, const rsr_settings *settings, rsr_result *result,
               ufs_run *run)
{
    static const char *const columns[] = {"iteration", "objective", "gap", NULL};
    int n = problem->n, p = problem->p;
    rsr_work w = {.problem = problem,
                  .settings = settings,
                  .out = result,
                  .run = run,
                  .n = n,
                  .p = p,
                  .r = p > n ? n : p,
                  .wide = p > n,
                  .floored = settings->accelerate};
    mm_problem reweighted = {.p = p,
                             .others = n,
                             .least = 1,
                             .accelerate = settings->accelerate,
                             .data = &w,
                             .step = step,
                             .judge = judge};
    mm s;

    result->objective = result->gap = R_NaN;
    run->status = UFS_MAX_ITER;
    ufs_trace_named(&run->trace, settings->max_iter, columns);
    run->lapack = init(&w);
    if (run->lapack || settings->max_iter < 1) return;
    if (settings->accelerate && w.lambda >= result->zero) {
        known_result(&w, 0.0);
        return;
    }
    if (settings->accelerate &&
        rsr_proves_identity(n, p, problem->x, w.lambda, result->identity, result->residual)) {
        known_result(&w, 1.0);
        return;
    }
    mm_init(&s, &reweighted, result->dual);
    run->lapack = first_weights(&w, &s);
    if (run->lapack) return;
    mm_run(&s, settings->max_iter);
    run->status = s.status;
    run->lapack = s.lapack;
    if (result->w != NULL && run->lapack == 0) coefficients(&w, &s, result->w);
}

/* Buffers, the window of lambda and the bound that goes with W = 0. */
static int init(rsr_work *w)
{
    const rsr_problem *problem = w->problem;
    rsr_result *out = w->out;
    int n = w->n, p = w->p, lapack = 0;
    size_t N = (size_t) n, P = (size_t) p, R = (size_t) w->r;
    double total = 0.0, *length = out->residual, *root = w->wide ? ufs_dalloc(N, N) : NULL;

    w->t = w->wide ? root : problem->x;
    if (w->wide) lapack = rsr_root(n, p, problem->x, root);
    if (lapack) return lapack;
    out->identity = w->wide ? R_NaN : rsr_identity_bound(n, p, problem->x);
    w->wr = ufs_dzero(P, 1);
    w->wg = ufs_dalloc(N, 1);
    w->h = w->wide ? NULL : ufs_dalloc(R, R);
    w->k = ufs_dalloc(R, R);
    w->b = ufs_dalloc(R, R);
    w->y = ufs_dalloc(N, R);
    w->xs = ufs_dalloc(N, w->wide ? STRIP : P);
    w->norm = ufs_dalloc(R > STRIP ? R : STRIP, 1);
    w->n_reflect = la_lq_work(w->r, w->r);
    w->reflect = ufs_dalloc((size_t) w->n_reflect, 1);

    la_row_norms(n, p, problem->x, length);
    for (size_t i = 0; i < N; i++) total += length[i];
    for (size_t l = 0; l < R; l++)
        for (size_t i = 0; i < N; i++)
            w->y[i + l * N] = length[i] > 0.0 ? w->t[i + l * N] / length[i] : 0.0;
    rsr_products(n, p, w->r, problem->x, w->y, out->dual);
    out->zero = 0.0;
    for (int j = 0; j < p; j++) out->zero = fmax(out->zero, out->dual[j]);
    out->lambda = w->lambda = problem->lambda * (problem->relative ? out->zero : 1.0);
    for (int j = 0; j < p; j++) out->dual[j] /= w->lambda;
    w->bound = total * fmin(1.0, w->lambda / out->zero);
    w->gap = 1.0 - w->bound / total;
    return 0;
}

/* W = I or W = 0, both without a gap. */
static void known_result(rsr_work *w, double row)
{
    rsr_result *out = w->out;
    size_t P = (size_t) w->p;

    for (size_t j = 0; j < P; j++) {
        out->row[j] = row;
        if (row > 0.0) out->dual[j] = 1.0;
        if (out->w != NULL) out->w[j + j * P] = row;
    }
    for (int i = 0; i < w->n && row > 0.0; i++) out->residual[i] = 0.0;
    out->gap = 0.0;
    out->objective = la_l21(w->n, out->residual, w->settings->eps_residual) +
                     w->lambda * la_l21(w->p, out->row, w->settings->eps_row);
    w->run->iterations = 1;
    w->run->status = UFS_CONVERGED;
    ufs_trace_add(&w->run->trace, (double[]){1, out->objective, 0.0});
    ufs_run_step(w->run, out->objective, 0.0);
}

/* ---- start ------------------------------------------------------------------------------ */

/* The authors' are all alike. Accelerated: r_j = a for the columns that would move first from W =
 * 0, g_i = b |x_i|, the fixed point for rows that are alike; a and b by the eigenvalues of
 * G^{-1/2} X_S X_S' G^{-1/2}. */
static int first_weights(rsr_work *w, mm *s)
{
    int n = w->n, p = w->p, order, lapack;
    const double *length = w->out->residual;
    double mean = 0.0, r = 1.0, g = 1.0, *value = w->norm;

    if (!w->settings->accelerate) {
        for (int j = 0; j < p; j++) s->u[j] = sqrt(0.5);
        for (int i = 0; i < n; i++) s->u[p + i] = sqrt(0.5 * w->settings->start_g);
        return 0;
    }
    for (int i = 0; i < n; i++) mean += length[i] / n;
    for (int i = 0; i < n; i++) w->wg[i] = fmax(length[i] / mean, 1e-8);
    for (int j = 0; j < p; j++) {
        w->wr[j] = w->out->dual[j] > 1.0;
        if (w->wr[j] > 0.0) s->set[s->q++] = j;
    }
    order = w->wide ? n : s->q;
    fill_k(w, s);
    for (int l = 0; l < n && w->wide; l++)
        for (int i = 0; i <= l; i++)
            w->k[(size_t) i + (size_t) l * (size_t) n] /= sqrt(w->wg[i] * w->wg[l]);
    lapack = la_eig_values(order, w->k, value);
    if (lapack) return lapack;
    balance(value, order, n, w->lambda * s->q, w->lambda, &r, &g);
    for (int j = 0; j < p; j++) s->u[j] = sqrt(0.5 * r * w->wr[j]);
    for (int i = 0; i < n; i++) s->u[p + i] = sqrt(0.5 * g * w->wg[i]);
    return 0;
}

/* The product of the two terms of the majoriser, lambda tr(X'K^{-1}X) + (sum g + lambda sum r) / 4,
 * does not depend on their common factor; its minimum over a / b is found on a grid. As if all
 * eigenvalues were equal, some residuals start near 0 and grow only by a factor per step: 43
 * iterations for 8. */
static void balance(const double *value, int order, int n, double rows, double lambda, double *r,
                    double *g)
{
    double best = R_PosInf;

    for (int grid = -250; grid <= 250; grid++) {
        double a = exp(0.1 * grid), trace = 0.0, fit = 0.0, sum = n + a * rows;
        for (int l = 0; l < order; l++) {
            double theta = fmax(value[l], 0.0), by = theta / (a * theta + lambda);
            trace += lambda * by;
            fit += a * by / order;
        }
        /* Residuals or rows near 0 would take long to grow again. */
        if (trace * sum < best && fit > 1.0 - FIT && fit < FIT) {
            best = trace * sum;
            *g = sqrt(4.0 * trace / sum);
            *r = a * *g;
        }
    }
}

/* ---- one step --------------------------------------------------------------------------- */

static int step(void *data, mm *s)
{
    rsr_work *w = data;
    int lapack;

    weights(w, s);
    lapack = w->wide ? step_wide(w, s) : step_tall(w, s);
    /* The authors' iteration is left as it is as long as its systems can be solved. */
    if (lapack && !w->floored) {
        w->floored = true;
        return step(data, s);
    }
    if (lapack) return lapack;
    w->primal = w->inner = w->over = s->merit = 0.0;
    add_norms(w, s, w->n, 1.0, w->settings->eps_residual, w->wg, w->out->residual, s->plain + w->p,
              NULL);
    add_norms(w, s, w->p, w->lambda, w->settings->eps_row, w->wr, w->out->row, s->plain, s->dual);
    return 0;
}

/* Floored, no system is singular to rounding however small lambda is: g_i >= FLOOR x_i R x_i' /
 * lambda. Any weights give a W and a dual point, so the gap stays a bound. */
static void weights(rsr_work *w, const mm *s)
{
    size_t N = (size_t) w->n;
    double *fit = w->out->residual;

    memset(fit, 0, N * sizeof(double));
    for (int j = 0; j < w->p; j++) {
        const double *x = w->problem->x + (size_t) j * N;
        w->wr[j] = 2.0 * s->u[j] * s->u[j];
        for (size_t i = 0; i < N && w->wr[j] > 0.0; i++) fit[i] += w->wr[j] * x[i] * x[i];
    }
    for (size_t i = 0; i < N; i++) {
        double u = s->u[(size_t) w->p + i];
        w->wg[i] = fmax(2.0 * u * u, w->floored ? FLOOR * fit[i] / w->lambda : 0.0);
    }
}

/* Columns from, from + 1 ... of those in use, times R^{1/2} if `scaled`. */
static void take_columns(rsr_work *w, const mm *s, int from, int count, bool scaled)
{
    size_t N = (size_t) w->n;
    R_CheckUserInterrupt();
    for (int a = 0; a < count; a++) {
        size_t j = (size_t) s->set[from + a];
        double *to = w->xs + (size_t) a * N, root = scaled ? sqrt(w->wr[j]) : 1.0;
        for (size_t i = 0; i < N; i++) to[i] = root * w->problem->x[i + j * N];
    }
}

/* The upper triangle of K without lambda; p <= n: H. */
static void fill_k(rsr_work *w, const mm *s)
{
    int n = w->n, p = w->p, q = s->q;
    size_t N = (size_t) n, P = (size_t) p, Q = (size_t) q;

    if (w->wide) {
        memset(w->k, 0, N * N * sizeof(double));
        for (int from = 0; from < q; from += STRIP) {
            int count = q - from < STRIP ? q - from : STRIP;
            take_columns(w, s, from, count, true);
            la_syrk('N', n, count, 1.0, w->xs, n, 1.0, w->k, n);
        }
        return;
    }
    for (size_t j = 0; j < P; j++)
        for (size_t i = 0; i < N; i++) w->y[i + j * N] = w->problem->x[i + j * N] / sqrt(w->wg[i]);
    la_gram('T', n, p, w->y, w->h);
    for (size_t a = 0; a < Q; a++)
        for (size_t l = 0; l <= a; l++) {
            size_t i = (size_t) s->set[l], j = (size_t) s->set[a];
            w->k[l + a * Q] = w->h[i + j * P] * sqrt(w->wr[i] * w->wr[j]);
        }
}

static int step_tall(rsr_work *w, mm *s)
{
    int n = w->n, p = w->p, q = s->q, lapack;
    size_t N = (size_t) n, P = (size_t) p, Q = (size_t) q;

    fill_k(w, s);
    for (size_t a = 0; a < Q; a++) w->k[a + a * Q] += w->lambda;
    lapack = la_chol(q, w->k);
    if (lapack) return lapack;
    for (size_t a = 0; a < Q; a++) w->norm[a] = sqrt(w->wr[s->set[a]]);
    for (size_t l = 0; l < P; l++)
        for (size_t a = 0; a < Q; a++)
            w->b[a + l * Q] = w->norm[a] * w->h[(size_t) s->set[a] + l * P];
    la_chol_solve(q, p, w->k, w->b);
    for (size_t l = 0; l < P; l++)
        for (size_t a = 0; a < Q; a++) w->b[a + l * Q] *= w->norm[a];
    take_columns(w, s, 0, q, false);
    ufs_copy(w->y, w->problem->x, N * P);
    la_gemm_checked('N', 'N', n, p, q, -1.0, w->xs, n, w->b, q, 1.0, w->y, n);
    la_row_norms(n, p, w->y, w->out->residual);
    if (w->settings->accelerate) {
        for (size_t a = 0; a < Q; a++)
            for (size_t i = 0; i < N; i++) w->xs[i + a * N] *= w->norm[a] / sqrt(w->wg[i]);
        la_trsm('R', 'U', 'N', n, q, 1.0, w->k, q, w->xs, n);
        la_row_norms(n, q, w->xs, s->left + p);
        for (int i = 0; i < n; i++) s->left[p + i] = 1.0 - s->left[p + i] * s->left[p + i];
        lapack = la_chol_inverse(q, w->k);
        for (size_t a = 0; a < Q; a++) s->left[s->set[a]] = 1.0 - w->lambda * w->k[a + a * Q];
    }
    la_row_norms(q, p, w->b, w->norm);
    for (size_t a = 0; a < Q; a++) w->out->row[s->set[a]] = w->norm[a];
    return lapack;
}

static int step_wide(rsr_work *w, mm *s)
{
    int n = w->n, p = w->p, q = s->q, lapack;
    size_t N = (size_t) n;

    fill_k(w, s);
    for (size_t i = 0; i < N; i++) w->k[i + i * N] += w->lambda * w->wg[i];
    lapack = la_chol(n, w->k);
    if (lapack) return lapack;
    ufs_copy(w->b, w->t, N * N);
    la_tri_solve('T', n, n, w->k, w->b);
    ufs_copy(w->y, w->b, N * N);
    la_tri_solve('N', n, n, w->k, w->y);
    la_row_norms(n, n, w->y, w->out->residual);
    la_lq(n, n, w->b, w->norm, w->reflect, w->n_reflect);
    for (int from = 0; from < q; from += STRIP) {
        int count = q - from < STRIP ? q - from : STRIP;
        const int *set = s->set + from;
        take_columns(w, s, from, count, true);
        la_tri_solve('T', n, count, w->k, w->xs);
        la_col_norms(n, count, w->xs, w->norm);
        for (int a = 0; a < count; a++) s->left[set[a]] = w->norm[a] * w->norm[a];
        la_trmm('L', 'L', 'T', n, count, 1.0, w->b, n, w->xs, n);
        la_col_norms(n, count, w->xs, w->norm);
        for (int a = 0; a < count; a++) w->out->row[set[a]] = sqrt(w->wr[set[a]]) * w->norm[a];
    }
    lapack = la_chol_inverse(n, w->k);
    for (size_t i = 0; i < N; i++) {
        w->out->residual[i] *= w->lambda * w->wg[i];
        s->left[(size_t) p + i] = w->lambda * w->wg[i] * w->k[i + i * N];
    }
    return lapack;
}

/* ---- after a step ----------------------------------------------------------------------- */

/* What rows of W or E of these norms and weights, `price` each, add to the objective, the smoothed
 * objective, <Y, X>, the largest ratio of new to old weights; the roots of those that follow. */
static void add_norms(rsr_work *w, mm *s, int count, double price, double eps, const double *weight,
                      double *norm, double *plain, double *dual)
{
    for (int k = 0; k < count; k++) {
        bool used = weight[k] > 0.0;
        double length = used ? norm[k] : 0.0, ratio = used ? 2.0 * length / weight[k] : 0.0;
        double smooth = sqrt(length * length + eps);
        norm[k] = length;
        w->primal += price * length;
        w->inner += price * ratio * length;
        w->over = fmax(w->over, ratio);
        s->merit += price * smooth;
        plain[k] = used ? sqrt(smooth) : 0.0;
        if (used && dual != NULL) dual[k] = ratio;
    }
}

static bool judge(void *data, mm *s, bool accepted)
{
    rsr_work *w = data;
    bool exact = w->settings->accelerate;
    double tol = w->settings->tol, now = (w->primal - w->inner / w->over) / w->primal, measured;

    w->run->iterations = s->iterations;
    if (!accepted) {
        ufs_run_step(w->run, s->merit, R_NaN);
        return false;
    }
    w->out->objective = s->merit;
    w->out->gap = now;
    if (exact) {
        s->priced = s->q == w->p || s->iterations == s->max_iter ||
                    now <= fmax(0.5 * tol, 0.3 * fmin(w->gap, 0.3));
        if (s->priced) price(w, s);
        w->out->gap = (w->primal - w->bound) / w->primal;
        if (s->priced) w->gap = w->out->gap;
        measured = w->out->gap;
    } else {
        /* The authors stop on the change of the objective. */
        measured = R_FINITE(s->best) ? fabs(s->best - s->merit) / fabs(s->merit) : R_NaN;
    }
    ufs_trace_add(&w->run->trace, (double[]){s->iterations, s->merit, w->out->gap});
    ufs_run_step(w->run, s->merit, measured);
    if (!(measured <= tol)) return false;
    /* The dual values that are reported belong to the last step. */
    if (exact && !s->priced) price(w, s);
    s->status = w->out->gap < -ABOVE ? UFS_NUMERICAL : UFS_CONVERGED;
    return true;
}

/* The dual point of this step for all columns. */
static void price(rsr_work *w, mm *s)
{
    size_t N = (size_t) w->n;
    double over = w->over;

    if (s->q < w->p) {
        for (size_t l = 0; l < (size_t) w->r; l++)
            for (size_t i = 0; i < N; i++)
                w->y[i + l * N] *= 2.0 * (w->wide ? w->lambda : 1.0 / w->wg[i]);
        rsr_products(w->n, w->p, w->r, w->problem->x, w->y, s->dual);
        for (int j = 0; j < w->p; j++) {
            s->dual[j] /= w->lambda;
            over = fmax(over, s->dual[j]);
        }
    }
    s->level = w->over * (1.0 + 0.25 * fmax(w->settings->tol, 1e-10));
    w->bound = fmax(w->bound, w->inner / over);
}

/* W of the last step, p x p: what step_tall() left, or R X'K^{-1}X, K^{-1} being what step_wide()
 * did. */
static void coefficients(rsr_work *w, const mm *s, double *out)
{
    int n = w->n, p = w->p;
    size_t N = (size_t) n, P = (size_t) p, Q = (size_t) s->q;

    for (size_t j = 0; j < P && !w->wide; j++)
        for (size_t a = 0; a < Q; a++) out[(size_t) s->set[a] + j * P] = w->b[a + j * Q];
    for (int from = 0; from < p && w->wide; from += STRIP) {
        int cols = p - from < STRIP ? p - from : STRIP;
        double *to = out + (size_t) from * P;
        la_gemm('N', 'N', n, cols, n, 1.0, w->k, n, w->problem->x + (size_t) from * N, n, 0.0,
                w->xs, n);
        la_gemm_checked('T', 'N', p, cols, n, 1.0, w->problem->x, n, w->xs, n, 0.0, to, p);
        for (size_t e = 0; e < P * (size_t) cols; e++) to[e] *= w->wr[e % P];
    }
}
