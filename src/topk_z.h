/* topk_z.h: sub-problem 1 of top-k selection, the representation Z of the samples by each
 * other, by ADMM or by linear programmes (topk_z.c); and the clusters
 * that follow from it (topk_label.c). */
#pragma once

#include "la.h"

/* Theta_ij = alpha [label_i != label_j] + (1 - alpha) ||P_i - P_j||^2 / 2; all ones where there is
 * neither a matrix nor labels, as at the start. */
typedef struct {
    const double *matrix; /* n x n, or NULL: from what follows */
    int n, c;
    double alpha;
    const int *label;        /* n or NULL */
    const double *projected; /* n x c: P */
} topk_theta;

static inline double topk_theta_at(const topk_theta *theta, size_t i, size_t j)
{
    size_t n = (size_t) theta->n;
    double d2 = 0.0;

    if (theta->matrix != NULL) return theta->matrix[i + j * n];
    if (theta->label == NULL) return 1.0;
    for (size_t l = 0; l < (size_t) theta->c; l++) {
        double d = theta->projected[i + l * n] - theta->projected[j + l * n];
        d2 += d * d;
    }
    return (theta->label[i] != theta->label[j] ? theta->alpha : 0.0) +
           (1.0 - theta->alpha) * 0.5 * d2;
}

typedef struct {
    double lambda_e, lambda_z;
    bool nonnegative; /* Z >= 0 */
    /* ADMM */
    double mu, growth; /* the paper's: the first penalty, and its factor per iteration */
    double tol;        /* on the three residuals; < 0: never stop early */
    int max_iter;      /* of one call */
} topk_z_settings;

/* How a solve ended. */
typedef struct {
    double objective; /* sum(w |Z|) + lambda_e ||x - Zx||_1 */
    double residual;  /* the largest one of the ADMM; relative duality gap of the programmes */
    int iterations;   /* of the ADMM; pivots */
    bool solved;
} topk_z_state;

/* w = (|z| + |z|')/2. */
void topk_links(int n, const double *z, double *w);

/* Both solvers take row i of theta for sample i; z (n x n) and e (n x p) are where the results will
 * be, and xt (p x n) is only used during a solve. */

/* ---- topk_z.c: ADMM ------------------------------------------------------------------- */

typedef struct {
    int n, p;
    bool paper;
    const double *x; /* n x p */
    double *z, *e;   /* n x n, n x p: the results */
    topk_z_state state;
    double mu, relax; /* penalty of the next iteration, 0 before the first; over-relaxation */
    double *xt, *y;   /* p x n: x', the multiplier of x = Qx + E */
    bool by_samples;  /* for p >= n: systems are n x n, otherwise p x p */
    int width;        /* samples of a block */
    double *inverse;  /* (xx' or x'x + I)^{-1} */
    struct topk_admm_block *block;
} topk_admm;

/* The caller has set n, p, x, z, e, xt (scratch of length np) and paper (which of the two
 * schedules); the rest is made here. Returns LAPACK's code. */
int topk_admm_init(topk_admm *work, const ufs_paths *paths);
/* From Z = 0. trace: rows (outer, iteration, mu, the three residuals, the objective at (Z, E)); the
 * hook (or NULL) is called in every iteration. */
void topk_admm_paper(topk_admm *work, const topk_z_settings *settings, const topk_theta *theta,
                     int outer, ufs_trace *trace, const ufs_hook *hook);
/* From where the last call ended. change: by how much the new weights changed the objective of the
 * present Z, relative to it; where that is not above tol, Z stays as it is, after no iteration.
 * coarse: a first call that others will follow. */
void topk_admm_go_on(topk_admm *work, const topk_z_settings *settings, const topk_theta *theta,
                     double change, bool coarse);
/* Relative duality gap of the last solve. 2n^2 p flops. */
double topk_admm_gap(const topk_admm *work, const topk_z_settings *settings,
                     const topk_theta *theta);

/* ---- topk_z.c: linear programmes ------------------------------------------------------ */

typedef struct {
    int n, p, most;  /* most = min(n, p): the largest basis */
    int most_pivots; /* per sample and call, after which it is given up */
    const double *x; /* n x p */
    double *z, *e;   /* n x n, n x p: the results */
    topk_z_state state;
    /* What stays between calls: the basis of every sample. */
    int *size, *sample, *feature; /* n; most x n each */
    double *xt;                   /* p x n */
    struct topk_lp_row *row;      /* one sample at a time */
} topk_lp;

void topk_lp_init(topk_lp *work, int n, int p, const double *x, double *z, double *e, double *xt);
/* Continues from the bases of the last call. */
void topk_lp_solve(topk_lp *work, const topk_z_settings *settings, const topk_theta *theta);
/* The links of sample i alone, at equal weights and from none; state.iterations counts on. */
int topk_lp_links(topk_lp *work, const topk_z_settings *settings, int i);

/* ---- topk_label.c --------------------------------------------------------------------- */

typedef struct {
    int n, c;
    double *affinity; /* n x n */
    double *degree, *value;
    double *u;        /* n x c: the rows to be clustered */
    double *centre;   /* c x c */
    double *distance; /* n */
    int *trial, *again, *old, *size;
} topk_label;

/* affinity: n x n, only used during a solve. */
void topk_label_init(topk_label *work, int n, int c, double *affinity);
/* Clusters the samples from z; label holds the previous partition if have_previous,
 * and the new one on return. Returns LAPACK's code, or -1 if fewer than c samples have a
 * link. */
int topk_label_solve(topk_label *work, const double *z, bool have_previous, int *label);
