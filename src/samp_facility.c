/* samp_facility.c: samples that stand for all samples.
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
 * Where s_ij is stored (given, sparse, or cosine and heat with a table), all gains are
 * kept exact: when a pick raises c_i, row i of S says by how much every gain falls. A
 * pick takes over about n / t samples, so all of this costs about n^2 ln m
 * (nnz ln m).
 *   Otherwise s_ij is recomputed from x, as seldom as it can be: the gain of candidate j,
 * known after t' picks, differs from that after t picks by samples alone whose c_i has risen
 * since, so the rises are remembered (who, from what, by which pick) and only those s_ij are
 * formed, for a block of candidates by one product of matrices. All gains after all picks
 * would cost 2 n^2 p ln m; many are never asked for.
 *
 * Flops (cosine, heat): table n^2 p + 2 n^2 (1 + ln m); tiles n^2 p (heat 2 n^2 p) for
 * the first two picks, 2 p for each pair looked at again, n^2 p at the end. Each
 * pick makes a heap of n gains, and sorts them for the bound. Memory: 8 n^2 bytes with the
 * table, else 8 n (FACILITY_BATCH + 10) + (many + FACILITY_TILE) (p + FACILITY_TILE) doubles, and 16 bytes for each rise, some
 * n ln m: never a second copy of x. A swap round costs n^2 + 2 n m (without a table n^2 p).
 *
 * Ties. Gains carry the rounding of sums of n terms: those within 1e-12 of the first
 * pick's gain count as equal, and the lowest index is taken. */
#include "samp_facility_work.h"
#include "la.h"
#include <R_ext/Utils.h>
#include <R_ext/Memory.h>

enum { FEW = 16, MANY = 1024 };
static const double TIE = 1e-12, IMPROVES = 1e-10, MOVES = 1e-12;

static void begin(const facility_problem *problem, const facility_settings *settings,
                  facility_work *work);
static void reset(facility_work *work);
static void pick_all(facility_work *work, int m, bool bounds, facility_result *result,
                     ufs_run *run);
static int next_pick(facility_work *work);
static int pop_largest(facility_work *work, int *n_heap);
static void sink(const facility_work *work, int n_heap, int at);
static void evaluate(facility_work *work, int n_list, const int *list);
static void remember_rise(facility_work *work, int i, int pick);
static void take(facility_work *work, int j, int pick, facility_result *result);
static void tighten(facility_work *work, int i, double from, double to);
static void improve_bounds(facility_work *work, int t, int m, double *bound);
static void swap_picks(facility_work *work, const facility_settings *settings,
                       facility_result *result);

void facility_solve(const facility_problem *problem, const facility_settings *settings,
                    facility_result *result, ufs_run *run)
{
    static const char *const columns[] = {"iteration", "objective", "gain", "evaluations", NULL};
    facility_work work;
    size_t n = (size_t) problem->n;

    ufs_trace_named(&run->trace, settings->m, columns);
    begin(problem, settings, &work);
    for (int t = 0; t < settings->m; t++) result->bound[t] = R_PosInf;
    reset(&work);
    facility_all_gains(&work);
    pick_all(&work, settings->m, true, result, run);
    result->swaps = 0;
    if (settings->max_swaps > 0) {
        swap_picks(&work, settings, result);
        if (result->swaps > 0) {
            /* Once more from the start, with these candidates only: their order. */
            reset(&work);
            for (size_t i = 0; i < n; i++) work.open[i] = false;
            for (int t = 0; t < settings->m; t++) work.open[result->order[t]] = true;
            facility_all_gains(&work);
            ufs_trace_named(&run->trace, settings->m, columns);
            pick_all(&work, settings->m, false, result, run);
            for (size_t i = 0; i < n; i++) work.open[i] = true;
            for (int l = 0; l < problem->n_labelled; l++) work.open[problem->labelled[l]] = false;
            for (int t = 0; t < settings->m; t++) work.open[result->order[t]] = false;
            facility_all_gains(&work);
        }
    }
    for (size_t i = 0; i < n; i++) result->left[i] = work.open[i] ? work.upper[i] : 0.0;
    result->value = work.value;
    run->status = UFS_CONVERGED;
}

/* ---- set-up ---------------------------------------------------------------------- */

static void begin(const facility_problem *problem, const facility_settings *settings,
                  facility_work *work)
{
    size_t n = (size_t) problem->n, p = (size_t) problem->p;
    bool from_x = problem->kind == FACILITY_COSINE || problem->kind == FACILITY_HEAT;

    memset(work, 0, sizeof *work);
    work->problem = problem;
    work->n = problem->n;
    work->cover = ufs_dalloc(n, 1);
    work->stand_in = ufs_ialloc(n);
    work->upper = ufs_dzero(n, 1);
    work->open = (bool *) R_alloc((size_t) problem->n, sizeof(bool));
    work->fresh = (bool *) R_alloc((size_t) problem->n, sizeof(bool));
    work->sorted = ufs_dalloc(n, 1);
    work->heap = ufs_ialloc(n);
    work->known = ufs_ialloc(n);
    work->last_rise = ufs_ialloc(n);
    work->stored = !from_x || settings->table;
    if (!work->stored || problem->kind == FACILITY_SPARSE)
        work->batch = ufs_dalloc(n, FACILITY_BATCH);
    if (problem->kind == FACILITY_DENSE) {
        work->candidate = problem->by_candidate;
        work->sample = problem->by_sample;
    }
    if (from_x) {
        work->size = ufs_dalloc(n, 1);
        la_row_norms(problem->n, problem->p, problem->x, work->size);
        if (problem->kind == FACILITY_HEAT)
            for (size_t i = 0; i < n; i++) work->size[i] *= work->size[i];
        /* A block of a sixteenth of x is no second copy of it. */
        work->many = problem->n / 16 > MANY ? MANY : problem->n / 16;
        if (work->many < FACILITY_TILE) work->many = FACILITY_TILE;
        work->rows = ufs_dalloc((size_t) work->many, p);
        work->rows2 = ufs_dalloc(FACILITY_TILE, p);
        work->tile = ufs_dalloc(FACILITY_TILE, (size_t) work->many);
        work->block = ufs_ialloc((size_t) work->many);
    }
    if (from_x && settings->table) {
        double *table = ufs_dalloc(n, n);
        facility_visit_tiles(work, table);
        work->candidate = work->sample = table;
    }
}

/* Nothing picked yet: the labelled samples cover. */
static void reset(facility_work *work)
{
    const facility_problem *problem = work->problem;

    work->value = work->first = 0.0;
    work->evaluations = work->taken = work->n_rise = 0;
    for (int i = 0; i < work->n; i++) {
        work->cover[i] = 0.0;
        work->stand_in[i] = -1;
        work->last_rise[i] = -1;
        work->upper[i] = 0.0;
        work->open[i] = true;
    }
    for (int l = 0; l < problem->n_labelled; l++) {
        take(work, problem->labelled[l], -1, NULL);
        work->open[problem->labelled[l]] = false;
    }
}

/* ---- the greedy choice -------------------------------------------------------------- */

static void pick_all(facility_work *work, int m, bool bounds, facility_result *result, ufs_run *run)
{
    result->start = work->value;
    result->n_change = 0;
    for (int i = 0; i < work->n; i++) result->first[i] = work->stand_in[i];
    for (int t = 0; t < m; t++) {
        double before = work->value;
        if (bounds) improve_bounds(work, t, m, result->bound);
        int j = next_pick(work);
        double gain = work->upper[j];
        if (t == 0) work->first = gain;
        result->order[t] = j;
        take(work, j, t, result);
        work->open[j] = false;
        work->taken = t + 1;
        /* After the first pick every old gain says little: all are measured again. */
        if (!work->stored && t == 0) facility_all_gains(work);
        run->iterations = t + 1;
        ufs_trace_add(&run->trace,
                      (double[]){t + 1, work->value, work->value - before, work->evaluations});
        ufs_run_step(run, work->value, gain);
    }
    if (!work->stored && m > 1) facility_all_gains(work);
    if (bounds) improve_bounds(work, m, m, result->bound);
}

/* The candidate of the largest gain, of equal ones that of the lowest index. */
static int next_pick(facility_work *work)
{
    int n = work->n, n_heap = 0, one, *list = work->stored ? &one : work->block;
    /* The last pick says how many will be asked for. */
    int most = work->stored ? 1 : work->evaluations / 4;
    double best = -1.0, tie = TIE * work->first;

    if (!work->stored) most = most < FEW ? FEW : most > work->many ? work->many : most;
    work->evaluations = 0;
    for (int i = 0; i < n; i++) {
        work->fresh[i] = false;
        if (work->open[i]) work->heap[n_heap++] = i;
    }
    for (int at = n_heap / 2 - 1; at >= 0; at--) sink(work, n_heap, at);
    for (;;) {
        int n_list = 0;
        while (n_list < most && n_heap > 0) {
            double top = work->upper[work->heap[0]];
            if (top < best - tie) break;
            /* Nothing to gain any more: all are equal. */
            if (best < 0.0 && n_list == 0 && top <= tie) {
                for (int i = 0; i < n; i++)
                    if (work->open[i]) return i;
            }
            list[n_list] = pop_largest(work, &n_heap);
            work->fresh[list[n_list++]] = true;
        }
        if (n_list == 0) break;
        evaluate(work, n_list, list);
        for (int b = 0; b < n_list; b++) best = fmax(best, work->upper[list[b]]);
        tie = TIE * fmax(work->first, best);
        if (!work->stored) most = most < work->many / 2 ? most * 2 : work->many;
    }
    for (int i = 0; i < n; i++)
        if (work->open[i] && work->fresh[i] && work->upper[i] >= best - tie) return i;
    return 0; /* not reached: callers ask for no more picks than there are candidates */
}

/* A heap of candidates, the largest work->upper first. */
static int pop_largest(facility_work *work, int *n_heap)
{
    int top = work->heap[0];
    work->heap[0] = work->heap[--*n_heap];
    sink(work, *n_heap, 0);
    return top;
}

static void sink(const facility_work *work, int n_heap, int at)
{
    int *heap = work->heap, moved = heap[at];
    for (int child; (child = 2 * at + 1) < n_heap; at = child) {
        if (child + 1 < n_heap && work->upper[heap[child + 1]] > work->upper[heap[child]]) child++;
        if (!(work->upper[heap[child]] > work->upper[moved])) break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

/* work->upper becomes the gain of each of the list. */
static void evaluate(facility_work *work, int n_list, const int *list)
{
    work->evaluations += n_list;
    if (!work->stored) {
        facility_look_again(work, n_list, list);
        return;
    }
    for (int b = 0; b < n_list; b++) {
        facility_load_columns(work, 1, list + b);
        const double *s = work->column[0];
        double gain = 0.0;
        for (int i = 0; i < work->n; i++) gain += fmax(0.0, s[i] - work->cover[i]);
        work->upper[list[b]] = gain;
    }
}

/* Adds candidate j: covers, who stands for whom, and gains where s_ij is stored. */
static void take(facility_work *work, int j, int pick, facility_result *result)
{
    facility_load_columns(work, 1, &j);
    const double *s = work->column[0];

    for (int i = 0; i < work->n; i++) {
        if (!(s[i] > work->cover[i])) continue;
        if (work->stand_in[i] < 0 || s[i] > work->cover[i] * (1.0 + MOVES)) {
            work->stand_in[i] = j;
            if (result != NULL) {
                if (result->n_change == work->change_size) {
                    int size = work->change_size ? 2 * work->change_size : 2 * work->n;
                    int *more = ufs_ialloc(2 * (size_t) size);
                    if (result->n_change)
                        memcpy(more, result->change, 2 * (size_t) result->n_change * sizeof(int));
                    result->change = more;
                    work->change_size = size;
                }
                result->change[2 * (size_t) result->n_change] = pick;
                result->change[2 * (size_t) result->n_change + 1] = i;
                result->n_change++;
            }
        }
        work->value += s[i] - work->cover[i];
        if (result != NULL && work->stored) tighten(work, i, work->cover[i], s[i]);
        if (!work->stored && pick > 0) remember_rise(work, i, pick);
        work->cover[i] = s[i];
    }
}

static void remember_rise(facility_work *work, int i, int pick)
{
    if (work->n_rise == work->rise_size) {
        int size = work->rise_size ? 2 * work->rise_size : work->n;
        facility_rise *more = (facility_rise *) R_alloc((size_t) size, sizeof(facility_rise));
        if (work->n_rise) memcpy(more, work->rise, (size_t) work->n_rise * sizeof(facility_rise));
        work->rise = more;
        work->rise_size = size;
    }
    work->rise[work->n_rise] = (facility_rise){work->cover[i], pick, work->last_rise[i]};
    work->last_rise[i] = work->n_rise++;
}

/* c_i rises: what every candidate adds at sample i falls. */
static void tighten(facility_work *work, int i, double from, double to)
{
    if (work->problem->kind == FACILITY_SPARSE) {
        const facility_sparse *s = &work->problem->sample;
        for (int l = s->start[i]; l < s->start[i + 1]; l++)
            if (s->value[l] > from) work->upper[s->index[l]] -= fmin(s->value[l], to) - from;
        return;
    }
    const double *s = work->sample + (size_t) i * (size_t) work->n;
    for (int j = 0; j < work->n; j++) work->upper[j] -= fmax(0.0, fmin(s[j], to) - from);
}

/* bound[m' - 1] for m' >= t: F(S_t) and the m' largest gains. */
static void improve_bounds(facility_work *work, int t, int m, double *bound)
{
    int n_open = 0;
    double sum = work->value;

    for (int i = 0; i < work->n; i++)
        if (work->open[i]) work->sorted[n_open++] = fmax(work->upper[i], 0.0);
    if (n_open) R_qsort(work->sorted, 1, (size_t) n_open);
    for (int l = 1; l <= m; l++) {
        if (l <= n_open) sum += work->sorted[n_open - l];
        if (l >= t) bound[l - 1] = fmin(bound[l - 1], sum);
    }
}

/* ---- swaps ---------------------------------------------------------------------------- */

/* The best and the second best of the chosen for every sample. */
typedef struct {
    double *best, *second; /* n */
    double *base;          /* n: what the labelled ones give */
    int *who;              /* n: position among the chosen, -1 = a labelled one */
    double *loss;          /* m */
} swap_work;

static void rank_chosen(facility_work *work, swap_work *swap, int m, const int *order)
{
    int n = work->n;
    for (int i = 0; i < n; i++) {
        swap->best[i] = swap->base[i];
        swap->second[i] = swap->base[i];
        swap->who[i] = -1;
    }
    for (int a = 0; a < m; a++) {
        facility_load_columns(work, 1, order + a);
        const double *s = work->column[0];
        for (int i = 0; i < n; i++) {
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

/* The best exchange of a chosen sample for another one, until none helps. */
static void swap_picks(facility_work *work, const facility_settings *settings,
                       facility_result *result)
{
    int n = work->n, m = settings->m, list[FACILITY_BATCH];
    size_t N = (size_t) n;
    swap_work swap = {ufs_dalloc(N, 1), ufs_dalloc(N, 1), ufs_dzero(N, 1), ufs_ialloc(N),
                      ufs_dalloc((size_t) m, 1)};
    bool *chosen = (bool *) R_alloc((size_t) n, sizeof(bool));

    for (int i = 0; i < n; i++) chosen[i] = false;
    for (int l = 0; l < work->problem->n_labelled; l++) {
        int j = work->problem->labelled[l];
        chosen[j] = true;
        facility_load_columns(work, 1, &j);
        for (int i = 0; i < n; i++) swap.base[i] = fmax(swap.base[i], work->column[0][i]);
    }
    for (int t = 0; t < m; t++) chosen[result->order[t]] = true;

    while (result->swaps < settings->max_swaps) {
        double value = 0.0, most = 0.0;
        int in = -1, out = -1;

        R_CheckUserInterrupt();
        rank_chosen(work, &swap, m, result->order);
        for (int i = 0; i < n; i++) value += swap.best[i];
        most = IMPROVES * value;
        for (int j = 0; j < n;) {
            int n_list = 0;
            for (; j < n && n_list < FACILITY_BATCH; j++)
                if (!chosen[j]) list[n_list++] = j;
            if (j % 512 < FACILITY_BATCH) R_CheckUserInterrupt();
            facility_load_columns(work, n_list, list);
            for (int b = 0; b < n_list; b++) {
                const double *s = work->column[b];
                double shared = 0.0;
                for (int a = 0; a < m; a++) swap.loss[a] = 0.0;
                for (int i = 0; i < n; i++) {
                    if (s[i] > swap.best[i])
                        shared += s[i] - swap.best[i];
                    else if (swap.who[i] >= 0)
                        swap.loss[swap.who[i]] += swap.best[i] - fmax(s[i], swap.second[i]);
                }
                for (int a = 0; a < m; a++)
                    if (shared - swap.loss[a] > most * (1.0 + IMPROVES)) {
                        most = shared - swap.loss[a];
                        in = list[b];
                        out = a;
                    }
            }
        }
        if (in < 0) break;
        chosen[result->order[out]] = false;
        chosen[in] = true;
        result->order[out] = in;
        result->swaps++;
    }
}
