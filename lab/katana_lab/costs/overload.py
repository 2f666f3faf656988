"""The share of its capacity that a server still uses for replies in time, when it gets more requests than it can
answer.

    lab/overload.py [--rounds 3] [--seconds 6] [--build build/bench] [--markdown FILE]

The server (lab/overload) spends 100 µs of CPU 0 on each request. The generator, on CPU 1, asks at a rate that does not
depend on the replies. The capacity is the rate of a closed loop of 64 connections. A reply is good when it is 200 and
comes within 100 ms of the moment at which it was due. Goodput is good replies a second, as a share of the capacity. The
first second of each load is left out. Rounds, A B A B; shown are medians, with the smallest and the largest.
"""
from __future__ import annotations

import statistics

from katana_lab import proc
from katana_lab.costs import harness
from katana_lab.generator import LOG_UNITS_PER_US, find_program, merge, run
from katana_lab.heading import made_by
from katana_lab.models import Load

SCRIPT, TITLE = "lab/overload.py", "Overload"
SUBJECTS = {"as it is": (), "load_shedding()": ("--shed",)}
LOADS = (0.5, 0.9, 1.2, 2.0, 4.0)          # shares of the capacity
CONNECTIONS = 512
IN_TIME_US = 100_000
LEFT_OUT_S = 1.0
PORTS = proc.free_port()


def serving(flags, build):
    """A fresh server with these flags."""
    program = proc.built("overload_server", build)
    return harness.serving("overload_server", lambda port, _: [program, "--port", str(port), *flags], PORTS, "/health")


def histogram_of(done, begin_s):
    """Latencies of replies that were 200, from a moment of the load on; how long that is."""
    kept = [one for one in done.intervals if one.start_s >= done.intervals[0].start_s + begin_s]
    return merge([one.histogram for one in kept]), kept[-1].end_s - kept[0].start_s


def capacity(options):
    """Replies a second in a closed loop."""
    with serving((), options.build) as server:
        done = run(find_program(options.build), Load(connections=64, path="/work"), server.port, options.seconds,
                   [harness.CLIENT_CPU])
    histogram, seconds = histogram_of(done, LEFT_OUT_S)
    return histogram.get_total_count() / seconds


def goodput(flags, rate, options):
    """Good replies a second at a rate of requests, and the share of requests that was refused."""
    with serving(flags, options.build) as server:
        load = Load(connections=CONNECTIONS, rate_per_s=rate, path="/work")
        done = run(find_program(options.build), load, server.port, options.seconds, [harness.CLIENT_CPU])
    histogram, seconds = histogram_of(done, LEFT_OUT_S)
    good = sum(each.count_added_in_this_iter_step for each in histogram.get_recorded_iterator()
               if each.value_iterated_to <= IN_TIME_US * LOG_UNITS_PER_US)
    refused = done.report.error_classes.get("wrong_status", 0)
    return good / seconds, refused / max(1, refused + done.report.requests)


def table(found):
    """The figures of all rounds as Markdown."""
    lines = ["| requests, × capacity | " + " | ".join(f"{name}: goodput | refused" for name in SUBJECTS) + " |",
             "|---|" + "---|" * (2 * len(SUBJECTS))]
    for load in LOADS:
        cells = []
        for name in SUBJECTS:
            shares = [good / peak for peak, good, _ in found[name, load]]
            cells += [f"{statistics.median(shares):.2f} ({min(shares):.2f}–{max(shares):.2f})",
                      f"{100 * statistics.median(refused for *_, refused in found[name, load]):.0f} %"]
        lines.append(f"| {load:g} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    """Measure, and show."""
    options = harness.parser(__doc__, rounds=3, seconds=6.0, files=("markdown",)).parse_args()
    found = {(name, load): [] for name in SUBJECTS for load in LOADS}
    for number in range(options.rounds):
        peak = capacity(options)
        print(f"round {number + 1} of {options.rounds}: {peak:.0f} requests/s at most", flush=True)
        for load in LOADS:
            for name, flags in SUBJECTS.items():
                good, refused = goodput(flags, load * peak, options)
                found[name, load].append((peak, good, refused))
                print(f"  {load:g} × {name}: {good / peak:.2f} of the capacity in time, {100 * refused:.0f} % refused",
                      flush=True)
    print(table(found))
    if options.markdown:
        options.markdown.write_text(f"# {TITLE}\n\n{made_by(SCRIPT)}\n\n{table(found)}\n", encoding="utf-8")

# SPDX-License-Identifier: Apache-2.0
