/* css_renew.c: f and d of the forms that keep no K are differences. */
#include "css_work.h"

static const double RENEW = 1e-4;

const double *css_cross(css_work *work, int j)
{
    const double *column = ufs_x_column(work->problem->x, j, work->pair);

    ufs_x_cross(work->problem->x, 1, column, work->pass);
    return work->pass;
}

void css_in_turn(css_work *work, int j, bool wanted, void (*measure)(css_work *work))
{
    if (wanted) work->list[work->n_list++] = j;
    if (work->n_list < work->tile && (work->n_list == 0 || j < work->p - 1)) return;
    R_CheckUserInterrupt();
    measure(work);
    work->n_list = 0;
}

void css_renew(css_work *work, void (*measure)(css_work *work))
{
    for (int i = 0; i < work->p; i++) {
        bool stale = work->f[i] < RENEW * work->f0[i] || work->d[i] < RENEW * work->d0[i];
        css_in_turn(work, i, stale && !work->chosen[i] && work->d[i] > UFS_TIE * work->norm2[i],
                    measure);
    }
}
