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
    la_gemm('N', 'N', n, c, problem->p, 1.0, problem->x, n, work->result->a, problem->p, 0.0,
            work->projected, n);
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
                                   &work->criterion,
                                   &(topk_limits){settings->node_limit, sqrt(settings->bound_tol),
                                                  settings->bound_max_iter},
                                   result->chosen, &work->value);
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
