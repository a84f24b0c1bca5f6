/* ffi_alfs.c: ALFS and every other problem min ||D - A W B||^2 + penalties of
 * solve_alfs.h. */
#include "ffi_util.h"
#include "la.h"
#include "solve_alfs.h"

/* Thin SVD of x (n x p): list(left n x r, s r, right p x r, lapack), r the numerical
 * rank (s_i > 1e-10 s_1). In the paper's orientation X = t(x) = right s left'. */
SEXP ffi_alfs_basis(SEXP x)
{
    static const char *const names[] = {"left", "s", "right", "lapack", NULL};
    int n = Rf_nrows(x), p = Rf_ncols(x), full = n < p ? n : p, r = 0, info;
    size_t N = (size_t) n, P = (size_t) p, F = (size_t) full;
    SEXP out = PROTECT(ffi_list(names));
    double *a = ufs_dalloc(N, P), *u = ufs_dalloc(N, F), *vt = ufs_dalloc(F, P);
    double *s = ufs_dalloc(F, 1);

    ufs_copy(a, REAL_RO(x), N * P);
    info = la_svd_thin(n, p, a, u, s, vt);
    ffi_set(out, "lapack", Rf_ScalarInteger(info));
    while (info == 0 && r < full && s[r] > 1e-10 * s[0]) r++;
    ufs_copy(ffi_set_matrix(out, "left", n, r), u, N * (size_t) r);
    ufs_copy(ffi_set_vector(out, "s", r), s, (size_t) r);
    double *right = ffi_set_matrix(out, "right", p, r);
    for (size_t j = 0; j < (size_t) r; j++)
        for (size_t i = 0; i < P; i++) right[i + j * P] = vt[j + i * F];
    UNPROTECT(1);
    return out;
}

/* basis: list(left, s, right); right = NULL is B = I (convex TED: A = D = X, W n x r in the
 * coordinates of left). penalties: alpha, beta, lambda. start: NULL or list(w, p, q, rho) of
 * another run. settings: list(paper, narrow). list(w, p, q, l (NULL if lambda = 0), rho, run
 * with the counters objective, dual, gap, kkt, primal_rows, primal_columns, primal_weights). */
SEXP ffi_alfs(SEXP basis, SEXP penalties, SEXP settings_, SEXP start_, SEXP control)
{
    static const char *const names[] = {"w", "p", "q", "l", "rho", "run", NULL};
    SEXP left = ffi_get(basis, "left"), right = ffi_get(basis, "right");
    int m = Rf_nrows(left), r = Rf_ncols(left);
    int q = right == R_NilValue ? r : Rf_nrows(right);
    size_t R = (size_t) r, M = (size_t) m, Q = (size_t) q;
    const double *value = ffi_data(penalties, 3, "penalties");
    SEXP out = PROTECT(ffi_list(names));
    ufs_run run = ffi_run_begin(control, "alfs");
    alfs_start start;
    alfs_problem problem = {
        .m = m, .q = q, .r = r, .left = ffi_data(left, M * R, "left"),
        .right = ffi_data(right, Q * R, "right"), .s = ffi_data(ffi_get(basis, "s"), R, "s"),
        .alpha = value[0], .beta = value[1], .lambda = value[2]
    };
    alfs_settings settings = {
        .max_iter = ffi_int(control, "max_iter"), .tol = ffi_real(control, "tol"),
        .paper = ffi_flag(settings_, "paper"), .check_every = 10,
        .narrow = ffi_int(settings_, "narrow"),
        .balance_until = 2000, .floor = 1e-6
    };
    alfs_result result = {.w = ffi_set_matrix(out, "w", m, q),
                          .p = ffi_set_matrix(out, "p", m, q),
                          .q = ffi_set_matrix(out, "q", m, q)};

    if (start_ != R_NilValue) {
        const double *rho = ffi_data(ffi_get(start_, "rho"), 3, "rho");
        start = (alfs_start) {.w = ffi_data(ffi_get(start_, "w"), M * Q, "w"),
                              .p = ffi_data(ffi_get(start_, "p"), M * Q, "p"),
                              .q = ffi_data(ffi_get(start_, "q"), M * Q, "q"),
                              .rho = {rho[0], rho[1]}};
        problem.start = &start;
    }
    if (problem.lambda > 0.0) result.l = ffi_set_matrix(out, "l", m, m);

    alfs_solve(&problem, &settings, &result, &run);
    ufs_copy(ffi_set_vector(out, "rho", 3), result.rho, 3);
    ffi_run_end(out, &run, (ffi_counter[]) {{"objective", result.objective},
                                            {"dual", result.dual}, {"gap", result.gap},
                                            {"kkt", result.kkt},
                                            {"primal_rows", result.primal[0]},
                                            {"primal_columns", result.primal[1]},
                                            {"primal_weights", result.primal[2]}, {NULL, 0}});
    UNPROTECT(1);
    return out;
}
