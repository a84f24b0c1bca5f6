/* jspca_canonical.c: what is done with JSPCA's answer (see jspca_solve.c): without a penalty the
 * shortest of all Q with the same X Q; then P and Q, which may be rotated freely, in their canonical
 * rotation. min(n, p)^3 flops, 2 min(n, p)^2 doubles; nk^2 + 2pk^2. */
#include "jspca_work.h"
#include "eig.h"

/* Without a penalty only the part of Q in the row space of X matters: the rest goes. Through
 * the eigenvectors of the smaller Gram matrix. violation: of X Q = T, relative. */
int jspca_shortest(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    bool wide = problem->n < problem->p;
    int m = wide ? problem->n : problem->p, k = problem->k, info, first = 0;
    size_t M = (size_t) m, K = (size_t) k, len = (size_t) problem->n * K;
    double *gram = ufs_dalloc(M, M), *w = ufs_dalloc(M, 1), *v = ufs_dalloc(M, M);
    double *part = ufs_dalloc(M, K), *image = wide ? work->t : result->q;
    double size = sqrt(la_ss(len, work->z));

    if (wide)
        ufs_x_gram_rows(problem->x, NULL, gram);
    else
        ufs_x_gram_cols(problem->x, gram);
    if ((info = eig_range(m, gram, 1, m, w, v))) return info;
    while (first < m && w[first] <= 1e-12 * w[m - 1]) first++;
    v += (size_t) first * M;
    /* Q = X' U w^{-1} U' Z, or V V' Q. */
    la_gemm('T', 'N', m - first, k, m, 1.0, v, m, wide ? work->z : result->q, m, 0.0, part, m);
    for (size_t j = 0; j < K && wide; j++)
        for (int i = 0; i < m - first; i++) part[(size_t) i + j * M] /= w[i + first];
    la_gemm('N', 'N', m, k, m - first, 1.0, v, m, part, m, 0.0, image, m);
    if (wide) ufs_x_cross(problem->x, k, image, result->q);
    gl_share(&problem->copies, problem->p, problem->k, result->q);
    la_row_norms(problem->p, k, result->q, result->row_norm);
    ufs_x_mul(problem->x, k, result->q, work->t);
    result->violation = size > 0.0 ? sqrt(la_ss_diff(len, work->t, work->z)) / size : 0.0;
    result->gap = 0.0;
    return 0;
}

/* The SVD X Q = U S O' gives uncorrelated scores of decreasing variance; the largest entry of each
 * column of Q O is positive. */
int jspca_canonicalise(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    size_t p = (size_t) problem->p;
    int k = problem->k, info;
    double top = 0.0;

    info = la_svd_thin(problem->n, k, work->z, work->gl.r, work->t, work->col, work->zz);
    if (info) return info;
    la_transpose(k, k, work->zz, result->rotation);
    la_gemm('N', 'N', problem->p, k, k, 1.0, result->q, problem->p, result->rotation, k, 0.0,
            result->loadings, problem->p);
    la_col_norms(problem->p, k, result->loadings, work->col);
    for (int j = 0; j < k; j++) top = fmax(top, work->col[j]);
    for (int j = 0; j < k; j++) {
        double *load = result->loadings + (size_t) j * p;
        size_t at = 0;
        if (work->col[j] <= 1e-12 * top) {
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
