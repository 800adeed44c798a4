# Two commands matter: `make run` brings the product up, `make test` runs every test. Both set up what they need.
PYTHON ?= python3
BOOTSTRAP = $(PYTHON) -m chatapp.standalone.bootstrap
IN = .venv/bin

.PHONY: help run test check clean

help:
	@echo "make run    set up and start the whole product; Ctrl-C stops it"
	@echo "make test   set up and run every test; ARGS=... goes to pytest; ARGS=--no-engine leaves vLLM out"
	@echo "make check  the fast gate: format, lint, types, imports, migrations, unit tests"
	@echo "make clean  remove what was built; the data in data/ stays"

run:
	@$(BOOTSTRAP) run

test:
	@$(BOOTSTRAP) --dev
	@cd frontend && npm test --silent
	@command -v chromium >/dev/null || echo "No chromium: the browser tests are left out (apt-get install chromium)."
	@$(IN)/python -m chatapp.standalone test $(ARGS)

check:
	@$(BOOTSTRAP) --dev
	$(IN)/ruff format --check .
	$(IN)/ruff check .
	SECRET_KEY=check $(IN)/mypy
	$(IN)/lint-imports --no-logo
	$(IN)/pip check
	DEBUG=1 $(IN)/python -W ignore manage.py makemigrations --check --dry-run
	cd frontend && npm run --silent lint && npm run --silent typecheck && npm test --silent
	$(IN)/python -m pytest tests/unit tests/architecture -q

clean:
	rm -rf .venv .venv-engine frontend/node_modules frontend/dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
