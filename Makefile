# Each target does the set-up it needs: `make test` and `make demo` work on a fresh machine.
.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
SHELL := bash
.SHELLFLAGS := -euo pipefail -c

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
PYTHON ?= python3
PYTEST_ARGS ?=
BENCH_ARGS ?= --benchmark_repetitions=15 --benchmark_enable_random_interleaving=true \
  --benchmark_report_aggregates_only=true

# Per target: both are reached.
FUZZ_SECONDS ?= 600
FUZZ_RUNS ?= 1000000
FUZZ_TARGETS ?=

OVERHEAD_ARGS ?= --repeats 5
LIMITS_ARGS ?= --rho reference
PAPER_ARGS ?=
PEERS_ARGS ?=

# Real data, which are no part of the project: tutorials run on them where the folder exists.
DATA ?= ../shared/data
WITH_DATA = $(if $(wildcard $(DATA)),BREGBOOST_DATA=$(abspath $(DATA)))

VENV := .venv
VENV_READY := $(VENV)/.ready
VENV_BIN := $(VENV)/bin
OLDEST := .venv-oldest
OLDEST_READY := $(OLDEST)/.ready
CXX_DIRS := $(wildcard include src cli tests benchmarks examples python)
CXX_FILES = $(shell find $(CXX_DIRS) -name '*.h' -o -name '*.cc')

# Build folders share what ccache keeps: paths count from the project, not from the root.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := true

# The flags of the preset dev, so that the package does not compile the library again.
PACKAGE_SETTINGS := build-dir=build/python cmake.build-type=RelWithDebInfo \
  cmake.define.CMAKE_CXX_COMPILER=g++ cmake.define.BREGBOOST_WARNINGS_AS_ERRORS=ON

# $(call build,<preset>[,<target>])
define build
cmake --preset $(1) >/dev/null
cmake --build --preset $(1) --parallel $(JOBS) $(if $(2),--target $(2))
endef

# $(call ctest,<preset>): tests find LightGBM and XGBoost in the environment, as users' programs do.
ctest = VIRTUAL_ENV=$(CURDIR)/$(VENV) ctest --preset $(1) --parallel $(JOBS)

# $(call record,<name>): errors that happen in what follows are written down in build/errors/<name>.
define record
mkdir -p build/errors && rm -f build/errors/$(1) && \
  BREGBOOST_ERROR_RECORD=$(CURDIR)/build/errors/$(1) \
  LD_PRELOAD=$(CURDIR)/build/dev/tests/error_recorder/liberror_recorder.so \
  PYTHONPATH=$(CURDIR)/tests/error_recorder/python
endef

# $(call pytest,<build dir>[,<arguments>])
pytest = BREGBOOST_BUILD_DIR=$(1) $(VENV_BIN)/pytest $(2) $(PYTEST_ARGS)

##@ Use

.PHONY: help
help:  ## Show this list
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@/ { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: system-packages $(VENV_READY)  ## Install system packages and the Python environment

.PHONY: system-packages
system-packages:
	@scripts/install_system_packages.sh

$(VENV_READY): requirements-dev.txt | system-packages
	$(PYTHON) -m venv $(VENV)
	$(VENV_BIN)/pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

# The oldest supported LightGBM and XGBoost, beside the pinned ones.
$(OLDEST_READY): requirements-oldest.txt | system-packages
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/pip install --quiet --disable-pip-version-check --no-deps --requirement $<
	@touch $@

.PHONY: demo
demo: setup  ## Build the program, train two models under limits, and show what they keep to
	$(call build,release,bregboost_cli)
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(VENV_BIN)/python examples/demo.py

.PHONY: install
install: system-packages  ## Install the release build under PREFIX (default /usr/local)
	$(call build,release)
	cmake --install build/release --prefix $(PREFIX)

# By way of the sdist, which shows if it lacks a file; auditwheel puts the shared libraries that not
# every machine has into the wheel.
.PHONY: wheel
wheel: setup  ## Build sdist and wheel of the Python package into build/dist
	rm -rf build/dist build/sdist build/wheel
	$(VENV_BIN)/python -m build --no-isolation --sdist --outdir build/dist
	mkdir -p build/sdist
	tar --extract --file build/dist/*.tar.gz --directory build/sdist --strip-components 1
	CCACHE_BASEDIR=$(CURDIR)/build/sdist CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) \
	  $(VENV_BIN)/python -m build --no-isolation --wheel --outdir build/wheel build/sdist
	PATH="$(CURDIR)/$(VENV_BIN):$$PATH" auditwheel repair --wheel-dir build/dist build/wheel/*.whl

##@ Develop

.PHONY: build
build: system-packages  ## Build library, tests, examples and benchmarks with GCC
	$(call build,dev)

.PHONY: test
test: test-gcc build-clang test-package test-python test-errors format-check  ## What CI runs: both compilers, the tests, the package, the errors, the format

.PHONY: test-gcc
test-gcc: setup build
	$(call record,ctest) $(call ctest,dev)

.PHONY: build-clang
build-clang: system-packages
	$(call build,clang)

# Editable: Python sources are used where they are, the extension is built when it is out of date.
.PHONY: build-python
build-python: setup  ## Build the Python extension and install the package into .venv
	CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) $(VENV_BIN)/pip install --quiet --disable-pip-version-check \
	  --no-build-isolation --no-deps $(PACKAGE_SETTINGS:%=--config-settings=%) --editable .

.PHONY: test-package
test-package: setup build
	rm -rf build/install
	cmake --install build/dev --prefix build/install >/dev/null
	cmake -S tests/example_app -B build/example_app -G Ninja --fresh \
	  -DCMAKE_PREFIX_PATH=$(CURDIR)/build/install
	cmake --build build/example_app
	VIRTUAL_ENV=$(CURDIR)/$(VENV) build/example_app/example_app

.PHONY: test-python
test-python: setup build build-python
	$(call record,pytest) $(call pytest,build/dev)

# Both write down what happens, so that no test runs for it alone.
.PHONY: test-errors
test-errors: test-gcc test-python  ## Name the errors of docs/errors.md that happen in no test
ifeq ($(PYTEST_ARGS),)
	$(VENV_BIN)/python -m scripts.error_catalogue --provoked build/errors/ctest build/errors/pytest
else
	@echo "errors: not compared, since PYTEST_ARGS chooses the tests"
endif

.PHONY: errors
errors: setup  ## List every error in docs/errors.md
	$(VENV_BIN)/python -m scripts.error_catalogue

.PHONY: test-full
test-full: test test-clang test-asan test-asan-python test-tsan fuzz-short test-oldest  ## All of test, Clang's build run, sanitizers, a short fuzz run, oldest libraries, slow Python tests
	$(WITH_DATA) BREGBOOST_OLD_PYTHON=$(CURDIR)/$(OLDEST)/bin/python $(call pytest,build/dev,--slow)

.PHONY: torture
torture: build build-python  ## Faults by the hundred: kills, damage, no room; puts the table into docs/reliability.md
	$(VENV_BIN)/python -m tests.torture.faults --page

# Where the version of a library matters. The slow Python tests do the same from outside.
.PHONY: test-oldest
test-oldest: setup build wheel $(OLDEST_READY)  ## Tests of the tree learners and of the wheel with the oldest supported libraries
	$(OLDEST)/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall \
	  build/dist/*.whl
	$(OLDEST)/bin/pytest tests/python/package $(PYTEST_ARGS)
	@for program in gbm_library_test lightgbm_dataset_test xgboost_dataset_test xgboost_booster_test \
	    xgboost_parameters_test boosted_known_answers_test boosted_learner_test lockstep_test lightgbm_export_test \
	    xgboost_export_test; do \
	  VIRTUAL_ENV=$(CURDIR)/$(OLDEST) OMP_WAIT_POLICY=passive \
	    build/dev/tests/cpp/$$program --gtest_brief=1; \
	done

.PHONY: test-clang
test-clang: setup build-clang
	$(call ctest,clang)

.PHONY: test-asan
test-asan: setup  ## C++ tests under the address and undefined-behaviour sanitizers
	$(call build,asan)
	$(call ctest,asan)

# Beside .venv, whose editable install stays as it is. The stock libraries are not instrumented.
# Left out: browsers, clusters, pages, and faults, which limit the memory that a program may map.
ASAN_PYTHON_TESTS := tests/python/package tests/python/test_cli_*.py tests/python/test_*_program*.py \
  tests/python/test_exported_models*.py $(addprefix tests/python/test_,conic_agreement.py \
  determinism.py file_safety.py star.py tables.py workers.py) --pyargs bregboost

.PHONY: test-asan-python
test-asan-python: export VIRTUAL_ENV := $(CURDIR)/$(VENV)
test-asan-python: setup  ## Tests of the Python package and of the programs under the same
	$(call build,asan-python)
	$(VENV_BIN)/python scripts/asan_python.py build/asan-python $(ASAN_PYTHON_TESTS) $(PYTEST_ARGS)

.PHONY: test-tsan
test-tsan: setup  ## C++ tests under the thread sanitizer
	$(call build,tsan)
	$(call ctest,tsan)

# What the fuzzer finds worth keeping stays in build/fuzz/out; an input that found a bug goes to
# tests/fuzz/corpus with the fix. $(call fuzz,<seconds>,<executions>)
define fuzz
$(call build,fuzz,fuzz_targets)
VIRTUAL_ENV=$(CURDIR)/$(VENV) $(PYTHON) scripts/fuzz.py --build build/fuzz --out build/fuzz/out --seconds $(1) --runs $(2) $(FUZZ_TARGETS)
endef

.PHONY: fuzz
fuzz: setup  ## Fuzz every reader of files: FUZZ_SECONDS (600) and FUZZ_RUNS (1,000,000) each
	$(call fuzz,$(FUZZ_SECONDS),$(FUZZ_RUNS))

.PHONY: fuzz-short
fuzz-short: setup  ## The same for 10 seconds each, as CI does
	$(call fuzz,10,0)

.PHONY: bench
bench: system-packages  ## Run the micro benchmarks; JSON lands in build/bench
	$(call build,release)
	@mkdir -p build/bench
	@for program in build/release/benchmarks/micro/*_benchmark; do \
	  "$$program" --benchmark_out="build/bench/$${program##*/}.json" $(BENCH_ARGS); \
	done

.PHONY: bench-overhead
bench-overhead: setup  ## Time and memory of constrained boosting against the stock libraries (about 40 minutes)
	$(call build,release,overhead)
	@mkdir -p build/bench
	OMP_WAIT_POLICY=passive VIRTUAL_ENV=$(CURDIR)/$(VENV) \
	  build/release/benchmarks/end_to_end/overhead --json build/bench/overhead.json $(OVERHEAD_ARGS)

.PHONY: bench-pipeline
bench-pipeline: setup  ## Calibration, certificate and frontier against one training (about 5 minutes)
	$(call build,release,pipeline)
	OMP_WAIT_POLICY=passive VIRTUAL_ENV=$(CURDIR)/$(VENV) build/release/benchmarks/end_to_end/pipeline

.PHONY: bench-python
bench-python: build-python  ## Python fits against the core's loop and the stock libraries (about 5 minutes)
	$(VENV_BIN)/python benchmarks/end_to_end/python_overhead.py

.PHONY: bench-reading
bench-reading: setup  ## Tables read by the program and by pandas (about a minute)
	$(call build,release,reading)
	$(VENV_BIN)/python benchmarks/end_to_end/reading.py \
	  build/release/benchmarks/end_to_end/reading $(wildcard $(DATA)/creditcard_sample.csv.xz)

.PHONY: bench-limits
bench-limits: setup  ## Accuracy and violation on test rows of several data sets (about 20 minutes)
	$(call build,release,constrained_auto)
	@mkdir -p build/bench
	$(VENV_BIN)/python -m benchmarks.limits.limits --out build/bench/limits.json $(LIMITS_ARGS)

.PHONY: bench-cluster
bench-cluster: build-python  ## Constrained over plain training on 1, 2 and 4 Dask workers of this machine; writes docs/scale.md (15 minutes)
	$(VENV_BIN)/python -m benchmarks.scale.cluster --out benchmarks/results/cluster.json \
	  --page docs/scale.md $(CLUSTER_ARGS)

.PHONY: bench-agreement
bench-agreement: build-python  ## Rates on two Dask workers and on one machine, by number of rows; writes docs/scale.md (4 minutes)
	$(VENV_BIN)/python -m benchmarks.scale.agreement --out benchmarks/results/agreement.json \
	  --page docs/scale.md $(AGREEMENT_ARGS)

# docs/results.md with its figures, of all results that are there. The quick forms leave the numbers
# of the full ones, and the table in README.md, as they are.
RESULTS_PAGE = $(VENV_BIN)/python -m benchmarks.common.results_page

# The first sets of the full form: what one has run, the other does not run again.
PAPER = $(VENV_BIN)/python -m benchmarks.paper.paper --data $(DATA) --out build/bench/paper.json

.PHONY: paper-quick
paper-quick: build-python  ## The paper's experiments with 10 sets of hyper-parameters (below 30 minutes)
	$(PAPER) --quick --results build/results/paper.json $(PAPER_ARGS)
	$(RESULTS_PAGE) --paper build/results/paper.json

.PHONY: paper
paper: build-python  ## The same with 100 sets, as in the paper (an hour; goes on where it was interrupted)
	$(PAPER) --results benchmarks/results/paper.json $(PAPER_ARGS)
	$(RESULTS_PAGE)

# Other packages live in environments of their own under build/peers, made on the way.
PEERS = $(VENV_BIN)/python -m benchmarks.peers.environments && \
  $(VENV_BIN)/python -m benchmarks.peers.peers --data $(DATA)

.PHONY: peers-quick
peers-quick: build-python  ## bregboost beside other packages, three seeds; writes docs/results.md (under half an hour)
	$(PEERS) --quick --out build/bench/peers-quick.json --summary build/results/peers.json $(PEERS_ARGS)
	$(RESULTS_PAGE) --peers build/results/peers.json

.PHONY: peers
peers: build-python  ## The same, ten seeds; its numbers are kept in benchmarks/results (above an hour)
	$(PEERS) --out build/bench/peers.json --summary benchmarks/results/peers.json $(PEERS_ARGS)
	$(RESULTS_PAGE) --readme README.md

.PHONY: format
format: setup  ## Format C++ and Python sources
	@clang-format -i $(CXX_FILES)
	$(VENV_BIN)/ruff check --quiet --fix-only
	$(VENV_BIN)/ruff format --quiet

.PHONY: format-check
format-check: setup  ## Fail if `make format` would change something
	@clang-format --dry-run --Werror $(CXX_FILES)
	$(VENV_BIN)/ruff check
	$(VENV_BIN)/ruff format --check

.PHONY: lint
lint: build-clang  ## clang-tidy over our sources
	run-clang-tidy -quiet -p build/clang -j $(JOBS) '^$(CURDIR)/(src|cli|tests|benchmarks|examples)/' 2>&1 | \
	  sed -E '/^[0-9]+ warnings? generated\.$$/d'

.PHONY: figures
figures: setup build build-python  ## Draw the figures of the documentation anew
	BREGBOOST_BUILD_DIR=build/dev $(VENV_BIN)/python scripts/make_figures.py
	$(VENV_BIN)/python scripts/make_calibration_figure.py
	$(VENV_BIN)/python scripts/make_certificate_figure.py
	BREGBOOST_BUILD_DIR=build/dev VIRTUAL_ENV=$(CURDIR)/$(VENV) \
	  $(VENV_BIN)/python scripts/make_limits_figures.py
	$(WITH_DATA) $(VENV_BIN)/python scripts/make_tutorial_figures.py
	$(VENV_BIN)/python scripts/make_report_screenshots.py

.PHONY: docs
docs: setup build-python  ## Check every Markdown link and render docs/ to build/docs
	$(VENV_BIN)/python scripts/check_links.py
	$(VENV_BIN)/mkdocs build --quiet --strict

.PHONY: clean
clean:  ## Remove build/ (the Python environment stays: rm -r .venv)
	rm -rf build
