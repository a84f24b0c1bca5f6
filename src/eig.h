/* eig.h: eigenpairs of symmetric matrices and operators; ARCHITECTURE.md says which problem takes which. */
#pragma once

#include "la.h"

/* ---- eig_held.c -------------------------------------------------------------------
 * Eigenpairs il..iu (1-based, ascending order) of the symmetric a (n x n, upper
 * triangle read, destroyed): values w (iu - il + 1), vectors z n x (iu - il + 1).
 * The steps of dsyevr, about 4n^3/3 + 4n^2 k flops, one by one (blocks of the reduction to
 * tridiagonal form, its spectrum by dstevr, strips of the way back), with interrupts looked for
 * between them. Workspace is allocated inside and given back, so it may be called in a loop. */
int eig_range(int n, double *a, int il, int iu, double *w, double *z);
/* The k largest, descending: w k, z n x k. */
int eig_leading(int n, double *a, int k, double *w, double *z);
/* All n eigenvalues, ascending, without vectors. About 4n^3/3 flops; interrupts as above. */
int eig_values(int n, double *a, double *w);

/* ---- eig_few.c ------------------------------------------------------------------
 * The k largest eigenpairs of a symmetric operator A of order n that is known by its products only,
 * descending: block Davidson with restarts. The start is a fixed hash, so the result is
 * deterministic. Multiple eigenvalues are found as often as they occur, if `proof` is asked for:
 * what lies outside of V is looked at, and what is missing goes into V.
 * Stops when every residual |A z - w z| <= tol max(|low|, |high|), or tol w_1 if these are 0.
 * Per vector: a product, 10 n (basis) flops, and where it is looked at 4 n k (basis) and the
 * eigenproblem of the basis's order. Memory 2n (basis + k + 8) doubles. */
enum { EIG_DENSE = 400 };

typedef void (*eig_operator)(const void *data, int m, const double *x, double *y);

/* X (n x m) becomes the last of `steps` times
 *     next = c_0 A x + c_1 x + c_2 before,
 * three coefficients for each step, the first from the given X. */
typedef void (*eig_recurrence)(const void *data, int m, int steps, const double *c, double *x);

typedef struct {
    int n, k;
    eig_operator apply;   /* Y = A X for X n x m */
    eig_recurrence recur; /* for cheap products: blocks are filtered by polynomials; or NULL */
    const void *data;
    double low, high; /* bounds of the spectrum; needed with recur */
    int n_known;
    const double *known; /* orthonormal eigenvectors to leave out; NULL if none */
    int n_start;
    const double *start; /* guesses of leading eigenvectors, best first; NULL if none */
    int block; /* vectors multiplied at a time; 0: as many as are wanted. Few need fewer products, but
                  see one copy each of a multiple eigenvalue */
    bool
        proof; /* it is no end before no eigenvalue can be missing above the smallest one wanted; of
                   those within 1e-6 of it, relative to the range, some may be its copies. Needs low
                   (0 if A is semidefinite) */
    double tol;
    int max_iter; /* looks at the Ritz pairs, one for every 8 products or every block */
    int n_rough;  /* of the last of the k only the distance from the one before them (or `high`)
                     matters, to a tenth */
} eig_problem;

typedef struct {
    int iterations, products, lapack; /* products: vectors, without those of `recur` */
    double residual;                  /* the largest one, relative */
    bool converged;
} eig_info;

int eig_basis(int k);
/* w: k, z: n x k. Of small order A is formed, and LAPACK does it. */
void eig_few(const eig_problem *a, double *w, double *z, eig_info *info);
void eig_krylov(const eig_problem *a, double *w, double *z, eig_info *info);

/* A start vector: a hash of (row, column), uniform on (-1, 1), that no structure of the data
 * is orthogonal to by design. */
void krylov_noise(int n, int column, double *x);

typedef struct {
    int n;
    double *q; /* n rows */
    int n_known;
    const double *known; /* n x n_known orthonormal columns, or NULL */
    double *dot;         /* max(n_known + k, k + added) x added doubles of scratch */
} krylov_basis;

/* Makes columns k .. k + added - 1 of q orthonormal to `known`, to the k columns of q before, which
 * are orthonormal, and to
 * each other; those of which less than `least` of their length is left are dropped, and the
 * others move up. Returns how many are left. rest: they are what unit vectors had left of them
 * when most of what lies along q was taken away. The block against the others by two products,
 * twice (`rest`: once), then column by column: 4n (n_known + k) added + 4n added^2 flops. */
int krylov_orthonormalise(const krylov_basis *basis, int k, int added, double least, bool rest);

/* ---- eig_lowest.c -----------------------------------------------------------------
 * The lowest eigenpairs of a positive semidefinite matrix plus a positive diagonal, without a matrix
 * of order p when p is large.
 * P = diag(delta) + M of order p, delta >= 0, with M given as
 *   m: p x p, symmetric, both triangles (b = NULL), or
 *   b: r x p with M = B'B (m = NULL).
 * The largest eigenpairs of (P - sigma I)^{-1} by eig_krylov(), sigma just below min(delta). The
 * inverse is applied through a Cholesky factor of P - sigma I (p^3/3 flops once, 2p^2 per vector), or
 * by Woodbury,
 *   (P - sigma I)^{-1} = G - G B'(I + B G B')^{-1} B G,  G = (diag(delta) - sigma I)^{-1},
 * at r^2 p + r^3/3 once and 4rp per vector. p <= EIG_LOWEST_DENSE or 8c with m: LAPACK.
 * EIG_LOWEST_DENSE: UDFS of 300 rows is 2 to 3 times as fast by LAPACK with 60 to 120 columns, as fast
 * with 150 to 200, and takes 2.2 times as long a step with 300 (OpenBLAS).
 * Memory: 2p (3c + 48) doubles while it solves, and p^2, or rp + r^2. */
enum { EIG_LOWEST_DENSE = 120 };

typedef struct {
    int p, c, r;
    const double *m, *b;
    const int *set; /* p: the columns of b in use, or NULL for all */
    bool proof;     /* as in eig_problem; true at first */
    double *g;      /* p: 1 / (delta - sigma), Woodbury; scratch for sigma */
    double *k;      /* Cholesky factor, p x p or r x r */
    double *scaled; /* r x p: B G^{1/2} */
} eig_lowest;

/* 1 <= c <= p; r = p with m. Then p, m, b, r and set may become those of another matrix of lower
 * order, with r no larger than at first. */
void eig_lowest_init(eig_lowest *s, int p, int c, int r, const double *m, const double *b);
/* The c lowest pairs, ascending: values c, vectors p x c (orthonormal). info is of the inverse:
 * products and residuals are its own. With `warm`, vectors holds orthonormal guesses on entry.
 * Stops at residual <= tol, or below 1e-7 when rounding allows no better; that too counts as
 * converged. */
void eig_lowest_solve(eig_lowest *s, const double *delta, bool warm, double tol, double *values,
                      double *vectors, eig_info *info);

/* ---- eig_graph.c: the c smallest eigenvectors of a symmetric matrix, ties shared equally. ---- */

/* The minimiser of tr(N A) over {0 <= N <= I, tr N = c} of least Frobenius norm has
 * weight 1 on the `lo` eigenvectors below the c-th eigenvalue and `share` =
 * (c - lo) / eq on the `eq` that equal it up to the tolerance, 0 on the rest. It is the
 * projector on the c smallest if there is no tie, and unique in any case. */
typedef struct {
    int lo, eq;
    double share;
} low_split;

/* value: `found` smallest eigenvalues, ascending, found >= c. */
low_split low_ties(const double *value, int found, int c, double tol);

/* Workspace for the Laplacian L = diag(S 1) - S of a weight matrix S, packed as in la.h. */
typedef struct {
    int n, c;
    double *value; /* n */
    const double *degree;
    int *label, *order;
    enum { LOW_DENSE = 1, LOW_BLOCKS } path; /* what the last call took */
} low_work;

void low_init(low_work *work, int n, int c);
/* Weighted eigenvectors, so that R R' is the minimiser above for A = L(S): r n x k,
 * k = lo + eq columns times sqrt(weight). r and scratch have room for n x n; degree: n, S 1. With c or
 * more components (of exact zeros in S) they are the indicators; else eig_range() finds the lowest. (By
 * products from the last call's vectors they took .70 to 1.5 times as long in fits of 600 samples.)
 * Returns LAPACK's info. */
int low_laplacian(low_work *work, const double *s, const double *degree, double *scratch, double *r,
                  int *k, low_split *split);
