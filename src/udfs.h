/* udfs.h: unsupervised discriminative feature selection, see udfs.c. */
#pragma once

#include "wstep.h"

typedef struct {
    wstep_problem step;
    int k; /* neighbours */
    double lambda;
} udfs_problem;

/* tol is of the relative change of the objective. */
void udfs_solve(const udfs_problem *problem, wstep_result *result, ufs_run *run);
