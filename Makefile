# Two commands do everything on a fresh machine: `make demo` and `make test`. `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check -qq
TASK ?=
MAKEFLAGS += --jobs=2
unexport MAKEFLAGS  # ninja would look for the jobs of a make that calls itself
NATIVE := $(shell find cpp -name '*.h' -o -name '*.cpp') CMakeLists.txt pyproject.toml

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow sklearn-suite lint types format stubs cpp-test sanitize bench coverage-table build clean

help:           ## list the commands
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /  make \1\t/' | expand -t 26

demo: build     ## build, learn from a real table, say where the report is
	@$(BIN)/surefit demo --out build/demo

test: $(VENV)/.test build lint types cpp-test    ## build, lint, type-check, run all tests
	@echo "== tests"
	$(BIN)/pytest -n 2 --dist worksteal -q -m "not slow"

test-slow: $(VENV)/.test build    ## the tests that take minutes
	$(BIN)/pytest -q -m slow

sklearn-suite: $(VENV)/.test build    ## scikit-learn's own tests with our classes; writes docs/compatibility.md
	@$(BIN)/python -m tools.sklearn_suite

lint: $(VENV)/.test    ## ruff and clang-format, check only
	@echo "== lint"
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/clang-format --dry-run --Werror $(filter %.h %.cpp,$(NATIVE))

types: $(VENV)/.test    ## mypy
	@echo "== types"
	$(BIN)/mypy

format: $(VENV)/.test    ## rewrite the sources in the agreed format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i $(filter %.h %.cpp,$(NATIVE))

stubs: build    ## write the stubs of the public packages: run it after adding a public name
	@$(BIN)/python tools/stubs.py

cpp-test: $(VENV)/.build    ## C++ tests, the fast subset, under each sanitizer
	@echo "== C++ tests under sanitizers"
	@$(BIN)/python tools/cpp_tests.py address,undefined --fast
	@$(BIN)/python tools/cpp_tests.py thread --fast

sanitize: $(VENV)/.build    ## all C++ tests under each sanitizer
	@$(BIN)/python tools/cpp_tests.py address,undefined
	@$(BIN)/python tools/cpp_tests.py thread

bench: $(VENV)/.bench build    ## ours and the peers on the same data: make bench [TASK=gram]
	@$(BIN)/python -m benchmarks $(TASK)

coverage-table: $(VENV)/.test build    ## write docs/coverage.md and the README's table from the test markers
	@$(BIN)/python tools/coverage_table.py

build: $(VENV)/.built    ## compile the native core into .venv

$(VENV)/.built: $(VENV)/.build $(NATIVE)
	@echo "== compiling the native core"
	@$(PIP) install --no-build-isolation --no-deps --editable .
	@touch $@

ifneq ($(filter test,$(MAKECMDGOALS)),)
$(VENV)/.built: | $(VENV)/.test  # one pip at a time; C++ tests and types take the other core meanwhile
endif

$(VENV)/.build: pyproject.toml constraints.txt tools/requirements.py
	@sh tools/bootstrap.sh $(PYTHON) $(VENV)
	@echo "== installing what surefit runs on"
	@$(PIP) install --constraint constraints.txt $$($(BIN)/python tools/requirements.py runtime build)
	@touch $@

$(VENV)/.test: $(VENV)/.build
	@sh tools/browser.sh
	@echo "== installing what the tests need"
	@$(PIP) install --constraint constraints.txt $$($(BIN)/python tools/requirements.py test)
	@$(PIP) install --no-deps --constraint constraints.txt $$($(BIN)/python tools/requirements.py tables)
	@touch $@

$(VENV)/.bench: $(VENV)/.build
	@echo "== installing the peers"
	@$(BIN)/python tools/requirements.py --each bench | while read -r peer; do \
	  $(PIP) install --constraint constraints.txt "$$peer" || echo "   $$peer does not install here: its rows are left out"; done
	@touch $@

clean:          ## remove everything that make made
	rm -rf $(VENV) build
