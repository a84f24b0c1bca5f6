/* propagate.c: see propagate.h.
 *
 * A graph that is given by its edges: L_uu Y = W_ul Y_l by conjugate gradients, the degrees D as
 * preconditioner, one class after the other. L_uu is an M-matrix, its inverse has no negative entry,
 * and so a v with L_uu v >= D / 2 shows that an error is at most
 *     max |e| <= 2 max(v) max_a |r_a| / d_a,    r the residual:
 * v is found once, loosely, and a class is solved until that says PROVED. Where rounding does not let
 * it, or few nodes are unknown, by Cholesky as for a dense W. 2 (nnz + 5 u) flops a step and class. */
#include "propagate.h"
#include "la.h"

/* So few unknown nodes are solved by Cholesky; the largest error of a probability; steps of a class;
 * up to where Cholesky takes over what is not proved. */
enum { FEW = 500, MOST_STEPS = 20000, MOST_DENSE = 11585 };
#define PROVED 1e-9

/* L_uu: of the unknown nodes the edges among them, and the degrees with those to known ones. */
typedef struct {
    int u;
    int *start, *index;
    double *value, *degree;
    double *rest; /* u: scratch */
} laplacian;

/* ---- conjugate gradients --------------------------------------------------------------------- */

static void apply(void *data, const double *x, double *y)
{
    const laplacian *l = data;

    R_CheckUserInterrupt();
    for (int a = 0; a < l->u; a++) {
        double sum = l->degree[a] * x[a];
        for (int e = l->start[a]; e < l->start[a + 1]; e++) sum -= l->value[e] * x[l->index[e]];
        y[a] = sum;
    }
}

static void by_degree(void *data, const double *r, double *z)
{
    const laplacian *l = data;

    for (int a = 0; a < l->u; a++) z[a] = r[a] / l->degree[a];
}

/* max |b - L x| / d */
static double relative_rest(laplacian *l, const double *b, const double *x)
{
    double most = 0.0;

    apply(l, x, l->rest);
    for (int a = 0; a < l->u; a++) most = fmax(most, fabs(b[a] - l->rest[a]) / l->degree[a]);
    return most;
}

/* An upper bound on the entries of L_uu^{-1} D 1; infinite if none is found. v: u, scratch. */
static double inverse_bound(laplacian *l, la_cg_problem *cg, double *v)
{
    double most = 0.0, rest = 1.0;

    memset(v, 0, (size_t) l->u * sizeof(double));
    cg->tol = 1e-2;
    for (int again = 0; again < 6 && !(rest <= 0.5); again++) {
        la_cg(cg, l->degree, v);
        rest = relative_rest(l, l->degree, v);
    }
    for (int a = 0; a < l->u; a++) most = fmax(most, v[a]);
    return rest <= 0.5 ? most / (1.0 - rest) : R_PosInf;
}

/* Replaces the right-hand sides in y by the solutions. Returns a bound on their largest error. */
static double by_gradients(laplacian *l, int c, double *y, const ufs_hook *hook)
{
    size_t u = (size_t) l->u;
    double *x = ufs_dalloc(u, 1), most = 0.0, inverse;
    la_cg_problem cg = {.n = l->u,
                        .apply = apply,
                        .precondition = by_degree,
                        .data = l,
                        .natural = true,
                        .max_iter = MOST_STEPS,
                        .work = ufs_dalloc(u, 4)};

    inverse = inverse_bound(l, &cg, x);
    for (int j = 0; j < c; j++) {
        double *b = y + (size_t) j * u, error = R_PosInf;
        memset(x, 0, u * sizeof(double));
        cg.tol = 1e-11;
        /* Restarts from the residual itself, from which that of the recurrence drifts away. */
        for (int again = 0; again < 4 && !(error <= PROVED); again++, cg.tol = 1e-2) {
            la_cg(&cg, b, x);
            error = inverse * relative_rest(l, b, x);
        }
        ufs_copy(b, x, u);
        most = fmax(most, error);
        ufs_hook_wait(hook, j + 1);
    }
    return most;
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* Scales every class to the mass (labelled members + 1), then every node to sum 1. */
static void class_mass(const propagate_problem *problem, int u, double *y)
{
    size_t U = (size_t) u, c = (size_t) problem->c, n = (size_t) problem->n;
    for (size_t j = 0; j < c; j++) {
        double mass = 0.0, members = 1.0;
        for (size_t i = 0; i < n; i++)
            if (problem->known[i] == (int) j + 1) members += 1.0;
        for (size_t a = 0; a < U; a++) mass += y[a + j * U];
        if (mass > 0.0)
            for (size_t a = 0; a < U; a++) y[a + j * U] *= members / mass;
    }
    for (size_t a = 0; a < U; a++) {
        double sum = 0.0;
        for (size_t j = 0; j < c; j++) sum += y[a + j * U];
        for (size_t j = 0; j < c; j++) y[a + j * U] /= sum;
    }
}

/* First class within UFS_ROUNDING of the largest probability. */
static int first_largest(int n, int c, const double *row)
{
    size_t N = (size_t) n, C = (size_t) c, j = 0;
    double most = row[0];
    for (size_t l = 1; l < C; l++) most = fmax(most, row[l * N]);
    while (row[j * N] < most - UFS_ROUNDING) j++;
    return (int) j + 1;
}

/* Class of the nearest labelled sample, the first of equals. */
static int nearest(const propagate_problem *problem, int i)
{
    size_t n = (size_t) problem->n, p = (size_t) problem->p;
    double least = HUGE_VAL;
    int class = 1;
    for (size_t a = 0; a < n; a++) {
        double d2 = 0.0;
        if (!problem->known[a]) continue;
        for (size_t j = 0; j < p; j++) {
            double d = problem->x[(size_t) i + j * n] - problem->x[a + j * n];
            d2 += d * d;
        }
        if (d2 < least) {
            least = d2;
            class = problem->known[a];
        }
    }
    return class;
}

/* ---- the whole --------------------------------------------------------------------------- */

/* Edges of node i: their ends (NULL: 0, 1, ...) and weights. */
static int edges_of(const propagate_problem *problem, int i, const int **index,
                    const double **value)
{
    if (problem->start == NULL) {
        *index = NULL;
        *value = problem->w + (size_t) i * (size_t) problem->n;
        return problem->n;
    }
    *index = problem->index + problem->start[i];
    *value = problem->w + problem->start[i];
    return problem->start[i + 1] - problem->start[i];
}

/* Breadth first from all labelled nodes at once. */
static void search(const propagate_problem *problem, double weak, int *queue, int *reached)
{
    int n = problem->n, head = 0, tail = 0;

    for (int i = 0; i < n; i++) {
        reached[i] = problem->known[i] > 0;
        if (reached[i]) queue[tail++] = i;
    }
    while (head < tail) {
        const int *index;
        const double *edge;
        for (int e = 0, end = edges_of(problem, queue[head++], &index, &edge); e < end; e++) {
            int to = index ? index[e] : e;
            if (!reached[to] && edge[e] > weak) {
                reached[to] = 1;
                queue[tail++] = to;
            }
        }
    }
}

/* The matrix L_uu; also fills y (u x c, zeros on entry) with W_ul Y_l'. */
static laplacian unknown_part(const propagate_problem *problem, double weak, int u,
                              const int *index, double *y)
{
    size_t U = (size_t) u, entries = 0;
    int *place = ufs_ialloc((size_t) problem->n), end;
    const int *to;
    const double *weight;
    laplacian l = {.u = u, .start = ufs_ialloc(U + 1)};

    l.degree = ufs_dzero(U, 1);
    l.rest = ufs_dalloc(U, 1);
    for (int i = 0; i < problem->n; i++) place[i] = -1;
    for (int a = 0; a < u; a++) place[index[a]] = a;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) {
            l.index = ufs_ialloc(entries);
            l.value = ufs_dalloc(entries, 1);
            entries = 0;
        }
        for (int a = 0; a < u; a++) {
            if (a % UFS_STRIP == 0) R_CheckUserInterrupt();
            end = edges_of(problem, index[a], &to, &weight);
            for (int e = 0; e < end; e++) {
                int i = to ? to[e] : e;
                if (weight[e] <= weak || i == index[a]) continue;
                if (pass == 1) {
                    l.degree[a] += weight[e];
                    if (problem->known[i])
                        y[(size_t) a + (size_t) (problem->known[i] - 1) * U] += weight[e];
                }
                if (place[i] < 0) continue;
                if (pass == 1) {
                    l.index[entries] = place[i];
                    l.value[entries] = weight[e];
                }
                entries++;
            }
            l.start[a + 1] = (int) entries;
        }
    }
    return l;
}

static int by_cholesky(const laplacian *l, int c, double *y)
{
    size_t u = (size_t) l->u;
    double *dense = ufs_dzero(u, u);
    int lapack;

    for (size_t a = 0; a < u; a++) {
        for (int e = l->start[a]; e < l->start[a + 1]; e++)
            dense[(size_t) l->index[e] + a * u] = -l->value[e];
        dense[a + a * u] = l->degree[a];
    }
    lapack = la_chol_checked(l->u, dense);
    if (lapack == 0) la_chol_solve(l->u, c, dense, y);
    return lapack;
}

/* L_uu Y_u' = W_ul Y_l' for the reached unlabelled nodes. */
static int harmonic(const propagate_problem *problem, double weak, propagate_result *result)
{
    size_t n = (size_t) problem->n, c = (size_t) problem->c, U;
    int u = 0, *index = ufs_ialloc(n), lapack = 0;
    double *y, *right;
    laplacian l;

    for (int i = 0; i < problem->n; i++)
        if (result->reached[i] && !problem->known[i]) index[u++] = i;
    if (u == 0) return 0;
    U = (size_t) u;
    y = ufs_dzero(U, c);
    l = unknown_part(problem, weak, u, index, y);
    if (problem->start == NULL || u <= FEW) {
        lapack = by_cholesky(&l, problem->c, y);
    } else {
        right = ufs_dalloc(U, c);
        ufs_copy(right, y, U * c);
        result->error = by_gradients(&l, problem->c, y, problem->hook);
        if (!(result->error <= PROVED) && u <= MOST_DENSE) {
            ufs_copy(y, right, U * c);
            result->error = 0.0;
            lapack = by_cholesky(&l, problem->c, y);
        }
    }
    if (lapack) return lapack;
    for (size_t a = 0; a < U * c; a++) y[a] = fmin(fmax(y[a], 0.0), 1.0);
    if (problem->cmn) class_mass(problem, u, y);
    for (size_t j = 0; j < c; j++)
        for (size_t a = 0; a < U; a++)
            result->probability[(size_t) index[a] + j * n] = y[a + j * U];
    return 0;
}

int propagate_solve(const propagate_problem *problem, propagate_result *result)
{
    size_t n = (size_t) problem->n, c = (size_t) problem->c;
    void *mark = vmaxget();
    int *index = ufs_ialloc(n), *label = result->label, *reached = result->reached;
    double *share = ufs_dzero(c, 1), *probability = result->probability;
    double weak = 0.0;
    int labelled = 0, frequent = 0, lapack;

    /* Edges of this share of the largest weight would connect nodes by rounding only. */
    for (int i = 0; i < problem->n; i++) {
        const int *to;
        const double *weight;
        for (int e = 0, end = edges_of(problem, i, &to, &weight); e < end; e++)
            weak = fmax(weak, UFS_ROUNDING * weight[e]);
    }
    result->error = 0.0;
    for (size_t i = 0; i < n; i++)
        if (problem->known[i]) {
            share[problem->known[i] - 1] += 1.0;
            labelled++;
        }
    for (size_t j = 0; j < c; j++) {
        share[j] /= labelled;
        if (share[j] > share[frequent]) frequent = (int) j;
    }
    search(problem, weak, index, reached);
    for (size_t j = 0; j < c; j++)
        for (size_t i = 0; i < n; i++)
            probability[i + j * n] = problem->known[i] ? problem->known[i] == (int) j + 1
                                                       : share[j];
    lapack = harmonic(problem, weak, result);
    for (size_t i = 0; i < n && lapack == 0; i++) {
        if (problem->known[i])
            label[i] = problem->known[i];
        else if (reached[i])
            label[i] = first_largest(problem->n, problem->c, probability + i);
        else
            label[i] = problem->x == NULL ? frequent + 1 : nearest(problem, (int) i);
    }
    vmaxset(mark);
    return lapack;
}
