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
 * Memory: 10 n x n, 3 n x p.
 * The inverse is safe: rows of x have unit length, so cond(xx' + I) <= n + 1.
 *
 * p-form, p < n. T = (Bm - Cm x)(x'x + I)^{-1}, Q = Cm + T x', Qx = Bm - T, and
 *   Cm x = Zx - (Y2 x)/mu  with Y2 x carried along:  Zx costs 2p per entry of Z.
 * 2n^2 p + 2np^2 + 2p nnz(Z), cheaper than the n-form if p < n. Memory: 3 n x n,
 * 9 n x p. */
#include "solve_topk.h"
#include "la.h"
#include "prox.h"

enum { TILE = 64 };
/* Above this share of non-zeros the dense product is the faster one. */
static const double SPARSE = 0.25;
/* The same for entries of Qx computed one by one. */
static const double FEW = 0.1;

static void cold_start(topk_represent *w, double mu);
static size_t step_z(topk_represent *w, const topk_represent_settings *set,
                     const double *theta);
static void step_q_n(topk_represent *w);
static void step_e_n(topk_represent *w, double lambda_e);
static bool screen(topk_represent *w);
static bool safe(const topk_represent *w, size_t i, size_t j);
static size_t shrink_few(topk_represent *w, int from, int width, double lambda_e);
static void complete_e(topk_represent *w);
static void step_q_p(topk_represent *w, size_t non_zero);
static void step_e_p(topk_represent *w, double lambda_e);
static void step_y2(topk_represent *w);
static size_t shrink_block(size_t len, const double *x, const double *qx, double mu,
                           double lambda_e, double *e, double *y1, double *change,
                           double *largest);
static void add_sparse(int m, int n, int k, const double *a, const double *s,
                       double *acc);
static void add_transposed(int n, int m, double alpha, const double *a, double *b);
static double objective(const topk_represent *w, const topk_represent_settings *set,
                        const double *theta);

int topk_represent_init(topk_represent *w, int n, int p, const double *x, double *z,
                        char form)
{
    size_t N = (size_t) n, P = (size_t) p;
    int r, info;

    w->n = n;
    w->p = p;
    w->x = x;
    w->z = z;
    w->n_form = form == 'n' || (form == 'a' && n <= p);
    w->q = ufs_dalloc(N, N);
    w->y2 = ufs_dalloc(N, N);
    w->e = ufs_dalloc(N, P);
    w->y1 = ufs_dalloc(N, P);
    w->mu = 0.0;
    r = w->n_form ? n : p;
    w->inverse = ufs_dalloc((size_t) r, (size_t) r);
    w->gram = w->rhs = w->cross = w->step = NULL;
    w->xt = w->zx = w->y2x = w->bm = w->pn = NULL;
    la_gram(w->n_form ? 'N' : 'T', n, p, x, w->inverse);
    if (w->n_form) {
        size_t tile = (size_t) (p < TILE ? p : TILE);
        w->gram = ufs_dalloc(N, N);
        w->rhs = ufs_dalloc(N, N);
        w->cross = ufs_dalloc(N, N);
        w->step = ufs_dalloc(N, N);
        w->tile = ufs_dalloc(N, tile);
        w->change = ufs_dalloc(N, tile);
        w->reference = ufs_dalloc(N, N);
        w->qt = ufs_dalloc(N, N);
        w->margin = ufs_dalloc(N, P);
        w->moved = ufs_dalloc(N, 1);
        w->norm = ufs_dalloc(P, 1);
        la_col_norms(n, p, x, w->norm);
        ufs_copy(w->gram, w->inverse, N * N);
    } else {
        w->xt = ufs_dzero(P, N);
        add_transposed(n, p, 1.0, x, w->xt);
        w->pn = ufs_dalloc(P, N);
        w->zx = ufs_dalloc(N, P);
        w->y2x = ufs_dalloc(N, P);
        w->bm = ufs_dalloc(N, P);
        w->tile = ufs_dalloc(N, P);
        w->change = ufs_dalloc(N, P);
    }
    for (int i = 0; i < r; i++) w->inverse[(size_t) i * ((size_t) r + 1)] += 1.0;
    info = la_chol(r, w->inverse);
    if (info == 0) info = la_chol_inverse(r, w->inverse);
    return info;
}

void topk_represent_solve(topk_represent *w, const topk_represent_settings *set,
                          const double *theta, bool warm, int outer, ufs_trace *trace)
{
    if (!warm || w->mu == 0.0) cold_start(w, set->mu);
    w->converged = false;
    w->iterations = 0;
    w->n_screened = 0;
    for (int it = 1; it <= set->max_iter && !w->converged; it++) {
        double mu = w->mu, largest;
        size_t non_zero;

        ufs_hook_step(NULL, 0, 0.0, 0.0);
        non_zero = step_z(w, set, theta);
        if (w->n_form) {
            step_q_n(w);
            step_e_n(w, set->lambda_e);
        } else {
            step_q_p(w, non_zero);
            step_e_p(w, set->lambda_e);
        }
        step_y2(w);
        w->mu = fmin(set->growth * mu, set->mu_max);
        w->iterations = it;
        largest = fmax(fmax(w->residual[0], w->residual[1]), w->residual[2]);
        /* False for NaN, which therefore never converges. */
        w->converged = largest < set->tol;
        double row[TOPK_INNER_COLS] = {outer, it, mu, w->residual[0], w->residual[1],
                                       w->residual[2]};
        ufs_trace_add(trace, row);
    }
    if (w->n_form) complete_e(w);
    w->objective = objective(w, set, theta);
}

static void cold_start(topk_represent *w, double mu)
{
    size_t NN = (size_t) w->n * (size_t) w->n, NP = (size_t) w->n * (size_t) w->p;
    memset(w->z, 0, NN * sizeof(double));
    memset(w->q, 0, NN * sizeof(double));
    memset(w->y2, 0, NN * sizeof(double));
    memset(w->e, 0, NP * sizeof(double));
    memset(w->y1, 0, NP * sizeof(double));
    if (w->n_form) {
        /* E = Y1 = 0: the first right-hand side is xx' itself. */
        ufs_copy(w->rhs, w->gram, NN);
        memset(w->cross, 0, NN * sizeof(double));
        memset(w->reference, 0, NN * sizeof(double));
        memset(w->margin, 0, NP * sizeof(double));
    } else {
        memset(w->y2x, 0, NP * sizeof(double));
    }
    w->mu = mu;
}

/* Z = S_{w/mu}(Q + Y2/mu) off the diagonal, its positive part if Z >= 0; returns its number of non-zeros. */
static size_t step_z(topk_represent *w, const topk_represent_settings *set,
                     const double *theta)
{
    size_t N = (size_t) w->n, count = 0;
    double scale = 1.0 / w->mu, largest = 0.0;

    for (size_t j = 0; j < N; j++) {
        size_t at = j * N;
        for (size_t i = 0; i < N; i++, at++) {
            double t = (1.0 + set->lambda_z * theta[at]) * scale;
            double z = i == j ? 0.0 : prox_soft(w->q[at] + w->y2[at] * scale, t), diff;
            if (set->nonnegative && z < 0.0) z = 0.0;
            diff = fabs(z - w->z[at]);
            /* Written so that a NaN is kept. */
            if (!(diff <= largest)) largest = diff;
            if (z != 0.0) count++;
            w->z[at] = z;
        }
    }
    w->residual[2] = largest;
    return count;
}

/* rhs holds (Qx)x' + D x'/mu_old on entry, (Qx)x' for the new Q on return. */
static void step_q_n(topk_represent *w)
{
    int n = w->n;
    size_t NN = (size_t) n * (size_t) n;
    double scale = 1.0 / w->mu;

    add_transposed(n, n, scale, w->cross, w->rhs);
    for (size_t i = 0; i < NN; i++) w->rhs[i] += w->z[i] - w->y2[i] * scale;
    la_gemm('N', 'N', n, n, n, 1.0, w->rhs, n, w->inverse, n, 0.0, w->q, n);
    for (size_t i = 0; i < NN; i++) w->rhs[i] -= w->q[i];
}

/* cross = x Y1' and step = x D' are kept transposed, so that adding an entry of D is
 * an axpy. */
static void step_e_n(topk_represent *w, double lambda_e)
{
    int n = w->n, p = w->p;
    size_t N = (size_t) n, NN = N * N;

    memset(w->step, 0, NN * sizeof(double));
    w->residual[0] = 0.0;
    w->screened = screen(w);
    w->n_screened += w->screened;
    for (int from = 0; from < p; from += TILE) {
        int width = p - from < TILE ? p - from : TILE;
        size_t at = (size_t) from * N, len = N * (size_t) width, non_zero;
        const double *x = w->x + at;

        if (w->screened) {
            non_zero = shrink_few(w, from, width, lambda_e);
        } else {
            la_gemm('N', 'N', n, width, n, 1.0, w->q, n, x, n, 0.0, w->tile, n);
            non_zero = shrink_block(len, x, w->tile, w->mu, lambda_e, w->e + at,
                                    w->y1 + at, w->change, &w->residual[0]);
            for (size_t i = 0; i < len; i++) w->margin[at + i] = fabs(w->e[at + i]);
        }
        if ((double) non_zero > SPARSE * (double) len)
            la_gemm('N', 'T', n, n, width, 1.0, x, n, w->change, n, 1.0, w->step, n);
        else if (non_zero > 0)
            add_sparse(n, n, width, x, w->change, w->step);
    }
    if (!w->screened) ufs_copy(w->reference, w->q, NN);
    for (size_t i = 0; i < NN; i++) w->cross[i] += w->step[i];
    add_transposed(n, n, 1.0 / w->mu, w->step, w->rhs);
}

/* Whether few entries fail the test; prepares qt and moved. */
static bool screen(topk_represent *w)
{
    size_t N = (size_t) w->n, P = (size_t) w->p, failed = 0;
    double most = FEW * (double) N * (double) P;

    memset(w->moved, 0, N * sizeof(double));
    for (size_t j = 0; j < N; j++)
        for (size_t i = 0; i < N; i++) {
            double d = w->q[i + j * N] - w->reference[i + j * N];
            w->moved[i] += d * d;
        }
    for (size_t i = 0; i < N; i++) w->moved[i] = sqrt(w->moved[i]);
    for (size_t j = 0; j < P; j++) {
        for (size_t i = 0; i < N; i++) failed += !safe(w, i, j);
        if ((double) failed > most) return false;
    }
    memset(w->qt, 0, N * N * sizeof(double));
    add_transposed(w->n, w->n, 1.0, w->q, w->qt);
    return true;
}

/* The slack covers the rounding of Qx; a NaN is never safe. */
static bool safe(const topk_represent *w, size_t i, size_t j)
{
    return w->margin[i + j * (size_t) w->n] > w->moved[i] * w->norm[j] + 1e-12;
}

/* shrink_block for the entries that are not safe; change is zero elsewhere. */
static size_t shrink_few(topk_represent *w, int from, int width, double lambda_e)
{
    size_t N = (size_t) w->n, count = 0;
    memset(w->change, 0, N * (size_t) width * sizeof(double));
    for (size_t j = 0; j < (size_t) width; j++)
        for (size_t i = 0; i < N; i++) {
            size_t column = (size_t) from + j, at = i + column * N;
            double qx;
            if (safe(w, i, column)) continue;
            qx = la_dot(w->n, w->qt + i * N, w->x + column * N);
            if (shrink_block(1, w->x + at, &qx, w->mu, lambda_e, w->e + at, w->y1 + at,
                             w->change + i + j * N, &w->residual[0])) {
                count++;
                w->margin[at] = 0.0;
            }
        }
    return count;
}

/* After a screened step: E = x - Qx at the safe entries, where it was not computed. */
static void complete_e(topk_represent *w)
{
    int n = w->n, p = w->p;
    size_t N = (size_t) n;
    if (w->iterations == 0 || !w->screened) return;
    for (int from = 0; from < p; from += TILE) {
        int width = p - from < TILE ? p - from : TILE;
        const double *x = w->x + (size_t) from * N;
        la_gemm('N', 'N', n, width, n, 1.0, w->q, n, x, n, 0.0, w->tile, n);
        for (size_t j = 0; j < (size_t) width; j++)
            for (size_t i = 0; i < N; i++)
                if (safe(w, i, (size_t) from + j))
                    w->e[i + ((size_t) from + j) * N] = x[i + j * N] - w->tile[i + j * N];
    }
}

/* On return bm = Qx for the new Q. */
static void step_q_p(topk_represent *w, size_t non_zero)
{
    int n = w->n, p = w->p;
    size_t N = (size_t) n, P = (size_t) p, NP = N * P;
    double scale = 1.0 / w->mu;

    if ((double) non_zero > SPARSE * (double) N * (double) N) {
        la_gemm('N', 'N', n, p, n, 1.0, w->z, n, w->x, n, 0.0, w->zx, n);
    } else {
        memset(w->pn, 0, NP * sizeof(double));
        add_sparse(p, n, n, w->xt, w->z, w->pn);
        memset(w->zx, 0, NP * sizeof(double));
        add_transposed(p, n, 1.0, w->pn, w->zx);
    }
    for (size_t i = 0; i < NP; i++) {
        w->bm[i] = w->x[i] - w->e[i] + w->y1[i] * scale;
        w->change[i] = w->bm[i] - w->zx[i] + w->y2x[i] * scale;
    }
    la_gemm('N', 'N', n, p, p, 1.0, w->change, n, w->inverse, p, 0.0, w->tile, n);
    for (size_t i = 0; i < N * N; i++) w->q[i] = w->z[i] - w->y2[i] * scale;
    la_gemm('N', 'T', n, n, p, 1.0, w->tile, n, w->x, n, 1.0, w->q, n);
    for (size_t i = 0; i < NP; i++) {
        w->bm[i] -= w->tile[i];
        w->y2x[i] += w->mu * (w->bm[i] - w->zx[i]);
    }
}

static void step_e_p(topk_represent *w, double lambda_e)
{
    double largest = 0.0;
    shrink_block((size_t) w->n * (size_t) w->p, w->x, w->bm, w->mu, lambda_e, w->e,
                 w->y1, w->change, &largest);
    w->residual[0] = largest;
}

static void step_y2(topk_represent *w)
{
    size_t NN = (size_t) w->n * (size_t) w->n;
    double largest = 0.0;
    for (size_t i = 0; i < NN; i++) {
        double diff = w->q[i] - w->z[i];
        if (!(fabs(diff) <= largest)) largest = fabs(diff);
        w->y2[i] += w->mu * diff;
    }
    w->residual[1] = largest;
}

/* E and Y1 for a block; change = Y1 - Y1_old, whose non-zeros are counted. Y1 equals
 * +-lambda_e exactly where E is not zero, so unchanged entries are exact zeros. */
static size_t shrink_block(size_t len, const double *x, const double *qx, double mu,
                           double lambda_e, double *e, double *y1, double *change,
                           double *largest)
{
    double scale = 1.0 / mu, t = lambda_e * scale, top = *largest;
    size_t count = 0;
    for (size_t i = 0; i < len; i++) {
        double v = x[i] - qx[i] + y1[i] * scale, shrunk = prox_soft(v, t), y, r;
        y = shrunk > 0.0 ? lambda_e : (shrunk < 0.0 ? -lambda_e : mu * v);
        change[i] = y - y1[i];
        r = fabs(change[i]) * scale;
        if (!(r <= top)) top = r;
        if (change[i] != 0.0) count++;
        y1[i] = y;
        e[i] = shrunk;
    }
    *largest = top;
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
                if (value != 0.0)
                    la_axpy(m, value, a + (size_t) l * M, acc + (size_t) i * M);
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

/* sum(w |Z|) + lambda_e ||x - Zx||_1: the value of the feasible pair (Z, x - Zx). */
static double objective(const topk_represent *w, const topk_represent_settings *set,
                        const double *theta)
{
    int n = w->n, p = w->p;
    size_t N = (size_t) n;
    double weighted = 0.0, error = 0.0;

    for (size_t i = 0; i < N * N; i++)
        weighted += (1.0 + set->lambda_z * theta[i]) * fabs(w->z[i]);
    for (int from = 0; from < p; from += TILE) {
        int width = p - from < TILE ? p - from : TILE;
        const double *x = w->x + (size_t) from * N;
        la_gemm('N', 'N', n, width, n, 1.0, w->z, n, x, n, 0.0, w->tile, n);
        for (size_t i = 0; i < N * (size_t) width; i++) error += fabs(x[i] - w->tile[i]);
    }
    return weighted + set->lambda_e * error;
}
