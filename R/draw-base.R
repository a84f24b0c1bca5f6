# Pictures in base graphics: a picture (R/draw-style.R) is drawn by the function of its kind.

draw_picture <- function(pic, ...) {
  # Base graphics would only warn of a wrong name, several times.
  unknown <- if (...length()) setdiff(names_of(list(...)), c(names(graphics::par(no.readonly =
    TRUE)), names(formals(utils::getS3method("plot", "default")))))
  if (length(unknown)) refuse_argument(unknown[1L])
  draw_one <- switch(pic$kind, curves = draw_curves, spikes = draw_spikes, dots = draw_dots,
    tiles = draw_tiles, scatter = draw_scatter)
  panels <- panels_of(pic)
  if (length(panels) < 2L) return(draw_one(pic, ...))
  old <- graphics::par(mfrow = c(1L, length(panels)), oma = c(0, 0, 2, 0), mar = c(4, 4, 2, .5),
    cex.main = 1)
  on.exit(graphics::par(old))
  for (name in names(panels)) {
    one <- pic
    one[c("table", "title")] <- list(panels[[name]], name)
    draw_one(one, ...)
  }
  graphics::mtext(pic$title, outer = TRUE, font = 2L)
}

# Several pictures side by side, or below each other on a high page. Graphical parameters of the
# user's are meant for one picture, the first.
draw_pictures <- function(pics, ...) {
  n <- length(pics)
  # Not where they would be too small, nor on a page that is not ours to divide.
  page <- graphics::par("din")
  ours <- n > 1L && !...length() && all(graphics::par("mfrow") == 1L) && !graphics::par("new") &&
    all(graphics::par("fig") == c(0, 1, 0, 1))
  panels <- if (ours) if (page[2L] >= 3.2 * n) c(n, 1L) else if (page[1L] >= 2.6 * n) c(1L, n)
  if (is.null(panels)) return(draw_picture(pics[[1L]], ...))
  old <- graphics::par(c("mfrow", "mex", "cex", "mar", "cex.main"))
  on.exit(graphics::par(old))
  graphics::par(mfrow = panels, cex.main = 1)
  for (pic in pics) {
    # Lines of dots have their names in the picture.
    graphics::par(mar = c(4.5, if (pic$kind == "dots") 1 else 4, 4.1, .8))
    draw_picture(pic)
  }
}

# plot() with our settings, the user's ones in front; a long title has several lines.
draw <- function(default, ...) {
  all <- utils::modifyList(default, list(...))
  if (is.character(all$main)) {
    letter <- .6 * graphics::par("cin")[1L] * graphics::par("cex") * graphics::par("cex.main")
    wide <- max(12, graphics::par("pin")[1L] / letter)
    all$main <- paste(strwrap(all$main, wide), collapse = "\n")
  }
  do.call(graphics::plot, all)
}

draw_lines <- function(lines) graphics::abline(h = lines$h, v = lines$v, lty = 3L, col = "grey40")

draw_subtitle <- function(pic) {
  if (is.null(pic$subtitle)) return()
  wide <- graphics::strwidth(pic$subtitle, "inches")
  graphics::mtext(pic$subtitle, line = .15,
    cex = min(.8, graphics::par("pin")[1L] / wide) * graphics::par("cex"))
}

# Tick marks only where there are data: the rest of the axis is room for names.
draw_ticks <- function(x, labels = NULL) {
  at <- if (is.null(labels)) ticks_within(x) else sort(unique(x))
  graphics::axis(1L, at, if (is.null(labels)) TRUE else labels[at])
}

draw_curves <- function(pic, ...) {
  table <- pic$table
  log <- if (is.null(pic$log)) "" else pic$log
  series <- unique(table$series)
  style <- curve_style(pic, series)
  many <- length(series) > 1L
  across <- range(table$x)
  # Room for the legend, in the plot region: a margin would have to be put back, and points() or
  # lines() afterwards would land in the wrong place.
  names <- shorten(series, 24L)
  room <- if (many) label_room(paste("mmm", names), .75) else 0
  heights <- c(table$y, table$low, table$high, pic$lines$h, if (log == "") pic$from)
  draw(list(x = across, y = drawn_ends(range(heights, finite = TRUE)), type = "n", log = log,
    xlim = across + c(0, max(diff(across), 1e-8) * room), xaxt = "n", yaxt = "n",
    xlab = pic$xlab, ylab = pic$ylab, main = pic$title, bty = "l"), ...)
  draw_ticks(table$x, pic$x_labels)
  at <- graphics::axTicks(2L)
  if (isTRUE(pic$percent)) graphics::axis(2L, at, 100 * at) else graphics::axis(2L)
  draw_lines(pic$lines)
  for (i in seq_along(series)) {
    part <- table[table$series == series[i], ]
    # Standard deviations, as far as there are any.
    bars <- part[which(part$high > part$low), ]
    if (nrow(bars)) graphics::segments(bars$x, bars$low, bars$x, bars$high,
      col = grDevices::adjustcolor(style$colour[i], .5))
    graphics::lines(part$x, part$y, col = style$colour[i], lty = style$line[i],
      lwd = style$width[i])
    if (!isFALSE(pic$points)) graphics::points(part$x, part$y, col = style$colour[i],
      pch = style$shape[i], cex = if (nrow(part) > 60L) .5 else .9)
  }
  if (many) {
    legend_beside(across[2L], legend = names, col = style$colour, lty = style$line,
      pch = if (!isFALSE(pic$points)) style$shape)
  }
  if (!is.null(pic$mark)) graphics::points(pic$mark[1L], pic$mark[2L], cex = 2.2, lwd = 2,
    col = best_colour, xpd = NA)
  draw_subtitle(pic)
}

# How much wider than the data the picture must be for a legend of these words beside them.
label_room <- function(words, size) {
  letters <- max(nchar(words)) * .53 * graphics::par("cin")[1L] * graphics::par("cex") * size
  share <- min(.55, (letters + .25) / max(graphics::par("pin")[1L], .1))
  share / (1 - share)
}

# A legend right of `from`, below `top`, as small as its room; its box, invisibly. `share`: how much
# of the height it may take.
legend_beside <- function(from, top = graphics::par("usr")[4L], share = 1, ...) {
  usr <- graphics::par("usr")
  left <- from + .03 * (usr[2L] - usr[1L])
  size <- .8
  box <- function(plot) {
    graphics::legend(left, top, ..., bty = "n", cex = size, xpd = NA, plot = plot)$rect
  }
  whole <- box(FALSE)
  size <- max(.35, size * min(1, (usr[2L] - left) / whole$w, share * (top - usr[3L]) / whole$h))
  invisible(box(TRUE))
}

# One line for every series, the largest value on top, its name left of the values.
draw_dots <- function(pic, ...) {
  table <- pic$table[rev(seq_len(nrow(pic$table))), ]
  rows <- seq_len(nrow(table))
  names <- shorten(table$series, 24L)
  plain <- table$series %in% pic$plain
  colour <- ifelse(plain, plain_colour, dot_colour(pic))
  heights <- range(table$value, table$low, table$high, finite = TRUE)
  wide <- max(diff(heights), 1e-3)
  draw(list(x = heights, y = range(rows), type = "n",
    xlim = heights + wide * c(-label_room(names, .85), .02), ylim = c(.5, max(rows) + .5),
    axes = FALSE, xlab = pic$xlab, ylab = "", main = pic$title), ...)
  at <- ticks_within(heights)
  graphics::axis(1L, at, if (isTRUE(pic$percent)) 100 * at else at)
  left <- heights[1L] - .03 * wide
  graphics::segments(left, rows, graphics::par("usr")[2L], rows, col = "grey88")
  graphics::text(left, rows, names, pos = 2L, col = colour, xpd = NA,
    cex = min(.85, .7 / graphics::strheight("Mg")))
  bars <- which(table$high > table$low)
  if (length(bars)) graphics::segments(table$low[bars], rows[bars], table$high[bars], rows[bars],
    col = colour[bars])
  graphics::points(table$value, rows, col = colour, pch = ifelse(plain, 1L, 16L))
  draw_subtitle(pic)
}

draw_spikes <- function(pic, ...) {
  table <- pic$table
  many <- max(table$x)
  draw(list(x = table$x, y = table$y, type = "n", xlim = c(.5, many + .5),
    ylim = spikes_range(pic), xaxt = "n", xlab = pic$xlab, ylab = pic$ylab, main = pic$title,
    bty = "l"), ...)
  # An argument of the user's that colours is meant for the bars.
  mine <- list(...)
  bars <- utils::modifyList(list(border = NA, col = ifelse(table$best, best_colour, rest_colour)),
    mine[intersect(names(mine), c("col", "border"))])
  edge <- bar_edges(table$x)
  if (isTRUE(pic$narrow)) graphics::points(table$x, table$y, pch = 16L, col = bars$col,
    cex = if (nrow(table) > 100L) .5 else .9) else
    do.call(graphics::rect, c(list(edge$left, 0, edge$right, table$y), bars))
  # Bars that are thinner than a dot would be lost among the others.
  best <- if (many > 100 && is.null(mine$col) && !isTRUE(pic$narrow)) table[table$best, ]
  if (NROW(best)) graphics::segments(best$x, 0, best$x, best$y, col = best_colour, lend = 1L)
  draw_ticks(c(1, many))
  draw_lines(pic$lines)
  draw_subtitle(pic)
}

draw_scatter <- function(pic, ...) {
  table <- pic$table
  groups <- levels(pic$group)
  style <- scatter_style(pic)
  of <- if (is.null(pic$group)) rep(1L, nrow(table)) else as.integer(pic$group)
  across <- range(table$x, 1.25 * pic$arrows$x)
  columns <- 1L + (length(groups) > 12L)
  names <- shorten(groups, 18L)
  room <- if (!length(groups)) 0 else
    diff(across) * label_room(strrep(c(paste("mmm", names), pic$group_name), columns), .8)
  draw(list(x = table$x, y = table$y, pch = style$shape[of],
    cex = if (nrow(table) > 2000L) .5 else .9,
    col = grDevices::adjustcolor(style$colour[of], if (nrow(table) > 500L) .6 else .9),
    xlim = across + c(0, room), ylim = range(table$y, pic$arrows$y), xaxt = "n", xlab = pic$xlab,
    ylab = pic$ylab, main = pic$title, bty = "l"), ...)
  graphics::axis(1L, ticks_within(across))
  # The names stay left of the legend.
  if (!is.null(pic$arrows)) {
    draw_arrows(pic$arrows, if (length(groups)) across[2L] else graphics::par("usr")[2L])
  }
  circled <- table[table$circled, ]
  graphics::points(circled$x, circled$y, pch = 1L, cex = 2, lwd = 2)
  if (length(groups)) legend_beside(across[2L], ncol = columns, legend = names,
    title = pic$group_name, pch = style$shape, col = style$colour)
  draw_subtitle(pic)
}

# Arrows from the middle, the longest ones with names as far as these do not cover one another.
draw_arrows <- function(arrows, right) {
  seen <- arrows[sqrt(arrows$x^2 + arrows$y^2) > 1e-6 * max(abs(unlist(arrows[1:2]))), ]
  if (!nrow(seen)) return()
  graphics::arrows(0, 0, seen$x, seen$y, length = .06, col = best_colour)
  seen <- seen[order(-(seen$x^2 + seen$y^2)), ]
  label <- shorten(seen$label, 20L)
  wide <- graphics::strwidth(label, cex = .75)
  high <- 1.2 * graphics::strheight("Mg", cex = .75)
  usr <- graphics::par("usr")
  x <- seen$x + ifelse(seen$x < 0, -.55, .55) * wide
  x <- pmin(pmax(x, usr[1L] + wide / 2), right - wide / 2)
  y <- pmin(pmax(seen$y + sign(seen$y) * .4 * high, usr[3L] + high / 2), usr[4L] - high / 2)
  shown <- integer()
  for (i in seq_along(x)) {
    if (all(abs(x[i] - x[shown]) > (wide[i] + wide[shown]) / 2 | abs(y[i] - y[shown]) > high)) {
      shown <- c(shown, i)
    }
  }
  graphics::text(x[shown], y[shown], label[shown], cex = .75, col = best_colour)
}

draw_tiles <- function(pic, ...) {
  z <- pic$z
  rows <- nrow(z)
  columns <- ncol(z)
  labels <- shorten(colnames(z), 16L)
  row_labels <- if (isTRUE(pic$row_labels)) shorten(rownames(z), 16L)
  upright <- isTRUE(pic$upright) && columns * max(nchar(labels)) < 60L
  key <- if (!isFALSE(pic$key)) rev(pretty(pic$limits, 4L))
  key <- key[key >= pic$limits[1L] & key <= pic$limits[2L]]
  strip <- if (is.null(pic$group)) 0 else max(.3, .03 * columns)
  old <- graphics::par(mar = c(if (upright) 4 else 2.5 + .45 * max(nchar(labels)),
    if (is.null(row_labels)) 2.6 else 3 + .45 * max(nchar(row_labels)), 4.1, 1))
  on.exit(graphics::par(old))
  beside <- c(if (!is.null(pic$group)) c(paste("mmm", shorten(levels(pic$group), 16L))),
    if (length(key)) c(pic$value, paste("mmm", key)))
  room <- if (is.null(beside)) 0 else columns * label_room(beside, .8)
  draw(list(x = c(.5 - 1.4 * strip, columns + .5 + room), y = c(.5, rows + .5),
    type = "n", xaxs = "i", yaxs = "i", axes = FALSE, xlab = "", ylab = "", main = pic$title), ...)
  colours <- tile_colours(pic$palette)
  graphics::image(seq_len(columns), seq_len(rows), t(z[rows:1, , drop = FALSE]), col = colours,
    zlim = pic$limits, add = TRUE, useRaster = rows * columns > 4000L)
  graphics::rect(.5, .5, columns + .5, rows + .5, border = "grey40")
  # axis() leaves out names that would overlap.
  side <- function(side, at, names, las) {
    graphics::axis(side, at, names, las = las, tick = FALSE, line = -.7, cex.axis = .75)
  }
  side(1L, seq_len(columns), labels, if (upright) 1L else 2L)
  if (!is.null(row_labels)) side(2L, rows:1, row_labels, 2L)
  graphics::mtext(pic$xlab, 1L, line = graphics::par("mar")[1L] - 1.2)
  graphics::mtext(pic$ylab, 2L, line = graphics::par("mar")[2L] - 1.4)
  # The number in each tile, if it can be read.
  if (isTRUE(pic$text) && columns <= 12L && rows <= 25L) {
    cell <- cell_texts(z, pic$limits)
    graphics::text(col(z), rows + 1 - row(z), cell$text, cex = .75, col = cell$colour)
  }
  if (!is.null(pic$mark)) graphics::rect(pic$mark[1L] - .5, pic$mark[2L] - .5, pic$mark[1L] + .5,
    pic$mark[2L] + .5, border = best_colour, lwd = 4, xpd = NA)
  top <- rows + .5
  if (!is.null(pic$group)) {
    # The groups of the rows, as a strip beside them.
    style <- group_style(nlevels(pic$group))
    at <- rle(as.integer(pic$group))
    end <- rows + .5 - cumsum(at$lengths)
    graphics::rect(.5 - 1.3 * strip, end, .5 - .3 * strip, end + at$lengths,
      col = style$colour[at$values], border = "white", lwd = .5)
    box <- legend_beside(columns + .5, top, if (length(key)) .6 else 1, fill = style$colour,
      legend = shorten(levels(pic$group), 16L), title = pic$group_name, border = NA,
      ncol = 1L + (nlevels(pic$group) > 20L))
    top <- box$top - box$h
  }
  if (length(key)) legend_beside(columns + .5, top, title = pic$value, legend = key, border = NA,
    fill = colours[pmin(101, pmax(1, 1 + round(100 * (key - pic$limits[1L]) / diff(pic$limits))))])
  draw_subtitle(pic)
}

cell_texts <- function(z, limits) {
  list(text = ifelse(is.na(z), "", format(signif(z, 3L), trim = TRUE, digits = 3L)),
    colour = ifelse(!is.na(z) & z > mean(limits), "white", "black"))
}
