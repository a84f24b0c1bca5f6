/* ffi_topk.h: how the lists of R become the settings of top-k's parts. */
#ifndef UFS_FFI_TOPK_H
#define UFS_FFI_TOPK_H

#include "ffi_util.h"
#include "solve_topk.h"

topk_represent_settings ffi_topk_represent(SEXP settings);
topk_select_settings ffi_topk_select(SEXP settings);

#endif
