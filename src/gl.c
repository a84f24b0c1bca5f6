/* gl.c: exact row-sparse regression by working sets (see gl.h). */
#include "gl.h"

static size_t gl_place(const gl_work *w, int i)
{
    return (size_t) i * (size_t) w->c;
}

/* The row of feature f has no penalty: it is always in the working set. */
static bool gl_is_free(const gl_work *w, int f)
{
    return w->factor != NULL && w->factor[f] == 0.0;
}

/* Another column stands for f. */
static bool is_copy(const gl_work *w, int f)
{
    return w->copies.first != NULL && w->copies.first[f] != f;
}

/* Whether sweeps go through the Gram matrix: as long as its slots last. */
static bool gl_by_gram(const gl_work *w)
{
    return w->m <= w->cap;
}

/* Rows of the working set that are not zero. */
static int gl_nonzero(const gl_work *w)
{
    int nonzero = 0;
    for (int i = 0; i < w->m; i++) nonzero += w->size[i] > 0.0;
    return nonzero;
}

/* ---- the working set --------------------------------------------------------------------- */

/* The working set is set[0..m). Gram columns are valid on set[0..g): see gl.h. */

/* The least number of violators that enter at once, if there are so many. */
enum { ENTER = 20 };

/* The same for places g..to-1 of a source, in two reads of the columns. */
static void gram_from_source(gl_work *w, int to)
{
    int g = w->g;
    size_t S = (size_t) w->cap, M = (size_t) to;
    const void *mark = vmaxget();
    double *got = ufs_dalloc(M, (size_t) (to - g));

    ufs_x_gram_some(w->x, to, w->set, g, w->root, got);
    for (size_t j = (size_t) g; j < M; j++) {
        const double *from = got + (j - (size_t) g) * M;
        for (size_t i = 0; i < j; i++) w->gram[i + j * S] = w->gram[j + i * S] = from[i];
        w->gram[j + j * S] = w->ss[w->set[j]];
    }
    w->columns += to - g;
    w->g = to;
    vmaxset(mark);
}

/* Gram row and column of place `at` against places 0..upto-1 and itself. */
static void gram_column(gl_work *w, int at, int upto)
{
    size_t S = (size_t) w->cap, A = (size_t) at;
    const double *xa = ufs_x_column(w->x, w->set[at], w->col);
    double total = 0.0;

    if (w->root) {
        for (int i = 0; i < w->n; i++) w->col[i] = w->root[i] * w->root[i] * xa[i];
        xa = w->col;
    }
    for (int i = 0; i < w->n && w->x->kind == UFS_X_SPARSE; i++) total += xa[i];
    for (int j = 0; j < upto; j++) {
        double dot = ufs_x_dot(w->x, w->set[j], xa, total, w->other);
        w->gram[(size_t) j + A * S] = dot;
        w->gram[A + (size_t) j * S] = dot;
    }
    w->gram[A + A * S] = w->ss[w->set[at]];
    w->columns++;
}

static bool is_in(const gl_work *w, int f)
{
    return w->pos[f] >= 0 && w->pos[f] < w->m;
}

/* fresh[0..count) are about to enter: a source reads their Gram columns together. */
static void read_ahead(gl_work *w, int count)
{
    int new = 0, fits;

    if (w->x->kind != UFS_X_SOURCE || w->g < w->m || count == 0) return;
    for (int k = 0; k < count; k++) new += w->pos[w->fresh[k]] < 0;
    fits = w->m + count <= w->cap;
    if (!fits || w->g + new > w->cap) {
        for (int i = w->m; i < w->g; i++) w->pos[w->set[i]] = -1;
        w->g = w->m;
    }
    if (!fits) return;
    new = w->g;
    for (int k = 0; k < count; k++) {
        int f = w->fresh[k];
        if (w->pos[f] >= 0) continue;
        w->set[new] = f;
        w->pos[f] = new ++;
    }
    if (new > w->g) gram_from_source(w, new);
}

/* Exchanges n numbers of a and b that are `step` apart. */
static void swap(int n, int step, double *a, double *b)
{
    for (size_t i = 0; i < (size_t) n * (size_t) step; i += (size_t) step) {
        double of_a = a[i];
        a[i] = b[i];
        b[i] = of_a;
    }
}

/* Exchanges two places with everything stored by place. */
static void swap_places(gl_work *w, int a, int b)
{
    size_t S = (size_t) w->cap, A = (size_t) a, B = (size_t) b;
    int f = w->set[a], last = w->g > (a > b ? a : b) ? w->g : (a > b ? a : b) + 1;

    if (a == b) return;
    w->set[a] = w->set[b];
    w->set[b] = f;
    w->pos[w->set[a]] = a;
    w->pos[f] = b;
    swap(1, 1, w->size + a, w->size + b);
    swap(w->c, 1, w->vw + gl_place(w, a), w->vw + gl_place(w, b));
    swap(last, 1, w->gram + A * S, w->gram + B * S);
    swap(last, w->cap, w->gram + A, w->gram + B);
}

/* f joins the working set with v_f = 0. */
static void enter(gl_work *w, int f)
{
    int at = w->m;

    if (w->pos[f] >= 0) {
        swap_places(w, w->pos[f], at);
    } else if (w->g <= at) {
        w->set[at] = f;
        w->pos[f] = at;
    } else if (w->g < w->cap) {
        w->set[w->g] = f;
        w->pos[f] = w->g;
        gram_column(w, w->g, w->g);
        swap_places(w, w->g++, at);
    } else {
        /* No free slot: the first of the waiting features gives up its own. */
        w->pos[w->set[at]] = -1;
        w->set[at] = f;
        w->pos[f] = at;
        gram_column(w, at, w->g);
    }
    w->size[at] = 0.0;
    memset(w->vw + gl_place(w, at), 0, (size_t) w->c * sizeof(double));
    w->m++;
}

/* The first of equal columns, which stands before the others, gets the sum of their rows. */
static void collect(const gl_copies *copies, int p, int c, double *v)
{
    if (copies->first == NULL) return;
    for (int j = 0; j < c; j++, v += p)
        for (int i = 0; i < p; i++)
            if (copies->first[i] != i) v[copies->first[i]] += v[i], v[i] = 0.0;
}

void gl_share(const gl_copies *copies, int p, int c, double *v)
{
    if (copies->first == NULL) return;
    collect(copies, p, c, v);
    for (int j = 0; j < c; j++, v += p)
        for (int i = 0; i < p; i++)
            v[i] = copies->first[i] == i ? v[i] / copies->count[i] : v[copies->first[i]];
}

/* Every non-zero row of v is in the working set, and vw holds v. A zero column of
 * X has nothing to fit: its row becomes zero. */
static void gl_enter_support(gl_work *w, const double *v)
{
    size_t P = (size_t) w->p;
    int count = 0;

    la_row_norms(w->p, w->c, v, w->key);
    for (int f = 0; f < w->p; f++)
        if ((w->key[f] > 0.0 || gl_is_free(w, f)) && !is_copy(w, f) && R_FINITE(gl_factor(w, f)) &&
            w->ss[f] > 0.0 && !is_in(w, f))
            w->fresh[count++] = f;
    read_ahead(w, count);
    for (int k = 0; k < count; k++) enter(w, w->fresh[k]);
    for (int i = 0; i < w->m; i++) {
        size_t f = (size_t) w->set[i];
        w->size[i] = w->ss[f] > 0.0 ? w->key[f] : 0.0;
        for (size_t k = 0; k < (size_t) w->c; k++)
            w->vw[gl_place(w, i) + k] = w->size[i] > 0.0 ? v[f + k * P] : 0.0;
    }
}

/* The max(20, m) features outside the set that violate most, in index order. None
 * if the worst violation is within vtol. Returns their number. */
static int gl_enter_violators(gl_work *w, double vtol)
{
    int count = 0, chosen = 0, m = w->m, most = m > ENTER ? m : ENTER, spare = 0;
    double worst = 1.0, level = 1.0 + 1e-9;

    for (int f = 0; f < w->p; f++)
        if (!is_in(w, f) && !is_copy(w, f) && w->kkt[f] > level) {
            w->key[count++] = w->kkt[f];
            worst = fmax(worst, w->kkt[f]);
        }
    if (count == 0 || worst - 1.0 <= vtol) return 0;
    if (count > most) {
        /* level: the smallest value that still enters; spare: how many of the
         * features exactly there may. */
        rPsort(w->key, count, count - most);
        level = w->key[count - most];
        spare = most;
        for (int k = count - most; k < count; k++)
            if (w->key[k] > level) spare--;
    }
    for (int f = 0; f < w->p; f++)
        if (!is_in(w, f) && !is_copy(w, f) &&
            (w->kkt[f] > level || (w->kkt[f] == level && spare-- > 0)))
            w->fresh[chosen++] = f;
    read_ahead(w, chosen);
    for (int k = 0; k < chosen; k++) enter(w, w->fresh[k]);
    return w->m - m;
}

/* The feature at place i leaves; its Gram column is kept if every feature of the
 * working set has one (so that g > m may follow). */
static void leave(gl_work *w, int i)
{
    if (i < w->g && w->g >= w->m) {
        swap_places(w, i, --w->m);
        return;
    }
    if (i < w->g) {
        swap_places(w, i, --w->g);
        i = w->g;
    }
    w->pos[w->set[i]] = -1;
    w->m--;
    if (i < w->m) {
        w->set[i] = w->set[w->m];
        w->pos[w->set[i]] = i;
        w->size[i] = w->size[w->m];
        ufs_copy(w->vw + gl_place(w, i), w->vw + gl_place(w, w->m), (size_t) w->c);
    }
}

static const double *gl_weighted_residual(gl_work *w)
{
    if (w->root == NULL) return w->r;
    la_scale_rows(w->n, w->c, w->root, w->r, w->scaled);
    return w->scaled;
}

/* V + length step, if (GL) falls; moved is of the whole step. */
static bool gl_step(gl_work *w, double lambda, double length)
{
    int m = w->m, c = w->c;
    double fall = 0.0, reach = 0.0;

    for (int i = 0; i < m; i++) {
        double ss = 0.0, dd = 0.0, *v = w->vw + gl_place(w, i), *d = w->step + gl_place(w, i);
        for (int k = 0; k < c && w->size[i] > 0.0; k++) {
            size_t at = (size_t) i + (size_t) k * (size_t) m;
            double to = v[k] + length * d[k];
            fall += length * d[k] * (2.0 * w->grad[at] + length * w->moved[at]);
            ss += to * to;
            dd += length * length * d[k] * d[k];
        }
        w->key[i] = sqrt(ss);
        fall -= lambda * gl_factor(w, w->set[i]) * (w->key[i] - w->size[i]);
        reach += sqrt(dd * w->ss[w->set[i]]);
    }
    /* |G_ij| <= ||x_i|| ||x_j||, so moved is known to eps times this reach. Where X_W is rank-deficient
     * a Newton step may go so far that what it seems to gain is rounding. */
    if (!(fall > DBL_EPSILON * reach * reach)) return false;
    for (int i = 0; i < m; i++) {
        if (w->size[i] == 0.0) continue;
        la_axpy(c, length, w->step + gl_place(w, i), w->vw + gl_place(w, i));
        w->size[i] = w->key[i];
    }
    for (size_t at = 0; at < (size_t) m * (size_t) c; at++) w->grad[at] += length * w->moved[at];
    return true;
}

/* ---- rows without a penalty -------------------------------------------------------------- */

/* Rows that have no penalty (f_i = 0) are columns that must be in. Given the
 * other rows they solve a least-squares problem, whose residual is orthogonal to their columns X_F.
 * So they are solved for together after each descent: then R is a dual point up to a factor.
 *
 * X_F coef = Q, orthonormal (n x rank), by Gram and Schmidt, twice. nF^2 flops for F rows, 4nFc for a
 * step; nF + F^2 doubles. A column that the others before it span gets no part of it. */
/* Of a column's length, what must be left after those before it. */
static const double NEW = 1e-7;

/* The next column of the basis from column `at` of X_F; 0 if it is none. */
static int orthogonalise(gl_work *w, int at, double *column, double *coef)
{
    size_t N = (size_t) w->n, F = (size_t) w->n_free;
    double before = la_nrm2(w->n, column), left;

    memset(coef, 0, F * sizeof(double));
    coef[at] = 1.0;
    for (int pass = 0; pass < 2; pass++)
        for (int b = 0; b < w->rank; b++) {
            double along = la_dot(w->n, w->basis + (size_t) b * N, column);
            la_axpy(w->n, -along, w->basis + (size_t) b * N, column);
            la_axpy(w->n_free, -along, w->coef + (size_t) b * F, coef);
        }
    left = la_nrm2(w->n, column);
    if (!(left > NEW * before)) {
        memset(coef, 0, F * sizeof(double));
        return 0;
    }
    for (size_t i = 0; i < N; i++) column[i] /= left;
    for (size_t a = 0; a < F; a++) coef[a] /= left;
    return 1;
}

static void gl_free_basis(gl_work *w)
{
    size_t N = (size_t) w->n, F = (size_t) w->n_free;

    w->rank = 0;
    if (F == 0) return;
    memset(w->coef, 0, F * F * sizeof(double));
    for (int a = 0; a < w->n_free && w->rank < w->n; a++) {
        double *to = w->basis + (size_t) w->rank * N;
        const double *x = ufs_x_column(w->x, w->free[a], w->col);
        for (size_t i = 0; i < N; i++) to[i] = w->root ? w->root[i] * x[i] : x[i];
        w->rank += orthogonalise(w, a, to, w->coef + (size_t) w->rank * F);
    }
}

void gl_set_penalty(gl_work *w, const double *factor, const gl_copies *copies)
{
    size_t F;

    w->factor = factor;
    w->copies = *copies;
    w->n_free = 0;
    for (int f = 0; f < w->p; f++) w->n_free += gl_is_free(w, f) && !is_copy(w, f);
    if (w->n_free == 0) return;
    F = (size_t) w->n_free;
    w->free = ufs_ialloc(F);
    w->basis = ufs_dalloc((size_t) w->n, F);
    w->coef = ufs_dalloc(F, F);
    w->part = ufs_dalloc(F, (size_t) w->c);
    w->n_free = 0;
    for (int f = 0; f < w->p; f++)
        if (gl_is_free(w, f) && !is_copy(w, f)) w->free[w->n_free++] = f;
    gl_free_basis(w);
}

/* V_F += coef Q'R, so that Q'R = 0. */
static void gl_free_step(gl_work *w)
{
    size_t C = (size_t) w->c, F = (size_t) w->n_free;

    if (w->rank == 0) return;
    la_mul('T', 'N', w->rank, w->c, w->n, 1.0, w->basis, w->r, 0.0, w->part);
    la_mul('N', 'N', w->n, w->c, w->rank, 1.0, w->basis, w->part, 1.0, w->xv);
    la_mul('N', 'N', w->n, w->c, w->rank, -1.0, w->basis, w->part, 1.0, w->r);
    for (size_t a = 0; a < F; a++) {
        int i = w->pos[w->free[a]];
        double ss = 0.0, *v;
        if (w->ss[w->free[a]] <= 0.0) continue;
        v = w->vw + gl_place(w, i);
        for (size_t k = 0; k < C; k++) {
            for (size_t b = 0; b < (size_t) w->rank; b++)
                v[k] += w->coef[a + b * F] * w->part[b + k * (size_t) w->rank];
            ss += v[k] * v[k];
        }
        w->size[i] = sqrt(ss);
    }
}

/* ---- a Newton step ----------------------------------------------------------------------- */

/* A Newton step goes along the rows of the working set that are not zero, where descent
 * by rows is slow (see gl.h). Half of (GL) there, with G = X_L'X_L (l x l) and N its rows'
 * norms, has the gradient -X_L'R + lambda/2 v_i/||v_i|| and the product with its Hessian
 *   H(D) = G D + lambda/2 (d_i - v_i v_i'd_i / ||v_i||^2) / ||v_i||,
 * solved for by conjugate gradients with the Cholesky factor of G + diag(lambda / (2 ||v_i||)).
 * l^3/3 flops, 4 l^2 c per step of those and 2 m l c for the change of the gradient; 2 l^2 + 10 l c
 * doubles for the time of the call. */
/* A tenth: what is left over, the next step takes; SHORTEST: of a step, by halves. */
static const double CG_TOL = 0.1, SHORTEST = 1.0 / 64.0;
enum { CG_STEPS = 40 };

typedef struct {
    int l, c;
    const double *gram, *factor; /* l x l */
    double *v, *half;            /* l x c rows V_L; l: lambda / (2 ||v_i||) */
    double *size;                /* l */
} newton;

static void apply(void *data, const double *d, double *out)
{
    const newton *a = data;
    size_t L = (size_t) a->l;

    la_mul('N', 'N', a->l, a->c, a->l, 1.0, a->gram, d, 0.0, out);
    for (size_t i = 0; i < L; i++) {
        double along = 0.0, ss = a->size[i] * a->size[i];
        for (size_t k = 0; k < (size_t) a->c; k++) along += a->v[i + k * L] * d[i + k * L];
        along /= ss;
        for (size_t k = 0; k < (size_t) a->c; k++)
            out[i + k * L] += a->half[i] * (d[i + k * L] - along * a->v[i + k * L]);
    }
}

static void precondition(void *data, const double *r, double *z)
{
    const newton *a = data;
    ufs_copy(z, r, (size_t) a->l * (size_t) a->c);
    la_chol_solve(a->l, a->c, a->factor, z);
}

/* The Gram matrix, the rows and, in `right`, less half the gradient of the nonzero features. */
static void gather(const gl_work *w, int l, const int *nonzero, double lambda, newton *a,
                   double *gram, double *right)
{
    size_t L = (size_t) l, C = (size_t) w->c, M = (size_t) w->m, S = (size_t) w->cap;

    for (size_t i = 0; i < L; i++) {
        size_t at = (size_t) nonzero[i];
        a->size[i] = w->size[at];
        a->half[i] = lambda * gl_factor(w, w->set[at]) / (2.0 * a->size[i]);
        for (size_t j = 0; j < L; j++) gram[j + i * L] = w->gram[(size_t) nonzero[j] + at * S];
        for (size_t k = 0; k < C; k++) {
            double v = a->v[i + k * L] = w->vw[at * C + k];
            right[i + k * L] = w->grad[at + k * M] - a->half[i] * v;
        }
    }
}

/* V_L + d, or the part of it at which (GL) falls: whole, it may take rows through zero. */
static bool take_step(gl_work *w, double lambda, int l, const int *nonzero, const double *d)
{
    size_t L = (size_t) l, C = (size_t) w->c, M = (size_t) w->m;
    double *spread = ufs_dzero(M, C);

    for (size_t i = 0; i < L; i++)
        for (size_t k = 0; k < C; k++)
            w->step[gl_place(w, nonzero[i]) + k] = spread[(size_t) nonzero[i] + k * M] =
                d[i + k * L];
    la_gemm('N', 'N', w->m, w->c, w->m, -1.0, w->gram, w->cap, spread, w->m, 0.0, w->moved, w->m);
    for (double length = 1.0; length >= SHORTEST; length /= 2.0)
        if (gl_step(w, lambda, length)) return true;
    return false;
}

static bool gl_newton(gl_work *w, double lambda)
{
    void *mark = vmaxget();
    int *nonzero = ufs_ialloc((size_t) w->m), l = 0;
    bool fell = false;

    for (int i = 0; i < w->m; i++)
        if (w->size[i] > 0.0) nonzero[l++] = i;
    if (l > 0) {
        size_t L = (size_t) l, len = L * (size_t) w->c;
        double *gram = ufs_dalloc(L, L), *factor = ufs_dalloc(L, L);
        double *right = ufs_dalloc(len, 1), *d = ufs_dzero(len, 1);
        newton a = {l, w->c, gram, factor, ufs_dalloc(len, 1), ufs_dalloc(L, 1), ufs_dalloc(L, 1)};
        la_cg_problem cg = {.n = (int) len,
                            .apply = apply,
                            .precondition = precondition,
                            .data = &a,
                            .tol = CG_TOL,
                            .natural = true,
                            .max_iter = CG_STEPS,
                            .work = ufs_dalloc(len, 4)};

        gather(w, l, nonzero, lambda, &a, gram, right);
        ufs_copy(factor, gram, L * L);
        for (size_t i = 0; i < L; i++) factor[i + i * L] += a.half[i];
        if (la_chol(l, factor) == 0) {
            la_cg(&cg, right, d);
            fell = take_step(w, lambda, l, nonzero, d);
        }
    }
    vmaxset(mark);
    return fell;
}

/* ---- descent ----------------------------------------------------------------------------- */

/* Block coordinate descent on the working set is done in Gram form (gradient
 * X_W'R, m x c) or residual form (R, n x c), with extrapolation. */
/* Column f of X as the problem has it. */
static const double *weighted_column(const gl_work *w, int f)
{
    const double *x = ufs_x_column(w->x, f, w->col);
    if (w->root == NULL) return x;
    for (int i = 0; i < w->n; i++) w->col[i] = w->root[i] * x[i];
    return w->col;
}

/* out -= G_i d' (m x c) in Gram form, x_i d' (n x c) in residual form. */
static void change_gradient(gl_work *w, bool by_gram, int i, const double *d, double *out)
{
    if (by_gram)
        la_rank_one(w->m, w->c, -1.0, w->gram + (size_t) i * (size_t) w->cap, d, out);
    else
        la_rank_one(w->n, w->c, -1.0, weighted_column(w, w->set[i]), d, out);
}

/* row = x_f'r, x_f without weights (r has them); total: the sums of r's columns. */
static void products(gl_work *w, int f, const double *r, const double *total)
{
    if (w->x->kind == UFS_X_SPARSE) {
        for (int k = 0; k < w->c; k++)
            w->row[k] = ufs_x_dot(w->x, f, r + (size_t) k * (size_t) w->n, total[k], NULL);
        return;
    }
    la_gemv('T', w->n, w->c, 1.0, r, w->n, ufs_x_column(w->x, f, w->col), 0.0, w->row);
}

/* Missing Gram columns, and grad = X_W' R. */
static void start_gradient(gl_work *w, bool priced)
{
    int m = w->m, c = w->c;
    const double *r;

    if (w->x->kind == UFS_X_SOURCE && m > w->g) gram_from_source(w, m);
    for (; w->g < m; w->g++) gram_column(w, w->g, w->g);
    r = priced ? NULL : gl_weighted_residual(w);
    if (!priced && m > 0 && w->x->kind == UFS_X_SOURCE) {
        /* r is T still. */
        ufs_x_cross_some(w->x, m, w->set, c, r, w->grad);
        for (int i = 0; i < m; i++)
            if (w->size[i] > 0.0) change_gradient(w, true, i, w->vw + gl_place(w, i), w->grad);
        return;
    }
    if (!priced)
        for (int k = 0; k < c; k++) {
            w->diff[k] = 0.0;
            for (size_t i = 0; i < (size_t) w->n; i++)
                w->diff[k] += r[i + (size_t) k * (size_t) w->n];
        }
    for (int i = 0; i < m; i++) {
        const double *from = w->u + gl_place(w, w->set[i]);
        if (!priced) {
            products(w, w->set[i], r, w->diff);
            from = w->row;
        }
        for (int k = 0; k < c; k++) w->grad[(size_t) i + (size_t) k * (size_t) m] = from[k];
    }
}

/* Exact minimiser over one row, x_i'R given in row; diff is the change. Returns
 * false if there is none. */
static bool block_step(gl_work *w, double lambda, double l, double *v, double *size)
{
    int c = w->c;
    bool moved = false;
    double ss = 0.0, norm, shrink;

    if (l <= 0.0) return false;
    if (*size > 0.0)
        for (int k = 0; k < c; k++) w->row[k] += l * v[k];
    for (int k = 0; k < c; k++) ss += w->row[k] * w->row[k];
    norm = sqrt(ss);
    shrink = 2.0 * norm <= lambda ? 0.0 : (1.0 - lambda / (2.0 * norm)) / l;
    if (shrink == 0.0 && *size == 0.0) return false;
    for (int k = 0; k < c; k++) {
        double to = shrink * w->row[k];
        w->diff[k] = to - v[k];
        moved = moved || w->diff[k] != 0.0;
        v[k] = to;
    }
    *size = shrink * norm;
    return moved;
}

/* One pass over the working set; the largest ||dv_i|| ||x_i||. */
static double sweep(gl_work *w, double lambda, bool by_gram)
{
    int m = w->m, c = w->c;
    double largest = 0.0;

    for (int i = 0; i < m; i++) {
        double l = w->ss[w->set[i]], ss = 0.0;
        if (by_gram)
            for (int k = 0; k < c; k++) w->row[k] = w->grad[(size_t) i + (size_t) k * (size_t) m];
        else
            la_gemv('T', w->n, c, 1.0, w->r, w->n, weighted_column(w, w->set[i]), 0.0, w->row);
        if (!block_step(w, lambda * gl_factor(w, w->set[i]), l, w->vw + gl_place(w, i),
                        w->size + i))
            continue;
        for (int k = 0; k < c; k++) ss += w->diff[k] * w->diff[k];
        largest = fmax(largest, sqrt(ss * l));
        change_gradient(w, by_gram, i, w->diff, by_gram ? w->grad : w->r);
    }
    w->sweeps++;
    return largest;
}

/* Whether the sweeps that remain at the rate of the last ones, from steps of `first` to `last`,
 * are dearer than a Newton step with 40 conjugate gradients; products of whole matrices
 * are twice as fast. */
static bool newton_pays(const gl_work *w, double first, double last, double bound)
{
    double l = gl_nonzero(w), rate = log(first / last) / (LA_GL_DEPTH - 1), remaining;

    remaining = rate > 0.0 ? log(last / bound) / rate : LA_GL_SWEEPS;
    return remaining * 2.0 * w->m * l * w->c > (l * l * l / 3.0 + 160.0 * l * l * w->c) / 2.0;
}

/* Anderson extrapolation of the last sweeps. Rows that are zero stay zero, so exact zeros survive. */
static void extrapolate(gl_work *w, double lambda)
{
    int m = w->m, c = w->c;

    if (!anderson_mix(&w->history, NULL, w->step)) return;
    memset(w->moved, 0, (size_t) m * (size_t) c * sizeof(double));
    for (int i = 0; i < m; i++) {
        double *step = w->step + gl_place(w, i);
        la_axpy(c, -1.0, w->vw + gl_place(w, i), step);
        if (w->size[i] > 0.0) change_gradient(w, true, i, step, w->moved);
    }
    gl_step(w, lambda, 1.0);
}

static bool gl_descend(gl_work *w, double lambda, double bound, bool priced)
{
    bool by_gram = gl_by_gram(w), newton = w->newton, settled = w->m == 0;
    double largest = 0.0, first = 0.0;

    if (by_gram) {
        start_gradient(w, priced);
        anderson_reset(&w->history);
        w->history.size = w->c * w->m;
    } else
        ufs_x_prefetch(w->x, w->m, w->set);
    for (int s = 1; s <= LA_GL_SWEEPS && !settled; s++) {
        if (by_gram) ufs_copy(w->before, w->vw, (size_t) w->c * (size_t) w->m);
        largest = sweep(w, lambda, by_gram);
        if (s == 1) bound = fmax(bound, w->share * largest);
        settled = !(largest > bound);
        if (settled || !by_gram) continue;
        anderson_push(&w->history, w->before, w->vw);
        if (s % LA_GL_DEPTH == 1) first = largest;
        if (s % LA_GL_DEPTH != 0) continue;
        /* The rate of the first sweeps says little. */
        if (s > 2 * LA_GL_DEPTH && newton)
            newton = newton_pays(w, first, largest, bound) && gl_newton(w, lambda);
        if (s <= 2 * LA_GL_DEPTH || !newton) extrapolate(w, lambda);
        anderson_reset(&w->history);
    }
    return settled;
}

/* ---- the whole --------------------------------------------------------------------------- */

void gl_set_rows(gl_work *w, const double *root)
{
    w->root = root;
    if (root && w->scaled == NULL) w->scaled = ufs_dalloc((size_t) w->n, (size_t) w->c);
    for (int i = w->m; i < w->g; i++) w->pos[w->set[i]] = -1;
    w->g = 0;
    if (root)
        ufs_x_weighted_ss(w->x, root, w->ss);
    else
        ufs_x_ss(w->x, w->ss);
    gl_free_basis(w);
}

void gl_init(gl_work *w, int c, const ufs_x *x, int slots)
{
    int p = x->p, cap = slots < p ? slots : p;
    size_t N = (size_t) x->n, P = (size_t) p, C = (size_t) c, S = (size_t) cap;

    *w = (gl_work){.x = x, .n = x->n, .p = p, .c = c, .cap = cap, .newton = true};
    ufs_dalloc_each(P, 1, (double **[]){&w->ss, &w->size, &w->key, NULL});
    ufs_ialloc_each(P, (int **[]){&w->set, &w->pos, &w->fresh, NULL});
    w->gram = ufs_dalloc(S, S);
    ufs_dalloc_each(S, C, (double **[]){&w->grad, &w->moved, NULL});
    ufs_dalloc_each(C, P, (double **[]){&w->vw, &w->u, NULL});
    ufs_dalloc_each(C, S, (double **[]){&w->before, &w->step, NULL});
    anderson_init(&w->history, c * cap, LA_GL_DEPTH - 1);
    ufs_dalloc_each(C, 1, (double **[]){&w->row, &w->diff, NULL});
    ufs_dalloc_each(N, C, (double **[]){&w->r, &w->xv, NULL});
    w->kkt = ufs_dzero(P, 1);
    w->col = ufs_dalloc(N, 1);
    w->other = ufs_dalloc(x->kind == UFS_X_DENSE ? 0 : N, 1);
    w->l21 = w->objective = w->dual = w->gap = R_NaN;
    for (int f = 0; f < p; f++) w->pos[f] = -1;
    gl_set_rows(w, NULL);
}

/* One read of the nonzero columns. */
static void fit_from_source(gl_work *w)
{
    size_t L = (size_t) gl_nonzero(w), k = 0;

    for (int i = 0; i < w->m; i++) {
        if (w->size[i] == 0.0) continue;
        for (size_t l = 0; l < (size_t) w->c; l++) w->moved[k + l * L] = w->vw[gl_place(w, i) + l];
        w->fresh[k++] = w->set[i];
    }
    if (L > 0)
        ufs_x_mul_some(w->x, (int) L, w->fresh, w->c, w->moved, w->xv);
    else
        memset(w->xv, 0, (size_t) w->n * (size_t) w->c * sizeof(double));
}

/* v (p x c): V by features. */
static void spread(const gl_work *w, double *v)
{
    size_t P = (size_t) w->p, C = (size_t) w->c;

    memset(v, 0, P * C * sizeof(double));
    for (int i = 0; i < w->m; i++)
        for (size_t k = 0; k < C; k++) v[(size_t) w->set[i] + k * P] = w->vw[gl_place(w, i) + k];
}

static void fit_by_columns(gl_work *w)
{
    size_t N = (size_t) w->n, C = (size_t) w->c;
    double *off = w->diff; /* of each column of XV, what centring takes off */

    memset(off, 0, C * sizeof(double));
    memset(w->xv, 0, N * C * sizeof(double));
    for (int i = 0; i < w->m; i++)
        for (size_t k = 0; k < C && w->size[i] > 0.0; k++)
            off[k] += ufs_x_axpy(w->x, w->set[i], w->vw[gl_place(w, i) + k], w->xv + k * N, w->col);
    for (size_t k = 0; k < C; k++)
        for (size_t i = 0; i < N; i++) w->xv[i + k * N] -= off[k];
}

/* r, from the product of X without weights in xv. */
static void take_fit(gl_work *w, const double *t)
{
    if (w->root) la_scale_rows(w->n, w->c, w->root, w->xv, w->xv);
    for (size_t i = 0; i < (size_t) w->n * (size_t) w->c; i++) w->r[i] = t[i] - w->xv[i];
}

/* xv = X V and r = T - X V from the nonzero rows. 2nc per nonzero row. */
static void residual(gl_work *w, const double *t)
{
    if (w->x->kind == UFS_X_SOURCE && gl_by_gram(w))
        fit_from_source(w);
    else if (w->x->kind == UFS_X_SOURCE || (w->x->kind != UFS_X_SPARSE && w->m > w->p / 4)) {
        /* For many features one product is cheaper; V is spread out in the memory of u. */
        spread(w, w->u);
        ufs_x_mul(w->x, w->c, w->u, w->xv);
    } else
        fit_by_columns(w);
    take_fit(w, t);
    gl_free_step(w);
}

/* u = R'X, in this orientation so that X is read once, and kkt: that of rows without a penalty, which is
 * zero at the optimum, as a share of lambda. */
static void price(gl_work *w, double lambda)
{
    ufs_x_cross_rows(w->x, w->c, gl_weighted_residual(w), w->u);
    la_col_norms(w->c, w->p, w->u, w->kkt);
    for (int f = 0; f < w->p; f++)
        w->kkt[f] *= 2.0 / (gl_is_free(w, f) ? lambda : lambda * gl_factor(w, f));
    w->products++;
}

/* Dual point theta = sR with the best feasible s: D = 2<T,theta> - ||theta||^2, ||2 x_i'theta|| <=
 * lambda f_i. R has nothing along the columns with f_i = 0. */
static void measure_gap(gl_work *w, const double *t)
{
    size_t len = (size_t) w->n * (size_t) w->c;
    double tr = 0.0, rr = la_ss(len, w->r), top = 0.0, s;

    for (size_t i = 0; i < len; i++) tr += t[i] * w->r[i];
    for (int f = 0; f < w->p; f++)
        if (!gl_is_free(w, f)) top = fmax(top, w->kkt[f]);
    s = rr > 0.0 ? fmax(tr / rr, 0.0) : 0.0;
    if (s * top > 1.0) s = 1.0 / top;
    w->dual = s * (2.0 * tr - s * rr);
    w->gap = w->objective - w->dual;
}

void gl_solve(gl_work *w, const double *t, double lambda, double vtol, bool full, double prune,
              double *v)
{
    size_t C = (size_t) w->c;
    double bound = vtol * sqrt(la_ss((size_t) w->n * C, t));

    collect(&w->copies, w->p, w->c, v);
    gl_enter_support(w, v);
    w->settled = true;
    if (w->x->kind == UFS_X_SOURCE && gl_by_gram(w))
        ufs_copy(w->r, t, (size_t) w->n * C);
    else
        residual(w, t);
    for (int round = 0; round < LA_GL_SWEEPS; round++) {
        R_CheckUserInterrupt();
        w->settled = gl_descend(w, lambda, bound, round > 0);
        residual(w, t);
        if (!full) break;
        price(w, lambda);
        if (gl_enter_violators(w, vtol) == 0 && w->settled) break;
    }
    w->nonzero = gl_nonzero(w);
    w->l21 = 0.0;
    for (int i = 0; i < w->m; i++) w->l21 += gl_factor(w, w->set[i]) * w->size[i];
    w->objective = la_ss((size_t) w->n * C, w->r) + lambda * w->l21;
    spread(w, v);
    gl_share(&w->copies, w->p, w->c, v);
    if (full) {
        measure_gap(w, t);
        for (int i = w->m - 1; i >= 0; i--)
            if (w->size[i] == 0.0 && w->kkt[w->set[i]] <= prune && !gl_is_free(w, w->set[i]))
                leave(w, i);
    }
}

void gl_certify(gl_work *w, const double *t, double lambda, const double *v)
{
    int n = w->n, p = w->p, c = w->c;
    size_t len = (size_t) n * (size_t) c;

    ufs_x_mul(w->x, c, v, w->xv);
    take_fit(w, t);
    la_row_norms(p, c, v, w->key);
    w->l21 = 0.0;
    w->nonzero = 0;
    for (int f = 0; f < p; f++) {
        if (w->key[f] > 0.0) w->l21 += gl_factor(w, f) * w->key[f];
        w->nonzero += w->key[f] > 0.0;
    }
    w->objective = la_ss(len, w->r) + lambda * w->l21;
    /* The dual point of the free rows, then R as it is. */
    if (w->rank > 0) {
        la_mul('T', 'N', w->rank, c, n, 1.0, w->basis, w->r, 0.0, w->part);
        la_mul('N', 'N', n, c, w->rank, -1.0, w->basis, w->part, 1.0, w->r);
    }
    price(w, lambda);
    measure_gap(w, t);
    if (w->rank == 0) return;
    for (size_t i = 0; i < len; i++) w->r[i] = t[i] - w->xv[i];
    price(w, lambda);
}

double gl_violation(const gl_work *w, double lambda, double eps, const double *v)
{
    size_t P = (size_t) w->p, C = (size_t) w->c;
    double worst = 0.0;

    for (size_t i = 0; i < P; i++) {
        double ss = 0.0, off = 0.0, norm, own = lambda * gl_factor(w, (int) i);
        if (!R_FINITE(own)) continue;
        for (size_t k = 0; k < C; k++) ss += v[i + k * P] * v[i + k * P];
        norm = sqrt(ss + eps);
        if (own == 0.0 || norm == 0.0) {
            worst = fmax(worst, own == 0.0 ? w->kkt[i] : w->kkt[i] - 1.0);
            continue;
        }
        for (size_t k = 0; k < C; k++) {
            double d = 2.0 * w->u[k + i * C] / own - v[i + k * P] / norm;
            off += d * d;
        }
        worst = fmax(worst, sqrt(off));
    }
    return worst;
}
