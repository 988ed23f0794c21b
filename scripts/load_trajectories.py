"""Makes a file of trajectories with hostile words in it and loads it with Hugging Face's `datasets`, offline.

    python scripts/load_trajectories.py [MEGABYTES]

`datasets` must be installed where this runs; it is no dependency of the project.
"""

import json
import logging
import os
import random
import sys
import tempfile
import time
from pathlib import Path

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}

from datasets import load_dataset

sys.path.insert(0, str(Path(__file__).parent.parent))

from hermes_acp.agent.sharegpt.checking import find_faults
from hermes_acp.agent.trajectory import save_trajectory, to_sharegpt

HOSTILE = [
    "\ud800", "\u2028", "\x00", "\r\n", "NaN", '{"a": NaN}', '{"deep": ' + "[" * 90 + "]" * 90 + "}", "</tool_call>\n",
    "<think>\n", "<REASONING_SCRATCHPAD>x</REASONING_SCRATCHPAD>", "2026-01-02", "[1, 2]", "1e999", "é😀", "\\", '"',
]  # fmt: skip
TOOLS = [{"type": "function", "function": {"name": "terminal", "description": "Run", "parameters": {"type": "object"}}}]


def words(chance: random.Random) -> str:
    return " ".join(chance.choice([*HOSTILE, "plain", "words", "and", "more"]) for _ in range(chance.randrange(400)))


def history(chance: random.Random) -> list[dict[str, object]]:
    messages: list[dict[str, object]] = [{"role": "user", "content": words(chance)}]
    for step in range(chance.randrange(6)):
        arguments = chance.choice([json.dumps({"command": words(chance), "n": step}), words(chance), '{"x": Infinity}'])
        calls = [{"id": f"c{step}", "type": "function", "function": {"name": "terminal", "arguments": arguments}}]
        messages.append(
            {"role": "assistant", "content": words(chance), "reasoning": words(chance), "tool_calls": calls}
        )
        content = chance.choice(
            [words(chance), {"v": float("nan")}, [{"type": "image_url", "image_url": {"url": "x"}}]]
        )
        messages.append({"role": "tool", "tool_call_id": f"c{step}", "content": content})
    return [*messages, {"role": "assistant", "content": words(chance)}]


def main(megabytes: float) -> int:
    logging.disable()
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trajectory_samples.jsonl"
        made, started = 0, time.perf_counter()
        while not path.exists() or path.stat().st_size < megabytes * 1_000_000:
            save_trajectory(to_sharegpt(history(chance), TOOLS), "m", True, path)
            made += 1
        written = time.perf_counter()
        with open(path, "rb") as file:
            faults = list(find_faults(file))
        checked = time.perf_counter()
        rows = load_dataset("json", data_files=str(path), split="train", cache_dir=folder)
        loaded = time.perf_counter()
        with open(path, encoding="utf-8", newline="\n") as file:
            same = all(
                json.loads(line)["conversations"] == row["conversations"] for line, row in zip(file, rows, strict=True)
            )
        size = path.stat().st_size / 1e6
    sys.stdout.write(
        f"{size:.1f} MB, {made} entries: written in {written - started:.1f} s, checked in {checked - written:.1f} s "
        f"({len(faults)} faults), loaded in {loaded - checked:.1f} s: "
        f"{len(rows)} rows, {'equal' if same else 'DIFFERENT'}\n"
        f"{rows.features}\n"
    )
    return 0 if same and not faults and len(rows) == made else 1


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if sys.argv[1:] else 20))
