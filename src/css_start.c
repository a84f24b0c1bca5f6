/* css_start.c: the search of css: what may be taken in any form, what it would add, a column in or out,
 * what every exchange would bring; and the best of several choices, each exchanged until nothing helps:
 * the first one; with costs, one by decrease over cost; and further starts from the best one so far.
 * Forms, flops and memory: css_solve.c. */
#include "css_work.h"

/* ---- quotas of strata ------------------------------------------------------------------------ */

/* Each has a least and a most number of columns in a choice. A column is taken only if enough columns of
 * the strata that lack some are left, for which there is room and money. Without groups and a ceiling on |cosine| counting tells. With them a search takes a column of the
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

/* Can the choice still reach the least of all strata with these m columns, which are none of it? If not
 * they are not looked at again before a column leaves. */
static bool css_quota_keeps(css_work *work, int m, const int *column)
{
    const ufs_quota *quota = quota_of(work);
    int lacking, before = work->lacking;
    bool over;

    if (quota->level == NULL) return true;
    for (int i = 0; i < m; i++) css_quota_count(work, column[i], 1);
    over = css_quota_exceeded(work);
    lacking = work->lacking;
    for (int i = 0; i < m; i++) {
        int l = quota->level[column[i]];
        if (l >= 0) work->have[l]--;
    }
    work->lacking = before;
    if (!over && lacking == 0) return true;
    if (!over && lacking <= work->settings->k - work->n_chosen - m && completes(work, m, column))
        return true;
    for (int i = 0; i < m; i++) work->passed[column[i]] = true;
    return false;
}

/* ---- what may be chosen ------------------------------------------------------------------ */

/* May column j be taken, in the place of what is at order[at], or beside all (at < 0)? */
static bool css_eligible(const css_work *work, int j, int at)
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
    if (settings->held.quota.level == NULL) return;
    work->have = ufs_ialloc((size_t) settings->held.quota.n);
    work->passed = (bool *) R_alloc(p, sizeof(bool));
}

void css_clear(css_work *work)
{
    const ufs_quota *quota = quota_of(work);
    size_t P = (size_t) work->p;

    work->n_chosen = work->n_basis = 0;
    work->inverted = false;
    work->value = work->spent = 0.0;
    for (size_t j = 0; j < P; j++) work->chosen[j] = false;
    if (work->near) memset(work->n_near, 0, P * sizeof(int));
    work->lacking = 0;
    for (int l = 0; l < quota->n; l++) {
        work->have[l] = 0;
        work->lacking += quota->least[l];
    }
    if (quota->level) memset(work->passed, 0, P * sizeof(bool));
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

/* Does anything of column j stand out of the choice? */
static bool css_stands_out(const css_work *work, int j)
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

/* With the columns at[0 .. m) of the order taken out one at a time, m <= CSS_TRIES: rows b and v
 * of `pass` and `size`, by which column j in the place of at[i] holds
 *     (f_j + 2 b_j v_j + b_j^2 size_i) / (d_j + b_j^2)
 * more than the others, and at[i] itself size_i. Needs mu = 0. */
static void css_try(css_work *work, int m, const int *at)
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

/* Takes out what is at this place of the order; mu = 0. */
static void css_drop(css_work *work, int at)
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

/* ---- what is chosen together ----------------------------------------------------------------- */

/* Columns alone, or groups of them (these in the p-form). The columns g of a group lower the criterion by tr(K_gg^-1 H_gg), H = rest' rest: |g|^2 n_target flops a
 * group and pick. The largest decrease for each of its places, or its cost, is taken, among the groups
 * for which there is room; a group is exchanged for another that needs no more room. A column takes one
 * place, or all columns of a variable take one. */
css_units css_units_of(const css_work *work)
{
    const int *group = work->settings->held.group;
    css_units out = {0};

    for (int j = 0; j < work->p; j++)
        out.n = group == NULL ? work->p : group[j] + 1 > out.n ? group[j] + 1 : out.n;
    out.start = ufs_ialloc((size_t) out.n + 1);
    out.item = ufs_ialloc((size_t) work->p);
    for (int j = 0; j < work->p; j++) out.start[(group ? group[j] : j) + 1]++;
    for (int u = 0; u < out.n; u++) {
        out.most = out.start[u + 1] > out.most ? out.start[u + 1] : out.most;
        out.start[u + 1] += out.start[u];
    }
    int *at = ufs_ialloc((size_t) out.n);
    for (int j = 0; j < work->p; j++) {
        int u = group ? group[j] : j;
        out.item[out.start[u] + at[u]++] = j;
    }
    ufs_dalloc_each((size_t) out.most, (size_t) out.most, (double **[]){&out.k, &out.h, NULL});
    return out;
}

static int size_of(const css_units *units, int u)
{
    return units->start[u + 1] - units->start[u];
}

static int places_of(const css_work *work, int m, const int *column)
{
    const int *places = work->settings->held.places;
    int sum = 0;

    for (int i = 0; i < m; i++) sum += places ? places[column[i]] : 1;
    return sum;
}

static double cost_of(const css_work *work, const css_units *units, int u)
{
    double sum = 0.0;

    for (int i = units->start[u]; i < units->start[u + 1]; i++)
        sum += css_cost(work, units->item[i]);
    return sum;
}

/* May all of it be taken? */
static bool css_unit_eligible(const css_work *work, const css_units *units, int u)
{
    const css_settings *settings = work->settings;
    int size = size_of(units, u), room = settings->held.places ? settings->held.room : settings->k;

    room -= places_of(work, work->n_chosen, work->order);
    if (size == 0 || size > settings->k - work->n_chosen ||
        places_of(work, size, units->item + units->start[u]) > room)
        return false;
    for (int i = units->start[u]; i < units->start[u + 1]; i++)
        if (!css_eligible(work, units->item[i], -1)) return false;
    return css_pays(work, work->spent + cost_of(work, units, u));
}

static void css_unit_take(css_work *work, const css_units *units, int u)
{
    for (int i = units->start[u]; i < units->start[u + 1]; i++) css_take(work, units->item[i]);
}

static double gain_of(const css_work *work, const css_units *units, int u)
{
    const int *j = units->item + units->start[u];
    size_t m = (size_t) size_of(units, u), P = (size_t) work->p, Q = (size_t) work->n_target;
    double *k = units->k, *h = units->h, gain = 0.0;

    for (size_t b = 0; b < m; b++)
        for (size_t a = 0; a < m; a++) {
            size_t J = (size_t) j[a], L = (size_t) j[b];
            k[a + b * m] = work->deflated[J + L * P];
            h[a + b * m] = la_dot(work->n_target, work->rest + J * Q, work->rest + L * Q);
        }
    for (size_t c = 0; c < m; c++) {
        double d = k[c + c * m], f = h[c + c * m];
        if (!(d > UFS_TIE * work->norm2[j[c]])) continue;
        gain += f / d;
        for (size_t b = c + 1; b < m; b++)
            for (size_t a = c + 1; a < m; a++) {
                double ka = k[a + c * m] / d, kb = k[b + c * m] / d;
                h[a + b * m] += f * ka * kb - h[a + c * m] * kb - ka * h[b + c * m];
                k[a + b * m] -= ka * kb * d;
            }
    }
    return gain;
}

/* By decrease for each place, or its cost; by decrease alone, which is returned in `most`, if that is
 * not NULL. -1: there is none. only: p, the columns there are to choose from, or NULL. */
static int best_of(const css_work *work, const css_units *units, const bool *only, double *most)
{
    double top = -1.0;

    for (int pass = 0; pass < 2; pass++)
        for (int u = 0; u < units->n; u++) {
            if (!css_unit_eligible(work, units, u)) continue;
            if (only && !only[units->item[units->start[u]]]) continue;
            double gain = gain_of(work, units, u), size = 1.0;
            if (!most && work->by_cost) size = cost_of(work, units, u);
            if (!most && !work->by_cost)
                size = places_of(work, size_of(units, u), units->item + units->start[u]);
            if (pass == 0)
                top = fmax(top, gain / size);
            else if (gain / size >= top * (1.0 - UFS_TIE)) {
                if (most) *most = gain;
                return u;
            }
        }
    return -1;
}

int css_next_group(css_work *work, const css_units *units, const bool *only, double *most)
{
    for (;;) {
        int u = best_of(work, units, only, most);
        if (u < 0 || css_quota_keeps(work, size_of(units, u), units->item + units->start[u]))
            return u;
    }
}

/* As many as k, the constraints and the budget allow. */
static void css_grow(css_work *work, const css_units *units)
{
    bool together = work->settings->held.group != NULL;

    for (int next = 0; next >= 0;) {
        R_CheckUserInterrupt();
        next = together ? css_next_group(work, units, NULL, NULL) : css_next(work, NULL);
        if (next >= 0 && together) css_unit_take(work, units, next);
        if (next >= 0 && !together) css_take(work, next);
    }
}

/* Exchanges of groups, as long as one helps and at most `most`. Returns how many. */
static int css_swap_groups(css_work *work, const css_units *units, int most)
{
    const int *group = work->settings->held.group;
    int first = work->settings->held.n_include, made = 0;

    for (int quiet = 0; quiet < work->n_chosen - first && made < most;) {
        int old = group[work->order[first]], new;
        double before = work->value, gain = 0.0;
        R_CheckUserInterrupt();
        for (int t = work->n_chosen - 1; t >= first; t--)
            if (group[work->order[t]] == old) css_drop(work, t);
        new = css_next_group(work, units, NULL, &gain);
        if (new < 0 || !(work->value + gain > before + UFS_TIE * work->total)) new = old;
        /* To the end of the order, so that the next group comes to the front. */
        css_unit_take(work, units, new);
        made += new != old;
        quiet = new != old ? 0 : quiet + size_of(units, old);
    }
    return made;
}

/* ---- exchanges ------------------------------------------------------------------------------- */

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

/* The same, of columns unless these go in groups. */
static int css_swap(css_work *work, const css_units *units, int most)
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

/* Enough for all groups of a questionnaire; of thousands the others hold little by themselves. */
enum { GROUP_TRIES = 32 };

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
    const css_constraints *held = &work->settings->held;
    double value = work->value;
    int n = work->n_chosen, *order = ufs_ialloc((size_t) work->settings->k), made;

    memcpy(order, work->order, (size_t) n * sizeof(int));
    css_choose(work, held->n_include, held->include);
    work->by_cost = true;
    css_grow(work, units);
    made = climb(work, units, work->settings->max_swaps);
    work->by_cost = keep_better(work, value, n, order);
    return made;
}

/* Where groups leave places free: some of those that hold most alone first, then what fits beside it. */
static void choose_by_first(css_work *work, const css_units *units, int tries)
{
    const css_constraints *held = &work->settings->held;
    double value, alone;
    int n, *order = ufs_ialloc((size_t) work->settings->k), first;
    bool *left = (bool *) R_alloc((size_t) work->p, sizeof(bool));

    for (int j = 0; j < work->p; j++) left[j] = true;
    while (tries-- > 0) {
        n = work->n_chosen;
        value = work->value;
        memcpy(order, work->order, (size_t) n * sizeof(int));
        css_choose(work, held->n_include, held->include);
        first = css_next_group(work, units, left, &alone);
        if (first >= 0) {
            left[units->item[units->start[first]]] = false;
            css_unit_take(work, units, first);
            css_grow(work, units);
        }
        keep_better(work, value, n, order);
        if (first < 0 || work->n_chosen == work->settings->k) return;
    }
}

/* ---- further starts ----------------------------------------------------------------------- */

/* The random number of what is at this place of the order: that of the first column of its group. */
static double number_of(const css_work *work, const int *best, const double *random, int t)
{
    const int *group = work->settings->held.group;
    int first = work->settings->held.n_include, l = group ? first : t;

    while (group && group[best[l]] != group[best[t]]) l++;
    return random[l - first];
}

/* The best choice without all, or a random half, of what may leave, and with one column, or group,
 * from outside: number i of the columns at order[first ..] leaves if random[i] is among the smaller. */
static void disturb(css_work *work, const css_units *units, int n, const int *best,
                    const double *random, bool all)
{
    int first = work->settings->held.n_include, free = n - first, pool = 0, pick;
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
    if (pool >= 0) return;
    pool = -1 - pool;
    if (css_quota_keeps(work, units->start[pool + 1] - units->start[pool],
                        units->item + units->start[pool]))
        css_unit_take(work, units, pool);
}

/* A start of its own, by loadings (Osinsky 2023; at most k + 1 times the least error, where k columns
 * may be any). With V the loadings of k components, x B what columns so far leave, B = 1 - VV' at first:
 * the column j of least ||x B_.j||^2 / ||V_j||^2 is taken, then B <- B - B_.j w', w = V V_j' / ||V_j||^2,
 * and V loses the direction of V_j. 4 n p + 8 p k flops a column, and those of the components. */
typedef struct {
    int m, taken;
    double *all, *v; /* p x m: loadings, and what is left of them */
    double *b, *w;   /* p x k: of the columns taken */
    double *error, *scores, *c;
} loadings;

static void deflate(css_work *work, loadings *l, int j)
{
    int p = work->p;
    size_t P = (size_t) p, J = (size_t) j, at = (size_t) l->taken++ * P;
    double *b = l->b + at, *w = l->w + at, own = 0.0, *c = l->c;

    for (size_t t = 0; t < (size_t) l->m; t++) own += l->v[J + t * P] * l->v[J + t * P];
    for (size_t i = 0; i < P; i++) b[i] = w[i] = 0.0;
    b[j] = 1.0;
    for (size_t t = 0; t < (size_t) l->m; t++) {
        la_axpy(p, -l->all[J + t * P], l->all + t * P, b);
        la_axpy(p, own > 0.0 ? l->v[J + t * P] / own : 0.0, l->v + t * P, w);
    }
    for (size_t t = 0; t < at; t += P) la_axpy(p, -l->w[J + t], l->b + t, b);
    for (size_t t = 0; t < (size_t) l->m; t++) la_axpy(p, -l->v[J + t * P], w, l->v + t * P);
    ufs_x_mul(work->problem->x, 1, b, l->scores);
    ufs_x_cross(work->problem->x, 1, l->scores, c);
    for (size_t t = 0; t < (size_t) l->m; t++)
        la_axpy(p, -la_dot(p, l->all + t * P, c), l->all + t * P, c);
    for (size_t t = 0; t < at; t += P) la_axpy(p, -la_dot(p, l->b + t, c), l->w + t, c);
    own = c[j];
    for (size_t i = 0; i < P; i++) l->error[i] += w[i] * (w[i] * own - 2.0 * c[i]);
}

static int least_error(const css_work *work, const loadings *l)
{
    double least = R_PosInf;
    int best = -1;

    for (int j = 0; j < work->p; j++) {
        double own = 0.0, by;
        if (!css_eligible(work, j, -1) || !css_stands_out(work, j)) continue;
        for (size_t t = 0; t < (size_t) l->m; t++) {
            double v = l->v[(size_t) j + t * (size_t) work->p];
            own += v * v;
        }
        by = fmax(l->error[j], 0.0) / own;
        if (!(own > UFS_TIE) || !(by < least * (1.0 - UFS_TIE))) continue;
        least = by;
        best = j;
    }
    return best;
}

static void choose_by_loadings(css_work *work)
{
    int n = work->n, k = work->settings->k, most = n < work->p ? n : work->p;
    const css_constraints *held = &work->settings->held;
    void *mark = vmaxget();
    size_t P = (size_t) work->p, K = (size_t) k;
    loadings l = {.m = k < most ? k : most};
    double *d2 = ufs_dalloc(K, 1);
    ufs_x_pca_info info;

    ufs_dalloc_each(P, K, (double **[]){&l.all, &l.v, &l.b, &l.w, NULL});
    ufs_dalloc_each(P, 1, (double **[]){&l.error, &l.c, NULL});
    l.scores = ufs_dalloc((size_t) n, K);
    ufs_x_pca(work->problem->x, l.m, 1e-4, l.scores, l.all, d2, &info);
    ufs_copy(l.v, l.all, P * (size_t) l.m);
    ufs_copy(l.error, work->norm2, P);
    for (size_t t = 0; t < (size_t) l.m; t++)
        for (size_t j = 0; j < P; j++) l.error[j] -= d2[t] * l.all[j + t * P] * l.all[j + t * P];
    css_clear(work);
    for (int t = 0; t < k && info.lapack == 0; t++) {
        int j = t < held->n_include ? held->include[t] : least_error(work, &l);
        while (t >= held->n_include && j >= 0 && !css_quota_keeps(work, 1, &j))
            j = least_error(work, &l);
        if (j < 0) break;
        css_take(work, j);
        deflate(work, &l, j);
    }
    vmaxset(mark);
}

static void restart(css_work *work, const css_units *units, css_result *result)
{
    const css_settings *settings = work->settings;
    int n = work->n_chosen, *best = ufs_ialloc((size_t) settings->k);
    double value = work->value, close = UFS_TIE * work->total;

    memcpy(best, work->order, (size_t) n * sizeof(int));
    for (int s = 1; s < settings->n_starts; s++) {
        const double *random = settings->random + (size_t) (s - 1) * (size_t) (settings->k + 1);
        /* Half of few columns is too near to the best ones to find others. */
        if (s == 2 && settings->held.group == NULL)
            choose_by_loadings(work);
        else
            disturb(work, units, n, best, random, s % 2 == 0);
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
    if (settings->held.cost && R_FINITE(settings->held.budget))
        result->swaps += choose_by_cost(work, units);
    if (settings->held.group && !settings->held.places && work->n_chosen < settings->k)
        choose_by_first(work, units, GROUP_TRIES);
    if (settings->n_starts > 1) restart(work, units, result);
}
