/* css_bound.c: what no k columns can beat, the squares that k principal directions capture: sums of
 * the leading eigenvalues of x x' or x'x (4r^3/3 flops of order r, one LAPACK call); above order
 * `exact_limit` of the first FEW ones by eig_few, the others counted as the last of these. */
#include "css_work.h"
#include "eig.h"

enum { FEW = 30 };

typedef struct {
    int order;
    const double *gram;
    const ufs_x *sparse; /* xx' by the entries of x, where these are few; else NULL */
    const ufs_x *x;      /* and x'x, where there is no Gram matrix */
} gram_operator;

static void gram_times(const void *data, int m, const double *x, double *y)
{
    const gram_operator *a = data;
    if (a->gram == NULL) {
        void *mark = vmaxget();
        double *t = ufs_dalloc((size_t) a->x->n, (size_t) m);
        ufs_x_mul(a->x, m, x, t);
        ufs_x_cross(a->x, m, t, y);
        vmaxset(mark);
    } else if (a->sparse)
        ufs_x_gram_mul(a->sparse, m, x, y);
    else
        la_gemm('N', 'N', a->order, m, a->order, 1.0, a->gram, a->order, x, a->order, 0.0, y,
                a->order);
}

int css_leading(const css_problem *problem, int k, int exact_limit, double *leading, double *total,
                bool *exact)
{
    bool by_columns = problem->p < problem->n;
    void *mark = vmaxget();
    double *ss = ufs_dalloc((size_t) problem->p, 1);

    ufs_x_ss(problem->x, ss);
    *total = 0.0;
    for (int j = 0; j < problem->p; j++) *total += ss[j];
    vmaxset(mark);
    return css_lead(problem, &(css_settings){.k = k, .exact_limit = exact_limit}, by_columns,
                    css_gram_of(problem, by_columns), *total, leading, exact);
}

int css_lead(const css_problem *problem, const css_settings *settings, bool by_columns,
             double *gram, double total, double *leading, bool *exact)
{
    int order = by_columns ? problem->p : problem->n, k = settings->k;
    int r = problem->n < problem->p ? problem->n : problem->p, m = k < r ? k : r, info;
    double *value, sum = 0.0, last = 0.0;
    /* By products with x alone each is found less closely, and what it may miss is added. */
    double tol = gram ? 1e-8 : 1e-6, missed = gram ? 0.0 : tol * total;

    *exact = order <= settings->exact_limit && gram != NULL;
    if (!*exact && m > FEW) m = FEW;
    value = ufs_dalloc((size_t) (*exact ? order : m), 1);
    if (*exact) {
        info = eig_values(order, gram, value);
    } else {
        bool by_entries = !by_columns && problem->x->kind == UFS_X_SPARSE && order <= problem->p &&
                          8.0 * ufs_x_entries(problem->x) < (double) order * order;
        gram_operator data = {order, gram, by_entries ? problem->x : NULL, problem->x};
        eig_info eigs;
        eig_problem leaders = {.n = order,
                               .k = m,
                               .apply = gram_times,
                               .data = &data,
                               .low = 0.0,
                               .high = total,
                               .block = 8,
                               .proof = true,
                               .tol = tol,
                               .max_iter = 200};
        eig_few(&leaders, value, ufs_dalloc((size_t) order, (size_t) m), &eigs);
        info = eigs.lapack;
        if (!eigs.converged) m = 0; /* then only the total is known */
    }
    if (info) return info;
    for (int t = 0; t < k; t++) {
        /* LAPACK's eigenvalues ascend, those of eig_few descend. */
        if (t < m) last = fmax(value[*exact ? order - 1 - t : t], 0.0) + missed;
        if (m == 0)
            sum = total;
        else if (t < m || !*exact)
            sum += last;
        leading[t] = fmin(sum, total);
    }
    return 0;
}
