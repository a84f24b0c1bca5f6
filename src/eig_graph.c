/* eig_graph.c: see eig.h. */
#include "eig.h"

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

void low_init(low_work *w, int n, int c)
{
    w->n = n;
    w->c = c;
    w->value = ufs_dalloc((size_t) n, 1);
    ufs_ialloc_each((size_t) n, (int **[]){&w->label, &w->order, NULL});
}

/* The null space of L is spanned by the indicators; so c or more components are one tie
 * at zero, unless a weight so small hangs together two parts that its eigenvalue is
 * within the tolerance, too. */
static bool by_components(low_work *w, int n_comp, double tol, const double *s, double *r,
                          low_split *split)
{
    int n = w->n;
    size_t N = (size_t) n;
    if (la_packed_components(n, s, tol / (double) n, w->label, w->order) != n_comp) return false;
    memset(r, 0, N * (size_t) n_comp * sizeof(double));
    for (size_t i = 0; i < N; i++) r[i + (size_t) (w->label[i] - 1) * N] = 1.0;
    for (int a = 0; a < n_comp; a++) {
        double *col = r + (size_t) a * N, norm = la_nrm2(n, col);
        for (size_t i = 0; i < N; i++) col[i] /= norm;
    }
    split->lo = 0;
    split->eq = n_comp;
    split->share = (double) w->c / (double) n_comp;
    w->path = LOW_BLOCKS;
    return true;
}

/* As many of the lowest as it takes to see where those tied with the c-th end. */
static int lowest(low_work *w, double tol, const double *s, double *scratch, double *r,
                  low_split *split)
{
    int n = w->n, count = w->c < n ? w->c + 1 : n, info;

    w->path = LOW_DENSE;
    for (;; count = count < n / 2 ? 2 * count : n) {
        la_packed_laplacian(n, s, w->degree, scratch);
        info = eig_range(n, scratch, 1, count, w->value, r);
        if (info) return info;
        *split = low_ties(w->value, count, w->c, tol);
        if (count == n || split->lo + split->eq < count) return 0;
    }
}

int low_laplacian(low_work *w, const double *s, const double *degree, double *scratch, double *r,
                  int *k, low_split *split)
{
    int n = w->n, info = 0;
    size_t N = (size_t) n;
    double top = 0.0, tol;

    w->degree = degree;
    for (size_t i = 0; i < N; i++) top = fmax(top, degree[i]);
    tol = 10.0 * (double) n * DBL_EPSILON * top;
    int n_comp = la_packed_components(n, s, 0.0, w->label, w->order);
    if (n_comp < w->c || !by_components(w, n_comp, tol, s, r, split))
        info = lowest(w, tol, s, scratch, r, split);
    if (info) return info;
    *k = split->lo + split->eq;
    for (size_t i = N * (size_t) split->lo; i < N * (size_t) *k; i++) r[i] *= sqrt(split->share);
    return 0;
}
