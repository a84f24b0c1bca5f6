/* base_rsr_exact.c: regularised self-representation to a given duality gap (see base_rsr.c for
 * the problem and its dual).
 *
 * Rows of W that are zero at the optimum are left out: S is the set of the others, X_S their
 * columns, and E = X - X_S V with V = W_S. As only norms of rows are needed, X on the left is
 * replaced by any T (n x r, r = min(n, p)) with T T' = X X'.
 *
 * One step, from weights r_j and g_i (q = |S|, R and G their diagonals):
 *   q small: Q = (R^{1/2} X_S'G^{-1}X_S R^{1/2} + lambda I)^{-1}, P = R^{1/2} Q R^{1/2},
 *            V = P X_S'G^{-1}T, E = T - X_S V; if S is everything and T = X, W = I - lambda P
 *            R^{-1} and E = lambda X P R^{-1}.         nq^2 + q^3 + 2nq^2 + 4nqr + 2q^2 r flops
 *   q large: K = X_S R X_S' + lambda G = C'C, B = C^{-T} T, |e_i| = lambda g_i |row i of
 *            C^{-1} B|, |w_j| = r_j |B' C^{-T} x_j|.    3n^2 q + 13n^3/3 flops, and 2n^2 q
 *            for q > 4n, where W_jj is guessed from |w_j| and the trace of W.
 * The weights of the next step are g_i = 2|e_i|, r_j = 2|w_j|: majorise-minimise in the convex
 * function lambda tr(X' K^{-1} X) + (sum g + lambda sum r) / 4 of the weights.
 *
 * Three things make it fast. (1) The derivative of log |w_j| by log r_j is exactly 1 - W_jj, and
 * that of log |e_i| by log g_i is x_i P x_i' / g_i: each weight's own step is divided by what is
 * left of 1 (a Newton step on the diagonal), and Anderson extrapolation of the square roots of the
 * weights does the rest. A step that raised the objective is taken back. (2) The first weights
 * are r_j = a, g_i = b |x_i| with the best a / b for the spectrum of X (Lanczos quadrature).
 * (3) Rows leave S when they are small and |X'Y|_j is below lambda, and enter it when all
 * columns are priced; this alone costs n r p flops, and its gap is the certificate.
 *
 * W = I is tried first where it may be optimal: Y = lambda D X (X'DX)^{-1} has X'Y = lambda I for
 * any weights D of the samples, so lambda |row i of D X (X'DX)^{-1}| <= 1 for all i proves it.
 *
 * Memory: 2nq + nr + q^2 + qr doubles (q small, q = p <= n: 2np + 2p^2), 3n^2 (q large). */
#include "base_rsr.h"
#include "anderson.h"
#include "la.h"
#include "la_krylov.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

enum { DEPTH = 5, STRIP = 256, NODES = 12, TRIALS = 3, RETRIES = 6, DROP_EVERY = 3, WAIT = 10 };
static const double RISE = 1e-12;               /* of the objective: rounding */
static const double SMALL = 1e-3, LEAVE = 0.99; /* rows that leave: size, |X'Y|_j / lambda */
static const double WORTH = 0.2;                /* share of rows for which a new set is made */
static const double FIT = 0.9;                  /* most that W explains of E at first, and least */
static const double NEW_ROW = 0.03;             /* its weight, of the mean one */
static const double BOLD = 1.0, LEAST = 0.05;   /* log step of a root; least 1 - derivative */
static const double FAR = 3.0;                  /* log root of a weight off its plain value */

typedef enum { PLAIN, EXTRAPOLATED, DROPPED, ENTERED } rsr_move;

typedef struct {
    const rsr_problem *problem;
    const rsr_settings *settings;
    rsr_result *out;
    ufs_run *run;
    int n, p, r;
    const double *t; /* n x r */
    /* The set, ascending; by place: weights, |w_j|, W_jj. By sample: weights, |e_i|, shares. */
    int q, *set;
    double *wr, *row, *own;
    double *wg, *size, *hat;
    int old_q, *old_set; /* before rows left */
    double *old_wr;
    bool *fresh; /* by feature: entered last */
    bool common;
    rsr_move move;
    int retries, accepted, drop_after;
    double objective; /* smoothed, of the last accepted step */
    double primal, inner, over;
    double bound, gap; /* best dual value; relative gap of the last pricing */
    /* Allocated for the set at hand. */
    bool small, whole;
    double *xs, *scaled, *k, *b, *v, *y, *strip, *tau, *reflect;
    int n_reflect;
    double *u, *f, *plain, *weight;
    anderson history;
} rsr_exact;

static bool try_identity(rsr_exact *s);
static bool proves_identity(rsr_exact *s, double *d, double *m, double *rows, double *norm,
                            double *worst);
static void known_result(rsr_exact *s, bool identity);
static void start_set(rsr_exact *s);
static void set_part(rsr_exact *s);
static void start_weights(rsr_exact *s);
static void noise_by_length(const rsr_exact *s, double *w);
static bool solve_part(rsr_exact *s, bool *again);
static void set_weights(rsr_exact *s);
static int step_small(rsr_exact *s);
static void gram_by_strips(rsr_exact *s);
static void whole_rows(rsr_exact *s);
static void shares(rsr_exact *s, const double *xs, const double *xp);
static int step_large(rsr_exact *s);
static double measure(rsr_exact *s);
static void price(rsr_exact *s);
static void set_plain(rsr_exact *s);
static void extrapolate(rsr_exact *s);
static bool take_back(rsr_exact *s);
static bool enter(rsr_exact *s);
static bool drop(rsr_exact *s);
static void coefficients(rsr_exact *s, double *w);

void rsr_exact_solve(const rsr_problem *problem, const rsr_settings *settings, rsr_result *result,
                     ufs_run *run)
{
    static const char *const columns[] = {"iteration", "objective", "gap", NULL};
    int n = problem->n, p = problem->p;
    size_t N = (size_t) n, P = (size_t) p;
    double total = 0.0, top = 0.0;
    rsr_exact s = {.problem = problem,
                   .settings = settings,
                   .out = result,
                   .run = run,
                   .n = n,
                   .p = p,
                   .r = p > n ? n : p,
                   .t = p > n ? problem->root : problem->x,
                   .set = ufs_ialloc(P),
                   .wr = ufs_dalloc(P, 1),
                   .row = ufs_dzero(P, 1),
                   .own = ufs_dalloc(P, 1),
                   .wg = ufs_dalloc(N, 1),
                   .size = ufs_dalloc(N, 1),
                   .hat = ufs_dalloc(N, 1),
                   .old_set = ufs_ialloc(P),
                   .old_wr = ufs_dalloc(P, 1),
                   .fresh = (bool *) R_alloc(P, sizeof(bool)),
                   .common = true,
                   .move = PLAIN,
                   .objective = R_PosInf};
    bool again = true;

    ufs_trace_named(&run->trace, settings->max_iter, columns);
    if (settings->max_iter < 1) return;
    memset(s.fresh, 0, P * sizeof(bool));
    la_row_norms(n, p, problem->x, s.size);
    for (int i = 0; i < n; i++) total += s.size[i];
    for (int j = 0; j < p; j++) {
        result->dual[j] = problem->activity[j] / problem->lambda;
        top = fmax(top, result->dual[j]);
    }
    s.bound = total * fmin(1.0, 1.0 / top);
    s.gap = 1.0 - s.bound / total;
    if (top <= 1.0 || try_identity(&s)) {
        known_result(&s, top > 1.0);
        return;
    }
    start_set(&s);
    while (again) {
        void *mark;
        ufs_trace_room(&run->trace);
        mark = vmaxget();
        set_part(&s);
        if (run->iterations == 0) start_weights(&s);
        if (!solve_part(&s, &again)) again = false;
        vmaxset(mark);
    }
    for (int j = 0; j < p; j++) result->row[j] = 0.0;
    for (int a = 0; a < s.q; a++) result->row[s.set[a]] = s.row[a];
    ufs_copy(result->residual, s.size, N);
    if (result->w != NULL && run->lapack == 0) coefficients(&s, result->w);
}

/* ---- W = I and W = 0 --------------------------------------------------------------------- */

/* Only where D = I does not miss by much, and lambda p <= sum |x_i|, which is necessary. */
static bool try_identity(rsr_exact *s)
{
    const rsr_problem *problem = s->problem;
    size_t N = (size_t) s->n, P = (size_t) s->p;
    void *mark = vmaxget();
    double total = 0.0, worst = R_PosInf, before;
    double *d, *m, *rows, *norm;
    bool proved = problem->lambda <= problem->identity;

    for (int i = 0; i < s->n; i++) total += s->size[i];
    if (proved || !(problem->lambda <= 3.0 * problem->identity) ||
        problem->lambda * s->p > 0.99 * total)
        return proved;
    d = ufs_dalloc(N, 1);
    norm = ufs_dalloc(N, 1);
    m = ufs_dalloc(P, P);
    rows = ufs_dalloc(STRIP, P);
    for (size_t i = 0; i < N; i++) d[i] = s->size[i] > 0.0 ? 1.0 / s->size[i] : 0.0;
    for (int trial = 0; trial < TRIALS && !proved; trial++) {
        before = worst;
        proved = proves_identity(s, d, m, rows, norm, &worst);
        if (!proved && !(worst < 0.9 * before)) break;
        for (size_t i = 0; i < N; i++)
            if (norm[i] > 0.0) d[i] /= norm[i];
    }
    vmaxset(mark);
    return proved;
}

/* norm: of the rows of D X (X'DX)^{-1}; worst: the largest of them times lambda. */
static bool proves_identity(rsr_exact *s, double *d, double *m, double *rows, double *norm,
                            double *worst)
{
    int n = s->n, p = s->p;
    size_t N = (size_t) n, P = (size_t) p;
    const double *x = s->problem->x;

    memset(m, 0, P * P * sizeof(double));
    *worst = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        for (int from = 0; from < n; from += STRIP) {
            int count = n - from < STRIP ? n - from : STRIP;
            for (size_t j = 0; j < P; j++)
                for (size_t i = 0; i < (size_t) count; i++) {
                    double weight = d[(size_t) from + i];
                    rows[i + j * (size_t) count] = x[(size_t) from + i + j * N] *
                                                   (pass == 0 ? sqrt(weight) : weight);
                }
            R_CheckUserInterrupt();
            if (pass == 0) {
                la_syrk('T', p, count, 1.0, rows, count, 1.0, m, p);
                continue;
            }
            la_trsm('R', 'U', 'N', count, p, 1.0, m, p, rows, count);
            la_trsm('R', 'U', 'T', count, p, 1.0, m, p, rows, count);
            la_row_norms(count, p, rows, norm + from);
        }
        if (pass == 0 && la_chol(p, m) != 0) return false;
    }
    for (int i = 0; i < n; i++) *worst = fmax(*worst, s->problem->lambda * norm[i]);
    return *worst <= 1.0;
}

/* W = I or W = 0, both without a gap. */
static void known_result(rsr_exact *s, bool identity)
{
    const rsr_settings *set = s->settings;
    rsr_result *out = s->out;
    size_t P = (size_t) s->p;

    for (size_t j = 0; j < P; j++) {
        out->row[j] = identity;
        if (identity) out->dual[j] = 1.0;
    }
    for (int i = 0; i < s->n; i++) out->residual[i] = identity ? 0.0 : s->size[i];
    out->gap = 0.0;
    out->objective = la_l21(s->n, out->residual, set->eps_residual) +
                     s->problem->lambda * la_l21(s->p, out->row, set->eps_row);
    s->run->iterations = 1;
    s->run->status = UFS_CONVERGED;
    ufs_trace_add(&s->run->trace, (double[]){1, out->objective, 0.0});
    ufs_run_step(s->run, out->objective, 0.0);
    if (out->w == NULL) return;
    memset(out->w, 0, P * P * sizeof(double));
    for (size_t j = 0; j < P && identity; j++) out->w[j + j * P] = 1.0;
}

/* ---- the set --------------------------------------------------------------------------- */

/* The columns that would move first from W = 0. */
static void start_set(rsr_exact *s)
{
    s->q = 0;
    for (int j = 0; j < s->p; j++)
        if (s->out->dual[j] > 1.0) s->set[s->q++] = j;
}

/* All buffers for the set at hand. */
static void set_part(rsr_exact *s)
{
    int n = s->n, q = s->q;
    size_t N = (size_t) n, Q = (size_t) q, R = (size_t) s->r, M;

    s->whole = q == s->p && s->p <= n;
    s->small = s->p <= n || q <= 0.75 * n;
    M = s->small ? Q : N;
    s->xs = s->small && !s->whole ? ufs_dalloc(N, Q) : NULL;
    s->scaled = s->whole ? NULL : ufs_dalloc(N, s->small ? Q : STRIP);
    s->k = ufs_dalloc(M, M);
    s->b = s->small ? ufs_dalloc(Q, R) : ufs_dalloc(N, N);
    s->v = s->small ? ufs_dalloc(Q, R) : NULL;
    s->y = ufs_dalloc(N, R);
    s->strip = s->whole ? ufs_dalloc(STRIP, Q) : NULL;
    s->n_reflect = la_lq_work((int) M, (int) M);
    s->reflect = ufs_dalloc((size_t) s->n_reflect, 1);
    s->tau = ufs_dalloc(M, 1);
    s->u = ufs_dalloc(N + Q, 1);
    s->f = ufs_dalloc(N + Q, 1);
    s->plain = ufs_dalloc(N + Q, 1);
    s->weight = ufs_dalloc(N + Q, 1);
    anderson_init(&s->history, n + q, DEPTH);
    for (int a = 0; a < q && s->xs != NULL; a++)
        ufs_copy(s->xs + (size_t) a * N, s->problem->x + (size_t) s->set[a] * N, N);
}

/* r_j = a, g_i = b |x_i|: the fixed point for rows that are alike. The product of the two terms of
 * the function of the weights does not depend on their common factor; its minimum over a / b is
 * found on a grid, with the trace from the eigenvalues of G^{-1/2} X_S X_S' G^{-1/2} that twelve
 * Lanczos steps see. */
static void start_weights(rsr_exact *s)
{
    int n = s->n, q = s->q, steps = n < NODES ? n : NODES, found = 0;
    size_t N = (size_t) n, Q = (size_t) q;
    double lambda = s->problem->lambda, mean = 0.0, best = R_PosInf, at = 0.0, beta = 0.0;
    double h[NODES * NODES] = {0.0}, theta[NODES], y[NODES * NODES], copy[NODES * NODES];
    double *basis = ufs_dalloc(N, (size_t) steps), *z = ufs_dalloc(Q, 1), *w = ufs_dalloc(N, 1);
    double first = 0.0, second = 0.0;

    for (int i = 0; i < n; i++) mean += s->size[i] / n;
    for (int i = 0; i < n; i++) s->wg[i] = fmax(s->size[i] / mean, 1e-8);
    noise_by_length(s, w);
    for (int l = 0; l < steps; l++) {
        double norm = la_nrm2(n, w), *v = basis + (size_t) l * N;
        if (!(norm > 1e-10 * beta) || norm == 0.0) break;
        if (l > 0) h[(l - 1) + l * NODES] = norm;
        for (int i = 0; i < n; i++) v[i] = w[i] / norm;
        for (int i = 0; i < n; i++) w[i] = v[i] / sqrt(s->wg[i]);
        if (q == s->p) {
            la_gemv('T', n, s->r, 1.0, s->t, n, w, 0.0, z);
            la_gemv('N', n, s->r, 1.0, s->t, n, z, 0.0, w);
        } else {
            for (int a = 0; a < q; a++) z[a] = la_dot(n, s->problem->x + (size_t) s->set[a] * N, w);
            memset(w, 0, N * sizeof(double));
            for (int a = 0; a < q; a++) la_axpy(n, z[a], s->problem->x + (size_t) s->set[a] * N, w);
        }
        for (int i = 0; i < n; i++) w[i] /= sqrt(s->wg[i]);
        h[l + l * NODES] = la_dot(n, v, w);
        beta = fmax(beta, la_nrm2(n, w));
        for (int pass = 0; pass < 2; pass++)
            for (int m = 0; m <= l; m++)
                la_axpy(n, -la_dot(n, basis + (size_t) m * N, w), basis + (size_t) m * N, w);
        found = l + 1;
    }
    if (la_krylov_ritz(found, h, NODES, theta, y, copy) != 0) found = 0;
    for (int grid = -250; grid <= 250; grid++) {
        double a = exp(0.1 * grid), trace = 0.0, fit = 0.0, sum = n + a * lambda * q;
        for (int l = 0; l < found; l++) {
            double share = y[l * found] * y[l * found], value = fmax(theta[l], 0.0);
            trace += n * share * lambda * value / (a * value + lambda);
            fit += share * a * value / (a * value + lambda);
        }
        /* Residuals or rows near 0 would take long to grow again. */
        if (trace * sum < best && fit > 1.0 - FIT && fit < FIT) {
            best = trace * sum;
            at = a;
            first = trace;
            second = sum / 4.0;
        }
    }
    if (!(first > 0.0)) {
        at = 1.0;
        first = second = 1.0;
    }
    for (int a = 0; a < q; a++) s->wr[a] = at * sqrt(first / second);
    for (int i = 0; i < n; i++) s->wg[i] *= sqrt(first / second);
}

/* Start vector of the quadrature: noise that goes with the samples' lengths, not with their places,
 * so that samples in another order get the same first weights. */
static void noise_by_length(const rsr_exact *s, double *w)
{
    size_t N = (size_t) s->n;
    void *mark = vmaxget();
    double *key = ufs_dalloc(N, 1), *noise = ufs_dalloc(N, 1);
    int *place = ufs_ialloc(N);

    ufs_copy(key, s->size, N);
    for (int i = 0; i < s->n; i++) place[i] = i;
    rsort_with_index(key, place, s->n);
    la_krylov_noise(s->n, 0, noise);
    for (size_t i = 0; i < N; i++) w[place[i]] = noise[i];
    vmaxset(mark);
}

/* ---- the iteration -------------------------------------------------------------------- */

/* Until the gap is closed, the iterations are used up or the set changed (again). False: LAPACK
 * failed. */
static bool solve_part(rsr_exact *s, bool *again)
{
    ufs_run *run = s->run;
    double tol = s->settings->tol;
    int most = s->settings->max_iter;
    bool all = s->q == s->p;

    *again = false;
    for (int a = 0; a < s->q; a++) s->u[a] = sqrt(s->wr[a]);
    for (int i = 0; i < s->n; i++) s->u[s->q + i] = sqrt(s->wg[i]);
    while (run->iterations < most) {
        double inner_gap, objective;
        bool last, priced;
        set_weights(s);
        run->lapack = s->small ? step_small(s) : step_large(s);
        if (run->lapack) return false;
        run->iterations++;
        objective = measure(s);
        last = run->iterations == most;
        if (!R_FINITE(objective)) {
            run->status = UFS_DIVERGED;
            return true;
        }
        if (s->move != PLAIN && objective > s->objective * (1.0 + RISE)) {
            ufs_run_step(run, objective, R_NaN);
            *again = take_back(s);
            if (*again) return true;
            continue;
        }
        s->objective = objective;
        s->accepted++;
        inner_gap = (s->primal - s->inner / s->over) / s->primal;
        priced = all || last || inner_gap <= fmax(0.5 * tol, 0.3 * fmin(s->gap, 0.3));
        if (priced) price(s);
        s->out->objective = objective;
        s->out->gap = (s->primal - s->bound) / s->primal;
        if (priced) s->gap = s->out->gap;
        ufs_trace_add(&run->trace, (double[]){run->iterations, objective, s->out->gap});
        ufs_run_step(run, objective, s->out->gap);
        if (s->out->gap <= tol) {
            /* The dual values that are reported belong to the last step. */
            if (!priced) price(s);
            run->status = s->out->gap < -RSR_ABOVE ? UFS_NUMERICAL : UFS_CONVERGED;
            return true;
        }
        if (last) return true;
        set_plain(s);
        /* The last step is a plain one: it cannot be refused. */
        if (run->iterations < most - 1) {
            *again = (priced && !all && enter(s)) || drop(s) || ufs_trace_full(&run->trace);
            if (*again) return true;
            extrapolate(s);
        } else {
            ufs_copy(s->u, s->plain, (size_t) (s->q + s->n));
            s->move = PLAIN;
        }
    }
    return true;
}

static void set_weights(rsr_exact *s)
{
    for (int a = 0; a < s->q; a++) s->wr[a] = s->u[a] * s->u[a];
    for (int i = 0; i < s->n; i++) s->wg[i] = s->u[s->q + i] * s->u[s->q + i];
    rsr_floor(s->problem, s->q, s->set, s->wr, s->wg, s->hat);
}

static int step_small(rsr_exact *s)
{
    int n = s->n, q = s->q, r = s->r, lapack;
    size_t N = (size_t) n, Q = (size_t) q;
    double lambda = s->problem->lambda, least = R_PosInf, most = 0.0, mean = 0.0;
    const double *xs = s->whole ? s->problem->x : s->xs;

    if (s->whole) {
        gram_by_strips(s);
        ufs_copy(s->b, s->k, Q * Q);
    } else {
        for (size_t a = 0; a < Q; a++)
            for (size_t i = 0; i < N; i++) s->scaled[i + a * N] = xs[i + a * N] / sqrt(s->wg[i]);
        la_gram('T', n, q, s->scaled, s->k);
        for (size_t a = 0; a < Q; a++)
            for (size_t i = 0; i < N; i++) s->scaled[i + a * N] = xs[i + a * N] / s->wg[i];
        la_gemm('T', 'N', q, r, n, 1.0, s->scaled, n, s->t, n, 0.0, s->b, q);
    }
    for (size_t a = 0; a < Q; a++) {
        for (size_t l = 0; l < Q; l++) s->k[l + a * Q] *= sqrt(s->wr[l] * s->wr[a]);
        s->k[a + a * Q] += lambda;
        least = fmin(least, s->wr[a]);
        most = fmax(most, s->wr[a]);
    }
    lapack = la_chol(q, s->k);
    if (lapack == 0) lapack = la_chol_inverse(q, s->k);
    if (lapack) return lapack;
    for (size_t a = 0; a < Q; a++) {
        s->own[a] = 1.0 - lambda * s->k[a + a * Q];
        mean += s->own[a] / n;
        for (size_t l = 0; l < Q; l++) s->k[l + a * Q] *= sqrt(s->wr[l] * s->wr[a]);
    }
    /* The trace of the shares is that of W. */
    for (int i = 0; i < n; i++) s->hat[i] = mean;
    if (s->whole && least > 1e-8 * most) {
        whole_rows(s);
        return 0;
    }
    la_gemm('N', 'N', q, r, q, 1.0, s->k, q, s->b, q, 0.0, s->v, q);
    la_row_norms(q, r, s->v, s->row);
    if (!s->whole) {
        la_gemm('N', 'N', n, q, q, 1.0, xs, n, s->k, q, 0.0, s->scaled, n);
        shares(s, xs, s->scaled);
    }
    ufs_copy(s->y, s->t, N * (size_t) r);
    la_gemm('N', 'N', n, r, q, -1.0, xs, n, s->v, q, 1.0, s->y, n);
    la_row_norms(n, r, s->y, s->size);
    return 0;
}

/* k = X'G^{-1}X, both triangles. */
static void gram_by_strips(rsr_exact *s)
{
    int n = s->n, p = s->p;
    size_t N = (size_t) n, P = (size_t) p;

    memset(s->k, 0, P * P * sizeof(double));
    for (int from = 0; from < n; from += STRIP) {
        int count = n - from < STRIP ? n - from : STRIP;
        for (size_t j = 0; j < P; j++)
            for (size_t i = 0; i < (size_t) count; i++) {
                size_t at = (size_t) from + i;
                s->strip[i + j * (size_t) count] = s->problem->x[at + j * N] / sqrt(s->wg[at]);
            }
        la_syrk('T', p, count, 1.0, s->strip, count, 1.0, s->k, p);
    }
    la_fill_lower(p, s->k);
}

/* W = I - lambda P R^{-1} and E = lambda X P R^{-1}, from P in k; the set is everything. */
static void whole_rows(rsr_exact *s)
{
    int n = s->n, p = s->p;
    size_t N = (size_t) n, P = (size_t) p;
    double lambda = s->problem->lambda;
    const double *x = s->problem->x;

    for (size_t j = 0; j < P; j++) s->row[j] = 0.0;
    if (n <= 2 * p) {
        la_gemm('N', 'N', n, p, p, 1.0, x, n, s->k, p, 0.0, s->y, n);
        shares(s, x, s->y);
    }
    for (size_t j = 0; j < P; j++) {
        double *col = s->k + j * P, factor = lambda / s->wr[j];
        for (size_t l = 0; l < P; l++) {
            double w = (l == j) - factor * col[l];
            s->row[l] += w * w;
            col[l] *= factor;
        }
        for (size_t i = 0; i < N && n <= 2 * p; i++) s->y[i + j * N] *= factor;
    }
    for (size_t j = 0; j < P; j++) s->row[j] = sqrt(s->row[j]);
    if (n > 2 * p) {
        /* E up to a rotation, in half the flops. */
        la_lq(p, p, s->k, s->tau, s->reflect, s->n_reflect);
        ufs_copy(s->y, x, N * P);
        la_trmm('R', 'L', 'N', n, p, 1.0, s->k, p, s->y, n);
    }
    la_row_norms(n, p, s->y, s->size);
}

/* x_i P x_i' / g_i, from XP. */
static void shares(rsr_exact *s, const double *xs, const double *xp)
{
    size_t N = (size_t) s->n;
    for (size_t i = 0; i < N; i++) s->hat[i] = 0.0;
    for (size_t a = 0; a < (size_t) s->q; a++)
        for (size_t i = 0; i < N; i++) s->hat[i] += xp[i + a * N] * xs[i + a * N];
    for (size_t i = 0; i < N; i++) s->hat[i] /= s->wg[i];
}

/* X_S R^{1/2}, count columns from `from` on, into scaled. */
static void scaled_strip(rsr_exact *s, int from, int count)
{
    size_t N = (size_t) s->n;
    R_CheckUserInterrupt();
    for (int a = 0; a < count; a++) {
        const double *x = s->problem->x + (size_t) s->set[from + a] * N;
        double *to = s->scaled + (size_t) a * N, root = sqrt(s->wr[from + a]);
        for (size_t i = 0; i < N; i++) to[i] = root * x[i];
    }
}

static int step_large(rsr_exact *s)
{
    int n = s->n, q = s->q, lapack;
    size_t N = (size_t) n;
    double lambda = s->problem->lambda, fit = 0.0, total = 0.0;
    bool wide = q > 4 * n;

    memset(s->k, 0, N * N * sizeof(double));
    for (int from = 0; from < q; from += STRIP) {
        int count = q - from < STRIP ? q - from : STRIP;
        scaled_strip(s, from, count);
        la_syrk('N', n, count, 1.0, s->scaled, n, 1.0, s->k, n);
    }
    for (size_t i = 0; i < N; i++) s->k[i + i * N] += lambda * s->wg[i];
    lapack = la_chol(n, s->k);
    if (lapack) return lapack;
    ufs_copy(s->b, s->t, N * N);
    la_tri_solve('T', n, n, s->k, s->b);
    ufs_copy(s->y, s->b, N * N);
    la_tri_solve('N', n, n, s->k, s->y);
    if (wide) ufs_copy(s->b, s->y, N * N);
    la_lq(n, n, s->b, s->tau, s->reflect, s->n_reflect);
    for (int from = 0; from < q; from += STRIP) {
        int count = q - from < STRIP ? q - from : STRIP;
        scaled_strip(s, from, count);
        if (!wide) {
            la_tri_solve('T', n, count, s->k, s->scaled);
            la_col_norms(n, count, s->scaled, s->own + from);
        }
        la_trmm('L', 'L', 'T', n, count, 1.0, s->b, n, s->scaled, n);
        la_col_norms(n, count, s->scaled, s->row + from);
    }
    for (size_t j = 0; j < N; j++)
        for (size_t i = 0; i < N; i++) s->y[i + j * N] *= lambda * s->wg[i];
    la_row_norms(n, n, s->y, s->size);
    lapack = la_chol_inverse(n, s->k);
    for (size_t i = 0; i < N; i++) {
        s->hat[i] = 1.0 - lambda * s->wg[i] * s->k[i + i * N];
        fit += s->hat[i];
    }
    for (int a = 0; a < q; a++) {
        s->row[a] *= sqrt(s->wr[a]);
        total += s->row[a];
    }
    /* W_jj, or what |w_j| lets one expect of it: the trace is known. */
    for (int a = 0; a < q; a++) s->own[a] = wide ? s->row[a] * fit / total : s->own[a] * s->own[a];
    return lapack;
}

/* The smoothed objective, which plain steps never raise, the objective, <Y, X> and the largest
 * ratio of new to old weights. */
static double measure(rsr_exact *s)
{
    const rsr_settings *set = s->settings;
    double lambda = s->problem->lambda;

    s->primal = la_l21(s->n, s->size, 0.0) + lambda * la_l21(s->q, s->row, 0.0);
    s->inner = s->over = 0.0;
    for (int i = 0; i < s->n; i++) {
        double ratio = 2.0 * s->size[i] / s->wg[i];
        s->inner += ratio * s->size[i];
        s->over = fmax(s->over, ratio);
    }
    for (int a = 0; a < s->q; a++) {
        double ratio = s->wr[a] > 0.0 ? 2.0 * s->row[a] / s->wr[a] : 0.0;
        s->inner += lambda * ratio * s->row[a];
        s->over = fmax(s->over, ratio);
    }
    return la_l21(s->n, s->size, set->eps_residual) +
           lambda * (la_l21(s->q, s->row, set->eps_row) + (s->p - s->q) * sqrt(set->eps_row));
}

/* The dual point of this step for all columns. */
static void price(rsr_exact *s)
{
    double *dual = s->out->dual, over = s->over;

    if (s->q == s->p) {
        for (int j = 0; j < s->p; j++) dual[j] = s->wr[j] > 0.0 ? 2.0 * s->row[j] / s->wr[j] : 0.0;
    } else {
        for (int l = 0; l < s->r; l++)
            for (int i = 0; i < s->n; i++)
                s->y[(size_t) i + (size_t) l * (size_t) s->n] *= 2.0 / s->wg[i];
        rsr_products(s->n, s->p, s->r, s->problem->x, s->y, dual);
        for (int j = 0; j < s->p; j++) {
            dual[j] /= s->problem->lambda;
            over = fmax(over, dual[j]);
        }
    }
    s->bound = fmax(s->bound, s->inner / over);
}

/* ---- between two steps ----------------------------------------------------------------- */

/* Roots of the weights that the plain iteration would take next. */
static void set_plain(rsr_exact *s)
{
    la_irls_g(s->q, s->row, s->settings->eps_row, s->plain);
    la_irls_g(s->n, s->size, s->settings->eps_residual, s->plain + s->q);
    for (int a = 0; a < s->q; a++) s->plain[a] = s->wr[a] > 0.0 ? sqrt(s->plain[a]) : 0.0;
    for (int i = 0; i < s->n; i++) s->plain[s->q + i] = sqrt(s->plain[s->q + i]);
}

/* Newton on the diagonal, then Anderson; both blocks count by their mean size. Where many rows
 * move alike, only what differs from their mean change is divided (common): the derivatives off
 * the diagonal add up for that mean. */
static void extrapolate(rsr_exact *s)
{
    int q = s->q, all = q + s->n;

    for (int block = 0; block < 2; block++) {
        int from = block == 0 ? 0 : q, to = block == 0 ? q : all;
        double total = 0.0, moved = 0.0, mean;
        for (int k = from; k < to; k++) {
            s->f[k] = s->u[k] > 0.0 && s->plain[k] > 0.0 ? log(s->plain[k] / s->u[k]) : 0.0;
            total += s->plain[k];
            moved += s->plain[k] * s->f[k];
        }
        mean = s->common ? moved / total : 0.0;
        for (int k = from; k < to; k++) {
            double left = block == 0 ? s->own[k] : 1.0 - s->hat[k - q];
            double by = mean + (s->f[k] - mean) / fmax(left, LEAST);
            s->weight[k] = (to - from) / total;
            s->f[k] = s->u[k] * exp(fmin(fmax(by, -BOLD), BOLD));
        }
    }
    anderson_step(&s->history, s->u, s->f, s->weight, s->f);
    for (int k = 0; k < all; k++)
        s->u[k] = fmin(fmax(s->f[k], s->plain[k] * exp(-FAR)), s->plain[k] * exp(FAR));
    s->move = EXTRAPOLATED;
}

/* After a step that raised the objective; true if the set is another one again. */
static bool take_back(rsr_exact *s)
{
    bool last = s->run->iterations >= s->settings->max_iter - 1;

    if (s->move == EXTRAPOLATED) {
        anderson_reset(&s->history);
        ufs_copy(s->u, s->plain, (size_t) (s->q + s->n));
        s->move = PLAIN;
        s->common = !s->common;
        return false;
    }
    if (s->move == DROPPED) {
        s->q = s->old_q;
        memcpy(s->set, s->old_set, (size_t) s->q * sizeof(int));
        ufs_copy(s->wr, s->old_wr, (size_t) s->q);
        s->drop_after = s->accepted + WAIT;
        s->move = PLAIN;
        return true;
    }
    /* New rows start from 0: with smaller weights the step is as near to the plain one as needed,
     * and is it with weights 0. */
    s->retries++;
    last = last || s->retries > RETRIES;
    for (int a = 0; a < s->q; a++)
        if (s->fresh[s->set[a]]) s->u[a] *= last ? 0.0 : 0.3;
    if (last) s->move = PLAIN;
    return false;
}

/* The columns that violate |X'Y|_j <= lambda most, at most as many as there are already. */
static bool enter(rsr_exact *s)
{
    int p = s->p, count = 0, most = s->q > 20 ? s->q : 20;
    double *dual = s->out->dual, *key = s->old_wr, mean = 0.0;
    double level = s->over * (1.0 + 0.25 * fmax(s->settings->tol, 1e-10));

    memset(s->fresh, 0, (size_t) p * sizeof(bool));
    for (int a = 0; a < s->q; a++) s->fresh[s->set[a]] = true;
    for (int j = 0; j < p; j++)
        if (!s->fresh[j] && dual[j] > level) key[count++] = dual[j];
    if (count > most) {
        rPsort(key, count, count - most);
        level = key[count - most];
    }
    /* By feature for a moment: the weights of the old ones, then the new set. */
    for (int a = 0; a < s->q; a++) mean += s->plain[a] * s->plain[a] / s->q;
    for (int j = 0; j < p; j++) key[j] = NEW_ROW * mean;
    for (int a = 0; a < s->q; a++) key[s->set[a]] = s->plain[a] * s->plain[a];
    for (int i = 0; i < s->n; i++) s->wg[i] = s->plain[s->q + i] * s->plain[s->q + i];
    if (count == 0) {
        memset(s->fresh, 0, (size_t) p * sizeof(bool));
        return false;
    }
    s->q = 0;
    for (int j = 0; j < p; j++) {
        bool old = s->fresh[j];
        s->fresh[j] = !old && dual[j] >= level;
        if (!old && !s->fresh[j]) continue;
        s->wr[s->q] = key[j];
        s->set[s->q++] = j;
    }
    s->move = ENTERED;
    s->retries = 0;
    return true;
}

/* Every few steps, rows that are small and would not enter leave. */
static bool drop(rsr_exact *s)
{
    double mean = 0.0;
    int kept = 0;

    if (s->accepted % DROP_EVERY != 0 || s->accepted < s->drop_after) return false;
    for (int a = 0; a < s->q; a++) mean += s->row[a] / s->q;
    s->old_q = s->q;
    for (int a = 0; a < s->q; a++) {
        double ratio = s->wr[a] > 0.0 ? 2.0 * s->row[a] / s->wr[a] : 0.0;
        bool leaves = s->row[a] < SMALL * mean && ratio < LEAVE;
        s->old_set[a] = s->set[a];
        s->old_wr[a] = s->plain[a] * s->plain[a];
        if (leaves) continue;
        s->set[kept] = s->set[a];
        s->wr[kept++] = s->old_wr[a];
    }
    if (kept > (1.0 - WORTH) * s->q || kept == 0) {
        memcpy(s->set, s->old_set, (size_t) s->q * sizeof(int));
        return false;
    }
    for (int i = 0; i < s->n; i++) s->wg[i] = s->plain[s->q + i] * s->plain[s->q + i];
    s->q = kept;
    s->move = DROPPED;
    return true;
}

/* W of the last step, p x p: W_S = P X_S'G^{-1}X, or R X_S'K^{-1}X. */
static void coefficients(rsr_exact *s, double *w)
{
    int n = s->n, p = s->p, q = s->q, m = q <= n ? q : n;
    size_t N = (size_t) n, P = (size_t) p, Q = (size_t) q, M = (size_t) m;
    double lambda = s->problem->lambda;
    double *k = ufs_dalloc(M, M), *xs = ufs_dalloc(N, Q), *part = ufs_dalloc(Q, STRIP);
    double *copy = q <= n ? NULL : ufs_dalloc(N, STRIP);

    for (size_t a = 0; a < Q; a++) {
        const double *x = s->problem->x + (size_t) s->set[a] * N;
        double root = sqrt(s->wr[a]);
        for (size_t i = 0; i < N; i++)
            xs[i + a * N] = root * (q <= n ? x[i] / sqrt(s->wg[i]) : x[i]);
    }
    la_gram(q <= n ? 'T' : 'N', n, q, xs, k);
    for (size_t i = 0; i < M; i++) k[i + i * M] += q <= n ? lambda : lambda * s->wg[i];
    s->run->lapack = la_chol(m, k);
    if (s->run->lapack) return;
    for (size_t a = 0; a < Q && q <= n; a++)
        for (size_t i = 0; i < N; i++) xs[i + a * N] /= sqrt(s->wg[i]);
    memset(w, 0, P * P * sizeof(double));
    for (int from = 0; from < p; from += STRIP) {
        int cols = p - from < STRIP ? p - from : STRIP;
        const double *x = s->problem->x + (size_t) from * N;
        R_CheckUserInterrupt();
        if (q <= n) {
            la_gemm('T', 'N', q, cols, n, 1.0, xs, n, x, n, 0.0, part, q);
            la_chol_solve(q, cols, k, part);
        } else {
            ufs_copy(copy, x, N * (size_t) cols);
            la_chol_solve(n, cols, k, copy);
            la_gemm('T', 'N', q, cols, n, 1.0, xs, n, copy, n, 0.0, part, q);
        }
        for (size_t j = 0; j < (size_t) cols; j++)
            for (size_t a = 0; a < Q; a++)
                w[(size_t) s->set[a] + ((size_t) from + j) * P] = sqrt(s->wr[a]) * part[a + j * Q];
    }
}
