/* x_prepare.c: the input pass over a sparse matrix; 6 nnz flops, no memory. */
#include "prepare.h"
#include "x_ops.h"

int ufs_x_prepare(int n, int p, const int *start, const double *value, bool center,
                  ufs_x_prepared *out)
{
    int n_bad = 0;

    for (int j = 0; j < p; j++) {
        prepare_moments found;
        prepare_column is;

        out->bad[j] = !prepare_moments_sparse(n, start[j + 1] - start[j], value + start[j], &found);
        n_bad += out->bad[j];
        if (out->bad[j]) continue;
        is = prepare_judge(n, &found);
        out->constant[j] = is.constant;
        out->unfit[j] = is.unfit;
        out->exponent[j] = found.exponent;
        out->mean[j] = center ? is.mean : 0.0;
        out->sd[j] = is.sd;
        out->norm[j] = center ? (is.constant ? 0.0 : is.centred) : is.plain;
    }
    return n_bad;
}
