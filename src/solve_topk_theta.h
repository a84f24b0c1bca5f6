/* solve_topk_theta.h: the weights Theta of top-k selection, as a matrix or by its entries. */
#ifndef UFS_SOLVE_TOPK_THETA_H
#define UFS_SOLVE_TOPK_THETA_H

#include "ufs.h"

/* Theta_ij = alpha [label_i != label_j] + (1 - alpha) ||P_i - P_j||^2 / 2; all ones where there is
 * neither a matrix nor labels, as at the start. */
typedef struct {
    const double *matrix; /* n x n, or NULL: from what follows */
    int n, c;
    double alpha;
    const int *label;        /* n or NULL */
    const double *projected; /* n x c: P */
} topk_theta;

static inline double topk_theta_at(const topk_theta *theta, size_t i, size_t j)
{
    size_t n = (size_t) theta->n;
    double d2 = 0.0;

    if (theta->matrix != NULL) return theta->matrix[i + j * n];
    if (theta->label == NULL) return 1.0;
    for (size_t l = 0; l < (size_t) theta->c; l++) {
        double d = theta->projected[i + l * n] - theta->projected[j + l * n];
        d2 += d * d;
    }
    return (theta->label[i] != theta->label[j] ? theta->alpha : 0.0) +
           (1.0 - theta->alpha) * 0.5 * d2;
}

/* sum((1 + lambda_z Theta) |z|). */
static inline double topk_theta_weighted(const topk_theta *theta, double lambda_z, const double *z)
{
    size_t n = (size_t) theta->n;
    double sum = 0.0;

    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            if (z[i + j * n] != 0.0)
                sum += (1.0 + lambda_z * topk_theta_at(theta, i, j)) * fabs(z[i + j * n]);
    return sum;
}

#endif
