/* la_lanczos.h: the k largest eigenpairs of a symmetric positive semidefinite operator of
 * order n, known by its products only, by block Lanczos with thick restarts.
 *
 * A block of 8 vectors grows an orthonormal basis of at most 2k + 32 (or `basis`); a restart
 * keeps the k + 8 best Ritz vectors. A block finds eigenvalues of multiplicity up to 8, and costs a
 * sparse or distant A hardly more than one vector. The start is a fixed hash: the result is
 * deterministic. Needs far fewer products than la_eigs(), which suits the inner end of
 * clustered spectra; here the wanted end stands out.
 * Per block: 8 products, 8 n (basis) 8 flops for full orthogonalisation done twice, and the
 * eigenproblem of the basis's order. Memory n (2k + 48) + 2 (2k + 32)^2 doubles. */
#ifndef UFS_LA_LANCZOS_H
#define UFS_LA_LANCZOS_H

#include "la.h"

typedef struct {
    int n, k;
    la_operator apply; /* Y = A X for X n x m */
    const void *data;
    double tol;       /* stop when every |A z - w z| <= tol w_1 */
    int max_products; /* vectors multiplied */
    int basis;        /* vectors held, at least la_lanczos_basis(k); 0: so many. More of them
                         need fewer products where wanted eigenvalues are close together */
    bool give_up;     /* stop at a restart from which max_products will not do */
} la_lanczos_problem;

typedef struct {
    int products, lapack;
    double residual; /* the largest one, relative to w_1 */
    bool converged;
} la_lanczos_info;

/* Order of the basis for k pairs; the operator's must be twice that at least. */
int la_lanczos_basis(int k);
/* w descending (k), z n x k. */
void la_lanczos(const la_lanczos_problem *a, double *w, double *z, la_lanczos_info *info);

#endif
