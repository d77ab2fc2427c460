# Two commands on a fresh machine: `make app` and `make test`. `make bench` prints the long figures.
PYTHON ?= python3
VENV ?= .venv
EXTRAS ?= test
PORT ?= 8501
JOBS ?= 2
BIN := $(VENV)/bin

.PHONY: app test bench baselines lint clean

app: $(VENV)/.app
	$(BIN)/assay app --port $(PORT)

test: $(VENV)/.$(EXTRAS)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy core evals
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder

bench: $(VENV)/.test,bench
	$(BIN)/python -m pytest tests/benchmarks -m bench -s

# The baselines of the shipped data, made anew: commit them with what moved.
baselines: $(VENV)/.test
	rm -rf out/baselines
	$(BIN)/assay ingest datasets/meridian --dataset meridian --db out/baselines/assay.db
	for recipe in memory brain graph; do \
	  $(BIN)/assay eval --dataset meridian --recipe $$recipe --db out/baselines/assay.db --out out/baselines/$$recipe && \
	  $(BIN)/assay baseline update out/baselines/$$recipe --out evals/baselines/meridian-$$recipe.json || exit 1; \
	done
	$(BIN)/assay eval --dataset meridian --recipe brain --db out/baselines/assay.db --out out/baselines/brain-written \
	  --chat scripted:evals/baselines/meridian-replies.jsonl
	$(BIN)/assay baseline update out/baselines/brain-written --out evals/baselines/meridian-brain-written.json

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
