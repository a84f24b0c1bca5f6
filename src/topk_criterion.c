/* topk_criterion.c: what the selection of top-k minimises for given labels and graph,
 *   g(S) = min over A of ||A V x' - Y||^2 + lambda_a ||A||^2 + lambda_i tr(A V x' L x V A')
 *        = ||Y||^2 - tr(B_S'(K_SS + lambda_a I)^{-1} B_S),   V = diag(1_S), Y c x n one-hot,
 * with K = x'(I + lambda_i L)x and B = x'Y' (p x c). It is used through K = f'f, B = f'h:
 *   f = R x, h = R^{-T}Y', R'R = I + lambda_i L (R = I without a graph): n^2 p + n^3/3 to make,
 *     r = n, nothing p x p;
 *   compressed, for p < n: f'f = K by Cholesky with pivots, f'h = B, r = p: n p^2 (and n^2 p for
 *     the graph) + p^3/3 to make.
 * A value: r k^2 + k^3/3. Memory: r x p, n x p, r x r, and n x n, or n x p for the graph.
 *
 * The polish: 1-swap local search on g(S), best swap first. With
 * G = (K_SS + lambda_a I)^{-1}, T = G B_S, U = K_cS G, R = B - K_.S T and
 * s_j = K_jj + lambda_a - U_j. K_jS', removing S_i and adding j changes g by
 *   ||T_i||^2/G_ii - ||R_j + (U_ji/G_ii) T_i||^2 / (s_j + U_ji^2/G_ii)
 * (its numerator written as one square). All k(p - k)
 * swaps cost 2pk(k + c); the one new column of K after a swap 2rp. */
#include "topk_set.h"
#include <stdlib.h>

/* ---- quotas ---------------------------------------------------------------------------------- */

/* Sets of k features within quotas of strata are the bases of a matroid: the one with the smallest sum
 * takes features in the order of their values, but those of a full stratum and those that would take the
 * room of what strata lack. Their hull has 0 <= s <= 1, the sum k, and for each stratum a sum between its
 * least and its most. */

void topk_walk_begin(topk_walk *walk, int room)
{
    walk->room = room;
    walk->lacking = 0;
    for (int l = 0; l < walk->quota->n; l++) {
        walk->have[l] = 0;
        walk->lacking += walk->quota->least[l];
    }
}

static int level_of(const topk_walk *walk, int j)
{
    return walk->quota->level ? walk->quota->level[j] : -1;
}

/* Does feature j leave the stratum within its quota, and room for what others lack? */
static bool topk_walk_may(const topk_walk *walk, int j)
{
    int l = level_of(walk, j);

    if (l >= 0 && walk->have[l] >= walk->quota->most[l]) return false;
    if (l >= 0 && walk->have[l] < walk->quota->least[l]) return walk->room > 0;
    return walk->room > walk->lacking;
}

void topk_walk_take(topk_walk *walk, int j)
{
    int l = level_of(walk, j);

    walk->room--;
    if (l < 0) return;
    walk->lacking -= walk->have[l] < walk->quota->least[l];
    walk->have[l]++;
}

/* May `in` take the place of `out`, which was taken? */
static bool topk_walk_swaps(const topk_walk *walk, int out, int in)
{
    int from = level_of(walk, out), to = level_of(walk, in);

    if (from == to) return true;
    return (to < 0 || walk->have[to] < walk->quota->most[to]) &&
           (from < 0 || walk->have[from] > walk->quota->least[from]);
}

double topk_quota_sum(topk_criterion *g, topk_walk *walk, int n_free)
{
    double sum = 0.0;

    rsort_with_index(g->u, g->index, n_free);
    for (int i = 0; i < n_free && walk->room > 0; i++) {
        if (!topk_walk_may(walk, g->index[i])) continue;
        topk_walk_take(walk, g->index[i]);
        sum += g->u[i];
    }
    return sum;
}

bool topk_quota_feasible(topk_criterion *g, const signed char *fixed)
{
    const ufs_quota *quota = &g->quota;
    topk_walk *walk = &g->walk[0];
    int most = 0;

    if (quota->level == NULL) return true;
    topk_walk_begin(walk, g->k);
    for (int j = 0; j < g->p; j++)
        if (fixed[j] == 1) topk_walk_take(walk, j);
    /* The features of no stratum, then how many each stratum still may have. */
    for (int l = 0; l < quota->n; l++) {
        if (walk->have[l] > quota->most[l]) return false;
        g->index[l] = 0;
    }
    for (int j = 0; j < g->p; j++) {
        if (fixed[j] != 0) continue;
        if (quota->level[j] >= 0)
            g->index[quota->level[j]]++;
        else
            most++;
    }
    for (int l = 0; l < quota->n; l++) {
        int may = quota->most[l] - walk->have[l];
        if (g->index[l] < ufs_quota_lacks(quota, walk->have, l)) return false;
        most += g->index[l] < may ? g->index[l] : may;
    }
    return walk->lacking <= walk->room && walk->room <= most;
}

/* total: of each stratum at this shift, within its quota. The sum of all. */
static double at_shift(topk_criterion *g, const double *y, double shift)
{
    double sum = 0.0;

    for (int l = 0; l < g->quota.n; l++) g->total[l] = 0.0;
    for (int j = 0; j < g->p; j++) {
        int l = g->quota.level[j];
        double s = fmin(1.0, fmax(0.0, y[j] - shift));
        if (l >= 0)
            g->total[l] += s;
        else
            sum += s;
    }
    for (int l = 0; l < g->quota.n; l++)
        sum += fmin(g->quota.most[l], fmax(g->quota.least[l], g->total[l]));
    return sum;
}

/* The projection on the box and this sum of the features of one stratum, or (one < 0) of all that are
 * held by no end of a quota. */
static void project_part(topk_criterion *g, const double *y, int one, double total, double *out)
{
    double *from = g->part, *to = g->part + g->p;
    int n = 0;

    for (int j = 0; j < g->p; j++) {
        int l = g->quota.level[j];
        if (one >= 0 ? l != one : l >= 0 && g->total[l] < 0.0) continue;
        g->index[n] = j;
        from[n++] = y[j];
    }
    proj_capped_simplex(n, from, total, to);
    for (int i = 0; i < n; i++) out[g->index[i]] = to[i];
}

void topk_quota_project(topk_criterion *g, const double *y, double *out)
{
    const ufs_quota *quota = &g->quota;
    double low = R_PosInf, high = R_NegInf, rest = g->k;

    for (int j = 0; j < g->p; j++) {
        if (!R_FINITE(y[j])) continue;
        low = fmin(low, y[j] - 1.0);
        high = fmax(high, y[j]);
    }
    if (low > high) low = high = 0.0;
    while (low < high) {
        double middle = low + 0.5 * (high - low);
        if (middle <= low || middle >= high) break;
        if (at_shift(g, y, middle) > g->k)
            low = middle;
        else
            high = middle;
    }
    at_shift(g, y, high);
    for (int l = 0; l < quota->n; l++) {
        int end = g->total[l] <= quota->least[l]  ? quota->least[l]
                  : g->total[l] >= quota->most[l] ? quota->most[l]
                                                  : -1;
        if (end < 0) continue;
        project_part(g, y, l, end, out);
        rest -= end;
        g->total[l] = -1.0;
    }
    project_part(g, y, -1, rest, out);
}

/* v is read in steps of 1e-6, the tolerance of the paper's ADMM: what is nearer is a tie. */
static const double STEPS = 1e6;

static void gather(topk_criterion *g, const int *subset, int m)
{
    size_t r = (size_t) g->r;
    for (size_t j = 0; j < (size_t) m; j++)
        ufs_copy(g->cols + j * r, g->f + (size_t) subset[j] * r, r);
}

/* small = chol(K_SS + lambda_a I), bs = B_S. */
static int factor_subset(topk_criterion *g, const int *subset)
{
    size_t k = (size_t) g->k, p = (size_t) g->p, c = (size_t) g->c;

    gather(g, subset, g->k);
    la_gram('T', g->r, g->k, g->cols, g->small);
    for (size_t j = 0; j < k; j++) g->small[j + j * k] += g->lambda_a;
    for (size_t l = 0; l < c; l++)
        for (size_t i = 0; i < k; i++) g->bs[i + l * k] = g->b[(size_t) subset[i] + l * p];
    return la_chol_checked(g->k, g->small);
}

/* out (p x m) = K[, subset], m <= k. */
static void topk_criterion_columns(topk_criterion *g, const int *subset, int m, double *out)
{
    gather(g, subset, m);
    la_mul('T', 'N', g->p, m, g->r, 1.0, g->f, g->cols, 0.0, out);
}

double topk_criterion_value(topk_criterion *g, const int *subset)
{
    if (factor_subset(g, subset)) return R_PosInf;
    la_trsm('L', 'U', 'T', g->k, g->c, 1.0, g->small, g->k, g->bs, g->k);
    return g->yy - la_ss((size_t) g->k * (size_t) g->c, g->bs);
}

static int by_entry(const void *x, const void *y)
{
    const topk_entry *a = x, *b = y;
    if (a->first != b->first) return a->first > b->first ? -1 : 1;
    if (a->second != b->second) return a->second > b->second ? -1 : 1;
    return a->index < b->index ? -1 : (a->index > b->index);
}

void topk_criterion_init(topk_criterion *g, bool graph, const ufs_paths *paths)
{
    int n = g->n, p = g->p;
    size_t N = (size_t) n, P = (size_t) p, C = (size_t) g->c, K = (size_t) g->k, R;
    size_t L = (size_t) g->quota.n;

    g->compressed = p < n && paths->topk_compress;
    g->r = g->compressed ? p : n;
    R = (size_t) g->r;
    ufs_dalloc_each(P, C, (double **[]){&g->b, &g->pull, NULL});
    g->diag = ufs_dalloc(P, 3);
    g->f_own = g->compressed || graph ? ufs_dalloc(R, P) : NULL;
    ufs_dalloc_each(R, C, (double **[]){&g->h, &g->m, NULL});
    g->f = g->f_own != NULL ? g->f_own : g->x;
    g->chol = graph ? ufs_dalloc(N, R) : NULL;
    g->pivot = ufs_ialloc(P);
    g->small = ufs_dalloc(K, K);
    g->cols = ufs_dalloc(R, K);
    g->bs = ufs_dalloc(K, C);
    g->sort = (topk_entry *) R_alloc(P, sizeof(topk_entry));
    g->used = (bool *) R_alloc(P, sizeof(bool));
    if (g->cost != NULL) {
        g->cheap = ufs_ialloc(P);
        g->other = ufs_ialloc(K);
        for (size_t j = 0; j < P; j++) g->sort[j] = (topk_entry){-g->cost[j], 0.0, (int) j};
        qsort(g->sort, P, sizeof(topk_entry), by_entry);
        for (size_t j = 0; j < P; j++) g->cheap[j] = g->sort[j].index;
    }
    for (int i = 0; i < 2; i++) g->walk[i] = (topk_walk){&g->quota, ufs_ialloc(L), 0, 0};
    if (g->quota.level != NULL) {
        g->index = ufs_ialloc(P > L ? P : L);
        g->part = ufs_dalloc(P, 2);
        g->total = ufs_dalloc(L, 1);
    }
    g->u = ufs_dalloc(N, P);
    g->system = ufs_dalloc(R, R);
}

static double degree_of(const double *weights, size_t n, size_t i)
{
    double degree = 0.0;
    for (size_t l = 0; l < n; l++) degree += weights[l + i * n];
    return degree;
}

/* f and h from K. */
static int compress(topk_criterion *g, const double *weights, double lambda_i)
{
    size_t n = (size_t) g->n, p = (size_t) g->p, c = (size_t) g->c;
    double *kernel = g->u, *size = g->diag + 2 * p;
    int lapack, rank;

    la_gram('T', g->n, g->p, g->x, kernel);
    if (weights != NULL) {
        /* chol = L x = D x - W x, n x p. */
        for (size_t i = 0; i < n; i++) {
            double degree = degree_of(weights, n, i);
            for (size_t j = 0; j < p; j++) g->chol[i + j * n] = degree * g->x[i + j * n];
        }
        la_mul('N', 'N', g->n, g->p, g->n, -1.0, weights, g->x, 1.0, g->chol);
        la_mul('T', 'N', g->p, g->p, g->n, lambda_i, g->x, g->chol, 1.0, kernel);
    }
    /* Of columns of unit length, so that the rank does not depend on their units. */
    for (size_t j = 0; j < p; j++)
        size[j] = kernel[j * (p + 1)] > 0.0 ? sqrt(kernel[j * (p + 1)]) : 1.0;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i <= j; i++) kernel[i + j * p] = kernel[i + j * p] / size[i] / size[j];
    lapack = la_chol_pivoted(g->p, kernel, g->pivot, &rank, g->diag);
    if (lapack) return lapack;
    memset(g->f_own, 0, p * p * sizeof(double));
    memset(g->h, 0, p * c * sizeof(double));
    for (size_t j = 0; j < p; j++) {
        size_t to = (size_t) (g->pivot[j] - 1);
        for (size_t i = 0; i <= j; i++) g->f_own[i + to * p] = kernel[i + j * p] * size[to];
        for (size_t l = 0; l < c && j < (size_t) rank; l++)
            g->h[j + l * p] = g->b[to + l * p] / size[to];
    }
    if (rank > 0) la_trsm('L', 'U', 'T', rank, g->c, 1.0, kernel, g->p, g->h, g->p);
    return 0;
}

/* f and h from R. */
static int factor_graph(topk_criterion *g, const double *weights, double lambda_i)
{
    size_t n = (size_t) g->n;
    int lapack;

    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++) g->chol[i + j * n] = -lambda_i * weights[i + j * n];
        g->chol[j + j * n] += 1.0 + lambda_i * degree_of(weights, n, j);
    }
    lapack = la_chol_checked(g->n, g->chol);
    if (lapack) return lapack;
    la_trsm('L', 'U', 'T', g->n, g->c, 1.0, g->chol, g->n, g->h, g->n);
    ufs_copy(g->f_own, g->x, n * (size_t) g->p);
    for (int from = 0; from < g->p; from += UFS_STRIP) {
        R_CheckUserInterrupt();
        la_trmm('L', 'U', 'N', g->n, g->p - from < UFS_STRIP ? g->p - from : UFS_STRIP, 1.0,
                g->chol, g->n, g->f_own + (size_t) from * n, g->n);
    }
    return 0;
}

int topk_criterion_set(topk_criterion *g, const int *label, const double *weights, double lambda_i)
{
    size_t n = (size_t) g->n, p = (size_t) g->p, c = (size_t) g->c;
    int lapack = 0;

    if (!(lambda_i > 0.0)) weights = NULL;
    /* B: sums of the samples of each class. */
    memset(g->b, 0, p * c * sizeof(double));
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < n; i++) g->b[j + (size_t) (label[i] - 1) * p] += g->x[i + j * n];
    g->yy = (double) g->n;
    g->b_norm = sqrt(la_ss(p * c, g->b));
    if (g->compressed) {
        lapack = compress(g, weights, lambda_i);
    } else {
        memset(g->h, 0, n * c * sizeof(double));
        for (size_t i = 0; i < n; i++) g->h[i + (size_t) (label[i] - 1) * n] = 1.0;
        if (weights != NULL) lapack = factor_graph(g, weights, lambda_i);
    }
    for (size_t j = 0; j < p; j++) g->diag[j] = la_ss((size_t) g->r, g->f + j * (size_t) g->r);
    return lapack;
}

int topk_criterion_coef(topk_criterion *g, const int *subset, double *a)
{
    size_t k = (size_t) g->k, p = (size_t) g->p, c = (size_t) g->c;
    int lapack = factor_subset(g, subset);
    if (lapack) return lapack;
    la_chol_solve(g->k, g->c, g->small, g->bs);
    memset(a, 0, p * c * sizeof(double));
    for (size_t l = 0; l < c; l++)
        for (size_t i = 0; i < k; i++) a[(size_t) subset[i] + l * p] = g->bs[i + l * k];
    return 0;
}

int topk_criterion_relaxed(topk_criterion *g, const double *v, double *trace)
{
    size_t p = (size_t) g->p, r = (size_t) g->r, used = 0;
    int lapack;

    for (size_t j = 0; j < p; j++) {
        if (v[j] == 0.0) continue;
        for (size_t i = 0; i < r; i++) g->u[i + used * r] = v[j] * g->f[i + j * r];
        used++;
    }
    la_gram('N', g->r, (int) used, g->u, g->system);
    *trace = 0.0;
    for (size_t i = 0; i < r; i++) *trace += g->system[i + i * r] += g->lambda_a;
    lapack = la_chol_checked(g->r, g->system);
    if (lapack) return lapack;
    ufs_copy(g->m, g->h, r * (size_t) g->c);
    la_chol_solve(g->r, g->c, g->system, g->m);
    la_mul('T', 'N', g->p, g->c, g->r, 1.0, g->f, g->m, 0.0, g->pull);
    return 0;
}

/* ---- polish ---------------------------------------------------------------------- */

void topk_polish_init(topk_polish *work, const topk_criterion *g)
{
    size_t p = (size_t) g->p, k = (size_t) g->k, c = (size_t) g->c;
    ufs_dalloc_each(p, k, (double **[]){&work->kc, &work->u, &work->rt, NULL});
    work->r = ufs_dalloc(p, c);
    work->tt = ufs_dalloc(k, 1);
    work->rr = ufs_dalloc(p, 1);
    work->in = (bool *) R_alloc(p, sizeof(bool));
}

/* small = (K_SS + lambda_a I)^{-1}, bs = T, and what depends on them. */
static int prepare(topk_polish *work, topk_criterion *g, const int *subset)
{
    int p = g->p, k = g->k, c = g->c, lapack = factor_subset(g, subset);

    if (lapack) return lapack;
    la_chol_solve(k, c, g->small, g->bs);
    lapack = la_chol_inverse(k, g->small);
    if (lapack) return lapack;
    la_mul('N', 'N', p, k, k, 1.0, work->kc, g->small, 0.0, work->u);
    ufs_copy(work->r, g->b, (size_t) p * (size_t) c);
    la_mul('N', 'N', p, c, k, -1.0, work->kc, g->bs, 1.0, work->r);
    la_mul('N', 'T', p, k, c, 1.0, work->r, g->bs, 0.0, work->rt);
    la_row_norms(p, c, work->r, work->rr);
    la_row_norms(k, c, g->bs, work->tt);
    return 0;
}

/* Change of g by the best swap; ties within rounding go to the lowest (in, out). */
static double best_swap(const topk_polish *work, topk_criterion *g, const int *subset, int *out,
                        int *in)
{
    topk_walk *walk = &g->walk[0];
    size_t p = (size_t) g->p, k = (size_t) g->k;
    double best = R_PosInf, tie = UFS_ROUNDING * (g->b_norm + 1.0), price = 0.0;

    for (size_t i = 0; i < k && g->cost != NULL; i++) price += g->cost[subset[i]];
    topk_walk_begin(walk, g->k);
    for (size_t i = 0; i < k; i++) topk_walk_take(walk, subset[i]);
    for (size_t j = 0; j < p; j++) {
        double s = g->diag[j] + g->lambda_a;
        if (work->in[j] || topk_must(g, (int) j) < 0) continue;
        for (size_t i = 0; i < k; i++) s -= work->u[j + i * p] * work->kc[j + i * p];
        for (size_t i = 0; i < k; i++) {
            double ratio = work->u[j + i * p] / g->small[i + i * k];
            double ti = work->tt[i] * work->tt[i], gain, change;
            if (topk_must(g, subset[i]) > 0 || !topk_walk_swaps(walk, subset[i], (int) j)) continue;
            if (g->cost != NULL && !topk_affordable(g, price - g->cost[subset[i]] + g->cost[j]))
                continue;
            gain = work->rr[j] * work->rr[j] + 2.0 * ratio * work->rt[j + i * p] +
                   ratio * ratio * ti;
            change = ti / g->small[i + i * k] - gain / (s + ratio * work->u[j + i * p]);
            if (change < best - tie) {
                best = change;
                *out = (int) i;
                *in = (int) j;
            }
        }
    }
    return best;
}

double topk_polish_solve(topk_polish *work, topk_criterion *g, int *subset, int *swaps)
{
    /* Every swap lowers g by more than rounding, so it ends; the cap is a guard all the same. */
    int most = 100 + 10 * g->k;

    memset(work->in, 0, (size_t) g->p * sizeof(bool));
    for (int i = 0; i < g->k; i++) work->in[subset[i]] = true;
    topk_criterion_columns(g, subset, g->k, work->kc);
    for (int done = 0; done < most && g->k < g->p; done++) {
        int out = 0, in = 0;
        if (prepare(work, g, subset)) return R_PosInf;
        if (best_swap(work, g, subset, &out, &in) > -UFS_TIE * g->b_norm) break;
        work->in[subset[out]] = false;
        work->in[in] = true;
        subset[out] = in;
        topk_criterion_columns(g, &in, 1, work->kc + (size_t) out * (size_t) g->p);
        (*swaps)++;
        ufs_hook_step(NULL, 0, 0.0, 0.0);
    }
    R_isort(subset, g->k);
    return topk_criterion_value(g, subset);
}

/* ---- order ----------------------------------------------------------------------- */

/* Cost of the cheapest features that complete the set beside those used and j. */
static double reserve(topk_criterion *g, int j)
{
    topk_walk *walk = &g->walk[1];
    double sum = 0.0;

    walk->room = g->walk[0].room;
    walk->lacking = g->walk[0].lacking;
    for (int l = 0; l < g->quota.n; l++) walk->have[l] = g->walk[0].have[l];
    topk_walk_take(walk, j);
    for (int a = 0; a < g->p && walk->room > 0; a++) {
        int i = g->cheap[a];
        if (i == j || g->used[i] || topk_must(g, i) < 0 || !topk_walk_may(walk, i)) continue;
        topk_walk_take(walk, i);
        sum += g->cost[i];
    }
    return walk->room > 0 ? R_PosInf : sum;
}

/* In the order of `sort` the features that leave enough for the rest of the k, of the budget and of
 * the quotas. About k p steps. */
static void within_limits(topk_criterion *g, int *subset)
{
    topk_walk *walk = &g->walk[0];
    double price = 0.0;
    int taken = 0;

    topk_walk_begin(walk, g->k);
    memset(g->used, 0, (size_t) g->p * sizeof(bool));
    for (int a = 0; a < g->p && taken < g->k; a++) {
        int j = g->sort[a].index, must = topk_must(g, j);
        if (must < 0 || (must == 0 && !topk_walk_may(walk, j))) continue;
        if (g->cost != NULL) {
            if (must == 0 && !topk_affordable(g, price + g->cost[j] + reserve(g, j))) continue;
            price += g->cost[j];
        }
        topk_walk_take(walk, j);
        g->used[j] = true;
        subset[taken++] = j;
    }
    /* Whatever the caller says, a set has k features. */
    for (int a = 0; a < g->p && taken < g->k; a++)
        if (!g->used[g->sort[a].index]) subset[taken++] = g->sort[a].index;
}

/* The order by v, or by v over cost. */
static void sort_features(topk_criterion *g, const double *v, const double *second, bool per_cost)
{
    double least = 0.0;

    for (int j = 0; j < g->p && per_cost; j++) least = fmin(least, v[j]);
    for (int j = 0; j < g->p; j++) {
        int must = topk_must(g, j);
        double value = per_cost ? (v[j] - least) / g->cost[j] : v[j];
        double first = must > 0 ? R_PosInf : must < 0 ? R_NegInf : nearbyint(value * STEPS);
        g->sort[j] = (topk_entry){first, second[j], j};
    }
    qsort(g->sort, (size_t) g->p, sizeof(topk_entry), by_entry);
}

void topk_best(topk_criterion *g, const double *v, const double *second, int *subset)
{
    sort_features(g, v, second, false);
    within_limits(g, subset);
    if (g->cost != NULL) {
        sort_features(g, v, second, true);
        within_limits(g, g->other);
        double value = topk_criterion_value(g, subset);
        if (topk_better(topk_criterion_value(g, g->other), value))
            memcpy(subset, g->other, (size_t) g->k * sizeof(int));
    }
    R_isort(subset, g->k);
}
