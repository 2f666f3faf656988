"""What a row of PostgreSQL over HTTP costs, beside axum with tokio-postgres, in one run.

    postgres_http_cost.py [--build build/bench] [--rounds 5] [--seconds 3] [--connections 64]
                          [--database-connections 1] [--tests user,db,…] [--json FILE] [--markdown FILE]

Each round runs both servers (A B A B …), each in a fresh process with one thread on CPU 0; wrk and a PostgreSQL of
this run's own are on CPU 1. Server CPU us per request:
    health     GET /health: no database
    user       GET /users/77: one row by its key, as JSON
    db         GET /db: TechEmpower's single query      queries    GET /queries?count=20: 20 queries of one request
    fortunes   GET /fortunes: 12 rows, sorted, as HTML    updates    GET /updates?count=20: 20 queries, then their
                                                                      rows are written in one statement
'ratio' is the median over rounds of katana / axum within a round. The last line is the measure of the framework:
`user` against `health` and a read of libpq's bare pipeline (postgres_cost.py) together, of the same round.
Needs wrk, PostgreSQL's server and cargo.
"""
from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from katana_lab import ROOT, LabError, proc
from katana_lab.costs import harness, postgres
from katana_lab.drivers import Job

PATHS = {"health": "/health", "user": "/users/77", "db": "/db", "queries": "/queries?count=20", "fortunes": "/fortunes",
         "updates": "/updates?count=20"}
AXUM = ROOT / "build/postgres/rust_axum/release/rust_axum"
SERVERS = ("katana", "axum")
SCHEMA = """CREATE TABLE world (id INT PRIMARY KEY, random_number INT NOT NULL);
INSERT INTO world SELECT n, 1 + n * 7919 % 10000 FROM generate_series(1, 10000) n;
CREATE TABLE fortune (id INT PRIMARY KEY, message TEXT NOT NULL);
INSERT INTO fortune SELECT n, 'Fortune ' || n || ': <b>tea</b> & "cakes", フレームワーク' FROM generate_series(1, 12) n;
VACUUM ANALYZE;"""


def command_of(name: str, options, server: postgres.Cluster):
    """What starts a server."""
    if name == "katana":
        url = f"postgresql:///bench?host={server.folder}&port={server.port}&user=katana"
        program = proc.built("postgres_http_server", options.build)
        return lambda port, _: [program, "--port", str(port), "--database", url, "--connections",
                                str(options.database_connections)]
    connections = str(options.database_connections)
    return lambda port, _: [str(AXUM), str(port), str(server.folder), str(server.port), connections]


def measure(name: str, test: str, options, server: postgres.Cluster, ports: Iterator[int]) -> dict:
    """CPU of a fresh server for each request."""
    with harness.serving(name, command_of(name, options, server), ports, PATHS[test]) as running:
        job = Job(running.port, options.build, PATHS[test], seconds=options.seconds, connections=options.connections)
        harness.drive("wrk", Job(running.port, options.build, PATHS[test], seconds=1, connections=options.connections),
                      [harness.CLIENT_CPU])
        figures, done = harness.measure_load(running.pid, "wrk", job)
        if done.errors:
            raise LabError(f"{name}: {done.errors} of {done.requests} requests to {PATHS[test]} failed")
        return figures


def bare(options, server: postgres.Cluster) -> dict:
    """A read of libpq's pipeline."""
    options.callers, options.blocking_connections = options.connections, 1
    options.connections, kept = options.database_connections, options.connections
    try:
        return postgres.measure("libpq_pipeline", options, server)
    finally:
        options.connections = kept


def run(options, tests: list[str]) -> dict[str, harness.Rounds]:
    """One {server: figures} for each round of each test."""
    results: dict[str, harness.Rounds] = {test: [] for test in tests}
    ports = proc.free_port()
    with postgres.cluster(next(ports), SCHEMA) as server:
        for number in range(options.rounds):
            for test in tests:
                one = {}
                for name in SERVERS:
                    print(f"\r{number + 1}/{options.rounds} {test} {name:<10}", end="", file=sys.stderr, flush=True)
                    one[name] = measure(name, test, options, server, ports)
                if test == "user":
                    one["libpq"] = bare(options, server)
                results[test].append(one)
    print(file=sys.stderr)
    return results


def table(results: dict[str, harness.Rounds]) -> list[str]:
    """The Markdown table of medians and ratios."""
    rows = []
    for test, rounds in results.items():
        middle = {name: [one[name] for one in rounds] for name in SERVERS}
        rates = [f"{statistics.median(one['rate'] for one in middle[name]):,.0f}" for name in SERVERS]
        rows.append((test, *(harness.median(middle[name], "us") for name in SERVERS),
                     harness.spread(harness.ratios(rounds, *SERVERS)), *rates,
                     harness.spread(harness.ratios(rounds, *SERVERS, "rate"))))
    lines = harness.markdown(("test", "katana us", "axum us", "ratio", "katana /s", "axum /s", "ratio of rates"), rows)
    if {"health", "user"} <= results.keys():
        sums = [(user["katana"]["us"], health["katana"]["us"] + user["libpq"]["us"])
                for user, health in zip(results["user"], results["health"], strict=True)]
        lines += ["", "`user` / (`health` + a read of libpq's pipeline): "
                  + harness.spread([whole / parts for whole, parts in sums])]
    return lines


def main() -> None:
    """Measure, and print the table."""
    parser = harness.parser(__doc__, 5, 3.0, 64)
    parser.add_argument("--database-connections", type=harness.at_least_one(int), default=1, help="default 1")
    parser.add_argument("--tests", default=",".join(PATHS), help="default: all")
    options = parser.parse_args()
    tests = harness.known(parser, "test", options.tests, list(PATHS))
    harness.need("wrk", "setpriv", "cargo")
    Path(AXUM).parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cargo", "build", "--release", "--locked", "--quiet", "--target-dir", AXUM.parent.parent],
                   cwd=postgres.SOURCES / "rust_axum", check=True)
    results = run(options, tests)
    lines = table(results)
    print("\n".join(lines))
    harness.write(options, lines, results)

# SPDX-License-Identifier: Apache-2.0
