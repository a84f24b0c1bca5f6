/* alnr.c: representatives by reconstruction from neighbours, "ALNR-style".
 *
 * Problem (in the spirit of Hu, Zhang, Jin, Cai & He, IJCAI 2013).
 * Sample i (row of x, n x p) is reconstructed from its neighbourhood N_i: itself and its
 * k nearest others. With t_ij = exp(min(d_ij^2 / m, 100)), m the mean of d^2 over all
 * neighbour pairs (so t_ii = 1),
 *     min_A  sum_i ||x_i - sum_{j in N_i} A_ji x_j||^2 + gamma sum_j z_j,
 *     z_j = sqrt(sum_{i: j in N_i} t_ij A_ji^2):
 * what min over (A, b >= 0) of ... + mu sum_ij t_ij A_ji^2 / b_j + g sum_j b_j becomes after
 * minimising over b, gamma = 2 sqrt(mu g).
 * Dual: max <Y, X> - ||Y||_F^2/4, sum_{i: j in N_i} (x_j'y_i)^2 / t_ij <= gamma^2.
 *
 * Reweighting: with b_j = sqrt(z_j^2 + e^2), every sample has its own small system
 *     (K_NN + (gamma/2) diag(t_i/b)) a_i = K_Ni,   K = x x' on N_i only;
 * solved as (D K_NN D + (gamma/2) I) h = D K_Ni, a_i = D h, D = diag(b/t_i)^{1/2}, whose
 * condition does not suffer from b_j = 0. Y = 2 (x_i - fit) meets the j-th constraint
 * up to the factor z_j/b_j.
 *
 * Neighbours n^2 p flops once; then n (s^3/3 + 2s^2) per iteration, s = k + 1, and
 * 8 n s (s + 3) bytes. No n x n here. */
#include "reweighted.h"
#include "graph.h"

static const double MOST = 100.0; /* largest exponent of t */

typedef struct {
    int s;               /* k + 1 */
    int *index;          /* s x n: N_i, i itself first */
    double *t;           /* s x n */
    double *gram;        /* s x s x n: K on N_i; its first column is K_Ni */
    double *sys, *d, *a; /* s x s, s, s: of one sample */
} alnr_work;

/* a_i into work->a. */
static int solve_sample(alnr_work *work, size_t i, double penalty, const double *root_b)
{
    size_t S = (size_t) work->s;
    const double *gram = work->gram + i * S * S, *t = work->t + i * S;
    const int *index = work->index + i * S;
    int info;

    for (size_t l = 0; l < S; l++) work->d[l] = root_b[index[l]] / sqrt(t[l]);
    for (size_t l = 0; l < S; l++) {
        for (size_t h = 0; h <= l; h++)
            work->sys[h + l * S] = work->d[h] * gram[h + l * S] * work->d[l];
        work->sys[l + l * S] += 0.5 * penalty;
        work->a[l] = work->d[l] * gram[l];
    }
    info = la_chol(work->s, work->sys);
    if (info) return info;
    la_chol_solve(work->s, 1, work->sys, work->a);
    for (size_t l = 0; l < S; l++) work->a[l] *= work->d[l];
    return 0;
}

/* s->u: roots of b. */
static int minimise(void *data, mm *s)
{
    alnr_work *work = data;
    size_t N = (size_t) s->p, S = (size_t) work->s;
    double *dual = s->out->dual, penalty = s->out->penalty;

    s->rest = 0.0;
    for (size_t j = 0; j < N; j++) dual[j] = 0.0;
    for (size_t i = 0; i < N; i++) {
        const double *gram = work->gram + i * S * S;
        double left = gram[0];
        int lapack = solve_sample(work, i, penalty, s->u);
        if (lapack) return lapack;
        /* <x_i - fit, x_i> less a'diag(gamma t/2b)a is ||x_i - fit||^2. */
        for (size_t l = 0; l < S; l++) {
            int j = work->index[l + i * S];
            double z2 = work->t[l + i * S] * work->a[l] * work->a[l];
            left -= work->a[l] * gram[l] + 0.5 * penalty * z2 / (s->u[j] * s->u[j]);
            dual[j] += z2;
        }
        s->rest += fmax(left, 0.0);
    }
    for (size_t j = 0; j < N; j++) dual[j] = sqrt(dual[j]) / (s->u[j] * s->u[j]);
    return 0;
}

/* Neighbourhoods, t and local Gram matrices. */
static void find_neighbours(alnr_work *work, const alnr_problem *problem)
{
    int n = problem->n, k = problem->k, s = work->s;
    size_t P = (size_t) problem->p, S = (size_t) s;
    ufs_x x = ufs_x_dense(n, problem->p, problem->x);
    graph_knn knn;
    double *rows = ufs_dalloc(P, (size_t) n), *near = ufs_dalloc(P, S), mean = 0.0;

    graph_knn_search(&x, k, NULL, &knn);
    la_transpose(n, problem->p, problem->x, rows);
    for (int e = 0; e < n * k; e++) mean += knn.d2[e] / ((double) n * (double) k);
    for (int i = 0; i < n; i++) {
        int *index = work->index + (size_t) i * S;
        double *t = work->t + (size_t) i * S;
        index[0] = i;
        t[0] = 1.0;
        for (int l = 0; l < k; l++) {
            size_t from = (size_t) i * (size_t) k + (size_t) l;
            index[l + 1] = knn.index[from];
            t[l + 1] = mean > 0.0 ? exp(fmin(knn.d2[from] / mean, MOST)) : 1.0;
        }
        for (size_t l = 0; l < S; l++) ufs_copy(near + l * P, rows + (size_t) index[l] * P, P);
        la_gram('T', problem->p, s, near, work->gram + (size_t) i * S * S);
    }
}

void alnr_solve(const alnr_problem *problem, const mm_settings *settings, mm_result *result,
                ufs_run *run)
{
    size_t N = (size_t) problem->n, S = (size_t) problem->k + 1;
    alnr_work work = {.s = problem->k + 1,
                      .index = ufs_ialloc(S * N),
                      .t = ufs_dalloc(S, N),
                      .gram = ufs_dalloc(S * S, N),
                      .sys = ufs_dalloc(S, S),
                      .d = ufs_dalloc(S, 1),
                      .a = ufs_dalloc(S, 1)};
    mm s = {
        .p = problem->n, .least = problem->n, .convex = true, .data = &work, .minimise = minimise};

    mm_init(&s, settings, result, run);
    find_neighbours(&work, problem);
    /* At A = 0 the residual is x: the constraints at Y = 2 x. */
    for (size_t i = 0; i < N; i++)
        for (size_t l = 0; l < S; l++) {
            double v = 2.0 * work.gram[i * S * S + l];
            result->dual[work.index[l + i * S]] += v * v / work.t[l + i * S];
        }
    for (size_t j = 0; j < N; j++) result->dual[j] = sqrt(result->dual[j]);
    s.rest = la_ss(N * (size_t) problem->p, problem->x);
    mm_zero(&s);
    for (size_t j = 0; j < N; j++) s.u[j] = 1.0;
    mm_run(&s);
}
