library(testthat)
library(ufselect)

test_check("ufselect")
