/* wstep.c: the problem over W that UDFS and SOGFS share, for mm.c.
 *
 *   min_W tr(W'MW) + gamma sum_j f_j sqrt(|w_j|^2 + eps)   s.t. W'W = I,
 *
 * M p x p positive semidefinite, W p x c. With d_j = 1 / (2 sqrt(|w_j|^2 + eps)) of the W before, W
 * = the c lowest eigenvectors of M + gamma diag(f d) (eig_lowest.c); this never raises the objective.
 * Rows with f_j = Inf are not there.
 * p <= n: M is held. p > n: B with M = B'B, n x p, and nothing of size p x p.
 *
 * Rows that are zero. A row stays zero if reach_j = 2 |(MW)_j| / gamma <= 1, and a small one with a
 * small reach only shrinks: mm.c leaves such rows out. q rows at hand cost q^3/3 flops per step,
 * and nq^2 more if n < p (q <= n), or 2n^2 q; the reach of all rows a product with M.
 *
 * Start. Equal weights ask for the c lowest eigenvectors of M; for p > n these are any c of
 * p - n + 1 or more null vectors, and the result would depend on the LAPACK. Only |w_j|^2 is
 * needed to go on: here its mean over all orthonormal choices within a tied eigenspace,
 * (c / q) diag(P_0) for c vectors out of a q-dimensional space with projector P_0. */
#include "wstep.h"

/* Residuals of eigenvectors. Those that may be returned are TIGHT, and proven to be the lowest; others
 * are as good as SHARE of the last change of the objective, at least LOOSE: the next step changes them. */
static const double TIGHT = 1e-10, LOOSE = 1e-7, SHARE = 1e-5;

/* ---- one step ---------------------------------------------------------------------------- */

/* Makes M or B of the rows at hand: M of order q where that is cheaper than B, n x q. */
static void hold(wstep *w)
{
    int n = w->problem->n, p = w->problem->p, q = w->s.q;
    const int *set = w->s.set;
    size_t N = (size_t) n, P = (size_t) p, Q = (size_t) q;
    eig_lowest *low = &w->lowest;

    low->p = q;
    low->r = q > n ? n : q;
    low->b = q > n ? w->b : NULL;
    low->m = q > n ? NULL : w->part;
    low->set = set;
    if (q > n) return;
    if (p > n) {
        double *b = low->scaled; /* scratch: not in use with an M */
        for (size_t a = 0; a < Q; a++) ufs_copy(b + a * N, w->b + (size_t) set[a] * N, N);
        la_gram('T', n, q, b, w->part);
        return;
    }
    for (size_t l = 0; l < Q; l++)
        for (size_t a = 0; a < Q; a++)
            w->part[a + l * Q] = w->m[(size_t) set[a] + (size_t) set[l] * P];
}

static int minimise(void *data, mm *s)
{
    wstep *w = data;
    int n = w->problem->n, p = w->problem->p, c = w->problem->c, q = s->q;
    size_t P = (size_t) p, Q = (size_t) q, C = (size_t) c;
    double gamma = s->out->penalty, *vector = w->vector, *all = w->out->w;
    bool last = mm_may_end(s);
    double tol = last ? TIGHT : fmin(fmax(SHARE * s->change, TIGHT), LOOSE);
    eig_info info;

    hold(w);
    for (size_t a = 0; a < Q; a++) {
        double u = s->u[s->set[a]];
        w->delta[a] = gamma * mm_factor(s->settings, s->set[a]) / (2.0 * u * u);
        for (size_t l = 0; l < C; l++) vector[a + l * Q] = all[(size_t) s->set[a] + l * P];
    }
    w->lowest.proof = last;
    eig_lowest_solve(&w->lowest, w->delta, w->started, tol, w->values, vector, &info);
    if (info.lapack) return info.lapack;
    w->started = true;
    w->out->residual = info.residual;
    s->rough = !info.converged;
    memset(all, 0, P * C * sizeof(double));
    for (size_t a = 0; a < Q; a++)
        for (size_t l = 0; l < C; l++) all[(size_t) s->set[a] + l * P] = vector[a + l * Q];
    if (p > n) {
        la_mul('N', 'N', n, c, p, 1.0, w->b, all, 0.0, w->zw);
        la_mul('T', 'N', p, c, n, 1.0, w->b, w->zw, 0.0, vector);
    } else
        la_mul('N', 'N', p, c, p, 1.0, w->m, all, 0.0, vector);
    s->rest = 0.0;
    for (size_t l = 0; l < C; l++) s->rest += la_dot(p, all + l * P, vector + l * P);
    la_row_norms(p, c, all, s->out->row);
    la_row_norms(p, c, vector, s->out->dual);
    for (int j = 0; j < p; j++)
        s->out->dual[j] *= mm_is_free(s->settings, j) ? 0.0
                                                      : 2.0 / (gamma * mm_factor(s->settings, j));
    return 0;
}

/* ---- the whole --------------------------------------------------------------------------- */

void wstep_init(wstep *w, const wstep_problem *problem, wstep_result *out, ufs_run *run)
{
    int n = problem->n, p = problem->p;
    size_t N = (size_t) n, P = (size_t) p, C = (size_t) problem->c, M = p > n ? N : P;
    bool narrows = problem->settings.accelerate && p > EIG_LOWEST_DENSE;

    *w = (wstep){.problem = problem, .out = out};
    w->s = (mm){
        .p = p, .least = narrows ? problem->c : p, .clears = true, .data = w, .minimise = minimise};
    out->norms.penalty = problem->settings.penalty;
    w->m = p > n ? NULL : ufs_dalloc(P, P);
    w->b = p > n ? ufs_dalloc(N, P) : NULL;
    w->part = ufs_dalloc(M, M);
    w->vector = ufs_dalloc(P, C);
    w->delta = ufs_dalloc(P, 1);
    w->values = ufs_dalloc(C, 1);
    w->zw = ufs_dalloc(N, C);
    eig_lowest_init(&w->lowest, p, problem->c, (int) M, w->m, w->b);
    mm_init(&w->s, &problem->settings, &out->norms, run);
}

int wstep_factor(wstep *w, double *a)
{
    int n = w->problem->n, p = w->problem->p, rank, lapack;
    size_t N = (size_t) n;
    void *mark = vmaxget();
    int *pivot = ufs_ialloc(N);

    lapack = la_chol_pivoted(n, a, pivot, &rank, ufs_dalloc(2 * N, 1));
    for (size_t j = 0; j < (size_t) p && lapack == 0; j++)
        for (size_t i = 0; i < N; i++)
            w->b[i + j * N] = w->problem->x[(size_t) (pivot[i] - 1) + j * N];
    vmaxset(mark);
    if (lapack == 0) la_trmm('L', 'U', 'N', n, p, 1.0, a, n, w->b, n);
    return lapack;
}

/* Ascending eigenvalues from `first` on: how much each eigenvector counts when `left` are chosen;
 * those tied at the cut share what is left. */
static void share(int first, int count, const double *value, double left, double tie,
                  double *weight)
{
    for (int v = first, end = first; v < count; v = end) {
        while (end < count && value[end] - value[v] <= tie) end++;
        for (int i = v; i < end; i++) weight[i] = fmin(1.0, left / (end - v));
        left = fmax(0.0, left - (end - v));
    }
}

/* Where mm.c starts. p > n: eigenvectors of B'B from those of BB'; what they leave of diag(I) is P_0. */
static int start(wstep *w)
{
    int n = w->problem->n, p = w->problem->p, order = p > n ? n : p, first = 0, lapack;
    size_t P = (size_t) p, M = (size_t) order, by_j = p > n ? M : 1, by_v = p > n ? 1 : M;
    void *mark = vmaxget();
    double *gram = ufs_dalloc(M, M), *vector = ufs_dalloc(M, M), *value = ufs_dalloc(M, 1);
    double *weight = ufs_dalloc(M, 1), *right = vector, rest = 0.0, tie;

    if (p > n)
        la_gram('N', n, p, w->b, gram);
    else
        ufs_copy(gram, w->m, P * P);
    lapack = eig_range(order, gram, 1, order, value, vector);
    if (lapack) return lapack;
    tie = UFS_TIE * sqrt(la_ss(M, value));
    if (p > n) {
        while (first < n && value[first] <= tie) first++;
        rest = fmin(1.0, (double) w->problem->c / (p - n + first));
        right = w->lowest.scaled; /* scratch */
        la_mul('T', 'N', n, p, n, 1.0, vector, w->b, 0.0, right);
    }
    share(first, order, value, w->problem->c - rest * (p - order + first), tie, weight);
    for (size_t j = 0; j < P; j++) {
        double row2 = rest;
        for (size_t v = (size_t) first; v < M; v++) {
            double entry = right[v * by_v + j * by_j], ss = entry * entry;
            row2 += (weight[v] - rest) * (p > n ? ss / value[v] : ss);
        }
        w->s.plain[j] = sqrt(sqrt(fmax(row2, 0.0) + w->problem->settings.eps_row));
        if (mm_is_free(&w->problem->settings, (int) j)) w->s.plain[j] = 1.0;
        if (mm_is_fixed(&w->problem->settings, (int) j)) w->s.plain[j] = 0.0;
    }
    vmaxset(mark);
    return 0;
}

int wstep_solve(wstep *w)
{
    mm_result *out = &w->out->norms;

    w->s.run->lapack = w->started ? 0 : start(w);
    if (w->s.run->lapack) return w->s.run->lapack;
    mm_renew(&w->s);
    mm_run(&w->s);
    for (int j = 0; j < w->problem->p; j++) {
        out->row[j] *= out->row[j];
        if (out->row[j] > 0.0) out->dual[j] = fmax(out->dual[j], 1.0);
    }
    return w->s.run->lapack;
}
