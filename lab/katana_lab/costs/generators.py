"""The cost of a request for katana-load beside wrk, and how well each sees a latency that is known.

    compare_wrk.py [--rounds 7] [--seconds 3] [--connections 64] [--build build/bench] [--realtime]
                   [--markdown FILE] [--json FILE]

cost      Both load hello_world_server (one reactor, CPU 0) from CPU 1 in a closed loop over kept connections,
          interleaved in rounds (wrk, katana-load, wrk, …). CPU is user and system time of the generator's process,
          from wait4(); system calls come from their own run under perf stat. The ratio is the median over the
          rounds of katana-load / wrk within a round, with the smallest and the largest.
accuracy  A server answers each request after 1 ms and each 200th after 20 ms, and measures those delays itself. The
          generators offer a constant rate far below the server's capacity. The table has p50, p99 and p99.9 of the
          server's delay, and the excess that each generator reports. The tool wrk2 takes the place of wrk where it is
          found (it has a rate; wrk has none and runs in a closed loop). It corrects for omission from a millisecond
          clock. --realtime gives server and generator precedence over everything else (chrt, root), for busy machines.
Needs wrk, perf (linux-perf) and two CPUs.
"""
from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from katana_lab import LabError, perf, proc
from katana_lab.costs import harness
from katana_lab.drivers import DRIVERS, Job
from katana_lab.heading import made_by

LIMIT = 0.8
DELAYS = ("--delay-us=1000", "--slow-every=200", "--slow-us=20000")
ACCURACY_RATE, ACCURACY_CONNECTIONS = 2000, 32
EVENTS = ("instructions:u", harness.CALLS)
# wrk's own table ends at p99.
TAIL_SCRIPT = """done = function(_, latency, _)
  io.write(string.format("  99.9%% %.3fus\\n", latency:percentile(99.9)))
end
"""
UNITS = {"us": 1.0, "ms": 1e3, "s": 1e6}


def finish(command: list[str]) -> tuple[str, os.struct_rusage]:
    """Run a generator on its CPU; return its output and its resource usage. LabError when it failed."""
    pinned = [proc.tool("taskset"), "-c", str(harness.CLIENT_CPU), *command]
    with subprocess.Popen(pinned, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise LabError(f"`{' '.join(command)}` failed: {output.strip()}")
    return output, usage


def cost_of(driver: str, job: Job, folder: Path) -> dict:
    """CPU time of a generator itself for each request, and from its own run what perf can count of it."""
    command = DRIVERS[driver].command(job)
    output, usage = finish(command)
    done = DRIVERS[driver].read(output)
    figures = {"requests": done.requests, "errors": done.errors,
               "us": 1e6 * (usage.ru_utime + usage.ru_stime) / done.requests,
               "user_us": 1e6 * usage.ru_utime / done.requests, "instructions": None, "syscalls": None}
    if shutil.which("perf"):
        stat = folder / "stat"
        output, _ = finish(["perf", "stat", "-x", ",", "-o", str(stat), "-e", ",".join(EVENTS), "--", *command])
        counts, requests = perf.parse_stat(proc.read(stat)), DRIVERS[driver].read(output).requests
        for key, event in zip(("instructions", "syscalls"), EVENTS):
            figures[key] = counts[event] / requests if event in counts else None
    return figures


def measure_cost(options, ports):
    """Return one {generator: result} for each round."""
    with harness.serving("hello_world_server", harness.own_server(options.build), ports) as server:
        job = Job(server.port, options.build, connections=options.connections, seconds=options.seconds)
        return harness.in_rounds(options.rounds, ["wrk", "katana-load"],
                                 lambda name: cost_of(name, job, server.work), "cost")


def latency_of_wrk(output):
    """Return {percentile: microseconds} of wrk --latency."""
    found = {}
    for percent, value, unit in re.findall(r"^ +([\d.]+)% +([\d.]+)(us|ms|s)$", output, re.M):
        found[float(percent)] = float(value) * UNITS[unit]
    return found


def seen_by(name, options, job, precedence):
    """Return ({percentile: microseconds}, a remark) of a generator."""
    if name == "katana-load":
        output, _ = finish([*precedence, *DRIVERS[name].command(job)])
        told = DRIVERS[name].read(output).told
        latency = told["latency_us"]
        return ({50: latency["p50"], 99: latency["p99"], 99.9: latency["p999"]},
                "; ".join(told["void_reasons"]) or "its schedule was kept")
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(TAIL_SCRIPT)
        script.flush()
        rate = ["-R", str(ACCURACY_RATE)] if name == "wrk2" else []
        output, _ = finish([*precedence, proc.tool(name), "-t1", f"-c{job.connections}", f"-d{job.seconds}s",
                            "--latency", "-s", script.name, *rate, job.url])
    return latency_of_wrk(output), "closed loop" if name == "wrk" else "open loop"


def measure_accuracy(name, options, port):
    """Return (latency of the server, latency that the generator reports) in microseconds, by percentile."""
    precedence = [proc.tool("chrt"), "-f", "10"] if options.realtime else []
    server = subprocess.Popen([*precedence, "taskset", "-c", str(harness.SERVER_CPU),
                               proc.built("delay_server", options.build), str(port), *DELAYS],
                              stdout=subprocess.PIPE, text=True)
    try:
        proc.wait_until_up("delay_server", port, "/", server)
        seen, remark = seen_by(name, options, Job(port, options.build, "/", connections=ACCURACY_CONNECTIONS,
                                                  seconds=options.seconds * 2, flags=("-R", str(ACCURACY_RATE))),
                               precedence)
    finally:
        server.terminate()
        took = json.loads(server.communicate(timeout=10)[0])["delay_us"]
    return {50: took["p50"], 99: took["p99"], 99.9: took["p999"]}, seen, remark


def cost_table(rounds, options):
    """Return the Markdown lines of the first table."""
    rows = []
    for name in rounds[0]:
        results = [one[name] for one in rounds]
        rows.append((name, harness.median(results, "us"), harness.median(results, "user_us"),
                     harness.spread(harness.ratios(rounds, name, "wrk")), harness.median(results, "syscalls"),
                     harness.median(results, "requests", ",.0f", 1 / options.seconds),
                     str(sum(result["errors"] for result in results))))
    columns = ("generator", "CPU us/request", "of it user", "ratio to wrk", "system calls/request", "requests/s",
               "errors")
    verdict = "met" if statistics.median(harness.ratios(rounds, "katana-load", "wrk")) <= LIMIT else "missed"
    return ["", f"## Cost, {options.connections} connections, {options.rounds} rounds of {options.seconds} s", "",
            *harness.markdown(columns, rows), "", f"The aim is a ratio of at most {LIMIT}: {verdict}."]


def accuracy_table(results):
    """Return the Markdown lines of the second table."""
    rows = [(name, f"p{percent}", f"{value:,.0f}", f"{seen[percent]:,.0f}", f"{seen[percent] - value:,.0f}", remark)
            for name, (took, seen, remark) in results.items() for percent, value in took.items() if percent in seen]
    return ["", f"## Accuracy against known delays, {ACCURACY_RATE}/s, {ACCURACY_CONNECTIONS} connections", "",
            *harness.markdown(("generator", "percentile", "the server took (us)", "reported (us)", "on top (us)",
                               "remark"), rows)]


def main() -> None:
    """Measure, print, write."""
    parser = harness.parser(__doc__, 7, 3, 64)
    parser.add_argument("--realtime", action="store_true", help="precedence over everything else (chrt, root)")
    options = parser.parse_args()
    harness.need("wrk")
    ports = proc.free_port()
    rounds = measure_cost(options, ports)
    names = [name for name in ("wrk2", "wrk") if shutil.which(name)][:1] + ["katana-load"]
    accuracy = {name: measure_accuracy(name, options, next(ports)) for name in names}
    lines = ["# katana-load beside wrk", "", made_by("lab/load/compare_wrk.py"),
             *cost_table(rounds, options), *accuracy_table(accuracy)]
    print("\n".join(lines))
    harness.write(options, lines, {"cost": rounds, "accuracy": accuracy})

# SPDX-License-Identifier: Apache-2.0
