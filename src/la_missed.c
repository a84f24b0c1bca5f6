/* la_missed.c: is an eigenvalue missing? A proof for la_eigs.c, for any multiplicity.
 *
 * From one vector, or a block of b, a Krylov space holds one copy, or b, of a multiple eigenvalue; the
 * others are orthogonal to all of it, so residuals say nothing about them. V is such a space, and C
 * is A on its complement. Lanczos from noise on C finds its largest eigenvalue: with top the Ritz
 * value of m steps and low below the spectrum, an eigenvalue L > top of C, in which the start has the
 * share c, would have raised it unless
 *     c^2 T(t)^2 <= (top - low) / (L - top),   t = 1 + 2 (L - top) / (top - low),
 * T the Chebyshev polynomial of degree m - 1, because Lanczos is at least as good as that polynomial.
 * A random start has c < CHANCE / sqrt(n) with a probability of CHANCE at most.
 *
 * Per step a product and 4 n size flops. Nothing is stored but three vectors: copies that come
 * from rounding do no harm to the largest. The vector itself, if one is missing, takes all steps again. */
#include "la.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

enum { MOST = 2000, EVERY = 4 };
static const double CHANCE = 1e-4;

typedef struct {
    const la_eigs_problem *a;
    int size, steps;
    const double *v;
    double *now, *before, *next, *dot; /* n, n, n, n_known + size */
    double *alpha, *beta;              /* MOST: the tridiagonal matrix */
} missed_work;

static bool start(missed_work *w, int column);
static double step(missed_work *w);
static void leave_out(missed_work *w, double *x);
static double largest(const missed_work *w);
static bool proved(const missed_work *w, double top, double limit);
static int ritz_vector(missed_work *w, int column, double *x);

la_missed la_eigs_missed(const la_eigs_problem *a, int size, const double *v,
                         const la_missed_levels *level, int column, double *x, la_eigs_info *info)
{
    size_t N = (size_t) a->n;
    void *mark = vmaxget();
    missed_work w = {.a = a, .size = size, .v = v};
    la_missed found = LA_MISSED_UNKNOWN;

    ufs_dalloc_each(N, 1, (double **[]){&w.now, &w.before, &w.next, NULL});
    w.dot = ufs_dalloc((size_t) (a->n_known + size), 1);
    ufs_dalloc_each(MOST, 1, (double **[]){&w.alpha, &w.beta, NULL});
    if (a->n_known + size >= a->n || !start(&w, column)) found = LA_MISSED_NONE;
    while (found == LA_MISSED_UNKNOWN && w.steps < MOST) {
        double left = step(&w), top;
        bool ends = left <= UFS_ROUNDING * fmax(fabs(level->some), fabs(level->limit)) ||
                    a->n_known + size + w.steps >= a->n;
        info->products++;
        if (!ends && w.steps % EVERY != 0) continue;
        top = largest(&w);
        if (top > level->some)
            found = LA_MISSED_SOME;
        else if (ends || proved(&w, top, level->limit))
            found = LA_MISSED_NONE;
    }
    if (found == LA_MISSED_SOME) {
        info->products += w.steps;
        info->lapack = ritz_vector(&w, column, x);
    }
    vmaxset(mark);
    return found;
}

/* Whether anything is left of the noise. */
static bool start(missed_work *w, int column)
{
    int n = w->a->n;
    double size;

    la_krylov_noise(n, column, w->now);
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

/* One step of Lanczos; returns the next beta. */
static double step(missed_work *w)
{
    int n = w->a->n, m = w->steps;
    double *free = w->before, left;

    R_CheckUserInterrupt();
    w->a->apply(w->a->data, 1, w->now, w->next);
    if (m > 0) la_axpy(n, -w->beta[m - 1], w->before, w->next);
    leave_out(w, w->next);
    w->alpha[m] = la_dot(n, w->now, w->next);
    la_axpy(n, -w->alpha[m], w->now, w->next);
    w->beta[m] = left = la_nrm2(n, w->next);
    w->steps++;
    for (int i = 0; i < n && left > 0.0; i++) w->next[i] /= left;
    w->before = w->now;
    w->now = w->next;
    w->next = free;
    return left;
}

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

/* The largest eigenvalue of the tridiagonal matrix, by bisection on the signs of LDL'. */
static double largest(const missed_work *w)
{
    double low = R_NegInf, high = R_NegInf;

    for (int j = 0; j < w->steps; j++) {
        double off = (j > 0 ? w->beta[j - 1] : 0.0) + (j + 1 < w->steps ? w->beta[j] : 0.0);
        low = fmax(low, w->alpha[j]);
        high = fmax(high, w->alpha[j] + off);
    }
    for (int t = 0; t < 60 && high - low > DBL_EPSILON * (fabs(high) + fabs(low)); t++) {
        double mid = 0.5 * (low + high), d = 1.0;
        bool above = false;
        for (int j = 0; j < w->steps && !above; j++) {
            d = mid - w->alpha[j] - (j > 0 ? w->beta[j - 1] * w->beta[j - 1] / d : 0.0);
            above = !(d > 0.0);
        }
        if (above)
            low = mid;
        else
            high = mid;
    }
    return high;
}

/* That C has no eigenvalue from `limit` on. */
static bool proved(const missed_work *w, double top, double limit)
{
    double low = w->a->low, share = 2.0 * log(CHANCE) - log((double) w->a->n), cosh_t, growth;

    for (int j = 0; j < w->steps; j++) low = fmin(low, w->alpha[j]);
    if (!(limit > top)) return false;
    if (!(top > low)) return true;
    cosh_t = 1.0 + 2.0 * (limit - top) / (top - low);
    growth = (w->steps - 1) * acosh(cosh_t) - log(2.0);
    return share + 2.0 * growth > log((top - low) / (limit - top));
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
    lapack = la_eig_leading(m, t, 1, &top, y);
    memset(x, 0, (size_t) n * sizeof(double));
    if (lapack || !start(w, column)) return lapack;
    for (int j = 0; j < m; j++) {
        la_axpy(n, y[j], w->now, x);
        if (j + 1 < m) step(w);
    }
    return 0;
}
