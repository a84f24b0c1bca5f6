/* eig_lowest.c: the lowest eigenpairs of a matrix and a changing diagonal (see la.h). */
#include "eig.h"

/* Residuals that a badly scaled inverse may leave. */
static const double FLOOR = 1e-7;
/* The least and the largest distance of the shift from the smallest entry of delta, as a share of it. */
static const double NEAR = 1e-7, BELOW = 1e-3;

void eig_lowest_init(eig_lowest *s, int p, int c, int r, const double *m, const double *b)
{
    size_t P = (size_t) p, R = (size_t) r;

    *s = (eig_lowest){.p = p, .c = c, .r = r, .m = m, .b = b, .proof = true};
    s->k = ufs_dalloc(R, R);
    s->g = ufs_dalloc(P, 1);
    s->scaled = m != NULL ? NULL : ufs_dalloc(R, P);
}

/* Below all of delta by a tenth of the spread of its c + r smallest entries, among which the wanted
 * eigenvalues lie, as M has rank r. The closer the shift, the better it tells them apart. */
static double choose_shift(eig_lowest *s, const double *delta)
{
    int p = s->p, last = s->c + s->r < p ? s->c + s->r - 1 : p - 1;
    double least = R_PosInf, step;

    ufs_copy(s->g, delta, (size_t) p);
    rPsort(s->g, p, last);
    for (int j = 0; j <= last; j++) least = fmin(least, s->g[j]);
    if (least == 0.0) {
        /* Below 0 by a share of the smallest positive entry. */
        least = R_PosInf;
        for (int j = 0; j < p; j++)
            if (delta[j] > 0.0) least = fmin(least, delta[j]);
        return R_FINITE(least) ? -BELOW * least : -BELOW;
    }
    step = 0.1 * (s->g[last] - least);
    return least - fmin(BELOW * least, fmax(NEAR * least, step));
}

/* In k: P - sigma I, or I + B G B'. */
static void shifted(eig_lowest *s, const double *delta, double sigma)
{
    size_t P = (size_t) s->p, R = (size_t) s->r;
    if (s->m != NULL) {
        ufs_copy(s->k, s->m, P * P);
        for (size_t j = 0; j < P; j++) s->k[j + j * P] += delta[j] - sigma;
        return;
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
}

/* out = (P - sigma I)^{-1} v, p x count. */
static void apply_inverse(const void *data, int count, const double *v, double *out)
{
    const eig_lowest *s = data;
    int p = s->p, r = s->r;
    size_t P = (size_t) p, len = P * (size_t) count;
    void *mark = vmaxget();
    double *small;

    if (s->m != NULL) {
        ufs_copy(out, v, len);
        la_chol_solve(p, count, s->k, out);
        return;
    }
    small = ufs_dalloc((size_t) r, (size_t) count);
    for (size_t e = 0; e < len; e++) out[e] = sqrt(s->g[e % P]) * v[e];
    la_mul('N', 'N', r, count, p, 1.0, s->scaled, out, 0.0, small);
    la_chol_solve(r, count, s->k, small);
    la_mul('T', 'N', p, count, r, -1.0, s->scaled, small, 1.0, out);
    for (size_t e = 0; e < len; e++) out[e] *= sqrt(s->g[e % P]);
    vmaxset(mark);
}

void eig_lowest_solve(eig_lowest *s, const double *delta, bool warm, double tol, double *values,
                      double *vectors, eig_info *info)
{
    int p = s->p, c = s->c;
    bool dense = s->m != NULL && (p <= EIG_LOWEST_DENSE || p <= 8 * c);
    double sigma = dense ? 0.0 : choose_shift(s, delta);
    eig_problem inverse = {.n = p,
                           .k = c,
                           .apply = apply_inverse,
                           .data = s,
                           .n_start = warm ? c : 0,
                           .start = vectors,
                           .proof = s->proof,
                           .tol = tol,
                           .max_iter = 200};

    *info = (eig_info){.converged = true};
    shifted(s, delta, sigma);
    if (dense) {
        info->lapack = eig_range(p, s->k, 1, c, values, vectors);
        return;
    }
    info->lapack = la_chol(s->m != NULL ? p : s->r, s->k);
    if (info->lapack) return;
    eig_krylov(&inverse, values, vectors, info);
    info->converged = info->converged || info->residual <= FLOOR;
    for (int j = 0; j < c; j++) values[j] = sigma + 1.0 / values[j];
}
