/* topk_bound.c: how far the selection can be from optimal. With K = f'f,
 * B = f'h and s = 1_S,
 *   g(S) = c0 + lambda_a tr(h'(lambda_a I + f diag(s) f')^{-1} h),  c0 = ||Y||^2 - ||h||^2,
 * and the right-hand side h(s) is convex in s (matrix inverse of an affine map). For any
 * s >= 0, with gradient_j = -lambda_a ||(f'm)_j||^2, m = (...)^{-1} h,
 *   h(s) + min over k-subsets T of gradient'(1_T - s)
 * is therefore a lower bound on g of every k-subset (the Frank-Wolfe bound). Under a budget T need only
 * be affordable: for any price mu >= 0 of a unit of cost the minimum of (gradient + mu cost)'1_T over
 * all k-subsets, less mu times the budget, is no more than that, and the best mu is searched; and s
 * minimises h(s) plus a price of the cost above the budget, at which s is affordable. s is
 * moved by spectral projected gradients (Birgin, Martinez, Raydan 2000) on
 * {0 <= s <= 1, 1's = k}, or with quotas the hull of the sets that they allow: 20-40 evaluations where Frank-Wolfe steps need hundreds. A step is halved
 * until the value is not above a mean of those before, the last ones weighing most.
 * One evaluation: r^2 m + r^3/3 + 2rpc flops, m = number of s_j > 0, r = min(n, p).
 *
 * Branch and bound: a proof that a set is the best one, or a better set. Features are fixed in or
 * out, the node with the smallest bound first, until no node can hold a set better than the one at
 * hand. One node: a relaxation from the root's solution, about 10 evaluations. */
#include "topk_set.h"

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
static void project(topk_criterion *g, const signed char *fixed, double *y, double *out)
{
    for (size_t j = 0; j < (size_t) g->p; j++)
        if (state(g, fixed, j)) y[j] = state(g, fixed, j) > 0 ? R_PosInf : R_NegInf;
    if (g->quota.level != NULL)
        topk_quota_project(g, y, out);
    else
        proj_capped_simplex(g->p, y, (double) g->k, out);
}

/* A set that lacks `wanted` of the free features and may spend `left` on them: a bound on the sum of
 * their gradients, by the price mu. At mu = 0 the smallest such sum. */
static double at_price(topk_criterion *g, const signed char *fixed, const double *gradient,
                       int wanted, double left, double mu)
{
    bool quotas = g->quota.level != NULL;
    topk_walk *walk = &g->walk[0];
    double sum = 0.0;
    int n_free = 0;

    if (quotas) topk_walk_begin(walk, g->k);
    for (size_t j = 0; j < (size_t) g->p; j++) {
        int at = state(g, fixed, j);
        if (quotas && at > 0) topk_walk_take(walk, (int) j);
        if (at != 0) continue;
        if (quotas) g->index[n_free] = (int) j;
        g->u[n_free++] = mu > 0.0 ? gradient[j] + mu * g->cost[j] : gradient[j];
    }
    if (quotas) return topk_quota_sum(g, walk, n_free) - mu * left;
    if (wanted > 0 && wanted < n_free) rPsort(g->u, n_free, wanted - 1);
    for (int j = 0; j < wanted && j < n_free; j++) sum += g->u[j];
    return sum - mu * left;
}

/* The largest over mu, which it is concave in: twice as far while it rises, then golden sections. */
static double best_price(topk_criterion *g, const signed char *fixed, const double *gradient,
                         int wanted, double left)
{
    static const double part = 0.6180339887498949;
    double top = 0.0, cheapest = g->cost[g->cheap[0]], low = 0.0, high, best, at[2], value[2];

    best = at_price(g, fixed, gradient, wanted, left, 0.0);
    for (size_t j = 0; j < (size_t) g->p; j++) top = fmax(top, -gradient[j]);
    if (wanted == 0 || top == 0.0) return best;
    for (high = 1e-6 * top / cheapest; high < 1e6 * top / cheapest; high *= 4.0) {
        double now = at_price(g, fixed, gradient, wanted, left, high);
        if (now < best) break;
        best = now;
        low = high / 4.0;
    }
    at[0] = high - part * (high - low);
    at[1] = low + part * (high - low);
    for (int i = 0; i < 2; i++) value[i] = at_price(g, fixed, gradient, wanted, left, at[i]);
    for (int round = 0; round < 30; round++) {
        int worse = value[0] < value[1] ? 0 : 1;
        best = fmax(best, value[1 - worse]);
        if (worse == 0)
            low = at[0];
        else
            high = at[1];
        at[worse] = at[1 - worse];
        value[worse] = value[1 - worse];
        at[1 - worse] = worse == 0 ? low + part * (high - low) : high - part * (high - low);
        value[1 - worse] = at_price(g, fixed, gradient, wanted, left, at[1 - worse]);
    }
    return best;
}

/* Value, gradient and proved bound at s. */
static int evaluate(topk_criterion *g, const signed char *fixed, const double *s, double *value,
                    double *gradient, double *lower)
{
    size_t p = (size_t) g->p, rc = (size_t) g->r * (size_t) g->c;
    int lapack, wanted = g->k;
    double bound, trace, tail = 0.0, left = g->cost != NULL ? g->budget : 0.0;

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
            if (g->cost != NULL) left -= g->cost[j];
        }
    }
    /* u is free for use as scratch again. */
    bound += g->cost == NULL ? at_price(g, fixed, gradient, wanted, left, 0.0)
                             : best_price(g, fixed, gradient, wanted, left);
    *lower = bound;
    for (size_t j = 0; j < p && g->price > 0.0; j++) {
        *value += g->price * g->cost[j] * s[j];
        gradient[j] += g->price * g->cost[j];
    }
    *value -= g->price * g->budget;
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
        for (size_t j = 0; j < p; j++) top = fmax(top, fabs(work->gradient[j]));
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

static bool overspent(const topk_bound *work, const topk_criterion *g)
{
    double spent = 0.0;

    for (size_t j = 0; j < (size_t) g->p; j++) spent += g->cost[j] * work->s[j];
    return !topk_affordable(g, spent);
}

int topk_bound_search(topk_bound *work, topk_criterion *g, double tol, int max_iter)
{
    double lower = R_NegInf, low = 0.0, high = 0.0, top = 0.0;

    g->price = 0.0;
    for (int round = 0; round < 40; round++) {
        int lapack = topk_bound_solve(work, g, NULL, work->s, NA_REAL, tol, max_iter);
        if (lapack) return lapack;
        lower = fmax(lower, work->lower);
        if (g->cost == NULL || (round == 0 && !overspent(work, g))) break;
        for (size_t j = 0; j < (size_t) g->p && round == 0; j++)
            top = fmax(top, fabs(work->gradient[j]) / g->cost[j]);
        if (!overspent(work, g))
            high = g->price;
        else
            low = g->price;
        if (high > 0.0 && high - low <= 0.01 * high) break;
        g->price = high > 0.0 ? 0.5 * (low + high) : fmax(4.0 * low, 0.1 * top);
    }
    work->lower = lower;
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
            double found, price = 0.0;
            begin_fixed(g, fixed);
            for (int i = at; i > 0; i = t[i].parent) fixed[t[t[i].parent].branch] = t[i].side;
            fixed[t[at].branch] = (signed char) side;
            for (size_t j = 0; j < p; j++) {
                in += fixed[j] == 1;
                n_free += fixed[j] == 0;
                if (g->cost != NULL && fixed[j] == 1) price += g->cost[j];
            }
            work->nodes++;
            if (in > g->k || in + n_free < g->k) continue;
            if (!topk_quota_feasible(g, fixed)) continue;
            if (g->cost != NULL && !topk_affordable(g, price)) continue;
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
