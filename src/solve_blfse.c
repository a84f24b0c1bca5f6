/* solve_blfse.c: bi-level ensemble unsupervised feature selection (BLFSE: "Bi-level
 * ensemble method for unsupervised feature selection", Information Fusion 100, 2023,
 * 101910). The paper's X is d x n; here X is n x p, rows x_i.
 *
 * Given m base scores v^(k) (p, on the simplex) and m base clusterings with S^(k)_ij =
 * [l_i = l_j], minimises over v, S, W, N = P'P, R_Y R_Y' = YY', alpha, beta
 *   T1 = sum_ij S_ij ||P diag(v) (x_i - x_j)||^2 = 2 v'(G o N)v,   G = X'L(S)X
 *   T2 = sum_k beta_k^2 ||W o (S - S^(k))||_F^2,   T3 = -lambda sum_ij W_ij
 *   T4 = sum_k alpha_k^2 ||v - v^(k)||^2
 *   T5 = 2 rho tr(Y'L(S)Y) = rho sum_ij C_ij S_ij
 * with v, alpha, beta on simplices, 0 <= S, W <= 1, PP' = I_c, Y'Y = I_c; T2 + T3 and T4
 * may carry a factor. Every block update below is an exact minimiser of its block, so
 * the objective cannot rise while lambda and rho stand still. lambda follows the
 * self-paced schedule psi, rho the number of components of S.
 *
 * N and R_Y R_Y' are unique by the tie rule of la_low.h. N = w0 I + sign R R' in three
 * forms: p x p through R (p <= n: sign 1, w0 0); the complement of the range of
 * A_v = diag(v) G diag(v) (p > n: sign -1); (c/p) I (isotropic).
 *
 * Cost per iteration: p <= n: 2n^2p + 2np^2 (G), p^3-ish (P), the QP; p > n: 2n^2p each
 * for the factor F of G, for R, and for the distances, n^2p for KK', 9n^3 for two
 * eigenproblems, 4n^2p per product of the QP. Everywhere 3 m n^2 for W, S, beta.
 * Memory in doubles: 5 n^2, and 4 p^2 + np (p <= n) or 2 n^2 + 2 np (p > n). */
#include "solve_blfse.h"
#include "la.h"
#include "la_low.h"
#include "qp_simplex.h"
#include "hadamard.h"
#include "graph_dense.h"

enum { CHUNK = 256, FULL_SPECTRUM = 500 };

typedef struct {
    const blfse_problem *prob;
    const blfse_settings *set;
    blfse_result *out;
    blfse_form form;
    /* state beyond `out` */
    double lambda, *ky;          /* YY', n x n */
    double w0, sign, top;        /* N = w0 I + sign R R', largest eigenvalue `top` */
    int k;                       /* columns of R */
    /* terms of the objective, kept up to date */
    double t1, t2, t3, t4, t5, sum_w, *error_s, *error_v;
    /* workspace; from Y to rho `a` is the YY' before the Y step, from S to Y (factor
     * form) `b` holds the eigenvectors of L */
    double *a, *b;               /* n x n */
    double *g, *n_mat, *h, *r, *y; /* dense form: p x p; r p x p; y n x p */
    double *f, *rt, *kk, *u;     /* factor form: rank x p, k x p, n x n, n x n */
    double *lambda_l, *omega;    /* factor form: eigenvalues of L and of A_v */
    int rank;                    /* rows of F */
    double *g_diag, *diag, *upper, *rhs, *chunk, *v_old, *beta2, *weights;
    int *queue;
    hadamard op;
    low_work low;
    qp_work qp;
} blfse;

static void init(blfse *m, const blfse_problem *prob, const blfse_settings *set,
                 blfse_result *out);
static void start(blfse *m);
static void update_w(blfse *m);
static void update_p(blfse *m);
static double update_s(blfse *m);
static void update_v(blfse *m);
static void update_y(blfse *m);
static void update_beta(blfse *m);
static void update_alpha(blfse *m);
static void update_rho(blfse *m);
static void count_components(blfse *m);
static void new_gram(blfse *m);
static void project_dense(blfse *m);
static void project_factor(blfse *m);
static void distance_gram(blfse *m);
static void cluster_errors(blfse *m);
static void feature_errors(blfse *m);
static void rank_term(blfse *m);
static void inverse_weights(int m, const double *error, double *weight);
static void swap(double **a, double **b);
static double agreement(const blfse *m, int i, int j, const double *weight);
static double objective(const blfse *m);
static void record(const blfse *m, ufs_trace *trace, double psi, int it, blfse_block block);
static void remember(const blfse *m, ufs_trace *history, ufs_trace *weights, double psi,
                     int it, double moved);

static size_t at(const blfse *m, int i, int j)
{
    return (size_t) i + (size_t) j * (size_t) m->prob->n;
}

void blfse_solve(const blfse_problem *prob, const blfse_settings *set,
                 const ufs_hook *hook, ufs_trace *trace, ufs_trace *history,
                 ufs_trace *weights, blfse_result *out)
{
    blfse model, *m = &model;
    int c = prob->c;

    init(m, prob, set, out);
    start(m);
    for (int stage = 0; stage < set->n_psi; stage++) {
        double psi = set->psi[stage];
        m->lambda = 2.0 * psi * (1.0 - psi) / prob->m;
        m->t3 = -set->gamma_cluster * m->lambda * m->sum_w;
        record(m, trace, psi, 0, BLFSE_START);
        update_w(m);
        record(m, trace, psi, 0, BLFSE_W);
        for (int it = 1; it <= set->inner_max && out->iterations < set->max_iter; it++) {
            double moved_s = 0.0, moved_v = 0.0;
            ufs_copy(m->v_old, out->v, (size_t) prob->p);
            update_p(m);
            record(m, trace, psi, it, BLFSE_P);
            if (set->order == BLFSE_V_FIRST) {
                update_v(m);
                record(m, trace, psi, it, BLFSE_V);
            }
            moved_s = update_s(m);
            record(m, trace, psi, it, BLFSE_S);
            if (set->order == BLFSE_S_FIRST) {
                update_v(m);
                record(m, trace, psi, it, BLFSE_V);
            }
            update_y(m);
            record(m, trace, psi, it, BLFSE_Y);
            update_beta(m);
            record(m, trace, psi, it, BLFSE_BETA);
            update_alpha(m);
            record(m, trace, psi, it, BLFSE_ALPHA);

            out->iterations++;
            for (int i = 0; i < prob->p; i++) moved_v += fabs(out->v[i] - m->v_old[i]);
            remember(m, history, weights, psi, it, moved_v);
            ufs_hook_step(hook, out->iterations, objective(m), moved_v);
            out->status = out->n_component == c ? UFS_CONVERGED : UFS_MAX_ITER;
            if (out->info) return;
            if (!R_FINITE(objective(m)) || out->kkt > 1e-6) {
                out->status = UFS_NUMERICAL;
                return;
            }
            update_rho(m);
            if (out->n_component == c && it >= 2) break;
            if (moved_v < set->tol && moved_s < set->tol) break;
        }
    }
    out->eigen = m->low.worst;
}

void blfse_first_projection(const blfse_problem *prob, const blfse_settings *set,
                            blfse_result *out, double *n_mat)
{
    blfse model, *m = &model;
    int p = prob->p;
    size_t P = (size_t) p;

    init(m, prob, set, out);
    start(m);
    for (size_t i = 0; i < P * P; i++) n_mat[i] = 0.0;
    for (size_t i = 0; i < P; i++) n_mat[i + i * P] = m->w0;
    if (m->r != NULL)
        la_gemm('N', 'T', p, p, m->k, m->sign, m->r, p, m->r, p, 1.0, n_mat, p);
    if (m->rt != NULL && m->k > 0)
        la_gemm('T', 'N', p, p, m->k, m->sign, m->rt, m->k, m->rt, m->k, 1.0, n_mat, p);
}

/* ---- set-up ---------------------------------------------------------------------- */

static void init(blfse *m, const blfse_problem *prob, const blfse_settings *set,
                 blfse_result *out)
{
    int n = prob->n, p = prob->p, wide = p > n ? p : n;
    size_t N = (size_t) n, P = (size_t) p, M = (size_t) prob->m;

    memset(m, 0, sizeof *m);
    m->prob = prob;
    m->set = set;
    m->out = out;
    m->form = set->form != BLFSE_AUTO ? set->form : p > n ? BLFSE_FACTOR : BLFSE_DENSE;
    out->info = out->iterations = out->products = 0;
    out->kkt = out->gap = out->eigen = 0.0;
    out->p_unique = true;
    out->status = UFS_MAX_ITER;

    m->ky = ufs_dalloc(N, N);
    m->a = ufs_dalloc(N, N);
    /* The dense form may be asked for with p > n; then R has up to p columns. */
    m->b = ufs_dalloc(N, m->form == BLFSE_DENSE ? (size_t) wide : N);
    m->error_s = ufs_dalloc(M, 1);
    m->error_v = ufs_dalloc(M, 1);
    m->beta2 = ufs_dalloc(M, 1);
    m->weights = ufs_dalloc(M, 2);
    m->g_diag = ufs_dalloc(P, 1);
    m->diag = ufs_dalloc(P, 1);
    m->upper = ufs_dalloc(P, 1);
    m->rhs = ufs_dalloc(P, 1);
    m->v_old = ufs_dalloc(P, 1);
    m->omega = ufs_dalloc((size_t) wide, 1);
    m->chunk = ufs_dalloc(N, CHUNK);
    m->queue = ufs_ialloc(N);
    m->k = 0;
    m->w0 = (double) prob->c / (double) p;
    m->top = m->w0;
    m->sign = 1.0;
    if (set->projection == BLFSE_PAPER && m->form == BLFSE_DENSE) {
        m->g = ufs_dalloc(P, P);
        m->n_mat = ufs_dalloc(P, P);
        m->h = ufs_dalloc(P, P);
        m->r = ufs_dalloc(P, P);
        m->y = ufs_dalloc(N, P);
    }
    if (set->projection == BLFSE_PAPER && m->form == BLFSE_FACTOR) {
        m->f = ufs_dalloc(N, P);
        m->rt = ufs_dalloc(N, P);
        m->kk = ufs_dalloc(N, N);
        m->u = ufs_dalloc(N, N);
        m->lambda_l = ufs_dalloc(N, 1);
        hadamard_init(&m->op, p, n, n);
    }
    low_init(&m->low, n, prob->c, set->dense_limit);
    qp_init(&m->qp, p, set->projection == BLFSE_PAPER && m->form == BLFSE_DENSE);
}

/* v, S: means of the base results; W = 1; alpha, beta uniform; rho = 1; P and Y from
 * these. */
static void start(blfse *m)
{
    const blfse_problem *prob = m->prob;
    blfse_result *out = m->out;
    int n = prob->n, p = prob->p, k = prob->m;
    double even = 1.0 / (double) k;

    for (int i = 0; i < p; i++) {
        double sum = 0.0;
        for (int a = 0; a < k; a++) sum += prob->scores[(size_t) i + (size_t) a * (size_t) p];
        out->v[i] = sum / (double) k;
    }
    for (int a = 0; a < k; a++) out->alpha[a] = out->beta[a] = even;
    for (int a = 0; a < k; a++) m->beta2[a] = even * even;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < j; i++)
            out->s[at(m, i, j)] = out->s[at(m, j, i)] = agreement(m, i, j, out->beta);
        out->s[at(m, j, j)] = 1.0;
    }
    for (size_t i = 0; i < (size_t) n * (size_t) n; i++) out->w[i] = 1.0;
    m->sum_w = (double) n * (double) n;
    out->rho = 1.0;
    m->t1 = 0.0;
    cluster_errors(m);
    feature_errors(m);
    count_components(m);
    new_gram(m);
    update_y(m);
    update_p(m);
}

/* ---- the blocks ------------------------------------------------------------------ */

/* W_ij = min(1, lambda / (2 A_ij)), A_ij = sum_k beta_k^2 (S_ij - S_ij^(k))^2. */
static void update_w(blfse *m)
{
    const blfse_problem *prob = m->prob;
    blfse_result *out = m->out;
    int n = prob->n;

    m->sum_w = (double) n;
    for (int j = 0; j < n; j++) {
        const int *lj = prob->labels + (size_t) j * (size_t) prob->m;
        for (int i = 0; i < j; i++) {
            const int *li = prob->labels + (size_t) i * (size_t) prob->m;
            double s = out->s[at(m, i, j)], a = 0.0, w;
            for (int k = 0; k < prob->m; k++) {
                double d = li[k] == lj[k] ? s - 1.0 : s;
                a += m->beta2[k] * d * d;
            }
            w = 2.0 * a > m->lambda ? m->lambda / (2.0 * a) : 1.0;
            out->w[at(m, i, j)] = out->w[at(m, j, i)] = w;
            m->sum_w += 2.0 * w;
        }
        out->w[at(m, j, j)] = 1.0;
    }
    m->t3 = -m->set->gamma_cluster * m->lambda * m->sum_w;
    cluster_errors(m);
}

/* N: the c smallest eigenvectors of A_v = diag(v) G diag(v), ties shared. */
static void update_p(blfse *m)
{
    if (m->out->info) return;
    if (m->set->projection == BLFSE_ISOTROPIC) {
        m->out->ties = m->prob->p;
        m->t1 = 0.0;
        for (int i = 0; i < m->prob->p; i++)
            m->t1 += 2.0 * m->w0 * m->g_diag[i] * m->out->v[i] * m->out->v[i];
        return;
    }
    if (m->form == BLFSE_DENSE) project_dense(m);
    else project_factor(m);
}

/* S_ij = clip((sum_k beta_k^2 S_ij^(k) - (B_ij + rho C_ij) / (2 W_ij^2)) / sum beta^2).
 * Returns the largest change. */
static double update_s(blfse *m)
{
    const blfse_problem *prob = m->prob;
    blfse_result *out = m->out;
    int n = prob->n;
    double total = 0.0, moved = 0.0, gamma = m->set->gamma_cluster;

    if (out->info) return 0.0;
    distance_gram(m);
    for (int k = 0; k < prob->m; k++) total += m->beta2[k];
    m->t1 = m->t5 = 0.0;
    for (int j = 0; j < n; j++) {
        double bj = m->a[at(m, j, j)], cj = m->ky[at(m, j, j)];
        for (int i = 0; i < j; i++) {
            size_t ij = at(m, i, j);
            double w = out->w[ij];
            double b = fmax(m->a[at(m, i, i)] + bj - 2.0 * m->a[ij], 0.0);
            double c = out->rho * fmax(m->ky[at(m, i, i)] + cj - 2.0 * m->ky[ij], 0.0);
            double s = (agreement(m, i, j, m->beta2) - (b + c) / (2.0 * gamma * w * w)) / total;
            s = s > 1.0 ? 1.0 : s > 0.0 ? s : 0.0;
            moved = fmax(moved, fabs(s - out->s[ij]));
            out->s[ij] = out->s[at(m, j, i)] = s;
            m->t1 += 2.0 * s * b;
            m->t5 += 2.0 * s * c;
        }
    }
    cluster_errors(m);
    count_components(m);
    new_gram(m);
    return moved;
}

/* min v'(G o N)v + (s/2) v'v - b'v on the simplex, s = sum alpha^2, b = sum alpha^2 v^(k):
 * H = 2 G o N + s I. G o N <= top diag(G) (Schur), a bound for every coordinate. */
static void update_v(blfse *m)
{
    const blfse_problem *prob = m->prob;
    blfse_result *out = m->out;
    int p = prob->p;
    double s = 0.0, gamma = m->set->gamma_feature;
    qp_problem qp = {p, m->rhs, NULL, NULL, NULL, m->diag, m->upper};
    qp_info info;

    if (out->info) return;
    memset(m->rhs, 0, (size_t) p * sizeof(double));
    for (int k = 0; k < prob->m; k++) {
        double a2 = gamma * out->alpha[k] * out->alpha[k];
        la_axpy(p, a2, prob->scores + (size_t) k * (size_t) p, m->rhs);
        s += a2;
    }
    for (int i = 0; i < p; i++) m->upper[i] = 2.0 * m->top * m->g_diag[i] + s;

    if (m->set->projection == BLFSE_ISOTROPIC) {
        qp_diagonal(p, m->upper, m->rhs, &m->qp, out->v, &info);
    } else {
        if (m->form == BLFSE_DENSE) {
            size_t P = (size_t) p;
            for (size_t i = 0; i < P * P; i++) m->h[i] = 2.0 * m->g[i] * m->n_mat[i];
            for (size_t i = 0; i < P; i++) m->diag[i] = m->h[i + i * P] += s;
            qp.dense = m->h;
        } else {
            m->op.f = m->f;
            m->op.r = m->rank;
            m->op.rt = m->rt;
            m->op.k = m->k;
            m->op.g_diag = m->g_diag;
            m->op.w0 = m->w0;
            m->op.sign = m->sign;
            m->op.scale = 2.0;
            m->op.shift = s;
            hadamard_diag(&m->op, m->diag);
            qp.apply = hadamard_apply;
            qp.data = &m->op;
        }
        qp_simplex(&qp, m->set->qp_tol, &m->qp, out->v, &info);
    }
    out->products += info.products;
    out->kkt = fmax(out->kkt, info.rel);
    out->gap = fmax(out->gap, info.gap);
    m->t1 = fmax(la_dot(p, out->v, m->qp.hv) - s * la_dot(p, out->v, out->v), 0.0);
    feature_errors(m);
}

/* YY': the c smallest eigenvectors of L(S), ties shared. */
static void update_y(blfse *m)
{
    int n = m->prob->n, k = 0;
    low_split split;

    if (m->out->info) return;
    if (m->lambda_l != NULL) {
        /* new_gram() has the whole spectrum already. */
        split = low_ties(m->lambda_l, n, m->prob->c, 10.0 * n * DBL_EPSILON *
            fmax(fabs(m->lambda_l[0]), fabs(m->lambda_l[n - 1])));
        k = split.lo + split.eq;
        for (size_t i = at(m, 0, split.lo); i < at(m, 0, k); i++) m->b[i] *= sqrt(split.share);
    } else {
        m->out->info = low_laplacian(&m->low, m->out->s, m->a, m->b, &k, &split);
        if (m->out->info) return;
    }
    la_gram('N', n, k, m->b, m->a);
    swap(&m->ky, &m->a);
    rank_term(m);
}

static void update_beta(blfse *m)
{
    inverse_weights(m->prob->m, m->error_s, m->out->beta);
    m->t2 = 0.0;
    for (int k = 0; k < m->prob->m; k++) {
        m->beta2[k] = m->out->beta[k] * m->out->beta[k];
        m->t2 += m->set->gamma_cluster * m->beta2[k] * m->error_s[k];
    }
}

static void update_alpha(blfse *m)
{
    inverse_weights(m->prob->m, m->error_v, m->out->alpha);
    m->t4 = 0.0;
    for (int k = 0; k < m->prob->m; k++)
        m->t4 += m->set->gamma_feature * m->out->alpha[k] * m->out->alpha[k] * m->error_v[k];
}

/* Too few components: a heavier penalty. Too many: a lighter one, and the last Y step
 * is taken back. */
static void update_rho(blfse *m)
{
    if (m->out->n_component < m->prob->c) {
        m->out->rho *= 2.0;
        m->t5 *= 2.0;
    } else if (m->out->n_component > m->prob->c) {
        m->out->rho *= 0.5;
        swap(&m->ky, &m->a);
        rank_term(m);
    }
}

/* ---- pieces ---------------------------------------------------------------------- */

static void swap(double **a, double **b)
{
    double *keep = *a;
    *a = *b;
    *b = keep;
}

/* sum_k weight_k S_ij^(k). */
static double agreement(const blfse *m, int i, int j, const double *weight)
{
    size_t M = (size_t) m->prob->m;
    const int *li = m->prob->labels + (size_t) i * M, *lj = m->prob->labels + (size_t) j * M;
    double sum = 0.0;
    for (size_t k = 0; k < M; k++) sum += li[k] == lj[k] ? weight[k] : 0.0;
    return sum;
}

static void count_components(blfse *m)
{
    m->out->n_component = graph_dense_components(m->prob->n, m->out->s, 1e-10,
                                                 m->out->component, m->queue);
}

/* G for the present S: p x p; or F with G = F'F from L = Q diag(lambda_l) Q', rows of no
 * weight left out; or the diagonal alone. */
static void new_gram(blfse *m)
{
    const double *x = m->prob->x, *s = m->out->s;
    double *degree = m->low.degree;
    int n = m->prob->n, p = m->prob->p;
    size_t N = (size_t) n, P = (size_t) p;

    if (m->out->info) return;
    for (size_t i = 0; i < N; i++) {
        degree[i] = 0.0;
        for (size_t j = 0; j < N; j++) degree[i] += s[j + i * N];
    }
    if (m->set->projection == BLFSE_PAPER && m->form == BLFSE_FACTOR) {
        for (size_t i = 0; i < N * N; i++) m->a[i] = -s[i];
        for (size_t i = 0; i < N; i++) m->a[i + i * N] += degree[i];
        m->out->info = la_eig_range(n, m->a, 1, n, m->lambda_l, m->b);
        if (m->out->info) return;
        m->rank = 0;
        for (int i = 0; i < n; i++)
            m->rank += m->lambda_l[i] > n * DBL_EPSILON * m->lambda_l[n - 1];
        size_t R = (size_t) m->rank, skip = N - R;
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < R; j++)
                m->a[j + i * R] = sqrt(m->lambda_l[skip + j]) * m->b[i + (skip + j) * N];
        la_gemm('N', 'N', m->rank, p, n, 1.0, m->a, m->rank, x, n, 0.0, m->f, m->rank);
        for (size_t i = 0; i < P; i++)
            m->g_diag[i] = R ? la_dot(m->rank, m->f + i * R, m->f + i * R) : 0.0;
        return;
    }
    for (int i0 = 0; i0 < p; i0 += CHUNK) {
        int len = p - i0 < CHUNK ? p - i0 : CHUNK;
        const double *xc = x + (size_t) i0 * N;
        double *lx = m->set->projection == BLFSE_PAPER ? m->y + (size_t) i0 * N : m->chunk;
        la_gemm('N', 'N', n, len, n, -1.0, s, n, xc, n, 0.0, lx, n);
        for (size_t j = 0; j < (size_t) len; j++) {
            for (size_t i = 0; i < N; i++) lx[i + j * N] += degree[i] * xc[i + j * N];
            m->g_diag[(size_t) i0 + j] = fmax(la_dot(n, xc + j * N, lx + j * N), 0.0);
        }
    }
    if (m->set->projection == BLFSE_PAPER) {
        la_gemm('T', 'N', p, p, n, 1.0, x, n, m->y, n, 0.0, m->g, p);
        for (size_t j = 0; j < P; j++)
            for (size_t i = 0; i < j; i++)
                m->g[i + j * P] = m->g[j + i * P] = 0.5 * (m->g[i + j * P] + m->g[j + i * P]);
    }
}

static void note_ties(blfse *m, low_split split)
{
    m->out->ties = split.eq;
    if (split.lo + split.eq > m->prob->c) m->out->p_unique = false;
}

/* Largest eigenvalue of the symmetric positive semidefinite h, to a few per cent: it
 * only sets the tolerance of ties. */
static double rough_top(int p, const double *h, double *x, double *hx)
{
    double top = 0.0;
    for (int i = 0; i < p; i++) x[i] = 1.0 + 0.5 * (double) (i % 7);
    for (int step = 0; step < 20; step++) {
        double norm = la_nrm2(p, x);
        if (!(norm > 0.0)) return top;
        for (int i = 0; i < p; i++) x[i] /= norm;
        la_gemv('N', p, p, 1.0, h, p, x, 0.0, hx);
        top = la_dot(p, x, hx);
        ufs_copy(x, hx, (size_t) p);
    }
    return top;
}

/* Dense form: R p x k, N = RR'. Beyond FULL_SPECTRUM features only the lower end of the
 * spectrum is computed, unless a tie reaches past it. */
static void project_dense(blfse *m)
{
    const double *v = m->out->v;
    int p = m->prob->p, c = m->prob->c, found;
    size_t P = (size_t) p;
    double tol = 0.0;
    low_split split = {0, 0, 0.0};

    for (found = p <= FULL_SPECTRUM || c + 8 >= p ? p : c + 8;; found = p) {
        for (size_t j = 0; j < P; j++)
            for (size_t i = 0; i < P; i++) m->h[i + j * P] = m->g[i + j * P] * v[i] * v[j];
        if (found < p) tol = rough_top(p, m->h, m->diag, m->upper);
        m->out->info = la_eig_range(p, m->h, 1, found, m->omega, m->r);
        if (m->out->info) return;
        if (found == p) tol = fmax(fabs(m->omega[0]), fabs(m->omega[p - 1]));
        tol *= 10.0 * p * DBL_EPSILON;
        if (found == p || m->omega[found - 1] > m->omega[c - 1] + tol) break;
    }
    split = low_ties(m->omega, found, c, tol);
    note_ties(m, split);
    m->k = split.lo + split.eq;
    m->t1 = 0.0;
    for (int j = 0; j < m->k; j++) {
        double weight = j < split.lo ? 1.0 : split.share;
        m->t1 += 2.0 * weight * m->omega[j];
        for (size_t i = 0; i < P; i++) m->r[i + (size_t) j * P] *= sqrt(weight);
    }
    m->t1 = fmax(m->t1, 0.0);
    m->w0 = 0.0;
    m->sign = 1.0;
    m->top = split.lo > 0 ? 1.0 : split.share;
    la_gram('N', p, m->k, m->r, m->n_mat);
}

/* Factor form. A_v = K'K, K = F diag(v) (rank x p), has p - rank eigenvalues zero and
 * those of KK' = U diag(omega) U', with eigenvectors K'U / sqrt(omega). With weight w0
 * on the zeros, N = w0 I - sum_j (w0 - w_j) q_j q_j': R is made of the q_j with
 * w_j < w0, which are never the ill-determined ones. */
static void project_factor(blfse *m)
{
    const double *v = m->out->v;
    int p = m->prob->p, c = m->prob->c, r = m->rank, null = p - r;
    size_t R = (size_t) r, K;
    double largest = 0.0, tol, *ut = m->a;
    low_split split = {0, 0, 0.0};

    memset(m->kk, 0, R * R * sizeof(double));
    for (int i0 = 0; i0 < p; i0 += CHUNK) {
        int len = p - i0 < CHUNK ? p - i0 : CHUNK;
        char up = 'U', plain = 'N';
        double one = 1.0;
        for (size_t i = 0; i < (size_t) len; i++)
            for (size_t a = 0; a < R; a++)
                m->chunk[a + i * R] = m->f[a + ((size_t) i0 + i) * R] * v[(size_t) i0 + i];
        if (r) F77_CALL(dsyrk)(&up, &plain, &r, &len, &one, m->chunk, &r, &one, m->kk,
                               &r FCONE FCONE);
    }
    if (r) m->out->info = la_eig_range(r, m->kk, 1, r, m->omega, m->u);
    if (m->out->info) return;

    /* The same rule as low_ties(), on zeros (null times) before the omegas. */
    for (int j = 0; j < r; j++) largest = fmax(largest, fabs(m->omega[j]));
    tol = 10.0 * p * DBL_EPSILON * largest;
    double level = c <= null ? 0.0 : fmax(m->omega[c - null - 1], 0.0);
    if (0.0 < level - tol) split.lo = null;
    else split.eq = null;
    for (int j = 0; j < r; j++) {
        if (m->omega[j] < level - tol) split.lo++;
        else if (m->omega[j] <= level + tol) split.eq++;
    }
    split.share = (double) (c - split.lo) / (double) split.eq;
    note_ties(m, split);

    m->w0 = split.lo > 0 ? 1.0 : split.share;
    m->sign = -1.0;
    m->top = m->w0;
    m->t1 = 0.0;
    m->k = 0;
    for (int j = 0; j < r; j++) {
        bool low = m->omega[j] < level - tol, tied = !low && m->omega[j] <= level + tol;
        double weight = low ? 1.0 : tied ? split.share : 0.0;
        m->t1 += 2.0 * weight * fmax(m->omega[j], 0.0);
        if (weight < m->w0) {
            double scale = sqrt((m->w0 - weight) / m->omega[j]);
            /* Column k of ut now, turned to rows below. */
            for (size_t a = 0; a < R; a++)
                m->u[a + (size_t) m->k * R] = scale * m->u[a + (size_t) j * R];
            m->k++;
        }
    }
    K = (size_t) m->k;
    for (size_t a = 0; a < R; a++)
        for (size_t j = 0; j < K; j++) ut[j + a * K] = m->u[a + j * R];
    la_gemm('N', 'N', m->k, p, r, 1.0, ut, m->k, m->f, r, 0.0, m->rt, m->k);
    for (size_t i = 0; i < (size_t) p; i++)
        for (size_t j = 0; j < K; j++) m->rt[j + i * K] *= v[i];
}

/* a (upper triangle) = Z N Z', Z = X diag(v): its squared distances are B. */
static void distance_gram(blfse *m)
{
    const double *x = m->prob->x, *v = m->out->v;
    int n = m->prob->n, p = m->prob->p, k = m->k;
    size_t N = (size_t) n;
    char up = 'U', plain = 'N';
    double one = 1.0;

    memset(m->a, 0, N * N * sizeof(double));
    memset(m->b, 0, N * (size_t) k * sizeof(double));
    for (int i0 = 0; i0 < p; i0 += CHUNK) {
        int len = p - i0 < CHUNK ? p - i0 : CHUNK;
        for (size_t j = (size_t) i0; j < (size_t) (i0 + len); j++)
            for (size_t i = 0; i < N; i++)
                m->chunk[i + (j - (size_t) i0) * N] = x[i + j * N] * v[j];
        if (m->w0 > 0.0)
            F77_CALL(dsyrk)(&up, &plain, &n, &len, &m->w0, m->chunk, &n, &one, m->a,
                            &n FCONE FCONE);
        if (k > 0 && m->sign > 0.0)
            la_gemm('N', 'N', n, k, len, 1.0, m->chunk, n, m->r + i0, p, 1.0, m->b, n);
        if (k > 0 && m->sign < 0.0)
            la_gemm('N', 'T', n, k, len, 1.0, m->chunk, n,
                    m->rt + (size_t) i0 * (size_t) k, k, 1.0, m->b, n);
    }
    if (k > 0)
        F77_CALL(dsyrk)(&up, &plain, &n, &k, &m->sign, m->b, &n, &one, m->a, &n FCONE FCONE);
}

/* error_s[k] = ||W o (S - S^(k))||_F^2, and T2. */
static void cluster_errors(blfse *m)
{
    const blfse_problem *prob = m->prob;
    const blfse_result *out = m->out;
    int n = prob->n;

    for (int k = 0; k < prob->m; k++) m->error_s[k] = 0.0;
    for (int j = 0; j < n; j++) {
        const int *lj = prob->labels + (size_t) j * (size_t) prob->m;
        for (int i = 0; i < j; i++) {
            const int *li = prob->labels + (size_t) i * (size_t) prob->m;
            double s = out->s[at(m, i, j)], w = out->w[at(m, i, j)];
            double apart = 2.0 * w * w * s * s, same = 2.0 * w * w * (s - 1.0) * (s - 1.0);
            for (int k = 0; k < prob->m; k++) m->error_s[k] += li[k] == lj[k] ? same : apart;
        }
    }
    m->t2 = 0.0;
    for (int k = 0; k < prob->m; k++)
        m->t2 += m->set->gamma_cluster * m->beta2[k] * m->error_s[k];
}

/* error_v[k] = ||v - v^(k)||^2, and T4. */
static void feature_errors(blfse *m)
{
    size_t P = (size_t) m->prob->p;
    m->t4 = 0.0;
    for (int k = 0; k < m->prob->m; k++) {
        double a = m->out->alpha[k];
        m->error_v[k] = la_ss_diff(P, m->out->v, m->prob->scores + (size_t) k * P);
        m->t4 += m->set->gamma_feature * a * a * m->error_v[k];
    }
}

static void rank_term(blfse *m)
{
    int n = m->prob->n;
    m->t5 = 0.0;
    for (int j = 0; j < n; j++) {
        double cj = m->ky[at(m, j, j)];
        for (int i = 0; i < j; i++)
            m->t5 += 2.0 * m->out->rho * m->out->s[at(m, i, j)] *
                fmax(m->ky[at(m, i, i)] + cj - 2.0 * m->ky[at(m, i, j)], 0.0);
    }
}

/* Minimiser of sum weight^2 error on the simplex; errors below the floor count as equal. */
static void inverse_weights(int m, const double *error, double *weight)
{
    double sum = 0.0;
    for (int k = 0; k < m; k++) sum += weight[k] = 1.0 / fmax(error[k], DBL_EPSILON);
    for (int k = 0; k < m; k++) weight[k] /= sum;
}

static double objective(const blfse *m)
{
    return m->t1 + m->t2 + m->t3 + m->t4 + m->t5;
}

static int support(const blfse *m)
{
    int count = 0;
    for (int i = 0; i < m->prob->p; i++) count += m->out->v[i] > 0.0;
    return count;
}

static void record(const blfse *m, ufs_trace *trace, double psi, int it, blfse_block block)
{
    const blfse_result *out = m->out;
    double row[BLFSE_TRACE_COLUMNS] = {out->iterations + (it > 0), psi, it, block, out->rho,
        out->n_component, out->ties, support(m), objective(m), m->t1, m->t2, m->t3, m->t4,
        m->t5};
    ufs_trace_add(trace, row);
}

static void remember(const blfse *m, ufs_trace *history, ufs_trace *weights, double psi,
                     int it, double moved)
{
    const blfse_result *out = m->out;
    double alpha = 0.0, beta = 0.0, n = m->prob->n;
    for (int k = 0; k < m->prob->m; k++) {
        alpha = fmax(alpha, out->alpha[k]);
        beta = fmax(beta, out->beta[k]);
    }
    double row[BLFSE_HISTORY_COLUMNS] = {psi, it, out->rho, out->n_component, out->ties,
        support(m), moved, alpha, beta, m->sum_w / (n * n)};
    ufs_trace_add(history, row);
    for (int k = 0; k < m->prob->m; k++) {
        m->weights[k] = out->alpha[k];
        m->weights[m->prob->m + k] = out->beta[k];
    }
    ufs_trace_add(weights, m->weights);
}
