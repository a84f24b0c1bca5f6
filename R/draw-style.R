# The list that both engines draw, and the one place for colours, marks, names and labels.

# kind: "curves"  table x, y, and where there are several: series, panel; low, high: error bars;
#                 log: "y" or ""; percent: y is a share
#       "dots"    table value, series, low, high: one line a series, largest first; percent, colour
#       "spikes"  table x, y, best; narrow: points on a scale of their own, as bars from
#                 zero would all look alike
#       "tiles"   z (rows from top to bottom, with dimnames), limits, palette, text, group
#       "scatter" table x, y, circled; group, style: colours and shapes of its levels; arrows x, y,
#                 label, from 0
# All: title, subtitle, xlab, ylab; lines = list(h = , v = ) for reference lines; curves and tiles:
# mark, x and y of a point (a cell, from left and below) with a ring.
new_picture <- function(kind, ..., title, subtitle = NULL) {
  pic <- structure(list_of(kind, ..., title, subtitle), class = "ufs_picture")
  if (kind == "spikes" && is.null(pic$ylim)) pic$narrow <- are_narrow(pic$table$y)
  if (kind != "curves") return(pic)
  pic$table <- pic$table[is.finite(pic$table$y), ]
  if (!nrow(pic$table)) refuse("x", title, ": there is no finite value to draw.")
  # A linear scale shows only the largest of curves that lie decades apart.
  y <- range(pic$table$y)
  if (is.null(pic$log) && !is.null(pic$table$series) && !isTRUE(pic$percent) && y[1L] > 0 &&
      y[2L] > 50 * y[1L]) {
    pic$log <- "y"
  }
  if (is.null(pic$table$series)) pic$table$series <- ""
  pic
}

# Do values of one sign lie so close that bars from zero to them are alike?
are_narrow <- function(y) {
  ends <- range(abs(y))
  length(y) > 2L && all(y > 0 | max(y) < 0) && ends[1L] > .8 * ends[2L]
}

panels_of <- function(pic) {
  if (is.null(pic$table$panel)) return(list(pic$table))
  split(pic$table, factor(pic$table$panel, unique(pic$table$panel)))
}

# Twelve colours of which any two differ by 17 or more in CIELAB, for every kind of colour vision
# (the first six are Okabe's and Ito's; the others were searched); test-fit-pictures.R measures it.
class_colours <- c("#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#000000", "#3500F6",
  "#7B1C00", "#2F505D", "#002DA5", "#48CE71", "#6DC4C6")
class_shapes <- c(16L, 17L, 15L, 18L, 3L)

# After six the shape and the line type change as well.
group_style <- function(n) {
  i <- seq_len(n) - 1L
  list(colour = class_colours[1L + i %% 12L], shape = class_shapes[1L + (i %/% 6L) %% 5L],
    line = 1L + (i %/% 6L) %% 6L)
}

scatter_style <- function(pic) {
  if (is.null(pic$style)) group_style(max(1L, nlevels(pic$group))) else pic$style
}

# By order; what the picture calls plain (baselines) is grey, thin and dashed.
curve_style <- function(pic, series) {
  plain <- series %in% pic$plain
  own <- group_style(length(series))
  # The number of each among those of its kind.
  at <- ifelse(plain, cumsum(plain), cumsum(!plain))
  list(colour = ifelse(plain, plain_colour, if (length(series) == 1L) "black" else own$colour[at]),
    line = ifelse(plain, 2L + (at - 1L) %% 5L, own$line[at]), width = ifelse(plain, 1, 1.6),
    shape = rep_len(c(16L, 17L, 15L, 18L, 1L, 2L, 0L, 5L), length(series)))
}

dot_colour <- function(pic) if (is.null(pic$colour)) class_colours[1L] else pic$colour

best_colour <- "#B2182B"
rest_colour <- "grey65"
plain_colour <- "grey45"

tile_colours <- function(palette) {
  switch(palette,
    diverging = grDevices::hcl.colors(101L, "Blue-Red 3"),
    sequential = grDevices::hcl.colors(101L, "YlGnBu", rev = TRUE),
    presence = c("grey94", class_colours[1L])
  )
}

shorten <- function(names, width) {
  names <- readable(as.character(names))
  long <- nchar(names) > width
  # In the middle: names that begin alike differ at their ends.
  end <- nchar(names[long])
  tail <- (width - 2L) %/% 2L
  names[long] <- paste0(substr(names[long], 1L, width - 2L - tail), "..",
    substr(names[long], end - tail + 1L, end))
  names
}

# Ticks of a number of features, samples or iterations are whole; shares are shown in per cent.
ticks_within <- function(x) {
  at <- pretty(x)
  at <- at[at >= min(x) - 1e-8 & at <= max(x) + 1e-8]
  if (all(x == round(x))) at <- at[at == round(at)]
  # A few values, where none of the round ones is among them.
  if (length(at) < 2L) sort(unique(range(x))) else at
}

per_cent <- function(share) paste0(format(100 * share, trim = TRUE, digits = 3L), " %")

# Left and right edges of the bars: with gaps where there is room for them, and up to the next bar
# where bars were left out.
bar_edges <- function(x) {
  half <- if (max(x) > 150) .5 else .35
  step <- c(diff(x), 1)
  data.frame(left = x - half, right = x + ifelse(step > 1, step - .5, half))
}

# Bars begin at zero, points where they are.
spikes_range <- function(pic) {
  if (!is.null(pic$ylim)) return(pic$ylim)
  if (isTRUE(pic$narrow)) drawn_ends(range(pic$table$y)) else range(0, pic$table$y)
}

# Ends that differ by rounding alone are drawn as one value; axis() would warn that it has no ticks.
drawn_ends <- function(ends) if (diff(ends) < 1e-12 * max(abs(ends))) ends[c(1L, 1L)] else ends
