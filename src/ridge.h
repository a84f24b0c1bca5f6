/* ridge.h: weighted ridge.
 * V (p x c) = argmin ||X V - T||_F^2 + lambda sum_i ||v_i||^2 / g_i, with
 * X n x p, T n x c, g >= 0 (g_i = 0 gives v_i = 0), lambda > 0:
 *   n-form  V = G X'(X G X' + lambda I_n)^{-1} T     n^2 p + n^3/3 + 2n^2c + 2npc
 *   p-form  V = G^{1/2}(G^{1/2}X'XG^{1/2} + lambda I_p)^{-1} G^{1/2} X'T
 *                                                    p^3/3 + 2p^2c + 2npc
 * X'X is formed once. The form is chosen by those counts; with p > n nothing
 * of size p x p exists. */
#pragma once

#include "x_ops.h"

typedef struct {
    int n, p, c;
    bool p_form;
    double *k;    /* n x n or p x p: the matrix that is factored */
    double *gram; /* p-form: X'X */
    double *z;    /* n x c or p x c */
    ufs_x x;
} ridge_work;

/* form: 'n', 'p', or 'a' for the cheaper one. */
void ridge_init(ridge_work *work, int c, const ufs_x *x, char form);
/* Another x of the same shape, or new numbers in the old one. */
void ridge_set_x(ridge_work *work, const ufs_x *x);
int ridge_solve(ridge_work *work, const double *t, const double *g, double lambda, double *v);
