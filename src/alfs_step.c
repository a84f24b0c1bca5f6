/* alfs_step.c: one iteration of alfs_solve.c, W and its copies in blocks of columns.
 *
 *   H  = sum over rows and columns of rho copy - L
 *   W  = argmin of the quadratic part = (H + N y) / rr, rr = rho2 + rho3: with E the core
 *        of H and d_ij = 2 a_i^2 b_j^2 + rr, N is the lift of
 *          2 uv (target_ij rr - uv E_ij) / d_ij, uv = a_i (wide) or b_j,
 *        and the core of W is (E + 2 uv target_ij z_ij) / d_ij, z = b_j^2 (wide) or a_i^2
 *   V  = copy + (old rho / new rho)(V - copy) + gamma (W - copy)
 *
 * Two passes over x: one for acc of H, one for W and the new V. */
#include "alfs_work.h"

void alfs_next_penalties(alfs_work *work)
{
    const alfs_settings *settings = work->settings;

    for (int i = 0; i < 3; i++) {
        alfs_split *split = &work->split[i];
        split->rho = split->rho_next;
        split->rho_next = split->rho_after;
        if (settings->paper)
            split->rho_next = split->rho_after = fmin(settings->growth * split->rho,
                                                      settings->rho_most);
    }
}

static double penalty_sum(const alfs_work *work)
{
    double sum = 0.0;
    for (int i = 0; i < 2; i++)
        if (work->split[i].on) sum += work->split[i].rho;
    return sum;
}

/* sum over rows and columns of rho copy - L = (rho (1 - cut) - rho_of_v cut) V; V = 0 if not on. */
static void right_hand_side(const alfs_work *work, int from, int n, double *out)
{
    size_t m = (size_t) work->space.m, start = (size_t) from * m;
    const double *rows = work->split[ROWS].v + start, *of_row = work->split[ROWS].factor;
    const double *cols = work->split[COLS].v + start, *of_col = work->split[COLS].factor + from;

    for (size_t j = 0; j < (size_t) n; j++)
        for (size_t i = 0; i < m; i++)
            out[i + j * m] = of_row[i] * rows[i + j * m] + of_col[j] * cols[i + j * m];
}

void alfs_update_w(alfs_work *work)
{
    alfs_space *space = &work->space;
    size_t R = (size_t) space->r;
    double rr = penalty_sum(work);

    for (int which = 0; which < 2; which++) {
        alfs_split *split = &work->split[which];
        for (int i = 0; i < split->n; i++)
            split->factor[i] = split->rho * (1.0 - split->cut[i]) - split->rho_of_v * split->cut[i];
    }
    alfs_start_acc(space);
    for (int from = 0; from < space->q; from += space->width) {
        int n = alfs_block(space, from);
        right_hand_side(work, from, n, space->block);
        alfs_add_block(space, from, n, space->block);
    }
    if (work->weights != NULL) {
        alfs_weights_update_w(work, rr);
        return;
    }
    alfs_core(space, work->core);
    for (size_t j = 0; j < (size_t) space->rb; j++)
        for (size_t i = 0; i < R; i++) {
            double uv = alfs_uv(space, i, j), ab = space->a[i] * space->b[j];
            double target = space->target[i + j * R], *core = work->core + i + j * R;
            double d = 2.0 * ab * ab + rr, z = space->wide ? space->b[j] : space->a[i];
            work->scratch[i + j * R] = 2.0 * uv * (target * rr - uv * *core) / d;
            *core = (*core + 2.0 * uv * target * z * z) / d;
        }
    alfs_lift(space, work->scratch, work->lift);
}

void alfs_w_block(const alfs_work *work, int from, int n, double *out)
{
    size_t len = (size_t) work->space.m * (size_t) n;
    double scale = 1.0 / penalty_sum(work);

    right_hand_side(work, from, n, out);
    alfs_add_lift(&work->space, work->lift, from, n, out);
    for (size_t i = 0; i < len; i++) out[i] *= scale;
}

/* ---- the copies ---------------------------------------------------------------------- */

/* Sums over every row or column, D being the change of V: ||W||^2, ||new V||^2, <D, V>, ||D||^2;
 * and ||W - copy||^2 in all. */
static void update_split(alfs_work *work, alfs_split *split, int from, int n, bool advance)
{
    size_t m = (size_t) work->space.m, lines = (size_t) split->n;
    double *s0 = split->sum, *s1 = s0 + lines, *s2 = s1 + lines, *s3 = s2 + lines, ss = 0.0;
    const double *cut = split->cut, *fresh = split->fresh, gamma = work->gamma;

    for (size_t j = (size_t) from; j < (size_t) (from + n); j++) {
        const double *w = work->space.block + (j - (size_t) from) * m;
        double *v = split->v + j * m;
        for (size_t i = 0; i < m; i++) {
            size_t line = alfs_line(split, i, j);
            double misfit = w[i] - (v[i] - cut[line] * v[i]), now, d;
            ss += misfit * misfit;
            s0[line] += w[i] * w[i];
            if (!advance) continue;
            now = fresh[line] * v[i] + gamma * w[i];
            d = now - v[i];
            s1[line] += now * now;
            s2[line] += d * v[i];
            s3[line] += d * d;
            v[i] = now;
        }
    }
    split->misfit_ss += ss;
}

/* Residual and penalty of W, which is returned. The new norms and cuts; change =
 * ||new copy - copy||, the difference of (1 - cut) V written so that nothing cancels. */
static double close_split(alfs_split *split, bool advance)
{
    const double *s0 = split->sum, *s1 = s0 + split->n, *s2 = s1 + split->n, *s3 = s2 + split->n;
    double bound = split->penalty / split->rho, change = 0.0, l21 = 0.0;
    double copies = 0.0, w = 0.0, size = 0.0;

    for (int i = 0; i < split->n; i++) {
        double norm = sqrt(s1[i]), cut = norm > bound ? bound / norm : 1.0, f = 1.0 - cut;
        double df = split->cut[i] - cut, old = split->norm[i], keep = 1.0 - split->cut[i];
        w += s0[i];
        l21 += sqrt(s0[i]);
        copies += keep * keep * old * old;
        size += split->cut[i] * split->cut[i] * old * old;
        if (!advance) continue;
        change += f * f * s3[i] + 2.0 * f * df * s2[i] + df * df * old * old;
        split->cut[i] = cut;
        split->norm[i] = norm;
    }
    split->residual = split->misfit_ss > 0.0 ? sqrt(split->misfit_ss / fmax(copies, w)) : 0.0;
    if (advance) {
        split->size = split->rho_of_v * sqrt(size);
        split->change = sqrt(fmax(change, 0.0));
        split->rho_of_v = split->rho;
    }
    return split->penalty * l21;
}

void alfs_update_copies(alfs_work *work, bool advance)
{
    alfs_space *space = &work->space;
    size_t m = (size_t) space->m;
    double current = alfs_loss(space, work->core);

    for (int which = 0; which < 2; which++) {
        alfs_split *split = &work->split[which];
        memset(split->sum, 0, 4 * (size_t) split->n * sizeof(double));
        split->misfit_ss = 0.0;
        for (int i = 0; i < split->n; i++)
            split->fresh[i] = (1.0 - work->gamma) * (1.0 - split->cut[i]) +
                              split->rho_of_v / split->rho * split->cut[i];
    }
    for (int from = 0; from < space->q; from += space->width) {
        int n = alfs_block(space, from);
        alfs_w_block(work, from, n, space->block);
        if (work->settings->paper)
            ufs_copy(work->w + (size_t) from * m, space->block, m * (size_t) n);
        for (int which = 0; which < 2; which++)
            if (work->split[which].on) update_split(work, &work->split[which], from, n, advance);
    }
    for (int which = 0; which < 2; which++)
        if (work->split[which].on) current += close_split(&work->split[which], advance);
    if (work->split[WEIGHTS].on) {
        alfs_weights_update(work, advance);
        current += work->split[WEIGHTS].penalty * work->weights->sum;
    }
    work->value.current = current;
}

void alfs_norms(const alfs_split *split, int m, int q, const double *w, double *out)
{
    if (split->of_row)
        la_row_norms(m, q, w, out);
    else
        la_col_norms(m, q, w, out);
}

void alfs_shrinkage(alfs_work *work)
{
    for (int which = 0; which < 2; which++) {
        alfs_split *split = &work->split[which];
        double bound = split->penalty / split->rho_of_v;
        if (!split->on) continue;
        alfs_norms(split, work->space.m, work->space.q, split->v, split->norm);
        for (int i = 0; i < split->n; i++)
            split->cut[i] = split->norm[i] > bound ? bound / split->norm[i] : 1.0;
    }
}

/* ---- penalties ------------------------------------------------------------------------ */

static void balance(alfs_split *split, double lean)
{
    double dual, ratio;

    if (!split->on || !(split->size > 0.0) || !(split->change > 0.0) || !(split->residual > 0.0))
        return;
    dual = split->rho * split->change / split->size;
    ratio = fmin(10.0, fmax(0.1, lean * sqrt(split->residual / dual)));
    if (ratio > 2.5 || ratio < 1.0 / 2.5) split->rho_after = split->rho_next * ratio;
}

/* Residual balancing: rho follows the square root of primal over dual residual, both
 * relative, within a factor 10, and only if it is off by 2.5. The penalty of the
 * weights also follows the gap: where the lower bound still rises and the objective
 * hardly falls, a smaller rho is what helps, and conversely. */
void alfs_balance(alfs_work *work)
{
    alfs_value *value = &work->value;
    double tiny = 1e-9 * value->best, lean = 1.0;

    if (value->best_then > 0.0) {
        double fall = value->best_then - value->best + tiny;
        double rise = value->dual - value->dual_then + tiny;
        lean = sqrt(fmin(10.0, fmax(0.1, fall / rise)));
    }
    value->best_then = value->best;
    value->dual_then = value->dual;
    balance(&work->split[ROWS], 1.0);
    balance(&work->split[COLS], 1.0);
    balance(&work->split[WEIGHTS], lean);
}

/* ---- what all loops need ---------------------------------------------------------------- */

void alfs_allocate(alfs_work *work)
{
    const alfs_space *space = &work->space;
    size_t r = (size_t) space->r, rb = (size_t) space->rb;
    size_t n_acc = (size_t) space->n_acc, p_acc = (size_t) space->p_acc;

    work->core = ufs_dzero(r, rb);
    work->scratch = ufs_dalloc(r, rb);
    work->lift = ufs_dzero(n_acc, p_acc);
    work->lift_g = ufs_dalloc(n_acc, p_acc);
    for (int which = 0; which < 2; which++) {
        alfs_split *split = &work->split[which];
        split->of_row = which == ROWS;
        split->of_col = which == COLS;
        split->n = which == ROWS ? space->m : space->q;
        size_t lines = (size_t) split->n;
        ufs_dalloc_each(
            lines, 1, (double **[]){&split->cut, &split->factor, &split->fresh, &split->fit, NULL});
        split->norm = ufs_dzero(lines, 1);
        split->sum = ufs_dalloc(lines, 4);
        for (size_t i = 0; i < lines; i++) split->cut[i] = 1.0;
    }
}

void alfs_record(const alfs_work *work)
{
    const alfs_value *value = &work->value;
    double u2 = work->x_divisor * work->x_divisor, dual = *work->bound;

    ufs_trace_add(&work->run->trace,
                  (double[]){work->run->iterations, value->best * u2, dual * u2,
                             (value->best - dual) / value->best, value->current * u2,
                             work->split[ROWS].residual, work->split[COLS].residual,
                             work->split[WEIGHTS].residual});
}
