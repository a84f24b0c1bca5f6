/* jspca_leap.c: extrapolation of JSPCA over samples (see solve_jspca.c).
 *
 * An iteration sees P and w through the n_v k + n numbers (X P, log w) alone. The exact solver
 * extrapolates these by Anderson's method, or steps forward where changes grow. What the step from
 * there finds is a feasible P and Q; it is kept if the objective falls, otherwise the plain step is
 * made. The last step is a plain one under its own weights, and follows a change of Q within the
 * tolerance and an extrapolation of a length near it. */
#include "jspca_work.h"
#include "la.h"

enum { DEPTH = 5 };
/* Extrapolation begins with changes of Q below NEAR, as a leap from far off lands on one or another
 * stationary point by rounding; a change is aligned with the last one if the cosine is above. */
static const double NEAR = 0.1, ALIGNED = 0.8;
/* A leap changes no log weight by more, a factor of about 1000: where residuals vanish by the same factor in
 * every step, the differences of these steps are rounding, and so is where they point. */
static const double FARTHEST = 7.0;

static void align(jspca_work *work);
static double leap_of(const jspca_work *work);
static bool is_aligned(const jspca_work *work, double size);
static void write_point(const jspca_work *work, double *to);
static void read_point(jspca_work *work);

void jspca_leap_init(jspca_work *work)
{
    size_t n = (size_t) work->problem->n, k = (size_t) work->problem->k;
    size_t size = (size_t) work->n_v * k + n;

    if (work->scores == NULL) work->z_old = ufs_dalloc(n, k);
    anderson_init(&work->history, (int) size, DEPTH);
    la_polar_init(&work->turn, work->problem->k, work->problem->k);
    work->point = ufs_dalloc(size, 1);
    work->image = ufs_dalloc(size, 1);
    work->scale = ufs_dalloc(size, 1);
    write_point(work, work->point);
}

void jspca_leap_back(jspca_work *work)
{
    const jspca_problem *problem = work->problem;

    ufs_copy(work->result->q, work->q_old, (size_t) problem->p * (size_t) problem->k);
    if (work->z_old) ufs_copy(work->z, work->z_old, (size_t) problem->n * (size_t) problem->k);
    ufs_copy(work->point, work->image, (size_t) work->history.size);
    read_point(work);
    anderson_keep_last(&work->history);
    work->reach = 1.0;
    work->leap = 0.0;
    work->bold = false;
}

/* Where the next step starts: what the last one led to, extrapolated if that is allowed. While
 * changes shrink, by Anderson's method. While they grow the iteration leaves a saddle, to which
 * Anderson's point would lead back: a step forward along the last change, twice as far after
 * every success. */
void jspca_leap_next(jspca_work *work)
{
    size_t n = (size_t) work->problem->n, k = (size_t) work->problem->k;
    size_t nk = (size_t) work->n_v * k;
    double size = sqrt(la_ss(nk, work->v)), moved = 0.0;
    int t = work->run->iterations;

    if (work->z_old) ufs_copy(work->z_old, work->z, n * k);
    write_point(work, work->image);
    for (size_t i = 0; i < nk + n; i++) {
        double change;
        work->scale[i] = i >= nk ? 1.0 / sqrt((double) n) : size > 0.0 ? 1.0 / size : 1.0;
        change = work->scale[i] * (work->image[i] - work->point[i]);
        moved += change * change;
    }
    work->forward = work->run->paths.jspca_forward && moved > work->moved &&
                    is_aligned(work, sqrt(moved * work->moved));
    work->moved = moved;
    anderson_push(&work->history, work->point, work->image);
    work->bold = !work->confirms && t > 2 && work->result->change < NEAR &&
                 t + 1 < work->settings->max_iter && work->history.count > 0;
    if (!work->bold)
        ufs_copy(work->point, work->image, nk + n);
    else if (work->forward)
        for (size_t i = 0; i < nk + n; i++)
            work->point[i] = work->image[i] + work->reach * (work->image[i] - work->point[i]);
    else
        anderson_mix(&work->history, work->scale, work->point);
    if (work->bold) {
        for (size_t i = nk; i < nk + n; i++)
            work->point[i] = fmin(work->image[i] + FARTHEST,
                                  fmax(work->image[i] - FARTHEST, work->point[i]));
        align(work);
        work->leap = sqrt(leap_of(work));
    }
    read_point(work);
}

/* (P, Q) may be rotated freely: the point is rotated as near to the image as it gets, so that
 * extrapolation does not turn it, or Q would depend on its path. */
static void align(jspca_work *work)
{
    int n = work->n_v, k = work->problem->k;

    la_gemm('T', 'N', k, k, n, 1.0, work->point, n, work->image, n, 0.0, work->zz, k);
    if (la_polar(&work->turn, work->zz, NULL, work->zz)) return;
    la_gemm('N', 'N', n, k, k, 1.0, work->point, n, work->zz, k, 0.0, work->v, n);
    ufs_copy(work->point, work->v, (size_t) n * (size_t) k);
}

/* Squared length of the way from the image to the point. */
static double leap_of(const jspca_work *work)
{
    double ss = 0.0;
    for (size_t i = 0; i < (size_t) work->history.size; i++) {
        double d = work->scale[i] * (work->point[i] - work->image[i]);
        ss += d * d;
    }
    return ss;
}

/* Whether this change has nearly the direction of the last one; size: product of their lengths. */
static bool is_aligned(const jspca_work *work, double size)
{
    double along = 0.0;
    for (size_t i = 0; i < (size_t) work->history.size; i++)
        along += work->scale[i] * work->scale[i] * (work->image[i] - work->point[i]) *
                 work->history.last_r[i];
    return along > ALIGNED * size;
}

static void write_point(const jspca_work *work, double *to)
{
    size_t n = (size_t) work->problem->n, nk = (size_t) work->n_v * (size_t) work->problem->k;
    ufs_copy(to, work->v, nk);
    for (size_t i = 0; i < n; i++) to[nk + i] = log(work->result->weight[i]);
}

static void read_point(jspca_work *work)
{
    size_t n = (size_t) work->problem->n, nk = (size_t) work->n_v * (size_t) work->problem->k;
    ufs_copy(work->v, work->point, nk);
    for (size_t i = 0; i < n; i++) work->result->weight[i] = exp(work->point[nk + i]);
}
