/* prepare.h: the input pass, from the user's matrix to the one that solvers see. */
#pragma once

#include "ufs.h"

/* ---- the rule: which columns can be used --------------------------------------------------
 * One for all containers; ufs_data() has it in words. The moments of a column are taken in units of
 * a power of two near its largest value (2^0 between 2^-400 and 2^400), where neither squares nor
 * their sum overflow or vanish; so the user's unit decides nothing.
 *   constant: the largest and the least value are within a few units of rounding, which is what
 *             computing them may have left, for any n.
 *   unfit:    not constant, and a value above 2^1000 or a standard deviation below 2^-1000: what
 *             centring and scaling make of it cannot be held, or is made of denormal numbers. */
typedef struct {
    double low, high;     /* least and largest value */
    int exponent;         /* of the unit 2^exponent, which the others are in */
    double mean, css, ss; /* css: centred sum of squares, ss: plain */
} prepare_moments;

typedef struct {
    bool constant, unfit;
    double mean, sd, centred, plain; /* sd: denominator n - 1; the last two are norms */
} prepare_column;

/* Of a column of n rows that is zero but for `count` values (dense: n). False if one is not finite;
 * nothing else is then set. Three passes, about 8 flops per value, a fourth where the column is
 * nearly constant. */
bool prepare_moments_of(int n, int count, const double *value, prepare_moments *moments);
prepare_column prepare_judge(int n, const prepare_moments *moments);

/* Rows of the prepared matrix (n x q) to unit length, in place, whatever the unit of x; those of
 * no more than `tiny` times the longest stay as they are. norm: scratch of length n. 4nq flops. */
void prepare_samples(int n, int q, double tiny, double *x, double *norm);
/* Takes the mean from every column of x (n x p), in place; mean: length p. 4np flops. */
void prepare_center(int n, int p, double *x, double *mean);
/* m rows and q columns of x, at 0-based indices or NULL for all of them; shift and divide have one
 * number for each of the q columns, or are NULL. */
typedef struct {
    int m, q;
    const int *rows, *columns;
    const double *shift, *divide;
} prepare_part;

/* out (m x q) = (x - shift) / divide for a part of x, which has n rows. No memory of its own. */
void prepare_take(int n, const double *x, const prepare_part *part, double *out);

/* Blocks of rows, and weights: each NULL but block and mean where there is no such part. */
typedef struct {
    int n, n_blocks;
    const int *block;            /* n, from 1 */
    const double *mean, *factor; /* a column of n_blocks for each column of x */
    bool squared;
    const double *add, *root; /* one for each column; n */
} prepare_plan;

/* out = ((x - mean of its block) * factor of its block, squared or not, + add) * root for column j of x;
 * out may be x. */
void prepare_planned(const prepare_plan *plan, int j, const double *x, double *out);
