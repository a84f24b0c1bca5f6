/* alfs_newton.c: lambda > 0 on few columns of W, by a smoothed primal-dual Newton method;
 * preconditioner in alfs_newton_rows.c.
 *
 * A row of W has q unknowns and m weighted kinks lambda T_ij |w_i x_j|. ADMM has to find out
 * which of them are zero through one scalar penalty; the Hessian of a row knows. With
 *   s_i = (||W_i||^2 + (e s)^2)^(1/2), c_j the same of columns, h_ij the same of Z = W B,
 * e times typical sizes s, c, z of the start,
 *   f_e = || X - X W B ||^2 + alpha sum s_i + beta sum c_j + lambda sum T_ij h_ij
 * is smooth. P, Q, L approximate alpha W/s, beta W/c, lambda T Z/h, are kept within their
 * bounds, and stand in the Hessian instead of them (Chan, Golub and Mulet 1999,
 * doi:10.1137/S1064827596299767), which keeps full steps possible when e is small:
 *   H D = 2 X'X D BB' + ((D B) o k) B' + alpha D/s + beta D/c - sym(P/s, W/s) - sym(Q/c, W/c),
 *   k = (lambda T - L o Z/h)/h >= 0,
 *   sym(P', W')_i = (P'_i <W'_i, D_i> + W'_i <P'_i, D_i>)/2, of columns likewise.
 * H D = -g by conjugate gradients, preconditioned by the rows' own q x q blocks
 *   H_i = B diag(k_i) B' + d_i BB' + alpha/s_i + diag(beta/c) - sym of row i
 * and, for what the rows have in common, the leading directions of X'X by Woodbury's formula;
 * d_i is what X'X has on its diagonal beside them. k_i spans many orders of magnitude, and q
 * unknowns are tied down by some q of them: the blocks take the 5q/4 (or 128) largest, and of the
 * others the mean, which leaves three to five products a step. e falls when smoothing makes up more
 * than a fifth of the gap that solve_alfs_bound.c finds for P, Q, L.
 *
 * A step: 2.3 m q^3 flops for the blocks' inverses, m k^2 q^2 + (kq)^3/3 with k q about 300
 * directions, and 6 m^2 q + 4 m q^2 for each product with H. Memory: four m x m, m q^2, (kq)^2,
 * m k^2 / 2 (k such that it is no more than 16 of m x m). */
#include "alfs_newton.h"
#include "la.h"
#include <R_ext/Utils.h>

/* k q of the Woodbury part, whose matrix is of that order: k = floor(300 / q). */
enum { DIRECTIONS = 300 };

/* Rows and columns below so many smoothings are zero in the last candidate: those that should be
 * zero are left at about one of them. */
static const double CLEAN = 10.0;

static void allocate(newton *a);
static bool set_up(newton *a, alfs_work *work, const double *x, const double *w);
static void what_rows_share(newton *a);
static bool start_from(newton *a, const double *w);
static double typical(int n, const double *norm);
static double smooth_by(newton *a, double e);
static double evaluate(newton *a, const double *w, double t);
static void start_duals(newton *a);
static void linearise(newton *a);
static void apply_hessian(void *data, const double *d, double *out);
static void apply_gram(newton *a, const double *d, double *out);
static void row_dots(newton *a, const double *u, const double *v, double *out);
static void col_dots(newton *a, const double *u, const double *v, double *out);
static void update_duals(newton *a);
static double smoothing_part(const newton *a);
static void candidate(newton *a, double level, double *best_w);

bool alfs_newton(alfs_work *work, const double *x, double goal, bool warm, double *smooth,
                 double *best_w, double bound, ufs_run *run)
{
    const alfs_settings *settings = work->settings;
    alfs_value *value = &work->value;
    newton a;
    double u2 = work->unit * work->unit, gap = 1.0, f;
    size_t len = (size_t) work->space.m * (size_t) work->space.q;

    if (!set_up(&a, work, x, best_w)) return false;
    f = smooth_by(&a, *smooth);
    if (!warm) start_duals(&a);
    for (int step = 0; step < 60 && run->iterations < settings->max_iter; step++) {
        double t = 1.0, slope, f_new;
        linearise(&a);
        if (alfs_newton_blocks(&a)) return false;
        memset(a.d, 0, len * sizeof(double));
        for (size_t i = 0; i < len; i++) a.half[i] = -a.g[i];
        la_cg(&a.cg, a.half, a.d);
        slope = la_dot((int) len, a.g, a.d);
        if (!(slope < 0.0)) return false;
        la_gemm('N', 'T', a.m, a.m, a.q, 1.0, a.d, a.m, a.x, a.m, 0.0, a.dz, a.m);
        update_duals(&a);
        for (;; t *= 0.5) {
            for (size_t i = 0; i < len; i++) a.trial[i] = a.w[i] + t * a.d[i];
            f_new = evaluate(&a, a.trial, t);
            if (f_new <= f + 1e-4 * t * slope + 1e-14 * fabs(f)) break;
            if (t < 1e-6) return false;
        }
        ufs_copy(a.w, a.trial, len);
        for (size_t i = 0; i < (size_t) a.m * (size_t) a.m; i++) a.z[i] += t * a.dz[i];
        run->iterations++;
        alfs_dual_bound(work, -1.0);
        value->current = f_new;
        candidate(&a, 1.0, best_w);
        gap = (value->best - value->dual) / value->best;
        ufs_run_step(run, value->best * u2, (value->best - bound) / value->best);
        if (!(fabs(gap) <= DBL_MAX)) return false;
        if (gap < goal) {
            candidate(&a, CLEAN, best_w);
            break;
        }
        alfs_record(work, bound, run);
        f = f_new;
        if (smoothing_part(&a) > 0.2 * (value->best - value->dual))
            f = smooth_by(&a, fmax(0.1 * a.e, 1e-10));
    }
    *smooth = a.e;
    return gap < goal;
}

/* A digit of the gap takes some three steps, whose flops (with four products; small inverses count
 * threefold) are counted here, or iterations of ADMM whose number grows from digit to digit
 * (measured on 70 to 500 samples). A step worth more than sixty iterations never pays. Memory is
 * held to that of 16 matrices m x m, or 160 MB. */
double alfs_newton_from(int m, int q, int r)
{
    double M = m, Q = q, R = r;
    double step = 6.0 * M * Q * Q * Q + 30.0 * M * Q * Q + 24.0 * M * M * Q + 100.0 * M * M;
    double iteration = 4.0 * M * M * Q + 6.0 * M * R * Q + 40.0 * M * M;

    if (step > 60.0 * iteration || M * Q * Q > fmax(16.0 * M * M, 2e7)) return 0.0;
    return 1e-3 * pow(33.0 * iteration / step, 3.5);
}

/* False: W = 0, which has no sizes. x: columns of X in the user's unit. */
static bool set_up(newton *a, alfs_work *work, const double *x, const double *w)
{
    const alfs_space *space = &work->space;
    int m = space->m, q = space->q, r = space->r, k = DIRECTIONS / q;
    size_t M = (size_t) m, Q = (size_t) q;
    double *own = ufs_dalloc(M, Q);

    memset(a, 0, sizeof *a);
    k = k < 1 ? 1 : k > r ? r : k;
    /* `square` is to be no larger than 16 matrices of m x m. */
    while (k > 1 && k * (k + 1) / 2 > 16 * m) k--;
    a->work = work;
    a->m = m;
    a->q = q;
    a->k = k;
    a->alpha = work->split[ROWS].penalty;
    a->beta = work->split[COLS].penalty;
    a->lambda = work->split[WEIGHTS].penalty;
    for (size_t i = 0; i < M * Q; i++) own[i] = x[i] / work->unit;
    a->x = own;
    allocate(a);
    la_gram('T', m, q, a->x, a->bb);
    ufs_copy(a->low_bb, a->bb, Q * Q);
    for (size_t j = 0; j < Q; j++) a->low_bb[j + j * Q] *= 1.0 + 1e-12;
    if (la_chol(q, a->low_bb)) a->k = 0; /* equal columns: without what the rows share */
    la_transpose(m, q, a->x, a->xt);
    what_rows_share(a);
    if (2 * r > m) {
        a->gram = ufs_dalloc(M, M);
        for (size_t j = 0; j < (size_t) r; j++)
            for (size_t i = 0; i < M; i++) a->y[i + j * M] = space->left[i + j * M] * space->a[j];
        la_gram('N', m, r, a->y, a->gram);
    }
    return start_from(a, w);
}

static void allocate(newton *a)
{
    size_t M = (size_t) a->m, Q = (size_t) a->q, K = (size_t) a->k;

    a->w = ufs_dalloc(M, Q);
    a->d = ufs_dalloc(M, Q);
    a->g = ufs_dalloc(M, Q);
    a->trial = ufs_dalloc(M, Q);
    a->half = ufs_dalloc(M, Q);
    a->bb = ufs_dalloc(Q, Q);
    a->low_bb = ufs_dalloc(Q, Q);
    a->turned = ufs_dalloc((size_t) a->work->space.r, Q);
    a->z = ufs_dalloc(M, M);
    a->dz = ufs_dzero(M, M);
    a->k_weight = ufs_dalloc(M, M);
    a->y = ufs_dalloc(M, M);
    a->s = ufs_dalloc(M, 1);
    a->c = ufs_dalloc(Q, 1);
    a->row_a = ufs_dalloc(M, 1);
    a->row_b = ufs_dalloc(M, 1);
    a->col_a = ufs_dalloc(Q, 1);
    a->col_b = ufs_dalloc(Q, 1);
    a->xt = ufs_dalloc(Q, M);
    a->strip = ufs_dalloc(M, ALFS_NEWTON_STRIP);
    a->key = ufs_dalloc(M, 1);
    a->heavy = ufs_dalloc(Q, M);
    a->inverse = ufs_dalloc(Q * Q, M);
    a->shared = ufs_dalloc(M, K);
    a->square = ufs_dalloc(M, K * (K + 1) / 2);
    a->rest = ufs_dalloc(M, 1);
    a->core = ufs_dalloc(K * Q, K * Q);
    a->blocks = ufs_dalloc(Q * Q, K * (K + 1) / 2);
    a->one_row = ufs_dalloc(2, Q);
    a->projected = ufs_dalloc(K * Q, 1);
    /* Spec 11.3; two to five products. */
    a->cg = (la_cg_problem){.n = a->m * a->q,
                            .apply = apply_hessian,
                            .precondition = alfs_newton_precondition,
                            .data = a,
                            .tol = 0.02,
                            .natural = true,
                            .max_iter = 60,
                            .r = ufs_dalloc(M, Q),
                            .z = ufs_dalloc(M, Q),
                            .p = ufs_dalloc(M, Q),
                            .q = ufs_dalloc(M, Q)};
}

/* X'X from its eigenvectors: the k leading ones, their products, and d_i = 2 (X'X)_ii less
 * these. */
static void what_rows_share(newton *a)
{
    const alfs_space *space = &a->work->space;
    size_t M = (size_t) a->m;

    memset(a->rest, 0, M * sizeof(double));
    for (int j = 0; j < space->r; j++)
        for (size_t i = 0; i < M; i++) {
            double v = space->left[i + (size_t) j * M] * space->a[j];
            if (j < a->k)
                a->shared[i + (size_t) j * M] = sqrt(2.0) * v;
            else
                a->rest[i] += 2.0 * v * v;
        }
    for (int j = 0, at = 0; j < a->k; j++)
        for (int i = 0; i <= j; i++, at++)
            for (size_t l = 0; l < M; l++)
                a->square[l + (size_t) at * M] = a->shared[l + (size_t) i * M] *
                                                 a->shared[l + (size_t) j * M];
}

/* W, its product and typical sizes; from here on V of the splits holds P, Q, L themselves. */
static bool start_from(newton *a, const double *w)
{
    int m = a->m, q = a->q;
    size_t M = (size_t) m;

    ufs_copy(a->w, w, M * (size_t) q);
    la_gemm('N', 'T', m, m, q, 1.0, a->w, m, a->x, m, 0.0, a->z, m);
    la_row_norms(m, q, a->w, a->s);
    la_col_norms(m, q, a->w, a->c);
    a->row_unit = typical(m, a->s);
    a->col_unit = typical(q, a->c);
    a->z_unit = sqrt(la_ss(M * M, a->z)) / (double) m;
    if (!(a->row_unit > 0.0) || !(a->col_unit > 0.0) || !(a->z_unit > 0.0)) return false;
    for (int which = 0; which < 3; which++) {
        alfs_split *split = &a->work->split[which];
        split->held = 1.0;
        split->residual = 0.0;
        if (which == WEIGHTS) continue;
        for (int i = 0; i < (which == ROWS ? m : q); i++) split->cut[i] = 1.0;
    }
    return true;
}

/* Root of the mean square. */
static double typical(int n, const double *norm)
{
    return sqrt(la_ss((size_t) n, norm) / (double) n);
}

/* f_e of W from here on. */
static double smooth_by(newton *a, double e)
{
    a->e = e;
    a->least_row = e * a->row_unit;
    a->least_col = e * a->col_unit;
    a->least_z = e * a->z_unit;
    return evaluate(a, a->w, 0.0);
}

/* f_e of w, whose W B is z + t dz, and its core; s and c. */
static double evaluate(newton *a, const double *w, double t)
{
    alfs_space *space = &a->work->space;
    size_t M = (size_t) a->m;
    const double *weight = a->work->weights->t;
    double f, sum = 0.0;

    la_row_norms(a->m, a->q, w, a->s);
    la_col_norms(a->m, a->q, w, a->c);
    for (size_t i = 0; i < M; i++) {
        a->s[i] = sqrt(a->s[i] * a->s[i] + a->least_row * a->least_row);
        sum += a->s[i];
    }
    f = a->alpha * sum;
    sum = 0.0;
    for (int j = 0; j < a->q; j++) {
        a->c[j] = sqrt(a->c[j] * a->c[j] + a->least_col * a->least_col);
        sum += a->c[j];
    }
    f += a->beta * sum;
    sum = 0.0;
    for (size_t i = 0; i < M * M; i++) {
        double v = a->z[i] + t * a->dz[i];
        sum += weight[i] * sqrt(v * v + a->least_z * a->least_z);
    }
    f += a->lambda * sum;
    alfs_add_all(space, w);
    alfs_core(space, a->work->core);
    return f + alfs_loss(space, a->work->core);
}

/* P, Q, L that belong to W. */
static void start_duals(newton *a)
{
    alfs_work *work = a->work;
    size_t M = (size_t) a->m;
    double *p = work->split[ROWS].v, *qq = work->split[COLS].v, *l = work->split[WEIGHTS].v;
    const double *weight = work->weights->t;
    double mz2 = a->least_z * a->least_z;

    for (size_t i = 0; i < M * M; i++)
        l[i] = a->lambda * weight[i] * a->z[i] / sqrt(a->z[i] * a->z[i] + mz2);
    for (size_t j = 0; j < (size_t) a->q; j++)
        for (size_t i = 0; i < M; i++) {
            size_t at = i + j * M;
            if (work->split[ROWS].on) p[at] = a->alpha * a->w[at] / a->s[i];
            if (work->split[COLS].on) qq[at] = a->beta * a->w[at] / a->c[j];
        }
}

/* g and k at W. */
static void linearise(newton *a)
{
    int m = a->m, q = a->q;
    size_t M = (size_t) m, len = M * (size_t) q;
    const double *weight = a->work->weights->t, *l = a->work->split[WEIGHTS].v;
    double mz2 = a->least_z * a->least_z;

    for (size_t i = 0; i < M * M; i++) {
        double z = a->z[i], eta = sqrt(z * z + mz2), lt = a->lambda * weight[i], u = z / eta;
        a->y[i] = lt * u;
        a->k_weight[i] = (lt - l[i] * u) / eta;
    }
    la_gemm('N', 'N', m, q, m, 1.0, a->y, m, a->x, m, 0.0, a->g, m);
    /* 2 X'X (W BB' - X_J'). */
    ufs_copy(a->half, a->x, len);
    la_gemm('N', 'N', m, q, q, 2.0, a->w, m, a->bb, q, -2.0, a->half, m);
    apply_gram(a, a->half, a->trial);
    for (size_t j = 0; j < (size_t) q; j++)
        for (size_t i = 0; i < M; i++) {
            size_t at = i + j * M;
            a->g[at] += a->trial[at] + (a->alpha / a->s[i] + a->beta / a->c[j]) * a->w[at];
        }
}

/* out = X'X d. */
static void apply_gram(newton *a, const double *d, double *out)
{
    const alfs_space *space = &a->work->space;
    int m = a->m, q = a->q, r = space->r;

    if (a->gram != NULL) {
        alfs_gemm(m, q, m, 1.0, a->gram, m, d, m, 0.0, out, m);
        return;
    }
    la_gemm('T', 'N', r, q, m, 1.0, space->left, m, d, m, 0.0, a->turned, r);
    for (size_t j = 0; j < (size_t) q; j++)
        for (size_t i = 0; i < (size_t) r; i++)
            a->turned[i + j * (size_t) r] *= space->a[i] * space->a[i];
    alfs_gemm(m, q, r, 1.0, space->left, m, a->turned, r, 0.0, out, m);
}

/* out_i = <u_i, v_i> of rows; of columns. */
static void row_dots(newton *a, const double *u, const double *v, double *out)
{
    size_t M = (size_t) a->m;

    memset(out, 0, M * sizeof(double));
    for (size_t j = 0; j < (size_t) a->q; j++)
        for (size_t i = 0; i < M; i++) out[i] += u[i + j * M] * v[i + j * M];
}

static void col_dots(newton *a, const double *u, const double *v, double *out)
{
    for (int j = 0; j < a->q; j++)
        out[j] = la_dot(a->m, u + (size_t) j * (size_t) a->m, v + (size_t) j * (size_t) a->m);
}

static void apply_hessian(void *data, const double *d, double *out)
{
    newton *a = data;
    int m = a->m, q = a->q;
    size_t M = (size_t) m;
    const double *p = a->work->split[ROWS].v, *qq = a->work->split[COLS].v;
    bool rows = a->work->split[ROWS].on, cols = a->work->split[COLS].on;

    R_CheckUserInterrupt();
    la_gemm('N', 'N', m, q, q, 2.0, d, m, a->bb, q, 0.0, a->trial, m);
    apply_gram(a, a->trial, out);
    la_gemm('N', 'T', m, m, q, 1.0, d, m, a->x, m, 0.0, a->y, m);
    for (size_t i = 0; i < M * M; i++) a->y[i] *= a->k_weight[i];
    la_gemm('N', 'N', m, q, m, 1.0, a->y, m, a->x, m, 1.0, out, m);
    if (rows) {
        row_dots(a, a->w, d, a->row_a);
        row_dots(a, p, d, a->row_b);
    }
    if (cols) {
        col_dots(a, a->w, d, a->col_a);
        col_dots(a, qq, d, a->col_b);
    }
    for (size_t j = 0; j < (size_t) q; j++) {
        double cj = a->beta / a->c[j], f = 0.5 / (a->c[j] * a->c[j]);
        for (size_t i = 0; i < M; i++) {
            size_t at = i + j * M;
            double v = (a->alpha / a->s[i] + cj) * d[at];
            if (rows)
                v -= 0.5 / (a->s[i] * a->s[i]) * (p[at] * a->row_a[i] + a->w[at] * a->row_b[i]);
            if (cols) v -= f * (qq[at] * a->col_a[j] + a->w[at] * a->col_b[j]);
            out[at] += v;
        }
    }
}

/* ---- the step --------------------------------------------------------------------------- */

/* P, Q, L of the linearised equations at the full step, within their bounds. */
static void update_duals(newton *a)
{
    alfs_work *work = a->work;
    size_t M = (size_t) a->m;
    double *p = work->split[ROWS].v, *qq = work->split[COLS].v, *l = work->split[WEIGHTS].v;
    const double *weight = work->weights->t;
    double mz2 = a->least_z * a->least_z;

    for (size_t i = 0; i < M * M; i++) {
        double lt = a->lambda * weight[i], eta = sqrt(a->z[i] * a->z[i] + mz2);
        l[i] = alfs_clamp(lt * a->z[i] / eta + a->k_weight[i] * a->dz[i], lt);
    }
    if (work->split[ROWS].on) {
        row_dots(a, a->w, a->d, a->row_a);
        for (size_t j = 0; j < (size_t) a->q; j++)
            for (size_t i = 0; i < M; i++) {
                size_t at = i + j * M;
                double s = a->s[i];
                p[at] = a->alpha * (a->w[at] + a->d[at]) / s - p[at] / (s * s) * a->row_a[i];
            }
        la_row_norms(a->m, a->q, p, a->row_b);
        for (size_t i = 0; i < M; i++)
            a->row_b[i] = a->row_b[i] > a->alpha ? a->alpha / a->row_b[i] : 1.0;
        for (size_t j = 0; j < (size_t) a->q; j++)
            for (size_t i = 0; i < M; i++) p[i + j * M] *= a->row_b[i];
    }
    if (!work->split[COLS].on) return;
    col_dots(a, a->w, a->d, a->col_a);
    for (size_t j = 0; j < (size_t) a->q; j++) {
        double c = a->c[j], norm = 0.0;
        for (size_t at = j * M; at < (j + 1) * M; at++) {
            qq[at] = a->beta * (a->w[at] + a->d[at]) / c - qq[at] / (c * c) * a->col_a[j];
            norm += qq[at] * qq[at];
        }
        norm = sqrt(norm);
        if (norm > a->beta)
            for (size_t at = j * M; at < (j + 1) * M; at++) qq[at] *= a->beta / norm;
    }
}

/* What of the gap is due to e: <P, W> of P = alpha W/s instead of alpha ||W||_{2,1}, and so on. */
static double smoothing_part(const newton *a)
{
    size_t M = (size_t) a->m;
    const double *weight = a->work->weights->t;
    double rows = 0.0, cols = 0.0, z = 0.0, mr = a->least_row, mc = a->least_col;
    double mz2 = a->least_z * a->least_z;

    for (size_t i = 0; i < M; i++) {
        double n2 = fmax(a->s[i] * a->s[i] - mr * mr, 0.0);
        rows += sqrt(n2) - n2 / a->s[i];
    }
    for (int j = 0; j < a->q; j++) {
        double n2 = fmax(a->c[j] * a->c[j] - mc * mc, 0.0);
        cols += sqrt(n2) - n2 / a->c[j];
    }
    for (size_t i = 0; i < M * M; i++) {
        double v = a->z[i] * a->z[i];
        z += weight[i] * (fabs(a->z[i]) - v / sqrt(v + mz2));
    }
    return a->alpha * rows + a->beta * cols + a->lambda * z;
}

/* W without the rows and columns that are below `level` times the smoothing: it leaves those that
 * should be zero at about its own size. */
static void candidate(newton *a, double level, double *best_w)
{
    alfs_work *work = a->work;
    alfs_space *space = &work->space;
    size_t M = (size_t) a->m, len = M * (size_t) a->q;
    double f, rows = 0.0, cols = 0.0, all;
    double *w = a->trial, *row = a->row_a, *col = a->col_a;

    la_row_norms(a->m, a->q, a->w, row);
    la_col_norms(a->m, a->q, a->w, col);
    for (size_t j = 0; j < (size_t) a->q; j++)
        for (size_t i = 0; i < M; i++)
            w[i + j * M] = row[i] < level * a->least_row || col[j] < level * a->least_col
                               ? 0.0
                               : a->w[i + j * M];
    all = sqrt(la_ss(len, a->w));
    work->split[ROWS].residual = work->split[COLS].residual = all > 0.0
                                                                  ? sqrt(la_ss_diff(len, w, a->w)) /
                                                                        all
                                                                  : 0.0;
    la_row_norms(a->m, a->q, w, row);
    la_col_norms(a->m, a->q, w, col);
    for (size_t i = 0; i < M; i++) rows += row[i];
    for (int j = 0; j < a->q; j++) cols += col[j];
    alfs_add_all(space, w);
    alfs_core(space, work->scratch);
    f = alfs_loss(space, work->scratch) + a->alpha * rows + a->beta * cols +
        a->lambda * alfs_weighted_sum(work);
    if (f < work->value.best) {
        work->value.best = f;
        ufs_copy(best_w, w, len);
    }
}
