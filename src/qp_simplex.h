/* qp_simplex.h: convex quadratic programs on the unit simplex,
 *   min q(v) = v'Hv / 2 - b'v   subject to  v >= 0, sum v = 1,
 * H (p x p) positive definite: dense, matrix-free or diagonal. Knows no solver. */
#ifndef UFS_QP_SIMPLEX_H
#define UFS_QP_SIMPLEX_H

#include "ufs.h"

typedef struct {
    int p;
    const double *b;                                         /* p */
    const double *dense;                                     /* H, or NULL: then `apply` */
    void (*apply)(void *data, const double *x, double *out); /* out = H x */
    void *data;
    const double *diag;  /* p: the diagonal of H, the preconditioner */
    const double *upper; /* p: diag(upper) - H is positive semidefinite */
} qp_problem;

/* How good v is. With g = Hv - b and tau = g'v, v is optimal iff g_i >= tau for all
 * i, with equality where v_i > 0. */
typedef struct {
    double kkt; /* largest violation of that */
    double rel; /* kkt / max(|b|_inf, |Hv|_inf) */
    double gap; /* tau - min g >= q(v) - min q (Frank-Wolfe) */
    int products, rounds;
} qp_info;

typedef struct {
    double *hv, *g, *y, *next, *d, *hd, *r, *z, *dir, *h_dir, *best, *best_hv, *sorted;
    int *order, *free;
} qp_work;

void qp_init(qp_work *work, int p);
/* v: start (any vector; made feasible) and result. `hv` of work is H v on return.
 * Stops at rel <= tol. */
void qp_simplex(const qp_problem *prob, double tol, qp_work *work, double *v, qp_info *info);
/* H = diag(h), exactly: v_i = max(0, (b_i + t) / h_i). p log p. */
void qp_diagonal(int p, const double *h, const double *b, qp_work *work, double *v, qp_info *info);

#endif
