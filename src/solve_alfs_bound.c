/* solve_alfs_bound.c: the certificate of solve_alfs.c.
 *
 * Dual: for any W with residual R = D - A W B and any L in its box |L| <= lambda T,
 * G = 2A'RB' - L B' is split as P + Q; with t at least the largest ratio of a row of P
 * to alpha and of a column of Q to beta, and s in [-1/t, 1/t],
 *   2 s <R, D> - s^2 ||R||^2 <= min F          (s P, s Q, s L are feasible).
 * P, Q and L start from the multipliers, which obey their bounds, and E = G - L2 - L3
 * is shared between P and Q in a few ways; the best counts.
 *
 * Primal: What with the zero columns of Wtilde; with lambda > 0 W with the same zeros, and
 * that repaired (alfs_weights.c). */
#include "alfs_work.h"
#include "la.h"

enum { COPY, W_ITSELF, REPAIRED }; /* forms of a candidate */

static void split_sums(alfs_work *work);
static void error_block(alfs_work *work, int from, int n);
static double worst_ratio(const alfs_work *work, double theta);
static void candidate_block(alfs_work *work, int form, int from, int n, double *out);
static double objective(alfs_work *work, int form);
static bool repair_pays(const alfs_work *work);

/* ---- dual ------------------------------------------------------------------------- */

void alfs_dual_bound(alfs_work *work, double outside)
{
    alfs_value *value = &work->value;
    double ss, rx, rest = work->space.rest, top = R_NegInf;
    bool rows = work->split[ROWS].on, cols = work->split[COLS].on;

    if (work->weights != NULL && work->weights->t != NULL) alfs_weights_multiplier(work);
    alfs_gradient(work, work->core, &ss, &rx);
    /* What of D no column reaches is no part of G, and counts in full. A column outside reaches it, so
     * there it is scaled with all of R. */
    if (outside >= 0.0) {
        ss += rest;
        rx += rest;
        rest = 0.0;
    }
    split_sums(work);
    for (int i = 0; i <= 11; i++) {
        double theta = i <= 10 ? i / 10.0 : value->theta_zero, t, s, d;
        if (!rows || !cols) theta = rows ? 1.0 : 0.0;
        t = fmax(worst_ratio(work, theta), outside);
        /* L may use all of its box, so there is no room to scale up. */
        if (work->weights != NULL && work->weights->t != NULL) t = fmax(t, 1.0);
        s = ss > 0.0 ? rx / ss : 0.0;
        if (fabs(s) * t > 1.0) s = s > 0.0 ? 1.0 / t : -1.0 / t;
        d = rest + 2.0 * s * rx - s * s * ss;
        if (d > top) {
            top = d;
            value->theta = theta;
            value->scale = s;
        }
    }
    value->now = top;
    if (top > value->dual) value->dual = top;
}

void alfs_gradient(alfs_work *work, const double *core, double *ss, double *inner)
{
    alfs_space *space = &work->space;
    alfs_weights *z = work->weights;

    ufs_copy(work->scratch, core, (size_t) space->r * (size_t) space->rb);
    alfs_residual(space, work->scratch, ss, inner);
    alfs_lift(space, work->scratch, work->lift_g);
    if (z == NULL || z->t == NULL) return;
    if (space->right != NULL)
        la_gemm('N', 'T', space->m, space->k, space->rb, -1.0, z->lv, space->m, space->right,
                space->k, 1.0, work->lift_g, space->m);
    else
        for (size_t i = 0; i < (size_t) space->m * (size_t) space->rb; i++)
            work->lift_g[i] -= z->lv[i];
}

/* For every row: ||L2_i||^2, <L2_i, E_i>, ||E_i||^2; for every column the same of L3. */
static void split_sums(alfs_work *work)
{
    const alfs_space *space = &work->space;
    const alfs_split *rows = &work->split[ROWS], *cols = &work->split[COLS];
    size_t m = (size_t) space->m, q = (size_t) space->q;
    double *r0 = work->row_sum, *r1 = r0 + m, *r2 = r1 + m;

    memset(r0, 0, 3 * m * sizeof(double));
    for (int from = 0; from < space->q; from += space->width) {
        int n = space->q - from < space->width ? space->q - from : space->width;
        error_block(work, from, n);
        for (size_t j = 0; j < (size_t) n; j++) {
            size_t at = (size_t) from + j;
            const double *e = space->block + j * m;
            double c0 = 0.0, c1 = 0.0, c2 = 0.0;
            if (rows->on) {
                const double *v = rows->v + at * m;
                for (size_t i = 0; i < m; i++) {
                    double l = rows->held * rows->cut[i] * v[i];
                    r0[i] += l * l;
                    r1[i] += l * e[i];
                }
            }
            if (cols->on) {
                const double *v = cols->v + at * m;
                double f = cols->held * cols->cut[at];
                for (size_t i = 0; i < m; i++) {
                    c0 += v[i] * v[i];
                    c1 += v[i] * e[i];
                }
                c0 *= f * f;
                c1 *= f;
            }
            for (size_t i = 0; i < m; i++) {
                r2[i] += e[i] * e[i];
                c2 += e[i] * e[i];
            }
            work->col_sum[at] = c0;
            work->col_sum[at + q] = c1;
            work->col_sum[at + 2 * q] = c2;
        }
    }
}

/* E = G - L2 - L3 into space->block. */
static void error_block(alfs_work *work, int from, int n)
{
    const alfs_split *rows = &work->split[ROWS], *cols = &work->split[COLS];
    size_t m = (size_t) work->space.m;

    memset(work->space.block, 0, m * (size_t) n * sizeof(double));
    alfs_add_lift(&work->space, work->lift_g, from, n, work->space.block);
    for (size_t j = 0; j < (size_t) n; j++) {
        size_t at = ((size_t) from + j) * m;
        double *e = work->space.block + j * m;
        if (rows->on)
            for (size_t i = 0; i < m; i++) e[i] -= rows->held * rows->cut[i] * rows->v[at + i];
        if (cols->on) {
            double f = cols->held * cols->cut[(size_t) from + j];
            for (size_t i = 0; i < m; i++) e[i] -= f * cols->v[at + i];
        }
    }
}

/* Largest ||row of L2 + theta E|| / alpha or ||column of L3 + (1 - theta) E|| / beta. */
static double worst_ratio(const alfs_work *work, double theta)
{
    size_t m = (size_t) work->space.m, q = (size_t) work->space.q;
    const double *row = work->row_sum, *col = work->col_sum;
    double rows = 0.0, cols = 0.0, rest = 1.0 - theta;

    for (size_t i = 0; i < m; i++)
        rows = fmax(rows, row[i] + theta * (2.0 * row[i + m] + theta * row[i + 2 * m]));
    for (size_t j = 0; j < q; j++)
        cols = fmax(cols, col[j] + rest * (2.0 * col[j + q] + rest * col[j + 2 * q]));
    rows = work->split[ROWS].on ? sqrt(rows) / work->split[ROWS].penalty : 0.0;
    cols = work->split[COLS].on ? sqrt(cols) / work->split[COLS].penalty : 0.0;
    return fmax(rows, cols);
}

void alfs_write_dual(alfs_work *work, double *p, double *q, double *l)
{
    const alfs_space *space = &work->space;
    const alfs_split *rows = &work->split[ROWS], *cols = &work->split[COLS];
    const alfs_split *z = &work->split[WEIGHTS];
    size_t m = (size_t) space->m;
    double scale = work->value.scale, theta = work->value.theta;

    for (int from = 0; from < space->q; from += space->width) {
        int n = space->q - from < space->width ? space->q - from : space->width;
        error_block(work, from, n);
        for (size_t j = 0; j < (size_t) n; j++) {
            size_t at = ((size_t) from + j) * m;
            const double *e = space->block + j * m;
            if (rows->on)
                for (size_t i = 0; i < m; i++) {
                    double l2 = rows->held * rows->cut[i] * rows->v[at + i];
                    p[at + i] = scale * (l2 + theta * e[i]);
                }
            if (cols->on) {
                double f = cols->held * cols->cut[(size_t) from + j];
                for (size_t i = 0; i < m; i++)
                    q[at + i] = scale * (f * cols->v[at + i] + (1.0 - theta) * e[i]);
            }
        }
    }
    if (l == NULL) return;
    for (size_t i = 0; i < m * m; i++) {
        double bound = z->penalty / z->held * work->weights->t[i];
        l[i] = scale * z->held * alfs_clamp(z->v[i], bound);
    }
}

/* ---- primal ------------------------------------------------------------------------ */

void alfs_primal_bound(alfs_work *work, double *best_w)
{
    const alfs_space *space = &work->space;
    alfs_weights *z = work->weights;
    size_t m = (size_t) space->m;
    bool weighted = z != NULL && z->t != NULL;
    int last = weighted ? REPAIRED : COPY;

    for (int form = weighted ? W_ITSELF : COPY; form <= last; form++) {
        double f;
        if (form == REPAIRED) {
            if (!work->repairs || !repair_pays(work)) break;
            for (int from = 0; from < space->q; from += space->width) {
                int n = space->q - from < space->width ? space->q - from : space->width;
                candidate_block(work, W_ITSELF, from, n, z->candidate + (size_t) from * m);
            }
            alfs_repair(work, z->candidate);
        }
        f = objective(work, form);
        if (f < work->value.best || !(fabs(f) <= DBL_MAX)) {
            work->value.best = f;
            for (int from = 0; from < space->q; from += space->width) {
                int n = space->q - from < space->width ? space->q - from : space->width;
                candidate_block(work, form, from, n, best_w + (size_t) from * m);
            }
        }
    }
}

/* Far from the optimum a repaired W is no better, and once the gap is closed it need not be. */
static bool repair_pays(const alfs_work *work)
{
    const alfs_value *value = &work->value;
    double gap = (value->best - value->now) / value->best;
    return gap < 0.05 && gap >= 0.5 * work->settings->tol;
}

/* What, or W itself, with the zero rows of What and the zero columns of Wtilde. */
static void candidate_block(alfs_work *work, int form, int from, int n, double *out)
{
    const alfs_split *rows = &work->split[ROWS], *cols = &work->split[COLS];
    size_t m = (size_t) work->space.m;

    if (form == REPAIRED) {
        const double *given = work->weights->candidate + (size_t) from * m;
        if (out != given) ufs_copy(out, given, m * (size_t) n);
        return;
    }
    if (form == W_ITSELF) alfs_w_block(work, from, n, out);
    for (size_t j = 0; j < (size_t) n; j++) {
        size_t at = ((size_t) from + j) * m;
        double *to = out + j * m, keep = cols->on ? 1.0 - cols->cut[(size_t) from + j] : 1.0;
        if (keep == 0.0)
            memset(to, 0, m * sizeof(double));
        else if (form == W_ITSELF) {
            if (rows->on)
                for (size_t i = 0; i < m; i++)
                    if (rows->cut[i] == 1.0) to[i] = 0.0;
        } else if (rows->on)
            for (size_t i = 0; i < m; i++) to[i] = (1.0 - rows->cut[i]) * rows->v[at + i];
        else
            for (size_t i = 0; i < m; i++) to[i] = keep * cols->v[at + i];
    }
}

/* F of a candidate, in one pass; its core goes to work->scratch. */
static double objective(alfs_work *work, int form)
{
    alfs_space *space = &work->space;
    size_t m = (size_t) space->m;
    double *row = work->row_sum, columns = 0.0, rows = 0.0, f;

    memset(row, 0, m * sizeof(double));
    alfs_start_acc(space);
    for (int from = 0; from < space->q; from += space->width) {
        int n = space->q - from < space->width ? space->q - from : space->width;
        candidate_block(work, form, from, n, space->block);
        alfs_add_block(space, from, n, space->block);
        for (size_t j = 0; j < (size_t) n; j++) {
            const double *w = space->block + j * m;
            double ss = 0.0;
            for (size_t i = 0; i < m; i++) {
                row[i] += w[i] * w[i];
                ss += w[i] * w[i];
            }
            columns += sqrt(ss);
        }
    }
    for (size_t i = 0; i < m; i++) rows += sqrt(row[i]);
    alfs_core(space, work->scratch);
    f = alfs_loss(space, work->scratch) + work->split[ROWS].penalty * rows +
        work->split[COLS].penalty * columns;
    if (work->weights != NULL && work->weights->t != NULL)
        f += work->split[WEIGHTS].penalty * alfs_weighted_sum(work);
    return f;
}

/* ---- the end --------------------------------------------------------------------- */

/* Largest of || 2A'RB' - L B' - P - Q || / || 2A'DB' || and of the complementarity
 * gaps (alpha ||W||_{2,1} - <P, W>) / F, ... at the returned W, P, Q, L. */
double alfs_kkt(alfs_work *work, const alfs_result *result)
{
    alfs_space *space = &work->space;
    alfs_weights *z = work->weights;
    bool weighted = z != NULL && z->t != NULL;
    size_t m = (size_t) space->m, R = (size_t) space->r, RB = (size_t) space->rb;
    double *row = work->row_sum, rows = 0.0, columns = 0.0, diff = 0.0, pw = 0.0, qw = 0.0;
    double lw = 0.0, g0 = 0.0, ss, inner, worst, sum = 0.0;

    alfs_add_all(space, result->w);
    alfs_core(space, work->core);
    if (weighted) {
        /* <L, W B> from the coordinates of both. */
        sum = alfs_weighted_sum(work);
        const double *wb = space->right != NULL ? z->tmp : space->acc;
        alfs_gemm(space->m, space->rb, space->m, 1.0, result->l, space->m, space->outer, space->m,
                  0.0, z->lv, space->m);
        for (size_t i = 0; i < m * RB; i++) lw += z->lv[i] * wb[i];
    }
    for (size_t i = 0; i < R; i++) {
        double g = 2.0 * space->a[i] * space->b[i] * space->target[i + i * R];
        g0 += g * g;
    }
    alfs_gradient(work, work->core, &ss, &inner);
    memset(row, 0, m * sizeof(double));
    for (int from = 0; from < space->q; from += space->width) {
        int n = space->q - from < space->width ? space->q - from : space->width;
        memset(space->block, 0, m * (size_t) n * sizeof(double));
        alfs_add_lift(space, work->lift_g, from, n, space->block);
        for (size_t j = 0; j < (size_t) n; j++) {
            size_t at = ((size_t) from + j) * m;
            double column = 0.0;
            for (size_t i = 0; i < m; i++) {
                double w = result->w[at + i], p = result->p[at + i], q = result->q[at + i];
                double e = space->block[i + j * m] - p - q;
                diff += e * e;
                pw += p * w;
                qw += q * w;
                row[i] += w * w;
                column += w * w;
            }
            columns += sqrt(column);
        }
    }
    for (size_t i = 0; i < m; i++) rows += sqrt(row[i]);
    worst = sqrt(diff / g0);
    worst = fmax(worst, (work->split[ROWS].penalty * rows - pw) / work->value.best);
    worst = fmax(worst, (work->split[COLS].penalty * columns - qw) / work->value.best);
    if (weighted) worst = fmax(worst, (work->split[WEIGHTS].penalty * sum - lw) / work->value.best);
    return worst;
}
