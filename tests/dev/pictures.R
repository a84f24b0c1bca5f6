# A contact sheet of all pictures, to be looked at after a change of R/draw-*.R:
#   Rscript tests/dev/pictures.R --out=/tmp/pictures [--widths=350,700,1200] [--only=regex] [--engine=base]
# It writes one PNG for every picture, width and engine, and sheets of them side by side. The sheet
# of what plot() draws by itself, of every class:
#   Rscript tests/dev/pictures.R --out=/tmp/pictures --only=^default --widths=480 --engine=base
source(file.path("tests", "dev", "common.R"))
option <- options_of(out = "/tmp/pictures", widths = "350,700,1200", only = "", engine = "base,ggplot")
widths <- as.integer(strsplit(option$widths, ",", fixed = TRUE)[[1L]])
engines <- strsplit(option$engine, ",", fixed = TRUE)[[1L]]
dir.create(option$out, recursive = TRUE, showWarnings = FALSE)

# ---- data: clusters, long names that differ at their ends, classes -----------------------------
set.seed(1)
x <- clustered(80, 120, groups = 4, informative = 20)
colnames(x) <- sprintf("a_very_long_gene_name_of_transcript_%03d", seq_len(ncol(x)))
class <- factor(rep_len(c("adenocarcinoma", "normal", "squamous cell", "small cell"), 80))

quiet <- function(code) suppressMessages(suppressWarnings(code))
fits <- new.env()
fit <- function(.method, ...) {
  key <- paste(c(.method, deparse(list(...))), collapse = " ")
  if (is.null(fits[[key]])) {
    set.seed(1)
    given <- needed(.method)
    more <- list(...)
    fits[[key]] <- quiet(do.call(ufs, c(list(x = x, method = .method), given[setdiff(names(given),
      names(more))], more)))
  }
  fits[[key]]
}

# ---- what there is to draw: name -> list(object, arguments) -----------------------------------
all <- list()
add <- function(name, object, ...) all[[name]] <<- list(object = substitute(object), arguments = list(...), env = parent.frame())
types <- getFromNamespace("picture_types", "ufselect")
for (method in ufs_methods()$method) {
  for (type in quiet(types(fit(method)))) {
    all[[paste("fit", method, type)]] <- list(object = bquote(fit(.(method))), arguments = list(type, x), env = globalenv())
  }
  row <- registry()[[method]]
  asked <- c(list(quote(fit), method), if ("k" %in% row$arguments) list(k = 10), if ("m" %in% row$arguments) list(m = 8))
  all[[paste("default", method)]] <- list(object = as.call(asked), arguments = list(), env = globalenv())
}
add("more objective irls", fit("ndfs", solver = "irls"))
add("more objective paper", fit("socfs", solver = "paper"))
add("more embedding circled", fit("random"), "embedding", x, y = class, m = 8)
add("more heatmap classes", fit("kmeans_f"), "heatmap", x, k = 25, y = class)
add("more embedding classes", fit("kmeans_f"), "embedding", x, k = 25, y = class)
joined <- function() lapply(c(variance = "variance", laplacian = "laplacian", pca = "pca", kmeans_f = "kmeans_f", css = "css"), fit)
for (type in c("pairs", "features")) all[[paste("overlap", type)]] <- list(object = quote(ufs_overlap(joined(), 10)),
  arguments = list(type), env = globalenv())
grid <- function(...) ufs_grid(x, "socfs", list(...), n_clusters = 4, n_starts = 2)
compare <- function(k, ...) ufs_compare(x, class, c("laplacian", "css", "mcfs", "spec", "spca", "inffs", "rsr",
  long = "laplacian+diversify"), k = k, repeats = 3, n_random = 4, ...)
# What plot() draws of every class by itself.
add("default grid", grid(lambda_rel = c(.05, .1, .3), gamma = c(.1, 1, 10)))
add("default grid 1", grid(lambda_rel = c(.05, .1, .2, .3, .5)))
add("default tune", ufs_tune(x, "socfs", list(lambda_rel = c(.05, .1, .3)), k = 10, n_clusters = 4))
add("default tune two", ufs_tune(x, "rsr", list(lambda_rel = c(.05, .1, .3), scale = c(TRUE, FALSE)), k = 10))
add("default stability", ufs_stability(x, "kmeans_f", k = 10, n_clusters = 4, n_resamples = 12))
add("default compare", compare(c(2, 5, 10, 20), mode = "cluster"))
add("default compare one k", compare(10, mode = "cluster"))
add("default compare classify", compare(c(5, 10, 20), m = 20, classifiers = "tree"))
add("default graph", ufs_graph(x))
add("default diversify", ufs_diversify(fit("laplacian"), x, k = 8))
add("default select", ufs_select(x, k = 8))
add("default select auto", ufs_select(x, k = "auto"))
add("default select label", ufs_select(x, k = 8, task = "label"))
add("default split", ufs_split(x, m = 20, test = 12))
add("default decoys", ufs_decoys(x, c("pca", "laplacian"), n_components = 4, repeats = 2))
add("default size", ufs_size(x, "pca", n_components = 4, repeats = 2, n_resamples = 4))
add("default represent", ufs_represent(x))
add("default reliability", ufs_reliability(x, rep(1:40, each = 2)))
wide <- matrix(stats::rnorm(30 * 2000), 30, dimnames = list(NULL, sprintf("a_long_name_of_column_%04d", 1:2000)))
add("default 2000", ufs(wide, "variance", k = 60))
add("default 2", ufs(x[, 1:2], "css", k = 1))

# ---- draw -------------------------------------------------------------------------------------
all <- all[grepl(option$only, names(all))]
failed <- character()
for (name in names(all)) {
  one <- all[[name]]
  set.seed(1)
  object <- tryCatch(quiet(eval(one$object, one$env)), error = identity)
  for (engine in engines) for (width in widths) {
    file <- file.path(option$out, sprintf("%s-%d-%s.png", gsub(" ", "_", name), width, engine))
    res <- if (width < 500) 72 else 96
    grDevices::png(file, width, round(width * .75), res = res, type = "cairo")
    out <- tryCatch({
      if (inherits(object, "error")) stop(object)
      quiet(if (engine == "base") do.call(plot, c(list(object), one$arguments)) else {
        print(do.call(ggplot2::autoplot, c(list(object), one$arguments)))
      })
      NULL
    }, error = identity)
    grDevices::dev.off()
    if (inherits(out, "error")) {
      failed <- c(failed, sprintf("%s (%s): %s", name, engine, conditionMessage(out)))
      unlink(file)
    }
  }
}

# ---- sheets: an HTML page of all pictures of one engine and width, photographed by a browser if there is one --
browser <- Sys.which(c("chromium", "chromium-browser", "google-chrome"))
browser <- browser[nzchar(browser)][1L]
for (engine in engines) for (width in widths) {
  files <- sprintf("%s-%d-%s.png", gsub(" ", "_", names(all)), width, engine)
  files <- files[file.exists(file.path(option$out, files))]
  columns <- c(4L, 2L, 1L)[1L + (width > 500) + (width > 900)]
  height <- round(width * .75) + 4L
  parts <- split(files, (seq_along(files) - 1L) %/% (4L * columns))
  for (i in seq_along(parts)) {
    sheet <- file.path(normalizePath(option$out), sprintf("sheet-%s-%d-%02d", engine, width, i))
    writeLines(c("<body style='margin:0;background:#888'>", sprintf(
      "<img src='%s' width=%d style='display:inline-block;margin:2px' title='%s'>", parts[[i]], width, parts[[i]])),
      paste0(sheet, ".html"), sep = "")
    if (!is.na(browser)) {
      system2(browser, c("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
        sprintf("--window-size=%d,%d", columns * (width + 4L), ceiling(length(parts[[i]]) / columns) * height),
        paste0("--screenshot=", sheet, ".png"), paste0("file://", sheet, ".html")), stdout = FALSE, stderr = FALSE)
    }
  }
}
if (length(failed)) cat("Not drawn:", unique(failed), sep = "\n  ")
cat(length(all), "pictures in", option$out, "\n")
