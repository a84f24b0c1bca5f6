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

enum { STEPS = 3 };

typedef struct {
    const jspca_problem *problem;
    const jspca_settings *settings;
    jspca_result *result;
    ufs_run *run;
    ufs_x y;         /* n x p: x, or W^{1/2}x in y_own */
    const double *x; /* n x p: x if dense */
    double *y_own;
    double *d;      /* p: a^{1/2}, or ones */
    double *sqrt_w; /* n: w^{1/2}, or ones */
    double *ss;     /* squared norms of the columns, or rows, of x */
    double *t, *z;  /* n x k: target and Y Q */
    double *zx;     /* n x k: X Q, equal to z over features */
    double *u;      /* n x k: X P, over samples */
    double *b;      /* p x k: Y'Z, d Y'Z, d Pbar */
    double *q_old;  /* p x k */
    double *col;    /* max(n, p) scratch */
    double *zz;     /* k x k: Z'Z */
    la_gl gl;       /* exact Q-step, and every certificate */
    la_ridge ridge; /* reweighted Q-step */
    la_polar_work polar;
} jspca_work;

static void work_init(jspca_work *work);
static int alternate(jspca_work *work, bool full, bool *settled);
static void set_weights(jspca_work *work);
static void set_target(jspca_work *work);
static bool is_full(const jspca_settings *settings, int t, double change);
static int q_step(jspca_work *work, bool full);
static int exact_step(jspca_work *work, bool full);
static int reweighted_step(jspca_work *work);
static void share_among_copies(const jspca_problem *problem, double *q);
static int procrustes(jspca_work *work);
static void residual_of_features(jspca_work *work);
static void residual_of_samples(jspca_work *work);
static void reweight(jspca_work *work);
static double record(jspca_work *work);
static void certify(jspca_work *work);
static int canonicalise(jspca_work *work);
static double max_row_of_operator(const ufs_x *x, const double *half);
static double max_form_of_operator(const ufs_x *x, const double *half);
static double max_row_of_gram(int n, int p, const double *x, const double *weight);
static double max_quadratic_form(int n, int p, const double *x, const double *half, bool sample);

void jspca_solve(const jspca_problem *problem, const jspca_settings *settings, jspca_result *result,
                 ufs_run *run)
{
    static const char *const columns[] = {"iteration", "objective", "loss", "penalty",
                                          "change",    "live",      NULL};
    jspca_work work = {.problem = problem, .settings = settings, .result = result, .run = run};

    ufs_trace_named(&run->trace, settings->max_iter, columns);
    work_init(&work);
    run->status = UFS_MAX_ITER;
    result->change = 1.0;

    while (run->iterations < settings->max_iter) {
        bool full = is_full(settings, ++run->iterations, result->change);
        bool settled = false;

        if (alternate(&work, full, &settled)) return;
        if (problem->sample)
            residual_of_samples(&work);
        else
            residual_of_features(&work);
        if (!R_FINITE(record(&work))) {
            run->status = UFS_DIVERGED;
            return;
        }
        if (settled) {
            run->status = UFS_CONVERGED;
            break;
        }
        reweight(&work);
    }
    certify(&work);
    /* Steps became small because the inner problem is too hard, not because it is
     * solved: tiny penalties. */
    if (settings->exact && run->status == UFS_CONVERGED && !(result->violation <= 0.1))
        run->status = UFS_STALLED;
    run->lapack = canonicalise(&work);
}

static void work_init(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    const jspca_settings *settings = work->settings;
    jspca_result *result = work->result;
    size_t n = (size_t) problem->n, p = (size_t) problem->p, k = (size_t) problem->k;

    work->x = problem->x->dense;
    work->d = ufs_dalloc(p, 1);
    work->sqrt_w = ufs_dalloc(n, 1);
    work->t = ufs_dalloc(n, k);
    work->z = ufs_dalloc(n, k);
    work->b = ufs_dalloc(p, k);
    work->q_old = ufs_dalloc(p, k);
    work->col = ufs_dalloc(n > p ? n : p, 1);
    work->zz = ufs_dalloc(k, k);
    work->ss = ufs_dalloc(problem->sample ? n : p, 1);
    for (size_t i = 0; i < p; i++) work->d[i] = 1.0;
    for (size_t i = 0; i < n; i++) work->sqrt_w[i] = 1.0;
    if (problem->sample) {
        work->y_own = ufs_dalloc(n, p);
        work->y = ufs_x_dense(problem->n, problem->p, work->y_own);
        ufs_copy(work->y_own, work->x, n * p);
        work->zx = ufs_dalloc(n, k);
        work->u = ufs_dalloc(n, k);
        la_row_norms(problem->n, problem->p, work->x, work->ss);
        for (size_t i = 0; i < n; i++) work->ss[i] *= work->ss[i];
        ufs_x_mul(problem->x, problem->k, result->pbar, work->u);
    } else {
        work->y = *problem->x;
        work->y_own = work->u = NULL;
        work->zx = work->z;
        ufs_x_ss(problem->x, work->ss);
    }

    memset(result->q, 0, p * k * sizeof(double));
    /* A fit that diverges returns before these are set. */
    memset(result->kkt, 0, p * sizeof(double));
    memset(result->loadings, 0, p * k * sizeof(double));
    memset(result->rotation, 0, k * k * sizeof(double));
    result->violation = result->gap = R_NaN;
    /* Without the exact Q-step la_gl only checks the answer: one slot will do. Over
     * samples the Gram matrix is new in every iteration: the smaller one then. */
    if (settings->exact) {
        la_gl_init(&work->gl, problem->k, &work->y);
    } else {
        la_gl_init_slots(&work->gl, problem->k, &work->y, 1);
        la_ridge_init(&work->ridge, problem->n, problem->p, problem->k, work->y.dense,
                      !problem->sample          ? 'a'
                      : problem->p < problem->n ? 'p'
                                                : 'n');
    }
    la_polar_init(&work->polar, problem->p, problem->k);
}

/* Steps over Q and P under one set of weights: one, but over samples, where new weights cost
 * a new Gram matrix of the working set, STEPS for the exact solver; all lower the majoriser of
 * the objective. `settled` if the first of them hardly changed Q. Returns LAPACK's code. */
static int alternate(jspca_work *work, bool full, bool *settled)
{
    const jspca_settings *settings = work->settings;
    jspca_result *result = work->result;
    bool last = work->run->iterations == settings->max_iter; /* ends with a full step */
    int steps = settings->exact && work->problem->sample && !last ? STEPS : 1;
    int *lapack = &work->run->lapack;
    double change = result->change;

    set_weights(work);
    for (int s = 0; s < steps && !*settled; s++) {
        set_target(work);
        if ((*lapack = q_step(work, full && s == 0)) || (*lapack = procrustes(work)))
            return *lapack;
        if (s == 0) change = result->change;
        *settled = s == 0 && full && work->run->iterations > 1 && change <= settings->tol;
    }
    result->change = change;
    return 0;
}

/* d, or Y and what depends on it. */
static void set_weights(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    size_t n = (size_t) problem->n, p = (size_t) problem->p;

    if (!problem->sample) {
        for (size_t i = 0; i < p; i++) work->d[i] = sqrt(result->weight[i]);
        return;
    }
    for (size_t i = 0; i < n; i++) work->sqrt_w[i] = sqrt(result->weight[i]);
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < n; i++)
            work->y_own[i + j * n] = work->sqrt_w[i] * work->x[i + j * n];
    if (work->settings->exact)
        la_gl_set_x(&work->gl, &work->y);
    else
        la_ridge_set_x(&work->ridge, work->y.dense);
}

/* T = Y diag(d) Pbar; over samples X P is already there. */
static void set_target(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    size_t n = (size_t) problem->n, p = (size_t) problem->p, k = (size_t) problem->k;

    if (problem->sample) {
        for (size_t j = 0; j < k; j++)
            for (size_t i = 0; i < n; i++)
                work->t[i + j * n] = work->sqrt_w[i] * work->u[i + j * n];
        return;
    }
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < p; i++) work->b[i + j * p] = work->d[i] * result->pbar[i + j * p];
    ufs_x_mul(&work->y, problem->k, work->b, work->t);
}

/* Whether the exact Q-step looks at all features, not only at its working set. */
static bool is_full(const jspca_settings *settings, int t, double change)
{
    return !settings->exact || t <= 3 || t % 5 == 0 || t == settings->max_iter ||
           change < 2.0 * settings->tol;
}

/* Q = argmin ||T - YQ||^2 + lambda ||Q||_{2,1} (or its reweighted step), Z = YQ. */
static int q_step(jspca_work *work, bool full)
{
    const jspca_problem *problem = work->problem;
    const jspca_settings *settings = work->settings;
    jspca_result *result = work->result;
    size_t n = (size_t) problem->n, k = (size_t) problem->k, pk = (size_t) problem->p * k;
    double size, step;
    int info;

    ufs_copy(work->q_old, result->q, pk);
    info = settings->exact ? exact_step(work, full) : reweighted_step(work);
    if (info) return info;
    if (problem->sample)
        for (size_t j = 0; j < k; j++)
            for (size_t i = 0; i < n; i++)
                work->zx[i + j * n] = work->z[i + j * n] / work->sqrt_w[i];
    la_row_norms(problem->p, problem->k, result->q, result->row_norm);
    size = sqrt(la_ss(pk, result->q));
    step = sqrt(la_ss_diff(pk, result->q, work->q_old));
    result->change = step == 0.0 ? 0.0 : size > 0.0 ? step / size : 1.0;
    return 0;
}

/* The tolerance of the inner solve follows the outer change: a looser tie (0.1) lets
 * the outer iteration stall on the inner error. */
static int exact_step(jspca_work *work, bool full)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    double vtol = fmin(fmax(0.02 * result->change, 1e-9), 1e-3);
    int info;

    info = la_gl_solve(&work->gl, work->t, problem->lambda, vtol, full, 0.95, result->q);
    if (info) return info;
    share_among_copies(problem, result->q);
    ufs_copy(work->z, work->gl.xv, (size_t) problem->n * (size_t) problem->k);
    return 0;
}

static int reweighted_step(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    int info;

    info = la_ridge_solve(&work->ridge, work->t, result->h, problem->lambda, result->q);
    if (info) return info;
    ufs_x_mul(&work->y, problem->k, result->q, work->z);
    return 0;
}

/* Of equal columns only the sum of their rows of Q matters to X Q, and equal parts
 * of it have the smallest penalty: descent leaves them as it found them, so share. */
static void share_among_copies(const jspca_problem *problem, double *q)
{
    if (problem->first == NULL) return;
    /* Sums at the first copies, which stand before the others; then all copies. */
    for (int j = 0; j < problem->k; j++) {
        double *col = q + (size_t) j * (size_t) problem->p;
        for (int i = 0; i < problem->p; i++)
            if (problem->first[i] != i) col[problem->first[i]] += col[i];
        for (int i = 0; i < problem->p; i++)
            if (problem->first[i] == i) col[i] /= problem->copies[i];
        for (int i = 0; i < problem->p; i++) col[i] = col[problem->first[i]];
    }
}

/* Pbar = polar(diag(d) Y'Z), the old Pbar where that is rank-deficient. Leaves
 * Y'Z in b. */
static int procrustes(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    size_t p = (size_t) problem->p, k = (size_t) problem->k;

    ufs_x_cross(&work->y, problem->k, work->z, work->b);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < p; i++) result->P[i + j * p] = work->d[i] * work->b[i + j * p];
    int info = la_polar(&work->polar, result->P, result->pbar, result->pbar);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < p; i++) result->P[i + j * p] = result->pbar[i + j * p] / work->d[i];
    if (problem->sample) ufs_x_mul(problem->x, problem->k, result->P, work->u);
    return info;
}

/* Squared residuals come from ||x||^2 - 2 x'(XQ)p + p'(Z'Z)p with Y'Z at hand,
 * which saves a pass over x; where that cancels more than two digits, they are
 * formed explicitly. */
static const double cancelled = 0.01;

static void residual_of_features(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    size_t n = (size_t) problem->n, p = (size_t) problem->p;
    int k = problem->k;

    la_gemm('T', 'N', k, k, problem->n, 1.0, work->z, problem->n, work->z, problem->n, 0.0,
            work->zz, k);
    for (size_t i = 0; i < p; i++) {
        double ss = work->ss[i];
        for (int j = 0; j < k; j++) {
            size_t at = i + (size_t) j * p;
            double zzp = 0.0;
            for (int l = 0; l < k; l++) zzp += work->zz[j + l * k] * result->P[i + (size_t) l * p];
            ss += result->P[at] * (zzp - 2.0 * work->b[at]);
        }
        if (!(ss > cancelled * work->ss[i])) {
            const double *col = ufs_x_column(problem->x, (int) i, work->col);
            if (col != work->col) ufs_copy(work->col, col, n);
            for (int j = 0; j < k; j++)
                la_axpy(problem->n, -result->P[i + (size_t) j * p], work->z + (size_t) j * n,
                        work->col);
            ss = la_ss(n, work->col);
        }
        result->residual[i] = sqrt(ss);
    }
}

/* The same for samples: ||x - Pz||^2 = ||x||^2 - ||u||^2 + ||u - z||^2, u = P'x. */
static void residual_of_samples(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    size_t n = (size_t) problem->n, p = (size_t) problem->p, k = (size_t) problem->k;

    for (size_t i = 0; i < n; i++) {
        double ss = work->ss[i];
        for (size_t j = 0; j < k; j++) {
            double u = work->u[i + j * n], z = work->zx[i + j * n];
            ss += z * (z - 2.0 * u);
        }
        if (!(ss > cancelled * work->ss[i])) {
            for (size_t l = 0; l < p; l++) work->col[l] = work->x[i + l * n];
            for (size_t j = 0; j < k; j++)
                la_axpy(problem->p, -work->zx[i + j * n], result->P + j * p, work->col);
            ss = la_ss(p, work->col);
        }
        result->residual[i] = sqrt(ss);
    }
}

static void reweight(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    const jspca_settings *settings = work->settings;
    jspca_result *result = work->result;
    int m = problem->sample ? problem->n : problem->p;
    la_irls_g(m, result->residual, settings->eps_res, result->weight);
    for (int i = 0; i < m; i++) result->weight[i] = 1.0 / result->weight[i];
    if (!settings->exact) la_irls_g(problem->p, result->row_norm, settings->eps_q, result->h);
}

static double record(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    const jspca_settings *settings = work->settings;
    jspca_result *result = work->result;
    double eps_q = settings->exact ? 0.0 : settings->eps_q;
    double loss = la_l21(problem->sample ? problem->n : problem->p, result->residual,
                         settings->eps_res);
    double penalty = la_l21(problem->p, result->row_norm, eps_q) + problem->dropped * sqrt(eps_q);
    double top = 0.0, live = 0.0;

    if (!problem->sample) loss += problem->dropped * sqrt(settings->eps_res);
    /* Reweighting never gives an exact zero: 1e-3 of the largest row is its "dead". */
    for (int i = 0; i < problem->p; i++) top = fmax(top, result->row_norm[i]);
    for (int i = 0; i < problem->p; i++)
        if (settings->exact ? result->row_norm[i] > 0.0 : result->row_norm[i] > 1e-3 * top)
            live += 1.0;
    penalty *= problem->lambda;
    ufs_trace_add(&work->run->trace, (double[]){work->run->iterations, loss + penalty, loss,
                                                penalty, result->change, live});
    ufs_run_step(work->run, loss + penalty, result->change);
    return loss + penalty;
}

/* Optimality of the last Q-step, with its own T, over all features; that of the
 * smoothed problem where the reweighted one was solved. An exact fit ends with a
 * full solve, whose products still stand. */
static void certify(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    const jspca_settings *settings = work->settings;
    jspca_result *result = work->result;
    if (!settings->exact) la_gl_certify(&work->gl, work->t, problem->lambda, result->q);
    ufs_copy(result->kkt, work->gl.kkt, (size_t) problem->p);
    result->violation = la_gl_violation(&work->gl, problem->lambda,
                                        settings->exact ? 0.0 : settings->eps_q, result->q);
    result->gap = work->gl.objective > 0.0 ? work->gl.gap / work->gl.objective : 0.0;
}

/* (P, Q) may be rotated freely: the SVD X Q = U S O' gives uncorrelated scores of
 * decreasing variance, and the largest entry of a column of Q O is positive. */
static int canonicalise(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    size_t n = (size_t) problem->n, p = (size_t) problem->p;
    int k = problem->k, info;
    double top = 0.0;

    ufs_copy(work->t, work->zx, n * (size_t) k);
    info = la_svd_thin(problem->n, k, work->t, work->z, work->col, work->zz);
    if (info) return info;
    for (int j = 0; j < k; j++)
        for (int l = 0; l < k; l++) result->rotation[l + j * k] = work->zz[j + l * k];
    la_gemm('N', 'N', problem->p, k, k, 1.0, result->q, problem->p, result->rotation, k, 0.0,
            result->loadings, problem->p);
    la_col_norms(problem->p, k, result->loadings, work->col);
    for (int j = 0; j < k; j++) top = fmax(top, work->col[j]);
    for (int j = 0; j < k; j++) {
        double *load = result->loadings + (size_t) j * p;
        bool zero = work->col[j] <= 1e-12 * top;
        size_t at = 0;
        if (zero) {
            memset(load, 0, p * sizeof(double));
            continue;
        }
        while (load[at] == 0.0) at++;
        double before = load[at];
        la_fix_signs(problem->p, 1, load);
        if (load[at] != before)
            for (int l = 0; l < k; l++) result->rotation[l + j * k] = -result->rotation[l + j * k];
        for (size_t i = 0; i < p; i++) load[i] /= work->col[j];
    }
    return 0;
}

double jspca_lambda_max(const ufs_x *op, bool sample)
{
    int n = op->n, p = op->p, m = sample ? n : p;
    const double *x = op->dense;
    double *half = ufs_dalloc((size_t) m, 1);

    /* A or W at Q = 0; a zero row or column has no weight. */
    if (sample) {
        la_row_norms(n, p, x, half);
    } else {
        ufs_x_ss(op, half);
        for (int i = 0; i < m; i++) half[i] = sqrt(half[i]);
    }
    for (int i = 0; i < m; i++) half[i] = half[i] > 0.0 ? 0.5 / half[i] : 0.0;
    if (op->kind != UFS_X_DENSE)
        return 2.0 * (p < n ? max_row_of_operator(op, half) : max_form_of_operator(op, half));
    if (sample && p < n) return 2.0 * max_row_of_gram(n, p, x, half);
    return 2.0 * max_quadratic_form(n, p, x, half, sample);
}

/* max_i || (X'X A^{1/2})_i || through X'X, p x p. */
static double max_row_of_operator(const ufs_x *x, const double *half)
{
    size_t P = (size_t) x->p;
    double *gram = ufs_dalloc(P, P), top = 0.0;

    ufs_x_gram_cols(x, gram);
    for (size_t i = 0; i < P; i++) {
        double ss = 0.0;
        for (size_t j = 0; j < P; j++) ss += gram[j + i * P] * gram[j + i * P] * half[j];
        top = fmax(top, ss);
    }
    return sqrt(top);
}

/* The same for p >= n: sqrt(x_i'K x_i), K = XAX' (n x n). Two products per entry for a sparse
 * column x_i = (r - m 1)/s: r'Kr - 2m (K1)'r + m^2 1'K1; n^2 for any other. */
static double max_form_of_operator(const ufs_x *x, const double *half)
{
    enum { width = 64 };
    int n = x->n, index[width];
    size_t N = (size_t) n;
    double *k = ufs_dalloc(N, N), *sum = ufs_dzero(N, 1), all = 0.0, top = 0.0;
    double *block = ufs_dalloc(N, width), *image = ufs_dalloc(N, width);

    ufs_x_gram_rows(x, half, k);
    for (size_t j = 0; j < N; j++)
        for (size_t i = 0; i < N; i++) sum[j] += k[i + j * N];
    for (size_t i = 0; i < N; i++) all += sum[i];
    for (int start = 0, waiting = 0; start < x->p; start++) {
        double form;
        if (ufs_x_form(x, start, k, sum, all, &form))
            top = fmax(top, form);
        else
            index[waiting++] = start;
        if (waiting == width || (waiting > 0 && start == x->p - 1)) {
            ufs_x_columns(x, waiting, index, block);
            la_gemm('N', 'N', n, waiting, n, 1.0, k, n, block, n, 0.0, image, n);
            for (size_t j = 0; j < (size_t) waiting; j++)
                top = fmax(top, la_dot(n, block + j * N, image + j * N));
            waiting = 0;
        }
    }
    return sqrt(top);
}

/* max_i || (X'WX)_i ||, p x p. np^2 flops. */
static double max_row_of_gram(int n, int p, const double *x, const double *weight)
{
    size_t N = (size_t) n, P = (size_t) p;
    double *y = ufs_dalloc(N, P), *gram = ufs_dalloc(P, P), *norm = ufs_dalloc(P, 1);
    double top = 0.0;

    for (size_t j = 0; j < P; j++)
        for (size_t i = 0; i < N; i++) y[i + j * N] = sqrt(weight[i]) * x[i + j * N];
    la_gram('T', n, p, y, gram);
    la_row_norms(p, p, gram, norm);
    for (size_t i = 0; i < P; i++) top = fmax(top, norm[i]);
    return top;
}

/* max_i sqrt(v_i'K v_i), n x n: K = XAX' and v_i = x_i over features, K = XX' and
 * v_i = W x_i over samples. v'Kv = 2 v'Uv with U the upper triangle of K and half
 * its diagonal: 2 n^2 p flops, in blocks of columns. */
static double max_quadratic_form(int n, int p, const double *x, const double *half, bool sample)
{
    enum { width = 128 };
    size_t N = (size_t) n;
    double *k = ufs_dzero(N, N), *v = ufs_dalloc(N, width), *uv = ufs_dalloc(N, width);
    double top = 0.0;

    for (int start = 0; start < p; start += width) {
        int m = p - start < width ? p - start : width;
        const double *from = x + (size_t) start * N;
        for (size_t j = 0; j < (size_t) m; j++) {
            double s = sample ? 1.0 : sqrt(half[(size_t) start + j]);
            for (size_t i = 0; i < N; i++) v[i + j * N] = s * from[i + j * N];
        }
        la_syrk('N', n, m, 1.0, v, n, 1.0, k, n);
    }
    for (size_t i = 0; i < N; i++) k[i + i * N] *= 0.5;
    for (int start = 0; start < p; start += width) {
        int m = p - start < width ? p - start : width;
        const double *from = x + (size_t) start * N;
        for (size_t j = 0; j < (size_t) m; j++)
            for (size_t i = 0; i < N; i++)
                v[i + j * N] = sample ? half[i] * from[i + j * N] : from[i + j * N];
        ufs_copy(uv, v, N * (size_t) m);
        la_trmm('L', 'U', 'N', n, m, 1.0, k, n, uv, n);
        for (size_t j = 0; j < (size_t) m; j++)
            top = fmax(top, 2.0 * la_dot(n, v + j * N, uv + j * N));
    }
    return sqrt(top);
}

int jspca_compress(int n, int p, const double *x, double *r)
{
    size_t N = (size_t) n, P = (size_t) p;
    double *a = ufs_dalloc(N, P);
    int info;

    ufs_copy(a, x, N * P);
    info = la_qr(n, p, a, ufs_dalloc(P, 1));
    for (size_t j = 0; j < P; j++)
        for (size_t i = 0; i < P; i++) r[i + j * P] = i <= j ? a[i + j * N] : 0.0;
    return info;
}
