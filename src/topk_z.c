/* topk_z.c: sub-problem 1 of top-k selection,
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
#include "eig.h"

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
        } else
            b->t[i] = b->qx[i] + (work->relax * c + (1.0 - work->relax) * b->y[i]) / next;
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
    la_mul('N', 'N', n, width, p, 1.0, work->x, b->y, 0.0, b->h);
    times_x(work);
    ufs_copy(b->qx, b->zx, P * W);
    if (!work->by_samples) la_mul('T', 'N', p, width, n, 1.0, work->x, b->h, 0.0, b->y2x);
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
    la_mul('N', 'N', n, width, p, 1.0, work->x, b->t, 1.0, b->product);
    la_mul('N', 'N', n, width, n, 1.0, work->inverse, b->product, 0.0, b->q);
    for (size_t i = 0; i < len; i++) {
        raise_to(&top, fabs(b->q[i] - b->z[i]));
        b->h[i] = mu * (b->q[i] - b->h[i]);
    }
    b->residual[1] = top;
    la_mul('T', 'N', p, width, n, 1.0, work->x, b->q, 0.0, b->qx);
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
    la_mul('N', 'N', p, b->width, p, 1.0, work->inverse, b->d, 0.0, b->zx);
    for (size_t i = 0; i < wide; i++) {
        b->qx[i] = b->t[i] - b->zx[i];
        b->y2x[i] = mu * (b->d[i] - b->zx[i]);
    }
    la_mul('N', 'N', n, b->width, p, 1.0, work->x, b->zx, 0.0, b->product);
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

/* sum((1 + lambda_z Theta) |Z|) + lambda_e ||E||_1, E n x p. */
static double topk_z_objective(const topk_z_settings *settings, const topk_theta *theta,
                               const double *z, int p, const double *e)
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

/* A lower bound on the part of sample i in that: of the dual, max y'x_i, |y| <= lambda_e,
 * |x_j'y| <= w_j, at the multiplier y (p), made feasible by a factor. reach: x y. */
static double topk_z_bound(const topk_z_settings *settings, const topk_theta *theta, int i, int p,
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
    double *reach = ufs_dalloc((size_t) n, 1), *y = ufs_dalloc((size_t) p, 1), lower = 0.0;

    for (int i = 0; i < n; i++) {
        size_t at = (size_t) i * (size_t) p;
        R_CheckUserInterrupt();
        /* A multiplier of over-relaxed steps may be beyond lambda_e. */
        for (int k = 0; k < p; k++) y[k] = prox_clip(work->y[at + (size_t) k], settings->lambda_e);
        la_gemv('N', n, p, 1.0, work->x, n, y, 0.0, reach);
        lower += topk_z_bound(settings, theta, i, p, work->xt + at, y, reach);
    }
    return work->state.objective > 0.0
               ? fmax(work->state.objective - lower, 0.0) / work->state.objective
               : 0.0;
}

/* ---- linear programmes ----------------------------------------------------------------------- */

/* Sub-problem 1 as n linear programmes,
 *   min over z, z_i = 0, of lambda_e ||x_i - z x||_1 + sum_j w_j |z_j|,  w = 1 + lambda_z Theta_i.
 * (and z >= 0 if asked), each to its optimum. Its dual is max y'x_i, |y| <= lambda_e,
 * |x_j'y| <= w_j.
 *
 * A vertex has a samples S with z_j free and as many features T with e_k = 0, e = x_i - z x:
 * z_S x_ST = x_iT, and y is lambda_e sign(e) off T, with x_SF y = w_S sign(z_S). It is optimal
 * if |y_T| <= lambda_e and |c_j| <= w_j off S for c = x y. If not, one of these constraints leads
 * to an edge of the polyhedron, along which the value falls; the step does not stop at the first
 * kink but goes on as long as the slope is negative, in one sweep over the kinks (Barrodale and
 * Roberts 1973 for least absolute deviations). The inverse of x_ST is updated by rank 1 and made
 * anew every REFRESH pivots. Ties are broken by adding distinct numbers of UFS_TIE to x_i, so no
 * vertex is met twice.
 *
 * One pivot: 2a (n + p + 2a) flops. From no link, 3a to 6a pivots per sample; later calls start
 * at the last optimum, where new weights leave few pivots to do: 2np + 2a^3 per sample. Memory:
 * the transpose of x, the bases (2 min(n, p) n integers), two a x a, a (n + p). */
/* Pivots between two inverses made anew, before rank-1 updates have lost too many digits; so is
 * that of every optimum, so that this decides about time alone. */
enum { REFRESH = 40 };

typedef struct {
    double at; /* where the slope rises */
    int what;  /* feature k, or p + position in S */
} kink;

typedef struct topk_lp_row {
    int i, a;             /* the sample; the size of its basis */
    int *s, *t;           /* a each */
    int *in_set;          /* n: 1 + position in S, or 0 */
    double *inverse;      /* a x a with leading dimension `most`: rows T, columns S */
    double *z, *dz, *out; /* a: z_S, its direction; scratch of most */
    double *g;            /* most */
    double *sign_z;       /* a */
    double *side;         /* p: sign(e), 0 in T */
    double *b, *e, *de, *y, *c, *weight; /* p: x_i nudged, ...; n: c, w */
    double *nudge;                       /* p */
    kink *kinks;                         /* p + most */
    double *square;                      /* a x a */
    double *xs, *xf;                     /* p x most, n x most: x' at S, x at T */
    int *pivot;
    int since; /* pivots since the last refresh */
} lp_row;

void topk_lp_init(topk_lp *work, int n, int p, const double *x, double *z, double *e, double *xt)
{
    size_t N = (size_t) n, P = (size_t) p, M = N < P ? N : P;
    lp_row *row = (lp_row *) R_alloc(1, sizeof(lp_row));

    *work = (topk_lp){
        .n = n, .p = p, .most = (int) M, .x = x, .z = z, .e = e, .xt = xt, .row = row};
    work->most_pivots = 1000 + 20 * work->most;
    ufs_ialloc_each(N, (int **[]){&work->size, &row->in_set, NULL});
    ufs_ialloc_each(M * N, (int **[]){&work->sample, &work->feature, NULL});
    ufs_dalloc_each(M, 1, (double **[]){&row->z, &row->dz, &row->out, &row->g, &row->sign_z, NULL});
    ufs_dalloc_each(
        P, 1, (double **[]){&row->b, &row->e, &row->de, &row->y, &row->nudge, &row->side, NULL});
    ufs_dalloc_each(N, 1, (double **[]){&row->c, &row->weight, NULL});
    ufs_dalloc_each(M, M, (double **[]){&row->inverse, &row->square, NULL});
    row->xs = ufs_dalloc(P, M);
    row->xf = ufs_dalloc(N, M);
    row->pivot = ufs_ialloc(M);
    row->kinks = (kink *) R_alloc(P + M, sizeof(kink));
    krylov_noise(p, 0, row->nudge);
    for (size_t k = 0; k < P; k++) row->nudge[k] = UFS_TIE * (1.0 + 0.5 * row->nudge[k]);
}

static void row_begin(topk_lp *work, const topk_z_settings *settings, const topk_theta *theta,
                      int i)
{
    lp_row *row = work->row;
    size_t N = (size_t) work->n, P = (size_t) work->p, M = (size_t) work->most, I = (size_t) i;

    row->i = i;
    row->a = work->size[i];
    row->s = work->sample + I * M;
    row->t = work->feature + I * M;
    for (size_t j = 0; j < N; j++) {
        row->weight[j] = 1.0 + settings->lambda_z * topk_theta_at(theta, I, j);
        row->in_set[j] = 0;
    }
    for (int u = 0; u < row->a; u++) row->in_set[row->s[u]] = u + 1;
    for (size_t k = 0; k < P; k++) {
        row->b[k] = work->xt[k + I * P] + row->nudge[k];
        row->side[k] = 0;
    }
    for (size_t j = 0; j < N; j++) work->z[I + j * N] = 0.0;
}

static void set_sample(topk_lp *work, int u, int j)
{
    size_t P = (size_t) work->p;
    work->row->s[u] = j;
    ufs_copy(work->row->xs + (size_t) u * P, work->xt + (size_t) j * P, P);
}

static void set_feature(topk_lp *work, int q, int k)
{
    size_t N = (size_t) work->n;
    work->row->t[q] = k;
    ufs_copy(work->row->xf + (size_t) q * N, work->x + (size_t) k * N, N);
}

/* The two call each other. */
static void row_refresh(topk_lp *work, double lambda_e);

/* z = 0. */
static void row_empty(topk_lp *work, double lambda_e)
{
    lp_row *row = work->row;
    for (int u = 0; u < row->a; u++) row->in_set[row->s[u]] = 0;
    row->a = 0;
    row_refresh(work, lambda_e);
}

/* y_T such that c_S = w_S sign(z_S), by what is missing; c follows. */
static void update_dual(topk_lp *work)
{
    lp_row *row = work->row;
    int a = row->a;

    for (int u = 0; u < a; u++) {
        int j = row->s[u];
        row->out[u] = row->sign_z[u] * row->weight[j] - row->c[j];
    }
    la_gemv('N', a, a, 1.0, row->inverse, work->most, row->out, 0.0, row->g);
    for (int q = 0; q < a; q++) row->y[row->t[q]] += row->g[q];
    la_gemv('N', work->n, a, 1.0, row->xf, work->n, row->g, 1.0, row->c);
}

/* The inverse, the columns of S and T, z, e and the dual anew from S and T; from none if x_ST is singular. */
static void row_refresh(topk_lp *work, double lambda_e)
{
    lp_row *row = work->row;
    int a = row->a, p = work->p;
    size_t A = (size_t) a, P = (size_t) p, M = (size_t) work->most;

    row->since = 0;
    for (size_t u = 0; u < A; u++)
        for (size_t q = 0; q < A; q++)
            row->square[u + q * A] = work->xt[(size_t) row->t[q] + (size_t) row->s[u] * P];
    if (a > 0 && (la_lu_inverse(a, row->square, row->pivot, row->out, work->most) ||
                  !la_finite(A * A, row->square))) {
        row_empty(work, lambda_e);
        return;
    }
    for (size_t u = 0; u < A; u++) ufs_copy(row->inverse + u * M, row->square + u * A, A);

    for (size_t u = 0; u < A; u++) {
        double z = 0.0;
        for (size_t q = 0; q < A; q++) z += row->b[row->t[q]] * row->inverse[q + u * M];
        row->z[u] = z;
        row->sign_z[u] = z < 0.0 ? -1 : 1;
    }
    for (int u = 0; u < a; u++) {
        set_sample(work, u, row->s[u]);
        set_feature(work, u, row->t[u]);
    }
    ufs_copy(row->e, row->b, P);
    la_gemv('N', p, a, -1.0, row->xs, p, row->z, 1.0, row->e);
    for (size_t k = 0; k < P; k++)
        if (row->e[k] != 0.0 || row->side[k] == 0) row->side[k] = row->e[k] < 0.0 ? -1 : 1;
    for (size_t q = 0; q < A; q++) {
        row->e[row->t[q]] = 0.0;
        row->side[row->t[q]] = 0;
    }
    for (size_t k = 0; k < P; k++) row->y[k] = lambda_e * row->side[k];
    la_gemv('N', work->n, p, 1.0, work->x, work->n, row->y, 0.0, row->c);
    update_dual(work);
}

/* The largest violation of a constraint, relative to its bound; and which one to release, a sample
 * to enter S or a position of T to leave it: the largest slope over the root of the length of the
 * edge (1 for a sample), the first of equals. By the violation alone, or by slope over length,
 * wide tables in clusters take two to four times the pivots. */
static double price(topk_lp *work, const topk_z_settings *settings, int *enter, int *leave)
{
    const lp_row *row = work->row;
    size_t A = (size_t) row->a, M = (size_t) work->most;
    double worst = 0.0, best = 0.0;

    for (int j = 0; j < work->n; j++) {
        double slope = (settings->nonnegative ? row->c[j] : fabs(row->c[j])) - row->weight[j];
        if (slope <= 0.0 || row->in_set[j] || j == row->i) continue;
        worst = fmax(worst, slope / row->weight[j]);
        if (slope > best) {
            best = slope;
            *enter = j;
        }
    }
    for (int q = 0; q < row->a; q++) {
        double slope = fabs(row->y[row->t[q]]) - settings->lambda_e, length = 0.0;
        if (slope <= 0.0) continue;
        worst = fmax(worst, slope / settings->lambda_e);
        for (size_t u = 0; u < A; u++) {
            double entry = row->inverse[(size_t) q + u * M];
            length += entry * entry;
        }
        slope /= sqrt(sqrt(length));
        if (slope > best) {
            best = slope;
            *leave = q;
            *enter = -1;
        }
    }
    return worst;
}

/* Direction of e for dz (and sample j moving by sign). */
static void direction(topk_lp *work, int j, double sign)
{
    lp_row *row = work->row;
    size_t P = (size_t) work->p;
    memset(row->de, 0, P * sizeof(double));
    la_gemv('N', work->p, row->a, -1.0, row->xs, work->p, row->dz, 1.0, row->de);
    if (j >= 0) la_axpy(work->p, -sign, work->xt + (size_t) j * P, row->de);
}

/* y_k += by; c = X y follows. */
static void add_to_y(topk_lp *work, int k, double by)
{
    lp_row *row = work->row;
    row->y[k] += by;
    la_axpy(work->n, by, work->x + (size_t) k * (size_t) work->n, row->c);
}

/* Goes along (dz, de) as long as the slope is negative: moves z and e, turns the residuals and
 * signs that were passed, and returns the kink where it stopped (-1 if there is none). */
static int walk(topk_lp *work, const topk_z_settings *settings, double slope, double *length)
{
    lp_row *row = work->row;
    kink *kinks = row->kinks;
    int size = 0, p = work->p, last = -1;

    /* Half of the features are on the way, in no order that a branch could foresee. */
    for (int k = 0; k < p; k++) {
        kinks[size] = (kink){fabs(row->e[k] / row->de[k]), k};
        size += row->side[k] * row->de[k] < -UFS_ROUNDING;
    }
    for (int u = 0; u < row->a; u++)
        if (row->sign_z[u] * row->dz[u] < -UFS_ROUNDING)
            kinks[size++] = (kink){fabs(row->z[u] / row->dz[u]), p + u};
    while (size > 0 && last < 0) {
        kink *first = kinks, next;
        int k, u;

        /* The first one is taken out; few are passed. */
        for (kink *at = kinks + 1; at < kinks + size; at++)
            if (at->at < first->at || (at->at == first->at && at->what < first->what)) first = at;
        next = *first;
        *first = kinks[--size];
        k = next.what;
        u = k - p;
        if (k < p)
            slope += 2.0 * settings->lambda_e * fabs(row->de[k]);
        else
            slope += settings->nonnegative ? R_PosInf
                                           : 2.0 * row->weight[row->s[u]] * fabs(row->dz[u]);
        if (slope >= 0.0) {
            last = k;
            *length = next.at;
        } else if (k < p) {
            row->side[k] = -row->side[k];
            add_to_y(work, k, 2.0 * settings->lambda_e * row->side[k]);
        } else
            row->sign_z[u] = -row->sign_z[u];
    }
    if (last < 0) return -1;
    for (int u = 0; u < row->a; u++) row->z[u] += *length * row->dz[u];
    la_axpy(p, *length, row->de, row->e);
    for (int q = 0; q < row->a; q++) row->e[row->t[q]] = 0.0;
    if (last < p) row->e[last] = 0.0;
    return last;
}

/* A sample in the place of position u; r = its x_T times the inverse. */
static bool swap_sample(lp_row *row, size_t most, int u, const double *r)
{
    double *pivot = row->inverse + (size_t) u * most;

    if (fabs(r[u]) < UFS_TIE) return false;
    for (int q = 0; q < row->a; q++) pivot[q] /= r[u];
    for (int v = 0; v < row->a; v++)
        if (v != u) la_axpy(row->a, -r[v], pivot, row->inverse + (size_t) v * most);
    return true;
}

/* A feature in the place of position q; h = the inverse times its x_S. */
static bool swap_feature(lp_row *row, size_t most, int q, const double *h)
{
    if (fabs(h[q]) < UFS_TIE) return false;
    for (int u = 0; u < row->a; u++) {
        double *to = row->inverse + (size_t) u * most, pivot = to[q] / h[q];
        la_axpy(row->a, -pivot, h, to);
        to[q] = pivot;
    }
    return true;
}

/* Feature l at position q of T. */
static bool take_feature(topk_lp *work, int q, int l)
{
    lp_row *row = work->row;
    size_t M = (size_t) work->most, P = (size_t) work->p;

    for (int u = 0; u < row->a; u++) row->out[u] = work->xt[(size_t) l + (size_t) row->s[u] * P];
    la_gemv('N', row->a, row->a, 1.0, row->inverse, work->most, row->out, 0.0, row->g);
    if (!swap_feature(row, M, q, row->g)) return false;
    set_feature(work, q, l);
    row->side[l] = 0.0;
    return true;
}

/* Sample j and feature k join: first with a unit vector for the feature. */
static bool grow(topk_lp *work, int j, int k, double *r)
{
    lp_row *row = work->row;
    size_t M = (size_t) work->most, A = (size_t) row->a;

    for (size_t u = 0; u < A; u++) row->inverse[A + u * M] = row->inverse[u + A * M] = 0.0;
    row->inverse[A + A * M] = r[A] = 1.0;
    row->s[row->a++] = j;
    swap_sample(row, M, row->a - 1, r);
    if (take_feature(work, row->a - 1, k)) return true;
    row->a--;
    return false;
}

/* Sample j leaves zero: e_T stays zero. */
static bool step_enter(topk_lp *work, const topk_z_settings *settings, int j)
{
    lp_row *row = work->row;
    int a = row->a, at, what;
    size_t P = (size_t) work->p;
    double sign = row->c[j] > 0.0 ? 1.0 : -1.0, slope, length, *r = row->out;

    for (int q = 0; q < a; q++) row->g[q] = work->xt[(size_t) row->t[q] + (size_t) j * P];
    if (a > 0) la_gemv('T', a, a, 1.0, row->inverse, work->most, row->g, 0.0, r);
    for (int u = 0; u < a; u++) row->dz[u] = -sign * r[u];
    direction(work, j, sign);
    slope = row->weight[j] - fabs(row->c[j]);
    what = walk(work, settings, slope, &length);
    if (what < 0) return false;
    at = what < work->p ? a : what - work->p;
    if (what < work->p ? a == work->most || !grow(work, j, what, r)
                       : !swap_sample(row, (size_t) work->most, at, r))
        return false;
    if (what >= work->p) row->in_set[row->s[at]] = 0;
    set_sample(work, at, j);
    row->in_set[j] = at + 1;
    row->z[at] = sign * length;
    row->sign_z[at] = sign > 0.0 ? 1 : -1;
    return true;
}

/* Position u of S and q of T leave: a unit vector for the feature parts them from the others. */
static bool shrink(topk_lp *work, int q, int u)
{
    lp_row *row = work->row;
    int last = row->a - 1;
    size_t M = (size_t) work->most, A = (size_t) row->a;
    double *from = row->inverse + (size_t) u * M;

    ufs_copy(row->g, from, A);
    if (!swap_feature(row, M, q, row->g)) return false;
    row->in_set[row->s[u]] = 0;
    if (u != last) {
        ufs_copy(from, row->inverse + (size_t) last * M, A);
        set_sample(work, u, row->s[last]);
        row->z[u] = row->z[last];
        row->sign_z[u] = row->sign_z[last];
        row->in_set[row->s[u]] = u + 1;
    }
    for (size_t v = 0; v + 1 < A; v++)
        row->inverse[(size_t) q + v * M] = row->inverse[(size_t) last + v * M];
    set_feature(work, q, row->t[last]);
    row->a = last;
    return true;
}

/* Position q of T: its residual leaves zero. */
static bool step_leave(topk_lp *work, const topk_z_settings *settings, int q)
{
    lp_row *row = work->row;
    int k = row->t[q], what;
    size_t M = (size_t) work->most;
    double sign = row->y[k] > 0.0 ? 1.0 : -1.0;
    double slope = settings->lambda_e - fabs(row->y[k]), length;

    for (int u = 0; u < row->a; u++) row->dz[u] = -sign * row->inverse[(size_t) q + (size_t) u * M];
    direction(work, -1, 0.0);
    what = walk(work, settings, slope, &length);
    if (what < 0) return false;
    if (!(what < work->p ? take_feature(work, q, what) : shrink(work, q, what - work->p)))
        return false;
    row->e[k] = sign * length;
    row->side[k] = sign;
    add_to_y(work, k, sign * settings->lambda_e - row->y[k]);
    return true;
}

/* Pivots until the sample's optimum is reached; whether it was. */
static bool row_solve(topk_lp *work, const topk_z_settings *settings)
{
    lp_row *row = work->row;
    int done = 0;
    bool solved = false;

    while (done < work->most_pivots) {
        int enter = -1, leave = -1;
        bool fresh = row->since == 0, fine;
        if (price(work, settings, &enter, &leave) <= UFS_TIE) {
            /* The optimum, unless it is one by what rounding has left of the inverse. */
            solved = fresh;
            if (fresh) break;
            row_refresh(work, settings->lambda_e);
            continue;
        }
        fine = enter >= 0 ? step_enter(work, settings, enter) : step_leave(work, settings, leave);
        done++;
        /* A pivot of rounding size, not for want of a good inverse: leave it there. */
        if (!fine && fresh) break;
        if (fine && ++row->since < REFRESH) {
            update_dual(work);
        } else {
            R_CheckUserInterrupt();
            row_refresh(work, settings->lambda_e);
        }
    }
    work->state.iterations += done;
    return solved;
}

void topk_lp_solve(topk_lp *work, const topk_z_settings *settings, const topk_theta *theta)
{
    int n = work->n, p = work->p;
    size_t N = (size_t) n, P = (size_t) p;
    lp_row *row = work->row;
    topk_z_state *state = &work->state;
    double dual = 0.0;

    *state = (topk_z_state){.solved = true};
    la_transpose(n, p, work->x, work->xt);
    for (int i = 0; i < n; i++) {
        R_CheckUserInterrupt();
        row_begin(work, settings, theta, i);
        /* A zero sample; all others have unit length. */
        if (!(la_nrm2(p, work->xt + (size_t) i * P) > sqrt(DBL_EPSILON))) continue;
        /* As the last call left it. */
        row_refresh(work, settings->lambda_e);
        if (!row_solve(work, settings)) state->solved = false;
        for (int u = 0; u < row->a; u++)
            if (fabs(row->z[u]) > 10.0 * UFS_TIE)
                work->z[(size_t) i + (size_t) row->s[u] * N] = row->z[u];
        work->size[i] = row->a;
        dual += topk_z_bound(settings, theta, i, p, work->xt + (size_t) i * P, row->y, row->c);
    }

    ufs_copy(work->e, work->x, N * P);
    la_mul('N', 'N', n, p, n, -1.0, work->z, work->x, 1.0, work->e);
    state->objective = topk_z_objective(settings, theta, work->z, p, work->e);
    if (state->objective > 0.0)
        state->residual = fmax(state->objective - dual, 0.0) / state->objective;
}

int topk_lp_links(topk_lp *work, const topk_z_settings *settings, int i)
{
    topk_theta ones = {.n = work->n};

    la_transpose(work->n, work->p, work->x, work->xt);
    row_begin(work, settings, &ones, i);
    row_empty(work, settings->lambda_e);
    row_solve(work, settings);
    return work->row->a;
}
