/* eig_krylov.c: start vectors and orthonormal blocks. */
#include "eig.h"

void krylov_noise(int n, int column, double *x)
{
    for (int i = 0; i < n; i++) {
        uint64_t h = ufs_mix(((uint64_t) column << 32) + (uint64_t) i);
        x[i] = (double) (h >> 11) / 4503599627370496.0 - 1.0;
    }
}

/* x (n x added) -= q q'x. */
static void project_out(int n, int k, const double *q, int added, double *x, double *dot)
{
    if (k == 0) return;
    if (added == 1) {
        la_gemv('T', n, k, 1.0, q, n, x, 0.0, dot);
        la_gemv('N', n, k, -1.0, q, n, dot, 1.0, x);
        return;
    }
    la_gemm('T', 'N', k, added, n, 1.0, q, n, x, n, 0.0, dot, k);
    la_gemm('N', 'N', n, added, k, -1.0, q, n, dot, k, 1.0, x, n);
}

int krylov_orthonormalise(const krylov_basis *basis, int k, int added, double least, bool rest)
{
    int n = basis->n, n_known = basis->n_known, left = 0;
    const double *known = basis->known, *q = basis->q;
    size_t N = (size_t) n;
    double *block = basis->q + (size_t) k * N, *dot = basis->dot;

    for (int j = 0; j < added && !rest; j++) {
        double *col = block + (size_t) j * N, size = la_nrm2(n, col);
        for (int i = 0; i < n && size > 0.0; i++) col[i] /= size;
    }
    for (int pass = 0; pass < (rest ? 1 : 2); pass++) {
        project_out(n, n_known, known, added, block, dot);
        project_out(n, k, q, added, block, dot);
    }
    for (int j = 0; j < added; j++) {
        double *col = block + (size_t) left * N, before, after;
        if (left < j) ufs_copy(col, block + (size_t) j * N, N);
        after = la_nrm2(n, col);
        before = rest ? 1.0 : after;
        /* What the projections left of a unit vector; again where those on the block leave little,
         * in which the rounding of the first ones has grown. */
        while (after > least) {
            project_out(n, left, block, 1, col, dot);
            after = la_nrm2(n, col);
            if (after > 0.1 * before) break;
            project_out(n, n_known, known, 1, col, dot);
            project_out(n, k, q, 1, col, dot);
            before = after;
        }
        if (!(after > least)) continue;
        for (int i = 0; i < n; i++) col[i] /= after;
        left++;
    }
    return left;
}
