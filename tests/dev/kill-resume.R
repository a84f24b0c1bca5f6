# Killed in the middle, started again: Rscript tests/dev/kill-resume.R --kills=5 --n=40
# A grid with a checkpoint folder is killed or interrupted at random moments until it ends; its result must be that
# of a run without a stop, and no half-written file may stay. Of methods that take many steps at p = 50 n (`n` rows)
# what the result says of itself is computed from what it returns, too (helper-resume.R).
source("tests/dev/common.R")
for (name in c("helper-objective", "helper-reference", "helper-reference-irls", "helper-resume")) {
  source(file.path("tests/testthat", paste0(name, ".R")))
}
set <- options_of(kills = 4, n = 30, child = "", folder = "", ready = "")
few <- as.matrix(mtcars)
many <- function() {
  set.seed(1)
  clustered(set$n, 50 * set$n, 2)
}
run_of <- function(name, folder = NULL) {
  if (name != "kmeans_f") return(steps_grid(name, many(), folder))
  set.seed(8)
  suppressMessages(ufs_grid(few, "kmeans_f", data.frame(n_clusters = 2:9), n_starts = 400, checkpoint = folder))
}
if (nzchar(set$child)) {
  file.create(set$ready)
  run_of(set$child, set$folder)
  quit(save = "no")
}
# A child that is stopped some time between its first fit and its last one.
stopped <- function(name, folder, seconds, signal) {
  pid <- tempfile()
  ready <- tempfile()
  # A job in the background of a shell is deaf to interrupts: `env` gives the signal back its meaning.
  system(sprintf("env --default-signal=INT %s tests/dev/kill-resume.R --child=%s --n=%d --folder=%s --ready=%s >/dev/null 2>&1 & echo $! > %s",
    shQuote(file.path(R.home("bin"), "Rscript")), name, as.integer(set$n), folder, ready, pid))
  end <- Sys.time() + 60
  while (!file.exists(ready) && Sys.time() < end) Sys.sleep(.01)
  Sys.sleep(stats::runif(1, 0, seconds))
  tools::pskill(as.integer(readLines(pid)), signal)
  Sys.sleep(.5)
}
ok <- logical()
for (name in c("kmeans_f", names(steps_grids))) {
  seconds <- system.time(plain <- run_of(name))[[3L]]
  folder <- tempfile()
  for (i in seq_len(set$kills)) stopped(name, folder, seconds, if (i %% 2) tools::SIGINT else tools::SIGKILL)
  stored <- length(list.files(folder, "^grid.*rds$"))
  again <- run_of(name, folder)
  ok[paste(name, "same")] <- identical(steps_result(again), steps_result(plain))
  ok[paste(name, "clean")] <- !length(list.files(folder, "part$"))
  cat(sprintf("  %-8s %.1f s, %d of %d stored by runs that were stopped", name, seconds, stored, nrow(plain$results)))
  for (fit in again$fits) {
    value <- objectives[[name]](fit, many())
    room <- room_below[[name]](fit, many())
    ok[paste(name, "objective")] <- isTRUE(all.equal(utils::tail(fit$trace$objective, 1L), value, tolerance = 1e-9))
    ok[paste(name, "room")] <- room > -1e-9 && (name == "rsr" || room < 1e-4) &&
      (name != "socfs" || abs(fit$certificate[["gap"]] - room) < 1e-8)
    cat(sprintf("; %s in %d steps, room %.1e", fit$status, fit$iterations, room))
  }
  cat("\n")
}
print(ok[!ok])
finish("kill-resume", length(ok), sum(!ok))
