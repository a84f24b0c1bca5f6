/* samp_mm.c: majorise-minimise with an accelerator and a certificate.
 *
 * RRSS and the ALNR-style selector minimise sums of norms by iterative
 * reweighting: a fixed-point map of the weights. Two things are the same for all.
 *
 * Certificate. The normal equations of a reweighted least squares step are those of
 * the original problem with the old weights in place of the new ones, so dividing
 * the residuals by the largest ratio new/old gives a feasible dual point at no cost:
 * every step returns a lower bound of the minimum. The best primal and the best dual
 * value are kept apart; gap = (primal - dual) / primal.
 *
 * Acceleration. Plain reweighting needs hundreds of steps because the weights of
 * rows that vanish grow by a constant factor per step, a straight line in theta =
 * log weight. SQUAREM (Varadhan & Roland, Scand. J. Statist. 35, 2008, step S3)
 * extrapolates along it: with r = theta1 - theta0, v = theta2 - theta1 - r,
 * alpha = -||r||/||v|| in [-alpha_max, -1], the trial theta0 - 2 alpha r + alpha^2 v
 * is kept only if its step does not raise the merit; alpha_max doubles or halves. So
 * the merit falls monotonically as in the plain iteration.
 *
 * One map() = one iteration. Memory 4 len doubles. Stalled: ten steps in a row that
 * lower the merit by less than its rounding. */
#include "samp_mm.h"
#include "la.h"

enum { MOST_ROWS = 100000 }; /* of the trace: max_iter may be any number */

typedef struct {
    const mm_problem *problem;
    const mm_settings *settings;
    mm_result *result;
    ufs_run *run;
    double *theta;                    /* len: where the next steps start */
    double *one, *two, *trial, *next; /* len each */
    double merit;                     /* of the last accepted step */
    double reach;                     /* alpha_max */
    int idle;                         /* steps in a row without progress */
} mm_work;

static bool step(mm_work *work, const double *from, double *to, bool on_trial);
static bool extrapolate(mm_work *work);
static void clip(const mm_problem *problem, double *theta);

void mm_solve(const mm_problem *problem, const mm_settings *settings, mm_result *result,
              ufs_run *run)
{
    static const char *const columns[] = {"objective", "best", "bound", "gap", NULL};
    size_t len = (size_t) problem->len;
    bool accelerate = settings->tol >= 0.0;
    mm_work work = {.problem = problem,
                    .settings = settings,
                    .result = result,
                    .run = run,
                    .theta = problem->theta,
                    .one = ufs_dalloc(len, 1),
                    .two = ufs_dalloc(len, 1),
                    .trial = ufs_dalloc(len, 1),
                    .next = ufs_dalloc(len, 1),
                    .merit = R_PosInf,
                    .reach = 4.0};

    run->status = UFS_MAX_ITER;
    result->primal = problem->primal;
    result->dual = problem->dual;
    result->gap = (result->primal - result->dual) / result->primal;
    ufs_trace_named(&run->trace, settings->max_iter < MOST_ROWS ? settings->max_iter : MOST_ROWS,
                    columns);
    if (result->gap <= settings->tol) run->status = UFS_CONVERGED;

    while (run->status == UFS_MAX_ITER && run->iterations < settings->max_iter) {
        if (!step(&work, work.theta, work.one, false)) break;
        if (!accelerate) {
            ufs_copy(work.theta, work.one, len);
            continue;
        }
        if (!step(&work, work.one, work.two, false)) break;
        if (!extrapolate(&work)) {
            ufs_copy(work.theta, work.two, len);
            continue;
        }
        double before = work.merit;
        if (!step(&work, work.trial, work.next, true)) break;
        /* On rejection the step left the merit of the accepted point. */
        bool accepted = work.merit < before;
        ufs_copy(work.theta, accepted ? work.next : work.two, len);
        work.reach = accepted ? fmin(2.0 * work.reach, 1e6) : fmax(0.5 * work.reach, 1.0);
    }
}

/* One map() with all its bookkeeping; false when the loop must end. */
static bool step(mm_work *work, const double *from, double *to, bool on_trial)
{
    const mm_problem *problem = work->problem;
    mm_result *result = work->result;
    ufs_run *run = work->run;
    double change;

    if (run->iterations >= work->settings->max_iter) return false;
    run->iterations++;
    mm_value value = problem->map(problem->data, from, to);
    if (value.lapack) {
        run->lapack = value.lapack;
        return false;
    }
    if (!R_FINITE(value.merit) || !R_FINITE(value.primal) || !R_FINITE(value.dual)) {
        if (on_trial) return true; /* too bold: the trial is rejected */
        run->status = UFS_DIVERGED;
        return false;
    }
    clip(problem, to);
    if (value.primal < result->primal) {
        result->primal = value.primal;
        problem->keep(problem->data);
    }
    result->dual = fmax(result->dual, value.dual);
    result->gap = (result->primal - result->dual) / result->primal;
    change = work->merit - value.merit;
    if (!on_trial || value.merit < work->merit) work->merit = value.merit;
    ufs_trace_add(&run->trace, (double[]){work->merit, result->primal, result->dual, result->gap});
    ufs_run_step(run, work->merit, change);

    if (result->gap < -1e-10) {
        run->status = UFS_NUMERICAL;
        return false;
    }
    if (result->gap <= work->settings->tol) {
        run->status = UFS_CONVERGED;
        return false;
    }
    work->idle = change > 1e-15 * work->merit ? 0 : work->idle + 1;
    if (work->settings->tol >= 0.0 && work->idle >= 10) {
        run->status = UFS_STALLED;
        return false;
    }
    return true;
}

/* trial = theta - 2 alpha r + alpha^2 v; false at a fixed point. */
static bool extrapolate(mm_work *work)
{
    int len = work->problem->len;
    double rr = 0.0, vv = 0.0, alpha;
    const double *t0 = work->theta, *t1 = work->one, *t2 = work->two;

    for (int i = 0; i < len; i++) {
        double r = t1[i] - t0[i], v = t2[i] - t1[i] - r;
        rr += r * r;
        vv += v * v;
    }
    if (vv <= 0.0) return false;
    alpha = -fmin(fmax(sqrt(rr / vv), 1.0), work->reach);
    for (int i = 0; i < len; i++) {
        double r = t1[i] - t0[i], v = t2[i] - t1[i] - r;
        work->trial[i] = t0[i] - 2.0 * alpha * r + alpha * alpha * v;
    }
    clip(work->problem, work->trial);
    return true;
}

static void clip(const mm_problem *problem, double *theta)
{
    for (int i = 0; i < problem->len; i++)
        theta[i] = fmin(fmax(theta[i], problem->low), problem->high);
}
