/* rrss.c: robust representative sample selection.
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
 * Y = 2 gamma Q M has ||y_i|| = 2 u_i ||x_i - X a_i|| and ||(X'Y)_j.|| = 2 gamma v_j ||A_j.||.
 *
 * With v fixed the samples are independent, and the authors' g_i is at its limit at once: where
 * 2 gamma ||(M_i, e / g_i)|| = 1. 1 / ||(M_i, e / g_i)|| is concave in g_i, so Newton's steps on it
 * come from below without a safeguard, each in O(r).
 *
 * The derivative of log ||A_j.|| by log 1/v_j is about 1 - A_jj (exact if all g_i are equal and
 * fixed): mm.c makes Newton steps of it.
 *
 * Per iteration 6 r^2 n + 10 r^3 flops; 8 (2rn + 2r^2 + 50n) bytes. */
#include "reweighted.h"
#include "eig.h"

static const double ROOT = 1e-7; /* of 2 gamma ||(M_i, e / g_i)|| = 1 */
enum { MOST_STEPS = 50 };

typedef struct {
    const rrss_problem *problem;
    double *k, *q, *w; /* r x r, r x r, r */
    double *yt, *m;    /* r x n each */
} rrss_work;

/* Finds X B X' = Q diag(w) Q' and Yt = Q'X, where b_j = 1 / v_j = 2 u_j^2. */
static int rotate(rrss_work *work, const double *u)
{
    int r = work->problem->r, n = work->problem->n, info;
    size_t R = (size_t) r;
    const double *x = work->problem->x;

    for (size_t i = 0; i < (size_t) n; i++) {
        double by = sqrt(2.0) * u[i];
        for (size_t l = 0; l < R; l++) work->m[l + i * R] = by * x[l + i * R];
    }
    la_gram('N', r, n, work->m, work->k);
    info = eig_range(r, work->k, 1, r, work->w, work->q);
    if (info) return info;
    for (int l = 0; l < r; l++) work->w[l] = fmax(work->w[l], 0.0);
    la_mul('T', 'N', r, n, r, 1.0, work->q, x, 0.0, work->yt);
    return 0;
}

/* M_i, the residual's dual value 2 gamma ||M_i|| and A_ii; accelerated at the best g_i. */
static void solve_sample(rrss_work *work, mm *s, int i)
{
    int r = work->problem->r, most = s->settings->accelerate ? MOST_STEPS : 0;
    const double *yt = work->yt + (size_t) i * (size_t) r, *w = work->w;
    double *m = work->m + (size_t) i * (size_t) r, *u = s->u + work->problem->n + i;
    double by = 2.0 * s->out->penalty, eps = s->settings->eps_residual, g = by * *u * *u;

    for (int t = 0;; t++) {
        double ss = 0.0, less = 0.0, own = 0.0, full, over;
        for (int l = 0; l < r; l++) {
            double inverse = 1.0 / (w[l] + g);
            m[l] = yt[l] * inverse;
            ss += m[l] * m[l];
            less += m[l] * m[l] * inverse;
            own += m[l] * yt[l];
        }
        full = sqrt(ss + eps / (g * g));
        over = by * full - 1.0;
        if (fabs(over) <= ROOT || t == most) {
            s->other[i] = by * sqrt(ss);
            s->left[i] = own * 2.0 * s->u[i] * s->u[i];
            break;
        }
        /* d(1/full)/dg = less / full^3, with the entry e / g. */
        less += eps / (g * g * g);
        g = fmax(g + over * full * full / less, by * sqrt(eps));
    }
    *u = sqrt(g / by);
}

/* norm_j = by ||M'x_j||. */
static void product_norms(rrss_work *work, const double *x, double by, double *norm)
{
    int r = work->problem->r, n = work->problem->n;

    la_gram('N', r, n, work->m, work->k);
    la_mul('N', 'N', r, n, r, 1.0, work->k, x, 0.0, work->m);
    for (int j = 0; j < n; j++) {
        size_t at = (size_t) j * (size_t) r;
        norm[j] = by * sqrt(fmax(0.0, la_dot(r, x + at, work->m + at)));
    }
}

/* s->u: of the norms of A's rows, then of the residuals; those are only the authors' iteration's. */
static int minimise(void *data, mm *s)
{
    rrss_work *work = data;
    int n = work->problem->n, lapack = rotate(work, s->u);

    if (lapack) return lapack;
    for (int i = 0; i < n; i++) {
        if (i % UFS_STRIP == 0) R_CheckUserInterrupt();
        solve_sample(work, s, i);
    }
    product_norms(work, work->yt, 2.0, s->out->dual);
    return 0;
}

void rrss_solve(const rrss_problem *problem, const mm_settings *settings, mm_result *result,
                ufs_run *run)
{
    int n = problem->n, r = problem->r;
    size_t N = (size_t) n, R = (size_t) r;
    rrss_work work = {.problem = problem, .w = ufs_dalloc(R, 1)};
    mm s = {.p = n, .others = n, .least = n, .convex = true, .data = &work, .minimise = minimise};

    mm_init(&s, settings, result, run);
    ufs_dalloc_each(R, R, (double **[]){&work.k, &work.q, NULL});
    ufs_dalloc_each(R, N, (double **[]){&work.yt, &work.m, NULL});
    /* The dual point of A = 0: x_i / ||x_i||. */
    la_col_norms(r, n, problem->x, result->residual);
    for (size_t i = 0; i < N; i++) {
        double length = result->residual[i];
        s.u[N + i] = sqrt(length);
        for (size_t l = 0; l < R; l++)
            work.m[l + i * R] = length > 0.0 ? problem->x[l + i * R] / length : 0.0;
    }
    product_norms(&work, problem->x, 1.0, result->dual);
    mm_zero(&s);
    for (size_t k = 0; k < 2 * N; k++) s.u[k] = sqrt(0.5);
    mm_run(&s);
}
