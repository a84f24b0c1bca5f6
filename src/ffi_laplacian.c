/* ffi_laplacian.c: ufs_laplacian() to laplacian_scores(). */
#include "base_laplacian.h"
#include "ffi_x.h"

/* x: n x p. The p scores, NaN for features that are constant where there are edges. */
SEXP ffi_laplacian(SEXP graph, SEXP x_)
{
    ufs_x x = ffi_x_finite(x_);
    graph_csr g = ffi_graph_for(graph, x.n);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, x.p));
    laplacian_scores(&g, &x, ufs_dalloc((size_t) g.n, 1), REAL(out));
    UNPROTECT(1);
    return out;
}
