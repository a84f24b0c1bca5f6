#include "alfs_space.h"
#include "la.h"
#include <R_ext/Utils.h>

enum { DIRECT = 4 }; /* x itself serves as y from this ratio of its sides on */

static void set_sizes(alfs_space *space, int m, int q, bool wide, int k, int r, int rb);
static void set_values(alfs_space *space, const double *values, double unit, bool identity);
static void wide_thin(alfs_space *space, const alfs_data *data);

/* ---- set-up ---------------------------------------------------------------------- */

void alfs_space_full(alfs_space *space, const alfs_data *data)
{
    int m = data->m, q = data->q;
    bool direct, held = data->x->kind != UFS_X_DENSE;

    memset(space, 0, sizeof *space);
    space->unit = data->unit;
    if (data->identity) {
        set_sizes(space, m, q, false, q, q, q);
        space->y = data->x->dense;
    } else if (m > q && data->weights) {
        wide_thin(space, data);
        return;
    } else if (m <= q) {
        direct = q >= DIRECT * m || held;
        set_sizes(space, m, q, true, m, m, m);
        space->left = space->outer = data->vectors;
        space->right = direct ? data->vectors : NULL;
        space->y = data->x->dense;
        if (!direct) {
            double *y = ufs_dalloc((size_t) m, (size_t) q);
            la_gemm('T', 'N', m, q, m, 1.0, data->vectors, m, data->x->dense, m, 0.0, y, m);
            space->y = y;
        }
    } else {
        direct = m >= DIRECT * q || held;
        set_sizes(space, m, q, false, q, q, q);
        space->left = direct ? data->vectors : NULL;
        space->right = data->vectors;
        space->y = data->x->dense;
        if (!direct) {
            double *y = ufs_dalloc((size_t) m, (size_t) q);
            alfs_gemm(m, q, q, 1.0, data->x->dense, m, data->vectors, q, 0.0, y, m);
            space->y = y;
        }
    }
    set_values(space, data->values, data->unit, data->identity);
    if (!held) return;
    space->y = NULL;
    space->op = data->x;
    space->piece = ufs_dalloc((size_t) m, (size_t) space->width);
    space->index = ufs_ialloc((size_t) space->width);
}

/* Columns from, ..., from + n - 1 of y, of the wide form. */
static const double *columns_of_y(const alfs_space *space, int from, int n)
{
    if (space->op == NULL) return space->y + (size_t) from * (size_t) space->k;
    for (int j = 0; j < n; j++) space->index[j] = from + j;
    ufs_x_columns(space->op, n, space->index, space->piece);
    return space->piece;
}

/* Wide with m > q: y = diag(s) Q' (r x q), P = outer = x Q / s. The division asks for a
 * cut: directions below 1e-7 s_1 change the loss by less than its rounding. */
static void wide_thin(alfs_space *space, const alfs_data *data)
{
    int m = data->m, q = data->q, r = 0;
    size_t M = (size_t) m, Q = (size_t) q;

    while (r < q && data->values[r] > 1e-7 * data->values[0]) r++;
    set_sizes(space, m, q, true, r, r, r);
    space->unit = data->unit;
    double *y = ufs_dalloc((size_t) r, Q), *outer = ufs_dalloc(M, (size_t) r);
    alfs_gemm(m, r, q, 1.0, data->x->dense, m, data->vectors, q, 0.0, outer, m);
    for (size_t j = 0; j < (size_t) r; j++) {
        for (size_t i = 0; i < M; i++) outer[i + j * M] /= data->values[j];
        for (size_t i = 0; i < Q; i++)
            y[j + i * (size_t) r] = data->values[j] * data->vectors[i + j * Q];
    }
    space->y = y;
    space->left = space->outer = outer;
    set_values(space, data->values, data->unit, false);
    /* What was cut off is still part of D. */
    for (int j = r; j < q; j++) {
        double s = data->values[j] / data->unit;
        space->rest += s * s;
        space->total += s * s;
    }
}

static void set_sizes(alfs_space *space, int m, int q, bool wide, int k, int r, int rb)
{
    size_t R = (size_t) r, RB = (size_t) rb;
    /* Wide enough that acc (wide), or y (tall), is not read again too often; narrow enough
     * that a block is no copy of W. */
    int width = wide && m > 1024 ? m / 4 : 256, cached = 65536 / m;

    space->m = m;
    space->q = q;
    space->wide = wide;
    space->k = k;
    space->r = r;
    space->rb = rb;
    space->n_acc = wide ? m : k;
    space->p_acc = wide ? k : q;
    if (cached > width) width = cached;
    if (width > q / 4 && m > 1000) width = q / 4 > 16 ? q / 4 : 16;
    space->width = width > q ? q : width;
    space->a = ufs_dalloc(R, 1);
    space->b = ufs_dalloc(RB, 1);
    space->u = ufs_dalloc(R, 1);
    space->v = ufs_dalloc(RB, 1);
    space->target = ufs_dzero(R, RB);
    space->acc = ufs_dalloc((size_t) space->n_acc, (size_t) space->p_acc);
    space->half = ufs_dalloc((size_t) space->n_acc > R ? (size_t) space->n_acc : R,
                             (size_t) space->p_acc > RB ? (size_t) space->p_acc : RB);
    space->block = ufs_dalloc((size_t) m, (size_t) space->width);
}

static void set_values(alfs_space *space, const double *values, double unit, bool identity)
{
    size_t R = (size_t) space->r;

    for (size_t i = 0; i < R; i++) {
        space->a[i] = values[i] / unit;
        space->b[i] = identity ? 1.0 : space->a[i];
        space->u[i] = space->wide ? space->a[i] : 1.0;
        space->v[i] = space->wide ? 1.0 : space->b[i];
        space->target[i + i * R] = space->a[i];
        space->total += space->a[i] * space->a[i];
    }
}

int alfs_space_columns(alfs_space *space, const alfs_space *full, int n_col, const double *x)
{
    int m = full->m, r = full->r, small = n_col < m ? n_col : m, rb = 0, lapack;
    bool thin = n_col < m;
    size_t M = (size_t) m, Q = (size_t) n_col, N = (size_t) small;
    double *gram = ufs_dalloc(N, N), *value = ufs_dalloc(N, 1), *vector = ufs_dalloc(N, N);
    double *outer;

    la_gram(thin ? 'T' : 'N', m, n_col, x, gram);
    lapack = la_eig_range(small, gram, 1, small, value, vector);
    if (lapack) return lapack;
    /* Ascending; thin asks for the cut of wide_thin(). */
    if (thin)
        while (rb < small && value[small - 1 - rb] > 1e-14 * value[small - 1]) rb++;
    else
        rb = small;
    if (rb == 0) return 1;

    memset(space, 0, sizeof *space);
    set_sizes(space, m, n_col, true, thin ? rb : m, r, rb);
    space->unit = full->unit;
    space->left = full->left;
    ufs_copy(space->a, full->a, (size_t) r);
    ufs_copy(space->u, full->u, (size_t) r);
    for (size_t j = 0; j < (size_t) rb; j++) {
        space->b[j] = sqrt(fmax(value[N - 1 - j], 0.0)) / full->unit;
        space->v[j] = 1.0;
    }
    /* Leading directions first. */
    for (size_t j = 0; j < N / 2; j++)
        for (size_t i = 0; i < N; i++) {
            double keep = vector[i + j * N];
            vector[i + j * N] = vector[i + (N - 1 - j) * N];
            vector[i + (N - 1 - j) * N] = keep;
        }
    if (thin) {
        double *y = ufs_dalloc((size_t) rb, Q);
        outer = ufs_dalloc(M, (size_t) rb);
        alfs_gemm(m, rb, n_col, 1.0, x, m, vector, n_col, 0.0, outer, m);
        for (size_t j = 0; j < (size_t) rb; j++) {
            double s = space->b[j] * full->unit;
            for (size_t i = 0; i < M; i++) outer[i + j * M] /= s;
            for (size_t i = 0; i < Q; i++) y[j + i * (size_t) rb] = s * vector[i + j * Q];
        }
        space->y = y;
    } else {
        outer = vector;
        space->y = x;
        space->right = vector;
    }
    space->outer = outer;
    /* D = diag(a) P' inside the row space of B: target = diag(a) P' outer. */
    la_gemm('T', 'N', r, rb, m, 1.0, full->left, m, outer, m, 0.0, space->target, r);
    space->total = space->rest = full->total;
    for (size_t j = 0; j < (size_t) rb; j++)
        for (size_t i = 0; i < (size_t) r; i++) {
            double *t = space->target + i + j * (size_t) r;
            *t *= space->a[i];
            space->rest -= *t * *t;
        }
    return 0;
}

/* ---- from W to its core, and back ------------------------------------------------------ */

void alfs_start_acc(alfs_space *space)
{
    memset(space->acc, 0, (size_t) space->n_acc * (size_t) space->p_acc * sizeof(double));
}

void alfs_add_all(alfs_space *space, const double *w)
{
    alfs_start_acc(space);
    for (int from = 0; from < space->q; from += space->width) {
        int n = space->q - from < space->width ? space->q - from : space->width;
        alfs_add_block(space, from, n, w + (size_t) from * (size_t) space->m);
    }
}

void alfs_add_block(alfs_space *space, int from, int n, const double *w)
{
    int m = space->m, k = space->k;
    size_t at = (size_t) from * (size_t) k;
    double scale = 1.0 / space->unit;

    R_CheckUserInterrupt();
    if (space->wide) {
        la_gemm('N', 'T', m, k, n, scale, w, m, columns_of_y(space, from, n), k, 1.0, space->acc,
                m);
    } else if (space->op != NULL) {
        ufs_x_cross(space->op, n, w, space->acc + at);
        for (size_t i = 0; i < (size_t) k * (size_t) n; i++) space->acc[at + i] *= scale;
    } else
        la_gemm('T', 'N', k, n, m, scale, space->y, m, w, m, 0.0, space->acc + at, k);
}

void alfs_core(alfs_space *space, double *core)
{
    int na = space->n_acc, pa = space->p_acc, r = space->r, rb = space->rb;
    const double *half = space->acc;

    if (space->right != NULL) {
        alfs_gemm(na, rb, pa, 1.0, half, na, space->right, pa, 0.0, space->half, na);
        half = space->half;
    }
    if (space->left != NULL)
        la_gemm('T', 'N', r, rb, na, 1.0, space->left, na, half, na, 0.0, core, r);
    else
        ufs_copy(core, half, (size_t) r * (size_t) rb);
}

void alfs_lift(alfs_space *space, const double *core, double *lift)
{
    int na = space->n_acc, pa = space->p_acc, r = space->r, rb = space->rb;
    const double *half = core;

    if (space->left != NULL) {
        double *to = space->right != NULL ? space->half : lift;
        alfs_gemm(na, rb, r, 1.0, space->left, na, core, r, 0.0, to, na);
        half = to;
    }
    if (space->right != NULL)
        la_gemm('N', 'T', na, pa, rb, 1.0, half, na, space->right, pa, 0.0, lift, na);
    else if (half != lift)
        ufs_copy(lift, half, (size_t) na * (size_t) pa);
}

void alfs_add_lift(const alfs_space *space, const double *lift, int from, int n, double *out)
{
    int m = space->m, k = space->k;
    size_t at = (size_t) from * (size_t) k;
    double scale = 1.0 / space->unit;

    R_CheckUserInterrupt();
    if (space->wide) {
        alfs_gemm(m, n, k, scale, lift, m, columns_of_y(space, from, n), k, 1.0, out, m);
    } else if (space->op != NULL) {
        ufs_x_mul(space->op, n, lift + at, space->piece);
        for (size_t i = 0; i < (size_t) m * (size_t) n; i++) out[i] += scale * space->piece[i];
    } else
        alfs_gemm(m, n, k, scale, space->y, m, lift + at, k, 1.0, out, m);
}

void alfs_residual(const alfs_space *space, double *core, double *ss, double *inner)
{
    size_t R = (size_t) space->r;

    *ss = *inner = 0.0;
    for (size_t j = 0; j < (size_t) space->rb; j++)
        for (size_t i = 0; i < R; i++) {
            double *c = core + i + j * R, target = space->target[i + j * R];
            double res = target - space->u[i] * *c * space->v[j];
            *ss += res * res;
            *inner += res * target;
            *c = 2.0 * space->u[i] * res * space->v[j];
        }
}

double alfs_loss(const alfs_space *space, const double *core)
{
    size_t R = (size_t) space->r;
    double loss = space->rest;

    for (size_t j = 0; j < (size_t) space->rb; j++)
        for (size_t i = 0; i < R; i++) {
            double res = space->target[i + j * R] - space->u[i] * core[i + j * R] * space->v[j];
            loss += res * res;
        }
    return loss;
}

void alfs_gemm(int m, int n, int k, double alpha, const double *a, int lda, const double *b,
               int ldb, double beta, double *c, int ldc)
{
    const int block = 512;
    for (int i = 0; i < m; i += block)
        la_gemm('N', 'N', m - i < block ? m - i : block, n, k, alpha, a + i, lda, b, ldb, beta,
                c + i, ldc);
}

/* ---- bounds ------------------------------------------------------------------------- */

alfs_bounds alfs_largest(const alfs_space *space)
{
    alfs_space copy = *space;
    size_t M = (size_t) space->m, R = (size_t) space->r;
    double *core = ufs_dzero(R, (size_t) space->rb), ss, inner;
    double *lift = ufs_dalloc((size_t) space->n_acc, (size_t) space->p_acc);
    double *row = ufs_dzero(M, 1), *sample = ufs_dzero(M, 1);
    alfs_bounds bound = {0.0, 0.0, 0.0};

    alfs_residual(space, core, &ss, &inner);
    alfs_lift(&copy, core, lift);
    for (int from = 0; from < space->q; from += space->width) {
        int n = space->q - from < space->width ? space->q - from : space->width;
        memset(space->block, 0, M * (size_t) n * sizeof(double));
        alfs_add_lift(space, lift, from, n, space->block);
        for (size_t j = 0; j < (size_t) n; j++) {
            double column = 0.0;
            for (size_t i = 0; i < M; i++) {
                double g = space->block[i + j * M];
                row[i] += g * g;
                column += g * g;
            }
            bound.beta = fmax(bound.beta, sqrt(column));
        }
    }
    for (size_t i = 0; i < M; i++) bound.alpha = fmax(bound.alpha, sqrt(row[i]));
    /* The samples in their own coordinates: rows of P diag(a), or of y. */
    if (space->wide) {
        for (size_t j = 0; j < R; j++)
            for (size_t i = 0; i < M; i++) {
                double v = space->left[i + j * M] * space->a[j];
                sample[i] += v * v;
            }
    } else if (space->op != NULL) {
        ufs_x_row_ss(space->op, sample);
        for (size_t i = 0; i < M; i++) sample[i] /= space->unit * space->unit;
    } else {
        for (size_t j = 0; j < (size_t) space->k; j++)
            for (size_t i = 0; i < M; i++) {
                double v = space->y[i + j * M] / space->unit;
                sample[i] += v * v;
            }
    }
    for (size_t i = 0; i < M; i++) bound.lambda = fmax(bound.lambda, 2.0 * sample[i]);
    return bound;
}
