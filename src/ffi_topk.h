/* ffi_topk.h: settings of top-k's parts, from a list of R. */
#pragma once

#include "ffi_util.h"
#include "topk.h"

topk_select_settings ffi_topk_select(SEXP settings);
