/* solve_topk_polish.c: 1-swap local search on g(S), best swap first. With
 * G = (K_SS + lambda_a I)^{-1}, T = G B_S, U = K_cS G, R = B - K_.S T and
 * s_j = K_jj + lambda_a - U_j. K_jS', removing S_i and adding j changes g by
 *   ||T_i||^2/G_ii - ||R_j + (U_ji/G_ii) T_i||^2 / (s_j + U_ji^2/G_ii)
 * (its numerator written as one square). All k(p - k)
 * swaps cost 2pk(k + c); the one new column of K after a swap 2rp. */
#include "la.h"
#include "solve_topk_set.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

/* Of ||B||: a swap that gains less is rounding; and of ||B|| + 1, a tie of two swaps. */
static const double LEAST_GAIN = 1e-10, TIE = 1e-12;

void topk_polish_init(topk_polish *work, const topk_criterion *g)
{
    size_t p = (size_t) g->p, k = (size_t) g->k, c = (size_t) g->c;
    work->kc = ufs_dalloc(p, k);
    work->u = ufs_dalloc(p, k);
    work->r = ufs_dalloc(p, c);
    work->inv = ufs_dalloc(k, k);
    work->t = ufs_dalloc(k, c);
    work->rt = ufs_dalloc(p, k);
    work->rr = ufs_dalloc(p, 1);
    work->in = (bool *) R_alloc(p, sizeof(bool));
}

static int prepare(topk_polish *work, topk_criterion *g, const int *subset)
{
    int p = g->p, k = g->k, c = g->c, lapack;
    size_t P = (size_t) p, K = (size_t) k, C = (size_t) c;

    for (size_t j = 0; j < K; j++) {
        for (size_t i = 0; i < K; i++) work->inv[i + j * K] = work->kc[(size_t) subset[i] + j * P];
        work->inv[j + j * K] += g->lambda_a;
    }
    for (size_t l = 0; l < C; l++)
        for (size_t i = 0; i < K; i++) work->t[i + l * K] = g->b[(size_t) subset[i] + l * P];
    lapack = la_chol_checked(k, work->inv);
    if (lapack) return lapack;
    la_chol_solve(k, c, work->inv, work->t);
    lapack = la_chol_inverse(k, work->inv);
    if (lapack) return lapack;
    la_gemm_checked('N', 'N', p, k, k, 1.0, work->kc, p, work->inv, k, 0.0, work->u, p);
    ufs_copy(work->r, g->b, P * C);
    la_gemm('N', 'N', p, c, k, -1.0, work->kc, p, work->t, k, 1.0, work->r, p);
    la_gemm('N', 'T', p, k, c, 1.0, work->r, p, work->t, k, 0.0, work->rt, p);
    la_row_norms(p, c, work->r, work->rr);
    return 0;
}

/* Change of g by the best swap; ties within rounding go to the lowest (in, out). */
static double best_swap(const topk_polish *work, const topk_criterion *g, int *out, int *in)
{
    size_t p = (size_t) g->p, k = (size_t) g->k, c = (size_t) g->c;
    double best = R_PosInf, tie = TIE * (g->b_norm + 1.0);

    for (size_t j = 0; j < p; j++) {
        double s = g->diag[j] + g->lambda_a;
        if (work->in[j]) continue;
        for (size_t i = 0; i < k; i++) s -= work->u[j + i * p] * work->kc[j + i * p];
        for (size_t i = 0; i < k; i++) {
            double ratio = work->u[j + i * p] / work->inv[i + i * k], ti = 0.0, gain, change;
            for (size_t l = 0; l < c; l++) ti += work->t[i + l * k] * work->t[i + l * k];
            gain = work->rr[j] * work->rr[j] + 2.0 * ratio * work->rt[j + i * p] +
                   ratio * ratio * ti;
            change = ti / work->inv[i + i * k] - gain / (s + ratio * work->u[j + i * p]);
            if (change < best - tie) {
                best = change;
                *out = (int) i;
                *in = (int) j;
            }
        }
    }
    return best;
}

double topk_polish_solve(topk_polish *work, topk_criterion *g, int *subset, int *swaps)
{
    /* Every swap lowers g, so it ends; the cap is a guard against rounding. */
    int most = 100 + 10 * g->k;

    memset(work->in, 0, (size_t) g->p * sizeof(bool));
    for (int i = 0; i < g->k; i++) work->in[subset[i]] = true;
    topk_criterion_columns(g, subset, g->k, work->kc);
    for (int done = 0; done < most && g->k < g->p; done++) {
        int out = 0, in = 0;
        if (prepare(work, g, subset)) return R_PosInf;
        if (best_swap(work, g, &out, &in) > -LEAST_GAIN * g->b_norm) break;
        work->in[subset[out]] = false;
        work->in[in] = true;
        subset[out] = in;
        topk_criterion_columns(g, &in, 1, work->kc + (size_t) out * (size_t) g->p);
        (*swaps)++;
        ufs_hook_step(NULL, 0, 0.0, 0.0);
    }
    R_isort(subset, g->k);
    return topk_criterion_value(g, subset);
}
