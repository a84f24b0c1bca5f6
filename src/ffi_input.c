/* ffi_input.c: what stands before every method: the input pass, equal columns, norms. */
#include "ffi_x.h"
#include "prepare.h"
#include <limits.h>

/* x: n x p double. settings: list(center (flag), divide ("none", "sd" or "norm"), unit
 * ("none", "row", "power" or "sample"), drop (flag: leave the constant columns out), write (flag)).
 * Returns list(bad, x, center, scale, constant, norm, variance, unit, unfit). bad: the 1-based
 * columns with a value that is not finite; if any, the rest is NULL. unfit: those that prepare.h
 * calls so. x: a new matrix (NULL if write is FALSE). The others have length p, but for the one
 * number unit. */
SEXP ffi_prepare(SEXP x, SEXP settings)
{
    static const char *const names[] = {"bad",  "x",        "center", "scale", "constant",
                                        "norm", "variance", "unit",   "unfit", NULL};
    ffi_mat from = ffi_table(x, "x");
    int n = from.n, p = from.p, q = 0, *keep = ufs_ialloc((size_t) p);
    size_t P = (size_t) p;
    SEXP out = PROTECT(ffi_list(names));
    SEXP constant = Rf_allocVector(LGLSXP, p);
    ffi_set(out, "constant", constant);
    prepare_problem problem = {
        .n = n,
        .p = p,
        .x = from.x,
        .center = ffi_flag(settings, "center"),
        .divide = (prepare_divide) ffi_choice(settings, "divide",
                                              (const char *[]){"none", "sd", "norm", NULL})};
    prepare_unit kind = (prepare_unit) ffi_choice(
        settings, "unit", (const char *[]){"none", "row", "power", "sample", NULL});
    prepare_stats stats = {.bad = ufs_ialloc(P),
                           .constant = LOGICAL(constant),
                           .unfit = ufs_ialloc(P),
                           .shift = ffi_set_vector(out, "center", p),
                           .divide = ffi_set_vector(out, "scale", p),
                           .norm = ffi_set_vector(out, "norm", p),
                           .variance = ffi_set_vector(out, "variance", p),
                           .largest = ufs_dalloc(P, 1)};
    bool good = prepare_scan(&problem, &stats);

    ffi_set_which(out, "bad", p, stats.bad);
    if (good) {
        ffi_set_which(out, "unfit", p, stats.unfit);
        bool drop = ffi_flag(settings, "drop");
        for (int j = 0; j < p; j++)
            if (!(drop && stats.constant[j])) keep[q++] = j;
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

/* The moments of the columns of a block of rows, or of a whole sparse matrix without shift and divide,
 * as in prepare.h: list(bad (1-based), top, exponent, mean, css, size (the number of rows)); those of a
 * bad column are 0. */
SEXP ffi_moments(SEXP x_)
{
    static const char *const names[] = {"bad", "top", "exponent", "mean", "css", "size", NULL};
    ufs_x x = ffi_x(x_);
    if (x.kind == UFS_X_SCALED || x.kind == UFS_X_SOURCE || x.shift || x.divide)
        Rf_error("internal error: x is not a plain matrix");
    SEXP out = PROTECT(ffi_list(names));
    double *top = ffi_set_vector(out, "top", x.p), *mean = ffi_set_vector(out, "mean", x.p);
    double *css = ffi_set_vector(out, "css", x.p);
    int *exponent = ffi_set_ints(out, "exponent", x.p), *bad = ufs_ialloc((size_t) x.p);

    for (int j = 0; j < x.p; j++) {
        prepare_moments found = {0};
        if (x.kind == UFS_X_DENSE) {
            bad[j] = !prepare_moments_dense(x.n, x.dense + (size_t) j * (size_t) x.n, &found);
        } else {
            const int *at = x.start + ufs_x_user(&x, j);
            bad[j] = !prepare_moments_sparse(x.n, at[1] - at[0], x.value + at[0], &found);
        }
        top[j] = found.top;
        exponent[j] = found.exponent;
        mean[j] = found.mean;
        css[j] = found.css;
    }
    ffi_set_which(out, "bad", x.p, bad);
    ffi_set(out, "size", Rf_ScalarInteger(x.n));
    UNPROTECT(1);
    return out;
}

/* What prepare.h says of columns with these moments: list(constant, unfit (1-based), mean (0
 * without centring), sd, norm (centred or not)). */
SEXP ffi_judge(SEXP moments, SEXP center_)
{
    static const char *const names[] = {"constant", "unfit", "mean", "sd", "norm", NULL};
    bool center = ffi_yes(center_, "center");
    int n = ffi_count(moments, "size", 1, INT_MAX);
    R_xlen_t length = Rf_xlength(ffi_get(moments, "top"));
    if (length > INT_MAX) Rf_error("internal error: too many columns");
    int p = (int) length;
    size_t P = (size_t) p;
    const double *top = ffi_given(ffi_get(moments, "top"), P, "top");
    const double *mean = ffi_given(ffi_get(moments, "mean"), P, "mean");
    const double *css = ffi_given(ffi_get(moments, "css"), P, "css");
    const int *exponent = ffi_ints(ffi_get(moments, "exponent"), P, -1000, 1000, "exponent");
    SEXP out = PROTECT(ffi_list(names));
    SEXP constant = Rf_allocVector(LGLSXP, p);
    ffi_set(out, "constant", constant);
    double *shift = ffi_set_vector(out, "mean", p), *sd = ffi_set_vector(out, "sd", p);
    double *norm = ffi_set_vector(out, "norm", p);
    int *unfit = ufs_ialloc(P);

    for (size_t j = 0; j < P; j++) {
        prepare_column is = prepare_judge(
            n, &(prepare_moments){top[j], exponent[j], mean[j], css[j],
                                  css[j] + (double) n * mean[j] * mean[j]});
        LOGICAL(constant)[j] = is.constant;
        unfit[j] = is.unfit;
        shift[j] = center ? is.mean : 0.0;
        sd[j] = is.sd;
        norm[j] = center ? (is.constant ? 0.0 : is.centred) : is.plain;
    }
    ffi_set_which(out, "unfit", p, unfit);
    UNPROTECT(1);
    return out;
}

/* (x - shift) / divide at the given rows and columns (integers), each NULL for all; shift and
 * divide: of these columns, or NULL. */
SEXP ffi_take(SEXP x, SEXP rows, SEXP columns, SEXP shift, SEXP divide)
{
    ffi_mat from = ffi_table(x, "x");
    int m = from.n, q = from.p;
    int *at = rows == R_NilValue ? NULL : ffi_indices(rows, from.n, &m, "rows");
    int *of = columns == R_NilValue ? NULL : ffi_indices(columns, from.p, &q, "columns");
    const double *s = ffi_data(shift, (size_t) q, "shift");
    const double *by = ffi_data(divide, (size_t) q, "divide");
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, m, q));
    prepare_take(from.n, from.x, m, at, q, of, s, by, REAL(out));
    UNPROTECT(1);
    return out;
}

/* list(x = x with rows of unit length (zero ones stay), its columns then centred if asked; mean =
 * what was taken from them). */
SEXP ffi_unit_rows(SEXP x, SEXP center)
{
    static const char *const names[] = {"x", "mean", NULL};
    ffi_mat from = ffi_table(x, "x");
    int n = from.n, p = from.p;
    size_t N = (size_t) n, P = (size_t) p;
    bool centred = ffi_yes(center, "center");
    SEXP out = PROTECT(ffi_list(names));
    double *to = ffi_set_matrix(out, "x", n, p), *mean = ffi_set_vector(out, "mean", p);

    ufs_copy(to, from.x, N * P);
    prepare_samples(n, p, 0.0, to, ufs_dalloc(N, 1));
    memset(mean, 0, P * sizeof(double));
    if (centred) prepare_center(n, p, to, mean);
    UNPROTECT(1);
    return out;
}

SEXP ffi_row_norms(SEXP x)
{
    ufs_x op = ffi_x(x);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, op.n));
    ufs_x_row_ss(&op, REAL(out));
    for (int i = 0; i < op.n; i++) REAL(out)[i] = sqrt(REAL(out)[i]);
    UNPROTECT(1);
    return out;
}
