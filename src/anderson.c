/* anderson.c: see anderson.h; the small least squares problem by Gram-Schmidt with
 * differences that add nothing left out. */
#include "anderson.h"
#include "la.h"

void anderson_init(anderson *a, int size, int depth)
{
    size_t N = (size_t) size, M = (size_t) depth;
    a->size = size;
    a->depth = depth;
    ufs_dalloc_each(N, M, (double **[]){&a->df, &a->dr, &a->basis, NULL});
    ufs_dalloc_each(N, 1, (double **[]){&a->last_f, &a->last_r, &a->target, NULL});
    a->coef = ufs_dalloc(M, 1);
    a->upper = ufs_dalloc(M, M);
    anderson_reset(a);
}

void anderson_reset(anderson *a)
{
    anderson_keep_last(a);
    a->has_last = false;
}

void anderson_keep_last(anderson *a)
{
    a->count = 0;
    a->at = 0;
}

bool anderson_mix(anderson *a, const double *weight, double *next)
{
    int size = a->size, m = a->count, depth = a->depth;

    if (m == 0) return false;
    /* coef = argmin || weight o (r - dr coef) ||, 0 for a difference that depends on others. */
    for (int i = 0; i < size; i++) a->target[i] = weight ? weight[i] * a->last_r[i] : a->last_r[i];
    for (int j = 0; j < m; j++) {
        double *q = a->basis + (size_t) j * (size_t) size, *upper = a->upper + j * depth;
        const double *dr = a->dr + (size_t) j * (size_t) size;
        double before, norm;
        for (int i = 0; i < size; i++) q[i] = weight ? weight[i] * dr[i] : dr[i];
        before = la_nrm2(size, q);
        for (int l = 0; l < j; l++) {
            const double *done = a->basis + (size_t) l * (size_t) size;
            upper[l] = la_dot(size, done, q);
            la_axpy(size, -upper[l], done, q);
        }
        norm = la_nrm2(size, q);
        upper[j] = norm > 1e-10 * before ? norm : R_PosInf;
        for (int i = 0; i < size; i++) q[i] /= upper[j];
        a->coef[j] = la_dot(size, q, a->target);
    }
    for (int j = m - 1; j >= 0; j--) {
        const double *upper = a->upper + j * depth;
        a->coef[j] /= upper[j];
        for (int l = 0; l < j; l++) a->coef[l] -= upper[l] * a->coef[j];
    }
    ufs_copy(next, a->last_f, (size_t) size);
    for (int j = 0; j < m; j++)
        la_axpy(size, -a->coef[j], a->df + (size_t) j * (size_t) size, next);
    return true;
}

void anderson_push(anderson *a, const double *u, const double *f)
{
    size_t at = (size_t) a->at * (size_t) a->size;
    bool differs = a->has_last && a->depth > 0;

    for (int i = 0; i < a->size; i++) {
        double r = f[i] - u[i];
        if (differs) {
            a->df[at + (size_t) i] = f[i] - a->last_f[i];
            a->dr[at + (size_t) i] = r - a->last_r[i];
        }
        a->last_f[i] = f[i];
        a->last_r[i] = r;
    }
    if (differs) {
        a->at = (a->at + 1) % a->depth;
        a->count += a->count < a->depth;
    }
    a->has_last = true;
}
