/* alfs_columns.c: lambda > 0 on some columns of W only.
 *
 * An iteration is dominated by products with W B (m x m), whose rank is the number of columns in
 * use; so ADMM (alfs_step.c) or Newton's method (alfs_newton.c) work on a set J of columns, that
 * grows until the whole problem is solved. With R = X - X W X of a W that is zero outside J, the
 * columns of G = 2X'RX' - L X' outside J have to be split as P + Q like those inside. P = 0 there
 * serves as long as ||G_.j|| <= beta, so the dual bound of the problem on J holds for the whole one
 * once t is at least max ||G_.j|| / beta over the columns outside, and all of R is scaled, also what no
 * column of J reaches; those above join J. V of the whole problem stands in work's splits, the best W,
 * P, Q, L in the result. */
#include "alfs_work.h"
#include "la.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

/* A set of more than this share of the columns saves less than its own eigenvectors and
 * certificates cost. */
static const double CROWDED = 0.7;
/* The first set: so many columns at least, or 1/8 of them; of up to SMALL columns, all. A smaller one
 * makes further rounds likely, and each has its own eigenvectors. */
enum { FIRST_SET = 32, FIRST_SHARE = 8, SMALL = 45 };
/* Most iterations of ADMM in the first round, which only has to show what columns are in use, and
 * in later ones, after which columns outside have their say. */
enum { FIRST_ROUND = 20, ROUND = 100 };
/* A column of V with a norm within 2 % of where its copy vanishes is counted as in use: the next
 * iterations may bring it back. */
static const double NEARLY = 0.98;
/* The first smoothing of Newton's method, and that after a set has grown, when most
 * columns are in their places. */
static const double SMOOTH = 0.3, SMOOTH_GROWN = 0.05;

typedef struct {
    int n, *column; /* in ascending order */
    bool *inside;   /* of the columns of the whole problem */
    double *norm;   /* ||G_.j|| of the columns outside */
} column_set;

/* What lasts from round to round. */
typedef struct {
    alfs_work *full;
    const ufs_x *x;
    alfs_result *result;
    ufs_run *run;
    column_set set;
    double least, goal; /* the gap that a set is solved to: the last one, and that of this round */
    double smooth;      /* Newton's smoothing */
    double reach;       /* the part of the gap that Newton's method can close */
    bool newton_works, by_newton;
    int round;
} search;

static bool begin(search *s);
static bool solve_on_set(search *s, alfs_work *sub, double **sub_w);
static bool certify_on_set(search *s, alfs_work *sub, const double *sub_w, double *outside);
static void next_set(search *s, double outside);
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
static bool is_live(const alfs_work *work, int j);

bool alfs_grow_weighted(alfs_work *full, const ufs_x *x, bool *newton, alfs_result *result,
                        ufs_run *run)
{
    size_t q = (size_t) full->space.q;
    search s = {.full = full,
                .x = x,
                .result = result,
                .run = run,
                .set = {0, ufs_ialloc(q), (bool *) R_alloc(q, sizeof(bool)), ufs_dalloc(q, 1)},
                .least = 0.5 * full->settings->tol,
                .smooth = SMOOTH,
                .newton_works = *newton};
    bool solved = false, begun = begin(&s);

    while (begun) {
        const void *mark;
        alfs_work sub;
        double *sub_w, outside;

        /* What a round takes is given back, but for the trace: Newton's 60 steps, and those of ADMM. */
        ufs_trace_reserve(&run->trace, FIRST_ROUND + ROUND + 64);
        mark = vmaxget();
        if (!solve_on_set(&s, &sub, &sub_w)) {
            alfs_shrinkage(full, ROWS);
            alfs_shrinkage(full, COLS);
            alfs_weights_gather(full);
            break;
        }
        solved = certify_on_set(&s, &sub, sub_w, &outside);
        if (solved) break;
        for (int i = 0; i < 2; i++)
            if (full->split[i].on)
                scatter(full->split[i].v, sub.split[i].v, (size_t) full->space.m, s.set.n,
                        s.set.column);
        if (s.round == 0) use_live_columns(&sub, result->w, &s.set);
        vmaxset(mark);
        next_set(&s, outside);
    }
    *newton = s.newton_works;
    return solved;
}

/* The first set. False: most columns would be in it. */
static bool begin(search *s)
{
    alfs_work *full = s->full;
    const alfs_value *value = &full->value;
    int all = full->space.q;

    memset(s->set.inside, 0, (size_t) all * sizeof(bool));
    measure_columns(full, &s->set);
    if (s->run->iterations > 0) {
        s->round = 1;
        s->reach = (value->best - value->dual) / value->best;
        s->goal = fmax(s->least, 0.1 * s->reach);
        add_columns(&s->set, all, -1.0, all);
        use_live_columns(full, s->result->w, &s->set);
    } else {
        int some = all / FIRST_SHARE > FIRST_SET ? all / FIRST_SHARE : FIRST_SET;
        int n = violators(&s->set, all, full->split[COLS].penalty);
        if (n > CROWDED * all) return false;
        if (all <= SMALL) some = all;
        s->reach = 1.0;
        s->goal = fmax(s->least, 1e-2);
        add_columns(&s->set, all, 0.0, n > some ? n : some);
    }
    start_outside(full, &s->set);
    return true;
}

/* One round on the set, by the method that is likely to be faster. False: ADMM on all columns
 * is, and work holds a start for it. */
static bool solve_on_set(search *s, alfs_work *sub, double **sub_w)
{
    alfs_work *full = s->full;
    const alfs_result *result = s->result;
    int n = s->set.n;
    size_t m = (size_t) full->space.m;
    double from = s->newton_works ? alfs_newton_from((int) m, n, full->space.r) : 0.0;
    bool pays = s->reach < from, warm = s->by_newton;

    if (s->by_newton && !pays) resume(full, result);
    if ((s->round > 0 && !pays && n > CROWDED * full->space.q) ||
        !set_up_columns(sub, full, n, s->set.column, s->x, sub_w)) {
        if (s->by_newton && pays) resume(full, result);
        return false;
    }
    s->by_newton = s->round > 0 && pays;
    if (s->by_newton) {
        for (size_t j = 0; j < (size_t) n; j++)
            ufs_copy(*sub_w + j * m, result->w + (size_t) s->set.column[j] * m, m);
        if (!warm) s->smooth = fmin(SMOOTH, 10.0 * s->reach);
        s->newton_works = alfs_newton(sub, sub->weights->x, s->goal, warm, &s->smooth, *sub_w,
                                      full->value.dual, s->run);
    } else {
        /* Not further than to where Newton's method takes over. */
        double goal = fmax(s->round > 0 ? s->goal : s->least, fmin(from, 0.1));
        alfs_weights_gather(sub);
        run_columns(sub, s->round > 0 ? ROUND : FIRST_ROUND, goal, *sub_w, full->value.dual,
                    s->run);
    }
    return true;
}

/* What a round has found, for the whole problem. True: the run ends here. */
static bool certify_on_set(search *s, alfs_work *sub, const double *sub_w, double *outside)
{
    alfs_work *full = s->full;
    alfs_value *value = &full->value;
    alfs_result *result = s->result;
    size_t m = (size_t) full->space.m;
    double gap;

    if (sub->value.best < value->best) {
        value->best = sub->value.best;
        memset(result->w, 0, m * (size_t) full->space.q * sizeof(double));
        scatter(result->w, sub_w, m, s->set.n, s->set.column);
    }
    /* Newton's method lowers the gap on the set; what columns outside add to it takes a larger
     * set, not further steps. */
    s->reach = 4.0 * (sub->value.best - sub->value.dual) / sub->value.best;
    alfs_copy_penalties(full, sub);
    alfs_weights_multiplier(full);
    *outside = outside_ratio(full, sub, &s->set);
    alfs_dual_bound(sub, *outside);
    result->certificates++;
    if (sub->value.now > value->dual) {
        value->dual = sub->value.now;
        write_pair(full, sub, &s->set, result);
    }
    value->now = value->dual;
    gap = (value->best - value->dual) / value->best;
    s->reach = fmin(s->reach, gap);
    for (int i = 0; i < 3; i++) full->split[i].residual = sub->split[i].residual;
    value->current = sub->value.current;
    alfs_record(full, value->dual, s->run);
    result->columns = s->set.n;
    return alfs_judge(value->best, gap, full->settings, s->run) ||
           s->run->iterations >= full->settings->max_iter;
}

/* The set and the goal of the next round: more columns if some outside are over beta, else a
 * smaller gap. */
static void next_set(search *s, double outside)
{
    alfs_work *full = s->full;
    double gap = (full->value.best - full->value.dual) / full->value.best;
    int most = 3 * s->set.n > 20 ? 3 * s->set.n : 20;

    start_outside(full, &s->set);
    if (outside > 1.0) {
        add_columns(&s->set, full->space.q, full->split[COLS].penalty, most);
        s->goal = fmax(s->least, fmin(s->goal, 0.1 * gap));
        s->smooth = fmin(SMOOTH_GROWN, 5.0 * s->smooth);
    } else {
        s->goal = gap < 1.1 * s->goal || s->round == 0 ? s->least : fmax(s->least, 0.5 * s->goal);
    }
    s->round++;
}

/* ---- sets of columns ------------------------------------------------------------------- */

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
            alfs_dual_bound(sub, -1.0);
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
    const alfs_space *space = &full->space, *part = &sub->space;
    int m = space->m, r = space->r;
    const void *mark = vmaxget();
    double *turn = ufs_dalloc((size_t) part->rb, (size_t) r), ss, inner, top = 0.0;

    la_gemm('T', 'N', part->rb, r, m, 1.0, part->outer, m, space->left, m, 0.0, turn, part->rb);
    la_gemm('N', 'N', r, r, part->rb, 1.0, sub->core, r, turn, part->rb, 0.0, full->core, r);
    alfs_gradient(full, full->core, &ss, &inner);
    vmaxset(mark);
    measure_columns(full, set);
    for (int j = 0; j < space->q; j++)
        if (!set->inside[j]) top = fmax(top, set->norm[j]);
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

/* ---- W, P, Q, L of the whole problem --------------------------------------------------- */

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
    double *p = ufs_dzero(m, n), *cols = ufs_dzero(m, n);

    alfs_write_dual(sub, p, cols, result->l);
    memset(result->p, 0, m * q * sizeof(double));
    scatter(result->p, p, m, set->n, set->column);
    write_outside(full, set, result->q, sub->value.scale);
    scatter(result->q, cols, m, set->n, set->column);
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

/* Whether column j of Wtilde is not zero, or nearly so. */
static bool is_live(const alfs_work *work, int j)
{
    const alfs_split *cols = &work->split[COLS];
    return !cols->on || cols->norm[j] > NEARLY * cols->penalty / cols->held;
}

bool alfs_newton_pays(const alfs_work *work, double gap)
{
    double from;
    int n = 0;

    for (int j = 0; j < work->space.q; j++) n += is_live(work, j);
    from = n > 0 ? alfs_newton_from(work->space.m, n, work->space.r) : 0.0;
    return gap < from && from > 5.0 * work->settings->tol;
}

/* ---- the problem on a set ----------------------------------------------------------------- */

/* The problem on some columns, with its part of V; best_w: its best W, zero. false: the
 * eigenvectors failed. */
static bool set_up_columns(alfs_work *sub, const alfs_work *full, int n, const int *column,
                           const ufs_x *x, double **best_w)
{
    size_t m = (size_t) full->space.m, q = (size_t) n;
    double *columns = ufs_dalloc(m, q);

    ufs_x_columns(x, (int) q, column, columns);
    *sub = *full;
    if (alfs_space_columns(&sub->space, &full->space, n, columns)) return false;
    alfs_allocate(sub);
    if (full->weights != NULL) {
        sub->weights = (alfs_weights *) R_alloc(1, sizeof(alfs_weights));
        alfs_weights_columns(sub, full, columns);
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
