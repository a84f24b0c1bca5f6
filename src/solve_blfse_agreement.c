/* solve_blfse_agreement.c: which base clusterings of BLFSE put two samples together.
 *
 * What the base clusterings say of a pair depends on the two samples' labels only, and samples of
 * one kind have the same ones. So it is found once per sample and kind: W, S and the errors of all
 * clusterings cost n^2 + m n (kinds) instead of 3 m n^2. */
#include "solve_blfse_agreement.h"

void blfse_agreement_init(blfse_agreement *set, const blfse_problem *problem)
{
    size_t N = (size_t) problem->n, M = (size_t) problem->m;
    int *first = ufs_ialloc(N), kinds = 0;

    *set = (blfse_agreement){.n = problem->n,
                             .m = problem->m,
                             .kind = ufs_ialloc(N),
                             .label = ufs_ialloc(N * M),
                             .join = ufs_dalloc(N, 1),
                             .near = ufs_dalloc(N, 1),
                             .far = ufs_dalloc(N, 1)};
    for (int i = 0; i < problem->n; i++) {
        const int *own = problem->labels + (size_t) i * M;
        int kind = 0;

        /* Itself at the latest. */
        first[kinds] = i;
        while (memcmp(problem->labels + (size_t) first[kind] * M, own, M * sizeof(int)) != 0)
            kind++;
        set->kind[i] = kind;
        if (kind < kinds) continue;
        for (size_t k = 0; k < M; k++) set->label[(size_t) kind + k * N] = own[k];
        kinds++;
    }
}

void blfse_column_begin(blfse_agreement *set, int j, const double *weight)
{
    if (j == 0) set->seen = 0;
    if (set->kind[j] == set->seen) set->seen++;
    for (int d = 0; d < set->seen; d++) set->join[d] = set->near[d] = set->far[d] = 0.0;
    for (int k = 0; k < set->m; k++) {
        const int *label = set->label + (size_t) k * (size_t) set->n;
        int own = label[set->kind[j]];
        for (int d = 0; d < set->seen; d++) set->join[d] += label[d] == own ? weight[k] : 0.0;
    }
}

void blfse_column_end(const blfse_agreement *set, int j, double *error)
{
    for (int k = 0; k < set->m; k++) {
        const int *label = set->label + (size_t) k * (size_t) set->n;
        int own = label[set->kind[j]];
        double sum = 0.0;

        for (int d = 0; d < set->seen; d++) sum += label[d] == own ? set->near[d] : set->far[d];
        error[k] = (j == 0 ? 0.0 : error[k]) + 2.0 * sum;
    }
}
