"""The servers of the experiment main_job: KATANA's own, and rivals of equal duties; how they are built and started.

    lab/main_job/rivals/build [NAME…]      # natively, into build/main_job; without names all; --list tells of them

All have WAL, synchronous FULL, a page cache of 8 MiB for each connection, and prepared statements. Only fastapi runs in
the arena's virtual environment. The servers net_http, axum and fastify have the SQLite that their packages bring, the
others Debian's. The SQLite of the packages is compiled to flush by fdatasync, as Debian's is: all then ask the same of
the disk. By default it uses fsync.
"""
from __future__ import annotations

import contextlib
import dataclasses
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from katana_lab import proc
from katana_lab.contest.servers import Contest, Server
from katana_lab.main_job import drogon

FDATASYNC = "-DHAVE_FDATASYNC=1"
POLL_S = 0.0005                          # while a server starts
START_S_MAX = 20

CONTEST = Contest("main_job")


def _axum(name: str, about: str, *flags: str) -> None:
    CONTEST.rust(name, about, *flags, package="axum", has_c=True, environment={"LIBSQLITE3_FLAGS": FDATASYNC})


CONTEST.own("katana", "app::Application, all its defaults but for the access log, which no rival writes", "--set",
            "requests.access_log=false", database="sqlite:{}")
CONTEST.own("katana_logged", "the same with the access log, as by default", database="sqlite:{}")
CONTEST.go("net_http", "net/http, database/sql and mattn/go-sqlite3: four readers, one writer", has_c=True,
           environment={"CGO_CFLAGS": f"-O2 {FDATASYNC}"})
_axum("axum", "axum 0.8, r2d2 and rusqlite on tokio's blocking threads: four readers, one writer")
_axum("axum_group", "the same with group commit by hand: a thread writes all that wait in one transaction",
      "--group-commit")
_axum("axum_tuned", "axum_group with reads on the runtime's own thread", "--group-commit", "--inline-reads")
CONTEST.node("fastify", "fastify 5 and better-sqlite3: one connection", compiled="better-sqlite3",
             environment={"CFLAGS": FDATASYNC})
CONTEST.fastapi("FastAPI on uvicorn, uvloop and httptools; sqlite3 on its pool of threads")
CONTEST.add(Server("drogon", "C++", "Drogon and its SQLite client: four readers, one writer",
                   lambda build, work: [str(drogon.PROGRAM)], ("apt-get", "cmake", "ninja", "c++"),
                   "apt-get install cmake g++ ninja-build libjsoncpp-dev libsqlite3-dev uuid-dev zlib1g-dev",
                   drogon.make))
SERVERS, chosen = CONTEST.servers, CONTEST.chosen


@dataclasses.dataclass
class Started:
    """A server that answers, and how long that took from its exec."""

    pid: int
    port: int
    start_ms: float


@contextlib.contextmanager
def running(server: Server, build: Path, file: Path) -> Iterator[Started]:
    """A fresh server on its CPU over a database, once /health is 200."""
    started = Started(0, 0, 0.0)
    began = 0.0

    def flags(port: int) -> list[str]:
        nonlocal began
        began = time.perf_counter()
        return ["--port", str(port), "--database", server.database.format(file)]

    def ready(port: int, process: subprocess.Popen, log: Path) -> None:
        while not proc.answers(port, "/health"):
            started.start_ms = 1e3 * (time.perf_counter() - began)
            if process.poll() is not None or started.start_ms > 1e3 * START_S_MAX:
                break
            time.sleep(POLL_S)
        started.start_ms = 1e3 * (time.perf_counter() - began)
        proc.wait_until_up(server.name, port, "/health", process, 1, log=log)

    with CONTEST.running(server, build, flags, ready, patience_s=10) as process:
        started.pid, started.port = process.pid, process.port
        yield started


def main() -> int:
    """Build; exit status 1 when one could not be."""
    return CONTEST.build_command(__doc__)

# SPDX-License-Identifier: Apache-2.0
