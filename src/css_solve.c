/* css_solve.c: columns that rebuild all columns.
 *
 * With x_j the columns of the n x p matrix x, ridge mu >= 0, choose S, |S| = k, to make
 *     J(S) = sum_j min_b ||x_j - X_S b||^2 + mu ||b||^2
 * small, one column at a time (mu = 0: Farahat, Ghodsi and Kamel, KDD 2011; mu > 0: the
 * columns' counterpart of ted.c). With K = x'x deflated by the picks so far
 * J(S) = tr K, and column j lowers it by
 *     f_j / (d_j + mu),  f_j = ||K_.j||^2,  d_j = K_jj,  after which
 *     K <- K - w w',  w = K_.j / sqrt(d_j + mu).
 *
 *   p-form: K is kept (p x p), f and d are read off it.
 *           n p^2 + 4 k p^2 flops, 16 p^2 bytes.
 *   n-form: nothing p x p. K = x'Px with P = I - RR' (n x n, never formed; the columns of R
 *           are P x_j / sqrt(d_j + mu) of the picks), G = xx'. A pick takes one pass over x,
 *               w = x'r,  v = K w = x'P G r,   r = P x_j / sqrt(d_j + mu),
 *           and f <- f - 2 w v + (r'G r) w^2,  d <- d - w^2.
 *           n^2 p (G) + n^2 p (first f) + 4 n p k + 8 n k^2 flops,
 *           8 (n^2 + n k + 8 p + 3 tile n) bytes. Of a sparse x only nnz counts where np stands
 *           in a pick, and sum_j nnz_j^2 for the first f; a file is read for G, for the first f
 *           and twice a pick.
 *   x-form: nothing p x p, and nothing n x n either, of a sparse x where neither has room. W has the w of
 *           all picks, K = x'x - WW', and a pick takes three products with x: x'x_j, and
 *               v = K w = x'(x w) - W W'w,   f <- f - 2 w v + w'w w^2,   d <- d - w^2.
 *           The first f are read off x'x part by part (x_sparse.c). sum_i nnz_i^2 + (6 nnz + 8 k p) k
 *           flops, 8 (k p + 64 (n + p)) bytes. No swaps, groups or proofs.
 * The cheaper one of the first two is taken. The n-form is not the product x'xw with the whole of x twice: one
 * pick reads x once.
 *
 * A target. To rebuild Y, the r leading components of x, f_j = ||Y'P x_j||^2: G is YY', and K is
 * kept for d alone beside what is left of Y'x (r x p), in the x-form by one product a pick. All else
 * stays as it is.
 *
 * Rounding. f and d of the n-form are differences. Where one has fallen below 1e-4 of what
 * it was when last computed from x, it is computed again (at most a few times a
 * column, n^2 flops each). A column of which less than UFS_TIE of the squares is left counts
 * as rebuilt: it lowers J no more.
 *
 * Ties. Of decreases that agree to UFS_TIE the one of the lowest index is taken.
 *
 * Swaps and further starts (css_start.c) go by the squares that a set holds by least squares, mu = 0,
 * whatever mu the picks went by. To leave i out of S frees the direction u of its dual vector, the
 * i-th column of X_S (X_S'X_S)^-1 to unit length, and j in its place holds
 *     (f_j + 2 b_j v_j + b_j^2 ||Y'u||^2) / (d_j + b_j^2),  b = x'u,  v = x'P YY'u
 * more than S without i, f and d being those of S. CSS_TRIES such i are tried in one pass,
 * 4 n p + 2 n^2 flops each (p-form: 4 p^2); a swap takes two more and k^3, or 2 n k^2.
 * 16 CSS_TRIES p + 8 k^2 bytes more.
 *
 * Constraints: included columns are taken first and never leave; excluded ones are in x, but not chosen;
 * with costs and a budget two choices are made, by decrease and by decrease over cost, each followed
 * by swaps within the budget, and the better one is kept; a ceiling on |cosine| keeps columns out
 * that are closer to a chosen one. Groups and quotas of strata: css_start.c. */
#include "css_work.h"
#include "eig.h"

/* ---- what no columns can beat ---------------------------------------------------------------- */

/* The squares that k principal directions capture: sums of the leading eigenvalues of x x' or x'x (4r^3/3 flops of order r, one LAPACK call); above order
 * `exact_limit` of the first FEW ones by eig_few, the others counted as the last of these. */
enum { FEW = 30 };

typedef struct {
    int order;
    const double *gram;
    const ufs_x *sparse; /* xx' by the entries of x, where these are few; else NULL */
    const ufs_x *x;      /* and x'x, where there is no Gram matrix */
} gram_operator;

static void gram_times(const void *data, int m, const double *x, double *y)
{
    const gram_operator *a = data;
    if (a->gram == NULL)
        ufs_x_cols_mul(a->x, m, x, y);
    else if (a->sparse)
        ufs_x_gram_mul(a->sparse, m, x, y);
    else
        la_mul('N', 'N', a->order, m, a->order, 1.0, a->gram, x, 0.0, y);
}

/* Destroys the Gram matrix. Returns LAPACK's info. */
static int css_lead(const css_problem *problem, const css_settings *settings, bool by_columns,
                    double *gram, double total, double *leading, bool *exact)
{
    int order = by_columns ? problem->p : problem->n, k = settings->k;
    int r = problem->n < problem->p ? problem->n : problem->p, m = k < r ? k : r, info;
    double *value, sum = 0.0, last = 0.0;
    /* By products with x alone each is found less closely, and what it may miss is added. */
    double tol = gram ? 1e-8 : 1e-6, missed = gram ? 0.0 : tol * total;

    *exact = order <= settings->exact_limit && gram != NULL;
    if (!*exact && m > FEW) m = FEW;
    value = ufs_dalloc((size_t) (*exact ? order : m), 1);
    if (*exact) {
        info = eig_values(order, gram, value);
    } else {
        bool by_entries = !by_columns && problem->x->kind == UFS_X_SPARSE && order <= problem->p &&
                          8.0 * ufs_x_entries(problem->x) < (double) order * order;
        gram_operator data = {order, gram, by_entries ? problem->x : NULL, problem->x};
        eig_info eigs;
        eig_problem leaders = {.n = order,
                               .k = m,
                               .apply = gram_times,
                               .data = &data,
                               .low = 0.0,
                               .high = total,
                               .block = 8,
                               .proof = true,
                               .tol = tol,
                               .max_iter = 200};
        eig_few(&leaders, value, ufs_dalloc((size_t) order, (size_t) m), &eigs);
        info = eigs.lapack;
        if (!eigs.converged) m = 0; /* then only the total is known */
    }
    if (info) return info;
    for (int t = 0; t < k; t++) {
        /* LAPACK's eigenvalues ascend, those of eig_few descend. */
        if (t < m) last = fmax(value[*exact ? order - 1 - t : t], 0.0) + missed;
        if (m == 0)
            sum = total;
        else if (t < m || !*exact)
            sum += last;
        leading[t] = fmin(sum, total);
    }
    return 0;
}

int css_leading(const css_problem *problem, int k, int exact_limit, double *leading, double *total,
                bool *exact)
{
    bool by_columns = problem->p < problem->n;
    void *mark = vmaxget();
    double *ss = ufs_dalloc((size_t) problem->p, 1);

    ufs_x_ss(problem->x, ss);
    *total = 0.0;
    for (int j = 0; j < problem->p; j++) *total += ss[j];
    vmaxset(mark);
    return css_lead(problem, &(css_settings){.k = k, .exact_limit = exact_limit}, by_columns,
                    css_gram_of(problem, by_columns), *total, leading, exact);
}

/* ---- the proof ------------------------------------------------------------------------------- */

/* The set that captures most, by branch and bound.
 *
 * With K = E'E and H = E'YY'E of the columns A that are still free, E what the columns I chosen so
 * far leave of them, the columns T of A hold tr(K_TT^-1 H_TT) more, and no t of them more than the
 * sum of the t largest eigenvalues of the pencil (H_AA, K_AA), which is the bound of a node. A column
 * that lowers the criterion by so little that it and the t - 1 largest do not reach the best set
 * known is left out; one that lowers it by nothing alone may still help beside another. Branches: the column of the largest decrease in, then out. The last two columns
 * are found by trying all pairs, ~10 flops each.
 * A node takes 3 |A|^2 flops for the step and some 4 |A|^3 for the bound; depth k, 16 k p^2 bytes.
 *
 * Rounding. The pencil is that of columns of unit length, since pivots are compared with each other.
 * Where K is nearly singular, eigenvalues lose digits, so the bound is raised by what they
 * may have lost; columns that depend on others add nothing and are no pivots. A set that seems better
 * is measured again from x before it is believed. */
/* Columns left out later lower the bound by at most so many times what the last one did. */
static const double FALL = 2.0;

typedef struct {
    css_work *work;
    const ufs_hook *hook;
    const double *gram;             /* p x p: x'x, for closeness */
    bool *closed;                   /* p: never to be taken */
    double best, nodes, most, open; /* open: largest bound of what was not searched */
    int *set, *best_set, n_best, lapack;
    double **k, **h; /* of every depth, size x size */
    int **a;         /* their columns */
    double *root, *pencil, *unit, *value, *scratch;
    int *pivot, *have;
} search;

typedef struct {
    int depth, n_set, size; /* size: order of k and h */
    double held, spent, bound;
} node;

static void offer(search *s, int n_set, double held)
{
    css_work *work = s->work;

    if (!(held > s->best + UFS_TIE * work->total)) return;
    css_choose(work, n_set, s->set);
    if (css_quota_exceeded(work)) return;
    /* Columns that the strata lack are added; without them there is no such set. */
    for (int j = work->lacking > 0 ? css_next(work, NULL) : -1; j >= 0; j = css_next(work, NULL))
        css_take(work, j);
    if (work->lacking > 0 || !(work->value > s->best + UFS_TIE * work->total)) return;
    s->best = work->value;
    s->n_best = work->n_chosen;
    memcpy(s->best_set, work->order, (size_t) work->n_chosen * sizeof(int));
}

static bool apart(const search *s, int i, int j)
{
    return css_apart(s->work, i, j, s->gram[(size_t) i + (size_t) j * (size_t) s->work->p]);
}

/* Does anything of free column i stand out of those chosen? */
static bool stands_out(const search *s, const node *at, int i)
{
    double d = s->k[at->depth][(size_t) i * (size_t) (at->size + 1)];

    return d > UFS_TIE * s->work->norm2[s->a[at->depth][i]];
}

static double gain_of(const search *s, const node *at, int i)
{
    size_t own = (size_t) i * (size_t) (at->size + 1);

    return stands_out(s, at, i) ? fmax(s->h[at->depth][own], 0.0) / s->k[at->depth][own] : 0.0;
}

/* `have` of what the node has chosen; how many columns the strata lack, -1 without quotas. */
static int count_levels(const search *s, const node *at)
{
    const ufs_quota *quota = &s->work->settings->held.quota;
    int lacking = 0;

    if (quota->level == NULL) return -1;
    for (int l = 0; l < quota->n; l++) s->have[l] = 0;
    for (int t = 0; t < at->n_set; t++)
        if (quota->level[s->set[t]] >= 0) s->have[quota->level[s->set[t]]]++;
    for (int l = 0; l < quota->n; l++) lacking += ufs_quota_lacks(quota, s->have, l);
    return lacking;
}

/* The free columns that may still be taken, in `alive`; and how many more there may be. */
static int alive_columns(const search *s, const node *at, int m, int *alive, int *room)
{
    const ufs_quota *quota = &s->work->settings->held.quota;
    int kept = 0, t = 0, lacking = count_levels(s, at);
    double spent = at->spent;

    for (int l = 0; l < m; l++) {
        int i = alive[l], j = s->a[at->depth][i], h = quota->level ? quota->level[j] : -1;
        if (s->closed[j]) continue;
        if (h >= 0 && s->have[h] >= quota->most[h]) continue;
        /* The room is for what the strata lack. */
        if (lacking >= s->work->settings->k - at->n_set &&
            !(h >= 0 && s->have[h] < quota->least[h]))
            continue;
        if (!stands_out(s, at, i)) continue;
        if (!css_pays(s->work, at->spent + css_cost(s->work, j))) continue;
        s->scratch[kept] = css_cost(s->work, j);
        alive[kept++] = i;
    }
    if (!R_FINITE(s->work->settings->held.budget)) {
        t = kept;
    } else {
        R_rsort(s->scratch, kept);
        while (t < kept && css_pays(s->work, spent + s->scratch[t])) spent += s->scratch[t++];
    }
    *room = s->work->settings->k - at->n_set;
    if (t < *room) *room = t;
    return kept;
}

/* All single columns, and where there is room for two all pairs. */
static void last_columns(search *s, const node *at, int m, const int *alive, int room)
{
    const double *k = s->k[at->depth], *h = s->h[at->depth];
    const int *a = s->a[at->depth];
    size_t N = (size_t) at->size;

    for (int l = 0; l < m; l++) {
        size_t i = (size_t) alive[l];
        double kii = k[i + i * N], hii = h[i + i * N];
        s->set[at->n_set] = a[i];
        offer(s, at->n_set + 1, at->held + gain_of(s, at, alive[l]));
        for (int o = 0; o < l && room > 1; o++) {
            size_t j = (size_t) alive[o];
            double kij = k[i + j * N], kjj = k[j + j * N], det = kii * kjj - kij * kij, sum;
            sum = kjj * hii - 2.0 * kij * h[i + j * N] + kii * h[j + j * N];
            if (!(det > UFS_TIE * kii * kjj) || !(at->held * det + sum > s->best * det)) continue;
            if (!apart(s, a[i], a[j])) continue;
            if (!css_pays(s->work, at->spent + css_cost(s->work, a[i]) + css_cost(s->work, a[j])))
                continue;
            s->set[at->n_set + 1] = a[j];
            offer(s, at->n_set + 2, at->held + sum / det);
        }
    }
}

/* Sum of the t largest eigenvalues; `but_one`: of t - 1. */
static double leading_sum(search *s, const node *at, int m, const int *alive, int t,
                          double *but_one)
{
    const double *k = s->k[at->depth], *h = s->h[at->depth];
    size_t N = (size_t) at->size, M = (size_t) m, R;
    int rank, r = 0;
    double sum = 0.0, lost;

    for (size_t a = 0; a < M; a++)
        s->unit[a] = 1.0 / sqrt(s->work->norm2[s->a[at->depth][alive[a]]]);
    for (size_t b = 0; b < M; b++)
        for (size_t a = 0; a < M; a++)
            s->root[a + b * M] = k[(size_t) alive[a] + (size_t) alive[b] * N] * s->unit[a] *
                                 s->unit[b];
    s->lapack = la_chol_pivoted(m, s->root, s->pivot, &rank, s->scratch);
    if (s->lapack) return 0.0;
    while (r < rank && s->root[(size_t) r * (M + 1)] > 1e-6) r++;
    R = (size_t) r;
    for (size_t b = 0; b < R; b++)
        for (size_t a = 0; a < R; a++) {
            size_t i = (size_t) s->pivot[a] - 1, j = (size_t) s->pivot[b] - 1;
            s->pencil[a + b * R] = h[(size_t) alive[i] + (size_t) alive[j] * N] * s->unit[i] *
                                   s->unit[j];
        }
    la_trsm('L', 'U', 'T', r, r, 1.0, s->root, m, s->pencil, r);
    la_trsm('R', 'U', 'N', r, r, 1.0, s->root, m, s->pencil, r);
    lost = 1.0 / s->root[(R - 1) * (M + 1)];
    s->lapack = eig_values(r, s->pencil, s->value);
    if (s->lapack) return 0.0;
    lost = 1e-14 * lost * lost * s->value[r - 1];
    *but_one = 0.0;
    for (int l = 0; l < t && l < r; l++) {
        if (l < t - 1) *but_one += fmax(s->value[r - 1 - l], 0.0) + lost;
        sum += fmax(s->value[r - 1 - l], 0.0) + lost;
    }
    return sum;
}

/* The node with the free column i in: K and H without what it explains. */
static node branch(search *s, const node *at, int m, const int *alive, int i)
{
    const double *k = s->k[at->depth], *h = s->h[at->depth];
    size_t N = (size_t) at->size, I = (size_t) i, M = 0;
    const int *a = s->a[at->depth];
    double d = k[I + I * N], f = h[I + I * N];
    node out = {.depth = at->depth + 1, .n_set = at->n_set + 1, .bound = at->bound};
    double *to_k = s->k[out.depth], *to_h = s->h[out.depth];
    int *from = s->pivot;
    bool given = at->n_set < s->work->settings->held.n_include;

    s->set[at->n_set] = a[i];
    out.held = at->held + f / d;
    out.spent = at->spent + css_cost(s->work, a[i]);
    for (int l = 0; l < m; l++)
        if (alive[l] != i && (given || apart(s, a[i], a[alive[l]]))) from[M++] = alive[l];
    out.size = (int) M;
    for (size_t c = 0; c < M; c++) {
        size_t C = (size_t) from[c];
        double kc = k[C + I * N] / d, hc = h[C + I * N] - f * kc;
        s->a[out.depth][c] = a[from[c]];
        for (size_t r = 0; r < M; r++) {
            size_t B = (size_t) from[r];
            to_k[r + c * M] = k[B + C * N] - k[B + I * N] * kc;
            to_h[r + c * M] = h[B + C * N] - h[B + I * N] * kc - (k[B + I * N] / d) * hc;
        }
    }
    return out;
}

static void visit(search *s, node at)
{
    void *mark = vmaxget();
    int *alive = ufs_ialloc((size_t) at.size), m = at.size, t, old = 0;
    double threshold, but_one = 0.0, fall = R_PosInf;

    for (int i = 0; i < m; i++) alive[i] = i;
    offer(s, at.n_set, at.held);
    while (s->lapack == 0) {
        if (s->nodes >= s->most) {
            s->open = fmax(s->open, at.bound);
            break;
        }
        s->nodes++;
        if (fmod(s->nodes, 256.0) == 0.0) ufs_hook_wait(s->hook, (int) s->nodes);
        m = alive_columns(s, &at, m, alive, &t);
        if (t == 0) break;
        if (t <= 2) {
            last_columns(s, &at, m, alive, t);
            break;
        }
        threshold = s->best * (1.0 + 1e-9);
        /* The bound of more columns holds as well. It is renewed when it may have fallen enough. */
        if (++old * fall >= at.bound - threshold) {
            double before = at.bound;
            at.bound = fmin(before, at.held + leading_sum(s, &at, m, alive, t, &but_one));
            fall = FALL * (before - at.bound) / old;
            old = 0;
        }
        if (at.bound <= threshold) break;
        int kept = 0, next = -1;
        double top = -1.0;
        for (int l = 0; l < m; l++) {
            double gain = gain_of(s, &at, alive[l]);
            if (at.held + gain + but_one <= threshold) continue;
            alive[kept++] = alive[l];
            if (gain > top) next = alive[l];
            top = fmax(top, gain);
        }
        m = kept;
        if (m == 0) break;
        visit(s, branch(s, &at, m, alive, next));
        kept = 0;
        for (int l = 0; l < m; l++)
            if (alive[l] != next) alive[kept++] = alive[l];
        m = kept;
    }
    vmaxset(mark);
}

static void allocate(search *s, css_work *work)
{
    size_t P = (size_t) work->p, depths = (size_t) work->settings->k + 1;

    s->k = (double **) R_alloc(depths, sizeof(double *));
    s->h = (double **) R_alloc(depths, sizeof(double *));
    s->a = (int **) R_alloc(depths, sizeof(int *));
    for (size_t d = 0; d < depths; d++) {
        /* Every column in leaves one free column fewer. */
        size_t size = P > d ? P - d : 1;
        ufs_dalloc_each(size, size, (double **[]){s->k + d, s->h + d, NULL});
        s->a[d] = ufs_ialloc(size);
    }
    ufs_dalloc_each(P, P, (double **[]){&s->root, &s->pencil, NULL});
    ufs_dalloc_each(P, 1, (double **[]){&s->unit, &s->value, NULL});
    s->scratch = ufs_dalloc(P, 2);
    s->closed = (bool *) R_alloc(P, sizeof(bool));
    s->have = ufs_ialloc((size_t) work->settings->held.quota.n);
    ufs_ialloc_each(P + 2, (int **[]){&s->pivot, &s->set, &s->best_set, NULL});
}

/* An included column that depends on those before takes its place and adds nothing. */
static node include(search *s, node at, int j)
{
    int *alive = ufs_ialloc((size_t) at.size), i = -1;

    for (int l = 0; l < at.size; l++) {
        alive[l] = l;
        if (s->a[at.depth][l] == j) i = l;
    }
    if (stands_out(s, &at, i)) return branch(s, &at, at.size, alive, i);
    s->closed[j] = true;
    s->set[at.n_set++] = j;
    at.spent += css_cost(s->work, j);
    return at;
}

/* Replaces the choice where the search finds a better one. Returns LAPACK's info. */
static int css_prove(css_work *work, css_result *result, ufs_run *run)
{
    const css_constraints *held = &work->settings->held;
    size_t P = (size_t) work->p;
    search s = {.work = work, .hook = &run->hook, .gram = work->gram, .most = run->max_iter};
    node at = {.size = work->p, .bound = work->total};

    allocate(&s, work);
    s.best = work->value;
    s.n_best = work->n_chosen;
    memcpy(s.best_set, work->order, (size_t) work->n_chosen * sizeof(int));
    ufs_copy(s.k[0], work->gram, P * P);
    la_gram('T', work->n_target, work->p, work->target, s.h[0]);
    for (int j = 0; j < work->p; j++) {
        s.a[0][j] = j;
        s.closed[j] = held->barred && held->barred[j];
        for (int t = 0; t < held->n_include; t++)
            s.closed[j] = s.closed[j] || !apart(&s, j, held->include[t]);
    }
    for (int t = 0; t < held->n_include; t++) at = include(&s, at, held->include[t]);
    visit(&s, at);
    css_choose(work, s.n_best, s.best_set);
    if (work->gave_up) s.open = fmax(s.open, work->total);
    result->bound = fmax(s.open, work->value);
    result->nodes = s.nodes;
    run->status = s.open > work->value * (1.0 + 1e-9) ? UFS_MAX_ITER : UFS_CONVERGED;
    return s.lapack;
}

/* ---- the greedy choice ---------------------------------------------------------------- */

static void pick(css_work *work, int j, double *objective, ufs_run *run)
{
    double gain = css_decrease(work, j);

    css_take(work, j);
    *objective -= gain;
    run->iterations = work->n_chosen;
    ufs_trace_add(&run->trace, (double[]){work->n_chosen, fmax(*objective, 0.0), gain});
    ufs_run_step(run, *objective, gain);
}

/* Included columns, then one by one; groups are chosen whole.
 * only: p, the columns there are to choose from, or NULL. */
static void pick_all(css_work *work, const bool *only, const css_units *units, css_result *result,
                     ufs_run *run)
{
    const css_constraints *held = &work->settings->held;
    double objective = result->target_start;

    for (int t = 0; t < held->n_include; t++) pick(work, held->include[t], &objective, run);
    while (held->group) {
        int u = css_next_group(work, units, only, NULL);
        if (u < 0) return;
        for (int i = units->start[u]; i < units->start[u + 1]; i++)
            pick(work, units->item[i], &objective, run);
    }
    for (int j = css_next(work, only); j >= 0; j = css_next(work, only))
        pick(work, j, &objective, run);
}

/* ---- what is said of it ------------------------------------------------------------------ */

/* What the first 1, ..., k of the order hold of the target by least squares, and what as many
 * directions can hold. */
static void target_shares(css_work *work, css_result *result)
{
    int n = result->n_chosen;
    double sum = 0.0;

    work->mu = 0.0;
    css_clear(work);
    for (int t = 0; t < n && work->settings->target > 0; t++) {
        css_take(work, result->order[t]);
        result->held[t] = work->value;
    }
    for (int t = 0; t < work->settings->k && work->settings->target > 0; t++) {
        if (t < work->n_target && t < work->settings->target) sum += work->component[t];
        result->target_leading[t] = sum;
    }
}

/* How many columns a budget can pay for: the included ones, then the cheapest. */
static int affordable(const css_work *work)
{
    const css_constraints *held = &work->settings->held;
    double *cost = ufs_dalloc((size_t) work->p, 1), spent = 0.0;
    int m = 0, n = held->n_include;
    bool *taken = (bool *) R_alloc((size_t) work->p, sizeof(bool));

    if (!R_FINITE(held->budget)) return work->settings->k;
    for (int j = 0; j < work->p; j++) taken[j] = held->barred && held->barred[j];
    for (int t = 0; t < held->n_include; t++) {
        spent += css_cost(work, held->include[t]);
        taken[held->include[t]] = true;
    }
    for (int j = 0; j < work->p; j++)
        if (!taken[j]) cost[m++] = css_cost(work, j);
    R_rsort(cost, m);
    for (int j = 0; j < m && css_pays(work, spent + cost[j]); j++) {
        spent += cost[j];
        n++;
    }
    return n < work->settings->k ? n : work->settings->k;
}

/* ---- the whole --------------------------------------------------------------------------- */

void css_solve(const css_problem *problem, const css_settings *settings, css_result *result,
               ufs_run *run)
{
    static const char *const columns[] = {"iteration", "objective", "decrease", NULL};
    css_work work = {.problem = problem,
                     .settings = settings,
                     .n = problem->n,
                     .p = problem->p,
                     .mu = settings->mu};

    ufs_trace_named(&run->trace, settings->k, columns);
    result->p_form = settings->form == 'p' ||
                     (settings->form == 'a' && css_cheaper_by_gram(problem, settings->k));
    work.form = settings->form == 'x' ? &css_by_products
                : result->p_form      ? &css_by_gram
                                      : &css_by_rows;
    run->status = UFS_CONVERGED;
    run->lapack = css_begin(&work);
    if (run->lapack) return;
    result->start = 0.0;
    for (int j = 0; j < problem->p; j++) result->start += work.norm2[j];
    result->target_start = work.total;
    result->met = 1;
    css_units units = css_units_of(&work);
    pick_all(&work, NULL, &units, result, run);
    if (settings->max_swaps > 0 || settings->prove || settings->held.group) {
        css_improve(&work, &units, result);
        if (settings->prove) run->lapack = css_prove(&work, result, run);
        if (run->lapack) return;
        bool *only = (bool *) R_alloc((size_t) problem->p, sizeof(bool));
        for (int j = 0; j < problem->p; j++) only[j] = work.chosen[j];
        work.mu = settings->mu;
        css_clear(&work);
        ufs_trace_named(&run->trace, settings->k, columns);
        pick_all(&work, only, &units, result, run);
        if (settings->prove) run->iterations = (int) result->nodes;
    }
    result->n_chosen = work.n_chosen;
    for (int t = 0; t < work.n_chosen; t++) result->order[t] = work.order[t];
    for (int j = 0; j < problem->p; j++)
        result->left[j] = work.chosen[j] ? 0.0 : css_decrease(&work, j);
    target_shares(&work, result);
    result->affordable = affordable(&work);
    run->lapack = css_lead(problem, settings, work.form != &css_by_rows, work.gram, result->start,
                           result->leading, &result->exact);
}
