/* ted.h: greedy transductive experimental design (see ted.c). */
#pragma once

#include "x_ops.h"

typedef struct {
    const ufs_x *x;     /* n x p, rows = items */
    double mu;          /* ridge, > 0 */
    int n_given;        /* items chosen beforehand, */
    const int *given;   /* 0-based, all different */
    const int *allowed; /* n: which may be picked; NULL: all */
    const double *cost; /* n: what a pick costs, > 0; NULL: nothing */
    double budget;      /* of all picks */
    bool per_cost;      /* with costs: the largest decrease per unit of cost is best */
} ted_problem;

typedef struct {
    int m;     /* picks, 1..n - n_given */
    char form; /* 'n', 'p', or 'a' for the cheaper one */
} ted_settings;

/* The vectors are the caller's. */
typedef struct {
    int count;     /* picks made: fewer than m if nothing that is left may be picked */
    int *order;    /* m: 0-based items in the order of picking */
    double *score; /* m: decrease of the objective by each pick */
    double *left;  /* n: decrease each item would bring next; 0 for picked and given ones */
    double start;  /* objective before the first pick: ||x||_F^2 if none is given */
    bool p_form;
} ted_result;

/* The rows of a kernel, K ~ root root'. */
typedef struct {
    const ufs_x *x; /* n x p, rows = items: K_ij = exp(-|x_i - x_j|^2 / width); or NULL, and */
    double width;   /*   kernel is K */
    int n;          /* items */
    const double *kernel; /* n x n */
    double tol;           /* ends when this share of tr K is left */
    int most;             /* ends at so many columns */
} ted_kernel;

/* The vectors are the caller's. */
typedef struct {
    double *root;       /* n x most */
    int *pivot;         /* most: 0-based items whose columns of K were read */
    int rank;           /* columns of root filled */
    double trace, left; /* tr K, tr(K - root root') */
    double least;       /* smallest K_ii met, also after columns have left K: a negative one
                         * says that K is not semidefinite */
} ted_root;

void ted_kernel_root(const ted_kernel *kernel, ted_root *result);

/* Trace columns: objective (after each pick), decrease. */
void ted_solve(const ted_problem *problem, const ted_settings *settings, ted_result *result,
               ufs_run *run);
