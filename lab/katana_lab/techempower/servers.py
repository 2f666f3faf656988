"""The servers of TechEmpower's tests: KATANA's own, and rivals of equal duties; how they are built and started.

    lab/techempower/rivals/build [NAME…]     # natively, into build/techempower; without names all; --list tells of them

All have one thread, prepared statements, and a database to themselves. TechEmpower wants a sync behind each statement
(general rule 7 since 2022). It is there in tokio-postgres and in the Pipeline of pgx, not in its Batch. KATANA's plain
reads share one by default; `reads_per_sync` asks for one each. `katana_shared` is KATANA with that default: its figures
are shown, and it gets no rank.
"""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from katana_lab.contest.servers import Contest, Server
from katana_lab.costs import harness, postgres

CONTEST = Contest("techempower")
CONTEST.own("katana", "HttpServer, its router, PostgreSQL driver and cache; a sync behind each statement",
            "--reads-per-sync", "1")
CONTEST.rust("axum", "axum 0.8, tokio-postgres, quick_cache, sailfish, mimalloc; hyper with pipeline_flush", has_c=True)
CONTEST.rust("actix", "actix-web 4, tokio-postgres, quick_cache, sailfish, mimalloc", has_c=True)
CONTEST.go("net_http", "net/http, pgx 5 with its pool and pipelines, a map with a mutex, html/template",
           is_pipelined=False)
CONTEST.own("katana_shared", "the same by its defaults: up to 32 plain reads share a sync", is_ranked=False)
SERVERS, chosen = CONTEST.servers, CONTEST.chosen


@contextlib.contextmanager
def running(server: Server, build: Path, cluster: postgres.Cluster, connections: int,
            ready: str = "/plaintext") -> Iterator[harness.Running]:
    """A fresh server on its CPU that has so many connections to the database, once it answers."""
    url = f"postgresql:///bench?host={cluster.folder}&port={cluster.port}&user=katana"
    with CONTEST.running(server, build, lambda port: ["--port", str(port), "--database", url, "--connections",
                                                      str(connections)], ready) as process:
        yield process


def main() -> int:
    """Build; exit status 1 when one could not be."""
    return CONTEST.build_command(__doc__)

# SPDX-License-Identifier: Apache-2.0
