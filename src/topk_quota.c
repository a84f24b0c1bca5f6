/* topk_quota.c: sets of k features within quotas of strata. Such sets are the bases of a matroid:
 * the one with the smallest sum takes features in the order of their values, but those of a full stratum
 * and those that would take the room of what strata lack. Their hull has 0 <= s <= 1, the sum k, and for
 * each stratum a sum between its least and its most. */
#include "topk_set.h"

void topk_quota_init(topk_criterion *g)
{
    size_t L = (size_t) g->quota.n, P = (size_t) g->p;

    for (int i = 0; i < 2; i++) g->walk[i] = (topk_walk){&g->quota, ufs_ialloc(L), 0, 0};
    if (g->quota.level == NULL) return;
    g->index = ufs_ialloc(P > L ? P : L);
    g->part = ufs_dalloc(P, 2);
    g->total = ufs_dalloc(L, 1);
}

void topk_walk_begin(topk_walk *walk, int room)
{
    walk->room = room;
    walk->lacking = 0;
    for (int l = 0; l < walk->quota->n; l++) {
        walk->have[l] = 0;
        walk->lacking += walk->quota->least[l];
    }
}

void topk_walk_copy(topk_walk *walk, const topk_walk *from)
{
    walk->room = from->room;
    walk->lacking = from->lacking;
    for (int l = 0; l < walk->quota->n; l++) walk->have[l] = from->have[l];
}

static int level_of(const topk_walk *walk, int j)
{
    return walk->quota->level ? walk->quota->level[j] : -1;
}

bool topk_walk_may(const topk_walk *walk, int j)
{
    int l = level_of(walk, j);

    if (l >= 0 && walk->have[l] >= walk->quota->most[l]) return false;
    if (l >= 0 && walk->have[l] < walk->quota->least[l]) return walk->room > 0;
    return walk->room > walk->lacking;
}

void topk_walk_take(topk_walk *walk, int j)
{
    int l = level_of(walk, j);

    walk->room--;
    if (l < 0) return;
    walk->lacking -= walk->have[l] < walk->quota->least[l];
    walk->have[l]++;
}

bool topk_walk_swaps(const topk_walk *walk, int out, int in)
{
    int from = level_of(walk, out), to = level_of(walk, in);

    if (from == to) return true;
    return (to < 0 || walk->have[to] < walk->quota->most[to]) &&
           (from < 0 || walk->have[from] > walk->quota->least[from]);
}

double topk_quota_sum(topk_criterion *g, topk_walk *walk, int n_free)
{
    double sum = 0.0;

    rsort_with_index(g->u, g->index, n_free);
    for (int i = 0; i < n_free && walk->room > 0; i++) {
        if (!topk_walk_may(walk, g->index[i])) continue;
        topk_walk_take(walk, g->index[i]);
        sum += g->u[i];
    }
    return sum;
}

bool topk_quota_feasible(topk_criterion *g, const signed char *fixed)
{
    const ufs_quota *quota = &g->quota;
    topk_walk *walk = &g->walk[0];
    int most = 0;

    if (quota->level == NULL) return true;
    topk_walk_begin(walk, g->k);
    for (int j = 0; j < g->p; j++)
        if (fixed[j] == 1) topk_walk_take(walk, j);
    /* The features of no stratum, then how many each stratum still may have. */
    for (int l = 0; l < quota->n; l++) {
        if (walk->have[l] > quota->most[l]) return false;
        g->index[l] = 0;
    }
    for (int j = 0; j < g->p; j++) {
        if (fixed[j] != 0) continue;
        if (quota->level[j] >= 0)
            g->index[quota->level[j]]++;
        else
            most++;
    }
    for (int l = 0; l < quota->n; l++) {
        int may = quota->most[l] - walk->have[l];
        if (g->index[l] < ufs_quota_lacks(quota, walk->have, l)) return false;
        most += g->index[l] < may ? g->index[l] : may;
    }
    return walk->lacking <= walk->room && walk->room <= most;
}

/* total: of each stratum at this shift, within its quota. The sum of all. */
static double at_shift(topk_criterion *g, const double *y, double shift)
{
    double sum = 0.0;

    for (int l = 0; l < g->quota.n; l++) g->total[l] = 0.0;
    for (int j = 0; j < g->p; j++) {
        int l = g->quota.level[j];
        double s = fmin(1.0, fmax(0.0, y[j] - shift));
        if (l >= 0)
            g->total[l] += s;
        else
            sum += s;
    }
    for (int l = 0; l < g->quota.n; l++)
        sum += fmin(g->quota.most[l], fmax(g->quota.least[l], g->total[l]));
    return sum;
}

/* The projection on the box and this sum of the features of one stratum, or (one < 0) of all that are
 * held by no end of a quota. */
static void project_part(topk_criterion *g, const double *y, int one, double total, double *out)
{
    double *from = g->part, *to = g->part + g->p;
    int n = 0;

    for (int j = 0; j < g->p; j++) {
        int l = g->quota.level[j];
        if (one >= 0 ? l != one : l >= 0 && g->total[l] < 0.0) continue;
        g->index[n] = j;
        from[n++] = y[j];
    }
    proj_capped_simplex(n, from, total, to);
    for (int i = 0; i < n; i++) out[g->index[i]] = to[i];
}

void topk_quota_project(topk_criterion *g, const double *y, double *out)
{
    const ufs_quota *quota = &g->quota;
    double low = R_PosInf, high = R_NegInf, rest = g->k;

    for (int j = 0; j < g->p; j++) {
        if (!R_FINITE(y[j])) continue;
        low = fmin(low, y[j] - 1.0);
        high = fmax(high, y[j]);
    }
    if (low > high) low = high = 0.0;
    while (low < high) {
        double middle = low + 0.5 * (high - low);
        if (middle <= low || middle >= high) break;
        if (at_shift(g, y, middle) > g->k)
            low = middle;
        else
            high = middle;
    }
    at_shift(g, y, high);
    for (int l = 0; l < quota->n; l++) {
        int end = g->total[l] <= quota->least[l]  ? quota->least[l]
                  : g->total[l] >= quota->most[l] ? quota->most[l]
                                                  : -1;
        if (end < 0) continue;
        project_part(g, y, l, end, out);
        rest -= end;
        g->total[l] = -1.0;
    }
    project_part(g, y, -1, rest, out);
}
