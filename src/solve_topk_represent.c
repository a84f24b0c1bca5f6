/* solve_topk_represent.c: sub-problem 1 of top-k selection,
 *   min ||Z||_1 + lambda_e ||E||_1 + lambda_z ||Z o Theta||_1
 *   s.t. x = Z x + E, diag(Z) = 0 (and Z >= 0 if asked),   x n x p, Z n x n, E n x p,
 * by ADMM with the splitting Q = Z (corrected Algorithm 1 of the source; in its
 * transpose, see solve_topk.h). With w = 1 + lambda_z Theta one iteration is
 *   Z  = S_{w/mu}(Q + Y2/mu), diag(Z) = 0
 *   Q  = (Bm x' + Cm)(xx' + I)^{-1},  Bm = x - E + Y1/mu,  Cm = Z - Y2/mu
 *   E  = S_{lambda_e/mu}(x - Qx + Y1/mu)
 *   Y1 += mu (x - Qx - E),  Y2 += mu (Q - Z),  mu = min(growth mu, mu_max).
 *
 * n-form. Let D = Y1 - Y1_old, so that E = x - Qx - D/mu. The right-hand side of the
 * next Q step then needs no product with E:
 *   Bm x' = (Qx)x' + D x'/mu_old + Y1 x'/mu,   (Qx)x' = R - Q for R = Q(xx' + I),
 * and Y1 x' is carried along by adding D x'. Y1 is lambda_e sign(.) wherever E is not
 * zero, hence D soon has few entries, and D x' costs 2n per entry. What stays is
 *   2n^3 (R times the explicit inverse) + 2n^2 p (Qx, tile by tile)
 * instead of 2n^3 + 4n^2 p. Moreover Qx itself is needed only where |Y1| may fall below
 * lambda_e: an entry with E_ij = e when Q was Q0 cannot as long as
 *   |e| > ||row i of Q - Q0|| ||column j of x||            (Cauchy-Schwarz)
 * and then D_ij = 0. Once fewer than a tenth of the entries fail this test, only they
 * are computed, by dot products; otherwise all are, and Q0 = Q. The result is the same.
 * Memory: 10 n x n, E, Y1 and n x p in single precision.
 * The inverse is safe: rows of x have unit length, so cond(xx' + I) <= n + 1.
 *
 * p-form, for p < n: solve_topk_blocks.c. */
#include "solve_topk_represent.h"
#include "la.h"
#include "prox.h"
#include <R_ext/Memory.h>

enum { TILE = 64 };
/* Above this share of non-zeros the dense product is the faster one. */
static const double SPARSE = 0.25;
/* The same for entries of Qx computed one by one. */
static const double FEW = 0.1;

static void cold_start(topk_represent *work, double mu);
static void step_z(topk_represent *work, const topk_represent_settings *settings,
                   const double *theta);
static void step_q(topk_represent *work);
static void step_e(topk_represent *work, double lambda_e);
static bool screen(topk_represent *work);
static bool safe(const topk_represent *work, size_t i, size_t j);
static size_t shrink_few(topk_represent *work, int from, int width, double lambda_e);
static void complete_e(topk_represent *work);
static void step_y2(topk_represent *work);
static size_t shrink_block(topk_represent *work, size_t len, const double *x, const double *qx,
                           double lambda_e, double *e, double *y1, double *change);
static void add_sparse(int m, int n, int k, const double *a, const double *s, double *acc);
static void add_transposed(int n, int m, double alpha, const double *a, double *b);
static double running(const topk_represent *work);
static double objective(const topk_represent *work, const topk_represent_settings *settings,
                        const double *theta);

int topk_represent_init(topk_represent *work, int n, int p, const double *x, double *z, double *e,
                        double *y1, char form)
{
    size_t N = (size_t) n, P = (size_t) p;
    int r, lapack;

    work->n = n;
    work->p = p;
    work->x = x;
    work->z = z;
    work->n_form = form == 'n' || (form == 'a' && n <= p);
    work->e = e;
    work->y1 = y1;
    work->mu = 0.0;
    work->hook = NULL;
    r = work->n_form ? n : p;
    work->inverse = ufs_dalloc((size_t) r, (size_t) r);
    work->gram = work->rhs = work->cross = work->step = NULL;
    work->q = work->y2 = NULL;
    work->blocks = NULL;
    work->tile = ufs_dalloc(N, p < TILE ? P : TILE);
    la_gram(work->n_form ? 'N' : 'T', n, p, x, work->inverse);
    if (work->n_form) {
        work->q = ufs_dalloc(N, N);
        work->y2 = ufs_dalloc(N, N);
        work->gram = ufs_dalloc(N, N);
        work->rhs = ufs_dalloc(N, N);
        work->cross = ufs_dalloc(N, N);
        work->step = ufs_dalloc(N, N);
        work->change = ufs_dalloc(N, p < TILE ? P : TILE);
        work->reference = ufs_dalloc(N, N);
        work->qt = ufs_dalloc(N, N);
        work->margin = (float *) R_alloc(N * P, sizeof(float));
        work->moved = ufs_dalloc(N, 1);
        work->norm = ufs_dalloc(P, 1);
        la_col_norms(n, p, x, work->norm);
        ufs_copy(work->gram, work->inverse, N * N);
    } else {
        topk_blocks_init(work);
    }
    for (int i = 0; i < r; i++) work->inverse[(size_t) i * ((size_t) r + 1)] += 1.0;
    lapack = la_chol_checked(r, work->inverse);
    if (lapack == 0) lapack = la_chol_inverse(r, work->inverse);
    return lapack;
}

void topk_represent_solve(topk_represent *work, const topk_represent_settings *settings,
                          const double *theta, bool warm, int outer, ufs_trace *trace)
{
    if (!warm || work->mu == 0.0) cold_start(work, settings->mu);
    work->converged = false;
    work->iterations = 0;
    work->n_screened = 0;
    if (!work->n_form) {
        topk_blocks_solve(work, settings, theta, outer, trace);
        work->objective = objective(work, settings, theta);
        return;
    }
    for (int it = 1; it <= settings->max_iter && !work->converged; it++) {
        double mu = work->mu, largest;

        work->mu_now = mu;
        work->y1_d = 0.0;
        step_z(work, settings, theta);
        step_q(work);
        step_e(work, settings->lambda_e);
        step_y2(work);
        work->mu = fmin(settings->growth * mu, settings->mu_max);
        work->iterations = it;
        largest = fmax(fmax(work->residual[0], work->residual[1]), work->residual[2]);
        /* False for NaN, which therefore never converges. */
        work->converged = largest < settings->tol;
        double row[TOPK_REPRESENT_COLUMNS] = {
            outer, it, mu, work->residual[0], work->residual[1], work->residual[2], running(work)};
        ufs_trace_add(trace, row);
        ufs_hook_step(work->hook, it, row[6], largest);
    }
    complete_e(work);
    work->objective = objective(work, settings, theta);
}

static void cold_start(topk_represent *work, double mu)
{
    size_t NN = (size_t) work->n * (size_t) work->n, NP = (size_t) work->n * (size_t) work->p;
    if (!work->n_form) {
        topk_blocks_start(work, mu);
        return;
    }
    memset(work->z, 0, NN * sizeof(double));
    memset(work->q, 0, NN * sizeof(double));
    memset(work->y2, 0, NN * sizeof(double));
    memset(work->e, 0, NP * sizeof(double));
    memset(work->y1, 0, NP * sizeof(double));
    /* E = Y1 = 0: the first right-hand side is xx' itself. */
    ufs_copy(work->rhs, work->gram, NN);
    memset(work->cross, 0, NN * sizeof(double));
    memset(work->reference, 0, NN * sizeof(double));
    memset(work->margin, 0, NP * sizeof(float));
    work->mu = mu;
    work->y1_x = 0.0;
}

/* Z = S_{w/mu}(Q + Y2/mu) off the diagonal, its positive part if Z >= 0. */
static void step_z(topk_represent *work, const topk_represent_settings *settings,
                   const double *theta)
{
    size_t N = (size_t) work->n;
    double scale = 1.0 / work->mu, largest = 0.0, weighted = 0.0;

    for (size_t j = 0; j < N; j++) {
        size_t at = j * N;
        for (size_t i = 0; i < N; i++, at++) {
            double weight = 1.0 + settings->lambda_z * theta[at], t = weight * scale;
            double z = i == j ? 0.0 : prox_soft(work->q[at] + work->y2[at] * scale, t), diff;
            if (settings->nonnegative && z < 0.0) z = 0.0;
            diff = fabs(z - work->z[at]);
            /* Written so that a NaN is kept. */
            if (!(diff <= largest)) largest = diff;
            weighted += weight * fabs(z);
            work->z[at] = z;
        }
    }
    work->residual[2] = largest;
    work->weighted = weighted;
}

/* rhs holds (Qx)x' + D x'/mu_old on entry, (Qx)x' for the new Q on return. */
static void step_q(topk_represent *work)
{
    int n = work->n;
    size_t NN = (size_t) n * (size_t) n;
    double scale = 1.0 / work->mu;

    add_transposed(n, n, scale, work->cross, work->rhs);
    for (size_t i = 0; i < NN; i++) work->rhs[i] += work->z[i] - work->y2[i] * scale;
    la_gemm_checked('N', 'N', n, n, n, 1.0, work->rhs, n, work->inverse, n, 0.0, work->q, n);
    for (size_t i = 0; i < NN; i++) work->rhs[i] -= work->q[i];
}

/* cross = x Y1' and step = x D' are kept transposed, so that adding an entry of D is
 * an axpy. */
static void step_e(topk_represent *work, double lambda_e)
{
    int n = work->n, p = work->p;
    size_t N = (size_t) n, NN = N * N;

    memset(work->step, 0, NN * sizeof(double));
    work->residual[0] = 0.0;
    work->screened = screen(work);
    work->n_screened += work->screened;
    for (int from = 0; from < p; from += TILE) {
        int width = p - from < TILE ? p - from : TILE;
        size_t at = (size_t) from * N, len = N * (size_t) width, non_zero;
        const double *x = work->x + at;

        if (work->screened) {
            non_zero = shrink_few(work, from, width, lambda_e);
        } else {
            la_gemm_checked('N', 'N', n, width, n, 1.0, work->q, n, x, n, 0.0, work->tile, n);
            non_zero = shrink_block(work, len, x, work->tile, lambda_e, work->e + at, work->y1 + at,
                                    work->change);
            for (size_t i = 0; i < len; i++)
                work->margin[at + i] = (float) (fabs(work->e[at + i]) * (1.0 - 1e-6));
        }
        if ((double) non_zero > SPARSE * (double) len)
            la_gemm_checked('N', 'T', n, n, width, 1.0, x, n, work->change, n, 1.0, work->step, n);
        else if (non_zero > 0)
            add_sparse(n, n, width, x, work->change, work->step);
    }
    if (!work->screened) ufs_copy(work->reference, work->q, NN);
    for (size_t i = 0; i < NN; i++) work->cross[i] += work->step[i];
    add_transposed(n, n, 1.0 / work->mu, work->step, work->rhs);
}

/* Whether few entries fail the test; prepares qt and moved. */
static bool screen(topk_represent *work)
{
    size_t N = (size_t) work->n, P = (size_t) work->p, failed = 0;
    double most = FEW * (double) N * (double) P;

    memset(work->moved, 0, N * sizeof(double));
    for (size_t j = 0; j < N; j++)
        for (size_t i = 0; i < N; i++) {
            double d = work->q[i + j * N] - work->reference[i + j * N];
            work->moved[i] += d * d;
        }
    for (size_t i = 0; i < N; i++) work->moved[i] = sqrt(work->moved[i]);
    for (size_t j = 0; j < P; j++) {
        for (size_t i = 0; i < N; i++) failed += !safe(work, i, j);
        if ((double) failed > most) return false;
    }
    memset(work->qt, 0, N * N * sizeof(double));
    add_transposed(work->n, work->n, 1.0, work->q, work->qt);
    return true;
}

/* The slack covers the rounding of Qx; a NaN is never safe. */
static bool safe(const topk_represent *work, size_t i, size_t j)
{
    return (double) work->margin[i + j * (size_t) work->n] > work->moved[i] * work->norm[j] + 1e-12;
}

/* shrink_block for the entries that are not safe; change is zero elsewhere. */
static size_t shrink_few(topk_represent *work, int from, int width, double lambda_e)
{
    size_t N = (size_t) work->n, count = 0;
    memset(work->change, 0, N * (size_t) width * sizeof(double));
    for (size_t j = 0; j < (size_t) width; j++)
        for (size_t i = 0; i < N; i++) {
            size_t column = (size_t) from + j, at = i + column * N;
            double qx;
            if (safe(work, i, column)) continue;
            qx = la_dot(work->n, work->qt + i * N, work->x + column * N);
            if (shrink_block(work, 1, work->x + at, &qx, lambda_e, work->e + at, work->y1 + at,
                             work->change + i + j * N)) {
                count++;
                work->margin[at] = 0.0F;
            }
        }
    return count;
}

/* After a screened step: E = x - Qx at the safe entries, where it was not computed. */
static void complete_e(topk_represent *work)
{
    int n = work->n, p = work->p;
    size_t N = (size_t) n;
    if (work->iterations == 0 || !work->screened) return;
    for (int from = 0; from < p; from += TILE) {
        int width = p - from < TILE ? p - from : TILE;
        const double *x = work->x + (size_t) from * N;
        la_gemm_checked('N', 'N', n, width, n, 1.0, work->q, n, x, n, 0.0, work->tile, n);
        for (size_t j = 0; j < (size_t) width; j++)
            for (size_t i = 0; i < N; i++)
                if (safe(work, i, (size_t) from + j))
                    work->e[i + ((size_t) from + j) * N] = x[i + j * N] - work->tile[i + j * N];
    }
}

static void step_y2(topk_represent *work)
{
    size_t NN = (size_t) work->n * (size_t) work->n;
    double largest = 0.0;
    for (size_t i = 0; i < NN; i++) {
        double diff = work->q[i] - work->z[i];
        if (!(fabs(diff) <= largest)) largest = fabs(diff);
        work->y2[i] += work->mu * diff;
    }
    work->residual[1] = largest;
}

/* E and Y1 for a block; change = Y1 - Y1_old, whose non-zeros are counted. Y1 equals
 * +-lambda_e exactly where E is not zero, so unchanged entries are exact zeros. */
static size_t shrink_block(topk_represent *work, size_t len, const double *x, const double *qx,
                           double lambda_e, double *e, double *y1, double *change)
{
    double mu = work->mu, scale = 1.0 / mu, t = lambda_e * scale, top = work->residual[0];
    double inner = 0.0, moved = 0.0;
    size_t count = 0;
    for (size_t i = 0; i < len; i++) {
        double v = x[i] - qx[i] + y1[i] * scale, shrunk = prox_soft(v, t), y, r;
        y = shrunk > 0.0 ? lambda_e : (shrunk < 0.0 ? -lambda_e : mu * v);
        change[i] = y - y1[i];
        r = fabs(change[i]) * scale;
        if (!(r <= top)) top = r;
        if (change[i] != 0.0) {
            count++;
            inner += change[i] * x[i];
            moved += change[i] * y;
        }
        y1[i] = y;
        e[i] = shrunk;
    }
    work->residual[0] = top;
    work->y1_x += inner;
    work->y1_d += moved;
    return count;
}

/* acc (m x n) += a (m x k) s', s n x k with few non-zeros; 2m flops per non-zero. */
static void add_sparse(int m, int n, int k, const double *a, const double *s, double *acc)
{
    size_t M = (size_t) m, N = (size_t) n;
    for (int from = 0; from < k; from += TILE) {
        int to = from + TILE < k ? from + TILE : k;
        for (int i = 0; i < n; i++)
            for (int l = from; l < to; l++) {
                double value = s[(size_t) i + (size_t) l * N];
                if (value != 0.0) la_axpy(m, value, a + (size_t) l * M, acc + (size_t) i * M);
            }
    }
}

/* b (m x n) += alpha a', a n x m; block by block for the cache. */
static void add_transposed(int n, int m, double alpha, const double *a, double *b)
{
    size_t N = (size_t) n, M = (size_t) m, block = 32;
    for (size_t jj = 0; jj < M; jj += block)
        for (size_t ii = 0; ii < N; ii += block)
            for (size_t j = jj; j < jj + block && j < M; j++)
                for (size_t i = ii; i < ii + block && i < N; i++)
                    b[j + i * M] += alpha * a[i + j * N];
}

/* sum(w |Z|) + lambda_e ||E||_1 of this iteration. Y1 is lambda_e sign(E) where E is not zero,
 * so lambda_e ||E||_1 = <Y1, E>, and as E is not always there, with E = x - Qx -
 * D/mu it is <Y1, x> - <Y1 x', Q> - <Y1, D>/mu. */
static double running(const topk_represent *work)
{
    size_t N = (size_t) work->n;
    double error;
    error = work->y1_x - work->y1_d / work->mu_now;
    /* `cross` is transposed. */
    for (size_t jj = 0; jj < N; jj += 32)
        for (size_t i = 0; i < N; i++)
            for (size_t j = jj; j < jj + 32 && j < N; j++)
                error -= work->cross[j + i * N] * work->q[i + j * N];
    return work->weighted + error;
}

/* sum(w |Z|) + lambda_e ||x - Zx||_1: the value of the feasible pair (Z, x - Zx). */
static double objective(const topk_represent *work, const topk_represent_settings *settings,
                        const double *theta)
{
    int n = work->n, p = work->p;
    size_t N = (size_t) n;
    double weighted = 0.0, error = 0.0;

    for (size_t i = 0; i < N * N; i++)
        weighted += (1.0 + settings->lambda_z * theta[i]) * fabs(work->z[i]);
    for (int from = 0; from < p; from += TILE) {
        int width = p - from < TILE ? p - from : TILE;
        const double *x = work->x + (size_t) from * N;
        la_gemm_checked('N', 'N', n, width, n, 1.0, work->z, n, x, n, 0.0, work->tile, n);
        for (size_t i = 0; i < N * (size_t) width; i++) error += fabs(x[i] - work->tile[i]);
    }
    return weighted + settings->lambda_e * error;
}

double topk_represent_gap(topk_represent *work, const topk_represent_settings *settings,
                          const double *theta)
{
    size_t N = (size_t) work->n;
    double *reach = ufs_dalloc(TILE, N), lower = 0.0;

    for (int from = 0; from < work->n; from += TILE) {
        int count = work->n - from < TILE ? work->n - from : TILE;
        la_gemm_checked('N', 'T', count, work->n, work->p, 1.0, work->y1 + from, work->n, work->x,
                        work->n, 0.0, reach, count);
        for (int a = 0; a < count; a++) {
            size_t i = (size_t) (from + a);
            double over = 1.0, inner = 0.0;
            for (size_t j = 0; j < N; j++) {
                double c = reach[(size_t) a + j * (size_t) count];
                if (j == i) continue;
                if (!settings->nonnegative) c = fabs(c);
                over = fmax(over, c / (1.0 + settings->lambda_z * theta[i + j * N]));
            }
            for (size_t k = 0; k < (size_t) work->p; k++) {
                double y = work->y1[i + k * N];
                over = fmax(over, fabs(y) / settings->lambda_e);
                inner += y * work->x[i + k * N];
            }
            lower += fmax(inner / over, 0.0);
        }
    }
    return work->objective > 0.0 ? fmax(work->objective - lower, 0.0) / work->objective : 0.0;
}
