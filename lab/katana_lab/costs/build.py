"""The cost of a build: CPU seconds and peak memory of each compiler and linker, by target and by source.

    lab/build_cost.py                                      # what `make run` builds
    lab/build_cost.py --preset asan --target katana_unit_tests
    lab/build_cost.py --project examples/bookmarks --prefix DIR -DCMAKE_BUILD_TYPE=Release
    lab/build_cost.py --headers                            # and which headers and templates clang 19 spends it for

Everything is compiled anew in an empty folder, without a compiler cache; a failed build is an error. CPU seconds are
user and system time of the compiler and its children. Other work of the machine changes them little (caches, clock
rate). The elapsed time is that of the whole build. --project builds another project, as a user would, with the KATANA
that was installed in --prefix. Arguments that begin with -D are passed to CMake.
"""
from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from katana_lab import ROOT, LabError, UsageError
from katana_lab.heading import made_by

LAUNCHER = Path(__file__).with_name("build_record.py")


@dataclasses.dataclass(frozen=True)
class Step:
    """A run of the compiler or the linker."""

    made: str
    source: str  # empty: it was linked
    seconds: float
    mebibytes: float

    @property
    def target(self) -> str:
        """The target of CMake that it is a part of."""
        folder = re.search(r"([^/]+)\.dir/", self.made)
        return folder[1] if folder else Path(self.made).name

    @property
    def name(self) -> str:
        """Short and the same in every folder: where it is made, without the folders of CMake."""
        return re.sub(r"(^|/)CMakeFiles/", r"\1", self.made).replace(".dir/", "/").removesuffix(".o") or "?"


def read_log(path: Path) -> list[Step]:
    """The steps of a log; of a step that was made twice, the last."""
    steps: dict[str, Step] = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        row = json.loads(line)
        steps[row["made"]] = Step(row["made"], row["source"], row["seconds"], row["mebibytes"])
    return list(steps.values())


def by_target(steps: list[Step], most: int) -> list[str]:
    """The table of targets, the dearest first; the rest is one row."""
    targets: dict[str, list[Step]] = collections.defaultdict(list)
    for step in steps:
        targets[step.target].append(step)
    rows = sorted(targets.items(), key=lambda row: -sum(step.seconds for step in row[1]))
    lines = ["| target | CPU seconds | runs of the compiler | peak MiB |", "|---|---|---|---|"]
    rest = [step for _, group in rows[most:] for step in group]
    for name, group in rows[:most] + ([(f"{len(rows) - most} more", rest)] if rest else []):
        code = f"`{name}`" if group is not rest else name
        lines.append(f"| {code} | {sum(step.seconds for step in group):.1f} |"
                     f" {sum(bool(step.source) for step in group)} | {max(step.mebibytes for step in group):.0f} |")
    return lines


def by_step(steps: list[Step], most: int) -> list[str]:
    """The table of the dearest runs."""
    lines = ["| run | CPU seconds | peak MiB |", "|---|---|---|"]
    return lines + [f"| `{step.name}` | {step.seconds:.1f} | {step.mebibytes:.0f} |"
                    for step in sorted(steps, key=lambda step: -step.seconds)[:most]]


def summary(steps: list[Step], clock: float) -> str:
    compiled = [step for step in steps if step.source]
    linked = sum(step.seconds for step in steps if not step.source)
    dearest = max(steps, key=lambda step: step.mebibytes)
    return (f"{sum(step.seconds for step in steps):.0f} CPU seconds, {clock:.0f} s on the clock: {len(compiled)} runs"
            f" of the compiler, {len(steps) - len(compiled)} of the linker with {linked:.0f} s;"
            f" at most {dearest.mebibytes:.0f} MiB, for `{dearest.name}`.")


class Times:
    """The times of several sources by clang's -ftime-trace: inclusive seconds, by header and by template."""

    def __init__(self) -> None:
        self.headers: collections.Counter[str] = collections.Counter()
        self.readers: collections.Counter[str] = collections.Counter()
        self.templates: collections.Counter[str] = collections.Counter()
        self.instances: collections.Counter[str] = collections.Counter()

    def add(self, trace: dict) -> None:
        """Add one source. Clang 19 writes the beginning of a header, and behind it the end, without its name."""
        begun: dict = {}
        for event in trace["traceEvents"]:
            seconds = event.get("dur", 0) / 1e6
            detail = event.get("args", {}).get("detail", "")
            if event["name"] == "Source" and event["ph"] == "b":
                begun = event
            elif event["name"] == "Source" and event["ph"] == "e":
                header = begun["args"]["detail"]
                self.headers[header] += (event["ts"] - begun["ts"]) / 1e6
                self.readers[header] += 1
            elif event["name"] in ("InstantiateFunction", "InstantiateClass"):
                template = detail.split("<")[0].split("(")[0]
                self.templates[template] += seconds
                self.instances[template] += 1

    def tables(self, most: int) -> list[str]:
        lines = ["| header, with all that it includes | seconds | sources |", "|---|---|---|"]
        for path, seconds in self.headers.most_common(most):
            name = re.sub(r"^(.*/include/(.*/)?c\+\+/\d+|.*/include|" + re.escape(str(ROOT)) + ")/", "", path)
            lines.append(f"| `{name}` | {seconds:.1f} | {self.readers[path]} |")
        lines += ["", "| template, with all that it instantiates | seconds | instances |", "|---|---|---|"]
        return lines + [f"| `{name}` | {seconds:.1f} | {self.instances[name]:,} |"
                        for name, seconds in self.templates.most_common(most)]


def header_times(folder: Path) -> Times:
    """Compiles each source of compile_commands.json once more, by clang, and reads where its time went."""
    times = Times()
    with tempfile.TemporaryDirectory() as name:
        made = Path(name) / "trace.o"
        for entry in json.loads((folder / "compile_commands.json").read_text()):
            words = shlex.split(entry["command"])
            begin = next(index for index, word in enumerate(words) if re.search(r"(\+\+|g?cc|clang)(-\d+)?$", word))
            # Without what only g++ knows, and the place of the object.
            kept = [word for word in words[begin + 1:] if word not in ("-Wno-restrict", "-Werror", "-c", "-o")]
            kept = [word for word in kept if not word.endswith(".o")]
            run = subprocess.run(["clang++-19", *kept, "-c", "-o", str(made), "-ftime-trace"], cwd=entry["directory"],
                                 capture_output=True, text=True, check=False)
            if run.returncode:
                raise LabError(f"clang++-19 does not compile {entry['file']}: {run.stderr.splitlines()[0]}")
            times.add(json.loads(made.with_suffix(".json").read_text()))
    return times


def configure(given: argparse.Namespace, log: Path) -> None:
    launcher = f"{sys.executable};{LAUNCHER};{log}"
    words = [f"-D{kind}_LAUNCHER={launcher}" for kind in
             ("CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER", "CMAKE_C_LINKER", "CMAKE_CXX_LINKER")]
    words += ["-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *given.definitions]
    if given.project:
        words += ["-S", str(given.project), "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={given.prefix}"]
    else:
        words += ["--preset", given.preset]
    run = subprocess.run(["cmake", "-B", str(given.folder), *words], cwd=ROOT, capture_output=True, text=True,
                         check=False)
    if run.returncode:
        raise LabError(f"CMake does not configure {given.project or given.preset}: {run.stderr.strip()}")


def build(folder: Path, targets: list[str]) -> float:
    """Builds; the seconds of the clock."""
    began = time.monotonic()
    chosen = ["--target", *targets] if targets else []
    run = subprocess.run(["cmake", "--build", str(folder), *chosen], capture_output=True, text=True, check=False)
    if run.returncode:
        raise LabError(f"the build failed in {folder}: {(run.stdout + run.stderr).strip()[-2000:]}")
    return time.monotonic() - began


def read_arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="run", help="of KATANA's CMakePresets.json; default run")
    parser.add_argument("--target", action="append", dest="targets", default=[],
                        help="default fullstack; all of a project")
    parser.add_argument("--project", type=Path, metavar="FOLDER", help="build another project")
    parser.add_argument("--prefix", type=Path, metavar="FOLDER", help="where KATANA is installed, for --project")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/build_cost", help="default build/build_cost")
    parser.add_argument("--headers", action="store_true", help="read clang's time traces, too")
    parser.add_argument("--most", type=int, default=20, help="rows of a table; default 20")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables there, too")
    given, given.definitions = parser.parse_known_args(arguments)
    if unknown := [word for word in given.definitions if not word.startswith("-D")]:
        parser.error(f"unknown argument '{unknown[0]}'; arguments of CMake begin with -D")
    if bool(given.project) != bool(given.prefix):
        raise UsageError("--project and --prefix are given together: a project uses the KATANA that is installed there")
    if given.project and not (given.project / "CMakeLists.txt").exists():
        raise UsageError(f"{given.project} has no CMakeLists.txt")
    given.targets = given.targets or ([] if given.project else ["fullstack"])
    given.project, given.prefix = (path and path.resolve() for path in (given.project, given.prefix))
    given.folder = given.folder.resolve()
    return given


def main() -> int:
    given = read_arguments(sys.argv[1:])
    shutil.rmtree(given.folder, ignore_errors=True)
    given.folder.mkdir(parents=True)
    log = given.folder / "steps.jsonl"
    configure(given, log)
    log.unlink(missing_ok=True)  # CMake tried the compiler
    clock = build(given.folder, given.targets)
    steps = read_log(log)
    if not steps:
        raise LabError(f"nothing was compiled in {given.folder}: its build has no launcher")
    lines = [summary(steps, clock), "", *by_target(steps, given.most), "", *by_step(steps, given.most)]
    if given.headers:
        lines += ["", *header_times(given.folder).tables(given.most)]
    print("\n".join(lines))
    if given.markdown:
        heading = ["# What a build costs", "", made_by("lab/build_cost.py"), ""]
        given.markdown.write_text("\n".join([*heading, *lines]) + "\n")
    return 0

# SPDX-License-Identifier: Apache-2.0
