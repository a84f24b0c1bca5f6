/* jspca_work.h: what the parts of the JSPCA solver share; see jspca_solve.c. */
#pragma once

#include "anderson.h"
#include "gl.h"
#include "ridge.h"
#include "jspca.h"

typedef struct {
    const jspca_problem *problem;
    const jspca_settings *settings;
    jspca_result *result;
    ufs_run *run;
    double *ss;       /* squared norms of the columns of x, or of its rows over samples */
    double *d;        /* p: a^{1/2}, over features */
    double *t;        /* n x k: target T */
    double *z;        /* n x k: X Q */
    double *b;        /* p x k: diag(d) Pbar, then X'Z; the result's loadings, made at the end */
    double *q_old;    /* p x k */
    double *col;      /* max(n, k): scratch */
    double *root;     /* n: V^{1/2}, or ones over features */
    double *zz;       /* k x k: scratch, Z'Z or Z'W kernel WZ */
    double vtol;      /* of the last exact Q-step */
    int unsolved;     /* Q-steps over all features that missed their tolerance */
    gl_work gl;       /* exact Q-step, and every certificate */
    ridge_work ridge; /* reweighted Q-step */
    la_polar_work polar;
    /* Over samples (jspca_sample.c) */
    double *y;     /* n x p: V^{1/2}X, if not exact */
    double factor; /* c; 1 if V = W */
    double *u;     /* n x k: X P */
    int *formed;   /* n: samples whose residual is formed */
    int n_formed;
    double *kernel;   /* n x n: XX', NULL if P is formed in every step */
    bool implicit;    /* P is X' map, and not in result->pbar */
    double *map, *km; /* n x k: map, and kernel WZ */
    double *vectors;  /* k x k: eigenvectors of Z'W kernel WZ */
    /* Over samples if exact (jspca_leap.c): points are (X P, log w) */
    bool bold;              /* the point is extrapolated */
    bool forward;           /* along the last change, which was larger than the one before */
    bool confirms;          /* a plain step with V = W is wanted: Q has settled otherwise */
    double moved;           /* squared length of the last change of the point */
    double reach;           /* length of the next step forward, in changes of the point */
    double leap;            /* relative length of the last extrapolation, 0 if it was not kept */
    double objective;       /* of the last step that was kept */
    anderson history;       /* size 0: no extrapolation */
    double *point, *image;  /* n k + n: where a step starts, and what it leads to */
    double *scale, *way;    /* n k + n: 1 / size, of both parts; from one point to another */
    double *z_old;          /* n x k: X Q_old */
    la_polar_work rotation; /* k x k */
} jspca_work;

/* Over samples: memory; the target T of the Q-step from P and the weights (with weights V = W if
 * `renew`); P and the residuals from Q, with P itself if `last`. Returns LAPACK's info. */
void jspca_sample_init(jspca_work *work);
void jspca_sample_target(jspca_work *work, bool renew);
int jspca_sample_p_step(jspca_work *work, bool last);
/* gl_work measures steps against T, of which a few samples that are nearly fitted, and so weigh a
 * thousand times as much as others, are almost all: the share of T's norm with capped weights. */
double jspca_share_of_most(const jspca_work *work);

/* Extrapolation over samples. next: where the next step starts. back: to the point that the last
 * kept step led to, and to its Q. */
void jspca_leap_init(jspca_work *work);
void jspca_leap_next(jspca_work *work);
void jspca_leap_back(jspca_work *work);

/* jspca_canonical.c */
int jspca_shortest(jspca_work *work);
int jspca_canonicalise(jspca_work *work);

/* Squared residuals come from ||x||^2 - 2 x'(XQ)p + p'(Z'Z)p, which saves a pass over x; where that
 * cancels more than two digits, they are formed. */
#define JSPCA_CANCELLED 0.01
