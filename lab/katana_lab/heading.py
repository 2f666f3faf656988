"""The line over every table that a script of the laboratory writes: which command made it, when, and where.

Standard library only: the scripts beside this package run without its environment.
"""
from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

from katana_lab import ROOT, proc


def commit() -> str:
    """The short name of the checked-out commit; a dash where it is unknown."""
    run = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True,
                         check=False)
    return run.stdout.strip() or "–"


def made_by(script: str) -> str:
    """`script`, as it was called, and the machine: with more load than CPUs only counts and ratios mean something."""
    model = re.search(r"model name\s*: (.*)", proc.read("/proc/cpuinfo"))
    command = " ".join([script, *sys.argv[1:]])
    return (f"`{command}`, {time.strftime('%Y-%m-%d')}, commit {commit()}, Linux {platform.release().split('-')[0]},"
            f" {os.cpu_count()} CPUs ({model[1] if model else platform.machine()}),"
            f" load average {os.getloadavg()[0]:.1f}.")


def replace_between(path: Path, name: str, lines: list[str]) -> None:
    """Put lines between `<!-- name -->` and `<!-- /name -->` of a document; the rest stays as it is."""
    text = path.read_text(encoding="utf-8")
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(end) < text.index(begin):
        raise ValueError(f"{path} has no place for this table: {begin} and, behind it, {end}")
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    path.write_text(before + "\n".join([begin, *lines, end]) + after, encoding="utf-8")

# SPDX-License-Identifier: Apache-2.0
