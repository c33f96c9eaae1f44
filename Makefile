# `make` lists the commands.
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
INSTALL_LOCKED := $(PIP) --require-hashes --only-binary :all: -r
INSTALL_PACKAGE := $(PIP) --no-deps --no-build-isolation -e .
COMPILE_LOCK := $(BIN)/uv pip compile --quiet --upgrade --constraints requirements/dev.lock
WORKERS := $(shell echo $$(($$(nproc 2> /dev/null || echo 2) + 1)))# one more than cores: tests of the page often wait
JS := requirements/js
WITH_NODE := PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)
APT_INSTALL := apt-get update -qq && apt-get install -y -qq --no-install-recommends

# The tests use a browser (the headless shell is faster) and PostgreSQL if available; they are installed while pip runs.
define TEST_PROGRAMS
{ command -v chromium-headless-shell > /dev/null || { $(APT_INSTALL) chromium-headless-shell; } > /dev/null 2>&1 \
  || command -v chromium > /dev/null || { $(APT_INSTALL) chromium > /dev/null; } \
  || echo "Chromium is missing, so the tests of the page are skipped: apt install chromium"; \
  ls /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1 || command -v initdb > /dev/null || { $(APT_INSTALL) postgresql > /dev/null; } \
  || echo "PostgreSQL is missing, so databases are tested on SQLite only: apt install postgresql"; }
endef

.DEFAULT_GOAL := help
.PHONY: help play test kernels checks test-slow bench pictures notebooks lock audit sbom clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

play: .venv/package ## Install and open the page
	@$(BIN)/awello serve

# Let Python write bytecode, which pip does not, because the tests start many processes.
export PYTHONDONTWRITEBYTECODE =
# The tests use all cores, so the threads of NumPy would only compete with them.
test test-slow: export OPENBLAS_NUM_THREADS = 1

test: ## Run every check: style, types, imports, JavaScript, tests
	@$(MAKE) --no-print-directory -j 2 kernels checks
	$(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -q  # one server and browser per file

kernels: .venv/developer  # no package may be half installed: Numba imports some of them, such as cffi
	$(BIN)/awello warmup

checks: .venv/developer $(JS)/node_modules/.package-lock.json
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports
	$(BIN)/node $(JS)/node_modules/typescript/bin/tsc --project $(JS)
	$(BIN)/node $(JS)/node_modules/eslint/bin/eslint.js --config $(JS)/eslint.config.js awello/web/static/js

test-slow: .venv/developer ## Run the tests that take minutes
	$(BIN)/pytest -q -m slow

bench: .venv/installed ## Measure the speed and write benchmarks/results.json
	$(BIN)/python benchmarks/speed.py

pictures: .venv/developer ## Draw the pictures and screenshots of the docs again
	$(BIN)/python docs/draw_tree.py
	$(BIN)/python docs/take_screenshots.py

notebooks: .venv/notebooks ## Run the notebooks again and save their output
	$(BIN)/python docs/notebooks/execute.py

lock: .venv/tools .venv/developer ## Pin the newest version of every dependency in requirements/
	$(BIN)/uv pip compile --quiet --upgrade --extra dev --group build -o requirements/dev.lock pyproject.toml
	$(COMPILE_LOCK) --extra all --group build -o requirements/all.lock pyproject.toml
	$(COMPILE_LOCK) --extra notebooks --group build -o requirements/notebooks.lock pyproject.toml
	$(COMPILE_LOCK) --group build -o requirements/run.lock pyproject.toml
	$(COMPILE_LOCK) --group tools -o requirements/tools.lock
	$(WITH_NODE)/npm update --prefix $(JS) --package-lock-only --save --silent

audit: .venv/tools ## Check dependencies and code for vulnerabilities
	$(BIN)/bandit --quiet --recursive --configfile pyproject.toml awello benchmarks examples docs requirements
	$(BIN)/python requirements/audit.py

sbom: .venv/developer .venv/tools ## Write the bill of materials, dist/awello.cdx.json (CycloneDX)
	$(BIN)/python requirements/sbom.py dist/awello.cdx.json

clean: ## Remove the environment and the caches of the tools
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache dist $(JS)/node_modules

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Awello needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	@$(PYTHON) -m venv .venv || { rm -rf .venv; echo "Python cannot create a virtual environment: apt install python3-venv"; exit 1; }

.venv/package: pyproject.toml requirements/run.lock | .venv/bin/python
	@echo "Installing into .venv ..."
	@$(INSTALL_LOCKED) requirements/run.lock
	@$(INSTALL_PACKAGE)
	@touch $@

.venv/installed: .venv/package
	@$(BIN)/awello warmup
	@touch $@

.venv/notebooks: pyproject.toml requirements/notebooks.lock | .venv/bin/python
	@echo "Installing into .venv, with PyTorch and Jupyter ..."
	@$(INSTALL_LOCKED) requirements/notebooks.lock
	@$(PIP) --no-build-isolation -e .[notebooks]  # only PyTorch is still missing
	@$(BIN)/awello warmup
	@touch $@

.venv/developer: .venv/package requirements/dev.lock
	@echo "Installing the development tools into .venv ..."
	@$(TEST_PROGRAMS) & $(INSTALL_LOCKED) requirements/dev.lock; installed=$$?; wait; exit $$installed
	@touch $@

# TypeScript and ESLint, with hashes in the lock file; no install scripts run.
$(JS)/node_modules/.package-lock.json: $(JS)/package.json $(JS)/package-lock.json | .venv/developer
	@$(WITH_NODE)/npm ci --prefix $(JS) --ignore-scripts --silent || { echo "npm cannot install TypeScript and ESLint: check the connection to its registry"; exit 1; }
	@touch $@

.venv/tools: requirements/tools.lock | .venv/bin/python
	@echo "Installing the dependency tools into .venv ..."
	@$(INSTALL_LOCKED) requirements/tools.lock
	@touch $@
