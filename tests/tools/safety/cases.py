"""Commands with what is known of them: dangerous or not, and whether they must never ask."""

import json
from pathlib import Path

_FILE = Path(__file__).parents[2] / "data" / "commands.jsonl"

COMMANDS = [json.loads(line) for line in _FILE.read_text("utf-8").splitlines()]
