/* solve_topk_bound.c: how far the selection can be from optimal. With K = f'f,
 * B = f'h and s = 1_S,
 *   g(S) = c0 + lambda_a tr(h'(lambda_a I + f diag(s) f')^{-1} h),  c0 = ||Y||^2 - ||h||^2,
 * and the right-hand side h(s) is convex in s (matrix inverse of an affine map). For any
 * s >= 0, with gradient_j = -lambda_a ||(f'm)_j||^2, m = (...)^{-1} h,
 *   h(s) + min over k-subsets T of gradient'(1_T - s)
 * is therefore a lower bound on g of every k-subset (the Frank-Wolfe bound). s is
 * moved by spectral projected gradients (Birgin, Martinez, Raydan 2000) on
 * {0 <= s <= 1, 1's = k}: 20-40 evaluations where Frank-Wolfe steps need hundreds.
 * One evaluation: r^2 m + r^3/3 + 2rpc flops, m = number of s_j > 0, r = min(n, p).
 *
 * Branch and bound fixes features in or out, best bound first. */
#include "solve_topk.h"
#include "la.h"
#include "proj.h"
#include <R_ext/Utils.h>

enum { MEMORY = 8 };

static int evaluate(topk_bound *w, const topk_criterion *g, const signed char *fixed,
                    const double *s, double *value, double *gradient, double *lower);
static void project(const topk_criterion *g, const signed char *fixed, double *y,
                    double *out);

void topk_bound_init(topk_bound *w, const topk_criterion *g)
{
    size_t p = (size_t) g->p, c = (size_t) g->c, r = (size_t) g->r;
    w->s = ufs_dalloc(p, 1);
    w->gradient = ufs_dalloc(p, 1);
    w->trial = ufs_dalloc(p, 1);
    w->next = ufs_dalloc(p, 1);
    w->score = ufs_dalloc(p, 1);
    w->root = ufs_dalloc(p, 1);
    w->fs = ufs_dalloc(r, p);
    w->gram = ufs_dalloc(r, r);
    w->m = ufs_dalloc(r, c);
    w->pull = ufs_dalloc(p, c);
    w->sort = (topk_entry *) R_alloc(p, sizeof(topk_entry));
    w->iterations = 0;
}

int topk_bound_solve(topk_bound *w, const topk_criterion *g, const signed char *fixed,
                     const double *start, double target, double tol, int max_iter)
{
    size_t p = (size_t) g->p;
    double past[MEMORY], lower, step = 0.0, top = 0.0;
    int info;

    for (size_t j = 0; j < p; j++)
        w->trial[j] = start == NULL ? (double) g->k / g->p : start[j];
    project(g, fixed, w->trial, w->s);
    info = evaluate(w, g, fixed, w->s, &w->value, w->gradient, &w->lower);
    if (info) return info;
    for (int i = 0; i < MEMORY; i++) past[i] = w->value;
    for (size_t j = 0; j < p; j++) top = fmax(top, -w->gradient[j]);
    if (top > 0.0) step = 1.0 / top;

    for (w->iterations = 1; w->iterations < max_iter; w->iterations++) {
        double enough = tol * (1.0 + fabs(w->value)), slope = 0.0, length = 1.0, most = past[0];
        double value, ss = 0.0, sy = 0.0;

        /* A node that cannot be cut needs no accurate bound. */
        if (R_FINITE(target)) enough = fmax(enough, 0.1 * (target - w->value));
        if (!(w->value - w->lower > enough) || w->lower >= target) break;

        for (size_t j = 0; j < p; j++) w->trial[j] = w->s[j] - step * w->gradient[j];
        project(g, fixed, w->trial, w->next);
        for (size_t j = 0; j < p; j++) {
            w->next[j] -= w->s[j];
            slope += w->gradient[j] * w->next[j];
        }
        for (int i = 1; i < MEMORY; i++) most = fmax(most, past[i]);
        for (;;) {
            for (size_t j = 0; j < p; j++)
                w->trial[j] = fmin(1.0, fmax(0.0, w->s[j] + length * w->next[j]));
            info = evaluate(w, g, fixed, w->trial, &value, w->score, &lower);
            if (info) return info;
            if (value <= most + 1e-4 * length * slope || length < 1e-8) break;
            length *= 0.5;
        }
        /* Every evaluation proves a bound; the best one stays. */
        w->lower = fmax(w->lower, lower);
        top = 0.0;
        for (size_t j = 0; j < p; j++) {
            double ds = w->trial[j] - w->s[j];
            ss += ds * ds;
            sy += ds * (w->score[j] - w->gradient[j]);
            w->s[j] = w->trial[j];
            w->gradient[j] = w->score[j];
            top = fmax(top, -w->gradient[j]);
        }
        w->value = value;
        past[w->iterations % MEMORY] = value;
        if (ss == 0.0 || top == 0.0) break;
        /* Barzilai-Borwein, kept where the projection is accurate. */
        step = fmin(sy > 0.0 ? ss / sy : 1e4 / top, 1e4 / top);
        if (w->iterations % 10 == 0) ufs_hook_step(NULL, 0, 0.0, 0.0);
    }
    return 0;
}

/* Value, gradient and proved bound at s. */
static int evaluate(topk_bound *w, const topk_criterion *g, const signed char *fixed,
                    const double *s, double *value, double *gradient, double *lower)
{
    size_t p = (size_t) g->p, r = (size_t) g->r, c = (size_t) g->c, used = 0;
    int info, wanted = g->k, n_free = 0;
    double bound;

    for (size_t j = 0; j < p; j++) {
        double root = sqrt(s[j]);
        if (!(s[j] > 0.0)) continue;
        for (size_t i = 0; i < r; i++) w->fs[i + used * r] = root * g->f[i + j * r];
        used++;
    }
    la_gram('N', g->r, (int) used, w->fs, w->gram);
    for (size_t i = 0; i < r; i++) w->gram[i + i * r] += g->lambda_a;
    info = la_chol(g->r, w->gram);
    if (info) return info;
    ufs_copy(w->m, g->h, r * c);
    la_chol_solve(g->r, g->c, w->gram, w->m);
    *value = g->yy - la_ss(r * c, g->h);
    for (size_t i = 0; i < r * c; i++) *value += g->lambda_a * g->h[i] * w->m[i];
    la_gemm('T', 'N', g->p, g->c, g->r, 1.0, g->f, g->r, w->m, g->r, 0.0, w->pull, g->p);
    la_row_norms(g->p, g->c, w->pull, gradient);

    bound = *value;
    for (size_t j = 0; j < p; j++) {
        gradient[j] *= -g->lambda_a * gradient[j];
        bound -= gradient[j] * s[j];
        if (fixed != NULL && fixed[j] == 1) {
            bound += gradient[j];
            wanted--;
        } else if (fixed == NULL || fixed[j] == 0) {
            w->fs[n_free++] = gradient[j];
        }
    }
    /* The smallest `wanted` free entries; fs is free for use as scratch again. */
    if (wanted > 0 && wanted < n_free) rPsort(w->fs, n_free, wanted - 1);
    for (int j = 0; j < wanted && j < n_free; j++) bound += w->fs[j];
    *lower = bound;
    return 0;
}

/* Fixed entries are sent to +-infinity, from where the projection takes them to 1, 0. */
static void project(const topk_criterion *g, const signed char *fixed, double *y,
                    double *out)
{
    if (fixed != NULL)
        for (int j = 0; j < g->p; j++)
            if (fixed[j]) y[j] = fixed[j] > 0 ? R_PosInf : R_NegInf;
    proj_capped_simplex(g->p, y, (double) g->k, out);
}

void topk_bound_round(topk_bound *w, const topk_criterion *g, int *set)
{
    for (int j = 0; j < g->p; j++) {
        w->sort[j].first = nearbyint(w->s[j] * 1e9);
        w->sort[j].second = -w->gradient[j];
        w->sort[j].index = j;
    }
    topk_best(g->p, g->k, w->sort, set);
}

/* ---- branch and bound ----------------------------------------------------------------- */

/* Open nodes in a binary heap, smallest bound first; slots of closed ones are reused. */
typedef struct {
    int p, open, n_slot;
    signed char *fixed; /* slots x p */
    double *lower;      /* of the slot */
    int *branch;        /* feature to branch on */
    int *heap, *spare, n_spare;
} tree;

static void tree_push(tree *t, const signed char *fixed, double lower, int branch);
static int tree_pop(tree *t);
static int fractional(const topk_bound *w, const signed char *fixed, int p);

int topk_branch(topk_bound *w, topk_polish *polish, topk_criterion *g, double tol,
                int max_iter, int node_limit, int *set, double *value,
                topk_branch_info *info)
{
    size_t p = (size_t) g->p, k = (size_t) g->k;
    signed char *fixed = (signed char *) R_alloc(p, 1);
    int *trial = ufs_ialloc(k), swaps = 0;
    size_t slots = (size_t) node_limit + 2;
    tree t = {g->p, 0, 0, NULL, NULL, NULL, NULL, NULL, 0};

    t.fixed = (signed char *) R_alloc(slots * p, 1);
    t.lower = ufs_dalloc(slots, 1);
    t.branch = ufs_ialloc(slots);
    t.heap = ufs_ialloc(slots);
    t.spare = ufs_ialloc(slots);
    info->nodes = 0;
    info->improved = false;
    memset(fixed, 0, p);
    /* The root is the relaxation just solved. */
    ufs_copy(w->root, w->s, p);
    tree_push(&t, fixed, w->lower, fractional(w, fixed, g->p));

    while (t.open > 0 && info->nodes + 2 <= node_limit) {
        int slot, branch;
        double cut = *value - 1e-9 * (1.0 + fabs(*value));
        if (t.lower[t.heap[0]] >= cut) break;
        slot = tree_pop(&t);
        branch = t.branch[slot];
        for (int side = 1; side >= -1; side -= 2) {
            int in = 0, n_free = 0, err;
            double found;
            memcpy(fixed, t.fixed + (size_t) slot * p, p);
            fixed[branch] = (signed char) side;
            for (size_t j = 0; j < p; j++) {
                in += fixed[j] == 1;
                n_free += fixed[j] == 0;
            }
            info->nodes++;
            if (in > g->k || in + n_free < g->k) continue;
            err = topk_bound_solve(w, g, fixed, w->root, cut, tol, max_iter);
            if (err) return err;
            if (w->lower >= cut) continue;
            topk_bound_round(w, g, trial);
            found = topk_criterion_value(g, trial);
            if (found < *value - 1e-9 * (1.0 + fabs(*value))) {
                *value = topk_polish_solve(polish, g, trial, &swaps);
                memcpy(set, trial, k * sizeof(int));
                info->improved = true;
                cut = *value - 1e-9 * (1.0 + fabs(*value));
            }
            /* A complete set has no children: its value was just looked at. */
            if (in < g->k && in + n_free > g->k && w->lower < cut)
                tree_push(&t, fixed, w->lower, fractional(w, fixed, g->p));
        }
        t.spare[t.n_spare++] = slot;
        ufs_hook_step(NULL, 0, 0.0, 0.0);
    }
    ufs_copy(w->s, w->root, p);
    info->lower = *value;
    for (int i = 0; i < t.open; i++) info->lower = fmin(info->lower, t.lower[t.heap[i]]);
    info->proved = info->lower >= *value - 1e-9 * (1.0 + fabs(*value));
    return 0;
}

/* The free entry nearest to 1/2, the first of equals. */
static int fractional(const topk_bound *w, const signed char *fixed, int p)
{
    double best = R_PosInf;
    int at = 0;
    for (int j = 0; j < p; j++) {
        double d = fabs(w->s[j] - 0.5);
        if (fixed[j] == 0 && d < best - 1e-9) {
            best = d;
            at = j;
        }
    }
    return at;
}

static void tree_push(tree *t, const signed char *fixed, double lower, int branch)
{
    int slot = t->n_spare > 0 ? t->spare[--t->n_spare] : t->n_slot++;
    int at = t->open++;
    memcpy(t->fixed + (size_t) slot * (size_t) t->p, fixed, (size_t) t->p);
    t->lower[slot] = lower;
    t->branch[slot] = branch;
    while (at > 0 && t->lower[t->heap[(at - 1) / 2]] > lower) {
        t->heap[at] = t->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    t->heap[at] = slot;
}

static int tree_pop(tree *t)
{
    int first = t->heap[0], last = t->heap[--t->open], at = 0;
    for (;;) {
        int child = 2 * at + 1;
        if (child >= t->open) break;
        if (child + 1 < t->open && t->lower[t->heap[child + 1]] < t->lower[t->heap[child]])
            child++;
        if (t->lower[t->heap[child]] >= t->lower[last]) break;
        t->heap[at] = t->heap[child];
        at = child;
    }
    t->heap[at] = last;
    return first;
}
