/* css_swap.c: columns taken one by one, exchanges of chosen columns, and further starts. See base_css.c. */
#include "css_work.h"
#include <R_ext/Memory.h>

typedef struct {
    int at, column;
    double gain;
} exchange;

int css_best(const css_work *work, const bool *only)
{
    double top = -1.0;

    for (int pass = 0; pass < 2; pass++)
        for (int j = 0; j < work->p; j++) {
            if (only ? work->chosen[j] || !only[j] : !css_allowed(work, j)) continue;
            double gain = css_decrease(work, j);
            if (work->by_cost && only == NULL) gain /= css_cost(work, j);
            if (pass == 0)
                top = fmax(top, gain);
            else if (gain >= top * (1.0 - UFS_TIE))
                return j;
        }
    return -1;
}

void css_grow(css_work *work)
{
    if (work->settings->wish.group) {
        css_grow_groups(work);
        return;
    }
    while (work->n_chosen < work->settings->k) {
        int j = css_best(work, NULL);
        if (j < 0 || (R_FINITE(work->settings->wish.budget) && css_decrease(work, j) == 0.0))
            return;
        css_take(work, j);
    }
}

void css_choose(css_work *work, int n, const int *order)
{
    css_clear(work);
    for (int t = 0; t < n; t++) css_take(work, order[t]);
}

/* Nothing is left to gain where the choice holds all. */
static bool complete(const css_work *work)
{
    return work->value >= work->total * (1.0 - UFS_TIE);
}

/* What column j in the place of at[i] would hold more than what is there. */
static double excess(const css_work *work, int m, int i, int j)
{
    const double *pass = work->pass + 2 * (size_t) m * (size_t) j;
    double b = pass[i], v = pass[m + i], left = work->d[j] + b * b;

    if (!(left > UFS_TIE * work->norm2[j])) return -work->size[i];
    return (work->f[j] + b * (2.0 * v + b * work->size[i])) / left - work->size[i];
}

/* Would column j, in the place of what is there now, keep to the wishes? */
static bool fits(const css_work *work, int at, int j)
{
    const css_wish *wish = &work->settings->wish;
    double spent = work->spent - css_cost(work, work->order[at]) + css_cost(work, j);

    if (work->near && work->n_near[j] > work->near[(size_t) at * (size_t) work->p + (size_t) j])
        return false;
    return spent <= wish->budget * (1.0 + UFS_ROUNDING);
}

static exchange best_exchange(const css_work *work, int m, const int *at)
{
    const bool *barred = work->settings->wish.barred;
    exchange best = {-1, -1, 0.0};
    double top = 0.0;

    for (int pass = 0; pass < 2; pass++)
        for (int j = 0; j < work->p; j++) {
            if (work->chosen[j] || (barred && barred[j])) continue;
            for (int i = 0; i < m; i++) {
                double gain = excess(work, m, i, j);
                if (!(pass == 0 ? gain > top : gain >= top - UFS_TIE * work->total)) continue;
                if (!fits(work, at[i], j)) continue;
                if (pass == 1) return (exchange){at[i], j, gain};
                top = gain;
            }
        }
    return best;
}

static void make(css_work *work, exchange best)
{
    size_t P = (size_t) work->p, after;
    int last;

    css_drop(work, best.at);
    css_take(work, best.column);
    /* The new column takes the place of the old one, so that a round meets every place once. */
    last = work->n_chosen - 1;
    after = (size_t) (last - best.at);
    memmove(work->order + best.at + 1, work->order + best.at, after * sizeof(int));
    work->order[best.at] = best.column;
    if (work->near == NULL || after == 0) return;
    unsigned char *from = work->near + (size_t) best.at * P;
    for (size_t t = after; t > 0; t--)
        for (size_t i = 0; i < P; i++) {
            unsigned char swap = from[t * P + i];
            from[t * P + i] = from[(t - 1) * P + i];
            from[(t - 1) * P + i] = swap;
        }
}

int css_swap(css_work *work, int most)
{
    int first = work->settings->wish.n_include, made = 0, next = first;

    for (int quiet = 0; quiet < work->n_chosen - first && made < most && !complete(work);) {
        int at[CSS_TRIES], m = 0, free = work->n_chosen - first;
        for (; m < CSS_TRIES && m < free; m++) {
            at[m] = next;
            next = next + 1 < work->n_chosen ? next + 1 : first;
        }
        css_try(work, m, at);
        exchange best = best_exchange(work, m, at);
        quiet += m;
        if (best.column < 0 || !(best.gain > UFS_TIE * work->total)) continue;
        make(work, best);
        made++;
        quiet = 0;
    }
    return made;
}

/* ---- further starts ----------------------------------------------------------------------- */

/* The best choice without all, or a random half, of what may leave, and with one column from
 * outside: number i of the columns at order[first ..] leaves if random[i] is among the smaller. */
static void disturb(css_work *work, int n, const int *best, const double *random, bool all)
{
    int first = work->settings->wish.n_include, free = n - first, pool = 0, pick;
    int leave = all ? free : free > 1 ? free / 2 : 1;

    css_clear(work);
    for (int t = 0; t < n; t++) {
        int below = 0;
        for (int l = first; l < n && t >= first; l++)
            below += random[l - first] < random[t - first];
        if (t < first || below >= leave) css_take(work, best[t]);
    }
    for (int t = 0; t < n; t++) work->pivot[t] = work->chosen[best[t]];
    for (int t = 0; t < n; t++) work->chosen[best[t]] = true;
    for (int j = 0; j < work->p; j++) pool += css_allowed(work, j);
    pick = (int) (random[work->settings->k] * pool);
    for (int j = 0; j < work->p && pick >= 0; j++)
        if (css_allowed(work, j) && pick-- == 0) pool = -1 - j;
    for (int t = 0; t < n; t++) work->chosen[best[t]] = work->pivot[t] > 0;
    if (pool < 0 && work->n_chosen < work->settings->k) css_take(work, -1 - pool);
}

void css_restart(css_work *work, css_result *result)
{
    const css_settings *settings = work->settings;
    int n = work->n_chosen, *best = ufs_ialloc((size_t) settings->k);
    double value = work->value, close = UFS_TIE * work->total;

    memcpy(best, work->order, (size_t) n * sizeof(int));
    for (int s = 1; s < settings->n_starts; s++) {
        /* Half of few columns is too near to the best ones to find others. */
        disturb(work, n, best, settings->random + (size_t) (s - 1) * (size_t) (settings->k + 1),
                s % 2 == 0);
        css_grow(work);
        css_swap(work, settings->max_swaps);
        if (work->value > value + close) {
            value = work->value;
            n = work->n_chosen;
            memcpy(best, work->order, (size_t) n * sizeof(int));
            result->met = 0;
        }
        result->met += fabs(work->value - value) <= close;
    }
    css_choose(work, n, best);
}
