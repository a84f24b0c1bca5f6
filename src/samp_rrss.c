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
 * With v fixed the samples are independent, and g_i is known at once: at the best a_i either
 * 2 gamma ||M_i|| = 1, or ||x_i - X a_i|| is below e. 1/||M_i|| is concave in g_i, so Newton's
 * steps on it come from below without a safeguard, each in O(r). The accelerated iteration has v
 * alone for its weights; norms of residuals are smoothed by Huber's function there, (t^2/e + e)/2
 * for t < e, for which g_i = 2 gamma max(||x_i - X a_i||, e) is exact.
 *
 * The derivative of log ||A_j.|| by log 1/v_j is about 1 - A_jj (exact if all g_i are equal and
 * fixed): mm.c makes Newton steps of it.
 *
 * Near the end a few rows that still grow can keep the bound down, whatever all others do: their
 * violation is taken off Y by the least change, Y + X_J Z, and the bound looked at once more.
 *
 * Per iteration 5 r^2 n + 10 r^3 flops, 2 r^2 n more with that; 8 (3rn + 3r^2 + 35n) bytes. */
#include "samp_rrss.h"
#include "la.h"
#include <R_ext/Utils.h>

static const double ROOT = 1e-7; /* of 2 gamma ||M_i|| = 1 */
enum { MOST_STEPS = 50 };
enum { REPAIRED = 32 }; /* rows at most */
enum { STRIP = 256 };   /* columns of x at a time, interrupts are looked for between */

typedef struct {
    const rrss_problem *problem;
    rrss_result *result;
    double eps, tol;
    bool plain;     /* the authors' iteration: u is given as well */
    double *root_b; /* n: of 1/v, by sqrt(2) the roots of the smoothed norms */
    ufs_run *run;
    double *k, *q, *w;       /* r x r, r x r, r */
    double *yt, *m;          /* r x n each */
    double *g;               /* n: gamma / u_i */
    double *row, *act, *res; /* n each: of the last step */
    double *norm;            /* n: of M'Yt_j */
    int *over;               /* REPAIRED: J */
    double *part, *z, *gram; /* r x REPAIRED: Yt_J; REPAIRED x STRIP, square */
} rrss_work;

static int step(void *data, mm *s);
static bool judge(void *data, mm *s, bool accepted);
static void keep_best(rrss_work *work, double primal, double over);
static int rotate(rrss_work *work);
static double shrink_samples(rrss_work *work, double *left);
static double repaired_bound(rrss_work *work);
static void gram_norms(rrss_work *work);
static void gram_by_strips(int r, int n, const double *m, double *out);
static double sample_step(rrss_work *work, int i, double *own, double *less);
static double best_g(rrss_work *work, int i, double *own);

void rrss_solve(const rrss_problem *problem, const mm_settings *settings, rrss_result *result,
                ufs_run *run)
{
    int n = problem->n, r = problem->r;
    size_t N = (size_t) n, R = (size_t) r;
    bool plain = settings->tol < 0.0;
    rrss_work work = {.problem = problem,
                      .result = result,
                      .eps = settings->eps,
                      .tol = settings->tol,
                      .plain = plain,
                      .run = run,
                      .root_b = ufs_dalloc(N, 1),
                      .k = ufs_dalloc(R, R),
                      .q = ufs_dalloc(R, R),
                      .w = ufs_dalloc(R, 1),
                      .yt = ufs_dalloc(R, N),
                      .m = ufs_dalloc(R, N),
                      .g = ufs_dzero(N, 1),
                      .row = ufs_dalloc(N, 1),
                      .act = ufs_dalloc(N, 1),
                      .res = ufs_dalloc(N, 1),
                      .norm = ufs_dalloc(N, 1),
                      .over = ufs_ialloc(REPAIRED),
                      .part = ufs_dalloc(R, REPAIRED),
                      .z = ufs_dalloc(REPAIRED, STRIP),
                      .gram = ufs_dalloc(REPAIRED, REPAIRED)};
    mm_problem problem_mm = {.p = n,
                             .others = plain ? n : 0,
                             .fixed = true,
                             .accelerate = !plain,
                             .newton = true,
                             .low = settings->eps,
                             .high = 1e8,
                             .data = &work,
                             .step = step,
                             .judge = judge};
    mm s;

    /* A = 0 is the first candidate; x_i / ||x_i||, scaled, its dual point. */
    double top = rrss_gamma_max(r, n, problem->x, result->activity);
    result->mm.primal = 0.0;
    la_col_norms(r, n, problem->x, result->residual);
    for (int i = 0; i < n; i++) {
        result->mm.primal += result->residual[i];
        result->row_norm[i] = 0.0;
        result->activity[i] /= fmax(top, problem->gamma);
    }
    result->mm.dual = result->mm.primal * fmin(1.0, problem->gamma / top);
    mm_gap_begin(&result->mm, settings, run);
    if (run->status == UFS_CONVERGED) return;
    mm_init(&s, &problem_mm, work.act);
    /* All weights 1. */
    for (int i = 0; i < n + problem_mm.others; i++) s.u[i] = sqrt(0.5);
    mm_run(&s, settings->max_iter);
    run->status = s.status;
    run->lapack = s.lapack;
}

double rrss_gamma_max(int r, int n, const double *x, double *activity)
{
    size_t R = (size_t) r;
    int width = n < STRIP ? n : STRIP;
    double *strip = ufs_dalloc(R, (size_t) width), *gram = ufs_dzero(R, R), top = 0.0;

    la_col_norms(r, n, x, activity);
    for (int from = 0; from < n; from += width) {
        int cols = n - from < width ? n - from : width;
        R_CheckUserInterrupt();
        for (size_t i = 0; i < (size_t) cols; i++) {
            double norm = activity[(size_t) from + i];
            for (size_t l = 0; l < R; l++) {
                double v = x[l + ((size_t) from + i) * R];
                strip[l + i * R] = norm > 0.0 ? v / norm : 0.0;
            }
        }
        la_syrk('N', r, cols, 1.0, strip, r, 1.0, gram, r);
    }
    la_fill_lower(r, gram);
    for (int from = 0; from < n; from += width) {
        int cols = n - from < width ? n - from : width;
        R_CheckUserInterrupt();
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

/* s->u: of the norms of A's rows, then, in the authors' iteration, of the residuals. */
static int step(void *data, mm *s)
{
    rrss_work *work = data;
    const rrss_problem *problem = work->problem;
    int n = problem->n, lapack;
    double e = work->eps, over = 1.0, primal = 0.0, dual, inner;

    for (int i = 0; i < n; i++) {
        work->root_b[i] = sqrt(2.0) * s->u[i];
        if (work->plain) work->g[i] = 2.0 * problem->gamma * s->u[n + i] * s->u[n + i];
    }
    lapack = rotate(work);
    if (lapack) return lapack;
    inner = shrink_samples(work, s->left);
    gram_norms(work);

    s->merit = 0.0;
    for (int i = 0; i < n; i++) {
        double b = work->root_b[i] * work->root_b[i], res = work->res[i], smooth;
        work->row[i] = b * work->norm[i];
        smooth = sqrt(work->row[i] * work->row[i] + e * e);
        primal += res + problem->gamma * work->row[i];
        s->merit += problem->gamma * smooth;
        s->plain[i] = sqrt(smooth);
        if (work->plain) {
            smooth = sqrt(res * res + e * e);
            s->merit += smooth;
            s->plain[n + i] = sqrt(smooth);
        } else {
            s->merit += res >= e ? res : (res * res / e + e) / 2.0;
        }
        work->act[i] = 2.0 * work->norm[i];
        over = fmax(over, fmax(2.0 * problem->gamma / work->g[i] * res, work->act[i]));
    }
    dual = 2.0 * problem->gamma * inner / over;
    if (!R_FINITE(s->merit) || !R_FINITE(primal) || !R_FINITE(dual)) {
        s->merit = R_PosInf;
        return 0;
    }
    /* Worth a try where the violation alone is in the way. */
    double least = (1.0 - work->tol) * primal;
    if (!work->plain && dual < least && dual * over >= least)
        dual = fmax(dual, repaired_bound(work));
    work->result->mm.dual = fmax(work->result->mm.dual, dual);
    keep_best(work, primal, over);
    return 0;
}

static bool judge(void *data, mm *s, bool accepted)
{
    rrss_work *work = data;
    return mm_gap(s, &work->result->mm, work->tol, work->run, accepted);
}

/* The A with the lowest objective is the one reported. */
static void keep_best(rrss_work *work, double primal, double over)
{
    size_t n = (size_t) work->problem->n;
    rrss_result *result = work->result;

    if (!(primal < result->mm.primal)) return;
    result->mm.primal = primal;
    ufs_copy(result->row_norm, work->row, n);
    ufs_copy(result->residual, work->res, n);
    for (size_t i = 0; i < n; i++) result->activity[i] = work->act[i] / over;
}

/* X B X' = Q diag(w) Q' and Yt = Q'X. */
static int rotate(rrss_work *work)
{
    int r = work->problem->r, n = work->problem->n, info;
    size_t R = (size_t) r;
    const double *x = work->problem->x;

    for (int i = 0; i < n; i++) {
        double by = work->root_b[i];
        for (size_t l = 0; l < R; l++) work->m[l + (size_t) i * R] = by * x[l + (size_t) i * R];
    }
    gram_by_strips(r, n, work->m, work->k);
    info = la_eig_range(r, work->k, 1, r, work->w, work->q);
    if (info) return info;
    for (int l = 0; l < r; l++) work->w[l] = fmax(work->w[l], 0.0);
    for (int from = 0; from < n; from += STRIP) {
        int cols = n - from < STRIP ? n - from : STRIP;
        size_t at = (size_t) from * R;
        R_CheckUserInterrupt();
        la_gemm('T', 'N', r, cols, r, 1.0, work->q, r, x + at, r, 0.0, work->yt + at, r);
    }
    return 0;
}

/* M, the residual norms, <M, Yt>, and A_jj. */
static double shrink_samples(rrss_work *work, double *left)
{
    int n = work->problem->n;
    double inner = 0.0, own, less;

    for (int i = 0; i < n; i++) {
        if (i % STRIP == 0) R_CheckUserInterrupt();
        double norm = work->plain ? sample_step(work, i, &own, &less) : best_g(work, i, &own);
        work->res[i] = work->g[i] * norm;
        inner += own;
        left[i] = own * work->root_b[i] * work->root_b[i];
    }
    return inner;
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
    double gamma = work->problem->gamma, least = 2.0 * gamma * work->eps;

    work->g[i] = fmax(work->g[i], least);
    for (int step = 0;; step++) {
        double less, norm = sample_step(work, i, own, &less), over = 2.0 * gamma * norm - 1.0;
        bool found = fabs(over) <= ROOT || (over < 0.0 && work->g[i] <= least);
        if (found || !(norm > 0.0) || step == MOST_STEPS) return norm;
        /* d(1/norm)/dg = less / norm^3. */
        work->g[i] = fmax(work->g[i] + over * norm * norm / less, least);
    }
}

/* The dual value of M + Yt_J Z, J the rows with act > 1 by more than a tenth of the tolerance, and
 * Z such that theirs are 1: (Yt_J'Yt_J) Z = -diag(1 - 1/act) Yt_J'M. m and norm are overwritten. */
static double repaired_bound(rrss_work *work)
{
    int r = work->problem->r, n = work->problem->n, count = 0;
    size_t R = (size_t) r, J;
    double gamma = work->problem->gamma, over = 1.0, inner = 0.0, size = 0.0;

    for (int j = 0; j < n; j++) {
        if (work->act[j] <= 1.0 + 0.1 * work->tol) continue;
        if (count == REPAIRED) return 0.0;
        ufs_copy(work->part + (size_t) count * R, work->yt + (size_t) j * R, R);
        work->over[count++] = j;
    }
    if (count == 0) return 0.0;
    J = (size_t) count;
    la_gram('T', r, count, work->part, work->gram);
    /* Copies among them share what is to be done. */
    for (size_t a = 0; a < J; a++) size = fmax(size, work->gram[a + a * J]);
    for (size_t a = 0; a < J; a++) work->gram[a + a * J] += 1e-10 * size;
    if (la_chol(count, work->gram)) return 0.0;
    for (int from = 0; from < n; from += STRIP) {
        int cols = n - from < STRIP ? n - from : STRIP;
        double *m = work->m + (size_t) from * R, *z = work->z;
        const double *yt = work->yt + (size_t) from * R;
        R_CheckUserInterrupt();
        for (size_t i = 0; i < (size_t) cols; i++)
            for (size_t l = 0; l < R; l++)
                m[l + i * R] = yt[l + i * R] / (work->w[l] + work->g[(size_t) from + i]);
        la_gemm('T', 'N', count, cols, r, 1.0, work->part, r, m, r, 0.0, z, count);
        for (size_t i = 0; i < (size_t) cols; i++)
            for (size_t a = 0; a < J; a++) z[a + i * J] *= 1.0 / work->act[work->over[a]] - 1.0;
        la_chol_solve(count, cols, work->gram, z);
        la_gemm('N', 'N', r, cols, count, 1.0, work->part, r, z, count, 1.0, m, r);
        for (int i = 0; i < cols; i++) {
            over = fmax(over, 2.0 * gamma * la_nrm2(r, m + (size_t) i * R));
            inner += la_dot(r, m + (size_t) i * R, yt + (size_t) i * R);
        }
    }
    gram_norms(work);
    for (int j = 0; j < n; j++) over = fmax(over, 2.0 * work->norm[j]);
    return 2.0 * gamma * inner / over;
}

/* ||M'Yt_j|| = sqrt(Yt_j' (M M') Yt_j) = ||R Yt_j|| with M M' = R'R, unless that is singular to
 * rounding; m is overwritten. */
static void gram_norms(rrss_work *work)
{
    int r = work->problem->r, n = work->problem->n, info;
    size_t R = (size_t) r;

    gram_by_strips(r, n, work->m, work->k);
    info = la_chol(r, work->k);
    if (info != 0) gram_by_strips(r, n, work->m, work->k);
    for (int from = 0; from < n; from += STRIP) {
        int cols = n - from < STRIP ? n - from : STRIP;
        double *m = work->m + (size_t) from * R;
        const double *yt = work->yt + (size_t) from * R;
        R_CheckUserInterrupt();
        if (info == 0) {
            ufs_copy(m, yt, R * (size_t) cols);
            la_trmm('L', 'U', 'N', r, cols, 1.0, work->k, r, m, r);
            la_col_norms(r, cols, m, work->norm + from);
            continue;
        }
        la_gemm('N', 'N', r, cols, r, 1.0, work->k, r, yt, r, 0.0, m, r);
        for (int j = 0; j < cols; j++) {
            double ss = la_dot(r, yt + (size_t) j * R, m + (size_t) j * R);
            work->norm[from + j] = sqrt(fmax(ss, 0.0));
        }
    }
}

/* out = M M' for M r x n, both triangles, interruptible. */
static void gram_by_strips(int r, int n, const double *m, double *out)
{
    size_t R = (size_t) r;
    memset(out, 0, R * R * sizeof(double));
    for (int from = 0; from < n; from += STRIP) {
        int cols = n - from < STRIP ? n - from : STRIP;
        R_CheckUserInterrupt();
        la_syrk('N', r, cols, 1.0, m + (size_t) from * R, r, 1.0, out, r);
    }
    la_fill_lower(r, out);
}
