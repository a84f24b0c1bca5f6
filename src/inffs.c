/* inffs.c: infinite feature selection (Roffo, Melzi, Cristani, ICCV 2015).
 *
 * Features are the nodes of a complete graph with weights (p x p, symmetric, >= 0)
 *   A_ij = weight_sd * s_ij + weight_corr * c_ij,
 *   s_ij = max(t_i, t_j),  t_j = (sd_j - min sd) / (max sd - min sd)  (0 if all equal),
 *   c_ij = 1 - |Spearman correlation of i and j|,  c_ii = 0; no column is constant.
 * The score of a feature is the weight of all paths that start there, of every
 * length, damped by r per step: sum_{l >= 1} (r A)^l 1 = y - 1, (I - r A) y = 1.
 *
 * r rho(A) < 1 makes I - r A positive definite, its condition at most (1 + f) / (1 - f)
 * for r = f / rho(A). One Krylov space serves both questions: from Q'AQ = T, Q the
 * orthonormal basis of {1, A1, A^2 1, ...} (Lanczos, fully reorthogonalised), rho(A) is
 * the largest eigenvalue of T and y = sqrt(p) Q (I - r T)^{-1} e_1, which are the iterates
 * of conjugate gradients; 1 is never orthogonal to the Perron vector. rho(A) takes some
 * ten vectors at most: 1 - |cos| and max(t, t') are small between two groups of features only where
 * they are small inside them too, so the second eigenvalue is far from the first. On real and
 * made data 2 to 11 vectors did for both; KRYLOV is the most. No inverse, no factorisation.
 * A product with s needs the deviations in order and two running sums, p log p in all. The modulus
 * |rho| has full rank (and 1 - rho would not do), so its products go over tiles of the upper
 * triangle, kept or recomputed in n p^2 flops each. Twice the centred ranks are whole numbers, and
 * so are their inner products: up to EXACT samples these are below 2^24 and kept as floats without
 * an error (p^2 / 4 doubles), up to SHORT below 2^16 and kept as such integers, else as doubles;
 * the first product keeps what it needs. About n p^2 + 2 p^2 (products) flops kept,
 * n p^2 (products) recomputed; n p + 2 (products) p memory beyond x and the tiles.
 *
 * INFFS_TPAMI repeats the authors' program of 2020 (Inf-FS_U): with M the largest
 * row sum of A and e = 5e-6 p it solves (I - (1 - e)/M * A/(M + e)) y = 1 and
 * scores by y. */
#include "inffs.h"
#include "eig.h"
#include "x_ops.h"

/* EXACT, SHORT: the largest n with n (n^2 - 1) / 3 <= 2^24, < 2^16. */
enum { TILE = UFS_STRIP, KRYLOV = 40, EXACT = 369, SHORT = 58 };

/* A true residual above this is not that of a solution, whatever the recurrence says. */
static const double ROUGH = 1e-6;

typedef struct {
    int n, p, n_tile;
    double *t;       /* p: shifted and scaled standard deviations */
    int *order;      /* p: the features by t */
    double *z;       /* n x p: twice the centred ranks */
    double *inverse; /* p: 1 / their norms, 0 for a constant column */
    /* Tiles of |z'z| of the upper triangle, column by column: one of the three or none. */
    uint16_t *brief;
    float *exact;
    double *store;
    bool kept;
    double *tile, *scaled; /* one tile; p */
    const inffs_settings *settings;
} graph;

/* What the Krylov space of 1 knows so far. */
typedef struct {
    int k;                     /* basis vectors */
    double *q;                 /* p x (k + 1) */
    double *image;             /* p x k: A q */
    double t[KRYLOV * KRYLOV]; /* Q'AQ, leading dimension KRYLOV */
    double theta[KRYLOV];      /* its eigenvalues, ascending, */
    double u[KRYLOV * KRYLOV]; /* and eigenvectors, k x k */
    double w[KRYLOV];          /* (I - r T)^{-1} e_1 */
    double scratch[KRYLOV * KRYLOV];
} krylov;

/* ---- A ------------------------------------------------------------------------------------ */

/* t_j = (sd_j - min) / (max - min); zeros if all are equal up to rounding. Only ratios
 * matter, so x is divided by a power of 2 first: no squares overflow, whatever the unit of x. */
static void scaled_deviations(const inffs_problem *problem, double *t)
{
    int n = problem->n, p = problem->p, power = 0;
    size_t len = (size_t) n * (size_t) p;
    double low = R_PosInf, high = 0.0, most = 0.0, shrink;

    for (size_t i = 0; i < len; i++) most = fmax(most, fabs(problem->x[i]));
    if (most > 0.0) frexp(most, &power);
    /* Two factors: 2^-power itself may not be a number. */
    shrink = ldexp(1.0, -(power / 2));
    for (int j = 0; j < p; j++) {
        const double *col = problem->x + (size_t) j * (size_t) n;
        double other = ldexp(1.0, -(power - power / 2)), mean = 0.0, rest = 0.0, ss = 0.0;
        for (int i = 0; i < n; i++) mean += col[i] * shrink * other / n;
        for (int i = 0; i < n; i++) rest += (col[i] * shrink * other - mean) / n;
        mean += rest;
        for (int i = 0; i < n; i++) {
            double d = col[i] * shrink * other - mean;
            ss += d * d;
        }
        t[j] = sqrt(ss / (double) (n - 1));
        low = fmin(low, t[j]);
        high = fmax(high, t[j]);
    }
    for (int j = 0; j < p; j++)
        t[j] = high - low > 1e-12 * high ? (t[j] - low) / (high - low) : 0.0;
}

static void graph_init(graph *a, const inffs_problem *problem, const inffs_settings *settings,
                       const ufs_paths *paths)
{
    int n = problem->n, p = problem->p;
    size_t N = (size_t) n, P = (size_t) p, tiles = (P + TILE - 1) / TILE;
    size_t all = tiles * (tiles + 1) / 2 * TILE * TILE;

    *a = (graph){.n = n,
                 .p = p,
                 .n_tile = (int) tiles,
                 .settings = settings,
                 .z = ufs_dalloc(N, P),
                 .order = ufs_ialloc(P),
                 .tile = ufs_dzero(TILE, TILE)};
    ufs_dalloc_each(P, 1, (double **[]){&a->t, &a->inverse, &a->scaled, NULL});
    scaled_deviations(problem, a->t);
    for (size_t j = 0; j < P; j++) {
        a->order[j] = (int) j;
        a->scaled[j] = a->t[j];
    }
    rsort_with_index(a->scaled, a->order, p);
    /* Twice the ranks less n + 1: whole numbers. */
    ufs_column_ranks(n, p, problem->x, a->z);
    for (size_t i = 0; i < N * P; i++) a->z[i] = 2.0 * a->z[i] - (n + 1.0);
    for (size_t j = 0; j < P; j++) {
        double ss = la_ss(N, a->z + j * N);
        a->inverse[j] = ss > 0.0 ? 1.0 / sqrt(ss) : 0.0;
    }
    if (!settings->store) return;
    if (n <= SHORT && paths->inffs_short)
        a->brief = (uint16_t *) R_alloc(all, sizeof(uint16_t));
    else if (n <= EXACT && paths->inffs_float)
        a->exact = (float *) R_alloc(all, sizeof(float));
    else
        a->store = ufs_dzero(all, 1);
}

static int tile_size(const graph *a, int b)
{
    int rest = a->p - b * TILE;
    return rest < TILE ? rest : TILE;
}

/* |z_i'z_j| for the rows of block bi and the columns of block bj, leading dimension TILE, from
 * where it is kept, or computed, and kept if there is room. The loops over whole tiles have a fixed
 * length, so that compilers make vector code of them. */
static const double *tile_at(graph *a, int bi, int bj, size_t at)
{
    size_t i0 = (size_t) bi * TILE, j0 = (size_t) bj * TILE, N = (size_t) a->n;
    double *tile = a->store != NULL ? a->store + at : a->tile;
    uint16_t *brief = a->brief != NULL ? a->brief + at : NULL;
    float *exact = a->exact != NULL ? a->exact + at : NULL;

    if (!a->kept) {
        la_gemm('T', 'N', tile_size(a, bi), tile_size(a, bj), a->n, 1.0, a->z + i0 * N, a->n,
                a->z + j0 * N, a->n, 0.0, tile, TILE);
        for (int l = 0; l < TILE * TILE; l++) tile[l] = fabs(tile[l]);
        if (brief != NULL)
            for (int l = 0; l < TILE * TILE; l++) brief[l] = (uint16_t) tile[l];
        if (exact != NULL)
            for (int l = 0; l < TILE * TILE; l++) exact[l] = (float) tile[l];
    } else if (brief != NULL) {
        for (int l = 0; l < TILE * TILE; l++) tile[l] = (double) brief[l];
    } else if (exact != NULL) {
        for (int l = 0; l < TILE * TILE; l++) tile[l] = (double) exact[l];
    }
    return tile;
}

/* out_i += weight_sd sum_j max(t_i, t_j) x_j: t_i times the sum of the x_j before i in the order of
 * t, and the sum of the t_j x_j behind it. */
static void add_deviations(const graph *a, const double *x, double *out)
{
    long double before = 0.0, behind = 0.0;
    for (int l = 0; l < a->p; l++) {
        int i = a->order[l];
        before += x[i];
        out[i] += a->settings->weight_sd * a->t[i] * (double) before;
    }
    for (int l = a->p - 1; l >= 0; l--) {
        int i = a->order[l];
        out[i] += a->settings->weight_sd * (double) behind;
        behind += (long double) a->t[i] * x[i];
    }
}

/* out = A x. */
static void graph_product(graph *a, const double *x, double *out)
{
    size_t at = 0, P = (size_t) a->p;
    long double total = 0.0;

    memset(out, 0, P * sizeof(double));
    for (size_t i = 0; i < P; i++) {
        a->scaled[i] = a->inverse[i] * x[i];
        total += x[i];
    }
    for (int bj = 0; bj < a->n_tile; bj++)
        for (int bi = 0; bi <= bj; bi++, at += TILE * TILE) {
            const double *tile = tile_at(a, bi, bj, at);
            int rows = tile_size(a, bi), cols = tile_size(a, bj);
            size_t i0 = (size_t) bi * TILE, j0 = (size_t) bj * TILE;
            if (bi % 16 == 0) R_CheckUserInterrupt();
            la_gemv('N', rows, cols, 1.0, tile, TILE, a->scaled + j0, 1.0, out + i0);
            if (bi < bj) la_gemv('T', rows, cols, 1.0, tile, TILE, a->scaled + i0, 1.0, out + j0);
        }
    a->kept = a->brief != NULL || a->exact != NULL || a->store != NULL;
    /* 1 - |rho| is 0 for the feature itself, up to rounding. */
    for (size_t i = 0; i < P; i++)
        out[i] = a->settings->weight_corr * ((double) total - a->inverse[i] * out[i]);
    if (a->settings->weight_sd > 0.0) add_deviations(a, x, out);
}

/* ---- (I - r A) y = 1 ---------------------------------------------------------------------- */

/* The damping r that belongs to this spectral radius, or largest row sum. */
static double damping_of(const inffs_settings *settings, int p, double radius)
{
    double e = 5e-6 * (double) p;
    return settings->bound == INFFS_TPAMI ? (1.0 - e) / radius / (radius + e)
                                          : settings->factor / radius;
}

/* Adds a vector to the basis, normalised unless it is rounding (the image of the first vector is
 * there already), and returns in beta the norm of what is new in it. The leading eigenpair of T
 * goes to *top and the last column of u. */
static int krylov_step(krylov *s, graph *a, double *top, double *beta)
{
    int p = a->p, k = ++s->k, lapack;
    size_t P = (size_t) p;
    double *last = s->q + (size_t) (k - 1) * P, *next = s->q + (size_t) k * P;
    double *image = s->image + (size_t) (k - 1) * P;

    if (k > 1) graph_product(a, last, image);
    s->t[(k - 1) + (k - 1) * KRYLOV] = la_dot(p, last, image);
    if (!R_FINITE(s->t[(k - 1) + (k - 1) * KRYLOV])) {
        *beta = R_NaN;
        return 0;
    }
    ufs_copy(next, image, P);
    *beta = 0.0;
    if (krylov_orthonormalise(&(krylov_basis){.n = p, .q = s->q, .dot = s->scratch}, k, 1, 1e-14,
                              false))
        *beta = la_dot(p, next, image);
    for (int j = 0; j < k; j++) ufs_copy(s->scratch + j * k, s->t + j * KRYLOV, (size_t) k);
    lapack = eig_range(k, s->scratch, 1, k, s->theta, s->u);
    if (lapack) return lapack;
    *top = s->theta[k - 1];
    if (k < KRYLOV) s->t[(k - 1) + k * KRYLOV] = s->t[k + (k - 1) * KRYLOV] = *beta;
    return 0;
}

/* Finds the spectral radius, if it is asked for, and y, into result->score, from one Krylov space;
 * sum = A 1. */
static void solve_lanczos(graph *a, const double *sum, inffs_result *result, ufs_run *run)
{
    const inffs_settings *settings = a->settings;
    bool radius = settings->bound == INFFS_RADIUS, have = !radius, done = false;
    int p = a->p, most = p < KRYLOV ? p : KRYLOV;
    size_t P = (size_t) p;
    double size = sqrt((double) p), beta = 0.0, top = 0.0, old = 1.0, residual,
           *ay = ufs_dzero(P, 1);
    krylov s = {.q = ufs_dalloc(P, (size_t) most + 1), .image = ufs_dalloc(P, (size_t) most)};

    for (size_t i = 0; i < P; i++) {
        s.q[i] = 1.0 / size;
        s.image[i] = sum[i] / size;
    }
    result->damping = damping_of(settings, p, result->radius);
    while (s.k < most && !done && run->iterations < run->max_iter) {
        run->lapack = krylov_step(&s, a, &top, &beta);
        if (run->lapack) return;
        if (!R_FINITE(beta)) {
            result->residual = R_NaN;
            return;
        }
        if (radius) {
            /* The last entry of the leading eigenvector of T: a residual of 1e-9 is an error of
             * 1e-18 / (relative gap). */
            have = beta * fabs(s.u[s.k * s.k - 1]) <= 1e-9 * top || beta <= 1e-14 * top;
            result->radius = top;
            result->damping = damping_of(settings, p, top);
        }
        /* w = (I - r T)^{-1} e_1. */
        memset(s.w, 0, sizeof s.w);
        for (int j = 0; j < s.k; j++) {
            const double *u = s.u + j * s.k;
            la_axpy(s.k, u[0] / (1.0 - result->damping * s.theta[j]), u, s.w);
        }
        residual = result->damping * beta * fabs(s.w[s.k - 1]);
        run->iterations++;
        ufs_trace_add(&run->trace, (double[]){run->iterations, residual});
        ufs_run_step(run, residual, residual / old);
        old = residual;
        done = have && (residual <= run->tol || beta <= 1e-14 * top);
    }
    la_gemv('N', p, s.k, size, s.q, p, s.w, 0.0, result->score);
    /* The residual, with A y from the products themselves and not from the recurrence. */
    la_gemv('N', p, s.k, size, s.image, p, s.w, 0.0, ay);
    for (size_t i = 0; i < P; i++) {
        double rest = fabs(1.0 - result->score[i] + result->damping * ay[i]);
        /* Written so that a NaN is kept. */
        if (!(rest <= result->residual)) result->residual = rest;
    }
    run->status = UFS_MAX_ITER;
    /* Where ranks hardly differ 1 - |rho| is rounding, and so is A; tol is of ||.|| / ||1||. */
    if (done)
        run->status = result->residual <= fmax(2.0 * size * run->tol, ROUGH) ? UFS_CONVERGED
                                                                             : UFS_STALLED;
}

/* ---- the whole --------------------------------------------------------------------------- */

void inffs_solve(const inffs_problem *problem, const inffs_settings *settings, inffs_result *result,
                 ufs_run *run)
{
    static const char *const columns[] = {"iteration", "residual", NULL};
    int p = problem->p;
    size_t P = (size_t) p;
    graph a;
    double *one = ufs_dalloc(P, 1), *sum = ufs_dalloc(P, 1), top = 0.0;

    ufs_trace_named(&run->trace, run->max_iter, columns);
    graph_init(&a, problem, settings, &run->paths);
    for (size_t j = 0; j < P; j++) one[j] = 1.0;
    graph_product(&a, one, sum);
    for (size_t j = 0; j < P; j++) top = fmax(top, sum[j]);
    /* 1 - |rho| of perfect correlation is rounding. */
    result->empty = !(top > 4.0 * DBL_EPSILON * (double) p);
    if (!result->empty) {
        result->radius = top;
        solve_lanczos(&a, sum, result, run);
        if (run->lapack) return;
        if (!R_FINITE(result->residual)) run->status = UFS_NUMERICAL;
        if (settings->bound != INFFS_TPAMI)
            for (size_t j = 0; j < P; j++) result->score[j] -= 1.0;
    }
}
