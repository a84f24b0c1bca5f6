# A gadget to look at rankings. shiny and miniUI stay suggested packages.

#' Explore a fit with a slider
#'
#' Opens a small window (in RStudio, or in the browser) in which `k`, the number of features to
#' keep, is turned with a slider while the pictures follow: the sorted scores with the cut, the
#' samples in the space of the chosen features, a heat map, and the table of the chosen features.
#' The slider starts at the number that the fit was asked for. Below it stands what share of the
#' data the chosen features hold, beside the largest share that as many directions can hold (see
#' [ufs_captured()]). Several fits are shown side by side, with the overlap of what they choose.
#' When a choice looks right, the code that repeats it can be inserted into the open document, and
#' the table saved as CSV. It needs the packages shiny and miniUI.
#'
#' In the tab "Constraints" columns are ticked as those that must be chosen or may never be, and
#' "Fit again" repeats the call of each fit with them as `include` and `exclude` of [ufs_data()];
#' the code below has these calls. Where columns have a `cost`, it stands beside them, and what the
#' chosen ones cost stands below the slider. The tab names columns that seem to number the rows, by
#' the rule of [ufs_look()].
#'
#' In RStudio the gadget is also in the menu Addins, as "Explore a ufselect fit": it takes the fit
#' whose name is selected in the editor, or all fits in the workspace that belong to the same data.
#'
#' A method that selects samples only is explored in the same way; `k` is then the number of
#' samples. For a method whose selections are not nested, such as [ufs_topk()], `k` stays what was
#' asked for.
#'
#' @inheritParams ufs_kmeans_f
#' @param fit A fit, or several: a named list, or what `c(a = fit1, b = fit2)` gives.
#' @param x The data that were given to the method.
#' @param y Optional classes of the samples, for colours. The default is the clusters that the
#'   method found.
#' @param stability Optional [ufs_stability()] result of the same method and data; the table then
#'   says how often each feature was chosen. For several fits, a list with the same names.
#' @param viewer Where to show the gadget, see [shiny::runGadget()]. The default is a dialogue
#'   window in RStudio and otherwise the browser.
#' @return The names (or indices) of the chosen features when "Done" is pressed, invisibly; `NULL`
#'   if the window was cancelled.
#' @examples
#' fit <- ufs_kmeans_f(iris[, 1:4], n_clusters = 3)
#' if (interactive()) {
#'   ufs_explore(fit, iris[, 1:4], y = iris$Species)
#' }
#' @export
ufs_explore <- function(fit, x, y = NULL, stability = NULL, viewer = NULL, ...) {
  check_given(fit, x)
  x <- open_with(x, ufs_explore, "explore", list(...))
  app <- explore_app(fit, x, y, stability, said = list(fit = substitute(fit), x = substitute(x)),
    env = parent.frame())
  if (!interactive()) {
    ufs_abort("interactive", "ufs_explore() opens a window and needs an interactive session.")
  }
  if (is.null(viewer)) viewer <- shiny::dialogViewer("ufselect", width = 1100, height = 800)
  invisible(shiny::runGadget(app, viewer = viewer, stopOnCancel = FALSE))
}

# The gadget as a shiny app. `said`: how the caller wrote the fit and the data, for the code; `env`:
# where the call of a fit finds what it names.
explore_app <- function(fit, x, y = NULL, stability = NULL, said = list(), env = parent.frame()) {
  # Before the packages are looked for, so that a wrong fit is named on any machine.
  model <- explore_model(fit, x, y, stability, said)
  model$env <- env
  check_installed("shiny", "for ufs_explore()")
  check_installed("miniUI", "for ufs_explore()")
  shiny::shinyApp(explore_ui(model), explore_server(model))
}

# ---- what is shown ------------------------------------------------------------------------

explore_model <- function(fit, x, y, stability, said) {
  single <- inherits(fit, "ufs")
  fits <- if (single) list(fit) else fit
  if (!is.list(fits) || !length(fits) || !all(vapply(fits, inherits, NA, "ufs"))) {
    refuse("fit", "`fit` must be a fit of this package or a list of fits, not ", kind_of(fits), ".")
  }
  first <- fits[[1L]]
  check_fit(first)
  fits <- if (length(fits) > 1L) check_fits(fits) else stats::setNames(list(first), first$method)
  features <- !is.null(first$feature_scores)
  # Errors come now, with the argument's name, and not in the window.
  if (!is.data.frame(x)) x <- open_data(x, "x")
  check_door(x, "ufs_explore()", fit = first)
  match_columns(first, x)
  if (nrow(x) != first$n) refuse_data("x", "`x` has ", nrow(x), " rows; the fit has ", first$n, ".")
  if (!is.null(y)) sample_groups(first, first$n, y)
  if (inherits(stability, "ufs_stability")) {
    stability <- stats::setNames(list(stability), names(fits)[1L])
  }
  if (!all(vapply(stability, inherits, NA, "ufs_stability"))) {
    refuse("stability", "`stability` must be a result of ufs_stability().")
  }
  size <- if (features) first$p else first$n
  fixed <- Filter(function(one) !is.null(one$params[[c(registry()[[one$method]]$per_k, "")[1L]]]),
    fits)
  list_of(fits, x, y, stability, features, size, what = if (features) "features" else "samples",
    # Other columns of the table need not be numbers.
    doubts = if (features) on_error(looks_like_ids(open_data(x, "x")), function(e) NULL),
    start = min(picture_size(c(fixed, fits)[[1L]], NULL), size),
    adjustable = length(fixed) < length(fits), code_fit = code_of_fits(said$fit, fit, single),
    code_x = code_name(said$x, "x"), code_setup = setup_code(fits, said, single),
    env = globalenv())
}

# Code that has to run before that of a choice: the package, and the call that made the fit where it
# is one line. Anything else is in the workspace, under the name that the caller gave it.
setup_code <- function(fits, said, single) {
  call <- fits[[1L]]$call
  known <- single && is.name(said$fit) && is.call(call) && all(all.vars(call) %in% all.vars(said$x))
  made <- if (known) expression_text(call, "", 200L) else ""
  # The seed is unknown: only a call that draws no random numbers can be repeated.
  c("library(ufselect)", if (nzchar(made)) {
    line <- paste0(code_name(said$fit, "fit"), " <- ", made)
    if (isTRUE(registry()[[fits[[1L]]$method]]$deterministic)) line else as_comment(line)
  })
}

# The share that the best k of a fit capture, as a sentence; nothing where it cannot be computed.
captured_words <- function(model, name, k) {
  fit <- model$fits[[name]]
  if (!model$features) {
    share <- own_share(fit)
    if (is.null(share) || isTRUE(share$whole) || !k %in% share$x) return("")
    at <- match(k, share$x)
    return(paste0(share$what, ": ", per_cent(share$y[at]),
      if (!is.null(share$bound)) paste0(", at most ", per_cent(share$bound[at]), " possible")))
  }
  # A fit that was made again may have other constraints than the data.
  x <- model$x
  if (inherits(x, "ufs_data")) x <- without_choices(x, c("columns", "rows"))
  table <- suppressMessages(ufs_captured(fit, x, k))
  chosen <- suppressMessages(selected_features(fit, k, as = "index"))
  paste0(sprintf("variance explained, of the %s: %s, at most %s possible", captured_of(fit),
    per_cent(table$captured), per_cent(table$bound)), price_words(fit, chosen))
}

# The code that gives each fit in the caller's own words.
code_of_fits <- function(said, fits, single) {
  if (single) return(code_name(said, "fit"))
  joined <- is.call(said) && as.character(said[[1L]])[1L] %in% c("list", "c")
  if (joined && length(said) == length(fits) + 1L) {
    return(vapply(as.list(said)[-1L], code_name, "", "fit", USE.NAMES = FALSE))
  }
  which <- if (is.null(names(fits))) seq_along(fits) else encodeString(names(fits), quote = "\"")
  sprintf("%s[[%s]]", code_name(said, "fits"), which)
}

code_name <- function(said, default) expression_text(said, default, 60L)

explore_chosen <- function(model, ...) {
  if (model$features) selected_features(...) else selected_samples(...)
}

# One row per chosen feature (sample), best first.
explore_table <- function(model, name, k) {
  fit <- model$fits[[name]]
  table <- as.data.frame(fit, what = model$what)
  chosen <- suppressMessages(explore_chosen(model, fit, k, as = "index"))
  table <- table[match(chosen, table$index), c("rank", names(table)[1L], "index", "score")]
  stability <- model$stability[[name]]
  often <- if (model$features) stability$frequency else stability$sample_frequency
  if (!is.null(often)) table$stability <- unname(often)[table$index]
  for (other in setdiff(names(model$fits), name)) {
    ranking <- model$fits[[other]][[if (model$features) "feature_ranking" else "sample_ranking"]]
    table[[paste("rank in", other)]] <- match(table$index, unname(ranking))
  }
  rownames(table) <- NULL
  table
}

explore_code <- function(model, name, k) {
  fit <- model$code_fit[[match(name, names(model$fits))]]
  lines <- if (!model$features) sprintf("chosen <- selected_samples(%s, m = %d)", fit, k) else {
    c(sprintf("chosen <- selected_features(%s, k = %d)", fit, k),
      sprintf("x_chosen <- predict(%s, %s, k = %d)", fit, model$code_x, k))
  }
  # Help to decide on k takes several fits, so it waits for a click.
  sizing <- if (model$features && is.null(registry()[[model$fits[[name]]$method]]$per_k)) {
    as_comment(sprintf("How many? ufs_size(%s, %s) names a number, with its reason.", model$code_x,
      fit))
  }
  paste0(paste(c(model$code_setup, lines, sizing), collapse = "\n"), "\n")
}

# ---- the window ---------------------------------------------------------------------------

explore_ui <- function(model) {
  many <- length(model$fits) > 1L
  # Nobody looks at single features beyond some hundreds.
  most <- min(model$size, max(200L, model$start))
  size <- if (model$adjustable && most > 1L) {
    shiny::sliderInput("k", paste0("k, ", model$what, " to keep"), 1L, most, model$start, step = 1L,
      width = "100%", ticks = FALSE)
  } else shiny::p(paste("k:", count_words(model$start, sub("s$", "", model$what))))
  tab <- function(title, icon, output) {
    miniUI::miniTabPanel(title, icon = shiny::icon(icon), miniUI::miniContentPanel(output))
  }
  picture <- function(id) shiny::plotOutput(id, height = "100%")
  tabs <- list(tab("Scores", "chart-bar", picture("scores")), tab("Map", "map", picture("map")),
    if (model$features) tab("Heat map", "table-cells", picture("heatmap")),
    if (many && model$features) tab("Overlap", "layer-group", picture("overlap")),
    tab("Table", "list", shiny::tableOutput("table")),
    if (model$features) tab("Constraints", "square-check", constraints_ui(model$doubts)),
    id = "tab")
  miniUI::miniPage(
    # Parts stand side by side where there is room, and below each other where there is none.
    shiny::tags$style(shiny::HTML("
      .ufs-row { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: flex-end; }
      .ufs-row > .ufs-size { flex: 1 1 260px; min-width: 0; }
      .ufs-row .form-group { margin-bottom: 2px; }
      .ufs-row .selectize-control, .ufs-row select { max-width: 180px; }
      .ufs-buttons { flex: none; white-space: nowrap; }
      .ufs-captured { min-height: 20px; color: #444; }
      .ufs-constraints { height: 100%; overflow-y: auto; }
      .ufs-constraints table { width: auto; }
      #code { margin: 0 0 4px; padding: 4px 8px; font-size: 12px; }
      #table { overflow-x: auto; }
      @media (max-width: 480px) {
        .gadget-tabs-container ul.gadget-tabs > li > a { font-size: 11px; white-space: nowrap;
          padding-left: 1px; padding-right: 1px; }
      }")),
    miniUI::gadgetTitleBar("ufselect", left = miniUI::miniTitleBarCancelButton(),
      right = miniUI::miniTitleBarButton("done", "Done", primary = TRUE)),
    shiny::div(style = "padding: 6px 15px 0 15px; flex: none;",
      shiny::div(class = "ufs-row",
        shiny::div(class = "ufs-size", size),
        if (many) shiny::selectInput("fit", "fit", names(model$fits), width = "180px"),
        shiny::div(class = "ufs-buttons",
          shiny::actionButton("insert", "Insert code"),
          shiny::downloadButton("save", "Save CSV"))),
      shiny::div(class = "ufs-captured", shiny::textOutput("captured", inline = TRUE))),
    do.call(miniUI::miniTabstripPanel, Filter(Negate(is.null), tabs)),
    # The height is fixed: pictures are not drawn anew when the room around them changes.
    shiny::div(style = "padding: 0 15px; flex: none; height: 112px; overflow-y: auto;",
      shiny::verbatimTextOutput("code"))
  )
}

explore_server <- function(model) {
  force(model)
  function(input, output, session) {
    k <- shiny::reactive(if (is.null(input$k)) model$start else as.integer(input$k))
    name <- shiny::reactive(if (is.null(input$fit)) names(model$fits)[1L] else input$fit)
    now <- shiny::reactiveVal(model)
    if (model$features) constraints_server(input, output, session, now, name)
    # A message stands in the place of a picture that cannot be drawn.
    shown <- function(code) {
      tryCatch(code, ufs_error = function(e) shiny::validate(conditionMessage(e)))
    }
    # Pictures stand side by side where there is room, and below each other on a narrow window.
    narrow <- function(type) {
      id <- switch(type, embedding = "map", samples = "scores", type)
      wide <- session$clientData[[paste0("output_", id, "_width")]]
      is.numeric(wide) && wide < 560
    }
    each <- function(type) draw_each(now(), type, k(), narrow(type), name())
    output$scores <- shiny::renderPlot(shown(each(if (model$features) "scores" else "samples")),
      res = 96)
    output$map <- shiny::renderPlot(shown(each("embedding")), res = 96)
    output$heatmap <- shiny::renderPlot(shown(draw_picture(picture(now()$fits[[name()]], "heatmap",
      k = k(), data = model$x, y = model$y))), res = 96)
    output$overlap <- shiny::renderPlot(shown(draw_overlap(ufs_overlap(now()$fits, k()),
      if (narrow("overlap")) 2:1 else 1:2)), res = 96)
    output$table <- shiny::renderTable(shown(explore_table(now(), name(), k())), digits = 4L)
    output$captured <- shiny::renderText(shown(captured_words(now(), name(), k())))
    code <- shiny::reactive(explore_code(now(), name(), k()))
    output$code <- shiny::renderText(code())
    output$save <- shiny::downloadHandler(
      function() sprintf("%s-%d.csv", name(), k()),
      function(file) utils::write.csv(explore_table(now(), name(), k()), file, row.names = FALSE)
    )
    shiny::observeEvent(input$insert, {
      if (requireNamespace("rstudioapi", quietly = TRUE) && rstudioapi::isAvailable("0.99.1111")) {
        rstudioapi::insertText(code())
      } else shiny::showNotification("No editor to insert into: copy the code below the picture.")
    })
    shiny::observeEvent(input$done, {
      shiny::stopApp(suppressMessages(explore_chosen(model, now()$fits[[name()]], k())))
    })
    shiny::observeEvent(input$cancel, shiny::stopApp(NULL))
  }
}

# One picture of each fit; of the fit `chosen` alone where they would be too small.
draw_each <- function(model, type, k, narrow, chosen = names(model$fits)[1L]) {
  grid <- grDevices::n2mfrow(length(model$fits))
  if (!narrow) grid <- grid[2:1]
  pictures <- lapply(if (has_room(grid)) model$fits else model$fits[chosen], function(fit) {
    circled <- !model$features || (type == "embedding" && !is.null(fit$sample_scores))
    picture(fit, type, k = k, data = model$x, y = model$y, m = if (circled) min(k, fit$n))
  })
  if (length(model$fits) == 1L) return(draw_picture(pictures[[1L]]))
  if (length(pictures) > 1L) {
    old <- graphics::par(mfrow = grid)
    on.exit(graphics::par(old))
  }
  for (one in names(pictures)) draw_picture(pictures[[one]], main = one)
}

# Two inches in each direction are the least that a picture needs beside its margins.
has_room <- function(grid) all(graphics::par("din")[2:1] / grid >= 2)

draw_overlap <- function(overlap, panels) {
  pairs <- function() {
    draw_picture(picture(overlap, "pairs"), main = sprintf("best %d: share in common", overlap$k))
  }
  if (!has_room(panels)) return(pairs())
  old <- graphics::par(mfrow = panels)
  on.exit(graphics::par(old))
  pairs()
  draw_picture(picture(overlap, "features"), main = sprintf("best %d: who chose what", overlap$k))
}

# ---- addin (inst/rstudio/addins.dcf) ------------------------------------------------------

explore_addin <- function() {
  check_installed("rstudioapi", "for the addin")
  context <- rstudioapi::getActiveDocumentContext()
  found <- explore_candidates(trimws(context$selection[[1L]]$text), globalenv())
  call <- as.call(list(quote(ufs_explore), found$fit, found$x))
  eval(call, list(ufs_explore = ufs_explore), globalenv())
}

# The fit named in the selected text, or all fits of the workspace that have one shape; and the
# first table of that shape. Both as code.
explore_candidates <- function(selected, env) {
  objects <- mget(ls(env), envir = env)
  fits <- Filter(function(object) inherits(object, "ufs"), objects)
  if (nzchar(selected)) {
    if (!selected %in% names(fits)) {
      refuse("fit", "'", selected, "' is not the name of a fit in the workspace.")
    }
    fits <- fits[selected]
  }
  if (!length(fits)) refuse("fit", "There is no fit of ufselect in the workspace.")
  first <- fits[[1L]]
  shape <- function(fit) c(fit$n, fit$p, is.null(fit$feature_scores))
  fits <- Filter(function(fit) identical(shape(fit), shape(first)), fits)
  tables <- Filter(function(object) {
    length(dim(object)) == 2L && nrow(object) == first$n &&
      on_error(is.numeric(match_columns(first, object)), function(e) FALSE)
  }, objects)
  if (!length(tables)) {
    refuse("x", "There is no table of ", first$n, " rows with the columns of '", names(fits)[1L],
      "' in the workspace.")
  }
  names <- lapply(stats::setNames(nm = names(fits)), as.name)
  list(fit = if (length(names) == 1L) names[[1L]] else as.call(c(list(quote(list)), names)),
    x = as.name(names(tables)[1L]))
}
