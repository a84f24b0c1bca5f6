/* base_css.c: columns that rebuild all columns.
 *
 * With x_j the columns of the n x p matrix x, ridge mu >= 0, choose S, |S| = k, to make
 *     J(S) = sum_j min_b ||x_j - X_S b||^2 + mu ||b||^2
 * small, one column at a time (mu = 0: Farahat, Ghodsi and Kamel, KDD 2011; mu > 0: the
 * columns' counterpart of samp_ted.c). With K = x'x deflated by the picks so far
 * J(S) = tr K, and column j lowers it by
 *     f_j / (d_j + mu),  f_j = ||K_.j||^2,  d_j = K_jj,  after which
 *     K <- K - w w',  w = K_.j / sqrt(d_j + mu).
 *
 *   p-form: K is kept (p x p), f and d are read off it.
 *           n p^2 + 4 k p^2 flops, 16 p^2 bytes.
 *   n-form: nothing p x p. K = x'Px with P = I - RR' (n x n, never formed; the columns of R
 *           are P x_j / sqrt(d_j + mu) of the picks), G = xx'. A pick takes one pass over x,
 *               w = x'r,  v = K w = x'P G r,   r = P x_j / sqrt(d_j + mu),
 *           and f <- f - 2 w v + (r'G r) w^2,  d <- d - w^2.
 *           n^2 p (G) + n^2 p (first f) + 4 n p k + 8 n k^2 flops,
 *           8 (n^2 + n k + 6 p + 3 tile n) bytes. Of a sparse x only nnz counts where np stands
 *           in a pick, and sum_j nnz_j^2 for the first f; a file is read for G, for the first f
 *           and twice a pick.
 * The cheaper one is taken. The n-form is not the product x'xw with the whole of x twice: one
 * pick reads x once.
 *
 * Rounding. f and d of the n-form are differences. Where one has fallen below 1e-4 of what
 * it was when last computed from x, it is computed again (at most a few times a
 * column, n^2 flops each). A column of which less than UFS_TIE of the squares is left counts
 * as rebuilt: it lowers J no more.
 *
 * Ties. Of decreases that agree to UFS_TIE the one of the lowest index is taken.
 *
 * Swaps. The columns chosen are taken out in turn, the best column for the place goes in,
 * until a whole round changes nothing. One try costs as much as the first f (n-form) or
 * 2 k p^2 (p-form).
 *
 * The bound: sums of the leading eigenvalues of G or K (4r^3/3 flops, less than G or the first
 * f; one LAPACK call); above order `exact_limit`, of the first FEW ones
 * by la_eigs, the others counted as the last of these. */
#include "base_css.h"
#include "la.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

enum { FEW = 30 };
static const double RENEW = 1e-4;

typedef struct {
    const css_problem *problem;
    int n, p, k, n_chosen;
    double mu;
    double *gram;     /* n-form: x x'; p-form: x'x */
    double *deflated; /* p-form: K */
    double *r;        /* n-form: n x k */
    double *f, *d;    /* p */
    double *f0, *d0;  /* p, n-form: f and d when last computed from x */
    double *norm2;    /* p: ||x_j||^2 */
    double *pair;     /* n-form: n x 2; p-form: p */
    double *pass;     /* n-form: 2 x p */
    int tile;         /* columns done together, 64 or as many as a block of a file has */
    double *y, *z;    /* n-form: n x tile */
    double *own;      /* n-form, mu > 0: n x tile */
    double *s;        /* n-form: k x tile */
    bool p_form, *chosen;
    int *list, n_list; /* tile: columns to measure */
} css_work;

static bool cheaper_by_p(const css_problem *problem, int k);
static void begin(css_work *work);
static void clear(css_work *work);
static void pick_all(css_work *work, const bool *allowed, css_result *result, ufs_run *run);
static int best_column(const css_work *work, const bool *allowed);
static double decrease(const css_work *work, int j);
static void take(css_work *work, int j, bool gains);
static void measure_all(css_work *work);
static void measure_in_turn(css_work *work, int j, bool wanted);
static void measure(css_work *work);
static void swap_columns(css_work *work, const css_settings *settings, css_result *result);
static int lead(const css_problem *problem, int order, double *gram, int k, double total,
                int exact_limit, double *leading, bool *exact);

void css_solve(const css_problem *problem, const css_settings *settings, css_result *result,
               ufs_run *run)
{
    static const char *const columns[] = {"iteration", "objective", "decrease", NULL};
    css_work work = {
        .problem = problem, .n = problem->n, .p = problem->p, .k = settings->k, .mu = settings->mu};

    ufs_trace_named(&run->trace, settings->k, columns);
    work.p_form = result->p_form = settings->form == 'p' ||
                                   (settings->form == 'a' && cheaper_by_p(problem, settings->k));
    begin(&work);
    result->start = 0.0;
    for (int j = 0; j < problem->p; j++) result->start += work.norm2[j];
    clear(&work);
    measure_all(&work);
    pick_all(&work, NULL, result, run);
    result->swaps = 0;
    if (settings->max_swaps > 0) {
        swap_columns(&work, settings, result);
        if (result->swaps > 0) {
            bool *allowed = (bool *) R_alloc((size_t) problem->p, sizeof(bool));
            for (int j = 0; j < problem->p; j++) allowed[j] = false;
            for (int t = 0; t < settings->k; t++) allowed[result->order[t]] = true;
            clear(&work);
            measure_all(&work);
            ufs_trace_named(&run->trace, settings->k, columns);
            pick_all(&work, allowed, result, run);
        }
    }
    for (int j = 0; j < problem->p; j++)
        result->left[j] = work.chosen[j] ? 0.0 : decrease(&work, j);
    run->lapack = lead(problem, work.p_form ? work.p : work.n, work.gram, work.k, result->start,
                       settings->exact_limit, result->leading, &result->exact);
    run->status = UFS_CONVERGED;
}

static bool cheaper_by_p(const css_problem *problem, int k)
{
    double n = problem->n, p = problem->p;
    return n * p * p + 4.0 * k * p * p < 2.0 * n * n * p + 4.0 * n * p * k;
}

/* ---- set-up ------------------------------------------------------------------------ */

/* x'x (p-form) or xx'. */
static double *gram_of(const css_problem *problem, bool p_form)
{
    size_t order = (size_t) (p_form ? problem->p : problem->n);
    double *gram = ufs_dalloc(order, order);

    if (p_form)
        ufs_x_gram_cols(problem->x, gram);
    else
        ufs_x_gram_rows(problem->x, NULL, gram);
    return gram;
}

static void begin(css_work *work)
{
    const ufs_x *x = work->problem->x;
    size_t n = (size_t) work->n, p = (size_t) work->p, k = (size_t) work->k, tile;

    work->chosen = (bool *) R_alloc((size_t) work->p, sizeof(bool));
    ufs_dalloc_each(p, 1, (double **[]){&work->f, &work->d, &work->norm2, NULL});
    ufs_x_ss(x, work->norm2);

    work->gram = gram_of(work->problem, work->p_form);
    if (work->p_form) {
        work->deflated = ufs_dalloc(p, p);
        work->pair = ufs_dalloc(p, 1);
    } else {
        work->r = ufs_dalloc(n, k);
        ufs_dalloc_each(p, 1, (double **[]){&work->f0, &work->d0, NULL});
        work->pair = ufs_dalloc(n, 2);
        work->pass = ufs_dalloc(2, p);
        work->tile = ufs_x_at_once(x);
        if (work->tile > 64) {
            double share = (double) work->n / ((double) work->n + work->k);
            work->tile = (int) fmax(64.0, work->tile * share);
        }
        tile = (size_t) work->tile;
        ufs_dalloc_each(n, tile, (double **[]){&work->y, &work->z, NULL});
        work->own = ufs_dalloc(work->mu > 0.0 ? n : 0, tile);
        work->s = ufs_dalloc(k, tile);
        work->list = ufs_ialloc(tile);
    }
}

/* Nothing chosen; f and d are to be measured. */
static void clear(css_work *work)
{
    work->n_chosen = 0;
    for (int j = 0; j < work->p; j++) work->chosen[j] = false;
    if (work->p_form) ufs_copy(work->deflated, work->gram, (size_t) work->p * (size_t) work->p);
}

/* ---- the greedy choice ---------------------------------------------------------------- */

static void pick_all(css_work *work, const bool *allowed, css_result *result, ufs_run *run)
{
    double objective = result->start;

    for (int t = 0; t < work->k; t++) {
        int j = best_column(work, allowed);
        double gain = decrease(work, j);
        result->order[t] = j;
        take(work, j, true);
        objective -= gain;
        run->iterations = t + 1;
        ufs_trace_add(&run->trace, (double[]){t + 1, fmax(objective, 0.0), gain});
        ufs_run_step(run, objective, gain);
    }
}

static double decrease(const css_work *work, int j)
{
    if (!(work->d[j] > UFS_TIE * work->norm2[j])) return 0.0;
    return fmax(work->f[j], 0.0) / (work->d[j] + work->mu);
}

static int best_column(const css_work *work, const bool *allowed)
{
    double top = -1.0;

    for (int j = 0; j < work->p; j++)
        if (!work->chosen[j] && (allowed == NULL || allowed[j])) top = fmax(top, decrease(work, j));
    for (int j = 0; j < work->p; j++)
        if (!work->chosen[j] && (allowed == NULL || allowed[j]) &&
            decrease(work, j) >= top * (1.0 - UFS_TIE))
            return j;
    return 0; /* not reached: callers ask for at most p picks */
}

/* y (n x m) <- P y; for mu = 0 twice, so that R stays orthonormal. */
static void project(css_work *work, int m, double *y)
{
    int n = work->n, t = work->n_chosen;

    if (t == 0) return;
    for (int twice = work->mu > 0.0 ? 1 : 0; twice < 2; twice++) {
        la_gemm('T', 'N', t, m, n, 1.0, work->r, n, y, n, 0.0, work->s, t);
        la_gemm('N', 'N', n, m, t, -1.0, work->r, n, work->s, t, 1.0, y, n);
    }
}

/* Chooses column j; f and d of all columns follow if `gains`. */
static void take(css_work *work, int j, bool gains)
{
    int n = work->n, p = work->p;
    size_t N = (size_t) n, P = (size_t) p;
    double *r = work->pair, *g = r + N, none = UFS_TIE * work->norm2[j], left;

    work->chosen[j] = true;
    if (work->p_form) {
        double *w = work->pair, by;

        left = fmax(work->deflated[(size_t) j * P + (size_t) j], 0.0);
        /* mu = 0: nothing left to deflate by. */
        if (work->mu == 0.0 && left <= none) return;
        by = sqrt(left + work->mu);
        for (size_t i = 0; i < P; i++) w[i] = work->deflated[(size_t) j * P + i] / by;
        for (size_t i = 0; i < P; i++)
            if (w[i] != 0.0) la_axpy(p, -w[i], w, work->deflated + i * P);
        work->n_chosen++;
        if (gains) measure_all(work);
        return;
    }
    const double *column = ufs_x_column(work->problem->x, j, g);
    ufs_copy(r, column, N);
    project(work, 1, r);
    left = work->mu > 0.0 ? la_dot(n, column, r) + work->mu : la_dot(n, r, r);
    if (work->mu == 0.0 && left <= none) return;
    for (size_t i = 0; i < N; i++) r[i] /= sqrt(left);
    if (gains) {
        la_gemv('N', n, n, 1.0, work->gram, n, r, 0.0, g);
        double size = la_dot(n, r, g);
        project(work, 1, g);
        ufs_x_cross_rows(work->problem->x, 2, work->pair, work->pass);
        for (size_t i = 0; i < P; i++) {
            double w = work->pass[2 * i], v = work->pass[2 * i + 1];
            work->f[i] += w * (size * w - 2.0 * v);
            work->d[i] -= w * w;
        }
    }
    ufs_copy(work->r + (size_t) work->n_chosen * N, r, N);
    work->n_chosen++;
    for (int i = 0; i < p && gains; i++) {
        bool stale = work->f[i] < RENEW * work->f0[i] || work->d[i] < RENEW * work->d0[i];
        measure_in_turn(work, i,
                        stale && !work->chosen[i] && work->d[i] > UFS_TIE * work->norm2[i]);
    }
}

/* f and d from K, or from x. */
static void measure_all(css_work *work)
{
    if (work->p_form) {
        for (int j = 0; j < work->p; j++) {
            const double *col = work->deflated + (size_t) j * (size_t) work->p;
            work->f[j] = la_dot(work->p, col, col);
            work->d[j] = col[j];
        }
        return;
    }
    /* Before the first pick f_j = x_j'G x_j, for which the entries of a sparse column are enough. */
    if (work->n_chosen == 0) ufs_x_forms(work->problem->x, work->gram, work->f);
    for (int j = 0; j < work->p; j++) {
        bool known = work->n_chosen == 0 && R_FINITE(work->f[j]);
        if (j % 256 == 0) R_CheckUserInterrupt();
        if (known) {
            work->f0[j] = work->f[j];
            work->d[j] = work->d0[j] = work->norm2[j];
        }
        measure_in_turn(work, j, !known);
    }
}

/* Columns in their order: those that are wanted are measured a tile at a time. */
static void measure_in_turn(css_work *work, int j, bool wanted)
{
    if (wanted) work->list[work->n_list++] = j;
    if (work->n_list < work->tile && (work->n_list == 0 || j < work->p - 1)) return;
    R_CheckUserInterrupt();
    measure(work);
    work->n_list = 0;
}

/* f_j = y'Gy, with what is above the diagonal blocks of G twice: half the flops of Gy. */
static void measure(css_work *work)
{
    int n = work->n, n_list = work->n_list;
    size_t N = (size_t) n;

    ufs_x_columns(work->problem->x, n_list, work->list, work->y);
    if (work->mu > 0.0) ufs_copy(work->own, work->y, N * (size_t) n_list);
    project(work, n_list, work->y);
    memset(work->z, 0, N * (size_t) n_list * sizeof(double));
    for (int from = 0; from < n; from += UFS_STRIP) {
        int wide = n - from < UFS_STRIP ? n - from : UFS_STRIP;
        const double *g = work->gram + (size_t) from * N, *y = work->y + from;
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

/* ---- swaps ------------------------------------------------------------------------------ */

static void swap_columns(css_work *work, const css_settings *settings, css_result *result)
{
    int k = work->k, quiet = 0;

    for (int a = 0; quiet < k && result->swaps < settings->max_swaps; a = (a + 1) % k) {
        int old = result->order[a], best;
        R_CheckUserInterrupt();
        ufs_x_prefetch(work->problem->x, k, result->order);
        clear(work);
        for (int t = 0; t < k; t++)
            if (t != a) take(work, result->order[t], false);
        measure_all(work);
        best = best_column(work, NULL);
        quiet++;
        if (best != old && decrease(work, best) > decrease(work, old) + UFS_TIE * result->start) {
            result->order[a] = best;
            result->swaps++;
            quiet = 0;
        }
    }
}

/* ---- the bound ---------------------------------------------------------------------------- */

typedef struct {
    int order;
    const double *gram;
    const ufs_x *sparse; /* xx' by the entries of x, where these are few; else NULL */
} gram_operator;

static void gram_times(const void *data, int m, const double *x, double *y)
{
    const gram_operator *a = data;
    if (a->sparse)
        ufs_x_gram_mul(a->sparse, m, x, y);
    else
        la_gemm('N', 'N', a->order, m, a->order, 1.0, a->gram, a->order, x, a->order, 0.0, y,
                a->order);
}

int css_leading(const css_problem *problem, int k, int exact_limit, double *leading, double *total,
                bool *exact)
{
    bool p_form = problem->p < problem->n;
    void *mark = vmaxget();
    double *ss = ufs_dalloc((size_t) problem->p, 1);

    ufs_x_ss(problem->x, ss);
    *total = 0.0;
    for (int j = 0; j < problem->p; j++) *total += ss[j];
    vmaxset(mark);
    return lead(problem, p_form ? problem->p : problem->n, gram_of(problem, p_form), k, *total,
                exact_limit, leading, exact);
}

/* Destroys the Gram matrix. Returns LAPACK's info. */
static int lead(const css_problem *problem, int order, double *gram, int k, double total,
                int exact_limit, double *leading, bool *exact)
{
    int r = problem->n < problem->p ? problem->n : problem->p, m = k < r ? k : r, info;
    double *value, sum = 0.0, last = 0.0;

    *exact = order <= exact_limit;
    if (!*exact && m > FEW) m = FEW;
    value = ufs_dalloc((size_t) (*exact ? order : m), 1);
    if (*exact) {
        info = la_eig_values(order, gram, value);
    } else {
        bool by_entries = problem->x->kind == UFS_X_SPARSE && order == problem->n &&
                          order <= problem->p &&
                          8.0 * ufs_x_entries(problem->x) < (double) order * order;
        gram_operator data = {order, gram, by_entries ? problem->x : NULL};
        la_eigs_info eigs;
        la_eigs_problem leaders = {.n = order,
                                   .k = m,
                                   .apply = gram_times,
                                   .data = &data,
                                   .low = 0.0,
                                   .high = total,
                                   .block = 8,
                                   .proof = true,
                                   .tol = 1e-8,
                                   .max_iter = 200};
        la_eigs(&leaders, value, ufs_dalloc((size_t) order, (size_t) m), &eigs);
        info = eigs.lapack;
        if (!eigs.converged) m = 0; /* then only the total is known */
    }
    if (info) return info;
    for (int t = 0; t < k; t++) {
        /* LAPACK's eigenvalues ascend, those of la_eigs descend. */
        if (t < m) last = fmax(value[*exact ? order - 1 - t : t], 0.0);
        if (m == 0)
            sum = total;
        else if (t < m || !*exact)
            sum += last;
        leading[t] = fmin(sum, total);
    }
    return 0;
}
