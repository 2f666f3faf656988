"""Runs the micro-benchmark programs of a build, prints a Markdown table for each, and writes one JSON file.

It builds nothing: `make micro` does, and then calls this. Every program runs its subjects interleaved, in rounds, in
one process, and checks that each did its work. Wall time decides nothing: a missed target is only reported. The exit
status is 1 when a program failed or its result breaks the contract; 2 on wrong usage.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from katana_lab import ROOT, UsageError, machine
from katana_lab.files import write_whole

ROW = {"question": str, "subject": str, "value": float, "low": float, "high": float, "unit": str, "better": str}
TARGET = {"text": str, "value": float, "limit": float, "direction": str, "met": bool}


class BadResult(Exception):
    """The result of a program breaks the contract."""


def check_member(where, item, name, kind):
    value = item.get(name)
    good = isinstance(value, (int, float)) and not isinstance(value, bool) if kind is float else isinstance(value, kind)
    if not good:
        raise BadResult(f"{where}: '{name}' is {value!r}, expected {'a number' if kind is float else kind.__name__}")
    if kind is float and not math.isfinite(value):
        raise BadResult(f"{where}: '{name}' is {value!r}, expected a finite number")


def check_result(result, system):
    """Raise BadResult unless `result` is what micro_SYSTEM --json has to write."""
    if not isinstance(result, dict) or result.get("system") != system:
        raise BadResult(f"expected an object whose 'system' is '{system}'")
    for list_name, members in (("rows", ROW), ("targets", TARGET)):
        items = result.get(list_name)
        if not isinstance(items, list):
            raise BadResult(f"'{list_name}' is no list")
        for number, item in enumerate(items):
            if not isinstance(item, dict):
                raise BadResult(f"{list_name}[{number}] is no object")
            for name, kind in members.items():
                check_member(f"{list_name}[{number}]", item, name, kind)
    if not result["rows"]:
        raise BadResult("'rows' is empty: nothing was measured")
    for number, row in enumerate(result["rows"]):
        check_row(f"rows[{number}]", row)
    for number, target in enumerate(result["targets"]):
        check_target(f"targets[{number}]", target)


def check_row(where, row):
    if not row["low"] <= row["value"] <= row["high"]:
        raise BadResult(f"{where}: {row['low']} <= {row['value']} <= {row['high']} does not hold")
    if row["better"] not in ("lower", "higher"):
        raise BadResult(f"{where}: 'better' is {row['better']!r}, expected 'lower' or 'higher'")
    if row.get("instructions") is not None:
        check_member(where, row, "instructions", float)


def check_target(where, target):
    if target["direction"] not in ("at most", "at least"):
        raise BadResult(f"{where}: 'direction' is {target['direction']!r}, expected 'at most' or 'at least'")
    below = target["value"] <= target["limit"]
    above = target["value"] >= target["limit"]
    if target["met"] != (below if target["direction"] == "at most" else above):
        raise BadResult(f"{where}: 'met' is {target['met']}, but the figures say otherwise")


def figure(value):
    """Three significant digits, without an exponent."""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{round(value, 2 - math.floor(math.log10(abs(value)))):,.{digits}f}"


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def table(result):
    """The Markdown of one system: its rows, the best of each question in bold, and its targets."""
    best = {}
    for row in result["rows"]:
        pick = min if row["better"] == "lower" else max
        best[row["question"]] = pick(best.get(row["question"], row["value"]), row["value"])
    lines = [f"## {result['system']}", "",
             "| question | subject | median | low to high | unit | instructions |", "|---|---|---:|---:|---|---:|"]
    asked = None
    for row in result["rows"]:
        value = figure(row["value"])
        value = f"**{value}**" if row["value"] == best[row["question"]] else value
        counted = row.get("instructions")
        question = cell(row["question"]) if row["question"] != asked else ""
        lines.append(f"| {question} | {cell(row['subject'])} | {value} "
                     f"| {figure(row['low'])} to {figure(row['high'])} | {cell(row['unit'])} "
                     f"| {figure(counted) if counted is not None else 'n/a'} |")
        asked = row["question"]
    if result["targets"]:
        lines += ["", "| target | measured | limit | |", "|---|---:|---:|---|"]
        for target in result["targets"]:
            lines.append(f"| {cell(target['text'])} | {figure(target['value'])} | {target['direction']} "
                         f"{figure(target['limit'])} | {'met' if target['met'] else '**missed**'} |")
    return "\n".join(lines) + "\n"


def find_programs(build, systems):
    """The programs of a build by system, those named or all. Exits when one is missing."""
    found = {path.name.removeprefix("micro_"): path for path in sorted(build.glob("micro_*"))
             if path.is_file() and os.access(path, os.X_OK)}
    missing = [system for system in systems if system not in found]
    if missing or not found:
        have = f"there are: {', '.join(found)}" if found else "there is none"
        raise UsageError(f"no program micro_{missing[0] if missing else '*'} in {build}: {have}. "
                         "Build them: cmake --preset bench && cmake --build --preset bench "
                         "--target katana_micro_programs")
    return {system: found[system] for system in systems or found}


def run_program(system, program, arguments):
    """The result of the program; raises BadResult when it failed."""
    with tempfile.TemporaryDirectory(prefix="micro-") as folder:
        path = Path(folder) / "result.json"
        run = subprocess.run([str(program), *arguments, "--json", str(path)], stdout=subprocess.DEVNULL, check=False)
        if run.returncode != 0:
            raise BadResult(f"exit status {run.returncode}; its reason stands above")
        try:
            result = json.loads(path.read_text())
        except (OSError, ValueError) as error:
            raise BadResult(f"its JSON cannot be read: {error}") from error
    check_result(result, system)
    return result


def describe_machine():
    """Where and when: a figure without them says nothing."""
    here = machine.describe()
    return {"cpu": here.cpu, "cpus": here.cpus_usable, "kernel": here.kernel, "commit": here.commit, "date": here.date,
            "load": list(os.getloadavg())}


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(prog="lab/micro/run.py", description=__doc__, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("systems", metavar="SYSTEM", nargs="*", help="log, metrics, …; default: all that are built")
    parser.add_argument("--quick", action="store_true", help="two rounds of less work")
    parser.add_argument("--only", metavar="SUBSTRING", default="", help="the questions that contain it")
    parser.add_argument("--build", type=Path, default=ROOT / "build/bench", help="where the programs are")
    parser.add_argument("--out", type=Path, default=ROOT / "lab/results/micro.json", help="the JSON file to write")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="the same tables, as a document")
    flags = parser.parse_args()
    programs = find_programs(flags.build, flags.systems)
    passed = ["--quick"] * flags.quick + (["--only", flags.only] if flags.only else [])
    here, results, failed = describe_machine(), [], []
    where = (f"{here['cpu']}, {here['cpus']} CPUs, Linux {here['kernel']}, commit {here['commit']}, "
             f"{here['date']}, load {here['load'][0]:.2f}")
    print(f"{where}\n")
    for system, program in programs.items():
        try:
            results.append(run_program(system, program, passed))
            print(table(results[-1]), flush=True)
        except BadResult as error:
            failed.append(system)
            print(f"micro: {program.name}: {error}", file=sys.stderr)
    command = " ".join(["lab/micro/run.py", *sys.argv[1:]])
    write_whole(flags.out, json.dumps({"machine": here, "command": command, "systems": results,
                                       "failed": failed}, indent=1) + "\n")
    if flags.markdown:
        write_whole(flags.markdown, "\n".join([f"# Components beside their rivals\n\n`{command}`: {where}\n",
                                               *map(table, results)]))
    return 1 if failed else 0

# SPDX-License-Identifier: Apache-2.0
