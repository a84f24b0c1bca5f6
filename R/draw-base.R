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
  # Bars need width, curves height.
  many <- length(panels)
  old <- graphics::par(mfrow = if (pic$kind == "spikes") c(many, 1L) else c(1L, many),
    oma = c(0, 0, 2, 0), mar = c(4, 4, 2, .5), cex.main = 1)
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

# plot() with our settings, the user's ones in front, with words that their sides have room for.
draw <- function(default, ...) {
  all <- utils::modifyList(default, list(...))
  cex <- graphics::par(c("cex.lab", "cex.main"))
  cex[intersect(names(cex), names(all))] <- all[intersect(names(cex), names(all))]
  # Words are centred on the plot region, which is not the middle of the picture.
  middle <- c(sum(graphics::par("plt")[1:2]), sum(graphics::par("plt")[3:4]))
  side <- graphics::par("fin") * pmin(middle, 2 - middle)
  main <- all$main
  all$main <- ""
  all$cex.lab <- cex$cex.lab * min(fitting(all$xlab, side[1L]), fitting(all$ylab, side[2L]))
  do.call(graphics::plot, all)
  if (is.character(main)) {
    letters <- side[1L] / (.6 * graphics::par("cin")[1L] * graphics::par("cex") * cex$cex.main)
    # Two lines of about the same length.
    if (nchar(main) > letters) letters <- max(12, min(letters, nchar(main) / 2 + 8))
    main <- paste(strwrap(main, letters), collapse = "\n")
  }
  two <- is.character(main) && grepl("\n", main, fixed = TRUE)
  graphics::title(main = main, cex.main = if (two) .9 * cex$cex.main else cex$cex.main,
    line = if (two) 1.25 else NA)
}

# How much smaller words must be for so many inches, by the usual width of a letter.
fitting <- function(words, inches) {
  if (!is.character(words)) return(1)
  letter <- .53 * graphics::par("cin")[1L] * graphics::par("cex")
  min(1, inches / (letter * max(nchar(words), 1L)))
}

draw_lines <- function(lines) {
  graphics::abline(h = lines$h, v = lines$v, lty = 3L, col = "grey40")
}

draw_subtitle <- function(pic) {
  if (is.null(pic$subtitle)) return()
  size <- min(.8, fitting(pic$subtitle, graphics::par("pin")[1L]))
  graphics::mtext(pic$subtitle, line = .15, cex = size * graphics::par("cex"))
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
  # Room for the labels at the ends of the curves, in the plot region: a margin would have to
  # be put back, and points() or lines() afterwards would land in the wrong place.
  room <- if (many) label_room(curve_ends(table, log)$label, .75) else 0
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
  if (many) draw_labels(table, log, style, across)
  if (!is.null(pic$mark)) graphics::points(pic$mark[1L], pic$mark[2L], cex = 2.2, lwd = 2,
    col = best_colour, xpd = NA)
  draw_subtitle(pic)
}

# How much wider than the data the picture must be for labels of this size beside them: estimated,
# for nothing can be measured before the picture has begun.
label_room <- function(labels, size) {
  letters <- max(nchar(labels)) * .53 * graphics::par("cin")[1L] * graphics::par("cex") * size
  share <- min(.55, (letters + .25) / max(graphics::par("pin")[1L], .1))
  share / (1 - share)
}

draw_labels <- function(table, log, style, across) {
  usr <- graphics::par("usr")
  pin <- graphics::par("pin")
  # Right of the symbols, which are about .1 inch wide.
  per_inch <- (usr[2L] - usr[1L]) / pin[1L]
  from <- across[2L] + .2 * per_inch
  ends <- curve_ends(table, log)
  size <- .75 * fitting(ends$label, (usr[2L] - from) / per_inch / .75)
  gap <- min(1 / nrow(ends), 1.5 * graphics::strheight("Mg", "inches", cex = size) / pin[2L])
  ends <- curve_ends(table, log, gap, usr[3:4] + c(.5, -.5) * gap * diff(usr[3:4]))
  graphics::segments(ends$x, ends$y, from - .03 * per_inch, ends$label_y,
    col = grDevices::adjustcolor(style$colour, .6), lty = 3L)
  graphics::text(from, ends$label_y, ends$label, adj = c(0, .5), cex = size, col = style$colour,
    xpd = NA)
}

# One line for every series, the largest value on top.
draw_dots <- function(pic, ...) {
  table <- pic$table[rev(seq_len(nrow(pic$table))), ]
  rows <- seq_len(nrow(table))
  # Names take at most half of the width.
  fit <- graphics::par("pin")[1L] / (graphics::par("cin")[1L] * graphics::par("cex"))
  names <- shorten(table$series, max(12L, min(40L, floor(fit))))
  plain <- table$series %in% pic$plain
  colour <- ifelse(plain, plain_colour, dot_colour(pic))
  # Names stand in the plot region, left of the values.
  heights <- range(table$value, table$low, table$high, finite = TRUE)
  wide <- max(diff(heights), 1e-3)
  room <- wide * label_room(names, .85)
  draw(list(x = heights, y = range(rows), type = "n", xlim = heights + c(-room, .02 * wide),
    ylim = c(.5, max(rows) + .5), axes = FALSE, xlab = pic$xlab, ylab = "", main = pic$title), ...)
  usr <- graphics::par("usr")
  at <- ticks_within(heights)
  graphics::axis(1L, at, if (isTRUE(pic$percent)) 100 * at else at)
  # A mark is about .1 inch wide.
  mark <- .05 * (usr[2L] - usr[1L]) / graphics::par("pin")[1L]
  graphics::segments(heights[1L] - mark, rows, usr[2L], rows, col = "grey88")
  left <- heights[1L] - 2 * mark
  size <- .85 * fitting(names, (left - usr[1L]) * graphics::par("pin")[1L] / diff(usr[1:2]) / .85)
  size <- min(size, .85 / (1.35 * graphics::strheight("Mg", cex = .85)))
  graphics::text(left, rows, names, adj = c(1, .5), cex = size, col = colour, xpd = NA)
  bars <- which(table$high > table$low)
  if (length(bars)) graphics::segments(table$low[bars], rows[bars], table$high[bars], rows[bars],
    col = colour[bars])
  graphics::points(table$value, rows, col = colour, pch = ifelse(plain, 1L, 16L))
  draw_subtitle(pic)
}

draw_spikes <- function(pic, ...) {
  table <- pic$table
  many <- max(table$x)
  block <- if (length(pic$names)) name_block(pic$names)
  room <- if (is.null(block)) 0 else {
    wide <- max(nchar(c(block$text, pic$heading))) + 1L
    many * min(.9, label_room(strrep("m", block$columns * wide), .7))
  }
  draw(list(x = table$x, y = table$y, type = "n", xlim = c(.5, many + .5 + room),
    ylim = spikes_range(pic), xaxt = "n",
    xlab = pic$xlab, ylab = pic$ylab,
    main = pic$title, bty = "l"), ...)
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
  if (!is.null(block)) {
    usr <- graphics::par("usr")
    line <- (usr[4L] - usr[3L]) / (block$rows + 1.5)
    left <- many + .5 + .04 * many
    width <- (usr[2L] - left) / block$columns
    size <- min(.8, line / (1.3 * graphics::strheight("Mg")),
      .95 * width / max(graphics::strwidth(c(block$text, pic$heading), font = 2L)))
    graphics::text(left, usr[4L] - line * .5, pic$heading, adj = c(0, .5), font = 2L, cex = size)
    graphics::text(left + block$column * width, usr[4L] - line * (block$row + 1.75), block$text,
      adj = c(0, .5), cex = size)
  }
  draw_subtitle(pic)
}

draw_scatter <- function(pic, ...) {
  table <- pic$table
  groups <- levels(pic$group)
  style <- scatter_style(pic)
  of <- if (is.null(pic$group)) rep(1L, nrow(table)) else as.integer(pic$group)
  across <- range(table$x, 1.25 * pic$arrows$x)
  columns <- 1L + (length(groups) > 12L)
  room <- if (length(groups)) {
    names <- shorten(groups, 18L)
    wide <- max(nchar(c(names, pic$group_name))) + 3L
    diff(across) * label_room(strrep("m", columns * wide), .8)
  } else 0
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
  if (length(groups)) {
    usr <- graphics::par("usr")
    left <- across[2L] + .03 * diff(across)
    fitted_legend(left, usr[4L], c(usr[2L] - left, usr[4L] - usr[3L]), ncol = columns,
      legend = names, title = pic$group_name, pch = style$shape, col = style$colour)
  }
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

# A legend with its left upper corner at x, y that is as small as its room; its box, invisibly.
fitted_legend <- function(x, y, room, ...) {
  size <- .8
  box <- function(plot) graphics::legend(x, y, ..., bty = "n", cex = size, xpd = NA, plot = plot)
  rect <- box(FALSE)$rect
  size <- max(.35, size * min(1, room[1L] / rect$w, room[2L] / rect$h))
  invisible(box(TRUE)$rect)
}

# Names, margins and room for the legend of a picture of tiles, in columns: before it begins.
tile_layout <- function(pic, columns) {
  labels <- shorten(colnames(pic$z), 20L)
  row_labels <- if (isTRUE(pic$row_labels)) shorten(rownames(pic$z), 20L)
  # A letter is about .6 of a line high; names are made as small as their columns need.
  left_side <- if (length(row_labels)) min(11, 3 + .5 * max(nchar(row_labels))) else 2.6
  letter <- graphics::par("cin")[1L] * graphics::par("cex")
  line <- graphics::par("cin")[2L] * graphics::par("cex")
  across <- graphics::par("fin")[1L] - (left_side + 1) * line
  key <- !isFALSE(pic$key)
  beside <- c(if (!is.null(pic$group)) c("mmm", shorten(levels(pic$group), 16L)),
    if (key) c(pic$value, "-100"))
  share <- if (is.null(beside)) 0 else {
    min(.4, (.55 * .75 * (max(nchar(beside)) + 5L) * letter + .25) / across)
  }
  each <- across * (1 - share) / (1.02 * columns)
  upright <- isTRUE(pic$upright) && (max(nchar(labels)) + 1L) * .5 * letter < each
  size <- .45 * name_size(each, line)$size
  # Names take at most two fifths of the height.
  most <- .4 * graphics::par("fin")[2L] / line
  title <- 2.5
  if (!upright && title + size * max(nchar(labels)) > most) {
    labels <- shorten(labels, max(6L, floor((most - title) / size)))
  }
  list_of(labels, row_labels, upright, key, room = columns * share / (1 - share),
    strip = if (is.null(pic$group)) 0 else max(.3, .03 * columns),
    mar = c(if (upright) 4 else title + size * max(nchar(labels)), left_side,
      if (is.null(pic$subtitle)) 3.2 else 4.1, 1))
}

draw_tiles <- function(pic, ...) {
  z <- pic$z
  rows <- nrow(z)
  columns <- ncol(z)
  colours <- tile_colours(pic$palette)
  frame <- tile_layout(pic, columns)
  old <- graphics::par(mar = frame$mar)
  on.exit(graphics::par(old))
  crown <- if (is.null(pic$tree)) 0 else .18 * rows
  draw(list(x = c(.5 - 1.4 * frame$strip, columns + .5 + frame$room), y = c(.5, rows + .5 + crown),
    type = "n", xaxs = "i", yaxs = "i", axes = FALSE, xlab = "", ylab = "", main = pic$title), ...)
  graphics::image(seq_len(columns), seq_len(rows), t(z[rows:1, , drop = FALSE]), col = colours,
    zlim = pic$limits, add = TRUE, useRaster = rows * columns > 4000L)
  if (isTRUE(pic$row_labels)) {
    # One row or one column has no line between, and segments() takes no empty coordinates.
    if (rows > 1L) graphics::segments(.5, seq_len(rows - 1L) + .5, columns + .5, col = "white")
    if (columns > 1L) {
      graphics::segments(seq_len(columns - 1L) + .5, .5, y1 = rows + .5, col = "white")
    }
  }
  graphics::rect(.5, .5, columns + .5, rows + .5, border = "grey40")
  if (crown) {
    lines <- crown_lines(pic$tree, rows)
    graphics::segments(lines$x, lines$y, lines$xend, lines$yend, col = "grey30")
  }
  # Names never overlap: first smaller, then only every second, third ...
  wide <- graphics::par("pin")[1L] / diff(graphics::par("usr")[1:2])
  tall <- graphics::par("pin")[2L] / (rows + crown)
  axis_names(1L, seq_len(columns), frame$labels, wide, if (frame$upright) 0L else 2L)
  if (length(frame$row_labels)) axis_names(2L, rows:1, frame$row_labels, tall, 2L)
  graphics::mtext(pic$xlab, 1L, line = frame$mar[1L] - 1.2)
  graphics::mtext(pic$ylab, 2L, line = frame$mar[2L] - 1.4,
    cex = fitting(pic$ylab, 1.1 * graphics::par("pin")[2L]) * graphics::par("cex"))
  # The number in each tile, if it can be read.
  if (isTRUE(pic$text)) {
    cell <- cell_texts(z, pic$limits)
    size <- min(.9, .85 * wide / max(graphics::strwidth(cell$text, "inches")),
      .7 * tall / graphics::strheight("8", "inches"))
    if (size > .3) graphics::text(col(z), rows + 1 - row(z), cell$text, cex = size,
      col = cell$colour)
  }
  if (!is.null(pic$mark)) graphics::rect(pic$mark[1L] - .5, pic$mark[2L] - .5, pic$mark[1L] + .5,
    pic$mark[2L] + .5, border = best_colour, lwd = 4, xpd = NA)
  left <- columns + .5 + .12 / wide
  below <- if (is.null(pic$group)) rows + .5 else draw_strip(pic$group, pic$group_name, rows,
    frame$strip, left, c(columns + .5 + frame$room - left, (if (frame$key) .55 else 1) * rows))
  if (frame$key) draw_key(left, below, rows, colours, pic)
  draw_subtitle(pic)
}

# The groups of the rows, as a strip beside them, and their legend; where its box ends.
draw_strip <- function(group, name, rows, strip, left, room) {
  style <- group_style(nlevels(group))
  at <- rle(as.integer(group))
  end <- rows + .5 - cumsum(at$lengths)
  graphics::rect(.5 - 1.3 * strip, end, .5 - .3 * strip, end + at$lengths,
    col = style$colour[at$values], border = "white", lwd = .5)
  box <- fitted_legend(left, rows + .5, room, ncol = 1L + (nlevels(group) > 20L),
    legend = shorten(levels(group), 16L), fill = style$colour, border = NA, title = name)
  box$top - box$h
}

draw_key <- function(left, below, rows, colours, pic) {
  at <- pretty(pic$limits, 4L)
  at <- at[at >= pic$limits[1L] & at <= pic$limits[2L]]
  line <- 1.2 * graphics::strheight("8", cex = .75)
  high <- max(line, min(.35 * rows, below - .5 - 4 * line))
  bottom <- max(.5, below - 3 * line - high)
  wide <- .2 * diff(graphics::par("usr")[1:2]) / graphics::par("pin")[1L]
  graphics::rasterImage(grDevices::as.raster(matrix(rev(colours))), left, bottom, left + wide,
    bottom + high, interpolate = FALSE)
  if (high / max(1L, length(at) - 1L) <= line) at <- range(at)
  share <- (at - pic$limits[1L]) / diff(pic$limits)
  graphics::text(left + 1.2 * wide, bottom + share * high, format(at, trim = TRUE), adj = c(0, .5),
    cex = .7, xpd = NA)
  graphics::text(left, bottom + high + 1.4 * line, pic$value, adj = c(0, .5), xpd = NA,
    cex = .75 * fitting(pic$value, (graphics::par("usr")[2L] - left) / wide * .2 / .75))
}

axis_names <- function(side, at, labels, each, las) {
  fit <- if (las == 2L) name_size(each, graphics::par("cin")[2L]) else list(size = .8, every = 1L)
  show <- seq(1L, length(at), by = fit$every)
  graphics::axis(side, at[show], FALSE, tick = length(at) <= 60L, tcl = -.2, lwd = 0,
    lwd.ticks = .5)
  # Not axis(): it leaves out labels that it thinks would overlap.
  graphics::mtext(labels[show], side, at = at[show], las = las, line = .4,
    cex = fit$size * graphics::par("cex"))
}

# Names side by side, `each` inches for one and `line` inches high at full size: their size, and
# which of them to show so that the size stays readable.
name_size <- function(each, line) {
  size <- .95 * each / line
  list(size = max(.5, min(.8, size)), every = as.integer(max(1, ceiling(.5 / size))))
}

cell_texts <- function(z, limits) {
  list(text = ifelse(is.na(z), "", format(signif(z, 3L), trim = TRUE, digits = 3L)),
    colour = ifelse(!is.na(z) & z > mean(limits), "white", "black"))
}
