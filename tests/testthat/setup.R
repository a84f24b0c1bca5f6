# Messages that are said once in a session would appear in whichever test comes first.
said_once$names <- TRUE
said_once$counts <- TRUE
said_once$orientation <- TRUE
