"""OpenAPI + SQL: the costs of the operations of a program on SQLite, by its own OpenAPI document.

    openapi_sql.py [--build build/bench] [--requests 20000] [--connections 8] [--seed 1] [--weight OPERATION=N]...
                   [--markdown FILE]

The document comes from fullstack (/openapi.json). `katana openapi requests` draws requests from it: operations by their
weights, parameters and contents by their schemas. The document permits each of these requests. Ids are those of
existing users. Each connection has one request in flight; a reply brings the next. The table has the columns of the
benchmarks that KATANA's repository began with: benchmark, value, unit.

The client is written in Python and limits the rate. Only the server's processor time for each request, and the order of
the latencies, are valid on other machines.
"""
from __future__ import annotations

import argparse
import collections
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time

from katana_lab import ROOT, LabError, proc, scenario

# The operations of a program with users, mostly reads. Other operations of the document are not requested.
WEIGHTS = {"listUsers": 30, "getUser": 40, "addUser": 10, "putUser": 5, "deleteUser": 1, "addData": 7, "getData": 7}
USERS = 200


def parse_options():
    """Return the options, complete and checked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--build", type=pathlib.Path, default=ROOT / "build" / "bench")
    add("--requests", type=int, default=20_000)
    add("--connections", type=int, default=8)
    add("--seed", type=int, default=1)
    add("--weight", action="append", default=[], metavar="OPERATION=NUMBER")
    add("--markdown", type=pathlib.Path, metavar="FILE", help="write the table there, too")
    options = parser.parse_args()
    options.build = options.build.resolve()
    for name in ("fullstack", "katana"):
        if not (options.build / name).exists():
            raise LabError(f"{options.build / name} is missing: cmake --preset bench && cmake --build --preset bench")
    return options


class Connection:
    """A kept connection of HTTP/1.1; replies have a Content-Length, or no content."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.left = b""

    def ask(self, request):
        """Return status and content of the reply to a whole request."""
        self.socket.sendall(request)
        while (end := self.left.find(b"\r\n\r\n")) < 0:
            self.receive()
        head, self.left = self.left[:end], self.left[end + 4:]
        status = int(head[9:12])
        length = 0
        for line in head.split(b"\r\n")[1:]:
            if line[:15].lower() == b"content-length:":
                length = int(line[15:])
        while len(self.left) < length:
            self.receive()
        content, self.left = self.left[:length], self.left[length:]
        return status, content

    def receive(self):
        """Take what has come."""
        piece = self.socket.recv(65536)
        if not piece:
            raise LabError("the server ended a connection")
        self.left += piece


def bytes_of(drawn, port):
    """Return a drawn request as it is sent."""
    content = drawn["content"].encode()
    fields = {"Host": f"127.0.0.1:{port}", **drawn["fields"], "Content-Length": str(len(content))}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"{drawn['method']} {drawn['target']} HTTP/1.1\r\n{lines}\r\n".encode() + content


def draw(options, folder, count, weights):
    """Return requests of the document."""
    return scenario.draw(options.build / "katana", folder / "openapi.json", count, options.seed, weights,
                         {"id": f"1-{USERS}"})


def fill(connection, options, folder, port, operations):
    """Make users, so that there is something to read."""
    only = {name: 0 for name in operations} | {"addUser": 1}
    for number, drawn in enumerate(draw(options, folder, USERS, only)):
        content = json.loads(drawn["content"])
        content["email"] = f"user{number}@example.com"
        drawn["content"] = json.dumps(content)
        status, reply = connection.ask(bytes_of(drawn, port))
        if status != 201:
            raise LabError(f"a user was not made: {status} {reply[:200]!r}")


def measure(options, port, drawn):
    """Send all requests on the connections; return latencies in µs and statuses, by operation."""
    latencies, statuses = collections.defaultdict(list), collections.Counter()
    lock, failures = threading.Lock(), []

    def work(part):
        try:
            connection = Connection(port)
            own = []
            for each in part:
                begun = time.perf_counter_ns()
                status, _ = connection.ask(each[1])
                own.append((each[0], status, (time.perf_counter_ns() - begun) / 1000))
            with lock:
                for operation, status, latency in own:
                    latencies[operation].append(latency)
                    statuses[operation, status] += 1
        except (OSError, LabError) as error:
            failures.append(error)

    requests = [(each["operation"], bytes_of(each, port)) for each in drawn]
    threads = [threading.Thread(target=work, args=(requests[number::options.connections],))
               for number in range(options.connections)]
    begun = time.perf_counter()
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    if failures:
        raise LabError(f"{len(failures)} connections failed: {failures[0]}")
    return latencies, statuses, time.perf_counter() - begun


def cpu_us(pid):
    """Return the processor time that a process has taken."""
    return 1e6 * proc.usage(pid).cpu_s


def at(sorted_values, part):
    """Return the value that `part` of them are below."""
    return sorted_values[min(len(sorted_values) - 1, int(len(sorted_values) * part))]


def table(latencies, statuses, seconds, spent_us):
    """Return the rows: benchmark, value, unit."""
    count = sum(len(values) for values in latencies.values())
    rows = ["| Benchmark | Value | Unit |", "|---|---|---|",
            f"| OpenAPI + SQL: all operations | {count / seconds:,.0f} | req/s (bounded by the client) |",
            f"| OpenAPI + SQL: processor time of the server | {spent_us / count:.1f} | µs per request |"]
    for operation, values in sorted(latencies.items()):
        values.sort()
        answered = ", ".join(f"{status}: {number}" for (name, status), number in sorted(statuses.items())
                             if name == operation)
        rows += [f"| {operation} ({answered}) p50 | {at(values, 0.5):,.0f} | µs |",
                 f"| {operation} p99 | {at(values, 0.99):,.0f} | µs |"]
    return rows


def run_in(options, folder, log):
    """Serve fullstack in a folder, and return the rows."""
    port = next(proc.free_port())
    process = subprocess.Popen(
        [options.build / "fullstack", "--port", str(port), "--set", "http.reactors=1", "--set",
         f"database.url=sqlite:{folder}/katana.db", "--set", "log.console=false", "--set",
         f"log.file={folder}/app.log"],
        stdout=log, stderr=log, cwd=folder)
    try:
        for _ in range(200):
            try:
                connection = Connection(port)
                break
            except OSError:
                time.sleep(0.05)
        else:
            raise LabError("fullstack did not start")
        status, text = connection.ask(f"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        if status != 200:
            raise LabError(f"/openapi.json: {status}")
        (folder / "openapi.json").write_bytes(text)
        operations = [each["operationId"] for path in json.loads(text)["paths"].values() for each in path.values()
                      if isinstance(each, dict) and "operationId" in each]
        fill(connection, options, folder, port, operations)
        weights = {name: WEIGHTS.get(name, 0) for name in operations}
        weights |= dict(each.rsplit("=", 1) for each in options.weight)
        drawn = draw(options, folder, options.requests, weights)
        before = cpu_us(process.pid)
        latencies, statuses, seconds = measure(options, port, drawn)
        return table(latencies, statuses, seconds, cpu_us(process.pid) - before)
    finally:
        process.terminate()
        process.wait(30)


def main() -> None:
    """Run the command line."""
    options = parse_options()
    with tempfile.TemporaryDirectory() as folder, open(pathlib.Path(folder) / "out.log", "wb") as log:
        rows = run_in(options, pathlib.Path(folder), log)
    text = "\n".join([f"`lab/openapi_sql.py {' '.join(sys.argv[1:])}`, {time.strftime('%Y-%m-%d')}.", "", *rows]) + "\n"
    print(text, end="")
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")


# SPDX-License-Identifier: Apache-2.0
