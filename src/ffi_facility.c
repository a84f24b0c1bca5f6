/* ffi_facility.c: ufs_facility() to facility_solve(). */
#include "ffi_util.h"
#include "samp_facility.h"

static facility_sparse sparse_columns(SEXP list, int n);

/* similarity: list(kind, x, bandwidth) for kind 0 and 1, list(kind, candidate, sample) with
 * n x n matrices (2) or lists start, index, value (3). labelled: indices from 1. settings:
 * list(n, m, max_swaps, table). list(order, left, bound, first, change (2 x changes), run with
 * the counters start, value, swaps); samples from 1, 0 = nobody; picks from 1. */
SEXP ffi_facility(SEXP similarity, SEXP labelled, SEXP settings_, SEXP control)
{
    static const char *const names[] = {"order", "left", "bound", "first", "change", "run", NULL};
    int n = ffi_int(settings_, "n"), n_labelled = Rf_length(labelled);
    size_t N = (size_t) n;
    SEXP out = PROTECT(ffi_list(names)), x = ffi_get(similarity, "x");
    ufs_run run = ffi_run_begin(control, "facility");
    facility_problem problem = {
        .n = n, .kind = (facility_kind) ffi_int(similarity, "kind"), .n_labelled = n_labelled};
    facility_settings settings = {.m = ffi_int(settings_, "m"),
                                  .max_swaps = ffi_int(settings_, "max_swaps"),
                                  .table = ffi_flag(settings_, "table")};
    int *own = ufs_ialloc((size_t) n_labelled);

    if (!Rf_isInteger(labelled) || n < 1 || settings.m < 1 || settings.m > n - n_labelled)
        Rf_error("internal error: sizes of facility");
    for (int l = 0; l < n_labelled; l++) {
        own[l] = INTEGER(labelled)[l] - 1;
        if (own[l] < 0 || own[l] >= n) Rf_error("internal error: 'labelled' out of range");
    }
    problem.labelled = own;
    switch (problem.kind) {
    case FACILITY_COSINE:
    case FACILITY_HEAT:
        problem.p = Rf_ncols(x);
        problem.x = ffi_data(x, N * (size_t) problem.p, "x");
        problem.bandwidth = ffi_real(similarity, "bandwidth");
        break;
    case FACILITY_DENSE:
        problem.by_candidate = ffi_data(ffi_get(similarity, "candidate"), N * N, "candidate");
        problem.by_sample = ffi_data(ffi_get(similarity, "sample"), N * N, "sample");
        break;
    case FACILITY_SPARSE:
        problem.candidate = sparse_columns(ffi_get(similarity, "candidate"), n);
        problem.sample = sparse_columns(ffi_get(similarity, "sample"), n);
        break;
    default:
        Rf_error("internal error: kind of similarity");
    }
    if (problem.x == NULL && problem.by_candidate == NULL && problem.candidate.start == NULL)
        Rf_error("internal error: no similarities");

    facility_result result = {.order = ffi_set_ints(out, "order", settings.m),
                              .left = ffi_set_zero(out, "left", n, 0),
                              .bound = ffi_set_zero(out, "bound", settings.m, 0),
                              .first = ffi_set_ints(out, "first", n)};
    facility_solve(&problem, &settings, &result, &run);
    for (int t = 0; t < settings.m; t++) result.order[t]++;
    for (int i = 0; i < n; i++) result.first[i]++;
    SEXP change = PROTECT(Rf_allocMatrix(INTSXP, 2, result.n_change));
    for (size_t l = 0; l < 2 * (size_t) result.n_change; l++)
        INTEGER(change)[l] = result.change[l] + 1;
    ffi_set(out, "change", change);
    ffi_run_end(
        out, &run,
        (ffi_counter[]){
            {"start", result.start}, {"value", result.value}, {"swaps", result.swaps}, {NULL, 0}});
    UNPROTECT(2);
    return out;
}

static facility_sparse sparse_columns(SEXP list, int n)
{
    SEXP start = ffi_get(list, "start"), index = ffi_get(list, "index");
    facility_sparse out;
    int size;

    if (!Rf_isInteger(start) || Rf_length(start) != n + 1 || !Rf_isInteger(index))
        Rf_error("internal error: sparse similarities");
    size = Rf_length(index);
    out.start = INTEGER_RO(start);
    out.index = INTEGER_RO(index);
    out.value = ffi_data(ffi_get(list, "value"), (size_t) size, "value");
    if (out.start[0] != 0 || out.start[n] != size) Rf_error("internal error: sparse similarities");
    for (int j = 0; j < n; j++)
        if (out.start[j] > out.start[j + 1]) Rf_error("internal error: sparse similarities");
    for (int l = 0; l < size; l++)
        if (out.index[l] < 0 || out.index[l] >= n) Rf_error("internal error: sparse similarities");
    return out;
}
