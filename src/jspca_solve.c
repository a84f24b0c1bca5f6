/* jspca_solve.c: joint sparse principal component analysis (JSPCA).
 *
 * With x n x p (the papers' X is its transpose), Q and P p x k, and ||.||_{2,1}
 * the sum of the row norms:
 *
 *   loss over features   min || X' - P Q'X' ||_{2,1} + lambda ||Q||_{2,1},
 *                        P = D1^{-1/2} Pbar, Pbar'Pbar = I, D1 = diag(a)
 *   loss over samples    min || X - X Q P' ||_{2,1} + lambda ||Q||_{2,1}, P'P = I
 *
 * One iteration, with a_i = 1/(2 sqrt(||r_i||^2 + eps_res)) from the residual of
 * feature i (sample i: w_i), and Y = X, d = a^{1/2}, or Y = W^{1/2}X, d = 1:
 *
 *   T = Y diag(d) Pbar
 *   Q = argmin ||T - Y Q||_F^2 + lambda ||Q||_{2,1}
 *   Z = Y Q,  Pbar = polar(diag(d) Y'Z),  P = diag(1/d) Pbar
 *   residual of X - X Q P' by features or samples, new a or w
 *
 * The Q-step is exact (gl_work: working set, true zeros), or the paper's single
 * reweighted step, the ridge solution with penalty weights 1/h_i,
 * h_i = 2 sqrt(||q_i||^2 + eps_q).
 *
 * lambda = 0: X Q = T fits exactly, and Q of all solutions is the shortest (in the row space).
 *
 * The loss over features is a fixed-point iteration: its constraint P'D1P = I
 * moves with D1, so its objective may rise, and it stops on the change of Q. Over
 * samples the weights commute with P and every step lowers the objective.
 *
 * Flops per iteration: 2npk for T, 2npk for X'Z and 6pk^2 (over samples: see below), and the Q-step:
 * exact, its sweeps and 2npk when full; ridge, n^2 p + n^3/3 or p^3/3 (see ridge.h).
 * Memory beside x: 8pk, over samples 7pk, n-sized parts, that of gl_work or ridge_work; over
 * samples 24nk for the extrapolation and n^2 for XX', or np for Y with ridge.
 *
 * Source: "Joint sparse principal component analysis" (Yi, Lai, He, Cheung and
 * Liu, Pattern Recognition 61, 2017, 524-536); slides by Maurya, whose formulae
 * are corrected as the help page says. */
#include "anderson.h"
#include "eig.h"
#include "jspca.h"
#include "ridge.h"

/* Squared residuals come from ||x||^2 - 2 x'(XQ)p + p'(Z'Z)p, which saves a pass over x; where that
 * cancels more than two digits, they are formed. */
#define JSPCA_CANCELLED 0.01

typedef struct {
    const jspca_problem *problem;
    const jspca_settings *settings;
    jspca_result *result;
    ufs_run *run;
    double *ss;       /* squared norms of the columns of x, or of its rows over samples */
    double *d;        /* p: a^{1/2}, over features */
    double *t;        /* n x k: target T */
    double *z;        /* n x k: X Q */
    double *b;        /* p x k: diag(d) Pbar, then X'Z; the result's loadings, made at the end */
    double *q_old;    /* p x k */
    double *col;      /* max(n, k): scratch */
    double *root;     /* n: V^{1/2}, or ones over features */
    double *zz;       /* k x k: scratch, Z'Z or Z'W kernel WZ */
    double vtol;      /* of the last exact Q-step */
    int unsolved;     /* Q-steps over all features that missed their tolerance */
    gl_work gl;       /* exact Q-step, and every certificate */
    ridge_work ridge; /* reweighted Q-step */
    la_polar_work polar;
    /* Over samples. */
    double *y;     /* n x p: V^{1/2}X, if not exact */
    double factor; /* c; 1 if V = W */
    double *u;     /* n x k: X P */
    int *formed;   /* n: samples whose residual is formed */
    int n_formed;
    double *kernel;   /* n x n: XX', NULL if P is formed in every step */
    bool implicit;    /* P is X' map, and not in result->pbar */
    double *map, *km; /* n x k: map, and kernel WZ */
    double *vectors;  /* k x k: eigenvectors of Z'W kernel WZ */
    /* Over samples if exact: points are (X P, log w). */
    bool bold;              /* the point is extrapolated */
    bool forward;           /* along the last change, which was larger than the one before */
    bool confirms;          /* a plain step with V = W is wanted: Q has settled otherwise */
    double moved;           /* squared length of the last change of the point */
    double reach;           /* length of the next step forward, in changes of the point */
    double leap;            /* relative length of the last extrapolation, 0 if it was not kept */
    double objective;       /* of the last step that was kept */
    anderson history;       /* size 0: no extrapolation */
    double *point, *image;  /* n k + n: where a step starts, and what it leads to */
    double *scale, *way;    /* n k + n: 1 / size, of both parts; from one point to another */
    double *z_old;          /* n x k: X Q_old */
    la_polar_work rotation; /* k x k */
} jspca_work;

/* ---- extrapolation over samples ---------------------------------------------------------- */

/* An iteration sees P and w through the n k + n numbers (X P, log w) alone. The exact solver
 * extrapolates these by Anderson's method, or steps forward where changes grow. What the step from
 * there finds is a feasible P and Q; it is kept if the objective falls, otherwise the plain step is
 * made. The last step is a plain one under its own weights, and follows a change of Q within the
 * tolerance and an extrapolation of a length near it. */

/* By time extrapolation pays only for fits of more than FIRST steps. */
enum { DEPTH = 5, FIRST = 60 };
/* Extrapolation begins once changes of Q are below NEAR: from further away rounding decides at
 * which stationary point it ends. A change is aligned with the last one if their cosine is above
 * ALIGNED. */
static const double NEAR = 0.1, ALIGNED = 0.8;
/* An extrapolation changes no log weight by more than this, a factor of about 1000. Where residuals
 * shrink by the same factor in every step, the differences of these steps are mere rounding, and so
 * is the point they lead to. */
static const double FARTHEST = 7.0;

static void write_point(const jspca_work *work, double *to)
{
    size_t n = (size_t) work->problem->n, nk = n * (size_t) work->problem->k;
    ufs_copy(to, work->u, nk);
    for (size_t i = 0; i < n; i++) to[nk + i] = log(work->result->weight[i]);
}

static void read_point(jspca_work *work)
{
    size_t n = (size_t) work->problem->n, nk = n * (size_t) work->problem->k;
    ufs_copy(work->u, work->point, nk);
    for (size_t i = 0; i < n; i++) work->result->weight[i] = exp(work->point[nk + i]);
}

/* Back to the point that the last kept step led to, and to its Q. */
static void jspca_leap_back(jspca_work *work)
{
    const jspca_problem *problem = work->problem;

    ufs_copy(work->result->q, work->q_old, (size_t) problem->p * (size_t) problem->k);
    ufs_copy(work->z, work->z_old, (size_t) problem->n * (size_t) problem->k);
    ufs_copy(work->point, work->image, (size_t) work->history.size);
    read_point(work);
    anderson_keep_last(&work->history);
    work->reach = 1.0;
    work->leap = 0.0;
    work->bold = false;
}

/* Scaled inner product of the step from `from` to `to`, which stays in work->way, with `other`, or
 * with itself for NULL. */
static double along(jspca_work *work, const double *from, const double *to, const double *other)
{
    double sum = 0.0;
    for (size_t i = 0; i < (size_t) work->history.size; i++) {
        double way = work->way[i] = to[i] - from[i];
        sum += work->scale[i] * work->scale[i] * way * (other == NULL ? way : other[i]);
    }
    return sum;
}

/* (P, Q) may be rotated freely: the point is rotated as near to the image as it gets, so that
 * extrapolation does not turn it, or Q would depend on its path. */
static void align(jspca_work *work)
{
    int n = work->problem->n, k = work->problem->k;

    la_mul('T', 'N', k, k, n, 1.0, work->point, work->image, 0.0, work->zz);
    if (la_polar(&work->rotation, work->zz, NULL, work->zz)) return;
    la_mul('N', 'N', n, k, k, 1.0, work->point, work->zz, 0.0, work->u);
    ufs_copy(work->point, work->u, (size_t) n * (size_t) k);
}

/* Where the next step starts: what the last one led to, extrapolated if that is allowed. While
 * changes shrink, by Anderson's method. While they grow the iteration leaves a saddle, to which
 * Anderson's point would lead back: a step forward along the last change, twice as far after
 * every success. */
static void jspca_leap_next(jspca_work *work)
{
    size_t n = (size_t) work->problem->n, nk = n * (size_t) work->problem->k;
    double *point = work->point, *image = work->image;
    double size = sqrt(la_ss(nk, work->u)), moved;
    int t = work->run->iterations;

    if (t <= FIRST) {
        if (t == FIRST) write_point(work, point);
        return;
    }
    ufs_copy(work->z_old, work->z, nk);
    write_point(work, image);
    for (size_t i = 0; i < nk + n; i++)
        work->scale[i] = i >= nk ? 1.0 / sqrt((double) n) : size > 0.0 ? 1.0 / size : 1.0;
    moved = along(work, point, image, NULL);
    work->forward = work->run->paths.jspca_forward && moved > work->moved &&
                    along(work, point, image, work->history.last_r) >
                        ALIGNED * sqrt(moved * work->moved);
    work->moved = moved;
    anderson_push(&work->history, point, image);
    work->bold = !work->confirms && work->result->change < NEAR && t + 1 < work->run->max_iter &&
                 work->history.count > 0;
    if (!work->bold)
        ufs_copy(point, image, nk + n);
    else if (work->forward)
        for (size_t i = 0; i < nk + n; i++) point[i] = image[i] + work->reach * work->way[i];
    else
        anderson_mix(&work->history, work->scale, point);
    if (work->bold) {
        for (size_t i = nk; i < nk + n; i++)
            point[i] = fmin(image[i] + FARTHEST, fmax(image[i] - FARTHEST, point[i]));
        align(work);
        work->leap = sqrt(along(work, image, point, NULL));
    }
    read_point(work);
}

/* ---- the loss over samples --------------------------------------------------------------- */

/* P'P = I, and Y'Y changes with every w. The exact Q-step keeps the Gram matrix of older weights v
 * while c v, c = max_i w_i/v_i, is a close majoriser of w: with R = X(P - Q_old) and V = diag(v)
 *   ||W^{1/2}X(P - Q)||^2 <= c ||T' - V^{1/2}X Q||^2 + const,
 *   T' = V^{1/2}X Q_old + W R / (c V^{1/2}),
 * with equality at Q_old, so the objective falls as it does for v = w; the fit ends with v = w.
 *
 * X P = XX'M (M'XX'M)^{-1/2} with M = WZ, n x k: for n <= p steps go through XX', and P itself is
 * formed in the last one, or where M'XX'M has lost too much.
 *
 * Flops of an iteration beside the Q-step: 4npk + 6pk^2, or 2n^2 k through XX' (n^2 p once); nm^2
 * for the Gram matrix of m features when v is renewed. */
/* Older weights serve until the ratios of the new ones to them differ by more; a weight is heavy
 * beyond this multiple of the harmonic mean. */
static const double STALE = 1.1, HEAVY = 4.0;

/* Whether steps over samples go through XX': n^2 p flops once for 4npk in each, and squared
 * residuals by differences, whose rounding must stay far below their smoothing. */
static bool kernel_pays(const jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    double top = 0.0, n = problem->n, k = problem->k;

    for (int i = 0; i < problem->n; i++) top = fmax(top, work->ss[i]);
    return work->run->paths.jspca_kernel && problem->n <= problem->p &&
           n * n <= 2.0 * ufs_x_entries(problem->x) &&
           ufs_x_gram_rows_cost(problem->x) <= 100.0 * k * ufs_x_entries(problem->x) &&
           work->settings->eps_res >= 1e-7 * top;
}

static void jspca_sample_init(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    size_t n = (size_t) problem->n, k = (size_t) problem->k, size = n * k + n;
    bool exact = work->settings->exact && problem->lambda > 0.0;

    work->u = ufs_dalloc(n, k);
    work->formed = ufs_ialloc(n);
    ufs_x_row_ss(problem->x, work->ss);
    ufs_x_mul(problem->x, problem->k, work->result->pbar, work->u);
    if (!work->settings->exact && problem->lambda > 0.0)
        work->y = ufs_dalloc(n, (size_t) problem->p);
    if (exact && work->run->paths.jspca_anderson && n <= (size_t) INT_MAX / (k + 1)) {
        work->z_old = ufs_dalloc(n, k);
        anderson_init(&work->history, (int) size, DEPTH);
        la_polar_init(&work->rotation, problem->k, problem->k);
        ufs_dalloc_each(size, 1,
                        (double **[]){&work->point, &work->image, &work->scale, &work->way, NULL});
        write_point(work, work->point);
    }
    if (!exact || !kernel_pays(work)) return;
    work->kernel = ufs_dalloc(n, n);
    ufs_dalloc_each(n, k, (double **[]){&work->map, &work->km, NULL});
    work->vectors = ufs_dalloc(k, k);
    ufs_x_gram_rows(problem->x, NULL, work->kernel);
}

/* Sets V and what depends on it: the older weights and c, or, if `renew`, the present ones. */
static void set_weights(jspca_work *work, bool renew)
{
    const jspca_problem *problem = work->problem;
    const double *weight = work->result->weight;
    size_t n = (size_t) problem->n;
    double most = 0.0, least = R_PosInf;

    if (problem->lambda == 0.0) return;
    if (work->settings->exact && !renew && work->run->paths.jspca_stale) {
        for (size_t i = 0; i < n; i++) {
            double v = work->root[i] * work->root[i];
            most = fmax(most, weight[i] / v);
            least = fmin(least, weight[i] / v);
        }
        work->factor = most;
        if (most <= STALE * least) return;
    }
    work->factor = 1.0;
    for (size_t i = 0; i < n; i++) work->root[i] = sqrt(weight[i]);
    gl_set_rows(&work->gl, work->root);
    if (work->settings->exact) return;
    la_scale_rows(problem->n, problem->p, work->root, problem->x->dense, work->y);
    ufs_x weighted = ufs_x_dense(problem->n, problem->p, work->y);
    ridge_set_x(&work->ridge, &weighted);
}

/* T, or T' with older weights, from X P and X Q_old, which are there already;
 * with weights V = W if `renew`. */
static void jspca_sample_target(jspca_work *work, bool renew)
{
    const double *weight = work->result->weight;
    size_t n = (size_t) work->problem->n, k = (size_t) work->problem->k;

    set_weights(work, renew);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < n; i++) {
            size_t at = i + j * n;
            double root = work->root[i], u = work->u[at], z = work->z[at];
            work->t[at] = work->factor == 1.0
                              ? root * u
                              : root * z + weight[i] / (work->factor * root) * (u - z);
        }
}

/* gl_work measures steps against T, of which a few samples that are nearly fitted, and so weigh a
 * thousand times as much as others, are almost all: the share of T's norm with capped weights. */
static double jspca_share_of_most(const jspca_work *work)
{
    size_t n = (size_t) work->problem->n, k = (size_t) work->problem->k;
    double inverse = 0.0, all = 0.0, most = 0.0;

    for (size_t i = 0; i < n; i++) inverse += 1.0 / work->result->weight[i];
    for (size_t i = 0; i < n; i++) {
        double ss = 0.0, over = work->result->weight[i] * inverse / (double) n / HEAVY;
        for (size_t j = 0; j < k; j++) ss += work->t[i + j * n] * work->t[i + j * n];
        all += ss;
        most += over > 1.0 ? ss / over : ss;
    }
    return all > 0.0 ? sqrt(most / all) : 1.0;
}

/* With M = WZ: polar(X'M) = X'M S^{-1/2}, S = M'XX'M; 2n^2 k flops. False where the root would
 * lose too many digits, or S has no eigenvalues: form_p() then says why. */
static bool p_by_kernel(jspca_work *work, const double *m)
{
    int n = work->problem->n, k = work->problem->k;
    size_t K = (size_t) k;
    double *half = work->vectors, *value = work->col, *s = work->zz;

    la_mul('N', 'N', n, k, n, 1.0, work->kernel, m, 0.0, work->km);
    la_mul('T', 'N', k, k, n, 1.0, m, work->km, 0.0, s);
    if (eig_range(k, s, 1, k, value, half) || !(value[0] > 1e-6 * value[k - 1])) return false;
    for (size_t j = 0; j < K; j++)
        for (size_t i = 0; i < K; i++) half[i + j * K] /= sqrt(sqrt(value[j]));
    la_mul('N', 'T', k, k, k, 1.0, half, half, 0.0, s);
    la_mul('N', 'N', n, k, k, 1.0, m, s, 0.0, work->map);
    la_mul('N', 'N', n, k, k, 1.0, work->km, s, 0.0, work->u);
    work->implicit = true;
    return true;
}

/* P = polar(X'M) itself, p x k, and X P. */
static int form_p(jspca_work *work, const double *m)
{
    const jspca_problem *problem = work->problem;
    double *pbar = work->result->pbar;
    int info;

    /* The previous P, which is needed where X'M is rank-deficient. */
    if (work->implicit) ufs_x_cross(problem->x, problem->k, work->map, pbar);
    work->implicit = false;
    ufs_x_cross(problem->x, problem->k, m, work->b);
    info = la_polar(&work->polar, work->b, pbar, pbar);
    ufs_x_mul(problem->x, problem->k, pbar, work->u);
    return info;
}

/* residual_i += (x_ij - z_i'p_j)^2 for the few samples in question. */
static void add_residual(void *data, int j, const double *column)
{
    jspca_work *work = data;
    size_t n = (size_t) work->problem->n, p = (size_t) work->problem->p;

    for (int at = 0; at < work->n_formed; at++) {
        size_t i = (size_t) work->formed[at];
        double r = column[i];
        for (size_t l = 0; l < (size_t) work->problem->k; l++)
            r -= work->z[i + l * n] * work->result->pbar[(size_t) j + l * p];
        work->result->residual[i] += r * r;
    }
}

/* ||x - Pz||^2 = ||x||^2 - 2 u'z + ||z||^2, u = P'x. */
static void residual_of_samples(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    size_t n = (size_t) problem->n, k = (size_t) problem->k;
    int *formed = work->formed;

    work->n_formed = 0;
    for (size_t i = 0; i < n; i++) {
        double ss = work->ss[i];
        for (size_t j = 0; j < k; j++) {
            double u = work->u[i + j * n], z = work->z[i + j * n];
            ss += z * (z - 2.0 * u);
        }
        result->residual[i] = sqrt(fmax(ss, 0.0));
        if (work->implicit || ss > JSPCA_CANCELLED * work->ss[i]) continue;
        result->residual[i] = 0.0;
        formed[work->n_formed++] = (int) i;
    }
    if (work->n_formed == 0) return;
    ufs_x_each_column(problem->x, add_residual, work);
    for (int at = 0; at < work->n_formed; at++)
        result->residual[formed[at]] = sqrt(result->residual[formed[at]]);
}

/* P and the residuals from Q, with P itself if `last`. Returns LAPACK's info. */
static int jspca_sample_p_step(jspca_work *work, bool last)
{
    double *m = work->gl.scaled; /* free between gl_work's calls */
    int info = 0;

    la_scale_rows(work->problem->n, work->problem->k, work->result->weight, work->z, m);
    if (last || work->kernel == NULL || !p_by_kernel(work, m)) info = form_p(work, m);
    if (info == 0) residual_of_samples(work);
    return info;
}

/* ---- what is done with the answer -------------------------------------------------------- */

/* P and Q, which may be rotated freely, end in their canonical rotation: nk^2 + 2pk^2 flops. Without a
 * penalty Q becomes the shortest one first: min(n, p)^3 flops, 2 min(n, p)^2 doubles. */

/* Without a penalty only the part of Q in the row space of X matters: the rest goes. Through
 * the eigenvectors of the smaller Gram matrix. violation: of X Q = T, relative. */
static int jspca_shortest(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    bool wide = problem->n < problem->p;
    int m = wide ? problem->n : problem->p, k = problem->k, info, first = 0;
    size_t M = (size_t) m, K = (size_t) k, len = (size_t) problem->n * K;
    double *gram = ufs_dalloc(M, M), *w = ufs_dalloc(M, 1), *v = ufs_dalloc(M, M);
    double *part = ufs_dalloc(M, K), *image = wide ? work->t : result->q;
    double size = sqrt(la_ss(len, work->z));

    if (wide)
        ufs_x_gram_rows(problem->x, NULL, gram);
    else
        ufs_x_gram_cols(problem->x, gram);
    if ((info = eig_range(m, gram, 1, m, w, v))) return info;
    while (first < m && w[first] <= 1e-12 * w[m - 1]) first++;
    v += (size_t) first * M;
    /* Q = X' U w^{-1} U' Z, or V V' Q. */
    la_gemm('T', 'N', m - first, k, m, 1.0, v, m, wide ? work->z : result->q, m, 0.0, part, m);
    for (size_t j = 0; j < K && wide; j++)
        for (int i = 0; i < m - first; i++) part[(size_t) i + j * M] /= w[i + first];
    la_gemm('N', 'N', m, k, m - first, 1.0, v, m, part, m, 0.0, image, m);
    if (wide) ufs_x_cross(problem->x, k, image, result->q);
    gl_share(&problem->copies, problem->p, problem->k, result->q);
    la_row_norms(problem->p, k, result->q, result->row_norm);
    ufs_x_mul(problem->x, k, result->q, work->t);
    result->violation = size > 0.0 ? sqrt(la_ss_diff(len, work->t, work->z)) / size : 0.0;
    result->gap = 0.0;
    return 0;
}

/* The SVD X Q = U S O' gives uncorrelated scores of decreasing variance; the largest entry of each
 * column of Q O is positive. */
static int jspca_canonicalise(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    size_t p = (size_t) problem->p;
    int k = problem->k, info;
    double top = 0.0;

    info = la_svd_thin(problem->n, k, work->z, work->gl.r, work->t, work->col, work->zz);
    if (info) return info;
    la_transpose(k, k, work->zz, result->rotation);
    la_mul('N', 'N', problem->p, k, k, 1.0, result->q, result->rotation, 0.0, result->loadings);
    la_col_norms(problem->p, k, result->loadings, work->col);
    for (int j = 0; j < k; j++) top = fmax(top, work->col[j]);
    for (int j = 0; j < k; j++) {
        double *load = result->loadings + (size_t) j * p;
        size_t at = 0;
        if (work->col[j] <= 1e-12 * top) {
            memset(load, 0, p * sizeof(double));
            continue;
        }
        while (load[at] == 0.0) at++;
        double before = load[at];
        la_fix_signs(problem->p, 1, load);
        if (load[at] != before)
            for (int l = 0; l < k; l++) result->rotation[l + j * k] = -result->rotation[l + j * k];
        for (size_t i = 0; i < p; i++) load[i] /= work->col[j];
    }
    return 0;
}

/* ---- the whole problem ------------------------------------------------------------------ */

/* Q-steps over all features that miss their tolerance before the inner problem is too hard. */
enum { TOO_HARD = 10 };
/* The last extrapolation may be this many tolerances long. */
static const double FAR = 10.0;

/* ---- the Q-step ------------------------------------------------------------------------------ */

/* The tolerance of the inner solve follows the outer change: a looser tie (0.1) lets
 * the outer iteration stall on the inner error. It never rises and falls at most threefold:
 * tied to the last change alone a loose step, which changes little, is followed by one of
 * hundreds of sweeps, and that by a loose one. */
static void exact_step(jspca_work *work, bool full)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    double aim = fmax(0.02 * result->change, fmax(0.01 * work->run->tol, 1e-9));
    double vtol = fmin(work->vtol, fmax(aim, work->vtol / 3.0));
    size_t n = (size_t) problem->n;

    work->vtol = vtol;
    if (problem->sample) vtol *= jspca_share_of_most(work);
    work->gl.share = problem->sample && result->change > 100.0 * work->run->tol ? 0.02 : 0.0;
    gl_solve(&work->gl, work->t, problem->lambda / work->factor, vtol, full,
             1.0 - fmin(fmax(result->change, 1e-4), 0.05), result->q);
    if (full && !work->gl.settled) work->unsolved++;
    for (size_t j = 0; j < (size_t) problem->k; j++)
        for (size_t i = 0; i < n; i++) work->z[i + j * n] = work->gl.xv[i + j * n] / work->root[i];
}

/* Q = argmin ||T - YQ||^2 + lambda ||Q||_{2,1} (or its reweighted step), Z = XQ. */
static int q_step(jspca_work *work, bool full)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    size_t pk = (size_t) problem->p * (size_t) problem->k;
    double size, step;

    ufs_copy(work->q_old, result->q, pk);
    if (problem->lambda == 0.0) {
        /* X Q = T fits exactly: Q = diag(d) Pbar, which is in b over features. */
        ufs_copy(result->q, problem->sample ? result->pbar : work->b, pk);
        gl_share(&problem->copies, problem->p, problem->k, result->q);
        ufs_copy(work->z, work->t, (size_t) problem->n * (size_t) problem->k);
    } else if (work->settings->exact) {
        exact_step(work, full);
    } else {
        int info = ridge_solve(&work->ridge, work->t, result->h, problem->lambda, result->q);
        if (info) return info;
        ufs_x_mul(problem->x, problem->k, result->q, work->z);
    }
    la_row_norms(problem->p, problem->k, result->q, result->row_norm);
    size = sqrt(la_ss(pk, result->q));
    step = sqrt(la_ss_diff(pk, result->q, work->q_old));
    result->change = step == 0.0 ? 0.0 : size > 0.0 ? step / size : 1.0;
    return 0;
}

/* ---- P and the residuals --------------------------------------------------------------------- */

/* X'Z is in b. */
static void residual_of_features(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    size_t n = (size_t) problem->n, p = (size_t) problem->p;
    int k = problem->k;

    la_mul('T', 'N', k, k, problem->n, 1.0, work->z, work->z, 0.0, work->zz);
    for (size_t i = 0; i < p; i++) {
        double ss = work->ss[i];
        for (int j = 0; j < k; j++) {
            size_t at = i + (size_t) j * p;
            double zzp = 0.0;
            for (int l = 0; l < k; l++) zzp += work->zz[j + l * k] * result->P[i + (size_t) l * p];
            ss += result->P[at] * (zzp - 2.0 * work->b[at]);
        }
        if (!(ss > JSPCA_CANCELLED * work->ss[i])) {
            const double *col = ufs_x_column(problem->x, (int) i, work->col);
            if (col != work->col) ufs_copy(work->col, col, n);
            for (int j = 0; j < k; j++)
                la_axpy(problem->n, -result->P[i + (size_t) j * p], work->z + (size_t) j * n,
                        work->col);
            ss = la_ss(n, work->col);
        }
        result->residual[i] = sqrt(ss);
    }
}

/* Pbar = polar(diag(d) X'Z), the old Pbar where that is rank-deficient, P and the residuals. */
static int feature_p_step(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    size_t p = (size_t) problem->p, k = (size_t) problem->k;
    int info;

    ufs_x_cross(problem->x, problem->k, work->z, work->b);
    la_scale_rows(problem->p, problem->k, work->d, work->b, result->P);
    info = la_polar(&work->polar, result->P, result->pbar, result->pbar);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < p; i++) result->P[i + j * p] = result->pbar[i + j * p] / work->d[i];
    if (info == 0) residual_of_features(work);
    return info;
}

/* ---- the objective --------------------------------------------------------------------------- */

static double loss_of(const jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    const jspca_settings *settings = work->settings;
    double loss = la_l21(problem->sample ? problem->n : problem->p, work->result->residual,
                         settings->eps_res);
    return problem->sample ? loss : loss + problem->dropped * sqrt(settings->eps_res);
}

static double penalty_of(const jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    double eps_q = work->settings->eps_q, sum = 0.0;

    if (problem->factor == NULL)
        return problem->lambda *
               (la_l21(problem->p, work->result->row_norm, eps_q) + problem->dropped * sqrt(eps_q));
    for (int i = 0; i < problem->p; i++)
        if (work->result->row_norm[i] > 0.0) sum += problem->factor[i] * work->result->row_norm[i];
    return problem->lambda * sum;
}

static double record(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    double loss = loss_of(work), penalty = penalty_of(work), top = 0.0, nonzero = 0.0;

    /* Reweighting never gives an exact zero: rows below 1e-3 of the largest one count as zero. */
    for (int i = 0; i < problem->p && !work->settings->exact; i++)
        top = fmax(top, result->row_norm[i]);
    for (int i = 0; i < problem->p; i++) nonzero += result->row_norm[i] > 1e-3 * top;
    ufs_trace_add(&work->run->trace, (double[]){work->run->iterations, loss + penalty, loss,
                                                penalty, result->change, nonzero});
    ufs_run_step(work->run, loss + penalty, result->change);
    return loss + penalty;
}

/* ---- iterations ------------------------------------------------------------------------------ */

static void work_init(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    const jspca_settings *settings = work->settings;
    jspca_result *result = work->result;
    size_t n = (size_t) problem->n, p = (size_t) problem->p, k = (size_t) problem->k;
    bool exact = settings->exact && problem->lambda > 0.0;
    /* Over samples the Gram matrix is new in every iteration, so the smaller one is taken. */
    char form = !problem->sample ? 'a' : p < n ? 'p' : 'n';

    work->ss = ufs_dalloc(problem->sample ? n : p, 1);
    work->d = ufs_dalloc(p, 1);
    work->t = ufs_dalloc(n, k);
    work->z = ufs_dzero(n, k);  /* of Q = 0 */
    work->b = result->loadings; /* which are made at the end */
    work->q_old = ufs_dalloc(p, k);
    work->col = ufs_dalloc(n > k ? n : k, 1);
    work->zz = ufs_dalloc(k, k);
    work->root = ufs_dalloc(n, 1);
    work->vtol = 1e-3;
    work->factor = work->reach = 1.0;
    work->objective = work->moved = R_PosInf;
    for (size_t i = 0; i < n; i++) work->root[i] = 1.0;
    result->violation = result->gap = R_NaN;
    if (problem->sample)
        jspca_sample_init(work);
    else
        ufs_x_ss(problem->x, work->ss);
    /* Without the exact Q-step gl_work only checks the answer: one slot will do. */
    gl_init(&work->gl, problem->k, problem->x, exact ? LA_GL_SLOTS : 1);
    work->gl.newton = work->run->paths.gl_newton;
    if (problem->sample) gl_set_rows(&work->gl, work->root);
    gl_set_penalty(&work->gl, problem->factor, &problem->copies);
    if (!settings->exact && problem->lambda > 0.0)
        ridge_init(&work->ridge, problem->k, problem->x, form);
    la_polar_init(&work->polar, problem->p, problem->k);
}

static int alternate_once(jspca_work *work, bool full)
{
    const jspca_problem *problem = work->problem;
    bool last = work->run->iterations == work->run->max_iter;
    int lapack;

    /* The last step is a plain one. */
    if (problem->sample) {
        jspca_sample_target(work, last || work->confirms);
    } else { /* T = X diag(d) Pbar. */
        for (int i = 0; i < problem->p; i++) work->d[i] = sqrt(work->result->weight[i]);
        la_scale_rows(problem->p, problem->k, work->d, work->result->pbar, work->b);
        ufs_x_mul(problem->x, problem->k, work->b, work->t);
    }
    if ((lapack = q_step(work, full))) return lapack;
    return problem->sample ? jspca_sample_p_step(work, false) : feature_p_step(work);
}

/* One step over Q and one over P, the plain one where an extrapolated one does not lower the
 * objective. The status says if that was the last one, which leaves P itself. Returns LAPACK's
 * code. */
static int alternate(jspca_work *work, bool full)
{
    ufs_run *run = work->run;
    bool settled;
    double now;
    int lapack;

    while (true) {
        if ((lapack = alternate_once(work, full))) return lapack;
        now = loss_of(work) + penalty_of(work);
        /* Beyond this the fall is rounding. */
        if (!work->bold || now <= work->objective * (1.0 + 1e-13)) break;
        jspca_leap_back(work);
    }
    if (work->bold && work->forward) work->reach *= 2.0;
    work->objective = now;
    /* Without a penalty the PCA start is a fixed point of the first step's equal weights. */
    settled = full && run->iterations > (work->problem->lambda == 0.0 ? 2 : 1) &&
              work->result->change <= run->tol && work->leap <= FAR * run->tol;
    work->confirms = settled && (work->bold || work->factor != 1.0);
    if (settled && !work->confirms)
        run->status = UFS_CONVERGED;
    else if (work->settings->gives_up && work->unsolved >= TOO_HARD)
        run->status = UFS_STALLED;
    if (!work->implicit || (run->status == UFS_MAX_ITER && run->iterations < run->max_iter))
        return 0;
    return jspca_sample_p_step(work, true);
}

static void reweight(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    const jspca_settings *settings = work->settings;
    jspca_result *result = work->result;
    int m = problem->sample ? problem->n : problem->p;
    la_irls_g(m, result->residual, settings->eps_res, result->weight);
    for (int i = 0; i < m; i++) result->weight[i] = 1.0 / result->weight[i];
    if (!settings->exact) la_irls_g(problem->p, result->row_norm, settings->eps_q, result->h);
}

/* Optimality of the last Q-step, with its own T, over all features; that of the
 * smoothed problem where the reweighted one was solved. */
static void certify(jspca_work *work)
{
    const jspca_problem *problem = work->problem;
    jspca_result *result = work->result;
    gl_certify(&work->gl, work->t, problem->lambda, result->q);
    ufs_copy(result->kkt, work->gl.kkt, (size_t) problem->p);
    result->violation = gl_violation(&work->gl, problem->lambda, work->settings->eps_q, result->q);
    result->gap = work->gl.objective > 0.0 ? work->gl.gap / work->gl.objective : 0.0;
}

/* ---- the whole --------------------------------------------------------------------------- */

void jspca_solve(const jspca_problem *problem, const jspca_settings *settings, jspca_result *result,
                 ufs_run *run)
{
    static const char *const columns[] = {"iteration", "objective", "loss", "penalty",
                                          "change",    "live",      NULL};
    jspca_work work = {.problem = problem, .settings = settings, .result = result, .run = run};

    ufs_trace_named(&run->trace, run->max_iter, columns);
    work_init(&work);
    run->status = UFS_MAX_ITER;
    result->change = 1.0;

    while (run->iterations < run->max_iter) {
        int t = ++run->iterations;
        /* The exact Q-step looks at all features now and then, else at its working set. */
        bool full = !settings->exact || t <= 3 || t % 5 == 0 || t == run->max_iter ||
                    result->change < 2.0 * run->tol;
        if ((run->lapack = alternate(&work, full))) return;
        if (!R_FINITE(record(&work))) {
            run->status = UFS_DIVERGED;
            memset(result->loadings, 0, (size_t) problem->p * (size_t) problem->k * sizeof(double));
            return;
        }
        if (run->status != UFS_MAX_ITER) break;
        reweight(&work);
        if (work.history.size > 0) jspca_leap_next(&work);
    }
    if (problem->lambda == 0.0)
        run->lapack = jspca_shortest(&work);
    else
        certify(&work);
    if (run->lapack) return;
    /* Steps became small because the inner problem is too hard, not because it is
     * solved: tiny penalties. */
    if (settings->exact && run->status == UFS_CONVERGED &&
        !(result->violation <= (problem->sample ? 0.01 : 0.1)))
        run->status = UFS_STALLED;
    run->lapack = jspca_canonicalise(&work);
}
