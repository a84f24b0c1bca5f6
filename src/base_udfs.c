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
static int scatter(wstep *s, const udfs_problem *problem);
static int fill_m(wstep *s, const udfs_problem *problem, local *part, const graph_knn *knn);
static int fill_b(wstep *s, const udfs_problem *problem, local *part, const graph_knn *knn);

void udfs_solve(const udfs_problem *problem, const udfs_settings *settings, udfs_result *result,
                ufs_run *run)
{
    static const char *const columns[] = {"iteration", "objective", NULL};
    wstep s;
    double old = R_PosInf;
    /* An extrapolated step may be short by accident. */
    int calm = 0, enough = settings->accelerate ? 2 : 1;

    ufs_trace_named(&run->trace, settings->max_iter, columns);
    run->status = UFS_MAX_ITER;
    result->live = 0;
    result->residual = R_NaN;
    wstep_init(&s, problem->n, problem->p, problem->c, problem->gamma, settings->eps,
               settings->accelerate, result->w, result->row2, result->reach,
               (int) (0.7 * problem->p));
    run->lapack = scatter(&s, problem);
    if (run->lapack) return;
    wstep_start(&s);
    run->lapack = s.lapack;

    while (run->lapack == 0 && run->iterations < settings->max_iter) {
        double change;
        bool accepted = wstep_step(&s, run->iterations < settings->max_iter - 2);
        run->lapack = s.lapack;
        if (run->lapack) return;
        run->iterations++;
        if (!accepted) {
            ufs_run_step(run, s.objective, R_NaN);
            continue;
        }
        change = R_FINITE(old) ? fabs(old - s.objective) / fabs(s.objective) : R_NaN;
        ufs_trace_add(&run->trace, (double[]){run->iterations, s.objective});
        ufs_run_step(run, s.objective, change);
        if (!R_FINITE(s.objective)) {
            run->status = UFS_DIVERGED;
            break;
        }
        calm = change <= settings->tol ? calm + 1 : 0;
        if (calm >= enough && wstep_complete(&s)) {
            run->status = s.converged ? UFS_CONVERGED : UFS_NUMERICAL;
            break;
        }
        old = s.objective;
    }
    wstep_finish(&s);
    result->residual = s.residual;
    result->live = wstep_live(&s);
}

/* M or B of the problem. */
static int scatter(wstep *s, const udfs_problem *problem)
{
    int n = problem->n, p = problem->p, size = problem->k + 1;
    size_t N = (size_t) n, P = (size_t) p, S = (size_t) size;
    graph_knn knn;
    /* Scratch of the later steps is of that size where p > n. */
    double *row = s->m == NULL ? s->lowest.scaled : ufs_dalloc(P, N);
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
    double *ax = ufs_dzero(P, (size_t) n);

    for (int i = 0; i < n; i++) {
        int lapack = neighbourhood(part, i, knn);
        if (lapack) return lapack;
        if (i % 256 == 0) R_CheckUserInterrupt();
        for (int a = 0; a < size; a++)
            for (int b = 0; b < size; b++)
                la_axpy(p, part->q[a + b * size], part->part + (size_t) b * P,
                        ax + (size_t) part->member[a] * P);
    }
    wstep_scatter(s, 'N', part->row, ax);
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
