/* alfs_newton.c: lambda > 0 on few columns of W, by a smoothed primal-dual Newton method.
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
 *   H_i = B diag(k_i) B' + 2 (X'X)_ii BB' + alpha/s_i + diag(beta/c) - sym of row i,
 * which leaves two to five products a step. e falls when smoothing makes up more than a fifth of
 * the gap that alfs_step.c finds for P, Q, L.
 *
 * A step: m^2 q^2 + 2.3 m q^3 flops for the blocks' inverses, and 6 m^2 q + 4 m q^2 for each
 * product with H. Memory: four m x m, m q^2. */
#include "alfs_work.h"

typedef struct {
    alfs_work *work;
    int m, q;
    const double *x;                /* m x q: columns of X, in the units of work */
    double e, typical[3], least[3]; /* smoothing, the sizes it refers to, their products */
    double *w, *d, *g, *trial;      /* m x q */
    double *bb, *gram;              /* BB' and X'X */
    double *z, *dz, *k, *y;         /* m x m: W B, D B, k, scratch */
    double *size[2];                /* s and c of the W of the last evaluation */
    double *dot_w, *dot_v;          /* of rows or columns */
    double *scaled;                 /* q x m */
    double *inverse;                /* q x q x m: H_i^{-1} */
    double *one_row;                /* 2q */
    la_cg_problem cg;
} newton;

/* Rows and columns with a norm below so many times the smoothing are set to zero in the last
 * candidate: those that should be zero are left at about the smoothing. */
static const double CLEAN = 10.0;

/* ---- the preconditioner ------------------------------------------------------------------- */

/* H_i^{-1} of all rows. H_i is positive definite, as ||P_i|| <= alpha, ||W_i|| <= s_i and k >= 0. */
static int invert_rows(newton *a)
{
    size_t Q = (size_t) a->q, M = (size_t) a->m;
    const alfs_split *rows = &a->work->split[ROWS], *cols = &a->work->split[COLS];
    int lapack = 0;

    for (size_t i = 0; i < M && lapack == 0; i++) {
        double *h = a->inverse + i * Q * Q, s = a->size[ROWS][i];
        R_CheckUserInterrupt();
        for (size_t l = 0; l < M; l++) {
            double root = sqrt(a->k[i + l * M]);
            for (size_t j = 0; j < Q; j++) a->scaled[j + l * Q] = root * a->x[l + j * M];
        }
        for (size_t j = 0; j < Q * Q; j++) h[j] = 2.0 * a->gram[i + i * M] * a->bb[j];
        la_syrk('N', a->q, a->m, 1.0, a->scaled, a->q, 1.0, h, a->q);
        for (size_t j = 0; j < Q; j++) {
            for (size_t l = 0; l <= j && rows->on; l++)
                h[l + j * Q] -= 0.5 / (s * s) *
                                (rows->v[i + l * M] * a->w[i + j * M] +
                                 a->w[i + l * M] * rows->v[i + j * M]);
            h[j + j * Q] += rows->penalty / s + cols->penalty / a->size[COLS][j];
        }
        lapack = la_chol(a->q, h);
        if (lapack == 0) lapack = la_chol_inverse(a->q, h);
    }
    return lapack;
}

/* Row i of z = H_i^{-1} times row i of r. */
static void precondition(void *data, const double *r, double *z)
{
    newton *a = data;
    size_t M = (size_t) a->m, Q = (size_t) a->q;
    double *in = a->one_row, *out = a->one_row + Q;

    for (size_t i = 0; i < M; i++) {
        for (size_t j = 0; j < Q; j++) in[j] = r[i + j * M];
        la_gemv('T', a->q, a->q, 1.0, a->inverse + i * Q * Q, a->q, in, 0.0, out);
        for (size_t j = 0; j < Q; j++) z[i + j * M] = out[j];
    }
}

/* ---- the step --------------------------------------------------------------------------- */

/* Inner products <u_i, v_i> of all rows, or of all columns. */
static void dots(const newton *a, int which, const double *u, const double *v, double *out)
{
    const alfs_split *split = &a->work->split[which];
    size_t M = (size_t) a->m;

    memset(out, 0, (size_t) split->n * sizeof(double));
    for (size_t j = 0; j < (size_t) a->q; j++)
        for (size_t i = 0; i < M; i++) out[alfs_line(split, i, j)] += u[i + j * M] * v[i + j * M];
}

/* P, Q, L of the linearised equations at the full step, within their bounds; at D = 0 those that
 * belong to W. */
static void update_duals(newton *a)
{
    size_t M = (size_t) a->m;
    const alfs_split *weights = &a->work->split[WEIGHTS];
    double mz2 = a->least[WEIGHTS] * a->least[WEIGHTS];

    for (size_t i = 0; i < M * M; i++) {
        double bound = weights->penalty * a->work->weights->t[i];
        double eta = sqrt(a->z[i] * a->z[i] + mz2);
        weights->v[i] = prox_clip(bound * a->z[i] / eta + a->k[i] * a->dz[i], bound);
    }
    for (int which = 0; which < 2; which++) {
        const alfs_split *split = &a->work->split[which];
        if (!split->on) continue;
        dots(a, which, a->w, a->d, a->dot_w);
        for (size_t j = 0; j < (size_t) a->q; j++)
            for (size_t i = 0; i < M; i++) {
                size_t at = i + j * M, line = alfs_line(split, i, j);
                double s = a->size[which][line];
                split->v[at] = split->penalty * (a->w[at] + a->d[at]) / s -
                               split->v[at] / (s * s) * a->dot_w[line];
            }
        alfs_norms(split, a->m, a->q, split->v, a->dot_v);
        for (size_t j = 0; j < (size_t) a->q; j++)
            for (size_t i = 0; i < M; i++) {
                double norm = a->dot_v[alfs_line(split, i, j)];
                if (norm > split->penalty) split->v[i + j * M] *= split->penalty / norm;
            }
    }
}

/* What of the gap is due to e: <P, W> of P = alpha W/s instead of alpha ||W||_{2,1}, and so on. */
static double smoothing_part(const newton *a)
{
    const alfs_split *split = a->work->split;
    double sum = 0.0, mz2 = a->least[WEIGHTS] * a->least[WEIGHTS], part = 0.0;

    for (size_t i = 0; i < (size_t) a->m * (size_t) a->m; i++) {
        double v = a->z[i] * a->z[i];
        sum += a->work->weights->t[i] * (fabs(a->z[i]) - v / sqrt(v + mz2));
    }
    for (int which = 0; which < 2; which++)
        for (int i = 0; i < split[which].n; i++) {
            double s = a->size[which][i], least = a->least[which];
            double n2 = fmax(s * s - least * least, 0.0);
            part += split[which].penalty * (sqrt(n2) - n2 / s);
        }
    return part + split[WEIGHTS].penalty * sum;
}

/* W without the rows and columns that are below `level` times the smoothing. */
static void candidate(newton *a, double level)
{
    alfs_split *split = a->work->split;
    size_t M = (size_t) a->m, len = M * (size_t) a->q;
    double *w = a->trial, f, all = sqrt(la_ss(len, a->w));

    ufs_copy(w, a->w, len);
    for (int which = 0; which < 2; which++) {
        alfs_norms(&split[which], a->m, a->q, a->w, a->dot_w);
        for (size_t j = 0; j < (size_t) a->q; j++)
            for (size_t i = 0; i < M; i++)
                if (a->dot_w[alfs_line(&split[which], i, j)] < level * a->least[which])
                    w[i + j * M] = 0.0;
    }
    split[ROWS].residual = all > 0.0 ? sqrt(la_ss_diff(len, w, a->w)) / all : 0.0;
    split[COLS].residual = split[ROWS].residual;
    f = alfs_objective(a->work, w);
    if (f < a->work->value.best) {
        a->work->value.best = f;
        ufs_copy(a->work->w, w, len);
    }
}

/* ---- the whole --------------------------------------------------------------------------- */

static void apply_hessian(void *data, const double *d, double *out)
{
    newton *a = data;
    int m = a->m, q = a->q;
    size_t M = (size_t) m;

    R_CheckUserInterrupt();
    la_mul('N', 'N', m, q, q, 2.0, d, a->bb, 0.0, a->trial);
    alfs_gemm((alfs_sizes){m, q, m}, 1.0, a->gram, a->trial, 0.0, out);
    la_mul('N', 'T', m, m, q, 1.0, d, a->x, 0.0, a->y);
    for (size_t i = 0; i < M * M; i++) a->y[i] *= a->k[i];
    la_mul('N', 'N', m, q, m, 1.0, a->y, a->x, 1.0, out);
    for (int which = 0; which < 2; which++) {
        const alfs_split *split = &a->work->split[which];
        if (!split->on) continue;
        dots(a, which, a->w, d, a->dot_w);
        dots(a, which, split->v, d, a->dot_v);
        for (size_t j = 0; j < (size_t) q; j++)
            for (size_t i = 0; i < M; i++) {
                size_t at = i + j * M, line = alfs_line(split, i, j);
                double s = a->size[which][line];
                out[at] += split->penalty / s * d[at] -
                           0.5 / (s * s) *
                               (split->v[at] * a->dot_w[line] + a->w[at] * a->dot_v[line]);
            }
    }
}

/* Returns false for W = 0, which has no sizes. From here on V of the splits holds P, Q, L
 * themselves. */
static bool set_up(newton *a, alfs_work *work)
{
    const double *w = work->w;
    const alfs_space *space = &work->space;
    int m = space->m, q = space->q, longer = m > q ? m : q;
    size_t M = (size_t) m, Q = (size_t) q, len = M * Q;

    *a = (newton){.work = work, .m = m, .q = q, .x = work->x};
    ufs_dalloc_each(M, Q, (double **[]){&a->w, &a->g, &a->trial, NULL});
    a->d = ufs_dzero(M, Q);
    a->bb = ufs_dalloc(Q, Q);
    ufs_dalloc_each(M, M, (double **[]){&a->gram, &a->z, NULL});
    a->dz = ufs_dzero(M, M);
    a->k = ufs_dzero(M, M);
    a->y = work->weights->all;
    ufs_dalloc_each((size_t) longer, 1,
                    (double **[]){a->size + ROWS, a->size + COLS, &a->dot_w, &a->dot_v, NULL});
    a->scaled = ufs_dalloc(Q, M);
    a->inverse = ufs_dalloc(Q * Q, M);
    a->one_row = ufs_dalloc(2, Q);
    /* So loose an accuracy is enough for a Newton step: two to five products. */
    a->cg = (la_cg_problem){.n = m * q,
                            .apply = apply_hessian,
                            .precondition = precondition,
                            .data = a,
                            .tol = 0.02,
                            .natural = true,
                            .max_iter = 60,
                            .work = ufs_dalloc(4 * M, Q)};
    la_gram('T', m, q, a->x, a->bb);
    alfs_samples(space, a->y);
    la_gram('N', m, space->r, a->y, a->gram);
    ufs_copy(a->w, w, len);
    la_mul('N', 'T', m, m, q, 1.0, w, a->x, 0.0, a->z);
    a->typical[ROWS] = sqrt(la_ss(len, w) / (double) m);
    a->typical[COLS] = sqrt(la_ss(len, w) / (double) q);
    a->typical[WEIGHTS] = sqrt(la_ss(M * M, a->z)) / (double) m;
    for (int which = 0; which < 3; which++) {
        alfs_split *split = &work->split[which];
        split->rho_of_v = 1.0;
        split->residual = 0.0;
        for (int i = 0; i < split->n; i++) split->cut[i] = 1.0;
    }
    return a->typical[ROWS] > 0.0 && a->typical[WEIGHTS] > 0.0;
}

/* Returns f_e of w, whose W B is z + t dz; leaves its core and the sizes s and c behind. */
static double evaluate(newton *a, const double *w, double t)
{
    alfs_work *work = a->work;
    const double *weight = work->weights->t;
    double f = 0.0, sum = 0.0, mz2 = a->least[WEIGHTS] * a->least[WEIGHTS];

    for (int which = 0; which < 2; which++) {
        const alfs_split *split = &work->split[which];
        double *size = a->size[which];
        alfs_norms(split, a->m, a->q, w, size);
        for (int i = 0; i < split->n; i++)
            size[i] = sqrt(size[i] * size[i] + a->least[which] * a->least[which]);
        f += split->penalty * la_l21(split->n, size, 0.0);
    }
    for (size_t i = 0; i < (size_t) a->m * (size_t) a->m; i++) {
        double v = a->z[i] + t * a->dz[i];
        sum += weight[i] * sqrt(v * v + mz2);
    }
    alfs_add_all(&work->space, w);
    alfs_core(&work->space, work->core);
    return f + work->split[WEIGHTS].penalty * sum + alfs_loss(&work->space, work->core);
}

/* From here on the smoothing is e. Returns f_e of W. */
static double smooth_by(newton *a, double e)
{
    a->e = e;
    for (int which = 0; which < 3; which++) a->least[which] = e * a->typical[which];
    return evaluate(a, a->w, 0.0);
}

/* The gradient g and the curvature k of the weights, at W. */
static void linearise(newton *a)
{
    int m = a->m, q = a->q;
    size_t M = (size_t) m;
    const alfs_split *weights = &a->work->split[WEIGHTS];
    double mz2 = a->least[WEIGHTS] * a->least[WEIGHTS];

    for (size_t i = 0; i < M * M; i++) {
        double z = a->z[i], eta = sqrt(z * z + mz2), u = z / eta;
        double bound = weights->penalty * a->work->weights->t[i];
        a->y[i] = bound * u;
        a->k[i] = (bound - weights->v[i] * u) / eta;
    }
    la_mul('N', 'N', m, q, m, 1.0, a->y, a->x, 0.0, a->g);
    /* 2 X'X (W BB' - X_J'). */
    ufs_copy(a->trial, a->x, M * (size_t) q);
    la_mul('N', 'N', m, q, q, 2.0, a->w, a->bb, -2.0, a->trial);
    alfs_gemm((alfs_sizes){m, q, m}, 1.0, a->gram, a->trial, 1.0, a->g);
    for (int which = 0; which < 2; which++) {
        const alfs_split *split = &a->work->split[which];
        for (size_t j = 0; j < (size_t) q; j++)
            for (size_t i = 0; i < M; i++)
                a->g[i + j * M] += split->penalty / a->size[which][alfs_line(split, i, j)] *
                                   a->w[i + j * M];
    }
}

bool alfs_newton(alfs_work *work, double goal, double *smooth)
{
    alfs_value *value = &work->value;
    ufs_run *run = work->run;
    newton a;
    double u2 = work->x_divisor * work->x_divisor, gap = 1.0, f;
    size_t len = (size_t) work->space.m * (size_t) work->space.q;

    if (!set_up(&a, work)) return false;
    f = smooth_by(&a, *smooth);
    update_duals(&a);
    for (int step = 0; step < 60 && run->iterations < run->max_iter; step++) {
        double t = 1.0, slope, f_new;
        linearise(&a);
        if (invert_rows(&a)) return false;
        memset(a.d, 0, len * sizeof(double));
        la_cg(&a.cg, a.g, a.d);
        for (size_t i = 0; i < len; i++) a.d[i] = -a.d[i];
        slope = la_dot((int) len, a.g, a.d);
        if (!(slope < 0.0)) return false;
        la_mul('N', 'T', a.m, a.m, a.q, 1.0, a.d, a.x, 0.0, a.dz);
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
        candidate(&a, 1.0);
        gap = (value->best - value->dual) / value->best;
        ufs_run_step(run, value->best * u2, (value->best - *work->bound) / value->best);
        if (!(fabs(gap) <= DBL_MAX)) return false;
        if (gap < goal) {
            candidate(&a, CLEAN);
            break;
        }
        alfs_record(work);
        f = f_new;
        if (smoothing_part(&a) > 0.2 * (value->best - value->dual))
            f = smooth_by(&a, fmax(0.1 * a.e, 1e-10));
    }
    *smooth = a.e;
    return gap < goal;
}
