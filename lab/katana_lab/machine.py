"""Where and when figures came about: without it they say nothing."""
from __future__ import annotations

import datetime
import os
import platform
import subprocess

import psutil

from katana_lab import ROOT, proc
from katana_lab.files import StrictModel


class Machine(StrictModel):
    """The machine, the commit and the moment of a run."""

    cpu: str
    cpus: int
    cpus_usable: int
    memory_gib: float
    kernel: str
    virtual: str
    commit: str
    date: str
    load_before: float
    python: str


def _git(*arguments: str) -> str:
    run = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    return run.stdout.strip() if run.returncode == 0 else ""


def cpu_model() -> str:
    """The model name of the CPU."""
    for line in proc.read("/proc/cpuinfo").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def virtualisation() -> str:
    """'container', 'virtual machine', or nothing."""
    if os.path.exists("/.dockerenv") or "container" in proc.read("/proc/1/environ"):
        return "container"
    return "virtual machine" if " hypervisor " in proc.read("/proc/cpuinfo").replace("\n", " ") else ""


def describe() -> Machine:
    """The machine as it is now."""
    commit = _git("rev-parse", "--short", "HEAD") or "unknown"
    return Machine(cpu=cpu_model(), cpus=os.cpu_count() or 1, cpus_usable=len(os.sched_getaffinity(0)),
                   memory_gib=round(psutil.virtual_memory().total / 2 ** 30, 1),
                   kernel=platform.release().split("-")[0], virtual=virtualisation(),
                   commit=commit + ("+changes" if _git("status", "--porcelain") else ""),
                   date=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                   load_before=round(os.getloadavg()[0], 2), python=platform.python_version())

# SPDX-License-Identifier: Apache-2.0
