/* alfs_step.c: iterations of alfs_solve.c, the side of lambda and the certificate. One iteration, W and
 * its copies in blocks of columns:
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

/* ---- the side of lambda ---------------------------------------------------------------------- */

/* W B = Z, its V and T of m x m.
 *
 * With c_j = rho1 b_j^2 + rr, hb = acc outer (the coordinates of H B), lifted =
 * P (2 a_i target_ij), mv = (rho1 Z - L1) outer and
 *   K_ij = 2 a_i^2 / (2 a_i^2 b_j^2 + c_j) (P'(hb + b_j^2 (lifted + mv)))_ij
 * the coordinates of W B are (hb_j + b_j^2 (lifted_j + mv_j - P K_j)) / c_j, and
 *   W = (H + N y) / rr,  N = rr (lifted_j + mv_j - rho1 hb_j / rr - P K_j) / c_j outer'.
 * 4 m^2 rb flops and two passes over V and T an iteration. Algorithm 1 at lambda = 0 keeps its
 * Z = W B, without V and T. */
/* c of T = 1 / max(|cos|, c). */
static const double FLOOR = 1e-6;

/* ---- set-up ---------------------------------------------------------------------- */

/* T_ij = 1 / max(|cos(x_i, x_j)|, FLOOR); the cosine with a zero sample is 0, on the diagonal,
 * too: its row and column of W B are zero at any weight. m^2 r flops. */
static void make_weights(alfs_work *work, alfs_weights *z)
{
    const alfs_space *space = &work->space;
    size_t m = (size_t) space->m;
    double *norm = work->split[ROWS].sum;

    z->t = ufs_dalloc(m, m);
    alfs_samples(space, z->tmp);
    la_row_norms(space->m, space->r, z->tmp, norm);
    for (size_t j = 0; j < (size_t) space->r; j++)
        for (size_t i = 0; i < m; i++)
            if (norm[i] > 0.0) z->tmp[i + j * m] /= norm[i];
    la_gram('N', space->m, space->r, z->tmp, z->t);
    for (size_t i = 0; i < m * m; i++) z->t[i] = 1.0 / fmin(1.0, fmax(fabs(z->t[i]), FLOOR));
}

void alfs_weights_init(alfs_work *work)
{
    const alfs_space *space = &work->space;
    alfs_weights *z = work->weights;
    size_t m = (size_t) space->m, r = (size_t) space->r, rb = (size_t) space->rb;

    z->wb = ufs_dzero(m, rb);
    ufs_dalloc_each(m, rb, (double **[]){&z->tmp, &z->mv, &z->lv, &z->lifted, NULL});
    z->core = ufs_dalloc(r, rb);
    for (size_t j = 0; j < rb; j++)
        for (size_t i = 0; i < r; i++)
            z->core[i + j * r] = 2.0 * space->a[i] * space->target[i + j * r];
    alfs_gemm((alfs_sizes){space->m, space->rb, space->r}, 1.0, space->left, z->core, 0.0,
              z->lifted);
    if (work->split[WEIGHTS].on && z->t == NULL) {
        z->all = ufs_dalloc(m, m);
        make_weights(work, z);
    }
}

/* ---- the iteration ------------------------------------------------------------------ */

/* acc outer, m x rb: the coordinates of W B for the W in acc. */
static const double *coordinates(alfs_work *work)
{
    const alfs_space *space = &work->space;

    if (space->right == NULL) return space->acc;
    alfs_gemm((alfs_sizes){space->m, space->rb, space->k}, 1.0, space->acc, space->right, 0.0,
              work->weights->tmp);
    return work->weights->tmp;
}

/* out = (of_copy Z + of_l (V - Z)) outer. */
static void gather(alfs_work *work, double of_copy, double of_l, double *out)
{
    const alfs_split *split = &work->split[WEIGHTS];
    const alfs_space *space = &work->space;
    alfs_weights *z = work->weights;
    int m = space->m;
    double bound = split->penalty / split->rho_of_v;

    for (size_t i = 0; i < (size_t) m * (size_t) m; i++) {
        double l = prox_clip(split->v[i], bound * z->t[i]);
        z->all[i] = of_copy * (split->v[i] - l) + of_l * l;
    }
    la_mul('N', 'N', m, space->rb, m, 1.0, z->all, space->outer, 0.0, out);
}

/* rr: sum of the penalties of rows and columns. */
static void alfs_weights_update_w(alfs_work *work, double rr)
{
    alfs_space *space = &work->space;
    alfs_weights *z = work->weights;
    int m = space->m, r = space->r, rb = space->rb;
    size_t M = (size_t) m, R = (size_t) r, RB = (size_t) rb;
    double rho1 = work->split[WEIGHTS].rho;
    const double *hb = coordinates(work);

    if (work->split[WEIGHTS].on)
        gather(work, rho1, -work->split[WEIGHTS].rho_of_v, z->mv);
    else
        for (size_t i = 0; i < M * RB; i++) z->mv[i] = rho1 * z->wb[i];
    for (size_t j = 0; j < RB; j++) {
        double b2 = space->b[j] * space->b[j];
        for (size_t i = j * M; i < (j + 1) * M; i++)
            z->wb[i] = hb[i] + b2 * (z->lifted[i] + z->mv[i]);
    }
    la_mul('T', 'N', r, rb, m, 1.0, space->left, z->wb, 0.0, z->core);
    for (size_t j = 0; j < RB; j++)
        for (size_t i = 0; i < R; i++) {
            double b2 = space->b[j] * space->b[j], a2 = 2.0 * space->a[i] * space->a[i];
            double d = a2 * b2 + rho1 * b2 + rr;
            work->core[i + j * R] = z->core[i + j * R] / d;
            z->core[i + j * R] *= a2 / d;
        }
    alfs_gemm((alfs_sizes){m, rb, r}, 1.0, space->left, z->core, 0.0, z->lv); /* P K */
    for (size_t j = 0; j < RB; j++) {
        double b2 = space->b[j] * space->b[j], c = rho1 * b2 + rr;
        for (size_t i = j * M; i < (j + 1) * M; i++) {
            double free = z->lifted[i] + z->mv[i] - z->lv[i];
            z->wb[i] = (hb[i] + b2 * free) / c;
            z->lv[i] = rr * (free - rho1 * hb[i] / rr) / c;
        }
    }
    if (space->right != NULL)
        la_mul('N', 'T', m, space->k, rb, 1.0, z->lv, space->right, 0.0, work->lift);
    else
        ufs_copy(work->lift, z->lv, M * RB);
}

/* W B from its coordinates, into z->all. */
static void product(alfs_work *work, const double *wb)
{
    const alfs_space *space = &work->space;
    la_mul('N', 'T', space->m, space->m, space->rb, 1.0, wb, space->outer, 0.0, work->weights->all);
}

/* V = copy + (rho_of_v / rho)(V - copy) + gamma (W B - copy); the residual, sums for balance(), and
 * sum T |W B|. */
static void alfs_weights_update(alfs_work *work, bool advance)
{
    alfs_split *split = &work->split[WEIGHTS];
    alfs_weights *z = work->weights;
    size_t m = (size_t) work->space.m;
    double ratio = split->rho_of_v / split->rho, to_old = split->penalty / split->rho_of_v;
    double to_new = split->penalty / split->rho, gamma = work->gamma, sum = 0.0;
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0, most = 0.0;

    product(work, z->wb);
    for (size_t i = 0; i < m * m; i++) {
        double wb = z->all[i], t = z->t[i], v = split->v[i];
        double l = prox_clip(v, to_old * t), copy = v - l;
        double now = copy + ratio * l + gamma * (wb - copy), new_copy, misfit;
        l = prox_clip(now, to_new * t);
        new_copy = now - l;
        s0 += (wb - copy) * (wb - copy);
        s1 += wb * wb;
        s2 += (new_copy - copy) * (new_copy - copy);
        s3 += l * l;
        misfit = fabs(wb - new_copy);
        most = misfit > most ? misfit : most;
        sum += t * fabs(wb);
        if (advance) split->v[i] = now;
    }
    z->sum = sum;
    split->residual = s0 > 0.0 ? sqrt(s0 / s1) : 0.0;
    if (!advance) return;
    split->biggest = most;
    split->change = sqrt(s2);
    split->size = split->rho * sqrt(s3);
    split->rho_of_v = split->rho;
}

void alfs_weights_multiplier(alfs_work *work)
{
    gather(work, 0.0, work->split[WEIGHTS].rho_of_v, work->weights->lv);
}

/* sum_ij T_ij |(W B)_ij| for the W whose acc the space holds, and that W B. */
static double alfs_weighted_sum(alfs_work *work)
{
    const alfs_weights *z = work->weights;
    size_t m = (size_t) work->space.m;
    double sum = 0.0;

    product(work, coordinates(work));
    for (size_t i = 0; i < m * m; i++) sum += z->t[i] * fabs(z->all[i]);
    return sum;
}

/* ---- one iteration --------------------------------------------------------------------------- */

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

/* Columns from, ..., from + n - 1 of W. */
static void alfs_w_block(const alfs_work *work, int from, int n, double *out)
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
static void alfs_balance(alfs_work *work)
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

/* ---- the certificate ------------------------------------------------------------------------- */

/* Dual: for any W with residual R = D - A W B and any L in its box |L| <= lambda T,
 * G = 2A'RB' - L B' is split as P + Q; with t at least the largest ratio of a row of P
 * to alpha and of a column of Q to beta, and s in [-1/t, 1/t],
 *   2 s <R, D> - s^2 ||R||^2 <= min F          (s P, s Q, s L are feasible).
 * P is G - L3 with its rows brought within their bounds, L3 being the multiplier of the columns, which
 * obeys its own; or Q is G - L2 with its columns. The other takes the rest, and the better pair counts.
 * (G - L2 - L3 shared by one number lets the longest line count for all.) G is made anew in each pass.
 *
 * Primal: Wtilde with the zero rows of What; with lambda > 0 W with the same zeros. */

void alfs_gradient(alfs_work *work, const double *core, double *ss, double *inner)
{
    alfs_space *space = &work->space;
    alfs_weights *z = work->weights;

    ufs_copy(work->scratch, core, (size_t) space->r * (size_t) space->rb);
    alfs_residual(space, work->scratch, ss, inner);
    alfs_lift(space, work->scratch, work->lift_g);
    if (!work->split[WEIGHTS].on) return;
    if (space->right != NULL)
        la_mul('N', 'T', space->m, space->k, space->rb, -1.0, z->lv, space->right, 1.0,
               work->lift_g);
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

/* Lowers value.best, and writes the W that did it into w, by a sparse candidate. */
static void alfs_primal_bound(alfs_work *work)
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
        la_mul('N', 'N', space->m, space->rb, space->m, 1.0, result->l, space->outer, 0.0,
               work->weights->lv);
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

/* ---- iterations in a row --------------------------------------------------------------------- */

/* On all columns of W or on a set of them, with a
 * certificate every ten and where the gap should be reached. */
/* A column of V with a norm within 2 % of where its copy vanishes is counted as in use: the next
 * iterations may bring it back. */
static const double NEARLY = 0.98;
enum { BALANCE_UNTIL = 2000 }; /* penalties are fixed after this iteration */

bool alfs_is_used(const alfs_work *work, int j)
{
    const alfs_split *cols = &work->split[COLS];
    return !cols->on || cols->norm[j] > NEARLY * cols->penalty / cols->rho_of_v;
}

/* A digit of the gap takes some three steps, whose flops (with four products; small inverses count
 * threefold) are counted here, or iterations of ADMM whose number grows from digit to digit
 * (measured on 70 to 500 samples). A step worth more than sixty iterations never pays. Memory is
 * held to that of 16 matrices m x m, or 160 MB. */
double alfs_newton_from(int m, int q, int r)
{
    double M = m, Q = q, R = r;
    double step = 6.0 * M * Q * Q * Q + M * M * Q * Q + 24.0 * M * M * Q + 100.0 * M * M;
    double iteration = 4.0 * M * M * Q + 6.0 * M * R * Q + 40.0 * M * M;

    if (step > 60.0 * iteration || M * Q * Q > fmax(16.0 * M * M, 2e7)) return 0.0;
    return 1e-3 * pow(33.0 * iteration / step, 3.5);
}

/* Whether Newton's method, which starts from the best W, is likely to be faster from this gap on. */
static bool newton_pays(const alfs_work *work, double gap)
{
    double from;
    int n = 0;

    for (int j = 0; j < work->space.q; j++) n += alfs_is_used(work, j);
    from = n > 0 ? alfs_newton_from(work->space.m, n, work->space.r) : 0.0;
    return gap < fmin(from, 0.1) && from > 5.0 * work->run->tol &&
           work->value.best < work->space.total;
}

void alfs_certify(alfs_work *work)
{
    alfs_value *value = &work->value;
    double before = value->dual;

    alfs_dual_bound(work, -1.0);
    /* With lambda > 0 the best P, Q and L go into the result at once. */
    if (work->x != NULL || !work->split[WEIGHTS].on) return;
    if (value->dual > before)
        alfs_write_dual(work, work->result->p, work->result->q, work->result->l);
    value->now = value->dual;
}

/* A certificate costs about an iteration. Besides the regular ones there is one halfway to the first
 * (lambda = 0), and where the gap will have reached the goal at half its rate of fall so far. */
void alfs_iterate(alfs_work *work, int most, double goal)
{
    alfs_value *value = &work->value;
    ufs_run *run = work->run;
    int due = work->split[WEIGHTS].on ? 0 : ALFS_CHECK_EVERY / 2;

    for (int done = 1;; done++) {
        bool last = ++run->iterations >= run->max_iter || done >= most;
        bool regular = run->iterations % ALFS_CHECK_EVERY == 0;
        bool check = regular || last || done == due;
        alfs_next_penalties(work);
        alfs_update_w(work);
        if (check) {
            double gap;
            alfs_certify(work);
            alfs_primal_bound(work);
            gap = (value->best - value->now) / value->best;
            last = last || gap < fmax(goal, -1e-10) || !(fabs(gap) <= DBL_MAX) ||
                   (work->newton && newton_pays(work, gap));
            if (gap < 1.0)
                due = done +
                      (int) ceil(fmin(2.0 * done * log(gap / goal) / -log(gap), ALFS_CHECK_EVERY));
        }
        alfs_update_copies(work, !last);
        ufs_run_step(run, value->best * work->x_divisor * work->x_divisor,
                     (value->best - *work->bound) / value->best);
        if (last) return;
        alfs_record(work);
        if (regular && run->iterations <= BALANCE_UNTIL) alfs_balance(work);
    }
}

bool alfs_judge(const alfs_work *work)
{
    ufs_status *status = &work->run->status;
    double best = work->value.best, gap = (best - work->value.now) / best;

    if (!(fabs(best) <= DBL_MAX) || !(fabs(gap) <= DBL_MAX))
        *status = UFS_DIVERGED;
    else if (gap < -1e-10)
        *status = UFS_NUMERICAL;
    else if (work->settings->paper || work->run->tol < 0.0 || gap >= work->run->tol)
        return false;
    else
        *status = UFS_CONVERGED;
    return true;
}
