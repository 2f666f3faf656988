"""Users over SQLite, durable: KATANA beside rivals of equal duties, on one CPU, in one run.

    main_job.py [--servers katana,axum,…] [--rounds 3] [--seconds 2] [--connections 64] [--build build/bench]
                [--no-check] [--json FILE] [--markdown FILE] [--html FILE]

First every server is checked (lab/main_job/check): one that fails is left out, and named. Then each round runs every
server once (A B C A B C …). Each run has a fresh process on CPU 0, over a copy of its database of 100,000 users. The
loads come from katana-load on CPU 1, each after a warm-up: three reads, the open loops, POST, and the mix. The warm-up
of POST is long enough for SQLite's log to reach its full size, and to be written over from then on.
    CPU us/request   user and kernel time of the server's processes for each request
    ratio            of that to the first server's: median over rounds of (server / first) within a round
    requests/s       '≥': a lower bound, because the generator was the limit
    p99 us           of a closed loop, from sending to the whole reply
    server, client   shares of CPU 0 that the server used, and of CPU 1 that the generator used or waited for
    start ms         from exec to the first 200 of /health
    MiB              anonymous memory (Pss_Anon): after the start, and the most under load.
Latency at a rate is of an open loop of GET /users/{id} over the same connections, from the intended time. One rate is
5,000/s for all. The others are 5, 20 and 60 % of the rate of the server's closed loop in the same round. The sign '*'
means that a run was void (the generator was late) or had errors. p99.9 of less than 1,000 samples is n/a.
Rivals are built by lab/main_job/rivals/build. Three rounds of nine servers take about fourteen minutes.
"""
from __future__ import annotations

import argparse
import os
import shutil
import statistics
from collections.abc import Sequence
from pathlib import Path

from katana_lab import LabError, proc
from katana_lab.contest import check as contest_check
from katana_lab.contest import measured, memory
from katana_lab.contest.servers import Server
from katana_lab.costs import harness, main_job_tables
from katana_lab.drivers import drive
from katana_lab.main_job import check, loads, servers
from katana_lab.main_job.loads import LOADS, WARM_UP_REQUESTS

SHARES = (0.05, 0.20, 0.60)
COMMON_RATE = 5000
READS, WRITES = ("health", "user", "page"), ("post", "mix")


def parse_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The flags, checked."""
    parser = harness.parser(__doc__, 3, 2.0, 64)
    parser.add_argument("--servers", default="", metavar="NAME,…",
                        help="default: all that are built; the first is compared with")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write the picture of the ratios")
    parser.add_argument("--no-check", action="store_true", help="believe that the servers do their duties")
    options = parser.parse_args(arguments)
    if options.servers:
        options.servers = harness.known(parser, "server", options.servers, list(servers.SERVERS))
    return options


def entrants(options: argparse.Namespace) -> list[Server]:
    """The servers that were asked for, or all that are here, without those that fail the check. Missing ones are
    printed."""
    found = servers.CONTEST.present(options.servers, options.build)
    return found if options.no_check else contest_check.fit(
        found, lambda server: check.check_server(server, options.build), [])


def own_database(server: Server, options: argparse.Namespace, folder: Path) -> None:
    """A database that the server has used once: its work at the first start is not measured."""
    file = folder / f"{server.name}.db"
    shutil.copy(folder / "users.db", file)
    with servers.running(server, options.build, file):
        pass
    loads.fold(file)


# ---- one server in one round ---------------------------------------------------------------------

def closed_loop(name: str, started: servers.Started, options: argparse.Namespace, folder: Path) -> dict:
    """A load as fast as it goes, after a warm-up."""
    load = LOADS[name]

    def job(seconds: float, count: int):
        return load.job(started.port, options.build, options.connections, seconds, load.write(folder, count))

    warm = drive("katana-load", job(load.warm_up_s, WARM_UP_REQUESTS), [harness.CLIENT_CPU])
    count = int(loads.SPARE * options.seconds * warm.rate_per_s) + 1000
    figures, done = measured.loaded(started.pid, "katana-load", job(options.seconds, count))
    return {**figures, "statuses": done.told["statuses"]}


def open_loop(rate: float, started: servers.Started, options: argparse.Namespace, folder: Path) -> dict:
    """GET of a user at a rate."""
    load = LOADS["user"]
    job = load.job(started.port, options.build, options.connections, options.seconds, load.write(folder, 0), rate)
    figures, done = harness.measure_load(started.pid, "katana-load", job)
    latency = done.told["latency_us"]
    return {"rate": rate, "us": figures["us"], "other": figures["other"], "errors": figures["errors"],
            "void": done.told["void"], "samples": latency["samples"],
            **{key: latency.get(key) for key in ("p50", "p99", "p999")}}


def visit(server: Server, options: argparse.Namespace, folder: Path) -> dict:
    """A fresh process under all loads."""
    file = folder / "round.db"
    for suffix in ("", "-wal", "-shm"):
        Path(f"{file}{suffix}").unlink(missing_ok=True)
    shutil.copy(folder / f"{server.name}.db", file)
    with servers.running(server, options.build, file) as started:
        found: dict = {"start_ms": started.start_ms, "rest_kib": memory.at_rest(started.pid), "tests": {}, "rates": {}}
        with memory.Watch(started.pid).watching() as most:
            for name in READS:
                found["tests"][name] = closed_loop(name, started, options, folder)
            capacity = found["tests"]["user"]["rate"]
            for share in SHARES:
                found["rates"][f"{share:.0%}"] = open_loop(share * capacity, started, options, folder)
            if capacity > COMMON_RATE:
                found["rates"][f"{COMMON_RATE:,}/s"] = open_loop(COMMON_RATE, started, options, folder)
            for name in WRITES:
                found["tests"][name] = closed_loop(name, started, options, folder)
    return {**found, "most_kib": most["pss_anon_kib"]}


def run(options: argparse.Namespace, entered: Sequence[Server], folder: Path) -> harness.Rounds:
    """Run all rounds. --json has the results so far after each visit, in case that the run is not finished."""
    by_name = {server.name: server for server in entered}
    visits: list[dict] = []

    measure = measured.spared(lambda name: visit(by_name[name], options, folder), "", [], {"tests": {}, "rates": {}})

    def one(name: str) -> dict:
        found = measure(name)
        visits.append({name: found})
        harness.write(argparse.Namespace(json=options.json), [], {"visits": visits})
        return found

    return harness.in_rounds(options.rounds, list(by_name), one, "main_job")


def main() -> int:
    """Check, measure, print, write."""
    options = parse_options()
    harness.need()
    proc.built("katana-load", options.build)
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {harness.CLIENT_CPU})                # a start is measured without this on the server's CPU
    try:
        entered = entrants(options)
        if not entered:
            raise LabError("no server is here, or none does its duties: lab/main_job/rivals/build builds the rivals")
        with check.folder() as folder:
            flush = statistics.median(loads.flush_us(folder) for _ in range(3))
            loads.make_database(folder / "users.db")
            for server in entered:
                own_database(server, options, folder)
            rounds = run(options, entered, folder)
    finally:
        os.sched_setaffinity(0, before)
    lines = main_job_tables.tables(rounds, entered, flush)
    print("\n".join(lines))
    harness.write(options, lines, {"flush_us": flush, "seconds": options.seconds, "rounds": rounds})
    if options.html:
        from katana_lab import plots                             # it needs plotly
        plots.write_page(plots.cpu_ratios(main_job_tables.median_ratios(rounds), entered[0].name), options.html)
    return 0

# SPDX-License-Identifier: Apache-2.0
