# The explorer's tab for constraints (R/data-constraints.R): columns are ticked as those that must
# or may not be chosen, and the fits are made again with them.

# The model with its fits made again, with the columns `must` and `never` (indices), and the code
# that does it.
constrained_model <- function(model, must, never) {
  # Fits that have no name in the code get one each.
  known <- vapply(model$code_fit, function(code) {
    code <- parse(text = code)[[1L]]
    is.name(code) || as.character(code[[1L]])[1L] %in% c("[[", "$")
  }, NA)
  own <- if (length(known) == 1L) "fit" else
    paste0("fit_", make.names(names(model$fits), unique = TRUE))
  made <- Map(function(fit, name) constrained_fit(fit, name, model, must, never), model$fits,
    ifelse(known, model$code_fit, own))
  model$fits <- lapply(made, `[[`, "fit")
  model$code_fit <- vapply(made, `[[`, "", "name", USE.NAMES = FALSE)
  model$code_setup <- c("library(ufselect)", unlist(lapply(made, `[[`, "lines"), use.names = FALSE))
  # predict() takes the data with the constraints of the fit.
  if (inherits(model$x, "ufs_data") && length(unlist(model$x$held[c("include", "exclude")]))) {
    x <- parse(text = model$code_x)[[1L]]
    if (!is.call(x)) x <- call("ufs_data", x)
    x <- constrained_call(x, "include", must, model$fits[[1L]], model$x)
    x <- constrained_call(x, "exclude", never, model$fits[[1L]], model$x)
    model$code_x <- expression_text(x, model$code_x, 10000L)
  }
  # Stability was judged without these constraints.
  model["stability"] <- list(NULL)
  model
}

# list(fit, name, lines): the call of the fit once more, on the x that it names, where the caller
# has it, or on that which was given to the explorer.
constrained_fit <- function(fit, name, model, must, never) {
  call <- fit$call
  data <- on_error(eval(call$x, model$env), function(e) NULL)
  if (!identical(as.integer(dim(data)), c(fit$n, fit$p))) {
    data <- model$x
    call$x <- parse(text = model$code_x)[[1L]]
  }
  call <- constrained_call(call, "include", must, fit, data)
  call <- constrained_call(call, "exclude", never, fit, data)
  own <- call
  own$x <- quote(.x)
  # The package need not be attached.
  if (is.name(own[[1L]])) {
    own[[1L]] <- get0(as.character(own[[1L]]), topenv(), ifnotfound = own[[1L]])
  }
  random <- !isTRUE(registry()[[fit$method]]$deterministic) || !is.null(fit$task)
  again <- on_error(suppressMessages(suppressWarnings(
    with_seed(if (random) 1L, eval(own, list(.x = data), model$env)))), function(e) {
    if (inherits(e, "ufs_error")) stop(e)
    refuse("fit", "The fit cannot be made again here: ", conditionMessage(e))
  })
  again$call <- call
  list(fit = again, name = name, lines = c(if (random) "set.seed(1)",
    paste0(name, " <- ", expression_text(call, "", 10000L))))
}

# The call with the argument `arg` for these columns: by name where they have names of their own.
# Without any the argument goes, unless the data bring some that must be taken back.
constrained_call <- function(call, arg, at, fit, data) {
  parts <- as.list(call)
  parts[[arg]] <- if (length(at)) {
    values <- if (fit$names$named && !length(fit$names$repeated)) fit$names$features[at] else at
    if (length(at) > 1L) as.call(c(list(quote(c)), as.list(values))) else values
  } else if (inherits(data, "ufs_data") && length(data$held[[arg]])) quote(integer())
  as.call(parts)
}

# Cost of the chosen columns, in words; nothing where no costs are known.
price_words <- function(fit, chosen) {
  held <- fit$constraints$features
  if (!is.null(held$cost)) paste0("; cost ", format(sum(held$cost[chosen])),
    if (!is.null(held$budget)) paste0(", budget ", format(held$budget)))
}

# ---- the window ---------------------------------------------------------------------------------

constraints_ui <- function(doubts = NULL) {
  shiny::div(class = "ufs-constraints",
    # Only one box of a row can be ticked.
    shiny::tags$script(shiny::HTML("
      $(document).on('change', '.ufs-tick', function() {
        if (this.checked) $(this).closest('tr').find('.ufs-tick').not(this).prop('checked', false);
        Shiny.setInputValue('tick', {index: +this.value, constraint: $(this).data('constraint'),
          on: this.checked}, {priority: 'event'});
      });")),
    shiny::div(class = "ufs-row",
      shiny::textInput("find", NULL, placeholder = "find a column", width = "180px"),
      shiny::actionButton("again", "Fit again", class = "btn-primary")),
    if (!is.null(doubts)) shiny::p(doubts),
    shiny::uiOutput("ticks"))
}

# One row for each column, in the order of the fit's ranking; at most `most` of those whose names
# hold `find`, and those that are ticked.
tick_table <- function(fit, must, never, find = "", most = 200L) {
  names <- fit$names$features
  ranking <- unname(fit$feature_ranking)
  found <- ranking[grepl(tolower(find), tolower(names[ranking]), fixed = TRUE)]
  rows <- union(intersect(ranking, c(must, never)), utils::head(found, most))
  cost <- fit$constraints$features$cost
  tick <- function(word, j, on) {
    shiny::tags$td(shiny::tags$input(type = "checkbox", class = "ufs-tick", value = j,
      `data-constraint` = word, `aria-label` = paste(names[j], word), checked = if (on) NA))
  }
  shiny::tagList(
    shiny::tags$table(class = "table table-condensed", shiny::tags$thead(shiny::tags$tr(
      lapply(c("must", "never", "column", "rank", if (!is.null(cost)) "cost"), shiny::tags$th))),
      shiny::tags$tbody(lapply(rows, function(j) {
        shiny::tags$tr(tick("must", j, j %in% must), tick("never", j, j %in% never),
          shiny::tags$td(names[j]), shiny::tags$td(match(j, ranking)),
          if (!is.null(cost)) shiny::tags$td(format(cost[j])))
      }))),
    if (length(found) > most) {
      shiny::p(count_words(length(setdiff(found, rows)), "column"), " more: find them by name.")
    })
}

# `now`: the model, a reactive value; `name`: which of its fits is shown, a function.
constraints_server <- function(input, output, session, now, name) {
  held <- function(model) model$fits[[1L]]$constraints$features[c("include", "exclude")]
  ticks <- shiny::reactiveVal(held(shiny::isolate(now())))
  output$ticks <- shiny::renderUI({
    at <- shiny::isolate(ticks())
    tick_table(now()$fits[[name()]], at$include, at$exclude, c(input$find, "")[1L])
  })
  shiny::observeEvent(input$tick, {
    # A message of the browser is not believed blindly.
    # list(index, constraint, on), as the page sends it, of one of p columns.
    shiny::req(is.list(input$tick) && is.numeric(input$tick$index) &&
      isTRUE(input$tick$index %in% seq_len(shiny::isolate(now())$fits[[1L]]$p)) &&
      isTRUE(input$tick$constraint %in% c("must", "never")) && is.logical(input$tick$on) &&
        length(input$tick$on) == 1L)
    at <- lapply(list(include = "must", exclude = "never"), function(word) {
      own <- setdiff(ticks()[[if (word == "must") "include" else "exclude"]], input$tick$index)
      on <- isTRUE(input$tick$on) && input$tick$constraint == word
      c(own, if (on) as.integer(input$tick$index))
    })
    ticks(at)
  })
  shiny::observeEvent(input$again, {
    tryCatch({
      at <- ticks()
      model <- shiny::withProgress(constrained_model(now(), at$include, at$exclude),
        message = "Fitting again")
      held <- model$fits[[1L]]$constraints$features
      least <- max(1L, length(held$include))
      if (!is.null(input$k)) {
        shiny::updateSliderInput(session, "k", min = least, value = max(least, input$k))
      }
      now(model)
    }, ufs_error = function(e) shiny::showNotification(conditionMessage(e), type = "error"))
  })
}
