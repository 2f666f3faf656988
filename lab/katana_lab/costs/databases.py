"""The cost of SQLite and PostgreSQL for the same program: fullstack, with both, in one run.

    databases_cost.py [--build build/bench] [--rounds 5] [--seconds 3] [--json FILE] [--markdown FILE]

Each round runs fullstack on a file, then on a PostgreSQL of this run's own (A B …), each with 200,000 users. The
program has one reactor on CPU 0; the load and PostgreSQL are on CPU 1. Both flush each write before it is acknowledged.
    one user   GET /api/users/{n}                 64 connections that ask again at once
    a page     GET /api/users?limit=100&after={n} the same
    a write    POST /api/data                     the same
'program' is the program's CPU for each request, 'PostgreSQL' that of the server's processes. 'ratio' is the median over
rounds of the program's PostgreSQL / SQLite. Needs PostgreSQL's server.
"""
from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

from katana_lab import proc
from katana_lab.costs import harness, postgres, templates

LOADS = ("one user", "a page", "a write")
SUBJECTS = ("SQLite", "PostgreSQL")
USERS = f"""INSERT INTO users (name, email)
SELECT 'user ' || i, 'user' || i || '@example.org' FROM generate_series(1, {templates.USERS}) i; VACUUM ANALYZE;"""


def serving(url: str, options, ports):
    """The program on this database."""
    program = proc.built("fullstack", options.build)

    def command(port, work):
        sets = ["http.reactors=1", "http.drain_notice=0s", f"database.url={url.format(work=work)}", "log.console=false",
                f"log.file={work}/app.log"]
        return [program, "--port", str(port), *(part for each in sets for part in ("--set", each))]

    return harness.serving("fullstack", command, ports, "/health", patience_s=10)


def measure(url: str, load: str, options, ports, server: postgres.Cluster) -> dict:
    """One load of the program: its figures, and the CPU of PostgreSQL's processes for each request."""
    with serving(url, options, ports) as running:
        first = proc.usage(server.pid).cpu_s
        figures = templates.ask(load, running, options)
        # The load runs twice where system calls are counted; only what both took is known of PostgreSQL.
        runs = 1 if figures["calls"] is None else 2
        used = (proc.usage(server.pid).cpu_s - first) / runs
        return {"us": figures["cpu_us"], "rate": figures["rate"], "p99": figures["p99_us"],
                "server_us": 1e6 * used / (figures["rate"] * options.seconds)}


def run(options) -> dict[str, harness.Rounds]:
    """One {subject: figures} for each round of each load."""
    results: dict[str, harness.Rounds] = {load: [] for load in LOADS}
    ports = proc.free_port()
    with tempfile.TemporaryDirectory(prefix="katana-databases-") as made, \
            postgres.cluster(next(ports), settings={"fsync": "on"}) as server:
        file = templates.make_database(Path(made), options, ports)
        urls = {"SQLite": f"sqlite:{file}",
                "PostgreSQL": f"postgresql:///fullstack?host={server.folder}&port={server.port}&user=katana"}
        server.run("CREATE DATABASE fullstack", "postgres")
        with serving(urls["PostgreSQL"], options, ports):
            pass                                                 # it makes the tables
        server.run(USERS, "fullstack")
        for number in range(options.rounds):
            for load in LOADS:
                one = {}
                for name, url in urls.items():
                    print(f"\r{number + 1}/{options.rounds} {load} {name:<12}", end="", file=sys.stderr, flush=True)
                    one[name] = measure(url, load, options, ports, server)
                results[load].append(one)
    print(file=sys.stderr)
    return results


def table(results: dict[str, harness.Rounds]) -> list[str]:
    """The Markdown table of medians and ratios."""
    rows = []
    for load, rounds in results.items():
        for name in SUBJECTS:
            middle = {figure: statistics.median(one[name][figure] for one in rounds) for figure in rounds[0][name]}
            rows.append((load, name, f"{middle['rate']:,.0f}", f"{middle['us']:.1f}",
                         f"{middle['server_us']:.1f}" if name == "PostgreSQL" else "", f"{middle['p99']:,.0f}",
                         harness.spread(harness.ratios(rounds, name, "SQLite"))))
    return harness.markdown(("load", "database", "requests/s", "program us", "PostgreSQL us", "p99 us", "ratio"), rows)


def main() -> None:
    """Measure, and print the table."""
    parser = harness.parser(__doc__, 5, 3.0)
    options = parser.parse_args()
    harness.need("setpriv")
    results = run(options)
    lines = table(results)
    print("\n".join(lines))
    harness.write(options, lines, results)

# SPDX-License-Identifier: Apache-2.0
