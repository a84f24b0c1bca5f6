/* x.h: the matrix of x_ops.h as a record: what it holds, without what is done with it. */
#pragma once

#include "ufs.h"

typedef enum { UFS_X_DENSE, UFS_X_SCALED, UFS_X_SPARSE, UFS_X_SOURCE } ufs_x_kind;

/* A function of a source (R/data-source-operator.R) and what it gets: indices, then numbers. */
typedef struct {
    const char *name;
    int m; /* asked of the columns j[0..m) instead of X; j NULL: all */
    const int *j;
    int n_index; /* 0-based; NULL: none */
    const int *index;
    int rows, cols; /* rows 0: a vector, NULL: none */
    const double *value;
} ufs_x_call;

typedef struct {
    void *data;
    int at_once; /* columns that fit into a block */
    /* out: `length` numbers */
    void (*call)(void *data, const ufs_x_call *what, size_t length, double *out);
} ufs_x_source;

typedef struct {
    ufs_x_kind kind;
    int n, p;
    const double *dense;          /* n x p, as the solvers see it; scaled: R, as it came */
    const int *row, *start;       /* sparse: the user's column u holds the entries */
    const double *value;          /*   start[u] .. start[u + 1] - 1, rows ascending */
    const int *column;            /* not dense: p, 0-based column of the user's; NULL: j itself */
    const double *shift, *divide; /* not dense: p each, m_j and s_j; NULL: none */
    const double *ss;             /* p: ||x_j||^2 where known, or NULL */
    ufs_x_source source;
    const ufs_hook *hook; /* who watches over long runs, told at every product; or NULL */
} ufs_x;

/* Of a column that is not dense: where the user has it, and what it is shifted and divided by. */
static inline int ufs_x_user(const ufs_x *x, int j)
{
    return x->column ? x->column[j] : j;
}

static inline double ufs_x_shift(const ufs_x *x, int j)
{
    return x->shift ? x->shift[j] : 0.0;
}

static inline double ufs_x_divide(const ufs_x *x, int j)
{
    return x->divide ? x->divide[j] : 1.0;
}

/* The same of a sparse X part by part, so that nothing is p x p: every g_jl once. x_sparse.c. */
typedef struct {
    int n_left;
    const int *left; /* rows of G, */
    int n_right;
    const int *right;    /* and its columns: */
    const double *value; /* g is value[a by_left + b by_right] for left[a] and right[b] */
    size_t by_left, by_right;
} ufs_x_gram_part;
