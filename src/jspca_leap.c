/* jspca_leap.c: extrapolation of JSPCA over samples (see jspca_solve.c).
 *
 * An iteration sees P and w through the n k + n numbers (X P, log w) alone. The exact solver
 * extrapolates these by Anderson's method, or steps forward where changes grow. What the step from
 * there finds is a feasible P and Q; it is kept if the objective falls, otherwise the plain step is
 * made. The last step is a plain one under its own weights, and follows a change of Q within the
 * tolerance and an extrapolation of a length near it. */
#include "jspca_work.h"

/* By time extrapolation pays only for fits of more than FIRST steps. */
enum { DEPTH = 5, FIRST = 60 };
/* Extrapolation begins once changes of Q are below NEAR: from further away rounding decides at
 * which stationary point it ends. A change is aligned with the last one if their cosine is above
 * ALIGNED. */
static const double NEAR = 0.1, ALIGNED = 0.8;
/* An extrapolation changes no log weight by more than this, a factor of about 1000. Where residuals
 * shrink by the same factor in every step, the differences of these steps are mere rounding, and so
 * is the point they lead to. */
static const double FARTHEST = 7.0;

static void write_point(const jspca_work *work, double *to)
{
    size_t n = (size_t) work->problem->n, nk = n * (size_t) work->problem->k;
    ufs_copy(to, work->u, nk);
    for (size_t i = 0; i < n; i++) to[nk + i] = log(work->result->weight[i]);
}

void jspca_leap_init(jspca_work *work)
{
    size_t n = (size_t) work->problem->n, k = (size_t) work->problem->k, size = n * k + n;

    work->z_old = ufs_dalloc(n, k);
    anderson_init(&work->history, (int) size, DEPTH);
    la_polar_init(&work->rotation, work->problem->k, work->problem->k);
    ufs_dalloc_each(size, 1,
                    (double **[]){&work->point, &work->image, &work->scale, &work->way, NULL});
    write_point(work, work->point);
}

static void read_point(jspca_work *work)
{
    size_t n = (size_t) work->problem->n, nk = n * (size_t) work->problem->k;
    ufs_copy(work->u, work->point, nk);
    for (size_t i = 0; i < n; i++) work->result->weight[i] = exp(work->point[nk + i]);
}

void jspca_leap_back(jspca_work *work)
{
    const jspca_problem *problem = work->problem;

    ufs_copy(work->result->q, work->q_old, (size_t) problem->p * (size_t) problem->k);
    ufs_copy(work->z, work->z_old, (size_t) problem->n * (size_t) problem->k);
    ufs_copy(work->point, work->image, (size_t) work->history.size);
    read_point(work);
    anderson_keep_last(&work->history);
    work->reach = 1.0;
    work->leap = 0.0;
    work->bold = false;
}

/* Scaled inner product of the step from `from` to `to`, which stays in work->way, with `other`, or
 * with itself for NULL. */
static double along(jspca_work *work, const double *from, const double *to, const double *other)
{
    double sum = 0.0;
    for (size_t i = 0; i < (size_t) work->history.size; i++) {
        double way = work->way[i] = to[i] - from[i];
        sum += work->scale[i] * work->scale[i] * way * (other == NULL ? way : other[i]);
    }
    return sum;
}

/* (P, Q) may be rotated freely: the point is rotated as near to the image as it gets, so that
 * extrapolation does not turn it, or Q would depend on its path. */
static void align(jspca_work *work)
{
    int n = work->problem->n, k = work->problem->k;

    la_gemm('T', 'N', k, k, n, 1.0, work->point, n, work->image, n, 0.0, work->zz, k);
    if (la_polar(&work->rotation, work->zz, NULL, work->zz)) return;
    la_gemm('N', 'N', n, k, k, 1.0, work->point, n, work->zz, k, 0.0, work->u, n);
    ufs_copy(work->point, work->u, (size_t) n * (size_t) k);
}

/* Where the next step starts: what the last one led to, extrapolated if that is allowed. While
 * changes shrink, by Anderson's method. While they grow the iteration leaves a saddle, to which
 * Anderson's point would lead back: a step forward along the last change, twice as far after
 * every success. */
void jspca_leap_next(jspca_work *work)
{
    size_t n = (size_t) work->problem->n, nk = n * (size_t) work->problem->k;
    double *point = work->point, *image = work->image;
    double size = sqrt(la_ss(nk, work->u)), moved;
    int t = work->run->iterations;

    if (t <= FIRST) {
        if (t == FIRST) write_point(work, point);
        return;
    }
    ufs_copy(work->z_old, work->z, nk);
    write_point(work, image);
    for (size_t i = 0; i < nk + n; i++)
        work->scale[i] = i >= nk ? 1.0 / sqrt((double) n) : size > 0.0 ? 1.0 / size : 1.0;
    moved = along(work, point, image, NULL);
    work->forward = work->run->paths.jspca_forward && moved > work->moved &&
                    along(work, point, image, work->history.last_r) >
                        ALIGNED * sqrt(moved * work->moved);
    work->moved = moved;
    anderson_push(&work->history, point, image);
    work->bold = !work->confirms && work->result->change < NEAR && t + 1 < work->run->max_iter &&
                 work->history.count > 0;
    if (!work->bold)
        ufs_copy(point, image, nk + n);
    else if (work->forward)
        for (size_t i = 0; i < nk + n; i++) point[i] = image[i] + work->reach * work->way[i];
    else
        anderson_mix(&work->history, work->scale, point);
    if (work->bold) {
        for (size_t i = nk; i < nk + n; i++)
            point[i] = fmin(image[i] + FARTHEST, fmax(image[i] - FARTHEST, point[i]));
        align(work);
        work->leap = sqrt(along(work, image, point, NULL));
    }
    read_point(work);
}
