/* paths.h: fast paths that can be switched off, one by one (R: options(ufselect.paths_off = )). All
 * are on for users. A path stays in the package only if it gains at least 1.3 times at a size users
 * have, or halves the memory (evidence/decisions.md); its line here names what is done without it. */
#pragma once

#include <stdbool.h>

#define UFS_PATHS(PATH)                                                                            \
    PATH(gl_newton)        /* socfs, jspca, ndfs: the V step by descent alone */                   \
    PATH(alfs_columns)     /* alfs, lambda > 0: ADMM on all columns of W */                        \
    PATH(alfs_newton)      /* alfs, lambda > 0: sets of columns of W by ADMM alone */              \
    PATH(topk_admm)        /* topk: linear programmes alone */                                     \
    PATH(topk_by_features) /* topk's ADMMs: n x n systems always */                                \
    PATH(topk_compress)    /* topk's selection: factors of n rows always */                        \
    PATH(jspca_kernel)     /* jspca, n <= p: P formed in every step, not XX' once */               \
    PATH(jspca_anderson)   /* jspca: no extrapolation over samples */                              \
    PATH(jspca_forward)    /* jspca: Anderson's point also while changes grow */                   \
    PATH(jspca_stale)      /* jspca: a new Gram matrix in every step over samples */               \
    PATH(inffs_short)      /* inffs, n <= 58: floats, twice the memory */                          \
    PATH(inffs_float)      /* inffs, n <= 369: doubles, twice the memory */

#define UFS_PATH_FIELD(name) bool name;
typedef struct {
    UFS_PATHS(UFS_PATH_FIELD)
} ufs_paths;
#undef UFS_PATH_FIELD
