/* blfse.h: the bi-level ensemble (BLFSE). */
#pragma once

#include "ufs.h"

typedef enum { BLFSE_PAPER = 0, BLFSE_ISOTROPIC = 1 } blfse_projection;
typedef enum { BLFSE_S_FIRST = 0, BLFSE_V_FIRST = 1 } blfse_order;
/* How G = X'LX is held: p x p, or through an n x p factor. AUTO: by which is smaller. */
typedef enum { BLFSE_AUTO = 0, BLFSE_DENSE = 1, BLFSE_FACTOR = 2 } blfse_form;

/* Names of the blocks in the trace, in this order (R/method-blfse.R). */
typedef enum {
    BLFSE_START = 0,
    BLFSE_W,
    BLFSE_P,
    BLFSE_S,
    BLFSE_V,
    BLFSE_Y,
    BLFSE_BETA,
    BLFSE_ALPHA
} blfse_block;

typedef struct {
    int n, p, m, c;
    const double *x;      /* n x p, as the model sees it */
    const double *scores; /* p x m, columns on the simplex: v^(k) */
    const int *labels;    /* m x n, 1, 2, ...: labels of one sample are contiguous */
} blfse_problem;

typedef struct {
    blfse_projection projection;
    blfse_order order;
    blfse_form form;
    int n_psi, inner_max;
    const double *psi;
    double gamma_cluster, gamma_feature; /* factors of T2 + T3 and of T4 */
    double qp_tol;                       /* relative KKT residual of the quadratic programs */
} blfse_settings;

typedef struct {
    double *v, *alpha, *beta; /* p, m, m */
    double *s, *w;            /* n x n, packed as in la.h */
    int *component;           /* n: components of S */
    double rho;
    int n_component, ties; /* ties: |eq| of the last P step */
    bool p_unique;         /* was every P step without a tie */
    double kkt, gap;       /* worst relative KKT and duality gap of the QPs */
    int products;          /* with H, of all QPs */
    /* One row per iteration: what is named in blfse_solve.c, and alpha, beta (2 m columns). */
    ufs_trace history, weights;
} blfse_result;

/* run->trace: one row per block update. A stage ends if v and S move less than tol (0: never). */
void blfse_solve(const blfse_problem *problem, const blfse_settings *settings, blfse_result *result,
                 ufs_run *run);
