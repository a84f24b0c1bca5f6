/* sogfs.c: structured optimal graph feature selection (Nie, Zhu and Li, AAAI 2016).
 *
 *   min sum_ij (|W'x_i - W'x_j|^2 s_ij + alpha s_ij^2) + gamma sum_j f_j |w_j| + 2 lambda tr(F'L F)
 *   s.t. S >= 0, S 1 = 1, W'W = I (p x m), F'F = I (n x c),  L the Laplacian of (S + S')/2.
 *
 * As in the authors' code: alpha = r, from the distances to the k nearest neighbours; S starts
 * from them too, and each row has at most k non-zeros, among the k nearest by x in the first five
 * iterations and by XW after; the step over W has M = X'LX (wstep.c), without the
 * 2 of the objective above; lambda is doubled while the graph has fewer than c components and
 * halved (F restored) when it has more, until it has c. Rows of S are exact projections on the
 * simplex.
 *
 * The graph changes W's objective by percents from one iteration to the next. Accelerated, W is
 * solved for to a relative COARSE until the graph has its c components; then the iteration is done
 * again, and so are all that may follow, to what was asked for. The second half of the iterations that
 * are allowed is like that in any case. A graph that fell apart seldom grows together again: then all
 * begins anew, without coarse steps.
 *
 * L stays sparse (at most 2nk entries). Its null vectors are the indicators of the components,
 * known exactly; eig_few() finds the others. p <= n: M = X'(LX), np^2 flops per iteration; p > n:
 * L is factored, n^3/3 + n^2 p. */
#include "sogfs.h"
#include "graph.h"
#include "eig.h"

enum { FIXED_CANDIDATES = 5, LEAST_ITERATIONS = 3, APART = 4 };
static const double SPLIT = 1e-9, JOINED = 1e-11;
static const double COARSE = 1e-3;

typedef struct {
    const sogfs_problem *problem;
    const sogfs_settings *settings;
    sogfs_result *out;
    wstep step;
    ufs_run inner;    /* of the step over W */
    bool fine, exact; /* solve W to the end; W was solved so */
    int apart;        /* iterations in a row with too many components */
    int since;        /* the iteration before the first graph */
    graph_csr l;      /* (S + S') / 2 */
    int *start, *col;
    double *weight, *degree;
    int *first;           /* k x n: the k nearest by x */
    double *lx;           /* n x p: LX; n x n: L, if p > n */
    double *z;            /* n x m: XW */
    double *f_old;        /* n x c */
    double *known;        /* n x (c + 1): component indicators */
    double *mu, *vector;  /* c + 1, n x (c + 1): of L, those that are not known */
    int n_vector;         /* how many the last iteration found */
    double *s_old;        /* k x n: S before */
    int *neighbour_old;   /* k x n */
    double *gap, *sorted; /* k */
    double zeros, next;   /* sums of the c and c + 1 smallest eigenvalues of L */
} sogfs_work;

static double squared_distance(int n, int m, const double *z, int i, int j)
{
    double sum = 0.0;
    for (int l = 0; l < m; l++) {
        const double *col = z + (size_t) l * (size_t) n;
        sum += (col[i] - col[j]) * (col[i] - col[j]);
    }
    return sum;
}

/* Without the rank term, whose weight lambda changes from one iteration to the next. */
static double objective(const sogfs_work *s)
{
    int n = s->problem->step.n, m = s->problem->step.c, k = s->problem->k;
    const sogfs_result *r = s->out;
    double value = 0.0;
    for (int i = 0; i < n; i++)
        for (int a = 0; a < k; a++) {
            size_t at = (size_t) i * (size_t) k + (size_t) a;
            if (r->s[at] > 0.0)
                value += r->s[at] * squared_distance(n, m, s->z, i, r->neighbour[at]) +
                         r->alpha * r->s[at] * r->s[at];
        }
    for (int j = 0; j < s->problem->step.p; j++)
        value += mm_price(&s->step.s, j) *
                 sqrt(r->step.norms.row[j] + s->problem->step.settings.eps_row);
    return value;
}

static void init(sogfs_work *s)
{
    const sogfs_problem *problem = s->problem;
    size_t N = (size_t) problem->step.n, P = (size_t) problem->step.p, K = (size_t) problem->k;
    size_t C1 = (size_t) problem->c + 1;

    s->inner.max_iter = s->settings->inner_max_iter;
    wstep_init(&s->step, &problem->step, &s->out->step, &s->inner);
    s->start = ufs_ialloc(N + 1);
    s->col = ufs_ialloc(2 * N * K);
    s->weight = ufs_dalloc(2 * N, K);
    s->degree = ufs_dalloc(N, 1);
    s->l = (graph_csr){.n = problem->step.n,
                       .start = s->start,
                       .col = s->col,
                       .w = s->weight,
                       .degree = s->degree};
    ufs_ialloc_each(N * K, (int **[]){&s->first, &s->neighbour_old, NULL});
    s->lx = ufs_dalloc(N, P > N ? N : P);
    s->z = ufs_dalloc(N, (size_t) problem->step.c);
    ufs_dalloc_each(N, C1, (double **[]){&s->f_old, &s->known, &s->vector, NULL});
    s->mu = ufs_dalloc(C1, 1);
    s->s_old = ufs_dalloc(N, K);
    ufs_dalloc_each(K, 1, (double **[]){&s->gap, &s->sorted, NULL});
}

/* s_ij = (d_{k+1} - d_j) / (k d_{k+1} - sum d) over the k nearest; returns r, the mean of half the
 * denominators. k + 1 neighbours are looked up; with k = n - 1 there is no such neighbour, and
 * the last one stands in. */
static double first_graph(sogfs_work *s)
{
    int n = s->problem->step.n, k = s->problem->k, wide = k + 1 < n ? k + 1 : k;
    void *mark = vmaxget();
    ufs_x x = ufs_x_dense(n, s->problem->step.p, s->problem->step.x);
    graph_knn knn;
    double total = 0.0, far = 0.0;

    graph_knn_search(&x, wide, NULL, &knn);
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
            s->out->neighbour[at + (size_t) a] = s->first[at + (size_t) a];
            /* All k + 1 equally far: share. */
            s->out->s[at + (size_t) a] = den > UFS_ROUNDING * k * last ? (last - d[a]) / den
                                                                       : 1.0 / k;
        }
    }
    vmaxset(mark);
    /* Zero only if every sample is equally far from all its neighbours. */
    total = fmax(total, UFS_ROUNDING * k * far);
    return total > 0.0 ? total / n : 1.0;
}

/* (S + S') / 2. */
static void symmetric_graph(sogfs_work *s)
{
    int n = s->problem->step.n;
    void *mark = vmaxget();
    graph_knn lists = {.n = n, .k = s->problem->k, .index = s->out->neighbour, .d2 = s->out->s};
    graph_csr g;

    graph_from_knn(&lists, NULL, GRAPH_COSINE, 0.0, GRAPH_MEAN, &g);
    memcpy(s->start, g.start, ((size_t) n + 1) * sizeof(int));
    memcpy(s->col, g.col, (size_t) g.start[n] * sizeof(int));
    ufs_copy(s->weight, g.w, (size_t) g.start[n]);
    ufs_copy(s->degree, g.degree, (size_t) n);
    vmaxset(mark);
}

static void apply_minus_laplacian(const void *data, int m, const double *x, double *y)
{
    const graph_csr *g = data;
    ufs_copy(y, x, (size_t) g->n * (size_t) m);
    graph_recur(g, true, m, 1, (const double[]){1.0, 0.0, 0.0}, y);
}

static void recur_minus_laplacian(const void *data, int m, int steps, const double *c, double *x)
{
    graph_recur(data, true, m, steps, c, x);
}

/* F = the c lowest eigenvectors of L, zeros and next. `last`: F is what is returned if the graph has fewer
 * than c components, and a proof says that it is the lowest. Before that none is needed: zeros and next are
 * never below what they stand for, and are zero exactly where the graph has its components. */
static int update_f(sogfs_work *s, bool last)
{
    int n = s->problem->step.n, c = s->problem->c, more, held;
    size_t N = (size_t) n;
    sogfs_result *r = s->out;
    double top = 0.0;
    void *mark = vmaxget();
    int *size = ufs_ialloc(N);
    eig_info found = {.converged = true};

    held = graph_components(&s->l, r->component);
    if (held > c + 1) held = c + 1;
    memset(s->known, 0, N * (size_t) held * sizeof(double));
    for (int i = 0; i < n; i++) {
        size[r->component[i]]++;
        top = fmax(top, s->degree[i]);
    }
    for (int i = 0; i < n; i++)
        if (r->component[i] < held)
            s->known[(size_t) i + (size_t) r->component[i] * N] =
                1.0 / sqrt((double) size[r->component[i]]);
    ufs_copy(r->f, s->known, N * (size_t) (held < c ? held : c));

    s->zeros = s->next = 0.0;
    /* At most n - held, for c < n. */
    more = c + 1 - held;
    if (more > 0) {
        eig_problem a = {.n = n,
                         .k = more,
                         .apply = apply_minus_laplacian,
                         .recur = recur_minus_laplacian,
                         .data = &s->l,
                         .low = -2.0 * top,
                         .high = 0.0,
                         .n_known = held,
                         .known = s->known,
                         .n_start = s->n_vector,
                         .start = s->vector,
                         .proof = last,
                         .tol = 1e-7,
                         .max_iter = 200,
                         .n_rough = 1};
        eig_few(&a, s->mu, s->vector, &found);
        s->n_vector = found.lapack == 0 ? more : 0;
        for (int j = 0; j < more; j++) {
            double value = fmax(0.0, -s->mu[j]);
            if (held + j < c) {
                s->zeros += value;
                ufs_copy(r->f + (size_t) (held + j) * N, s->vector + (size_t) j * N, N);
            }
            s->next += value;
        }
    }
    vmaxset(mark);
    return found.lapack;
}

/* Makes the first graph and all that follows from it. */
static int begin(sogfs_work *s, const ufs_run *run)
{
    s->since = run->iterations;
    s->apart = 0;
    s->n_vector = 0;
    s->step.started = false;
    s->out->alpha = s->out->lambda = first_graph(s);
    symmetric_graph(s);
    return update_f(s, false);
}

/* The reweighted steps over W for the graph at hand, M = X'LX; leaves XW in z. */
static int update_w(sogfs_work *s)
{
    int n = s->problem->step.n, p = s->problem->step.p, lapack = 0;
    size_t N = (size_t) n;
    const double *x = s->problem->step.x;

    if (p > n) {
        memset(s->lx, 0, N * N * sizeof(double));
        for (size_t i = 0; i < N; i++) {
            s->lx[i + i * N] = s->degree[i];
            for (int e = s->start[i]; e < s->start[i + 1]; e++)
                s->lx[i + (size_t) s->col[e] * N] -= s->weight[e];
        }
        lapack = wstep_factor(&s->step, s->lx);
    } else {
        graph_mult(&s->l, true, p, x, s->lx);
        la_mul('T', 'N', p, p, n, 1.0, x, s->lx, 0.0, s->step.m);
        la_fill_lower(p, s->step.m);
    }
    if (lapack) return lapack;
    s->exact = s->fine || s->settings->inner_tol >= COARSE;
    s->step.s.clears = s->exact;
    s->inner.tol = fmax(s->settings->inner_tol, s->fine ? 0.0 : COARSE);
    lapack = wstep_solve(&s->step);
    if (lapack) return lapack;
    la_mul('N', 'N', n, s->problem->step.c, p, 1.0, x, s->out->step.w, 0.0, s->z);
    return 0;
}

/* Each row of S: the projection of -(dx + lambda df) / (2 alpha) on the simplex. */
static void update_s(sogfs_work *s, bool fixed)
{
    int n = s->problem->step.n, m = s->problem->step.c, c = s->problem->c, k = s->problem->k;
    size_t len = (size_t) n * (size_t) k;
    sogfs_result *r = s->out;

    if (fixed) {
        memcpy(r->neighbour, s->first, len * sizeof(int));
    } else {
        void *mark = vmaxget();
        ufs_x z = ufs_x_dense(n, m, s->z);
        graph_knn knn;
        graph_knn_search(&z, k, NULL, &knn);
        memcpy(r->neighbour, knn.index, len * sizeof(int));
        vmaxset(mark);
    }
    for (int i = 0; i < n; i++) {
        size_t at = (size_t) i * (size_t) k;
        for (int a = 0; a < k; a++) {
            int j = r->neighbour[at + (size_t) a];
            s->gap[a] = -(squared_distance(n, m, s->z, i, j) +
                          r->lambda * squared_distance(n, c, r->f, i, j)) /
                        (2.0 * r->alpha);
        }
        proj_simplex(k, s->gap, 1.0, s->sorted, r->s + at);
    }
}

void sogfs_solve(const sogfs_problem *problem, const sogfs_settings *settings, sogfs_result *result,
                 ufs_run *run)
{
    static const char *const columns[] = {"iteration",  "objective", "lambda", "zeros",
                                          "next_zeros", "inner",     NULL};
    sogfs_work s = {.problem = problem,
                    .settings = settings,
                    .out = result,
                    .fine = !problem->step.settings.accelerate};
    size_t len = (size_t) problem->step.n * (size_t) problem->c;
    size_t edges = (size_t) problem->step.n * (size_t) problem->k;

    init(&s);
    ufs_trace_named(&run->trace, run->max_iter, columns);
    run->status = UFS_MAX_ITER;
    run->lapack = begin(&s, run);

    while (run->lapack == 0 && run->iterations < run->max_iter) {
        double value, lambda = result->lambda;
        if (2 * (run->iterations + 1) > run->max_iter) s.fine = true;
        run->lapack = update_w(&s);
        if (run->lapack) return;
        run->iterations++;
        memcpy(s.s_old, result->s, edges * sizeof(double));
        memcpy(s.neighbour_old, result->neighbour, edges * sizeof(int));
        update_s(&s, run->iterations - s.since <= FIXED_CANDIDATES);
        symmetric_graph(&s);
        ufs_copy(s.f_old, result->f, len);
        run->lapack = update_f(&s, run->iterations == run->max_iter);
        if (run->lapack) return;
        value = objective(&s);
        ufs_trace_add(&run->trace, (double[]){run->iterations, value, lambda, s.zeros, s.next,
                                              s.inner.iterations});
        ufs_run_step(run, value, s.zeros);
        if (!R_FINITE(value)) {
            run->status = UFS_DIVERGED;
            break;
        }
        s.apart = s.zeros <= SPLIT && s.next < JOINED ? s.apart + 1 : 0;
        if (s.zeros > SPLIT) {
            result->lambda *= 2.0;
        } else if (s.apart == APART && !s.fine) {
            s.fine = true;
            run->lapack = begin(&s, run);
        } else if (s.apart > 0) {
            result->lambda /= 2.0;
            ufs_copy(result->f, s.f_old, len);
        } else if (!s.exact && run->iterations < run->max_iter) {
            s.fine = true;
            memcpy(result->s, s.s_old, edges * sizeof(double));
            memcpy(result->neighbour, s.neighbour_old, edges * sizeof(int));
            ufs_copy(result->f, s.f_old, len);
            symmetric_graph(&s);
        } else if (s.exact && run->iterations >= LEAST_ITERATIONS) {
            run->status = s.step.s.rough ? UFS_NUMERICAL : UFS_CONVERGED;
            break;
        }
    }
    graph_components(&s.l, result->component);
}
