#include "la.h"

void proj_simplex(int n, const double *y, double total, double *work, double *out)
{
    double sum = 0.0, shift = 0.0;

    /* v_i = max(y_i - shift, 0): shift is fixed by the largest set of leading
     * sorted entries that stay positive. */
    for (int i = 0; i < n; i++) work[i] = -y[i];
    /* R_rsort() puts NaN last; R_qsort() could read beyond it. */
    R_rsort(work, n);
    for (int i = 0; i < n; i++) {
        double candidate;
        sum -= work[i];
        candidate = (sum - total) / (double) (i + 1);
        if (-work[i] - candidate > 0.0)
            shift = candidate;
        else
            break;
    }
    /* NaN of NaN, so that no caller takes it for a solution. */
    for (int i = 0; i < n; i++) out[i] = y[i] <= shift ? 0.0 : y[i] - shift;
}

void proj_capped_simplex(int n, const double *y, double total, double *out)
{
    double low = HUGE_VAL, high = -HUGE_VAL, shift, inner = 0.0, ones = 0.0;
    int interior = 0;

    for (int i = 0; i < n; i++)
        if (R_FINITE(y[i])) {
            low = fmin(low, y[i] - 1.0);
            high = fmax(high, y[i]);
        }
    /* The sum of clip(y - shift) falls from its largest value at `low` to 0 at `high`. */
    for (int it = 0; it < 200 && low < high; it++) {
        double sum = 0.0, middle = low + 0.5 * (high - low);
        if (middle <= low || middle >= high) break;
        for (int i = 0; i < n; i++) sum += fmin(1.0, fmax(0.0, y[i] - middle));
        if (sum > total)
            low = middle;
        else
            high = middle;
    }
    shift = high;
    for (int i = 0; i < n; i++) {
        double v = y[i] - shift;
        if (v >= 1.0) {
            ones += 1.0;
        } else if (v > 0.0) {
            inner += y[i];
            interior++;
        }
    }
    if (interior > 0) shift = (inner + ones - total) / interior;
    for (int i = 0; i < n; i++) out[i] = fmin(1.0, fmax(0.0, y[i] - shift));
}

void proj_half_sphere(int n, const double *y, const double *fallback, double *out)
{
    double ss = 0.0, scale;
    for (int i = 0; i < n; i++) ss += (y[i] - 0.5) * (y[i] - 0.5);
    if (sqrt(ss) < 1e-12 && fallback != NULL) {
        y = fallback;
        ss = 0.0;
        for (int i = 0; i < n; i++) ss += (y[i] - 0.5) * (y[i] - 0.5);
    }
    if (!(ss > 0.0)) {
        /* Both are the centre: every point of the sphere is equally near. */
        for (int i = 0; i < n; i++) out[i] = 1.0;
        return;
    }
    scale = 0.5 * sqrt((double) n) / sqrt(ss);
    for (int i = 0; i < n; i++) out[i] = 0.5 + scale * (y[i] - 0.5);
}
