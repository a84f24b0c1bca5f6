/* samp_alnr.c: representatives by reconstruction from neighbours, "ALNR-style".
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
 * 8 n s (s + 3) bytes. No n x n. */
#include "samp_alnr.h"
#include "la.h"
#include "graph.h"

static const double MOST = 100.0; /* largest exponent of t */

typedef struct {
    const alnr_problem *problem;
    alnr_result *result;
    double eps, tol;
    ufs_run *run;
    int s;               /* k + 1 */
    int *index;          /* s x n: N_i, i itself first */
    double *t;           /* s x n */
    double *gram;        /* s x s x n: K on N_i; its first column is K_Ni */
    double *sys, *d, *a; /* s x s, s, s: of one sample */
    double *row, *act;   /* n: of the last step */
    double total;        /* ||x||_F^2 */
} alnr_work;

static void find_neighbours(alnr_work *work);
static void local_grams(alnr_work *work);
static double gamma_max(const alnr_work *work, double *activity);
static int step(void *data, mm *s);
static bool judge(void *data, mm *s, bool accepted);
static int solve_sample(alnr_work *work, int i, const double *root_b);
static void keep_best(alnr_work *work, double primal, double over);

void alnr_solve(const alnr_problem *given, const mm_settings *settings, alnr_result *result,
                ufs_run *run)
{
    alnr_problem problem = *given;
    size_t N = (size_t) problem.n, S = (size_t) problem.k + 1;
    double unit2 = problem.unit * problem.unit;
    alnr_work work = {.problem = &problem,
                      .result = result,
                      .eps = settings->eps,
                      .tol = settings->tol,
                      .run = run,
                      .s = problem.k + 1,
                      .index = ufs_ialloc(S * N),
                      .t = ufs_dalloc(S, N),
                      .gram = ufs_dalloc(S * S, N),
                      .sys = ufs_dalloc(S, S),
                      .d = ufs_dalloc(S, 1),
                      .a = ufs_dalloc(S, 1),
                      .row = ufs_dalloc(N, 1),
                      .act = ufs_dalloc(N, 1),
                      .total = la_ss(N * (size_t) problem.p, problem.x) / unit2};

    find_neighbours(&work);
    local_grams(&work);
    result->gamma_max = gamma_max(&work, result->activity);
    if (problem.relative) problem.gamma *= result->gamma_max;
    result->gamma = problem.gamma;

    /* A = 0 is the first candidate; its residual x, scaled, the first dual point. */
    double top = fmax(result->gamma_max, problem.gamma), scale = problem.gamma / top;
    for (size_t j = 0; j < N; j++) {
        result->row_norm[j] = 0.0;
        result->activity[j] /= top;
    }
    result->mm.primal = work.total;
    result->mm.dual = (2.0 * scale - scale * scale) * work.total;
    mm_gap_begin(&result->mm, settings, run);
    if (run->status == UFS_CONVERGED) return;
    mm_problem reweighted = {.p = problem.n,
                             .fixed = true,
                             .accelerate = settings->tol >= 0.0,
                             .low = settings->eps,
                             .high = 1e8,
                             .data = &work,
                             .step = step,
                             .judge = judge};
    mm s;
    mm_init(&s, &reweighted, work.act);
    for (size_t j = 0; j < N; j++) s.u[j] = 1.0;
    mm_run(&s, settings->max_iter);
    run->status = s.status;
    run->lapack = s.lapack;
}

static void find_neighbours(alnr_work *work)
{
    int n = work->problem->n, k = work->problem->k, s = work->s;
    graph_knn knn;
    double mean = 0.0;

    graph_knn_search(n, work->problem->p, work->problem->x, k, false, &knn);
    for (int e = 0; e < n * k; e++) mean += knn.d2[e] / ((double) n * (double) k);
    for (int i = 0; i < n; i++) {
        int *index = work->index + (size_t) i * (size_t) s;
        double *t = work->t + (size_t) i * (size_t) s;
        index[0] = i;
        t[0] = 1.0;
        for (int l = 0; l < k; l++) {
            size_t from = (size_t) i * (size_t) k + (size_t) l;
            index[l + 1] = knn.index[from];
            t[l + 1] = mean > 0.0 ? exp(fmin(knn.d2[from] / mean, MOST)) : 1.0;
        }
    }
}

static void local_grams(alnr_work *work)
{
    int n = work->problem->n, p = work->problem->p, s = work->s;
    size_t N = (size_t) n, P = (size_t) p, S = (size_t) s;
    double *rows = ufs_dalloc(P, N), *near = ufs_dalloc(P, S), unit = work->problem->unit;

    for (size_t j = 0; j < P; j++)
        for (size_t i = 0; i < N; i++) rows[j + i * P] = work->problem->x[i + j * N] / unit;
    for (size_t i = 0; i < N; i++) {
        for (size_t l = 0; l < S; l++)
            ufs_copy(near + l * P, rows + (size_t) work->index[l + i * S] * P, P);
        la_gram('T', p, s, near, work->gram + i * S * S);
    }
}

/* Where A = 0 becomes optimal: the largest constraint value at Y = 2 x. */
static double gamma_max(const alnr_work *work, double *activity)
{
    int n = work->problem->n;
    size_t S = (size_t) work->s;
    double top = 0.0;

    for (int j = 0; j < n; j++) activity[j] = 0.0;
    for (size_t i = 0; i < (size_t) n; i++)
        for (size_t l = 0; l < S; l++) {
            double v = 2.0 * work->gram[i * S * S + l];
            activity[work->index[l + i * S]] += v * v / work->t[l + i * S];
        }
    for (int j = 0; j < n; j++) {
        activity[j] = sqrt(activity[j]);
        top = fmax(top, activity[j]);
    }
    return top;
}

/* s->u: roots of b. */
static int step(void *data, mm *s)
{
    alnr_work *work = data;
    const alnr_problem *problem = work->problem;
    size_t S = (size_t) work->s;
    double fit = 0.0, inner = 0.0, over = 1.0, primal, dual, scale;

    for (int j = 0; j < problem->n; j++) work->row[j] = 0.0;
    for (int i = 0; i < problem->n; i++) {
        const double *gram = work->gram + (size_t) i * S * S;
        const double *t = work->t + (size_t) i * S;
        double left = gram[0];
        int lapack = solve_sample(work, i, s->u);
        if (lapack) return lapack;
        /* left = <x_i - fit, x_i>; less a'diag(gamma t/2b)a it is ||x_i - fit||^2. */
        for (size_t l = 0; l < S; l++) left -= work->a[l] * gram[l];
        inner += left;
        for (size_t l = 0; l < S; l++) {
            int j = work->index[l + (size_t) i * S];
            double z2 = t[l] * work->a[l] * work->a[l];
            left -= 0.5 * problem->gamma * z2 / (s->u[j] * s->u[j]);
            work->row[j] += z2;
        }
        fit += fmax(left, 0.0);
    }
    primal = s->merit = fit;
    for (int j = 0; j < problem->n; j++) {
        double z = sqrt(work->row[j]), smooth = sqrt(z * z + work->eps * work->eps);
        work->row[j] = z;
        primal += problem->gamma * z;
        s->merit += problem->gamma * smooth;
        s->plain[j] = sqrt(smooth);
        work->act[j] = mm_ratio(z, s->u[j]);
        over = fmax(over, work->act[j]);
    }
    scale = fit > 0.0 ? fmin(inner / fit, 1.0 / over) : 0.0;
    dual = 2.0 * scale * inner - scale * scale * fit;
    if (!R_FINITE(s->merit) || !R_FINITE(primal) || !R_FINITE(dual)) {
        s->merit = R_PosInf;
        return 0;
    }
    work->result->mm.dual = fmax(work->result->mm.dual, dual);
    keep_best(work, primal, over);
    return 0;
}

static bool judge(void *data, mm *s, bool accepted)
{
    alnr_work *work = data;
    return mm_gap(s, &work->result->mm, work->tol, work->run, accepted);
}

/* a_i into work->a. */
static int solve_sample(alnr_work *work, int i, const double *root_b)
{
    size_t S = (size_t) work->s;
    const double *gram = work->gram + (size_t) i * S * S, *t = work->t + (size_t) i * S;
    const int *index = work->index + (size_t) i * S;
    int info;

    for (size_t l = 0; l < S; l++) work->d[l] = root_b[index[l]] / sqrt(t[l]);
    for (size_t l = 0; l < S; l++) {
        for (size_t h = 0; h <= l; h++)
            work->sys[h + l * S] = work->d[h] * gram[h + l * S] * work->d[l];
        work->sys[l + l * S] += 0.5 * work->problem->gamma;
        work->a[l] = work->d[l] * gram[l];
    }
    info = la_chol(work->s, work->sys);
    if (info) return info;
    la_chol_solve(work->s, 1, work->sys, work->a);
    for (size_t l = 0; l < S; l++) work->a[l] *= work->d[l];
    return 0;
}

/* The A with the lowest objective is the one reported. */
static void keep_best(alnr_work *work, double primal, double over)
{
    alnr_result *result = work->result;

    if (!(primal < result->mm.primal)) return;
    result->mm.primal = primal;
    for (int j = 0; j < work->problem->n; j++) {
        result->row_norm[j] = work->row[j];
        result->activity[j] = work->act[j] / over;
    }
}
