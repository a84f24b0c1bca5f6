/* solve_topk_bound.c: how far the selection can be from optimal. With K = f'f,
 * B = f'h and s = 1_S,
 *   g(S) = c0 + lambda_a tr(h'(lambda_a I + f diag(s) f')^{-1} h),  c0 = ||Y||^2 - ||h||^2,
 * and the right-hand side h(s) is convex in s (matrix inverse of an affine map). For any
 * s >= 0, with gradient_j = -lambda_a ||(f'm)_j||^2, m = (...)^{-1} h,
 *   h(s) + min over k-subsets T of gradient'(1_T - s)
 * is therefore a lower bound on g of every k-subset (the Frank-Wolfe bound). s is
 * moved by spectral projected gradients (Birgin, Martinez, Raydan 2000) on
 * {0 <= s <= 1, 1's = k}: 20-40 evaluations where Frank-Wolfe steps need hundreds. A step is halved
 * until the value is not above a mean of those before, the last ones weighing most.
 * One evaluation: r^2 m + r^3/3 + 2rpc flops, m = number of s_j > 0, r = min(n, p).
 *
 * Branch and bound: a proof that a set is the best one, or a better set. Features are fixed in or
 * out, the node with the smallest bound first, until no node can hold a set better than the one at
 * hand. One node: a relaxation from the root's solution, about 10 evaluations. */
#include "la.h"
#include "proj.h"
#include "solve_topk_set.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

typedef struct {
    double lower;     /* infinite once it has been replaced by its two children */
    int branch;       /* feature to branch on */
    int parent;       /* node, whose feature is in or out: */
    signed char side; /* 1 or -1 */
} node;

/* What every set has or has not. */
static void begin_fixed(const topk_criterion *g, signed char *fixed)
{
    for (int j = 0; j < g->p; j++) fixed[j] = (signed char) topk_must(g, j);
}

/* The free entry nearest to 1/2, the first of equals. */
static int fractional(const topk_bound *work, const signed char *fixed, int p)
{
    double best = R_PosInf;
    int at = 0;
    for (int j = 0; j < p; j++) {
        double d = fabs(work->s[j] - 0.5);
        if (fixed[j] == 0 && d < best - UFS_TIE) {
            best = d;
            at = j;
        }
    }
    return at;
}

static double cut_below(double value)
{
    return value - UFS_TIE * (1.0 + fabs(value));
}

static int state(const topk_criterion *g, const signed char *fixed, size_t j)
{
    return fixed != NULL ? fixed[j] : topk_must(g, (int) j);
}

/* Fixed entries are sent to +-infinity, from where the projection takes them to 1, 0. */
static void project(const topk_criterion *g, const signed char *fixed, double *y, double *out)
{
    for (size_t j = 0; j < (size_t) g->p; j++)
        if (state(g, fixed, j)) y[j] = state(g, fixed, j) > 0 ? R_PosInf : R_NegInf;
    proj_capped_simplex(g->p, y, (double) g->k, out);
}

/* Value, gradient and proved bound at s. */
static int evaluate(topk_criterion *g, const signed char *fixed, const double *s, double *value,
                    double *gradient, double *lower)
{
    size_t p = (size_t) g->p, rc = (size_t) g->r * (size_t) g->c;
    int lapack, wanted = g->k, n_free = 0;
    double bound, trace, tail = 0.0;

    for (size_t j = 0; j < p; j++) gradient[j] = sqrt(fmax(s[j], 0.0));
    lapack = topk_criterion_relaxed(g, gradient, &trace);
    if (lapack) return lapack;
    for (size_t i = 0; i < rc; i++) tail += g->lambda_a * g->h[i] * g->m[i];
    *value = g->yy - la_ss(rc, g->h) + tail;
    la_row_norms(g->p, g->c, g->pull, gradient);

    /* Less what the solution may have lost to rounding: its condition is at most
     * trace/lambda_a. */
    bound = *value - DBL_EPSILON * trace / g->lambda_a * fabs(tail);
    for (size_t j = 0; j < p; j++) {
        gradient[j] *= -g->lambda_a * gradient[j];
        bound -= gradient[j] * s[j];
        if (state(g, fixed, j) == 1) {
            bound += gradient[j];
            wanted--;
        } else if (state(g, fixed, j) == 0) {
            g->u[n_free++] = gradient[j];
        }
    }
    /* The smallest `wanted` free entries; u is free for use as scratch again. */
    if (wanted > 0 && wanted < n_free) rPsort(g->u, n_free, wanted - 1);
    for (int j = 0; j < wanted && j < n_free; j++) bound += g->u[j];
    *lower = bound;
    return 0;
}

int topk_bound_solve(topk_bound *work, topk_criterion *g, const signed char *fixed,
                     const double *start, double target, double tol, int max_iter)
{
    size_t p = (size_t) g->p;
    double lower, level;
    int lapack;

    ufs_copy(work->trial, start, p);
    project(g, fixed, work->trial, work->s);
    lapack = evaluate(g, fixed, work->s, &work->value, work->gradient, &work->lower);
    if (lapack) return lapack;
    level = work->value;
    for (work->iterations = 1; work->iterations < max_iter; work->iterations++) {
        double value, length = 1.0, top = 0.0, ss = 0.0, sy = 0.0;
        double enough = tol * (1.0 + fabs(work->value));

        if (work->lower >= target) break;
        if (!(work->value - work->lower > enough) && !(work->value >= target)) break;
        for (size_t j = 0; j < p; j++) top = fmax(top, -work->gradient[j]);
        if (top == 0.0) break;
        /* Otherwise the step that fitted the last time. */
        if (!(work->step > 0.0)) work->step = 1.0 / top;
        for (size_t j = 0; j < p; j++) work->trial[j] = work->s[j] - work->step * work->gradient[j];
        project(g, fixed, work->trial, work->next);
        for (;; length *= 0.5) {
            for (size_t j = 0; j < p; j++) {
                double to = work->s[j] + length * (work->next[j] - work->s[j]);
                work->trial[j] = fmin(1.0, fmax(0.0, to));
            }
            lapack = evaluate(g, fixed, work->trial, &value, work->score, &lower);
            if (lapack) return lapack;
            /* Shorter steps are rounding. */
            if (value <= level || length * length < DBL_EPSILON) break;
        }
        /* Every evaluation proves a bound; the best one stays. */
        work->lower = fmax(work->lower, lower);
        for (size_t j = 0; j < p; j++) {
            double ds = work->trial[j] - work->s[j];
            ss += ds * ds;
            sy += ds * (work->score[j] - work->gradient[j]);
            work->s[j] = work->trial[j];
            work->gradient[j] = work->score[j];
        }
        work->value = value;
        level = 0.5 * (level + value);
        if (ss == 0.0) break;
        /* Barzilai-Borwein; less curvature is rounding. */
        if (sy > UFS_ROUNDING * top * ss) work->step = ss / sy;
        if (work->iterations % 10 == 0) ufs_hook_step(NULL, 0, 0.0, 0.0);
    }
    return 0;
}

void topk_bound_round(topk_bound *work, topk_criterion *g, int *subset)
{
    for (int j = 0; j < g->p; j++) work->trial[j] = -work->gradient[j];
    topk_best(g, work->s, work->trial, subset);
}

int topk_branch_solve(topk_bound *work, topk_polish *polish, topk_criterion *g,
                      const topk_limits *limits, int *subset, double *value)
{
    int node_limit = limits->node_limit;
    size_t p = (size_t) g->p, k = (size_t) g->k;
    signed char *fixed = (signed char *) R_alloc(p, 1); /* 1 in, -1 out, 0 free */
    node *t = (node *) R_alloc((size_t) node_limit + 2, sizeof(node));
    int *trial = ufs_ialloc(k), swaps = 0, made = 1;

    work->nodes = 0;
    begin_fixed(g, fixed);
    /* The root is the relaxation just solved. */
    ufs_copy(work->root, work->s, p);
    t[0] = (node){work->lower, fractional(work, fixed, g->p), 0, 0};
    while (work->nodes + 2 <= node_limit) {
        int at = 0;
        for (int i = 1; i < made; i++)
            if (t[i].lower < t[at].lower) at = i;
        if (t[at].lower >= cut_below(*value)) break;
        t[at].lower = R_PosInf;
        for (int side = 1; side >= -1; side -= 2) {
            int in = 0, n_free = 0, lapack;
            double found;
            begin_fixed(g, fixed);
            for (int i = at; i > 0; i = t[i].parent) fixed[t[t[i].parent].branch] = t[i].side;
            fixed[t[at].branch] = (signed char) side;
            for (size_t j = 0; j < p; j++) {
                in += fixed[j] == 1;
                n_free += fixed[j] == 0;
            }
            work->nodes++;
            if (in > g->k || in + n_free < g->k) continue;
            lapack = topk_bound_solve(work, g, fixed, work->root, cut_below(*value), limits->tol,
                                      limits->max_iter);
            if (lapack) return lapack;
            if (work->lower >= cut_below(*value)) continue;
            topk_bound_round(work, g, trial);
            found = topk_criterion_value(g, trial);
            if (found < cut_below(*value)) {
                if (polish != NULL) found = topk_polish_solve(polish, g, trial, &swaps);
                *value = found;
                memcpy(subset, trial, k * sizeof(int));
            }
            /* A complete set has no children: its value was just looked at. */
            if (in < g->k && in + n_free > g->k && work->lower < cut_below(*value))
                t[made++] = (node){work->lower, fractional(work, fixed, g->p), at,
                                   (signed char) side};
        }
        ufs_hook_step(NULL, 0, 0.0, 0.0);
    }
    ufs_copy(work->s, work->root, p);
    work->overall = *value;
    for (int i = 0; i < made; i++) work->overall = fmin(work->overall, t[i].lower);
    work->proved = work->overall >= cut_below(*value);
    return 0;
}

void topk_bound_init(topk_bound *work, const topk_criterion *g)
{
    ufs_dalloc_each((size_t) g->p, 1,
                    (double **[]){&work->s, &work->gradient, &work->trial, &work->next,
                                  &work->score, &work->root, NULL});
    for (int j = 0; j < g->p; j++) work->s[j] = (double) g->k / g->p;
    work->step = 0.0;
}
