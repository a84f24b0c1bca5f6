#include "ufs.h"

enum { TRACE_START = 1024 };

void ufs_trace_init(ufs_trace *trace, int most, int n_col)
{
    int capacity = most < TRACE_START ? most : TRACE_START;
    *trace = (ufs_trace){.most = most, .capacity = capacity, .n_col = n_col};
    trace->value = ufs_dalloc((size_t) trace->capacity, (size_t) n_col);
}

void ufs_trace_named(ufs_trace *trace, int most, const char *const *names)
{
    int n_col = 0;
    while (names[n_col] != NULL) n_col++;
    ufs_trace_init(trace, most, n_col);
    trace->names = names;
}

void ufs_trace_add(ufs_trace *trace, const double *row)
{
    if (trace->length >= trace->most) return;
    ufs_trace_reserve(trace, 1);
    for (int j = 0; j < trace->n_col; j++)
        trace->value[(size_t) j * (size_t) trace->capacity + (size_t) trace->length] = row[j];
    trace->length++;
}

/* Doubling: a run of k rows costs at most twice their memory, whatever `most`. */
void ufs_trace_reserve(ufs_trace *trace, int rows)
{
    int wanted = trace->most - trace->length < rows ? trace->most : trace->length + rows;
    int capacity = trace->most / 2 < wanted ? trace->most : 2 * wanted;
    double *value;

    if (wanted <= trace->capacity) return;
    value = ufs_dalloc((size_t) capacity, (size_t) trace->n_col);
    for (int j = 0; j < trace->n_col; j++)
        ufs_copy(value + (size_t) j * (size_t) capacity,
                 trace->value + (size_t) j * (size_t) trace->capacity, (size_t) trace->length);
    trace->value = value;
    trace->capacity = capacity;
}
