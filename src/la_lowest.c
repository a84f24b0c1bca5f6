/* la_lowest.c: see la_lowest.h. */
#include "la_lowest.h"
#include "la.h"
#include "la_krylov.h"
#include <R_ext/Utils.h>
#include <R_ext/Memory.h>

/* Residuals that a badly scaled inverse may leave. */
static const double FLOOR = 1e-7;

static void dense(la_lowest *s, const double *delta, double *values, double *vectors,
                  la_lowest_info *info);
static int first_basis(la_lowest *s, bool warm, const double *vectors);
static double choose_shift(la_lowest *s, const double *delta);
static double warm_shift(la_lowest *s, const double *delta, double plain, const double *vectors);
static int factor(la_lowest *s, const double *delta, double sigma);
static void apply_inverse(la_lowest *s, int count, const double *v, double *out);
static void append(la_lowest *s, int *size, int added);
static void project(la_lowest *s, int before, int size);
static double residuals(la_lowest *s, int size, double tol);
static void restart(la_lowest *s, int *size);
static void finish(la_lowest *s, int size, double sigma, double *values, double *vectors);

void la_lowest_init(la_lowest *s, int p, int c, int r, const double *m, const double *b)
{
    size_t P = (size_t) p, C = (size_t) c, R = (size_t) r, most;

    s->p = p;
    s->c = c;
    s->r = r;
    s->m = m;
    s->b = b;
    s->set = NULL;
    s->most = 3 * c + 24 < p ? 3 * c + 24 : p;
    most = (size_t) s->most;
    s->k = m != NULL ? ufs_dalloc(P, P) : ufs_dalloc(R, R);
    s->h = ufs_dalloc(most, most);
    s->y = ufs_dalloc(most, most);
    s->copy = ufs_dalloc(most, most);
    s->theta = ufs_dalloc(most, 1);
    s->dot = ufs_dalloc(most > LA_KRYLOV_ROWS ? most : LA_KRYLOV_ROWS, most);
    if (m != NULL && p <= LA_LOWEST_DENSE) return;
    s->g = ufs_dalloc(P, 1);
    s->scaled = m != NULL ? NULL : ufs_dalloc(R, P);
    s->small = m != NULL ? NULL : ufs_dalloc(R, C);
    s->basis = ufs_dalloc(P, most);
    s->image = ufs_dalloc(P, most);
    s->ritz = ufs_dalloc(P, C);
    s->ritz_image = ufs_dalloc(P, C);
    s->open = (bool *) R_alloc(C, sizeof(bool));
}

void la_lowest_set(la_lowest *s, int p, int r, const double *m, const double *b, const int *set)
{
    s->p = p;
    s->r = r;
    s->m = m;
    s->b = b;
    s->set = set;
    s->most = 3 * s->c + 24 < p ? 3 * s->c + 24 : p;
}

void la_lowest_solve(la_lowest *s, const double *delta, bool warm, double tol, double *values,
                     double *vectors, la_lowest_info *info)
{
    size_t P = (size_t) s->p;
    double sigma, plain, best = R_PosInf;
    bool stuck;
    int best_at = 0, size, limit = 200 * (s->c + 5), added;

    info->applied = 0;
    info->residual = 0.0;
    info->converged = true;
    if (s->m != NULL && (s->p <= LA_LOWEST_DENSE || s->p <= 8 * s->c)) {
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

    size = first_basis(s, warm, vectors);
    info->applied = size;

    for (;;) {
        int before = size;
        R_CheckUserInterrupt();
        /* The wanted ones are the last c. */
        info->lapack = la_krylov_ritz(size, s->h, s->most, s->theta, s->y, s->copy);
        if (info->lapack) return;
        info->residual = residuals(s, size, tol);
        info->converged = info->residual <= fmax(tol, FLOOR);
        if (info->residual < best / 2.0) {
            best = info->residual;
            best_at = info->applied;
        }
        /* Small, and no better for a while: that is the rounding of the inverse. */
        stuck = info->converged && info->applied > best_at + 2 * s->most;
        if (info->residual <= tol || stuck || info->applied >= limit) break;
        if (size + s->c > s->most) {
            restart(s, &size);
            before = size;
        }
        added = 0;
        for (int j = 0; j < s->c && size + added < s->most; j++)
            if (s->open[j])
                ufs_copy(s->basis + (size_t) (size + added++) * P, s->ritz_image + (size_t) j * P,
                         P);
        append(s, &size, added);
        if (size == before) {
            /* The basis spans an invariant space: nothing better can be found from here. */
            info->converged = true;
            break;
        }
        apply_inverse(s, size - before, s->basis + (size_t) before * P,
                      s->image + (size_t) before * P);
        project(s, before, size);
        info->applied += size - before;
    }
    finish(s, size, sigma, values, vectors);
}

/* The guesses, and vectors that nothing in the data is orthogonal to by design; their number. */
static int first_basis(la_lowest *s, bool warm, const double *vectors)
{
    size_t P = (size_t) s->p;
    int size = 0, extra = warm ? 1 : 3, first;

    first = s->c + extra < s->most ? s->c + extra : s->most;
    if (warm) ufs_copy(s->basis, vectors, P * (size_t) s->c);
    for (int j = warm ? s->c : 0; j < first; j++)
        la_krylov_noise(s->p, j, s->basis + (size_t) j * P);
    append(s, &size, first);
    for (int j = 0; size < s->c; j++) {
        memset(s->basis + (size_t) size * P, 0, P * sizeof(double));
        s->basis[(size_t) size * P + (size_t) j] = 1.0;
        append(s, &size, 1);
    }
    apply_inverse(s, size, s->basis, s->image);
    project(s, 0, size);
    return size;
}

static void dense(la_lowest *s, const double *delta, double *values, double *vectors,
                  la_lowest_info *info)
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
    size_t P = (size_t) p;
    double *image = s->image, low, gap, sigma;

    la_gemm('N', 'N', p, c, p, 1.0, s->m, p, vectors, p, 0.0, image, p);
    for (size_t j = 0; j < (size_t) c; j++)
        for (size_t i = 0; i < P; i++) image[i + j * P] += delta[i] * vectors[i + j * P];
    la_gemm('T', 'N', c, c, p, 1.0, vectors, p, image, p, 0.0, s->h, s->most);
    if (la_krylov_ritz(c, s->h, s->most, s->theta, s->y, s->copy)) return plain;
    low = s->theta[0];
    gap = fmax(0.5 * (s->theta[c - 1] - low), 0.1 * (low - plain));
    la_gemm('N', 'N', p, c, c, -1.0, vectors, p, s->h, s->most, 1.0, image, p);
    sigma = low - gap - sqrt(la_ss(P * (size_t) c, image));
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

/* out = (P - sigma I)^{-1} v, p x count. */
static void apply_inverse(la_lowest *s, int count, const double *v, double *out)
{
    int p = s->p, r = s->r;
    size_t P = (size_t) p;
    if (s->m != NULL) {
        ufs_copy(out, v, P * (size_t) count);
        la_chol_solve(p, count, s->k, out);
        return;
    }
    for (int from = 0; from < count; from += s->c) {
        int part = count - from < s->c ? count - from : s->c;
        const double *in = v + (size_t) from * P;
        double *to = out + (size_t) from * P;
        for (size_t j = 0; j < (size_t) part; j++)
            for (size_t i = 0; i < P; i++) to[i + j * P] = sqrt(s->g[i]) * in[i + j * P];
        la_gemm('N', 'N', r, part, p, 1.0, s->scaled, r, to, p, 0.0, s->small, r);
        la_chol_solve(r, part, s->k, s->small);
        la_gemm('T', 'N', p, part, r, -1.0, s->scaled, r, s->small, r, 1.0, to, p);
        for (size_t j = 0; j < (size_t) part; j++)
            for (size_t i = 0; i < P; i++) to[i + j * P] *= sqrt(s->g[i]);
    }
}

/* Of the `added` columns behind the basis, what lies outside of it; noise is no direction. */
static void append(la_lowest *s, int *size, int added)
{
    *size += la_krylov_orthonormalise(s->p, 0, NULL, *size, added, s->basis, 1e-12, s->dot);
}

/* Columns before..size-1 of H = V'(P - sigma I)^{-1} V (upper triangle). */
static void project(la_lowest *s, int before, int size)
{
    la_gemm('T', 'N', size, size - before, s->p, 1.0, s->basis, s->p,
            s->image + (size_t) before * (size_t) s->p, s->p, 0.0,
            s->h + (size_t) before * (size_t) s->most, s->most);
}

/* Ritz vectors (ascending theta) and, in place of their images, the residuals. */
static double residuals(la_lowest *s, int size, double tol)
{
    int p = s->p, c = s->c;
    size_t P = (size_t) p;
    const double *y = s->y + (size_t) (size - c) * (size_t) size;
    double worst = 0.0, top = s->theta[size - 1];

    la_gemm('N', 'N', p, c, size, 1.0, s->basis, p, y, size, 0.0, s->ritz, p);
    la_gemm('N', 'N', p, c, size, 1.0, s->image, p, y, size, 0.0, s->ritz_image, p);
    for (size_t j = 0; j < (size_t) c; j++) {
        double theta = s->theta[(size_t) (size - c) + j], norm;
        for (size_t i = 0; i < P; i++) s->ritz_image[i + j * P] -= theta * s->ritz[i + j * P];
        norm = la_nrm2(p, s->ritz_image + j * P) / top;
        s->open[j] = !(norm <= tol);
        worst = fmax(worst, norm);
    }
    return worst;
}

/* Keeps the best Ritz vectors: the wanted ones and as many that come next, best last. */
static void restart(la_lowest *s, int *size)
{
    int p = s->p, keep = 2 * s->c + 8 < *size ? 2 * s->c + 8 : *size;
    const double *y = s->y + (size_t) (*size - keep) * (size_t) *size;
    la_krylov_rotate(p, *size, keep, s->basis, y, s->dot);
    la_krylov_rotate(p, *size, keep, s->image, y, s->dot);
    for (int j = 0; j < keep; j++)
        for (int i = 0; i <= j; i++)
            s->h[i + j * s->most] = i == j ? s->theta[*size - keep + j] : 0.0;
    *size = keep;
}

/* values = sigma + 1 / theta, ascending. The vectors get one more application of the inverse,
 * which is at hand (theta ritz + residual): it damps their rounding where delta is large. */
static void finish(la_lowest *s, int size, double sigma, double *values, double *vectors)
{
    int p = s->p, c = s->c;
    size_t P = (size_t) p;

    for (int j = 0; j < c; j++) {
        double theta = s->theta[size - 1 - j], *to = vectors + (size_t) j * P;
        const double *ritz = s->ritz + (size_t) (c - 1 - j) * P;
        const double *rest = s->ritz_image + (size_t) (c - 1 - j) * P;
        values[j] = sigma + 1.0 / theta;
        for (size_t i = 0; i < P; i++) to[i] = theta * ritz[i] + rest[i];
        for (int pass = 0; pass < 2; pass++) {
            double norm;
            for (int l = 0; l < j; l++) {
                const double *done = vectors + (size_t) l * P;
                la_axpy(p, -la_dot(p, done, to), done, to);
            }
            norm = la_nrm2(p, to);
            for (size_t i = 0; i < P; i++) to[i] /= norm;
        }
    }
}
