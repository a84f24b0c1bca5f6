/* base_rsr.c: regularised self-representation (Zhu, Zuo, Zhang, Hu and Shiu, Pattern
 * Recognition 48, 2015).
 *
 *   min_W  P(W) = sum_i |e_i| + lambda sum_j |w_j|,   E = X - X W,
 *
 * X n x p, W p x p; e_i and w_j are rows. Convex. Reweighted least squares: with
 * g_i = 2 sqrt(|e_i|^2 + eps), r_j = 2 sqrt(|w_j|^2 + eps), G and R their diagonals,
 * W = (X'G^{-1}X + lambda R^{-1})^{-1} X'G^{-1}X. The iteration is that of mm.c: plain, as the
 * authors have it, or accelerated, with the rows S of W that are in use; X_S are their columns and
 * E = X - X_S V, V = W_S. As only norms of rows are needed, X on the left is replaced by any T
 * (n x r, r = min(n, p)) with T T' = X X'. Neither form divides by a small r_j:
 *
 *   q = |S| small: K = R^{1/2} X_S'G^{-1}X_S R^{1/2} + lambda I, V = R^{1/2} K^{-1} R^{1/2}
 *            X_S'G^{-1}T, E = T - X_S V.                 2nq^2 + q^3 + 4nqr + 2q^2 r flops
 *   q large: K = X_S R X_S' + lambda G = C'C, B = C^{-T} T, |e_i| = lambda g_i |row i of
 *            C^{-1} B|, |w_j| = r_j |B' C^{-T} x_j|.     3n^2 q + 13n^3/3 flops
 *
 * For mm.c's Newton steps: the derivative of log |w_j| by log r_j is 1 - W_jj, and that of
 * log |e_i| by log g_i is x_i R^{1/2} K^{-1} R^{1/2} x_i' / g_i (q small).
 *
 * Certificate: Y with y_i = 2 e_i / g_i (E of this step, g of the step before) satisfies X_S'Y =
 * 2 lambda R^{-1} V, and Y over the largest of |y_i| and |(X'Y)_j| / lambda is feasible for the dual
 *   max <Y, X>  s.t. |y_i| <= 1, |(X'Y)_j| <= lambda.
 * <Y, X> costs nothing; the columns left out are priced when the rest is nearly solved (2npr).
 *
 * Memory: 4nq + 2q^2 doubles (p <= n), 5n^2 (p > n). */
#include "base_rsr.h"
#include "la.h"
#include "mm.h"
#include <R_ext/Utils.h>

enum { STRIP = 256 };
static const double FLOOR = 1e-12; /* of a residual's weight, of the fit's: see raise_floor() */
static const double ABOVE = 1e-8;  /* a bound above the objective by more: bad scaling */
static const double MANY = 0.75;   /* q / n from which q is large: the flops are equal near it */

typedef struct {
    const rsr_problem *problem;
    const rsr_settings *settings;
    rsr_result *out;
    ufs_run *run;
    int n, p, r;
    const double *t; /* n x r */
    bool small, floored;
    double *wr, *row;  /* by place in the set: weights r, |w_j| */
    double *wg, *size; /* by sample: weights g, |e_i| */
    double *xs, *scaled, *k, *b, *y, *tau, *reflect;
    int n_reflect;
    double primal, inner, over; /* of the last step: objective, <Y, X>, what Y is divided by */
    double bound, gap;          /* best dual value; relative gap of the last pricing */
} rsr_work;

static void init(rsr_work *w, mm *s);
static void known_result(rsr_work *w, bool identity);
static void first_weights(rsr_work *w, mm *s);
static int part(void *data, mm *s);
static int step(void *data, mm *s);
static int weights(rsr_work *w, const mm *s);
static void raise_floor(rsr_work *w, const mm *s);
static int factor(rsr_work *w, const mm *s);
static int factor_small(rsr_work *w, int q);
static int step_small(rsr_work *w, mm *s);
static void scaled_strip(rsr_work *w, const mm *s, int from, int count);
static int factor_large(rsr_work *w, const mm *s);
static int step_large(rsr_work *w, mm *s);
static void scale_rows(const rsr_work *w, int q, int cols, double *b);
static void measure(rsr_work *w, mm *s);
static bool judge(void *data, mm *s, bool accepted);
static bool judge_plain(rsr_work *w, mm *s);
static void price(rsr_work *w, mm *s);
static void coefficients(rsr_work *w, const mm *s, double *out);

void rsr_solve(const rsr_problem *problem, const rsr_settings *settings, rsr_result *result,
               ufs_run *run)
{
    static const char *const columns[] = {"iteration", "objective", "gap", NULL};
    int n = problem->n, p = problem->p;
    bool exact = settings->accelerate;
    double total = 0.0, top = 0.0;
    rsr_work w = {
        .problem = problem, .settings = settings, .out = result, .run = run, .n = n, .p = p};
    mm_problem reweighted = {.p = p,
                             .others = n,
                             .least = 1,
                             .accelerate = exact,
                             .newton = true,
                             .high = R_PosInf,
                             .data = &w,
                             .step = step,
                             .judge = judge,
                             .part = part};
    mm s;

    result->objective = result->gap = R_NaN;
    run->status = UFS_MAX_ITER;
    ufs_trace_named(&run->trace, settings->max_iter, columns);
    if (settings->max_iter < 1) return;
    w.size = ufs_dalloc((size_t) n, 1);
    la_row_norms(n, p, problem->x, w.size);
    for (int i = 0; i < n; i++) total += w.size[i];
    for (int j = 0; j < p; j++) {
        result->dual[j] = problem->activity[j] / problem->lambda;
        top = fmax(top, result->dual[j]);
    }
    w.bound = total * fmin(1.0, 1.0 / top);
    w.gap = 1.0 - w.bound / total;
    if (exact && (top <= 1.0 || rsr_proves_identity(problem, w.size))) {
        known_result(&w, top > 1.0);
        return;
    }
    mm_init(&s, &reweighted, result->dual);
    init(&w, &s);
    mm_renew(&s);
    mm_run(&s, settings->max_iter);
    run->status = s.status;
    run->lapack = s.lapack;
    for (int j = 0; j < p; j++) result->row[j] = 0.0;
    for (int a = 0; a < s.q; a++) result->row[s.set[a]] = w.row[a];
    ufs_copy(result->residual, w.size, (size_t) n);
    if (result->w != NULL && run->lapack == 0) coefficients(&w, &s, result->w);
}

/* W = I or W = 0, both without a gap. */
static void known_result(rsr_work *w, bool identity)
{
    const rsr_settings *set = w->settings;
    rsr_result *out = w->out;
    size_t P = (size_t) w->p;

    for (size_t j = 0; j < P; j++) {
        out->row[j] = identity;
        if (identity) out->dual[j] = 1.0;
    }
    for (int i = 0; i < w->n; i++) out->residual[i] = identity ? 0.0 : w->size[i];
    out->gap = 0.0;
    out->objective = la_l21(w->n, out->residual, set->eps_residual) +
                     w->problem->lambda * la_l21(w->p, out->row, set->eps_row);
    w->run->iterations = 1;
    w->run->status = UFS_CONVERGED;
    ufs_trace_add(&w->run->trace, (double[]){1, out->objective, 0.0});
    ufs_run_step(w->run, out->objective, 0.0);
    if (out->w == NULL) return;
    memset(out->w, 0, P * P * sizeof(double));
    for (size_t j = 0; j < P && identity; j++) out->w[j + j * P] = 1.0;
}

/* ---- weights and buffers ---------------------------------------------------------------- */

/* Buffers for any set, the first set and the first weights. */
static void init(rsr_work *w, mm *s)
{
    bool wide = w->p > w->n;
    size_t N = (size_t) w->n, P = (size_t) w->p, M = wide ? N : P;

    w->r = (int) M;
    w->t = wide ? w->problem->root : w->problem->x;
    w->wr = ufs_dalloc(P, 1);
    w->row = ufs_dzero(P, 1);
    w->wg = ufs_dalloc(N, 1);
    w->xs = w->settings->accelerate ? ufs_dalloc(N, M) : NULL;
    w->scaled = ufs_dalloc(N, M > STRIP ? M : STRIP);
    w->k = ufs_dalloc(M, M);
    w->b = ufs_dalloc(M, M);
    w->y = ufs_dalloc(N, M);
    w->tau = ufs_dalloc(M, 1);
    w->n_reflect = la_lq_work((int) M, (int) M);
    w->reflect = ufs_dalloc((size_t) w->n_reflect, 1);
    if (w->settings->accelerate) {
        /* The columns that would move first from W = 0. */
        s->q = 0;
        for (int j = 0; j < w->p; j++)
            if (w->out->dual[j] > 1.0) s->set[s->q++] = j;
    }
    first_weights(w, s);
}

/* The authors: all alike. */
static void first_weights(rsr_work *w, mm *s)
{
    if (w->settings->accelerate) {
        rsr_start(w->problem, s->q, s->set, w->size, w->wr, w->wg);
    } else {
        for (int a = 0; a < s->q; a++) w->wr[a] = 1.0;
        for (int i = 0; i < w->n; i++) w->wg[i] = w->settings->start_g;
    }
    for (int a = 0; a < s->q; a++) s->u[a] = sqrt(0.5 * w->wr[a]);
    for (int i = 0; i < w->n; i++) s->u[s->q + i] = sqrt(0.5 * w->wg[i]);
}

static int part(void *data, mm *s)
{
    rsr_work *w = data;
    size_t N = (size_t) w->n;

    w->small = w->p <= w->n || s->q <= MANY * w->n;
    for (int a = 0; a < s->q && w->small && s->q < w->p; a++)
        ufs_copy(w->xs + (size_t) a * N, w->problem->x + (size_t) s->set[a] * N, N);
    return 0;
}

/* r and g of the step, and the factor of K. The authors' iteration is left as it is as long as
 * its systems can be solved. */
static int weights(rsr_work *w, const mm *s)
{
    int lapack;
    for (int a = 0; a < s->q; a++) w->wr[a] = 2.0 * s->u[a] * s->u[a];
    for (int i = 0; i < w->n; i++) w->wg[i] = 2.0 * s->u[s->q + i] * s->u[s->q + i];
    if (w->settings->accelerate || w->floored) raise_floor(w, s);
    lapack = factor(w, s);
    if (lapack == 0 || w->settings->accelerate || w->floored) return lapack;
    w->floored = true;
    raise_floor(w, s);
    return factor(w, s);
}

/* No system is singular to rounding however small lambda is: g_i >= FLOOR x_i R x_i' / lambda. Any
 * weights give a W and a dual point, so the gap stays a bound. */
static void raise_floor(rsr_work *w, const mm *s)
{
    size_t N = (size_t) w->n;
    double *fit = w->size;

    memset(fit, 0, N * sizeof(double));
    for (int a = 0; a < s->q; a++) {
        const double *x = w->problem->x + (size_t) s->set[a] * N;
        for (size_t i = 0; i < N; i++) fit[i] += w->wr[a] * x[i] * x[i];
    }
    for (size_t i = 0; i < N; i++) w->wg[i] = fmax(w->wg[i], FLOOR * fit[i] / w->problem->lambda);
}

/* ---- one step -------------------------------------------------------------------------- */

static int step(void *data, mm *s)
{
    rsr_work *w = data;
    int lapack = weights(w, s);
    if (lapack == 0) lapack = w->small ? step_small(w, s) : step_large(w, s);
    if (lapack == 0) measure(w, s);
    return lapack;
}

static int factor(rsr_work *w, const mm *s)
{
    return w->small ? factor_small(w, s->q) : factor_large(w, s);
}

/* scaled = G^{-1/2} X_S, b = X_S'G^{-1}X_S, k = C'C. */
static int factor_small(rsr_work *w, int q)
{
    size_t N = (size_t) w->n, Q = (size_t) q;
    const double *xs = q < w->p ? w->xs : w->problem->x;

    for (size_t a = 0; a < Q; a++)
        for (size_t i = 0; i < N; i++) w->scaled[i + a * N] = xs[i + a * N] / sqrt(w->wg[i]);
    la_gram('T', w->n, q, w->scaled, w->b);
    for (size_t a = 0; a < Q; a++) {
        for (size_t l = 0; l < Q; l++)
            w->k[l + a * Q] = w->b[l + a * Q] * sqrt(w->wr[l] * w->wr[a]);
        w->k[a + a * Q] += w->problem->lambda;
    }
    return la_chol(q, w->k);
}

static int step_small(rsr_work *w, mm *s)
{
    int n = w->n, q = s->q, r = w->r, lapack;
    size_t N = (size_t) n, Q = (size_t) q, R = (size_t) r;
    double lambda = w->problem->lambda;
    const double *xs = q < w->p ? w->xs : w->problem->x;

    if (q < w->p) {
        for (size_t l = 0; l < R; l++)
            for (size_t i = 0; i < N; i++) w->y[i + l * N] = w->t[i + l * N] / sqrt(w->wg[i]);
        la_gemm('T', 'N', q, r, n, 1.0, w->scaled, n, w->y, n, 0.0, w->b, q);
    }
    scale_rows(w, q, r, w->b);
    la_chol_solve(q, r, w->k, w->b);
    scale_rows(w, q, r, w->b);
    la_row_norms(q, r, w->b, w->row);
    ufs_copy(w->y, w->t, N * R);
    la_gemm('N', 'N', n, r, q, -1.0, xs, n, w->b, q, 1.0, w->y, n);
    la_row_norms(n, r, w->y, w->size);
    if (!w->settings->accelerate) return 0;

    for (size_t a = 0; a < Q; a++)
        for (size_t i = 0; i < N; i++) w->scaled[i + a * N] *= sqrt(w->wr[a]);
    la_trsm('R', 'U', 'N', n, q, 1.0, w->k, q, w->scaled, n);
    la_row_norms(n, q, w->scaled, s->left + q);
    for (int i = 0; i < n; i++) s->left[q + i] = 1.0 - s->left[q + i] * s->left[q + i];
    lapack = la_chol_inverse(q, w->k);
    for (size_t a = 0; a < Q; a++) s->left[a] = 1.0 - lambda * w->k[a + a * Q];
    return lapack;
}

/* X_S R^{1/2}, count columns from `from` on, into scaled. */
static void scaled_strip(rsr_work *w, const mm *s, int from, int count)
{
    size_t N = (size_t) w->n;
    R_CheckUserInterrupt();
    for (int a = 0; a < count; a++) {
        const double *x = w->problem->x + (size_t) s->set[from + a] * N;
        double *to = w->scaled + (size_t) a * N, root = sqrt(w->wr[from + a]);
        for (size_t i = 0; i < N; i++) to[i] = root * x[i];
    }
}

static int factor_large(rsr_work *w, const mm *s)
{
    int n = w->n, q = s->q;
    size_t N = (size_t) n;

    memset(w->k, 0, N * N * sizeof(double));
    for (int from = 0; from < q; from += STRIP) {
        int count = q - from < STRIP ? q - from : STRIP;
        scaled_strip(w, s, from, count);
        la_syrk('N', n, count, 1.0, w->scaled, n, 1.0, w->k, n);
    }
    for (size_t i = 0; i < N; i++) w->k[i + i * N] += w->problem->lambda * w->wg[i];
    return la_chol(n, w->k);
}

static int step_large(rsr_work *w, mm *s)
{
    int n = w->n, q = s->q, lapack;
    size_t N = (size_t) n;
    double lambda = w->problem->lambda;

    ufs_copy(w->b, w->t, N * N);
    la_tri_solve('T', n, n, w->k, w->b);
    ufs_copy(w->y, w->b, N * N);
    la_tri_solve('N', n, n, w->k, w->y);
    la_lq(n, n, w->b, w->tau, w->reflect, w->n_reflect);
    for (int from = 0; from < q; from += STRIP) {
        int count = q - from < STRIP ? q - from : STRIP;
        scaled_strip(w, s, from, count);
        la_tri_solve('T', n, count, w->k, w->scaled);
        la_col_norms(n, count, w->scaled, s->left + from);
        la_trmm('L', 'L', 'T', n, count, 1.0, w->b, n, w->scaled, n);
        la_col_norms(n, count, w->scaled, w->row + from);
    }
    for (size_t j = 0; j < N; j++)
        for (size_t i = 0; i < N; i++) w->y[i + j * N] *= lambda * w->wg[i];
    la_row_norms(n, n, w->y, w->size);
    lapack = la_chol_inverse(n, w->k);
    for (size_t i = 0; i < N; i++) s->left[(size_t) q + i] = lambda * w->wg[i] * w->k[i + i * N];
    for (int a = 0; a < q; a++) {
        w->row[a] *= sqrt(w->wr[a]);
        s->left[a] *= s->left[a];
    }
    return lapack;
}

/* b <- R^{1/2} b, q x cols. */
static void scale_rows(const rsr_work *w, int q, int cols, double *b)
{
    for (size_t l = 0; l < (size_t) cols; l++)
        for (size_t a = 0; a < (size_t) q; a++) b[a + l * (size_t) q] *= sqrt(w->wr[a]);
}

/* ---- after a step ----------------------------------------------------------------------- */

/* Objective, smoothed objective, <Y, X>, the weights that follow, and the largest ratio of new to
 * old ones. */
static void measure(rsr_work *w, mm *s)
{
    const rsr_settings *set = w->settings;
    double lambda = w->problem->lambda, smooth, ratio;

    w->primal = w->inner = w->over = 0.0;
    s->merit = lambda * (w->p - s->q) * sqrt(set->eps_row);
    for (int i = 0; i < w->n; i++) {
        double norm = w->size[i];
        ratio = 2.0 * norm / w->wg[i];
        smooth = sqrt(norm * norm + set->eps_residual);
        w->primal += norm;
        w->inner += ratio * norm;
        w->over = fmax(w->over, ratio);
        s->merit += smooth;
        s->plain[s->q + i] = sqrt(smooth);
    }
    for (int a = 0; a < s->q; a++) {
        double norm = w->row[a];
        ratio = mm_ratio(norm, s->u[a]);
        smooth = sqrt(norm * norm + set->eps_row);
        w->primal += lambda * norm;
        w->inner += lambda * ratio * norm;
        w->over = fmax(w->over, ratio);
        s->merit += lambda * smooth;
        s->plain[a] = sqrt(smooth);
        s->dual[s->set[a]] = ratio;
    }
}

static bool judge(void *data, mm *s, bool accepted)
{
    rsr_work *w = data;
    double tol = w->settings->tol, now = (w->primal - w->inner / w->over) / w->primal;

    w->run->iterations = s->iterations;
    if (!accepted) {
        ufs_run_step(w->run, s->merit, R_NaN);
        return false;
    }
    w->out->objective = s->merit;
    w->out->gap = now;
    if (!w->settings->accelerate) return judge_plain(w, s);
    s->priced = s->q == w->p || s->iterations == s->max_iter ||
                now <= fmax(0.5 * tol, 0.3 * fmin(w->gap, 0.3));
    if (s->priced) price(w, s);
    w->out->gap = (w->primal - w->bound) / w->primal;
    if (s->priced) w->gap = w->out->gap;
    ufs_trace_add(&w->run->trace, (double[]){s->iterations, s->merit, w->out->gap});
    ufs_run_step(w->run, s->merit, w->out->gap);
    if (!(w->out->gap <= tol)) return false;
    /* The dual values that are reported belong to the last step. */
    if (!s->priced) price(w, s);
    s->status = w->out->gap < -ABOVE ? UFS_NUMERICAL : UFS_CONVERGED;
    return true;
}

/* The authors stop on the change of the objective. */
static bool judge_plain(rsr_work *w, mm *s)
{
    double change = R_FINITE(s->best) ? fabs(s->best - s->merit) / fabs(s->merit) : R_NaN;

    ufs_trace_add(&w->run->trace, (double[]){s->iterations, s->merit, w->out->gap});
    ufs_run_step(w->run, s->merit, change);
    if (!(change <= w->settings->tol)) return false;
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
            for (size_t i = 0; i < N; i++) w->y[i + l * N] *= 2.0 / w->wg[i];
        rsr_products(w->n, w->p, w->r, w->problem->x, w->y, s->dual);
        for (int j = 0; j < w->p; j++) {
            s->dual[j] /= w->problem->lambda;
            over = fmax(over, s->dual[j]);
        }
    }
    s->level = w->over * (1.0 + 0.25 * fmax(w->settings->tol, 1e-10));
    w->bound = fmax(w->bound, w->inner / over);
}

/* W of the last step, p x p: W_S = R^{1/2} K^{-1} R^{1/2} X_S'G^{-1}X, or R X_S'K^{-1}X. */
static void coefficients(rsr_work *w, const mm *s, double *out)
{
    int n = w->n, p = w->p, q = s->q;
    size_t N = (size_t) n, P = (size_t) p;
    double *from_x = ufs_dalloc(N, STRIP), *block = ufs_dalloc((size_t) q, STRIP);

    w->run->lapack = factor(w, s);
    if (w->run->lapack) return;
    memset(out, 0, P * P * sizeof(double));
    for (int from = 0; from < p; from += STRIP) {
        int cols = p - from < STRIP ? p - from : STRIP;
        const double *x = w->problem->x + (size_t) from * N;
        R_CheckUserInterrupt();
        for (size_t j = 0; j < (size_t) cols; j++)
            for (size_t i = 0; i < N; i++)
                from_x[i + j * N] = x[i + j * N] / (w->small ? sqrt(w->wg[i]) : 1.0);
        if (!w->small) la_chol_solve(n, cols, w->k, from_x);
        if (w->small) {
            la_gemm('T', 'N', q, cols, n, 1.0, w->scaled, n, from_x, n, 0.0, block, q);
            scale_rows(w, q, cols, block);
            la_chol_solve(q, cols, w->k, block);
        } else {
            for (int a = 0; a < q; a++) {
                const double *xa = w->problem->x + (size_t) s->set[a] * N;
                for (int j = 0; j < cols; j++)
                    block[(size_t) a + (size_t) j * (size_t) q] = sqrt(w->wr[a]) *
                                                                  la_dot(n, xa,
                                                                         from_x + (size_t) j * N);
            }
        }
        scale_rows(w, q, cols, block);
        for (size_t j = 0; j < (size_t) cols; j++)
            for (size_t a = 0; a < (size_t) q; a++)
                out[(size_t) s->set[a] + ((size_t) from + j) * P] = block[a + j * (size_t) q];
    }
}
