"""The gate: two result files in, an exit status out. Behind `katana-lab compare` and scripts/compare_benchmarks.py."""
from __future__ import annotations

import argparse

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
