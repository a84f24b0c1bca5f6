/* ffi_x.c: the edge of x_ops.h. */
#include "ffi_util.h"
#include "prepare.h"
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* ---- from R ------------------------------------------------------------------------- */

static int size_of(SEXP list, const char *name)
{
    return ffi_count(list, name, 1, INT_MAX);
}

/* What scaled and sparse matrices have in common: list(n, p, column, shift, divide, ss), column
 * 1-based among user_p, NULL for all. */
static void standardisation(SEXP x, int user_p, ufs_x *out)
{
    size_t P = (size_t) out->p;
    int count;

    out->shift = ffi_data(ffi_get(x, "shift"), P, "shift");
    out->divide = ffi_data(ffi_get(x, "divide"), P, "divide");
    out->ss = ffi_data(ffi_get(x, "ss"), P, "ss");
    if (ffi_get(x, "column") == R_NilValue) {
        if (out->p != user_p) Rf_error("internal error: 'column' is missing");
        return;
    }
    out->column = ffi_indices(ffi_get(x, "column"), user_p, &count, "column");
    if (count != out->p) Rf_error("internal error: 'column' has the wrong length");
}

/* list(kind, n, p, x, column, shift, divide, ss), the last four may be NULL. */
static ufs_x scaled_x(SEXP x)
{
    ufs_x out = {.kind = UFS_X_SCALED, .n = size_of(x, "n"), .p = size_of(x, "p")};
    ffi_mat whole = ffi_table(ffi_get(x, "x"), "x");
    if (whole.n != out.n) Rf_error("internal error: x is not a matrix of %d rows", out.n);
    out.dense = whole.x;
    standardisation(x, whole.p, &out);
    return out;
}

static const int *int_slot(SEXP list, const char *name, size_t *length)
{
    SEXP value = ffi_get(list, name);
    if (TYPEOF(value) != INTSXP) Rf_error("internal error: slot '%s' is not integer", name);
    *length = (size_t) Rf_xlength(value);
    return INTEGER_RO(value);
}

/* list(kind, n, p, user_p, i, start, value, column, shift, divide, ss). */
static ufs_x sparse_x(SEXP x)
{
    ufs_x out = {.kind = UFS_X_SPARSE, .n = size_of(x, "n"), .p = size_of(x, "p")};
    size_t n_row, n_start;
    int user_p = size_of(x, "user_p");
    SEXP value = ffi_get(x, "value");
    const char *wrong;

    out.row = int_slot(x, "i", &n_row);
    out.start = int_slot(x, "start", &n_start);
    if (!Rf_isReal(value)) Rf_error("internal error: slot 'value' is not double");
    out.value = REAL_RO(value);
    wrong = ufs_x_check_slots(out.n, user_p, n_start, out.start, n_row, out.row,
                              (size_t) Rf_xlength(value));
    if (wrong) Rf_error("internal error: x is not a sound sparse matrix: %s", wrong);
    standardisation(x, user_p, &out);
    return out;
}

/* The value of function `name` of the source at `arguments`, a pairlist. */
static SEXP eval_source(SEXP x, const char *name, SEXP arguments)
{
    PROTECT(arguments);
    SEXP fun = ffi_get(x, name);
    if (!Rf_isFunction(fun)) Rf_error("internal error: the source has no function '%s'", name);
    SEXP call = PROTECT(Rf_lcons(fun, arguments));
    SEXP value = Rf_eval(call, R_GlobalEnv);
    UNPROTECT(2);
    return value;
}

/* 1-based. */
static SEXP indices(int m, const int *j)
{
    SEXP out = PROTECT(Rf_allocVector(INTSXP, m));
    for (int k = 0; k < m; k++) INTEGER(out)[k] = j[k] + 1;
    UNPROTECT(1);
    return out;
}

static void call_source(void *data, const ufs_x_call *what, size_t length, double *out)
{
    SEXP x = data, arguments = R_NilValue;

    if (what->j) x = eval_source(x, "some", Rf_list1(indices(what->m, what->j)));
    PROTECT(x);
    if (what->value) {
        SEXP value = PROTECT(what->rows ? Rf_allocMatrix(REALSXP, what->rows, what->cols)
                                        : Rf_allocVector(REALSXP, what->cols));
        ufs_copy(REAL(value), what->value, (size_t) Rf_xlength(value));
        arguments = Rf_list1(value);
        UNPROTECT(1);
    }
    PROTECT(arguments);
    if (what->index) arguments = Rf_cons(indices(what->n_index, what->index), arguments);
    SEXP value = PROTECT(eval_source(x, what->name, arguments));
    if (!Rf_isReal(value) || (size_t) Rf_xlength(value) != length)
        Rf_error("internal error: '%s' of the source returned another size", what->name);
    if (length) ufs_copy(out, REAL_RO(value), length);
    UNPROTECT(3);
}

static ufs_x source_x(SEXP x)
{
    ufs_x out = {.kind = UFS_X_SOURCE,
                 .n = size_of(x, "n"),
                 .p = size_of(x, "p"),
                 .source = {.data = x, .call = call_source}};
    double block = ffi_real(x, "bytes") / (8.0 * out.n);

    out.source.at_once = (int) fmax(1.0, fmin(block, INT_MAX));
    out.ss = ffi_data(ffi_get(x, "ss"), (size_t) out.p, "ss");
    return out;
}

static ufs_x unwatched(SEXP x)
{
    if (Rf_isReal(x) && Rf_isMatrix(x)) {
        ffi_mat plain = ffi_table(x, "x");
        return ufs_x_dense(plain.n, plain.p, plain.x);
    }
    int kind = ffi_choice(x, "kind", (const char *[]){"scaled", "sparse", "source", NULL});
    return (ufs_x(*const[])(SEXP)){scaled_x, sparse_x, source_x}[kind](x);
}

ufs_x ffi_x(SEXP x)
{
    ufs_x out = unwatched(x);
    ufs_hook watch = ffi_watch();

    if (watch.call != NULL) {
        ufs_hook *hook = (ufs_hook *) R_alloc(1, sizeof(ufs_hook));
        *hook = watch;
        out.hook = hook;
    }
    return out;
}

ufs_x ffi_x_finite(SEXP x)
{
    ufs_x out = ffi_x(x);

    if (out.dense) {
        size_t all = (size_t) out.n * (size_t) (Rf_isReal(x) ? out.p : Rf_ncols(ffi_get(x, "x")));
        ffi_finite(out.dense, all, "x");
    }
    if (out.value) ffi_finite(out.value, (size_t) Rf_xlength(ffi_get(x, "value")), "x");
    if (out.shift) ffi_finite(out.shift, (size_t) out.p, "shift");
    if (out.divide)
        for (int j = 0; j < out.p; j++)
            if (!(fabs(out.divide[j]) > 0.0 && R_FINITE(out.divide[j])))
                Rf_error("internal error: 'divide' has a zero or a value that is not finite");
    return out;
}

/* ---- entries ------------------------------------------------------------------------- */

/* What is wrong with the slots of a column-compressed matrix; NULL if nothing. */
SEXP ffi_x_check(SEXP n, SEXP p, SEXP start, SEXP row, SEXP value)
{
    if (TYPEOF(start) != INTSXP || TYPEOF(row) != INTSXP || TYPEOF(value) != REALSXP)
        return Rf_mkString("slots p and i must be integer and slot x double");
    const char *wrong = ufs_x_check_slots(
        ffi_whole(n, 0, INT_MAX, "n"), ffi_whole(p, 0, INT_MAX, "p"), (size_t) Rf_xlength(start),
        INTEGER_RO(start), (size_t) Rf_xlength(row), INTEGER_RO(row), (size_t) Rf_xlength(value));
    return wrong ? Rf_mkString(wrong) : R_NilValue;
}

/* A dense block of the user's matrix, into `to`: every column minus its shift, divided by its divide
 * (vectors of one number per column, or NULL). */
static SEXP standardised(SEXP x, SEXP shift_, SEXP divide_, SEXP to)
{
    int n = ffi_table(x, "x").n, p = ffi_table(x, "x").p;
    const double *shift = ffi_data(shift_, (size_t) p, "shift");
    const double *divide = ffi_data(divide_, (size_t) p, "divide");
    prepare_take(n, REAL_RO(x), &(prepare_part){n, p, NULL, NULL, shift, divide}, REAL(to));
    return to;
}

/* In place where nobody else holds the block, which is the largest thing in a pass: only a block that
 * its caller keeps in a variable counts its other holders. */
SEXP ffi_x_standardise(SEXP x, SEXP shift, SEXP divide)
{
    if (!MAYBE_SHARED(x)) return standardised(x, shift, divide, x);
    ffi_mat from = ffi_table(x, "x");
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, from.n, from.p));
    standardised(x, shift, divide, out);
    UNPROTECT(1);
    return out;
}

/* The same in place whoever holds it: of a matrix that its caller made to be spent. */
SEXP ffi_x_overwrite(SEXP x, SEXP shift, SEXP divide)
{
    return standardised(x, shift, divide, x);
}

/* x (a matrix, or an operator) as a plan (R/data-weights.R) has it: list(block, mean, factor, power,
 * add, root) of these rows and columns. A matrix in place as above. */
SEXP ffi_x_planned(SEXP x, SEXP plan_)
{
    ufs_x op = ffi_x(x);
    ffi_mat mean = ffi_table(ffi_get(plan_, "mean"), "mean");
    size_t n = (size_t) op.n, p = (size_t) op.p;
    SEXP power = ffi_get(plan_, "power");
    prepare_plan plan = {.n = op.n, .n_blocks = mean.n, .mean = mean.x};

    if (mean.p != op.p || (power != R_NilValue && ffi_real(plan_, "power") != 2.0))
        Rf_error("internal error: a plan of other columns");
    plan.block = ffi_ints(ffi_get(plan_, "block"), n, 1, mean.n, "block");
    plan.factor = ffi_data(ffi_get(plan_, "factor"), (size_t) mean.n * p, "factor");
    plan.squared = power != R_NilValue;
    plan.add = ffi_data(ffi_get(plan_, "add"), p, "add");
    plan.root = ffi_data(ffi_get(plan_, "root"), n, "root");
    SEXP out = PROTECT(
        op.kind != UFS_X_DENSE || MAYBE_SHARED(x) ? Rf_allocMatrix(REALSXP, op.n, op.p) : x);
    for (int j = 0; j < op.p; j++) {
        double *to = REAL(out) + (size_t) j * n;
        prepare_planned(&plan, j, ufs_x_column(&op, j, to), to);
    }
    UNPROTECT(1);
    return out;
}

/* What R has freed goes back to the system: glibc keeps blocks of up to 32 MB and twice as much
 * above them. */
SEXP ffi_x_trim(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
    return R_NilValue;
}

/* total += value, in place. */
SEXP ffi_x_add(SEXP total, SEXP value)
{
    size_t length = (size_t) Rf_xlength(total);
    ffi_given(total, length, "total");
    const double *from = ffi_given(value, length, "value");
    for (size_t i = 0; i < length; i++) REAL(total)[i] += from[i];
    return total;
}

/* x_j'K x_j of the columns of x, K n x n: NaN where a column is not sparse. */
SEXP ffi_x_column_forms(SEXP x_, SEXP k)
{
    ufs_x x = ffi_x(x_);
    const double *middle = ffi_given(k, (size_t) x.n * (size_t) x.n, "k");
    SEXP out = PROTECT(Rf_allocVector(REALSXP, x.p));
    ufs_x_forms(&x, middle, REAL(out));
    UNPROTECT(1);
    return out;
}

/* x_i'S x_i of every row of a block; S NULL: the identity. */
SEXP ffi_x_forms(SEXP x, SEXP s)
{
    ufs_x op = ffi_x(x);
    const double *matrix = s == R_NilValue ? NULL : ffi_upper(s, op.p, "s");
    SEXP out = PROTECT(Rf_allocVector(REALSXP, op.n));
    if (matrix)
        ufs_x_row_forms(&op, matrix, REAL(out));
    else
        ufs_x_row_ss(&op, REAL(out));
    UNPROTECT(1);
    return out;
}

/* Hashes of the columns, or with first_row NULL of the rows: see ufs_x_hash(). */
SEXP ffi_x_hash(SEXP x, SEXP first_row)
{
    ufs_x op = ffi_x(x);
    bool rows = first_row == R_NilValue;
    double before = rows ? 0.0 : ffi_number(first_row, "first_row");
    if (op.kind == UFS_X_SOURCE || (rows && op.kind != UFS_X_DENSE))
        Rf_error("internal error: hashes are found in another way");
    if (!(before >= 0.0 && before <= 9007199254740992.0)) /* 2^53: whole, and one of its own */
        Rf_error("internal error: 'first_row'");
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, rows ? op.n : op.p, 2));
    ufs_x_hash(&op, rows, before, REAL(out));
    UNPROTECT(1);
    return out;
}

/* X V, or X'V with `cross`. */
SEXP ffi_x_product(SEXP x, SEXP v, SEXP cross_)
{
    ufs_x op = ffi_x(x);
    bool cross = ffi_yes(cross_, "cross");
    int rows = cross ? op.n : op.p;
    /* No columns is fine. */
    if (!Rf_isReal(v) || !Rf_isMatrix(v) || Rf_nrows(v) != rows)
        Rf_error("internal error: 'v' is not a double matrix of %d rows", rows);
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, cross ? op.p : op.n, Rf_ncols(v)));
    (cross ? ufs_x_cross : ufs_x_mul)(&op, Rf_ncols(v), REAL_RO(v), REAL(out));
    UNPROTECT(1);
    return out;
}

/* j: 1-based. */
SEXP ffi_x_columns(SEXP x, SEXP j)
{
    ufs_x op = ffi_x(x);
    int m, *index = ffi_indices(j, op.p, &m, "j");
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, op.n, m));
    ufs_x_columns(&op, m, index, REAL(out));
    UNPROTECT(1);
    return out;
}

SEXP ffi_x_ss(SEXP x)
{
    ufs_x op = ffi_x(x);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, op.p));
    ufs_x_ss(&op, REAL(out));
    UNPROTECT(1);
    return out;
}

typedef struct {
    int n;
    double *share;
} top_two;

static void share_of_two(void *data, int j, const double *column)
{
    top_two *of = data;
    double first = 0.0, second = 0.0, sum = 0.0;

    R_CheckUserInterrupt();
    for (int i = 0; i < of->n; i++) {
        double v = column[i] * column[i];
        sum += v;
        if (v > second) second = v > first ? first : v;
        if (v > first) first = v;
    }
    of->share[j] = sum > 0.0 ? (first + second) / sum : 0.0;
}

/* The share of the squares of every column that its two largest entries have. */
SEXP ffi_x_top_two(SEXP x)
{
    ufs_x op = ffi_x(x);
    SEXP out = PROTECT(Rf_allocVector(REALSXP, op.p));
    ufs_x_each_column(&op, share_of_two, &(top_two){op.n, REAL(out)});
    UNPROTECT(1);
    return out;
}

/* rows: X X', added to `to` if there is one (X dense); otherwise X'X. */
SEXP ffi_x_gram(SEXP x, SEXP rows, SEXP to)
{
    ufs_x op = ffi_x(x);
    bool by_rows = ffi_yes(rows, "rows");
    int side = by_rows ? op.n : op.p;
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, side, side));
    if (to != R_NilValue) {
        if (!by_rows || op.kind != UFS_X_DENSE) Rf_error("internal error: x is not dense");
        size_t size = (size_t) side * (size_t) side;
        memcpy(REAL(out), ffi_sized(to, side, side, "to"), size * sizeof(double));
        la_syrk('N', side, op.p, 1.0, op.dense, side, 1.0, REAL(out), side);
        la_fill_lower(side, REAL(out));
    } else if (by_rows)
        ufs_x_gram_rows(&op, NULL, REAL(out));
    else
        ufs_x_gram_cols(&op, REAL(out));
    UNPROTECT(1);
    return out;
}

/* loadings: FALSE leaves them NULL where they are not the eigenvectors themselves (n <= p):
 * they are the largest thing there. */
SEXP ffi_x_pca(SEXP x, SEXP k_, SEXP tol, SEXP loadings_)
{
    ufs_x op = ffi_x_finite(x);
    int k = ffi_whole(k_, 1, op.n < op.p ? op.n : op.p, "k");
    double limit = ffi_number(tol, "tol");
    SEXP out = PROTECT(ffi_list("scores loadings sdev2 lapack products residual converged full"));
    double *scores = ffi_set_matrix(out, "scores", op.n, k);
    bool without = !ffi_yes(loadings_, "loadings") && op.n <= op.p;
    double *loadings = without ? NULL : ffi_set_matrix(out, "loadings", op.p, k);
    double *d2 = ffi_set_vector(out, "sdev2", k);
    ufs_x_pca_info info;
    ufs_x_pca(&op, k, limit, scores, loadings, d2, &info);
    ffi_set(out, "lapack", Rf_ScalarInteger(info.lapack));
    ffi_set(out, "products", Rf_ScalarInteger(info.products));
    ffi_set(out, "residual", Rf_ScalarReal(info.residual));
    ffi_set(out, "converged", Rf_ScalarLogical(info.converged));
    ffi_set(out, "full", Rf_ScalarLogical(info.full));
    UNPROTECT(1);
    return out;
}

/* The k leading eigenvectors of a Gram matrix: list(vectors, values, lapack). */
SEXP ffi_x_leading(SEXP gram_, SEXP k_, SEXP tol)
{
    ffi_mat gram = ffi_table(gram_, "gram");
    if (gram.n != gram.p) Rf_error("internal error: gram is not square");
    int k = ffi_whole(k_, 1, gram.n, "k");
    double limit = ffi_number(tol, "tol");
    SEXP out = PROTECT(ffi_list("vectors values lapack"));
    double *vectors = ffi_set_matrix(out, "vectors", gram.n, k);
    double *values = ffi_set_vector(out, "values", k);
    ufs_x_pca_info info;
    ufs_x_leading(gram.n, gram.x, k, limit, values, vectors, &info);
    ffi_set(out, "lapack", Rf_ScalarInteger(info.lapack));
    UNPROTECT(1);
    return out;
}

SEXP ffi_x_ranks(SEXP x_)
{
    ffi_mat x = ffi_table(x_, "x");
    SEXP out = PROTECT(Rf_allocMatrix(REALSXP, x.n, x.p));
    ufs_column_ranks(x.n, x.p, x.x, REAL(out));
    UNPROTECT(1);
    return out;
}

SEXP ffi_x_closest(SEXP r_, SEXP weight_, SEXP most_)
{
    ffi_mat r = ffi_table(r_, "r");
    if (r.n != r.p) Rf_error("internal error: r is not square");
    const double *weight = ffi_data(weight_, (size_t) r.p, "weight");
    int most = ffi_whole(most_, 1, r.p - 1, "most");
    SEXP out = PROTECT(Rf_allocVector(REALSXP, r.p));
    ufs_closest(r.p, r.x, weight, most, REAL(out));
    UNPROTECT(1);
    return out;
}

/* Of every one of these columns, looked at in these rows, list(look, between), see ufs_odd(); NULL if
 * a value is not finite. */
SEXP ffi_x_odd(SEXP x_, SEXP rows, SEXP columns)
{
    int n, p;
    ffi_mat x = ffi_table(x_, "x");
    const int *row = ffi_indices(rows, x.n, &n, "rows");
    const int *column = ffi_indices(columns, x.p, &p, "columns");
    SEXP out = PROTECT(ffi_list("look between"));
    int *look = LOGICAL(ffi_set(out, "look", Rf_allocVector(LGLSXP, p)));
    double *between = ffi_set_vector(out, "between", p), *value = ufs_dalloc((size_t) n, 1);
    bool fine = true;
    for (int j = 0; j < p && fine; j++) {
        const double *own = x.x + (size_t) column[j] * (size_t) x.n;
        if (j % 256 == 0) R_CheckUserInterrupt();
        for (int i = 0; i < n; i++) value[i] = own[row[i]];
        fine = ufs_odd(n, value, look + j, between + j);
    }
    UNPROTECT(1);
    return fine ? out : R_NilValue;
}

/* Entries by lines, list(first, count, index, value): those of line l are count[l] from first[l] on,
 * their places across from 0 below `size`, in any order. list(start, i, x), by places and then by
 * lines; NULL if a place is no such number, or is there twice in a line. Three passes over the
 * entries. */
SEXP ffi_x_across(SEXP lines, SEXP size_)
{
    int size = ffi_whole(size_, 0, INT_MAX, "size"), total = 0;
    size_t n_first, n_count, n_index;
    const int *first = int_slot(lines, "first", &n_first);
    const int *count = int_slot(lines, "count", &n_count);
    const int *index = int_slot(lines, "index", &n_index);
    const double *value = ffi_given(ffi_get(lines, "value"), n_index, "value");

    if (n_first != n_count) Rf_error("internal error: lines without an end");
    SEXP out = PROTECT(ffi_list("start i x"));
    int *start = INTEGER(ffi_set(out, "start", Rf_allocVector(INTSXP, (R_xlen_t) size + 1)));
    int *at = ufs_ialloc((size_t) size);
    bool fine = true;
    memset(start, 0, ((size_t) size + 1) * sizeof(int));
    for (size_t l = 0; l < n_first; l++) {
        if (first[l] < 0 || count[l] < 0 || (size_t) first[l] + (size_t) count[l] > n_index ||
            count[l] > INT_MAX - total)
            Rf_error("internal error: a line does not fit");
        total += count[l];
        for (int e = first[l]; e < first[l] + count[l]; e++) {
            if (index[e] >= 0 && index[e] < size)
                start[index[e] + 1]++;
            else
                fine = false;
        }
    }
    for (int j = 0; j < size; j++) {
        start[j + 1] += start[j];
        at[j] = start[j];
    }
    int *line = INTEGER(ffi_set(out, "i", Rf_allocVector(INTSXP, total)));
    double *x = REAL(ffi_set(out, "x", Rf_allocVector(REALSXP, total)));
    for (size_t l = 0; l < n_first && fine; l++)
        for (int e = first[l]; e < first[l] + count[l]; e++) {
            int to = at[index[e]]++;
            line[to] = (int) l;
            x[to] = value[e];
        }
    for (int j = 0; j < size && fine; j++)
        for (int e = start[j] + 1; e < start[j + 1]; e++) fine = fine && line[e] != line[e - 1];
    UNPROTECT(1);
    return fine ? out : R_NilValue;
}

/* Room for the entries of a column-compressed matrix with column starts `start`: list(i, x, at), at
 * the next free place of each column. Nothing is written to i and x, so that they take no memory
 * yet. */
SEXP ffi_x_room(SEXP start)
{
    R_xlen_t p = Rf_xlength(start) - 1;
    if (TYPEOF(start) != INTSXP || p < 0) Rf_error("internal error: 'start' is not integer");
    SEXP out = PROTECT(ffi_list("i x at"));
    ffi_set(out, "i", Rf_allocVector(INTSXP, INTEGER_RO(start)[p]));
    ffi_set(out, "x", Rf_allocVector(REALSXP, INTEGER_RO(start)[p]));
    int *at = INTEGER(ffi_set(out, "at", Rf_allocVector(INTSXP, p)));
    for (R_xlen_t j = 0; j < p; j++) at[j] = INTEGER_RO(start)[j];
    UNPROTECT(1);
    return out;
}

/* Writes the entries of a block of rows, list(start, i, x), into that room, in place; `before` rows
 * are above it. Blocks come from above. */
SEXP ffi_x_place(SEXP room, SEXP part, SEXP before_)
{
    int p, before = ffi_whole(before_, 0, INT_MAX, "before");
    SEXP row = ffi_get(room, "i"), value = ffi_get(room, "x"), at = ffi_get(room, "at");
    size_t n_start, n_row, size = (size_t) Rf_xlength(row);
    const int *start = int_slot(part, "start", &n_start), *from = int_slot(part, "i", &n_row);
    const double *x = ffi_given(ffi_get(part, "x"), n_row, "x");

    if (TYPEOF(row) != INTSXP || TYPEOF(at) != INTSXP || !Rf_isReal(value) ||
        (size_t) Rf_xlength(value) != size || n_start != (size_t) Rf_xlength(at) + 1)
        Rf_error("internal error: a block does not fit");
    p = (int) (n_start - 1);
    for (int j = 0; j < p; j++) {
        int to = INTEGER(at)[j], count = start[j + 1] - start[j];
        if (start[j] < 0 || count < 0 || (size_t) start[j + 1] > n_row || to < 0 ||
            (size_t) to + (size_t) count > size)
            Rf_error("internal error: a block does not fit");
        for (int k = start[j]; k < start[j + 1]; k++, to++) {
            INTEGER(row)[to] = from[k] + before;
            REAL(value)[to] = x[k];
        }
        INTEGER(at)[j] = to;
    }
    return R_NilValue;
}
