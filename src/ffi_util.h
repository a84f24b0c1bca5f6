/* ffi_util.h: the edge between R and the solvers. Only ffi_*.c and init.c include
 * it. An edge function unpacks, allocates, calls one solver and builds a named
 * list; arguments were validated in R, so what fails here is a bug of ours. Everything that comes from
 * R goes through the functions below, so that no wrong type, length or index reaches a solver. */
#pragma once

#include "entries.h"
#include "gl.h"
#include "graph.h"
#include "quota.h"
#include "x_ops.h"
#include <R_ext/Error.h>
#include <Rinternals.h>

/* ---- ffi_util.c ---------------------------------------------------------------- */

/* Element `name` of a list, R_NilValue if absent. */
SEXP ffi_get(SEXP list, const char *name);
/* The same as one number (not NaN), integer, whole number in low..high or flag; error if absent or
 * of another type. */
double ffi_real(SEXP list, const char *name);
int ffi_int(SEXP list, const char *name);
int ffi_count(SEXP list, const char *name, int low, int high);
bool ffi_flag(SEXP list, const char *name);
/* Index of the string `name` among `choices`, which ends with NULL. */
int ffi_choice(SEXP list, const char *name, const char *const *choices);
/* "a", "p" or "n": which form of a kernel, 'a' for the cheaper one. */
char ffi_form(SEXP list, const char *name);
/* Data of a double vector, checked for its length; NULL for R's NULL, or an error. */
const double *ffi_data(SEXP x, size_t length, const char *what);
const double *ffi_given(SEXP x, size_t length, const char *what);

/* A double matrix with rows and columns; the same with finite values, of any size or of this one; a
 * number that is not NaN, a whole number in low..high, a flag; integers in low..high: errors
 * otherwise. */
typedef struct {
    int n, p;
    const double *x;
} ffi_mat;
ffi_mat ffi_table(SEXP x, const char *what);
ffi_mat ffi_matrix(SEXP x, const char *what);
void ffi_finite(const double *x, size_t length, const char *what);
const double *ffi_sized(SEXP x, int n, int p, const char *what);
/* A symmetric n x n matrix of which the upper triangle is read, and only that is looked at. */
const double *ffi_upper(SEXP x, int n, const char *what);
double ffi_number(SEXP x, const char *what);
int ffi_whole(SEXP x, int low, int high, const char *what);
bool ffi_yes(SEXP x, const char *what);
const int *ffi_ints(SEXP x, size_t length, int low, int high, const char *what);
/* The same for indices from 1, as new ones from 0, any number of them (length set). */
int *ffi_indices(SEXP x, int most, int *length, const char *what);

/* list(level, least, most): the level of each of p columns, from 1, 0 for a column of none; or NULL. */
ufs_quota ffi_quota(SEXP list, int p);

/* list(start, index, value): the entries of n columns of n rows, index from 0, finite values. */
void ffi_edges(SEXP list, int n, const int **start, const int **index, const double **value);

/* A named list whose slots are still NULL; fill with ffi_set. Protect it, and
 * it protects the rest. `names`: with one space between them. */
SEXP ffi_list(const char *names);
/* Stores value (which need not be protected by the caller) in the slot, and returns it. */
SEXP ffi_set(SEXP list, const char *name, SEXP value);
/* Allocates a matrix or vector straight into a slot and returns its data. */
double *ffi_set_matrix(SEXP list, const char *name, int n, int m);
double *ffi_set_vector(SEXP list, const char *name, int n);
/* The same filled with zeros, for what a solver may leave untouched when LAPACK fails: integers; an
 * n x m matrix, or a vector of n for m = 0. */
int *ffi_set_ints(SEXP list, const char *name, int n);
double *ffi_set_zero(SEXP list, const char *name, int n, int m);
/* The q columns at the start of a matrix of zeros to the places keep[0] < keep[1] < ... (from 0). */
void ffi_spread(double *x, int n, int q, const int *keep);
/* Names of the rows and columns of a matrix in a slot, or NULL, in place: a copy is what a large one
 * cannot afford. */
void ffi_set_names(SEXP list, const char *name, SEXP rows, SEXP columns);
/* The 1-based indices of those of p that are not 0. */
void ffi_set_which(SEXP list, const char *name, int p, const int *is);
/* The filled rows of a trace as a matrix. */
void ffi_set_trace(SEXP list, const char *name, const ufs_trace *trace);

/* `first` of the list: for each of p columns the first one that equals it, from 1; or NULL. */
gl_copies ffi_copies(SEXP list, int p);

/* One run of a solver. Begin: max_iter and tol of `control`, if it has them, and its hook, verbose
 * (flag) and progress (NULL or a function of iteration, objective and change); `control` must stay
 * protected. End: slot "run" of `out` becomes list(status, iterations, lapack, trace,
 * counters), which run_fit() in R reads. names: of the counters, with one space between them, and
 * FFI_VALUES(...) theirs, as many. */
#define FFI_VALUES(...) (double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double)
ufs_run ffi_run_begin(SEXP control, const char *name);
ufs_hook ffi_watch(void);
void ffi_run_end(SEXP out, const ufs_run *run, const char *names, const double *value,
                 size_t count);

/* The fast paths that are on: all but those that option "ufselect.paths_off" names. */
ufs_paths ffi_paths(void);

/* ---- ffi_x.c ---------------------------------------------------------------------- */

/* A numeric matrix as it is, or an object of class ufs_x (R/data-operator.R): sparse, checked
 * for soundness in full, or a source, whose functions are called. Arrays are those of the
 * R object, which must outlive the result. */
ufs_x ffi_x(SEXP x);
/* The same for a solver: the values that are at hand are finite. np comparisons. */
ufs_x ffi_x_finite(SEXP x);

/* ---- ffi_graph.c ------------------------------------------------------------------ */

/* The graph of an R object of class ufs_graph, without a copy; it must outlive g. Everything
 * about it is checked (graph_check()); a broken one is an error. */
graph_csr ffi_graph_csr(SEXP graph);
/* The same for a matrix with a row for every sample of the graph. */
graph_csr ffi_graph_for(SEXP graph, int n);

/* ---- entries.h: prototypes ---------------------------------------------------------- */

#define UFS_SEXP_0 void
#define UFS_SEXP_1 SEXP
#define UFS_SEXP_2 UFS_SEXP_1, SEXP
#define UFS_SEXP_3 UFS_SEXP_2, SEXP
#define UFS_SEXP_4 UFS_SEXP_3, SEXP
#define UFS_SEXP_5 UFS_SEXP_4, SEXP
#define UFS_SEXP_6 UFS_SEXP_5, SEXP
#define UFS_SEXP_7 UFS_SEXP_6, SEXP
#define UFS_PROTOTYPE(name, n_arg) SEXP ffi_##name(UFS_SEXP_##n_arg);
UFS_ENTRIES(UFS_PROTOTYPE)
#undef UFS_PROTOTYPE
