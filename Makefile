# Two commands on a machine with python3.11, pip and make: `make demo` and `make test`.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
LOWEST := .venv-lowest
NEWEST := .venv-newest
DEEP := .venv-deep
PIP := $(BIN)/pip --disable-pip-version-check -q
STAMP := $(VENV)/.installed-
SOURCES := pyproject.toml constraints.txt

.PHONY: demo test test-deep test-clients docs docs-lite fuzz sbom test-lowest test-newest lint help clean

help:
	@echo "make demo   set up, recognize unseen animals, run a short form of the paper's experiments"
	@echo "make test   set up and run the tests"
	@echo "make test-deep  install PyTorch into an environment of its own and run the tests of the deep methods"
	@echo "make fuzz   damage the files of every reader thousands of times (CASES=15000) and models (MODELS=10000),"
	@echo "            kill writers at random moments (KILLS=45 cases per writer), fit every method on numbers of"
	@echo "            any size (SCALES=700) and on the same data told in another way (RELATIONS=1000)"
	@echo "make test-clients  ask zslearn serve by the clients of Triton, KServe and MLServer, each in its own venv"
	@echo "make sbom   write the list of all packages needed, with versions and licenses, to sbom.json"
	@echo "make docs   build the documentation into docs/_build/html, run its examples, check its links"
	@echo "make docs-lite  the same with a button that runs an example in the reader's browser"
	@echo "make lint   ruff, mypy, the import rules, and oxlint for the studio's scripts"
	@echo "make test-lowest  a smoke with the oldest versions that pyproject.toml allows"
	@echo "make test-newest  the tests with the newest versions that can be had, without constraints.txt"
	@echo "make clean  remove the environment and caches"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(STAMP)run: $(BIN)/python $(SOURCES)
	$(PIP) install -c constraints.txt -e .
	@touch $@

$(STAMP)dev: $(BIN)/python $(SOURCES)
	$(PIP) install -c constraints.txt -e '.[test,lint]'
	@touch $@ $(STAMP)run

$(STAMP)docs: $(BIN)/python $(SOURCES)
	$(PIP) install -c constraints.txt -e '.[docs,deep]'
	@touch $@ $(STAMP)run

demo: $(STAMP)run
	$(BIN)/zslearn demo
	$(BIN)/zslearn reproduce zsl gzsl clustering-equal --quick --no-plots --out reproduced

test: $(STAMP)dev
	$(BIN)/python -m pytest -n 2 --dist worksteal $(ARGS)

# PyTorch is large, so it has an environment of its own; transformers makes the tiny models that stand
# for CLIP and DINO, umap-learn a map of the studio. timm and open_clip need a torchvision that fits.
$(DEEP)/.installed: $(SOURCES)
	$(PYTHON) -m venv $(DEEP)
	$(DEEP)/bin/pip --disable-pip-version-check -q install -c constraints.txt -e '.[test,deep]' \
		transformers umap-learn
	@touch $@

TESTS_DEEP := tests/zero_shot/deep tests/test_clip_page.py tests/encoders/test_torch_models.py \
	tests/encoders/test_torch_text_models.py tests/reproduce/test_modern.py \
	tests/serve/studio/page/test_words_and_maps.py

test-deep: $(DEEP)/.installed
	ZSLEARN_DEEP_REQUIRED=1 $(DEEP)/bin/python -m pytest -n 2 $(TESTS_DEEP) $(ARGS)
	$(DEEP)/bin/python -m pytest -n 2 tests/test_doctests.py tests/test_examples.py -k 'deep or convolutions'

docs: $(STAMP)docs
	rm -rf docs/_build
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -q -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html
	$(BIN)/python scripts/check_site.py docs/_build/html

# The same site with a button under every example that runs it in the reader's browser.
LITE := jupyterlite-sphinx==0.23.0 jupyterlite-pyodide-kernel==0.8.6

docs-lite: $(STAMP)docs
	$(PIP) install $(LITE)
	rm -rf docs/_build
	$(BIN)/pip -q wheel --no-deps --wheel-dir docs/_build/wheel .
	ZSLEARN_WHEEL=$$(ls docs/_build/wheel/*.whl) OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -q -W --keep-going -t lite -b html -d docs/_build/doctrees docs docs/_build/html

$(LOWEST)/.installed: pyproject.toml constraints-lowest.txt
	$(PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/pip --disable-pip-version-check -q install -c constraints-lowest.txt -e .
	@touch $@

test-lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/python scripts/smoke.py

# Whatever is newest, without constraints, as a user who installs it today gets it.
test-newest:
	$(PYTHON) -m venv --clear $(NEWEST)
	$(NEWEST)/bin/pip --disable-pip-version-check -q install --upgrade -e '.[test]'
	$(NEWEST)/bin/python scripts/smoke.py
	$(NEWEST)/bin/python -m pytest -n 2 --dist worksteal $(ARGS)

fuzz: $(STAMP)dev
	ZSLEARN_FUZZ_CASES=$(or $(CASES),15000) ZSLEARN_FUZZ_MODELS=$(or $(MODELS),10000) \
		ZSLEARN_KILL_CASES=$(or $(KILLS),45) \
		ZSLEARN_FUZZ_SCALES=$(or $(SCALES),700) ZSLEARN_FUZZ_RELATIONS=$(or $(RELATIONS),1000) \
		$(BIN)/python -m pytest -n 2 --timeout 3600 tests/fuzz tests/kill $(ARGS)
	ZSLEARN_SERVE_CASES=$(or $(REQUESTS),10000) ZSLEARN_SERVE_KILLS=$(or $(SERVE_KILLS),50) \
		$(BIN)/python -m pytest tests/serve/test_hostile.py tests/serve/test_program.py $(ARGS)

# Clients of the Open Inference Protocol, as released; their needs collide, so each has its own venv.
CLIENTS ?= triton kserve mlserver
CLIENT_triton := tritonclient[http]==2.73.0
CLIENT_kserve := kserve==0.21.0
CLIENT_mlserver := mlserver==1.7.1
# Not a client but an attack by the description of the server: make test-clients CLIENTS=schemathesis
CLIENT_schemathesis := schemathesis==4.32.5

.venv-clients/%/.installed: Makefile
	$(PYTHON) -m venv .venv-clients/$*
	.venv-clients/$*/bin/pip --disable-pip-version-check -q install '$(CLIENT_$*)'
	@touch $@

test-clients: $(STAMP)dev $(CLIENTS:%=.venv-clients/%/.installed)
	ZSLEARN_CLIENTS_REQUIRED='$(CLIENTS)' $(BIN)/python -m pytest tests/serve/test_clients.py $(ARGS)

sbom: $(STAMP)dev
	$(BIN)/python scripts/dependencies.py --sbom sbom.json

lint: $(STAMP)dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/oxlint

clean:
	rm -rf docs/_build docs/api docs/auto_examples docs/sg_execution_times.rst
	rm -rf docs/_contents docs/jupyterlite_contents docs/.jupyterlite.doit.db
	rm -rf $(VENV) $(LOWEST) $(NEWEST) $(DEEP) .venv-clients .pytest_cache .mypy_cache .ruff_cache .hypothesis
