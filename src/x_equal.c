/* x_equal.c: columns that are equal as the solvers see them: hash, sort, compare. */
#include "x_ops.h"
#include <R_ext/Memory.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
    uint64_t hash;
    int column;
} hashed;

enum { AT_ONCE = 64 };

static uint64_t hash_of(int n, const double *x);
static int by_hash(const void *a, const void *b);
static bool equal(int n, const double *a, const double *b);

void ufs_x_equal_columns(const ufs_x *x, int *first)
{
    int n = x->n, p = x->p, index[AT_ONCE];
    size_t N = (size_t) n;
    void *mark = vmaxget();
    hashed *key = (hashed *) R_alloc((size_t) p, sizeof(hashed));
    double *block = ufs_dalloc(N, AT_ONCE), *other = ufs_dalloc(N, 1);

    for (int j0 = 0; j0 < p; j0 += AT_ONCE) {
        int m = p - j0 < AT_ONCE ? p - j0 : AT_ONCE;
        for (int k = 0; k < m; k++) index[k] = j0 + k;
        ufs_x_columns(x, m, index, block);
        for (int k = 0; k < m; k++) {
            key[j0 + k].hash = hash_of(n, block + (size_t) k * N);
            key[j0 + k].column = j0 + k;
            first[j0 + k] = j0 + k;
        }
    }
    qsort(key, (size_t) p, sizeof(hashed), by_hash);
    for (int a = 0; a < p; a++) {
        int j = key[a].column;
        const double *mine = NULL;
        if (first[j] != j) continue;
        for (int b = a + 1; b < p && key[b].hash == key[a].hash; b++) {
            int k = key[b].column;
            if (first[k] != k) continue;
            if (mine == NULL) mine = ufs_x_column(x, j, block);
            if (equal(n, mine, ufs_x_column(x, k, other))) first[k] = j;
        }
    }
    vmaxset(mark);
}

static uint64_t hash_of(int n, const double *x)
{
    uint64_t h = 1469598103934665603ULL;
    for (int i = 0; i < n; i++) {
        double v = x[i] == 0.0 ? 0.0 : x[i];
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        h = (h ^ bits) * 1099511628211ULL;
        h ^= h >> 29;
    }
    return h;
}

static int by_hash(const void *a, const void *b)
{
    const hashed *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return x->column < y->column ? -1 : (x->column > y->column);
}

static bool equal(int n, const double *a, const double *b)
{
    for (int i = 0; i < n; i++)
        if (a[i] != b[i]) return false;
    return true;
}
