"""Build two commits on this machine, run their end-to-end benchmarks in turns, and compare.

    scripts/compare_commits.py BEFORE [--rounds 5] [--threshold 1.25] [--filter REGEX] [--out DIR]
    scripts/compare_commits.py --baseline lab/baselines/e2e.json [--rounds 5] [--filter REGEX]

BEFORE is built in build/before (a git worktree), the present checkout in build/bench. Each round runs both in turn:
other work of the machine then disturbs both. The two results are written to DIR (build/compare), for
scripts/compare_benchmarks.py. With --baseline the present checkout is measured alone, on a machine that should be calm,
and kept in FILE. Exit status: 0 no regression (or BEFORE has no such benchmarks), 2 wrong usage. It is 1 when a figure
got worse and its whole interval lies beyond the threshold.
"""
from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from katana_lab import ROOT, LabError

PROGRAM = "e2e_benchmarks"
# The benchmarks that repeat best: no disk, no scheduler of several threads.
FILTER = "stage|Integration/(call|error|lookup/by_slot)|exposition|LoggedServer/(off|background)|GET_user$"


def run(*command, cwd=ROOT, **options):
    """Run a command that has to succeed; return its output, where `options` capture it."""
    try:
        return subprocess.run([str(part) for part in command], cwd=cwd, check=True, **options).stdout
    except subprocess.CalledProcessError as failed:
        raise LabError(f"`{' '.join(map(str, failed.cmd))}` failed") from None


def build(folder):
    """The program of a tree, or None where it has no such target."""
    run("cmake", "--preset", "bench", cwd=folder, stdout=subprocess.DEVNULL)
    # Not `--target help`, which leaves out what another target is made of.
    listed = run("ninja", "-C", "build/bench", "-t", "targets", "all", cwd=folder, text=True, capture_output=True)
    if f"\n{PROGRAM}: " not in listed:
        return None
    run("cmake", "--build", "--preset", "bench", "--target", PROGRAM, "--", "--quiet", cwd=folder)
    return folder / "build/bench" / PROGRAM


def check_out(commit, folder):
    """A worktree of the commit; one that is there already is moved to it."""
    if (folder / ".git").exists():
        run("git", "checkout", "--quiet", "--detach", commit, cwd=folder)
    else:
        run("git", "worktree", "add", "--quiet", "--detach", folder, commit)


def measure(program, pattern, out):
    """One round: Google Benchmark's JSON."""
    run(program, "--quick", f"--benchmark_filter={pattern}", f"--benchmark_out={out}", "--benchmark_out_format=json",
        stdout=subprocess.DEVNULL)
    return json.loads(out.read_text(encoding="utf-8"))


def joined(rounds):
    """The rounds as one file: each is one more repetition of every benchmark."""
    return {"context": rounds[0]["context"], "benchmarks": [one for each in rounds for one in each["benchmarks"]]}


def measure_in_turns(programs, flags):
    """The rounds of each program, joined: A B A B. Other work of the machine then disturbs both."""
    rounds = {name: [] for name in programs}
    for number in range(flags.rounds):
        for name, program in programs.items():
            print(f"round {number + 1} of {flags.rounds}: {name}", flush=True)
            rounds[name].append(measure(program, flags.filter, flags.out / "round.json"))
    return {name: joined(found) for name, found in rounds.items()}


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", metavar="BEFORE", nargs="?", help="a commit")
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="compare nothing: measure, and write FILE")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threshold", type=float, default=1.25)
    parser.add_argument("--filter", default=FILTER, metavar="REGEX", help="which benchmarks")
    parser.add_argument("--out", type=Path, default=ROOT / "build/compare", metavar="DIR")
    flags = parser.parse_args()
    if flags.rounds < 2:
        parser.error(f"--rounds is {flags.rounds}: an interval needs at least 2")
    if (flags.before is None) == (flags.baseline is None):
        parser.error("wants a commit, or --baseline FILE")
    programs = {"after": build(ROOT)}
    if flags.before is not None:
        check_out(flags.before, ROOT / "build/before")
        programs = {"before": build(ROOT / "build/before"), **programs}
    if programs["after"] is None:
        raise LabError(f"{PROGRAM} is not built here: apt-get install libbenchmark-dev")
    if None in programs.values():
        print(f"compare_commits.py: {flags.before} has no {PROGRAM}: nothing to compare")
        return 0
    flags.out.mkdir(parents=True, exist_ok=True)
    results = measure_in_turns(programs, flags)
    if flags.baseline is not None:
        flags.baseline.write_text(json.dumps(results["after"], indent=1) + "\n", encoding="utf-8")
        print(f"wrote {flags.baseline}")
        return 0
    for name, result in results.items():
        (flags.out / f"{name}.json").write_text(json.dumps(result), encoding="utf-8")
    compare = [sys.executable, ROOT / "scripts/compare_benchmarks.py", "--baseline", flags.out / "before.json",
               "--current", flags.out / "after.json", "--threshold", str(flags.threshold)]
    return subprocess.run([str(part) for part in compare], check=False).returncode

# SPDX-License-Identifier: Apache-2.0
