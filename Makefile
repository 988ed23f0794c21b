# Everything runs in .venv, which is made from pyproject.toml and constraints.txt when it is missing.
# Programs of the .venv are started with "python -m": their scripts break in a path with spaces.
PYTHON_OF_VENV = .venv/bin/python
# Compiled modules are kept though the shell may forbid it: else every agent that a test starts compiles itself anew.
PYTEST = PYTHONDONTWRITEBYTECODE= $(PYTHON_OF_VENV) -m pytest
INSTALL = PIP_USER=0 $(PYTHON_OF_VENV) -m pip install -q --disable-pip-version-check --use-pep517 -c constraints.txt

.PHONY: check test demo bench soak fuzz lint constraints clean vscode vscode-browser code-server vscode-journey vscode-package

# Lint, types, layers and the fast tests, with a few examples of each property.
check: lint
	$(PYTEST) -m "not slow" -n 2 -p no:pytest-lsp

# Everything: the slow tests, and all examples of each property.
test: check tests/clients/node_modules/.installed
	$(PYTEST) -m "slow or hypothesis" -n 2

# Watch the agent repair a small project, without any model.
demo: .venv/runtime
	@$(PYTHON_OF_VENV) -m hermes_acp demo $(ARGS)

# Measure the agent beside a minimal one; docs/benchmarks.md says what and how. Wants a quiet machine.
bench: .venv/development
	@$(PYTHON_OF_VENV) -m bench $(ARGS)

# The three clients of others, a hundred times each, without a failure.
ROUNDS = 100
soak: tests/clients/node_modules/.installed
	@mkdir -p build
	@for round in $$(seq $(ROUNDS)); do \
	  $(PYTEST) -m slow tests/clients >build/soak.log 2>&1 || { cat build/soak.log; exit 1; }; \
	  echo "round $$round of $(ROUNDS): $$(tail -n 1 build/soak.log)"; done

# The fuzz tests at length: so many examples of each property.
EXAMPLES = 2000
fuzz: .venv/development
	HERMES_FUZZ_EXAMPLES=$(EXAMPLES) $(PYTEST) -m slow tests/fuzz tests/tools/safety --timeout 0 -x

# The extension for VS Code: types, lint, its own tests and those with the real agent.
VSCODE = editors/vscode-client
NPM_OF_VSCODE = $(PYTHON_OF_VENV) scripts/npm.py $(VSCODE)
vscode: $(VSCODE)/node_modules/.installed
	$(NPM_OF_VSCODE) run --silent check

# The page of the extension in Chromium, and the extension in a real VS Code (code-server), which is built once.
vscode-browser: $(VSCODE)/node_modules/.installed
	$(NPM_OF_VSCODE) run --silent browser

code-server: .venv/development
	$(PYTHON_OF_VENV) scripts/code_server.py $(HERMES_CODE_SERVER)

vscode-journey: code-server $(VSCODE)/node_modules/.installed
	$(NPM_OF_VSCODE) run --silent journey

# The file that VS Code installs: editors/vscode-client/dist/hermes-acp.vsix.
vscode-package: $(VSCODE)/node_modules/.installed
	$(NPM_OF_VSCODE) run --silent package

lint: .venv/development
	$(PYTHON_OF_VENV) -m ruff check .
	$(PYTHON_OF_VENV) -m ruff format --check .
	$(PYTHON_OF_VENV) -m mypy
	$(PYTHON_OF_VENV) -c "from importlinter.cli import lint_imports_command as lint; lint()"

# Take the newest releases that pyproject.toml allows, and write them down.
constraints:
	rm -rf build/constraints
	python3 -m venv build/constraints
	build/constraints/bin/python -m pip install -q --upgrade setuptools hatchling editables
	build/constraints/bin/python -m pip install -q --no-build-isolation '.[dev]'
	{ echo "# Made by \`make constraints\`: the releases that the tests run with."; \
	  build/constraints/bin/python -m pip freeze --all | grep -vE '^(pip|hermes-acp-agent)( |==)'; } > constraints.txt

clean:
	rm -rf .venv build tests/clients/node_modules $(VSCODE)/node_modules $(VSCODE)/dist

.venv/runtime: pyproject.toml constraints.txt scripts/venv.sh
	@sh scripts/venv.sh
	@echo "Installing hermes-acp into .venv …"
	@$(INSTALL) setuptools hatchling editables
	@$(INSTALL) --no-build-isolation -e .
	@touch $@

.venv/development: .venv/runtime
	@echo "Installing the tools for checks and tests into .venv …"
	@$(INSTALL) --no-build-isolation -e '.[dev]'
	@touch $@

# The test of the npm client says so itself when this could not be installed.
tests/clients/node_modules/.installed: tests/clients/package-lock.json .venv/development
	@echo "Installing the npm client of the tests …"
	@$(PYTHON_OF_VENV) scripts/npm.py tests/clients ci --ignore-scripts --no-audit --no-fund --loglevel=error \
	  && touch $@ || echo "The npm client could not be installed (is there a network?): its test cannot run."

$(VSCODE)/node_modules/.installed: $(VSCODE)/package-lock.json .venv/development
	@echo "Installing what the extension is built with …"
	@$(NPM_OF_VSCODE) ci --ignore-scripts --no-audit --no-fund --loglevel=error && touch $@
