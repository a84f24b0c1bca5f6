/* samp_ted.h: greedy transductive experimental design (see samp_ted.c). */
#ifndef UFS_SAMP_TED_H
#define UFS_SAMP_TED_H

#include "ufs.h"

typedef struct {
    int n, p;        /* items, coordinates */
    const double *x; /* n x p, rows = items */
} ted_problem;

typedef struct {
    int m;      /* picks, 1..n */
    double mu;  /* ridge, > 0 */
    char form;  /* 'n', 'p', or 'a' for the cheaper one */
    const ufs_hook *hook;
} ted_settings;

/* Filled by ted_solve; the caller provides the vectors. */
typedef struct {
    int *order;    /* m: 0-based items in the order of picking */
    double *score; /* m: decrease of the objective by each pick */
    double *left;  /* n: decrease each item would bring next; 0 for picked ones */
    double start;  /* objective before the first pick, ||x||_F^2 */
    bool p_form;
    int lapack_info;
} ted_info;

void ted_solve(const ted_problem *problem, const ted_settings *settings,
               ted_info *info);

#endif
