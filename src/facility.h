/* facility.h: choosing samples by facility location (see facility.c). */
#pragma once

#include "x_ops.h"

typedef enum {
    FACILITY_COSINE = 0, /* s_ij = 1 + x_i'x_j / (|x_i| |x_j|) */
    FACILITY_HEAT = 1,   /* s_ij = exp(-|x_i - x_j|^2 / bandwidth) */
    FACILITY_DENSE = 2,  /* given, n x n */
    FACILITY_SPARSE = 3  /* given, zeros not stored */
} facility_kind;

/* An n x n matrix by columns: all of its numbers, or, if `start` is not NULL, rows
 * index[start[j] .. start[j + 1] - 1] of column j. */
typedef struct {
    const int *start, *index;
    const double *value;
} facility_matrix;

/* s_ij >= 0 says how well candidate j stands for sample i. */
typedef struct {
    int n, p;
    facility_kind kind;
    ufs_x x;                           /* n x p, for cosine and heat; sparse with a table only */
    double bandwidth;                  /* heat */
    facility_matrix candidate, sample; /* given: S and S' */
    int n_labelled;
    const int *labelled; /* 0-based; they cover already and are no candidates */
    const int *allowed;  /* n: which samples are candidates; NULL: all */
    const double
        *cost; /* n, positive: what all picks together cost is at most the budget; or NULL */
    double budget;
} facility_problem;

typedef struct {
    int m;             /* picks, 1 .. as many as there are candidates */
    int max_swaps;     /* after the last pick */
    bool table;        /* cosine and heat: keep the n x n similarities */
    const int *drawn;  /* n: without a table, which candidates are looked at; NULL: all. The
                          bound is for all of them */
    double pair_bytes; /* without a table: what pairs of samples that are kept may take */
} facility_settings;

/* Filled by facility_solve; the vectors, but for `change`, are the caller's. */
typedef struct {
    int picks;     /* fewer than m where the budget is spent */
    int *order;    /* m: candidates, 0-based, as picked */
    double *left;  /* n: what each other candidate would add next */
    double *bound; /* m: no t + 1 candidates have a larger value than bound[t]; with costs all are
                         that of the budget */
    int *first;    /* n: who stands for a sample before the first pick, -1 = nobody */
    ufs_trace change; /* later changes: at this pick, this sample moves to the candidate picked */
    double start, value; /* F before the first and after the last pick */
    int swaps;
} facility_result;

void facility_solve(const facility_problem *problem, const facility_settings *settings,
                    facility_result *result, ufs_run *run);
