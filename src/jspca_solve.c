/* jspca_solve.c: joint sparse principal component analysis (JSPCA).
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
 * The Q-step is exact (gl_work: working set, true zeros), or the paper's single
 * reweighted step, the ridge solution with penalty weights 1/h_i,
 * h_i = 2 sqrt(||q_i||^2 + eps_q).
 *
 * lambda = 0: X Q = T fits exactly, and Q of all solutions is the shortest (in the row space).
 *
 * The loss over features is a fixed-point iteration: its constraint P'D1P = I
 * moves with D1, so its objective may rise, and it stops on the change of Q. Over
 * samples the weights commute with P and every step lowers the objective.
 *
 * jspca_sample.c has how the exact solver saves work over samples, jspca_leap.c the extrapolation
 * there.
 *
 * Flops per iteration: 2npk for T, 2npk for X'Z and 6pk^2 (over samples: see there), and the Q-step:
 * exact, its sweeps and 2npk when full; ridge, n^2 p + n^3/3 or p^3/3 (see ridge.h).
 * Memory beside x: 8pk, over samples 7pk, n-sized parts, that of gl_work or ridge_work; over
 * samples 24nk for the extrapolation and n^2 for XX', or np for Y with ridge.
 *
 * Source: "Joint sparse principal component analysis" (Yi, Lai, He, Cheung and
 * Liu, Pattern Recognition 61, 2017, 524-536); slides by Maurya, whose formulae
 * are corrected as the help page says. */
#include "jspca.h"
#include "jspca_work.h"

/* Q-steps over all features that miss their tolerance before the inner problem is too hard. */
enum { TOO_HARD = 10 };
/* The last extrapolation may be this many tolerances long. */
static const double FAR = 10.0;

/* ---- the Q-step ------------------------------------------------------------------------------ */

/* Whether the exact Q-step looks at all features, not only at its working set. */
static bool is_full(const jspca_work *work)
{
    const ufs_run *run = work->run;
    int t = run->iterations;
    return !work->settings->exact || t <= 3 || t % 5 == 0 || t == run->max_iter ||
           work->result->change < 2.0 * run->tol;
}

/* The tolerance of the inner solve follows the outer change: a looser tie (0.1) lets
 * the outer iteration stall on the inner error. It never rises and falls at most threefold:
 * tied to the last change alone a loose step, which changes little, is followed by one of
 * hundreds of sweeps, and that by a loose one. */
static void exact_step(jspca_work *work, bool full)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    double aim = fmax(0.02 * result->change, fmax(0.01 * work->run->tol, 1e-9));
    double vtol = fmin(work->vtol, fmax(aim, work->vtol / 3.0));
    size_t n = (size_t) problem->n;

    work->vtol = vtol;
    if (problem->sample) vtol *= jspca_share_of_most(work);
    work->gl.share = problem->sample && result->change > 100.0 * work->run->tol ? 0.02 : 0.0;
    gl_solve(&work->gl, work->t, problem->lambda / work->factor, vtol, full,
             1.0 - fmin(fmax(result->change, 1e-4), 0.05), result->q);
    if (full && !work->gl.settled) work->unsolved++;
    for (size_t j = 0; j < (size_t) problem->k; j++)
        for (size_t i = 0; i < n; i++) work->z[i + j * n] = work->gl.xv[i + j * n] / work->root[i];
}

/* Q = argmin ||T - YQ||^2 + lambda ||Q||_{2,1} (or its reweighted step), Z = XQ. */
static int q_step(jspca_work *work, bool full)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    size_t pk = (size_t) problem->p * (size_t) problem->k;
    double size, step;

    ufs_copy(work->q_old, result->q, pk);
    if (problem->lambda == 0.0) {
        /* X Q = T fits exactly: Q = diag(d) Pbar, which is in b over features. */
        ufs_copy(result->q, problem->sample ? result->pbar : work->b, pk);
        gl_share(&problem->copies, problem->p, problem->k, result->q);
        ufs_copy(work->z, work->t, (size_t) problem->n * (size_t) problem->k);
    } else if (work->settings->exact) {
        exact_step(work, full);
    } else {
        int info = ridge_solve(&work->ridge, work->t, result->h, problem->lambda, result->q);
        if (info) return info;
        ufs_x_mul(problem->x, problem->k, result->q, work->z);
    }
    la_row_norms(problem->p, problem->k, result->q, result->row_norm);
    size = sqrt(la_ss(pk, result->q));
    step = sqrt(la_ss_diff(pk, result->q, work->q_old));
    result->change = step == 0.0 ? 0.0 : size > 0.0 ? step / size : 1.0;
    return 0;
}

/* ---- P and the residuals --------------------------------------------------------------------- */

/* T = X diag(d) Pbar. */
static void feature_target(jspca_work *work)
{
    const jspca_problem *problem = work->problem;

    for (int i = 0; i < problem->p; i++) work->d[i] = sqrt(work->result->weight[i]);
    la_scale_rows(problem->p, problem->k, work->d, work->result->pbar, work->b);
    ufs_x_mul(problem->x, problem->k, work->b, work->t);
}

/* X'Z is in b. */
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
        if (!(ss > JSPCA_CANCELLED * work->ss[i])) {
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

/* Pbar = polar(diag(d) X'Z), the old Pbar where that is rank-deficient, P and the residuals. */
static int feature_p_step(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    size_t p = (size_t) problem->p, k = (size_t) problem->k;
    int info;

    ufs_x_cross(problem->x, problem->k, work->z, work->b);
    la_scale_rows(problem->p, problem->k, work->d, work->b, result->P);
    info = la_polar(&work->polar, result->P, result->pbar, result->pbar);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < p; i++) result->P[i + j * p] = result->pbar[i + j * p] / work->d[i];
    if (info == 0) residual_of_features(work);
    return info;
}

/* ---- the objective --------------------------------------------------------------------------- */

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
    double eps_q = work->settings->eps_q, sum = 0.0;

    if (problem->factor == NULL)
        return problem->lambda *
               (la_l21(problem->p, work->result->row_norm, eps_q) + problem->dropped * sqrt(eps_q));
    for (int i = 0; i < problem->p; i++)
        if (work->result->row_norm[i] > 0.0) sum += problem->factor[i] * work->result->row_norm[i];
    return problem->lambda * sum;
}

static double record(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    double loss = loss_of(work), penalty = penalty_of(work), top = 0.0, nonzero = 0.0;

    /* Reweighting never gives an exact zero: rows below 1e-3 of the largest one count as zero. */
    for (int i = 0; i < problem->p && !work->settings->exact; i++)
        top = fmax(top, result->row_norm[i]);
    for (int i = 0; i < problem->p; i++) nonzero += result->row_norm[i] > 1e-3 * top;
    ufs_trace_add(&work->run->trace, (double[]){work->run->iterations, loss + penalty, loss,
                                                penalty, result->change, nonzero});
    ufs_run_step(work->run, loss + penalty, result->change);
    return loss + penalty;
}

/* ---- iterations ------------------------------------------------------------------------------ */

static void work_init(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    const jspca_settings *settings = work->settings;
    jspca_result *result = work->result;
    size_t n = (size_t) problem->n, p = (size_t) problem->p, k = (size_t) problem->k;
    bool exact = settings->exact && problem->lambda > 0.0;
    /* Over samples the Gram matrix is new in every iteration, so the smaller one is taken. */
    char form = !problem->sample ? 'a' : p < n ? 'p' : 'n';

    work->ss = ufs_dalloc(problem->sample ? n : p, 1);
    work->d = ufs_dalloc(p, 1);
    work->t = ufs_dalloc(n, k);
    work->z = ufs_dzero(n, k);  /* of Q = 0 */
    work->b = result->loadings; /* which are made at the end */
    work->q_old = ufs_dalloc(p, k);
    work->col = ufs_dalloc(n > k ? n : k, 1);
    work->zz = ufs_dalloc(k, k);
    work->root = ufs_dalloc(n, 1);
    work->vtol = 1e-3;
    work->factor = work->reach = 1.0;
    work->objective = work->moved = R_PosInf;
    for (size_t i = 0; i < n; i++) work->root[i] = 1.0;
    result->violation = result->gap = R_NaN;
    if (problem->sample)
        jspca_sample_init(work);
    else
        ufs_x_ss(problem->x, work->ss);
    /* Without the exact Q-step gl_work only checks the answer: one slot will do. */
    gl_init(&work->gl, problem->k, problem->x, exact ? LA_GL_SLOTS : 1);
    work->gl.newton = work->run->paths.gl_newton;
    if (problem->sample) gl_set_rows(&work->gl, work->root);
    gl_set_penalty(&work->gl, problem->factor, &problem->copies);
    if (!settings->exact && problem->lambda > 0.0)
        ridge_init(&work->ridge, problem->k, problem->x, form);
    la_polar_init(&work->polar, problem->p, problem->k);
}

static int alternate_once(jspca_work *work, bool full)
{
    bool last = work->run->iterations == work->run->max_iter;
    int lapack;

    /* The last step is a plain one. */
    if (work->problem->sample)
        jspca_sample_target(work, last || work->confirms);
    else
        feature_target(work);
    if ((lapack = q_step(work, full))) return lapack;
    return work->problem->sample ? jspca_sample_p_step(work, false) : feature_p_step(work);
}

/* One step over Q and one over P, the plain one where an extrapolated one does not lower the
 * objective. The status says if that was the last one, which leaves P itself. Returns LAPACK's
 * code. */
static int alternate(jspca_work *work, bool full)
{
    ufs_run *run = work->run;
    bool settled;
    double now;
    int lapack;

    while (true) {
        if ((lapack = alternate_once(work, full))) return lapack;
        now = loss_of(work) + penalty_of(work);
        /* Beyond this the fall is rounding. */
        if (!work->bold || now <= work->objective * (1.0 + 1e-13)) break;
        jspca_leap_back(work);
    }
    if (work->bold && work->forward) work->reach *= 2.0;
    work->objective = now;
    /* Without a penalty the PCA start is a fixed point of the first step's equal weights. */
    settled = full && run->iterations > (work->problem->lambda == 0.0 ? 2 : 1) &&
              work->result->change <= run->tol && work->leap <= FAR * run->tol;
    work->confirms = settled && (work->bold || work->factor != 1.0);
    if (settled && !work->confirms)
        run->status = UFS_CONVERGED;
    else if (work->settings->gives_up && work->unsolved >= TOO_HARD)
        run->status = UFS_STALLED;
    if (!work->implicit || (run->status == UFS_MAX_ITER && run->iterations < run->max_iter))
        return 0;
    return jspca_sample_p_step(work, true);
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

/* Optimality of the last Q-step, with its own T, over all features; that of the
 * smoothed problem where the reweighted one was solved. */
static void certify(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    gl_certify(&work->gl, work->t, problem->lambda, result->q);
    ufs_copy(result->kkt, work->gl.kkt, (size_t) problem->p);
    result->violation = gl_violation(&work->gl, problem->lambda, work->settings->eps_q, result->q);
    result->gap = work->gl.objective > 0.0 ? work->gl.gap / work->gl.objective : 0.0;
}

/* ---- the whole --------------------------------------------------------------------------- */

void jspca_solve(const jspca_problem *problem, const jspca_settings *settings, jspca_result *result,
                 ufs_run *run)
{
    static const char *const columns[] = {"iteration", "objective", "loss", "penalty",
                                          "change",    "live",      NULL};
    jspca_work work = {.problem = problem, .settings = settings, .result = result, .run = run};

    ufs_trace_named(&run->trace, run->max_iter, columns);
    work_init(&work);
    run->status = UFS_MAX_ITER;
    result->change = 1.0;

    while (run->iterations < run->max_iter) {
        run->iterations++;
        if ((run->lapack = alternate(&work, is_full(&work)))) return;
        if (!R_FINITE(record(&work))) {
            run->status = UFS_DIVERGED;
            memset(result->loadings, 0, (size_t) problem->p * (size_t) problem->k * sizeof(double));
            return;
        }
        if (run->status != UFS_MAX_ITER) break;
        reweight(&work);
        if (work.history.size > 0) jspca_leap_next(&work);
    }
    if (problem->lambda == 0.0)
        run->lapack = jspca_shortest(&work);
    else
        certify(&work);
    if (run->lapack) return;
    /* Steps became small because the inner problem is too hard, not because it is
     * solved: tiny penalties. */
    if (settings->exact && run->status == UFS_CONVERGED &&
        !(result->violation <= (problem->sample ? 0.01 : 0.1)))
        run->status = UFS_STALLED;
    run->lapack = jspca_canonicalise(&work);
}
