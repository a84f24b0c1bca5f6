/* sogfs.h: structured optimal graph feature selection, see sogfs.c. */
#pragma once

#include "wstep.h"

typedef struct {
    wstep_problem step;
    int c, k; /* clusters, neighbours */
} sogfs_problem;

typedef struct {
    int inner_max_iter;
    double inner_tol;
} sogfs_settings;

typedef struct {
    wstep_result step;
    double *f;            /* n x c */
    int *neighbour;       /* k x n, 0-based: where row i of S may be non-zero */
    double *s;            /* k x n: its values */
    int *component;       /* n: of the learnt graph, 0-based */
    double alpha, lambda; /* from the distances; the last one */
} sogfs_result;

void sogfs_solve(const sogfs_problem *problem, const sogfs_settings *settings, sogfs_result *result,
                 ufs_run *run);
