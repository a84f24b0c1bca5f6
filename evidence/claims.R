# Sentences of the help and the pages that compare one choice with another, each held against the stored
# tables: the sentence must be in its file, and its condition must hold in the table as it is now. So a table
# that changes names the sentences that it no longer supports. Numbers are another matter (.ci/typed).
#   Rscript evidence/claims.R     Exit status 0 only if all sentences are there and hold.
table_of <- function(file) {
  at <- c(file.path("inst", "benchmarks", "results", file), file.path("evidence", "results", file))
  utils::read.csv(at[file.exists(at)][1L])
}
findings <- table_of("findings.csv.gz")
# Sets (and numbers of features) in rows, cases in columns.
found <- function(finding, measure) {
  part <- findings[findings$finding == finding & findings$measure == measure, ]
  tapply(part$value, list(part$set, part$case), mean)
}
wins <- function(a, b) sum(a > b + 1e-9, na.rm = TRUE)
labelled <- found("label_samples", "accuracy")
label_mean <- colMeans(labelled, na.rm = TRUE)
random_label <- label_mean[["random"]]
select <- table_of("select.csv")
gain <- function(task, noise) {
  part <- select[select$task == task & (select$noise > 0) == noise, ]
  part$score - part$random
}
to_all <- function(task) {
  part <- select[select$task == task & select$noise == 0, ]
  part$score - part$all
}
columns <- table_of("evidence-columns.csv")
column_gain <- function(what) tapply(columns[[what]], columns$method, mean)
by_consensus <- select[select$task == "cluster" & select$method == "consensus", ]
by_consensus <- tapply(by_consensus$score - by_consensus$all, by_consensus$noise > 0, mean)
ensemble <- findings[findings$finding == "blfse", ]
blfse <- tapply(ensemble$value, list(paste(ensemble$set, ensemble$case), ensemble$measure), mean)
diversified <- findings[findings$finding == "diversify", ]
diversified <- tapply(diversified$value, list(diversified$case, diversified$measure), mean)
in_use <- found("sogfs_live", "live")
dims <- found("sogfs_live", "n_dims")
published <- found("alfs_ranking", "classifiers")
clusters <- found("alfs_ranking", "k-means")
loss <- found("jspca_loss", "svm")
loss_clusters <- found("jspca_loss", "k-means")
scaled <- found("mcfs_scale", "k-means")
links <- list(found("topk_links", "clusters"), found("topk_links", "labels"))
solvers <- found("topk_solvers", "objective")
tune <- table_of("tune.csv")
regret <- tapply(tune$regret, tune$criterion, mean)
# Over the sets, of the default criterion.
default_regret <- tune[tune$criterion == "knn_overlap", ]
default_regret <- tapply(default_regret$regret, default_regret$set, mean)
regret_error <- stats::sd(default_regret) / sqrt(length(default_regret))

claims <- list()
claim <- function(file, text, holds) {
  prose <- gsub("\\s+", " ", gsub("\n#' *", " ", paste(readLines(file, encoding = "UTF-8"), collapse = "\n")))
  claims[[length(claims) + 1L]] <<- data.frame(file, text, there = grepl(text, prose, fixed = TRUE), holds = isTRUE(holds))
}
norm <- "ufs_alfs(select_samples = \"norm\")"
claim("R/method-facility.R", "clearly more accurate than on randomly chosen ones", label_mean[["ufs_facility()"]] > random_label + 2)
claim("R/method-medoids.R", "were more accurate than on randomly chosen ones", label_mean[["ufs_medoids(unit = TRUE)"]] > random_label + 2)
claim("R/method-medoids.R", "was as good a choice", abs(label_mean[["ufs_facility()"]] - label_mean[["ufs_medoids(unit = TRUE)"]]) < 1)
claim("R/method-ted.R", "they did better on real data",
  min(label_mean[c("ufs_facility()", "ufs_medoids(unit = TRUE)")]) > max(label_mean[c("ufs_ted(unit = FALSE)", "ufs_ted(unit = TRUE)")]))
claim("R/method-rrss.R", "there it did worse than random choice", label_mean[["ufs_rrss()"]] < random_label)
claim("R/method-alnr.R", "this ranking did worse than random choice", label_mean[["ufs_alnr()"]] < random_label)
claim("R/method-alfs.R", "was worse than random choice, and that by picks",
  label_mean[[norm]] < random_label && mean(published[, "norm"]) < mean(published[, "random"]) &&
    mean(clusters[, "norm"]) < mean(clusters[, "random"]))
claim("R/method-alfs.R", "a little better", mean(published[, "pivot, TED"]) > mean(published[, "random"]))
claim("R/method-mcfs.R", "scaling helped more often than it hurt",
  wins(scaled[, "scale = TRUE"], scaled[, "scale = FALSE"]) > wins(scaled[, "scale = FALSE"], scaled[, "scale = TRUE"]))
claim("R/method-jspca.R", "Neither loss selects better than the other on most real data",
  wins(loss_clusters[, "sample"], loss_clusters[, "feature"]) <= .6 * nrow(loss_clusters) &&
    abs(mean(loss[, "sample"] - loss[, "feature"])) < 1)
claim("R/method-jspca.R", "classifier the chosen features were hardly better than random ones, for k-means a little better",
  abs(column_gain("svm_gain")[["jspca sample"]]) < 1 && column_gain("cluster_gain")[["jspca sample"]] > 0 &&
    column_gain("cluster_gain")[["jspca sample"]] < 3)
claim("R/method-topk.R", "Neither is the better one on all data",
  all(vapply(links, function(l) wins(l[, 1L], l[, 2L]) * wins(l[, 2L], l[, 1L]) > 0, NA)))
claim("R/method-topk.R", "ends at a lower objective", all(solvers[, "exact"] <= solvers[, "paper"] * (1 + 1e-6)))
claim("R/method-blfse.R", "rarely beat the plain mean of the same rankings", mean(blfse[, "blfse"] > blfse[, "mean"] + 1) < .25)
claim("vignettes/methods-and-mathematics.Rmd", "the plain mean of the base scores was as good or better",
  mean(blfse[, "mean"]) >= mean(blfse[, "blfse"]))
claim("R/method-diversify.R", "it made the chosen features better for clustering", all(diversified[, "diversified"] > diversified[, "alone"]))
claim("R/method-sogfs.R", "hardly more than `n_dims` features stay in use", stats::median(in_use[, "1"] / dims[, "1"]) < 1.5)
claim("R/method-sogfs.R", "with the default .01 many do", stats::median(in_use[, "0.01"] / dims[, "0.01"]) > 3)
claim("R/run-consensus.R", "was about as accurate as on all features", abs(by_consensus[["FALSE"]]) < 3)
claim("R/run-consensus.R", "where most columns are noise more accurate", by_consensus[["TRUE"]] > 0)
claim("R/run-tune.R", "On average the choice beats the methods' defaults by a little", regret[["knn_overlap"]] < mean(tune$default))
claim("vignettes/choosing-parameters.Rmd", "They differ by less than a standard error",
  max(regret) - min(regret) < regret_error)
claim("README.md", "no unsupervised selection reliably beats all features", mean(to_all("classify") > 0) < .5 && mean(to_all("cluster") > 0) < .8)
claim("R/select-plan.R", "Do not expect a selection of features to beat all features on clean data", mean(to_all("classify")) < 1)
claim("R/select-plan.R", "it can win where there is noise to leave out", mean(gain("classify", TRUE)) > mean(gain("classify", FALSE)))
claim("R/zzz.R", "wins where most columns are noise", mean(gain("cluster", TRUE)) > mean(gain("cluster", FALSE)))

pairwise <- table_of("pairwise.csv")
behind_pairs <- function(way) pairwise[[way]] - pairwise$pairwise
over_sets <- function(value) tapply(value, list(pairwise$share, pairwise$gaps), mean)
claim("R/data-moments.R", "captured more of the complete table than after `na = \"median\"`",
  all(over_sets(behind_pairs("median")) < 0))
claim("R/data-moments.R", "far more than after `\"omit\"`", all(over_sets(behind_pairs("omit")) < -4))
half <- behind_pairs("knn") > .5
claim("R/data-moments.R", "did better by over half a point on some sets, with fewer gaps hardly ever",
  mean(half[pairwise$share >= .2]) < .5 && any(half[pairwise$share >= .2]) && mean(half[pairwise$share < .2]) <= .05)
claim("R/data-moments.R", "never by two points", max(behind_pairs("knn")) < 2)
replicates <- table_of("replicates.csv")
by_way <- function(measure) tapply(replicates[[measure]], list(paste(replicates$set, replicates$noise), replicates$way), mean)
icc <- by_way("icc")
rebuilt <- by_way("rebuilt")
added <- grepl(" 1$", rownames(rebuilt))
told <- by_way("learnt")
claim("R/data-input.R", "came back better in samples left out than those chosen from the rows or from plain means",
  all(icc[, "replicates"] > pmax(icc[, "rows"], icc[, "means"])))
claim("R/data-input.R", "rebuilt more where noise had been added",
  all(rebuilt[added, "replicates"] > pmax(rebuilt[added, "rows"], rebuilt[added, "means"])))
claim("R/data-input.R", "they rebuilt a few points less",
  abs(max(rebuilt[!added, "rows"] - rebuilt[!added, "replicates"]) - 4) < 3)
claim("R/data-input.R", "rebuilt less throughout, and was better at telling classes",
  all(rebuilt[, "largest F"] < rebuilt[, "replicates"]) && all(told[, "largest F"] > told[, "replicates"], na.rm = TRUE))

claims <- do.call(rbind, claims)
bad <- claims[!claims$there | !claims$holds, ]
for (i in seq_len(nrow(bad))) {
  cat(sprintf("%s: \"%s\" %s\n", bad$file[i], bad$text[i], if (bad$there[i]) "does not hold in its table" else "is not there any more"))
}
cat(sprintf("claims: %d sentences, %d held against their tables and true\n", nrow(claims), sum(claims$there & claims$holds)))
quit(status = nrow(bad) > 0L)
