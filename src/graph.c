/* graph.c: whether a graph is one, what it says, and products of its matrices with a few vectors
 * (graph.h). */
#include "graph.h"

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

void graph_drop_isolated(const graph_csr *g, graph_csr *out, int *node)
{
    size_t N = (size_t) g->n, edges = (size_t) g->start[g->n];
    int *renamed = ufs_ialloc(N), kept = 0, used = 0;
    int *start = ufs_ialloc(N + 1), *col = ufs_ialloc(edges);
    double *w = ufs_dalloc(edges, 1), *degree = ufs_dalloc(N, 1);

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
    *out = (graph_csr){kept, start, col, w, degree};
}

/* ---- products -------------------------------------------------------------------------- */

/* Columns that share one reading of an edge. */
enum { LANES = 8 };

/* before <- c_0 A now + c_1 now + c_2 before, A = W, or -L with laplacian: LANES columns
 * interleaved, so that the rows that an edge joins lie together, and its index is read once. */
static void recur_lanes(const graph_csr *g, bool laplacian, const double *c,
                        const double *restrict now, double *restrict before)
{
    for (int i = 0; i < g->n; i++) {
        double sum[LANES] = {0.0}, from[LANES] = {0.0};
        const double *mine = now + (size_t) i * LANES;
        double *to = before + (size_t) i * LANES;
        if (laplacian) memcpy(from, mine, sizeof from);
        /* sum of w (x_j - x_i): no cancellation, unlike W x - D x. */
        for (int e = g->start[i]; e < g->start[i + 1]; e++) {
            const double *other = now + (size_t) g->col[e] * LANES;
            double w = g->w[e];
            for (int l = 0; l < LANES; l++) sum[l] += w * (other[l] - from[l]);
        }
        for (int l = 0; l < LANES; l++) to[l] = c[0] * sum[l] + c[1] * mine[l] + c[2] * to[l];
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

void graph_mult(const graph_csr *g, bool laplacian, int m, const double *x, double *y)
{
    ufs_copy(y, x, (size_t) g->n * (size_t) m);
    graph_recur(g, laplacian, m, 1, (const double[]){laplacian ? -1.0 : 1.0, 0.0, 0.0}, y);
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

/* ---- eigenvectors ---------------------------------------------------------------------------- */

/* The bottom of the spectrum of a graph's normalised Laplacian, through the
 * top of N = D^{-1/2} W D^{-1/2} (l = 1 - mu), in [-1, 1]. Null vectors are known in closed
 * form and deflated; eig_few() finds the others. */
/* D^{-1/2} W D^{-1/2}; its degrees are not needed. */
static graph_csr normalised(const graph_csr *g)
{
    double *w = ufs_dalloc((size_t) g->start[g->n], 1);
    for (int i = 0; i < g->n; i++)
        for (int e = g->start[i]; e < g->start[i + 1]; e++)
            w[e] = g->w[e] / sqrt(g->degree[i]) / sqrt(g->degree[g->col[e]]);
    return (graph_csr){.n = g->n, .start = g->start, .col = g->col, .w = w};
}

/* What is left of the indicator of component j after v and the components before it:
 * with s_i = sqrt(vol_i) and r = the later components, a e_j + b sum_r s_i e_i, e_i the
 * unit vectors D^{1/2} 1_i / s_i. */
static void contrast(const graph_csr *g, const int *component, const double *volume,
                     int n_components, int j, double *u)
{
    double later = 0.0, a, b;
    for (int i = j + 1; i < n_components; i++) later += volume[i];
    a = sqrt(later / (later + volume[j]));
    b = -a * sqrt(volume[j]) / later;
    for (int i = 0; i < g->n; i++) {
        double root = sqrt(g->degree[i]);
        u[i] = component[i] < j ? 0.0 : component[i] == j ? a * root / sqrt(volume[j]) : b * root;
    }
}

static void apply_weights(const void *data, int m, const double *x, double *y)
{
    graph_mult(data, false, m, x, y);
}

static void recur_weights(const void *data, int m, int steps, const double *c, double *x)
{
    graph_recur(data, false, m, steps, c, x);
}

void graph_embed(const graph_csr *g, int m, double *l, double *u, graph_embed_info *info)
{
    int n = g->n;
    size_t N = (size_t) n;
    int *component = ufs_ialloc(N), pieces = graph_components(g, component);
    /* Null vectors beyond those asked for are not needed, however many there are. */
    int all_zero = pieces - 1, n_zero = all_zero < m ? all_zero : m, n_more;
    double *known = ufs_dalloc(N, (size_t) n_zero + 1), *volume = ufs_dzero((size_t) pieces, 1),
           total = 0.0;
    graph_csr op = normalised(g);

    for (int i = 0; i < n; i++) {
        total += g->degree[i];
        volume[component[i]] += g->degree[i];
    }
    for (int i = 0; i < n; i++) known[i] = sqrt(g->degree[i] / total);
    for (int j = 0; j < n_zero; j++)
        contrast(g, component, volume, pieces, j, known + (size_t) (j + 1) * N);

    *info = (graph_embed_info){.n_zero = n_zero, .eigs = {.converged = true}};
    for (int j = 0; j < n_zero; j++) l[j] = 0.0;
    ufs_copy(u, known + N, N * (size_t) n_zero);
    info->next = m == n - 1 ? R_PosInf : 0.0;

    /* One pair more than asked for, to see whether the cut goes through a tie. */
    n_more = m - n_zero + 1;
    if (n_more > n - pieces) n_more = n - pieces;
    if (m < all_zero || n_more <= 0) return;
    double *mu = ufs_dalloc((size_t) n_more, 1), *vectors = ufs_dalloc(N, (size_t) n_more);
    eig_problem a = {.n = n,
                     .k = n_more,
                     .apply = apply_weights,
                     .recur = recur_weights,
                     .data = &op,
                     .low = -1.0,
                     .high = 1.0,
                     .n_known = n_zero + 1,
                     .known = known,
                     .proof = true,
                     .tol = 1e-11,
                     .max_iter = 300};
    eig_few(&a, mu, vectors, &info->eigs);
    for (int j = n_zero; j < m; j++) l[j] = 1.0 - mu[j - n_zero];
    if (m > n_zero) ufs_copy(u + (size_t) n_zero * N, vectors, N * (size_t) (m - n_zero));
    if (m < n - 1) info->next = 1.0 - mu[m - n_zero];
}

/* ---- a sparse X by rows ---------------------------------------------------------------------- */

sparse_rows sparse_rows_of(const ufs_x *x)
{
    size_t entries = (size_t) ufs_x_entries(x), N = (size_t) x->n;
    sparse_rows rows = {.x = x,
                        .start = ufs_ialloc(N + 1),
                        .col = ufs_ialloc(entries),
                        .value = ufs_dalloc(entries, 1)};
    int *next = ufs_ialloc(N);

    for (int j = 0; j < x->p; j++) {
        int u = ufs_x_user(x, j);
        for (int e = x->start[u]; e < x->start[u + 1]; e++) rows.start[x->row[e] + 1]++;
    }
    for (size_t i = 0; i < N; i++) {
        rows.start[i + 1] += rows.start[i];
        next[i] = rows.start[i];
    }
    for (int j = 0; j < x->p; j++) {
        int u = ufs_x_user(x, j);
        double s = ufs_x_divide(x, j);
        for (int e = x->start[u]; e < x->start[u + 1]; e++) {
            int at = next[x->row[e]]++;
            rows.col[at] = j;
            rows.value[at] = x->value[e] / s;
        }
    }
    return rows;
}

int sparse_rows_norms(const sparse_rows *rows, double *norm2)
{
    int longest = 0;

    for (int i = 0; i < rows->x->n; i++) {
        int length = rows->start[i + 1] - rows->start[i];
        longest = length > longest ? length : longest;
        norm2[i] = la_ss((size_t) length, rows->value + rows->start[i]);
    }
    return longest;
}

void sparse_rows_center(sparse_rows *rows)
{
    const ufs_x *x = rows->x;
    size_t N = (size_t) x->n;

    if (x->shift == NULL) return;
    rows->mean_dot = ufs_dzero(N, 1);
    rows->mean_ss = 0.0;
    for (int j = 0; j < x->p; j++) {
        double m = x->shift[j] / ufs_x_divide(x, j);
        rows->mean_ss += m * m;
    }
    for (size_t i = 0; i < N; i++)
        for (int e = rows->start[i]; e < rows->start[i + 1]; e++) {
            int j = rows->col[e];
            rows->mean_dot[i] += rows->value[e] * x->shift[j] / ufs_x_divide(x, j);
        }
}

sparse_tile sparse_tile_of(const sparse_rows *rows)
{
    const ufs_x *x = rows->x;
    size_t P = (size_t) x->p;
    sparse_tile tile = {.weight = ufs_dzero(P, SPARSE_TILE),
                        .column = ufs_ialloc(P),
                        .end = ufs_ialloc(P),
                        .count = ufs_ialloc(P)};

    for (int j = 0; j < x->p; j++) tile.end[j] = x->start[ufs_x_user(x, j)];
    return tile;
}

/* out_(b + SPARSE_TILE row) += weight_b value, over the entries of a column before `last`: without a
 * branch, so that the compiler may take two or four b at a time. */
static void add_column(const ufs_x *x, int first, int last, const double *weight, double *out)
{
    double w[SPARSE_TILE];

    memcpy(w, weight, sizeof w);
    for (int e = first; e < last; e++) {
        double *to = out + (size_t) x->row[e] * SPARSE_TILE, value = x->value[e];
        for (int b = 0; b < SPARSE_TILE; b++) to[b] += w[b] * value;
    }
}

void sparse_tile_inner(const sparse_rows *rows, sparse_tile *tile, int n_list, const int *list,
                       bool below, double *out)
{
    const ufs_x *x = rows->x;
    int n_columns = 0, end = below ? list[n_list - 1] + 1 : x->n;

    memset(out, 0, (size_t) end * SPARSE_TILE * sizeof(double));
    for (int b = 0; b < n_list; b++)
        for (int a = rows->start[list[b]]; a < rows->start[list[b] + 1]; a++) {
            int j = rows->col[a];
            if (tile->count[j]++ == 0) tile->column[n_columns++] = j;
            tile->weight[(size_t) b + (size_t) j * SPARSE_TILE] = rows->value[a] /
                                                                  ufs_x_divide(x, j);
        }
    for (int a = 0; a < n_columns; a++) {
        int j = tile->column[a], u = ufs_x_user(x, j), last = x->start[u + 1];
        double *weight = tile->weight + (size_t) j * SPARSE_TILE;
        if (below) {
            while (tile->end[j] < last && x->row[tile->end[j]] < end) tile->end[j]++;
            last = tile->end[j];
        }
        add_column(x, x->start[u], last, weight, out);
        memset(weight, 0, SPARSE_TILE * sizeof(double));
        tile->count[j] = 0;
    }
}

double sparse_rows_d2(const sparse_rows *rows, int i, int j)
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

static double sparse_rows_dot(const sparse_rows *rows, int i, int j)
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

/* ---- the weights ----------------------------------------------------------------------------- */

/* The sparse weight matrix from neighbour lists (graph.h). p flops per edge for cosines; memory 32 nk
 * bytes beside the result. */
typedef struct {
    int neighbour;
    double d2;
} arc;

/* What cosines need: rows of either kind and their norms; no norms: d2 holds the cosines. */
typedef struct {
    int p;
    const double *row; /* p x n; NULL: sparse */
    sparse_rows sparse;
    double *norm;
} cosines;

static void set_cosines(const ufs_x *x, cosines *rows)
{
    int n = x->n, p = x->p;

    rows->norm = ufs_dalloc((size_t) n, 1);
    if (x->kind == UFS_X_SPARSE) {
        rows->sparse = sparse_rows_of(x);
        sparse_rows_center(&rows->sparse);
        for (int i = 0; i < n; i++)
            rows->norm[i] = sqrt(fmax(0.0, sparse_rows_dot(&rows->sparse, i, i)));
    } else {
        double *row = ufs_dalloc((size_t) p, (size_t) n);
        ufs_x_by_rows(x, NULL, row);
        la_col_norms(p, n, row, rows->norm);
        rows->row = row;
    }
}

/* By a counting sort; lists of the transpose begin at at[0..n]. */
static void transpose_arcs(int n, const int *start, const arc *from, int *at, arc *to)
{
    memset(at, 0, ((size_t) n + 1) * sizeof(int));
    for (int e = 0; e < start[n]; e++) at[from[e].neighbour + 1]++;
    for (int i = 0; i < n; i++) at[i + 1] += at[i];
    for (int i = 0; i < n; i++)
        for (int e = start[i]; e < start[i + 1]; e++)
            to[at[from[e].neighbour]++] = (arc){i, from[e].d2};
    /* Each is now where the next one begins. */
    memmove(at + 1, at, (size_t) n * sizeof(int));
    at[0] = 0;
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
    double dot = rows->row ? la_dot(rows->p, rows->row + (size_t) i * p, rows->row + (size_t) j * p)
                           : sparse_rows_dot(&rows->sparse, i, j);
    /* In two steps, as a product of norms could overflow; the same ones for (j, i). */
    double large = fmax(norm[i], norm[j]), small = fmin(norm[i], norm[j]);
    return small > 0.0 ? fmax(0.0, dot / large / small) : 0.0;
}

void graph_from_knn(const graph_knn *knn, const ufs_x *x, graph_weights weights, double bandwidth,
                    graph_symmetrise rule, graph_csr *out)
{
    int n = knn->n, k = knn->k;
    size_t N = (size_t) n, K = (size_t) k, edges = N * K, most = 2 * edges;
    int *start = ufs_ialloc(N + 1), *col = ufs_ialloc(most);
    double *w = ufs_dalloc(most, 1), *degree = ufs_dalloc(N, 1);

    *out = (graph_csr){n, start, col, w, degree};
    void *mark = vmaxget();
    cosines rows = {.p = x ? x->p : 0};
    if (weights == GRAPH_COSINE && x) set_cosines(x, &rows);
    /* Transposed twice by counting sorts, the lists come out sorted. */
    arc *mine = (arc *) R_alloc(edges, sizeof(arc)), *theirs = (arc *) R_alloc(edges, sizeof(arc));
    int *from = ufs_ialloc(N + 1), *at = ufs_ialloc(N + 1);
    for (size_t i = 0; i <= N; i++) from[i] = (int) (i * K);
    for (size_t e = 0; e < edges; e++) mine[e] = (arc){knn->index[e], knn->d2[e]};
    transpose_arcs(n, from, mine, at, theirs);
    transpose_arcs(n, at, theirs, from, mine);

    int used = 0;
    for (int i = 0; i < n; i++) {
        const arc *a = mine + (size_t) i * K, *a_end = a + K;
        const arc *b = theirs + at[i], *b_end = theirs + at[i + 1];
        start[i] = used;
        while (a < a_end || b < b_end) {
            bool from_a = a < a_end && (b == b_end || a->neighbour <= b->neighbour);
            bool from_b = b < b_end && (a == a_end || b->neighbour <= a->neighbour);
            const arc *e = from_a ? a : b;
            bool mutual = from_a && from_b;
            if (mutual || rule != GRAPH_MIN) {
                double value = weight_of(weights, bandwidth, e->d2, &rows, i, e->neighbour);
                if (rule == GRAPH_MEAN) {
                    if (mutual)
                        value += weight_of(weights, bandwidth, b->d2, &rows, i, b->neighbour);
                    value *= 0.5;
                }
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
