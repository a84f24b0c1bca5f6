/* la.h: dense linear algebra shared by all solvers, over R's BLAS and LAPACK.
 * Column-major, leading dimension = number of rows unless stated. Kernels know
 * no solver. A returned int is LAPACK's info (0 = fine). */
#pragma once

#include "ufs.h"

/* ---- la_blas.c: BLAS without its argument noise ------------------------------- */

/* C (m x n) = alpha op(A) op(B) + beta C; 2mnk flops. ta, tb: 'N' or 'T'. */
void la_gemm(char ta, char tb, int m, int n, int k, double alpha, const double *a, int lda,
             const double *b, int ldb, double beta, double *c, int ldc);

/* The same of matrices that are whole, so that the sizes say how they lie; in strips of C, with
 * interrupts looked for between them. */
void la_mul(char ta, char tb, int m, int n, int k, double alpha, const double *a, const double *b,
            double beta, double *c);

/* la_gemm() in strips of C, with interrupts looked for between them. */
void la_gemm_checked(char ta, char tb, int m, int n, int k, double alpha, const double *a, int lda,
                     const double *b, int ldb, double beta, double *c, int ldc);

/* y = alpha op(A) x + beta y, A m x n; 2mn flops. */
void la_gemv(char ta, int m, int n, double alpha, const double *a, int lda, const double *x,
             double beta, double *y);

/* Upper triangle of C (n x n) = alpha A A' + beta C (trans 'N', A n x k) or alpha A'A + beta C
 * ('T', A k x n); n^2 k flops. */
void la_syrk(char trans, int n, int k, double alpha, const double *a, int lda, double beta,
             double *c, int ldc);

double la_dot(int n, const double *x, const double *y);
void la_axpy(int n, double a, const double *x, double *y);
double la_nrm2(int n, const double *x);

/* a^{-1} in place of a (n x n); pivot n, work of length lwork >= n. 2n^3 flops; > 0: singular. */
int la_lu_inverse(int n, double *a, int *pivot, double *work, int lwork);

/* A (m x n) += a x y'; 2mn flops. */
void la_rank_one(int m, int n, double a, const double *x, const double *y, double *out);

/* B (m x n) <- alpha op(A) B (side 'L') or alpha B op(A) ('R'), A triangular (upper 'U' or
 * lower 'L'); m n (order of A) flops. */
void la_trmm(char side, char uplo, char trans, int m, int n, double alpha, const double *a, int lda,
             double *b, int ldb);

/* The same with the inverse of op(A). */
void la_trsm(char side, char uplo, char trans, int m, int n, double alpha, const double *a, int lda,
             double *b, int ldb);

/* out (p x n) = a' for a n x p; by tiles, so that neither is walked across its columns. */
void la_transpose(int n, int p, const double *a, double *out);
/* out = diag(by) x, n x m; out may be x. */
void la_scale_rows(int n, int m, const double *by, const double *x, double *out);

/* Gram matrix, both triangles filled. trans = 'N': C (n x n) = A A',
 * trans = 'T': C (p x p) = A'A, for A n x p. n^2 p, resp. n p^2 flops. Interrupts are looked for
 * where it takes long. */
void la_gram(char trans, int n, int p, const double *a, double *c);

/* Copies the upper triangle of a (n x n) to the lower one. */
void la_fill_lower(int n, double *a);

/* ---- la_norm.c -------------------------------------------------------------- */

/* out_i = || row i of v ||, v p x c. 2pc flops. */
void la_row_norms(int p, int c, const double *v, double *out);
/* out_j = || column j of v ||. 2pc flops. */
void la_col_norms(int p, int c, const double *v, double *out);
/* sum_i sqrt(norm_i^2 + eps); eps = 0 gives the true l2,1 norm. */
double la_l21(int p, const double *norm, double eps);
/* IRLS weights as a vector: g_i = 1/D_ii = 2 sqrt(norm_i^2 + eps), so a dead
 * row is a zero, never a division by zero. */
void la_irls_g(int p, const double *norm, double eps, double *g);
/* Whether no value is NaN or infinite: LAPACK may never come back from those. */
bool la_finite(size_t len, const double *a);
/* || a ||_F^2 and || a - b ||_F^2. */
double la_ss(size_t len, const double *a);
double la_ss_diff(size_t len, const double *a, const double *b);

/* ---- la_chol.c -------------------------------------------------------------- */

/* Cholesky of the upper triangle in place; info > 0: not positive definite. */
int la_chol(int n, double *a);
/* The same in blocks, with interrupts checked between them: for n beyond 2,000 or so. */
int la_chol_checked(int n, double *a);
/* Solves (R'R) X = B in place, R from la_chol, B n x m. 2n^2 m flops. */
void la_chol_solve(int n, int m, const double *r, double *b);
/* (R'R)^{-1} in place of R, both triangles: for a well-conditioned matrix that is
 * applied very often. 2n^3/3 flops; where that takes long, interrupts are looked for. */
int la_chol_inverse(int n, double *r);

/* Semidefinite a = P R'R P', pivoted, in place: rows of R beyond the rank are zero. pivot: n,
 * 1-based; work: 2n. n^2 rank flops. */
int la_chol_pivoted(int n, double *a, int *pivot, int *rank, double *work);
/* u, rank x n, with u'u = a, semidefinite and destroyed. */
int la_chol_root(int n, double *a, double *u, int *rank);

/* ---- la_svd.c ------------------------------------------------------------------
 * Orthonormal factor of A (n x c, n >= c): E = U R' from A = U S R'
 * (la_svd_thin). Maximises tr(E'A) over E'E = I. About 6nc^2 + 20c^3.
 * Rank-deficient A (sigma_c <= 1e-12 sigma_1): A + delta E_old is used instead,
 * delta = 1e-8 sigma_1 (1 if A = 0): a proximal step, so tr(E'A) never falls;
 * without e_old any completion is returned. */
typedef struct {
    int n, c;
    double *u, *vt, *s, *copy;
} la_polar_work;

void la_polar_init(la_polar_work *w, int n, int c);
/* a is kept; e may be e_old, not a. w->s holds the singular values on return. */
int la_polar(la_polar_work *w, const double *a, const double *e_old, double *e);

/* Thin SVD A = U diag(s) V' (dgesdd, retried with dgesvd): u n x r (not a), s r, vt r x p,
 * r = min(n, p). About 6 max(n, p) r^2 + 20 r^3 flops. copy: n x p, scratch. */
int la_svd_thin(int n, int p, const double *a, double *copy, double *u, double *s, double *vt);
/* r (p x p, upper triangular) with x = O r, O'O = I, n >= p: the columns of x M and of r M have the
 * same norms for every M. Householder QR; 2np^2 flops, one copy of x. */
int la_r_factor(int n, int p, const double *x, double *r);

/* In the place of an info of LAPACK's: its matrix has values that are not finite. */
#define LA_NOT_FINITE (-100)
/* ---- la_cg.c ---------------------------------------------------------------------
 * Preconditioned conjugate gradients for A x = b, A and the preconditioner (M^{-1})
 * symmetric and positive definite, known by their products (NULL: M = I); x holds the start. Stops
 * at ||r|| <= tol ||b|| or, `natural`, when (r'M^{-1}r)^(1/2) has fallen by the factor tol; after
 * max_iter steps; or where rounding leaves no curvature. Returns the steps: one product with each
 * and 10n flops a step. watch: told ||r|| after each. */
typedef void (*la_cg_operator)(void *data, const double *x, double *y);

typedef struct {
    int n;
    la_cg_operator apply, precondition;
    void *data;
    double tol;
    bool natural;
    int max_iter;
    void (*watch)(void *data, double norm); /* or NULL */
    double *work;                           /* 4 n */
} la_cg_problem;

int la_cg(const la_cg_problem *a, const double *b, double *x);

/* Fixes the sign of each column: its entry of largest modulus (ties: first,
 * up to a relative 1e-9) is positive. */
void la_fix_signs(int n, int k, double *z);

/* ---- la_packed.c ------------------------------------------------------------------
 * Symmetric matrices (n x n) held as the columns of their upper triangle, one after
 * the other: half the memory of both triangles. Entry (i, j), i <= j, is number i of column j. */

/* Where column j begins; of column n, how many entries there are. */
static inline size_t la_packed_column(int j)
{
    return (size_t) j * ((size_t) j + 1) / 2;
}

/* diag(degree) - S, both triangles. */
void la_packed_laplacian(int n, const double *s, const double *degree, double *full);
/* sum_i = sum_j s_ij. n^2 flops. */
void la_packed_row_sums(int n, const double *s, double *sum);
/* S (n x n), and n x UFS_STRIP doubles in which so many of its columns are unpacked at a time. */
typedef struct {
    int n;
    const double *s;
    double *strip;
} la_packed;

/* out (n x m) -= U x (n x m), U the upper triangle of S and half of its diagonal, so that S = U + U'.
 * n^2 m flops, every entry of S is read once. */
void la_packed_half_product(const la_packed *a, int m, const double *x, double *out);
/* Connected components of {s_ij > threshold}: their number; label (n) is 1, 2, ... by first appearance.
 * order: n ints. n^2 / 2 reads, fewer where components join early. */
int la_packed_components(int n, const double *s, double threshold, int *label, int *order);

/* ---- proj.c -----------------------------------------------------------------------
 * Euclidean projections on simple sets, and the soft threshold, the proximal map of |a|. */

/* Projection of y (length n) on {v >= 0, sum v = total}, total > 0: exact, by
 * sorting (n log n). work has length n. out may be y. */
void proj_simplex(int n, const double *y, double total, double *work, double *out);
/* Projection on {0 <= v <= 1, sum v = total}, 0 <= total <= n: bisection on the shift,
 * then the exact shift of the interior entries. Entries of y may be +-infinite (they
 * become 1 and 0). */
void proj_capped_simplex(int n, const double *y, double total, double *out);
/* Projection on the sphere {||v - 1/2||^2 = n/4} that meets the box [0, 1]^n in
 * the binary vectors; if y is its centre (within 1e-12), `fallback` is projected
 * instead. */
void proj_half_sphere(int n, const double *y, const double *fallback, double *out);

/* The nearest point of [-t, t], NaN of NaN: without a branch, which nobody could predict in the loops
 * that call it. */
static inline double prox_clip(double a, double t)
{
    double most = a > t ? t : a;
    return most < -t ? -t : most;
}

/* sign(a) max(|a| - t, 0). */
static inline double prox_soft(double a, double t)
{
    return a - prox_clip(a, t);
}
