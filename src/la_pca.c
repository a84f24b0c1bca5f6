/* la_pca.c: see la_pca.h. */
#include "la_pca.h"
#include "la.h"

int la_pca(int n, int p, const double *x, int k, double *scores, double *loadings, double *d2)
{
    int r = n < p ? n : p, info;
    size_t R = (size_t) r, K = (size_t) k;
    double *gram = ufs_dalloc(R, R), *vec = ufs_dalloc(R, K), *val = ufs_dalloc(K, 1), tiny;

    la_gram(n <= p ? 'N' : 'T', n, p, x, gram);
    info = la_eig_range(r, gram, r - k + 1, r, val, vec);
    if (info) return info;
    /* Ascending from LAPACK; leading first for us. */
    for (int j = 0; j < k; j++) {
        d2[j] = val[k - 1 - j] > 0.0 ? val[k - 1 - j] : 0.0;
        ufs_copy((n <= p ? scores : loadings) + (size_t) j * R, vec + (size_t) (k - 1 - j) * R, R);
    }
    if (n <= p) la_gemm('T', 'N', p, k, n, 1.0, x, n, scores, n, 0.0, loadings, p);
    /* A Gram matrix carries no smaller eigenvalue than its rounding. */
    tiny = d2[0] * DBL_EPSILON * (double) (n > p ? n : p);
    for (int j = 0; j < k; j++) {
        double *load = loadings + (size_t) j * (size_t) p;
        double norm = la_nrm2(p, load);
        if (d2[j] <= tiny || norm == 0.0)
            memset(load, 0, (size_t) p * sizeof(double));
        else
            for (int i = 0; i < p; i++) load[i] /= norm;
    }
    la_fix_signs(p, k, loadings);
    la_gemm('N', 'N', n, k, p, 1.0, x, n, loadings, p, 0.0, scores, n);
    return 0;
}
