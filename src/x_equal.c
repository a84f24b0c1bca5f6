/* x_equal.c: hashes of columns, or rows, that are equal where these are as the solvers see them;
 * first_equal() in R/data-operator.R compares those of one hash. */
#include "x_ops.h"

/* Odd, so that no value of a row is lost modulo 2^64. */
static uint64_t row_weight(uint64_t row)
{
    return ufs_mix(row + 1) | 1;
}

static uint64_t hash_value(double v)
{
    uint64_t bits;
    if (v == 0.0) v = 0.0;
    memcpy(&bits, &v, sizeof bits);
    return ufs_mix(bits);
}

/* sum_i weight_i h(x_i), modulo 2^64: the zeros of a sparse column cost nothing. */
static uint64_t hash_sparse(const ufs_x *x, int j, const uint64_t *weight, uint64_t total)
{
    int u = ufs_x_user(x, j);
    double m = ufs_x_shift(x, j), s = ufs_x_divide(x, j);
    uint64_t sum = 0, zeros = total;
    for (int e = x->start[u]; e < x->start[u + 1]; e++) {
        sum += weight[x->row[e]] * hash_value((x->value[e] - m) / s);
        zeros -= weight[x->row[e]];
    }
    return sum + zeros * hash_value((0.0 - m) / s);
}

void ufs_x_hash(const ufs_x *x, bool rows, double first_row, double *out)
{
    size_t N = (size_t) x->n, P = (size_t) x->p, count = rows ? N : P;
    void *mark = vmaxget();
    uint64_t *weight = (uint64_t *) R_alloc(N, sizeof(uint64_t)), total = 0;
    uint64_t *hash = (uint64_t *) R_alloc(count, sizeof(uint64_t));
    double *scratch = ufs_dalloc(N, 1);

    memset(hash, 0, count * sizeof(uint64_t));
    for (size_t i = 0; i < N; i++) total += weight[i] = row_weight((uint64_t) first_row + i);
    for (size_t j = 0; j < P; j++) {
        if (x->kind == UFS_X_SPARSE) {
            hash[j] = hash_sparse(x, (int) j, weight, total);
            continue;
        }
        const double *column = ufs_x_column(x, (int) j, scratch);
        uint64_t own = row_weight(j);
        for (size_t i = 0; rows && i < N; i++) hash[i] += own * hash_value(column[i]);
        for (size_t i = 0; !rows && i < N; i++) hash[j] += weight[i] * hash_value(column[i]);
    }
    for (size_t j = 0; j < count; j++) {
        out[j] = (double) (hash[j] >> 32);
        out[j + count] = (double) (hash[j] & 0xFFFFFFFFULL);
    }
    vmaxset(mark);
}
