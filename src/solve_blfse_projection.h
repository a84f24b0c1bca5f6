/* solve_blfse_projection.h: what depends on the features in BLFSE: G = X'L(S)X, the projection
 * N = P'P, the distances that it gives, and the update of v; see solve_blfse_projection.c. */
#ifndef UFS_SOLVE_BLFSE_PROJECTION_H
#define UFS_SOLVE_BLFSE_PROJECTION_H

#include "hadamard.h"
#include "qp_simplex.h"
#include "solve_blfse.h"

typedef struct {
    const blfse_problem *problem;
    const blfse_settings *settings;
    blfse_form form;
    double w0, sign, top;          /* N = w0 I + sign R R', largest eigenvalue `top` */
    int k;                         /* columns of R */
    int ties;                      /* at the c-th eigenvalue of the last A_v */
    bool unique;                   /* so far */
    double t1;                     /* 2 v'(G o N)v */
    double *g, *n_mat, *h, *r, *y; /* dense form: p x p; r p x p; y n x p */
    double *f, *rt, *kk, *u;       /* factor form: rank x p, k x p, n x n, n x n */
    double *lambda_l, *omega;      /* factor form: eigenvalues of L and of A_v */
    int rank;                      /* rows of F */
    double *g_diag, *diag, *upper, *rhs, *chunk;
    hadamard op;
    qp_work qp;
} blfse_projector;

void blfse_projector_init(blfse_projector *work, const blfse_problem *problem,
                          const blfse_settings *settings);
/* G of S; degree: n, its row sums on return; a, b: n x n scratch. In the factor form b holds
 * the eigenvectors of L(S) on return. LAPACK's code, like the next. */
int blfse_projector_gram(blfse_projector *work, const double *s, double *degree, double *a,
                         double *b);
/* N for v; t1. a: n x n scratch. */
int blfse_projector_update(blfse_projector *work, const double *v, double *a);
/* a (upper triangle) = Z N Z', Z = X diag(v): its squared distances are B. b: scratch, n x n or
 * n x p if the dense form has p > n. */
void blfse_projector_distances(blfse_projector *work, const double *v, double *a, double *b);
/* v (p), started at the last one, for the weights alpha (m) of the base scores; t1. */
void blfse_projector_weights(blfse_projector *work, const double *alpha, double *v, qp_info *info);
/* N itself, p x p. */
void blfse_projector_matrix(const blfse_projector *work, double *n_mat);

#endif
