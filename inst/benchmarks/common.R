# Shared by the scripts of this folder, which source it from beside themselves.

# CPU seconds (user + system), so that other work on the machine does not count.
cpu <- function(code) {
  used <- system.time(code, gcFirst = FALSE)
  unname(used[["user.self"]] + used[["sys.self"]])
}

# Largest resident memory of this process so far, in MB (Linux; NA elsewhere).
peak_mb <- function() {
  file <- "/proc/self/status"
  if (!file.exists(file)) return(NA_real_)
  as.numeric(gsub("[^0-9]", "", grep("^VmHWM", readLines(file), value = TRUE))) / 1024
}

say <- function(...) cat(sprintf(...))

# --name=value on the command line.
option <- function(name, default = NULL) {
  given <- grep(paste0("^--", name, "="), commandArgs(TRUE), value = TRUE)
  if (length(given)) sub("^--[a-z]+=", "", utils::tail(given, 1L)) else default
}
words <- function(text) strsplit(text, ",", fixed = TRUE)[[1L]]

# A real set: <folder>/<set>.rds holds list(x, y).
read_set <- function(folder, set) {
  data <- readRDS(file.path(folder, paste0(set, ".rds")))
  list(x = as.matrix(data$x), y = droplevels(factor(data$y)))
}

# The numbers of features shown: 20 and 50, or 10 and 30 % of few.
two_k <- function(p) if (p < 100L) unique(pmax(2L, round(c(.1, .3) * p))) else c(20L, 50L)
