/* alfs_solve.c: over-relaxed ADMM, certified by a duality gap (alfs_step.c); and the
 * paper's Algorithm 1 in the same coordinates.
 *
 * Splits W = What (rows), W = Wtilde (columns), W B = Z (weights). Each side keeps
 * one matrix V, from which follow
 *   the copy        shrink(V)              (What, Wtilde, Z)
 *   the multiplier  L = rho (V - copy)     (L2, L3, L1; obeys its norm bound exactly)
 * and an iteration is that of alfs_step.c. ADMM: gamma = 1.6; rho is balanced from the
 * residuals at fixed iterations and fixed later, so the limit is optimal. Algorithm 1:
 * gamma = 1, rho = 1e-6 * 1.1^k (its Theorem 3.1 asks for a constant rho: growth = 1).
 *
 * With lambda > 0, where few columns of W are in use, the work is done on those only, by ADMM
 * or Newton's method (alfs_columns.c), and the certificate is that of the whole problem.
 *
 * X is divided by s_1 on entry (exact equivariance: W -> s_1 W, F -> F / s_1^2), so
 * tolerances and first penalties are free of scale. Algorithm 1 is not free of
 * scale and runs on the matrix as it is. */
#include "alfs_work.h"

/* The first penalties rho: a share of ||L|| / ||W||, but at most a multiple of alpha and beta, for where
 * few columns are in use W is larger than it seems; balance() corrects what is far off. The size of
 * W is a start only: its fixed point need not be found to all digits. */
static const double FIRST_RHO = 0.3, MOST_RHO = 4.0;
enum { SIZE_STEPS = 30 };

/* ---- set-up ---------------------------------------------------------------------- */

/* ||W|| if all rows had the same norm, and all columns: the penalties then are those of a ridge
 * regression with the weight slope / ||W||, a fixed point for each coordinate by itself. */
static double size_of_w(const alfs_space *space, double slope)
{
    double size = 1.0;

    for (int step = 0; step < SIZE_STEPS; step++) {
        double ss = 0.0;
        for (int i = 0; i < space->r; i++) {
            double ab = space->a[i] * space->b[i];
            double target = space->target[(size_t) i * (size_t) (space->r + 1)];
            double w = 2.0 * ab * target / (2.0 * ab * ab + slope / size);
            ss += w * w;
        }
        size = fmax(sqrt(ss), DBL_EPSILON);
    }
    return size;
}

static void set_split(alfs_work *work, int which, double penalty, double rho)
{
    alfs_split *split = &work->split[which];

    split->on = penalty > 0.0;
    split->penalty = penalty;
    split->rho = work->settings->paper ? work->settings->rho0 : rho;
    split->rho_of_v = split->rho_next = split->rho_after = split->rho;
}

static void set_up(alfs_work *work)
{
    const alfs_problem *problem = work->problem;
    alfs_result *result = work->result;
    size_t m = (size_t) problem->x->n, q = (size_t) problem->x->p;
    bool weighted = problem->lambda > 0.0, paper = work->settings->paper;
    double u = paper ? 1.0 : problem->values[0], size, rho1;
    double side[2] = {sqrt((double) m), sqrt((double) q)}, penalty[2];

    work->gamma = paper ? 1.0 : 1.6;
    work->x_divisor = u;
    work->w_factor = problem->identity ? 1.0 : u;
    penalty[ROWS] = problem->alpha / (u * u * work->w_factor);
    penalty[COLS] = problem->beta / (u * u * work->w_factor);
    alfs_space_full(&work->space, problem, work->weights != NULL, u);
    alfs_allocate(work);

    work->split[ROWS].v = weighted ? ufs_dzero(m, q) : result->p;
    work->split[COLS].v = weighted ? ufs_dzero(m, q) : result->q;
    if (weighted) work->split[WEIGHTS].v = ufs_dzero(m, m);
    /* rho1: what runs on test sets of 80 to 500 samples ended near. */
    rho1 = 1.3 * pow((double) m, 1.5) * problem->lambda / (u * u);
    size = size_of_w(&work->space, penalty[ROWS] * side[ROWS] + penalty[COLS] * side[COLS]);
    for (int i = 0; i < 2; i++) {
        double ridge = penalty[i] * side[i] / size;
        work->split[i].ridge = ridge;
        set_split(work, i, penalty[i],
                  penalty[1 - i] > 0.0 ? fmin(MOST_RHO * penalty[i], FIRST_RHO * ridge)
                                       : penalty[i]);
    }
    set_split(work, WEIGHTS, problem->lambda / (u * u), rho1);
    if (work->weights != NULL) alfs_weights_init(work);

    work->w = result->w;
    work->bound = &work->value.dual;
    work->value.best = work->value.current = work->space.total;
}

/* V = W + L / rho, where W and L = ridge W are those of the ridge regression of size_of_w(). From V = 0
 * the first iterations would only find the size of W. */
static void ridge_start(alfs_work *work)
{
    alfs_space *space = &work->space;
    size_t m = (size_t) space->m, r = (size_t) space->r;
    double ridge = work->split[ROWS].ridge + work->split[COLS].ridge;

    memset(work->scratch, 0, r * (size_t) space->rb * sizeof(double));
    for (size_t i = 0; i < r; i++) {
        double ab = space->a[i] * space->b[i], target = space->target[i * (r + 1)];
        work->scratch[i * (r + 1)] = 2.0 * alfs_uv(space, i, i) * target / (2.0 * ab * ab + ridge);
    }
    alfs_lift(space, work->scratch, work->lift_g);
    for (int from = 0; from < space->q; from += space->width) {
        size_t len = m * (size_t) alfs_gradient_block(work, from), at = m * (size_t) from;
        for (int which = 0; which < 2; which++) {
            const alfs_split *split = &work->split[which];
            for (size_t i = 0; split->on && i < len; i++)
                split->v[at + i] = (1.0 + split->ridge / split->rho) * space->block[i];
        }
    }
    alfs_shrinkage(work);
}

/* ---- the end ----------------------------------------------------------------------- */

/* P and Q where they are not written yet; the optimality residual; the user's units. */
static void finish(alfs_work *work)
{
    alfs_result *result = work->result;
    alfs_value *value = &work->value;
    size_t m = (size_t) work->space.m, len = m * (size_t) work->space.q;
    double u2 = work->x_divisor * work->x_divisor, up = u2 * work->w_factor;

    if (!work->split[WEIGHTS].on) alfs_write_dual(work, result->p, result->q, NULL);
    result->kkt = alfs_kkt(work);
    result->objective = value->best * u2;
    result->dual = value->now * u2;
    result->gap = (value->best - value->now) / value->best;
    for (int i = 0; i < 3; i++) result->primal[i] = work->split[i].residual;
    for (size_t i = 0; i < len; i++) {
        result->w[i] /= work->w_factor;
        result->p[i] *= up;
        result->q[i] *= up;
    }
    for (size_t i = 0; result->l != NULL && i < m * m; i++) result->l[i] *= u2;
}

/* W = 0 is proved without an iteration by L = 2X'X. */
static void weights_zero(alfs_work *work)
{
    const alfs_space *space = &work->space;
    alfs_value *value = &work->value;
    double *l = work->result->l;
    int m = space->m;

    alfs_samples(space, work->weights->tmp);
    la_gram('N', m, space->r, work->weights->tmp, l);
    for (size_t i = 0; i < (size_t) m * (size_t) m; i++) l[i] *= 2.0;
    value->dual = value->now = value->best;
    work->run->status = UFS_CONVERGED;
    alfs_record(work);
}

/* ---- the whole --------------------------------------------------------------------------- */

/* Algorithm 1's stop: all splits within tol entrywise (absolute, as published), and the
 * relative change of F below tol. */
static bool paper_done(const alfs_work *work, double f_old)
{
    size_t m = (size_t) work->space.m;
    double f = work->value.best, tol = work->run->tol;

    if (!(fabs(f - f_old) < tol * f_old) && f != f_old) return false;
    if (!(work->split[WEIGHTS].biggest < tol)) return false;
    for (int which = 0; which < 2; which++) {
        const alfs_split *split = &work->split[which];
        if (!split->on) continue;
        for (int j = 0; j < work->space.q; j++)
            for (size_t i = 0; i < m; i++) {
                size_t at = i + (size_t) j * m;
                double cut = split->cut[alfs_line(split, i, (size_t) j)];
                if (!(fabs(work->w[at] - (1.0 - cut) * split->v[at]) < tol)) return false;
            }
    }
    return true;
}

/* Algorithm 1: the objective and the answer are those of W itself. */
static void paper(alfs_work *work)
{
    alfs_value *value = &work->value;
    ufs_run *run = work->run;

    alfs_certify(work);
    alfs_record(work);
    for (int k = 1; k <= run->max_iter; k++) {
        double f_old = value->best;
        bool done;
        run->iterations = k;
        alfs_next_penalties(work);
        alfs_update_w(work);
        alfs_update_copies(work, true);
        value->best = value->current;
        done = run->tol >= 0.0 && paper_done(work, f_old);
        if (done || k % ALFS_CHECK_EVERY == 0 || k == run->max_iter) {
            alfs_certify(work);
            alfs_judge(work);
        }
        alfs_record(work);
        ufs_run_step(run, value->best, fabs(value->best - f_old) / f_old);
        if (done && run->status == UFS_MAX_ITER) run->status = UFS_CONVERGED;
        if (run->status != UFS_MAX_ITER) return;
    }
}

static void admm(alfs_work *work)
{
    alfs_value *value = &work->value;
    ufs_run *run = work->run;
    double zero = work->problem->alpha / work->problem->bound[ROWS] +
                  work->problem->beta / work->problem->bound[COLS]; /* from 1 on W = 0 */
    bool on_columns = run->paths.alfs_columns && work->split[WEIGHTS].on && run->tol >= 0.0 &&
                      work->split[COLS].on;

    work->newton = on_columns && run->paths.alfs_newton;
    if (!work->split[WEIGHTS].on && zero < 1.0) {
        value->dual = zero * (2.0 - zero) * value->best; /* the certificate from V = 0 */
        ridge_start(work);
    } else
        alfs_certify(work);
    ufs_run_step(run, value->best * work->x_divisor * work->x_divisor,
                 (value->best - value->dual) / value->best);
    for (;;) {
        alfs_record(work);
        if (alfs_judge(work) || run->iterations >= run->max_iter) return;
        if (on_columns && alfs_grow_weighted(work)) return;
        alfs_iterate(work, run->max_iter, run->tol);
    }
}

void alfs_solve(const alfs_problem *problem, const alfs_settings *settings, alfs_result *result,
                ufs_run *run)
{
    static const char *const plain[] = {"iteration", "objective", "dual",    "gap",
                                        "current",   "rows",      "columns", NULL};
    static const char *const weighted[] = {"iteration", "objective", "dual",    "gap", "current",
                                           "rows",      "columns",   "weights", NULL};
    alfs_weights weights = {0};
    alfs_work work = {.problem = problem, .settings = settings, .result = result, .run = run};

    run->status = UFS_MAX_ITER;
    /* 14 MB at most. */
    ufs_trace_named(&run->trace, (int) fmin((double) run->max_iter + 1.0, 2e5),
                    problem->lambda > 0.0 ? weighted : plain);
    /* Algorithm 1 keeps its block Z = W X even where lambda = 0. */
    if (problem->lambda > 0.0 || settings->paper) work.weights = &weights;
    set_up(&work);
    if (settings->paper)
        paper(&work);
    else if (run->tol >= 0.0 && problem->lambda > 0.0 &&
             problem->lambda >= problem->bound[WEIGHTS] * (1.0 - 1e-14))
        weights_zero(&work);
    else
        admm(&work);
    finish(&work);
}
