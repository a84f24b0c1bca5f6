/* ffi_topk.h: how the lists of R become the settings of top-k's parts, and its results lists. */
#ifndef UFS_FFI_TOPK_H
#define UFS_FFI_TOPK_H

#include "ffi_util.h"
#include "solve_topk.h"

topk_z_settings ffi_topk_z(SEXP settings, double tol, int max_iter);
topk_select_settings ffi_topk_select(SEXP settings);

/* shape: list(p, keep, samples, features): the user's number of columns, which of them are the
 * solver's (0-based, ascending), and names or NULL. */

/* A zero n x n matrix, samples by samples. */
double *ffi_topk_links(SEXP out, const char *name, int n, SEXP shape);
/* A zero n x p matrix with the user's columns; the solver's q come first until they are spread. */
double *ffi_topk_errors(SEXP out, const char *name, int n, int q, SEXP shape);

#endif
