# The two engines that draw a picture (plots.R): base graphics and ggplot2.

# ---- the list that both engines draw ----------------------------------------------------

# kind: "curves"  table x, y, and where there are several: series, panel; log: "y" or ""
#       "spikes"  table x, y, best, (panel); names and heading listed beside the bars
#       "tiles"   z (rows from top to bottom, with dimnames), limits, palette, text, group
#       "scatter" table x, y, circled; group
# All: title, subtitle, xlab, ylab; lines = list(h = , v = ) for reference lines.
new_picture <- function(kind, ..., title, subtitle = NULL) {
  pic <- structure(list(kind = kind, ..., title = title, subtitle = subtitle),
    class = "ufs_picture")
  if (kind == "curves") {
    pic$table <- pic$table[is.finite(pic$table$y), ]
    if (!nrow(pic$table)) {
      ufs_abort("argument", title, ": there is no finite value to draw.", argument = "x")
    }
  }
  pic
}

panels_of <- function(pic) {
  if (is.null(pic$table$panel)) {
    return(list(pic$table))
  }
  split(pic$table, factor(pic$table$panel, unique(pic$table$panel)))
}

# Distinguishable with any colour vision (Okabe and Ito), dark ones first.
class_colours <- c("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000",
  "#B0A000")
class_shapes <- c(16L, 17L, 15L, 18L, 3L)

# Colours run out after eight groups: then the shape (the line type) changes as well.
group_style <- function(n) {
  i <- seq_len(n) - 1L
  list(colour = class_colours[1L + i %% 8L], shape = class_shapes[1L + (i %/% 8L) %% 5L],
    line = 1L + (i %/% 8L) %% 6L)
}
best_colour <- "#B2182B"
rest_colour <- "grey65"

tile_colours <- function(palette) {
  switch(palette,
    diverging = grDevices::hcl.colors(101L, "Blue-Red 3"),
    sequential = grDevices::hcl.colors(101L, "YlGnBu", rev = TRUE),
    presence = c("grey94", class_colours[1L])
  )
}

# At most `most` names in columns of `rows`, each cut to a width.
name_block <- function(names, rows = 25L, most = 50L) {
  if (length(names) > most) {
    names <- c(names[seq_len(most - 1L)], paste("and", length(names) - most + 1L, "more"))
  }
  columns <- max(1L, ceiling(length(names) / rows))
  list(text = shorten(names, if (columns > 1L) 12L else 18L), columns = columns, rows = rows,
    column = (seq_along(names) - 1L) %/% rows, row = (seq_along(names) - 1L) %% rows)
}

shorten <- function(names, width) {
  # Bytes that are no characters in this locale cannot be measured: they are shown as <e9>.
  odd <- !validEnc(names)
  names[odd] <- iconv(names[odd], sub = "byte")
  long <- nchar(names) > width
  names[long] <- paste0(substr(names[long], 1L, width - 2L), "..")
  names
}

# Heights for labels at the ends of curves: as near to `y` as a distance of `gap` allows.
spread_labels <- function(y, gap, low, high) {
  if (length(y) < 2L) {
    return(y)
  }
  gap <- min(gap, (high - low) / (length(y) - 1L))
  turn <- order(y)
  at <- y[turn]
  # Blocks of labels that touch share their mean shift; merge until none overlap.
  block <- as.list(seq_along(at))
  centre <- at
  repeat {
    half <- gap * (lengths(block) - 1L) / 2
    centre <- pmin(pmax(centre, low + half), high - half)
    touch <- which(diff(centre) < (half[-1L] + half[-length(half)] + gap) * (1 - 1e-9))
    if (!length(touch)) break
    i <- touch[1L]
    block[[i]] <- c(block[[i]], block[[i + 1L]])
    centre[i] <- mean(at[block[[i]]])
    block[[i + 1L]] <- NULL
    centre <- centre[-(i + 1L)]
  }
  out <- numeric(length(at))
  for (i in seq_along(block)) {
    m <- length(block[[i]])
    out[block[[i]]] <- centre[i] + gap * (seq_len(m) - (m + 1) / 2)
  }
  out[order(turn)]
}

# The end of each curve and where its label goes.
curve_ends <- function(table, log) {
  last <- lapply(split(table, factor(table$series, unique(table$series))), function(part) {
    if (is.null(part$label)) part$label <- part$series
    part[which.max(part$x), c("x", "y", "series", "label")]
  })
  last <- do.call(rbind, last)
  height <- if (log == "y") log10(last$y) else last$y
  range <- range(if (log == "y") log10(table$y) else table$y, finite = TRUE)
  at <- spread_labels(height, diff(range) / 19, range[1L], range[2L])
  last$label_y <- if (log == "y") 10^at else at
  last
}

# Left and right edges of the bars: with gaps where there is room for them, and up to the next bar
# where bars were left out.
bar_edges <- function(x) {
  wide <- max(x) > 150
  step <- c(diff(x), 1)
  data.frame(left = x - if (wide) .5 else .35, right = x + ifelse(step > 1, step - .5,
    if (wide) .5 else .35))
}

# ---- base graphics ----------------------------------------------------------------------

draw_picture <- function(pic, ...) {
  check_dots_graphics(...)
  panels <- if (pic$kind %in% c("curves", "spikes")) panels_of(pic) else list(NULL)
  if (length(panels) > 1L) {
    # Bars need width, curves height.
    many <- length(panels)
    old <- graphics::par(mfrow = if (pic$kind == "spikes") c(many, 1L) else c(1L, many),
      oma = c(0, 0, 2, 0), mar = c(4, 4, 2, .5), cex.main = 1)
    on.exit(graphics::par(old))
    for (name in names(panels)) {
      one <- pic
      one$table <- panels[[name]]
      one$title <- name
      one$lines <- c(pic$lines, pic$panel_lines[[name]])
      draw_one(one, ...)
    }
    graphics::mtext(pic$title, outer = TRUE, font = 2L)
  } else {
    draw_one(pic, ...)
  }
}

draw_one <- function(pic, ...) {
  switch(pic$kind, curves = draw_curves(pic, ...), spikes = draw_spikes(pic, ...),
    tiles = draw_tiles(pic, ...), scatter = draw_scatter(pic, ...))
}

# plot() with our settings, the user's ones in front.
draw <- function(default, ..., with = graphics::plot) {
  mine <- list(...)
  do.call(with, c(mine, default[setdiff(names(default), names(mine))]))
}

draw_lines <- function(lines) {
  if (length(lines$h)) graphics::abline(h = lines$h, lty = 3L, col = "grey40")
  if (length(lines$v)) graphics::abline(v = lines$v, lty = 3L, col = "grey40")
}

draw_subtitle <- function(pic) {
  if (!is.null(pic$subtitle)) graphics::mtext(pic$subtitle, line = .3,
    cex = .8 * graphics::par("cex"))
}

# Tick marks only where there are data: the rest of the axis is room for names.
ticks_within <- function(x) {
  at <- pretty(x)
  at[at >= min(x) - 1e-8 & at <= max(x) + 1e-8]
}

draw_ticks <- function(x, labels = NULL) {
  at <- if (is.null(labels)) ticks_within(x) else sort(unique(x))
  graphics::axis(1L, at, if (is.null(labels)) TRUE else labels[at])
}

# Ends that differ by rounding alone are drawn as one value; axis() would warn that it has no ticks.
drawn_ends <- function(ends) {
  if (diff(ends) < 1e-12 * max(abs(ends))) ends[c(1L, 1L)] else ends
}

draw_curves <- function(pic, ...) {
  table <- pic$table
  if (is.null(table$series)) table$series <- ""
  log <- if (is.null(pic$log)) "" else pic$log
  series <- unique(table$series)
  style <- curve_style(pic, series)
  many <- length(series) > 1L
  ends <- curve_ends(table, log)
  widest <- if (many) max(nchar(ends$label)) else 0L
  across <- range(table$x)
  # Room for the labels at the ends of the curves, in the plot region: a margin would have to
  # be put back, and points() or lines() afterwards would land elsewhere.
  room <- if (many) max(diff(across), 1e-8) * min(.6, .06 + .022 * widest) else 0
  draw(list(x = across, y = drawn_ends(range(table$y, pic$lines$h, finite = TRUE)), type = "n", log = log,
    xlim = across + c(0, room), xaxt = "n", xlab = pic$xlab, ylab = pic$ylab, main = pic$title,
    bty = "l"), ...)
  draw_ticks(table$x, pic$x_labels)
  draw_lines(pic$lines)
  for (i in seq_along(series)) {
    part <- table[table$series == series[i], ]
    graphics::lines(part$x, part$y, col = style$colour[i], lty = style$line[i],
      lwd = style$width[i])
    if (!isFALSE(pic$points)) graphics::points(part$x, part$y, col = style$colour[i],
      pch = style$shape[i])
  }
  if (many) {
    size <- .75
    from <- across[2L] + .04 * diff(across)
    graphics::segments(ends$x, ends$y, from, ends$label_y,
      col = grDevices::adjustcolor(style$colour, .6), lty = 3L)
    graphics::text(from, ends$label_y, ends$label, adj = c(-.05, .5), cex = size,
      col = style$colour, xpd = NA)
  }
  draw_subtitle(pic)
}

# Okabe-Ito by order; what the picture calls plain is thin and dashed.
curve_style <- function(pic, series) {
  style <- group_style(length(series))
  if (length(series) == 1L) style$colour <- "black"
  style$width <- rep(1.6, length(series))
  style$width[series %in% pic$plain] <- 1
  style$line[series %in% pic$plain] <- 2L
  style$shape <- rep_len(c(16L, 17L, 15L, 18L, 1L, 2L, 0L, 5L), length(series))
  style
}

draw_spikes <- function(pic, ...) {
  table <- pic$table
  many <- max(table$x)
  block <- if (!is.null(pic$names)) name_block(pic$names)
  room <- if (is.null(block)) 0 else many * c(.32, .62)[min(2L, block$columns)]
  draw(list(x = table$x, y = table$y, type = "n", xlim = c(.5, many + .5 + room),
    ylim = if (is.null(pic$ylim)) range(0, table$y) else pic$ylim, xaxt = "n", xlab = pic$xlab,
    ylab = pic$ylab, main = pic$title, bty = "l"), ...)
  # An argument of the user's that colours is meant for the bars.
  bars <- list(...)
  bars <- bars[intersect(names(bars), c("col", "border"))]
  edge <- bar_edges(table$x)
  mine <- list(xleft = edge$left, ybottom = 0, xright = edge$right, ytop = table$y, border = NA,
    col = ifelse(table$best, best_colour, rest_colour))
  do.call(graphics::rect, c(bars, mine[setdiff(names(mine), names(bars))]))
  draw_ticks(c(1, many))
  draw_lines(pic$lines)
  if (!is.null(block)) {
    usr <- graphics::par("usr")
    line <- (usr[4L] - usr[3L]) / (block$rows + 1.5)
    left <- many + .5 + .04 * many
    width <- (usr[2L] - left) / block$columns
    size <- min(.8, line / (1.6 * graphics::strheight("M")),
      .95 * width / max(graphics::strwidth(block$text)))
    graphics::text(left, usr[4L] - line * .5, pic$heading, adj = c(0, .5), font = 2L, cex = size)
    graphics::text(left + block$column * width, usr[4L] - line * (block$row + 1.75), block$text,
      adj = c(0, .5), cex = size)
  }
  draw_subtitle(pic)
}

draw_scatter <- function(pic, ...) {
  table <- pic$table
  groups <- levels(pic$group)
  style <- group_style(max(1L, length(groups)))
  of <- if (is.null(pic$group)) rep(1L, nrow(table)) else as.integer(pic$group)
  across <- range(table$x)
  columns <- 1L + (length(groups) > 20L)
  room <- if (length(groups)) {
    diff(across) * min(.6, columns * (.1 + .02 * max(nchar(shorten(groups, 16L)))))
  } else 0
  draw(list(x = table$x, y = table$y, pch = style$shape[of],
    cex = if (nrow(table) > 2000L) .5 else .9,
    col = grDevices::adjustcolor(style$colour[of], if (nrow(table) > 500L) .6 else .9),
    xlim = across + c(0, room), xlab = pic$xlab, ylab = pic$ylab, main = pic$title, bty = "l"), ...)
  if (any(table$circled)) {
    graphics::points(table$x[table$circled], table$y[table$circled], pch = 1L, cex = 2, lwd = 2)
  }
  if (length(groups)) {
    usr <- graphics::par("usr")
    graphics::legend(across[2L] + .03 * diff(across), usr[4L], legend = shorten(groups, 16L),
      title = pic$group_name, pch = style$shape, col = style$colour, bty = "n", cex = .8,
      ncol = columns, xpd = NA)
  }
  draw_subtitle(pic)
}

draw_tiles <- function(pic, ...) {
  z <- pic$z
  rows <- nrow(z)
  columns <- ncol(z)
  colours <- tile_colours(pic$palette)
  labels <- shorten(colnames(z), 20L)
  row_labels <- if (isTRUE(pic$row_labels)) shorten(rownames(z), 20L)
  upright <- isTRUE(pic$upright) && max(nchar(labels)) * columns < 60L
  # A letter is about .6 of a line high; names are made as small as their columns need.
  left_side <- if (length(row_labels)) min(11, 3 + .5 * max(nchar(row_labels))) else 2.6
  line <- graphics::par("cin")[2L] * graphics::par("cex")
  each <- (graphics::par("fin")[1L] - (left_side + 1) * line) / (1.35 * columns)
  size <- name_size(each, line)$size
  old <- graphics::par(mar = c(if (upright) 4 else 2.4 + .52 * size * max(nchar(labels)),
    left_side, 3.2, 1))
  on.exit(graphics::par(old))
  strip <- if (is.null(pic$group)) 0 else max(.3, .03 * columns)
  key <- isTRUE(is.null(pic$key) || pic$key)
  names_width <- if (is.null(pic$group)) 5L else max(5L, nchar(shorten(levels(pic$group), 14L)))
  room <- if (key || !is.null(pic$group)) columns * (.12 + .016 * names_width) + .3 else 0
  draw(list(x = c(.5 - 1.4 * strip, columns + .5 + room), y = c(.5, rows + .5), type = "n",
    xaxs = "i", yaxs = "i", axes = FALSE, xlab = "", ylab = "", main = pic$title), ...)
  graphics::image(seq_len(columns), seq_len(rows), t(z[rows:1, , drop = FALSE]), col = colours,
    zlim = pic$limits, add = TRUE, useRaster = rows * columns > 4000L)
  if (isTRUE(pic$row_labels)) {
    graphics::segments(.5, seq_len(rows - 1L) + .5, columns + .5, col = "white")
    graphics::segments(seq_len(columns - 1L) + .5, .5, y1 = rows + .5, col = "white")
  }
  graphics::rect(.5, .5, columns + .5, rows + .5, border = "grey40")
  # Names never overlap: first smaller, then only every second, third ...
  wide <- graphics::par("pin")[1L] / diff(graphics::par("usr")[1:2])
  tall <- graphics::par("pin")[2L] / rows
  axis_names(1L, seq_len(columns), labels, wide, if (upright) 0L else 2L)
  if (length(row_labels)) axis_names(2L, rows:1, row_labels, tall, 2L)
  graphics::mtext(pic$xlab, 1L, line = graphics::par("mar")[1L] - 1.2)
  graphics::mtext(pic$ylab, 2L, line = graphics::par("mar")[2L] - 1.4)
  if (isTRUE(pic$text)) {
    middle <- mean(pic$limits)
    cell <- ifelse(is.na(z), "", format_cells(z))
    size <- min(.9, .85 * wide / max(graphics::strwidth(cell, "inches")),
      .7 * tall / graphics::strheight("8", "inches"))
    if (size > .3) {
      graphics::text(col(z), rows + 1 - row(z), cell, cex = size,
        col = ifelse(!is.na(z) & z > middle, "white", "black"))
    }
  }
  left <- columns + .5 + .04 * columns + .1
  below <- rows + .5
  if (!is.null(pic$group)) {
    style <- group_style(nlevels(pic$group))
    at <- rle(as.integer(pic$group))
    end <- cumsum(at$lengths)
    graphics::rect(.5 - 1.3 * strip, rows + .5 - end, .5 - .3 * strip,
      rows + .5 - (end - at$lengths), col = style$colour[at$values], border = "white", lwd = .5)
    box <- graphics::legend(left, rows + .5, legend = shorten(levels(pic$group), 14L),
      fill = style$colour, border = NA, title = pic$group_name, bty = "n", cex = .75,
      ncol = 1L + (nlevels(pic$group) > 20L))
    below <- box$rect$top - box$rect$h
  }
  if (key) draw_key(left, below, rows, columns, colours, pic)
  draw_subtitle(pic)
}

draw_key <- function(left, below, rows, columns, colours, pic) {
  at <- pretty(pic$limits, 4L)
  at <- at[at >= pic$limits[1L] & at <= pic$limits[2L]]
  line <- 1.2 * graphics::strheight("8", cex = .75)
  high <- min(.35 * rows, below - .5 - 4 * line)
  bottom <- below - 3 * line - high
  wide <- .035 * columns + .1
  graphics::rasterImage(grDevices::as.raster(matrix(rev(colours))), left, bottom, left + wide,
    bottom + high, interpolate = FALSE)
  share <- (at - pic$limits[1L]) / diff(pic$limits)
  fits <- high / max(1L, length(at) - 1L) > line
  if (!fits) {
    at <- pic$limits
    share <- 0:1
  }
  graphics::text(left + 1.2 * wide, bottom + share * high, format(at, trim = TRUE), adj = c(0, .5),
    cex = .7)
  graphics::text(left, bottom + high + 1.5 * line, pic$value, adj = c(0, .5), cex = .75)
}

axis_names <- function(side, at, labels, each, las) {
  fit <- if (las == 2L) name_size(each, graphics::par("cin")[2L]) else list(size = .8, every = 1L)
  size <- fit$size
  every <- fit$every
  show <- seq(1L, length(at), by = every)
  graphics::axis(side, at[show], FALSE, tick = length(at) <= 60L, tcl = -.2, lwd = 0,
    lwd.ticks = .5)
  # Not axis(): it leaves out labels that it thinks would overlap.
  graphics::mtext(labels[show], side, at = at[show], las = las, cex = size * graphics::par("cex"),
    line = .4)
}

# Names side by side, `each` inches for one and `line` inches high at full size: their size, and
# which of them to show so that the size stays readable.
name_size <- function(each, line) {
  size <- min(.8, .95 * each / line)
  every <- 1L
  if (size < .42) {
    every <- as.integer(ceiling(.42 * line / (.95 * each)))
    size <- .42
  }
  list(size = size, every = every)
}

format_cells <- function(z) format(signif(z, 3L), trim = TRUE, digits = 3L)

# ---- ggplot2 ----------------------------------------------------------------------------

ggplot_picture <- function(pic) {
  check_installed("ggplot2", "for autoplot()")
  out <- switch(pic$kind, curves = ggplot_curves(pic), spikes = ggplot_spikes(pic),
    tiles = ggplot_tiles(pic), scatter = ggplot_scatter(pic))
  out + ggplot2::labs(title = pic$title, subtitle = pic$subtitle, x = pic$xlab, y = pic$ylab) +
    ggplot2::theme(plot.title = ggplot2::element_text(size = 12, face = "bold"),
      panel.grid.minor = ggplot2::element_blank())
}

column <- function(name) {
  force(name)
  as.call(list(as.name("[["), as.name(".data"), name))
}

# aes() from names of columns, without a word in it that R CMD check does not know.
aes_of <- function(...) do.call(ggplot2::aes, lapply(list(...), column))

ggplot_curves <- function(pic) {
  table <- pic$table
  if (is.null(table$series)) table$series <- ""
  log <- if (is.null(pic$log)) "" else pic$log
  series <- unique(table$series)
  table$series <- factor(table$series, series)
  style <- curve_style(pic, series)
  by <- function(values) stats::setNames(values, series)
  p <- ggplot2::ggplot(table, aes_of(x = "x", y = "y", colour = "series")) +
    ggplot2::theme_minimal() +
    ggplot2::geom_line(aes_of(linetype = "series")) +
    ggplot2::scale_colour_manual(values = by(style$colour), guide = "none") +
    ggplot2::scale_linetype_manual(values = by(style$line), guide = "none") +
    ggplot2::scale_shape_manual(values = by(style$shape), guide = "none")
  if (!isFALSE(pic$points)) p <- p + ggplot2::geom_point(aes_of(shape = "series"))
  if (log == "y") p <- p + ggplot2::scale_y_log10()
  if (!is.null(table$panel)) {
    table$panel <- factor(table$panel, unique(table$panel))
    p <- p + ggplot2::facet_wrap("panel", scales = "free")
  }
  if (length(series) > 1L) {
    ends <- do.call(rbind, lapply(panels_of(pic), function(part) {
      part$series <- as.character(part$series)
      cbind(curve_ends(part, log), panel = if (is.null(part$panel)) "" else part$panel[1L],
        from = max(part$x) + .03 * diff(range(part$x)),
        edge = max(part$x) + diff(range(part$x)) *
          min(.6, .06 + .022 * max(nchar(c(part$label, part$series)))))
    }))
    if (is.null(table$panel)) ends$panel <- NULL
    ends$series <- factor(ends$series, series)
    p <- p +
      ggplot2::geom_segment(ggplot2::aes(x = .data[["x"]], xend = .data[["from"]], y = .data[["y"]],
        yend = .data[["label_y"]], colour = .data[["series"]]), data = ends, linetype = 3L) +
      ggplot2::geom_text(aes_of(x = "from", y = "label_y", label = "label", colour = "series"),
        data = ends, hjust = -.03, size = 3) +
      ggplot2::geom_blank(aes_of(x = "edge", y = "label_y"), data = ends)
  }
  if (!is.null(pic$x_labels)) {
    p <- p + ggplot2::scale_x_continuous(breaks = sort(unique(table$x)),
      labels = pic$x_labels[sort(unique(table$x))])
  } else if (is.null(table$panel)) {
    p <- p + ggplot2::scale_x_continuous(breaks = ticks_within(table$x))
  }
  ggplot_lines(p, pic)
}

ggplot_lines <- function(p, pic) {
  if (length(pic$lines$h)) p <- p + ggplot2::geom_hline(yintercept = pic$lines$h, linetype = 3L,
    colour = "grey40")
  if (length(pic$lines$v)) p <- p + ggplot2::geom_vline(xintercept = pic$lines$v, linetype = 3L,
    colour = "grey40")
  p
}

ggplot_spikes <- function(pic) {
  table <- pic$table
  many <- max(table$x)
  table$best <- factor(table$best, c(TRUE, FALSE))
  table <- do.call(rbind, lapply(panels_of(list(table = table)), function(part) {
    cbind(part, bar_edges(part$x))
  }))
  table$low <- 0
  p <- ggplot2::ggplot(table, aes_of(xmin = "left", xmax = "right", ymin = "low", ymax = "y")) +
    ggplot2::theme_minimal() +
    ggplot2::geom_rect(aes_of(fill = "best")) +
    ggplot2::scale_fill_manual(values = c(`TRUE` = best_colour, `FALSE` = rest_colour),
      guide = "none")
  if (!is.null(table$panel)) {
    table$panel <- factor(table$panel, unique(table$panel))
    p$data <- table
    p <- p + ggplot2::facet_wrap("panel", scales = "free", ncol = 1L)
  }
  if (!is.null(pic$ylim)) p <- p + ggplot2::coord_cartesian(ylim = pic$ylim)
  if (!is.null(pic$names)) {
    block <- name_block(pic$names)
    top <- max(pic$ylim, table$y, 0)
    low <- min(pic$ylim, table$y, 0)
    line <- (top - low) / (block$rows + 1)
    left <- many + .5 + .04 * many
    width <- many * .3
    names <- data.frame(x = left + block$column * width, y = top - line * (block$row + 1),
      label = block$text)
    p <- p +
      ggplot2::geom_text(aes_of(x = "x", y = "y", label = "label"), data = names, hjust = 0,
        size = 2.8, inherit.aes = FALSE) +
      ggplot2::annotate("text", x = left, y = top, label = pic$heading, hjust = 0, size = 2.8,
        fontface = "bold") +
      ggplot2::expand_limits(x = left + block$columns * width) +
      ggplot2::scale_x_continuous(breaks = ticks_within(c(1, many)))
  }
  ggplot_lines(p, pic)
}

ggplot_scatter <- function(pic) {
  table <- pic$table
  p <- ggplot2::ggplot(table, aes_of(x = "x", y = "y")) + ggplot2::theme_minimal()
  if (is.null(pic$group)) {
    p <- p + ggplot2::geom_point(colour = class_colours[1L], alpha = .8)
  } else {
    style <- group_style(nlevels(pic$group))
    p$data$group <- pic$group
    p <- p + ggplot2::geom_point(aes_of(colour = "group", shape = "group"), alpha = .8) +
      ggplot2::scale_colour_manual(values = style$colour, name = pic$group_name) +
      ggplot2::scale_shape_manual(values = style$shape, name = pic$group_name)
  }
  if (any(table$circled)) {
    p <- p + ggplot2::geom_point(data = table[table$circled, ], shape = 1L, size = 3.6, stroke = 1)
  }
  p
}

ggplot_tiles <- function(pic) {
  z <- pic$z
  table <- data.frame(x = as.vector(col(z)), y = nrow(z) + 1L - as.vector(row(z)),
    value = as.vector(z))
  every <- max(1L, ceiling(ncol(z) / 80))
  show <- seq(1L, ncol(z), by = every)
  p <- ggplot2::ggplot(table, aes_of(x = "x", y = "y", fill = "value")) +
    ggplot2::theme_minimal() +
    (if (isTRUE(pic$row_labels)) ggplot2::geom_tile(colour = "white") else ggplot2::geom_raster()) +
    ggplot2::scale_fill_gradientn(colours = tile_colours(pic$palette), limits = pic$limits,
      name = pic$value, na.value = "white",
      guide = if (isTRUE(is.null(pic$key) || pic$key)) "colourbar" else "none") +
    ggplot2::scale_x_continuous(breaks = show, labels = shorten(colnames(z), 20L)[show],
      expand = c(0, 0)) +
    ggplot2::theme(panel.grid = ggplot2::element_blank(),
      axis.text.x = ggplot2::element_text(angle = if (isTRUE(pic$upright)) 0 else 90,
        hjust = if (isTRUE(pic$upright)) .5 else 1, vjust = .5, size = min(9, 330 / length(show))))
  if (isTRUE(pic$row_labels)) {
    show <- seq(1L, nrow(z), by = max(1L, ceiling(nrow(z) / 60)))
    p <- p + ggplot2::scale_y_continuous(breaks = nrow(z) + 1L - show,
      labels = shorten(rownames(z), 20L)[show], expand = c(0, 0)) +
      ggplot2::theme(axis.text.y = ggplot2::element_text(size = min(9, 260 / length(show))))
  } else {
    p <- p + ggplot2::scale_y_continuous(breaks = NULL, expand = c(0, 0))
  }
  if (isTRUE(pic$text)) {
    table$label <- ifelse(is.na(table$value), "", format_cells(as.vector(z)))
    table$dark <- ifelse(!is.na(table$value) & table$value > mean(pic$limits), "white", "black")
    p <- p + ggplot2::geom_text(aes_of(label = "label"), data = table, colour = table$dark,
      size = min(3.5, 60 / ncol(z), 80 / nrow(z)))
  }
  if (!is.null(pic$group)) {
    style <- group_style(nlevels(pic$group))
    strip <- max(.3, .03 * ncol(z))
    table <- data.frame(x = .5 - .8 * strip, y = rev(seq_len(nrow(z))), group = pic$group)
    # One fill scale a plot: the strip is made of points that cover its rows.
    p <- p + ggplot2::geom_segment(ggplot2::aes(x = .data[["x"]], xend = .data[["x"]],
      y = .data[["y"]] - .5, yend = .data[["y"]] + .5, colour = .data[["group"]]), data = table,
      linewidth = 3.5, inherit.aes = FALSE) +
      ggplot2::scale_colour_manual(values = style$colour, name = pic$group_name) +
      ggplot2::expand_limits(x = .5 - 1.5 * strip)
  }
  p
}

utils::globalVariables(".data")
