/* la_gl_descent.c: block coordinate descent on the working set of la_gl.c, in Gram form (gradient
 * X_W'R, m x c) or residual form (R, n x c), with extrapolation. */
#include "la_gl.h"

/* Column f of X as the problem has it. */
static const double *weighted_column(const la_gl *w, int f)
{
    const double *x = ufs_x_column(w->x, f, w->col);
    if (w->root == NULL) return x;
    for (int i = 0; i < w->n; i++) w->col[i] = w->root[i] * x[i];
    return w->col;
}

/* out -= G_i d' (m x c) in Gram form, x_i d' (n x c) in residual form. */
static void change_gradient(la_gl *w, bool by_gram, int i, const double *d, double *out)
{
    if (by_gram)
        la_rank_one(w->m, w->c, -1.0, w->gram + (size_t) i * (size_t) w->cap, d, out);
    else
        la_rank_one(w->n, w->c, -1.0, weighted_column(w, w->set[i]), d, out);
}

/* row = x_f'r, x_f without weights (r has them); total: the sums of r's columns. */
static void products(la_gl *w, int f, const double *r, const double *total)
{
    if (w->x->kind == UFS_X_SPARSE) {
        for (int k = 0; k < w->c; k++)
            w->row[k] = ufs_x_dot(w->x, f, r + (size_t) k * (size_t) w->n, total[k], NULL);
        return;
    }
    la_gemv('T', w->n, w->c, 1.0, r, w->n, ufs_x_column(w->x, f, w->col), 0.0, w->row);
}

/* Missing Gram columns, and grad = X_W' R. */
static void start_gradient(la_gl *w, bool priced)
{
    int m = w->m, c = w->c;
    const double *r;

    la_gl_gram_missing(w);
    r = priced ? NULL : la_gl_weighted_residual(w);
    if (!priced && m > 0 && w->x->kind == UFS_X_SOURCE) {
        /* r is T still. */
        ufs_x_cross_some(w->x, m, w->set, c, r, w->grad);
        for (int i = 0; i < m; i++)
            if (w->size[i] > 0.0) change_gradient(w, true, i, w->vw + la_gl_place(w, i), w->grad);
        return;
    }
    if (!priced)
        for (int k = 0; k < c; k++) {
            w->diff[k] = 0.0;
            for (size_t i = 0; i < (size_t) w->n; i++)
                w->diff[k] += r[i + (size_t) k * (size_t) w->n];
        }
    for (int i = 0; i < m; i++) {
        const double *from = w->u + la_gl_place(w, w->set[i]);
        if (!priced) {
            products(w, w->set[i], r, w->diff);
            from = w->row;
        }
        for (int k = 0; k < c; k++) w->grad[(size_t) i + (size_t) k * (size_t) m] = from[k];
    }
}

/* Exact minimiser over one row, x_i'R given in row; diff is the change. Returns
 * false if there is none. */
static bool block_step(la_gl *w, double lambda, double l, double *v, double *size)
{
    int c = w->c;
    bool moved = false;
    double ss = 0.0, norm, shrink;

    if (l <= 0.0) return false;
    if (*size > 0.0)
        for (int k = 0; k < c; k++) w->row[k] += l * v[k];
    for (int k = 0; k < c; k++) ss += w->row[k] * w->row[k];
    norm = sqrt(ss);
    shrink = 2.0 * norm <= lambda ? 0.0 : (1.0 - lambda / (2.0 * norm)) / l;
    if (shrink == 0.0 && *size == 0.0) return false;
    for (int k = 0; k < c; k++) {
        double to = shrink * w->row[k];
        w->diff[k] = to - v[k];
        moved = moved || w->diff[k] != 0.0;
        v[k] = to;
    }
    *size = shrink * norm;
    return moved;
}

/* One pass over the working set; the largest ||dv_i|| ||x_i||. */
static double sweep(la_gl *w, double lambda, bool by_gram)
{
    int m = w->m, c = w->c;
    double largest = 0.0;

    for (int i = 0; i < m; i++) {
        double l = w->ss[w->set[i]], ss = 0.0;
        if (by_gram)
            for (int k = 0; k < c; k++) w->row[k] = w->grad[(size_t) i + (size_t) k * (size_t) m];
        else
            la_gemv('T', w->n, c, 1.0, w->r, w->n, weighted_column(w, w->set[i]), 0.0, w->row);
        if (!block_step(w, lambda * la_gl_factor(w, w->set[i]), l, w->vw + la_gl_place(w, i),
                        w->size + i))
            continue;
        for (int k = 0; k < c; k++) ss += w->diff[k] * w->diff[k];
        largest = fmax(largest, sqrt(ss * l));
        change_gradient(w, by_gram, i, w->diff, by_gram ? w->grad : w->r);
    }
    w->sweeps++;
    return largest;
}

/* Whether the sweeps that remain at the rate of the last ones, from steps of `first` to `last`,
 * are dearer than a Newton step with 40 conjugate gradients; products of whole matrices
 * are twice as fast. */
static bool newton_pays(const la_gl *w, double first, double last, double bound)
{
    double l = la_gl_nonzero(w), rate = log(first / last) / (LA_GL_DEPTH - 1), remaining;

    remaining = rate > 0.0 ? log(last / bound) / rate : LA_GL_SWEEPS;
    return remaining * 2.0 * w->m * l * w->c > (l * l * l / 3.0 + 160.0 * l * l * w->c) / 2.0;
}

/* Anderson extrapolation of the last sweeps. Rows that are zero stay zero, so exact zeros survive. */
static void extrapolate(la_gl *w, double lambda)
{
    int m = w->m, c = w->c;

    if (!anderson_mix(&w->history, NULL, w->step)) return;
    memset(w->moved, 0, (size_t) m * (size_t) c * sizeof(double));
    for (int i = 0; i < m; i++) {
        double *step = w->step + la_gl_place(w, i);
        la_axpy(c, -1.0, w->vw + la_gl_place(w, i), step);
        if (w->size[i] > 0.0) change_gradient(w, true, i, step, w->moved);
    }
    la_gl_step(w, lambda);
}

bool la_gl_descend(la_gl *w, double lambda, double bound, bool priced)
{
    bool by_gram = la_gl_by_gram(w), newton = w->newton, settled = w->m == 0;
    double largest = 0.0, first = 0.0;

    if (by_gram) {
        start_gradient(w, priced);
        anderson_reset(&w->history);
        w->history.size = w->c * w->m;
    } else {
        ufs_x_prefetch(w->x, w->m, w->set);
    }
    for (int s = 1; s <= LA_GL_SWEEPS && !settled; s++) {
        if (by_gram) ufs_copy(w->before, w->vw, (size_t) w->c * (size_t) w->m);
        largest = sweep(w, lambda, by_gram);
        if (s == 1) bound = fmax(bound, w->share * largest);
        settled = !(largest > bound);
        if (settled || !by_gram) continue;
        anderson_push(&w->history, w->before, w->vw);
        if (s % LA_GL_DEPTH == 1) first = largest;
        if (s % LA_GL_DEPTH != 0) continue;
        /* The rate of the first sweeps says little. */
        if (s > 2 * LA_GL_DEPTH && newton)
            newton = newton_pays(w, first, largest, bound) && la_gl_newton(w, lambda);
        if (s <= 2 * LA_GL_DEPTH || !newton) extrapolate(w, lambda);
        anderson_reset(&w->history);
    }
    return settled;
}
