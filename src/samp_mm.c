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
 * Newton. Where the derivative of each weight by itself is known (left), the change of its
 * logarithm is divided by what it leaves of 1, a Newton step on the diagonal, and Anderson
 * extrapolation of the norms' square roots follows. Where many weights move alike, only what
 * differs from their mean change is divided (mode 0), for the derivatives off the diagonal add
 * up there; else every change (mode 1); a refusal goes on to the other mode. A step that raised
 * the merit is taken back.
 *
 * One map() = one iteration. Memory 4 len doubles, 28 len with `left`. Stalled: ten steps in a
 * row that lower the merit by less than its rounding. */
#include "samp_mm.h"
#include "anderson.h"
#include "la.h"

enum { DEPTH = 5 };
static const double BOLD = 1.0;              /* log step of a root */
static const double LEAST[2] = {0.01, 5e-4}; /* least 1 - derivative: common, each by itself */
static const double FAR = 3.0;               /* log root of a weight off its plain value */
enum { MOST_ROWS = 100000 };                 /* of the trace: max_iter may be any number */

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

static void newton(mm_work *work);
static void newton_point(mm_work *work, anderson *history, int mode, double *scratch);
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

    if (accelerate && problem->left != NULL) {
        newton(&work);
        return;
    }
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

static void newton(mm_work *work)
{
    const mm_problem *problem = work->problem;
    ufs_run *run = work->run;
    size_t len = (size_t) problem->len;
    double *scratch = ufs_dalloc(len, 4);
    bool on_trial = false;
    int mode = 0;
    anderson history;

    anderson_init(&history, problem->len, DEPTH);
    while (run->status == UFS_MAX_ITER && run->iterations < work->settings->max_iter) {
        double before = work->merit;
        if (!step(work, work->theta, work->one, on_trial)) return;
        if (on_trial && !(work->merit < before)) {
            /* `two` is the plain point that this trial came from. */
            ufs_copy(work->theta, work->two, len);
            anderson_reset(&history);
            on_trial = false;
            mode = 1 - mode;
            continue;
        }
        ufs_copy(work->two, work->one, len);
        newton_point(work, &history, mode, scratch);
        on_trial = true;
    }
}

/* theta: the next trial, from theta and its image `one`. */
static void newton_point(mm_work *work, anderson *history, int mode, double *scratch)
{
    const mm_problem *problem = work->problem;
    int len = problem->len;
    size_t L = (size_t) len;
    double *u = scratch, *f = u + L, *plain = f + L, *weight = plain + L;

    for (int block = 0; block < 2; block++) {
        int from = block == 0 ? 0 : problem->first, to = block == 0 ? problem->first : len;
        double total = 0.0, moved = 0.0, mean;
        if (from == to) continue;
        for (int k = from; k < to; k++) {
            u[k] = exp(-0.5 * work->theta[k]);
            plain[k] = exp(-0.5 * work->one[k]);
            f[k] = 0.5 * (work->theta[k] - work->one[k]);
            total += plain[k];
            moved += plain[k] * f[k];
        }
        mean = mode == 0 ? moved / total : 0.0;
        for (int k = from; k < to; k++) {
            double left = fmax(problem->left[k], LEAST[mode]);
            double by = mean + (f[k] - mean) / left;
            weight[k] = (to - from) / total;
            f[k] = u[k] * exp(fmin(fmax(by, -BOLD), BOLD));
        }
    }
    anderson_step(history, u, f, weight, f);
    for (int k = 0; k < len; k++)
        work->theta[k] = -2.0 * log(fmin(fmax(f[k], plain[k] * exp(-FAR)), plain[k] * exp(FAR)));
    clip(problem, work->theta);
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
