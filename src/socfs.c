/* socfs.c: see socfs.h for the problem, the solvers and their cost. */
#include "socfs.h"

/* Sweep tolerances of the V-step: a share of the change of E, within limits; the first, which no
 * change is known for, and the last, as that of the gap. Coarser or finer ones take a third more
 * iterations (images, speech). */
static const double VTOL_SHARE = 0.1, VTOL_LEAST = 1e-8, VTOL_MOST = 1e-3, VTOL_FIRST = 1e-4,
                    VTOL_LAST = 1e-7;

typedef struct {
    const socfs_problem *problem;
    double lambda; /* of the stage */
    gl_work gl;
    ridge_work ridge; /* irls only */
    la_polar_work polar;
    double *v, *e, *f;          /* the caller's */
    double *xv;                 /* n x c: X V, in gl_work */
    double *a;                  /* n x c: scratch */
    double *e_new, *e_mix;      /* n x c */
    double *v_mix;              /* p x c */
    double *g, *norm;           /* p */
    anderson history;           /* of E -> E_new */
    double moved, moved_before; /* squared lengths of the last two changes of E */
    double reach;               /* length of the next forward step, in changes of E */
    bool warm;                  /* v is the V-step of an exact stage */
    int iterations;             /* over all stages, for the hook */
    socfs_result *result;
    ufs_run *run;
} socfs_work;

/* ---- setup and report ------------------------------------------------------------------------ */

/* One row for the start and one per iteration of the traced stages; and one per step of
 * E and F. */
static void init_traces(const socfs_problem *problem, const socfs_settings *settings,
                        socfs_result *result, ufs_run *run)
{
    static const char *const columns[] = {"iteration", "objective", "change", "inner",
                                          "live",      "exact",     NULL};
    static const char *const steps[] = {"iteration", "step", "objective", NULL};
    double rows = 1.0, most = 1.0;

    for (int k = 0; k < settings->n_stage; k++) {
        const socfs_stage *s = settings->stage + k;
        if (s->lambda != problem->lambda) continue;
        rows += s->max_iter;
        most += (double) s->max_iter * (s->inner_max_iter + 1.0);
    }
    ufs_trace_named(&run->trace, (int) fmin(rows, INT_MAX), columns);
    ufs_trace_named(&result->inner, (int) fmin(most, INT_MAX), steps);
}

static void init_work(socfs_work *work, const socfs_problem *problem,
                      const socfs_settings *settings)
{
    size_t N = (size_t) problem->n, P = (size_t) problem->p, C = (size_t) problem->c;
    bool irls = false;

    for (int k = 0; k < settings->n_stage; k++) irls = irls || !settings->stage[k].exact;
    work->problem = problem;
    gl_init(&work->gl, problem->c, problem->x, LA_GL_SLOTS);
    gl_set_penalty(&work->gl, problem->factor, &(gl_copies){NULL, NULL});
    la_polar_init(&work->polar, problem->n, problem->c);
    if (irls) ridge_init(&work->ridge, problem->c, problem->x, 'a');
    work->xv = work->gl.xv;
    ufs_dalloc_each(N, C, (double **[]){&work->a, &work->e_new, &work->e_mix, NULL});
    work->v_mix = ufs_dalloc(P, C);
    ufs_dalloc_each(P, 1, (double **[]){&work->g, &work->norm, NULL});
    anderson_init(&work->history, problem->n * problem->c, settings->memory);
}

static void record(socfs_work *work, const socfs_stage *s, double objective, double change,
                   int inner)
{
    double nonzero = s->exact ? work->gl.nonzero : 0.0;

    /* Rows that irls has not driven to the level of its smoothing; `norm` holds those of V. */
    for (int i = 0; i < work->problem->p && !s->exact; i++)
        nonzero += work->norm[i] > 10.0 * sqrt(work->problem->eps);
    work->result->objective = objective;
    if (s->lambda != work->problem->lambda) return;
    ufs_trace_add(&work->run->trace, (double[]){(double) work->run->iterations, objective, change,
                                                (double) inner, nonzero, s->exact ? 1.0 : 0.0});
}

static size_t size_e(const socfs_work *work)
{
    return (size_t) work->problem->n * (size_t) work->problem->c;
}

static void positive_part(size_t len, const double *e, double *f)
{
    for (size_t i = 0; i < len; i++) f[i] = e[i] > 0.0 ? e[i] : 0.0;
}

/* E = polar(XV + gamma F), F = max(E, 0), in turn: neither raises
 * j = ||XV - E||^2 + gamma ||F - E||^2. Returns the number of steps. */
static int orthogonal_steps(socfs_work *work, const socfs_stage *s, double *e, double *f)
{
    bool traced = s->lambda == work->problem->lambda;
    double iteration = work->run->iterations + 1.0, gamma = work->problem->gamma;
    size_t len = size_e(work);
    double j = la_ss_diff(len, work->xv, e) + gamma * la_ss_diff(len, f, e);
    int step = 0;

    if (traced) ufs_trace_add(&work->result->inner, (double[]){iteration, 0.0, j});
    while (step < s->inner_max_iter) {
        double j_old = j;
        for (size_t i = 0; i < len; i++) work->a[i] = work->xv[i] + gamma * f[i];
        work->run->lapack = la_polar(&work->polar, work->a, e, e);
        if (work->run->lapack) return step;
        positive_part(len, e, f);
        j = la_ss_diff(len, work->xv, e) + gamma * la_ss_diff(len, f, e);
        step++;
        if (traced) ufs_trace_add(&work->result->inner, (double[]){iteration, step, j});
        if (s->inner_tol >= 0.0 && j_old - j <= s->inner_tol * j) break;
    }
    return step;
}

/* Counts and reports an iteration. Returns false, which ends the run, if it diverged. */
static bool step_done(socfs_work *work, const socfs_stage *s, double j_old, double j, int inner)
{
    double change = j > 0.0 ? (j_old - j) / j : 0.0;

    work->iterations++;
    if (s->lambda == work->problem->lambda) work->run->iterations++;
    record(work, s, j, change, inner);
    ufs_hook_step(&work->run->hook, work->iterations, j, change);
    if (!R_FINITE(j)) work->run->status = UFS_DIVERGED;
    return R_FINITE(j);
}

static double negative_ss(size_t len, const double *e)
{
    double ss = 0.0;
    for (size_t i = 0; i < len; i++)
        if (e[i] < 0.0) ss += e[i] * e[i];
    return ss;
}

/* ---- exact alternation ----------------------------------------------------------------------- */

/* Minimises over V for this E, from the last V; leaves XV in xv. */
static void v_step(socfs_work *work, const double *e, double *v, double vtol, bool full)
{
    gl_solve(&work->gl, e, work->lambda, vtol, full, 0.9, v);
}

/* The objective J at E and V of the last v_step(). */
static double exact_objective(const socfs_work *work, const double *e)
{
    return work->gl.objective + work->problem->gamma * negative_ss(size_e(work), e);
}

/* e_mix: a guess at where the changes of E lead, to be taken only on descent. While
 * they shrink, Anderson's point. While they grow E leaves a saddle, to which Anderson's
 * point would lead back: a step forward along the last change, twice as far after
 * every success. False if there is too little history. */
static bool extrapolate(socfs_work *work, bool *forward)
{
    size_t len = size_e(work);

    *forward = false;
    if (work->history.count == 0) return false;
    *forward = work->moved > work->moved_before;
    if (*forward)
        for (size_t k = 0; k < len; k++)
            work->a[k] = work->e_new[k] + work->reach * (work->e_new[k] - work->e[k]);
    else if (!anderson_mix(&work->history, NULL, work->a))
        return false;
    return la_polar(&work->polar, work->a, work->e_new, work->e_mix) == 0;
}

/* V and E extrapolated, if that is worth trying; true, and the objective in j, if they are kept. */
static bool leap(socfs_work *work, double vtol, bool full, double *j)
{
    size_t len = size_e(work), len_v = (size_t) work->problem->p * (size_t) work->problem->c;
    bool forward, accepted;
    double bar, j_new;

    if (!extrapolate(work, &forward)) return false;
    /* J(V, E_new) is what the extrapolated pair has to beat. */
    bar = la_ss_diff(len, work->xv, work->e_new) + work->lambda * work->gl.l21 +
          work->problem->gamma * negative_ss(len, work->e_new);
    ufs_copy(work->v_mix, work->v, len_v);
    v_step(work, work->e_mix, work->v_mix, vtol, full);
    j_new = exact_objective(work, work->e_mix);
    accepted = j_new <= bar;
    if (accepted) {
        ufs_copy(work->v, work->v_mix, len_v);
        ufs_copy(work->e, work->e_mix, len);
        *j = j_new;
    } else
        anderson_keep_last(&work->history);
    if (forward) work->reach = accepted ? 2.0 * work->reach : 1.0;
    return accepted;
}

/* The V-step at the final E, until its duality gap is closed; F belongs to E. */
static void finish(socfs_work *work)
{
    double vtol = VTOL_LAST;
    for (int k = 0; k < 4; k++, vtol /= 10.0) {
        v_step(work, work->e, work->v, vtol, true);
        if (!(work->gl.gap > VTOL_LEAST * work->gl.objective)) break;
    }
    positive_part(size_e(work), work->e, work->f);
}

static void run_exact(socfs_work *work, const socfs_stage *s)
{
    ufs_trace *trace = &work->run->trace;
    size_t len = size_e(work), len_v = (size_t) work->problem->p * (size_t) work->problem->c;
    double c = work->problem->c, j;

    /* V is determined by E, so what irls left in V is not a start: its rows are never
     * zero and would all enter the working set. */
    if (!work->warm) memset(work->v, 0, len_v * sizeof(double));
    v_step(work, work->e, work->v, work->iterations > 0 ? VTOL_LAST : VTOL_FIRST, true);
    work->warm = true;
    anderson_reset(&work->history);
    work->moved = R_PosInf;
    work->reach = 1.0;
    j = exact_objective(work, work->e);
    if (work->run->trace.length == 0) record(work, s, j, R_NaN, 0);
    work->run->status = UFS_MAX_ITER;

    for (int t = 0; t < s->max_iter; t++) {
        bool full = t % LA_GL_PRICE == LA_GL_PRICE - 1, accepted;
        double j_old = j, move, vtol;
        int inner;

        ufs_copy(work->e_new, work->e, len);
        positive_part(len, work->e_new, work->f);
        inner = orthogonal_steps(work, s, work->e_new, work->f);
        if (work->run->lapack) return;
        move = sqrt(la_ss_diff(len, work->e_new, work->e) / c);
        vtol = fmin(fmax(VTOL_SHARE * move, VTOL_LEAST), VTOL_MOST);
        anderson_push(&work->history, work->e, work->e_new);
        work->moved_before = work->moved;
        work->moved = move * move;
        accepted = leap(work, vtol, full, &j);
        if (!accepted) {
            ufs_copy(work->e, work->e_new, len);
            v_step(work, work->e, work->v, vtol, full);
            j = exact_objective(work, work->e);
        }
        if (s->tol >= 0.0 && j_old - j <= s->tol * j) {
            double before = j;
            v_step(work, work->e, work->v, VTOL_LAST, true);
            j = exact_objective(work, work->e);
            if (before - j <= s->tol * j && j_old - j <= 2.0 * s->tol * j)
                work->run->status = UFS_CONVERGED;
        }
        if (!step_done(work, s, j_old, j, inner) || work->run->status == UFS_CONVERGED) break;
    }
    finish(work);
    /* The last V-step has lowered the objective of the last row a little more. */
    work->result->objective = exact_objective(work, work->e);
    if (s->lambda != work->problem->lambda || trace->length == 0) return;
    trace->value[trace->capacity + trace->length - 1] = work->result->objective;
}

/* ---- reweighted least squares ---------------------------------------------------------------- */

/* V = argmin ||X V - E||^2 + lambda sum ||v_i||^2/g_i, and xv. */
static void ridge_step(socfs_work *work, const double *g)
{
    work->run->lapack = ridge_solve(&work->ridge, work->e, g, work->lambda, work->v);
    ufs_x_mul(work->problem->x, work->problem->c, work->v, work->xv);
}

static double smooth_objective(socfs_work *work)
{
    const socfs_problem *problem = work->problem;
    size_t len = size_e(work);
    la_row_norms(problem->p, problem->c, work->v, work->norm);
    return la_ss_diff(len, work->xv, work->e) +
           work->lambda * la_l21(problem->p, work->norm, problem->eps) +
           problem->gamma * la_ss_diff(len, work->f, work->e);
}

static void run_irls(socfs_work *work, const socfs_stage *s, bool first)
{
    const socfs_problem *problem = work->problem;
    int p = problem->p;
    bool given = first && problem->v0 != NULL;
    double j;

    if (given) {
        ufs_copy(work->v, problem->v0, (size_t) p * (size_t) problem->c);
        ufs_x_mul(problem->x, problem->c, work->v, work->xv);
    } else {
        double top = 0.0;
        for (int i = 0; i < p; i++) top = fmax(top, work->gl.ss[i]);
        for (int i = 0; i < p; i++) work->g[i] = 1.0 / sqrt(top);
        ridge_step(work, first && problem->g0 != NULL ? problem->g0 : work->g);
        if (work->run->lapack) return;
    }
    work->warm = false;
    j = smooth_objective(work);
    if (work->run->trace.length == 0) record(work, s, j, R_NaN, 0);
    work->run->status = UFS_MAX_ITER;

    for (int t = 0; t < s->max_iter; t++) {
        bool first_g = t == 0 && given && problem->g0 != NULL;
        double j_old = j;
        int inner = orthogonal_steps(work, s, work->e, work->f);

        if (work->run->lapack) return;
        la_row_norms(p, problem->c, work->v, work->norm);
        la_irls_g(p, work->norm, problem->eps, work->g);
        ridge_step(work, first_g ? problem->g0 : work->g);
        if (work->run->lapack) return;
        j = smooth_objective(work);
        if (!step_done(work, s, j_old, j, inner)) break;
        /* With a given g the first step need not descend. */
        if (s->tol >= 0.0 && !first_g && j_old - j <= s->tol * j) {
            work->run->status = UFS_CONVERGED;
            break;
        }
    }
}

/* ---- the whole --------------------------------------------------------------------------- */

void socfs_solve(const socfs_problem *problem, const socfs_settings *settings, socfs_result *result,
                 ufs_run *run)
{
    size_t P = (size_t) problem->p, len = (size_t) problem->n * (size_t) problem->c;
    bool smooth = !settings->stage[settings->n_stage - 1].exact;
    socfs_work work = {
        .v = result->v, .e = result->e, .f = result->f, .result = result, .run = run};

    init_traces(problem, settings, result, run);
    init_work(&work, problem, settings);
    work.gl.newton = run->paths.gl_newton;
    ufs_copy(result->e, problem->e0, len);
    if (problem->f0 != NULL)
        ufs_copy(result->f, problem->f0, len);
    else
        positive_part(len, result->e, result->f);
    result->objective = result->gap = result->violation = R_NaN;
    result->products = result->sweeps = result->columns = 0.0;

    for (int k = 0; k < settings->n_stage; k++) {
        const socfs_stage *s = settings->stage + k;
        work.lambda = s->lambda;
        if (s->exact)
            run_exact(&work, s);
        else
            run_irls(&work, s, k == 0);
        if (run->lapack) return;
    }
    if (smooth) gl_certify(&work.gl, result->e, work.lambda, result->v);
    result->gap = work.gl.objective > 0.0 ? work.gl.gap / work.gl.objective : 0.0;
    result->violation = gl_violation(&work.gl, work.lambda, smooth ? problem->eps : 0.0, result->v);
    result->products = work.gl.products;
    result->sweeps = work.gl.sweeps;
    result->columns = work.gl.columns;
    ufs_copy(result->kkt, work.gl.kkt, P);
}
