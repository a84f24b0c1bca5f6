/* base_wstep.h: the step that UDFS and SOGFS share, see base_wstep.c. */
#ifndef UFS_BASE_WSTEP_H
#define UFS_BASE_WSTEP_H

#include "anderson.h"
#include "la_lowest.h"
#include "ufs.h"

/* M as an operator, where it is known better than by m or b: both may be NULL.
 *   gram(data, q, set, out): the rows and columns set[0..q) of M, q x q
 *   product(data, w, out): M W, p x c
 *   fill(data): m or b, which may be out of date while only a part is worked on */
typedef struct {
    void (*gram)(void *data, int q, const int *set, double *out);
    void (*product)(void *data, const double *w, double *out);
    int (*fill)(void *data);
    void *data;
} wstep_operator;

typedef struct {
    int n, p, c;
    double gamma, eps;
    double *m;     /* p x p: M, or NULL if p > n */
    double *b;     /* n x p: B with M = B'B, or NULL if p <= n */
    double *w;     /* p x c: orthonormal columns, of the caller */
    double *row2;  /* p: |w_j|^2, of the caller */
    double *reach; /* p: how near a zero row is to entering (1 = enters), of the caller */
    bool accelerate;
    double objective, residual; /* after a step; of the eigenvectors */
    double change;              /* of the objective in the last step, relative */
    int lapack;
    bool rough;              /* the last step's eigenvectors were not solved to the end */
    bool started, converged; /* converged: the eigenvectors of the last step */
    wstep_operator op;
    /* The problem at hand: all rows, or those of `set` while the others are zero. */
    int q, most;                /* its rows; the most that a part may have */
    int *set;                   /* q, ascending; all rows if q = p */
    bool narrow, fresh;         /* a part; nothing solved on it yet */
    int steps, wait;            /* accepted steps; none narrower before that many */
    double *part_w, *part_row2; /* most x c, most */
    double *part_m, *part_b;    /* its M or B */
    double *mw;                 /* p x c: M W */
    int *place;                 /* p: scratch */
    /* By the rows of the problem at hand. */
    double *root;  /* (|w_j|^2 + eps)^{1/4} of the next weights, extrapolated */
    double *plain; /* the same of the last accepted W */
    double *one, *delta, *values;
    anderson history;
    la_lowest lowest;
} wstep;

/* Allocates; then m or b must be filled. `most`: the largest part of the rows that is worth
 * a problem of its own; 0 = never (plain iterations). */
void wstep_init(wstep *s, int n, int p, int c, double gamma, double eps, bool accelerate, double *w,
                double *row2, double *reach, int most);
/* b from a, n x n positive semidefinite and destroyed, and x: M = X'A X. n^3/3 + n^2 p flops. */
int wstep_factor(wstep *s, double *a, const double *x, int *pivot, double *work);
/* m = X'Y, known to be symmetric (Y = A X), from x and y stored n x p (trans = 'T') or p x n
 * (trans = 'N'). n p^2 flops. */
void wstep_scatter(wstep *s, char trans, const double *x, const double *y);
/* row2 of the first W (equal weights), without W. */
void wstep_start(wstep *s);
/* For a new M or B: the objective is another one. m and b need not be filled while narrow. */
void wstep_renew(wstep *s);
/* One reweighted step. False: its extrapolated weights had raised the objective, and the next step
 * starts from the W before again. A step after one with extrapolate = false is never refused. */
bool wstep_step(wstep *s, bool extrapolate);
/* To be asked when steps have become small: do the rows left out belong there, and are the
 * eigenvectors exact? Otherwise such rows come back, the next ones will be, and it is false. */
bool wstep_complete(wstep *s);
/* w, row2 and reach of all rows; once before they are read. */
void wstep_finish(wstep *s);
/* How many |w_j|^2 exceed the size that the smoothing alone gives. */
int wstep_live(const wstep *s);

#endif
