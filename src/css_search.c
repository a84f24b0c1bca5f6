/* css_search.c: the choice of columns, in any form: what may be taken, what it would add, a column in, a
 * column out, and what every exchange would bring. Forms, flops and memory: css_solve.c. */
#include "css_work.h"

/* ---- quotas of strata ------------------------------------------------------------------------ */

/* How many columns of each a choice has at least and at most. A column is
 * taken only if enough columns of the strata that lack some are left, for which there is room and money.
 * Without groups and a ceiling on |cosine| counting tells. With them a search takes a column of the
 * stratum with the fewest to spare, then one of the next; it gives up after TRIES columns and then counts
 * as failed. A step takes p flops, and a product with x where |cosine| matters. */
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

static void css_quota_begin(css_work *work)
{
    const ufs_quota *quota = quota_of(work);

    if (quota->level == NULL) return;
    work->have = ufs_ialloc((size_t) quota->n);
    work->passed = (bool *) R_alloc((size_t) work->p, sizeof(bool));
}

static void css_quota_clear(css_work *work)
{
    if (quota_of(work)->level == NULL) return;
    work->lacking = 0;
    for (int l = 0; l < quota_of(work)->n; l++) {
        work->have[l] = 0;
        work->lacking += quota_of(work)->least[l];
    }
    memset(work->passed, 0, (size_t) work->p * sizeof(bool));
}

/* Column j in (by = 1) or out (-1). */
static void css_quota_count(css_work *work, int j, int by)
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

/* By counts alone: may column j be taken in the place of order[at], or beside all (at < 0)? */
static bool css_quota_allows(const css_work *work, int j, int at)
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

/* Does the stratum of column j lack columns? */
static bool css_quota_needs(const css_work *work, int j)
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

/* ---- what may be chosen ------------------------------------------------------------------ */

bool css_eligible(const css_work *work, int j, int at)
{
    const css_constraints *held = &work->settings->held;
    double spent = work->spent + css_cost(work, j);
    int near = work->near ? work->n_near[j] : 0;

    if (work->chosen[j] || (held->barred && held->barred[j])) return false;
    if (at >= 0) {
        spent -= css_cost(work, work->order[at]);
        if (work->near) near -= work->near[(size_t) at * (size_t) work->p + (size_t) j];
    }
    return near == 0 && css_pays(work, spent) && css_quota_allows(work, j, at);
}

/* Columns that are too close to column j, which takes the next place of the order. */
static void mark_near(css_work *work, int j)
{
    unsigned char *near = work->near + (size_t) work->n_chosen * (size_t) work->p;
    const double *product = work->form->products(work, j);

    for (int i = 0; i < work->p; i++) {
        near[i] = !css_apart(work, i, j, product[i]);
        work->n_near[i] += near[i];
    }
}

/* ---- the choice ---------------------------------------------------------------------------- */

static void allocate(css_work *work)
{
    const css_settings *settings = work->settings;
    size_t p = (size_t) work->p, k = (size_t) settings->k;
    size_t tries = settings->max_swaps > 0 ? CSS_TRIES : 1;
    bool close = settings->held.max_cor < 1.0;

    work->chosen = (bool *) R_alloc(p, sizeof(bool));
    ufs_ialloc_each(k, (int **[]){&work->order, &work->member, &work->pivot, NULL});
    ufs_dalloc_each(p, 1,
                    (double **[]){&work->f, &work->d, &work->f0, &work->d0, &work->norm2,
                                  &work->f_first, NULL});
    work->pass = ufs_dalloc(2 * tries, p);
    work->dual = ufs_dalloc(k, tries);
    work->size = ufs_dalloc(tries, 1);
    work->inverse = ufs_dalloc(settings->max_swaps > 0 ? k : 0, k);
    work->lu = ufs_dalloc(k, 1);
    work->near = close ? (unsigned char *) R_alloc(p * k, 1) : NULL;
    work->n_near = ufs_ialloc(close ? p : 0);
    css_quota_begin(work);
}

void css_clear(css_work *work)
{
    size_t P = (size_t) work->p;

    work->n_chosen = work->n_basis = 0;
    work->inverted = false;
    work->value = work->spent = 0.0;
    for (size_t j = 0; j < P; j++) work->chosen[j] = false;
    if (work->near) memset(work->n_near, 0, P * sizeof(int));
    css_quota_clear(work);
    for (int old = 0; old < 2; old++) {
        ufs_copy(old ? work->f0 : work->f, work->f_first, P);
        ufs_copy(old ? work->d0 : work->d, work->norm2, P);
    }
    if (work->form->clear) work->form->clear(work);
}

int css_begin(css_work *work)
{
    int info;

    allocate(work);
    ufs_x_ss(work->problem->x, work->norm2);
    work->total = 0.0;
    for (int j = 0; j < work->p; j++) work->total += work->norm2[j];
    info = work->form->begin(work);
    if (info == 0) css_clear(work);
    return info;
}

void css_choose(css_work *work, int n, const int *order)
{
    css_clear(work);
    for (int t = 0; t < n; t++) css_take(work, order[t]);
}

bool css_stands_out(const css_work *work, int j)
{
    return work->d[j] > UFS_TIE * work->norm2[j];
}

double css_decrease(const css_work *work, int j)
{
    return css_stands_out(work, j) ? fmax(work->f[j], 0.0) / (work->d[j] + work->mu) : 0.0;
}

static int best_column(const css_work *work, const bool *only)
{
    bool priced = R_FINITE(work->settings->held.budget) && only == NULL;
    double top = -1.0;

    for (int pass = 0; pass < 2 && work->n_chosen < work->settings->k; pass++)
        for (int j = 0; j < work->p; j++) {
            if (only ? work->chosen[j] || !only[j] : !css_eligible(work, j, -1)) continue;
            double gain = css_decrease(work, j), by;
            by = work->by_cost && only == NULL ? gain / css_cost(work, j) : gain;
            if (pass == 0) top = fmax(top, by);
            /* Nothing is paid for nothing, but for a choice of no column at all, or a quota. */
            else if (by >= top * (1.0 - UFS_TIE) &&
                     !(priced && gain == 0.0 && work->n_chosen > 0 && !css_quota_needs(work, j)))
                return j;
        }
    return -1;
}

int css_next(css_work *work, const bool *only)
{
    for (;;) {
        int j = best_column(work, only);
        if (j < 0 || only != NULL || css_quota_keeps(work, 1, &j)) return j;
    }
}

/* ---- a column in, a column out --------------------------------------------------------------- */

static void span(css_work *work, int j)
{
    work->value += css_decrease(work, j);
    work->inverted = false;
    work->form->take(work, j);
}

void css_take(css_work *work, int j)
{
    work->spent += css_cost(work, j);
    work->chosen[j] = true;
    css_quota_count(work, j, 1);
    if (work->near) mark_near(work, j);
    work->order[work->n_chosen++] = j;
    span(work, j);
}

static int member_at(const css_work *work, int j)
{
    for (int b = 0; b < work->n_basis; b++)
        if (work->member[b] == j) return b;
    return -1;
}

void css_try(css_work *work, int m, const int *at)
{
    size_t M = (size_t) work->n_basis;

    R_CheckUserInterrupt();
    if (!work->inverted) work->form->invert(work);
    work->inverted = true;
    for (size_t l = 0; l < (size_t) m; l++) {
        int b = member_at(work, work->order[at[l]]);
        for (size_t i = 0; i < M; i++)
            work->dual[i + l * M] = b < 0 ? 0.0 : work->inverse[(size_t) b + i * M];
    }
    work->form->look(work, m);
}

static void forget(css_work *work, int at)
{
    size_t P = (size_t) work->p, after = (size_t) (work->n_chosen - at - 1);
    unsigned char *near = work->near ? work->near + (size_t) at * P : NULL;
    int j = work->order[at];

    work->chosen[j] = false;
    css_quota_count(work, j, -1);
    work->spent -= css_cost(work, j);
    if (near) {
        for (size_t i = 0; i < P; i++) work->n_near[i] -= near[i];
        memmove(near, near + P, after * P);
    }
    memmove(work->order + at, work->order + at + 1, after * sizeof(int));
    work->n_chosen--;
}

void css_drop(css_work *work, int at)
{
    int b = member_at(work, work->order[at]);

    if (b < 0) {
        forget(work, at);
        return;
    }
    css_try(work, 1, &at);
    work->form->back(work, b);
    work->value -= work->size[0];
    memmove(work->member + b, work->member + b + 1, (size_t) (work->n_basis - b - 1) * sizeof(int));
    work->n_basis--;
    work->inverted = false;
    forget(work, at);
    /* Of chosen columns that depended on it one may add something now. */
    for (int l = 0; l < work->n_chosen; l++)
        if (css_stands_out(work, work->order[l]) && member_at(work, work->order[l]) < 0)
            span(work, work->order[l]);
}
