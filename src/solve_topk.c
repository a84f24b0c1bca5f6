/* solve_topk.c: the outer loop of top-k selection (model and files: solve_topk.h).
 * Theta = 1; then until Theta settles:
 *   Z, E     sub-problem 1 with weights 1 + lambda_z Theta. The ADMM starts cold (with mu
 *            growing it stops at a point that depends on the start; a warm one never
 *            settles), the linear programmes start from their last optimum
 *   W, L     structure matrix of Z and its Laplacian
 *   labels   spectral, harmonic, or given
 *   A, v     sub-problem 2, polished
 *   Theta    alpha 1{label_i != label_j} + (1 - alpha) ||P_i - P_j||^2 / 2
 * J need not fall in every iteration: the label step minimises one part only.
 * Once Theta has settled the selection is checked against the convex bound; if that
 * finds a better set, the loop goes on with it.
 *
 * `fast` solves sub-problem 1 to its optimum (solve_topk_lp.c) and takes as candidates for
 * sub-problem 2 the rounded relaxation and the set of the iteration before. With `warm` one ADMM
 * (solve_topk_warm.c) runs on through the outer iterations instead.
 *
 * Plain supervised mode: no Z, L = 0, one sub-problem 2, nothing n x n if p <= n.
 * Memory beside the results: about 11 n x n and 3 n x p with the ADMMs (p < n: 10 n x p only),
 * n x n (p <= n/2: none) and 3 n x p if fast. The two sub-problems share one n x p matrix. */
#include "solve_topk.h"
#include "la.h"
#include "propagate.h"
#include "solve_topk_branch.h"
#include "solve_topk_label.h"
#include "solve_topk_lp.h"
#include "solve_topk_warm.h"
#include <R_ext/Memory.h>

typedef struct {
    const topk_problem *problem;
    const topk_settings *settings;
    topk_result *result;
    bool graph;
    topk_represent represent;
    topk_lp lp;
    topk_warm warm;
    topk_label label;
    topk_criterion criterion;
    topk_select select;
    topk_polish polish;
    topk_bound bound;
    double *projected; /* n x c */
    /* Theta as it was made, and where there is no matrix of it, what makes it. */
    topk_theta theta;
    int *theta_label;
    double *theta_projected;
    int *previous, *trial, *carried, *place;
    bool has_carried, has_relaxed;
    bool relaxed; /* in this iteration */
    double value, value_admm;
    double drift; /* what the last change of Theta adds to or takes from sum(w |Z|) */
    int swaps;
} topk_work;

static int work_init(topk_work *work);
static int represent_step(topk_work *work, int iteration);
static void structure(topk_work *work);
static int label_step(topk_work *work, int iteration);
static int select_step(topk_work *work, int iteration);
static int labels_moved(const topk_work *work);
static int relax(topk_work *work, double tol);
static void consider(topk_work *work, int *candidate);
static void first_copies(topk_work *work, int *subset);
static double theta_step(topk_work *work, bool keep);
static int prove(topk_work *work, bool *improved);
static double represent_value(const topk_work *work);
static double joint(const topk_work *work);
static void record(const topk_work *work, ufs_run *run);
static ufs_status outcome(const topk_work *work);

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
                      .graph = problem->mode != TOPK_PLAIN},
              *work = &data;
    size_t nn = (size_t) problem->n * (size_t) problem->n;
    int last = work->graph ? settings->max_iter : 1;
    bool settled = false;

    ufs_trace_named(&run->trace, settings->max_iter, columns);
    run->status = UFS_MAX_ITER;
    result->value = result->bound = NA_REAL;
    result->isolated = result->unreached = result->nodes = 0;
    result->proved = result->too_few_links = false;
    result->change = result->objective = R_NaN;
    run->lapack = work_init(work);
    if (work->graph && result->theta != NULL)
        for (size_t i = 0; i < nn; i++) result->theta[i] = 1.0;

    for (int t = 1; t <= last && !settled && run->lapack == 0; t++) {
        bool improved = false;

        if (work->graph) represent_step(work, t);
        run->lapack = label_step(work, t);
        if (run->lapack || result->too_few_links) return;
        run->lapack = select_step(work, t);
        if (run->lapack) return;
        result->change = work->graph ? theta_step(work, false) : 0.0;
        if (result->change < settings->tol || t == last || !work->graph) {
            run->lapack = prove(work, &improved);
            if (run->lapack) return;
            if (improved && work->graph) result->change = theta_step(work, false);
        }
        result->objective = joint(work);
        run->iterations = t;
        record(work, run);
        ufs_run_step(run, result->objective, result->change);
        if (work->graph) theta_step(work, true);
        run->status = outcome(work);
        settled = !work->graph || result->change < settings->tol || run->status == UFS_DIVERGED;
    }
    result->value = work->value;
    /* No set is below the bound; what is left there is rounding. */
    if (result->bound > result->value) result->bound = result->value;
    for (int j = 0; j < problem->p; j++) result->v[j] = 0.0;
    for (int j = 0; j < problem->k; j++) result->v[result->chosen[j]] = 1.0;
    ufs_copy(result->v_cont, settings->fast ? work->bound.s : work->select.v, (size_t) problem->p);
}

static int work_init(topk_work *work)
{
    const topk_problem *problem = work->problem;
    const topk_settings *settings = work->settings;
    size_t n = (size_t) problem->n, c = (size_t) problem->c, k = (size_t) problem->k;
    size_t p = (size_t) problem->p;
    char form = settings->select.form;
    bool dense, relaxing = settings->bound || settings->fast;
    double *one = NULL, *other = NULL;
    int lapack = 0;

    /* The relaxation needs factors in every iteration: an eigen-decomposition, if dense. */
    if (settings->fast && form == 'a') form = 2 * problem->p <= problem->n ? 'p' : 'n';
    dense = form == 'p' || (form == 'a' && p <= n);
    /* Sub-problem 1 and sub-problem 2 take turns with one matrix, if the first one starts cold. */
    if (work->graph) one = ufs_dalloc(p, dense && p > n ? p : n);
    if (relaxing || !dense)
        other = one != NULL && settings->represent.growth > 1.0 ? one
                                                                : ufs_dalloc(p, dense ? p : n);
    if (work->graph && settings->warm)
        lapack = topk_warm_init(&work->warm, problem->n, problem->p, problem->x, work->result->z,
                                work->result->e, one);
    else if (work->graph && settings->fast)
        topk_lp_init(&work->lp, problem->n, problem->p, problem->x, work->result->z,
                     work->result->e, one);
    else if (work->graph)
        lapack = topk_represent_init(&work->represent, problem->n, problem->p, problem->x,
                                     work->result->z, work->result->e, one,
                                     settings->represent.form);
    if (work->graph) {
        bool kept = work->result->theta != NULL;
        work->projected = ufs_dalloc(n, c);
        work->theta_label = kept ? NULL : ufs_ialloc(n);
        work->theta_projected = kept ? NULL : ufs_dalloc(n, c);
        work->theta = (topk_theta){.matrix = work->result->theta,
                                   .ones = true,
                                   .n = problem->n,
                                   .c = problem->c,
                                   .alpha = settings->alpha,
                                   .label = work->theta_label,
                                   .projected = work->theta_projected};
    }
    if (problem->mode == TOPK_CLUSTER)
        topk_label_init(&work->label, problem->n, problem->c, work->result->w);
    topk_criterion_init(&work->criterion, problem->n, problem->p, problem->c, problem->k,
                        problem->x, settings->select.lambda_a,
                        work->graph && settings->select.lambda_i > 0.0, form, relaxing);
    if (!settings->fast) topk_select_init(&work->select, &work->criterion, other);
    if (settings->polish) topk_polish_init(&work->polish, &work->criterion);
    if (relaxing) topk_bound_init(&work->bound, &work->criterion, other);
    work->previous = ufs_ialloc(n);
    work->trial = ufs_ialloc(k);
    work->carried = ufs_ialloc(k);
    work->place = ufs_ialloc((size_t) problem->p);
    work->has_carried = work->has_relaxed = false;
    return lapack;
}

static int represent_step(topk_work *work, int iteration)
{
    const topk_represent_settings *settings = &work->settings->represent;
    const double *theta = work->result->theta;

    if (work->settings->warm) {
        topk_warm_settings warm = {settings->lambda_e,    settings->lambda_z,
                                   settings->tol,         settings->max_iter,
                                   settings->nonnegative, work->settings->max_iter > 1};
        topk_warm_solve(&work->warm, &warm, &work->theta, work->drift / work->warm.objective);
    } else if (work->settings->fast) {
        topk_lp_settings lp = {settings->lambda_e, settings->lambda_z, 1e-9,
                               1000 + 20 * work->lp.most, settings->nonnegative};
        topk_lp_solve(&work->lp, &lp, &work->theta);
    } else {
        topk_represent_solve(&work->represent, settings, theta, settings->growth == 1.0, iteration,
                             &work->result->inner_z);
    }
    return 0;
}

/* W = (|Z| + |Z|')/2; counts the samples without a link. */
static void structure(topk_work *work)
{
    size_t n = (size_t) work->problem->n;
    double *weights = work->result->w, most = 0.0;
    const double *z = work->result->z;

    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i <= j; i++) {
            double v = 0.5 * (fabs(z[i + j * n]) + fabs(z[j + i * n]));
            weights[i + j * n] = weights[j + i * n] = v;
            most = fmax(most, v);
        }
    work->result->isolated = 0;
    for (size_t j = 0; j < n; j++) {
        double degree = 0.0;
        for (size_t i = 0; i < n; i++) degree += weights[i + j * n];
        if (degree <= 1e-12 * most) work->result->isolated++;
    }
}

static int label_step(topk_work *work, int iteration)
{
    const topk_problem *problem = work->problem;
    topk_result *result = work->result;
    size_t n = (size_t) problem->n;
    int lapack;

    if (iteration > 1) memcpy(work->previous, result->label, n * sizeof(int));
    /* Where Z stayed, so do W and the labels. */
    if (iteration > 1 && work->settings->warm && work->warm.iterations == 0) return 0;
    if (problem->mode == TOPK_CLUSTER) {
        /* Clusters need Z only: the matrix of W is theirs before it is made. */
        lapack = topk_label_solve(&work->label, result->z, iteration > 1, result->label);
        structure(work);
        result->too_few_links = lapack < 0;
        return lapack < 0 ? 0 : lapack;
    }
    if (work->graph) structure(work);
    if (problem->mode == TOPK_PROPAGATE) {
        propagate_problem spread = {problem->n,     problem->c, result->w,
                                    problem->known, problem->p, problem->x};
        propagate_settings settings = {work->settings->cmn};
        propagate_result found = {result->label, result->probability, result->reached};
        ufs_run run = {.status = UFS_CONVERGED};
        propagate_solve(&spread, &settings, &found, &run);
        result->unreached = 0;
        for (size_t i = 0; i < n; i++) result->unreached += !result->reached[i];
        return run.lapack;
    }
    memcpy(result->label, problem->known, n * sizeof(int));
    return 0;
}

/* The best set of all starts: that of the ADMM or of the relaxation, and one that was found
 * before (by the bound; if fast, in the iteration before). */
static int select_step(topk_work *work, int iteration)
{
    const topk_settings *settings = work->settings;
    size_t bytes = (size_t) work->problem->k * sizeof(int);
    int lapack;

    if (work->graph || iteration == 1) {
        lapack = topk_criterion_set(&work->criterion, work->result->label,
                                    work->graph ? work->result->w : NULL,
                                    settings->select.lambda_i);
        if (lapack) return lapack;
    }
    work->swaps = 0;
    work->value = R_PosInf;
    work->relaxed = false;
    if (settings->fast) {
        /* Labels that stay leave the set before; what that misses is found at the end. */
        if (iteration <= 2 || labels_moved(work) > 0) {
            lapack = relax(work, fmax(1e-2, settings->bound_tol));
            if (lapack) return lapack;
        } else {
            memcpy(work->trial, work->carried, bytes);
        }
        work->value_admm = topk_criterion_value(&work->criterion, work->trial);
        consider(work, work->trial);
    } else {
        lapack = topk_select_admm(&work->select, &settings->select, iteration,
                                  &work->result->inner_v);
        if (lapack) return lapack;
        work->value_admm = work->select.value;
        consider(work, work->select.chosen);
    }
    if (work->has_carried && (!settings->fast || work->relaxed)) {
        memcpy(work->trial, work->carried, bytes);
        consider(work, work->trial);
    }
    if (settings->fast) {
        memcpy(work->carried, work->result->chosen, bytes);
        work->has_carried = true;
    }
    return topk_criterion_coef(&work->criterion, work->result->chosen, work->result->a);
}

static int labels_moved(const topk_work *work)
{
    int moved = 0;
    for (int i = 0; i < work->problem->n; i++) moved += work->previous[i] != work->result->label[i];
    return moved;
}

/* The relaxation of the present criterion, from its last solution; its rounding in `trial`. */
static int relax(topk_work *work, double tol)
{
    const topk_settings *settings = work->settings;
    void *mark = vmaxget();
    int lapack = topk_criterion_factor(&work->criterion);

    if (lapack) return lapack;
    if (work->has_relaxed) ufs_copy(work->bound.root, work->bound.s, (size_t) work->problem->p);
    lapack = topk_bound_solve(&work->bound, &work->criterion, NULL,
                              work->has_relaxed ? work->bound.root : NULL, R_PosInf, tol,
                              settings->bound_max_iter);
    vmaxset(mark);
    if (lapack) return lapack;
    work->has_relaxed = settings->fast;
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
    if (value < work->value - 1e-12 * (1.0 + fabs(value)) || !R_FINITE(work->value)) {
        work->value = value;
        first_copies(work, candidate);
        memcpy(work->result->chosen, candidate, (size_t) work->problem->k * sizeof(int));
    }
}

/* Of equal columns the first ones, as many as were chosen; g is the same. */
static void first_copies(topk_work *work, int *subset)
{
    const int *first = work->problem->first;
    int p = work->problem->p, k = work->problem->k, next = 0, *count = work->place;

    memset(count, 0, (size_t) p * sizeof(int));
    for (int i = 0; i < k; i++) count[first[subset[i]]]++;
    /* `first` is never beyond its copies, so counts are complete when they are met. */
    for (int j = 0; j < p; j++)
        if (count[first[j]] > 0) {
            count[first[j]]--;
            subset[next++] = j;
        }
}

/* The largest change of Theta by the present labels, A and v; `keep`: makes it. */
static double theta_step(topk_work *work, bool keep)
{
    const topk_problem *problem = work->problem;
    int n = problem->n, c = problem->c;
    size_t N = (size_t) n;
    double alpha = work->settings->alpha, largest = 0.0, *theta = work->result->theta, drift = 0.0;
    const double *z = work->result->z;
    const int *label = work->result->label;

    la_gemm('N', 'N', n, c, problem->p, 1.0, problem->x, n, work->result->a, problem->p, 0.0,
            work->projected, n);
    for (size_t j = 0; j < N; j++)
        for (size_t i = 0; i < N; i++) {
            double value = topk_theta_entry(n, c, alpha, label, work->projected, i, j);
            double diff = fabs(value - topk_theta_at(&work->theta, i, j));
            if (!(diff <= largest)) largest = diff;
            if (!keep) continue;
            if (theta != NULL) theta[i + j * N] = value;
            drift += diff * fabs(z[i + j * N]);
        }
    if (keep && theta == NULL) {
        memcpy(work->theta_label, label, N * sizeof(int));
        ufs_copy(work->theta_projected, work->projected, N * (size_t) c);
        work->theta.ones = false;
    }
    work->drift = work->settings->represent.lambda_z * drift;
    return largest;
}

/* Bound of the current criterion; its rounding, polished, is one more start, and branch
 * and bound may follow. */
static int prove(topk_work *work, bool *improved)
{
    const topk_settings *settings = work->settings;
    topk_result *result = work->result;
    size_t bytes = (size_t) work->problem->k * sizeof(int);
    double before = work->value;
    void *mark = vmaxget();
    int lapack;

    if (!settings->bound) return 0;
    lapack = relax(work, settings->bound_tol);
    if (lapack) return lapack;
    ufs_copy(result->relaxed, work->bound.s, (size_t) work->problem->p);
    result->bound = work->bound.lower;
    if (settings->polish) consider(work, work->trial);
    if (settings->branch) {
        topk_branch_result branch;
        lapack = topk_branch_solve(&work->bound, settings->polish ? &work->polish : NULL,
                                   &work->criterion, 1e-9, 100, settings->node_limit,
                                   result->chosen, &work->value, &branch);
        if (lapack) return lapack;
        first_copies(work, result->chosen);
        result->nodes = branch.nodes;
        result->proved = branch.proved;
        result->bound = fmax(result->bound, branch.lower);
    }
    vmaxset(mark);
    *improved = work->value < before;
    if (!*improved) return 0;
    memcpy(work->carried, result->chosen, bytes);
    work->has_carried = true;
    return topk_criterion_coef(&work->criterion, result->chosen, result->a);
}

static double represent_value(const topk_work *work)
{
    if (work->settings->warm) return work->warm.objective;
    return work->settings->fast ? work->lp.objective : work->represent.objective;
}

/* J at the current Z, labels, A and v (in the plain mode g itself). */
static double joint(const topk_work *work)
{
    size_t n = (size_t) work->problem->n;
    const topk_settings *settings = work->settings;
    double lambda_z = settings->represent.lambda_z, lambda_i = settings->select.lambda_i;
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
    return represent_value(work) - lambda_z * weighted + lambda_z * settings->alpha * across +
           beta * work->value;
}

static void record(const topk_work *work, ufs_run *run)
{
    const topk_represent *r = &work->represent;
    const topk_result *result = work->result;
    bool fast = work->settings->fast;
    double moved = run->iterations > 1 ? labels_moved(work) : 0.0;
    double z_iterations = 0.0, z_residual = NA_REAL, v_iterations, v_residual;

    if (work->graph) {
        z_iterations = fast ? (double) work->lp.pivots : r->iterations;
        z_residual = fast ? work->lp.gap
                          : fmax(fmax(r->residual[0], r->residual[1]), r->residual[2]);
        if (work->settings->warm) {
            z_iterations = work->warm.iterations;
            z_residual = work->warm.residual;
        }
    }
    if (!fast) {
        v_iterations = work->select.iterations;
        v_residual = work->select.residual;
    } else if (work->relaxed) {
        v_iterations = work->bound.iterations;
        v_residual = (work->bound.value - work->bound.lower) / (1.0 + fabs(work->bound.value));
    } else {
        v_iterations = 0.0;
        v_residual = NA_REAL;
    }
    ufs_trace_add(&run->trace, (double[]){run->iterations, result->objective,
                                          work->graph ? result->change : NA_REAL, z_iterations,
                                          work->graph ? represent_value(work) : NA_REAL, z_residual,
                                          v_iterations, v_residual, work->value_admm, work->value,
                                          work->swaps, moved});
}

static ufs_status outcome(const topk_work *work)
{
    const topk_settings *settings = work->settings;
    bool solved = settings->warm   ? work->warm.converged
                  : settings->fast ? work->lp.unsolved == 0
                                   : work->represent.converged;

    if (!R_FINITE(work->result->objective)) return UFS_DIVERGED;
    /* A polished set is a local minimum whatever the ADMM came to. */
    if (!work->graph)
        return settings->fast || work->select.converged || settings->polish ? UFS_CONVERGED
                                                                            : UFS_MAX_ITER;
    return work->result->change < settings->tol && solved ? UFS_CONVERGED : UFS_MAX_ITER;
}
