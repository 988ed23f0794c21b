# Everything runs in .venv, made from pyproject.toml and constraints.txt.
.PHONY: check
check: .venv/installed
	.venv/bin/python -m ruff check .
	.venv/bin/python -m ruff format --check .
	.venv/bin/python -m mypy
	.venv/bin/python -c "from importlinter.cli import lint_imports_command as lint; lint()"
	.venv/bin/python -m pytest -m "not slow" -n 2

.venv/installed: pyproject.toml
	python3 -m venv .venv
	.venv/bin/python -m pip install -q -e '.[dev]'
	touch $@
