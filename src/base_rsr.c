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
 * p)) with T T' = X X'. With A = G^{-1/2} X_S R^{1/2}, U = R^{-1/2} W_S and V = G^{-1/2} E a step is
 * a ridge regression of G^{-1/2} T on A, and no small weight is divided by:
 *
 *   q <= n: K = A'A + lambda I = C'C, U = K^{-1} A' G^{-1/2} T, V = G^{-1/2} T - A U.
 *                                                       2nq^2 + 4nqr + 2q^2 r + q^3 flops
 *   q > n:  K = A A' + lambda I, V = lambda K^{-1} G^{-1/2} T, |u_j| = |V'a_j| / lambda.
 *                                                       n^2 q + 2n^2 p + 2n^3 flops
 *
 * For mm.c's Newton steps: the derivative of log |w_j| by log r_j is 1 - W_jj, W_jj = a_j' (A A' +
 * lambda I)^{-1} a_j.
 *
 * W = 0 is optimal from the lambda on at which |sum_i x_ij x_i / |x_i|| <= lambda for all j. W = I:
 * Y = lambda D X (X'DX)^{-1} has X'Y = lambda I for any weights D of the samples, so |y_i| <= 1 for
 * all i proves it. With D = I this is a bound that does not depend on lambda; other D prove more, a
 * few fixed-point steps. n p min(n, p) flops each.
 *
 * Certificate: Y with y_i = 2 e_i / g_i (E of this step, g of the step before) satisfies X_S'Y =
 * 2 lambda R^{-1} W_S, and Y over the largest of |y_i| and |(X'Y)_j| / lambda is feasible for the
 * dual
 *   max <Y, X>  s.t. |y_i| <= 1, |(X'Y)_j| <= lambda.
 * <Y, X> costs nothing; the columns left out are priced when the rest is nearly solved (2npr).
 *
 * Memory: 3np + 2p^2 doubles (p <= n), 5n^2 (p > n). */
#include "base_rsr.h"
#include "la.h"
#include "mm.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

static const double ABOVE = 1e-8; /* a bound above the objective by more: bad scaling */
/* Smallest pivot of a Cholesky factor of X'X, relative: the rounding of singular ones lies near
 * 1e-8, far enough below for any order of the rows to decide alike. */
static const double FULL_RANK = 1e-5;

typedef struct {
    const rsr_problem *problem;
    const rsr_settings *settings;
    rsr_result *out;
    ufs_run *run;
    int n, p, r;
    bool floored; /* see weights() */
    double *t;    /* r x n: T' */
    double lambda;
    double *wr, *wg; /* weights: r of the p rows, 0 if not in use, and g of the n samples */
    double *scale;   /* n: g^{-1/2} */
    double *k, *b;   /* r x r: K, its factor, at last its inverse; U' */
    double *y;       /* r x n: V', then Y' */
    double *a;       /* n x r: A, or n x UFS_STRIP of it */
    double primal, inner, over; /* of the last step: objective, <Y, X>, what Y is divided by */
    double bound, gap;          /* best dual value; relative gap of the last pricing */
} rsr_work;

static int init(rsr_work *w);
static bool proves_identity(rsr_work *w);
static double fit_norms(rsr_work *w, const double *d, double *norm);
static void known_result(rsr_work *w, double row);
static void first_weights(const rsr_work *w, mm *s);
static int step(void *data, mm *s);
static void weights(rsr_work *w, const mm *s);
static int step_rows(rsr_work *w, mm *s);
static int step_samples(rsr_work *w, mm *s);
static int factor_samples(rsr_work *w, const mm *s);
static int take_columns(rsr_work *w, const mm *s, int from, int most);
static void products(const rsr_work *w, double by, double *norm);
static void add_norms(rsr_work *w, mm *s, int count, double price, double eps, const double *weight,
                      const double *ratio, double *norm, double *plain);
static bool judge(void *data, mm *s, bool accepted);
static void price(rsr_work *w, mm *s);
static int coefficients(rsr_work *w, const mm *s, double *out);

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
                  .floored = settings->accelerate};
    mm_problem reweighted = {.p = p,
                             .others = n,
                             .least = 1,
                             .accelerate = settings->accelerate,
                             .data = &w,
                             .step = step,
                             .judge = judge};
    mm s;
    bool identity;

    result->objective = result->gap = result->identity = R_NaN;
    run->status = UFS_MAX_ITER;
    ufs_trace_named(&run->trace, run->max_iter, columns);
    run->lapack = init(&w);
    if (run->lapack) return;
    identity = p <= n && proves_identity(&w);
    if (run->max_iter < 1) return;
    if (settings->accelerate && (w.lambda >= result->zero || identity)) {
        known_result(&w, w.lambda >= result->zero ? 0.0 : 1.0);
        return;
    }
    mm_init(&s, &reweighted, result->dual);
    first_weights(&w, &s);
    mm_run(&s, run->max_iter);
    run->status = s.status;
    run->lapack = s.lapack;
    if (result->w != NULL && run->lapack == 0) run->lapack = coefficients(&w, &s, result->w);
}

/* Buffers, the window of lambda and the bound that goes with W = 0. */
static int init(rsr_work *w)
{
    const rsr_problem *problem = w->problem;
    rsr_result *out = w->out;
    int n = w->n, p = w->p, rank, lapack = 0;
    size_t N = (size_t) n, P = (size_t) p, R = (size_t) w->r;
    double total = 0.0, *length = out->residual;

    w->t = ufs_dalloc(R, N);
    if (p > n) {
        void *mark = vmaxget();
        double *gram = ufs_dalloc(N, N);
        la_gram('N', n, p, problem->x, gram);
        lapack = la_chol_root(n, gram, true, w->t, &rank);
        vmaxset(mark);
    } else {
        la_transpose(n, p, problem->x, w->t);
    }
    if (lapack) return lapack;
    w->wr = ufs_dzero(P, 1);
    ufs_dalloc_each(N, 1, (double **[]){&w->wg, &w->scale, NULL});
    ufs_dalloc_each(R, R, (double **[]){&w->k, &w->b, NULL});
    w->y = ufs_dalloc(N, R);
    w->a = ufs_dalloc(N, R > UFS_STRIP || p <= n ? R : UFS_STRIP);

    la_row_norms(n, p, problem->x, length);
    for (size_t i = 0; i < N; i++) total += length[i];
    for (size_t i = 0; i < N; i++)
        for (size_t l = 0; l < R; l++)
            w->y[l + i * R] = length[i] > 0.0 ? w->t[l + i * R] / length[i] : 0.0;
    products(w, 1.0, out->dual);
    out->zero = 0.0;
    for (int j = 0; j < p; j++) out->zero = fmax(out->zero, out->dual[j]);
    out->lambda = w->lambda = problem->lambda * (problem->relative ? out->zero : 1.0);
    for (int j = 0; j < p; j++) out->dual[j] /= w->lambda;
    w->bound = total * fmin(1.0, w->lambda / out->zero);
    w->gap = 1.0 - w->bound / total;
    return 0;
}

/* Is W = I optimal, by a dual point? out->identity: up to which lambda one with D = I proves it, NaN
 * if that is none. Other D only where that does not miss by much, and lambda p <= sum |x_i|, which
 * is necessary. */
static bool proves_identity(rsr_work *w)
{
    size_t N = (size_t) w->n;
    const double *length = w->out->residual;
    double *d = w->wg, *norm = w->scale, total = 0.0, before = R_PosInf, worst, bound;

    for (size_t i = 0; i < N; i++) {
        d[i] = 1.0;
        total += length[i];
    }
    bound = 1.0 / fit_norms(w, d, norm);
    w->out->identity = bound > 0.0 ? bound : R_NaN;
    if (w->lambda <= bound || w->lambda > 3.0 * bound || w->lambda * w->p > 0.99 * total)
        return w->lambda <= bound;
    for (size_t i = 0; i < N; i++) d[i] = length[i] > 0.0 ? 1.0 / length[i] : 0.0;
    while ((worst = w->lambda * fit_norms(w, d, norm)) > 1.0 && worst < 0.9 * before) {
        before = worst;
        for (size_t i = 0; i < N; i++)
            if (norm[i] > 0.0) d[i] /= norm[i];
    }
    return worst <= 1.0;
}

/* norm: of the rows of D X (X'DX)^{-1}; the largest of them, Inf without full rank. That is read
 * off a pivoted factor, which does not depend on the order of the columns. */
static double fit_norms(rsr_work *w, const double *d, double *norm)
{
    int n = w->n, p = w->p, rank = 0;
    size_t N = (size_t) n, P = (size_t) p;
    void *mark = vmaxget();
    int *pivot = ufs_ialloc(P), lapack;
    double top = 0.0;

    for (size_t e = 0; e < N * P; e++) w->a[e] = sqrt(d[e % N]) * w->problem->x[e];
    la_gram('T', n, p, w->a, w->k);
    lapack = la_chol_pivoted(p, w->k, pivot, &rank, ufs_dalloc(2 * P, 1));
    if (lapack == 0 && w->k[P * P - 1] > FULL_RANK * w->k[0]) {
        for (size_t e = 0; e < N * P; e++)
            w->a[e] = d[e % N] * w->problem->x[e % N + (size_t) (pivot[e / N] - 1) * N];
        la_trsm('R', 'U', 'N', n, p, 1.0, w->k, p, w->a, n);
        R_CheckUserInterrupt();
        la_trsm('R', 'U', 'T', n, p, 1.0, w->k, p, w->a, n);
        la_row_norms(n, p, w->a, norm);
        for (size_t i = 0; i < N; i++) top = fmax(top, norm[i]);
    }
    vmaxset(mark);
    return top > 0.0 ? top : R_PosInf;
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

/* The authors' are all alike. Accelerated: g_i = |x_i|, and one r for the columns that would move
 * first from W = 0, so that W explains about half of E: r times the mean eigenvalue of X_S'G^{-1}X_S
 * is lambda. Residuals or rows that start near 0 would take long to grow again. */
static void first_weights(const rsr_work *w, mm *s)
{
    int n = w->n, p = w->p, q = 0;
    const double *length = w->out->residual;
    bool accelerate = w->settings->accelerate;
    double total = 0.0, r;

    for (int j = 0; j < p; j++) {
        const double *x = w->problem->x + (size_t) j * (size_t) n;
        if (!(w->out->dual[j] > 1.0)) continue;
        q++;
        for (int i = 0; i < n; i++)
            if (length[i] > 0.0) total += x[i] * x[i] / length[i];
    }
    r = accelerate ? w->lambda * (q < n ? q : n) / total : 1.0;
    for (int j = 0; j < p; j++)
        s->u[j] = accelerate && !(w->out->dual[j] > 1.0) ? 0.0 : sqrt(0.5 * r);
    for (int i = 0; i < n; i++)
        s->u[p + i] = sqrt(0.5 * (accelerate ? length[i] : w->settings->start_g));
}

/* ---- one step --------------------------------------------------------------------------- */

static int step(void *data, mm *s)
{
    rsr_work *w = data;
    const rsr_settings *settings = w->settings;
    size_t N = (size_t) w->n, R = (size_t) w->r;
    int lapack;

    weights(w, s);
    for (size_t e = 0; e < N * R; e++) w->y[e] = w->scale[e / R] * w->t[e];
    lapack = s->q <= w->n ? step_rows(w, s) : step_samples(w, s);
    /* The authors' iteration is left as it is as long as its systems can be solved. */
    if (lapack && !w->floored) {
        w->floored = true;
        return step(data, s);
    }
    if (lapack) return lapack;
    for (size_t e = 0; e < N * R; e++) w->y[e] *= 2.0 * w->scale[e / R];
    la_col_norms(w->r, w->n, w->y, w->out->residual);
    if (s->q > w->n) products(w, 1.0 / w->lambda, s->dual);
    w->primal = w->inner = w->over = s->merit = 0.0;
    add_norms(w, s, w->n, 1.0, settings->eps_residual, w->wg, w->out->residual, w->out->residual,
              s->plain + w->p);
    add_norms(w, s, w->p, w->lambda, settings->eps_row, w->wr, s->dual, w->out->row, s->plain);
    return 0;
}

/* Floored, no system is singular to rounding however small lambda is: g_i >= 1e-12 x_i R x_i' /
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
        w->wg[i] = fmax(2.0 * u * u, w->floored ? UFS_ROUNDING * fit[i] / w->lambda : 0.0);
        w->scale[i] = w->wg[i] > 0.0 ? 1.0 / sqrt(w->wg[i]) : 0.0;
    }
}

static int step_rows(rsr_work *w, mm *s)
{
    int n = w->n, r = w->r, q = take_columns(w, s, 0, s->q), lapack;
    size_t R = (size_t) r, Q = (size_t) q;

    la_gram('T', n, q, w->a, w->k);
    for (size_t l = 0; l < Q; l++) w->k[l + l * Q] += w->lambda;
    lapack = la_chol(q, w->k);
    if (lapack) return lapack;
    la_gemm_checked('N', 'N', r, q, n, 1.0, w->y, r, w->a, n, 0.0, w->b, r);
    la_trsm('R', 'U', 'N', r, q, 1.0, w->k, q, w->b, r);
    la_trsm('R', 'U', 'T', r, q, 1.0, w->k, q, w->b, r);
    la_gemm_checked('N', 'T', r, n, q, -1.0, w->b, r, w->a, n, 1.0, w->y, r);
    if (w->settings->accelerate) lapack = la_chol_inverse(q, w->k); /* for s->left */
    for (size_t l = 0; l < Q; l++) {
        int j = s->set[l];
        s->dual[j] = 2.0 * la_nrm2(r, w->b + l * R) / sqrt(w->wr[j]);
        s->left[j] = 1.0 - w->lambda * w->k[l + l * Q];
    }
    return lapack;
}

/* W_jj: its mean, for the trace of W is about n. */
static int step_samples(rsr_work *w, mm *s)
{
    int n = w->n, lapack = factor_samples(w, s);

    if (lapack) return lapack;
    la_trsm('R', 'U', 'N', n, n, 1.0, w->k, n, w->y, n);
    la_trsm('R', 'U', 'T', n, n, w->lambda, w->k, n, w->y, n);
    for (int a = 0; a < s->q; a++) s->left[s->set[a]] = (double) n / s->q;
    return 0;
}

/* C of A A' + lambda I, without more than a strip of A at a time. */
static int factor_samples(rsr_work *w, const mm *s)
{
    int n = w->n;
    size_t N = (size_t) n;

    memset(w->k, 0, N * N * sizeof(double));
    for (int from = 0; from < s->q; from += UFS_STRIP)
        la_syrk('N', n, take_columns(w, s, from, UFS_STRIP), 1.0, w->a, n, 1.0, w->k, n);
    for (size_t i = 0; i < N; i++) w->k[i + i * N] += w->lambda;
    return la_chol(n, w->k);
}

/* Columns from, from + 1 ... of A; returns how many, at most `most`. */
static int take_columns(rsr_work *w, const mm *s, int from, int most)
{
    int count = s->q - from < most ? s->q - from : most;
    size_t N = (size_t) w->n;

    R_CheckUserInterrupt();
    for (int l = 0; l < count; l++) {
        size_t j = (size_t) s->set[from + l];
        double *to = w->a + (size_t) l * N, root = sqrt(w->wr[j]);
        for (size_t i = 0; i < N; i++) to[i] = root * w->scale[i] * w->problem->x[i + j * N];
    }
    return count;
}

/* norm_j = by |x_j'Y| of all columns, Y' in y; by strips, so that nothing of the size of x is needed.
 * 2npr flops. */
static void products(const rsr_work *w, double by, double *norm)
{
    void *mark = vmaxget();
    double *strip = ufs_dalloc((size_t) w->r, UFS_STRIP);

    for (int from = 0; from < w->p; from += UFS_STRIP) {
        int cols = w->p - from < UFS_STRIP ? w->p - from : UFS_STRIP;
        la_gemm_checked('N', 'N', w->r, cols, w->n, by, w->y, w->r,
                        w->problem->x + (size_t) from * (size_t) w->n, w->n, 0.0, strip, w->r);
        la_col_norms(w->r, cols, strip, norm + from);
    }
    vmaxset(mark);
}

/* ---- after a step ----------------------------------------------------------------------- */

/* Norms of rows of W or E, from their weights and the ratios of new to old ones; what they, `price`
 * each, add to the objective, the smoothed objective, <Y, X> and the largest ratio; the roots of the
 * weights that follow. norm may be ratio. */
static void add_norms(rsr_work *w, mm *s, int count, double price, double eps, const double *weight,
                      const double *ratio, double *norm, double *plain)
{
    for (int k = 0; k < count; k++) {
        bool used = weight[k] > 0.0;
        double by = used ? ratio[k] : 0.0, length = 0.5 * weight[k] * by;
        double smooth = sqrt(length * length + eps);
        norm[k] = length;
        plain[k] = used ? sqrt(smooth) : 0.0;
        w->primal += price * length;
        w->inner += price * by * length;
        w->over = fmax(w->over, by);
        s->merit += price * smooth;
    }
}

static bool judge(void *data, mm *s, bool accepted)
{
    rsr_work *w = data;
    bool exact = w->settings->accelerate;
    double tol = w->run->tol, now = (w->primal - w->inner / w->over) / w->primal, measured;

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
    double over = w->over;

    if (s->q < w->p && s->q <= w->n) products(w, 1.0 / w->lambda, s->dual);
    for (int j = 0; j < w->p; j++) over = fmax(over, s->dual[j]);
    s->level = w->over * (1.0 + 0.25 * fmax(w->run->tol, UFS_TIE));
    w->bound = fmax(w->bound, w->inner / over);
}

/* W of the last step, p x p: R X'Y / (2 lambda), with Y anew if the one at hand is for T. */
static int coefficients(rsr_work *w, const mm *s, double *out)
{
    int n = w->n, p = w->p, lapack = 0;
    const double *x = w->problem->x;
    double *y = ufs_dalloc((size_t) n, (size_t) p);

    if (p <= n) {
        la_transpose(p, n, w->y, y);
    } else {
        lapack = factor_samples(w, s);
        if (lapack) return lapack;
        la_scale_rows(n, p, w->scale, x, y);
        la_chol_solve(n, p, w->k, y);
        la_scale_rows(n, p, w->scale, y, y);
    }
    la_gemm_checked('T', 'N', p, p, n, p <= n ? 0.5 / w->lambda : 1.0, x, n, y, n, 0.0, out, p);
    la_scale_rows(p, p, w->wr, out, out);
    return 0;
}
