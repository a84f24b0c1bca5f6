/* css_form.c: one step of column subset selection: a column in, a column out, and what every
 * exchange would bring. Forms, flops and memory: base_css.c. */
#include "css_work.h"
#include "la.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

static const double RENEW = 1e-4;

/* ---- what may be chosen ------------------------------------------------------------------ */

double css_cost(const css_work *work, int j)
{
    return work->settings->wish.cost ? work->settings->wish.cost[j] : 1.0;
}

bool css_allowed(const css_work *work, int j)
{
    const css_wish *wish = &work->settings->wish;

    return !work->chosen[j] && !(wish->barred && wish->barred[j]) &&
           !(work->near && work->n_near[j] > 0) &&
           work->spent + css_cost(work, j) <= wish->budget * (1.0 + UFS_ROUNDING);
}

/* ---- f and d -------------------------------------------------------------------------------- */

/* y (n x m) <- P y; for mu = 0 twice, so that R stays orthonormal. coef: R'y, or NULL. */
static void project(css_work *work, int m, double *y, double *coef)
{
    int n = work->n, t = work->n_basis;

    if (t == 0) return;
    for (int l = 0; l < t && coef; l++) coef[l] = 0.0;
    for (int twice = work->mu > 0.0 ? 1 : 0; twice < 2; twice++) {
        la_gemm('T', 'N', t, m, n, 1.0, work->r, n, y, n, 0.0, work->s, t);
        la_gemm('N', 'N', n, m, t, -1.0, work->r, n, work->s, t, 1.0, y, n);
        if (coef) la_axpy(t, 1.0, work->s, coef);
    }
}

static void measure_p(css_work *work)
{
    size_t P = (size_t) work->p, Q = (size_t) work->n_target;

    for (size_t j = 0; j < P; j++) {
        const double *col = work->rest + j * Q;
        work->f[j] = la_dot(work->n_target, col, col);
        work->d[j] = work->deflated[j + j * P];
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

/* Columns in their order: those that are wanted are measured a tile at a time. */
static void measure_in_turn(css_work *work, int j, bool wanted)
{
    if (wanted) work->list[work->n_list++] = j;
    if (work->n_list < work->tile && (work->n_list == 0 || j < work->p - 1)) return;
    R_CheckUserInterrupt();
    if (work->x_form)
        css_measure_x(work);
    else
        measure(work);
    work->n_list = 0;
}

/* Before the first pick f_j = x_j'YY'x_j, for which the entries of a sparse column are enough. */
static void measure_first(css_work *work)
{
    if (work->p_form) {
        measure_p(work);
        return;
    }
    ufs_x_forms(work->problem->x, work->target, work->f);
    for (int j = 0; j < work->p; j++) {
        bool known = R_FINITE(work->f[j]);
        if (j % 256 == 0) R_CheckUserInterrupt();
        if (known) {
            work->f0[j] = work->f[j];
            work->d[j] = work->d0[j] = work->norm2[j];
        }
        measure_in_turn(work, j, !known);
    }
}

/* Differences that have lost digits are computed again. */
static void measure_stale(css_work *work)
{
    for (int i = 0; i < work->p; i++) {
        bool stale = work->f[i] < RENEW * work->f0[i] || work->d[i] < RENEW * work->d0[i];
        measure_in_turn(work, i,
                        stale && !work->chosen[i] && work->d[i] > UFS_TIE * work->norm2[i]);
    }
}

/* ---- set-up ------------------------------------------------------------------------------ */

bool css_cheaper_by_p(const css_problem *problem, int k)
{
    double n = problem->n, p = problem->p;
    return n * p * p + 4.0 * k * p * p < 2.0 * n * n * p + 4.0 * n * p * k;
}

double *css_gram_of(const css_problem *problem, bool p_form)
{
    size_t order = (size_t) (p_form ? problem->p : problem->n);
    double *gram = ufs_dalloc(order, order);

    if (p_form)
        ufs_x_gram_cols(problem->x, gram);
    else
        ufs_x_gram_rows(problem->x, NULL, gram);
    return gram;
}

static void allocate(css_work *work)
{
    const css_settings *settings = work->settings;
    size_t n = (size_t) work->n, p = (size_t) work->p, k = (size_t) settings->k, tile, tries;
    bool close = settings->wish.max_cor < 1.0;

    work->chosen = (bool *) R_alloc(p, sizeof(bool));
    ufs_ialloc_each(k, (int **[]){&work->order, &work->member, &work->pivot, NULL});
    ufs_dalloc_each(p, 1, (double **[]){&work->f, &work->d, &work->norm2, &work->f_first, NULL});
    tries = settings->max_swaps > 0 ? CSS_TRIES : 1;
    work->pass = ufs_dalloc(2 * tries, p);
    work->dual = ufs_dalloc(k, tries);
    work->size = ufs_dalloc(tries, 1);
    work->inverse = ufs_dalloc(settings->max_swaps > 0 ? k : 0, k);
    work->lu = ufs_dalloc(k, 1);
    work->near = close ? (unsigned char *) R_alloc(p * k, 1) : NULL;
    work->n_near = ufs_ialloc(close ? p : 0);
    if (work->p_form) {
        work->pair = ufs_dalloc(p, k);
        return;
    }
    ufs_dalloc_each(p, 1, (double **[]){&work->f0, &work->d0, NULL});
    work->pair = ufs_dalloc(n, 2 * tries);
    if (work->x_form) {
        work->w = ufs_dalloc(p, k);
        work->tile = CSS_TRIES;
        work->y = ufs_dalloc(n, CSS_TRIES);
        work->z = ufs_dalloc(p, CSS_TRIES);
        work->s = ufs_dalloc(k, CSS_TRIES);
        work->list = ufs_ialloc(CSS_TRIES);
        return;
    }
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

/* Y: the leading principal components of x, from the eigenvectors z of its Gram matrix. Y'x is z'x'x,
 * not the eigenvalues times z', which has no digits where the column is of another scale. */
static int set_target(css_work *work)
{
    int order = work->p_form ? work->p : work->n, r = work->settings->target, info;
    size_t N = (size_t) order, R = (size_t) r;
    double *w, *z, *copy;

    work->component = NULL;
    if (r == 0) return 0;
    w = work->component = ufs_dalloc(R, 1);
    work->target = work->p_form ? ufs_dalloc(R, N) : ufs_dalloc(N, N);
    if (work->p_form) work->rest = ufs_dalloc(R, N);
    void *mark = vmaxget();
    z = ufs_dalloc(N, R);
    copy = ufs_dalloc(N, N);
    ufs_copy(copy, work->gram, N * N);
    info = la_eig_leading(order, copy, r, w, z);
    if (info == 0) {
        work->total = 0.0;
        for (int t = 0; t < r; t++) work->total += w[t] = fmax(w[t], 0.0);
        if (work->p_form) {
            la_gemm('T', 'N', r, order, order, 1.0, z, order, work->gram, order, 0.0, work->target,
                    r);
        } else {
            for (size_t t = 0; t < R; t++)
                for (size_t i = 0; i < N; i++) z[i + t * N] *= sqrt(w[t]);
            la_gram('N', order, r, z, work->target);
        }
        work->n_target = r;
    }
    vmaxset(mark);
    return info;
}

void css_clear(css_work *work)
{
    size_t P = (size_t) work->p;

    work->n_chosen = work->n_basis = work->n_list = 0;
    work->inverted = false;
    work->value = work->spent = 0.0;
    for (size_t j = 0; j < P; j++) work->chosen[j] = false;
    if (work->near) memset(work->n_near, 0, P * sizeof(int));
    if (work->p_form) ufs_copy(work->deflated, work->gram, P * P);
    if (work->rest != work->deflated)
        ufs_copy(work->rest, work->target, P * (size_t) work->n_target);
    ufs_copy(work->f, work->f_first, P);
    ufs_copy(work->d, work->norm2, P);
    if (!work->p_form) {
        ufs_copy(work->f0, work->f_first, P);
        ufs_copy(work->d0, work->norm2, P);
    }
}

int css_begin(css_work *work)
{
    const css_problem *problem = work->problem;
    size_t P = (size_t) work->p;
    int info;

    allocate(work);
    ufs_x_ss(problem->x, work->norm2);
    work->total = 0.0;
    for (size_t j = 0; j < P; j++) work->total += work->norm2[j];
    if (work->x_form) {
        info = css_begin_x(work);
        if (info == 0) css_clear(work);
        return info;
    }
    work->target = work->gram = css_gram_of(problem, work->p_form);
    work->n_target = work->p;
    if (work->p_form) work->rest = work->deflated = ufs_dalloc(P, P);
    info = set_target(work);
    if (info) return info;
    if (work->p_form) work->along = ufs_dalloc((size_t) work->n_target, CSS_TRIES);
    work->n_chosen = work->n_basis = 0;
    css_clear(work);
    measure_first(work);
    ufs_copy(work->f_first, work->f, P);
    return 0;
}

/* ---- a column in -------------------------------------------------------------------------- */

double css_decrease(const css_work *work, int j)
{
    if (!(work->d[j] > UFS_TIE * work->norm2[j])) return 0.0;
    return fmax(work->f[j], 0.0) / (work->d[j] + work->mu);
}

/* Columns that are too close to column j, which takes the next place of the order. */
static void mark_near(css_work *work, int j)
{
    size_t P = (size_t) work->p, J = (size_t) j;
    unsigned char *near = work->near + (size_t) work->n_chosen * P;
    double most = work->settings->wish.max_cor * (1.0 + UFS_ROUNDING);

    if (work->p_form) {
        for (size_t i = 0; i < P; i++) work->pass[i] = work->gram[i + J * P];
    } else {
        const double *column = ufs_x_column(work->problem->x, j, work->pair);
        ufs_x_cross(work->problem->x, 1, column, work->pass);
    }
    for (size_t i = 0; i < P; i++) {
        near[i] = fabs(work->pass[i]) > most * sqrt(work->norm2[i]) * sqrt(work->norm2[J]);
        work->n_near[i] += near[i];
    }
}

static void take_p(css_work *work, int j)
{
    int p = work->p, q = work->n_target;
    size_t P = (size_t) p, Q = (size_t) q;
    double *w = work->pair, *y = work->along, left = work->deflated[(size_t) j * (P + 1)], by;

    /* mu = 0: nothing left to deflate by. */
    if (work->mu == 0.0 && left <= UFS_TIE * work->norm2[j]) return;
    by = sqrt(fmax(left, 0.0) + work->mu);
    for (size_t i = 0; i < P; i++) w[i] = work->deflated[(size_t) j * P + i] / by;
    if (work->rest != work->deflated) {
        for (size_t i = 0; i < Q; i++) y[i] = work->rest[(size_t) j * Q + i] / by;
        for (size_t i = 0; i < P; i++) la_axpy(q, -w[i], y, work->rest + i * Q);
    }
    for (size_t i = 0; i < P; i++)
        if (w[i] != 0.0) la_axpy(p, -w[i], w, work->deflated + i * P);
    work->member[work->n_basis++] = j;
    measure_p(work);
}

static void take_n(css_work *work, int j)
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
    measure_stale(work);
}

static void span(css_work *work, int j)
{
    work->value += css_decrease(work, j);
    work->inverted = false;
    if (work->p_form) {
        take_p(work, j);
    } else if (!work->x_form) {
        take_n(work, j);
    } else if (css_take_x(work, j)) {
        work->member[work->n_basis++] = j;
        measure_stale(work);
    }
}

void css_take(css_work *work, int j)
{
    work->spent += css_cost(work, j);
    work->chosen[j] = true;
    if (work->near) mark_near(work, j);
    work->order[work->n_chosen++] = j;
    span(work, j);
}

/* ---- a column out ------------------------------------------------------------------------ */

/* Where the columns that span the choice are X_S = R T (n-form), the dual vectors are R T^-T;
 * p-form: X_S (X_S'X_S)^-1. */
static void invert(css_work *work)
{
    int m = work->n_basis;
    size_t M = (size_t) m, K = (size_t) work->settings->k, P = (size_t) work->p;

    if (work->inverted || m == 0) return;
    for (size_t l = 0; l < M; l++)
        for (size_t i = 0; i < M; i++)
            work->inverse[i + l * M] =
                work->p_form ? work->gram[(size_t) work->member[i] + (size_t) work->member[l] * P]
                             : work->t[i + l * K];
    if (!work->p_form)
        la_lu_inverse(m, work->inverse, work->pivot, work->lu, m);
    else if (la_chol(m, work->inverse) == 0)
        la_chol_inverse(m, work->inverse);
    work->inverted = true;
}

static int member_at(const css_work *work, int j)
{
    for (int b = 0; b < work->n_basis; b++)
        if (work->member[b] == j) return b;
    return -1;
}

/* The column of `dual` for the one at this place of the order: zero where it adds nothing. */
static void dual_of(const css_work *work, int at, double *dual)
{
    int m = work->n_basis, b = member_at(work, work->order[at]);
    size_t M = (size_t) m;
    double own;

    if (b < 0) {
        for (int i = 0; i < m; i++) dual[i] = 0.0;
        return;
    }
    /* Row b of the inverse of T; the inverse of x_S'x_S is symmetric. */
    for (size_t i = 0; i < M; i++) dual[i] = work->inverse[(size_t) b + i * M];
    own = work->p_form ? sqrt(fmax(dual[b], 0.0)) : la_nrm2(m, dual);
    for (size_t i = 0; i < M && own > 0.0; i++) dual[i] /= own;
}

static void try_p(css_work *work, int m)
{
    int p = work->p, q = work->n_target, c = work->n_basis;
    size_t P = (size_t) p, Q = (size_t) q;

    for (size_t l = 0; l < (size_t) c; l++)
        ufs_copy(work->pair + l * P, work->gram + (size_t) work->member[l] * P, P);
    la_gemm('T', 'T', m, p, c, 1.0, work->dual, c, work->pair, p, 0.0, work->pass, 2 * m);
    if (work->rest == work->deflated) {
        for (size_t i = 0; i < P; i++)
            for (size_t l = 0; l < (size_t) m; l++)
                work->along[i + l * P] = work->pass[l + 2 * (size_t) m * i];
    } else {
        for (size_t l = 0; l < (size_t) c; l++)
            ufs_copy(work->pair + l * Q, work->target + (size_t) work->member[l] * Q, Q);
        la_gemm('N', 'N', q, m, c, 1.0, work->pair, q, work->dual, c, 0.0, work->along, q);
    }
    la_gemm('T', 'N', m, p, q, 1.0, work->along, q, work->rest, q, 0.0, work->pass + m, 2 * m);
    for (int l = 0; l < m; l++) {
        const double *y = work->along + (size_t) l * Q;
        work->size[l] = la_dot(q, y, y);
    }
}

static void try_n(css_work *work, int m)
{
    int n = work->n;
    size_t N = (size_t) n;
    double *u = work->pair, *g = u + N * (size_t) m;

    la_gemm('N', 'N', n, m, work->n_basis, 1.0, work->r, n, work->dual, work->n_basis, 0.0, u, n);
    la_gemm('N', 'N', n, m, n, 1.0, work->target, n, u, n, 0.0, g, n);
    for (int l = 0; l < m; l++) work->size[l] = la_dot(n, u + (size_t) l * N, g + (size_t) l * N);
    project(work, m, g, NULL);
    ufs_x_cross_rows(work->problem->x, 2 * m, u, work->pass);
}

void css_try(css_work *work, int m, const int *at)
{
    size_t len = 2 * (size_t) m * (size_t) work->p;

    R_CheckUserInterrupt();
    if (work->n_basis == 0) {
        for (size_t i = 0; i < len; i++) work->pass[i] = 0.0;
        for (int l = 0; l < m; l++) work->size[l] = 0.0;
        return;
    }
    invert(work);
    for (int l = 0; l < m; l++)
        dual_of(work, at[l], work->dual + (size_t) l * (size_t) work->n_basis);
    if (work->p_form)
        try_p(work, m);
    else
        try_n(work, m);
}

/* R and T reflected so that the freed direction comes last, and without it: the reflection takes the
 * dual vector to it. */
static void free_direction(css_work *work, int b)
{
    int n = work->n, m = work->n_basis;
    size_t N = (size_t) n, K = (size_t) work->settings->k;
    double *v = work->dual, *scratch = work->pair, size, sign = v[m - 1] < 0.0 ? -1.0 : 1.0;

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

/* f, d and what is deflated, as if what css_try() looked at last had never been taken. */
static void put_back(css_work *work)
{
    int p = work->p, q = work->n_target;
    size_t P = (size_t) p, Q = (size_t) q;
    double *w = work->pair;

    if (work->p_form) {
        for (size_t i = 0; i < P; i++) w[i] = work->pass[2 * i];
        for (size_t i = 0; i < P; i++) {
            if (w[i] == 0.0) continue;
            if (work->rest != work->deflated) la_axpy(q, w[i], work->along, work->rest + i * Q);
            la_axpy(p, w[i], w, work->deflated + i * P);
        }
        measure_p(work);
        return;
    }
    for (size_t i = 0; i < P; i++) {
        double b = work->pass[2 * i], v = work->pass[2 * i + 1];
        work->d[i] += b * b;
        work->f[i] += b * (2.0 * v + b * work->size[0]);
        work->f0[i] = fmax(work->f0[i], work->f[i]);
        work->d0[i] = fmax(work->d0[i], work->d[i]);
    }
}

static void forget(css_work *work, int at)
{
    size_t P = (size_t) work->p, after = (size_t) (work->n_chosen - at - 1);
    unsigned char *near = work->near ? work->near + (size_t) at * P : NULL;
    int j = work->order[at];

    work->chosen[j] = false;
    work->spent -= css_cost(work, j);
    if (near) {
        for (size_t i = 0; i < P; i++) work->n_near[i] -= near[i];
        memmove(near, near + P, after * P);
    }
    memmove(work->order + at, work->order + at + 1, after * sizeof(int));
    work->n_chosen--;
}

void css_drop(css_work *work, int at)
{
    int b = member_at(work, work->order[at]);

    if (b < 0) {
        forget(work, at);
        return;
    }
    css_try(work, 1, &at);
    put_back(work);
    work->value -= work->size[0];
    if (!work->p_form) free_direction(work, b);
    memmove(work->member + b, work->member + b + 1, (size_t) (work->n_basis - b - 1) * sizeof(int));
    work->n_basis--;
    work->inverted = false;
    forget(work, at);
    /* Of chosen columns that depended on it one may add something now. */
    for (int l = 0; l < work->n_chosen; l++) {
        int j = work->order[l];
        if (work->d[j] > UFS_TIE * work->norm2[j] && member_at(work, j) < 0) span(work, j);
    }
}
