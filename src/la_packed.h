/* la_packed.h: symmetric matrices (n x n) held as the columns of their upper triangle, one after
 * the other: half the memory of both triangles. Entry (i, j), i <= j, is number i of column j. */
#ifndef UFS_LA_PACKED_H
#define UFS_LA_PACKED_H

#include "ufs.h"

/* Where column j begins; of column n, how many entries there are. */
static inline size_t la_packed_column(int j)
{
    return (size_t) j * ((size_t) j + 1) / 2;
}

/* diag(degree) - S, both triangles. */
void la_packed_laplacian(int n, const double *s, const double *degree, double *full);
/* sum_i = sum_j s_ij. n^2 flops. */
void la_packed_row_sums(int n, const double *s, double *sum);
/* S (n x n), and n x UFS_STRIP doubles in which so many of its columns are unpacked at a time. */
typedef struct {
    int n;
    const double *s;
    double *strip;
} la_packed;

/* out (n x m) += alpha S x (n x m). 2n^2 m flops, every entry of S is read once. half: with U, the
 * upper triangle of S and half of its diagonal, in place of S = U + U', for half of the flops. */
void la_packed_product(const la_packed *a, bool half, int m, double alpha, const double *x,
                       double *out);
/* Connected components of {s_ij > threshold}: their number; label (n) is 1, 2, ... by first appearance.
 * order: n ints. n^2 / 2 reads, fewer where components join early. */
int la_packed_components(int n, const double *s, double threshold, int *label, int *order);

#endif
