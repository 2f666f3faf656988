"""What do good clients notice while 1,000 addresses flood the server?

    lab/under_attack.py [--kinds a,b] [--seconds 10] [--sockets 2000] [--build build/bench] [--markdown FILE]

The server (lab/overload/attacked_server) has CPU 0. Five good clients, on CPU 1, ask twenty times a second, each 40th
time on a new connection. The flood (katana_lab/flood.py) shares their CPU with the lowest precedence. Each kind is
measured calm, under attack, under attack with limits by client, and beside the least that a server can do. The least is
a bare server that closes every connection of the flood when it comes (lab/floor/floor_epoll.c, "refuse"). The columns
are the 99th percentile of the good clients' latency, their failures, and the fate of the flood's connections. The aim
is a p99 of at most twice the calm one. All of it stays on the loopback.
"""
from __future__ import annotations

import contextlib
import os
import resource
import socket
import time
import urllib.request

from katana_lab import flood, proc
from katana_lab.costs import harness
from katana_lab.heading import made_by

SCRIPT, TITLE = "lab/under_attack.py", "Under attack"
INTERVAL_S, GOOD, NEW_EACH = 0.01, 5, 40
ADDRESSES = 1_000
SETTLE_S = 3.0             # after the start of a flood, until bursts are used up
PORTS = proc.free_port()
SERVERS = ("no limits", "limits", "floor")
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
EXPECTED = b"Hello, World!"
REFUSALS = ("connections", "rate", "handshakes", "requests")


def pairs_of_ports():
    """Two ports in a row for each server."""
    while True:
        first, second = next(PORTS), next(PORTS)
        if second == first + 1:
            yield first


def serving(server, build):
    """A fresh server, a member of SERVERS; HTTPS is on the next port, but for the floor's."""
    if server == "floor":
        floor = proc.built("floor_epoll", build)
        return harness.serving(server, lambda port, _: [floor, str(port), "refuse"], pairs_of_ports(), "/")
    flags = ["--limited"] if server == "limits" else []
    program = proc.built("attacked_server", build)
    return harness.serving("attacked_server", lambda port, _: [program, "--port", str(port), *flags], pairs_of_ports(),
                           "/")


class GoodClients:
    """Ask at a steady pace, each from a separate address; count missing replies.

    They use sockets and no library, and precede the flood on their CPU where the kernel grants it. The figures then
    show the server, and not the wait for a CPU that the flood uses.
    """

    def __init__(self, port):
        self.port, self.kept, self.latencies_us, self.failures = port, [None] * GOOD, [], 0

    def ask(self, number, anew=False):
        """One request of this client, on the connection that it has or on a new one."""
        begin = time.perf_counter()
        try:
            if self.kept[number] is None or anew:
                self.drop(number)
                self.kept[number] = socket.create_connection(("127.0.0.1", self.port), 5, (f"127.0.0.{2 + number}", 0))
                self.kept[number].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.kept[number].sendall(REQUEST)
            got = b""
            while not got.endswith(EXPECTED):
                piece = self.kept[number].recv(4096)
                if not piece:
                    raise ConnectionError("ended in a reply")
                got += piece
        except OSError:
            self.failures += 1
            self.drop(number)
        self.latencies_us.append((time.perf_counter() - begin) * 1e6)

    def drop(self, number):
        """This client's connection is over."""
        if self.kept[number] is not None:
            self.kept[number].close()
        self.kept[number] = None

    def run(self, seconds):
        """Ask for so long."""
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        begin = time.monotonic()
        for number in range(int(seconds / INTERVAL_S)):
            time.sleep(max(0, begin + number * INTERVAL_S - time.monotonic()))
            if time.monotonic() > begin + seconds:
                break
            which, of_each = number % GOOD, number // GOOD
            self.ask(which, of_each % NEW_EACH == NEW_EACH - 1)
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))

    def p99_us(self):
        """The 99th percentile."""
        ordered = sorted(self.latencies_us)
        return ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]


def refused(port):
    """The refusals that the server counted; -1: it did not answer in time."""
    try:
        with contextlib.closing(urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10)) as reply:
            lines = reply.read().decode().splitlines()
    except (OSError, socket.timeout):
        return -1
    names = tuple(f"katana_client_{kind}_refused" for kind in REFUSALS)
    return int(sum(float(line.split()[-1]) for line in lines if line.startswith(names)))


def measure(kind, which, options):
    """The good clients' p99 and failures, and the flood; `kind` None: calm."""
    with serving(which, options.build) as server:
        good = GoodClients(server.port)
        for number in range(4 * GOOD):
            good.ask(number % GOOD)
            time.sleep(INTERVAL_S)
        good.latencies_us.clear()
        if kind is None:
            good.run(options.seconds)
            return good, flood.Flooded(), 0
        port = server.port + (1 if kind == "handshakes" and which != "floor" else 0)
        with flood.Running(kind, port, options.sockets, ADDRESSES, options.seconds + SETTLE_S + 0.5) as running:
            time.sleep(SETTLE_S)
            good.run(options.seconds)
        return good, running.done, 0 if which == "floor" else refused(server.port)


def main():
    """Measure, and show."""
    parser = harness.parser(__doc__, rounds=1, seconds=10.0, files=("markdown",))
    parser.add_argument("--kinds", default=",".join(flood.KINDS), help="of floods; default all")
    parser.add_argument("--sockets", type=int, default=2_000, help="that a flood has in use; default 2000")
    options = parser.parse_args()
    kinds = harness.known(parser, "kind", options.kinds, flood.KINDS)
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    os.sched_setaffinity(0, {harness.CLIENT_CPU})
    lines = ["| flood | server | p99 of good clients, µs | × calm | failures | connections of the flood | "
             "ended without a reply | refusals |", "|---|---|---|---|---|---|---|---|"]
    for _ in range(options.rounds):
        calm = measure(None, "limits", options)[0]
        lines.append(f"| none | limits | {calm.p99_us():.0f} | 1 | {calm.failures} of {len(calm.latencies_us)} | | | |")
        print(lines[-1], flush=True)
        for kind in kinds:
            for which in SERVERS:
                good, done, count = measure(kind, which, options)
                lines.append(f"| {kind} | {which} | {good.p99_us():.0f} | "
                             f"{good.p99_us() / calm.p99_us():.1f} | {good.failures} of {len(good.latencies_us)} | "
                             f"{done.opened} | {done.unanswered} | {count} |")
                print(lines[-1], flush=True)
    if options.markdown:
        options.markdown.write_text(f"# {TITLE}\n\n{made_by(SCRIPT)}\n\n" + "\n".join(lines) + "\n", encoding="utf-8")

# SPDX-License-Identifier: Apache-2.0
