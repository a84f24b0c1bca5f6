/* solve_topk_warm.c: sub-problem 1 of top-k selection (solve_topk_represent.c states it) where
 * samples have many links. The paper starts its ADMM anew in every outer iteration, and half of
 * some 140 iterations of 2n^2 p flops only bring the penalty to where it starts to matter. Here
 * one run is spread over the outer iterations:
 *   - the penalty stays at START for FIRST iterations, which bring the multipliers near their
 *     optimum, and then grows by GROWTH from iteration to iteration, across calls, which brings
 *     Zx to x; that of Z is RATIO times that of E, and both steps are over-relaxed by RELAX;
 *   - the first call ends after those FIRST iterations: its weights are all the same, and the
 *     labels it is for need no more;
 *   - later calls put the penalty back by the relative change of the objective that the new
 *     weights made, so that a change of a few labels takes a few iterations.
 * With mu, m = RATIO mu, and the multiplier Y (that of Q = Z is Y x', so that the certificate's
 * equation holds all the time), an iteration is
 *   Z = S_{w/m}(Q + Y x'/m), diag(Z) = 0,   E = S_{lambda_e/mu}(x - Qx + Y/mu)
 *   Z^ = RELAX Z + (1 - RELAX) Q,   E^ = RELAX E + (1 - RELAX)(x - Qx)
 *   B = x - E^ + Y/mu,   H = Z^ - Y x'/m
 *   Q = (B x' + RATIO H)(xx' + RATIO I)^{-1},   Y_new = mu (B - Qx),   Y_new x' = m (Q - H).
 * With p < n, as Q - H = T x',
 *   T = (B - Hx)(x'x + RATIO I)^{-1},   Qx = B - RATIO T,   Q = H + T x',
 * and Y x'x, which Hx needs, is m (B - Hx - RATIO T) by then. In the n-form (p >= n) B is written
 * by C = mu (x - Qx) + Y cut to [-lambda_e, lambda_e],
 *   B = Qx + (RELAX C + (1 - RELAX) Y)/mu,
 *   Q_new = Q + RELAX ((C x' - Y x')/mu + RATIO (Z - Q))(xx' + RATIO I)^{-1},
 * and C x' goes on by what changes in C: few entries once most of them have their sign. At the end
 * E = x - Zx, and a new call starts from Q = Z.
 *
 * Rows of Z do not depend on each other: blocks of WIDTH samples (n-form: twice as many) run
 * through a call one by one, each until its own residuals are small. One iteration of all: 2n^2 p
 * (Qx) + 2n^3 + 2n (changes of C) in the n-form, 2n^2 p (T x') + 2p nnz(Z) + 2np^2 in the other;
 * about 60 in all. Memory: n x p, and n x n, 6 n and 7 p twice WIDTH, or 2 p x p, 5 n and 8 p
 * WIDTH. */
#include "solve_topk_warm.h"
#include "la.h"
#include "prox.h"
#include <R_ext/Memory.h>

enum { WIDTH = 96, STRIP = 64, FIRST = 20 };
/* Above this share of non-zeros a dense product is quicker than one that skips zeros. */
static const double DENSE = 0.2;
static const double START = 30.0, GROWTH = 1.3, RATIO = 0.7, RELAX = 1.9;
/* A relative change of the objective that is as good as none. */
static const double SETTLED = 1e-4;

typedef struct topk_warm_block {
    int from, width;
    double *z, *q, *c, *c_new, *w;   /* n x WIDTH: Z', Q', x Y' before and after, weights */
    double *b, *y, *e, *t, *zx, *qx; /* p x WIDTH; t: B */
    double *clip, *cut;              /* n-form: C', p x WIDTH, and x C', n x WIDTH */
    double *d, *gy;                  /* the other: B - Hx, Y x'x, p x WIDTH */
    double change, split, error;
} warm_block;

static void keep(topk_warm *work, const topk_warm_settings *settings, const topk_theta *theta);
static void load(topk_warm *work, const topk_warm_settings *settings, const topk_theta *theta,
                 int from, int width);
static void store(topk_warm *work, const topk_warm_settings *settings);
static int run_block(topk_warm *work, const topk_warm_settings *settings, double mu, int flat,
                     int most);
static void step_z(topk_warm *work, const topk_warm_settings *settings, double mz);
static void times_x(topk_warm *work);
static void add_sparse(int len, int count, int width, const double *a, const double *s,
                       double *out);
static void step_e(topk_warm *work, const topk_warm_settings *settings, double mu);
static void step_cut(topk_warm *work, const topk_warm_settings *settings, double mu);
static void step_q_by_samples(topk_warm *work, double mu);
static void step_q_by_features(topk_warm *work, double mz);
static void step_y(topk_warm *work, double mu);

int topk_warm_init(topk_warm *work, int n, int p, const double *x, double *z, double *e, double *xt)
{
    size_t N = (size_t) n, P = (size_t) p;
    bool n_form = p >= n;
    int r = n_form ? n : p, most = n_form ? 2 * WIDTH : WIDTH, width = n < most ? n : most;
    size_t R = (size_t) r, W = (size_t) width;
    warm_block *block = (warm_block *) R_alloc(1, sizeof(warm_block));
    double **tall[] = {&block->z, &block->q, &block->c, &block->c_new, &block->w, &block->cut};
    double **low[] = {&block->b,
                      &block->e,
                      &block->t,
                      &block->zx,
                      &block->qx,
                      &block->y,
                      n_form ? &block->clip : &block->d,
                      &block->gy};
    int lapack;

    for (int i = 0; i < (n_form ? 6 : 5); i++) *tall[i] = ufs_dalloc(N, W);
    for (int i = 0; i < (n_form ? 7 : 8); i++) *low[i] = ufs_dalloc(P, W);
    work->n = n;
    work->n_form = n_form;
    work->width = width;
    work->p = p;
    work->x = x;
    work->z = z;
    work->e = e;
    work->xt = xt;
    work->block = block;
    work->calls = work->iterations = 0;
    work->mu = START;
    work->converged = false;
    work->residual = work->objective = 0.0;
    work->y = ufs_dalloc(P, N);
    work->inverse = ufs_dalloc(R, R);
    work->gram = n_form ? NULL : ufs_dalloc(P, P);
    memset(z, 0, N * N * sizeof(double));
    memset(work->y, 0, N * P * sizeof(double));
    la_gram(n_form ? 'N' : 'T', n, p, x, work->inverse);
    if (!n_form) ufs_copy(work->gram, work->inverse, P * P);
    for (size_t k = 0; k < R; k++) work->inverse[k * (R + 1)] += RATIO;
    lapack = la_chol_checked(r, work->inverse);
    return lapack ? lapack : la_chol_inverse(r, work->inverse);
}

void topk_warm_solve(topk_warm *work, const topk_warm_settings *settings, const topk_theta *theta,
                     double change)
{
    bool first = work->calls == 0, coarse = first && settings->coarse;
    int most = settings->max_iter, flat = first ? FIRST : 0;
    double mu = work->mu, end = R_PosInf, residual = 0.0;

    work->calls++;
    work->iterations = 0;
    if (!first && work->converged && change <= SETTLED) {
        keep(work, settings, theta);
        return;
    }
    if (coarse && most > FIRST) most = FIRST;
    if (!first) mu = fmax(START, mu * fmin(1.0, SETTLED / change));
    work->objective = 0.0;
    la_transpose(work->n, work->p, work->x, work->xt);
    for (int from = 0; from < work->n; from += work->width) {
        const warm_block *b = work->block;
        int done;
        load(work, settings, theta, from,
             work->n - from < work->width ? work->n - from : work->width);
        done = run_block(work, settings, mu, flat, most);
        store(work, settings);
        if (done > work->iterations) work->iterations = done;
        end = fmin(end, mu * pow(GROWTH, done > flat ? done - flat : 0));
        for (int i = 0; i < 3; i++) {
            double r = i == 0 ? b->error : i == 1 ? b->split : b->change;
            if (!(r <= residual)) residual = r;
        }
    }
    work->residual = residual;
    work->mu = end;
    work->converged = !coarse && residual < settings->tol;
}

/* Z is what it was, and so are its residuals; its objective has new weights. */
static void keep(topk_warm *work, const topk_warm_settings *settings, const topk_theta *theta)
{
    size_t N = (size_t) work->n;
    double error = 0.0;

    for (size_t i = 0; i < N * (size_t) work->p; i++) error += fabs(work->e[i]);
    work->objective = settings->lambda_e * error;
    for (size_t j = 0; j < N; j++)
        for (size_t i = 0; i < N; i++) {
            double z = fabs(work->z[i + j * N]);
            if (z != 0.0)
                work->objective += (1.0 + settings->lambda_z * topk_theta_at(theta, i, j)) * z;
        }
}

/* Samples from.. of Z and Y, with Q = Z. */
static void load(topk_warm *work, const topk_warm_settings *settings, const topk_theta *theta,
                 int from, int width)
{
    warm_block *b = work->block;
    int n = work->n, p = work->p;
    size_t N = (size_t) n, P = (size_t) p, W = (size_t) width, at = (size_t) from;

    b->from = from;
    b->width = width;
    b->change = b->split = b->error = 0.0;
    for (size_t j = 0; j < N; j++)
        for (size_t a = 0; a < W; a++) {
            double z = work->z[at + a + j * N],
                   w = 1.0 + settings->lambda_z * topk_theta_at(theta, at + a, j);
            b->z[j + a * N] = b->q[j + a * N] = z;
            /* On the diagonal nothing is above the threshold. */
            b->w[j + a * N] = at + a == j ? 1e300 : w;
        }
    ufs_copy(b->b, work->xt + at * P, P * W);
    ufs_copy(b->y, work->y + at * P, P * W);
    /* C' from zero: the first step makes x C' by a whole product. */
    if (work->n_form) memset(b->clip, 0, P * W * sizeof(double));
    if (work->n_form) memset(b->cut, 0, N * W * sizeof(double));
    la_gemm_checked('N', 'N', n, width, p, 1.0, work->x, n, b->y, p, 0.0, b->c, n);
    if (!work->n_form)
        la_gemm_checked('N', 'N', p, width, p, 1.0, work->gram, p, b->y, p, 0.0, b->gy, p);
    times_x(work);
    ufs_copy(b->qx, b->zx, P * W);
}

/* Z, Y, and E = x - Zx; the block's part of the objective. */
static void store(topk_warm *work, const topk_warm_settings *settings)
{
    warm_block *b = work->block;
    size_t N = (size_t) work->n, P = (size_t) work->p, W = (size_t) b->width, at = (size_t) b->from;
    double weighted = 0.0, error = 0.0;

    times_x(work);
    for (size_t j = 0; j < N; j++)
        for (size_t a = 0; a < W; a++) {
            double z = b->z[j + a * N];
            work->z[at + a + j * N] = z;
            if (z != 0.0) weighted += b->w[j + a * N] * fabs(z);
        }
    ufs_copy(work->y + at * P, b->y, P * W);
    for (size_t k = 0; k < P; k++)
        for (size_t a = 0; a < W; a++) {
            double e = b->b[k + a * P] - b->zx[k + a * P];
            work->e[at + a + k * N] = e;
            error += fabs(e);
        }
    work->objective += weighted + settings->lambda_e * error;
}

/* Until the residuals are small, `most` iterations at most; the penalty does not grow in the first
 * `flat`. */
static int run_block(topk_warm *work, const topk_warm_settings *settings, double mu, int flat,
                     int most)
{
    warm_block *b = work->block;

    for (int it = 1; it <= most; it++) {
        step_z(work, settings, RATIO * mu);
        if (work->n_form) {
            step_cut(work, settings, mu);
            step_q_by_samples(work, mu);
        } else {
            step_e(work, settings, mu);
            step_q_by_features(work, RATIO * mu);
        }
        step_y(work, mu);
        if (it > flat) mu *= GROWTH;
        /* False for NaN, which therefore never converges. */
        if (it > flat && fmax(b->error, fmax(b->split, b->change)) < settings->tol) return it;
    }
    return most;
}

static void step_z(topk_warm *work, const topk_warm_settings *settings, double mz)
{
    warm_block *b = work->block;
    size_t len = (size_t) work->n * (size_t) b->width;
    double scale = 1.0 / mz, top = 0.0, least = settings->nonnegative ? 0.0 : R_NegInf;

    for (size_t i = 0; i < len; i++) {
        double z = prox_soft(b->q[i] + b->c[i] * scale, b->w[i] * scale), diff;
        z = z < least ? least : z;
        diff = fabs(z - b->z[i]);
        if (!(diff <= top)) top = diff;
        b->z[i] = z;
    }
    b->change = top;
}

/* Zx. */
static void times_x(topk_warm *work)
{
    warm_block *b = work->block;
    memset(b->zx, 0, (size_t) work->p * (size_t) b->width * sizeof(double));
    add_sparse(work->p, work->n, b->width, work->xt, b->z, b->zx);
}

/* out (len x width) += a s, s count x width with few non-zeros; by strips of columns of a that stay
 * in the cache. */
static void add_sparse(int len, int count, int width, const double *a, const double *s, double *out)
{
    size_t L = (size_t) len, K = (size_t) count;

    for (size_t from = 0; from < K; from += STRIP) {
        size_t to = from + STRIP < K ? from + STRIP : K;
        for (size_t i = 0; i < (size_t) width; i++)
            for (size_t j = from; j < to; j++)
                if (s[j + i * K] != 0.0) la_axpy(len, s[j + i * K], a + j * L, out + i * L);
    }
}

/* E and B. */
static void step_e(topk_warm *work, const topk_warm_settings *settings, double mu)
{
    warm_block *b = work->block;
    size_t len = (size_t) work->p * (size_t) b->width;
    double scale = 1.0 / mu, t = settings->lambda_e * scale;

    for (size_t i = 0; i < len; i++) {
        double rest = b->b[i] - b->qx[i], y = b->y[i] * scale, e = prox_soft(rest + y, t);
        b->e[i] = e;
        b->t[i] = b->b[i] - (RELAX * e + (1.0 - RELAX) * rest) + y;
    }
}

/* E and B in the n-form, C and x C'. */
static void step_cut(topk_warm *work, const topk_warm_settings *settings, double mu)
{
    warm_block *b = work->block;
    int n = work->n, p = work->p, width = b->width;
    size_t len = (size_t) p * (size_t) width, changed = 0;
    double scale = 1.0 / mu, most = settings->lambda_e;

    for (size_t i = 0; i < len; i++) {
        double v = mu * (b->b[i] - b->qx[i]) + b->y[i], cut = prox_clip(v, most);
        b->zx[i] = cut - b->clip[i];
        changed += b->zx[i] != 0.0;
        b->clip[i] = cut;
        b->e[i] = scale * (v - cut);
        b->t[i] = b->qx[i] + scale * (RELAX * cut + (1.0 - RELAX) * b->y[i]);
    }
    if ((double) changed > DENSE * (double) len)
        la_gemm_checked('N', 'N', n, width, p, 1.0, work->x, n, b->clip, p, 0.0, b->cut, n);
    else
        add_sparse(n, p, width, work->x, b->zx, b->cut);
}

/* Q, Qx and Y x'. */
static void step_q_by_samples(topk_warm *work, double mu)
{
    warm_block *b = work->block;
    int n = work->n, p = work->p, width = b->width;
    size_t len = (size_t) n * (size_t) width;
    double mz = RATIO * mu, scale = 1.0 / mu, top = 0.0;

    for (size_t i = 0; i < len; i++) {
        b->c_new[i] = RELAX * (scale * (b->cut[i] - b->c[i]) + RATIO * (b->z[i] - b->q[i]));
        b->c[i] = RELAX * b->z[i] + (1.0 - RELAX) * b->q[i] - b->c[i] / mz;
    }
    la_gemm_checked('N', 'N', n, width, n, 1.0, work->inverse, n, b->c_new, n, 1.0, b->q, n);
    for (size_t i = 0; i < len; i++) {
        double diff = fabs(b->q[i] - b->z[i]);
        if (!(diff <= top)) top = diff;
        b->c[i] = mz * (b->q[i] - b->c[i]);
    }
    b->split = top;
    la_gemm_checked('T', 'N', p, width, n, 1.0, work->x, n, b->q, n, 0.0, b->qx, p);
}

static void step_q_by_features(topk_warm *work, double mz)
{
    warm_block *b = work->block;
    int n = work->n, p = work->p;
    size_t wide = (size_t) p * (size_t) b->width, len = (size_t) n * (size_t) b->width;
    double scale = 1.0 / mz, top = 0.0;

    times_x(work);
    for (size_t i = 0; i < wide; i++)
        b->d[i] = b->t[i] - (RELAX * b->zx[i] + (1.0 - RELAX) * b->qx[i]) + b->gy[i] * scale;
    la_gemm_checked('N', 'N', p, b->width, p, 1.0, work->inverse, p, b->d, p, 0.0, b->zx, p);
    for (size_t i = 0; i < wide; i++) {
        b->qx[i] = b->t[i] - RATIO * b->zx[i];
        b->gy[i] = mz * (b->d[i] - RATIO * b->zx[i]);
    }
    la_gemm_checked('N', 'N', n, b->width, p, 1.0, work->x, n, b->zx, p, 0.0, b->c_new, n);
    for (size_t i = 0; i < len; i++) {
        double h = RELAX * b->z[i] + (1.0 - RELAX) * b->q[i] - b->c[i] * scale, diff;
        b->q[i] = h + b->c_new[i];
        b->c[i] = mz * b->c_new[i];
        diff = fabs(b->q[i] - b->z[i]);
        if (!(diff <= top)) top = diff;
    }
    b->split = top;
}

static void step_y(topk_warm *work, double mu)
{
    warm_block *b = work->block;
    size_t len = (size_t) work->p * (size_t) b->width;
    double top = 0.0;

    for (size_t i = 0; i < len; i++) {
        double r = fabs(b->b[i] - b->qx[i] - b->e[i]);
        if (!(r <= top)) top = r;
        b->y[i] = mu * (b->t[i] - b->qx[i]);
    }
    b->error = top;
}
