"""Compare two benchmark results: Google Benchmark's JSON, or katana-lab's results.json.

    scripts/compare_benchmarks.py --baseline A.json --current B.json [--threshold 1.05] [--metric real_time] [--all]

Exit status: 0 no regression, 1 a figure got worse and its whole interval lies beyond the threshold, 2 wrong usage. A
worse figure is named, with both values and the interval. Baselines that the project keeps are in lab/baselines.
`katana-lab compare A B` is the same.
"""
from __future__ import annotations

import argparse
from pathlib import Path

from katana_lab import UsageError, compare


def add_flags(parser: argparse.ArgumentParser) -> None:
    """The flags of both commands."""
    parser.add_argument("--threshold", type=float, default=1.05, help="largest ratio that is not worse (1.05)")
    parser.add_argument("--metric", choices=compare.TIME_METRICS, default="real_time",
                        help="of Google Benchmark files (real_time)")
    parser.add_argument("--all", action="store_true", help="show what is equivalent or undecided, too")


def run(flags: argparse.Namespace) -> int:
    """Exit 1 only when an interval excludes the threshold."""
    if not 1 <= flags.threshold <= 10:
        raise UsageError(f"--threshold is {flags.threshold:g}, expected 1 to 10 (1.05: five percent)")
    found = compare.compare(compare.read_samples(flags.baseline, flags.metric),
                            compare.read_samples(flags.current, flags.metric), flags.threshold)
    print("\n".join(compare.lines(found, flags.all)))
    return 1 if found.regressions else 0


def main() -> int:
    """The exit status of the script."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--baseline", type=Path, required=True, metavar="A")
    parser.add_argument("--current", type=Path, required=True, metavar="B")
    add_flags(parser)
    return run(parser.parse_args())

# SPDX-License-Identifier: Apache-2.0
