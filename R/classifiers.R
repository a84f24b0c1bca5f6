# Classifiers of the comparison: those of suggested packages by name, the user's as functions.

predict_classes <- function(classifier, x, y, newx, name = "") {
  y <- droplevels(y)
  if (nlevels(y) == 1L) return(rep(levels(y), nrow(newx)))
  who <- if (nzchar(name)) paste0("Classifier '", name, "'") else "A classifier"
  out <- tryCatch(as.character(classifier(x, y, newx)), error = function(e) {
    if (inherits(e, "ufs_error")) stop(e)
    refuse("classifiers", who, " failed: ", conditionMessage(e))
  })
  if (length(out) != nrow(newx)) {
    refuse("classifiers", who, " returned ", length(out), " predictions for ", nrow(newx),
      " samples.")
  }
  out
}

check_classifiers <- function(classifiers) {
  known <- list(
    svm = list("e1071", function(x, y, newx) {
      stats::predict(e1071::svm(x, y, kernel = "linear", cost = 100, scale = FALSE), newx)
    }),
    tree = list("rpart", function(x, y, newx) {
      grow_tree(x, y, newx, rpart::rpart.control(xval = 0))
    }),
    full_tree = list("rpart", function(x, y, newx) {
      grow_tree(x, y, newx, rpart::rpart.control(minsplit = 10, minbucket = 1, cp = 0, xval = 0))
    }),
    knn = list("class", function(x, y, newx) class::knn(x, newx, y, k = min(5L, nrow(x))))
  )
  if (is.function(classifiers)) classifiers <- list(classifier = classifiers)
  if (is.list(classifiers) && length(classifiers) && all(vapply(classifiers, is.function, NA)) &&
      !is.null(names(classifiers))) {
    return(classifiers)
  }
  if (!is.character(classifiers) || !length(classifiers) || !all(classifiers %in% names(known))) {
    refuse("classifiers", "`classifiers` must be among ",
      paste0("\"", names(known), "\"", collapse = ", "), " or a named list of functions.")
  }
  for (name in classifiers) {
    check_installed(known[[name]][[1L]], paste0("for the classifier \"", name, "\""))
  }
  lapply(known[unique(classifiers)], `[[`, 2L)
}

grow_tree <- function(x, y, newx, control) {
  frame <- function(block) stats::setNames(as.data.frame(block), paste0("v", seq_len(ncol(block))))
  tree <- rpart::rpart(y ~ ., data = cbind(y = y, frame(x)), method = "class", control = control)
  stats::predict(tree, frame(newx), type = "class")
}
