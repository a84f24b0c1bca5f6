#include "ffi_util.h"

SEXP ffi_get(SEXP list, const char *name)
{
    if (!Rf_isNewList(list)) Rf_error("internal error: '%s' is asked of what is no list", name);
    SEXP names = Rf_getAttrib(list, R_NamesSymbol);
    for (R_xlen_t i = 0; i < Rf_xlength(names); i++)
        if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0) return VECTOR_ELT(list, i);
    return R_NilValue;
}

double ffi_real(SEXP list, const char *name)
{
    return ffi_number(ffi_get(list, name), name);
}

int ffi_int(SEXP list, const char *name)
{
    return ffi_count(list, name, -INT_MAX, INT_MAX);
}

int ffi_count(SEXP list, const char *name, int low, int high)
{
    return ffi_whole(ffi_get(list, name), low, high, name);
}

bool ffi_flag(SEXP list, const char *name)
{
    return ffi_yes(ffi_get(list, name), name);
}

char ffi_form(SEXP list, const char *name)
{
    return "apn"[ffi_choice(list, name, (const char *[]){"a", "p", "n", NULL})];
}

int ffi_choice(SEXP list, const char *name, const char *const *choices)
{
    SEXP value = ffi_get(list, name);
    if (Rf_isString(value) && Rf_xlength(value) == 1)
        for (int k = 0; choices[k] != NULL; k++)
            if (strcmp(CHAR(STRING_ELT(value, 0)), choices[k]) == 0) return k;
    Rf_error("internal error: '%s' is not one of its choices", name);
}

const double *ffi_data(SEXP x, size_t length, const char *what)
{
    if (x == R_NilValue) return NULL;
    if (!Rf_isReal(x) || (size_t) Rf_xlength(x) != length)
        Rf_error("internal error: '%s' has the wrong type or length", what);
    return REAL_RO(x);
}

gl_copies ffi_copies(SEXP list, int p)
{
    size_t P = (size_t) p;
    SEXP first = ffi_get(list, "first");

    if (first == R_NilValue) return (gl_copies){NULL, NULL};
    const int *given = ffi_ints(first, P, 1, p, "first");
    int *index = ufs_ialloc(P), *count = ufs_ialloc(P);
    for (size_t i = 0; i < P; i++) count[index[i] = given[i] - 1]++;
    for (size_t i = 0; i < P; i++)
        if (index[i] > (int) i || count[index[i]] == 0 || index[index[i]] != index[i])
            Rf_error("internal error: 'first' of equal columns");
    return (gl_copies){index, count};
}

const double *ffi_given(SEXP x, size_t length, const char *what)
{
    const double *data = ffi_data(x, length, what);
    if (data == NULL) Rf_error("internal error: '%s' is missing", what);
    return data;
}

ffi_mat ffi_table(SEXP x, const char *what)
{
    if (!Rf_isReal(x) || !Rf_isMatrix(x) || Rf_nrows(x) < 1 || Rf_ncols(x) < 1)
        Rf_error("internal error: '%s' is not a matrix of doubles", what);
    return (ffi_mat){.n = Rf_nrows(x), .p = Rf_ncols(x), .x = REAL_RO(x)};
}

ffi_mat ffi_matrix(SEXP x, const char *what)
{
    ffi_mat found = ffi_table(x, what);
    ffi_finite(found.x, (size_t) found.n * (size_t) found.p, what);
    return found;
}

void ffi_finite(const double *x, size_t length, const char *what)
{
    if (!la_finite(length, x))
        Rf_error("internal error: '%s' has values that are not finite", what);
}

const double *ffi_sized(SEXP x, int n, int p, const char *what)
{
    ffi_mat found = ffi_matrix(x, what);
    if (found.n != n || found.p != p) Rf_error("internal error: '%s' is not %d x %d", what, n, p);
    return found.x;
}

const double *ffi_upper(SEXP x, int n, const char *what)
{
    ffi_mat found = ffi_table(x, what);
    if (found.n != n || found.p != n) Rf_error("internal error: '%s' is not %d x %d", what, n, n);
    for (size_t j = 0; j < (size_t) n; j++) ffi_finite(found.x + j * (size_t) n, j + 1, what);
    return found.x;
}

double ffi_number(SEXP x, const char *what)
{
    double value = Rf_isNumeric(x) && Rf_xlength(x) == 1 ? Rf_asReal(x) : R_NaN;
    if (!(value >= R_NegInf)) Rf_error("internal error: '%s' is not one number", what);
    return value;
}

bool ffi_yes(SEXP x, const char *what)
{
    if (!Rf_isLogical(x) || Rf_xlength(x) != 1 || LOGICAL_RO(x)[0] == NA_LOGICAL)
        Rf_error("internal error: '%s' is not TRUE or FALSE", what);
    return LOGICAL_RO(x)[0] != 0;
}

const int *ffi_ints(SEXP x, size_t length, int low, int high, const char *what)
{
    if (TYPEOF(x) != INTSXP || (size_t) Rf_xlength(x) != length)
        Rf_error("internal error: '%s' has the wrong type or length", what);
    const int *value = INTEGER_RO(x);
    for (size_t i = 0; i < length; i++)
        if (value[i] < low || value[i] > high)
            Rf_error("internal error: '%s' is out of %d to %d", what, low, high);
    return value;
}

int *ffi_indices(SEXP x, int most, int *length, const char *what)
{
    if (TYPEOF(x) != INTSXP || Rf_xlength(x) > INT_MAX)
        Rf_error("internal error: '%s' is not an integer vector", what);
    *length = (int) Rf_xlength(x);
    const int *from = ffi_ints(x, (size_t) *length, 1, most, what);
    int *out = ufs_ialloc((size_t) *length);
    for (int i = 0; i < *length; i++) out[i] = from[i] - 1;
    return out;
}

int ffi_whole(SEXP x, int low, int high, const char *what)
{
    double value = Rf_isNumeric(x) && Rf_xlength(x) == 1 ? Rf_asReal(x) : R_NaN;
    if (!(value >= low && value <= high) || value != floor(value))
        Rf_error("internal error: '%s' is not a whole number from %d to %d", what, low, high);
    return (int) value;
}

/* A vector of that type, with an element for each of the names. */
static SEXP named(SEXPTYPE type, const char *names)
{
    R_xlen_t n = *names != '\0';
    for (const char *at = names; *at != '\0'; at++) n += *at == ' ';
    SEXP vector = PROTECT(Rf_allocVector(type, n)), labels = PROTECT(Rf_allocVector(STRSXP, n));
    for (R_xlen_t i = 0; i < n; i++) {
        int length = (int) strcspn(names, " ");
        SET_STRING_ELT(labels, i, Rf_mkCharLen(names, length));
        names += length + 1;
    }
    Rf_setAttrib(vector, R_NamesSymbol, labels);
    UNPROTECT(2);
    return vector;
}

SEXP ffi_list(const char *names)
{
    return named(VECSXP, names);
}

SEXP ffi_set(SEXP list, const char *name, SEXP value)
{
    PROTECT(value);
    SEXP names = Rf_getAttrib(list, R_NamesSymbol);
    for (R_xlen_t i = 0; i < Rf_xlength(names); i++)
        if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0) {
            SET_VECTOR_ELT(list, i, value);
            UNPROTECT(1);
            return value;
        }
    Rf_error("internal error: no slot '%s'", name);
}

double *ffi_set_matrix(SEXP list, const char *name, int n, int m)
{
    return REAL(ffi_set(list, name, Rf_allocMatrix(REALSXP, n, m)));
}

double *ffi_set_vector(SEXP list, const char *name, int n)
{
    return REAL(ffi_set(list, name, Rf_allocVector(REALSXP, n)));
}

int *ffi_set_ints(SEXP list, const char *name, int n)
{
    int *to = INTEGER(ffi_set(list, name, Rf_allocVector(INTSXP, n)));
    return n ? memset(to, 0, (size_t) n * sizeof(int)) : to;
}

void ffi_set_which(SEXP out, const char *name, int p, const int *is)
{
    int count = 0;
    for (int j = 0; j < p; j++) count += is[j] != 0;
    int *at = ffi_set_ints(out, name, count);
    for (int j = 0; j < p; j++)
        if (is[j]) *at++ = j + 1;
}

double *ffi_set_zero(SEXP list, const char *name, int n, int m)
{
    double *to = m ? ffi_set_matrix(list, name, n, m) : ffi_set_vector(list, name, n);
    size_t len = (size_t) n * (size_t) (m ? m : 1);
    if (len) memset(to, 0, len * sizeof(double));
    return to;
}

/* The last column first: none is overwritten before it has moved. */
void ffi_spread(double *x, int n, int q, const int *keep)
{
    size_t N = (size_t) n;
    for (int j = q - 1; j >= 0 && keep[j] != j; j--) {
        ufs_copy(x + (size_t) keep[j] * N, x + (size_t) j * N, N);
        memset(x + (size_t) j * N, 0, N * sizeof(double));
    }
}

void ffi_set_names(SEXP list, const char *name, SEXP rows, SEXP columns)
{
    SEXP names = PROTECT(Rf_allocVector(VECSXP, 2));
    SET_VECTOR_ELT(names, 0, rows);
    SET_VECTOR_ELT(names, 1, columns);
    if (rows != R_NilValue || columns != R_NilValue)
        Rf_setAttrib(ffi_get(list, name), R_DimNamesSymbol, names);
    UNPROTECT(1);
}

void ffi_set_trace(SEXP list, const char *name, const ufs_trace *trace)
{
    double *to = ffi_set_matrix(list, name, trace->length, trace->n_col);
    for (int j = 0; j < trace->n_col; j++)
        ufs_copy(to + (size_t) j * (size_t) trace->length,
                 trace->value + (size_t) j * (size_t) trace->capacity, (size_t) trace->length);
    if (trace->names != NULL) {
        SEXP label = PROTECT(Rf_allocVector(STRSXP, trace->n_col));
        for (int j = 0; j < trace->n_col; j++) SET_STRING_ELT(label, j, Rf_mkChar(trace->names[j]));
        ffi_set_names(list, name, R_NilValue, label);
        UNPROTECT(1);
    }
}

static void call_progress(void *progress, int iteration, double objective, double change)
{
    SEXP it = PROTECT(Rf_ScalarInteger(iteration));
    SEXP value = PROTECT(Rf_ScalarReal(objective));
    SEXP diff = PROTECT(Rf_ScalarReal(change));
    SEXP call = PROTECT(Rf_lang4((SEXP) progress, it, value, diff));
    Rf_eval(call, R_GlobalEnv);
    UNPROTECT(4);
}

ufs_paths ffi_paths(void)
{
#define ON(name) .name = true,
    ufs_paths paths = {UFS_PATHS(ON)};
#undef ON
    SEXP off = Rf_GetOption1(Rf_install("ufselect.paths_off"));

    if (!Rf_isString(off)) return paths;
    for (R_xlen_t i = 0; i < Rf_xlength(off); i++) {
        const char *name = CHAR(STRING_ELT(off, i));
        bool known = false;
#define OFF(path)                                                                                  \
    if (strcmp(name, #path) == 0) {                                                                \
        paths.path = false;                                                                        \
        known = true;                                                                              \
    }
        UFS_PATHS(OFF)
#undef OFF
        if (!known) Rf_error("internal error: no fast path is called '%s'", name);
    }
    return paths;
}

/* Of who watches over long runs (watch_over() in R), where somebody waits. */
ufs_hook ffi_watch(void)
{
    SEXP watch = Rf_GetOption1(Rf_install("ufselect.watch"));
    if (!Rf_isFunction(watch)) return (ufs_hook){.call = NULL};
    return (ufs_hook){.call = call_progress, .data = watch, .watch = true};
}

ufs_run ffi_run_begin(SEXP control, const char *name)
{
    SEXP progress = ffi_get(control, "progress"), most = ffi_get(control, "max_iter"),
         tol = ffi_get(control, "tol");
    ufs_run run = {.status = UFS_CONVERGED, .paths = ffi_paths()};

    if (most != R_NilValue) run.max_iter = ffi_whole(most, 0, INT_MAX, "max_iter");
    if (tol != R_NilValue) run.tol = ffi_number(tol, "tol");
    run.hook = ffi_watch();
    if (Rf_isFunction(progress)) run.hook = (ufs_hook){.call = call_progress, .data = progress};
    run.hook.verbose = ffi_flag(control, "verbose");
    run.hook.name = name;
    return run;
}

void ffi_run_end(SEXP out, const ufs_run *run, const char *names, const double *value, size_t count)
{
    SEXP list = PROTECT(ffi_list("status iterations lapack trace counters"));
    SEXP counters = ffi_set(list, "counters", named(REALSXP, names));

    if ((size_t) Rf_xlength(counters) != count) Rf_error("internal error: counters '%s'", names);
    ufs_copy(REAL(counters), value, count);
    ffi_set(list, "status", Rf_ScalarInteger((int) run->status));
    ffi_set(list, "iterations", Rf_ScalarInteger(run->iterations));
    ffi_set(list, "lapack", Rf_ScalarInteger(run->lapack));
    if (run->trace.n_col) ffi_set_trace(list, "trace", &run->trace);
    ffi_set(out, "run", list);
    UNPROTECT(1);
}

ufs_quota ffi_quota(SEXP list, int p)
{
    ufs_quota out = {0};

    if (list == R_NilValue) return out;
    SEXP least = ffi_get(list, "least");
    out.n = Rf_length(least);
    const int *level = ffi_ints(ffi_get(list, "level"), (size_t) p, 0, out.n, "level");
    int *from = ufs_ialloc((size_t) p);

    for (int j = 0; j < p; j++) from[j] = level[j] - 1;
    out.level = from;
    out.least = ffi_ints(least, (size_t) out.n, 0, p, "least");
    out.most = ffi_ints(ffi_get(list, "most"), (size_t) out.n, 0, p, "most");
    return out;
}

void ffi_edges(SEXP list, int n, const int **start, const int **index, const double **value)
{
    SEXP rows = ffi_get(list, "index");
    int size;

    if (TYPEOF(rows) != INTSXP || Rf_xlength(rows) > INT_MAX)
        Rf_error("internal error: sparse matrix");
    size = (int) Rf_xlength(rows);
    *start = ffi_ints(ffi_get(list, "start"), (size_t) n + 1, 0, size, "start");
    *index = ffi_ints(rows, (size_t) size, 0, n - 1, "index");
    *value = ffi_given(ffi_get(list, "value"), (size_t) size, "value");
    if ((*start)[0] != 0 || (*start)[n] != size) Rf_error("internal error: sparse matrix");
    for (int j = 0; j < n; j++)
        if ((*start)[j] > (*start)[j + 1]) Rf_error("internal error: sparse matrix");
}
