"""The cost of a header for the compiler: processor seconds, memory and lines, beside another tree.

    lab/compile_cost.py [HEADER…] [--rounds 7] [--compiler g++-12] [--markdown FILE]
    lab/compile_cost.py --program hello.cpp --against TREE --against-program old_hello.cpp

The command compiles every header of katana/ alone, unless HEADER names others. --program compiles whole files in their
place. It shows which templates the users of a header instantiate. --against compiles the same headers in another tree,
in the same rounds. Files of --program in that tree are named by --against-program (default: the same files). A ratio is
that of the medians. Seconds are processor time: other work disturbs them less than elapsed time. Memory is the peak of
the compiler.
"""
from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

from katana_lab import ROOT, LabError, UsageError
from katana_lab.costs import harness
from katana_lab.heading import made_by

FLAGS = ("-std=c++23", "-O2", "-x", "c++")


class Subject:
    """A source in a tree, and what each compilation of it took."""

    def __init__(self, name: str, tree: Path, source: Path):
        self.name, self.tree, self.source = name, tree, source
        self.seconds: list[float] = []
        self.mebibytes: list[float] = []

    def command(self, compiler: str, *more: str) -> list[str]:
        return [compiler, *FLAGS, "-I", str(self.tree), *more, str(self.source)]

    def compile(self, compiler: str, folder: Path) -> None:
        """One compilation; its processor time and its peak are those of the compiler's processes."""
        with tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(self.command(compiler, "-c", "-o", str(folder / "object.o")), stderr=errors)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                errors.seek(0)
                raise LabError(f"{self.name} does not compile in {self.tree}: {errors.readline().strip()}")
        self.seconds.append(usage.ru_utime + usage.ru_stime)
        self.mebibytes.append(usage.ru_maxrss / 1024)

    def lines(self, compiler: str) -> int:
        """Lines that are left without comments, blank lines and lines that the preprocessor skips."""
        output = subprocess.run(self.command(compiler, "-E", "-P"), capture_output=True, text=True, check=True).stdout
        return sum(1 for line in output.splitlines() if line.strip())


def subjects_of(headers: list[str], programs: list[Path], tree: Path, folder: Path, names: list[str]) -> list[Subject]:
    made = []
    for name in headers:
        source = folder / f"{len(made)}.cpp"
        source.write_text(f'#include "{name}"\n')
        made.append(Subject(name, tree, source))
    return made + [Subject(name, tree, program.resolve()) for name, program in zip(names, programs)]


def table(subjects: list[Subject], others: list[Subject | None], compiler: str) -> list[str]:
    ratio = any(others)
    lines = [f"| source | seconds | MiB | lines |{' seconds there | MiB there | ratio of seconds |' if ratio else ''}",
             f"|---|---|---|---|{'---|---|---|' if ratio else ''}"]
    for subject, other in zip(subjects, others):
        seconds, mebibytes = statistics.median(subject.seconds), statistics.median(subject.mebibytes)
        row = f"| `{subject.name}` | {seconds:.2f} | {mebibytes:.0f} | {subject.lines(compiler):,} |"
        if other:
            before = statistics.median(other.seconds)
            row += f" {before:.2f} | {statistics.median(other.mebibytes):.0f} | {seconds / before:.2f} |"
        elif ratio:
            row += " | | |"
        lines.append(row)
    return lines


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headers", nargs="*", metavar="HEADER")
    parser.add_argument("--rounds", type=harness.at_least_one(int), default=7, help="default 7")
    parser.add_argument("--compiler", default="g++-12", help="default g++-12")
    parser.add_argument("--program", type=Path, action="append", default=[], metavar="FILE")
    parser.add_argument("--against", type=Path, metavar="TREE")
    parser.add_argument("--against-program", type=Path, action="append", default=[], metavar="FILE")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table there, too")
    given = parser.parse_args()
    if given.against_program and (not given.against or len(given.against_program) != len(given.program)):
        raise UsageError("--against-program needs --against, and is given once for each --program")
    for path in (*given.program, *given.against_program, *filter(None, [given.against])):
        if not path.exists():
            raise UsageError(f"{path} is missing")
    return given


def main() -> int:
    given = read_arguments()
    users = sorted(f"katana/{path.name}" for path in ROOT.glob("katana/*.hpp"))
    headers = given.headers or ([] if given.program else users)
    names = [path.name for path in given.program]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subjects = subjects_of(headers, given.program, ROOT, folder, names)
        others: list[Subject | None] = [None] * len(subjects)
        if given.against:
            there = given.against.resolve()
            others = list(subjects_of(headers, given.against_program or given.program, there, folder, names))
            # Headers that the other tree does not have are measured here alone.
            others = [other if other.source.parent != folder or (there / other.name).exists() else None
                      for other in others]
        for _ in range(given.rounds):
            for subject in (*subjects, *filter(None, others)):
                subject.compile(given.compiler, folder)
        lines = table(subjects, others, given.compiler)
    print("\n".join(lines))
    if given.markdown:
        heading = ["# What headers cost the compiler", "", made_by("lab/compile_cost.py"), ""]
        given.markdown.write_text("\n".join([*heading, *lines]) + "\n")
    return 0

# SPDX-License-Identifier: Apache-2.0
