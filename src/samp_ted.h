/* samp_ted.h: greedy transductive experimental design (see samp_ted.c). */
#ifndef UFS_SAMP_TED_H
#define UFS_SAMP_TED_H

#include "x_ops.h"

typedef struct {
    const ufs_x *x;   /* n x p, rows = items */
    double mu;        /* ridge, > 0 */
    int n_given;      /* items chosen beforehand, */
    const int *given; /* 0-based, all different */
} ted_problem;

typedef struct {
    int m;     /* picks, 1..n - n_given */
    char form; /* 'n', 'p', or 'a' for the cheaper one */
} ted_settings;

/* The vectors are the caller's. */
typedef struct {
    int *order;    /* m: 0-based items in the order of picking */
    double *score; /* m: decrease of the objective by each pick */
    double *left;  /* n: decrease each item would bring next; 0 for picked and given ones */
    double start;  /* objective before the first pick: ||x||_F^2 if none is given */
    bool p_form;
} ted_result;

/* Trace columns: objective (after each pick), decrease. */
void ted_solve(const ted_problem *problem, const ted_settings *settings, ted_result *result,
               ufs_run *run);

#endif
