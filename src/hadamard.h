/* hadamard.h: products with H = scale (G o N) + shift I, none of whose p x p factors is
 * formed: G = F'F with F r x p, N = w0 I + sign R'R with R k x p, o the Hadamard product.
 *   (G o N) x = w0 diag(G) o x + sign diag(F'F diag(x) R'R):
 * with M = R diag(x) F' (k x r) the i-th entry of the last is r_i'M f_i.
 * 4 p r k flops per product, memory k r + 256 k beyond F and R. */
#ifndef UFS_HADAMARD_H
#define UFS_HADAMARD_H

#include "ufs.h"

typedef struct {
    int p, r, k;
    const double *f;      /* r x p */
    const double *rt;     /* k x p */
    const double *g_diag; /* p */
    double w0, sign, scale, shift;
    double *m, *buffer; /* k x r and k x UFS_STRIP */
} hadamard;

/* Workspace for k up to most_k and r up to most_r. */
void hadamard_init(hadamard *op, int p, int most_r, int most_k);
/* out = H x; `op` is a hadamard, for qp_problem. */
void hadamard_apply(void *op, const double *x, double *out);
/* Diagonal of H. */
void hadamard_diag(const hadamard *op, double *out);

#endif
