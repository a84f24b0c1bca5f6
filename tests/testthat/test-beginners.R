# Calls as beginners write them: wrong order, wrong name, wrong type, a missing argument. Every one
# ends in an error of this package, whose message has the words beside it: what to write.

x <- as.matrix(mtcars)
y <- rep(c("a", "b"), 16)
fit <- ufs_variance(x, k = 3)
labelled <- ufs_medoids(x, m = 4)

calls <- list(
  # ufs_select()
  list(quote(ufs_select()), "`x` is missing"),
  list(quote(ufs_select(x)), "`k`, how many features"),
  list(quote(ufs_select(x, n = 5)), "`k` (features) or `m` (samples)"),
  list(quote(ufs_select(x, n = 5, task = "label")), "`k` (features) or `m` (samples)"),
  list(quote(ufs_select(x, n_features = 5)), "`k`"),
  list(quote(ufs_select(5, x)), "as `x`"),
  list(quote(ufs_select(x, "compress")), "`k`"),
  list(quote(ufs_select(x, 5, "regression")), "`task`"),
  list(quote(ufs_select(x, 5, task = "samples")), "`task`"),
  list(quote(ufs_select(x, k = 5, tasks = "label")), "`task`"),
  list(quote(ufs_select(x, k = "5")), "`k`"),
  list(quote(ufs_select(x, k = 500)), "at most 11 (the features)"),
  list(quote(ufs_select(x, k = 3, method = "pca")), "ufs(x, \"pca\""),
  list(quote(ufs_select(x, k = 3, y = y)), "ufs_compare(x, y"),
  list(quote(ufs_select(mpg ~ ., 3)), "df[names(df) != \"y\"]"),
  list(quote(ufs_select(mpg ~ ., data = mtcars, k = 3)), "df[names(df) != \"y\"]"),
  list(quote(ufs_select(data.frame(), 3)), "no columns"),
  list(quote(ufs_select(mtcars$mpg, 3)), "`x`"),
  list(quote(ufs_select(mtcars[0, ], 3)), "row"),
  list(quote(ufs_select("data.csv", 3)), "fread(file)"),
  list(quote(ufs_select(NULL, 3)), "`x`"),
  list(quote(ufs_select(list(1, "a"), 3)), "`x`"),
  list(quote(ufs_select(mean, 3)), "`x`"),
  list(quote(ufs_select(letters, 3)), "`x`"),
  # Methods
  list(quote(ufs_css()), "`x`, the data, is missing"),
  list(quote(ufs_css(x, n = 5)), "`k`"),
  list(quote(ufs_css(k = 5)), "`x`, the data, is missing"),
  list(quote(ufs_css(x, "5")), "`k`"),
  list(quote(ufs_css(5, x)), "as `x`"),
  list(quote(ufs_medoids(x, k = 5)), "Is it `m` (samples)?"),
  list(quote(ufs_medoids(x, n = 5)), "`m`"),
  list(quote(ufs_medoids(x)), "`m`"),
  list(quote(ufs_facility(x, k = 5)), "`m`"),
  list(quote(ufs_mcfs(x, n = 5)), "`n_clusters`"),
  list(quote(ufs_kmeans_f(x, n = 5)), "`n_clusters`"),
  list(quote(ufs_pca(x, n = 5)), "`n_components`"),
  list(quote(ufs_alfs(x, samples = "norm")), "`select_samples`"),
  list(quote(ufs_variance(mtcars$mpg)), "`x`"),
  list(quote(ufs_variance(data.frame())), "no columns"),
  # ufs()
  list(quote(ufs("pca", x)), "ufs(x, \"pca\")"),
  list(quote(ufs(x)), "`method`"),
  list(quote(ufs(x, pca)), "\"pca\""),
  list(quote(ufs(x, "PCA")), "\"pca\""),
  list(quote(ufs(x, ufs_pca)), "\"pca\""),
  # ufs_compare()
  list(quote(ufs_compare(x)), "`y`"),
  list(quote(ufs_compare(x, y)), "`methods`"),
  list(quote(ufs_compare(x, y, "pca")), "`k`"),
  list(quote(ufs_compare(x, "pca", y, k = 3)), "`y`"),
  list(quote(ufs_compare(x, y, method = "pca", k = 3)), "`methods`"),
  list(quote(ufs_compare(x, y, "pca", 3, class = "knn")), "`classifiers`"),
  list(quote(ufs_compare(x, y, fit, k = 3)), "`methods`"),
  list(quote(ufs_compare(x, y[1:5], "pca", 3)), "`y`"),
  # ufs_register()
  list(quote(ufs_register("a", function() 1)), "function(x)"),
  list(quote(ufs_register(function(x) 1)), "`fun`"),
  list(quote(ufs_register(function(x) 1, "a")), "`method`"),
  list(quote(ufs_register("a")), "`fun`"),
  # selected_features(), selected_samples(), predict()
  list(quote(selected_features(x)), "fit"),
  list(quote(selected_features(fit, n = 3)), "`k`"),
  list(quote(selected_features(fit, m = 3)), "`k`"),
  list(quote(selected_features(fit, "3")), "`k`"),
  list(quote(selected_features(ufs_variance(x))), "`k`"),
  list(quote(selected_features(labelled)), "selected_samples"),
  list(quote(selected_samples(fit)), "selected_features"),
  list(quote(selected_samples(labelled, k = 3)), "`m`"),
  list(quote(predict(fit)), "`newdata`"),
  list(quote(predict(fit, 1:3)), "`newdata`"),
  list(quote(predict(fit, mtcars[, 5:7])), "lacks columns 'disp', 'hp', 'mpg'"),
  list(quote(predict(labelled, x)), "selected_samples()"),
  list(quote(feature_scores(x)), "fit"),
  # ufs_captured(), ufs_look(), ufs_size(), ufs_split(), ufs_stability(), ufs_data()
  list(quote(ufs_captured(x, fit)), "the data of the fit"),
  list(quote(ufs_captured(fit)), "`x`"),
  list(quote(ufs_look()), "`x` is missing"),
  list(quote(ufs_look(fit)), "the data of the fit"),
  list(quote(ufs_look(x, "spectra")), "`kind`"),
  list(quote(ufs_size(x, k = 3)), "`method`"),
  list(quote(ufs_size(x, "kmeans")), "`method`"),
  list(quote(ufs_split(x)), "`m`"),
  list(quote(ufs_split(x, .7)), "`m`"),
  list(quote(ufs_split(x, train = .7)), "`m`"),
  list(quote(ufs_split(x, k = 5)), "`m`"),
  list(quote(ufs_stability(x)), "`method`"),
  list(quote(ufs_stability(fit)), "`method`"),
  list(quote(ufs_stability(x, "pca")), "`k`"),
  list(quote(ufs_stability(x, "pca", 3, n = 10)), "no argument `n`"),
  list(quote(ufs_data()), "`x` is missing"),
  list(quote(ufs_data(x, weight = 1)), "`weights`"),
  list(quote(ufs_data(x, include = "speed")), "`include`"),
  list(quote(ufs_data(x, exclude = mpg)), "\"mpg\""),
  list(quote(ufs_data(mpg ~ ., mtcars)), "df[names(df) != \"y\"]"),
  list(quote(plot(fit, type = "scores2")), "`type`")
)

test_that("a wrong call of a beginner ends in words that name what to write", {
  expect_gt(length(calls), 60)
  for (one in calls) {
    what <- deparse(one[[1L]])
    ended <- tryCatch(suppressMessages(eval(one[[1L]])), condition = identity)
    expect_s3_class(ended, "ufs_error")
    expect_match(conditionMessage(ended), one[[2L]], fixed = TRUE, info = what)
  }
})

test_that("chosen rows are left out by their places", {
  left <- mtcars[-selected_samples(ufs_medoids(mtcars, m = 4), as = "index"), ]
  expect_identical(rownames(left), setdiff(rownames(mtcars), selected_samples(labelled)))
})
