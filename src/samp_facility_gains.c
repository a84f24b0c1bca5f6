/* samp_facility_gains.c: similarities and gains of samp_facility.c, stored or formed from x in
 * tiles. */
#include "samp_facility_work.h"
#include "la.h"
#include <R_ext/Utils.h>
#include <math.h>
#include <string.h>

static void cosine_gains(facility_work *work);

/* s_ij from the product x_i'x_j. */
static inline double similarity(const facility_work *work, int i, int j, double product)
{
    if (work->problem->kind == FACILITY_COSINE) {
        double size = work->size[i] * work->size[j];
        if (i == j && size > 0.0) return 2.0;
        return size > 0.0 ? 1.0 + fmax(-1.0, fmin(1.0, product / size)) : 1.0;
    }
    if (i == j) return 1.0;
    return exp(-fmax(0.0, work->size[i] + work->size[j] - 2.0 * product) /
               work->problem->bandwidth);
}

static void gather_rows(const facility_work *work, int n_list, const int *list, double *rows)
{
    size_t n = (size_t) work->n;
    for (int l = 0; l < work->problem->p; l++)
        for (int b = 0; b < n_list; b++)
            rows[(size_t) l * (size_t) n_list + (size_t) b] =
                work->problem->x[(size_t) l * n + (size_t) list[b]];
}

void facility_load_columns(facility_work *work, int n_list, const int *list)
{
    const facility_problem *problem = work->problem;
    size_t n = (size_t) work->n;

    if (work->stored && problem->kind != FACILITY_SPARSE) {
        for (int b = 0; b < n_list; b++) work->column[b] = work->candidate + (size_t) list[b] * n;
        return;
    }
    for (int b = 0; b < n_list; b++) work->column[b] = work->batch + (size_t) b * n;
    if (problem->kind == FACILITY_SPARSE) {
        for (int b = 0; b < n_list; b++) {
            double *to = work->batch + (size_t) b * n;
            memset(to, 0, n * sizeof(double));
            for (int l = problem->candidate.start[list[b]];
                 l < problem->candidate.start[list[b] + 1]; l++)
                to[problem->candidate.index[l]] = problem->candidate.value[l];
        }
        return;
    }
    gather_rows(work, n_list, list, work->rows);
    la_gemm('N', 'T', work->n, n_list, problem->p, 1.0, problem->x, work->n, work->rows, n_list,
            0.0, work->batch, work->n);
    for (int b = 0; b < n_list; b++) {
        double *to = work->batch + (size_t) b * n;
        for (int i = 0; i < work->n; i++) to[i] = similarity(work, i, list[b], to[i]);
    }
}

/* c_i after the first `picks` picks, at least one. */
static inline double cover_after(const facility_work *work, int i, int picks)
{
    double cover = work->cover[i];
    for (int r = work->last_rise[i]; r >= 0 && work->rise[r].pick >= picks; r = work->rise[r].older)
        cover = work->rise[r].before;
    return cover;
}

/* No product x_i'x_j below this (cosine: times |x_j|; heat: plus half |x_j|^2) lifts s_ij above
 * `least`. Most pairs end here, without a division, an exponential or a look at the past. */
static inline double least_product(const facility_work *work, int i, double least)
{
    const double size = work->size[i], margin = 1e-12;
    if (work->problem->kind == FACILITY_COSINE) return (least - 1.0 - margin) * size;
    return 0.5 * (work->problem->bandwidth * log(least) + size * (1.0 - margin));
}

void facility_look_again(facility_work *work, int n_list, const int *list)
{
    int n = work->n, since = work->taken, n_rows = 0, rows[FACILITY_TILE];
    double least[FACILITY_TILE];
    bool cosine = work->problem->kind == FACILITY_COSINE;

    for (int b = 0; b < n_list; b++)
        if (work->known[list[b]] < since) since = work->known[list[b]];
    gather_rows(work, n_list, list, work->rows);
    for (int i = 0; i < n; i++) {
        if (work->last_rise[i] >= 0 && work->rise[work->last_rise[i]].pick >= since) {
            least[n_rows] = least_product(work, i, cover_after(work, i, since));
            rows[n_rows++] = i;
        }
        if (n_rows == 0 || (n_rows < FACILITY_TILE && i < n - 1)) continue;
        R_CheckUserInterrupt();
        gather_rows(work, n_rows, rows, work->rows2);
        la_gemm('N', 'T', n_rows, n_list, work->problem->p, 1.0, work->rows2, n_rows, work->rows,
                n_list, 0.0, work->tile, n_rows);
        for (int b = 0; b < n_list; b++) {
            int j = list[b];
            const double *product = work->tile + (size_t) b * (size_t) n_rows;
            double times = cosine ? work->size[j] : 1.0;
            double plus = cosine ? 0.0 : 0.5 * (1.0 - 1e-12) * work->size[j];
            for (int a = 0; a < n_rows; a++) {
                if (product[a] < least[a] * times + plus) continue;
                double s = similarity(work, rows[a], j, product[a]);
                double before = cover_after(work, rows[a], work->known[j]);
                if (s > before) work->upper[j] -= fmin(s, work->cover[rows[a]]) - before;
            }
        }
        n_rows = 0;
    }
    for (int b = 0; b < n_list; b++) work->known[list[b]] = work->taken;
}

void facility_all_gains(facility_work *work)
{
    const facility_problem *problem = work->problem;
    int n = work->n;

    for (int i = 0; i < n; i++) {
        work->upper[i] = 0.0;
        work->known[i] = work->taken;
    }
    if (!work->stored && problem->kind == FACILITY_COSINE && work->value == 0.0) {
        cosine_gains(work);
    } else if (!work->stored) {
        facility_visit_tiles(work, NULL);
    } else if (problem->kind == FACILITY_SPARSE) {
        for (int j = 0; j < n; j++)
            for (int l = problem->candidate.start[j]; l < problem->candidate.start[j + 1]; l++)
                work->upper[j] += fmax(0.0, problem->candidate.value[l] -
                                                work->cover[problem->candidate.index[l]]);
    } else {
        for (int j = 0; j < n; j++) {
            const double *s = work->candidate + (size_t) j * (size_t) n;
            double gain = 0.0;
            if (j % 512 == 0) R_CheckUserInterrupt();
            for (int i = 0; i < n; i++) gain += fmax(0.0, s[i] - work->cover[i]);
            work->upper[j] = gain;
        }
    }
}

/* The gains while nothing is covered: g_j = n + x_j' (sum_i x_i / |x_i|) / |x_j|. 4np flops. */
static void cosine_gains(facility_work *work)
{
    const facility_problem *problem = work->problem;
    size_t n = (size_t) work->n;

    for (int l = 0; l < problem->p; l++) {
        const double *x = problem->x + (size_t) l * n;
        double sum = 0.0;
        for (size_t i = 0; i < n; i++)
            if (work->size[i] > 0.0) sum += x[i] / work->size[i];
        la_axpy(work->n, sum, x, work->upper);
    }
    for (size_t j = 0; j < n; j++)
        work->upper[j] = (double) n + (work->size[j] > 0.0 ? work->upper[j] / work->size[j] : 0.0);
}

void facility_visit_tiles(facility_work *work, double *table)
{
    const facility_problem *problem = work->problem;
    int n = work->n, list[FACILITY_TILE], other[FACILITY_TILE];

    for (int j0 = 0; j0 < n; j0 += FACILITY_TILE) {
        int nj = n - j0 < FACILITY_TILE ? n - j0 : FACILITY_TILE;
        for (int b = 0; b < nj; b++) list[b] = j0 + b;
        gather_rows(work, nj, list, work->rows);
        for (int i0 = j0; i0 < n; i0 += FACILITY_TILE) {
            int ni = n - i0 < FACILITY_TILE ? n - i0 : FACILITY_TILE;
            R_CheckUserInterrupt();
            for (int b = 0; b < ni; b++) other[b] = i0 + b;
            gather_rows(work, ni, other, work->rows2);
            la_gemm('N', 'T', ni, nj, problem->p, 1.0, work->rows2, ni, work->rows, nj, 0.0,
                    work->tile, ni);
            for (int b = 0; b < nj; b++) {
                int j = j0 + b;
                double gain = 0.0;
                for (int a = i0 == j0 ? b : 0; a < ni; a++) {
                    int i = i0 + a;
                    double s = similarity(work, i, j,
                                          work->tile[(size_t) b * (size_t) ni + (size_t) a]);
                    if (table != NULL) {
                        table[(size_t) i + (size_t) j * (size_t) n] = s;
                        table[(size_t) j + (size_t) i * (size_t) n] = s;
                    } else {
                        gain += fmax(0.0, s - work->cover[i]);
                        if (i != j) work->upper[i] += fmax(0.0, s - work->cover[j]);
                    }
                }
                if (table == NULL) work->upper[j] += gain;
            }
        }
    }
}
