/* kmeans.c: see kmeans.h.
 *
 * Distances are all that matters, so samples are held as columns of d coordinates: the p
 * centred features, or, if p > n, the factor U of the centred Gram matrix U'U (pivoted
 * Cholesky), d its rank: the same distances up to rounding.
 *
 * Each start: c seeds, each drawn with probability proportional to the squared distance from
 * those before (k-means++: Arthur and Vassilvitskii 2007). Then Lloyd's iteration, and then single
 * samples move as long as that lowers the sum of squares, centres following at once (Hartigan
 * 1975); such a partition cannot be improved by Lloyd's iteration either. The best of few
 * starts is then as good as with Hartigan and Wong's algorithm. In both a distance is computed
 * only if what is known about it, less the way its centre has moved since, leaves the decision open
 * (Elkan 2003; his distances between centres gain nothing here).
 *
 * Flops: coordinates n^2 p + n^3 / 3 if p > n; a start 2ndc for its seeds, whose distances
 * are the first bounds, and 3d per distance computed. Memory nd + nc + 2dc, and n^2 if p > n. */
#include "kmeans.h"
#include "la.h"
#include <R_ext/Utils.h>

/* Bounds in a form that needs no update when a centre moves: `moved` grows by its steps, and
 *   distance to centre j >= low[j] - moved[j],
 *   distance to the own centre a <= high + moved[a]. */
typedef struct {
    int n, d, c;
    const int *first;
    double *y;            /* d x n: samples as columns */
    double *norm2;        /* n */
    double *centre, *sum; /* d x c */
    int *size, *label;    /* c; n: the caller's */
    double *low;          /* c x n */
    double *high;         /* n */
    double *moved;        /* c */
    double *near;         /* n: squared distance to the nearest seed */
    double *product;      /* n */
} kmeans_work;

static double within(kmeans_work *w);
static void sum_up(kmeans_work *w);
static void renew_centres(kmeans_work *w);
static void fill_empty(kmeans_work *w);
static void move(kmeans_work *w, int i, int to);
static double to_mean(kmeans_work *w, int j);
static const double *sample(const kmeans_work *w, int i);
static double distance(const kmeans_work *w, int i, int j);
static double squared_distance(int d, const double *a, const double *b);
static double *centre(const kmeans_work *w, int j);
static void work_init(kmeans_work *w, const kmeans_problem *problem);
static int coordinates(kmeans_work *w, const kmeans_problem *problem);
static void seed(kmeans_work *w, const double *draw);
static int draw_sample(const kmeans_work *w, double u, int n_seed);
static bool pass(kmeans_work *w, bool exchange);
static bool reassign(kmeans_work *w, int i, bool exchange);

void kmeans_solve(const kmeans_problem *problem, const kmeans_settings *settings,
                  kmeans_result *result, ufs_run *run)
{
    kmeans_work w;
    double total = 0.0;

    /* Whatever the coordinates are, a label is one that there is. */
    memset(result->label, 0, (size_t) problem->n * (size_t) settings->n_start * sizeof(int));
    for (int s = 0; s < settings->n_start; s++) {
        result->within[s] = R_NaN;
        result->iterations[s] = 0;
    }
    work_init(&w, problem);
    run->lapack = coordinates(&w, problem);
    if (run->lapack) return;
    for (int i = 0; i < w.n; i++) {
        w.norm2[i] = la_ss((size_t) w.d, sample(&w, i));
        total += w.norm2[i];
    }
    if (!R_FINITE(4.0 * total)) {
        run->status = UFS_NUMERICAL;
        return;
    }

    for (int s = 0; s < settings->n_start; s++) {
        bool settled = false;
        int t = 0;
        w.label = result->label + (size_t) s * (size_t) w.n;
        seed(&w, settings->draw + (size_t) s * (size_t) w.c);
        for (bool changed = true; changed && t < settings->max_iter; t++) changed = pass(&w, false);
        sum_up(&w);
        for (; !settled && t < settings->max_iter; t++) settled = !pass(&w, true);
        result->within[s] = within(&w);
        result->iterations[s] = t;
        if (!settled) run->status = UFS_MAX_ITER;
    }
}

/* ---- centres --------------------------------------------------------------------------------- */

/* The sum of squares of the labels. */
static double within(kmeans_work *w)
{
    double ss = 0.0;

    sum_up(w);
    renew_centres(w);
    for (int i = 0; i < w->n; i++)
        ss += squared_distance(w->d, sample(w, i), centre(w, w->label[i]));
    return ss;
}

/* Sizes and sums of the clusters, afresh; the centres stay. */
static void sum_up(kmeans_work *w)
{
    memset(w->sum, 0, (size_t) w->d * (size_t) w->c * sizeof(double));
    memset(w->size, 0, (size_t) w->c * sizeof(int));
    for (int i = 0; i < w->n; i++) {
        la_axpy(w->d, 1.0, sample(w, i), w->sum + (size_t) w->label[i] * (size_t) w->d);
        w->size[w->label[i]]++;
    }
}

static void renew_centres(kmeans_work *w)
{
    fill_empty(w);
    for (int j = 0; j < w->c; j++) w->moved[j] += to_mean(w, j);
}

/* An empty cluster gets the sample that is farthest from its centre, as far as is known,
 * among those that are not alone. */
static void fill_empty(kmeans_work *w)
{
    for (int j = 0; j < w->c; j++) {
        int far = -1;
        if (w->size[j] > 0) continue;
        for (int i = 0; i < w->n; i++) {
            double high = w->high[i] + w->moved[w->label[i]];
            if (w->size[w->label[i]] > 1 &&
                (far < 0 || high > w->high[far] + w->moved[w->label[far]]))
                far = i;
        }
        move(w, far, j);
        /* Nothing is known about the distance to where the centre was: low stays true. */
        w->high[far] = distance(w, far, j) - w->moved[j];
    }
}

static void move(kmeans_work *w, int i, int to)
{
    int from = w->label[i];
    la_axpy(w->d, -1.0, sample(w, i), w->sum + (size_t) from * (size_t) w->d);
    la_axpy(w->d, 1.0, sample(w, i), w->sum + (size_t) to * (size_t) w->d);
    w->size[from]--;
    w->size[to]++;
    w->label[i] = to;
}

/* Centre j goes to its mean; returns how far that is. */
static double to_mean(kmeans_work *w, int j)
{
    double *at = centre(w, j), ss = 0.0;
    const double *sum = w->sum + (size_t) j * (size_t) w->d;

    for (int k = 0; k < w->d; k++) {
        double to = sum[k] / w->size[j], step = to - at[k];
        ss += step * step;
        at[k] = to;
    }
    return sqrt(ss);
}

static const double *sample(const kmeans_work *w, int i)
{
    return w->y + (size_t) i * (size_t) w->d;
}

static double distance(const kmeans_work *w, int i, int j)
{
    return sqrt(squared_distance(w->d, sample(w, i), centre(w, j)));
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

static double *centre(const kmeans_work *w, int j)
{
    return w->centre + (size_t) j * (size_t) w->d;
}

static void work_init(kmeans_work *w, const kmeans_problem *problem)
{
    size_t n = (size_t) problem->n, c = (size_t) problem->c;
    size_t d = (size_t) (problem->p > problem->n ? problem->n : problem->p);

    w->n = problem->n;
    w->c = problem->c;
    w->d = (int) d;
    w->first = problem->first;
    w->y = ufs_dalloc(d, n);
    ufs_dalloc_each(n, 1, (double **[]){&w->norm2, &w->high, &w->near, &w->product, NULL});
    ufs_dalloc_each(d, c, (double **[]){&w->centre, &w->sum, NULL});
    w->size = ufs_ialloc(c);
    w->low = ufs_dalloc(c, n);
    w->moved = ufs_dalloc(c, 1);
}

/* ---- coordinates ----------------------------------------------------------------------------- */

/* The centred columns, or U with U'U = the centred Gram matrix, in the order of the samples. */
static int coordinates(kmeans_work *w, const kmeans_problem *problem)
{
    size_t n = (size_t) w->n, p = (size_t) problem->p, d = (size_t) w->d;
    double *mean = ufs_dzero(p, 1), *gram, total = 0.0;
    const ufs_x x = {
        .kind = UFS_X_SCALED, .n = w->n, .p = problem->p, .dense = problem->x, .shift = mean};
    int rank, lapack;

    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i < n; i++) mean[j] += problem->x[i + j * n];
        mean[j] /= (double) n;
    }
    if (p <= n) {
        for (size_t j = 0; j < d; j++) {
            const double *column = ufs_x_column(&x, (int) j, w->product);
            for (size_t i = 0; i < n; i++) w->y[j + i * d] = column[i];
        }
        return 0;
    }
    gram = ufs_dalloc(n, n);
    ufs_x_gram_rows(&x, NULL, gram);
    for (size_t i = 0; i < n; i++) total += gram[i + i * n];
    /* The factor of what is not finite may be. */
    if (!R_FINITE(total)) {
        for (size_t i = 0; i < n * n; i++) w->y[i] = total;
        return 0;
    }
    /* The zero of equal samples has one coordinate. */
    memset(w->y, 0, n * sizeof(double));
    lapack = la_chol_root(w->n, gram, false, w->y, &rank);
    w->d = rank > 0 ? rank : 1;
    return lapack;
}

/* ---- seeds ----------------------------------------------------------------------------------- */

/* Centres, labels and bounds from c seeds. */
static void seed(kmeans_work *w, const double *draw)
{
    int n = w->n, c = w->c;

    memset(w->label, 0, (size_t) n * sizeof(int));
    for (int i = 0; i < n; i++) w->near[i] = R_PosInf;
    for (int j = 0; j < c; j++) {
        int chosen = draw_sample(w, draw[j], j);
        const double *at = sample(w, chosen);
        ufs_copy(centre(w, j), at, (size_t) w->d);
        la_gemv('T', w->d, n, 1.0, w->y, w->d, at, 0.0, w->product);
        w->moved[j] = 0.0;
        for (int i = 0; i < n; i++) {
            double ss = w->norm2[i] + w->norm2[chosen] - 2.0 * w->product[i];
            ss = w->first[i] == w->first[chosen] || ss < 0.0 ? 0.0 : ss;
            w->low[(size_t) j + (size_t) i * (size_t) c] = sqrt(ss);
            if (ss < w->near[i]) {
                w->near[i] = ss;
                w->label[i] = j;
            }
        }
    }
    for (int i = 0; i < n; i++) w->high[i] = sqrt(w->near[i]);
    sum_up(w);
}

/* The sample that u in [0, 1) picks: any of them first, then by `near`; one that no seed equals
 * in any case. */
static int draw_sample(const kmeans_work *w, double u, int n_seed)
{
    double total = 0.0, sum = 0.0;
    int last = -1;

    if (n_seed == 0) return (int) (u * w->n) < w->n ? (int) (u * w->n) : w->n - 1;
    for (int i = 0; i < w->n; i++) total += w->near[i];
    for (int i = 0; i < w->n; i++) {
        if (!(w->near[i] > 0.0)) continue;
        last = i;
        sum += w->near[i];
        if (sum > u * total) return i;
    }
    if (last >= 0) return last;
    /* All that is left differs from a seed by rounding only. */
    for (int i = 0; i < w->n; i++) {
        bool known = false;
        for (int j = 0; j < n_seed && !known; j++)
            known = squared_distance(w->d, sample(w, w->first[i]), centre(w, j)) == 0.0;
        if (!known) return i;
    }
    return 0;
}

/* ---- Lloyd's iteration, and exchange of single samples --------------------------------------- */

/* New centres, then one sample after the other. False if none changed its cluster. */
static bool pass(kmeans_work *w, bool exchange)
{
    bool changed = false;

    R_CheckUserInterrupt();
    renew_centres(w);
    for (int i = 0; i < w->n; i++) changed = reassign(w, i, exchange) || changed;
    return changed;
}

/* Whether sample i leaves its cluster a: for the nearest centre in Lloyd's iteration. In an exchange
 * to leave a (size m) saves m / (m - 1) times the squared distance to its centre, to join cluster j
 * costs m / (m + 1) times that to the other one, and both centres follow. */
static bool reassign(kmeans_work *w, int i, bool exchange)
{
    int a = w->label[i], c = w->c, best = -1;
    double *low = w->low + (size_t) i * (size_t) c, high = w->high[i] + w->moved[a];
    double leave = 1.0, saved, d_best = 0.0;
    bool exact = false;

    if (exchange && w->size[a] < 2) return false;
    if (exchange) leave = sqrt((double) w->size[a] / (w->size[a] - 1.0));
    saved = leave * high;
    for (int j = 0; j < c; j++) {
        double join = exchange ? sqrt((double) w->size[j] / (w->size[j] + 1.0)) : 1.0, d;
        if (j == a || saved <= join * (low[j] - w->moved[j])) continue;
        if (!exact) {
            high = distance(w, i, a);
            low[a] = high + w->moved[a];
            w->high[i] = high - w->moved[a];
            /* Less by what rounding can feign, so that the sum of squares falls for sure. */
            saved = exchange ? leave * high * (1.0 - UFS_TIE) : high;
            exact = true;
            if (saved <= join * (low[j] - w->moved[j])) continue;
        }
        d = distance(w, i, j);
        low[j] = d + w->moved[j];
        if (join * d < saved) {
            saved = join * d;
            best = j;
            d_best = d;
        }
    }
    if (best < 0) return false;
    move(w, i, best);
    if (exchange) {
        w->moved[a] += high / w->size[a];
        w->moved[best] += d_best / w->size[best];
        to_mean(w, a);
        to_mean(w, best);
        d_best = distance(w, i, best);
    }
    w->high[i] = d_best - w->moved[best];
    return true;
}
