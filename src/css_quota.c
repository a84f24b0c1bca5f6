/* css_quota.c: quotas of strata, how many columns of each a choice has at least and at most. A column is
 * taken only if enough columns of the strata that lack some are left, for which there is room and money.
 * Without groups and a ceiling on |cosine| counting tells. With them a search takes a column of the
 * stratum with the fewest to spare, then one of the next; it gives up after TRIES columns and then counts
 * as failed. A step takes p flops, and a product with x where |cosine| matters. */
#include "css_work.h"

enum { TRIES = 2000 };

typedef struct {
    css_work *work;
    int *have, *open, *after;
    bool **shut; /* of every depth, p: not to be taken */
    double *cost;
    int tries, depths;
} completion;

static const ufs_quota *quota_of(const css_work *work)
{
    return &work->settings->held.quota;
}

void css_quota_begin(css_work *work)
{
    const ufs_quota *quota = quota_of(work);

    if (quota->level == NULL) return;
    work->have = ufs_ialloc((size_t) quota->n);
    work->passed = (bool *) R_alloc((size_t) work->p, sizeof(bool));
}

void css_quota_clear(css_work *work)
{
    if (quota_of(work)->level == NULL) return;
    work->lacking = 0;
    for (int l = 0; l < quota_of(work)->n; l++) {
        work->have[l] = 0;
        work->lacking += quota_of(work)->least[l];
    }
    memset(work->passed, 0, (size_t) work->p * sizeof(bool));
}

void css_quota_count(css_work *work, int j, int by)
{
    const ufs_quota *quota = quota_of(work);
    int l = quota->level ? quota->level[j] : -1;

    /* With a column out, what was passed over may be taken. */
    if (quota->level && by < 0) memset(work->passed, 0, (size_t) work->p * sizeof(bool));
    if (l < 0) return;
    work->lacking -= ufs_quota_lacks(quota, work->have, l);
    work->have[l] += by;
    work->lacking += ufs_quota_lacks(quota, work->have, l);
}

bool css_quota_allows(const css_work *work, int j, int at)
{
    const ufs_quota *quota = quota_of(work);
    if (quota->level == NULL) return true;
    int in = quota->level[j], out = at < 0 ? -1 : quota->level[work->order[at]];
    int lacking = work->lacking;

    if (at < 0 && work->passed[j]) return false;
    if (in >= 0 && in != out) {
        if (work->have[in] >= quota->most[in]) return false;
        lacking -= work->have[in] < quota->least[in];
    }
    if (out >= 0 && in != out) lacking += work->have[out] <= quota->least[out];
    /* Exchanges come when nothing is lacking. */
    return lacking <= (at < 0 ? work->settings->k - work->n_chosen - 1 : 0);
}

bool css_quota_exceeded(const css_work *work)
{
    const ufs_quota *quota = quota_of(work);
    bool over = false;

    for (int l = 0; l < quota->n; l++) over = over || work->have[l] > quota->most[l];
    return over;
}

bool css_quota_needs(const css_work *work, int j)
{
    const ufs_quota *quota = quota_of(work);
    int l = quota->level ? quota->level[j] : -1;

    return l >= 0 && work->have[l] < quota->least[l];
}

/* ---- what completes a choice -------------------------------------------------------------- */

/* Shuts what goes together with column j, and what is too close to it. */
static void shut(const completion *c, int j, bool *closed)
{
    css_work *work = c->work;
    const int *group = work->settings->held.group;
    const double *product = work->near ? work->form->products(work, j) : NULL;

    for (int i = 0; i < work->p; i++)
        if (i == j || (group && group[i] == group[j]) ||
            (product && !css_apart(work, i, j, product[i])))
            closed[i] = true;
}

/* The cheapest columns that the strata lack, of those open. */
static double least_cost(const completion *c, const bool *closed)
{
    const ufs_quota *quota = quota_of(c->work);
    double sum = 0.0;

    for (int l = 0; l < quota->n; l++) {
        int m = 0, need = ufs_quota_lacks(quota, c->have, l);
        for (int j = 0; j < c->work->p && need > 0; j++)
            if (!closed[j] && quota->level[j] == l) c->cost[m++] = css_cost(c->work, j);
        if (need > 0 && need < m) rPsort(c->cost, m, need - 1);
        for (int i = 0; i < need && i < m; i++) sum += c->cost[i];
    }
    return sum;
}

/* The stratum with the fewest columns to spare; -1: none lacks any; -2: one has too few. */
static int tightest(const completion *c, const bool *closed, int room)
{
    const ufs_quota *quota = quota_of(c->work);
    int best = -1, spare = 0, lacking = 0;

    for (int l = 0; l < quota->n; l++) c->open[l] = 0;
    for (int j = 0; j < c->work->p; j++)
        if (!closed[j] && quota->level[j] >= 0) c->open[quota->level[j]]++;
    for (int l = 0; l < quota->n; l++) {
        int need = ufs_quota_lacks(quota, c->have, l);
        lacking += need;
        if (c->open[l] < need) return -2;
        if (need == 0 || (best >= 0 && c->open[l] - need >= spare)) continue;
        best = l;
        spare = c->open[l] - need;
    }
    return lacking > room ? -2 : best;
}

/* Adds what goes together with column j to `have` (by 1 or -1); its number and its cost. False if a part
 * of it may not be taken, or a stratum has too many. */
static bool add_unit(const completion *c, int j, const bool *closed, int by, int *size,
                     double *cost)
{
    const css_constraints *held = &c->work->settings->held;
    bool fine = true;

    *size = 0;
    *cost = 0.0;
    for (int i = 0; i < c->work->p; i++) {
        if (i != j && !(held->group && held->group[i] == held->group[j])) continue;
        int l = held->quota.level[i];
        if (closed && closed[i]) fine = false;
        if (l >= 0) c->have[l] += by;
        if (l >= 0 && c->have[l] > held->quota.most[l]) fine = false;
        *cost += css_cost(c->work, i);
        (*size)++;
    }
    return fine;
}

static bool search(completion *c, int depth, int room, double spent)
{
    const css_constraints *held = &c->work->settings->held;
    bool *closed = c->shut[depth], simple = held->group == NULL && c->work->near == NULL;
    int l = tightest(c, closed, room);

    if (l == -1) return true;
    if (l == -2 || depth + 1 == c->depths) return false;
    if (R_FINITE(held->budget) && !css_pays(c->work, spent + least_cost(c, closed))) return false;
    if (simple) return true;
    for (;;) {
        int j = -1, size;
        double cost;
        bool found = false;
        for (int i = 0; i < c->work->p; i++)
            if (!closed[i] && held->quota.level[i] == l &&
                (j < 0 || css_cost(c->work, i) < css_cost(c->work, j)))
                j = i;
        if (j < 0) return false;
        if (c->tries-- <= 0) {
            c->work->gave_up = true;
            return false;
        }
        if (c->tries % 64 == 0) R_CheckUserInterrupt();
        if (add_unit(c, j, closed, 1, &size, &cost) && size <= room &&
            css_pays(c->work, spent + cost)) {
            memcpy(c->shut[depth + 1], closed, (size_t) c->work->p * sizeof(bool));
            shut(c, j, c->shut[depth + 1]);
            found = search(c, depth + 1, room - size, spent + cost);
        }
        add_unit(c, j, NULL, -1, &size, &cost);
        if (found) return true;
        closed[j] = true;
    }
}

/* Can the choice, with m columns more, be completed? */
static bool completes(css_work *work, int m, const int *column)
{
    const css_constraints *held = &work->settings->held;
    size_t P = (size_t) work->p, L = (size_t) held->quota.n;
    completion c = {.work = work, .tries = TRIES, .depths = 2};
    double spent = work->spent;
    bool simple = held->group == NULL && work->near == NULL, done;
    void *mark = vmaxget();

    c.have = ufs_ialloc(L);
    c.open = ufs_ialloc(L);
    c.cost = ufs_dalloc(P, 1);
    memcpy(c.have, work->have, L * sizeof(int));
    for (size_t l = 0; l < L && !simple; l++)
        c.depths += ufs_quota_lacks(&held->quota, c.have, (int) l);
    c.shut = (bool **) R_alloc((size_t) c.depths, sizeof(bool *));
    for (int d = 0; d < c.depths; d++) c.shut[d] = (bool *) R_alloc(P, sizeof(bool));
    for (int j = 0; j < work->p; j++)
        c.shut[0][j] = work->chosen[j] || work->passed[j] || (held->barred && held->barred[j]) ||
                       (work->near && work->n_near[j] > 0);
    for (int i = 0; i < m; i++) {
        int l = held->quota.level[column[i]];
        if (l >= 0) c.have[l]++;
        spent += css_cost(work, column[i]);
        shut(&c, column[i], c.shut[0]);
    }
    done = search(&c, 0, work->settings->k - work->n_chosen - m, spent);
    vmaxset(mark);
    return done;
}

bool css_quota_keeps(css_work *work, int m, const int *column)
{
    const ufs_quota *quota = quota_of(work);
    int lacking;
    bool over;

    if (quota->level == NULL) return true;
    for (int i = 0; i < m; i++) css_quota_count(work, column[i], 1);
    over = css_quota_exceeded(work);
    lacking = work->lacking;
    for (int i = 0; i < m; i++) {
        int l = quota->level[column[i]];
        if (l >= 0) work->have[l]--;
    }
    work->lacking = 0;
    for (int l = 0; l < quota->n; l++) work->lacking += ufs_quota_lacks(quota, work->have, l);
    if (!over && lacking == 0) return true;
    if (!over && lacking <= work->settings->k - work->n_chosen - m && completes(work, m, column))
        return true;
    for (int i = 0; i < m; i++) work->passed[column[i]] = true;
    return false;
}
