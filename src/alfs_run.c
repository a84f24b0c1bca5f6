/* alfs_run.c: iterations of ADMM in a row, on all columns of W or on a set of them, with a
 * certificate every ten and where the gap should be reached. */
#include "alfs_work.h"

/* A column of V with a norm within 2 % of where its copy vanishes is counted as in use: the next
 * iterations may bring it back. */
static const double NEARLY = 0.98;
enum { BALANCE_UNTIL = 2000 }; /* penalties are fixed after this iteration */

bool alfs_is_used(const alfs_work *work, int j)
{
    const alfs_split *cols = &work->split[COLS];
    return !cols->on || cols->norm[j] > NEARLY * cols->penalty / cols->rho_of_v;
}

/* Whether Newton's method, which starts from the best W, is likely to be faster from this gap on. */
static bool newton_pays(const alfs_work *work, double gap)
{
    double from;
    int n = 0;

    for (int j = 0; j < work->space.q; j++) n += alfs_is_used(work, j);
    from = n > 0 ? alfs_newton_from(work->space.m, n, work->space.r) : 0.0;
    return gap < fmin(from, 0.1) && from > 5.0 * work->run->tol &&
           work->value.best < work->space.total;
}

void alfs_certify(alfs_work *work)
{
    alfs_value *value = &work->value;
    double before = value->dual;

    alfs_dual_bound(work, -1.0);
    /* With lambda > 0 the best P, Q and L go into the result at once. */
    if (work->x != NULL || !work->split[WEIGHTS].on) return;
    if (value->dual > before)
        alfs_write_dual(work, work->result->p, work->result->q, work->result->l);
    value->now = value->dual;
}

/* A certificate costs about an iteration. Besides the regular ones there is one halfway to the first
 * (lambda = 0), and where the gap will have reached the goal at half its rate of fall so far. */
void alfs_iterate(alfs_work *work, int most, double goal)
{
    alfs_value *value = &work->value;
    ufs_run *run = work->run;
    int due = work->split[WEIGHTS].on ? 0 : ALFS_CHECK_EVERY / 2;

    for (int done = 1;; done++) {
        bool last = ++run->iterations >= run->max_iter || done >= most;
        bool regular = run->iterations % ALFS_CHECK_EVERY == 0;
        bool check = regular || last || done == due;
        alfs_next_penalties(work);
        alfs_update_w(work);
        if (check) {
            double gap;
            alfs_certify(work);
            alfs_primal_bound(work);
            gap = (value->best - value->now) / value->best;
            last = last || gap < fmax(goal, -1e-10) || !(fabs(gap) <= DBL_MAX) ||
                   (work->newton && newton_pays(work, gap));
            if (gap < 1.0)
                due = done +
                      (int) ceil(fmin(2.0 * done * log(gap / goal) / -log(gap), ALFS_CHECK_EVERY));
        }
        alfs_update_copies(work, !last);
        ufs_run_step(run, value->best * work->x_divisor * work->x_divisor,
                     (value->best - *work->bound) / value->best);
        if (last) return;
        alfs_record(work);
        if (regular && run->iterations <= BALANCE_UNTIL) alfs_balance(work);
    }
}

bool alfs_judge(const alfs_work *work)
{
    ufs_status *status = &work->run->status;
    double best = work->value.best, gap = (best - work->value.now) / best;

    if (!(fabs(best) <= DBL_MAX) || !(fabs(gap) <= DBL_MAX))
        *status = UFS_DIVERGED;
    else if (gap < -1e-10)
        *status = UFS_NUMERICAL;
    else if (work->settings->paper || work->run->tol < 0.0 || gap >= work->run->tol)
        return false;
    else
        *status = UFS_CONVERGED;
    return true;
}
