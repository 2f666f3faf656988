"""The shared code of every cost command: flags, a fresh server on CPU 0, a load on CPU 1, rounds in turn, ratios,
tables.
`measure_load` gives the figures of one server in one round. `us` is its CPU time for each request. `server`, `client`
and `other` are shares of CPU 0 and CPU 1 (proc.Spent). A round runs every server once (A B C A B C …): other work of
the machine then disturbs all of them. A ratio is that of one round.
machine then disturbs all of them. A ratio is that of one round.
"""
from __future__ import annotations

import argparse
import contextlib
import dataclasses
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from katana_lab import ROOT, LabError, perf, proc
from katana_lab.drivers import Drive, Job, drive

SERVER_CPU, CLIENT_CPU = 0, 1
OTHER_SHARE_MAX = 0.08
CALLS = perf.CALLS_EVENT
Rounds = list[dict[str, dict]]


def parser(doc: str, rounds: int, seconds: float | None = None, connections: int | None = None,
           files: Sequence[str] = ("json", "markdown")) -> argparse.ArgumentParser:
    """The flags that commands share, with their defaults; None: it has no such flag."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--rounds", type=at_least_one(int), default=rounds or None,
                      help=f"default {rounds}" if rounds else None)
    if seconds is not None:
        made.add_argument("--seconds", type=at_least_one(type(seconds)), default=seconds,
                          help=f"of each load{f'; default {seconds:g}' if seconds else ''}")
    if connections is not None:
        made.add_argument("--connections", type=at_least_one(int), default=connections, help=f"default {connections}")
    made.add_argument("--build", type=Path, default=ROOT / "build/bench", help="where the built programs are")
    if "json" in files:
        made.add_argument("--json", type=Path, metavar="FILE", help="write every round's results")
    if "markdown" in files:
        made.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables there, too")
    return made


def at_least_one(kind: type) -> Callable[[str], float]:
    """A number above 0: of int at least 1."""
    def read(text: str) -> float:
        value = kind(text)
        if value <= 0:
            raise argparse.ArgumentTypeError(f"{text} must be {'at least 1' if kind is int else 'above 0'}")
        return value
    read.__name__ = kind.__name__
    return read


def known(parser_: argparse.ArgumentParser, kind: str, given: str, names: Sequence[str]) -> list[str]:
    """The names of a list such as a,b, each of them known."""
    found = [name for name in given.split(",") if name]
    for name in found:
        if name not in names:
            parser_.error(f"unknown {kind} {name!r}; known: {', '.join(names)}")
    return found


@functools.cache
def engines(build: Path) -> tuple[str, ...]:
    """The names of the engines of this build's server, or of another build's where this one is not there yet."""
    for folder in (build, Path(os.environ.get("KATANA_BUILD", ROOT / "build" / "release"))):
        program = folder / "hello_world_server"
        if not program.exists():
            continue
        listed = subprocess.run([program, "--list-engines"], capture_output=True, text=True, timeout=20, check=False)
        if listed.returncode == 0:
            return tuple(line.split()[0] for line in listed.stdout.splitlines())
    raise LabError(f"{build} has no hello_world_server that knows --list-engines: cmake --preset bench && cmake --build"
                   " --preset bench --target hello_world_server (--build names another directory)")


def numbers(text: str) -> list[int]:
    """The numbers of a list such as 64,1000."""
    return [int(number) for number in text.split(",")]


# ---- servers and loads ---------------------------------------------------------------------------

@dataclasses.dataclass
class Running:
    """A server that answers; `said`: its output, once it is gone."""

    pid: int
    port: int
    work: Path
    said: str = ""


@contextlib.contextmanager
def serving(name: str, command: Callable[[int, Path], list[str]], ports: Iterator[int],
            ready: Callable[[int, subprocess.Popen, Path], None] | str = "/plaintext",
            prefix: Sequence[str] = (), patience_s: float = 5.0) -> Iterator[Running]:
    """A fresh server on its CPU, in a separate folder; gone afterwards. `ready` is a path that is asked until it
    answers 200, or a function that waits.
    """
    with tempfile.TemporaryDirectory(prefix="katana-cost-") as made:
        work, port = Path(made), next(ports)
        work.chmod(0o755)                                        # the workers of a rival may be another user
        process = proc.start(command(port, work), [SERVER_CPU], work / "said", prefix)
        running = Running(process.pid, port, work)
        try:
            if callable(ready):
                ready(port, process, work / "said")
            else:
                proc.wait_until_up(name, port, ready, process, log=work / "said")
            yield running
        finally:
            proc.stop(process, patience_s)
            running.said = proc.read(work / "said")


def own_server(build: Path, engine: str = "epoll-edge", *flags: str) -> Callable[[int, Path], list[str]]:
    """hello_world_server with one reactor, for `serving`."""
    program = proc.built("hello_world_server", build)
    return lambda port, work: [program, "--port", str(port), "--threads", "1", "--engine", engine, *flags]


@contextlib.contextmanager
def spending(pid: int) -> Iterator[list[proc.Spent]]:
    """The resources that a server spends in the block, as the one member of the list afterwards."""
    found: list[proc.Spent] = []
    first = proc.sample(pid, [SERVER_CPU], [CLIENT_CPU])
    yield found
    found.append(proc.Spent(first, proc.sample(pid, [SERVER_CPU], [CLIENT_CPU])))


def measure_load(pid: int, driver: str, job: Job, prefix: Sequence[str] = ()) -> tuple[dict, Drive]:
    """Run a load once, undisturbed; return the figures of the server, and the report of the load."""
    with spending(pid) as found:
        done = drive(driver, job, [CLIENT_CPU], prefix)
    spent = found[0]
    return {"requests": done.requests, "rate": done.rate_per_s, "errors": done.errors,
            "us": 1e6 * spent.cpu_s / max(done.requests, 1), "server": spent.server, "client": spent.generator,
            "other": spent.others, "rss_kib": spent.rss_kib, "cpu_s": spent.cpu_s,
            "switches_per_s": sum(spent.switches) / spent.elapsed_s}, done


def count_events(pid: int, driver: str, job: Job, events: Sequence[str], folder: Path) -> dict[str, float]:
    """Each event of the server for each request, from its own run, as counting slows it; what this machine does
    not count is left out.
    """
    with perf.EventCounter(pid, events, folder) as counter:
        done = drive(driver, job, [CLIENT_CPU])
    return {event: number / max(done.requests, 1) for event, number in counter.counts.items()}


def growth(pid: int, what: str, add: Callable[[int], None], count: int, first: int) -> float:
    """The KiB by which a size of the server grows for each object that `add` adds. Memory that the `first` objects
    allocate is shared by all and does not count.
    """
    add(first)
    time.sleep(0.2)
    before = proc.memory_kib(pid, what)
    add(count)
    time.sleep(0.2)
    return (proc.memory_kib(pid, what) - before) / count


def in_rounds(count: int, names: Sequence[str], measure: Callable[[str], dict], title: str) -> Rounds:
    """One {name: figures} for each round, the names in turn."""
    rounds: Rounds = []
    for number in range(count):
        rounds.append({})
        for name in names:
            print(f"\r{title}: round {number + 1}/{count} {name:<20}", end="", file=sys.stderr, flush=True)
            rounds[-1][name] = measure(name)
    print(file=sys.stderr)
    return rounds


# ---- figures and tables --------------------------------------------------------------------------

def ratios(rounds: Rounds, name: str, base: str, figure: str = "us") -> list[float]:
    """name / base in each round that has both."""
    return [one[name][figure] / one[base][figure] for one in rounds if one[name].get(figure) and one[base].get(figure)]


def spread(values: Sequence[float], digits: int = 2, nothing: str = "n/a") -> str:
    """'1.10 (1.05–1.20)': median, smallest and largest."""
    if not values:
        return nothing
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}–{max(values):.{digits}f})"


def calm(rounds: Rounds, name: str) -> list[dict]:
    """The figures of the rounds in which other programs took little of the server's CPU; of all where there is none."""
    results = [one[name] for one in rounds]
    return [one for one in results if one["other"] <= OTHER_SHARE_MAX] or results


def median(results: Sequence[dict], figure: str, form: str = ".2f", scale: float = 1.0) -> str:
    """The median of a figure as text; n/a where it was not counted."""
    values = [scale * one[figure] for one in results if one.get(figure) is not None]
    return format(statistics.median(values), form) if values else "n/a"


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]], align: str = "---") -> list[str]:
    """A table."""
    return [f"| {' | '.join(columns)} |", f"|{f'{align}|' * len(columns)}", *(f"| {' | '.join(row)} |" for row in rows)]


def write(options: argparse.Namespace, lines: Sequence[str], results: object) -> None:
    """Put the tables and the results where the flags say."""
    if getattr(options, "json", None):
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if getattr(options, "markdown", None):
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")


def need(*names: str) -> None:
    """LabError now, not in the middle of the run, when a program is missing."""
    for name in ("taskset", "prlimit", *names):
        proc.tool(name)


def ready_line(port: int, process: subprocess.Popen, log: Path) -> None:
    """Wait for the line `… listening on …` of a server that speaks no HTTP."""
    if not proc.wait_for(lambda: "listening on" in proc.read(log) or process.poll() is not None, 10) \
            or process.poll() is not None:
        said = proc.read(log).strip().splitlines()
        raise LabError(f"the server on port {port} did not start: {said[-1] if said else 'it said nothing'}")

# SPDX-License-Identifier: Apache-2.0
