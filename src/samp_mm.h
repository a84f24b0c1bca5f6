/* samp_mm.h: the iteration shared by the convex sample selectors (samp_mm.c). */
#ifndef UFS_SAMP_MM_H
#define UFS_SAMP_MM_H

#include "ufs.h"

/* What one majorise-minimise step found at the minimiser A of its majoriser. */
typedef struct {
    double merit;  /* smoothed objective at A: plain steps never raise it */
    double primal; /* objective at A */
    double dual;   /* a lower bound of the minimum, from a feasible dual point */
    int info;      /* of LAPACK */
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
} mm_problem;

typedef struct {
    int max_iter;
    double tol;      /* relative duality gap; negative: no stop, no acceleration */
    const ufs_hook *hook;
} mm_settings;

/* Columns of the trace. */
enum { MM_MERIT, MM_PRIMAL, MM_DUAL, MM_GAP, MM_N_COL };

typedef struct {
    ufs_status status;
    int iterations, lapack_info;
    double primal, dual, gap; /* best primal, best dual, relative */
    ufs_trace trace;
} mm_info;

void mm_solve(mm_problem *problem, const mm_settings *settings, mm_info *info);

#endif
