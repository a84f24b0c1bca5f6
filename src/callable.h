/* callable.h: the solvers as other packages call them (see callable.c). */
#pragma once

#define UFSELECT_TYPES_ONLY
#include "../inst/include/ufselect.h"

/* One row each: init.c registers them by these names, and the types are those of the header. */
#define UFS_CALLABLES(ROW)                                                                         \
    ROW(css) ROW(facility) ROW(medoids) ROW(group_lasso) ROW(eigen) ROW(neighbours)

#define UFS_CALLABLE_PROTOTYPE(name) ufselect_##name##_function callable_##name;
UFS_CALLABLES(UFS_CALLABLE_PROTOTYPE)
#undef UFS_CALLABLE_PROTOTYPE
