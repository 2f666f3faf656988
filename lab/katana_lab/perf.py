"""perf and strace: what this machine permits them, counters of a server, its system calls by name, its stacks.

Standard library only. Fails: `Access.reasons` names kinds that the machine forbids; a report has n/a for them.
"""
from __future__ import annotations

import collections
import dataclasses
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from katana_lab import proc

HARDWARE_EVENTS = ("instructions:u", "instructions:k", "cycles", "cache-misses")
CALLS_EVENT = "raw_syscalls:sys_enter"
PROFILE_HZ = 499                  # no divisor of the timer's rate, so that it does not march in step with it
STACK_BYTES = 4096
TRACE_PAGES = "2048"              # The pages of memory on each CPU, for records that perf has yet to read.
ATTACH_S = 0.3                    # Time to attach: perf does not report that it is attached.
SIGNALS_MAX = 10                  # 2 s apart; a program that does not end is killed then


@dataclasses.dataclass(frozen=True)
class Access:
    """The access that this machine permits. `reasons`: kind of sample -> why not."""

    hardware: tuple[str, ...]
    calls: bool
    names: str                    # 'perf', 'strace' or ''
    profile: bool
    reasons: dict[str, str]


def probe() -> Access:
    """Try each kind of sample once on a program that does nothing."""
    perf, reasons = shutil.which("perf"), {}
    if not perf:
        reasons["counters"] = reasons["profile"] = "perf is missing: apt-get install linux-perf"
        names = "strace" if shutil.which("strace") else ""
        if not names:
            reasons["calls"] = "neither perf nor strace is there: apt-get install linux-perf strace"
        return Access((), False, names, False, reasons)
    counted = _stat_probe(perf, (*HARDWARE_EVENTS, CALLS_EVENT))
    hardware = tuple(event for event in HARDWARE_EVENTS if event in counted)
    calls = CALLS_EVENT in counted or bool(_stat_probe(perf, (CALLS_EVENT,)))
    if not hardware:
        reasons["counters"] = "the machine has no hardware counters (most virtual machines), or forbids them"
    if not calls:
        reasons["calls"] = "tracepoints are forbidden: needs root, or kernel.perf_event_paranoid <= -1 and tracefs"
    profile = subprocess.run([perf, "record", "-q", "-e", "cpu-clock", "-o", "/dev/null", "--", "true"],
                             capture_output=True, check=False).returncode == 0
    if not profile:
        reasons["profile"] = "perf record is forbidden: kernel.perf_event_paranoid <= 1, or root"
    names = "perf" if calls else ("strace" if shutil.which("strace") else "")
    return Access(hardware, calls, names, profile, reasons)


def _stat_probe(perf: str, events: Sequence[str]) -> dict[str, int]:
    run = subprocess.run([perf, "stat", "-x", ",", "-e", ",".join(events), "--", "true"], capture_output=True,
                         text=True, check=False)
    return parse_stat(run.stderr)


def parse_stat(text: str) -> dict[str, int]:
    """Event -> count from `perf stat -x,`; events that were not counted are left out."""
    counts = {}
    for line in text.splitlines():
        fields = line.split(",")
        if len(fields) > 3 and fields[0].isdigit():
            counts[fields[2]] = int(fields[0])
    return counts


class Attached:
    """A program of measurement that is attached to a server from entry to exit of the `with` block."""

    def __init__(self, command: Sequence[str]):
        self._command = list(command)

    def __enter__(self) -> Attached:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(ATTACH_S)
        return self

    def __exit__(self, *_: object) -> None:
        # perf trace looks for a signal before it waits, and not between: one that comes just then is sent again.
        for _ in range(SIGNALS_MAX):
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(2)
                return
            except subprocess.TimeoutExpired:
                continue
        self._process.kill()
        self._process.wait()


def _pids(pid: int) -> str:
    return ",".join(map(str, proc.tree(pid)))


class EventCounter(Attached):
    """perf stat of a server; `counts` holds event -> count afterwards."""

    def __init__(self, pid: int, events: Sequence[str], folder: Path):
        self._out = folder / "stat.csv"
        super().__init__([proc.tool("perf"), "stat", "-x", ",", "-o", str(self._out), "-e", ",".join(events), "-p",
                          _pids(pid)])
        self.counts: dict[str, int] = {}

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self.counts = parse_stat(proc.read(self._out))


@dataclasses.dataclass(frozen=True)
class Call:
    """A system call: how often, how often it failed, and how long it took in all (waiting included)."""

    name: str
    calls: int
    errors: int
    total_ms: float


PERF_ROW = re.compile(r"^\s+(\w+)\s+(\d+)\s+(\d+)\s+([\d.]+)\s+[\d.]+\s+[\d.]+\s+[\d.]+\s+[\d.]+%\s*$", re.M)
STRACE_ROW = re.compile(r"^\s*[\d.]+\s+([\d.]+)\s+\d+\s+(\d+)\s+(?:(\d+)\s+)?(\w+)\s*$", re.M)


def parse_trace(text: str) -> list[Call]:
    """The system calls of `perf trace -s` or `strace -c`, threads added up, most frequent first."""
    sums: dict[str, list[float]] = collections.defaultdict(lambda: [0, 0, 0.0])
    for name, calls, errors, total in PERF_ROW.findall(text):
        for index, value in enumerate((int(calls), int(errors), float(total))):
            sums[name][index] += value
    if not sums:
        for seconds, calls, errors, name in STRACE_ROW.findall(text):
            if name != "total":
                sums[name] = [int(calls), int(errors or 0), 1000 * float(seconds)]
    found = [Call(name, int(calls), int(errors), total) for name, (calls, errors, total) in sums.items()]
    return sorted(found, key=lambda call: -call.calls)


LOST = re.compile(r"LOST (\d+) events")


class Trace(Attached):
    """Follows the system calls of a server; `calls` holds them afterwards, `lost` how many perf could not follow."""

    def __init__(self, pid: int, names: str, folder: Path):
        self._out = folder / "calls.txt"
        if names == "perf":
            super().__init__([proc.tool("perf"), "trace", "-s", "-m", TRACE_PAGES, "-p", _pids(pid), "-o",
                              str(self._out)])
        else:
            super().__init__([proc.tool("strace"), "-c", "-f", "-p", _pids(pid), "-o", str(self._out)])
        self.calls: list[Call] = []
        self.lost = 0

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        text = proc.read(self._out)
        self.calls, self.lost = parse_trace(text), sum(map(int, LOST.findall(text)))


class StackRecorder(Attached):
    """Samples the stacks of a server; `stacks()` gives folded ones ('a;b;c' from the root) and their samples."""

    def __init__(self, pid: int, folder: Path):
        self._data = folder / "perf.data"
        super().__init__([proc.tool("perf"), "record", "-q", "-e", "cpu-clock", "-F", str(PROFILE_HZ), "--call-graph",
                          f"dwarf,{STACK_BYTES}", "-p", _pids(pid), "-o", str(self._data)])

    def stacks(self) -> dict[str, int]:
        """The recorded stacks; needs the folder that the recorder was given."""
        script = subprocess.run([proc.tool("perf"), "script", "-i", str(self._data), "--no-inline", "-F",
                                 "comm,tid,ip,sym,dso"], capture_output=True, text=True, errors="replace", check=False)
        return fold(script.stdout)


FRAME = re.compile(r"^\s+[0-9a-f]+ (.+) \((.*)\)$")


def fold(script: str) -> dict[str, int]:
    """Folded stacks of `perf script`: frames of the kernel end in '_[k]'."""
    stacks: collections.Counter[str] = collections.Counter()
    for block in script.split("\n\n"):
        frames = []
        for line in block.splitlines()[1:]:
            found = FRAME.match(line)
            if found and "ffffffffffffffff" not in line:
                name = found.group(1).split("+0x")[0].replace(";", ":")
                frames.append(name + ("_[k]" if "kernel" in found.group(2) else ""))
        if "main" in frames:                                     # its callers are cut off in some stacks only
            frames = frames[:frames.index("main") + 1]
        if frames:
            stacks[";".join(reversed(frames))] += 1
    return dict(stacks)

# SPDX-License-Identifier: Apache-2.0
