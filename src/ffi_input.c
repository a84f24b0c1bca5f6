/* ffi_input.c: what stands before every method: the input pass, equal columns, norms. */
#include "ffi_util.h"
#include "la.h"
#include "prepare.h"

static int *kept_columns(const prepare_stats *stats, int p, bool drop, int *q);

/* x: n x p double. settings: list(center (flag), divide ("none", "sd" or "norm"), unit
 * ("none", "row" or "power"), drop (flag: leave the constant columns out), write (flag)).
 * Returns list(bad, x, center, scale, constant, norm, variance, unit). bad: the 1-based
 * columns with a value that is not finite; if any, the rest is NULL. x: a new matrix (NULL
 * if write is FALSE). The others have length p, but for the one number unit. */
SEXP ffi_prepare(SEXP x, SEXP settings)
{
    static const char *const names[] = {"bad",  "x",        "center", "scale", "constant",
                                        "norm", "variance", "unit",   NULL};
    int n = Rf_nrows(x), p = Rf_ncols(x), n_bad = 0, q;
    size_t P = (size_t) p;
    SEXP out = PROTECT(ffi_list(names));
    SEXP constant = Rf_allocVector(LGLSXP, p);
    ffi_set(out, "constant", constant);
    prepare_problem problem = {
        .n = n,
        .p = p,
        .x = ffi_data(x, (size_t) n * P, "x"),
        .center = ffi_flag(settings, "center"),
        .divide = (prepare_divide) ffi_choice(settings, "divide",
                                              (const char *[]){"none", "sd", "norm", NULL})};
    prepare_unit kind = (prepare_unit) ffi_choice(settings, "unit",
                                                  (const char *[]){"none", "row", "power", NULL});
    prepare_stats stats = {.bad = ufs_ialloc(P),
                           .constant = LOGICAL(constant),
                           .shift = ffi_set_vector(out, "center", p),
                           .divide = ffi_set_vector(out, "scale", p),
                           .norm = ffi_set_vector(out, "norm", p),
                           .variance = ffi_set_vector(out, "variance", p),
                           .largest = ufs_dalloc(P, 1)};
    bool good = prepare_scan(&problem, &stats);

    for (int j = 0; j < p; j++) n_bad += stats.bad[j];
    int *bad = ffi_set_ints(out, "bad", n_bad);
    for (int j = 0, at = 0; j < p; j++)
        if (stats.bad[j]) bad[at++] = j + 1;
    if (good) {
        int *keep = kept_columns(&stats, p, ffi_flag(settings, "drop"), &q);
        double unit = prepare_find_unit(&problem, &stats, kind, q, keep, ufs_dalloc((size_t) n, 1));
        ffi_set(out, "unit", Rf_ScalarReal(unit));
        if (ffi_flag(settings, "write"))
            prepare_write(&problem, &stats, unit, q, keep, ffi_set_matrix(out, "x", n, q));
    } else {
        for (int s = 1; names[s] != NULL; s++) ffi_set(out, names[s], R_NilValue);
    }
    UNPROTECT(1);
    return out;
}

static int *kept_columns(const prepare_stats *stats, int p, bool drop, int *q)
{
    int *keep = ufs_ialloc((size_t) p);
    *q = 0;
    for (int j = 0; j < p; j++)
        if (!(drop && stats->constant[j])) keep[(*q)++] = j;
    return keep;
}

static SEXP first_equal(SEXP x, bool columns);

/* x: n x p double. For every column the 1-based index of the first one equal to it. */
SEXP ffi_equal_columns(SEXP x)
{
    return first_equal(x, true);
}

/* The same for rows. */
SEXP ffi_equal_rows(SEXP x)
{
    return first_equal(x, false);
}

static SEXP first_equal(SEXP x, bool columns)
{
    int n = Rf_nrows(x), p = Rf_ncols(x), count = columns ? p : n;
    SEXP out = PROTECT(Rf_allocVector(INTSXP, count));
    int *first = INTEGER(out);

    prepare_equal(n, p, ffi_data(x, (size_t) n * (size_t) p, "x"), columns, first);
    for (int j = 0; j < count; j++) first[j]++;
    UNPROTECT(1);
    return out;
}

SEXP ffi_row_norms(SEXP x)
{
    int n = Rf_nrows(x), p = Rf_ncols(x);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, n));
    la_row_norms(n, p, ffi_data(x, (size_t) n * (size_t) p, "x"), REAL(out));
    UNPROTECT(1);
    return out;
}
