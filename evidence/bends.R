# How many samples to label: does anything that is seen without labels say it? For each number of
# samples what ufs_select(m = "auto") sees, and how well labels, or measurements, of so many samples
# foretell those of all others; on the sets with classes and on those with a measured response.
#
#   Rscript evidence/bends.R --data=<folder of sets> [--sets=a,b] [--out=bends.csv]
#   Rscript evidence/bends.R --show --out=bends.csv
#
# Sets are cut to 400 rows and 500 columns. cover, residual: the two curves, judged on other halves
# of the rows; cover_differ, residual_differ: what halves differ by. Samples come in the order of
# ufs_facility(). score: % of the other samples that get the right label by ufs_propagate(), or 100
# times R2 of a Gaussian process. wanted: the smallest number that comes within 3 points (5 of R2) of
# the best of all numbers, made increasing. --show has the rules that were tried, all fixed before:
# each beside the same number for all sets, the geometric mean of its answers.
local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(file[1L]), "common.R"))
})
library(ufselect)
ufs <- asNamespace("ufselect")
quiet <- function(code) suppressMessages(suppressWarnings(code))

measured <- function(folder) readRDS(file.path(folder, "regression", "sets.rds"))

measure <- function(folder, set, seed = 1L) {
  real <- measured(folder)[[set]]
  data <- if (is.null(real)) read_set(folder, set) else list(x = real$x, y = as.matrix(real$y)[, 1L])
  set.seed(seed)
  rows <- sort(sample.int(nrow(data$x), min(400L, nrow(data$x))))
  x <- as.matrix(data$x)[rows, ]
  y <- if (is.null(real)) droplevels(data$y[rows]) else data$y[rows]
  x <- x[, apply(x, 2L, stats::sd) > 0]
  x <- x[, sort(sample.int(ncol(x), min(500L, ncol(x))))]
  dimnames(x) <- list(NULL, paste0("f", seq_len(ncol(x))))
  opened <- ufs$open_data(x)
  look <- quiet(ufs$look_unchecked(opened, noise = FALSE))
  scale <- ufs$planned_scale(look, list(task = "label", noise = FALSE), "medoids")
  z <- ufs$as_rescaled_operator(ufs$open_quietly(opened), look$values != "counts", scale)$x
  if (ufs$planned_unit(opened, look)) z <- ufs$unit_rows(z)
  curves <- ufs$sample_curves(z)
  mean <- apply(curves$value, 1:2, mean)
  differ <- apply(abs(curves$value[, , 1L, ] - curves$value[, , 2L, ]), 1:2, mean)
  order <- ufs$sample_ranking(quiet(ufs_facility(z, max(curves$number), center = FALSE, scale = FALSE)))
  near <- exp(-ufs$square_distances(z, z) / stats::median(stats::dist(z)^2))
  graph <- if (is.null(real)) quiet(ufs_graph(x))
  score <- vapply(curves$number, function(m) {
    at <- order[seq_len(m)]
    if (is.null(real)) {
      found <- quiet(ufs_propagate(graph, droplevels(replace(y, -at, NA)), x = base::scale(x)))$label
      return(mean(as.character(found)[-at] == as.character(y)[-at]))
    }
    guess <- near[-at, at, drop = FALSE] %*% solve(near[at, at] + diag(.01, m), y[at] - mean(y[at]))
    1 - sum((y[-at] - mean(y[at]) - guess)^2) / sum((y[-at] - mean(y[-at]))^2)
  }, 0)
  answer <- ufs$enough_samples(curves)
  data.frame(set = set, response = if (is.null(real)) "classes" else "measured", seed = seed,
    version = as.character(utils::packageVersion("ufselect")), n = nrow(x), p = ncol(x),
    clusters = with_seed_of(seed, ufs$found_clusters(opened, TRUE)), answer = answer, m = curves$number,
    cover = mean[, 1L], residual = mean[, 2L], cover_differ = differ[, 1L], residual_differ = differ[, 2L],
    score = 100 * score)
}
with_seed_of <- function(seed, code) {
  set.seed(seed)
  code
}

# ---- shown ---------------------------------------------------------------------------------------

increasing <- function(score) stats::isoreg(score)$yf
wanted <- function(part) {
  score <- increasing(part$score)
  part$m[which(score >= max(score) - if (part$response[1L] == "classes") 3 else 5)[1L]]
}
first <- function(part, good) if (any(good, na.rm = TRUE)) part$m[which(good)[1L]] else max(part$m)
fallen <- function(value) (value[1L] - value) / (value[1L] - value[length(value)])
# The place of the bend of two lines in the logarithm.
elbow <- function(part, value) {
  at <- log(part$m)
  inner <- 3:(nrow(part) - 2L)
  left <- vapply(inner, function(i) {
    sum(stats::lm.fit(cbind(1, pmin(at, at[i]), pmax(at, at[i])), value)$residuals^2)
  }, 0)
  part$m[inner[which.min(left)]]
}
slowed <- function(part, value) {
  gain <- -diff(value) / diff(part$m)
  first(part, gain < .05 * gain[1L])
}
rules <- list(
  `within halves of the largest` = function(t) first(t, t$cover - t$cover[nrow(t)] <= t$cover_differ[nrow(t)] &
    t$residual - t$residual[nrow(t)] <= t$residual_differ[nrow(t)]),
  `elbow, distance` = function(t) elbow(t, t$cover), `elbow, residual` = function(t) elbow(t, t$residual),
  `gain a sample below .05 of the first, distance` = function(t) slowed(t, t$cover),
  `gain a sample below .05 of the first, residual` = function(t) slowed(t, t$residual),
  `0.75 of the fall, distance` = function(t) first(t, fallen(t$cover) >= .75),
  `0.75 of the fall, residual` = function(t) first(t, fallen(t$residual) >= .75),
  `residual below .2` = function(t) first(t, t$residual <= .2),
  `three a cluster found` = function(t) 3 * t$clusters[1L],
  `.3 of the samples` = function(t) .3 * t$n[1L])

show_rules <- function(table) {
  parts <- split(table, table$set)
  answer <- vapply(parts, function(t) t$answer[1L], 0L)
  say("a bend in %d of %d sets: %s\n", sum(!is.na(answer)), length(parts),
    paste(names(parts)[!is.na(answer)], answer[!is.na(answer)], collapse = ", "))
  want <- vapply(parts, wanted, 0)
  n <- vapply(parts, function(t) t$n[1L], 0)
  loss <- function(m) mapply(function(t, m) {
    score <- increasing(t$score)
    max(score) - stats::approx(log(t$m), score, log(min(max(m, 1), max(t$m))))$y
  }, parts, m)
  spearman <- function(m, at = TRUE) stats::cor(m[at], want[at], method = "spearman")
  large <- n >= 350
  print(do.call(rbind, lapply(names(rules), function(name) {
    m <- vapply(parts, rules[[name]], 0)
    same <- exp(mean(log(m)))
    better <- loss(same) - loss(m)
    data.frame(rule = name, mean = same, spearman = spearman(m), `n >= 350` = spearman(m, large), loses = mean(loss(m)),
      `same for all loses` = mean(loss(same)), error = stats::sd(better) / sqrt(length(better)), check.names = FALSE)
  })), digits = 2L, row.names = FALSE)
  say("wanted with n: Spearman %.2f; %d sets have 350 rows or more\n", spearman(n), sum(large))
}

out <- option("out", "bends.csv")
if ("--show" %in% commandArgs(TRUE)) {
  show_rules(utils::read.csv(out, stringsAsFactors = FALSE))
} else {
  folder <- option("data")
  sets <- c(sort(sub("[.]rds$", "", list.files(folder, "[.]rds$")), method = "radix"), names(measured(folder)))
  for (set in if (is.null(option("sets"))) sets else words(option("sets"))) {
    rows <- measure(folder, set)
    numbers <- vapply(rows, is.double, NA)
    rows[numbers] <- lapply(rows[numbers], signif, 4L)
    new <- !file.exists(out)
    utils::write.table(rows, out, append = !new, sep = ",", col.names = new, row.names = FALSE, qmethod = "double")
    say("%s: %s\n", set, rows$answer[1L])
  }
}
