#include "alfs_space.h"
#include "eig.h"

enum { DIRECT = 4 }; /* x itself serves as y from this ratio of its sides on */

/* ---- from W to its core, and back ------------------------------------------------------ */

/* Columns from, ..., from + n - 1 of y, of the wide form. */
static const double *columns_of_y(const alfs_space *space, int from, int n)
{
    if (space->op == NULL) return space->y + (size_t) from * (size_t) space->k;
    for (int j = 0; j < n; j++) space->index[j] = from + j;
    ufs_x_columns(space->op, n, space->index, space->piece);
    return space->piece;
}

void alfs_start_acc(alfs_space *space)
{
    memset(space->acc, 0, (size_t) space->n_acc * (size_t) space->p_acc * sizeof(double));
}

void alfs_add_block(alfs_space *space, int from, int n, const double *w)
{
    int m = space->m, k = space->k;
    size_t at = (size_t) from * (size_t) k;
    double scale = 1.0 / space->divisor;

    R_CheckUserInterrupt();
    if (space->wide) {
        la_mul('N', 'T', m, k, n, scale, w, columns_of_y(space, from, n), 1.0, space->acc);
    } else if (space->op != NULL) {
        ufs_x_cross(space->op, n, w, space->acc + at);
        for (size_t i = 0; i < (size_t) k * (size_t) n; i++) space->acc[at + i] *= scale;
    } else
        la_mul('T', 'N', k, n, m, scale, space->y, w, 0.0, space->acc + at);
}

void alfs_add_all(alfs_space *space, const double *w)
{
    alfs_start_acc(space);
    for (int from = 0; from < space->q; from += space->width) {
        int n = alfs_block(space, from);
        alfs_add_block(space, from, n, w + (size_t) from * (size_t) space->m);
    }
}

void alfs_gemm(alfs_sizes size, double alpha, const double *a, const double *b, double beta,
               double *c)
{
    const int block = 512, m = size.m;
    for (int i = 0; i < m; i += block)
        la_gemm('N', 'N', m - i < block ? m - i : block, size.n, size.k, alpha, a + i, m, b, size.k,
                beta, c + i, m);
}

void alfs_core(alfs_space *space, double *core)
{
    int na = space->n_acc, pa = space->p_acc, r = space->r, rb = space->rb;
    const double *half = space->acc;

    if (space->right != NULL) {
        alfs_gemm((alfs_sizes){na, rb, pa}, 1.0, half, space->right, 0.0, space->half);
        half = space->half;
    }
    if (space->left != NULL)
        la_mul('T', 'N', r, rb, na, 1.0, space->left, half, 0.0, core);
    else
        ufs_copy(core, half, (size_t) r * (size_t) rb);
}

void alfs_lift(alfs_space *space, const double *core, double *lift)
{
    int na = space->n_acc, pa = space->p_acc, r = space->r, rb = space->rb;
    const double *half = core;

    if (space->left != NULL) {
        double *to = space->right != NULL ? space->half : lift;
        alfs_gemm((alfs_sizes){na, rb, r}, 1.0, space->left, core, 0.0, to);
        half = to;
    }
    if (space->right != NULL)
        la_mul('N', 'T', na, pa, rb, 1.0, half, space->right, 0.0, lift);
    else if (half != lift)
        ufs_copy(lift, half, (size_t) na * (size_t) pa);
}

void alfs_add_lift(const alfs_space *space, const double *lift, int from, int n, double *out)
{
    int m = space->m, k = space->k;
    size_t at = (size_t) from * (size_t) k;
    double scale = 1.0 / space->divisor;

    R_CheckUserInterrupt();
    if (space->wide) {
        alfs_gemm((alfs_sizes){m, n, k}, scale, lift, columns_of_y(space, from, n), 1.0, out);
    } else if (space->op != NULL) {
        ufs_x_mul(space->op, n, lift + at, space->piece);
        for (size_t i = 0; i < (size_t) m * (size_t) n; i++) out[i] += scale * space->piece[i];
    } else
        alfs_gemm((alfs_sizes){m, n, k}, scale, space->y, lift + at, 1.0, out);
}

void alfs_residual(const alfs_space *space, double *core, double *ss, double *inner)
{
    size_t R = (size_t) space->r;

    *ss = *inner = 0.0;
    for (size_t j = 0; j < (size_t) space->rb; j++)
        for (size_t i = 0; i < R; i++) {
            double *c = core + i + j * R, target = space->target[i + j * R];
            double uv = alfs_uv(space, i, j), res = target - uv * *c;
            *ss += res * res;
            *inner += res * target;
            *c = 2.0 * uv * res;
        }
}

double alfs_loss(const alfs_space *space, const double *core)
{
    size_t R = (size_t) space->r;
    double loss = space->rest;

    for (size_t j = 0; j < (size_t) space->rb; j++)
        for (size_t i = 0; i < R; i++) {
            double res = space->target[i + j * R] - alfs_uv(space, i, j) * core[i + j * R];
            loss += res * res;
        }
    return loss;
}

void alfs_samples(const alfs_space *space, double *out)
{
    size_t m = (size_t) space->m;

    for (size_t j = 0; j < (size_t) space->r; j++)
        for (size_t i = 0; i < m; i++) out[i + j * m] = space->left[i + j * m] * space->a[j];
}

/* ---- set-up ---------------------------------------------------------------------- */

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
    space->target = ufs_dzero(R, RB);
    space->acc = ufs_dalloc((size_t) space->n_acc, (size_t) space->p_acc);
    space->half = ufs_dalloc((size_t) space->n_acc > R ? (size_t) space->n_acc : R,
                             (size_t) space->p_acc > RB ? (size_t) space->p_acc : RB);
    space->block = ufs_dalloc((size_t) m, (size_t) space->width);
}

/* Wide with q < m: y = diag(s) Q' (rb x q), outer = x Q / s (m x rb), for x over `divisor`. */
static void thin_factors(alfs_space *space, const double *x, double divisor, const double *values,
                         const double *vectors)
{
    size_t m = (size_t) space->m, q = (size_t) space->q, rb = (size_t) space->rb;
    double *y = ufs_dalloc(rb, q), *outer = ufs_dalloc(m, rb);

    alfs_gemm((alfs_sizes){space->m, space->rb, space->q}, 1.0, x, vectors, 0.0, outer);
    for (size_t j = 0; j < rb; j++) {
        for (size_t i = 0; i < m; i++) outer[i + j * m] /= values[j];
        for (size_t i = 0; i < q; i++) y[j + i * rb] = values[j] / divisor * vectors[i + j * q];
    }
    space->divisor = 1.0;
    space->y = y;
    space->outer = outer;
}

void alfs_space_full(alfs_space *space, const alfs_problem *problem, bool weights, double divisor)
{
    int m = problem->x->n, q = problem->x->p, least = m < q ? m : q, longer = m < q ? q : m,
        r = least;
    const double *values = problem->values, *vectors = problem->vectors;
    bool held = problem->x->kind != UFS_X_DENSE, direct = held || longer >= DIRECT * least;
    bool thin = weights && m > q, wide = !problem->identity && (thin || m <= q);

    memset(space, 0, sizeof *space);
    /* The division by s asks for a cut: directions below 1e-7 s_1 change the loss by less than its
     * rounding. */
    while (thin && r > 1 && values[r - 1] <= 1e-7 * values[0]) r--;
    set_sizes(space, m, q, wide, r, r, r);
    space->divisor = divisor;
    for (int i = 0; i < least; i++) {
        double s = values[i] / divisor;
        space->total += s * s;
        if (i >= r) {
            space->rest += s * s;
            continue;
        }
        space->a[i] = s;
        space->b[i] = problem->identity ? 1.0 : s;
        space->target[(size_t) i * (size_t) (r + 1)] = s;
    }
    space->y = problem->x->dense;
    if (thin) {
        thin_factors(space, problem->x->dense, divisor, values, vectors);
        space->left = space->outer;
    } else if (wide) {
        space->left = space->outer = vectors;
        space->right = direct ? vectors : NULL;
    } else if (!problem->identity) {
        space->left = direct ? vectors : NULL;
        space->right = vectors;
    }
    if (held) {
        space->op = problem->x;
        space->piece = ufs_dalloc((size_t) m, (size_t) space->width);
        space->index = ufs_ialloc((size_t) space->width);
    } else if (!direct && !thin && !problem->identity) {
        double *y = ufs_dalloc((size_t) m, (size_t) q);
        if (wide)
            la_mul('T', 'N', m, q, m, 1.0, vectors, space->y, 0.0, y);
        else
            alfs_gemm((alfs_sizes){m, q, q}, 1.0, space->y, vectors, 0.0, y);
        space->y = y;
    }
}

int alfs_roots(int n, double *gram, double *root, double *vectors)
{
    int lapack = eig_leading(n, gram, n, root, vectors);

    for (int i = 0; i < n && lapack == 0; i++) root[i] = sqrt(fmax(root[i], 0.0));
    return lapack;
}

int alfs_space_columns(alfs_space *space, const alfs_space *full, int n_col, const double *x)
{
    int m = full->m, r = full->r, small = n_col < m ? n_col : m, rb = small, lapack;
    bool thin = n_col < m;
    size_t N = (size_t) small, R = (size_t) r;
    double *gram = ufs_dalloc(N, N), *value = ufs_dalloc(N, 1), *vector = ufs_dalloc(N, N);

    la_gram(thin ? 'T' : 'N', m, n_col, x, gram);
    lapack = alfs_roots(small, gram, value, vector);
    if (lapack) return lapack;
    while (thin && rb > 0 && value[rb - 1] <= 1e-7 * value[0]) rb--;
    if (rb == 0) return 1;

    memset(space, 0, sizeof *space);
    set_sizes(space, m, n_col, true, thin ? rb : m, r, rb);
    space->divisor = 1.0;
    space->left = full->left;
    ufs_copy(space->a, full->a, R);
    ufs_copy(space->b, value, (size_t) rb);
    if (thin) {
        thin_factors(space, x, 1.0, value, vector);
    } else {
        space->y = x;
        space->outer = space->right = vector;
    }
    /* D = diag(a) P' inside the row space of B: target = diag(a) P' outer. */
    la_mul('T', 'N', r, rb, m, 1.0, full->left, space->outer, 0.0, space->target);
    space->total = space->rest = full->total;
    for (size_t j = 0; j < (size_t) rb; j++)
        for (size_t i = 0; i < R; i++) {
            double *t = space->target + i + j * R;
            *t *= space->a[i];
            space->rest -= *t * *t;
        }
    return 0;
}
