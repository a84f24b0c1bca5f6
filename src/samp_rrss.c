/* samp_rrss.c: robust representative sample selection.
 *
 * Problem (Nie, Wang, Huang & Ding, IJCAI 2013). X = (x_1 .. x_n) is
 * r x n, columns = samples (the user's x transposed; with more features than samples
 * its triangular factor, which has the same inner products):
 *     min_A  sum_i ||x_i - X a_i||_2 + gamma sum_j ||A_j.||_2,   A n x n,
 * samples ranked by ||A_j.||. Dual: max <Y, X>, ||y_i|| <= 1, ||(X'Y)_j.|| <= gamma. So A = 0 is
 * optimal if and only if gamma >= max_j ||x_j' N||, N the samples at unit length.
 *
 * Reweighting with u_i = 1/(2 sqrt(||x_i - X a_i||^2 + e^2)) and v_j = 1/(2 sqrt(||A_j.||^2
 * + e^2)) asks for n systems of size n x n (O(n^4)); the same A in O(n r^2 + r^3), never
 * formed: with B = diag(1/v), g_i = gamma/u_i and X B X' = Q diag(w) Q',
 *     Yt = Q'X,   M_li = Yt_li / (w_l + g_i),   a_i = B X'Q M_i,
 *     x_i - X a_i = Q (g_i M_i),   ||A_j.||^2 = v_j^-2 Yt_j'(M M') Yt_j.
 * Y = 2 gamma Q M has ||y_i|| = 2 u_i ||x_i - X a_i|| and ||(X'Y)_j.|| = 2 gamma v_j
 * ||A_j.||, so Y divided by the largest such ratio (at least 1) is dual feasible.
 *
 * With v fixed the samples are independent, and g_i is known at once: at the best a_i either
 * 2 gamma ||M_i|| = 1, or ||x_i - X a_i|| is below e. 1/||M_i|| is concave in g_i, so Newton's
 * steps on it come from below without a safeguard, each in O(r). The accelerated iteration has v
 * alone for its weights; norms of residuals are smoothed by Huber's function there, (t^2/e + e)/2
 * for t < e, for which g_i = 2 gamma max(||x_i - X a_i||, e) is exact.
 *
 * The derivative of log ||A_j.|| by log 1/v_j is about 1 - A_jj (exact if all g_i are equal and
 * fixed): mm.c makes Newton steps of it.
 *
 * Per iteration 5 r^2 n + 10 r^3 flops; 8 (2rn + 2r^2 + 35n) bytes. */
#include "samp_reweighted.h"
#include "la.h"
#include <R_ext/Utils.h>

static const double ROOT = 1e-7; /* of 2 gamma ||M_i|| = 1 */
enum { MOST_STEPS = 50 };

typedef struct {
    mm_selector base;
    const rrss_problem *problem;
    bool plain;        /* the authors' iteration: u is given as well */
    int *pivot;        /* r */
    double *k, *q, *w; /* r x r, r x r, r; k and q with room for a column more */
    double *yt, *m;    /* r x n each */
    double *g, *b;     /* n: gamma / u_i; 1 / v_j */
} rrss_work;

static int step(void *data, mm *s);
static int rotate(rrss_work *work);
static int product_norms(rrss_work *work, const double *x, double *norm);
static double sample_step(rrss_work *work, int i, double *own, double *less);
static double best_g(rrss_work *work, int i, double *own);

void rrss_solve(const rrss_problem *problem, const mm_settings *settings, mm_result *result,
                ufs_run *run)
{
    int n = problem->n, r = problem->r;
    size_t N = (size_t) n, R = (size_t) r;
    rrss_work work = {.base = {.settings = settings, .result = result, .run = run},
                      .problem = problem,
                      .plain = run->tol < 0.0,
                      .pivot = ufs_ialloc(R),
                      .w = ufs_dalloc(R, 1),
                      .b = ufs_dalloc(N, 1),
                      .g = ufs_dzero(N, 1)};
    double *residual = result->residual;

    ufs_dalloc_each(R, R + 1, (double **[]){&work.k, &work.q, NULL});
    ufs_dalloc_each(R, N, (double **[]){&work.yt, &work.m, NULL});

    /* A = 0 is the first candidate; x_i / ||x_i||, scaled, its dual point. */
    la_col_norms(r, n, problem->x, residual);
    result->primal = 0.0;
    for (size_t i = 0; i < N; i++) {
        result->primal += residual[i];
        for (size_t l = 0; l < R; l++)
            work.m[l + i * R] = residual[i] > 0.0 ? problem->x[l + i * R] / residual[i] : 0.0;
    }
    run->lapack = product_norms(&work, problem->x, result->activity);
    if (run->lapack) return;
    mm_select_init(&work.base, n);
    result->dual = result->primal * fmin(1.0, result->gamma / result->gamma_max);
    /* All weights 1. */
    mm_select(&work.base, n, work.plain ? n : 0, sqrt(0.5), step);
}

/* s->u: of the norms of A's rows, then, in the authors' iteration, of the residuals. */
static int step(void *data, mm *s)
{
    rrss_work *work = data;
    mm_selector *base = &work->base;
    int n = work->problem->n, lapack;
    double e = base->settings->eps, gamma = base->result->gamma, inner = 0.0, own, less;

    for (int i = 0; i < n; i++) {
        work->b[i] = 2.0 * s->u[i] * s->u[i];
        if (work->plain) work->g[i] = 2.0 * gamma * s->u[n + i] * s->u[n + i];
    }
    lapack = rotate(work);
    if (lapack) return lapack;
    /* M, the residual norms, <M, Yt>, and A_jj. */
    for (int i = 0; i < n; i++) {
        if (i % UFS_STRIP == 0) R_CheckUserInterrupt();
        double norm = work->plain ? sample_step(work, i, &own, &less) : best_g(work, i, &own);
        base->res[i] = work->g[i] * norm;
        inner += own;
        s->left[i] = own * work->b[i];
    }
    lapack = product_norms(work, work->yt, base->act);
    if (lapack) return lapack;
    s->merit = base->primal = 0.0;
    base->over = 1.0;
    for (int i = 0; i < n; i++) {
        double row = work->b[i] * base->act[i], res = base->res[i],
               smooth = sqrt(row * row + e * e);
        base->row[i] = row;
        base->primal += res + gamma * row;
        s->merit += gamma * smooth;
        s->plain[i] = sqrt(smooth);
        if (work->plain) {
            smooth = sqrt(res * res + e * e);
            s->merit += smooth;
            s->plain[n + i] = sqrt(smooth);
        } else {
            s->merit += res >= e ? res : (res * res / e + e) / 2.0;
        }
        base->act[i] *= 2.0;
        base->over = fmax(base->over, fmax(2.0 * gamma / work->g[i] * res, base->act[i]));
    }
    base->dual = 2.0 * gamma * inner / base->over;
    return 0;
}

/* X B X' = Q diag(w) Q' and Yt = Q'X. */
static int rotate(rrss_work *work)
{
    int r = work->problem->r, n = work->problem->n, info;
    size_t R = (size_t) r;
    const double *x = work->problem->x;

    for (size_t i = 0; i < (size_t) n; i++) {
        double by = sqrt(work->b[i]);
        for (size_t l = 0; l < R; l++) work->m[l + i * R] = by * x[l + i * R];
    }
    la_gram('N', r, n, work->m, work->k);
    info = la_eig_range(r, work->k, 1, r, work->w, work->q);
    if (info) return info;
    for (int l = 0; l < r; l++) work->w[l] = fmax(work->w[l], 0.0);
    la_gemm_checked('T', 'N', r, n, r, 1.0, work->q, r, x, r, 0.0, work->yt, r);
    return 0;
}

/* M_i at g_i: its norm, <M_i, Yt_i> and -<M_i, dM_i/dg>. */
static double sample_step(rrss_work *work, int i, double *own, double *less)
{
    int r = work->problem->r;
    const double *yt = work->yt + (size_t) i * (size_t) r, *w = work->w;
    double *m = work->m + (size_t) i * (size_t) r, g = work->g[i], ss = 0.0;

    *own = *less = 0.0;
    for (int l = 0; l < r; l++) {
        double by = 1.0 / (w[l] + g);
        m[l] = yt[l] * by;
        ss += m[l] * m[l];
        *less += m[l] * m[l] * by;
        *own += m[l] * yt[l];
    }
    return sqrt(ss);
}

/* g_i with 2 gamma ||M_i|| = 1, from the one at hand, or its least value; norm and own of it. */
static double best_g(rrss_work *work, int i, double *own)
{
    double gamma = work->base.result->gamma, least = 2.0 * gamma * work->base.settings->eps;

    work->g[i] = fmax(work->g[i], least);
    for (int step = 0;; step++) {
        double less, norm = sample_step(work, i, own, &less), over = 2.0 * gamma * norm - 1.0;
        bool found = fabs(over) <= ROOT || (over < 0.0 && work->g[i] <= least);
        if (found || !(norm > 0.0) || step == MOST_STEPS) return norm;
        /* d(1/norm)/dg = less / norm^3. */
        work->g[i] = fmax(work->g[i] + over * norm * norm / less, least);
    }
}

/* ||M'x_j|| = ||C x_j||, where M M' = C'C is factored; m is overwritten. LAPACK's info. */
static int product_norms(rrss_work *work, const double *x, double *norm)
{
    int r = work->problem->r, n = work->problem->n, rank, info;
    size_t R = (size_t) r;

    la_gram('N', r, n, work->m, work->k);
    info = la_chol_pivoted(r, work->k, work->pivot, &rank, work->q);
    for (int from = 0; from < n && info == 0; from += UFS_STRIP) {
        int cols = n - from < UFS_STRIP ? n - from : UFS_STRIP;
        const double *part = x + (size_t) from * R;
        R_CheckUserInterrupt();
        for (size_t j = 0; j < (size_t) cols; j++)
            for (size_t l = 0; l < R; l++)
                work->m[l + j * R] = part[(size_t) work->pivot[l] - 1 + j * R];
        la_trmm('L', 'U', 'N', r, cols, 1.0, work->k, r, work->m, r);
        la_col_norms(r, cols, work->m, norm + from);
    }
    return info;
}
