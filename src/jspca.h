/* jspca.h: joint sparse principal component analysis; see jspca_solve.c. */
#pragma once

#include "gl.h"

typedef struct {
    int n, p, k;
    const ufs_x *x;   /* n x p, centred, no zero column; dense if not exact */
    gl_copies copies; /* equal columns */
    int dropped;      /* zero features left out: they cost their smoothing constants */
    double lambda;
    const double *factor; /* p: of each row's penalty, see gl.h; NULL for ones. exact only */
    bool sample;          /* the loss sums over samples; otherwise over features */
} jspca_problem;

typedef struct {
    bool exact;            /* Q-step by gl_work; otherwise by one reweighted ridge solve */
    bool gives_up;         /* stalls as soon as the Q-step shows to be too hard for gl_work */
    double eps_res, eps_q; /* of norms, squared; eps_q = 0 if exact */
} jspca_settings;

/* In: pbar, weight and, if not exact, h: the start; zeros in the others. Out: everything. */
typedef struct {
    double *pbar;     /* p x k */
    double *weight;   /* a, one per feature, or w, one per sample */
    double *h;        /* p, 1/D2; not used if exact */
    double *q, *P;    /* p x k; P = D1^{-1/2} Pbar; over samples NULL, as P = Pbar */
    double *residual; /* || r_i ||, one per feature, or per sample */
    double *row_norm; /* p, || q_i || */
    double *kkt;      /* p, 2 || x_i'(T - XQ) || / lambda of the last Q-step */
    double *rotation; /* k x k, Q rotation has uncorrelated scores */
    double *loadings; /* p x k, Q rotation with unit columns */
    double change;    /* || Q - Q_old || / || Q || at the end */
    double violation; /* largest violation of the Q-step's optimality conditions */
    double gap;       /* relative duality gap of the last Q-step; exact only */
} jspca_result;

/* tol is of the relative change of Q. Trace: iteration, objective, loss, penalty, change, live. */
void jspca_solve(const jspca_problem *problem, const jspca_settings *settings, jspca_result *result,
                 ufs_run *run);

/* The smallest lambda at which Q = 0 solves the Q-step at the residual X, of the rows that have a
 * penalty: jspca_lambda_max.c. */
double jspca_lambda_max(const ufs_x *x, bool sample, const double *factor);
