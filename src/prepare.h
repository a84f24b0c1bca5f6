/* prepare.h: the input pass, from the user's matrix to the one that solvers see. */
#ifndef UFS_PREPARE_H
#define UFS_PREPARE_H

#include "ufs.h"

/* What a column is divided by: nothing, its standard deviation (n - 1) or its norm
 * (the standard deviation times sqrt(n - 1)). Constant columns are not divided. */
typedef enum { PREPARE_PLAIN = 0, PREPARE_SD = 1, PREPARE_NORM = 2 } prepare_divide;

/* One number that divides all columns: 1, the mean norm of the prepared rows (as if no
 * column were left out: constant ones count if they are not centred), or the power of two
 * next above the largest prepared entry. SAMPLE is 1 for the columns; prepare_samples() follows. */
typedef enum {
    PREPARE_ONE = 0,
    PREPARE_ROW = 1,
    PREPARE_POWER = 2,
    PREPARE_SAMPLE = 3
} prepare_unit;

typedef struct {
    int n, p;
    const double *x; /* n x p */
    bool center;
    prepare_divide divide;
} prepare_problem;

/* All of length p, the caller's. */
typedef struct {
    int *bad;      /* 1 if the column has a value that is not finite */
    int *constant; /* 1 if its centred sum of squares is at most (n eps)^2 times its sum
                         of squares: rounding, no signal */
    double *shift; /* mean, or 0 */
    double *divide;
    double *norm;     /* of the prepared column (Inf if it cannot be represented) */
    double *variance; /* of the column as it came, denominator n - 1 */
    double *largest;  /* bound on |entry| of the prepared column */
} prepare_stats;

/* The statistics of every column; true if no value is bad (with bad ones the statistics are
 * not complete). Sums are taken relative to a power of two where squares could overflow or
 * vanish. Two passes over each column, about 7np flops; a third where it is nearly
 * constant. No memory of its own. */
bool prepare_scan(const prepare_problem *problem, prepare_stats *stats);
/* The unit over the columns keep[0..q). row: scratch of length n. */
double prepare_find_unit(const prepare_problem *problem, const prepare_stats *stats,
                         prepare_unit unit, int q, const int *keep, double *row);
/* out (n x q) = (x - shift) / divide / unit for the columns keep[0..q); centred constant
 * ones are exactly zero. 3nq flops. */
void prepare_write(const prepare_problem *problem, const prepare_stats *stats, double unit, int q,
                   const int *keep, double *out);

/* Rows of the prepared matrix (n x q) to unit length, in place, whatever the unit of x; those of
 * no more than `tiny` times the longest stay as they are. norm: scratch of length n. 4nq flops. */
void prepare_samples(int n, int q, double tiny, double *x, double *norm);
/* Takes the mean from every column of x (n x p), in place; mean: length p. 4np flops. */
void prepare_center(int n, int p, double *x, double *mean);
/* out (m x q) = (x - shift) / divide for the rows and columns at the 0-based indices, NULL for
 * all (m = n, q = p); shift and divide (of the q columns) may be NULL. No memory of its own. */
void prepare_take(int n, const double *x, int m, const int *rows, int q, const int *columns,
                  const double *shift, const double *divide, double *out);

/* For every column (or row) the 0-based index of the first one equal to it (itself if none).
 * Equality is of values, so 0 and -0 agree. Hash, sort, compare: O(np + p log p). */
void prepare_equal(int n, int p, const double *x, bool columns, int *first);

#endif
