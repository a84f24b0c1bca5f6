/* samp_ted_convex.c: convex (not greedy) transductive experimental design.
 *
 * Problem (after Yu, Zhu, Xu & Gong, SIGIR 2008; spec/alfs.md C2). X = (x_1 .. x_n) is
 * r x n, columns = samples (the user's x transposed; with more features than samples
 * its triangular factor):
 *     min_A  ||X - X A||_F^2 + mu sum_j ||A_j.||_2,   A n x n,
 * which is the paper's problem in (A, b >= 0) after minimising over b, with mu twice the
 * root of the product of its two weights; b_j is proportional to ||A_j.||.
 * Dual: max <Y, X> - ||Y||_F^2 / 4, ||(X'Y)_j.|| <= mu.
 *
 * Reweighting: with b_j = sqrt(||A_j.||^2 + e^2) the majoriser's minimiser is
 *     A = B X' K^-1 X,   K = X B X' + (mu/2) I,   X - X A = (mu/2) K^-1 X,
 * and A is never formed: with C = XX' = L L' (once) and P = L'K^-1 (r x r),
 *     ||A_j.|| = b_j ||P x_j||,   ||X - X A||_F = (mu/2) ||P||_F,
 *     <X - X A, X> = (mu/2) <P, L'>.
 * Y = 2 (X - X A) has ||(X'Y)_j.|| = mu ||A_j.|| / b_j, so s Y is dual feasible for
 * |s| <= 1/max_j ||A_j.||/b_j, and the best s is known in closed form.
 *
 * Per iteration 3 r^2 n + 3 r^3 flops; memory 8 (2rn + 4r^2 + 4n) bytes. */
#include "samp_ted_convex.h"
#include "la.h"

typedef struct {
    const tedc_problem *prob;
    tedc_info *info;
    double *root;      /* r x r: L, C = L L' */
    double *k, *p;     /* r x r */
    double *scaled;    /* r x n: X B^{1/2}, then P X */
    double *row, *act; /* n: of the last step */
    double total;      /* ||X||_F^2 */
} tedc_work;

static int root_of_gram(tedc_work *work);
static mm_value reweight(void *data, const double *theta, double *next);
static int solve_rows(tedc_work *work, const double *theta);
static void keep_best(void *data);

void tedc_solve(const tedc_problem *prob, const mm_settings *set, tedc_info *info)
{
    int n = prob->n, r = prob->r;
    size_t N = (size_t) n, R = (size_t) r;
    tedc_work work = {prob, info, ufs_dalloc(R, R), ufs_dalloc(R, R), ufs_dalloc(R, R),
                      ufs_dalloc(R, N), ufs_dalloc(N, 1), ufs_dalloc(N, 1),
                      la_ss(R * N, prob->x)};
    double top = tedc_mu_max(r, n, prob->x, info->activity);
    double s = fmin(1.0, prob->mu / top);
    mm_problem mm = {n, log(prob->eps), log(1e8), ufs_dzero(N, 1), work.total,
                     (2.0 * s - s * s) * work.total, &work, reweight, keep_best};

    /* A = 0 is the first candidate; its residual X, scaled, the first dual point. */
    for (int j = 0; j < n; j++) {
        info->row_norm[j] = 0.0;
        info->activity[j] /= fmax(top, prob->mu);
    }
    info->mm.lapack_info = root_of_gram(&work);
    if (info->mm.lapack_info) return;
    mm_solve(&mm, set, &info->mm);
}

double tedc_mu_max(int r, int n, const double *x, double *activity)
{
    size_t R = (size_t) r;
    double *gram = ufs_dalloc(R, R), *y = ufs_dalloc(R, (size_t) n), top = 0.0;

    la_gram('N', r, n, x, gram);
    la_gemm('N', 'N', r, n, r, 1.0, gram, r, x, r, 0.0, y, r);
    for (int j = 0; j < n; j++) {
        activity[j] = 2.0 * sqrt(fmax(la_dot(r, x + (size_t) j * R, y + (size_t) j * R), 0.0));
        top = fmax(top, activity[j]);
    }
    return top;
}

/* L = V diag(d)^{1/2} from C = V diag(d) V': exists for every rank. */
static int root_of_gram(tedc_work *work)
{
    int r = work->prob->r, info;
    size_t R = (size_t) r;
    double *d = ufs_dalloc(R, 1);

    la_gram('N', r, work->prob->n, work->prob->x, work->k);
    info = la_eig_range(r, work->k, 1, r, d, work->root);
    for (size_t l = 0; info == 0 && l < R; l++) {
        double by = sqrt(fmax(d[l], 0.0));
        for (size_t i = 0; i < R; i++) work->root[i + l * R] *= by;
    }
    return info;
}

/* theta = log b. */
static mm_value reweight(void *data, const double *theta, double *next)
{
    tedc_work *work = data;
    const tedc_problem *prob = work->prob;
    size_t R = (size_t) prob->r;
    double half = 0.5 * prob->mu, over = 1.0, fit, inner = 0.0, s;
    mm_value value = {0.0, 0.0, 0.0, 0};

    value.info = solve_rows(work, theta);
    if (value.info) return value;
    /* work->p is P' = K^-1 L here, with the inner product of L. */
    fit = half * half * la_ss(R * R, work->p);
    for (size_t i = 0; i < R * R; i++) inner += work->p[i] * work->root[i];
    inner *= half;
    value.primal = value.merit = fit;
    for (int j = 0; j < prob->n; j++) {
        double smooth = sqrt(work->row[j] * work->row[j] + prob->eps * prob->eps);
        value.primal += prob->mu * work->row[j];
        value.merit += prob->mu * smooth;
        next[j] = log(smooth);
        work->act[j] = work->row[j] * exp(-theta[j]);
        over = fmax(over, work->act[j]);
    }
    s = fit > 0.0 ? fmin(inner / fit, 1.0 / over) : 0.0;
    value.dual = 2.0 * s * inner - s * s * fit;
    for (int j = 0; j < prob->n; j++) work->act[j] /= over;
    return value;
}

/* P' = K^-1 L and the norms ||A_j.|| = b_j ||P x_j||. */
static int solve_rows(tedc_work *work, const double *theta)
{
    int r = work->prob->r, n = work->prob->n, info;
    size_t R = (size_t) r;
    const double *x = work->prob->x;

    for (int j = 0; j < n; j++) {
        double root_b = exp(0.5 * theta[j]);
        for (size_t l = 0; l < R; l++)
            work->scaled[l + (size_t) j * R] = root_b * x[l + (size_t) j * R];
    }
    la_gram('N', r, n, work->scaled, work->k);
    for (size_t l = 0; l < R; l++) work->k[l + l * R] += 0.5 * work->prob->mu;
    info = la_chol(r, work->k);
    if (info) return info;
    ufs_copy(work->p, work->root, R * R);
    la_chol_solve(r, r, work->k, work->p);
    la_gemm('T', 'N', r, n, r, 1.0, work->p, r, x, r, 0.0, work->scaled, r);
    la_col_norms(r, n, work->scaled, work->row);
    for (int j = 0; j < n; j++) work->row[j] *= exp(theta[j]);
    return 0;
}

static void keep_best(void *data)
{
    tedc_work *work = data;
    size_t n = (size_t) work->prob->n;
    ufs_copy(work->info->row_norm, work->row, n);
    ufs_copy(work->info->activity, work->act, n);
}
