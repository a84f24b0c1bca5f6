/* ufs.h: the one include order of the package, the status codes and the
 * services every solver uses. It names no SEXP: solvers and kernels include
 * this header and nothing else of R. Files at the edge include ffi_util.h.
 *
 * It brings bool, size_t, uint64_t, INT_MAX, memcpy and friends, mathematics, DBL_EPSILON, R_FINITE, and R's
 * memory, sorting and interrupts; everything else (stdlib.h, stdio.h ...) each file includes itself. R.h is
 * not included anywhere: what it brings along differs from one version of R to the next.
 *
 * Conventions: matrices are column-major doubles, x is n x p (rows = samples),
 * sizes are int (BLAS), products of sizes are size_t. */
#pragma once

#ifndef USE_FC_LEN_T
#define USE_FC_LEN_T
#endif
#ifndef R_NO_REMAP
#define R_NO_REMAP
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <math.h>
#include <float.h>
#include <limits.h>
#include <R_ext/Arith.h>
#include <R_ext/BLAS.h>
#include <R_ext/Lapack.h>
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>
#ifndef FCONE
#define FCONE
#endif
#include "paths.h"

/* What the files share; which one a file takes says what it is for. UFS_STRIP: rows or columns that
 * are worked on together, where they are many: a strip of a few hundred samples stays in the
 * second cache, and the BLAS is at its speed from some 64 on. UFS_ROUNDING: relative, of sums of
 * many terms; UFS_TIE: values that count as equal before a discrete choice, so that the order of the
 * data and the BLAS do not decide. */
enum { UFS_STRIP = 256 };
#define UFS_ROUNDING 1e-12
#define UFS_TIE 1e-10

/* How a solver ended. A status is a result, never an error code; the labels
 * are in R/base-conditions.R in the same order. */
typedef enum {
    UFS_CONVERGED = 0,
    UFS_MAX_ITER = 1,
    UFS_STALLED = 2,
    UFS_DIVERGED = 3,
    UFS_NUMERICAL = 4
} ufs_status;

/* ---- memory.c ---------------------------------------------------------------
 * Memory from R: freed on return, on error and on interrupt. Allocate once per
 * solve, never inside an iteration. _each: for every pointer that `to` names, up to NULL. _dzero and
 * _ialloc: filled with zeros. */
double *ufs_dalloc(size_t n, size_t m);
void ufs_dalloc_each(size_t n, size_t m, double **const *to);
double *ufs_dzero(size_t n, size_t m);
int *ufs_ialloc(size_t n);
void ufs_ialloc_each(size_t n, int **const *to);
void ufs_copy(double *to, const double *from, size_t len);

/* Spreads the bits of a number over all 64, one to one (a step of SplitMix64). */
static inline uint64_t ufs_mix(uint64_t h)
{
    h += 0x9E3779B97F4A7C15ULL;
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9ULL;
    h = (h ^ (h >> 27)) * 0x94D049BB133111EBULL;
    return h ^ (h >> 31);
}

/* ---- hook.c: what happens once per outer iteration -------------------------
 * Interrupt check, one line if verbose, and the user's progress function. */
typedef struct {
    void (*call)(void *data, int iteration, double objective, double change);
    void *data;
    bool verbose;
    bool watch; /* `call` is of who watches over long runs, not the user's progress function */
    const char *name;
} ufs_hook;

void ufs_hook_step(const ufs_hook *hook, int iteration, double objective, double change);
/* Within a long step, the number of which is given, -1 where it is not known: interrupt check, and who
 * watches is told. */
void ufs_hook_wait(const ufs_hook *hook, int step);

/* ---- trace.c: history, one row per iteration --------------------------------
 * Grows as it is filled, so a huge max_iter costs nothing. */
typedef struct {
    int most, capacity, length, n_col;
    const char *const *names; /* of the columns, or NULL */
    double *value;            /* capacity x n_col, column-major */
} ufs_trace;

void ufs_trace_init(ufs_trace *trace, int most, int n_col);
/* The same with named columns; `names` ends with NULL and outlives the trace. */
void ufs_trace_named(ufs_trace *trace, int most, const char *const *names);
/* Appends a row; rows beyond `most` are dropped. It may take memory: a solver that goes back to an
 * earlier mark of the memory (vmaxset) adds no rows inside it but those that it reserved before. */
void ufs_trace_add(ufs_trace *trace, const double *row);
void ufs_trace_reserve(ufs_trace *trace, int rows);

/* ---- one run of a solver ------------------------------------------------------
 * Every solver is void <m>_solve(const <m>_problem *, const <m>_settings *,
 * <m>_result *, ufs_run *): the problem and the settings, if it has any of its own, are read, the
 * result's arrays belong to the caller, and the run says how long it may last and tells how it
 * went. max_iter and tol are those of the user's control; a solver says of what tol is. */
typedef struct {
    int max_iter;
    double tol;
    ufs_status status;
    int iterations;
    int lapack; /* info of the routine that failed, 0 = none */
    ufs_trace trace;
    ufs_hook hook;
    ufs_paths paths;
} ufs_run;

/* Once per outer iteration: see hook.c. */
void ufs_run_step(const ufs_run *run, double objective, double change);
