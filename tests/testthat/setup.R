# Messages that are said once in a session would appear in whichever test comes first.
said_once$names <- TRUE
said_once$counts <- TRUE
said_once$orientation <- TRUE
# Prints are read line by line, and where a line ends depends on the numbers in it.
withr::local_options(ufselect.width = 1000, .local_envir = teardown_env())
