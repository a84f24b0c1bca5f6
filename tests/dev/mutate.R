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
  mutant("src/prepare.c", "found->css <= rounding * rounding * found->ss", "css <= 0.0", "data-prepare"),
  mutant("src/prepare.c", "if (top > safe_high ||", "if ((false && top > safe_high) ||", "data-prepare|baselines|units"),
  mutant("R/data-operator.R", "rowSums(hash[-1L, , drop = FALSE] != hash[-nrow(hash), , drop = FALSE]) == 0", "rowSums(hash[-1L, , drop = FALSE] == hash[-nrow(hash), , drop = FALSE]) == 0", "data-prepare|method-socfs"),
  mutant("R/run-grid.R", "!any(c(\"center\", \"scale\") %in% varying)", "TRUE", "run-grid"),
  mutant("R/method-inffs.R", "[[\"damping\"]] * m / p", "[[\"damping\"]]", "method-inffs"),
  mutant("R/method-inffs.R", "mean_of(2L)) / 2 *", "mean_of(2L)) *", "method-inffs"),
  mutant("R/method-inffs.R", "(mean_of(1:2) + loop) / (1 - loop)", "mean_of(1:2)", "method-inffs"),
  mutant("R/method-inffs.R", "- t[at[mine]] * half[own[mine], ]", "", "method-inffs"),
  mutant("R/method-inffs.R", "counted[chosen, ] - (half > 0)", "counted[chosen, ]", "method-inffs"),
  mutant("R/run-grid.R", "!any(own$unless %in% varying)", "TRUE", "run-grid"),
  mutant("R/run-checkpoint.R", "identical(stored[[\"key\"]], key) &&", "", "run-checkpoint"),
  mutant("R/run-checkpoint.R", "!is_failure(value) &&", "", "run-checkpoint"),
  mutant("R/run-checkpoint.R", "!is.null(value) && is_plain(value) &&", "!is.null(value) &&", "run-checkpoint"),
  mutant("R/run-checkpoint.R", "identical(stored[[\"check\"]], hash_bytes(payload, key))", "TRUE", "run-checkpoint"),
  mutant("R/run-checkpoint.R", "if (is.null(read_part(part, key)))", "if (FALSE)", "run-checkpoint"),
  mutant("R/run-checkpoint.R", "if (run$other_seed) run$seed <- held$value", "", "run-checkpoint"),
  mutant("R/run-checkpoint.R", "list(run$seed, ...)", "list(...)", "run-checkpoint"),
  mutant("R/run-checkpoint.R", "as.double(file.mtime(files)), ", "", "run-checkpoint"),
  mutant("R/run-checkpoint.R", "hash_numbers(length(value), function(places) as.double(value[places]))", "length(value)", "run-checkpoint"),
  mutant("R/run-checkpoint.R", "if (is.null(why)) unlink(parts_of(folder, key))", "", "run-checkpoint"),
  mutant("R/run-grid.R", "stats::ave(seq_along(key), key, FUN = seq_along)", "1", "run-checkpoint"),
  mutant("src/ffi_turned.c", "from[i] < 1e15 &&", "from[i] < 1e8 &&", "data-source-operator"),
  mutant("R/run-tasks.R", "progressr::progressor(n, envir = envir)", "progressr::progressor(n)", "run-tasks"),
  mutant("R/run-checkpoint.R", "list(code, stats::setNames(found, free))", "list(code)", "run-checkpoint"),
  mutant("R/run-stability.R", "variance <- 4 / m^2 *", "variance <- 8 / m^2 *", "run-stability"),
  mutant("R/run-stability.R", "stability / 2 * (2 * size", "stability * (2 * size", "run-stability"),
  mutant("R/fit-object.R", "else order(score, -unname(key))", "else order(score, unname(key))", "fit-object"),
  mutant("R/run-compare-tasks.R", "best <- which.max(covered)", "best <- which.min(covered)", "run-compare"),
  mutant("R/run-criteria.R", "width[size[cluster] == 1L | !is.finite(width)] <- 0", "", "run-tune"),
  mutant("R/fit-run.R", "if (!missing(m)) args[\"m\"] <- list(m)", "", "dots"),
  mutant("R/base-calls.R", "!given %in% c(known, door_arguments)]", "is.na(pmatch(given, c(known, door_arguments)))]", "dots"),
  mutant("R/fit-run.R", "check_lapack(run$lapack, method)", "", "fit-object|conditions|fit-run"),
  mutant("R/fit-object.R", "&& !fine) fit$status <- \"numerical\"", "&& FALSE) NULL", "fit-object|units|contract"),
  mutant("R/fit-object.R", "order(-size)", "order(size)", "fit-object|kmeans_f"),
  mutant("R/data-prepare.R", "size > 1e150 | (", "(", "units|data-prepare|contract"),
  mutant("R/data-prepare.R", "named = !is.null(opened$features)", "named = TRUE", "data-prepare|fit-print|fit-object"),
  mutant("R/fit-predict.R", "if (anyNA(at) && size == object$p) {", "if (FALSE) {", "fit-print"),
  mutant("R/fit-predict.R", "if (turned) t(value) else value", "value", "fit-object"),
  mutant("R/data-missing.R", "x[gone, j] <- stats::median(x[!gone, j])", "x[gone, j] <- mean(x[!gone, j])", "data-door"),
  mutant("R/data-missing.R", "c(known, numeric(x@Dim[1L] - length(at)))", "known", "data-door"),
  mutant("R/data-missing.R", "mean(x[utils::head(from, neighbours), j])", "mean(x[from, j])", "data-door"),
  mutant("R/data-missing.R", "mean(missing$features > 0) <= mean(missing$samples > 0)", "TRUE", "data-door"),
  mutant("R/base-conditions.R", "if (bytes > limit) {", "if (FALSE) {", "run-grid|method-rrss"),
  mutant("R/run-criteria.R", "if (nrow(counts) > ncol(counts)) counts <- t(counts)", "", "run-metrics"),
  mutant("R/run-criteria.R", "scale <- sqrt(entropy(row) * entropy(col))", "scale <- (entropy(row) + entropy(col)) / 2", "run-metrics"),
  mutant("R/kernel-samples.R", "mean(a[, i] %in% b[, i])", "mean(a[, i] == b[, i])", "run-tune|method-diversify|run-compare"),
  mutant("R/run-criteria.R", "if (length(out) != nrow(newx)) {", "if (FALSE) {", "run-compare|classifiers"),
  # ---- what is returned or printed ----
  mutant("R/data-missing.R", "2 * tcrossprod(z)) / common", "2 * tcrossprod(z))", "returned"),
  mutant("R/data-missing.R", "neighbours = 10L) {", "neighbours = 9L) {", "returned"),
  mutant("R/run-sketch.R", "1 / pmin(1, m * chance[index])", "pmin(1, m * chance[index])", "returned"),
  mutant("R/run-sketch.R", "1 / pmin(1, m * chance[index])", "1 / chance[index]", "returned"),
  mutant("R/run-sketch.R", "weights[at] * opened$n / sum(weights)", "weights * opened$n / sum(weights)", "returned"),
  mutant("R/run-criteria.R", "max(first, na.rm = TRUE) - .001", "max(first, na.rm = TRUE) - .1", "returned"),
  mutant("R/method-ted.R", "1 - objective[[m]] / (", "objective[[m]] / (", "returned"),
  mutant("R/method-ted.R", "(objective[[1L]] + x$trace$decrease[[1L]])", "(objective[[1L]])", "returned"),
  mutant("R/run-stability.R", "min(1, stability + half)", "stability + half", "returned"),
  mutant("R/run-compare-tasks.R", "z[, columns %in% scaled$constant] <- 0", "", "returned"),
  mutant("R/base-checks.R", "min(data$n - center, length(data$keep))", "min(data$n + center, length(data$keep))", "returned"),
  mutant("R/kernel-graph.R", "graph$n_components - graph$n_isolated", "graph$n_components", "returned"),
  mutant("R/method-diversify.R", "if (x$params$how == \"correlation\") paste0", "if (x$params$how != \"correlation\") paste0", "printed"),
  mutant("R/fit-print.R", "utils::head(as.data.frame(object), 10L)", "utils::head(as.data.frame(object), 11L)", "printed"),
  mutant("R/run-compare-output.R", "lost <- tapply(part$missing,", "lost <- tapply(part$missing > 0,", "printed"),
  mutant("src/solve_topk_bound.c", "rPsort(g->u, n_free, wanted - 1)", "rPsort(g->u, n_free, wanted - 2)", "returned"),
  # ---- the operator ----
  mutant("src/prepare.c", "left += zeros * m * m;", "", "operator|native-x"),
  mutant("src/prepare.c", "found->mean = m + rest / n;", "found->mean = m;", "operator|native-x",
    why = "the mean is right to n roundings without it"),
  mutant("src/x_equal.c", "return sum + zeros * hash_value((0.0 - m) / s);", "return sum;", "operator|native-x"),
  mutant("src/x_equal.c", "sum += weight[x->row[e]] * hash_value(", "sum += hash_value(", "operator|native-x"),
  mutant("src/ffi_util.c", "if (!Rf_isReal(x) || (size_t) Rf_xlength(x) != length)", "if (!Rf_isReal(x))", "kernel-graph"),
  # ---- kernels ----
  mutant("src/kmeans.c", "if (join * d < saved) {", "if (d < saved) {", "kmeans"),
  mutant("src/kmeans.c", "w->moved[a] += high / w->size[a];", "", "kmeans"),
  mutant("src/kmeans.c", "return sqrt(ss);", "return ss;", "kmeans"),
  mutant("src/kmeans.c", "leave = sqrt((double) w->size[a] / (w->size[a] - 1.0));", "leave = 1.0;", "kmeans"),
  mutant("src/proj.c", "shift = (inner + ones - total) / interior;", "shift = (inner - total) / interior;", "kernel-la$|kernel-topk"),
  mutant("src/qp_simplex.c", "info->gap = fmax(tau - low, 0.0);", "info->gap = 0.0;", "native-qp"),
  mutant("src/qp_simplex.c", "if (info->rel > best) {", "if (false) {", "native-qp",
    why = "the last iterate is certified too: status and kkt stay true"),
  mutant("src/la_gl.c", "if (s * top > 1.0) s = 1.0 / top;", "", "native-la_gl|method-socfs"),
  mutant("src/la_gl.c", "off += d * d;", "off += d;", "native-la_gl"),
  mutant("src/la_gl_descent.c", "if (!(fall > DBL_EPSILON * reach * reach)) return false;", "", "native-la_gl|method-socfs|method-jspca"),
  mutant("src/la_gl_descent.c", "fall > DBL_EPSILON * reach * reach", "fall > 0.0", "method-jspca"),
  mutant("src/la_gl_set.c", "if (count == 0 || worst - 1.0 <= vtol) return 0;", "if (count == 0 || worst <= 2.0) return 0;",
    "native-la_gl|method-socfs"),
  mutant("src/anderson.c", "norm > 1e-10 * before ? norm : R_PosInf;", "norm;", "native"),
  mutant("src/graph_weights.c", "                    value *= 0.5;", "                    value *= 1.0;", "kernel-graph"),
  mutant("src/graph_knn.c", "return *reach < heap[0].key;", "return true;", "kernel-graph"),
  mutant("src/ffi_graph.c", "if (col[e] < 0 || col[e] >= n) return false;", "if (col[e] > n) return false;", "kernel-graph"),
  mutant("src/graph_knn.c", "if (x->key != y->key) return x->key < y->key ? -1 : 1;", "", "kernel-graph"),
  # ---- systems ----
  mutant("src/solve_socfs.c", "if (e[i] < 0.0) ss += e[i] * e[i];", "ss += e[i] * e[i];", "method-socfs"),
  mutant("src/jspca_canonical.c", "if (problem->first[i] != i) col[problem->first[i]] += col[i];", "", "method-jspca|objective"),
  mutant("src/jspca_canonical.c", "? col[i] / problem->copies[i] :", "? col[i] :", "method-jspca|objective"),
  mutant("src/jspca_sample.c", "most = fmax(most, weight[i] / v);", "most = least = 1.0;", "method-jspca"),
  mutant("src/jspca_sample.c", "weight[i] / (work->factor * root)", "weight[i] / root",
    "method-jspca"),
  mutant("src/solve_jspca.c", "if (settled && !work->confirms)", "if (settled)", "method-jspca"),
  mutant("src/solve_jspca.c", "if (!work->bold || now <= work->objective * (1.0 + 1e-13)) break;", "break;",
    "method-jspca"),
  mutant("src/jspca_leap.c", "ufs_copy(work->result->q, work->q_old, (size_t)", "(void) ((size_t)", "method-jspca"),
  mutant("src/solve_jspca.c", "if (problem->sample) vtol *= jspca_share_of_most(work);", "", "method-jspca"),
  mutant("src/solve_jspca.c", "if (full && !work->gl.settled) work->unsolved++;", "", "method-jspca"),
  mutant("src/jspca_leap.c", "work->result->change < NEAR", "true", "method-jspca",
    why = "which stationary point noise ends in: layouts.R and metamorphic.R see it, on some matrices"),
  mutant("src/jspca_canonical.c", "while (first < m && w[first] <= 1e-12 * w[m - 1]) first++;", "", "method-jspca"),
  mutant("src/la_gl_set.c", "w->root[i] * w->root[i] * xa[i]", "w->root[i] * xa[i]",
    "native-la_gl"),
  mutant("src/x_sparse.c", "        if (is_full(x, j)) {\n            x_sparse_column(x, j, column);",
    "        if (false) {\n            x_sparse_column(x, j, column);", "operator|native-x"),
  mutant("src/x_sparse.c", "rest -= w;", "", "native-la_gl"),
  mutant("src/x_sparse.c", "any = any || weight[k] != 0.0;", "any = weight[k] != 0.0;", "native-x"),
  mutant("src/x_sparse.c", "off[k] += ufs_x_shift(x, j) * weight[k];", "", "native-x"),
  mutant("src/x_ops.c", "x->kind == UFS_X_SOURCE && at.width < x->p)", "false)", "data-source-operator"),
  mutant("R/data-source-operator.R", "done <- isTRUE(file.size(path) == bytes)", "done <- FALSE", "data-source-operator"),
  mutant("R/data-source.R", "(index[turn[first]] - 1) * lines", "index[turn[first]] * lines", "data-source-operator"),
  mutant("R/data-source.R", "which(c(TRUE, diff(index[turn]) != 1))", "1L", "data-source-operator"),
  mutant("R/data-source-operator.R", "if (reads > 1 || op$store$reads > 0) turn_once(op)",
    "if (op$store$reads > 0) turn_once(op)", "data-source-operator"),
  mutant("R/data-source.R", "reg.finalizer(store, drop_turned, onexit = TRUE)", "", "data-source-operator"),
  mutant("R/fit-run.R", "close_source(slots$data$x)", "", "data-source-operator"),
  mutant("R/method-mcfs.R", "rows <- x_center(rows)", "rows <- rows", "data-source-operator|method-mcfs"),
  mutant("src/alfs_space.c", "for (int j = 0; j < n; j++) space->index[j] = from + j;",
    "for (int j = 0; j < n; j++) space->index[j] = j;", "operator"),
  mutant("src/solve_jspca.c", "return problem->sample ? loss : loss + problem->dropped * sqrt(settings->eps_res);", "return loss;",
    "method-jspca|objective"),
  # ---- comparators of features ----
  mutant("src/base_ndfs.c", "if (settings->exact && run->iterations > 1 && !(value <= before * (1.0 + 1e-12)))", "if (false)", "method-ndfs"),
  mutant("src/base_ndfs.c", "up -= mf;", "up += mf;", "method-ndfs"),
  mutant("src/base_ndfs.c", "if (live) d -= half", "if (live) d += half", "method-ndfs"),
  mutant("src/base_sogfs.c", "more = c + 1 - held;", "more = c - held;", "method-sogfs"),
  mutant("src/base_sogfs.c", "total += den / 2.0;", "total += den;", "method-sogfs"),
  mutant("src/mm.c", "s->linear += price * *norm * dual;", "s->linear += *norm * dual;", "method-rsr|method-rrss"),
  mutant("src/mm.c", "over = fmax(over, out->dual[j]);", ";", "method-rsr"),
  mutant("src/mm.c", "if (s->convex) *norm = u * u * dual;", "if (s->convex) *norm = 2.0 * u * u * dual;", "method-rsr|method-rrss|method-alnr"),
  mutant("src/base_rsr.c", "s.out->dual[j] <= 1.0 ? 0.0 : first;", "s.out->dual[j] <= 1.0 ? 0.0 : 0.0 * first;", "method-rsr"),
  mutant("src/base_rsr.c", "return worst <= 1.0;", "return worst <= 1.2;", "method-rsr"),
  mutant("src/mm.c", "if (s->bold && !(s->merit <= s->best * (1.0 + UFS_ROUNDING))) {", "if (false) {", "method-rsr|method-rrss|method-udfs"),
  mutant("src/mm.c", "else if (!enter(s) && !leave(s, WORTH))", "else if (!leave(s, WORTH))", "method-rsr|method-udfs"),
  mutant("src/mm.c", "by > 0.0 ? 0.5 * log1p(expm1(2.0 * by) / left) : by / left;", "by / left;", "method-rrss"),
  mutant("src/mm.c", "(s->convex && out->gap < -UFS_TIE)", "false", "method-rrss|method-alnr|samp"),
  mutant("src/samp_rrss.c", "product_norms(work, work->yt, 2.0, s->out->dual);", "product_norms(work, work->yt, 1.0, s->out->dual);", "method-rrss|samp"),
  mutant("src/mm.c", "out->primal += price * *norm;", "out->primal += *norm;", "method-rrss|objective"),
  mutant("src/base_udfs.c", "q[a + a * S] += problem->lambda;", "q[a + a * S] += 0.5 * problem->lambda;", "method-udfs"),
  mutant("src/base_wstep.c", "row2 += (weight[v] - rest) * (p > n", "row2 += (1.0 - rest) * (p > n", "method-udfs|method-sogfs"),
  mutant("src/mm.c", "done = !violated(s, j);", "", "method-udfs",
    "such rows enter after the first of two calm steps already, but for those that left at the end"),
  mutant("src/base_mcfs.c", "if (!(left > UFS_TIE * own)) return false;", "", "method-mcfs"),
  mutant("src/base_mcfs.c", "if (!(s->dir[a] * s->sign[a] < 0.0)) continue;", "", "method-mcfs"),
  mutant("src/base_spec.c", "pow(fmax(s->l[t], 0.0), s->power)", "pow(fmax(s->l[t], 0.0), s->power + 1)", "method-spec"),
  mutant("src/base_spec.c", "mean += g->degree[i] * f[i];", "mean += f[i];", "method-laplacian"),
  mutant("src/base_css.c", "if (!(work->d[j] > UFS_TIE * work->norm2[j])) return 0.0;", "", "method-css"),
  mutant("src/base_css.c", "work->d[i] -= w * w;", "work->d[i] += w * w;", "method-css"),
  mutant("src/base_css.c", "else if (t < m || !*exact)\n", "else if (t < m)\n", "method-css"),
  # ---- top-k selection ----
  mutant("src/solve_topk_bound.c", "bound += gradient[j];", "", "method-topk"),
  mutant("src/solve_topk_criterion.c", "2.0 * ratio * work->rt[", "ratio * work->rt[", "method-topk"),
  mutant("R/method-topk.R", "members <- order(first)", "members <- seq_along(first)", "method-topk"),
  mutant("src/solve_topk_z.h", "(1.0 - theta->alpha) * 0.5 * d2", "(1.0 - theta->alpha) * d2", "method-topk"),
  mutant("src/solve_topk.c", "if (run->lapack) return;\n            result->change = theta_change(work);", "if (run->lapack) return;", "method-topk"),
  mutant("src/solve_topk_label.c", "if (again <= wss + UFS_TIE)", "if (false)", "method-topk"),
  mutant("src/solve_topk_lp.c", "if (over > worst && !row->in_set[j] && j != row->i) {", "if (over > worst && !row->in_set[j]) {", "method-topk"),
  mutant("src/solve_topk_bound.c",
    "for (int i = 0; i < made; i++) work->overall = fmin(work->overall, t[i].lower);", "", "method-topk"),
  mutant("src/solve_topk_admm.c", "for (int i = 0; i < 3; i++) raise_to(&largest, work->block->residual[i]);", "raise_to(&largest, work->block->residual[2]);", "method-topk"),
  mutant("src/solve_topk_admm.c", "b->y[i] = mu * (b->t[i] - b->qx[i]);", "b->y[i] = mu * b->t[i];", "method-topk"),
  mutant("src/solve_topk_admm.c", "1.0, work->x, n, b->t, p, 1.0, b->product, n);", "0.0, work->x, n, b->t, p, 1.0, b->product, n);", "method-topk"),
  mutant("src/solve_topk_admm.c", "sum += settings->lambda_e * fabs(e[i]);", "sum += fabs(e[i]);", "method-topk"),
  mutant("src/solve_topk_admm.c", "b->h[i] = mu * (b->q[i] - b->h[i]);", "b->h[i] = mu * b->q[i];", "method-topk"),
  mutant("src/solve_topk_admm.c", "b->t[i] = b->x[i] - b->e[i] + c / next;", "b->t[i] = b->x[i] - b->e[i];", "native-topk"),
  mutant("src/solve_topk_admm.c", "double c = settings->nonnegative ? reach[j] : fabs(reach[j]);", "double c = 0.0;", "native-topk"),
  mutant("src/solve_topk_bound.c", "if (t[i].lower < t[at].lower) at = i;", "", "method-topk"),
  mutant("R/method-topk.R", "(r^2 * (p + r) + 40 * r * p * classes) < 2e9", "(r^2 * (p + r)) < 2e10", "method-topk"),
  mutant("R/method-topk.R", "> max(2e9, 2 * products)", "> 2 * products", "method-topk"),
  mutant("R/method-topk.R", "> max(2e9, 2 * products)", "> 2e9", "method-topk"),
  mutant("src/la_eig.c", "if (info) info = spectrum(n, d + N, e + N, il, iu, w, z, true);", "", "native-la"),
  mutant("src/la_eig.c", "ufs_copy(z, vector + skip * N, (size_t) k * N);", "ufs_copy(z, vector, (size_t) k * N);", "native-la"),
  mutant("src/solve_topk_admm.c", "ufs_copy(b->qx, b->zx, P * W);", "", "method-topk"),
  mutant("src/solve_topk_admm.c", "if (!state->solved || change > settings->tol) {", "if (true) {", "method-topk"),
  mutant("src/solve_topk_admm.c", "if (coarse && most > FIRST) most = FIRST;", "if (most > FIRST) most = FIRST;", "method-topk"),
  mutant("src/solve_topk_admm.c", "z = z < least ? least : z;", "", "method-topk"),
  mutant("src/solve_topk_admm.c", "work->mu * fmin(1.0, settings->tol / change)", "work->mu", "method-topk"),
  mutant("src/solve_topk.c", "memcpy(work->theta_label, result->label, (size_t) problem->n * sizeof(int));", "", "method-topk"),
  mutant("src/solve_topk.c", "work->theta.projected = work->theta_projected;", "work->theta.projected = work->projected;", "method-topk"),
  mutant("src/solve_topk.c", "drift += diff * fabs(work->result->z[i + j * N]);", "", "method-topk"),
  mutant("src/solve_topk.c", "work->settings->solver == TOPK_ADMM && work->z->iterations == 0)", "work->settings->solver == TOPK_ADMM)", "method-topk"),
  mutant("R/method-topk.R", "other <- 2 * stats::median(", "other <- stats::median(", "method-topk"),
  mutant("src/solve_topk_criterion.c", "+= 1.0 + lambda_i * degree_of(weights, n, j);", "+= 1.0;", "method-topk"),
  # ---- BLFSE ----
  mutant("src/solve_blfse.c", "work->y = work->y_old;", "", "method-blfse"),
  mutant("src/solve_blfse.c", "label[d] == own ? weight[k] : 0.0", "k == 0 && label[d] == own ? weight[k] : 0.0", "method-blfse"),
  mutant("src/solve_blfse.c", "work->stays = moved == 0.0 &&", "work->stays =", "method-blfse"),
  mutant("src/solve_blfse.c", "if (work->stays) return;", "", "method-blfse"),
  mutant("src/solve_blfse.c", "label[d] == own ? set->near[d] : set->far[d]", "label[d] == own ? set->near[d] : 0.0", "method-blfse"),
  mutant("src/solve_blfse.c", "own, M * sizeof(int)) != 0", "own, sizeof(int)) != 0", "method-blfse"),
  mutant("src/solve_blfse_projection.c", "work->g[i + j * P] + work->g[j + i * P]", "2.0 * work->g[i + j * P]", "method-blfse"),
  mutant("src/la_packed.c", "if (j0 > 0 && !half)", "if (false)", "native-qp"),
  mutant("src/la_packed.c", "half ? 0.0 : to[j0 + a]", "0.0", "native-qp"),
  mutant("src/la_packed.c", "if (half) to[j] *= 0.5;", "", "method-blfse"),
  mutant("src/la_packed.c", "if (label[l] == from) label[l] = to;", ";", "native-qp"),
  mutant("R/method-blfse-output.R", "last <- pmax(rows, col)", "last <- rows", "method-blfse"),
  mutant("src/base_inffs.c", "run->tol, ROUGH) ?", "run->tol, 1.0) ?", "method-inffs"),
  mutant("src/base_inffs.c", "behind += (long double) a->t[i] * x[i];", "", "method-inffs"),
  mutant("src/base_inffs.c", "KRYLOV = 40, EXACT = 369", "KRYLOV = 40, EXACT = 5000", "method-inffs"),
  mutant("src/base_inffs.c", "SHORT = 58 };", "SHORT = 59 };", "method-inffs"),
  mutant("src/base_inffs.c", "fabs(1.0 - result->score[i] + result->damping * ay[i])", "0.0", "method-inffs"),
  mutant("src/solve_blfse.c", "w = work->lambda / (2.0 * a);", "w = work->lambda / a;", "method-blfse"),
  mutant("src/solve_blfse.c", "a = q * (1.0 - s) * (1.0 - s) + positive(total - q) * s * s;",
    "a = q * (1.0 - s) * (1.0 - s);", "method-blfse"),
  mutant("src/solve_blfse_projection.c", "if (split.lo + split.eq > work->problem->c) work->result->p_unique = false;", "", "method-blfse"),
  mutant("src/solve_blfse_projection.c", "work->upper[i] = 2.0 * work->top * work->g_diag[i] + s;",
    "work->upper[i] = 0.2 * work->top * work->g_diag[i] + s;", "method-blfse"),
  mutant("src/qp_simplex.c", "r[i] -= theta;", "", "native-qp|method-blfse"),
  mutant("R/method-blfse.R", "score <- score - min(score, 0, na.rm = TRUE)", "", "method-blfse"),
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
  mutant("src/solve_alfs_bound.c", "if (fabs(s) * t > 1.0) s = s > 0.0 ? 1.0 / t : -1.0 / t;", "", "method-alfs"),
  mutant("src/solve_alfs_bound.c", "? fmax(outside, 1.0) : outside;", "? 1.0 : -1.0;", "method-alfs"),
  mutant("src/solve_alfs_bound.c", "? fmax(outside, 1.0) : outside;", "? outside : outside;", "method-alfs"),
  mutant("src/solve_alfs_bound.c", "norm > split->penalty ? split->penalty / norm", "false ? split->penalty / norm", "method-alfs"),
  mutant("src/solve_alfs_bound.c", "for (int i = 0; i < two->n; i++) t = fmax(t, sqrt(two->sum[i]) / two->penalty);", "t = fmax(t, 1.0);", "method-alfs"),
  mutant("src/solve_alfs_bound.c", "g -= multiplier(other, m, i, j);", "g -= 0.0;", "method-alfs"),
  mutant("src/solve_alfs.c", "zero < 1.0", "zero < 2.0", "method-alfs"),
  mutant("src/solve_alfs.c", "(1.0 + split->ridge / split->rho)", "(1.0 + 0.0)", "method-alfs"),
  mutant("src/solve_alfs_bound.c", "if (split->on && split->cut[alfs_line(split, i, at)] == 1.0)", "if (false)", "method-alfs"),
  mutant("src/alfs_columns.c", "ufs_trace_reserve(&full->run->trace, ROUND + 1);", "", "^alfs$"),
  mutant("src/solve_alfs.c", "if (!(fabs(f - f_old) < tol * f_old) && f != f_old) return false;", "", "method-alfs"),
  mutant("src/solve_alfs.c", "problem->lambda >= problem->bound[WEIGHTS] * (1.0 - 1e-14)",
    "problem->lambda >= 0.5 * problem->bound[WEIGHTS]", "method-alfs"),
  # ---- samples ----
  mutant("src/samp_ted.c", "decrease(work, j) >= least) return j;", "decrease(work, j) >= top) return j;", "method-ted"),
  mutant("src/samp_ted.c", "if (made > 0 && best_item(work) != j) break;", "", "method-ted"),
  mutant("src/x_ops.c", "= i < at ? 2.0 * col[i] :", "= i < at ? col[i] :", "native-x|method-ted"),
  mutant("src/samp_ted.c", "if (!(i == next || (room &&", "if (!((room &&", "method-ted"),
  mutant("src/samp_ted.c", "if (b > 0 && stale(followed, at)) break;", "", "method-ted",
    "the next batch starts from fresh numbers anyway: only digits of the last few picks"),
  mutant("R/method-medoids.R", "- length(unique(first[labelled]))", "", "method-medoids"),
  mutant("R/method-cur.R", "if (!is.na(gap) && gap < 1e-8 && control$warn) {", "if (FALSE) {", "method-cur"),
  mutant("R/method-cur.R", "(sweep(v^2, 2L, colSums(v^2), \"/\")) / rank", "(sweep(v^2, 2L, colSums(v^2), \"/\"))", "method-cur"),
  mutant("R/method-pca.R", "if (rank < n_components) {", "if (FALSE) {", "baselines|contract"),
  # ---- eigenpairs ----
  mutant("src/la_eig.c", "for (; rest > 4 * PANEL; rest -= PANEL)", "for (; rest > 4 * PANEL; rest -= 2 * PANEL)", "native-la"),
  mutant("src/la_norm.c", "keep = at > 0 ? 1.0 : 0.0;", "keep = 0.0;", "native-la"),
  mutant("src/x_pca.c", "if (found.lapack || found.converged || !can_gram) return found.lapack;", "return found.lapack;", "baselines"),
  mutant("src/la_eigs.c", "i == j ? s->theta[j] : 0.0", "i == j ? s->theta[keep - 1 - j] : 0.0", "native-x"),
  mutant("src/la_eigs.c", "s->check = true;\n", "", "native-x"),
  mutant("src/la_low.c", "value[more - 1] - value[more] > 100.0 * tol", "true", "native-qp|method-blfse"),
  mutant("src/base_inffs.c", "if (done)", "if (true)", "method-inffs"),
  mutant("src/base_inffs.c", "u[0] / (1.0 - result->damping * s.theta[j])", "u[0] * (1.0 + result->damping * s.theta[j])", "method-inffs"),
  mutant("src/graph_knn.c", "*right = j0 == i0 ? left : other;", "*right = left;", "kernel-graph"),
  mutant("src/graph_knn.c", "deep, 1.0, left, ni, right, nj, l0 > 0 ? 1.0 : 0.0,", "deep, 1.0, left, ni, right, nj, 0.0,", "kernel-graph"),
  mutant("src/samp_rrss.c", "over * full * full / less", "0.2 * over * full * full / less", "method-rrss|samp",
    why = "a slower way to the same root"),
  mutant("src/samp_rrss.c", "over = by * full - 1.0;", "over = 0.5 * by * full - 1.0;", "method-rrss|samp"),
  mutant("src/la_eigs.c", "if (j < s->a->k - s->a->n_rough) return exact;", "", "method-sogfs|native-la|kernel-graph|embed"),
  mutant("src/base_sogfs.c", ".low = -2.0 * top,", ".low = -0.5 * top,", "method-sogfs"),
  mutant("src/samp_alnr.c", "dual[work.index[l + i * S]] += v * v", "dual[work.index[l + i * S]] = v * v", "method-alnr"),
  mutant("src/samp_facility.c", "if (l <= n_open) sum += work->sorted[n_open - l];", "if (l <= n_open) sum += work->sorted[l - 1];",
    "method-facility"),
  mutant("src/samp_facility.c", "work->upper[i] >= best - tie) return i;", "work->upper[i] > best + tie) return i;", "method-facility"),
  mutant("src/samp_facility.c", "rise_of(work, r, PICK) >= picks; r =", "rise_of(work, r, PICK) > picks; r =", "method-facility"),
  mutant("src/samp_facility.c", "if (work->known[list[b]] < since) since = work->known[list[b]];", "", "method-facility"),
  mutant("src/samp_facility.c", "work->upper[j] -= fmin(s, work->cover[rows[a]]) - before;", "work->upper[j] -= s - before;", "method-facility"),
  mutant("src/samp_facility.c", "return (least - 1.0 - margin) * size;", "return (least - 0.9 - margin) * size;", "method-facility"),
  mutant("src/samp_facility.c", "return 0.5 * (work->problem->bandwidth * log(least)", "return 0.5 * (0.5 * work->problem->bandwidth * log(least)",
    "method-facility"),
  mutant("src/samp_facility.c", "least = work->sorted[found - most];", "least = work->sorted[most];", "method-facility",
    "any order of looking ends at the same pick; more are looked at"),
  mutant("src/samp_facility.c", "best = fmax(best, work->upper[list[b]]);", "", "method-facility"),
  mutant("src/samp_facility.c", "swap->best[i] - fmax(s[i], swap->second[i]);", "swap->best[i] - s[i];", "method-facility"),
  mutant("src/propagate.c", "if (edge[i] <= weak || i == (size_t) index[a]) continue;", "if (edge[i] <= weak) continue;", "method-propagate"),
  mutant("src/propagate.c", "if (problem->cmn) class_mass(problem, (int) u, y);", "", "method-propagate")
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
