/* eig_missed.c: is an eigenvalue missing? A proof for eig_few.c, for any multiplicity.
 *
 * From one vector, or a block of b, a Krylov space holds one copy, or b, of a multiple eigenvalue; the
 * others are orthogonal to all of it, so residuals say nothing about them. V is such a space, and C
 * is A on its complement. Lanczos from noise on C gives unit vectors v_j = p_j(C) v_0. An eigenvector
 * y of C with eigenvalue L, in which v_0 has the share c, has
 *     c |p_j(L)| = |y'v_j| <= 1,
 * and p_j(L) grows with L beyond all Ritz values, where it is positive: so once p_j(limit) exceeds
 * 1 / c no eigenvalue is left from `limit` on, and once p_j(some) is not positive a Ritz value lies
 * above `some`. A random start has c < CHANCE / sqrt(n) with a probability of CHANCE at most. That
 * needs no orthogonality of the v_j and no bound of the spectrum.
 *
 * Per step a product and 4 n size flops. Nothing is stored but three vectors: copies that come
 * from rounding do no harm to the largest. The vector itself, if one is missing, takes all steps again. */
#include "eig.h"

enum { MOST = 2000 };
static const double CHANCE = 1e-4;

typedef struct {
    const eig_problem *a;
    int size, steps;
    const double *v;
    double *now, *before, *next, *dot; /* n, n, n, n_known + size */
    double *alpha, *beta;              /* MOST: the tridiagonal matrix */
} missed_work;

static void leave_out(missed_work *w, double *x)
{
    int n = w->a->n, known = w->a->n_known;

    if (known > 0) {
        la_gemv('T', n, known, 1.0, w->a->known, n, x, 0.0, w->dot);
        la_gemv('N', n, known, -1.0, w->a->known, n, w->dot, 1.0, x);
    }
    la_gemv('T', n, w->size, 1.0, w->v, n, x, 0.0, w->dot);
    la_gemv('N', n, w->size, -1.0, w->v, n, w->dot, 1.0, x);
}

/* Starts from noise; false if nothing of it is left outside the known vectors. */
static bool start(missed_work *w, int column)
{
    int n = w->a->n;
    double size;

    krylov_noise(n, column, w->now);
    size = la_nrm2(n, w->now);
    leave_out(w, w->now);
    leave_out(w, w->now);
    memset(w->before, 0, (size_t) n * sizeof(double));
    w->steps = 0;
    if (la_nrm2(n, w->now) <= UFS_ROUNDING * size) return false;
    size = la_nrm2(n, w->now);
    for (int i = 0; i < n; i++) w->now[i] /= size;
    return true;
}

/* One step of Lanczos; returns the next beta. V is left out last: what rounding leaves of it in one vector
 * would come back with the next, alpha / beta times as large. */
static double step(missed_work *w)
{
    int n = w->a->n, m = w->steps;
    double *free = w->before, left;

    R_CheckUserInterrupt();
    w->a->apply(w->a->data, 1, w->now, w->next);
    if (m > 0) la_axpy(n, -w->beta[m - 1], w->before, w->next);
    w->alpha[m] = la_dot(n, w->now, w->next);
    la_axpy(n, -w->alpha[m], w->now, w->next);
    leave_out(w, w->next);
    w->beta[m] = left = la_nrm2(n, w->next);
    w->steps++;
    for (int i = 0; i < n && left > 0.0; i++) w->next[i] /= left;
    w->before = w->now;
    w->now = w->next;
    w->next = free;
    return left;
}

/* p_{j-1} and p_j at a point become p_j and p_{j+1} of the last step; whether that is positive. */
static bool follow(const missed_work *w, double at, double p[2])
{
    int j = w->steps - 1;
    double next = (at - w->alpha[j]) * p[1] - (j > 0 ? w->beta[j - 1] * p[0] : 0.0);

    p[0] = p[1];
    p[1] = next / w->beta[j];
    return next > 0.0;
}

static int ritz_vector(missed_work *w, int column, double *x)
{
    int n = w->a->n, m = w->steps, lapack;
    size_t M = (size_t) m;
    double *t = ufs_dzero(M, M), *y = ufs_dalloc(M, 1), top;

    for (size_t j = 0; j < M; j++) {
        t[j + j * M] = w->alpha[j];
        if (j > 0) t[j - 1 + j * M] = t[j + (j - 1) * M] = w->beta[j - 1];
    }
    lapack = eig_leading(m, t, 1, &top, y);
    memset(x, 0, (size_t) n * sizeof(double));
    if (lapack || !start(w, column)) return lapack;
    for (int j = 0; j < m; j++) {
        la_axpy(n, y[j], w->now, x);
        if (j + 1 < m) step(w);
    }
    return 0;
}

eig_missed eig_is_missed(const eig_problem *a, int size, const double *v,
                         const eig_missed_levels *level, int column, double *x, eig_info *info)
{
    size_t N = (size_t) a->n;
    void *mark = vmaxget();
    missed_work w = {.a = a, .size = size, .v = v};
    eig_missed found = EIG_MISSED_UNKNOWN;
    double p_some[2] = {0.0, 1.0}, p_limit[2] = {0.0, 1.0}; /* p_{j-1} and p_j */

    ufs_dalloc_each(N, 1, (double **[]){&w.now, &w.before, &w.next, NULL});
    w.dot = ufs_dalloc((size_t) (a->n_known + size), 1);
    ufs_dalloc_each(MOST, 1, (double **[]){&w.alpha, &w.beta, NULL});
    if (a->n_known + size >= a->n || !start(&w, column)) found = EIG_MISSED_NONE;
    while (found == EIG_MISSED_UNKNOWN && w.steps < MOST) {
        double left = step(&w);
        bool ends = left <= UFS_ROUNDING * fmax(fabs(level->some), fabs(level->limit)) ||
                    a->n_known + size + w.steps >= a->n;
        info->products++;
        if (!follow(&w, level->some, p_some))
            found = EIG_MISSED_SOME;
        else if (follow(&w, level->limit, p_limit) &&
                 (ends || p_limit[1] * CHANCE > sqrt((double) a->n)))
            found = EIG_MISSED_NONE;
    }
    if (found == EIG_MISSED_SOME) {
        info->products += w.steps;
        info->lapack = ritz_vector(&w, column, x);
    }
    vmaxset(mark);
    return found;
}
