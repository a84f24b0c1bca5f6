/* udfs.c: unsupervised discriminative feature selection (Yang, Shen, Ma, Huang and Zhou,
 * IJCAI 2011; there x is p x n).
 *
 *   min_{W'W = I} tr(W'MW) + gamma sum_j f_j |w_j|,   M = X'AX,   W p x c,
 *   A = sum_i S_i H B_i H S_i',   B_i = (X~_i X~_i' + lambda I)^{-1},   X~_i = H X[N_i, ],
 *
 * N_i = sample i and its k nearest neighbours, S_i the selection of their rows, H = I - 11'/(k+1).
 * As B_i 1 = 1/lambda, H B_i H = B_i - 11' / (lambda (k+1)). The steps over W are in wstep.c.
 * p <= n: AX is summed sample by sample, M = X'(AX); p > n: A (n x n) is factored. Local Gram
 * matrices come straight from the rows: n(k+1)^2 p flops. Cost: neighbours n^2 p, then 2np^2 and
 * p^3/3 per step (p <= n), or n^3/3 + n^2 p and n^2 p + n^3/3 per step. */
#include "udfs.h"
#include "graph.h"

/* The members' rows, centred, as columns of part, and q = H B_i H. A lambda below what can be told
 * from rounding beside the rows is raised to that: the limit for large x is the same. */
static int neighbourhood(const udfs_problem *problem, const double *rows, const int *member,
                         double *part, double *q)
{
    int size = problem->k + 1, lapack;
    size_t P = (size_t) problem->step.p, S = (size_t) size;
    double most = 0.0, ridge;

    for (size_t j = 0; j < P; j++) {
        const double *x = rows + j;
        double own = x[(size_t) member[0] * P], mean = 0.0;
        for (size_t a = 0; a < S; a++) mean += (x[(size_t) member[a] * P] - own) / size;
        for (size_t a = 0; a < S; a++) part[j + a * P] = x[(size_t) member[a] * P] - own - mean;
    }
    la_gram('T', problem->step.p, size, part, q);
    for (size_t a = 0; a < S; a++) most = fmax(most, q[a + a * S]);
    ridge = fmax(problem->lambda, 1e-12 * most);
    /* most 11' + ridge I has 1 as an eigenvector, as B_i has, and leaves no small eigenvalue there. */
    for (size_t e = 0; e < S * S; e++) q[e] += most;
    for (size_t a = 0; a < S; a++) q[a + a * S] += ridge;
    lapack = la_chol(size, q);
    if (lapack == 0) lapack = la_chol_inverse(size, q);
    for (size_t e = 0; e < S * S; e++) q[e] -= 1.0 / ((ridge + most * size) * size);
    return lapack;
}

/* Fills M, or B from the factor of A. */
static int scatter(wstep *w, const udfs_problem *problem)
{
    int n = problem->step.n, p = problem->step.p, size = problem->k + 1, lapack = 0;
    bool wide = p > n;
    size_t N = (size_t) n, P = (size_t) p, S = (size_t) size;
    void *mark = vmaxget();
    ufs_x x = ufs_x_dense(n, p, problem->step.x);
    graph_knn knn;
    double *part = ufs_dalloc(P, S), *q = ufs_dalloc(S, S), *image = ufs_dalloc(P, S);
    /* Samples as columns, in the place of B until that is made. */
    double *rows = wide ? w->b : ufs_dalloc(P, N);
    double *sum = ufs_dzero(wide ? N : P, N); /* A, or (AX)' */
    int *member = ufs_ialloc(S);

    graph_knn_search(&x, problem->k, NULL, &knn);
    la_transpose(n, p, problem->step.x, rows);
    for (size_t i = 0; i < N && lapack == 0; i++) {
        if (i % UFS_STRIP == 0) R_CheckUserInterrupt();
        member[0] = (int) i;
        memcpy(member + 1, knn.index + i * (S - 1), (S - 1) * sizeof(int));
        lapack = neighbourhood(problem, rows, member, part, q);
        if (!wide) la_mul('N', 'N', p, size, size, 1.0, part, q, 0.0, image);
        for (size_t a = 0; a < S; a++) {
            double *to = sum + (size_t) member[a] * (wide ? N : P);
            for (size_t b = 0; b < S && wide; b++) to[member[b]] += q[b + a * S];
            for (size_t j = 0; j < P && !wide; j++) to[j] += image[j + a * P];
        }
    }
    if (lapack == 0 && wide) lapack = wstep_factor(w, sum);
    if (lapack == 0 && !wide) {
        la_mul('N', 'T', p, p, n, 1.0, rows, sum, 0.0, w->m);
        la_fill_lower(p, w->m);
    }
    vmaxset(mark);
    return lapack;
}

void udfs_solve(const udfs_problem *problem, wstep_result *result, ufs_run *run)
{
    wstep w;

    wstep_init(&w, &problem->step, result, run);
    run->lapack = scatter(&w, problem);
    if (run->lapack == 0) wstep_solve(&w);
}
