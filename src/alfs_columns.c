/* alfs_columns.c: lambda > 0 on some columns of W only.
 *
 * An iteration is dominated by products with W B (m x m), whose rank is the number of columns in
 * use; so ADMM (alfs_step.c) or Newton's method (alfs_newton.c) work on a set J of columns, that
 * grows until the whole problem is solved. With R = X - X W X of a W that is zero outside J, the
 * columns of G = 2X'RX' - L X' outside J have to be split as P + Q like those inside. P = 0 there
 * serves as long as ||G_.j|| <= beta, so the dual bound of the problem on J holds for the whole one
 * once t is at least max ||G_.j|| / beta over the columns outside, and all of R is scaled, also
 * what no column of J reaches; those above join J. V of the whole problem stands in work's splits
 * (zero for columns that never were in J), the best W, P, Q, L in the result. */
#include "alfs_work.h"

/* A set of more than this share of the columns saves less than its own eigenvectors and
 * certificates cost. */
static const double CROWDED = 0.7;
/* The first set: so many columns at least, or 1/8 of them; of up to SMALL columns, all. A smaller
 * one makes further rounds likely, and each has its own eigenvectors. */
enum { FIRST_SET = 32, FIRST_SHARE = 8, SMALL = 45 };
/* Most iterations of ADMM in the first round, which only has to show what columns are in use, and
 * in later ones, after which the columns outside are measured again. */
enum { FIRST_ROUND = 20, ROUND = 100 };
/* The first smoothing of Newton's method, and that after a set has grown, when most
 * columns are in their places. */
static const double SMOOTH = 0.3, SMOOTH_GROWN = 0.05;

typedef struct {
    alfs_work *full;
    int n, *column; /* the set, in ascending order */
    bool *inside;   /* of all columns */
    double *norm;   /* ||G_.j|| of all columns */
    double smooth;  /* Newton's smoothing; 0: the last round was ADMM's */
    double reach;   /* the part of the gap that Newton's method can close */
    int round;
} search;

/* ---- sets of columns ------------------------------------------------------------------- */

/* ||G_.j|| of all columns; lift_g holds the gradient of the whole problem. */
static void measure_columns(search *s)
{
    const alfs_space *space = &s->full->space;

    for (int from = 0; from < space->q; from += space->width) {
        int n = alfs_gradient_block(s->full, from);
        la_col_norms(space->m, n, space->block, s->norm + from);
    }
}

/* Up to `most` columns of the largest norm, above `least`. */
static void add_columns(search *s, double least, int most)
{
    int n = 0, q = s->full->space.q;
    const void *mark = vmaxget();
    double *key = ufs_dalloc((size_t) q, 1);
    int *pick = ufs_ialloc((size_t) q);

    for (int j = 0; j < q; j++)
        if (!s->inside[j] && s->norm[j] > least) {
            key[n] = s->norm[j];
            pick[n++] = j;
        }
    revsort(key, pick, n);
    for (int i = 0; i < n && i < most; i++) s->inside[pick[i]] = true;
    s->n = 0;
    for (int j = 0; j < q; j++)
        if (s->inside[j]) s->column[s->n++] = j;
    vmaxset(mark);
}

/* Keeps the columns of the set that the W of `work` or the best W uses; all of them if none is. */
static void use_nonzero_columns(search *s, const alfs_work *work)
{
    size_t m = (size_t) s->full->space.m;
    int nonzero = 0;

    for (int j = 0; j < s->n; j++) {
        int column = s->column[j];
        s->inside[column] = alfs_is_used(work, j) ||
                            la_nrm2(s->full->space.m, s->full->w + (size_t) column * m) > 0.0;
        if (s->inside[column]) s->column[nonzero++] = column;
    }
    if (nonzero > 0)
        s->n = nonzero;
    else
        for (int j = 0; j < s->n; j++) s->inside[s->column[j]] = true;
}

/* ---- W, P, Q, L of the whole problem --------------------------------------------------- */

/* Largest ||G_.j|| / beta of the columns outside; lift_g of the whole problem. The core of
 * W in the coordinates of the whole problem is (P'WQ b) (outer' P). */
static double outside_ratio(search *s, const alfs_work *sub)
{
    alfs_work *full = s->full;
    const alfs_space *space = &full->space, *part = &sub->space;
    int m = space->m, r = space->r;
    double *rotation = ufs_dalloc((size_t) part->rb, (size_t) r), ss, inner, top = 0.0;

    la_mul('T', 'N', part->rb, r, m, 1.0, part->outer, space->left, 0.0, rotation);
    la_mul('N', 'N', r, r, part->rb, 1.0, sub->core, rotation, 0.0, full->core);
    alfs_gradient(full, full->core, &ss, &inner);
    measure_columns(s);
    for (int j = 0; j < space->q; j++)
        if (!s->inside[j]) top = fmax(top, s->norm[j]);
    return top / full->split[COLS].penalty;
}

static void scatter(const search *s, double *to, const double *from)
{
    size_t m = (size_t) s->full->space.m;
    for (int j = 0; j < s->n; j++)
        ufs_copy(to + (size_t) s->column[j] * m, from + (size_t) j * m, m);
}

/* P, Q and L of the last bound into the result; outside the set P = 0 and Q = s G. */
static void write_pair(const search *s, alfs_work *sub)
{
    const alfs_space *space = &s->full->space;
    const alfs_result *result = s->full->result;
    size_t m = (size_t) space->m, n = (size_t) s->n;
    double *p = ufs_dzero(m, n), *q = ufs_dzero(m, n);

    alfs_write_dual(sub, p, q, result->l);
    memset(result->p, 0, m * (size_t) space->q * sizeof(double));
    for (int from = 0; from < space->q; from += space->width) {
        size_t len = m * (size_t) alfs_gradient_block(s->full, from);
        double *to = result->q + (size_t) from * m;
        for (size_t i = 0; i < len; i++) to[i] = sub->value.scale * space->block[i];
    }
    scatter(s, result->p, p);
    scatter(s, result->q, q);
}

/* Copies the columns of the set out of a matrix of all columns; scatter() puts them back. */
static void gather(const search *s, double *to, const double *from)
{
    size_t m = (size_t) s->full->space.m;
    for (int j = 0; j < s->n; j++)
        ufs_copy(to + (size_t) j * m, from + (size_t) s->column[j] * m, m);
}

/* ---- the whole --------------------------------------------------------------------------- */

/* The first set. False: most columns would be in it. */
static bool begin(search *s)
{
    alfs_work *full = s->full;
    const alfs_value *value = &full->value;
    int all = full->space.q, n = 0, share = all / FIRST_SHARE;
    int some = share > FIRST_SET ? share : FIRST_SET;

    memset(s->inside, 0, (size_t) all * sizeof(bool));
    measure_columns(s);
    s->reach = (value->best - value->dual) / value->best;
    if (full->run->iterations > 0) {
        s->round = 1;
        add_columns(s, -1.0, all);
        use_nonzero_columns(s, full);
    } else {
        for (int j = 0; j < all; j++) n += s->norm[j] > full->split[COLS].penalty;
        if (n > CROWDED * all) return false;
        if (all <= SMALL) some = all;
        add_columns(s, 0.0, n > some ? n : some);
    }
    return true;
}

/* The problem on the set, with its part of V and W = 0. False: the eigenvectors failed. */
static bool set_up_columns(const search *s, alfs_work *sub)
{
    const alfs_work *full = s->full;
    size_t m = (size_t) full->space.m, n = (size_t) s->n;
    double *columns = ufs_dalloc(m, n);

    ufs_x_columns(full->problem->x, s->n, s->column, columns);
    for (size_t i = 0; i < m * n; i++) columns[i] /= full->x_divisor;
    *sub = *full;
    sub->x = columns;
    if (alfs_space_columns(&sub->space, &full->space, s->n, columns)) return false;
    alfs_allocate(sub);
    sub->weights = (alfs_weights *) R_alloc(1, sizeof(alfs_weights));
    *sub->weights = *full->weights;
    alfs_weights_init(sub);
    for (int which = 0; which < 2; which++) {
        sub->split[which].v = ufs_dalloc(m, n);
        gather(s, sub->split[which].v, full->split[which].v);
    }
    alfs_shrinkage(sub);
    sub->w = ufs_dzero(m, n);
    sub->value.dual = sub->value.best_then = 0.0;
    return true;
}

/* Lowers the gap on the set tenfold, no further: other columns may have to join first. */
static void solve_on_set(search *s, alfs_work *sub, bool newton)
{
    const alfs_value *value = &s->full->value;
    double gap = (value->best - value->dual) / value->best;
    double goal = fmax(0.5 * sub->run->tol, 0.1 * gap);

    if (newton) {
        gather(s, sub->w, s->full->w);
        if (s->smooth == 0.0) s->smooth = fmin(SMOOTH, 10.0 * s->reach);
        s->full->newton = alfs_newton(sub, goal, &s->smooth);
    } else {
        s->smooth = 0.0;
        alfs_iterate(sub, s->round > 0 ? ROUND : FIRST_ROUND, goal);
    }
}

/* What a round has found, for the whole problem. True: the run ends here. */
static bool certify_on_set(search *s, alfs_work *sub, double *outside)
{
    alfs_work *full = s->full;
    alfs_value *value = &full->value;

    if (sub->value.best < value->best) {
        value->best = sub->value.best;
        memset(full->w, 0, (size_t) full->space.m * (size_t) full->space.q * sizeof(double));
        scatter(s, full->w, sub->w);
    }
    /* Newton's method lowers the gap on the set; what columns outside add to it takes a larger
     * set, not further steps. */
    s->reach = 4.0 * (sub->value.best - sub->value.dual) / sub->value.best;
    for (int i = 0; i < 3; i++) {
        alfs_split *to = &full->split[i];
        to->rho = sub->split[i].rho;
        to->rho_of_v = sub->split[i].rho_of_v;
        to->rho_next = sub->split[i].rho_next;
        to->rho_after = sub->split[i].rho_after;
        to->residual = sub->split[i].residual;
    }
    alfs_weights_multiplier(full);
    *outside = outside_ratio(s, sub);
    alfs_dual_bound(sub, *outside);
    if (sub->value.now > value->dual) {
        value->dual = sub->value.now;
        write_pair(s, sub);
    }
    value->now = value->dual;
    value->current = sub->value.current;
    s->reach = fmin(s->reach, (value->best - value->dual) / value->best);
    alfs_record(full);
    return alfs_judge(full) || full->run->iterations >= full->run->max_iter;
}

bool alfs_grow_weighted(alfs_work *full)
{
    size_t q = (size_t) full->space.q;
    search s = {.full = full,
                .column = ufs_ialloc(q),
                .inside = (bool *) R_alloc(q, sizeof(bool)),
                .norm = ufs_dalloc(q, 1)};
    bool solved = false, begun = begin(&s);

    while (begun && !solved) {
        const void *mark;
        alfs_work sub;
        double outside;
        bool newton = s.round > 0 && full->newton &&
                      s.reach < alfs_newton_from(full->space.m, s.n, full->space.r);

        if (s.round > 0 && !newton && s.n > CROWDED * full->space.q) break;
        /* The memory of a round is given back at its end; the trace must not be part of it. */
        ufs_trace_reserve(&full->run->trace, ROUND + 1);
        mark = vmaxget();
        if (!set_up_columns(&s, &sub)) break;
        solve_on_set(&s, &sub, newton);
        solved = certify_on_set(&s, &sub, &outside);
        for (int i = 0; i < 2; i++)
            if (full->split[i].on) scatter(&s, full->split[i].v, sub.split[i].v);
        if (s.round++ == 0) use_nonzero_columns(&s, &sub);
        vmaxset(mark);
        if (outside > 1.0 && !solved) {
            add_columns(&s, full->split[COLS].penalty, 3 * s.n > 20 ? 3 * s.n : 20);
            s.smooth = fmin(SMOOTH_GROWN, 5.0 * s.smooth);
        }
    }
    if (solved) return true;
    alfs_shrinkage(full);
    return false;
}
