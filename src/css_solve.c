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
 *           The first f are read off x'x part by part (x_gram.c). sum_i nnz_i^2 + (6 nnz + 8 k p) k
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
 * that are closer to a chosen one. Groups: css_start.c. Quotas of strata: css_search.c. */
#include "css_work.h"

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
