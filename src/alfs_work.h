/* alfs_work.h: what solve_alfs.c (the iterations) and solve_alfs_bound.c (the
 * certificate) share, and nobody else includes. */
#ifndef UFS_ALFS_WORK_H
#define UFS_ALFS_WORK_H

#include "solve_alfs.h"

enum { ROWS = 0, COLS = 1, WEIGHTS = 2 };

/* One split W = copy, with its penalty and multiplier in one matrix V. */
typedef struct {
    bool on;
    double penalty;  /* alpha, beta, lambda */
    double rho;      /* of this iteration */
    double held;     /* the rho in whose units V is kept: L = held (V - copy) */
    double next;     /* the rho of the next iteration */
    double pending;  /* and of the one after */
    double *v;
    double *cut;     /* 1 - (shrink factor) of each row or column of V */
    double *norm;
    double residual; /* || W - copy || / max(||W||, ||copy||) */
    double change;   /* || copy - previous copy || */
    double size;     /* || L || */
    double biggest;  /* max |W B - Z| since last asked (Algorithm 1) */
} side;

/* A problem in coordinates with its state. The columns of A W B are those of X; the
 * row space of B is spanned by `outer` (m x rb), that of A'A by `left` (m x r):
 *   || D - A W B ||^2 = || target - diag(a) (P'WQ) diag(b) ||^2 + rest.
 * The full problem has outer = left, rb = r; on some columns of X only, outer comes
 * from the SVD of those, and rest is what they cannot reach. */
typedef struct {
    const alfs_settings *settings;
    int m, q, r, rb;
    int width;                /* columns of W B handled at once */
    size_t len;               /* m q */
    double unit, unit_w;      /* what X, and W, were divided and multiplied by */
    double gamma;             /* over-relaxation */
    double *a, *b, *target;   /* r, rb, r x rb */
    double rest, total;       /* || D ||^2 outside, and in all */
    const double *left, *right, *outer;
    double *left_t, *right_t, *outer_t;
    side side[3];
    double *w, *spare;        /* m x q: H, then W; G or a candidate */
    double *small, *thin;     /* scratch of coordinates() and expand() */
    double *k, *k2;           /* r x rb */
    double *row, *col;        /* scratch: coefficients, norms */
    double *row_sum, *col_sum; /* sums of L^2, L E, E^2 by row, by column */
    double best, dual;        /* lowest F, highest dual value so far */
    double best_then, dual_then; /* at the check before; 0: there was none */
    double theta, scale;      /* how the last dual bound split and scaled E */
    double theta_zero;        /* the split that proves W = 0 */
    bool warm, known_zero;
    /* only with weights (and for Algorithm 1) */
    double *wq, *tmp;         /* m x rb */
    double *mv, *lv;          /* (rho Z - L1) outer and L1 outer, m x rb */
    double *lifted;           /* P (2 a b target), m x rb */
    double *weight;           /* T, m x m */
    double *strip;            /* m x width */
    /* only with weights: repair() */
    double *sample;           /* B, q x m */
    double *key, *gram, *few, *one, *rhs;
    int *pick, *live;
} alfs_work;

/* ---- solve_alfs.c ---- */

/* k = P' W Q (r x rb): through the shorter side, 2 m q r + 2 min(m, q) r^2 flops. */
void alfs_coordinates(alfs_work *wk, const double *w, double *k);
/* out = alpha P k Q' + beta out. */
void alfs_expand(alfs_work *wk, double alpha, const double *k, double beta, double *out);
/* la_gemm of two plain matrices in blocks of rows that stay in cache: nothing to a
 * tuned BLAS, a factor 1.7 to the reference one when m is large. */
void alfs_gemm(int m, int n, int k, double alpha, const double *a, int lda, const double *b,
               int ldb, double beta, double *c, int ldc);

/* v clamped to [-bound, bound]: the multiplier part of V; without branches. */
static inline double alfs_clamp(double v, double bound)
{
    double c = v > bound ? bound : v;
    return c < -bound ? -bound : c;
}

/* ---- solve_alfs_bound.c ---- */

/* Raises wk->dual by the best of a few feasible points near the multipliers. */
void alfs_dual_bound(alfs_work *wk);
/* Lowers wk->best, and copies the W (m x q) that did it, by a few sparse candidates. */
void alfs_primal_bound(alfs_work *wk, double *best_w);
double alfs_objective(alfs_work *wk, const double *w);
/* The dual point of the last bound, residuals, and all in the user's units. */
void alfs_finish(alfs_work *wk, alfs_result *result);

#endif
