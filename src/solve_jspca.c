/* solve_jspca.c: joint sparse principal component analysis (JSPCA).
 *
 * With x n x p (the papers' X is its transpose), Q and P p x k, and ||.||_{2,1}
 * the sum of the row norms:
 *
 *   loss over features   min || X' - P Q'X' ||_{2,1} + lambda ||Q||_{2,1},
 *                        P = D1^{-1/2} Pbar, Pbar'Pbar = I, D1 = diag(a)
 *   loss over samples    min || X - X Q P' ||_{2,1} + lambda ||Q||_{2,1}, P'P = I
 *
 * One iteration, with a_i = 1/(2 sqrt(||r_i||^2 + eps_res)) from the residual of
 * feature i (sample i: w_i), and Y = X, d = a^{1/2}, or Y = W^{1/2}X, d = 1:
 *
 *   T = Y diag(d) Pbar
 *   Q = argmin ||T - Y Q||_F^2 + lambda ||Q||_{2,1}
 *   Z = Y Q,  Pbar = polar(diag(d) Y'Z),  P = diag(1/d) Pbar
 *   residual of X - X Q P' by features or samples, new a or w
 *
 * The Q-step is exact (la_gl: working set, true zeros), or the paper's single
 * reweighted step, the ridge solution with penalty weights 1/h_i,
 * h_i = 2 sqrt(||q_i||^2 + eps_q).
 *
 * The loss over features is a fixed-point iteration: its constraint P'D1P = I
 * moves with D1, so its objective may rise, and it stops on the change of Q. Over
 * samples the weights commute with P and every step lowers the objective.
 *
 * Flops per iteration: 4npk + 6pk^2, and the Q-step: exact, its sweeps and 2npk
 * when full; ridge, n^2 p + n^3/3 or p^3/3 (see la_solve). Over samples np more.
 * Memory beside x: 6pk, n-sized parts, that of la_gl or la_ridge, and np for Y
 * over samples.
 *
 * Source: "Joint sparse principal component analysis" (Yi, Lai, He, Cheung and
 * Liu, Pattern Recognition 61, 2017, 524-536); slides by Maurya, whose formulae
 * are corrected as the help page says. */
#include "solve_jspca.h"
#include "la.h"
#include "la_gl.h"

typedef struct {
    const double *y; /* n x p: x, or W^{1/2}x in y_own */
    double *y_own;
    double *d;       /* p: a^{1/2}, or ones */
    double *sqrt_w;  /* n: w^{1/2}, or ones */
    double *ss;      /* squared norms of the columns, or rows, of x */
    double *t, *z;   /* n x k: target and Y Q */
    double *zx;      /* n x k: X Q, equal to z over features */
    double *u;       /* n x k: X P, over samples */
    double *b;       /* p x k: Y'Z, d Y'Z, d Pbar */
    double *q_old;   /* p x k */
    double *col;     /* max(n, p) scratch */
    double *zz;      /* k x k: Z'Z */
    la_gl gl;        /* exact Q-step, and every certificate */
    la_ridge ridge;  /* reweighted Q-step */
    la_polar_work polar;
} jspca_work;

static void work_init(const jspca_problem *pr, const jspca_settings *set,
                      jspca_fit *fit, jspca_work *w);
static void set_target(const jspca_problem *pr, const jspca_fit *fit, jspca_work *w);
static bool is_full(const jspca_settings *set, int t, double change);
static int q_step(const jspca_problem *pr, const jspca_settings *set, bool full,
                  jspca_fit *fit, jspca_work *w);
static int exact_step(const jspca_problem *pr, bool full, jspca_fit *fit, jspca_work *w);
static int reweighted_step(const jspca_problem *pr, jspca_fit *fit, jspca_work *w);
static void share_among_copies(const jspca_problem *pr, double *q);
static int procrustes(const jspca_problem *pr, jspca_fit *fit, jspca_work *w);
static void residual_of_features(const jspca_problem *pr, jspca_fit *fit, jspca_work *w);
static void residual_of_samples(const jspca_problem *pr, jspca_fit *fit, jspca_work *w);
static void reweight(const jspca_problem *pr, const jspca_settings *set, jspca_fit *fit);
static double record(const jspca_problem *pr, const jspca_settings *set, int iteration,
                     jspca_fit *fit);
static void certify(const jspca_problem *pr, const jspca_settings *set, jspca_fit *fit,
                    jspca_work *w);
static int canonicalise(const jspca_problem *pr, jspca_fit *fit, jspca_work *w);
static double max_row_of_gram(int n, int p, const double *x, const double *w);
static double max_quadratic_form(int n, int p, const double *x, const double *half,
                                 bool sample);

void jspca_solve(const jspca_problem *pr, const jspca_settings *set, jspca_fit *fit)
{
    jspca_work w;
    work_init(pr, set, fit, &w);
    fit->status = UFS_MAX_ITER;
    fit->change = 1.0;

    for (int t = 1; t <= set->max_iter; t++) {
        bool full = is_full(set, t, fit->change);
        fit->iterations = t;
        set_target(pr, fit, &w);
        if ((fit->info = q_step(pr, set, full, fit, &w))) return;
        if ((fit->info = procrustes(pr, fit, &w))) return;
        if (pr->sample)
            residual_of_samples(pr, fit, &w);
        else
            residual_of_features(pr, fit, &w);
        double objective = record(pr, set, t, fit);
        if (!R_FINITE(objective)) {
            fit->status = UFS_DIVERGED;
            return;
        }
        if (full && t > 1 && fit->change <= set->tol) {
            fit->status = UFS_CONVERGED;
            break;
        }
        reweight(pr, set, fit);
    }
    certify(pr, set, fit, &w);
    /* Steps became small because the inner problem is too hard, not because it is
     * solved: tiny penalties. */
    if (set->exact && fit->status == UFS_CONVERGED && !(fit->violation <= 0.1))
        fit->status = UFS_STALLED;
    fit->info = canonicalise(pr, fit, &w);
}

static void work_init(const jspca_problem *pr, const jspca_settings *set,
                      jspca_fit *fit, jspca_work *w)
{
    size_t n = (size_t) pr->n, p = (size_t) pr->p, k = (size_t) pr->k;

    w->d = ufs_dalloc(p, 1);
    w->sqrt_w = ufs_dalloc(n, 1);
    w->t = ufs_dalloc(n, k);
    w->z = ufs_dalloc(n, k);
    w->b = ufs_dalloc(p, k);
    w->q_old = ufs_dalloc(p, k);
    w->col = ufs_dalloc(n > p ? n : p, 1);
    w->zz = ufs_dalloc(k, k);
    w->ss = ufs_dalloc(pr->sample ? n : p, 1);
    for (size_t i = 0; i < p; i++) w->d[i] = 1.0;
    for (size_t i = 0; i < n; i++) w->sqrt_w[i] = 1.0;
    if (pr->sample) {
        w->y = w->y_own = ufs_dalloc(n, p);
        ufs_copy(w->y_own, pr->x, n * p);
        w->zx = ufs_dalloc(n, k);
        w->u = ufs_dalloc(n, k);
        la_row_norms(pr->n, pr->p, pr->x, w->ss);
        la_gemm('N', 'N', pr->n, pr->k, pr->p, 1.0, pr->x, pr->n, fit->pbar, pr->p, 0.0,
                w->u, pr->n);
    } else {
        w->y = pr->x;
        w->y_own = w->u = NULL;
        w->zx = w->z;
        la_col_norms(pr->n, pr->p, pr->x, w->ss);
    }
    for (size_t i = 0; i < (pr->sample ? n : p); i++) w->ss[i] *= w->ss[i];

    memset(fit->q, 0, p * k * sizeof(double));
    /* A fit that diverges returns before these are set. */
    memset(fit->kkt, 0, p * sizeof(double));
    memset(fit->loadings, 0, p * k * sizeof(double));
    memset(fit->rotation, 0, k * k * sizeof(double));
    fit->violation = fit->gap = R_NaN;
    /* Without the exact Q-step la_gl only checks the answer: one slot will do. Over
     * samples the Gram matrix is new in every iteration: the smaller one then. */
    if (set->exact) {
        la_gl_init(&w->gl, pr->n, pr->p, pr->k, w->y);
    } else {
        la_gl_init_slots(&w->gl, pr->n, pr->p, pr->k, w->y, 1);
        la_ridge_init(&w->ridge, pr->n, pr->p, pr->k, w->y,
                      !pr->sample ? 'a' : pr->p < pr->n ? 'p' : 'n');
    }
    la_polar_init(&w->polar, pr->p, pr->k);
    ufs_trace_init(&fit->trace, set->max_iter, 5);
    fit->info = 0;
}

/* T = Y diag(d) Pbar; over samples X P is already there. */
static void set_target(const jspca_problem *pr, const jspca_fit *fit, jspca_work *w)
{
    size_t n = (size_t) pr->n, p = (size_t) pr->p, k = (size_t) pr->k;

    if (pr->sample) {
        for (size_t i = 0; i < n; i++) w->sqrt_w[i] = sqrt(fit->weight[i]);
        for (size_t j = 0; j < p; j++)
            for (size_t i = 0; i < n; i++)
                w->y_own[i + j * n] = w->sqrt_w[i] * pr->x[i + j * n];
        for (size_t j = 0; j < k; j++)
            for (size_t i = 0; i < n; i++) w->t[i + j * n] = w->sqrt_w[i] * w->u[i + j * n];
        return;
    }
    for (size_t i = 0; i < p; i++) w->d[i] = sqrt(fit->weight[i]);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < p; i++) w->b[i + j * p] = w->d[i] * fit->pbar[i + j * p];
    la_gemm('N', 'N', pr->n, pr->k, pr->p, 1.0, w->y, pr->n, w->b, pr->p, 0.0, w->t, pr->n);
}

/* Whether the exact Q-step looks at all features, not only at its working set. */
static bool is_full(const jspca_settings *set, int t, double change)
{
    return !set->exact || t <= 3 || t % 5 == 0 || t == set->max_iter ||
        change < 2.0 * set->tol;
}

/* Q = argmin ||T - YQ||^2 + lambda ||Q||_{2,1} (or its reweighted step), Z = YQ. */
static int q_step(const jspca_problem *pr, const jspca_settings *set, bool full,
                  jspca_fit *fit, jspca_work *w)
{
    size_t n = (size_t) pr->n, k = (size_t) pr->k, pk = (size_t) pr->p * k;
    double size, step;
    int info;

    ufs_copy(w->q_old, fit->q, pk);
    info = set->exact ? exact_step(pr, full, fit, w) : reweighted_step(pr, fit, w);
    if (info) return info;
    if (pr->sample)
        for (size_t j = 0; j < k; j++)
            for (size_t i = 0; i < n; i++) w->zx[i + j * n] = w->z[i + j * n] / w->sqrt_w[i];
    la_row_norms(pr->p, pr->k, fit->q, fit->row_norm);
    size = sqrt(la_ss(pk, fit->q));
    step = sqrt(la_ss_diff(pk, fit->q, w->q_old));
    fit->change = step == 0.0 ? 0.0 : size > 0.0 ? step / size : 1.0;
    return 0;
}

/* The tolerance of the inner solve follows the outer change: a looser tie (0.1) lets
 * the outer iteration stall on the inner error. */
static int exact_step(const jspca_problem *pr, bool full, jspca_fit *fit, jspca_work *w)
{
    double vtol = fmin(fmax(0.02 * fit->change, 1e-9), 1e-3);
    int info;

    if (pr->sample) la_gl_set_x(&w->gl, w->y);
    info = la_gl_solve(&w->gl, w->t, pr->lambda, vtol, full, 0.95, fit->q);
    if (info) return info;
    share_among_copies(pr, fit->q);
    ufs_copy(w->z, w->gl.xv, (size_t) pr->n * (size_t) pr->k);
    return 0;
}

static int reweighted_step(const jspca_problem *pr, jspca_fit *fit, jspca_work *w)
{
    int info;

    if (pr->sample) la_ridge_set_x(&w->ridge, w->y);
    info = la_ridge_solve(&w->ridge, w->t, fit->h, pr->lambda, fit->q);
    if (info) return info;
    la_gemm('N', 'N', pr->n, pr->k, pr->p, 1.0, w->y, pr->n, fit->q, pr->p, 0.0, w->z,
            pr->n);
    return 0;
}

/* Of equal columns only the sum of their rows of Q matters to X Q, and equal parts
 * of it have the smallest penalty: descent leaves them as it found them, so share. */
static void share_among_copies(const jspca_problem *pr, double *q)
{
    if (pr->first == NULL) return;
    /* Sums at the first copies, which stand before the others; then all copies. */
    for (int j = 0; j < pr->k; j++) {
        double *col = q + (size_t) j * (size_t) pr->p;
        for (int i = 0; i < pr->p; i++)
            if (pr->first[i] != i) col[pr->first[i]] += col[i];
        for (int i = 0; i < pr->p; i++)
            if (pr->first[i] == i) col[i] /= pr->copies[i];
        for (int i = 0; i < pr->p; i++) col[i] = col[pr->first[i]];
    }
}

/* Pbar = polar(diag(d) Y'Z), the old Pbar where that is rank-deficient. Leaves
 * Y'Z in b. */
static int procrustes(const jspca_problem *pr, jspca_fit *fit, jspca_work *w)
{
    size_t p = (size_t) pr->p, k = (size_t) pr->k;

    la_gemm('T', 'N', pr->p, pr->k, pr->n, 1.0, w->y, pr->n, w->z, pr->n, 0.0, w->b, pr->p);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < p; i++) fit->P[i + j * p] = w->d[i] * w->b[i + j * p];
    int info = la_polar(&w->polar, fit->P, fit->pbar, fit->pbar);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < p; i++) fit->P[i + j * p] = fit->pbar[i + j * p] / w->d[i];
    return info;
}

/* Squared residuals come from ||x||^2 - 2 x'(XQ)p + p'(Z'Z)p with Y'Z at hand,
 * which saves a pass over x; where that cancels more than two digits, they are
 * formed explicitly. */
static const double cancelled = 0.01;

static void residual_of_features(const jspca_problem *pr, jspca_fit *fit, jspca_work *w)
{
    size_t n = (size_t) pr->n, p = (size_t) pr->p;
    int k = pr->k;

    la_gemm('T', 'N', k, k, pr->n, 1.0, w->z, pr->n, w->z, pr->n, 0.0, w->zz, k);
    for (size_t i = 0; i < p; i++) {
        double ss = w->ss[i];
        for (int j = 0; j < k; j++) {
            size_t at = i + (size_t) j * p;
            double zzp = 0.0;
            for (int l = 0; l < k; l++) zzp += w->zz[j + l * k] * fit->P[i + (size_t) l * p];
            ss += fit->P[at] * (zzp - 2.0 * w->b[at]);
        }
        if (!(ss > cancelled * w->ss[i])) {
            ufs_copy(w->col, pr->x + i * n, n);
            for (int j = 0; j < k; j++)
                la_axpy(pr->n, -fit->P[i + (size_t) j * p], w->z + (size_t) j * n, w->col);
            ss = la_ss(n, w->col);
        }
        fit->residual[i] = sqrt(ss);
    }
}

/* The same for samples: ||x - Pz||^2 = ||x||^2 - ||u||^2 + ||u - z||^2, u = P'x. */
static void residual_of_samples(const jspca_problem *pr, jspca_fit *fit, jspca_work *w)
{
    size_t n = (size_t) pr->n, p = (size_t) pr->p, k = (size_t) pr->k;

    la_gemm('N', 'N', pr->n, pr->k, pr->p, 1.0, pr->x, pr->n, fit->P, pr->p, 0.0, w->u,
            pr->n);
    for (size_t i = 0; i < n; i++) {
        double ss = w->ss[i];
        for (size_t j = 0; j < k; j++) {
            double u = w->u[i + j * n], z = w->zx[i + j * n];
            ss += z * (z - 2.0 * u);
        }
        if (!(ss > cancelled * w->ss[i])) {
            for (size_t l = 0; l < p; l++) w->col[l] = pr->x[i + l * n];
            for (size_t j = 0; j < k; j++)
                la_axpy(pr->p, -w->zx[i + j * n], fit->P + j * p, w->col);
            ss = la_ss(p, w->col);
        }
        fit->residual[i] = sqrt(ss);
    }
}

static void reweight(const jspca_problem *pr, const jspca_settings *set, jspca_fit *fit)
{
    int m = pr->sample ? pr->n : pr->p;
    la_irls_g(m, fit->residual, set->eps_res, fit->weight);
    for (int i = 0; i < m; i++) fit->weight[i] = 1.0 / fit->weight[i];
    if (!set->exact) la_irls_g(pr->p, fit->row_norm, set->eps_q, fit->h);
}

static double record(const jspca_problem *pr, const jspca_settings *set, int iteration,
                     jspca_fit *fit)
{
    double eps_q = set->exact ? 0.0 : set->eps_q;
    double loss = la_l21(pr->sample ? pr->n : pr->p, fit->residual, set->eps_res);
    double penalty = la_l21(pr->p, fit->row_norm, eps_q) + pr->dropped * sqrt(eps_q);
    double top = 0.0, live = 0.0;

    if (!pr->sample) loss += pr->dropped * sqrt(set->eps_res);
    /* Reweighting never gives an exact zero: 1e-3 of the largest row is its "dead". */
    for (int i = 0; i < pr->p; i++) top = fmax(top, fit->row_norm[i]);
    for (int i = 0; i < pr->p; i++)
        if (set->exact ? fit->row_norm[i] > 0.0 : fit->row_norm[i] > 1e-3 * top) live += 1.0;
    penalty *= pr->lambda;
    ufs_trace_add(&fit->trace, (double[]) {loss + penalty, loss, penalty, fit->change, live});
    ufs_hook_step(set->hook, iteration, loss + penalty, fit->change);
    return loss + penalty;
}

/* Optimality of the last Q-step, with its own T, over all features; that of the
 * smoothed problem where the reweighted one was solved. An exact fit ends with a
 * full solve, whose products still stand. */
static void certify(const jspca_problem *pr, const jspca_settings *set, jspca_fit *fit,
                    jspca_work *w)
{
    if (!set->exact) la_gl_certify(&w->gl, w->t, pr->lambda, fit->q);
    ufs_copy(fit->kkt, w->gl.kkt, (size_t) pr->p);
    fit->violation = la_gl_violation(&w->gl, pr->lambda, set->exact ? 0.0 : set->eps_q, fit->q);
    fit->gap = w->gl.objective > 0.0 ? w->gl.gap / w->gl.objective : 0.0;
}

/* (P, Q) may be rotated freely: the SVD X Q = U S O' gives uncorrelated scores of
 * decreasing variance, and the largest entry of a column of Q O is positive. */
static int canonicalise(const jspca_problem *pr, jspca_fit *fit, jspca_work *w)
{
    size_t n = (size_t) pr->n, p = (size_t) pr->p;
    int k = pr->k, info;
    double top = 0.0;

    ufs_copy(w->t, w->zx, n * (size_t) k);
    info = la_svd_thin(pr->n, k, w->t, w->z, w->col, w->zz);
    if (info) return info;
    for (int j = 0; j < k; j++)
        for (int l = 0; l < k; l++) fit->rotation[l + j * k] = w->zz[j + l * k];
    la_gemm('N', 'N', pr->p, k, k, 1.0, fit->q, pr->p, fit->rotation, k, 0.0, fit->loadings,
            pr->p);
    la_col_norms(pr->p, k, fit->loadings, w->col);
    for (int j = 0; j < k; j++) top = fmax(top, w->col[j]);
    for (int j = 0; j < k; j++) {
        double *load = fit->loadings + (size_t) j * p;
        bool zero = w->col[j] <= 1e-12 * top;
        size_t at = 0;
        if (zero) {
            memset(load, 0, p * sizeof(double));
            continue;
        }
        while (load[at] == 0.0) at++;
        double before = load[at];
        la_fix_signs(pr->p, 1, load);
        if (load[at] != before)
            for (int l = 0; l < k; l++) fit->rotation[l + j * k] = -fit->rotation[l + j * k];
        for (size_t i = 0; i < p; i++) load[i] /= w->col[j];
    }
    return 0;
}

double jspca_lambda_max(int n, int p, const double *x, bool sample)
{
    int m = sample ? n : p;
    double *half = ufs_dalloc((size_t) m, 1);

    /* A or W at Q = 0; a zero row or column has no weight. */
    if (sample)
        la_row_norms(n, p, x, half);
    else
        la_col_norms(n, p, x, half);
    for (int i = 0; i < m; i++) half[i] = half[i] > 0.0 ? 0.5 / half[i] : 0.0;
    if (sample && p < n) return 2.0 * max_row_of_gram(n, p, x, half);
    return 2.0 * max_quadratic_form(n, p, x, half, sample);
}

/* max_i || (X'WX)_i ||, p x p. np^2 flops. */
static double max_row_of_gram(int n, int p, const double *x, const double *w)
{
    size_t N = (size_t) n, P = (size_t) p;
    double *y = ufs_dalloc(N, P), *gram = ufs_dalloc(P, P), *norm = ufs_dalloc(P, 1);
    double top = 0.0;

    for (size_t j = 0; j < P; j++)
        for (size_t i = 0; i < N; i++) y[i + j * N] = sqrt(w[i]) * x[i + j * N];
    la_gram('T', n, p, y, gram);
    la_row_norms(p, p, gram, norm);
    for (size_t i = 0; i < P; i++) top = fmax(top, norm[i]);
    return top;
}

/* max_i sqrt(v_i'K v_i), n x n: K = XAX' and v_i = x_i over features, K = XX' and
 * v_i = W x_i over samples. v'Kv = 2 v'Uv with U the upper triangle of K and half
 * its diagonal: 2 n^2 p flops, in blocks of columns. */
static double max_quadratic_form(int n, int p, const double *x, const double *half,
                                 bool sample)
{
    enum { width = 128 };
    size_t N = (size_t) n;
    char left = 'L', up = 'U', no = 'N';
    double *k = ufs_dzero(N, N), *v = ufs_dalloc(N, width), *uv = ufs_dalloc(N, width);
    double one = 1.0, top = 0.0;

    for (int start = 0; start < p; start += width) {
        int m = p - start < width ? p - start : width;
        const double *from = x + (size_t) start * N;
        for (size_t j = 0; j < (size_t) m; j++) {
            double s = sample ? 1.0 : sqrt(half[(size_t) start + j]);
            for (size_t i = 0; i < N; i++) v[i + j * N] = s * from[i + j * N];
        }
        F77_CALL(dsyrk)(&up, &no, &n, &m, &one, v, &n, &one, k, &n FCONE FCONE);
    }
    for (size_t i = 0; i < N; i++) k[i + i * N] *= 0.5;
    for (int start = 0; start < p; start += width) {
        int m = p - start < width ? p - start : width;
        const double *from = x + (size_t) start * N;
        for (size_t j = 0; j < (size_t) m; j++)
            for (size_t i = 0; i < N; i++)
                v[i + j * N] = sample ? half[i] * from[i + j * N] : from[i + j * N];
        ufs_copy(uv, v, N * (size_t) m);
        F77_CALL(dtrmm)(&left, &up, &no, &no, &n, &m, &one, k, &n, uv, &n
                        FCONE FCONE FCONE FCONE);
        for (size_t j = 0; j < (size_t) m; j++)
            top = fmax(top, 2.0 * la_dot(n, v + j * N, uv + j * N));
    }
    return sqrt(top);
}

int jspca_compress(int n, int p, const double *x, double *r)
{
    size_t N = (size_t) n, P = (size_t) p;
    double *a = ufs_dalloc(N, P), *tau = ufs_dalloc(P, 1), *work, opt = 0.0;
    int info = 0, lwork = -1;

    ufs_copy(a, x, N * P);
    F77_CALL(dgeqrf)(&n, &p, a, &n, tau, &opt, &lwork, &info);
    lwork = (int) opt;
    work = ufs_dalloc((size_t) lwork, 1);
    F77_CALL(dgeqrf)(&n, &p, a, &n, tau, work, &lwork, &info);
    for (size_t j = 0; j < P; j++)
        for (size_t i = 0; i < P; i++) r[i + j * P] = i <= j ? a[i + j * N] : 0.0;
    return info;
}
