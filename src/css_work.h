/* css_work.h: column subset selection as a search (see css_solve.c): the choice so far, what each column
 * would add, a column in, a column out. Below it the three forms, above it all that searches. */
#pragma once

#include "css.h"
#include "la.h"

enum { CSS_TRIES = 16 }; /* columns that are tried together for a swap */

typedef struct css_work css_work;

/* How what the choice leaves of x and of the target is held. The last three are NULL where columns do
 * not leave. */
typedef struct {
    int (*begin)(css_work *work);        /* room, target, f_first; returns LAPACK's info */
    void (*clear)(css_work *work);       /* what is left is all; NULL: f and d are all there is */
    void (*take)(css_work *work, int j); /* j off f and d, and a member if anything of it is left */
    const double *(*products)(css_work *work, int j); /* x'x_j, until the next call */
    void (*invert)(css_work *work);                   /* `inverse` */
    void (*look)(css_work *work, int m); /* `pass` and `size` of the m columns of `dual` */
    void (*back)(css_work *work, int b); /* member b, which was looked at last, back into f and d */
} css_form;

struct css_work {
    const css_problem *problem;
    const css_settings *settings;
    const css_form *form;
    int n, p;
    double mu, total; /* total: squares of the target */
    double *gram;     /* rows: x x'; gram: x'x; products: NULL */
    /* The choice: order[0 .. n_chosen), of which member[0 .. n_basis) span all. */
    bool *chosen;
    int *order, n_chosen, *member, n_basis;
    double value, spent; /* squares of the target that the choice holds (mu = 0), and its cost */
    unsigned char *near; /* p x k: too close to the column at this place; NULL: max_cor is 1 */
    int *n_near;         /* p */
    int *have,
        lacking;     /* of quotas: columns of each stratum, and how many are lacking of the least */
    bool *passed;    /* p: with these the least cannot be reached */
    bool gave_up;    /* it may be, but the search took too long */
    bool by_cost;    /* the next pick is the one of the largest decrease for its cost */
    double *f, *d;   /* p */
    double *f_first; /* p: f before the first pick */
    double *f0,
        *d0;       /* rows and products: when last computed from x, since f and d are differences */
    double *norm2; /* p: ||x_j||^2 */
    /* The target: YY' (rows, n x n) or Y'x (n_target x p); `gram` where Y is x. */
    double *target;
    double *component; /* of a target: the squares of each */
    int n_target;
    /* Swaps. */
    double *pass;    /* 2 m x p: rows b, then v, of every one of m tries */
    double *size;    /* m: u'YY'u */
    double *inverse; /* k x k: its rows are the dual vectors in terms of basis or columns */
    double *dual;    /* k x m */
    double *lu;      /* k: scratch */
    int *pivot;      /* k */
    bool inverted;
    /* Form gram. */
    double *deflated; /* K, p x p */
    double *rest;     /* what is left of Y'x; K where Y is x (products: NULL) */
    double *along;    /* n_target x m; Y'u of every try */
    /* Forms rows and products. */
    double *r, *t;     /* rows: n x k basis and its triangle r'x (k x k, any square once dropped) */
    double *w;         /* products: p x k */
    double *pair;      /* rows: n x 2 m for m tries; gram: p x k */
    int tile;          /* columns done together, 64 or as many as a block of a file has */
    double *y, *z;     /* tile columns */
    double *own;       /* rows, mu > 0: n x tile */
    double *s;         /* k x tile */
    int *list, n_list; /* tile: columns to measure */
};

/* ---- css_gram.c, css_rows.c, css_products.c: the forms ------------------------------------- */

extern const css_form css_by_gram, css_by_rows, css_by_products;
/* Is x'x cheaper than xx'? */
bool css_cheaper_by_gram(const css_problem *problem, int k);
/* x'x or xx'. */
double *css_gram_of(const css_problem *problem, bool by_columns);
/* Z, the leading eigenvectors of `gram`, of this order; `component` and `total` from their values.
 * Returns LAPACK's info. */
int css_target(css_work *work, int order, double *z);
/* Forms rows and products: x'x_j, in `pass`. */
const double *css_cross(css_work *work, int j);
/* Differences of f and d that have lost digits are measured again. */
void css_renew(css_work *work, void (*measure)(css_work *work));

/* ---- css_start.c: one step, in any form ------------------------------------------------------ */

/* Returns LAPACK's info. */
int css_begin(css_work *work);
/* Nothing chosen. */
void css_clear(css_work *work);
/* The choice becomes order[0 .. n). */
void css_choose(css_work *work, int n, const int *order);
/* What column j would lower the criterion by. */
double css_decrease(const css_work *work, int j);
/* The next column to take, -1 if there is none. only: p, or NULL for all. */
int css_next(css_work *work, const bool *only);
void css_take(css_work *work, int j);

/* ---- costs and closeness ------------------------------------------------------------------ */

static inline double css_cost(const css_work *work, int j)
{
    return work->settings->held.cost ? work->settings->held.cost[j] : 1.0;
}

/* Is this sum of costs within the budget? */
static inline bool css_pays(const css_work *work, double spent)
{
    return spent <= work->settings->held.budget * (1.0 + UFS_ROUNDING);
}

/* Are two columns with this product no closer to each other than chosen ones may be? */
static inline bool css_apart(const css_work *work, int i, int j, double product)
{
    const css_constraints *held = &work->settings->held;
    double most = held->max_cor * (1.0 + UFS_ROUNDING);
    double size_i = work->norm2[i], size_j = work->norm2[j];

    if (!(most < 1.0)) return true;
    if (held->mean != NULL) {
        product -= held->mean[i] * held->mean[j];
        size_i = fmax(0.0, size_i - held->mean[i] * held->mean[i]);
        size_j = fmax(0.0, size_j - held->mean[j] * held->mean[j]);
    }
    return fabs(product) <= most * sqrt(size_i) * sqrt(size_j);
}

/* ---- css_start.c: quotas of strata ---------------------------------------------------------- */

/* Has a stratum more columns than it may? */
bool css_quota_exceeded(const css_work *work);

/* ---- css_start.c: what is chosen together ----------------------------------------------------- */

/* Unit u is the columns item[start[u] .. start[u + 1]): a group, or one column. */
typedef struct {
    int n, most; /* units; columns of the largest */
    int *start, *item;
    double *k, *h; /* most x most: scratch */
} css_units;

css_units css_units_of(const css_work *work);
/* The group to take next, -1 if there is none: by its decrease for each place, or its cost; by the
 * decrease alone, returned in `most`, if that is not NULL. only: p, or NULL for all. */
int css_next_group(css_work *work, const css_units *units, const bool *only, double *most);

/* ---- css_start.c ----------------------------------------------------------------------------- */

/* Exchanges until none helps, and further starts; the best choice is left in `order`. */
void css_improve(css_work *work, const css_units *units, css_result *result);
