/* solve_alfs.c: over-relaxed ADMM in singular value coordinates, certified by a
 * duality gap; and the paper's Algorithm 1 in the same coordinates.
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
 * Certificate: for any W with residual R = D - A W B and any L in its box,
 * G = 2A'RB' - L B' is split as P + Q; with t >= the largest ratio of a row of P to
 * alpha or of a column of Q to beta, and s in [-1/t, 1/t],
 *   2 s <R, D> - s^2 ||R||^2 <= min F.
 *
 * X is divided by s_1 on entry (exact equivariance: W -> s_1 W, F -> F / s_1^2), so
 * tolerances and first penalties are free of scale. Algorithm 1 is not free of
 * scale and runs on the matrix as it is. */
#include "solve_alfs.h"
#include "la.h"
#include "prox.h"

enum { ROWS = 0, COLS = 1, WEIGHTS = 2 };

typedef struct {
    bool on;
    double penalty;  /* alpha, beta, lambda */
    double rho;      /* of this iteration */
    double held;     /* the rho in whose units V is kept: L = held (V - copy) */
    double next;     /* the rho of the next iteration */
    double pending;  /* and of the one after */
    double *v;
    double *cut;     /* 1 - (shrink factor) of each row or column of V */
    double *norm;
    double residual; /* || W - copy || / max(||W||, ||copy||) */
    double change;   /* || copy - previous copy || */
    double size;     /* || L || */
    double biggest;  /* max |W - copy|, Algorithm 1 only */
} side;

typedef struct {
    const alfs_settings *settings;
    int m, q, r, width;       /* width: columns of W B handled at once */
    size_t len;               /* m q */
    double unit, unit_w;      /* what X, and W, were divided and multiplied by */
    double *a, *b, *target;
    const double *left, *right;
    double *left_t, *right_t; /* r x m, r x q */
    side side[3];
    double gamma;
    double *w, *spare;        /* m x q: H, then W; G or a candidate */
    double *small, *thin;     /* scratch of coordinates() and expand() */
    double *k, *k2;           /* r x r */
    double *row, *col;        /* scratch: coefficients, norms */
    double *row_sum, *col_sum; /* sums of L^2, L E, E^2 by row, by column */
    double *wq, *tmp;         /* m x r, only where c_j depends on j */
    double *mv, *lv;          /* (rho1 Z - L1) P and L1 P, m x r */
    double *weight;           /* T, m x m */
    double *strip;            /* m x width */
    double ss;                /* || D ||^2 = F(0) */
    double best, dual;        /* lowest F, highest dual value so far */
    double theta, scale;      /* how the last dual bound split and scaled E */
    double theta_zero;        /* the split that proves W = 0 */
    bool warm, known_zero;
} workspace;

static void set_up(workspace *wk, const alfs_problem *problem,
                   const alfs_settings *settings, alfs_solution *solution);
static void set_side(workspace *wk, int which, double penalty, double rho, double *v);
static double zero_split(workspace *wk);
static void make_weights(workspace *wk, double floor);
static void warm_start(workspace *wk, const alfs_start *start);
static void admm(workspace *wk, alfs_solution *solution, alfs_info *info,
                 ufs_trace *trace, const ufs_hook *hook);
static void paper(workspace *wk, alfs_info *info, ufs_trace *trace,
                  const ufs_hook *hook);
static bool zero_is_known(workspace *wk);
static bool record(workspace *wk, int k, alfs_info *info, ufs_trace *trace);
static void next_penalties(workspace *wk);
static void right_hand_side(workspace *wk);
static double penalty_sum(const workspace *wk);
static void update_w(workspace *wk);
static void update_w_weighted(workspace *wk);
static void update_copies(workspace *wk, bool measure);
static void update_side(workspace *wk, int which, bool measure);
static void shrinkage(workspace *wk, int which);
static void update_weights(workspace *wk);
static void balance(side *sd);
static bool paper_done(workspace *wk, double f, double f_old);
static void dual_bound(workspace *wk);
static void gradient(workspace *wk, const double *w, double *ss, double *rx);
static void multiplier_coordinates(workspace *wk);
static void split_sums(workspace *wk);
static double worst_ratio(const workspace *wk, double theta);
static void primal_bound(workspace *wk, double *best_w);
static double objective(workspace *wk, const double *w);
static double weighted_sum(workspace *wk, const double *w);
static void finish(workspace *wk, alfs_solution *solution, alfs_info *info);
static void residuals(workspace *wk);
static double kkt(workspace *wk, const alfs_solution *solution);
static void coordinates(workspace *wk, const double *w, double *k);
static void expand(workspace *wk, double alpha, const double *k, double beta, double *out);
static void gemm(int m, int n, int k, double alpha, const double *a, int lda,
                 const double *b, int ldb, double beta, double *c, int ldc);

void alfs_solve(const alfs_problem *problem, const alfs_settings *settings,
                const alfs_start *start, alfs_solution *solution, alfs_info *info,
                ufs_trace *trace, const ufs_hook *hook)
{
    workspace work, *wk = &work;

    set_up(wk, problem, settings, solution);
    if (start != NULL) warm_start(wk, start);
    info->status = UFS_MAX_ITER;
    if (settings->paper) {
        paper(wk, info, trace, hook);
        ufs_copy(solution->w, wk->w, wk->len);
    } else {
        admm(wk, solution, info, trace, hook);
    }
    finish(wk, solution, info);
}

static void admm(workspace *wk, alfs_solution *solution, alfs_info *info,
                 ufs_trace *trace, const ufs_hook *hook)
{
    const alfs_settings *set = wk->settings;

    info->iterations = 0;
    if (set->tol >= 0.0 && zero_is_known(wk)) {
        record(wk, 0, info, trace);
        return;
    }
    for (;; info->iterations++) {
        int k = info->iterations;
        bool check = k % set->check_every == 0 || k >= set->max_iter;
        if (k > 0) {
            next_penalties(wk);
            update_w(wk);
        }
        if (check) {
            dual_bound(wk);
            if (k > 0 || wk->warm) primal_bound(wk, solution->w);
            if (record(wk, k, info, trace)) return;
        }
        ufs_hook_step(hook, k, wk->best * wk->unit * wk->unit, info->gap);
        if (k >= set->max_iter) return;
        if (k > 0) {
            update_copies(wk, check);
            for (int i = 0; i < 3; i++)
                if (check && k <= set->balance_until) balance(&wk->side[i]);
        }
    }
}

/* Algorithm 1: the objective and the answer are those of W itself. */
static void paper(workspace *wk, alfs_info *info, ufs_trace *trace,
                  const ufs_hook *hook)
{
    const alfs_settings *set = wk->settings;
    double f_old;

    dual_bound(wk);
    record(wk, 0, info, trace);
    for (int k = 1; k <= set->max_iter; k++) {
        bool done;
        info->iterations = k;
        next_penalties(wk);
        update_w(wk);
        update_copies(wk, false);
        f_old = wk->best;
        wk->best = objective(wk, wk->w);
        done = set->tol >= 0.0 && paper_done(wk, wk->best, f_old);
        if (done || k % set->check_every == 0 || k == set->max_iter) {
            dual_bound(wk);
            record(wk, k, info, trace);
            if (info->status > UFS_MAX_ITER) return;
        }
        ufs_hook_step(hook, k, wk->best, fabs(wk->best - f_old) / f_old);
        if (done) {
            info->status = UFS_CONVERGED;
            return;
        }
    }
}

/* Gap, trace row and status; true if the run ends here. */
static bool record(workspace *wk, int k, alfs_info *info, ufs_trace *trace)
{
    double u2 = wk->unit * wk->unit, tol = wk->settings->tol;
    double gap = (wk->best - wk->dual) / wk->best;
    double row[4] = {k, wk->best * u2, wk->dual * u2, gap};

    info->gap = gap;
    ufs_trace_add(trace, row);
    if (!(fabs(wk->best) <= DBL_MAX) || !(fabs(gap) <= DBL_MAX)) {
        info->status = UFS_DIVERGED;
        return true;
    }
    if (gap < -1e-10) {
        info->status = UFS_NUMERICAL;
        return true;
    }
    if (wk->settings->paper || tol < 0.0 || gap >= tol) return false;
    info->status = UFS_CONVERGED;
    return true;
}

/* ---- set-up ---------------------------------------------------------------------- */

static void set_up(workspace *wk, const alfs_problem *problem,
                   const alfs_settings *settings, alfs_solution *solution)
{
    size_t m = (size_t) problem->m, q = (size_t) problem->q, r = (size_t) problem->r;
    double u, u2, rho1;

    memset(wk, 0, sizeof *wk);
    wk->settings = settings;
    wk->m = problem->m;
    wk->q = problem->q;
    wk->r = problem->r;
    wk->len = m * q;
    wk->left = problem->left;
    wk->right = problem->right;
    wk->gamma = settings->paper ? 1.0 : 1.6;
    u = wk->unit = settings->paper ? 1.0 : problem->s[0];
    wk->unit_w = problem->right ? u : 1.0;
    u2 = u * u;
    /* What the runs on test sets ended near: W X has about m^2 small entries. */
    rho1 = 0.1 * (double) problem->m * (double) problem->m;

    wk->a = ufs_dalloc(r, 1);
    wk->b = ufs_dalloc(r, 1);
    wk->target = wk->a;
    for (size_t i = 0; i < r; i++) {
        wk->a[i] = problem->s[i] / u;
        wk->b[i] = problem->right ? wk->a[i] : 1.0;
        wk->ss += wk->a[i] * wk->a[i];
    }
    wk->left_t = ufs_dalloc(r, m);
    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < m; i++) wk->left_t[j + i * r] = wk->left[i + j * m];
    if (wk->right != NULL) {
        wk->right_t = ufs_dalloc(r, q);
        for (size_t j = 0; j < r; j++)
            for (size_t i = 0; i < q; i++) wk->right_t[j + i * r] = wk->right[i + j * q];
    }

    wk->w = ufs_dzero(m, q);
    wk->spare = ufs_dalloc(m, q);
    wk->small = ufs_dalloc(r, q);
    wk->thin = q < m ? NULL : ufs_dalloc(m, r);
    wk->k = ufs_dalloc(r, r);
    wk->k2 = ufs_dalloc(r, r);
    wk->row = ufs_dalloc(m, 1);
    wk->col = ufs_dalloc(q, 1);
    wk->row_sum = ufs_dalloc(m, 3);
    wk->col_sum = ufs_dalloc(q, 3);

    set_side(wk, ROWS, problem->alpha / (u2 * wk->unit_w), problem->alpha / (u2 * wk->unit_w),
             solution->p);
    set_side(wk, COLS, problem->beta / (u2 * wk->unit_w), problem->beta / (u2 * wk->unit_w),
             solution->q);
    set_side(wk, WEIGHTS, problem->lambda / u2, rho1 * problem->lambda / u2, solution->l);
    if (wk->side[WEIGHTS].on || settings->paper) {
        /* Algorithm 1 keeps its block Z = W X even where lambda = 0. */
        wk->side[WEIGHTS].on = true;
        wk->wq = ufs_dalloc(m, r);
        wk->tmp = ufs_dalloc(m, r);
        wk->mv = ufs_dzero(m, r);
        wk->lv = ufs_dalloc(m, r);
    }
    if (wk->side[WEIGHTS].v != NULL) {
        double strip = 32768.0 / (double) wk->m;
        wk->width = strip < 8.0 ? 8 : strip > (double) wk->m ? wk->m : (int) strip;
        wk->strip = ufs_dalloc(m, (size_t) wk->width);
        wk->weight = ufs_dalloc(m, m);
        make_weights(wk, settings->floor);
    }

    wk->best = wk->ss;
    wk->dual = 0.0;
    wk->theta_zero = zero_split(wk);
    memset(solution->w, 0, wk->len * sizeof(double));
}

static void set_side(workspace *wk, int which, double penalty, double rho, double *v)
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

/* The share of G0 = 2A'DB' that P takes to prove W = 0: if alpha / alpha_max + beta /
 * beta_max >= 1, splitting by these shares is feasible. (alpha_max and beta_max are
 * the largest row and column norms of G0.) */
static double zero_split(workspace *wk)
{
    double top[2] = {0.0, 0.0}, share[2];

    for (int which = 0; which < 2; which++) {
        const double *base = which == ROWS ? wk->left : wk->right;
        size_t n = (size_t) (which == ROWS ? wk->m : wk->q);
        for (size_t i = 0; i < n; i++) {
            double sum = 0.0;
            for (size_t j = 0; j < (size_t) wk->r; j++) {
                double g = base == NULL ? (double) (i == j) : base[i + j * n];
                g *= 2.0 * wk->a[j] * wk->b[j] * wk->target[j];
                sum += g * g;
            }
            top[which] = fmax(top[which], sqrt(sum));
        }
        share[which] = wk->side[which].penalty / top[which];
    }
    return share[ROWS] / (share[ROWS] + share[COLS]);
}

/* T_ij = 1 / max(|cos(x_i, x_j)|, floor), 1 on the diagonal; the cosine with a
 * zero sample is 0. m^2 r flops. */
static void make_weights(workspace *wk, double floor)
{
    size_t m = (size_t) wk->m, r = (size_t) wk->r;
    double *y = wk->tmp, *t = wk->weight;

    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < m; i++) y[i + j * m] = wk->left[i + j * m] * wk->a[j];
    la_row_norms(wk->m, wk->r, y, wk->row);
    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < m; i++)
            if (wk->row[i] > 0.0) y[i + j * m] /= wk->row[i];
    la_gram('N', wk->m, wk->r, y, t);
    for (size_t j = 0; j < m; j++) {
        for (size_t i = 0; i < m; i++) t[i + j * m] = 1.0 / fmin(1.0, fmax(fabs(t[i + j * m]), floor));
        t[j + j * m] = 1.0;
    }
}

/* V = copy + L / rho from the W, P and Q of another run. */
static void warm_start(workspace *wk, const alfs_start *start)
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
static bool zero_is_known(workspace *wk)
{
    side *z = &wk->side[WEIGHTS];
    size_t m = (size_t) wk->m, r = (size_t) wk->r;
    double top = 0.0;

    if (z->v == NULL) return false;
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

static void next_penalties(workspace *wk)
{
    for (int i = 0; i < 3; i++) {
        side *sd = &wk->side[i];
        sd->rho = sd->next;
        sd->next = sd->pending;
        if (wk->settings->paper) sd->next = sd->pending = fmin(1.1 * sd->rho, 1e10);
    }
}

/* wk->w = sum over rows and columns of rho copy - L = (rho (1 - cut) - held cut) V. */
static void right_hand_side(workspace *wk)
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

static double penalty_sum(const workspace *wk)
{
    double sum = 0.0;
    for (int i = 0; i < 2; i++)
        if (wk->side[i].on) sum += wk->side[i].rho;
    return sum;
}

/* c_j = rr for all j: W = (H + P (2abt I - D o (P'HQ + 2abt I)) Q') / rr. */
static void update_w(workspace *wk)
{
    size_t r = (size_t) wk->r;
    double rr = penalty_sum(wk);

    right_hand_side(wk);
    if (wk->side[WEIGHTS].on) {
        update_w_weighted(wk);
        return;
    }
    coordinates(wk, wk->w, wk->k);
    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < r; i++) {
            double ab = wk->a[i] * wk->b[j], lift = i == j ? 2.0 * ab * wk->target[i] : 0.0;
            double d = 2.0 * ab * ab / (2.0 * ab * ab + rr);
            wk->k[i + j * r] = lift - d * (wk->k[i + j * r] + lift);
        }
    expand(wk, 1.0 / rr, wk->k, 1.0 / rr, wk->w);
}

/* c_j = rho1 b_j^2 + rr, with (rho1 Z - L1) B' = MV diag(b) Q' joining H. */
static void update_w_weighted(workspace *wk)
{
    int m = wk->m, r = wk->r;
    size_t M = (size_t) m, R = (size_t) r;
    double rr = penalty_sum(wk), rho1 = wk->side[WEIGHTS].rho;

    gemm(m, r, wk->q, 1.0, wk->w, m, wk->right, wk->q, 0.0, wk->tmp, m);
    for (size_t j = 0; j < R; j++) {
        double b = wk->b[j], lift = 2.0 * wk->a[j] * b * wk->target[j];
        for (size_t i = j * M; i < (j + 1) * M; i++)
            wk->wq[i] = wk->tmp[i] + lift * wk->left[i] + wk->mv[i] * b;
    }
    la_gemm('N', 'N', r, r, m, 1.0, wk->left_t, r, wk->wq, m, 0.0, wk->k, r);
    for (size_t j = 0; j < R; j++)
        for (size_t i = 0; i < R; i++) {
            double b2 = wk->b[j] * wk->b[j], ab2 = 2.0 * wk->a[i] * wk->a[i] * b2;
            wk->k[i + j * R] *= ab2 / (ab2 + rho1 * b2 + rr);
        }
    gemm(m, r, r, -1.0, wk->left, m, wk->k, r, 1.0, wk->wq, m);
    for (size_t j = 0; j < R; j++) {
        double c = rho1 * wk->b[j] * wk->b[j] + rr;
        for (size_t i = j * M; i < (j + 1) * M; i++) {
            wk->wq[i] /= c;
            wk->tmp[i] = wk->wq[i] - wk->tmp[i] / rr;
        }
    }
    gemm(m, wk->q, r, 1.0, wk->tmp, m, wk->right_t, r, 1.0 / rr, wk->w, m);
}

static void update_copies(workspace *wk, bool measure)
{
    if (wk->side[ROWS].on) update_side(wk, ROWS, measure);
    if (wk->side[COLS].on) update_side(wk, COLS, measure);
    if (wk->side[WEIGHTS].on) update_weights(wk);
}

/* V = copy + (held / rho) (V - copy) + gamma (W - copy), then the new shrinkage.
 * `measure` adds what balance() reads. */
static void update_side(workspace *wk, int which, bool measure)
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
                double cut = sd->cut[which == ROWS ? i : (size_t) j], l = cut * v[i];
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
static void shrinkage(workspace *wk, int which)
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

/* The same for Z, whose V is m x m, strip by strip; gathers MV = (rho Z - L) P for
 * the next W. With no V (Algorithm 1 at lambda = 0) Z = W B and L = 0. */
static void update_weights(workspace *wk)
{
    side *sd = &wk->side[WEIGHTS];
    int m = wk->m, r = wk->r;
    size_t M = (size_t) m, R = (size_t) r;
    double diff = 0.0, copy = 0.0, full = 0.0, mult = 0.0, change = 0.0, biggest = 0.0;
    double ratio = sd->held / sd->rho, to_old = sd->penalty / sd->held;
    double to_new = sd->penalty / sd->rho, gamma = wk->gamma;

    for (size_t j = 0; j < R; j++)
        for (size_t i = j * M; i < (j + 1) * M; i++) {
            wk->tmp[i] = wk->wq[i] * wk->b[j];
            wk->mv[i] = sd->v == NULL ? sd->next * wk->tmp[i] : 0.0;
        }
    for (int from = 0; sd->v != NULL && from < m; from += wk->width) {
        int n = m - from < wk->width ? m - from : wk->width;
        size_t F = (size_t) from, end = (size_t) n * M;
        double *v = sd->v + F * M, *wb = wk->strip;
        const double *t = wk->weight + F * M;
        gemm(m, n, r, 1.0, wk->tmp, m, wk->left_t + F * R, r, 0.0, wb, m);
        for (size_t i = 0; i < end; i++) {
            double old = prox_soft(v[i], to_old * t[i]), new, l;
            diff += (wb[i] - old) * (wb[i] - old);
            copy += old * old;
            full += wb[i] * wb[i];
            v[i] = old + ratio * (v[i] - old) + gamma * (wb[i] - old);
            new = prox_soft(v[i], to_new * t[i]);
            change += (new - old) * (new - old);
            biggest = fmax(biggest, fabs(wb[i] - new));
            l = v[i] - new;
            mult += l * l;
            wb[i] = sd->next * new - sd->rho * l;
        }
        gemm(m, r, n, 1.0, wb, m, wk->left + F, m, 1.0, wk->mv, m);
    }
    sd->held = sd->rho;
    sd->residual = full > 0.0 ? sqrt(diff / fmax(full, copy)) : 0.0;
    sd->change = sqrt(change);
    sd->size = sd->rho * sqrt(mult);
    sd->biggest = biggest;
}

/* Residual balancing: rho follows the square root of primal over dual residual,
 * both relative, within a factor 10, and only if it is off by 2.5. */
static void balance(side *sd)
{
    double primal = sd->residual, dual, ratio;

    if (!sd->on || !(sd->size > 0.0) || !(sd->change > 0.0) || !(primal > 0.0)) return;
    dual = sd->rho * sd->change / sd->size;
    ratio = fmin(10.0, fmax(0.1, sqrt(primal / dual)));
    if (ratio > 2.5 || ratio < 1.0 / 2.5) sd->pending = sd->next * ratio;
}

/* Algorithm 1's stop: all splits within 1e-3 entrywise, relative change of F below
 * 1e-3 (tol does not enter: it belongs to the gap). */
static bool paper_done(workspace *wk, double f, double f_old)
{
    size_t m = (size_t) wk->m;

    if (!(fabs(f - f_old) < 1e-3 * f_old) && f != f_old) return false;
    if (wk->side[WEIGHTS].v != NULL && !(wk->side[WEIGHTS].biggest < 1e-3)) return false;
    for (int which = 0; which < 2; which++) {
        const side *sd = &wk->side[which];
        if (!sd->on) continue;
        for (int j = 0; j < wk->q; j++)
            for (size_t i = 0; i < m; i++) {
                size_t at = i + (size_t) j * m;
                double cut = sd->cut[which == ROWS ? i : (size_t) j];
                if (!(fabs(wk->w[at] - (1.0 - cut) * sd->v[at]) < 1e-3)) return false;
            }
    }
    return true;
}

/* ---- the certificate ------------------------------------------------------------- */

/* The best of a few splits of E = G - L2 - L3; keeps the highest dual value. */
static void dual_bound(workspace *wk)
{
    double ss, rx, top = -1.0, top_theta = 0.0, top_scale = 0.0;
    bool rows = wk->side[ROWS].on, cols = wk->side[COLS].on;

    if (wk->side[WEIGHTS].v != NULL) multiplier_coordinates(wk);
    gradient(wk, wk->w, &ss, &rx);
    split_sums(wk);
    for (int i = 0; i <= 11; i++) {
        double theta = i <= 10 ? i / 10.0 : wk->theta_zero, t, s, d;
        if (!rows || !cols) theta = rows ? 1.0 : 0.0;
        t = worst_ratio(wk, theta);
        /* L may use all of its box, so it leaves no room to scale up. */
        if (wk->side[WEIGHTS].v != NULL) t = fmax(t, 1.0);
        s = ss > 0.0 ? rx / ss : 0.0;
        if (fabs(s) * t > 1.0) s = s > 0.0 ? 1.0 / t : -1.0 / t;
        d = 2.0 * s * rx - s * s * ss;
        if (d > top) {
            top = d;
            top_theta = theta;
            top_scale = s;
        }
    }
    wk->theta = top_theta;
    wk->scale = top_scale;
    if (top > wk->dual) wk->dual = top;
}

/* spare = G = 2A'RB' - L B' at W, with ss = ||R||^2 and rx = <R, D>. */
static void gradient(workspace *wk, const double *w, double *ss, double *rx)
{
    int m = wk->m, r = wk->r;
    size_t M = (size_t) m, R = (size_t) r;

    *ss = *rx = 0.0;
    coordinates(wk, w, wk->k);
    for (size_t j = 0; j < R; j++)
        for (size_t i = 0; i < R; i++) {
            double ab = wk->a[i] * wk->b[j];
            double res = (i == j ? wk->target[i] : 0.0) - ab * wk->k[i + j * R];
            *ss += res * res;
            if (i == j) *rx += res * wk->target[i];
            wk->k[i + j * R] = 2.0 * ab * res;
        }
    expand(wk, 1.0, wk->k, 0.0, wk->spare);
    if (wk->side[WEIGHTS].v == NULL) return;
    for (size_t j = 0; j < R; j++)
        for (size_t i = j * M; i < (j + 1) * M; i++) wk->tmp[i] = wk->lv[i] * wk->b[j];
    gemm(m, wk->q, r, -1.0, wk->tmp, m, wk->right_t, r, 1.0, wk->spare, m);
}

/* lv = L1 P. */
static void multiplier_coordinates(workspace *wk)
{
    side *sd = &wk->side[WEIGHTS];
    int m = wk->m, r = wk->r;
    size_t M = (size_t) m;
    double bound = sd->penalty / sd->held;

    memset(wk->lv, 0, M * (size_t) r * sizeof(double));
    for (int from = 0; from < m; from += wk->width) {
        int n = m - from < wk->width ? m - from : wk->width;
        size_t F = (size_t) from, end = (size_t) n * M;
        const double *v = sd->v + F * M, *t = wk->weight + F * M;
        for (size_t i = 0; i < end; i++)
            wk->strip[i] = sd->held * fmin(bound * t[i], fmax(-bound * t[i], v[i]));
        gemm(m, r, n, 1.0, wk->strip, m, wk->left + F, m, 1.0, wk->lv, m);
    }
}

/* For every row: ||L2_i||^2, <L2_i, E_i>, ||E_i||^2; for every column the same of L3.
 * E overwrites G in spare. */
static void split_sums(workspace *wk)
{
    const side *rows = &wk->side[ROWS], *cols = &wk->side[COLS];
    size_t m = (size_t) wk->m, q = (size_t) wk->q;
    double *r0 = wk->row_sum, *r1 = r0 + m, *r2 = r1 + m;

    memset(r0, 0, 3 * m * sizeof(double));
    for (size_t j = 0; j < q; j++) {
        size_t at = j * m;
        double c0 = 0.0, c1 = 0.0, c2 = 0.0;
        double f = cols->on ? cols->held * cols->cut[j] : 0.0;
        for (size_t i = 0; i < m; i++) {
            double l2 = rows->on ? rows->held * rows->cut[i] * rows->v[at + i] : 0.0;
            double l3 = cols->on ? f * cols->v[at + i] : 0.0;
            double e = wk->spare[at + i] - l2 - l3;
            wk->spare[at + i] = e;
            r0[i] += l2 * l2;
            r1[i] += l2 * e;
            r2[i] += e * e;
            c0 += l3 * l3;
            c1 += l3 * e;
            c2 += e * e;
        }
        wk->col_sum[j] = c0;
        wk->col_sum[j + q] = c1;
        wk->col_sum[j + 2 * q] = c2;
    }
}

/* Largest ||row of L2 + theta E|| / alpha or ||column of L3 + (1 - theta) E|| / beta. */
static double worst_ratio(const workspace *wk, double theta)
{
    size_t m = (size_t) wk->m, q = (size_t) wk->q;
    double rows = 0.0, cols = 0.0, rest = 1.0 - theta;

    for (size_t i = 0; i < m; i++)
        rows = fmax(rows, wk->row_sum[i] + theta * (2.0 * wk->row_sum[i + m] +
                                                    theta * wk->row_sum[i + 2 * m]));
    for (size_t j = 0; j < q; j++)
        cols = fmax(cols, wk->col_sum[j] + rest * (2.0 * wk->col_sum[j + q] +
                                                   rest * wk->col_sum[j + 2 * q]));
    rows = wk->side[ROWS].on ? sqrt(rows) / wk->side[ROWS].penalty : 0.0;
    cols = wk->side[COLS].on ? sqrt(cols) / wk->side[COLS].penalty : 0.0;
    return fmax(rows, cols);
}

/* F at What with the zero columns of Wtilde, and with lambda > 0 at W with the same
 * zeros (W B is not sparse, so What can be far from it); the lowest is kept. */
static void primal_bound(workspace *wk, double *best_w)
{
    const side *rows = &wk->side[ROWS], *cols = &wk->side[COLS];
    size_t m = (size_t) wk->m;
    int forms = wk->side[WEIGHTS].v != NULL ? 2 : 1;

    for (int form = 0; form < forms; form++) {
        double f;
        for (int j = 0; j < wk->q; j++) {
            size_t at = (size_t) j * m;
            double *to = wk->spare + at, keep = cols->on ? 1.0 - cols->cut[j] : 1.0;
            if (keep == 0.0) {
                memset(to, 0, m * sizeof(double));
            } else if (form == 1) {
                for (size_t i = 0; i < m; i++)
                    to[i] = rows->on && rows->cut[i] == 1.0 ? 0.0 : wk->w[at + i];
            } else if (rows->on) {
                for (size_t i = 0; i < m; i++) to[i] = (1.0 - rows->cut[i]) * rows->v[at + i];
            } else {
                for (size_t i = 0; i < m; i++) to[i] = keep * cols->v[at + i];
            }
        }
        f = objective(wk, wk->spare);
        if (f < wk->best || !(fabs(f) <= DBL_MAX)) {
            wk->best = f;
            ufs_copy(best_w, wk->spare, wk->len);
        }
    }
}

static double objective(workspace *wk, const double *w)
{
    size_t r = (size_t) wk->r;
    double f = 0.0;

    coordinates(wk, w, wk->k);
    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < r; i++) {
            double res = (i == j ? wk->target[i] : 0.0) - wk->a[i] * wk->b[j] * wk->k[i + j * r];
            f += res * res;
        }
    la_row_norms(wk->m, wk->q, w, wk->row);
    la_col_norms(wk->m, wk->q, w, wk->col);
    f += wk->side[ROWS].penalty * la_l21(wk->m, wk->row, 0.0);
    f += wk->side[COLS].penalty * la_l21(wk->q, wk->col, 0.0);
    if (wk->side[WEIGHTS].v != NULL) f += wk->side[WEIGHTS].penalty * weighted_sum(wk, w);
    return f;
}

/* sum_ij T_ij |(W B)_ij|. */
static double weighted_sum(workspace *wk, const double *w)
{
    int m = wk->m, r = wk->r;
    size_t M = (size_t) m, R = (size_t) r;
    double sum = 0.0;

    gemm(m, r, wk->q, 1.0, w, m, wk->right, wk->q, 0.0, wk->tmp, m);
    for (size_t j = 0; j < R; j++)
        for (size_t i = j * M; i < (j + 1) * M; i++) wk->tmp[i] *= wk->b[j];
    for (int from = 0; from < m; from += wk->width) {
        int n = m - from < wk->width ? m - from : wk->width;
        size_t F = (size_t) from, end = (size_t) n * M;
        const double *t = wk->weight + F * M;
        gemm(m, n, r, 1.0, wk->tmp, m, wk->left_t + F * R, r, 0.0, wk->strip, m);
        for (size_t i = 0; i < end; i++) sum += t[i] * fabs(wk->strip[i]);
    }
    return sum;
}

/* ---- the end --------------------------------------------------------------------- */

/* || W - copy || / max(||W||, ||copy||) of rows and columns (the weights keep theirs of
 * their last update). */
static void residuals(workspace *wk)
{
    size_t m = (size_t) wk->m;

    for (int which = 0; which < 2; which++) {
        side *sd = &wk->side[which];
        double diff = 0.0, copy = 0.0, full = la_ss(wk->len, wk->w);
        if (!sd->on) continue;
        for (int j = 0; j < wk->q; j++)
            for (size_t i = 0; i < m; i++) {
                size_t at = i + (size_t) j * m;
                double c = (1.0 - sd->cut[which == ROWS ? i : (size_t) j]) * sd->v[at];
                copy += c * c;
                diff += (wk->w[at] - c) * (wk->w[at] - c);
            }
        sd->residual = diff > 0.0 ? sqrt(diff / fmax(full, copy)) : 0.0;
    }
}

/* P = s (L2 + theta E), Q = s (L3 + (1 - theta) E), L = s L1 in the places of V; the
 * optimality residual; everything back to the user's units. */
static void finish(workspace *wk, alfs_solution *solution, alfs_info *info)
{
    side *rows = &wk->side[ROWS], *cols = &wk->side[COLS], *z = &wk->side[WEIGHTS];
    size_t m = (size_t) wk->m;
    double u2 = wk->unit * wk->unit, up = u2 * wk->unit_w, ss, rx;
    double p_share = wk->scale * wk->theta, q_share = wk->scale * (1.0 - wk->theta);

    if (!wk->known_zero) {
        residuals(wk);
        if (z->v != NULL) multiplier_coordinates(wk);
        gradient(wk, wk->w, &ss, &rx);
        split_sums(wk);
        for (int j = 0; j < wk->q; j++)
            for (size_t i = 0; i < m; i++) {
                size_t at = i + (size_t) j * m;
                double e = wk->spare[at];
                if (rows->on)
                    solution->p[at] = wk->scale * rows->held * rows->cut[i] * rows->v[at] + p_share * e;
                if (cols->on)
                    solution->q[at] = wk->scale * cols->held * cols->cut[j] * cols->v[at] + q_share * e;
            }
        if (z->v != NULL)
            for (size_t i = 0; i < m * m; i++) {
                double bound = z->penalty / z->held * wk->weight[i];
                z->v[i] = wk->scale * z->held * fmin(bound, fmax(-bound, z->v[i]));
            }
    }
    for (int i = 0; i < 3; i++) {
        info->primal[i] = wk->side[i].residual;
        solution->rho[i] = wk->side[i].on && wk->side[i].penalty > 0.0 ?
            wk->side[i].rho / wk->side[i].penalty : 0.0;
    }
    info->kkt = kkt(wk, solution);
    info->objective = wk->best * u2;
    info->dual = wk->dual * u2;
    for (size_t i = 0; i < wk->len; i++) {
        solution->w[i] /= wk->unit_w;
        solution->p[i] *= up;
        solution->q[i] *= up;
    }
    if (z->v != NULL)
        for (size_t i = 0; i < m * m; i++) z->v[i] *= u2;
}

/* Largest of || 2A'RB' - L B' - P - Q || / || 2A'DB' || and of the complementarity
 * gaps (alpha ||W||_{2,1} - <P, W>) / F, ... at the returned W, P, Q, L. */
static double kkt(workspace *wk, const alfs_solution *solution)
{
    side *z = &wk->side[WEIGHTS];
    int m = wk->m, r = wk->r;
    size_t M = (size_t) m, R = (size_t) r;
    const double *w = solution->w;
    double ss, rx, g0 = 0.0, diff = 0.0, pw = 0.0, qw = 0.0, lw = 0.0, worst;

    if (z->v != NULL) {
        /* L is now itself, no longer V: its coordinates and <L, W B> = <L P, W Q b>. */
        gemm(m, r, m, 1.0, solution->l, m, wk->left, m, 0.0, wk->lv, m);
        gemm(m, r, wk->q, 1.0, w, m, wk->right, wk->q, 0.0, wk->tmp, m);
        for (size_t j = 0; j < R; j++)
            for (size_t i = j * M; i < (j + 1) * M; i++) lw += wk->lv[i] * wk->tmp[i] * wk->b[j];
    }
    gradient(wk, w, &ss, &rx);
    for (size_t i = 0; i < R; i++) {
        double g = 2.0 * wk->a[i] * wk->b[i] * wk->target[i];
        g0 += g * g;
    }
    for (size_t i = 0; i < wk->len; i++) {
        double e = wk->spare[i] - solution->p[i] - solution->q[i];
        diff += e * e;
        pw += solution->p[i] * w[i];
        qw += solution->q[i] * w[i];
    }
    worst = sqrt(diff / g0);
    la_row_norms(m, wk->q, w, wk->row);
    la_col_norms(m, wk->q, w, wk->col);
    worst = fmax(worst, (wk->side[ROWS].penalty * la_l21(m, wk->row, 0.0) - pw) / wk->best);
    worst = fmax(worst, (wk->side[COLS].penalty * la_l21(wk->q, wk->col, 0.0) - qw) / wk->best);
    if (z->v != NULL)
        worst = fmax(worst, (z->penalty * weighted_sum(wk, w) - lw) / wk->best);
    return worst;
}

/* ---- coordinates ------------------------------------------------------------------- */

/* k = P' W Q (r x r): through the shorter side, 2 m q r + 2 min(m, q) r^2 flops. */
static void coordinates(workspace *wk, const double *w, double *k)
{
    int m = wk->m, q = wk->q, r = wk->r;

    if (wk->right == NULL) {
        la_gemm('N', 'N', r, q, m, 1.0, wk->left_t, r, w, m, 0.0, k, r);
    } else if (q < m) {
        la_gemm('N', 'N', r, q, m, 1.0, wk->left_t, r, w, m, 0.0, wk->small, r);
        la_gemm('N', 'N', r, r, q, 1.0, wk->small, r, wk->right, q, 0.0, k, r);
    } else {
        gemm(m, r, q, 1.0, w, m, wk->right, q, 0.0, wk->thin, m);
        la_gemm('N', 'N', r, r, m, 1.0, wk->left_t, r, wk->thin, m, 0.0, k, r);
    }
}

/* out = alpha P k Q' + beta out. */
static void expand(workspace *wk, double alpha, const double *k, double beta, double *out)
{
    int m = wk->m, q = wk->q, r = wk->r;

    if (wk->right == NULL) {
        gemm(m, q, r, alpha, wk->left, m, k, r, beta, out, m);
    } else if (q < m) {
        la_gemm('N', 'N', r, q, r, 1.0, k, r, wk->right_t, r, 0.0, wk->small, r);
        gemm(m, q, r, alpha, wk->left, m, wk->small, r, beta, out, m);
    } else {
        gemm(m, r, r, 1.0, wk->left, m, k, r, 0.0, wk->thin, m);
        gemm(m, q, r, alpha, wk->thin, m, wk->right_t, r, beta, out, m);
    }
}

/* la_gemm with op(A) = A in blocks of rows that stay in cache: nothing to a tuned
 * BLAS, a factor 1.7 to the reference one when m is large. */
static void gemm(int m, int n, int k, double alpha, const double *a, int lda,
                 const double *b, int ldb, double beta, double *c, int ldc)
{
    const int block = 512;
    for (int i = 0; i < m; i += block)
        la_gemm('N', 'N', m - i < block ? m - i : block, n, k, alpha, a + i, lda, b, ldb,
                beta, c + i, ldc);
}
