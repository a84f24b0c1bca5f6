/* socfs.h: simultaneous orthogonal basis clustering feature selection.
 *
 * Han and Kim (CVPR 2015) with X (features x samples) minimise
 *   ||W'X - B E'||^2 + lambda ||W||_{2,1} + gamma ||F - E||^2,
 *   B'B = I, E'E = I, F >= 0.
 * B and its width vanish exactly: W = V B' for any orthonormal B, and with our
 * x (n x p, the transpose of theirs)
 *
 *   J = ||x V - E||_F^2 + lambda sum_i ||v_i||_2 + gamma ||F - E||_F^2,
 *   E'E = I_c, F >= 0,        V p x c, E and F n x c,  F = max(E, 0).
 *
 * Two solvers:
 * exact: V by gl_work, so rows are exactly zero and a duality gap proves the
 *   V-step; E by at most inner_max_iter steps E = polar(xV + gamma F),
 *   F = max(E, 0), and extrapolation of E, taken only on descent: Anderson's while the
 *   changes of E shrink, growing forward steps while they grow (Anderson's alone is pulled
 *   back to the saddles it should leave). J never rises. Per
 *   iteration 6nc^2 per inner step, the sweeps of gl_work, and every tenth time a full
 *   product, 2npc.
 * irls: the paper's iteration (its Algorithms 1 and 2). V by weighted ridge with g_i =
 *   2 sqrt(||v_i||^2 + eps); J_eps, with sqrt(||v_i||^2 + eps) for ||v_i||, never
 *   rises. Per iteration n^2 p + n^3/3 (n-form) or p^3/3 (p-form).
 * Memory: that of gl_work; 23 nc + 2pc more; irls n^2 or 2p^2, that of the cheaper form. */
#pragma once

#include "anderson.h"
#include "gl.h"
#include "ridge.h"

typedef struct {
    int n, p, c;
    const ufs_x *x; /* n x p, columns centred */
    double lambda, gamma, eps;
    const double *factor; /* p: of each row's penalty, see gl.h; NULL for ones. exact only */
    const double *e0;     /* n x c, orthonormal columns */
    const double *f0;     /* n x c or NULL: max(E0, 0) */
    const double *v0;     /* p x c or NULL: the ridge solution at E0. irls only */
    const double *g0;     /* p or NULL. Weights of the first ridge solve of irls: that
                          for V0, or with V0 given that of the first iteration */
} socfs_problem;

/* One run of one solver; a fit may be several, each from where the last ended. Only
 * stages with the problem's lambda are traced and counted. */
typedef struct {
    bool exact;
    double lambda;
    int max_iter, inner_max_iter;
    double tol, inner_tol; /* negative: never stop early */
} socfs_stage;

typedef struct {
    int n_stage;
    const socfs_stage *stage;
    int memory; /* differences of E kept for its extrapolation; 0: none */
} socfs_settings;

/* v is p x c, e and f are n x c, kkt has length p: the caller's, filled with zeros. */
typedef struct {
    double *v, *e, *f, *kkt;
    double objective;                 /* J (J_eps if the last stage was irls) */
    double gap;                       /* relative duality gap of the V-step at E */
    double violation;                 /* of its optimality conditions, see gl_violation */
    double products, sweeps, columns; /* counters of gl_work */
    ufs_trace inner;                  /* iteration, step, objective: the steps of E and F */
} socfs_result;

/* Iterations, trace (iteration, objective, change = relative fall, inner steps, live
 * rows, exact 0 or 1) and inner trace are those of the stages with the problem's lambda;
 * row 0 of the trace is the start. */
void socfs_solve(const socfs_problem *problem, const socfs_settings *settings, socfs_result *result,
                 ufs_run *run);
