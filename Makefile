# Two commands on a fresh machine: `make app` and `make test`. `make bench` prints the long figures.
PYTHON ?= python3
VENV ?= .venv
EXTRAS ?= test
PORT ?= 8501
BIN := $(VENV)/bin

.PHONY: app test bench lint clean

app: $(VENV)/.app
	$(BIN)/assay app --port $(PORT)

test: $(VENV)/.$(EXTRAS)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy core evals
	$(BIN)/python -m pytest

bench: $(VENV)/.test
	$(BIN)/python -m pytest tests/benchmarks -m bench -s

lint: $(VENV)/.test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/mypy core evals

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("Assay needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.app: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable .
	touch $@

$(VENV)/.%: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[$*]'
	touch $@

clean:
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache
