/* x_pca.c: leading principal components of an operator (see x_ops.h).
 *
 * r = min(n, p). By Gram matrix: its cost, then either LAPACK (4r^3/3) or Lanczos on it
 * (2 r^2 per product). By products: 4 nnz each, about 3k + 40 of them. Memory r^2, or
 * r (2k + 48); then n x k and p x k for the answer. */
#include "la_lanczos.h"
#include "x_ops.h"
#include <R_ext/Memory.h>

enum { SMALL = 400, GRAM_MOST = 6000 };
static const double TOL = 1e-11;

static bool by_gram(const ufs_x *x, int k);
static int gram_pairs(const ufs_x *x, int k, double *w, double *z, ufs_x_pca_info *info);
static int product_pairs(const ufs_x *x, int k, double *w, double *z, ufs_x_pca_info *info);
static void apply_rows(const void *data, int m, const double *t, double *y);
static void apply_cols(const void *data, int m, const double *t, double *y);
static void apply_dense(const void *data, int m, const double *t, double *y);
static void copy_info(const la_lanczos_info *from, ufs_x_pca_info *info);

void ufs_x_pca(const ufs_x *x, int k, double *scores, double *loadings, double *d2,
               ufs_x_pca_info *info)
{
    int n = x->n, p = x->p;
    bool rows = n <= p;
    void *mark = vmaxget();

    info->products = 0;
    info->residual = 0.0;
    info->converged = true;
    info->lapack = by_gram(x, k) ? gram_pairs(x, k, d2, rows ? scores : loadings, info)
                                 : product_pairs(x, k, d2, rows ? scores : loadings, info);
    vmaxset(mark);
    if (info->lapack) return;
    for (int j = 0; j < k; j++) d2[j] = d2[j] > 0.0 ? d2[j] : 0.0;
    /* A Gram matrix carries no smaller eigenvalue than its rounding. */
    double tiny = d2[0] * DBL_EPSILON * (double) (n > p ? n : p);
    if (loadings == NULL) {
        la_fix_signs(n, k, scores);
        for (int j = 0; j < k; j++) {
            double size = d2[j] > tiny ? sqrt(d2[j]) : 0.0;
            for (size_t i = 0; i < (size_t) n; i++) scores[i + (size_t) j * (size_t) n] *= size;
        }
        return;
    }
    if (rows) ufs_x_cross(x, k, scores, loadings);
    for (int j = 0; j < k; j++) {
        double *load = loadings + (size_t) j * (size_t) p, norm = la_nrm2(p, load);
        if (d2[j] <= tiny || norm == 0.0)
            memset(load, 0, (size_t) p * sizeof(double));
        else
            for (int i = 0; i < p; i++) load[i] /= norm;
    }
    la_fix_signs(p, k, loadings);
    ufs_x_mul(x, k, loadings, scores);
}

static bool by_gram(const ufs_x *x, int k)
{
    double n = x->n, p = x->p, r = n < p ? n : p, products = 3.0 * k + 40.0;
    double gram, direct = 4.0 * ufs_x_entries(x) * products;

    if (r <= SMALL || r < 2.0 * la_lanczos_basis(k)) return true;
    if (r > GRAM_MOST) return false;
    gram = n <= p                    ? ufs_x_gram_rows_cost(x)
           : x->kind == UFS_X_SPARSE ? p * ufs_x_entries(x)
                                     : n * p * p;
    /* Scattered additions of a sparse Gram matrix are about four times as slow. */
    if (x->kind == UFS_X_SPARSE) gram *= 4.0;
    if (x->kind == UFS_X_SOURCE) return true; /* one pass over the file */
    return gram + 2.0 * r * r * products < direct;
}

typedef struct {
    int n;
    const double *a;
} dense_operator;

static int gram_pairs(const ufs_x *x, int k, double *w, double *z, ufs_x_pca_info *info)
{
    int r = x->n <= x->p ? x->n : x->p, lapack;
    size_t R = (size_t) r;
    double *gram = ufs_dalloc(R, R);

    if (x->n <= x->p)
        ufs_x_gram_rows(x, NULL, gram);
    else
        ufs_x_gram_cols(x, gram);
    if (r > SMALL && r >= 2 * la_lanczos_basis(k)) {
        dense_operator data = {r, gram};
        la_lanczos_problem problem = {r, k, apply_dense, &data, TOL, 100 * (k + 10)};
        la_lanczos_info found;
        la_lanczos(&problem, w, z, &found);
        copy_info(&found, info);
        info->products = 0;
        return found.lapack;
    }
    double *value = ufs_dalloc((size_t) k, 1), *vector = ufs_dalloc(R, (size_t) k);
    lapack = la_eig_range(r, gram, r - k + 1, r, value, vector);
    if (lapack) return lapack;
    for (int j = 0; j < k; j++) {
        w[j] = value[k - 1 - j];
        ufs_copy(z + (size_t) j * R, vector + (size_t) (k - 1 - j) * R, R);
    }
    return 0;
}

static int product_pairs(const ufs_x *x, int k, double *w, double *z, ufs_x_pca_info *info)
{
    bool rows = x->n <= x->p;
    la_lanczos_problem problem = {rows ? x->n : x->p, k, rows ? apply_rows : apply_cols, x, TOL,
                                  100 * (k + 10)};
    la_lanczos_info found;

    la_lanczos(&problem, w, z, &found);
    copy_info(&found, info);
    return found.lapack;
}

static void copy_info(const la_lanczos_info *from, ufs_x_pca_info *info)
{
    info->products = from->products;
    info->residual = from->residual;
    info->converged = from->converged;
}

static void apply_rows(const void *data, int m, const double *t, double *y)
{
    ufs_x_gram_mul(data, m, t, y);
}

static void apply_cols(const void *data, int m, const double *v, double *y)
{
    const ufs_x *x = data;
    void *mark = vmaxget();
    double *t = ufs_dalloc((size_t) x->n, (size_t) m);
    ufs_x_mul(x, m, v, t);
    ufs_x_cross(x, m, t, y);
    vmaxset(mark);
}

static void apply_dense(const void *data, int m, const double *t, double *y)
{
    const dense_operator *op = data;
    la_gemm('N', 'N', op->n, m, op->n, 1.0, op->a, op->n, t, op->n, 0.0, y, op->n);
}
