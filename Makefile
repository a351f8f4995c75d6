# agentlab: what a person or CI types. `make` alone lists it.
# Every target that needs the environment makes it first; that costs nothing the second time.

# Which interpreter makes .venv: the newest one found (3.11 or later), or make lab PYTHON=/path/to/python
export PYTHON

BIN := .venv/bin
STAGE := .ci/stage
NOTEBOOKS := notebooks exercises solutions

.PHONY: help lab test check format lessons screenshots clean

help: ## list these targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

lab: ## install what the lessons need and open them in JupyterLab
	@.ci/install lab
	@$(BIN)/agentlab lab

test: check ## run everything that CI runs
	@$(STAGE) "lessons: the built notebooks match their sources" $(BIN)/python -m agentlab.course.build --check
	@$(STAGE) "notebooks: every stored output comes out again" \
		$(BIN)/pytest -n 2 --dist loadscope --nbval --nbval-sanitize-with tests/lessons/nbval_sanitize.cfg \
		--nbval-cell-timeout 60 $(NOTEBOOKS)
	@$(STAGE) "tests: units, laws, exercise proofs, papermill, browser" $(BIN)/pytest -n 2 tests

check: ## lint, format, types and layers: the quick part of make test
	@.ci/install dev
	@$(STAGE) "lint" $(BIN)/ruff check
	@$(STAGE) "format" $(BIN)/ruff format --check
	@$(STAGE) "types" $(BIN)/mypy
	@$(STAGE) "layers: imports go only downwards" $(BIN)/lint-imports

format: ## put the code into the one format, and mend what ruff can mend
	@.ci/install dev
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

lessons: ## build notebooks/, exercises/ and solutions/ from lessons/
	@.ci/install lab
	@$(BIN)/python -m agentlab.course.build

screenshots: ## write a picture of each lesson, light and dark, into screenshots/
	@.ci/install dev
	@$(BIN)/python tests/browser/screenshots.py

clean: ## remove .venv and every cache; the next make starts afresh
	@rm -rf .venv build dist screenshots .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find agentlab tests -name __pycache__ -type d -prune -exec rm -rf {} +
