# Checkpoints: a folder that holds the values of finished tasks, one file each. A value is known by
# all that its task could see (version of the package, kind of run, everything that ufs_data()
# holds, the task itself with its seed, and what it has in common with others), not by its place
# among the tasks, so that a longer grid finds what a shorter one has done.
# A value is written under a unique temporary name, read back, and renamed, which happens at once or
# not at all: so several runs can share a folder without locks.

# A run of tasks: list(kind, folder, seed, prefix, ...). Its tasks' seeds are made from the one seed
# of the run (NULL where nothing is random: the caller's RNG is not touched then), which is drawn
# from the caller's random numbers, or, with a folder that has such a run on these data already,
# taken from there: the values in it were computed with it.
start_run <- function(kind, x, folder, random = TRUE) {
  run <- list(kind = kind, folder = folder, seed = if (random) draw_seeds(1L)[[1L]])
  if (is.null(folder)) return(run)
  data <- data_key(x)
  run$prefix <- paste(kind, utils::packageVersion("ufselect"), data, sep = "-")
  if (!random) return(run)
  key <- paste("seed", kind, data, sep = "-")
  is_seed <- function(value) is.integer(value) && length(value) == 1L && !is.na(value)
  held <- stored_value(key, folder, is_seed)
  if (is.null(held$value)) {
    run$problem <- store_value(folder, key, run$seed)
    run$damaged <- held$damaged
    # If two runs start together, both use the first seed written.
    held <- stored_value(key, folder, is_seed)
  }
  run$other_seed <- !is.null(held$value) && !identical(held$value, run$seed)
  if (run$other_seed) run$seed <- held$value
  run
}

# The seed of a task of a run, from what the task is.
task_seed <- function(run, ...) {
  if (is.null(run$seed)) return(NULL)
  part <- strtoi(substring(hash_of(list(run$seed, ...)), c(1L, 5L), c(4L, 8L)), 16L)
  as.integer((part[1L] * 65536 + part[2L]) %% .Machine$integer.max)
}

# The names of the tasks' values; NULL without a folder. A task is work(task, common), and so its
# name is made of all that stands in the two lists, whatever it is; x is in the prefix. Arguments of
# a method (`args`) are the same whether they are those of a task or of all. A method of the user's
# is its code, too.
task_keys <- function(run, tasks, common) {
  if (is.null(run$folder)) return(NULL)
  common <- common[setdiff(names(common), "x")]
  # The user's functions may find something else outside of them in the next session.
  known <- own_code(list(tasks, common))
  for (method in names(known)) if (known[[method]]$passing) {
    refuse("checkpoint", "`checkpoint` takes no function in the place of a method: give \"", method,
      "\" its name by ufs_register().")
  }
  outside <- unlist(c(lapply(known, function(one) outside_names(one$fun)),
    rapply(list(tasks, common), outside_names, "function", how = "unlist")))
  if (length(outside)) {
    refuse("checkpoint", "`checkpoint` takes functions that stand alone, and one uses `",
      outside[1L], "` from outside of it: make that an argument with a default.")
  }
  shared <- part_keys(common)
  lapply(tasks, function(task) {
    own <- own_code(list(task, common))
    all <- c(part_keys(task), shared, if (length(own)) part_keys(list_of(own)))
    paste0(run$prefix, "-", hash_of(all[order(names(all), method = "radix")]))
  })
}

part_keys <- function(parts) {
  stopifnot(all(nzchar(names_of(parts))))
  unlist(lapply(names(parts), function(name) {
    keys <- if (name == "args") argument_keys(parts$args) else hash_of(parts[[name]])
    if (length(keys)) stats::setNames(keys, paste0(name, " ", names_of(keys)))
  }))
}

value_file <- function(folder, key) file.path(folder, paste0(key, ".rds"))

# NULL, or why the value could not be stored; nothing is lost by that but the time of a second
# computation. A part that is being written has a name that no other process uses. Once the value
# stands under its own name, all parts of it are superfluous.
store_value <- function(folder, key, value) {
  said <- NULL
  why <- withCallingHandlers(on_error({
    payload <- memCompress(serialize(value, NULL, version = 2L), "gzip")
    part <- suppressWarnings(tempfile(paste0(key, "-"), tmpdir = folder, fileext = ".part"))
    on.exit(unlink(part))
    write_part(part_bytes(key, payload), part)
    # A full disk may show only here.
    if (length(said)) {
      said[1L]
    } else if (is.null(read_part(part, key))) {
      "what was written could not be read back"
    } else if (!rename_part(part, value_file(folder, key)) &&
        is.null(read_part(value_file(folder, key), key))) {
      "its file could not be renamed"
    }
  }, conditionMessage), warning = function(w) {
    # Left at once, R would keep the connection that a full disk does not let it close in order.
    said <<- c(said, conditionMessage(w))
    invokeRestart("muffleWarning")
  })
  if (is.null(why)) {
    left <- list.files(folder, "[.]part$", full.names = TRUE)
    unlink(left[startsWith(basename(left), paste0(key, "-"))])
  }
  why
}

# Under Windows a file that another process has just opened (to look for viruses) or is reading can
# be neither renamed nor replaced for the moment.
rename_part <- function(from, to) {
  for (wait in c(0, .1, .4)) {
    Sys.sleep(wait)
    if (suppressWarnings(file.rename(from, to))) return(TRUE)
  }
  FALSE
}

write_part <- function(bytes, file) writeBin(bytes, file)

# An .rds file of list(key, check, payload), in which nothing stands behind the payload.
part_bytes <- function(key, payload) {
  serialize(list(key, hash_bytes(payload, key), payload), NULL, version = 2L)
}

# store_value() removes the parts that a killed run left of its own value; those of other values are
# removed here after a day.
sweep_parts <- function(folder) {
  part <- list.files(folder, "[.]part$", full.names = TRUE)
  age <- difftime(Sys.time(), file.mtime(part), units = "hours")
  unlink(part[!is.na(age) & age > 24])
}

# The value as bytes if they are those that were written for `key`; otherwise NULL. Every byte is
# compared before R makes a value of any: readRDS() of a file with one wrong bit can end R. The
# first 14 name the version of R.
read_part <- function(file, key) {
  bytes <- on_error(suppressWarnings(readBin(file, "raw", file.size(file))), function(e) raw())
  payload <- bytes[-seq_along(part_bytes(key, raw()))]
  if (identical(bytes[-seq_len(14L)], part_bytes(key, payload)[-seq_len(14L)])) {
    on_error(memDecompress(payload, "gzip"), function(e) NULL)
  }
}

# list(value, damaged): value NULL if there is none that can be used, damaged if there is a file.
stored_value <- function(key, folder, usable) {
  file <- value_file(folder, key)
  if (!file.exists(file)) return(list(damaged = FALSE))
  payload <- read_part(file, key)
  value <- if (!is.null(payload)) on_error(unserialize(payload), function(e) NULL)
  fine <- !is.null(value) && is_plain(value) && !is_failure(value) &&
    on_error(isTRUE(usable(value)), function(e) FALSE)
  list(value = if (fine) value, damaged = !fine)
}

# Vectors, lists and calls, nothing that is evaluated when it is looked at.
is_plain <- function(value) {
  !typeof(value) %in% c("environment", "promise", "closure", "externalptr", "weakref", "S4",
    "bytecode", "...") &&
    all(vapply(c(attributes(value), if (typeof(value) == "list") unclass(value)), is_plain, NA))
}

# The orders of `size` things, and scores that a method can have given: a constant column has NA,
# none has NaN.
is_order <- function(value, size) {
  is.numeric(value) && length(value) == size && !anyNA(value) && all(value == round(value)) &&
    identical(sort.int(as.integer(value)), seq_len(size))
}

is_number <- function(value) is.numeric(value) && length(value) == 1L && !is.nan(value)

check_checkpoint <- function(folder) {
  if (is.null(folder)) return(NULL)
  if (!is.character(folder) || length(folder) != 1L || is.na(folder) || !nzchar(folder)) {
    refuse("checkpoint", "`checkpoint` must be NULL or the name of a folder.")
  }
  # Windows does not know a folder by a name with a slash at its end.
  folder <- sub("([^/:])/+$", "\\1", folder)
  if (!dir.exists(folder) && !dir.create(folder, recursive = TRUE, showWarnings = FALSE)) {
    refuse("checkpoint", "The folder '", folder, "' (`checkpoint`) cannot be made.")
  }
  normalizePath(folder)
}

# ---- what is said --------------------------------------------------------------------------------

# Report of the folder that a run found, for its print: list(folder, tasks, reused, why).
checkpoint_report <- function(run, keys, open, damaged) {
  # Why no more is reused is told from the names of the files alone.
  missing <- length(open) - sum(damaged)
  there <- list.files(run$folder, "[.]rds$")
  there <- there[startsWith(there, paste0(run$kind, "-"))]
  version <- sub("-.*", "", substring(there, nchar(run$kind) + 2L))
  why <- c(if (any(damaged)) paste(sum(damaged), "cannot be read or were changed"),
    if (missing > 0L && length(there)) {
      if (any(startsWith(there, paste0(run$prefix, "-")))) {
        paste(missing, "are of other settings or arguments, were not finished or failed")
      } else if (all(version != as.character(utils::packageVersion("ufselect")))) {
        paste("the folder has results of version", version[1L], "of ufselect")
      } else "the folder has results of other data, or of these with other arguments of ufs_data()"
    }, if (isTRUE(run$other_seed)) {
      "random numbers follow the seed that is kept in the folder; for others name another folder"
    })
  report <- list_of(folder = run$folder, tasks = length(keys), reused = length(keys) - length(open),
    why)
  damaged <- c(unlist(keys[damaged]), if (isTRUE(run$damaged)) "seed")
  if (length(damaged)) {
    ufs_warn("checkpoint", length(damaged), " of the files in the checkpoint folder '", run$folder,
      "' cannot be read or were changed, first ", damaged[1L], ".rds; ",
      if (length(damaged) == 1L) "it is" else "they are", " computed again.")
  }
  if (report$reused > 0L || length(report$why)) ufs_inform("resumed", reused_text(report))
  report
}

reused_text <- function(report) {
  paste0(report$reused, " of ", report$tasks, " reused from the checkpoint folder",
    if (length(report$why)) paste0(" (", paste(report$why, collapse = "; "), ")"), ".")
}

print_checkpoint <- function(report) {
  if (isTRUE(report$reused > 0L) || length(report$why)) cat_line("  ", reused_text(report))
  if (length(report$problem)) cat_line("  not all is in the checkpoint folder: ", report$problem)
}

# ---- names by content ----------------------------------------------------------------------------

# 32 hexadecimal digits: equal values, equal names, in every session, on every platform and with
# every version of R. Functions count by their code alone: see task_keys().
hash_of <- function(value) {
  # The first 14 bytes name the version of R.
  hash_bytes(serialize(canonical(value), NULL, version = 2L)[-seq_len(14L)])
}

# The numbers that four bytes each make.
hash_bytes <- function(bytes, salt = "") {
  bytes <- c(bytes, charToRaw(salt))
  size <- length(bytes)
  bytes <- c(bytes, raw(-size %% 4))
  hash_numbers(length(bytes) / 4, function(places) {
    part <- bytes[seq.int(4 * places[1L] - 3, 4 * places[length(places)])]
    as.double(readBin(part, "integer", length(places), endian = "big"))
  }, size)
}

# Two sums of 64 bits over `size` numbers, which get(places) gives chunk by chunk.
hash_numbers <- function(size, get, salt = size) {
  sums <- function(numbers, first) {
    dim(numbers) <- c(length(numbers), 1L)
    rbind(.Call(C_x_hash, numbers, first), .Call(C_x_hash, numbers, first + 2^50))
  }
  total <- sums(as.double(salt), 0)
  for (at in in_pieces(size, 2^20)) total <- add_hashes(total, sums(get(at), as.double(at[1L])))
  half <- t(cbind(total %/% 65536, total %% 65536)[, c(1L, 3L, 2L, 4L)])
  paste(sprintf("%04x", as.integer(half)), collapse = "")
}

# One form for equal values: 2L is 2, text is UTF-8.
canonical <- function(value) {
  if (is.function(value)) return(deparse(utils::removeSource(value)))
  inside <- function() lapply(attributes(value), canonical)
  if (is.list(value)) {
    `attributes<-`(lapply(unclass(value), canonical), attributes(value))
  } else if (is.character(value)) {
    `attributes<-`(enc2utf8(as.character(value)), attributes(value))
  } else if (isS4(value)) {
    inside()
  } else if (is.integer(value) && !is.object(value)) {
    `attributes<-`(as.double(value), attributes(value))
  } else if (is.double(value) && anyNA(value)) {
    # A copy may change the bits of NA where numbers pass the x87 unit (32 bit).
    gone <- which(is.na(value))
    values <- replace(as.double(value), gone, 0)
    list(canonical(values), as.double(gone), is.nan(value[gone]), inside())
  } else if (is.double(value) && length(value) > 2^16) {
    # Without a copy of a large matrix as bytes.
    list(hash_numbers(length(value), function(places) as.double(value[places])), inside())
  } else value
}

# Arguments by name, in the order of their names, whatever place they were given in.
argument_keys <- function(args) {
  vapply(args[order(as.character(names(args)), method = "radix")], hash_of, "")
}

# All that ufs_data() holds, 16 digits: names, constraints, what was done to missing values and
# counts as they are, and the content of x however it is stored, except that of large files.
data_key <- function(data) {
  load_reader(data)
  data <- unclass(data)
  data$x <- switch(data$kind,
    dense = .Call(C_x_hash, as_double(data$x), 0),
    sparse = list(data$x@p, data$x@i, data$x@x),
    source = source_content(data$x)
  )
  # Sorted: constraints are given in any order.
  substr(hash_of(sorted_parts(data)), 1L, 16L)
}

# A list with its named parts, and theirs, in the order of their names; without those that are NULL.
sorted_parts <- function(value) {
  if (!is.list(value) || is.object(value) || is.null(names(value))) return(value)
  value <- Filter(Negate(is.null), value)
  lapply(value[order(names(value), method = "radix")], sorted_parts)
}

# A file of more is not read through to see whether it has changed.
large_bytes <- 2^26

# Hashes of all columns. Of a large file: its size and date, how it is looked at, and
# hashes of lines in 32 places. What has no date (a big.matrix in memory, or mapped to a file, whose
# date comes late) is read through.
source_content <- function(source) {
  files <- if (8 * as.double(source$n) * source$p > large_bytes) source_files(source)
  by_rows <- source$by == "rows"
  if (is.null(files)) {
    parts <- lapply(source_blocks(source), function(lines) {
      piece_hash(read_block(source, lines), lines, !by_rows)
    })
    return(if (by_rows) Reduce(add_hashes, parts) else do.call(rbind, parts))
  }
  size <- if (by_rows) source$n else source$p
  some <- max(1, min(source$step, floor(2^18 / if (by_rows) source$p else source$n)))
  from <- unique(floor(seq(1, max(1, size - some + 1), length.out = 32L)))
  places <- lapply(from, function(first) {
    .Call(C_x_hash, read_block(source, seq.int(first, min(first + some - 1, size))), 0)
  })
  list(basename(files), file.size(files), as.double(file.mtime(files)),
    source[setdiff(names(source), how_it_is_read)], places)
}

# Parts of a source that change no number.
how_it_is_read <- c("step", "lines_per_chunk", "bytes", "BPPARAM", "count")

# The files of a DelayedMatrix; NULL if it is not made of files alone.
source_files <- function(source) {
  if (source$kind != "delayed") return(NULL)
  files <- unlist(DelayedArray::seedApply(source$object, function(seed) {
    file <- on_error(methods::slot(seed, "filepath"), function(e) NA_character_)
    if (is.character(file)) file else NA_character_
  }))
  if (length(files) && all(file.exists(files)) && !any(dir.exists(files))) files
}

is_failure <- function(value) {
  error <- if (is.list(value)) value[["error"]]
  is.character(error) && any(nzchar(error))
}
