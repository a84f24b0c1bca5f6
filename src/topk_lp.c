/* topk_lp.c: sub-problem 1 of top-k selection as n linear programmes,
 *   min over z, z_i = 0, of lambda_e ||x_i - z x||_1 + sum_j w_j |z_j|,  w = 1 + lambda_z Theta_i.
 * (and z >= 0 if asked), each to its optimum. Its dual is max y'x_i, |y| <= lambda_e,
 * |x_j'y| <= w_j.
 *
 * A vertex has a samples S with z_j free and as many features T with e_k = 0, e = x_i - z x:
 * z_S x_ST = x_iT, and y is lambda_e sign(e) off T, with x_SF y = w_S sign(z_S). It is optimal
 * if |y_T| <= lambda_e and |c_j| <= w_j off S for c = x y. If not, one of these constraints leads
 * to an edge of the polyhedron, along which the value falls; the step does not stop at the first
 * kink but goes on as long as the slope is negative, in one sweep over the kinks (Barrodale and
 * Roberts 1973 for least absolute deviations). The inverse of x_ST is updated by rank 1 and made
 * anew every REFRESH pivots. Ties are broken by adding distinct numbers of UFS_TIE to x_i, so no
 * vertex is met twice.
 *
 * One pivot: 2a (n + p + 2a) flops. From no link, 3a to 6a pivots per sample; later calls start
 * at the last optimum, where new weights leave few pivots to do: 2np + 2a^3 per sample. Memory:
 * the transpose of x, the bases (2 min(n, p) n integers), two a x a, a (n + p). */
#include "eig.h"
#include "topk_z.h"

/* Pivots between two inverses made anew, before rank-1 updates have lost too many digits; so is
 * that of every optimum, so that this decides about time alone. */
enum { REFRESH = 40 };

typedef struct {
    double at; /* where the slope rises */
    int what;  /* feature k, or p + position in S */
} kink;

typedef struct topk_lp_row {
    int i, a;             /* the sample; the size of its basis */
    int *s, *t;           /* a each */
    int *in_set;          /* n: 1 + position in S, or 0 */
    double *inverse;      /* a x a with leading dimension `most`: rows T, columns S */
    double *z, *dz, *out; /* a: z_S, its direction; scratch of most */
    double *g;            /* most */
    double *sign_z;       /* a */
    double *side;         /* p: sign(e), 0 in T */
    double *b, *e, *de, *y, *c, *weight; /* p: x_i nudged, ...; n: c, w */
    double *nudge;                       /* p */
    kink *kinks;                         /* p + most */
    double *square;                      /* a x a */
    double *xs, *xf;                     /* p x most, n x most: x' at S, x at T */
    int *pivot;
    int since; /* pivots since the last refresh */
} lp_row;

void topk_lp_init(topk_lp *work, int n, int p, const double *x, double *z, double *e, double *xt)
{
    size_t N = (size_t) n, P = (size_t) p, M = N < P ? N : P;
    lp_row *row = (lp_row *) R_alloc(1, sizeof(lp_row));

    work->n = n;
    work->p = p;
    work->most = (int) M;
    work->x = x;
    work->z = z;
    work->e = e;
    work->most_pivots = 1000 + 20 * work->most;
    ufs_ialloc_each(N, (int **[]){&work->size, &row->in_set, NULL});
    ufs_ialloc_each(M * N, (int **[]){&work->sample, &work->feature, NULL});
    work->xt = xt;
    work->row = row;
    ufs_dalloc_each(M, 1, (double **[]){&row->z, &row->dz, &row->out, &row->g, &row->sign_z, NULL});
    ufs_dalloc_each(
        P, 1, (double **[]){&row->b, &row->e, &row->de, &row->y, &row->nudge, &row->side, NULL});
    ufs_dalloc_each(N, 1, (double **[]){&row->c, &row->weight, NULL});
    ufs_dalloc_each(M, M, (double **[]){&row->inverse, &row->square, NULL});
    row->xs = ufs_dalloc(P, M);
    row->xf = ufs_dalloc(N, M);
    row->pivot = ufs_ialloc(M);
    row->kinks = (kink *) R_alloc(P + M, sizeof(kink));
    krylov_noise(p, 0, row->nudge);
    for (size_t k = 0; k < P; k++) row->nudge[k] = UFS_TIE * (1.0 + 0.5 * row->nudge[k]);
}

static void row_begin(topk_lp *work, const topk_z_settings *settings, const topk_theta *theta,
                      int i)
{
    lp_row *row = work->row;
    size_t N = (size_t) work->n, P = (size_t) work->p, M = (size_t) work->most, I = (size_t) i;

    row->i = i;
    row->a = work->size[i];
    row->s = work->sample + I * M;
    row->t = work->feature + I * M;
    for (size_t j = 0; j < N; j++) {
        row->weight[j] = 1.0 + settings->lambda_z * topk_theta_at(theta, I, j);
        row->in_set[j] = 0;
    }
    for (int u = 0; u < row->a; u++) row->in_set[row->s[u]] = u + 1;
    for (size_t k = 0; k < P; k++) {
        row->b[k] = work->xt[k + I * P] + row->nudge[k];
        row->side[k] = 0;
    }
    for (size_t j = 0; j < N; j++) work->z[I + j * N] = 0.0;
}

static void set_sample(topk_lp *work, int u, int j)
{
    size_t P = (size_t) work->p;
    work->row->s[u] = j;
    ufs_copy(work->row->xs + (size_t) u * P, work->xt + (size_t) j * P, P);
}

static void set_feature(topk_lp *work, int q, int k)
{
    size_t N = (size_t) work->n;
    work->row->t[q] = k;
    ufs_copy(work->row->xf + (size_t) q * N, work->x + (size_t) k * N, N);
}

/* The two call each other. */
static void row_refresh(topk_lp *work, double lambda_e);

/* z = 0. */
static void row_empty(topk_lp *work, double lambda_e)
{
    lp_row *row = work->row;
    for (int u = 0; u < row->a; u++) row->in_set[row->s[u]] = 0;
    row->a = 0;
    row_refresh(work, lambda_e);
}

/* y_T such that c_S = w_S sign(z_S), by what is missing; c follows. */
static void update_dual(topk_lp *work)
{
    lp_row *row = work->row;
    int a = row->a;

    for (int u = 0; u < a; u++) {
        int j = row->s[u];
        row->out[u] = row->sign_z[u] * row->weight[j] - row->c[j];
    }
    la_gemv('N', a, a, 1.0, row->inverse, work->most, row->out, 0.0, row->g);
    for (int q = 0; q < a; q++) row->y[row->t[q]] += row->g[q];
    la_gemv('N', work->n, a, 1.0, row->xf, work->n, row->g, 1.0, row->c);
}

/* The inverse, the columns of S and T, z, e and the dual anew from S and T; from none if x_ST is singular. */
static void row_refresh(topk_lp *work, double lambda_e)
{
    lp_row *row = work->row;
    int a = row->a, p = work->p;
    size_t A = (size_t) a, P = (size_t) p, M = (size_t) work->most;

    row->since = 0;
    for (size_t u = 0; u < A; u++)
        for (size_t q = 0; q < A; q++)
            row->square[u + q * A] = work->xt[(size_t) row->t[q] + (size_t) row->s[u] * P];
    if (a > 0 && (la_lu_inverse(a, row->square, row->pivot, row->out, work->most) ||
                  !la_finite(A * A, row->square))) {
        row_empty(work, lambda_e);
        return;
    }
    for (size_t u = 0; u < A; u++) ufs_copy(row->inverse + u * M, row->square + u * A, A);

    for (size_t u = 0; u < A; u++) {
        double z = 0.0;
        for (size_t q = 0; q < A; q++) z += row->b[row->t[q]] * row->inverse[q + u * M];
        row->z[u] = z;
        row->sign_z[u] = z < 0.0 ? -1 : 1;
    }
    for (int u = 0; u < a; u++) {
        set_sample(work, u, row->s[u]);
        set_feature(work, u, row->t[u]);
    }
    ufs_copy(row->e, row->b, P);
    la_gemv('N', p, a, -1.0, row->xs, p, row->z, 1.0, row->e);
    for (size_t k = 0; k < P; k++)
        if (row->e[k] != 0.0 || row->side[k] == 0) row->side[k] = row->e[k] < 0.0 ? -1 : 1;
    for (size_t q = 0; q < A; q++) {
        row->e[row->t[q]] = 0.0;
        row->side[row->t[q]] = 0;
    }
    for (size_t k = 0; k < P; k++) row->y[k] = lambda_e * row->side[k];
    la_gemv('N', work->n, p, 1.0, work->x, work->n, row->y, 0.0, row->c);
    update_dual(work);
}

/* The largest violation of a constraint, relative to its bound; and which one to release, a sample
 * to enter S or a position of T to leave it: the largest slope over the root of the length of the
 * edge (1 for a sample), the first of equals. By the violation alone, or by slope over length,
 * wide tables in clusters take two to four times the pivots. */
static double price(topk_lp *work, const topk_z_settings *settings, int *enter, int *leave)
{
    const lp_row *row = work->row;
    size_t A = (size_t) row->a, M = (size_t) work->most;
    double worst = 0.0, best = 0.0;

    for (int j = 0; j < work->n; j++) {
        double slope = (settings->nonnegative ? row->c[j] : fabs(row->c[j])) - row->weight[j];
        if (slope <= 0.0 || row->in_set[j] || j == row->i) continue;
        worst = fmax(worst, slope / row->weight[j]);
        if (slope > best) {
            best = slope;
            *enter = j;
        }
    }
    for (int q = 0; q < row->a; q++) {
        double slope = fabs(row->y[row->t[q]]) - settings->lambda_e, length = 0.0;
        if (slope <= 0.0) continue;
        worst = fmax(worst, slope / settings->lambda_e);
        for (size_t u = 0; u < A; u++) {
            double entry = row->inverse[(size_t) q + u * M];
            length += entry * entry;
        }
        slope /= sqrt(sqrt(length));
        if (slope > best) {
            best = slope;
            *leave = q;
            *enter = -1;
        }
    }
    return worst;
}

/* Direction of e for dz (and sample j moving by sign). */
static void direction(topk_lp *work, int j, double sign)
{
    lp_row *row = work->row;
    size_t P = (size_t) work->p;
    memset(row->de, 0, P * sizeof(double));
    la_gemv('N', work->p, row->a, -1.0, row->xs, work->p, row->dz, 1.0, row->de);
    if (j >= 0) la_axpy(work->p, -sign, work->xt + (size_t) j * P, row->de);
}

/* y_k += by; c = X y follows. */
static void add_to_y(topk_lp *work, int k, double by)
{
    lp_row *row = work->row;
    row->y[k] += by;
    la_axpy(work->n, by, work->x + (size_t) k * (size_t) work->n, row->c);
}

/* Goes along (dz, de) as long as the slope is negative: moves z and e, turns the residuals and
 * signs that were passed, and returns the kink where it stopped (-1 if there is none). */
static int walk(topk_lp *work, const topk_z_settings *settings, double slope, double *length)
{
    lp_row *row = work->row;
    kink *kinks = row->kinks;
    int size = 0, p = work->p, last = -1;

    /* Half of the features are on the way, in no order that a branch could foresee. */
    for (int k = 0; k < p; k++) {
        kinks[size] = (kink){fabs(row->e[k] / row->de[k]), k};
        size += row->side[k] * row->de[k] < -UFS_ROUNDING;
    }
    for (int u = 0; u < row->a; u++)
        if (row->sign_z[u] * row->dz[u] < -UFS_ROUNDING)
            kinks[size++] = (kink){fabs(row->z[u] / row->dz[u]), p + u};
    while (size > 0 && last < 0) {
        kink *first = kinks, next;
        int k, u;

        /* The first one is taken out; few are passed. */
        for (kink *at = kinks + 1; at < kinks + size; at++)
            if (at->at < first->at || (at->at == first->at && at->what < first->what)) first = at;
        next = *first;
        *first = kinks[--size];
        k = next.what;
        u = k - p;
        if (k < p)
            slope += 2.0 * settings->lambda_e * fabs(row->de[k]);
        else
            slope += settings->nonnegative ? R_PosInf
                                           : 2.0 * row->weight[row->s[u]] * fabs(row->dz[u]);
        if (slope >= 0.0) {
            last = k;
            *length = next.at;
        } else if (k < p) {
            row->side[k] = -row->side[k];
            add_to_y(work, k, 2.0 * settings->lambda_e * row->side[k]);
        } else {
            row->sign_z[u] = -row->sign_z[u];
        }
    }
    if (last < 0) return -1;
    for (int u = 0; u < row->a; u++) row->z[u] += *length * row->dz[u];
    la_axpy(p, *length, row->de, row->e);
    for (int q = 0; q < row->a; q++) row->e[row->t[q]] = 0.0;
    if (last < p) row->e[last] = 0.0;
    return last;
}

/* A sample in the place of position u; r = its x_T times the inverse. */
static bool swap_sample(lp_row *row, size_t most, int u, const double *r)
{
    double *pivot = row->inverse + (size_t) u * most;

    if (fabs(r[u]) < UFS_TIE) return false;
    for (int q = 0; q < row->a; q++) pivot[q] /= r[u];
    for (int v = 0; v < row->a; v++)
        if (v != u) la_axpy(row->a, -r[v], pivot, row->inverse + (size_t) v * most);
    return true;
}

/* A feature in the place of position q; h = the inverse times its x_S. */
static bool swap_feature(lp_row *row, size_t most, int q, const double *h)
{
    if (fabs(h[q]) < UFS_TIE) return false;
    for (int u = 0; u < row->a; u++) {
        double *to = row->inverse + (size_t) u * most, pivot = to[q] / h[q];
        la_axpy(row->a, -pivot, h, to);
        to[q] = pivot;
    }
    return true;
}

/* Feature l at position q of T. */
static bool take_feature(topk_lp *work, int q, int l)
{
    lp_row *row = work->row;
    size_t M = (size_t) work->most, P = (size_t) work->p;

    for (int u = 0; u < row->a; u++) row->out[u] = work->xt[(size_t) l + (size_t) row->s[u] * P];
    la_gemv('N', row->a, row->a, 1.0, row->inverse, work->most, row->out, 0.0, row->g);
    if (!swap_feature(row, M, q, row->g)) return false;
    set_feature(work, q, l);
    row->side[l] = 0.0;
    return true;
}

/* Sample j and feature k join: first with a unit vector for the feature. */
static bool grow(topk_lp *work, int j, int k, double *r)
{
    lp_row *row = work->row;
    size_t M = (size_t) work->most, A = (size_t) row->a;

    for (size_t u = 0; u < A; u++) row->inverse[A + u * M] = row->inverse[u + A * M] = 0.0;
    row->inverse[A + A * M] = r[A] = 1.0;
    row->s[row->a++] = j;
    swap_sample(row, M, row->a - 1, r);
    if (take_feature(work, row->a - 1, k)) return true;
    row->a--;
    return false;
}

/* Sample j leaves zero: e_T stays zero. */
static bool step_enter(topk_lp *work, const topk_z_settings *settings, int j)
{
    lp_row *row = work->row;
    int a = row->a, at, what;
    size_t P = (size_t) work->p;
    double sign = row->c[j] > 0.0 ? 1.0 : -1.0, slope, length, *r = row->out;

    for (int q = 0; q < a; q++) row->g[q] = work->xt[(size_t) row->t[q] + (size_t) j * P];
    if (a > 0) la_gemv('T', a, a, 1.0, row->inverse, work->most, row->g, 0.0, r);
    for (int u = 0; u < a; u++) row->dz[u] = -sign * r[u];
    direction(work, j, sign);
    slope = row->weight[j] - fabs(row->c[j]);
    what = walk(work, settings, slope, &length);
    if (what < 0) return false;
    at = what < work->p ? a : what - work->p;
    if (what < work->p ? a == work->most || !grow(work, j, what, r)
                       : !swap_sample(row, (size_t) work->most, at, r))
        return false;
    if (what >= work->p) row->in_set[row->s[at]] = 0;
    set_sample(work, at, j);
    row->in_set[j] = at + 1;
    row->z[at] = sign * length;
    row->sign_z[at] = sign > 0.0 ? 1 : -1;
    return true;
}

/* Position u of S and q of T leave: a unit vector for the feature parts them from the others. */
static bool shrink(topk_lp *work, int q, int u)
{
    lp_row *row = work->row;
    int last = row->a - 1;
    size_t M = (size_t) work->most, A = (size_t) row->a;
    double *from = row->inverse + (size_t) u * M;

    ufs_copy(row->g, from, A);
    if (!swap_feature(row, M, q, row->g)) return false;
    row->in_set[row->s[u]] = 0;
    if (u != last) {
        ufs_copy(from, row->inverse + (size_t) last * M, A);
        set_sample(work, u, row->s[last]);
        row->z[u] = row->z[last];
        row->sign_z[u] = row->sign_z[last];
        row->in_set[row->s[u]] = u + 1;
    }
    for (size_t v = 0; v + 1 < A; v++)
        row->inverse[(size_t) q + v * M] = row->inverse[(size_t) last + v * M];
    set_feature(work, q, row->t[last]);
    row->a = last;
    return true;
}

/* Position q of T: its residual leaves zero. */
static bool step_leave(topk_lp *work, const topk_z_settings *settings, int q)
{
    lp_row *row = work->row;
    int k = row->t[q], what;
    size_t M = (size_t) work->most;
    double sign = row->y[k] > 0.0 ? 1.0 : -1.0;
    double slope = settings->lambda_e - fabs(row->y[k]), length;

    for (int u = 0; u < row->a; u++) row->dz[u] = -sign * row->inverse[(size_t) q + (size_t) u * M];
    direction(work, -1, 0.0);
    what = walk(work, settings, slope, &length);
    if (what < 0) return false;
    if (!(what < work->p ? take_feature(work, q, what) : shrink(work, q, what - work->p)))
        return false;
    row->e[k] = sign * length;
    row->side[k] = sign;
    add_to_y(work, k, sign * settings->lambda_e - row->y[k]);
    return true;
}

/* Pivots until the sample's optimum is reached; whether it was. */
static bool row_solve(topk_lp *work, const topk_z_settings *settings)
{
    lp_row *row = work->row;
    int done = 0;
    bool solved = false;

    while (done < work->most_pivots) {
        int enter = -1, leave = -1;
        bool fresh = row->since == 0, fine;
        if (price(work, settings, &enter, &leave) <= UFS_TIE) {
            /* The optimum, unless it is one by what rounding has left of the inverse. */
            solved = fresh;
            if (fresh) break;
            row_refresh(work, settings->lambda_e);
            continue;
        }
        fine = enter >= 0 ? step_enter(work, settings, enter) : step_leave(work, settings, leave);
        done++;
        /* A pivot of rounding size, not for want of a good inverse: leave it there. */
        if (!fine && fresh) break;
        if (fine && ++row->since < REFRESH) {
            update_dual(work);
        } else {
            R_CheckUserInterrupt();
            row_refresh(work, settings->lambda_e);
        }
    }
    work->state.iterations += done;
    return solved;
}

void topk_lp_solve(topk_lp *work, const topk_z_settings *settings, const topk_theta *theta)
{
    int n = work->n, p = work->p;
    size_t N = (size_t) n, P = (size_t) p;
    lp_row *row = work->row;
    topk_z_state *state = &work->state;
    double dual = 0.0;

    *state = (topk_z_state){.solved = true};
    la_transpose(n, p, work->x, work->xt);
    for (int i = 0; i < n; i++) {
        R_CheckUserInterrupt();
        row_begin(work, settings, theta, i);
        /* A zero sample; all others have unit length. */
        if (!(la_nrm2(p, work->xt + (size_t) i * P) > sqrt(DBL_EPSILON))) continue;
        /* As the last call left it. */
        row_refresh(work, settings->lambda_e);
        if (!row_solve(work, settings)) state->solved = false;
        for (int u = 0; u < row->a; u++)
            if (fabs(row->z[u]) > 10.0 * UFS_TIE)
                work->z[(size_t) i + (size_t) row->s[u] * N] = row->z[u];
        work->size[i] = row->a;
        dual += topk_z_bound(settings, theta, i, p, work->xt + (size_t) i * P, row->y, row->c);
    }

    ufs_copy(work->e, work->x, N * P);
    la_gemm_checked('N', 'N', n, p, n, -1.0, work->z, n, work->x, n, 1.0, work->e, n);
    state->objective = topk_z_objective(settings, theta, work->z, p, work->e);
    if (state->objective > 0.0)
        state->residual = fmax(state->objective - dual, 0.0) / state->objective;
}

int topk_lp_links(topk_lp *work, const topk_z_settings *settings, int i)
{
    topk_theta ones = {.n = work->n};

    la_transpose(work->n, work->p, work->x, work->xt);
    row_begin(work, settings, &ones, i);
    row_empty(work, settings->lambda_e);
    row_solve(work, settings);
    return work->row->a;
}
