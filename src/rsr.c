/* rsr.c: regularised self-representation (Zhu, Zuo, Zhang, Hu and Shiu, Pattern
 * Recognition 48, 2015).
 *
 *   min_W  sum_i |e_i| + lambda sum_j f_j |w_j|,   E = X - X W,
 *
 * X n x p, W p x p; e_i and w_j are rows. Convex. Reweighted least squares: with
 * g_i = 2 sqrt(|e_i|^2 + eps), r_j = 2 sqrt(|w_j|^2 + eps), G and R their diagonals,
 * W = (X'G^{-1}X + lambda R^{-1})^{-1} X'G^{-1}X. The iteration is that of mm.c: plain, as the
 * authors have it, or accelerated, with the rows S of W that are in use, q = |S|; X_S are their
 * columns. As only norms of rows are needed, X on the left is replaced by any T (n x r, r = min(n,
 * p)) with T T' = X X'. With A = G^{-1/2} X_S R^{1/2}, U = R^{-1/2} W_S and V = G^{-1/2} E a step is
 * a ridge regression of G^{-1/2} T on A, and no small weight is divided by:
 *
 *   p <= n: K = A'A + lambda I, U = K^{-1} A' G^{-1/2} T, V = G^{-1/2} T - A U.
 *                                                       2nq^2 + 4npq + 2pq^2 + q^3 flops
 *   p > n:  K = A A' + lambda I, V = lambda K^{-1} G^{-1/2} T.
 *                                                       3n^2 q + 3n^3 flops
 *
 * With factors f of the penalty r_j becomes r_j / f_j. Rows F with f_j = 0 are in every step without a
 * ridge: p <= n with its diagonal zero; p > n with K of the other rows, C = K^{-1} G^{-1/2} X_F and
 *   W_F = (X_F'G^{-1/2} C)^{-1} C'G^{-1/2} T, V = lambda (K^{-1} G^{-1/2} T - C W_F),
 * so that X_F'G^{-1/2} V = 0: Y is feasible up to rounding.
 *
 * The dual point of mm.c is Y = 2 G^{-1/2} V with X_S'Y = 2 lambda R^{-1/2} U; other columns cost a
 * product with all of x (2npr flops). For mm.c's Newton steps: the derivative of log |w_j| by log r_j
 * is 1 - W_jj, W_jj = a_j' (A A' + lambda I)^{-1} a_j.
 *
 * W = 0 is optimal from the lambda on at which |sum_i x_ij x_i / |x_i|| <= lambda for all j. W = I:
 * Y = lambda D X (X'DX)^{-1} has X'Y = lambda I for any weights D of the samples, so |y_i| <= 1 for
 * all i proves it. With D = I this is a bound that does not depend on lambda; other D prove more, a
 * few fixed-point steps. 3np^2 flops each.
 *
 * A sample that counts c times has the norm c |e_i|, which is that of its row times c: x has such rows.
 * What is said of single samples, the smoothing, the authors' first weights and D = I, is of rows over c.
 *
 * Small lambda: K is solved with an error that 1 / lambda multiplies. W is what U is (p <= n), E what
 * X - X W is, and the dual values what X'Y is, by products, whenever a bound is taken.
 *
 * Memory: 3np + 2p^2 doubles (p <= n), 6n^2 and at first 9n^2 (p > n). */
#include "rsr.h"

/* Smallest pivot of the Cholesky factor of X'X, relative: the rounding of singular ones lies near
 * 1e-8, far enough below for any order of the rows to decide alike. */
static const double FULL_RANK = 1e-5;
/* For mm.c, by thirty tables (evidence/decisions.md): with the mean change of all norms together
 * square tables with common factors take twice as many steps, and some of p <= n with a shorter
 * history. */
enum { DEPTH = 8 };
static const double OWN = 0.7;

typedef struct {
    const rsr_problem *problem;
    int n, p, r;
    double *t;     /* r x n: T' */
    double *scale; /* n: g^{-1/2} */
    double *k;     /* r x r: K, its factor, its inverse */
    double *y;     /* r x n: V' */
    double *a;     /* n x r: A; n x UFS_STRIP of it */
    double *b;     /* p x q: U', if p <= n; r x n: E', scaled as V' is, if p > n */
    double *strip; /* r x UFS_STRIP: of a product */
    const mm_settings *settings;
    int n_free, n_other, *free, *other; /* rows at hand without a penalty, and with one */
    double *z, *c, *s, *wf; /* p > n: G^{-1/2} X_F and C, n x F; factor, F x F; W_F', r x F */
} rsr_work;

/* ---- one step --------------------------------------------------------------------------- */

/* No system is singular to rounding, however small lambda is: g_i >= 1e-12 x_i R x_i' / lambda, or
 * less, so that the authors' iteration is left as it is. Any weights give a W and a dual point, so the
 * gap stays a bound. */
static void floor_weights(rsr_work *w, mm *s)
{
    size_t N = (size_t) w->n;
    double *fit = w->scale, share = s->settings->accelerate ? UFS_ROUNDING : 0.01 * UFS_ROUNDING;

    memset(fit, 0, N * sizeof(double));
    for (int a = 0; a < w->n_other; a++) {
        int j = w->other[a];
        const double *x = w->problem->x + (size_t) j * N;
        double uu = s->u[j] * s->u[j] / mm_factor(w->settings, j);
        for (size_t i = 0; i < N; i++) fit[i] += uu * x[i] * x[i];
    }
    for (size_t i = 0; i < N; i++) {
        double *u = s->u + (size_t) w->p + i;
        *u = fmax(*u, sqrt(share * fit[i] / s->out->penalty));
        w->scale[i] = *u > 0.0 ? sqrt(0.5) / *u : 0.0;
    }
}

/* What column j of G^{-1/2} X is multiplied by in A. */
static double column_root(const rsr_work *w, const double *u, int j)
{
    double factor = mm_factor(w->settings, j);
    return sqrt(2.0) * u[j] / (factor > 0.0 ? sqrt(factor) : 1.0);
}

/* Columns from, from + 1 ... of A, or of G^{-1/2} X if u is NULL; how many, at most `most`. */
static int take_columns(rsr_work *w, const int *set, int count, int from, int most, const double *u)
{
    int cols = count - from < most ? count - from : most;
    size_t N = (size_t) w->n;

    R_CheckUserInterrupt();
    for (int l = 0; l < cols; l++) {
        size_t j = (size_t) (set == NULL ? from + l : set[from + l]);
        double *to = w->a + (size_t) l * N, root = u == NULL ? 1.0 : column_root(w, u, (int) j);
        for (size_t i = 0; i < N; i++) to[i] = root * w->scale[i] * w->problem->x[i + j * N];
    }
    return cols;
}

/* by V'G^{-1/2} X, of a strip of columns, so that nothing of the size of x is needed. */
static int product(rsr_work *w, const int *set, int count, int from, double by)
{
    int r = w->r, cols = take_columns(w, set, count, from, UFS_STRIP, NULL);
    la_mul('N', 'N', r, cols, w->n, by, w->y, w->a, 0.0, w->strip);
    return cols;
}

/* norm_j = by |x_j'G^{-1/2}V| of the columns in set, or of all. */
static void products(rsr_work *w, const int *set, int count, double by, double *norm)
{
    for (int from = 0; from < count; from += UFS_STRIP) {
        int cols = product(w, set, count, from, by);
        for (int l = 0; l < cols; l++)
            norm[set == NULL ? from + l : set[from + l]] = la_nrm2(
                w->r, w->strip + (size_t) l * (size_t) w->r);
    }
}

/* C and W_F, from y = (G^{-1/2} T)' and the factor of K. 2n^2 F + 4n r F flops. */
static int without_ridge(rsr_work *w, mm *s)
{
    int n = w->n, r = w->r, free = w->n_free, lapack;
    size_t N = (size_t) n, R = (size_t) r, F = (size_t) free;

    for (size_t a = 0; a < F; a++)
        for (size_t i = 0; i < N; i++)
            w->z[i + a * N] = w->scale[i] * w->problem->x[i + (size_t) w->free[a] * N];
    ufs_copy(w->c, w->z, N * F);
    la_chol_solve(n, free, w->k, w->c);
    la_mul('T', 'N', free, free, n, 1.0, w->z, w->c, 0.0, w->s);
    for (size_t a = 0; a < F; a++) w->s[a + a * F] *= 1.0 + UFS_ROUNDING;
    lapack = la_chol(free, w->s);
    if (lapack) return lapack;
    la_mul('N', 'N', r, free, n, 1.0, w->y, w->c, 0.0, w->wf);
    la_trsm('R', 'U', 'N', r, free, 1.0, w->s, free, w->wf, r);
    la_trsm('R', 'U', 'T', r, free, 1.0, w->s, free, w->wf, r);
    for (size_t a = 0; a < F; a++) s->out->row[w->free[a]] = la_nrm2(r, w->wf + a * R);
    return 0;
}

/* W_jj: its mean, for the trace of W is about n. K without more than a strip of A at a time. */
static int by_samples(rsr_work *w, mm *s)
{
    int n = w->n, lapack;
    size_t N = (size_t) n;
    double lambda = s->out->penalty;

    memset(w->k, 0, N * N * sizeof(double));
    for (int from = 0; from < w->n_other; from += UFS_STRIP)
        la_syrk('N', n, take_columns(w, w->other, w->n_other, from, UFS_STRIP, s->u), 1.0, w->a, n,
                1.0, w->k, n);
    for (size_t i = 0; i < N; i++) w->k[i + i * N] += lambda;
    lapack = la_chol(n, w->k);
    if (lapack == 0 && w->n_free > 0) lapack = without_ridge(w, s);
    if (lapack) return lapack;
    la_trsm('R', 'U', 'N', n, n, 1.0, w->k, n, w->y, n);
    la_trsm('R', 'U', 'T', n, n, lambda, w->k, n, w->y, n);
    if (w->n_free > 0) la_mul('N', 'T', n, n, w->n_free, -lambda, w->wf, w->c, 1.0, w->y);
    products(w, w->other, w->n_other, 2.0 / lambda, s->out->dual);
    for (int a = 0; a < w->n_other; a++) {
        int j = w->other[a];
        s->out->dual[j] /= mm_factor(w->settings, j);
        s->left[j] = fmin(1.0, (double) n / s->q);
    }
    return 0;
}

static int by_rows(rsr_work *w, mm *s)
{
    int n = w->n, p = w->p, q = take_columns(w, s->set, s->q, 0, s->q, s->u), lapack;
    size_t P = (size_t) p, Q = (size_t) q;
    double lambda = s->out->penalty;

    la_gram('T', n, q, w->a, w->k);
    /* Rows without a penalty get only the ridge that makes copies of a column solvable. */
    for (size_t l = 0; l < Q; l++)
        w->k[l + l * Q] += mm_is_free(w->settings, s->set[l]) ? UFS_ROUNDING * w->k[l + l * Q]
                                                              : lambda;
    lapack = la_chol(q, w->k);
    if (lapack) return lapack;
    la_mul('N', 'N', p, q, n, 1.0, w->y, w->a, 0.0, w->b);
    la_trsm('R', 'U', 'N', p, q, 1.0, w->k, q, w->b, p);
    la_trsm('R', 'U', 'T', p, q, 1.0, w->k, q, w->b, p);
    la_mul('N', 'T', p, n, q, -1.0, w->b, w->a, 1.0, w->y);
    if (s->settings->accelerate) lapack = la_chol_inverse(q, w->k); /* for s->left */
    for (size_t l = 0; l < Q; l++) {
        int j = s->set[l];
        double norm = la_nrm2(p, w->b + l * P), root = column_root(w, s->u, j);
        if (mm_is_free(w->settings, j)) {
            s->out->row[j] = root * norm;
            continue;
        }
        s->out->dual[j] = root * norm / (s->u[j] * s->u[j]);
        s->left[j] = 1.0 - lambda * w->k[l + l * Q];
    }
    return lapack;
}

static int minimise(void *data, mm *s)
{
    rsr_work *w = data;
    size_t R = (size_t) w->r, len = (size_t) w->n * R;
    int lapack;

    w->n_free = w->n_other = 0;
    for (int a = 0; a < s->q; a++)
        if (mm_is_free(w->settings, s->set[a]))
            w->free[w->n_free++] = s->set[a];
        else
            w->other[w->n_other++] = s->set[a];
    floor_weights(w, s);
    /* The authors' weights come so near to rounding that a bound is good for its own step at best. */
    if (!s->settings->accelerate) s->out->bound = R_NegInf;
    for (size_t e = 0; e < len; e++) w->y[e] = w->scale[e / R] * w->t[e];
    lapack = w->p > w->n ? by_samples(w, s) : by_rows(w, s);
    la_col_norms(w->r, w->n, w->y, s->other);
    for (int i = 0; i < w->n; i++) s->other[i] *= 2.0 * w->scale[i];
    return lapack;
}

/* <Y, X> and X'Y as they are, for the normal equations hold up to rounding only, which a small lambda
 * makes large; p > n: E of the W that X'Y stands for. */
static void price(void *data, mm *s)
{
    rsr_work *w = data;
    int n = w->n, r = w->r;
    size_t R = (size_t) r, N = (size_t) n;
    double *dual = s->out->dual;

    s->linear = 0.0;
    for (size_t i = 0; i < N; i++)
        s->linear += 2.0 * w->scale[i] * la_dot(r, w->y + i * R, w->t + i * R);
    for (size_t e = 0; e < N * R && w->p > n; e++) w->b[e] = w->scale[e / R] * w->t[e];
    for (int from = 0; from < w->p; from += UFS_STRIP) {
        int cols = product(w, NULL, w->p, from, 2.0 / s->out->penalty), used = 0;
        for (int l = 0; l < cols; l++) {
            double *x = w->a + (size_t) l * N, *b = w->strip + (size_t) l * R, u = s->u[from + l];
            double factor = mm_factor(w->settings, from + l);
            dual[from + l] = factor > 0.0 ? la_nrm2(r, b) / factor : 0.0;
            if (u == 0.0 || factor == 0.0 || w->p <= n) continue;
            memmove(w->a + (size_t) used * N, x, N * sizeof(double));
            for (size_t e = 0; e < R; e++) w->strip[(size_t) used * R + e] = u * u / factor * b[e];
            used++;
        }
        if (used > 0) la_mul('N', 'T', r, n, used, -1.0, w->strip, w->a, 1.0, w->b);
    }
    if (w->p <= n) return;
    if (w->n_free > 0) la_mul('N', 'T', r, n, w->n_free, -1.0, w->wf, w->z, 1.0, w->b);
    la_col_norms(r, n, w->b, s->out->residual);
    for (size_t i = 0; i < N; i++)
        if (w->scale[i] > 0.0) s->out->residual[i] /= w->scale[i];
}

/* W of the last step, p x p; objective and gap become those of these numbers. */
static void coefficients(rsr_work *w, mm *s, double *out)
{
    int n = w->n, p = w->p, f = w->n_free;
    size_t P = (size_t) p, N = (size_t) n;
    const double *x = w->problem->x;
    double *e = p > n ? ufs_dalloc(N, P) : w->a;
    double *free = ufs_dalloc(p > n ? (size_t) w->n_free : 0, P);

    if (p <= n) {
        /* R^{1/2} U. */
        for (size_t l = 0; l < (size_t) s->q; l++)
            for (size_t c = 0; c < P; c++)
                out[(size_t) s->set[l] + c * P] = column_root(w, s->u, s->set[l]) * w->b[c + l * P];
    } else {
        /* R X'G^{-1/2} V / lambda, where V is computed again: the stored one is that of T. */
        la_scale_rows(n, p, w->scale, x, e);
        la_chol_solve(n, p, w->k, e);
        if (f > 0) { /* W_F, F x p; e, K^{-1} G^{-1/2} X, becomes V / lambda. */
            la_mul('T', 'N', f, p, n, 1.0, w->z, e, 0.0, free);
            la_chol_solve(f, p, w->s, free);
            la_mul('N', 'N', n, p, f, -1.0, w->c, free, 1.0, e);
        }
        la_scale_rows(n, p, w->scale, e, e);
        la_mul('T', 'N', p, p, n, 2.0, x, e, 0.0, out);
        for (size_t i = 0; i < P * P; i++) {
            double factor = mm_factor(w->settings, (int) (i % P)), u = s->u[i % P];
            out[i] *= factor > 0.0 ? u * u / factor : 0.0;
        }
        for (size_t a = 0; a < (size_t) w->n_free; a++)
            for (size_t c = 0; c < P; c++)
                out[(size_t) w->free[a] + c * P] = free[a + c * (size_t) w->n_free];
    }
    ufs_copy(e, x, N * P);
    la_mul('N', 'N', n, p, p, -1.0, x, out, 1.0, e);
    la_row_norms(n, p, e, s->out->residual);
    la_row_norms(p, p, out, s->out->row);
    mm_settle(s);
}

/* ---- the whole --------------------------------------------------------------------------- */

/* T by QR of X', n rows of it at a time under the R so far: a Cholesky factor of X X' is off by the root
 * of rounding, and a bound by as much. About 4n^2 p flops, 4n^2 doubles for now. */
static int root_of_gram(rsr_work *w)
{
    int n = w->n, p = w->p, lapack = 0;
    size_t N = (size_t) n;
    void *mark = vmaxget();
    double *stack = ufs_dalloc(2 * N, N);

    memset(w->t, 0, N * N * sizeof(double));
    for (int from = 0; from < p && lapack == 0; from += n) {
        int more = p - from < n ? p - from : n, rows = n + more;
        const double *x = w->problem->x + (size_t) from * N;
        R_CheckUserInterrupt();
        for (size_t i = 0; i < N; i++) {
            double *column = stack + i * (size_t) rows;
            ufs_copy(column, w->t + i * N, N);
            for (size_t j = 0; j < (size_t) more; j++) column[N + j] = x[i + j * N];
        }
        lapack = la_r_factor(rows, n, stack, w->t);
    }
    vmaxset(mark);
    return lapack;
}

static int init(rsr_work *w)
{
    int n = w->n, p = w->p;
    size_t N = (size_t) n, R = (size_t) w->r, strip = R > UFS_STRIP ? R : UFS_STRIP, F = 0;

    ufs_dalloc_each(R, N, (double **[]){&w->t, &w->y, NULL});
    w->scale = ufs_dalloc(N, 1);
    w->k = ufs_dalloc(R, R);
    w->a = ufs_dalloc(N, strip);
    w->b = ufs_dalloc(R, R);
    w->strip = ufs_dalloc(R, UFS_STRIP);
    ufs_ialloc_each((size_t) p, (int **[]){&w->free, &w->other, NULL});
    for (int j = 0; j < p; j++) F += mm_is_free(w->settings, j);
    if (F > 0 && p > n) {
        ufs_dalloc_each(N, F, (double **[]){&w->z, &w->c, NULL});
        w->s = ufs_dalloc(F, F);
        w->wf = ufs_dalloc(R, F);
    }
    if (p > n) return root_of_gram(w);
    la_transpose(n, p, w->problem->x, w->t);
    return 0;
}

static double count_of(const rsr_problem *problem, int i)
{
    return problem->count == NULL ? 1.0 : problem->count[i];
}

/* norm: of the rows of D X (X'DX)^{-1}, D = diag(scale^2); the largest, Inf without full rank. */
static double identity_rows(rsr_work *w, double *norm)
{
    int n = w->n, p = w->p;
    size_t P = (size_t) p;
    double least = R_PosInf, most = 0.0, top = 0.0;

    for (size_t e = 0; e < (size_t) n * P; e++) w->y[e] = w->scale[e / P] * w->t[e];
    la_gram('N', p, n, w->y, w->k);
    if (la_chol(p, w->k)) return R_PosInf;
    for (size_t j = 0; j < P; j++) {
        least = fmin(least, w->k[j + j * P]);
        most = fmax(most, w->k[j + j * P]);
    }
    if (!(least > FULL_RANK * most)) return R_PosInf;
    R_CheckUserInterrupt();
    la_chol_solve(p, n, w->k, w->y);
    la_col_norms(p, n, w->y, norm);
    for (int i = 0; i < n; i++) {
        norm[i] *= w->scale[i];
        top = fmax(top, norm[i]);
    }
    return top;
}

/* Is W = I optimal, by a dual point? result->identity: up to which lambda one with D = I proves it, NaN
 * if that is none. Other D only where lambda p <= sum |x_i|, which is necessary. */
static bool proves_identity(rsr_work *w, mm *s, rsr_result *result)
{
    double lambda = s->out->penalty, before = R_PosInf, worst;

    for (int i = 0; i < w->n; i++) w->scale[i] = 1.0 / sqrt(count_of(w->problem, i));
    worst = lambda * identity_rows(w, s->other);
    result->identity = R_FINITE(worst) ? lambda / worst : R_NaN;
    while (worst > 1.0 && worst < 0.9 * before && lambda * w->p <= s->out->primal) {
        before = worst;
        for (int i = 0; i < w->n; i++)
            if (s->other[i] > 0.0) w->scale[i] /= sqrt(s->other[i]);
        worst = lambda * identity_rows(w, s->other);
    }
    return worst <= 1.0;
}

static void known_identity(const rsr_work *w, mm *s, rsr_result *result)
{
    mm_result *out = &result->norms;
    size_t P = (size_t) w->p;

    for (size_t j = 0; j < P; j++) {
        out->row[j] = out->dual[j] = 1.0;
        if (result->w != NULL) result->w[j + j * P] = 1.0;
    }
    memset(out->residual, 0, (size_t) w->n * sizeof(double));
    out->bound = 0.0;
    for (int j = 0; j < w->p; j++) out->bound += out->penalty; /* summed as the objective is */
    out->objective = out->primal = out->bound;
    s->run->status = UFS_CONVERGED;
    s->run->iterations = 1;
    ufs_trace_add(&s->run->trace, (double[]){1, out->objective, 0.0, out->primal, out->bound});
    mm_settle(s);
    ufs_run_step(s->run, out->objective, 0.0);
}

void rsr_solve(const rsr_problem *problem, const mm_settings *settings, rsr_result *result,
               ufs_run *run)
{
    int n = problem->n, p = problem->p;
    rsr_work w = {.problem = problem, .n = n, .p = p, .r = p > n ? n : p, .settings = settings};
    mm s = {.p = p,
            .others = n,
            .least = 1,
            .convex = true,
            .depth = p > n ? 0 : DEPTH,
            .own = OWN,
            .count = problem->count,
            .data = &w,
            .minimise = minimise,
            .price = price};
    double first;

    mm_init(&s, settings, &result->norms, run);
    run->lapack = init(&w);
    if (run->lapack) return;
    /* W = 0, its dual point x_i / |x_i|. */
    la_row_norms(n, p, problem->x, result->norms.residual);
    for (int i = 0; i < n; i++) {
        double length = result->norms.residual[i];
        w.scale[i] = length > 0.0 ? 1.0 / length : 0.0;
        s.u[p + i] = sqrt(length);
    }
    ufs_copy(w.y, w.t, (size_t) n * (size_t) w.r);
    products(&w, NULL, p, 1.0, result->norms.dual);
    mm_zero(&s);
    result->identity = R_NaN;
    if (p <= n && settings->factor == NULL && proves_identity(&w, &s, result) &&
        settings->accelerate && run->max_iter > 0) {
        known_identity(&w, &s, result);
        return;
    }
    /* The authors' weights are all alike. Accelerated: g_i = 2 |x_i| as at W = 0, and only the columns
     * that would move first from there, with r times the mean eigenvalue of X'G^{-1}X half of lambda:
     * W explains a third of E. Residuals or rows near 0 would take long to grow again. */
    first = sqrt(0.5 * (settings->accelerate ? s.out->penalty * w.r / s.out->primal : 1.0));
    for (int j = 0; j < p; j++)
        s.u[j] = mm_is_free(settings, j)                         ? 1.0
                 : settings->accelerate && s.out->dual[j] <= 1.0 ? 0.0
                                                                 : first;
    for (int i = 0; i < n && !settings->accelerate; i++)
        s.u[p + i] = sqrt(0.5 * count_of(problem, i) * problem->start_g);
    mm_run(&s);
    if (result->w != NULL && run->lapack == 0 && run->iterations > 0)
        coefficients(&w, &s, result->w);
}
