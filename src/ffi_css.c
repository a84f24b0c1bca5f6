/* ffi_css.c: ufs_css() to css_solve(). */
#include "css.h"
#include "ffi_util.h"

static css_constraints asked_of(SEXP held, int p)
{
    css_constraints out = {.budget = R_PosInf, .max_cor = R_PosInf};

    if (held == R_NilValue) return out;
    SEXP include = ffi_get(held, "include"), exclude = ffi_get(held, "exclude");
    SEXP groups = ffi_get(held, "groups");
    size_t P = (size_t) p;

    if (include != R_NilValue) out.include = ffi_indices(include, p, &out.n_include, "include");
    if (exclude != R_NilValue) {
        int n = 0, *index = ffi_indices(exclude, p, &n, "exclude");
        bool *barred = (bool *) R_alloc(P, sizeof(bool));
        for (int j = 0; j < p; j++) barred[j] = false;
        for (int i = 0; i < n; i++) barred[index[i]] = true;
        out.barred = barred;
    }
    out.cost = ffi_data(ffi_get(held, "cost"), P, "cost");
    if (out.cost) ffi_finite(out.cost, P, "cost");
    if (groups != R_NilValue) out.group = ffi_ints(groups, P, 0, p - 1, "groups");
    if (ffi_get(held, "places") != R_NilValue) {
        out.places = ffi_ints(ffi_get(held, "places"), P, 0, p, "places");
        out.room = ffi_count(held, "room", 1, p);
    }
    if (ffi_get(held, "budget") != R_NilValue) out.budget = ffi_real(held, "budget");
    if (ffi_get(held, "max_cor") != R_NilValue) out.max_cor = ffi_real(held, "max_cor");
    out.mean = ffi_data(ffi_get(held, "mean"), P, "mean");
    if (out.mean) ffi_finite(out.mean, P, "mean");
    out.quota = ffi_quota(ffi_get(held, "quota"), p);
    return out;
}

/* x n x p, a matrix or an operator; settings: list(k, mu, form, max_swaps, exact_limit), and where
 * they are wanted starts (k + 1 uniform numbers for each, a column), target, prove (flag) and
 * held: list(include, exclude, cost, budget, groups, max_cor, mean, quota), indices from 1, groups
 * from 0, and quota a list(level (0 for none), least, most). list(order (from 1), left, leading,
 * held, target_leading, run with the
 * counters start, target_start, swaps, starts met, bound, nodes, affordable, p_form, exact). */
SEXP ffi_css(SEXP x, SEXP settings_, SEXP control)
{
    static const char *const forms[] = {"a", "p", "n", "x", NULL};
    SEXP out = PROTECT(ffi_list("order left leading held target_leading run"));
    SEXP starts = ffi_get(settings_, "starts"), target = ffi_get(settings_, "target");
    ufs_x op = ffi_x_finite(x);
    css_problem problem = {op.n, op.p, &op};
    int p = problem.p, most = problem.n < p ? problem.n : p;
    css_settings settings = {.k = ffi_count(settings_, "k", 1, p),
                             .mu = ffi_real(settings_, "mu"),
                             .max_swaps = ffi_count(settings_, "max_swaps", 0, INT_MAX),
                             .exact_limit = ffi_int(settings_, "exact_limit"),
                             .form = "apnx"[ffi_choice(settings_, "form", forms)],
                             .n_starts = 1,
                             .held = asked_of(ffi_get(settings_, "held"), p)};
    ufs_run run = ffi_run_begin(control, "css");

    if (!(settings.mu >= 0.0)) Rf_error("internal error: arguments of css");
    if (starts != R_NilValue) {
        ffi_mat random = ffi_matrix(starts, "starts");
        if (random.n != settings.k + 1) Rf_error("internal error: random numbers of css");
        settings.random = random.x;
        settings.n_starts = 1 + random.p;
    }
    if (target != R_NilValue) settings.target = ffi_whole(target, 1, most, "target");
    if (ffi_get(settings_, "prove") != R_NilValue) settings.prove = ffi_flag(settings_, "prove");
    if ((settings.held.group || settings.prove) && settings.form != 'p')
        Rf_error("internal error: groups and proofs of css need the p-form");
    if (settings.form == 'x' &&
        (op.kind != UFS_X_SPARSE || settings.max_swaps > 0 || settings.prove))
        Rf_error("internal error: the x-form of css");
    css_result result = {.order = ffi_set_ints(out, "order", settings.k),
                         .left = ffi_set_zero(out, "left", p, 0),
                         .leading = ffi_set_zero(out, "leading", settings.k, 0),
                         .held = ffi_set_zero(out, "held", settings.k, 0),
                         .target_leading = ffi_set_zero(out, "target_leading", settings.k, 0)};
    css_solve(&problem, &settings, &result, &run);
    for (int t = 0; t < result.n_chosen; t++) result.order[t]++;
    ffi_run_end(
        out, &run, "start target_start swaps met bound nodes affordable n_chosen p_form exact",
        FFI_VALUES(result.start, result.target_start, result.swaps, result.met, result.bound,
                   result.nodes, result.affordable, result.n_chosen, result.p_form, result.exact));
    UNPROTECT(1);
    return out;
}

/* x the same; settings: list(k, exact_limit). list(leading (k sums), run with the
 * counters total and exact). */
SEXP ffi_css_leading(SEXP x, SEXP settings, SEXP control)
{
    SEXP out = PROTECT(ffi_list("leading run"));
    ufs_x op = ffi_x_finite(x);
    css_problem problem = {op.n, op.p, &op};
    int k = ffi_count(settings, "k", 1, op.p);
    ufs_run run = ffi_run_begin(control, "css");
    double total = 0.0;
    bool exact = false;

    double *leading = ffi_set_zero(out, "leading", k, 0);
    run.lapack = css_leading(&problem, k, ffi_int(settings, "exact_limit"), leading, &total,
                             &exact);
    ffi_run_end(out, &run, "total exact", FFI_VALUES(total, exact));
    UNPROTECT(1);
    return out;
}
