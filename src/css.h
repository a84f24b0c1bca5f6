/* css.h: column subset selection (see css_solve.c). */
#pragma once

#include "quota.h"
#include "x_ops.h"

typedef struct {
    int n, p;
    const ufs_x *x; /* n x p, never formed */
} css_problem;

/* What the user asks of the columns. */
typedef struct {
    int n_include;
    const int *include; /* chosen first, in this order, and never exchanged; they count in k */
    const bool *barred; /* p: never chosen, but rebuilt; or NULL */
    const double *cost; /* p, positive; or NULL for ones */
    double budget;      /* the costs of the columns chosen add up to no more; may be infinite */
    const int *group;   /* p: columns of one number go together; or NULL. Needs the p-form */
    const int *places;  /* p: of groups, what a column takes of `room`; NULL: one place of k */
    int room;
    double max_cor;     /* |r| of two chosen columns, but included ones; at least 1: any */
    const double *mean; /* p: x_j'1 over the length of 1, or of what stands for it; NULL: zero */
    ufs_quota quota;
} css_constraints;

typedef struct {
    int k;                /* picks, 1..p */
    double mu;            /* ridge, >= 0 */
    char form;            /* 'n', 'p', 'a' for the cheaper one of these, or 'x', see css_solve.c */
    int max_swaps;        /* after the last pick */
    int exact_limit;      /* all eigenvalues up to this order, the first 30 above */
    int n_starts;         /* at least 1 */
    const double *random; /* (n_starts - 1) x (k + 1) uniform numbers, those of a start together */
    int target;           /* rebuild so many leading components; 0: all columns */
    bool prove;           /* that no other set holds more; within max_iter nodes of the run */
    css_constraints held;
} css_settings;

/* Filled by css_solve; the vectors are the caller's. */
typedef struct {
    int n_chosen;    /* k, or fewer where the constraints allow no more */
    int *order;      /* k: 0-based columns as picked */
    double *left;    /* p: decrease that each other column would bring next */
    double *leading; /* k: no t + 1 directions capture more than leading[t] */
    double *held;    /* k: what the first t + 1 of the order hold of the target by least squares */
    double *target_leading; /* k: and what so many directions can hold of it at most */
    double start;           /* ||x||_F^2 */
    double target_start;    /* the same of the target, which is x unless settings say otherwise */
    int swaps;
    int met;            /* starts that ended with the squares of the best one */
    double bound;       /* prove: no set that the constraints allow holds more of the target */
    double nodes;       /* prove: of the search */
    int affordable;     /* a budget pays for at most so many columns */
    bool p_form, exact; /* leading is the sum of squared singular values? */
} css_result;

void css_solve(const css_problem *problem, const css_settings *settings, css_result *result,
               ufs_run *run);

/* Squares that the k leading principal directions capture, sums for 1..k (see css_solve.c), and
 * all squares. Returns LAPACK's info. */
int css_leading(const css_problem *problem, int k, int exact_limit, double *leading, double *total,
                bool *exact);
