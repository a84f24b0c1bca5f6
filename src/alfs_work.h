/* alfs_work.h: what the files of solve_alfs.h share, and nobody else includes. */
#ifndef UFS_ALFS_WORK_H
#define UFS_ALFS_WORK_H

#include "alfs_space.h"
#include "solve_alfs.h"

enum { ROWS = 0, COLS = 1, WEIGHTS = 2 };

/* One split W = copy (W B = Z), with its penalty and its multiplier in one matrix V. */
typedef struct {
    bool on;
    double penalty;  /* alpha, beta, lambda */
    double rho;      /* of this iteration */
    double held;     /* the rho in whose units V is kept: L = held (V - copy) */
    double next;     /* the rho of the next iteration */
    double pending;  /* and of the one after */
    double *v;       /* m x q; weights: m x m, NULL = Z is W B itself */
    double *cut;     /* 1 - (shrink factor) of each row or column of V */
    double *norm;    /* of each row or column of V */
    double residual; /* || W - copy || / max(||W||, ||copy||) */
    double change;   /* || copy - previous copy || */
    double size;     /* || L || */
    double biggest;  /* max |W B - Z| (Algorithm 1) */
} alfs_split;

/* The bounds of the optimum found so far. */
typedef struct {
    double best, dual;           /* lowest F, highest dual value */
    double now;                  /* dual value at the last certificate */
    double current;              /* F of the last W */
    double best_then, dual_then; /* at the check before; 0: there was none */
    double theta, scale;         /* how the last dual point splits and scales E */
    double theta_zero;           /* the split that proves W = 0 */
} alfs_value;

/* The side of lambda; also Z = W B of Algorithm 1 at lambda = 0, which has no V and T. */
typedef struct {
    double *t;     /* T, m x m */
    double *strip; /* m x width */
    int width;
    double *outer_t;             /* rb x m */
    double *wb;                  /* m x rb: coordinates of W B */
    double *mv, *lv;             /* (rho Z - L1) outer and L1 outer, m x rb */
    double *lifted, *tmp, *core; /* P (2 a target), scratch, r x rb */
    double sum;                  /* sum T |W B| of the last W */
    double *candidate;           /* m x q */
    /* repair() of the bound */
    const double *x; /* m x q: the columns of W in use */
    double *key, *gram, *few, *one, *rhs;
    int *pick, *live;
} alfs_weights;

typedef struct {
    const alfs_settings *settings;
    alfs_space space;
    alfs_split split[3];
    alfs_weights *weights; /* or NULL */
    alfs_value value;
    double gamma;              /* over-relaxation */
    double unit, unit_w;       /* what X, and W, were divided and multiplied by */
    double *core;              /* r x rb: of the last W */
    double *scratch;           /* r x rb */
    double *lift, *lift_g;     /* N of the last W = (H + N y) / rr, and of the gradient */
    double *row, *row_new;     /* m: coefficients of H, and of the new V */
    double *row_sum, *col_sum; /* m x 4, q x 3 */
    double *kept;              /* m x q: W itself (Algorithm 1), or NULL */
    bool repairs;              /* try repaired candidates */
    bool warm;                 /* started from another run */
} alfs_work;

/* ---- alfs_step.c ---- */

/* V of rows and columns to zero. */
void alfs_clear(alfs_work *work);
void alfs_next_penalties(alfs_work *work);
/* W from the copies and multipliers: its core, and N of W = (H + N y) / rr. */
void alfs_update_w(alfs_work *work);
/* Columns from, ..., from + n - 1 of W. */
void alfs_w_block(const alfs_work *work, int from, int n, double *out);
/* The new V, and what balance() reads; `advance` = false measures only. Either way the F of
 * W, and the residuals. */
void alfs_update_copies(alfs_work *work, bool advance);
/* cut = min(1, penalty / (rho ||V_i||)), so that L = rho cut V has norm <= penalty. */
void alfs_shrinkage(alfs_work *work, int which);
void alfs_balance(alfs_work *work);

/* Scratch for the sizes of work->space; the splits get fresh cuts. */
void alfs_allocate(alfs_work *work);
/* One row of the trace: `dual` is the bound of the whole problem. */
void alfs_record(const alfs_work *work, double dual, ufs_run *run);
/* Status of an objective and a gap that prove what they can; true if the run ends here. */
bool alfs_judge(double best, double gap, const alfs_settings *settings, ufs_run *run);
/* H, copies and multipliers of the whole problem's penalties to those of another, and back. */
void alfs_copy_penalties(alfs_work *to, const alfs_work *from);

/* ---- alfs_weights.c ---- */

/* For work->space; penalty and V are set. x: m x q, kept for repair(). */
void alfs_weights_init(alfs_work *work, const double *x, bool with_t);
/* The same on other columns: T and V are shared. */
void alfs_weights_columns(alfs_work *work, const alfs_work *full, const double *x);
void alfs_weights_update_w(alfs_work *work);
void alfs_weights_update(alfs_work *work, bool advance);
/* MV from V alone, for a change of `outer`. */
void alfs_weights_gather(alfs_work *work);
/* lv = L1 outer. */
void alfs_weights_multiplier(alfs_work *work);
/* sum_ij T_ij |(W B)_ij| for the W whose acc the space holds. */
double alfs_weighted_sum(alfs_work *work);
/* out (m x m) = w B. */
void alfs_weights_product(alfs_work *work, const double *w, double *out);
/* W = 0 proved without an iteration; V becomes 2X'X then. */
bool alfs_weights_zero(alfs_work *work);
/* W with w_i x_j = 0 for some j of large T_ij. */
void alfs_repair(alfs_work *work, double *w);

/* v clamped to [-bound, bound]: the multiplier part of V; without branches. */
static inline double alfs_clamp(double v, double bound)
{
    double c = v > bound ? bound : v;
    return c < -bound ? -bound : c;
}

/* ---- solve_alfs_bound.c ---- */

/* Sets value.now, and raises value.dual, by the best of a few feasible points near the
 * multipliers. outside: the largest ||G_.j|| / beta of columns that are not in work, whose bound is
 * then that of the whole problem; negative: work's own. */
void alfs_dual_bound(alfs_work *work, double outside);
/* Lowers value.best, and writes the W that did it, by a few sparse candidates. */
void alfs_primal_bound(alfs_work *work, double *best_w);
/* P = s (L2 + theta E), Q = s (L3 + (1 - theta) E), L = s L1 of the last dual bound. They may
 * be written over V. */
void alfs_write_dual(alfs_work *work, double *p, double *q, double *l);
/* The optimality residual at W, P, Q, L (in the units of work), and F(W). */
double alfs_kkt(alfs_work *work, const alfs_result *result);
/* lift_g from the core of some W, with ||residual||^2 and <residual, D>. */
void alfs_gradient(alfs_work *work, const double *core, double *ss, double *inner);

/* ---- alfs_columns.c ---- */

/* Grows a set of columns of W, from those of largest gradient or those in use, after a
 * certificate, until the whole problem is solved. False: the set became too large; work holds a
 * start for the whole problem. newton: whether Newton's method is wanted and has not failed yet. */
bool alfs_grow_weighted(alfs_work *work, const ufs_x *x, bool *newton, alfs_result *result,
                        ufs_run *run);
/* Whether Newton's method is likely to be faster from this gap on. */
bool alfs_newton_pays(const alfs_work *work, double gap);

/* ---- alfs_newton.c ---- */

/* Newton steps on the problem of work, x its columns of X, from best_w, until the gap is below
 * the goal. Lowers value.best with best_w, raises value.dual; V is P, Q, L then, and before if
 * `warm`. smooth: the first smoothing, and the last. bound: the dual value of the whole problem,
 * for the trace. False: given up. */
bool alfs_newton(alfs_work *work, const double *x, double goal, bool warm, double *smooth,
                 double *best_w, double bound, ufs_run *run);
/* The gap below which that is likely to be faster than ADMM on q columns; 0: never. */
double alfs_newton_from(int m, int q, int r);

#endif
