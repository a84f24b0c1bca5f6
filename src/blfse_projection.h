/* blfse_projection.h: what depends on the features in BLFSE: G = X'L(S)X, the projection
 * N = P'P, the distances that it gives, and the update of v; see blfse_projection.c. */
#ifndef UFS_BLFSE_PROJECTION_H
#define UFS_BLFSE_PROJECTION_H

#include "qp_simplex.h"
#include "blfse.h"

typedef struct {
    const blfse_problem *problem;
    const blfse_settings *settings;
    blfse_form form;
    hadamard n;                /* N = w0 I + sign R R', k columns in R; r rows in F */
    double top;                /* the largest eigenvalue of N */
    blfse_result *result;      /* ties and p_unique */
    double t1;                 /* 2 v'(G o N)v */
    double *g, *n_mat, *h, *r; /* dense form: p x p */
    double *f, *rt, *kk, *u;   /* factor form: r x p, k x p, n x n, n x n */
    int *pivot;                /* factor form: n */
    double *omega;             /* eigenvalues of A_v */
    double *g_diag, *diag, *upper, *rhs;
    double *chunk, *strip; /* n x UFS_STRIP */
    qp_work qp;
} blfse_projector;

void blfse_projector_init(blfse_projector *work, const blfse_problem *problem,
                          const blfse_settings *settings, blfse_result *result);
/* G of S (packed); degree: n, its row sums on return; a: n x n scratch. LAPACK's code, like the
 * next. */
int blfse_projector_gram(blfse_projector *work, const double *s, double *degree, double *a);
/* N for v; t1. */
int blfse_projector_update(blfse_projector *work, const double *v);
/* The matrix whose squared distances are B is K = Z N Z' = w0 ZZ' + sign bb', Z = X diag(v):
 * b (n x k), and the diagonal of K. */
void blfse_projector_factor(blfse_projector *work, const double *v, double *b, double *diag);
/* Rows 0..from + width - 1 of the columns from.. of K, width <= UFS_STRIP. */
void blfse_projector_tile(blfse_projector *work, const double *v, const double *b, int from,
                          int width, double *tile);
/* v (p), started at the last one, for the weights alpha (m) of the base scores; t1. */
void blfse_projector_weights(blfse_projector *work, const double *alpha, double *v, qp_info *info);

#endif
