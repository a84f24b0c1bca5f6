/* ted.c: greedy sequential transductive experimental design.
 *
 * Problem (Yu, Bi & Tresp, ICML 2006). Items x_i (rows of the n x p matrix x; the paper has
 * them as columns), ridge mu > 0. Choose S, |S| = m, to make
 *     J(S) = sum_i min_a ||x_i - sum_{j in S} a_j x_j||^2 + mu ||a||^2
 * small, one item at a time. With K = x x' deflated by the items chosen so far,
 * J(S) = tr K, and item j lowers it by exactly
 *     ||K_.j||^2 / (K_jj + mu),   after which  K <- K - K_.j K_.j' / (K_jj + mu).
 * Items given beforehand are taken out of K in the same way first, in any order; in the p-form
 * below that takes their rows alone. Items that are not allowed are never picked, but count in J.
 * With costs the picks end when no item is within what is left of the budget, and with per_cost
 * the largest decrease per unit of cost is the best.
 *
 * With k = K_.j of the pick and h = K k, all that a step needs is
 *     ||K_.i||^2 <- ||K_.i||^2 - 2 c_i h_i + c_i^2 ||k||^2,  c_i = k_i / (K_jj + mu),
 *     K_ii <- K_ii - c_i k_i,
 * and K itself is kept
 *   n-form  as a matrix, from which picks are subtracted BATCH at a time
 *           n^2 p + 6 m n^2 flops, 8 n^2 bytes
 *   p-form  as x M x', M p x p deflated by u u', u = M x_j: k = x u, h = x M x'x u
 *           2 n p^2 + m (4 n p (1 + UFS_STRIP / n) + 6 p^2) flops, 32 p^2 + 8 p (2 BATCH + UFS_STRIP)
 *           + 16 n BATCH bytes, but no more than x takes, or 16 columns; x is known by products, rows
 *           and x_i'S x_i (x_ops.h): a pass over a file for each batch, and UFS_STRIP rows of it
 * and the cheaper one is taken, so n x n stays below 1.5 times the size of x.
 *
 * A pass over x for every pick would be matrix times vector. Hence the p-form picks up to BATCH
 * items in advance, following only the UFS_STRIP of largest decrease, does k and h of all items
 * for the whole batch by one product, and then goes through the batch again with all items: the
 * picks up to the first that another item would have beaten stand, the rest is thrown away. The
 * first pick of a batch is always right, and the next batch is twice as long as what stood.
 *
 * The recurrence for ||K_.i||^2 carries the rounding of its larger past values. It is started
 * afresh from K with every block (n-form), and whenever that of the item about to be picked has
 * fallen to REFRESH of what it was then (p-form: 2 n p^2 + 4 p^3 flops; at the end, whenever that of
 * any item has).
 *
 * Ties. The largest decrease wins and among equals the lowest index. The entries
 * of K carry the rounding of the K at the start, hence a decrease d that of
 * sqrt(d d_1), d_1 being the first pick's: decreases within UFS_ROUNDING sqrt(d d_1)
 * count as equal, so that the order does not depend on the BLAS. */
#include "ted.h"
#include "la.h"

/* Picks made in advance; in the n-form, picks that K waits for. */
enum { BATCH = 64 };
static const double REFRESH = 1e-3;

typedef struct {
    const ted_problem *problem;
    int n; /* items */
    bool p_form;
    double first;       /* the first pick's value */
    double rest;        /* what is left of the budget */
    const double *cost; /* n: what each item costs; NULL: nothing */
    double *kernel;     /* n-form: K, n x n */
    double *late;       /* n-form: k / sqrt(K_jj + mu) of picks not yet subtracted, n x BATCH */
    int n_late;
    double *gram, *m; /* p-form: x'x and M, p x p */
    double *kh;       /* n-form: k and h, n x 2 */
    double *ss;       /* n: ||K_.i||^2 */
    double *diag;     /* n: K_ii */
    bool *gone;       /* n: picked, given or not allowed */
    double *then;     /* n: ss when it was last computed from K */
} ted_work;

/* Picks made in advance (p-form). */
typedef struct {
    int most;          /* picks at most */
    int size, count;   /* picks wanted, made */
    int *item;         /* UFS_STRIP: those items, ascending */
    double *x;         /* followed.n x p: their rows */
    ted_work followed; /* their k, h, ss, diag, gone, then */
    int pick[BATCH];   /* items picked */
    double by[BATCH], kk[BATCH];
    double *late;     /* p x BATCH: u / sqrt(by), not yet taken from M */
    double *uv;       /* p x 2 BATCH: u and M x'x u of each pick */
    double *kh;       /* n x 2 BATCH: x times them, k and h */
    double *row, *cu; /* p: the row picked, x'x u */
    double *sorted;   /* n */
    double *cost;     /* UFS_STRIP: what those items cost */
} ted_batch;

/* ---- picks ------------------------------------------------------------------------------- */

static double ridge_of(const ted_work *work, int j)
{
    return fmax(work->diag[j], 0.0) + work->problem->mu;
}

static double decrease(const ted_work *work, int j)
{
    return fmax(work->ss[j], 0.0) / ridge_of(work, j);
}

/* What picks are compared by. */
static double value(const ted_work *work, int j)
{
    bool per_cost = work->cost && work->problem->per_cost;
    return per_cost ? decrease(work, j) / work->cost[j] : decrease(work, j);
}

/* Whether j may be picked. */
static bool open_to(const ted_work *work, int j)
{
    return !work->gone[j] && (!work->cost || work->cost[j] <= work->rest);
}

static void pay(ted_work *work, int j)
{
    if (work->cost) work->rest -= work->cost[j];
}

/* Item j leaves K; kh: its k and, behind it, h; kk = k'k. */
static void subtract(ted_work *work, int j, const double *kh, double by, double kk)
{
    const double *h = kh + work->n;

    work->gone[j] = true;
    for (int i = 0; i < work->n; i++) {
        double c = kh[i] / by;
        work->ss[i] += c * (c * kk - 2.0 * h[i]);
        work->diag[i] -= c * kh[i];
    }
}

/* -1: none may be picked. */
static int best_item(const ted_work *work)
{
    int n = work->n;
    double top = -1.0, least;

    for (int j = 0; j < n; j++)
        if (open_to(work, j)) top = fmax(top, value(work, j));
    least = top - UFS_ROUNDING * sqrt(fabs(top) * fmax(work->first, top));
    for (int j = 0; j < n; j++)
        if (open_to(work, j) && value(work, j) >= least) return j;
    return -1;
}

/* Whether the recurrence has lost digits that the choice of j needs. Below the square of the
 * rounding of the first decrease all are ties, whatever their digits. */
static bool stale(const ted_work *work, int j)
{
    return work->ss[j] < REFRESH * work->then[j] &&
           value(work, j) > UFS_ROUNDING * UFS_ROUNDING * work->first;
}

/* ---- n-form ------------------------------------------------------------------------------ */

/* The late picks leave K; ||K_.i||^2 and K_ii from K itself. */
static void refresh_n(ted_work *work)
{
    int n = work->n;

    if (work->n_late > 0)
        la_mul('N', 'T', n, n, work->n_late, -1.0, work->late, work->late, 1.0, work->kernel);
    work->n_late = 0;
    for (size_t j = 0; j < (size_t) n; j++) {
        const double *col = work->kernel + j * (size_t) n;
        work->ss[j] = work->then[j] = la_ss((size_t) n, col);
        work->diag[j] = col[j];
    }
}

/* Takes item j out of K. */
static void take_out(ted_work *work, int j)
{
    int n = work->n, late = work->n_late++;
    size_t N = (size_t) n;
    double *next = work->late + (size_t) late * N, *k = work->kh, dot[BATCH];
    double by = ridge_of(work, j), root = sqrt(by);

    ufs_copy(k, work->kernel + (size_t) j * N, N);
    for (int t = 0; t < late; t++)
        la_axpy(n, -work->late[(size_t) j + (size_t) t * N], work->late + (size_t) t * N, k);
    la_gemv('N', n, n, 1.0, work->kernel, n, k, 0.0, k + n);
    if (late > 0) {
        la_gemv('T', n, late, 1.0, work->late, n, k, 0.0, dot);
        la_gemv('N', n, late, -1.0, work->late, n, dot, 1.0, k + n);
    }
    for (int i = 0; i < n; i++) next[i] = k[i] / root;
    subtract(work, j, k, by, la_dot(n, k, k));
    if (work->n_late == BATCH) refresh_n(work);
}

/* ---- p-form ------------------------------------------------------------------------------ */

/* The given items leave M, all that they change: UFS_STRIP rows a read. */
static void take_given_from_m(ted_work *work)
{
    const ted_problem *problem = work->problem;
    int p = problem->x->p;
    size_t P = (size_t) p;
    const void *mark = vmaxget();
    double *rows = ufs_dalloc(UFS_STRIP, P), *item = ufs_dalloc(P, 1), *u = ufs_dalloc(P, 1);

    for (int t = 0; t < problem->n_given; t += UFS_STRIP) {
        int wide = problem->n_given - t < UFS_STRIP ? problem->n_given - t : UFS_STRIP;
        ufs_x_rows(problem->x, wide, problem->given + t, rows);
        for (int a = 0; a < wide; a++) {
            R_CheckUserInterrupt();
            for (size_t l = 0; l < P; l++) item[l] = rows[(size_t) a + l * (size_t) wide];
            la_gemv('N', p, p, 1.0, work->m, p, item, 0.0, u);
            double by = fmax(la_dot(p, item, u), 0.0) + problem->mu;
            la_rank_one(p, p, -1.0 / by, u, u, work->m);
            work->gone[problem->given[t + a]] = true;
        }
    }
    vmaxset(mark);
}

/* ||K_.i||^2 = x_i'(M C M) x_i and K_ii = x_i'M x_i, or from K. */
static void refresh(ted_work *work)
{
    const ufs_x *x = work->problem->x;
    int p = x->p;
    size_t P = (size_t) p;
    const void *mark = vmaxget();

    if (!work->p_form) {
        refresh_n(work);
        return;
    }
    if (work->first == 0.0 && work->problem->n_given == 0) { /* M = I so far */
        ufs_x_row_forms(x, work->gram, work->ss);
        ufs_x_row_ss(x, work->diag);
    } else {
        double *half = ufs_dalloc(P, P < UFS_STRIP ? P : UFS_STRIP), *square = ufs_dalloc(P, P);
        for (int from = 0; from < p; from += UFS_STRIP) {
            int wide = p - from < UFS_STRIP ? p - from : UFS_STRIP;
            const double *m = work->m + (size_t) from * P;
            R_CheckUserInterrupt();
            la_mul('N', 'N', p, wide, p, 1.0, work->gram, m, 0.0, half);
            la_mul('N', 'N', p, wide, p, 1.0, work->m, half, 0.0, square + (size_t) from * P);
        }
        ufs_x_row_forms(x, square, work->ss);
        ufs_x_row_forms(x, work->m, work->diag);
    }
    for (int i = 0; i < work->n; i++) work->ss[i] = work->then[i] = fmax(work->ss[i], 0.0);
    vmaxset(mark);
}

static void batch_init(ted_batch *batch, const ted_work *work)
{
    const ufs_x *x = work->problem->x;
    size_t N = (size_t) work->n, P = (size_t) x->p, W = N < UFS_STRIP ? N : UFS_STRIP;

    batch->size = BATCH / 8;
    /* k and h of a batch take no more memory than x, or 16 columns. */
    batch->most = x->p / 2 < BATCH ? x->p / 2 : BATCH;
    if (batch->most < batch->size) batch->most = batch->size;
    /* The products of a batch with a file take half a block, or those of the first one. */
    if (x->kind == UFS_X_SOURCE && x->source.at_once / 4 < BATCH)
        batch->most = x->source.at_once / 4 < batch->size ? batch->size : x->source.at_once / 4;
    batch->item = ufs_ialloc(W);
    batch->x = ufs_dalloc(W, P);
    batch->late = ufs_dalloc(P, BATCH);
    batch->uv = ufs_dalloc(P, 2 * BATCH);
    batch->kh = ufs_dalloc(N, 2 * (size_t) batch->most);
    ufs_dalloc_each(P, 1, (double **[]){&batch->row, &batch->cu, NULL});
    batch->sorted = ufs_dalloc(N, 1);
    batch->cost = ufs_dalloc(W, 1);
    batch->followed = (ted_work){.problem = work->problem,
                                 .kh = ufs_dalloc(W, 2),
                                 .gone = (bool *) R_alloc(W, sizeof(bool))};
    ufs_dalloc_each(
        W, 1,
        (double **[]){&batch->followed.ss, &batch->followed.diag, &batch->followed.then, NULL});
}

/* Chooses the items that are followed: `next`, and those of largest decrease. */
static void choose_followed(const ted_work *work, int next, ted_batch *batch)
{
    int n = work->n, width = 0, left = 0;
    double least = 0.0;

    for (int i = 0; i < n; i++)
        if (open_to(work, i)) batch->sorted[left++] = value(work, i);
    if (left > UFS_STRIP) {
        rPsort(batch->sorted, left, left - UFS_STRIP);
        least = batch->sorted[left - UFS_STRIP];
    }
    for (int i = 0; i < n; i++) {
        /* Of many equals those before `next` leave room for it. */
        bool room = width < (i < next ? UFS_STRIP - 1 : UFS_STRIP);
        if (!(i == next || (room && open_to(work, i) && value(work, i) >= least))) continue;
        batch->followed.ss[width] = work->ss[i];
        batch->followed.diag[width] = work->diag[i];
        batch->followed.then[width] = work->then[i];
        batch->followed.gone[width] = false;
        if (work->cost) batch->cost[width] = work->cost[i];
        batch->item[width++] = i;
    }
    batch->followed.n = width;
    batch->followed.first = work->first;
    batch->followed.rest = work->rest;
    batch->followed.cost = work->cost ? batch->cost : NULL;
    ufs_x_rows(work->problem->x, width, batch->item, batch->x);
}

/* to = M from, where the picks of the batch have not yet left M. */
static void lagged(const ted_work *work, const ted_batch *batch, const double *from, double *to)
{
    int p = work->problem->x->p, late = batch->count;
    double dot[BATCH];
    la_gemv('N', p, p, 1.0, work->m, p, from, 0.0, to);
    la_gemv('T', p, late, 1.0, batch->late, p, from, 0.0, dot);
    la_gemv('N', p, late, -1.0, batch->late, p, dot, 1.0, to);
}

/* At most `most` picks among the items that are followed. */
static void pick_ahead(const ted_work *work, int most, ted_batch *batch)
{
    int p = work->problem->x->p, width = batch->followed.n;
    size_t P = (size_t) p, W = (size_t) width;
    ted_work *followed = &batch->followed;

    if (most > batch->size) most = batch->size;
    if (most > width) most = width;
    R_CheckUserInterrupt();
    for (batch->count = 0; batch->count < most; batch->count++) {
        int b = batch->count, at = best_item(followed);
        double *u = batch->uv + (size_t) (2 * b) * P, by, root;
        if (at < 0 || (b > 0 && stale(followed, at))) break;
        by = ridge_of(followed, at);
        root = sqrt(by);
        for (size_t l = 0; l < P; l++) batch->row[l] = batch->x[(size_t) at + l * W];
        lagged(work, batch, batch->row, u);
        la_gemv('N', p, p, 1.0, work->gram, p, u, 0.0, batch->cu);
        lagged(work, batch, batch->cu, u + P);
        batch->pick[b] = batch->item[at];
        batch->by[b] = by;
        batch->kk[b] = la_dot(p, u, batch->cu);
        for (size_t l = 0; l < P; l++) batch->late[l + (size_t) b * P] = u[l] / root;
        la_mul('N', 'N', width, 2, p, 1.0, batch->x, u, 0.0, followed->kh);
        subtract(followed, at, followed->kh, by, batch->kk[b]);
        pay(followed, at);
    }
}

/* Goes through the batch with all items: how many of its picks stand, at least one. */
static int settle(ted_work *work, ted_batch *batch, int *order, double *score)
{
    const ufs_x *x = work->problem->x;
    int n = work->n, p = x->p, made = 0;

    ufs_x_mul(x, 2 * batch->count, batch->uv, batch->kh);
    for (; made < batch->count; made++) {
        int j = batch->pick[made];
        if (made > 0 && best_item(work) != j) break;
        order[made] = j;
        score[made] = decrease(work, j);
        subtract(work, j, batch->kh + 2 * (size_t) made * (size_t) n, batch->by[made],
                 batch->kk[made]);
        pay(work, j);
    }
    la_mul('N', 'T', p, p, made, -1.0, batch->late, batch->late, 1.0, work->m);
    batch->size = 2 * made < batch->most ? 2 * made : batch->most;
    return made;
}

/* ---- both -------------------------------------------------------------------------------- */

/* K without the items that are given. */
static void begin(ted_work *work)
{
    const ted_problem *problem = work->problem;
    size_t N = (size_t) problem->x->n, P = (size_t) problem->x->p;

    ufs_dalloc_each(N, 1, (double **[]){&work->ss, &work->diag, &work->then, NULL});
    work->gone = (bool *) R_alloc(N, sizeof(bool));
    for (size_t i = 0; i < N; i++) work->gone[i] = problem->allowed && !problem->allowed[i];
    if (work->p_form) {
        work->gram = ufs_dalloc(P, P);
        work->m = ufs_dzero(P, P);
        for (size_t i = 0; i < P; i++) work->m[i + i * P] = 1.0;
        ufs_x_gram_cols(problem->x, work->gram);
        take_given_from_m(work);
    } else {
        work->kernel = ufs_dalloc(N, N);
        work->late = ufs_dalloc(N, BATCH);
        work->kh = ufs_dalloc(N, 2);
        ufs_x_gram_rows(problem->x, NULL, work->kernel);
        refresh_n(work);
        for (int t = 0; t < problem->n_given; t++) {
            R_CheckUserInterrupt();
            take_out(work, problem->given[t]);
        }
    }
    refresh(work);
}

/* ---- the whole --------------------------------------------------------------------------- */

void ted_solve(const ted_problem *problem, const ted_settings *settings, ted_result *result,
               ufs_run *run)
{
    static const char *const columns[] = {"objective", "decrease", NULL};
    int n = problem->x->n;
    double N = n, P = problem->x->p, M = settings->m + problem->n_given, objective = 0.0;
    bool late = false;
    bool cheaper = 3.0 * N * P * P + M * (4.0 * N * P + 8.0 * P * P) < N * N * P + 6.0 * M * N * N;
    ted_work work = {.problem = problem,
                     .n = n,
                     .rest = problem->budget,
                     .cost = problem->cost,
                     .p_form = settings->form == 'p' || (settings->form == 'a' && cheaper)};
    ted_batch batch;

    result->p_form = work.p_form;
    ufs_trace_named(&run->trace, settings->m, columns);
    run->status = UFS_CONVERGED;
    begin(&work);
    if (work.p_form) batch_init(&batch, &work);
    for (int i = 0; i < n; i++) objective += work.diag[i];
    result->start = objective;
    result->count = 0;
    for (int t = 0, made = 1; t < settings->m; t += made) {
        int j = best_item(&work);
        if (j >= 0 && stale(&work, j)) {
            refresh(&work);
            j = best_item(&work);
        }
        if (j < 0) break;
        if (t == 0) work.first = value(&work, j);
        if (work.p_form) {
            choose_followed(&work, j, &batch);
            pick_ahead(&work, settings->m - t, &batch);
            made = settle(&work, &batch, result->order + t, result->score + t);
        } else {
            result->order[t] = j;
            result->score[t] = decrease(&work, j);
            take_out(&work, j);
            pay(&work, j);
        }
        result->count += made;
        for (int b = t; b < t + made; b++) {
            objective -= result->score[b];
            run->iterations++;
            ufs_trace_add(&run->trace, (double[]){objective, result->score[b]});
            ufs_run_step(run, objective, result->score[b]);
        }
    }
    for (int i = 0; i < n; i++) late = late || (!work.gone[i] && stale(&work, i));
    if (!work.p_form || late) refresh(&work);
    for (int i = 0; i < n; i++) result->left[i] = work.gone[i] ? 0.0 : decrease(&work, i);
}

/* ---- a kernel of items as inner products of short rows --------------------------------------- */

/* K is n x n and semidefinite: K_ij = exp(-|x_i - x_j|^2 / width), or given. Find an
 * n x r matrix R with K ~ R R', r << n, without K itself. Cholesky with pivots (Fine & Scheinberg,
 * JMLR 2001) takes the item j whose K_jj is largest once the columns so far have left K, adds
 * the column k / sqrt(K_jj), k = K_.j, and stops when tr(K - R R') is `tol` of tr K, or at `most`
 * columns. What is left is semidefinite, so tr(K - R R') bounds all of its eigenvalues.
 *     2 r (n p + n r) flops; n (r + 2) doubles. A column of K takes one product with x: that of
 *     a file would be a pass, so callers bring these into memory.
 * All K_jj of the first kind are 1 at the start: the first pivot is then the item nearest the
 * mean, so that the order of the items decides nothing. */
/* |x_i|^2 + |x_j|^2 in widths, above which products say too little of the distance between items; and
 * the distance beyond which that changes nothing. */
static const double LARGE = 1e5, NEAR = 100.0;

typedef struct {
    const ted_kernel *kernel;
    double *square; /* n: |x_i|^2 */
    double *diag;   /* n: K_ii, what is left of it */
    double *row;    /* p: the pivot's row; most: its row of R */
    double *other;  /* p: a row near it */
} root_work;

/* The item of the largest K_jj, the lowest index among equals; at the start that nearest to the mean. */
static int next_pivot(const root_work *work, bool start)
{
    int n = work->kernel->n, best = 0;
    double top = 0.0;

    if (start && work->kernel->x) {
        for (int i = 1; i < n; i++)
            if (work->square[i] < work->square[best] * (1.0 - UFS_ROUNDING)) best = i;
        return best;
    }
    for (int i = 0; i < n; i++) top = fmax(top, work->diag[i]);
    for (int i = 0; i < n; i++)
        if (work->diag[i] >= top * (1.0 - UFS_ROUNDING)) return i;
    return 0;
}

/* out = column j of K. */
static void kernel_column(const root_work *work, int j, double *out)
{
    const ted_kernel *kernel = work->kernel;
    int n = kernel->n;

    if (!kernel->x) {
        ufs_copy(out, kernel->kernel + (size_t) j * (size_t) n, (size_t) n);
        return;
    }
    ufs_x_rows(kernel->x, 1, &j, work->row);
    ufs_x_mul(kernel->x, 1, work->row, out);
    for (int i = 0; i < n; i++) {
        double both = work->square[i] + work->square[j], d2 = both - 2.0 * out[i];
        if (both > LARGE * kernel->width && d2 < NEAR * kernel->width + UFS_ROUNDING * both) {
            ufs_x_rows(kernel->x, 1, &i, work->other);
            d2 = la_ss_diff((size_t) kernel->x->p, work->row, work->other);
        }
        out[i] = exp(-fmax(d2, 0.0) / kernel->width);
    }
    out[j] = 1.0;
}

/* Adds column t of R, that of item j, and takes it out of the diagonal. */
static void add_column(root_work *work, int t, int j, ted_root *result)
{
    int n = work->kernel->n;
    size_t N = (size_t) n;
    double *k = result->root + (size_t) t * N, root = sqrt(work->diag[j]);

    kernel_column(work, j, k);
    for (int s = 0; s < t; s++) work->row[s] = result->root[(size_t) j + (size_t) s * N];
    if (t > 0) la_gemv('N', n, t, -1.0, result->root, n, work->row, 1.0, k);
    result->left = 0.0;
    for (int i = 0; i < n; i++) {
        k[i] /= root;
        work->diag[i] -= k[i] * k[i];
        result->least = fmin(result->least, work->diag[i]);
        if (work->diag[i] < 0.0) work->diag[i] = 0.0;
        result->left += work->diag[i];
    }
    work->diag[j] = 0.0;
    result->pivot[t] = j;
    result->rank = t + 1;
}

void ted_kernel_root(const ted_kernel *kernel, ted_root *result)
{
    int n = kernel->n, p = kernel->x ? kernel->x->p : 0;
    size_t N = (size_t) n;
    root_work work = {.kernel = kernel};

    ufs_dalloc_each(N, 1, (double **[]){&work.square, &work.diag, NULL});
    work.row = ufs_dalloc((size_t) (p > kernel->most ? p : kernel->most), 1);
    work.other = ufs_dalloc((size_t) p, 1);
    if (kernel->x) ufs_x_row_ss(kernel->x, work.square);
    result->rank = 0;
    result->trace = result->least = 0.0;
    for (size_t i = 0; i < N; i++) {
        work.diag[i] = kernel->x ? 1.0 : kernel->kernel[i + i * N];
        result->least = fmin(result->least, work.diag[i]);
        if (work.diag[i] < 0.0) work.diag[i] = 0.0;
        result->trace += work.diag[i];
    }
    result->left = result->trace;
    for (int t = 0; t < kernel->most && result->left > kernel->tol * result->trace; t++) {
        int j = next_pivot(&work, t == 0);
        R_CheckUserInterrupt();
        if (!(work.diag[j] > UFS_ROUNDING * result->trace / n)) break;
        add_column(&work, t, j, result);
    }
}
