"""The cost of a WebSocket message for the server, beside a request on a kept connection, in interleaved rounds.

It also measures the memory of an idle WebSocket connection beyond an idle HTTP one.

    ws_cost.py [--rounds 7] [--seconds 2] [--connections 16] [--bytes 13 125 1024] [--idle 5000] [--engine epoll-edge]
               [--build build/bench] [--json FILE] [--markdown FILE]

hello_world_server with one reactor on CPU 0 echoes messages of katana-load --websocket, and answers requests of
katana-load. The load is on CPU 1, with one message or request in flight on each connection. Prints Markdown.
"""
from __future__ import annotations

import resource
import socket

from katana_lab import proc
from katana_lab.costs import harness
from katana_lab.drivers import Job
from katana_lab.heading import made_by

HANDSHAKE = (b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
             b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
PLAIN = b"GET /plaintext HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def serving(options, ports):
    """hello_world_server with one reactor, and room for idle connections."""
    return harness.serving("hello_world_server", harness.own_server(options.build, options.engine, "--connections-max",
                                                                    "65536"), ports)


def measure(options, ports, size):
    """Return one {websocket, http: figures} for each round; the server is the same for both."""
    with serving(options, ports) as server:
        def one(name):
            is_message = name == "websocket"
            job = Job(server.port, options.build, "/ws" if is_message else "/plaintext",
                      connections=options.connections, seconds=options.seconds,
                      flags=("--message-bytes", str(size)) if is_message else ())
            return harness.measure_load(server.pid, "websocket" if is_message else "katana-load", job)[0]

        for name in ("websocket", "http"):
            one(name)                                            # warm
        return harness.in_rounds(options.rounds, ("websocket", "http"), one, f"{size} B")


def idle_bytes(options, ports, opening):
    """Anonymous memory of the server for each idle connection."""
    with serving(options, ports) as server:
        sockets = []

        def add(count):
            for _ in range(count):
                one = socket.create_connection(("127.0.0.1", server.port))
                one.sendall(opening)
                one.recv(4096)
                sockets.append(one)

        found = harness.growth(server.pid, "RssAnon", add, options.idle, 200)
        for one in sockets:
            one.close()
        return found * 1024


def main() -> None:
    """Measure and print."""
    parser = harness.parser(__doc__, 7, 2.0, 16)
    parser.add_argument("--bytes", type=int, nargs="+", default=[13, 125, 1024], help="of each message")
    parser.add_argument("--idle", type=int, default=5000, help="idle connections to weigh; 0: none")
    parser.add_argument("--engine", default="epoll-edge")
    options = parser.parse_args()
    harness.need()
    ports, everything, rows = proc.free_port(), {}, []
    for size in options.bytes:
        rounds = everything[f"{size} B"] = measure(options, ports, size)
        costs = [harness.median([one[name] for one in rounds], "us") for name in rounds[0]]
        rows.append((f"{size} B", *(f"{cost} µs" for cost in costs),
                     harness.spread(harness.ratios(rounds, "websocket", "http"))))
    lines = [made_by("lab/ws_cost.py"), "",
             *harness.markdown(("message", "CPU of a message", "of a request", "ratio"), rows)]
    if options.idle:
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        plain, websocket = (idle_bytes(options, ports, opening) for opening in (PLAIN, HANDSHAKE))
        lines += ["", f"idle connection: HTTP {plain:.0f} bytes, WebSocket {websocket:.0f} bytes,"
                  f" {websocket - plain:+.0f} beyond it ({options.idle} connections)"]
    print("\n".join(lines))
    harness.write(options, lines, everything)

# SPDX-License-Identifier: Apache-2.0
