/* base_css.h: greedy column subset selection (see base_css.c). */
#ifndef UFS_BASE_CSS_H
#define UFS_BASE_CSS_H

#include "x_ops.h"

typedef struct {
    int n, p;
    const ufs_x *x; /* n x p, never formed */
} css_problem;

typedef struct {
    int k;           /* picks, 1..p */
    double mu;       /* ridge, >= 0 */
    char form;       /* 'n', 'p', or 'a' for the cheaper one */
    int max_swaps;   /* after the last pick */
    int exact_limit; /* all eigenvalues up to this order, the first 30 above */
} css_settings;

/* Filled by css_solve; the vectors are the caller's. */
typedef struct {
    int *order;      /* k: 0-based columns as picked */
    double *left;    /* p: decrease that each other column would bring next */
    double *leading; /* k: no t + 1 directions capture more than leading[t] */
    double start;    /* ||x||_F^2 */
    int swaps;
    bool p_form, exact; /* leading is the sum of squared singular values? */
} css_result;

void css_solve(const css_problem *problem, const css_settings *settings, css_result *result,
               ufs_run *run);

/* Squares that the k leading principal directions capture, sums for 1..k (see base_css.c), and
 * all squares. Returns LAPACK's info. */
int css_leading(const css_problem *problem, int k, int exact_limit, double *leading, double *total,
                bool *exact);

#endif
