/* base_ndfs.c: nonnegative discriminative feature selection (Li, Yang, Liu, Zhou and Lu,
 * AAAI 2012).
 *
 *   min_{F >= 0, W} tr(F'LF) + alpha (|F - XW|_F^2 + beta sum_j |w_j|)
 *                   + gamma/4 |F'F - I|_F^2
 *
 * X n x p, F n x c, W p x c, L the Laplacian of a neighbour graph. In each iteration, with
 * g_j = 2 sqrt(|w_j|^2 + eps) of the W before (G its diagonal),
 *   W = (X'X + beta G^{-1})^{-1} X'F                      a weighted ridge, la_solve.c
 *   F <- F o (gamma F) / (MF + gamma F F'F),              MF = LF + alpha (F - XW)
 * then the columns of F get unit norm. M = L + alpha (I - X(X'X + beta G^{-1})^{-1}X') is never
 * formed: applied to F it is the residual of the ridge just solved.
 *
 * MF has negative entries; where they outweigh gamma F F'F the paper's quotient turns negative.
 * `split` moves them to the numerator, F o (gamma F + [MF]_-) / ([MF]_+ + gamma F F'F), which
 * needs no guard; otherwise the denominator is clipped at 1e-8. The two agree where gamma
 * is large.
 *
 * The plain iteration is slow where rows of W die. `accelerate` extrapolates sqrt(g)
 * (Anderson) and goes back to the plain step, F included, whenever the objective rose.
 * Per iteration p^3/3 (p <= n) or n^2 p + n^3/3 flops, and 4npc; memory np + min(n,p)^2. */
#include "base_ndfs.h"
#include "anderson.h"
#include "la.h"

static const double CLIP = 1e-8;
enum { DEPTH = 5 };

typedef struct {
    const ndfs_problem *problem;
    const ndfs_settings *settings;
    la_ridge ridge;
    double *root;    /* d^{-1/2}, normalised Laplacian only */
    double *g, *row; /* p */
    double *xw;      /* n x c: XW */
    double *u;       /* n x c: F - XW */
    double *lf;      /* n x c: LF, then MF */
    double *ff;      /* c x c: F'F */
    double *fff;     /* n x c: F F'F */
    double *scaled;  /* n x c */
    double *f_old;   /* n x c: F before the update */
    double *xu;      /* p x c: X'U */
    double *root_g, *plain, *one; /* p: extrapolated sqrt(g), its plain image, ones */
    anderson history;
} ndfs_work;

static void init(ndfs_work *s, const ndfs_problem *problem, const ndfs_settings *settings);
static void residual(ndfs_work *s, const ndfs_result *r);
static void laplacian(ndfs_work *s, const double *f);
static void update_f(ndfs_work *s, double *f);
static void set_weights(ndfs_work *s, const double *root_g);
static void next_weights(ndfs_work *s, bool may_extrapolate);
static double objective(ndfs_work *s, const ndfs_result *r, double *orthogonality);
static double regression_kkt(ndfs_work *s, const ndfs_result *r);

void ndfs_solve(const ndfs_problem *problem, const ndfs_settings *settings,
                ndfs_result *result, ufs_run *run)
{
    static const char *const columns[] = {"iteration", "objective", "orthogonality", NULL};
    ndfs_work s;
    int n = problem->n, p = problem->p, c = problem->c;
    size_t len = (size_t) n * (size_t) c;
    double old = R_PosInf;

    init(&s, problem, settings);
    ufs_trace_named(&run->trace, settings->max_iter, columns);
    run->status = UFS_MAX_ITER;
    result->orthogonality = R_NaN;
    result->kkt = R_NaN;
    memset(result->w, 0, (size_t) p * (size_t) c * sizeof(double));

    while (run->iterations < settings->max_iter) {
        double value, change, orthogonality;
        run->lapack = la_ridge_solve(&s.ridge, result->f, s.g, problem->beta, result->w);
        if (run->lapack) return;
        run->iterations++;
        la_row_norms(p, c, result->w, s.row);
        la_gemm('N', 'N', n, c, p, 1.0, problem->x, n, result->w, p, 0.0, s.xw, n);
        residual(&s, result);
        laplacian(&s, result->f);
        for (size_t i = 0; i < len; i++) s.lf[i] += problem->alpha * s.u[i];
        ufs_copy(s.f_old, result->f, len);
        update_f(&s, result->f);

        value = objective(&s, result, &orthogonality);
        if (!R_FINITE(value)) {
            run->status = UFS_DIVERGED;
            return;
        }
        if (s.history.count > 0 && value > old * (1.0 + 1e-12)) {
            anderson_reset(&s.history);
            ufs_copy(result->f, s.f_old, len);
            set_weights(&s, s.plain);
            ufs_run_step(run, value, R_NaN);
            continue;
        }
        change = R_FINITE(old) ? fabs(old - value) / fabs(value) : R_NaN;
        result->orthogonality = orthogonality;
        ufs_trace_add(&run->trace, (double[]) {run->iterations, value, orthogonality});
        ufs_run_step(run, value, change);
        if (change <= settings->tol) {
            result->kkt = regression_kkt(&s, result);
            if (result->kkt <= settings->kkt_tol) {
                run->status = UFS_CONVERGED;
                break;
            }
        }
        old = value;
        next_weights(&s, run->iterations < settings->max_iter - 1);
    }
    if (run->iterations > 0) result->kkt = regression_kkt(&s, result);
}

static void init(ndfs_work *s, const ndfs_problem *problem, const ndfs_settings *settings)
{
    int n = problem->n, p = problem->p, c = problem->c;
    size_t N = (size_t) n, C = (size_t) c;

    s->problem = problem;
    s->settings = settings;
    la_ridge_init(&s->ridge, n, p, c, problem->x, 'a');
    s->g = ufs_dalloc((size_t) p, 1);
    s->row = ufs_dalloc((size_t) p, 1);
    s->root_g = ufs_dalloc((size_t) p, 1);
    s->plain = ufs_dalloc((size_t) p, 1);
    s->one = ufs_dalloc((size_t) p, 1);
    for (int j = 0; j < p; j++) {
        s->g[j] = settings->start_g;
        s->root_g[j] = sqrt(settings->start_g);
        s->one[j] = 1.0;
    }
    s->xu = ufs_dalloc((size_t) p, C);
    anderson_init(&s->history, p, DEPTH);
    s->f_old = ufs_dalloc(N, C);
    s->xw = ufs_dalloc(N, C);
    s->u = ufs_dalloc(N, C);
    s->lf = ufs_dalloc(N, C);
    s->ff = ufs_dalloc(C, C);
    s->fff = ufs_dalloc(N, C);
    s->scaled = ufs_dalloc(N, C);
    s->root = NULL;
    if (problem->normalised) {
        s->root = ufs_dalloc(N, 1);
        for (int i = 0; i < n; i++) {
            double degree = problem->graph->degree[i];
            s->root[i] = degree > 0.0 ? 1.0 / sqrt(degree) : 0.0;
        }
    }
}

static void residual(ndfs_work *s, const ndfs_result *r)
{
    size_t len = (size_t) s->problem->n * (size_t) s->problem->c;
    for (size_t i = 0; i < len; i++) s->u[i] = r->f[i] - s->xw[i];
}

static void laplacian(ndfs_work *s, const double *f)
{
    int n = s->problem->n, c = s->problem->c;
    size_t N = (size_t) n;
    if (s->root == NULL) {
        graph_laplacian_mult(s->problem->graph, c, f, s->lf);
        return;
    }
    for (size_t j = 0; j < (size_t) c; j++)
        for (size_t i = 0; i < N; i++) s->scaled[i + j * N] = s->root[i] * f[i + j * N];
    graph_mult(s->problem->graph, c, s->scaled, s->lf);
    for (size_t j = 0; j < (size_t) c; j++)
        for (size_t i = 0; i < N; i++)
            s->lf[i + j * N] = f[i + j * N] - s->root[i] * s->lf[i + j * N];
}

/* lf holds MF. A zero of F stays zero. */
static void update_f(ndfs_work *s, double *f)
{
    int n = s->problem->n, c = s->problem->c;
    size_t N = (size_t) n, len = N * (size_t) c;
    double gamma = s->problem->gamma;

    la_gemm('T', 'N', c, c, n, 1.0, f, n, f, n, 0.0, s->ff, c);
    la_gemm('N', 'N', n, c, c, 1.0, f, n, s->ff, c, 0.0, s->fff, n);
    for (size_t i = 0; i < len; i++) {
        double mf = s->lf[i], up = gamma * f[i], down = gamma * s->fff[i];
        if (s->settings->split) {
            if (mf < 0.0) up -= mf;
            else down += mf;
        } else {
            down = fmax(down + mf, CLIP);
        }
        f[i] = down > 0.0 ? f[i] * up / down : 0.0;
    }
    for (size_t j = 0; j < (size_t) c; j++) {
        double norm = la_nrm2(n, f + j * N);
        if (norm > 0.0)
            for (size_t i = 0; i < N; i++) f[i + j * N] /= norm;
    }
}

static void set_weights(ndfs_work *s, const double *root_g)
{
    for (int j = 0; j < s->problem->p; j++) {
        s->root_g[j] = root_g[j];
        s->g[j] = root_g[j] * root_g[j];
    }
}

/* Weights for the next ridge from the rows of W: the plain ones, or extrapolated, but no g by
 * more than a factor e^6 from its plain value. The last step is a plain one: it cannot be
 * refused. */
static void next_weights(ndfs_work *s, bool may_extrapolate)
{
    int p = s->problem->p;
    la_irls_g(p, s->row, s->settings->eps, s->plain);
    for (int j = 0; j < p; j++) s->plain[j] = sqrt(s->plain[j]);
    if (!s->settings->accelerate || !may_extrapolate) {
        anderson_reset(&s->history);
        set_weights(s, s->plain);
        return;
    }
    anderson_step(&s->history, s->root_g, s->plain, s->one, s->root_g);
    for (int j = 0; j < p; j++)
        s->root_g[j] = fmin(fmax(s->root_g[j], s->plain[j] * exp(-3.0)),
                            s->plain[j] * exp(3.0));
    set_weights(s, s->root_g);
}

/* At the new F and W; leaves U = F - XW and LF behind. */
static double objective(ndfs_work *s, const ndfs_result *r, double *orthogonality)
{
    const ndfs_problem *a = s->problem;
    int n = a->n, c = a->c;
    size_t len = (size_t) n * (size_t) c;
    double smooth = 0.0, off = 0.0;

    residual(s, r);
    laplacian(s, r->f);
    for (size_t i = 0; i < len; i++) smooth += r->f[i] * s->lf[i];
    la_gemm('T', 'N', c, c, n, 1.0, r->f, n, r->f, n, 0.0, s->ff, c);
    for (int j = 0; j < c; j++)
        for (int i = 0; i < c; i++) {
            double d = s->ff[i + j * c] - (i == j);
            off += d * d;
        }
    *orthogonality = sqrt(off);
    return smooth + a->alpha * (la_ss(len, s->u) +
                                a->beta * la_l21(a->p, s->row, s->settings->eps)) +
        a->gamma / 4.0 * off;
}

/* W is optimal for F if x_j'U = beta/2 w_j / |w_j|, or |x_j'U| <= beta/2 where w_j = 0; rows
 * below the smoothing count as zero. The largest violation over beta/2. */
static double regression_kkt(ndfs_work *s, const ndfs_result *r)
{
    const ndfs_problem *a = s->problem;
    int n = a->n, p = a->p, c = a->c;
    size_t P = (size_t) p;
    double half = a->beta / 2.0, worst = 0.0, limit = 10.0 * sqrt(s->settings->eps);
    double *xu = s->xu;

    la_gemm('T', 'N', p, c, n, 1.0, a->x, n, s->u, n, 0.0, xu, p);
    for (size_t j = 0; j < P; j++) {
        double ss = 0.0;
        for (size_t l = 0; l < (size_t) c; l++) {
            double d = xu[j + l * P];
            if (s->row[j] > limit) d -= half * r->w[j + l * P] / s->row[j];
            ss += d * d;
        }
        worst = fmax(worst, s->row[j] > limit ? sqrt(ss) / half : sqrt(ss) / half - 1.0);
    }
    return worst;
}
