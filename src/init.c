/* init.c: the table of entries.h, registered with its arities (in R: C_<name>), and what other
 * packages may call (callable.h). */
#include "callable.h"
#include "ffi_util.h"
#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

#define UFS_ROW(name, n_arg) {#name, (DL_FUNC) &ffi_##name, n_arg},

static const R_CallMethodDef call_entries[] = {UFS_ENTRIES(UFS_ROW){NULL, NULL, 0}};

void attribute_visible R_init_ufselect(DllInfo *dll)
{
    R_registerRoutines(dll, NULL, call_entries, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
#define UFS_REGISTER(name)                                                                         \
    R_RegisterCCallable("ufselect", "ufselect_" #name, (DL_FUNC) &callable_##name);
    UFS_CALLABLES(UFS_REGISTER)
#undef UFS_REGISTER
}
