/* la.h: dense linear algebra shared by all solvers, over R's BLAS and LAPACK.
 * Column-major, leading dimension = number of rows unless stated. Kernels know
 * no solver. A returned int is LAPACK's info (0 = fine). */
#ifndef UFS_LA_H
#define UFS_LA_H

#include "ufs.h"
#include "x_ops.h"

/* ---- la_blas.c: BLAS without its argument noise ------------------------------- */

/* C (m x n) = alpha op(A) op(B) + beta C; 2mnk flops. ta, tb: 'N' or 'T'. */
void la_gemm(char ta, char tb, int m, int n, int k, double alpha, const double *a, int lda,
             const double *b, int ldb, double beta, double *c, int ldc);

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
/* Triangular solve with R (trans 'N') or R' ('T'), B n x m. n^2 m flops. */
void la_tri_solve(char trans, int n, int m, const double *r, double *b);
/* (R'R)^{-1} in place of R, both triangles: for a well-conditioned matrix that is
 * applied very often. 2n^3/3 flops; where that takes long, interrupts are looked for. */
int la_chol_inverse(int n, double *r);

/* Semidefinite a = P R'R P', pivoted, in place: rows of R beyond the rank are zero. pivot: n,
 * 1-based; work: 2n. n^2 rank flops. */
int la_chol_pivoted(int n, double *a, int *pivot, int *rank, double *work);
/* The same of a = D P R'R P' D with ones on the diagonal of P R'R P', size: n, D; so the rank does not
 * depend on the units of what a are the products of. */
int la_chol_unit(int n, double *a, double *size, int *pivot, int *rank, double *work);
/* u, rank x n, with u'u = a, semidefinite and destroyed; `square`: n x n, with rows of zeros. */
int la_chol_root(int n, double *a, bool square, double *u, int *rank);

/* ---- la_solve.c: weighted ridge --------------------------------------------
 * V (p x c) = argmin ||X V - T||_F^2 + lambda sum_i ||v_i||^2 / g_i, with
 * X n x p, T n x c, g >= 0 (g_i = 0 gives v_i = 0), lambda > 0:
 *   n-form  V = G X'(X G X' + lambda I_n)^{-1} T     n^2 p + n^3/3 + 2n^2c + 2npc
 *   p-form  V = G^{1/2}(G^{1/2}X'XG^{1/2} + lambda I_p)^{-1} G^{1/2} X'T
 *                                                    p^3/3 + 2p^2c + 2npc
 * X'X is formed once. The form is chosen by those counts; with p > n nothing
 * of size p x p exists. */
typedef struct {
    int n, p, c;
    bool p_form;
    double *k;    /* n x n or p x p: the matrix that is factored */
    double *gram; /* p-form: X'X */
    double *z;    /* n x c or p x c */
    ufs_x x;
} la_ridge;

/* form: 'n', 'p', or 'a' for the cheaper one. */
void la_ridge_init(la_ridge *work, int c, const ufs_x *x, char form);
/* Another x of the same shape, or new numbers in the old one. */
void la_ridge_set_x(la_ridge *work, const ufs_x *x);
int la_ridge_solve(la_ridge *work, const double *t, const double *g, double lambda, double *v);

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
/* ---- la_eig.c -------------------------------------------------------------------
 * Eigenpairs il..iu (1-based, ascending order) of the symmetric a (n x n, upper
 * triangle read, destroyed): values w (iu - il + 1), vectors z n x (iu - il + 1).
 * The steps of dsyevr, about 4n^3/3 + 4n^2 k flops, one by one (blocks of the reduction to
 * tridiagonal form, its spectrum by dstevr, strips of the way back), with interrupts looked for
 * between them. Workspace is allocated inside and given back, so it may be called in a loop. */
int la_eig_range(int n, double *a, int il, int iu, double *w, double *z);
/* The k largest, descending: w k, z n x k. */
int la_eig_leading(int n, double *a, int k, double *w, double *z);
/* All n eigenvalues, ascending, without vectors. About 4n^3/3 flops; interrupts as above. */
int la_eig_values(int n, double *a, double *w);

/* ---- la_eigs.c ------------------------------------------------------------------
 * The k largest eigenpairs of a symmetric operator A of order n that is known by its products only,
 * descending: block Davidson with restarts. The start is a fixed hash, so the result is
 * deterministic. Multiple eigenvalues are found as often as they occur, if `proof` is asked for:
 * la_missed.c looks at what lies outside of V, and what is missing goes into V.
 * Stops when every residual |A z - w z| <= tol max(|low|, |high|), or tol w_1 if these are 0.
 * Per vector: a product, 10 n (basis) flops, and where it is looked at 4 n k (basis) and the
 * eigenproblem of the basis's order. Memory 2n (basis + k + 8) doubles. */
enum { LA_EIGS_DENSE = 400 };

typedef void (*la_operator)(const void *data, int m, const double *x, double *y);

/* X (n x m) becomes the last of `steps` times
 *     next = c_0 A x + c_1 x + c_2 before,
 * three coefficients for each step, the first from the given X. */
typedef void (*la_recurrence)(const void *data, int m, int steps, const double *c, double *x);

typedef struct {
    int n, k;
    la_operator apply;   /* Y = A X for X n x m */
    la_recurrence recur; /* for cheap products: blocks are filtered by polynomials; or NULL */
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
} la_eigs_problem;

typedef struct {
    int iterations, products, lapack; /* products: vectors, without those of `recur` */
    double residual;                  /* the largest one, relative */
    bool converged;
} la_eigs_info;

int la_eigs_basis(int k);
/* w: k, z: n x k. Of small order A is formed, and LAPACK does it. */
void la_eigs(const la_eigs_problem *a, double *w, double *z, la_eigs_info *info);
void la_eigs_krylov(const la_eigs_problem *a, double *w, double *z, la_eigs_info *info);

/* ---- la_missed.c ------------------------------------------------------------------
 * Has A, on the complement of the orthonormal V (n x size) and of what is known, an eigenvalue of
 * at least `limit`? x: an approximate eigenvector, where a Ritz value lies above `some`, at most `limit`. The start is
 * noise of that number. Counts products into info, and LAPACK's failure. */
typedef enum { LA_MISSED_NONE, LA_MISSED_SOME, LA_MISSED_UNKNOWN } la_missed;
typedef struct {
    double some, limit;
} la_missed_levels;
la_missed la_eigs_missed(const la_eigs_problem *a, int size, const double *v,
                         const la_missed_levels *level, int column, double *x, la_eigs_info *info);

/* ---- la_krylov.c: what the subspace methods share ------------------------------------ */

/* A start vector: a hash of (row, column), uniform on (-1, 1), that no structure of the data
 * is orthogonal to by design. */
void la_krylov_noise(int n, int column, double *x);

typedef struct {
    int n;
    double *q; /* n rows */
    int n_known;
    const double *known; /* n x n_known orthonormal columns, or NULL */
    double *dot;         /* max(n_known + k, k + added) x added doubles of scratch */
} la_krylov_basis;

/* Makes columns k .. k + added - 1 of q orthonormal to `known`, to the k columns of q before, which
 * are orthonormal, and to
 * each other; those of which less than `least` of their length is left are dropped, and the
 * others move up. Returns how many are left. rest: they are what unit vectors had left of them
 * when most of what lies along q was taken away. The block against the others by two products,
 * twice (`rest`: once), then column by column: 4n (n_known + k) added + 4n added^2 flops. */
int la_krylov_orthonormalise(const la_krylov_basis *basis, int k, int added, double least,
                             bool rest);

/* Eigenpairs of the leading k x k block of h (leading dimension ld, upper triangle read): theta
 * ascending, y k x k. copy: k x k scratch. Returns LAPACK's info. */
int la_krylov_ritz(int k, const double *h, int ld, double *theta, double *y, double *copy);

/* ---- la_lowest.c -----------------------------------------------------------------
 * The lowest eigenpairs of a positive semidefinite matrix plus a positive diagonal, without a matrix
 * of order p when p is large.
 * P = diag(delta) + M of order p, delta >= 0, with M given as
 *   m: p x p, symmetric, both triangles (b = NULL), or
 *   b: r x p with M = B'B (m = NULL).
 * The largest eigenpairs of (P - sigma I)^{-1} by la_eigs_krylov(), sigma just below min(delta). The
 * inverse is applied through a Cholesky factor of P - sigma I (p^3/3 flops once, 2p^2 per vector), or
 * by Woodbury,
 *   (P - sigma I)^{-1} = G - G B'(I + B G B')^{-1} B G,  G = (diag(delta) - sigma I)^{-1},
 * at r^2 p + r^3/3 once and 4rp per vector. p <= LA_LOWEST_DENSE or 8c with m: LAPACK.
 * Memory: 2p (3c + 48) doubles while it solves, and p^2, or rp + r^2. */
enum { LA_LOWEST_DENSE = 120 };

typedef struct {
    int p, c, r;
    const double *m, *b;
    const int *set; /* p: the columns of b in use, or NULL for all */
    bool proof;     /* as in la_eigs_problem; true at first */
    double *g;      /* p: 1 / (delta - sigma), Woodbury; scratch for sigma */
    double *k;      /* Cholesky factor, p x p or r x r */
    double *scaled; /* r x p: B G^{1/2} */
} la_lowest;

/* 1 <= c <= p; r = p with m. Then p, m, b, r and set may become those of another matrix of lower
 * order, with r no larger than at first. */
void la_lowest_init(la_lowest *s, int p, int c, int r, const double *m, const double *b);
/* The c lowest pairs, ascending: values c, vectors p x c (orthonormal). info is of the inverse:
 * products and residuals are its own. With `warm`, vectors holds orthonormal guesses on entry.
 * Stops at residual <= tol, or below 1e-7 when rounding allows no better; that too counts as
 * converged. */
void la_lowest_solve(la_lowest *s, const double *delta, bool warm, double tol, double *values,
                     double *vectors, la_eigs_info *info);

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

#endif
