# `make report` runs the main job, `make test` the tests, `make slow` those that take long; each
# sets up all it needs first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: report test slow bench derivations figure clean

report: $(VENV)/.installed
	$(BIN)/headflow report

test: $(VENV)/.tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2 --dist loadgroup

slow: $(VENV)/.tested
	$(BIN)/python -m pytest -n 2 -m slow

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks.run

derivations: $(VENV)/.installed
	$(BIN)/headflow derive --all

# The figure of the README, a minute or two.
figure: $(VENV)/.installed
	$(BIN)/python -m headflow.overview docs/figures/training.svg

$(VENV)/.installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.tested: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@

$(VENV)/.bench: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	touch $@

clean:
	rm -rf report build *.egg-info .pytest_cache .hypothesis .mypy_cache .ruff_cache
