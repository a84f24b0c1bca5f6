/* alfs_step.c: one iteration of solve_alfs.c, W and its copies in blocks of columns.
 *
 *   H  = sum over rows and columns of rho copy - L
 *   W  = argmin of the quadratic part = (H + N y) / rr, rr = rho2 + rho3: with E the core
 *        of H and d_ij = 2 a_i^2 b_j^2 + rr, N is the lift of
 *          2 u_i v_j (target_ij rr - u_i v_j E_ij) / d_ij
 *        and the core of W is (E + 2 u_i v_j target_ij z_ij) / d_ij, z = b_j^2 (wide), a_i^2
 *   V  = copy + (old rho / new rho)(V - copy) + gamma (W - copy)
 *
 * Two passes over x: one for acc of H, one for W and the new V. */
#include "alfs_work.h"
#include "la.h"

static void right_hand_side(const alfs_work *work, int from, int n, double *out);
static double penalty_sum(const alfs_work *work);
static void start_sums(alfs_work *work);
static void step_rows(alfs_work *work, int from, int n, bool advance, double sum[4]);
static void step_cols(alfs_work *work, int from, int n, bool advance, double sum[4], double *change,
                      double *l21);
static double finish_rows(alfs_work *work);
static void close_split(alfs_split *split, const double sum[4], double change, bool advance);
static void balance(alfs_split *split, double lean);

void alfs_clear(alfs_work *work)
{
    size_t m = (size_t) work->space.m, q = (size_t) work->space.q;

    for (int which = 0; which < 2; which++) {
        alfs_split *split = &work->split[which];
        size_t n = which == ROWS ? m : q;
        memset(split->v, 0, m * q * sizeof(double));
        for (size_t i = 0; i < n; i++) {
            split->cut[i] = 1.0;
            split->norm[i] = 0.0;
        }
    }
}

void alfs_next_penalties(alfs_work *work)
{
    const alfs_settings *settings = work->settings;

    for (int i = 0; i < 3; i++) {
        alfs_split *split = &work->split[i];
        split->rho = split->next;
        split->next = split->pending;
        if (settings->paper)
            split->next = split->pending = fmin(settings->growth * split->rho, settings->rho_most);
    }
}

void alfs_update_w(alfs_work *work)
{
    alfs_space *space = &work->space;
    size_t R = (size_t) space->r;
    double rr = penalty_sum(work);

    alfs_start_acc(space);
    for (int from = 0; from < space->q; from += space->width) {
        int n = space->q - from < space->width ? space->q - from : space->width;
        right_hand_side(work, from, n, space->block);
        alfs_add_block(space, from, n, space->block);
    }
    if (work->split[WEIGHTS].on) {
        alfs_weights_update_w(work);
        return;
    }
    alfs_core(space, work->core);
    for (size_t j = 0; j < (size_t) space->rb; j++)
        for (size_t i = 0; i < R; i++) {
            double uv = space->u[i] * space->v[j], ab = space->a[i] * space->b[j];
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

/* sum over rows and columns of rho copy - L = (rho (1 - cut) - held cut) V. */
static void right_hand_side(const alfs_work *work, int from, int n, double *out)
{
    const alfs_split *rows = &work->split[ROWS], *cols = &work->split[COLS];
    size_t m = (size_t) work->space.m;

    if (rows->on)
        for (size_t i = 0; i < m; i++)
            work->row[i] = rows->rho * (1.0 - rows->cut[i]) - rows->held * rows->cut[i];
    for (int j = 0; j < n; j++) {
        size_t at = (size_t) (from + j) * m;
        double *h = out + (size_t) j * m, f = 0.0;
        const double *v2 = rows->v + at, *v3 = cols->v + at;
        if (cols->on)
            f = cols->rho * (1.0 - cols->cut[from + j]) - cols->held * cols->cut[from + j];
        if (rows->on && cols->on)
            for (size_t i = 0; i < m; i++) h[i] = work->row[i] * v2[i] + f * v3[i];
        else if (rows->on)
            for (size_t i = 0; i < m; i++) h[i] = work->row[i] * v2[i];
        else
            for (size_t i = 0; i < m; i++) h[i] = f * v3[i];
    }
}

static double penalty_sum(const alfs_work *work)
{
    double sum = 0.0;
    for (int i = 0; i < 2; i++)
        if (work->split[i].on) sum += work->split[i].rho;
    return sum;
}

/* ---- the copies ---------------------------------------------------------------------- */

void alfs_update_copies(alfs_work *work, bool advance)
{
    alfs_space *space = &work->space;
    alfs_split *rows = &work->split[ROWS], *cols = &work->split[COLS];
    size_t m = (size_t) space->m;
    double of_rows[4] = {0}, of_cols[4] = {0}, change = 0.0, l21 = 0.0;
    double *w_row = work->row_sum + 3 * m;

    start_sums(work);
    for (int from = 0; from < space->q; from += space->width) {
        int n = space->q - from < space->width ? space->q - from : space->width;
        alfs_w_block(work, from, n, space->block);
        if (work->kept != NULL)
            ufs_copy(work->kept + (size_t) from * m, space->block, m * (size_t) n);
        if (rows->on) step_rows(work, from, n, advance, of_rows);
        if (cols->on) step_cols(work, from, n, advance, of_cols, &change, &l21);
    }
    work->value.current = alfs_loss(space, work->core) + (cols->on ? cols->penalty * l21 : 0.0);
    if (rows->on) {
        l21 = 0.0;
        for (size_t i = 0; i < m; i++) l21 += sqrt(w_row[i]);
        work->value.current += rows->penalty * l21;
        close_split(rows, of_rows, advance ? finish_rows(work) : 0.0, advance);
    }
    if (cols->on) close_split(cols, of_cols, change, advance);
    if (work->split[WEIGHTS].on) {
        alfs_weights_update(work, advance);
        work->value.current += work->split[WEIGHTS].penalty * work->weights->sum;
    }
}

static void start_sums(alfs_work *work)
{
    size_t m = (size_t) work->space.m;
    const alfs_split *rows = &work->split[ROWS];

    memset(work->row_sum, 0, 4 * m * sizeof(double));
    if (!rows->on) return;
    for (size_t i = 0; i < m; i++)
        work->row_new[i] = (1.0 - work->gamma) * (1.0 - rows->cut[i]) +
                           rows->held / rows->rho * rows->cut[i];
}

/* sum: ||W - copy||^2, ||copy||^2, ||W||^2, ||V - copy||^2. For every row, with D the change
 * of V: ||new V||^2, <D, V>, ||D||^2 in row_sum, and ||W_i||^2. */
static void step_rows(alfs_work *work, int from, int n, bool advance, double sum[4])
{
    alfs_split *rows = &work->split[ROWS];
    size_t m = (size_t) work->space.m;
    double *r0 = work->row_sum, *r1 = r0 + m, *r2 = r1 + m, *w_row = r2 + m, gamma = work->gamma;

    for (size_t j = 0; j < (size_t) n; j++) {
        const double *w = work->space.block + j * m;
        double *v = rows->v + (size_t) from * m + j * m, s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
        for (size_t i = 0; i < m; i++) {
            double l = rows->cut[i] * v[i], copy = v[i] - l;
            s0 += (w[i] - copy) * (w[i] - copy);
            s1 += copy * copy;
            s2 += w[i] * w[i];
            w_row[i] += w[i] * w[i];
            s3 += l * l;
        }
        sum[0] += s0;
        sum[1] += s1;
        sum[2] += s2;
        sum[3] += s3;
        if (!advance) continue;
        for (size_t i = 0; i < m; i++) {
            double now = work->row_new[i] * v[i] + gamma * w[i], d = now - v[i];
            r0[i] += now * now;
            r1[i] += d * v[i];
            r2[i] += d * d;
            v[i] = now;
        }
    }
}

/* The new norms and cuts of the rows; ||new copy - copy||, which is the difference of
 * (1 - cut) V written so that nothing cancels. */
static double finish_rows(alfs_work *work)
{
    alfs_split *rows = &work->split[ROWS];
    size_t m = (size_t) work->space.m;
    const double *r0 = work->row_sum, *r1 = r0 + m, *r2 = r1 + m;
    double bound = rows->penalty / rows->rho, change = 0.0;

    for (size_t i = 0; i < m; i++) {
        double norm = sqrt(r0[i]), cut = norm > bound ? bound / norm : 1.0;
        double f = 1.0 - cut, df = rows->cut[i] - cut;
        change += f * f * r2[i] + 2.0 * f * df * r1[i] + df * df * rows->norm[i] * rows->norm[i];
        rows->cut[i] = cut;
        rows->norm[i] = norm;
    }
    return sqrt(fmax(change, 0.0));
}

/* The same for columns, each at once; `change` sums ||new copy - copy||^2, l21 ||W_.j||. */
static void step_cols(alfs_work *work, int from, int n, bool advance, double sum[4], double *change,
                      double *l21)
{
    alfs_split *cols = &work->split[COLS];
    size_t m = (size_t) work->space.m;
    double gamma = work->gamma, ratio = cols->held / cols->rho, bound = cols->penalty / cols->rho;

    for (size_t j = 0; j < (size_t) n; j++) {
        const double *w = work->space.block + j * m;
        size_t at = (size_t) from + j;
        double *v = cols->v + at * m, cut = cols->cut[at], keep = 1.0 - cut;
        double f = (1.0 - gamma) * keep + ratio * cut, s0 = 0.0, s2 = 0.0, vv = 0.0;
        double n0 = 0.0, n1 = 0.0, n2 = 0.0;
        for (size_t i = 0; i < m; i++) {
            s0 += (w[i] - keep * v[i]) * (w[i] - keep * v[i]);
            s2 += w[i] * w[i];
            vv += v[i] * v[i];
        }
        *l21 += sqrt(s2);
        sum[0] += s0;
        sum[1] += keep * keep * vv;
        sum[2] += s2;
        sum[3] += cut * cut * vv;
        if (!advance) continue;
        for (size_t i = 0; i < m; i++) {
            double now = f * v[i] + gamma * w[i], d = now - v[i];
            n0 += now * now;
            n1 += d * v[i];
            n2 += d * d;
            v[i] = now;
        }
        n0 = sqrt(n0);
        cols->cut[at] = n0 > bound ? bound / n0 : 1.0;
        cols->norm[at] = n0;
        keep = 1.0 - cols->cut[at];
        f = cut - cols->cut[at];
        *change += fmax(keep * keep * n2 + 2.0 * keep * f * n1 + f * f * vv, 0.0);
    }
    if (advance && from + n == work->space.q) *change = sqrt(*change);
}

static void close_split(alfs_split *split, const double sum[4], double change, bool advance)
{
    split->residual = sum[0] > 0.0 ? sqrt(sum[0] / fmax(sum[1], sum[2])) : 0.0;
    if (!advance) return;
    split->size = split->held * sqrt(sum[3]);
    split->change = change;
    split->held = split->rho;
}

void alfs_shrinkage(alfs_work *work, int which)
{
    alfs_split *split = &work->split[which];
    int m = work->space.m, q = work->space.q, n = which == ROWS ? m : q;
    double bound;

    if (!split->on) return;
    bound = split->penalty / split->held;
    if (which == ROWS)
        la_row_norms(m, q, split->v, split->norm);
    else
        la_col_norms(m, q, split->v, split->norm);
    for (int i = 0; i < n; i++)
        split->cut[i] = split->norm[i] > bound ? bound / split->norm[i] : 1.0;
}

/* ---- penalties ------------------------------------------------------------------------ */

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

static void balance(alfs_split *split, double lean)
{
    double dual, ratio;

    if (!split->on || !(split->size > 0.0) || !(split->change > 0.0) || !(split->residual > 0.0))
        return;
    dual = split->rho * split->change / split->size;
    ratio = fmin(10.0, fmax(0.1, lean * sqrt(split->residual / dual)));
    if (ratio > 2.5 || ratio < 1.0 / 2.5) split->pending = split->next * ratio;
}

/* ---- what all loops need ---------------------------------------------------------------- */

void alfs_allocate(alfs_work *work)
{
    const alfs_space *space = &work->space;
    size_t m = (size_t) space->m, q = (size_t) space->q;
    size_t r = (size_t) space->r, rb = (size_t) space->rb;
    size_t n_acc = (size_t) space->n_acc, p_acc = (size_t) space->p_acc;

    work->core = ufs_dzero(r, rb);
    work->scratch = ufs_dalloc(r, rb);
    work->lift = ufs_dzero(n_acc, p_acc);
    work->lift_g = ufs_dalloc(n_acc, p_acc);
    work->row = ufs_dalloc(m, 1);
    work->row_new = ufs_dalloc(m, 1);
    work->row_sum = ufs_dalloc(m, 4);
    work->col_sum = ufs_dalloc(q, 3);
    for (int which = 0; which < 2; which++) {
        size_t n = which == ROWS ? m : q;
        work->split[which].cut = ufs_dalloc(n, 1);
        work->split[which].norm = ufs_dzero(n, 1);
        for (size_t i = 0; i < n; i++) work->split[which].cut[i] = 1.0;
    }
}

bool alfs_judge(double best, double gap, const alfs_settings *settings, ufs_run *run)
{
    if (!(fabs(best) <= DBL_MAX) || !(fabs(gap) <= DBL_MAX))
        run->status = UFS_DIVERGED;
    else if (gap < -1e-10)
        run->status = UFS_NUMERICAL;
    else if (settings->paper || settings->tol < 0.0 || gap >= settings->tol)
        return false;
    else
        run->status = UFS_CONVERGED;
    return true;
}

void alfs_record(const alfs_work *work, double dual, ufs_run *run)
{
    const alfs_value *value = &work->value;
    double u2 = work->unit * work->unit;

    ufs_trace_add(&run->trace, (double[]){run->iterations, value->best * u2, dual * u2,
                                          (value->best - dual) / value->best, value->current * u2,
                                          work->split[ROWS].residual, work->split[COLS].residual,
                                          work->split[WEIGHTS].residual});
}

void alfs_copy_penalties(alfs_work *to, const alfs_work *from)
{
    for (int i = 0; i < 3; i++) {
        to->split[i].rho = from->split[i].rho;
        to->split[i].held = from->split[i].held;
        to->split[i].next = from->split[i].next;
        to->split[i].pending = from->split[i].pending;
    }
}
