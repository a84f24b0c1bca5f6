/* topk_admm.c: sub-problem 1 of top-k selection,
 *   min ||Z||_1 + lambda_e ||E||_1 + lambda_z ||Z o Theta||_1
 *   s.t. x = Z x + E, diag(Z) = 0 (and Z >= 0 if asked),   x n x p, Z n x n, E n x p,
 * by ADMM with the splitting Q = Z, on two schedules (w = 1 + lambda_z Theta, Y the multiplier of
 * x = Qx + E, Y2 that of Q = Z).
 *
 * The paper's (its Algorithm 1 with signs and thresholds corrected, transposed as topk.h
 * says), anew in every outer iteration:
 *   Z  = S_{w/mu}(Q + Y2/mu), diag(Z) = 0
 *   Q  = (Bx' + H)(xx' + I)^{-1},  B = x - E + Y/mu,  H = Z - Y2/mu
 *   E  = S_{lambda_e/mu}(x - Qx + Y/mu)
 *   Y += mu (x - Qx - E),  Y2 += mu (Q - Z) = mu (B - Qx) x',  mu = min(growth mu, MU_MAX).
 *
 * The running one. Half of the paper's 140 or so iterations only bring the penalty to where it
 * starts to matter. Here one run is spread over the outer iterations:
 *   - the penalty stays at START for FIRST iterations, which bring the multipliers near their
 *     optimum, and then grows by GROWTH from iteration to iteration, across calls, which brings
 *     Zx to x; both steps are over-relaxed by RELAX;
 *   - the first call ends after those FIRST iterations: its weights are all the same, and the
 *     labels it is for need no more;
 *   - later calls put the penalty back by the relative change of the objective that the new
 *     weights made, so that a change of a few labels takes a few iterations.
 * Y is renewed before E, and so Y2 = Y x' all the time (the certificate's equation):
 *   Z = S_{w/mu}(Q + Y x'/mu), diag(Z) = 0,   Z^ = RELAX Z + (1 - RELAX) Q
 *   Q = (B x' + H)(xx' + I)^{-1},   H = Z^ - Y x'/mu
 *   Y = mu (B - Qx),   Y x' = mu (Q - H);   mu grows
 *   E = S_{lambda_e/mu}(x - Qx + Y/mu),   E^ = RELAX E + (1 - RELAX)(x - Qx)
 *   B = x - E^ + Y/mu.
 *
 * Either way Q is found in one of two forms (the paper's: RELAX = 1): as above, by samples,
 * or for p < n by features: as Q - H = T x',
 *   T = (B - Hx)(x'x + I)^{-1},   Qx = B - T,   Q = H + T x',
 * and Y2 x, which Hx needs, is mu (B - Hx - T) by then.
 *
 * Rows of Z do not depend on each other: in the running schedule blocks of samples go through a
 * call one by one, each until its own residuals are small, and at the end E = x - Zx. The paper's
 * residuals are those of all samples: one block. An iteration of all: 4n^2 p + 2n^3 by samples,
 * 2n^2 p (T x') + 2p nnz(Z) + 2np^2 by features; some 130 in every outer iteration, or 60 in all of
 * them. Memory: n x p (xt, y: 2), the inverse, and for a block 5 n and 4 p (by features 6 p) per
 * sample. */
#include "topk_z.h"

/* The running schedule: where it stops and when; varied on nine real sets and simulated ones, 500 x
 * 60 and 120 x 300 among them (OpenBLAS). START 20 ends at an objective higher by .1 % in the same
 * time; GROWTH 1.2 lower by .2 % in a quarter more time, 1.5 higher by .4 %; RELAX 1.6 within .5 %
 * in the same time, RELAX 1 higher by 1.7 %. */
static const double START = 15.0, GROWTH = 1.3, RELAX = 1.9;
/* 10 ends at an objective higher by 1 %, 40 at one lower by .6 % with a quarter more iterations. */
enum { FIRST = 20 };
/* Where the paper's penalty stops growing, or it would overflow after 7,450 iterations. */
static const double MU_MAX = 1e8;
/* Weight of the diagonal: nothing is above this threshold. */
static const double NEVER = 1e300;

typedef struct topk_admm_block {
    int from, width;
    double *z, *q, *h, *w;   /* n x width: Z', Q', x Y2' (H' within the Q step), weights */
    double *product;         /* n x width: B x' + H, or T x' */
    double *t, *e, *zx, *qx; /* p x width: B', E', (Zx)' or scratch, (Qx)' */
    double *d, *y2x;         /* by features: (B - Hx)', (Y2 x)', p x width */
    double *x, *y;           /* the block's columns of x' and of Y' */
    double weighted, error;  /* sum(w |Z|), ||E||_1 */
    double residual[3];      /* max|x - Qx - E|, max|Q - Z|, change of Z */
} admm_block;

/* ---- blocks of samples --------------------------------------------------------------------- */

/* Zx, Z having few non-zeros; by strips of columns of x' that stay in the cache. */
static void times_x(topk_admm *work)
{
    admm_block *b = work->block;
    size_t N = (size_t) work->n, P = (size_t) work->p, W = (size_t) b->width;

    memset(b->zx, 0, P * W * sizeof(double));
    for (size_t from = 0; from < N; from += UFS_STRIP) {
        size_t to = from + UFS_STRIP < N ? from + UFS_STRIP : N;
        for (size_t i = 0; i < W; i++)
            for (size_t j = from; j < to; j++)
                if (b->z[j + i * N] != 0.0)
                    la_axpy(work->p, b->z[j + i * N], work->xt + j * P, b->zx + i * P);
    }
}

/* NaN is kept. */
static void raise_to(double *top, double value)
{
    if (!(value <= *top)) *top = value;
}

/* E, Y and the next B; the paper's Y comes after its E. */
static void step_e(topk_admm *work, const topk_z_settings *settings, double mu, double next)
{
    admm_block *b = work->block;
    size_t len = (size_t) work->p * (size_t) b->width;
    double at = work->paper ? mu : next, top = 0.0, sum = 0.0;

    for (size_t i = 0; i < len; i++) {
        double gap = b->x[i] - b->qx[i], v, c;
        if (!work->paper) {
            raise_to(&top, fabs(gap - b->e[i]));
            b->y[i] = mu * (b->t[i] - b->qx[i]);
        }
        v = at * gap + b->y[i];
        c = prox_clip(v, settings->lambda_e);
        b->e[i] = (v - c) / at;
        sum += fabs(b->e[i]);
        if (work->paper) {
            raise_to(&top, fabs(c - b->y[i]) / mu);
            b->y[i] = c;
            b->t[i] = b->x[i] - b->e[i] + c / next;
        } else {
            b->t[i] = b->qx[i] + (work->relax * c + (1.0 - work->relax) * b->y[i]) / next;
        }
    }
    b->error = sum;
    b->residual[0] = top;
}

/* Samples from.., Q = Z and the weights; Z and Y are what they were, or zero. E and B follow. */
static void load(topk_admm *work, const topk_z_settings *settings, const topk_theta *theta,
                 int from, double mu)
{
    admm_block *b = work->block;
    int n = work->n, p = work->p, width = n - from < work->width ? n - from : work->width;
    size_t N = (size_t) n, P = (size_t) p, W = (size_t) width, at = (size_t) from;

    b->from = from;
    b->width = width;
    b->x = work->xt + at * P;
    b->y = work->y + at * P;
    for (size_t j = 0; j < N; j++)
        for (size_t a = 0; a < W; a++) {
            double w = 1.0 + settings->lambda_z * topk_theta_at(theta, at + a, j);
            b->z[j + a * N] = b->q[j + a * N] = work->z[at + a + j * N];
            b->w[j + a * N] = at + a == j ? NEVER : w;
        }
    la_gemm_checked('N', 'N', n, width, p, 1.0, work->x, n, b->y, p, 0.0, b->h, n);
    times_x(work);
    ufs_copy(b->qx, b->zx, P * W);
    if (!work->by_samples)
        la_gemm_checked('T', 'N', p, width, n, 1.0, work->x, n, b->h, n, 0.0, b->y2x, p);
    memset(b->e, 0, P * W * sizeof(double));
    for (size_t i = 0; i < P * W; i++) b->t[i] = work->paper ? b->x[i] : b->qx[i] + b->y[i] / mu;
    if (!work->paper) step_e(work, settings, mu, mu);
}

/* Z and E = x - Zx, whose l1 norm is returned; the paper's E only comes near it. */
static double store(topk_admm *work)
{
    admm_block *b = work->block;
    size_t N = (size_t) work->n, P = (size_t) work->p, W = (size_t) b->width, at = (size_t) b->from;
    double error = 0.0;

    times_x(work);
    for (size_t j = 0; j < N; j++)
        for (size_t a = 0; a < W; a++) work->z[at + a + j * N] = b->z[j + a * N];
    for (size_t k = 0; k < P; k++)
        for (size_t a = 0; a < W; a++) {
            double e = b->x[k + a * P] - b->zx[k + a * P];
            work->e[at + a + k * N] = work->paper ? b->e[k + a * P] : e;
            error += fabs(e);
        }
    return error;
}

/* ---- one iteration ------------------------------------------------------------------------- */

static void step_z(topk_admm *work, const topk_z_settings *settings, double mu)
{
    admm_block *b = work->block;
    size_t len = (size_t) work->n * (size_t) b->width;
    double scale = 1.0 / mu, top = 0.0, sum = 0.0, least = settings->nonnegative ? 0.0 : R_NegInf;

    for (size_t i = 0; i < len; i++) {
        double z = prox_soft(b->q[i] + b->h[i] * scale, b->w[i] * scale);
        z = z < least ? least : z;
        raise_to(&top, fabs(z - b->z[i]));
        sum += b->w[i] * fabs(z);
        b->z[i] = z;
    }
    b->weighted = sum;
    b->residual[2] = top;
}

/* Q, Qx and Y2. */
static void step_q_by_samples(topk_admm *work, double mu)
{
    admm_block *b = work->block;
    int n = work->n, p = work->p, width = b->width;
    size_t len = (size_t) n * (size_t) width;
    double scale = 1.0 / mu, top = 0.0, relax = work->relax;

    for (size_t i = 0; i < len; i++)
        b->product[i] = b->h[i] = relax * b->z[i] + (1.0 - relax) * b->q[i] - b->h[i] * scale;
    la_gemm_checked('N', 'N', n, width, p, 1.0, work->x, n, b->t, p, 1.0, b->product, n);
    la_gemm_checked('N', 'N', n, width, n, 1.0, work->inverse, n, b->product, n, 0.0, b->q, n);
    for (size_t i = 0; i < len; i++) {
        raise_to(&top, fabs(b->q[i] - b->z[i]));
        b->h[i] = mu * (b->q[i] - b->h[i]);
    }
    b->residual[1] = top;
    la_gemm_checked('T', 'N', p, width, n, 1.0, work->x, n, b->q, n, 0.0, b->qx, p);
}

static void step_q_by_features(topk_admm *work, double mu)
{
    admm_block *b = work->block;
    int n = work->n, p = work->p;
    size_t wide = (size_t) p * (size_t) b->width, len = (size_t) n * (size_t) b->width;
    double scale = 1.0 / mu, top = 0.0, relax = work->relax;

    times_x(work);
    for (size_t i = 0; i < wide; i++)
        b->d[i] = b->t[i] - (relax * b->zx[i] + (1.0 - relax) * b->qx[i]) + b->y2x[i] * scale;
    la_gemm_checked('N', 'N', p, b->width, p, 1.0, work->inverse, p, b->d, p, 0.0, b->zx, p);
    for (size_t i = 0; i < wide; i++) {
        b->qx[i] = b->t[i] - b->zx[i];
        b->y2x[i] = mu * (b->d[i] - b->zx[i]);
    }
    la_gemm_checked('N', 'N', n, b->width, p, 1.0, work->x, n, b->zx, p, 0.0, b->product, n);
    for (size_t i = 0; i < len; i++) {
        b->q[i] = relax * b->z[i] + (1.0 - relax) * b->q[i] - b->h[i] * scale + b->product[i];
        b->h[i] = mu * b->product[i];
        raise_to(&top, fabs(b->q[i] - b->z[i]));
    }
    b->residual[1] = top;
}

/* next: the penalty of the next iteration. Returns the largest residual. */
static double iterate(topk_admm *work, const topk_z_settings *settings, double mu, double next)
{
    double largest = 0.0;

    step_z(work, settings, mu);
    if (work->by_samples)
        step_q_by_samples(work, mu);
    else
        step_q_by_features(work, mu);
    step_e(work, settings, mu, next);
    for (int i = 0; i < 3; i++) raise_to(&largest, work->block->residual[i]);
    return largest;
}

/* ---- the whole --------------------------------------------------------------------------- */

double topk_z_objective(const topk_z_settings *settings, const topk_theta *theta, const double *z,
                        int p, const double *e)
{
    size_t n = (size_t) theta->n;
    double sum = 0.0;

    for (size_t i = 0; i < n * (size_t) p; i++) sum += settings->lambda_e * fabs(e[i]);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            if (z[i + j * n] != 0.0)
                sum += (1.0 + settings->lambda_z * topk_theta_at(theta, i, j)) * fabs(z[i + j * n]);
    return sum;
}

double topk_z_bound(const topk_z_settings *settings, const topk_theta *theta, int i, int p,
                    const double *xi, const double *y, const double *reach)
{
    double over = 1.0, inner = la_dot(p, y, xi);

    for (int j = 0; j < theta->n; j++) {
        double c = settings->nonnegative ? reach[j] : fabs(reach[j]);
        if (j == i) continue;
        over = fmax(over,
                    c / (1.0 + settings->lambda_z * topk_theta_at(theta, (size_t) i, (size_t) j)));
    }
    for (int k = 0; k < p; k++) over = fmax(over, fabs(y[k]) / settings->lambda_e);
    return R_FINITE(over) && R_FINITE(inner) ? fmax(inner / over, 0.0) : 0.0;
}

void topk_links(int n, const double *z, double *w)
{
    size_t N = (size_t) n;
    for (size_t j = 0; j < N; j++)
        for (size_t i = 0; i <= j; i++)
            w[i + j * N] = w[j + i * N] = 0.5 * (fabs(z[i + j * N]) + fabs(z[j + i * N]));
}

int topk_admm_init(topk_admm *work, const ufs_paths *paths)
{
    int n = work->n, p = work->p, r, lapack;
    size_t N = (size_t) n, P = (size_t) p, R, W;
    admm_block *b = (admm_block *) R_alloc(1, sizeof(admm_block));

    work->by_samples = p >= n || !paths->topk_by_features;
    r = work->by_samples ? n : p;
    R = (size_t) r;
    work->y = ufs_dzero(P, N);
    work->block = b;
    work->relax = work->paper ? 1.0 : RELAX;
    work->width = work->paper || n < UFS_STRIP ? n : UFS_STRIP;
    work->inverse = ufs_dalloc(R, R);
    W = (size_t) work->width;
    ufs_dalloc_each(N, W, (double **[]){&b->z, &b->q, &b->h, &b->w, &b->product, NULL});
    ufs_dalloc_each(P, W, (double **[]){&b->t, &b->e, &b->zx, &b->qx, NULL});
    if (!work->by_samples) ufs_dalloc_each(P, W, (double **[]){&b->d, &b->y2x, NULL});
    memset(work->z, 0, N * N * sizeof(double));
    la_gram(work->by_samples ? 'N' : 'T', n, p, work->x, work->inverse);
    /* Safe: rows of x have unit length, so the condition is at most n + 1. */
    for (size_t k = 0; k < R; k++) work->inverse[k * (R + 1)] += 1.0;
    lapack = la_chol_checked(r, work->inverse);
    return lapack ? lapack : la_chol_inverse(r, work->inverse);
}

void topk_admm_paper(topk_admm *work, const topk_z_settings *settings, const topk_theta *theta,
                     int outer, ufs_trace *trace, const ufs_hook *hook)
{
    size_t N = (size_t) work->n;
    admm_block *b = work->block;
    topk_z_state *state = &work->state;
    double mu = settings->mu;

    memset(work->z, 0, N * N * sizeof(double));
    memset(work->y, 0, N * (size_t) work->p * sizeof(double));
    la_transpose(work->n, work->p, work->x, work->xt);
    load(work, settings, theta, 0, mu);
    state->solved = false;
    for (state->iterations = 0; state->iterations < settings->max_iter && !state->solved;) {
        double value, next = fmin(settings->growth * mu, MU_MAX);

        state->residual = iterate(work, settings, mu, next);
        value = b->weighted + settings->lambda_e * b->error;
        state->iterations++;
        ufs_trace_add(trace, (double[]){outer, state->iterations, mu, b->residual[0],
                                        b->residual[1], b->residual[2], value});
        ufs_hook_step(hook, state->iterations, value, state->residual);
        state->solved = state->residual < settings->tol;
        mu = next;
    }
    state->objective = b->weighted + settings->lambda_e * store(work);
}

void topk_admm_go_on(topk_admm *work, const topk_z_settings *settings, const topk_theta *theta,
                     double change, bool coarse)
{
    topk_z_state *state = &work->state;
    int most = settings->max_iter, flat = work->mu > 0.0 ? 0 : FIRST;
    double mu = fmax(START, work->mu * fmin(1.0, settings->tol / change)), end = R_PosInf;

    state->iterations = 0;
    if (!state->solved || change > settings->tol) {
        if (coarse && most > FIRST) most = FIRST;
        state->residual = 0.0;
        la_transpose(work->n, work->p, work->x, work->xt);
        for (int from = 0; from < work->n; from += work->width) {
            double now = mu;
            int done = 0;
            load(work, settings, theta, from, mu);
            for (bool small = false; done < most && !small;) {
                double next = ++done > flat ? GROWTH * now : now;
                double largest = iterate(work, settings, now, next);
                now = next;
                /* False for NaN, which therefore never converges. */
                small = done > flat && largest < settings->tol;
            }
            store(work);
            if (done > state->iterations) state->iterations = done;
            end = fmin(end, now);
            for (int i = 0; i < 3; i++) raise_to(&state->residual, work->block->residual[i]);
            ufs_hook_step(NULL, 0, 0.0, 0.0);
        }
        work->mu = end;
        state->solved = !coarse && state->residual < settings->tol;
    }
    state->objective = topk_z_objective(settings, theta, work->z, work->p, work->e);
}

double topk_admm_gap(const topk_admm *work, const topk_z_settings *settings,
                     const topk_theta *theta)
{
    int n = work->n, p = work->p;
    double *reach = ufs_dalloc((size_t) n, 1), lower = 0.0;

    for (int i = 0; i < n; i++) {
        size_t at = (size_t) i * (size_t) p;
        R_CheckUserInterrupt();
        la_gemv('N', n, p, 1.0, work->x, n, work->y + at, 0.0, reach);
        lower += topk_z_bound(settings, theta, i, p, work->xt + at, work->y + at, reach);
    }
    return work->state.objective > 0.0
               ? fmax(work->state.objective - lower, 0.0) / work->state.objective
               : 0.0;
}
