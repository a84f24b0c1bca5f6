/* samp_ted.c: greedy sequential transductive experimental design.
 *
 * Problem (Yu, Bi & Tresp, ICML 2006). Items x_i (rows of the n x p matrix x; the paper has
 * them as columns), ridge mu > 0. Choose S, |S| = m, to make
 *     J(S) = sum_i min_a ||x_i - sum_{j in S} a_j x_j||^2 + mu ||a||^2
 * small, one item at a time. With K = x x' deflated by the items chosen so far,
 * J(S) = tr K, and item j lowers it by exactly
 *     ||K_.j||^2 / (K_jj + mu),   after which  K <- K - K_.j K_.j' / (K_jj + mu).
 * Items given beforehand are taken out of K in the same way first, in any order; in the p-form
 * below that takes their rows alone.
 *
 * With k = K_.j of the pick and h = K k, all that a step needs is
 *     ||K_.i||^2 <- ||K_.i||^2 - 2 c_i h_i + c_i^2 ||k||^2,  c_i = k_i / (K_jj + mu),
 *     K_ii <- K_ii - c_i k_i,
 * and K itself is kept
 *   n-form  as a matrix, from which picks are subtracted BLOCK at a time
 *           n^2 p + 6 m n^2 flops, 8 n^2 bytes
 *   p-form  as x M x', M p x p deflated by u u', u = M x_j: k = x u, h = x M x'x u
 *           2 n p^2 + m (4 n p (1 + WORTH / n) + 6 p^2) flops, 24 p^2 + 8 p (2 BATCH + WORTH)
 *           + 16 n BATCH bytes, less for a file; x is known by products, rows and x_i'S x_i
 *           (x_ops.h): a pass over a file for each batch, and WORTH rows of it
 * and the cheaper one is taken, so n x n stays below 1.5 times the size of x.
 *
 * A pass over x for every pick would be matrix times vector. Hence the p-form picks up to BATCH
 * items in advance, following only the WORTH ones of largest decrease, does k and h of all items
 * for the whole batch by one product, and then goes through the batch again with all items: the
 * picks up to the first that another item would have beaten stand, the rest is thrown away. The
 * first pick of a batch is always right, and the batch grows while nothing is thrown away.
 *
 * The recurrence for ||K_.i||^2 carries the rounding of its larger past values. It is started
 * afresh from K with every block (n-form), and whenever that of the item about to be picked has
 * fallen to REFRESH of what it was then (p-form: 2 n p^2 + 4 p^3 flops; at the end, whenever that of
 * any item has).
 *
 * Ties. The largest decrease wins and among equals the lowest index. The entries
 * of K carry the rounding of the K at the start, hence a decrease d that of
 * sqrt(d d_1), d_1 being the first pick's: decreases within 1e-12 sqrt(d d_1)
 * count as equal, so that the order does not depend on the BLAS. */
#include "samp_ted.h"
#include "la.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

enum { BLOCK = 32, STRIP = 256, BATCH = 64, WORTH = 256 };
static const double REFRESH = 1e-3;

typedef struct {
    const ted_problem *problem;
    int n; /* items */
    bool p_form;
    double *kernel; /* n-form: K, n x n */
    double *late;   /* n-form: k / sqrt(K_jj + mu) of picks not yet subtracted, n x BLOCK */
    int n_late;
    double *gram, *m;          /* p-form: x'x and M, p x p */
    double *item, *u, *cu, *v; /* p-form, p each, v behind u; item: n-form too (BLOCK) */
    double *k, *h;             /* n, h behind k */
    double *ss;                /* n: ||K_.i||^2 */
    double *diag;              /* n: K_ii */
    bool *gone;                /* n: picked or given */
    double *then;              /* n: ss when it was last computed from K */
} ted_work;

/* Picks made in advance (p-form). */
typedef struct {
    int most;               /* picks at most */
    int size, count, width; /* picks wanted, made; items followed */
    int *item;              /* WORTH: those items, ascending */
    double *x;              /* width x p: their rows */
    ted_work few;           /* their k, h, ss, diag, gone, then */
    int pick[BATCH];        /* items picked */
    double by[BATCH], kk[BATCH];
    double *late;   /* p x BATCH: u / sqrt(by), not yet taken from M */
    double *uv;     /* p x 2 BATCH: u and v of each pick */
    double *kh;     /* n x 2 BATCH: x times them */
    double *sorted; /* n */
} ted_batch;

static bool cheaper_by_p(const ted_problem *problem, int m);
static void init_n_form(ted_work *work);
static void init_p_form(ted_work *work);
static void refresh(ted_work *work);
static void refresh_n(ted_work *work);
static void refresh_p(ted_work *work);
static void note_fresh(ted_work *work);
static int best_item(const ted_work *work, double first);
static bool stale(const ted_work *work, int j, double first);
static bool any_stale(const ted_work *work, double first);
static double decrease(const ted_work *work, int j);
static double take_out(ted_work *work, int j);
static void subtract(ted_work *work, const double *k, const double *h, double by, double kk);
static ted_batch *new_batch(const ted_work *work);
static void choose_worth(const ted_work *work, int first, ted_batch *batch);
static void pick_ahead(ted_work *work, int most, double first, ted_batch *batch);
static void lagged(const ted_work *work, const ted_batch *batch, const double *from, double *to,
                   double *dot);
static int settle(ted_work *work, double *first, ted_batch *batch, double *gain);
static void take_out_given(ted_work *work);
static void column_n(ted_work *work, int j, double by);
static void two_products(int n, int p, const double *x, const double *u, const double *v, double *k,
                         double *h);
static void flush(ted_work *work);

void ted_solve(const ted_problem *problem, const ted_settings *settings, ted_result *result,
               ufs_run *run)
{
    static const char *const columns[] = {"objective", "decrease", NULL};
    int n = problem->n;
    size_t N = (size_t) n;
    double objective, first = 0.0;
    ted_work work = {.problem = problem,
                     .n = n,
                     .k = ufs_dalloc(N, 2),
                     .ss = ufs_dalloc(N, 1),
                     .diag = ufs_dalloc(N, 1),
                     .then = ufs_dalloc(N, 1),
                     .gone = (bool *) R_alloc(N, sizeof(bool))};

    work.h = work.k + N;
    ufs_trace_named(&run->trace, settings->m, columns);
    run->status = UFS_CONVERGED;
    work.p_form = result->p_form = settings->form == 'p' ||
                                   (settings->form == 'a' &&
                                    cheaper_by_p(problem, settings->m + problem->n_given));
    memset(work.gone, 0, N * sizeof(bool));
    if (work.p_form)
        init_p_form(&work);
    else
        init_n_form(&work);

    if (problem->n_given > 0) take_out_given(&work);
    objective = 0.0;
    for (size_t i = 0; i < N; i++) objective += work.diag[i];
    result->start = objective;
    ted_batch *batch = work.p_form ? new_batch(&work) : NULL;
    for (int t = 0, made = 1; t < settings->m; t += made) {
        double gain[BATCH];
        int j = best_item(&work, first);
        /* Below 1e-24 of the first decrease all are ties, whatever their digits. */
        if (stale(&work, j, first)) {
            refresh(&work);
            j = best_item(&work, first);
        }
        if (batch) {
            choose_worth(&work, j, batch);
            pick_ahead(&work, settings->m - t, first, batch);
            made = settle(&work, &first, batch, gain);
        } else {
            result->order[t] = j;
            gain[0] = take_out(&work, j);
            if (t == 0) first = gain[0];
        }
        for (int b = 0; b < made; b++) {
            if (batch) result->order[t + b] = batch->pick[b];
            result->score[t + b] = gain[b];
            objective -= gain[b];
            run->iterations++;
            ufs_trace_add(&run->trace, (double[]){objective, gain[b]});
            ufs_run_step(run, objective, gain[b]);
        }
    }
    if (!work.p_form || any_stale(&work, first)) refresh(&work);
    for (int i = 0; i < n; i++) result->left[i] = work.gone[i] ? 0.0 : decrease(&work, i);
}

static bool cheaper_by_p(const ted_problem *problem, int m)
{
    double n = problem->n, p = problem->p;
    return 3.0 * n * p * p + m * (4.0 * n * p + 8.0 * p * p) < n * n * p + 6.0 * m * n * n;
}

/* ---- K -------------------------------------------------------------------------------- */

static void init_n_form(ted_work *work)
{
    size_t N = (size_t) work->n;

    work->kernel = ufs_dalloc(N, N);
    work->late = ufs_dalloc(N, BLOCK);
    work->item = ufs_dalloc(BLOCK, 1);
    ufs_x_gram_rows(work->problem->x, NULL, work->kernel);
    refresh_n(work);
}

static void init_p_form(ted_work *work)
{
    const ufs_x *x = work->problem->x;
    size_t P = (size_t) work->problem->p;

    work->gram = ufs_dalloc(P, P);
    work->item = ufs_dalloc(P, 1);
    work->u = ufs_dalloc(P + (P > BATCH ? P : BATCH), 1);
    work->v = work->u + P;
    work->cu = ufs_dalloc(P, 1);
    ufs_x_gram_cols(x, work->gram);
    if (work->problem->n_given == 0) {
        ufs_x_row_forms(x, work->gram, work->ss);
        ufs_x_row_ss(x, work->diag);
        note_fresh(work);
    }
    work->m = ufs_dzero(P, P);
    for (size_t i = 0; i < P; i++) work->m[i + i * P] = 1.0;
}

/* ||K_.i||^2 and K_ii from K itself. */
static void refresh(ted_work *work)
{
    if (work->p_form)
        refresh_p(work);
    else
        flush(work);
}

static void refresh_n(ted_work *work)
{
    size_t n = (size_t) work->problem->n;

    for (size_t j = 0; j < n; j++) {
        const double *col = work->kernel + j * n;
        double ss = 0.0;
        for (size_t i = 0; i < n; i++) ss += col[i] * col[i];
        work->ss[j] = work->then[j] = ss;
        work->diag[j] = col[j];
    }
}

/* ||K_.i||^2 = x_i'(M C M) x_i and K_ii = x_i'M x_i. */
static void refresh_p(ted_work *work)
{
    int p = work->problem->p;
    size_t P = (size_t) p;
    const void *mark = vmaxget();
    double *square = ufs_dalloc(P, P), *half = ufs_dalloc(P, P < STRIP ? P : STRIP);

    for (int from = 0; from < p; from += STRIP) {
        int wide = p - from < STRIP ? p - from : STRIP;
        R_CheckUserInterrupt();
        la_gemm('N', 'N', p, wide, p, 1.0, work->gram, p, work->m + (size_t) from * P, p, 0.0, half,
                p);
        la_gemm('N', 'N', p, wide, p, 1.0, work->m, p, half, p, 0.0, square + (size_t) from * P, p);
    }
    ufs_x_row_forms(work->problem->x, square, work->ss);
    ufs_x_row_forms(work->problem->x, work->m, work->diag);
    note_fresh(work);
    vmaxset(mark);
}

static void note_fresh(ted_work *work)
{
    for (int i = 0; i < work->n; i++) work->ss[i] = work->then[i] = fmax(work->ss[i], 0.0);
}

/* ---- picks ------------------------------------------------------------------------------- */

static double decrease(const ted_work *work, int j)
{
    return fmax(work->ss[j], 0.0) / (fmax(work->diag[j], 0.0) + work->problem->mu);
}

static int best_item(const ted_work *work, double first)
{
    int n = work->n;
    double top = -1.0, least;

    for (int j = 0; j < n; j++)
        if (!work->gone[j]) top = fmax(top, decrease(work, j));
    least = top - 1e-12 * sqrt(top * fmax(first, top));
    for (int j = 0; j < n; j++)
        if (!work->gone[j] && decrease(work, j) >= least) return j;
    return 0; /* not reached: callers ask for at most as many picks as there are items left */
}

/* Whether the recurrence has lost digits that the choice of j needs. */
static bool stale(const ted_work *work, int j, double first)
{
    return work->ss[j] < REFRESH * work->then[j] && decrease(work, j) > 1e-24 * first;
}

static bool any_stale(const ted_work *work, double first)
{
    for (int i = 0; i < work->n; i++)
        if (!work->gone[i] && stale(work, i, first)) return true;
    return false;
}

/* Takes item j out of K (n-form); the decrease it brought. */
static double take_out(ted_work *work, int j)
{
    int n = work->problem->n;
    double by = fmax(work->diag[j], 0.0) + work->problem->mu, gain = decrease(work, j);

    work->gone[j] = true;
    column_n(work, j, by);
    subtract(work, work->k, work->h, by, la_dot(n, work->k, work->k));
    if (work->n_late == BLOCK) flush(work);
    return gain;
}

/* The given items leave K. In the p-form M is all that changes: WORTH rows a read. */
static void take_out_given(ted_work *work)
{
    const ted_problem *problem = work->problem;
    int p = problem->p;
    size_t P = (size_t) p;
    const void *mark = vmaxget();
    double *rows = ufs_dalloc(work->p_form ? WORTH : 0, P);

    for (int t = 0; t < problem->n_given; t++) {
        int j = problem->given[t], at = t % WORTH;
        int wide = problem->n_given - t + at < WORTH ? problem->n_given - t + at : WORTH;
        R_CheckUserInterrupt();
        if (!work->p_form) {
            take_out(work, j);
            continue;
        }
        if (at == 0) ufs_x_rows(problem->x, wide, problem->given + t, rows);
        for (size_t l = 0; l < P; l++) work->item[l] = rows[(size_t) at + l * (size_t) wide];
        la_gemv('N', p, p, 1.0, work->m, p, work->item, 0.0, work->u);
        double by = fmax(la_dot(p, work->item, work->u), 0.0) + problem->mu;
        for (size_t a = 0; a < P; a++) la_axpy(p, -work->u[a] / by, work->u, work->m + a * P);
        work->gone[j] = true;
    }
    refresh(work);
    vmaxset(mark);
}

static void subtract(ted_work *work, const double *k, const double *h, double by, double kk)
{
    for (int i = 0; i < work->n; i++) {
        double c = k[i] / by;
        work->ss[i] += c * (c * kk - 2.0 * h[i]);
        work->diag[i] -= c * k[i];
    }
}

/* k = x u and h = x v in one pass over x, four columns at a time: the pass is what a pick
 * costs, and two calls of dgemv take 2.5 times as long. */
static void two_products(int n, int p, const double *x, const double *u, const double *v, double *k,
                         double *h)
{
    size_t N = (size_t) n;
    int l = 0;

    memset(k, 0, N * sizeof(double));
    memset(h, 0, N * sizeof(double));
    for (; l + 3 < p; l += 4) {
        const double *a = x + (size_t) l * N, *b = a + N, *c = b + N, *d = c + N;
        double u0 = u[l], u1 = u[l + 1], u2 = u[l + 2], u3 = u[l + 3];
        double v0 = v[l], v1 = v[l + 1], v2 = v[l + 2], v3 = v[l + 3];
        for (size_t i = 0; i < N; i++) {
            k[i] += a[i] * u0 + b[i] * u1 + c[i] * u2 + d[i] * u3;
            h[i] += a[i] * v0 + b[i] * v1 + c[i] * v2 + d[i] * v3;
        }
    }
    for (; l < p; l++) {
        la_axpy(n, u[l], x + (size_t) l * N, k);
        la_axpy(n, v[l], x + (size_t) l * N, h);
    }
}

/* ---- picks in advance ------------------------------------------------------------------- */

static ted_batch *new_batch(const ted_work *work)
{
    size_t N = (size_t) work->n, P = (size_t) work->problem->p, W = N < WORTH ? N : WORTH;
    ted_batch *batch = (ted_batch *) R_alloc(1, sizeof(ted_batch));

    /* The products of a batch with a file take half a block at most. */
    batch->most = BATCH;
    if (work->problem->x->kind == UFS_X_SOURCE)
        while (batch->most > 8 && 4 * batch->most > ufs_x_at_once(work->problem->x))
            batch->most /= 2;
    batch->size = 8;
    batch->item = ufs_ialloc(W);
    batch->x = ufs_dalloc(W, P);
    batch->late = ufs_dalloc(P, BATCH);
    batch->uv = ufs_dalloc(P, 2 * BATCH);
    batch->kh = ufs_dalloc(N, 2 * (size_t) batch->most);
    batch->sorted = ufs_dalloc(N, 1);
    batch->few = *work;
    batch->few.k = ufs_dalloc(W, 1);
    batch->few.h = ufs_dalloc(W, 1);
    batch->few.ss = ufs_dalloc(W, 1);
    batch->few.diag = ufs_dalloc(W, 1);
    batch->few.then = ufs_dalloc(W, 1);
    batch->few.gone = (bool *) R_alloc(W, sizeof(bool));
    return batch;
}

/* The items that are followed: `first`, and those of largest decrease. */
static void choose_worth(const ted_work *work, int first, ted_batch *batch)
{
    int n = work->n, width = 0, left = 0;
    size_t W;
    double least = 0.0;

    for (int i = 0; i < n; i++)
        if (!work->gone[i]) batch->sorted[left++] = decrease(work, i);
    if (left > WORTH) {
        rPsort(batch->sorted, left, left - WORTH);
        least = batch->sorted[left - WORTH];
    }
    for (int i = 0; i < n; i++) {
        /* Of many equals those before `first` leave room for it. */
        bool room = width < (i < first ? WORTH - 1 : WORTH);
        if (i == first || (room && !work->gone[i] && decrease(work, i) >= least))
            batch->item[width++] = i;
    }
    batch->width = batch->few.n = width;
    W = (size_t) width;
    ufs_x_rows(work->problem->x, width, batch->item, batch->x);
    for (size_t a = 0; a < W; a++) {
        int i = batch->item[a];
        batch->few.ss[a] = work->ss[i];
        batch->few.diag[a] = work->diag[i];
        batch->few.then[a] = work->then[i];
        batch->few.gone[a] = false;
    }
}

/* At most `most` picks among the items that are followed. */
static void pick_ahead(ted_work *work, int most, double first, ted_batch *batch)
{
    int p = work->problem->p, width = batch->width;
    size_t P = (size_t) p, W = (size_t) width;
    ted_work *few = &batch->few;

    if (most > batch->size) most = batch->size;
    if (most > width) most = width;
    R_CheckUserInterrupt();
    for (batch->count = 0; batch->count < most; batch->count++) {
        int b = batch->count, at = best_item(few, first);
        double *u = batch->uv + (size_t) (2 * b) * P, *v = u + P, by, root;
        if (b > 0 && stale(few, at, first)) break;
        by = fmax(few->diag[at], 0.0) + work->problem->mu;
        root = sqrt(by);
        for (size_t l = 0; l < P; l++) work->item[l] = batch->x[(size_t) at + l * W];
        lagged(work, batch, work->item, u, work->v);
        la_gemv('N', p, p, 1.0, work->gram, p, u, 0.0, work->cu);
        lagged(work, batch, work->cu, v, work->v);
        batch->pick[b] = batch->item[at];
        batch->by[b] = by;
        batch->kk[b] = la_dot(p, u, work->cu);
        for (size_t l = 0; l < P; l++) batch->late[l + (size_t) b * P] = u[l] / root;
        two_products(width, p, batch->x, u, v, few->k, few->h);
        few->gone[at] = true;
        subtract(few, few->k, few->h, by, batch->kk[b]);
    }
}

/* to = M from, where the picks of the batch have not yet left M. */
static void lagged(const ted_work *work, const ted_batch *batch, const double *from, double *to,
                   double *dot)
{
    int p = work->problem->p, late = batch->count;
    la_gemv('N', p, p, 1.0, work->m, p, from, 0.0, to);
    la_gemv('T', p, late, 1.0, batch->late, p, from, 0.0, dot);
    la_gemv('N', p, late, -1.0, batch->late, p, dot, 1.0, to);
}

/* Goes through the batch with all items: how many of its picks stand, at least one. */
static int settle(ted_work *work, double *first, ted_batch *batch, double *gain)
{
    const ufs_x *x = work->problem->x;
    int n = work->n, p = work->problem->p, made = 0;
    size_t N = (size_t) n;

    if (x->kind != UFS_X_DENSE) ufs_x_mul(x, 2 * batch->count, batch->uv, batch->kh);
    /* By rows, so that they stay in the cache whichever BLAS does it. */
    for (int from = 0; x->kind == UFS_X_DENSE && from < n; from += STRIP) {
        int tall = n - from < STRIP ? n - from : STRIP;
        la_gemm('N', 'N', tall, 2 * batch->count, p, 1.0, x->dense + from, n, batch->uv, p, 0.0,
                batch->kh + from, n);
    }
    for (; made < batch->count; made++) {
        const double *k = batch->kh + (size_t) (2 * made) * N;
        int j = batch->pick[made];
        if (made > 0 && best_item(work, *first) != j) break;
        gain[made] = decrease(work, j);
        if (*first == 0.0) *first = gain[made];
        work->gone[j] = true;
        subtract(work, k, k + N, batch->by[made], batch->kk[made]);
    }
    la_gemm('N', 'T', p, p, made, -1.0, batch->late, p, batch->late, p, 1.0, work->m, p);
    if (made < batch->count)
        batch->size = made > 4 ? made : 4;
    else if (2 * batch->size <= batch->most)
        batch->size *= 2;
    return made;
}

static void column_n(ted_work *work, int j, double by)
{
    int n = work->problem->n, late = work->n_late;
    size_t N = (size_t) n;
    double *next = work->late + (size_t) late * N, root = sqrt(by);

    ufs_copy(work->k, work->kernel + (size_t) j * N, N);
    for (int t = 0; t < late; t++)
        la_axpy(n, -work->late[(size_t) j + (size_t) t * N], work->late + (size_t) t * N, work->k);
    la_gemv('N', n, n, 1.0, work->kernel, n, work->k, 0.0, work->h);
    if (late > 0) {
        la_gemv('T', n, late, 1.0, work->late, n, work->k, 0.0, work->item);
        la_gemv('N', n, late, -1.0, work->late, n, work->item, 1.0, work->h);
    }
    for (int i = 0; i < n; i++) next[i] = work->k[i] / root;
    work->n_late++;
}

/* The late picks leave K. */
static void flush(ted_work *work)
{
    int n = work->problem->n;

    if (work->n_late > 0)
        la_gemm('N', 'T', n, n, work->n_late, -1.0, work->late, n, work->late, n, 1.0, work->kernel,
                n);
    work->n_late = 0;
    refresh_n(work);
}
