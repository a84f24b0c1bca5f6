/* ffi_alfs.c: ALFS and every other problem min ||D - A W B||^2 + penalties of
 * solve_alfs.h. */
#include "ffi_util.h"
#include "la.h"
#include "solve_alfs.h"

/* Thin SVD of x (n x p): list(left n x r, s r, right p x r, info), r the numerical
 * rank (s_i > 1e-10 s_1). In the paper's orientation X = t(x) = right s left'. */
SEXP ffi_alfs_basis(SEXP x)
{
    static const char *const names[] = {"left", "s", "right", "info", NULL};
    int n = Rf_nrows(x), p = Rf_ncols(x), full = n < p ? n : p, r = 0, info;
    size_t N = (size_t) n, P = (size_t) p, F = (size_t) full;
    SEXP out = PROTECT(ffi_list(names));
    double *a = ufs_dalloc(N, P), *u = ufs_dalloc(N, F), *vt = ufs_dalloc(F, P);
    double *s = ufs_dalloc(F, 1);

    ufs_copy(a, REAL_RO(x), N * P);
    info = la_svd_thin(n, p, a, u, s, vt);
    ffi_set(out, "info", Rf_ScalarInteger(info));
    while (info == 0 && r < full && s[r] > 1e-10 * s[0]) r++;
    ufs_copy(ffi_set_matrix(out, "left", n, r), u, N * (size_t) r);
    ufs_copy(ffi_set_vector(out, "s", r), s, (size_t) r);
    double *right = ffi_set_matrix(out, "right", p, r);
    for (size_t j = 0; j < (size_t) r; j++)
        for (size_t i = 0; i < P; i++) right[i + j * P] = vt[j + i * F];
    UNPROTECT(1);
    return out;
}

/* basis: list(left, s, right); right = NULL is B = I (convex TED: A = D = X, W n x r
 * in the coordinates of left). penalties: alpha, beta, lambda. start: NULL or
 * list(w, p, q, rho) of another run. settings: list(max_iter, tol, paper, narrow). Returns list(w, p, q, l (NULL if lambda = 0),
 * rho, trace (iteration, objective, dual, gap), iterations, status, objective, dual,
 * gap, kkt, primal (rows, columns, weights)). */
SEXP ffi_alfs(SEXP basis, SEXP penalties, SEXP settings_, SEXP start_, SEXP control)
{
    static const char *const names[] = {"w", "p", "q", "l", "rho", "trace", "iterations",
        "status", "objective", "dual", "gap", "kkt", "primal", NULL};
    SEXP left = ffi_get(basis, "left"), right = ffi_get(basis, "right");
    int m = Rf_nrows(left), r = Rf_ncols(left);
    int q = right == R_NilValue ? r : Rf_nrows(right);
    size_t R = (size_t) r, M = (size_t) m, Q = (size_t) q;
    const double *value = ffi_data(penalties, 3, "penalties");
    alfs_problem problem = {
        .m = m, .q = q, .r = r, .left = ffi_data(left, M * R, "left"),
        .right = ffi_data(right, Q * R, "right"), .s = ffi_data(ffi_get(basis, "s"), R, "s"),
        .alpha = value[0], .beta = value[1], .lambda = value[2]
    };
    alfs_settings settings = {
        .max_iter = ffi_int(settings_, "max_iter"), .tol = ffi_real(settings_, "tol"),
        .paper = ffi_flag(settings_, "paper"), .check_every = 10,
        .narrow = ffi_int(settings_, "narrow"),
        .balance_until = 2000, .floor = 1e-6
    };
    alfs_start start;
    alfs_solution solution = {0};
    alfs_info info = {0};
    ufs_trace trace;
    ffi_hook_data data;
    ufs_hook hook = ffi_hook(control, "alfs", &data);
    SEXP out = PROTECT(ffi_list(names));

    if (start_ != R_NilValue) {
        const double *rho = ffi_data(ffi_get(start_, "rho"), 3, "rho");
        start.w = ffi_data(ffi_get(start_, "w"), M * Q, "w");
        start.p = ffi_data(ffi_get(start_, "p"), M * Q, "p");
        start.q = ffi_data(ffi_get(start_, "q"), M * Q, "q");
        start.rho[0] = rho[0];
        start.rho[1] = rho[1];
    }
    solution.w = ffi_set_matrix(out, "w", m, q);
    solution.p = ffi_set_matrix(out, "p", m, q);
    solution.q = ffi_set_matrix(out, "q", m, q);
    if (problem.lambda > 0.0) solution.l = ffi_set_matrix(out, "l", m, m);
    /* A row per check, 6 MB at most. */
    ufs_trace_init(&trace, (int) fmin(settings.max_iter / settings.check_every + 3, 2e5), 4);

    alfs_solve(&problem, &settings, start_ == R_NilValue ? NULL : &start, &solution, &info,
               &trace, &hook);

    ufs_copy(ffi_set_vector(out, "rho", 3), solution.rho, 3);
    ffi_set_trace(out, "trace", &trace);
    ffi_set(out, "iterations", Rf_ScalarInteger(info.iterations));
    ffi_set(out, "status", Rf_ScalarInteger((int) info.status));
    ffi_set(out, "objective", Rf_ScalarReal(info.objective));
    ffi_set(out, "dual", Rf_ScalarReal(info.dual));
    ffi_set(out, "gap", Rf_ScalarReal(info.gap));
    ffi_set(out, "kkt", Rf_ScalarReal(info.kkt));
    ufs_copy(ffi_set_vector(out, "primal", 3), info.primal, 3);
    UNPROTECT(1);
    return out;
}
