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
 * Active set. Rows that are small and whose dual value says that they would not come back leave
 * (they are exactly zero then); rows left out that violate their dual constraint, where judge()
 * has looked, enter with a small weight. Either change is taken back if its first step raised the
 * merit: an entry is tried with smaller weights first.
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

static bool refuse(mm *s);
static void extrapolate(mm *s);
static void go_plain(mm *s);
static bool leave(mm *s);
static bool goes(const mm *s, double small, int a);
static bool enter(mm *s);
static void remember_set(mm *s);
static void change_set(mm *s);
static double mean_row(const mm *s);

void mm_init(mm *s, const mm_problem *problem, double *dual)
{
    int p = problem->p, len = p + problem->others;
    size_t P = (size_t) p, L = (size_t) len;

    *s = (mm){.problem = problem, .dual = dual, .q = p, .alike = true};
    s->set = ufs_ialloc(P);
    s->old_set = ufs_ialloc(P);
    for (int j = 0; j < p; j++) s->set[j] = j;
    s->u = ufs_dalloc(L, 1);
    s->plain = ufs_dalloc(L, 1);
    s->left = ufs_dalloc(L, 1);
    s->f = ufs_dalloc(L, 1);
    s->weight = ufs_dalloc(L, 1);
    s->old = ufs_dalloc(L, 1);
    s->fresh = (bool *) R_alloc(P, sizeof(bool));
    memset(s->fresh, 0, P * sizeof(bool));
    anderson_init(&s->history, len, problem->accelerate ? DEPTH : 0);
    s->best = R_PosInf;
}

void mm_renew(mm *s)
{
    s->best = R_PosInf;
    s->move = MM_PLAIN;
    anderson_resize(&s->history, s->q + s->problem->others);
    s->lapack = s->problem->part != NULL ? s->problem->part(s->problem->data, s) : 0;
}

void mm_run(mm *s, int max_iter)
{
    const mm_problem *problem = s->problem;

    s->status = UFS_MAX_ITER;
    s->max_iter = s->iterations + max_iter;
    while (s->lapack == 0 && s->iterations < s->max_iter) {
        bool moved = s->move != MM_PLAIN;
        double allowed;
        R_CheckUserInterrupt();
        s->priced = false;
        allowed = s->best * (1.0 + RISE);
        if (s->move == MM_LEFT && s->tidy) allowed += problem->slack * (s->old_q - s->q);
        s->tidy = false;
        s->lapack = problem->step(problem->data, s);
        if (s->lapack) return;
        s->iterations++;
        if (moved && !(s->merit <= allowed)) {
            problem->judge(problem->data, s, false);
            if (refuse(s) && problem->part != NULL) s->lapack = problem->part(problem->data, s);
            continue;
        }
        if (!R_FINITE(s->merit)) {
            s->status = UFS_DIVERGED;
            return;
        }
        s->accepted++;
        if (problem->judge(problem->data, s, true)) return;
        s->best = s->merit;
        if (!problem->accelerate || s->iterations >= s->max_iter - 1)
            go_plain(s);
        else if (!problem->fixed && (enter(s) || leave(s)))
            change_set(s);
        else
            extrapolate(s);
    }
}

/* ---- between two steps ----------------------------------------------------------------- */

static void go_plain(mm *s)
{
    anderson_reset(&s->history);
    ufs_copy(s->u, s->plain, (size_t) (s->q + s->problem->others));
    s->move = MM_PLAIN;
}

/* Newton on the diagonal, then Anderson; both blocks count by their mean size. */
static void extrapolate(mm *s)
{
    int q = s->q, all = q + s->problem->others;
    double low = sqrt(s->problem->low), high = sqrt(s->problem->high);

    for (int block = 0; block < 2; block++) {
        int from = block == 0 ? 0 : q, to = block == 0 ? q : all;
        double total = 0.0, moved = 0.0, mean;
        for (int k = from; k < to; k++) {
            s->f[k] = s->u[k] > 0.0 && s->plain[k] > 0.0 ? log(s->plain[k] / s->u[k]) : 0.0;
            total += s->plain[k];
            moved += s->plain[k] * s->f[k];
        }
        mean = s->alike ? moved / total : 0.0;
        for (int k = from; k < to; k++) {
            double by = s->f[k];
            if (s->problem->newton) by = mean + (by - mean) / fmax(s->left[k], LEAST);
            s->weight[k] = (to - from) / total;
            s->f[k] = s->u[k] * exp(fmin(fmax(by, -BOLD), BOLD));
        }
    }
    ufs_copy(s->old, s->plain, (size_t) all);
    anderson_step(&s->history, s->u, s->f, s->weight, s->f);
    for (int k = 0; k < all; k++) {
        double u = fmin(fmax(s->f[k], s->plain[k] * exp(-FAR)), s->plain[k] * exp(FAR));
        s->u[k] = fmin(fmax(u, low), high);
    }
    s->move = MM_EXTRAPOLATED;
}

/* After a step that raised the merit; `old` holds the last accepted point. True if the set is
 * another one again. */
static bool refuse(mm *s)
{
    size_t others = (size_t) s->problem->others;

    anderson_reset(&s->history);
    if (s->move == MM_ENTERED && s->tries++ < RETRIES) {
        /* New rows start from 0: the smaller their weights, the nearer to the plain step. */
        for (int a = 0; a < s->q; a++)
            if (s->fresh[s->set[a]]) s->u[a] *= 0.3;
        return false;
    }
    bool same = s->move == MM_EXTRAPOLATED;
    if (same) {
        s->alike = !s->alike;
    } else {
        s->q = s->old_q;
        memcpy(s->set, s->old_set, (size_t) s->q * sizeof(int));
        anderson_resize(&s->history, s->q + s->problem->others);
        s->wait = s->accepted + WAIT;
    }
    ufs_copy(s->u, s->old, (size_t) s->q + others);
    s->move = MM_PLAIN;
    return !same;
}

/* ---- the active set -------------------------------------------------------------------- */

static double mean_row(const mm *s)
{
    double mean = 0.0;
    for (int a = 0; a < s->q; a++) mean += s->plain[a] * s->plain[a] / s->q;
    return mean;
}

static void remember_set(mm *s)
{
    s->old_q = s->q;
    memcpy(s->old_set, s->set, (size_t) s->q * sizeof(int));
    ufs_copy(s->old, s->plain, (size_t) (s->q + s->problem->others));
}

/* The weights of the others, and matrices, for the new set. */
static void change_set(mm *s)
{
    ufs_copy(s->u + s->q, s->old + s->old_q, (size_t) s->problem->others);
    anderson_resize(&s->history, s->q + s->problem->others);
    s->lapack = s->problem->part(s->problem->data, s);
}

/* Small, and would not enter. */
static bool goes(const mm *s, double small, int a)
{
    return s->plain[a] * s->plain[a] < small && s->dual[s->set[a]] < LEAVE;
}

int mm_idle(const mm *s)
{
    double small = SMALL * mean_row(s);
    int count = 0;

    if (s->accepted < s->wait) return 0;
    for (int a = 0; a < s->q; a++) count += goes(s, small, a);
    return s->q - count < s->problem->least ? 0 : count;
}

/* Such rows leave every few steps if they are many. */
static bool leave(mm *s)
{
    double small = SMALL * mean_row(s);
    int count;

    if (!s->tidy && s->accepted % LEAVE_EVERY != 0) return false;
    count = mm_idle(s);
    if (count == 0 || (!s->tidy && s->q - count > (1.0 - WORTH) * s->q)) return false;
    remember_set(s);
    s->q = 0;
    for (int a = 0; a < s->old_q; a++) {
        if (goes(s, small, a)) continue;
        s->u[s->q] = s->old[a];
        s->set[s->q++] = s->old_set[a];
    }
    s->move = MM_LEFT;
    return true;
}

/* The rows that violate their constraint most, at most as many as there are already. */
static bool enter(mm *s)
{
    int p = s->problem->p, count = 0, most = s->q > LEAST_ENTRY ? s->q : LEAST_ENTRY, a = 0;
    double level = s->level, first = sqrt(NEW_ROW * mean_row(s)), *key = s->f;

    if (!s->priced || s->q == p) return false;
    memset(s->fresh, 0, (size_t) p * sizeof(bool));
    for (int l = 0; l < s->q; l++) s->fresh[s->set[l]] = true;
    for (int j = 0; j < p; j++)
        if (!s->fresh[j] && s->dual[j] > level) key[count++] = s->dual[j];
    if (count == 0) return false;
    if (count > most) {
        rPsort(key, count, count - most);
        level = key[count - most];
    }
    remember_set(s);
    s->q = 0;
    for (int j = 0; j < p; j++) {
        bool here = s->fresh[j];
        s->fresh[j] = !here && s->dual[j] >= level;
        if (!here && !s->fresh[j]) continue;
        s->u[s->q] = here ? s->old[a++] : first;
        s->set[s->q++] = j;
    }
    s->move = MM_ENTERED;
    s->tries = 0;
    return true;
}

/* ---- gap of the convex sample selectors ------------------------------------------------- */

void mm_gap_begin(mm_result *result, const mm_settings *settings, ufs_run *run)
{
    static const char *const columns[] = {"objective", "best", "bound", "gap", NULL};
    int most = settings->max_iter < MOST_ROWS ? settings->max_iter : MOST_ROWS;

    result->gap = (result->primal - result->dual) / result->primal;
    result->idle = 0;
    ufs_trace_named(&run->trace, most, columns);
    run->status = result->gap <= settings->tol ? UFS_CONVERGED : UFS_MAX_ITER;
}

bool mm_gap(mm *s, mm_result *result, double tol, ufs_run *run, bool accepted)
{
    double merit = accepted ? s->merit : s->best, change = s->best - s->merit;

    run->iterations = s->iterations;
    result->gap = (result->primal - result->dual) / result->primal;
    ufs_trace_add(&run->trace, (double[]){merit, result->primal, result->dual, result->gap});
    ufs_run_step(run, merit, change);
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
