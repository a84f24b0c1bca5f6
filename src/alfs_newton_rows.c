/* alfs_newton_rows.c: the preconditioner of alfs_newton.c, M = diag(H_i) + U U', by the rows' own
 * q x q blocks H_i and, for what they share, Woodbury's formula. m k^2 q^2 + 2.3 m q^3 + (kq)^3/3
 * flops to set up, 4 m q^2 + 4 m q k + 2 (kq)^2 to apply. */
#include "alfs_newton.h"
#include <R_ext/Utils.h>

/* A row's block takes the samples of largest k, 5q/4 of them as q unknowns are tied down by some q,
 * and so many where those are fewer: at small q more cost little beside the inverse. */
enum { LEAST_HEAVY = 128 };

static int gather_heavy(newton *a, const double *k, double *rest);
static int invert_row(newton *a, int i, int heavy, double rest);
static void solve_rows(newton *a, const double *r, double *z);

int alfs_newton_blocks(newton *a)
{
    int m = a->m, q = a->q, k = a->k, kk = k * (k + 1) / 2;
    size_t M = (size_t) m, Q = (size_t) q, K = (size_t) k, Q2 = Q * Q;

    for (int from = 0; from < m; from += ALFS_NEWTON_STRIP) {
        int n = m - from < ALFS_NEWTON_STRIP ? m - from : ALFS_NEWTON_STRIP;
        R_CheckUserInterrupt();
        for (size_t j = 0; j < M; j++)
            for (size_t i = 0; i < (size_t) n; i++)
                a->strip[j + i * M] = a->k_weight[(size_t) from + i + j * M];
        for (int i = 0; i < n; i++) {
            double rest = a->rest[from + i];
            int heavy = gather_heavy(a, a->strip + (size_t) i * M, &rest);
            int lapack = invert_row(a, from + i, heavy, rest);
            if (lapack) return lapack;
        }
    }
    if (k == 0) return 0;
    la_gemm('N', 'N', q * q, kk, m, 1.0, a->inverse, q * q, a->square, m, 0.0, a->blocks, q * q);
    for (size_t j = 0, at = 0; j < K; j++)
        for (size_t i = 0; i <= j; i++, at++) {
            /* Lb' (sum of H_i^{-1}) Lb, BB' = Lb Lb'; low_bb holds Lb'. */
            double *e = a->blocks + at * Q2;
            la_trmm('L', 'U', 'N', q, q, 1.0, a->low_bb, q, e, q);
            la_trmm('R', 'U', 'T', q, q, 1.0, a->low_bb, q, e, q);
            for (size_t h = 0; h < Q; h++)
                ufs_copy(a->core + i * Q + (j * Q + h) * K * Q, e + h * Q, Q);
        }
    for (size_t i = 0; i < K * Q; i++) a->core[i + i * K * Q] += 1.0;
    return la_chol(k * q, a->core);
}

/* The columns of B with the largest k of a row, times its root; the mean of the others goes to
 * `rest`. Returns their number. */
static int gather_heavy(newton *a, const double *k, double *rest)
{
    int m = a->m, most = a->q + a->q / 4 > LEAST_HEAVY ? a->q + a->q / 4 : LEAST_HEAVY, n = 0;
    size_t M = (size_t) m, Q = (size_t) a->q;
    double level = -1.0, light = 0.0;

    if (most < m) {
        ufs_copy(a->key, k, M);
        rPsort(a->key, m, m - most - 1);
        level = a->key[m - most - 1];
    }
    for (size_t j = 0; j < M; j++) {
        if (k[j] > level) {
            const double *b = a->xt + j * Q;
            double *to = a->heavy + (size_t) n++ * Q, root = sqrt(k[j]);
            for (size_t l = 0; l < Q; l++) to[l] = root * b[l];
        } else
            light += k[j];
    }
    *rest += light / (double) m;
    return n;
}

/* H_i^{-1}; without the indefinite part of H_i where that is too much. */
static int invert_row(newton *a, int i, int heavy, double rest)
{
    size_t Q = (size_t) a->q, M = (size_t) a->m;
    double *h = a->inverse + (size_t) i * Q * Q, s = a->s[i];
    const double *p = a->work->split[ROWS].v;
    int lapack = 0;

    for (int round = 0; round < 3; round++) {
        for (size_t j = 0; j < Q * Q; j++) h[j] = rest * a->bb[j];
        if (heavy > 0) la_syrk('N', a->q, heavy, 1.0, a->heavy, a->q, 1.0, h, a->q);
        for (size_t j = 0; j < Q; j++) {
            for (size_t l = 0; l <= j && round == 0 && a->alpha > 0.0; l++)
                h[l + j * Q] -= 0.5 / (s * s) *
                                (p[(size_t) i + l * M] * a->w[(size_t) i + j * M] +
                                 a->w[(size_t) i + l * M] * p[(size_t) i + j * M]);
            h[j + j * Q] += a->alpha / s + a->beta / a->c[j];
            if (round == 2) h[j + j * Q] *= 1.0 + 1e-8;
        }
        lapack = la_chol(a->q, h);
        if (lapack == 0) return la_chol_inverse(a->q, h);
    }
    return lapack;
}

/* M^{-1} = H^{-1} - H^{-1} U (I + U'H^{-1}U)^{-1} U'H^{-1}, U = (K_c x Lb). */
void alfs_newton_precondition(void *data, const double *r, double *z)
{
    newton *a = data;
    int m = a->m, q = a->q, k = a->k;
    size_t M = (size_t) m;

    solve_rows(a, r, z);
    if (k == 0) return;
    la_gemm('T', 'N', q, k, m, 1.0, z, m, a->shared, m, 0.0, a->projected, q);
    la_trmm('L', 'U', 'N', q, k, 1.0, a->low_bb, q, a->projected, q);
    la_chol_solve(q * k, 1, a->core, a->projected);
    la_trmm('L', 'U', 'T', q, k, 1.0, a->low_bb, q, a->projected, q);
    /* U times that, row by row: sum_c K_ic (Lb y_c). */
    la_gemm('N', 'T', m, q, k, 1.0, a->shared, m, a->projected, q, 0.0, a->trial, m);
    solve_rows(a, a->trial, a->trial);
    for (size_t i = 0; i < M * (size_t) q; i++) z[i] -= a->trial[i];
}

/* Row i of z = H_i^{-1} times row i of r. */
static void solve_rows(newton *a, const double *r, double *z)
{
    size_t M = (size_t) a->m, Q = (size_t) a->q;
    double *in = a->one_row, *out = a->one_row + Q;

    for (size_t i = 0; i < M; i++) {
        for (size_t j = 0; j < Q; j++) in[j] = r[i + j * M];
        la_gemv('T', a->q, a->q, 1.0, a->inverse + i * Q * Q, a->q, in, 0.0, out);
        for (size_t j = 0; j < Q; j++) z[i + j * M] = out[j];
    }
}
