/* solve_blfse_agreement.c: which base clusterings of BLFSE put two samples together.
 *
 * What the base clusterings say of a pair depends on the two samples' labels only, and samples of
 * one kind have the same ones. So it is found once per sample and kind: a byte says, for 8
 * clusterings, which of them put the two together; eight labels are one word, and two words are
 * compared at once. W, S and the errors of all clusterings cost n^2 + n m/8 (kinds) instead of
 * 3 m n^2. */
#include "solve_blfse_agreement.h"
#include <R_ext/Memory.h>
#include <stdint.h>
#include <string.h>

static bool same_words(const blfse_agreement *set, size_t a, size_t b)
{
    size_t N = (size_t) set->n;
    for (size_t l = 0; l < (size_t) set->group * (size_t) set->plane; l++)
        if (set->word[a + l * N] != set->word[b + l * N]) return false;
    return true;
}

void blfse_agreement_init(blfse_agreement *set, const blfse_problem *problem)
{
    size_t N = (size_t) problem->n, M = (size_t) problem->m, G = (M + 7) / 8, P = 1;
    int most = 0;

    for (size_t i = 0; i < N * M; i++)
        if (problem->labels[i] > most) most = problem->labels[i];
    while (most >>= 8) P++;
    set->n = problem->n;
    set->m = problem->m;
    set->kinds = 0;
    set->group = (int) G;
    set->plane = (int) P;
    set->kind = ufs_ialloc(N);
    set->word = (uint64_t *) R_alloc(N * G * P, sizeof(uint64_t));
    set->pair = (unsigned char *) R_alloc(N * G, 1);
    set->table = ufs_dalloc(G, 256);
    set->same = ufs_dalloc(G, 256);
    set->apart = ufs_dalloc(G, 256);
    set->join = ufs_dalloc(N, 1);
    set->near = ufs_dalloc(N, 1);
    set->far = ufs_dalloc(N, 1);
    for (size_t i = 0; i < N; i++) {
        size_t kind = 0, next = (size_t) set->kinds;
        for (size_t l = 0; l < G * P; l++) {
            uint64_t word = 0;
            for (size_t k = 8 * (l / P); k < M && k < 8 * (l / P) + 8; k++)
                word |= (uint64_t) ((unsigned int) problem->labels[k + i * M] >> 8 * (l % P) & 255u)
                        << 8 * (k % 8);
            set->word[next + l * N] = word;
        }
        /* Itself at the latest. */
        while (!same_words(set, kind, next)) kind++;
        set->kind[i] = (int) kind;
        set->kinds += kind == next;
    }
}

void blfse_agreement_begin(blfse_agreement *set, const double *weight)
{
    size_t len = (size_t) set->group * 256 * sizeof(double);

    memset(set->same, 0, len);
    memset(set->apart, 0, len);
    for (int g = 0; g < set->group; g++)
        for (int byte = 0; byte < 256; byte++) {
            double sum = 0.0;
            for (int k = 8 * g; k < set->m && k < 8 * g + 8; k++)
                if (byte >> (k - 8 * g) & 1) sum += weight[k];
            set->table[256 * g + byte] = sum;
        }
}

void blfse_column_begin(blfse_agreement *set, int j)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7fu, gather = 0x0102040810204080u;
    size_t N = (size_t) set->n;

    if (j == 0) set->seen = 0;
    if (set->kind[j] == set->seen) set->seen++;
    memset(set->join, 0, (size_t) set->seen * sizeof(double));
    memset(set->near, 0, (size_t) set->seen * sizeof(double));
    memset(set->far, 0, (size_t) set->seen * sizeof(double));
    for (int g = 0; g < set->group; g++) {
        unsigned char *pair = set->pair + (size_t) g * N;
        for (int l = 0; l < set->plane; l++) {
            const uint64_t *word = set->word + (size_t) (g * set->plane + l) * N;
            uint64_t own = word[set->kind[j]];
            for (int d = 0; d < set->seen; d++) {
                /* The top bit of every byte: is it not zero? Then the eight bits side by side. */
                uint64_t bits = word[d] ^ own, differ = ((bits & low) + low) | bits | low;
                unsigned char same = (unsigned char) ((~differ >> 7) * gather >> 56);
                pair[d] = l > 0 ? pair[d] & same : same;
            }
        }
        for (int d = 0; d < set->seen; d++) set->join[d] += set->table[256 * g + pair[d]];
    }
}

void blfse_column_end(blfse_agreement *set)
{
    size_t N = (size_t) set->n;
    for (int g = 0; g < set->group; g++)
        for (int d = 0; d < set->seen; d++) {
            size_t at = 256 * (size_t) g + set->pair[(size_t) d + (size_t) g * N];
            set->same[at] += 2.0 * set->near[d];
            set->apart[at] += 2.0 * set->far[d];
        }
}

void blfse_agreement_end(const blfse_agreement *set, double *error)
{
    for (int k = 0; k < set->m; k++) {
        const double *same = set->same + 256 * (k / 8), *apart = set->apart + 256 * (k / 8);
        error[k] = 0.0;
        for (int byte = 0; byte < 256; byte++)
            error[k] += byte >> (k % 8) & 1 ? same[byte] : apart[byte];
    }
}
