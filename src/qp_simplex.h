/* qp_simplex.h: convex quadratic programs on the unit simplex,
 *   min q(v) = v'Hv / 2 - b'v   subject to  v >= 0, sum v = 1,
 * H (p x p) positive definite: dense, matrix-free or diagonal. Knows no solver. */
#pragma once

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

/* ---- products with G o N ------------------------------------------------------------------------
 * Products with H = scale (G o N) + shift I, none of whose p x p factors is
 * formed: G = F'F with F r x p, N = w0 I + sign R'R with R k x p, o the Hadamard product.
 *   (G o N) x = w0 diag(G) o x + sign diag(F'F diag(x) R'R):
 * with M = R diag(x) F' (k x r) the i-th entry of the last is r_i'M f_i.
 * 4 p r k flops per product, memory k r + 256 k beyond F and R. */
typedef struct {
    int p, r, k;
    const double *f;      /* r x p */
    const double *rt;     /* k x p */
    const double *g_diag; /* p */
    double w0, sign, scale, shift;
    double *m, *buffer; /* k x r and k x UFS_STRIP */
} hadamard;

/* Workspace for k up to most_k and r up to most_r. */
void hadamard_init(hadamard *op, int p, int most_r, int most_k);
/* out = H x; `op` is a hadamard, for qp_problem. */
void hadamard_apply(void *op, const double *x, double *out);
/* Diagonal of H. */
void hadamard_diag(const hadamard *op, double *out);
