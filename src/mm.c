/* mm.c: majorise-minimise with an accelerator, an active set and a certificate.
 *
 * RSR, UDFS, the W step of SOGFS, RRSS and ALNR minimise sums of norms by reweighted least squares:
 * a fixed-point map of weights, which never raises the smoothed objective (merit). They bring one
 * step of that map; the rest is the same for all and is here.
 *
 * Acceleration. The plain iteration needs hundreds of steps because the norms of rows that vanish
 * shrink by a constant factor per step. Its unknowns are roots of smoothed norms, u. Where the
 * derivative of log norm by the log of its own weight is known, what that log changes by beyond the
 * mean change is divided by what the derivative leaves of 1 (`left`), a Newton step on the diagonal;
 * the mean is left alone, for the derivatives off the diagonal add up in it. A norm that grows does
 * so by less: its optimum is known, for 1 / |subgradient| is linear in its own weight. Then
 * Anderson extrapolation. A step that raised the merit is taken back: the next one starts from the last
 * accepted point, as the plain iteration does, and Newton's steps are made shorter from then on:
 * where many rows vanish together, all bold steps would be refused.
 *
 * Active set. Rows that are small and whose dual value says that they would not come back leave:
 * their u is 0, and they are exactly zero then. Rows left out that violate their dual constraint,
 * looked at now and then and before the end, enter with a small weight. Either change is taken back
 * if its first step raised the merit.
 *
 * Certificate. If the problem is convex, min sum_k price_k |z_k| + rest with z linear, the weighted
 * problem's solution has subgradients Y of norm price_k |z_k| / u_k^2, so that |z_k| = u_k^2 dual_k;
 * Y scaled until no dual value exceeds 1 is feasible for the dual, <Y, X> less the conjugate of
 * rest. <Y, X> = sum_k price_k |z_k| dual_k, and a rest ||x - fit||^2 adds 2 ||x - fit||^2 to it and
 * has ||y||^2 / 4 for its conjugate, y = 2 (x - fit).
 *
 * One step = one iteration. Memory (3 depth + 8) (p + others) doubles. */
#include "mm.h"

enum { DEPTH = 5, LOOK_EVERY = 4, IDLE = 10, WAITS = 3 };
static const double LEAST = 0.05;                /* least `left` at first; weight of a new row */
static const double FAR = 3.0;                   /* log root of a weight off its plain value */
static const double SMALL = 0.001, LEAVE = 0.99; /* rows that leave: share of the mean; dual */
static const double WORTH = 0.2;                 /* share of the rows for which a new set is made */

/* ---- between two steps ----------------------------------------------------------------- */

static void move_to_plain(mm *s)
{
    ufs_copy(s->u, s->plain, (size_t) (s->p + s->others));
    anderson_reset(&s->history);
    s->bold = false;
}

static bool violated(const mm *s, int j)
{
    return s->looked && s->u[j] == 0.0 && s->out->dual[j] > s->level;
}

/* How many norms the k-th stands for. */
static double count_of(const mm *s, int k)
{
    return k < s->p || s->count == NULL ? 1.0 : s->count[k - s->p];
}

static double mean_row(const mm *s)
{
    double mean = 0.0;
    int q = 0;

    for (int a = 0; a < s->q; a++) q += !mm_is_free(s->settings, s->set[a]);
    for (int a = 0; a < s->q; a++)
        if (!mm_is_free(s->settings, s->set[a]))
            mean += s->plain[s->set[a]] * s->plain[s->set[a]] / q;
    /* There are only free rows: the value that zero rows would give. */
    return q > 0 ? mean : UFS_TIE;
}

/* The rows that violate their constraint; the more was refused, the smaller they begin,
 * and the nearer to the plain step. */
static bool enter(mm *s)
{
    double first = sqrt(s->entry * mean_row(s));
    bool any = false;

    for (int j = 0; j < s->p; j++) any = any || violated(s, j);
    if (!any) return false;
    move_to_plain(s);
    for (int j = 0; j < s->p; j++)
        if (violated(s, j)) s->u[j] = first;
    return s->bold = true;
}

static bool goes(const mm *s, double small, int j)
{
    return s->plain[j] * s->plain[j] < small && s->out->dual[j] < LEAVE &&
           !mm_is_free(s->settings, j);
}

/* Rows that are small and would not enter, if they are more than this share. */
static bool leave(mm *s, double share)
{
    double small = SMALL * mean_row(s);
    int count = 0;

    for (int a = 0; a < s->q; a++) count += goes(s, small, s->set[a]);
    if (s->q - count < s->least || count <= share * s->q) return false;
    move_to_plain(s);
    for (int a = 0; a < s->q; a++)
        if (goes(s, small, s->set[a])) s->u[s->set[a]] = 0.0;
    return s->bold = true;
}

/* The largest dual value of rows at hand, and for how many steps the same row has had it. */
static double steepest(mm *s)
{
    double top = 0.0;
    int at = -1;

    for (int a = 0; a < s->q; a++) {
        int j = s->set[a];
        if (mm_is_free(s->settings, j) || s->out->dual[j] <= top) continue;
        top = s->out->dual[j];
        at = j;
    }
    top *= 1.0 - UFS_TIE;
    if (s->steep >= 0 && s->u[s->steep] > 0.0 && s->out->dual[s->steep] >= top) {
        s->waits++;
    } else {
        s->steep = at;
        s->waits = 0;
    }
    return top;
}

static double near_plain(const mm *s, int k, double u)
{
    return fmin(fmax(u, s->plain[k] * exp(-FAR)), s->plain[k] * exp(FAR));
}

/* The mean change of roots on the log scale, of rows and of others: partly that of their own
 * kind, partly that of both. */
static void mean_changes(mm *s, double *mean)
{
    enum { BOTH = 2 };
    double total[3] = {0.0, 0.0, 0.0}, moved[3] = {0.0, 0.0, 0.0}, both;

    for (int k = 0; k < s->p + s->others; k++) {
        int kind = k < s->p ? 0 : 1;
        if (k < s->p && mm_is_free(s->settings, k)) continue;
        double size = sqrt(count_of(s, k)) * s->plain[k];
        s->f[k] = s->u[k] > 0.0 && s->plain[k] > 0.0 ? log(s->plain[k] / s->u[k]) : 0.0;
        total[kind] += size;
        moved[kind] += size * s->f[k];
        total[BOTH] += size;
        moved[BOTH] += size * s->f[k];
    }
    both = total[BOTH] > 0.0 ? moved[BOTH] / total[BOTH] : 0.0;
    for (int kind = 0; kind < 2; kind++) {
        double alone = total[kind] > 0.0 ? moved[kind] / total[kind] : both;
        mean[kind] = s->own * alone + (1.0 - s->own) * both;
    }
}

/* Newton on the diagonal, then Anderson. Caution keeps rows from moving too far together. A row that stays
 * the steepest takes the whole step, with its copies: held back while it is small, it would grow by
 * little more than nothing in each step, and the bound would wait for it. Another row in each step is no
 * such row: moved at once, they would spoil the history, whose map is the same in all steps. */
static void extrapolate(mm *s)
{
    double top = steepest(s), mean[2];

    mean_changes(s, mean);
    for (int k = 0; k < s->p + s->others; k++) {
        if (k < s->p && mm_is_free(s->settings, k)) {
            s->f[k] = s->u[k];
            continue;
        }
        bool steep = s->waits >= WAITS && k < s->p && s->u[k] > 0.0 && s->out->dual[k] >= top;
        double common = mean[k < s->p ? 0 : 1], by = s->f[k] - common;
        double left = fmax(s->left[k], steep ? UFS_ROUNDING : s->caution);
        by = by > 0.0 ? 0.5 * log1p(expm1(2.0 * by) / left) : by / left;
        s->f[k] = near_plain(s, k, s->u[k] * exp(common + by));
    }
    anderson_push(&s->history, s->u, s->f);
    anderson_mix(&s->history, NULL, s->f); /* f is as it is if there is no history yet */
    for (int k = 0; k < s->p + s->others; k++) s->u[k] = near_plain(s, k, s->f[k]);
    s->bold = true;
}

/* ---- after a step ---------------------------------------------------------------------- */

static double smoothed(const mm *s, int k)
{
    bool row = k < s->p;
    double norm = row ? s->out->row[k] : s->out->residual[k - s->p], count = count_of(s, k);
    return sqrt(norm * norm +
                count * count * (row ? s->settings->eps_row : s->settings->eps_residual));
}

/* The objective, smoothed and true. */
static void sum_norms(mm *s)
{
    mm_result *out = s->out;

    out->objective = out->primal = s->rest;
    for (int j = 0; j < s->p; j++) {
        out->objective += mm_price(s, j) * smoothed(s, j);
        out->primal += mm_price(s, j) * out->row[j];
    }
    for (int i = 0; i < s->others; i++) {
        out->objective += smoothed(s, s->p + i);
        out->primal += out->residual[i];
    }
}

/* Row norms (from the dual values where the problem is convex), the roots of the next weights, and
 * sums over both. */
static void measure(mm *s)
{
    mm_result *out = s->out;

    s->linear = 2.0 * s->rest;
    s->over = 0.0;
    for (int k = 0; k < s->p + s->others; k++) {
        bool row = k < s->p;
        double *norm = row ? out->row + k : out->residual + (k - s->p);
        double dual = row ? out->dual[k] : s->other[k - s->p];
        bool free = row && mm_is_free(s->settings, k);
        double price = row ? mm_price(s, k) : 1.0, u = s->u[k];
        if (s->convex && !free) *norm = u * u * dual;
        s->plain[k] = free ? 1.0 : u > 0.0 ? sqrt(smoothed(s, k)) : 0.0;
        s->linear += price * *norm * dual;
        if (u > 0.0) s->over = fmax(s->over, dual);
    }
    sum_norms(s);
    s->merit = out->objective;
}

/* The dual value of Y divided by `over`, or by more where that is better. */
static double bound(const mm *s, double over)
{
    double scale = 1.0 / over;

    if (s->rest > 0.0) scale = fmin(scale, 0.5 * s->linear / s->rest);
    return scale * s->linear - scale * scale * s->rest;
}

/* Certificate, trace and status of an accepted step. */
static void judge(mm *s)
{
    mm_result *out = s->out;
    ufs_run *run = s->run;
    bool by_gap = s->convex && s->settings->accelerate, done;
    double change = R_FINITE(s->best) ? fabs(s->best - s->merit) / fabs(s->merit) : R_NaN;
    double over = s->over, tol = run->tol;
    double measured = by_gap ? 1.0 - fmax(bound(s, over), out->bound) / out->primal : change;

    if (R_FINITE(change)) s->change = change;
    s->idle = change <= 1e-15 ? s->idle + 1 : 0;
    s->looked = measured <= tol || s->accepted % LOOK_EVERY == 0 || s->idle >= IDLE ||
                run->iterations == run->max_iter || !s->settings->accelerate;
    if (s->price != NULL && s->looked) {
        s->price(s->data, s);
        sum_norms(s);
    }
    if (s->convex && (s->looked || s->price == NULL)) {
        for (int j = 0; j < s->p; j++) over = fmax(over, out->dual[j]);
        out->bound = fmax(out->bound, bound(s, over));
    }
    s->level = (s->convex ? s->over : 1.0) * (1.0 + 0.25 * fmax(tol, UFS_TIE));
    out->gap = (out->primal - out->bound) / out->primal;
    if (by_gap) measured = out->gap;
    ufs_trace_add(&run->trace,
                  (double[]){run->iterations, out->objective, out->gap, out->primal, out->bound});
    ufs_run_step(run, out->objective, measured);
    s->calm = measured <= tol ? s->calm + 1 : 0;
    done = s->calm >= (s->clears && s->settings->accelerate ? 2 : 1);
    for (int j = 0; j < s->p && done && s->clears; j++) done = !violated(s, j);
    if (done)
        run->status = s->rough || (s->convex && out->gap < -UFS_TIE) ? UFS_NUMERICAL
                                                                     : UFS_CONVERGED;
    else if (by_gap && s->idle >= IDLE)
        run->status = UFS_STALLED;
}

/* ---- the whole --------------------------------------------------------------------------- */

void mm_init(mm *s, const mm_settings *settings, mm_result *out, ufs_run *run)
{
    static const char *const columns[] = {"iteration", "objective", "gap", "best", "bound", NULL};
    size_t L = (size_t) s->p + (size_t) s->others;

    s->settings = settings;
    s->out = out;
    s->run = run;
    s->set = ufs_ialloc((size_t) s->p);
    s->u = ufs_dzero(L, 1);
    s->other = ufs_dalloc((size_t) s->others, 1);
    ufs_dalloc_each(L, 1, (double **[]){&s->plain, &s->left, &s->f, &s->old, NULL});
    for (size_t k = 0; k < L; k++) s->left[k] = 1.0;
    s->caution = s->entry = LEAST;
    s->best = R_PosInf;
    s->change = 1.0;
    s->steep = -1;
    out->bound = R_NegInf;
    if (s->depth == 0) s->depth = DEPTH;
    anderson_init(&s->history, (int) L, s->depth);
    ufs_trace_named(&run->trace, run->max_iter, columns);
    if (!s->convex) run->trace.n_col = 2;
    run->status = UFS_MAX_ITER;
}

void mm_zero(mm *s)
{
    mm_result *out = s->out;
    double top = 0.0, raw = 0.0;
    bool free = false;

    for (int j = 0; j < s->p; j++) {
        bool none = mm_is_free(s->settings, j);
        raw = fmax(raw, out->dual[j]);
        out->dual[j] = none ? 0.0 : out->dual[j] / mm_factor(s->settings, j);
        top = fmax(top, out->dual[j]);
        free = free || none;
    }
    out->penalty_max = top > 0.0 ? top : raw;
    out->penalty = s->settings->penalty * (s->settings->relative ? out->penalty_max : 1.0);
    for (int j = 0; j < s->p; j++) out->dual[j] /= out->penalty;
    for (int i = 0; i < s->others; i++) s->other[i] = 1.0;
    measure(s);
    out->bound = free ? R_NegInf : bound(s, fmax(s->over, top / out->penalty));
    out->gap = (out->primal - out->bound) / out->primal;
    if (s->settings->accelerate && out->gap <= s->run->tol) s->run->status = UFS_CONVERGED;
}

void mm_renew(mm *s)
{
    s->run->status = UFS_MAX_ITER;
    s->run->iterations = s->calm = 0;
    s->best = R_PosInf;
    s->change = 1.0;
    s->steep = -1;
    move_to_plain(s);
}

void mm_run(mm *s)
{
    ufs_run *run = s->run;
    size_t all = (size_t) (s->p + s->others);
    double over;

    while (run->status == UFS_MAX_ITER && run->iterations < run->max_iter) {
        R_CheckUserInterrupt();
        s->q = 0;
        for (int j = 0; j < s->p; j++)
            if (s->u[j] > 0.0) s->set[s->q++] = j;
        run->lapack = s->minimise(s->data, s);
        if (run->lapack) break;
        run->iterations++;
        measure(s);
        if (s->bold && !(s->merit <= s->best * (1.0 + UFS_ROUNDING))) {
            ufs_run_step(run, s->merit, R_NaN);
            s->caution = fmin(1.0, 2.0 * s->caution);
            if (!s->history.has_last) s->entry *= LEAST; /* it was another set */
            ufs_copy(s->plain, s->old, all);
            move_to_plain(s);
            continue;
        }
        if (!R_FINITE(s->merit)) {
            run->status = UFS_DIVERGED;
            break;
        }
        s->accepted++;
        judge(s);
        s->best = s->merit;
        ufs_copy(s->old, s->plain, all);
        bool last = run->iterations >= run->max_iter - 1;
        if (run->status == UFS_CONVERGED && !last && s->clears && leave(s, 0.0)) {
            /* Without the smoothing of these rows the merit may be a little larger. */
            s->bold = false;
            run->status = UFS_MAX_ITER;
        } else if (run->status != UFS_MAX_ITER || run->iterations == run->max_iter) {
            break;
        } else if (!s->settings->accelerate || last) {
            move_to_plain(s);
        } else if (!enter(s) && !leave(s, WORTH)) {
            extrapolate(s);
        }
    }
    over = fmax(1.0, s->over);
    for (int j = 0; j < s->p && s->convex; j++) over = fmax(over, s->out->dual[j]);
    for (int j = 0; j < s->p && s->convex; j++) s->out->dual[j] /= over;
}

void mm_settle(mm *s)
{
    mm_result *out = s->out;
    ufs_run *run = s->run;

    sum_norms(s);
    out->gap = (out->primal - out->bound) / out->primal;
    run->trace.length--;
    ufs_trace_add(&run->trace,
                  (double[]){run->iterations, out->objective, out->gap, out->primal, out->bound});
    if (run->status == UFS_CONVERGED && s->settings->accelerate && out->gap > run->tol)
        run->status = UFS_NUMERICAL;
}
