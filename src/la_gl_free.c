/* la_gl_free.c: rows of la_gl.c that have no penalty (f_i = 0): columns that must be in. Given the
 * other rows they solve a least-squares problem, whose residual is orthogonal to their columns X_F.
 * So they are solved for together after each descent: then R is a dual point up to a factor.
 *
 * X_F coef = Q, orthonormal (n x rank), by Gram and Schmidt, twice. nF^2 flops for F rows, 4nFc for a
 * step; nF + F^2 doubles. A column that the others before it span gets no part of it. */
#include "la_gl.h"

/* Of a column's length, what must be left after those before it. */
static const double NEW = 1e-7;

/* The next column of the basis from column `at` of X_F; 0 if it is none. */
static int orthogonalise(la_gl *w, int at, double *column, double *coef)
{
    size_t N = (size_t) w->n, F = (size_t) w->n_free;
    double before = la_nrm2(w->n, column), left;

    memset(coef, 0, F * sizeof(double));
    coef[at] = 1.0;
    for (int pass = 0; pass < 2; pass++)
        for (int b = 0; b < w->rank; b++) {
            double along = la_dot(w->n, w->basis + (size_t) b * N, column);
            la_axpy(w->n, -along, w->basis + (size_t) b * N, column);
            la_axpy(w->n_free, -along, w->coef + (size_t) b * F, coef);
        }
    left = la_nrm2(w->n, column);
    if (!(left > NEW * before)) {
        memset(coef, 0, F * sizeof(double));
        return 0;
    }
    for (size_t i = 0; i < N; i++) column[i] /= left;
    for (size_t a = 0; a < F; a++) coef[a] /= left;
    return 1;
}

void la_gl_set_penalty(la_gl *w, const double *factor)
{
    size_t F;

    w->factor = factor;
    w->n_free = 0;
    for (int f = 0; f < w->p; f++) w->n_free += la_gl_is_free(w, f);
    if (w->n_free == 0) return;
    F = (size_t) w->n_free;
    w->free = ufs_ialloc(F);
    w->basis = ufs_dalloc((size_t) w->n, F);
    w->coef = ufs_dalloc(F, F);
    w->part = ufs_dalloc(F, (size_t) w->c);
    w->n_free = 0;
    for (int f = 0; f < w->p; f++)
        if (la_gl_is_free(w, f)) w->free[w->n_free++] = f;
    la_gl_free_basis(w);
}

void la_gl_free_basis(la_gl *w)
{
    size_t N = (size_t) w->n, F = (size_t) w->n_free;

    w->rank = 0;
    if (F == 0) return;
    memset(w->coef, 0, F * F * sizeof(double));
    for (int a = 0; a < w->n_free && w->rank < w->n; a++) {
        double *to = w->basis + (size_t) w->rank * N;
        const double *x = ufs_x_column(w->x, w->free[a], w->col);
        for (size_t i = 0; i < N; i++) to[i] = w->root ? w->root[i] * x[i] : x[i];
        w->rank += orthogonalise(w, a, to, w->coef + (size_t) w->rank * F);
    }
}

/* V_F += coef Q'R, so that Q'R = 0. */
void la_gl_free_step(la_gl *w)
{
    size_t C = (size_t) w->c, F = (size_t) w->n_free;

    if (w->rank == 0) return;
    la_gemm('T', 'N', w->rank, w->c, w->n, 1.0, w->basis, w->n, w->r, w->n, 0.0, w->part, w->rank);
    la_gemm('N', 'N', w->n, w->c, w->rank, 1.0, w->basis, w->n, w->part, w->rank, 1.0, w->xv, w->n);
    la_gemm('N', 'N', w->n, w->c, w->rank, -1.0, w->basis, w->n, w->part, w->rank, 1.0, w->r, w->n);
    for (size_t a = 0; a < F; a++) {
        int i = w->pos[w->free[a]];
        double ss = 0.0, *v;
        if (w->ss[w->free[a]] <= 0.0) continue;
        v = w->vw + la_gl_place(w, i);
        for (size_t k = 0; k < C; k++) {
            for (size_t b = 0; b < (size_t) w->rank; b++)
                v[k] += w->coef[a + b * F] * w->part[b + k * (size_t) w->rank];
            ss += v[k] * v[k];
        }
        w->size[i] = sqrt(ss);
    }
}

void la_gl_free_project(la_gl *w)
{
    if (w->rank == 0) return;
    la_gemm('T', 'N', w->rank, w->c, w->n, 1.0, w->basis, w->n, w->r, w->n, 0.0, w->part, w->rank);
    la_gemm('N', 'N', w->n, w->c, w->rank, -1.0, w->basis, w->n, w->part, w->rank, 1.0, w->r, w->n);
}
