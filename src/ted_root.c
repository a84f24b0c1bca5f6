/* ted_root.c: a kernel of items as inner products of short rows, for ted.c.
 *
 * Problem. K is n x n and semidefinite: K_ij = exp(-|x_i - x_j|^2 / width), or given. Find an
 * n x r matrix R with K ~ R R', r << n, without K itself. Cholesky with pivots (Fine & Scheinberg,
 * JMLR 2001) takes the item j whose K_jj is largest once the columns so far have left K, adds
 * the column k / sqrt(K_jj), k = K_.j, and stops when tr(K - R R') is `tol` of tr K, or at `most`
 * columns. What is left is semidefinite, so tr(K - R R') bounds all of its eigenvalues.
 *     2 r (n p + n r) flops; n (r + 2) doubles. A column of K takes one product with x: that of
 *     a file would be a pass, so callers bring these into memory.
 * All K_jj of the first kind are 1 at the start: the first pivot is then the item nearest the
 * mean, so that the order of the items decides nothing. */
#include "la.h"
#include "ted.h"

/* |x_i|^2 + |x_j|^2 in widths, above which products say too little of the distance between items; and
 * the distance beyond which that changes nothing. */
static const double LARGE = 1e5, NEAR = 100.0;

typedef struct {
    const ted_kernel *kernel;
    double *square; /* n: |x_i|^2 */
    double *diag;   /* n: K_ii, what is left of it */
    double *row;    /* p: the pivot's row; most: its row of R */
    double *other;  /* p: a row near it */
} root_work;

/* The item of the largest K_jj, the lowest index among equals; at the start that nearest to the mean. */
static int next_pivot(const root_work *work, bool start)
{
    int n = work->kernel->n, best = 0;
    double top = 0.0;

    if (start && work->kernel->x) {
        for (int i = 1; i < n; i++)
            if (work->square[i] < work->square[best] * (1.0 - UFS_ROUNDING)) best = i;
        return best;
    }
    for (int i = 0; i < n; i++) top = fmax(top, work->diag[i]);
    for (int i = 0; i < n; i++)
        if (work->diag[i] >= top * (1.0 - UFS_ROUNDING)) return i;
    return 0;
}

/* out = column j of K. */
static void kernel_column(const root_work *work, int j, double *out)
{
    const ted_kernel *kernel = work->kernel;
    int n = kernel->n;

    if (!kernel->x) {
        ufs_copy(out, kernel->kernel + (size_t) j * (size_t) n, (size_t) n);
        return;
    }
    ufs_x_rows(kernel->x, 1, &j, work->row);
    ufs_x_mul(kernel->x, 1, work->row, out);
    for (int i = 0; i < n; i++) {
        double both = work->square[i] + work->square[j], d2 = both - 2.0 * out[i];
        if (both > LARGE * kernel->width && d2 < NEAR * kernel->width + UFS_ROUNDING * both) {
            ufs_x_rows(kernel->x, 1, &i, work->other);
            d2 = la_ss_diff((size_t) kernel->x->p, work->row, work->other);
        }
        out[i] = exp(-fmax(d2, 0.0) / kernel->width);
    }
    out[j] = 1.0;
}

/* Adds column t of R, that of item j, and takes it out of the diagonal. */
static void add_column(root_work *work, int t, int j, ted_root *result)
{
    int n = work->kernel->n;
    size_t N = (size_t) n;
    double *k = result->root + (size_t) t * N, root = sqrt(work->diag[j]);

    kernel_column(work, j, k);
    for (int s = 0; s < t; s++) work->row[s] = result->root[(size_t) j + (size_t) s * N];
    if (t > 0) la_gemv('N', n, t, -1.0, result->root, n, work->row, 1.0, k);
    result->left = 0.0;
    for (int i = 0; i < n; i++) {
        k[i] /= root;
        work->diag[i] -= k[i] * k[i];
        result->least = fmin(result->least, work->diag[i]);
        if (work->diag[i] < 0.0) work->diag[i] = 0.0;
        result->left += work->diag[i];
    }
    work->diag[j] = 0.0;
    result->pivot[t] = j;
    result->rank = t + 1;
}

void ted_kernel_root(const ted_kernel *kernel, ted_root *result)
{
    int n = kernel->n, p = kernel->x ? kernel->x->p : 0;
    size_t N = (size_t) n;
    root_work work = {.kernel = kernel};

    ufs_dalloc_each(N, 1, (double **[]){&work.square, &work.diag, NULL});
    work.row = ufs_dalloc((size_t) (p > kernel->most ? p : kernel->most), 1);
    work.other = ufs_dalloc((size_t) p, 1);
    if (kernel->x) ufs_x_row_ss(kernel->x, work.square);
    result->rank = 0;
    result->trace = result->least = 0.0;
    for (size_t i = 0; i < N; i++) {
        work.diag[i] = kernel->x ? 1.0 : kernel->kernel[i + i * N];
        result->least = fmin(result->least, work.diag[i]);
        if (work.diag[i] < 0.0) work.diag[i] = 0.0;
        result->trace += work.diag[i];
    }
    result->left = result->trace;
    for (int t = 0; t < kernel->most && result->left > kernel->tol * result->trace; t++) {
        int j = next_pivot(&work, t == 0);
        R_CheckUserInterrupt();
        if (!(work.diag[j] > UFS_ROUNDING * result->trace / n)) break;
        add_column(&work, t, j, result);
    }
}
