/* css_swap.c: exchanges of chosen columns. See css_solve.c. */
#include "css_work.h"

typedef struct {
    int at, column;
    double gain;
} exchange;

/* What column j in the place of at[i] would hold more than what is there. */
static double excess(const css_work *work, int m, int i, int j)
{
    const double *pass = work->pass + 2 * (size_t) m * (size_t) j;
    double b = pass[i], v = pass[m + i], left = work->d[j] + b * b;

    if (!(left > UFS_TIE * work->norm2[j])) return -work->size[i];
    return (work->f[j] + b * (2.0 * v + b * work->size[i])) / left - work->size[i];
}

static exchange best_exchange(const css_work *work, int m, const int *at)
{
    const bool *barred = work->settings->held.barred;
    exchange best = {-1, -1, 0.0};
    double top = 0.0;

    for (int pass = 0; pass < 2; pass++)
        for (int j = 0; j < work->p; j++) {
            if (work->chosen[j] || (barred && barred[j])) continue;
            for (int i = 0; i < m; i++) {
                double gain = excess(work, m, i, j);
                if (!(pass == 0 ? gain > top : gain >= top - UFS_TIE * work->total)) continue;
                if (!css_eligible(work, j, at[i])) continue;
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

int css_swap(css_work *work, const css_units *units, int most)
{
    int first = work->settings->held.n_include, made = 0, next = first;

    if (work->settings->held.group) return css_swap_groups(work, units, most);
    for (int quiet = 0; quiet < work->n_chosen - first && made < most;) {
        int at[CSS_TRIES], m = 0, free = work->n_chosen - first;
        /* Nothing is left to gain where the choice holds all. */
        if (work->value >= work->total * (1.0 - UFS_TIE)) break;
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
