"""Wake-ups and CPU of programs at rest, and their cost of a request at low rates.

    lab/idle_cost.py [--seconds 30] [--settle 8] [--rates 100,1000,10000] [--load-seconds 5] [--build build/bench]
                     [--engines epoll-edge,epoll-level,io_uring] [--programs hello_world_server,fullstack]
                     [--program 'NAME=COMMAND with {port}' …] [--json FILE] [--markdown FILE]

Each program is started once on each engine, pinned to CPU 0, and rests for --settle seconds. The first table counts for
--seconds the voluntary context switches of each thread: how often it slept and was woken. A busy machine adds none.
For the second table katana-load sends requests on CPU 1, on kept connections and at even intervals, at each rate. The
path is /plaintext, /health for fullstack, and --path for other programs. CPU is the server's, user and system, from the
scheduler. --program adds other servers, such as rivals, to the same run.
"""
from __future__ import annotations

import os
import re
import shlex
import time

from katana_lab import LabError, UsageError, proc
from katana_lab.costs import harness
from katana_lab.drivers import Job
from katana_lab.heading import made_by

PROGRAMS = ("hello_world_server", "fullstack")
PATHS = {"hello_world_server": "/plaintext", "fullstack": "/health"}
PORTS = proc.free_port()
VOLUNTARY = re.compile(r"^voluntary_ctxt_switches:\s+(\d+)", re.MULTILINE)
CONNECTIONS = 16


def command_of(program, engine, build):
    """Return how one of KATANA's programs is started with one reactor on an engine, for harness.serving()."""
    if program == "hello_world_server":
        return harness.own_server(build, engine)
    path = proc.built(program, build)
    return lambda port, _: [path, "--port", str(port), "--set", f"http.engine={engine}", "--set", "http.reactors=1",
                            "--set", "http.drain_notice=0s"]


def switches(pid):
    """Return the voluntary context switches so far: {(id, name): count} of all threads of a process tree."""
    counts = {}
    for member in proc.tree(pid):
        folder = f"/proc/{member}/task"
        for task in os.listdir(folder) if os.path.isdir(folder) else ():
            found = VOLUNTARY.search(proc.read(f"{folder}/{task}/status"))
            if found:
                counts[int(task), proc.read(f"{folder}/{task}/comm").strip()] = int(found[1])
    return counts


def rest(pid, seconds):
    """Return what a process does within a time without work: wake-ups by thread, and CPU."""
    before, cpu_before = switches(pid), proc.usage(pid).cpu_s
    time.sleep(seconds)
    after, cpu_after = switches(pid), proc.usage(pid).cpu_s
    woken = {}
    for (task, name), count in after.items():
        more = count - before.get((task, name), 0)
        if more:
            woken[name] = woken.get(name, 0) + more
    per_min = 60 / seconds
    return {"wakes_per_min": sum(woken.values()) * per_min, "cpu_us_per_min": 1e6 * (cpu_after - cpu_before) * per_min,
            "threads": woken}


def under_load(running, path, rate, options):
    """Return the cost of a request at a rate: CPU and context switches of the server."""
    connections = min(CONNECTIONS, max(rate // 10, 1))
    job = Job(running.port, options.build, path, connections=connections, seconds=options.load_seconds,
              flags=("--rate", str(rate)))
    before = sum(switches(running.pid).values())
    figures, done = harness.measure_load(running.pid, "katana-load", job)
    switched = sum(switches(running.pid).values()) - before
    return {"rate": done.rate_per_s, "us": figures["us"], "errors": done.errors,
            "switches": switched / max(done.requests, 1)}


def measure(name, command, path, options):
    """Return all figures of one server."""
    with harness.serving(name, command, PORTS, ready=path) as running:
        time.sleep(options.settle)
        result = {"name": name, "rest": rest(running.pid, options.seconds), "loads": {}}
        for rate in options.rates:
            result["loads"][rate] = under_load(running, path, rate, options)
        time.sleep(options.settle)
        result["rest after"] = rest(running.pid, options.seconds)
    return result


def tables(results, options):
    """Return both tables as lines."""
    def named(figures):
        return ", ".join(f"{name} {count}" for name, count in sorted(figures["threads"].items())) or "none"
    rows = [(each["name"], f"{figures['wakes_per_min']:.1f}", f"{figures['cpu_us_per_min']:.0f}", named(figures))
            for each in results
            for figures in (each["rest"], each["rest after"])]
    lines = ["", f"## At rest, for {options.seconds:g} s: first after the start, then after the loads", "",
             *harness.markdown(("server", "wake-ups/min", "CPU us/min", "threads that woke"), rows)]
    if not options.rates:
        return lines
    rows = [(each["name"], f"{rate:,}", f"{load['rate']:,.0f}", f"{load['us']:.1f}", f"{load['switches']:.3f}",
             f"{load['errors']:g}")
            for each in results for rate, load in each["loads"].items()]
    return lines + ["", "## At a rate of requests", "", *harness.markdown(
        ("server", "asked/s", "answered/s", "CPU us/request", "context switches/request", "errors"), rows)]


def main() -> int:
    """Run, print, and return the exit status: 1 when a program of KATANA does not rest."""
    parser = harness.parser(__doc__, 0, seconds=30.0)
    parser.add_argument("--settle", type=float, default=8.0, help="seconds before each rest is counted; default 8")
    parser.add_argument("--rates", default="100,1000,10000", help="requests a second; '': none; default %(default)s")
    parser.add_argument("--load-seconds", type=harness.at_least_one(float), default=5.0, help="default 5")
    parser.add_argument("--engines", default="", help="default: all of the build")
    parser.add_argument("--programs", default=",".join(PROGRAMS), help="default %(default)s")
    parser.add_argument("--program", action="append", default=[], metavar="NAME=COMMAND", help="another server")
    parser.add_argument("--path", default="/plaintext", help="what other servers are asked for; default /plaintext")
    options = parser.parse_args()
    options.rates = harness.numbers(options.rates) if options.rates else []
    engines = harness.known(parser, "engine", options.engines or ",".join(harness.engines(options.build)),
                            harness.engines(options.build))
    results, own = [], []
    for program in harness.known(parser, "program", options.programs, PROGRAMS):
        for engine in engines:
            command = command_of(program, engine, options.build)
            own.append(measure(f"{program} {engine}", command, PATHS[program], options))
    results += own
    for given in options.program:
        name, found, command = given.partition("=")
        if not found:
            raise UsageError(f"--program {given!r}: NAME=COMMAND is expected")
        argv = shlex.split(command)
        results.append(measure(name, lambda port, _, argv=argv: [part.replace("{port}", str(port)) for part in argv],
                               options.path, options))
    if not results:
        raise LabError("nothing to measure: name --programs or --program")
    lines = ["# The cost of little work", "", made_by("lab/idle_cost.py"), *tables(results, options)]
    print("\n".join(lines))
    harness.write(options, lines, results)
    return int(any(figures["threads"] for each in own for figures in (each["rest"], each["rest after"])))

# SPDX-License-Identifier: Apache-2.0
