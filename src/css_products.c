/* css_products.c: column subset selection by products with a sparse x alone: the x-form of css_solve.c. */
#include "css_work.h"
#include "x_sparse.h"

/* f_j = ||x'x_j||^2, from the parts of x'x. */
static void add_squares(void *data, const ufs_x_gram_part *part)
{
    double *f = data;

    for (int a = 0; a < part->n_left; a++) {
        const double *value = part->value + (size_t) a * part->by_left;
        double sum = 0.0;
        for (size_t b = 0; b < (size_t) part->n_right; b++)
            sum += value[b * part->by_right] * value[b * part->by_right];
        f[part->left[a]] += sum;
    }
}

/* Y'x, of the scores: the loadings have no digits of columns of another scale. */
static int set_target(css_work *work)
{
    int r = work->settings->target;
    size_t P = (size_t) work->p, R = (size_t) r;
    double *scores = ufs_dalloc((size_t) work->n, R), *by = ufs_dalloc(P, R);
    ufs_x_pca_info info;

    work->component = ufs_dalloc(R, 1);
    ufs_dalloc_each(R, P, (double **[]){&work->target, &work->rest, NULL});
    ufs_x_pca(work->problem->x, r, 1e-10, scores, by, work->component, &info);
    if (info.lapack) return info.lapack;
    work->n_target = r;
    work->total = 0.0;
    for (size_t t = 0; t < R; t++) work->total += work->component[t];
    ufs_x_cross(work->problem->x, r, scores, by);
    la_transpose(work->p, r, by, work->target);
    return 0;
}

static int begin(css_work *work)
{
    size_t N = (size_t) work->n, P = (size_t) work->p, K = (size_t) work->settings->k;
    size_t Q = (size_t) work->settings->target;
    int info = 0;

    work->pair = ufs_dalloc(N, 2);
    work->w = ufs_dalloc(P, K);
    work->tile = CSS_TRIES;
    work->y = ufs_dalloc(N, CSS_TRIES);
    work->z = ufs_dalloc(P, CSS_TRIES);
    work->s = ufs_dalloc(K, CSS_TRIES);
    work->list = ufs_ialloc(CSS_TRIES);
    if (Q > 0) info = set_target(work);
    for (size_t j = 0; j < P && info == 0; j++)
        work->f_first[j] = Q > 0 ? la_ss(Q, work->target + j * Q) : 0.0;
    if (Q == 0) x_sparse_gram(work->problem->x, add_squares, work->f_first);
    return info;
}

static void clear(css_work *work)
{
    if (work->rest) ufs_copy(work->rest, work->target, (size_t) work->p * (size_t) work->n_target);
}

static void measure(css_work *work)
{
    int p = work->p, m = work->n_basis, n_list = work->n_list;
    size_t P = (size_t) p, M = (size_t) m;

    ufs_x_columns(work->problem->x, n_list, work->list, work->y);
    ufs_x_cross(work->problem->x, n_list, work->y, work->z);
    for (size_t b = 0; b < (size_t) n_list; b++)
        for (size_t l = 0; l < M; l++) work->s[l + b * M] = work->w[(size_t) work->list[b] + l * P];
    if (m > 0) la_mul('N', 'N', p, n_list, m, -1.0, work->w, work->s, 1.0, work->z);
    for (size_t b = 0; b < (size_t) n_list; b++) {
        int j = work->list[b];
        work->d[j] = work->d0[j] = work->z[(size_t) j + b * P];
        if (!work->rest) work->f[j] = work->f0[j] = la_ss(P, work->z + b * P);
    }
}

static void take(css_work *work, int j)
{
    int p = work->p, m = work->n_basis;
    size_t P = (size_t) p;
    const ufs_x *x = work->problem->x;
    double *w = work->w + (size_t) m * P, *v = work->pass, left, by, size;

    ufs_x_cross(x, 1, ufs_x_column(x, j, work->pair), w);
    for (size_t l = 0; l < (size_t) m; l++) work->s[l] = work->w[(size_t) j + l * P];
    if (m > 0) la_gemv('N', p, m, -1.0, work->w, p, work->s, 1.0, w);
    left = w[j];
    if (work->mu == 0.0 && left <= UFS_TIE * work->norm2[j]) return;
    by = sqrt(fmax(left, 0.0) + work->mu);
    for (size_t i = 0; i < P; i++) w[i] /= by;
    for (size_t i = 0; i < P; i++) work->d[i] -= w[i] * w[i];
    work->member[work->n_basis++] = j;
    if (work->rest) {
        size_t Q = (size_t) work->n_target;
        for (size_t t = 0; t < Q; t++) v[t] = work->rest[(size_t) j * Q + t] / by;
        for (size_t i = 0; i < P; i++) la_axpy(work->n_target, -w[i], v, work->rest + i * Q);
        for (size_t i = 0; i < P; i++) work->f[i] = work->f0[i] = la_ss(Q, work->rest + i * Q);
        css_renew(work, measure);
        return;
    }
    ufs_x_mul(x, 1, w, work->pair);
    ufs_x_cross(x, 1, work->pair, v);
    if (m > 0) {
        la_gemv('T', p, m, 1.0, work->w, p, w, 0.0, work->s);
        la_gemv('N', p, m, -1.0, work->w, p, work->s, 1.0, v);
    }
    size = la_ss(P, w);
    for (size_t i = 0; i < P; i++) work->f[i] += w[i] * (size * w[i] - 2.0 * v[i]);
    css_renew(work, measure);
}

const css_form css_by_products = {begin, clear, take, css_cross, NULL, NULL, NULL};
