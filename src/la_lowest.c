/* la_lowest.c: the lowest eigenpairs of a matrix and a changing diagonal (see la.h). */
#include "la.h"
#include <R_ext/Utils.h>
#include <R_ext/Memory.h>

/* Residuals that a badly scaled inverse may leave. */
static const double FLOOR = 1e-7;

static void dense(la_lowest *s, const double *delta, double *values, double *vectors,
                  la_eigs_info *info);
static double choose_shift(la_lowest *s, const double *delta);
static double warm_shift(la_lowest *s, const double *delta, double plain, const double *vectors);
static int factor(la_lowest *s, const double *delta, double sigma);
static void apply_inverse(const void *data, int count, const double *v, double *out);

void la_lowest_init(la_lowest *s, int p, int c, int r, const double *m, const double *b)
{
    size_t P = (size_t) p, R = (size_t) r;

    s->c = c;
    la_lowest_set(s, p, r, m, b, NULL);
    s->k = m != NULL ? ufs_dalloc(P, P) : ufs_dalloc(R, R);
    s->g = ufs_dalloc(P, 1);
    s->scaled = m != NULL ? NULL : ufs_dalloc(R, P);
}

void la_lowest_set(la_lowest *s, int p, int r, const double *m, const double *b, const int *set)
{
    s->p = p;
    s->r = r;
    s->m = m;
    s->b = b;
    s->set = set;
}

void la_lowest_solve(la_lowest *s, const double *delta, bool warm, double tol, double *values,
                     double *vectors, la_eigs_info *info)
{
    int p = s->p, c = s->c;
    size_t len = (size_t) p * (size_t) c;
    double sigma, plain, *last;
    void *mark = vmaxget();
    la_eigs_problem inverse = {.n = p,
                               .k = c,
                               .apply = apply_inverse,
                               .data = s,
                               .n_start = warm ? c : 0,
                               .start = vectors,
                               .tol = tol,
                               .max_iter = 200};

    *info = (la_eigs_info){.converged = true};
    if (s->m != NULL && (p <= LA_LOWEST_DENSE || p <= 8 * c)) {
        dense(s, delta, values, vectors, info);
        return;
    }
    sigma = plain = choose_shift(s, delta);
    if (warm && s->m != NULL) sigma = warm_shift(s, delta, plain, vectors);
    info->lapack = factor(s, delta, sigma);
    if (info->lapack && sigma > plain) {
        sigma = plain;
        info->lapack = factor(s, delta, sigma);
    }
    if (info->lapack) return;
    la_eigs_krylov(&inverse, values, vectors, info);
    info->converged = info->converged || info->residual <= FLOOR;
    if (info->lapack) return;
    for (int j = 0; j < c; j++) values[j] = sigma + 1.0 / values[j];
    /* Once more the inverse: it damps the rounding of the vectors where delta is large. */
    last = ufs_dalloc(len, 1);
    ufs_copy(last, vectors, len);
    apply_inverse(s, c, last, vectors);
    la_krylov_orthonormalise(p, 0, NULL, 0, c, vectors, 0.0, false, last);
    vmaxset(mark);
}

static void dense(la_lowest *s, const double *delta, double *values, double *vectors,
                  la_eigs_info *info)
{
    size_t P = (size_t) s->p;
    ufs_copy(s->k, s->m, P * P);
    for (size_t j = 0; j < P; j++) s->k[j + j * P] += delta[j];
    info->lapack = la_eig_range(s->p, s->k, 1, s->c, values, vectors);
}

/* Just below min(delta), which is a lower bound of the spectrum; the closer, the better the
 * wanted eigenvalues are told apart. As M = B'B has rank r, the c lowest lie among the c + r
 * smallest entries of delta: a tenth of their spread, within limits. */
static double choose_shift(la_lowest *s, const double *delta)
{
    int last = s->c + s->r < s->p ? s->c + s->r - 1 : s->p - 1;
    double least = R_PosInf, step;
    ufs_copy(s->g, delta, (size_t) s->p);
    rPsort(s->g, s->p, last);
    for (int j = 0; j <= last; j++) least = fmin(least, s->g[j]);
    step = 0.1 * (s->g[last] - least);
    return least - fmin(1e-3 * least, fmax(1e-7 * least, step));
}

/* With the last vectors V and H = V'PV the lowest eigenvalue is not far below that of H, by the
 * size of PV - VH at most where V is good. A shift just below that tells the wanted ones apart
 * better than one below all of delta; whether it lies below the spectrum, the factor will tell.
 * Only where M is held: Woodbury's form needs delta - sigma > 0. */
static double warm_shift(la_lowest *s, const double *delta, double plain, const double *vectors)
{
    int p = s->p, c = s->c;
    size_t P = (size_t) p, C = (size_t) c;
    void *mark = vmaxget();
    double *image = ufs_dalloc(P, C), *h = ufs_dalloc(C, C), *copy = ufs_dalloc(C, C);
    double *y = ufs_dalloc(C, C), *theta = ufs_dalloc(C, 1), low, gap, sigma;

    la_gemm('N', 'N', p, c, p, 1.0, s->m, p, vectors, p, 0.0, image, p);
    for (size_t j = 0; j < C; j++)
        for (size_t i = 0; i < P; i++) image[i + j * P] += delta[i] * vectors[i + j * P];
    la_gemm('T', 'N', c, c, p, 1.0, vectors, p, image, p, 0.0, h, c);
    if (la_krylov_ritz(c, h, c, theta, y, copy)) {
        vmaxset(mark);
        return plain;
    }
    low = theta[0];
    gap = fmax(0.5 * (theta[c - 1] - low), 0.1 * (low - plain));
    la_gemm('N', 'N', p, c, c, -1.0, vectors, p, h, c, 1.0, image, p);
    sigma = low - gap - sqrt(la_ss(P * C, image));
    vmaxset(mark);
    return sigma > plain ? sigma : plain;
}

static int factor(la_lowest *s, const double *delta, double sigma)
{
    size_t P = (size_t) s->p, R = (size_t) s->r;
    if (s->m != NULL) {
        ufs_copy(s->k, s->m, P * P);
        for (size_t j = 0; j < P; j++) s->k[j + j * P] += delta[j] - sigma;
        return la_chol(s->p, s->k);
    }
    for (size_t j = 0; j < P; j++) {
        const double *b = s->b + (s->set != NULL ? (size_t) s->set[j] : j) * R;
        double root;
        s->g[j] = 1.0 / (delta[j] - sigma);
        root = sqrt(s->g[j]);
        for (size_t i = 0; i < R; i++) s->scaled[i + j * R] = b[i] * root;
    }
    la_gram('N', s->r, s->p, s->scaled, s->k);
    for (size_t i = 0; i < R; i++) s->k[i + i * R] += 1.0;
    return la_chol(s->r, s->k);
}

/* out = G^{1/2} v, p x count; out may be v. */
static void scale_rows(const la_lowest *s, int count, const double *v, double *out)
{
    size_t P = (size_t) s->p;
    for (size_t j = 0; j < (size_t) count; j++)
        for (size_t i = 0; i < P; i++) out[i + j * P] = sqrt(s->g[i]) * v[i + j * P];
}

/* out = (P - sigma I)^{-1} v, p x count. */
static void apply_inverse(const void *data, int count, const double *v, double *out)
{
    const la_lowest *s = data;
    int p = s->p, r = s->r;
    void *mark = vmaxget();
    double *small;

    if (s->m != NULL) {
        ufs_copy(out, v, (size_t) p * (size_t) count);
        la_chol_solve(p, count, s->k, out);
        return;
    }
    small = ufs_dalloc((size_t) r, (size_t) count);
    scale_rows(s, count, v, out);
    la_gemm('N', 'N', r, count, p, 1.0, s->scaled, r, out, p, 0.0, small, r);
    la_chol_solve(r, count, s->k, small);
    la_gemm('T', 'N', p, count, r, -1.0, s->scaled, r, small, r, 1.0, out, p);
    scale_rows(s, count, out, out);
    vmaxset(mark);
}
