/* graph_knn.c: k nearest neighbours by BLAS-3 (graph.h).
 *
 * Search: squared distances of a pair of row blocks I <= J come from one dgemm of
 * the centred rows, d2_ij = K_ii + K_jj - 2 K_ij, each pair once (n^2 p flops). Such
 * a distance is off by at most delta (K_ii + K_jj), delta = 2 (p + 8) eps, which can
 * reorder near ties and differs between BLAS libraries. So every row keeps, in a heap,
 * the k + SLACK smallest *lower bounds* d2_ij - delta (K_ii + K_jj); their exact
 * distances sum (x_il - x_jl)^2 are formed directly, and if the k-th of them lies below
 * the lower bound of everything dropped, the row is proved complete. Rows that are
 * not (many ties, or far-away clusters where cancellation is severe) get exact distances to
 * all others; of a sparse X only to those whose lower bound, found again, could matter. */
#include "graph.h"
#include <stdlib.h>

/* Entries kept beyond k. */
enum { SLACK = 8 };

typedef struct {
    double key;
    int index;
} entry;

/* What one search needs. */
typedef struct {
    const ufs_x *x;
    int n, p, k, size;       /* size: entries kept per row */
    const double *mean;      /* p: taken off on the way into the products; not of a sparse X */
    const double *row;       /* p x n: contiguous copies of the samples; not of a sparse X */
    const double *product;   /* n x n, in the place of X: the inner products of its rows */
    const sparse_rows *rows; /* instead of the two */
    const double *norm2;     /* K_ii */
    double delta;
    entry *heap; /* size x n, max-heaps on key; entries that are not taken yet are infinitely far */
    double *far; /* key of a row's worst entry */
    const ufs_hook *hook;
} search;

/* ---- pairs of rows ------------------------------------------------------------------------ */

/* Replaces the worst entry of the heap of row i; key < far[i]. */
static void offer(search *s, int i, double key, int index)
{
    entry *heap = s->heap + (size_t) i * (size_t) s->size;
    int at = 0;
    for (int child = 1; child < s->size; child = 2 * at + 1) {
        if (child + 1 < s->size && heap[child + 1].key > heap[child].key) child++;
        if (heap[child].key <= key) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = (entry){key, index};
    s->far[i] = heap[0].key;
}

/* Offers the lower bound of a pair, from its product, to both heaps. Returns the distance. */
static inline double offer_pair(search *s, int i, int j, double product)
{
    double both = s->norm2[i] + s->norm2[j], d2 = both - 2.0 * product;
    double lower = d2 - s->delta * both;
    if (lower < s->far[i]) offer(s, i, lower, j);
    if (lower < s->far[j]) offer(s, j, lower, i);
    return d2 > 0.0 ? sqrt(d2) : 0.0;
}

/* Reports which share of the pairs is done. */
static void tell(const search *s, double share)
{
    ufs_hook_step(s->hook, (int) (100.0 * share), 0.0, 0.0);
}

static double exact_d2(const search *s, int i, int j)
{
    if (s->rows) return sparse_rows_d2(s->rows, i, j);
    if (s->product) {
        double both = s->norm2[i] + s->norm2[j];
        double d2 = both - 2.0 * s->product[(size_t) i + (size_t) j * (size_t) s->n];
        /* Equal rows leave rounding. */
        return d2 > s->delta * both ? d2 : 0.0;
    }
    const double *a = s->row + (size_t) i * (size_t) s->p;
    const double *b = s->row + (size_t) j * (size_t) s->p;
    /* Two sums in a fixed order, symmetric in i and j. */
    double even = 0.0, odd = 0.0;
    int l = 0;
    for (; l + 1 < s->p; l += 2) {
        double d = a[l] - b[l], e = a[l + 1] - b[l + 1];
        even += d * d;
        odd += e * e;
    }
    if (l < s->p) even += (a[l] - b[l]) * (a[l] - b[l]);
    return even + odd;
}

/* Lower bounds of each pair of rows, offered to both. Returns the sum of the distances: those of products
 * where rounding leaves 6 digits of it, which it does not where a column is far from 0, for
 * sparse rows are not centred. */
static double scan_sparse(search *s)
{
    sparse_tile tile = sparse_tile_of(s->rows);
    double *inner = ufs_dalloc(SPARSE_TILE, (size_t) s->n), total = 0.0, blur = 0.0;
    int list[SPARSE_TILE];

    for (int i0 = 0; i0 < s->n; i0 += SPARSE_TILE) {
        int ni = s->n - i0 < SPARSE_TILE ? s->n - i0 : SPARSE_TILE;
        tell(s, (double) i0 / s->n * i0 / s->n);
        for (int b = 0; b < ni; b++) list[b] = i0 + b;
        sparse_tile_inner(s->rows, &tile, ni, list, true, inner);
        for (int b = 0; b < ni; b++)
            for (int i = i0 + b, j = 0; j < i; j++) {
                double d = offer_pair(s, i, j, inner[(size_t) b + (size_t) j * SPARSE_TILE]);
                double e = s->delta * (s->norm2[i] + s->norm2[j]);
                total += d;
                blur += e < d * d ? e / d : sqrt(e);
            }
    }
    if (blur <= 1e-6 * total) return total;
    total = 0.0; /* from differences */
    for (int i = 0; i < s->n; i++) {
        if (i % UFS_STRIP == 0) R_CheckUserInterrupt();
        for (int j = 0; j < i; j++) total += sqrt(exact_d2(s, i, j));
    }
    return total;
}

static double scan_products(search *s)
{
    double total = 0.0;

    for (int j = 0; j < s->n; j++) {
        const double *col = s->product + (size_t) j * (size_t) s->n;
        if (j % UFS_STRIP == 0) R_CheckUserInterrupt();
        for (int i = 0; i < j; i++) total += offer_pair(s, i, j, col[i]);
    }
    return total;
}

/* out (ni x deep): rows i0.. of the centred columns l0.. */
static void centred_block(const search *s, int i0, int ni, int l0, int deep, double *out)
{
    for (int l = l0; l < l0 + deep; l++) {
        const double *from = s->x->dense + i0 + (size_t) ufs_x_user(s->x, l) * (size_t) s->n;
        double shift = ufs_x_shift(s->x, l), divide = ufs_x_divide(s->x, l), mean = s->mean[l];
        for (int i = 0; i < ni; i++) *out++ = (from[i] - shift) / divide - mean;
    }
}

/* The same by pairs of blocks, UFS_STRIP columns at a time, so that no centred copy of x is needed. */
static double scan_dense(search *s)
{
    int n = s->n;
    double *left = ufs_dalloc(UFS_STRIP, UFS_STRIP), *other = ufs_dalloc(UFS_STRIP, UFS_STRIP),
           total = 0.0;
    double *cross = ufs_dalloc(UFS_STRIP, UFS_STRIP);

    for (int i0 = 0; i0 < n; i0 += UFS_STRIP)
        for (int j0 = i0; j0 < n; j0 += UFS_STRIP) {
            int ni = n - i0 < UFS_STRIP ? n - i0 : UFS_STRIP,
                nj = n - j0 < UFS_STRIP ? n - j0 : UFS_STRIP;
            double *right = j0 == i0 ? left : other, open = 1.0 - (double) i0 / n;
            tell(s, 1.0 - open * open);
            for (int l0 = 0; l0 < s->p; l0 += UFS_STRIP) {
                int deep = s->p - l0 < UFS_STRIP ? s->p - l0 : UFS_STRIP;
                centred_block(s, i0, ni, l0, deep, left);
                if (j0 != i0) centred_block(s, j0, nj, l0, deep, right);
                la_gemm('N', 'T', ni, nj, deep, 1.0, left, ni, right, nj, l0 > 0 ? 1.0 : 0.0, cross,
                        UFS_STRIP);
            }
            for (int b = 0; b < nj; b++) {
                const double *col = cross + (size_t) b * UFS_STRIP;
                for (int a = 0; a < (j0 == i0 ? b : ni); a++)
                    total += offer_pair(s, i0 + a, j0 + b, col[a]);
            }
        }
    return total;
}

static int by_key_then_index(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* The k nearest of the candidates: all that are clearly nearer than the k-th, then
 * of those tied with it the lowest indices. */
static void choose(const search *s, int i, int k, entry *candidate, int count, int *index,
                   double *d2)
{
    int taken;

    qsort(candidate, (size_t) count, sizeof(entry), by_key_then_index);
    double cut = candidate[k - 1].key;
    int first = k - 1, end = k;
    while (first > 0 && candidate[first - 1].key >= cut * (1.0 - UFS_TIE)) first--;
    while (end < count && candidate[end].key <= cut * (1.0 + UFS_TIE)) end++;
    for (taken = 0; taken < first; taken++) {
        index[taken] = candidate[taken].index;
        d2[taken] = candidate[taken].key;
    }
    for (int m = first; m < end; m++) candidate[m].key = cut;
    qsort(candidate + first, (size_t) (end - first), sizeof(entry), by_key_then_index);
    for (int m = first; taken < k; m++, taken++) {
        index[taken] = candidate[m].index;
        d2[taken] = exact_d2(s, i, candidate[m].index);
    }
}

/* Fills row i of out from its heap. False, with an upper bound of the k-th distance
 * in reach, if something dropped from the heap could still belong to it. */
static bool finish_row(const search *s, int i, entry *work, graph_knn *out, double *reach)
{
    const entry *heap = s->heap + (size_t) i * (size_t) s->size;
    for (int m = 0; m < s->size; m++) {
        work[m].index = heap[m].index;
        work[m].key = exact_d2(s, i, heap[m].index);
    }
    choose(s, i, s->k, work, s->size, out->index + (size_t) i * (size_t) s->k,
           out->d2 + (size_t) i * (size_t) s->k);
    if (s->size == s->n - 1) return true;
    *reach = out->d2[(size_t) i * (size_t) s->k + (size_t) s->k - 1] * (1.0 + 3.0 * UFS_TIE);
    return *reach < heap[0].key;
}

/* ---- rows that are equal ----------------------------------------------------------------------
 * Where many are, few rows are proved: copies tie. A copy has the neighbours of its first one, but
 * for the two in each other's place, so one search serves all of them. */

/* The numbers of row i, and how many; of a sparse X with their columns in col. */
static const double *row_numbers(const search *s, int i, int *count, const int **col)
{
    if (s->rows) {
        int from = s->rows->start[i];
        *count = s->rows->start[i + 1] - from;
        *col = s->rows->col + from;
        return s->rows->value + from;
    }
    *count = s->p;
    *col = NULL;
    return s->row + (size_t) i * (size_t) s->p;
}

static bool same_row(const search *s, int i, int j)
{
    int ni, nj;
    const int *ci, *cj;
    const double *a = row_numbers(s, i, &ni, &ci), *b = row_numbers(s, j, &nj, &cj);

    if (ni != nj || s->norm2[i] != s->norm2[j]) return false;
    if (ci && memcmp(ci, cj, (size_t) ni * sizeof(int)) != 0) return false;
    return memcmp(a, b, (size_t) ni * sizeof(double)) == 0;
}

/* next[a]: the place of the next copy of the row at place a, -1 if there is none. Returns how many
 * rows are no copy of one before; their places in lead. No dearer than the distances of these rows to
 * all. */
static int group_copies(const search *s, int count, const int *row, int *lead, int *next)
{
    int *last = ufs_ialloc((size_t) count), n_lead = 0;

    for (int a = 0; a < count; a++) {
        int m = 0;
        while (m < n_lead && !same_row(s, row[lead[m]], row[a])) m++;
        if (m < n_lead)
            next[last[m]] = a;
        else
            lead[n_lead++] = a;
        last[m] = a;
        next[a] = -1;
    }
    return n_lead;
}

/* Exact distances of the rows hard[] to all that may be as near as their reach. Each counts among
 * its own candidates, and its k + 1 nearest without a copy are the k nearest of that copy. */
static void retry_rows(const search *s, int count, const int *hard, const double *reach,
                       graph_knn *out)
{
    int n = s->n, k = s->k, *lead = ufs_ialloc((size_t) count), *next = ufs_ialloc((size_t) count);
    int n_lead = group_copies(s, count, hard, lead, next);
    int *index = ufs_ialloc((size_t) k + 1), list[SPARSE_TILE];
    double *cross = ufs_dalloc(s->rows ? (size_t) n : 0, SPARSE_TILE);
    double *d2 = ufs_dalloc((size_t) k + 1, 1);
    entry *candidate = (entry *) R_alloc((size_t) n, sizeof(entry));
    sparse_tile tile = {0};

    if (s->rows) tile = sparse_tile_of(s->rows);
    for (int b = 0; b < n_lead; b++) {
        int a = lead[b], i = hard[a], found = 0;
        int left = n_lead - b < SPARSE_TILE ? n_lead - b : SPARSE_TILE;
        const double *product = cross + b % SPARSE_TILE;
        R_CheckUserInterrupt();
        if (s->rows && b % SPARSE_TILE == 0) {
            for (int t = 0; t < left; t++) list[t] = hard[lead[b + t]];
            sparse_tile_inner(s->rows, &tile, left, list, false, cross);
        }
        for (int j = 0; j < n; j++) {
            double both = s->norm2[i] + s->norm2[j], lower = 0.0;
            if (s->rows) lower = both - 2.0 * product[j * SPARSE_TILE] - s->delta * both;
            if (j != i && lower > reach[a]) continue;
            candidate[found].index = j;
            candidate[found].key = exact_d2(s, i, j);
            found += candidate[found].key <= reach[a];
        }
        choose(s, i, k + 1, candidate, found, index, d2);
        for (int at = a; at >= 0; at = next[at]) {
            size_t to = (size_t) hard[at] * (size_t) k;
            for (int m = 0, taken = 0; taken < k; m++) {
                if (index[m] == hard[at]) continue;
                out->index[to + (size_t) taken] = index[m];
                out->d2[to + (size_t) taken++] = d2[m];
            }
        }
    }
}

/* ---- the search --------------------------------------------------------------------------- */

/* Where squared distances cannot be held nobody is near: any neighbours, infinitely far. */
static bool beyond_numbers(int n, const double *norm2, graph_knn *out)
{
    double total = 0.0;

    for (int i = 0; i < n; i++) total += norm2[i];
    if (R_FINITE(4.0 * total)) return false;
    for (int i = 0; i < n; i++)
        for (int e = 0; e < out->k; e++) {
            size_t at = (size_t) e + (size_t) i * (size_t) out->k;
            out->index[at] = (i + 1 + e) % n;
            out->d2[at] = R_PosInf;
        }
    out->mean_distance = R_PosInf;
    return true;
}

static void knn_search(const ufs_x *x, bool products, int k, const ufs_hook *hook, graph_knn *out)
{
    int n = x->n, p = x->p, longest = p, n_hard = 0;
    size_t N = (size_t) n, K = (size_t) k;
    search s = {.x = x, .n = n, .p = p, .k = k, .hook = hook};
    sparse_rows rows;

    *out = (graph_knn){.n = n, .k = k, .index = ufs_ialloc(N * K), .d2 = ufs_dalloc(N, K)};

    void *mark = vmaxget();
    double *norm2 = ufs_dzero(N, 1), *reach = ufs_dalloc(N, 1);
    int *hard = ufs_ialloc(N);
    s.size = k + SLACK < n - 1 ? k + SLACK : n - 1;
    s.heap = (entry *) R_alloc(N * (size_t) s.size, sizeof(entry));
    for (size_t e = 0; e < N * (size_t) s.size; e++) s.heap[e].key = R_PosInf;
    s.far = ufs_dalloc(N, 1);
    for (size_t i = 0; i < N; i++) s.far[i] = R_PosInf;
    s.norm2 = norm2;
    if (x->kind == UFS_X_SPARSE) {
        rows = sparse_rows_of(x);
        s.rows = &rows;
        longest = sparse_rows_norms(&rows, norm2);
    } else if (products) {
        for (int i = 0; i < n; i++) norm2[i] = x->dense[(size_t) i * (N + 1)];
        s.product = s.row = x->dense;
    } else {
        double *mean = ufs_dzero((size_t) p, 1), *row = ufs_dalloc((size_t) p, N);
        double *scratch = ufs_dalloc(N, 1);
        for (int j = 0; j < p; j++) {
            const double *from = ufs_x_column(x, j, scratch);
            for (int i = 0; i < n; i++) mean[j] += from[i] / n;
            for (int i = 0; i < n; i++) norm2[i] += (from[i] - mean[j]) * (from[i] - mean[j]);
        }
        ufs_x_by_rows(x, NULL, row);
        s.mean = mean;
        s.row = row;
    }
    s.delta = 2.0 * ((double) longest + 8.0) * DBL_EPSILON;
    if (!beyond_numbers(n, norm2, out)) {
        entry *work = (entry *) R_alloc((size_t) s.size, sizeof(entry));
        double total = s.rows ? scan_sparse(&s) : s.product ? scan_products(&s) : scan_dense(&s);
        out->mean_distance = 2.0 * total / ((double) n * (double) n);
        /* Exact distances of what the heaps hold, and once more for the rows they do not prove. */
        for (int i = 0; i < n; i++) {
            if (i % UFS_STRIP == 0) R_CheckUserInterrupt();
            if (!finish_row(&s, i, work, out, reach + n_hard)) hard[n_hard++] = i;
        }
        if (n_hard > 0) retry_rows(&s, n_hard, hard, reach, out);
    }
    vmaxset(mark);
}

void graph_knn_search(const ufs_x *x, int k, const ufs_hook *hook, graph_knn *out)
{
    knn_search(x, false, k, hook, out);
}

void graph_knn_products(int n, const double *gram, int k, const ufs_hook *hook, graph_knn *out)
{
    ufs_x x = ufs_x_dense(n, n, gram);
    knn_search(&x, true, k, hook, out);
}
