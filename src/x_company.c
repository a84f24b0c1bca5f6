/* x_company.c: ranks of columns, how close each is to those closest to it, and columns with odd
 * values (see x_ops.h).
 *
 * Ranks take n log n per column and workspace 2n; the sums one pass over r, with the largest values
 * so far kept in order, which few of a column change: q^2 comparisons, workspace `most`. Interrupts
 * are looked for with every column. */
#include "x_ops.h"
#include "la.h"

void ufs_column_ranks(int n, int p, const double *x, double *out)
{
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
}

void ufs_closest(int q, const double *r, const double *weight, int most, double *sum)
{
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
}

enum { ENDS = 4, STEPS = 40, FEW = 12, SLOTS = 256 };

/* Is there a gap behind up to three values at the end of `m` different ones, the most extreme first,
 * each repeated or like -9, 99 and 9999, a code? `other` is the other end; all are times `sign`. */
static bool apart(int m, const double *value, const int *count, double other, int n, bool few,
                  double sign)
{
    int left = n;

    for (int i = 0; i < ENDS - 1 && i + 1 < m; i++) {
        double gap = fabs(value[i] - value[i + 1]), span = fabs(value[i + 1] - other);
        double tens = log10(fabs(value[i]) + 1.0);
        bool code = fabs(tens - nearbyint(tens)) <= 1e-12; /* 9, 99, ... */
        bool low = sign < 0.0 && (code || value[i] == 1.0) && value[i] > 0.0 && value[i + 1] <= 0.0;
        left -= count[i];
        if ((count[i] < 2 && !code) || left < 0.7 * n) return false;
        if (span > 0.0 && (low || gap > 2.0 * span || (few && gap >= 3.0 && span <= 6.0)))
            return true;
    }
    return false;
}

/* The ENDS largest different values of sign * x, descending, with their counts: how many there are. */
static int largest(int n, const double *x, double sign, double *value, int *count)
{
    int m = 0;

    for (int i = 0; i < n; i++) {
        double v = sign * x[i];
        int at = m;
        if (m == ENDS && v < value[ENDS - 1]) continue;
        while (at > 0 && v > value[at - 1]) at--;
        if (at > 0 && v == value[at - 1]) {
            count[at - 1]++;
            continue;
        }
        if (m < ENDS) m++;
        for (int t = m - 1; t > at; t--) {
            value[t] = value[t - 1];
            count[t] = count[t - 1];
        }
        value[at] = v;
        count[at] = 1;
    }
    return m;
}

/* The same of m values in ascending order. */
static int last_of(int m, const double *from, const int *times, double sign, double *value,
                   int *count)
{
    for (int i = 0; i < m && i < ENDS; i++) {
        int at = sign > 0.0 ? m - 1 - i : i;
        value[i] = sign * from[at];
        count[i] = times[at];
    }
    return m < ENDS ? m : ENDS;
}

/* Different values of every `by`-th row, ascending, with their counts; more than `most` <= STEPS if
 * there are more. */
static int different(int n, int by, const double *x, int most, double *value, int *count)
{
    unsigned char slot[SLOTS] = {0}; /* which value, from 1 */
    int m = 0;

    for (int i = 0; i < n; i += by) {
        double v = x[i] + 0.0; /* one zero */
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        size_t at = (size_t) ((bits * UINT64_C(0x9E3779B97F4A7C15)) >> 56);
        while (slot[at] && value[slot[at] - 1] != v) at = (at + 1) % SLOTS;
        if (slot[at]) {
            count[slot[at] - 1]++;
            continue;
        }
        if (m == most) return most + 1;
        value[m] = v;
        count[m] = 1;
        slot[at] = (unsigned char) ++m;
    }
    rsort_with_index(value, count, m);
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

bool ufs_odd(int n, const double *x, int *look, double *between)
{
    double value[STEPS], end[ENDS], most = x[0], least = x[0];
    int count[STEPS], times[ENDS], found = 0;

    for (int i = 0; i < n; i++) {
        if (!R_FINITE(x[i])) return false;
        most = x[i] > most ? x[i] : most;
        least = x[i] < least ? x[i] : least;
    }
    bool few = different(n, 1 + n / 100, x, FEW, value, count) <= FEW;
    int m = few ? different(n, 1, x, STEPS, value, count) : 0;
    *look = 0;
    for (int e = 0; e < 2; e++) {
        double sign = e == 0 ? 1.0 : -1.0;
        int ends = m > 0 && m <= STEPS ? last_of(m, value, count, sign, end, times)
                                       : largest(n, x, sign, end, times);
        if (apart(ends, end, times, e == 0 ? least : -most, n, few, sign)) *look = 1;
    }
    *between = NA_REAL;
    for (int i = 0; i < m && m >= 6 && m <= STEPS; i++) {
        if (count[i] < 2 || count[i] >= 0.05 * n || !off_steps(m, value, i)) continue;
        *between = value[i];
        found++;
    }
    if (found != 1) *between = NA_REAL;
    return true;
}
