/* samp_ted.c: greedy sequential transductive experimental design.
 *
 * Problem (Yu, Bi & Tresp, ICML 2006). Items x_i (rows of the n x p matrix x; the paper has
 * them as columns), ridge mu > 0. Choose S, |S| = m, to make
 *     J(S) = sum_i min_a ||x_i - sum_{j in S} a_j x_j||^2 + mu ||a||^2
 * small, one item at a time. With K = x x' deflated by the items chosen so far,
 * J(S) = tr K, and item j lowers it by exactly
 *     ||K_.j||^2 / (K_jj + mu),   after which  K <- K - K_.j K_.j' / (K_jj + mu).
 * Items given beforehand are taken out of K in the same way first, in any order.
 *
 * With k = K_.j of the pick and h = K k, all that a step needs is
 *     ||K_.i||^2 <- ||K_.i||^2 - 2 c_i h_i + c_i^2 ||k||^2,  c_i = k_i / (K_jj + mu),
 *     K_ii <- K_ii - c_i k_i,
 * and K itself is kept
 *   n-form  as a matrix, from which picks are subtracted BLOCK at a time
 *           n^2 p + 6 m n^2 flops, 8 n^2 bytes
 *   p-form  as x M x', M p x p deflated by u u', u = M x_j: k = x u, h = x M x'x u
 *           3 n p^2 + m (4 n p + 8 p^2) flops, 24 p^2 bytes; one pass over x a pick
 * and the cheaper one is taken, so n x n stays below 1.5 times the size of x.
 *
 * The recurrence for ||K_.i||^2 carries the rounding of its larger past values. It is started
 * afresh from K with every block (n-form), and whenever that of the item about to be picked has
 * fallen to REFRESH of what it was then (p-form: 4 n p^2 + 4 p^3 flops).
 *
 * Ties. The largest decrease wins and among equals the lowest index. The entries
 * of K carry the rounding of the K at the start, hence a decrease d that of
 * sqrt(d d_1), d_1 being the first pick's: decreases within 1e-12 sqrt(d d_1)
 * count as equal, so that the order does not depend on the BLAS. */
#include "samp_ted.h"
#include "la.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

enum { BLOCK = 32, STRIP = 256 };
static const double REFRESH = 1e-3;

typedef struct {
    const ted_problem *problem;
    bool p_form;
    double *kernel; /* n-form: K, n x n */
    double *late;   /* n-form: k / sqrt(K_jj + mu) of picks not yet subtracted, n x BLOCK */
    int n_late;
    double *gram, *m;          /* p-form: x'x and M, p x p */
    double *item, *u, *cu, *v; /* p-form, p each; item: n-form too (BLOCK) */
    double *strip;             /* n x STRIP, or p x p */
    double *k, *h;             /* n */
    double *ss;                /* n: ||K_.i||^2 */
    double *diag;              /* n: K_ii */
    bool *gone;                /* n: picked or given */
    double *then;              /* n: ss when it was last computed from K */
} ted_work;

static bool cheaper_by_p(const ted_problem *problem, int m);
static void init_n_form(ted_work *work);
static void init_p_form(ted_work *work);
static void refresh(ted_work *work);
static void refresh_n(ted_work *work);
static void refresh_p(ted_work *work);
static int best_item(const ted_work *work, double first);
static double decrease(const ted_work *work, int j);
static double take_out(ted_work *work, int j);
static void column_n(ted_work *work, int j, double by);
static void column_p(ted_work *work, int j, double by);
static void two_products(int n, int p, const double *x, const double *u, const double *v, double *k,
                         double *h);
static void flush(ted_work *work);

void ted_solve(const ted_problem *problem, const ted_settings *settings, ted_result *result,
               ufs_run *run)
{
    static const char *const columns[] = {"objective", "decrease", NULL};
    int n = problem->n;
    size_t N = (size_t) n;
    double objective, first = 0.0;
    ted_work work = {.problem = problem,
                     .k = ufs_dalloc(N, 1),
                     .h = ufs_dalloc(N, 1),
                     .ss = ufs_dalloc(N, 1),
                     .diag = ufs_dalloc(N, 1),
                     .then = ufs_dalloc(N, 1),
                     .gone = (bool *) R_alloc(N, sizeof(bool))};

    ufs_trace_named(&run->trace, settings->m, columns);
    run->status = UFS_CONVERGED;
    work.p_form = result->p_form = settings->form == 'p' ||
                                   (settings->form == 'a' &&
                                    cheaper_by_p(problem, settings->m + problem->n_given));
    memset(work.gone, 0, N * sizeof(bool));
    if (work.p_form)
        init_p_form(&work);
    else
        init_n_form(&work);

    objective = la_ss(N * (size_t) problem->p, problem->x);
    for (int t = 0; t < problem->n_given; t++) {
        R_CheckUserInterrupt();
        objective -= take_out(&work, problem->given[t]);
    }
    if (problem->n_given > 0) refresh(&work);
    result->start = objective;
    for (int t = 0; t < settings->m; t++) {
        double gain;
        int j = best_item(&work, first);
        /* Below 1e-24 of the first decrease all are ties, whatever their digits. */
        if (work.ss[j] < REFRESH * work.then[j] && decrease(&work, j) > 1e-24 * first) {
            refresh(&work);
            j = best_item(&work, first);
        }
        gain = take_out(&work, j);
        if (t == 0) first = gain;
        result->order[t] = j;
        result->score[t] = gain;
        objective -= gain;
        run->iterations = t + 1;
        ufs_trace_add(&run->trace, (double[]){objective, gain});
        ufs_run_step(run, objective, gain);
    }
    refresh(&work);
    for (int i = 0; i < n; i++) result->left[i] = work.gone[i] ? 0.0 : decrease(&work, i);
}

static bool cheaper_by_p(const ted_problem *problem, int m)
{
    double n = problem->n, p = problem->p;
    return 3.0 * n * p * p + m * (4.0 * n * p + 8.0 * p * p) < n * n * p + 6.0 * m * n * n;
}

/* ---- K -------------------------------------------------------------------------------- */

static void init_n_form(ted_work *work)
{
    int n = work->problem->n, p = work->problem->p;
    size_t N = (size_t) n;
    const double *x = work->problem->x;

    work->kernel = ufs_dzero(N, N);
    work->late = ufs_dalloc(N, BLOCK);
    work->item = ufs_dalloc(BLOCK, 1);
    /* In blocks of columns of K, and of x where it has many: none takes long. */
    for (int from = 0; from < n; from += STRIP)
        for (int at = 0; at < p; at += 4096) {
            int wide = n - from < STRIP ? n - from : STRIP, deep = p - at < 4096 ? p - at : 4096;
            R_CheckUserInterrupt();
            la_gemm('N', 'T', from + wide, wide, deep, 1.0, x + (size_t) at * N, n,
                    x + (size_t) at * N + from, n, 1.0, work->kernel + (size_t) from * N, n);
        }
    la_fill_lower(n, work->kernel);
    refresh_n(work);
}

static void init_p_form(ted_work *work)
{
    int n = work->problem->n, p = work->problem->p;
    size_t N = (size_t) n, P = (size_t) p;
    const double *x = work->problem->x;

    work->gram = ufs_dalloc(P, P);
    work->m = ufs_dzero(P, P);
    work->strip = ufs_dalloc(P > N ? P : N, P < STRIP ? P : STRIP);
    work->item = ufs_dalloc(P, 1);
    work->u = ufs_dalloc(P, 1);
    work->cu = ufs_dalloc(P, 1);
    work->v = ufs_dalloc(P, 1);
    for (int from = 0; from < p; from += STRIP) {
        int wide = p - from < STRIP ? p - from : STRIP;
        R_CheckUserInterrupt();
        la_gemm('T', 'N', from + wide, wide, n, 1.0, x, n, x + (size_t) from * N, n, 0.0,
                work->gram + (size_t) from * P, p);
    }
    la_fill_lower(p, work->gram);
    for (size_t i = 0; i < P; i++) work->m[i + i * P] = 1.0;
    refresh_p(work);
}

/* ||K_.i||^2 and K_ii from K itself. */
static void refresh(ted_work *work)
{
    if (work->p_form)
        refresh_p(work);
    else
        flush(work);
}

static void refresh_n(ted_work *work)
{
    size_t n = (size_t) work->problem->n;

    for (size_t j = 0; j < n; j++) {
        const double *col = work->kernel + j * n;
        double ss = 0.0;
        for (size_t i = 0; i < n; i++) ss += col[i] * col[i];
        work->ss[j] = work->then[j] = ss;
        work->diag[j] = col[j];
    }
}

/* ||K_.i||^2 = x_i'(M C M) x_i and K_ii = x_i'M x_i, strip by strip of M C M and of M. */
static void refresh_p(ted_work *work)
{
    int n = work->problem->n, p = work->problem->p;
    size_t N = (size_t) n, P = (size_t) p;
    const double *x = work->problem->x;
    const void *mark = vmaxget();
    double *square = ufs_dalloc(P, P), *half = ufs_dalloc(P, P < STRIP ? P : STRIP);

    memset(work->ss, 0, N * sizeof(double));
    memset(work->diag, 0, N * sizeof(double));
    for (int from = 0; from < p; from += STRIP) {
        int wide = p - from < STRIP ? p - from : STRIP;
        R_CheckUserInterrupt();
        la_gemm('N', 'N', p, wide, p, 1.0, work->gram, p, work->m + (size_t) from * P, p, 0.0, half,
                p);
        la_gemm('N', 'N', p, wide, p, 1.0, work->m, p, half, p, 0.0, square + (size_t) from * P, p);
    }
    for (int which = 0; which < 2; which++) {
        const double *base = which ? work->m : square;
        double *out = which ? work->diag : work->ss;
        for (int from = 0; from < p; from += STRIP) {
            int wide = p - from < STRIP ? p - from : STRIP;
            R_CheckUserInterrupt();
            la_gemm('N', 'N', n, wide, p, 1.0, x, n, base + (size_t) from * P, p, 0.0, work->strip,
                    n);
            for (size_t j = 0; j < (size_t) wide; j++) {
                const double *col = x + ((size_t) from + j) * N, *with = work->strip + j * N;
                for (size_t i = 0; i < N; i++) out[i] += col[i] * with[i];
            }
        }
    }
    for (int i = 0; i < n; i++) work->ss[i] = work->then[i] = fmax(work->ss[i], 0.0);
    vmaxset(mark);
}

/* ---- picks ------------------------------------------------------------------------------- */

static double decrease(const ted_work *work, int j)
{
    return fmax(work->ss[j], 0.0) / (fmax(work->diag[j], 0.0) + work->problem->mu);
}

static int best_item(const ted_work *work, double first)
{
    int n = work->problem->n;
    double top = -1.0, least;

    for (int j = 0; j < n; j++)
        if (!work->gone[j]) top = fmax(top, decrease(work, j));
    least = top - 1e-12 * sqrt(top * fmax(first, top));
    for (int j = 0; j < n; j++)
        if (!work->gone[j] && decrease(work, j) >= least) return j;
    return 0; /* not reached: callers ask for at most as many picks as there are items left */
}

/* Takes item j out of K; the decrease it brought. */
static double take_out(ted_work *work, int j)
{
    int n = work->problem->n;
    double by = fmax(work->diag[j], 0.0) + work->problem->mu, gain = decrease(work, j), kk;

    work->gone[j] = true;
    if (work->p_form)
        column_p(work, j, by);
    else
        column_n(work, j, by);
    kk = la_dot(n, work->k, work->k);
    for (int i = 0; i < n; i++) {
        double c = work->k[i] / by;
        work->ss[i] += c * (c * kk - 2.0 * work->h[i]);
        work->diag[i] -= c * work->k[i];
    }
    if (!work->p_form && work->n_late == BLOCK) flush(work);
    return gain;
}

/* k = K_.j and h = K k; u u' / by leaves M. */
static void column_p(ted_work *work, int j, double by)
{
    int n = work->problem->n, p = work->problem->p;
    size_t N = (size_t) n, P = (size_t) p;
    const double *x = work->problem->x;

    for (size_t l = 0; l < P; l++) work->item[l] = x[(size_t) j + l * N];
    la_gemv('N', p, p, 1.0, work->m, p, work->item, 0.0, work->u);
    la_gemv('N', p, p, 1.0, work->gram, p, work->u, 0.0, work->cu);
    la_gemv('N', p, p, 1.0, work->m, p, work->cu, 0.0, work->v);
    two_products(n, p, x, work->u, work->v, work->k, work->h);
    for (size_t a = 0; a < P; a++) la_axpy(p, -work->u[a] / by, work->u, work->m + a * P);
}

/* k = x u and h = x v in one pass over x, four columns at a time: the pass is what a pick
 * costs, and two calls of dgemv take 2.5 times as long. */
static void two_products(int n, int p, const double *x, const double *u, const double *v, double *k,
                         double *h)
{
    size_t N = (size_t) n;
    int l = 0;

    memset(k, 0, N * sizeof(double));
    memset(h, 0, N * sizeof(double));
    for (; l + 3 < p; l += 4) {
        const double *a = x + (size_t) l * N, *b = a + N, *c = b + N, *d = c + N;
        double u0 = u[l], u1 = u[l + 1], u2 = u[l + 2], u3 = u[l + 3];
        double v0 = v[l], v1 = v[l + 1], v2 = v[l + 2], v3 = v[l + 3];
        for (size_t i = 0; i < N; i++) {
            k[i] += a[i] * u0 + b[i] * u1 + c[i] * u2 + d[i] * u3;
            h[i] += a[i] * v0 + b[i] * v1 + c[i] * v2 + d[i] * v3;
        }
    }
    for (; l < p; l++) {
        la_axpy(n, u[l], x + (size_t) l * N, k);
        la_axpy(n, v[l], x + (size_t) l * N, h);
    }
}

static void column_n(ted_work *work, int j, double by)
{
    int n = work->problem->n, late = work->n_late;
    size_t N = (size_t) n;
    double *next = work->late + (size_t) late * N, root = sqrt(by);

    ufs_copy(work->k, work->kernel + (size_t) j * N, N);
    for (int t = 0; t < late; t++)
        la_axpy(n, -work->late[(size_t) j + (size_t) t * N], work->late + (size_t) t * N, work->k);
    la_gemv('N', n, n, 1.0, work->kernel, n, work->k, 0.0, work->h);
    if (late > 0) {
        la_gemv('T', n, late, 1.0, work->late, n, work->k, 0.0, work->item);
        la_gemv('N', n, late, -1.0, work->late, n, work->item, 1.0, work->h);
    }
    for (int i = 0; i < n; i++) next[i] = work->k[i] / root;
    work->n_late++;
}

/* The late picks leave K. */
static void flush(ted_work *work)
{
    int n = work->problem->n;

    if (work->n_late > 0)
        la_gemm('N', 'T', n, n, work->n_late, -1.0, work->late, n, work->late, n, 1.0, work->kernel,
                n);
    work->n_late = 0;
    refresh_n(work);
}
