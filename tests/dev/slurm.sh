#!/usr/bin/env bash
# A Slurm of one machine with two nodes (Debian: slurm-wlm, munge; as root), and on it what
# vignette("large-and-sparse-data") says about schedulers: comparison, stability, decoys and a grid through
# future.batchtools, a fit of a file in HDF5 with workers inside one job, and a job that is cancelled. Each
# result is compared with the one without workers. All of it lives in a folder of its own and goes with it.
#
#   bash tests/dev/slurm.sh            # ufselect must be installed; R_LIBS is handed on by the package itself
set -u
for tool in munged slurmctld slurmd sbatch; do
  command -v $tool > /dev/null || PATH="$PATH:/usr/sbin"
  command -v $tool > /dev/null || { echo "slurm.sh: there is no $tool; apt-get install slurm-wlm munge"; exit 2; }
done
work=$(mktemp -d /tmp/ufselect-slurm.XXXXXX)
host=$(hostname -s)
export SLURM_CONF=$work/slurm.conf
end() {
  for file in "$work"/*.pid; do [ -s "$file" ] && kill "$(cat "$file")" 2> /dev/null; done
  sleep 2
  rm -rf "$work"
}
trap end EXIT
chmod 755 "$work"
mkdir "$work/state" "$work/run"
( umask 077; head -c 1024 /dev/urandom > "$work/munge.key" )
munged --force --socket="$work/munge.socket" --key-file="$work/munge.key" --log-file="$work/munge.log" \
  --pid-file="$work/munge.pid" --seed-file="$work/munge.seed" || { echo "slurm.sh: munged does not start"; exit 1; }
cat > "$SLURM_CONF" <<CONF
ClusterName=ufselect
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool-%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd-%n.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd-%n.log
SlurmctldPort=17817
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/linear
SlurmdParameters=config_overrides
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_interval=1
NodeName=one NodeHostname=$host NodeAddr=127.0.0.1 Port=17831 CPUs=2 RealMemory=4000
NodeName=two NodeHostname=$host NodeAddr=127.0.0.1 Port=17832 CPUs=2 RealMemory=4000
PartitionName=all Nodes=one,two Default=YES MaxTime=120 State=UP
CONF
slurmctld -f "$SLURM_CONF" || { echo "slurm.sh: slurmctld does not start"; cat "$work/slurmctld.log"; exit 1; }
for node in one two; do
  slurmd -f "$SLURM_CONF" -N $node || { echo "slurm.sh: slurmd -N $node does not start"; cat "$work/slurmd-$node.log"; exit 1; }
done
for second in $(seq 60); do
  [ "$(sinfo -h -t idle -o %D 2> /dev/null)" = 2 ] && break
  sleep 1
done
sinfo
[ "$(sinfo -h -t idle -o %D)" = 2 ] || { echo "slurm.sh: the nodes do not answer"; tail -n 5 "$work"/*.log; exit 1; }
cd "$work/run" || exit 1
cat > slurm.R <<'R'
library(ufselect)
options(ufselect.shared_dir = getwd())
plan <- function() future::plan(future.batchtools::batchtools_slurm, template = "slurm-simple", workers = 2,
  resources = list(walltime = 3600, ncpus = 1, memory = 1000))
x <- as.matrix(iris[, 1:4])
set.seed(1)
wide <- cbind(x, matrix(rnorm(150 * 20), 150, dimnames = list(NULL, paste0("noise", 1:20))))
nearest <- list(nearest = function(x, y, newx) {
  centre <- rowsum(x, y) / as.vector(table(y))
  rownames(centre)[max.col(2 * tcrossprod(newx, centre) - rep(rowSums(centre^2), each = nrow(newx)))]
})
slow <- function() ufs_grid(wide, "kmeans_f", list(n_clusters = 2:5), n_starts = 20)
calls <- list(
  compare = function() as.data.frame(ufs_compare(wide, iris$Species, c("variance", "pca"), k = 4, repeats = 2,
    n_random = 2, classifiers = nearest)),
  stability = function() ufs_stability(wide, "variance", k = 4, n_resamples = 6)$frequency,
  decoys = function() ufs_decoys(wide, "pca", n_components = 2, repeats = 4)$curve,
  grid = function() slow()$feature_scores
)
timed <- function(call) {
  set.seed(1)
  start <- proc.time()[[3L]]
  value <- call()
  if (is.data.frame(value)) value[grepl("seconds", names(value))] <- NULL
  list(value = value, seconds = proc.time()[[3L]] - start)
}
done <- 0L
tell <- function(name, serial, found, more = "") {
  same <- identical(serial$value, found$value)
  done <<- done + same
  cat(sprintf("%-10s %5.1f s, without workers %.1f s: %s%s\n", name, found$seconds, serial$seconds,
    if (same) "identical" else "DIFFERENT", more))
  if (!same) print(all.equal(serial$value, found$value))
}
serial <- lapply(calls, timed)
plan()
for (name in names(calls)) tell(name, serial[[name]], timed(calls[[name]]))

# A job is cancelled as soon as it runs. future.batchtools prints an error about it, which can be ignored.
cat("A job is cancelled now: future.batchtools prints 'BatchtoolsExpiration', which can be ignored.\n")
system("( for i in $(seq 300); do job=$(squeue -h -t running -o %i | head -n 1); [ -n \"$job\" ] && { scancel $job; break; }; sleep .2; done ) &")
said <- character()
found <- withCallingHandlers(timed(calls$grid), warning = function(w) {
  said <<- c(said, conditionMessage(w))
  invokeRestart("muffleWarning")
})
lost <- grep("worker was lost", said, value = TRUE)
tell("cancelled", serial$grid, found, sprintf(" (%d warned)", length(lost)))
future::plan("sequential")

# A file, with workers inside one job.
file <- file.path(getwd(), "x.h5")
set.seed(1)
invisible(HDF5Array::writeHDF5Array(matrix(rnorm(4000 * 300), 4000), file, "x", chunkdim = c(500, 300)))
fit <- function(workers) {
  data <- ufs_data(HDF5Array::HDF5Array(file, "x"), block_bytes = 4e6, BPPARAM = workers)
  list(pca = feature_scores(ufs_pca(data, n_components = 5)), css = feature_scores(ufs_css(data, k = 5)))
}
writeLines(c(sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")), "library(ufselect)",
  "fit <- ", deparse(fit), sprintf("file <- %s", deparse(file)),
  "start <- proc.time()[[3L]]", "value <- fit(BiocParallel::SnowParam(2))",
  "saveRDS(list(value = value, seconds = proc.time()[[3L]] - start), 'file.rds')"), "file.R")
serial <- timed(function() fit(NULL))
system("sbatch --wait -n 1 -c 2 --output=file.log --wrap 'Rscript file.R'", ignore.stdout = TRUE)
if (file.exists("file.rds")) tell("file", serial, readRDS("file.rds")) else cat(readLines("file.log"), sep = "\n")
cat(done, "of 6 identical to the run without workers;", length(lost), "cancelled job\n")
quit("no", status = done != 6L || length(lost) != 1L)
R
timeout 1800 Rscript slurm.R
