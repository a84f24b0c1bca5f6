/* callable.c: solvers for the C code of other packages, see inst/include/ufselect.h. Each function
 * checks its arguments, fills the solver's structs with what ufs_<method>() in R uses by default, and
 * gives the memory back. Costs are those of the solvers; beside them one pass over x, for values that are
 * not finite. No R object is touched. */
#include "callable.h"
#include "css.h"
#include "graph.h"
#include "kmeans.h"
#include "gl.h"
#include "facility.h"

/* For css_settings: LAPACK computes the whole spectrum up to this order. */
enum { SPECTRUM = 2000 };
/* For facility_settings: n x n similarities are kept up to TABLE rows; pairs may take PAIR_BYTES. */
enum { TABLE = 4096 };
#define PAIR_BYTES 134217728.0

static bool all_finite(const double *x, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!R_FINITE(x[i])) return false;
    return true;
}

/* 0, or what is wrong with the matrix. */
static int check_matrix(const ufselect_matrix *m)
{
    if (m->x == NULL || m->n < 1 || m->p < 1) return UFSELECT_ARGUMENT;
    return all_finite(m->x, (size_t) m->n * (size_t) m->p) ? 0 : UFSELECT_VALUES;
}

/* Values outside of [2^-RANGE, 2^RANGE] are scaled: fourth powers must be numbers. */
enum { RANGE = 150 };

/* The values times 2^-power, the largest below 1, where they are out of range; themselves, with a power of
 * 0, where not. */
static const double *in_range(const ufselect_matrix *m, int *power)
{
    size_t length = (size_t) m->n * (size_t) m->p;
    double top = 0.0, *scaled;

    for (size_t i = 0; i < length; i++) top = fmax(top, fabs(m->x[i]));
    frexp(top, power);
    if (*power >= -RANGE && *power <= RANGE) *power = 0;
    if (*power == 0) return m->x;
    scaled = ufs_dalloc(length, 1);
    for (size_t i = 0; i < length; i++) scaled[i] = ldexp(m->x[i], -*power);
    return scaled;
}

/* value times 2^power; false where some are too large or too small for all their digits. */
static bool scale_back(double *value, size_t length, int power)
{
    bool fits = true;

    for (size_t i = 0; i < length && power != 0; i++) {
        double to = ldexp(value[i], power);
        fits = fits && R_FINITE(to) && (fabs(to) >= DBL_MIN || value[i] == 0.0);
        value[i] = to;
    }
    return fits;
}

static ufs_run new_run(const char *name, int max_iter, double tol)
{
    ufs_run run = {.max_iter = max_iter, .tol = tol, .hook = {.name = name}};

#define PATH_ON(path) run.paths.path = true;
    UFS_PATHS(PATH_ON)
#undef PATH_ON
    return run;
}

static int outcome(const ufs_run *run)
{
    return run->lapack != 0 ? UFSELECT_LAPACK : (int) run->status;
}

/* Column 1 of the traces of picks, one row each. */
static double objective_after(const ufs_trace *trace, int t)
{
    return trace->value[(size_t) trace->capacity + (size_t) t];
}

int callable_css(const ufselect_matrix *x, int k, int max_swaps, int *chosen, double *captured,
                 double *bound)
{
    int wrong = check_matrix(x);

    if (wrong != 0) return wrong;
    if (k < 1 || k > x->p || max_swaps < 0) return UFSELECT_ARGUMENT;
    void *mark = vmaxget();
    int power;
    ufs_x op = ufs_x_dense(x->n, x->p, in_range(x, &power));
    css_problem problem = {x->n, x->p, &op};
    css_settings settings = {.k = k,
                             .form = 'a',
                             .max_swaps = max_swaps,
                             .exact_limit = SPECTRUM,
                             .n_starts = 1,
                             .held = {.budget = R_PosInf, .max_cor = R_PosInf}};
    css_result result = {.order = chosen,
                         .left = ufs_dzero((size_t) x->p, 1),
                         .leading = bound,
                         .held = ufs_dzero((size_t) k, 1),
                         .target_leading = ufs_dzero((size_t) k, 1)};
    ufs_run run = new_run("css", INT_MAX, 0.0);
    css_solve(&problem, &settings, &result, &run);
    for (int t = 0, n = result.n_chosen; t < k; t++) {
        /* Column 2 of the trace: a pick that rebuilds no more is none. */
        if (t < n && !(run.trace.value[2 * (size_t) run.trace.capacity + (size_t) t] > 0.0)) n = t;
        if (t < n)
            captured[t] = result.start - objective_after(&run.trace, t);
        else {
            chosen[t] = -1;
            captured[t] = t > 0 ? captured[t - 1] : 0.0;
        }
    }
    bool fits = scale_back(captured, (size_t) k, 2 * power);
    fits = scale_back(bound, (size_t) k, 2 * power) && fits;
    vmaxset(mark);
    return fits ? outcome(&run) : UFSELECT_VALUES;
}

int callable_facility(const ufselect_matrix *x, int m, int *chosen, double *value, double *bound)
{
    int wrong = check_matrix(x);

    if (wrong != 0) return wrong;
    if (m < 1 || m > x->n) return UFSELECT_ARGUMENT;
    void *mark = vmaxget();
    facility_problem problem = {.n = x->n,
                                .p = x->p,
                                .kind = FACILITY_COSINE,
                                .x = ufs_x_dense(x->n, x->p, x->x),
                                .bandwidth = 1.0};
    facility_settings settings = {.m = m, .table = x->n <= TABLE, .pair_bytes = PAIR_BYTES};
    facility_result result = {.order = chosen,
                              .left = ufs_dzero((size_t) x->n, 1),
                              .bound = bound,
                              .first = ufs_ialloc((size_t) x->n)};
    ufs_run run = new_run("facility", INT_MAX, 0.0);
    facility_solve(&problem, &settings, &result, &run);
    for (int t = 0; t < result.picks; t++) value[t] = objective_after(&run.trace, t);
    vmaxset(mark);
    return outcome(&run);
}

/* Are the values of two rows all equal? */
static bool rows_equal(const ufs_x *x, int a, int b)
{
    for (int j = 0; j < x->p; j++) {
        const double *column = x->dense + (size_t) j * (size_t) x->n;
        if (column[a] != column[b]) return false;
    }
    return true;
}

/* first[i]: the first row equal to row i. Returns how many differ. np steps, and a table of at most 4n
 * places by the hash of the rows. */
static int first_equal(const ufs_x *x, int *first)
{
    int n = x->n, different = 0;
    size_t N = (size_t) n, size = 2;

    while (size < 2 * N) size *= 2;
    double *hash = ufs_dalloc(N, 2);
    int *place = ufs_ialloc(size);
    ufs_x_hash(x, true, 0.0, hash);
    for (int i = 0; i < n; i++) {
        uint64_t high = (uint64_t) hash[i], low = (uint64_t) hash[N + (size_t) i];
        size_t at = (size_t) ufs_mix((high << 32) | low) & (size - 1);
        while (place[at] > 0 && !rows_equal(x, place[at] - 1, i)) at = (at + 1) & (size - 1);
        if (place[at] == 0) {
            place[at] = i + 1;
            different++;
        }
        first[i] = place[at] - 1;
    }
    return different;
}

/* The row of each cluster that is nearest to its centre. */
static void nearest_to_centres(const ufs_x *x, int m, const int *cluster, int *chosen)
{
    size_t N = (size_t) x->n, C = (size_t) m;
    double *centre = ufs_dzero(C, 1), *distance = ufs_dzero(N, 1), *least = ufs_dalloc(C, 1);
    int *size = ufs_ialloc(C);

    for (size_t i = 0; i < N; i++) size[cluster[i]]++;
    for (int j = 0; j < x->p; j++) {
        const double *column = x->dense + (size_t) j * N;
        for (size_t a = 0; a < C; a++) centre[a] = 0.0;
        for (size_t i = 0; i < N; i++) centre[cluster[i]] += column[i] / size[cluster[i]];
        for (size_t i = 0; i < N; i++) {
            double d = column[i] - centre[cluster[i]];
            distance[i] += d * d;
        }
    }
    for (size_t a = 0; a < C; a++) least[a] = R_PosInf;
    for (size_t i = 0; i < N; i++)
        if (distance[i] < least[cluster[i]]) {
            least[cluster[i]] = distance[i];
            chosen[cluster[i]] = (int) i;
        }
}

int callable_medoids(const ufselect_matrix *x, int m, const ufselect_starts *starts, int *chosen,
                     int *cluster, double *within)
{
    int wrong = check_matrix(x);
    size_t N = (size_t) x->n, S = (size_t) starts->n_start;

    if (wrong != 0) return wrong;
    if (m < 1 || m >= x->n || starts->n_start < 1 || starts->max_iter < 0) return UFSELECT_ARGUMENT;
    for (size_t i = 0; i < (size_t) m * S; i++)
        if (!(starts->draw[i] >= 0.0 && starts->draw[i] < 1.0)) return UFSELECT_ARGUMENT;
    void *mark = vmaxget();
    int power, *first = ufs_ialloc(N);
    ufs_x op = ufs_x_dense(x->n, x->p, in_range(x, &power));
    if (first_equal(&op, first) < m) {
        vmaxset(mark);
        return UFSELECT_ARGUMENT;
    }
    kmeans_problem problem = {.x = op, .c = m, .first = first};
    kmeans_settings settings = {.n_start = starts->n_start,
                                .max_iter = starts->max_iter,
                                .most = starts->n_start,
                                .draw = starts->draw};
    kmeans_result result = {
        .label = ufs_ialloc(N * S), .within = ufs_dzero(S, 1), .iterations = ufs_ialloc(S)};
    ufs_run run = new_run("kmeans", starts->max_iter, 0.0);
    kmeans_solve(&problem, &settings, &result, &run);
    int best = 0, ended = outcome(&run);
    for (int s = 1; s < starts->n_start; s++)
        if (result.within[s] < result.within[best]) best = s;
    if (ended != UFSELECT_LAPACK && ended != UFSELECT_NUMERICAL) {
        memcpy(cluster, result.label + (size_t) best * N, N * sizeof(int));
        *within = result.within[best];
        nearest_to_centres(&op, m, cluster, chosen);
        if (!scale_back(within, 1, 2 * power)) ended = UFSELECT_VALUES;
    }
    vmaxset(mark);
    return ended;
}

int callable_group_lasso(const ufselect_matrix *x, const ufselect_matrix *t, double lambda,
                         double tol, double *v, double *objective, double *gap)
{
    int wrong = check_matrix(x);

    if (wrong == 0) wrong = check_matrix(t);
    if (wrong != 0) return wrong;
    if (t->n != x->n || !(lambda > 0.0) || !R_FINITE(lambda) || !(tol > 0.0))
        return UFSELECT_ARGUMENT;
    if (!all_finite(v, (size_t) x->p * (size_t) t->p)) return UFSELECT_VALUES;
    void *mark = vmaxget();
    int of_x, of_t;
    size_t length = (size_t) x->p * (size_t) t->p;
    ufs_x op = ufs_x_dense(x->n, x->p, in_range(x, &of_x));
    const double *target = in_range(t, &of_t);
    bool fits = scale_back(&lambda, 1, -of_x - of_t) && scale_back(v, length, of_x - of_t);
    bool settled = fits;
    if (fits) {
        gl_work work;
        gl_init(&work, t->p, &op, LA_GL_SLOTS);
        gl_solve(&work, target, lambda, tol, true, 1.0, v);
        gl_certify(&work, target, lambda, v);
        *objective = work.objective;
        *gap = work.gap;
        settled = work.settled;
        fits = scale_back(v, length, of_t - of_x) && scale_back(objective, 1, 2 * of_t);
        scale_back(gap, 1, 2 * of_t);
    }
    vmaxset(mark);
    if (!fits) return UFSELECT_VALUES;
    return settled ? UFSELECT_CONVERGED : UFSELECT_MAX_ITER;
}

int callable_eigen(const ufselect_operator *a, int k, double tol, double *values, double *vectors,
                   double *residual)
{
    if (a->apply == NULL || a->n < 1 || k < 1 || k > a->n || !(tol > 0.0)) return UFSELECT_ARGUMENT;
    void *mark = vmaxget();
    eig_problem problem = {.n = a->n,
                           .k = k,
                           .apply = a->apply,
                           .data = a->data,
                           .proof = true,
                           .tol = tol,
                           .max_iter = 13 * (k + 10)};
    eig_info info = {.converged = true};
    eig_few(&problem, values, vectors, &info);
    *residual = info.residual;
    vmaxset(mark);
    if (info.lapack != 0) return UFSELECT_LAPACK;
    return info.converged ? UFSELECT_CONVERGED : UFSELECT_MAX_ITER;
}

int callable_neighbours(const ufselect_matrix *x, int k, int *neighbour, double *distance2)
{
    int wrong = check_matrix(x);
    size_t length = (size_t) x->n * (size_t) k;

    if (wrong != 0) return wrong;
    if (k < 1 || k > x->n - 1) return UFSELECT_ARGUMENT;
    void *mark = vmaxget();
    int power;
    ufs_x op = ufs_x_dense(x->n, x->p, in_range(x, &power));
    graph_knn knn;
    graph_knn_search(&op, k, NULL, &knn);
    memcpy(neighbour, knn.index, length * sizeof(int));
    ufs_copy(distance2, knn.d2, length);
    vmaxset(mark);
    return scale_back(distance2, length, 2 * power) ? UFSELECT_CONVERGED : UFSELECT_VALUES;
}
