# make audit      a real audit of a real judge, end to end, from a bare machine with Python 3.11 or newer
# make test       lint, types, layers and the quick tests (some seven minutes on two cores)
# make quick FOLDER=checks/ladders   the quick tests of one room, in seconds
# make test-parts tests against real parts: a Prefect server, processes, a wheel in an empty environment
# make test-models tests of the judges that run on PyTorch, beside the models' own code (pip decides which PyTorch comes)
# make test-long  simulations and twenty-seed proofs (by hand)
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.installed-core
DEV_STAMP = $(VENV)/.installed-dev
MODELS_STAMP = $(VENV)/.installed-models

.PHONY: audit rows schemas map quick test test-parts test-models test-long bench format clean

audit: $(STAMP)
	$(BIN)/judge-audit demo

test: $(DEV_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	mkdir -p $(VENV)/names
	for folder in flows tasks schemas deployments; do ln -sfn "$(CURDIR)/$$folder" "$(VENV)/names/judge_audit_$$folder"; done
	$(BIN)/lint-imports
	MYPYPATH=$(VENV)/names $(BIN)/mypy & typed=$$!; \
	$(BIN)/python -m pytest -n auto --dist loadfile -m "not long and not parts" --ignore=tests/long --ignore=tests/parts --ignore=tests/benchmarks; \
	tested=$$?; wait $$typed && exit $$tested

# Three at a time on two cores: servers and workers are waited for more than they work.
test-parts: $(DEV_STAMP)
	JUDGE_AUDIT_PARTS=required $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -m "parts and not long" tests --ignore=tests/benchmarks
	$(BIN)/python -m pytest -m "not long" tests/benchmarks

# The quick tests of one room in seconds: make quick FOLDER=checks/ladders
quick: $(DEV_STAMP)
	$(BIN)/python -m pytest -q -n auto -m "not long and not parts" tests/$(FOLDER)

test-models: $(MODELS_STAMP)
	JUDGE_AUDIT_PARTS=required JUDGE_AUDIT_MODELS=$(abspath $(VENV))/models $(BIN)/python -m pytest -n auto --dist loadfile -m "not long" tests/judges/reward_models tests/parts/test_real_onnx_judges.py

test-long: $(DEV_STAMP)
	$(BIN)/python -m pytest tests -m long -s

# The map of the rooms in CONTRIBUTING, drawn from the code.
map: $(DEV_STAMP)
	$(BIN)/python docs/draw_rooms.py

# The types of every table's rows, written from schemas/columns.yaml and schemas/tables.yaml.
rows: $(DEV_STAMP)
	$(BIN)/python -c "from judge_audit.core.row_types import row_types_source; print(row_types_source(), end='')" > schemas/rows.py
	$(BIN)/ruff format schemas/rows.py

# The JSON Schemas of audit.yaml, of cards and of mapping files, derived from their models.
schemas: $(DEV_STAMP)
	$(BIN)/python -m judge_audit.inputs.derived_schemas

format: $(DEV_STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "judge-audit needs Python 3.11 or newer; set PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(VENV)

# opencv-python needs the system's libGL; where that is absent, the same library without windows takes its place.
HEADLESS = $(BIN)/python -c 'import cv2' 2>/dev/null || { \
	$(BIN)/python -m pip uninstall --quiet --yes opencv-python && \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt opencv-python-headless; }

$(STAMP): pyproject.toml constraints.txt $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	$(HEADLESS)
	touch $@

$(DEV_STAMP): pyproject.toml constraints.txt $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	$(HEADLESS)
	touch $(STAMP) $@

$(MODELS_STAMP): $(DEV_STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[transformers,open-clip]"
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .import_linter_cache
