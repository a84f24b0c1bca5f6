/* alfs_work.h: what the files of alfs.h share, and nobody else includes. */
#pragma once

#include "alfs_space.h"
#include "la.h"

enum { ROWS = 0, COLS = 1, WEIGHTS = 2 };
enum { ALFS_CHECK_EVERY = 10 }; /* iterations between certificates */

/* One split W = copy (W B = Z), with its penalty and its multiplier in one matrix V. A line is a
 * row of V or a column; the split of the weights has none (n = 0). */
typedef struct {
    bool on;
    int n;                  /* lines */
    size_t of_row, of_col;  /* entry (i, j) is in line i of_row + j of_col: (1, 0) or (0, 1) */
    double penalty;         /* alpha, beta, lambda */
    double rho;             /* of this iteration */
    double rho_of_v;        /* the rho in whose units V is kept: L = rho_of_v (V - copy) */
    double rho_next;        /* the rho of the next iteration */
    double rho_after;       /* and of the one after */
    double *v;              /* m x q; weights: m x m, NULL = Z is W B itself */
    double *cut;            /* 1 - (shrink factor) of each line of V */
    double *norm;           /* of each line of V */
    double *factor, *fresh; /* of each line of V in H, and in the new V */
    double *sum;            /* scratch: four sums of each line */
    double *fit;            /* what brings each line of G - (the other L) within its bound */
    double ridge;           /* the penalty of the regression that ADMM starts from */
    double misfit_ss;       /* ||W - copy||^2 */
    double residual;        /* || W - copy || / max(||W||, ||copy||) */
    double change;          /* || copy - previous copy || */
    double size;            /* || L || */
    double biggest;         /* max |W B - Z| (Algorithm 1) */
} alfs_split;

/* The bounds of the optimum found so far. */
typedef struct {
    double best, dual;           /* lowest F, highest dual value */
    double now;                  /* dual value at the last certificate */
    double current;              /* F of the last W */
    double best_then, dual_then; /* at the check before; 0: there was none */
    double scale;                /* of the last dual point, */
    int first;                   /* and the side that was fitted there */
} alfs_value;

/* The side of lambda; also Z = W B of Algorithm 1 at lambda = 0, which has no V and T. */
typedef struct {
    double *t;                   /* T, m x m */
    double *all;                 /* m x m, shared scratch: W B, or what is multiplied by outer */
    double *wb;                  /* m x rb: coordinates of W B */
    double *mv, *lv;             /* (rho Z - L1) outer and L1 outer, m x rb */
    double *lifted, *tmp, *core; /* P (2 a target), scratch, r x rb */
    double sum;                  /* sum T |W B| of the last W */
} alfs_weights;

typedef struct {
    const alfs_problem *problem; /* the whole one, with its settings, result and run */
    const alfs_settings *settings;
    alfs_result *result;
    ufs_run *run;
    const double *bound; /* its dual value, for the trace */
    alfs_space space;
    alfs_split split[3];
    double *w;             /* m x q: the W of value.best (Algorithm 1: the last one) */
    alfs_weights *weights; /* or NULL; their split is on if lambda > 0 */
    alfs_value value;
    double gamma;               /* over-relaxation */
    double x_divisor, w_factor; /* what X was divided by, and W multiplied by */
    double *core;               /* r x rb: of the last W */
    double *scratch;            /* r x rb */
    double *lift, *lift_g;      /* N of the last W = (H + N y) / rr, and of the gradient */
    const double *x;            /* m x q, of a set of columns: these, in its units; else NULL */
    bool newton;                /* Newton's method is wanted and has not failed yet */
} alfs_work;

/* ---- alfs_step.c ---- */

void alfs_next_penalties(alfs_work *work);
/* W from the copies and multipliers: its core, and N of W = (H + N y) / rr. */
void alfs_update_w(alfs_work *work);
/* The new V, and what balance() reads; `advance` = false measures only. Either way the F of
 * W, and the residuals. */
void alfs_update_copies(alfs_work *work, bool advance);
/* cut = min(1, penalty / (rho ||V_i||)), so that L = rho cut V has norm <= penalty. */
void alfs_shrinkage(alfs_work *work);
/* Of the rows, or columns, of w (m x q). */
void alfs_norms(const alfs_split *split, int m, int q, const double *w, double *out);
/* The line of entry (i, j). */
static inline size_t alfs_line(const alfs_split *split, size_t i, size_t j)
{
    return i * split->of_row + j * split->of_col;
}

/* Scratch for the sizes of work->space; the splits get fresh cuts. */
void alfs_allocate(alfs_work *work);
/* One row of the trace. */
void alfs_record(const alfs_work *work);

/* ---- alfs_step.c: the side of lambda ---- */

/* For work->space; penalty and V are set. T is made if lambda > 0 and it is not there yet. */
void alfs_weights_init(alfs_work *work);
/* lv = L1 outer. */
void alfs_weights_multiplier(alfs_work *work);

/* ---- alfs_step.c: the certificate ---- */

/* Sets value.now, and raises value.dual, by the best of a few feasible points near the
 * multipliers. outside: the largest ||G_.j|| / beta of columns that are not in work, whose bound is
 * then that of the whole problem; negative: work's own. */
void alfs_dual_bound(alfs_work *work, double outside);
/* s P, s Q, s L of the last bound; even over V. */
void alfs_write_dual(alfs_work *work, double *p, double *q, double *l);
/* F of w; of that candidate if NULL. */
double alfs_objective(alfs_work *work, const double *w);
/* The optimality residual at W, P, Q, L of the result, in the units of work. */
double alfs_kkt(alfs_work *work);
/* The block of G that begins at column `from`, by lift_g; returns its columns. */
int alfs_gradient_block(const alfs_work *work, int from);
/* lift_g from the core of some W, with ||residual||^2 and <residual, D>. */
void alfs_gradient(alfs_work *work, const double *core, double *ss, double *inner);

/* ---- alfs_newton.c ---- */

/* Newton steps on the problem of work, a set of columns, from its best W, until the gap is below
 * the goal. Lowers value.best with that W, raises value.dual; V is P, Q, L then. smooth: the first
 * smoothing, and the last. False: given up. */
bool alfs_newton(alfs_work *work, double goal, double *smooth);

/* ---- alfs_step.c: iterations in a row ---- */

/* The gap below which Newton's method is likely to be faster than ADMM on q columns; 0: never. */
double alfs_newton_from(int m, int q, int r);
/* Iterations, at most so many, until the gap is below the goal or Newton's method pays, ending at a
 * certificate whose V are kept. */
void alfs_iterate(alfs_work *work, int most, double goal);
/* The dual bound, and its pair where that is kept at once. */
void alfs_certify(alfs_work *work);
/* Whether column j of Wtilde is not zero, or nearly so. */
bool alfs_is_used(const alfs_work *work, int j);

/* Status of an objective and a gap that prove what they can; true if the run ends here. */
bool alfs_judge(const alfs_work *work);

/* ---- alfs_columns.c ---- */

/* Grows a set of columns of W, from those of largest gradient or those in use, after a
 * certificate, until the whole problem is solved. False: the set became too large; work holds a
 * start for the whole problem. */
bool alfs_grow_weighted(alfs_work *work);
