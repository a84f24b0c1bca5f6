/* eig_graph.c: see eig.h. */
#include "eig.h"

enum { MAX_ITER = 300 };

typedef struct {
    const low_work *work;
    const double *s;
} low_operator;

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
    w->n = n;
    w->c = c;
    w->dense_limit = dense_limit;
    w->n_warm = 0;
    w->worst = 0.0;
    w->value = ufs_dalloc((size_t) n, 1);
    ufs_ialloc_each((size_t) n, (int **[]){&w->label, &w->order, NULL});
    if (n <= dense_limit) return;
    w->warm = ufs_dalloc((size_t) n, (size_t) c + 1);
}

static void indicators(const low_work *w, int n_comp, double *r)
{
    size_t N = (size_t) w->n;
    memset(r, 0, N * (size_t) n_comp * sizeof(double));
    for (size_t i = 0; i < N; i++) r[i + (size_t) (w->label[i] - 1) * N] = 1.0;
    for (int a = 0; a < n_comp; a++) {
        double *col = r + (size_t) a * N, norm = la_nrm2(w->n, col);
        for (size_t i = 0; i < N; i++) col[i] /= norm;
    }
}

/* The null space of L is spanned by the indicators; so c or more components are one tie
 * at zero, unless a weight so small hangs together two parts that its eigenvalue is
 * within the tolerance, too. */
static bool by_components(low_work *w, int n_comp, double tol, const double *s, double *r,
                          low_split *split)
{
    int n = w->n;
    if (la_packed_components(n, s, tol / (double) n, w->label, w->order) != n_comp) return false;
    indicators(w, n_comp, r);
    split->lo = 0;
    split->eq = n_comp;
    split->share = (double) w->c / (double) n_comp;
    w->path = LOW_BLOCKS;
    return true;
}

/* y = -L x. */
static void apply_minus(const void *data, int m, const double *x, double *y)
{
    const low_operator *op = data;
    int n = op->work->n;
    size_t N = (size_t) n;
    void *mark = vmaxget();

    for (size_t j = 0; j < (size_t) m; j++)
        for (size_t i = 0; i < N; i++) y[i + j * N] = -op->work->degree[i] * x[i + j * N];
    la_packed_product(&(la_packed){n, op->s, ufs_dalloc(N, UFS_STRIP)}, false, m, 1.0, x, y);
    vmaxset(mark);
}

/* The first c eigenvectors go to r, the component indicators (null vectors of L) first; false if
 * they did not converge or may be tied with the next one. */
static bool by_krylov(low_work *w, const double *s, int n_comp, double top, double tol, double *r)
{
    int n = w->n, c = w->c, more = c - n_comp;
    size_t N = (size_t) n;
    void *mark = vmaxget();
    double *value = ufs_dalloc((size_t) more + 1, 1), *vector = ufs_dalloc(N, (size_t) more + 1);
    low_operator op = {w, s};
    eig_info found;
    eig_problem problem = {.n = n,
                           .k = more + 1,
                           .apply = apply_minus,
                           .data = &op,
                           .low = -top,
                           .n_known = n_comp,
                           .known = r,
                           .n_start = w->n_warm,
                           .start = w->warm,
                           .proof = true,
                           .tol = 1e-12,
                           .max_iter = MAX_ITER,
                           .n_rough = 1};
    bool good;

    if (c >= n) return false;
    indicators(w, n_comp, r);
    eig_krylov(&problem, value, vector, &found);
    /* The next eigenvalue may still be settling; a tie is for the dense path. */
    good = found.lapack == 0 && found.converged && value[more - 1] - value[more] > 100.0 * tol;
    if (good) {
        ufs_copy(r + (size_t) n_comp * N, vector, N * (size_t) more);
        w->worst = fmax(w->worst, found.residual);
        w->n_warm = more + 1;
        ufs_copy(w->warm, vector, N * (size_t) w->n_warm);
        w->path = LOW_KRYLOV;
    }
    vmaxset(mark);
    return good;
}

static int dense(low_work *w, const double *s, double *scratch, double *r, low_split *split)
{
    int n = w->n, info;
    w->path = LOW_DENSE;
    la_packed_laplacian(n, s, w->degree, scratch);
    info = eig_range(n, scratch, 1, n, w->value, r);
    if (info) return info;
    *split = low_ties(w->value, n, w->c,
                      10.0 * (double) n * DBL_EPSILON *
                          fmax(fabs(w->value[0]), fabs(w->value[n - 1])));
    return 0;
}

int low_laplacian(low_work *w, const double *s, const double *degree, double *scratch, double *r,
                  int *k, low_split *split)
{
    int n = w->n, info = 0;
    size_t N = (size_t) n;
    double top = 0.0;

    w->degree = degree;
    for (size_t i = 0; i < N; i++) top = fmax(top, degree[i]);
    bool done = false;
    if (n > w->dense_limit) {
        double tol = 10.0 * (double) n * DBL_EPSILON * top;
        int n_comp = la_packed_components(n, s, 0.0, w->label, w->order);
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
    for (size_t i = N * (size_t) split->lo; i < N * (size_t) *k; i++) r[i] *= sqrt(split->share);
    return 0;
}
