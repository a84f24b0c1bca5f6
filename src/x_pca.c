/* x_pca.c: leading principal components of an operator (see x_ops.h).
 *
 * r = min(n, p), G the r x r Gram matrix. eig_krylov() needs some 3k + 60 products, twice as
 * many without gaps (noise; counted as 3k + 80), each 4 nnz with X or, once G is formed, 2 r^2. The
 * whole spectrum of G takes about 4r^3/3 + 2r^2 k, half of it at the speed of matrix times vector.
 * The cheapest is taken, and the first is given up for the last when it has cost half as much, or
 * ENOUGH products. Memory r^2, or 2r (3k + 48); then n x k and p x k for the answer. Interrupts are
 * looked for with every block of products and of G. */
#include "x_ops.h"
#include "eig.h"

enum { GRAM_MOST = 6000, ENOUGH = 160 };
/* A flop outside matrix times matrix costs about as much as so many inside. */
static const double SLOW = 4.0;
/* Components with residuals up to this are coordinates: some variance is missing anyway. */
static const double LOOSE = 1e-4;

typedef struct {
    double gram, by_gram, by_product; /* of G; of the products needed, and what goes with them */
    double spectrum;                  /* all of G */
} pca_costs;

static pca_costs costs_of(const ufs_x *x, int k, double products)
{
    double n = x->n, p = x->p, r = n < p ? n : p, basis = eig_basis(k), inner;
    pca_costs cost;

    cost.gram = n <= p                    ? ufs_x_gram_rows_cost(x)
                : x->kind == UFS_X_SPARSE ? p * ufs_x_entries(x)
                                          : n * p * p;
    /* Scattered additions of a sparse Gram matrix are about four times as slow. */
    if (x->kind == UFS_X_SPARSE) cost.gram *= SLOW;
    /* Orthogonal blocks, and the eigenproblem of the basis. */
    inner = products * (8.0 * r * basis + 9.0 / 8.0 * basis * basis * basis);
    cost.by_gram = cost.gram + inner + SLOW * r * r * products;
    cost.by_product = inner + SLOW * 2.0 * ufs_x_entries(x) * products;
    cost.spectrum = (0.5 * SLOW + 0.5) * 4.0 / 3.0 * r * r * r + 2.0 * r * r * k;
    return cost;
}

static double *form_gram(const ufs_x *x, int r)
{
    double *gram = ufs_dalloc((size_t) r, (size_t) r);
    if (x->n <= x->p)
        ufs_x_gram_rows(x, NULL, gram);
    else
        ufs_x_gram_cols(x, gram);
    return gram;
}

static void apply_rows(const void *data, int m, const double *t, double *y)
{
    ufs_x_gram_mul(data, m, t, y);
}

void ufs_x_cols_mul(const void *x, int m, const double *v, double *y)
{
    void *mark = vmaxget();
    double *t = ufs_dalloc((size_t) ((const ufs_x *) x)->n, (size_t) m);
    ufs_x_mul(x, m, v, t);
    ufs_x_cross(x, m, t, y);
    vmaxset(mark);
}

static void apply_gram(const void *data, int m, const double *t, double *y)
{
    ufs_x_mul(data, m, t, y);
}

/* The k leading pairs of G: w descending, z r x k. `given`: G, where it is there already (x is G
 * itself then), or NULL. */
static int leading_pairs(const ufs_x *x, const double *given, int k, double tol, double *w,
                         double *z, ufs_x_pca_info *info)
{
    int r = x->n <= x->p ? x->n : x->p;
    bool iterate = r > EIG_DENSE && r >= 2 * eig_basis(k), can_gram = r <= GRAM_MOST, by_gram;
    double products = 3.0 * k + 80.0, most = 100.0 * (k + 10.0), *gram = NULL;
    pca_costs cost = costs_of(x, k, products);
    ufs_x whole;

    *info = (ufs_x_pca_info){.converged = true};
    if (given) {
        cost.by_gram -= cost.gram;
        cost.gram = 0.0;
    }
    iterate = iterate &&
              !(can_gram && cost.gram + cost.spectrum < fmin(cost.by_product, cost.by_gram));
    /* A file is passed over once, for G, if that can be held. */
    by_gram = given ||
              (can_gram && (!iterate || x->kind == UFS_X_SOURCE || cost.by_gram < cost.by_product));
    if (by_gram) {
        gram = given ? ufs_dalloc((size_t) r, (size_t) r) : form_gram(x, r);
        if (given) memcpy(gram, given, (size_t) r * (size_t) r * sizeof(double));
        whole = ufs_x_dense(r, r, gram);
    }
    if (iterate) {
        eig_info found;
        eig_problem problem = {.n = r,
                               .k = k,
                               .apply = x->n <= x->p ? apply_rows : ufs_x_cols_mul,
                               .data = x,
                               .block = x->kind == UFS_X_SOURCE && !by_gram ? 8 : 1,
                               .proof = tol < LOOSE && (x->kind != UFS_X_SOURCE || by_gram),
                               .tol = tol};
        if (by_gram) {
            problem.apply = apply_gram;
            problem.data = &whole;
        }
        if (can_gram) {
            double worth = cost.spectrum / 2.0 /
                           (by_gram ? cost.by_gram - cost.gram : cost.by_product);
            most = fmin(most, fmax(ENOUGH, products * fmax(2.0, worth)));
        }
        problem.max_iter = (int) (most / fmax(8.0, k));
        eig_krylov(&problem, w, z, &found);
        info->products = by_gram ? 0 : found.products;
        info->residual = found.residual;
        info->converged = found.converged;
        if (found.lapack || found.converged || !can_gram) return found.lapack;
    }
    *info = (ufs_x_pca_info){.converged = true, .full = iterate};
    return eig_leading(r, gram ? gram : form_gram(x, r), k, w, z);
}

void ufs_x_pca(const ufs_x *x, int k, double tol, double *scores, double *loadings, double *d2,
               ufs_x_pca_info *info)
{
    int n = x->n, p = x->p;
    bool rows = n <= p;
    void *mark = vmaxget();

    info->lapack = leading_pairs(x, NULL, k, tol, d2, rows ? scores : loadings, info);
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

void ufs_x_leading(int r, const double *gram, int k, double tol, double *w, double *z,
                   ufs_x_pca_info *info)
{
    ufs_x whole = ufs_x_dense(r, r, gram);
    void *mark = vmaxget();

    info->lapack = leading_pairs(&whole, gram, k, tol, w, z, info);
    vmaxset(mark);
}
