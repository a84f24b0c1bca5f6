/* solve_topk_select.c: sub-problem 2 of top-k selection by ADMM (the
 * criterion that it minimises: solve_topk_criterion.c).
 *   min ||A V x' - Y||^2 + lambda_a ||A||^2 + lambda_i tr(A V x' L x V A')
 *   over A (c x p) and v in {0,1}^p with 1'v = k, V = diag(v), Y c x n one-hot.
 * With K = x'(I + lambda_i L)x and B = x'Y' (p x c) it depends on x only through K, B.
 *
 * The binary set is where box and sphere meet: v in [0,1]^p and ||v - 1/2||^2 = p/4
 * force v_i(1 - v_i) = 0. ADMM with copies v1 in the box, v2 on the sphere, rho grown
 * by 1.1; one iteration
 *   A  = B'V (V K V + lambda_a I)^{-1}
 *   v  : (2 (A'A o K) + rho 11' + 2 rho I) v = 2 theta + rho (k + v1 + v2) - (y1 + y2 + y3),
 *        theta_i = B_i. A_.i
 *   v1 = clip(v + y2/rho), v2 = projection of v + y3/rho on the sphere, then y1, y2, y3.
 *
 * The objective in the trace is that of A with the v before it.
 *
 * Dense form (p <= n): two p x p Cholesky and a p x p Schur product, about 2p^3/3 + p^2 c.
 * Low-rank form: K = f'f, B = f'h with f = R x (r x p, r = n), h = R^{-T}Y',
 * R'R = I + lambda_i L (R = I without a graph), and
 *   A' = V f'(f V^2 f' + lambda_a I)^{-1} h                 n^2 p + n^3/3
 *   (A'A o K) s = sum over c of a_c o f'(f (a_c o s))       4npc per product, by
 *        conjugate gradients from the last v, diagonal preconditioner, to 1e-10.
 * Memory: dense 3 p x p; low rank 2 n x p, 2 n x n; nothing p x p. */
#include "solve_topk_select.h"
#include "la.h"
#include "proj.h"
#include <R_ext/Memory.h>

static int ridge_dense(topk_select *work);
static int ridge_low_rank(topk_select *work);
static int solve_v_dense(topk_select *work, double rho);
static void solve_v_low_rank(topk_select *work, double rho);
static void apply(void *data, const double *s, double *out);
static void precondition(void *data, const double *r, double *z);
static void best_k(topk_select *work, int *subset);
static bool better(double value, double than);

void topk_select_init(topk_select *work, topk_criterion *g, double *u)
{
    size_t p = (size_t) g->p, c = (size_t) g->c, k = (size_t) g->k, r = (size_t) g->r;

    work->g = g;
    work->a = ufs_dalloc(p, c);
    work->v = ufs_dalloc(p, 1);
    work->chosen = ufs_ialloc(k);
    work->trial = ufs_ialloc(k);
    work->sort = (topk_entry *) R_alloc(p, sizeof(topk_entry));
    work->rhs = ufs_dalloc(p, 1);
    work->v1 = ufs_dalloc(p, 1);
    work->v2 = ufs_dalloc(p, 1);
    work->y2 = ufs_dalloc(p, 1);
    work->y3 = ufs_dalloc(p, 1);
    work->previous = ufs_dalloc(p, 1);
    work->target = ufs_dalloc(p, 1);
    work->u = u;
    work->factor = work->sol = work->av = work->back = work->t = NULL;
    if (g->dense) {
        work->factor = ufs_dalloc(p, p);
    } else {
        work->factor = ufs_dalloc(r, r);
        work->sol = ufs_dalloc(r, c);
        work->av = ufs_dalloc(p, c);
        work->back = ufs_dalloc(p, c);
        work->t = ufs_dalloc(r, c);
        work->cg_r = ufs_dalloc(p, 1);
        work->cg_z = ufs_dalloc(p, 1);
        work->cg_p = ufs_dalloc(p, 1);
        work->cg_q = ufs_dalloc(p, 1);
        work->pc = ufs_dalloc(p, 1);
    }
}

int topk_select_admm(topk_select *work, const topk_select_settings *settings, int outer,
                     ufs_trace *trace)
{
    topk_criterion *g = work->g;
    size_t p = (size_t) g->p, c = (size_t) g->c, k = (size_t) g->k;
    double rho = 1.0, y1 = 0.0;
    bool have = false;

    for (size_t i = 0; i < p; i++) {
        work->v[i] = 1.0;
        work->v1[i] = work->v2[i] = work->y2[i] = work->y3[i] = 0.0;
    }
    work->iterations = 0;
    work->residual = 0.0;
    work->converged = g->k == g->p;
    if (work->converged) {
        for (size_t i = 0; i < k; i++) work->chosen[i] = (int) i;
        work->value = topk_criterion_value(g, work->chosen);
        return 0;
    }
    for (int it = 1; it <= settings->max_iter && !work->converged; it++) {
        double sum = 0.0, box = 0.0, sphere = 0.0, change = 0.0, value, objective = g->yy;
        int lapack = g->dense ? ridge_dense(work) : ridge_low_rank(work);
        if (lapack) return lapack;
        ufs_hook_step(NULL, 0, 0.0, 0.0);

        ufs_copy(work->previous, work->v, p);
        for (size_t i = 0; i < p; i++) {
            double theta = 0.0;
            for (size_t l = 0; l < c; l++) theta += g->b[i + l * p] * work->a[i + l * p];
            /* A is the best one for v. */
            objective -= work->v[i] * theta;
            work->rhs[i] = 2.0 * theta + rho * (g->k + work->v1[i] + work->v2[i]) -
                           (y1 + work->y2[i] + work->y3[i]);
        }
        if (g->dense) {
            lapack = solve_v_dense(work, rho);
            if (lapack) return lapack;
        } else {
            solve_v_low_rank(work, rho);
        }
        for (size_t i = 0; i < p; i++) {
            double u = work->v[i] + work->y2[i] / rho;
            work->v1[i] = u < 0.0 ? 0.0 : (u > 1.0 ? 1.0 : u);
            work->target[i] = work->v[i] + work->y3[i] / rho;
            sum += work->v[i];
        }
        proj_half_sphere(g->p, work->target, work->previous, work->v2);
        y1 += rho * (sum - g->k);
        for (size_t i = 0; i < p; i++) {
            double d1 = work->v[i] - work->v1[i], d2 = work->v[i] - work->v2[i];
            double dv = fabs(work->v[i] - work->previous[i]);
            work->y2[i] += rho * d1;
            work->y3[i] += rho * d2;
            /* Written so that a NaN is kept. */
            if (!(fabs(d1) <= box)) box = fabs(d1);
            if (!(fabs(d2) <= sphere)) sphere = fabs(d2);
            if (!(dv <= change)) change = dv;
        }
        rho *= settings->growth;

        best_k(work, work->trial);
        if (!have || memcmp(work->trial, work->chosen, k * sizeof(int)) != 0) {
            value = topk_criterion_value(g, work->trial);
            if (!have || !settings->incumbent || better(value, work->value)) {
                memcpy(work->chosen, work->trial, k * sizeof(int));
                work->value = value;
            }
            have = true;
        }
        work->iterations = it;
        work->residual = fmax(fmax(fabs(sum - g->k), box), fmax(sphere, change));
        work->converged = fabs(sum - g->k) < settings->tol && box < settings->tol &&
                          sphere < settings->tol && change < settings->tol;
        double line[TOPK_SELECT_COLUMNS] = {outer,  it,     fabs(sum - g->k), box,
                                            sphere, change, objective};
        ufs_trace_add(trace, line);
    }
    return 0;
}

static bool better(double value, double than)
{
    return value < than - 1e-12 * (1.0 + fabs(than));
}

/* A' = (V K V + lambda_a I)^{-1} V B. */
static int ridge_dense(topk_select *work)
{
    topk_criterion *g = work->g;
    size_t p = (size_t) g->p, c = (size_t) g->c;
    int lapack;
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i <= j; i++)
            work->factor[i + j * p] = work->v[i] * g->kmat[i + j * p] * work->v[j];
        work->factor[j + j * p] += g->lambda_a;
    }
    lapack = la_chol_checked(g->p, work->factor);
    if (lapack) return lapack;
    for (size_t l = 0; l < c; l++)
        for (size_t i = 0; i < p; i++) work->a[i + l * p] = work->v[i] * g->b[i + l * p];
    la_chol_solve(g->p, g->c, work->factor, work->a);
    return 0;
}

/* A' = V f'(f V^2 f' + lambda_a I)^{-1} h. */
static int ridge_low_rank(topk_select *work)
{
    topk_criterion *g = work->g;
    size_t p = (size_t) g->p, c = (size_t) g->c, r = (size_t) g->r;
    int lapack;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < r; i++) work->u[i + j * r] = g->f[i + j * r] * work->v[j];
    la_gram('N', g->r, g->p, work->u, work->factor);
    for (size_t i = 0; i < r; i++) work->factor[i + i * r] += g->lambda_a;
    lapack = la_chol_checked(g->r, work->factor);
    if (lapack) return lapack;
    ufs_copy(work->sol, g->h, r * c);
    la_chol_solve(g->r, g->c, work->factor, work->sol);
    la_gemm('T', 'N', g->p, g->c, g->r, 1.0, work->u, g->r, work->sol, g->r, 0.0, work->a, g->p);
    return 0;
}

static int solve_v_dense(topk_select *work, double rho)
{
    topk_criterion *g = work->g;
    size_t p = (size_t) g->p;
    int lapack;
    la_gemm('N', 'T', g->p, g->p, g->c, 1.0, work->a, g->p, work->a, g->p, 0.0, work->factor, g->p);
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i <= j; i++)
            work->factor[i + j * p] = 2.0 * work->factor[i + j * p] * g->kmat[i + j * p] + rho;
        work->factor[j + j * p] += 2.0 * rho;
    }
    lapack = la_chol_checked(g->p, work->factor);
    if (lapack) return lapack;
    ufs_copy(work->v, work->rhs, p);
    la_chol_solve(g->p, 1, work->factor, work->v);
    return 0;
}

/* Preconditioned conjugate gradients from the last v. */
static void solve_v_low_rank(topk_select *work, double rho)
{
    topk_criterion *g = work->g;
    size_t p = (size_t) g->p, c = (size_t) g->c;

    for (size_t i = 0; i < p; i++) {
        double ss = 0.0;
        for (size_t l = 0; l < c; l++) ss += work->a[i + l * p] * work->a[i + l * p];
        work->pc[i] = 1.0 / (2.0 * ss * g->diag[i] + 3.0 * rho);
    }
    work->rho = rho;
    la_cg_problem cg = {.n = g->p,
                        .apply = apply,
                        .precondition = precondition,
                        .data = work,
                        .tol = 1e-10,
                        .max_iter = 500,
                        .r = work->cg_r,
                        .z = work->cg_z,
                        .p = work->cg_p,
                        .q = work->cg_q};
    la_cg(&cg, work->rhs, work->v);
}

static void precondition(void *data, const double *r, double *z)
{
    topk_select *work = data;
    for (int i = 0; i < work->g->p; i++) z[i] = work->pc[i] * r[i];
}

/* out = (2 (A'A o K) + rho 11' + 2 rho I) s. */
static void apply(void *data, const double *s, double *out)
{
    topk_select *work = data;
    topk_criterion *g = work->g;
    size_t p = (size_t) g->p, c = (size_t) g->c;
    double sum = 0.0, rho = work->rho;

    for (size_t l = 0; l < c; l++)
        for (size_t i = 0; i < p; i++) work->av[i + l * p] = work->a[i + l * p] * s[i];
    la_gemm('N', 'N', g->r, g->c, g->p, 1.0, g->f, g->r, work->av, g->p, 0.0, work->t, g->r);
    la_gemm('T', 'N', g->p, g->c, g->r, 1.0, g->f, g->r, work->t, g->r, 0.0, work->back, g->p);
    for (size_t i = 0; i < p; i++) sum += s[i];
    for (size_t i = 0; i < p; i++) out[i] = rho * (sum + 2.0 * s[i]);
    for (size_t l = 0; l < c; l++)
        for (size_t i = 0; i < p; i++) out[i] += 2.0 * work->a[i + l * p] * work->back[i + l * p];
}

/* By v rounded to 1e-6, then ||A_.i||^2, then index. */
static void best_k(topk_select *work, int *subset)
{
    size_t p = (size_t) work->g->p, c = (size_t) work->g->c;
    for (size_t i = 0; i < p; i++) {
        double ss = 0.0;
        for (size_t l = 0; l < c; l++) ss += work->a[i + l * p] * work->a[i + l * p];
        work->sort[i].first = nearbyint(work->v[i] * 1e6);
        work->sort[i].second = ss;
        work->sort[i].index = (int) i;
    }
    topk_best(work->g->p, work->g->k, work->sort, subset);
}
