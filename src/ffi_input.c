/* ffi_input.c: one pass over the user's matrix before every method. */
#include "ffi_util.h"
#include "la.h"
#include <stdint.h>
#include <stdlib.h>

/* x: n x p double. Returns list(bad, x, center, scale, constant).
 * bad: 1-based indices of columns with a non-finite value; if any, the rest is
 * NULL. x: a new matrix, centred and divided by the standard deviation (n - 1)
 * as asked. A column is constant if its centred sum of squares is at most
 * (n eps)^2 times its sum of squares: rounding, no signal. Constant columns are
 * centred to exact zeros (if centring) and keep scale 1. 6np flops. */
SEXP ffi_prepare(SEXP x, SEXP center, SEXP scale)
{
    static const char *const names[] = {"bad", "x", "center", "scale", "constant", NULL};
    int n = Rf_nrows(x), p = Rf_ncols(x), n_bad = 0;
    bool do_center = Rf_asLogical(center) == 1, do_scale = Rf_asLogical(scale) == 1;
    const double *from = REAL_RO(x);
    SEXP out = PROTECT(ffi_list(names));
    int *bad = ufs_ialloc((size_t) p);

    for (int j = 0; j < p; j++) {
        const double *col = from + (size_t) j * (size_t) n;
        for (int i = 0; i < n; i++)
            if (!R_FINITE(col[i])) {
                bad[n_bad++] = j + 1;
                break;
            }
    }
    int *bad_out = ffi_set_ints(out, "bad", n_bad);
    if (n_bad) {
        memcpy(bad_out, bad, (size_t) n_bad * sizeof(int));
        UNPROTECT(1);
        return out;
    }

    double *to = ffi_set_matrix(out, "x", n, p);
    double *mean = ffi_set_vector(out, "center", p), *sd = ffi_set_vector(out, "scale", p);
    SEXP constant = Rf_allocVector(LGLSXP, p);
    ffi_set(out, "constant", constant);
    double rounding = (double) n * DBL_EPSILON;

    for (int j = 0; j < p; j++) {
        const double *col = from + (size_t) j * (size_t) n;
        double *res = to + (size_t) j * (size_t) n;
        /* Sums relative to a power of two near the largest modulus: nothing overflows,
         * and the scaling is exact. */
        double top = 0.0, unit, sum = 0.0, rest = 0.0, ss = 0.0, css = 0.0, m, shift, divide;
        int exponent;
        for (int i = 0; i < n; i++) top = fabs(col[i]) > top ? fabs(col[i]) : top;
        frexp(top, &exponent);
        exponent = exponent > 1000 ? 1000 : (exponent < -1000 ? -1000 : exponent);
        unit = ldexp(1.0, -exponent);
        top = ldexp(1.0, exponent);
        for (int i = 0; i < n; i++) sum += col[i] * unit;
        m = sum / n;
        /* Second pass removes the rounding of the first mean. */
        for (int i = 0; i < n; i++) rest += col[i] * unit - m;
        m += rest / n;
        for (int i = 0; i < n; i++) {
            double v = col[i] * unit, d = v - m;
            ss += v * v;
            css += d * d;
        }
        bool flat = css <= rounding * rounding * ss;
        LOGICAL(constant)[j] = flat;
        shift = do_center ? m * top : 0.0;
        divide = do_scale && !flat ? top * sqrt(css / (double) (n > 1 ? n - 1 : 1)) : 1.0;
        mean[j] = shift;
        sd[j] = divide;
        if (flat && do_center) {
            for (int i = 0; i < n; i++) res[i] = 0.0;
        } else {
            for (int i = 0; i < n; i++) res[i] = (col[i] - shift) / divide;
        }
    }
    UNPROTECT(1);
    return out;
}

typedef struct {
    uint64_t hash;
    int column;
} hashed;

static int by_hash(const void *a, const void *b)
{
    const hashed *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return x->column < y->column ? -1 : (x->column > y->column);
}

static SEXP first_equal(SEXP x, bool columns);

/* For every column the 1-based index of the first column equal to it (itself if
 * none). Equality is of values, so 0 and -0 agree. Hash, sort, compare: O(np). */
SEXP ffi_equal_columns(SEXP x)
{
    return first_equal(x, true);
}

/* The same for rows, without a transpose. */
SEXP ffi_equal_rows(SEXP x)
{
    return first_equal(x, false);
}

static SEXP first_equal(SEXP x, bool columns)
{
    int n = Rf_nrows(x), p = Rf_ncols(x), count = columns ? p : n, len = columns ? n : p;
    size_t step = columns ? 1 : (size_t) n, next = columns ? (size_t) n : 1;
    const double *from = REAL_RO(x);
    SEXP out = PROTECT(Rf_allocVector(INTSXP, count));
    int *first = INTEGER(out);
    hashed *key = (hashed *) R_alloc((size_t) (count > 0 ? count : 1), sizeof(hashed));

    for (int j = 0; j < count; j++) {
        key[j].hash = 1469598103934665603ULL;
        key[j].column = j;
        first[j] = j + 1;
    }
    /* In the order of the memory, whichever way the items lie. */
    for (int b = 0; b < p; b++)
        for (int a = 0; a < n; a++) {
            hashed *of = key + (columns ? b : a);
            double v = from[(size_t) b * (size_t) n + (size_t) a];
            uint64_t bits;
            if (v == 0.0) v = 0.0;
            memcpy(&bits, &v, sizeof bits);
            of->hash = (of->hash ^ bits) * 1099511628211ULL;
            of->hash ^= of->hash >> 29;
        }
    qsort(key, (size_t) count, sizeof(hashed), by_hash);
    for (int a = 0; a < count; a++) {
        int j = key[a].column;
        if (first[j] != j + 1) continue;
        for (int b = a + 1; b < count && key[b].hash == key[a].hash; b++) {
            int k = key[b].column;
            bool same = first[k] == k + 1;
            for (size_t i = 0; same && i < (size_t) len; i++)
                same = from[(size_t) j * next + i * step] == from[(size_t) k * next + i * step];
            if (same) first[k] = j + 1;
        }
    }
    UNPROTECT(1);
    return out;
}

/* The k leading principal components of the (centred) x through the smaller
 * Gram matrix: list(scores n x k, loadings p x k, sdev2 k = squared singular
 * values). min(n,p) n p + 4 min(n,p)^3/3 + 2npk flops. Signs are fixed by the
 * largest loading. Components with no variance get zero loadings. */
SEXP ffi_gram_pca(SEXP x, SEXP k_)
{
    static const char *const names[] = {"scores", "loadings", "sdev2", "info", NULL};
    int n = Rf_nrows(x), p = Rf_ncols(x), k = Rf_asInteger(k_), r = n < p ? n : p;
    const double *a = REAL_RO(x);
    SEXP out = PROTECT(ffi_list(names));
    double *scores = ffi_set_matrix(out, "scores", n, k);
    double *loadings = ffi_set_matrix(out, "loadings", p, k);
    double *d2 = ffi_set_vector(out, "sdev2", k);
    double *gram = ufs_dalloc((size_t) r, (size_t) r);
    double *vec = ufs_dalloc((size_t) r, (size_t) k), *val = ufs_dalloc((size_t) k, 1);
    int info;

    la_gram(n <= p ? 'N' : 'T', n, p, a, gram);
    info = la_eig_range(r, gram, r - k + 1, r, val, vec);
    ffi_set(out, "info", Rf_ScalarInteger(info));
    if (info == 0) {
        /* Ascending from LAPACK; leading first for us. */
        for (int j = 0; j < k; j++) {
            size_t from = (size_t) (k - 1 - j) * (size_t) r;
            d2[j] = val[k - 1 - j] > 0.0 ? val[k - 1 - j] : 0.0;
            ufs_copy((n <= p ? scores : loadings) + (size_t) j * (size_t) r,
                     vec + from, (size_t) r);
        }
        if (n <= p)
            la_gemm('T', 'N', p, k, n, 1.0, a, n, scores, n, 0.0, loadings, p);
        /* A Gram matrix carries no smaller eigenvalue than its rounding. */
        double tiny = d2[0] * DBL_EPSILON * (double) (n > p ? n : p);
        for (int j = 0; j < k; j++) {
            double *load = loadings + (size_t) j * (size_t) p;
            double norm = la_nrm2(p, load);
            if (d2[j] <= tiny || norm == 0.0)
                memset(load, 0, (size_t) p * sizeof(double));
            else
                for (int i = 0; i < p; i++) load[i] /= norm;
        }
        la_fix_signs(p, k, loadings);
        la_gemm('N', 'N', n, k, p, 1.0, a, n, loadings, p, 0.0, scores, n);
    }
    UNPROTECT(1);
    return out;
}
