# Legal calls of ufs_select() must answer: Rscript tests/dev/door.R --calls=500 --seed=1
# Tables of many kinds, all tasks, k given or "auto", with and without constraints, as a matrix, data frame
# or sparse matrix. Printed, with its seed, is a call that ends in an error, a warning in R's own words, a print with NaN or NA in it, or a line "code" that chooses
# something else. fuzz.R takes a classed error for an answer; here none is one.
source("tests/dev/common.R")
source("tests/testthat/helper-reference-x.R")
set <- options_of(calls = 500, seed = 1)

normal <- function(n, p) matrix(rnorm(n * p), n)
tables <- list(
  gauss = normal, heavy = function(n, p) matrix(rcauchy(n * p), n), large = function(n, p) normal(n, p) * 1e100,
  small = function(n, p) normal(n, p) * 1e-100, offset = function(n, p) normal(n, p) + 1e7,
  groups = function(n, p) normal(n, p) + 3 * outer(sample(3, n, TRUE), seq_len(p) %% 3 == 0),
  rank_two = function(n, p) normal(n, 2) %*% normal(2, p),
  units = function(n, p) normal(n, p) %*% diag(10^runif(p, -4, 4), p),
  walks = function(n, p) apply(normal(n, p), 2, cumsum),
  smooth = function(n, p) {
    outer(rnorm(n), sin(6 * seq_len(p) / p)) + outer(rnorm(n), cos(3 * seq_len(p) / p)) + normal(n, p) / 100
  },
  counts = function(n, p) matrix(rpois(n * p, sample(c(.5, 3), 1)), n), rare = function(n, p) matrix(rpois(n * p, .06), n),
  whole = function(n, p) matrix(sample(1000L, n * p, TRUE), n), answers = function(n, p) matrix(sample(5, n * p, TRUE), n),
  shares = function(n, p) prop.table(matrix(rexp(n * p), n), 1),
  flags = function(n, p) matrix(rbinom(n * p, 1, sample(c(.03, .3), 1)), n),
  both = function(n, p) cbind(normal(n, p - p %/% 2), matrix(rbinom(n * (p %/% 2), 1, .2), n)),
  dummies = function(n, p) {
    level <- factor(sample(max(2, p %/% 2), n, TRUE), seq_len(max(2, p %/% 2)))
    cbind(stats::model.matrix(~ level - 1), normal(n, max(p - nlevels(level), 1)))
  },
  copies = function(n, p) `[<-`(normal(n, p), , sample(p, p %/% 2), rnorm(n)),
  constant = function(n, p) `[<-`(normal(n, p), , sample(p, p %/% 2), 3),
  equal_rows = function(n, p) normal(n, p)[sample(max(4, n %/% 4), n, TRUE), ]
)

# Kinds that were misread or refused before come more often.
weight <- ifelse(names(tables) %in% c("rare", "flags", "dummies", "equal_rows"), 4, 1)

one_call <- function() {
  kind <- sample(names(tables), 1, prob = weight)
  x <- tables[[kind]](sample(c(6:12, 20, 30, 60, 150), 1), sample(c(3:8, 15, 40, 200), 1))
  n <- nrow(x)
  p <- ncol(x)
  dimnames(x) <- list(paste0("r", seq_len(n)), paste0("c", seq_len(p)))
  varying <- sum(apply(x, 2, function(v) any(v != v[1])))
  different <- nrow(unique(x))
  if (varying < 3 || different < 4) return(NULL)
  task <- sample(c("compress", "classify", "cluster", "label"), 1)
  auto <- runif(1) < .5
  args <- list(task = task)
  if (task == "label") {
    args$m <- sample.int(different - 2L, 1)
    held <- list(labelled = sample(n, 1), ordered = TRUE)
  } else {
    args$k <- if (auto) "auto" else 2L + sample.int(varying - 2L, 1)
    held <- list(include = sample(colnames(x), 1), exclude = if (auto) sample(colnames(x), 1),
      groups = rep(seq_len(p), each = 3)[seq_len(p)], max_cor = .9)
  }
  if (runif(1) < .35) args <- c(args, Filter(length, held[sample(length(held), 1)]))
  form <- sample(c("frame", "sparse", "matrix"), 1, prob = c(.15, .1, .75))
  if (form == "sparse" && !requireNamespace("Matrix", quietly = TRUE)) form <- "matrix"
  list(kind = kind, x = switch(form, frame = as.data.frame(x), sparse = to_sparse(x), matrix = x), args = args)
}

# What `fit` chooses, of the kind and number that `like` says.
choice_of <- function(fit, like) {
  if (like$task == "label") selected_samples(fit, like$size) else sort(unname(selected_features(fit, like$size)))
}

# What is wrong with the answer, if anything.
wrong_with <- function(call) {
  x <- call$x
  own <- character()
  fit <- tryCatch(withCallingHandlers(suppressMessages(do.call(ufs_select, c(list(quote(x)), call$args))),
    warning = function(w) {
      if (!inherits(w, "ufs_warning")) own <<- c(own, conditionMessage(w))
      invokeRestart("muffleWarning")
    }), error = function(e) e)
  if (inherits(fit, "error")) {
    return(conditionMessage(fit))
  }
  shown <- utils::capture.output(print(fit))
  odd <- grep("NaN|NULL|\\bNA\\b|\\bInf\\b", shown, value = TRUE)
  again <- tryCatch(suppressMessages(suppressWarnings(eval(parse(text = fit$code)))), error = function(e) e)
  same <- !inherits(again, "error") && identical(choice_of(again, fit), choice_of(fit, fit))
  c(if (length(own)) paste("R's warning:", own[1]), if (length(odd)) paste("printed:", odd[1]),
    if (!same) paste("not reproduced by", paste(fit$code, collapse = "; ")))
}

tried <- failed <- 0
for (i in seq_len(set$calls)) {
  set.seed(set$seed + i - 1)
  call <- one_call()
  if (is.null(call)) next
  tried <- tried + 1
  wrong <- wrong_with(call)
  if (!length(wrong)) next
  failed <- failed + 1
  given <- vapply(call$args, function(a) paste(utils::head(format(a), 2), collapse = " "), "")
  cat(sprintf("seed %d, %s, %d x %d, %s\n  %s\n", set$seed + i - 1, call$kind, nrow(call$x), ncol(call$x),
    paste(names(given), given, sep = " = ", collapse = ", "), substr(paste(wrong, collapse = "; "), 1, 300)))
}
finish("door", tried, failed)
