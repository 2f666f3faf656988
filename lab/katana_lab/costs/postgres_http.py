"""The cost of a row of PostgreSQL over HTTP, beside axum with tokio-postgres, in one run.

    postgres_http_cost.py [--build build/bench] [--rounds 5] [--seconds 3] [--connections 64]
                          [--database-connections 1] [--tests user,…] [--json FILE] [--markdown FILE]

Each round runs both servers (A B A B …), each in a fresh process with one thread on CPU 0. On CPU 1 are wrk and a
separate PostgreSQL for this run. The tests, in server CPU us per request:
    health     GET /health: no database
    user       GET /users/77: one row by its key, as JSON
'ratio' is the median over rounds of katana / axum within a round. The last line is the measure of the framework:
`user` against `health` and a read of libpq's bare pipeline (postgres_cost.py) together, of the same round.
The programs are those of techempower.py, which has more rivals and more to ask; KATANA's runs by its defaults.
Needs wrk, PostgreSQL's server and cargo.
"""
from __future__ import annotations

import statistics
import sys

from katana_lab import LabError, proc
from katana_lab.costs import harness, postgres
from katana_lab.drivers import Job
from katana_lab.techempower import SCHEMA, servers

PATHS = {"health": "/health", "user": "/users/77"}
SERVERS = {"katana": servers.SERVERS["katana_shared"], "axum": servers.SERVERS["axum"]}


def measure(name: str, test: str, options, cluster: postgres.Cluster) -> dict:
    """CPU of a fresh server for each request."""
    with servers.running(SERVERS[name], options.build, cluster, options.database_connections,
                         PATHS[test]) as running:
        job = Job(running.port, options.build, PATHS[test], seconds=options.seconds, connections=options.connections)
        harness.drive("wrk", Job(running.port, options.build, PATHS[test], seconds=1, connections=options.connections),
                      [harness.CLIENT_CPU])
        figures, done = harness.measure_load(running.pid, "wrk", job)
        if done.errors:
            raise LabError(f"{name}: {done.errors} of {done.requests} requests to {PATHS[test]} failed")
        return figures


def bare(options, cluster: postgres.Cluster) -> dict:
    """A read of libpq's pipeline."""
    options.callers, options.blocking_connections = options.connections, 1
    options.connections, kept = options.database_connections, options.connections
    try:
        return postgres.measure("libpq_pipeline", options, cluster)
    finally:
        options.connections = kept


def run(options, tests: list[str]) -> dict[str, harness.Rounds]:
    """One {server: figures} for each round of each test."""
    results: dict[str, harness.Rounds] = {test: [] for test in tests}
    with postgres.cluster(next(proc.free_port()), SCHEMA) as cluster:
        for number in range(options.rounds):
            for test in tests:
                one = {}
                for name in SERVERS:
                    print(f"\r{number + 1}/{options.rounds} {test} {name:<10}", end="", file=sys.stderr, flush=True)
                    one[name] = measure(name, test, options, cluster)
                if test == "user":
                    one["libpq"] = bare(options, cluster)
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
    SERVERS["axum"].make()
    results = run(options, tests)
    lines = table(results)
    print("\n".join(lines))
    harness.write(options, lines, results)

# SPDX-License-Identifier: Apache-2.0
