/* samp_mm.h: the iteration shared by the convex sample selectors (samp_mm.c). */
#ifndef UFS_SAMP_MM_H
#define UFS_SAMP_MM_H

#include "ufs.h"

/* What one majorise-minimise step found at the minimiser A of its majoriser. */
typedef struct {
    double merit;  /* smoothed objective at A: plain steps never raise it */
    double primal; /* objective at A */
    double dual;   /* a lower bound of the minimum, from a feasible dual point */
    int lapack;
} mm_value;

typedef struct {
    int len;          /* length of theta, the logarithms of all weights */
    double low, high; /* range of theta that smoothing allows */
    double *theta;    /* the start; overwritten */
    double primal;    /* objective of the zero solution, already kept */
    double dual;      /* and a first lower bound */
    void *data;
    /* One step: weights exp(theta) -> A -> the logarithms of its own weights. */
    mm_value (*map)(void *data, const double *theta, double *next);
    /* The A of the last map() is the best one so far: remember what is reported. */
    void (*keep)(void *data);
    /* Of the last map(): 1 - d(log of the norm) / d(log of its own weight^-1), at most 1; NULL:
     * not known, then SQUAREM accelerates. Two blocks: theta[0..first) and the others. */
    const double *left;
    int first;
} mm_problem;

typedef struct {
    int max_iter;
    double tol; /* relative duality gap; negative: no stop, no acceleration */
    double eps; /* smoothing of the norms */
} mm_settings;

typedef struct {
    double primal, dual, gap; /* best primal, best dual, relative */
} mm_result;

/* Trace columns: objective (smoothed), best, bound, gap. */
void mm_solve(const mm_problem *problem, const mm_settings *settings, mm_result *result,
              ufs_run *run);

#endif
