/* x_company.c: ranks of columns, how close each is to those closest to it, and columns with odd
 * values (see x_ops.h).
 *
 * Ranks take n log n per column and workspace 2n; the sums one pass over r, with the largest values
 * so far kept in order, which few of a column change: q^2 comparisons, workspace `most`. Interrupts
 * are looked for with every column. */
#include "x_ops.h"
#include "la.h"
#include <R_ext/Arith.h>
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

/* The most extreme values of a column, all different, the most extreme one first. */
enum { ENDS = 4, STEPS = 40, FEW = 12 };
typedef struct {
    double value[ENDS];
    int count[ENDS], n;
} column_end;

/* `sign` is 1 for the largest values and -1 for the smallest. */
static void into_end(column_end *end, double sign, double v)
{
    int at = end->n;

    while (at > 0 && sign * v > sign * end->value[at - 1]) at--;
    if (at > 0 && v == end->value[at - 1]) {
        end->count[at - 1]++;
        return;
    }
    if (at == ENDS) return;
    if (end->n < ENDS) end->n++;
    for (int i = end->n - 1; i > at; i--) {
        end->value[i] = end->value[i - 1];
        end->count[i] = end->count[i - 1];
    }
    end->value[at] = v;
    end->count[at] = 1;
}

/* Is there a gap behind up to three repeated values at this end? `other` is the other end. */
static bool apart(const column_end *end, double other, int n, bool few)
{
    int left = n;

    for (int i = 0; i < ENDS - 1 && i + 1 < end->n; i++) {
        double gap = fabs(end->value[i] - end->value[i + 1]),
               span = fabs(end->value[i + 1] - other);
        left -= end->count[i];
        if (end->count[i] < 2 || left < 0.7 * n) return false;
        if (span > 0.0 && (gap > 2.0 * span || (few && gap >= 3.0 && span <= 6.0))) return true;
    }
    return false;
}

/* Different values of every `by`-th row, ascending, with their counts; more than `most` if there are more. */
static int different(int n, int by, const double *x, int most, double *value, int *count)
{
    int m = 0;

    for (int i = 0; i < n; i += by) {
        int at = m;
        while (at > 0 && value[at - 1] >= x[i]) at--;
        if (at < m && value[at] == x[i]) {
            count[at]++;
            continue;
        }
        if (m == most) return most + 1;
        for (int t = m++; t > at; t--) {
            value[t] = value[t - 1];
            count[t] = count[t - 1];
        }
        value[at] = x[i];
        count[at] = 1;
    }
    return m;
}

/* Is value i the only one off equal steps of the others, which are nearly all there? */
static bool off_steps(int m, const double *value, int i)
{
    double first = value[i == 0], last = value[m - 1 - (i == m - 1)], width = last - first;
    bool whole = true;

    for (int t = 0, before = -1; t < m; t++) {
        whole = whole && value[t] == nearbyint(value[t]);
        if (t == i) continue;
        if (before >= 0) width = fmin(width, value[t] - value[before]);
        before = t;
    }
    /* Two and four are near three, and rare ones may be missing by chance. */
    if (whole && width < 5.0) return false;
    for (int t = 0; t < m; t++) {
        double place = (value[t] - first) / width;
        if ((fabs(place - nearbyint(place)) < 1e-6) == (t == i) || place >= 1.6 * (m - 1))
            return false;
    }
    return true;
}

bool ufs_odd(int n, int p, const double *x, int *look, double *between)
{
    double value[STEPS];
    int count[STEPS];

    for (int j = 0; j < p; j++, x += n) {
        column_end high = {.n = 0}, low = {.n = 0};
        bool few = different(n, 1 + n / 100, x, FEW, value, count) <= FEW;
        int m = 0, found = 0;
        if (j % 256 == 0) R_CheckUserInterrupt();
        for (int i = 0; i < n; i++) {
            if (!R_FINITE(x[i])) return false;
            if (high.n < ENDS || x[i] >= high.value[ENDS - 1]) into_end(&high, 1.0, x[i]);
            if (low.n < ENDS || x[i] <= low.value[ENDS - 1]) into_end(&low, -1.0, x[i]);
        }
        look[j] = apart(&high, low.value[0], n, few) || apart(&low, high.value[0], n, few);
        between[j] = NA_REAL;
        if (few) m = different(n, 1, x, STEPS, value, count);
        for (int i = 0; i < m && m >= 6 && m <= STEPS; i++) {
            if (count[i] < 2 || count[i] >= 0.05 * n || !off_steps(m, value, i)) continue;
            between[j] = value[i];
            found++;
        }
        if (found != 1) between[j] = NA_REAL;
    }
    return true;
}
