/* css_group.c: what is chosen together: columns alone, or groups of them (these in the p-form). The
 * columns g of a group lower the criterion by tr(K_gg^-1 H_gg), H = rest' rest: |g|^2 n_target flops a
 * group and pick. The largest decrease for each of its places, or its cost, is taken, among the groups
 * for which there is room; a group is exchanged for another that needs no more room. A column takes one
 * place, or all columns of a variable take one. */
#include "css_work.h"

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

bool css_unit_eligible(const css_work *work, const css_units *units, int u)
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

void css_unit_take(css_work *work, const css_units *units, int u)
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

void css_grow(css_work *work, const css_units *units)
{
    bool together = work->settings->held.group != NULL;

    for (int next = 0; next >= 0;) {
        R_CheckUserInterrupt();
        next = together ? css_next_group(work, units, NULL, NULL) : css_next(work, NULL);
        if (next >= 0 && together) css_unit_take(work, units, next);
        if (next >= 0 && !together) css_take(work, next);
    }
}

int css_swap_groups(css_work *work, const css_units *units, int most)
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
