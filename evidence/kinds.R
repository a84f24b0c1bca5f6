# How often ufs_look() takes the numbers of a real table for what they are.
#
#   Rscript evidence/kinds.R --data=<folder of sets> [--sets=a,b] [--out=kinds.csv]
#
# The truth is written in MANIFEST.csv of the folder and of its folder `fresh`: a set of counts, of two values, of
# measures in mixed units, else of one unit. Sets of which it says less, or not all, are named here with the reason.
local({
  file <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  source(file.path(dirname(file[1L]), "common.R"))
})

# Beyond what the lists say.
told <- c(
  # Clinical marks from 0 to 3 beside an age; measures of images, shapes, tumours and wines.
  dermatology = "mixed units", segment = "mixed units", vehicle = "mixed units", wdbc = "mixed units",
  wine = "mixed units",
  # Means, spreads and times between peaks.
  wisdm = "mixed units",
  # Proteins beside age, sex and ratios; shares of words beside the lengths of runs of capitals.
  alzheimer = "mixed units", spam = "mixed units",
  # Expression in five levels.
  lung_discrete = "grades")

truth_of <- function(set, words) {
  if (set %in% names(told)) return(told[[set]])
  if (grepl("mixed units", words)) "mixed units" else if (grepl("text, counts", words)) "counts" else
    if (grepl("binary", words)) "grades" else "one unit"
}

main <- function() {
  folder <- option("data", Sys.getenv("UFSELECT_DATA"))
  parts <- c(folder, file.path(folder, "fresh"))
  lists <- lapply(parts, function(part) {
    list <- utils::read.csv(file.path(part, "MANIFEST.csv"), stringsAsFactors = FALSE)
    data.frame(set = list$name, folder = part, words = list[[2L]])
  })
  sets <- do.call(rbind, lists)
  asked <- words(option("sets", paste(sets$set, collapse = ",")))
  sets <- sets[sets$set %in% asked, ]
  sets$truth <- mapply(truth_of, sets$set, sets$words)
  sets$found <- mapply(function(folder, set) {
    look <- suppressMessages(suppressWarnings(ufselect::ufs_look(read_set(folder, set)$x)))
    look$values
  }, sets$folder, sets$set)
  table <- sets[c("set", "truth", "found")]
  print(table[table$truth != table$found, ], row.names = FALSE)
  say("%d of %d right\n", sum(table$truth == table$found), nrow(table))
  if (!is.null(option("out"))) write_table(table, option("out"))
}
if (!exists("evidence_only_definitions")) main()
