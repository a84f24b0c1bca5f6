/* inffs.h: infinite feature selection (Inf-FS), unsupervised; see inffs.c. */
#pragma once

#include "ufs.h"

/* How the damping r of I - r A follows from A. */
typedef enum {
    INFFS_RADIUS = 0, /* r = factor / spectral radius of A (the paper) */
    INFFS_ROWSUM = 1, /* r = factor / largest row sum (a bound of the radius) */
    INFFS_TPAMI = 2   /* r and A as in the authors' code of 2020, see inffs.c */
} inffs_bound;

typedef struct {
    int n, p;
    const double *x; /* n x p */
} inffs_problem;

typedef struct {
    double weight_sd, weight_corr; /* A = weight_sd * sd part + weight_corr * rank part */
    double factor;
    inffs_bound bound;
    bool store; /* keep A (p^2/2 doubles), or recompute its tiles in every product */
} inffs_settings;

typedef struct {
    double *score;   /* p */
    double radius;   /* spectral radius of A, or the bound used in its place */
    double damping;  /* r */
    double residual; /* || 1 - (I - r A) y ||_inf, recomputed */
    bool empty;      /* A = 0: the scores say nothing */
} inffs_result;

/* Iterations are products with A, at most KRYLOV of inffs.c; tol is of the relative residual. */
void inffs_solve(const inffs_problem *problem, const inffs_settings *settings, inffs_result *result,
                 ufs_run *run);
