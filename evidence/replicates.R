# Replicates as evidence for columns: ufs_css(replicates = ) beside ufs_css() of the rows and of the means, and the idea of
# FeatSeekR.
#
#   Rscript replicates.R [--packages=FOLDER] [--sets=vowel,mood] [--splits=10] [--out=replicates.csv]
#
# Only the data of packages are read: --packages=FOLDER names a folder of their unpacked sources, for those not installed.
#   vowel    165 speakers and vowels, 6 utterances each (mlbench)    fishoil  42 oils, 3 Raman scans each (EMSC)
#   mayonnaise   54 of them, 3 near infrared scans each (pls)
#   mood     answers to 75 adjectives, given twice (psychTools, msqR; one study)
#   anxiety  answers to 20 items, given twice (psychTools, sai; one study)   serum  8 sera, 2 mass spectra each (MALDIquant)
# noise = 1 adds as many columns of correlated noise that does not repeat. Half of the levels, drawn at random, choose k columns;
# the other half judges them, the mean of the splits:
#   icc       the mean intraclass correlation of the chosen columns, by their mean squares
#   rebuilt   per cent of the variance of the level means of all real columns that a linear regression on those of the chosen ones,
#             learnt on the first half, explains
#   learnt    per cent right of the nearest neighbour in the first half by chosen columns (vowel; mayonnaise: the oil), or 100
#             times the squared correlation with the prediction of a linear regression (fishoil: the iodine value); else NA
#   real      how many of the chosen columns are no added noise
library(ufselect)
file <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])
source(file.path(dirname(file), "common.R"))
splits <- as.integer(option("splits", "10"))

binned <- function(x, width) {
  part <- (seq_len(ncol(x)) - 1L) %/% width
  t(rowsum(t(x), part) / as.vector(table(part)))
}
row_standardised <- function(x) (x - rowMeans(x)) / apply(x, 1L, stats::sd)
# People of one study who answered at both times, without gaps.
answers <- function(table, study, times, items) {
  table <- table[table$study == study & table$time %in% times, ]
  table <- table[!duplicated(table[c("id", "time")]) & stats::complete.cases(table[items]), ]
  table <- table[table$id %in% names(which(table(table$id) == 2L)), ]
  list(x = as.matrix(table[items]), g = table$id)
}
sets <- list(
  vowel = function() {
    d <- from_package("mlbench", "Vowel")
    list(x = data.matrix(d[2:10]), g = paste(d$V1, d$Class), y = d$Class, k = 4L)
  },
  fishoil = function() {
    d <- from_package("EMSC", "fishoil")
    list(x = row_standardised(binned(unclass(d$Raman), 20L)), g = d$replicates, y = d$Iodine, k = 5L)
  },
  mayonnaise = function() {
    d <- from_package("pls", "mayonnaise")
    list(x = row_standardised(unclass(d$NIR)), g = rep(1:54, each = 3L), y = factor(d$oil.type), k = 8L)
  },
  mood = function() {
    d <- from_package("psychTools", "msqR")
    c(answers(d, "FLAT", c(1, 2), names(d)[1:75][colSums(is.na(d[d$study == "FLAT", 1:75])) < 20]), k = 10L)
  },
  anxiety = function() {
    d <- from_package("psychTools", "sai")
    c(answers(d, "SAM", c(1, 3), names(d)[4:23]), k = 5L)
  },
  serum = function() {
    d <- from_package("MALDIquant", "fiedler2009subset")
    x <- sqrt(binned(do.call(rbind, lapply(d, function(one) attr(one, "intensity"))), 200L))
    list(x = row_standardised(x), g = rep(1:8, each = 2), k = 10L)
  })

# ---- ways to choose --------------------------------------------------------------------------------

squares <- function(z, g) {
  size <- as.vector(rowsum(rep(1, nrow(z)), g))
  mean <- rowsum(z, g) / size
  within <- colSums((z - mean[as.character(g), , drop = FALSE])^2) / (nrow(z) - length(size))
  between <- colSums(sweep(mean, 2L, colMeans(z))^2 * size) / (length(size) - 1)
  list(mean = mean, f = ifelse(within > 0, between / within, 0),
    size = (nrow(z) - sum(size^2) / nrow(z)) / (length(size) - 1))
}
intraclass <- function(z, g) {
  found <- squares(z, g)
  pmax(0, (found$f - 1) / (found$f - 1 + found$size))
}
# The largest F of what the chosen columns leave, one by one (the idea of FeatSeekR, Capraz and Huber).
largest_f <- function(x, g, k) {
  z <- scale(x)[, ]
  chosen <- integer()
  for (i in seq_len(k)) {
    left <- if (i == 1L) z else stats::lm.fit(cbind(1, z[, chosen]), z)$residuals
    f <- squares(left, g)$f
    chosen <- c(chosen, which.max(replace(f, chosen, -1)))
  }
  chosen
}
index <- function(fit, k) selected_features(fit, k, as = "index")
ways <- list(
  rows = function(x, g, k) index(ufs_css(x, k = k), k),
  means = function(x, g, k) index(ufs_css(rowsum(x, g) / as.vector(table(g)), k = k), k),
  replicates = function(x, g, k) index(ufs_css(x, k = k, replicates = g), k),
  "largest F" = largest_f,
  random = function(x, g, k) sample.int(ncol(x), k))

# ---- judged on the other half ------------------------------------------------------------------------

judge <- function(set, chosen, first, real) {
  z <- scale(set$x)[, ]
  part <- function(rows, of = chosen) rowsum(z[rows, of, drop = FALSE], set$g[rows]) / as.vector(table(set$g[rows]))
  learn <- cbind(1, part(first))
  test <- cbind(1, part(!first))
  fitted <- function(y) test %*% replace(b <- stats::lm.fit(learn, y)$coefficients, is.na(b), 0)
  target <- part(!first, real)
  base <- sweep(target, 2L, colMeans(part(first, real)))
  all <- part(first, real)
  rebuilt <- 100 * (1 - sum((target - fitted(all))^2) / sum(base^2))
  c(icc = mean(intraclass(z[!first, chosen, drop = FALSE], set$g[!first])), rebuilt = max(0, rebuilt),
    learnt = learnt(set, z[, chosen, drop = FALSE], first, fitted), real = sum(chosen %in% real))
}
learnt <- function(set, z, first, fitted) {
  if (is.null(set$y)) return(NA)
  if (is.numeric(set$y)) {
    y <- tapply(set$y, set$g, mean)
    levels <- rownames(rowsum(z[first, 1L], set$g[first]))
    return(100 * stats::cor(fitted(matrix(y[levels])), y[setdiff(names(y), levels)])[1L]^2)
  }
  100 * mean(class::knn1(z[first, , drop = FALSE], z[!first, , drop = FALSE], set$y[first]) == set$y[!first])
}

measure <- function(name, noise) {
  set <- sets[[name]]()
  if (is.null(set) || is.null(set$x)) return(NULL)
  set.seed(1L)
  set$x <- set$x[, apply(set$x, 2L, stats::sd) > 0]
  colnames(set$x) <- paste0("v", seq_len(p <- ncol(set$x)))
  if (noise) {
    more <- matrix(stats::rnorm(nrow(set$x) * p), ncol = p) %*% (diag(p) + 2.3 / sqrt(p) * matrix(stats::rnorm(p^2), p))
    set$x <- cbind(set$x, `colnames<-`(more, paste0("noise", seq_len(p))))
  }
  levels <- unique(set$g)
  found <- lapply(seq_len(splits), function(split) {
    set.seed(split)
    first <- set$g %in% sample(levels, length(levels) %/% 2L)
    vapply(ways, function(way) {
      chosen <- suppressMessages(suppressWarnings(way(set$x[first, ], set$g[first], set$k)))
      judge(set, unname(chosen), first, seq_len(p))
    }, c(icc = 0, rebuilt = 0, learnt = 0, real = 0))
  })
  mean <- t(Reduce(`+`, found) / splits)
  data.frame(set = name, levels = length(levels), n = nrow(set$x), p, k = set$k, noise, way = names(ways),
    icc = round(mean[, "icc"], 3L), round(mean[, c("rebuilt", "learnt", "real")], 1L), row.names = NULL)
}

all <- NULL
for (name in intersect(words(option("sets", paste(names(sets), collapse = ","))), names(sets))) {
  for (noise in 0:1) all <- rbind(all, measure(name, noise))
  say("%s\n", name)
}
print(all, row.names = FALSE)
if (!is.null(option("out"))) write_table(all, option("out"))
