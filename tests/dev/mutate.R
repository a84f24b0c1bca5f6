# Does a test notice when a line of the sources is wrong? Breaks one line at a time in a copy of
# the package, builds it, runs the test files that must fail, and prints caught or survived.
#
#   Rscript tests/dev/mutate.R             all mutants, two at a time (some 30 minutes)
#   Rscript tests/dev/mutate.R ndfs css    those whose file matches one of the words
#
#   Rscript tests/dev/mutate.R --rest      those that have no row in mutants.csv, or survived there
#   Rscript tests/dev/mutate.R --check     only whether every text of this table stands in its file
#
# MUTATE_CORES=1 runs one at a time. What came out is kept in tests/dev/mutants.csv, one row per mutant
# with the day of its last run; rows of mutants that left the table go.
#
# A mutant: a file, a piece of its text that occurs once, what to put there, and the test files
# (a regular expression, as `filter` of test_dir()) that must notice. A text that is gone, or occurs
# more than once, is an error of this table: mend it. A mutant that survives is a missing
# test, unless `why` says why no answer changes.

mutant <- function(file, from, to, tests, why = "") {
  data.frame(file, from, to, tests, why, stringsAsFactors = FALSE)
}

key_of <- function(d) paste(d$file, d$from, d$to, sep = "\r")

mutants <- rbind(
  # ---- the input pass and the protocol ----
  mutant("src/prepare.c", "found->css <= rounding * rounding * found->ss", "css <= 0.0", "input"),
  mutant("src/prepare.c", "if (top > safe_high ||", "if ((false && top > safe_high) ||", "input|baselines|units"),
  mutant("R/input.R", "rowSums(hash[-1L, , drop = FALSE] != hash[-nrow(hash), , drop = FALSE]) == 0", "rowSums(hash[-1L, , drop = FALSE] == hash[-nrow(hash), , drop = FALSE]) == 0", "input|socfs"),
  mutant("R/grid.R", "!any(c(\"center\", \"scale\") %in% varying)", "TRUE", "grid"),
  mutant("R/inffs.R", "[[\"damping\"]] * m / p", "[[\"damping\"]]", "inffs"),
  mutant("R/inffs.R", "mean_of(2L)) / 2 *", "mean_of(2L)) *", "inffs"),
  mutant("R/inffs.R", "(mean_of(1:2) + loop) / (1 - loop)", "mean_of(1:2)", "inffs"),
  mutant("R/inffs.R", "- t[at[mine]] * half[own[mine], ]", "", "inffs"),
  mutant("R/inffs.R", "counted[chosen, ] - (half > 0)", "counted[chosen, ]", "inffs"),
  mutant("R/grid.R", "!any(own$unless %in% varying)", "TRUE", "grid"),
  mutant("R/checkpoint.R", "identical(stored[[\"key\"]], key) &&", "", "checkpoint"),
  mutant("R/checkpoint.R", "!is_failure(value) &&", "", "checkpoint"),
  mutant("R/checkpoint.R", "!is.null(value) && is_plain(value) &&", "!is.null(value) &&", "checkpoint"),
  mutant("R/checkpoint.R", "identical(stored[[\"check\"]], hash_bytes(payload, key))", "TRUE", "checkpoint"),
  mutant("R/checkpoint.R", "if (is.null(read_part(part, key)))", "if (FALSE)", "checkpoint"),
  mutant("R/checkpoint.R", "if (run$other_seed) run$seed <- held$value", "", "checkpoint"),
  mutant("R/checkpoint.R", "list(run$seed, ...)", "list(...)", "checkpoint"),
  mutant("R/checkpoint.R", "as.double(file.mtime(files)), ", "", "checkpoint"),
  mutant("R/checkpoint.R", "hash_numbers(length(value), function(places) as.double(value[places]))", "length(value)", "checkpoint"),
  mutant("R/checkpoint.R", "if (is.null(why)) unlink(parts_of(folder, key))", "", "checkpoint"),
  mutant("R/grid.R", "stats::ave(seq_along(key), key, FUN = seq_along)", "1", "checkpoint"),
  mutant("src/ffi_turned.c", "from[i] < 1e15 &&", "from[i] < 1e8 &&", "turned"),
  mutant("R/tasks.R", "progressr::progressor(n, envir = envir)", "progressr::progressor(n)", "tasks"),
  mutant("R/checkpoint.R", "list(code, stats::setNames(found, free))", "list(code)", "checkpoint"),
  mutant("R/stability.R", "variance <- 4 / m^2 *", "variance <- 8 / m^2 *", "stability"),
  mutant("R/stability.R", "stability / 2 * (2 * size", "stability * (2 * size", "stability"),
  mutant("R/fit.R", "else order(score, -unname(key))", "else order(score, unname(key))", "fit"),
  mutant("R/compare-run.R", "best <- which.max(covered)", "best <- which.min(covered)", "compare"),
  mutant("R/criteria.R", "width[size[cluster] == 1L | !is.finite(width)] <- 0", "", "tune"),
  mutant("R/ufs.R", "if (!missing(m)) args[\"m\"] <- list(m)", "", "dots"),
  mutant("R/ufs.R", "!given %in% c(known, door_arguments)]", "is.na(pmatch(given, c(known, door_arguments)))]", "dots"),
  mutant("R/ufs.R", "check_lapack(run$lapack, method)", "", "fit|conditions|ufs"),
  mutant("R/fit.R", "&& !fine) fit$status <- \"numerical\"", "&& FALSE) NULL", "fit|units|contract"),
  mutant("R/fit.R", "order(-size)", "order(size)", "fit|kmeans_f"),
  mutant("R/input.R", "size > 1e150 | (", "(", "units|input|contract"),
  mutant("R/input.R", "named = !is.null(opened$features)", "named = TRUE", "input|methods|fit"),
  mutant("R/methods.R", "if (anyNA(at) && size == object$p) {", "if (FALSE) {", "methods"),
  mutant("R/methods.R", "if (turned) t(value) else value", "value", "fit"),
  mutant("R/data-missing.R", "x[gone, j] <- stats::median(x[!gone, j])", "x[gone, j] <- mean(x[!gone, j])", "data"),
  mutant("R/data-missing.R", "c(known, numeric(x@Dim[1L] - length(at)))", "known", "data"),
  mutant("R/data-missing.R", "mean(x[utils::head(from, neighbours), j])", "mean(x[from, j])", "data"),
  mutant("R/data-missing.R", "mean(missing$features > 0) <= mean(missing$samples > 0)", "TRUE", "data"),
  mutant("R/conditions.R", "if (bytes > limit) {", "if (FALSE) {", "grid|rrss"),
  mutant("R/metrics.R", "if (nrow(counts) > ncol(counts)) counts <- t(counts)", "", "metrics"),
  mutant("R/metrics.R", "scale <- sqrt(entropy(row) * entropy(col))", "scale <- (entropy(row) + entropy(col)) / 2", "metrics"),
  mutant("R/neighbours.R", "mean(a[, i] %in% b[, i])", "mean(a[, i] == b[, i])", "tune|diversify|compare"),
  mutant("R/classifiers.R", "if (length(out) != nrow(newx)) {", "if (FALSE) {", "compare|classifiers"),
  # ---- what is returned or printed ----
  mutant("R/data-missing.R", "2 * tcrossprod(z)) / common", "2 * tcrossprod(z))", "returned"),
  mutant("R/data-missing.R", "neighbours = 10L) {", "neighbours = 9L) {", "returned"),
  mutant("R/sketch.R", "1 / pmin(1, m * chance[index])", "pmin(1, m * chance[index])", "returned"),
  mutant("R/sketch.R", "1 / pmin(1, m * chance[index])", "1 / chance[index]", "returned"),
  mutant("R/sketch.R", "weights[at] * opened$n / sum(weights)", "weights * opened$n / sum(weights)", "returned"),
  mutant("R/criteria.R", "max(first, na.rm = TRUE) - .001", "max(first, na.rm = TRUE) - .1", "returned"),
  mutant("R/ted.R", "1 - objective[[m]] / (", "objective[[m]] / (", "returned"),
  mutant("R/ted.R", "(objective[[1L]] + x$trace$decrease[[1L]])", "(objective[[1L]])", "returned"),
  mutant("R/stability.R", "min(1, stability + half)", "stability + half", "returned"),
  mutant("R/compare-run.R", "z[, columns %in% scaled$constant] <- 0", "", "returned"),
  mutant("R/input.R", "min(data$n - center, length(data$keep))", "min(data$n + center, length(data$keep))", "returned"),
  mutant("R/graph.R", "graph$n_components - graph$n_isolated", "graph$n_components", "returned"),
  mutant("R/diversify.R", "if (x$params$how == \"correlation\") paste0", "if (x$params$how != \"correlation\") paste0", "printed"),
  mutant("R/methods.R", "utils::head(as.data.frame(object), 10L)", "utils::head(as.data.frame(object), 11L)", "printed"),
  mutant("R/compare-output.R", "lost <- tapply(part$missing,", "lost <- tapply(part$missing > 0,", "printed"),
  mutant("src/solve_topk_bound.c", "rPsort(g->u, n_free, wanted - 1)", "rPsort(g->u, n_free, wanted - 2)", "returned"),
  # ---- the operator ----
  mutant("src/prepare.c", "left += zeros * m * m;", "", "operator|kernel-x"),
  mutant("src/prepare.c", "found->mean = m + rest / n;", "found->mean = m;", "operator|kernel-x",
    why = "the mean is right to n roundings without it"),
  mutant("src/x_equal.c", "return sum + zeros * hash_value((0.0 - m) / s);", "return sum;", "operator|kernel-x"),
  mutant("src/x_equal.c", "sum += weight[x->row[e]] * hash_value(", "sum += hash_value(", "operator|kernel-x"),
  mutant("src/ffi_util.c", "if (!Rf_isReal(x) || (size_t) Rf_xlength(x) != length)", "if (!Rf_isReal(x))", "graph"),
  # ---- kernels ----
  mutant("src/kmeans.c", "if (join * d < saved) {", "if (d < saved) {", "kmeans"),
  mutant("src/kmeans.c", "w->moved[a] += high / w->size[a];", "", "kmeans"),
  mutant("src/kmeans.c", "return sqrt(ss);", "return ss;", "kmeans"),
  mutant("src/kmeans.c", "leave = sqrt((double) w->size[a] / (w->size[a] - 1.0));", "leave = 1.0;", "kmeans"),
  mutant("src/proj.c", "shift = (inner + ones - total) / interior;", "shift = (inner - total) / interior;", "kernel-la$|kernel-topk"),
  mutant("src/qp_simplex.c", "info->gap = fmax(tau - low, 0.0);", "info->gap = 0.0;", "kernel-qp"),
  mutant("src/qp_simplex.c", "if (info->rel > best) {", "if (false) {", "kernel-qp",
    why = "the last iterate is certified too: status and kkt stay true"),
  mutant("src/la_gl.c", "if (s * top > 1.0) s = 1.0 / top;", "", "kernel-la_gl|socfs"),
  mutant("src/la_gl.c", "off += d * d;", "off += d;", "kernel-la_gl"),
  mutant("src/la_gl_descent.c", "if (!(fall > DBL_EPSILON * reach * reach)) return false;", "", "kernel-la_gl|socfs|jspca"),
  mutant("src/la_gl_descent.c", "fall > DBL_EPSILON * reach * reach", "fall > 0.0", "jspca"),
  mutant("src/la_gl_set.c", "if (count == 0 || worst - 1.0 <= vtol) return 0;", "if (count == 0 || worst <= 2.0) return 0;",
    "kernel-la_gl|socfs"),
  mutant("src/anderson.c", "norm > 1e-10 * before ? norm : R_PosInf;", "norm;", "kernel"),
  mutant("src/graph_weights.c", "                    value *= 0.5;", "                    value *= 1.0;", "graph"),
  mutant("src/graph_knn.c", "return *reach < heap[0].key;", "return true;", "graph"),
  mutant("src/ffi_graph.c", "if (col[e] < 0 || col[e] >= n) return false;", "if (col[e] > n) return false;", "graph"),
  mutant("src/graph_knn.c", "if (x->key != y->key) return x->key < y->key ? -1 : 1;", "", "graph"),
  # ---- systems ----
  mutant("src/solve_socfs.c", "if (e[i] < 0.0) ss += e[i] * e[i];", "ss += e[i] * e[i];", "socfs"),
  mutant("src/jspca_canonical.c", "if (problem->first[i] != i) col[problem->first[i]] += col[i];", "", "jspca|objective"),
  mutant("src/jspca_canonical.c", "? col[i] / problem->copies[i] :", "? col[i] :", "jspca|objective"),
  mutant("src/jspca_sample.c", "most = fmax(most, weight[i] / v);", "most = least = 1.0;", "jspca"),
  mutant("src/jspca_sample.c", "weight[i] / (work->factor * root)", "weight[i] / root",
    "jspca"),
  mutant("src/solve_jspca.c", "if (settled && !work->confirms)", "if (settled)", "jspca"),
  mutant("src/solve_jspca.c", "if (!work->bold || now <= work->objective * (1.0 + 1e-13)) break;", "break;",
    "jspca"),
  mutant("src/jspca_leap.c", "ufs_copy(work->result->q, work->q_old, (size_t)", "(void) ((size_t)", "jspca"),
  mutant("src/solve_jspca.c", "if (problem->sample) vtol *= jspca_share_of_most(work);", "", "jspca"),
  mutant("src/solve_jspca.c", "if (full && !work->gl.settled) work->unsolved++;", "", "jspca"),
  mutant("src/jspca_leap.c", "work->result->change < NEAR", "true", "jspca",
    why = "which stationary point noise ends in: layouts.R and metamorphic.R see it, on some matrices"),
  mutant("src/jspca_canonical.c", "while (first < m && w[first] <= 1e-12 * w[m - 1]) first++;", "", "jspca"),
  mutant("src/la_gl_set.c", "w->root[i] * w->root[i] * xa[i]", "w->root[i] * xa[i]",
    "kernel-la_gl"),
  mutant("src/x_sparse.c", "        if (is_full(x, j)) {\n            x_sparse_column(x, j, column);",
    "        if (false) {\n            x_sparse_column(x, j, column);", "operator|kernel-x"),
  mutant("src/x_sparse.c", "rest -= w;", "", "kernel-la_gl"),
  mutant("src/x_sparse.c", "any = any || weight[k] != 0.0;", "any = weight[k] != 0.0;", "kernel-x"),
  mutant("src/x_sparse.c", "off[k] += ufs_x_shift(x, j) * weight[k];", "", "kernel-x"),
  mutant("src/x_ops.c", "x->kind == UFS_X_SOURCE && at.width < x->p)", "false)", "turned"),
  mutant("R/turned.R", "done <- isTRUE(file.size(path) == bytes)", "done <- FALSE", "turned"),
  mutant("R/turned.R", "(index[turn[first]] - 1) * lines", "index[turn[first]] * lines", "turned"),
  mutant("R/turned.R", "which(c(TRUE, diff(index[turn]) != 1))", "1L", "turned"),
  mutant("R/source-operator.R", "if (reads > 1 || op$store$reads > 0) turn_once(op)",
    "if (op$store$reads > 0) turn_once(op)", "turned"),
  mutant("R/source.R", "reg.finalizer(store, drop_turned, onexit = TRUE)", "", "turned"),
  mutant("R/ufs.R", "close_source(slots$data$x)", "", "turned"),
  mutant("R/mcfs.R", "rows <- x_center(rows)", "rows <- rows", "turned|mcfs"),
  mutant("src/alfs_space.c", "for (int j = 0; j < n; j++) space->index[j] = from + j;",
    "for (int j = 0; j < n; j++) space->index[j] = j;", "operator"),
  mutant("src/solve_jspca.c", "return problem->sample ? loss : loss + problem->dropped * sqrt(settings->eps_res);", "return loss;",
    "jspca|objective"),
  # ---- comparators of features ----
  mutant("src/base_ndfs.c", "if (settings->exact && run->iterations > 1 && !(value <= before * (1.0 + 1e-12)))", "if (false)", "ndfs"),
  mutant("src/base_ndfs.c", "up -= mf;", "up += mf;", "ndfs"),
  mutant("src/base_ndfs.c", "if (live) d -= half", "if (live) d += half", "ndfs"),
  mutant("src/base_sogfs.c", "more = c + 1 - held;", "more = c - held;", "sogfs"),
  mutant("src/base_sogfs.c", "total += den / 2.0;", "total += den;", "sogfs"),
  mutant("src/mm.c", "s->linear += price * *norm * dual;", "s->linear += *norm * dual;", "rsr|rrss"),
  mutant("src/mm.c", "over = fmax(over, out->dual[j]);", ";", "rsr"),
  mutant("src/mm.c", "if (s->convex) *norm = u * u * dual;", "if (s->convex) *norm = 2.0 * u * u * dual;", "rsr|rrss|alnr"),
  mutant("src/base_rsr.c", "s.out->dual[j] <= 1.0 ? 0.0 : first;", "s.out->dual[j] <= 1.0 ? 0.0 : 0.0 * first;", "rsr"),
  mutant("src/base_rsr.c", "return worst <= 1.0;", "return worst <= 1.2;", "rsr"),
  mutant("src/mm.c", "if (s->bold && !(s->merit <= s->best * (1.0 + UFS_ROUNDING))) {", "if (false) {", "rsr|rrss|udfs"),
  mutant("src/mm.c", "else if (!enter(s) && !leave(s, WORTH))", "else if (!leave(s, WORTH))", "rsr|udfs"),
  mutant("src/mm.c", "by > 0.0 ? 0.5 * log1p(expm1(2.0 * by) / left) : by / left;", "by / left;", "rrss"),
  mutant("src/mm.c", "(s->convex && out->gap < -UFS_TIE)", "false", "rrss|alnr|samp"),
  mutant("src/samp_rrss.c", "product_norms(work, work->yt, 2.0, s->out->dual);", "product_norms(work, work->yt, 1.0, s->out->dual);", "rrss|samp"),
  mutant("src/mm.c", "out->primal += price * *norm;", "out->primal += *norm;", "rrss|objective"),
  mutant("src/base_udfs.c", "q[a + a * S] += problem->lambda;", "q[a + a * S] += 0.5 * problem->lambda;", "udfs"),
  mutant("src/base_wstep.c", "row2 += (weight[v] - rest) * (p > n", "row2 += (1.0 - rest) * (p > n", "udfs|sogfs"),
  mutant("src/mm.c", "done = !violated(s, j);", "", "udfs",
    "such rows enter after the first of two calm steps already, but for those that left at the end"),
  mutant("src/base_mcfs.c", "if (!(left > UFS_TIE * own)) return false;", "", "mcfs"),
  mutant("src/base_mcfs.c", "if (!(s->dir[a] * s->sign[a] < 0.0)) continue;", "", "mcfs"),
  mutant("src/base_spec.c", "pow(fmax(s->l[t], 0.0), s->power)", "pow(fmax(s->l[t], 0.0), s->power + 1)", "spec"),
  mutant("src/base_spec.c", "mean += g->degree[i] * f[i];", "mean += f[i];", "laplacian"),
  mutant("src/base_css.c", "if (!(work->d[j] > UFS_TIE * work->norm2[j])) return 0.0;", "", "css"),
  mutant("src/base_css.c", "work->d[i] -= w * w;", "work->d[i] += w * w;", "css"),
  mutant("src/base_css.c", "else if (t < m || !*exact)\n", "else if (t < m)\n", "css"),
  # ---- top-k selection ----
  mutant("src/solve_topk_bound.c", "bound += gradient[j];", "", "topk"),
  mutant("src/solve_topk_criterion.c", "2.0 * ratio * work->rt[", "ratio * work->rt[", "topk"),
  mutant("R/topk.R", "members <- order(first)", "members <- seq_along(first)", "topk"),
  mutant("src/solve_topk_z.h", "(1.0 - theta->alpha) * 0.5 * d2", "(1.0 - theta->alpha) * d2", "topk"),
  mutant("src/solve_topk.c", "if (run->lapack) return;\n            result->change = theta_change(work);", "if (run->lapack) return;", "topk"),
  mutant("src/solve_topk_label.c", "if (again <= wss + UFS_TIE)", "if (false)", "topk"),
  mutant("src/solve_topk_lp.c", "if (over > worst && !row->in_set[j] && j != row->i) {", "if (over > worst && !row->in_set[j]) {", "topk"),
  mutant("src/solve_topk_bound.c",
    "for (int i = 0; i < made; i++) work->overall = fmin(work->overall, t[i].lower);", "", "topk"),
  mutant("src/solve_topk_admm.c", "for (int i = 0; i < 3; i++) raise_to(&largest, work->block->residual[i]);", "raise_to(&largest, work->block->residual[2]);", "topk"),
  mutant("src/solve_topk_admm.c", "b->y[i] = mu * (b->t[i] - b->qx[i]);", "b->y[i] = mu * b->t[i];", "topk"),
  mutant("src/solve_topk_admm.c", "1.0, work->x, n, b->t, p, 1.0, b->product, n);", "0.0, work->x, n, b->t, p, 1.0, b->product, n);", "topk"),
  mutant("src/solve_topk_admm.c", "sum += settings->lambda_e * fabs(e[i]);", "sum += fabs(e[i]);", "topk"),
  mutant("src/solve_topk_admm.c", "b->h[i] = mu * (b->q[i] - b->h[i]);", "b->h[i] = mu * b->q[i];", "topk"),
  mutant("src/solve_topk_admm.c", "b->t[i] = b->x[i] - b->e[i] + c / next;", "b->t[i] = b->x[i] - b->e[i];", "kernel-topk"),
  mutant("src/solve_topk_admm.c", "double c = settings->nonnegative ? reach[j] : fabs(reach[j]);", "double c = 0.0;", "kernel-topk"),
  mutant("src/solve_topk_bound.c", "if (t[i].lower < t[at].lower) at = i;", "", "topk"),
  mutant("R/topk.R", "(r^2 * (p + r) + 40 * r * p * classes) < 2e9", "(r^2 * (p + r)) < 2e10", "topk"),
  mutant("R/topk.R", "> max(2e9, 2 * products)", "> 2 * products", "topk"),
  mutant("R/topk.R", "> max(2e9, 2 * products)", "> 2e9", "topk"),
  mutant("src/la_eig.c", "if (info) info = spectrum(n, d + N, e + N, il, iu, w, z, true);", "", "kernel-la"),
  mutant("src/la_eig.c", "ufs_copy(z, vector + skip * N, (size_t) k * N);", "ufs_copy(z, vector, (size_t) k * N);", "kernel-la"),
  mutant("src/solve_topk_admm.c", "ufs_copy(b->qx, b->zx, P * W);", "", "topk"),
  mutant("src/solve_topk_admm.c", "if (!state->solved || change > settings->tol) {", "if (true) {", "topk"),
  mutant("src/solve_topk_admm.c", "if (coarse && most > FIRST) most = FIRST;", "if (most > FIRST) most = FIRST;", "topk"),
  mutant("src/solve_topk_admm.c", "z = z < least ? least : z;", "", "topk"),
  mutant("src/solve_topk_admm.c", "work->mu * fmin(1.0, settings->tol / change)", "work->mu", "topk"),
  mutant("src/solve_topk.c", "memcpy(work->theta_label, result->label, (size_t) problem->n * sizeof(int));", "", "topk"),
  mutant("src/solve_topk.c", "work->theta.projected = work->theta_projected;", "work->theta.projected = work->projected;", "topk"),
  mutant("src/solve_topk.c", "drift += diff * fabs(work->result->z[i + j * N]);", "", "topk"),
  mutant("src/solve_topk.c", "work->settings->solver == TOPK_ADMM && work->z->iterations == 0)", "work->settings->solver == TOPK_ADMM)", "topk"),
  mutant("R/topk.R", "other <- 2 * stats::median(", "other <- stats::median(", "topk"),
  mutant("src/solve_topk_criterion.c", "+= 1.0 + lambda_i * degree_of(weights, n, j);", "+= 1.0;", "topk"),
  # ---- BLFSE ----
  mutant("src/solve_blfse.c", "work->y = work->y_old;", "", "blfse"),
  mutant("src/solve_blfse.c", "label[d] == own ? weight[k] : 0.0", "k == 0 && label[d] == own ? weight[k] : 0.0", "blfse"),
  mutant("src/solve_blfse.c", "work->stays = moved == 0.0 &&", "work->stays =", "blfse"),
  mutant("src/solve_blfse.c", "if (work->stays) return;", "", "blfse"),
  mutant("src/solve_blfse.c", "label[d] == own ? set->near[d] : set->far[d]", "label[d] == own ? set->near[d] : 0.0", "blfse"),
  mutant("src/solve_blfse.c", "own, M * sizeof(int)) != 0", "own, sizeof(int)) != 0", "blfse"),
  mutant("src/solve_blfse_projection.c", "work->g[i + j * P] + work->g[j + i * P]", "2.0 * work->g[i + j * P]", "blfse"),
  mutant("src/la_packed.c", "if (j0 > 0 && !half)", "if (false)", "kernel-qp"),
  mutant("src/la_packed.c", "half ? 0.0 : to[j0 + a]", "0.0", "kernel-qp"),
  mutant("src/la_packed.c", "if (half) to[j] *= 0.5;", "", "blfse"),
  mutant("src/la_packed.c", "if (label[l] == from) label[l] = to;", ";", "kernel-qp"),
  mutant("R/packed.R", "last <- pmax(rows, col)", "last <- rows", "blfse"),
  mutant("src/base_inffs.c", "run->tol, ROUGH) ?", "run->tol, 1.0) ?", "inffs"),
  mutant("src/base_inffs.c", "behind += (long double) a->t[i] * x[i];", "", "inffs"),
  mutant("src/base_inffs.c", "KRYLOV = 40, EXACT = 369", "KRYLOV = 40, EXACT = 5000", "inffs"),
  mutant("src/base_inffs.c", "SHORT = 58 };", "SHORT = 59 };", "inffs"),
  mutant("src/base_inffs.c", "fabs(1.0 - result->score[i] + result->damping * ay[i])", "0.0", "inffs"),
  mutant("src/solve_blfse.c", "w = work->lambda / (2.0 * a);", "w = work->lambda / a;", "blfse"),
  mutant("src/solve_blfse.c", "a = q * (1.0 - s) * (1.0 - s) + positive(total - q) * s * s;",
    "a = q * (1.0 - s) * (1.0 - s);", "blfse"),
  mutant("src/solve_blfse_projection.c", "if (split.lo + split.eq > work->problem->c) work->result->p_unique = false;", "", "blfse"),
  mutant("src/solve_blfse_projection.c", "work->upper[i] = 2.0 * work->top * work->g_diag[i] + s;",
    "work->upper[i] = 0.2 * work->top * work->g_diag[i] + s;", "blfse"),
  mutant("src/qp_simplex.c", "r[i] -= theta;", "", "kernel-qp|blfse"),
  mutant("R/blfse.R", "score <- score - min(score, 0, na.rm = TRUE)", "", "blfse"),
  # ---- ALFS ----
  mutant("src/alfs_newton.c", "prox_clip(bound * a->z[i] / eta + a->k[i] * a->dz[i], bound);",
    "bound * a->z[i] / eta + a->k[i] * a->dz[i];", "^alfs$"),
  mutant("src/alfs_newton.c", "if (norm > split->penalty)", "if (false)", "^alfs$",
    why = "the bound scales P, Q and L back"),
  mutant("src/alfs_newton.c", "fmax(0.1 * a.e, 1e-10)", "fmax(1.0 * a.e, 1e-10)", "^alfs$"),
  mutant("src/alfs_newton.c", "candidate(&a, CLEAN);", "", "^alfs$"),
  mutant("src/alfs_columns.c", "if (n > CROWDED * all) return false;", "", "^alfs$"),
  mutant("src/alfs_columns.c", "if (sub->value.now > value->dual) {", "{", "^alfs$"),
  mutant("src/la_cg.c", "a->tol * la_nrm2(n, b);", "a->tol;", "kernel-la$"),
  mutant("src/solve_alfs_bound.c", "if (fabs(s) * t > 1.0) s = s > 0.0 ? 1.0 / t : -1.0 / t;", "", "alfs"),
  mutant("src/solve_alfs_bound.c", "? fmax(outside, 1.0) : outside;", "? 1.0 : -1.0;", "alfs"),
  mutant("src/solve_alfs_bound.c", "? fmax(outside, 1.0) : outside;", "? outside : outside;", "alfs"),
  mutant("src/solve_alfs_bound.c", "norm > split->penalty ? split->penalty / norm", "false ? split->penalty / norm", "alfs"),
  mutant("src/solve_alfs_bound.c", "for (int i = 0; i < two->n; i++) t = fmax(t, sqrt(two->sum[i]) / two->penalty);", "t = fmax(t, 1.0);", "alfs"),
  mutant("src/solve_alfs_bound.c", "g -= multiplier(other, m, i, j);", "g -= 0.0;", "alfs"),
  mutant("src/solve_alfs.c", "zero < 1.0", "zero < 2.0", "alfs"),
  mutant("src/solve_alfs.c", "(1.0 + split->ridge / split->rho)", "(1.0 + 0.0)", "alfs"),
  mutant("src/solve_alfs_bound.c", "if (split->on && split->cut[alfs_line(split, i, at)] == 1.0)", "if (false)", "alfs"),
  mutant("src/alfs_columns.c", "ufs_trace_reserve(&full->run->trace, ROUND + 1);", "", "^alfs$"),
  mutant("src/solve_alfs.c", "if (!(fabs(f - f_old) < tol * f_old) && f != f_old) return false;", "", "alfs"),
  mutant("src/solve_alfs.c", "problem->lambda >= problem->bound[WEIGHTS] * (1.0 - 1e-14)",
    "problem->lambda >= 0.5 * problem->bound[WEIGHTS]", "alfs"),
  # ---- samples ----
  mutant("src/samp_ted.c", "decrease(work, j) >= least) return j;", "decrease(work, j) >= top) return j;", "ted"),
  mutant("src/samp_ted.c", "if (made > 0 && best_item(work) != j) break;", "", "ted"),
  mutant("src/x_ops.c", "= i < at ? 2.0 * col[i] :", "= i < at ? col[i] :", "kernel-x|ted"),
  mutant("src/samp_ted.c", "if (!(i == next || (room &&", "if (!((room &&", "ted"),
  mutant("src/samp_ted.c", "if (b > 0 && stale(followed, at)) break;", "", "ted",
    "the next batch starts from fresh numbers anyway: only digits of the last few picks"),
  mutant("R/medoids.R", "- length(unique(first[labelled]))", "", "medoids"),
  mutant("R/cur.R", "if (!is.na(gap) && gap < 1e-8 && control$warn) {", "if (FALSE) {", "cur"),
  mutant("R/cur.R", "(sweep(v^2, 2L, colSums(v^2), \"/\")) / rank", "(sweep(v^2, 2L, colSums(v^2), \"/\"))", "cur"),
  mutant("R/pca.R", "if (rank < n_components) {", "if (FALSE) {", "baselines|contract"),
  # ---- eigenpairs ----
  mutant("src/la_eig.c", "for (; rest > 4 * PANEL; rest -= PANEL)", "for (; rest > 4 * PANEL; rest -= 2 * PANEL)", "kernel-la"),
  mutant("src/la_norm.c", "keep = at > 0 ? 1.0 : 0.0;", "keep = 0.0;", "kernel-la"),
  mutant("src/x_pca.c", "if (found.lapack || found.converged || !can_gram) return found.lapack;", "return found.lapack;", "baselines"),
  mutant("src/la_eigs.c", "i == j ? s->theta[j] : 0.0", "i == j ? s->theta[keep - 1 - j] : 0.0", "kernel-x"),
  mutant("src/la_eigs.c", "s->check = true;\n", "", "kernel-x"),
  mutant("src/la_low.c", "value[more - 1] - value[more] > 100.0 * tol", "true", "kernel-qp|blfse"),
  mutant("src/base_inffs.c", "if (done)", "if (true)", "inffs"),
  mutant("src/base_inffs.c", "u[0] / (1.0 - result->damping * s.theta[j])", "u[0] * (1.0 + result->damping * s.theta[j])", "inffs"),
  mutant("src/graph_knn.c", "*right = j0 == i0 ? left : other;", "*right = left;", "graph"),
  mutant("src/graph_knn.c", "deep, 1.0, left, ni, right, nj, l0 > 0 ? 1.0 : 0.0,", "deep, 1.0, left, ni, right, nj, 0.0,", "graph"),
  mutant("src/samp_rrss.c", "over * full * full / less", "0.2 * over * full * full / less", "rrss|samp",
    why = "a slower way to the same root"),
  mutant("src/samp_rrss.c", "over = by * full - 1.0;", "over = 0.5 * by * full - 1.0;", "rrss|samp"),
  mutant("src/la_eigs.c", "if (j < s->a->k - s->a->n_rough) return exact;", "", "sogfs|kernel-la|graph|embed"),
  mutant("src/base_sogfs.c", ".low = -2.0 * top,", ".low = -0.5 * top,", "sogfs"),
  mutant("src/samp_alnr.c", "dual[work.index[l + i * S]] += v * v", "dual[work.index[l + i * S]] = v * v", "alnr"),
  mutant("src/samp_facility.c", "if (l <= n_open) sum += work->sorted[n_open - l];", "if (l <= n_open) sum += work->sorted[l - 1];",
    "facility"),
  mutant("src/samp_facility.c", "work->upper[i] >= best - tie) return i;", "work->upper[i] > best + tie) return i;", "facility"),
  mutant("src/samp_facility.c", "rise_of(work, r, PICK) >= picks; r =", "rise_of(work, r, PICK) > picks; r =", "facility"),
  mutant("src/samp_facility.c", "if (work->known[list[b]] < since) since = work->known[list[b]];", "", "facility"),
  mutant("src/samp_facility.c", "work->upper[j] -= fmin(s, work->cover[rows[a]]) - before;", "work->upper[j] -= s - before;", "facility"),
  mutant("src/samp_facility.c", "return (least - 1.0 - margin) * size;", "return (least - 0.9 - margin) * size;", "facility"),
  mutant("src/samp_facility.c", "return 0.5 * (work->problem->bandwidth * log(least)", "return 0.5 * (0.5 * work->problem->bandwidth * log(least)",
    "facility"),
  mutant("src/samp_facility.c", "least = work->sorted[found - most];", "least = work->sorted[most];", "facility",
    "any order of looking ends at the same pick; more are looked at"),
  mutant("src/samp_facility.c", "best = fmax(best, work->upper[list[b]]);", "", "facility"),
  mutant("src/samp_facility.c", "swap->best[i] - fmax(s[i], swap->second[i]);", "swap->best[i] - s[i];", "facility"),
  mutant("src/propagate.c", "if (edge[i] <= weak || i == (size_t) index[a]) continue;", "if (edge[i] <= weak) continue;", "propagate"),
  mutant("src/propagate.c", "if (problem->cmn) class_mass(problem, (int) u, y);", "", "propagate")
)

# ---- run -------------------------------------------------------------------------------------

top <- normalizePath(".")
stopifnot(file.exists(file.path(top, "DESCRIPTION")))
everything <- mutants
wanted <- commandArgs(TRUE)
# What is wrong with the place of a mutant in the sources, in words; "" if nothing.
wrong_place <- function(m, folder) {
  file <- file.path(folder, m$file)
  if (!file.exists(file)) return("the file is gone")
  text <- paste(readLines(file), collapse = "\n")
  hits <- gregexpr(m$from, text, fixed = TRUE)[[1L]]
  if (hits[1L] < 0) return("the text is gone")
  if (length(hits) > 1L) paste("the text occurs", length(hits), "times") else ""
}
if ("--check" %in% wanted) {
  wrong <- vapply(seq_len(nrow(mutants)), function(i) wrong_place(mutants[i, ], top), "")
  cat(sprintf("mutate.R: %s: %s: %s\n", mutants$file, wrong, mutants$from)[nzchar(wrong)], sep = "")
  quit(status = as.integer(any(nzchar(wrong))))
}
if ("--rest" %in% wanted) {
  wanted <- setdiff(wanted, "--rest")
  path <- file.path("tests", "dev", "mutants.csv")
  known <- if (file.exists(path)) utils::read.csv(path, colClasses = "character") else data.frame()
  known <- known[grepl("^caught|^harmless", known$outcome), ]
  mutants <- mutants[!key_of(mutants) %in% key_of(known), ]
}
if (length(wanted)) {
  mutants <- mutants[grepl(paste(wanted, collapse = "|"), mutants$file), ]
}

shell <- function(...) system2("env", c(...), stdout = FALSE, stderr = FALSE)
install <- function(tree, lib) {
  shell(paste0("R_LIBS=", lib, ":", Sys.getenv("R_LIBS")), file.path(R.home("bin"), "R"), "CMD",
    "INSTALL", "--no-docs", "--no-test-load", "--no-byte-compile", "--no-staged-install",
    paste0("--library=", lib), tree) == 0
}

# One tree with objects, copied for every mutant, so that one file is compiled.
base <- file.path(tempdir(), "base")
dir.create(base)
for (part in c("DESCRIPTION", "NAMESPACE", "R", "src", "tests", "inst")) {
  file.copy(file.path(top, part), base, recursive = TRUE, copy.date = TRUE)
}
unlink(file.path(base, "tests", "dev"), recursive = TRUE)
base_lib <- file.path(tempdir(), "base-lib")
dir.create(base_lib)
stopifnot(install(base, base_lib))

run_tests <- "a <- commandArgs(TRUE); library(testthat); library(ufselect)
r <- as.data.frame(test_dir(file.path(a[1], 'tests', 'testthat'), filter = a[2], package = 'ufselect',
  load_package = 'installed', stop_on_failure = FALSE, reporter = 'silent'))
bad <- r$failed > 0 | r$error
cat(unique(as.character(r$file[bad])), sep = ' ')"

try_one <- function(i) {
  m <- mutants[i, ]
  here <- file.path(tempdir(), paste0("mutant-", i))
  lib <- paste0(here, "-lib")
  dir.create(here)
  dir.create(lib)
  on.exit(unlink(c(here, lib), recursive = TRUE))
  for (part in list.files(base, full.names = TRUE)) file.copy(part, here, recursive = TRUE, copy.date = TRUE)
  wrong <- wrong_place(m, here)
  if (nzchar(wrong)) return(wrong)
  file <- file.path(here, m$file)
  text <- paste(readLines(file), collapse = "\n")
  writeLines(sub(m$from, m$to, text, fixed = TRUE), file)
  # No object knows its headers.
  if (endsWith(m$file, ".h")) unlink(list.files(file.path(here, "src"), "[.]o$", full.names = TRUE))
  if (!install(here, lib)) return("does not build")
  said <- system2("env", c(paste0("R_LIBS=", lib, ":", Sys.getenv("R_LIBS")), "NOT_CRAN=true",
    "TESTTHAT_PARALLEL=false", "timeout", "600", file.path(R.home("bin"), "Rscript"), "-e", shQuote(run_tests), here,
    shQuote(m$tests)), stdout = TRUE, stderr = FALSE)
  status <- attr(said, "status")
  if (!is.null(status) && status != 0) return("caught (the tests did not end)")
  said <- paste(said, collapse = " ")
  if (nzchar(trimws(said))) paste("caught by", trimws(said)) else "SURVIVED"
}

# The table of all outcomes, rewritten after each mutant: a run that is stopped keeps what it had.
record <- function(m, outcome) {
  path <- file.path(top, "tests", "dev", "mutants.csv")
  lock <- paste0(path, ".lock")
  while (!dir.create(lock, showWarnings = FALSE)) Sys.sleep(.1)
  on.exit(unlink(lock, recursive = TRUE))
  row <- data.frame(file = m$file, from = m$from, to = m$to, outcome = outcome, date = format(Sys.Date()))
  old <- if (file.exists(path)) utils::read.csv(path, colClasses = "character") else row[0L, ]
  new <- rbind(old[key_of(old) %in% setdiff(key_of(everything), key_of(m)), names(row)], row)
  utils::write.csv(new[order(match(key_of(new), key_of(everything))), ], path, row.names = FALSE)
}

results <- parallel::mclapply(seq_len(nrow(mutants)), function(i) {
  m <- mutants[i, ]
  out <- try_one(i)
  if (out == "SURVIVED" && nzchar(m$why)) out <- paste("harmless:", m$why)
  record(m, out)
  cat(sprintf("%2d %-22s %s\n   - %s\n   + %s\n", i, basename(m$file), out, m$from, m$to))
  out
}, mc.cores = as.integer(Sys.getenv("MUTATE_CORES", "2")), mc.preschedule = FALSE)
out <- unlist(results)
caught <- grepl("^caught", out)
harmless <- grepl("^harmless", out)
cat("\n", sum(caught), " of ", length(out), " caught, ", sum(harmless), " harmless, ", sum(out == "SURVIVED"), " survived, ",
  sum(!caught & !harmless & out != "SURVIVED"), " to mend in the table\n", sep = "")
quit(status = as.integer(!all(caught | harmless)))
