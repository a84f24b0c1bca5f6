#include "qp_simplex.h"
#include "la.h"

void hadamard_init(hadamard *op, int p, int most_r, int most_k)
{
    op->p = p;
    op->m = ufs_dalloc((size_t) most_k, (size_t) most_r);
    op->buffer = ufs_dalloc((size_t) most_k, UFS_STRIP);
}

void hadamard_apply(void *data, const double *x, double *out)
{
    const hadamard *op = data;
    size_t K = (size_t) op->k, R = (size_t) op->r;

    for (int i = 0; i < op->p; i++)
        out[i] = (op->scale * op->w0 * op->g_diag[i] + op->shift) * x[i];
    if (op->k == 0 || op->r == 0) return;
    memset(op->m, 0, K * R * sizeof(double));
    for (int i0 = 0; i0 < op->p; i0 += UFS_STRIP) {
        int len = op->p - i0 < UFS_STRIP ? op->p - i0 : UFS_STRIP;
        const double *rt = op->rt + (size_t) i0 * K;
        for (size_t i = 0; i < (size_t) len; i++)
            for (size_t a = 0; a < K; a++)
                op->buffer[a + i * K] = rt[a + i * K] * x[(size_t) i0 + i];
        la_gemm('N', 'T', op->k, op->r, len, 1.0, op->buffer, op->k, op->f + (size_t) i0 * R, op->r,
                1.0, op->m, op->k);
    }
    for (int i0 = 0; i0 < op->p; i0 += UFS_STRIP) {
        int len = op->p - i0 < UFS_STRIP ? op->p - i0 : UFS_STRIP;
        const double *rt = op->rt + (size_t) i0 * K;
        la_gemm('N', 'N', op->k, len, op->r, 1.0, op->m, op->k, op->f + (size_t) i0 * R, op->r, 0.0,
                op->buffer, op->k);
        for (size_t i = 0; i < (size_t) len; i++)
            out[(size_t) i0 + i] += op->scale * op->sign *
                                    la_dot(op->k, rt + i * K, op->buffer + i * K);
    }
}

void hadamard_diag(const hadamard *op, double *out)
{
    for (int i = 0; i < op->p; i++) {
        const double *row = op->rt + (size_t) i * (size_t) op->k;
        double n_ii = op->w0 + op->sign * la_dot(op->k, row, row);
        out[i] = op->scale * op->g_diag[i] * fmax(n_ii, 0.0) + op->shift;
    }
}
