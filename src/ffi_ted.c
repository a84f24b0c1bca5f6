/* ffi_ted.c: greedy ufs_ted() to ted_solve(). */
#include "ffi_util.h"
#include "ted.h"

/* x: n x p, see ffi_x(), rows = items. settings: list(m, mu, form, given (1-based items), allowed
 * (0 or 1 for each item, or NULL), cost (n or NULL), budget, per_cost). list(order (1-based, 0 where nothing
 * could be picked), score, left, run with the counters start, p_form and count). */
SEXP ffi_ted_greedy(SEXP x_, SEXP settings_, SEXP control)
{
    SEXP out = PROTECT(ffi_list("order score left run"));
    ufs_x x = ffi_x_finite(x_);
    int n_given, *given = ffi_indices(ffi_get(settings_, "given"), x.n, &n_given, "given");
    ufs_run run = ffi_run_begin(control, "ted");
    ted_problem problem = {.x = &x,
                           .mu = ffi_real(settings_, "mu"),
                           .n_given = n_given,
                           .given = given,
                           .cost = ffi_data(ffi_get(settings_, "cost"), (size_t) x.n, "cost"),
                           .budget = ffi_real(settings_, "budget"),
                           .per_cost = ffi_flag(settings_, "per_cost")};
    ted_settings settings = {.m = ffi_count(settings_, "m", 1, x.n - n_given),
                             .form = ffi_form(settings_, "form")};
    ted_result result = {.order = ffi_set_ints(out, "order", settings.m),
                         .score = ffi_set_zero(out, "score", settings.m, 0),
                         .left = ffi_set_zero(out, "left", x.n, 0)};

    if (ffi_get(settings_, "allowed") != R_NilValue)
        problem.allowed = ffi_ints(ffi_get(settings_, "allowed"), (size_t) x.n, 0, 1, "allowed");
    for (int i = 0; i < n_given; i++)
        for (int k = 0; k < i; k++)
            if (given[k] == given[i]) Rf_error("internal error: 'given' has an item twice");
    for (int i = 0; problem.cost && i < x.n; i++)
        if (!(problem.cost[i] > 0.0)) Rf_error("internal error: 'cost' is not positive");
    ted_solve(&problem, &settings, &result, &run);
    for (int t = 0; t < result.count; t++) result.order[t]++;
    ffi_run_end(out, &run, "start p_form count",
                FFI_VALUES(result.start, result.p_form, result.count));
    UNPROTECT(1);
    return out;
}

/* kernel: list(x (n x p) and width, or x NULL and matrix (n x n)), with tol and most. list(root
 * (n x most), pivot (1-based), values = rank, trace, left, least). */
SEXP ffi_ted_root(SEXP kernel_)
{
    SEXP out = PROTECT(ffi_list("root pivot values")), given = ffi_get(kernel_, "matrix");
    ted_kernel kernel = {.tol = ffi_real(kernel_, "tol")};
    ted_root result = {0};
    ufs_x x;

    if (given == R_NilValue) {
        x = ffi_x_finite(ffi_get(kernel_, "x"));
        kernel.x = &x;
        kernel.n = x.n;
        kernel.width = ffi_real(kernel_, "width");
        if (!(kernel.width > 0.0)) Rf_error("internal error: width of the kernel");
    } else {
        kernel.n = ffi_matrix(given, "kernel").n;
        kernel.kernel = ffi_sized(given, kernel.n, kernel.n, "kernel");
    }
    kernel.most = ffi_count(kernel_, "most", 1, kernel.n);
    result.root = ffi_set_matrix(out, "root", kernel.n, kernel.most);
    result.pivot = ffi_set_ints(out, "pivot", kernel.most);
    ted_kernel_root(&kernel, &result);
    for (int t = 0; t < result.rank; t++) result.pivot[t]++;
    double *values = ffi_set_vector(out, "values", 4);
    ufs_copy(values, (double[]){result.rank, result.trace, result.left, result.least}, 4);
    UNPROTECT(1);
    return out;
}
