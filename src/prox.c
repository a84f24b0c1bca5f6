#include "prox.h"
#include "la.h"

/* Multiplier of a group of length `norm`: exact zero at norm <= t. */
static double shrink(double norm, double t)
{
    return norm > t ? 1.0 - t / norm : 0.0;
}

void prox_rows(int n, int p, const double *a, double t, double *norm, double *out)
{
    la_row_norms(n, p, a, norm);
    for (int j = 0; j < p; j++) {
        const double *from = a + (size_t) j * (size_t) n;
        double *to = out + (size_t) j * (size_t) n;
        for (int i = 0; i < n; i++) to[i] = from[i] * shrink(norm[i], t);
    }
}

void prox_cols(int n, int p, const double *a, double t, double *norm, double *out)
{
    la_col_norms(n, p, a, norm);
    for (int j = 0; j < p; j++) {
        const double *from = a + (size_t) j * (size_t) n;
        double *to = out + (size_t) j * (size_t) n, f = shrink(norm[j], t);
        for (int i = 0; i < n; i++) to[i] = from[i] * f;
    }
}
