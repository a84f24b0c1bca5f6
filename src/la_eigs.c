/* la_eigs.c: leading eigenpairs of a sparse symmetric operator (see la.h).
 *
 * Filter of degree d, scaled at the largest Ritz value so that nothing overflows
 * (Zhou, Saad, Tiago and Chelikowsky, J. Comput. Phys. 219, 2006). Per step:
 * d + 1 products with A on the block of b vectors and about 14 n b^2 flops. */
#include "la.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>
#include <stdint.h>

enum { DEGREE = 30 };

typedef struct {
    const la_eigs_problem *a;
    int b;              /* block size */
    double *x, *ax;     /* n x b: basis and its image */
    double *y, *t;      /* n x b: scratch */
    double *small, *q;  /* b x b */
    double *theta;      /* b, ascending */
    double *dot;        /* max(b, n_known) */
} eigs_work;

static void dense_eigs(const la_eigs_problem *a, double *w, double *z, la_eigs_info *info);
static void start_block(eigs_work *s);
static void fixed_noise(int n, int column, double *x);
static void filter(eigs_work *s);
static void orthonormalise(eigs_work *s);
static int rayleigh_ritz(eigs_work *s);
static double worst_residual(eigs_work *s);

void la_eigs(const la_eigs_problem *a, double *w, double *z, la_eigs_info *info)
{
    int n = a->n, k = a->k, b = k + (k / 2 > 8 ? k / 2 : 8);
    size_t N = (size_t) n, B = (size_t) b;
    void *mark = vmaxget();
    eigs_work s = {.a = a, .b = b};

    info->iterations = 0;
    info->lapack = 0;
    info->residual = 0.0;
    info->converged = true;
    if (n <= LA_EIGS_DENSE || 4 * (b + a->n_known) > n) {
        dense_eigs(a, w, z, info);
        vmaxset(mark);
        return;
    }
    s.x = ufs_dalloc(N, B);
    s.ax = ufs_dalloc(N, B);
    s.y = ufs_dalloc(N, B);
    s.t = ufs_dalloc(N, B);
    s.small = ufs_dalloc(B, B);
    s.q = ufs_dalloc(B, B);
    s.theta = ufs_dalloc(B, 1);
    s.dot = ufs_dalloc(B > (size_t) a->n_known ? B : (size_t) a->n_known, 1);

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
        la_gemm('N', 'T', n, n, a->n_known, -2.0 * (a->high - a->low), a->known, n,
                a->known, n, 1.0, full, n);
    info->lapack = la_eig_range(n, full, n - k + 1, n, values, vectors);
    for (int j = 0; j < k; j++) {
        w[j] = values[k - 1 - j];
        ufs_copy(z + (size_t) j * N, vectors + (size_t) (k - 1 - j) * N, N);
    }
}

static void start_block(eigs_work *s)
{
    for (int j = 0; j < s->b; j++)
        fixed_noise(s->a->n, j, s->x + (size_t) j * (size_t) s->a->n);
    orthonormalise(s);
}

/* A hash of (row, column), uniform on (-1, 1): a start that no structure of the data
 * can be orthogonal to by design. */
static void fixed_noise(int n, int column, double *x)
{
    for (int i = 0; i < n; i++) {
        uint64_t h = ((uint64_t) column << 32) + (uint64_t) i + 0x9E3779B97F4A7C15ULL;
        h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9ULL;
        h = (h ^ (h >> 27)) * 0x94D049BB133111EBULL;
        h ^= h >> 31;
        x[i] = (double) (h >> 11) / 4503599627370496.0 - 1.0;
    }
}

/* x <- p(A) x by the three-term recurrence on [low, theta_1]; s->ax = A x on entry. */
static void filter(eigs_work *s)
{
    const la_eigs_problem *a = s->a;
    size_t len = (size_t) a->n * (size_t) s->b;
    double cut = s->theta[0], half = (cut - a->low) / 2.0, mid = (cut + a->low) / 2.0;
    double top = s->theta[s->b - 1], sigma, sigma1;

    if (!(half > 0.0)) {
        half = (a->high - a->low) / 4.0;
        mid = a->low + half;
    }
    sigma1 = half / (fmax(top, mid + 1.5 * half) - mid);
    sigma = sigma1;
    for (size_t i = 0; i < len; i++)
        s->y[i] = (s->ax[i] - mid * s->x[i]) * (sigma1 / half);
    for (int d = 2; d <= DEGREE; d++) {
        double next = 1.0 / (2.0 / sigma1 - sigma), *swap;
        a->apply(a->data, s->b, s->y, s->t);
        for (size_t i = 0; i < len; i++)
            s->t[i] = 2.0 * next / half * (s->t[i] - mid * s->y[i]) -
                sigma * next * s->x[i];
        swap = s->x;
        s->x = s->y;
        s->y = s->t;
        s->t = swap;
        sigma = next;
    }
    double *swap = s->x;
    s->x = s->y;
    s->y = swap;
}

/* Gram-Schmidt, twice, against the known vectors and the columns before; the best
 * vectors (last columns) first. */
static void orthonormalise(eigs_work *s)
{
    int n = s->a->n, known = s->a->n_known;
    size_t N = (size_t) n;
    for (int j = s->b - 1; j >= 0; j--) {
        double *col = s->x + (size_t) j * N, *done = col + N;
        int n_done = s->b - 1 - j, fresh = 0;
        double before = la_nrm2(n, col), norm;
        for (int pass = 0; pass < 2; pass++) {
            if (known > 0) {
                la_gemv('T', n, known, 1.0, s->a->known, n, col, 0.0, s->dot);
                la_gemv('N', n, known, -1.0, s->a->known, n, s->dot, 1.0, col);
            }
            if (n_done > 0) {
                la_gemv('T', n, n_done, 1.0, done, n, col, 0.0, s->dot);
                la_gemv('N', n, n_done, -1.0, done, n, s->dot, 1.0, col);
            }
            norm = la_nrm2(n, col);
            /* Lost in rounding: another start takes its place. */
            if (!(norm > 1e-13 * before) && fresh < 3) {
                fixed_noise(n, s->b * (++fresh) + j, col);
                before = la_nrm2(n, col);
                pass = -1;
                continue;
            }
        }
        for (int i = 0; i < n; i++) col[i] /= norm;
    }
}

static int rayleigh_ritz(eigs_work *s)
{
    int n = s->a->n, b = s->b, info;
    double *swap;

    s->a->apply(s->a->data, b, s->x, s->ax);
    la_gemm('T', 'N', b, b, n, 1.0, s->x, n, s->ax, n, 0.0, s->small, b);
    info = la_eig_range(b, s->small, 1, b, s->theta, s->q);
    if (info) return info;
    la_gemm('N', 'N', n, b, b, 1.0, s->x, n, s->q, b, 0.0, s->y, n);
    la_gemm('N', 'N', n, b, b, 1.0, s->ax, n, s->q, b, 0.0, s->t, n);
    swap = s->x;
    s->x = s->y;
    s->y = swap;
    swap = s->ax;
    s->ax = s->t;
    s->t = swap;
    return 0;
}

static double worst_residual(eigs_work *s)
{
    size_t N = (size_t) s->a->n;
    double worst = 0.0, size = fmax(fabs(s->a->low), fabs(s->a->high));
    for (int j = s->b - s->a->k; j < s->b; j++) {
        const double *x = s->x + (size_t) j * N, *ax = s->ax + (size_t) j * N;
        double ss = 0.0;
        for (size_t i = 0; i < N; i++) {
            double r = ax[i] - s->theta[j] * x[i];
            ss += r * r;
        }
        worst = fmax(worst, sqrt(ss) / size);
    }
    return worst;
}
