/* ufselect.h: solvers of the R package ufselect for the C or C++ code of other packages.
 *
 * In DESCRIPTION of the package that calls them: LinkingTo: ufselect, and Imports: ufselect with
 * importFrom(ufselect, ufs_methods) or any other import in NAMESPACE, so that ufselect is loaded.
 *
 * Matrices are column-major doubles, as in R: x is n x p, with samples in rows. They are read as they
 * are (centre and scale before, where that is wanted) and must be finite. Indices are counted from 0.
 * X is scaled by a power of two where its powers would leave the range of doubles; results that leave it,
 * or would lose digits at its lower end, are UFSELECT_VALUES.
 * The caller owns every array. Memory is taken from R and given back before a function returns; an
 * interrupt by the user leaves by R's own error jump, as it does in any function of R's interface.
 *
 * A result of 0 or more is how the solver ended (UFSELECT_CONVERGED, ...); a negative one says that
 * nothing was computed: UFSELECT_ARGUMENT for a size or setting out of range, UFSELECT_VALUES for
 * values that are not finite, UFSELECT_LAPACK for a failure of LAPACK. */
#ifndef UFSELECT_H
#define UFSELECT_H

#include <R_ext/Rdynload.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    UFSELECT_LAPACK = -3,
    UFSELECT_VALUES = -2,
    UFSELECT_ARGUMENT = -1,
    UFSELECT_CONVERGED = 0,
    UFSELECT_MAX_ITER = 1,
    UFSELECT_STALLED = 2,
    UFSELECT_DIVERGED = 3,
    UFSELECT_NUMERICAL = 4
};

/* An n x p matrix. */
typedef struct {
    int n, p;
    const double *x;
} ufselect_matrix;

/* Column subset selection: k columns of x from which all columns are rebuilt by least squares with
 * the smallest sum of squares, picked one by one and then exchanged at most max_swaps times. chosen:
 * k columns as picked; fewer than k, the others -1, where the rest of x is rebuilt already (x of zeros:
 * all of them). captured: k, the sum of squares that the first t + 1 of them rebuild; bound: k, what no t + 1
 * columns can exceed. */
typedef int ufselect_css_function(const ufselect_matrix *x, int k, int max_swaps, int *chosen,
                                  double *captured, double *bound);

/* Facility location: m rows that stand for all others by cosine similarity, by lazy greedy picks.
 * chosen: m rows as picked; value: m, the sum over all rows of 1 + the largest cosine with one
 * of the first t + 1; bound: m, what no t + 1 rows can exceed. */
typedef int ufselect_facility_function(const ufselect_matrix *x, int m, int *chosen, double *value,
                                       double *bound);

/* Medoids: m < n rows, the nearest ones to the centres of the best run of k-means, of at least m rows that
 * differ (else UFSELECT_ARGUMENT: equal rows cannot be told apart). chosen: m rows;
 * cluster: n, which of them a row belongs to (0 .. m - 1); within: the sum of squares around
 * the centres. */
typedef struct {
    int n_start, max_iter; /* of each start */
    const double *draw;    /* m x n_start numbers in [0, 1) that decide the starts */
} ufselect_starts;
typedef int ufselect_medoids_function(const ufselect_matrix *x, int m,
                                      const ufselect_starts *starts, int *chosen, int *cluster,
                                      double *within);

/* Group lasso over rows: min over the p x c matrix v of ||t - x v||_F^2 + lambda sum_i ||v_i||, t
 * n x c, lambda > 0. v: a start on entry (zeros will do), the solution on return, with rows that are
 * exactly zero. tol: relative, of the optimality conditions. objective: at v; gap: how far at most
 * it lies above the optimum, proved by a dual point. */
typedef int ufselect_group_lasso_function(const ufselect_matrix *x, const ufselect_matrix *t,
                                          double lambda, double tol, double *v, double *objective,
                                          double *gap);

/* The k largest eigenvalues, descending, with orthonormal vectors (n x k) of a symmetric positive
 * semidefinite matrix of order n, known by products only: apply(data, m, x, y) sets y = A x, n x m.
 * residual: the largest |A z - w z| over the largest eigenvalue. */
typedef struct {
    int n;
    void (*apply)(const void *data, int m, const double *x, double *y);
    const void *data;
} ufselect_operator;
typedef int ufselect_eigen_function(const ufselect_operator *a, int k, double tol, double *values,
                                    double *vectors, double *residual);

/* The k < n nearest other rows of each row by Euclidean distance, nearest first, ties to the lower
 * index. neighbour and distance2 (squared): k x n, a column for each row of x. */
typedef int ufselect_neighbours_function(const ufselect_matrix *x, int k, int *neighbour,
                                         double *distance2);

#ifndef UFSELECT_TYPES_ONLY
/* Looks a function up in ufselect, which must be loaded; R signals an error where it is not. */
#define UFSELECT_FUNCTION(name)                                                                    \
    ((ufselect_##name##_function *) R_GetCCallable("ufselect", "ufselect_" #name))

static inline int ufselect_css(const ufselect_matrix *x, int k, int max_swaps, int *chosen,
                               double *captured, double *bound)
{
    return UFSELECT_FUNCTION(css)(x, k, max_swaps, chosen, captured, bound);
}

static inline int ufselect_facility(const ufselect_matrix *x, int m, int *chosen, double *value,
                                    double *bound)
{
    return UFSELECT_FUNCTION(facility)(x, m, chosen, value, bound);
}

static inline int ufselect_medoids(const ufselect_matrix *x, int m, const ufselect_starts *starts,
                                   int *chosen, int *cluster, double *within)
{
    return UFSELECT_FUNCTION(medoids)(x, m, starts, chosen, cluster, within);
}

static inline int ufselect_group_lasso(const ufselect_matrix *x, const ufselect_matrix *t,
                                       double lambda, double tol, double *v, double *objective,
                                       double *gap)
{
    return UFSELECT_FUNCTION(group_lasso)(x, t, lambda, tol, v, objective, gap);
}

static inline int ufselect_eigen(const ufselect_operator *a, int k, double tol, double *values,
                                 double *vectors, double *residual)
{
    return UFSELECT_FUNCTION(eigen)(a, k, tol, values, vectors, residual);
}

static inline int ufselect_neighbours(const ufselect_matrix *x, int k, int *neighbour,
                                      double *distance2)
{
    return UFSELECT_FUNCTION(neighbours)(x, k, neighbour, distance2);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
