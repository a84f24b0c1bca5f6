/* la_gl.c: exact row-sparse regression by working sets (see la_gl.h): the rounds, and what all
 * features take part in. la_gl_set.c has the working set and its Gram matrix, la_gl_descent.c
 * descent on it. */
#include "la_gl.h"
#include <R_ext/Utils.h>

void la_gl_set_rows(la_gl *w, const double *root)
{
    w->root = root;
    if (root && w->scaled == NULL) w->scaled = ufs_dalloc((size_t) w->n, (size_t) w->c);
    for (int i = w->m; i < w->g; i++) w->pos[w->set[i]] = -1;
    w->g = 0;
    if (root)
        ufs_x_weighted_ss(w->x, root, w->ss);
    else
        ufs_x_ss(w->x, w->ss);
    la_gl_free_basis(w);
}

void la_gl_init(la_gl *w, int c, const ufs_x *x, int slots)
{
    int p = x->p, cap = slots < p ? slots : p;
    size_t N = (size_t) x->n, P = (size_t) p, C = (size_t) c, S = (size_t) cap;

    *w = (la_gl){.x = x, .n = x->n, .p = p, .c = c, .cap = cap, .newton = true};
    ufs_dalloc_each(P, 1, (double **[]){&w->ss, &w->size, &w->key, NULL});
    ufs_ialloc_each(P, (int **[]){&w->set, &w->pos, &w->fresh, NULL});
    w->gram = ufs_dalloc(S, S);
    ufs_dalloc_each(S, C, (double **[]){&w->grad, &w->moved, NULL});
    ufs_dalloc_each(C, P, (double **[]){&w->vw, &w->u, NULL});
    ufs_dalloc_each(C, S, (double **[]){&w->before, &w->step, NULL});
    anderson_init(&w->history, c * cap, LA_GL_DEPTH - 1);
    ufs_dalloc_each(C, 1, (double **[]){&w->row, &w->diff, NULL});
    ufs_dalloc_each(N, C, (double **[]){&w->r, &w->xv, NULL});
    w->kkt = ufs_dzero(P, 1);
    w->col = ufs_dalloc(N, 1);
    w->other = ufs_dalloc(x->kind == UFS_X_DENSE ? 0 : N, 1);
    w->l21 = w->objective = w->dual = w->gap = R_NaN;
    for (int f = 0; f < p; f++) w->pos[f] = -1;
    la_gl_set_rows(w, NULL);
}

/* One read of the nonzero columns. */
static void fit_from_source(la_gl *w)
{
    size_t L = (size_t) la_gl_nonzero(w), k = 0;

    for (int i = 0; i < w->m; i++) {
        if (w->size[i] == 0.0) continue;
        for (size_t l = 0; l < (size_t) w->c; l++)
            w->moved[k + l * L] = w->vw[la_gl_place(w, i) + l];
        w->fresh[k++] = w->set[i];
    }
    if (L > 0)
        ufs_x_mul_some(w->x, (int) L, w->fresh, w->c, w->moved, w->xv);
    else
        memset(w->xv, 0, (size_t) w->n * (size_t) w->c * sizeof(double));
}

/* For many features one product is cheaper; V is spread out in the memory of u. */
static void fit_by_product(la_gl *w)
{
    size_t P = (size_t) w->p, C = (size_t) w->c;

    memset(w->u, 0, P * C * sizeof(double));
    for (int i = 0; i < w->m; i++)
        for (size_t k = 0; k < C; k++)
            w->u[(size_t) w->set[i] + k * P] = w->vw[la_gl_place(w, i) + k];
    ufs_x_mul(w->x, w->c, w->u, w->xv);
}

static void fit_by_columns(la_gl *w)
{
    size_t N = (size_t) w->n, C = (size_t) w->c;
    double *off = w->diff; /* of each column of XV, what centring takes off */

    memset(off, 0, C * sizeof(double));
    memset(w->xv, 0, N * C * sizeof(double));
    for (int i = 0; i < w->m; i++)
        for (size_t k = 0; k < C && w->size[i] > 0.0; k++)
            off[k] += ufs_x_axpy(w->x, w->set[i], w->vw[la_gl_place(w, i) + k], w->xv + k * N,
                                 w->col);
    for (size_t k = 0; k < C; k++)
        for (size_t i = 0; i < N; i++) w->xv[i + k * N] -= off[k];
}

/* r, from the product of X without weights in xv. */
static void take_fit(la_gl *w, const double *t)
{
    if (w->root) la_scale_rows(w->n, w->c, w->root, w->xv, w->xv);
    for (size_t i = 0; i < (size_t) w->n * (size_t) w->c; i++) w->r[i] = t[i] - w->xv[i];
}

/* xv = X V and r = T - X V from the nonzero rows. 2nc per nonzero row. */
static void residual(la_gl *w, const double *t)
{
    if (w->x->kind == UFS_X_SOURCE && la_gl_by_gram(w))
        fit_from_source(w);
    else if (w->x->kind == UFS_X_SOURCE || (w->x->kind != UFS_X_SPARSE && w->m > w->p / 4))
        fit_by_product(w);
    else
        fit_by_columns(w);
    take_fit(w, t);
    la_gl_free_step(w);
}

/* u = R'X, in this orientation so that X is read once, and kkt: that of rows without a penalty, which is
 * zero at the optimum, as a share of lambda. */
static void price(la_gl *w, double lambda)
{
    ufs_x_cross_rows(w->x, w->c, la_gl_weighted_residual(w), w->u);
    la_col_norms(w->c, w->p, w->u, w->kkt);
    for (int f = 0; f < w->p; f++)
        w->kkt[f] *= 2.0 / (la_gl_is_free(w, f) ? lambda : lambda * la_gl_factor(w, f));
    w->products++;
}

/* sum_i f_i ||v_i|| of the working set. */
static double weighted_norms(const la_gl *w)
{
    double sum = 0.0;

    if (w->factor == NULL) return la_l21(w->m, w->size, 0.0);
    for (int i = 0; i < w->m; i++) sum += w->factor[w->set[i]] * w->size[i];
    return sum;
}

/* Dual point theta = sR with the best feasible s: D = 2<T,theta> - ||theta||^2, ||2 x_i'theta|| <=
 * lambda f_i. R has nothing along the columns with f_i = 0. */
static void measure_gap(la_gl *w, const double *t)
{
    size_t len = (size_t) w->n * (size_t) w->c;
    double tr = 0.0, rr = la_ss(len, w->r), top = 0.0, s;

    for (size_t i = 0; i < len; i++) tr += t[i] * w->r[i];
    for (int f = 0; f < w->p; f++)
        if (!la_gl_is_free(w, f)) top = fmax(top, w->kkt[f]);
    s = rr > 0.0 ? fmax(tr / rr, 0.0) : 0.0;
    if (s * top > 1.0) s = 1.0 / top;
    w->dual = s * (2.0 * tr - s * rr);
    w->gap = w->objective - w->dual;
}

void la_gl_solve(la_gl *w, const double *t, double lambda, double vtol, bool full, double prune,
                 double *v)
{
    size_t P = (size_t) w->p, C = (size_t) w->c;
    double bound = vtol * sqrt(la_ss((size_t) w->n * C, t));

    la_gl_enter_support(w, v);
    w->settled = true;
    if (w->x->kind == UFS_X_SOURCE && la_gl_by_gram(w))
        ufs_copy(w->r, t, (size_t) w->n * C);
    else
        residual(w, t);
    for (int round = 0; round < LA_GL_SWEEPS; round++) {
        R_CheckUserInterrupt();
        w->settled = la_gl_descend(w, lambda, bound, round > 0);
        residual(w, t);
        if (!full) break;
        price(w, lambda);
        if (la_gl_enter_violators(w, vtol) == 0 && w->settled) break;
    }
    w->nonzero = la_gl_nonzero(w);
    w->l21 = weighted_norms(w);
    w->objective = la_ss((size_t) w->n * C, w->r) + lambda * w->l21;
    memset(v, 0, P * C * sizeof(double));
    for (int i = 0; i < w->m; i++)
        for (size_t k = 0; k < C; k++) v[(size_t) w->set[i] + k * P] = w->vw[la_gl_place(w, i) + k];
    if (full) {
        measure_gap(w, t);
        la_gl_prune(w, prune);
    }
}

void la_gl_certify(la_gl *w, const double *t, double lambda, const double *v)
{
    int n = w->n, p = w->p, c = w->c;
    size_t len = (size_t) n * (size_t) c;

    ufs_x_mul(w->x, c, v, w->xv);
    take_fit(w, t);
    la_row_norms(p, c, v, w->key);
    w->l21 = 0.0;
    w->nonzero = 0;
    for (int f = 0; f < p; f++) {
        if (w->key[f] > 0.0) w->l21 += la_gl_factor(w, f) * w->key[f];
        w->nonzero += w->key[f] > 0.0;
    }
    w->objective = la_ss(len, w->r) + lambda * w->l21;
    if (w->rank > 0) {
        /* The dual point of these rows, then R as it is. */
        la_gl_free_project(w);
        price(w, lambda);
        measure_gap(w, t);
        for (size_t i = 0; i < len; i++) w->r[i] = t[i] - w->xv[i];
        price(w, lambda);
        return;
    }
    price(w, lambda);
    measure_gap(w, t);
}

double la_gl_violation(const la_gl *w, double lambda, double eps, const double *v)
{
    size_t P = (size_t) w->p, C = (size_t) w->c;
    double worst = 0.0;

    for (size_t i = 0; i < P; i++) {
        double ss = 0.0, off = 0.0, norm, own = lambda * la_gl_factor(w, (int) i);
        if (!R_FINITE(own)) continue;
        for (size_t k = 0; k < C; k++) ss += v[i + k * P] * v[i + k * P];
        norm = sqrt(ss + eps);
        if (own == 0.0) {
            worst = fmax(worst, w->kkt[i]);
            continue;
        }
        if (norm == 0.0) {
            worst = fmax(worst, w->kkt[i] - 1.0);
            continue;
        }
        for (size_t k = 0; k < C; k++) {
            double d = 2.0 * w->u[k + i * C] / own - v[i + k * P] / norm;
            off += d * d;
        }
        worst = fmax(worst, sqrt(off));
    }
    return worst;
}
