/* jspca_feature.c: JSPCA's loss over features, P = D1^{-1/2} Pbar (see solve_jspca.c).
 *
 * Flops of an iteration beside the Q-step: 2npk for T, 2npk for X'Z and 6pk^2. */
#include "jspca_work.h"
#include "la.h"

static void residual_of_features(jspca_work *work);

void jspca_feature_init(jspca_work *work)
{
    const jspca_problem *problem = work->problem;

    work->ss = ufs_dalloc((size_t) problem->p, 1);
    work->d = ufs_dalloc((size_t) problem->p, 1);
    ufs_x_ss(problem->x, work->ss);
}

/* T = X diag(d) Pbar. */
void jspca_feature_target(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    const jspca_result *result = work->result;
    size_t p = (size_t) problem->p, k = (size_t) problem->k;

    for (size_t i = 0; i < p; i++) work->d[i] = sqrt(result->weight[i]);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < p; i++) work->b[i + j * p] = work->d[i] * result->pbar[i + j * p];
    ufs_x_mul(problem->x, problem->k, work->b, work->t);
}

/* Pbar = polar(diag(d) X'Z), the old Pbar where that is rank-deficient. */
int jspca_feature_turn(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    size_t p = (size_t) problem->p, k = (size_t) problem->k;
    int info;

    ufs_x_cross(problem->x, problem->k, work->z, work->b);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < p; i++) result->P[i + j * p] = work->d[i] * work->b[i + j * p];
    info = la_polar(&work->polar, result->P, result->pbar, result->pbar);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < p; i++) result->P[i + j * p] = result->pbar[i + j * p] / work->d[i];
    if (info == 0) residual_of_features(work);
    return info;
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
