/* mm.h: majorise-minimise over sums of norms, one engine for RSR, UDFS, SOGFS, RRSS and ALNR
 * (mm.c). */
#pragma once

#include "anderson.h"
#include "la.h"

typedef struct {
    double penalty;       /* of the rows' norms */
    const double *factor; /* p: what each row's own is of it: 0 leaves the row free, Inf fixes
                                     it at zero; NULL for ones. Only if accelerate */
    bool relative;        /* it is a share of the smallest at which zero rows are optimal */
    double eps_row, eps_residual; /* smoothing: added to squared norms */
    bool accelerate;              /* otherwise the plain iteration, and no row is left out */
} mm_settings;

/* Of the last step, which never raised the smoothed objective. Arrays: the caller's. */
typedef struct {
    double *row, *residual; /* norms: p, others */
    double
        *dual; /* p: |subgradient| over its penalty, of a feasible dual point if convex; 0 of rows
                     that are free or fixed */
    double penalty, penalty_max;
    double objective, primal, bound, gap; /* smoothed, true; best dual value; relative */
} mm_result;

/* The objective is penalty * sum of factor * the p rows' norms + sum of the other norms (residuals) + rest.
 * Arrays by the rows, then by the others. */
typedef struct mm mm;
struct mm {
    /* For mm_init(). */
    int p, others;
    int least;   /* rows at least that are at hand; p: none is ever left out */
    bool convex; /* norms are u^2 dual, rest a squared distance or 0; there is a bound */
    int depth;   /* of the history; 0: the usual one */
    double
        own; /* how much the mean change of rows (of others) alone counts for rows (for others) */
    /* The end is exact: twice in a row within tol, as an extrapolated step may be short by accident; no
     * row left out violates; and all rows that are zero become so exactly. */
    bool clears;
    const double
        *count; /* others: how many alike each stands for, whose norms are in its own; NULL: 1 */
    const mm_settings *settings;
    mm_result *out;
    ufs_run *run; /* tol: of the gap if convex and accelerated, else of the change; < 0: no stop */
    void *data;
    /* From the weights u to the minimiser of the majoriser: out->dual of the rows at hand (and
     * out->row if not convex, or if the row is free), other, left, rest. Free rows are always at hand,
     * with u = 1, fixed ones never. LAPACK's info. */
    int (*minimise)(void *data, mm *s);
    /* After that, what norms and dual values stand for up to rounding only, from the solution itself:
     * out->dual of all rows, linear, and out->residual. NULL: minimise() leaves all of them. */
    void (*price)(void *data, mm *s);

    int q, *set;   /* rows at hand, ascending: those with u > 0 */
    double *u;     /* roots of the smoothed norms that the weights stand for */
    double *other; /* dual of the others */
    double *left;  /* 1 - d log(norm) / d log(weight's norm), by itself, at most 1: where known */
    double rest;
    double linear; /* <Y, X> of the dual point */
    bool rough;    /* the minimiser was found with less precision than it should */
    double change; /* of the smoothed objective by the last accepted step, relative; 1 before it */

    /* Internal. */
    double merit, best; /* smoothed objective of the last step, of the last accepted one */
    double over;        /* the largest dual value of what is at hand */
    double level;       /* dual values above it enter */
    bool looked;        /* dual values of the rows left out are those of the last step */
    bool bold;          /* the step may raise the merit */
    double caution;     /* least `left` that counts */
    double entry;       /* weight of a row that enters, of the mean one */
    int steep, waits;   /* row with the largest dual value, -1: none; for how many steps so far */
    int accepted;       /* steps */
    int calm, idle;     /* steps in a row that were within tol, that changed nothing */
    double *plain;      /* roots of the smoothed norms of the last step */
    double *f, *old;
    anderson history;
};

/* Allocates; all u are 0. Trace columns: iteration and smoothed objective; if convex gap, objective
 * and bound as well, under the names gap, best and bound. */
void mm_init(mm *s, const mm_settings *settings, mm_result *out, ufs_run *run);
/* Zero rows: penalty_max (of the rows that have a penalty), the penalty, and the end where they are good
 * enough, which they never are beside free ones. Given are u of the others, the rest, and in
 * out->dual the subgradients themselves. */
void mm_zero(mm *s);
static inline double mm_factor(const mm_settings *a, int j)
{
    return a->factor == NULL ? 1.0 : a->factor[j];
}

/* Whether the step at hand may be the last of a run that has an exact end (`clears`); in the plain
 * iteration every step may be. */
static inline bool mm_may_end(const mm *s)
{
    return !s->settings->accelerate ||
           (s->clears && (s->calm > 0 || s->run->iterations + 1 >= s->run->max_iter));
}

static inline bool mm_is_free(const mm_settings *a, int j)
{
    return mm_factor(a, j) == 0.0;
}

static inline bool mm_is_fixed(const mm_settings *a, int j)
{
    return mm_factor(a, j) > DBL_MAX;
}

/* The penalty of row j; 0 of one that is fixed at zero. */
static inline double mm_price(const mm *s, int j)
{
    return mm_is_fixed(s->settings, j) ? 0.0 : s->out->penalty * mm_factor(s->settings, j);
}

/* Another problem, from the last point. */
void mm_renew(mm *s);
/* At most max_iter steps. The last one is plain, so that it cannot be refused. */
void mm_run(mm *s);
/* Given are out->row and out->residual of the solution that is returned: objective and gap become its
 * own, in the last row of the trace, too. */
void mm_settle(mm *s);
