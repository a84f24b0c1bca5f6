#include "ffi_util.h"
#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

#define CALLDEF(name, n_arg) {#name, (DL_FUNC) &ffi_##name, n_arg}

/* In R: C_<name>. One row per entry of ffi_util.h. */
static const R_CallMethodDef call_entries[] = {
    CALLDEF(prepare, 3),
    CALLDEF(equal_columns, 1),
    CALLDEF(gram_pca, 2),
    CALLDEF(x_check, 5),
    CALLDEF(x_prepare, 3),
    CALLDEF(x_mul, 2),
    CALLDEF(x_cross, 2),
    CALLDEF(x_columns, 2),
    CALLDEF(x_ss, 1),
    CALLDEF(x_gram, 2),
    CALLDEF(x_pca, 2),
    CALLDEF(test_x, 4),
    CALLDEF(test_lanczos, 3),
    CALLDEF(ted_greedy, 5),
    CALLDEF(rrss_max, 1),
    CALLDEF(rrss, 3),
    CALLDEF(alnr, 5),
    CALLDEF(inffs, 3),
    CALLDEF(blfse, 6),
    CALLDEF(laplacian_low, 3),
    CALLDEF(test_blfse_projection, 5),
    CALLDEF(test_qp, 5),
    CALLDEF(test_components, 2),
    CALLDEF(socfs, 4),
    CALLDEF(graph_knn, 2),
    CALLDEF(graph_build, 5),
    CALLDEF(graph_describe, 3),
    CALLDEF(graph_mult, 3),
    CALLDEF(alfs_basis, 1),
    CALLDEF(alfs, 5),
    CALLDEF(laplacian, 2),
    CALLDEF(spec_quadratic, 4),
    CALLDEF(spec_leading, 5),
    CALLDEF(graph_embed, 2),
    CALLDEF(mcfs, 5),
    CALLDEF(jspca, 4),
    CALLDEF(jspca_compress, 1),
    CALLDEF(jspca_lambda_max, 2),
    CALLDEF(rsr_window, 1),
    CALLDEF(rsr, 6),
    CALLDEF(ndfs, 5),
    CALLDEF(udfs, 3),
    CALLDEF(sogfs, 3),
    CALLDEF(test_anderson, 4),
    CALLDEF(test_lowest, 6),
    CALLDEF(test_norms, 2),
    CALLDEF(test_ridge, 5),
    CALLDEF(test_polar, 2),
    CALLDEF(test_svd, 1),
    CALLDEF(test_eig, 3),
    CALLDEF(test_prox, 2),
    CALLDEF(test_proj, 2),
    CALLDEF(test_hook, 2),
    CALLDEF(topk, 7),
    CALLDEF(propagate, 5),
    CALLDEF(test_topk_represent, 3),
    CALLDEF(test_topk_select, 7),
    CALLDEF(test_topk_label, 3),
    CALLDEF(test_proj_capped, 2),
    CALLDEF(test_trace, 2),
    CALLDEF(test_gl, 5),
    {NULL, NULL, 0}
};

void attribute_visible R_init_ufselect(DllInfo *dll)
{
    R_registerRoutines(dll, NULL, call_entries, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
}
