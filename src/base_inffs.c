/* base_inffs.c: infinite feature selection (Roffo, Melzi, Cristani, ICCV 2015).
 *
 * Features are the nodes of a complete graph with weights (p x p, symmetric, >= 0)
 *   A_ij = weight_sd * s_ij + weight_corr * c_ij,
 *   s_ij = max(t_i, t_j),  t_j = (sd_j - min sd) / (max sd - min sd)  (0 if all equal),
 *   c_ij = 1 - |Spearman correlation of i and j|,  c_ii = 0  (1 if a column is constant).
 * The score of a feature is the weight of all paths that start there, of every
 * length, damped by r per step: sum_{l >= 1} (r A)^l 1 = y - 1, (I - r A) y = 1.
 *
 * r rho(A) < 1 makes I - r A positive definite: conjugate gradients, condition at
 * most (1 + f) / (1 - f) for r = f / rho(A); rho(A) by Lanczos. No inverse, no
 * factorisation. The products go over tiles of the upper triangle of A, kept
 * (p^2 / 2 doubles) or recomputed from the standardised ranks (n p^2 flops per
 * product): about n p^2 + 2 p^2 (products) flops, 2 n p + p^2 / 2 memory.
 *
 * INFFS_TPAMI repeats the authors' program of 2020 (Inf-FS_U): with M the largest
 * row sum of A and e = 5e-6 p it solves (I - (1 - e)/M * A/(M + e)) y = 1 and
 * scores by y. */
#include "base_inffs.h"
#include "la.h"
#include <R_ext/Utils.h>

enum { TILE = 256, KRYLOV = 40 };

typedef struct {
    int n, p, n_tile;
    double *t;     /* p: shifted and scaled standard deviations */
    double *z;     /* n x p: centred ranks of unit norm */
    double *store; /* all tiles of the upper triangle, column by column, or NULL */
    double *tile;  /* one tile, if they are not stored */
    double weight_sd, weight_corr, factor; /* products are with factor * A */
} graph;

static void graph_init(graph *a, const inffs_problem *prob, const inffs_settings *set);
static void scaled_deviations(const inffs_problem *prob, double *t);
static void unit_ranks(int n, const double *x, double *z, double *sorted, int *order);
static void compute_tile(const graph *a, int bi, int bj, double *tile);
static void graph_product(const graph *a, const double *x, double *out);
static int graph_radius(const graph *a, double *radius);
static void solve_cg(const graph *a, const inffs_settings *set, const ufs_hook *hook,
                     ufs_trace *trace, double *y, inffs_info *info);
static int tile_size(const graph *a, int b)
{
    int rest = a->p - b * TILE;
    return rest < TILE ? rest : TILE;
}

void inffs_solve(const inffs_problem *prob, const inffs_settings *set,
                 const ufs_hook *hook, ufs_trace *trace, inffs_info *info)
{
    int p = prob->p;
    graph a;
    double *one = ufs_dalloc((size_t) p, 1), *sum = ufs_dalloc((size_t) p, 1), top = 0.0;

    info->info = 0;
    info->iterations = 0;
    info->status = UFS_CONVERGED;
    info->residual = 0.0;
    graph_init(&a, prob, set);
    for (int j = 0; j < p; j++) one[j] = 1.0;
    graph_product(&a, one, sum);
    for (int j = 0; j < p; j++) top = fmax(top, sum[j]);
    info->empty = !(top > 0.0);
    if (info->empty) {
        info->radius = info->damping = 0.0;
        for (int j = 0; j < p; j++) info->score[j] = 0.0;
        return;
    }

    info->radius = top;
    if (set->bound == INFFS_RADIUS) {
        info->info = graph_radius(&a, &info->radius);
        if (info->info) return;
    }
    if (set->bound == INFFS_TPAMI) {
        double e = 5e-6 * (double) p;
        info->damping = (1.0 - e) / top / (top + e);
    } else {
        info->damping = set->factor / info->radius;
    }
    a.factor = info->damping;
    solve_cg(&a, set, hook, trace, info->score, info);
    if (set->bound != INFFS_TPAMI)
        for (int j = 0; j < p; j++) info->score[j] -= 1.0;
}

static void graph_init(graph *a, const inffs_problem *prob, const inffs_settings *set)
{
    int n = prob->n, p = prob->p;
    size_t N = (size_t) n, P = (size_t) p;
    double *sorted = ufs_dalloc(N, 1);
    int *order = ufs_ialloc(N);

    a->n = n;
    a->p = p;
    a->n_tile = (p + TILE - 1) / TILE;
    a->weight_sd = set->weight_sd;
    a->weight_corr = set->weight_corr;
    a->factor = 1.0;
    a->t = ufs_dalloc(P, 1);
    a->z = ufs_dalloc(N, P);
    scaled_deviations(prob, a->t);
    for (size_t j = 0; j < P; j++) unit_ranks(n, prob->x + j * N, a->z + j * N, sorted, order);

    a->tile = ufs_dalloc(TILE, TILE);
    a->store = NULL;
    if (set->store) {
        size_t at = 0, tiles = (size_t) a->n_tile;
        a->store = ufs_dalloc(tiles * (tiles + 1) / 2, TILE * TILE);
        for (int bj = 0; bj < a->n_tile; bj++)
            for (int bi = 0; bi <= bj; bi++, at += TILE * TILE)
                compute_tile(a, bi, bj, a->store + at);
    }
}

/* t_j = (sd_j - min) / (max - min); zeros if all are equal up to rounding. */
static void scaled_deviations(const inffs_problem *prob, double *t)
{
    int n = prob->n, p = prob->p;
    double low = R_PosInf, high = 0.0;
    for (int j = 0; j < p; j++) {
        const double *col = prob->x + (size_t) j * (size_t) n;
        double mean = 0.0, rest = 0.0, ss = 0.0;
        for (int i = 0; i < n; i++) mean += col[i] / n;
        for (int i = 0; i < n; i++) rest += (col[i] - mean) / n;
        mean += rest;
        for (int i = 0; i < n; i++) ss += (col[i] - mean) * (col[i] - mean);
        t[j] = sqrt(ss / (double) (n - 1));
        low = fmin(low, t[j]);
        high = fmax(high, t[j]);
    }
    for (int j = 0; j < p; j++)
        t[j] = high - low > 1e-12 * high ? (t[j] - low) / (high - low) : 0.0;
}

/* Ranks with averaged ties, centred, of unit norm; zeros for a constant column. */
static void unit_ranks(int n, const double *x, double *z, double *sorted, int *order)
{
    double ss = 0.0;
    for (int i = 0; i < n; i++) {
        sorted[i] = x[i];
        order[i] = i;
    }
    rsort_with_index(sorted, order, n);
    for (int i = 0, j; i < n; i = j) {
        for (j = i; j < n && sorted[j] == sorted[i]; j++);
        /* Positions i..j-1 (from 0) share the mean rank, less (n + 1) / 2. */
        double rank = 0.5 * (double) (i + j - n);
        for (int k = i; k < j; k++) z[order[k]] = rank;
        ss += rank * rank * (double) (j - i);
    }
    if (ss > 0.0)
        for (int i = 0; i < n; i++) z[i] /= sqrt(ss);
}

/* The tile of rows block bi, columns block bj of A, leading dimension TILE. */
static void compute_tile(const graph *a, int bi, int bj, double *tile)
{
    int rows = tile_size(a, bi), cols = tile_size(a, bj);
    size_t N = (size_t) a->n, i0 = (size_t) bi * TILE, j0 = (size_t) bj * TILE;

    la_gemm('T', 'N', rows, cols, a->n, 1.0, a->z + i0 * N, a->n, a->z + j0 * N, a->n,
            0.0, tile, TILE);
    for (size_t j = 0; j < (size_t) cols; j++)
        for (size_t i = 0; i < (size_t) rows; i++) {
            double *value = tile + i + j * TILE;
            double c = i0 + i == j0 + j ? 0.0 : fmax(1.0 - fabs(*value), 0.0);
            *value = a->weight_sd * fmax(a->t[i0 + i], a->t[j0 + j]) + a->weight_corr * c;
        }
}

/* out = factor A x. */
static void graph_product(const graph *a, const double *x, double *out)
{
    size_t at = 0;
    memset(out, 0, (size_t) a->p * sizeof(double));
    for (int bj = 0; bj < a->n_tile; bj++)
        for (int bi = 0; bi <= bj; bi++, at += TILE * TILE) {
            const double *tile = a->tile;
            int rows = tile_size(a, bi), cols = tile_size(a, bj);
            size_t i0 = (size_t) bi * TILE, j0 = (size_t) bj * TILE;
            if (a->store != NULL) tile = a->store + at;
            else compute_tile(a, bi, bj, a->tile);
            la_gemv('N', rows, cols, a->factor, tile, TILE, x + j0, 1.0, out + i0);
            if (bi < bj)
                la_gemv('T', rows, cols, a->factor, tile, TILE, x + i0, 1.0, out + j0);
        }
}

/* Largest eigenvalue of A by Lanczos, fully reorthogonalised and restarted at the
 * Ritz vector, from the vector of ones, which is never orthogonal to the Perron
 * vector. Stops at a residual of 1e-9, so an error of 1e-18 / (relative gap). */
static int graph_radius(const graph *a, double *radius)
{
    int p = a->p, most = p < KRYLOV ? p : KRYLOV;
    size_t P = (size_t) p;
    double *q = ufs_dalloc(P, (size_t) most + 1), *t = ufs_dzero(KRYLOV, KRYLOV);
    double *copy = ufs_dalloc(KRYLOV, KRYLOV), *u = ufs_dalloc(KRYLOV, 1), *h = ufs_dalloc(KRYLOV, 1);
    double *ritz = ufs_dalloc(P, 1), previous = 0.0;

    for (size_t i = 0; i < P; i++) q[i] = 1.0 / sqrt((double) p);
    for (int restart = 0; restart < 50; restart++) {
        double beta = 0.0;
        int k;
        for (k = 1; k <= most; k++) {
            double *last = q + (size_t) (k - 1) * P, *next = q + (size_t) k * P;
            graph_product(a, last, next);
            for (int pass = 0; pass < 2; pass++) {
                la_gemv('T', p, k, 1.0, q, p, next, 0.0, h);
                la_gemv('N', p, k, -1.0, q, p, h, 1.0, next);
                if (pass == 0) t[(k - 1) + (k - 1) * KRYLOV] = h[k - 1];
            }
            for (int j = 0; j < k; j++)
                ufs_copy(copy + (size_t) (j * k), t + (size_t) (j * KRYLOV), (size_t) k);
            int info = la_eig_range(k, copy, k, k, radius, u);
            if (info) return info;
            beta = la_nrm2(p, next);
            if (beta * fabs(u[k - 1]) <= 1e-9 * *radius || beta <= 1e-14 * *radius) return 0;
            if (k < most) {
                t[(k - 1) + k * KRYLOV] = t[k + (k - 1) * KRYLOV] = beta;
                for (size_t i = 0; i < P; i++) next[i] /= beta;
            }
        }
        /* A residual that no longer matters: the value itself stands still. */
        if (fabs(*radius - previous) <= 1e-15 * *radius) return 0;
        previous = *radius;
        la_gemv('N', p, most, 1.0, q, p, u, 0.0, ritz);
        double norm = la_nrm2(p, ritz);
        for (size_t i = 0; i < P; i++) q[i] = ritz[i] / norm;
        memset(t, 0, sizeof(double) * KRYLOV * KRYLOV);
    }
    return 0;
}

/* (I - factor A) y = 1. */
static void solve_cg(const graph *a, const inffs_settings *set, const ufs_hook *hook,
                     ufs_trace *trace, double *y, inffs_info *info)
{
    int p = a->p;
    size_t P = (size_t) p;
    double *r = ufs_dalloc(P, 1), *d = ufs_dalloc(P, 1), *ad = ufs_dalloc(P, 1);
    double rr, start = sqrt((double) p), row[2];

    for (size_t i = 0; i < P; i++) {
        y[i] = 0.0;
        r[i] = d[i] = 1.0;
    }
    rr = (double) p;
    info->status = UFS_MAX_ITER;
    while (info->iterations < set->max_iter) {
        graph_product(a, d, ad);
        for (size_t i = 0; i < P; i++) ad[i] = d[i] - ad[i];
        double step = rr / la_dot(p, d, ad), old = rr;
        la_axpy(p, step, d, y);
        la_axpy(p, -step, ad, r);
        rr = la_dot(p, r, r);
        info->iterations++;
        row[0] = info->iterations;
        row[1] = sqrt(rr) / start;
        ufs_trace_add(trace, row);
        ufs_hook_step(hook, info->iterations, row[1], sqrt(rr / old));
        if (!R_FINITE(rr)) {
            info->status = UFS_NUMERICAL;
            break;
        }
        if (row[1] <= set->tol || rr == 0.0) {
            info->status = UFS_CONVERGED;
            break;
        }
        for (size_t i = 0; i < P; i++) d[i] = r[i] + rr / old * d[i];
    }
    graph_product(a, y, ad);
    for (size_t i = 0; i < P; i++)
        info->residual = fmax(info->residual, fabs(1.0 - y[i] + ad[i]));
}
