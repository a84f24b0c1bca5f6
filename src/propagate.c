/* propagate.c: see propagate.h. */
#include "propagate.h"
#include "la.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

static void search(const propagate_problem *problem, double weak, int *queue, int *reached);
static int harmonic(const propagate_problem *problem, double weak, const int *reached, int *index,
                    double *probability);
static void class_mass(const propagate_problem *problem, int u, double *y);
static int first_largest(int n, int c, const double *row);
static int nearest(const propagate_problem *problem, int i);

int propagate_solve(const propagate_problem *problem, propagate_result *result)
{
    size_t n = (size_t) problem->n, c = (size_t) problem->c;
    void *mark = vmaxget();
    int *index = ufs_ialloc(n), *label = result->label, *reached = result->reached;
    double *share = ufs_dzero(c, 1), *probability = result->probability;
    double weak = 0.0;
    int labelled = 0, frequent = 0, lapack;

    /* Edges of this share of the largest weight would connect nodes by rounding only. */
    for (size_t i = 0; i < n * n; i++) weak = fmax(weak, UFS_ROUNDING * problem->w[i]);
    for (size_t i = 0; i < n; i++)
        if (problem->known[i]) {
            share[problem->known[i] - 1] += 1.0;
            labelled++;
        }
    for (size_t j = 0; j < c; j++) {
        share[j] /= labelled;
        if (share[j] > share[frequent]) frequent = (int) j;
    }
    search(problem, weak, index, reached);
    for (size_t j = 0; j < c; j++)
        for (size_t i = 0; i < n; i++)
            probability[i + j * n] = problem->known[i] ? problem->known[i] == (int) j + 1
                                                       : share[j];
    lapack = harmonic(problem, weak, reached, index, probability);
    for (size_t i = 0; i < n && lapack == 0; i++) {
        if (problem->known[i])
            label[i] = problem->known[i];
        else if (reached[i])
            label[i] = first_largest(problem->n, problem->c, probability + i);
        else
            label[i] = problem->x == NULL ? frequent + 1 : nearest(problem, (int) i);
    }
    vmaxset(mark);
    return lapack;
}

/* Breadth first from all labelled nodes at once. */
static void search(const propagate_problem *problem, double weak, int *queue, int *reached)
{
    size_t n = (size_t) problem->n, head = 0, tail = 0;
    for (size_t i = 0; i < n; i++) {
        reached[i] = problem->known[i] > 0;
        if (reached[i]) queue[tail++] = (int) i;
    }
    while (head < tail) {
        const double *edge = problem->w + (size_t) queue[head++] * n;
        for (size_t i = 0; i < n; i++)
            if (!reached[i] && edge[i] > weak) {
                reached[i] = 1;
                queue[tail++] = (int) i;
            }
    }
}

/* L_uu Y_u' = W_ul Y_l' for the reached unlabelled nodes. */
static int harmonic(const propagate_problem *problem, double weak, const int *reached, int *index,
                    double *probability)
{
    size_t n = (size_t) problem->n, c = (size_t) problem->c, u = 0;
    double *l, *y;
    int lapack;

    for (size_t i = 0; i < n; i++)
        if (reached[i] && !problem->known[i]) index[u++] = (int) i;
    if (u == 0) return 0;
    l = ufs_dalloc(u, u);
    y = ufs_dzero(u, c);
    for (size_t a = 0; a < u; a++) {
        const double *edge = problem->w + (size_t) index[a] * n;
        double degree = 0.0;
        if (a % UFS_STRIP == 0) R_CheckUserInterrupt();
        for (size_t i = 0; i < n; i++) {
            if (edge[i] <= weak || i == (size_t) index[a]) continue;
            degree += edge[i];
            if (problem->known[i]) y[a + (size_t) (problem->known[i] - 1) * u] += edge[i];
        }
        for (size_t b = 0; b < u; b++) {
            double weight = edge[index[b]];
            l[b + a * u] = weight > weak ? -weight : 0.0;
        }
        l[a + a * u] = degree;
    }
    lapack = la_chol_checked((int) u, l);
    if (lapack) return lapack;
    la_chol_solve((int) u, problem->c, l, y);
    if (problem->cmn) class_mass(problem, (int) u, y);
    for (size_t j = 0; j < c; j++)
        for (size_t a = 0; a < u; a++)
            probability[(size_t) index[a] + j * n] = fmin(fmax(y[a + j * u], 0.0), 1.0);
    return 0;
}

/* Scales every class to the mass (labelled members + 1), then every node to sum 1. */
static void class_mass(const propagate_problem *problem, int u, double *y)
{
    size_t U = (size_t) u, c = (size_t) problem->c, n = (size_t) problem->n;
    for (size_t j = 0; j < c; j++) {
        double mass = 0.0, members = 1.0;
        for (size_t i = 0; i < n; i++)
            if (problem->known[i] == (int) j + 1) members += 1.0;
        for (size_t a = 0; a < U; a++) mass += y[a + j * U];
        if (mass > 0.0)
            for (size_t a = 0; a < U; a++) y[a + j * U] *= members / mass;
    }
    for (size_t a = 0; a < U; a++) {
        double sum = 0.0;
        for (size_t j = 0; j < c; j++) sum += y[a + j * U];
        for (size_t j = 0; j < c; j++) y[a + j * U] /= sum;
    }
}

/* First class within UFS_ROUNDING of the largest probability. */
static int first_largest(int n, int c, const double *row)
{
    size_t N = (size_t) n, C = (size_t) c, j = 0;
    double most = row[0];
    for (size_t l = 1; l < C; l++) most = fmax(most, row[l * N]);
    while (row[j * N] < most - UFS_ROUNDING) j++;
    return (int) j + 1;
}

/* Class of the nearest labelled sample, the first of equals. */
static int nearest(const propagate_problem *problem, int i)
{
    size_t n = (size_t) problem->n, p = (size_t) problem->p;
    double least = HUGE_VAL;
    int class = 1;
    for (size_t a = 0; a < n; a++) {
        double d2 = 0.0;
        if (!problem->known[a]) continue;
        for (size_t j = 0; j < p; j++) {
            double d = problem->x[(size_t) i + j * n] - problem->x[a + j * n];
            d2 += d * d;
        }
        if (d2 < least) {
            least = d2;
            class = problem->known[a];
        }
    }
    return class;
}
