# Commands, each with all the set-up it needs on a fresh Debian or Ubuntu machine:
#   make demo                                     the main job on real data
#   make demo DATA=my.csv CLUSTERS=5 K=20 LABEL=class   the same on your own file (ID=name of the
#                             column with the names of the rows, HEADER=yes or no: what the first line is,
#                             NA=omit, median or knn: missing values, DROP=a,b: columns to leave out,
#                             DEC=. or ,: the sign before decimals)
#   make check                                    tarball, R CMD check --as-cran, all tests
# and for developers
#   make check-frameworks     the tests that need recipes, mlr3, shiny and a browser (FRAMEWORKS=folder
#                             keeps those packages there instead of in ~/.cache/ufselect)
#   make check-platforms      other R versions, compilers and word sizes (PLATFORMS="sid trixie" chooses);
#                             make clean-platforms removes their roots from ~/.cache/ufselect
#   make coverage             which lines of R and C the tests run, beside the list of those that they do not
#   make site                 the web site, in site/, without network
#   make evidence             every stored table computed anew (hours; EVIDENCE=name for one, UFSELECT_DATA the
#                             folder of the real sets); make evidence-check recomputes some cells of each
#   make doc                  NAMESPACE and man/ from the comments in R/
LIB := $(CURDIR)/.lib
OUT := $(CURDIR)/demo-out
DATA :=
CLUSTERS :=
K :=
LABEL :=
EVIDENCE :=
COVERAGE :=
HEADER :=
ID :=
NA :=
DROP :=
DEC :=
# As they were given, with every $, quote and blank: neither make nor a shell reads them again.
unexport OUT DATA CLUSTERS K LABEL HEADER ID NA DROP DEC
# R CMD INSTALL runs a make of its own, which would expand what it is handed on.
MAKEOVERRIDES :=
override export UFSELECT_OUT := $(value OUT)
override export UFSELECT_DATA := $(value DATA)
override export UFSELECT_CLUSTERS := $(value CLUSTERS)
override export UFSELECT_K := $(value K)
override export UFSELECT_LABEL := $(value LABEL)
override export UFSELECT_HEADER := $(value HEADER)
override export UFSELECT_ID := $(value ID)
override export UFSELECT_NA := $(value NA)
override export UFSELECT_DROP := $(value DROP)
override export UFSELECT_DEC := $(value DEC)

.PHONY: demo check check-frameworks check-platforms clean-platforms lint evidence evidence-check evidence-confirm harden coverage site cheatsheet doc clean

demo:
	@bash .ci/setup demo "$(LIB)"
	@R_LIBS="$(LIB)" R CMD INSTALL --no-test-load --clean --library="$(LIB)" . >"$(LIB)/install.log" 2>&1 || { cat "$(LIB)/install.log"; exit 1; }
	@R_LIBS="$(LIB)" Rscript inst/scripts/demo.R

check:
	@bash .ci/setup check "$(LIB)"
	@bash .ci/check "$(LIB)"

check-frameworks:
	@bash .ci/check-frameworks $(FRAMEWORKS)

check-platforms:
	@bash .ci/setup platforms "$(LIB)"
	@UFSELECT_LIB="$(LIB)" bash .ci/platforms

clean-platforms:
	rm -rf "$${XDG_CACHE_HOME:-$$HOME/.cache}/ufselect/roots"

site:
	@bash .ci/setup site "$(LIB)"
	@bash .ci/site "$(LIB)"

# Style of the sources, and what C under R must not do.
lint:
	@bash .ci/lint "$(LIB)"

# Stored tables: computed anew, checked, or confirmed for the sources as they are (evidence/results.R).
evidence:
	@bash .ci/evidence run "$(LIB)" $(EVIDENCE)

evidence-check:
	@bash .ci/evidence check "$(LIB)" $(EVIDENCE)

evidence-confirm:
	@bash .ci/evidence confirm "$(LIB)" $(EVIDENCE)

# Fuzzing, relations, certificates, killed runs, two BLAS, interrupts, sanitizers: small budgets.
harden:
	@bash .ci/setup check "$(LIB)"
	@R_LIBS="$(LIB)" R CMD INSTALL --preclean --clean --no-test-load --library="$(LIB)" . >"$(LIB)/install.log" 2>&1 || { cat "$(LIB)/install.log"; exit 1; }
	@R_LIBS="$(LIB)" bash tests/dev/harden.sh

# Lines of R and C that no test runs, each with its reason, and the badge of README; --write renews both.
coverage:
	@bash .ci/setup coverage "$(LIB)"
	@R_LIBS="$(LIB)" Rscript tests/dev/coverage.R $(COVERAGE)

# The two pages of inst/cheatsheet as a PDF, by chromium; ghostscript halves it.
cheatsheet:
	@R_LIBS="$(LIB)" Rscript -e 'rmarkdown::render("inst/cheatsheet/ufselect.Rmd", output_file = file.path(tempdir(), "ufselect.html"), quiet = TRUE); file.copy(file.path(tempdir(), "ufselect.html"), "/tmp/ufselect-cheatsheet.html", overwrite = TRUE)'
	@chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --user-data-dir="$$(mktemp -d)" --no-pdf-header-footer --print-to-pdf=/tmp/ufselect-cheatsheet.pdf /tmp/ufselect-cheatsheet.html
	@gs -q -sDEVICE=pdfwrite -dPDFSETTINGS=/ebook -dCompatibilityLevel=1.5 -o inst/cheatsheet/ufselect.pdf /tmp/ufselect-cheatsheet.pdf

doc:
	@bash .ci/setup doc "$(LIB)"
	@R_LIBS="$(LIB)" Rscript -e 'roxygen2::roxygenise(".", load_code = "source")'
	@rm -f src/*.o src/*.so

clean:
	rm -rf "$(LIB)" "$$UFSELECT_OUT" src/*.o src/*.so *.tar.gz ufselect.Rcheck
