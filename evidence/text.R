# Words of labelled texts: columns for a classifier, and which texts to label, by what is done with the counts.
#
#   Rscript text.R [--sets=foods,movies] [--rows=1500] [--splits=3] [--out=text.csv.gz]
#
# foods: modeldata::small_fine_foods (reviews, a great score or another one); movies:
# text2vec::movie_review (sentiment); baseball_hockey, pc_mac: two of the 20 newsgroups each, word counts of
# lda (archived on CRAN). A set whose package is not installed is left out. Words in at least 1 % of the texts. Half of the texts
# choose; a linear support vector machine learns there and is judged on the other half.
#   columns  k = 50, the classifier sees log(1 + count) of the chosen words
#   samples  10 and 25 per class are labelled; the classifier sees tf-idf rows of unit length
# There are as many texts of either class, so that a guess is right half of the time.
library(ufselect)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1L])), "common.R"))

word_counts <- function(texts) {
  parts <- strsplit(gsub("[^a-z]+", " ", tolower(gsub("<[^>]*>", " ", texts))), " ", fixed = TRUE)
  word <- unlist(parts)
  row <- rep(seq_along(parts), lengths(parts))
  keep <- nchar(word) > 1L
  names <- sort(unique(word[keep]))
  Matrix::sparseMatrix(i = row[keep], j = match(word[keep], names), x = 1, dims = c(length(texts), length(names)),
    dimnames = list(NULL, names))
}
from_package <- function(package, name) {
  place <- new.env()
  utils::data(list = name, package = package, envir = place)
  place
}
newsgroups <- function(one, two) {
  d <- c(from_package("lda", "newsgroup.train.documents"), from_package("lda", "newsgroup.train.labels"),
    from_package("lda", "newsgroup.vocab"))
  label <- d[[2L]]$newsgroup.train.labels
  docs <- d[[1L]]$newsgroup.train.documents[label %in% c(one, two)]
  # Words are numbered from 0.
  x <- Matrix::sparseMatrix(i = rep(seq_along(docs), vapply(docs, ncol, 0L)), j = unlist(lapply(docs, function(m) m[1L, ])) + 1L,
    x = unlist(lapply(docs, function(m) m[2L, ])), dims = c(length(docs), length(d[[3L]]$newsgroup.vocab)),
    dimnames = list(NULL, d[[3L]]$newsgroup.vocab))
  list(x = x, y = factor(label[label %in% c(one, two)]))
}
read_text <- list(
  foods = function() {
    d <- from_package("modeldata", "small_fine_foods")$training_data
    list(x = word_counts(d$review), y = d$score)
  },
  movies = function() {
    d <- from_package("text2vec", "movie_review")$movie_review
    list(x = word_counts(d$review), y = factor(d$sentiment))
  },
  baseball_hockey = function() newsgroups(10, 11),
  pc_mac = function() newsgroups(4, 5)
)
package_of <- c(foods = "modeldata", movies = "text2vec", baseball_hockey = "lda", pc_mac = "lda")
silently <- function(code) suppressWarnings(suppressMessages(code))

svm_accuracy <- function(train, y, test, truth, cost = 1) {
  y <- droplevels(y)
  if (nlevels(y) < 2L) return(100 * mean(as.character(truth) == levels(y)))
  model <- e1071::svm(as.matrix(train), y, kernel = "linear", cost = cost, scale = FALSE)
  100 * mean(as.character(stats::predict(model, as.matrix(test))) == as.character(truth))
}

forms <- list(raw = list(), log = list(counts = "log"), `tf-idf` = list(counts = "tfidf", unit_rows = TRUE))
formed <- function(x, form) do.call(ufs_data, c(list(x), forms[[form]]))
columns <- list(
  css = function(x, k) ufs_css(x, k, scale = FALSE),
  mcfs = function(x, k) ufs_mcfs(x, 5, n_features = k),
  variance = function(x, k) ufs_variance(x),
  consensus = function(x, k) ufs_consensus(x, 5, k = k, scale = FALSE),
  laplacian = function(x, k) ufs_laplacian(x),
  pca = function(x, k) ufs_pca(x, 5, scale = FALSE)
)
samplers <- list(
  facility = function(x, m, form) if (form == "standardised") ufs_facility(x, m) else ufs_facility(x, m, center = FALSE, scale = FALSE),
  medoids = function(x, m, form) if (form == "standardised") ufs_medoids(x, m, n_starts = 5) else
    ufs_medoids(x, m, n_starts = 5, center = FALSE, scale = FALSE)
)

one_split <- function(x, y, seed) {
  set.seed(seed)
  at <- sort(sample.int(nrow(x), nrow(x) %/% 2L))
  train <- x[at, ]
  train <- train[, Matrix::colSums(train > 0) >= 2]
  test <- x[-at, colnames(train)]
  small <- function(m, j) log1p(as.matrix(m[, j]))
  judge <- function(j) svm_accuracy(small(train, j), y[at], small(test, j), y[-at])
  k <- 50L
  frequency <- Matrix::colSums(train > 0)
  rows <- data.frame(task = "columns", size = k, method = c("most frequent words", "random"), form = "raw",
    accuracy = c(judge(order(-frequency)[seq_len(k)]), mean(replicate(5L, judge(sample.int(ncol(train), k))))),
    empty = c(mean(rowSums(small(train, order(-frequency)[seq_len(k)])) == 0), NA))
  for (form in names(forms)) for (name in names(columns)) {
    set.seed(seed)
    j <- silently(selected_features(columns[[name]](formed(train, form), k), k, as = "index"))
    rows <- rbind(rows, data.frame(task = "columns", size = k, method = name, form = form, accuracy = judge(j),
      empty = mean(rowSums(small(train, j)) == 0)))
  }
  set.seed(seed)
  front <- silently(ufs_select(train, k, "classify"))
  rows <- rbind(rows, data.frame(task = "columns", size = k, method = "ufs_select", form = "raw",
    accuracy = judge(selected_features(front, as = "index")), empty = NA))
  learn <- ufs_data(train, counts = "tfidf", unit_rows = TRUE)
  z <- as.matrix(learn)
  new <- predict(silently(ufs_variance(learn)), test, ncol(train))[, colnames(z)]
  label <- function(i) svm_accuracy(z[i, ], y[at][i], new, y[-at], 100)
  for (each in c(10L, 25L)) {
    m <- each * nlevels(y)
    rows <- rbind(rows, data.frame(task = "samples", size = m, method = "random", form = "raw",
      accuracy = mean(replicate(10L, label(sample.int(nrow(z), m)))), empty = NA))
    for (form in c("standardised", names(forms))) for (name in names(samplers)) {
      set.seed(seed)
      given <- if (form == "standardised") train else formed(train, form)
      i <- silently(selected_samples(samplers[[name]](given, m, form), m, as = "index"))
      rows <- rbind(rows, data.frame(task = "samples", size = m, method = name, form = form, accuracy = label(i), empty = NA))
    }
    set.seed(seed)
    front <- silently(ufs_select(train, m = m, task = "label"))
    rows <- rbind(rows, data.frame(task = "samples", size = m, method = "ufs_select", form = "raw",
      accuracy = label(selected_samples(front, as = "index")), empty = NA))
  }
  cbind(split = seed, rows)
}

all <- list()
for (set in words(option("sets", "foods,movies,baseball_hockey,pc_mac"))) {
  if (!requireNamespace(package_of[[set]], quietly = TRUE)) next
  data <- read_text[[set]]()
  set.seed(1)
  # As many texts of either class.
  most <- min(table(data$y), as.integer(option("rows", "1500")) %/% 2L)
  at <- sort(unlist(lapply(split(seq_along(data$y), data$y), function(i) i[sample.int(length(i), most)])))
  x <- data$x[at, ]
  x <- x[, Matrix::colSums(x > 0) >= .01 * nrow(x)]
  for (seed in seq_len(as.integer(option("splits", "3")))) {
    seconds <- cpu(rows <- one_split(x, data$y[at], seed))
    say("%s %d: %d x %d, %.1f CPU s\n", set, seed, nrow(x), ncol(x), seconds)
    all[[length(all) + 1L]] <- cbind(set = set, n = nrow(x), p = ncol(x), rows)
  }
}
all <- do.call(rbind, all)
all$accuracy <- round(all$accuracy, 2L)
all$empty <- round(all$empty, 4L)
if (!is.null(option("out"))) write_table(all, option("out"))
print(round(tapply(all$accuracy, list(paste(all$task, all$size, all$method), all$form), mean), 1L))
