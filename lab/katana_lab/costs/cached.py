"""The cost of a user from the response cache, beside /health and beside the handler, in one run.

    cached_cost.py [--build build/bench] [--rounds 9] [--seconds 3] [--connections 16] [--json FILE] [--markdown FILE]

Each round runs fullstack three times (A B C A B C …), in a fresh process. It has one user in a separate database. The
program has one reactor on CPU 0, and wrk is on CPU 1. Tests:
    /health   GET /health
    cached    GET /users/1 with cache.http.enabled
    handler   GET /users/1 without the cache: a query of SQLite, and JSON.
A reply that is not the user, or does not say that it is from the cache, ends the run.
    CPU us/request    user and kernel time of the program for each request
    ratio to /health  of that: median over rounds of (one / health) within a round
Needs wrk.
"""
from __future__ import annotations

import http.client
import json

from katana_lab import LabError, proc
from katana_lab.costs import harness
from katana_lab.drivers import Job
from katana_lab.heading import made_by

BASE = "/health"
COLUMNS = ("request", "CPU us/request", "ratio to /health", "client", "errors")
USER = {"name": "ada", "email": "ada@example.org"}


def command_of(options, cached):
    """Return the command of the program for `harness.serving`."""
    program = proc.built("fullstack", options.build)

    def command(port, work):
        sets = ["http.reactors=1", "http.drain_notice=0s", f"database.url=sqlite:{work}/users.db", "log.console=false",
                f"cache.http.enabled={str(cached).lower()}"]
        return [program, "--port", str(port), *(part for each in sets for part in ("--set", each))]

    return command


def ask(port, method, path, content=None):
    """Return status, fields and content of one reply."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    link.request(method, path, content and json.dumps(content), {"Content-Type": "application/json"} if content else {})
    reply = link.getresponse()
    found = reply.status, reply.headers, reply.read()
    link.close()
    return found


def prepare(port, cached):
    """Make the user, see that it is answered as it should be, and return its path."""
    status, fields, _ = ask(port, "POST", "/users", USER)
    if status != 201:
        raise LabError(f"POST /users is answered with {status}")
    path = fields["Location"]
    for _ in range(2):
        status, fields, content = ask(port, "GET", path)
    if status != 200 or json.loads(content)["name"] != USER["name"]:
        raise LabError(f"GET {path} is answered with {status}: {content[:200]}")
    if cached != ("hit" in (fields["Cache-Status"] or "")):
        raise LabError(f"GET {path} says Cache-Status: {fields['Cache-Status']}")
    return path


def measure(name, options, ports):
    """Return the figures of one request."""
    cached = name == "cached"
    with harness.serving(name, command_of(options, cached), ports, "/health", patience_s=10) as server:
        path = BASE if name == BASE else prepare(server.port, cached)
        job = Job(server.port, options.build, path, connections=options.connections, seconds=options.seconds)
        return harness.measure_load(server.pid, "wrk", job)[0]


def row(name, rounds):
    """Return the cells of one request."""
    calm, median = harness.calm(rounds, name), harness.median
    return (name, median(calm, "us"), harness.spread(harness.ratios(rounds, name, BASE)),
            f"{median(calm, 'client', '.0f', 100)} %", str(sum(one[name]["errors"] for one in rounds)))


def main() -> None:
    """Measure, print, write."""
    options = harness.parser(__doc__, 9, 3, 16).parse_args()
    harness.need("wrk")
    ports = proc.free_port(9700, 65536)
    rounds = harness.in_rounds(options.rounds, [BASE, "cached", "handler"],
                               lambda name: measure(name, options, ports), "cached")
    lines = ["# What a user from the cache costs", "", made_by("lab/cached_cost.py"), "",
             *harness.markdown(COLUMNS, [row(name, rounds) for name in rounds[0]])]
    print("\n".join(lines))
    harness.write(options, lines, rounds)

# SPDX-License-Identifier: Apache-2.0
