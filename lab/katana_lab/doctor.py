"""Find the conditions that falsify figures on this machine, with the remedy. Reads /proc and /sys; changes nothing.

A finding is 'good', 'note' (figures stand, but know it) or 'bad' (figures of this kind are worth nothing until mended).
"""
from __future__ import annotations

import os
import resource
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from katana_lab import machine, peers, perf, proc
from katana_lab.results import Finding

WATCH_S = 1.0
BUSY_NOTE, BUSY_BAD = 0.03, 0.10
CPU_FOLDER = Path("/sys/devices/system/cpu")


def _number(path: str | Path) -> int | None:
    text = proc.read(path).split()
    return int(text[0]) if text and text[0].lstrip("-").isdigit() else None


def check_cpus() -> list[Finding]:
    """CPUs for a server and its load."""
    usable, there = len(os.sched_getaffinity(0)), os.cpu_count() or 1
    found = []
    if usable < 2:
        found.append(Finding(what="CPUs", state="bad", value=f"{usable} of {there} usable",
                             remedy="server and generator share it: only costs per request mean anything. "
                                    "Give the container or taskset two or more"))
    elif usable < 4:
        found.append(Finding(what="CPUs", state="note", value=f"{usable} of {there} usable",
                             remedy="enough for one reactor and its load; scaling over reactors needs more"))
    else:
        found.append(Finding(what="CPUs", state="good", value=f"{usable} of {there} usable"))
    smt = proc.read("/sys/devices/system/cpu/smt/active").strip()
    if smt == "1":
        found.append(Finding(what="hyper-threads", state="note", value="on", remedy="two CPUs may be one core: pin the "
                             "generator to another core, or echo off > /sys/devices/system/cpu/smt/control"))
    else:
        found.append(Finding(what="hyper-threads", state="good", value="off" if smt == "0" else "not told"))
    return found


def check_frequency() -> list[Finding]:
    """Governor and turbo: whether a microsecond is the same length all day."""
    governors = {proc.read(path).strip() for path in CPU_FOLDER.glob("cpu[0-9]*/cpufreq/scaling_governor")}
    found = []
    if not governors:
        found.append(Finding(what="governor", state="note", value="not visible (virtual machine?)",
                             remedy="the host decides; compare only within one interleaved run"))
    elif governors == {"performance"}:
        found.append(Finding(what="governor", state="good", value="performance"))
    else:
        found.append(Finding(what="governor", state="bad", value=", ".join(sorted(governors)),
                             remedy="cpupower frequency-set -g performance"))
    no_turbo, boost = _number(CPU_FOLDER / "intel_pstate/no_turbo"), _number(CPU_FOLDER / "cpufreq/boost")
    if no_turbo == 0 or boost == 1:
        path = "intel_pstate/no_turbo" if no_turbo == 0 else "cpufreq/boost"
        found.append(Finding(what="turbo", state="note", value="on", remedy="the clock depends on heat and neighbours: "
                             f"echo {1 if no_turbo == 0 else 0} > /sys/devices/system/cpu/{path}"))
    elif no_turbo == 1 or boost == 0:
        found.append(Finding(what="turbo", state="good", value="off"))
    return found


def check_limits() -> list[Finding]:
    """Descriptors, listen queues, ports."""
    hard = proc.descriptors_max()
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    found = [Finding(what="descriptors (soft limit)", state="good", value=str(soft)),
             Finding(what="descriptors (hard limit)", state="good" if hard >= 20_000 else "bad", value=str(hard),
                     remedy="" if hard >= 20_000 else "10,000 connections need 10,200 on each side: ulimit -Hn, or "
                            "LimitNOFILE= of the service")]
    for name, path, least, remedy in (
            ("somaxconn", "/proc/sys/net/core/somaxconn", 4096, "sysctl -w net.core.somaxconn=4096"),
            ("SYN backlog", "/proc/sys/net/ipv4/tcp_max_syn_backlog", 1024,
             "sysctl -w net.ipv4.tcp_max_syn_backlog=4096")):
        value = _number(path)
        if value is None:
            found.append(Finding(what=name, state="note", value="not visible"))
        else:
            good = value >= least
            found.append(Finding(what=name, state="good" if good else "bad", value=str(value),
                                 remedy="" if good else f"bursts of connections are dropped: {remedy}"))
    ports = proc.read("/proc/sys/net/ipv4/ip_local_port_range").split()
    if len(ports) == 2:
        count = int(ports[1]) - int(ports[0]) + 1
        good = count >= 25_000
        found.append(Finding(what="ephemeral ports", state="good" if good else "bad",
                             value=f"{ports[0]}–{ports[1]} ({count:,})", remedy="" if good else
                             "churn uses them up: sysctl -w net.ipv4.ip_local_port_range='16384 65000'"))
    reuse = _number("/proc/sys/net/ipv4/tcp_tw_reuse")
    if reuse is not None:
        found.append(Finding(what="tcp_tw_reuse", state="good" if reuse in (1, 2) else "note", value=str(reuse),
                             remedy="" if reuse in (1, 2) else "churn may run out of ports after a minute: "
                             "sysctl -w net.ipv4.tcp_tw_reuse=2"))
    return found


def check_perf() -> list[Finding]:
    """The access of perf on this machine."""
    access = perf.probe()
    paranoid = _number("/proc/sys/kernel/perf_event_paranoid")
    found = []
    for kind, ok, label in (("counters", bool(access.hardware), "hardware counters"),
                            ("calls", access.calls or bool(access.names), "system calls"),
                            ("profile", access.profile, "stacks (flame graph)")):
        found.append(Finding(what=label, state="good" if ok else "note",
                             value="yes" if ok else f"no (perf_event_paranoid {paranoid})",
                             remedy="" if ok else access.reasons.get(kind, "")))
    return found


def check_container() -> list[Finding]:
    """Virtualisation and the limits of a container."""
    kind = machine.virtualisation()
    found = [Finding(what="machine", state="note" if kind else "good", value=kind or "bare metal", remedy="" if not kind
                     else "neighbours and the host's scheduler disturb: trust ratios of interleaved rounds")]
    quota = proc.read("/sys/fs/cgroup/cpu.max").split()
    if quota and quota[0] != "max":
        cpus = int(quota[0]) / int(quota[1])
        found.append(Finding(what="CPU quota", state="bad", value=f"{cpus:g} CPUs",
                             remedy="a throttled server has gaps of up to 100 ms: run without --cpus, pin instead"))
    io_uring = _number("/proc/sys/kernel/io_uring_disabled")
    if io_uring:
        found.append(Finding(what="io_uring", state="note", value=f"kernel.io_uring_disabled = {io_uring}",
                             remedy="the io_uring engine is skipped: sysctl -w kernel.io_uring_disabled=0"))
    return found


def check_neighbours(watch_s: float = WATCH_S) -> list[Finding]:
    """The programs that keep the CPUs busy right now."""
    usable = sorted(os.sched_getaffinity(0))
    before, began = proc.cpu_busy_s(*usable), time.monotonic()
    names = {}
    for process in psutil.process_iter(["name"]):
        try:
            names[process.pid] = (process.info["name"], sum(process.cpu_times()[:2]))
        except psutil.Error:
            continue
    time.sleep(watch_s)
    share = (proc.cpu_busy_s(*usable) - before) / (time.monotonic() - began) / len(usable)
    spent = []
    for process in psutil.process_iter():
        try:
            used = sum(process.cpu_times()[:2]) - names.get(process.pid, ("", 0.0))[1]
            if process.pid != os.getpid() and process.pid in names and used > 0.02 * watch_s:
                spent.append((used, names[process.pid][0]))
        except psutil.Error:
            continue
    busiest = ", ".join(f"{name} {100 * used / watch_s:.0f} %" for used, name in sorted(spent, reverse=True)[:3])
    state = "good" if share < BUSY_NOTE else "note" if share < BUSY_BAD else "bad"
    steal = psutil.cpu_times_percent(0.2).steal if hasattr(psutil.cpu_times(), "steal") else 0.0
    found = [Finding(what="neighbours", state=state, value=f"{100 * share:.0f} % of all CPUs" +
                     (f": {busiest}" if busiest else ""), remedy="" if state == "good" else
                     "stop what else runs; more rounds help against short disturbances only")]
    if steal > 1:
        found.append(Finding(what="stolen time", state="bad", value=f"{steal:.0f} %",
                             remedy="the host gives this machine's CPUs to others: repeat later, or elsewhere"))
    swap = psutil.swap_memory()
    if swap.used > 64 * 2 ** 20:
        found.append(Finding(what="swap", state="note", value=f"{swap.used / 2 ** 20:.0f} MiB used",
                             remedy="latency tails may be the disk's: swapoff -a"))
    return found


def check_peers(build: Path) -> list[Finding]:
    """The servers that can take part."""
    found = []
    for name, server in peers.load_peers().items():
        reason = peers.missing(server, build)
        found.append(Finding(what=f"peer {name}", state="note" if reason else "good",
                             value=reason.split(":")[0] if reason else server.peer.about,
                             remedy=reason.partition(": ")[2]))
    if not shutil.which("perf"):
        found.append(Finding(what="perf", state="note", value="missing", remedy="apt-get install linux-perf"))
    return found


def examine(build: Path, watch_s: float = WATCH_S) -> list[Finding]:
    """Every check, in order."""
    checks: list[Callable[[], list[Finding]]] = [
        check_cpus, check_frequency, check_limits, check_perf, check_container,
        lambda: check_neighbours(watch_s), lambda: check_peers(build)]
    return [finding for check in checks for finding in check()]

# SPDX-License-Identifier: Apache-2.0
