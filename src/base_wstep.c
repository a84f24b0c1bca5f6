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
 * Start. Equal weights ask for the c lowest eigenvectors of M; for p > n these are any c of
 * p - n + 1 or more null vectors, and the result would depend on the LAPACK. Only |w_j|^2 is
 * needed to go on: here its mean over all orthonormal choices within a tied eigenspace,
 * (c / q) diag(P_0) for c vectors out of a q-dimensional space with projector P_0. */
#include "base_wstep.h"
#include "la.h"

static const double TIE = 1e-10;
enum { DEPTH = 5 };

static int start_dense(wstep *s);
static int start_low_rank(wstep *s);
static void next_weights(wstep *s, bool extrapolate);
static double cut_weights(int zeros, int count, const double *value, int c, double *weight);

void wstep_init(wstep *s, int n, int p, int c, double gamma, double eps, bool accelerate,
                double *w, double *row2)
{
    size_t N = (size_t) n, P = (size_t) p;
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
    s->lapack = 0;
    s->residual = 0.0;
    s->objective = R_NaN;
    s->started = false;
    s->converged = true;
    s->root = ufs_dalloc(P, 1);
    s->plain = ufs_dalloc(P, 1);
    s->one = ufs_dalloc(P, 1);
    for (size_t j = 0; j < P; j++) s->one[j] = 1.0;
    anderson_init(&s->history, p, DEPTH);
    s->delta = ufs_dalloc(P, 1);
    s->values = ufs_dalloc((size_t) c, 1);
    la_lowest_init(&s->lowest, p, c, p > n ? n : p, s->m, s->b);
}

int wstep_factor(wstep *s, double *a, const double *x, int *pivot, double *work)
{
    int n = s->n, p = s->p, rank, lapack = la_chol_pivoted(n, a, pivot, &rank, work);
    size_t N = (size_t) n, P = (size_t) p;
    if (lapack) return lapack;
    for (size_t j = 0; j < P; j++)
        for (size_t i = 0; i < N; i++)
            s->b[i + j * N] = x[(size_t) (pivot[i] - 1) + j * N];
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
    for (int j = 0; j < s->p; j++) s->root[j] = sqrt(sqrt(s->row2[j] + s->eps));
}

static int start_dense(wstep *s)
{
    size_t P = (size_t) s->p;
    double *copy = ufs_dalloc(P, P), *vector = ufs_dalloc(P, P);
    double *value = ufs_dalloc(P, 1), *weight = ufs_dalloc(P, 1);
    int lapack;

    ufs_copy(copy, s->m, P * P);
    lapack = la_eig_range(s->p, copy, 1, s->p, value, vector);
    if (lapack) return lapack;
    cut_weights(0, s->p, value, s->c, weight);
    for (size_t j = 0; j < P; j++) s->row2[j] = 0.0;
    for (size_t v = 0; v < P && weight[v] > 0.0; v++)
        for (size_t j = 0; j < P; j++)
            s->row2[j] += weight[v] * vector[j + v * P] * vector[j + v * P];
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
    rest = cut_weights(p - rank, rank, value + first, s->c, weight);
    la_gemm('T', 'N', rank, p, n, 1.0, vector + (size_t) first * N, n, s->b, n, 0.0, right,
            rank);
    for (size_t j = 0; j < P; j++) {
        const double *entry = right + j * (size_t) rank;
        s->row2[j] = rest;
        for (int v = 0; v < rank; v++) s->row2[j] += (weight[v] - rest) * entry[v] * entry[v];
    }
    return 0;
}

/* Ascending eigenvalues, `zeros` of them 0 and not listed: how much each eigenvector counts when
 * c are chosen; those tied at the cut share what is left. Returns the share of the zeros. */
static double cut_weights(int zeros, int count, const double *value, int c, double *weight)
{
    double top = count > 0 ? fabs(value[count - 1]) : 0.0, left, of_zeros;
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
    double objective = 0.0;

    for (int j = 0; j < s->p; j++) s->delta[j] = s->gamma / (2.0 * s->root[j] * s->root[j]);
    la_lowest_solve(&s->lowest, s->delta, s->started, 1e-10, s->values, s->w, &info);
    s->lapack = info.lapack;
    if (info.lapack) return true;
    s->started = true;
    s->residual = info.residual;
    s->converged = info.converged;
    la_row_norms(s->p, s->c, s->w, s->row2);
    for (int j = 0; j < s->c; j++) objective += s->values[j];
    /* tr(W'MW) is the sum of the eigenvalues without the weights' part. */
    for (int j = 0; j < s->p; j++) {
        s->row2[j] *= s->row2[j];
        objective += s->gamma * sqrt(s->row2[j] + s->eps) - s->delta[j] * s->row2[j];
    }
    if (s->history.count > 0 && objective > s->objective * (1.0 + 1e-12)) {
        anderson_reset(&s->history);
        ufs_copy(s->root, s->plain, (size_t) s->p);
        return false;
    }
    s->objective = objective;
    next_weights(s, extrapolate);
    return true;
}

/* No weight moves by more than a factor e^6 beyond its plain value. */
static void next_weights(wstep *s, bool extrapolate)
{
    for (int j = 0; j < s->p; j++) s->plain[j] = sqrt(sqrt(s->row2[j] + s->eps));
    if (!s->accelerate || !extrapolate) {
        anderson_reset(&s->history);
        ufs_copy(s->root, s->plain, (size_t) s->p);
        return;
    }
    anderson_step(&s->history, s->root, s->plain, s->one, s->root);
    for (int j = 0; j < s->p; j++)
        s->root[j] = fmin(fmax(s->root[j], s->plain[j] * exp(-3.0)), s->plain[j] * exp(3.0));
}

int wstep_live(const wstep *s)
{
    int live = 0;
    for (int j = 0; j < s->p; j++) live += s->row2[j] > 100.0 * s->eps;
    return live;
}
