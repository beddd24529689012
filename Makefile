# Every target sets up what it needs: a fresh machine needs Python >= 3.11, make and a JDK >= 17 (with javac).
# `make help` lists the targets.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JARS := src/brokernat/jvm/_native/brokernat-agent.jar src/brokernat/jvm/_native/brokernat-spark.jar
JAR_SOURCES := $(wildcard native/*/pom.xml) $(shell find native/jvm-agent/src/main native/spark-functions/src/main -type f)
PLUGIN := src/brokernat/clients/librdkafka/_native/libbrokernat-rdkafka.so
PLUGIN_SOURCES := $(wildcard native/librdkafka-plugin/src/*)
# Without what Python has compiled, each of the hundreds of processes that tests start compiles PySpark and us anew.
unexport PYTHONDONTWRITEBYTECODE
# Random inputs are the same in each run of a target, and the order of sets in each of its processes, or they would
# not agree on the list of tests; `SEED=...` draws others.
PYTEST = PYTHONHASHSEED=$(SEED) $(BIN)/python -m pytest --hypothesis-seed=$(SEED)
DOCS := build/docs-packages
# Four processes keep two cores busy, and each may have four brokers and a Spark: 2.5 GB.
JOBS ?= $(shell awk '/^MemTotal/ {print ($$2 > 12000000 ? 4 : 3)}' /proc/meminfo)
SOAK_SECONDS ?= 3600
SEED ?= 0

.DEFAULT_GOAL := help
.PHONY: help setup agent plugin class-data check format lock demo test test-agent test-netns soak leak-matrix bench docs wheel release clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.done agent plugin ## the virtual environment, the agent and the plug-in

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: $(PYTHON) is older than 3.11; install python3.11 or pass PYTHON=..."; exit 2; }
	@$(PYTHON) -m venv --clear $(VENV) || { echo "error: no virtual environment; on Debian and Ubuntu install python3-venv"; exit 2; }

$(VENV)/.done: requirements/dev.lock requirements/uv.lock pyproject.toml | $(BIN)/pip
	@echo "setting up $(VENV): the locked packages, PySpark among them (400 MB, once)"
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.lock
	@$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements/dev.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

agent: $(JARS) ## the jars: the JVM agent, and the functions that Spark loads

$(JARS) &: $(JAR_SOURCES) tools/jars.py | $(VENV)/.done
	@command -v javac >/dev/null || { echo "error: no javac on PATH; on Debian and Ubuntu install openjdk-17-jdk"; exit 2; }
	@echo "building the jars"
	@$(BIN)/python tools/jars.py
	@touch $(JARS)

plugin: $(PLUGIN) ## the librdkafka plug-in

$(PLUGIN): $(PLUGIN_SOURCES) tools/plugin_library.py | $(VENV)/.done
	@echo "building the librdkafka plug-in"
	@$(BIN)/python tools/plugin_library.py

check: setup ## lint, formatting, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.done ## rewrite the sources in the house's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: ## resolve requirements/*.lock anew
	$(BIN)/uv pip compile -q requirements/uv.in --universal --generate-hashes --no-header -o requirements/uv.lock
	$(BIN)/uv pip compile -q pyproject.toml --extra spark --group dev --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header -o requirements/dev.lock
	$(BIN)/uv pip compile -q pyproject.toml --extra testbed --extra java --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --constraint requirements/dev.lock -o requirements/run.lock
	$(BIN)/uv pip compile -q pyproject.toml --extra spark --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --constraint requirements/spark40.in -o requirements/spark40.lock
	$(BIN)/uv pip compile -q pyproject.toml --extra spark --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --constraint requirements/spark35.in -o requirements/spark35.lock
	$(BIN)/uv pip compile -q requirements/docs.in --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --constraint requirements/dev.lock -o requirements/docs.lock
	for lock in $(filter-out uv docs spark40 spark35,$(basename $(notdir $(wildcard requirements/*.in)))); do $(BIN)/uv pip compile -q requirements/$$lock.in --generate-hashes --no-emit-index-url --no-header --no-annotate -o requirements/$$lock.lock; done

demo: setup ## the main job on this machine: real brokers, real Spark, no root
	@$(BIN)/brokernat demo

class-data: setup ## what lets the tests' JVMs start in half the time
	@$(BIN)/python -m tests.class_data

test: setup ## everything that needs no root: real brokers on loopback, real Spark; PYTEST_ARGS="FILE -k NAME" for less
	@$(MAKE) -s -j2 class-data test-agent
	$(PYTEST) -n $(JOBS) -m "not netns and not soak" $(PYTEST_ARGS)

test-agent: setup ## the agent alone, by Maven
	@$(BIN)/python tools/jars.py verify

test-netns: class-data ## network namespaces, nginx, nftables (root)
	$(PYTEST) -n 2 -m "netns and not soak" $(PYTEST_ARGS)

soak: class-data ## kills, full matrices, fuzz: SOAK_SECONDS and SEED bound and repeat a run
	$(PYTEST) -m "soak$(if $(filter-out 0,$(shell id -u)), and not netns)" --soak-seconds=$(SOAK_SECONDS) --seed=$(SEED) $(PYTEST_ARGS)

leak-matrix: class-data ## every client with every broker through the proxy; writes docs/reference/proxy-clients.md
	$(BIN)/python -m tests.leaks.matrix

bench: setup ## paired timings, as ratios
	$(BIN)/python -m bench

docs: setup $(DOCS)/.done ## the guides, concepts and reference as a site: build/site/index.html
	@rm -rf build/site
	PYTHONPATH=$(DOCS) $(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --conf-dir docs . build/site
	@echo "build/site/index.html"

$(DOCS)/.done: requirements/docs.lock | $(VENV)/.done
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --require-hashes --target $(DOCS) -r requirements/docs.lock
	@touch $@

wheel: setup ## dist/*.whl with the agent and the plug-in in it
	$(BIN)/uv build --quiet --python $(BIN)/python --no-build-isolation --out-dir dist .

release: setup ## dist/: what is published (source distribution, wheels, SHA-256 sums), its metadata checked
	@rm -rf dist
	@$(BIN)/python tools/release.py dist

clean: ## what the other targets made in this folder
	rm -rf $(VENV) dist build native/*/target src/brokernat/jvm/_native src/brokernat/clients/librdkafka/_native .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
