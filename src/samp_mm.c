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
    double *one, *two, *trial, *next; /* len each */
    double merit;                     /* of the last accepted step */
    double reach;                     /* alpha_max */
    int idle;                         /* steps in a row without progress */
} mm_work;

static bool step(mm_problem *prob, const mm_settings *set, mm_info *info,
                 mm_work *work, const double *from, double *to, bool on_trial);
static bool extrapolate(const mm_problem *prob, mm_work *work);
static void clip(const mm_problem *prob, double *theta);

void mm_solve(mm_problem *prob, const mm_settings *set, mm_info *info)
{
    size_t len = (size_t) prob->len;
    bool accelerate = set->tol >= 0.0;
    mm_work work = {ufs_dalloc(len, 1), ufs_dalloc(len, 1), ufs_dalloc(len, 1),
                    ufs_dalloc(len, 1), R_PosInf, 4.0, 0};

    info->status = UFS_MAX_ITER;
    info->iterations = 0;
    info->lapack_info = 0;
    info->primal = prob->primal;
    info->dual = prob->dual;
    info->gap = (info->primal - info->dual) / info->primal;
    ufs_trace_init(&info->trace, set->max_iter < MOST_ROWS ? set->max_iter : MOST_ROWS, MM_N_COL);
    if (info->gap <= set->tol) info->status = UFS_CONVERGED;

    while (info->status == UFS_MAX_ITER && info->iterations < set->max_iter) {
        if (!step(prob, set, info, &work, prob->theta, work.one, false)) break;
        if (!accelerate) {
            ufs_copy(prob->theta, work.one, len);
            continue;
        }
        if (!step(prob, set, info, &work, work.one, work.two, false)) break;
        if (!extrapolate(prob, &work)) {
            ufs_copy(prob->theta, work.two, len);
            continue;
        }
        double before = work.merit;
        if (!step(prob, set, info, &work, work.trial, work.next, true)) break;
        /* On rejection the step left the merit of the accepted point. */
        bool accepted = work.merit < before;
        ufs_copy(prob->theta, accepted ? work.next : work.two, len);
        work.reach = accepted ? fmin(2.0 * work.reach, 1e6) : fmax(0.5 * work.reach, 1.0);
    }
}

/* One map() with all its bookkeeping; false when the loop must end. */
static bool step(mm_problem *prob, const mm_settings *set, mm_info *info,
                 mm_work *work, const double *from, double *to, bool on_trial)
{
    double row[MM_N_COL], change;

    if (info->iterations >= set->max_iter) return false;
    info->iterations++;
    mm_value value = prob->map(prob->data, from, to);
    if (value.info) {
        info->lapack_info = value.info;
        return false;
    }
    if (!R_FINITE(value.merit) || !R_FINITE(value.primal) || !R_FINITE(value.dual)) {
        if (on_trial) return true; /* too bold: the trial is rejected */
        info->status = UFS_DIVERGED;
        return false;
    }
    clip(prob, to);
    if (value.primal < info->primal) {
        info->primal = value.primal;
        prob->keep(prob->data);
    }
    info->dual = fmax(info->dual, value.dual);
    info->gap = (info->primal - info->dual) / info->primal;
    change = work->merit - value.merit;
    if (!on_trial || value.merit < work->merit) work->merit = value.merit;
    row[MM_MERIT] = work->merit;
    row[MM_PRIMAL] = info->primal;
    row[MM_DUAL] = info->dual;
    row[MM_GAP] = info->gap;
    ufs_trace_add(&info->trace, row);
    ufs_hook_step(set->hook, info->iterations, work->merit, change);

    if (info->gap < -1e-10) {
        info->status = UFS_NUMERICAL;
        return false;
    }
    if (info->gap <= set->tol) {
        info->status = UFS_CONVERGED;
        return false;
    }
    work->idle = change > 1e-15 * work->merit ? 0 : work->idle + 1;
    if (set->tol >= 0.0 && work->idle >= 10) {
        info->status = UFS_STALLED;
        return false;
    }
    return true;
}

/* trial = theta - 2 alpha r + alpha^2 v; false at a fixed point. */
static bool extrapolate(const mm_problem *prob, mm_work *work)
{
    double rr = 0.0, vv = 0.0, alpha;
    const double *t0 = prob->theta, *t1 = work->one, *t2 = work->two;

    for (int i = 0; i < prob->len; i++) {
        double r = t1[i] - t0[i], v = t2[i] - t1[i] - r;
        rr += r * r;
        vv += v * v;
    }
    if (vv <= 0.0) return false;
    alpha = -fmin(fmax(sqrt(rr / vv), 1.0), work->reach);
    for (int i = 0; i < prob->len; i++) {
        double r = t1[i] - t0[i], v = t2[i] - t1[i] - r;
        work->trial[i] = t0[i] - 2.0 * alpha * r + alpha * alpha * v;
    }
    clip(prob, work->trial);
    return true;
}

static void clip(const mm_problem *prob, double *theta)
{
    for (int i = 0; i < prob->len; i++)
        theta[i] = fmin(fmax(theta[i], prob->low), prob->high);
}
