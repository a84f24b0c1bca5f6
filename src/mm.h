/* mm.h: majorise-minimise over sums of norms, one engine for RSR, UDFS, SOGFS, RRSS and ALNR
 * (mm.c). */
#ifndef UFS_MM_H
#define UFS_MM_H

#include "anderson.h"
#include "ufs.h"

typedef struct mm mm;

/* A penalty on p row norms, of which those that are zero may be left out, and on `others` more
 * norms (residuals), all smoothed: sqrt(norm^2 + eps). */
typedef struct {
    int p, others;
    int least;       /* rows at least that are at hand; p: none is ever left out */
    bool accelerate; /* otherwise the plain iteration, and nothing is left out */
    bool clears;     /* at the end all rows that are zero become so exactly */
    void *data;
    /* One step from the weights: s->u -> the minimiser of the majoriser -> s->plain, s->merit,
     * s->dual of the rows at hand. LAPACK's info. */
    int (*step)(void *data, mm *s);
    /* After every step, refused or not: trace, certificate; of an accepted one true ends the run,
     * with s->status. */
    bool (*judge)(void *data, mm *s, bool accepted);
} mm_problem;

struct mm {
    const mm_problem *problem;
    int iterations, max_iter, lapack;
    ufs_status status;
    double merit; /* smoothed objective of the last step: plain ones never raise it */
    double best;  /* and of the last accepted one */
    int q, *set;  /* rows at hand, ascending: those with u > 0 */
    /* By the p rows, then by the others; of a row left out u is 0, and plain has to be. */
    double *u;     /* roots of the smoothed norms that the weights stand for */
    double *plain; /* those of the point that the step found */
    double *left;  /* 1 - d log(norm) / d log(weight's norm), by itself, at most 1: where known */
    /* |subgradient| over its bound for all p rows, in use 1 at the end; `priced` by judge() if it
     * is of the last step for the rows left out too, where above `level` they enter. */
    double *dual;
    bool priced;
    double level;
    /* Internal. */
    int accepted;
    bool bold;      /* the step may raise the merit */
    double caution; /* least `left` that counts */
    double entry;   /* weight of a row that enters, of the mean one */
    int wait;       /* accepted steps before rows may leave */
    double *f, *weight, *old;
    anderson history;
};

/* Allocates; dual: p, the caller's. u is to be filled. */
void mm_init(mm *s, const mm_problem *problem, double *dual);
/* Another problem, from the last point. */
void mm_renew(mm *s);
/* At most max_iter steps more. The last one is plain, so that it cannot be refused. */
void mm_run(mm *s, int max_iter);
/* ---- the convex sample selectors ------------------------------------------------------- */

typedef struct {
    double gamma;
    bool relative; /* gamma is a share of gamma_max, from where on A = 0 is optimal */
    double eps;    /* smoothing of the norms */
} mm_settings;

/* Of the best A found; vectors of length n, the caller's. */
typedef struct {
    double *row_norm; /* how much sample j represents */
    double *activity; /* of its dual constraint, at most 1 */
    double *residual; /* ||x_i - X a_i||, or NULL */
    double gamma, gamma_max;
    double primal, dual, gap; /* best primal, best dual, relative */
} mm_result;

/* Comes first in what the selector's step() gets as its data. */
typedef struct {
    const mm_settings *settings;
    mm_result *result;
    ufs_run *run;
    /* Of the last step, for step() to set: row norms, activity, residuals (where wanted); objective
     * and bound; act / over is feasible. */
    double *row, *act, *res;
    double primal, dual, over;
    int idle; /* accepted steps in a row without progress */
} mm_selector;

/* gamma_max and gamma, from the activity times gamma of A = 0, which is the first answer. */
void mm_select_init(mm_selector *work, int n);
/* tol of the run: relative duality gap; negative: no stop, no acceleration.
 * From primal and dual of A = 0 and all roots of the weights at `first`. Trace columns: objective
 * (smoothed), best, bound, gap. */
void mm_select(mm_selector *work, int n, int others, double first, int (*step)(void *data, mm *s));

#endif
