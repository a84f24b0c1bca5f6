/* kmeans.h: k-means from many starts, min sum_i count_i ||x_i - m_{label_i}||^2 over partitions of
 * the samples into c clusters with means m; see kmeans.c. */
#pragma once

#include "x_ops.h"

typedef struct {
    ufs_x x; /* dense or sparse */
    int c;   /* 1 <= c < n; at least c samples differ, from each other and those fixed */
    const double *shrink; /* sparse: what each row is multiplied by, or NULL */
    const double *count;  /* n: how many samples each stands for, positive; NULL: one */
    const int *first;     /* n, 0-based: first sample equal to sample i */
    int n_fixed;      /* samples that are centres and stay where they are, beside the c others */
    const int *fixed; /* 0-based */
} kmeans_problem;

typedef struct {
    int n_start, max_iter; /* iterations per start, over both phases */
    int most;              /* starts that go on after the first few passes: the best ones */
    const double *draw;    /* c x n_start numbers in [0, 1) */
} kmeans_settings;

/* The caller's arrays. */
typedef struct {
    int *label;      /* n x n_start, 0..c-1, every one in use; c + l: the fixed centre l */
    double *within;  /* n_start: the sum of squares */
    int *iterations; /* n_start */
} kmeans_result;

/* run->status: UFS_MAX_ITER if one of the starts that went on did not end; UFS_NUMERICAL if the squared distances
 * cannot be held: all labels are 0 then and `within` is NaN. lapack: of the coordinates. */
void kmeans_solve(const kmeans_problem *problem, const kmeans_settings *settings,
                  kmeans_result *result, ufs_run *run);
