# Two commands on a machine with python3.11, pip and make: `make demo` and `make test`.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
LOWEST := .venv-lowest
PIP := $(BIN)/pip --disable-pip-version-check -q
STAMP := $(VENV)/.installed-
SOURCES := pyproject.toml constraints.txt

.PHONY: demo test fuzz sbom test-lowest lint help clean

help:
	@echo "make demo   set up, recognise unseen animals, run a short form of the paper's experiments"
	@echo "make test   set up and run the tests"
	@echo "make fuzz   damage the files of every reader thousands of times (CASES=5000) and models (MODELS=10000),"
	@echo "            kill writers at random moments (KILLS=45 cases per writer)"
	@echo "make sbom   write the list of all packages needed, with versions and licenses, to sbom.json"
	@echo "make lint   ruff, mypy and the import rules"
	@echo "make test-lowest  a smoke with the oldest versions that pyproject.toml allows"
	@echo "make clean  remove the environment and caches"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(STAMP)run: $(BIN)/python $(SOURCES)
	$(PIP) install -c constraints.txt -e .
	@touch $@

$(STAMP)dev: $(BIN)/python $(SOURCES)
	$(PIP) install -c constraints.txt -e '.[test,lint]'
	@touch $@ $(STAMP)run

demo: $(STAMP)run
	$(BIN)/zslearn demo
	$(BIN)/zslearn reproduce zsl gzsl clustering-equal --quick --no-plots --out reproduced

test: $(STAMP)dev
	$(BIN)/python -m pytest -n 2 $(ARGS)

$(LOWEST)/.installed: pyproject.toml constraints-lowest.txt
	$(PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/pip --disable-pip-version-check -q install -c constraints-lowest.txt -e .
	@touch $@

test-lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/python scripts/smoke.py

fuzz: $(STAMP)dev
	ZSLEARN_FUZZ_CASES=$(or $(CASES),5000) ZSLEARN_FUZZ_MODELS=$(or $(MODELS),10000) \
		ZSLEARN_KILL_CASES=$(or $(KILLS),45) \
		$(BIN)/python -m pytest -n 2 tests/fuzz tests/kill $(ARGS)

sbom: $(STAMP)dev
	$(BIN)/python scripts/dependencies.py --sbom sbom.json

lint: $(STAMP)dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf $(VENV) $(LOWEST) .pytest_cache .mypy_cache .ruff_cache .hypothesis
