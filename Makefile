# The two commands of the README are `make play` and `make test`; `make` alone lists all.
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
LOCKED := $(PIP) --require-hashes --only-binary :all: -r
SELF := $(PIP) --no-deps --no-build-isolation -e .
AGREED := $(BIN)/uv pip compile --quiet --upgrade --constraints requirements/dev.lock
WORKERS := $(shell echo $$(($$(nproc 2> /dev/null || echo 2) + 1)))# one more than processors: tests of the page wait often
JS := requirements/js
NODE := PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)
INSTALL := apt-get update -qq && apt-get install -y -qq --no-install-recommends

# What tests use if it is there: a browser (its headless shell is faster) and a database, installed while pip works.
define PROGRAMS
{ command -v chromium-headless-shell > /dev/null || { $(INSTALL) chromium-headless-shell; } > /dev/null 2>&1 \
  || command -v chromium > /dev/null || { $(INSTALL) chromium > /dev/null; } \
  || echo "No chromium: the page will not be tested in a browser (apt install chromium)"; \
  ls /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1 || command -v initdb > /dev/null || { $(INSTALL) postgresql > /dev/null; } \
  || echo "No PostgreSQL: the archive will be tested on SQLite alone (apt install postgresql)"; }
endef

.DEFAULT_GOAL := help
.PHONY: help play test kernels checks test-slow bench pictures notebooks lock audit sbom clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

play: .venv/package ## Open the page to play and analyse on (it compiles what it needs first)
	@$(BIN)/awello serve

# Python keeps the bytecode of what it imports: pip leaves that to the first import, and tests start many processes.
export PYTHONDONTWRITEBYTECODE =
# Tests keep all processors busy; threads of NumPy would only compete with them.
test test-slow: export OPENBLAS_NUM_THREADS = 1

test: ## Run every check: style, types, imports, JavaScript (while kernels are compiled), tests
	@$(MAKE) --no-print-directory -j 2 kernels checks
	$(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -q  # the server and the browser of a file start once

kernels: .venv/package
	$(BIN)/awello warmup

checks: .venv/developer $(JS)/node_modules/.package-lock.json
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports
	$(BIN)/node $(JS)/node_modules/typescript/bin/tsc --project $(JS)
	$(BIN)/node $(JS)/node_modules/eslint/bin/eslint.js --config $(JS)/eslint.config.js awello/web/static/js

test-slow: .venv/developer ## Run the proofs that take minutes
	$(BIN)/pytest -q -m slow

bench: .venv/installed ## Measure, print a table and write benchmarks/results.json
	$(BIN)/python benchmarks/run.py

pictures: .venv/developer ## Draw the pictures of the docs again, and photograph the page
	$(BIN)/python docs/draw.py
	$(BIN)/python docs/photograph.py

notebooks: .venv/notebooks ## Run the notebooks of the docs again and keep what they show
	$(BIN)/python docs/notebooks/execute.py

lock: .venv/tools .venv/developer ## Pin the newest version of every dependency, with hashes, in requirements/
	$(BIN)/uv pip compile --quiet --upgrade --extra dev --group build -o requirements/dev.lock pyproject.toml
	$(AGREED) --extra all --group build -o requirements/all.lock pyproject.toml
	$(AGREED) --extra notebooks --group build -o requirements/notebooks.lock pyproject.toml
	$(AGREED) --group build -o requirements/run.lock pyproject.toml
	$(AGREED) --group tools -o requirements/tools.lock
	$(NODE)/npm update --prefix $(JS) --package-lock-only --save --silent

audit: .venv/tools ## Look for known weaknesses: in every pinned version, and in our own code
	$(BIN)/bandit --quiet --recursive --configfile pyproject.toml awello benchmarks examples docs requirements
	$(BIN)/python requirements/audit.py

sbom: .venv/developer .venv/tools ## Write the list of all parts, dist/awello.cdx.json (CycloneDX)
	$(BIN)/python requirements/sbom.py dist/awello.cdx.json

clean: ## Remove the environment and what tools left behind
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache dist $(JS)/node_modules

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Awello needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	@$(PYTHON) -m venv .venv || { rm -rf .venv; echo "Python cannot make environments here: apt install python3-venv"; exit 1; }

.venv/package: pyproject.toml requirements/run.lock | .venv/bin/python
	@echo "Installing into .venv ..."
	@$(LOCKED) requirements/run.lock
	@$(SELF)
	@touch $@

.venv/installed: .venv/package
	@$(BIN)/awello warmup
	@touch $@

.venv/notebooks: pyproject.toml requirements/notebooks.lock | .venv/bin/python
	@echo "Installing into .venv, with PyTorch and what runs notebooks ..."
	@$(LOCKED) requirements/notebooks.lock
	@$(PIP) --no-build-isolation -e .[notebooks]  # all but PyTorch is there
	@$(BIN)/awello warmup
	@touch $@

.venv/developer: .venv/package requirements/dev.lock
	@echo "Installing the development tools into .venv ..."
	@$(PROGRAMS) & $(LOCKED) requirements/dev.lock; installed=$$?; wait; exit $$installed
	@touch $@

# What checks the page's JavaScript; its lock file has hashes, and nothing of it runs while it is installed.
$(JS)/node_modules/.package-lock.json: $(JS)/package.json $(JS)/package-lock.json | .venv/developer
	@$(NODE)/npm ci --prefix $(JS) --ignore-scripts --silent || { echo "npm cannot install what checks the JavaScript: is its registry within reach?"; exit 1; }
	@touch $@

.venv/tools: requirements/tools.lock | .venv/bin/python
	@echo "Installing into .venv, with what locks and examines ..."
	@$(LOCKED) requirements/tools.lock
	@touch $@
