/* la_eigs.c: leading eigenpairs of a sparse symmetric operator (see la.h).
 *
 * Filter of degree d, scaled at the largest Ritz value so that nothing overflows
 * (Zhou, Saad, Tiago and Chelikowsky, J. Comput. Phys. 219, 2006). Per step:
 * d + 1 products with A on the block of b vectors and about 14 n b^2 flops. */
#include "la.h"
#include "la_krylov.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

enum { FIRST_DEGREE = 30, LEAST_DEGREE = 10, MOST_DEGREE = 240 };
static const double SAFETY = 3.0, SPREAD = 1e8;

typedef struct {
    const la_eigs_problem *a;
    int b;                    /* block size */
    int degree;               /* of the filter */
    double *coef;             /* 3 x MOST_DEGREE: its recurrence */
    double *x, *ax;           /* n x b: basis and its image */
    double *y, *t;            /* n x b: scratch */
    double *small, *q, *copy; /* b x b */
    double *theta;            /* b, ascending */
    double *dot;              /* (n_known + b) x b */
} eigs_work;

static void dense_eigs(const la_eigs_problem *a, double *w, double *z, la_eigs_info *info);
static void start_block(eigs_work *s);
static void filter(eigs_work *s);
static void recurrence(eigs_work *s);
static void orthonormalise(eigs_work *s);
static int rayleigh_ritz(eigs_work *s);
static double worst_residual(eigs_work *s);

void la_eigs(const la_eigs_problem *a, double *w, double *z, la_eigs_info *info)
{
    /* Room for the next ones; operators work on 8 columns at a time. */
    int n = a->n, k = a->k, b = (k + (k / 2 > 3 ? k / 2 : 3) + 7) / 8 * 8;
    size_t N = (size_t) n, B = (size_t) b;
    void *mark = vmaxget();
    eigs_work s = {.a = a, .b = b, .degree = FIRST_DEGREE};

    info->iterations = 0;
    info->lapack = 0;
    info->residual = 0.0;
    info->converged = true;
    if (n <= LA_EIGS_DENSE || 4 * (b + a->n_known) > n) {
        dense_eigs(a, w, z, info);
        vmaxset(mark);
        return;
    }
    s.coef = ufs_dalloc(3, MOST_DEGREE);
    s.x = ufs_dalloc(N, B);
    s.ax = ufs_dalloc(N, B);
    s.y = ufs_dalloc(N, B);
    s.t = ufs_dalloc(N, B);
    s.small = ufs_dalloc(B, B);
    s.q = ufs_dalloc(B, B);
    s.theta = ufs_dalloc(B, 1);
    s.copy = ufs_dalloc(B, B);
    s.dot = ufs_dalloc(B + (size_t) a->n_known, B);

    start_block(&s);
    info->lapack = rayleigh_ritz(&s);
    info->converged = false;
    while (!info->lapack && info->iterations < a->max_iter) {
        R_CheckUserInterrupt();
        info->iterations++;
        filter(&s);
        orthonormalise(&s);
        info->lapack = rayleigh_ritz(&s);
        info->residual = worst_residual(&s);
        if (info->residual <= a->tol) {
            info->converged = true;
            break;
        }
    }
    for (int j = 0; j < k; j++) {
        w[j] = s.theta[b - 1 - j];
        ufs_copy(z + (size_t) j * N, s.x + (size_t) (b - 1 - j) * N, N);
    }
    vmaxset(mark);
}

static void dense_eigs(const la_eigs_problem *a, double *w, double *z, la_eigs_info *info)
{
    int n = a->n, k = a->k;
    size_t N = (size_t) n;
    double *identity = ufs_dzero(N, N), *full = ufs_dalloc(N, N);
    double *values = ufs_dalloc((size_t) k, 1), *vectors = ufs_dalloc(N, (size_t) k);

    for (size_t i = 0; i < N; i++) identity[i + i * N] = 1.0;
    a->apply(a->data, n, identity, full);
    /* Known eigenvectors move below the rest of the spectrum. */
    if (a->n_known > 0)
        la_gemm('N', 'T', n, n, a->n_known, -2.0 * (a->high - a->low), a->known, n, a->known, n,
                1.0, full, n);
    info->lapack = la_eig_range(n, full, n - k + 1, n, values, vectors);
    for (int j = 0; j < k; j++) {
        w[j] = values[k - 1 - j];
        ufs_copy(z + (size_t) j * N, vectors + (size_t) (k - 1 - j) * N, N);
    }
}

static void start_block(eigs_work *s)
{
    for (int j = 0; j < s->b; j++) {
        /* The best ones are the last columns, as after Rayleigh-Ritz. */
        double *col = s->x + (size_t) j * (size_t) s->a->n;
        int guess = s->b - 1 - j;
        if (guess < s->a->n_start)
            ufs_copy(col, s->a->start + (size_t) guess * (size_t) s->a->n, (size_t) s->a->n);
        else
            la_krylov_noise(s->a->n, j, col);
    }
    orthonormalise(s);
}

/* x <- p(A) x; s->ax = A x on entry. */
static void filter(eigs_work *s)
{
    const la_eigs_problem *a = s->a;
    size_t len = (size_t) a->n * (size_t) s->b;

    recurrence(s);
    if (a->recur != NULL) {
        a->recur(a->data, s->b, s->degree, s->coef, s->x);
        return;
    }
    for (size_t i = 0; i < len; i++) s->y[i] = s->coef[0] * s->ax[i] + s->coef[1] * s->x[i];
    for (int d = 1; d < s->degree; d++) {
        const double *c = s->coef + 3 * d;
        double *swap = s->x;
        a->apply(a->data, s->b, s->y, s->t);
        for (size_t i = 0; i < len; i++) s->t[i] = c[0] * s->t[i] + c[1] * s->y[i] + c[2] * s->x[i];
        s->x = s->y;
        s->y = s->t;
        s->t = swap;
    }
    double *swap = s->x;
    s->x = s->y;
    s->y = swap;
}

/* Where the polynomial damps: [low, the smallest Ritz value] or, while that is low itself, a half
 * of the range. */
static void damped(const eigs_work *s, double *mid, double *half)
{
    const la_eigs_problem *a = s->a;
    *half = (s->theta[0] - a->low) / 2.0;
    *mid = a->low + *half;
    if (!(*half > 0.0)) {
        *half = (a->high - a->low) / 4.0;
        *mid = a->low + *half;
    }
}

/* The Chebyshev polynomial of that interval, scaled at the largest Ritz value. */
static void recurrence(eigs_work *s)
{
    double mid, half, sigma, sigma1;

    damped(s, &mid, &half);
    sigma1 = half / (fmax(s->theta[s->b - 1], mid + 1.5 * half) - mid);
    sigma = sigma1;
    for (int d = 0; d < s->degree; d++) {
        double *c = s->coef + 3 * d, next = d == 0 ? sigma1 / 2.0 : 1.0 / (2.0 / sigma1 - sigma);
        c[0] = 2.0 * next / half;
        c[1] = -mid * c[0];
        c[2] = d == 0 ? 0.0 : -sigma * next;
        sigma = d == 0 ? sigma1 : next;
    }
}

/* Columns lost in rounding are replaced by other starts. */
static void orthonormalise(eigs_work *s)
{
    int n = s->a->n, left = 0, fresh = 0;
    while (left < s->b) {
        left += la_krylov_orthonormalise(n, s->a->n_known, s->a->known, left, s->b - left, s->x,
                                         1e-13, s->dot);
        for (int j = left; j < s->b; j++)
            la_krylov_noise(n, s->b * (fresh + 1) + j, s->x + (size_t) j * (size_t) n);
        if (++fresh > 5) break;
    }
}

static int rayleigh_ritz(eigs_work *s)
{
    int n = s->a->n, b = s->b, lapack;

    s->a->apply(s->a->data, b, s->x, s->ax);
    la_gemm('T', 'N', b, b, n, 1.0, s->x, n, s->ax, n, 0.0, s->small, b);
    lapack = la_krylov_ritz(b, s->small, b, s->theta, s->q, s->copy);
    if (lapack) return lapack;
    la_krylov_rotate(n, b, b, s->x, s->q, s->t);
    la_krylov_rotate(n, b, b, s->ax, s->q, s->t);
    return 0;
}

/* Of the pairs that are not done; and the degree that brings the slowest of them there. Per degree
 * a pair at theta gains acosh((theta - mid) / half) in logarithm, and the leading one gains more on
 * it: not so much that it fills every column. */
static double worst_residual(eigs_work *s)
{
    size_t N = (size_t) s->a->n;
    double worst = 0.0, size = fmax(fabs(s->a->low), fabs(s->a->high)), mid, half, top;
    double need = LEAST_DEGREE, most = MOST_DEGREE;
    int first = s->b - s->a->k, exact = first + s->a->n_rough;

    damped(s, &mid, &half);
    top = acosh(fmax((s->theta[s->b - 1] - mid) / half, 1.0));
    for (int j = first; j < s->b; j++) {
        const double *x = s->x + (size_t) j * N, *ax = s->ax + (size_t) j * N;
        double ss = 0.0, wanted = s->a->tol * size, gain;
        for (size_t i = 0; i < N; i++) {
            double r = ax[i] - s->theta[j] * x[i];
            ss += r * r;
        }
        if (j < exact && sqrt(ss) <= 0.1 * (s->a->high - s->theta[j])) continue;
        worst = fmax(worst, sqrt(ss) / size);
        if (sqrt(ss) <= wanted) continue;
        if (j < exact) wanted = fmax(wanted, 0.1 * (s->a->high - s->theta[j]));
        gain = acosh(fmax((s->theta[j] - mid) / half, 1.0 + 1e-6));
        need = fmax(need, log(SAFETY * sqrt(ss) / wanted) / gain);
        if (top > gain) most = fmin(most, log(SPREAD * size / sqrt(ss)) / (top - gain));
    }
    s->degree = (int) fmin(need, fmax(most, FIRST_DEGREE));
    return worst;
}
