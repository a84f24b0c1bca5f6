/* css_rows.c: column subset selection by xx': the n-form of css_solve.c. */
#include "css_work.h"

/* ---- f and d as differences ------------------------------------------------------------------ */

static const double RENEW = 1e-4;

const double *css_cross(css_work *work, int j)
{
    const double *column = ufs_x_column(work->problem->x, j, work->pair);

    ufs_x_cross(work->problem->x, 1, column, work->pass);
    return work->pass;
}

/* Called for j = 0, ..., p - 1: `measure` does the columns of `list`, a tile of those that are wanted. */
static void css_in_turn(css_work *work, int j, bool wanted, void (*measure)(css_work *work))
{
    if (wanted) work->list[work->n_list++] = j;
    if (work->n_list < work->tile && (work->n_list == 0 || j < work->p - 1)) return;
    R_CheckUserInterrupt();
    measure(work);
    work->n_list = 0;
}

void css_renew(css_work *work, void (*measure)(css_work *work))
{
    for (int i = 0; i < work->p; i++) {
        bool stale = work->f[i] < RENEW * work->f0[i] || work->d[i] < RENEW * work->d0[i];
        css_in_turn(work, i, stale && !work->chosen[i] && work->d[i] > UFS_TIE * work->norm2[i],
                    measure);
    }
}

/* y (n x m) <- P y; for mu = 0 twice, so that R stays orthonormal. coef: R'y, or NULL. */
static void project(css_work *work, int m, double *y, double *coef)
{
    int n = work->n, t = work->n_basis;

    if (t == 0) return;
    for (int l = 0; l < t && coef; l++) coef[l] = 0.0;
    for (int twice = work->mu > 0.0 ? 1 : 0; twice < 2; twice++) {
        la_mul('T', 'N', t, m, n, 1.0, work->r, y, 0.0, work->s);
        la_mul('N', 'N', n, m, t, -1.0, work->r, work->s, 1.0, y);
        if (coef) la_axpy(t, 1.0, work->s, coef);
    }
}

/* f_j = y'Gy, with what is above the diagonal blocks of G twice: half the flops of Gy. */
static void measure(css_work *work)
{
    int n = work->n, n_list = work->n_list;
    size_t N = (size_t) n;

    ufs_x_columns(work->problem->x, n_list, work->list, work->y);
    if (work->mu > 0.0) ufs_copy(work->own, work->y, N * (size_t) n_list);
    project(work, n_list, work->y, NULL);
    memset(work->z, 0, N * (size_t) n_list * sizeof(double));
    for (int from = 0; from < n; from += UFS_STRIP) {
        int wide = n - from < UFS_STRIP ? n - from : UFS_STRIP;
        const double *g = work->target + (size_t) from * N, *y = work->y + from;
        la_gemm('N', 'N', from, n_list, wide, 2.0, g, n, y, n, 1.0, work->z, n);
        la_gemm('N', 'N', wide, n_list, wide, 1.0, g + from, n, y, n, 1.0, work->z + from, n);
    }
    for (int b = 0; b < n_list; b++) {
        const double *y = work->y + (size_t) b * N;
        int j = work->list[b];
        work->f[j] = work->f0[j] = la_dot(n, y, work->z + (size_t) b * N);
        work->d[j] = work->d0[j] = la_dot(n, y, work->mu > 0.0 ? work->own + (size_t) b * N : y);
    }
}

static void allocate(css_work *work)
{
    size_t n = (size_t) work->n, k = (size_t) work->settings->k, tile;

    work->pair = ufs_dalloc(n, 2 * (work->settings->max_swaps > 0 ? CSS_TRIES : 1));
    work->r = ufs_dalloc(n, k);
    work->t = ufs_dalloc(k, k);
    work->tile = ufs_x_at_once(work->problem->x);
    if (work->tile > 64) {
        double share = (double) work->n / ((double) work->n + (double) k);
        work->tile = (int) fmax(64.0, work->tile * share);
    }
    tile = (size_t) work->tile;
    ufs_dalloc_each(n, tile, (double **[]){&work->y, &work->z, NULL});
    work->own = ufs_dalloc(work->mu > 0.0 ? n : 0, tile);
    work->s = ufs_dalloc(k, tile);
    work->list = ufs_ialloc(tile);
}

static int set_target(css_work *work)
{
    int n = work->n, r = work->settings->target, info;
    size_t N = (size_t) n, R = (size_t) r;

    work->target = ufs_dalloc(N, N);
    work->component = ufs_dalloc(R, 1);
    void *mark = vmaxget();
    double *z = ufs_dalloc(N, R);
    info = css_target(work, n, z);
    for (size_t t = 0; t < R && info == 0; t++)
        for (size_t i = 0; i < N; i++) z[i + t * N] *= sqrt(work->component[t]);
    if (info == 0) la_gram('N', n, r, z, work->target);
    vmaxset(mark);
    return info;
}

/* Before the first pick f_j = x_j'YY'x_j, for which the entries of a sparse column are enough. */
static int begin(css_work *work)
{
    int info = 0;

    allocate(work);
    work->target = work->gram = css_gram_of(work->problem, false);
    work->n_target = work->p;
    if (work->settings->target > 0) info = set_target(work);
    if (info) return info;
    ufs_x_forms(work->problem->x, work->target, work->f);
    for (int j = 0; j < work->p; j++) {
        if (j % 256 == 0) R_CheckUserInterrupt();
        css_in_turn(work, j, !R_FINITE(work->f[j]), measure);
    }
    ufs_copy(work->f_first, work->f, (size_t) work->p);
    return 0;
}

static void take(css_work *work, int j)
{
    int n = work->n, m = work->n_basis;
    size_t N = (size_t) n, P = (size_t) work->p, K = (size_t) work->settings->k;
    double *r = work->pair, *g = r + N, *coef = work->t + (size_t) m * K, left;
    const double *column = ufs_x_column(work->problem->x, j, g);

    ufs_copy(r, column, N);
    project(work, 1, r, coef);
    left = work->mu > 0.0 ? la_dot(n, column, r) + work->mu : la_dot(n, r, r);
    if (work->mu == 0.0 && left <= UFS_TIE * work->norm2[j]) return;
    coef[m] = sqrt(left);
    for (int l = 0; l < m; l++) work->t[(size_t) m + (size_t) l * K] = 0.0;
    for (size_t i = 0; i < N; i++) r[i] /= sqrt(left);
    la_gemv('N', n, n, 1.0, work->target, n, r, 0.0, g);
    double size = la_dot(n, r, g);
    project(work, 1, g, NULL);
    ufs_x_cross_rows(work->problem->x, 2, work->pair, work->pass);
    for (size_t i = 0; i < P; i++) {
        double w = work->pass[2 * i], v = work->pass[2 * i + 1];
        work->f[i] += w * (size * w - 2.0 * v);
        work->d[i] -= w * w;
    }
    ufs_copy(work->r + (size_t) m * N, r, N);
    work->member[work->n_basis++] = j;
    css_renew(work, measure);
}

/* X_S = R T; the dual vectors are R T^-T. */
static void invert(css_work *work)
{
    size_t M = (size_t) work->n_basis, K = (size_t) work->settings->k;

    for (size_t l = 0; l < M; l++) ufs_copy(work->inverse + l * M, work->t + l * K, M);
    la_lu_inverse(work->n_basis, work->inverse, work->pivot, work->lu, work->n_basis);
    for (size_t b = 0; b < M; b++) {
        double own = 0.0;
        for (size_t i = 0; i < M; i++) own += work->inverse[b + i * M] * work->inverse[b + i * M];
        own = sqrt(own);
        for (size_t i = 0; i < M && own > 0.0; i++) work->inverse[b + i * M] /= own;
    }
}

static void look(css_work *work, int m)
{
    int n = work->n, c = work->n_basis;
    size_t N = (size_t) n;
    double *u = work->pair, *g = u + N * (size_t) m;

    la_mul('N', 'N', n, m, c, 1.0, work->r, work->dual, 0.0, u);
    la_mul('N', 'N', n, m, n, 1.0, work->target, u, 0.0, g);
    for (int l = 0; l < m; l++) work->size[l] = la_dot(n, u + (size_t) l * N, g + (size_t) l * N);
    project(work, m, g, NULL);
    ufs_x_cross_rows(work->problem->x, 2 * m, u, work->pass);
}

/* R and T are reflected so that the freed direction comes last, and lose it: the reflection takes the
 * dual vector to it. */
static void back(css_work *work, int b)
{
    int n = work->n, m = work->n_basis;
    size_t N = (size_t) n, K = (size_t) work->settings->k;
    double *v = work->dual, *scratch = work->pair, size, sign = v[m - 1] < 0.0 ? -1.0 : 1.0;

    for (size_t i = 0; i < (size_t) work->p; i++) {
        double at = work->pass[2 * i], to = work->pass[2 * i + 1];
        work->d[i] += at * at;
        work->f[i] += at * (2.0 * to + at * work->size[0]);
        work->f0[i] = fmax(work->f0[i], work->f[i]);
        work->d0[i] = fmax(work->d0[i], work->d[i]);
    }
    v[m - 1] += sign;
    size = la_dot(m, v, v);
    la_gemv('N', n, m, 1.0, work->r, n, v, 0.0, scratch);
    for (int l = 0; l < m; l++) la_axpy(n, -2.0 / size * v[l], scratch, work->r + (size_t) l * N);
    for (int l = 0; l < m; l++) {
        double *col = work->t + (size_t) l * K;
        la_axpy(m, -2.0 / size * la_dot(m, v, col), v, col);
    }
    for (size_t l = (size_t) b; l + 1 < (size_t) m; l++)
        ufs_copy(work->t + l * K, work->t + (l + 1) * K, K);
}

const css_form css_by_rows = {begin, NULL, take, css_cross, invert, look, back};
