/* la_packed.c: see la.h. */
#include "la.h"

void la_packed_laplacian(int n, const double *s, const double *degree, double *full)
{
    size_t N = (size_t) n;
    for (int j = 0; j < n; j++) {
        const double *column = s + la_packed_column(j);
        double *to = full + (size_t) j * N;
        for (int i = 0; i <= j; i++) to[i] = -column[i];
        to[j] += degree[j];
    }
    la_fill_lower(n, full);
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

void la_packed_half_product(const la_packed *a, int m, const double *x, double *out)
{
    int n = a->n;
    double *strip = a->strip;

    for (int j0 = 0; j0 < n; j0 += UFS_STRIP) {
        int cols = n - j0 < UFS_STRIP ? n - j0 : UFS_STRIP, rows = j0 + cols;
        for (int b = 0; b < cols; b++) {
            int j = j0 + b;
            double *to = strip + (size_t) b * (size_t) rows;
            ufs_copy(to, a->s + la_packed_column(j), (size_t) j + 1);
            to[j] *= 0.5;
            for (int c = 0; c < b; c++) strip[(size_t) j + (size_t) c * (size_t) rows] = 0.0;
        }
        la_gemm('N', 'N', rows, m, cols, -1.0, strip, rows, x + j0, n, 1.0, out, n);
        R_CheckUserInterrupt();
    }
}

/* Until the end a sample is labelled by the first one that it is known to hang together with. A
 * pair of one component is not read again; components join n - 1 times at most. */
int la_packed_components(int n, const double *s, double threshold, int *label, int *order)
{
    int found = 0;

    for (int j = 0; j < n; j++) {
        const double *column = s + la_packed_column(j);
        label[j] = j;
        for (int i = 0; i < j; i++) {
            if (label[i] == label[j] || !(column[i] > threshold)) continue;
            int from = label[i] > label[j] ? label[i] : label[j];
            int to = label[i] > label[j] ? label[j] : label[i];
            for (int l = from; l <= j; l++)
                if (label[l] == from) label[l] = to;
        }
    }
    for (int i = 0; i < n; i++) {
        if (label[i] == i) order[i] = ++found;
        label[i] = order[label[i]];
    }
    return found;
}
