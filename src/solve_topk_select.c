/* solve_topk_select.c: sub-problem 2 of top-k selection and its criterion.
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
 * Dense form (p <= n): two p x p Cholesky and a p x p Schur product, about 2p^3/3 + p^2 c.
 * Low-rank form: K = f'f, B = f'h with f = R x (r x p, r = n), h = R^{-T}Y',
 * R'R = I + lambda_i L (R = I without a graph), and
 *   A' = V f'(f V^2 f' + lambda_a I)^{-1} h                 n^2 p + n^3/3
 *   (A'A o K) s = sum over c of a_c o f'(f (a_c o s))       4npc per product, by
 *        conjugate gradients from the last v, diagonal preconditioner, to 1e-10.
 * Memory: dense 3 p x p; low rank 2 n x p, 2 n x n; nothing p x p. */
#include "solve_topk.h"
#include "la.h"
#include "proj.h"
#include <stdlib.h>

static int ridge_dense(topk_select *w);
static int ridge_low_rank(topk_select *w);
static int solve_v_dense(topk_select *w, double rho);
static void solve_v_low_rank(topk_select *w, double rho);
static void apply(topk_select *w, double rho, const double *s, double *out);
static void best_k(topk_select *w, int *set);
static bool better(double value, double than);

/* ---- the criterion -------------------------------------------------------------- */

void topk_criterion_init(topk_criterion *g, int n, int p, int c, int k, const double *x,
                         double lambda_a, bool graph, char form, bool factor)
{
    size_t N = (size_t) n, P = (size_t) p, C = (size_t) c, K = (size_t) k, R;

    g->n = n;
    g->p = p;
    g->c = c;
    g->k = k;
    g->x = x;
    g->lambda_a = lambda_a;
    g->dense = form == 'p' || (form == 'a' && p <= n);
    g->r = g->dense ? p : n;
    R = (size_t) g->r;
    g->b = ufs_dalloc(P, C);
    g->diag = ufs_dalloc(P, 1);
    g->kmat = g->dense ? ufs_dalloc(P, P) : NULL;
    g->f_own = (g->dense && factor) || (!g->dense && graph) ? ufs_dalloc(R, P) : NULL;
    g->h_own = !g->dense || factor ? ufs_dalloc(R, C) : NULL;
    g->f = g->f_own;
    g->h = g->h_own;
    g->chol = graph ? ufs_dalloc(N, g->dense ? P : N) : NULL;
    g->small = ufs_dalloc(K, K);
    g->cols = g->dense ? NULL : ufs_dalloc(R, K);
    g->bs = ufs_dalloc(K, C);
}

int topk_criterion_set(topk_criterion *g, const int *label, const double *w,
                       double lambda_i)
{
    size_t n = (size_t) g->n, p = (size_t) g->p, c = (size_t) g->c;
    bool graph = w != NULL && lambda_i > 0.0;
    int info = 0;

    /* B: sums of the samples of each class. */
    memset(g->b, 0, p * c * sizeof(double));
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < n; i++)
            g->b[j + (size_t) (label[i] - 1) * p] += g->x[i + j * n];
    g->yy = (double) g->n;
    g->b_norm = sqrt(la_ss(p * c, g->b));

    if (g->dense) {
        la_gram('T', g->n, g->p, g->x, g->kmat);
        if (graph) {
            /* chol = L x = D x - W x, n x p. */
            for (size_t i = 0; i < n; i++) {
                double degree = 0.0;
                for (size_t l = 0; l < n; l++) degree += w[l + i * n];
                for (size_t j = 0; j < p; j++) g->chol[i + j * n] = degree * g->x[i + j * n];
            }
            la_gemm('N', 'N', g->n, g->p, g->n, -1.0, w, g->n, g->x, g->n, 1.0, g->chol, g->n);
            la_gemm('T', 'N', g->p, g->p, g->n, lambda_i, g->x, g->n, g->chol, g->n, 1.0,
                    g->kmat, g->p);
            for (size_t j = 0; j < p; j++)
                for (size_t i = 0; i < j; i++)
                    g->kmat[i + j * p] = g->kmat[j + i * p] =
                        0.5 * (g->kmat[i + j * p] + g->kmat[j + i * p]);
        }
        for (size_t j = 0; j < p; j++) g->diag[j] = g->kmat[j + j * p];
        return 0;
    }

    memset(g->h_own, 0, n * c * sizeof(double));
    for (size_t i = 0; i < n; i++) g->h_own[i + (size_t) (label[i] - 1) * n] = 1.0;
    if (graph) {
        for (size_t j = 0; j < n; j++) {
            double degree = 0.0;
            for (size_t i = 0; i < n; i++) {
                degree += w[i + j * n];
                g->chol[i + j * n] = -lambda_i * w[i + j * n];
            }
            g->chol[j + j * n] += 1.0 + lambda_i * degree;
        }
        info = la_chol(g->n, g->chol);
        if (info) return info;
        la_tri_solve('T', g->n, g->c, g->chol, g->h_own);
        for (size_t j = 0; j < n; j++)
            for (size_t i = j + 1; i < n; i++) g->chol[i + j * n] = 0.0;
        la_gemm('N', 'N', g->n, g->p, g->n, 1.0, g->chol, g->n, g->x, g->n, 0.0, g->f_own,
                g->n);
        g->f = g->f_own;
    } else {
        g->f = g->x;
    }
    for (size_t j = 0; j < p; j++) g->diag[j] = la_ss(n, g->f + j * n);
    return 0;
}

/* K = V diag(d) V': f = d^{1/2} V', h = d^{-1/2} V'B; directions with no more than
 * rounding are zero in both (B lies in the range of K). 10p^3 flops. */
int topk_criterion_factor(topk_criterion *g)
{
    size_t p = (size_t) g->p, c = (size_t) g->c;
    double *vec, *val;
    int info;

    if (!g->dense) return 0;
    vec = ufs_dalloc(p, p);
    val = ufs_dalloc(p, 1);
    ufs_copy(g->f_own, g->kmat, p * p);
    info = la_eig_range(g->p, g->f_own, 1, g->p, val, vec);
    if (info) return info;
    la_gemm('T', 'N', g->p, g->c, g->p, 1.0, vec, g->p, g->b, g->p, 0.0, g->h_own, g->p);
    for (size_t i = 0; i < p; i++) {
        bool keep = val[i] > 1e-13 * (double) g->p * val[p - 1];
        double root = keep ? sqrt(val[i]) : 0.0;
        for (size_t j = 0; j < p; j++) g->f_own[i + j * p] = root * vec[j + i * p];
        for (size_t j = 0; j < c; j++) g->h_own[i + j * p] *= keep ? 1.0 / root : 0.0;
    }
    return 0;
}

/* small = chol(K_SS + lambda_a I), bs = B_S. */
static int factor_set(topk_criterion *g, const int *set)
{
    size_t k = (size_t) g->k, p = (size_t) g->p, r = (size_t) g->r, c = (size_t) g->c;

    if (g->dense) {
        for (size_t j = 0; j < k; j++)
            for (size_t i = 0; i < k; i++)
                g->small[i + j * k] = g->kmat[(size_t) set[i] + (size_t) set[j] * p];
    } else {
        for (size_t j = 0; j < k; j++)
            ufs_copy(g->cols + j * r, g->f + (size_t) set[j] * r, r);
        la_gram('T', g->r, g->k, g->cols, g->small);
    }
    for (size_t j = 0; j < k; j++) g->small[j + j * k] += g->lambda_a;
    for (size_t l = 0; l < c; l++)
        for (size_t i = 0; i < k; i++) g->bs[i + l * k] = g->b[(size_t) set[i] + l * p];
    return la_chol(g->k, g->small);
}

double topk_criterion_value(topk_criterion *g, const int *set)
{
    if (factor_set(g, set)) return R_PosInf;
    la_tri_solve('T', g->k, g->c, g->small, g->bs);
    return g->yy - la_ss((size_t) g->k * (size_t) g->c, g->bs);
}

int topk_criterion_coef(topk_criterion *g, const int *set, double *a)
{
    size_t k = (size_t) g->k, p = (size_t) g->p, c = (size_t) g->c;
    int info = factor_set(g, set);
    if (info) return info;
    la_chol_solve(g->k, g->c, g->small, g->bs);
    memset(a, 0, p * c * sizeof(double));
    for (size_t l = 0; l < c; l++)
        for (size_t i = 0; i < k; i++) a[(size_t) set[i] + l * p] = g->bs[i + l * k];
    return 0;
}

void topk_criterion_columns(const topk_criterion *g, const int *set, int m,
                            double *scratch, double *out)
{
    size_t p = (size_t) g->p, r = (size_t) g->r;
    if (g->dense) {
        for (size_t j = 0; j < (size_t) m; j++)
            ufs_copy(out + j * p, g->kmat + (size_t) set[j] * p, p);
        return;
    }
    for (size_t j = 0; j < (size_t) m; j++)
        ufs_copy(scratch + j * r, g->f + (size_t) set[j] * r, r);
    la_gemm('T', 'N', g->p, m, g->r, 1.0, g->f, g->r, scratch, g->r, 0.0, out, g->p);
}

/* ---- ADMM -------------------------------------------------------------------------- */

void topk_select_init(topk_select *w, topk_criterion *g)
{
    size_t p = (size_t) g->p, c = (size_t) g->c, k = (size_t) g->k, r = (size_t) g->r;

    w->g = g;
    w->a = ufs_dalloc(p, c);
    w->v = ufs_dalloc(p, 1);
    w->chosen = ufs_ialloc(k);
    w->trial = ufs_ialloc(k);
    w->sort = (topk_entry *) R_alloc(p, sizeof(topk_entry));
    w->rhs = ufs_dalloc(p, 1);
    w->v1 = ufs_dalloc(p, 1);
    w->v2 = ufs_dalloc(p, 1);
    w->y2 = ufs_dalloc(p, 1);
    w->y3 = ufs_dalloc(p, 1);
    w->previous = ufs_dalloc(p, 1);
    w->target = ufs_dalloc(p, 1);
    w->u = w->m = w->sol = w->av = w->back = w->t = NULL;
    if (g->dense) {
        w->m = ufs_dalloc(p, p);
    } else {
        w->u = ufs_dalloc(r, p);
        w->m = ufs_dalloc(r, r);
        w->sol = ufs_dalloc(r, c);
        w->av = ufs_dalloc(p, c);
        w->back = ufs_dalloc(p, c);
        w->t = ufs_dalloc(r, c);
        w->cg_r = ufs_dalloc(p, 1);
        w->cg_z = ufs_dalloc(p, 1);
        w->cg_p = ufs_dalloc(p, 1);
        w->cg_q = ufs_dalloc(p, 1);
        w->pc = ufs_dalloc(p, 1);
    }
}

int topk_select_admm(topk_select *w, const topk_select_settings *set, int outer,
                     ufs_trace *trace)
{
    topk_criterion *g = w->g;
    size_t p = (size_t) g->p, c = (size_t) g->c, k = (size_t) g->k;
    double rho = 1.0, y1 = 0.0;
    bool have = false;

    for (size_t i = 0; i < p; i++) {
        w->v[i] = 1.0;
        w->v1[i] = w->v2[i] = w->y2[i] = w->y3[i] = 0.0;
    }
    w->iterations = 0;
    w->residual = 0.0;
    w->converged = g->k == g->p;
    if (w->converged) {
        for (size_t i = 0; i < k; i++) w->chosen[i] = (int) i;
        w->value = topk_criterion_value(g, w->chosen);
        return 0;
    }
    for (int it = 1; it <= set->max_iter && !w->converged; it++) {
        double sum = 0.0, box = 0.0, sphere = 0.0, change = 0.0, value;
        int info = g->dense ? ridge_dense(w) : ridge_low_rank(w);
        if (info) return info;
        ufs_hook_step(NULL, 0, 0.0, 0.0);

        ufs_copy(w->previous, w->v, p);
        for (size_t i = 0; i < p; i++) {
            double theta = 0.0;
            for (size_t l = 0; l < c; l++) theta += g->b[i + l * p] * w->a[i + l * p];
            w->rhs[i] = 2.0 * theta + rho * (g->k + w->v1[i] + w->v2[i]) -
                (y1 + w->y2[i] + w->y3[i]);
        }
        if (g->dense) {
            info = solve_v_dense(w, rho);
            if (info) return info;
        } else {
            solve_v_low_rank(w, rho);
        }
        for (size_t i = 0; i < p; i++) {
            double u = w->v[i] + w->y2[i] / rho;
            w->v1[i] = u < 0.0 ? 0.0 : (u > 1.0 ? 1.0 : u);
            w->target[i] = w->v[i] + w->y3[i] / rho;
            sum += w->v[i];
        }
        proj_half_sphere(g->p, w->target, w->previous, w->v2);
        y1 += rho * (sum - g->k);
        for (size_t i = 0; i < p; i++) {
            double d1 = w->v[i] - w->v1[i], d2 = w->v[i] - w->v2[i];
            double dv = fabs(w->v[i] - w->previous[i]);
            w->y2[i] += rho * d1;
            w->y3[i] += rho * d2;
            /* Written so that a NaN is kept. */
            if (!(fabs(d1) <= box)) box = fabs(d1);
            if (!(fabs(d2) <= sphere)) sphere = fabs(d2);
            if (!(dv <= change)) change = dv;
        }
        rho *= set->growth;

        best_k(w, w->trial);
        if (!have || memcmp(w->trial, w->chosen, k * sizeof(int)) != 0) {
            value = topk_criterion_value(g, w->trial);
            if (!have || !set->incumbent || better(value, w->value)) {
                memcpy(w->chosen, w->trial, k * sizeof(int));
                w->value = value;
            }
            have = true;
        }
        w->iterations = it;
        w->residual = fmax(fmax(fabs(sum - g->k), box), fmax(sphere, change));
        w->converged = fabs(sum - g->k) < set->tol && box < set->tol &&
            sphere < set->tol && change < set->tol;
        double row[TOPK_INNER_COLS] = {outer, it, fabs(sum - g->k), box, sphere, change};
        ufs_trace_add(trace, row);
    }
    return 0;
}

static bool better(double value, double than)
{
    return value < than - 1e-12 * (1.0 + fabs(than));
}

/* A' = (V K V + lambda_a I)^{-1} V B. */
static int ridge_dense(topk_select *w)
{
    topk_criterion *g = w->g;
    size_t p = (size_t) g->p, c = (size_t) g->c;
    int info;
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i <= j; i++)
            w->m[i + j * p] = w->v[i] * g->kmat[i + j * p] * w->v[j];
        w->m[j + j * p] += g->lambda_a;
    }
    info = la_chol(g->p, w->m);
    if (info) return info;
    for (size_t l = 0; l < c; l++)
        for (size_t i = 0; i < p; i++) w->a[i + l * p] = w->v[i] * g->b[i + l * p];
    la_chol_solve(g->p, g->c, w->m, w->a);
    return 0;
}

/* A' = V f'(f V^2 f' + lambda_a I)^{-1} h. */
static int ridge_low_rank(topk_select *w)
{
    topk_criterion *g = w->g;
    size_t p = (size_t) g->p, c = (size_t) g->c, r = (size_t) g->r;
    int info;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < r; i++) w->u[i + j * r] = g->f[i + j * r] * w->v[j];
    la_gram('N', g->r, g->p, w->u, w->m);
    for (size_t i = 0; i < r; i++) w->m[i + i * r] += g->lambda_a;
    info = la_chol(g->r, w->m);
    if (info) return info;
    ufs_copy(w->sol, g->h, r * c);
    la_chol_solve(g->r, g->c, w->m, w->sol);
    la_gemm('T', 'N', g->p, g->c, g->r, 1.0, w->u, g->r, w->sol, g->r, 0.0, w->a, g->p);
    return 0;
}

static int solve_v_dense(topk_select *w, double rho)
{
    topk_criterion *g = w->g;
    size_t p = (size_t) g->p;
    int info;
    la_gemm('N', 'T', g->p, g->p, g->c, 1.0, w->a, g->p, w->a, g->p, 0.0, w->m, g->p);
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i <= j; i++)
            w->m[i + j * p] = 2.0 * w->m[i + j * p] * g->kmat[i + j * p] + rho;
        w->m[j + j * p] += 2.0 * rho;
    }
    info = la_chol(g->p, w->m);
    if (info) return info;
    ufs_copy(w->v, w->rhs, p);
    la_chol_solve(g->p, 1, w->m, w->v);
    return 0;
}

/* Preconditioned conjugate gradients from the last v. */
static void solve_v_low_rank(topk_select *w, double rho)
{
    topk_criterion *g = w->g;
    size_t p = (size_t) g->p, c = (size_t) g->c;
    double rz = 0.0, stop;

    for (size_t i = 0; i < p; i++) {
        double ss = 0.0;
        for (size_t l = 0; l < c; l++) ss += w->a[i + l * p] * w->a[i + l * p];
        w->pc[i] = 1.0 / (2.0 * ss * g->diag[i] + 3.0 * rho);
    }
    apply(w, rho, w->v, w->cg_q);
    for (size_t i = 0; i < p; i++) {
        w->cg_r[i] = w->rhs[i] - w->cg_q[i];
        w->cg_p[i] = w->cg_z[i] = w->pc[i] * w->cg_r[i];
        rz += w->cg_r[i] * w->cg_z[i];
    }
    stop = 1e-10 * la_nrm2(g->p, w->rhs);
    for (int it = 0; it < 500 && la_nrm2(g->p, w->cg_r) > stop; it++) {
        double step, next = 0.0;
        apply(w, rho, w->cg_p, w->cg_q);
        step = rz / la_dot(g->p, w->cg_p, w->cg_q);
        la_axpy(g->p, step, w->cg_p, w->v);
        la_axpy(g->p, -step, w->cg_q, w->cg_r);
        for (size_t i = 0; i < p; i++) {
            w->cg_z[i] = w->pc[i] * w->cg_r[i];
            next += w->cg_r[i] * w->cg_z[i];
        }
        for (size_t i = 0; i < p; i++) w->cg_p[i] = w->cg_z[i] + next / rz * w->cg_p[i];
        rz = next;
    }
}

/* out = (2 (A'A o K) + rho 11' + 2 rho I) s. */
static void apply(topk_select *w, double rho, const double *s, double *out)
{
    topk_criterion *g = w->g;
    size_t p = (size_t) g->p, c = (size_t) g->c;
    double sum = 0.0;

    for (size_t l = 0; l < c; l++)
        for (size_t i = 0; i < p; i++) w->av[i + l * p] = w->a[i + l * p] * s[i];
    la_gemm('N', 'N', g->r, g->c, g->p, 1.0, g->f, g->r, w->av, g->p, 0.0, w->t, g->r);
    la_gemm('T', 'N', g->p, g->c, g->r, 1.0, g->f, g->r, w->t, g->r, 0.0, w->back, g->p);
    for (size_t i = 0; i < p; i++) sum += s[i];
    for (size_t i = 0; i < p; i++) out[i] = rho * (sum + 2.0 * s[i]);
    for (size_t l = 0; l < c; l++)
        for (size_t i = 0; i < p; i++)
            out[i] += 2.0 * w->a[i + l * p] * w->back[i + l * p];
}

static int by_entry(const void *x, const void *y)
{
    const topk_entry *a = x, *b = y;
    if (a->first != b->first) return a->first > b->first ? -1 : 1;
    if (a->second != b->second) return a->second > b->second ? -1 : 1;
    return a->index < b->index ? -1 : (a->index > b->index);
}

static int by_index(const void *x, const void *y)
{
    int a = *(const int *) x, b = *(const int *) y;
    return a < b ? -1 : (a > b);
}

void topk_best(int p, int k, topk_entry *entry, int *set)
{
    qsort(entry, (size_t) p, sizeof(topk_entry), by_entry);
    for (int i = 0; i < k; i++) set[i] = entry[i].index;
    qsort(set, (size_t) k, sizeof(int), by_index);
}

/* By v rounded to 1e-6, then ||A_.i||^2, then index. */
static void best_k(topk_select *w, int *set)
{
    size_t p = (size_t) w->g->p, c = (size_t) w->g->c;
    for (size_t i = 0; i < p; i++) {
        double ss = 0.0;
        for (size_t l = 0; l < c; l++) ss += w->a[i + l * p] * w->a[i + l * p];
        w->sort[i].first = nearbyint(w->v[i] * 1e6);
        w->sort[i].second = ss;
        w->sort[i].index = (int) i;
    }
    topk_best(w->g->p, w->g->k, w->sort, set);
}
