/* la_cg.c: conjugate gradients. */
#include "la.h"

int la_cg(const la_cg_problem *a, const double *b, double *x)
{
    int n = a->n, it = 0;
    double rz, stop, *z = a->precondition ? a->z : a->r;

    a->apply(a->data, x, a->q);
    for (int i = 0; i < n; i++) a->r[i] = b[i] - a->q[i];
    if (a->precondition) a->precondition(a->data, a->r, a->z);
    ufs_copy(a->p, z, (size_t) n);
    rz = la_dot(n, a->r, z);
    stop = a->natural ? a->tol * sqrt(fmax(rz, 0.0)) : a->tol * la_nrm2(n, b);
    for (; it < a->max_iter; it++) {
        double curvature, step, next;
        if (!((a->natural ? sqrt(fmax(rz, 0.0)) : la_nrm2(n, a->r)) > stop)) break;
        a->apply(a->data, a->p, a->q);
        curvature = la_dot(n, a->p, a->q);
        if (!(curvature > 0.0)) break;
        step = rz / curvature;
        la_axpy(n, step, a->p, x);
        la_axpy(n, -step, a->q, a->r);
        if (a->precondition) a->precondition(a->data, a->r, z);
        if (a->watch) a->watch(a->data, la_nrm2(n, a->r));
        next = la_dot(n, a->r, z);
        for (int i = 0; i < n; i++) a->p[i] = z[i] + next / rz * a->p[i];
        rz = next;
    }
    return it;
}
