/* topk_solve.c: the outer loop of top-k selection (model and files: topk.h).
 * Theta = 1; then until Theta settles:
 *   Z, E     sub-problem 1 with weights 1 + lambda_z Theta. The paper's ADMM starts cold (with mu
 *            growing it stops at a point that depends on the start; from its last point it never
 *            settles), the two others go on from where they were
 *   W, L     structure matrix of Z and its Laplacian
 *   labels   spectral, harmonic, or given
 *   A, v     sub-problem 2, polished: the paper's ADMM, or with the other solvers the rounded
 *            relaxation and the set of the iteration before
 *   Theta    alpha 1{label_i != label_j} + (1 - alpha) ||P_i - P_j||^2 / 2
 * J need not fall in every iteration: the label step minimises one part only.
 * Once Theta has settled the selection is checked against the convex bound; if that
 * finds a better set, the loop goes on with it.
 *
 * Plain supervised mode: no Z, L = 0, one sub-problem 2, nothing n x n if 2p <= n.
 * Memory beside the results: that of the solver of sub-problem 1 and of the criterion, r x p for
 * what only one of them needs at a time, n x c. Theta is not kept: its entries are made when they
 * are asked for. */
#include "topk.h"
#include "propagate.h"
#include "topk_set.h"

/* ---- the bound ------------------------------------------------------------------------------- */

/* How far the selection can be from optimal. With K = f'f,
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

/* The same from s for the problem with its budget, whose price is searched: that at which the relaxed
 * features cost as much. Without a budget it is topk_bound_solve(). */
static int topk_bound_search(topk_bound *work, topk_criterion *g, double tol, int max_iter)
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

/* The k largest entries of the relaxed s, ascending. */
static void topk_bound_round(topk_bound *work, topk_criterion *g, int *subset)
{
    for (int j = 0; j < g->p; j++) work->trial[j] = -work->gradient[j];
    topk_best(g, work->s, work->trial, subset);
}

/* Best-first branch and bound after topk_bound_solve, from the incumbent `subset` with
 * value *value; both are improved in place, by polishing what roundings find (polish NULL:
 * as they are). Memory: node_limit times 24 bytes. Returns LAPACK's code. */
static int topk_branch_solve(topk_bound *work, topk_polish *polish, topk_criterion *g,
                             const topk_settings *settings, int *subset, double *value)
{
    int node_limit = settings->node_limit;
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
            lapack = topk_bound_solve(work, g, fixed, work->root, cut_below(*value),
                                      sqrt(settings->bound_tol), settings->bound_max_iter);
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

typedef struct {
    const topk_problem *problem;
    const topk_settings *settings;
    topk_result *result;
    ufs_run *run;
    bool graph;
    topk_lp lp;
    topk_admm admm;
    const topk_z_state *z; /* of the one of them that is used */
    topk_label label;
    topk_criterion criterion;
    topk_select select;
    topk_polish polish;
    topk_bound bound;
    double *projected; /* n x c: P now */
    topk_theta theta;  /* as it was made last, from the two that follow */
    int *theta_label;
    double *theta_projected;
    int *previous, *trial, *carried;
    bool carry;   /* the set of the iteration before is a start */
    bool relaxed; /* in this iteration */
    double value, value_start;
    double drift; /* what the last change of Theta adds to or takes from sum(w |Z|) */
    int swaps;
} topk_work;

/* ---- Z, W and the labels ------------------------------------------------------------------- */

static int labels_moved(const topk_work *work)
{
    int moved = 0;
    for (int i = 0; i < work->problem->n; i++) moved += work->previous[i] != work->result->label[i];
    return moved;
}

static void represent_step(topk_work *work, int iteration)
{
    const topk_settings *settings = work->settings;

    if (settings->solver == TOPK_EXACT)
        topk_lp_solve(&work->lp, &settings->z, &work->theta);
    else if (settings->solver == TOPK_PAPER)
        topk_admm_paper(&work->admm, &settings->z, &work->theta, iteration, &work->result->inner_z,
                        NULL);
    else
        topk_admm_go_on(&work->admm, &settings->z, &work->theta, work->drift / work->z->objective,
                        iteration == 1 && work->run->max_iter > 1);
}

static int label_step(topk_work *work, int iteration)
{
    const topk_problem *problem = work->problem;
    topk_result *result = work->result;
    size_t n = (size_t) problem->n;
    int lapack;

    if (iteration > 1) memcpy(work->previous, result->label, n * sizeof(int));
    /* Where Z stayed, so do W and the labels. */
    if (iteration > 1 && work->settings->solver == TOPK_ADMM && work->z->iterations == 0) return 0;
    if (problem->mode == TOPK_CLUSTER) {
        /* Clusters need Z only: the matrix of W is theirs before it is made. */
        lapack = topk_label_solve(&work->label, result->z, iteration > 1, result->label);
        topk_links(problem->n, result->z, result->w);
        result->too_few_links = lapack < 0;
        return lapack < 0 ? 0 : lapack;
    }
    if (work->graph) topk_links(problem->n, result->z, result->w);
    if (problem->mode == TOPK_PROPAGATE) {
        propagate_problem spread = {.n = problem->n,
                                    .c = problem->c,
                                    .w = result->w,
                                    .known = problem->known,
                                    .p = problem->p,
                                    .x = problem->x,
                                    .cmn = work->settings->cmn};
        propagate_result found = {
            .label = result->label, .probability = result->probability, .reached = result->reached};
        return propagate_solve(&spread, &found);
    }
    memcpy(result->label, problem->known, n * sizeof(int));
    return 0;
}

static int work_init(topk_work *work, const ufs_paths *paths)
{
    const topk_problem *problem = work->problem;
    const topk_settings *settings = work->settings;
    bool paper = settings->solver == TOPK_PAPER;
    int n = problem->n, p = problem->p, c = problem->c, lapack = 0;
    size_t N = (size_t) n, K = (size_t) problem->k, C = (size_t) c;

    work->criterion = (topk_criterion){.n = n,
                                       .p = p,
                                       .c = c,
                                       .k = problem->k,
                                       .must = problem->must,
                                       .cost = problem->cost,
                                       .budget = problem->budget,
                                       .quota = problem->quota,
                                       .x = problem->x,
                                       .lambda_a = settings->select.lambda_a};
    topk_criterion_init(&work->criterion, work->graph && settings->select.lambda_i > 0.0, paths);
    if (work->graph) {
        topk_result *result = work->result;
        work->z = settings->solver == TOPK_EXACT ? &work->lp.state : &work->admm.state;
        if (settings->solver == TOPK_EXACT)
            topk_lp_init(&work->lp, n, p, problem->x, result->z, result->e, work->criterion.u);
        else {
            work->admm = (topk_admm){.n = n,
                                     .p = p,
                                     .paper = paper,
                                     .x = problem->x,
                                     .z = result->z,
                                     .e = result->e,
                                     .xt = work->criterion.u};
            lapack = topk_admm_init(&work->admm, paths);
        }
        ufs_dalloc_each(N, C, (double **[]){&work->projected, &work->theta_projected, NULL});
        work->theta_label = ufs_ialloc(N);
        work->theta = (topk_theta){.n = n, .c = c, .alpha = settings->alpha};
    }
    if (problem->mode == TOPK_CLUSTER) topk_label_init(&work->label, n, c, work->result->w);
    if (paper) topk_select_init(&work->select, &work->criterion);
    if (settings->polish) topk_polish_init(&work->polish, &work->criterion);
    if (settings->bound || !paper) topk_bound_init(&work->bound, &work->criterion);
    work->previous = ufs_ialloc(N);
    ufs_ialloc_each(K, (int **[]){&work->trial, &work->carried, NULL});
    return lapack;
}

/* ---- Theta and J --------------------------------------------------------------------------- */

/* The largest change of Theta by the present labels, A and v. */
static double theta_change(topk_work *work)
{
    const topk_problem *problem = work->problem;
    int n = problem->n, c = problem->c;
    size_t N = (size_t) n;
    topk_theta next = work->theta;
    double largest = 0.0, drift = 0.0;

    if (!work->graph) return 0.0;
    la_mul('N', 'N', n, c, problem->p, 1.0, problem->x, work->result->a, 0.0, work->projected);
    next.label = work->result->label;
    next.projected = work->projected;
    for (size_t j = 0; j < N; j++)
        for (size_t i = 0; i < N; i++) {
            double diff = fabs(topk_theta_at(&next, i, j) - topk_theta_at(&work->theta, i, j));
            if (!(diff <= largest)) largest = diff;
            drift += diff * fabs(work->result->z[i + j * N]);
        }
    work->drift = work->settings->z.lambda_z * drift;
    return largest;
}

/* J at the current Z, labels, A and v (in the plain mode g itself). */
static double joint(const topk_work *work)
{
    size_t n = (size_t) work->problem->n;
    const topk_settings *settings = work->settings;
    double lambda_z = settings->z.lambda_z, lambda_i = settings->select.lambda_i;
    double beta = lambda_i > 0.0 ? lambda_z * (1.0 - settings->alpha) / lambda_i : 1.0;
    double weighted = 0.0, across = 0.0;

    if (!work->graph) return work->value;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) {
            double z = fabs(work->result->z[i + j * n]);
            if (z == 0.0) continue;
            weighted += topk_theta_at(&work->theta, i, j) * z;
            if (work->result->label[i] != work->result->label[j]) across += z;
        }
    /* The value of sub-problem 1 with its weights exchanged for those of J. */
    return work->z->objective - lambda_z * weighted + lambda_z * settings->alpha * across +
           beta * work->value;
}

static void record(const topk_work *work)
{
    const topk_result *result = work->result;
    topk_z_state z = work->graph ? *work->z : (topk_z_state){NA_REAL, NA_REAL, 0, true};
    double moved = work->run->iterations > 1 ? labels_moved(work) : 0.0;
    double v_iterations = 0.0, v_residual = NA_REAL;

    if (work->settings->solver == TOPK_PAPER) {
        v_iterations = work->select.iterations;
        v_residual = work->select.residual;
    } else if (work->relaxed) {
        v_iterations = work->bound.iterations;
        v_residual = (work->bound.value - work->bound.lower) / (1.0 + fabs(work->bound.value));
    }
    ufs_trace_add(&work->run->trace,
                  (double[]){work->run->iterations, result->objective,
                             work->graph ? result->change : NA_REAL, z.iterations, z.objective,
                             z.residual, v_iterations, v_residual, work->value_start, work->value,
                             work->swaps, moved});
}

static ufs_status outcome(const topk_work *work)
{
    const topk_settings *settings = work->settings;

    if (!R_FINITE(work->result->objective)) return UFS_DIVERGED;
    /* A polished set is a local minimum whatever the ADMM came to. */
    if (!work->graph)
        return settings->solver != TOPK_PAPER || work->select.converged || settings->polish
                   ? UFS_CONVERGED
                   : UFS_MAX_ITER;
    return work->result->change < work->run->tol && work->z->solved ? UFS_CONVERGED : UFS_MAX_ITER;
}

/* ---- the set ------------------------------------------------------------------------------- */

/* The relaxation of the present criterion, from its last solution; its rounding in `trial`. */
static int relax(topk_work *work, double tol)
{
    int lapack = topk_bound_search(&work->bound, &work->criterion, tol,
                                   work->settings->bound_max_iter);

    if (lapack) return lapack;
    work->relaxed = true;
    topk_bound_round(&work->bound, &work->criterion, work->trial);
    return 0;
}

/* Polishes the candidate and keeps it if it is better. */
static void consider(topk_work *work, int *candidate)
{
    double value = work->settings->polish
                       ? topk_polish_solve(&work->polish, &work->criterion, candidate, &work->swaps)
                       : topk_criterion_value(&work->criterion, candidate);
    if (topk_better(value, work->value)) {
        work->value = value;
        memcpy(work->result->chosen, candidate, (size_t) work->problem->k * sizeof(int));
    }
}

/* The best set of all starts: that of the ADMM or of the relaxation, and one that was found
 * before (by the bound; not by the paper's: in the iteration before). */
static int select_step(topk_work *work, int iteration)
{
    const topk_settings *settings = work->settings;
    bool paper = settings->solver == TOPK_PAPER;
    size_t bytes = (size_t) work->problem->k * sizeof(int);
    int lapack = topk_criterion_set(&work->criterion, work->result->label,
                                    work->graph ? work->result->w : NULL,
                                    settings->select.lambda_i);

    if (lapack) return lapack;
    work->swaps = 0;
    work->value = R_PosInf;
    work->relaxed = false;
    memcpy(work->carried, work->result->chosen, bytes);
    memcpy(work->trial, work->carried, bytes);
    if (paper) {
        lapack = topk_select_admm(&work->select, &settings->select, iteration,
                                  &work->result->inner_v);
        memcpy(work->trial, work->select.chosen, bytes);
    } else if (iteration <= 2 || labels_moved(work) > 0) {
        /* Half of the digits: the rounding will be polished. Labels that stay leave the set before;
         * what that misses is found at the end. */
        lapack = relax(work, sqrt(settings->bound_tol));
    }
    if (lapack) return lapack;
    work->value_start = topk_criterion_value(&work->criterion, work->trial);
    consider(work, work->trial);
    if (work->carry) consider(work, work->carried);
    if (!paper) work->carry = true;
    return topk_criterion_coef(&work->criterion, work->result->chosen, work->result->a);
}

/* Bound of the current criterion; its rounding, polished, is one more start, and branch
 * and bound may follow. */
static int prove(topk_work *work)
{
    const topk_settings *settings = work->settings;
    topk_result *result = work->result;
    int lapack;

    if (!settings->bound) return 0;
    lapack = relax(work, settings->bound_tol);
    if (lapack) return lapack;
    ufs_copy(result->relaxed, work->bound.s, (size_t) work->problem->p);
    result->bound = work->bound.lower;
    if (settings->polish) consider(work, work->trial);
    if (settings->branch) {
        void *mark = vmaxget();
        lapack = topk_branch_solve(&work->bound, settings->polish ? &work->polish : NULL,
                                   &work->criterion, settings, result->chosen, &work->value);
        vmaxset(mark);
        if (lapack) return lapack;
        result->nodes = work->bound.nodes;
        result->proved = work->bound.proved;
        result->bound = fmax(result->bound, work->bound.overall);
    }
    work->carry = true;
    return topk_criterion_coef(&work->criterion, result->chosen, result->a);
}

/* ---- the whole --------------------------------------------------------------------------- */

void topk_solve(const topk_problem *problem, const topk_settings *settings, topk_result *result,
                ufs_run *run)
{
    static const char *const columns[] = {
        "iteration",   "objective",  "theta_change", "z_iterations",
        "z_objective", "z_residual", "v_iterations", "v_residual",
        "g_admm",      "g",          "swaps",        "labels_moved",
        NULL};
    topk_work data = {.problem = problem,
                      .settings = settings,
                      .result = result,
                      .run = run,
                      .graph = problem->mode != TOPK_PLAIN},
              *work = &data;
    int last = work->graph ? run->max_iter : 1;
    bool settled = false;

    ufs_trace_named(&run->trace, run->max_iter, columns);
    run->status = UFS_MAX_ITER;
    result->value = result->bound = NA_REAL;
    result->change = result->objective = R_NaN;
    run->lapack = work_init(work, &run->paths);
    for (int t = 1; t <= last && !settled && run->lapack == 0; t++) {
        if (work->graph) represent_step(work, t);
        run->lapack = label_step(work, t);
        if (run->lapack || result->too_few_links) return;
        run->lapack = select_step(work, t);
        if (run->lapack) return;
        result->change = theta_change(work);
        if (result->change < run->tol || t == last || !work->graph) {
            run->lapack = prove(work);
            if (run->lapack) return;
            result->change = theta_change(work);
        }
        result->objective = joint(work);
        run->iterations = t;
        record(work);
        ufs_run_step(run, result->objective, result->change);
        if (work->graph) {
            memcpy(work->theta_label, result->label, (size_t) problem->n * sizeof(int));
            ufs_copy(work->theta_projected, work->projected,
                     (size_t) problem->n * (size_t) problem->c);
            work->theta.label = work->theta_label;
            work->theta.projected = work->theta_projected;
        }
        run->status = outcome(work);
        settled = !work->graph || result->change < run->tol || run->status == UFS_DIVERGED;
    }
    result->value = work->value;
    /* No set is below the bound; what is left there is rounding. */
    if (result->bound > result->value) result->bound = result->value;
    ufs_copy(result->v_cont, settings->solver == TOPK_PAPER ? work->select.v : work->bound.s,
             (size_t) problem->p);
}
