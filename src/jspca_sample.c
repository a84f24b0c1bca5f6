/* jspca_sample.c: JSPCA's loss over samples, P'P = I (see jspca_solve.c).
 *
 * Y'Y changes with every w. The exact Q-step keeps the Gram matrix of older weights v
 * while c v, c = max_i w_i/v_i, is a close majoriser of w: with R = X(P - Q_old) and V = diag(v)
 *   ||W^{1/2}X(P - Q)||^2 <= c ||T' - V^{1/2}X Q||^2 + const,
 *   T' = V^{1/2}X Q_old + W R / (c V^{1/2}),
 * with equality at Q_old, so the objective falls as it does for v = w; the fit ends with v = w.
 *
 * X P = XX'M (M'XX'M)^{-1/2} with M = WZ, n x k: for n <= p steps go through XX', and P itself is
 * formed in the last one, or where M'XX'M has lost too much.
 *
 * Flops of an iteration beside the Q-step: 4npk + 6pk^2, or 2n^2 k through XX' (n^2 p once); nm^2
 * for the Gram matrix of m features when v is renewed. */
#include "jspca_work.h"
#include "eig.h"

/* Older weights serve until the ratios of the new ones to them differ by more; a weight is heavy
 * beyond this multiple of the harmonic mean. */
static const double STALE = 1.1, HEAVY = 4.0;

/* Whether steps over samples go through XX': n^2 p flops once for 4npk in each, and squared
 * residuals by differences, whose rounding must stay far below their smoothing. */
static bool kernel_pays(const jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    double top = 0.0, n = problem->n, k = problem->k;

    for (int i = 0; i < problem->n; i++) top = fmax(top, work->ss[i]);
    return work->run->paths.jspca_kernel && problem->n <= problem->p &&
           n * n <= 2.0 * ufs_x_entries(problem->x) &&
           ufs_x_gram_rows_cost(problem->x) <= 100.0 * k * ufs_x_entries(problem->x) &&
           work->settings->eps_res >= 1e-7 * top;
}

void jspca_sample_init(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    size_t n = (size_t) problem->n, k = (size_t) problem->k;
    bool exact = work->settings->exact && problem->lambda > 0.0;

    work->u = ufs_dalloc(n, k);
    work->formed = ufs_ialloc(n);
    ufs_x_row_ss(problem->x, work->ss);
    ufs_x_mul(problem->x, problem->k, work->result->pbar, work->u);
    if (!work->settings->exact && problem->lambda > 0.0)
        work->y = ufs_dalloc(n, (size_t) problem->p);
    if (exact && work->run->paths.jspca_anderson && n <= (size_t) INT_MAX / (k + 1))
        jspca_leap_init(work);
    if (!exact || !kernel_pays(work)) return;
    work->kernel = ufs_dalloc(n, n);
    ufs_dalloc_each(n, k, (double **[]){&work->map, &work->km, NULL});
    work->vectors = ufs_dalloc(k, k);
    ufs_x_gram_rows(problem->x, NULL, work->kernel);
}

/* Sets V and what depends on it: the older weights and c, or, if `renew`, the present ones. */
static void set_weights(jspca_work *work, bool renew)
{
    const jspca_problem *problem = work->problem;
    const double *weight = work->result->weight;
    size_t n = (size_t) problem->n;
    double most = 0.0, least = R_PosInf;

    if (problem->lambda == 0.0) return;
    if (work->settings->exact && !renew && work->run->paths.jspca_stale) {
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
    gl_set_rows(&work->gl, work->root);
    if (work->settings->exact) return;
    la_scale_rows(problem->n, problem->p, work->root, problem->x->dense, work->y);
    ufs_x weighted = ufs_x_dense(problem->n, problem->p, work->y);
    ridge_set_x(&work->ridge, &weighted);
}

/* T, or T' with older weights, from X P and X Q_old, which are there already. */
void jspca_sample_target(jspca_work *work, bool renew)
{
    const double *weight = work->result->weight;
    size_t n = (size_t) work->problem->n, k = (size_t) work->problem->k;

    set_weights(work, renew);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < n; i++) {
            size_t at = i + j * n;
            double root = work->root[i], u = work->u[at], z = work->z[at];
            work->t[at] = work->factor == 1.0
                              ? root * u
                              : root * z + weight[i] / (work->factor * root) * (u - z);
        }
}

double jspca_share_of_most(const jspca_work *work)
{
    size_t n = (size_t) work->problem->n, k = (size_t) work->problem->k;
    double inverse = 0.0, all = 0.0, most = 0.0;

    for (size_t i = 0; i < n; i++) inverse += 1.0 / work->result->weight[i];
    for (size_t i = 0; i < n; i++) {
        double ss = 0.0, over = work->result->weight[i] * inverse / (double) n / HEAVY;
        for (size_t j = 0; j < k; j++) ss += work->t[i + j * n] * work->t[i + j * n];
        all += ss;
        most += over > 1.0 ? ss / over : ss;
    }
    return all > 0.0 ? sqrt(most / all) : 1.0;
}

/* With M = WZ: polar(X'M) = X'M S^{-1/2}, S = M'XX'M; 2n^2 k flops. False where the root would
 * lose too many digits, or S has no eigenvalues: form_p() then says why. */
static bool p_by_kernel(jspca_work *work, const double *m)
{
    int n = work->problem->n, k = work->problem->k;
    size_t K = (size_t) k;
    double *half = work->vectors, *value = work->col, *s = work->zz;

    la_gemm('N', 'N', n, k, n, 1.0, work->kernel, n, m, n, 0.0, work->km, n);
    la_gemm('T', 'N', k, k, n, 1.0, m, n, work->km, n, 0.0, s, k);
    if (eig_range(k, s, 1, k, value, half) || !(value[0] > 1e-6 * value[k - 1])) return false;
    for (size_t j = 0; j < K; j++)
        for (size_t i = 0; i < K; i++) half[i + j * K] /= sqrt(sqrt(value[j]));
    la_gemm('N', 'T', k, k, k, 1.0, half, k, half, k, 0.0, s, k);
    la_gemm('N', 'N', n, k, k, 1.0, m, n, s, k, 0.0, work->map, n);
    la_gemm('N', 'N', n, k, k, 1.0, work->km, n, s, k, 0.0, work->u, n);
    work->implicit = true;
    return true;
}

/* P = polar(X'M) itself, p x k, and X P. */
static int form_p(jspca_work *work, const double *m)
{
    const jspca_problem *problem = work->problem;
    double *pbar = work->result->pbar;
    int info;

    /* The previous P, which is needed where X'M is rank-deficient. */
    if (work->implicit) ufs_x_cross(problem->x, problem->k, work->map, pbar);
    work->implicit = false;
    ufs_x_cross(problem->x, problem->k, m, work->b);
    info = la_polar(&work->polar, work->b, pbar, pbar);
    ufs_x_mul(problem->x, problem->k, pbar, work->u);
    return info;
}

/* residual_i += (x_ij - z_i'p_j)^2 for the few samples in question. */
static void add_residual(void *data, int j, const double *column)
{
    jspca_work *work = data;
    size_t n = (size_t) work->problem->n, p = (size_t) work->problem->p;

    for (int at = 0; at < work->n_formed; at++) {
        size_t i = (size_t) work->formed[at];
        double r = column[i];
        for (size_t l = 0; l < (size_t) work->problem->k; l++)
            r -= work->z[i + l * n] * work->result->pbar[(size_t) j + l * p];
        work->result->residual[i] += r * r;
    }
}

/* ||x - Pz||^2 = ||x||^2 - 2 u'z + ||z||^2, u = P'x. */
static void residual_of_samples(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    size_t n = (size_t) problem->n, k = (size_t) problem->k;
    int *formed = work->formed;

    work->n_formed = 0;
    for (size_t i = 0; i < n; i++) {
        double ss = work->ss[i];
        for (size_t j = 0; j < k; j++) {
            double u = work->u[i + j * n], z = work->z[i + j * n];
            ss += z * (z - 2.0 * u);
        }
        result->residual[i] = sqrt(fmax(ss, 0.0));
        if (work->implicit || ss > JSPCA_CANCELLED * work->ss[i]) continue;
        result->residual[i] = 0.0;
        formed[work->n_formed++] = (int) i;
    }
    if (work->n_formed == 0) return;
    ufs_x_each_column(problem->x, add_residual, work);
    for (int at = 0; at < work->n_formed; at++)
        result->residual[formed[at]] = sqrt(result->residual[formed[at]]);
}

int jspca_sample_p_step(jspca_work *work, bool last)
{
    double *m = work->gl.scaled; /* free between gl_work's calls */
    int info = 0;

    la_scale_rows(work->problem->n, work->problem->k, work->result->weight, work->z, m);
    if (last || work->kernel == NULL || !p_by_kernel(work, m)) info = form_p(work, m);
    if (info == 0) residual_of_samples(work);
    return info;
}
