/* kmeans.h: k-means from many starts, min sum_i ||x_i - m_{label_i}||^2 over partitions of the
 * samples into c clusters with means m; see kmeans.c. */
#ifndef UFS_KMEANS_H
#define UFS_KMEANS_H

#include "ufs.h"

typedef struct {
    int n, p, c;      /* 2 <= c < n; at least c different samples */
    const double *x;  /* n x p */
    const int *first; /* n, 0-based: first sample equal to sample i */
} kmeans_problem;

typedef struct {
    int n_start, max_iter; /* iterations per start, over both phases */
    const double *draw;    /* c x n_start numbers in [0, 1) */
} kmeans_settings;

/* The caller's arrays. */
typedef struct {
    int *label;      /* n x n_start, 0..c-1, every cluster in use */
    double *within;  /* n_start: the sum of squares */
    int *iterations; /* n_start */
} kmeans_result;

/* run->status: UFS_MAX_ITER if one of the starts did not end; UFS_NUMERICAL if the squared distances
 * cannot be held: all labels are 0 then and `within` is NaN. lapack: of the coordinates. */
void kmeans_solve(const kmeans_problem *problem, const kmeans_settings *settings,
                  kmeans_result *result, ufs_run *run);

#endif
