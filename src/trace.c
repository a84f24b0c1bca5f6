#include "ufs.h"

void ufs_trace_init(ufs_trace *trace, int capacity, int n_col)
{
    trace->capacity = capacity;
    trace->length = 0;
    trace->n_col = n_col;
    trace->value = ufs_dalloc((size_t) capacity, (size_t) n_col);
}

void ufs_trace_add(ufs_trace *trace, const double *row)
{
    if (trace->length >= trace->capacity) return;
    for (int j = 0; j < trace->n_col; j++)
        trace->value[(size_t) j * (size_t) trace->capacity +
                     (size_t) trace->length] = row[j];
    trace->length++;
}
