/* la_gl.c: exact row-sparse regression by working sets (see la_gl.h). */
#include "la_gl.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

enum { ROUNDS = 60, SWEEPS = 200, DEPTH = 5, ENTER = 20, TILE = 32 };
/* Sweeps before a Newton step, and most rows it may have. */
enum { PATIENCE = 10, NEWTON_MOST = 800 };

/* working set */
static void make_room(la_gl *w, int least);
static void enter(la_gl *w, int f);
static void leave(la_gl *w, int i);
static void enter_support(la_gl *w, const double *v);
static int enter_violators(la_gl *w, double vtol);
static void prune_set(la_gl *w, double level);
static void swap_places(la_gl *w, int a, int b);
static void gram_column(la_gl *w, int at, int upto);
static void gram_missing(la_gl *w);
static void gram_by_rows(la_gl *w);
static void gram_from_source(la_gl *w, int to);
static void read_ahead(la_gl *w, int count);
static const double *column(const la_gl *w, int f);
static void weigh(const la_gl *w, double *a);
static const double *weighted_residual(la_gl *w);
/* descent */
static bool descend(la_gl *w, double lambda, double bound, bool priced);
static bool newton_pays(const la_gl *w, double first, double last, double bound);
static bool gram_is_cheaper(const la_gl *w);
static void start_gradient(la_gl *w, bool priced);
static void products(la_gl *w, int f, const double *r, const double *total);
static double sweep(la_gl *w, double lambda, bool by_gram);
static bool block_step(la_gl *w, double lambda, double l, double *v, double *size);
static void change_gradient(la_gl *w, bool by_gram, int i, const double *d, double *out);
static void extrapolate(la_gl *w, double lambda, bool by_gram);
/* all features */
static void residual(la_gl *w, const double *t);
static void fit_sparse(la_gl *w);
static void fit_by_product(la_gl *w);
static void fit_from_source(la_gl *w);
static void fit_by_columns(la_gl *w);
static void price(la_gl *w, double lambda);
static void measure_gap(la_gl *w, const double *t);

static size_t place(const la_gl *w, int i)
{
    return (size_t) i * (size_t) w->c;
}

void la_gl_init(la_gl *w, int c, const ufs_x *x)
{
    la_gl_init_slots(w, c, x, LA_GL_SLOTS);
}

void la_gl_init_slots(la_gl *w, int c, const ufs_x *x, int slots)
{
    int n = x->n, p = x->p;
    size_t N = (size_t) n, P = (size_t) p, C = (size_t) c, S;

    w->n = n;
    w->p = p;
    w->c = c;
    w->cap = slots < p ? slots : p;
    S = (size_t) w->cap;
    w->form = 'a';
    w->share = 0.0;
    w->newton = true;
    w->m = w->g = 0;
    w->ss = ufs_dalloc(P, 1);
    w->set = ufs_ialloc(P);
    w->pos = ufs_ialloc(P);
    w->fresh = ufs_ialloc(P);
    w->gram = ufs_dalloc(S, S);
    w->grad = ufs_dalloc(S, C);
    w->room = 0;
    make_room(w, w->cap < p ? w->cap + 1 : p);
    w->before = ufs_dalloc(C, S);
    anderson_init(&w->history, c * w->cap, DEPTH - 1);
    w->step = ufs_dalloc(C, S);
    w->moved = ufs_dalloc(N > S ? N : S, C);
    w->row = ufs_dalloc(C, 1);
    w->diff = ufs_dalloc(C, 1);
    w->r = ufs_dalloc(N, C);
    w->xv = ufs_dalloc(N, C);
    w->u = ufs_dalloc(C, P);
    w->kkt = ufs_dzero(P, 1);
    w->key = ufs_dalloc(P, 1);
    w->col = ufs_dalloc(N, 1);
    w->other = ufs_dalloc(x->kind == UFS_X_DENSE ? 0 : N, 1);
    w->tile = ufs_dalloc(x->kind == UFS_X_DENSE ? S : 0, TILE);
    w->root = NULL;
    w->scaled = NULL;
    w->l21 = w->objective = w->dual = w->gap = R_NaN;
    w->live = 0;
    w->settled = false;
    w->products = w->sweeps = w->columns = 0;
    for (int f = 0; f < p; f++) w->pos[f] = -1;
    la_gl_set_x(w, x);
}

void la_gl_set_x(la_gl *w, const ufs_x *x)
{
    w->x = x;
    for (int i = w->m; i < w->g; i++) w->pos[w->set[i]] = -1;
    w->g = 0;
    if (w->root)
        ufs_x_weighted_ss(x, w->root, w->ss);
    else
        ufs_x_ss(x, w->ss);
}

void la_gl_set_rows(la_gl *w, const double *root)
{
    w->root = root;
    if (root && w->scaled == NULL) w->scaled = ufs_dalloc((size_t) w->n, (size_t) w->c);
    la_gl_set_x(w, w->x);
}

int la_gl_solve(la_gl *w, const double *t, double lambda, double vtol, bool full, double prune,
                double *v)
{
    size_t P = (size_t) w->p, C = (size_t) w->c;
    double bound = vtol * sqrt(la_ss((size_t) w->n * C, t));

    enter_support(w, v);
    w->settled = true;
    if (w->x->kind == UFS_X_SOURCE && gram_is_cheaper(w))
        ufs_copy(w->r, t, (size_t) w->n * C);
    else
        residual(w, t);
    for (int round = 0; round < ROUNDS; round++) {
        R_CheckUserInterrupt();
        w->settled = descend(w, lambda, bound, round > 0);
        residual(w, t);
        if (!full) break;
        price(w, lambda);
        if (enter_violators(w, vtol) == 0 && w->settled) break;
    }
    w->l21 = 0.0;
    w->live = 0;
    for (int i = 0; i < w->m; i++) {
        w->l21 += w->size[i];
        w->live += w->size[i] > 0.0;
    }
    w->objective = la_ss((size_t) w->n * C, w->r) + lambda * w->l21;
    memset(v, 0, P * C * sizeof(double));
    for (int i = 0; i < w->m; i++)
        for (size_t k = 0; k < C; k++) v[(size_t) w->set[i] + k * P] = w->vw[place(w, i) + k];
    if (full) {
        measure_gap(w, t);
        prune_set(w, prune);
    }
    return 0;
}

void la_gl_certify(la_gl *w, const double *t, double lambda, const double *v)
{
    int n = w->n, p = w->p, c = w->c;
    size_t len = (size_t) n * (size_t) c;

    ufs_x_mul(w->x, c, v, w->xv);
    weigh(w, w->xv);
    for (size_t i = 0; i < len; i++) w->r[i] = t[i] - w->xv[i];
    la_row_norms(p, c, v, w->key);
    w->l21 = la_l21(p, w->key, 0.0);
    w->live = 0;
    for (int f = 0; f < p; f++) w->live += w->key[f] > 0.0;
    w->objective = la_ss(len, w->r) + lambda * w->l21;
    price(w, lambda);
    measure_gap(w, t);
}

double la_gl_violation(const la_gl *w, double lambda, double eps, const double *v)
{
    size_t P = (size_t) w->p, C = (size_t) w->c;
    double worst = 0.0;

    for (size_t i = 0; i < P; i++) {
        double ss = 0.0, off = 0.0, norm;
        for (size_t k = 0; k < C; k++) ss += v[i + k * P] * v[i + k * P];
        norm = sqrt(ss + eps);
        if (norm == 0.0) {
            worst = fmax(worst, w->kkt[i] - 1.0);
            continue;
        }
        for (size_t k = 0; k < C; k++) {
            double d = 2.0 * w->u[k + i * C] / lambda - v[i + k * P] / norm;
            off += d * d;
        }
        worst = fmax(worst, sqrt(off));
    }
    return worst;
}

/* ---- working set ------------------------------------------------------------------ */

/* Places for the working set and those that wait: four times as many when they are used up. */
static void make_room(la_gl *w, int least)
{
    int room = w->room > w->p / 4 ? w->p : 4 * w->room;
    double *vw, *size;

    if (least <= w->room) return;
    if (room < least) room = least;
    vw = ufs_dzero((size_t) w->c, (size_t) room);
    size = ufs_dzero((size_t) room, 1);
    if (w->room > 0) {
        ufs_copy(vw, w->vw, (size_t) w->c * (size_t) w->room);
        ufs_copy(size, w->size, (size_t) w->room);
    }
    w->vw = vw;
    w->size = size;
    w->room = room;
}

/* f joins the working set with v_f = 0. */
static void enter(la_gl *w, int f)
{
    int at = w->m;

    make_room(w, at + 1);
    if (w->pos[f] >= 0) {
        swap_places(w, w->pos[f], at);
    } else if (w->g <= at) {
        w->set[at] = f;
        w->pos[f] = at;
    } else if (w->g < w->cap) {
        w->set[w->g] = f;
        w->pos[f] = w->g;
        gram_column(w, w->g, w->g);
        swap_places(w, w->g++, at);
    } else {
        /* No free slot: the first of the waiting features gives up its own. */
        w->pos[w->set[at]] = -1;
        w->set[at] = f;
        w->pos[f] = at;
        gram_column(w, at, w->g);
    }
    w->size[at] = 0.0;
    memset(w->vw + place(w, at), 0, (size_t) w->c * sizeof(double));
    w->m++;
}

/* The feature at place i leaves; its Gram column is kept if every feature of the
 * working set has one (so that g > m may follow). */
static void leave(la_gl *w, int i)
{
    if (i < w->g && w->g >= w->m) {
        swap_places(w, i, --w->m);
        return;
    }
    if (i < w->g) {
        swap_places(w, i, --w->g);
        i = w->g;
    }
    w->pos[w->set[i]] = -1;
    w->m--;
    if (i < w->m) {
        w->set[i] = w->set[w->m];
        w->pos[w->set[i]] = i;
        w->size[i] = w->size[w->m];
        ufs_copy(w->vw + place(w, i), w->vw + place(w, w->m), (size_t) w->c);
    }
}

/* Exchanges two places with everything stored by place. */
static void swap_places(la_gl *w, int a, int b)
{
    size_t S = (size_t) w->cap, A = (size_t) a, B = (size_t) b;
    int f = w->set[a], last = w->g > (a > b ? a : b) ? w->g : (a > b ? a : b) + 1;
    double tmp;

    if (a == b) return;
    w->set[a] = w->set[b];
    w->set[b] = f;
    w->pos[w->set[a]] = a;
    w->pos[f] = b;
    tmp = w->size[a];
    w->size[a] = w->size[b];
    w->size[b] = tmp;
    for (size_t k = 0; k < (size_t) w->c; k++) {
        tmp = w->vw[place(w, a) + k];
        w->vw[place(w, a) + k] = w->vw[place(w, b) + k];
        w->vw[place(w, b) + k] = tmp;
    }
    for (size_t j = 0; j < (size_t) last; j++) {
        tmp = w->gram[j + A * S];
        w->gram[j + A * S] = w->gram[j + B * S];
        w->gram[j + B * S] = tmp;
    }
    for (size_t j = 0; j < (size_t) last; j++) {
        tmp = w->gram[A + j * S];
        w->gram[A + j * S] = w->gram[B + j * S];
        w->gram[B + j * S] = tmp;
    }
}

/* Gram row and column of place `at` against places 0..upto-1 and itself. */
static void gram_column(la_gl *w, int at, int upto)
{
    size_t S = (size_t) w->cap, A = (size_t) at;
    const double *xa = ufs_x_column(w->x, w->set[at], w->col);
    double total = 0.0;

    if (w->root) {
        for (int i = 0; i < w->n; i++) w->col[i] = w->root[i] * w->root[i] * xa[i];
        xa = w->col;
    }
    for (int i = 0; i < w->n && w->x->kind == UFS_X_SPARSE; i++) total += xa[i];
    for (int j = 0; j < upto; j++) {
        double dot = ufs_x_dot(w->x, w->set[j], xa, total, w->other);
        w->gram[(size_t) j + A * S] = dot;
        w->gram[A + (size_t) j * S] = dot;
    }
    w->gram[A + A * S] = w->ss[w->set[at]];
    w->columns++;
}

/* The Gram columns of set[g..m). */
static void gram_missing(la_gl *w)
{
    enum { FEW = 8 };
    if (w->x->kind == UFS_X_SOURCE && w->m > w->g) gram_from_source(w, w->m);
    if (w->x->kind == UFS_X_DENSE && w->m - w->g > FEW) gram_by_rows(w);
    for (; w->g < w->m; w->g++) gram_column(w, w->g, w->g);
}

/* The same for many: X_W' X_W by TILE rows of X at a time. 2nm (m - g) flops, half of that
 * if all are missing. */
static void gram_by_rows(la_gl *w)
{
    int m = w->m, g = w->g;
    size_t S = (size_t) w->cap, M = (size_t) m;

    for (size_t j = (size_t) g; j < M; j++) memset(w->gram + j * S, 0, M * sizeof(double));
    for (int i0 = 0; i0 < w->n; i0 += TILE) {
        int rows = w->n - i0 < TILE ? w->n - i0 : TILE;
        for (size_t k = 0; k < M; k++) {
            const double *from = ufs_x_column(w->x, w->set[k], NULL) + i0;
            for (size_t i = 0; i < (size_t) rows; i++)
                w->tile[k + i * M] = w->root ? w->root[(size_t) i0 + i] * from[i] : from[i];
        }
        if (g == 0)
            la_syrk('N', m, rows, 1.0, w->tile, m, 1.0, w->gram, w->cap);
        else
            la_gemm('N', 'T', m, m - g, rows, 1.0, w->tile, m, w->tile + g, m, 1.0,
                    w->gram + (size_t) g * S, w->cap);
    }
    for (size_t j = (size_t) g; j < M; j++) {
        for (size_t i = 0; i < j; i++) w->gram[j + i * S] = w->gram[i + j * S];
        w->gram[j + j * S] = w->ss[w->set[j]];
    }
    w->columns += m - g;
    w->g = m;
}

/* The same for places g..to-1 of a source, in two reads of the columns. */
static void gram_from_source(la_gl *w, int to)
{
    int g = w->g;
    size_t S = (size_t) w->cap, M = (size_t) to;
    const void *mark = vmaxget();
    double *got = ufs_dalloc(M, (size_t) (to - g));

    ufs_x_gram_some(w->x, to, w->set, g, w->root, got);
    for (size_t j = (size_t) g; j < M; j++) {
        const double *from = got + (j - (size_t) g) * M;
        for (size_t i = 0; i < j; i++) w->gram[i + j * S] = w->gram[j + i * S] = from[i];
        w->gram[j + j * S] = w->ss[w->set[j]];
    }
    w->columns += to - g;
    w->g = to;
    vmaxset(mark);
}

/* fresh[0..count) are about to enter: a source reads their Gram columns together. */
static void read_ahead(la_gl *w, int count)
{
    int new = 0, fits;

    if (w->x->kind != UFS_X_SOURCE || w->g < w->m || count == 0) return;
    for (int k = 0; k < count; k++) new += w->pos[w->fresh[k]] < 0;
    fits = w->form != 'r' && w->m + count <= w->cap;
    if (!fits || w->g + new > w->cap) {
        for (int i = w->m; i < w->g; i++) w->pos[w->set[i]] = -1;
        w->g = w->m;
    }
    if (!fits) return;
    new = w->g;
    for (int k = 0; k < count; k++) {
        int f = w->fresh[k];
        if (w->pos[f] >= 0) continue;
        w->set[new] = f;
        w->pos[f] = new ++;
    }
    if (new > w->g) gram_from_source(w, new);
}

/* Column f of X as the problem has it. */
static const double *column(const la_gl *w, int f)
{
    const double *x = ufs_x_column(w->x, f, w->col);
    if (w->root == NULL) return x;
    for (int i = 0; i < w->n; i++) w->col[i] = w->root[i] * x[i];
    return w->col;
}

/* a (n x c) <- diag(root) a. */
static void weigh(const la_gl *w, double *a)
{
    size_t N = (size_t) w->n;
    for (size_t k = 0; k < (size_t) w->c && w->root; k++)
        for (size_t i = 0; i < N; i++) a[i + k * N] *= w->root[i];
}

/* diag(root) R: what the columns of X itself are multiplied with. */
static const double *weighted_residual(la_gl *w)
{
    if (w->root == NULL) return w->r;
    ufs_copy(w->scaled, w->r, (size_t) w->n * (size_t) w->c);
    weigh(w, w->scaled);
    return w->scaled;
}

/* Every non-zero row of v is in the working set, and vw holds v. A zero column of
 * X has nothing to fit: its row becomes zero. */
static void enter_support(la_gl *w, const double *v)
{
    size_t P = (size_t) w->p;
    int count = 0;

    la_row_norms(w->p, w->c, v, w->key);
    for (int f = 0; f < w->p; f++)
        if (w->key[f] > 0.0 && w->ss[f] > 0.0 && (w->pos[f] < 0 || w->pos[f] >= w->m))
            w->fresh[count++] = f;
    read_ahead(w, count);
    for (int k = 0; k < count; k++) enter(w, w->fresh[k]);
    for (int i = 0; i < w->m; i++) {
        size_t f = (size_t) w->set[i];
        w->size[i] = w->ss[f] > 0.0 ? w->key[f] : 0.0;
        for (size_t k = 0; k < (size_t) w->c; k++)
            w->vw[place(w, i) + k] = w->size[i] > 0.0 ? v[f + k * P] : 0.0;
    }
}

/* The max(20, m) features outside the set that violate most, in index order. None
 * if the worst violation is within vtol. Returns their number. */
static int enter_violators(la_gl *w, double vtol)
{
    int count = 0, m = w->m, most = m > ENTER ? m : ENTER, spare;
    double worst = 1.0, level = 1.0 + 1e-9;

    for (int f = 0; f < w->p; f++)
        if ((w->pos[f] < 0 || w->pos[f] >= m) && w->kkt[f] > level) {
            w->key[count++] = w->kkt[f];
            worst = fmax(worst, w->kkt[f]);
        }
    if (count == 0 || worst - 1.0 <= vtol) return 0;
    spare = count;
    if (count > most) {
        /* level: the smallest value that still enters; spare: how many of the
         * features exactly there may. */
        rPsort(w->key, count, count - most);
        level = w->key[count - most];
        spare = most;
        for (int k = count - most; k < count; k++)
            if (w->key[k] > level) spare--;
    }
    count = count > most;
    most = 0;
    for (int f = 0; f < w->p; f++) {
        if (w->pos[f] >= 0 && w->pos[f] < m) continue;
        if (w->kkt[f] > level)
            w->fresh[most++] = f;
        else if (count && w->kkt[f] == level && spare > 0) {
            w->fresh[most++] = f;
            spare--;
        }
    }
    read_ahead(w, most);
    for (int k = 0; k < most; k++) enter(w, w->fresh[k]);
    return w->m - m;
}

static void prune_set(la_gl *w, double level)
{
    for (int i = w->m - 1; i >= 0; i--)
        if (w->size[i] == 0.0 && w->kkt[w->set[i]] <= level) leave(w, i);
}

/* ---- descent on the working set ---------------------------------------------------- */

/* Coordinate descent, every DEPTH sweeps with an extrapolation or, where many more sweeps are to
 * come, a Newton step; priced: u belongs to the current r. Returns whether the steps of a sweep
 * fell below the bound. */
static bool descend(la_gl *w, double lambda, double bound, bool priced)
{
    bool by_gram = gram_is_cheaper(w), settled = w->m == 0, remembers = w->m <= w->cap;
    bool newton = by_gram && w->newton;
    double largest = 0.0, first = 0.0;

    if (by_gram)
        start_gradient(w, priced);
    else
        ufs_x_prefetch(w->x, w->m, w->set);
    if (remembers) anderson_resize(&w->history, w->c * w->m);
    for (int s = 1; s <= SWEEPS && !settled; s++) {
        if (remembers) ufs_copy(w->before, w->vw, (size_t) w->c * (size_t) w->m);
        largest = sweep(w, lambda, by_gram);
        if (s == 1) bound = fmax(bound, w->share * largest);
        settled = !(largest > bound);
        if (settled || !remembers) continue;
        anderson_push(&w->history, w->before, w->vw);
        if (s % DEPTH == 1) first = largest;
        if (s % DEPTH == 0) {
            if (s > PATIENCE) newton = newton && newton_pays(w, first, largest, bound);
            if (newton && s > PATIENCE)
                newton = la_gl_newton(w, lambda);
            else
                extrapolate(w, lambda, by_gram);
            anderson_reset(&w->history);
        }
    }
    return settled;
}

/* Whether the sweeps that remain at the rate of the last ones, from steps of `first` to `last`,
 * are dearer than a Newton step with 40 conjugate gradients; products of whole matrices
 * are twice as fast. */
static bool newton_pays(const la_gl *w, double first, double last, double bound)
{
    double l = 0.0, rate = log(first / last) / (DEPTH - 1), remaining;

    for (int i = 0; i < w->m; i++) l += w->size[i] > 0.0;
    if (l > NEWTON_MOST) return false;
    remaining = rate > 0.0 ? log(last / bound) / rate : SWEEPS;
    return remaining * 2.0 * w->m * l * w->c > (l * l * l / 3.0 + 160.0 * l * l * w->c) / 2.0;
}

/* Cost of one sweep with m rows of which l are alive: 2mlc + mc against 2nc(m + l). */
static bool gram_is_cheaper(const la_gl *w)
{
    double n = w->n, m = w->m, l = 0.0;

    if (w->form == 'r' || w->m > w->cap) return false;
    /* Sweeps do not read a source. */
    if (w->form == 'g' || w->x->kind == UFS_X_SOURCE) return true;
    for (int i = 0; i < w->m; i++) l += w->size[i] > 0.0;
    return 2.0 * m * l + m <= 2.0 * n * (m + l);
}

/* Missing Gram columns, and grad = X_W' R. */
static void start_gradient(la_gl *w, bool priced)
{
    int m = w->m, c = w->c;
    const double *r;

    gram_missing(w);
    r = priced ? NULL : weighted_residual(w);
    if (!priced && m > 0 && w->x->kind == UFS_X_SOURCE) {
        /* r is T still. */
        ufs_x_cross_some(w->x, m, w->set, c, r, w->grad);
        for (int i = 0; i < m; i++)
            if (w->size[i] > 0.0) change_gradient(w, true, i, w->vw + place(w, i), w->grad);
        return;
    }
    if (!priced)
        for (int k = 0; k < c; k++) {
            w->diff[k] = 0.0;
            for (size_t i = 0; i < (size_t) w->n; i++)
                w->diff[k] += r[i + (size_t) k * (size_t) w->n];
        }
    for (int i = 0; i < m; i++) {
        const double *from = w->u + place(w, w->set[i]);
        if (!priced) {
            products(w, w->set[i], r, w->diff);
            from = w->row;
        }
        for (int k = 0; k < c; k++) w->grad[(size_t) i + (size_t) k * (size_t) m] = from[k];
    }
}

/* row = x_f'r, x_f without weights (r has them); total: the sums of r's columns. */
static void products(la_gl *w, int f, const double *r, const double *total)
{
    if (w->x->kind == UFS_X_SPARSE) {
        for (int k = 0; k < w->c; k++)
            w->row[k] = ufs_x_dot(w->x, f, r + (size_t) k * (size_t) w->n, total[k], NULL);
        return;
    }
    la_gemv('T', w->n, w->c, 1.0, r, w->n, ufs_x_column(w->x, f, w->col), 0.0, w->row);
}

/* One pass over the working set; the largest ||dv_i|| ||x_i||. */
static double sweep(la_gl *w, double lambda, bool by_gram)
{
    int m = w->m, c = w->c;
    double largest = 0.0;

    for (int i = 0; i < m; i++) {
        double l = w->ss[w->set[i]], ss = 0.0;
        if (by_gram)
            for (int k = 0; k < c; k++) w->row[k] = w->grad[(size_t) i + (size_t) k * (size_t) m];
        else
            la_gemv('T', w->n, c, 1.0, w->r, w->n, column(w, w->set[i]), 0.0, w->row);
        if (!block_step(w, lambda, l, w->vw + place(w, i), w->size + i)) continue;
        for (int k = 0; k < c; k++) ss += w->diff[k] * w->diff[k];
        largest = fmax(largest, sqrt(ss * l));
        change_gradient(w, by_gram, i, w->diff, by_gram ? w->grad : w->r);
    }
    w->sweeps++;
    return largest;
}

/* Exact minimiser over one row, x_i'R given in row; diff is the change. Returns
 * false if there is none. */
static bool block_step(la_gl *w, double lambda, double l, double *v, double *size)
{
    int c = w->c;
    bool moved = false;
    double ss = 0.0, norm, shrink;

    if (l <= 0.0) return false;
    if (*size > 0.0)
        for (int k = 0; k < c; k++) w->row[k] += l * v[k];
    for (int k = 0; k < c; k++) ss += w->row[k] * w->row[k];
    norm = sqrt(ss);
    shrink = 2.0 * norm <= lambda ? 0.0 : (1.0 - lambda / (2.0 * norm)) / l;
    if (shrink == 0.0 && *size == 0.0) return false;
    for (int k = 0; k < c; k++) {
        double to = shrink * w->row[k];
        w->diff[k] = to - v[k];
        moved = moved || w->diff[k] != 0.0;
        v[k] = to;
    }
    *size = shrink * norm;
    return moved;
}

/* out -= G_i d' (m x c) in Gram form, x_i d' (n x c) in residual form. */
static void change_gradient(la_gl *w, bool by_gram, int i, const double *d, double *out)
{
    if (by_gram)
        la_rank_one(w->m, w->c, -1.0, w->gram + (size_t) i * (size_t) w->cap, d, out);
    else
        la_rank_one(w->n, w->c, -1.0, column(w, w->set[i]), d, out);
}

/* Anderson extrapolation of the last sweeps, taken only if (GL) falls. Rows that
 * are zero stay zero, so exact zeros survive. */
static void extrapolate(la_gl *w, double lambda, bool by_gram)
{
    int m = w->m, c = w->c;
    size_t len = (size_t) (by_gram ? m : w->n) * (size_t) c;
    double fall = 0.0, *grad = by_gram ? w->grad : w->r;

    if (!anderson_mix(&w->history, NULL, w->step)) return;
    for (size_t k = 0; k < (size_t) c * (size_t) m; k++) w->step[k] -= w->vw[k];
    memset(w->moved, 0, len * sizeof(double));
    for (int i = 0; i < m; i++) {
        double *d = w->step + place(w, i), ss = 0.0;
        if (w->size[i] == 0.0) continue;
        change_gradient(w, by_gram, i, d, w->moved);
        for (int k = 0; k < c; k++) {
            double to = w->vw[place(w, i) + (size_t) k] + d[k];
            ss += to * to;
        }
        fall -= lambda * (sqrt(ss) - w->size[i]);
    }
    /* moved = -G D (or -X D): change of the fit is -2<D, grad> + <D, G D>. */
    if (by_gram) {
        for (int i = 0; i < m; i++)
            for (int k = 0; k < c && w->size[i] > 0.0; k++) {
                size_t at = (size_t) i + (size_t) k * (size_t) m;
                fall += w->step[place(w, i) + (size_t) k] * (2.0 * grad[at] + w->moved[at]);
            }
    } else {
        for (size_t at = 0; at < len; at++) fall -= w->moved[at] * (2.0 * grad[at] + w->moved[at]);
    }
    if (!(fall > 0.0)) return;
    for (int i = 0; i < m; i++) {
        double ss = 0.0, *v = w->vw + place(w, i);
        if (w->size[i] == 0.0) continue;
        for (int k = 0; k < c; k++) {
            v[k] += w->step[place(w, i) + (size_t) k];
            ss += v[k] * v[k];
        }
        w->size[i] = sqrt(ss);
    }
    for (size_t at = 0; at < len; at++) grad[at] += w->moved[at];
}

/* ---- all features ------------------------------------------------------------------- */

/* xv = X V and r = T - X V from the live rows. 2nc per live row. */
static void residual(la_gl *w, const double *t)
{
    size_t N = (size_t) w->n, len = N * (size_t) w->c;

    if (w->x->kind == UFS_X_SPARSE)
        fit_sparse(w);
    else if (w->x->kind == UFS_X_SOURCE && w->m <= w->cap)
        fit_from_source(w);
    else if (w->x->kind == UFS_X_SOURCE || w->m > w->p / 4)
        fit_by_product(w);
    else
        fit_by_columns(w);
    weigh(w, w->xv);
    for (size_t i = 0; i < len; i++) w->r[i] = t[i] - w->xv[i];
}

static void fit_sparse(la_gl *w)
{
    size_t N = (size_t) w->n;

    memset(w->xv, 0, N * (size_t) w->c * sizeof(double));
    for (size_t k = 0; k < (size_t) w->c; k++) {
        double *xv = w->xv + k * N, off = 0.0;
        for (int i = 0; i < w->m; i++)
            if (w->size[i] > 0.0)
                off += ufs_x_axpy(w->x, w->set[i], w->vw[place(w, i) + k], xv, w->col);
        for (size_t i = 0; i < N; i++) xv[i] -= off;
    }
}

/* Many features: one product; V, spread out, where u will be. */
static void fit_by_product(la_gl *w)
{
    size_t P = (size_t) w->p, C = (size_t) w->c;

    memset(w->u, 0, P * C * sizeof(double));
    for (int i = 0; i < w->m; i++)
        for (size_t k = 0; k < C; k++) w->u[(size_t) w->set[i] + k * P] = w->vw[place(w, i) + k];
    ufs_x_mul(w->x, w->c, w->u, w->xv);
}

/* One read of the live columns. */
static void fit_from_source(la_gl *w)
{
    size_t L = 0, k = 0;

    for (int i = 0; i < w->m; i++)
        if (w->size[i] > 0.0) w->fresh[L++] = w->set[i];
    for (int i = 0; i < w->m; i++) {
        if (w->size[i] == 0.0) continue;
        for (size_t l = 0; l < (size_t) w->c; l++) w->moved[k + l * L] = w->vw[place(w, i) + l];
        k++;
    }
    if (L > 0)
        ufs_x_mul_some(w->x, (int) L, w->fresh, w->c, w->moved, w->xv);
    else
        memset(w->xv, 0, (size_t) w->n * (size_t) w->c * sizeof(double));
}

static void fit_by_columns(la_gl *w)
{
    memset(w->xv, 0, (size_t) w->n * (size_t) w->c * sizeof(double));
    for (int i = 0; i < w->m; i++)
        if (w->size[i] > 0.0)
            la_rank_one(w->n, w->c, 1.0, ufs_x_column(w->x, w->set[i], w->col), w->vw + place(w, i),
                        w->xv);
}

/* u = R'X, in this orientation so that X is read once, and kkt. */
static void price(la_gl *w, double lambda)
{
    ufs_x_cross_rows(w->x, w->c, weighted_residual(w), w->u);
    la_col_norms(w->c, w->p, w->u, w->kkt);
    for (int f = 0; f < w->p; f++) w->kkt[f] *= 2.0 / lambda;
    w->products++;
}

/* Dual point theta = sR with the best feasible s: D = 2<T,theta> - ||theta||^2. */
static void measure_gap(la_gl *w, const double *t)
{
    size_t len = (size_t) w->n * (size_t) w->c;
    double tr = 0.0, rr = la_ss(len, w->r), top = 0.0, s;

    for (size_t i = 0; i < len; i++) tr += t[i] * w->r[i];
    for (int f = 0; f < w->p; f++) top = fmax(top, w->kkt[f]);
    s = rr > 0.0 ? fmax(tr / rr, 0.0) : 0.0;
    if (s * top > 1.0) s = 1.0 / top;
    w->dual = s * (2.0 * tr - s * rr);
    w->gap = w->objective - w->dual;
}
