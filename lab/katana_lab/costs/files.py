"""The cost of a static file for a server, beside nginx with sendfile, in one run.

    files_cost.py [--sizes 1024,1048576] [--engines epoll-edge,io_uring] [--rounds 9] [--seconds 3] [--connections 16]
                  [--build build/bench] [--json FILE] [--markdown FILE]

Each round runs every server once (A B C …), in a fresh process with one worker on CPU 0, wrk on CPU 1. All of them
serve the same files from the page cache on kept connections. First they show that they do. A reply that is not the file
ends the run. nginx keeps files open for a second, as KATANA does (`lab/peers/nginx_files.conf`).
    CPU us/request   user and kernel time of the server's processes for each request
    CPU ns/KiB       the same for each KiB of the file
    ratio to nginx   of the processor time for each byte: median over rounds of (server / nginx) within a round
    system calls     for each request; n/a where the machine does not count
Needs wrk, nginx and perf.
"""
from __future__ import annotations

import argparse
import http.client
import os
import pathlib
import tempfile

from katana_lab import LAB, LabError, proc
from katana_lab.costs import harness
from katana_lab.drivers import Job
from katana_lab.heading import made_by

PEER = "nginx"
COLUMNS = ("file", "server", "CPU us/request", "CPU ns/KiB", "ratio to nginx", "system calls", "client", "errors")


def sizes(text):
    """Return the sizes of a list such as 1024,1048576."""
    found = harness.numbers(text)
    if not all(0 < size <= 1 << 30 for size in found):
        raise argparse.ArgumentTypeError(f"{text!r}: a file has 1 to {1 << 30} bytes")
    return found


def parse_options(arguments=None):
    """Return the options, complete and checked."""
    parser = harness.parser(__doc__, 9, 3, 16)
    add = parser.add_argument
    add("--sizes", type=sizes, default=[1 << 10, 1 << 20], metavar="BYTES,…", help="of the files; 1024,1048576")
    add("--engines", default="epoll-edge,io_uring", metavar="NAME,…", help="of those that --list-engines prints")
    add("--port", type=int, default=9600, help="ports above this one are used, one after another")
    options = parser.parse_args(arguments)
    options.engines = harness.known(parser, "engine", options.engines, harness.engines(options.build))
    return options


def write_files(folder, wanted):
    """Write a file of random bytes for each size. Servers that run as another user can read them."""
    files = folder / "files"
    files.mkdir()
    for size in wanted:
        (files / str(size)).write_bytes(os.urandom(size))
    for path in (folder, files):
        path.chmod(0o755)
    return files


def servers_of(options, folder):
    """Return {name: command for harness.serving}, nginx first."""
    own = {engine: harness.own_server(options.build, engine, "--files", str(folder / "files"))
           for engine in options.engines}
    return {PEER: lambda port, work: [f"{LAB}/peers/nginx_files.sh", str(port), str(folder)], **own}


def check_content(name, command, path, ports):
    """Start a server and see that its reply is the file; ends the run when it is not."""
    with harness.serving(name, command, ports, f"/files/{path.name}") as server:
        link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        link.request("GET", f"/files/{path.name}")
        got = link.getresponse().read()
        link.close()
    if got != path.read_bytes():
        raise LabError(f"{name} answers {len(got)} bytes for {path}, which are not those of the file")


def label(size):
    """1 KiB, 1 MiB, 1000 B."""
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def row(size, name, rounds):
    """Return the cells of one server and file."""
    calm, median = harness.calm(rounds, name), harness.median
    return (label(size), name, median(calm, "us"), median(calm, "us", ".1f", 1e3 / (size / 1024)),
            harness.spread(harness.ratios(rounds, name, PEER)), median(calm, harness.CALLS),
            f"{median(calm, 'client', '.0f', 100)} %", str(sum(one[name]["errors"] for one in rounds)))


def table(everything):
    """Return the Markdown table of {size: rounds} as lines."""
    return harness.markdown(COLUMNS, [row(size, name, rounds) for size, rounds in everything.items()
                                      for name in rounds[0]])


def measure(options, folder):
    """Return {size: [{server: result} of each round]}."""
    files, servers = write_files(folder, options.sizes), servers_of(options, folder)
    ports, everything = proc.free_port(options.port + 1, 65536), {}
    for size in options.sizes:
        for name, command in servers.items():
            check_content(name, command, files / str(size), ports)
    for size in options.sizes:
        path = f"/files/{size}"

        def one(name, path=path):
            with harness.serving(name, servers[name], ports, path) as server:
                job = Job(server.port, options.build, path, connections=options.connections, seconds=options.seconds)
                result, _ = harness.measure_load(server.pid, "wrk", job)
                return {**result, **harness.count_events(server.pid, "wrk", job, [harness.CALLS], server.work)}

        everything[size] = harness.in_rounds(options.rounds, list(servers), one, label(size))
    return everything


def main() -> None:
    """Measure, print, write."""
    options = parse_options()
    harness.need("wrk", "nginx", "perf")
    with tempfile.TemporaryDirectory(prefix="katana-files-") as name:
        everything = measure(options, pathlib.Path(name))
    lines = ["# What a static file costs", "", made_by("lab/files_cost.py"), "", *table(everything)]
    print("\n".join(lines))
    harness.write(options, lines, everything)

# SPDX-License-Identifier: Apache-2.0
