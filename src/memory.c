/* What every solver calls most is compiled once, here and in la_blas.c: inline in a header, its
 * code and its debug information would stand at each of a thousand calls. */
#include "ufs.h"

double *ufs_dalloc(size_t n, size_t m)
{
    size_t len = n * m;
    return (double *) R_alloc(len ? len : 1, sizeof(double));
}

double *ufs_dzero(size_t n, size_t m)
{
    double *x = ufs_dalloc(n, m);
    if (n * m > 0) memset(x, 0, n * m * sizeof(double));
    return x;
}

void ufs_dalloc_each(size_t n, size_t m, double **const *to)
{
    for (; *to != NULL; to++) **to = ufs_dalloc(n, m);
}

int *ufs_ialloc(size_t n)
{
    int *x = (int *) R_alloc(n ? n : 1, sizeof(int));
    return memset(x, 0, n * sizeof(int));
}

void ufs_ialloc_each(size_t n, int **const *to)
{
    for (; *to != NULL; to++) **to = ufs_ialloc(n);
}

void ufs_copy(double *to, const double *from, size_t len)
{
    if (len) memcpy(to, from, len * sizeof(double));
}
