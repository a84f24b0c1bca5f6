/* ffi_decoys.c: a table with permuted columns among its own, made in one matrix (R/run-decoys.R), so
 * that nothing else of the size of a column is left behind for R to collect. */

#include "ffi_util.h"

/* The numbers of one column (1-based) of x, and those of its rows (1-based; NULL: all) in question. */
typedef struct {
    const double *x;
    const int *rows;
    int n, count;
} column_part;

static column_part part_of(SEXP x_, SEXP column, SEXP rows)
{
    ffi_mat x = ffi_table(x_, "x");
    column_part out = {.n = x.n, .count = x.n};
    out.x = x.x + (size_t) (ffi_whole(column, 1, x.p, "column") - 1) * (size_t) x.n;
    if (rows != R_NilValue) {
        R_xlen_t count = Rf_xlength(rows);
        if (count > x.n) Rf_error("internal error: more rows than there are");
        out.count = (int) count;
        out.rows = ffi_ints(rows, (size_t) count, 1, x.n, "rows");
    }
    return out;
}

static int row_at(const column_part *part, int i)
{
    return part->rows ? part->rows[i] - 1 : i;
}

/* How many numbers of the column are not zero. */
SEXP ffi_decoy_filled(SEXP x, SEXP column, SEXP rows)
{
    column_part part = part_of(x, column, rows);
    int filled = 0;
    for (int i = 0; i < part.count; i++) filled += part.x[row_at(&part, i)] != 0.0;
    return Rf_ScalarInteger(filled);
}

/* Writes them into column `to` of out, in place, the first to row at[0] of these rows, and so on. */
SEXP ffi_decoy_place(SEXP out, SEXP to, SEXP x, SEXP column, SEXP rows, SEXP at_)
{
    column_part part = part_of(x, column, rows);
    ffi_mat whole = ffi_table(out, "out");
    size_t count = (size_t) Rf_xlength(at_), taken = 0;
    const int *at = ffi_ints(at_, count, 1, part.count, "at");
    if (whole.n != part.n) Rf_error("internal error: a decoy has other rows");
    double *place = REAL(out) + (size_t) (ffi_whole(to, 1, whole.p, "to") - 1) * (size_t) whole.n;
    for (int i = 0; i < part.count; i++) {
        double value = part.x[row_at(&part, i)];
        if (value == 0.0) continue;
        if (taken == count) Rf_error("internal error: too few places");
        place[row_at(&part, at[taken++] - 1)] = value;
    }
    return R_NilValue;
}

/* out = cbind(x[, keep], out[, -seq_along(keep)])[, ord], in place: the last columns go to theirs,
 * each to one that is free or has been moved, and those of x between them. */
SEXP ffi_decoy_arrange(SEXP out, SEXP ord_, SEXP x_, SEXP keep_)
{
    ffi_mat whole = ffi_table(out, "out"), x = ffi_table(x_, "x");
    size_t n = (size_t) whole.n, q = (size_t) Rf_xlength(keep_), p = (size_t) whole.p;
    const int *ord = ffi_ints(ord_, p, 1, whole.p, "ord");
    const int *keep = ffi_ints(keep_, q, 1, x.p, "keep");
    double *to = REAL(out), *held = ufs_dalloc(n, 1);
    bool *moved = (bool *) R_alloc(p, sizeof(bool));

    if (x.n != whole.n) Rf_error("internal error: a decoy has other rows");
    for (size_t j = 0; j < p; j++) moved[j] = false;
    for (size_t first = 0; first < p; first++) {
        if (moved[first] || (size_t) ord[first] <= q) continue;
        size_t at = first;
        ufs_copy(held, to + first * n, n);
        while ((size_t) ord[at] > q && (size_t) ord[at] - 1 != first) {
            size_t next = (size_t) ord[at] - 1;
            ufs_copy(to + at * n, to + next * n, n);
            moved[at] = true;
            at = next;
        }
        if ((size_t) ord[at] > q) ufs_copy(to + at * n, held, n);
        moved[at] = true;
    }
    for (size_t j = 0; j < p; j++) {
        if ((size_t) ord[j] > q) continue;
        ufs_copy(to + j * n, x.x + (size_t) (keep[ord[j] - 1] - 1) * n, n);
    }
    return R_NilValue;
}
