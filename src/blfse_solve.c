/* blfse_solve.c: bi-level ensemble unsupervised feature selection (BLFSE: "Bi-level
 * ensemble method for unsupervised feature selection", Information Fusion 100, 2023,
 * 101910). The paper's X is d x n; here X is n x p, rows x_i.
 *
 * Given m base scores v^(k) (p, on the simplex) and m base clusterings with S^(k)_ij =
 * [l_i = l_j], minimises over v, S, W, N = P'P, R_Y R_Y' = YY', alpha, beta
 *   T1 = sum_ij S_ij ||P diag(v) (x_i - x_j)||^2 = 2 v'(G o N)v,   G = X'L(S)X
 *   T2 = sum_k beta_k^2 ||W o (S - S^(k))||_F^2,   T3 = -lambda sum_ij W_ij
 *   T4 = sum_k alpha_k^2 ||v - v^(k)||^2
 *   T5 = 2 rho tr(Y'L(S)Y) = rho sum_ij C_ij S_ij
 * with v, alpha, beta on simplices, 0 <= S, W <= 1, PP' = I_c, Y'Y = I_c; T2 + T3 and T4
 * may carry a factor. Every block update below is an exact minimiser of its block, so
 * the objective cannot rise while lambda and rho stand still. lambda follows the
 * self-paced schedule psi, rho the number of components of S. YY' is unique by the tie rule
 * of eig.h.
 *
 * What the base clusterings say of a pair depends on the two samples' labels only, and samples of
 * one kind have the same ones. So it is found once per sample and kind: W, S and the errors of all
 * clusterings cost n^2 + m n (kinds) instead of 3 m n^2.
 * S and W are packed (la.h). YY' and the Gram matrix behind the distances B are known by
 * factors (n x k); what is n x n of them exists by tiles of columns.
 * Memory in doubles: n^2 for S and W together, 2 n UFS_STRIP, that of the projection, and three
 * n x n, of two of which with p <= n only the factors' columns are touched. */
#include "blfse.h"
#include "eig.h"
#include "qp_simplex.h"
#include "x_ops.h"

/* ---- the side of the features ---------------------------------------------------------- */

/* N = P'P is unique by the tie rule of eig.h and held as N = w0 I + sign R R' in three forms:
 *   dense      p <= n: G is p x p, R its smallest eigenvectors (sign 1, w0 0)
 *   factor     p > n: G = F'F with F at most n x p; R spans the complement of the range of A_v =
 *              diag(v) G diag(v), in n-space (sign -1)
 *   isotropic  N = (c/p) I: only the diagonal of G is needed
 * G = X'MX + (X'MX)' with M = diag(S 1) / 2 - U, U the upper triangle of S and half of its
 * diagonal, which halves the cost of the product with S. Cost: dense n^2p + 2np^2
 * (G), 9p^3 (R); factor 2n^2p each for F, for R and for the distances, n^2p for KK', 9n^3 for
 * its eigenvectors, 4n^2p per product of the quadratic program. Memory: 4 p^2, or 2 n^2 + 2 np;
 * and 2 UFS_STRIP n. */
typedef struct {
    const blfse_problem *problem;
    const blfse_settings *settings;
    blfse_form form;
    hadamard n;                /* N = w0 I + sign R R', k columns in R; r rows in F */
    double top;                /* the largest eigenvalue of N */
    blfse_result *result;      /* ties and p_unique */
    double t1;                 /* 2 v'(G o N)v */
    double *g, *n_mat, *h, *r; /* dense form: p x p */
    double *f, *rt, *kk, *u;   /* factor form: r x p, k x p, n x n, n x n */
    int *pivot;                /* factor form: n */
    double *omega;             /* eigenvalues of A_v */
    double *g_diag, *diag, *upper, *rhs;
    double *chunk, *strip; /* n x UFS_STRIP */
    qp_work qp;
} blfse_projector;

static void projector_init(blfse_projector *work, const blfse_problem *problem,
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

/* G of S (packed); degree: n, its row sums on return; a: n x n scratch. LAPACK's code, like the
 * next. */
static int projector_gram(blfse_projector *work, const double *s, double *degree, double *a)
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
        la_packed_half_product(&(la_packed){n, s, work->strip}, len, xc, work->chunk);
        for (size_t j = 0; j < (size_t) len; j++)
            work->g_diag[(size_t) i0 + j] = fmax(2.0 * la_dot(n, xc + j * N, work->chunk + j * N),
                                                 0.0);
        if (work->settings->projection == BLFSE_PAPER)
            la_mul('T', 'N', p, len, n, 1.0, x, work->chunk, 0.0, work->g + (size_t) i0 * P);
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
    la_mul('T', 'N', work->n.k, p, r, 1.0, work->u, work->f, 0.0, work->rt);
    for (size_t i = 0; i < (size_t) p; i++)
        for (size_t j = 0; j < (size_t) work->n.k; j++)
            work->rt[j + i * (size_t) work->n.k] *= v[i];
    return 0;
}

/* N for v; t1. */
static int projector_update(blfse_projector *work, const double *v)
{
    if (work->settings->projection == BLFSE_PAPER)
        return work->form == BLFSE_DENSE ? project_dense(work, v) : project_factor(work, v);
    work->result->ties = work->problem->p;
    work->t1 = 0.0;
    for (int i = 0; i < work->problem->p; i++)
        work->t1 += 2.0 * work->n.w0 * work->g_diag[i] * v[i] * v[i];
    return 0;
}

/* The matrix whose squared distances are B is K = Z N Z' = w0 ZZ' + sign bb', Z = X diag(v):
 * b (n x k), and the diagonal of K. */
static void projector_factor(blfse_projector *work, const double *v, double *b, double *diag)
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
            la_mul('N', 'T', n, k, len, 1.0, work->chunk, work->rt + (size_t) i0 * (size_t) k, 1.0,
                   b);
    }
    for (size_t l = 0; l < (size_t) k; l++)
        for (size_t i = 0; i < N; i++) diag[i] += work->n.sign * b[i + l * N] * b[i + l * N];
}

/* Rows 0..from + width - 1 of the columns from.. of K, width <= UFS_STRIP. */
static void projector_tile(blfse_projector *work, const double *v, const double *b, int from,
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

/* v (p), started at the last one, for the weights alpha (m) of the base scores; t1.
 * min v'(G o N)v + (s/2) v'v - b'v on the simplex, s = sum alpha^2, b = sum alpha^2 v^(k):
 * H = 2 G o N + s I. G o N <= top diag(G) (Schur), a bound for every coordinate. */
static void projector_weights(blfse_projector *work, const double *alpha, double *v, qp_info *info)
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

/* ---- the whole problem ----------------------------------------------------------------- */

/* Kinds are numbered by their first samples. */
typedef struct {
    int n, m;
    int *kind;          /* n */
    int *label;         /* n x m: of the kinds */
    int seen;           /* kinds up to the present column */
    double *join;       /* n: sum of weights of those that put it and a kind together */
    double *near, *far; /* n: what the column adds to the errors, by kind */
} agreement;

typedef struct {
    double *v; /* n x n or more */
    int k;     /* columns */
} blfse_factor;

typedef struct {
    const blfse_problem *problem;
    const blfse_settings *settings;
    blfse_result *result;
    ufs_run *run;
    double psi, lambda;
    int it; /* of this stage */
    /* Terms of the objective beside t1, kept up to date. */
    double t2, t3, t4, t5, sum_w, *error_s, *error_v;
    /* YY' = y y'; from Y to rho `y_old` is the one before the Y step. */
    blfse_factor y, y_old;
    double *a, *b;                                 /* n x n */
    double *tile_b, *tile_c, *square_b, *square_c; /* n x UFS_STRIP, n */
    double *v_old, *beta2, *weights, *degree;
    bool stays;     /* the last S step left S as it was, */
    double moved_s; /* or its largest change */
    int *order;
    agreement together;
    low_work low;
    blfse_projector projector;
} blfse_work;

/* ---- history --------------------------------------------------------------------------- */

static double objective(const blfse_work *work)
{
    return work->projector.t1 + work->t2 + work->t3 + work->t4 + work->t5;
}

static int support(const blfse_work *work)
{
    int count = 0;
    for (int i = 0; i < work->problem->p; i++) count += work->result->v[i] > 0.0;
    return count;
}

static void record(blfse_work *work, blfse_block block)
{
    const blfse_result *result = work->result;
    ufs_trace_add(&work->run->trace,
                  (double[]){work->run->iterations + (work->it > 0), work->psi, work->it, block,
                             result->rho, result->n_component, result->ties, support(work),
                             objective(work), work->projector.t1, work->t2, work->t3, work->t4,
                             work->t5});
}

/* After a failure of LAPACK nothing moves any more. */
static void update_block(blfse_work *work, void (*update)(blfse_work *), blfse_block block)
{
    if (!work->run->lapack) update(work);
    record(work, block);
}

static void remember(blfse_work *work, double moved)
{
    blfse_result *result = work->result;
    double alpha = 0.0, beta = 0.0, n = work->problem->n;
    int m = work->problem->m;

    for (int k = 0; k < m; k++) {
        alpha = fmax(alpha, result->alpha[k]);
        beta = fmax(beta, result->beta[k]);
        work->weights[k] = result->alpha[k];
        work->weights[m + k] = result->beta[k];
    }
    ufs_trace_add(&result->history,
                  (double[]){work->psi, work->it, result->rho, result->n_component, result->ties,
                             support(work), moved, alpha, beta, work->sum_w / (n * n)});
    ufs_trace_add(&result->weights, work->weights);
}

/* ---- terms ----------------------------------------------------------------------------- */

/* T2 and T4, of error_s[k] = ||W o (S - S^(k))||_F^2 and error_v[k] = ||v - v^(k)||^2. */
static void ensemble_terms(blfse_work *work)
{
    const double *alpha = work->result->alpha;
    double of_s = 0.0, of_v = 0.0;

    for (int k = 0; k < work->problem->m; k++) {
        of_s += work->beta2[k] * work->error_s[k];
        of_v += alpha[k] * alpha[k] * work->error_v[k];
    }
    work->t2 = work->settings->gamma_cluster * of_s;
    work->t4 = work->settings->gamma_feature * of_v;
}

static void feature_errors(blfse_work *work)
{
    size_t P = (size_t) work->problem->p;
    for (int k = 0; k < work->problem->m; k++)
        work->error_v[k] = la_ss_diff(P, work->result->v, work->problem->scores + (size_t) k * P);
    ensemble_terms(work);
}

/* Finds the components, and G, of a new S. */
static void new_s(blfse_work *work)
{
    blfse_result *result = work->result;
    result->n_component = la_packed_components(work->problem->n, result->s, UFS_TIE,
                                               result->component, work->order);
    work->run->lapack = projector_gram(&work->projector, result->s, work->degree, work->a);
}

/* Rows 0..from + width - 1 of the columns from.. of YY', to tile_c. */
static void tile_y(const blfse_work *work, int from, int width)
{
    int n = work->problem->n, rows = from + width;
    la_gemm('N', 'T', rows, width, work->y.k, 1.0, work->y.v, n, work->y.v + from, n, 0.0,
            work->tile_c, rows);
}

/* In place of fmax(), which is a function call: these loops go over all pairs. */
static double positive(double x)
{
    return x > 0.0 ? x : 0.0;
}

/* Computes T5, and the squared lengths of the rows of y. */
static void rank_term(blfse_work *work)
{
    int n = work->problem->n;
    double *square = work->square_c, t5 = 0.0;

    la_row_norms(n, work->y.k, work->y.v, square);
    for (int i = 0; i < n; i++) square[i] *= square[i];
    for (int from = 0; from < n; from += UFS_STRIP) {
        int width = n - from < UFS_STRIP ? n - from : UFS_STRIP, rows = from + width;
        tile_y(work, from, width);
        for (int j = from; j < rows; j++) {
            const double *kc = work->tile_c + (size_t) (j - from) * (size_t) rows;
            const double *sj = work->result->s + la_packed_column(j);
            for (int i = 0; i < j; i++)
                if (sj[i] > 0.0) t5 += sj[i] * positive(square[i] + square[j] - 2.0 * kc[i]);
        }
        R_CheckUserInterrupt();
    }
    work->t5 = 2.0 * work->result->rho * t5;
}

/* ---- which base clusterings put two samples together ------------------------------------ */

/* What the pair adds to the errors of base results that put the two together, and of those that do
 * not. */
static inline void add_error(agreement *set, int kind, double w, double s)
{
    set->near[kind] += w * w * (s - 1.0) * (s - 1.0);
    set->far[kind] += w * w * s * s;
}

static void agreement_init(agreement *set, const blfse_problem *problem)
{
    size_t N = (size_t) problem->n, M = (size_t) problem->m;
    int *first = ufs_ialloc(N), kinds = 0;

    *set = (agreement){
        .n = problem->n, .m = problem->m, .kind = ufs_ialloc(N), .label = ufs_ialloc(N * M)};
    ufs_dalloc_each(N, 1, (double **[]){&set->join, &set->near, &set->far, NULL});
    for (int i = 0; i < problem->n; i++) {
        const int *own = problem->labels + (size_t) i * M;
        int kind = 0;

        /* Itself at the latest. */
        first[kinds] = i;
        while (memcmp(problem->labels + (size_t) first[kind] * M, own, M * sizeof(int)) != 0)
            kind++;
        set->kind[i] = kind;
        if (kind < kinds) continue;
        for (size_t k = 0; k < M; k++) set->label[(size_t) kind + k * N] = own[k];
        kinds++;
    }
}

/* Sample j and all kinds up to its own, for weights (m) of the clusterings; columns in order. */
static void column_begin(agreement *set, int j, const double *weight)
{
    if (j == 0) set->seen = 0;
    if (set->kind[j] == set->seen) set->seen++;
    for (int d = 0; d < set->seen; d++) set->join[d] = set->near[d] = set->far[d] = 0.0;
    for (int k = 0; k < set->m; k++) {
        const int *label = set->label + (size_t) k * (size_t) set->n;
        int own = label[set->kind[j]];
        for (int d = 0; d < set->seen; d++) set->join[d] += label[d] == own ? weight[k] : 0.0;
    }
}

/* What the pairs of the column add to the errors (m), each as (i, j) and (j, i). Only sums of
 * squares: nothing cancels. */
static void column_end(const agreement *set, int j, double *error)
{
    for (int k = 0; k < set->m; k++) {
        const int *label = set->label + (size_t) k * (size_t) set->n;
        int own = label[set->kind[j]];
        double sum = 0.0;

        for (int d = 0; d < set->seen; d++) sum += label[d] == own ? set->near[d] : set->far[d];
        error[k] = (j == 0 ? 0.0 : error[k]) + 2.0 * sum;
    }
}

/* ---- the blocks ------------------------------------------------------------------ */

/* YY': the c smallest eigenvectors of L(S), ties shared. */
static void update_y(blfse_work *work)
{
    low_split split;
    int k = 0;

    if (work->stays) return;
    work->run->lapack = low_laplacian(&work->low, work->result->s, work->degree, work->a, work->b,
                                      &k, &split);
    if (work->run->lapack) return;
    /* The factor is where it was made; the one before the last is of no use any more. */
    double *spare = work->y_old.v;
    work->y_old = work->y;
    work->y = (blfse_factor){work->b, k};
    work->b = spare;
    rank_term(work);
}

/* N: the c smallest eigenvectors of A_v = diag(v) G diag(v), ties shared. */
static void update_p(blfse_work *work)
{
    work->run->lapack = projector_update(&work->projector, work->result->v);
}

/* W_ij = min(1, lambda / (2 A_ij)), A_ij = sum_k beta_k^2 (S_ij - S_ij^(k))^2
 * = q (1 - S_ij)^2 + (sum beta^2 - q) S_ij^2 with q the weight of those that agree. */
static void update_w(blfse_work *work)
{
    blfse_result *result = work->result;
    agreement *set = &work->together;
    int n = work->problem->n;
    double total = 0.0, sum = 0.0;

    for (int k = 0; k < work->problem->m; k++) total += work->beta2[k];
    for (int j = 0; j < n; j++) {
        const double *sj = result->s + la_packed_column(j);
        double *wj = result->w + la_packed_column(j);
        column_begin(set, j, work->beta2);
        for (int i = 0; i < j; i++) {
            double s = sj[i], q = set->join[set->kind[i]], w = 1.0;
            /* Where no clustering joins them and S_ij is 0, so are A_ij and what it adds. */
            if (!(q == 0.0 && s == 0.0)) {
                double a = q * (1.0 - s) * (1.0 - s) + positive(total - q) * s * s;
                if (2.0 * a > work->lambda) w = work->lambda / (2.0 * a);
                add_error(set, set->kind[i], w, s);
            }
            wj[i] = w;
            sum += w;
        }
        wj[j] = 1.0;
        column_end(set, j, work->error_s);
        if (j % UFS_STRIP == 0) R_CheckUserInterrupt();
    }
    work->sum_w = (double) n + 2.0 * sum;
    work->t3 = -work->settings->gamma_cluster * work->lambda * work->sum_w;
    ensemble_terms(work);
}

static void update_v(blfse_work *work)
{
    blfse_result *result = work->result;
    qp_info info;

    projector_weights(&work->projector, result->alpha, result->v, &info);
    result->products += info.products;
    result->kkt = fmax(result->kkt, info.rel);
    result->gap = fmax(result->gap, info.gap);
    feature_errors(work);
}

/* S_ij = clip((sum_k beta_k^2 S_ij^(k) - (B_ij + rho C_ij) / (2 W_ij^2)) / sum beta^2). */
static void update_s(blfse_work *work)
{
    blfse_result *result = work->result;
    agreement *set = &work->together;
    int n = work->problem->n;
    double total = 0.0, moved = 0.0, half = 0.5 / work->settings->gamma_cluster, t1 = 0.0, t5 = 0.0;

    projector_factor(&work->projector, result->v, work->b, work->square_b);
    for (int k = 0; k < work->problem->m; k++) total += work->beta2[k];
    for (int from = 0; from < n; from += UFS_STRIP) {
        int width = n - from < UFS_STRIP ? n - from : UFS_STRIP, rows = from + width;
        projector_tile(&work->projector, result->v, work->b, from, width, work->tile_b);
        tile_y(work, from, width);
        R_CheckUserInterrupt();
        for (int j = from; j < rows; j++) {
            const double *kb = work->tile_b + (size_t) (j - from) * (size_t) rows;
            const double *kc = work->tile_c + (size_t) (j - from) * (size_t) rows;
            const double *wj = result->w + la_packed_column(j);
            double bj = work->square_b[j], cj = work->square_c[j];
            double *sj = result->s + la_packed_column(j);
            column_begin(set, j, work->beta2);
            for (int i = 0; i < j; i++) {
                double q = set->join[set->kind[i]], w, s, b, c;
                /* No clustering joins them: S_ij is 0 and has been so. */
                if (q == 0.0 && sj[i] == 0.0) continue;
                w = wj[i];
                b = positive(work->square_b[i] + bj - 2.0 * kb[i]);
                c = result->rho * positive(work->square_c[i] + cj - 2.0 * kc[i]);
                /* Most pairs have W = 1, and a division takes its time. */
                s = (q - (w < 1.0 ? (b + c) / (w * w) : b + c) * half) / total;
                s = s > 1.0 ? 1.0 : s > 0.0 ? s : 0.0;
                if (!(fabs(s - sj[i]) <= moved)) moved = fabs(s - sj[i]);
                sj[i] = s;
                t1 += 2.0 * s * b;
                t5 += 2.0 * s * c;
                add_error(set, set->kind[i], w, s);
            }
            column_end(set, j, work->error_s);
        }
    }
    work->projector.t1 = t1;
    work->t5 = t5;
    work->moved_s = moved;
    ensemble_terms(work);
    /* As long as S stays and has its c components, which no heavier or lighter rho follows, G and Y
     * are what they are. */
    work->stays = moved == 0.0 && result->n_component == work->problem->c;
    if (!work->stays) new_s(work);
}

/* Minimiser of sum weight^2 error on the simplex; errors below the floor count as equal. */
static void inverse_weights(int m, const double *error, double *weight)
{
    double sum = 0.0;
    for (int k = 0; k < m; k++) sum += weight[k] = 1.0 / fmax(error[k], DBL_EPSILON);
    for (int k = 0; k < m; k++) weight[k] /= sum;
}

static void update_beta(blfse_work *work)
{
    double *beta = work->result->beta;
    inverse_weights(work->problem->m, work->error_s, beta);
    for (int k = 0; k < work->problem->m; k++) work->beta2[k] = beta[k] * beta[k];
    ensemble_terms(work);
}

static void update_alpha(blfse_work *work)
{
    inverse_weights(work->problem->m, work->error_v, work->result->alpha);
    ensemble_terms(work);
}

/* Too few components: a heavier penalty. Too many: a lighter one, and the last Y step
 * is taken back. */
static void update_rho(blfse_work *work)
{
    blfse_result *result = work->result;
    if (result->n_component < work->problem->c) {
        result->rho *= 2.0;
        work->t5 *= 2.0;
    } else if (result->n_component > work->problem->c) {
        blfse_factor last = work->y;
        result->rho *= 0.5;
        work->y = work->y_old;
        work->y_old = last;
        rank_term(work);
    }
}

/* ---- set-up ------------------------------------------------------------------------------ */

static void init(blfse_work *work, const blfse_problem *problem, const blfse_settings *settings,
                 blfse_result *result, ufs_run *run)
{
    size_t N = (size_t) problem->n, P = (size_t) problem->p, M = (size_t) problem->m;
    /* The dense form may be asked for with p > n; then R has up to p columns. */
    size_t most = P > N && settings->form == BLFSE_DENSE ? P : N;

    *work = (blfse_work){.problem = problem,
                         .settings = settings,
                         .result = result,
                         .run = run,
                         .y = {ufs_dalloc(N, most), 0},
                         .y_old = {ufs_dalloc(N, most), 0},
                         .a = ufs_dalloc(N, N),
                         .b = ufs_dalloc(N, most),
                         .weights = ufs_dalloc(M, 2),
                         .v_old = ufs_dalloc(P, 1),
                         .order = ufs_ialloc(N)};
    ufs_dalloc_each(N, UFS_STRIP, (double **[]){&work->tile_b, &work->tile_c, NULL});
    ufs_dalloc_each(N, 1, (double **[]){&work->square_b, &work->square_c, &work->degree, NULL});
    ufs_dalloc_each(M, 1, (double **[]){&work->error_s, &work->error_v, &work->beta2, NULL});
    result->p_unique = true;
    run->status = UFS_MAX_ITER;
    projector_init(&work->projector, problem, settings, result);
    agreement_init(&work->together, problem);
    low_init(&work->low, problem->n, problem->c);
}

/* v, S: means of the base results; W = 1; alpha, beta uniform; rho = 1; P and Y from
 * these. */
static void start(blfse_work *work)
{
    const blfse_problem *problem = work->problem;
    blfse_result *result = work->result;
    agreement *set = &work->together;
    int n = problem->n, m = problem->m;
    double even = 1.0 / (double) m;

    for (int k = 0; k < m; k++) {
        result->alpha[k] = result->beta[k] = even;
        work->beta2[k] = even * even;
    }
    la_gemv('N', problem->p, m, 1.0, problem->scores, problem->p, result->alpha, 0.0, result->v);
    for (size_t i = 0; i < la_packed_column(n); i++) result->w[i] = 1.0;
    work->sum_w = (double) n * (double) n;
    result->rho = 1.0;
    for (int j = 0; j < n; j++) {
        double *column = result->s + la_packed_column(j);
        column_begin(set, j, result->beta);
        for (int i = 0; i < j; i++) {
            column[i] = set->join[set->kind[i]];
            add_error(set, set->kind[i], 1.0, column[i]);
        }
        column[j] = 1.0;
        column_end(set, j, work->error_s);
        if (j % UFS_STRIP == 0) R_CheckUserInterrupt();
    }
    feature_errors(work);
    new_s(work);
    if (!work->run->lapack) update_y(work);
    if (!work->run->lapack) update_p(work);
}

/* ---- the whole --------------------------------------------------------------------------- */

void blfse_solve(const blfse_problem *problem, const blfse_settings *settings, blfse_result *result,
                 ufs_run *run)
{
    static const char *const columns[] = {"iteration", "psi",  "it",  "block",     "rho",
                                          "nc",        "ties", "nnz", "objective", "T1",
                                          "T2",        "T3",   "T4",  "T5",        NULL};
    static const char *const history[] = {"psi", "it",   "rho",  "ncomp", "ntieP", "nnz",
                                          "dv",  "amax", "bmax", "wmean", NULL};
    blfse_work data, *work = &data;

    ufs_trace_named(&run->trace, INT_MAX, columns);
    ufs_trace_named(&result->history, INT_MAX, history);
    ufs_trace_init(&result->weights, INT_MAX, 2 * problem->m);
    init(work, problem, settings, result, run);
    start(work);
    for (int stage = 0; stage < settings->n_psi; stage++) {
        work->psi = settings->psi[stage];
        work->it = 0;
        work->lambda = 2.0 * work->psi * (1.0 - work->psi) / problem->m;
        work->t3 = -settings->gamma_cluster * work->lambda * work->sum_w;
        record(work, BLFSE_START);
        update_block(work, update_w, BLFSE_W);
        while (work->it < settings->inner_max && run->iterations < run->max_iter) {
            double moved_v = 0.0;
            work->it++;
            ufs_copy(work->v_old, result->v, (size_t) problem->p);
            update_block(work, update_p, BLFSE_P);
            if (settings->order == BLFSE_V_FIRST) update_block(work, update_v, BLFSE_V);
            update_block(work, update_s, BLFSE_S);
            if (settings->order == BLFSE_S_FIRST) update_block(work, update_v, BLFSE_V);
            update_block(work, update_y, BLFSE_Y);
            update_block(work, update_beta, BLFSE_BETA);
            update_block(work, update_alpha, BLFSE_ALPHA);

            run->iterations++;
            for (int i = 0; i < problem->p; i++) moved_v += fabs(result->v[i] - work->v_old[i]);
            remember(work, moved_v);
            ufs_run_step(run, objective(work), moved_v);
            run->status = result->n_component == problem->c ? UFS_CONVERGED : UFS_MAX_ITER;
            if (run->lapack) return;
            if (!R_FINITE(objective(work)) || !(result->kkt <= 1e-6)) {
                run->status = UFS_NUMERICAL;
                return;
            }
            update_rho(work);
            if (result->n_component == problem->c && work->it >= 2) break;
            if (moved_v < run->tol && work->moved_s < run->tol) break;
        }
    }
}
