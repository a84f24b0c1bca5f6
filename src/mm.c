/* mm.c: majorise-minimise with an accelerator, an active set and a certificate.
 *
 * RSR, UDFS, the W step of SOGFS, RRSS and ALNR minimise sums of norms by reweighted least squares:
 * a fixed-point map of weights, which never raises the smoothed objective (merit). They bring one
 * step of that map and their own dual; the rest is the same for all and is here.
 *
 * Acceleration. The plain iteration needs hundreds of steps because the norms of rows that vanish
 * shrink by a constant factor per step. Its unknowns are roots of smoothed norms, u. Where the
 * derivative of log norm by the log of its own weight is known, what that log changes by beyond the
 * mean change is divided by what the derivative leaves of 1 (`left`), a Newton step on the diagonal;
 * the mean is left alone, for the derivatives off the diagonal add up in it. A norm that grows does
 * so by less: its optimum is known, for 1 / |subgradient| is linear in its own weight. Then
 * Anderson extrapolation. A step that raised the merit is taken back: the next one starts from the last
 * accepted point, as the plain iteration does, and Newton's steps are made shorter from then on.
 *
 * Active set. Rows that are small and whose dual value says that they would not come back leave:
 * their u is 0, and they are exactly zero then. Rows left out that violate their dual constraint,
 * where judge() has looked, enter with a small weight. Either change is taken back if its first
 * step raised the merit.
 *
 * One step = one iteration. Memory (3 DEPTH + 9) (p + others) doubles. */
#include "mm.h"
#include "la.h"
#include <R_ext/Utils.h>

enum { DEPTH = 5 };
static const double LEAST = 0.05;                /* least `left` at first; weight of a new row */
static const double FAR = 3.0;                   /* log root of a weight off its plain value */
static const double SMALL = 0.001, LEAVE = 0.99; /* rows that leave: share of the mean; dual */
static const double WORTH = 0.2;                 /* share of the rows for which a new set is made */

static void move_to_plain(mm *s);
static bool enter(mm *s);
static bool leave(mm *s, double share);
static bool goes(const mm *s, double small, int j);
static double mean_row(const mm *s);
static void extrapolate(mm *s);
static bool judge_gap(void *data, mm *s, bool accepted);

void mm_init(mm *s, const mm_problem *problem, double *dual)
{
    size_t P = (size_t) problem->p, L = P + (size_t) problem->others;

    *s = (mm){.problem = problem, .dual = dual, .caution = LEAST, .entry = LEAST, .best = R_PosInf};
    s->set = ufs_ialloc(P);
    ufs_dalloc_each(L, 1,
                    (double **[]){&s->u, &s->plain, &s->left, &s->f, &s->weight, &s->old, NULL});
    for (size_t k = 0; k < L; k++) s->left[k] = 1.0;
    anderson_init(&s->history, (int) L, problem->accelerate ? DEPTH : 0);
}

void mm_renew(mm *s)
{
    s->best = R_PosInf;
    move_to_plain(s);
}

void mm_run(mm *s, int max_iter)
{
    const mm_problem *problem = s->problem;
    size_t all = (size_t) (problem->p + problem->others);

    s->status = UFS_MAX_ITER;
    s->max_iter = s->iterations + max_iter;
    while (s->iterations < s->max_iter) {
        R_CheckUserInterrupt();
        s->priced = false;
        s->q = 0;
        for (int j = 0; j < problem->p; j++)
            if (s->u[j] > 0.0) s->set[s->q++] = j;
        s->lapack = problem->step(problem->data, s);
        if (s->lapack) return;
        s->iterations++;
        if (s->bold && !(s->merit <= s->best * (1.0 + UFS_ROUNDING))) {
            problem->judge(problem->data, s, false);
            s->caution = fmin(1.0, 2.0 * s->caution);
            /* Without a history it was another set. */
            if (!s->history.has_last) {
                s->wait = s->accepted + 2 * DEPTH;
                s->entry *= LEAST;
            }
            ufs_copy(s->plain, s->old, all);
            move_to_plain(s);
            continue;
        }
        if (!R_FINITE(s->merit)) {
            s->status = UFS_DIVERGED;
            return;
        }
        s->accepted++;
        bool done = problem->judge(problem->data, s, true), last = s->iterations >= s->max_iter - 1;
        s->best = s->merit;
        ufs_copy(s->old, s->plain, all);
        if (done) {
            if (s->status != UFS_CONVERGED || last || !problem->clears || !leave(s, 0.0)) return;
            /* Without the smoothing of these rows the merit may be a little larger. */
            s->bold = false;
            s->status = UFS_MAX_ITER;
            continue;
        }
        if (!problem->accelerate || last)
            move_to_plain(s);
        else if (!enter(s) && !leave(s, WORTH))
            extrapolate(s);
    }
}

/* ---- between two steps ----------------------------------------------------------------- */

static void move_to_plain(mm *s)
{
    ufs_copy(s->u, s->plain, (size_t) (s->problem->p + s->problem->others));
    anderson_reset(&s->history);
    s->bold = false;
}

/* The rows that violate their constraint; the more was refused, the smaller they begin,
 * and the nearer to the plain step. */
static bool enter(mm *s)
{
    double first = sqrt(s->entry * mean_row(s));
    bool any = false;

    for (int j = 0; j < s->problem->p && s->priced; j++)
        any = any || (s->u[j] == 0.0 && s->dual[j] > s->level);
    if (!any) return false;
    move_to_plain(s);
    for (int j = 0; j < s->problem->p; j++)
        if (s->u[j] == 0.0 && s->dual[j] > s->level) s->u[j] = first;
    return s->bold = true;
}

/* Rows that are small and would not enter, if they are more than this share; before the end only if
 * no other set was refused lately. */
static bool leave(mm *s, double share)
{
    double small = SMALL * mean_row(s);
    int count = 0;

    for (int a = 0; a < s->q; a++) count += goes(s, small, s->set[a]);
    if (s->q - count < s->problem->least || count <= share * s->q ||
        (share > 0.0 && s->accepted < s->wait))
        return false;
    move_to_plain(s);
    for (int a = 0; a < s->q; a++)
        if (goes(s, small, s->set[a])) s->u[s->set[a]] = 0.0;
    return s->bold = true;
}

static bool goes(const mm *s, double small, int j)
{
    return s->plain[j] * s->plain[j] < small && s->dual[j] < LEAVE;
}

static double mean_row(const mm *s)
{
    double mean = 0.0;
    for (int a = 0; a < s->q; a++) mean += s->plain[s->set[a]] * s->plain[s->set[a]] / s->q;
    return mean;
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
        mean = moved / total;
        for (int k = from; k < to; k++) {
            double by = s->f[k] - mean, left = fmax(s->left[k], s->caution);
            by = by > 0.0 ? 0.5 * log1p(expm1(2.0 * by) / left) : by / left;
            s->weight[k] = count / total;
            s->f[k] = s->u[k] * exp(mean + by);
        }
    }
    anderson_push(&s->history, s->u, s->f);
    anderson_mix(&s->history, s->weight, s->f); /* f is as it is if there is no history yet */
    for (int k = 0; k < all; k++)
        s->u[k] = fmin(fmax(s->f[k], s->plain[k] * exp(-FAR)), s->plain[k] * exp(FAR));
    s->bold = true;
}

/* ---- the convex sample selectors ------------------------------------------------------- */

void mm_select_init(mm_selector *work, int n)
{
    mm_result *result = work->result;
    double top = 0.0;

    ufs_dalloc_each((size_t) n, 1, (double **[]){&work->row, &work->act, &work->res, NULL});
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
    mm_result *result = work->result;
    ufs_run *run = work->run;
    mm_problem problem = {.p = n,
                          .others = others,
                          .least = n,
                          .accelerate = run->tol >= 0.0,
                          .data = work,
                          .step = step,
                          .judge = judge_gap};
    mm s;

    result->gap = (result->primal - result->dual) / result->primal;
    ufs_trace_named(&run->trace, run->max_iter, columns);
    run->status = result->gap <= run->tol ? UFS_CONVERGED : UFS_MAX_ITER;
    if (run->status == UFS_CONVERGED) return;
    mm_init(&s, &problem, work->act);
    for (int k = 0; k < n + others; k++) s.u[k] = first;
    mm_run(&s, run->max_iter);
    run->status = s.status;
    run->lapack = s.lapack;
}

static bool judge_gap(void *data, mm *s, bool accepted)
{
    mm_selector *work = data;
    mm_result *result = work->result;
    double merit = accepted ? s->merit : s->best, change = s->best - s->merit;
    double tol = work->run->tol;
    size_t n = (size_t) s->problem->p;

    work->run->iterations = s->iterations;
    result->dual = fmax(result->dual, work->dual);
    if (work->primal < result->primal) {
        result->primal = work->primal;
        ufs_copy(result->row_norm, work->row, n);
        if (result->residual != NULL) ufs_copy(result->residual, work->res, n);
        for (size_t j = 0; j < n; j++) result->activity[j] = work->act[j] / work->over;
    }
    result->gap = (result->primal - result->dual) / result->primal;
    ufs_trace_add(&work->run->trace, (double[]){merit, result->primal, result->dual, result->gap});
    ufs_run_step(work->run, merit, change);
    if (!accepted) return false;
    work->idle = change > 1e-15 * merit ? 0 : work->idle + 1;
    if (result->gap < -1e-10)
        s->status = UFS_NUMERICAL;
    else if (result->gap <= tol)
        s->status = UFS_CONVERGED;
    else if (tol >= 0.0 && work->idle >= 10)
        s->status = UFS_STALLED;
    return s->status != UFS_MAX_ITER;
}
