/* topk.h: top-k feature selection by robust 0-1 integer programming.
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
 * Under a budget v'cost <= budget, too, and under quotas v has as many of each stratum as they allow.
 *
 * topk_solve.c has the outer loop and J; propagate.c the harmonic labels; the parts of the two
 * sub-problems are listed in topk_z.h and topk_set.h. */
#pragma once

#include "topk_set.h"
#include "topk_z.h"

typedef enum { TOPK_CLUSTER, TOPK_PROPAGATE, TOPK_STRUCTURED, TOPK_PLAIN } topk_mode;

typedef struct {
    int n, p, c, k;
    topk_mode mode;
    const double *x;    /* n x p */
    const int *known;   /* n: class 1..c, 0 = unknown; NULL when clustering */
    const int *must;    /* p: see topk_criterion; NULL: nothing is asked */
    const double *cost; /* p and the budget of the set, see topk_criterion; NULL: none */
    double budget;
    ufs_quota quota; /* the same */
} topk_problem;

/* The two ADMMs of the paper; or for sub-problem 1 linear programmes, or one ADMM through all outer
 * iterations, and for sub-problem 2 the relaxation. In the order of R's topk_solvers. */
typedef enum { TOPK_PAPER, TOPK_EXACT, TOPK_ADMM } topk_solver;

typedef struct {
    topk_solver solver;
    topk_z_settings z;
    topk_select_settings select;
    bool polish, bound, branch, cmn;
    int bound_max_iter, node_limit;
    double bound_tol;
    double alpha; /* of the labels in Theta */
} topk_settings;

/* Zero where nothing is said; n x n parts are NULL in the plain mode. */
typedef struct {
    double *z, *e, *w;   /* n x n, n x p, n x n */
    double *a, *v_cont;  /* p x c, p: last iterate of the ADMM, or relaxed */
    double *relaxed;     /* p or NULL: solution of the relaxation */
    double *probability; /* n x c or NULL */
    int *label, *chosen; /* n: 1..c; k: 0-based, ascending */
    int *reached;        /* n or NULL */
    bool too_few_links;  /* fewer linked samples than clusters: no result */
    int nodes;           /* of branch and bound */
    bool proved;
    double change, objective; /* of Theta; J */
    double value, bound;      /* g(S) and its lower bound */
    /* Residuals of the paper's two ADMMs, all outer iterations. */
    ufs_trace inner_z, inner_v;
} topk_result;

/* tol is of the change of Theta. */
void topk_solve(const topk_problem *problem, const topk_settings *settings, topk_result *result,
                ufs_run *run);
