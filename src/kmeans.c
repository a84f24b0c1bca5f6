/* kmeans.c: see kmeans.h.
 *
 * Distances are all that matters, so dense samples are held as columns of d coordinates: the p
 * centred features, or, if p > n, the factor U of the centred Gram matrix U'U (pivoted
 * Cholesky), d its rank: the same distances up to rounding. Sparse samples stay as they are,
 *   z_i = r_i (x_i - m),   z_i'c = r_i (x_i'c - m'c),
 * so a distance costs the entries of a row, and so does a sample that changes its cluster.
 *
 * Each start: c seeds, each drawn with probability proportional to the squared distance from
 * those before (k-means++: Arthur and Vassilvitskii 2007). Then Lloyd's iteration, and then single
 * samples move as long as that lowers the sum of squares, centres following at once (Hartigan
 * 1975); such a partition cannot be improved by Lloyd's iteration either. The best of few
 * starts is then as good as with Hartigan and Wong's algorithm. In both a distance is computed
 * only if what is known about it, less the way its centre has moved since, leaves the decision open
 * (Elkan 2003; his distances between centres gain nothing here).
 *
 * Fixed centres never move, so of all of them a sample needs the nearest one alone, which is found
 * once for all starts: they are one more cluster, c, at a distance that is known.
 *
 * A sample may stand for several (`count`): it weighs as much in means and sums, is drawn as often as a
 * seed, and moves as a whole, m / (m - count) and m / (m + count) taking the place of the factors of
 * Hartigan's exchange with m the sum of the counts of a cluster. A whole that gains nothing by moving
 * has no part that would.
 *
 * A race: all starts make RACE_PASSES passes of Lloyd's iteration, and the best `most` of them go on.
 *
 * Flops: coordinates n^2 p + n^3 / 3 if p > n; a start 2ndc for its seeds, whose distances
 * are the first bounds, and 3d per distance computed (sparse: those of the seeds by the columns that
 * they have entries in, and 2 per entry of a row). Memory nd + nc + 2dc, and n^2 if p > n. */
#include "kmeans.h"
#include "graph.h"
#include "x_sparse.h"

enum { RACE_PASSES = 4 };

/* Bounds in a form that needs no update when a centre moves: `moved` grows by its steps, and
 *   distance to centre j >= low[j] - moved[j],
 *   distance to the own centre a <= high + moved[a].
 * Label c: the nearest fixed centre, at a distance `fixed_far` that is exact. */
typedef struct {
    const kmeans_problem *problem;
    int n, d, c;
    const ufs_hook *hook;
    double *y;               /* d x n: samples as columns; NULL where they are sparse */
    const sparse_rows *rows; /* instead of it */
    sparse_tile tile;
    double *mean;               /* sparse, d: m; NULL: 0 */
    double *norm2;              /* n: |z_i|^2 */
    double *centre, *sum;       /* d x c; sparse: sums without m */
    double *centre2, *dot;      /* sparse, c: |c|^2 and m'c */
    double *weight;             /* sparse, c: sum of the r_i of the cluster */
    double *mass;               /* c: sum of the counts of the cluster */
    int *size, *label, *chosen; /* c; n: the caller's; c: the seeds */
    double *low;                /* c x n */
    double *high;               /* n */
    double *moved;              /* c */
    double *near;               /* n: squared distance to the nearest seed */
    double *product;            /* n, sparse: SPARSE_TILE n */
    int *nearest;               /* n: which fixed centre is nearest */
    double *fixed_far;          /* n: how far that is; infinite if there is none */
} kmeans_work;

/* ---- centres --------------------------------------------------------------------------------- */

static const double *sample(const kmeans_work *w, int i)
{
    return w->y + (size_t) i * (size_t) w->d;
}

static double count_of(const kmeans_work *w, int i)
{
    return w->problem->count == NULL ? 1.0 : w->problem->count[i];
}

/* Adds sample i to the sums of cluster j, or takes it out (sign -1). */
static void add(kmeans_work *w, int i, int j, double sign)
{
    if (j == w->c) return;
    double *sum = w->sum + (size_t) j * (size_t) w->d;

    w->size[j] += (int) sign;
    sign *= count_of(w, i);
    w->mass[j] += sign;
    if (w->rows == NULL) {
        la_axpy(w->d, sign, sample(w, i), sum);
        return;
    }
    if (w->problem->shrink) sign *= w->problem->shrink[i];
    w->weight[j] += sign;
    for (int e = w->rows->start[i]; e < w->rows->start[i + 1]; e++)
        sum[w->rows->col[e]] += sign * w->rows->value[e];
}

/* Sizes and sums of the clusters, afresh; the centres stay. */
static void sum_up(kmeans_work *w)
{
    memset(w->sum, 0, (size_t) w->d * (size_t) w->c * sizeof(double));
    memset(w->weight, 0, (size_t) w->c * sizeof(double));
    memset(w->mass, 0, (size_t) w->c * sizeof(double));
    memset(w->size, 0, (size_t) w->c * sizeof(int));
    for (int i = 0; i < w->n; i++) add(w, i, w->label[i], 1.0);
}

static void move(kmeans_work *w, int i, int to)
{
    add(w, i, w->label[i], -1.0);
    add(w, i, to, 1.0);
    w->label[i] = to;
}

static double *centre(const kmeans_work *w, int j)
{
    return w->centre + (size_t) j * (size_t) w->d;
}

/* Eight sums side by side, so that an addition need not wait for the one before; by name, as gcc -O2
 * keeps an array of them in memory. */
static double squared_distance(int d, const double *a, const double *b)
{
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
    int i = 0;
#define ADD(s, k) s += (a[i + k] - b[i + k]) * (a[i + k] - b[i + k])
    for (; i + 7 < d; i += 8) {
        ADD(s0, 0);
        ADD(s1, 1);
        ADD(s2, 2);
        ADD(s3, 3);
        ADD(s4, 4);
        ADD(s5, 5);
        ADD(s6, 6);
        ADD(s7, 7);
    }
    for (; i < d; i++) ADD(s0, 0);
#undef ADD
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7));
}

static double distance(const kmeans_work *w, int i, int j)
{
    if (w->rows == NULL) return sqrt(squared_distance(w->d, sample(w, i), centre(w, j)));
    int e = w->rows->start[i], m = w->rows->start[i + 1] - e;
    double ss = x_sparse_sum(m, w->rows->value + e, w->rows->col + e, centre(w, j)) - w->dot[j];

    if (w->problem->shrink) ss *= w->problem->shrink[i];
    ss = w->norm2[i] - 2.0 * ss + w->centre2[j];
    /* Less than this is rounding: the sample is the centre. */
    return ss > 16.0 * DBL_EPSILON * (w->norm2[i] + w->centre2[j]) ? sqrt(ss) : 0.0;
}

/* An empty cluster gets the sample that is farthest from its centre, as far as is known,
 * among those that are not alone. Of counts that differ, sums by differences may have lost all digits. */
static void fill_empty(kmeans_work *w)
{
    for (int j = 0; j < w->c; j++) {
        int far = -1;
        double most = -1.0;
        if (w->size[j] > 0) continue;
        for (int i = 0; i < w->n; i++) {
            int a = w->label[i];
            double high = a == w->c ? w->fixed_far[i] : w->high[i] + w->moved[a];
            if ((a == w->c || w->size[a] > 1) && high > most) {
                far = i;
                most = high;
            }
        }
        move(w, far, j);
        /* Nothing is known about the distance to where the centre was: low stays true. */
        w->high[far] = distance(w, far, j) - w->moved[j];
    }
    if (w->problem->count != NULL) sum_up(w);
}

/* Centre j goes to its mean; returns how far that is. */
static double to_mean(kmeans_work *w, int j)
{
    double *at = centre(w, j), ss = 0.0, size = w->mass[j];
    const double *sum = w->sum + (size_t) j * (size_t) w->d;

    for (int k = 0; k < w->d; k++) {
        double to = (w->mean ? sum[k] - w->weight[j] * w->mean[k] : sum[k]) / size,
               step = to - at[k];
        ss += step * step;
        at[k] = to;
    }
    if (w->rows != NULL) {
        w->centre2[j] = la_ss((size_t) w->d, at);
        w->dot[j] = w->mean ? la_dot(w->d, w->mean, at) : 0.0;
    }
    return sqrt(ss);
}

static void renew_centres(kmeans_work *w)
{
    fill_empty(w);
    for (int j = 0; j < w->c; j++) w->moved[j] += to_mean(w, j);
}

/* The sum of squares of the labels. */
static double within(kmeans_work *w)
{
    double ss = 0.0;

    sum_up(w);
    renew_centres(w);
    for (int i = 0; i < w->n; i++) {
        double far = w->label[i] == w->c ? w->fixed_far[i] : distance(w, i, w->label[i]);
        ss += count_of(w, i) * far * far;
    }
    return ss;
}

static void work_init(kmeans_work *w, const kmeans_problem *problem)
{
    const ufs_x *x = &problem->x;
    size_t n = (size_t) x->n, c = (size_t) problem->c;
    bool sparse = x->kind == UFS_X_SPARSE;
    size_t d = (size_t) (x->p > x->n && !sparse ? x->n : x->p);

    *w = (kmeans_work){.problem = problem,
                       .n = x->n,
                       .c = problem->c,
                       .d = (int) d,
                       .product = ufs_dalloc(n, sparse ? SPARSE_TILE : 1),
                       .low = ufs_dalloc(c, n)};
    if (!sparse) w->y = ufs_dalloc(d, n);
    ufs_dalloc_each(n, 1, (double **[]){&w->norm2, &w->high, &w->near, &w->fixed_far, NULL});
    /* Centres before the first mean are finite. */
    w->centre = ufs_dzero(d, c);
    w->sum = ufs_dalloc(d, c);
    ufs_dalloc_each(c, 1,
                    (double **[]){&w->centre2, &w->dot, &w->weight, &w->mass, &w->moved, NULL});
    ufs_ialloc_each(c, (int **[]){&w->size, &w->chosen, NULL});
    w->nearest = ufs_ialloc(n);
}

/* ---- coordinates ----------------------------------------------------------------------------- */

/* The centred columns, or U with U'U = the centred Gram matrix, in the order of the samples. */
static int coordinates(kmeans_work *w, const kmeans_problem *problem)
{
    size_t n = (size_t) w->n, p = (size_t) problem->x.p, d = (size_t) w->d;
    double *mean = ufs_dzero(p, 1), *gram, total = 0.0;
    const ufs_x x = {.kind = UFS_X_SCALED,
                     .n = w->n,
                     .p = problem->x.p,
                     .dense = problem->x.dense,
                     .shift = mean};
    int rank, lapack = 0;

    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i < n; i++) mean[j] += x.dense[i + j * n];
        mean[j] /= (double) n;
    }
    if (p <= n) {
        for (size_t j = 0; j < d; j++) {
            const double *column = ufs_x_column(&x, (int) j, w->product);
            for (size_t i = 0; i < n; i++) w->y[j + i * d] = column[i];
        }
    } else {
        gram = ufs_dalloc(n, n);
        ufs_x_gram_rows(&x, NULL, gram);
        for (size_t i = 0; i < n; i++) total += gram[i + i * n];
        memset(w->y, 0, n * sizeof(double));
        if (R_FINITE(total)) {
            /* The zero of equal samples has one coordinate. */
            lapack = la_chol_root(w->n, gram, w->y, &rank);
            w->d = rank > 0 ? rank : 1;
        } else {
            /* The factor of what is not finite may be. */
            for (size_t i = 0; i < n * n; i++) w->y[i] = total;
        }
    }
    for (int i = 0; i < w->n; i++) w->norm2[i] = la_ss((size_t) w->d, sample(w, i));
    return lapack;
}

static void sparse_coordinates(kmeans_work *w, const kmeans_problem *problem, sparse_rows *rows)
{
    const ufs_x *x = &problem->x;

    *rows = sparse_rows_of(x);
    w->rows = rows;
    w->tile = sparse_tile_of(rows);
    sparse_rows_norms(rows, w->norm2);
    sparse_rows_center(rows);
    if (x->shift) {
        w->mean = ufs_dalloc((size_t) x->p, 1);
        for (int j = 0; j < x->p; j++) w->mean[j] = x->shift[j] / ufs_x_divide(x, j);
    }
    for (int i = 0; i < w->n; i++) {
        double r = w->problem->shrink ? w->problem->shrink[i] : 1.0;
        if (x->shift) w->norm2[i] += rows->mean_ss - 2.0 * rows->mean_dot[i];
        w->norm2[i] = r * r * fmax(w->norm2[i], 0.0);
    }
}

/* near = min(near, squared distances of all samples from sample i), which `product` holds too. */
static void distances_from(kmeans_work *w, int i)
{
    int n = w->n;

    if (w->rows == NULL) {
        la_gemv('T', w->d, n, 1.0, w->y, w->d, sample(w, i), 0.0, w->product);
    } else {
        const sparse_rows *rows = w->rows;
        double r = w->problem->shrink ? w->problem->shrink[i] : 1.0;
        sparse_tile_inner(rows, &w->tile, 1, &i, false, w->product);
        for (int a = 0; a < n; a++) {
            double inner = w->product[(size_t) a * SPARSE_TILE];
            if (w->mean) inner += rows->mean_ss - rows->mean_dot[a] - rows->mean_dot[i];
            w->product[a] = (w->problem->shrink ? w->problem->shrink[a] : 1.0) * r * inner;
        }
    }
    for (int a = 0; a < n; a++) {
        double ss = w->norm2[a] + w->norm2[i] - 2.0 * w->product[a];
        w->product[a] = w->problem->first[a] == w->problem->first[i] || ss < 0.0 ? 0.0 : ss;
    }
}

/* The nearest fixed centre, the first of equally near ones. */
static void find_fixed(kmeans_work *w)
{
    for (int i = 0; i < w->n; i++) w->fixed_far[i] = R_PosInf;
    for (int l = 0; l < w->problem->n_fixed; l++) {
        if (l % SPARSE_TILE == 0) ufs_hook_wait(w->hook, -1);
        distances_from(w, w->problem->fixed[l]);
        for (int i = 0; i < w->n; i++)
            if (w->product[i] < w->fixed_far[i]) {
                w->fixed_far[i] = w->product[i];
                w->nearest[i] = l;
            }
    }
    for (int i = 0; i < w->n; i++) w->fixed_far[i] = sqrt(w->fixed_far[i]);
}

/* ---- seeds ----------------------------------------------------------------------------------- */

/* Puts centre j where sample i is. */
static void to_sample(kmeans_work *w, int j, int i)
{
    double *at = centre(w, j), r = w->problem->shrink ? w->problem->shrink[i] : 1.0;

    if (w->rows == NULL) {
        ufs_copy(at, sample(w, i), (size_t) w->d);
        return;
    }
    for (int k = 0; k < w->d; k++) at[k] = w->mean ? -r * w->mean[k] : 0.0;
    for (int e = w->rows->start[i]; e < w->rows->start[i + 1]; e++)
        at[w->rows->col[e]] += r * w->rows->value[e];
    w->centre2[j] = la_ss((size_t) w->d, at);
    w->dot[j] = w->mean ? la_dot(w->d, w->mean, at) : 0.0;
}

/* The sample that u in [0, 1) picks: any of them first, then by `near`, both times its count; one
 * that no seed equals in any case. */
static int draw_sample(const kmeans_work *w, double u, int n_seed)
{
    double total = 0.0, sum = 0.0;
    bool any = n_seed + w->problem->n_fixed == 0;
    int last = -1;

    if (any && w->problem->count == NULL)
        return (int) (u * w->n) < w->n ? (int) (u * w->n) : w->n - 1;
    for (int i = 0; i < w->n; i++) total += count_of(w, i) * (any ? 1.0 : w->near[i]);
    for (int i = 0; i < w->n; i++) {
        double share = count_of(w, i) * (any ? 1.0 : w->near[i]);
        if (!(share > 0.0)) continue;
        last = i;
        sum += share;
        if (sum > u * total) return i;
    }
    if (last >= 0) return last;
    /* All that is left differs from a seed by rounding only. */
    for (int i = 0; i < w->n; i++) {
        bool known = false;
        for (int j = 0; j < n_seed && !known; j++)
            known = w->problem->first[i] == w->problem->first[w->chosen[j]];
        for (int l = 0; l < w->problem->n_fixed && !known; l++)
            known = w->problem->first[i] == w->problem->first[w->problem->fixed[l]];
        if (!known) return i;
    }
    return 0;
}

/* Centres, labels and bounds from c seeds. */
static void seed(kmeans_work *w, const double *draw)
{
    int n = w->n, c = w->c;

    for (int i = 0; i < n; i++) {
        w->label[i] = c;
        w->near[i] = w->fixed_far[i] * w->fixed_far[i];
    }
    for (int j = 0; j < c; j++) {
        int chosen = draw_sample(w, draw[j], j);
        if (j % SPARSE_TILE == 0) ufs_hook_wait(w->hook, -1);
        w->chosen[j] = chosen;
        to_sample(w, j, chosen);
        distances_from(w, chosen);
        w->moved[j] = 0.0;
        for (int i = 0; i < n; i++) {
            w->low[(size_t) j + (size_t) i * (size_t) c] = sqrt(w->product[i]);
            if (w->product[i] < w->near[i]) {
                w->near[i] = w->product[i];
                w->label[i] = j;
            }
        }
    }
    for (int i = 0; i < n; i++) w->high[i] = sqrt(w->near[i]);
    sum_up(w);
}

/* ---- Lloyd's iteration, and exchange of single samples --------------------------------------- */

/* Moves sample i to its better cluster; returns true, for the callers that count moves. */
static bool leave_for(kmeans_work *w, int i, int best, double d_best, bool exchange)
{
    int a = w->label[i];

    move(w, i, best);
    if (exchange && a < w->c) w->moved[a] += to_mean(w, a);
    if (best == w->c) return true;
    if (exchange) {
        w->moved[best] += to_mean(w, best);
        d_best = distance(w, i, best);
    }
    w->high[i] = d_best - w->moved[best];
    return true;
}

/* Whether sample i leaves its cluster a: for the nearest centre in Lloyd's iteration. In an exchange
 * to leave a (size m) saves m / (m - 1) times the squared distance to its centre, to join cluster j
 * costs m / (m + 1) times that to the other one, and both centres follow. A fixed centre does not. A
 * sample that is its cluster, but for rounding, stays. */
static bool reassign(kmeans_work *w, int i, bool exchange)
{
    int a = w->label[i], c = w->c, best = -1;
    double *low = w->low + (size_t) i * (size_t) c, leave = 1.0, saved, d_best = 0.0;
    double count = count_of(w, i);
    double high = a == c ? w->fixed_far[i] : w->high[i] + w->moved[a];
    bool exact = a == c, moving = exchange && a < c;

    if (moving && (w->size[a] < 2 || w->mass[a] <= count * (1.0 + UFS_TIE))) return false;
    if (moving) leave = sqrt(w->mass[a] / (w->mass[a] - count));
    /* Less by what rounding can feign, so that the sum of squares falls for sure. */
    saved = leave * high * (exact && exchange ? 1.0 - UFS_TIE : 1.0);
    for (int j = 0; j <= c; j++) {
        double join = exchange && j < c ? sqrt(w->mass[j] / (w->mass[j] + count)) : 1.0, d;
        double least = j == c ? w->fixed_far[i] : low[j] - w->moved[j];
        if (j == a || saved <= join * least) continue;
        if (!exact) {
            high = distance(w, i, a);
            low[a] = high + w->moved[a];
            w->high[i] = high - w->moved[a];
            saved = exchange ? leave * high * (1.0 - UFS_TIE) : high;
            exact = true;
            if (saved <= join * least) continue;
        }
        d = least;
        if (j < c) {
            d = distance(w, i, j);
            low[j] = d + w->moved[j];
        }
        if (join * d < saved) {
            saved = join * d;
            best = j;
            d_best = d;
        }
    }
    if (best < 0) return false;
    return leave_for(w, i, best, d_best, exchange);
}

/* New centres, then one sample after the other. False if none changed its cluster. */
static bool pass(kmeans_work *w, bool exchange)
{
    bool changed = false;

    renew_centres(w);
    for (int i = 0; i < w->n; i++) {
        if (i % 4096 == 0) ufs_hook_wait(w->hook, -1);
        changed = reassign(w, i, exchange) || changed;
    }
    return changed;
}

/* ---- one start ------------------------------------------------------------------------------- */

static void start(kmeans_work *w, const double *draw, int passes, int *t, bool *changed)
{
    seed(w, draw);
    for (; *changed && *t < passes; (*t)++) *changed = pass(w, false);
}

/* To where no sample wants to leave; false if max_iter passes are not enough. */
static bool finish(kmeans_work *w, int max_iter, bool changed, int *t)
{
    bool settled = false;

    for (; changed && *t < max_iter; (*t)++) changed = pass(w, false);
    sum_up(w);
    for (; !settled && *t < max_iter; (*t)++) settled = !pass(w, true);
    return settled;
}

/* The first passes of all starts, if not all of them go on. Their `within` says who does: it is
 * missing for the best. Returns how many, or 0 for no race. */
static int race(kmeans_work *w, const kmeans_settings *settings, kmeans_result *result,
                ufs_run *run)
{
    int n_start = settings->n_start, most = settings->most;
    int passes = settings->max_iter < RACE_PASSES ? settings->max_iter : RACE_PASSES;

    if (most >= n_start) return 0;
    for (int s = 0; s < n_start; s++) {
        bool changed = true;
        w->label = result->label + (size_t) s * (size_t) w->n;
        start(w, settings->draw + (size_t) s * (size_t) w->c, passes, result->iterations + s,
              &changed);
        result->within[s] = within(w);
        run->iterations = s + 1;
        ufs_run_step(run, result->within[s], 0.0);
    }
    for (int l = 0; l < most; l++) {
        int best = -1;
        for (int s = 0; s < n_start; s++)
            if (result->within[s] >= 0.0 && (best < 0 || result->within[s] < result->within[best]))
                best = s;
        if (best >= 0) result->within[best] = R_NaN;
    }
    return most;
}

/* From labels alone: nothing is known about distances. */
static void resume(kmeans_work *w)
{
    memset(w->low, 0, (size_t) w->c * (size_t) w->n * sizeof(double));
    memset(w->moved, 0, (size_t) w->c * sizeof(double));
    for (int i = 0; i < w->n; i++) w->high[i] = 0.0;
    sum_up(w);
    fill_empty(w);
    for (int j = 0; j < w->c; j++) to_mean(w, j);
    for (int i = 0; i < w->n; i++) w->high[i] = R_PosInf;
}

/* ---- the whole --------------------------------------------------------------------------- */

void kmeans_solve(const kmeans_problem *problem, const kmeans_settings *settings,
                  kmeans_result *result, ufs_run *run)
{
    kmeans_work w;
    sparse_rows rows;
    double total = 0.0;
    int limit = settings->max_iter, kept;

    /* Whatever the coordinates are, a label is one that there is. */
    memset(result->label, 0, (size_t) problem->x.n * (size_t) settings->n_start * sizeof(int));
    for (int s = 0; s < settings->n_start; s++) {
        result->within[s] = R_NaN;
        result->iterations[s] = 0;
    }
    work_init(&w, problem);
    w.hook = &run->hook;
    if (problem->x.kind == UFS_X_SPARSE)
        sparse_coordinates(&w, problem, &rows);
    else
        run->lapack = coordinates(&w, problem);
    if (run->lapack) return;
    for (int i = 0; i < w.n; i++) total += fmax(1.0, count_of(&w, i)) * w.norm2[i];
    if (!R_FINITE(4.0 * total)) {
        run->status = UFS_NUMERICAL;
        return;
    }
    find_fixed(&w);
    kept = race(&w, settings, result, run);
    for (int s = 0; s < settings->n_start; s++) {
        bool changed = true;
        int *t = result->iterations + s;
        w.label = result->label + (size_t) s * (size_t) w.n;
        if (kept == 0)
            start(&w, settings->draw + (size_t) s * (size_t) w.c, limit, t, &changed);
        else if (result->within[s] >= 0.0)
            continue; /* it was not among the best */
        else
            resume(&w);
        if (!finish(&w, limit, changed, t)) run->status = UFS_MAX_ITER;
        result->within[s] = within(&w);
        run->iterations++;
        ufs_run_step(run, result->within[s], 0.0);
    }
    for (size_t i = 0; problem->n_fixed > 0 && i < (size_t) w.n * (size_t) settings->n_start; i++)
        if (result->label[i] == w.c) result->label[i] += w.nearest[i % (size_t) w.n];
}
