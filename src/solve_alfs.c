/* solve_alfs.c: over-relaxed ADMM in singular value coordinates, certified by a
 * duality gap (solve_alfs_bound.c); and the paper's Algorithm 1 in the same coordinates.
 *
 * Splits W = What (rows), W = Wtilde (columns), W B = Z (weights). Each side keeps
 * one matrix V, from which follow
 *   the copy        shrink(V)              (What, Wtilde, Z)
 *   the multiplier  L = rho (V - copy)     (L2, L3, L1; obeys its norm bound exactly)
 * and one iteration is
 *   H  = 2 A'DB' + sum over sides (rho copy - L)
 *   W  = argmin of the quadratic part: with HQ = H Q, rr = rho2 + rho3,
 *        c_j = rho1 b_j^2 + rr, D_ij = 2 a_i^2 b_j^2 / (2 a_i^2 b_j^2 + c_j),
 *        WQ = (HQ - P (D o P'HQ)) diag(1/c),  W = H/rr + (WQ - HQ/rr) Q'
 *   V  = copy + (old rho / new rho)(V - copy) + gamma (W - copy).
 * ADMM: gamma = 1.6; rho is balanced from the residuals at fixed iterations and
 * fixed later, so the limit is optimal. Algorithm 1: gamma = 1, rho = 1e-6 * 1.1^k.
 *
 * With lambda > 0 an iteration is dominated by products with W B (m x m); where few
 * columns of Wtilde are not zero, most iterations run on those columns of X only
 * (narrow()), and the full problem is taken up again to certify, and to let columns in.
 *
 * X is divided by s_1 on entry (exact equivariance: W -> s_1 W, F -> F / s_1^2), so
 * tolerances and first penalties are free of scale. Algorithm 1 is not free of
 * scale and runs on the matrix as it is. */
#include "alfs_work.h"
#include "la.h"
#include <R_ext/Memory.h>

static void set_up(alfs_work *wk, const alfs_problem *problem,
                   const alfs_settings *settings, alfs_result *result);
static void set_side(alfs_work *wk, int which, double penalty, double rho, double *v);
static void allocate(alfs_work *wk, bool weights);
static void transpose(int n, int p, const double *a, double *out);
static double zero_split(alfs_work *wk);
static void make_weights(alfs_work *wk);
static void warm_start(alfs_work *wk, const alfs_start *start);
static void admm(alfs_work *wk, alfs_result *result, ufs_run *run);
static void paper(alfs_work *wk, alfs_result *result, ufs_run *run);
static bool zero_is_known(alfs_work *wk);
static bool record(alfs_work *wk, int k, alfs_result *result, ufs_run *run);
static void next_penalties(alfs_work *wk);
static void update_w(alfs_work *wk);
static void right_hand_side(alfs_work *wk);
static double penalty_sum(const alfs_work *wk);
static void update_w_weighted(alfs_work *wk);
static void lift_target(alfs_work *wk);
static void update_copies(alfs_work *wk, bool measure);
static void update_side(alfs_work *wk, int which, bool measure);
static void shrinkage(alfs_work *wk, int which);
static void update_weights(alfs_work *wk, bool measure);
static void measure_weights(alfs_work *wk, const double *wb, const double *v,
                            const double *t, size_t n, double sum[4]);
static void gather_weights(alfs_work *wk);
static void balance_sides(alfs_work *wk);
static void balance(side *sd, double lean);
static bool paper_done(alfs_work *wk, double f, double f_old);
static int live_columns(const alfs_work *wk, int *column);
static int narrow(alfs_work *wk, int n_live, const int *column, int most, double *best_w,
                  ufs_run *run, int k);
static bool set_up_columns(alfs_work *sub, const alfs_work *wk, int n_live, const int *column);

void alfs_solve(const alfs_problem *problem, const alfs_settings *settings,
                alfs_result *result, ufs_run *run)
{
    static const char *const columns[] = {"iteration", "objective", "dual", "gap", NULL};
    alfs_work work, *wk = &work;

    set_up(wk, problem, settings, result);
    if (problem->start != NULL) warm_start(wk, problem->start);
    /* A row per check, 6 MB at most. */
    ufs_trace_named(&run->trace, (int) fmin(settings->max_iter / settings->check_every + 3, 2e5),
                    columns);
    run->status = UFS_MAX_ITER;
    if (settings->paper) {
        paper(wk, result, run);
        ufs_copy(result->w, wk->w, wk->len);
    } else {
        admm(wk, result, run);
    }
    alfs_finish(wk, result);
}

static void admm(alfs_work *wk, alfs_result *result, ufs_run *run)
{
    const alfs_settings *set = wk->settings;
    int *column = ufs_ialloc((size_t) wk->q), widen = 3 * set->check_every;

    run->iterations = 0;
    if (set->tol >= 0.0 && zero_is_known(wk)) {
        record(wk, 0, result, run);
        return;
    }
    for (int k = 0;; k++) {
        bool check = k % set->check_every == 0 || k >= set->max_iter;
        run->iterations = k;
        if (k > 0) {
            next_penalties(wk);
            update_w(wk);
        }
        if (check) {
            alfs_dual_bound(wk);
            if (k > 0 || wk->warm) alfs_primal_bound(wk, result->w);
            if (record(wk, k, result, run)) return;
        }
        ufs_hook_step(&run->hook, k, wk->best * wk->unit * wk->unit, result->gap);
        if (k >= set->max_iter) return;
        if (k == 0) continue;
        update_copies(wk, check);
        if (check && k <= set->balance_until) balance_sides(wk);
        if (check && wk->weight != NULL && k >= widen && k < set->balance_until) {
            int n_live = live_columns(wk, column), most = set->max_iter - k - set->check_every;
            if (most > set->narrow) most = set->narrow;
            if (n_live > 0 && n_live <= 0.7 * wk->q && most >= set->check_every) {
                most -= most % set->check_every;
                k += narrow(wk, n_live, column, most, result->w, run, k);
                widen = k + 2 * set->check_every;
            }
        }
    }
}

/* Algorithm 1: the objective and the answer are those of W itself. */
static void paper(alfs_work *wk, alfs_result *result, ufs_run *run)
{
    const alfs_settings *set = wk->settings;
    double f_old;

    alfs_dual_bound(wk);
    record(wk, 0, result, run);
    for (int k = 1; k <= set->max_iter; k++) {
        bool done;
        run->iterations = k;
        next_penalties(wk);
        update_w(wk);
        update_copies(wk, true);
        f_old = wk->best;
        wk->best = alfs_objective(wk, wk->w);
        done = set->tol >= 0.0 && paper_done(wk, wk->best, f_old);
        if (done || k % set->check_every == 0 || k == set->max_iter) {
            alfs_dual_bound(wk);
            record(wk, k, result, run);
            if (run->status > UFS_MAX_ITER) return;
        }
        ufs_hook_step(&run->hook, k, wk->best, fabs(wk->best - f_old) / f_old);
        if (done) {
            run->status = UFS_CONVERGED;
            return;
        }
    }
}

/* Gap, trace row and status; true if the run ends here. */
static bool record(alfs_work *wk, int k, alfs_result *result, ufs_run *run)
{
    double u2 = wk->unit * wk->unit, tol = wk->settings->tol;
    double gap = (wk->best - wk->dual) / wk->best;
    double row[4] = {k, wk->best * u2, wk->dual * u2, gap};

    result->gap = gap;
    ufs_trace_add(&run->trace, row);
    if (!(fabs(wk->best) <= DBL_MAX) || !(fabs(gap) <= DBL_MAX)) {
        run->status = UFS_DIVERGED;
        return true;
    }
    if (gap < -1e-10) {
        run->status = UFS_NUMERICAL;
        return true;
    }
    if (wk->settings->paper || tol < 0.0 || gap >= tol) return false;
    run->status = UFS_CONVERGED;
    return true;
}

/* ---- set-up ---------------------------------------------------------------------- */

static void set_up(alfs_work *wk, const alfs_problem *problem,
                   const alfs_settings *settings, alfs_result *result)
{
    size_t m = (size_t) problem->m, r = (size_t) problem->r;
    double u, cube, rho1;
    bool weights = problem->lambda > 0.0;

    memset(wk, 0, sizeof *wk);
    wk->settings = settings;
    wk->m = problem->m;
    wk->q = problem->q;
    wk->r = wk->rb = problem->r;
    wk->left = wk->outer = problem->left;
    wk->right = problem->right;
    wk->gamma = settings->paper ? 1.0 : 1.6;
    u = wk->unit = settings->paper ? 1.0 : problem->s[0];
    wk->unit_w = problem->right ? u : 1.0;
    cube = u * u * wk->unit_w;
    allocate(wk, weights || settings->paper);

    for (size_t i = 0; i < r; i++) {
        wk->a[i] = problem->s[i] / u;
        wk->b[i] = problem->right ? wk->a[i] : 1.0;
        wk->target[i + i * r] = wk->a[i];
        wk->total += wk->a[i] * wk->a[i];
    }
    wk->left_t = wk->outer_t = ufs_dalloc(r, m);
    transpose(wk->m, wk->r, wk->left, wk->left_t);

    /* rho1: what runs on test sets of 80 to 500 samples ended near. */
    rho1 = 1.3 * pow((double) problem->m, 1.5) * problem->lambda / (u * u);
    set_side(wk, ROWS, problem->alpha / cube, problem->alpha / cube, result->p);
    set_side(wk, COLS, problem->beta / cube, problem->beta / cube, result->q);
    set_side(wk, WEIGHTS, problem->lambda / (u * u), rho1, result->l);
    /* Algorithm 1 keeps its block Z = W X even where lambda = 0. */
    wk->side[WEIGHTS].on = weights || settings->paper;
    if (weights) make_weights(wk);
    if (weights || settings->paper) lift_target(wk);

    wk->best = wk->total;
    wk->theta_zero = zero_split(wk);
    memset(result->w, 0, wk->len * sizeof(double));
}

/* All scratch for the sizes in wk; the transposes of right and, if asked for, what
 * the weights need. */
static void allocate(alfs_work *wk, bool weights)
{
    size_t m = (size_t) wk->m, q = (size_t) wk->q, r = (size_t) wk->r, rb = (size_t) wk->rb;

    wk->len = m * q;
    wk->a = ufs_dalloc(r, 1);
    wk->b = ufs_dalloc(rb, 1);
    wk->target = ufs_dzero(r, rb);
    if (wk->right != NULL) {
        wk->right_t = ufs_dalloc(rb, q);
        transpose(wk->q, wk->rb, wk->right, wk->right_t);
    }
    wk->w = ufs_dzero(m, q);
    wk->spare = ufs_dalloc(m, q);
    wk->small = ufs_dalloc(r, q);
    wk->thin = q < m ? NULL : ufs_dalloc(m, rb);
    wk->k = ufs_dalloc(r, rb);
    wk->row = ufs_dalloc(m, 1);
    wk->col = ufs_dalloc(q, 1);
    wk->row_sum = ufs_dalloc(m, 3);
    wk->col_sum = ufs_dalloc(q, 3);
    if (!weights) return;
    if (wk->thin == NULL) wk->thin = ufs_dalloc(m, rb);
    wk->wq = ufs_dalloc(m, rb);
    wk->tmp = ufs_dalloc(m, rb);
    wk->mv = ufs_dzero(m, rb);
    wk->lv = ufs_dalloc(m, rb);
    wk->lifted = ufs_dalloc(m, rb);
}

static void set_side(alfs_work *wk, int which, double penalty, double rho, double *v)
{
    side *sd = &wk->side[which];
    size_t n = (size_t) (which == COLS ? wk->q : wk->m);

    sd->on = penalty > 0.0;
    sd->penalty = penalty;
    sd->rho = wk->settings->paper ? 1e-6 : rho;
    sd->held = sd->next = sd->pending = sd->rho;
    sd->v = v;
    if (v != NULL)
        memset(v, 0, (which == WEIGHTS ? n * n : wk->len) * sizeof(double));
    if (which == WEIGHTS) return;
    sd->cut = ufs_dalloc(n, 1);
    sd->norm = ufs_dalloc(n, 1);
    for (size_t i = 0; i < n; i++) sd->cut[i] = 1.0;
}

static void transpose(int n, int p, const double *a, double *out)
{
    size_t N = (size_t) n, P = (size_t) p;
    for (size_t j = 0; j < P; j++)
        for (size_t i = 0; i < N; i++) out[j + i * P] = a[i + j * N];
}

/* The share of G0 = 2A'DB' that P takes to prove W = 0: if alpha / alpha_max + beta /
 * beta_max >= 1, splitting by these shares is feasible. (alpha_max and beta_max are
 * the largest row and column norms of G0.) */
static double zero_split(alfs_work *wk)
{
    double top[2] = {0.0, 0.0}, share[2];

    for (int which = 0; which < 2; which++) {
        const double *base = which == ROWS ? wk->left : wk->right;
        size_t n = (size_t) (which == ROWS ? wk->m : wk->q);
        for (size_t i = 0; i < n; i++) {
            double sum = 0.0;
            for (size_t j = 0; j < (size_t) wk->r; j++) {
                double g = base == NULL ? (double) (i == j) : base[i + j * n];
                g *= 2.0 * wk->a[j] * wk->b[j] * wk->a[j];
                sum += g * g;
            }
            top[which] = fmax(top[which], sqrt(sum));
        }
        share[which] = wk->side[which].penalty / top[which];
    }
    return share[ROWS] / (share[ROWS] + share[COLS]);
}

/* T_ij = 1 / max(|cos(x_i, x_j)|, floor), 1 on the diagonal; the cosine with a
 * zero sample is 0. m^2 r flops. Also X itself (q x m) for alfs_primal_bound(). */
static void make_weights(alfs_work *wk)
{
    size_t m = (size_t) wk->m, q = (size_t) wk->q, r = (size_t) wk->r, few = q / 4 + 1;
    double *y = wk->tmp, *t, strip = 32768.0 / (double) m;

    wk->width = strip < 8.0 ? 8 : strip > (double) m ? wk->m : (int) strip;
    wk->strip = ufs_dalloc(m, (size_t) wk->width);
    wk->weight = t = ufs_dalloc(m, m);
    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < m; i++) y[i + j * m] = wk->left[i + j * m] * wk->a[j];
    wk->sample = ufs_dalloc(q, m);
    transpose(wk->m, wk->r, y, wk->lifted);
    alfs_gemm(wk->q, wk->m, wk->r, 1.0, wk->right, wk->q, wk->lifted, wk->r, 0.0, wk->sample, wk->q);
    la_row_norms(wk->m, wk->r, y, wk->row);
    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < m; i++)
            if (wk->row[i] > 0.0) y[i + j * m] /= wk->row[i];
    la_gram('N', wk->m, wk->r, y, t);
    for (size_t j = 0; j < m; j++) {
        for (size_t i = 0; i < m; i++) {
            double cosine = fabs(t[i + j * m]);
            t[i + j * m] = 1.0 / fmin(1.0, fmax(cosine, wk->settings->floor));
        }
        t[j + j * m] = 1.0;
    }
    wk->key = ufs_dalloc(m, 1);
    wk->pick = ufs_ialloc(m);
    wk->live = ufs_ialloc(q);
    wk->gram = ufs_dalloc(few, few);
    wk->few = ufs_dalloc(q, few);
    wk->one = ufs_dalloc(q, 1);
    wk->rhs = ufs_dalloc(few, 1);
}

/* V = copy + L / rho from the W, P and Q of another run. */
static void warm_start(alfs_work *wk, const alfs_start *start)
{
    double by[2] = {0.0, 0.0};

    wk->warm = true;
    for (int i = 0; i < 2; i++) {
        side *sd = &wk->side[i];
        if (!sd->on) continue;
        sd->rho = sd->held = sd->next = sd->pending = start->rho[i] * sd->penalty;
        by[i] = 1.0 / (wk->unit * wk->unit * wk->unit_w * sd->rho);
    }
    for (size_t i = 0; i < wk->len; i++) {
        wk->w[i] = start->w[i] * wk->unit_w;
        wk->side[ROWS].v[i] = wk->w[i] + start->p[i] * by[ROWS];
        wk->side[COLS].v[i] = wk->w[i] + start->q[i] * by[COLS];
    }
    shrinkage(wk, ROWS);
    shrinkage(wk, COLS);
}

/* W = 0 proved without an iteration: lambda >= 2 max ||x_i||^2, where L = 2X'X is in
 * its box. (The test by alpha and beta is the certificate at W = 0.) */
static bool zero_is_known(alfs_work *wk)
{
    side *z = &wk->side[WEIGHTS];
    size_t m = (size_t) wk->m, r = (size_t) wk->r;
    double top = 0.0;

    if (wk->weight == NULL) return false;
    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < m; i++) wk->tmp[i + j * m] = wk->left[i + j * m] * wk->a[j];
    la_row_norms(wk->m, wk->r, wk->tmp, wk->row);
    for (size_t i = 0; i < m; i++) top = fmax(top, wk->row[i]);
    if (z->penalty < 2.0 * top * top * (1.0 - 1e-14)) return false;
    la_gram('N', wk->m, wk->r, wk->tmp, z->v);
    for (size_t i = 0; i < m * m; i++) z->v[i] *= 2.0;
    wk->dual = wk->best;
    wk->known_zero = true;
    return true;
}

/* ---- the iteration --------------------------------------------------------------- */

static void next_penalties(alfs_work *wk)
{
    for (int i = 0; i < 3; i++) {
        side *sd = &wk->side[i];
        sd->rho = sd->next;
        sd->next = sd->pending;
        if (wk->settings->paper) sd->next = sd->pending = fmin(1.1 * sd->rho, 1e10);
    }
}

/* w = sum over rows and columns of rho copy - L = (rho (1 - cut) - held cut) V. */
static void right_hand_side(alfs_work *wk)
{
    const side *rows = &wk->side[ROWS], *cols = &wk->side[COLS];
    size_t m = (size_t) wk->m;

    for (size_t i = 0; i < m; i++)
        wk->row[i] = rows->rho * (1.0 - rows->cut[i]) - rows->held * rows->cut[i];
    for (int j = 0; j < wk->q; j++) {
        size_t at = (size_t) j * m;
        const double *v2 = rows->v + at, *v3 = cols->v + at;
        double f = cols->rho * (1.0 - cols->cut[j]) - cols->held * cols->cut[j];
        double *h = wk->w + at;
        if (rows->on && cols->on)
            for (size_t i = 0; i < m; i++) h[i] = wk->row[i] * v2[i] + f * v3[i];
        else if (rows->on)
            for (size_t i = 0; i < m; i++) h[i] = wk->row[i] * v2[i];
        else
            for (size_t i = 0; i < m; i++) h[i] = f * v3[i];
    }
}

static double penalty_sum(const alfs_work *wk)
{
    double sum = 0.0;
    for (int i = 0; i < 2; i++)
        if (wk->side[i].on) sum += wk->side[i].rho;
    return sum;
}

/* c_j = rr for all j: with C = diag(2a) target diag(b),
 * W = (H + P (C - D o (P'HQ + C)) Q') / rr. */
static void update_w(alfs_work *wk)
{
    size_t r = (size_t) wk->r, rb = (size_t) wk->rb;
    double rr = penalty_sum(wk);

    right_hand_side(wk);
    if (wk->side[WEIGHTS].on) {
        update_w_weighted(wk);
        return;
    }
    alfs_coordinates(wk, wk->w, wk->k);
    for (size_t j = 0; j < rb; j++)
        for (size_t i = 0; i < r; i++) {
            double ab = wk->a[i] * wk->b[j], lift = 2.0 * ab * wk->target[i + j * r];
            double d = 2.0 * ab * ab / (2.0 * ab * ab + rr);
            wk->k[i + j * r] = lift - d * (wk->k[i + j * r] + lift);
        }
    alfs_expand(wk, 1.0 / rr, wk->k, 1.0 / rr, wk->w);
}

/* c_j = rho1 b_j^2 + rr, with (rho1 Z - L1) B' = MV diag(b) Q' joining H. */
static void update_w_weighted(alfs_work *wk)
{
    int m = wk->m, r = wk->r, rb = wk->rb;
    size_t M = (size_t) m, R = (size_t) r, RB = (size_t) rb;
    double rr = penalty_sum(wk), rho1 = wk->side[WEIGHTS].rho;

    alfs_gemm(m, rb, wk->q, 1.0, wk->w, m, wk->right, wk->q, 0.0, wk->tmp, m);
    for (size_t j = 0; j < RB; j++)
        for (size_t i = j * M; i < (j + 1) * M; i++)
            wk->wq[i] = wk->tmp[i] + wk->lifted[i] + wk->mv[i] * wk->b[j];
    la_gemm('N', 'N', r, rb, m, 1.0, wk->left_t, r, wk->wq, m, 0.0, wk->k, r);
    for (size_t j = 0; j < RB; j++)
        for (size_t i = 0; i < R; i++) {
            double b2 = wk->b[j] * wk->b[j], ab2 = 2.0 * wk->a[i] * wk->a[i] * b2;
            wk->k[i + j * R] *= ab2 / (ab2 + rho1 * b2 + rr);
        }
    alfs_gemm(m, rb, r, -1.0, wk->left, m, wk->k, r, 1.0, wk->wq, m);
    for (size_t j = 0; j < RB; j++) {
        double c = rho1 * wk->b[j] * wk->b[j] + rr;
        for (size_t i = j * M; i < (j + 1) * M; i++) {
            wk->wq[i] /= c;
            wk->tmp[i] = wk->wq[i] - wk->tmp[i] / rr;
        }
    }
    alfs_gemm(m, wk->q, rb, 1.0, wk->tmp, m, wk->right_t, rb, 1.0 / rr, wk->w, m);
}

/* P (2 a b target), needed once c_j depends on j. */
static void lift_target(alfs_work *wk)
{
    size_t r = (size_t) wk->r, rb = (size_t) wk->rb;

    for (size_t j = 0; j < rb; j++)
        for (size_t i = 0; i < r; i++)
            wk->k[i + j * r] = 2.0 * wk->a[i] * wk->b[j] * wk->target[i + j * r];
    alfs_gemm(wk->m, wk->rb, wk->r, 1.0, wk->left, wk->m, wk->k, wk->r, 0.0, wk->lifted, wk->m);
}

static void update_copies(alfs_work *wk, bool measure)
{
    if (wk->side[ROWS].on) update_side(wk, ROWS, measure);
    if (wk->side[COLS].on) update_side(wk, COLS, measure);
    if (wk->side[WEIGHTS].on) update_weights(wk, measure);
}

/* V = copy + (held / rho) (V - copy) + gamma (W - copy), then the new shrinkage.
 * `measure` adds what balance() reads. */
static void update_side(alfs_work *wk, int which, bool measure)
{
    side *sd = &wk->side[which];
    size_t m = (size_t) wk->m;
    double ratio = sd->held / sd->rho, gamma = wk->gamma, *coef = which == ROWS ? wk->row : wk->col;
    double diff = 0.0, copy = 0.0, full = 0.0, mult = 0.0;

    for (int i = 0; i < (which == ROWS ? wk->m : wk->q); i++)
        coef[i] = (1.0 - gamma) * (1.0 - sd->cut[i]) + ratio * sd->cut[i];
    for (int j = 0; j < wk->q; j++) {
        size_t at = (size_t) j * m;
        double *v = sd->v + at, *old = wk->spare + at;
        const double *w = wk->w + at;
        if (measure)
            for (size_t i = 0; i < m; i++) {
                double l = sd->cut[which == ROWS ? i : (size_t) j] * v[i];
                old[i] = v[i] - l;
                diff += (w[i] - old[i]) * (w[i] - old[i]);
                copy += old[i] * old[i];
                full += w[i] * w[i];
                mult += l * l;
            }
        if (which == ROWS)
            for (size_t i = 0; i < m; i++) v[i] = coef[i] * v[i] + gamma * w[i];
        else
            for (size_t i = 0; i < m; i++) v[i] = coef[j] * v[i] + gamma * w[i];
    }
    if (measure) {
        sd->residual = full > 0.0 ? sqrt(diff / fmax(full, copy)) : 0.0;
        sd->size = sd->held * sqrt(mult);
    }
    sd->held = sd->rho;
    shrinkage(wk, which);
    if (!measure) return;
    diff = 0.0;
    for (int j = 0; j < wk->q; j++)
        for (size_t i = 0; i < m; i++) {
            size_t at = i + (size_t) j * m;
            double now = (1.0 - sd->cut[which == ROWS ? i : (size_t) j]) * sd->v[at];
            diff += (now - wk->spare[at]) * (now - wk->spare[at]);
        }
    sd->change = sqrt(diff);
}

/* cut = min(1, penalty / (rho ||V_i||)), so that L = rho cut V has norm <= penalty. */
static void shrinkage(alfs_work *wk, int which)
{
    side *sd = &wk->side[which];
    int n = which == ROWS ? wk->m : wk->q;

    if (!sd->on) return;
    if (which == ROWS) la_row_norms(wk->m, wk->q, sd->v, sd->norm);
    else la_col_norms(wk->m, wk->q, sd->v, sd->norm);
    for (int i = 0; i < n; i++) {
        double bound = sd->penalty / sd->held;
        sd->cut[i] = sd->norm[i] > bound ? bound / sd->norm[i] : 1.0;
    }
}

/* The same for Z, whose V is m x m, strip by strip; gathers MV = (rho Z - L) outer for
 * the next W. With no V (Algorithm 1 at lambda = 0) Z = W B and L = 0. */
static void update_weights(alfs_work *wk, bool measure)
{
    side *sd = &wk->side[WEIGHTS];
    int m = wk->m, rb = wk->rb;
    size_t M = (size_t) m, RB = (size_t) rb;
    double ratio = sd->held / sd->rho, to_old = sd->penalty / sd->held;
    double to_new = sd->penalty / sd->rho, gamma = wk->gamma, sum[4] = {0.0, 0.0, 0.0, 0.0};

    for (size_t j = 0; j < RB; j++)
        for (size_t i = j * M; i < (j + 1) * M; i++) {
            wk->tmp[i] = wk->wq[i] * wk->b[j];
            wk->mv[i] = wk->weight == NULL ? sd->next * wk->tmp[i] : 0.0;
        }
    for (int from = 0; wk->weight != NULL && from < m; from += wk->width) {
        int n = m - from < wk->width ? m - from : wk->width;
        size_t F = (size_t) from, end = (size_t) n * M;
        double *v = sd->v + F * M, *wb = wk->strip;
        const double *t = wk->weight + F * M;
        alfs_gemm(m, n, rb, 1.0, wk->tmp, m, wk->outer_t + F * RB, rb, 0.0, wb, m);
        if (measure) measure_weights(wk, wb, v, t, end, sum);
        for (size_t i = 0; i < end; i++) {
            double l = alfs_clamp(v[i], to_old * t[i]), copy = v[i] - l;
            double now = copy + ratio * l + gamma * (wb[i] - copy);
            l = alfs_clamp(now, to_new * t[i]);
            v[i] = now;
            wb[i] = sd->next * (now - l) - sd->rho * l;
        }
        alfs_gemm(m, rb, n, 1.0, wb, m, wk->outer + F, m, 1.0, wk->mv, m);
    }
    sd->held = sd->rho;
    if (!measure || wk->weight == NULL) return;
    sd->residual = sum[0] > 0.0 ? sqrt(sum[0] / sum[1]) : 0.0;
    sd->change = sqrt(sum[2]);
    sd->size = sd->rho * sqrt(sum[3]);
}

/* Adds, for a strip about to be updated: ||WB - copy||^2, ||WB||^2, ||new copy -
 * copy||^2 and ||V - copy||^2 after; Algorithm 1 reads its largest |WB - new copy|. */
static void measure_weights(alfs_work *wk, const double *wb, const double *v,
                            const double *t, size_t n, double sum[4])
{
    side *sd = &wk->side[WEIGHTS];
    double ratio = sd->held / sd->rho, to_old = sd->penalty / sd->held;
    double to_new = sd->penalty / sd->rho;

    for (size_t i = 0; i < n; i++) {
        double l = alfs_clamp(v[i], to_old * t[i]), copy = v[i] - l;
        double now = copy + ratio * l + wk->gamma * (wb[i] - copy), far;
        l = alfs_clamp(now, to_new * t[i]);
        sum[0] += (wb[i] - copy) * (wb[i] - copy);
        sum[1] += wb[i] * wb[i];
        sum[2] += (now - l - copy) * (now - l - copy);
        sum[3] += l * l;
        far = fabs(wb[i] - (now - l));
        if (far > sd->biggest) sd->biggest = far;
    }
}

/* MV from V alone, for a change of `outer`. */
static void gather_weights(alfs_work *wk)
{
    side *sd = &wk->side[WEIGHTS];
    int m = wk->m, rb = wk->rb;
    size_t M = (size_t) m;
    double bound = sd->penalty / sd->held;

    memset(wk->mv, 0, M * (size_t) rb * sizeof(double));
    for (int from = 0; from < m; from += wk->width) {
        int n = m - from < wk->width ? m - from : wk->width;
        size_t F = (size_t) from, end = (size_t) n * M;
        const double *v = sd->v + F * M, *t = wk->weight + F * M;
        for (size_t i = 0; i < end; i++) {
            double l = alfs_clamp(v[i], bound * t[i]);
            wk->strip[i] = sd->next * (v[i] - l) - sd->held * l;
        }
        alfs_gemm(m, rb, n, 1.0, wk->strip, m, wk->outer + F, m, 1.0, wk->mv, m);
    }
}

/* Residual balancing: rho follows the square root of primal over dual residual, both
 * relative, within a factor 10, and only if it is off by 2.5. The penalty of the
 * weights also follows the gap: where the lower bound still rises and the objective
 * hardly falls, a smaller rho is what helps, and conversely. */
static void balance_sides(alfs_work *wk)
{
    double tiny = 1e-9 * wk->best, lean = 1.0;

    if (wk->best_then > 0.0) {
        double fall = wk->best_then - wk->best + tiny, rise = wk->dual - wk->dual_then + tiny;
        lean = sqrt(fmin(10.0, fmax(0.1, fall / rise)));
    }
    wk->best_then = wk->best;
    wk->dual_then = wk->dual;
    balance(&wk->side[ROWS], 1.0);
    balance(&wk->side[COLS], 1.0);
    balance(&wk->side[WEIGHTS], lean);
}

static void balance(side *sd, double lean)
{
    double dual, ratio;

    if (!sd->on || !(sd->size > 0.0) || !(sd->change > 0.0) || !(sd->residual > 0.0)) return;
    dual = sd->rho * sd->change / sd->size;
    ratio = fmin(10.0, fmax(0.1, lean * sqrt(sd->residual / dual)));
    if (ratio > 2.5 || ratio < 1.0 / 2.5) sd->pending = sd->next * ratio;
}

/* Algorithm 1's stop: all splits within tol entrywise (absolute, as published), and the
 * relative change of F below tol. */
static bool paper_done(alfs_work *wk, double f, double f_old)
{
    size_t m = (size_t) wk->m;
    double far = wk->side[WEIGHTS].biggest, tol = wk->settings->tol;

    wk->side[WEIGHTS].biggest = 0.0;
    if (!(fabs(f - f_old) < tol * f_old) && f != f_old) return false;
    if (!(far < tol)) return false;
    for (int which = 0; which < 2; which++) {
        const side *sd = &wk->side[which];
        if (!sd->on) continue;
        for (int j = 0; j < wk->q; j++)
            for (size_t i = 0; i < m; i++) {
                size_t at = i + (size_t) j * m;
                double cut = sd->cut[which == ROWS ? i : (size_t) j];
                if (!(fabs(wk->w[at] - (1.0 - cut) * sd->v[at]) < tol)) return false;
            }
    }
    return true;
}

/* ---- fewer columns ----------------------------------------------------------------- */

/* Columns of Wtilde that are not zero, or nearly so. */
static int live_columns(const alfs_work *wk, int *column)
{
    const side *cols = &wk->side[COLS];
    int n = 0;

    for (int j = 0; j < wk->q; j++)
        if (!cols->on || cols->norm[j] > 0.98 * cols->penalty / cols->held) column[n++] = j;
    return n;
}

/* Up to `most` iterations on the given columns of W, B = those rows of X; the others
 * rest at zero, their V untouched. V of the weights is shared. Stops early when the
 * gap of the smaller problem is half the tolerance. Returns the iterations made. */
static int narrow(alfs_work *wk, int n_live, const int *column, int most, double *best_w,
                  ufs_run *run, int k)
{
    alfs_work sub;
    const alfs_settings *set = wk->settings;
    const void *mark = vmaxget();
    size_t m = (size_t) wk->m;
    double *sub_w, u2 = wk->unit * wk->unit;
    int done = 0;

    if (!set_up_columns(&sub, wk, n_live, column)) {
        vmaxset(mark);
        return 0;
    }
    sub_w = ufs_dzero(m, (size_t) n_live);
    while (done < most) {
        bool check = ++done % set->check_every == 0;
        double gap = 1.0;
        next_penalties(&sub);
        update_w(&sub);
        if (check) {
            alfs_dual_bound(&sub);
            alfs_primal_bound(&sub, sub_w);
            gap = (sub.best - sub.dual) / sub.best;
        }
        ufs_hook_step(&run->hook, k + done, fmin(wk->best, sub.best) * u2, gap);
        update_copies(&sub, check);
        if (check && k + done <= set->balance_until) balance_sides(&sub);
        if (check && gap < 0.5 * set->tol) break;
    }
    for (int i = 0; i < 3; i++) {
        wk->side[i].rho = sub.side[i].rho;
        wk->side[i].held = sub.side[i].held;
        wk->side[i].next = sub.side[i].next;
        wk->side[i].pending = sub.side[i].pending;
    }
    for (int j = 0; j < n_live; j++) {
        size_t to = (size_t) column[j] * m, from = (size_t) j * m;
        ufs_copy(wk->side[ROWS].v + to, sub.side[ROWS].v + from, m);
        ufs_copy(wk->side[COLS].v + to, sub.side[COLS].v + from, m);
    }
    if (sub.best < wk->best) {
        wk->best = sub.best;
        memset(best_w, 0, wk->len * sizeof(double));
        for (int j = 0; j < n_live; j++)
            ufs_copy(best_w + (size_t) column[j] * m, sub_w + (size_t) j * m, m);
    }
    shrinkage(wk, ROWS);
    shrinkage(wk, COLS);
    gather_weights(wk);
    vmaxset(mark);
    return done;
}

/* The problem on some columns: B = x_J' = Q diag(b) outer' by the SVD of x_J; in
 * coordinates D is diag(a) P' outer inside the row space of B. false: the SVD failed. */
static bool set_up_columns(alfs_work *sub, const alfs_work *wk, int n_live, const int *column)
{
    size_t m = (size_t) wk->m, q = (size_t) n_live, full = m < q ? m : q, r = (size_t) wk->r;
    double *x = ufs_dalloc(m, q), *u = ufs_dalloc(m, full), *s = ufs_dalloc(full, 1);
    double *vt = ufs_dalloc(full, q), *right;
    int rank = 0;

    for (size_t j = 0; j < q; j++)
        for (size_t i = 0; i < m; i++)
            x[i + j * m] = wk->sample[(size_t) column[j] + i * (size_t) wk->q];
    if (la_svd_thin(wk->m, n_live, x, u, s, vt)) return false;
    while ((size_t) rank < full && s[rank] > 1e-10 * s[0]) rank++;
    if (rank == 0) return false;
    right = ufs_dalloc(q, (size_t) rank);
    for (size_t j = 0; j < (size_t) rank; j++)
        for (size_t i = 0; i < q; i++) right[i + j * q] = vt[j + i * full];

    *sub = *wk;
    sub->q = n_live;
    sub->rb = rank;
    sub->right = right;
    sub->outer = u;
    allocate(sub, true);
    sub->outer_t = ufs_dalloc((size_t) rank, m);
    transpose(wk->m, rank, u, sub->outer_t);
    ufs_copy(sub->a, wk->a, r);
    ufs_copy(sub->b, s, (size_t) rank);
    la_gemm('N', 'N', wk->r, rank, wk->m, 1.0, wk->left_t, wk->r, u, wk->m, 0.0, sub->target, wk->r);
    sub->rest = wk->total;
    for (size_t j = 0; j < (size_t) rank; j++)
        for (size_t i = 0; i < r; i++) {
            sub->target[i + j * r] *= wk->a[i];
            sub->rest -= sub->target[i + j * r] * sub->target[i + j * r];
        }
    lift_target(sub);
    sub->sample = ufs_dalloc(q, m);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < q; j++)
            sub->sample[j + i * q] = wk->sample[(size_t) column[j] + i * (size_t) wk->q];
    for (int which = 0; which < 2; which++) {
        side *sd = &sub->side[which];
        const side *from = &wk->side[which];
        size_t n = which == ROWS ? m : q;
        sd->v = ufs_dalloc(m, q);
        sd->cut = ufs_dalloc(n, 1);
        sd->norm = ufs_dalloc(n, 1);
        for (size_t i = 0; i < n; i++) sd->cut[i] = 1.0;
        for (size_t j = 0; j < q; j++)
            ufs_copy(sd->v + j * m, from->v + (size_t) column[j] * m, m);
        shrinkage(sub, which);
    }
    sub->best = wk->total;
    sub->dual = sub->best_then = 0.0;
    gather_weights(sub);
    return true;
}

/* ---- coordinates ------------------------------------------------------------------- */

/* Which side first: r m q + r q rb against m q rb + m r rb. */
static bool left_first(const alfs_work *wk)
{
    double m = wk->m, q = wk->q, r = wk->r, rb = wk->rb;
    return wk->thin == NULL || r * q * (m + rb) < m * rb * (q + r);
}

void alfs_coordinates(alfs_work *wk, const double *w, double *k)
{
    int m = wk->m, q = wk->q, r = wk->r, rb = wk->rb;

    if (wk->right == NULL) {
        la_gemm('N', 'N', r, q, m, 1.0, wk->left_t, r, w, m, 0.0, k, r);
    } else if (left_first(wk)) {
        la_gemm('N', 'N', r, q, m, 1.0, wk->left_t, r, w, m, 0.0, wk->small, r);
        la_gemm('N', 'N', r, rb, q, 1.0, wk->small, r, wk->right, q, 0.0, k, r);
    } else {
        alfs_gemm(m, rb, q, 1.0, w, m, wk->right, q, 0.0, wk->thin, m);
        la_gemm('N', 'N', r, rb, m, 1.0, wk->left_t, r, wk->thin, m, 0.0, k, r);
    }
}

void alfs_expand(alfs_work *wk, double alpha, const double *k, double beta, double *out)
{
    int m = wk->m, q = wk->q, r = wk->r, rb = wk->rb;

    if (wk->right == NULL) {
        alfs_gemm(m, q, r, alpha, wk->left, m, k, r, beta, out, m);
    } else if (left_first(wk)) {
        la_gemm('N', 'N', r, q, rb, 1.0, k, r, wk->right_t, rb, 0.0, wk->small, r);
        alfs_gemm(m, q, r, alpha, wk->left, m, wk->small, r, beta, out, m);
    } else {
        alfs_gemm(m, rb, r, 1.0, wk->left, m, k, r, 0.0, wk->thin, m);
        alfs_gemm(m, q, rb, alpha, wk->thin, m, wk->right_t, rb, beta, out, m);
    }
}

void alfs_gemm(int m, int n, int k, double alpha, const double *a, int lda, const double *b,
               int ldb, double beta, double *c, int ldc)
{
    const int block = 512;
    for (int i = 0; i < m; i += block)
        la_gemm('N', 'N', m - i < block ? m - i : block, n, k, alpha, a + i, lda, b, ldb,
                beta, c + i, ldc);
}
