/* mcfs.c: sparse regressions of MCFS (Cai, Zhang, He, KDD 2010): for each column y of
 * Y (n x c, eigenvectors of the graph) the path in t of
 *
 *   min_b 1/2 |y - X b|^2 + ridge/2 |b|^2 + t |b|_1,     X n x p (the paper's transposed),
 *
 * by LARS with drops (Efron et al., Ann. Statist. 32, 2004, with the lasso modification),
 * from t = max |X'y| down to the first knot at which `card` coefficients are non-zero.
 *
 * On the path all active correlations x_j'r - ridge b_j equal t s_j. With G the active
 * Gram matrix (plus ridge), b moves along d = G^{-1} s and every correlation along
 * -X'X_A d, until an inactive one reaches t (join) or a coefficient 0 (drop).
 * The c paths advance in step, so the products X'[X_A d] of all are one dgemm: a step
 * costs 2npc + 2n sum|A| + c |A|^2 flops. Only the active Gram is ever formed. Memory
 * 3pc + 2 c card^2.
 *
 * No screening by |c_j(t)| <= |c_j(t_0)| + |x_j| |r(t) - r(t_0)|: with few samples the residual
 * moves so far in a step that of 83 steps at 50 x 200,000 only 33 could do without all of X. */
#include "mcfs.h"
#include "la.h"

typedef struct {
    int size; /* active variables, at most `most` */
    int *active;
    char *state; /* p: FREE, ACTIVE, or COLLINEAR: left out */
    double *sign, *beta, *dir;
    double *gram, *chol;   /* most x most */
    double *corr;          /* p: x_j'r - ridge b_j */
    double start, penalty; /* t at first, and now */
    int joins;             /* variable to add before the next step, -1 if none */
    bool done;
} path;

enum { FREE = 0, ACTIVE = 1, COLLINEAR = 2 };

typedef struct {
    const mcfs_problem *problem;
    const mcfs_settings *settings;
    int most;            /* capacity of a path: more than card, for variables that join
                        together (ties), but never more than the rank */
    double *col, *other; /* n: columns of an x that is not dense */
    double *move;        /* n x c: X_A d of each running path */
    double *slope;       /* p x c: X'X_A d */
    double *norm2;       /* p: |x_j|^2 */
    path *paths;
} mcfs_work;

/* Lowest index among those within rounding of the largest. */
static int largest_correlation(const mcfs_work *w, const path *s)
{
    double top = 0.0;
    for (int j = 0; j < w->problem->p; j++)
        if (s->state[j] == FREE) top = fmax(top, fabs(s->corr[j]));
    for (int j = 0; j < w->problem->p; j++)
        if (s->state[j] == FREE && fabs(s->corr[j]) >= top * (1.0 - UFS_ROUNDING)) return j;
    return 0;
}

static void init_work(mcfs_work *w, const mcfs_problem *problem, const mcfs_settings *settings)
{
    int n = problem->n, p = problem->p, c = problem->c;
    int rank = settings->ridge > 0.0 || n > p ? p : n;
    size_t N = (size_t) n, P = (size_t) p, C = (size_t) c, M;

    w->problem = problem;
    w->settings = settings;
    w->most = settings->card + 16 < rank ? settings->card + 16 : rank;
    M = (size_t) w->most;
    w->col = ufs_dalloc(problem->x->kind == UFS_X_DENSE ? 0 : N, 1);
    w->other = ufs_dalloc(problem->x->kind == UFS_X_DENSE ? 0 : N, 1);
    w->move = ufs_dalloc(N, C);
    w->slope = ufs_dalloc(P, C);
    w->norm2 = ufs_dalloc(P, 1);
    w->paths = (path *) R_alloc(C, sizeof(path));
    ufs_x_ss(problem->x, w->norm2);
    /* slope is free until the first step: all correlations at once. */
    ufs_x_cross(problem->x, c, problem->y, w->slope);
    for (size_t i = 0; i < C; i++) {
        path *s = w->paths + i;
        s->size = 0;
        s->active = ufs_ialloc(M);
        s->state = R_alloc(P, sizeof(char));
        memset(s->state, FREE, P);
        ufs_dalloc_each(M, 1, (double **[]){&s->sign, &s->dir, NULL});
        s->beta = ufs_dzero(M, 1);
        ufs_dalloc_each(M, M, (double **[]){&s->gram, &s->chol, NULL});
        s->corr = ufs_dalloc(P, 1);
        ufs_copy(s->corr, w->slope + i * P, P);
        s->joins = largest_correlation(w, s);
        s->start = s->penalty = fabs(s->corr[s->joins]);
        /* A response without correlation to any feature has the path b = 0. */
        double y_norm = la_nrm2(n, problem->y + i * N);
        s->done = !(s->penalty > n * DBL_EPSILON * y_norm * sqrt(w->norm2[s->joins]));
    }
}

/* Column a of the factor R of the Gram matrix, from those before it: R'r = gram. Returns the square
 * of its diagonal entry. */
static double factor_column(const mcfs_work *w, path *s, int a)
{
    size_t L = (size_t) w->most;
    const double *gram = s->gram + (size_t) a * L;
    double *r = s->chol + (size_t) a * L, left = gram[a];

    for (int b = 0; b < a; b++) {
        const double *before = s->chol + (size_t) b * L;
        r[b] = (gram[b] - la_dot(b, before, r)) / before[b];
        left -= r[b] * r[b];
    }
    r[a] = sqrt(left);
    return left;
}

static bool add_active(const mcfs_work *w, path *s, int j)
{
    int k = s->size;
    const ufs_x *x = w->problem->x;
    const double *col = ufs_x_column(x, j, w->col);
    double own = w->norm2[j] + w->settings->ridge, total = 0.0, left;
    double *gram = s->gram + (size_t) k * (size_t) w->most;

    for (int i = 0; i < w->problem->n && x->kind == UFS_X_SPARSE; i++) total += col[i];
    for (int a = 0; a < k; a++) gram[a] = ufs_x_dot(x, s->active[a], col, total, w->other);
    gram[k] = own;
    left = factor_column(w, s, k);
    if (!(left > UFS_TIE * own)) return false;
    s->active[k] = j;
    s->sign[k] = s->corr[j] > 0.0 ? 1.0 : -1.0;
    s->beta[k] = 0.0;
    s->state[j] = ACTIVE;
    s->size++;
    return true;
}

/* Adds the variable found by the last step; one that is collinear with the active ones, but
 * for rounding, is left out for good. (Exactly collinear ones never meet the penalty.) */
static void enter(const mcfs_work *w, path *s)
{
    /* No room among so many ties: this knot is the end, and a valid one. */
    bool full = s->joins >= 0 && s->size == w->most;

    if (s->joins >= 0 && !full && !add_active(w, s, s->joins)) s->state[s->joins] = COLLINEAR;
    s->joins = -1;
    s->done = full || s->size == 0;
}

/* t <- t + sign X_A coef. */
static void add_product(const mcfs_work *w, const path *s, double sign, const double *coef,
                        double *t)
{
    double off_mean = 0.0;

    for (int a = 0; a < s->size; a++)
        off_mean += ufs_x_axpy(w->problem->x, s->active[a], sign * coef[a], t, w->col);
    for (int i = 0; i < w->problem->n; i++) t[i] -= off_mean;
}

/* d = G^{-1} s and X_A d. */
static void set_direction(const mcfs_work *w, path *s, double *move)
{
    int k = s->size, ld = w->most;

    for (int a = 0; a < k; a++) {
        const double *r = s->chol + (size_t) a * (size_t) ld;
        s->dir[a] = (s->sign[a] - la_dot(a, r, s->dir)) / r[a];
    }
    for (int a = k - 1; a >= 0; a--) {
        const double *r = s->chol + (size_t) a * (size_t) ld;
        s->dir[a] /= r[a];
        la_axpy(a, -s->dir[a], r, s->dir);
    }
    memset(move, 0, (size_t) w->problem->n * sizeof(double));
    add_product(w, s, 1.0, s->dir, move);
}

/* Smallest step at which an inactive correlation meets the penalty. */
static double next_join(const mcfs_work *w, const path *s, const double *slope, int *joins)
{
    double best = s->penalty;
    *joins = -1;
    for (int j = 0; j < w->problem->p; j++) {
        if (s->state[j] != FREE) continue;
        for (int side = 0; side < 2; side++) {
            double sign = side == 0 ? 1.0 : -1.0;
            double gap = s->penalty - sign * s->corr[j], rate = 1.0 - sign * slope[j];
            /* One that falls as fast as the penalty never meets it. That includes a
             * variable just dropped: d_j s_j < 0 means s_j slope_j > 1 without it
             * (Schur complement), so it can only come back with the other sign. */
            if (!(rate > UFS_TIE)) continue;
            /* Nearly all are farther off than the best so far: no division for them. */
            if (gap > best * rate) continue;
            double step = fmax(gap, 0.0) / rate;
            if (step < best - UFS_ROUNDING * s->penalty) {
                best = step;
                *joins = j;
            }
        }
    }
    return best;
}

/* Smallest step at which an active coefficient, whose sign is that of its correlation,
 * reaches 0. */
static double next_drop(const path *s, int *drops)
{
    double best = R_PosInf;
    *drops = -1;
    for (int a = 0; a < s->size; a++) {
        if (!(s->dir[a] * s->sign[a] < 0.0)) continue;
        double step = -s->beta[a] / s->dir[a];
        if (step < best) {
            best = step;
            *drops = a;
        }
    }
    return best;
}

static void drop_active(const mcfs_work *w, path *s, int at)
{
    int k = s->size;
    size_t L = (size_t) w->most;

    s->state[s->active[at]] = FREE;
    /* Take row and column `at` out of the Gram matrix, and factor the rest again. */
    for (int a = at + 1; a < k; a++) {
        double *from = s->gram + (size_t) a * L, *to = from - L;
        for (int b = 0, t = 0; b <= a; b++)
            if (b != at) to[t++] = from[b];
        s->active[a - 1] = s->active[a];
        s->sign[a - 1] = s->sign[a];
        s->beta[a - 1] = s->beta[a];
    }
    s->size = k - 1;
    for (int a = at; a < s->size; a++) factor_column(w, s, a);
}

static int count_nonzero(const path *s)
{
    int count = 0;
    for (int a = 0; a < s->size; a++) count += s->beta[a] != 0.0;
    return count;
}

static void advance(const mcfs_work *w, path *s, const double *slope)
{
    int joins, drops;
    double step = next_join(w, s, slope, &joins), to_drop = next_drop(s, &drops);

    if (to_drop < step)
        step = to_drop;
    else
        drops = -1;
    for (int a = 0; a < s->size; a++) s->beta[a] += step * s->dir[a];
    for (int j = 0; j < w->problem->p; j++) s->corr[j] -= step * slope[j];
    s->penalty -= step;
    for (int a = 0; a < s->size; a++) s->corr[s->active[a]] = s->penalty * s->sign[a];
    if (drops >= 0)
        drop_active(w, s, drops);
    else
        s->joins = joins;
    s->done = count_nonzero(s) >= w->settings->card || (drops < 0 && joins < 0);
}

/* From scratch: how far the correlations are from t s_j (active) or beyond t
 * (inactive), relative to the largest correlation at the start of the path. */
static double kkt_violation(const mcfs_work *w, const path *s, const double *y, double *residual,
                            double *corr)
{
    int p = w->problem->p;
    double off = 0.0;

    if (!(s->start > 0.0)) return 0.0;
    ufs_copy(residual, y, (size_t) w->problem->n);
    add_product(w, s, -1.0, s->beta, residual);
    ufs_x_cross(w->problem->x, 1, residual, corr);
    for (int a = 0; a < s->size; a++) {
        int j = s->active[a];
        double miss = fabs(corr[j] - w->settings->ridge * s->beta[a] - s->penalty * s->sign[a]);
        if (!(miss <= off)) off = miss;
    }
    for (int j = 0; j < p; j++)
        if (s->state[j] != ACTIVE && !(fabs(corr[j]) - s->penalty <= off))
            off = fabs(corr[j]) - s->penalty;
    return off / s->start;
}

void mcfs_solve(const mcfs_problem *problem, const mcfs_settings *settings, mcfs_result *result,
                ufs_run *run)
{
    static const char *const columns[] = {"iteration", "penalty", "nonzero", NULL};
    int n = problem->n, p = problem->p, c = problem->c, running = c;
    size_t N = (size_t) n, P = (size_t) p;
    int *which = ufs_ialloc((size_t) c);
    mcfs_work w;

    init_work(&w, problem, settings);
    ufs_trace_named(&run->trace, run->max_iter, columns);
    for (int i = 0; i < c; i++) running -= w.paths[i].done;

    while (running > 0 && run->iterations < run->max_iter) {
        double row[3] = {run->iterations + 1, 0.0, 0.0};
        int joining = 0;

        running = 0;
        for (int i = 0; i < c; i++)
            if (!w.paths[i].done && w.paths[i].joins >= 0) which[joining++] = w.paths[i].joins;
        ufs_x_prefetch(problem->x, joining, which);
        for (int i = 0; i < c; i++) {
            path *s = w.paths + i;
            if (!s->done) enter(&w, s);
            if (s->done) continue;
            set_direction(&w, s, w.move + (size_t) running * N);
            which[running++] = i;
        }
        ufs_x_cross(problem->x, running, w.move, w.slope);
        for (int m = 0, left = running; m < left; m++) {
            path *s = w.paths + which[m];
            advance(&w, s, w.slope + (size_t) m * P);
            running -= s->done;
        }
        for (int i = 0; i < c; i++) {
            row[1] = fmax(row[1], w.paths[i].penalty);
            row[2] = fmax(row[2], (double) count_nonzero(w.paths + i));
        }
        ufs_trace_add(&run->trace, row);
        run->iterations++;
        ufs_run_step(run, row[1], row[2]);
    }

    run->status = running > 0 ? UFS_MAX_ITER : UFS_CONVERGED;
    result->kkt = 0.0;
    for (int i = 0; i < c; i++) {
        const path *s = w.paths + i;
        for (int a = 0; a < s->size; a++)
            result->coef[(size_t) s->active[a] + (size_t) i * P] = s->beta[a];
        result->penalty[i] = s->penalty;
        double off = kkt_violation(&w, s, problem->y + (size_t) i * N, w.move, w.slope);
        if (!(off <= result->kkt)) result->kkt = off;
    }
    if (!R_FINITE(result->kkt)) run->status = UFS_NUMERICAL;
}
