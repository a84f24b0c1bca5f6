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
    int least;        /* rows at least that are at hand */
    bool fixed;       /* no row is ever left out */
    bool accelerate;  /* otherwise the plain iteration, and nothing is left out */
    bool newton;      /* step() fills s->left */
    double slack;     /* of the merit, for each row that `tidy` leaves out: its smoothing */
    double low, high; /* range of the smoothed norms: 0 and R_PosInf if there is none */
    void *data;
    /* One step from the weights: s->u -> the minimiser of the majoriser -> s->plain, s->merit,
     * s->dual of the rows at hand. LAPACK's info. */
    int (*step)(void *data, mm *s);
    /* After every step, refused or not: trace, certificate; of an accepted one true ends the run,
     * with s->status. */
    bool (*judge)(void *data, mm *s, bool accepted);
    /* s->set is another one, or the problem is: matrices of the rows at hand. LAPACK's info. May
     * be NULL where the rows are fixed. */
    int (*part)(void *data, mm *s);
} mm_problem;

typedef enum { MM_PLAIN, MM_EXTRAPOLATED, MM_LEFT, MM_ENTERED } mm_move;

struct mm {
    const mm_problem *problem;
    int iterations, max_iter, lapack;
    ufs_status status;
    double merit; /* smoothed objective of the last step: plain ones never raise it */
    double best;  /* and of the last accepted one */
    int q, *set;  /* rows at hand, ascending */
    /* By the q rows at hand, then by the others. */
    double *u;     /* roots of the smoothed norms that the weights stand for */
    double *plain; /* those of the point that the step found */
    double *left;  /* 1 - d log(norm) / d log(weight's norm), by itself; at most 1 */
    /* |subgradient| over its bound for all p rows, in use 1 at the end; `priced` by judge() if it
     * is of the last step for the rows left out too, where above `level` they enter. */
    double *dual;
    bool priced;
    double level;
    bool tidy; /* judge() may ask: whatever mm_idle() counts leaves before the next step */
    /* Internal. */
    mm_move move;
    bool alike;
    int accepted, wait, tries, old_q, *old_set;
    double *f, *weight, *old;
    bool *fresh;
    anderson history;
};

/* Allocates; dual: p, the caller's. All rows are at hand; s->u is to be filled, and mm_renew() called
 * if there is a part(). */
void mm_init(mm *s, const mm_problem *problem, double *dual);
/* Another problem for the same rows at hand and weights (if `part`, its matrices too). */
void mm_renew(mm *s);
/* At most max_iter steps more. The last one is plain, so that it cannot be refused. */
void mm_run(mm *s, int max_iter);
/* How many rows at hand are as good as zero and may leave. */
int mm_idle(const mm *s);
/* 2 |norm| / (its weight's): what the dual point of the step makes of its constraint. */
static inline double mm_ratio(double norm, double u)
{
    return u > 0.0 ? norm / (u * u) : 0.0;
}

/* ---- what the convex sample selectors report ----------------------------------------- */

typedef struct {
    int max_iter;
    double tol; /* relative duality gap; negative: no stop, no acceleration */
    double eps; /* smoothing of the norms */
} mm_settings;

typedef struct {
    double primal, dual, gap; /* best primal, best dual, relative */
    int idle;                 /* accepted steps in a row without progress */
} mm_result;

/* Trace columns: objective (smoothed), best, bound, gap. The caller's step() keeps primal and dual
 * of `result` up to date; its judge() calls mm_gap(). */
void mm_gap_begin(mm_result *result, const mm_settings *settings, ufs_run *run);
bool mm_gap(mm *s, mm_result *result, double tol, ufs_run *run, bool accepted);

#endif
