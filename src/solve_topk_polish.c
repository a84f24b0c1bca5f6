/* solve_topk_polish.c: 1-swap local search on g(S), best swap first. With
 * G = (K_SS + lambda_a I)^{-1}, T = G B_S, U = K_cS G, R = B - K_.S T and
 * s_j = K_jj + lambda_a - U_j. K_jS', removing S_i and adding j changes g by
 *   ||T_i||^2/G_ii - ||R_j + (U_ji/G_ii) T_i||^2 / (s_j + U_ji^2/G_ii)
 * (section 6 of the specification, its numerator written as one square). All k(p - k)
 * swaps cost 2pk(k + c); the one new column of K after a swap 2rp. */
#include "solve_topk.h"
#include "la.h"

static int prepare(topk_polish *w, topk_criterion *g, const int *set);
static double best_swap(const topk_polish *w, const topk_criterion *g, int *out, int *in);
static void swap(topk_polish *w, topk_criterion *g, int *set, int out, int in);

void topk_polish_init(topk_polish *w, const topk_criterion *g)
{
    size_t p = (size_t) g->p, k = (size_t) g->k, c = (size_t) g->c, r = (size_t) g->r;
    w->kc = ufs_dalloc(p, k);
    w->u = ufs_dalloc(p, k);
    w->r = ufs_dalloc(p, c);
    w->inv = ufs_dalloc(k, k);
    w->t = ufs_dalloc(k, c);
    w->rt = ufs_dalloc(p, k);
    w->rr = ufs_dalloc(p, 1);
    w->scratch = g->dense ? NULL : ufs_dalloc(r, k);
    w->in = (bool *) R_alloc(p, sizeof(bool));
}

double topk_polish_solve(topk_polish *w, topk_criterion *g, int *set, int *swaps)
{
    /* Every swap lowers g, so it ends; the cap is a guard against rounding. */
    int most = 100 + 10 * g->k;

    memset(w->in, 0, (size_t) g->p * sizeof(bool));
    for (int i = 0; i < g->k; i++) w->in[set[i]] = true;
    topk_criterion_columns(g, set, g->k, w->scratch, w->kc);
    for (int done = 0; done < most && g->k < g->p; done++) {
        int out = 0, in = 0;
        if (prepare(w, g, set)) return R_PosInf;
        if (best_swap(w, g, &out, &in) > -1e-10 * g->b_norm) break;
        swap(w, g, set, out, in);
        (*swaps)++;
        ufs_hook_step(NULL, 0, 0.0, 0.0);
    }
    return topk_criterion_value(g, set);
}

static int prepare(topk_polish *w, topk_criterion *g, const int *set)
{
    int p = g->p, k = g->k, c = g->c, info;
    size_t P = (size_t) p, K = (size_t) k, C = (size_t) c;

    for (size_t j = 0; j < K; j++) {
        for (size_t i = 0; i < K; i++) w->inv[i + j * K] = w->kc[(size_t) set[i] + j * P];
        w->inv[j + j * K] += g->lambda_a;
    }
    for (size_t l = 0; l < C; l++)
        for (size_t i = 0; i < K; i++) w->t[i + l * K] = g->b[(size_t) set[i] + l * P];
    info = la_chol(k, w->inv);
    if (info) return info;
    la_chol_solve(k, c, w->inv, w->t);
    info = la_chol_inverse(k, w->inv);
    if (info) return info;
    la_gemm('N', 'N', p, k, k, 1.0, w->kc, p, w->inv, k, 0.0, w->u, p);
    ufs_copy(w->r, g->b, P * C);
    la_gemm('N', 'N', p, c, k, -1.0, w->kc, p, w->t, k, 1.0, w->r, p);
    la_gemm('N', 'T', p, k, c, 1.0, w->r, p, w->t, k, 0.0, w->rt, p);
    la_row_norms(p, c, w->r, w->rr);
    return 0;
}

/* Change of g by the best swap; ties within rounding go to the lowest (in, out). */
static double best_swap(const topk_polish *w, const topk_criterion *g, int *out, int *in)
{
    size_t p = (size_t) g->p, k = (size_t) g->k, c = (size_t) g->c;
    double best = R_PosInf, tie = 1e-12 * (g->b_norm + 1.0);

    for (size_t j = 0; j < p; j++) {
        double s = g->diag[j] + g->lambda_a;
        if (w->in[j]) continue;
        for (size_t i = 0; i < k; i++) s -= w->u[j + i * p] * w->kc[j + i * p];
        for (size_t i = 0; i < k; i++) {
            double ratio = w->u[j + i * p] / w->inv[i + i * k], ti = 0.0, gain, change;
            for (size_t l = 0; l < c; l++) ti += w->t[i + l * k] * w->t[i + l * k];
            gain = w->rr[j] * w->rr[j] + 2.0 * ratio * w->rt[j + i * p] + ratio * ratio * ti;
            change = ti / w->inv[i + i * k] - gain / (s + ratio * w->u[j + i * p]);
            if (change < best - tie) {
                best = change;
                *out = (int) i;
                *in = (int) j;
            }
        }
    }
    return best;
}

/* Replaces position `out`, keeps the set ascending and kc in its order. */
static void swap(topk_polish *w, topk_criterion *g, int *set, int out, int in)
{
    size_t p = (size_t) g->p;
    int at = out, k = g->k;

    w->in[set[out]] = false;
    w->in[in] = true;
    while (at > 0 && set[at - 1] > in) {
        set[at] = set[at - 1];
        ufs_copy(w->kc + (size_t) at * p, w->kc + (size_t) (at - 1) * p, p);
        at--;
    }
    while (at < k - 1 && set[at + 1] < in) {
        set[at] = set[at + 1];
        ufs_copy(w->kc + (size_t) at * p, w->kc + (size_t) (at + 1) * p, p);
        at++;
    }
    set[at] = in;
    topk_criterion_columns(g, &in, 1, w->scratch, w->kc + (size_t) at * p);
}
