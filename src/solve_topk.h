/* solve_topk.h: top-k feature selection by robust 0-1 integer programming.
 *
 * Minimises, over a sparse representation of the samples by each other, labels
 * (where unknown), and exactly k features,
 *   J = ||Z||_1 + lambda_e ||E||_1 + lambda_z alpha tr(Y L Y')
 *       + beta ( ||Y - P||^2 + lambda_a ||A||^2 + lambda_i tr(P L P') ),
 *   x = Z x + E, diag(Z) = 0, P = A V x', V = diag(v), v in {0,1}^p, 1'v = k,
 *   W = (|Z| + |Z|')/2, L = diag(rowSums(W)) - W, beta = lambda_z (1-alpha)/lambda_i.
 *
 * Translation. The source writes X for our x' (its samples are columns) and
 * X = XZ + E. We keep the user's orientation: x, E are n x p, and row i of Z (not
 * column i) rebuilds sample i, so our Z, Q, Y2 are the transposes of the source's.
 * A (classes x p in the source) is kept as its transpose `a`, p x c; labels are
 * integers 1..c instead of one-hot columns where that is enough.
 *
 * Parts, one file each:
 *   solve_topk.c            the outer loop, the structure matrix Theta, J
 *   solve_topk_represent.c  sub-problem 1: Z and E, by ADMM
 *   solve_topk_label.c      deterministic spectral labels
 *   propagate.c             harmonic labels
 *   solve_topk_select.c     sub-problem 2: v and A, by box-sphere ADMM
 *   solve_topk_polish.c     1-swap local search on the criterion g(S)
 *   solve_topk_bound.c      convex lower bound on g, branch and bound */
#ifndef UFS_SOLVE_TOPK_H
#define UFS_SOLVE_TOPK_H

#include "ufs.h"

/* ---- sub-problem 1 ------------------------------------------------------------ */

typedef struct {
    double lambda_e, lambda_z;
    double mu, growth, mu_max; /* mu is multiplied by growth up to mu_max */
    double tol;                /* on the three residuals; < 0: never stop early */
    int max_iter;
    bool nonnegative;          /* Z >= 0 */
    char form;                 /* 'n', 'p', or 'a' for the cheaper one */
} topk_represent_settings;

typedef struct {
    int n, p;
    bool n_form;
    const double *x; /* n x p */
    /* Results. */
    double *z, *q, *y2; /* n x n */
    double *e, *y1;     /* n x p */
    double mu;
    int iterations;
    bool converged;
    double residual[3]; /* max|x - Qx - E|, max|Q - Z|, change of Z */
    double objective;   /* sum(w |Z|) + lambda_e ||x - Zx||_1 */
    /* Work. */
    double *inverse;              /* (xx' + I)^{-1}, n x n, or (x'x + I)^{-1}, p x p */
    double *gram, *rhs, *cross, *step; /* n-form: n x n */
    double *tile, *change;        /* n-form: n x tile; p-form: n x p */
    double *reference, *qt;       /* n-form: n x n, Q0 and Q' */
    double *margin, *moved, *norm; /* n-form: n x p, n, p */
    bool screened;    /* the last step of E */
    int n_screened;   /* of all */
    double *xt, *zx, *y2x, *bm;   /* p-form: p x n, then n x p */
    double *pn;                   /* p-form: p x n */
} topk_represent;

/* Factors what does not change: xx' + I, or x'x + I. z (n x n) is where the result
 * will be. Returns LAPACK's info. */
int topk_represent_init(topk_represent *work, int n, int p, const double *x,
                        double *z, char form);
/* theta: n x n, symmetric. warm: continue from the last state. trace: rows
 * (outer, iteration, mu, the three residuals). */
void topk_represent_solve(topk_represent *work, const topk_represent_settings *set,
                          const double *theta, bool warm, int outer,
                          ufs_trace *trace);

/* ---- labels --------------------------------------------------------------------- */

typedef struct {
    int n, c;
    double *affinity; /* n x n */
    double *degree, *value;
    double *u;        /* n x c: the rows to be clustered */
    double *centre;   /* c x c */
    double *distance; /* n */
    int *trial, *again, *old, *size, *seed;
    int isolated;     /* samples without any link */
} topk_label;

void topk_label_init(topk_label *work, int n, int c);
/* Clusters the samples from z; label holds the previous partition if have_previous,
 * and the new one on return. info: LAPACK's, or -1 if fewer than c samples have a
 * link. */
int topk_label_solve(topk_label *work, const double *z, bool have_previous,
                     int *label);

/* ---- sub-problem 2 ------------------------------------------------------------- */

typedef struct {
    int k;
    double lambda_a, lambda_i;
    double growth, tol;
    int max_iter;
    bool incumbent, polish;
    bool bound, branch;
    int bound_max_iter, node_limit;
    double bound_tol;
    char form; /* 'p' dense, 'n' low rank, or 'a' */
} topk_select_settings;

/* The criterion g(S) = ||Y||^2 - tr(B_S'(K_SS + lambda_a I)^{-1} B_S), in one of two
 * forms: K itself (p <= n), or K = f'f, B = f'h through the r x p factor f. */
typedef struct {
    int n, p, c, k, r;
    bool dense;
    double lambda_a, yy, b_norm;
    double *b;    /* p x c */
    double *diag; /* diagonal of K */
    double *kmat; /* dense: p x p */
    const double *f, *h; /* r x p, r x c; in the dense form only after topk_factor */
    double *f_own, *h_own;
    const double *x;
    /* Work. */
    double *small, *cols, *bs; /* k x k, r x k, k x c */
    double *chol;              /* n x n: I + lambda_i L; dense: n x p, L x */
} topk_criterion;

/* For orders by (first, second) descending, index ascending. */
typedef struct {
    double first, second;
    int index;
} topk_entry;

typedef struct {
    topk_criterion *g;
    double *a;       /* p x c, the transpose of A */
    double *v;       /* p, continuous */
    int *chosen;     /* k, ascending, 0-based */
    double value;    /* g(chosen) */
    int iterations;
    bool converged;
    double residual; /* the largest of the four */
    /* Work. */
    double *m;                        /* p x p or r x r: what is factored */
    double *u, *sol;                  /* r x p, r x c */
    double *rhs, *v1, *v2, *y2, *y3, *previous, *target; /* p */
    double *cg_r, *cg_z, *cg_p, *cg_q, *pc;              /* p */
    double *av, *back, *t;            /* p x c, p x c, r x c */
    int *trial;
    topk_entry *sort;
} topk_select;

void topk_criterion_init(topk_criterion *g, int n, int p, int c, int k,
                         const double *x, double lambda_a, bool graph, char form,
                         bool factor);
/* label: 1..c. w (n x n) with lambda_i > 0 adds the structure term, NULL none. */
int topk_criterion_set(topk_criterion *g, const int *label, const double *w,
                       double lambda_i);
/* g(S); +Inf if the k x k factorisation fails. */
double topk_criterion_value(topk_criterion *g, const int *set);
/* a (p x c) = the optimal A' for the set, zero outside it. Returns LAPACK's info. */
int topk_criterion_coef(topk_criterion *g, const int *set, double *a);
/* out (p x m) = K[, set]. */
void topk_criterion_columns(const topk_criterion *g, const int *set, int m,
                            double *scratch, double *out);
/* Dense form: makes f and h with K = f'f, B = f'h by an eigen-decomposition. */
int topk_criterion_factor(topk_criterion *g);

/* The k best of p entries (which are sorted in place), as an ascending set. */
void topk_best(int p, int k, topk_entry *entry, int *set);

void topk_select_init(topk_select *work, topk_criterion *g);
/* ADMM; the result is the incumbent (or the last iterate). */
int topk_select_admm(topk_select *work, const topk_select_settings *set, int outer,
                     ufs_trace *trace);

/* ---- polish --------------------------------------------------------------------- */

typedef struct {
    double *kc;    /* p x k: K[, S] */
    double *u, *r; /* p x k, p x c */
    double *rt, *rr;           /* p x k: R T'; p: row norms of R */
    double *inv, *t, *scratch; /* k x k, k x c, r x k */
    bool *in;      /* p */
} topk_polish;

void topk_polish_init(topk_polish *work, const topk_criterion *g);
/* Improves `set` (ascending) in place; returns g, or +Inf after a failed
 * factorisation. */
double topk_polish_solve(topk_polish *work, topk_criterion *g, int *set,
                         int *swaps);

/* ---- bound ------------------------------------------------------------------------ */

typedef struct {
    double *s, *gradient, *trial, *next, *score, *root; /* p */
    double *fs, *gram, *m;  /* r x p, r x r, r x c */
    double *pull;           /* p x c */
    topk_entry *sort;       /* p */
    double value, lower;    /* h(s), and the proved bound on it */
    int iterations;
} topk_bound;

void topk_bound_init(topk_bound *work, const topk_criterion *g);
/* Minimises the relaxation from `start` (NULL: all equal) with s_j = 1 where fixed is 1
 * and 0 where it is -1 (NULL: none). Stops at value - lower <= tol (1 + |value|); with a
 * finite target also when lower passes it or at a tenth of the way to it. The criterion
 * must have been factored. Returns LAPACK's info. */
int topk_bound_solve(topk_bound *work, const topk_criterion *g, const signed char *fixed,
                     const double *start, double target, double tol, int max_iter);
/* The k largest entries of the relaxed s, ascending. */
void topk_bound_round(topk_bound *work, const topk_criterion *g, int *set);

typedef struct {
    int nodes;     /* relaxations solved */
    bool proved;   /* the set is optimal to a relative 1e-9 */
    bool improved; /* a better set was found */
    double lower;
} topk_branch_info;

/* Best-first branch and bound after topk_bound_solve, from the incumbent `set` with
 * value *value; both are improved in place. Memory: node_limit x p bytes. */
int topk_branch(topk_bound *work, topk_polish *polish, topk_criterion *g, double tol,
                int max_iter, int node_limit, int *set, double *value,
                topk_branch_info *info);

/* ---- the whole ---------------------------------------------------------------------- */

typedef enum { TOPK_CLUSTER, TOPK_PROPAGATE, TOPK_STRUCTURED, TOPK_PLAIN } topk_mode;

typedef struct {
    int n, p, c, k;
    topk_mode mode;
    const double *x;    /* n x p */
    const int *known;   /* n: class 1..c, 0 = unknown; NULL when clustering */
} topk_problem;

typedef struct {
    topk_represent_settings represent;
    topk_select_settings select;
    double alpha, tol;
    int max_iter;
    bool cmn;
} topk_settings;

typedef struct {
    ufs_status status;
    int lapack, iterations;
    bool too_few_links;       /* fewer linked samples than clusters: no result */
    int isolated, unreached;  /* samples without a link, without a labelled one */
    int nodes;                /* of branch and bound */
    bool proved;
    double change, objective; /* of Theta; J */
    double value, bound;      /* g(S) and its lower bound */
    /* trace: objective, change of Theta, sub-problem 1 (iterations, objective, largest
     * residual), sub-problem 2 (iterations, largest residual, g of the ADMM, g), swaps,
     * labels moved. inner_z: outer, iteration, mu, three residuals. inner_v: outer,
     * iteration, |1'v - k|, box, sphere, change. */
    ufs_trace trace, inner_z, inner_v;
} topk_info;

/* Where the results go; n x n parts are NULL in the plain mode. */
typedef struct {
    double *z, *e, *w, *theta; /* n x n, n x p, n x n, n x n */
    double *a, *v, *v_cont;    /* p x c, p: 0/1, p: last iterate of the ADMM */
    double *relaxed;           /* p or NULL: solution of the relaxation */
    double *probability;       /* n x c or NULL */
    int *label, *chosen;       /* n: 1..c; k: 0-based, ascending */
    int *reached;              /* n or NULL */
} topk_result;

enum { TOPK_TRACE_COLS = 11, TOPK_INNER_COLS = 6, TOPK_INNER_ROWS = 100000 };

void topk_solve(const topk_problem *prob, const topk_settings *set, topk_result *res,
                topk_info *info, const ufs_hook *hook);

#endif
