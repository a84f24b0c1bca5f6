/* mm.c: majorise-minimise with an accelerator, an active set and a certificate.
 *
 * RSR, UDFS, the W step of SOGFS, RRSS and ALNR minimise sums of norms by reweighted least squares:
 * a fixed-point map of weights, which never raises the smoothed objective (merit). They bring one
 * step of that map and their own dual; the rest is the same for all and is here.
 *
 * Acceleration. The plain iteration needs hundreds of steps because the norms of rows that vanish
 * shrink by a constant factor per step. Its unknowns are roots of smoothed norms, u. Where the
 * derivative of log norm by the log of its own weight is known, the change of that log is divided
 * by what it leaves of 1 (`left`), a Newton step on the diagonal; where many rows move alike, only
 * what differs from their mean change, for the derivatives off the diagonal add up in it. A refusal
 * goes on to the other of the two. Then Anderson extrapolation. A step that raised the merit is
 * taken back: the next one starts from the last accepted point, as the plain iteration does.
 *
 * Active set. Rows that are small and whose dual value says that they would not come back leave:
 * their u is 0, and they are exactly zero then. Rows left out that violate their dual constraint,
 * where judge() has looked, enter with a small weight. Either change is taken back if its first
 * step raised the merit: an entry is tried with smaller weights first.
 *
 * One step = one iteration. Memory (3 DEPTH + 9) (p + others) doubles. */
#include "mm.h"
#include "la.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

/* RSR's values. LEAST .02 and SMALL .01 took twice as many steps of RSR on 100 x 1500. UDFS, SOGFS,
 * RRSS and ALNR had others. */
enum { DEPTH = 5, RETRIES = 6, LEAVE_EVERY = 3, WAIT = 10, LEAST_ENTRY = 20 };
static const double RISE = 1e-12;                /* of the merit: rounding */
static const double BOLD = 1.0, LEAST = 0.05;    /* log step of a root; least `left` */
static const double FAR = 3.0;                   /* log root of a weight off its plain value */
static const double SMALL = 0.001, LEAVE = 0.99; /* rows that leave: share of the mean; dual */
static const double WORTH = 0.2;                 /* share of the rows for which a new set is made */
static const double NEW_ROW = 0.03;              /* its weight, of the mean one */
enum { MOST_ROWS = 100000 };                     /* of the trace: max_iter may be any number */

static void find_set(mm *s);
static void refuse(mm *s);
static void extrapolate(mm *s);
static void move_to(mm *s, mm_move move);
static bool leave(mm *s, bool last);
static bool goes(const mm *s, double small, int j);
static bool enter(mm *s);
static double mean_row(const mm *s);
static bool judge_gap(void *data, mm *s, bool accepted);

void mm_init(mm *s, const mm_problem *problem, double *dual)
{
    size_t P = (size_t) problem->p, L = P + (size_t) problem->others;

    *s = (mm){.problem = problem, .dual = dual, .alike = true, .best = R_PosInf};
    s->set = ufs_ialloc(P);
    s->u = ufs_dalloc(L, 1);
    s->plain = ufs_dalloc(L, 1);
    s->left = ufs_dalloc(L, 1);
    s->f = ufs_dalloc(L, 1);
    s->weight = ufs_dalloc(L, 1);
    s->old = ufs_dalloc(L, 1);
    for (size_t k = 0; k < L; k++) s->left[k] = 1.0;
    anderson_init(&s->history, (int) L, problem->accelerate ? DEPTH : 0);
}

void mm_renew(mm *s)
{
    s->best = R_PosInf;
    move_to(s, MM_PLAIN);
}

void mm_run(mm *s, int max_iter)
{
    const mm_problem *problem = s->problem;

    s->status = UFS_MAX_ITER;
    s->max_iter = s->iterations + max_iter;
    while (s->lapack == 0 && s->iterations < s->max_iter) {
        R_CheckUserInterrupt();
        s->priced = false;
        find_set(s);
        s->lapack = problem->step(problem->data, s);
        if (s->lapack) return;
        s->iterations++;
        if (s->move != MM_PLAIN && !(s->merit <= s->best * (1.0 + RISE) + s->allowance)) {
            problem->judge(problem->data, s, false);
            refuse(s);
            continue;
        }
        if (!R_FINITE(s->merit)) {
            s->status = UFS_DIVERGED;
            return;
        }
        s->accepted++;
        bool done = problem->judge(problem->data, s, true);
        s->best = s->merit;
        if (done) {
            /* So that all rows that are zero are so exactly, and ranked by their dual value. */
            if (s->status != UFS_CONVERGED || s->iterations >= s->max_iter - 1 || !leave(s, true))
                return;
            s->status = UFS_MAX_ITER;
        } else if (!problem->accelerate || s->iterations >= s->max_iter - 1) {
            move_to(s, MM_PLAIN);
        } else if (!enter(s) && !leave(s, false)) {
            extrapolate(s);
        }
    }
}

static void find_set(mm *s)
{
    s->q = 0;
    for (int j = 0; j < s->problem->p; j++)
        if (s->u[j] > 0.0) s->set[s->q++] = j;
}

/* ---- between two steps ----------------------------------------------------------------- */

/* From the plain point, which is kept, without a history. */
static void move_to(mm *s, mm_move move)
{
    size_t all = (size_t) (s->problem->p + s->problem->others);
    ufs_copy(s->u, s->plain, all);
    ufs_copy(s->old, s->plain, all);
    anderson_reset(&s->history);
    s->allowance = 0.0;
    s->move = move;
}

/* Newton on the diagonal, then Anderson; both blocks count by their mean size. */
static void extrapolate(mm *s)
{
    int p = s->problem->p, all = p + s->problem->others;

    for (int block = 0; block < 2; block++) {
        int from = block == 0 ? 0 : p, to = block == 0 ? p : all;
        int count = block == 0 ? s->q : all - p;
        double total = 0.0, moved = 0.0, mean;
        for (int k = from; k < to; k++) {
            s->f[k] = s->u[k] > 0.0 && s->plain[k] > 0.0 ? log(s->plain[k] / s->u[k]) : 0.0;
            total += s->plain[k];
            moved += s->plain[k] * s->f[k];
        }
        mean = s->alike ? moved / total : 0.0;
        for (int k = from; k < to; k++) {
            double by = mean + (s->f[k] - mean) / fmax(s->left[k], LEAST);
            s->weight[k] = count / total;
            s->f[k] = s->u[k] * exp(fmin(fmax(by, -BOLD), BOLD));
        }
    }
    ufs_copy(s->old, s->plain, (size_t) all);
    anderson_push(&s->history, s->u, s->f);
    anderson_mix(&s->history, s->weight, s->f); /* f is as it is if there is no history yet */
    for (int k = 0; k < all; k++)
        s->u[k] = fmin(fmax(s->f[k], s->plain[k] * exp(-FAR)), s->plain[k] * exp(FAR));
    s->allowance = 0.0;
    s->move = MM_EXTRAPOLATED;
}

/* After a step that raised the merit; `old` is the last accepted point. */
static void refuse(mm *s)
{
    anderson_reset(&s->history);
    if (s->move == MM_ENTERED && s->tries++ < RETRIES) {
        /* New rows start from 0: the smaller their weights, the nearer to the plain step. */
        for (int j = 0; j < s->problem->p; j++)
            if (s->old[j] == 0.0) s->u[j] *= 0.3;
        return;
    }
    if (s->move == MM_EXTRAPOLATED)
        s->alike = !s->alike;
    else
        s->wait = s->accepted + WAIT;
    ufs_copy(s->u, s->old, (size_t) (s->problem->p + s->problem->others));
    s->move = MM_PLAIN;
}

/* ---- the active set -------------------------------------------------------------------- */

static double mean_row(const mm *s)
{
    double mean = 0.0;
    for (int a = 0; a < s->q; a++) mean += s->plain[s->set[a]] * s->plain[s->set[a]] / s->q;
    return mean;
}

/* Rows that are small and would not enter, every few steps if they are many; all at the end. */
static bool leave(mm *s, bool last)
{
    double small = SMALL * mean_row(s);
    int count = 0;

    if (s->accepted < s->wait || !(last ? s->problem->slack > 0.0 : s->accepted % LEAVE_EVERY == 0))
        return false;
    for (int a = 0; a < s->q; a++) count += goes(s, small, s->set[a]);
    if (count == 0 || s->q - count < s->problem->least || (!last && count < WORTH * s->q))
        return false;
    move_to(s, MM_LEFT);
    for (int a = 0; a < s->q; a++)
        if (goes(s, small, s->set[a])) s->u[s->set[a]] = 0.0;
    if (last) s->allowance = s->problem->slack * count;
    return true;
}

static bool goes(const mm *s, double small, int j)
{
    return s->plain[j] * s->plain[j] < small && s->dual[j] < LEAVE;
}

/* The rows that violate their constraint most, at most as many as there are already. */
static bool enter(mm *s)
{
    int count = 0, most = s->q > LEAST_ENTRY ? s->q : LEAST_ENTRY;
    double level = s->level, first = sqrt(NEW_ROW * mean_row(s)), *key = s->f;

    if (!s->priced) return false;
    for (int j = 0; j < s->problem->p; j++)
        if (s->u[j] == 0.0 && s->dual[j] > level) key[count++] = s->dual[j];
    if (count == 0) return false;
    if (count > most) {
        rPsort(key, count, count - most);
        level = key[count - most];
    }
    move_to(s, MM_ENTERED);
    for (int j = 0; j < s->problem->p; j++)
        if (s->old[j] == 0.0 && s->dual[j] >= level) s->u[j] = first;
    s->tries = 0;
    return true;
}

/* ---- the convex sample selectors ------------------------------------------------------- */

void mm_select_init(mm_selector *work, int n)
{
    mm_result *result = work->result;
    double top = 0.0;

    work->row = ufs_dalloc((size_t) n, 1);
    work->act = ufs_dalloc((size_t) n, 1);
    for (int j = 0; j < n; j++) top = fmax(top, result->activity[j]);
    result->gamma_max = top;
    result->gamma = work->settings->gamma * (work->settings->relative ? top : 1.0);
    for (int j = 0; j < n; j++) {
        result->row_norm[j] = 0.0;
        result->activity[j] /= fmax(top, result->gamma);
    }
}

void mm_select(mm_selector *work, int n, int others, double first, int (*step)(void *data, mm *s))
{
    static const char *const columns[] = {"objective", "best", "bound", "gap", NULL};
    const mm_settings *settings = work->settings;
    mm_result *result = work->result;
    ufs_run *run = work->run;
    mm_problem problem = {.p = n,
                          .others = others,
                          .least = n,
                          .accelerate = settings->tol >= 0.0,
                          .data = work,
                          .step = step,
                          .judge = judge_gap};
    mm s;

    result->gap = (result->primal - result->dual) / result->primal;
    result->idle = 0;
    ufs_trace_named(&run->trace, settings->max_iter < MOST_ROWS ? settings->max_iter : MOST_ROWS,
                    columns);
    run->status = result->gap <= settings->tol ? UFS_CONVERGED : UFS_MAX_ITER;
    if (run->status == UFS_CONVERGED) return;
    mm_init(&s, &problem, work->act);
    for (int k = 0; k < n + others; k++) s.u[k] = first;
    mm_run(&s, settings->max_iter);
    run->status = s.status;
    run->lapack = s.lapack;
}

bool mm_offer(mm_selector *work, mm *s, double primal, double dual, double over)
{
    mm_result *result = work->result;

    if (!R_FINITE(s->merit) || !R_FINITE(primal) || !R_FINITE(dual)) {
        s->merit = R_PosInf;
        return false;
    }
    result->dual = fmax(result->dual, dual);
    if (!(primal < result->primal)) return false;
    result->primal = primal;
    ufs_copy(result->row_norm, work->row, (size_t) s->problem->p);
    for (int j = 0; j < s->problem->p; j++) result->activity[j] = work->act[j] / over;
    return true;
}

static bool judge_gap(void *data, mm *s, bool accepted)
{
    mm_selector *work = data;
    mm_result *result = work->result;
    double merit = accepted ? s->merit : s->best, change = s->best - s->merit;
    double tol = work->settings->tol;

    work->run->iterations = s->iterations;
    result->gap = (result->primal - result->dual) / result->primal;
    ufs_trace_add(&work->run->trace, (double[]){merit, result->primal, result->dual, result->gap});
    ufs_run_step(work->run, merit, change);
    if (!accepted) return false;
    result->idle = change > 1e-15 * merit ? 0 : result->idle + 1;
    if (result->gap < -1e-10)
        s->status = UFS_NUMERICAL;
    else if (result->gap <= tol)
        s->status = UFS_CONVERGED;
    else if (tol >= 0.0 && result->idle >= 10)
        s->status = UFS_STALLED;
    return s->status != UFS_MAX_ITER;
}
