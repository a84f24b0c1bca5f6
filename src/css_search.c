/* css_search.c: the choice of columns, in any form: what may be taken, what it would add, a column in, a
 * column out, and what every exchange would bring. Forms, flops and memory: css_solve.c. */
#include "css_work.h"

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
