# Killed in the middle, started again: Rscript tests/dev/kill-resume.R --kills=5
# A grid with a checkpoint folder is killed at random moments until it ends; its result must be that
# of a run without a stop, and no half-written file may stay.
source("tests/dev/common.R")
set <- options_of(kills = 4, child = "", folder = "")
grid <- function(folder) {
  set.seed(8)
  suppressMessages(ufs_grid(as.matrix(mtcars), "kmeans_f", data.frame(n_clusters = 2:9), n_starts = 400, checkpoint = folder))
}
if (nzchar(set$child)) {
  grid(set$folder)
  quit(save = "no")
}
folder <- tempfile()
for (i in seq_len(set$kills)) {
  pid <- tempfile()
  system(sprintf("%s tests/dev/kill-resume.R --child=yes --folder=%s >/dev/null 2>&1 & echo $! > %s",
    shQuote(file.path(R.home("bin"), "Rscript")), folder, pid))
  Sys.sleep(stats::runif(1, .8, 2.5))
  tools::pskill(as.integer(readLines(pid)), tools::SIGKILL)
}
a <- grid(folder)
b <- grid(NULL)
ok <- c(same = identical(a$feature_scores, b$feature_scores), clean = !length(list.files(folder, "part$")))
print(ok)
finish("kill-resume", length(ok), sum(!ok))
