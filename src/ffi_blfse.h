/* ffi_blfse.h: how the lists of R become the problem and the settings of BLFSE. */
#ifndef UFS_FFI_BLFSE_H
#define UFS_FFI_BLFSE_H

#include "ffi_util.h"
#include "solve_blfse.h"

blfse_problem ffi_blfse_problem(SEXP x, SEXP scores, SEXP labels, SEXP settings);
blfse_settings ffi_blfse_settings(SEXP psi, SEXP settings);

#endif
