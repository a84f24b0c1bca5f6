/* eig_few.c: leading eigenpairs of a symmetric operator (see la.h).
 *
 * Block Davidson: V grows by blocks, is kept orthonormal, and H = V'AV has the Ritz pairs. A block
 * is the residuals of wanted pairs that are open yet, or the image of the block before: from one
 * vector this is Lanczos with full orthogonalisation, but guesses at the start, restarts and other
 * vectors in between break nothing. Where products are cheap and eigenvalues close (`recur`), it is
 * the Ritz vectors of the open pairs under a Chebyshev polynomial of A, scaled at the largest Ritz
 * value so that nothing overflows (Zhou and Saad, SIAM J. Matrix Anal. Appl. 29, 2007). */
#include "eig.h"

void krylov_noise(int n, int column, double *x)
{
    for (int i = 0; i < n; i++) {
        uint64_t h = ufs_mix(((uint64_t) column << 32) + (uint64_t) i);
        x[i] = (double) (h >> 11) / 4503599627370496.0 - 1.0;
    }
}

/* x (n x added) -= q q'x. */
static void project_out(int n, int k, const double *q, int added, double *x, double *dot)
{
    if (k == 0) return;
    if (added == 1) {
        la_gemv('T', n, k, 1.0, q, n, x, 0.0, dot);
        la_gemv('N', n, k, -1.0, q, n, dot, 1.0, x);
        return;
    }
    la_mul('T', 'N', k, added, n, 1.0, q, x, 0.0, dot);
    la_mul('N', 'N', n, added, k, -1.0, q, dot, 1.0, x);
}

int krylov_orthonormalise(const krylov_basis *basis, int k, int added, double least, bool rest)
{
    int n = basis->n, n_known = basis->n_known, left = 0;
    const double *known = basis->known, *q = basis->q;
    size_t N = (size_t) n;
    double *block = basis->q + (size_t) k * N, *dot = basis->dot;

    for (int j = 0; j < added && !rest; j++) {
        double *col = block + (size_t) j * N, size = la_nrm2(n, col);
        for (int i = 0; i < n && size > 0.0; i++) col[i] /= size;
    }
    for (int pass = 0; pass < (rest ? 1 : 2); pass++) {
        project_out(n, n_known, known, added, block, dot);
        project_out(n, k, q, added, block, dot);
    }
    for (int j = 0; j < added; j++) {
        double *col = block + (size_t) left * N, before, after;
        if (left < j) ufs_copy(col, block + (size_t) j * N, N);
        after = la_nrm2(n, col);
        before = rest ? 1.0 : after;
        /* What the projections left of a unit vector; again where those on the block leave little,
         * in which the rounding of the first ones has grown. */
        while (after > least) {
            project_out(n, left, block, 1, col, dot);
            after = la_nrm2(n, col);
            if (after > 0.1 * before) break;
            project_out(n, n_known, known, 1, col, dot);
            project_out(n, k, q, 1, col, dot);
            before = after;
        }
        if (!(after > least)) continue;
        for (int i = 0; i < n; i++) col[i] /= after;
        left++;
    }
    return left;
}

enum { LANES = 8, LEAST_DEGREE = 30, MOST_DEGREE = 240 };
static const double SPREAD = 1e8, ROUNDING = 1e-7;
static const double SURE = 1e-3; /* residual, of the distance from the smallest wanted */
static const double TIE = 1e-6;  /* of eigenvalues, relative to the range */

typedef struct {
    const eig_problem *a;
    eig_info *info;
    int most, size, keep; /* vectors at most; held; left by a restart */
    int wide, held;       /* Ritz vectors looked at: at most (k, more with a filter); now */
    int width, passes;    /* vectors of the next block; blocks before the next look */
    bool narrow;          /* blocks of fewer than LANES, by images */
    bool missing;         /* an eigenvector was, and is the first of the next block */
    int noise;            /* start vectors used so far */
    double *v, *av;       /* n x most: basis and its image */
    double *u, *r;        /* n x wide: Ritz vectors, best first, and residuals; then the block */
    double *norm;         /* wide: of the residuals */
    double *theta;        /* keep, descending */
    double *h, *y, *copy; /* most x most: H, its eigenvectors, scratch */
    double *missed;       /* n: that eigenvector */
    double *sure;         /* n x keep: what is known to be eigenvectors */
    double *dot;          /* (n_known + most) x max(most, UFS_STRIP): scratch */
    double scale;         /* what residuals are relative to */
    double best;          /* the residual after best_at products, halved or doubled then: */
    int best_at;
    double rate; /* its logarithm fell by so much per product */
} davidson;

int eig_basis(int k)
{
    return 2 * k + 5 * LANES;
}

/* x = A v_from becomes x / |x| less what H knows of it. */
static void peel(const davidson *s, int from, double *x)
{
    int n = s->a->n;
    const double *h = s->h + (size_t) from * (size_t) s->most;
    double size = la_nrm2(n, x);

    for (int i = 0; i < s->size; i++)
        if (fabs(h[i]) > ROUNDING * size) la_axpy(n, -h[i], s->v + (size_t) i * (size_t) n, x);
    for (int i = 0; i < n && size > 0.0; i++) x[i] /= size;
}

/* Behind the basis: what of the block lies outside of it. Returns how many vectors. */
static int append(davidson *s, int count, const double *block, bool image)
{
    const eig_problem *a = s->a;
    int n = a->n, size = s->size, added;
    size_t N = (size_t) n, begin = (size_t) size * N, M = (size_t) s->most;

    R_CheckUserInterrupt();
    ufs_copy(s->v + begin, block, (size_t) count * N);
    for (int j = 0; j < count && image; j++)
        peel(s, size - count + j, s->v + begin + (size_t) j * N);
    added = krylov_orthonormalise(&(krylov_basis){n, s->v, a->n_known, a->known, s->dot}, size,
                                  count, UFS_ROUNDING, image);
    if (added == 0) return 0;
    a->apply(a->data, added, s->v + begin, s->av + begin);
    s->size += added;
    s->info->products += added;
    la_gemm('T', 'N', s->size, added, n, 1.0, s->v, n, s->av + begin, n, 0.0,
            s->h + (size_t) size * M, s->most);
    return added;
}

static void begin(davidson *s)
{
    const eig_problem *a = s->a;
    int k = a->k, room = a->n - a->n_known, first;
    size_t N = (size_t) a->n, M, W;

    s->wide = a->recur ? (k + (k / 2 > 3 ? k / 2 : 3) + LANES - 1) / LANES * LANES : k;
    s->keep = a->recur ? s->wide : k + LANES;
    s->narrow = a->block > 0 && a->block < LANES;
    s->width = a->block > 0 ? a->block : s->wide;
    s->most = eig_basis(k);
    if (s->most > room) s->most = room;
    first = a->recur || a->block > 0 ? s->width : a->n_start > 0 ? k + 1 : k + 3;
    if (first < a->n_start) first = a->n_start;
    if (first > s->most) first = s->most;
    M = (size_t) s->most;
    W = (size_t) (s->wide > first ? s->wide : first);
    if (W < LANES) W = LANES;
    ufs_dalloc_each(N, M, (double **[]){&s->v, &s->av, NULL});
    ufs_dalloc_each(N, W, (double **[]){&s->u, &s->r, NULL});
    s->norm = ufs_dalloc(W, 1);
    if (a->proof) {
        s->missed = ufs_dalloc(N, 1);
        s->sure = ufs_dalloc(N, (size_t) s->keep);
    }
    s->theta = ufs_dalloc(M, 1);
    ufs_dalloc_each(M, M, (double **[]){&s->h, &s->y, &s->copy, NULL});
    s->dot = ufs_dalloc(M + (size_t) a->n_known, M > UFS_STRIP ? M : UFS_STRIP);
    for (int j = 0; j < first; j++)
        if (j < a->n_start)
            ufs_copy(s->r + (size_t) j * N, a->start + (size_t) j * N, N);
        else
            krylov_noise(a->n, s->noise++, s->r + (size_t) j * N);
    append(s, first, s->r, false);
}

static int ritz_pairs(davidson *s)
{
    int n = s->a->n, size = s->size, keep = s->keep < size ? s->keep : size, lapack;
    size_t N = (size_t) n, S = (size_t) size;

    for (size_t j = 0; j < S; j++) ufs_copy(s->copy + j * S, s->h + j * (size_t) s->most, S);
    lapack = eig_leading(size, s->copy, keep, s->theta, s->y);
    if (lapack) return lapack;
    s->scale = fmax(fabs(s->a->low), fabs(s->a->high));
    if (s->scale == 0.0) s->scale = fabs(s->theta[0]);
    s->held = s->wide < size ? s->wide : size;
    la_mul('N', 'N', n, s->held, size, 1.0, s->v, s->y, 0.0, s->u);
    la_mul('N', 'N', n, s->held, size, 1.0, s->av, s->y, 0.0, s->r);
    for (int j = 0; j < s->held; j++) {
        double *r = s->r + (size_t) j * N;
        la_axpy(n, -s->theta[j], s->u + (size_t) j * N, r);
        s->norm[j] = la_nrm2(n, r);
    }
    return 0;
}

/* How large the residual of pair j may be. */
static double allowed(const davidson *s, int j)
{
    double exact = s->a->tol * s->scale;
    if (j >= s->a->k) return 0.0;
    if (j < s->a->k - s->a->n_rough) return exact;
    return fmax(exact, 0.1 * ((j > 0 ? s->theta[j - 1] : s->a->high) - s->theta[j]));
}

/* ---- is an eigenvalue missing? --------------------------------------------------------------- */

/* A proof that none is, for any multiplicity.
 *
 * From one vector, or a block of b, a Krylov space holds one copy, or b, of a multiple eigenvalue; the
 * others are orthogonal to all of it, so residuals say nothing about them. V is such a space, and C
 * is A on its complement. Lanczos from noise on C gives unit vectors v_j = p_j(C) v_0. An eigenvector
 * y of C with eigenvalue L, in which v_0 has the share c, has
 *     c |p_j(L)| = |y'v_j| <= 1,
 * and p_j(L) grows with L beyond all Ritz values, where it is positive: so once p_j(limit) exceeds
 * 1 / c no eigenvalue is left from `limit` on, and once p_j(some) is not positive a Ritz value lies
 * above `some`. A random start has c < CHANCE / sqrt(n) with a probability of CHANCE at most. That
 * needs no orthogonality of the v_j and no bound of the spectrum.
 *
 * Per step a product and 4 n size flops. Nothing is stored but three vectors: copies that come
 * from rounding do no harm to the largest. The vector itself, if one is missing, takes all steps again. */
enum { MOST = 2000 };
typedef enum { NONE, SOME, UNKNOWN } answer;
static const double CHANCE = 1e-4;

typedef struct {
    const eig_problem *a;
    int size, steps;
    const double *v;
    double *now, *before, *next, *dot; /* n, n, n; n_known + size */
    double *alpha, *beta;              /* MOST: the tridiagonal matrix */
} missed_work;

static void leave_out(missed_work *w, double *x)
{
    project_out(w->a->n, w->a->n_known, w->a->known, 1, x, w->dot);
    project_out(w->a->n, w->size, w->v, 1, x, w->dot);
}

/* Starts from noise; false if nothing of it is left outside the known vectors. */
static bool start(missed_work *w, int column)
{
    int n = w->a->n;
    double size;

    krylov_noise(n, column, w->now);
    size = la_nrm2(n, w->now);
    leave_out(w, w->now);
    leave_out(w, w->now);
    memset(w->before, 0, (size_t) n * sizeof(double));
    w->steps = 0;
    if (la_nrm2(n, w->now) <= UFS_ROUNDING * size) return false;
    size = la_nrm2(n, w->now);
    for (int i = 0; i < n; i++) w->now[i] /= size;
    return true;
}

/* One step of Lanczos; returns the next beta. V is left out last: what rounding leaves of it in one vector
 * would come back with the next, alpha / beta times as large. */
static double step(missed_work *w)
{
    int n = w->a->n, m = w->steps;
    double *free = w->before, left;

    R_CheckUserInterrupt();
    w->a->apply(w->a->data, 1, w->now, w->next);
    if (m > 0) la_axpy(n, -w->beta[m - 1], w->before, w->next);
    w->alpha[m] = la_dot(n, w->now, w->next);
    la_axpy(n, -w->alpha[m], w->now, w->next);
    leave_out(w, w->next);
    w->beta[m] = left = la_nrm2(n, w->next);
    w->steps++;
    for (int i = 0; i < n && left > 0.0; i++) w->next[i] /= left;
    w->before = w->now;
    w->now = w->next;
    w->next = free;
    return left;
}

/* p_{j-1} and p_j at a point become p_j and p_{j+1} of the last step; whether that is positive. */
static bool follow(const missed_work *w, double at, double p[2])
{
    int j = w->steps - 1;
    double next = (at - w->alpha[j]) * p[1] - (j > 0 ? w->beta[j - 1] * p[0] : 0.0);

    p[0] = p[1];
    p[1] = next / w->beta[j];
    return next > 0.0;
}

static int ritz_vector(missed_work *w, int column, double *x)
{
    int n = w->a->n, m = w->steps, lapack;
    size_t M = (size_t) m;
    double *t = ufs_dzero(M, M), *y = ufs_dalloc(M, 1), top;

    for (size_t j = 0; j < M; j++) {
        t[j + j * M] = w->alpha[j];
        if (j > 0) t[j - 1 + j * M] = t[j + (j - 1) * M] = w->beta[j - 1];
    }
    lapack = eig_leading(m, t, 1, &top, y);
    memset(x, 0, (size_t) n * sizeof(double));
    if (lapack || !start(w, column)) return lapack;
    for (int j = 0; j < m; j++) {
        la_axpy(n, y[j], w->now, x);
        if (j + 1 < m) step(w);
    }
    return 0;
}

/* Has A, on the complement of the vectors in `sure` and of what is known, an eigenvalue of at least
 * `limit`? s->missed: an approximate eigenvector, where a Ritz value lies above `some`, at most `limit`.
 * Counts products into info, and LAPACK's failure. */
static answer is_missed(davidson *s, int size, double some, double limit)
{
    const eig_problem *a = s->a;
    int column = s->noise++;
    void *mark = vmaxget();
    missed_work w = {.a = a, .size = size, .v = s->sure, .dot = s->dot};
    answer found = UNKNOWN;
    double p_some[2] = {0.0, 1.0}, p_limit[2] = {0.0, 1.0}; /* p_{j-1} and p_j */

    ufs_dalloc_each((size_t) a->n, 1, (double **[]){&w.now, &w.before, &w.next, NULL});
    ufs_dalloc_each(MOST, 1, (double **[]){&w.alpha, &w.beta, NULL});
    if (a->n_known + size >= a->n || !start(&w, column)) found = NONE;
    while (found == UNKNOWN && w.steps < MOST) {
        double left = step(&w);
        bool ends = left <= UFS_ROUNDING * fmax(fabs(some), fabs(limit)) ||
                    a->n_known + size + w.steps >= a->n;
        s->info->products++;
        if (!follow(&w, some, p_some))
            found = SOME;
        else if (follow(&w, limit, p_limit) && (ends || p_limit[1] * CHANCE > sqrt((double) a->n)))
            found = NONE;
    }
    if (found == SOME) {
        s->info->products += w.steps;
        s->info->lapack = ritz_vector(&w, column, s->missed);
    }
    vmaxset(mark);
    return found;
}

/* The wanted ones, and Ritz vectors behind them whose residuals are so small that they hold next to
 * nothing of what is missing; V may hold a part of it. */
static int sure_vectors(davidson *s)
{
    int n = s->a->n, k = s->a->k, most = s->keep < s->size ? s->keep : s->size, count = 0;
    size_t N = (size_t) n, S = (size_t) s->size;

    la_mul('N', 'N', n, most, s->size, 1.0, s->v, s->y, 0.0, s->sure);
    for (int j = 0; j < most; j++) {
        double *u = s->sure + (size_t) j * N;
        if (j >= k) {
            la_gemv('N', n, s->size, 1.0, s->av, n, s->y + (size_t) j * S, 0.0, s->missed);
            la_axpy(n, -s->theta[j], u, s->missed);
            if (la_nrm2(n, s->missed) > SURE * (s->theta[k - 1] - s->theta[j])) continue;
        }
        if (count < j) ufs_copy(s->sure + (size_t) count * N, u, N);
        count++;
    }
    return count;
}

/* Whether no eigenvalue is missing. What is missing is a copy of one that was found; one of the smallest
 * would change nothing, and those tied with it to TIE pass for its copies. Where the smallest is rough, the
 * eigenvalue itself may lie a little above. */
static bool complete(davidson *s)
{
    const eig_problem *a = s->a;
    int k = a->k;
    double least = s->theta[k - 1], range, above = least;
    double some = least + (10.0 * a->tol + UFS_ROUNDING) * s->scale;
    answer found;

    range = fmax(least - a->low, 0.0);
    if (s->theta[0] - a->low <= 0.0) return true;
    for (int j = k - 1; j >= 0 && above <= least + TIE * range; j--) above = s->theta[j];
    if (above <= least + TIE * range) above = least + 0.1 * (s->theta[0] - a->low);
    if (a->n_rough > 0) some = fmax(some, 0.5 * (least + above));
    found = is_missed(s, sure_vectors(s), some, fmax(some, above));
    s->missing = found == SOME && s->info->lapack == 0;
    return found == NONE;
}

/* ---- the subspace ---------------------------------------------------------------------------- */

static bool done(davidson *s)
{
    eig_info *info = s->info;
    int k = s->a->k;
    bool open = false;
    double worst = 0.0;

    s->missing = false;
    if (s->size < k) return false;
    for (int j = 0; j < k; j++) {
        bool small = s->norm[j] <= allowed(s, j);
        if (!small) open = true;
        if (!small || j < k - s->a->n_rough) worst = fmax(worst, s->norm[j]);
    }
    info->residual = worst > 0.0 ? worst / s->scale : 0.0;
    if (open) {
        if (worst < s->best / 2.0 || worst > s->best * 2.0) {
            s->rate = log(s->best / worst) / (info->products - s->best_at);
            s->best = worst;
            s->best_at = info->products;
        }
        /* Small, and no smaller for a while: it is at the rounding of the operator. */
        return info->residual <= ROUNDING && info->products > s->best_at + 2 * s->most;
    }
    info->converged = !s->a->proof || complete(s);
    /* There is room for LANES at least. */
    if (s->missing && s->width < LANES) s->width = 2 * s->width < LANES ? 2 * s->width : LANES;
    return !s->missing;
}

/* How many blocks to add before the next look: narrow ones until the residual should have come three
 * quarters of the way that is left. */
static int passes_to_look(const davidson *s)
{
    int most = s->size / 4 > LANES ? s->size / 4 : LANES, products = s->info->products;
    double left;

    if (!s->narrow) return 1;
    if (s->missing) return (products / 8 > 2 * LANES ? products / 8 : 2 * LANES) / s->width;
    if (most < s->a->k) most = s->a->k;
    left = 0.75 * log(s->info->residual / s->a->tol) / s->rate;
    if (left > 0.0 && left < most) most = left < 2.0 ? 2 : (int) left;
    return most < s->width ? 1 : most / s->width;
}

/* Where the polynomial damps: [low, the smallest Ritz value kept] or, while that is low itself, a
 * half of the range. */
static void damped(const davidson *s, double *mid, double *half)
{
    const eig_problem *a = s->a;
    *half = (s->theta[s->held - 1] - a->low) / 2.0;
    *mid = a->low + *half;
    if (!(*half > 0.0)) {
        *half = (a->high - a->low) / 4.0;
        *mid = a->low + *half;
    }
}

/* Degree that brings the slowest open pair up to `last` to its residual. Per degree a pair at theta
 * gains acosh((theta - mid) / half) in logarithm, and the leading one gains more on it: not so much
 * that it fills every column. Nor one that is known and was left out, but for rounding. */
static int degree_for(const davidson *s, int last)
{
    double mid, half, top, high, need = LEAST_DEGREE, most = MOST_DEGREE;

    damped(s, &mid, &half);
    top = acosh(fmax((s->theta[0] - mid) / half, 1.0));
    high = acosh((s->a->high - mid) / half);
    for (int j = 0; j <= last && j < s->a->k; j++) {
        double norm = s->norm[j], theta = s->theta[j];
        double gain = acosh(fmax((theta - mid) / half, 1.0 + 1e-6));
        if (norm <= allowed(s, j)) continue;
        need = fmax(need, log(norm / allowed(s, j)) / gain);
        if (top > gain) most = fmin(most, log(SPREAD * s->scale / norm) / (top - gain));
        if (s->a->n_known > 0)
            most = fmin(most,
                        log(0.1 * norm / s->scale / UFS_ROUNDING / DBL_EPSILON) / (high - gain));
    }
    return (int) fmin(need, fmax(most, LEAST_DEGREE));
}

/* x (n x count) <- the Chebyshev polynomial of that interval, scaled at the largest Ritz value. */
static void filter(const davidson *s, int degree, int count, double *x)
{
    double coef[3 * MOST_DEGREE], mid, half, sigma, sigma1;

    damped(s, &mid, &half);
    sigma1 = half / (fmax(s->theta[0], mid + 1.5 * half) - mid);
    sigma = sigma1;
    for (int d = 0; d < degree; d++) {
        double *c = coef + 3 * d, next = d == 0 ? sigma1 / 2.0 : 1.0 / (2.0 / sigma1 - sigma);
        c[0] = 2.0 * next / half;
        c[1] = -mid * c[0];
        c[2] = d == 0 ? 0.0 : -sigma * next;
        sigma = d == 0 ? sigma1 : next;
    }
    s->a->recur(s->a->data, count, degree, coef, x);
}

/* An eigenvector that was missing is joined by noise, from which its other copies can grow. */
static const double *next_block(davidson *s, int *count)
{
    const eig_problem *a = s->a;
    size_t N = (size_t) a->n;
    int last = 0, first = 0;
    double *from = a->recur ? s->u : s->r, *to = a->recur ? s->r : s->u;

    *count = 0;
    s->passes = passes_to_look(s);
    if (s->missing) {
        ufs_copy(to, s->missed, N);
        for (*count = 1; *count < s->width; ++*count)
            krylov_noise(a->n, s->noise++, to + (size_t) *count * N);
        if (a->recur) filter(s, LEAST_DEGREE, *count, to);
        return to;
    }
    for (int j = 0; j < s->held && s->narrow; j++)
        if (s->norm[j] > s->norm[first]) first = j;
    for (int i = 0; i < s->held && *count < s->width; i++) {
        int j = (first + i) % s->held;
        /* Pairs that are not wanted only fill the block up to LANES. */
        if (j >= a->k && *count % LANES == 0) break;
        if (s->norm[j] <= allowed(s, j)) continue;
        ufs_copy(to + (size_t) *count * N, from + (size_t) j * N, N);
        last = j;
        ++*count;
    }
    if (a->recur) filter(s, degree_for(s, last), *count, to);
    return to;
}

/* The first `keep` columns of q (n x k) become q y (y k x keep), in place, by blocks of rows. */
static void rotate(int n, int k, int keep, double *q, const double *y, double *scratch)
{
    size_t N = (size_t) n;
    for (int from = 0; from < n; from += UFS_STRIP) {
        int m = n - from < UFS_STRIP ? n - from : UFS_STRIP;
        la_gemm('N', 'N', m, keep, k, 1.0, q + from, n, y, k, 0.0, scratch, m);
        for (size_t j = 0; j < (size_t) keep; j++)
            ufs_copy(q + (size_t) from + j * N, scratch + j * (size_t) m, (size_t) m);
    }
}

/* Keeps the best Ritz vectors. */
static void restart(davidson *s)
{
    int n = s->a->n, keep = s->keep < s->size ? s->keep : s->size;
    size_t M = (size_t) s->most;

    rotate(n, s->size, keep, s->v, s->y, s->dot);
    rotate(n, s->size, keep, s->av, s->y, s->dot);
    for (size_t j = 0; j < (size_t) keep; j++)
        for (size_t i = 0; i <= j; i++) s->h[i + j * M] = i == j ? s->theta[j] : 0.0;
    s->size = keep;
}

/* Whether V grew. */
static bool expand(davidson *s)
{
    size_t N = (size_t) s->a->n;
    int count, begin;
    const double *block = next_block(s, &count);
    int full = s->a->n - s->a->n_known, room = s->most - s->keep;
    int need = count * s->passes < room ? count * s->passes : room;

    if (s->most < full && s->size + (s->passes > LANES ? need : count) > s->most) restart(s);
    begin = s->size;
    for (int pass = 0; pass < s->passes && count > 0 && s->size < s->most; pass++) {
        if (count > s->most - s->size) count = s->most - s->size;
        count = append(s, count, block, pass > 0);
        block = s->av + (size_t) (s->size - count) * N;
    }
    /* An invariant space, but not all there is. */
    if (s->size == begin && s->size < s->most) {
        krylov_noise(s->a->n, s->noise++, s->r);
        append(s, 1, s->r, false);
    }
    return s->size > begin;
}

static void dense_eigs(const eig_problem *a, double *w, double *z, eig_info *info)
{
    int n = a->n;
    size_t N = (size_t) n;
    double *identity = ufs_dzero(N, N), *full = ufs_dalloc(N, N);

    for (size_t i = 0; i < N; i++) identity[i + i * N] = 1.0;
    a->apply(a->data, n, identity, full);
    /* Known eigenvectors move below the rest of the spectrum. */
    if (a->n_known > 0)
        la_mul('N', 'T', n, n, a->n_known, -2.0 * (a->high - a->low), a->known, a->known, 1.0,
               full);
    *info = (eig_info){.converged = true};
    info->lapack = eig_leading(n, full, a->k, w, z);
}

void eig_krylov(const eig_problem *a, double *w, double *z, eig_info *info)
{
    size_t N = (size_t) a->n;
    void *mark = vmaxget();
    davidson s = {.a = a, .info = info};
    bool grew = true;

    *info = (eig_info){.residual = R_PosInf};
    begin(&s);
    for (;;) {
        info->lapack = ritz_pairs(&s);
        if (info->lapack) break;
        info->iterations++;
        if (done(&s) || info->iterations >= a->max_iter) break;
        if (!grew) {
            /* V is all there is. */
            info->converged = true;
            break;
        }
        grew = expand(&s);
    }
    for (int j = 0; j < a->k && !info->lapack; j++) {
        w[j] = s.theta[j];
        ufs_copy(z + (size_t) j * N, s.u + (size_t) j * N, N);
    }
    vmaxset(mark);
}

void eig_few(const eig_problem *a, double *w, double *z, eig_info *info)
{
    void *mark = vmaxget();
    if (a->n <= EIG_DENSE || 2 * (eig_basis(a->k) + a->n_known) > a->n)
        dense_eigs(a, w, z, info);
    else
        eig_krylov(a, w, z, info);
    vmaxset(mark);
}
