/* x_equal.c: columns, or rows, that are equal as the solvers see them: hash, sort, compare. */
#include "x_ops.h"
#include <R_ext/Memory.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
    uint64_t hash;
    int item;
} hashed;

static uint64_t row_weight(uint64_t row);
static uint64_t mix(uint64_t h);
static uint64_t hash_value(double v);
static uint64_t hash_dense(int n, const uint64_t *weight, const double *x);
static uint64_t hash_sparse(const ufs_x *x, int j, const uint64_t *weight, uint64_t total);
static int by_hash(const void *a, const void *b);
static void hash_rows(const ufs_x *x, hashed *key);
static bool equal(int len, size_t step, const double *a, const double *b);

void ufs_x_equal(const ufs_x *x, bool rows, int *first)
{
    int n = x->n, count = rows ? n : x->p;
    size_t N = (size_t) n;
    void *mark = vmaxget();
    hashed *key = (hashed *) R_alloc((size_t) count, sizeof(hashed));
    uint64_t *weight = (uint64_t *) R_alloc(N, sizeof(uint64_t)), total = 0;
    double *mine = ufs_dalloc(N, 1), *other = ufs_dalloc(N, 1);

    for (int i = 0; i < n; i++) total += weight[i] = row_weight((uint64_t) i);
    for (int j = 0; j < count; j++) {
        first[j] = j;
        key[j] = (hashed){.item = j};
        if (rows) continue;
        key[j].hash = x->kind == UFS_X_SPARSE ? hash_sparse(x, j, weight, total)
                                              : hash_dense(n, weight, ufs_x_column(x, j, mine));
    }
    if (rows) hash_rows(x, key);
    qsort(key, (size_t) count, sizeof(hashed), by_hash);
    for (int a = 0; a < count; a++) {
        int j = key[a].item;
        if (first[j] != j) continue;
        for (int b = a + 1; b < count && key[b].hash == key[a].hash; b++) {
            int k = key[b].item;
            bool same = rows ? equal(x->p, N, x->dense + j, x->dense + k)
                             : equal(n, 1, ufs_x_column(x, j, mine), ufs_x_column(x, k, other));
            if (same && first[k] == k) first[k] = j;
        }
    }
    vmaxset(mark);
}

/* Of a dense X, in the order of the memory. */
static void hash_rows(const ufs_x *x, hashed *key)
{
    for (int j = 0; j < x->p; j++) {
        const double *column = x->dense + (size_t) j * (size_t) x->n;
        uint64_t weight = row_weight((uint64_t) j);
        for (int i = 0; i < x->n; i++) key[i].hash += weight * hash_value(column[i]);
    }
}

void ufs_x_hash_block(int n, int p, double first_row, const double *x, double *out)
{
    size_t N = (size_t) n, P = (size_t) p;
    void *mark = vmaxget();
    uint64_t *weight = (uint64_t *) R_alloc(N, sizeof(uint64_t));

    for (size_t i = 0; i < N; i++) weight[i] = row_weight((uint64_t) first_row + i);
    for (size_t j = 0; j < P; j++) {
        uint64_t hash = hash_dense(n, weight, x + j * N);
        out[j] = (double) (hash >> 32);
        out[j + P] = (double) (hash & 0xFFFFFFFFULL);
    }
    vmaxset(mark);
}

/* Odd, so that no value of a row is lost modulo 2^64. */
static uint64_t row_weight(uint64_t row)
{
    return mix(row + 1) | 1;
}

static uint64_t mix(uint64_t h)
{
    h += 0x9E3779B97F4A7C15ULL;
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9ULL;
    h = (h ^ (h >> 27)) * 0x94D049BB133111EBULL;
    return h ^ (h >> 31);
}

static uint64_t hash_value(double v)
{
    uint64_t bits;
    if (v == 0.0) v = 0.0;
    memcpy(&bits, &v, sizeof bits);
    return mix(bits);
}

/* sum_i weight_i h(x_i), modulo 2^64: the zeros of a sparse column cost nothing. */
static uint64_t hash_dense(int n, const uint64_t *weight, const double *x)
{
    uint64_t sum = 0;
    for (int i = 0; i < n; i++) sum += weight[i] * hash_value(x[i]);
    return sum;
}

static uint64_t hash_sparse(const ufs_x *x, int j, const uint64_t *weight, uint64_t total)
{
    int u = ufs_x_user(x, j);
    double m = ufs_x_shift(x, j), s = ufs_x_divide(x, j);
    uint64_t sum = 0, zeros = total;
    for (int e = x->start[u]; e < x->start[u + 1]; e++) {
        sum += weight[x->row[e]] * hash_value((x->value[e] - m) / s);
        zeros -= weight[x->row[e]];
    }
    return sum + zeros * hash_value((0.0 - m) / s);
}

static int by_hash(const void *a, const void *b)
{
    const hashed *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return x->item < y->item ? -1 : (x->item > y->item);
}

static bool equal(int len, size_t step, const double *a, const double *b)
{
    for (size_t i = 0; i < (size_t) len; i++)
        if (a[i * step] != b[i * step]) return false;
    return true;
}
