/* samp_ted.c: greedy sequential transductive experimental design.
 *
 * Problem (Yu, Bi & Tresp, ICML 2006). Items x_i (rows of the
 * n x p matrix x; the paper has them as columns), ridge mu > 0. Choose S, |S| = m,
 * to make
 *     J(S) = sum_i min_a ||x_i - sum_{j in S} a_j x_j||^2 + mu ||a||^2
 * small, one item at a time. With K = x x' deflated by the items chosen so far,
 * J(S) = tr K, and item j lowers it by exactly
 *     ||K_.j||^2 / (K_jj + mu),   after which  K <- K - K_.j K_.j'/(K_jj + mu).
 *
 * K is never formed when p is small. Both forms run on K = A'Y with the columns
 * of A fixed, those of Y deflated, and ||K_.j||^2 = sum_l c_l Y_lj^2:
 *   n-form  A = I, Y = K (n x n), c = 1
 *           n^2 p + 4 m n^2 flops, 8 n^2 bytes
 *   p-form  x'x = U diag(c) U', A = Y = U'x' (r x n), r = rank of x
 *           n p^2 + 10 p^3 + 2npr + 8 m n r flops, 8 (2nr + 2p^2) bytes
 * and the cheaper one is taken, so n x n stays below 1.5 times the size of x.
 *
 * Ties. The largest decrease wins and among equals the lowest index. The entries
 * of K carry the rounding of the K at the start, hence a decrease d that of
 * sqrt(d d_1), d_1 being the first pick's: decreases within 1e-12 sqrt(d d_1)
 * count as equal, so that the order does not depend on the BLAS. */
#include "samp_ted.h"
#include "la.h"

typedef struct {
    int r;         /* rows of A and Y: n or the rank of x */
    double *a;     /* r x n; NULL stands for the identity */
    double *y;     /* r x n */
    double *c;     /* r; NULL stands for ones */
    double *u;     /* r: the picked column of Y */
    double *ss;    /* n: ||K_.j||^2 */
    double *diag;  /* n: K_jj */
    bool *picked;  /* n */
} ted_work;

static bool cheaper_by_p(const ted_problem *problem, int m);
static void init_n_form(const ted_problem *problem, ted_work *work);
static int init_p_form(const ted_problem *problem, ted_work *work);
static void measure_items(int n, ted_work *work);
static int best_item(int n, const ted_work *work, double mu, double first);
static double decrease(const ted_work *work, double mu, int j);
static void deflate(int n, ted_work *work, double mu, int j);

void ted_solve(const ted_problem *problem, const ted_settings *settings, ted_result *result,
               ufs_run *run)
{
    int n = problem->n;
    double mu = problem->mu, objective, first = 0.0;
    static const char *const columns[] = {"objective", "decrease", NULL};
    ted_work work;

    ufs_trace_named(&run->trace, settings->m, columns);
    run->status = UFS_CONVERGED;
    result->p_form = settings->form == 'p' ||
        (settings->form == 'a' && cheaper_by_p(problem, settings->m));
    work.ss = ufs_dalloc((size_t) n, 1);
    work.diag = ufs_dalloc((size_t) n, 1);
    work.picked = (bool *) R_alloc((size_t) n, sizeof(bool));
    for (int i = 0; i < n; i++) work.picked[i] = false;

    if (result->p_form)
        run->lapack = init_p_form(problem, &work);
    else
        init_n_form(problem, &work);
    if (run->lapack) return;
    measure_items(n, &work);
    objective = result->start = la_ss((size_t) n * (size_t) problem->p, problem->x);

    for (int t = 0; t < settings->m; t++) {
        int j = best_item(n, &work, mu, first);
        double gain = decrease(&work, mu, j);
        if (t == 0) first = gain;
        result->order[t] = j;
        result->score[t] = gain;
        work.picked[j] = true;
        deflate(n, &work, mu, j);
        objective -= gain;
        run->iterations = t + 1;
        ufs_trace_add(&run->trace, (double[]) {objective, gain});
        ufs_run_step(run, objective, gain);
    }
    for (int i = 0; i < n; i++)
        result->left[i] = work.picked[i] ? 0.0 : decrease(&work, mu, i);
}

static bool cheaper_by_p(const ted_problem *problem, int m)
{
    double n = problem->n, p = problem->p, r = fmin(n, p);
    return n * p * p + 10.0 * p * p * p + 2.0 * n * p * r + 8.0 * m * n * r <
        n * n * p + 4.0 * m * n * n;
}

static void init_n_form(const ted_problem *problem, ted_work *work)
{
    size_t n = (size_t) problem->n;
    work->r = problem->n;
    work->a = NULL;
    work->c = NULL;
    work->u = ufs_dalloc(n, 1);
    work->y = ufs_dalloc(n, n);
    la_gram('N', problem->n, problem->p, problem->x, work->y);
}

static int init_p_form(const ted_problem *problem, ted_work *work)
{
    int n = problem->n, p = problem->p, drop = 0, info;
    size_t N = (size_t) n, P = (size_t) p;
    double *gram = ufs_dalloc(P, P), *vec = ufs_dalloc(P, P), *val = ufs_dalloc(P, 1);

    la_gram('T', n, p, problem->x, gram);
    info = la_eig_range(p, gram, 1, p, val, vec);
    if (info) return info;
    /* Ascending: the first ones may be the rounding of zero. */
    while (drop < p - 1 && val[drop] <= val[p - 1] * DBL_EPSILON * fmax(n, p)) drop++;
    work->r = p - drop;
    work->c = val + drop;
    work->a = ufs_dalloc((size_t) work->r, N);
    work->y = ufs_dalloc((size_t) work->r, N);
    work->u = ufs_dalloc((size_t) work->r, 1);
    la_gemm('T', 'T', work->r, n, p, 1.0, vec + (size_t) drop * P, p, problem->x, n,
            0.0, work->a, work->r);
    ufs_copy(work->y, work->a, (size_t) work->r * N);
    return 0;
}

/* ||K_.j||^2 and K_jj of one item. */
static void measure(ted_work *work, int j)
{
    int r = work->r;
    const double *y = work->y + (size_t) j * (size_t) r;
    double ss = 0.0;

    if (work->a == NULL) {
        for (int l = 0; l < r; l++) ss += y[l] * y[l];
        work->diag[j] = y[j];
    } else {
        const double *a = work->a + (size_t) j * (size_t) r;
        double dot = 0.0;
        for (int l = 0; l < r; l++) {
            ss += work->c[l] * y[l] * y[l];
            dot += a[l] * y[l];
        }
        work->diag[j] = dot;
    }
    work->ss[j] = ss;
}

static void measure_items(int n, ted_work *work)
{
    for (int j = 0; j < n; j++) measure(work, j);
}

static double decrease(const ted_work *work, double mu, int j)
{
    return work->ss[j] / (fmax(work->diag[j], 0.0) + mu);
}

static int best_item(int n, const ted_work *work, double mu, double first)
{
    double top = -1.0;
    for (int j = 0; j < n; j++)
        if (!work->picked[j]) top = fmax(top, decrease(work, mu, j));
    double least = top - 1e-12 * sqrt(top * fmax(first, top));
    for (int j = 0; j < n; j++)
        if (!work->picked[j] && decrease(work, mu, j) >= least) return j;
    return 0; /* not reached: callers ask for at most n picks of finite items */
}

/* Takes item j out of all items that can still be picked. */
static void deflate(int n, ted_work *work, double mu, int j)
{
    int r = work->r;
    double by = fmax(work->diag[j], 0.0) + mu;

    ufs_copy(work->u, work->y + (size_t) j * (size_t) r, (size_t) r);
    for (int i = 0; i < n; i++) {
        if (work->picked[i]) continue;
        double k_ij = work->a == NULL ? work->u[i]
            : la_dot(r, work->a + (size_t) i * (size_t) r, work->u);
        la_axpy(r, -k_ij / by, work->u, work->y + (size_t) i * (size_t) r);
        measure(work, i);
    }
}
