/* la_lanczos.c: see la_lanczos.h. With A Q = Q H + N C for the basis Q of `done` vectors
 * that were multiplied (N the next block, C its coefficients on the last block), a Ritz
 * pair (theta, Q s) has the residual |C s_last|: it is known without a product. */
#include "la_lanczos.h"
#include "la_krylov.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

enum { BLOCK = 8 };

typedef struct {
    const la_lanczos_problem *a;
    int most;                /* vectors at most, the next block not counted */
    int done, have;          /* multiplied; held */
    double *q;               /* n x (most + BLOCK) */
    double *h;               /* most x most: Q'AQ */
    double *c;               /* BLOCK x BLOCK: coefficients of the next block */
    double *t;               /* n x max(BLOCK, k + BLOCK) */
    double *dot;             /* (most + BLOCK) x BLOCK */
    double *eig, *s, *theta; /* most x most, most x most, most */
    int noise;               /* random vectors used so far */
    double at_restart;       /* worst residual at the last restart */
    int products_at_restart;
} lanczos;

static void multiply(lanczos *l);
static void next_block(lanczos *l);
static void project(lanczos *l, int held, int m, double *x);
static double worst_residual(const lanczos *l);
static bool hopeless(lanczos *l, double residual, int products);
static void restart(lanczos *l);
static void lift(const lanczos *l, int keep, double *out);

int la_lanczos_basis(int k)
{
    return 2 * k + 4 * BLOCK;
}

void la_lanczos(const la_lanczos_problem *a, double *w, double *z, la_lanczos_info *info)
{
    size_t N = (size_t) a->n, M = (size_t) (a->basis > 0 ? a->basis : la_lanczos_basis(a->k));
    void *mark = vmaxget();
    lanczos l = {.a = a, .most = (int) M};

    l.q = ufs_dalloc(N, M + BLOCK);
    l.h = ufs_dzero(M, M);
    l.c = ufs_dzero(BLOCK, BLOCK);
    l.t = ufs_dalloc(N, (size_t) a->k + BLOCK);
    l.dot = ufs_dalloc(M + BLOCK, BLOCK);
    l.eig = ufs_dalloc(M, M);
    l.s = ufs_dalloc(M, M);
    l.theta = ufs_dalloc(M, 1);
    info->products = info->lapack = 0;
    info->residual = R_PosInf;
    info->converged = false;

    for (int j = 0; j < BLOCK; j++) la_krylov_noise(a->n, l.noise++, l.t + (size_t) j * N);
    next_block(&l);
    l.have = BLOCK;
    for (;;) {
        R_CheckUserInterrupt();
        multiply(&l);
        info->products += BLOCK;
        next_block(&l);
        info->lapack = la_krylov_ritz(l.done, l.h, l.most, l.theta, l.s, l.eig);
        if (info->lapack) break;
        if (l.done >= a->k) {
            double top = l.theta[l.done - 1];
            double worst = worst_residual(&l);
            info->residual = top > 0.0 ? worst / top : 0.0;
            info->converged = worst <= a->tol * top;
            if (info->converged || info->products >= a->max_products) break;
        }
        if (l.done + BLOCK <= l.most) {
            l.have = l.done + BLOCK;
            continue;
        }
        if (hopeless(&l, info->residual, info->products)) break;
        restart(&l);
    }
    if (!info->lapack) {
        lift(&l, a->k, z);
        for (int j = 0; j < a->k; j++) w[j] = l.theta[l.done - 1 - j];
    }
    vmaxset(mark);
}

/* t = A (newest block), its part in H, and what is left of it outside the basis. */
static void multiply(lanczos *l)
{
    int n = l->a->n, from = l->done, held = l->have, M = l->most;
    size_t N = (size_t) n;

    l->a->apply(l->a->data, BLOCK, l->q + (size_t) from * N, l->t);
    la_gemm('T', 'N', held, BLOCK, n, 1.0, l->q, n, l->t, n, 0.0, l->dot, held);
    for (int j = 0; j < BLOCK; j++)
        for (int i = 0; i < held; i++) {
            double v = l->dot[(size_t) i + (size_t) j * (size_t) held];
            l->h[(size_t) i + (size_t) (from + j) * (size_t) M] = v;
            if (i < from) l->h[(size_t) (from + j) + (size_t) i * (size_t) M] = v;
        }
    l->done = held;
    project(l, held, BLOCK, l->t);
    project(l, held, BLOCK, l->t);
}

/* x (n x m) -= Q Q'x over the first `held` vectors. */
static void project(lanczos *l, int held, int m, double *x)
{
    int n = l->a->n;
    if (held == 0) return;
    la_gemm('T', 'N', held, m, n, 1.0, l->q, n, x, n, 0.0, l->dot, held);
    la_gemm('N', 'N', n, m, held, -1.0, l->q, n, l->dot, held, 1.0, x, n);
}

/* Orthonormal columns for t, behind the basis; t = block C. A column that depends on the
 * others gives way to noise and a zero coefficient. */
static void next_block(lanczos *l)
{
    int n = l->a->n;
    size_t N = (size_t) n;
    double *block = l->q + (size_t) l->done * N;

    memset(l->c, 0, BLOCK * BLOCK * sizeof(double));
    double size = 0.0;
    for (int j = 0; j < BLOCK; j++) size = fmax(size, la_nrm2(n, l->t + (size_t) j * N));
    for (int j = 0; j < BLOCK; j++) {
        double *col = block + (size_t) j * N, norm;
        bool lost = false;
        ufs_copy(col, l->t + (size_t) j * N, N);
        for (;;) {
            double before = lost ? la_nrm2(n, col) : size;
            for (int pass = 0; pass < 2; pass++) {
                if (pass > 0 || lost) project(l, l->done, 1, col);
                for (int i = 0; i < j; i++) {
                    double d = la_dot(n, block + (size_t) i * N, col);
                    la_axpy(n, -d, block + (size_t) i * N, col);
                    if (!lost) l->c[i + j * BLOCK] += d;
                }
            }
            norm = la_nrm2(n, col);
            if (norm > 1e-13 * before) break;
            lost = true;
            la_krylov_noise(n, l->noise++, col);
        }
        if (!lost) l->c[j + j * BLOCK] = norm;
        for (size_t i = 0; i < N; i++) col[i] /= norm;
    }
}

static double worst_residual(const lanczos *l)
{
    int d = l->done;
    double worst = 0.0;
    for (int j = d - l->a->k; j < d; j++) {
        const double *last = l->s + (size_t) j * (size_t) d + (d - BLOCK);
        double ss = 0.0;
        for (int i = 0; i < BLOCK; i++) {
            double r = 0.0;
            for (int b = i; b < BLOCK; b++) r += l->c[i + b * BLOCK] * last[b];
            ss += r * r;
        }
        worst = fmax(worst, sqrt(ss));
    }
    return worst;
}

/* At the rate since the last restart, max_products would not do. Not asked for: never. */
static bool hopeless(lanczos *l, double residual, int products)
{
    const la_lanczos_problem *a = l->a;
    bool known = l->products_at_restart > 0;
    double rate = known ? log(l->at_restart / residual) / (products - l->products_at_restart) : 0.0;

    l->at_restart = residual;
    l->products_at_restart = products;
    return a->give_up && known &&
           (rate <= 0.0 || products + log(residual / a->tol) / rate > a->max_products);
}

/* The best k + BLOCK Ritz vectors and the next block become the basis. */
static void restart(lanczos *l)
{
    int keep = l->a->k + BLOCK, d = l->done;
    size_t N = (size_t) l->a->n, M = (size_t) l->most;

    lift(l, keep, l->t);
    memmove(l->q + (size_t) keep * N, l->q + (size_t) d * N, BLOCK * N * sizeof(double));
    ufs_copy(l->q, l->t, (size_t) keep * N);
    memset(l->h, 0, M * M * sizeof(double));
    for (int j = 0; j < keep; j++) l->h[(size_t) j + (size_t) j * M] = l->theta[d - 1 - j];
    l->done = keep;
    l->have = keep + BLOCK;
}

/* Ritz vectors of the `keep` largest values, descending, into out (n x keep). */
static void lift(const lanczos *l, int keep, double *out)
{
    int d = l->done, n = l->a->n;
    double *s = l->eig;
    for (int j = 0; j < keep; j++)
        ufs_copy(s + (size_t) j * (size_t) d, l->s + (size_t) (d - 1 - j) * (size_t) d, (size_t) d);
    la_gemm('N', 'N', n, keep, d, 1.0, l->q, n, s, d, 0.0, out, n);
}
