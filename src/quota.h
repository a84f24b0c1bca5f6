/* quota.h: how many columns of each stratum a choice has at least and at most. */
#pragma once

typedef struct {
    int n;                   /* strata */
    const int *level;        /* p: from 0, -1 for a column of none; NULL: no quotas */
    const int *least, *most; /* n */
} ufs_quota;

/* How many columns stratum l lacks, of which there are have[l]. */
static inline int ufs_quota_lacks(const ufs_quota *quota, const int *have, int l)
{
    return have[l] < quota->least[l] ? quota->least[l] - have[l] : 0;
}
