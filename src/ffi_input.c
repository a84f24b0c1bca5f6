/* ffi_input.c: what stands before every method: the input pass, equal columns, norms. */
#include "ffi_x.h"
#include "la.h"
#include "prepare.h"

static int *kept_columns(const prepare_stats *stats, int p, bool drop, int *q);

/* x: n x p double. settings: list(center (flag), divide ("none", "sd" or "norm"), unit
 * ("none", "row", "power" or "sample"), drop (flag: leave the constant columns out), write (flag)).
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
    prepare_unit kind = (prepare_unit) ffi_choice(
        settings, "unit", (const char *[]){"none", "row", "power", "sample", NULL});
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
        if (ffi_flag(settings, "write")) {
            double *to = ffi_set_matrix(out, "x", n, q);
            prepare_write(&problem, &stats, unit, q, keep, to);
            if (kind == PREPARE_SAMPLE) prepare_samples(n, q, 1e-12, to, ufs_dalloc((size_t) n, 1));
        }
    } else {
        for (int s = 1; names[s] != NULL; s++) ffi_set(out, names[s], R_NilValue);
    }
    UNPROTECT(1);
    return out;
}

/* 1-based indices in 1..most as 0-based ones, or NULL. */
static int *indices(SEXP at, int most, const char *name)
{
    int len = (int) Rf_xlength(at), *out;
    if (at == R_NilValue) return NULL;
    out = ufs_ialloc((size_t) len);
    for (int i = 0; i < len; i++) {
        out[i] = INTEGER_RO(at)[i] - 1;
        if (out[i] < 0 || out[i] >= most) Rf_error("internal error: '%s' out of range", name);
    }
    return out;
}

/* (x - shift) / divide at the given rows and columns (integers), each NULL for all; shift and
 * divide: of these columns, or NULL. */
SEXP ffi_take(SEXP x, SEXP rows, SEXP columns, SEXP shift, SEXP divide)
{
    int n = Rf_nrows(x), p = Rf_ncols(x);
    int m = rows == R_NilValue ? n : (int) Rf_xlength(rows);
    int q = columns == R_NilValue ? p : (int) Rf_xlength(columns);
    const double *from = ffi_data(x, (size_t) n * (size_t) p, "x");
    const double *s = shift == R_NilValue ? NULL : ffi_data(shift, (size_t) q, "shift");
    const double *by = divide == R_NilValue ? NULL : ffi_data(divide, (size_t) q, "divide");
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, m, q));
    prepare_take(n, from, m, indices(rows, n, "rows"), q, indices(columns, p, "columns"), s, by,
                 REAL(out));
    UNPROTECT(1);
    return out;
}

/* list(x = x with rows of unit length (zero ones stay), its columns then centred if asked; mean =
 * what was taken from them). */
SEXP ffi_unit_rows(SEXP x, SEXP center)
{
    static const char *const names[] = {"x", "mean", NULL};
    int n = Rf_nrows(x), p = Rf_ncols(x);
    size_t N = (size_t) n, P = (size_t) p;
    const double *from = ffi_data(x, N * P, "x");
    SEXP out = PROTECT(ffi_list(names));
    double *to = ffi_set_matrix(out, "x", n, p), *mean = ffi_set_vector(out, "mean", p);

    ufs_copy(to, from, N * P);
    prepare_samples(n, p, 0.0, to, ufs_dalloc(N, 1));
    memset(mean, 0, P * sizeof(double));
    if (Rf_asLogical(center) == TRUE) prepare_center(n, p, to, mean);
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
    ufs_x op = ffi_x(x);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, op.n));
    if (op.kind == UFS_X_DENSE) {
        la_row_norms(op.n, op.p, op.dense, REAL(out));
    } else {
        ufs_x_row_ss(&op, REAL(out));
        for (int i = 0; i < op.n; i++) REAL(out)[i] = sqrt(REAL(out)[i]);
    }
    UNPROTECT(1);
    return out;
}
