"""The servers of the arena: KATANA's own, and rivals written here to HttpArena's rules; how they are built and started.

    lab/arena/rivals/build [NAME…]      # natively, into build/arena; without names all; --list tells of them

Not had here: Drogon and userver (no package of Debian 12, and their sources are on no registry that this uses).
"""
from __future__ import annotations

import contextlib
import functools
import itertools
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from katana_lab import ROOT, LabError, proc
from katana_lab.arena import DATA, PROFILES, Ports
from katana_lab.arena.loads import LOADS
from katana_lab.contest.servers import Contest, Server
from katana_lab.costs import harness

PORT_SETS = 16                           # in turn, so that a server does not begin among another's last connections
BARE = tuple(name for name in PROFILES if not name.startswith(("static", "echo-ws", "json-comp")))
NO_H2 = tuple(name for name in PROFILES if "-h2" not in name)
STANDARD = {"kind": "standard", "profiles": PROFILES}
ENGINE = {"kind": "engine", "profiles": BARE}

CONTEST = Contest("arena")
CONTEST.own("katana", "apps/arena of this tree", **STANDARD)
CONTEST.rust("actix", "actix-web 4, rustls, actix-files, actix-ws", **STANDARD)
CONTEST.rust("axum", "axum 0.8 on tokio, rustls, tower-http", **STANDARD)
CONTEST.rust("hyper", "hyper 1 on tokio, rustls, no framework", **ENGINE)
CONTEST.go("net_http", "Go's standard library, gzhttp, gorilla/websocket", **STANDARD)
CONTEST.go("fasthttp", "fasthttp with its router, files and WebSocket", kind="standard", profiles=NO_H2)
CONTEST.node("fastify", "fastify 5 with its compress, static and websocket plugins", ("node_common",), **STANDARD)
CONTEST.node("node_http", "node:http and node:http2, no framework", ("node_common",), **ENGINE)
CONTEST.fastapi("FastAPI on uvicorn, uvloop and httptools", kind="standard", profiles=NO_H2)
CONTEST.configured("nginx", "nginx of Debian by configuration", kind="infrastructure",
                   profiles=("pipelined", "static-h2", "static-tls", "static"))
CONTEST.configured("h2o", "h2o of Debian by configuration, sums by its mruby; it knows no q-values",
                   kind="infrastructure", profiles=("baseline", "pipelined", "limited-conn", "upload", "static",
                                                    "baseline-h2", "static-h2", "baseline-h2c"))
SERVERS, chosen = CONTEST.servers, CONTEST.chosen


@functools.cache
def _port_sets() -> Iterator[Ports]:
    free = proc.free_port()
    return itertools.cycle([Ports.take(free) for _ in range(PORT_SETS)])


@contextlib.contextmanager
def running(server: Server, data: Path = DATA, build: Path = ROOT / "build/bench",
            prefix: Sequence[str] = ()) -> Iterator[tuple[harness.Running, Ports]]:
    """A fresh server with one thread on its CPU, once it listens on all the ports that its profiles need."""
    taken = next(_port_sets())
    wanted = {taken.h1, *(getattr(taken, LOADS[name].port) for name in server.profiles)}

    def ready(port: int, process: subprocess.Popen, log: Path) -> None:
        proc.wait_until_up(server.name, port, "/pipeline", process, 20, log=log)
        if not proc.wait_for(lambda: all(proc.listens(process, each) for each in wanted), 10):
            raise LabError(f"{server.name} does not listen on all of {sorted(wanted)}")

    with CONTEST.running(server, build, lambda _: taken.flags(data), ready, iter([taken.h1]), prefix) as process:
        yield process, taken


def main() -> int:
    """Build; exit status 1 when one could not be."""
    return CONTEST.build_command(__doc__)

# SPDX-License-Identifier: Apache-2.0
