/* x_prepare.c: the input pass over a sparse matrix; 6 nnz flops, no memory. The dense
 * pass (ffi_prepare) has the same rules. */
#include "x_ops.h"

static bool all_finite(const double *value, int from, int to)
{
    for (int e = from; e < to; e++)
        if (!R_FINITE(value[e])) return false;
    return true;
}

/* The power of two next to the largest entry: squares neither overflow nor underflow. */
static int exponent_of(const double *value, int from, int to)
{
    double top = 0.0;
    int exponent;
    for (int e = from; e < to; e++) top = fmax(top, fabs(value[e]));
    frexp(top, &exponent);
    return exponent > 1000 ? 1000 : (exponent < -1000 ? -1000 : exponent);
}

int ufs_x_prepare(int n, int p, const int *start, const double *value, bool center, double *mean,
                  double *sd, double *norm, int *constant, int *bad)
{
    int n_bad = 0;
    double rounding = (double) n * DBL_EPSILON;

    for (int j = 0; j < p; j++)
        if (!all_finite(value, start[j], start[j + 1])) bad[n_bad++] = j;
    if (n_bad) return n_bad;

    for (int j = 0; j < p; j++) {
        int from = start[j], to = start[j + 1];
        int exponent = exponent_of(value, from, to);
        double unit = ldexp(1.0, -exponent), top = ldexp(1.0, exponent);
        double zeros = (double) (n - (to - from)), sum = 0.0, rest, m, all = 0.0, css;

        for (int e = from; e < to; e++) sum += value[e] * unit;
        m = sum / n;
        rest = -zeros * m;
        for (int e = from; e < to; e++) rest += value[e] * unit - m;
        m += rest / n;
        css = zeros * m * m;
        for (int e = from; e < to; e++) {
            double v = value[e] * unit, d = v - m;
            all += v * v;
            css += d * d;
        }
        constant[j] = css <= rounding * rounding * all;
        mean[j] = center ? m * top : 0.0;
        sd[j] = sqrt(css / (double) (n > 1 ? n - 1 : 1)) * top;
        norm[j] = (center ? (constant[j] ? 0.0 : sqrt(css)) : sqrt(all)) * top;
    }
    return 0;
}
