/* solve_topk.c: the outer loop of top-k selection (model and files: solve_topk.h).
 * Theta = 1; then until Theta settles:
 *   Z, E     sub-problem 1 with weights 1 + lambda_z Theta, cold start (with mu growing
 *            it stops at a point that depends on the start; a warm one never settles)
 *   W, L     structure matrix of Z and its Laplacian
 *   labels   spectral, harmonic, or given
 *   A, v     sub-problem 2, polished
 *   Theta    alpha 1{label_i != label_j} + (1 - alpha) ||P_i - P_j||^2 / 2
 * J need not fall in every iteration: the label step minimises one part only.
 * Once Theta has settled the selection is checked against the convex bound; if that
 * finds a better set, the loop goes on with it.
 *
 * Plain supervised mode: no Z, L = 0, one sub-problem 2, nothing n x n if p <= n.
 * Memory: about 17 n x n and 7 n x p. */
#include "solve_topk.h"
#include "la.h"
#include "propagate.h"
#include <R_ext/Memory.h>

typedef struct {
    const topk_problem *prob;
    const topk_settings *set;
    topk_result *res;
    topk_info *info;
    bool graph;
    topk_represent represent;
    topk_label label;
    topk_criterion criterion;
    topk_select select;
    topk_polish polish;
    topk_bound bound;
    double *theta_new, *projected; /* n x n, n x c */
    int *previous, *trial, *carried;
    bool has_carried;
    double value, value_admm;
    int swaps;
} topk_work;

static int work_init(topk_work *w);
static void structure(topk_work *w);
static int label_step(topk_work *w, int iteration);
static int select_step(topk_work *w, int iteration);
static void consider(topk_work *w, int *candidate);
static double theta_step(topk_work *w);
static int prove(topk_work *w, bool *improved);
static double joint(const topk_work *w);
static void record(topk_work *w, double objective, double change);
static ufs_status outcome(const topk_work *w, double change);

void topk_solve(const topk_problem *prob, const topk_settings *set, topk_result *res,
                topk_info *info, const ufs_hook *hook)
{
    topk_work work = {.prob = prob, .set = set, .res = res, .info = info,
                      .graph = prob->mode != TOPK_PLAIN}, *w = &work;
    size_t nn = (size_t) prob->n * (size_t) prob->n;
    int last = w->graph ? set->max_iter : 1;
    bool settled = false;

    info->status = UFS_MAX_ITER;
    info->value = info->bound = NA_REAL;
    info->iterations = info->isolated = info->unreached = info->nodes = 0;
    info->proved = info->too_few_links = false;
    info->change = info->objective = R_NaN;
    info->lapack = work_init(w);
    if (w->graph)
        for (size_t i = 0; i < nn; i++) res->theta[i] = 1.0;

    for (int t = 1; t <= last && !settled && info->lapack == 0; t++) {
        double change = 0.0;
        bool improved = false;

        if (w->graph) {
            topk_represent_solve(&w->represent, &set->represent, res->theta,
                                 set->represent.growth == 1.0, t, &info->inner_z);
            structure(w);
        }
        info->lapack = label_step(w, t);
        if (info->lapack || info->too_few_links) return;
        info->lapack = select_step(w, t);
        if (info->lapack) return;
        if (w->graph) change = theta_step(w);
        if (change < set->tol || t == last || !w->graph) {
            info->lapack = prove(w, &improved);
            if (info->lapack) return;
            if (improved && w->graph) change = theta_step(w);
        }
        info->objective = joint(w);
        info->change = change;
        info->iterations = t;
        record(w, info->objective, change);
        ufs_hook_step(hook, t, info->objective, change);
        if (w->graph) ufs_copy(res->theta, w->theta_new, nn);
        info->status = outcome(w, change);
        settled = !w->graph || change < set->tol || info->status == UFS_DIVERGED;
    }
    info->value = w->value;
    for (int j = 0; j < prob->p; j++) res->v[j] = 0.0;
    for (int j = 0; j < prob->k; j++) res->v[res->chosen[j]] = 1.0;
    ufs_copy(res->v_cont, w->select.v, (size_t) prob->p);
    if (w->graph) ufs_copy(res->e, w->represent.e, (size_t) prob->n * (size_t) prob->p);
}

static int work_init(topk_work *w)
{
    const topk_problem *prob = w->prob;
    const topk_select_settings *select = &w->set->select;
    size_t n = (size_t) prob->n, c = (size_t) prob->c, k = (size_t) prob->k;
    int info = 0;

    if (w->graph) {
        info = topk_represent_init(&w->represent, prob->n, prob->p, prob->x, w->res->z,
                                   w->set->represent.form);
        w->theta_new = ufs_dalloc(n, n);
        w->projected = ufs_dalloc(n, c);
    }
    if (prob->mode == TOPK_CLUSTER) topk_label_init(&w->label, prob->n, prob->c);
    topk_criterion_init(&w->criterion, prob->n, prob->p, prob->c, prob->k, prob->x,
                        select->lambda_a, w->graph && select->lambda_i > 0.0,
                        select->form, select->bound);
    topk_select_init(&w->select, &w->criterion);
    if (select->polish || select->branch) topk_polish_init(&w->polish, &w->criterion);
    if (select->bound) topk_bound_init(&w->bound, &w->criterion);
    w->previous = ufs_ialloc(n);
    w->trial = ufs_ialloc(k);
    w->carried = ufs_ialloc(k);
    w->has_carried = false;
    return info;
}

/* W = (|Z| + |Z|')/2; counts the samples without a link. */
static void structure(topk_work *w)
{
    size_t n = (size_t) w->prob->n;
    double *weights = w->res->w, most = 0.0;
    const double *z = w->res->z;

    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i <= j; i++) {
            double v = 0.5 * (fabs(z[i + j * n]) + fabs(z[j + i * n]));
            weights[i + j * n] = weights[j + i * n] = v;
            most = fmax(most, v);
        }
    w->info->isolated = 0;
    for (size_t j = 0; j < n; j++) {
        double degree = 0.0;
        for (size_t i = 0; i < n; i++) degree += weights[i + j * n];
        if (degree <= 1e-12 * most) w->info->isolated++;
    }
}

static int label_step(topk_work *w, int iteration)
{
    const topk_problem *prob = w->prob;
    size_t n = (size_t) prob->n;
    int *label = w->res->label, info;

    if (iteration > 1) memcpy(w->previous, label, n * sizeof(int));
    if (prob->mode == TOPK_CLUSTER) {
        info = topk_label_solve(&w->label, w->res->z, iteration > 1, label);
        w->info->too_few_links = info < 0;
        return info < 0 ? 0 : info;
    }
    if (prob->mode == TOPK_PROPAGATE) {
        propagate_problem graph = {prob->n, prob->c, w->res->w, prob->known, w->set->cmn,
                                   prob->p, prob->x};
        info = propagate_solve(&graph, label, w->res->probability, w->res->reached);
        w->info->unreached = 0;
        for (size_t i = 0; i < n; i++) w->info->unreached += !w->res->reached[i];
        return info;
    }
    memcpy(label, prob->known, n * sizeof(int));
    return 0;
}

/* The best set of all starts: ADMM, and a set that the bound has found before. */
static int select_step(topk_work *w, int iteration)
{
    const topk_select_settings *set = &w->set->select;
    int info;

    if (w->graph || iteration == 1) {
        info = topk_criterion_set(&w->criterion, w->res->label,
                                  w->graph ? w->res->w : NULL, set->lambda_i);
        if (info) return info;
    }
    info = topk_select_admm(&w->select, set, iteration, &w->info->inner_v);
    if (info) return info;
    w->swaps = 0;
    w->value_admm = w->select.value;
    w->value = R_PosInf;
    consider(w, w->select.chosen);
    if (w->has_carried) {
        memcpy(w->trial, w->carried, (size_t) w->prob->k * sizeof(int));
        consider(w, w->trial);
    }
    return topk_criterion_coef(&w->criterion, w->res->chosen, w->res->a);
}

/* Polishes the candidate and keeps it if it is better. */
static void consider(topk_work *w, int *candidate)
{
    double value = w->set->select.polish
        ? topk_polish_solve(&w->polish, &w->criterion, candidate, &w->swaps)
        : topk_criterion_value(&w->criterion, candidate);
    if (value < w->value - 1e-12 * (1.0 + fabs(value)) || !R_FINITE(w->value)) {
        w->value = value;
        memcpy(w->res->chosen, candidate, (size_t) w->prob->k * sizeof(int));
    }
}

/* theta_new; returns its largest difference from theta. */
static double theta_step(topk_work *w)
{
    int n = w->prob->n, c = w->prob->c;
    size_t N = (size_t) n, C = (size_t) c;
    double alpha = w->set->alpha, largest = 0.0;
    const int *label = w->res->label;

    la_gemm('N', 'N', n, c, w->prob->p, 1.0, w->prob->x, n, w->res->a, w->prob->p, 0.0,
            w->projected, n);
    for (size_t j = 0; j < N; j++)
        for (size_t i = 0; i < N; i++) {
            double d2 = 0.0, value, diff;
            for (size_t l = 0; l < C; l++) {
                double d = w->projected[i + l * N] - w->projected[j + l * N];
                d2 += d * d;
            }
            value = (label[i] != label[j] ? alpha : 0.0) + (1.0 - alpha) * 0.5 * d2;
            diff = fabs(value - w->res->theta[i + j * N]);
            if (!(diff <= largest)) largest = diff;
            w->theta_new[i + j * N] = value;
        }
    return largest;
}

/* Bound of the current criterion; its rounding, polished, is one more start, and branch
 * and bound may follow. */
static int prove(topk_work *w, bool *improved)
{
    const topk_select_settings *set = &w->set->select;
    size_t bytes = (size_t) w->prob->k * sizeof(int);
    double before = w->value;
    void *mark = vmaxget();
    int info;

    if (!set->bound) return 0;
    info = topk_criterion_factor(&w->criterion);
    if (info) return info;
    info = topk_bound_solve(&w->bound, &w->criterion, NULL, NULL, R_PosInf, set->bound_tol,
                            set->bound_max_iter);
    if (info) return info;
    ufs_copy(w->res->relaxed, w->bound.s, (size_t) w->prob->p);
    w->info->bound = w->bound.lower;
    if (set->polish) {
        topk_bound_round(&w->bound, &w->criterion, w->trial);
        consider(w, w->trial);
    }
    if (set->branch) {
        topk_branch_info branch;
        info = topk_branch(&w->bound, &w->polish, &w->criterion, 1e-9, 100,
                           set->node_limit, w->res->chosen, &w->value, &branch);
        if (info) return info;
        w->info->nodes = branch.nodes;
        w->info->proved = branch.proved;
        w->info->bound = fmax(w->info->bound, branch.lower);
    }
    vmaxset(mark);
    *improved = w->value < before;
    if (!*improved) return 0;
    memcpy(w->carried, w->res->chosen, bytes);
    w->has_carried = true;
    return topk_criterion_coef(&w->criterion, w->res->chosen, w->res->a);
}

/* J at the current Z, labels, A and v (in the plain mode g itself). */
static double joint(const topk_work *w)
{
    size_t n = (size_t) w->prob->n;
    const topk_settings *set = w->set;
    double lambda_z = set->represent.lambda_z, lambda_i = set->select.lambda_i;
    double beta = lambda_i > 0.0 ? lambda_z * (1.0 - set->alpha) / lambda_i : 1.0;
    double weighted = 0.0, across = 0.0;

    if (!w->graph) return w->value;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) {
            double z = fabs(w->res->z[i + j * n]);
            weighted += w->res->theta[i + j * n] * z;
            if (w->res->label[i] != w->res->label[j]) across += z;
        }
    /* The value of sub-problem 1 with its weights exchanged for those of J. */
    return w->represent.objective - lambda_z * weighted +
        lambda_z * set->alpha * across + beta * w->value;
}

static void record(topk_work *w, double objective, double change)
{
    const topk_represent *r = &w->represent;
    double moved = 0.0, row[TOPK_TRACE_COLS];

    for (int i = 0; i < w->prob->n && w->info->iterations > 1; i++)
        moved += w->previous[i] != w->res->label[i];
    row[0] = objective;
    row[1] = w->graph ? change : NA_REAL;
    row[2] = w->graph ? r->iterations : 0.0;
    row[3] = w->graph ? r->objective : NA_REAL;
    row[4] = w->graph ? fmax(fmax(r->residual[0], r->residual[1]), r->residual[2]) : NA_REAL;
    row[5] = w->select.iterations;
    row[6] = w->select.residual;
    row[7] = w->value_admm;
    row[8] = w->value;
    row[9] = w->swaps;
    row[10] = moved;
    ufs_trace_add(&w->info->trace, row);
}

static ufs_status outcome(const topk_work *w, double change)
{
    if (!R_FINITE(w->info->objective)) return UFS_DIVERGED;
    /* A polished set is a local minimum whatever the ADMM came to. */
    if (!w->graph)
        return w->select.converged || w->set->select.polish ? UFS_CONVERGED : UFS_MAX_ITER;
    return change < w->set->tol && w->represent.converged ? UFS_CONVERGED : UFS_MAX_ITER;
}
