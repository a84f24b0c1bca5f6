/* spca.c: sparse principal component analysis (Zou, Hastie and Tibshirani 2006, section 3.3,
 * with their ridge penalty zero).
 *
 *   min_{A'A = I, B} ||X - X B A'||_F^2 + lambda sum_j ||b_j||_1,   A, B p x k.
 *
 * Given A, the loss is sum_j ||X a_j - X b_j||^2 plus what does not depend on B: k lassos, each the
 * row-sparse regression of gl.c with one column, warm started; all share its Gram columns.
 * Given B, A is the orthonormal factor of X'X B; a column of zeros in B keeps its old direction as
 * far as the others allow. Both steps lower the objective.
 *
 * x is known by its products and single columns (x_ops.h); n p in the counts is the number of
 * entries of a sparse one.
 * Cost per iteration: 2npk for the targets X A, 2npk for X'(X B) (n times the non-zero rows for X B),
 * pk^2 for the factor, and the lassos, each with at least one product X'r of 2np.
 * Memory beyond x: 4pk + 2nk doubles and gl_work's workspace for one column with at most LA_GL_SLOTS Gram
 * columns. Nothing of size p x p. */
#include "spca.h"
#include "gl.h"

typedef struct {
    const spca_problem *problem;
    spca_result *result;
    gl_work lasso;
    la_polar_work polar;
    double *target;  /* n x k: X A */
    double *fitted;  /* n x k: X B */
    double *product; /* p x k: X'X B */
    double *old;     /* p x k: the B before */
    double total;    /* ||X||_F^2 */
} spca_work;

/* ||X||^2 - 2 <A, X'X B> + ||X B||^2 + lambda sum_ij f_i |b_ij|, as A'A = I. */
static double objective(const spca_work *work)
{
    const spca_problem *problem = work->problem;
    size_t N = (size_t) problem->x->n, P = (size_t) problem->x->p, K = (size_t) problem->k;
    double inner = 0.0, l1 = 0.0;

    for (size_t i = 0; i < P * K; i++) {
        inner += work->result->a[i] * work->product[i];
        if (work->result->b[i] != 0.0)
            l1 += gl_factor(&work->lasso, (int) (i % P)) * fabs(work->result->b[i]);
    }
    return work->total - 2.0 * inner + la_ss(N * K, work->fitted) + problem->lambda * l1;
}

/* B given A: one lasso per component. Sets fitted. */
static void lassos(spca_work *work, double vtol)
{
    const spca_problem *problem = work->problem;
    size_t N = (size_t) problem->x->n, P = (size_t) problem->x->p;

    ufs_x_mul(problem->x, problem->k, work->result->a, work->target);
    for (int j = 0; j < problem->k; j++) {
        gl_solve(&work->lasso, work->target + (size_t) j * N, problem->lambda, vtol, true, 0.9,
                 work->result->b + (size_t) j * P);
        ufs_copy(work->fitted + (size_t) j * N, work->lasso.xv, N);
    }
}

/* How far B is from optimal for the A returned. */
static void certify(spca_work *work)
{
    const spca_problem *problem = work->problem;
    size_t N = (size_t) problem->x->n, P = (size_t) problem->x->p;

    work->result->violation = 0.0;
    ufs_x_mul(problem->x, problem->k, work->result->a, work->target);
    for (int j = 0; j < problem->k; j++) {
        const double *b = work->result->b + (size_t) j * P;
        R_CheckUserInterrupt();
        gl_certify(&work->lasso, work->target + (size_t) j * N, problem->lambda, b);
        work->result->violation = fmax(work->result->violation,
                                       gl_violation(&work->lasso, problem->lambda, 0.0, b));
        for (size_t i = 0; i < P; i++)
            work->result->kkt[i] = fmax(work->result->kkt[i], work->lasso.kkt[i]);
    }
}

void spca_solve(const spca_problem *problem, spca_result *result, ufs_run *run)
{
    static const char *const columns[] = {"iteration", "objective", "change", NULL};
    const ufs_x *x = problem->x;
    size_t N = (size_t) x->n, P = (size_t) x->p, K = (size_t) problem->k, pk = P * K;
    spca_work work = {.problem = problem, .result = result};

    ufs_dalloc_each(N, K, (double **[]){&work.target, &work.fitted, NULL});
    ufs_dalloc_each(P, K, (double **[]){&work.product, &work.old, NULL});
    ufs_trace_named(&run->trace, run->max_iter, columns);
    gl_init(&work.lasso, 1, x, LA_GL_SLOTS);
    gl_set_penalty(&work.lasso, problem->factor, &problem->copies);
    for (size_t i = 0; i < P; i++) work.total += work.lasso.ss[i];
    la_polar_init(&work.polar, x->p, problem->k);
    run->status = UFS_MAX_ITER;
    result->change = result->objective = R_NaN;

    while (run->iterations < run->max_iter) {
        double moved, size;

        ufs_copy(work.old, result->b, pk);
        lassos(&work, 0.01 * fabs(run->tol));
        size = la_ss(pk, result->b);
        moved = la_ss_diff(pk, result->b, work.old);
        /* The same B twice means the same A: nothing more will move, also where B = 0. */
        result->change = moved > 0.0 ? sqrt(moved / fmax(size, DBL_MIN)) : 0.0;
        ufs_x_cross(x, problem->k, work.fitted, work.product);
        run->lapack = la_polar(&work.polar, work.product, result->a, result->a);
        if (run->lapack) return;
        result->objective = objective(&work);
        run->iterations++;
        ufs_trace_add(&run->trace, (double[]){run->iterations, result->objective, result->change});
        ufs_run_step(run, result->objective, result->change);
        if (!R_FINITE(result->objective)) {
            run->status = UFS_DIVERGED;
            break;
        }
        if (result->change <= run->tol) {
            run->status = UFS_CONVERGED;
            break;
        }
    }
    certify(&work);
}
