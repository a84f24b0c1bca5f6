/* la_gl_set.c: the working set of la_gl.c and the cached Gram columns of its features.
 *
 * The working set is set[0..m). Gram columns are valid on set[0..g): see la_gl.h. */
#include "la_gl.h"
#include <R_ext/Memory.h>
#include <R_ext/Utils.h>

/* The least number of violators that enter at once, if there are so many. */
enum { ENTER = 20 };

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
void la_gl_gram_missing(la_gl *w)
{
    if (w->x->kind == UFS_X_SOURCE && w->m > w->g) gram_from_source(w, w->m);
    for (; w->g < w->m; w->g++) gram_column(w, w->g, w->g);
}

static bool is_in(const la_gl *w, int f)
{
    return w->pos[f] >= 0 && w->pos[f] < w->m;
}

/* fresh[0..count) are about to enter: a source reads their Gram columns together. */
static void read_ahead(la_gl *w, int count)
{
    int new = 0, fits;

    if (w->x->kind != UFS_X_SOURCE || w->g < w->m || count == 0) return;
    for (int k = 0; k < count; k++) new += w->pos[w->fresh[k]] < 0;
    fits = w->m + count <= w->cap;
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

/* Exchanges n numbers of a and b that are `step` apart. */
static void swap(int n, int step, double *a, double *b)
{
    for (size_t i = 0; i < (size_t) n * (size_t) step; i += (size_t) step) {
        double of_a = a[i];
        a[i] = b[i];
        b[i] = of_a;
    }
}

/* Exchanges two places with everything stored by place. */
static void swap_places(la_gl *w, int a, int b)
{
    size_t S = (size_t) w->cap, A = (size_t) a, B = (size_t) b;
    int f = w->set[a], last = w->g > (a > b ? a : b) ? w->g : (a > b ? a : b) + 1;

    if (a == b) return;
    w->set[a] = w->set[b];
    w->set[b] = f;
    w->pos[w->set[a]] = a;
    w->pos[f] = b;
    swap(1, 1, w->size + a, w->size + b);
    swap(w->c, 1, w->vw + la_gl_place(w, a), w->vw + la_gl_place(w, b));
    swap(last, 1, w->gram + A * S, w->gram + B * S);
    swap(last, w->cap, w->gram + A, w->gram + B);
}

/* f joins the working set with v_f = 0. */
static void enter(la_gl *w, int f)
{
    int at = w->m;

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
    memset(w->vw + la_gl_place(w, at), 0, (size_t) w->c * sizeof(double));
    w->m++;
}

/* Every non-zero row of v is in the working set, and vw holds v. A zero column of
 * X has nothing to fit: its row becomes zero. */
void la_gl_enter_support(la_gl *w, const double *v)
{
    size_t P = (size_t) w->p;
    int count = 0;

    la_row_norms(w->p, w->c, v, w->key);
    for (int f = 0; f < w->p; f++)
        if ((w->key[f] > 0.0 || la_gl_is_free(w, f)) && R_FINITE(la_gl_factor(w, f)) &&
            w->ss[f] > 0.0 && !is_in(w, f))
            w->fresh[count++] = f;
    read_ahead(w, count);
    for (int k = 0; k < count; k++) enter(w, w->fresh[k]);
    for (int i = 0; i < w->m; i++) {
        size_t f = (size_t) w->set[i];
        w->size[i] = w->ss[f] > 0.0 ? w->key[f] : 0.0;
        for (size_t k = 0; k < (size_t) w->c; k++)
            w->vw[la_gl_place(w, i) + k] = w->size[i] > 0.0 ? v[f + k * P] : 0.0;
    }
}

/* The max(20, m) features outside the set that violate most, in index order. None
 * if the worst violation is within vtol. Returns their number. */
int la_gl_enter_violators(la_gl *w, double vtol)
{
    int count = 0, chosen = 0, m = w->m, most = m > ENTER ? m : ENTER, spare = 0;
    double worst = 1.0, level = 1.0 + 1e-9;

    for (int f = 0; f < w->p; f++)
        if (!is_in(w, f) && w->kkt[f] > level) {
            w->key[count++] = w->kkt[f];
            worst = fmax(worst, w->kkt[f]);
        }
    if (count == 0 || worst - 1.0 <= vtol) return 0;
    if (count > most) {
        /* level: the smallest value that still enters; spare: how many of the
         * features exactly there may. */
        rPsort(w->key, count, count - most);
        level = w->key[count - most];
        spare = most;
        for (int k = count - most; k < count; k++)
            if (w->key[k] > level) spare--;
    }
    for (int f = 0; f < w->p; f++)
        if (!is_in(w, f) && (w->kkt[f] > level || (w->kkt[f] == level && spare-- > 0)))
            w->fresh[chosen++] = f;
    read_ahead(w, chosen);
    for (int k = 0; k < chosen; k++) enter(w, w->fresh[k]);
    return w->m - m;
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
        ufs_copy(w->vw + la_gl_place(w, i), w->vw + la_gl_place(w, w->m), (size_t) w->c);
    }
}

void la_gl_prune(la_gl *w, double level)
{
    for (int i = w->m - 1; i >= 0; i--)
        if (w->size[i] == 0.0 && w->kkt[w->set[i]] <= level && !la_gl_is_free(w, w->set[i]))
            leave(w, i);
}

const double *la_gl_weighted_residual(la_gl *w)
{
    if (w->root == NULL) return w->r;
    la_scale_rows(w->n, w->c, w->root, w->r, w->scaled);
    return w->scaled;
}

bool la_gl_step(la_gl *w, double lambda)
{
    int m = w->m, c = w->c;
    double fall = 0.0, reach = 0.0;

    for (int i = 0; i < m; i++) {
        double ss = 0.0, dd = 0.0, *v = w->vw + la_gl_place(w, i), *d = w->step + la_gl_place(w, i);
        for (int k = 0; k < c && w->size[i] > 0.0; k++) {
            size_t at = (size_t) i + (size_t) k * (size_t) m;
            fall += d[k] * (2.0 * w->grad[at] + w->moved[at]);
            ss += (v[k] + d[k]) * (v[k] + d[k]);
            dd += d[k] * d[k];
        }
        w->key[i] = sqrt(ss);
        fall -= lambda * la_gl_factor(w, w->set[i]) * (w->key[i] - w->size[i]);
        reach += sqrt(dd * w->ss[w->set[i]]);
    }
    /* |G_ij| <= ||x_i|| ||x_j||, so moved is known to eps times this reach. Where X_W is rank-deficient
     * a Newton step may go so far that what it seems to gain is rounding. */
    if (!(fall > DBL_EPSILON * reach * reach)) return false;
    for (int i = 0; i < m; i++) {
        if (w->size[i] == 0.0) continue;
        la_axpy(c, 1.0, w->step + la_gl_place(w, i), w->vw + la_gl_place(w, i));
        w->size[i] = w->key[i];
    }
    for (size_t at = 0; at < (size_t) m * (size_t) c; at++) w->grad[at] += w->moved[at];
    return true;
}
