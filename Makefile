# `make` alone lists the targets. Everything lives in .venv and .tools; nothing else on the machine changes.
.DEFAULT_GOAL := help
.PHONY: help setup demo test lint style format types contracts unit bench golden clean

PYTHON := .venv/bin/python
LONGWATCH := $(PYTHON) -m longwatch

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*##  *\(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

setup:  ## make .venv, and fetch promtool, prometheus, amtool and alertmanager where they are missing
	@.ci/fetch-tools

demo: setup  ## compile policies/ into out/, then let promtool and amtool prove it
	$(LONGWATCH) build
	$(LONGWATCH) test

test: lint unit  ## what CI runs: lint, types, import contracts, all tests

lint: style format types contracts  ## ruff, mypy, import contracts; with -k all of them, whatever fails

style: setup
	$(PYTHON) -m ruff check generator tests

format: setup
	$(PYTHON) -m ruff format --check generator tests

types: setup
	$(PYTHON) -m mypy

contracts: setup
	PYTHONPATH=generator .venv/bin/lint-imports

unit: setup  ## the tests alone
	$(PYTHON) -m pytest -n 2

bench: setup  ## compile 1, 50 and 500 families, and time it (tests/bench/bench_*.py)
	$(PYTHON) -m pytest tests/bench -s -o python_files='bench_*.py'

golden: setup  ## rebuild out/ and the published schema; review the difference before you commit it
	$(LONGWATCH) build
	$(LONGWATCH) schema > policies/longwatch.schema.json

clean:  ## remove .venv, .tools and caches; out/ stays
	rm -rf .venv .tools .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis build dist
	find generator tests -name __pycache__ -type d -prune -exec rm -rf {} +
