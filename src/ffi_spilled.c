/* ffi_spilled.c: numbers from anywhere in a file. R's own seek() is not to be relied on under
 * Windows, and fseek() takes 32 bits there and on 32-bit systems. */
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#include "ffi_util.h"
#include <stdio.h>
#ifndef _WIN32
#include <sys/types.h>
#endif

static int go_to(FILE *file, double offset)
{
#ifdef _WIN32
    return _fseeki64(file, (int64_t) offset * 8, SEEK_SET);
#else
    return fseeko(file, (off_t) offset * 8, SEEK_SET);
#endif
}

/* count[i] doubles from place[i] (0-based, in doubles) on, for every i, one run after the other;
 * NULL if the file has not got them. */
SEXP ffi_file_numbers(SEXP path, SEXP offset, SEXP count)
{
    if (!Rf_isString(path) || Rf_xlength(path) != 1)
        Rf_error("internal error: 'path' is not one string");
    R_xlen_t runs = Rf_xlength(offset);
    const double *from = ffi_data(offset, (size_t) runs, "offset");
    const double *size = ffi_data(count, (size_t) runs, "count");
    double total = 0;
    for (R_xlen_t i = 0; i < runs; i++) {
        if (!(from[i] >= 0 && from[i] < 1e15 && size[i] >= 0 && size[i] < 1e15))
            Rf_error("internal error: 'offset' or 'count' is out of range");
        total += size[i];
    }
    if (total > (double) R_XLEN_T_MAX) Rf_error("internal error: 'count' is out of range");
    SEXP out = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t) total));
    double *to = REAL(out);
    /* Nothing that could leave by an error between opening and closing. */
    FILE *file = fopen(Rf_translateChar(STRING_ELT(path, 0)), "rb");
    bool fine = file != NULL;
    for (R_xlen_t i = 0; fine && i < runs; i++) {
        size_t wanted = (size_t) size[i];
        fine = go_to(file, from[i]) == 0 && fread(to, sizeof(double), wanted, file) == wanted;
        to += wanted;
    }
    if (file != NULL) fclose(file);
    UNPROTECT(1);
    return fine ? out : R_NilValue;
}
