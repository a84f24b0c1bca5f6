/* topk_label.c: clusters of the samples from their representation Z (n x n, row i
 * rebuilds sample i), without random numbers.
 *   M = |Z| with every row divided by its maximum, S = M + M',
 *   u = leading c eigenvectors of D^{-1/2} S D^{-1/2}, rows scaled to unit length,
 * then Lloyd's iteration from seeds that no rotation of u changes, so that the basis
 * LAPACK returns does not matter. From the second call on also from the previous
 * partition; the smaller within-cluster sum of squares wins.
 * 4n^3/3 flops, one n x n work matrix, the caller's. Samples without a link, or with one by
 * rounding only, have a zero row. */
#include "eig.h"
#include "topk_z.h"

void topk_label_init(topk_label *work, int n, int c, double *affinity)
{
    size_t N = (size_t) n, C = (size_t) c;
    work->n = n;
    work->c = c;
    work->affinity = affinity;
    ufs_dalloc_each(N, 1, (double **[]){&work->degree, &work->distance, NULL});
    work->value = ufs_dalloc(C, 1);
    work->u = ufs_dalloc(N, C);
    work->centre = ufs_dalloc(C, C);
    ufs_ialloc_each(N, (int **[]){&work->trial, &work->again, &work->old, NULL});
    work->size = ufs_ialloc(C);
}

static int embed(topk_label *work, const double *z)
{
    size_t n = (size_t) work->n, c = (size_t) work->c;
    double *s = work->affinity, *top = work->distance, most = 0.0;
    int lapack;

    memset(top, 0, n * sizeof(double));
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) top[i] = fmax(top[i], fabs(z[i + j * n]));
    for (size_t i = 0; i < n; i++)
        if (top[i] == 0.0) top[i] = 1.0;
    memset(work->degree, 0, n * sizeof(double));
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) {
            s[i + j * n] = fabs(z[i + j * n]) / top[i] + fabs(z[j + i * n]) / top[j];
            work->degree[i] += s[i + j * n];
        }
    for (size_t i = 0; i < n; i++) most = fmax(most, work->degree[i]);
    for (size_t i = 0; i < n; i++)
        if (work->degree[i] <= UFS_ROUNDING * most) work->degree[i] = 0.0;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            s[i + j * n] = work->degree[i] > 0.0 && work->degree[j] > 0.0
                               ? s[i + j * n] / sqrt(work->degree[i] * work->degree[j])
                               : 0.0;
    if (work->c == 1) return 0;
    lapack = eig_range(work->n, s, work->n - work->c + 1, work->n, work->value, work->u);
    if (lapack) return lapack;
    for (size_t i = 0; i < n; i++) {
        double ss = 0.0, divide;
        for (size_t l = 0; l < c; l++) ss += work->u[i + l * n] * work->u[i + l * n];
        divide = work->degree[i] > 0.0 && sqrt(ss) > UFS_ROUNDING ? 1.0 / sqrt(ss) : 0.0;
        for (size_t l = 0; l < c; l++) work->u[i + l * n] *= divide;
    }
    return 0;
}

/* Centres: the best linked sample, then always the one least aligned with those chosen. */
static int choose_seeds(topk_label *work)
{
    size_t n = (size_t) work->n, c = (size_t) work->c, at = 0, linked = 0;
    double most = 0.0, *closest = work->distance;

    for (size_t i = 0; i < n; i++) {
        most = fmax(most, work->degree[i]);
        linked += work->degree[i] > 0.0;
    }
    if (linked < c) return -1;
    while (work->degree[at] < (1.0 - UFS_TIE) * most) at++;
    for (size_t i = 0; i < n; i++) closest[i] = work->degree[i] > 0.0 ? 0.0 : HUGE_VAL;
    for (size_t done = 0; done < c; done++) {
        double least = HUGE_VAL;
        for (size_t l = 0; l < c; l++) work->centre[done + l * c] = work->u[at + l * n];
        closest[at] = HUGE_VAL;
        for (size_t i = 0; i < n; i++) {
            double cosine = 0.0;
            for (size_t l = 0; l < c; l++) cosine += work->u[i + l * n] * work->u[at + l * n];
            closest[i] = fmax(closest[i], fabs(cosine));
            least = fmin(least, closest[i]);
        }
        at = 0;
        while (closest[at] > least + UFS_TIE) at++;
    }
    return 0;
}

/* First centre within the tolerance of the nearest. */
static void assign(topk_label *work, int *label)
{
    size_t n = (size_t) work->n, c = (size_t) work->c;
    for (size_t i = 0; i < n; i++) {
        double least = HUGE_VAL;
        for (int pass = 0; pass < 2; pass++)
            for (size_t j = 0; j < c; j++) {
                double d2 = 0.0;
                for (size_t l = 0; l < c; l++) {
                    double d = work->u[i + l * n] - work->centre[j + l * c];
                    d2 += d * d;
                }
                if (pass == 0) {
                    least = fmin(least, d2);
                } else if (d2 <= least + UFS_TIE) {
                    label[i] = (int) j + 1;
                    work->distance[i] = d2;
                    break;
                }
            }
    }
}

/* An empty cluster takes the first point farthest from its own centre, out of a
 * cluster of more than one. */
static void fill_empty(topk_label *work, int *label)
{
    size_t n = (size_t) work->n, c = (size_t) work->c;
    memset(work->size, 0, c * sizeof(int));
    for (size_t i = 0; i < n; i++) work->size[label[i] - 1]++;
    for (size_t j = 0; j < c; j++) {
        double most = -1.0;
        size_t far = 0;
        if (work->size[j] > 0) continue;
        for (size_t i = 0; i < n; i++)
            if (work->size[label[i] - 1] > 1) most = fmax(most, work->distance[i]);
        while (work->size[label[far] - 1] <= 1 || work->distance[far] < most - UFS_TIE) far++;
        work->size[label[far] - 1]--;
        label[far] = (int) j + 1;
        work->distance[far] = 0.0;
        work->size[j] = 1;
    }
}

static void centres(topk_label *work, const int *label)
{
    size_t n = (size_t) work->n, c = (size_t) work->c;
    memset(work->centre, 0, c * c * sizeof(double));
    memset(work->size, 0, c * sizeof(int));
    for (size_t i = 0; i < n; i++) work->size[label[i] - 1]++;
    for (size_t l = 0; l < c; l++)
        for (size_t i = 0; i < n; i++)
            work->centre[(size_t) (label[i] - 1) + l * c] += work->u[i + l * n];
    for (size_t l = 0; l < c; l++)
        for (size_t j = 0; j < c; j++)
            if (work->size[j] > 0) work->centre[j + l * c] /= work->size[j];
}

/* From work->centre; returns the within-cluster sum of squares of the result. The cap, which is
 * never met, is a guard against ties that go round. */
static double lloyd(topk_label *work, int *label)
{
    size_t n = (size_t) work->n;
    int *old = work->old;
    double sum = 0.0;

    memset(old, 0, n * sizeof(int));
    for (int it = 0; it < work->n; it++) {
        assign(work, label);
        fill_empty(work, label);
        if (memcmp(old, label, n * sizeof(int)) == 0) break;
        memcpy(old, label, n * sizeof(int));
        centres(work, label);
    }
    for (size_t i = 0; i < n; i++) sum += work->distance[i];
    return sum;
}

int topk_label_solve(topk_label *work, const double *z, bool have_previous, int *label)
{
    size_t n = (size_t) work->n;
    double wss, again;
    int lapack = embed(work, z), next = 0;

    if (lapack) return lapack;
    if (work->c == 1) {
        for (size_t i = 0; i < n; i++) label[i] = 1;
        return 0;
    }
    lapack = choose_seeds(work);
    if (lapack) return lapack;
    wss = lloyd(work, work->trial);
    if (have_previous) {
        memcpy(work->again, label, n * sizeof(int));
        centres(work, work->again);
        again = lloyd(work, work->again);
        if (again <= wss + UFS_TIE) memcpy(work->trial, work->again, n * sizeof(int));
    }
    /* 1..c by first occurrence. */
    memset(work->size, 0, (size_t) work->c * sizeof(int));
    for (size_t i = 0; i < n; i++) {
        int *code = work->size + work->trial[i] - 1;
        if (*code == 0) *code = ++next;
        label[i] = *code;
    }
    return 0;
}
