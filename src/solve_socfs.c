/* solve_socfs.c: see solve_socfs.h for the problem, the solvers and their cost. */
#include "solve_socfs.h"

/* Sweep tolerances of the V-step, D2: first, tied to the change of E, last. A full
 * V-step every FULL_EVERY iterations. */
#define VTOL_FIRST 1e-4
#define VTOL_SHARE 0.1
#define VTOL_MIN 1e-8
#define VTOL_MAX 1e-3
#define VTOL_LAST 1e-7
#define GAP_LAST 1e-8
#define PRUNE 0.9
enum { FULL_EVERY = 10 };

typedef struct {
    const socfs_problem *problem;
    double lambda;           /* of the stage */
    la_gl gl;
    la_ridge ridge;          /* irls only */
    la_polar_work polar;
    double *v, *e, *f;       /* the caller's */
    double *xv;              /* n x c: X V */
    double *a;               /* n x c: scratch */
    double *e_new, *e_mix;   /* n x c */
    double *v_mix;           /* p x c */
    double *g, *norm;        /* p */
    int memory, kept;        /* history of the extrapolation */
    double *e_past, *d_past; /* (memory + 1) of n x c, newest last */
    double reach;            /* length of the next forward step, in changes of E */
    bool warm;               /* v is the V-step of an exact stage */
    int iterations;          /* over all stages, for the hook */
    ufs_trace *trace;
    const ufs_hook *hook;
    socfs_info *info;
} socfs_work;

/* setup and report */
static void init_work(socfs_work *w, const socfs_problem *pr, const socfs_settings *set);
static void record(socfs_work *w, const socfs_stage *s, double objective, double change,
                   int inner);
static void amend(socfs_work *w, const socfs_stage *s, double objective);
/* solver = "exact" */
static void run_exact(socfs_work *w, const socfs_stage *s);
static void v_step(socfs_work *w, const double *e, double *v, double vtol, bool full);
static double exact_objective(const socfs_work *w, const double *e);
static void remember(socfs_work *w, const double *e_new);
static bool extrapolate(socfs_work *w, bool *forward);
static bool anderson_point(socfs_work *w);
static void finish(socfs_work *w);
/* solver = "irls" */
static void run_irls(socfs_work *w, const socfs_stage *s, bool first);
static void ridge_step(socfs_work *w, const double *g);
static double smooth_objective(socfs_work *w);
static int irls_live(const socfs_work *w);
/* both */
static int orthogonal_steps(socfs_work *w, const socfs_stage *s, double *e, double *f);
static void positive_part(size_t len, const double *e, double *f);
static double negative_ss(size_t len, const double *e);

static size_t size_e(const socfs_work *w)
{
    return (size_t) w->problem->n * (size_t) w->problem->c;
}

void socfs_solve(const socfs_problem *problem, const socfs_settings *settings,
                 const ufs_hook *hook, double *v, double *e, double *f, double *kkt,
                 ufs_trace *trace, socfs_info *info)
{
    size_t P = (size_t) problem->p, len = (size_t) problem->n * (size_t) problem->c;
    bool smooth = !settings->stage[settings->n_stage - 1].exact;
    socfs_work w = {.v = v, .e = e, .f = f, .trace = trace, .hook = hook, .info = info};

    memset(info, 0, sizeof *info);
    init_work(&w, problem, settings);
    memset(v, 0, P * (size_t) problem->c * sizeof(double));
    ufs_copy(e, problem->e0, len);
    if (problem->f0 != NULL) ufs_copy(f, problem->f0, len);
    else positive_part(len, e, f);

    for (int k = 0; k < settings->n_stage && info->info == 0; k++) {
        const socfs_stage *s = settings->stage + k;
        w.lambda = s->lambda;
        if (s->exact) run_exact(&w, s);
        else run_irls(&w, s, k == 0);
    }
    if (smooth && info->info == 0) la_gl_certify(&w.gl, e, w.lambda, v);
    info->gap = w.gl.objective > 0.0 ? w.gl.gap / w.gl.objective : 0.0;
    info->violation = la_gl_violation(&w.gl, w.lambda, smooth ? problem->eps : 0.0, v);
    info->products = w.gl.products;
    info->sweeps = w.gl.sweeps;
    info->columns = w.gl.columns;
    ufs_copy(kkt, w.gl.kkt, P);
}

static void init_work(socfs_work *w, const socfs_problem *pr, const socfs_settings *set)
{
    size_t N = (size_t) pr->n, P = (size_t) pr->p, C = (size_t) pr->c;
    size_t keep = (size_t) set->memory + 1;
    bool irls = false;

    for (int k = 0; k < set->n_stage; k++) irls = irls || !set->stage[k].exact;
    w->problem = pr;
    w->memory = set->memory;
    la_gl_init(&w->gl, pr->n, pr->p, pr->c, pr->x);
    la_polar_init(&w->polar, pr->n, pr->c);
    if (irls) la_ridge_init(&w->ridge, pr->n, pr->p, pr->c, pr->x, 'a');
    w->xv = ufs_dalloc(N, C);
    w->a = ufs_dalloc(N, C);
    w->e_new = ufs_dalloc(N, C);
    w->e_mix = ufs_dalloc(N, C);
    w->v_mix = ufs_dalloc(P, C);
    w->g = ufs_dalloc(P, 1);
    w->norm = ufs_dalloc(P, 1);
    w->e_past = ufs_dalloc(N * C, keep);
    w->d_past = ufs_dalloc(N * C, keep);
}

static void record(socfs_work *w, const socfs_stage *s, double objective, double change,
                   int inner)
{
    double live = s->exact ? w->gl.live : irls_live(w);
    double row[SOCFS_TRACE_COLS] = {(double) w->info->iterations, objective, change,
                                    (double) inner, live, s->exact ? 1.0 : 0.0};
    w->info->objective = objective;
    if (s->lambda == w->problem->lambda) ufs_trace_add(w->trace, row);
}

/* The last V-step lowers the objective of the last row a little more. */
static void amend(socfs_work *w, const socfs_stage *s, double objective)
{
    w->info->objective = objective;
    if (s->lambda != w->problem->lambda || w->trace->length == 0) return;
    w->trace->value[w->trace->capacity + w->trace->length - 1] = objective;
}

/* ---- exact alternation --------------------------------------------------------------- */

static void run_exact(socfs_work *w, const socfs_stage *s)
{
    size_t len = size_e(w), len_v = (size_t) w->problem->p * (size_t) w->problem->c;
    double c = w->problem->c, j, change;
    bool traced = s->lambda == w->problem->lambda;

    /* V is determined by E, so what irls left in V is not a start: its rows are never
     * zero and would all enter the working set. */
    if (!w->warm) memset(w->v, 0, len_v * sizeof(double));
    v_step(w, w->e, w->v, w->iterations > 0 ? VTOL_LAST : VTOL_FIRST, true);
    w->warm = true;
    w->kept = 0;
    w->reach = 1.0;
    j = exact_objective(w, w->e);
    if (w->trace->length == 0) record(w, s, j, R_NaN, 0);
    w->info->status = UFS_MAX_ITER;

    for (int t = 1; t <= s->max_iter; t++) {
        bool full = t % FULL_EVERY == 0, accepted = false, forward;
        double j_old = j, move, vtol, j_new;
        int inner;

        ufs_copy(w->e_new, w->e, len);
        positive_part(len, w->e_new, w->f);
        inner = orthogonal_steps(w, s, w->e_new, w->f);
        if (w->info->info) return;
        move = sqrt(la_ss_diff(len, w->e_new, w->e) / c);
        vtol = fmin(fmax(VTOL_SHARE * move, VTOL_MIN), VTOL_MAX);
        remember(w, w->e_new);
        if (extrapolate(w, &forward)) {
            /* J(V, E_new) is what the extrapolated pair has to beat. */
            double bar = la_ss_diff(len, w->xv, w->e_new) + w->lambda * w->gl.l21 +
                w->problem->gamma * negative_ss(len, w->e_new);
            ufs_copy(w->v_mix, w->v, len_v);
            v_step(w, w->e_mix, w->v_mix, vtol, full);
            j_new = exact_objective(w, w->e_mix);
            accepted = j_new <= bar;
            if (accepted) {
                ufs_copy(w->v, w->v_mix, len_v);
                ufs_copy(w->e, w->e_mix, len);
                j = j_new;
            } else {
                /* Forget all but the last pair. */
                ufs_copy(w->e_past, w->e_past + (size_t) (w->kept - 1) * len, len);
                ufs_copy(w->d_past, w->d_past + (size_t) (w->kept - 1) * len, len);
                w->kept = 1;
            }
            if (forward) w->reach = accepted ? 2.0 * w->reach : 1.0;
        }
        if (!accepted) {
            ufs_copy(w->e, w->e_new, len);
            v_step(w, w->e, w->v, vtol, full);
            j = exact_objective(w, w->e);
        }
        if (s->tol >= 0.0 && j_old - j <= s->tol * j) {
            double before = j;
            v_step(w, w->e, w->v, VTOL_LAST, true);
            j = exact_objective(w, w->e);
            if (before - j <= s->tol * j && j_old - j <= 2.0 * s->tol * j)
                w->info->status = UFS_CONVERGED;
        }
        change = j > 0.0 ? (j_old - j) / j : 0.0;
        w->iterations++;
        if (traced) w->info->iterations++;
        record(w, s, j, change, inner);
        ufs_hook_step(w->hook, w->iterations, j, change);
        if (!R_FINITE(j)) {
            w->info->status = UFS_DIVERGED;
            break;
        }
        if (w->info->status == UFS_CONVERGED) break;
    }
    finish(w);
    amend(w, s, exact_objective(w, w->e));
}

/* V = argmin at fixed E, warm from v; xv follows. */
static void v_step(socfs_work *w, const double *e, double *v, double vtol, bool full)
{
    w->info->info = la_gl_solve(&w->gl, e, w->lambda, vtol, full, PRUNE, v);
    ufs_copy(w->xv, w->gl.xv, size_e(w));
}

/* J at the E and V of the last v_step. */
static double exact_objective(const socfs_work *w, const double *e)
{
    return w->gl.objective + w->problem->gamma * negative_ss(size_e(w), e);
}

/* The V-step at the final E, until its duality gap is closed; F belongs to E. */
static void finish(socfs_work *w)
{
    double vtol = VTOL_LAST;
    for (int k = 0; k < 4; k++, vtol /= 10.0) {
        v_step(w, w->e, w->v, vtol, true);
        if (!(w->gl.gap > GAP_LAST * w->gl.objective)) break;
    }
    positive_part(size_e(w), w->e, w->f);
}

/* Appends (E_new, E_new - E) to the history. */
static void remember(socfs_work *w, const double *e_new)
{
    size_t len = size_e(w), rest = (size_t) w->memory * len;
    double *d;

    if (w->kept > w->memory) {
        memmove(w->e_past, w->e_past + len, rest * sizeof(double));
        memmove(w->d_past, w->d_past + len, rest * sizeof(double));
        w->kept--;
    }
    ufs_copy(w->e_past + (size_t) w->kept * len, e_new, len);
    d = w->d_past + (size_t) w->kept * len;
    for (size_t i = 0; i < len; i++) d[i] = e_new[i] - w->e[i];
    w->kept++;
}

/* e_mix: a guess at where the changes of E lead, to be taken only on descent. While
 * they shrink, Anderson's point. While they grow E leaves a saddle, to which Anderson's
 * point would lead back: a step forward along the last change, twice as far after
 * every success. False if there is too little history. */
static bool extrapolate(socfs_work *w, bool *forward)
{
    size_t len = size_e(w);
    int m = w->kept - 1;
    const double *d = w->d_past + (size_t) (m > 0 ? m : 0) * len;

    *forward = false;
    if (m < 1) return false;
    *forward = la_ss(len, d) > la_ss(len, d - len);
    if (*forward) {
        const double *e = w->e_past + (size_t) m * len;
        for (size_t k = 0; k < len; k++) w->a[k] = e[k] + w->reach * d[k];
    } else if (!anderson_point(w)) {
        return false;
    }
    return la_polar(&w->polar, w->a, w->e_new, w->e_mix) == 0;
}

/* With f the changes of E: theta = argmin ||f_t - dF theta||^2, a = E_t - dE theta. */
static bool anderson_point(socfs_work *w)
{
    size_t len = size_e(w);
    int m = w->kept - 1;
    const double *d_last = w->d_past + (size_t) m * len;
    double h[SOCFS_MEMORY * SOCFS_MEMORY], theta[SOCFS_MEMORY], trace = 0.0;

    for (int i = 0; i < m; i++) {
        const double *di = w->d_past + (size_t) i * len;
        theta[i] = 0.0;
        for (size_t k = 0; k < len; k++) theta[i] += (di[k + len] - di[k]) * d_last[k];
        for (int j = 0; j <= i; j++) {
            const double *dj = w->d_past + (size_t) j * len;
            double dot = 0.0;
            for (size_t k = 0; k < len; k++)
                dot += (di[k + len] - di[k]) * (dj[k + len] - dj[k]);
            h[i + j * m] = h[j + i * m] = dot;
        }
        trace += h[i + i * m];
    }
    if (!(trace > 0.0)) return false;
    for (int i = 0; i < m; i++) h[i + i * m] += 1e-10 * trace;
    if (la_chol(m, h)) return false;
    la_chol_solve(m, 1, h, theta);
    ufs_copy(w->a, w->e_past + (size_t) m * len, len);
    for (int i = 0; i < m; i++) {
        const double *ei = w->e_past + (size_t) i * len;
        for (size_t k = 0; k < len; k++) w->a[k] -= theta[i] * (ei[k + len] - ei[k]);
    }
    return true;
}

/* ---- reweighted least squares ---------------------------------------------------------- */

static void run_irls(socfs_work *w, const socfs_stage *s, bool first)
{
    const socfs_problem *pr = w->problem;
    int p = pr->p;
    bool given = first && pr->v0 != NULL;
    double j, change;

    if (given) {
        ufs_copy(w->v, pr->v0, (size_t) p * (size_t) pr->c);
        la_gemm('N', 'N', pr->n, pr->c, p, 1.0, pr->x, pr->n, w->v, p, 0.0, w->xv, pr->n);
    } else {
        double top = 0.0;
        for (int i = 0; i < p; i++) top = fmax(top, w->gl.ss[i]);
        for (int i = 0; i < p; i++) w->g[i] = 1.0 / sqrt(top);
        ridge_step(w, first && pr->g0 != NULL ? pr->g0 : w->g);
        if (w->info->info) return;
    }
    w->warm = false;
    j = smooth_objective(w);
    if (w->trace->length == 0) record(w, s, j, R_NaN, 0);
    w->info->status = UFS_MAX_ITER;

    for (int t = 1; t <= s->max_iter; t++) {
        bool first_g = t == 1 && given && pr->g0 != NULL;
        double j_old = j;
        int inner = orthogonal_steps(w, s, w->e, w->f);

        if (w->info->info) return;
        la_row_norms(p, pr->c, w->v, w->norm);
        la_irls_g(p, w->norm, pr->eps, w->g);
        ridge_step(w, first_g ? pr->g0 : w->g);
        if (w->info->info) return;
        j = smooth_objective(w);
        change = j > 0.0 ? (j_old - j) / j : 0.0;
        w->iterations++;
        w->info->iterations++;
        record(w, s, j, change, inner);
        ufs_hook_step(w->hook, w->iterations, j, change);
        if (!R_FINITE(j)) {
            w->info->status = UFS_DIVERGED;
            break;
        }
        /* With a given g the first step need not descend. */
        if (s->tol >= 0.0 && !first_g && j_old - j <= s->tol * j) {
            w->info->status = UFS_CONVERGED;
            break;
        }
    }
}

/* V = argmin ||X V - E||^2 + lambda sum ||v_i||^2/g_i, and xv. */
static void ridge_step(socfs_work *w, const double *g)
{
    const socfs_problem *pr = w->problem;
    w->info->info = la_ridge_solve(&w->ridge, w->e, g, w->lambda, w->v);
    la_gemm('N', 'N', pr->n, pr->c, pr->p, 1.0, pr->x, pr->n, w->v, pr->p, 0.0, w->xv, pr->n);
}

static double smooth_objective(socfs_work *w)
{
    const socfs_problem *pr = w->problem;
    size_t len = size_e(w);
    la_row_norms(pr->p, pr->c, w->v, w->norm);
    return la_ss_diff(len, w->xv, w->e) + w->lambda * la_l21(pr->p, w->norm, pr->eps) +
        pr->gamma * la_ss_diff(len, w->f, w->e);
}

/* Rows that irls has not driven to the level of its smoothing; norm is that of V. */
static int irls_live(const socfs_work *w)
{
    int count = 0;
    for (int i = 0; i < w->problem->p; i++)
        count += w->norm[i] > 10.0 * sqrt(w->problem->eps);
    return count;
}

/* ---- shared ------------------------------------------------------------------------------ */

/* E = polar(XV + gamma F), F = max(E, 0), in turn: neither raises
 * j = ||XV - E||^2 + gamma ||F - E||^2. Returns the number of steps. */
static int orthogonal_steps(socfs_work *w, const socfs_stage *s, double *e, double *f)
{
    double gamma = w->problem->gamma;
    size_t len = size_e(w);
    double j = la_ss_diff(len, w->xv, e) + gamma * la_ss_diff(len, f, e);
    int step = 0;

    while (step < s->inner_max_iter) {
        double j_old = j;
        for (size_t i = 0; i < len; i++) w->a[i] = w->xv[i] + gamma * f[i];
        w->info->info = la_polar(&w->polar, w->a, e, e);
        if (w->info->info) return step;
        positive_part(len, e, f);
        j = la_ss_diff(len, w->xv, e) + gamma * la_ss_diff(len, f, e);
        step++;
        if (s->inner_tol >= 0.0 && j_old - j <= s->inner_tol * j) break;
    }
    return step;
}

static void positive_part(size_t len, const double *e, double *f)
{
    for (size_t i = 0; i < len; i++) f[i] = e[i] > 0.0 ? e[i] : 0.0;
}

static double negative_ss(size_t len, const double *e)
{
    double ss = 0.0;
    for (size_t i = 0; i < len; i++)
        if (e[i] < 0.0) ss += e[i] * e[i];
    return ss;
}
