/* ffi_input.c: what stands before every method: the input pass, equal columns, norms. */
#include "ffi_util.h"
#include "prepare.h"

/* The moments of the columns of a block of rows, or of a whole sparse matrix without shift and divide,
 * as in prepare.h: list(bad (1-based), low, high, exponent, mean, css, size (the number of rows), ss (NULL of
 * a sparse one)); those of a bad column are 0. */
SEXP ffi_moments(SEXP x_)
{
    ufs_x x = ffi_x(x_);
    if (x.kind == UFS_X_SCALED || x.kind == UFS_X_SOURCE || x.shift || x.divide)
        Rf_error("internal error: x is not a plain matrix");
    SEXP out = PROTECT(ffi_list("bad low high exponent mean css size ss"));
    double *low = ffi_set_vector(out, "low", x.p), *high = ffi_set_vector(out, "high", x.p);
    double *mean = ffi_set_vector(out, "mean", x.p);
    double *css = ffi_set_vector(out, "css", x.p);
    double *ss = x.kind == UFS_X_DENSE ? ffi_set_vector(out, "ss", x.p) : NULL;
    int *exponent = ffi_set_ints(out, "exponent", x.p), *bad = ufs_ialloc((size_t) x.p);

    for (int j = 0; j < x.p; j++) {
        prepare_moments found = {0};
        const int *at = x.start + (x.start ? ufs_x_user(&x, j) : 0);
        bad[j] = x.start
                     ? !prepare_moments_of(x.n, at[1] - at[0], x.value + at[0], &found)
                     : !prepare_moments_of(x.n, x.n, x.dense + (size_t) j * (size_t) x.n, &found);
        if (ss) ss[j] = found.ss;
        low[j] = found.low;
        high[j] = found.high;
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
 * without centring), sd, centred (the norm, centred), norm (centred or not)). */
SEXP ffi_judge(SEXP moments, SEXP center_)
{
    bool center = ffi_yes(center_, "center");
    int n = ffi_count(moments, "size", 1, INT_MAX);
    R_xlen_t length = Rf_xlength(ffi_get(moments, "low"));
    if (length > INT_MAX) Rf_error("internal error: too many columns");
    int p = (int) length;
    size_t P = (size_t) p;
    const double *low = ffi_given(ffi_get(moments, "low"), P, "low");
    const double *high = ffi_given(ffi_get(moments, "high"), P, "high");
    const double *mean = ffi_given(ffi_get(moments, "mean"), P, "mean");
    const double *css = ffi_given(ffi_get(moments, "css"), P, "css");
    const double *ss = ffi_data(ffi_get(moments, "ss"), P, "ss");
    const int *exponent = ffi_ints(ffi_get(moments, "exponent"), P, -1000, 1000, "exponent");
    SEXP out = PROTECT(ffi_list("constant unfit mean sd centred norm"));
    int *constant = LOGICAL(ffi_set(out, "constant", Rf_allocVector(LGLSXP, p)));
    double *shift = ffi_set_vector(out, "mean", p), *sd = ffi_set_vector(out, "sd", p);
    double *centred = ffi_set_vector(out, "centred", p), *norm = ffi_set_vector(out, "norm", p);
    int *unfit = ufs_ialloc(P);

    for (size_t j = 0; j < P; j++) {
        prepare_column is = prepare_judge(
            n, &(prepare_moments){low[j], high[j], exponent[j], mean[j], css[j],
                                  ss ? ss[j] : css[j] + (double) n * mean[j] * mean[j]});
        constant[j] = is.constant;
        unfit[j] = is.unfit;
        shift[j] = center ? is.mean : 0.0;
        sd[j] = is.sd;
        centred[j] = is.centred;
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
    prepare_take(from.n, from.x, &(prepare_part){m, q, at, of, s, by}, REAL(out));
    UNPROTECT(1);
    return out;
}

/* list(x = x with rows of unit length (those of no more than `tiny` times the longest stay), its
 * columns then centred if asked; mean = what was taken from them). */
SEXP ffi_unit_rows(SEXP x, SEXP tiny_, SEXP center)
{
    ffi_mat from = ffi_table(x, "x");
    int n = from.n, p = from.p;
    size_t N = (size_t) n, P = (size_t) p;
    bool centred = ffi_yes(center, "center");
    double tiny = ffi_number(tiny_, "tiny");
    SEXP out = PROTECT(ffi_list("x mean"));
    double *to = ffi_set_matrix(out, "x", n, p), *mean = ffi_set_vector(out, "mean", p);

    ufs_copy(to, from.x, N * P);
    prepare_samples(n, p, tiny, to, ufs_dalloc(N, 1));
    memset(mean, 0, P * sizeof(double));
    if (centred) prepare_center(n, p, to, mean);
    UNPROTECT(1);
    return out;
}
