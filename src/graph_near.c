/* graph_near.c: k nearest neighbours of many dense samples, nearly all of them (graph.h).
 *
 * Trees: the samples are halved at the median of their products with the difference of two of them,
 * again and again, until LEAF or so are left, which are compared with each other (random projection
 * trees: Dasgupta and Freund 2008). Of TREES such trees every sample keeps the nearest it has met, a
 * few more than k. Then rounds: neighbours of neighbours are looked at, where either has come since
 * the last round (Dong, Moses and Li 2011; Tang, Liu, Zhang and Mei 2016), until few are found.
 * Most of the time would go into waiting for rows from memory: they are copied in the order of the leaves of
 * one more tree, fetched before their turn, and given up once a part of the distance is too large. Most
 * pairs are given up by a copy in single precision, where its rounding cannot matter: the answer is the
 * same.
 * What is random comes from a hash, so the answer is the same every time.
 *
 * Recall is measured: PROBES evenly spaced samples are compared with all.
 *
 * Flops: TREES n (2 p log2(n / LEAF) + 3 p LEAF / 4) and 3 p for each pair in a round, at most size^2
 * n; 3 n p PROBES for the recall. Memory 12 n p + 13 n size + 72 n. */
#include "graph.h"

enum { LEAF = 48, TREES = 8, MOST_ROUNDS = 6, MORE = 10, PROBES = 200, PART = 16, TOGETHER = 8 };
enum { AHEAD = 10, FETCHED = 128, LINE = 16 }; /* rows fetched before their turn; floats */
enum { LANES = 8, ROUGH_PART = 32 };
static const double TINY = 1e-150;

typedef struct {
    int n, p, size;    /* size: neighbours kept, nearest first */
    const double *row; /* p x n, in the order of a tree, so that rows that meet are not far apart */
    const float *rough; /* width x n: the same, centred and times `unit`, ending with zeros */
    int width;
    double unit,
        slack;     /* distances of `rough` plus the slack, over the unit, are at least true ones */
    double shrink; /* what is left of their squares at least, after rounding */
    int *name;     /* n: which sample each is */
    int *index;    /* size x n; -1: none yet */
    double *d2;
    double *far;     /* of the last one kept */
    double *limit;   /* squares of `rough` above it are farther for sure */
    bool *fresh;     /* came since the last round */
    double *product; /* n, twice */
    const ufs_hook *hook;
} near_work;

/* A tree takes about as long as a round. */
static void tell(const near_work *w, double parts)
{
    ufs_hook_step(w->hook, (int) (100.0 * parts / (TREES + MOST_ROUNDS)), 0.0, 0.0);
}

/* ---- neighbours of neighbours ---------------------------------------------------------------- */

/* The squared distance, or a part of it that is above `most` already. Four sums in a fixed order; parts of
 * them never exceed the whole. */
static double squared(const near_work *w, int i, int j, double most)
{
    const double *a = w->row + (size_t) i * (size_t) w->p, *b = w->row + (size_t) j * (size_t) w->p;
    double s[4] = {0.0, 0.0, 0.0, 0.0};
    int l = 0, whole = w->p - w->p % 4;

    while (l < whole) {
        int end = whole - l > PART ? l + PART : whole;
        for (; l < end; l += 4)
            for (int t = 0; t < 4; t++) s[t] += (a[l + t] - b[l + t]) * (a[l + t] - b[l + t]);
        if ((s[0] + s[1]) + (s[2] + s[3]) > most) break;
    }
    for (; l < w->p && l >= whole; l++) s[0] += (a[l] - b[l]) * (a[l] - b[l]);
    return (s[0] + s[1]) + (s[2] + s[3]);
}

/* From rows less `mean`, with the largest entry near 1. Distances that cannot be held are left to the
 * others: the slack is then infinite, and no pair is given up. */
static void copy_roughly(near_work *w)
{
    size_t N = (size_t) w->n, P = (size_t) w->p, W = (P + LANES - 1) / LANES * LANES, line = 64;
    char *room = R_alloc(N * W * sizeof(float) + line, 1);
    /* Rows begin with a line of the cache, or in its middle. */
    float *rough = (float *) (void *) (room + (line - (uintptr_t) room % line));
    double *mean = ufs_dzero(P, 1), largest = 0.0, worst = 0.0;
    int power = 0;

    for (size_t i = 0; i < N; i++)
        for (size_t l = 0; l < P; l++) mean[l] += w->row[l + i * P] / (double) w->n;
    for (size_t i = 0; i < N; i++)
        for (size_t l = 0; l < P; l++) largest = fmax(largest, fabs(w->row[l + i * P] - mean[l]));
    memset(rough, 0, N * W * sizeof(float));
    w->rough = rough;
    w->width = (int) W;
    w->shrink = 1.0 - ((double) w->p + 8.0) * FLT_EPSILON;
    w->slack = R_PosInf;
    if (!R_FINITE(largest) || largest < TINY || w->shrink < 0.5) return;
    frexp(largest, &power);
    w->unit = ldexp(1.0, -power);
    for (size_t i = 0; i < N; i++) {
        double lost = 0.0, own = 0.0;
        for (size_t l = 0; l < P; l++) {
            double value = (w->row[l + i * P] - mean[l]) * w->unit, less;
            rough[l + i * W] = (float) value;
            less = value - (double) rough[l + i * W];
            lost += less * less;
            own += w->unit * w->unit * (w->row[l + i * P] * w->row[l + i * P] + mean[l] * mean[l]);
        }
        worst = fmax(worst, sqrt(lost) + 8.0 * DBL_EPSILON * sqrt(own));
    }
    /* Both rows of a pair have it; squares of what is below TINY vanish. */
    if (R_FINITE(worst)) w->slack = 2.0 * worst + sqrt((double) w->p) * TINY * w->unit;
}

static void set_far(near_work *w, int i, double far)
{
    double reach = sqrt(far) * w->unit + w->slack;

    w->far[i] = far;
    w->limit[i] = reach * reach / w->shrink;
}

/* Whether the rows are farther from each other than from all that they have. */
static bool is_far(const near_work *w, int i, int j)
{
    const float *a = w->rough + (size_t) i * (size_t) w->width,
                *b = w->rough + (size_t) j * (size_t) w->width;
    double most = w->limit[i] > w->limit[j] ? w->limit[i] : w->limit[j], sum = 0.0;
    float s[LANES] = {0.0F};

    for (int l = 0; l < w->width;) {
        int end = w->width - l > ROUGH_PART ? l + ROUGH_PART : w->width;
        for (; l < end; l += LANES)
            for (int t = 0; t < LANES; t++) s[t] += (a[l + t] - b[l + t]) * (a[l + t] - b[l + t]);
        sum = (double) (((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7])));
        if (sum > most) return true;
    }
    return false;
}

static bool is_before(const near_work *w, int j, int other)
{
    return other >= 0 && w->name[j] < w->name[other];
}

/* Inserts j into the sorted list of i if it is new and near enough; equal distances by index. */
static bool offer(near_work *w, int i, int j, double d2)
{
    size_t S = (size_t) w->size, at = S - 1;
    int *index = w->index + (size_t) i * S;
    double *known = w->d2 + (size_t) i * S;
    bool *fresh = w->fresh + (size_t) i * S;

    if (!(d2 < known[at] || (d2 == known[at] && is_before(w, j, index[at])))) return false;
    for (size_t e = 0; e < S && known[e] <= d2; e++)
        if (index[e] == j) return false;
    for (;
         at > 0 && (d2 < known[at - 1] || (d2 == known[at - 1] && is_before(w, j, index[at - 1])));
         at--) {
        known[at] = known[at - 1];
        index[at] = index[at - 1];
        fresh[at] = fresh[at - 1];
    }
    known[at] = d2;
    index[at] = j;
    fresh[at] = true;
    set_far(w, i, known[S - 1]);
    return true;
}

/* Each is offered to the other. Returns how many entries are new. */
static size_t meet(near_work *w, int i, int j)
{
    double most = w->far[i] > w->far[j] ? w->far[i] : w->far[j], d2 = squared(w, i, j, most);
    size_t came = 0;

    if (d2 <= w->far[i]) came += offer(w, i, j, d2);
    if (d2 <= w->far[j]) came += offer(w, j, i, d2);
    return came;
}

/* The rows lie anywhere, so that waiting for them takes longer than the sums. */
static void fetch_row(const near_work *w, int j)
{
#if defined(__GNUC__)
    const float *row = w->rough + (size_t) j * (size_t) w->width;
    __builtin_prefetch(w->limit + j);
    for (int l = 0; l < w->width && l < FETCHED; l += LINE) __builtin_prefetch(row + l);
#else
    (void) w;
    (void) j;
#endif
}

/* One round over the neighbours of neighbours: returns how many entries are new. round: from 0.
 * seen: n, scratch. */
static size_t look_around(near_work *w, int round, int *seen)
{
    size_t S = (size_t) w->size, came = 0;
    bool *old = w->fresh;
    void *mark = vmaxget();
    bool *now = (bool *) R_alloc((size_t) w->n * S, sizeof(bool));
    int *met = ufs_ialloc(S * S);

    /* Entries that are new in this round are marked for the next one. */
    memcpy(now, old, (size_t) w->n * S * sizeof(bool));
    memset(old, 0, (size_t) w->n * S * sizeof(bool));
    for (int i = 0; i < w->n; i++) seen[i] = -1;
    for (int i = 0; i < w->n; i++) {
        int mine[512], many = w->size < 512 ? w->size : 512, n_met = 0;
        if (i % UFS_STRIP == 0) tell(w, TREES + round + (double) i / w->n);
        /* The list changes while it is read. */
        memcpy(mine, w->index + (size_t) i * S, (size_t) many * sizeof(int));
        seen[i] = i;
        for (int e = 0; e < many; e++)
            if (mine[e] >= 0) seen[mine[e]] = i;
        for (int e = 0; e < many && mine[e] >= 0; e++) {
            const int *theirs = w->index + (size_t) mine[e] * S;
            for (int f = 0; f < w->size && theirs[f] >= 0; f++) {
                int j = theirs[f];
                if (seen[j] == i ||
                    !(now[(size_t) e + (size_t) i * S] || now[(size_t) f + (size_t) mine[e] * S]))
                    continue;
                seen[j] = i;
                met[n_met++] = j;
            }
        }
        /* None of the lists that were read is changed by these. */
        for (int e = 0; e < n_met; e++) {
            if (e + AHEAD < n_met) fetch_row(w, met[e + AHEAD]);
            if (!is_far(w, i, met[e])) came += meet(w, i, met[e]);
        }
    }
    vmaxset(mark);
    return came;
}

/* ---- trees ----------------------------------------------------------------------------------- */

/* Those below the median of the products with a difference first; returns how many they are. */
static int halve(near_work *w, int *at, int count, uint64_t draw)
{
    int a = at[draw % (uint64_t) count], b = at[ufs_mix(draw) % (uint64_t) count];
    const double *up = w->row + (size_t) a * (size_t) w->p,
                 *down = w->row + (size_t) b * (size_t) w->p;
    double *product = w->product, *sorted = w->product + w->n, middle;
    int half = count / 2, head = 0, tail = count - 1, below = 0;

    for (int i = 0; i < count; i++) {
        const double *own = w->row + (size_t) at[i] * (size_t) w->p;
        double s0 = 0.0, s1 = 0.0;
        int l = 0;
        for (; l + 1 < w->p; l += 2) {
            s0 += own[l] * (up[l] - down[l]);
            s1 += own[l + 1] * (up[l + 1] - down[l + 1]);
        }
        if (l < w->p) s0 += own[l] * (up[l] - down[l]);
        sorted[i] = product[i] = s0 + s1;
    }
    rPsort(sorted, count, half);
    middle = sorted[half];
    for (int i = 0; i < count; i++) below += product[i] < middle;
    /* Of those at the median as many as are missing go to the left: all may be equal. */
    for (int missing = half - below; head <= tail;) {
        bool left = product[head] < middle || (product[head] <= middle && missing > 0);
        if (left) {
            missing -= !(product[head] < middle);
            head++;
        } else {
            int i = at[head];
            double value = product[head];
            at[head] = at[tail];
            product[head] = product[tail];
            at[tail] = i;
            product[tail--] = value;
        }
    }
    return head > 0 && head < count ? head : half;
}

/* at: n, becomes the order of the leaves. Halves wait on a stack: never more than there are levels. */
static void grow_tree(near_work *w, int tree, bool compares, int *at)
{
    int from[64], count[64], depth = 1, leaf = 2 * w->size + 2 > LEAF ? 2 * w->size + 2 : LEAF;
    uint64_t draw = ufs_mix((uint64_t) tree + 1);

    for (int i = 0; i < w->n; i++) at[i] = i;
    from[0] = 0;
    count[0] = w->n;
    while (depth > 0) {
        int start = from[--depth], many = count[depth], left;
        R_CheckUserInterrupt();
        if (many <= leaf) {
            for (int a = start; compares && a < start + many; a++)
                for (int b = start; b < a; b++)
                    if (!is_far(w, at[a], at[b])) meet(w, at[a], at[b]);
            continue;
        }
        draw = ufs_mix(draw);
        left = halve(w, at + start, many, draw);
        from[depth] = start;
        count[depth++] = left;
        from[depth] = start + left;
        count[depth++] = many - left;
    }
}

/* ---- how many of the nearest are there ------------------------------------------------------- */

/* A neighbour as near as the k-th nearest of all is one of them. place: n, scratch. */
static double recall_of(const near_work *w, int k, int *place)
{
    int probes = w->n < PROBES ? w->n : PROBES;
    size_t N = (size_t) w->n, S = (size_t) w->size;
    double found = 0.0, *d2 = ufs_dalloc(N, TOGETHER);

    for (int i = 0; i < w->n; i++) place[w->name[i]] = i;
    for (int first = 0; first < probes; first += TOGETHER) {
        int many = probes - first < TOGETHER ? probes - first : TOGETHER, probe[TOGETHER];
        R_CheckUserInterrupt();
        for (int b = 0; b < many; b++)
            probe[b] = place[(int) ((double) (first + b) / probes * w->n)];
        for (int j = 0; j < w->n; j++)
            for (int b = 0; b < many; b++)
                d2[(size_t) j + (size_t) b * N] = j == probe[b] ? R_PosInf
                                                                : squared(w, probe[b], j, R_PosInf);
        for (int b = 0; b < many; b++) {
            double *own = d2 + (size_t) b * N, reach;
            rPsort(own, w->n, k - 1);
            reach = own[k - 1] * (1.0 + UFS_TIE);
            for (int e = 0; e < k; e++) found += w->d2[(size_t) e + (size_t) probe[b] * S] <= reach;
        }
    }
    return found / ((double) probes * k);
}

/* ---- the whole --------------------------------------------------------------------------- */

double graph_knn_near(const ufs_x *x, int k, const ufs_hook *hook, graph_knn *out)
{
    size_t N = (size_t) x->n, K = (size_t) k, S;
    near_work w = {
        .n = x->n, .p = x->p, .size = k + MORE < x->n - 1 ? k + MORE : x->n - 1, .hook = hook};
    double recall;

    *out = (graph_knn){.n = x->n, .k = k, .index = ufs_ialloc(N * K), .d2 = ufs_dalloc(N, K)};
    void *mark = vmaxget();
    double *row = ufs_dalloc((size_t) x->p, N);
    int *at = ufs_ialloc(N);
    S = (size_t) w.size;
    w.name = ufs_ialloc(N);
    w.product = ufs_dalloc(N, 2);
    ufs_x_by_rows(x, NULL, row);
    w.row = row;
    grow_tree(&w, TREES, false, w.name);
    ufs_x_by_rows(x, w.name, row);
    copy_roughly(&w);
    w.index = ufs_ialloc(N * S);
    w.d2 = ufs_dalloc(N, S);
    w.fresh = (bool *) R_alloc(N * S, sizeof(bool));
    ufs_dalloc_each(N, 1, (double **[]){&w.far, &w.limit, NULL});
    for (size_t i = 0; i < N; i++) set_far(&w, (int) i, R_PosInf);
    for (size_t e = 0; e < N * S; e++) {
        w.index[e] = -1;
        w.d2[e] = R_PosInf;
        w.fresh[e] = true;
    }
    for (int t = 0; t < TREES; t++) {
        tell(&w, t);
        grow_tree(&w, t, true, at);
    }
    for (int r = 0; r < MOST_ROUNDS; r++)
        if (look_around(&w, r, at) < N * K / 100) break;
    for (size_t i = 0; i < N; i++)
        for (size_t e = 0; e < K; e++) {
            /* Distances that cannot be held: anybody, infinitely far. */
            int found = w.index[e + i * S];
            size_t to = (size_t) w.name[i], at_e = e + to * K;
            out->index[at_e] = found < 0 ? (int) ((to + 1 + e) % N) : w.name[found];
            out->d2[at_e] = found < 0 ? R_PosInf : w.d2[e + i * S];
        }
    recall = recall_of(&w, k, at);
    vmaxset(mark);
    return recall;
}
