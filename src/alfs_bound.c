/* alfs_bound.c: the certificate of alfs_solve.c.
 *
 * Dual: for any W with residual R = D - A W B and any L in its box |L| <= lambda T,
 * G = 2A'RB' - L B' is split as P + Q; with t at least the largest ratio of a row of P
 * to alpha and of a column of Q to beta, and s in [-1/t, 1/t],
 *   2 s <R, D> - s^2 ||R||^2 <= min F          (s P, s Q, s L are feasible).
 * P is G - L3 with its rows brought within their bounds, L3 being the multiplier of the columns, which
 * obeys its own; or Q is G - L2 with its columns. The other takes the rest, and the better pair counts.
 * (G - L2 - L3 shared by one number lets the longest line count for all.) G is made anew in each pass.
 *
 * Primal: Wtilde with the zero rows of What; with lambda > 0 W with the same zeros. */
#include "alfs_work.h"

/* ---- dual ------------------------------------------------------------------------- */

void alfs_gradient(alfs_work *work, const double *core, double *ss, double *inner)
{
    alfs_space *space = &work->space;
    alfs_weights *z = work->weights;

    ufs_copy(work->scratch, core, (size_t) space->r * (size_t) space->rb);
    alfs_residual(space, work->scratch, ss, inner);
    alfs_lift(space, work->scratch, work->lift_g);
    if (!work->split[WEIGHTS].on) return;
    if (space->right != NULL)
        la_gemm('N', 'T', space->m, space->k, space->rb, -1.0, z->lv, space->m, space->right,
                space->k, 1.0, work->lift_g, space->m);
    else
        for (size_t i = 0; i < (size_t) space->m * (size_t) space->rb; i++)
            work->lift_g[i] -= z->lv[i];
}

int alfs_gradient_block(const alfs_work *work, int from)
{
    const alfs_space *space = &work->space;
    int n = alfs_block(space, from);

    memset(space->block, 0, (size_t) space->m * (size_t) n * sizeof(double));
    alfs_add_lift(space, work->lift_g, from, n, space->block);
    return n;
}

static double multiplier(const alfs_split *split, size_t m, size_t i, size_t j)
{
    return split->rho_of_v * split->cut[alfs_line(split, i, j)] * split->v[i + j * m];
}

/* Squares of the lines of G - L3 and G - L2; fitted: of what is left of G by the other side. */
static void square_lines(alfs_work *work, bool fitted)
{
    const alfs_space *space = &work->space;
    size_t m = (size_t) space->m;

    for (int which = 0; which < 2; which++)
        memset(work->split[which].sum, 0, (size_t) work->split[which].n * sizeof(double));
    for (int from = 0; from < space->q; from += space->width) {
        int n = alfs_gradient_block(work, from);
        for (int which = 0; which < 2; which++) {
            const alfs_split *split = &work->split[which], *other = &work->split[1 - which];
            if (!split->on) continue;
            for (size_t j = (size_t) from; j < (size_t) (from + n); j++)
                for (size_t i = 0; i < m; i++) {
                    double g = space->block[i + (j - (size_t) from) * m];
                    if (fitted)
                        g -= other->fit[alfs_line(other, i, j)] * (g - multiplier(split, m, i, j));
                    else
                        g -= multiplier(other, m, i, j);
                    split->sum[alfs_line(split, i, j)] += g * g;
                }
        }
    }
}

void alfs_dual_bound(alfs_work *work, double outside)
{
    alfs_value *value = &work->value;
    double ss, rx, rest = work->space.rest, top = R_NegInf;

    if (work->split[WEIGHTS].on) alfs_weights_multiplier(work);
    alfs_gradient(work, work->core, &ss, &rx);
    /* What of D no column reaches is no part of G, and counts in full. A column outside reaches it,
     * so there it is scaled with all of R. */
    if (outside >= 0.0) {
        ss += rest;
        rx += rest;
        rest = 0.0;
    }
    square_lines(work, false);
    for (int which = 0; which < 2; which++) {
        alfs_split *split = &work->split[which];
        for (int i = 0; i < split->n; i++) {
            double norm = sqrt(split->sum[i]);
            split->fit[i] = norm > split->penalty ? split->penalty / norm : (double) split->on;
        }
    }
    square_lines(work, true);
    for (int first = 0; first < 2; first++) {
        const alfs_split *two = &work->split[1 - first];
        /* What was fitted, and L, may use all of their bounds: no room to scale up. */
        double t = work->split[first].on || work->split[WEIGHTS].on ? fmax(outside, 1.0) : outside;
        double s = ss > 0.0 ? rx / ss : 0.0, d;
        if (!two->on) continue;
        for (int i = 0; i < two->n; i++) t = fmax(t, sqrt(two->sum[i]) / two->penalty);
        if (fabs(s) * t > 1.0) s = s > 0.0 ? 1.0 / t : -1.0 / t;
        d = rest + 2.0 * s * rx - s * s * ss;
        if (d > top) {
            top = d;
            value->first = first;
            value->scale = s;
        }
    }
    value->now = top;
    if (top > value->dual) value->dual = top;
}

void alfs_write_dual(alfs_work *work, double *p, double *q, double *l)
{
    const alfs_space *space = &work->space;
    const alfs_split *z = &work->split[WEIGHTS];
    size_t m = (size_t) space->m;
    int first = work->value.first;
    const alfs_split *one = &work->split[first], *two = &work->split[1 - first];
    double scale = work->value.scale, *out[2] = {p, q};

    for (int from = 0; from < space->q; from += space->width) {
        int n = alfs_gradient_block(work, from);
        for (size_t j = (size_t) from; j < (size_t) (from + n); j++)
            for (size_t i = 0; i < m; i++) {
                double g = space->block[i + (j - (size_t) from) * m];
                double own = one->fit[alfs_line(one, i, j)] * (g - multiplier(two, m, i, j));
                out[1 - first][i + j * m] = scale * (g - own);
                out[first][i + j * m] = scale * own;
            }
    }
    if (l == NULL) return;
    for (size_t i = 0; i < m * m; i++) {
        double bound = z->penalty / z->rho_of_v * work->weights->t[i];
        l[i] = scale * z->rho_of_v * prox_clip(z->v[i], bound);
    }
}

/* ---- primal ------------------------------------------------------------------------ */

/* Wtilde, or with lambda > 0 W itself, with the zero rows of What and the zero columns of Wtilde. */
static void candidate_block(alfs_work *work, int from, int n, double *out)
{
    const alfs_split *kept = &work->split[work->split[COLS].on ? COLS : ROWS];
    size_t m = (size_t) work->space.m;
    bool copy = !work->split[WEIGHTS].on;

    if (!copy) alfs_w_block(work, from, n, out);
    for (size_t j = 0; j < (size_t) n; j++)
        for (size_t i = 0; i < m; i++) {
            size_t at = (size_t) from + j;
            if (copy)
                out[i + j * m] = (1.0 - kept->cut[alfs_line(kept, i, at)]) * kept->v[i + at * m];
            for (int which = 0; which < 2; which++) {
                const alfs_split *split = &work->split[which];
                if (split->on && split->cut[alfs_line(split, i, at)] == 1.0) out[i + j * m] = 0.0;
            }
        }
}

double alfs_objective(alfs_work *work, const double *w)
{
    alfs_space *space = &work->space;
    const alfs_split *rows = &work->split[ROWS], *cols = &work->split[COLS];
    size_t m = (size_t) space->m;
    double f;

    memset(rows->sum, 0, m * sizeof(double));
    alfs_start_acc(space);
    for (int from = 0; from < space->q; from += space->width) {
        int n = alfs_block(space, from);
        const double *block = w != NULL ? w + (size_t) from * m : space->block;
        if (w == NULL) candidate_block(work, from, n, space->block);
        alfs_add_block(space, from, n, block);
        la_col_norms(space->m, n, block, cols->sum + from);
        for (size_t j = 0; j < (size_t) n; j++)
            for (size_t i = 0; i < m; i++) rows->sum[i] += block[i + j * m] * block[i + j * m];
    }
    for (size_t i = 0; i < m; i++) rows->sum[i] = sqrt(rows->sum[i]);
    alfs_core(space, work->scratch);
    f = alfs_loss(space, work->scratch) + rows->penalty * la_l21(rows->n, rows->sum, 0.0) +
        cols->penalty * la_l21(cols->n, cols->sum, 0.0);
    if (work->split[WEIGHTS].on) f += work->split[WEIGHTS].penalty * alfs_weighted_sum(work);
    return f;
}

void alfs_primal_bound(alfs_work *work)
{
    const alfs_space *space = &work->space;
    double f = alfs_objective(work, NULL);

    if (!(f < work->value.best) && fabs(f) <= DBL_MAX) return;
    work->value.best = f;
    for (int from = 0; from < space->q; from += space->width)
        candidate_block(work, from, alfs_block(space, from),
                        work->w + (size_t) from * (size_t) space->m);
}

/* ---- the end --------------------------------------------------------------------- */

/* Largest of || 2A'RB' - L B' - P - Q || / || 2A'DB' || and of the complementarity
 * gaps (alpha ||W||_{2,1} - <P, W>) / F, ... at the returned W, P, Q, L. */
double alfs_kkt(alfs_work *work)
{
    const alfs_result *result = work->result;
    alfs_space *space = &work->space;
    size_t m = (size_t) space->m, R = (size_t) space->r;
    double pairing[3] = {0.0}, sum[3] = {0.0}, diff = 0.0, g0 = 0.0, ss, inner, worst;

    alfs_add_all(space, result->w);
    alfs_core(space, work->core);
    if (work->split[WEIGHTS].on) {
        sum[WEIGHTS] = alfs_weighted_sum(work);
        for (size_t i = 0; i < m * m; i++) pairing[WEIGHTS] += result->l[i] * work->weights->all[i];
        la_gemm_checked('N', 'N', space->m, space->rb, space->m, 1.0, result->l, space->m,
                        space->outer, space->m, 0.0, work->weights->lv, space->m);
    }
    for (size_t i = 0; i < R; i++) {
        double g = 2.0 * space->a[i] * space->b[i] * space->target[i + i * R];
        g0 += g * g;
    }
    alfs_gradient(work, work->core, &ss, &inner);
    for (int from = 0; from < space->q; from += space->width) {
        size_t len = m * (size_t) alfs_gradient_block(work, from), at = m * (size_t) from;
        for (size_t i = 0; i < len; i++) {
            double w = result->w[at + i], p = result->p[at + i], q = result->q[at + i];
            double e = space->block[i] - p - q;
            diff += e * e;
            pairing[ROWS] += p * w;
            pairing[COLS] += q * w;
        }
    }
    worst = sqrt(diff / g0);
    for (int which = 0; which < 3; which++) {
        const alfs_split *split = &work->split[which];
        if (which != WEIGHTS) {
            alfs_norms(split, space->m, space->q, result->w, split->norm);
            sum[which] = la_l21(split->n, split->norm, 0.0);
        }
        worst = fmax(worst, (split->penalty * sum[which] - pairing[which]) / work->value.best);
    }
    return worst;
}
