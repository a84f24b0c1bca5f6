/* gl.h: exact row-sparse regression, the inner problem of SOCFS and JSPCA.
 *
 *   (GL)  min_V  ||T - X V||_F^2 + lambda sum_i f_i ||v_i||_2
 *
 * X n x p, T n x c, V p x c with rows v_i; lambda > 0; f_i = 1, or a factor of its own for each row
 * (gl_set_penalty): 0 leaves it free, Inf fixes it at zero. The optimum has rows that
 * are exactly zero. Optimal iff, with R = T - X V and kkt_i = 2||x_i'R||/(lambda f_i),
 * kkt_i <= 1 where v_i = 0, 2 x_i'R = lambda f_i v_i/||v_i|| elsewhere, and x_i'R = 0 where f_i = 0.
 *
 * Method: block coordinate descent on a working set of m features with cached
 * Gram columns and extrapolation, then, in a full solve, one product X'R over all
 * features to find violators and the duality gap.
 * Flops: 2npc per full product; 2n per new Gram entry; 2nmc to start a call; a
 * sweep costs 2mc per changed row and c per row that stays zero (Gram form), or,
 * once the Gram slots are exhausted, 2nc per row and 2nc more per changed one
 * (residual form, without extrapolation or Newton steps).
 * Memory: O(np) is the caller's; here 2pc + 4nc + slots^2 + 20 slots c + 6p doubles, slots <=
 * min(p, LA_GL_SLOTS). Nothing of size p x p. For a sparse X n in the counts above is the number of
 * entries of the column in question; it is never formed. A source is never swept over while the
 * slots last: a call reads the working set for X_W'T, the nonzero columns for X V, and for new
 * features all of them for their Gram columns. The rows of X may have weights, diag(root) X instead
 * of X (gl_set_rows); nothing of size n x n is formed, and
 * X is neither copied nor changed. */
#pragma once

#include "anderson.h"
#include "la.h"
#include "x_ops.h"

/* Of p columns the first one that equals it (and has its penalty), and how many equal it; NULL: all
 * differ. Only the sum of their rows of V matters to X V, and equal parts of it cost least: so the first
 * stands for all in a solve, and they share its row at the end. */
typedef struct {
    const int *first, *count;
} gl_copies;

/* Most features whose Gram columns are kept (32 MB); sweeps between two extrapolations; most sweeps
 * of a descent, and most descents; outer steps between two full solves. */
enum { LA_GL_SLOTS = 2000, LA_GL_DEPTH = 5, LA_GL_SWEEPS = 200, LA_GL_PRICE = 10 };

typedef struct {
    int n, p, c;
    const ufs_x *x;
    const double *root;   /* n: X stands for diag(root) X; NULL for ones */
    const double *factor; /* p: f; NULL for ones */
    gl_copies copies;     /* NULL at first: see gl_set_penalty() */
    int n_free, rank;     /* rows with f_i = 0; rank of their columns of X */
    int *free;            /* n_free: which */
    double *basis, *coef; /* n x rank: Q = X_F coef, orthonormal; n_free x n_free */
    double *part;         /* n_free x c */
    double *ss;           /* p: ||x_i||^2 */
    double share;         /* sweeps also stop when their steps are this share of the first one's */
    bool newton;          /* Newton steps in Gram form where they pay (gl.c) */
    /* The working set is set[0..m). Gram columns are valid on set[0..g), g <= cap:
     * if g > m, set[m..g) are features outside the working set whose columns wait
     * for their return; if g < m, the columns of set[g..m) are still to compute. */
    int m, g, cap;
    int *set, *pos;                   /* p; pos[feature] = place in set, -1 if none */
    int *fresh;                       /* p: those that enter next */
    double *gram;                     /* cap x cap */
    double *grad;                     /* m x c, Gram form: X_W' R */
    double *vw;                       /* c x p: rows of V in the order of set */
    double *size;                     /* p: ||v_i|| in the order of set */
    anderson history;                 /* of the last sweeps, size c x m */
    double *before;                   /* c x cap: V before a sweep */
    double *step;                     /* c x cap: an extrapolation minus V */
    double *moved;                    /* m x c: less the Gram matrix times step */
    double *row, *diff;               /* c */
    double *r, *xv;                   /* n x c: T - X V and X V of the V returned */
    double *u;                        /* c x p: (X'R)' */
    double *kkt;                      /* p, after a full solve */
    double *key;                      /* p: scratch */
    double *col, *other;              /* n: columns of X that are not dense, or weighted */
    double *scaled;                   /* n x c: diag(root) R */
    double l21;                       /* sum_i f_i ||v_i|| of the V returned */
    int nonzero;                      /* its rows that are not zero */
    double objective;                 /* (GL) there */
    double dual, gap;                 /* dual value and objective - dual, after a full solve */
    bool settled;                     /* the working set's own problem met its tolerance */
    double products, sweeps, columns; /* counters over all calls */
} gl_work;

/* All memory but that of weights is taken here. x is kept by reference. At most `slots` Gram columns
 * (at least 1, LA_GL_SLOTS as a rule) are kept. */
void gl_init(gl_work *w, int c, const ufs_x *x, int slots);
/* diag(root) X from now on, or X (NULL); root is kept by reference. Drops the Gram columns. */
void gl_set_rows(gl_work *w, const double *root);
/* The factors f, p nonnegative numbers or NULL, kept by reference, and equal columns; before the first
 * solve. */
void gl_set_penalty(gl_work *w, const double *factor, const gl_copies *copies);
/* The rows of v (p x c) of equal columns become equal parts of their sum. */
void gl_share(const gl_copies *copies, int p, int c, double *v);
/* v: warm start in, solution out (never a higher objective than the start).
 * Sweeps stop when max_i ||dv_i|| ||x_i|| <= vtol ||T||_F. full: all features are
 * checked and violators (kkt > 1 + vtol) enter the working set; otherwise only
 * the working set and the rows of v that are not zero move. After a full solve
 * features with v_i = 0 and kkt <= prune leave the working set. Sets xv, r,
 * objective; a full solve also kkt, dual, gap. */
void gl_solve(gl_work *w, const double *t, double lambda, double vtol, bool full, double prune,
              double *v);
/* Sets xv, r, objective, kkt, dual and gap for the given v, which is not changed. */
void gl_certify(gl_work *w, const double *t, double lambda, const double *v);
/* Largest violation of the optimality conditions at v (after a full solve or
 * gl_certify), as a share of lambda f_i: max(kkt_i - 1, 0) where v_i = 0,
 * ||2 x_i'R/(lambda f_i) - v_i/||v_i|||| elsewhere; of lambda where f_i = 0. eps > 0: of the smoothed
 * problem, with v_i/sqrt(||v_i||^2 + eps) for every row. */
double gl_violation(const gl_work *w, double lambda, double eps, const double *v);

static inline double gl_factor(const gl_work *w, int f)
{
    return w->factor == NULL ? 1.0 : w->factor[f];
}
