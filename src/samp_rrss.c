/* samp_rrss.c: robust representative sample selection.
 *
 * Problem (Nie, Wang, Huang & Ding, IJCAI 2013). X = (x_1 .. x_n) is
 * r x n, columns = samples (the user's x transposed; with more features than samples
 * its triangular factor, which has the same inner products):
 *     min_A  sum_i ||x_i - X a_i||_2 + gamma sum_j ||A_j.||_2,   A n x n,
 * samples ranked by ||A_j.||. Dual: max <Y, X>, ||y_i|| <= 1, ||(X'Y)_j.|| <= gamma.
 *
 * Reweighting with u_i = 1/(2 sqrt(||x_i - X a_i||^2 + e^2)) and v_j = 1/(2 sqrt(||A_j.||^2
 * + e^2)) asks for n systems of size n x n (O(n^4)); the same A in O(n r^2 + r^3), never
 * formed: with B = diag(1/v), g_i = gamma/u_i and X B X' = Q diag(w) Q',
 *     Yt = Q'X,   M_li = Yt_li / (w_l + g_i),   a_i = B X'Q M_i,
 *     x_i - X a_i = Q (g_i M_i),   ||A_j.||^2 = v_j^-2 Yt_j'(M M') Yt_j.
 * Y = 2 gamma Q M has ||y_i|| = 2 u_i ||x_i - X a_i|| and ||(X'Y)_j.|| = 2 gamma v_j
 * ||A_j.||, so Y divided by the largest such ratio (at least 1) is dual feasible.
 *
 * The derivative of log ||x_i - X a_i|| by log g_i is exactly 1 - g_i sum_l M_li^2 / (w_l + g_i) /
 * sum_l M_li^2, that of log ||A_j.|| by log 1/v_j about 1 - A_jj (exact if all g_i are equal):
 * samp_mm.c makes Newton steps of them.
 *
 * Per iteration 5 r^2 n + 10 r^3 flops; memory 8 (3rn + 3r^2 + 56n) bytes. */
#include "samp_rrss.h"
#include "la.h"

enum { STRIP = 512 }; /* columns of x at a time where one pass is enough */

typedef struct {
    const rrss_problem *problem;
    rrss_result *result;
    double eps;
    double *k, *q, *w;       /* r x r, r x r, r */
    double *yt, *m;          /* r x n each */
    double *g;               /* n: gamma / u_i */
    double *row, *act, *res; /* n each: of the last step */
    double *left;            /* 2n, see mm_problem */
} rrss_work;

static mm_value reweight(void *data, const double *theta, double *next);
static void keep_best(void *data);
static int rotate(rrss_work *work, const double *log_v);
static double shrink_samples(rrss_work *work, const double *log_v);
static void measure_rows(rrss_work *work, const double *log_v);

void rrss_solve(const rrss_problem *problem, const mm_settings *settings, rrss_result *result,
                ufs_run *run)
{
    int n = problem->n, r = problem->r;
    size_t N = (size_t) n, R = (size_t) r;
    rrss_work work = {.problem = problem,
                      .result = result,
                      .eps = settings->eps,
                      .k = ufs_dalloc(R, R),
                      .q = ufs_dalloc(R, R),
                      .w = ufs_dalloc(R, 1),
                      .yt = ufs_dalloc(R, N),
                      .m = ufs_dalloc(R, N),
                      .g = ufs_dalloc(N, 1),
                      .row = ufs_dalloc(N, 1),
                      .act = ufs_dalloc(N, 1),
                      .res = ufs_dalloc(N, 1),
                      .left = ufs_dalloc(2 * N, 1)};
    mm_problem mm = {.len = 2 * n,
                     .low = -log(2e8),
                     .high = log(0.5 / settings->eps),
                     .theta = ufs_dzero(2 * N, 1),
                     .data = &work,
                     .left = work.left,
                     .first = n,
                     .map = reweight,
                     .keep = keep_best};

    /* A = 0 is the first candidate; x_i / ||x_i||, scaled, its dual point. */
    double top = rrss_gamma_max(r, n, problem->x, result->activity);
    la_col_norms(r, n, problem->x, result->residual);
    for (int i = 0; i < n; i++) {
        mm.primal += result->residual[i];
        result->row_norm[i] = 0.0;
        result->activity[i] /= fmax(top, problem->gamma);
    }
    mm.dual = mm.primal * fmin(1.0, problem->gamma / top);
    mm_solve(&mm, settings, &result->mm, run);
}

double rrss_gamma_max(int r, int n, const double *x, double *activity)
{
    size_t R = (size_t) r;
    int width = n < STRIP ? n : STRIP;
    double *strip = ufs_dalloc(R, (size_t) width), *gram = ufs_dzero(R, R), top = 0.0;

    la_col_norms(r, n, x, activity);
    for (int from = 0; from < n; from += width) {
        int cols = n - from < width ? n - from : width;
        for (size_t i = 0; i < (size_t) cols; i++) {
            double norm = activity[(size_t) from + i];
            for (size_t l = 0; l < R; l++) {
                double v = x[l + ((size_t) from + i) * R];
                strip[l + i * R] = norm > 0.0 ? v / norm : 0.0;
            }
        }
        la_gemm('N', 'T', r, r, cols, 1.0, strip, r, strip, r, 1.0, gram, r);
    }
    for (int from = 0; from < n; from += width) {
        int cols = n - from < width ? n - from : width;
        la_gemm('N', 'N', r, cols, r, 1.0, gram, r, x + (size_t) from * R, r, 0.0, strip, r);
        for (int j = 0; j < cols; j++) {
            size_t at = (size_t) (from + j);
            double ss = la_dot(r, x + at * R, strip + (size_t) j * R);
            activity[at] = sqrt(fmax(ss, 0.0));
            top = fmax(top, activity[at]);
        }
    }
    return top;
}

/* theta = (log u, log v). */
static mm_value reweight(void *data, const double *theta, double *next)
{
    rrss_work *work = data;
    const rrss_problem *problem = work->problem;
    int n = problem->n;
    double e2 = work->eps * work->eps, over = 1.0, inner;
    const double *log_v = theta + n;
    mm_value value = {0.0, 0.0, 0.0, 0};

    for (int i = 0; i < n; i++) work->g[i] = problem->gamma * exp(-theta[i]);
    value.lapack = rotate(work, log_v);
    if (value.lapack) return value;
    inner = shrink_samples(work, log_v);
    measure_rows(work, log_v);

    for (int i = 0; i < n; i++) {
        double res = work->res[i], row = work->row[i];
        double smooth_res = sqrt(res * res + e2), smooth_row = sqrt(row * row + e2);
        value.primal += res + problem->gamma * row;
        value.merit += smooth_res + problem->gamma * smooth_row;
        next[i] = -log(2.0 * smooth_res);
        next[n + i] = -log(2.0 * smooth_row);
        work->act[i] = 2.0 * exp(log_v[i]) * row;
        over = fmax(over, fmax(2.0 * exp(theta[i]) * res, work->act[i]));
    }
    value.dual = 2.0 * problem->gamma * inner / over;
    for (int i = 0; i < n; i++) work->act[i] /= over;
    return value;
}

static void keep_best(void *data)
{
    rrss_work *work = data;
    size_t n = (size_t) work->problem->n;
    ufs_copy(work->result->row_norm, work->row, n);
    ufs_copy(work->result->activity, work->act, n);
    ufs_copy(work->result->residual, work->res, n);
}

/* X B X' = Q diag(w) Q' and Yt = Q'X. */
static int rotate(rrss_work *work, const double *log_v)
{
    int r = work->problem->r, n = work->problem->n, info;
    size_t R = (size_t) r;
    const double *x = work->problem->x;

    for (int i = 0; i < n; i++) {
        double root_b = exp(-0.5 * log_v[i]);
        for (size_t l = 0; l < R; l++) work->m[l + (size_t) i * R] = root_b * x[l + (size_t) i * R];
    }
    la_gram('N', r, n, work->m, work->k);
    info = la_eig_range(r, work->k, 1, r, work->w, work->q);
    if (info) return info;
    for (int l = 0; l < r; l++) work->w[l] = fmax(work->w[l], 0.0);
    la_gemm('T', 'N', r, n, r, 1.0, work->q, r, x, r, 0.0, work->yt, r);
    return 0;
}

/* M, the residual norms, and <M, Yt>. */
static double shrink_samples(rrss_work *work, const double *log_v)
{
    int r = work->problem->r, n = work->problem->n;
    double inner = 0.0;

    for (int i = 0; i < n; i++) {
        const double *yt = work->yt + (size_t) i * (size_t) r;
        double *m = work->m + (size_t) i * (size_t) r, ss = 0.0, less = 0.0, own = 0.0;
        for (int l = 0; l < r; l++) {
            double by = 1.0 / (work->w[l] + work->g[i]);
            m[l] = yt[l] * by;
            ss += m[l] * m[l];
            less += m[l] * m[l] * by;
            own += m[l] * yt[l];
        }
        inner += own;
        work->res[i] = work->g[i] * sqrt(ss);
        work->left[i] = ss > 0.0 ? work->g[i] * less / ss : 1.0;
        work->left[n + i] = own * exp(-log_v[i]);
    }
    return inner;
}

/* ||A_j.|| = sqrt(Yt_j' (M M') Yt_j) / v_j = ||R Yt_j|| / v_j with M M' = R'R, unless that is
 * singular to rounding; m is overwritten. */
static void measure_rows(rrss_work *work, const double *log_v)
{
    int r = work->problem->r, n = work->problem->n;

    la_gram('N', r, n, work->m, work->k);
    if (la_chol(r, work->k) == 0) {
        ufs_copy(work->m, work->yt, (size_t) r * (size_t) n);
        la_trmm('L', 'U', 'N', r, n, 1.0, work->k, r, work->m, r);
        la_col_norms(r, n, work->m, work->row);
        for (int j = 0; j < n; j++) work->row[j] *= exp(-log_v[j]);
        return;
    }
    la_gram('N', r, n, work->m, work->k);
    la_gemm('N', 'N', r, n, r, 1.0, work->k, r, work->yt, r, 0.0, work->m, r);
    for (int j = 0; j < n; j++) {
        size_t at = (size_t) j * (size_t) r;
        double ss = la_dot(r, work->yt + at, work->m + at);
        work->row[j] = sqrt(fmax(ss, 0.0)) * exp(-log_v[j]);
    }
}
