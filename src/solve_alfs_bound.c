/* solve_alfs_bound.c: the certificate of solve_alfs.c.
 *
 * Dual: for any W with residual R = D - A W B and any L in its box |L| <= lambda T,
 * G = 2A'RB' - L B' is split as P + Q; with t at least the largest ratio of a row of P
 * to alpha and of a column of Q to beta, and s in [-1/t, 1/t],
 *   2 s <R, D> - s^2 ||R||^2 <= min F          (s P, s Q, s L are feasible).
 * P, Q and L start from the multipliers, which obey their bounds, and E = G - L2 - L3
 * is shared between P and Q in a few ways; the best counts.
 *
 * Primal: What with the zero columns of Wtilde; with lambda > 0 also W with the same
 * zeros, and that repaired: T reaches 1e6 where samples are nearly orthogonal, and
 * there a W B that is small but not zero costs most of the excess of F. */
#include "alfs_work.h"
#include "la.h"
#include <R_ext/Utils.h>

static void gradient(alfs_work *wk, const double *w, double *ss, double *rx);
static void multiplier_coordinates(alfs_work *wk);
static void split_sums(alfs_work *wk);
static double worst_ratio(const alfs_work *wk, double theta);
static void fill_candidate(const alfs_work *wk, bool from_w, double *out);
static void repair(alfs_work *wk, double *w);
static int orthogonal_samples(alfs_work *wk, int i, int most);
static double weighted_sum(alfs_work *wk, const double *w);
static void residuals(alfs_work *wk);
static double kkt(alfs_work *wk, const alfs_result *result);

/* ---- dual ------------------------------------------------------------------------- */

void alfs_dual_bound(alfs_work *wk)
{
    double ss, rx, top = -1.0;
    bool rows = wk->side[ROWS].on, cols = wk->side[COLS].on;

    if (wk->weight != NULL) multiplier_coordinates(wk);
    gradient(wk, wk->w, &ss, &rx);
    split_sums(wk);
    for (int i = 0; i <= 11; i++) {
        double theta = i <= 10 ? i / 10.0 : wk->theta_zero, t, s, d;
        if (!rows || !cols) theta = rows ? 1.0 : 0.0;
        t = worst_ratio(wk, theta);
        /* L may use all of its box, so it leaves no room to scale up. */
        if (wk->weight != NULL) t = fmax(t, 1.0);
        s = ss > 0.0 ? rx / ss : 0.0;
        if (fabs(s) * t > 1.0) s = s > 0.0 ? 1.0 / t : -1.0 / t;
        d = wk->rest + 2.0 * s * rx - s * s * ss;
        if (d > top) {
            top = d;
            wk->theta = theta;
            wk->scale = s;
        }
    }
    if (top > wk->dual) wk->dual = top;
}

/* spare = G = 2A'RB' - L B' at W, with ss = ||R||^2 and rx = <R, D> inside the row
 * space of B. */
static void gradient(alfs_work *wk, const double *w, double *ss, double *rx)
{
    int m = wk->m, rb = wk->rb;
    size_t M = (size_t) m, R = (size_t) wk->r, RB = (size_t) rb;

    *ss = *rx = 0.0;
    alfs_coordinates(wk, w, wk->k);
    for (size_t j = 0; j < RB; j++)
        for (size_t i = 0; i < R; i++) {
            double ab = wk->a[i] * wk->b[j], target = wk->target[i + j * R];
            double res = target - ab * wk->k[i + j * R];
            *ss += res * res;
            *rx += res * target;
            wk->k[i + j * R] = 2.0 * ab * res;
        }
    alfs_expand(wk, 1.0, wk->k, 0.0, wk->spare);
    if (wk->weight == NULL) return;
    for (size_t j = 0; j < RB; j++)
        for (size_t i = j * M; i < (j + 1) * M; i++) wk->tmp[i] = wk->lv[i] * wk->b[j];
    alfs_gemm(m, wk->q, rb, -1.0, wk->tmp, m, wk->right_t, rb, 1.0, wk->spare, m);
}

/* lv = L1 outer. */
static void multiplier_coordinates(alfs_work *wk)
{
    side *sd = &wk->side[WEIGHTS];
    int m = wk->m, rb = wk->rb;
    size_t M = (size_t) m;
    double bound = sd->penalty / sd->held;

    memset(wk->lv, 0, M * (size_t) rb * sizeof(double));
    for (int from = 0; from < m; from += wk->width) {
        int n = m - from < wk->width ? m - from : wk->width;
        size_t F = (size_t) from, end = (size_t) n * M;
        const double *v = sd->v + F * M, *t = wk->weight + F * M;
        for (size_t i = 0; i < end; i++)
            wk->strip[i] = sd->held * alfs_clamp(v[i], bound * t[i]);
        alfs_gemm(m, rb, n, 1.0, wk->strip, m, wk->outer + F, m, 1.0, wk->lv, m);
    }
}

/* For every row: ||L2_i||^2, <L2_i, E_i>, ||E_i||^2; for every column the same of L3.
 * E overwrites G in spare. */
static void split_sums(alfs_work *wk)
{
    const side *rows = &wk->side[ROWS], *cols = &wk->side[COLS];
    size_t m = (size_t) wk->m, q = (size_t) wk->q;
    double *r0 = wk->row_sum, *r1 = r0 + m, *r2 = r1 + m;

    memset(r0, 0, 3 * m * sizeof(double));
    for (size_t j = 0; j < q; j++) {
        size_t at = j * m;
        double c0 = 0.0, c1 = 0.0, c2 = 0.0;
        double f = cols->on ? cols->held * cols->cut[j] : 0.0;
        for (size_t i = 0; i < m; i++) {
            double l2 = rows->on ? rows->held * rows->cut[i] * rows->v[at + i] : 0.0;
            double l3 = cols->on ? f * cols->v[at + i] : 0.0;
            double e = wk->spare[at + i] - l2 - l3;
            wk->spare[at + i] = e;
            r0[i] += l2 * l2;
            r1[i] += l2 * e;
            r2[i] += e * e;
            c0 += l3 * l3;
            c1 += l3 * e;
            c2 += e * e;
        }
        wk->col_sum[j] = c0;
        wk->col_sum[j + q] = c1;
        wk->col_sum[j + 2 * q] = c2;
    }
}

/* Largest ||row of L2 + theta E|| / alpha or ||column of L3 + (1 - theta) E|| / beta. */
static double worst_ratio(const alfs_work *wk, double theta)
{
    size_t m = (size_t) wk->m, q = (size_t) wk->q;
    double rows = 0.0, cols = 0.0, rest = 1.0 - theta;

    for (size_t i = 0; i < m; i++)
        rows = fmax(rows, wk->row_sum[i] + theta * (2.0 * wk->row_sum[i + m] +
                                                    theta * wk->row_sum[i + 2 * m]));
    for (size_t j = 0; j < q; j++)
        cols = fmax(cols, wk->col_sum[j] + rest * (2.0 * wk->col_sum[j + q] +
                                                   rest * wk->col_sum[j + 2 * q]));
    rows = wk->side[ROWS].on ? sqrt(rows) / wk->side[ROWS].penalty : 0.0;
    cols = wk->side[COLS].on ? sqrt(cols) / wk->side[COLS].penalty : 0.0;
    return fmax(rows, cols);
}

/* ---- primal ------------------------------------------------------------------------ */

void alfs_primal_bound(alfs_work *wk, double *best_w)
{
    int forms = wk->weight != NULL ? 3 : 1;

    for (int form = 0; form < forms; form++) {
        double f;
        fill_candidate(wk, form > 0, wk->spare);
        if (form == 2) repair(wk, wk->spare);
        f = alfs_objective(wk, wk->spare);
        if (f < wk->best || !(fabs(f) <= DBL_MAX)) {
            wk->best = f;
            ufs_copy(best_w, wk->spare, wk->len);
        }
    }
}

/* What (from_w: W) with the zero rows of What and the zero columns of Wtilde. */
static void fill_candidate(const alfs_work *wk, bool from_w, double *out)
{
    const side *rows = &wk->side[ROWS], *cols = &wk->side[COLS];
    size_t m = (size_t) wk->m;

    for (int j = 0; j < wk->q; j++) {
        size_t at = (size_t) j * m;
        double *to = out + at, keep = cols->on ? 1.0 - cols->cut[j] : 1.0;
        if (keep == 0.0)
            memset(to, 0, m * sizeof(double));
        else if (from_w)
            for (size_t i = 0; i < m; i++)
                to[i] = rows->on && rows->cut[i] == 1.0 ? 0.0 : wk->w[at + i];
        else if (rows->on)
            for (size_t i = 0; i < m; i++) to[i] = (1.0 - rows->cut[i]) * rows->v[at + i];
        else
            for (size_t i = 0; i < m; i++) to[i] = keep * cols->v[at + i];
    }
}

/* Every row w_i is projected on w_i x_j = 0 for the samples j of largest T_ij with
 * Z_ij = 0, at most a quarter as many as columns are in use: q^2 / 16 + q n / 2 flops
 * a row and the search for them. */
static void repair(alfs_work *wk, double *w)
{
    size_t m = (size_t) wk->m, q = (size_t) wk->q;
    int n_live = 0, most;

    for (int j = 0; j < wk->q; j++)
        if (!wk->side[COLS].on || wk->side[COLS].cut[j] < 1.0) wk->live[n_live++] = j;
    most = n_live / 4;
    if (most == 0) return;
    for (size_t i = 0; i < m; i++) {
        int n;
        if (wk->side[ROWS].on && wk->side[ROWS].cut[i] >= 1.0) continue;
        n = orthogonal_samples(wk, (int) i, most);
        if (n == 0) continue;
        for (int a = 0; a < n_live; a++) wk->one[a] = w[i + (size_t) wk->live[a] * m];
        for (int s = 0; s < n; s++) {
            const double *x = wk->sample + (size_t) wk->pick[s] * q;
            double *to = wk->few + (size_t) s * (size_t) n_live;
            for (int a = 0; a < n_live; a++) to[a] = x[wk->live[a]];
        }
        la_gram('T', n_live, n, wk->few, wk->gram);
        for (int s = 0; s < n; s++) wk->gram[s + s * n] *= 1.0 + 1e-10;
        la_gemv('T', n_live, n, 1.0, wk->few, n_live, wk->one, 0.0, wk->rhs);
        if (la_chol(n, wk->gram)) continue; /* equal samples: leave the row as it is */
        la_chol_solve(n, 1, wk->gram, wk->rhs);
        la_gemv('N', n_live, n, -1.0, wk->few, n_live, wk->rhs, 1.0, wk->one);
        for (int a = 0; a < n_live; a++) w[i + (size_t) wk->live[a] * m] = wk->one[a];
    }
}

/* Into wk->pick: the j of largest T_ij, above 10, where Z_ij = 0. */
static int orthogonal_samples(alfs_work *wk, int i, int most)
{
    const side *sd = &wk->side[WEIGHTS];
    size_t m = (size_t) wk->m;
    double bound = sd->penalty / sd->held;
    int n = 0;

    for (size_t j = 0; j < m; j++) {
        double t = wk->weight[(size_t) i * m + j]; /* T is symmetric */
        if (t > 10.0 && fabs(sd->v[(size_t) i + j * m]) <= bound * t) {
            wk->key[n] = t;
            wk->pick[n++] = (int) j;
        }
    }
    revsort(wk->key, wk->pick, n);
    return n < most ? n : most;
}

double alfs_objective(alfs_work *wk, const double *w)
{
    size_t r = (size_t) wk->r, rb = (size_t) wk->rb;
    double f = wk->rest;

    alfs_coordinates(wk, w, wk->k);
    for (size_t j = 0; j < rb; j++)
        for (size_t i = 0; i < r; i++) {
            double res = wk->target[i + j * r] - wk->a[i] * wk->b[j] * wk->k[i + j * r];
            f += res * res;
        }
    la_row_norms(wk->m, wk->q, w, wk->row);
    la_col_norms(wk->m, wk->q, w, wk->col);
    f += wk->side[ROWS].penalty * la_l21(wk->m, wk->row, 0.0);
    f += wk->side[COLS].penalty * la_l21(wk->q, wk->col, 0.0);
    if (wk->weight != NULL) f += wk->side[WEIGHTS].penalty * weighted_sum(wk, w);
    return f;
}

/* sum_ij T_ij |(W B)_ij|. */
static double weighted_sum(alfs_work *wk, const double *w)
{
    int m = wk->m, rb = wk->rb;
    size_t M = (size_t) m, RB = (size_t) rb;
    double sum = 0.0;

    alfs_gemm(m, rb, wk->q, 1.0, w, m, wk->right, wk->q, 0.0, wk->tmp, m);
    for (size_t j = 0; j < RB; j++)
        for (size_t i = j * M; i < (j + 1) * M; i++) wk->tmp[i] *= wk->b[j];
    for (int from = 0; from < m; from += wk->width) {
        int n = m - from < wk->width ? m - from : wk->width;
        size_t F = (size_t) from, end = (size_t) n * M;
        const double *t = wk->weight + F * M;
        alfs_gemm(m, n, rb, 1.0, wk->tmp, m, wk->outer_t + F * RB, rb, 0.0, wk->strip, m);
        for (size_t i = 0; i < end; i++) sum += t[i] * fabs(wk->strip[i]);
    }
    return sum;
}

/* ---- the end --------------------------------------------------------------------- */

/* P = s (L2 + theta E), Q = s (L3 + (1 - theta) E), L = s L1 in the places of V; the
 * optimality residual; everything back to the user's units. */
void alfs_finish(alfs_work *wk, alfs_result *result)
{
    side *rows = &wk->side[ROWS], *cols = &wk->side[COLS], *z = &wk->side[WEIGHTS];
    size_t m = (size_t) wk->m;
    double u2 = wk->unit * wk->unit, up = u2 * wk->unit_w, ss, rx;
    double p_share = wk->scale * wk->theta, q_share = wk->scale * (1.0 - wk->theta);

    if (!wk->known_zero) {
        residuals(wk);
        if (wk->weight != NULL) multiplier_coordinates(wk);
        gradient(wk, wk->w, &ss, &rx);
        split_sums(wk);
        for (int j = 0; j < wk->q; j++)
            for (size_t i = 0; i < m; i++) {
                size_t at = i + (size_t) j * m;
                double e = wk->spare[at];
                if (rows->on)
                    result->p[at] = wk->scale * rows->held * rows->cut[i] * rows->v[at] + p_share * e;
                if (cols->on)
                    result->q[at] = wk->scale * cols->held * cols->cut[j] * cols->v[at] + q_share * e;
            }
        if (wk->weight != NULL)
            for (size_t i = 0; i < m * m; i++) {
                double bound = z->penalty / z->held * wk->weight[i];
                z->v[i] = wk->scale * z->held * alfs_clamp(z->v[i], bound);
            }
    }
    for (int i = 0; i < 3; i++) {
        result->primal[i] = wk->side[i].residual;
        result->rho[i] = wk->side[i].penalty > 0.0 ? wk->side[i].rho / wk->side[i].penalty : 0.0;
    }
    result->kkt = kkt(wk, result);
    result->objective = wk->best * u2;
    result->dual = wk->dual * u2;
    for (size_t i = 0; i < wk->len; i++) {
        result->w[i] /= wk->unit_w;
        result->p[i] *= up;
        result->q[i] *= up;
    }
    if (wk->weight != NULL)
        for (size_t i = 0; i < m * m; i++) z->v[i] *= u2;
}

/* || W - copy || / max(||W||, ||copy||) of rows and columns; the weights keep theirs of
 * the last check. */
static void residuals(alfs_work *wk)
{
    size_t m = (size_t) wk->m;

    for (int which = 0; which < 2; which++) {
        side *sd = &wk->side[which];
        double diff = 0.0, copy = 0.0, full = la_ss(wk->len, wk->w);
        if (!sd->on) continue;
        for (int j = 0; j < wk->q; j++)
            for (size_t i = 0; i < m; i++) {
                size_t at = i + (size_t) j * m;
                double c = (1.0 - sd->cut[which == ROWS ? i : (size_t) j]) * sd->v[at];
                copy += c * c;
                diff += (wk->w[at] - c) * (wk->w[at] - c);
            }
        sd->residual = diff > 0.0 ? sqrt(diff / fmax(full, copy)) : 0.0;
    }
}

/* Largest of || 2A'RB' - L B' - P - Q || / || 2A'DB' || and of the complementarity
 * gaps (alpha ||W||_{2,1} - <P, W>) / F, ... at the returned W, P, Q, L. */
static double kkt(alfs_work *wk, const alfs_result *result)
{
    side *z = &wk->side[WEIGHTS];
    int m = wk->m, r = wk->r;
    size_t M = (size_t) m, R = (size_t) r;
    const double *w = result->w;
    double ss, rx, g0 = 0.0, diff = 0.0, pw = 0.0, qw = 0.0, lw = 0.0, worst;

    if (wk->weight != NULL) {
        /* L is now itself, no longer V: its coordinates, and <L, W B> from them. */
        alfs_gemm(m, r, m, 1.0, result->l, m, wk->left, m, 0.0, wk->lv, m);
        alfs_gemm(m, r, wk->q, 1.0, w, m, wk->right, wk->q, 0.0, wk->tmp, m);
        for (size_t j = 0; j < R; j++)
            for (size_t i = j * M; i < (j + 1) * M; i++) lw += wk->lv[i] * wk->tmp[i] * wk->b[j];
    }
    gradient(wk, w, &ss, &rx);
    for (size_t i = 0; i < R; i++) {
        double g = 2.0 * wk->a[i] * wk->b[i] * wk->a[i];
        g0 += g * g;
    }
    for (size_t i = 0; i < wk->len; i++) {
        double e = wk->spare[i] - result->p[i] - result->q[i];
        diff += e * e;
        pw += result->p[i] * w[i];
        qw += result->q[i] * w[i];
    }
    worst = sqrt(diff / g0);
    la_row_norms(m, wk->q, w, wk->row);
    la_col_norms(m, wk->q, w, wk->col);
    worst = fmax(worst, (wk->side[ROWS].penalty * la_l21(m, wk->row, 0.0) - pw) / wk->best);
    worst = fmax(worst, (wk->side[COLS].penalty * la_l21(wk->q, wk->col, 0.0) - qw) / wk->best);
    if (wk->weight != NULL)
        worst = fmax(worst, (z->penalty * weighted_sum(wk, w) - lw) / wk->best);
    return worst;
}
