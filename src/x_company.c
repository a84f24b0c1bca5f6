/* x_company.c: ranks of columns, and how close each is to those closest to it (see x_ops.h).
 *
 * Ranks take n log n per column and workspace 2n; the sums one pass over r, with the largest values
 * so far kept in order, which few of a column change: q^2 comparisons, workspace `most`. Interrupts
 * are looked for with every column. */
#include "x_ops.h"
#include "la.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

void ufs_column_ranks(int n, int p, const double *x, double *out)
{
    void *mark = vmaxget();
    size_t N = (size_t) n;
    double *value = ufs_dalloc(N, 1);
    int *at = (int *) R_alloc(N, sizeof(int));

    for (size_t j = 0; j < (size_t) p; j++) {
        double *rank = out + j * N;
        R_CheckUserInterrupt();
        memcpy(value, x + j * N, N * sizeof(double));
        for (int i = 0; i < n; i++) at[i] = i;
        R_qsort_I(value, at, 1, n);
        for (int first = 0, last; first < n; first = last + 1) {
            last = first;
            while (last + 1 < n && value[last + 1] == value[first]) last++;
            for (int i = first; i <= last; i++) rank[at[i]] = 1.0 + (first + last) / 2.0;
        }
    }
    vmaxset(mark);
}

void ufs_closest(int q, const double *r, const double *weight, int most, double *sum)
{
    void *mark = vmaxget();
    double *top = ufs_dalloc((size_t) most, 1); /* ascending */

    for (int j = 0; j < q; j++) {
        const double *column = r + (size_t) j * (size_t) q;
        R_CheckUserInterrupt();
        for (int t = 0; t < most; t++) top[t] = 0.0;
        for (int i = 0; i < q; i++) {
            double value = weight[i] * column[i] * column[i];
            int t = 1;
            if (value <= top[0] || i == j) continue;
            for (; t < most && top[t] < value; t++) top[t - 1] = top[t];
            top[t - 1] = value;
        }
        sum[j] = 0.0;
        for (int t = 0; t < most; t++) sum[j] += top[t];
    }
    vmaxset(mark);
}
