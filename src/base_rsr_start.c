/* base_rsr_start.c: the first weights of RSR (base_rsr.c).
 *
 * r_j = a, g_i = b |x_i|: the fixed point for rows that are alike. The product of the two terms of
 * the majoriser, lambda tr(X'K^{-1}X) + (sum g + lambda sum r) / 4, does not depend on their common
 * factor; its minimum over a / b is found on a grid, with the trace from the eigenvalues of
 * G^{-1/2} X_S X_S' G^{-1/2} that NODES Lanczos steps see. As if all eigenvalues were equal, some
 * residuals start near 0 and grow only by a factor per step: 43 iterations for 8.
 *
 * 4nq flops per node; memory n (NODES + 4). */
#include "base_rsr.h"
#include "la.h"
#include "la_krylov.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

enum { NODES = 12 };
static const double FIT = 0.9; /* most that W explains of E at first, and least */

static void noise_by_length(int n, const double *length, double *w);

void rsr_start(const rsr_problem *problem, int q, const int *set, const double *length, double *wr,
               double *wg)
{
    int n = problem->n, steps = n < NODES ? n : NODES, found = 0;
    size_t N = (size_t) n, Q = (size_t) q;
    double lambda = problem->lambda, mean = 0.0, best = R_PosInf, at = 0.0, beta = 0.0;
    double h[NODES * NODES] = {0.0}, theta[NODES], y[NODES * NODES], copy[NODES * NODES];
    double *basis = ufs_dalloc(N, (size_t) steps), *z = ufs_dalloc(Q, 1), *w = ufs_dalloc(N, 1);
    double first = 0.0, second = 0.0;

    for (int i = 0; i < n; i++) mean += length[i] / n;
    for (int i = 0; i < n; i++) wg[i] = fmax(length[i] / mean, 1e-8);
    noise_by_length(n, length, w);
    for (int l = 0; l < steps; l++) {
        double norm = la_nrm2(n, w), *v = basis + (size_t) l * N;
        if (!(norm > 1e-10 * beta) || norm == 0.0) break;
        if (l > 0) h[(l - 1) + l * NODES] = norm;
        for (int i = 0; i < n; i++) v[i] = w[i] / norm;
        for (int i = 0; i < n; i++) w[i] = v[i] / sqrt(wg[i]);
        for (int a = 0; a < q; a++) z[a] = la_dot(n, problem->x + (size_t) set[a] * N, w);
        memset(w, 0, N * sizeof(double));
        for (int a = 0; a < q; a++) la_axpy(n, z[a], problem->x + (size_t) set[a] * N, w);
        for (int i = 0; i < n; i++) w[i] /= sqrt(wg[i]);
        h[l + l * NODES] = la_dot(n, v, w);
        beta = fmax(beta, la_nrm2(n, w));
        for (int pass = 0; pass < 2; pass++)
            for (int m = 0; m <= l; m++)
                la_axpy(n, -la_dot(n, basis + (size_t) m * N, w), basis + (size_t) m * N, w);
        found = l + 1;
    }
    if (la_krylov_ritz(found, h, NODES, theta, y, copy) != 0) found = 0;
    for (int grid = -250; grid <= 250; grid++) {
        double a = exp(0.1 * grid), trace = 0.0, fit = 0.0, sum = n + a * lambda * q;
        for (int l = 0; l < found; l++) {
            double share = y[l * found] * y[l * found], value = fmax(theta[l], 0.0);
            trace += n * share * lambda * value / (a * value + lambda);
            fit += share * a * value / (a * value + lambda);
        }
        /* Residuals or rows near 0 would take long to grow again. */
        if (trace * sum < best && fit > 1.0 - FIT && fit < FIT) {
            best = trace * sum;
            at = a;
            first = trace;
            second = sum / 4.0;
        }
    }
    if (!(first > 0.0)) {
        at = 1.0;
        first = second = 1.0;
    }
    for (int a = 0; a < q; a++) wr[a] = at * sqrt(first / second);
    for (int i = 0; i < n; i++) wg[i] *= sqrt(first / second);
}

/* Start vector of the quadrature: noise that goes with the samples' lengths, not with their places,
 * so that samples in another order get the same first weights. */
static void noise_by_length(int n, const double *length, double *w)
{
    size_t N = (size_t) n;
    void *mark = vmaxget();
    double *key = ufs_dalloc(N, 1), *noise = ufs_dalloc(N, 1);
    int *place = ufs_ialloc(N);

    ufs_copy(key, length, N);
    for (int i = 0; i < n; i++) place[i] = i;
    rsort_with_index(key, place, n);
    la_krylov_noise(n, 0, noise);
    for (size_t i = 0; i < N; i++) w[place[i]] = noise[i];
    vmaxset(mark);
}
