/* ffi_facility.c: ufs_facility() to facility_solve(). */
#include "ffi_util.h"
#include "facility.h"

/* Of the kind that `problem` says. */
static void read_similarity(facility_problem *problem, SEXP similarity, bool table)
{
    size_t N = (size_t) problem->n;

    switch (problem->kind) {
    case FACILITY_COSINE:
    case FACILITY_HEAT:
        problem->x = ffi_x_finite(ffi_get(similarity, "x"));
        problem->p = problem->x.p;
        if (problem->x.n != problem->n ||
            (problem->x.kind != UFS_X_DENSE && !(table && problem->x.kind == UFS_X_SPARSE)))
            Rf_error("internal error: size of 'x'");
        problem->bandwidth = Rf_asReal(ffi_get(similarity, "bandwidth"));
        if (problem->kind == FACILITY_HEAT && !(problem->bandwidth > 0.0))
            Rf_error("internal error: bandwidth of the similarity");
        break;
    case FACILITY_DENSE:
        problem->candidate.value = ffi_given(ffi_get(similarity, "candidate"), N * N, "candidate");
        problem->sample.value = ffi_given(ffi_get(similarity, "sample"), N * N, "sample");
        break;
    case FACILITY_SPARSE:
        for (int side = 0; side < 2; side++) {
            SEXP given = ffi_get(similarity, side ? "sample" : "candidate");
            facility_matrix *to = side ? &problem->sample : &problem->candidate;
            ffi_edges(given, problem->n, &to->start, &to->index, &to->value);
        }
        break;
    }
}

/* similarity: list(kind, x, bandwidth) for kind 0 and 1 (x may be sparse if there is a table), list(kind, candidate, sample) with
 * n x n matrices (2) or lists start, index, value (3). labelled: indices from 1. settings:
 * list(n, m, max_swaps, table, pair_bytes (at most 2^36), allowed and drawn (n flags as integers, or NULL), cost (n) and budget, or NULL). list(order, left, bound, first, change (2 x changes), run with
 * the counters start, value, swaps, picks); samples from 1, 0 = nobody; picks from 1. */
SEXP ffi_facility(SEXP similarity, SEXP labelled, SEXP settings_, SEXP control)
{
    int n = ffi_count(settings_, "n", 1, INT_MAX), n_labelled;
    int *own = ffi_indices(labelled, n, &n_labelled, "labelled");
    size_t N = (size_t) n;
    SEXP out = PROTECT(ffi_list("order left bound first change run"));
    ufs_run run = ffi_run_begin(control, "facility");
    facility_problem problem = {
        .n = n,
        .kind = (facility_kind) ffi_count(similarity, "kind", FACILITY_COSINE, FACILITY_SPARSE),
        .n_labelled = n_labelled,
        .labelled = own};
    facility_settings settings = {.m = ffi_count(settings_, "m", 1, n - n_labelled),
                                  .max_swaps = ffi_count(settings_, "max_swaps", 0, INT_MAX),
                                  .table = ffi_flag(settings_, "table"),
                                  .pair_bytes = ffi_real(settings_, "pair_bytes")};

    if (!(settings.pair_bytes >= 0.0 && settings.pair_bytes <= 68719476736.0))
        Rf_error("internal error: 'pair_bytes'");
    if (ffi_get(settings_, "allowed") != R_NilValue)
        problem.allowed = ffi_ints(ffi_get(settings_, "allowed"), N, 0, 1, "allowed");
    if (ffi_get(settings_, "drawn") != R_NilValue) {
        settings.drawn = ffi_ints(ffi_get(settings_, "drawn"), N, 0, 1, "drawn");
        if (settings.table || problem.kind > FACILITY_HEAT)
            Rf_error("internal error: 'drawn' where similarities are held");
    }
    problem.cost = ffi_data(ffi_get(settings_, "cost"), N, "cost");
    if (problem.cost) {
        problem.budget = ffi_real(settings_, "budget");
        for (size_t i = 0; i < N; i++)
            if (!(problem.cost[i] > 0.0)) Rf_error("internal error: 'cost' is not positive");
    }
    for (int l = 0; l < n_labelled; l++)
        for (int k = 0; k < l; k++)
            if (own[k] == own[l]) Rf_error("internal error: 'labelled' has a sample twice");
    read_similarity(&problem, similarity, settings.table);

    facility_result result = {.order = ffi_set_ints(out, "order", settings.m),
                              .left = ffi_set_zero(out, "left", n, 0),
                              .bound = ffi_set_zero(out, "bound", settings.m, 0),
                              .first = ffi_set_ints(out, "first", n)};
    facility_solve(&problem, &settings, &result, &run);
    for (int t = 0; t < result.picks; t++) result.order[t]++;
    for (int i = 0; i < n; i++) result.first[i]++;
    int *change = INTEGER(ffi_set(out, "change", Rf_allocMatrix(INTSXP, 2, result.change.length)));
    for (size_t l = 0; l < (size_t) result.change.length; l++) {
        const double *row = result.change.value + l;
        change[2 * l] = 1 + (int) row[0];
        change[2 * l + 1] = 1 + (int) row[result.change.capacity];
    }
    ffi_run_end(out, &run, "start value swaps picks",
                FFI_VALUES(result.start, result.value, result.swaps, result.picks));
    UNPROTECT(1);
    return out;
}
