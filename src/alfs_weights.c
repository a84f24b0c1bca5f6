/* alfs_weights.c: the side of lambda in solve_alfs.c: W B = Z, its V and T of m x m.
 *
 * With c_j = rho1 b_j^2 + rr, hb = acc outer (the coordinates of H B), lifted =
 * P (2 a_i target_ij), mv = (rho1 Z - L1) outer and
 *   K_ij = 2 a_i^2 / (2 a_i^2 b_j^2 + c_j) (P'(hb + b_j^2 (lifted + mv)))_ij
 * the coordinates of W B are (hb_j + b_j^2 (lifted_j + mv_j - P K_j)) / c_j, and
 *   W = (H + N y) / rr,  N = rr (lifted_j + mv_j - rho1 hb_j / rr - P K_j) / c_j outer'.
 * W B itself exists in strips of columns only: 4 m^2 rb flops and a pass over V and T an
 * iteration. Algorithm 1 at lambda = 0 keeps its Z = W B, without V and T. */
#include "alfs_work.h"
#include "la.h"
#include <R_ext/Utils.h>

enum { MOST = 48 }; /* samples that a row is made orthogonal to */

static void make_weights(alfs_work *work, alfs_weights *z);
static void allocate(alfs_work *work, alfs_weights *z);
static const double *coordinates(alfs_work *work);
static int orthogonal_samples(alfs_work *work, int i, int most);

/* ---- set-up ---------------------------------------------------------------------- */

void alfs_weights_init(alfs_work *work, const double *x, bool with_t)
{
    alfs_weights *z = work->weights;
    int m = work->space.m;
    double strip = 32768.0 / (double) m;

    memset(z, 0, sizeof *z);
    z->width = strip < 8.0 ? 8 : strip > (double) m ? m : (int) strip;
    z->x = x;
    allocate(work, z);
    if (with_t) make_weights(work, z);
}

void alfs_weights_columns(alfs_work *work, const alfs_work *full, const double *x)
{
    alfs_weights *z = work->weights;

    *z = *full->weights;
    z->x = x;
    allocate(work, z);
    if (z->t == NULL) return;
    size_t m = (size_t) work->space.m, q = (size_t) work->space.q, few = q / 4 + 1;
    z->candidate = ufs_dalloc(m, q);
    few = few < m ? few : m;
    z->gram = ufs_dalloc(few, few);
    z->few = ufs_dalloc(q, few);
    z->one = ufs_dalloc(q, 1);
    z->rhs = ufs_dalloc(few, 1);
}

static void allocate(alfs_work *work, alfs_weights *z)
{
    const alfs_space *space = &work->space;
    size_t m = (size_t) space->m, r = (size_t) space->r, rb = (size_t) space->rb;

    z->wb = ufs_dalloc(m, rb);
    z->tmp = ufs_dalloc(m, rb);
    z->mv = ufs_dzero(m, rb);
    z->lv = ufs_dalloc(m, rb);
    z->core = ufs_dalloc(r, rb);
    z->lifted = ufs_dalloc(m, rb);
    for (size_t j = 0; j < rb; j++)
        for (size_t i = 0; i < r; i++)
            z->core[i + j * r] = 2.0 * space->a[i] * space->target[i + j * r];
    alfs_gemm(space->m, space->rb, space->r, 1.0, space->left, space->m, z->core, space->r, 0.0,
              z->lifted, space->m);
    z->outer_t = ufs_dalloc(rb, m);
    for (size_t j = 0; j < rb; j++)
        for (size_t i = 0; i < m; i++) z->outer_t[j + i * rb] = space->outer[i + j * m];
}

/* T_ij = 1 / max(|cos(x_i, x_j)|, floor); the cosine with a zero sample is 0, on the diagonal,
 * too: its row and column of W B are zero at any weight. m^2 r flops. */
static void make_weights(alfs_work *work, alfs_weights *z)
{
    const alfs_space *space = &work->space;
    size_t m = (size_t) space->m, q = (size_t) space->q, r = (size_t) space->r;
    size_t few = q / 4 + 1 < m ? q / 4 + 1 : m;
    double *y = z->tmp, *t;

    z->strip = ufs_dalloc(m, (size_t) z->width);
    z->t = t = ufs_dalloc(m, m);
    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < m; i++) y[i + j * m] = space->left[i + j * m] * space->a[j];
    la_row_norms(space->m, space->r, y, work->row);
    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < m; i++)
            if (work->row[i] > 0.0) y[i + j * m] /= work->row[i];
    la_gram('N', space->m, space->r, y, t);
    for (size_t j = 0; j < m; j++) {
        for (size_t i = 0; i < m; i++) {
            double cosine = fabs(t[i + j * m]);
            t[i + j * m] = 1.0 / fmin(1.0, fmax(cosine, work->settings->floor));
        }
    }
    z->candidate = ufs_dalloc(m, q);
    z->key = ufs_dalloc(m, 1);
    z->pick = ufs_ialloc(m);
    z->live = ufs_ialloc(q);
    z->gram = ufs_dalloc(few, few);
    z->few = ufs_dalloc(q, few);
    z->one = ufs_dalloc(q, 1);
    z->rhs = ufs_dalloc(few, 1);
}

/* lambda >= 2 max ||x_i||^2, where L = 2X'X is in its box. (The test by alpha and beta is
 * the certificate at W = 0.) */
bool alfs_weights_zero(alfs_work *work)
{
    const alfs_space *space = &work->space;
    alfs_split *split = &work->split[WEIGHTS];
    alfs_weights *z = work->weights;
    size_t m = (size_t) space->m, r = (size_t) space->r;
    double top = 0.0;

    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < m; i++) z->tmp[i + j * m] = space->left[i + j * m] * space->a[j];
    la_row_norms(space->m, space->r, z->tmp, work->row);
    for (size_t i = 0; i < m; i++) top = fmax(top, work->row[i]);
    if (split->penalty < 2.0 * top * top * (1.0 - 1e-14)) return false;
    la_gram('N', space->m, space->r, z->tmp, split->v);
    for (size_t i = 0; i < m * m; i++) split->v[i] *= 2.0;
    return true;
}

/* ---- the iteration ------------------------------------------------------------------ */

void alfs_weights_update_w(alfs_work *work)
{
    alfs_space *space = &work->space;
    alfs_weights *z = work->weights;
    int m = space->m, r = space->r, rb = space->rb;
    size_t M = (size_t) m, R = (size_t) r, RB = (size_t) rb;
    double rho1 = work->split[WEIGHTS].rho, rr = 0.0;
    const double *hb = coordinates(work);

    for (int i = 0; i < 2; i++)
        if (work->split[i].on) rr += work->split[i].rho;
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
    alfs_gemm(m, rb, r, 1.0, space->left, m, z->core, r, 0.0, z->lv, m); /* P K */
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

/* acc outer, m x rb: the coordinates of W B for the W in acc. */
static const double *coordinates(alfs_work *work)
{
    const alfs_space *space = &work->space;

    if (space->right == NULL) return space->acc;
    alfs_gemm(space->m, space->rb, space->k, 1.0, space->acc, space->m, space->right, space->k, 0.0,
              work->weights->tmp, space->m);
    return work->weights->tmp;
}

/* V = copy + (held / rho)(V - copy) + gamma (W B - copy), strip by strip; gathers
 * mv = (rho Z - L) outer for the next W. The residual, sums for balance(), and sum T |W B|.
 * With no V Z = W B and L = 0. */
void alfs_weights_update(alfs_work *work, bool advance)
{
    alfs_split *split = &work->split[WEIGHTS];
    const alfs_space *space = &work->space;
    alfs_weights *z = work->weights;
    int m = space->m, rb = space->rb;
    size_t M = (size_t) m, RB = (size_t) rb;
    double ratio = split->held / split->rho, to_old = split->penalty / split->held;
    double to_new = split->penalty / split->rho, gamma = work->gamma;
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0, far = 0.0;

    z->sum = 0.0;
    if (z->t == NULL) {
        if (advance)
            for (size_t i = 0; i < M * RB; i++) z->mv[i] = split->next * z->wb[i];
        split->held = split->rho;
        return;
    }
    if (advance) memset(z->mv, 0, M * RB * sizeof(double));
    for (int from = 0; from < m; from += z->width) {
        int n = m - from < z->width ? m - from : z->width;
        size_t F = (size_t) from, end = (size_t) n * M;
        double *v = split->v + F * M, *wb = z->strip;
        const double *t = z->t + F * M;
        R_CheckUserInterrupt();
        alfs_gemm(m, n, rb, 1.0, z->wb, m, z->outer_t + F * RB, rb, 0.0, wb, m);
        for (size_t i = 0; i < end; i++) {
            double l = alfs_clamp(v[i], to_old * t[i]), copy = v[i] - l;
            double now = copy + ratio * l + gamma * (wb[i] - copy), new_copy, miss;
            l = alfs_clamp(now, to_new * t[i]);
            new_copy = now - l;
            miss = fabs(wb[i] - new_copy);
            s0 += (wb[i] - copy) * (wb[i] - copy);
            s1 += wb[i] * wb[i];
            s2 += (new_copy - copy) * (new_copy - copy);
            s3 += l * l;
            far = miss > far ? miss : far;
            z->sum += t[i] * fabs(wb[i]);
            if (!advance) continue;
            v[i] = now;
            wb[i] = split->next * new_copy - split->rho * l;
        }
        if (advance) alfs_gemm(m, rb, n, 1.0, wb, m, space->outer + F, m, 1.0, z->mv, m);
    }
    split->residual = s0 > 0.0 ? sqrt(s0 / s1) : 0.0;
    if (!advance) return;
    split->biggest = far;
    split->change = sqrt(s2);
    split->size = split->rho * sqrt(s3);
    split->held = split->rho;
}

void alfs_weights_gather(alfs_work *work)
{
    alfs_split *split = &work->split[WEIGHTS];
    const alfs_space *space = &work->space;
    alfs_weights *z = work->weights;
    int m = space->m, rb = space->rb;
    size_t M = (size_t) m;
    double bound = split->penalty / split->held;

    memset(z->mv, 0, M * (size_t) rb * sizeof(double));
    for (int from = 0; from < m; from += z->width) {
        int n = m - from < z->width ? m - from : z->width;
        size_t F = (size_t) from, end = (size_t) n * M;
        const double *v = split->v + F * M, *t = z->t + F * M;
        for (size_t i = 0; i < end; i++) {
            double l = alfs_clamp(v[i], bound * t[i]);
            z->strip[i] = split->next * (v[i] - l) - split->held * l;
        }
        alfs_gemm(m, rb, n, 1.0, z->strip, m, space->outer + F, m, 1.0, z->mv, m);
    }
}

void alfs_weights_multiplier(alfs_work *work)
{
    const alfs_split *split = &work->split[WEIGHTS];
    const alfs_space *space = &work->space;
    alfs_weights *z = work->weights;
    int m = space->m, rb = space->rb;
    size_t M = (size_t) m;
    double bound = split->penalty / split->held;

    memset(z->lv, 0, M * (size_t) rb * sizeof(double));
    for (int from = 0; from < m; from += z->width) {
        int n = m - from < z->width ? m - from : z->width;
        size_t F = (size_t) from, end = (size_t) n * M;
        const double *v = split->v + F * M, *t = z->t + F * M;
        for (size_t i = 0; i < end; i++) z->strip[i] = split->held * alfs_clamp(v[i], bound * t[i]);
        alfs_gemm(m, rb, n, 1.0, z->strip, m, space->outer + F, m, 1.0, z->lv, m);
    }
}

double alfs_weighted_sum(alfs_work *work)
{
    alfs_weights *z = work->weights;
    int m = work->space.m, rb = work->space.rb;
    size_t M = (size_t) m;
    const double *wb = coordinates(work);
    double sum = 0.0;

    for (int from = 0; from < m; from += z->width) {
        int n = m - from < z->width ? m - from : z->width;
        size_t F = (size_t) from, end = (size_t) n * M;
        const double *t = z->t + F * M;
        alfs_gemm(m, n, rb, 1.0, wb, m, z->outer_t + F * (size_t) rb, rb, 0.0, z->strip, m);
        for (size_t i = 0; i < end; i++) sum += t[i] * fabs(z->strip[i]);
    }
    return sum;
}

void alfs_weights_product(alfs_work *work, const double *w, double *out)
{
    alfs_space *space = &work->space;

    alfs_add_all(space, w);
    alfs_gemm(space->m, space->m, space->rb, 1.0, coordinates(work), space->m,
              work->weights->outer_t, space->rb, 0.0, out, space->m);
}

/* ---- a better candidate ------------------------------------------------------------------ */

/* T reaches 1e6 where samples are nearly orthogonal, and there a W B that is small but not
 * zero costs most of the excess of F. Every row w_i is projected on w_i x_j = 0 for the
 * samples j of largest T_ij with Z_ij = 0, at most a quarter as many as columns are in use, and
 * MOST: 2 q n^2 flops for a row with n of them, and the search for them. */
void alfs_repair(alfs_work *work, double *w)
{
    alfs_weights *z = work->weights;
    const alfs_split *rows = &work->split[ROWS], *cols = &work->split[COLS];
    size_t m = (size_t) work->space.m;
    int n_live = 0, most;

    for (int j = 0; j < work->space.q; j++)
        if (!cols->on || cols->cut[j] < 1.0) z->live[n_live++] = j;
    most = n_live / 4 < work->space.m ? n_live / 4 : work->space.m;
    most = most < MOST ? most : MOST;
    if (most == 0) return;
    for (size_t i = 0; i < m; i++) {
        int n;
        if (rows->on && rows->cut[i] >= 1.0) continue;
        n = orthogonal_samples(work, (int) i, most);
        if (n == 0) continue;
        for (int a = 0; a < n_live; a++) z->one[a] = w[i + (size_t) z->live[a] * m];
        for (int s = 0; s < n; s++) {
            const double *x = z->x + z->pick[s];
            double *to = z->few + (size_t) s * (size_t) n_live;
            for (int a = 0; a < n_live; a++) to[a] = x[(size_t) z->live[a] * m] / work->unit;
        }
        la_gram('T', n_live, n, z->few, z->gram);
        for (int s = 0; s < n; s++) z->gram[s + s * n] *= 1.0 + 1e-10;
        la_gemv('T', n_live, n, 1.0, z->few, n_live, z->one, 0.0, z->rhs);
        if (la_chol(n, z->gram)) continue; /* equal samples: leave the row as it is */
        la_chol_solve(n, 1, z->gram, z->rhs);
        la_gemv('N', n_live, n, -1.0, z->few, n_live, z->rhs, 1.0, z->one);
        for (int a = 0; a < n_live; a++) w[i + (size_t) z->live[a] * m] = z->one[a];
    }
}

/* Into z->pick: the j of largest T_ij, above 10, where Z_ij = 0. */
static int orthogonal_samples(alfs_work *work, int i, int most)
{
    const alfs_split *split = &work->split[WEIGHTS];
    alfs_weights *z = work->weights;
    size_t m = (size_t) work->space.m;
    double bound = split->penalty / split->held;
    int n = 0;

    for (size_t j = 0; j < m; j++) {
        double t = z->t[(size_t) i * m + j]; /* T is symmetric */
        if (t > 10.0 && fabs(split->v[(size_t) i + j * m]) <= bound * t) {
            z->key[n] = t;
            z->pick[n++] = (int) j;
        }
    }
    revsort(z->key, z->pick, n);
    return n < most ? n : most;
}
