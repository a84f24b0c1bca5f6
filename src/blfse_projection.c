/* blfse_projection.c: the side of the features in BLFSE (blfse_solve.c). N = P'P is unique
 * by the tie rule of eig.h and held as N = w0 I + sign R R' in three forms:
 *   dense      p <= n: G is p x p, R its smallest eigenvectors (sign 1, w0 0)
 *   factor     p > n: G = F'F with F at most n x p; R spans the complement of the range of A_v =
 *              diag(v) G diag(v), in n-space (sign -1)
 *   isotropic  N = (c/p) I: only the diagonal of G is needed
 * G = X'MX + (X'MX)' with M = diag(S 1) / 2 - U, U the upper triangle of S and half of its
 * diagonal, which halves the cost of the product with S. Cost: dense n^2p + 2np^2
 * (G), 9p^3 (R); factor 2n^2p each for F, for R and for the distances, n^2p for KK', 9n^3 for
 * its eigenvectors, 4n^2p per product of the quadratic program. Memory: 4 p^2, or 2 n^2 + 2 np;
 * and 2 UFS_STRIP n. */
#include "blfse_projection.h"
#include "eig.h"
#include "x_ops.h"

void blfse_projector_init(blfse_projector *work, const blfse_problem *problem,
                          const blfse_settings *settings, blfse_result *result)
{
    int n = problem->n, p = problem->p;
    size_t N = (size_t) n, P = (size_t) p;
    bool paper = settings->projection == BLFSE_PAPER;

    *work = (blfse_projector){
        .problem = problem, .settings = settings, .form = settings->form, .result = result};
    ufs_dalloc_each(
        P, 1,
        (double **[]){&work->g_diag, &work->diag, &work->upper, &work->rhs, &work->omega, NULL});
    ufs_dalloc_each(N, UFS_STRIP, (double **[]){&work->chunk, &work->strip, NULL});
    work->top = work->n.w0 = (double) problem->c / (double) p;
    work->n.sign = 1.0;
    if (work->form == BLFSE_AUTO) work->form = p > n ? BLFSE_FACTOR : BLFSE_DENSE;
    if (paper && work->form == BLFSE_DENSE) {
        ufs_dalloc_each(P, P, (double **[]){&work->g, &work->n_mat, &work->h, &work->r, NULL});
    }
    if (paper && work->form == BLFSE_FACTOR) {
        ufs_dalloc_each(N, P, (double **[]){&work->f, &work->rt, NULL});
        ufs_dalloc_each(N, N, (double **[]){&work->kk, &work->u, NULL});
        work->pivot = ufs_ialloc(N);
        work->n.f = work->f;
        work->n.rt = work->rt;
        work->n.g_diag = work->g_diag;
        work->n.scale = 2.0;
        hadamard_init(&work->n, p, n, n);
    }
    qp_init(&work->qp, p);
}

/* F = R x with R'R = L(S), its rows and columns in the order of the pivots. */
static int factor_laplacian(blfse_projector *work, const double *s, const double *degree, double *a)
{
    const double *x = work->problem->x;
    int n = work->problem->n, p = work->problem->p, rank, lapack;
    size_t N = (size_t) n, R;

    la_packed_laplacian(n, s, degree, a);
    lapack = la_chol_pivoted(n, a, work->pivot, &rank, work->strip);
    if (lapack) return lapack;
    work->n.r = rank;
    R = (size_t) rank;
    for (size_t j = 0; j < N; j++)
        for (size_t i = j + 1; i < N; i++) a[i + j * N] = 0.0;
    for (int i0 = 0; i0 < p; i0 += UFS_STRIP) {
        int len = p - i0 < UFS_STRIP ? p - i0 : UFS_STRIP;
        for (size_t j = 0; j < (size_t) len; j++)
            for (size_t i = 0; i < N; i++)
                work->chunk[i + j * N] = x[(size_t) (work->pivot[i] - 1) + ((size_t) i0 + j) * N];
        la_gemm('N', 'N', rank, len, n, 1.0, a, n, work->chunk, n, 0.0, work->f + (size_t) i0 * R,
                rank);
        R_CheckUserInterrupt();
    }
    for (size_t i = 0; i < (size_t) p; i++) work->g_diag[i] = la_ss(R, work->f + i * R);
    return 0;
}

int blfse_projector_gram(blfse_projector *work, const double *s, double *degree, double *a)
{
    const double *x = work->problem->x;
    int n = work->problem->n, p = work->problem->p;
    size_t N = (size_t) n, P = (size_t) p;

    la_packed_row_sums(n, s, degree);
    if (work->settings->projection == BLFSE_PAPER && work->form == BLFSE_FACTOR)
        return factor_laplacian(work, s, degree, a);
    /* Strips of M x, in `chunk`. */
    for (int i0 = 0; i0 < p; i0 += UFS_STRIP) {
        int len = p - i0 < UFS_STRIP ? p - i0 : UFS_STRIP;
        const double *xc = x + (size_t) i0 * N;
        for (size_t j = 0; j < (size_t) len; j++)
            for (size_t i = 0; i < N; i++) work->chunk[i + j * N] = 0.5 * degree[i] * xc[i + j * N];
        la_packed_product(&(la_packed){n, s, work->strip}, true, len, -1.0, xc, work->chunk);
        for (size_t j = 0; j < (size_t) len; j++)
            work->g_diag[(size_t) i0 + j] = fmax(2.0 * la_dot(n, xc + j * N, work->chunk + j * N),
                                                 0.0);
        if (work->settings->projection == BLFSE_PAPER)
            la_gemm_checked('T', 'N', p, len, n, 1.0, x, n, work->chunk, n, 0.0,
                            work->g + (size_t) i0 * P, p);
        R_CheckUserInterrupt();
    }
    if (work->settings->projection == BLFSE_PAPER)
        for (size_t j = 0; j < P; j++)
            for (size_t i = 0; i <= j; i++)
                work->g[i + j * P] = work->g[j + i * P] = work->g[i + j * P] + work->g[j + i * P];
    return 0;
}

/* Where the c smallest of the p eigenvalues of A_v end, and which are tied there. */
static low_split split_spectrum(blfse_projector *work)
{
    int p = work->problem->p;
    double largest = fmax(fabs(work->omega[0]), fabs(work->omega[p - 1]));
    low_split split = low_ties(work->omega, p, work->problem->c, 10.0 * p * DBL_EPSILON * largest);

    work->result->ties = split.eq;
    if (split.lo + split.eq > work->problem->c) work->result->p_unique = false;
    return split;
}

/* Dense form: R p x k, N = RR'. */
static int project_dense(blfse_projector *work, const double *v)
{
    int p = work->problem->p, lapack;
    size_t P = (size_t) p;
    low_split split;

    for (size_t j = 0; j < P; j++)
        for (size_t i = 0; i < P; i++) work->h[i + j * P] = work->g[i + j * P] * v[i] * v[j];
    lapack = eig_range(p, work->h, 1, p, work->omega, work->r);
    if (lapack) return lapack;
    split = split_spectrum(work);
    work->n.k = split.lo + split.eq;
    work->t1 = 0.0;
    for (int j = 0; j < work->n.k; j++) {
        double weight = j < split.lo ? 1.0 : split.share;
        work->t1 += 2.0 * weight * work->omega[j];
        for (size_t i = 0; i < P; i++) work->r[i + (size_t) j * P] *= sqrt(weight);
    }
    work->t1 = fmax(work->t1, 0.0);
    work->n.w0 = 0.0;
    work->n.sign = 1.0;
    work->top = split.lo > 0 ? 1.0 : split.share;
    la_gram('N', p, work->n.k, work->r, work->n_mat);
    return 0;
}

/* Factor form. A_v = K'K, K = F diag(v) (rank x p), has p - rank eigenvalues zero and
 * those of KK' = U diag(omega) U', with eigenvectors K'U / sqrt(omega). With weight w0
 * on the zeros, N = w0 I - sum_j (w0 - w_j) q_j q_j': R is made of the q_j with
 * w_j < w0, which are never the ill-determined ones. */
static int project_factor(blfse_projector *work, const double *v)
{
    int p = work->problem->p, r = work->n.r, null = p - r, lapack = 0;
    size_t R = (size_t) r;
    double *omega = work->omega + null;
    ufs_x f = ufs_x_dense(r, p, work->f);
    low_split split;

    for (int i = 0; i < p; i++) work->diag[i] = v[i] * v[i];
    /* All p eigenvalues, the zeros first. */
    memset(work->omega, 0, (size_t) null * sizeof(double));
    if (r > 0) {
        ufs_x_gram_rows(&f, work->diag, work->kk);
        lapack = eig_range(r, work->kk, 1, r, omega, work->u);
    }
    if (lapack) return lapack;
    split = split_spectrum(work);

    work->n.w0 = split.lo > 0 ? 1.0 : split.share;
    work->n.sign = -1.0;
    work->top = work->n.w0;
    work->t1 = 0.0;
    work->n.k = 0;
    for (int j = 0; j < r; j++) {
        int at = null + j;
        double weight = at < split.lo ? 1.0 : at < split.lo + split.eq ? split.share : 0.0;
        work->t1 += 2.0 * weight * fmax(omega[j], 0.0);
        if (weight < work->n.w0) {
            double scale = sqrt((work->n.w0 - weight) / omega[j]);
            for (size_t a = 0; a < R; a++)
                work->u[a + (size_t) work->n.k * R] = scale * work->u[a + (size_t) j * R];
            work->n.k++;
        }
    }
    la_gemm('T', 'N', work->n.k, p, r, 1.0, work->u, r, work->f, r, 0.0, work->rt, work->n.k);
    for (size_t i = 0; i < (size_t) p; i++)
        for (size_t j = 0; j < (size_t) work->n.k; j++)
            work->rt[j + i * (size_t) work->n.k] *= v[i];
    return 0;
}

int blfse_projector_update(blfse_projector *work, const double *v)
{
    if (work->settings->projection == BLFSE_PAPER)
        return work->form == BLFSE_DENSE ? project_dense(work, v) : project_factor(work, v);
    work->result->ties = work->problem->p;
    work->t1 = 0.0;
    for (int i = 0; i < work->problem->p; i++)
        work->t1 += 2.0 * work->n.w0 * work->g_diag[i] * v[i] * v[i];
    return 0;
}

void blfse_projector_factor(blfse_projector *work, const double *v, double *b, double *diag)
{
    const double *x = work->problem->x;
    int n = work->problem->n, p = work->problem->p, k = work->n.k;
    size_t N = (size_t) n;

    memset(diag, 0, N * sizeof(double));
    memset(b, 0, N * (size_t) k * sizeof(double));
    for (int i0 = 0; i0 < p; i0 += UFS_STRIP) {
        int len = p - i0 < UFS_STRIP ? p - i0 : UFS_STRIP;
        for (size_t j = (size_t) i0; j < (size_t) (i0 + len); j++)
            for (size_t i = 0; i < N; i++) {
                double z = x[i + j * N] * v[j];
                work->chunk[i + (j - (size_t) i0) * N] = z;
                diag[i] += work->n.w0 * z * z;
            }
        if (k > 0 && work->n.sign > 0.0)
            la_gemm('N', 'N', n, k, len, 1.0, work->chunk, n, work->r + i0, p, 1.0, b, n);
        if (k > 0 && work->n.sign < 0.0)
            la_gemm('N', 'T', n, k, len, 1.0, work->chunk, n, work->rt + (size_t) i0 * (size_t) k,
                    k, 1.0, b, n);
    }
    for (size_t l = 0; l < (size_t) k; l++)
        for (size_t i = 0; i < N; i++) diag[i] += work->n.sign * b[i + l * N] * b[i + l * N];
}

void blfse_projector_tile(blfse_projector *work, const double *v, const double *b, int from,
                          int width, double *tile)
{
    const double *x = work->problem->x;
    int n = work->problem->n, p = work->problem->p, rows = from + width;
    size_t N = (size_t) n, W = (size_t) width;

    memset(tile, 0, (size_t) rows * W * sizeof(double));
    for (int j0 = 0; j0 < p && work->n.w0 > 0.0; j0 += UFS_STRIP) {
        int len = p - j0 < UFS_STRIP ? p - j0 : UFS_STRIP;
        const double *xc = x + (size_t) j0 * N, *vc = v + j0;
        for (size_t j = 0; j < (size_t) len; j++)
            for (size_t i = 0; i < W; i++)
                work->strip[i + j * W] = xc[(size_t) from + i + j * N] * vc[j] * vc[j];
        la_gemm('N', 'T', rows, width, len, work->n.w0, xc, n, work->strip, width, 1.0, tile, rows);
    }
    if (work->n.k > 0)
        la_gemm('N', 'T', rows, width, work->n.k, work->n.sign, b, n, b + from, n, 1.0, tile, rows);
}

/* min v'(G o N)v + (s/2) v'v - b'v on the simplex, s = sum alpha^2, b = sum alpha^2 v^(k):
 * H = 2 G o N + s I. G o N <= top diag(G) (Schur), a bound for every coordinate. */
void blfse_projector_weights(blfse_projector *work, const double *alpha, double *v, qp_info *info)
{
    const blfse_problem *problem = work->problem;
    int p = problem->p;
    size_t P = (size_t) p;
    double s = 0.0, gamma = work->settings->gamma_feature;
    qp_problem qp = {p, work->rhs, NULL, NULL, NULL, work->diag, work->upper};

    memset(work->rhs, 0, P * sizeof(double));
    for (int k = 0; k < problem->m; k++) {
        double a2 = gamma * alpha[k] * alpha[k];
        la_axpy(p, a2, problem->scores + (size_t) k * P, work->rhs);
        s += a2;
    }
    for (size_t i = 0; i < P; i++) work->upper[i] = 2.0 * work->top * work->g_diag[i] + s;

    if (work->settings->projection == BLFSE_ISOTROPIC) {
        qp_diagonal(p, work->upper, work->rhs, &work->qp, v, info);
    } else {
        if (work->form == BLFSE_DENSE) {
            for (size_t i = 0; i < P * P; i++) work->h[i] = 2.0 * work->g[i] * work->n_mat[i];
            for (size_t i = 0; i < P; i++) work->diag[i] = work->h[i + i * P] += s;
            qp.dense = work->h;
        } else {
            work->n.shift = s;
            hadamard_diag(&work->n, work->diag);
            qp.apply = hadamard_apply;
            qp.data = &work->n;
        }
        qp_simplex(&qp, work->settings->qp_tol, &work->qp, v, info);
    }
    work->t1 = fmax(la_dot(p, v, work->qp.hv) - s * la_dot(p, v, v), 0.0);
}
