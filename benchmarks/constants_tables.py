"""Store the results of `constants.py` as JSON Lines, compare them, and print them as tables."""

import json
import math
import shlex
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from constants_list import AREAS, MATCHES, Constant

INTERVAL_DEVIATIONS = 1.96  # standard errors in half the width of a 95 % confidence interval


class Results:
    """Results by source file, constant, measure and value; a later result replaces an earlier one."""

    def __init__(self, file: Path) -> None:
        self.file, self.results = file, dict[tuple[str, ...], dict[str, Any]]()
        for line in file.read_text("utf-8").splitlines() if file.exists() else ():
            entry = json.loads(line)
            self.results[entry["file"], entry["name"], entry["measure"], entry["value"]] = entry["result"]

    def find(self, constant: Constant, measure: str, value: str) -> dict[str, Any] | None:
        """Return the stored result for a value of a constant, or None if it was not measured."""
        return self.results.get((constant.file, constant.name, measure, value))

    def add(self, constant: Constant, measure: str, value: str, result: dict[str, Any]) -> None:
        """Store a result."""
        self.results[constant.file, constant.name, measure, value] = result
        entry = {"file": constant.file, "name": constant.name, "measure": measure, "value": value, "result": result}
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


def compute_interval(values: list[float]) -> float:
    """Return half the width of the 95 % confidence interval of a mean."""
    return INTERVAL_DEVIATIONS * stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf


def format_signed(number: float, digits: int = 2) -> str:
    """Format a number with its sign."""
    return f"{number:+.{digits}f}".replace("-", "−")


def format_percent(share: float) -> str:
    """Format a relative change, such as `+1.5 %`."""
    return f"{format_signed(100 * share, 1)} %"


def compare_searches(changed: dict[str, Any], present: dict[str, Any]) -> str:
    """Describe the change in nodes (as a geometric mean over positions, and in total), in seconds and in errors."""
    logs = [math.log(more / less) for more, less in zip(changed["nodes"], present["nodes"], strict=True)]
    nodes, total = math.exp(fmean(logs)) - 1, sum(changed["nodes"]) / sum(present["nodes"]) - 1
    seconds = sum(changed["seconds"]) / sum(present["seconds"]) - 1
    text = f"nodes {format_percent(nodes)} ± {100 * compute_interval(logs):.1f}, total {format_percent(total)}"
    text += f", time {format_percent(seconds)}"
    change = [
        error - before for error, before in zip(changed.get("errors", ()), present.get("errors", ()), strict=True)
    ]
    if any(change):
        text += f", error {format_signed(fmean(change))} ± {compute_interval(change):.2f}"
    return text + (f", {changed['wrong']} wrong" if changed.get("wrong") else "")


def compare_times(changed: dict[str, Any], present: dict[str, Any]) -> str:
    """Describe the changes in CPU time and elapsed time, as geometric means over positions."""
    text = []
    for name, kind in (("work", "seconds"), ("time", "passed")):
        logs = [math.log(more / less) for more, less in zip(changed[kind], present[kind], strict=True)]
        text.append(f"{name} {format_percent(math.exp(fmean(logs)) - 1)} ± {100 * compute_interval(logs):.1f}")
    return ", ".join(text)


def describe_match(result: dict[str, Any]) -> str:
    """Describe a match: the score in percent with its 95 % confidence interval, the mean margin, losses on time."""
    shares = [points / 2 for points in result["points"]]
    text = f"{100 * fmean(shares):.1f} % ± {100 * compute_interval(shares):.1f} of {2 * len(shares)} games"
    text += f", margin {format_signed(fmean(result['margins']) / 2)}"
    timeouts = result["flags"]
    return text + (f", lost on time {timeouts[0]} : {timeouts[1]}" if any(timeouts) else "")


def describe(results: Results, constant: Constant, measure: str, value: str, present: str) -> str:
    """Describe the effect of an alternative value on a measure; return an empty string if it was not measured."""
    changed, base = results.find(constant, measure, value), results.find(constant, measure, present)
    if changed is None or (base is None and measure not in MATCHES):
        return ""
    if measure in MATCHES:
        return describe_match(changed)
    assert base is not None
    return compare_times(changed, base) if measure.endswith("threads") else compare_searches(changed, base)


def describe_all(results: Results, constant: Constant, value: str, present: str) -> str:
    """Describe the effect of an alternative value on each measure of the constant."""
    effects = {measure: describe(results, constant, measure, value, present) for measure in constant.measures}
    descriptions = [f"{measure} {effect}" for measure, effect in effects.items() if effect]
    return f"`{value}`: {'; '.join(descriptions)}" if descriptions else ""


def print_tables(results: Results, present: dict[Constant, str]) -> None:
    """Print one table per area, with one row per constant."""
    for area, constants in AREAS.items():
        print(f"\n## {area}\n\n| constant | value | alternatives | result | command |\n|---|---|---|---|---|")
        for constant in (each for each in constants if each in present):
            descriptions = [
                describe_all(results, constant, value, present[constant]) for value in constant.alternatives
            ]
            name = f"`{constant.name}` in {Path(constant.file).name}"
            cells = (name, f"`{present[constant]}`", "<br>".join(filter(None, descriptions)), constant.summary)
            print(f"| {' | '.join(cells)} | `constants.py {shlex.quote(constant.name)}` |")
