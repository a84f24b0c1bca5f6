/* alfs_columns.c: iterations of solve_alfs.c on some columns of W only.
 *
 * lambda = 0 (alfs_grow): with R = X - X W X of a W that is zero outside the columns J, the
 * columns of G = 2X'RX' outside J have to be split as P + Q like those inside. P = 0 there
 * serves as long as ||G_.j|| <= beta, so the dual bound of the problem on J holds for the
 * whole one once t is at least max ||G_.j|| / beta over the columns outside; those above
 * join J. m^2 |J| flops an iteration instead of m^2 q, and m^2 q for each certificate.
 * V of the whole problem stands in the result's P and Q, the best W in its W.
 *
 * lambda > 0 (alfs_narrow): an iteration is dominated by products with W B (m x m), whose
 * rank is the number of columns in use. */
#include "alfs_work.h"
#include "la.h"
#include <R_ext/Memory.h>
#include <limits.h>
#include <R_ext/Utils.h>

/* A set of more than a fourth of the columns saves nothing, and costs memory. */
enum { MOST_SHARE = 4 };

/* With lambda > 0: nor does one of more than this share; and ADMM on few of them for a while is
 * worth its detour up to that one. */
static const double CROWDED = 0.7, FEW = 0.33;

typedef struct {
    int n, *column; /* in ascending order */
    bool *inside;   /* of the columns of the whole problem */
    double *norm;   /* ||G_.j|| of the columns outside */
} column_set;

static bool set_up_columns(alfs_work *sub, const alfs_work *full, int n, const int *column,
                           const ufs_x *x, double **best_w);
static void measure_columns(alfs_work *full, column_set *set);
static void list_columns(column_set *set, int q);
static void add_columns(column_set *set, int q, double least, int most);
static int violators(const column_set *set, int q, double bound);
static void start_outside(alfs_work *full, const column_set *set);
static void run_columns(alfs_work *sub, int most, double goal, double *best_w, double dual,
                        ufs_run *run);
static void use_live_columns(const alfs_work *sub, const double *w, column_set *set);
static void write_pair(alfs_work *full, alfs_work *sub, const column_set *set, alfs_result *result);
static void resume(alfs_work *full, const alfs_result *result);
static double outside_ratio(alfs_work *full, const alfs_work *sub, column_set *set);
static void write_outside(alfs_work *full, const column_set *set, double *q, double scale);
static void scatter(double *to, const double *from, size_t m, int n, const int *column);
static int live_columns(const alfs_work *work, int *column);
static bool is_live(const alfs_work *work, int j);

/* ---- lambda = 0 ------------------------------------------------------------------------ */

bool alfs_grow(alfs_work *full, const ufs_x *x, alfs_result *result, ufs_run *run)
{
    const alfs_settings *settings = full->settings;
    alfs_value *value = &full->value;
    size_t m = (size_t) full->space.m, q = (size_t) full->space.q;
    column_set set = {0, ufs_ialloc(q), (bool *) R_alloc(q, sizeof(bool)), ufs_dalloc(q, 1)};
    double goal = 1e-2;

    memset(set.inside, 0, q * sizeof(bool));
    alfs_dual_bound(full, 0.0);
    result->certificates++;
    if (full->warm) alfs_primal_bound(full, result->w);
    alfs_record(full, value->dual, run);
    ufs_run_step(run, value->best * full->unit * full->unit,
                 (value->best - value->dual) / value->best);
    if (alfs_judge(value->best, (value->best - value->now) / value->best, settings, run) ||
        settings->max_iter == 0)
        return true;
    measure_columns(full, &set);
    for (int j = 0; j < full->space.q && full->warm; j++) set.inside[j] = is_live(full, j);
    add_columns(&set, full->space.q, 0.0, settings->first);
    start_outside(full, &set);

    for (;;) {
        const void *mark = vmaxget();
        alfs_work sub;
        double *sub_w, outside, gap;
        bool ended;

        if (set.n > full->space.q / MOST_SHARE ||
            !set_up_columns(&sub, full, set.n, set.column, x, &sub_w)) {
            alfs_shrinkage(full, ROWS);
            alfs_shrinkage(full, COLS);
            return false;
        }
        run_columns(&sub, INT_MAX, goal, sub_w, value->dual, run);
        if (sub.value.best < value->best) {
            value->best = sub.value.best;
            memset(result->w, 0, m * q * sizeof(double));
            scatter(result->w, sub_w, m, set.n, set.column);
        }
        outside = outside_ratio(full, &sub, &set);
        alfs_dual_bound(&sub, outside);
        result->certificates++;
        value->now = sub.value.now;
        value->dual = fmax(value->dual, value->now);
        gap = (value->best - value->now) / value->best;
        ended = alfs_judge(value->best, gap, settings, run) || run->status == UFS_DIVERGED ||
                run->iterations >= settings->max_iter;
        alfs_copy_penalties(full, &sub);
        for (int i = 0; i < 2; i++) full->split[i].residual = sub.split[i].residual;
        value->current = sub.value.current;
        alfs_record(full, value->dual, run);
        if (ended) {
            result->columns = set.n;
            alfs_write_dual(&sub, sub.split[ROWS].v, sub.split[COLS].v, NULL);
            write_outside(full, &set, result->q, sub.value.scale);
        }
        if (full->split[ROWS].on) scatter(result->p, sub.split[ROWS].v, m, set.n, set.column);
        scatter(result->q, sub.split[COLS].v, m, set.n, set.column);
        if (ended) return true;
        vmaxset(mark);
        start_outside(full, &set);
        if (outside > 1.0 && violators(&set, full->space.q, full->split[COLS].penalty) + set.n >
                                 full->space.q / MOST_SHARE) {
            alfs_shrinkage(full, ROWS);
            alfs_shrinkage(full, COLS);
            return false;
        }
        if (outside > 1.0)
            add_columns(&set, full->space.q, full->split[COLS].penalty, set.n > 100 ? set.n : 100);
        else
            goal *= 0.5;
        goal = fmin(goal, fmax(0.5 * settings->tol, 0.1 * gap));
    }
}

/* ||G_.j|| of all columns; lift_g holds the gradient of the whole problem. */
static void measure_columns(alfs_work *full, column_set *set)
{
    const alfs_space *space = &full->space;
    size_t m = (size_t) space->m;

    for (int from = 0; from < space->q; from += space->width) {
        int width = space->q - from < space->width ? space->q - from : space->width;
        memset(space->block, 0, m * (size_t) width * sizeof(double));
        alfs_add_lift(space, full->lift_g, from, width, space->block);
        for (int j = 0; j < width; j++)
            set->norm[from + j] = la_nrm2(space->m, space->block + (size_t) j * m);
    }
}

/* Up to `most` columns of the largest norm, above `least`. */
static void add_columns(column_set *set, int q, double least, int most)
{
    int n = 0;
    const void *mark = vmaxget();
    double *key = ufs_dalloc((size_t) q, 1);
    int *pick = ufs_ialloc((size_t) q);

    for (int j = 0; j < q; j++)
        if (!set->inside[j] && set->norm[j] > least) {
            key[n] = set->norm[j];
            pick[n++] = j;
        }
    revsort(key, pick, n);
    for (int i = 0; i < n && i < most; i++) set->inside[pick[i]] = true;
    list_columns(set, q);
    vmaxset(mark);
}

static void list_columns(column_set *set, int q)
{
    set->n = 0;
    for (int j = 0; j < q; j++)
        if (set->inside[j]) set->column[set->n++] = j;
}

static int violators(const column_set *set, int q, double bound)
{
    int n = 0;
    for (int j = 0; j < q; j++) n += !set->inside[j] && set->norm[j] > bound;
    return n;
}

/* V of the columns outside, ready to join: L2 = 0 and L3 = G within its bound. lift_g holds
 * the gradient of the whole problem. */
static void start_outside(alfs_work *full, const column_set *set)
{
    const alfs_space *space = &full->space;
    alfs_split *cols = &full->split[COLS];
    size_t m = (size_t) space->m;

    for (int from = 0; from < space->q; from += space->width) {
        int n = space->q - from < space->width ? space->q - from : space->width;
        memset(space->block, 0, m * (size_t) n * sizeof(double));
        alfs_add_lift(space, full->lift_g, from, n, space->block);
        for (int j = from; j < from + n; j++) {
            const double *g = space->block + (size_t) (j - from) * m;
            double *v = cols->v + (size_t) j * m, by = 1.0 / cols->held;
            if (set->inside[j]) continue;
            if (full->split[ROWS].on)
                memset(full->split[ROWS].v + (size_t) j * m, 0, m * sizeof(double));
            if (set->norm[j] > cols->penalty) by *= cols->penalty / set->norm[j];
            for (size_t i = 0; i < m; i++) v[i] = by * g[i];
        }
    }
}

/* Iterations, at most so many, until the gap on the columns is below the goal, ending at a
 * certificate whose V are kept. */
static void run_columns(alfs_work *sub, int most, double goal, double *best_w, double dual,
                        ufs_run *run)
{
    const alfs_settings *settings = sub->settings;
    alfs_value *value = &sub->value;
    double u2 = sub->unit * sub->unit;

    for (int done = 1;; done++) {
        bool check, last;
        double gap = 1.0;
        run->iterations++;
        last = run->iterations >= settings->max_iter || done >= most;
        check = done % settings->check_every == 0 || last;
        alfs_next_penalties(sub);
        alfs_update_w(sub);
        if (check) {
            alfs_dual_bound(sub, 0.0);
            alfs_primal_bound(sub, best_w);
            gap = (value->best - value->now) / value->best;
            if (gap < goal || !(fabs(gap) <= DBL_MAX)) last = true;
        }
        alfs_update_copies(sub, !last);
        ufs_run_step(run, value->best * u2, (value->best - dual) / value->best);
        if (last) return;
        alfs_record(sub, dual, run);
        if (check && run->iterations <= settings->balance_until) alfs_balance(sub);
    }
}

/* Largest ||G_.j|| / beta of the columns outside; lift_g of the whole problem. The core of
 * W in the coordinates of the whole problem is (P'WQ b) (outer' P). */
static double outside_ratio(alfs_work *full, const alfs_work *sub, column_set *set)
{
    const alfs_space *space = &full->space, *few = &sub->space;
    int m = space->m, r = space->r;
    size_t M = (size_t) m;
    const void *mark = vmaxget();
    double *turn = ufs_dalloc((size_t) few->rb, (size_t) r), ss, inner, top = 0.0;

    la_gemm('T', 'N', few->rb, r, m, 1.0, few->outer, m, space->left, m, 0.0, turn, few->rb);
    la_gemm('N', 'N', r, r, few->rb, 1.0, sub->core, r, turn, few->rb, 0.0, full->core, r);
    alfs_gradient(full, full->core, &ss, &inner);
    for (int from = 0; from < space->q; from += space->width) {
        int n = space->q - from < space->width ? space->q - from : space->width;
        memset(space->block, 0, M * (size_t) n * sizeof(double));
        alfs_add_lift(space, full->lift_g, from, n, space->block);
        for (int j = 0; j < n; j++) {
            double *norm = set->norm + from + j;
            *norm = la_nrm2(m, space->block + (size_t) j * M);
            if (!set->inside[from + j]) top = fmax(top, *norm);
        }
    }
    vmaxset(mark);
    return top / full->split[COLS].penalty;
}

/* Q = s G outside. */
static void write_outside(alfs_work *full, const column_set *set, double *q, double scale)
{
    const alfs_space *space = &full->space;
    size_t M = (size_t) space->m;

    for (int from = 0; from < space->q; from += space->width) {
        int n = space->q - from < space->width ? space->q - from : space->width;
        memset(space->block, 0, M * (size_t) n * sizeof(double));
        alfs_add_lift(space, full->lift_g, from, n, space->block);
        for (int j = 0; j < n; j++)
            if (!set->inside[from + j])
                for (size_t i = 0; i < M; i++)
                    q[i + (size_t) (from + j) * M] = scale * space->block[i + (size_t) j * M];
    }
}

/* ---- lambda > 0 --------------------------------------------------------------------------- */

/* A few iterations of ADMM on the columns of largest gradient, then Newton's method
 * (alfs_newton.c) or ADMM on those in use; others join as in alfs_grow(). Where most columns
 * would be in use sets of them only delay. */
bool alfs_grow_weighted(alfs_work *full, const ufs_x *x, bool *newton, alfs_result *result,
                        ufs_run *run)
{
    const alfs_settings *settings = full->settings;
    alfs_value *value = &full->value;
    int all = full->space.q;
    size_t m = (size_t) full->space.m, q = (size_t) all;
    column_set set = {0, ufs_ialloc(q), (bool *) R_alloc(q, sizeof(bool)), ufs_dalloc(q, 1)};
    double least = 0.5 * settings->tol, goal = fmax(least, 1e-2), smooth = 0.3;
    double gap = (value->best - value->dual) / value->best, near = 1.0;
    bool by_newton = false, begun = run->iterations > 0;

    memset(set.inside, 0, q * sizeof(bool));
    measure_columns(full, &set);
    if (begun) {
        near = gap;
        goal = fmax(least, 0.1 * gap);
        add_columns(&set, all, -1.0, all);
        use_live_columns(full, result->w, &set);
    } else {
        int few = all <= 45 ? all : all / 8 > 32 ? all / 8 : 32;
        int n = violators(&set, all, full->split[COLS].penalty);
        if (n > CROWDED * all) return false;
        add_columns(&set, all, 0.0, n > few ? n : few);
    }
    start_outside(full, &set);
    for (int round = begun;; round++) {
        const void *mark = vmaxget();
        alfs_work sub;
        double *sub_w, outside,
            from = *newton ? alfs_newton_from((int) m, set.n, full->space.r) : 0.0;
        bool ended, pays = near < from, warm = by_newton;

        if (by_newton && !pays) resume(full, result);
        if ((round > 0 && !pays && set.n > CROWDED * all) ||
            !set_up_columns(&sub, full, set.n, set.column, x, &sub_w)) {
            if (by_newton && pays) resume(full, result);
            alfs_shrinkage(full, ROWS);
            alfs_shrinkage(full, COLS);
            alfs_weights_gather(full);
            return false;
        }
        by_newton = round > 0 && pays;
        if (by_newton) {
            for (size_t j = 0; j < (size_t) set.n; j++)
                ufs_copy(sub_w + j * m, result->w + (size_t) set.column[j] * m, m);
            if (!warm) smooth = fmin(0.3, 10.0 * near);
            *newton = alfs_newton(&sub, sub.weights->x, goal, warm, &smooth, sub_w, value->dual,
                                  run);
        } else {
            alfs_weights_gather(&sub);
            run_columns(&sub, round > 0 ? 100 : 20, fmax(round > 0 ? goal : least, fmin(from, 0.1)),
                        sub_w, value->dual, run);
        }
        if (sub.value.best < value->best) {
            value->best = sub.value.best;
            memset(result->w, 0, m * q * sizeof(double));
            scatter(result->w, sub_w, m, set.n, set.column);
        }
        /* What the columns outside cost is not for Newton's method to mend. */
        near = 4.0 * (sub.value.best - sub.value.dual) / sub.value.best;
        alfs_copy_penalties(full, &sub);
        alfs_weights_multiplier(full);
        outside = outside_ratio(full, &sub, &set);
        alfs_dual_bound(&sub, outside);
        result->certificates++;
        if (sub.value.now > value->dual) {
            value->dual = sub.value.now;
            write_pair(full, &sub, &set, result);
        }
        value->now = value->dual;
        gap = (value->best - value->dual) / value->best;
        near = fmin(near, gap);
        ended = alfs_judge(value->best, gap, settings, run) ||
                run->iterations >= settings->max_iter;
        for (int i = 0; i < 3; i++) full->split[i].residual = sub.split[i].residual;
        value->current = sub.value.current;
        alfs_record(full, value->dual, run);
        result->columns = set.n;
        if (ended) return true;
        for (int i = 0; i < 2; i++)
            if (full->split[i].on) scatter(full->split[i].v, sub.split[i].v, m, set.n, set.column);
        if (round == 0) use_live_columns(&sub, result->w, &set);
        vmaxset(mark);
        start_outside(full, &set);
        if (outside > 1.0) {
            add_columns(&set, all, full->split[COLS].penalty, 3 * set.n > 20 ? 3 * set.n : 20);
            goal = fmax(least, fmin(goal, 0.1 * gap));
            smooth = fmin(0.05, 5.0 * smooth);
        } else {
            goal = gap < 1.1 * goal || round == 0 ? least : fmax(least, 0.5 * goal);
        }
    }
}

/* Those in use by the last W, or by the best one so far. */
static void use_live_columns(const alfs_work *sub, const double *w, column_set *set)
{
    size_t m = (size_t) sub->space.m;
    bool any = false;

    for (int j = 0; j < set->n; j++) {
        int column = set->column[j];
        set->inside[column] = is_live(sub, j) || la_nrm2((int) m, w + (size_t) column * m) > 0.0;
        any = any || set->inside[column];
    }
    if (!any)
        for (int j = 0; j < set->n; j++) set->inside[set->column[j]] = true;
    else
        list_columns(set, set->column[set->n - 1] + 1);
}

/* P, Q and L of the last bound into the result. */
static void write_pair(alfs_work *full, alfs_work *sub, const column_set *set, alfs_result *result)
{
    size_t m = (size_t) full->space.m, q = (size_t) full->space.q, n = (size_t) set->n;
    const void *mark = vmaxget();
    double *p = ufs_dzero(m, n), *few = ufs_dzero(m, n);

    alfs_write_dual(sub, p, few, result->l);
    memset(result->p, 0, m * q * sizeof(double));
    scatter(result->p, p, m, set->n, set->column);
    write_outside(full, set, result->q, sub->value.scale);
    scatter(result->q, few, m, set->n, set->column);
    vmaxset(mark);
}

/* V of the whole problem for ADMM, from the best W and its duals. */
static void resume(alfs_work *full, const alfs_result *result)
{
    size_t m = (size_t) full->space.m, len = m * (size_t) full->space.q;
    const double *dual[2] = {result->p, result->q};
    alfs_split *weights = &full->split[WEIGHTS];

    for (int i = 0; i < 3; i++) full->split[i].held = full->split[i].rho;
    for (int which = 0; which < 2; which++) {
        alfs_split *split = &full->split[which];
        if (!split->on) continue;
        for (size_t i = 0; i < len; i++) split->v[i] = result->w[i] + dual[which][i] / split->rho;
    }
    alfs_weights_product(full, result->w, weights->v);
    for (size_t i = 0; i < m * m; i++) weights->v[i] += result->l[i] / weights->rho;
}

/* The columns outside rest at zero, their V untouched; V of the weights is shared. Stops
 * early when the gap on the columns is half the tolerance. */
int alfs_narrow(alfs_work *full, const ufs_x *x, int most, alfs_result *result, ufs_run *run)
{
    const alfs_settings *settings = full->settings;
    alfs_value *value = &full->value;
    const void *mark = vmaxget();
    size_t m = (size_t) full->space.m, q = (size_t) full->space.q;
    int *column = ufs_ialloc(q), n = live_columns(full, column), done = 0;
    alfs_work sub;
    double *sub_w;

    if (most > settings->narrow) most = settings->narrow;
    if (full->weights->t == NULL || n == 0 || n > FEW * full->space.q ||
        most < settings->check_every || !set_up_columns(&sub, full, n, column, x, &sub_w)) {
        vmaxset(mark);
        return 0;
    }
    most -= most % settings->check_every;
    alfs_weights_gather(&sub);
    while (done < most) {
        bool check = ++done % settings->check_every == 0;
        double gap = 1.0;
        run->iterations++;
        alfs_next_penalties(&sub);
        alfs_update_w(&sub);
        if (check) {
            alfs_dual_bound(&sub, 0.0);
            alfs_primal_bound(&sub, sub_w);
            gap = (sub.value.best - sub.value.dual) / sub.value.best;
        }
        alfs_update_copies(&sub, true);
        alfs_record(&sub, value->dual, run);
        ufs_run_step(run, sub.value.best * full->unit * full->unit, gap);
        if (check && run->iterations <= settings->balance_until) alfs_balance(&sub);
        if (check && gap < 0.5 * settings->tol) break;
    }
    alfs_copy_penalties(full, &sub);
    for (int i = 0; i < 2; i++)
        if (full->split[i].on) scatter(full->split[i].v, sub.split[i].v, m, n, column);
    if (sub.value.best < value->best) {
        value->best = sub.value.best;
        memset(result->w, 0, m * q * sizeof(double));
        scatter(result->w, sub_w, m, n, column);
    }
    alfs_shrinkage(full, ROWS);
    alfs_shrinkage(full, COLS);
    alfs_weights_gather(full);
    vmaxset(mark);
    return done;
}

static int live_columns(const alfs_work *work, int *column)
{
    int n = 0;

    for (int j = 0; j < work->space.q; j++)
        if (is_live(work, j)) column[n++] = j;
    return n;
}

/* Whether column j of Wtilde is not zero, or nearly so. */
static bool is_live(const alfs_work *work, int j)
{
    const alfs_split *cols = &work->split[COLS];
    return !cols->on || cols->norm[j] > 0.98 * cols->penalty / cols->held;
}

bool alfs_newton_pays(const alfs_work *work, double gap)
{
    double from;
    int n = 0;

    for (int j = 0; j < work->space.q; j++) n += is_live(work, j);
    from = n > 0 ? alfs_newton_from(work->space.m, n, work->space.r) : 0.0;
    return gap < from && from > 5.0 * work->settings->tol;
}

/* ---- both ---------------------------------------------------------------------------- */

/* The problem on some columns, with its part of V; best_w: its best W, zero. false: the
 * eigenvectors failed. */
static bool set_up_columns(alfs_work *sub, const alfs_work *full, int n, const int *column,
                           const ufs_x *x, double **best_w)
{
    size_t m = (size_t) full->space.m, q = (size_t) n;
    double *few = ufs_dalloc(m, q);

    ufs_x_columns(x, (int) q, column, few);
    *sub = *full;
    if (alfs_space_columns(&sub->space, &full->space, n, few)) return false;
    alfs_allocate(sub);
    if (full->weights != NULL) {
        sub->weights = (alfs_weights *) R_alloc(1, sizeof(alfs_weights));
        alfs_weights_columns(sub, full, few);
    }
    for (int which = 0; which < 2; which++) {
        if (!full->split[which].on) continue;
        sub->split[which].v = ufs_dalloc(m, q);
        for (size_t j = 0; j < q; j++)
            ufs_copy(sub->split[which].v + j * m, full->split[which].v + (size_t) column[j] * m, m);
        alfs_shrinkage(sub, which);
    }
    *best_w = ufs_dzero(m, q);
    sub->value.dual = 0.0;
    sub->value.best_then = 0.0;
    return true;
}

static void scatter(double *to, const double *from, size_t m, int n, const int *column)
{
    for (int j = 0; j < n; j++) ufs_copy(to + (size_t) column[j] * m, from + (size_t) j * m, m);
}
