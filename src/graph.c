/* graph.c: k nearest neighbours by BLAS-3, and the sparse weight matrix (graph.h).
 *
 * Search: squared distances of a pair of row blocks I <= J come from one dgemm of
 * the centred rows, d2_ij = K_ii + K_jj - 2 K_ij, each pair once (n^2 p flops). Such
 * a distance is off by at most delta (K_ii + K_jj), delta = 2 (p + 8) eps, which can
 * reorder near ties and differs between BLAS libraries. So every row keeps, in a heap,
 * the k + SLACK smallest *lower bounds* d2_ij - delta (K_ii + K_jj); their exact
 * distances sum (x_il - x_jl)^2 are formed directly, and if the k-th of them lies below
 * the lower bound of everything dropped, the row is proved complete. Rows that are
 * not (many ties, or far-away clusters where cancellation is severe) get all their
 * lower bounds again and exact distances for everything that could matter.
 *
 * With few columns the samples are put in the order of a k-d tree first: two leaves whose boxes lie
 * further apart than the worst entry that either holds need no products. */
#include "graph.h"
#include "la.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>
#include <stdlib.h>
#include <limits.h>

enum { BLOCK = 192, DEEP = 256, SLACK = 8, RETRY_BLOCK = 32 };
enum { FEW_COLUMNS = 12, LEAF = 64, LEAST_LEAVES = 16 };
static const double TIE = 1e-10;

typedef struct {
    double key;
    int index;
} entry;

/* A sparse X by rows, its entries divided; centring left out. */
typedef struct {
    const ufs_x *x;
    int *start, *col; /* col: column of X */
    double *value;
    double *mean_dot; /* n, for cosines: sum_l value_l m_l / s_l of the row; NULL: no centring */
    double mean_ss;   /* sum_l (m_l / s_l)^2 */
} sparse_rows;

static sparse_rows sparse_transpose(const ufs_x *x);
static void sparse_inner(const sparse_rows *rows, int i, double *out);
static double sparse_d2(const sparse_rows *rows, int i, int j);
static double sparse_dot(const sparse_rows *rows, int i, int j);

/* What one search needs; rows of `row` are contiguous copies of the samples. */
typedef struct {
    int n, p, k, size;         /* size: entries kept per row */
    const double *x;           /* n x p */
    const double *mean;        /* p: taken off on the way into the products */
    const double *row;         /* p x n */
    const sparse_rows *sparse; /* instead of the two */
    const double *norm2;       /* K_ii */
    double delta;
    entry *heap; /* size x n, max-heaps on key */
    int *filled;
    double *far; /* key of a row's worst entry, infinite until it has all */
} search;

static void centred_norms(int n, int p, const double *x, double *mean, double *norm2);
static void centred_block(const search *s, int i0, int ni, int l0, int deep, double *out);
static void centred_products(const search *s, int i0, int ni, int j0, int nj, double *piece,
                             double *cross);
static double scan_all(search *s, double *piece, double *cross, bool want_mean);
static void scan_near(search *s, double *piece, double *cross);
static void leaf_order(const search *s, int from, int to, int *place, double *key);
static double scan_pair(search *s, int i0, int ni, int j0, int nj, double *piece, double *cross,
                        bool want_mean);
static void offer(search *s, int i, double key, int index);
static void sift_down(entry *heap, int size, int at);
static double exact_d2(const search *s, int i, int j);
static bool finish_row(const search *s, int i, entry *work, graph_knn *out, double *reach);
static void choose(const search *s, int i, entry *candidate, int count, graph_knn *out);
static void finish_search(search *s, graph_knn *out);
static void retry_rows(const search *s, int count, const int *hard, const double *reach,
                       graph_knn *out);
static int by_key_then_index(const void *a, const void *b);

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

void graph_knn_search(int n, int p, const double *x, int k, bool want_mean, graph_knn *out)
{
    size_t N = (size_t) n, P = (size_t) p, K = (size_t) k;
    search s = {.n = n, .p = p, .k = k};
    double total = 0.0;

    out->n = n;
    out->k = k;
    out->index = ufs_ialloc(N * K);
    out->d2 = ufs_dalloc(N, K);

    void *mark = vmaxget();
    double *mean = ufs_dalloc(P, 1), *row = ufs_dalloc(P, N), *norm2 = ufs_dzero(N, 1);
    double *cross = ufs_dalloc(BLOCK, BLOCK), *piece = ufs_dalloc(2 * BLOCK, DEEP);
    s.size = k + SLACK < n - 1 ? k + SLACK : n - 1;
    s.delta = 2.0 * ((double) p + 8.0) * DBL_EPSILON;
    s.heap = (entry *) R_alloc(N * (size_t) s.size, sizeof(entry));
    s.filled = ufs_ialloc(N);
    memset(s.filled, 0, N * sizeof(int));
    s.far = ufs_dalloc(N, 1);
    for (size_t i = 0; i < N; i++) s.far[i] = R_PosInf;
    centred_norms(n, p, x, mean, norm2);
    if (beyond_numbers(n, norm2, out)) {
        vmaxset(mark);
        return;
    }
    la_transpose(n, p, x, row);
    s.x = x;
    s.mean = mean;
    s.row = row;
    s.norm2 = norm2;

    if (!want_mean && p <= FEW_COLUMNS && n >= LEAST_LEAVES * LEAF && s.size <= LEAF)
        scan_near(&s, piece, cross);
    else
        total = scan_all(&s, piece, cross, want_mean);
    out->mean_distance = 2.0 * total / ((double) n * (double) n);

    finish_search(&s, out);
    vmaxset(mark);
}

void graph_knn_sparse(const ufs_x *x, int k, bool want_mean, graph_knn *out)
{
    int n = x->n, longest = 0;
    size_t N = (size_t) n, K = (size_t) k;
    search s = {.n = n, .p = x->p, .k = k};
    double total = 0.0;

    out->n = n;
    out->k = k;
    out->index = ufs_ialloc(N * K);
    out->d2 = ufs_dalloc(N, K);

    void *mark = vmaxget();
    double *norm2 = ufs_dzero(N, 1), *inner = ufs_dalloc(N, 1);
    sparse_rows rows = sparse_transpose(x);
    s.size = k + SLACK < n - 1 ? k + SLACK : n - 1;
    s.heap = (entry *) R_alloc(N * (size_t) s.size, sizeof(entry));
    s.filled = ufs_ialloc(N);
    memset(s.filled, 0, N * sizeof(int));
    s.far = ufs_dalloc(N, 1);
    for (size_t i = 0; i < N; i++) s.far[i] = R_PosInf;
    s.norm2 = norm2;
    s.sparse = &rows;
    for (int i = 0; i < n; i++) {
        int length = rows.start[i + 1] - rows.start[i];
        longest = length > longest ? length : longest;
        for (int e = rows.start[i]; e < rows.start[i + 1]; e++)
            norm2[i] += rows.value[e] * rows.value[e];
    }
    s.delta = 2.0 * ((double) longest + 8.0) * DBL_EPSILON;
    if (beyond_numbers(n, norm2, out)) {
        vmaxset(mark);
        return;
    }

    for (int i = 0; i < n; i++) {
        if (i % 16 == 0) R_CheckUserInterrupt();
        sparse_inner(&rows, i, inner);
        for (int j = 0; j < i; j++) {
            double both = norm2[i] + norm2[j], d2 = both - 2.0 * inner[j];
            double lower = d2 - s.delta * both;
            if (lower < s.far[i]) offer(&s, i, lower, j);
            if (lower < s.far[j]) offer(&s, j, lower, i);
            if (want_mean && d2 > 0.0) total += sqrt(d2);
        }
    }
    out->mean_distance = 2.0 * total / ((double) n * (double) n);
    finish_search(&s, out);
    vmaxset(mark);
}

/* Exact distances of what the heaps hold, and once more for the rows they do not prove. */
static void finish_search(search *s, graph_knn *out)
{
    int n = s->n, n_hard = 0, *hard = ufs_ialloc((size_t) n);
    double *reach = ufs_dalloc((size_t) n, 1);
    entry *work = (entry *) R_alloc((size_t) s->size, sizeof(entry));

    for (int i = 0; i < n; i++)
        if (!finish_row(s, i, work, out, reach + n_hard)) hard[n_hard++] = i;
    retry_rows(s, n_hard, hard, reach, out);
}

/* ---- rows of a sparse matrix --------------------------------------------------------- */

static sparse_rows sparse_transpose(const ufs_x *x)
{
    size_t entries = (size_t) ufs_x_entries(x), N = (size_t) x->n;
    sparse_rows rows = {.x = x,
                        .start = ufs_ialloc(N + 1),
                        .col = ufs_ialloc(entries),
                        .value = ufs_dalloc(entries, 1)};
    int *next = ufs_ialloc(N);

    memset(rows.start, 0, (N + 1) * sizeof(int));
    for (int j = 0; j < x->p; j++) {
        int u = x->column ? x->column[j] : j;
        for (int e = x->start[u]; e < x->start[u + 1]; e++) rows.start[x->row[e] + 1]++;
    }
    for (size_t i = 0; i < N; i++) {
        rows.start[i + 1] += rows.start[i];
        next[i] = rows.start[i];
    }
    for (int j = 0; j < x->p; j++) {
        int u = x->column ? x->column[j] : j;
        double s = x->divide ? x->divide[j] : 1.0;
        for (int e = x->start[u]; e < x->start[u + 1]; e++) {
            int at = next[x->row[e]]++;
            rows.col[at] = j;
            rows.value[at] = x->value[e] / s;
        }
    }
    return rows;
}

/* Means for the cosines. */
static void add_means(sparse_rows *rows)
{
    const ufs_x *x = rows->x;
    size_t N = (size_t) x->n;

    if (x->shift == NULL) return;
    rows->mean_dot = ufs_dzero(N, 1);
    rows->mean_ss = 0.0;
    for (int j = 0; j < x->p; j++) {
        double m = x->shift[j] / (x->divide ? x->divide[j] : 1.0);
        rows->mean_ss += m * m;
    }
    for (size_t i = 0; i < N; i++)
        for (int e = rows->start[i]; e < rows->start[i + 1]; e++) {
            int j = rows->col[e];
            rows->mean_dot[i] += rows->value[e] * x->shift[j] / (x->divide ? x->divide[j] : 1.0);
        }
}

/* out_j = r_i'r_j over the divided rows, all j. */
static void sparse_inner(const sparse_rows *rows, int i, double *out)
{
    const ufs_x *x = rows->x;
    memset(out, 0, (size_t) x->n * sizeof(double));
    for (int a = rows->start[i]; a < rows->start[i + 1]; a++) {
        int j = rows->col[a], u = x->column ? x->column[j] : j;
        double v = rows->value[a] / (x->divide ? x->divide[j] : 1.0);
        for (int e = x->start[u]; e < x->start[u + 1]; e++) out[x->row[e]] += v * x->value[e];
    }
}

static double sparse_d2(const sparse_rows *rows, int i, int j)
{
    int a = rows->start[i], b = rows->start[j], a_end = rows->start[i + 1];
    int b_end = rows->start[j + 1];
    double sum = 0.0;
    while (a < a_end || b < b_end) {
        int ca = a < a_end ? rows->col[a] : INT_MAX, cb = b < b_end ? rows->col[b] : INT_MAX;
        double d = 0.0;
        if (ca <= cb) d += rows->value[a++];
        if (cb <= ca) d -= rows->value[b++];
        sum += d * d;
    }
    return sum;
}

/* Of the centred rows. */
static double sparse_dot(const sparse_rows *rows, int i, int j)
{
    int a = rows->start[i], b = rows->start[j];
    double sum = 0.0;
    while (a < rows->start[i + 1] && b < rows->start[j + 1]) {
        if (rows->col[a] == rows->col[b])
            sum += rows->value[a++] * rows->value[b++];
        else if (rows->col[a] < rows->col[b])
            a++;
        else
            b++;
    }
    if (rows->mean_dot == NULL) return sum;
    return sum - rows->mean_dot[i] - rows->mean_dot[j] + rows->mean_ss;
}

static void centred_norms(int n, int p, const double *x, double *mean, double *norm2)
{
    for (int j = 0; j < p; j++) {
        const double *from = x + (size_t) j * (size_t) n;
        double sum = 0.0;
        for (int i = 0; i < n; i++) sum += from[i] / n;
        for (int i = 0; i < n; i++) norm2[i] += (from[i] - sum) * (from[i] - sum);
        mean[j] = sum;
    }
}

/* out (ni x deep): rows i0.. of the centred columns l0.. */
static void centred_block(const search *s, int i0, int ni, int l0, int deep, double *out)
{
    for (int l = 0; l < deep; l++) {
        const double *from = s->x + (size_t) i0 + (size_t) (l0 + l) * (size_t) s->n;
        double *to = out + (size_t) l * (size_t) ni, mean = s->mean[l0 + l];
        for (int i = 0; i < ni; i++) to[i] = from[i] - mean;
    }
}

/* cross (BLOCK x BLOCK): centred rows i0.. times rows j0.., DEEP columns at a time, so that no
 * centred copy of x is needed. piece: 2 BLOCK x DEEP. */
static void centred_products(const search *s, int i0, int ni, int j0, int nj, double *piece,
                             double *cross)
{
    for (int l0 = 0; l0 < s->p; l0 += DEEP) {
        int deep = s->p - l0 < DEEP ? s->p - l0 : DEEP;
        double *left = piece, *right = j0 == i0 ? left : piece + BLOCK * DEEP;
        centred_block(s, i0, ni, l0, deep, left);
        if (j0 != i0) centred_block(s, j0, nj, l0, deep, right);
        la_gemm('N', 'T', ni, nj, deep, 1.0, left, ni, right, nj, l0 > 0 ? 1.0 : 0.0, cross, BLOCK);
    }
}

static double scan_all(search *s, double *piece, double *cross, bool want_mean)
{
    int n = s->n;
    double total = 0.0;
    for (int i0 = 0; i0 < n; i0 += BLOCK) {
        int ni = n - i0 < BLOCK ? n - i0 : BLOCK;
        R_CheckUserInterrupt();
        for (int j0 = i0; j0 < n; j0 += BLOCK)
            total += scan_pair(s, i0, ni, j0, n - j0 < BLOCK ? n - j0 : BLOCK, piece, cross,
                               want_mean);
    }
    return total;
}

/* The same heaps from pairs of leaves only that may matter, near ones in the order first. */
static void scan_near(search *s, double *piece, double *cross)
{
    int n = s->n, p = s->p, leaves = (n + LEAF - 1) / LEAF, *place = ufs_ialloc((size_t) n);
    size_t N = (size_t) n, P = (size_t) p, size = (size_t) s->size;
    double *x = ufs_dalloc(N, P), *norm2 = ufs_dalloc(N, 1),
           *worst = ufs_dalloc((size_t) leaves, 1);
    double *low = ufs_dalloc(P, (size_t) leaves), *high = ufs_dalloc(P, (size_t) leaves);
    entry *heap = (entry *) R_alloc(N * size, sizeof(entry));
    search t = *s;

    for (int i = 0; i < n; i++) place[i] = i;
    leaf_order(s, 0, n, place, norm2);
    for (size_t i = 0; i < N; i++) norm2[i] = s->norm2[place[i]];
    for (size_t l = 0; l < P; l++)
        for (size_t i = 0; i < N; i++) {
            double v = s->x[(size_t) place[i] + l * N];
            size_t at = l + i / LEAF * P;
            low[at] = i % LEAF == 0 ? v : fmin(low[at], v);
            high[at] = i % LEAF == 0 ? v : fmax(high[at], v);
            x[i + l * N] = v;
        }
    for (int a = 0; a < leaves; a++) worst[a] = R_PosInf;
    t.x = x;
    t.norm2 = norm2;
    t.heap = heap;
    for (int apart = 0; apart < leaves; apart++) {
        R_CheckUserInterrupt();
        for (int a = 0; a + apart < leaves; a++) {
            int pair[2] = {a, a + apart}, i0 = a * LEAF, j0 = (a + apart) * LEAF;
            double d2 = 0.0;
            for (size_t l = 0; l < P; l++) {
                size_t u = l + (size_t) pair[0] * P, v = l + (size_t) pair[1] * P;
                double gap = fmax(fmax(low[u] - high[v], low[v] - high[u]), 0.0);
                d2 += gap * gap;
            }
            if (d2 * (1.0 - TIE) > fmax(worst[pair[0]], worst[pair[1]])) continue;
            scan_pair(&t, i0, n - i0 < LEAF ? n - i0 : LEAF, j0, n - j0 < LEAF ? n - j0 : LEAF,
                      piece, cross, false);
            for (int side = 0; side < 2; side++) {
                int from = pair[side] * LEAF, to = n - from < LEAF ? n : from + LEAF;
                worst[pair[side]] = 0.0;
                for (int i = from; i < to; i++)
                    worst[pair[side]] = fmax(worst[pair[side]], t.far[i]);
            }
        }
    }
    for (size_t i = 0; i < N; i++)
        for (size_t b = 0; b < size; b++) {
            entry e = heap[i * size + b];
            e.index = place[e.index];
            s->heap[(size_t) place[i] * size + b] = e;
        }
}

/* place[from..to): halves by the widest column, the first half a multiple of LEAF. */
static void leaf_order(const search *s, int from, int to, int *place, double *key)
{
    double widest = -1.0;
    const double *by = s->x;
    int half = (to - from + LEAF - 1) / LEAF / 2 * LEAF;

    if (half == 0) return;
    for (int l = 0; l < s->p; l++) {
        const double *col = s->x + (size_t) l * (size_t) s->n;
        double least = R_PosInf, most = R_NegInf;
        for (int i = from; i < to; i++) {
            least = fmin(least, col[place[i]]);
            most = fmax(most, col[place[i]]);
        }
        if (most - least > widest) {
            widest = most - least;
            by = col;
        }
    }
    for (int i = from; i < to; i++) key[i] = by[place[i]];
    rsort_with_index(key + from, place + from, to - from);
    leaf_order(s, from, from + half, place, key);
    leaf_order(s, from + half, to, place, key);
}

/* Lower bounds of one pair of blocks (j0 >= i0), offered to both sides. Returns the
 * sum of its distances over i < j. */
static double scan_pair(search *s, int i0, int ni, int j0, int nj, double *piece, double *cross,
                        bool want_mean)
{
    double sum = 0.0;
    centred_products(s, i0, ni, j0, nj, piece, cross);
    for (int b = 0; b < nj; b++) {
        int j = j0 + b, last = j0 == i0 ? b : ni;
        const double *col = cross + (size_t) b * BLOCK;
        double nj2 = s->norm2[j];
        for (int a = 0; a < last; a++) {
            int i = i0 + a;
            double both = s->norm2[i] + nj2, d2 = both - 2.0 * col[a];
            double lower = d2 - s->delta * both;
            if (lower < s->far[i]) offer(s, i, lower, j);
            if (lower < s->far[j]) offer(s, j, lower, i);
            if (want_mean && d2 > 0.0) sum += sqrt(d2);
        }
    }
    return sum;
}

/* key < far[i]. */
static void offer(search *s, int i, double key, int index)
{
    entry *heap = s->heap + (size_t) i * (size_t) s->size;
    if (s->filled[i] == s->size) {
        heap[0].key = key;
        heap[0].index = index;
        sift_down(heap, s->size, 0);
        s->far[i] = heap[0].key;
        return;
    }
    int at = s->filled[i]++;
    while (at > 0 && heap[(at - 1) / 2].key < key) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at].key = key;
    heap[at].index = index;
    if (s->filled[i] == s->size) s->far[i] = heap[0].key;
}

static void sift_down(entry *heap, int size, int at)
{
    entry moving = heap[at];
    for (int child = 2 * at + 1; child < size; child = 2 * at + 1) {
        if (child + 1 < size && heap[child + 1].key > heap[child].key) child++;
        if (heap[child].key <= moving.key) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
}

static double exact_d2(const search *s, int i, int j)
{
    if (s->sparse) return sparse_d2(s->sparse, i, j);
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

/* Fills row i of out from its heap. False, with an upper bound of the k-th distance
 * in reach, if something dropped from the heap could still belong to it. */
static bool finish_row(const search *s, int i, entry *work, graph_knn *out, double *reach)
{
    const entry *heap = s->heap + (size_t) i * (size_t) s->size;
    for (int m = 0; m < s->size; m++) {
        work[m].index = heap[m].index;
        work[m].key = exact_d2(s, i, heap[m].index);
    }
    choose(s, i, work, s->size, out);
    if (s->size == s->n - 1) return true;
    *reach = out->d2[(size_t) i * (size_t) s->k + (size_t) s->k - 1] * (1.0 + 3.0 * TIE);
    return *reach < heap[0].key;
}

/* The k nearest of the candidates: all that are clearly nearer than the k-th, then
 * of those tied with it the lowest indices. */
static void choose(const search *s, int i, entry *candidate, int count, graph_knn *out)
{
    int *index = out->index + (size_t) i * (size_t) s->k, taken;
    double *d2 = out->d2 + (size_t) i * (size_t) s->k;

    qsort(candidate, (size_t) count, sizeof(entry), by_key_then_index);
    double cut = candidate[s->k - 1].key;
    int first = s->k - 1, end = s->k;
    while (first > 0 && candidate[first - 1].key >= cut * (1.0 - TIE)) first--;
    while (end < count && candidate[end].key <= cut * (1.0 + TIE)) end++;
    for (taken = 0; taken < first; taken++) {
        index[taken] = candidate[taken].index;
        d2[taken] = candidate[taken].key;
    }
    for (int m = first; m < end; m++) candidate[m].key = cut;
    qsort(candidate + first, (size_t) (end - first), sizeof(entry), by_key_then_index);
    for (int m = first; taken < s->k; m++, taken++) {
        index[taken] = candidate[m].index;
        d2[taken] = exact_d2(s, i, candidate[m].index);
    }
}

static int by_key_then_index(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void retry_rows(const search *s, int count, const int *hard, const double *reach,
                       graph_knn *out)
{
    int n = s->n, p = s->p;
    if (count == 0) return;
    double *some = ufs_dalloc(RETRY_BLOCK, s->sparse ? 0 : RETRY_BLOCK);
    double *all = ufs_dalloc(s->sparse ? 0 : (size_t) n, RETRY_BLOCK);
    double *cross = ufs_dalloc((size_t) n, RETRY_BLOCK);
    entry *candidate = (entry *) R_alloc((size_t) n, sizeof(entry));

    for (int from = 0; from < count; from += RETRY_BLOCK) {
        int m = count - from < RETRY_BLOCK ? count - from : RETRY_BLOCK;
        R_CheckUserInterrupt();
        for (int a = 0; a < m && s->sparse; a++)
            sparse_inner(s->sparse, hard[from + a], cross + (size_t) a * (size_t) n);
        for (int l0 = 0; l0 < p && !s->sparse; l0 += RETRY_BLOCK) {
            int deep = p - l0 < RETRY_BLOCK ? p - l0 : RETRY_BLOCK;
            centred_block(s, 0, n, l0, deep, all);
            for (size_t l = 0; l < (size_t) deep; l++)
                for (size_t a = 0; a < (size_t) m; a++)
                    some[a + l * RETRY_BLOCK] = all[(size_t) hard[from + (int) a] + l * (size_t) n];
            la_gemm('N', 'T', n, m, deep, 1.0, all, n, some, RETRY_BLOCK, l0 > 0 ? 1.0 : 0.0, cross,
                    n);
        }
        for (int a = 0; a < m; a++) {
            int i = hard[from + a], found = 0;
            const double *col = cross + (size_t) a * (size_t) n;
            for (int j = 0; j < n; j++) {
                double both = s->norm2[i] + s->norm2[j];
                if (j == i || both - 2.0 * col[j] - s->delta * both > reach[from + a]) continue;
                candidate[found].index = j;
                candidate[found++].key = exact_d2(s, i, j);
            }
            choose(s, i, candidate, found, out);
        }
    }
}

/* ---- weights ------------------------------------------------------------------------ */

typedef struct {
    int neighbour;
    double d2;
} arc;

static int by_neighbour(const void *a, const void *b);

/* What cosines need: rows of either kind and their norms; no norms: d2 holds the cosines. */
typedef struct {
    int p;
    const double *row;
    const sparse_rows *sparse;
    const double *norm;
} cosines;

static void from_lists(const graph_knn *knn, const cosines *rows, graph_weights weights,
                       double bandwidth, graph_symmetrise rule, graph_csr *out);
static double weight_of(graph_weights weights, double bandwidth, double d2, const cosines *rows,
                        int i, int j);

void graph_from_knn(const graph_knn *knn, int p, const double *x, graph_weights weights,
                    double bandwidth, graph_symmetrise rule, graph_csr *out)
{
    size_t N = (size_t) knn->n;
    cosines rows = {.p = p};

    if (weights == GRAPH_COSINE && x != NULL) {
        double *row = ufs_dalloc((size_t) p, N), *norm = ufs_dalloc(N, 1);
        la_transpose(knn->n, p, x, row);
        la_col_norms(p, knn->n, row, norm);
        rows.row = row;
        rows.norm = norm;
    }
    from_lists(knn, &rows, weights, bandwidth, rule, out);
}

void graph_from_knn_sparse(const graph_knn *knn, const ufs_x *x, graph_weights weights,
                           double bandwidth, graph_symmetrise rule, graph_csr *out)
{
    cosines rows = {.p = x->p};
    sparse_rows entries;

    if (weights == GRAPH_COSINE) {
        double *norm = ufs_dalloc((size_t) knn->n, 1);
        entries = sparse_transpose(x);
        add_means(&entries);
        for (int i = 0; i < knn->n; i++) norm[i] = sqrt(fmax(0.0, sparse_dot(&entries, i, i)));
        rows.sparse = &entries;
        rows.norm = norm;
    }
    from_lists(knn, &rows, weights, bandwidth, rule, out);
}

static void from_lists(const graph_knn *knn, const cosines *rows, graph_weights weights,
                       double bandwidth, graph_symmetrise rule, graph_csr *out)
{
    int n = knn->n, k = knn->k;
    size_t N = (size_t) n, edges = N * (size_t) k, most = 2 * edges;
    int *start = ufs_ialloc(N + 1), *col = ufs_ialloc(most);
    double *w = ufs_dalloc(most, 1), *degree = ufs_dalloc(N, 1);

    out->n = n;
    out->start = start;
    out->col = col;
    out->w = w;
    out->degree = degree;

    void *mark = vmaxget();
    /* The directed lists by column, and their transpose by a counting sort. */
    arc *mine = (arc *) R_alloc(edges, sizeof(arc));
    arc *theirs = (arc *) R_alloc(edges, sizeof(arc));
    int *at = ufs_ialloc(N + 1), *next = ufs_ialloc(N);
    memset(at, 0, (N + 1) * sizeof(int));
    for (size_t e = 0; e < edges; e++) {
        mine[e].neighbour = knn->index[e];
        mine[e].d2 = knn->d2[e];
        at[knn->index[e] + 1]++;
    }
    for (int i = 0; i < n; i++) {
        qsort(mine + (size_t) i * (size_t) k, (size_t) k, sizeof(arc), by_neighbour);
        at[i + 1] += at[i];
        next[i] = at[i];
    }
    for (int i = 0; i < n; i++)
        for (int m = 0; m < k; m++) {
            const arc *e = mine + (size_t) i * (size_t) k + (size_t) m;
            theirs[next[e->neighbour]].neighbour = i;
            theirs[next[e->neighbour]++].d2 = e->d2;
        }

    int used = 0;
    for (int i = 0; i < n; i++) {
        const arc *a = mine + (size_t) i * (size_t) k, *a_end = a + k;
        const arc *b = theirs + at[i], *b_end = theirs + at[i + 1];
        start[i] = used;
        while (a < a_end || b < b_end) {
            bool from_a = a < a_end && (b == b_end || a->neighbour <= b->neighbour);
            bool from_b = b < b_end && (a == a_end || b->neighbour <= a->neighbour);
            const arc *e = from_a ? a : b;
            bool mutual = from_a && from_b;
            if (mutual || rule != GRAPH_MIN) {
                double value = weight_of(weights, bandwidth, e->d2, rows, i, e->neighbour);
                if (rule == GRAPH_MEAN && !mutual) value *= 0.5;
                if (value > 0.0) {
                    col[used] = e->neighbour;
                    w[used++] = value;
                }
            }
            a += from_a;
            b += from_b;
        }
    }
    start[n] = used;
    vmaxset(mark);
    graph_degrees(out, degree);
}

static int by_neighbour(const void *a, const void *b)
{
    int x = ((const arc *) a)->neighbour, y = ((const arc *) b)->neighbour;
    return (x > y) - (x < y);
}

static double weight_of(graph_weights weights, double bandwidth, double d2, const cosines *rows,
                        int i, int j)
{
    size_t p = (size_t) rows->p;
    const double *norm = rows->norm;
    if (weights == GRAPH_BINARY) return 1.0;
    if (weights == GRAPH_HEAT) {
        double ratio = sqrt(d2) / bandwidth;
        return exp(-0.5 * ratio * ratio);
    }
    if (norm == NULL) return fmax(0.0, d2);
    double dot = rows->sparse
                     ? sparse_dot(rows->sparse, i, j)
                     : la_dot(rows->p, rows->row + (size_t) i * p, rows->row + (size_t) j * p);
    /* In two steps, as a product of norms could overflow; the same ones for (j, i). */
    double large = fmax(norm[i], norm[j]), small = fmin(norm[i], norm[j]);
    return small > 0.0 ? fmax(0.0, dot / large / small) : 0.0;
}

/* ---- a graph from outside ------------------------------------------------------------ */

const char *graph_check(const graph_csr *g)
{
    double top = 0.0;

    for (int i = 0; i < g->n; i++) {
        double sum = 0.0;
        for (int e = g->start[i]; e < g->start[i + 1]; e++) {
            if (g->col[e] == i) return "a sample is its own neighbour";
            if (e > g->start[i] && g->col[e] <= g->col[e - 1]) return "indices do not ascend";
            if (!R_FINITE(g->w[e]) || g->w[e] < 0.0)
                return "a weight is negative, missing or infinite";
            sum += g->w[e];
            top = fmax(top, g->w[e]);
        }
        if (g->degree != NULL && !(fabs(sum - g->degree[i]) <= 1e-8 * sum))
            return "degrees are not the sums of the weights";
    }
    return graph_asymmetry(g) <= 1e-8 * top ? NULL : "weights are not symmetric";
}

/* ---- what a graph says --------------------------------------------------------------- */

void graph_degrees(const graph_csr *g, double *degree)
{
    for (int i = 0; i < g->n; i++) {
        double sum = 0.0;
        for (int e = g->start[i]; e < g->start[i + 1]; e++) sum += g->w[e];
        degree[i] = sum;
    }
}

int graph_components(const graph_csr *g, int *component)
{
    int n = g->n, count = 0;
    void *mark = vmaxget();
    int *stack = ufs_ialloc((size_t) n);
    for (int i = 0; i < n; i++) component[i] = -1;
    for (int root = 0; root < n; root++) {
        int depth = 0;
        if (component[root] >= 0) continue;
        component[root] = count;
        stack[depth++] = root;
        while (depth > 0) {
            int i = stack[--depth];
            for (int e = g->start[i]; e < g->start[i + 1]; e++)
                if (component[g->col[e]] < 0) {
                    component[g->col[e]] = count;
                    stack[depth++] = g->col[e];
                }
        }
        count++;
    }
    vmaxset(mark);
    return count;
}

int graph_isolated(const graph_csr *g)
{
    int count = 0;
    for (int i = 0; i < g->n; i++) count += !(g->degree[i] > 0.0);
    return count;
}

void graph_drop_isolated(const graph_csr *g, graph_csr *out, int *node)
{
    size_t N = (size_t) g->n, edges = (size_t) g->start[g->n];
    int *renamed = ufs_ialloc(N), kept = 0, used = 0;
    int *start = ufs_ialloc(N + 1), *col = ufs_ialloc(edges);
    double *w = ufs_dalloc(edges, 1), *degree = ufs_dalloc(N, 1);

    out->start = start;
    out->col = col;
    out->w = w;
    out->degree = degree;
    for (int i = 0; i < g->n; i++)
        if (g->degree[i] > 0.0) {
            renamed[i] = kept;
            node[kept++] = i;
        }
    for (int i = 0; i < kept; i++) {
        start[i] = used;
        degree[i] = g->degree[node[i]];
        for (int e = g->start[node[i]]; e < g->start[node[i] + 1]; e++) {
            col[used] = renamed[g->col[e]];
            w[used++] = g->w[e];
        }
    }
    start[kept] = used;
    out->n = kept;
}

double graph_asymmetry(const graph_csr *g)
{
    double worst = 0.0;
    for (int i = 0; i < g->n; i++)
        for (int e = g->start[i]; e < g->start[i + 1]; e++) {
            /* Binary search of column i in row j. */
            int j = g->col[e], low = g->start[j], high = g->start[j + 1];
            while (low < high) {
                int middle = low + (high - low) / 2;
                if (g->col[middle] < i)
                    low = middle + 1;
                else
                    high = middle;
            }
            bool there = low < g->start[j + 1] && g->col[low] == i;
            worst = fmax(worst, fabs(g->w[e] - (there ? g->w[low] : 0.0)));
        }
    return worst;
}

enum { LANES = 8 };

/* Up to LANES columns at once, interleaved: the rows that an edge joins lie together, and its
 * index is read once. Y = W X, or L X with laplacian. */
static void mult_lanes(const graph_csr *g, bool laplacian, int m, const double *x, double *y,
                       double *restrict lanes)
{
    size_t N = (size_t) g->n, M = (size_t) m;
    for (size_t i = 0; i < N; i++)
        for (size_t l = 0; l < LANES; l++) lanes[i * LANES + l] = l < M ? x[i + l * N] : 0.0;
    for (int i = 0; i < g->n; i++) {
        double sum[LANES] = {0.0}, mine[LANES] = {0.0};
        if (laplacian) memcpy(mine, lanes + (size_t) i * LANES, sizeof mine);
        /* sum of w (x_j - x_i): no cancellation, unlike W x - D x. */
        for (int e = g->start[i]; e < g->start[i + 1]; e++) {
            const double *other = lanes + (size_t) g->col[e] * LANES;
            double w = g->w[e];
            for (int l = 0; l < LANES; l++) sum[l] += w * (other[l] - mine[l]);
        }
        for (size_t l = 0; l < M; l++) y[(size_t) i + l * N] = laplacian ? -sum[l] : sum[l];
    }
}

static void mult(const graph_csr *g, bool laplacian, int m, const double *x, double *y)
{
    void *mark = vmaxget();
    double *lanes = ufs_dalloc((size_t) g->n, LANES);
    for (int j = 0; j < m; j += LANES)
        mult_lanes(g, laplacian, m - j < LANES ? m - j : LANES, x + (size_t) j * (size_t) g->n,
                   y + (size_t) j * (size_t) g->n, lanes);
    vmaxset(mark);
}

void graph_mult(const graph_csr *g, int m, const double *x, double *y)
{
    mult(g, false, m, x, y);
}

void graph_laplacian_mult(const graph_csr *g, int m, const double *x, double *y)
{
    mult(g, true, m, x, y);
}

/* Where `now` lies, `before` is replaced, entry by entry. */
static void recur_lanes(const graph_csr *g, bool laplacian, const double *c,
                        const double *restrict now, double *restrict before)
{
    for (int i = 0; i < g->n; i++) {
        double sum[LANES] = {0.0}, own = c[1] - (laplacian ? c[0] * g->degree[i] : 0.0);
        const double *mine = now + (size_t) i * LANES;
        double *to = before + (size_t) i * LANES;
        for (int e = g->start[i]; e < g->start[i + 1]; e++) {
            const double *other = now + (size_t) g->col[e] * LANES;
            double w = g->w[e];
            for (int l = 0; l < LANES; l++) sum[l] += w * other[l];
        }
        for (int l = 0; l < LANES; l++) to[l] = c[0] * sum[l] + own * mine[l] + c[2] * to[l];
    }
}

void graph_recur(const graph_csr *g, bool laplacian, int m, int steps, const double *c, double *x)
{
    size_t N = (size_t) g->n, M = (size_t) m;
    void *mark = vmaxget();
    double *now = ufs_dalloc(N, LANES), *before = ufs_dalloc(N, LANES);

    for (size_t j = 0; j < M; j += LANES) {
        size_t width = M - j < LANES ? M - j : LANES;
        for (size_t i = 0; i < N; i++)
            for (size_t l = 0; l < LANES; l++) {
                now[i * LANES + l] = l < width ? x[i + (j + l) * N] : 0.0;
                before[i * LANES + l] = 0.0;
            }
        for (int d = 0; d < steps; d++) {
            double *swap = now;
            R_CheckUserInterrupt();
            recur_lanes(g, laplacian, c + 3 * d, now, before);
            now = before;
            before = swap;
        }
        for (size_t i = 0; i < N; i++)
            for (size_t l = 0; l < width; l++) x[i + (j + l) * N] = now[i * LANES + l];
    }
    vmaxset(mark);
}

double graph_quadratic(const graph_csr *g, const double *f)
{
    double sum = 0.0;
    for (int i = 0; i < g->n; i++) {
        double mine = f[i];
        /* Columns ascend: from the back, the edges to later nodes come first. */
        for (int e = g->start[i + 1] - 1; e >= g->start[i] && g->col[e] > i; e--) {
            double d = mine - f[g->col[e]];
            sum += g->w[e] * d * d;
        }
    }
    return sum;
}
