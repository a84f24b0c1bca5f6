/* solve_topk_blocks.c: the p-form of the ADMM of solve_topk_represent.c, for p < n, by blocks of
 * samples (rows of Z), which do not depend on each other while mu is the same for all.
 *
 * With T = (Bm - Cm x)(x'x + I)^{-1} the multiplier is Y2 = mu T x', so that nothing n x n but Z
 * need be kept: with T, T1 of the last iterations, and mu, mu1, mu2 of this one and those before,
 *   Q + Y2/mu = Z + (T - mu2/mu1 T1) x' + mu1/mu T x'      (argument of the next Z)
 *   Q - Z     = (T - mu1/mu T1) x'                         (its residual, with the mu of T)
 *   Cm x      = Zx - Y2 x/mu,   Y2 x = mu (Bm - Zx + Y2_old x/mu - T)
 * and one product T x' per iteration serves both. Bm - T = Qx.
 *
 * One iteration: 2n^2 p (T x') + 2np^2 + 2p nnz(Z), a block stays in the cache. Every block runs
 * until its own residuals are small; those that were quicker then follow, so that all have done
 * as many iterations as the last one: the iteration at which the largest residual of all is small
 * for the first time, as if they had run side by side. At most EPOCH iterations at a time.
 * Memory: 6 n x p, p x p, 3 n WIDTH. */
#include "solve_topk_represent.h"
#include "la.h"
#include "prox.h"
#include <R_ext/Memory.h>

enum { WIDTH = 64, EPOCH = 512, WATCHED = 10 };
static const double SPARSE = 0.25;

struct topk_blocks {
    double *xt, *t, *t1, *y2x, *e, *y1; /* p x n: one column per sample */
    double *z, *w, *c, *c1;             /* n x WIDTH: Z, its weights, T x', T1 x' */
    double *zx, *bm, *change;           /* p x WIDTH */
    double *history;                    /* EPOCH x 4: the residuals, the objective */
    int *done;                          /* by block */
    double mu1, mu2;                    /* of the last iteration and the one before */
};

typedef struct {
    double mu, mu1, mu2;
} penalties;

static penalties later(const topk_represent_settings *settings, penalties now);
static void load(topk_represent *work, const topk_represent_settings *settings, const double *theta,
                 int from, int width);
static void store(topk_represent *work, int from, int width);
static int run_block(topk_represent *work, const topk_represent_settings *settings, int from,
                     int width, penalties now, int begin, int least, int most);
static size_t step_z(topk_represent *work, const topk_represent_settings *settings, int width,
                     penalties now, double *row);
static void step_t(topk_represent *work, int from, int width, size_t non_zero, double mu);
static double step_e(topk_represent *work, double lambda_e, int from, int width, double mu,
                     double *row);
static double split(const topk_represent *work, int width, double ratio);

void topk_blocks_init(topk_represent *work)
{
    size_t N = (size_t) work->n, P = (size_t) work->p;
    topk_blocks *b = (topk_blocks *) R_alloc(1, sizeof(topk_blocks));
    double **tall[] = {&b->xt, &b->t, &b->t1, &b->y2x, &b->e, &b->y1};
    double **wide[] = {&b->z, &b->w, &b->c, &b->c1};
    double **small[] = {&b->zx, &b->bm, &b->change};

    for (int i = 0; i < 6; i++) *tall[i] = ufs_dalloc(P, N);
    for (int i = 0; i < 4; i++) *wide[i] = ufs_dalloc(N, WIDTH);
    for (int i = 0; i < 3; i++) *small[i] = ufs_dalloc(P, WIDTH);
    b->history = ufs_dalloc(4, EPOCH);
    b->done = ufs_ialloc((N + WIDTH - 1) / WIDTH);
    la_transpose(work->n, work->p, work->x, b->xt);
    work->blocks = b;
}

void topk_blocks_start(topk_represent *work, double mu)
{
    topk_blocks *b = work->blocks;
    size_t N = (size_t) work->n, len = N * (size_t) work->p;
    double *tall[] = {b->t, b->t1, b->y2x, b->e, b->y1};

    memset(work->z, 0, N * N * sizeof(double));
    for (int i = 0; i < 5; i++) memset(tall[i], 0, len * sizeof(double));
    work->mu = b->mu1 = b->mu2 = mu;
}

void topk_blocks_solve(topk_represent *work, const topk_represent_settings *settings,
                       const double *theta, int outer, ufs_trace *trace)
{
    topk_blocks *b = work->blocks;
    penalties now = {work->mu, b->mu1, b->mu2};
    int epoch = work->hook != NULL ? WATCHED : EPOCH, n = work->n;

    while (work->iterations < settings->max_iter && !work->converged) {
        int most = settings->max_iter - work->iterations, last = 0;
        most = most < epoch ? most : epoch;
        memset(b->history, 0, 4 * (size_t) most * sizeof(double));
        for (int from = 0, l = 0; from < n; from += WIDTH, l++) {
            int width = n - from < WIDTH ? n - from : WIDTH;
            load(work, settings, theta, from, width);
            /* At least as far as the others. */
            b->done[l] = run_block(work, settings, from, width, now, 0, last, most);
            last = b->done[l];
            store(work, from, width);
        }
        for (int from = 0, l = 0; from < n; from += WIDTH, l++) {
            int width = n - from < WIDTH ? n - from : WIDTH;
            penalties then = now;
            if (b->done[l] == last) continue;
            for (int it = 0; it < b->done[l]; it++) then = later(settings, then);
            load(work, settings, theta, from, width);
            run_block(work, settings, from, width, then, b->done[l], last, last);
            store(work, from, width);
        }
        for (int it = 0; it < last; it++) {
            const double *row = b->history + 4 * (size_t) it;
            double largest = fmax(fmax(row[0], row[1]), row[2]);
            work->iterations++;
            ufs_trace_add(
                trace, (double[]){outer, work->iterations, now.mu, row[0], row[1], row[2], row[3]});
            ufs_hook_step(work->hook, work->iterations, row[3], largest);
            memcpy(work->residual, row, 3 * sizeof(double));
            /* False for NaN, which therefore never converges. */
            work->converged = largest < settings->tol;
            now = later(settings, now);
        }
    }
    work->mu = now.mu;
    b->mu1 = now.mu1;
    b->mu2 = now.mu2;
    la_transpose(work->p, work->n, b->e, work->e);
    la_transpose(work->p, work->n, b->y1, work->y1);
}

void topk_blocks_copies(const topk_represent *work, double *q, double *y2)
{
    const topk_blocks *b = work->blocks;
    size_t NN = (size_t) work->n * (size_t) work->n;

    la_gemm('T', 'N', work->n, work->n, work->p, 1.0, b->t, work->p, b->xt, work->p, 0.0, y2,
            work->n);
    for (size_t i = 0; i < NN; i++) {
        q[i] = work->z[i] + y2[i];
        y2[i] *= b->mu1;
    }
    la_gemm('T', 'N', work->n, work->n, work->p, -b->mu2 / b->mu1, b->t1, work->p, b->xt, work->p,
            1.0, q, work->n);
}

static penalties later(const topk_represent_settings *settings, penalties now)
{
    return (penalties){fmin(settings->growth * now.mu, settings->mu_max), now.mu, now.mu1};
}

static void load(topk_represent *work, const topk_represent_settings *settings, const double *theta,
                 int from, int width)
{
    topk_blocks *b = work->blocks;
    int n = work->n, p = work->p;
    size_t N = (size_t) n, P = (size_t) p, at = (size_t) from * P;

    for (size_t j = 0; j < N; j++)
        for (size_t a = 0; a < (size_t) width; a++) {
            size_t ij = (size_t) from + a + j * N;
            b->z[j + a * N] = work->z[ij];
            /* On the diagonal nothing is above the threshold. */
            b->w[j + a * N] = (size_t) from + a == j ? 1e300 : 1.0 + settings->lambda_z * theta[ij];
        }
    la_gemm('N', 'N', n, width, p, 1.0, work->x, n, b->t + at, p, 0.0, b->c, n);
    la_gemm('N', 'N', n, width, p, 1.0, work->x, n, b->t1 + at, p, 0.0, b->c1, n);
}

static void store(topk_represent *work, int from, int width)
{
    const topk_blocks *b = work->blocks;
    size_t N = (size_t) work->n;
    for (size_t j = 0; j < N; j++)
        for (size_t a = 0; a < (size_t) width; a++)
            work->z[(size_t) from + a + j * N] = b->z[j + a * N];
}

/* Iterations begin.. of the epoch, `now` being the penalties of the first of them, until at least
 * `least` are done and the residuals are small, or `most` are; returns how many are done. */
static int run_block(topk_represent *work, const topk_represent_settings *settings, int from,
                     int width, penalties now, int begin, int least, int most)
{
    topk_blocks *b = work->blocks;
    int n = work->n, p = work->p;
    size_t P = (size_t) p, at = (size_t) from * P;

    for (int it = begin; it < most; it++) {
        double *row = b->history + 4 * (size_t) it, own[3], *keep, largest;
        size_t non_zero = step_z(work, settings, width, now, own);

        row[3] += work->weighted;
        ufs_copy(b->t1 + at, b->t + at, P * (size_t) width);
        step_t(work, from, width, non_zero, now.mu);
        row[3] += settings->lambda_e * step_e(work, settings->lambda_e, from, width, now.mu, own);
        keep = b->c1;
        b->c1 = b->c;
        b->c = keep;
        la_gemm('N', 'N', n, width, p, 1.0, work->x, n, b->t + at, p, 0.0, b->c, n);
        own[1] = split(work, width, now.mu1 / now.mu);
        largest = fmax(fmax(own[0], own[1]), own[2]);
        for (int i = 0; i < 3; i++)
            if (!(own[i] <= row[i])) row[i] = own[i];
        now = later(settings, now);
        ufs_hook_step(NULL, 0, 0.0, 0.0);
        if (it + 1 >= least && largest < settings->tol) return it + 1;
    }
    return most;
}

/* Z; returns its number of non-zeros. */
static size_t step_z(topk_represent *work, const topk_represent_settings *settings, int width,
                     penalties now, double *row)
{
    topk_blocks *b = work->blocks;
    size_t len = (size_t) work->n * (size_t) width, count = 0;
    double inverse = 1.0 / now.mu, r = now.mu1 / now.mu, r1 = now.mu2 / now.mu1;
    double largest = 0.0, weighted = 0.0, least = settings->nonnegative ? 0.0 : R_NegInf;

    for (size_t i = 0; i < len; i++) {
        double a = b->z[i] + b->c[i] - r1 * b->c1[i] + r * b->c[i];
        double z = prox_soft(a, b->w[i] * inverse), diff;
        if (z < least) z = least;
        diff = fabs(z - b->z[i]);
        if (!(diff <= largest)) largest = diff;
        if (z != 0.0) {
            count++;
            weighted += b->w[i] * fabs(z);
        }
        b->z[i] = z;
    }
    row[2] = largest;
    work->weighted = weighted;
    return count;
}

/* T and Y2 x; Bm becomes Qx. */
static void step_t(topk_represent *work, int from, int width, size_t non_zero, double mu)
{
    topk_blocks *b = work->blocks;
    int n = work->n, p = work->p;
    size_t N = (size_t) n, P = (size_t) p, at = (size_t) from * P, len = P * (size_t) width;
    double scale = 1.0 / mu, *t = b->t + at, *y2x = b->y2x + at;

    if ((double) non_zero > SPARSE * (double) N * (double) width) {
        la_gemm('N', 'N', p, width, n, 1.0, b->xt, p, b->z, n, 0.0, b->zx, p);
    } else {
        memset(b->zx, 0, len * sizeof(double));
        for (size_t a = 0; a < (size_t) width; a++)
            for (size_t j = 0; j < N; j++)
                if (b->z[j + a * N] != 0.0)
                    la_axpy(p, b->z[j + a * N], b->xt + j * P, b->zx + a * P);
    }
    for (size_t i = 0; i < len; i++) {
        b->bm[i] = b->xt[at + i] - b->e[at + i] + b->y1[at + i] * scale;
        b->change[i] = b->bm[i] - b->zx[i] + y2x[i] * scale;
    }
    la_gemm('N', 'N', p, width, p, 1.0, work->inverse, p, b->change, p, 0.0, t, p);
    for (size_t i = 0; i < len; i++) {
        b->bm[i] -= t[i];
        y2x[i] = mu * (b->change[i] - t[i]);
    }
}

/* E, Y1 and the residual of x = Qx + E; returns ||E||_1. */
static double step_e(topk_represent *work, double lambda_e, int from, int width, double mu,
                     double *row)
{
    topk_blocks *b = work->blocks;
    size_t P = (size_t) work->p, at = (size_t) from * P, len = P * (size_t) width;
    double scale = 1.0 / mu, t = lambda_e * scale, top = 0.0, sum = 0.0;

    for (size_t i = 0; i < len; i++) {
        double v = b->xt[at + i] - b->bm[i] + b->y1[at + i] * scale, e = prox_soft(v, t), y, r;
        y = e > 0.0 ? lambda_e : (e < 0.0 ? -lambda_e : mu * v);
        r = fabs(y - b->y1[at + i]) * scale;
        if (!(r <= top)) top = r;
        sum += fabs(e);
        b->y1[at + i] = y;
        b->e[at + i] = e;
    }
    row[0] = top;
    return sum;
}

/* max |Q - Z|. */
static double split(const topk_represent *work, int width, double ratio)
{
    const topk_blocks *b = work->blocks;
    size_t len = (size_t) work->n * (size_t) width;
    double top = 0.0;
    for (size_t i = 0; i < len; i++) {
        double d = fabs(b->c[i] - ratio * b->c1[i]);
        if (!(d <= top)) top = d;
    }
    return top;
}
