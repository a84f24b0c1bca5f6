/* base_udfs.c: unsupervised discriminative feature selection (Yang, Shen, Ma, Huang and Zhou,
 * IJCAI 2011; there x is p x n).
 *
 *   min_{W'W = I} tr(W'MW) + gamma sum_j |w_j|,   M = X'AX,   W p x c,
 *   A = sum_i S_i H B_i H S_i',   B_i = (X~_i X~_i' + lambda I)^{-1},   X~_i = H X[N_i, ],
 *
 * N_i = sample i and its k nearest neighbours, S_i the selection of their rows, H = I - 11'/(k+1).
 * The steps over W are in base_wstep.c. p <= n: AX is summed sample by sample, M = X'(AX); p > n:
 * A (n x n) is factored. Local Gram matrices come straight from the rows: 2n(k+1)^2 p flops.
 * Cost: neighbours n^2 p, then np^2 and p^3/3 per step (p <= n), or n^3/3 + n^2 p and
 * n^2 p + n^3/3 per step. Memory 4np + p^2, or 2np + 2n^2. */
#include "base_udfs.h"
#include "base_wstep.h"
#include "graph.h"
#include "la.h"
#include <R_ext/Utils.h>

/* One neighbourhood: rows minus the first, p x (k+1), and Q = H B H. */
typedef struct {
    int p, size;
    double lambda;
    const double *row; /* p x n: samples as columns */
    double *part, *q, *b;
    int *member;
} local;

static int neighbourhood(local *s, int i, const graph_knn *knn);
static void centre_both(int size, double *a);
typedef struct {
    const udfs_settings *settings;
    ufs_run *run;
    int calm; /* small changes in a row */
} udfs_run;

static bool judge(void *data, mm *s, bool accepted);
static int scatter(wstep *s, const udfs_problem *problem);
static int fill_m(wstep *s, const udfs_problem *problem, local *part, const graph_knn *knn);
static int fill_b(wstep *s, const udfs_problem *problem, local *part, const graph_knn *knn);

void udfs_solve(const udfs_problem *problem, const udfs_settings *settings, udfs_result *result,
                ufs_run *run)
{
    static const char *const columns[] = {"iteration", "objective", NULL};
    wstep_problem over_w = {.n = problem->n,
                            .p = problem->p,
                            .c = problem->c,
                            .x = problem->x,
                            .gamma = problem->gamma,
                            .eps = settings->eps,
                            .accelerate = settings->accelerate,
                            .judge = judge};
    udfs_run u = {.settings = settings, .run = run};
    wstep w;

    ufs_trace_named(&run->trace, settings->max_iter, columns);
    result->live = 0;
    result->residual = R_NaN;
    wstep_init(&w, &over_w, result->w, result->row2, result->reach);
    w.owner = &u;
    run->lapack = scatter(&w, problem);
    if (run->lapack == 0) run->lapack = wstep_renew(&w);
    if (run->lapack) return;
    mm_run(&w.s, settings->max_iter);
    run->status = w.s.status;
    run->lapack = w.s.lapack;
    if (run->lapack) return;
    wstep_finish(&w);
    result->residual = w.residual;
    result->live = wstep_live(&w);
}

static bool judge(void *data, mm *s, bool accepted)
{
    wstep *w = data;
    udfs_run *u = w->owner;
    /* An extrapolated step may be short by accident. */
    int enough = u->settings->accelerate ? 2 : 1;
    double change;

    u->run->iterations = s->iterations;
    if (!accepted) {
        ufs_run_step(u->run, s->merit, R_NaN);
        return false;
    }
    change = wstep_change(w);
    ufs_trace_add(&u->run->trace, (double[]){s->iterations, s->merit});
    ufs_run_step(u->run, s->merit, change);
    u->calm = change <= u->settings->tol ? u->calm + 1 : 0;
    if (u->calm < enough || !wstep_settled(w)) return false;
    s->status = w->converged ? UFS_CONVERGED : UFS_NUMERICAL;
    return true;
}

/* M or B of the problem. */
static int scatter(wstep *s, const udfs_problem *problem)
{
    int n = problem->n, p = problem->p, size = problem->k + 1;
    size_t N = (size_t) n, P = (size_t) p, S = (size_t) size;
    graph_knn knn;
    /* Scratch of the later steps. */
    double *scratch = s->m == NULL ? s->lowest.scaled : s->part_x;
    double *row = scratch != NULL ? scratch : ufs_dalloc(P, N);
    local part = {.p = p,
                  .size = size,
                  .lambda = problem->lambda,
                  .row = row,
                  .part = ufs_dalloc(P, S),
                  .q = ufs_dalloc(S, S),
                  .b = ufs_dalloc(S, S),
                  .member = ufs_ialloc(S)};

    la_transpose(n, p, problem->x, row);
    graph_knn_search(n, p, problem->x, problem->k, false, &knn);
    return s->m != NULL ? fill_m(s, problem, &part, &knn) : fill_b(s, problem, &part, &knn);
}

/* Members and Q of sample i. */
static int neighbourhood(local *s, int i, const graph_knn *knn)
{
    int size = s->size, lapack;
    size_t P = (size_t) s->p;
    const double *self = s->row + (size_t) i * P;

    s->member[0] = i;
    for (int a = 1; a < size; a++)
        s->member[a] = knn->index[(size_t) i * (size_t) knn->k + (size_t) (a - 1)];
    for (int a = 0; a < size; a++) {
        const double *from = s->row + (size_t) s->member[a] * P;
        double *to = s->part + (size_t) a * P;
        for (size_t j = 0; j < P; j++) to[j] = from[j] - self[j];
    }
    la_gram('T', s->p, size, s->part, s->b);
    centre_both(size, s->b);
    for (int a = 0; a < size; a++) s->b[a + a * size] += s->lambda;
    lapack = la_chol(size, s->b);
    if (lapack) return lapack;
    memset(s->q, 0, (size_t) size * (size_t) size * sizeof(double));
    for (int a = 0; a < size; a++) s->q[a + a * size] = 1.0;
    la_chol_solve(size, size, s->b, s->q);
    centre_both(size, s->q);
    return 0;
}

/* a <- H a H for a symmetric a. */
static void centre_both(int size, double *a)
{
    for (int j = 0; j < size; j++) {
        double mean = 0.0;
        for (int i = 0; i < size; i++) mean += a[i + j * size] / size;
        for (int i = 0; i < size; i++) a[i + j * size] -= mean;
    }
    for (int i = 0; i < size; i++) {
        double mean = 0.0;
        for (int j = 0; j < size; j++) mean += a[i + j * size] / size;
        for (int j = 0; j < size; j++) a[i + j * size] -= mean;
    }
}

/* M = X'(AX), with AX summed over neighbourhoods. */
static int fill_m(wstep *s, const udfs_problem *problem, local *part, const graph_knn *knn)
{
    int n = problem->n, p = problem->p, size = part->size;
    size_t P = (size_t) p;
    double *ax = s->part_y != NULL ? s->part_y : ufs_dalloc(P, (size_t) n);

    memset(ax, 0, P * (size_t) n * sizeof(double));
    for (int i = 0; i < n; i++) {
        int lapack = neighbourhood(part, i, knn);
        if (lapack) return lapack;
        if (i % 256 == 0) R_CheckUserInterrupt();
        for (int a = 0; a < size; a++)
            for (int b = 0; b < size; b++)
                la_axpy(p, part->q[a + b * size], part->part + (size_t) b * P,
                        ax + (size_t) part->member[a] * P);
    }
    la_transpose(p, n, ax, s->y);
    return 0;
}

/* B from the factor of A. */
static int fill_b(wstep *s, const udfs_problem *problem, local *part, const graph_knn *knn)
{
    int n = problem->n, size = part->size;
    size_t N = (size_t) n;
    double *a = ufs_dzero(N, N);

    for (int i = 0; i < n; i++) {
        int lapack = neighbourhood(part, i, knn);
        if (lapack) return lapack;
        for (int u = 0; u < size; u++)
            for (int v = 0; v < size; v++)
                a[(size_t) part->member[u] + (size_t) part->member[v] * N] += part->q[u + v * size];
    }
    return wstep_factor(s, a, problem->x, ufs_ialloc(N), ufs_dalloc(2 * N, 1));
}
