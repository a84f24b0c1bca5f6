/* base_sogfs.c: structured optimal graph feature selection (Nie, Zhu and Li, AAAI 2016).
 *
 *   min sum_ij (|W'x_i - W'x_j|^2 s_ij + alpha s_ij^2) + gamma sum_j |w_j| + 2 lambda tr(F'L F)
 *   s.t. S >= 0, S 1 = 1, W'W = I (p x m), F'F = I (n x c),  L the Laplacian of (S + S')/2.
 *
 * As in the authors' code: alpha = r, from the distances to the k nearest neighbours; S starts
 * from them too, and each row has at most k non-zeros, among the k nearest by x in the first five
 * iterations and by XW after; the step over W has M = X'LX (base_wstep.c), without the
 * 2 of the objective above; lambda is doubled while the graph has fewer than c components and
 * halved (F restored) when it has more, until it has c. Rows of S are exact projections on the
 * simplex.
 *
 * The graph changes W's objective by percents from one iteration to the next. Accelerated, W is
 * solved for to a relative COARSE until the graph has its c components; then the iteration is done
 * again, and so are all that may follow, to what was asked for.
 *
 * L stays sparse (at most 2nk entries). Its null vectors are the indicators of the components,
 * known exactly; la_eigs() finds the others. p <= n: M = X'(LX), np^2 flops per iteration; p > n:
 * L is factored, n^3/3 + n^2 p. */
#include "base_sogfs.h"
#include "base_wstep.h"
#include "graph.h"
#include "la.h"
#include "proj.h"
#include <R_ext/Memory.h>

enum { FIXED_CANDIDATES = 5, LEAST_ITERATIONS = 3 };
static const double SPLIT = 1e-9, JOINED = 1e-11;
static const double COARSE = 1e-3;

typedef struct {
    const sogfs_problem *problem;
    wstep_problem over_w;
    wstep step;
    double tol;  /* of the steps over W at hand */
    graph_csr l; /* (S + S') / 2 */
    int *start, *col;
    double *weight, *degree;
    int *fill;            /* n + 1 */
    int *first;           /* k x n: the k nearest by x */
    double *lx;           /* n x n: L, if p > n */
    double *z;            /* n x m: XW */
    double *f_old;        /* n x c */
    double *known;        /* n x (c + 1): component indicators */
    double *mu, *vector;  /* c + 1, n x (c + 1): of L, those that are not known */
    int n_vector;         /* how many the last iteration found */
    bool fine, exact;     /* W is asked for, was solved for, to the end */
    double *s_old;        /* k x n: S before */
    int *neighbour_old;   /* k x n */
    double *gap, *sorted; /* k */
    double *pivot_work;
    int *pivot;
} sogfs_work;

static void init(sogfs_work *s, const sogfs_problem *problem, const sogfs_settings *settings,
                 sogfs_result *r);
static double first_graph(sogfs_work *s, sogfs_result *r);
static void symmetric_graph(sogfs_work *s, const sogfs_result *r);
static int update_w(sogfs_work *s, const sogfs_settings *settings, int *inner);
static bool judge(void *data, mm *inner, bool accepted);
static int scatter(sogfs_work *s);
static void update_s(sogfs_work *s, sogfs_result *r, bool fixed, double lambda, double scale);
static int update_f(sogfs_work *s, sogfs_result *r, double *sum_c, double *sum_next,
                    int *n_components);
static double largest_eigenvalue(const graph_csr *g);
static void apply_minus_laplacian(const void *data, int m, const double *x, double *y);
static void recur_minus_laplacian(const void *data, int m, int steps, const double *c, double *x);
static double objective(const sogfs_work *s, const sogfs_result *r, double alpha);
static double squared_distance(int n, int m, const double *z, int i, int j);

void sogfs_solve(const sogfs_problem *problem, const sogfs_settings *settings, sogfs_result *result,
                 ufs_run *run)
{
    static const char *const columns[] = {"iteration",  "objective", "lambda", "zeros",
                                          "next_zeros", "inner",     NULL};
    sogfs_work s;
    double sum_c, sum_next;
    size_t len = (size_t) problem->n * (size_t) problem->c;
    size_t edges = (size_t) problem->n * (size_t) problem->k;

    init(&s, problem, settings, result);
    ufs_trace_named(&run->trace, settings->max_iter, columns);
    run->status = UFS_MAX_ITER;
    result->live = 0;
    result->residual = R_NaN;
    result->alpha = first_graph(&s, result);
    result->lambda = result->alpha;
    symmetric_graph(&s, result);
    run->lapack = update_f(&s, result, &sum_c, &sum_next, &result->n_components);

    while (run->lapack == 0 && run->iterations < settings->max_iter) {
        int inner = 0;
        double value, lambda = result->lambda;
        run->lapack = update_w(&s, settings, &inner);
        if (run->lapack) return;
        run->iterations++;
        memcpy(s.s_old, result->s, edges * sizeof(double));
        memcpy(s.neighbour_old, result->neighbour, edges * sizeof(int));
        update_s(&s, result, run->iterations <= FIXED_CANDIDATES, lambda, result->alpha);
        symmetric_graph(&s, result);
        ufs_copy(s.f_old, result->f, len);
        run->lapack = update_f(&s, result, &sum_c, &sum_next, &result->n_components);
        if (run->lapack) return;

        value = objective(&s, result, result->alpha);
        ufs_trace_add(&run->trace,
                      (double[]){run->iterations, value, lambda, sum_c, sum_next, inner});
        ufs_run_step(run, value, sum_c);
        if (!R_FINITE(value)) {
            run->status = UFS_DIVERGED;
            break;
        }
        if (sum_c > SPLIT) {
            result->lambda *= 2.0;
        } else if (sum_next < JOINED) {
            result->lambda /= 2.0;
            ufs_copy(result->f, s.f_old, len);
        } else if (!s.exact) {
            s.fine = true;
            memcpy(result->s, s.s_old, edges * sizeof(double));
            memcpy(result->neighbour, s.neighbour_old, edges * sizeof(int));
            ufs_copy(result->f, s.f_old, len);
            symmetric_graph(&s, result);
        } else if (run->iterations >= LEAST_ITERATIONS) {
            run->status = s.step.converged ? UFS_CONVERGED : UFS_NUMERICAL;
            break;
        }
    }
    result->residual = s.step.residual;
    result->live = wstep_live(&s.step);
    graph_components(&s.l, result->component);
}

static void init(sogfs_work *s, const sogfs_problem *problem, const sogfs_settings *settings,
                 sogfs_result *r)
{
    size_t N = (size_t) problem->n, K = (size_t) problem->k;
    size_t C1 = (size_t) problem->c + 1;

    s->problem = problem;
    s->over_w = (wstep_problem){.n = problem->n,
                                .p = problem->p,
                                .c = problem->m,
                                .x = problem->x,
                                .gamma = problem->gamma,
                                .eps = settings->eps,
                                .accelerate = settings->accelerate,
                                .judge = judge};
    wstep_init(&s->step, &s->over_w, r->w, r->row2, r->reach);
    s->step.owner = s;
    s->start = ufs_ialloc(N + 1);
    s->col = ufs_ialloc(2 * N * K);
    s->weight = ufs_dalloc(2 * N, K);
    s->degree = ufs_dalloc(N, 1);
    s->fill = ufs_ialloc(N + 1);
    s->first = ufs_ialloc(N * K);
    s->lx = problem->p > problem->n ? ufs_dalloc(N, N) : NULL;
    s->z = ufs_dalloc(N, (size_t) problem->m);
    s->f_old = ufs_dalloc(N, C1);
    s->known = ufs_dalloc(N, C1);
    s->mu = ufs_dalloc(C1, 1);
    s->vector = ufs_dalloc(N, C1);
    s->n_vector = 0;
    s->fine = !settings->accelerate;
    s->exact = false;
    s->s_old = ufs_dalloc(N, K);
    s->neighbour_old = ufs_ialloc(N * K);
    s->gap = ufs_dalloc(K, 1);
    s->sorted = ufs_dalloc(K, 1);
    s->pivot_work = ufs_dalloc(2 * N, 1);
    s->pivot = ufs_ialloc(N);
}

/* s_ij = (d_{k+1} - d_j) / (k d_{k+1} - sum d) over the k nearest; returns r, the mean of half the
 * denominators. k + 1 neighbours are looked up; with k = n - 1 there is no such neighbour, and
 * the last one stands in. */
static double first_graph(sogfs_work *s, sogfs_result *r)
{
    int n = s->problem->n, k = s->problem->k, wide = k + 1 < n ? k + 1 : k;
    void *mark = vmaxget();
    graph_knn knn;
    double total = 0.0, far = 0.0;

    graph_knn_search(n, s->problem->p, s->problem->x, wide, false, &knn);
    for (int i = 0; i < n; i++) {
        const double *d = knn.d2 + (size_t) i * (size_t) wide;
        size_t at = (size_t) i * (size_t) k;
        double sum = 0.0, last = d[wide - 1], den;
        for (int a = 0; a < k; a++) sum += d[a];
        den = k * last - sum;
        total += den / 2.0;
        far += last / 2.0;
        for (int a = 0; a < k; a++) {
            s->first[at + (size_t) a] = knn.index[(size_t) i * (size_t) wide + (size_t) a];
            r->neighbour[at + (size_t) a] = s->first[at + (size_t) a];
            /* All k + 1 equally far: share. */
            r->s[at + (size_t) a] = den > 1e-12 * k * last ? (last - d[a]) / den : 1.0 / k;
        }
    }
    vmaxset(mark);
    /* Zero only if every sample is equally far from all its neighbours. */
    total = fmax(total, 1e-12 * k * far);
    return total > 0.0 ? total / n : 1.0;
}

/* (S + S') / 2 by rows: count, place both directions, merge. */
static void symmetric_graph(sogfs_work *s, const sogfs_result *r)
{
    int n = s->problem->n, k = s->problem->k, at = 0;

    memset(s->fill, 0, ((size_t) n + 1) * sizeof(int));
    for (int i = 0; i < n; i++)
        for (int a = 0; a < k; a++) {
            if (!(r->s[(size_t) i * (size_t) k + (size_t) a] > 0.0)) continue;
            s->fill[i + 1]++;
            s->fill[r->neighbour[(size_t) i * (size_t) k + (size_t) a] + 1]++;
        }
    for (int i = 0; i < n; i++) s->fill[i + 1] += s->fill[i];
    memcpy(s->start, s->fill, ((size_t) n + 1) * sizeof(int));
    for (int i = 0; i < n; i++)
        for (int a = 0; a < k; a++) {
            double half = r->s[(size_t) i * (size_t) k + (size_t) a] / 2.0;
            int j = r->neighbour[(size_t) i * (size_t) k + (size_t) a];
            if (!(half > 0.0)) continue;
            s->col[s->fill[i]] = j;
            s->weight[s->fill[i]++] = half;
            s->col[s->fill[j]] = i;
            s->weight[s->fill[j]++] = half;
        }
    for (int i = 0; i < n; i++) {
        int from = s->start[i], to = s->start[i + 1];
        s->start[i] = at;
        /* Rows are short: insertion sort, then equal columns are added up. */
        for (int e = from + 1; e < to; e++) {
            int c = s->col[e], b = e;
            double w = s->weight[e];
            for (; b > from && s->col[b - 1] > c; b--) {
                s->col[b] = s->col[b - 1];
                s->weight[b] = s->weight[b - 1];
            }
            s->col[b] = c;
            s->weight[b] = w;
        }
        for (int e = from; e < to; e++) {
            if (at > s->start[i] && s->col[at - 1] == s->col[e]) {
                s->weight[at - 1] += s->weight[e];
            } else {
                s->col[at] = s->col[e];
                s->weight[at++] = s->weight[e];
            }
        }
    }
    s->start[n] = at;
    s->l = (graph_csr){
        .n = n, .start = s->start, .col = s->col, .w = s->weight, .degree = s->degree};
    graph_degrees(&s->l, s->degree);
}

/* The reweighted steps over W for the graph at hand; leaves XW in z. */
static int update_w(sogfs_work *s, const sogfs_settings *settings, int *inner)
{
    int n = s->problem->n, p = s->problem->p, before = s->step.s.iterations;
    int lapack = scatter(s);

    if (lapack == 0) lapack = wstep_renew(&s->step);
    if (lapack) return lapack;
    s->tol = fmax(settings->inner_tol, s->fine ? 0.0 : COARSE);
    s->exact = s->tol == settings->inner_tol;
    mm_run(&s->step.s, settings->inner_max_iter);
    if (s->step.s.lapack) return s->step.s.lapack;
    *inner = s->step.s.iterations - before;
    wstep_finish(&s->step);
    la_gemm('N', 'N', n, s->problem->m, p, 1.0, s->problem->x, n, s->step.w, p, 0.0, s->z, n);
    return 0;
}

static bool judge(void *data, mm *inner, bool accepted)
{
    wstep *w = data;
    sogfs_work *s = w->owner;

    if (!accepted || !(wstep_change(w) <= s->tol)) return false;
    if (s->exact && !wstep_settled(w)) return false;
    inner->status = UFS_CONVERGED;
    return true;
}

/* AX, or the factor of M = X'LX. */
static int scatter(sogfs_work *s)
{
    size_t N = (size_t) s->problem->n;

    if (s->step.b == NULL) {
        graph_laplacian_mult(&s->l, s->problem->p, s->problem->x, s->step.y);
        return 0;
    }
    memset(s->lx, 0, N * N * sizeof(double));
    for (size_t i = 0; i < N; i++) {
        s->lx[i + i * N] = s->degree[i];
        for (int e = s->start[i]; e < s->start[i + 1]; e++)
            s->lx[i + (size_t) s->col[e] * N] -= s->weight[e];
    }
    return wstep_factor(&s->step, s->lx, s->problem->x, s->pivot, s->pivot_work);
}

/* Each row of S: the projection of -(dx + lambda df) / (2 scale) on the simplex. */
static void update_s(sogfs_work *s, sogfs_result *r, bool fixed, double lambda, double scale)
{
    int n = s->problem->n, m = s->problem->m, c = s->problem->c, k = s->problem->k;
    size_t len = (size_t) n * (size_t) k;

    if (fixed) {
        memcpy(r->neighbour, s->first, len * sizeof(int));
    } else {
        void *mark = vmaxget();
        graph_knn knn;
        graph_knn_search(n, m, s->z, k, false, &knn);
        memcpy(r->neighbour, knn.index, len * sizeof(int));
        vmaxset(mark);
    }
    for (int i = 0; i < n; i++) {
        size_t at = (size_t) i * (size_t) k;
        for (int a = 0; a < k; a++) {
            int j = r->neighbour[at + (size_t) a];
            s->gap[a] = -(squared_distance(n, m, s->z, i, j) +
                          lambda * squared_distance(n, c, r->f, i, j)) /
                        (2.0 * scale);
        }
        proj_simplex(k, s->gap, 1.0, s->sorted, r->s + at);
    }
}

/* F = the c lowest eigenvectors of L, and the sums of its c and c + 1 smallest eigenvalues. */
static int update_f(sogfs_work *s, sogfs_result *r, double *sum_c, double *sum_next,
                    int *n_components)
{
    int n = s->problem->n, c = s->problem->c, more, held;
    size_t N = (size_t) n;
    double high = 0.0;
    void *mark = vmaxget();
    int *size = ufs_ialloc(N);
    la_eigs_info found = {.converged = true};

    *n_components = graph_components(&s->l, r->component);
    held = *n_components < c + 1 ? *n_components : c + 1;
    memset(size, 0, N * sizeof(int));
    memset(s->known, 0, N * (size_t) held * sizeof(double));
    for (int i = 0; i < n; i++) size[r->component[i]]++;
    for (int i = 0; i < n; i++)
        if (r->component[i] < held)
            s->known[(size_t) i + (size_t) r->component[i] * N] =
                1.0 / sqrt((double) size[r->component[i]]);
    ufs_copy(r->f, s->known, N * (size_t) (held < c ? held : c));

    *sum_c = 0.0;
    *sum_next = 0.0;
    /* At most n - held, for c < n. */
    more = c + 1 - held;
    if (more > 0) {
        high = largest_eigenvalue(&s->l);
        la_eigs_problem a = {.n = n,
                             .k = more,
                             .apply = apply_minus_laplacian,
                             .recur = recur_minus_laplacian,
                             .data = &s->l,
                             .low = -high,
                             .high = 0.0,
                             .n_known = held,
                             .known = s->known,
                             .n_start = s->n_vector,
                             .start = s->vector,
                             .tol = 1e-7,
                             .max_iter = 200,
                             .n_rough = 1};
        la_eigs(&a, s->mu, s->vector, &found);
        s->n_vector = found.lapack == 0 ? more : 0;
        for (int j = 0; j < more; j++) {
            double value = fmax(0.0, -s->mu[j]);
            if (held + j < c) {
                *sum_c += value;
                ufs_copy(r->f + (size_t) (held + j) * N, s->vector + (size_t) j * N, N);
            }
            *sum_next += value;
        }
    }
    vmaxset(mark);
    return found.lapack;
}

/* A bound: rows of D^{-1} (D + W) D, whose spectrum is not below that of L, add up to degree + mean
 * degree of the neighbours. */
static double largest_eigenvalue(const graph_csr *g)
{
    double high = 0.0;
    for (int i = 0; i < g->n; i++) {
        double sum = 0.0;
        for (int e = g->start[i]; e < g->start[i + 1]; e++) sum += g->w[e] * g->degree[g->col[e]];
        if (g->degree[i] > 0.0) high = fmax(high, g->degree[i] + sum / g->degree[i]);
    }
    return high;
}

static void apply_minus_laplacian(const void *data, int m, const double *x, double *y)
{
    const graph_csr *g = data;
    size_t len = (size_t) g->n * (size_t) m;
    graph_laplacian_mult(g, m, x, y);
    for (size_t i = 0; i < len; i++) y[i] = -y[i];
}

static void recur_minus_laplacian(const void *data, int m, int steps, const double *c, double *x)
{
    graph_recur(data, true, m, steps, c, x);
}

/* Without the rank term, whose weight lambda changes from one iteration to the next. */
static double objective(const sogfs_work *s, const sogfs_result *r, double alpha)
{
    int n = s->problem->n, m = s->problem->m, k = s->problem->k;
    double value = 0.0;
    for (int i = 0; i < n; i++)
        for (int a = 0; a < k; a++) {
            size_t at = (size_t) i * (size_t) k + (size_t) a;
            if (r->s[at] > 0.0)
                value += r->s[at] * squared_distance(n, m, s->z, i, r->neighbour[at]) +
                         alpha * r->s[at] * r->s[at];
        }
    for (int j = 0; j < s->problem->p; j++)
        value += s->problem->gamma * sqrt(r->row2[j] + s->over_w.eps);
    return value;
}

static double squared_distance(int n, int m, const double *z, int i, int j)
{
    double sum = 0.0;
    for (int l = 0; l < m; l++) {
        const double *col = z + (size_t) l * (size_t) n;
        sum += (col[i] - col[j]) * (col[i] - col[j]);
    }
    return sum;
}
