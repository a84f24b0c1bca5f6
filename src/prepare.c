/* prepare.c: see prepare.h. */
#include "prepare.h"
#include "la.h"

/* Between these the squares of a column, and their sum, are far from over- and underflow. */
static const double safe_low = 0x1p-400, safe_high = 0x1p+400;
/* Beyond these a difference of two values, or one over a standard deviation, may be infinite. */
static const double largest_value = 0x1p+1000, least_sd = 0x1p-1000;
/* Differences within a column are exact; those of at most so many units of rounding of its largest
 * value are what computing the values may have left. */
static const double rounding_units = 8.0;

/* The exponent of a power of two: numbers up to `top` over it have squares that can be held. */
static int safe_exponent(double top)
{
    int above = 0;
    /* Of the next one above, as far as it and its reciprocal are finite. */
    if (top > safe_high || (top < safe_low && top > 0.0)) frexp(top, &above);
    return above > 1000 ? 1000 : (above < -1000 ? -1000 : above);
}

/* Of shrink * value - m, and of its squares. Four sums side by side, so that an addition need not
 * wait for the one before. */
static inline void sums(int count, const double *value, double shrink, double m, double *sum,
                        double *ss)
{
    double s[4] = {0}, q[4] = {0};
    int i = 0;

    for (; i + 3 < count; i += 4)
        for (int k = 0; k < 4; k++) {
            double d = value[i + k] * shrink - m;
            s[k] += d;
            q[k] += d * d;
        }
    for (; i < count; i++) {
        double d = value[i] * shrink - m;
        s[0] += d;
        q[0] += d * d;
    }
    *sum = (s[0] + s[1]) + (s[2] + s[3]);
    *ss = (q[0] + q[1]) + (q[2] + q[3]);
}

/* The mean is corrected by the mean of what it leaves, which removes its rounding. */
bool prepare_moments_of(int n, int count, const double *value, prepare_moments *found)
{
    double low = count < n ? 0.0 : R_PosInf, high = count < n ? 0.0 : R_NegInf;
    double top, check = 0.0, zeros = n - count, shrink, sum, m, rest, left;

    /* 0 v is NaN where v is not finite. */
    for (int i = 0; i < count; i++) {
        double v = value[i];
        check += 0.0 * v;
        low = v < low ? v : low;
        high = v > high ? v : high;
    }
    if (check != 0.0) return false;
    found->low = low;
    found->high = high;
    top = fmax(-low, high);
    found->exponent = safe_exponent(top);
    shrink = ldexp(1.0, -found->exponent);
    sums(count, value, shrink, 0.0, &sum, &left);
    m = sum / n;
    sums(count, value, shrink, m, &rest, &left);
    rest -= zeros * m;
    left += zeros * m * m;
    found->mean = m + rest / n;
    found->css = left - rest * (rest / n);
    found->ss = left + m * (2.0 * rest + n * m);
    /* Nearly constant: what is left is of the size of the rounding of the mean, whose own is
     * still in it. */
    if (found->css <= 1e-20 * found->ss) {
        sums(count, value, shrink, found->mean, &rest, &left);
        rest -= zeros * found->mean;
        found->css = left + zeros * found->mean * found->mean - rest * (rest / n);
    }
    return true;
}

prepare_column prepare_judge(int n, const prepare_moments *found)
{
    int e = found->exponent;
    double top = fmax(-found->low, found->high);
    prepare_column is = {.constant = found->high - found->low <= rounding_units * DBL_EPSILON * top,
                         .mean = ldexp(found->mean, e),
                         .sd = ldexp(sqrt(found->css / (n > 1 ? n - 1 : 1)), e),
                         .centred = ldexp(sqrt(found->css), e),
                         .plain = ldexp(sqrt(found->ss), e)};

    is.unfit = !is.constant && (top > largest_value || is.sd < least_sd);
    return is;
}

void prepare_center(int n, int p, double *x, double *mean)
{
    for (int j = 0; j < p; j++) {
        double *col = x + (size_t) j * (size_t) n, sum, rest, ss;
        sums(n, col, 1.0, 0.0, &sum, &ss);
        /* What rounding leaves of the mean goes too. */
        sums(n, col, 1.0, sum / n, &rest, &ss);
        mean[j] = sum / n + rest / n;
        for (int i = 0; i < n; i++) col[i] -= mean[j];
    }
}

void prepare_take(int n, const double *x, const prepare_part *part, double *out)
{
    const int *rows = part->rows, *columns = part->columns;
    const double *shift = part->shift, *divide = part->divide;
    size_t m = (size_t) part->m;

    for (size_t j = 0; j < (size_t) part->q; j++) {
        const double *from = x + (columns == NULL ? j : (size_t) columns[j]) * (size_t) n;
        double *to = out + j * m, s = shift == NULL ? 0.0 : shift[j];
        double by = divide == NULL ? 1.0 : divide[j];
        for (size_t i = 0; i < m; i++) to[i] = (from[rows == NULL ? i : (size_t) rows[i]] - s) / by;
    }
}

void prepare_planned(const prepare_plan *plan, int j, const double *x, double *out)
{
    size_t first = (size_t) j * (size_t) plan->n_blocks;
    const double *mean = plan->mean + first, *factor = plan->factor ? plan->factor + first : NULL;

    for (int i = 0; i < plan->n; i++) out[i] = x[i] - mean[plan->block[i] - 1];
    for (int i = 0; i < plan->n && factor; i++) out[i] *= factor[plan->block[i] - 1];
    for (int i = 0; i < plan->n && plan->squared; i++) out[i] *= out[i];
    for (int i = 0; i < plan->n && plan->add; i++) out[i] += plan->add[j];
    for (int i = 0; i < plan->n && plan->root; i++) out[i] *= plan->root[i];
}

void prepare_samples(int n, int q, double tiny, double *x, double *norm)
{
    size_t N = (size_t) n, len = N * (size_t) q;
    double top = 0.0, most = 0.0, shrink;

    for (size_t i = 0; i < len; i++) top = fmax(top, fabs(x[i]));
    shrink = ldexp(1.0, -safe_exponent(top));
    for (size_t i = 0; i < len; i++) x[i] *= shrink;
    la_row_norms(n, q, x, norm);
    for (size_t i = 0; i < N; i++) most = fmax(most, norm[i]);
    for (size_t i = 0; i < N; i++)
        if (norm[i] <= tiny * most) norm[i] = 1.0;
    for (size_t j = 0; j < (size_t) q; j++)
        for (size_t i = 0; i < N; i++) x[i + j * N] /= norm[i];
}
