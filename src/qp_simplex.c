/* qp_simplex.c: see qp_simplex.h.
 *
 * Rounds of two phases, both starting and ending at a feasible v with H v known:
 *   prox   accelerated proximal gradient in the metric diag(upper), with restarts:
 *          finds the support (one product and one sort, p log p, per step);
 *   face   the equality constrained problem on F = {v > 0} by projected Jacobi-preconditioned
 *          conjugate gradients; then a step to its solution or to the boundary.
 * A face solved without meeting the boundary, whose multipliers have the right sign, is
 * the answer. The step of the prox phase after a solved face lowers q strictly unless v
 * is optimal, so no face is solved twice; after a few blocked faces each further one is
 * followed by the next smaller face without a prox phase: at most p in a row. So the
 * method is finite. The gradient is recomputed in every round: iterative refinement. */
#include "qp_simplex.h"
#include "la.h"

/* Rounds, and steps of one prox phase: a guard against rounding. */
enum { MOST = 300 };

void qp_init(qp_work *work, int p)
{
    ufs_dalloc_each((size_t) p, 1,
                    (double **[]){&work->hv, &work->g, &work->y, &work->next, &work->d, &work->hd,
                                  &work->r, &work->z, &work->dir, &work->h_dir, &work->best,
                                  &work->best_hv, &work->sorted, NULL});
    ufs_ialloc_each((size_t) p, (int **[]){&work->order, &work->free, NULL});
}

/* min sum h_i v_i^2 / 2 - b_i v_i on the simplex: v_i = max(0, (b_i + t) / h_i), and
 * the sum rises in t with breakpoints -b_i. */
static void diagonal(int p, const double *h, const double *b, double *sorted, int *order, double *v)
{
    double sum_b = 0.0, sum_h = 0.0, t = 0.0, total = 0.0;
    int used = 0;

    for (int i = 0; i < p; i++) {
        sorted[i] = -b[i];
        order[i] = i;
    }
    rsort_with_index(sorted, order, p);
    for (; used < p; used++) {
        int i = order[used];
        /* The variable joins if the sum at its breakpoint is still below 1. */
        if (used > 0 && sum_b + sorted[used] * sum_h >= 1.0) break;
        sum_b += b[i] / h[i];
        sum_h += 1.0 / h[i];
    }
    t = (1.0 - sum_b) / sum_h;
    for (int i = 0; i < p; i++) total += v[i] = fmax(0.0, (b[i] + t) / h[i]);
    for (int i = 0; i < p; i++) v[i] /= total;
}

/* Fills `info` for v. Returns the size of the terms that g is the difference of. */
static double certify(const qp_problem *prob, const double *v, const double *hv, double *g,
                      qp_info *info)
{
    double tau = 0.0, low = R_PosInf, size = 0.0;
    info->kkt = 0.0;
    for (int i = 0; i < prob->p; i++) {
        g[i] = hv[i] - prob->b[i];
        tau += g[i] * v[i];
        low = fmin(low, g[i]);
        size = fmax(size, fmax(fabs(prob->b[i]), fabs(hv[i])));
    }
    for (int i = 0; i < prob->p; i++)
        info->kkt = fmax(info->kkt, v[i] > 0.0 ? fabs(g[i] - tau) : tau - g[i]);
    info->rel = info->kkt / fmax(size, DBL_MIN);
    /* fmax drops a NaN; it must not look like an answer. */
    if (!R_FINITE(tau)) info->kkt = info->rel = R_PosInf;
    info->gap = fmax(tau - low, 0.0);
    return size;
}

void qp_diagonal(int p, const double *h, const double *b, qp_work *work, double *v, qp_info *info)
{
    qp_problem prob = {p, b, NULL, NULL, NULL, h, h};
    info->products = info->rounds = 0;
    diagonal(p, h, b, work->sorted, work->order, v);
    for (int i = 0; i < p; i++) work->hv[i] = h[i] * v[i];
    certify(&prob, v, work->hv, work->g, info);
}

static void product(const qp_problem *prob, const double *x, double *out, qp_info *info)
{
    if (info->products++ % 8 == 0) R_CheckUserInterrupt();
    if (prob->dense != NULL)
        la_gemv('N', prob->p, prob->p, 1.0, prob->dense, prob->p, x, 0.0, out);
    else
        prob->apply(prob->data, x, out);
}

/* Ends when the support was the same `patience` times in a row, or v stands still. */
static void prox_phase(const qp_problem *prob, int patience, qp_work *work, double *v,
                       qp_info *info)
{
    int p = prob->p, same = 0;
    double *y = work->y, *hy = work->hd, *next = work->next, momentum = 1.0;

    ufs_copy(y, v, (size_t) p);
    ufs_copy(hy, work->hv, (size_t) p);
    for (int step = 0; step < MOST && same < patience; step++) {
        double uphill = 0.0, top = 0.0, change = 0.0, old = momentum;
        bool kept = true;
        if (step > 0) product(prob, y, hy, info);
        for (int i = 0; i < p; i++) work->z[i] = prob->upper[i] * y[i] - hy[i] + prob->b[i];
        diagonal(p, prob->upper, work->z, work->sorted, work->order, next);
        for (int i = 0; i < p; i++) {
            double moved = next[i] - v[i];
            kept = kept && (next[i] > 0.0) == (v[i] > 0.0);
            uphill += prob->upper[i] * (y[i] - next[i]) * moved;
            top = fmax(top, next[i]);
            change = fmax(change, fabs(moved));
        }
        same = kept ? same + 1 : 0;
        momentum = uphill > 0.0 ? 1.0 : 0.5 * (1.0 + sqrt(1.0 + 4.0 * old * old));
        double push = uphill > 0.0 ? 0.0 : (old - 1.0) / momentum;
        for (int i = 0; i < p; i++) {
            y[i] = next[i] + push * (next[i] - v[i]);
            v[i] = next[i];
        }
        if (change <= 1e-15 * top) break;
    }
    product(prob, v, work->hv, info);
}

/* d_F = H_FF^{-1} (t 1 - g_F) with t such that 1'd = 0, by conjugate gradients in {1'd = 0}:
 * residual r - theta 1 with theta fixed by the preconditioner; theta is taken out of r itself in
 * every step, or rounding there would stall the whole method. */
static void face_cg(const qp_problem *prob, int n_free, double stop, qp_work *work, qp_info *info)
{
    const int *free = work->free;
    double *r = work->r, *z = work->z, *dir = work->dir, *hd = work->h_dir;
    double weight = 0.0, rz = 0.0;
    int most = n_free + 100 < 2000 ? n_free + 100 : 2000;

    memset(dir, 0, (size_t) prob->p * sizeof(double));
    for (int a = 0; a < n_free; a++) {
        r[free[a]] = -work->g[free[a]];
        weight += 1.0 / prob->diag[free[a]];
    }
    for (int it = 0; it <= most; it++) {
        double theta = 0.0, top = 0.0, old = rz, curve = 0.0;
        for (int a = 0; a < n_free; a++) theta += r[free[a]] / prob->diag[free[a]];
        theta /= weight;
        rz = 0.0;
        for (int a = 0; a < n_free; a++) {
            int i = free[a];
            r[i] -= theta;
            z[i] = r[i] / prob->diag[i];
            rz += r[i] * z[i];
            top = fmax(top, fabs(r[i]));
        }
        if (!(top > stop) || it == most) return;
        for (int a = 0; a < n_free; a++)
            dir[free[a]] = z[free[a]] + (it > 0 ? rz / old * dir[free[a]] : 0.0);
        product(prob, dir, hd, info);
        for (int a = 0; a < n_free; a++) curve += dir[free[a]] * hd[free[a]];
        if (!(curve > 0.0)) return;
        for (int a = 0; a < n_free; a++) {
            work->d[free[a]] += rz / curve * dir[free[a]];
            r[free[a]] -= rz / curve * hd[free[a]];
        }
    }
}

/* Solves the face of v; true if its solution was reached, false if the boundary was
 * met first (then v is there, with at least one variable fewer). */
static bool face_phase(const qp_problem *prob, double tol, qp_work *work, double *v, qp_info *info)
{
    int p = prob->p, n_free = 0;
    double step = 1.0, sum = 0.0, *d = work->d;
    double size = certify(prob, v, work->hv, work->g, info);

    for (int i = 0; i < p; i++) {
        d[i] = 0.0;
        if (v[i] > 0.0) work->free[n_free++] = i;
    }
    face_cg(prob, n_free, 0.1 * tol * size, work, info);

    for (int a = 0; a < n_free; a++) {
        int i = work->free[a];
        if (v[i] + d[i] <= 0.0) step = fmin(step, -v[i] / d[i]);
    }
    for (int a = 0; a < n_free; a++) {
        int i = work->free[a];
        /* The blocking variables become exact zeros. */
        if (v[i] + d[i] <= 0.0 && -v[i] / d[i] <= step)
            v[i] = 0.0;
        else
            v[i] = fmax(v[i] + step * d[i], 0.0);
        sum += v[i];
    }
    for (int a = 0; a < n_free; a++) v[work->free[a]] /= sum;
    return step == 1.0;
}

void qp_simplex(const qp_problem *prob, double tol, qp_work *work, double *v, qp_info *info)
{
    int p = prob->p, patience = 1, idle = 0;
    size_t P = (size_t) p;
    bool solved = true;
    double best = R_PosInf, sum = 0.0;

    info->products = 0;
    for (int i = 0; i < p; i++) sum += v[i] = fmax(v[i], 0.0);
    for (int i = 0; i < p; i++) v[i] = sum > 0.0 ? v[i] / sum : 1.0 / (double) p;
    product(prob, v, work->hv, info);
    for (info->rounds = 0; info->rounds < MOST; info->rounds++) {
        certify(prob, v, work->hv, work->g, info);
        /* Three solved faces without a halving: rounding, not progress. */
        if (info->rounds > 0 && solved) idle = info->rel > 0.5 * best ? idle + 1 : 0;
        if (info->rel < best) {
            best = info->rel;
            ufs_copy(work->best, v, P);
            ufs_copy(work->best_hv, work->hv, P);
        }
        if (!(info->rel > tol) || idle >= 3 || !R_FINITE(info->rel)) break;
        if (solved || patience < 32) {
            if (!solved) patience *= 2;
            prox_phase(prob, patience, work, v, info);
        }
        solved = face_phase(prob, tol, work, v, info);
        product(prob, v, work->hv, info);
    }
    if (info->rel > best) {
        ufs_copy(v, work->best, P);
        ufs_copy(work->hv, work->best_hv, P);
        certify(prob, v, work->hv, work->g, info);
    }
}

/* ---- products with G o N --------------------------------------------------------------------- */

void hadamard_init(hadamard *op, int p, int most_r, int most_k)
{
    op->p = p;
    op->m = ufs_dalloc((size_t) most_k, (size_t) most_r);
    op->buffer = ufs_dalloc((size_t) most_k, UFS_STRIP);
}

void hadamard_apply(void *data, const double *x, double *out)
{
    const hadamard *op = data;
    size_t K = (size_t) op->k, R = (size_t) op->r;

    for (int i = 0; i < op->p; i++)
        out[i] = (op->scale * op->w0 * op->g_diag[i] + op->shift) * x[i];
    if (op->k == 0 || op->r == 0) return;
    memset(op->m, 0, K * R * sizeof(double));
    for (int i0 = 0; i0 < op->p; i0 += UFS_STRIP) {
        int len = op->p - i0 < UFS_STRIP ? op->p - i0 : UFS_STRIP;
        const double *rt = op->rt + (size_t) i0 * K;
        for (size_t i = 0; i < (size_t) len; i++)
            for (size_t a = 0; a < K; a++)
                op->buffer[a + i * K] = rt[a + i * K] * x[(size_t) i0 + i];
        la_mul('N', 'T', op->k, op->r, len, 1.0, op->buffer, op->f + (size_t) i0 * R, 1.0, op->m);
    }
    for (int i0 = 0; i0 < op->p; i0 += UFS_STRIP) {
        int len = op->p - i0 < UFS_STRIP ? op->p - i0 : UFS_STRIP;
        const double *rt = op->rt + (size_t) i0 * K;
        la_mul('N', 'N', op->k, len, op->r, 1.0, op->m, op->f + (size_t) i0 * R, 0.0, op->buffer);
        for (size_t i = 0; i < (size_t) len; i++)
            out[(size_t) i0 + i] += op->scale * op->sign *
                                    la_dot(op->k, rt + i * K, op->buffer + i * K);
    }
}

void hadamard_diag(const hadamard *op, double *out)
{
    for (int i = 0; i < op->p; i++) {
        const double *row = op->rt + (size_t) i * (size_t) op->k;
        double n_ii = op->w0 + op->sign * la_dot(op->k, row, row);
        out[i] = op->scale * op->g_diag[i] * fmax(n_ii, 0.0) + op->shift;
    }
}
