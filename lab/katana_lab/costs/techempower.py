"""TechEmpower's seven tests on one CPU: KATANA beside rivals of equal duties, in one run.

    techempower.py [--build build/bench] [--rounds 3] [--seconds 2] [--servers katana,axum,…] [--tests json,db,…]
                   [--cases all|headline] [--connections 64] [--text-connections 64,256] [--database-connections 1]
                   [--blocking-connections 16] [--no-check] [--json FILE] [--markdown FILE]

It builds the rivals (lab/techempower/rivals/build), checks every server by TechEmpower's rules (lab/techempower/check)
and measures those that pass. Each round runs every server once (A B C D A B C D …). Each run is
a fresh process with one thread on CPU 0, after a second of warm-up. On CPU 1 are wrk and a separate PostgreSQL,
connected by a Unix socket. Tests:
    json, plaintext             no database; plaintext with 16 requests of a pipeline
    db, queries, updates        rows by random ids, 1 and 20 of them; fortunes: 12 rows as HTML
    cached-queries              rows from a cache in memory, 1 and 100 of them
Where a row comes from PostgreSQL, CPU 1 is the limit of requests/s. CPU us/request is then the cost of a server, and
the rate says how well it feeds PostgreSQL. `--database-connections` are those of clients that pipeline.
`--blocking-connections` are those of clients that have one statement, or one pipeline, in flight on each.
The exit status is 1 when a server was left out. Needs wrk, PostgreSQL's server, and cargo and go for the rivals.
"""
from __future__ import annotations

import argparse
import dataclasses
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence

from katana_lab import LabError, proc
from katana_lab.contest import check as contest_check
from katana_lab.contest import measured
from katana_lab.contest.servers import Server
from katana_lab.costs import harness, postgres
from katana_lab.drivers import Job, drive
from katana_lab.techempower import SCHEMA, TESTS, check, servers

COLUMNS = ("server", "CPU us/request", "katana / it", "requests/s", "katana / it", "MiB after", "CPU 0", "CPU 1",
           "errors")
FAILED = {**measured.FAILED, "rate": None, "rss_kib": None}
RANKED = {"us": False, "rate": True, "rss_kib": False}   # whether the largest is the first
READING = (
    "Ranks are by the median of the rounds. Ratios are of katana to the server of the row: median over the rounds,\n"
    "smallest and largest. CPU 0 is the server's; CPU 1 has wrk and PostgreSQL. A rate with ≥ is what CPU 1 allowed:\n"
    "the server had CPU left. A server in parentheses breaks a rule of TechEmpower's, and has no rank.")


@dataclasses.dataclass(frozen=True)
class Case:
    """A test with as many connections, and rows where it has any."""

    test: str
    connections: int
    rows: int = 0

    @property
    def title(self) -> str:
        """For tables."""
        rows = f", {self.rows} row{'s' if self.rows > 1 else ''}" if self.rows else ""
        return f"{self.test}{rows}, {self.connections} connections"


def parse_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The flags, checked."""
    parser = harness.parser(__doc__, 3, 2.0, 64)
    add, count = parser.add_argument, harness.at_least_one(int)
    add("--servers", default=",".join(servers.SERVERS), metavar="NAME,…", help="default: all")
    add("--tests", default=",".join(TESTS), metavar="NAME,…", help="default: all seven")
    add("--cases", choices=("all", "headline"), default="all",
        help="headline: the most rows, and the first count of connections")
    add("--text-connections", type=counts, default=[64, 256], metavar="N,…", help="of json and plaintext; default"
        " 64,256")
    add("--database-connections", type=count, default=1, help="of clients that pipeline; default 1")
    add("--blocking-connections", type=count, default=16, help="of the others; default 16")
    add("--no-check", action="store_true", help="believe that the servers keep the rules")
    options = parser.parse_args(arguments)
    options.servers = harness.known(parser, "server", options.servers, list(servers.SERVERS))
    options.tests = harness.known(parser, "test", options.tests, list(TESTS))
    return options


def counts(text: str) -> list[int]:
    """Numbers above 0, such as 64,256."""
    return [harness.at_least_one(int)(number) for number in text.split(",")]


def cases_of(options: argparse.Namespace) -> list[Case]:
    """The cases to measure."""
    found = []
    for name in options.tests:
        test = TESTS[name]
        several = [Case(name, options.connections, rows) for rows in test.rows] or [
            Case(name, connections) for connections in
            (options.text_connections if not test.asks_database else [options.connections])]
        if options.cases == "headline":
            several = several[-1:] if test.rows else several[:1]
        found += several
    return found


def database_connections(server: Server, options: argparse.Namespace) -> int:
    """The number of connections of a server to the database."""
    return options.database_connections if server.is_pipelined else options.blocking_connections


def entrants(options: argparse.Namespace) -> tuple[list[Server], list[str]]:
    """The servers that could be built and keep the rules, and the reasons why others are missing."""
    wanted = servers.chosen(options.servers)
    found = servers.CONTEST.make_all(wanted)
    left_out = [f"{server.name}: it could not be built" for server in wanted if server not in found]
    if options.no_check:
        return found, left_out
    with check.cluster_of(next(proc.free_port())) as cluster:
        return contest_check.fit(found, lambda server: check.check_server(
            server, options.build, cluster, database_connections(server, options)), left_out), left_out


def measure(server: Server, case: Case, options: argparse.Namespace, cluster: postgres.Cluster) -> dict:
    """A fresh server under a load."""
    test = TESTS[case.test]
    if test.writes:
        cluster.run("VACUUM world", "bench")                     # every server begins with a clean table
    with servers.running(server, options.build, cluster, database_connections(server, options)) as process:
        job = Job(process.port, options.build, test.target(case.rows), connections=case.connections,
                  seconds=options.seconds, in_flight=test.in_flight)
        drive("wrk", dataclasses.replace(job, seconds=1), [harness.CLIENT_CPU])
        return measured.loaded(process.pid, "wrk", job)[0]


def run(options: argparse.Namespace, entered: Sequence[Server],
        visit: Callable[[Server, Case], dict]) -> tuple[dict[Case, harness.Rounds], list[str]]:
    """All rounds of all cases, and what failed in them: a server that fails in a round has nothing in it."""
    by_name = {server.name: server for server in entered}
    results: dict[Case, harness.Rounds] = {}
    failed: list[str] = []
    for case in cases_of(options):
        def one(name: str, case: Case = case) -> dict:
            return visit(by_name[name], case)

        results[case] = harness.in_rounds(options.rounds, list(by_name), measured.spared(
            one, f" in {case.title}", failed, FAILED), case.title)
    return results, failed


# ---- tables --------------------------------------------------------------------------------------

def medians(rounds: harness.Rounds, figure: str) -> dict[str, float]:
    """A figure of each server that has any."""
    found = {name: [one[name][figure] for one in rounds if one[name].get(figure)] for name in rounds[0]}
    return {name: statistics.median(values) for name, values in found.items() if values}


def ranks(values: Mapping[str, float], largest_first: bool) -> dict[str, int]:
    """The place of each name; equal values share one."""
    order = sorted(values.values(), reverse=largest_first)
    return {name: order.index(value) + 1 for name, value in values.items()}


def is_ranked(name: str) -> bool:
    """It keeps all the rules."""
    return servers.SERVERS[name].is_ranked


def ranks_table(results: dict[Case, harness.Rounds]) -> list[str]:
    """The place of each server in each case, by each figure."""
    names = [name for name in next(iter(results.values()))[0] if is_ranked(name)]
    rows = []
    for case, rounds in results.items():
        by_figure = []
        for figure, largest_first in RANKED.items():
            values = medians(rounds, figure)
            by_figure.append(ranks({name: values[name] for name in names if name in values}, largest_first))
        rows.append((case.title, *(" / ".join(str(places.get(name, "–")) for places in by_figure) for name in names)))
    return harness.markdown(("test", *names), rows)


def row(rounds: harness.Rounds, name: str) -> tuple[str, ...]:
    """The cells of a server in a case."""
    calm, median, first = harness.calm(rounds, name), harness.median, next(iter(rounds[0]))
    return (name if is_ranked(name) else f"({name})", median(calm, "us"),
            harness.spread(harness.ratios(rounds, first, name)),
            measured.rate_cell(calm), harness.spread(harness.ratios(rounds, first, name, "rate")),
            *measured.mib_cells(calm, "rss_kib"), *measured.last_cells(rounds, name))


def tables(results: dict[Case, harness.Rounds], entered: Sequence[Server]) -> list[str]:
    """All of them."""
    lines = [*measured.heading("TechEmpower's seven tests on one CPU", "lab/techempower.py", servers=entered),
             READING, "", "## Ranks", "", "By CPU us/request / by requests/s / by memory after the load.", "",
             *ranks_table(results)]
    for case, rounds in results.items():
        lines += ["", f"## {case.title}", "", *harness.markdown(COLUMNS, [row(rounds, name) for name in rounds[0]])]
    return lines


def main() -> int:
    """Build, check, measure, print, write."""
    options = parse_options()
    harness.need("wrk", "setpriv")
    entered, left_out = entrants(options)
    if not entered:
        raise LabError("no server could be built and keeps the rules")
    with postgres.cluster(next(proc.free_port()), SCHEMA) as cluster:
        results, failed = run(options, entered, lambda server, case: measure(server, case, options, cluster))
    lines = tables(results, entered)
    print("\n".join(lines))
    harness.write(options, lines, {case.title: rounds for case, rounds in results.items()})
    for reason in [*left_out, *failed]:
        print(f"left out: {reason}", file=sys.stderr)
    return 1 if left_out or failed else 0

# SPDX-License-Identifier: Apache-2.0
