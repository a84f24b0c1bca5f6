/* x_pca.c: leading principal components of an operator (see x_ops.h).
 *
 * r = min(n, p), G the r x r Gram matrix. Lanczos needs about 3k + 40 products, each 4 nnz with X
 * or, once G is formed, 2 r^2; the whole spectrum of G takes about 4r^3/3 + 2r^2 k, half of it at
 * the speed of matrix times vector. The cheapest is taken, and Lanczos is given up for the last
 * when it has cost half as much, or at a restart from which, at its rate so far, it would.
 * Memory r^2, or r (2k + 48), r (2k + 144) beyond GRAM_MOST; then n x k and p x k for the answer.
 * Interrupts are looked for with every block of products and of G. */
#include "la_lanczos.h"
#include "x_ops.h"
#include <R_ext/Memory.h>

enum { SMALL = 400, GRAM_MOST = 6000, LONGER = 96 };
/* A flop outside matrix times matrix costs about as much as so many inside. */
static const double SLOW = 4.0;

typedef struct {
    double gram, by_gram, by_product; /* of G; of the products Lanczos needs */
    double inner;                     /* what Lanczos does besides */
    double spectrum;                  /* all of G */
} pca_costs;

static pca_costs costs_of(const ufs_x *x, int k);
static int whole_spectrum(double *gram, int r, int k, double *w, double *z);
static int lanczos_pairs(const la_lanczos_problem *problem, double *w, double *z,
                         ufs_x_pca_info *info);
static int leading_pairs(const ufs_x *x, int k, double tol, double *w, double *z,
                         ufs_x_pca_info *info);
static void form_gram(const ufs_x *x, double *gram);
static void apply_rows(const void *data, int m, const double *t, double *y);
static void apply_cols(const void *data, int m, const double *t, double *y);
static void apply_gram(const void *data, int m, const double *t, double *y);

void ufs_x_pca(const ufs_x *x, int k, double tol, double *scores, double *loadings, double *d2,
               ufs_x_pca_info *info)
{
    int n = x->n, p = x->p;
    bool rows = n <= p;
    void *mark = vmaxget();

    info->lapack = leading_pairs(x, k, tol, d2, rows ? scores : loadings, info);
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

/* The k leading pairs of G: w descending, z r x k. */
static int leading_pairs(const ufs_x *x, int k, double tol, double *w, double *z,
                         ufs_x_pca_info *info)
{
    int r = x->n <= x->p ? x->n : x->p, lapack;
    bool can_lanczos = r > SMALL && r >= 2 * la_lanczos_basis(k), can_gram = r <= GRAM_MOST;
    pca_costs cost = costs_of(x, k);
    double lanczos = cost.inner + fmin(cost.by_product, cost.gram + cost.by_gram);
    double *gram = NULL;

    info->products = info->lapack = 0;
    info->residual = 0.0;
    info->converged = true;
    info->full = false;
    if (!can_lanczos || (can_gram && cost.gram + cost.spectrum < lanczos)) {
        gram = ufs_dalloc((size_t) r, (size_t) r);
        form_gram(x, gram);
        return whole_spectrum(gram, r, k, w, z);
    }
    /* A file is passed over once, for G, if that can be held. */
    bool by_gram = can_gram &&
                   (x->kind == UFS_X_SOURCE || cost.gram + cost.by_gram < cost.by_product);
    double most = 100.0 * (k + 10.0);
    if (can_gram)
        most = (3.0 * k + 40.0) *
               fmax(2.0, cost.spectrum / 2.0 /
                             (cost.inner + (by_gram ? cost.by_gram : cost.by_product)));
    most = fmin(most, 100.0 * (k + 10.0));
    /* Beyond GRAM_MOST products are dear, and memory for vectors is not. */
    int longer = la_lanczos_basis(k) + LONGER;
    la_lanczos_problem problem = {
        r,   k,          x->n <= x->p ? apply_rows : apply_cols,    x,
        tol, (int) most, !can_gram && longer <= r / 2 ? longer : 0, can_gram};
    ufs_x whole;
    if (by_gram) {
        gram = ufs_dalloc((size_t) r, (size_t) r);
        form_gram(x, gram);
        whole = ufs_x_dense(r, r, gram);
        problem.apply = apply_gram;
        problem.data = &whole;
    }
    lapack = lanczos_pairs(&problem, w, z, info);
    if (by_gram) info->products = 0;
    if (lapack || info->converged || !can_gram) return lapack;
    if (!gram) {
        gram = ufs_dalloc((size_t) r, (size_t) r);
        form_gram(x, gram);
    }
    info->full = info->converged = true;
    info->residual = 0.0;
    info->products = 0;
    return whole_spectrum(gram, r, k, w, z);
}

static pca_costs costs_of(const ufs_x *x, int k)
{
    double n = x->n, p = x->p, r = n < p ? n : p, products = 3.0 * k + 40.0;
    double basis = la_lanczos_basis(k);
    pca_costs cost;

    cost.gram = n <= p                    ? ufs_x_gram_rows_cost(x)
                : x->kind == UFS_X_SPARSE ? p * ufs_x_entries(x)
                                          : n * p * p;
    /* Scattered additions of a sparse Gram matrix are about four times as slow. */
    if (x->kind == UFS_X_SPARSE) cost.gram *= SLOW;
    cost.by_gram = SLOW / 2.0 * 2.0 * r * r * products;
    cost.by_product = SLOW / 2.0 * 4.0 * ufs_x_entries(x) * products;
    /* Orthogonal blocks, and the eigenproblem of the basis. */
    cost.inner = products * (8.0 * r * basis + 9.0 / 8.0 * basis * basis * basis);
    cost.spectrum = (0.5 * SLOW + 0.5) * 4.0 / 3.0 * r * r * r + 2.0 * r * r * k;
    return cost;
}

static void form_gram(const ufs_x *x, double *gram)
{
    if (x->n <= x->p)
        ufs_x_gram_rows(x, NULL, gram);
    else
        ufs_x_gram_cols(x, gram);
}

/* gram: r x r, destroyed. */
static int whole_spectrum(double *gram, int r, int k, double *w, double *z)
{
    size_t R = (size_t) r;
    double *value = ufs_dalloc((size_t) k, 1), *vector = ufs_dalloc(R, (size_t) k);
    int lapack = la_eig_range(r, gram, r - k + 1, r, value, vector);

    if (lapack) return lapack;
    for (int j = 0; j < k; j++) {
        w[j] = value[k - 1 - j];
        ufs_copy(z + (size_t) j * R, vector + (size_t) (k - 1 - j) * R, R);
    }
    return 0;
}

static int lanczos_pairs(const la_lanczos_problem *problem, double *w, double *z,
                         ufs_x_pca_info *info)
{
    la_lanczos_info found;

    la_lanczos(problem, w, z, &found);
    info->products = found.products;
    info->residual = found.residual;
    info->converged = found.converged;
    return found.lapack;
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

static void apply_gram(const void *data, int m, const double *t, double *y)
{
    const ufs_x *gram = data;
    la_gemm('N', 'N', gram->n, m, gram->n, 1.0, gram->dense, gram->n, t, gram->n, 0.0, y, gram->n);
}
