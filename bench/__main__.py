"""Measure the agent and the floor, print a table, and write `build/benchmarks.json`."""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.client import FLOOR, OURS, ROOT, Model
from bench.measures import OF_BOTH, OF_OURS, Figures, Measure
from hermes_acp.config import API_MODES

TARGETS: Mapping[str, float] = {
    "start to initialize, CPU ms": 30,
    "start to session/new, CPU ms": 350,
    "later turns, prompt to first chunk, ms": 10,
    "one more tool round, ms": 8,
    "20 tool rounds, CPU ms": 200,
    "10,000 deltas, CPU ms": 600,
    **{f"a delta in {mode}, socket to event, CPU µs": 40 for mode in API_MODES},
    **{f"10,000 deltas in {mode}, CPU ms": 600 for mode in API_MODES},
    "characters lost, editor slow or not": 0,
    "memory after session/new, MB": 50,
    "memory with a model in use, MB": 85,
    "each further session, MB": 1,
    "cancel, stalled model, ms": 10,
    "cancel, mid-stream, ms": 10,
    "cancel, running command, ms": 10,
    "its processes gone, ms": 50,
    "its processes gone that ignores TERM, ms": 500,
    "20 sessions at once, 1 s model, s": 1.15,
    "1,000 sessions, list, ms": 20,
    "1,000 sessions, load of 200 messages, ms": 100,
}
AT_LEAST: Mapping[str, float] = {"10,000 deltas, a second": 15_000}


LONGEST = 300
"""Seconds after which a measure has hung, and the run ends."""


def measured(measures: Sequence[Measure], command: list[str], names: list[str]) -> Figures:
    figures: Figures = {}
    for measure in measures:
        if not names or measure.__name__ in names:
            model = Model()
            signal.alarm(LONGEST)
            try:
                figures |= measure(model, command)
            finally:
                signal.alarm(0)
                model.close()
    return figures


def targets(ours: Figures) -> dict[str, str]:
    """The target of each figure, in words; those that depend on another figure of the run included."""
    found = {name: f"≤ {value:g}" for name, value in TARGETS.items()}
    found |= {name: f"≥ {value:,g}" for name, value in AT_LEAST.items()}
    if "import of the model SDK, CPU ms" in ours:
        allowed = ours["import of the model SDK, CPU ms"] + 50
        found["prompt right after session/new to first chunk, ms"] = f"≤ {allowed:.0f}"
    if "turns 2-50, CPU ms" in ours:
        early = ours["turns 2-50, CPU ms"]
        found["turns 150-200, CPU ms"] = f"≤ {max(early * 1.2, early + 2):.1f}"
    return found


def is_met(target: str, value: float) -> bool:
    limit = float(target[2:].replace(",", ""))
    return value >= limit if target.startswith("≥") else value <= limit


def table(ours: Figures, floor: Figures) -> str:
    wanted = targets(ours)
    rows = ["| what | hermes-acp | floor | ratio | target | |", "|---|---:|---:|---:|---:|---|"]
    for name, value in ours.items():
        base, target = floor.get(name), wanted.get(name, "")
        ratio = f"{value / base:.1f}" if base and round(base, 1) else ""
        verdict = "" if not target else "met" if is_met(target, value) else "**missed**"
        shown = "" if base is None else f"{base:,.1f}"
        rows.append(f"| {name} | {value:,.1f} | {shown} | {ratio} | {target} | {verdict} |")
    return "\n".join(rows)


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    names = [measure.__name__ for measure in (*OF_BOTH, *OF_OURS)]
    options.add_argument("measures", nargs="*", metavar="measure", help=f"of {', '.join(names)}; default: all")
    chosen = options.parse_args().measures
    if unknown := set(chosen) - set(names):
        options.error(f"no such measure: {', '.join(sorted(unknown))}")
    ours = measured((*OF_BOTH, *OF_OURS), OURS, chosen)
    floor = measured(OF_BOTH, FLOOR, chosen)
    sys.stdout.write(table(ours, floor) + "\n")
    load = os.getloadavg()[0]
    machine = {"python": platform.python_version(), "system": platform.system(), "cores": os.cpu_count(), "load": load}
    target = Path(ROOT / "build" / "benchmarks.json")
    target.parent.mkdir(exist_ok=True)
    result = {
        "machine": machine,
        "load": os.getloadavg()[0],
        "hermes-acp": ours,
        "floor": floor,
        "targets": targets(ours),
    }
    target.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"\nLoad {load:.1f} on {os.cpu_count()} cores. Written to {target}.\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
