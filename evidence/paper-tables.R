# The evaluation of the ALFS paper (Li et al. 2019, section 4; Tables II, III, VI, VII, X and XI), run
# again: ALFS-I and -II by the published Algorithm 1 over the published absolute grid on data as
# they are, and by the certified solver with relative penalties, each with samples by the published
# row norms and by TED; the fifteen pipelines {Laplacian, SPEC, SOGFS, UDFS, Inf-FS} x {TED, RRSS,
# ALNR} and all features with TED, RRSS, ALNR, each with its default and over the published grid of
# the sample method; R-CUR, random choice; linear SVM (cost 100) and a fully grown tree, which may
# split ten samples.
#   Rscript paper-tables.R --data=FOLDER --sets=musk1,madelon,orl,tox171 --repeats=10
#   --out=FOLDER
# One file per repeat and block is written at once, so that a run that was killed resumes. The last step, also alone with --only=tables,
# writes paper-<set>.csv.gz: one row per method, choice, k, m and classifier with mean and standard
# deviation over repeats. `choice` says how the setting was found: "default", "chosen" (without
# labels, by neighbour overlap averaged over the k), "best of N" (the setting of the largest mean
# test accuracy, cell by cell: chosen with the labels of the test half).
library(ufselect)
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L]))
if (!exists("read_set")) source(file.path(here, "common.R"))

folder <- option("data", Sys.getenv("UFSELECT_DATA"))
out <- option("out", "paper-tables")
sets <- words(option("sets", "musk1,madelon,orl,tox171"))
repeats <- as.integer(option("repeats", "10"))
ks <- c(10L, 30L, 50L, 70L, 90L)
# Labelled samples. TOX-171: the paper's (its Table X). ORL: not stated; its all-features columns
# fit 150, not 100. Musk: not stated, half of the candidates. Madelon: the paper's 1200 of 1300; of
# the 300 candidates of 600 simulated rows, the same share.
labelled <- c(musk1 = 119L, orl = 150L, tox171 = 70L, madelon = 277L)
# The published grid {1e-4, ..., 1e3} of each penalty is run whole where a fit costs below a second;
# elsewhere its ends and the middle, which on these data choose the same as what lies between.
published <- 10^(-4:3)
coarse <- c(1e-4, 1e-1, 1e1, 1e3)
ends <- c(1e-4, 1, 1e3)
values <- list(musk1 = list(one = published, two = ends), orl = list(one = ends, two = c(1e-4, 1e3)),
  tox171 = list(one = ends, two = c(1e-4, 1e3)), madelon = list(one = coarse, two = c(1e-4, 1e3)))
# Feature selectors of the two-step pipelines, where the package's defaults rank too few features:
# the paper states no settings.
selectors <- list(
  "LS" = list("laplacian"), "SPEC" = list("spec", type = "phi1"),
  "SOGFS" = list("sogfs", gamma = 1e-3), "UDFS" = list("udfs", gamma = 1e-3), "Inf-FS" = list("inffs"))
samplers <- list("TED" = list("ted", "mu"), "RRSS" = list("rrss", "gamma"), "ALNR" = list("alnr", "gamma"))

# Linear machines with cost 100 take seconds each on 50 and more columns of Madelon, so there they
# judge the few columns alone, of settings that were not searched.
slow_svm <- function(set, role, k) set == "madelon" && (k > 30L || !role %in% c("default", "chosen", "draw"))

# ---- one repeat ------------------------------------------------------------------------

classifiers <- list(
  svm = function(x, y, newx) {
    predict(e1071::svm(x, y, kernel = "linear", cost = 100, scale = FALSE), newx)
  },
  full_tree = function(x, y, newx) {
    frame <- function(block) setNames(as.data.frame(block), paste0("v", seq_len(ncol(block))))
    tree <- rpart::rpart(y ~ ., cbind(y = y, frame(x)), method = "class",
      control = rpart::rpart.control(minsplit = 10, minbucket = 1, cp = 0, xval = 0, maxsurrogate = 0))
    predict(tree, frame(newx), type = "class")
  })

# Stratified halves, the same for all methods of a repeat.
split_set <- function(data, i) {
  set.seed(100 + i)
  candidates <- sort(unlist(lapply(split(seq_along(data$y), data$y), function(rows) {
    rows[sample.int(length(rows), max(1L, round(length(rows) / 2)))]
  }), use.names = FALSE))
  raw <- data$x[candidates, , drop = FALSE]
  centre <- colMeans(raw)
  spread <- apply(raw, 2L, sd)
  standard <- function(block) {
    block <- sweep(sweep(block, 2L, centre), 2L, ifelse(spread > 0, spread, 1), "/")
    block[, !(spread > 0)] <- 0
    block
  }
  list(raw = raw, z = standard(raw), new = standard(data$x[-candidates, , drop = FALSE]),
    y = data$y[candidates], truth = data$y[-candidates], classes = nlevels(data$y),
    set = data$set, seen = new.env())
}

# Accuracy of a classifier; what was judged before is looked up.
judge <- function(half, columns, rows, classifier) {
  all_columns <- length(columns) == ncol(half$z)
  key <- paste(c(classifier, if (all_columns) "all" else sort(columns), 0L, sort(rows)), collapse = " ")
  if (is.null(half$seen[[key]])) {
    columns <- sort(columns)
    rows <- sort(rows)
    y <- droplevels(half$y[rows])
    guess <- if (nlevels(y) == 1L) rep(levels(y), nrow(half$new)) else {
      classifiers[[classifier]](half$z[rows, columns, drop = FALSE], y, half$new[, columns, drop = FALSE])
    }
    half$seen[[key]] <- mean(as.character(guess) == as.character(half$truth))
  }
  half$seen[[key]]
}

# `pick` names the set of the first ten columns, to count how many a grid finds.
row_of <- function(half, method, setting, role, k, columns, rows, seconds = NA, status = "") {
  names <- names(classifiers)[c(!slow_svm(half$set, role, k), TRUE)]
  accuracy <- vapply(names, function(name) judge(half, columns, rows, name), 0)
  pick <- if (k == 10L) paste(sort(columns), collapse = " ") else ""
  data.frame(method, setting, role, k, m = length(rows), classifier = names, accuracy = unname(accuracy),
    missing = half$classes - length(unique(half$y[rows])), seconds, status, pick)
}

best_features <- function(fit, k) silently(selected_features(fit, k, as = "index"))
best_samples <- function(fit, m) silently(selected_samples(fit, m, as = "index"))

# A joint method at every k.
joint_rows <- function(half, method, setting, role, fit, m, seconds) {
  do.call(rbind, lapply(ks, function(k) {
    row_of(half, method, setting, role, k, best_features(fit, k), best_samples(fit, m), seconds, fit$status)
  }))
}

# A fit of ALFS with select_samples = "ted", at every k and m, with its samples by TED in the space of the
# k best features and by the norms of the rows of W, which are in its solution.
alfs_rows <- function(half, method, setting, role, fit, ms, seconds, sizes = ks) {
  by_norm <- ufselect:::ufs_rank(fit$solution$row_norm)
  do.call(rbind, lapply(sizes, function(k) {
    columns <- best_features(fit, k)
    do.call(rbind, lapply(ms, function(m) {
      by_ted <- silently(selected_samples(fit, m, k = min(k, 90L), as = "index"))
      rbind(row_of(half, paste0(method, ", norm"), setting, role, k, columns, by_norm[seq_len(m)], seconds, fit$status),
        row_of(half, paste0(method, ", TED"), setting, role, k, columns, by_ted, seconds, fit$status))
    }))
  }))
}

# All settings of a grid of ALFS, and again the one chosen without labels.
alfs_grid <- function(half, method, grid, ms, sizes = ks, ...) {
  seconds <- cpu({
    fits <- silently(ufs_grid(half$raw, "alfs", grid, select_samples = "ted", select = "norm", ..., keep_fits = TRUE))
    best <- ufselect:::judge_settings(fits, ufselect:::open_data(half$raw), ks, "knn_overlap",
      list(fixed = list(), n_starts = 2L))$best
  })
  all <- do.call(rbind, lapply(which(fits$results$status != "error"), function(i) {
    alfs_rows(half, method, i, "grid", fits$fits[[i]], ms, fits$results$seconds[i], sizes)
  }))
  rbind(all, alfs_rows(half, method, best, "chosen", fits$fits[[best]], ms, seconds, sizes))
}

timed <- function(code) {
  seconds <- cpu(fit <- silently(code))
  list(fit = fit, seconds = seconds)
}

relative <- expand.grid(alpha_rel = c(.01, .05, .2, .4), beta_rel = c(.01, .05, .2, .4))
relative <- relative[relative$alpha_rel + relative$beta_rel <= .5, ]
local <- expand.grid(alpha_rel = c(.01, .1), beta_rel = c(.05, .2), lambda_rel = c(3e-4, 3e-3))
paper_values <- function(penalty, lambda) expand.grid(alpha = penalty, beta = penalty, lambda = lambda)

# The lines that are not searched: what ufs_alfs() is asked for.
default_calls <- list(
  "ALFS-I certified" = list(lambda_rel = 0, solver = "admm", select = "norm", select_samples = "ted"),
  "ALFS-II certified" = list(lambda_rel = 1e-3, solver = "admm", select = "norm", select_samples = "ted"),
  "ALFS-I pivot" = list(lambda_rel = 0, solver = "admm", select = "pivot", select_samples = "ted"))
default_rows <- function(half, name, m, sizes = ks) {
  found <- timed(do.call(ufs_alfs, c(list(half$raw), alfs_settings(default_calls[[name]]))))
  alfs_rows(half, name, 0L, "default", found$fit, m, found$seconds, sizes)
}

random_rows <- function(half, m, draws, sizes = ks) {
  do.call(rbind, lapply(seq_len(draws), function(draw) {
    set.seed(draw + 1000 * sum(half$raw[, 1]))
    rows <- sample.int(nrow(half$raw), m)
    order <- sample.int(ncol(half$raw))
    do.call(rbind, lapply(sizes, function(k) row_of(half, "random", draw, "draw", k, order[seq_len(k)], rows)))
  }))
}

# Table X: accuracy by queries and features. Table XI: the same with a fifth of noise samples.
by_queries <- function(half, ms) {
  sizes <- c(ks, 100L, ncol(half$raw))
  rbind(
    alfs_grid(half, "ALFS-II certified", local, ms, sizes[-7L], solver = "admm"),
    do.call(rbind, lapply(ms, function(m) random_rows(half, m, nrow(local), sizes[-7L]))),
    do.call(rbind, lapply(ms, function(m) {
      fit <- silently(ufs_ted(half$raw, m = m))
      p <- ncol(half$raw)
      rbind(row_of(half, "all+TED", 0L, "default", p, seq_len(p), best_samples(fit, m)),
        row_of(half, "all+random", 1L, "draw", p, seq_len(p), sample.int(nrow(half$raw), m)))
    })))
}

blocks <- list(
  baselines = function(half, m, set) {
    p <- ncol(half$raw)
    everyone <- seq_len(nrow(half$raw))
    few <- do.call(rbind, lapply(1:4, function(draw) {
      row_of(half, "all+random", draw, "draw", p, seq_len(p), sample.int(nrow(half$raw), m))
    }))
    rbind(random_rows(half, m, length(values[[set]]$one)^2), few,
      row_of(half, "all features, all candidates", 1L, "default", p, seq_len(p), everyone))
  },
  cur = function(half, m, set) {
    do.call(rbind, lapply(0:4, function(i) {
      found <- timed(if (i) ufs_cur(half$raw, rank = c(5, 10, 20, 40)[i]) else ufs_cur(half$raw))
      joint_rows(half, "R-CUR", i, if (i) "grid" else "default", found$fit, m, found$seconds)
    }))
  },
  ours = function(half, m, set) {
    rbind(do.call(rbind, lapply(names(default_calls), function(name) default_rows(half, name, m))),
      alfs_grid(half, "ALFS-I certified", relative, m, solver = "admm"),
      alfs_grid(half, "ALFS-II certified", local, m, solver = "admm"))
  },
  # Algorithm 1 as published, on the data as they are.
  paper1 = function(half, m, set) {
    alfs_grid(half, "ALFS-I paper", paper_values(values[[set]]$one, 0), m, solver = "paper", center = FALSE,
      scale = FALSE)
  },
  pipelines = function(half, m, set) {
    do.call(rbind, lapply(names(selectors), function(name) {
      found <- selector_fit(half, name)
      do.call(rbind, lapply(ks, function(k) sampler_rows(half, name, found, best_features(found$fit, k), m)))
    }))
  },
  samplers = function(half, m, set) {
    sampler_rows(half, "all", list(seconds = 0), seq_len(ncol(half$raw)), m)
  },
  paper2 = function(half, m, set) {
    alfs_grid(half, "ALFS-II paper", paper_values(values[[set]]$two, values[[set]]$two), m, solver = "paper",
      center = FALSE, scale = FALSE)
  },
  queries = function(half, m, set) if (set == "tox171") by_queries(half, seq(10L, 70L, by = 10L)),
  # Where rounding leaves a half with fewer samples than the paper's 102, all of it is asked for.
  noise = function(half, m, set) if (set == "tox171") {
    noisy <- half$noisy()
    most <- min(102L, nrow(noisy$raw))
    rows <- by_queries(noisy, c(10L, 30L, 50L, 70L, 90L, most))
    rows$m[rows$m == most] <- 102L
    rows
  }
)

selector_fit <- function(half, name) {
  selector <- selectors[[name]]
  arguments <- selector[-1L]
  if ("n_clusters" %in% names(formals(paste0("ufs_", selector[[1L]]))) && selector[[1L]] != "spec") {
    arguments$n_clusters <- half$classes
  }
  timed(do.call(ufs, c(list(half$raw, selector[[1L]]), arguments)))
}

# TED, RRSS and ALNR on the chosen columns: default and the published grid of their penalty, on
# standardised columns (which suits absolute penalties better than raw ones).
sampler_rows <- function(half, name, found, columns, m, settings = 0:length(published)) {
  do.call(rbind, Map(function(sampler, label) {
    do.call(rbind, lapply(settings, function(i) {
      arguments <- if (i) setNames(list(published[i]), sampler[[2L]])
      second <- timed(do.call(ufs, c(list(half$raw[, columns, drop = FALSE], sampler[[1L]]), arguments)))
      row_of(half, paste0(name, "+", label), i, if (i) "grid" else "default", length(columns), columns,
        best_samples(second$fit, m), found$seconds + second$seconds, second$fit$status)
    }))
  }, samplers, names(samplers)))
}

# ---- all repeats, and the tables ----------------------------------------------------------

read_evaluation_set <- function(set) {
  data <- if (set == "madelon") {
    set.seed(2003)
    simulate_madelon(600)
  } else if (set == "musk1" && requireNamespace("kernlab", quietly = TRUE)) {
    place <- new.env()
    utils::data("musk", package = "kernlab", envir = place)
    list(x = as.matrix(place$musk[, 1:166]), y = place$musk$Class)
  } else read_set(folder, set)
  list(x = data$x, y = data$y, set = set)
}

# One repeat of a set: its halves, and the same with a fifth of noise samples.
one_repeat <- function(data, i) {
  # Data that are drawn are drawn before the seed of the halves is set.
  force(data)
  half <- split_set(data, i)
  half$noisy <- function() {
    set.seed(1000 + i)
    more <- add_noise(scale(data$x), data$y)
    split_set(list(x = more$x, y = more$y, set = data$set), i)
  }
  half
}

run_block <- function(half, name, set, i) {
  set.seed(i)
  rows <- blocks[[name]](half, labelled[[set]], set)
  if (is.null(rows)) return(NULL)
  cbind(set = set, rep = i, table = switch(name, queries = "X", noise = "XI", "main"), rows)
}

run_sets <- function(sets) {
  sources <- sources_of(evaluated)
  for (i in seq_len(repeats)) for (set in sets) {
    work <- file.path(out, paste0("work-", set))
    dir.create(work, showWarnings = FALSE, recursive = TRUE)
    half <- NULL
    for (name in names(blocks)) {
      file <- file.path(work, sprintf("%s-%02d.csv", name, i))
      if (file.exists(file)) next
      if (is.null(half)) half <- one_repeat(read_evaluation_set(set), i)
      seconds <- cpu(rows <- run_block(half, name, set, i))
      if (is.null(rows)) next
      write.csv(cbind(rows, sources = sources), paste0(file, ".part"), row.names = FALSE)
      file.rename(paste0(file, ".part"), file)
      say("%s repeat %d %s: CPU %.0f s\n", set, i, name, seconds)
    }
  }
}

summarise_rows <- function(rows, choice) {
  data.frame(set = rows$set[1L], table = rows$table[1L], method = rows$method[1L], choice = choice, k = rows$k[1L],
    m = rows$m[1L], classifier = rows$classifier[1L], mean = round(mean(rows$accuracy), 4),
    sd = round(sd(rows$accuracy), 4), repeats = length(unique(rows$rep)), missing = round(mean(rows$missing), 2),
    not_converged = round(mean(!rows$status %in% c("", "converged", NA)), 2),
    seconds = round(mean(rows$seconds), 3), distinct = NA_real_)
}

# The lines of one cell: as they are, and over settings or draws the mean and the best.
summarise_cell <- function(cell) {
  lines <- lapply(intersect(c("default", "chosen"), cell$role), function(role) {
    summarise_rows(cell[cell$role == role, ], role)
  })
  searched <- cell[cell$role %in% c("grid", "draw"), ]
  if (nrow(searched)) {
    by_setting <- tapply(searched$accuracy, searched$setting, mean)
    best <- names(by_setting)[which.max(by_setting)]
    everyone <- searched
    everyone$accuracy <- ave(searched$accuracy, searched$rep)
    # The settings of a grid are the same in all repeats; draws are not, so the best is each repeat's.
    best_rows <- if (searched$role[1L] == "draw") {
      do.call(rbind, lapply(split(searched, searched$rep), function(part) part[which.max(part$accuracy), ]))
    } else searched[searched$setting == best, ]
    more <- list(summarise_rows(everyone[!duplicated(everyone$rep), ], paste("mean of", length(by_setting))),
      summarise_rows(best_rows, paste("best of", length(by_setting))))
    if (cell$k[1L] == 10L) {
      more[[2L]]$distinct <- round(mean(tapply(searched$pick, searched$rep, function(p) length(unique(p)))), 1L)
    }
    lines <- c(lines, more)
  }
  do.call(rbind, lines)
}

write_tables <- function(set) {
  files <- list.files(file.path(out, paste0("work-", set)), "[.]csv$", full.names = TRUE)
  if (!length(files)) return(invisible())
  all <- do.call(rbind, lapply(files, read.csv, colClasses = c(pick = "character")))
  # Lines are compared over the same repeats: those that all blocks have finished, or the first.
  finished <- table(as.integer(sub(".*-([0-9]+)[.]csv$", "\\1", files[!grepl("/(queries|noise)-", files)])))
  main <- setdiff(names(blocks), c("queries", "noise"))
  finished <- as.integer(names(finished)[finished == length(main)])
  all <- all[all$table != "main" | all$rep %in% if (length(finished)) finished else 1L, ]
  cells <- split(all, list(all$table, all$method, all$k, all$m, all$classifier), drop = TRUE)
  table <- do.call(rbind, lapply(cells, summarise_cell))
  first <- unique(c(grep("^ALFS", unique(table$method), value = TRUE), sort(unique(table$method))))
  table <- table[order(table$table, table$classifier, match(table$method, first), table$choice, table$m, table$k), ]
  file <- file.path(out, paste0("paper-", set, ".csv.gz"))
  write.csv(table, gzfile(file), row.names = FALSE)
  table
}

evaluated <- c("alfs", "laplacian", "spec", "sogfs", "udfs", "inffs", "ted", "rrss", "alnr", "cur")

if (!exists("evidence_only_definitions")) {
  dir.create(out, showWarnings = FALSE, recursive = TRUE)
  if (!identical(option("only"), "tables")) run_sets(sets)
  for (set in sets) write_tables(set)
}
