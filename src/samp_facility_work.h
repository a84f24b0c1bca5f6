/* samp_facility_work.h: what samp_facility.c and samp_facility_gains.c share. */
#ifndef UFS_SAMP_FACILITY_WORK_H
#define UFS_SAMP_FACILITY_WORK_H

#include "samp_facility.h"

enum { FACILITY_TILE = 192, FACILITY_BATCH = 8 };

/* c_i was `before` until this pick; `older`: its rise before that, -1 = none. */
typedef struct {
    double before;
    int pick, older;
} facility_rise;

typedef struct {
    const facility_problem *problem;
    int n;
    bool stored;                 /* is s_ij in memory? */
    const double *candidate;     /* dense: s_.j at candidate + n j */
    const double *sample;        /*        s_i. at sample + n i */
    double *size;                /* n: |x_i| (cosine) or |x_i|^2 (heat) */
    double *rows, *rows2, *tile; /* many x p, FACILITY_TILE x p, FACILITY_TILE x many */
    double *batch;               /* n x FACILITY_BATCH: columns of S */
    const double *column[FACILITY_BATCH];
    double *cover;       /* n: c_i */
    int *stand_in;       /* n: who stands for i, -1 = nobody */
    double *upper;       /* n: gains, or bounds on them */
    bool *open;          /* n: may still be picked */
    bool *fresh;         /* n: upper is a gain of this pick */
    double *sorted;      /* n */
    int *heap;           /* n */
    int *block;          /* many: candidates to look at */
    double value, first; /* F; the first pick's gain */
    int evaluations, change_size;
    /* Without stored similarities: */
    int taken;           /* picks so far */
    int many;            /* so many candidates are looked at in one block, at most */
    int *known;          /* n: upper is the gain after that many picks */
    facility_rise *rise; /* n_rise: those of c since the second pick */
    int *last_rise;      /* n: the latest rise of c_i, -1 = none */
    int n_rise, rise_size;
} facility_work;

/* work->column[b] = s_.list[b], at most FACILITY_BATCH of them. */
void facility_load_columns(facility_work *work, int n_list, const int *list);
/* Every pair once, in tiles: fills the table, or adds to the gains if it is NULL. */
void facility_visit_tiles(facility_work *work, double *table);
/* Exact gains of all candidates, in work->upper. */
void facility_all_gains(facility_work *work);
/* Gains of the list as they are now, from the samples whose c_i has risen since they were known. */
void facility_look_again(facility_work *work, int n_list, const int *list);

#endif
