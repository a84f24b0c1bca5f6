/* css_start.c: the best of several choices, each exchanged until nothing helps: the first one; with
 * costs, one by decrease over cost; and further starts from the best one so far. See base_css.c. */
#include "css_work.h"
#include <R_ext/Memory.h>

/* Exchanges, and what there is room for after them. Returns how many. */
static int climb(css_work *work, const css_units *units, int most)
{
    int made = 0, before;

    do {
        before = work->n_chosen;
        made += css_swap(work, units, most - made);
        css_grow(work, units);
    } while (work->n_chosen > before);
    return made;
}

/* The choice is replaced by order[0 .. n), unless it holds more. */
static bool keep_better(css_work *work, double value, int n, const int *order)
{
    if (work->value > value + UFS_TIE * work->total) return true;
    css_choose(work, n, order);
    return false;
}

/* By cost, after the choice that did not look at it. */
static int choose_by_cost(css_work *work, const css_units *units)
{
    const css_wish *wish = &work->settings->wish;
    double value = work->value;
    int n = work->n_chosen, *order = ufs_ialloc((size_t) work->settings->k), made;

    memcpy(order, work->order, (size_t) n * sizeof(int));
    css_choose(work, wish->n_include, wish->include);
    work->by_cost = true;
    css_grow(work, units);
    made = climb(work, units, work->settings->max_swaps);
    work->by_cost = keep_better(work, value, n, order);
    return made;
}

/* ---- further starts ----------------------------------------------------------------------- */

/* The random number of what is at this place of the order: that of the first column of its group. */
static double number_of(const css_work *work, const int *best, const double *random, int t)
{
    const int *group = work->settings->wish.group;
    int first = work->settings->wish.n_include, l = group ? first : t;

    while (group && group[best[l]] != group[best[t]]) l++;
    return random[l - first];
}

/* The best choice without all, or a random half, of what may leave, and with one column, or group,
 * from outside: number i of the columns at order[first ..] leaves if random[i] is among the smaller. */
static void disturb(css_work *work, const css_units *units, int n, const int *best,
                    const double *random, bool all)
{
    int first = work->settings->wish.n_include, free = n - first, pool = 0, pick;
    int leave = all ? free : free > 1 ? free / 2 : 1;

    css_clear(work);
    for (int t = 0; t < n; t++) {
        int below = 0;
        for (int l = first; l < n && t >= first; l++)
            below += number_of(work, best, random, l) < number_of(work, best, random, t);
        if (t < first || below >= leave) css_take(work, best[t]);
    }
    for (int t = 0; t < n; t++) work->pivot[t] = work->chosen[best[t]];
    for (int t = 0; t < n; t++) work->chosen[best[t]] = true;
    for (int u = 0; u < units->n; u++) pool += css_unit_eligible(work, units, u);
    pick = (int) (random[work->settings->k] * pool);
    for (int u = 0; u < units->n && pick >= 0; u++)
        if (css_unit_eligible(work, units, u) && pick-- == 0) pool = -1 - u;
    for (int t = 0; t < n; t++) work->chosen[best[t]] = work->pivot[t] > 0;
    if (pool < 0) css_unit_take(work, units, -1 - pool);
}

static void restart(css_work *work, const css_units *units, css_result *result)
{
    const css_settings *settings = work->settings;
    int n = work->n_chosen, *best = ufs_ialloc((size_t) settings->k);
    double value = work->value, close = UFS_TIE * work->total;

    memcpy(best, work->order, (size_t) n * sizeof(int));
    for (int s = 1; s < settings->n_starts; s++) {
        /* Half of few columns is too near to the best ones to find others. */
        disturb(work, units, n, best,
                settings->random + (size_t) (s - 1) * (size_t) (settings->k + 1), s % 2 == 0);
        css_grow(work, units);
        climb(work, units, settings->max_swaps);
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

void css_improve(css_work *work, const css_units *units, css_result *result)
{
    const css_settings *settings = work->settings;

    if (work->mu > 0.0) {
        work->mu = 0.0;
        css_choose(work, work->n_chosen, work->order);
    }
    result->swaps = climb(work, units, settings->max_swaps);
    if (settings->wish.cost && R_FINITE(settings->wish.budget))
        result->swaps += choose_by_cost(work, units);
    if (settings->n_starts > 1) restart(work, units, result);
}
