/* css_gram.c: column subset selection by x'x: the p-form of css_solve.c. */
#include "css_work.h"
#include "eig.h"

bool css_cheaper_by_gram(const css_problem *problem, int k)
{
    double n = problem->n, p = problem->p, entries = ufs_x_entries(problem->x);

    if (problem->x->kind == UFS_X_SPARSE)
        return entries * entries / n + 4.0 * k * p * p <
               2.0 * entries * entries / p + (4.0 * entries + 8.0 * n * n) * k;
    return n * p * p + 4.0 * k * p * p < 2.0 * n * n * p + 4.0 * n * p * k;
}

double *css_gram_of(const css_problem *problem, bool by_columns)
{
    size_t order = (size_t) (by_columns ? problem->p : problem->n);
    double *gram = ufs_dalloc(order, order);

    if (by_columns)
        ufs_x_gram_cols(problem->x, gram);
    else
        ufs_x_gram_rows(problem->x, NULL, gram);
    return gram;
}

int css_target(css_work *work, int order, double *z)
{
    int r = work->settings->target, info;
    size_t N = (size_t) order;
    double *copy = ufs_dalloc(N, N);

    ufs_copy(copy, work->gram, N * N);
    info = eig_leading(order, copy, r, work->component, z);
    work->total = 0.0;
    for (int t = 0; t < r && info == 0; t++)
        work->total += work->component[t] = fmax(work->component[t], 0.0);
    work->n_target = r;
    return info;
}

static void measure(css_work *work)
{
    size_t P = (size_t) work->p, Q = (size_t) work->n_target;

    for (size_t j = 0; j < P; j++) {
        work->f[j] = la_dot(work->n_target, work->rest + j * Q, work->rest + j * Q);
        work->d[j] = work->deflated[j + j * P];
    }
}

/* With Y = x z, Y'x is z'x'x, not the eigenvalues times z', which has no digits where the column is of
 * another scale. */
static int begin(css_work *work)
{
    int p = work->p, r = work->settings->target, info = 0;
    size_t P = (size_t) p, Q = (size_t) r;

    work->pair = ufs_dalloc(P, (size_t) work->settings->k);
    work->target = work->gram = css_gram_of(work->problem, true);
    work->rest = work->deflated = ufs_dalloc(P, P);
    work->n_target = p;
    if (r > 0) {
        ufs_dalloc_each(Q, P, (double **[]){&work->target, &work->rest, NULL});
        work->component = ufs_dalloc(Q, 1);
        void *mark = vmaxget();
        double *z = ufs_dalloc(P, Q);
        info = css_target(work, p, z);
        if (info == 0) la_mul('T', 'N', r, p, p, 1.0, z, work->gram, 0.0, work->target);
        vmaxset(mark);
    }
    work->along = ufs_dalloc((size_t) work->n_target, CSS_TRIES);
    for (size_t j = 0; j < P; j++) {
        const double *column = work->target + j * (size_t) work->n_target;
        work->f_first[j] = la_dot(work->n_target, column, column);
    }
    return info;
}

static void clear(css_work *work)
{
    size_t P = (size_t) work->p;

    ufs_copy(work->deflated, work->gram, P * P);
    if (work->rest != work->deflated)
        ufs_copy(work->rest, work->target, P * (size_t) work->n_target);
}

static void take(css_work *work, int j)
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
    measure(work);
}

static const double *products(css_work *work, int j)
{
    return work->gram + (size_t) j * (size_t) work->p;
}

/* The dual vectors are X_S (X_S'X_S)^-1. */
static void invert(css_work *work)
{
    size_t M = (size_t) work->n_basis;

    for (size_t l = 0; l < M; l++)
        for (size_t i = 0; i < M; i++)
            work->inverse[i + l * M] = products(work, work->member[l])[work->member[i]];
    if (la_chol(work->n_basis, work->inverse) == 0) la_chol_inverse(work->n_basis, work->inverse);
    for (size_t b = 0; b < M; b++) {
        double own = sqrt(fmax(work->inverse[b * (M + 1)], 0.0));
        for (size_t i = 0; i < M && own > 0.0; i++) work->inverse[b + i * M] /= own;
    }
}

static void look(css_work *work, int m)
{
    int p = work->p, q = work->n_target, c = work->n_basis;
    size_t P = (size_t) p, Q = (size_t) q;

    for (size_t l = 0; l < (size_t) c; l++)
        ufs_copy(work->pair + l * P, products(work, work->member[l]), P);
    la_gemm('T', 'T', m, p, c, 1.0, work->dual, c, work->pair, p, 0.0, work->pass, 2 * m);
    if (work->rest == work->deflated) {
        for (size_t i = 0; i < P; i++)
            for (size_t l = 0; l < (size_t) m; l++)
                work->along[i + l * P] = work->pass[l + 2 * (size_t) m * i];
    } else {
        for (size_t l = 0; l < (size_t) c; l++)
            ufs_copy(work->pair + l * Q, work->target + (size_t) work->member[l] * Q, Q);
        la_mul('N', 'N', q, m, c, 1.0, work->pair, work->dual, 0.0, work->along);
    }
    la_gemm('T', 'N', m, p, q, 1.0, work->along, q, work->rest, q, 0.0, work->pass + m, 2 * m);
    for (int l = 0; l < m; l++) {
        const double *y = work->along + (size_t) l * Q;
        work->size[l] = la_dot(q, y, y);
    }
}

static void back(css_work *work, int b)
{
    int p = work->p, q = work->n_target;
    size_t P = (size_t) p, Q = (size_t) q;
    double *w = work->pair;

    (void) b;
    for (size_t i = 0; i < P; i++) w[i] = work->pass[2 * i];
    for (size_t i = 0; i < P; i++) {
        if (w[i] == 0.0) continue;
        if (work->rest != work->deflated) la_axpy(q, w[i], work->along, work->rest + i * Q);
        la_axpy(p, w[i], w, work->deflated + i * P);
    }
    measure(work);
}

const css_form css_by_gram = {begin, clear, take, products, invert, look, back};
