"""Measurements and tables of all contests: loads after a warm-up, rounds that may fail, and the cells of a row."""
from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from katana_lab import LabError
from katana_lab.contest.servers import Server
from katana_lab.costs import harness
from katana_lab.drivers import Drive, Job
from katana_lab.heading import made_by

SATURATED, IDLE_SERVER = 0.90, 0.90
# The figures of a round for a server that did not start, or answered nothing.
FAILED = {"us": None, "rate": 0.0, "errors": 1, "other": 0.0, "server": 0.0, "generator": 0.0}


def loaded(pid: int, driver: str, job: Job) -> tuple[dict, Drive]:
    """harness.measure_load with mean, p99 and `generator`: the share of CPU 1 that the generator used or waited for. If
    the generator does not report it, `generator` is the busy share of CPU 1.
    """
    figures, done = harness.measure_load(pid, driver, job)
    own = done.told.get("generator")
    latency = done.told.get("latency_us", {})
    return {**figures, "p99_us": latency.get("p99"), "mean_us": latency.get("mean"),
            "generator": own["cpu_share"] + own["wait_share"] if own else figures["client"]}, done


def spared(measure: Callable[[str], dict], where: str, failed: list[str], nothing: dict | None = None
           ) -> Callable[[str], dict]:
    """`measure`, where a server that fails in a round has nothing in it: the others' hours are not lost."""
    def one(name: str) -> dict:
        try:
            return measure(name)
        except (LabError, OSError) as error:
            failed.append(f"{name}{where}: {error}")
            print(f"\n{failed[-1]}", file=sys.stderr)
            return dict(FAILED if nothing is None else nothing)
    return one


# ---- tables --------------------------------------------------------------------------------------

def is_bounded(figures: Sequence[dict]) -> bool:
    """The generator was the limit in most rounds."""
    limits = [one["generator"] > SATURATED and one["server"] < IDLE_SERVER for one in figures]
    return sum(limits) * 2 > len(limits)


def rate_cell(calm: Sequence[dict]) -> str:
    """Requests/s, marked where it is a lower bound."""
    return ("≥ " if is_bounded(calm) else "") + harness.median(calm, "rate", ",.0f")


def mib_cells(found: Sequence[dict], *sizes: str) -> tuple[str, ...]:
    """Sizes of KiB."""
    return tuple(harness.median(found, size, ".1f", 1 / 1024) for size in sizes)


def last_cells(rounds: harness.Rounds, name: str) -> tuple[str, str, str]:
    """Shares of both CPUs, and errors of all rounds."""
    calm = harness.calm(rounds, name)
    return (f"{harness.median(calm, 'server', '.0f', 100)} %", f"{harness.median(calm, 'generator', '.0f', 100)} %",
            str(sum(one[name]["errors"] for one in rounds)))


def heading(title: str, script: str, first: str = "", servers: Sequence[Server] = ()) -> list[str]:
    """The first lines of a report: what made it, its own sentence, and what its servers are made of."""
    lines = [f"# {title}", "", made_by(script), "", *([first, ""] if first else [])]
    if servers:
        lines += harness.markdown(("server", "language", "made of"),
                                  [(server.name, server.language, server.about) for server in servers]) + [""]
    return lines

# SPDX-License-Identifier: Apache-2.0
