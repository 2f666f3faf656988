"""The servers of TechEmpower's tests: KATANA's own, and rivals of equal duties; how they are built and started.

    lab/techempower/rivals/build [NAME…]     # natively, into build/techempower; without names all; --list tells of them

All have one thread, prepared statements, and a database to themselves. TechEmpower wants a sync behind each statement
(general rule 7 since 2022): tokio-postgres has one, pgx has one in its Pipeline and not in its Batch, and KATANA, whose
plain reads share one by default, is asked for it by `reads_per_sync`. `katana_shared` is KATANA with that default: its
figures are shown, and it gets no rank.
"""
from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from katana_lab import LabError, proc
from katana_lab.arena import rivals
from katana_lab.costs import harness, postgres
from katana_lab.techempower import BUILD, FOLDER

SOURCES = FOLDER / "rivals"
RUST, GO = BUILD / "rust", BUILD / "go"
_ports = proc.free_port()


@dataclasses.dataclass(frozen=True)
class Server(rivals.Server):
    """A server of these tests. `is_pipelined`: a connection to the database has many statements in flight.
    `is_ranked`: it keeps all of TechEmpower's rules.
    """

    builder: str = "lab/techempower/rivals/build"
    is_pipelined: bool = True
    is_ranked: bool = True


def katana(name: str, about: str, *flags: str, is_ranked: bool = True) -> Server:
    """This tree's own."""
    return Server(name, "", "C++", about, (), lambda build, work: [f"{build}/techempower", *flags],
                  target="techempower", is_ranked=is_ranked)


def rust(name: str, about: str) -> Server:
    """A rival in Rust."""
    return Server(name, "", "Rust", about, (), lambda build, work: [f"{RUST}/release/techempower_{name}"],
                  ("cargo", "cc"), "install Rust from https://rustup.rs, and apt-get install gcc",
                  rivals.cargo(f"techempower_{name}", SOURCES, RUST))


SERVERS: dict[str, Server] = {server.name: server for server in (
    katana("katana", "HttpServer, its router, PostgreSQL driver and cache; a sync behind each statement",
           "--reads-per-sync", "1"),
    rust("axum", "axum 0.8, tokio-postgres, quick_cache, sailfish, mimalloc; hyper with pipeline_flush"),
    rust("actix", "actix-web 4, tokio-postgres, quick_cache, sailfish, mimalloc"),
    Server("net_http", "", "Go", "net/http, pgx 5 with its pool and pipelines, a map with a mutex, html/template", (),
           lambda build, work: [f"{GO}/net_http"], ("go",), "install Go from https://go.dev/dl",
           rivals.go("net_http", SOURCES, GO), is_pipelined=False),
    katana("katana_shared", "the same by its defaults: up to 32 plain reads share a sync", is_ranked=False),
)}


def chosen(names: str | Sequence[str]) -> list[Server]:
    """The servers of a list such as a,b; UsageError for one that is not known."""
    return rivals.chosen(names, SERVERS)


@contextlib.contextmanager
def running(server: Server, build: Path, cluster: postgres.Cluster, connections: int,
            ready: str = "/plaintext") -> Iterator[harness.Running]:
    """A fresh server on its CPU that has so many connections to the database, once it answers."""
    if reason := server.missing(build):
        raise LabError(f"{server.name}: {reason}")
    url = f"postgresql:///bench?host={cluster.folder}&port={cluster.port}&user=katana"

    def command(port: int, work: Path) -> list[str]:
        return [*server.command(build, work), "--port", str(port), "--database", url, "--connections",
                str(connections)]

    with harness.serving(server.name, command, _ports, ready) as process:
        yield process


def made(servers: Sequence[Server], say: Callable[[str], None]) -> list[Server]:
    """Build those that are no part of this tree's own build; who cannot be built is said and left out."""
    found = []
    for server in servers:
        if server.target or rivals.make_all([server]) == 0:
            found.append(server)
        else:
            say(f"{server.name}: it could not be built")
    return found


def main() -> int:
    """Build; exit status 1 when one could not be."""
    return rivals.build_command(__doc__, SERVERS)

# SPDX-License-Identifier: Apache-2.0
