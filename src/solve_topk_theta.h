/* solve_topk_theta.h: the weights Theta of top-k selection, as a matrix or by its entries. */
#ifndef UFS_SOLVE_TOPK_THETA_H
#define UFS_SOLVE_TOPK_THETA_H

#include "ufs.h"

/* Theta_ij = alpha [label_i != label_j] + (1 - alpha) ||P_i - P_j||^2 / 2, or 1 at the start. */
typedef struct {
    const double *matrix; /* n x n, or NULL: from what follows */
    bool ones;
    int n, c;
    double alpha;
    const int *label;        /* n */
    const double *projected; /* n x c: P */
} topk_theta;

static inline double topk_theta_entry(int n, int c, double alpha, const int *label,
                                      const double *projected, size_t i, size_t j)
{
    double d2 = 0.0;
    for (size_t l = 0; l < (size_t) c; l++) {
        double d = projected[i + l * (size_t) n] - projected[j + l * (size_t) n];
        d2 += d * d;
    }
    return (label[i] != label[j] ? alpha : 0.0) + (1.0 - alpha) * 0.5 * d2;
}

static inline double topk_theta_at(const topk_theta *theta, size_t i, size_t j)
{
    if (theta->matrix != NULL) return theta->matrix[i + j * (size_t) theta->n];
    if (theta->ones) return 1.0;
    return topk_theta_entry(theta->n, theta->c, theta->alpha, theta->label, theta->projected, i, j);
}

#endif
