/* facility.c: samples that stand for all samples.
 *
 * Facility location: choose S, |S| = m, to make
 *     F(S) = sum_i max_{j in S u L} s_ij,      s_ij >= 0,
 * large, L being samples that are labelled already. F is monotone and submodular, so
 * the greedy choice reaches 1 - 1/e of the largest value (Nemhauser, Wolsey and
 * Fisher, Math. Programming 14, 1978), and what a candidate adds, its gain
 *     g_j = sum_i max(0, s_ij - c_i),          c_i = max_{j in S u L} s_ij,
 * never grows. Two things follow.
 *   Lazy evaluation (Minoux 1978): an old gain is an upper bound; only candidates whose
 *   bound reaches the best gain of this pick are looked at again. The order is
 *   exactly that of the plain greedy choice.
 *   A bound: for every t, F(any m) <= F(S_t) + the sum of the m largest gains (or
 *   bounds) after t picks. The least of them over t <= m is reported.
 *
 * With costs and a budget a set may cost no more than that. Two greedy choices are made among what is
 * still affordable, by the gain and by the gain for each unit of cost, and the better one is kept. The
 * bound then is F(S_t) + the gains by cost until the budget is full, the last one in part (Sviridenko
 * 2004 on the choice; the bound is that of the knapsack on a submodular F).
 *
 * Where s_ij is stored (given, sparse, or cosine and heat with a table), all gains are kept exact:
 * when a pick raises c_i, row i of S says by how much every gain falls. A pick takes over about n / t
 * samples, so all of this costs about n^2 ln m (nnz ln m).
 *   Otherwise s_ij is recomputed from x, as seldom as it can be: the gain of candidate j, known after
 * t' picks, differs from that after t picks by samples alone whose c_i has risen since, so the rises
 * are remembered (who, from what, by which pick) and only those s_ij are formed, for a block of
 * candidates by one product of matrices. All gains after all picks would cost 2 n^2 p ln m; many are
 * never asked for. After t picks about 1 in t + 1 of the pairs still has s_ij > c_i, and no other can
 * matter again: once these fit into pair_bytes, one more visit of all pairs keeps them, and from then
 * on gains are exact, as with a table.
 *
 * Where only some samples are looked at (`drawn`), their gains are kept in the same way, and all pairs
 * are visited once, at the end: for each l <= m, F(any l) <= F(S_m) + the l largest gains of all.
 *
 * Flops (cosine, heat): table n^2 p + 2 n^2 (1 + ln m); tiles n^2 p (heat 2 n^2 p) for the first two
 * picks, 2 p for each pair looked at again, n^2 p once more for the pairs that are kept, or at the
 * end. Each pick sorts n gains for the bound.
 * Memory: a copy of x, 8 n (BATCH + 8) bytes and 8 n^2 for the table, or UFS_STRIP (2 p + UFS_STRIP)
 * doubles, 24 bytes for each rise, some n ln m, and pair_bytes. A swap round costs
 * n^2 + 2 n m (without a table n^2 p).
 *
 * Ties. Gains carry the rounding of sums of n terms: those within UFS_ROUNDING of the first
 * pick's gain count as equal, and the lowest index is taken. */
#include "facility.h"
#include "graph.h"

/* Columns of S that are formed together where one would do. */
enum { BATCH = 8 };
/* Similarities that are added up at once. */
enum { TOGETHER = 8 };
/* Pairs of one sample that are kept together, and the bytes of a pair. */
enum { PIECE = 32, PAIR = sizeof(double) + sizeof(int) };
/* The share of what pairs may take that they may take by an estimate. */
static const double PAIR_SHARE = 0.8;
/* Of a rise: c_i was BEFORE until this PICK; its rise before that is OLDER, -1 = none. */
enum { BEFORE, PICK, OLDER, RISE_COLUMNS };
/* Heat: |x_i|^2 + |x_j|^2 in bandwidths, above which products say too little of the distance between
 * samples; and the distance beyond which that changes nothing. */
static const double LARGE = 1e5, NEAR = 100.0;

/* Candidates with s_ij > c_i of every sample, in pieces that are chained. */
typedef struct {
    double *value; /* PIECE for each piece: s_ij */
    int *index;    /* and j */
    int *count, *next;
    int *first; /* n: the latest piece of a sample, -1 = none */
    int used, room;
} facility_pairs;

typedef struct {
    const facility_problem *problem;
    facility_result *result;
    int n;
    ufs_x x;
    const double *cost; /* what a gain is divided by: those of the problem, or NULL */
    double left;        /* of the budget */
    bool stored;        /* is s_ij in memory? */
    facility_matrix candidate, sample; /* S and S' if it is */
    double *y;                         /* p x n: the samples; cosine: of length 1, or 0 */
    double *size;                      /* n: |x_i| (cosine, and 1 for one in y) or |x_i|^2 (heat) */
    double *level;                     /* n: cosine: c_i - 1 */
    const sparse_rows *by_row;         /* of a sparse X, while the table is made */
    double *rows, *rows2, *tile;       /* p x UFS_STRIP, the same, UFS_STRIP x UFS_STRIP */
    double *batch;                     /* n x BATCH: columns of S */
    double *cover;                     /* n: c_i */
    int *stand_in;                     /* n: who stands for i, -1 = nobody */
    double *upper;                     /* n: gains, or bounds on them */
    bool *open;                        /* n: may still be picked */
    bool *rival;                       /* n: counts in the bound: open, or not drawn */
    const int *drawn;                  /* n: which samples are looked at; NULL: all */
    double *sorted;                    /* n */
    double value, first;               /* F; the first pick's gain */
    int evaluations;
    int taken;  /* picks so far */
    int *known; /* n: `upper` was the gain itself after that many picks */
    /* Without stored similarities: */
    ufs_trace rise; /* those of c since the second pick */
    int *last_rise; /* n: the latest rise of c_i, -1 = none */
    double pair_bytes;
    facility_pairs pairs;
    bool kept; /* are the pairs that matter in memory? */
} facility_work;

/* The best and the second best of the chosen for every sample. */
typedef struct {
    double *best, *second; /* n */
    int *who;              /* n: position among the chosen, -1 = a labelled one */
    double *loss;          /* m */
} swap_work;

/* ---- similarities ---------------------------------------------------------------------------- */

/* |x_i - x_j|^2 without products. */
static double square_distance(const facility_work *work, int i, int j)
{
    const double *x = work->x.dense;
    double d2 = 0.0;

    if (work->by_row != NULL) return sparse_rows_d2(work->by_row, i, j);
    for (int l = 0; l < work->x.p; l++, x += work->n) d2 += (x[i] - x[j]) * (x[i] - x[j]);
    return d2;
}

/* s_ij from the product x_i'x_j. */
static double similarity(const facility_work *work, int i, int j, double product)
{
    if (work->problem->kind == FACILITY_COSINE) {
        double size = work->size[i] * work->size[j];
        if (i == j && size > 0.0) return 2.0;
        return size > 0.0 ? 1.0 + fmax(-1.0, fmin(1.0, product / size)) : 1.0;
    }
    if (i == j) return 1.0;
    double both = work->size[i] + work->size[j], d2 = both - 2.0 * product;
    /* What the difference has lost, beside the bandwidth, where the exponential is not 0 anyway. */
    if (both > LARGE * work->problem->bandwidth &&
        d2 < NEAR * work->problem->bandwidth + UFS_ROUNDING * both)
        d2 = square_distance(work, i, j);
    return exp(-fmax(0.0, d2) / work->problem->bandwidth);
}

/* Its index is NULL where all n are stored. */
static facility_matrix column_of(const facility_work *work, const facility_matrix *s, int j,
                                 int *length)
{
    *length = s->start ? s->start[j + 1] - s->start[j] : work->n;
    return (facility_matrix){
        .index = s->start ? s->index + s->start[j] : NULL,
        .value = s->value + (s->start ? (size_t) s->start[j] : (size_t) j * (size_t) work->n)};
}

/* The listed samples, beside each other. */
static void gather(const facility_work *work, int n_list, const int *list, double *to)
{
    size_t p = (size_t) work->problem->p;

    for (int b = 0; b < n_list; b++)
        ufs_copy(to + (size_t) b * p, work->y + (size_t) list[b] * p, p);
}

/* batch = columns list[0], list[1], ... of S, at most BATCH of them. */
static void load_columns(facility_work *work, int n_list, const int *list)
{
    size_t n = (size_t) work->n;
    int p = work->problem->p;

    if (!work->stored) {
        gather(work, n_list, list, work->rows);
        la_mul('T', 'N', work->n, n_list, p, 1.0, work->y, work->rows, 0.0, work->batch);
    }
    for (int b = 0; b < n_list; b++) {
        int j = list[b], length;
        double *to = work->batch + (size_t) b * n;
        if (work->stored) {
            const facility_matrix s = column_of(work, &work->candidate, j, &length);
            memset(to, 0, n * sizeof(double));
            for (int l = 0; l < length; l++) to[s.index ? s.index[l] : l] = s.value[l];
        } else
            for (int i = 0; i < work->n; i++) to[i] = similarity(work, i, j, to[i]);
    }
}

/* Similarities of candidate j with samples i0 .. i0 + ni - 1 and, by symmetry, the other way. */
static void tile_to_table(const facility_work *work, int j, int i0, int ni, const double *s,
                          double *table)
{
    size_t N = (size_t) work->n, J = (size_t) j;

    for (int a = i0 < j ? j - i0 : 0; a < ni; a++) {
        size_t i = (size_t) (i0 + a);
        table[i + J * N] = table[J + i * N] = s[a];
    }
}

static double positive(double d)
{
    return d > 0.0 ? d : 0.0;
}

/* sum_a max(0, s_a - c_a), in four sums, so that an addition need not wait for the one before. */
static double sum_above(int n, const double *s, const double *c)
{
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    int a = 0;

    for (; a + 3 < n; a += 4) {
        s0 += positive(s[a] - c[a]);
        s1 += positive(s[a + 1] - c[a + 1]);
        s2 += positive(s[a + 2] - c[a + 2]);
        s3 += positive(s[a + 3] - c[a + 3]);
    }
    for (; a < n; a++) s0 += positive(s[a] - c[a]);
    return (s0 + s1) + (s2 + s3);
}

/* Adds max(0, s_a - c) to each sum. Loops of a known length are compiled to instructions for several
 * numbers at -O2, too. */
static void add_above(int n, const double *restrict s, double c, double *restrict sum)
{
    for (; n >= TOGETHER; n -= TOGETHER, s += TOGETHER, sum += TOGETHER)
        for (int a = 0; a < TOGETHER; a++) sum[a] += positive(s[a] - c);
    for (int a = 0; a < n; a++) sum[a] += positive(s[a] - c);
}

/* Adds max(0, min(s_a, to) - from). */
static void add_between(int n, const double *restrict s, double from, double to,
                        double *restrict sum)
{
    for (; n >= TOGETHER; n -= TOGETHER, s += TOGETHER, sum += TOGETHER)
        for (int a = 0; a < TOGETHER; a++) sum[a] += positive((s[a] < to ? s[a] : to) - from);
    for (int a = 0; a < n; a++) sum[a] += positive((s[a] < to ? s[a] : to) - from);
}

/* `cover`: c_i less what is taken from s. */
static void tile_to_gains(facility_work *work, int j, int i0, int ni, const double *s,
                          const double *cover)
{
    int from = i0 < j ? j - i0 : 0;

    work->upper[j] += sum_above(ni - from, s + from, cover + i0 + from);
    if (i0 + from == j) from++;
    add_above(ni - from, s + from, cover[j], work->upper + i0 + from);
}

static bool add_pair(facility_pairs *pairs, int i, int j, double s)
{
    int piece = pairs->first[i];

    if (piece < 0 || pairs->count[piece] == PIECE) {
        if (pairs->used == pairs->room) return false;
        piece = pairs->used++;
        pairs->next[piece] = pairs->first[i];
        pairs->count[piece] = 0;
        pairs->first[i] = piece;
    }
    size_t at = (size_t) piece * PIECE + (size_t) pairs->count[piece]++;
    pairs->value[at] = s;
    pairs->index[at] = j;
    return true;
}

static bool tile_to_pairs(const facility_work *work, int j, int i0, int ni, const double *s,
                          facility_pairs *pairs)
{
    bool fine = true;

    for (int a = i0 < j ? j - i0 : 0; a < ni && fine; a++) {
        int i = i0 + a;
        if (work->open[j] && s[a] > work->cover[i]) fine = add_pair(pairs, i, j, s[a]);
        if (fine && i != j && work->open[i] && s[a] > work->cover[j])
            fine = add_pair(pairs, j, i, s[a]);
    }
    return fine;
}

/* Every pair once, in tiles: fills the table, or adds to the gains if it is NULL, and to the pairs if
 * they are not; false if there was no room for these. Gains alone by cosine take products as they
 * are. */
static bool visit_tiles(facility_work *work, double *table, facility_pairs *pairs)
{
    int n = work->n, p = work->problem->p;
    bool fine = true, plain = !table && !pairs && work->problem->kind == FACILITY_COSINE;
    const double *cover = plain ? work->level : work->cover;

    for (int i = 0; i < n; i++) work->level[i] = work->cover[i] - 1.0;
    for (int j0 = 0; j0 < n; j0 += UFS_STRIP) {
        int nj = n - j0 < UFS_STRIP ? n - j0 : UFS_STRIP;
        for (int i0 = j0; i0 < n; i0 += UFS_STRIP) {
            int ni = n - i0 < UFS_STRIP ? n - i0 : UFS_STRIP;
            R_CheckUserInterrupt();
            la_mul('T', 'N', ni, nj, p, 1.0, work->y + (size_t) i0 * (size_t) p,
                   work->y + (size_t) j0 * (size_t) p, 0.0, work->tile);
            for (int j = j0; j < j0 + nj; j++) {
                double *s = work->tile + (size_t) (j - j0) * (size_t) ni;
                for (int a = 0; a < ni && !plain; a++) s[a] = similarity(work, i0 + a, j, s[a]);
                if (table) {
                    tile_to_table(work, j, i0, ni, s, table);
                    continue;
                }
                tile_to_gains(work, j, i0, ni, s, cover);
                if (pairs && fine) fine = tile_to_pairs(work, j, i0, ni, s, pairs);
            }
        }
    }
    return fine;
}

/* The same table from a sparse X, whose rows meet in the columns they have entries in. */
static void sparse_table(facility_work *work, double *table)
{
    int n = work->n, list[SPARSE_TILE];
    size_t N = (size_t) n;
    sparse_rows rows = sparse_rows_of(&work->x);
    sparse_tile tile = sparse_tile_of(&rows);
    double *inner = ufs_dalloc(SPARSE_TILE, N);
    bool heat = work->problem->kind == FACILITY_HEAT;

    work->by_row = &rows;
    sparse_rows_norms(&rows, work->size);
    if (!heat) sparse_rows_center(&rows);
    for (int i = 0; i < n && !heat; i++) {
        if (rows.mean_dot) work->size[i] += rows.mean_ss - 2.0 * rows.mean_dot[i];
        work->size[i] = sqrt(fmax(work->size[i], 0.0));
    }
    for (int i0 = 0; i0 < n; i0 += SPARSE_TILE) {
        int ni = n - i0 < SPARSE_TILE ? n - i0 : SPARSE_TILE;
        R_CheckUserInterrupt();
        for (int b = 0; b < ni; b++) list[b] = i0 + b;
        sparse_tile_inner(&rows, &tile, ni, list, true, inner);
        for (int b = 0; b < ni; b++)
            for (int i = i0 + b, j = 0; j <= i; j++) {
                double product = inner[(size_t) b + (size_t) j * SPARSE_TILE];
                if (rows.mean_dot) product += rows.mean_ss - rows.mean_dot[i] - rows.mean_dot[j];
                table[(size_t) i + (size_t) j * N] = table[(size_t) j + (size_t) i * N] =
                    similarity(work, i, j, product);
            }
    }
    work->by_row = NULL;
}

/* ---- gains ----------------------------------------------------------------------------------- */

static double rise_of(const facility_work *work, int r, int column)
{
    return work->rise.value[(size_t) column * (size_t) work->rise.capacity + (size_t) r];
}

/* c_i after the first `picks` picks, at least one. */
static double cover_after(const facility_work *work, int i, int picks)
{
    double cover = work->cover[i];
    int r = work->last_rise[i];

    for (; r >= 0 && rise_of(work, r, PICK) >= picks; r = (int) rise_of(work, r, OLDER))
        cover = rise_of(work, r, BEFORE);
    return cover;
}

/* How far the gains of the list fall at sample i, whose c_i was `before`, by their products with
 * it. */
static void add_fallen(const facility_work *work, int i, double before, int n_list, const int *list,
                       const double *product, double *fallen)
{
    double now = work->cover[i], least;

    if (work->problem->kind == FACILITY_COSINE) {
        add_between(n_list, product, before - 1.0, now - 1.0, fallen);
        return;
    }
    /* Heat: no product x_i'x_j, less half |x_j|^2, below this lifts s_ij above `before`. Most pairs end
     * here, without an exponential. */
    least = 0.5 * (work->problem->bandwidth * log(before) + work->size[i] * (1.0 - UFS_ROUNDING));
    for (int b = 0; b < n_list; b++) {
        if (product[b] < least + 0.5 * (1.0 - UFS_ROUNDING) * work->size[list[b]]) continue;
        double s = similarity(work, i, list[b], product[b]);
        if (s > before) fallen[b] += fmin(s, now) - before;
    }
}

/* Gains now of the list, all of them known after `since` picks, from the samples whose c_i has risen
 * since. */
static void look_at_risen(facility_work *work, int since, int n_list, const int *list)
{
    int n = work->n, p = work->problem->p, n_rows = 0, rows[UFS_STRIP];
    double fallen[UFS_STRIP] = {0.0};

    gather(work, n_list, list, work->rows);
    for (int i = 0; i < n; i++) {
        if (work->last_rise[i] >= 0 && rise_of(work, work->last_rise[i], PICK) >= since)
            rows[n_rows++] = i;
        if (n_rows == 0 || (n_rows < UFS_STRIP && i < n - 1)) continue;
        R_CheckUserInterrupt();
        gather(work, n_rows, rows, work->rows2);
        la_mul('T', 'N', n_list, n_rows, p, 1.0, work->rows, work->rows2, 0.0, work->tile);
        for (int a = 0; a < n_rows; a++)
            add_fallen(work, rows[a], cover_after(work, rows[a], since), n_list, list,
                       work->tile + (size_t) a * (size_t) n_list, fallen);
        n_rows = 0;
    }
    for (int b = 0; b < n_list; b++) work->upper[list[b]] -= fallen[b];
}

/* The same for any list of at most UFS_STRIP, by when their gains were known. */
static void look_again(facility_work *work, int n_list, const int *list)
{
    int group[UFS_STRIP], done = 0;

    for (int since = 0; done < n_list; since++) {
        int size = 0;
        for (int b = 0; b < n_list; b++)
            if (work->known[list[b]] == since) group[size++] = list[b];
        if (size) look_at_risen(work, since, size, group);
        done += size;
    }
}

/* sum_i max(0, s_ij - c_i). */
static double gain_of(facility_work *work, int j)
{
    double gain = 0.0;
    int length = work->n;
    facility_matrix s = {.value = work->batch};

    if (work->stored)
        s = column_of(work, &work->candidate, j, &length);
    else
        load_columns(work, 1, &j);
    for (int l = 0; l < length; l++)
        gain += fmax(0.0, s.value[l] - work->cover[s.index ? s.index[l] : l]);
    return gain;
}

/* Exact gains of all candidates. */
static void all_gains(facility_work *work)
{
    int n = work->n, p = work->problem->p;

    for (int i = 0; i < work->n; i++) {
        work->upper[i] = 0.0;
        work->known[i] = work->taken;
    }
    if (!work->stored && work->problem->kind == FACILITY_COSINE && work->value == 0.0) {
        /* While nothing is covered g_j = n + y_j' sum_i y_i: 4np flops. */
        for (int i = 0; i < n; i++) work->sorted[i] = 1.0;
        la_gemv('N', p, n, 1.0, work->y, p, work->sorted, 0.0, work->rows);
        la_gemv('T', p, n, 1.0, work->y, p, work->rows, 0.0, work->upper);
        for (int j = 0; j < n; j++) work->upper[j] += (double) n;
    } else if (!work->stored) {
        visit_tiles(work, NULL, NULL);
    } else {
        for (int j = 0; j < work->n; j++) {
            if (j % UFS_STRIP == 0) R_CheckUserInterrupt();
            work->upper[j] = gain_of(work, j);
        }
    }
}

/* The same, before the first pick, of those that are drawn alone. What others would add is not known,
 * but for cosine while nothing is covered. */
static void drawn_gains(facility_work *work)
{
    int list[BATCH], n_list = 0;

    if (work->problem->kind == FACILITY_COSINE && work->value == 0.0) {
        all_gains(work);
        return;
    }
    for (int j = 0; j < work->n; j++) {
        work->upper[j] = R_PosInf;
        if (work->open[j]) list[n_list++] = j;
        if (n_list == 0 || (n_list < BATCH && j < work->n - 1)) continue;
        R_CheckUserInterrupt();
        load_columns(work, n_list, list);
        for (int b = 0; b < n_list; b++) {
            work->upper[list[b]] = sum_above(work->n, work->batch + (size_t) b * (size_t) work->n,
                                             work->cover);
            work->known[list[b]] = work->taken;
        }
        n_list = 0;
    }
}

/* May the pairs that still matter be kept? Judged by 64 candidates. */
static bool pairs_fit(facility_work *work)
{
    int n = work->n, looked = 0;
    double found = 0.0, open = 0.0;

    for (int i = 0; i < n; i++) open += work->open[i];
    for (int block = 0; block < 64; block += BATCH) {
        int list[BATCH];
        for (int b = 0; b < BATCH; b++) list[b] = (int) ((double) n / 64.0 * (block + b));
        load_columns(work, BATCH, list);
        for (int b = 0; b < BATCH; b++) {
            const double *s = work->batch + (size_t) b * (size_t) n;
            if (!work->open[list[b]]) continue;
            for (int i = 0; i < n; i++) found += s[i] > work->cover[i];
            looked++;
        }
    }
    return looked == 0 || found / looked * open * PAIR < PAIR_SHARE * work->pair_bytes;
}

/* All gains, and the pairs with s_ij > c_i; false if there are too many. The room for them takes no
 * memory before they are written. */
static bool keep_pairs(facility_work *work)
{
    facility_pairs *pairs = &work->pairs;

    if (!pairs_fit(work)) return false;
    if (pairs->room == 0) {
        /* The last piece of a sample may be all but empty. */
        size_t room = (size_t) (work->pair_bytes / (PIECE * PAIR)) + (size_t) work->n;
        pairs->value = ufs_dalloc(room, PIECE);
        ufs_ialloc_each(room, (int **[]){&pairs->count, &pairs->next, NULL});
        pairs->index = ufs_ialloc(room * PIECE);
        pairs->first = ufs_ialloc((size_t) work->n);
        pairs->room = (int) room;
    }
    pairs->used = 0;
    for (int i = 0; i < work->n; i++) {
        pairs->first[i] = -1;
        work->upper[i] = 0.0;
        work->known[i] = work->taken;
    }
    return visit_tiles(work, NULL, pairs);
}

/* c_i rises: what every candidate of its pairs adds at sample i falls. Pairs that matter no more are
 * left out. */
static void tighten_pairs(facility_work *work, int i, double from, double to)
{
    facility_pairs *pairs = &work->pairs;

    for (int piece = pairs->first[i]; piece >= 0; piece = pairs->next[piece]) {
        double *value = pairs->value + (size_t) piece * PIECE;
        int *index = pairs->index + (size_t) piece * PIECE, left = 0;
        for (int l = 0; l < pairs->count[piece]; l++) {
            work->upper[index[l]] -= fmin(value[l], to) - from;
            if (value[l] <= to) continue;
            value[left] = value[l];
            index[left++] = index[l];
        }
        pairs->count[piece] = left;
    }
}

/* The gains of the drawn ones fall, where c_i of the listed samples has risen from `before`. */
static void tighten_drawn(facility_work *work, int n_rows, const int *rows, const double *before)
{
    int list[UFS_STRIP], n_list = 0, p = work->problem->p;
    double fallen[UFS_STRIP];

    if (n_rows == 0) return;
    R_CheckUserInterrupt();
    gather(work, n_rows, rows, work->rows2);
    for (int j = 0; j < work->n; j++) {
        if (work->open[j]) list[n_list++] = j;
        if (n_list == 0 || (n_list < UFS_STRIP && j < work->n - 1)) continue;
        gather(work, n_list, list, work->rows);
        la_mul('T', 'N', n_list, n_rows, p, 1.0, work->rows, work->rows2, 0.0, work->tile);
        memset(fallen, 0, sizeof fallen);
        for (int a = 0; a < n_rows; a++)
            add_fallen(work, rows[a], before[a], n_list, list,
                       work->tile + (size_t) a * (size_t) n_list, fallen);
        for (int b = 0; b < n_list; b++) work->upper[list[b]] -= fallen[b];
        n_list = 0;
    }
}

/* Adds candidate j: covers, who stands for whom, and gains where s_ij is in memory. pick: -1 for
 * labelled samples, which come before all gains. */
static void take(facility_work *work, int j, int pick)
{
    int rows[UFS_STRIP], n_rows = 0, length;
    double before[UFS_STRIP];

    load_columns(work, 1, &j);
    const double *s = work->batch;

    work->open[j] = work->rival[j] = false;
    for (int i = 0; i < work->n; i++) {
        if (!(s[i] > work->cover[i])) continue;
        if (work->stand_in[i] < 0 || s[i] > work->cover[i] * (1.0 + UFS_ROUNDING)) {
            work->stand_in[i] = j;
            if (pick >= 0) ufs_trace_add(&work->result->change, (double[]){pick, i});
        }
        work->value += s[i] - work->cover[i];
        if (pick >= 0 && work->stored) { /* What every candidate adds at sample i falls. */
            const facility_matrix own = column_of(work, &work->sample, i, &length);
            for (int l = 0; l < length; l++)
                work->upper[own.index ? own.index[l] : l] -= fmax(0.0, fmin(own.value[l], s[i]) -
                                                                           work->cover[i]);
        }
        if (work->kept) {
            tighten_pairs(work, i, work->cover[i], s[i]);
        } else if (work->drawn && pick >= 0) {
            before[n_rows] = work->cover[i];
            rows[n_rows++] = i;
        } else if (!work->stored && pick > 0) {
            ufs_trace_add(&work->rise, (double[]){work->cover[i], pick, work->last_rise[i]});
            work->last_rise[i] = work->rise.length - 1;
        }
        work->cover[i] = s[i];
        if (n_rows == UFS_STRIP) {
            tighten_drawn(work, n_rows, rows, before);
            n_rows = 0;
        }
    }
    tighten_drawn(work, n_rows, rows, before);
}

/* ---- set-up ---------------------------------------------------------------------------------- */

/* A dense x, one sample after the other. */
static void hold_samples(facility_work *work)
{
    size_t n = (size_t) work->n, p = (size_t) work->problem->p;

    work->level = ufs_dalloc(n, 1);
    work->y = ufs_dalloc(p, n);
    la_row_norms(work->n, work->problem->p, work->x.dense, work->size);
    for (size_t i = 0; i < n; i++) {
        /* Squares that leave the range of doubles. */
        if (work->size[i] >= 1e-145 && R_FINITE(work->size[i])) continue;
        work->size[i] = 0.0;
        for (size_t l = 0; l < p; l++)
            work->size[i] = hypot(work->size[i], work->x.dense[i + l * n]);
    }
    if (work->problem->kind == FACILITY_HEAT)
        for (size_t i = 0; i < n; i++) work->size[i] *= work->size[i];
    for (size_t i = 0; i < n; i++) {
        bool divide = work->problem->kind == FACILITY_COSINE && work->size[i] > 0.0;
        double size = divide ? work->size[i] : 1.0;
        for (size_t l = 0; l < p; l++) work->y[l + i * p] = work->x.dense[i + l * n] / size;
        if (divide) work->size[i] = 1.0;
    }
}

static void begin(const facility_problem *problem, bool table, facility_result *result,
                  facility_work *work)
{
    size_t n = (size_t) problem->n, p = (size_t) problem->p;
    bool from_x = problem->kind == FACILITY_COSINE || problem->kind == FACILITY_HEAT;

    *work = (facility_work){.problem = problem,
                            .result = result,
                            .n = problem->n,
                            .x = problem->x,
                            .stored = !from_x || table,
                            .batch = ufs_dalloc(n, BATCH),
                            .candidate = problem->candidate,
                            .sample = problem->sample,
                            .stand_in = ufs_ialloc(n),
                            .open = (bool *) R_alloc(n, sizeof(bool)),
                            .rival = (bool *) R_alloc(n, sizeof(bool)),
                            .known = ufs_ialloc(n),
                            .last_rise = ufs_ialloc(n)};
    ufs_dalloc_each(n, 1, (double **[]){&work->cover, &work->upper, &work->sorted, NULL});
    if (!work->stored) {
        ufs_dalloc_each(UFS_STRIP, p, (double **[]){&work->rows, &work->rows2, NULL});
        ufs_trace_init(&work->rise, INT_MAX, RISE_COLUMNS);
    }
    if (!from_x) return;
    work->tile = ufs_dalloc(UFS_STRIP, UFS_STRIP);
    work->size = ufs_dalloc(n, 1);
    if (work->x.kind == UFS_X_DENSE) hold_samples(work);
    if (table) {
        double *similarities = ufs_dalloc(n, n);
        if (work->x.kind == UFS_X_SPARSE)
            sparse_table(work, similarities);
        else
            visit_tiles(work, similarities, NULL);
        work->candidate.value = work->sample.value = similarities;
    }
}

/* Nothing picked yet: the labelled samples cover. */
static void reset(facility_work *work)
{
    work->value = work->first = 0.0;
    work->evaluations = work->taken = work->rise.length = 0;
    work->kept = false;
    for (int i = 0; i < work->n; i++) {
        work->cover[i] = 0.0;
        work->stand_in[i] = -1;
        work->last_rise[i] = -1;
        work->rival[i] = work->problem->allowed == NULL || work->problem->allowed[i];
        work->open[i] = work->rival[i] && (work->drawn == NULL || work->drawn[i]);
    }
    work->left = work->problem->cost ? work->problem->budget : R_PosInf;
    for (int l = 0; l < work->problem->n_labelled; l++) take(work, work->problem->labelled[l], -1);
}

/* ---- the greedy choice ----------------------------------------------------------------------- */

/* What candidates are compared by: -infinity if it may not be picked. */
static double priority(const facility_work *work, int i)
{
    const double *cost = work->problem->cost;

    if (!work->open[i] || (cost && cost[i] > work->left * (1.0 + UFS_ROUNDING))) return R_NegInf;
    return work->cost ? work->upper[i] / work->cost[i] : work->upper[i];
}

/* bound[m' - 1] for m' >= t: F(S_t) and the m' largest gains (or t = 0: for all m', with whatever is
 * picked now). */
static void improve_bounds(facility_work *work, int t, int m, double *bound)
{
    int n_open = 0;
    double sum = work->value;

    for (int i = 0; i < work->n; i++)
        if (work->rival[i]) work->sorted[n_open++] = fmax(work->upper[i], 0.0);
    if (n_open) R_qsort(work->sorted, 1, (size_t) n_open);
    for (int l = 1; l <= m; l++) {
        if (l <= n_open) sum += work->sorted[n_open - l];
        if (l >= t) bound[l - 1] = fmin(bound[l - 1], sum);
    }
}

/* Candidates whose gain now is not known and may be `least`: `most` of them, with the largest
 * bounds. */
static int to_look_at(const facility_work *work, double least, int most, int *list)
{
    int n_list = 0, found = 0;

    for (int i = 0; i < work->n; i++)
        if (work->known[i] < work->taken && priority(work, i) > R_NegInf &&
            priority(work, i) >= least)
            work->sorted[found++] = priority(work, i);
    if (found > most) {
        rPsort(work->sorted, found, found - most);
        least = work->sorted[found - most];
    }
    for (int i = 0; i < work->n && n_list < most; i++)
        if (work->known[i] < work->taken && priority(work, i) > R_NegInf &&
            priority(work, i) >= least)
            list[n_list++] = i;
    return n_list;
}

/* The candidate of the largest gain, of equal ones that of the lowest index. */
static int next_pick(facility_work *work)
{
    bool exact = work->stored || work->kept || work->drawn;
    int list[UFS_STRIP], n_list, most = exact ? 1 : BATCH;
    double best = R_NegInf, top = R_NegInf, tie = UFS_ROUNDING * work->first;

    work->evaluations = 0;
    for (int i = 0; i < work->n; i++) {
        double now = priority(work, i);
        top = fmax(top, now);
        if (work->known[i] == work->taken) best = fmax(best, now);
    }
    /* Nothing to gain any more, and all are equal: none is looked at. */
    if (top <= tie) best = R_NegInf;
    while (top > tie && (n_list = to_look_at(work, best - tie, most, list)) > 0) {
        work->evaluations += n_list;
        if (exact)
            for (int b = 0; b < n_list; b++) work->upper[list[b]] = gain_of(work, list[b]);
        else
            look_again(work, n_list, list);
        for (int b = 0; b < n_list; b++) {
            best = fmax(best, priority(work, list[b]));
            work->known[list[b]] = work->taken;
        }
        tie = UFS_ROUNDING * fmax(work->first, best);
        most = most < UFS_STRIP / 2 ? most * 2 : UFS_STRIP;
    }
    /* What was not looked at is below. */
    for (int i = 0; i < work->n; i++)
        if (priority(work, i) > R_NegInf && priority(work, i) >= best - tie) return i;
    return -1; /* nothing that is left is affordable */
}

/* What has come out. */
static void report(const facility_work *work)
{
    for (int i = 0; i < work->n; i++) work->result->left[i] = work->rival[i] ? work->upper[i] : 0.0;
    work->result->value = work->value;
}

static void pick_all(facility_work *work, int m, bool bounds, ufs_run *run)
{
    static const char *const columns[] = {"iteration", "objective", "gain", "evaluations", NULL};
    facility_result *result = work->result;

    ufs_trace_named(&run->trace, m, columns);
    if (work->drawn)
        drawn_gains(work);
    else
        all_gains(work);
    result->start = work->value;
    result->change.length = 0;
    for (int i = 0; i < work->n; i++) result->first[i] = work->stand_in[i];
    for (int t = 0; t < m; t++) {
        double before = work->value;
        /* The gains of those that are not drawn stay as they were. */
        if (bounds && (t == 0 || work->drawn == NULL)) improve_bounds(work, t, m, result->bound);
        int j = next_pick(work);
        if (j < 0) break;
        double gain = work->upper[j];
        if (t == 0) work->first = priority(work, j);
        if (work->problem->cost) work->left -= work->problem->cost[j];
        result->order[t] = j;
        take(work, j, t);
        work->taken = t + 1;
        /* After the first pick every old gain says little: all are measured again. It is tried
         * after 1, 2, 4, 8, ... picks whether the pairs fit. */
        if (!work->stored && !work->drawn && !work->kept && ((t + 1) & t) == 0) {
            work->kept = t + 1 < m && keep_pairs(work);
            if (!work->kept && t == 0) all_gains(work);
        }
        run->iterations = t + 1;
        ufs_trace_add(&run->trace,
                      (double[]){t + 1, work->value, work->value - before, work->evaluations});
        ufs_run_step(run, work->value, gain);
    }
    result->picks = work->taken;
    if (!work->stored && !work->kept && (m > 1 || work->drawn)) all_gains(work);
    if (bounds) improve_bounds(work, work->drawn ? 0 : m, m, result->bound);
    report(work);
}

/* F of the picks, and on top of it what the budget could buy at most: gains (or bounds on them) by
 * cost, the last one in part. */
static double budget_bound(facility_work *work)
{
    const double *cost = work->problem->cost;
    double sum = work->value, left = work->problem->budget;
    int *order = ufs_ialloc((size_t) work->n), n_open = 0;

    for (int i = 0; i < work->n; i++) {
        if (!work->open[i] || cost[i] > work->problem->budget) continue;
        work->sorted[n_open] = fmax(work->upper[i], 0.0) / cost[i];
        order[n_open++] = i;
    }
    rsort_with_index(work->sorted, order, n_open);
    for (int l = n_open - 1; l >= 0 && left > 0.0; l--) {
        double part = fmin(1.0, left / cost[order[l]]);
        sum += part * fmax(work->upper[order[l]], 0.0);
        left -= part * cost[order[l]];
    }
    return sum;
}

/* By the gain, then by the gain for each unit of cost; the first again where it was better. The bound
 * in the place of that for m is that of the budget. */
static void pick_within_budget(facility_work *work, int m, ufs_run *run)
{
    facility_result *result = work->result;
    double by_gain, bound;

    pick_all(work, m, false, run);
    by_gain = work->value;
    bound = budget_bound(work);
    reset(work);
    work->cost = work->problem->cost;
    pick_all(work, m, false, run);
    bound = fmin(bound, budget_bound(work));
    if (by_gain > work->value * (1.0 + UFS_ROUNDING)) {
        reset(work);
        work->cost = NULL;
        pick_all(work, m, false, run);
    }
    for (int t = 0; t < m; t++) result->bound[t] = bound;
}

/* ---- swaps ----------------------------------------------------------------------------------- */

/* work->cover is what the labelled ones give. */
static void rank_chosen(facility_work *work, const swap_work *swap, int m)
{
    for (int i = 0; i < work->n; i++) {
        swap->best[i] = swap->second[i] = work->cover[i];
        swap->who[i] = -1;
    }
    for (int a = 0; a < m; a++) {
        load_columns(work, 1, work->result->order + a);
        const double *s = work->batch;
        for (int i = 0; i < work->n; i++) {
            if (s[i] > swap->best[i]) {
                swap->second[i] = swap->best[i];
                swap->best[i] = s[i];
                swap->who[i] = a;
            } else if (s[i] > swap->second[i]) {
                swap->second[i] = s[i];
            }
        }
    }
}

/* The best exchange of a chosen sample for an open one; false if none helps. */
static bool swap_once(facility_work *work, const swap_work *swap, int m)
{
    const facility_problem *problem = work->problem;
    int n = work->n, *order = work->result->order, list[BATCH], in = -1, out = -1;
    double value = 0.0, most;

    R_CheckUserInterrupt();
    rank_chosen(work, swap, m);
    work->left = problem->budget;
    for (int a = 0; problem->cost && a < m; a++) work->left -= problem->cost[order[a]];
    for (int i = 0; i < n; i++) value += swap->best[i];
    most = UFS_TIE * value;
    for (int j = 0; j < n;) {
        int n_list = 0;
        for (; j < n && n_list < BATCH; j++)
            if (work->open[j]) list[n_list++] = j;
        if (j % UFS_STRIP < BATCH) R_CheckUserInterrupt();
        load_columns(work, n_list, list);
        for (int b = 0; b < n_list; b++) {
            const double *s = work->batch + (size_t) b * (size_t) n;
            double shared = 0.0;
            for (int a = 0; a < m; a++) swap->loss[a] = 0.0;
            for (int i = 0; i < n; i++) {
                if (s[i] > swap->best[i])
                    shared += s[i] - swap->best[i];
                else if (swap->who[i] >= 0)
                    swap->loss[swap->who[i]] += swap->best[i] - fmax(s[i], swap->second[i]);
            }
            for (int a = 0; a < m; a++)
                if (shared - swap->loss[a] > most * (1.0 + UFS_TIE) &&
                    (!problem->cost ||
                     problem->cost[list[b]] <= work->left + problem->cost[order[a]])) {
                    most = shared - swap->loss[a];
                    in = list[b];
                    out = a;
                }
        }
    }
    if (in < 0) return false;
    work->open[order[out]] = true;
    work->open[in] = false;
    order[out] = in;
    return true;
}

/* Swaps until none helps; then the picks once more from the start, with these candidates only:
 * their order. */
static void swap_picks(facility_work *work, const facility_settings *settings, ufs_run *run)
{
    const facility_problem *problem = work->problem;
    facility_result *result = work->result;
    size_t N = (size_t) work->n;
    int m = result->picks;
    swap_work swap = {ufs_dalloc(N, 1), ufs_dalloc(N, 1), ufs_ialloc(N), ufs_dalloc((size_t) m, 1)};

    reset(work);
    for (int t = 0; t < m; t++) work->open[result->order[t]] = false;
    while (result->swaps < settings->max_swaps && swap_once(work, &swap, m)) result->swaps++;
    if (result->swaps == 0) return;
    for (size_t i = 0; i < N; i++) work->open[i] = false;
    for (int t = 0; t < m; t++) work->open[result->order[t]] = true;
    if (problem->cost) work->left = problem->budget;
    pick_all(work, m, false, run);
    all_gains(work);
    report(work);
}

void facility_solve(const facility_problem *problem, const facility_settings *settings,
                    facility_result *result, ufs_run *run)
{
    facility_work work;

    begin(problem, settings->table, result, &work);
    work.pair_bytes = settings->pair_bytes;
    work.drawn = settings->drawn;
    for (int t = 0; t < settings->m; t++) result->bound[t] = R_PosInf;
    ufs_trace_init(&result->change, INT_MAX, 2);
    reset(&work);
    if (problem->cost)
        pick_within_budget(&work, settings->m, run);
    else
        pick_all(&work, settings->m, true, run);
    if (settings->max_swaps > 0) swap_picks(&work, settings, run);
    run->status = UFS_CONVERGED;
}
