# Calls as beginners write them: wrong order, wrong name, wrong type, a missing argument. Every one
# ends in an error of this package, whose message has the words beside it: what to write.

x <- as.matrix(mtcars)
y <- rep(c("a", "b"), 16)
fit <- ufs_variance(x, k = 3)
labelled <- ufs_medoids(x, m = 4)

test_that("a wrong call of a beginner ends in words that name what to write", {
  expect_refusals("`x` is missing" = ufs_select(), "`k`, how many features" = ufs_select(x),
    "`k` (features) or `m` (samples)" = ufs_select(x, n = 5),
    "`k` (features) or `m` (samples)" = ufs_select(x, n = 5, task = "label"), "`k`" = ufs_select(x, n_features = 5),
    "as `x`" = ufs_select(5, x), "`k`" = ufs_select(x, "compress"), "`task`" = ufs_select(x, 5, "regression"),
    "`task`" = ufs_select(x, 5, task = "samples"), "`task`" = ufs_select(x, k = 5, tasks = "label"),
    "`k`" = ufs_select(x, k = "5"), "at most 11 (the features)" = ufs_select(x, k = 500),
    "ufs(x, \"pca\"" = ufs_select(x, k = 3, method = "pca"), "ufs_compare(x, y" = ufs_select(x, k = 3, y = y),
    "df[names(df) != \"y\"]" = ufs_select(mpg ~ ., 3),
    "df[names(df) != \"y\"]" = ufs_select(mpg ~ ., data = mtcars, k = 3), "no columns" = ufs_select(data.frame(), 3),
    "`x`" = ufs_select(mtcars$mpg, 3), "row" = ufs_select(mtcars[0, ], 3), "fread(file)" = ufs_select("data.csv", 3),
    "`x`" = ufs_select(NULL, 3), "`x`" = ufs_select(list(1, "a"), 3), "`x`" = ufs_select(mean, 3),
    "`x`" = ufs_select(letters, 3), "`x`, the data, is missing" = ufs_css(), "`k`" = ufs_css(x, n = 5),
    "`x`, the data, is missing" = ufs_css(k = 5), "`k`" = ufs_css(x, "5"), "as `x`" = ufs_css(5, x),
    "Is it `m` (samples)?" = ufs_medoids(x, k = 5), "`m`" = ufs_medoids(x, n = 5), "`m`" = ufs_medoids(x),
    "`m`" = ufs_facility(x, k = 5), "`n_clusters`" = ufs_mcfs(x, n = 5), "`n_clusters`" = ufs_kmeans_f(x, n = 5),
    "`n_components`" = ufs_pca(x, n = 5), "`select_samples`" = ufs_alfs(x, samples = "norm"),
    "`x`" = ufs_variance(mtcars$mpg), "no columns" = ufs_variance(data.frame()),
    "n_clusters = 3" = ufs_consensus(x, k = 3), "scores columns, as function" = ufs_register("a"),
    "list(n_components" = ufs_grid(x, "pca"), "`x`" = ufs_explore(5), "ufs_css()" = selected_features(),
    "k = 10" = ufs_stability(x, "css"), "na = \"median\"" = ufs_select(airquality, 3),
    "ufs(x, \"pca\")" = ufs("pca", x), "`method`" = ufs(x), "\"pca\"" = ufs(x, pca), "\"pca\"" = ufs(x, "PCA"),
    "\"pca\"" = ufs(x, ufs_pca), "`y`" = ufs_compare(x), "`methods`" = ufs_compare(x, y),
    "`k`" = ufs_compare(x, y, "pca"), "`y`" = ufs_compare(x, "pca", y, k = 3),
    "`methods`" = ufs_compare(x, y, method = "pca", k = 3),
    "`classifiers`" = ufs_compare(x, y, "pca", 3, class = "knn"), "`methods`" = ufs_compare(x, y, fit, k = 3),
    "`y`" = ufs_compare(x, y[1:5], "pca", 3), "function(x)" = ufs_register("a", function() 1),
    "`fun`" = ufs_register(function(x) 1), "`method`" = ufs_register(function(x) 1, "a"), "`fun`" = ufs_register("a"),
    "fit" = selected_features(x), "`k`" = selected_features(fit, n = 3), "`k`" = selected_features(fit, m = 3),
    "`k`" = selected_features(fit, "3"), "`type`" = plot(fit, character()),
    "`labelled`" = ufs_ted(x, labelled = globalenv()), "`k`" = selected_features(ufs_variance(x)),
    "selected_samples" = selected_features(labelled), "selected_features" = selected_samples(fit),
    "`m`" = selected_samples(labelled, k = 3), "`newdata`" = predict(fit), "`newdata`" = predict(fit, 1:3),
    "lacks columns 'disp', 'hp', 'mpg'" = predict(fit, mtcars[, 5:7]), "selected_samples()" = predict(labelled, x),
    "fit" = feature_scores(x), "the data of the fit" = ufs_captured(x, fit), "`x`" = ufs_captured(fit),
    "`x` is missing" = ufs_look(), "the data of the fit" = ufs_look(fit), "`kind`" = ufs_look(x, "spectra"),
    "`method`" = ufs_size(x, k = 3), "`method`" = ufs_size(x, "kmeans"), "`m`" = ufs_split(x), "`m`" = ufs_split(x, .7),
    "`m`" = ufs_split(x, train = .7), "`m`" = ufs_split(x, k = 5), "`method`" = ufs_stability(x),
    "`method`" = ufs_stability(fit), "`k`" = ufs_stability(x, "pca"),
    "no argument `n`" = ufs_stability(x, "pca", 3, n = 10),
    "`n_resamples`" = ufs_stability(x, "css", k = 3, n_res = 10), "ufs_moments(cov = )" = ufs_moments(Harman74.cor),
    "`x` is missing" = ufs_data(), "`weights`" = ufs_data(x, weight = 1), "`include`" = ufs_data(x, include = "speed"),
    "\"mpg\"" = ufs_data(x, exclude = mpg), "df[names(df) != \"y\"]" = ufs_data(mpg ~ ., mtcars),
    "`type`" = plot(fit, type = "scores2"), class = "ufs_error")
})

test_that("chosen rows are left out by their places", {
  left <- mtcars[-selected_samples(ufs_medoids(mtcars, m = 4), as = "index"), ]
  expect_identical(rownames(left), setdiff(rownames(mtcars), selected_samples(labelled)))
})
