/* ffi_util.h: the edge between R and the solvers. Only ffi_*.c and init.c include
 * it. An edge function unpacks, allocates, calls one solver and builds a named
 * list; arguments were validated in R, so what fails here is a bug of ours. */
#ifndef UFS_FFI_UTIL_H
#define UFS_FFI_UTIL_H

#include "graph.h"
#include "ufs.h"
#include <Rinternals.h>

/* ---- ffi_util.c ---------------------------------------------------------------- */

/* Element `name` of a list, R_NilValue if absent. */
SEXP ffi_get(SEXP list, const char *name);
/* The same as one number, integer or flag; error if absent or of another type. */
double ffi_real(SEXP list, const char *name);
int ffi_int(SEXP list, const char *name);
bool ffi_flag(SEXP list, const char *name);
/* Data of a numeric vector, checked for its length; NULL for R's NULL. */
const double *ffi_data(SEXP x, size_t length, const char *what);

/* A named list whose slots are still NULL; fill with ffi_set. Protect it, and
 * it protects the rest. `names` ends with NULL. */
SEXP ffi_list(const char *const *names);
/* Stores value (which need not be protected by the caller) in the slot. */
void ffi_set(SEXP list, const char *name, SEXP value);
/* Allocates a matrix or vector straight into a slot and returns its data. */
double *ffi_set_matrix(SEXP list, const char *name, int n, int m);
double *ffi_set_vector(SEXP list, const char *name, int n);
int *ffi_set_ints(SEXP list, const char *name, int n);
/* The filled rows of a trace as a matrix. */
void ffi_set_trace(SEXP list, const char *name, const ufs_trace *trace);

/* control: list with verbose (flag) and progress (NULL or a function of
 * iteration and objective). `data` must outlive the solve. */
typedef struct {
    SEXP progress;
} ffi_hook_data;
ufs_hook ffi_hook(SEXP control, const char *name, ffi_hook_data *data);

/* ---- ffi_graph.c ------------------------------------------------------------------ */

/* The graph of an R object of class ufs_graph, without a copy; it must outlive g. */
graph_csr ffi_graph_csr(SEXP graph);

/* ---- entries, one line each; init.c registers them ------------------------------- */
/* ffi_input.c */
SEXP ffi_prepare(SEXP x, SEXP center, SEXP scale);
SEXP ffi_equal_columns(SEXP x);
SEXP ffi_gram_pca(SEXP x, SEXP k);
/* ffi_x.c */
SEXP ffi_x_check(SEXP n, SEXP p, SEXP start, SEXP row, SEXP value);
SEXP ffi_x_prepare(SEXP x, SEXP center, SEXP scale);
SEXP ffi_x_mul(SEXP x, SEXP v);
SEXP ffi_x_cross(SEXP x, SEXP t);
SEXP ffi_x_columns(SEXP x, SEXP j);
SEXP ffi_x_ss(SEXP x);
SEXP ffi_x_gram(SEXP x, SEXP rows);
SEXP ffi_x_pca(SEXP x, SEXP k);
/* ffi_test_x.c */
SEXP ffi_test_x(SEXP x, SEXP t, SEXP v, SEXP w);
SEXP ffi_test_lanczos(SEXP a, SEXP k, SEXP tol);
/* ffi_samples.c */
SEXP ffi_ted_greedy(SEXP x, SEXP m, SEXP mu, SEXP form, SEXP control);
SEXP ffi_rrss_max(SEXP x);
SEXP ffi_rrss(SEXP x, SEXP gamma, SEXP control);
SEXP ffi_alnr(SEXP x, SEXP k, SEXP gamma, SEXP relative, SEXP control);
/* ffi_blfse.c */
SEXP ffi_blfse(SEXP x, SEXP scores, SEXP labels, SEXP psi, SEXP settings, SEXP control);
SEXP ffi_laplacian_low(SEXP s, SEXP c, SEXP dense_limit);
SEXP ffi_test_blfse_projection(SEXP x, SEXP scores, SEXP labels, SEXP psi, SEXP settings);
SEXP ffi_test_qp(SEXP kind, SEXP parts, SEXP b, SEXP start, SEXP tol);
SEXP ffi_test_components(SEXP s, SEXP threshold);
/* ffi_inffs.c */
SEXP ffi_inffs(SEXP x, SEXP settings, SEXP control);
/* ffi_socfs.c */
SEXP ffi_socfs(SEXP x, SEXP start, SEXP stages, SEXP options);
/* ffi_graph.c */
SEXP ffi_graph_knn(SEXP x, SEXP k);
SEXP ffi_graph_build(SEXP x, SEXP k, SEXP weights, SEXP bandwidth, SEXP rule);
SEXP ffi_graph_describe(SEXP start, SEXP index, SEXP value);
SEXP ffi_graph_mult(SEXP graph, SEXP x, SEXP laplacian);
/* ffi_alfs.c */
SEXP ffi_alfs_basis(SEXP x);
SEXP ffi_alfs(SEXP basis, SEXP penalties, SEXP settings, SEXP start, SEXP control);
/* ffi_spectral.c */
SEXP ffi_laplacian(SEXP graph, SEXP x);
SEXP ffi_spec_quadratic(SEXP graph, SEXP x, SEXP power, SEXP center);
SEXP ffi_spec_leading(SEXP graph, SEXP x, SEXP power, SEXP values, SEXP vectors);
SEXP ffi_graph_embed(SEXP graph, SEXP m);
SEXP ffi_mcfs(SEXP x, SEXP y, SEXP card, SEXP ridge, SEXP control);
/* ffi_jspca.c */
SEXP ffi_jspca(SEXP x, SEXP start, SEXP settings, SEXP control);
SEXP ffi_jspca_compress(SEXP x);
SEXP ffi_jspca_lambda_max(SEXP x, SEXP sample);
/* ffi_irls.c */
SEXP ffi_rsr_window(SEXP x);
SEXP ffi_rsr(SEXP x, SEXP lambda, SEXP eps, SEXP accelerate, SEXP keep_w, SEXP control);
SEXP ffi_ndfs(SEXP x, SEXP graph, SEXP f0, SEXP settings, SEXP control);
SEXP ffi_udfs(SEXP x, SEXP settings, SEXP control);
SEXP ffi_sogfs(SEXP x, SEXP settings, SEXP control);
SEXP ffi_test_anderson(SEXP a, SEXP b, SEXP depth, SEXP steps);
SEXP ffi_test_lowest(SEXP m, SEXP b, SEXP delta, SEXP c, SEXP start, SEXP tol);
/* ffi_test.c */
SEXP ffi_test_norms(SEXP v, SEXP eps);
SEXP ffi_test_ridge(SEXP x, SEXP t, SEXP g, SEXP lambda, SEXP form);
SEXP ffi_test_polar(SEXP a, SEXP e_old);
SEXP ffi_test_svd(SEXP a);
SEXP ffi_test_eig(SEXP a, SEXP il, SEXP iu);
SEXP ffi_test_prox(SEXP a, SEXP t);
SEXP ffi_test_proj(SEXP y, SEXP total);
SEXP ffi_test_hook(SEXP control, SEXP n);
/* ffi_topk.c */
SEXP ffi_topk(SEXP x, SEXP known, SEXP c, SEXP k, SEXP mode, SEXP settings, SEXP control);
SEXP ffi_propagate(SEXP w, SEXP known, SEXP c, SEXP cmn, SEXP x);
SEXP ffi_test_topk_represent(SEXP x, SEXP theta, SEXP settings);
SEXP ffi_test_topk_select(SEXP x, SEXP label, SEXP c, SEXP k, SEXP w, SEXP start,
                          SEXP settings);
SEXP ffi_test_topk_label(SEXP z, SEXP c, SEXP previous);
SEXP ffi_test_proj_capped(SEXP y, SEXP total);
SEXP ffi_test_trace(SEXP n, SEXP most);
SEXP ffi_test_gl(SEXP x, SEXP x2, SEXP t, SEXP v0, SEXP options);

#endif
