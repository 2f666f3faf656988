"""Processes and /proc: start a server pinned, wait until it answers, read its usage, end it. Standard library only.

A server is a process and all its descendants (nginx's master and workers). CPU time is exact to nanoseconds where the
kernel has schedstat, else to one tick (10 ms).
"""
from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from katana_lab import LabError

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
TCP_LISTEN = "0A"                         # the state in /proc/net/tcp
PACKAGES = {"perf": "linux-perf", "taskset": "util-linux", "nginx": "nginx-light", "chromium": "chromium"}


def tool(name: str) -> str:
    """The path of an external program, or LabError with the package that has it."""
    path = shutil.which(name)
    if not path:
        raise LabError(f"{name} is missing: apt-get install {PACKAGES.get(name, name)}")
    return path


def built(name: str, build: Path) -> str:
    """The path of a program of the build, or LabError with the command that makes it."""
    path = build / name
    if not path.exists():
        raise LabError(f"{path} is missing: cmake --preset bench && cmake --build --preset bench"
                       " (floor_uring needs liburing-dev; --build names another directory)")
    return str(path)


def read(path: str | Path) -> str:
    """A small file of /proc or /sys; empty when it is gone or forbidden."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


# ---- what processes use --------------------------------------------------------------------------

def tree(pid: int) -> list[int]:
    """The process and its descendants."""
    found, todo = [], [pid]
    while todo:
        member = todo.pop()
        found.append(member)
        for task in _tasks(member):
            todo += map(int, read(f"/proc/{member}/task/{task}/children").split())
    return found


def _tasks(pid: int) -> list[int]:
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


@dataclasses.dataclass(frozen=True)
class Usage:
    """The use of a process tree so far, in seconds and counts; RSS in KiB and descriptors are present values."""

    cpu_s: float
    user_s: float
    kernel_s: float
    rss_kib: int
    voluntary: int
    involuntary: int
    descriptors: int
    threads: dict[int, float]            # CPU seconds of each thread


def _thread_cpu_s(pid: int, task: int) -> float | None:
    fields = read(f"/proc/{pid}/task/{task}/schedstat").split()
    return int(fields[0]) / 1e9 if fields else None


def _ticks(pid: int) -> tuple[float, float]:
    """User and kernel seconds of a process, all its threads that ever were."""
    text = read(f"/proc/{pid}/stat")
    if not text:
        return 0.0, 0.0
    fields = text.rsplit(")", 1)[1].split()
    return int(fields[11]) / TICKS_PER_SECOND, int(fields[12]) / TICKS_PER_SECOND


def _descriptors(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


def _status_number(text: str, key: str) -> int:
    found = re.search(rf"^{key}:\s+(\d+)", text, re.M)
    return int(found.group(1)) if found else 0


def usage(pid: int) -> Usage:
    """The use of the process tree so far; a member that ends meanwhile counts as nothing."""
    user = kernel = 0.0
    voluntary = involuntary = descriptors = 0
    threads: dict[int, float] = {}
    for member in tree(pid):
        member_user, member_kernel = _ticks(member)
        user, kernel = user + member_user, kernel + member_kernel
        descriptors += _descriptors(member)
        for task in _tasks(member):
            status = read(f"/proc/{member}/task/{task}/status")
            voluntary += _status_number(status, "voluntary_ctxt_switches")
            involuntary += _status_number(status, "nonvoluntary_ctxt_switches")
            exact = _thread_cpu_s(member, task)
            if exact is not None:
                threads[task] = exact
    # Threads that ended are in the ticks only; the larger of the two misses nothing.
    return Usage(max(sum(threads.values()), user + kernel), user, kernel, memory_kib(pid), voluntary, involuntary,
                 descriptors, threads)


def memory_kib(pid: int, what: str = "VmRSS") -> int:
    """A size of /proc/PID/status, of the process tree: VmRSS, VmHWM (the largest it was), RssAnon."""
    return sum(_status_number(read(f"/proc/{member}/status"), what) for member in tree(pid))


def cpu_busy_s(*cpus: int) -> float:
    """The seconds that these CPUs have been busy, for all processes."""
    total, seen = 0.0, set()
    for line in read("/proc/stat").splitlines():
        name, *fields = line.split()
        if name.startswith("cpu") and name[3:].isdigit() and int(name[3:]) in cpus:
            user, nice, system, _, _, irq, softirq, steal = map(int, fields[:8])
            total += (user + nice + system + irq + softirq + steal) / TICKS_PER_SECOND
            seen.add(int(name[3:]))
    if seen != set(cpus):
        raise LabError(f"/proc/stat has no cpu{min(set(cpus) - seen)}")
    return total


@dataclasses.dataclass(frozen=True)
class Sample:
    """A server and the CPUs of both sides at one moment. `at_s`: time.monotonic()."""

    at_s: float
    usage: Usage
    server_cpus_busy_s: float
    generator_cpus_busy_s: float


def sample(pid: int, server_cpus: Sequence[int], generator_cpus: Sequence[int]) -> Sample:
    """Both sides now."""
    at = time.monotonic()
    return Sample(at, usage(pid), cpu_busy_s(*server_cpus), cpu_busy_s(*generator_cpus))


class Spent:
    """The use of a server between two samples: the one way in which the laboratory measures a server's CPU.

    CPU is in seconds. The others are shares of the elapsed time. `server` is the CPU that the server used. Busy time of
    the generator's CPUs is `generator`. `others` is the rest of the use of the server's CPUs.
    """

    def __init__(self, first: Sample, last: Sample):
        self.elapsed_s = last.at_s - first.at_s
        self.cpu_s = last.usage.cpu_s - first.usage.cpu_s
        self.user_s = last.usage.user_s - first.usage.user_s
        self.kernel_s = last.usage.kernel_s - first.usage.kernel_s
        self.switches = (last.usage.voluntary - first.usage.voluntary, last.usage.involuntary - first.usage.involuntary)
        self.rss_kib = last.usage.rss_kib
        span = max(self.elapsed_s, 1e-9)
        self.server = self.cpu_s / span
        self.generator = (last.generator_cpus_busy_s - first.generator_cpus_busy_s) / span
        self.others = max(0.0, last.server_cpus_busy_s - first.server_cpus_busy_s - self.cpu_s) / span


# ---- servers -------------------------------------------------------------------------------------

_reserved: list[socket.socket] = []       # one per port that this process was given; the kernel frees them at its end


def free_port(first: int = 10_000, last: int = 12_000) -> Iterator[int]:
    """Ports on which no program listens, below the ephemeral ones and those of the end-to-end tests, each once.

    A port that another run of the laboratory was given is left out, though its server may not listen yet. Each port is
    reserved by a name in the abstract namespace of Unix sockets, which the kernel gives to one process.
    """
    for port in range(first + os.getpid() % 997, last):
        reservation = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            reservation.bind(f"\0katana-lab-port-{port}")
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            reservation.close()
            continue
        _reserved.append(reservation)
        yield port


def listens(process: subprocess.Popen, port: int) -> bool:
    """True when the process or a descendant listens on the TCP port: another program may have taken it meanwhile.

    Also true when the descriptors of one of them may not be read (it runs as another user).
    """
    listening = set()
    for name in ("tcp", "tcp6"):
        for line in read(f"/proc/{process.pid}/net/{name}").splitlines()[1:]:
            fields = line.split()
            if fields[3] == TCP_LISTEN and int(fields[1].rpartition(":")[2], 16) == port:
                listening.add(f"socket:[{fields[9]}]")
    for pid in tree(process.pid):
        try:
            for number in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(FileNotFoundError):
                    if os.readlink(f"/proc/{pid}/fd/{number}") in listening:
                        return True
        except PermissionError:
            return True
        except OSError:
            continue                                             # it ended meanwhile
    return False


def answers(port: int, path: str) -> bool:
    """True when a request for the path gets a 200."""
    try:
        with socket.create_connection(("127.0.0.1", port), 1) as link:
            link.settimeout(1)
            link.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            return link.recv(4096).startswith(b"HTTP/1.1 200")
    except OSError:
        return False


def start(command: Sequence[str], cpus: Sequence[int], log: Path,
          prefix: Sequence[str] = ()) -> subprocess.Popen:
    """A server on these CPUs, its output in a file. RLIMIT_NOFILE is the hard limit, as for a service. `prefix`: what
    runs it, as `ip netns exec NAME`.
    """
    pinned = [*prefix, tool("prlimit"), f"--nofile={descriptors_max()}",
              tool("taskset"), "-c", ",".join(map(str, cpus))]
    with open(log, "wb") as out:
        return subprocess.Popen([*pinned, *command], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                start_new_session=True)


def wait_for(condition: Callable[[], bool], seconds: float) -> bool:
    """Whether the condition came true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


def wait_until_up(name: str, port: int, path: str, process: subprocess.Popen, seconds: float = 60,
                  log: Path | None = None) -> None:
    """Wait until the server answers, or LabError with the last line of its log."""
    up = False

    def is_settled() -> bool:
        nonlocal up
        up = answers(port, path) and listens(process, port)
        return up or process.poll() is not None

    wait_for(is_settled, seconds)
    if up:
        return
    said = read(log).strip().splitlines() if log else []
    silent = f"was silent for {seconds:g} s" + (", another process answers there" if answers(port, path) else "")
    how = f"ended with status {process.returncode}" if process.poll() is not None else silent
    raise LabError(f"{name} does not answer 200 to {path} on port {port}: it {how}"
                   + (f" and said: {said[-1]}" if said else ""))


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until the block is done, so that it cannot leave half of an ending behind."""
    if threading.current_thread() is not threading.main_thread():
        yield                                                    # where Ctrl-C does not come
        return
    came: list[int] = []                 # not a mask: any other thread would take the signal for this one
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            signal.raise_signal(signal.SIGINT)


def stop(process: subprocess.Popen, patience_s: float = 2.0) -> None:
    """End the process tree, politely first, and reap it; a Ctrl-C meanwhile comes afterwards."""
    with uninterrupted():
        members = tree(process.pid)
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in members:
                try:
                    os.kill(pid, number)
                except OSError:
                    continue
            end = time.monotonic() + patience_s
            while time.monotonic() < end:
                if process.poll() is not None and not any(os.path.exists(f"/proc/{pid}") for pid in members):
                    return
                time.sleep(0.02)


def descriptors_max() -> int:
    """The most descriptors that a program of this user may open (the hard limit)."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1]

# SPDX-License-Identifier: Apache-2.0
