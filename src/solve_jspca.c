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
 * Over samples Y'Y changes with every w. The exact Q-step keeps the Gram matrix of older weights v
 * while c v, c = max_i w_i/v_i, is a close majoriser of w: with R = X(P - Q_old) and V = diag(v)
 *   ||W^{1/2}X(P - Q)||^2 <= c ||T' - V^{1/2}X Q||^2 + const,
 *   T' = V^{1/2}X Q_old + W R / (c V^{1/2}),
 * with equality at Q_old, so the objective falls as it does for v = w; the fit ends with v = w.
 *
 * Over samples an iteration sees P and w through the n x (k + 1) numbers (X P, log w) alone. The
 * exact solver extrapolates these by Anderson's method, or steps forward where changes grow. What
 * the step from there finds is a feasible P and Q; it is kept if the objective falls, otherwise the
 * plain step is made. The last step is a plain one under its own weights, and follows a change of Q
 * within the tolerance and an extrapolation of a length near it.
 *
 * Where samples are many and features few X stands for S V', V the r eigenvectors of X'X that are
 * not in its null space: V'P takes the place of X P in the extrapolation, v = w in every step, as a
 * new S'WS (r x r, = C'C) is cheap, and the Q-step sees C V' in place of W^{1/2}X. An iteration is
 * n r (r + 4k) flops then.
 *
 * Over samples X P = XX'M (M'XX'M)^{-1/2} with M = WZ, n x k: for n <= p steps go through XX',
 * and P itself is formed in the last one, or where M'XX'M has lost too much.
 *
 * The Q-step is exact (la_gl: working set, true zeros), or the paper's single
 * reweighted step, the ridge solution with penalty weights 1/h_i,
 * h_i = 2 sqrt(||q_i||^2 + eps_q).
 *
 * lambda = 0: X Q = T fits exactly, and Q of all solutions is the shortest (in the row space).
 *
 * The loss over features is a fixed-point iteration: its constraint P'D1P = I
 * moves with D1, so its objective may rise, and it stops on the change of Q. Over
 * samples the weights commute with P and every step lowers the objective.
 *
 * Flops per iteration: 4npk + 6pk^2, and the Q-step: exact, its sweeps and 2npk
 * when full; ridge, n^2 p + n^3/3 or p^3/3 (see la_solve). Over samples 2npk more, or through XX'
 * (n^2 p once) 2n^2 k in place of all but the Q-step; and n m^2 for the Gram matrix of m features
 * when v is renewed.
 * Memory beside x: 6pk (5pk over samples), n-sized parts, that of la_gl or la_ridge; over samples
 * 24nk for the extrapolation and n^2 for XX', or np for Y with la_ridge.
 *
 * Source: "Joint sparse principal component analysis" (Yi, Lai, He, Cheung and
 * Liu, Pattern Recognition 61, 2017, 524-536); slides by Maurya, whose formulae
 * are corrected as the help page says. */
#include "solve_jspca.h"
#include "anderson.h"
#include "jspca_scores.h"
#include "la.h"
#include "la_gl.h"
#include <R_ext/Utils.h>
#include <limits.h>
#include <R_ext/Memory.h>

enum { DEPTH = 5, TOO_HARD = 10 };

/* Older weights serve until the ratios of the new ones to them differ by more; a weight is heavy
 * beyond this multiple of the harmonic mean; extrapolation begins with changes below NEAR, as a
 * leap from far off lands on one or another stationary point by rounding. */
static const double STALE = 1.1, HEAVY = 4.0, NEAR = 0.1, ALIGNED = 0.8, FAR = 10.0;

typedef struct {
    const jspca_problem *problem;
    const jspca_settings *settings;
    jspca_result *result;
    ufs_run *run;
    double *y;     /* n x p: V^{1/2}x, over samples if not exact */
    double *d;     /* p: a^{1/2}; NULL over samples */
    double *root;  /* n: V^{1/2}, over samples */
    double vtol;   /* of the last exact Q-step */
    double factor; /* c; 1 if V = W */
    int unsolved;  /* Q-steps over all features that missed their tolerance */
    /* extrapolation, over samples: points are X P and log w */
    bool extrapolates;
    bool bold;        /* the point is extrapolated */
    bool forward;     /* along the last change, which was larger than the one before */
    double moved;     /* length of the last change of the point */
    double reach;     /* length of the next step forward, in changes of the point */
    double leap;      /* relative length of the last extrapolation, 0 if it was not kept */
    bool confirms;    /* a plain step with V = W is wanted: Q has settled otherwise */
    double objective; /* of the last step that was kept */
    anderson history;
    double *point, *image; /* n_v k + n: where a step starts, and what it leads to */
    double *scale;         /* n_v k + n: 1 / size, of both parts */
    double *z_old;         /* n x k: X Q_old; not with `scores` */
    int n_v;               /* rows of X P as the point has it: n, or r */
    double *v;             /* n_v x k: u, or diag(sigma) V'P */
    jspca_scores *scores;  /* over many samples of few features; NULL if x itself is used */
    /* Over samples, P = X' map by the kernel; of size n x n or n x k */
    double *kernel;                    /* XX', NULL if P is formed in every step */
    bool implicit;                     /* map is P, result->P is not */
    double *map, *km;                  /* n x k: map, and kernel WZ */
    double *values, *vectors, *root_s; /* of Z'W kernel WZ: k, k x k, k x k */
    double *ss;                        /* squared norms of the columns, or rows, of x */
    double *t;                         /* n x k: target */
    double *z;                         /* n x k: X Q */
    double *u;                         /* n x k: X P, over samples */
    int *few;                          /* n: samples whose residual is formed, over samples */
    int n_few;
    double *b;      /* p x k: X'Z, d Pbar */
    double *q_old;  /* p x k */
    double *col;    /* max(n, k) scratch */
    double *zz;     /* k x k: Z'Z */
    la_gl gl;       /* exact Q-step, and every certificate */
    la_ridge ridge; /* reweighted Q-step */
    la_polar_work polar;
    la_polar_work turn; /* k x k, for the extrapolated point */
} jspca_work;

static int work_init(jspca_work *work);
static int alternate(jspca_work *work, bool full, bool *settled);
static int alternate_once(jspca_work *work, bool full);
static void step_back(jspca_work *work);
static void next_point(jspca_work *work);
static void align(jspca_work *work);
static double leap_of(const jspca_work *work);
static bool is_aligned(const jspca_work *work, double size);
static void write_point(const jspca_work *work, double *to);
static void read_point(jspca_work *work);
static void set_samples(jspca_work *work, bool renew);
static void set_target(jspca_work *work);
static bool is_full(const jspca_settings *settings, int t, double change);
static int q_step(jspca_work *work, bool full);
static void free_step(jspca_work *work);
static int exact_step(jspca_work *work, bool full);
static double share_of_most(const jspca_work *work);
static int reweighted_step(jspca_work *work);
static void share_among_copies(const jspca_problem *problem, double *q);
static bool kernel_pays(const jspca_work *work);
static int set_up_scores(jspca_work *work);
static void project_p(jspca_work *work);
static void weighted_product(jspca_work *work, double *out);
static int procrustes(jspca_work *work);
static bool procrustes_by_kernel(jspca_work *work, int *info);
static int form_p(jspca_work *work);
static void residual_of_features(jspca_work *work);
static void residual_of_samples(jspca_work *work);
static void add_residual(void *data, int j, const double *column);
static void reweight(jspca_work *work);
static double loss_of(const jspca_work *work);
static double penalty_of(const jspca_work *work);
static double objective(const jspca_work *work);
static double record(jspca_work *work);
static void certify(jspca_work *work);
static int shortest(jspca_work *work);
static int canonicalise(jspca_work *work);
static double max_row_of_operator(const ufs_x *x, const double *half);
static double max_form_of_operator(const ufs_x *x, const double *half, bool sample);
static double max_row_of_weighted_gram(const ufs_x *x, const double *weight);
static double max_quadratic_form(int n, int p, const double *x, const double *half, bool sample);

void jspca_solve(const jspca_problem *problem, const jspca_settings *settings, jspca_result *result,
                 ufs_run *run)
{
    static const char *const columns[] = {"iteration", "objective", "loss", "penalty",
                                          "change",    "live",      NULL};
    jspca_work work = {.problem = problem, .settings = settings, .result = result, .run = run};

    ufs_trace_named(&run->trace, settings->max_iter, columns);
    if ((run->lapack = work_init(&work))) return;
    work.gl.newton = run->paths.gl_newton;
    run->status = UFS_MAX_ITER;
    result->change = 1.0;

    while (run->iterations < settings->max_iter) {
        bool full = is_full(settings, ++run->iterations, result->change);
        bool settled = false, stalled;

        if ((run->lapack = alternate(&work, full, &settled))) return;
        stalled = settings->gives_up && work.unsolved >= TOO_HARD;
        if (work.implicit && (settled || stalled || run->iterations == settings->max_iter)) {
            if ((run->lapack = form_p(&work))) return;
            residual_of_samples(&work);
        }
        if (!R_FINITE(record(&work))) {
            run->status = UFS_DIVERGED;
            memset(result->loadings, 0, (size_t) problem->p * (size_t) problem->k * sizeof(double));
            return;
        }
        if (settled) {
            run->status = UFS_CONVERGED;
            break;
        }
        if (stalled) {
            run->status = UFS_STALLED;
            break;
        }
        reweight(&work);
        if (work.extrapolates) next_point(&work);
    }
    if (problem->lambda == 0.0)
        run->lapack = shortest(&work);
    else
        certify(&work);
    if (run->lapack) return;
    /* Steps became small because the inner problem is too hard, not because it is
     * solved: tiny penalties. */
    if (settings->exact && run->status == UFS_CONVERGED &&
        !(result->violation <= (problem->sample ? 0.01 : 0.1)))
        run->status = UFS_STALLED;
    run->lapack = canonicalise(&work);
}

static int work_init(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    const jspca_settings *settings = work->settings;
    jspca_result *result = work->result;
    size_t n = (size_t) problem->n, p = (size_t) problem->p, k = (size_t) problem->k;

    work->t = ufs_dalloc(n, k);
    work->z = ufs_dzero(n, k);  /* of Q = 0 */
    work->b = result->loadings; /* which are made at the end */
    work->q_old = ufs_dalloc(p, k);
    work->col = ufs_dalloc(n > k ? n : k, 1);
    work->zz = ufs_dalloc(k, k);
    work->ss = ufs_dalloc(problem->sample ? n : p, 1);
    work->vtol = 1e-3;
    work->factor = 1.0;
    work->objective = work->moved = R_PosInf;
    work->reach = 1.0;
    if (problem->sample) {
        work->root = ufs_dalloc(n, 1);
        work->u = ufs_dalloc(n, k);
        work->few = ufs_ialloc(n);
        ufs_x_row_ss(problem->x, work->ss);
        ufs_x_mul(problem->x, problem->k, result->P, work->u);
        if (!settings->exact && problem->lambda > 0.0) work->y = ufs_dalloc(n, p);
        if (kernel_pays(work)) {
            work->kernel = ufs_dalloc(n, n);
            work->map = ufs_dalloc(n, k);
            work->km = ufs_dalloc(n, k);
            work->values = ufs_dalloc(k, 1);
            work->vectors = ufs_dalloc(k, k);
            work->root_s = ufs_dalloc(k, k);
            ufs_x_gram_rows(problem->x, NULL, work->kernel);
        }
        work->extrapolates = settings->exact && problem->lambda > 0.0 &&
                             n <= (size_t) INT_MAX / (k + 1);
        work->n_v = problem->n;
        work->v = work->u;
        if (work->extrapolates) {
            size_t size;
            int lapack = jspca_scores_pay(problem->x, problem->k) ? set_up_scores(work) : 0;
            if (lapack) return lapack;
            if (work->scores == NULL) work->z_old = ufs_dalloc(n, k);
            size = (size_t) work->n_v * k + n;
            anderson_init(&work->history, (int) size, DEPTH);
            la_polar_init(&work->turn, problem->k, problem->k);
            work->point = ufs_dalloc(size, 1);
            work->image = ufs_dalloc(size, 1);
            work->scale = ufs_dalloc(size, 1);
            write_point(work, work->point);
        }
    } else {
        work->d = ufs_dalloc(p, 1);
        ufs_x_ss(problem->x, work->ss);
    }

    memset(result->q, 0, p * k * sizeof(double));
    /* A fit that diverges returns before these are set. */
    memset(result->kkt, 0, p * sizeof(double));
    memset(result->rotation, 0, k * k * sizeof(double));
    result->violation = result->gap = R_NaN;
    /* Without the exact Q-step la_gl only checks the answer: one slot will do. Over
     * samples the Gram matrix is new in every iteration: the smaller one then. */
    if (settings->exact && problem->lambda > 0.0)
        la_gl_init(&work->gl, problem->k, work->scores ? &work->scores->x : problem->x);
    else
        la_gl_init_slots(&work->gl, problem->k, problem->x, 1);
    if (problem->sample && work->scores == NULL) {
        for (size_t i = 0; i < n; i++) work->root[i] = 1.0;
        la_gl_set_rows(&work->gl, work->root);
    }
    if (!settings->exact && problem->lambda > 0.0) {
        ufs_x weighted = ufs_x_dense(problem->n, problem->p, work->y);
        la_ridge_init(&work->ridge, problem->k, problem->sample ? &weighted : problem->x,
                      !problem->sample          ? 'a'
                      : problem->p < problem->n ? 'p'
                                                : 'n');
    }
    /* The Procrustes step comes when these are done with. */
    la_polar_init_in(&work->polar, problem->p, problem->k, work->gl.u,
                     problem->sample ? work->b : work->q_old);
    return 0;
}

/* One step over Q and one over P, the plain one where an extrapolated one does not lower the
 * objective. `settled` if Q hardly changed. Returns LAPACK's code. */
static int alternate(jspca_work *work, bool full, bool *settled)
{
    const jspca_settings *settings = work->settings;
    double now;
    int lapack;

    while (true) {
        if ((lapack = alternate_once(work, full))) return lapack;
        now = objective(work);
        /* Beyond this the fall is rounding. */
        if (!work->bold || now <= work->objective * (1.0 + 1e-13)) break;
        step_back(work);
    }
    if (work->bold && work->forward) work->reach *= 2.0;
    work->objective = now;
    /* Without a penalty the PCA start is a fixed point of the first step's equal weights. */
    *settled = full && work->run->iterations > (work->problem->lambda == 0.0 ? 2 : 1) &&
               work->result->change <= settings->tol && work->leap <= FAR * settings->tol;
    work->confirms = *settled && (work->bold || work->factor != 1.0);
    if (work->confirms) *settled = false;
    return 0;
}

static int alternate_once(jspca_work *work, bool full)
{
    const jspca_problem *problem = work->problem;
    bool last = work->run->iterations == work->settings->max_iter; /* ends with a full step */
    int lapack;

    if (work->scores) {
        if ((lapack = jspca_scores_weigh(work->scores, work->result->weight))) return lapack;
        la_gl_set_x(&work->gl, &work->scores->x);
    } else if (problem->sample)
        set_samples(work, last || work->confirms);
    else
        for (int i = 0; i < problem->p; i++) work->d[i] = sqrt(work->result->weight[i]);
    set_target(work);
    if ((lapack = q_step(work, full)) || (lapack = procrustes(work))) return lapack;
    if (problem->sample)
        residual_of_samples(work);
    else
        residual_of_features(work);
    return 0;
}

/* To the Q of the last step that was kept, and to the point it led to. */
static void step_back(jspca_work *work)
{
    const jspca_problem *problem = work->problem;

    ufs_copy(work->result->q, work->q_old, (size_t) problem->p * (size_t) problem->k);
    if (work->z_old) ufs_copy(work->z, work->z_old, (size_t) problem->n * (size_t) problem->k);
    ufs_copy(work->point, work->image, (size_t) work->history.size);
    read_point(work);
    anderson_keep_last(&work->history);
    work->reach = 1.0;
    work->leap = 0.0;
    work->bold = false;
}

/* Where the next step starts: what the last one led to, extrapolated if that is allowed. While
 * changes shrink, by Anderson's method. While they grow the iteration leaves a saddle, to which
 * Anderson's point would lead back: a step forward along the last change, twice as far after
 * every success. */
static void next_point(jspca_work *work)
{
    size_t n = (size_t) work->problem->n, k = (size_t) work->problem->k;
    size_t nk = (size_t) work->n_v * k;
    double size = sqrt(la_ss(nk, work->v)), moved = 0.0;
    int t = work->run->iterations;

    if (work->z_old) ufs_copy(work->z_old, work->z, n * k);
    write_point(work, work->image);
    for (size_t i = 0; i < nk + n; i++) {
        double change;
        work->scale[i] = i >= nk ? 1.0 / sqrt((double) n) : size > 0.0 ? 1.0 / size : 1.0;
        change = work->scale[i] * (work->image[i] - work->point[i]);
        moved += change * change;
    }
    work->forward = moved > work->moved && is_aligned(work, sqrt(moved * work->moved));
    work->moved = moved;
    anderson_push(&work->history, work->point, work->image);
    work->bold = !work->confirms && t > 2 && work->result->change < NEAR &&
                 t + 1 < work->settings->max_iter && work->history.count > 0;
    if (!work->bold)
        ufs_copy(work->point, work->image, nk + n);
    else if (work->forward)
        for (size_t i = 0; i < nk + n; i++)
            work->point[i] = work->image[i] + work->reach * (work->image[i] - work->point[i]);
    else
        anderson_mix(&work->history, work->scale, work->point);
    if (work->bold) {
        align(work);
        work->leap = sqrt(leap_of(work));
    }
    read_point(work);
}

/* (P, Q) may be rotated freely: the point is rotated as near to the image as it gets, so that
 * extrapolation does not turn it, or Q would depend on its path. */
static void align(jspca_work *work)
{
    int n = work->n_v, k = work->problem->k;

    la_gemm('T', 'N', k, k, n, 1.0, work->point, n, work->image, n, 0.0, work->zz, k);
    if (la_polar(&work->turn, work->zz, NULL, work->zz)) return;
    la_gemm('N', 'N', n, k, k, 1.0, work->point, n, work->zz, k, 0.0, work->v, n);
    ufs_copy(work->point, work->v, (size_t) n * (size_t) k);
}

/* Squared length of the way from the image to the point. */
static double leap_of(const jspca_work *work)
{
    double ss = 0.0;
    for (size_t i = 0; i < (size_t) work->history.size; i++) {
        double d = work->scale[i] * (work->point[i] - work->image[i]);
        ss += d * d;
    }
    return ss;
}

/* Whether this change has nearly the direction of the last one; size: product of their lengths. */
static bool is_aligned(const jspca_work *work, double size)
{
    double along = 0.0;
    for (size_t i = 0; i < (size_t) work->history.size; i++)
        along += work->scale[i] * work->scale[i] * (work->image[i] - work->point[i]) *
                 work->history.last_r[i];
    return along > ALIGNED * size;
}

static void write_point(const jspca_work *work, double *to)
{
    size_t n = (size_t) work->problem->n, nk = (size_t) work->n_v * (size_t) work->problem->k;
    ufs_copy(to, work->v, nk);
    for (size_t i = 0; i < n; i++) to[nk + i] = log(work->result->weight[i]);
}

static void read_point(jspca_work *work)
{
    size_t n = (size_t) work->problem->n, nk = (size_t) work->n_v * (size_t) work->problem->k;
    ufs_copy(work->v, work->point, nk);
    for (size_t i = 0; i < n; i++) work->result->weight[i] = exp(work->point[nk + i]);
}

/* V, and what depends on it: older weights and c, or today's. */
static void set_samples(jspca_work *work, bool renew)
{
    const jspca_problem *problem = work->problem;
    const double *weight = work->result->weight;
    size_t n = (size_t) problem->n;
    double most = 0.0, least = R_PosInf;
    ufs_x weighted;

    if (problem->lambda == 0.0) return;
    if (work->settings->exact && !renew) {
        for (size_t i = 0; i < n; i++) {
            double v = work->root[i] * work->root[i];
            most = fmax(most, weight[i] / v);
            least = fmin(least, weight[i] / v);
        }
        work->factor = most;
        if (most <= STALE * least) return;
    }
    work->factor = 1.0;
    for (size_t i = 0; i < n; i++) work->root[i] = sqrt(weight[i]);
    la_gl_set_rows(&work->gl, work->root);
    if (work->settings->exact) return;
    for (size_t j = 0; j < (size_t) problem->p; j++)
        for (size_t i = 0; i < n; i++)
            work->y[i + j * n] = work->root[i] * problem->x->dense[i + j * n];
    weighted = ufs_x_dense(problem->n, problem->p, work->y);
    la_ridge_set_x(&work->ridge, &weighted);
}

/* T = X diag(d) Pbar; over samples T', where X P and X Q_old are there already. */
static void set_target(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    size_t n = (size_t) problem->n, p = (size_t) problem->p, k = (size_t) problem->k;

    if (!problem->sample) {
        for (size_t j = 0; j < k; j++)
            for (size_t i = 0; i < p; i++)
                work->b[i + j * p] = work->d[i] * result->pbar[i + j * p];
        ufs_x_mul(problem->x, problem->k, work->b, work->t);
        return;
    }
    if (work->scores) {
        int r = work->n_v;
        for (size_t i = 0; i < (size_t) r * k; i++)
            work->t[i] = work->v[i] / work->scores->sigma[i % (size_t) r];
        la_trmm('L', 'U', 'N', r, problem->k, 1.0, work->scores->root, r, work->t, r);
        return;
    }
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < n; i++) {
            size_t at = i + j * n;
            double root = work->root[i];
            if (work->factor == 1.0)
                work->t[at] = root * work->u[at];
            else
                work->t[at] = root * work->z[at] + result->weight[i] / (work->factor * root) *
                                                       (work->u[at] - work->z[at]);
        }
}

/* Whether the exact Q-step looks at all features, not only at its working set. */
static bool is_full(const jspca_settings *settings, int t, double change)
{
    return !settings->exact || t <= 3 || t % 5 == 0 || t == settings->max_iter ||
           change < 2.0 * settings->tol;
}

/* Q = argmin ||T - YQ||^2 + lambda ||Q||_{2,1} (or its reweighted step), Z = XQ. */
static int q_step(jspca_work *work, bool full)
{
    const jspca_problem *problem = work->problem;
    const jspca_settings *settings = work->settings;
    jspca_result *result = work->result;
    size_t pk = (size_t) problem->p * (size_t) problem->k;
    double size, step;
    int info = 0;

    ufs_copy(work->q_old, result->q, pk);
    if (problem->lambda == 0.0)
        free_step(work);
    else if ((info = settings->exact ? exact_step(work, full) : reweighted_step(work)))
        return info;
    la_row_norms(problem->p, problem->k, result->q, result->row_norm);
    size = sqrt(la_ss(pk, result->q));
    step = sqrt(la_ss_diff(pk, result->q, work->q_old));
    result->change = step == 0.0 ? 0.0 : size > 0.0 ? step / size : 1.0;
    return 0;
}

/* Without a penalty X Q = T fits exactly: Q = diag(d) Pbar, or Q = P over samples. */
static void free_step(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    size_t n = (size_t) problem->n, p = (size_t) problem->p, k = (size_t) problem->k;

    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < p; i++)
            work->result->q[i + j * p] = (problem->sample ? 1.0 : work->d[i]) *
                                         work->result->pbar[i + j * p];
    share_among_copies(problem, work->result->q);
    ufs_copy(work->z, problem->sample ? work->u : work->t, n * k);
}

/* The tolerance of the inner solve follows the outer change: a looser tie (0.1) lets
 * the outer iteration stall on the inner error. It never rises and falls at most threefold:
 * tied to the last change alone a loose step, which changes little, is followed by one of
 * hundreds of sweeps, and that by a loose one. */
static int exact_step(jspca_work *work, bool full)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    double aim = fmax(0.02 * result->change, fmax(0.01 * work->settings->tol, 1e-9));
    double vtol = fmin(work->vtol, fmax(aim, work->vtol / 3.0));
    size_t n = (size_t) problem->n;
    int info;

    work->vtol = vtol;
    if (problem->sample) vtol *= share_of_most(work);
    work->gl.share = problem->sample && result->change > 100.0 * work->settings->tol ? 0.02 : 0.0;
    info = la_gl_solve(&work->gl, work->t, problem->lambda / work->factor, vtol, full,
                       1.0 - fmin(fmax(result->change, 1e-4), 0.05), result->q);
    if (info) return info;
    if (full && !work->gl.settled) work->unsolved++;
    share_among_copies(problem, result->q);
    if (work->scores) jspca_scores_times(work->scores, result->q, NULL, work->z);
    for (size_t j = 0; j < (size_t) problem->k && work->scores == NULL; j++)
        for (size_t i = 0; i < n; i++) {
            double z = work->gl.xv[i + j * n];
            work->z[i + j * n] = problem->sample ? z / work->root[i] : z;
        }
    return 0;
}

/* la_gl measures steps against T, of which a few samples that are nearly fitted, and so weigh a
 * thousand times as much as others, are almost all: the share of T's norm with weights of at most
 * HEAVY times their harmonic mean. */
static double share_of_most(const jspca_work *work)
{
    size_t n = (size_t) work->problem->n;
    double inverse = 0.0, all = 0.0, most = 0.0;

    for (size_t i = 0; i < n; i++) inverse += 1.0 / work->result->weight[i];
    for (size_t i = 0; i < n; i++) {
        double ss = 0.0, over = work->result->weight[i] * inverse / (double) n / HEAVY;
        for (size_t j = 0; j < (size_t) work->problem->k; j++) {
            double t = work->scores ? work->u[i + j * n] : work->t[i + j * n];
            ss += t * t;
        }
        if (work->scores) ss *= work->result->weight[i];
        all += ss;
        most += over > 1.0 ? ss / over : ss;
    }
    return all > 0.0 ? sqrt(most / all) : 1.0;
}

static int reweighted_step(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    int info;

    info = la_ridge_solve(&work->ridge, work->t, result->h, problem->lambda, result->q);
    if (info) return info;
    ufs_x_mul(problem->x, problem->k, result->q, work->z);
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

/* Whether steps over samples go through XX': n^2 p flops once for 4npk in each, and squared
 * residuals by differences, whose rounding must stay far below their smoothing. */
static bool kernel_pays(const jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    double top = 0.0, n = problem->n, k = problem->k;

    for (int i = 0; i < problem->n; i++) top = fmax(top, work->ss[i]);
    return work->settings->exact && problem->lambda > 0.0 && problem->n <= problem->p &&
           n * n <= 2.0 * ufs_x_entries(problem->x) &&
           ufs_x_gram_rows_cost(problem->x) <= 100.0 * k * ufs_x_entries(problem->x) &&
           work->settings->eps_res >= 1e-7 * top;
}

/* Pbar = polar(diag(d) X'Z), or polar(X'WZ) over samples, the old Pbar where that is
 * rank-deficient. Leaves X'Z in b over features, X P in u over samples. */
static int procrustes(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    size_t n = (size_t) problem->n, p = (size_t) problem->p, k = (size_t) problem->k;
    int info = 0;

    if (problem->sample) {
        for (size_t j = 0; j < k && work->scores == NULL; j++)
            for (size_t i = 0; i < n; i++)
                work->gl.scaled[i + j * n] = result->weight[i] * work->z[i + j * n];
        if (work->kernel && procrustes_by_kernel(work, &info)) return 0;
        return info ? info : form_p(work);
    }
    ufs_x_cross(problem->x, problem->k, work->z, work->b);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < p; i++) result->P[i + j * p] = work->d[i] * work->b[i + j * p];
    info = la_polar(&work->polar, result->P, result->pbar, result->pbar);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < p; i++) result->P[i + j * p] = result->pbar[i + j * p] / work->d[i];
    return info;
}

/* With M = WZ: polar(X'M) = X'M S^{-1/2}, S = M'XX'M; 2n^2 k flops. False where the root would
 * lose too many digits. */
static bool procrustes_by_kernel(jspca_work *work, int *info)
{
    int n = work->problem->n, k = work->problem->k;
    size_t K = (size_t) k;
    const double *m = work->gl.scaled; /* free between its calls */
    double *vectors = work->vectors, *half = work->zz;

    la_gemm('N', 'N', n, k, n, 1.0, work->kernel, n, m, n, 0.0, work->km, n);
    la_gemm('T', 'N', k, k, n, 1.0, m, n, work->km, n, 0.0, work->root_s, k);
    if ((*info = la_eig_range(k, work->root_s, 1, k, work->values, vectors))) return false;
    if (!(work->values[0] > 1e-6 * work->values[k - 1])) return false;
    for (size_t j = 0; j < K; j++)
        for (size_t i = 0; i < K; i++)
            half[i + j * K] = vectors[i + j * K] / sqrt(sqrt(work->values[j]));
    la_gemm('N', 'T', k, k, k, 1.0, half, k, half, k, 0.0, work->root_s, k);
    la_gemm('N', 'N', n, k, k, 1.0, m, n, work->root_s, k, 0.0, work->map, n);
    la_gemm('N', 'N', n, k, k, 1.0, work->km, n, work->root_s, k, 0.0, work->u, n);
    work->implicit = true;
    return true;
}

/* P = polar(X'WZ) itself, p x k, and X P. WZ is in gl.scaled. */
static int form_p(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    int info;

    if (work->implicit) ufs_x_cross(problem->x, problem->k, work->map, result->P);
    work->implicit = false;
    weighted_product(work, work->polar.a);
    info = la_polar_here(&work->polar, result->P, result->P);
    if (info) {
        double *a = ufs_dalloc((size_t) problem->p, (size_t) problem->k);
        weighted_product(work, a);
        info = la_polar(&work->polar, a, result->P, result->P);
    }
    if (work->scores)
        project_p(work);
    else
        ufs_x_mul(problem->x, problem->k, result->P, work->u);
    return info;
}

/* X'WZ. */
static void weighted_product(jspca_work *work, double *out)
{
    if (work->scores)
        jspca_scores_weighted(work->scores, work->result->q, out);
    else
        ufs_x_cross(work->problem->x, work->problem->k, work->gl.scaled, out);
}

static int set_up_scores(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_scores *scores = (jspca_scores *) R_alloc(1, sizeof(jspca_scores));
    int info = jspca_scores_init(scores, problem->x, problem->k);

    if (info || scores->r == 0) return info;
    work->scores = scores;
    work->n_v = scores->r;
    work->v = ufs_dalloc((size_t) scores->r, (size_t) problem->k);
    project_p(work);
    return 0;
}

/* diag(sigma) V'P and X P. */
static void project_p(jspca_work *work)
{
    size_t R = (size_t) work->n_v, K = (size_t) work->problem->k;

    jspca_scores_times(work->scores, work->result->P, work->v, work->u);
    for (size_t i = 0; i < R * K; i++) work->v[i] *= work->scores->sigma[i % R];
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
    size_t n = (size_t) problem->n, k = (size_t) problem->k;
    int *few = work->few;

    work->n_few = 0;
    for (size_t i = 0; i < n; i++) {
        double ss = work->ss[i];
        for (size_t j = 0; j < k; j++) {
            double u = work->u[i + j * n], z = work->z[i + j * n];
            ss += z * (z - 2.0 * u);
        }
        result->residual[i] = sqrt(fmax(ss, 0.0));
        if (work->implicit || ss > cancelled * work->ss[i]) continue;
        result->residual[i] = 0.0;
        few[work->n_few++] = (int) i;
    }
    if (work->n_few == 0) return;
    ufs_x_each_column(problem->x, add_residual, work);
    for (int at = 0; at < work->n_few; at++)
        result->residual[few[at]] = sqrt(result->residual[few[at]]);
}

/* residual_i += (x_ij - z_i'p_j)^2 for the few samples in question. */
static void add_residual(void *data, int j, const double *column)
{
    jspca_work *work = data;
    size_t n = (size_t) work->problem->n, p = (size_t) work->problem->p;

    for (int at = 0; at < work->n_few; at++) {
        size_t i = (size_t) work->few[at];
        double r = column[i];
        for (size_t l = 0; l < (size_t) work->problem->k; l++)
            r -= work->z[i + l * n] * work->result->P[(size_t) j + l * p];
        work->result->residual[i] += r * r;
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

static double loss_of(const jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    const jspca_settings *settings = work->settings;
    double loss = la_l21(problem->sample ? problem->n : problem->p, work->result->residual,
                         settings->eps_res);
    return problem->sample ? loss : loss + problem->dropped * sqrt(settings->eps_res);
}

static double penalty_of(const jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    double eps_q = work->settings->exact ? 0.0 : work->settings->eps_q;
    return problem->lambda *
           (la_l21(problem->p, work->result->row_norm, eps_q) + problem->dropped * sqrt(eps_q));
}

static double objective(const jspca_work *work)
{
    return loss_of(work) + penalty_of(work);
}

static double record(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    const jspca_settings *settings = work->settings;
    jspca_result *result = work->result;
    double loss = loss_of(work), penalty = penalty_of(work), top = 0.0, live = 0.0;

    /* Reweighting never gives an exact zero: 1e-3 of the largest row is its "dead". */
    for (int i = 0; i < problem->p; i++) top = fmax(top, result->row_norm[i]);
    for (int i = 0; i < problem->p; i++)
        if (settings->exact ? result->row_norm[i] > 0.0 : result->row_norm[i] > 1e-3 * top)
            live += 1.0;
    ufs_trace_add(&work->run->trace, (double[]){work->run->iterations, loss + penalty, loss,
                                                penalty, result->change, live});
    ufs_run_step(work->run, loss + penalty, result->change);
    return loss + penalty;
}

/* Optimality of the last Q-step, with its own T, over all features; that of the
 * smoothed problem where the reweighted one was solved. */
static void certify(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    const jspca_settings *settings = work->settings;
    jspca_result *result = work->result;
    la_gl_certify(&work->gl, work->t, problem->lambda, result->q);
    ufs_copy(result->kkt, work->gl.kkt, (size_t) problem->p);
    result->violation = la_gl_violation(&work->gl, problem->lambda,
                                        settings->exact ? 0.0 : settings->eps_q, result->q);
    result->gap = work->gl.objective > 0.0 ? work->gl.gap / work->gl.objective : 0.0;
}

/* Without a penalty only the part of Q in the row space of X matters: the rest goes. Through
 * the eigenvectors of the smaller Gram matrix; min(n, p)^3. violation: of X Q = T, relative. */
static int shortest(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    bool wide = problem->n < problem->p;
    int m = wide ? problem->n : problem->p, k = problem->k, info, first = 0;
    size_t M = (size_t) m, K = (size_t) k, len = (size_t) problem->n * K;
    double *gram = ufs_dalloc(M, M), *w = ufs_dalloc(M, 1), *v = ufs_dalloc(M, M);
    double *part = ufs_dalloc(M, K), *image = ufs_dalloc(M, K), size = sqrt(la_ss(len, work->z));

    if (wide)
        ufs_x_gram_rows(problem->x, NULL, gram);
    else
        ufs_x_gram_cols(problem->x, gram);
    info = la_eig_range(m, gram, 1, m, w, v);
    if (info) return info;
    while (first < m && w[first] <= 1e-12 * w[m - 1]) first++;
    v += (size_t) first * M;
    /* Q = X' U w^{-1} U' Z, or V V' Q. */
    la_gemm('T', 'N', m - first, k, m, 1.0, v, m, wide ? work->z : result->q, m, 0.0, part, m);
    for (size_t j = 0; j < K && wide; j++)
        for (int i = 0; i < m - first; i++) part[(size_t) i + j * M] /= w[i + first];
    la_gemm('N', 'N', m, k, m - first, 1.0, v, m, part, m, 0.0, image, m);
    if (wide)
        ufs_x_cross(problem->x, k, image, result->q);
    else
        ufs_copy(result->q, image, M * K);
    share_among_copies(problem, result->q);
    la_row_norms(problem->p, k, result->q, result->row_norm);
    ufs_x_mul(problem->x, k, result->q, work->t);
    result->violation = size > 0.0 ? sqrt(la_ss_diff(len, work->t, work->z)) / size : 0.0;
    result->gap = 0.0;
    return 0;
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

    ufs_copy(work->t, work->z, n * (size_t) k);
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
    double *half = ufs_dalloc((size_t) m, 1);

    /* A or W at Q = 0; a zero row or column has no weight. */
    if (sample)
        ufs_x_row_ss(op, half);
    else
        ufs_x_ss(op, half);
    for (int i = 0; i < m; i++) half[i] = half[i] > 0.0 ? 0.5 / sqrt(half[i]) : 0.0;
    if (sample && p < n) return 2.0 * max_row_of_weighted_gram(op, half);
    if (op->kind != UFS_X_DENSE)
        return 2.0 *
               (p < n ? max_row_of_operator(op, half) : max_form_of_operator(op, half, sample));
    return 2.0 * max_quadratic_form(n, p, op->dense, half, sample);
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

/* The same for p >= n: sqrt(x_i'K x_i), K = XAX' (n x n), and over samples K = WXX'W. Two
 * products per entry for a sparse column x_i = (r - m 1)/s: r'Kr - 2m (K1)'r + m^2 1'K1; n^2 for
 * any other. */
static double max_form_of_operator(const ufs_x *x, const double *half, bool sample)
{
    enum { width = 64 };
    int n = x->n, index[width];
    size_t N = (size_t) n;
    double *k = ufs_dalloc(N, N), *sum = ufs_dzero(N, 1), all = 0.0, top = 0.0;
    double *block = ufs_dalloc(N, width), *image = ufs_dalloc(N, width);

    ufs_x_gram_rows(x, sample ? NULL : half, k);
    for (size_t j = 0; j < N && sample; j++)
        for (size_t i = 0; i < N; i++) k[i + j * N] *= half[i] * half[j];
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
            R_CheckUserInterrupt();
            ufs_x_columns(x, waiting, index, block);
            la_gemm('N', 'N', n, waiting, n, 1.0, k, n, block, n, 0.0, image, n);
            for (size_t j = 0; j < (size_t) waiting; j++)
                top = fmax(top, la_dot(n, block + j * N, image + j * N));
            waiting = 0;
        }
    }
    return sqrt(top);
}

/* max_i || (X'WX)_i || for p < n, some columns of X at a time: 2np^2 flops, or 2p products per
 * entry. As many columns as fit into 16 MB: a pass each over a source. */
static double max_row_of_weighted_gram(const ufs_x *x, const double *weight)
{
    size_t N = (size_t) x->n, P = (size_t) x->p, at_once = ((size_t) 1 << 21) / (N + P);
    int width = at_once < 8 ? 8 : at_once < P ? (int) at_once : x->p;
    int *index = ufs_ialloc((size_t) width);
    double *block = ufs_dalloc(N, (size_t) width), *image = ufs_dalloc(P, (size_t) width);
    double *norm = ufs_dalloc((size_t) width, 1), top = 0.0;

    for (int start = 0; start < x->p; start += width) {
        int m = x->p - start < width ? x->p - start : width;
        R_CheckUserInterrupt();
        for (int j = 0; j < m; j++) index[j] = start + j;
        ufs_x_columns(x, m, index, block);
        for (size_t j = 0; j < (size_t) m; j++)
            for (size_t i = 0; i < N; i++) block[i + j * N] *= weight[i];
        ufs_x_cross(x, m, block, image);
        la_col_norms(x->p, m, image, norm);
        for (int j = 0; j < m; j++) top = fmax(top, norm[j]);
    }
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
        R_CheckUserInterrupt();
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
        R_CheckUserInterrupt();
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
