/* ndfs.c: nonnegative discriminative feature selection (Li, Yang, Liu, Zhou and Lu,
 * AAAI 2012).
 *
 *   min_{F >= 0, W} tr(F'LF) + alpha (|F - XW|_F^2 + beta sum_j |w_j|)
 *                   + gamma/4 |F'F - I|_F^2
 *
 * X n x p, F n x c, W p x c, L the Laplacian of a neighbour graph. Two ways of the step over W:
 *   exact: the row-sparse regression of F on X is solved (gl.c), warm from the last W; rows
 *          are exactly zero. 2npc flops where all features are priced (every LA_GL_PRICE-th step and at
 *          the end), otherwise the cost of the non-zero rows. Memory 4pc beside x.
 *   plain: one reweighted step, W = (X'X + beta G^{-1})^{-1} X'F, g_j = 2 sqrt(|w_j|^2 + eps) of
 *          the W before (ridge.c): p^3/3 flops (p <= n) or n^2 p + n^3/3. Memory np.
 * The step over F, with M F = L F + alpha (F - X W),
 *   F <- F o (gamma F) / (MF + gamma F F'F),
 * then the columns of F get unit norm. MF has negative entries; where they outweigh gamma F F'F
 * the paper's quotient turns negative. `split` moves them to the numerator,
 * F o (gamma F + [MF]_-) / ([MF]_+ + gamma F F'F); otherwise the denominator is clipped at 1e-8.
 * The two agree where gamma is large.
 *
 * Neither quotient falls for sure: it knows nothing of the unit norms, and for small gamma these
 * raise the objective. With the exact W a step that does is taken back, and F moves along
 *   F(t) = F o (N / P)^t, columns of unit norm, t = 1, 1/2, 1/4, ...
 * until the objective falls; P - N = 2 MF + gamma F (F'F - I) - F diag(s) is the gradient on the
 * product of spheres (s makes its columns orthogonal to those of F), P, N >= 0. The derivative
 * at t = 0 is sum F (P - N) log(N / P) <= 0, so this ends unless F is stationary. The
 * objective then never rises. */
#include "ndfs.h"
#include "gl.h"
#include "ridge.h"

static const double CLIP = 1e-8;

typedef struct {
    const ndfs_problem *problem;
    const ndfs_settings *settings;
    ufs_x x;
    gl_work gl;       /* exact */
    double vtol;      /* its tolerance */
    ridge_work ridge; /* plain */
    double *g;        /* p, plain: weights of the rows of W */
    double *root;     /* d^{-1/2}, normalised Laplacian only */
    double *row;      /* p: |w_j| */
    double *xw;       /* n x c: XW, that of gl_work if exact */
    double *u;        /* n x c: F - XW */
    double *lf;       /* n x c: LF, then MF */
    double *ff;       /* c x c: F'F */
    double *fff;      /* n x c: F F'F */
    double *scaled;   /* n x c */
    double *f_old;    /* n x c: F before the update */
    double *ratio;    /* n x c: N / P */
    double *xu;       /* p x c: X'U */
} ndfs_work;

static void laplacian(ndfs_work *s, const double *f)
{
    int n = s->problem->n, c = s->problem->c;
    size_t N = (size_t) n;
    if (s->root == NULL) {
        graph_mult(s->problem->graph, true, c, f, s->lf);
        return;
    }
    la_scale_rows(n, c, s->root, f, s->scaled);
    graph_mult(s->problem->graph, false, c, s->scaled, s->lf);
    for (size_t j = 0; j < (size_t) c; j++)
        for (size_t i = 0; i < N; i++)
            s->lf[i + j * N] = f[i + j * N] - s->root[i] * s->lf[i + j * N];
}

/* The objective at F and W; leaves U = F - XW and LF behind. */
static double objective(ndfs_work *s, const ndfs_result *r, double *orthogonality)
{
    const ndfs_problem *a = s->problem;
    int n = a->n, c = a->c;
    size_t len = (size_t) n * (size_t) c;
    double smooth = 0.0, off = 0.0, eps = s->settings->exact ? 0.0 : s->settings->eps;
    double rows = a->factor == NULL ? la_l21(a->p, s->row, eps) : 0.0;

    /* Rows without a penalty, or fixed at zero, do not count. */
    for (int j = 0; a->factor != NULL && j < a->p; j++)
        if (s->row[j] > 0.0) rows += a->factor[j] * s->row[j];
    for (size_t i = 0; i < len; i++) s->u[i] = r->f[i] - s->xw[i];
    laplacian(s, r->f);
    for (size_t i = 0; i < len; i++) smooth += r->f[i] * s->lf[i];
    la_mul('T', 'N', c, c, n, 1.0, r->f, r->f, 0.0, s->ff);
    for (int j = 0; j < c; j++)
        for (int i = 0; i < c; i++) {
            double d = s->ff[i + j * c] - (i == j);
            off += d * d;
        }
    *orthogonality = sqrt(off);
    return smooth + a->alpha * (la_ss(len, s->u) + a->beta * rows) + a->gamma / 4.0 * off;
}

static void init(ndfs_work *s, const ndfs_problem *problem, const ndfs_settings *settings)
{
    int n = problem->n, p = problem->p, c = problem->c, slots = 4 * n > 200 ? 4 * n : 200;
    size_t N = (size_t) n, C = (size_t) c;

    s->problem = problem;
    s->settings = settings;
    s->x = ufs_x_dense(n, p, problem->x);
    if (settings->exact) {
        gl_init(&s->gl, c, &s->x, slots < LA_GL_SLOTS ? slots : LA_GL_SLOTS);
        gl_set_penalty(&s->gl, problem->factor, &problem->copies);
        s->xw = s->gl.xv;
        s->vtol = fmax(1e-10, fmin(1e-6, 1e-3 * settings->kkt_tol));
    } else {
        ridge_init(&s->ridge, c, &s->x, 'a');
        s->xw = ufs_dalloc(N, C);
        s->g = ufs_dalloc((size_t) p, 1);
        for (int j = 0; j < p; j++) s->g[j] = settings->start_g;
    }
    s->row = ufs_dalloc((size_t) p, 1);
    s->xu = ufs_dalloc((size_t) p, C);
    ufs_dalloc_each(N, C,
                    (double **[]){&s->f_old, &s->ratio, &s->u, &s->lf, &s->fff, &s->scaled, NULL});
    s->ff = ufs_dalloc(C, C);
    s->root = NULL;
    if (problem->normalised) {
        s->root = ufs_dalloc(N, 1);
        for (int i = 0; i < n; i++) {
            double degree = problem->graph->degree[i];
            s->root[i] = degree > 0.0 ? 1.0 / sqrt(degree) : 0.0;
        }
    }
}

/* W, its row norms and XW for the F at hand; `all`: every feature is priced. */
static int update_w(ndfs_work *s, ndfs_result *r, bool all)
{
    const ndfs_problem *a = s->problem;
    int n = a->n, p = a->p, c = a->c;

    if (s->settings->exact) {
        gl_solve(&s->gl, r->f, a->beta, s->vtol, all, 0.5, r->w);
    } else {
        int lapack = ridge_solve(&s->ridge, r->f, s->g, a->beta, r->w);
        if (lapack) return lapack;
        la_mul('N', 'N', n, c, p, 1.0, a->x, r->w, 0.0, s->xw);
    }
    la_row_norms(p, c, r->w, s->row);
    return 0;
}

/* lf = MF and fff = F F'F from U and LF, which objective() left. */
static void gradient_parts(ndfs_work *s, const double *f)
{
    int n = s->problem->n, c = s->problem->c;
    size_t len = (size_t) n * (size_t) c;
    for (size_t i = 0; i < len; i++) s->lf[i] += s->problem->alpha * s->u[i];
    la_mul('N', 'N', n, c, c, 1.0, f, s->ff, 0.0, s->fff);
}

static void unit_columns(int n, int c, double *f)
{
    size_t N = (size_t) n;
    for (size_t j = 0; j < (size_t) c; j++) {
        double norm = la_nrm2(n, f + j * N);
        if (norm > 0.0)
            for (size_t i = 0; i < N; i++) f[i + j * N] /= norm;
    }
}

/* Multiplies F by the quotient. A zero of F stays zero. */
static void update_f(ndfs_work *s, double *f)
{
    size_t len = (size_t) s->problem->n * (size_t) s->problem->c;
    double gamma = s->problem->gamma;

    gradient_parts(s, f);
    for (size_t i = 0; i < len; i++) {
        double mf = s->lf[i], up = gamma * f[i], down = gamma * s->fff[i];
        if (!s->settings->split)
            down = fmax(down + mf, CLIP);
        else if (mf < 0.0)
            up -= mf;
        else
            down += mf;
        f[i] = down > 0.0 ? f[i] * up / down : 0.0;
    }
    unit_columns(s->problem->n, s->problem->c, f);
}

/* The step that cannot rise, from f_old; returns the objective after it. */
static double fall_back(ndfs_work *s, ndfs_result *r, double before, double *orthogonality)
{
    int n = s->problem->n, c = s->problem->c;
    size_t N = (size_t) n, len = N * (size_t) c;
    double gamma = s->problem->gamma, value;

    ufs_copy(r->f, s->f_old, len);
    objective(s, r, orthogonality);
    gradient_parts(s, r->f);
    for (size_t j = 0; j < (size_t) c; j++) {
        double along = 0.0;
        const double *f = r->f + j * N, *mf = s->lf + j * N, *fff = s->fff + j * N;
        for (size_t i = 0; i < N; i++) along += f[i] * (2.0 * mf[i] + gamma * (fff[i] - f[i]));
        for (size_t i = 0; i < N; i++) {
            double plus = 2.0 * fmax(mf[i], 0.0) + gamma * fff[i] + fmax(-along, 0.0) * f[i];
            double minus = 2.0 * fmax(-mf[i], 0.0) + gamma * f[i] + fmax(along, 0.0) * f[i];
            s->ratio[i + j * N] = plus > 0.0 ? minus / plus : 1.0;
        }
    }
    for (double step = 1.0; step > DBL_EPSILON; step /= 2.0) {
        for (size_t i = 0; i < len; i++) r->f[i] = s->f_old[i] * pow(s->ratio[i], step);
        unit_columns(n, c, r->f);
        value = objective(s, r, orthogonality);
        if (value <= before) return value;
    }
    /* Stationary up to rounding. */
    ufs_copy(r->f, s->f_old, len);
    return objective(s, r, orthogonality);
}

/* W is optimal for F if x_j'U = beta/2 w_j / |w_j|, or |x_j'U| <= beta/2 where w_j = 0; rows
 * below the smoothing count as zero. The largest violation over beta/2; beta times its factor for each
 * row, and beta itself over rows without a penalty. */
static double regression_kkt(ndfs_work *s, ndfs_result *r)
{
    const ndfs_problem *a = s->problem;
    int n = a->n, p = a->p, c = a->c;
    size_t P = (size_t) p;
    double worst = 0.0;
    double limit = s->settings->exact ? 0.0 : 10.0 * sqrt(s->settings->eps);

    la_mul('T', 'N', p, c, n, 1.0, a->x, s->u, 0.0, s->xu);
    for (size_t j = 0; j < P; j++) {
        double factor = a->factor == NULL ? 1.0 : a->factor[j];
        bool nonzero = s->row[j] > limit || factor == 0.0;
        double ss = 0.0, half = a->beta / 2.0 * factor, size = factor > 0.0 ? half : a->beta / 2.0;
        if (!R_FINITE(half)) continue;
        for (size_t l = 0; l < (size_t) c; l++) {
            double d = s->xu[j + l * P];
            if (nonzero && half > 0.0) d -= half * r->w[j + l * P] / s->row[j];
            ss += d * d;
        }
        r->reach[j] = nonzero ? 1.0 : sqrt(ss) / size;
        worst = fmax(worst, nonzero ? sqrt(ss) / size : sqrt(ss) / size - 1.0);
    }
    return worst;
}

void ndfs_solve(const ndfs_problem *problem, const ndfs_settings *settings, ndfs_result *result,
                ufs_run *run)
{
    static const char *const columns[] = {"iteration", "objective", "orthogonality", NULL};
    ndfs_work s;
    size_t len = (size_t) problem->n * (size_t) problem->c;
    double old = R_PosInf, change = R_PosInf;

    init(&s, problem, settings);
    s.gl.newton = run->paths.gl_newton;
    ufs_trace_named(&run->trace, run->max_iter, columns);
    run->status = UFS_MAX_ITER;
    result->orthogonality = R_NaN;
    result->kkt = R_NaN;

    while (run->iterations < run->max_iter) {
        double value, before, orthogonality;
        bool near_end = !(change > 100.0 * run->tol) || run->iterations == run->max_iter - 1;
        run->lapack = update_w(&s, result, near_end || run->iterations % LA_GL_PRICE == 0);
        if (run->lapack) return;
        run->iterations++;
        before = objective(&s, result, &orthogonality);
        ufs_copy(s.f_old, result->f, len);
        update_f(&s, result->f);
        value = objective(&s, result, &orthogonality);
        /* The first F may have columns of any norm: nothing to compare with. */
        if (settings->exact && run->iterations > 1 && !(value <= before * (1.0 + 1e-12)))
            value = fall_back(&s, result, before, &orthogonality);
        if (!R_FINITE(value)) {
            run->status = UFS_DIVERGED;
            return;
        }
        change = R_FINITE(old) ? fabs(old - value) / fabs(value) : R_PosInf;
        result->orthogonality = orthogonality;
        ufs_trace_add(&run->trace, (double[]){run->iterations, value, orthogonality});
        ufs_run_step(run, value, change);
        old = value;
        if (change <= run->tol && near_end) {
            result->kkt = regression_kkt(&s, result);
            if (result->kkt <= settings->kkt_tol) {
                run->status = UFS_CONVERGED;
                break;
            }
            s.vtol = fmax(s.vtol / 10.0, 1e-13);
        }
        if (!settings->exact) la_irls_g(problem->p, s.row, settings->eps, s.g);
    }
    if (run->iterations > 0) result->kkt = regression_kkt(&s, result);
}
