# CSV and Parquet files as tables of numbers, in pieces: what a line, a name, a number is, is
# settled for the whole file, and said in the same words wherever it is read.

check_reading <- function(header, dec) {
  if (!is.null(header)) header <- check_flag(header, "header")
  if (!is.null(dec)) dec <- check_choice(dec, "dec", c(".", ","))
  list_of(header, dec)
}

# list(rows: the columns of text that are numbers as numbers, kinds: by the names of the columns
# "number", "text" or "empty"). `kinds`: what is known from the pieces before; `first`: the number
# of the first row. A value that is no number in a column of numbers is an error.
settle_kinds <- function(rows, kinds, wanted, first, file) {
  for (name in names(rows)) {
    column <- as_number(rows[[name]], name)
    known <- if (name %in% names(kinds)) kinds[[name]] else "empty"
    some <- !is.na(column)
    bad <- if (is_plain_number(column)) FALSE else
      if (is.character(column)) some & !is_number_text(column) else some
    bent <- is.character(column) && any(bad) && all(have_units(column[some]))
    kind <- if (known == "text" || !any(some)) known else
      if (sum(bad) > sum(some) / 2 && known == "empty" && !name %in% wanted && !bent)
        "text" else "number"
    if (kind == "number" && any(bad)) {
      row <- which(bad)[1L]
      refuse_value(name, as.character(rows[[name]][row]), first + row - 1, "x", file)
    }
    if (kind != "text" && is.character(column)) column <- text_numbers(column)
    if (kind != "text") rows[[name]] <- column
    kinds[[name]] <- kind
  }
  list_of(rows, kinds)
}

# The error about a value that is no number, in the same words wherever it stands.
refuse_value <- function(name, value, row, arg, file = NULL) {
  place <- if (is.null(file)) paste0("`", arg, "`") else paste0("file '", basename(file), "'")
  ufs_abort("input", "Column '", name, "' of ", place, " is not numeric: '", value, "' in row ",
    format(row, big.mark = ",", scientific = FALSE), " is no number. Mend it, or leave the column ",
    "out", if (!is.null(file)) " (`columns`, or DROP= of the demo)", ".", argument = arg)
}

# Columns of text: those that were asked for, and those of numbers beside which something else
# stands.
refuse_text <- function(x, wanted, arg = "x") {
  for (name in names(x)[vapply(x, is.character, NA)]) {
    own <- x[[name]]
    bad <- which(!is_number_text(own) & !is.na(own))
    if (length(bad) > sum(!is.na(own)) / 2 || all(is.na(own))) next
    if (length(bad)) refuse_value(name, own[bad[1L]], bad[1L], arg)
    ufs_abort("input", "Column '", name, "' of `", arg, "` is text of numbers. Make it numbers, ",
      "or leave the column out.", argument = arg)
  }
  asked <- intersect(names(x), wanted)
  if (length(asked)) refuse("columns", "Not numeric: ", some_columns(asked), ".")
}

# ---- a file as a stream of rows -----------------------------------------------------------

# A function of a number of lines that gives list(rows: a data frame, first: the number of its first
# row), and NULL at the end. `reading`: list(header, dec), NULL where the file is to say; text:
# names of columns that stay as they are written. Decimal commas are points in what it gives. What
# was settled about the file is in the environment of the function, as `found`. lines = NULL: 20,000
# of them or 40 MB, which takes half a second that no interrupt ends.
csv_stream <- function(file, held, reading = list()) {
  next_lines <- line_stream(file, held)
  found <- NULL
  row <- 1
  able <- 20000
  function(lines = NULL) {
    top <- if (is.null(found) && is.null(lines)) whole_records(next_lines, 200L)
    if (length(top)) able <<- max(200, min(able, 4e7 / mean(nchar(top, "bytes"))))
    if (is.null(lines)) lines <- able - length(top)
    part <- c(top, whole_records(next_lines, floor(lines)))
    if (is.null(found)) {
      if (is.null(part)) ufs_abort("input", "File '", file, "' is empty.", argument = "x")
      found <<- settle_file(part, file, reading)
      part <- without_first(part, found$skip)
      held$found <- found
    }
    if (is.null(part)) return(NULL)
    rows <- fields_of(part, found, file, row, reading$text)
    out <- list(rows = rows, first = row)
    row <<- row + nrow(rows)
    out
  }
}

# Lines as UTF-8: those that are not, are Windows-1252, as Excel writes; UTF-16 is told by its first
# bytes.
line_stream <- function(file, held) {
  # A pipe or a device has no size, and may have no end.
  if (!isTRUE(file.size(file) > 0)) {
    ufs_abort("input", "File '", file, "' is empty, or a pipe or device, which cannot be read ",
      "twice.", argument = "x")
  }
  start <- in_words_of_file(file, suspendInterrupts({
    held$connection <- gzfile(file, "rb")
    readBin(held$connection, "raw", 4L)
  }))
  held$close()
  check_whole_gz(file, held)
  wide <- if (length(start) > 1L) switch(paste(start[1:2], collapse = ""), fffe = "UTF-16LE",
    feff = "UTF-16BE", if (length(start) == 4L && all(start[c(2, 4)] == 0) &&
      all(start[c(1, 3)] != 0)) "UTF-16LE" else
      if (length(start) == 4L && all(start[c(1, 3)] == 0) && all(start[c(2, 4)] != 0)) "UTF-16BE")
  if (!is.null(wide)) {
    suspendInterrupts(held$connection <- gzfile(file, "rb"))
    bytes <- list()
    in_words_of_file(file, {
      while (length(more <- readBin(held$connection, "raw", 2^24))) bytes <- c(bytes, list(more))
    })
    held$close()
    # Zeros among the letters are an error of iconv().
    text <- on_error(iconv(list(do.call(c, bytes)), wide, "UTF-8"), function(e) NA)
    if (is.na(text)) ufs_abort("input", "File '", file, "' cannot be read as ", wide, ".",
      argument = "x")
    all <- strsplit(sub("^\ufeff", "", text), "\r\n|\n|\r")[[1L]]
    return(function(n) {
      out <- utils::head(all, n)
      all <<- utils::tail(all, -n)
      out
    })
  }
  suspendInterrupts(held$connection <- file(file, "r", encoding = "native.enc"))
  first <- TRUE
  function(n) {
    out <- readLines_in_words(held$connection, n, file)
    if (first && length(out)) {
      out[1L] <- sub("^\xef\xbb\xbf", "", out[1L], useBytes = TRUE)
      Encoding(out[1L]) <- "UTF-8"
    }
    first <<- FALSE
    odd <- !validUTF8(out)
    if (any(odd)) out[odd] <- iconv(out[odd], "CP1252", "UTF-8", sub = "?")
    out
  }
}

# R reads a gzip file that was cut off up to that place and says nothing. Such a file ends with the
# number of bytes that it holds, of its last part if it has several, which is not told from here.
check_whole_gz <- function(file, held) {
  magic <- as.raw(c(0x1f, 0x8b, 0x08))
  if (!identical(readBin(file, "raw", 3L), magic)) return(invisible())
  suspendInterrupts(held$connection <- gzfile(file, "rb"))
  total <- 0
  in_words_of_file(file, {
    while (size <- length(readBin(held$connection, "raw", 2^24))) total <- total + size
  })
  held$close()
  packed <- readBin(file, "raw", file.size(file))
  end <- sum(as.numeric(utils::tail(packed, 4L)) * 256^(0:3))
  if (end != total %% 2^32 && !length(grepRaw(magic, packed, 4L, fixed = TRUE))) {
    ufs_abort("input", "File '", file, "' is damaged or was cut off: it holds ", total,
      " bytes, and its last ones say ", end, ".", argument = "x")
  }
}

readLines_in_words <- function(connection, n, file) {
  in_words_of_file(file, readLines(connection, n, encoding = "UTF-8"))
}

# The value of code that reads a file; errors and warnings of R in words. A last line that ends in
# no newline is none.
in_words_of_file <- function(file, code) {
  broken <- function(...) ufs_abort("input", "File '", file, "' ", ..., argument = "x")
  withCallingHandlers(on_error(code, function(e) {
    if (inherits(e, "ufs_error")) stop(e)
    broken("cannot be read: it is damaged or gone (", conditionMessage(e), ").")
  }), warning = function(w) {
    if (grepl("nul", conditionMessage(w), fixed = TRUE)) {
      broken("is no text: a byte of it is zero (", conditionMessage(w), ").")
    }
    if (grepl("compressed", conditionMessage(w), fixed = TRUE)) {
      broken("cannot be read: it is damaged (", conditionMessage(w), ").")
    }
    invokeRestart("muffleWarning")
  })
}

# Lines up to the end of a record, which may have line breaks between quotes; NULL at the end.
whole_records <- function(next_lines, n) {
  # All of them, too, some at a time: readLines() makes room for as many as are asked for.
  parts <- list()
  while (n > 0 && length(more <- next_lines(min(n, 1e5)))) {
    parts[[length(parts) + 1L]] <- more
    n <- n - length(more)
  }
  out <- unlist(parts)
  if (!length(out)) return(NULL)
  quotes <- function(text) {
    at <- grepl("\"", text, fixed = TRUE, useBytes = TRUE)
    if (any(at)) sum(nchar(text[at], "bytes") - nchar(gsub("\"", "", text[at], fixed = TRUE),
      "bytes")) else 0
  }
  count <- quotes(out)
  while (count %% 2 == 1) {
    more <- next_lines(1L)
    if (!length(more)) break
    count <- count + quotes(more)
    out <- c(out, more)
  }
  out
}

without_first <- function(x, n) x[seq_along(x) > n]

# ---- what is settled by the first lines ------------------------------------------------------

# An environment: skip, the lines before the first row; sep; dec, "," or "." or NULL before a number
# has a comma; names; header, were they in the file; counted, does the first column count the rows;
# out, the columns that are left out. `reading$numbers`: row numbers stay.
settle_file <- function(lines, file, reading) {
  stated <- regmatches(lines[1L], regexec("^\"?sep=(.)\"?$", lines[1L]))[[1L]]
  skip <- length(stated) > 0L
  while (skip < length(lines) && grepl("^\\s*(#.*)?$", lines[skip + 1L])) skip <- skip + 1L
  body <- without_first(lines, skip)
  if (!length(body)) ufs_abort("input", "File '", file, "' is empty.", argument = "x")
  sep <- if (length(stated)) stated[2L] else separator_of(body)
  body <- body[grepl("[^[:space:]]", body) | sep == "\t"]
  # A few lines of a wide table tell as much.
  shown <- utils::head(body, max(10, 2e5 %/% max(1, nchar(body[1L], "bytes"))))
  shown <- utils::head(shown, 200L)
  top <- split_lines(shown, sep, file, fill = TRUE)
  below <- top[-1L, , drop = FALSE]
  dec <- settle_decimal(top, sep, reading$dec)
  plain <- lapply(below, function(col) to_points(col, dec))
  numeric <- vapply(plain, function(col) {
    some <- is_number_text(col)[!is.na(col)]
    any(some) && mean(some) > .5
  }, NA)
  first <- unlist(top[1L, ], use.names = FALSE)
  header <- reading$header
  if (is.null(header)) {
    above <- first[numeric & !is.na(first)]
    above <- above[is_number_text(to_points(above, dec))]
    if (length(above)) {
      refuse("header", "The first line of '", basename(file), "' has numbers above numbers (",
        some_names(above), "): they may be the names of the columns or the first row. Say ",
        "`header` = TRUE or FALSE (HEADER=yes or HEADER=no).")
    }
    header <- TRUE
  }
  if (header) skip <- skip + which(lines[skip + seq_along(lines)] == body[1L])[1L]
  check_width(shown, ncol(top), sep, header, file)
  names <- header_names(if (header) body[1L], top, below, sep, file)
  units <- if (header && nrow(below) > 2L && any(numeric)) {
    here <- unlist(below[1L, numeric], use.names = FALSE)
    all(is.na(here) | !is_number_text(to_points(here, dec))) && any(!is.na(here))
  } else FALSE
  if (units) {
    if (names$gaps) {
      ufs_abort("input", "The first line of '", basename(file), "' names some columns and the ",
        "line below it all (", some_names(here), "): give the names in one line.", argument = "x")
    }
    ufs_inform("units", "The line below the names of '", basename(file), "' holds units (",
      some_names(stats::na.omit(unlist(below[1L, numeric], use.names = FALSE))),
      "): it is left out.")
    skip <- skip + 1L
  }
  counted <- header && names$unnamed && counts_rows(without_first(below[[1L]], units))
  say_columns(names, counted && !isTRUE(reading$numbers), file)
  list2env(list(skip = skip, sep = sep, dec = dec, names = names$names, header = header,
    counted = counted, out = c(names$last, if (counted && !isTRUE(reading$numbers)) 1L)))
}

# The first lines have as many fields as most of them, or one is told that has more. With blanks
# between fields there may be any number of these.
check_width <- function(lines, width, sep, header, file) {
  if (sep == " ") return(invisible())
  usual <- stats::na.omit(fields_in(if (header) lines[-1L] else lines, sep))
  usual <- if (length(usual)) as.integer(names(which.max(table(usual)))) else width
  if (usual < width && (!header || isTRUE(fields_in(lines[1L], sep) <= usual))) {
    refuse_ragged(if (header) lines[-1L] else lines, list(names = character(usual), sep = sep),
      file, 1, NULL)
  }
}

# How many fields each line has; NA inside a record of several lines.
fields_in <- function(lines, sep) {
  text <- textConnection(lines)
  on.exit(close(text))
  utils::count.fields(text, sep, quote = "\"", comment.char = "", blank.lines.skip = FALSE)
}

# list(names; last: its place, where the last column is the empty one of a separator at the end of
# lines; unnamed: may the first column count the rows; gaps: have columns between no name).
header_names <- function(line, top, below, sep, file) {
  width <- ncol(top)
  if (is.null(line)) return(list(names = paste0("V", seq_len(width)), last = NULL,
    unnamed = FALSE, gaps = FALSE))
  names <- unlist(split_lines(c(line, line), sep, file)[1L, ], use.names = FALSE)
  names[is.na(names)] <- ""
  names <- gsub("^[ \u00a0]+|[ \u00a0]+$", "", names)
  empty_end <- all(is.na(below[[width]]))
  if (length(names) == width - 1L) {
    names <- if (empty_end) c(names, "") else c("", names)
  }
  if (length(names) != width) {
    ufs_abort("input", "File '", basename(file), "' is no regular table: its first line has ",
      length(names), " fields, a later one ", width, ".", argument = "x")
  }
  last <- if (names[width] == "" && empty_end && width > 1L) width
  twice <- unique(names[nzchar(names) & duplicated(names)])
  if (length(twice)) {
    refuse("x", "File '", basename(file), "' has more than one column of the name ",
      some_names(twice), ": give each its own.")
  }
  unnamed <- names[1L] %in% c("", "X", "V1", "Unnamed: 0")
  gaps <- setdiff(which(names == ""), c(1L, last))
  names[names == ""] <- paste0("V", which(names == ""))
  list(names = make.unique(names), last = last, unnamed = unnamed, gaps = length(gaps) > 0L)
}

counts_rows <- function(text) {
  number <- suppressWarnings(as.numeric(text))
  length(number) > 1L && !anyNA(number) && number[1L] %in% 0:1 && all(diff(number) == 1)
}

say_columns <- function(names, counted, file) {
  if (counted) ufs_inform("columns", "The first column of '", basename(file), "', '",
    names$names[1L], "', counts the rows: it is left out.")
  if (!is.null(names$last)) ufs_inform("columns", "The last column of '", basename(file),
    "' has neither name nor values: it is left out.")
}

# The separator that the first lines have equally often, and most often.
separator_of <- function(lines) {
  lines <- utils::head(lines[nzchar(lines)], 20L)
  lines <- gsub("\"[^\"]*\"", "", lines)
  counts <- vapply(c(";", "\t", "|", ",", " "), function(sep) {
    found <- lengths(regmatches(lines, gregexpr(sep, lines, fixed = TRUE)))
    if (length(found) && min(found) > 0L && diff(range(found)) <= 1L) min(found) else 0L
  }, 0L)
  if (all(counts == 0L)) "," else names(counts)[which(counts > 0L)[1L]]
}

# ---- numbers in text --------------------------------------------------------------------------

is_number_text <- function(text) {
  number <- "[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?"
  grepl(paste0("^( *", number, " *| *[-+]?Inf *|TRUE|FALSE)\\z"), text, perl = TRUE,
    useBytes = TRUE)
}

text_numbers <- function(text) {
  flag <- text %in% c("TRUE", "FALSE")
  out <- suppressWarnings(as.numeric(text))
  out[flag] <- text[flag] == "TRUE"
  out
}

# Are all of these numbers with the same signs before or behind, of a unit or as a spreadsheet has
# them (="1"), or with blanks or apostrophes between thousands?
have_units <- function(text) {
  mark <- "[ .,'\u2019\u00a0\u202f]"
  number <- paste0("[-+\u2212]?([0-9]+(", mark, "[0-9]+)?|[1-9][0-9]{0,2}(", mark,
    "[0-9]{3})+([.,][0-9]+)?)")
  all(grepl(paste0("^[^[:alnum:]]{0,3}", number, "( ?[^0-9]{1,6})?$"), text, perl = TRUE)) &&
    length(unique(gsub("[-+\u2212., '\u2019\u00a0\u202f0-9]", "", text))) == 1L
}

# Blanks that do not break and the sign of minus as typesetters have it, in numbers alone.
plain_signs <- function(text) {
  odd <- which(Encoding(text) == "UTF-8")
  if (!length(odd)) return(text)
  plain <- chartr("\u00a0\u202f\u2212", "  -", text[odd])
  number <- grepl("^ *[-+]?[0-9.,]+([eE][-+]?[0-9]+)? *$", plain)
  replace(text, odd[number], plain[number])
}

grouped <- function(text, mark) grepl(paste0("^ *[-+]?[1-9][0-9]{0,2}([", mark, "][0-9]{3})+ *$"),
  text)

# Text with a decimal comma, or with commas between thousands, as text with a decimal point.
to_points <- function(text, dec) {
  text <- plain_signs(text)
  if (is.null(dec)) return(text)
  other <- if (dec == ",") "." else ","
  full <- paste0("^ *[-+]?[1-9][0-9]{0,2}([", other, "][0-9]{3})+([", dec, "][0-9]*)? *$")
  at <- which(grepl(full, text))
  text[at] <- gsub(other, "", text[at], fixed = TRUE)
  if (dec == ",") {
    at <- which(grepl("^ *[-+]?[0-9]*,[0-9]*([eE][-+]?[0-9]+)? *$", text))
    text[at] <- sub(",", ".", text[at], fixed = TRUE)
  }
  text
}

# "," or ".", by the numbers that can be read in one way only; NULL where none has a comma, an error
# where there are commas and none of these. Of a separator `;` the comma is a decimal one.
settle_decimal <- function(top, sep, given) {
  if (!is.null(given)) return(given)
  text <- unlist(top, use.names = FALSE)
  text <- text[grepl(",", text, fixed = TRUE)]
  text <- text[grepl("^ *[-+]?[0-9.]*,[0-9.,]*([eE][-+]?[0-9]+)? *$", text)]
  if (!length(text)) return(NULL)
  point <- grepl(",.*[.]|,.*,", text)
  comma <- !point & (!grouped(text, ",") | grepl("[.].*,", text))
  if (any(comma) && !any(point)) return(",")
  if (any(point) && !any(comma)) return(".")
  if (sep == ";" && !any(point)) return(",")
  refuse("dec", "The comma in '", text[1L], "' may stand before decimals or between thousands. ",
    "Say `dec` = \",\" or \".\", the sign before decimals (DEC=).")
}

# ---- lines to fields -------------------------------------------------------------------------

# As text, for the first lines.
split_lines <- function(lines, sep, file, fill = FALSE) {
  fread_in_words(lines, file, sep = sep, header = FALSE, colClasses = "character", fill = fill)
}

# fread() warns of lines that it leaves out or fills: a table with other rows than the file has is
# refused. It reads the lines from a file that an interrupt may leave: in a folder that goes
# whatever happens.
fread_in_words <- function(lines, file, ...) {
  folder <- tempfile("ufselect-read-")
  on.exit(unlink(folder, recursive = TRUE))
  dir.create(folder)
  part <- file.path(folder, "part")
  writeLines(lines, part, useBytes = TRUE)
  refused <- function(words) {
    ufs_abort("input", "The file '", basename(file), "' is no regular table: ", words,
      argument = "x")
  }
  said <- NULL
  # Left in the middle of a warning, fread() would speak of it in its next call.
  out <- withCallingHandlers(
    on_error(data.table::fread(file = part, ..., data.table = FALSE, check.names = FALSE,
      integer64 = "double", na.strings = c("", "NA", "NaN"), showProgress = FALSE,
      encoding = "UTF-8", tmpdir = folder), function(e) refused(conditionMessage(e))),
    warning = function(w) {
      if (!grepl("Previous fread", conditionMessage(w))) said <<- conditionMessage(w)
      invokeRestart("muffleWarning")
    })
  if (is.null(said)) out else refused(said)
}

fields_of <- function(lines, found, file, first, text) {
  if (length(found$names) > 1L) lines <- lines[grepl("[^ ]", lines, useBytes = TRUE)]
  if (!length(lines)) return(as.data.frame(matrix(0, 0L, length(found$names),
    dimnames = list(NULL, found$names))))
  keep <- match(text, found$names)
  classes <- if (length(keep)) list(character = keep[!is.na(keep)])
  dec <- if (found$sep == "," || is.null(found$dec)) "." else found$dec
  rows <- tryCatch(fread_in_words(lines, file, sep = found$sep, dec = dec, header = FALSE,
    colClasses = classes),
    ufs_error_input = function(e) refuse_ragged(lines, found, file, first, e))
  if (nrow(rows) != length(lines) && !any(grepl("\"", lines, fixed = TRUE)) ||
      ncol(rows) != length(found$names)) {
    refuse_ragged(lines, found, file, first, NULL)
  }
  names(rows) <- found$names
  own <- setdiff(which(vapply(rows, is.character, NA)), keep)
  if (is.null(found$dec)) found$dec <- settle_decimal(rows[own], found$sep, NULL)
  for (j in own) rows[[j]] <- to_points(rows[[j]], found$dec)
  warn_digits(rows)
  if (is.null(found$out)) rows else rows[-found$out]
}

# Names the first row with another number of fields than the names have.
refuse_ragged <- function(lines, found, file, first, e) {
  width <- fields_in(lines, found$sep)
  off <- which(width != length(found$names))[1L]
  ufs_abort("input", "The file '", basename(file), "' is no regular table: ",
    if (is.na(off)) if (is.null(e)) "its lines have different numbers of fields." else
      sub(".*is no regular table: ", "", conditionMessage(e)) else
      paste0("row ", format(first + off - 1, big.mark = ",", scientific = FALSE), " has ",
        count_words(width[off], "field"), ", not ", length(found$names), "."), argument = "x")
}

warn_digits <- function(rows) {
  long <- vapply(rows, function(col) is.double(col) && !is.object(col) &&
    (max(0, col, na.rm = TRUE) > 2^53 || min(0, col, na.rm = TRUE) < -2^53) &&
    any(abs(col) > 2^53 & col == round(col) & abs(col) < 2^64, na.rm = TRUE), NA)
  if (any(long)) {
    ufs_warn("digits", "`x` has whole numbers beyond 2^53 in ", some_columns(names(rows)[long]),
      ": their last digits are lost in double precision. Subtract a number before, or leave ",
      "identifiers out.")
  }
}
