/* alfs_weights.c: the side of lambda in alfs_solve.c: W B = Z, its V and T of m x m.
 *
 * With c_j = rho1 b_j^2 + rr, hb = acc outer (the coordinates of H B), lifted =
 * P (2 a_i target_ij), mv = (rho1 Z - L1) outer and
 *   K_ij = 2 a_i^2 / (2 a_i^2 b_j^2 + c_j) (P'(hb + b_j^2 (lifted + mv)))_ij
 * the coordinates of W B are (hb_j + b_j^2 (lifted_j + mv_j - P K_j)) / c_j, and
 *   W = (H + N y) / rr,  N = rr (lifted_j + mv_j - rho1 hb_j / rr - P K_j) / c_j outer'.
 * 4 m^2 rb flops and two passes over V and T an iteration. Algorithm 1 at lambda = 0 keeps its
 * Z = W B, without V and T. */
#include "alfs_work.h"

/* c of T = 1 / max(|cos|, c). */
static const double FLOOR = 1e-6;

/* ---- set-up ---------------------------------------------------------------------- */

/* T_ij = 1 / max(|cos(x_i, x_j)|, FLOOR); the cosine with a zero sample is 0, on the diagonal,
 * too: its row and column of W B are zero at any weight. m^2 r flops. */
static void make_weights(alfs_work *work, alfs_weights *z)
{
    const alfs_space *space = &work->space;
    size_t m = (size_t) space->m;
    double *norm = work->split[ROWS].sum;

    z->t = ufs_dalloc(m, m);
    alfs_samples(space, z->tmp);
    la_row_norms(space->m, space->r, z->tmp, norm);
    for (size_t j = 0; j < (size_t) space->r; j++)
        for (size_t i = 0; i < m; i++)
            if (norm[i] > 0.0) z->tmp[i + j * m] /= norm[i];
    la_gram('N', space->m, space->r, z->tmp, z->t);
    for (size_t i = 0; i < m * m; i++) z->t[i] = 1.0 / fmin(1.0, fmax(fabs(z->t[i]), FLOOR));
}

void alfs_weights_init(alfs_work *work)
{
    const alfs_space *space = &work->space;
    alfs_weights *z = work->weights;
    size_t m = (size_t) space->m, r = (size_t) space->r, rb = (size_t) space->rb;

    z->wb = ufs_dzero(m, rb);
    ufs_dalloc_each(m, rb, (double **[]){&z->tmp, &z->mv, &z->lv, &z->lifted, NULL});
    z->core = ufs_dalloc(r, rb);
    for (size_t j = 0; j < rb; j++)
        for (size_t i = 0; i < r; i++)
            z->core[i + j * r] = 2.0 * space->a[i] * space->target[i + j * r];
    alfs_gemm((alfs_sizes){space->m, space->rb, space->r}, 1.0, space->left, z->core, 0.0,
              z->lifted);
    if (work->split[WEIGHTS].on && z->t == NULL) {
        z->all = ufs_dalloc(m, m);
        make_weights(work, z);
    }
}

/* ---- the iteration ------------------------------------------------------------------ */

/* acc outer, m x rb: the coordinates of W B for the W in acc. */
static const double *coordinates(alfs_work *work)
{
    const alfs_space *space = &work->space;

    if (space->right == NULL) return space->acc;
    alfs_gemm((alfs_sizes){space->m, space->rb, space->k}, 1.0, space->acc, space->right, 0.0,
              work->weights->tmp);
    return work->weights->tmp;
}

/* out = (of_copy Z + of_l (V - Z)) outer. */
static void gather(alfs_work *work, double of_copy, double of_l, double *out)
{
    const alfs_split *split = &work->split[WEIGHTS];
    const alfs_space *space = &work->space;
    alfs_weights *z = work->weights;
    int m = space->m;
    double bound = split->penalty / split->rho_of_v;

    for (size_t i = 0; i < (size_t) m * (size_t) m; i++) {
        double l = prox_clip(split->v[i], bound * z->t[i]);
        z->all[i] = of_copy * (split->v[i] - l) + of_l * l;
    }
    la_gemm_checked('N', 'N', m, space->rb, m, 1.0, z->all, m, space->outer, m, 0.0, out, m);
}

void alfs_weights_update_w(alfs_work *work, double rr)
{
    alfs_space *space = &work->space;
    alfs_weights *z = work->weights;
    int m = space->m, r = space->r, rb = space->rb;
    size_t M = (size_t) m, R = (size_t) r, RB = (size_t) rb;
    double rho1 = work->split[WEIGHTS].rho;
    const double *hb = coordinates(work);

    if (work->split[WEIGHTS].on)
        gather(work, rho1, -work->split[WEIGHTS].rho_of_v, z->mv);
    else
        for (size_t i = 0; i < M * RB; i++) z->mv[i] = rho1 * z->wb[i];
    for (size_t j = 0; j < RB; j++) {
        double b2 = space->b[j] * space->b[j];
        for (size_t i = j * M; i < (j + 1) * M; i++)
            z->wb[i] = hb[i] + b2 * (z->lifted[i] + z->mv[i]);
    }
    la_gemm('T', 'N', r, rb, m, 1.0, space->left, m, z->wb, m, 0.0, z->core, r);
    for (size_t j = 0; j < RB; j++)
        for (size_t i = 0; i < R; i++) {
            double b2 = space->b[j] * space->b[j], a2 = 2.0 * space->a[i] * space->a[i];
            double d = a2 * b2 + rho1 * b2 + rr;
            work->core[i + j * R] = z->core[i + j * R] / d;
            z->core[i + j * R] *= a2 / d;
        }
    alfs_gemm((alfs_sizes){m, rb, r}, 1.0, space->left, z->core, 0.0, z->lv); /* P K */
    for (size_t j = 0; j < RB; j++) {
        double b2 = space->b[j] * space->b[j], c = rho1 * b2 + rr;
        for (size_t i = j * M; i < (j + 1) * M; i++) {
            double free = z->lifted[i] + z->mv[i] - z->lv[i];
            z->wb[i] = (hb[i] + b2 * free) / c;
            z->lv[i] = rr * (free - rho1 * hb[i] / rr) / c;
        }
    }
    if (space->right != NULL)
        la_gemm('N', 'T', m, space->k, rb, 1.0, z->lv, m, space->right, space->k, 0.0, work->lift,
                m);
    else
        ufs_copy(work->lift, z->lv, M * RB);
}

/* W B from its coordinates, into z->all. */
static void product(alfs_work *work, const double *wb)
{
    const alfs_space *space = &work->space;
    la_gemm_checked('N', 'T', space->m, space->m, space->rb, 1.0, wb, space->m, space->outer,
                    space->m, 0.0, work->weights->all, space->m);
}

/* V = copy + (rho_of_v / rho)(V - copy) + gamma (W B - copy); the residual, sums for balance(), and
 * sum T |W B|. */
void alfs_weights_update(alfs_work *work, bool advance)
{
    alfs_split *split = &work->split[WEIGHTS];
    alfs_weights *z = work->weights;
    size_t m = (size_t) work->space.m;
    double ratio = split->rho_of_v / split->rho, to_old = split->penalty / split->rho_of_v;
    double to_new = split->penalty / split->rho, gamma = work->gamma, sum = 0.0;
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0, most = 0.0;

    product(work, z->wb);
    for (size_t i = 0; i < m * m; i++) {
        double wb = z->all[i], t = z->t[i], v = split->v[i];
        double l = prox_clip(v, to_old * t), copy = v - l;
        double now = copy + ratio * l + gamma * (wb - copy), new_copy, misfit;
        l = prox_clip(now, to_new * t);
        new_copy = now - l;
        s0 += (wb - copy) * (wb - copy);
        s1 += wb * wb;
        s2 += (new_copy - copy) * (new_copy - copy);
        s3 += l * l;
        misfit = fabs(wb - new_copy);
        most = misfit > most ? misfit : most;
        sum += t * fabs(wb);
        if (advance) split->v[i] = now;
    }
    z->sum = sum;
    split->residual = s0 > 0.0 ? sqrt(s0 / s1) : 0.0;
    if (!advance) return;
    split->biggest = most;
    split->change = sqrt(s2);
    split->size = split->rho * sqrt(s3);
    split->rho_of_v = split->rho;
}

void alfs_weights_multiplier(alfs_work *work)
{
    gather(work, 0.0, work->split[WEIGHTS].rho_of_v, work->weights->lv);
}

double alfs_weighted_sum(alfs_work *work)
{
    const alfs_weights *z = work->weights;
    size_t m = (size_t) work->space.m;
    double sum = 0.0;

    product(work, coordinates(work));
    for (size_t i = 0; i < m * m; i++) sum += z->t[i] * fabs(z->all[i]);
    return sum;
}
