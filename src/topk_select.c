/* topk_select.c: sub-problem 2 of top-k selection by the paper's ADMM (the
 * criterion that it minimises: topk_criterion.c).
 *   min ||A V x' - Y||^2 + lambda_a ||A||^2 + lambda_i tr(A V x' L x V A')
 *   over A (c x p) and v in {0,1}^p with 1'v = k, V = diag(v), Y c x n one-hot.
 * It depends on x only through K = f'f and B = f'h.
 *
 * The binary set is where box and sphere meet: v in [0,1]^p and ||v - 1/2||^2 = p/4
 * force v_i(1 - v_i) = 0. ADMM with copies v1 in the box, v2 on the sphere, rho grown
 * by a factor; one iteration
 *   A' = V f'(f V^2 f' + lambda_a I)^{-1} h                 r^2 p + r^3/3
 *   v  : (2 (A'A o K) + rho 11' + 2 rho I) v = 2 theta + rho (k + v1 + v2) - (y1 + y2 + y3),
 *        theta_i = B_i. A_.i, by conjugate gradients from the last v with
 *        (A'A o K) s = sum over c of a_c o f'(f (a_c o s))  4rpc per product
 *   v1 = clip(v + y2/rho), 1 or 0 for features that must or may not be in, v2 = projection of v + y3/rho on the sphere, then y1, y2, y3.
 * The objective in the trace is that of A with the v before it. Memory: r x p, r x r. */
#include "topk_set.h"

void topk_select_init(topk_select *work, topk_criterion *g)
{
    size_t p = (size_t) g->p, c = (size_t) g->c, k = (size_t) g->k;

    work->g = g;
    ufs_dalloc_each(p, 1,
                    (double **[]){&work->v, &work->rhs, &work->v1, &work->v2, &work->y2, &work->y3,
                                  &work->previous, &work->target, &work->pc, NULL});
    work->cg = ufs_dalloc(p, 4);
    ufs_dalloc_each(p, c, (double **[]){&work->a, &work->av, NULL});
    ufs_ialloc_each(k, (int **[]){&work->chosen, &work->trial, NULL});
}

/* out = (2 (A'A o K) + rho 11' + 2 rho I) s. */
static void apply(void *data, const double *s, double *out)
{
    topk_select *work = data;
    topk_criterion *g = work->g;
    size_t p = (size_t) g->p, c = (size_t) g->c;
    double sum = 0.0, rho = work->rho;

    la_scale_rows(g->p, g->c, s, work->a, work->av);
    la_mul('N', 'N', g->r, g->c, g->p, 1.0, g->f, work->av, 0.0, g->m);
    la_mul('T', 'N', g->p, g->c, g->r, 1.0, g->f, g->m, 0.0, g->pull);
    for (size_t i = 0; i < p; i++) sum += s[i];
    for (size_t i = 0; i < p; i++) out[i] = rho * (sum + 2.0 * s[i]);
    for (size_t l = 0; l < c; l++)
        for (size_t i = 0; i < p; i++) out[i] += 2.0 * work->a[i + l * p] * g->pull[i + l * p];
}

static void precondition(void *data, const double *r, double *z)
{
    topk_select *work = data;
    for (int i = 0; i < work->g->p; i++) z[i] = work->pc[i] * r[i];
}

/* v; returns the objective before. */
static double step_v(topk_select *work)
{
    topk_criterion *g = work->g;
    size_t p = (size_t) g->p, c = (size_t) g->c;
    double objective = g->yy, rho = work->rho;

    ufs_copy(work->previous, work->v, p);
    for (size_t i = 0; i < p; i++) {
        double theta = 0.0, ss = 0.0;
        for (size_t l = 0; l < c; l++) {
            theta += g->b[i + l * p] * work->a[i + l * p];
            ss += work->a[i + l * p] * work->a[i + l * p];
        }
        /* A is the best one for v. */
        objective -= work->v[i] * theta;
        work->rhs[i] = 2.0 * theta + rho * (g->k + work->v1[i] + work->v2[i]) -
                       (work->y1 + work->y2[i] + work->y3[i]);
        work->pc[i] = 1.0 / (2.0 * ss * g->diag[i] + 3.0 * rho);
    }
    la_cg_problem cg = {.n = g->p,
                        .apply = apply,
                        .precondition = precondition,
                        .data = work,
                        .tol = UFS_TIE,
                        .max_iter = g->p,
                        .work = work->cg};
    la_cg(&cg, work->rhs, work->v);
    return objective;
}

/* The copies and the multipliers; the four residuals. */
static void step_copies(topk_select *work, double *residual)
{
    topk_criterion *g = work->g;
    size_t p = (size_t) g->p;
    double sum = 0.0, rho = work->rho;

    for (int i = 0; i < 4; i++) residual[i] = 0.0;
    for (size_t i = 0; i < p; i++) {
        double u = work->v[i] + work->y2[i] / rho;
        work->v1[i] = u < 0.0 ? 0.0 : (u > 1.0 ? 1.0 : u);
        if (topk_must(g, (int) i)) work->v1[i] = topk_must(g, (int) i) > 0;
        work->target[i] = work->v[i] + work->y3[i] / rho;
        sum += work->v[i];
    }
    proj_half_sphere(g->p, work->target, work->previous, work->v2);
    residual[0] = fabs(sum - g->k);
    work->y1 += rho * (sum - g->k);
    for (size_t i = 0; i < p; i++) {
        double part[] = {work->v[i] - work->v1[i], work->v[i] - work->v2[i],
                         work->v[i] - work->previous[i]};
        work->y2[i] += rho * part[0];
        work->y3[i] += rho * part[1];
        /* Written so that a NaN is kept. */
        for (int j = 0; j < 3; j++)
            if (!(fabs(part[j]) <= residual[j + 1])) residual[j + 1] = fabs(part[j]);
    }
}

/* Keeps the best set so far: of the largest v, then ||A_.i||^2. */
static void look(topk_select *work)
{
    topk_criterion *g = work->g;
    size_t bytes = (size_t) g->k * sizeof(int);
    double value;

    la_row_norms(g->p, g->c, work->a, work->target);
    topk_best(g, work->v, work->target, work->trial);
    if (R_FINITE(work->value) && memcmp(work->trial, work->chosen, bytes) == 0) return;
    value = topk_criterion_value(g, work->trial);
    if (!topk_better(value, work->value)) return;
    memcpy(work->chosen, work->trial, bytes);
    work->value = value;
}

int topk_select_admm(topk_select *work, const topk_select_settings *settings, int outer,
                     ufs_trace *trace)
{
    topk_criterion *g = work->g;
    size_t p = (size_t) g->p;

    for (size_t i = 0; i < p; i++) {
        work->v[i] = 1.0;
        work->v1[i] = work->v2[i] = work->y2[i] = work->y3[i] = 0.0;
    }
    work->rho = 1.0;
    work->y1 = 0.0;
    work->iterations = 0;
    work->residual = 0.0;
    work->value = R_PosInf;
    work->converged = g->k == g->p;
    if (work->converged) {
        for (int i = 0; i < g->k; i++) work->chosen[i] = i;
        work->value = topk_criterion_value(g, work->chosen);
        return 0;
    }
    while (work->iterations < settings->max_iter && !work->converged) {
        double residual[4], objective, sum;
        int lapack = topk_criterion_relaxed(g, work->v, &sum);

        if (lapack) return lapack;
        /* A' = V f'(f V^2 f' + lambda_a I)^{-1} h. */
        la_scale_rows(g->p, g->c, work->v, g->pull, work->a);
        ufs_hook_step(NULL, 0, 0.0, 0.0);
        objective = step_v(work);
        step_copies(work, residual);
        work->rho *= settings->growth;
        look(work);
        work->iterations++;
        work->residual = 0.0;
        for (int i = 0; i < 4; i++)
            if (!(residual[i] <= work->residual)) work->residual = residual[i];
        work->converged = work->residual < settings->tol;
        ufs_trace_add(trace, (double[]){outer, work->iterations, residual[0], residual[1],
                                        residual[2], residual[3], objective});
    }
    return 0;
}
