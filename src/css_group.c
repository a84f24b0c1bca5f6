/* css_group.c: columns that go together, in the p-form. The columns g of a group lower the criterion
 * by tr(K_gg^-1 H_gg), H = rest' rest: |g|^2 n_target flops a group and pick. The largest decrease
 * for each of its columns, or its cost, is taken, among the groups for which there is room; a group
 * is exchanged for another that needs no more room. */
#include "css_work.h"
#include "la.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

typedef struct {
    int n, most;       /* groups; columns of the largest */
    int *start, *item; /* the columns of group g: item[start[g] .. start[g + 1]) */
    double *k, *h;     /* most x most */
} table;

static table group_table(const css_work *work)
{
    const int *group = work->settings->wish.group;
    table out = {0};

    for (int j = 0; j < work->p; j++) out.n = group[j] + 1 > out.n ? group[j] + 1 : out.n;
    out.start = ufs_ialloc((size_t) out.n + 1);
    out.item = ufs_ialloc((size_t) work->p);
    for (int j = 0; j < work->p; j++) out.start[group[j] + 1]++;
    for (int g = 0; g < out.n; g++) {
        out.most = out.start[g + 1] > out.most ? out.start[g + 1] : out.most;
        out.start[g + 1] += out.start[g];
    }
    int *at = ufs_ialloc((size_t) out.n);
    for (int j = 0; j < work->p; j++) out.item[out.start[group[j]] + at[group[j]]++] = j;
    ufs_dalloc_each((size_t) out.most, (size_t) out.most, (double **[]){&out.k, &out.h, NULL});
    return out;
}

static double group_cost(const css_work *work, const table *groups, int g)
{
    double sum = 0.0;

    for (int i = groups->start[g]; i < groups->start[g + 1]; i++)
        sum += css_cost(work, groups->item[i]);
    return sum;
}

/* May the group be taken? room: for so many columns. */
static bool group_allowed(const css_work *work, const table *groups, int g, int room)
{
    int size = groups->start[g + 1] - groups->start[g];
    double budget = work->settings->wish.budget * (1.0 + UFS_ROUNDING);

    if (size == 0 || size > room || work->spent + group_cost(work, groups, g) > budget)
        return false;
    for (int i = groups->start[g]; i < groups->start[g + 1]; i++)
        if (!css_allowed(work, groups->item[i])) return false;
    return true;
}

static double group_gain(const css_work *work, const table *groups, int g)
{
    const int *j = groups->item + groups->start[g];
    size_t m = (size_t) (groups->start[g + 1] - groups->start[g]), P = (size_t) work->p;
    double *k = groups->k, *h = groups->h, gain = 0.0;

    for (size_t b = 0; b < m; b++)
        for (size_t a = 0; a < m; a++) {
            size_t J = (size_t) j[a], L = (size_t) j[b], Q = (size_t) work->n_target;
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

static int best_group(const css_work *work, const table *groups, int room, double *most)
{
    double top = -1.0;

    for (int pass = 0; pass < 2; pass++)
        for (int g = 0; g < groups->n; g++) {
            if (!group_allowed(work, groups, g, room)) continue;
            double gain = group_gain(work, groups, g), size;
            size = work->by_cost ? group_cost(work, groups, g)
                                 : (double) (groups->start[g + 1] - groups->start[g]);
            if (most) size = 1.0;
            if (pass == 0)
                top = fmax(top, gain / size);
            else if (gain / size >= top * (1.0 - UFS_TIE)) {
                if (most) *most = gain;
                return g;
            }
        }
    return -1;
}

static void take_group(css_work *work, const table *groups, int g)
{
    for (int i = groups->start[g]; i < groups->start[g + 1]; i++) css_take(work, groups->item[i]);
}

void css_grow_groups(css_work *work)
{
    void *mark = vmaxget();
    table groups = group_table(work);

    for (int g = 0; g >= 0;) {
        R_CheckUserInterrupt();
        g = best_group(work, &groups, work->settings->k - work->n_chosen, NULL);
        if (g >= 0) take_group(work, &groups, g);
    }
    vmaxset(mark);
}

int css_swap_groups(css_work *work, int most)
{
    const int *group = work->settings->wish.group;
    int first = work->settings->wish.n_include, made = 0;
    void *mark = vmaxget();
    table groups = group_table(work);

    for (int quiet = 0; quiet < work->n_chosen - first && made < most;) {
        int old = group[work->order[first]], size = groups.start[old + 1] - groups.start[old], new;
        double before = work->value, gain = 0.0;
        R_CheckUserInterrupt();
        for (int t = work->n_chosen - 1; t >= first; t--)
            if (group[work->order[t]] == old) css_drop(work, t);
        new = best_group(work, &groups, work->settings->k - work->n_chosen, &gain);
        if (new < 0 || !(work->value + gain > before + UFS_TIE * work->total)) new = old;
        /* To the end of the order, so that the next group comes to the front. */
        take_group(work, &groups, new);
        made += new != old;
        quiet = new != old ? 0 : quiet + size;
    }
    vmaxset(mark);
    return made;
}
