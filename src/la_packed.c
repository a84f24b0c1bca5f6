/* la_packed.c: see la_packed.h. */
#include "la_packed.h"
#include "la.h"
#include <R_ext/Utils.h>

void la_packed_from(int n, const double *full, double *packed)
{
    for (int j = 0; j < n; j++)
        memmove(packed + la_packed_column(j), full + (size_t) j * (size_t) n,
                ((size_t) j + 1) * sizeof(double));
}

/* From the last column back: none is written over before it was moved. */
void la_packed_to(int n, const double *packed, double *full)
{
    size_t N = (size_t) n;
    for (int j = n - 1; j >= 0; j--)
        memmove(full + (size_t) j * N, packed + la_packed_column(j),
                ((size_t) j + 1) * sizeof(double));
    for (size_t j0 = 0; j0 < N; j0 += LA_PACKED_BLOCK)
        for (size_t j = j0 + 1; j < N; j++)
            for (size_t i = j0; i < j && i < j0 + LA_PACKED_BLOCK; i++)
                full[j + i * N] = full[i + j * N];
}

void la_packed_laplacian(int n, const double *s, const double *degree, double *full)
{
    size_t N = (size_t) n;
    la_packed_to(n, s, full);
    for (size_t i = 0; i < N * N; i++) full[i] = -full[i];
    for (size_t i = 0; i < N; i++) full[i + i * N] += degree[i];
}

void la_packed_row_sums(int n, const double *s, double *sum)
{
    for (int j = 0; j < n; j++) {
        const double *column = s + la_packed_column(j);
        double total = 0.0;
        for (int i = 0; i < j; i++) {
            total += column[i];
            sum[i] += column[i];
        }
        sum[j] = total + column[j];
    }
}

/* Rows i0.. and columns j0.. of S[member, member], on the diagonal both triangles. */
static void fill_block(const int *member, const double *s, int i0, int rows, int j0, int cols,
                       double *block)
{
    for (int b = 0; b < cols; b++) {
        int j = j0 + b, len = i0 == j0 ? b + 1 : rows;
        const double *column = s + la_packed_column(member ? member[j] : j);
        double *to = block + (size_t) b * LA_PACKED_BLOCK;
        if (member == NULL)
            ufs_copy(to, column + i0, (size_t) len);
        else
            for (int a = 0; a < len; a++) to[a] = column[member[i0 + a]];
    }
    if (i0 == j0)
        for (int b = 0; b < cols; b++)
            for (int a = b + 1; a < rows; a++)
                block[a + b * LA_PACKED_BLOCK] = block[b + a * LA_PACKED_BLOCK];
}

void la_packed_product(int count, const int *member, const double *s, int m, double alpha,
                       const double *x, int ldx, double *out, int ldo, double *block)
{
    for (int j0 = 0; j0 < count; j0 += LA_PACKED_BLOCK) {
        int cols = count - j0 < LA_PACKED_BLOCK ? count - j0 : LA_PACKED_BLOCK;
        for (int i0 = 0; i0 <= j0; i0 += LA_PACKED_BLOCK) {
            int rows = count - i0 < LA_PACKED_BLOCK ? count - i0 : LA_PACKED_BLOCK;
            fill_block(member, s, i0, rows, j0, cols, block);
            la_gemm('N', 'N', rows, m, cols, alpha, block, LA_PACKED_BLOCK, x + j0, ldx, 1.0,
                    out + i0, ldo);
            if (i0 < j0)
                la_gemm('T', 'N', cols, m, rows, alpha, block, LA_PACKED_BLOCK, x + i0, ldx, 1.0,
                        out + j0, ldo);
        }
        R_CheckUserInterrupt();
    }
}
