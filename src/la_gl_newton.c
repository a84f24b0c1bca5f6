/* la_gl_newton.c: a Newton step on the rows of the working set that are not zero, where descent
 * by rows is slow (see la_gl.h). Half of (GL) there, with G = X_L'X_L (l x l) and N its rows'
 * norms, has the gradient -X_L'R + lambda/2 v_i/||v_i|| and the product with its Hessian
 *   H(D) = G D + lambda/2 (d_i - v_i v_i'd_i / ||v_i||^2) / ||v_i||,
 * solved for by conjugate gradients with the Cholesky factor of G + diag(lambda / (2 ||v_i||)).
 * l^3/3 flops, 4 l^2 c per step of those and 2 m l c for the change of the gradient; 2 l^2 + 10 l c
 * doubles for the time of the call. */
#include "la_gl.h"
#include <R_ext/Memory.h>

static const double CG_TOL = 1e-4;
enum { CG_STEPS = 40 };

typedef struct {
    int l, c;
    const double *gram, *factor; /* l x l */
    double *v, *half;            /* l x c rows V_L; l: lambda / (2 ||v_i||) */
    double *size;                /* l */
} newton;

static void apply(void *data, const double *d, double *out)
{
    const newton *a = data;
    size_t L = (size_t) a->l;

    la_gemm('N', 'N', a->l, a->c, a->l, 1.0, a->gram, a->l, d, a->l, 0.0, out, a->l);
    for (size_t i = 0; i < L; i++) {
        double along = 0.0, ss = a->size[i] * a->size[i];
        for (size_t k = 0; k < (size_t) a->c; k++) along += a->v[i + k * L] * d[i + k * L];
        along /= ss;
        for (size_t k = 0; k < (size_t) a->c; k++)
            out[i + k * L] += a->half[i] * (d[i + k * L] - along * a->v[i + k * L]);
    }
}

static void precondition(void *data, const double *r, double *z)
{
    const newton *a = data;
    ufs_copy(z, r, (size_t) a->l * (size_t) a->c);
    la_chol_solve(a->l, a->c, a->factor, z);
}

/* The Gram matrix, the rows and, in `right`, less half the gradient of the nonzero features. */
static void gather(const la_gl *w, int l, const int *nonzero, double lambda, newton *a,
                   double *gram, double *right)
{
    size_t L = (size_t) l, C = (size_t) w->c, M = (size_t) w->m, S = (size_t) w->cap;

    for (size_t i = 0; i < L; i++) {
        size_t at = (size_t) nonzero[i];
        a->size[i] = w->size[at];
        a->half[i] = lambda * la_gl_factor(w, w->set[at]) / (2.0 * a->size[i]);
        for (size_t j = 0; j < L; j++) gram[j + i * L] = w->gram[(size_t) nonzero[j] + at * S];
        for (size_t k = 0; k < C; k++) {
            double v = a->v[i + k * L] = w->vw[at * C + k];
            right[i + k * L] = w->grad[at + k * M] - a->half[i] * v;
        }
    }
}

/* V_L + d, if (GL) falls. */
static bool take_step(la_gl *w, double lambda, int l, const int *nonzero, const double *d)
{
    size_t L = (size_t) l, C = (size_t) w->c, M = (size_t) w->m;
    double *spread = ufs_dzero(M, C);

    for (size_t i = 0; i < L; i++)
        for (size_t k = 0; k < C; k++)
            w->step[la_gl_place(w, nonzero[i]) + k] = spread[(size_t) nonzero[i] + k * M] =
                d[i + k * L];
    la_gemm('N', 'N', w->m, w->c, w->m, -1.0, w->gram, w->cap, spread, w->m, 0.0, w->moved, w->m);
    return la_gl_step(w, lambda);
}

bool la_gl_newton(la_gl *w, double lambda)
{
    void *mark = vmaxget();
    int *nonzero = ufs_ialloc((size_t) w->m), l = 0;
    bool fell = false;

    for (int i = 0; i < w->m; i++)
        if (w->size[i] > 0.0) nonzero[l++] = i;
    if (l > 0) {
        size_t L = (size_t) l, len = L * (size_t) w->c;
        double *gram = ufs_dalloc(L, L), *factor = ufs_dalloc(L, L);
        double *right = ufs_dalloc(len, 1), *d = ufs_dzero(len, 1);
        newton a = {l, w->c, gram, factor, ufs_dalloc(len, 1), ufs_dalloc(L, 1), ufs_dalloc(L, 1)};
        la_cg_problem cg = {.n = (int) len,
                            .apply = apply,
                            .precondition = precondition,
                            .data = &a,
                            .tol = CG_TOL,
                            .natural = true,
                            .max_iter = CG_STEPS,
                            .work = ufs_dalloc(len, 4)};

        gather(w, l, nonzero, lambda, &a, gram, right);
        ufs_copy(factor, gram, L * L);
        for (size_t i = 0; i < L; i++) factor[i + i * L] += a.half[i];
        if (la_chol(l, factor) == 0) {
            la_cg(&cg, right, d);
            fell = take_step(w, lambda, l, nonzero, d);
        }
    }
    vmaxset(mark);
    return fell;
}
