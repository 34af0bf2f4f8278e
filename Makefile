PYTHON ?= python3
VENV ?= .venv
CONSTRAINTS ?= constraints.txt
BIN := $(VENV)/bin
# Python compiles what is imported; to compile all of it took pip most of its time.
INSTALL := -m pip --disable-pip-version-check --quiet install --no-compile
OUT ?= out
DATA ?= $(wildcard ../shared/data)
EXTRAS := cli files explore dask spark torch onnx

.PHONY: help demo paper test test-all test-lowest torture bench bench-audit bench-explain bench-growth bench-profile bench-quality \
	bench-scale bench-partitions bench-atlas \
	bench-explore bench-gpu lint format docs dist smoke smoke-all clean

help:
	@echo "make demo   embed the bundled data; figures go to $(OUT)/demo"
	@echo "make paper  run the paper's experiments into $(OUT)/paper; QUICK=1 takes minutes"
	@echo "make docs   build the site, gallery included; it goes to $(OUT)/docs"
	@echo "make test   run the tests; test-all with engines too, which takes larger installs,"
	@echo "            test-lowest the core tests on the lowest supported versions"
	@echo "make torture  hostile files, unlucky data, noise, threads, signals, fuzzing: a line each"
	@echo "make bench  compare speed with peers and floors; bench-growth and bench-profile say why,"
	@echo "            bench-quality compares the quality of embeddings with peers (SETS="iris wine"),"
	@echo "            bench-audit finds flipped labels and compares with a forest, k-NN and regression,"
	@echo "            bench-explain checks importances, coverage and the flag of new classes,"
	@echo "            bench-atlas compares the atlas with its base model and supervised UMAP,"
	@echo "            bench-scale reads files larger than memory and kills workers,"
	@echo "            bench-partitions times many small partitions on Dask and Spark, and predicts 1 TB,"
	@echo "            bench-explore measures the wait after a move of the explorer's sliders"
	@echo "            bench-gpu times fits on a GPU, in the Python that has torch for it (PYTHON=...)"
	@echo "            (DATA=folder with mnist/ and 20newsgroups/; downloaded without it)"
	@echo "make lint   formatting, lint, types and the import contract"
	@echo "make dist   a wheel and an sdist in $(OUT)/dist, checked; smoke tries the wheel in an empty"
	@echo "            environment, smoke-all the sdist too, and every extra alone"
	@echo "Each sets up its own virtual environment in $(VENV)."

demo: $(VENV)/.ready-cli
	$(BIN)/python examples/demo.py $(OUT)/demo

paper: $(VENV)/.ready-cli
	$(BIN)/python -m paper --out $(OUT)/paper $(if $(QUICK),--quick) $(if $(DATA),--data $(DATA))

docs: $(VENV)/.ready-docs
	$(BIN)/codespell *.md docs examples src tests benchmarks paper scripts
	rm -rf $(OUT)/docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d $(OUT)/doctrees docs $(OUT)/docs
	$(BIN)/python scripts/check_site.py $(OUT)/docs
	@echo "The site is in $(OUT)/docs/index.html"

# Files of tests side by side, on few processes: some of them start servers and clusters.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile

WITH ?= test
test: $(VENV)/.ready-$(WITH)
	$(PYTEST) $(TESTS)

# The lowest supported versions have no wheels for newer Pythons; CORE= runs all tests.
# AnnData is tested here alone: it has no release yet for the pandas of constraints.txt.
OLD_PYTHON ?= $(shell python3.11 --version >/dev/null 2>&1 && echo python3.11 || echo $(PYTHON))
CORE := $(addprefix tests/,test_sklearn.py test_moments.py test_labels.py test_solvers.py \
	test_methods.py test_cells.py persist)

test-lowest:
	$(MAKE) test VENV=.venv-lowest PYTHON=$(OLD_PYTHON) CONSTRAINTS=constraints-lowest.txt \
		WITH=test,anndata,dask TESTS="$(CORE)"

# Everything that CI runs: no test is skipped for lack of an engine, and a short form of each
# part of `make torture` runs too.
test-all: $(VENV)/.ready-torture,dask,spark,torch
	$(PYTEST) -m "not gpu and not long"

torture: $(VENV)/.ready-torture
	$(PYTEST) -m long
	PYTHONPATH=tests $(BIN)/python -m torture

bench: $(VENV)/.ready-bench
	PYTHONPATH=. $(BIN)/python benchmarks/run.py --out $(OUT)/bench $(if $(DATA),--data $(DATA))

bench-growth: $(VENV)/.ready-bench
	$(BIN)/python benchmarks/growth.py --out $(OUT)/bench

bench-scale: $(VENV)/.ready-bench,dask,spark
	$(BIN)/python benchmarks/scale.py

bench-partitions: $(VENV)/.ready-bench,dask,spark
	$(BIN)/python benchmarks/partitions.py

bench-profile: $(VENV)/.ready-bench
	$(BIN)/python benchmarks/profile.py $(if $(DATA),--data $(DATA))

bench-quality: $(VENV)/.ready-bench
	$(BIN)/python benchmarks/quality.py --out $(OUT)/bench $(if $(DATA),--data $(DATA)) $(SETS)
	$(if $(SETS),,$(BIN)/python benchmarks/grid.py $(if $(DATA),--data $(DATA)))

bench-audit: $(VENV)/.ready-bench
	$(BIN)/python benchmarks/audit.py $(if $(DATA),--data $(DATA)) $(SETS)

bench-explain: $(VENV)/.ready-bench
	$(BIN)/python benchmarks/explain.py $(if $(DATA),--data $(DATA))

bench-atlas: $(VENV)/.ready-bench
	$(BIN)/python benchmarks/atlas.py $(if $(DATA),--data $(DATA)) $(SETS)

bench-explore: $(VENV)/.ready-test
	$(BIN)/python benchmarks/explore.py $(if $(DATA),--data $(DATA))

# In the Python that is there: torch for a GPU is not ours to install.
bench-gpu:
	PYTHONPATH=src $(PYTHON) -m pytest -m gpu -q tests/test_gpu.py
	PYTHONPATH=src $(PYTHON) benchmarks/gpu.py $(if $(DATA),--data $(DATA))

lint: $(VENV)/.ready-test
	PATH="$(abspath $(BIN)):$$PATH" pre-commit run --all-files --show-diff-on-failure

format: $(VENV)/.ready-test
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

dist: $(VENV)/.ready-dist
	rm -rf $(OUT)/dist
	$(BIN)/python -m build --outdir $(OUT)/dist
	$(BIN)/python -m twine check --strict $(OUT)/dist/*
	$(BIN)/python scripts/check_dist.py $(OUT)/dist

smoke: smoke-none
smoke-all: smoke smoke-sdist $(EXTRAS:%=smoke-%)

# Each in an environment of its own that holds nothing else; the sources are out of sight.
smoke-none smoke-sdist $(EXTRAS:%=smoke-%): smoke-%: dist
	rm -rf $(OUT)/smoke/$*
	$(PYTHON) -m venv $(OUT)/smoke/$*
	archive=$$(ls $(abspath $(OUT))/dist/*$(if $(filter sdist,$*),.tar.gz,.whl)) && \
	$(OUT)/smoke/$*/bin/python $(INSTALL) \
		--constraint constraints.txt "$$archive$(patsubst %,[%],$(filter $(EXTRAS),$*))"
	cd $(OUT)/smoke && $*/bin/python -I $(abspath scripts/smoke.py) $(filter $(EXTRAS),$*)

# One stamp an extra, made anew when the requirements change.
$(VENV)/.ready-%: pyproject.toml $(CONSTRAINTS) | $(VENV)/bin/python
	@echo "Installing labelens[$*] into $(VENV) ..."
	$(BIN)/python $(INSTALL) --constraint $(CONSTRAINTS) --editable ".[$*]"
	$(if $(filter test torture%,$*),-@command -v npm >/dev/null && npm install --silent --no-audit --no-fund \
		--prefix $(VENV)/node axe-core@4 || echo "No npm: the accessibility tests will be skipped.")
	@touch $@

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) .venv-lowest $(OUT) docs/api docs/gallery .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
