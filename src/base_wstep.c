/* base_wstep.c: reweighted steps of
 *
 *   min_W tr(W'MW) + gamma sum_j sqrt(|w_j|^2 + eps)   s.t. W'W = I,
 *
 * M p x p positive semidefinite, W p x c. With d_j = 1 / (2 sqrt(|w_j|^2 + eps)) of the W
 * before, W = the c lowest eigenvectors of M + gamma diag(d) (la_lowest.c); this never raises
 * the objective. p <= n: M is held. p > n: B with M = B'B, n x p, and nothing of size p x p.
 *
 * The iteration is slow where rows of W die. `accelerate` extrapolates the fourth roots of
 * |w_j|^2 + eps (Anderson), and goes back to the plain step whenever the objective rose.
 *
 * Rows that are zero. A row stays zero if reach_j = 2 |(MW)_j| / gamma <= 1, and a small one with
 * a small reach only shrinks. `accelerate` leaves such rows out (they are exactly zero then) and
 * goes on with the others: q^3/3 flops per step instead of p^3/3, or of n^2 p. Their reach is
 * looked at again before the end, and those that belong in come back. A part on which the
 * objective rose is given up.
 *
 * Start. Equal weights ask for the c lowest eigenvectors of M; for p > n these are any c of
 * p - n + 1 or more null vectors, and the result would depend on the LAPACK. Only |w_j|^2 is
 * needed to go on: here its mean over all orthonormal choices within a tied eigenspace,
 * (c / q) diag(P_0) for c vectors out of a q-dimensional space with projector P_0. */
#include "base_wstep.h"
#include "la.h"
#include <R_ext/Memory.h>

static const double TIE = 1e-10;
enum { DEPTH = 5, EVERY = 2, WAIT = 10 };
/* Rows to leave out: reach below, |w_j|^2 below this share of its mean c / p. */
static const double LEAVE = 0.8, SMALL = 1e-3;
static const double TIGHT = 1e-10;

static int start_dense(wstep *s);
static int start_low_rank(wstep *s);
static void next_weights(wstep *s, bool extrapolate);
static double cut_weights(int zeros, int count, const double *value, double top, int c,
                          double *weight);
static double *now_w(wstep *s);
static double *now_row2(wstep *s);
static void measure_reach(wstep *s);
static void maybe_narrow(wstep *s);
static bool bring_back(wstep *s);
static void set_part(wstep *s, int q);
static void use_all(wstep *s);

void wstep_init(wstep *s, int n, int p, int c, double gamma, double eps, bool accelerate, double *w,
                double *row2, double *reach, int most)
{
    size_t N = (size_t) n, P = (size_t) p, C = (size_t) c, Q;
    s->n = n;
    s->p = p;
    s->c = c;
    s->gamma = gamma;
    s->eps = eps;
    s->accelerate = accelerate;
    s->m = p > n ? NULL : ufs_dalloc(P, P);
    s->b = p > n ? ufs_dalloc(N, P) : NULL;
    s->w = w;
    s->row2 = row2;
    s->reach = reach;
    s->lapack = 0;
    s->residual = 0.0;
    s->objective = R_NaN;
    s->started = false;
    s->converged = true;
    s->op = (wstep_operator){NULL, NULL, NULL, NULL};
    s->most = accelerate && p > LA_LOWEST_DENSE ? most : 0;
    s->q = p;
    s->narrow = s->fresh = false;
    s->steps = 0;
    s->rough = false;
    s->change = 1.0;
    s->wait = 0;
    s->set = ufs_ialloc(P);
    s->place = ufs_ialloc(P);
    for (int j = 0; j < p; j++) s->set[j] = j;
    s->root = ufs_dalloc(P, 1);
    s->plain = ufs_dalloc(P, 1);
    s->one = ufs_dalloc(P, 1);
    for (size_t j = 0; j < P; j++) s->one[j] = 1.0;
    anderson_init(&s->history, p, DEPTH);
    s->delta = ufs_dalloc(P, 1);
    s->values = ufs_dalloc(C, 1);
    s->mw = ufs_dalloc(P, C);
    la_lowest_init(&s->lowest, p, c, p > n ? n : p, s->m, s->b);
    if (s->most == 0) return;
    Q = (size_t) s->most;
    s->part_w = ufs_dalloc(Q, C);
    s->part_row2 = ufs_dalloc(Q, 1);
    s->part_b = Q > N ? ufs_dalloc(N, Q) : NULL;
    s->part_m = ufs_dalloc(Q > N && p > n ? N : Q, Q > N && p > n ? N : Q);
}

int wstep_factor(wstep *s, double *a, const double *x, int *pivot, double *work)
{
    int n = s->n, p = s->p, rank, lapack = la_chol_pivoted(n, a, pivot, &rank, work);
    size_t N = (size_t) n, P = (size_t) p;
    if (lapack) return lapack;
    for (size_t j = 0; j < P; j++)
        for (size_t i = 0; i < N; i++) s->b[i + j * N] = x[(size_t) (pivot[i] - 1) + j * N];
    la_trmm('L', 'U', 'N', n, p, 1.0, a, n, s->b, n);
    return 0;
}

void wstep_scatter(wstep *s, char trans, const double *x, const double *y)
{
    int n = s->n, p = s->p, ld = trans == 'T' ? n : p, block = 64;
    size_t step = trans == 'T' ? (size_t) n : 1;
    for (int j = 0; j < p; j += block) {
        int width = p - j < block ? p - j : block;
        la_gemm(trans, trans == 'T' ? 'N' : 'T', j + width, width, n, 1.0, x, ld,
                y + (size_t) j * step, ld, 0.0, s->m + (size_t) j * (size_t) p, p);
    }
    la_fill_lower(p, s->m);
}

void wstep_start(wstep *s)
{
    s->lapack = s->m != NULL ? start_dense(s) : start_low_rank(s);
    for (int j = 0; j < s->p; j++) s->row2[j] = fmax(s->row2[j], 0.0);
    s->started = false;
    wstep_renew(s);
}

void wstep_renew(wstep *s)
{
    anderson_reset(&s->history);
    s->objective = R_PosInf;
    if (s->narrow) set_part(s, s->q);
    for (int j = 0; j < s->q; j++) s->root[j] = sqrt(sqrt(now_row2(s)[j] + s->eps));
}

static int start_dense(wstep *s)
{
    size_t P = (size_t) s->p;
    void *mark = vmaxget();
    double *copy = ufs_dalloc(P, P), *vector = ufs_dalloc(P, P);
    double *value = ufs_dalloc(P, 1), *weight = ufs_dalloc(P, 1), top;
    int lapack, count = s->c + 8 < s->p ? s->c + 8 : s->p;

    ufs_copy(copy, s->m, P * P);
    top = sqrt(la_ss(P * P, s->m));
    lapack = la_eig_range(s->p, copy, 1, count, value, vector);
    if (lapack == 0 && count < s->p && value[count - 1] - value[s->c - 1] <= TIE * top) {
        /* More than c eigenvectors may be tied with the last: all of them. */
        count = s->p;
        ufs_copy(copy, s->m, P * P);
        lapack = la_eig_range(s->p, copy, 1, count, value, vector);
    }
    if (lapack) return lapack;
    cut_weights(0, count, value, top, s->c, weight);
    for (size_t j = 0; j < P; j++) s->row2[j] = 0.0;
    for (size_t v = 0; v < (size_t) count && weight[v] > 0.0; v++)
        for (size_t j = 0; j < P; j++)
            s->row2[j] += weight[v] * vector[j + v * P] * vector[j + v * P];
    vmaxset(mark);
    return 0;
}

/* Eigenvectors of B'B from those of BB'; what they leave of the diagonal of I is P_0. */
static int start_low_rank(wstep *s)
{
    int n = s->n, p = s->p, rank = 0;
    size_t N = (size_t) n, P = (size_t) p;
    double *gram = ufs_dalloc(N, N), *vector = ufs_dalloc(N, N), *value = ufs_dalloc(N, 1);
    double *weight = ufs_dalloc(N, 1), *right = s->lowest.scaled, rest;
    int lapack, first;

    la_gram('N', n, p, s->b, gram);
    lapack = la_eig_range(n, gram, 1, n, value, vector);
    if (lapack) return lapack;
    while (rank < n && value[n - 1 - rank] > TIE * value[n - 1]) rank++;
    first = n - rank;
    for (int v = first; v < n; v++) {
        double scale = 1.0 / sqrt(value[v]);
        for (size_t i = 0; i < N; i++) vector[i + (size_t) v * N] *= scale;
    }
    rest = cut_weights(p - rank, rank, value + first, value[n - 1], s->c, weight);
    la_gemm('T', 'N', rank, p, n, 1.0, vector + (size_t) first * N, n, s->b, n, 0.0, right, rank);
    for (size_t j = 0; j < P; j++) {
        const double *entry = right + j * (size_t) rank;
        s->row2[j] = rest;
        for (int v = 0; v < rank; v++) s->row2[j] += (weight[v] - rest) * entry[v] * entry[v];
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

bool wstep_step(wstep *s, bool extrapolate)
{
    la_lowest_info info;
    double *row2 = now_row2(s), *w = now_w(s), objective, tol;

    for (int j = 0; j < s->q; j++) s->delta[j] = s->gamma / (2.0 * s->root[j] * s->root[j]);
    /* Far from the end, eigenvectors that are as good as the next step will change them. */
    tol = s->accelerate ? fmin(fmax(1e-5 * s->change, TIGHT), 1e-7) : TIGHT;
    s->rough = tol > TIGHT;
    la_lowest_solve(&s->lowest, s->delta, s->started, tol, s->values, w, &info);
    s->lapack = info.lapack;
    if (info.lapack) return true;
    s->started = true;
    s->residual = info.residual;
    s->converged = info.converged;
    la_row_norms(s->q, s->c, w, row2);
    /* tr(W'MW) is the sum of the eigenvalues without the weights' part. */
    objective = s->gamma * (s->p - s->q) * sqrt(s->eps);
    for (int j = 0; j < s->c; j++) objective += s->values[j];
    for (int j = 0; j < s->q; j++) {
        row2[j] *= row2[j];
        objective += s->gamma * sqrt(row2[j] + s->eps) - s->delta[j] * row2[j];
    }
    if (s->fresh && objective > s->objective * (1.0 + 1e-12)) {
        use_all(s);
        return false;
    }
    s->fresh = false;
    if (s->history.count > 0 && objective > s->objective * (1.0 + 1e-12)) {
        anderson_reset(&s->history);
        ufs_copy(s->root, s->plain, (size_t) s->q);
        return false;
    }
    s->change = R_FINITE(s->objective) ? fabs(s->objective - objective) / fabs(objective) : 1.0;
    s->objective = objective;
    next_weights(s, extrapolate);
    if (s->most > 0 && extrapolate && ++s->steps % EVERY == 0 && s->steps >= s->wait)
        maybe_narrow(s);
    return true;
}

/* No weight moves by more than a factor e^6 beyond its plain value. */
static void next_weights(wstep *s, bool extrapolate)
{
    const double *row2 = now_row2(s);
    for (int j = 0; j < s->q; j++) s->plain[j] = sqrt(sqrt(row2[j] + s->eps));
    if (!s->accelerate || !extrapolate) {
        anderson_reset(&s->history);
        ufs_copy(s->root, s->plain, (size_t) s->q);
        return;
    }
    anderson_step(&s->history, s->root, s->plain, s->one, s->root);
    for (int j = 0; j < s->q; j++)
        s->root[j] = fmin(fmax(s->root[j], s->plain[j] * exp(-3.0)), s->plain[j] * exp(3.0));
}

/* ---- rows left out ------------------------------------------------------------------- */

static double *now_w(wstep *s)
{
    return s->narrow ? s->part_w : s->w;
}

static double *now_row2(wstep *s)
{
    return s->narrow ? s->part_row2 : s->row2;
}

/* w and row2 of all rows, from those of the part. */
static void spread(wstep *s)
{
    size_t P = (size_t) s->p, Q = (size_t) s->q;
    if (!s->narrow) return;
    memset(s->w, 0, P * (size_t) s->c * sizeof(double));
    memset(s->row2, 0, P * sizeof(double));
    for (size_t a = 0; a < Q; a++) {
        size_t j = (size_t) s->set[a];
        s->row2[j] = s->part_row2[a];
        for (size_t l = 0; l < (size_t) s->c; l++) s->w[j + l * P] = s->part_w[a + l * Q];
    }
}

/* reach of all rows at the W at hand. */
static void measure_reach(wstep *s)
{
    int p = s->p, c = s->c, n = s->n;
    spread(s);
    if (s->op.product != NULL) {
        s->op.product(s->op.data, s->w, s->mw);
    } else if (s->m != NULL) {
        la_gemm('N', 'N', p, c, p, 1.0, s->m, p, s->w, p, 0.0, s->mw, p);
    } else {
        void *mark = vmaxget();
        double *bw = ufs_dalloc((size_t) n, (size_t) c);
        la_gemm('N', 'N', n, c, p, 1.0, s->b, n, s->w, p, 0.0, bw, n);
        la_gemm('T', 'N', p, c, n, 1.0, s->b, n, bw, n, 0.0, s->mw, p);
        vmaxset(mark);
    }
    la_row_norms(p, c, s->mw, s->reach);
    for (int j = 0; j < p; j++) s->reach[j] *= 2.0 / s->gamma;
}

/* Leaves the rows out that have died, if there are enough of them. */
static void maybe_narrow(wstep *s)
{
    int q = s->q, keep = 0;
    const double *row2 = now_row2(s);
    double small = SMALL * s->c / s->p;

    if (s->narrow && bring_back(s)) return;
    for (int a = 0; a < q; a++) keep += !(row2[a] <= small);
    if (keep > s->most || keep > q - q / 4) return;
    if (!s->narrow) measure_reach(s);
    keep = 0;
    for (int a = 0; a < q; a++) {
        int j = s->set[a];
        if (row2[a] <= small && s->reach[j] <= LEAVE) continue;
        s->place[keep++] = a;
    }
    if (keep > s->most || keep > q - q / 4 || keep < s->c) return;
    /* Rows of what is kept move up. */
    for (size_t l = 0; l < (size_t) s->c; l++)
        for (int a = 0; a < keep; a++)
            s->part_w[(size_t) a + l * (size_t) keep] = now_w(
                s)[(size_t) s->place[a] + l * (size_t) q];
    for (int a = 0; a < keep; a++) {
        s->part_row2[a] = row2[s->place[a]];
        s->root[a] = s->plain[s->place[a]];
        s->set[a] = s->set[s->place[a]];
    }
    s->narrow = true;
    set_part(s, keep);
    s->fresh = true;
}

/* M or B of the part of q rows: of order q where that is cheaper than n x q. */
static void set_part(wstep *s, int q)
{
    int n = s->n;
    size_t N = (size_t) n, P = (size_t) s->p, Q = (size_t) q;

    s->q = q;
    anderson_resize(&s->history, q);
    if (s->op.gram != NULL) {
        s->op.gram(s->op.data, q, s->set, s->part_m);
        la_lowest_set(&s->lowest, q, q, s->part_m, NULL);
    } else if (s->m != NULL) {
        for (size_t a = 0; a < Q; a++)
            for (size_t b = 0; b < Q; b++)
                s->part_m[b + a * Q] = s->m[(size_t) s->set[b] + (size_t) s->set[a] * P];
        la_lowest_set(&s->lowest, q, q, s->part_m, NULL);
    } else {
        void *mark = vmaxget();
        double *b = q > n ? s->part_b : ufs_dalloc(N, Q);
        for (size_t a = 0; a < Q; a++) ufs_copy(b + a * N, s->b + (size_t) s->set[a] * N, N);
        if (q <= n) la_gram('T', n, q, b, s->part_m);
        vmaxset(mark);
        if (q <= n)
            la_lowest_set(&s->lowest, q, q, s->part_m, NULL);
        else
            la_lowest_set(&s->lowest, q, n, NULL, s->part_b);
    }
}

/* All rows again, from w, which a part leaves alone until it is spread; no part for a while. */
static void use_all(wstep *s)
{
    if (s->op.fill != NULL) s->lapack = s->op.fill(s->op.data);
    s->narrow = s->fresh = false;
    s->q = s->p;
    s->wait = s->steps + WAIT;
    for (int j = 0; j < s->p; j++) {
        s->set[j] = j;
        s->root[j] = s->plain[j] = sqrt(sqrt(s->row2[j] + s->eps));
    }
    anderson_resize(&s->history, s->p);
    la_lowest_set(&s->lowest, s->p, s->m != NULL ? s->p : s->n, s->m, s->b);
}

bool wstep_complete(wstep *s)
{
    if (s->narrow && bring_back(s)) return false;
    if (s->rough) s->change = 0.0;
    return !s->rough;
}

/* Rows that were left out and should not be come in again; true if there are any. */
static bool bring_back(wstep *s)
{
    int p = s->p, q = 0;
    double some = 1e-4 * s->c / p;

    measure_reach(s);
    for (int j = 0; j < p; j++) q += s->reach[j] > 1.0 + 1e-6 && s->row2[j] == 0.0;
    if (q == 0) return false;
    if (s->q + q > s->most) {
        use_all(s);
        return true;
    }
    /* The rows that come in get a size to grow from. */
    q = 0;
    for (int j = 0; j < p; j++) {
        bool in = s->row2[j] > 0.0, comes = !in && s->reach[j] > 1.0 + 1e-6;
        if (!in && !comes) continue;
        s->set[q] = j;
        s->part_row2[q] = in ? s->row2[j] : some;
        s->root[q++] = sqrt(sqrt((in ? s->row2[j] : some) + s->eps));
    }
    for (size_t l = 0; l < (size_t) s->c; l++)
        for (int a = 0; a < q; a++)
            s->part_w[(size_t) a + l * (size_t) q] = s->w[(size_t) s->set[a] + l * (size_t) p];
    set_part(s, q);
    s->fresh = true;
    return true;
}

void wstep_finish(wstep *s)
{
    measure_reach(s);
    for (int j = 0; j < s->p; j++)
        if (s->row2[j] > 0.0) s->reach[j] = fmax(s->reach[j], 1.0);
}

int wstep_live(const wstep *s)
{
    int live = 0;
    for (int j = 0; j < s->p; j++) live += s->row2[j] > 100.0 * s->eps;
    return live;
}
