/* la_low.c: see la_low.h. */
#include "la_low.h"
#include "la.h"
#include "graph_dense.h"
#include "la_krylov.h"
#include "la_packed.h"

enum { GUARD = 3, MAX_EXPAND = 300, STRIP = 32 };

static int dense(low_work *w, const double *s, double *scratch, double *r, low_split *split);
static bool by_components(low_work *w, int n_comp, double tol, const double *s, double *r,
                          low_split *split);
static bool by_krylov(low_work *w, const double *s, int n_comp, double top, double tol, double *r);
static int start_block(low_work *w, int n_comp, double *x);
static void expand(low_work *w, const double *s, int k, int added);

low_split low_ties(const double *value, int found, int c, double tol)
{
    low_split split = {0, 0, 0.0};
    for (int i = 0; i < found; i++) {
        if (value[i] < value[c - 1] - tol)
            split.lo++;
        else if (value[i] <= value[c - 1] + tol)
            split.eq++;
    }
    split.share = (double) (c - split.lo) / (double) split.eq;
    return split;
}

void low_init(low_work *w, int n, int c, int dense_limit)
{
    int most = 10 * (c + GUARD) > 80 ? 10 * (c + GUARD) : 80;
    if (most > n) most = n;
    w->n = n;
    w->c = c;
    w->dense_limit = dense_limit;
    w->most = most;
    w->n_warm = w->n_dense = w->n_krylov = w->n_blocks = 0;
    w->worst = 0.0;
    w->value = ufs_dalloc((size_t) n, 1);
    w->label = ufs_ialloc((size_t) n);
    w->order = ufs_ialloc((size_t) n);
    if (n <= dense_limit) return;
    w->q = ufs_dalloc((size_t) n, (size_t) most);
    w->aq = ufs_dalloc((size_t) n, (size_t) most);
    w->temp = ufs_dalloc((size_t) n, (size_t) most);
    w->t = ufs_dalloc((size_t) most, (size_t) most);
    w->u = ufs_dalloc((size_t) most, (size_t) most);
    w->theta = ufs_dalloc((size_t) most, 1);
    w->residual = ufs_dalloc((size_t) most, 1);
    w->warm = ufs_dalloc((size_t) n, (size_t) c);
    w->strip = ufs_dalloc((size_t) n, STRIP);
}

int low_laplacian(low_work *w, const double *s, const double *degree, int n_part, const int *part,
                  double *scratch, double *r, int *k, low_split *split)
{
    int n = w->n, info = 0;
    size_t N = (size_t) n;
    double top = 0.0;

    w->degree = degree;
    for (size_t i = 0; i < N; i++) top = fmax(top, degree[i]);
    bool done = false;
    if (n > w->dense_limit) {
        double tol = 10.0 * (double) n * DBL_EPSILON * top;
        int n_comp = n_part;
        if (n_part > 0)
            memcpy(w->label, part, N * sizeof(int));
        else
            n_comp = graph_dense_components(n, s, 0.0, w->label, w->order);
        if (n_comp >= w->c) {
            done = by_components(w, n_comp, tol, s, r, split);
        } else {
            done = by_krylov(w, s, n_comp, top, tol, r);
            split->lo = w->c - 1;
            split->eq = 1;
            split->share = 1.0;
        }
    }
    if (!done) info = dense(w, s, scratch, r, split);
    if (info) return info;
    *k = split->lo + split->eq;
    if (n > w->dense_limit) {
        w->n_warm = *k < w->c ? *k : w->c;
        ufs_copy(w->warm, r, N * (size_t) w->n_warm);
    }
    for (size_t i = N * (size_t) split->lo; i < N * (size_t) *k; i++) r[i] *= sqrt(split->share);
    return 0;
}

static int dense(low_work *w, const double *s, double *scratch, double *r, low_split *split)
{
    int n = w->n, info;
    w->n_dense++;
    la_packed_laplacian(n, s, w->degree, scratch);
    info = la_eig_range(n, scratch, 1, n, w->value, r);
    if (info) return info;
    *split = low_ties(w->value, n, w->c,
                      10.0 * (double) n * DBL_EPSILON *
                          fmax(fabs(w->value[0]), fabs(w->value[n - 1])));
    return 0;
}

/* The null space of L is spanned by the indicators; so c or more components are one tie
 * at zero, unless a weight so small hangs together two parts that its eigenvalue is
 * within the tolerance, too. */
static bool by_components(low_work *w, int n_comp, double tol, const double *s, double *r,
                          low_split *split)
{
    int n = w->n;
    size_t N = (size_t) n;
    if (graph_dense_components(n, s, tol / (double) n, w->label, w->order) != n_comp) return false;
    memset(r, 0, N * (size_t) n_comp * sizeof(double));
    for (size_t i = 0; i < N; i++) r[i + (size_t) (w->label[i] - 1) * N] = 1.0;
    for (int a = 0; a < n_comp; a++) {
        double *col = r + (size_t) a * N, norm = la_nrm2(n, col);
        for (size_t i = 0; i < N; i++) col[i] /= norm;
    }
    split->lo = 0;
    split->eq = n_comp;
    split->share = (double) w->c / (double) n_comp;
    w->n_blocks++;
    return true;
}

/* Block Krylov with Rayleigh-Ritz and thick restarts. The first c Ritz vectors go to r;
 * false if they did not converge or may be tied with the next one. */
static bool by_krylov(low_work *w, const double *s, int n_comp, double top, double tol, double *r)
{
    int n = w->n, c = w->c, want = c + 1 < n ? c + 1 : n, k, added;
    double accept = 1e-12 * top;

    added = start_block(w, n_comp, w->q);
    k = 0;
    for (int step = 0; step < MAX_EXPAND; step++) {
        added = la_krylov_orthonormalise(n, 0, NULL, k, added, w->q, 1e-10, w->temp);
        if (added == 0 && k <= c) return false;
        expand(w, s, k, added);
        k += added;
        if (la_krylov_ritz(k, w->t, w->most, w->theta, w->u, w->temp)) return false;

        /* Residuals of the wanted pairs, in temp. */
        int held = want < k ? want : k;
        bool converged = k > c || k == n;
        la_gemm('N', 'N', n, held, k, 1.0, w->aq, n, w->u, k, 0.0, w->temp, n);
        for (int j = 0; j < held; j++) {
            double *res = w->temp + (size_t) j * (size_t) n;
            la_gemv('N', n, k, -w->theta[j], w->q, n, w->u + (size_t) (j * k), 1.0, res);
            w->residual[j] = la_nrm2(n, res);
            if (j < c) converged = converged && w->residual[j] <= accept;
        }
        if (converged) {
            double gap = held > c ? w->theta[c] - w->residual[c] - w->theta[c - 1] : R_PosInf;
            /* The next eigenvalue may still be settling; a tie is for the dense path. */
            if (gap > 100.0 * tol) {
                la_gemm('N', 'N', n, c, k, 1.0, w->q, n, w->u, k, 0.0, r, n);
                for (int j = 0; j < c; j++) w->worst = fmax(w->worst, w->residual[j] / top);
                w->n_krylov++;
                return true;
            }
            if (w->residual[c] <= accept) return false;
        }
        if (k == n) return false;

        /* The next block: residuals that are still there. */
        added = 0;
        for (int j = 0; j < held; j++)
            if (w->residual[j] > 0.1 * accept) {
                ufs_copy(w->temp + (size_t) added * (size_t) n, w->temp + (size_t) j * (size_t) n,
                         (size_t) n);
                added++;
            }
        if (added == 0) return false;
        if (w->most == n && k + added > n) added = n - k;
        if (k + added > w->most) {
            /* Keeps the lowest Ritz vectors; room for the change of basis is behind the block. */
            int keep = 2 * (c + GUARD);
            double *room = w->temp + (size_t) added * (size_t) n;
            if (keep > k || keep + added > w->most) return false;
            la_krylov_rotate(n, k, keep, w->q, w->u, room);
            la_krylov_rotate(n, k, keep, w->aq, w->u, room);
            for (int j = 0; j < keep; j++)
                for (int i = 0; i < keep; i++) w->t[i + j * w->most] = i == j ? w->theta[j] : 0.0;
            k = keep;
        }
        ufs_copy(w->q + (size_t) k * (size_t) n, w->temp, (size_t) added * (size_t) n);
    }
    return false;
}

/* Component indicators (null vectors of L, whose exact multiplicity no Krylov space can
 * see), the vectors of the last call, and GUARD new directions. */
static int start_block(low_work *w, int n_comp, double *x)
{
    size_t N = (size_t) w->n;
    int at = 0;
    memset(x, 0, N * (size_t) n_comp * sizeof(double));
    for (size_t i = 0; i < N; i++) x[i + (size_t) (w->label[i] - 1) * N] = 1.0;
    at = n_comp;
    for (int j = 0; j < w->n_warm && at < w->most; j++, at++)
        ufs_copy(x + (size_t) at * N, w->warm + (size_t) j * N, N);
    for (int j = 0; (j < GUARD || at <= w->c) && at < w->most; j++, at++)
        la_krylov_noise(w->n, j, x + (size_t) at * N);
    return at;
}

/* A times the new columns, and the new rows and columns of T = Q'AQ. */
static void expand(low_work *w, const double *s, int k, int added)
{
    int n = w->n;
    double *q = w->q + (size_t) k * (size_t) n, *aq = w->aq + (size_t) k * (size_t) n;
    for (int j = 0; j < added; j++)
        for (int i = 0; i < n; i++) {
            size_t at = (size_t) i + (size_t) j * (size_t) n;
            aq[at] = w->degree[i] * q[at];
        }
    la_packed_product(n, NULL, s, false, added, -1.0, q, n, aq, n, w->strip, STRIP);
    la_gemm('T', 'N', k + added, added, n, 1.0, w->q, n, aq, n, 0.0,
            w->t + (size_t) k * (size_t) w->most, w->most);
    for (int j = k; j < k + added; j++)
        for (int i = 0; i < j; i++) w->t[j + i * w->most] = w->t[i + j * w->most];
}
