/* ffi_x.h: the matrix of an entry, from R. */
#ifndef UFS_FFI_X_H
#define UFS_FFI_X_H

#include "ffi_util.h"
#include "x_ops.h"

/* A numeric matrix as it is, or an object of class ufs_x (R/operator.R): sparse, checked
 * for soundness in full, or a source, whose functions are called. Arrays are those of the
 * R object, which must outlive the result. */
ufs_x ffi_x(SEXP x);
/* The same for a solver: the values that are at hand are finite. np comparisons. */
ufs_x ffi_x_finite(SEXP x);

#endif
