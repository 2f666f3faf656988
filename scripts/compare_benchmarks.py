#!/usr/bin/env python3
"""Compare two benchmark results: Google Benchmark's JSON, or katana-lab's results.json.

    scripts/compare_benchmarks.py --baseline A.json --current B.json [--threshold 1.05] [--metric real_time] [--all]

Exit status: 0 no regression, 1 a figure got worse and its whole interval lies beyond the threshold (it is named, with
both figures and the interval), 2 wrong usage. Baselines that the project keeps are in lab/baselines.
"""
import argparse
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / ".venv/bin/python"
if PYTHON.exists() and Path(sys.prefix).resolve() != (ROOT / ".venv").resolve():
    os.execv(PYTHON, [str(PYTHON), *sys.argv])        # numpy and scipy live there
sys.path.insert(0, str(ROOT / "lab"))


def main() -> int:
    """The exit status."""
    try:
        from katana_lab import LabError, UsageError, gate
    except ImportError as error:
        print(f"compare_benchmarks.py: {error}: run tools/setup", file=sys.stderr)
        return 1
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--baseline", type=Path, required=True, metavar="A")
    parser.add_argument("--current", type=Path, required=True, metavar="B")
    gate.add_flags(parser)
    try:
        return gate.run(parser.parse_args())
    except LabError as error:
        print(f"compare_benchmarks.py: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1


if __name__ == "__main__":
    sys.exit(main())
