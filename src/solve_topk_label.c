/* solve_topk_label.c: clusters of the samples from their representation Z (n x n, row i
 * rebuilds sample i), without random numbers.
 *   M = |Z| with every row divided by its maximum, S = M + M',
 *   u = leading c eigenvectors of D^{-1/2} S D^{-1/2}, rows scaled to unit length,
 * then Lloyd's iteration from seeds that no rotation of u changes, so that the basis
 * LAPACK returns does not matter. From the second call on also from the previous
 * partition; the smaller within-cluster sum of squares wins.
 * 4n^3/3 flops, one n x n work matrix. Comparisons that decide carry a tolerance of
 * 1e-9. Samples without a link have a zero row. */
#include "solve_topk.h"
#include "la.h"

static const double TIE = 1e-9;
enum { LLOYD_MAX = 100 };

static int embed(topk_label *w, const double *z);
static int choose_seeds(topk_label *w);
static double lloyd(topk_label *w, int *label);
static void assign(topk_label *w, int *label);
static void fill_empty(topk_label *w, int *label);
static void centres(topk_label *w, const int *label);
static double within(const topk_label *w, const int *label);
static void relabel(int n, int c, int *label, int *code);

void topk_label_init(topk_label *w, int n, int c)
{
    size_t N = (size_t) n, C = (size_t) c;
    w->n = n;
    w->c = c;
    w->affinity = ufs_dalloc(N, N);
    w->degree = ufs_dalloc(N, 1);
    w->value = ufs_dalloc(C, 1);
    w->u = ufs_dalloc(N, C);
    w->centre = ufs_dalloc(C, C);
    w->distance = ufs_dalloc(N, 1);
    w->trial = ufs_ialloc(N);
    w->again = ufs_ialloc(N);
    w->old = ufs_ialloc(N);
    w->size = ufs_ialloc(C);
    w->seed = ufs_ialloc(C);
    w->isolated = 0;
}

int topk_label_solve(topk_label *w, const double *z, bool have_previous, int *label)
{
    size_t n = (size_t) w->n, c = (size_t) w->c;
    double wss, again;
    int info;

    info = embed(w, z);
    if (info) return info;
    if (w->c == 1) {
        for (size_t i = 0; i < n; i++) label[i] = 1;
        return 0;
    }
    info = choose_seeds(w);
    if (info) return info;
    for (size_t j = 0; j < c; j++)
        for (size_t l = 0; l < c; l++)
            w->centre[j + l * c] = w->u[(size_t) w->seed[j] + l * n];
    wss = lloyd(w, w->trial);
    if (have_previous) {
        memcpy(w->again, label, n * sizeof(int));
        centres(w, w->again);
        again = lloyd(w, w->again);
        if (again <= wss + TIE) memcpy(w->trial, w->again, n * sizeof(int));
    }
    memcpy(label, w->trial, n * sizeof(int));
    relabel(w->n, w->c, label, w->size);
    return 0;
}

static int embed(topk_label *w, const double *z)
{
    size_t n = (size_t) w->n, c = (size_t) w->c;
    double *s = w->affinity, *top = w->distance, most = 0.0;
    int info;

    memset(top, 0, n * sizeof(double));
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) top[i] = fmax(top[i], fabs(z[i + j * n]));
    for (size_t i = 0; i < n; i++)
        if (top[i] == 0.0) top[i] = 1.0;
    memset(w->degree, 0, n * sizeof(double));
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i <= j; i++) {
            double v = fabs(z[i + j * n]) / top[i] + fabs(z[j + i * n]) / top[j];
            s[i + j * n] = s[j + i * n] = v;
        }
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) w->degree[i] += s[i + j * n];
    for (size_t i = 0; i < n; i++) most = fmax(most, w->degree[i]);
    w->isolated = 0;
    for (size_t i = 0; i < n; i++)
        if (w->degree[i] <= 1e-12 * most) {
            w->degree[i] = 0.0;
            w->isolated++;
        }
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            s[i + j * n] = w->degree[i] > 0.0 && w->degree[j] > 0.0
                ? s[i + j * n] / sqrt(w->degree[i] * w->degree[j]) : 0.0;
    if (w->c == 1) return 0;
    info = la_eig_range(w->n, s, w->n - w->c + 1, w->n, w->value, w->u);
    if (info) return info;
    for (size_t i = 0; i < n; i++) {
        double ss = 0.0, divide;
        for (size_t l = 0; l < c; l++) ss += w->u[i + l * n] * w->u[i + l * n];
        divide = w->degree[i] > 0.0 && sqrt(ss) > 1e-12 ? 1.0 / sqrt(ss) : 0.0;
        for (size_t l = 0; l < c; l++) w->u[i + l * n] *= divide;
    }
    return 0;
}

/* The best linked sample, then always the one least aligned with those chosen. */
static int choose_seeds(topk_label *w)
{
    size_t n = (size_t) w->n, c = (size_t) w->c;
    double most = 0.0, *closest = w->distance;

    for (size_t i = 0; i < n; i++) most = fmax(most, w->degree[i]);
    if (w->n - w->isolated < w->c) return -1;
    w->seed[0] = 0;
    while (w->degree[w->seed[0]] < (1.0 - TIE) * most) w->seed[0]++;
    for (size_t i = 0; i < n; i++) closest[i] = w->degree[i] > 0.0 ? 0.0 : HUGE_VAL;
    for (size_t done = 1; done < c; done++) {
        size_t last = (size_t) w->seed[done - 1];
        double least = HUGE_VAL;
        closest[last] = HUGE_VAL;
        for (size_t i = 0; i < n; i++) {
            double cosine = 0.0;
            for (size_t l = 0; l < c; l++) cosine += w->u[i + l * n] * w->u[last + l * n];
            closest[i] = fmax(closest[i], fabs(cosine));
            least = fmin(least, closest[i]);
        }
        w->seed[done] = 0;
        while (closest[w->seed[done]] > least + TIE) w->seed[done]++;
    }
    return 0;
}

/* From w->centre; returns the within-cluster sum of squares of the result. */
static double lloyd(topk_label *w, int *label)
{
    size_t n = (size_t) w->n;
    int *old = w->old;

    for (size_t i = 0; i < n; i++) old[i] = 0;
    for (int it = 0; it < LLOYD_MAX; it++) {
        assign(w, label);
        fill_empty(w, label);
        if (memcmp(old, label, n * sizeof(int)) == 0) break;
        memcpy(old, label, n * sizeof(int));
        centres(w, label);
    }
    centres(w, label);
    return within(w, label);
}

/* First centre within the tolerance of the nearest. */
static void assign(topk_label *w, int *label)
{
    size_t n = (size_t) w->n, c = (size_t) w->c;
    for (size_t i = 0; i < n; i++) {
        double least = HUGE_VAL;
        for (int pass = 0; pass < 2; pass++)
            for (size_t j = 0; j < c; j++) {
                double d2 = 0.0;
                for (size_t l = 0; l < c; l++) {
                    double d = w->u[i + l * n] - w->centre[j + l * c];
                    d2 += d * d;
                }
                if (pass == 0) {
                    least = fmin(least, d2);
                } else if (d2 <= least + TIE) {
                    label[i] = (int) j + 1;
                    w->distance[i] = d2;
                    break;
                }
            }
    }
}

/* An empty cluster takes the first point farthest from its own centre, out of a
 * cluster of more than one. */
static void fill_empty(topk_label *w, int *label)
{
    size_t n = (size_t) w->n, c = (size_t) w->c;
    memset(w->size, 0, c * sizeof(int));
    for (size_t i = 0; i < n; i++) w->size[label[i] - 1]++;
    for (size_t j = 0; j < c; j++) {
        double most = -1.0;
        size_t far = 0;
        if (w->size[j] > 0) continue;
        for (size_t i = 0; i < n; i++)
            if (w->size[label[i] - 1] > 1) most = fmax(most, w->distance[i]);
        while (w->size[label[far] - 1] <= 1 || w->distance[far] < most - TIE) far++;
        w->size[label[far] - 1]--;
        label[far] = (int) j + 1;
        w->distance[far] = 0.0;
        w->size[j] = 1;
    }
}

static void centres(topk_label *w, const int *label)
{
    size_t n = (size_t) w->n, c = (size_t) w->c;
    memset(w->centre, 0, c * c * sizeof(double));
    memset(w->size, 0, c * sizeof(int));
    for (size_t i = 0; i < n; i++) w->size[label[i] - 1]++;
    for (size_t l = 0; l < c; l++)
        for (size_t i = 0; i < n; i++)
            w->centre[(size_t) (label[i] - 1) + l * c] += w->u[i + l * n];
    for (size_t l = 0; l < c; l++)
        for (size_t j = 0; j < c; j++)
            if (w->size[j] > 0) w->centre[j + l * c] /= w->size[j];
}

static double within(const topk_label *w, const int *label)
{
    size_t n = (size_t) w->n, c = (size_t) w->c;
    double sum = 0.0;
    for (size_t l = 0; l < c; l++)
        for (size_t i = 0; i < n; i++) {
            double d = w->u[i + l * n] - w->centre[(size_t) (label[i] - 1) + l * c];
            sum += d * d;
        }
    return sum;
}

/* 1..c by first occurrence. */
static void relabel(int n, int c, int *label, int *code)
{
    int next = 0;
    for (int j = 0; j < c; j++) code[j] = 0;
    for (int i = 0; i < n; i++) {
        if (code[label[i] - 1] == 0) code[label[i] - 1] = ++next;
        label[i] = code[label[i] - 1];
    }
}
