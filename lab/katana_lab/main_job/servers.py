"""The servers of the experiment main_job: KATANA's own, and rivals of equal duties; how they are built and started.

    lab/main_job/rivals/build [NAME…]      # natively, into build/main_job; without names all; --list tells of them

All have WAL, synchronous FULL, a page cache of 8 MiB for each connection, and prepared statements. fastapi runs in the
arena's virtual environment. net_http, axum and fastify have the SQLite that their packages bring, the others Debian's.
Theirs is compiled to flush by fdatasync, as Debian's is, so that all ask the same of the disk; by default it uses
fsync.
"""
from __future__ import annotations

import contextlib
import dataclasses
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from katana_lab import LabError, proc
from katana_lab.arena import rivals
from katana_lab.costs import harness
from katana_lab.main_job import BUILD, FOLDER, drogon

SOURCES = FOLDER / "rivals"
RUST, GO, NODE = BUILD / "rust", BUILD / "go", BUILD / "node"
FDATASYNC = "-DHAVE_FDATASYNC=1"
POLL_S = 0.0005                          # of a server that starts
START_S_MAX = 20
_ports = proc.free_port()


@dataclasses.dataclass(frozen=True)
class Server(rivals.Server):
    """A server of this experiment. `database`: how its flag names a file."""

    builder: str = "lab/main_job/rivals/build"
    database: str = "{}"


def katana(name: str, about: str, *flags: str) -> Server:
    """This tree's own."""
    return Server(name, "", "C++", about, (), lambda build, work: [f"{build}/main_job", *flags], target="main_job",
                  database="sqlite:{}")


def axum(name: str, about: str, *flags: str) -> Server:
    """The one program in Rust."""
    return Server(name, "", "Rust", about, (), lambda build, work: [f"{RUST}/release/main_job_axum", *flags],
                  ("cargo", "cc"), "install Rust from https://rustup.rs, and apt-get install gcc",
                  rivals.cargo("main_job_axum", SOURCES, RUST, LIBSQLITE3_FLAGS=FDATASYNC))


SERVERS: dict[str, Server] = {server.name: server for server in (
    katana("katana", "app::Application, all its defaults but for the access log, which no rival writes", "--set",
           "requests.access_log=false"),
    katana("katana_logged", "the same with the access log, as by default"),
    Server("net_http", "", "Go", "net/http, database/sql and mattn/go-sqlite3: four readers, one writer", (),
           lambda build, work: [f"{GO}/net_http"], ("go", "cc"), "install Go from https://go.dev/dl, and apt-get"
           " install gcc", rivals.go("net_http", SOURCES, GO, CGO_ENABLED="1", CGO_CFLAGS=f"-O2 {FDATASYNC}")),
    axum("axum", "axum 0.8, r2d2 and rusqlite on tokio's blocking threads: four readers, one writer"),
    axum("axum_group", "the same with group commit by hand: a thread writes all that wait in one transaction",
         "--group-commit"),
    axum("axum_tuned", "axum_group with reads on the runtime's own thread", "--group-commit", "--inline-reads"),
    Server("fastify", "", "JavaScript", "fastify 5 and better-sqlite3: one connection", (),
           lambda build, work: ["node", f"{NODE}/fastify/server.mjs"], ("node", "npm", "make", "c++"),
           "install Node 20 or newer from https://nodejs.org, and apt-get install g++ make",
           rivals.npm(("fastify",), SOURCES, NODE, compiled="better-sqlite3", CFLAGS=FDATASYNC)),
    Server("fastapi", "", "Python", "FastAPI on uvicorn, uvloop and httptools; sqlite3 on its pool of threads", (),
           lambda build, work: [f"{rivals.PYTHON}/venv/bin/python", f"{SOURCES}/fastapi/server.py"], ("python3",),
           "apt-get install python3-venv", rivals.pip),
    Server("drogon", "", "C++", "Drogon and its SQLite client: four readers, one writer", (),
           lambda build, work: [str(drogon.PROGRAM)], ("apt-get", "cmake", "ninja", "c++"),
           "apt-get install cmake g++ ninja-build libjsoncpp-dev libsqlite3-dev uuid-dev zlib1g-dev", drogon.make),
)}


def chosen(names: str | Sequence[str]) -> list[Server]:
    """The servers of a list such as a,b; UsageError for one that is not known."""
    return rivals.chosen(names, SERVERS)


@dataclasses.dataclass
class Started:
    """A server that answers, and how long that took from its exec."""

    pid: int
    port: int
    start_ms: float


@contextlib.contextmanager
def running(server: Server, build: Path, file: Path) -> Iterator[Started]:
    """A fresh server on its CPU over a database, once /health is 200."""
    if reason := server.missing(build):
        raise LabError(f"{server.name}: {reason}")
    started = Started(0, 0, 0.0)
    began = 0.0

    def command(port: int, work: Path) -> list[str]:
        nonlocal began
        began = time.perf_counter()
        return [*server.command(build, work), "--port", str(port), "--database", server.database.format(file)]

    def ready(port: int, process: subprocess.Popen, log: Path) -> None:
        while not proc.answers(port, "/health"):
            started.start_ms = 1e3 * (time.perf_counter() - began)
            if process.poll() is not None or started.start_ms > 1e3 * START_S_MAX:
                break
            time.sleep(POLL_S)
        started.start_ms = 1e3 * (time.perf_counter() - began)
        proc.wait_until_up(server.name, port, "/health", process, 1, log=log)

    with harness.serving(server.name, command, _ports, ready, patience_s=10) as process:
        started.pid, started.port = process.pid, process.port
        yield started


def main() -> int:
    """Build; exit status 1 when one could not be."""
    return rivals.build_command(__doc__, SERVERS)

# SPDX-License-Identifier: Apache-2.0
