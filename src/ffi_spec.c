/* ffi_spec.c: the three scores of ufs_spec(). */
#include "spec.h"
#include "ffi_util.h"

enum { MOST_POWER = 20 };

/* phi1, or phi2 with center. */
SEXP ffi_spec_quadratic(SEXP graph, SEXP x_, SEXP power, SEXP center)
{
    ufs_x x = ffi_x_finite(x_);
    graph_csr g = ffi_graph_for(graph, x.n);
    int q = ffi_whole(power, 1, MOST_POWER, "power");
    SEXP out = PROTECT(Rf_allocVector(REALSXP, x.p));
    spec_quadratic(&g, &x, q, ffi_yes(center, "center"), REAL(out));
    UNPROTECT(1);
    return out;
}

/* phi3. x has the rows of the nodes that are not isolated, as `vectors` of ffi_graph_embed. */
SEXP ffi_spec_leading(SEXP graph, SEXP x_, SEXP power, SEXP values, SEXP vectors)
{
    ufs_x x = ffi_x_finite(x_);
    ffi_mat u = ffi_matrix(vectors, "vectors");
    const double *l = ffi_given(values, (size_t) u.p, "values");
    int q = ffi_whole(power, 1, MOST_POWER, "power");
    graph_csr g = ffi_graph_csr(graph), used;
    SEXP out = PROTECT(Rf_allocVector(REALSXP, x.p));
    graph_drop_isolated(&g, &used, ufs_ialloc((size_t) g.n));
    if (used.n != x.n || used.n != u.n)
        Rf_error("internal error: sizes of graph, matrix and eigenvectors differ");
    spec_leading(&used, &x, q, u.p, l, u.x, REAL(out));
    UNPROTECT(1);
    return out;
}
