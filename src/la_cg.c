/* la_cg.c: conjugate gradients. */
#include "la.h"

int la_cg(const la_cg_problem *a, const double *b, double *x)
{
    int n = a->n, it = 0;
    size_t N = (size_t) n;
    double *r = a->work, *p = r + N, *q = p + N, *z = a->precondition ? q + N : r, rz, stop;

    a->apply(a->data, x, q);
    for (int i = 0; i < n; i++) r[i] = b[i] - q[i];
    if (a->precondition) a->precondition(a->data, r, z);
    ufs_copy(p, z, N);
    rz = la_dot(n, r, z);
    stop = a->natural ? a->tol * sqrt(fmax(rz, 0.0)) : a->tol * la_nrm2(n, b);
    for (; it < a->max_iter; it++) {
        double curvature, step, next;
        if (!((a->natural ? sqrt(fmax(rz, 0.0)) : la_nrm2(n, r)) > stop)) break;
        a->apply(a->data, p, q);
        curvature = la_dot(n, p, q);
        if (!(curvature > 0.0)) break;
        step = rz / curvature;
        la_axpy(n, step, p, x);
        la_axpy(n, -step, q, r);
        if (a->precondition) a->precondition(a->data, r, z);
        if (a->watch) a->watch(a->data, la_nrm2(n, r));
        next = la_dot(n, r, z);
        for (int i = 0; i < n; i++) p[i] = z[i] + next / rz * p[i];
        rz = next;
    }
    return it;
}
