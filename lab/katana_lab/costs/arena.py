"""HttpArena's profiles on one CPU, KATANA beside rivals that are written to its rules, in one run.

    arena.py [--servers katana,actix,…] [--profiles baseline,async,…] [--rounds 5] [--seconds 3] [--scale 64]
             [--counts all] [--build build/bench] [--cgroup FOLDER,…] [--no-check] [--json FILE] [--markdown FILE]
             [--html FILE]

First every server is checked as HttpArena validates it (lab/arena/check): a profile that fails is left out, and named.
Then each round runs every server once (A B C A B C …) for each connection count of a profile. Each run has a fresh
process with one thread on CPU 0, a second of warm-up, and the load on CPU 1 by katana-load. The connection counts of
HttpArena are for 64 threads, and are divided by --scale. For HTTP/2, katana-load sends the same bytes for the same
request. With --h2load, h2load indexes its fields, as HttpArena's load does. The latency profiles and 8gbit are paced: a
request is sent at its planned time, and its latency counts from there.
    CPU us/request   for each request: CPU time that the server's cgroup was charged with; where no group can be made,
                     user and kernel time of its processes, and the report says so
    ratio            of that to the first server's: median over rounds of (server / first) within a round
    requests/s       '≥': a lower bound, because the generator was the limit: it used, or waited for, more than 90 % of
                     its CPU, and the server used less of CPU 0
    p99 us           from sending, or from the planned time, to the whole reply
    MiB              anonymous memory (Pss_Anon), after the start and the most under load. Memory of the cgroup is
                     without inactive_file. --cgroup names the folders in which groups are made. Default: this
                     machine's, if this user may
    B/reply          of all that the server sent, heads and TLS included
    server, client   shares of CPU 0 that the server used, and of CPU 1 that the generator used or waited for
The points are HttpArena's, by board, over the servers of this run: they say nothing about servers that are not here.
Rivals are built by lab/arena/rivals/build. All of it, five rounds of eleven servers, takes about two hours; the largest
count of each profile, three rounds of three servers, twenty minutes.
"""
from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from katana_lab import LabError, proc
from katana_lab.arena import DATA, PROFILES, check, data, score, servers
from katana_lab.arena.loads import LOADS, SCALE
from katana_lab.contest import measured, memory
from katana_lab.contest.servers import Server
from katana_lab.costs import harness
from katana_lab.drivers import drive

COLUMNS = ("server", "connections", "CPU us/request", "ratio", "requests/s", "mean us", "p99 us", "MiB at rest",
           "MiB loaded",
           "MiB cgroup", "B/reply", "server", "client", "errors")
# profile -> connections -> rounds
Results = dict[str, dict[int, harness.Rounds]]


def parse_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The flags, checked."""
    parser = harness.parser(__doc__, 5, 3.0)
    add = parser.add_argument
    add("--servers", default="", metavar="NAME,…", help="default: all that are built; the first is compared with")
    add("--profiles", default=",".join(PROFILES), metavar="NAME,…", help="default: all")
    add("--counts", choices=["all", "largest"], default="all", help="of a profile's connection counts; default all")
    add("--scale", type=harness.at_least_one(int), default=SCALE, help=f"of connections; default {SCALE}")
    add("--cgroup", default="", metavar="FOLDER,…", help="of cgroup, in which a group for each server may be made")
    add("--no-check", action="store_true", help="believe that the servers answer rightly")
    add("--h2load", action="store_true", help="of HTTP/2: by h2load, as theirs, in place of katana-load")
    add("--html", type=Path, metavar="FILE", help="write the picture of the score")
    add("--data", type=Path, default=DATA, metavar="FOLDER", help=f"default {DATA}")
    options = parser.parse_args(arguments)
    options.cgroup = tuple(map(Path, options.cgroup.split(","))) if options.cgroup else memory.own_parents()
    options.profiles = harness.known(parser, "profile", options.profiles, PROFILES)
    if options.servers:
        options.servers = harness.known(parser, "server", options.servers, list(servers.SERVERS))
    return options


def checked(options: argparse.Namespace, entered: Sequence[Server]) -> dict[str, list[str]]:
    """The servers of each profile, without those that answer wrongly."""
    fit: dict[str, list[str]] = {profile: [] for profile in options.profiles}
    for server in entered:
        name = server.name
        profiles = [profile for profile in options.profiles if profile in server.profiles]
        if options.no_check:
            for profile in profiles:
                fit[profile].append(name)
            continue
        with servers.running(server, options.data, options.build) as (_, ports):
            examined = check.Check(ports, options.data)
            for profile in profiles:
                failed = examined.run(profile)
                if failed:
                    print(f"left out: {name} in {profile}: {failed[0]}", file=sys.stderr)
                else:
                    fit[profile].append(name)
    return {profile: names for profile, names in fit.items() if names}


def measure(server: Server, profile: str, connections: int, options: argparse.Namespace) -> dict:
    """A fresh server under a profile's load."""
    load = LOADS[profile].by_h2load() if options.h2load else LOADS[profile]
    group = memory.Group(*options.cgroup) if options.cgroup else None
    try:
        with servers.running(server, options.data, options.build, prefix=group.prefix if group else ()) as (process,
                                                                                                        ports):
            at_rest = memory.at_rest(process.pid)
            drive(load.driver, load.job(profile, ports, options.build, options.data, connections, 1.0),
                  [harness.CLIENT_CPU])
            job = load.job(profile, ports, options.build, options.data, connections, options.seconds)
            before = group.cpu_us() if group else None
            with memory.Watch(process.pid, group).watching() as most:
                figures, done = measured.loaded(process.pid, load.driver, job)
            if group and before is not None and (after := group.cpu_us()) is not None:
                figures["us"] = (after - before) / max(done.requests, 1)
    finally:
        if group:
            group.close()
    if done.told.get("void"):
        figures["errors"] += 1
        print(f"\n{server.name} in {profile}: void: {'; '.join(done.told['void_reasons'])}", file=sys.stderr)
    return {**figures, **most, "rest_kib": at_rest, "reply_bytes": done.told["bytes"] / max(done.requests, 1)}


def counts_of(profile: str, options: argparse.Namespace) -> list[int]:
    """Its connection counts."""
    counts = LOADS[profile].connections(options.scale)
    return counts[-1:] if options.counts == "largest" else counts


def run(options: argparse.Namespace, fit: dict[str, list[str]]) -> Results:
    """Run all profiles, one after another; --json has the results so far after each."""
    results: Results = {}
    for profile, names in fit.items():
        results[profile] = {}
        for connections in counts_of(profile, options):
            def one(name: str, profile: str = profile, connections: int = connections) -> dict:
                return measure(servers.SERVERS[name], profile, connections, options)

            results[profile][connections] = harness.in_rounds(
                options.rounds, names, measured.spared(one, f" in {profile}", []), f"{profile} {connections}")
        harness.write(argparse.Namespace(json=options.json), [], results)
    return results


# ---- tables --------------------------------------------------------------------------------------

def row(rounds: harness.Rounds, name: str, connections: int) -> tuple[str, ...]:
    """The cells of a server at a connection count."""
    calm, median = harness.calm(rounds, name), harness.median
    first = next(iter(rounds[0]))
    return (name, str(connections), median(calm, "us"), harness.spread(harness.ratios(rounds, name, first)),
            measured.rate_cell(calm), median(calm, "mean_us", ",.0f"), median(calm, "p99_us", ",.0f"),
            *measured.mib_cells(calm, "rest_kib", "pss_anon_kib", "cgroup_kib"), median(calm, "reply_bytes", ",.0f"),
            *measured.last_cells(rounds, name))


def mean_over_counts(by_count: dict[int, harness.Rounds], name: str, figure: str) -> float:
    """The mean over connection counts of the median over rounds."""
    return statistics.mean(statistics.median(one.get(figure) or 0 for one in harness.calm(rounds, name))
                           for rounds in by_count.values())


def entries_of(results: Results) -> dict[str, dict[str, score.Entry]]:
    """The figures from which the points are computed."""
    figures = {"rate": "rate", "reply_bytes": "reply_bytes", "cpu_us": "us", "p99_us": "p99_us", "mean_us": "mean_us"}
    return {profile: {name: score.Entry(**{member: mean_over_counts(by_count, name, figure)
                                           for member, figure in figures.items()})
                      for name in next(iter(by_count.values()))[0]}
            for profile, by_count in results.items()}


def score_tables(results: Results) -> list[str]:
    """The points of each server, a table for each board."""
    lines: list[str] = []
    for board, by_server in score.score(entries_of(results)).items():
        profiles = list(dict.fromkeys(profile for points in by_server.values() for profile in points))
        rows = [(name, servers.SERVERS[name].kind, servers.SERVERS[name].language,
                 *(f"{points[profile]:,.0f}" if profile in points else "" for profile in profiles),
                 f"{sum(points.values()):,.0f}") for name, points in by_server.items()]
        lines += [f"### {board}", "", *harness.markdown(("server", "class", "language", *profiles, "sum"), rows), ""]
    return lines


def place(values: dict[str, float], name: str, smallest_first: bool) -> tuple[int, str, float]:
    """The place of a server, the best of the others, and its value over theirs."""
    order = sorted(values, key=lambda one: (values[one] or math.inf) if smallest_first else -values[one])
    best = next((one for one in order if one != name), name)
    return order.index(name) + 1, best, values[name] / values[best] if values[best] else 0.0


def standing(results: Results, name: str) -> list[str]:
    """Where a server stands: by CPU, by rate and by memory, beside the best of the others."""
    rows = []
    for profile, by_count in results.items():
        names = list(next(iter(by_count.values()))[0])
        if name not in names:
            continue
        cells = []
        for figure, smallest in (("us", True), ("rate", False), ("pss_anon_kib", True)):
            values = {one: mean_over_counts(by_count, one, figure) for one in names}
            where, best, ratio = place(values, name, smallest)
            cells.append(f"{where} of {len(names)}, {ratio:.2f} × {best}")
        rows.append((profile, *cells))
    return harness.markdown(("profile", "CPU/request", "requests/s", "anonymous memory"), rows)


def tables(results: Results, first: str, is_charged: bool) -> list[str]:
    """All of them; `first` is compared with the others. `is_charged`: CPU time is that of cgroups."""
    charged = "its cgroup was charged with" if is_charged else "its processes used (no cgroup could be made here)"
    lines = [*measured.heading("HttpArena's profiles on one CPU", "lab/arena.py", f"CPU of a server: what {charged}."),
             "## Points", "", *score_tables(results), f"## Where {first} stands", "",
             "Place, and its value over that of the best of the others; means over connection counts.", "",
             *standing(results, first)]
    for profile, by_count in results.items():
        lines += ["", f"## {profile}", ""]
        lines += harness.markdown(COLUMNS, [row(rounds, name, connections) for connections, rounds in by_count.items()
                                            for name in rounds[0]])
    return lines


def main() -> None:
    """Check, measure, print, write."""
    options = parse_options()
    harness.need("curl")
    proc.built("katana-load", options.build)
    data.prepare(options.data)
    entered = servers.CONTEST.present(options.servers, options.build)
    fit = checked(options, entered)
    if not fit:
        raise LabError("no server has any of these profiles: lab/arena/rivals/build builds the rivals")
    results = run(options, fit)
    lines = tables(results, entered[0].name, bool(options.cgroup))
    print("\n".join(lines))
    harness.write(options, lines, results)
    if options.html:
        from katana_lab import plots                             # it needs plotly
        plots.write_page(plots.arena_score(score.score(entries_of(results))), options.html)

# SPDX-License-Identifier: Apache-2.0
