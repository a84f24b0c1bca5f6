/* base_wstep.c: the problem over W that UDFS and SOGFS share, for mm.c.
 *
 *   min_W tr(W'MW) + gamma sum_j sqrt(|w_j|^2 + eps)   s.t. W'W = I,
 *
 * M p x p positive semidefinite, W p x c. With d_j = 1 / (2 sqrt(|w_j|^2 + eps)) of the W before, W
 * = the c lowest eigenvectors of M + gamma diag(d) (la_lowest.c); this never raises the objective.
 * p <= n: M = X'Y, Y = A X, is formed for the rows of W at hand. p > n: B with M = B'B, n x p, and
 * nothing of size p x p.
 *
 * Rows that are zero. A row stays zero if reach_j = 2 |(MW)_j| / gamma <= 1, and a small one with a
 * small reach only shrinks: mm.c leaves such rows out. q rows at hand cost nq^2 flops once and
 * q^3/3 per step (q <= n), or 2n^2 q. Of rows at hand MW = W Lambda - gamma diag(d) W tells the
 * reach; of the others it takes a product with M, now and then and before the end.
 *
 * Start. Equal weights ask for the c lowest eigenvectors of M; for p > n these are any c of
 * p - n + 1 or more null vectors, and the result would depend on the LAPACK. Only |w_j|^2 is
 * needed to go on: here its mean over all orthonormal choices within a tied eigenspace,
 * (c / q) diag(P_0) for c vectors out of a q-dimensional space with projector P_0. */
#include "base_wstep.h"
#include "la.h"
#include <R_ext/Memory.h>

static const double TIE = 1e-10;         /* eigenvalues, of the largest: rounding of la_eig_range */
static const double TIGHT = 1e-10;       /* residual of eigenvectors at the end */
static const double ENTERS = 1.0 + 1e-6; /* reach: rounding of the products */
enum { PRICE_EVERY = 4 };                /* accepted steps: a product with M costs less than one */

static int part(void *data, mm *s);
static int step(void *data, mm *s);
static void spread(wstep *w);
static void gather(int n, int q, const int *set, const double *x, double *out);
static void fill_m(wstep *w, int q, const double *x, const double *y);
static void price(wstep *w);
static int start_dense(wstep *s);
static int start_low_rank(wstep *s);
static double cut_weights(int zeros, int count, const double *value, double top, int c,
                          double *weight);

void wstep_init(wstep *w, const wstep_problem *problem, double *result_w, double *row2,
                double *reach)
{
    int n = problem->n, p = problem->p;
    size_t N = (size_t) n, P = (size_t) p, C = (size_t) problem->c;
    bool narrows = problem->accelerate && p > LA_LOWEST_DENSE;

    *w = (wstep){.problem = problem, .n = n, .p = p, .c = problem->c, .w = result_w, .row2 = row2};
    w->reweighted = (mm_problem){.p = p,
                                 .least = problem->c,
                                 .fixed = !narrows,
                                 .accelerate = problem->accelerate,
                                 .slack = problem->gamma * sqrt(problem->eps),
                                 .high = R_PosInf,
                                 .data = w,
                                 .step = step,
                                 .judge = problem->judge,
                                 .part = part};
    w->y = p > n ? NULL : ufs_dalloc(N, P);
    w->m = p > n ? NULL : ufs_dalloc(P, P);
    w->b = p > n ? ufs_dalloc(N, P) : NULL;
    if (narrows) {
        w->part_x = p > n ? NULL : ufs_dalloc(N, P);
        w->part_y = p > n ? NULL : ufs_dalloc(N, P);
        w->part_w = ufs_dalloc(P, C);
        w->part_m = p > n ? ufs_dalloc(N, N) : w->m;
    }
    w->held = ufs_ialloc(P);
    w->n_held = p;
    w->delta = ufs_dalloc(P, 1);
    w->values = ufs_dalloc(C, 1);
    w->mw = ufs_dalloc(P, C);
    w->zw = ufs_dalloc(N, C);
    w->change = 1.0;
    w->converged = true;
    la_lowest_init(&w->lowest, p, problem->c, p > n ? n : p, w->m, w->b);
    mm_init(&w->s, &w->reweighted, reach);
    w->s.level = ENTERS;
}

int wstep_factor(wstep *w, double *a, const double *x, int *pivot, double *work)
{
    int n = w->n, p = w->p, rank, lapack = la_chol_pivoted(n, a, pivot, &rank, work);
    size_t N = (size_t) n, P = (size_t) p;
    if (lapack) return lapack;
    for (size_t j = 0; j < P; j++)
        for (size_t i = 0; i < N; i++) w->b[i + j * N] = x[(size_t) (pivot[i] - 1) + j * N];
    la_trmm('L', 'U', 'N', n, p, 1.0, a, n, w->b, n);
    return 0;
}

int wstep_renew(wstep *w)
{
    if (w->started) ufs_copy(w->s.u, w->s.plain, (size_t) w->s.q);
    mm_renew(&w->s);
    if (w->started || w->s.lapack) return w->s.lapack;
    w->s.lapack = w->m != NULL ? start_dense(w) : start_low_rank(w);
    for (int j = 0; j < w->p; j++) w->s.u[j] = sqrt(sqrt(fmax(w->row2[j], 0.0) + w->problem->eps));
    return w->s.lapack;
}

/* ---- matrices of the rows at hand -------------------------------------------------------- */

/* M or B of the part: of order q where that is cheaper than n x q. */
static int part(void *data, mm *s)
{
    wstep *w = data;
    int n = w->n, p = w->p, q = s->q;

    spread(w);
    w->n_held = q;
    memcpy(w->held, s->set, (size_t) q * sizeof(int));
    if (q < p)
        for (size_t l = 0; l < (size_t) w->c; l++)
            for (size_t a = 0; a < (size_t) q; a++)
                w->part_w[a + l * (size_t) q] = w->w[(size_t) s->set[a] + l * (size_t) p];
    if (q > n) {
        la_lowest_set(&w->lowest, q, n, NULL, w->b, q < p ? w->held : NULL);
    } else if (p > n) {
        gather(n, q, s->set, w->b, w->lowest.scaled); /* scratch: not in use with part_m */
        la_gram('T', n, q, w->lowest.scaled, w->part_m);
        la_lowest_set(&w->lowest, q, q, w->part_m, NULL, NULL);
    } else {
        if (q < p) gather(n, q, s->set, w->problem->x, w->part_x);
        if (q < p) gather(n, q, s->set, w->y, w->part_y);
        fill_m(w, q, q < p ? w->part_x : w->problem->x, q < p ? w->part_y : w->y);
        la_lowest_set(&w->lowest, q, q, w->m, NULL, NULL);
    }
    return 0;
}

/* W of all rows from that of the part. */
static void spread(wstep *w)
{
    size_t P = (size_t) w->p, Q = (size_t) w->n_held;
    if (w->n_held == w->p) return;
    memset(w->w, 0, P * (size_t) w->c * sizeof(double));
    for (size_t l = 0; l < (size_t) w->c; l++)
        for (size_t a = 0; a < Q; a++) w->w[(size_t) w->held[a] + l * P] = w->part_w[a + l * Q];
}

static void gather(int n, int q, const int *set, const double *x, double *out)
{
    size_t N = (size_t) n;
    for (size_t a = 0; a < (size_t) q; a++) ufs_copy(out + a * N, x + (size_t) set[a] * N, N);
}

/* m = X'Y, known to be symmetric: blocks of one triangle. */
static void fill_m(wstep *w, int q, const double *x, const double *y)
{
    enum { BLOCK = 64 };
    for (int j = 0; j < q; j += BLOCK) {
        int width = q - j < BLOCK ? q - j : BLOCK;
        la_gemm('T', 'N', j + width, width, w->n, 1.0, x, w->n, y + (size_t) j * (size_t) w->n,
                w->n, 0.0, w->m + (size_t) j * (size_t) q, q);
    }
    la_fill_lower(q, w->m);
}

/* ---- one step ---------------------------------------------------------------------------- */

static int step(void *data, mm *s)
{
    wstep *w = data;
    int q = s->q;
    double gamma = w->problem->gamma, eps = w->problem->eps, tol = TIGHT;
    double *vector = q < w->p ? w->part_w : w->w;
    la_lowest_info info;

    for (int a = 0; a < q; a++) w->delta[a] = gamma / (2.0 * s->u[a] * s->u[a]);
    /* Far from the end, eigenvectors that are as good as the next step will change them. */
    if (w->problem->accelerate) tol = fmin(fmax(1e-5 * w->change, TIGHT), 1e-7);
    w->rough = tol > TIGHT;
    la_lowest_solve(&w->lowest, w->delta, w->started, tol, w->values, vector, &info);
    if (info.lapack) return info.lapack;
    w->started = true;
    w->residual = info.residual;
    w->converged = info.converged;
    /* tr(W'MW) is the sum of the eigenvalues without the weights' part. */
    s->merit = gamma * (w->p - q) * sqrt(eps);
    for (int l = 0; l < w->c; l++) s->merit += w->values[l];
    for (int a = 0; a < q; a++) {
        double row2 = 0.0, mw2 = 0.0, smooth;
        for (int l = 0; l < w->c; l++) {
            double v = vector[(size_t) a + (size_t) l * (size_t) q];
            row2 += v * v;
            mw2 += v * v * (w->values[l] - w->delta[a]) * (w->values[l] - w->delta[a]);
        }
        smooth = sqrt(row2 + eps);
        s->merit += gamma * smooth - w->delta[a] * row2;
        s->plain[a] = sqrt(smooth);
        s->dual[s->set[a]] = 2.0 * sqrt(mw2) / gamma;
    }
    return 0;
}

double wstep_change(wstep *w)
{
    const mm *s = &w->s;
    double change = R_FINITE(s->best) ? fabs(s->best - s->merit) / fabs(s->merit) : R_NaN;

    w->change = R_FINITE(change) ? change : 1.0;
    if (s->q < w->p && s->accepted % PRICE_EVERY == 0) price(w);
    return change;
}

bool wstep_settled(wstep *w)
{
    mm *s = &w->s;
    if (s->q < w->p) {
        price(w);
        for (int a = 0, j = 0; j < w->p; j++) {
            bool here = a < s->q && s->set[a] == j;
            if (!here && s->dual[j] > s->level) return false;
            a += here;
        }
    }
    if (w->rough) w->change = 0.0;
    if (w->rough) return false;
    /* So that all rows that are zero are so exactly, and ranked by their reach. */
    s->tidy = !s->problem->fixed && mm_idle(s) > 0;
    return !s->tidy;
}

/* The reach of all rows at the W at hand. */
static void price(wstep *w)
{
    int n = w->n, p = w->p, c = w->c;

    spread(w);
    la_gemm('N', 'N', n, c, p, 1.0, p > n ? w->b : w->y, n, w->w, p, 0.0, w->zw, n);
    la_gemm('T', 'N', p, c, n, 1.0, p > n ? w->b : w->problem->x, n, w->zw, n, 0.0, w->mw, p);
    la_row_norms(p, c, w->mw, w->s.dual);
    for (int j = 0; j < p; j++) w->s.dual[j] *= 2.0 / w->problem->gamma;
    w->s.priced = true;
}

void wstep_finish(wstep *w)
{
    price(w);
    la_row_norms(w->p, w->c, w->w, w->row2);
    for (int j = 0; j < w->p; j++) {
        w->row2[j] *= w->row2[j];
        if (w->row2[j] > 0.0) w->s.dual[j] = fmax(w->s.dual[j], 1.0);
    }
}

int wstep_live(const wstep *w)
{
    int live = 0;
    for (int j = 0; j < w->p; j++) live += w->row2[j] > 100.0 * w->problem->eps;
    return live;
}

/* ---- start -------------------------------------------------------------------------------- */

static int start_dense(wstep *w)
{
    size_t P = (size_t) w->p;
    void *mark = vmaxget();
    double *copy = ufs_dalloc(P, P), *vector = ufs_dalloc(P, P);
    double *value = ufs_dalloc(P, 1), *weight = ufs_dalloc(P, 1), top;
    int lapack, count = w->c + 8 < w->p ? w->c + 8 : w->p;

    ufs_copy(copy, w->m, P * P);
    top = sqrt(la_ss(P * P, w->m));
    lapack = la_eig_range(w->p, copy, 1, count, value, vector);
    if (lapack == 0 && count < w->p && value[count - 1] - value[w->c - 1] <= TIE * top) {
        /* More than c eigenvectors may be tied with the last: all of them. */
        count = w->p;
        ufs_copy(copy, w->m, P * P);
        lapack = la_eig_range(w->p, copy, 1, count, value, vector);
    }
    if (lapack) return lapack;
    cut_weights(0, count, value, top, w->c, weight);
    for (size_t j = 0; j < P; j++) w->row2[j] = 0.0;
    for (size_t v = 0; v < (size_t) count && weight[v] > 0.0; v++)
        for (size_t j = 0; j < P; j++)
            w->row2[j] += weight[v] * vector[j + v * P] * vector[j + v * P];
    vmaxset(mark);
    return 0;
}

/* Eigenvectors of B'B from those of BB'; what they leave of the diagonal of I is P_0. */
static int start_low_rank(wstep *w)
{
    int n = w->n, p = w->p, rank = 0;
    size_t N = (size_t) n, P = (size_t) p;
    double *gram = ufs_dalloc(N, N), *vector = ufs_dalloc(N, N), *value = ufs_dalloc(N, 1);
    double *weight = ufs_dalloc(N, 1), *right = w->lowest.scaled, rest;
    int lapack, first;

    la_gram('N', n, p, w->b, gram);
    lapack = la_eig_range(n, gram, 1, n, value, vector);
    if (lapack) return lapack;
    while (rank < n && value[n - 1 - rank] > TIE * value[n - 1]) rank++;
    first = n - rank;
    for (int v = first; v < n; v++) {
        double scale = 1.0 / sqrt(value[v]);
        for (size_t i = 0; i < N; i++) vector[i + (size_t) v * N] *= scale;
    }
    rest = cut_weights(p - rank, rank, value + first, value[n - 1], w->c, weight);
    la_gemm('T', 'N', rank, p, n, 1.0, vector + (size_t) first * N, n, w->b, n, 0.0, right, rank);
    for (size_t j = 0; j < P; j++) {
        const double *entry = right + j * (size_t) rank;
        w->row2[j] = rest;
        for (int v = 0; v < rank; v++) w->row2[j] += (weight[v] - rest) * entry[v] * entry[v];
    }
    return 0;
}

/* Ascending eigenvalues, the largest about `top`, `zeros` of them 0 and not listed: how much each
 * eigenvector counts when c are chosen; those tied at the cut share what is left. Returns the
 * share of the zeros. */
static double cut_weights(int zeros, int count, const double *value, double top, int c,
                          double *weight)
{
    double left, of_zeros;
    int v = 0;

    of_zeros = zeros > 0 ? fmin(1.0, (double) c / zeros) : 0.0;
    left = c - of_zeros * zeros;
    while (v < count) {
        int end = v + 1;
        double share;
        while (end < count && value[end] - value[v] <= TIE * top) end++;
        share = fmin(1.0, left / (end - v));
        for (int i = v; i < end; i++) weight[i] = share;
        left = fmax(0.0, left - (end - v));
        v = end;
    }
    return of_zeros;
}
