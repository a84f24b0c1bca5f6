/* css_work.h: what the files of column subset selection share (see base_css.c). */
#ifndef UFS_CSS_WORK_H
#define UFS_CSS_WORK_H

#include "base_css.h"

enum { CSS_TRIES = 16 }; /* columns that are tried together for a swap */

typedef struct {
    const css_problem *problem;
    const css_settings *settings;
    int n, p;
    double mu, total; /* total: squares of the target */
    bool p_form, x_form;
    double *gram;      /* n-form: x x'; p-form: x'x; x-form: NULL */
    double *target;    /* n-form: Y Y' (n x n); p-form: Y'x (n_target x p); `gram` where Y is x */
    double *component; /* of a target: the squares of each */
    int n_target;
    double *deflated; /* p-form: K, p x p */
    double *rest;     /* p-form: what is left of Y'x; K where Y is x (x-form: NULL) */
    double *w;        /* x-form: p x k */
    double *r, *t;   /* n-form: n x k basis and its triangle r'x (k x k, any square once dropped) */
    double *f, *d;   /* p */
    double *f_first; /* p: f before the first pick */
    double *f0, *d0; /* p, n-form: f and d when last computed from x */
    double *norm2;   /* p: ||x_j||^2 */
    double *pair;    /* n-form: n x 2 m for m tries; p-form: p x k */
    double *pass;    /* 2 m x p: rows b, then v, of every try */
    double *along;   /* p-form: n_target x m; Y'u of every try */
    double *size;    /* m: u'YY'u */
    double *inverse; /* k x k: of t, or of x_S'x_S */
    double *dual;    /* k x m */
    double *lu;      /* k: scratch */
    int *pivot;      /* k */
    bool inverted;
    int tile;          /* columns done together, 64 or as many as a block of a file has */
    double *y, *z;     /* n-form: n x tile */
    double *own;       /* n-form, mu > 0: n x tile */
    double *s;         /* n-form: k x tile */
    int *list, n_list; /* tile: columns to measure */
    /* The choice: order[0 .. n_chosen), of which member[0 .. n_basis) span all. */
    bool *chosen;
    int *order, n_chosen, *member, n_basis;
    double value, spent; /* squares of the target that the choice holds (mu = 0), and its cost */
    unsigned char *near; /* p x k: too close to the column at this place; NULL: no such wish */
    int *n_near;         /* p */
    bool by_cost;        /* the next pick is the one of the largest decrease for its cost */
} css_work;

/* ---- css_form.c: one step, in either form ------------------------------------------------- */

/* May column j be taken now? */
bool css_allowed(const css_work *work, int j);
double css_cost(const css_work *work, int j);
bool css_cheaper_by_p(const css_problem *problem, int k);
/* x'x (p-form) or xx'. */
double *css_gram_of(const css_problem *problem, bool p_form);
/* Returns LAPACK's info. */
int css_begin(css_work *work);
/* Nothing chosen. */
void css_clear(css_work *work);
/* What column j would lower the criterion by. */
double css_decrease(const css_work *work, int j);
void css_take(css_work *work, int j);
/* With the columns at[0 .. m) of the order taken out one at a time, m <= CSS_TRIES: rows b and v
 * of `pass` and `size`, by which column j in the place of at[i] holds
 *     (f_j + 2 b_j v_j + b_j^2 size_i) / (d_j + b_j^2)
 * more than the others, and at[i] itself size_i. Needs mu = 0. */
void css_try(css_work *work, int m, const int *at);
/* Takes out what is at this place of the order; mu = 0. */
void css_drop(css_work *work, int at);

/* ---- css_x.c: the x-form ------------------------------------------------------------------- */

/* `f_first`, and the target. Returns LAPACK's info. */
int css_begin_x(css_work *work);
/* Of the columns list[0 .. n_list). */
void css_measure_x(css_work *work);
/* Takes column j off f and d; false if nothing is left of it. */
bool css_take_x(css_work *work, int j);

/* ---- css_swap.c ------------------------------------------------------------------------------- */

/* -1 if there is none. only: p, or NULL for all. */
int css_best(const css_work *work, const bool *only);
/* As many as k, the wishes and the budget allow. */
void css_grow(css_work *work);
/* Exchanges, as long as one helps and at most `most`. Returns how many. */
int css_swap(css_work *work, int most);
/* Further starts; leaves the best choice in `order`. */
void css_restart(css_work *work, css_result *result);
/* The choice becomes order[0 .. n). */
void css_choose(css_work *work, int n, const int *order);

/* ---- css_group.c ------------------------------------------------------------------------------ */

void css_grow_groups(css_work *work);
int css_swap_groups(css_work *work, int most);

/* ---- css_prove.c ------------------------------------------------------------------------------ */

/* Replaces the choice where the search finds a better one. Returns LAPACK's info. */
int css_prove(css_work *work, css_result *result, ufs_run *run);
/* ---- css_bound.c ------------------------------------------------------------------------------ */

/* Destroys the Gram matrix. Returns LAPACK's info. */
int css_lead(const css_problem *problem, const css_settings *settings, bool p_form, double *gram,
             double total, double *leading, bool *exact);

#endif
