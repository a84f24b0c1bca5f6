# The same pictures in ggplot2.

# The dots of a method of autoplot() are refused before the picture is made.
ggplot_picture <- function(pic, ...) {
  check_dots_empty(...)
  check_installed("ggplot2", "for autoplot()")
  out <- switch(pic$kind, curves = ggplot_curves(pic), dots = ggplot_dots(pic),
    spikes = ggplot_spikes(pic),
    tiles = ggplot_tiles(pic), scatter = ggplot_scatter(pic))
  out + ggplot2::labs(title = paste(strwrap(pic$title, 49L), collapse = "\n"),
    subtitle = pic$subtitle, x = pic$xlab, y = pic$ylab) +
    ggplot2::theme(plot.title = ggplot2::element_text(size = 12, face = "bold"),
      plot.title.position = "plot",
      panel.grid.minor = ggplot2::element_blank())
}

# aes() from names of columns: R CMD check would take bare names for undefined variables.
aes_of <- function(...) {
  do.call(ggplot2::aes, lapply(list(...), function(name) bquote(.data[[.(name)]])))
}

ggplot_curves <- function(pic) {
  table <- pic$table
  log <- if (is.null(pic$log)) "" else pic$log
  series <- unique(table$series)
  table$series <- factor(table$series, series)
  if (!is.null(table$panel)) table$panel <- factor(table$panel, unique(table$panel))
  style <- curve_style(pic, series)
  by <- function(scale, values) scale(values = stats::setNames(values, series), name = NULL,
    guide = if (length(series) > 1L) "legend" else "none")
  p <- ggplot2::ggplot(table, aes_of(x = "x", y = "y", colour = "series")) +
    ggplot2::theme_minimal() +
    ggplot2::geom_line(aes_of(linetype = "series")) +
    by(ggplot2::scale_colour_manual, style$colour) +
    by(ggplot2::scale_linetype_manual, style$line) +
    by(ggplot2::scale_shape_manual, style$shape)
  if (!isFALSE(pic$points)) p <- p + ggplot2::geom_point(aes_of(shape = "series"))
  p <- p + if (log == "y") ggplot2::scale_y_log10() else {
    list(ggplot2::scale_y_continuous(labels = share_labels(pic)),
      if (!is.null(pic$from)) ggplot2::expand_limits(y = pic$from))
  }
  if (!is.null(table$low)) p <- p + ggplot2::geom_linerange(aes_of(x = "x", ymin = "low",
    ymax = "high", colour = "series"), data = table[is.finite(table$low), ], alpha = .5)
  if (!is.null(table$panel)) p <- p + ggplot2::facet_wrap("panel", scales = "free")
  if (!is.null(pic$x_labels)) {
    at <- sort(unique(table$x))
    p <- p + ggplot2::scale_x_continuous(breaks = at, labels = pic$x_labels[at])
  } else if (is.null(table$panel)) {
    p <- p + ggplot2::scale_x_continuous(breaks = ticks_within(table$x))
  }
  if (!is.null(pic$mark)) p <- p + ggplot2::annotate("point", pic$mark[1L], pic$mark[2L],
    shape = 1L, size = 4, stroke = 1.2, colour = best_colour)
  ggplot_lines(p, pic)
}

ggplot_dots <- function(pic) {
  table <- pic$table
  names <- make.unique(shorten(table$series, 40L))
  table$series <- factor(names, rev(names))
  table$plain <- pic$table$series %in% pic$plain
  ggplot2::ggplot(table, aes_of(x = "value", y = "series", colour = "plain")) +
    ggplot2::theme_minimal() +
    (if (!is.null(table$low)) ggplot2::geom_segment(aes_of(x = "low", xend = "high",
      yend = "series"), data = table[is.finite(table$low), ])) +
    ggplot2::geom_point(aes_of(shape = "plain")) +
    ggplot2::scale_colour_manual(values = c(`FALSE` = dot_colour(pic), `TRUE` = plain_colour),
      guide = "none") +
    ggplot2::scale_shape_manual(values = c(`FALSE` = 16L, `TRUE` = 1L), guide = "none") +
    ggplot2::scale_x_continuous(labels = share_labels(pic))
}

# Shares are shown in per cent.
share_labels <- function(pic) if (isTRUE(pic$percent)) function(at) 100 * at else ggplot2::waiver()

ggplot_lines <- function(p, pic) {
  line <- function(geom, ...) if (length(c(...))) geom(..., linetype = 3L, colour = "grey40")
  p + line(ggplot2::geom_hline, yintercept = pic$lines$h) +
    line(ggplot2::geom_vline, xintercept = pic$lines$v)
}

ggplot_spikes <- function(pic) {
  table <- pic$table
  many <- max(table$x)
  table <- cbind(pic$table, bar_edges(pic$table$x), low = 0)
  table$best <- factor(table$best, c(TRUE, FALSE))
  colours <- c(`TRUE` = best_colour, `FALSE` = rest_colour)
  p <- ggplot2::ggplot(table) + ggplot2::theme_minimal()
  p <- p + if (isTRUE(pic$narrow)) {
    list(ggplot2::geom_point(aes_of(x = "x", y = "y", colour = "best"),
      size = if (many > 100L) .6 else 1.5),
      ggplot2::scale_colour_manual(values = colours, guide = "none"))
  } else {
    list(ggplot2::geom_rect(aes_of(xmin = "left", xmax = "right", ymin = "low", ymax = "y",
      fill = "best")), ggplot2::scale_fill_manual(values = colours, guide = "none"),
    # Bars that are thinner than a dot would be lost among the others.
    if (many > 100) ggplot2::geom_segment(aes_of(x = "x", xend = "x", y = "low", yend = "y"),
      data = table[table$best == "TRUE", ], colour = best_colour, linewidth = .4))
  }
  if (!is.null(pic$ylim)) p <- p + ggplot2::coord_cartesian(ylim = pic$ylim)
  ggplot_lines(p, pic)
}

ggplot_scatter <- function(pic) {
  table <- pic$table
  p <- ggplot2::ggplot(table, aes_of(x = "x", y = "y")) + ggplot2::theme_minimal()
  if (is.null(pic$group)) {
    p <- p + ggplot2::geom_point(colour = class_colours[1L], alpha = .8)
  } else {
    style <- scatter_style(pic)
    p$data$group <- pic$group
    p <- p + ggplot2::geom_point(aes_of(colour = "group", shape = "group"), alpha = .8) +
      ggplot2::scale_colour_manual(values = style$colour, name = pic$group_name) +
      ggplot2::scale_shape_manual(values = style$shape, name = pic$group_name)
  }
  if (any(table$circled)) {
    p <- p + ggplot2::geom_point(data = table[table$circled, ], shape = 1L, size = 3.6, stroke = 1)
  }
  if (!is.null(pic$arrows)) {
    arrows <- pic$arrows[order(-(pic$arrows$x^2 + pic$arrows$y^2)), ]
    arrows[c("zero", "label")] <- list(0, shorten(arrows$label, 16L))
    p <- p +
      ggplot2::geom_segment(aes_of(x = "zero", y = "zero", xend = "x", yend = "y"), data = arrows,
        colour = best_colour, arrow = ggplot2::arrow(length = ggplot2::unit(.06, "inches"))) +
      ggplot2::geom_text(aes_of(x = "x", y = "y", label = "label"), data = arrows, size = 2.8,
        colour = best_colour, hjust = "outward", vjust = "outward", check_overlap = TRUE) +
      ggplot2::scale_x_continuous(expand = ggplot2::expansion(.25)) +
      ggplot2::coord_cartesian(clip = "off")
  }
  p
}

ggplot_tiles <- function(pic) {
  z <- pic$z
  table <- data.frame(x = as.vector(col(z)), y = nrow(z) + 1L - as.vector(row(z)),
    value = as.vector(z))
  show <- seq(1L, ncol(z), by = max(1L, ceiling(ncol(z) / 80)))
  p <- ggplot2::ggplot(table, aes_of(x = "x", y = "y", fill = "value")) +
    ggplot2::theme_minimal() +
    (if (isTRUE(pic$row_labels)) ggplot2::geom_tile(colour = "white") else ggplot2::geom_raster()) +
    ggplot2::scale_fill_gradientn(colours = tile_colours(pic$palette), limits = pic$limits,
      name = pic$value, na.value = "white",
      guide = if (isFALSE(pic$key)) "none" else "colourbar") +
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
  } else p <- p + ggplot2::scale_y_continuous(breaks = NULL, expand = c(0, 0))
  if (isTRUE(pic$text)) {
    cell <- cell_texts(z, pic$limits)
    table$label <- as.vector(cell$text)
    p <- p + ggplot2::geom_text(aes_of(label = "label"), data = table,
      colour = as.vector(cell$colour), size = min(3.5, 60 / ncol(z), 80 / nrow(z)))
  }
  if (!is.null(pic$mark)) p <- p + ggplot2::annotate("rect", xmin = pic$mark[1L] - .5,
    xmax = pic$mark[1L] + .5, ymin = pic$mark[2L] - .5, ymax = pic$mark[2L] + .5, fill = NA,
    colour = best_colour, linewidth = 1.5)
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
