"""The database of the experiment main_job, and the requests of each of its loads, by katana-load.

A POST needs an email that no user has. A load that adds users is therefore a file of requests that is made for it. The
file is longer than the server can answer in that time: if it began again, 409 would be errors and void the row. The mix
is one file as well: its requests are sent in turn, four GETs and a POST, over all connections.
"""
from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import os
import random
import sqlite3
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from katana_lab.drivers import Job
from katana_lab.main_job import PAGE, USERS

SEED = 20261127
PATHS = 20_000                           # different ones, sent in turn
GETS_PER_POST = 4
WARM_UP_S = 0.3
WARM_UP_OF_WRITES_S = 2.0                # Until the log has its full size, and is written over.
WARM_UP_REQUESTS = 60_000                # A server answers fewer requests in that time.
SPARE = 2.5                              # The length of a file: this factor times the requests at the warm-up's rate.
JSON_FIELDS = {"Content-Type": "application/json"}
_emails = itertools.count()


def make_database(file: Path) -> None:
    """The table with its users, in WAL."""
    with contextlib.closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        with database:
            database.execute("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, "
                             "email TEXT NOT NULL UNIQUE) STRICT")
            database.executemany("INSERT INTO users (name, email) VALUES (?, ?)",
                                 ((f"User {number}", f"user{number}@example.org") for number in range(1, USERS + 1)))
    fold(file)


def fold(file: Path) -> None:
    """Everything into the file itself, so that it may be copied alone."""
    with contextlib.closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def flush_us(folder: Path, count: int = 100) -> float:
    """The median time of the disk to append and flush 4 KiB."""
    took = []
    with open(folder / "flushed", "wb", buffering=0) as file:
        for _ in range(count):
            began = time.perf_counter()
            file.write(bytes(4096))
            os.fdatasync(file.fileno())
            took.append(1e6 * (time.perf_counter() - began))
    return statistics.median(took)


def random_users() -> Iterator[str]:
    """Any of them."""
    chance = random.Random(SEED)
    while True:
        yield f"/users/{chance.randint(1, USERS)}"


def random_pages() -> Iterator[str]:
    """After any of them that has a whole page behind it."""
    chance = random.Random(SEED)
    while True:
        yield f"/users?limit={PAGE}&after={chance.randint(0, USERS - PAGE)}"


def post() -> dict:
    """A user with an email that no other has."""
    number = next(_emails)
    return {"method": "POST", "target": "/users", "fields": JSON_FIELDS,
            "content": json.dumps({"name": f"Added {number}", "email": f"added{number}@example.org"})}


def posts() -> Iterator[dict]:
    """Requests that are all POSTs."""
    while True:
        yield post()


def mixed() -> Iterator[dict]:
    """Four GETs and a POST."""
    for number, path in enumerate(random_users()):
        yield {"method": "GET", "target": path}
        if number % GETS_PER_POST == GETS_PER_POST - 1:
            yield post()


@dataclasses.dataclass(frozen=True)
class Load:
    """Paths, which may be sent again and again, or requests, each of which is sent once."""

    title: str
    paths: Callable[[], Iterator[str]] | None = None
    requests: Callable[[], Iterator[dict]] | None = None
    warm_up_s: float = WARM_UP_S

    def write(self, folder: Path, count: int) -> tuple[str, ...]:
        """Write the file of requests; return the flags that name it."""
        if self.requests:
            lines = map(json.dumps, itertools.islice(self.requests(), count))
        else:
            lines = itertools.islice(self.paths(), PATHS)
        (folder / "load").write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
        return "--requests-file" if self.requests else "--urls", str(folder / "load")

    def job(self, port: int, build: Path, connections: int, seconds: float, sent: tuple[str, ...],
            rate: float | None = None) -> Job:
        """The job for katana-load. With a rate it is an open loop: latency is from the intended time."""
        paced = ("-R", f"{rate:.0f}") if rate else ()
        return Job(port, build, "/health", connections=connections, seconds=seconds,
                   flags=(*paced, *sent, "--expect-status", "2xx"))


LOADS = {
    "health": Load("GET /health", lambda: itertools.repeat("/health")),
    "user": Load("GET /users/{id}", random_users),
    "page": Load(f"GET /users?limit={PAGE}", random_pages),
    "post": Load("POST /users, durable", requests=posts, warm_up_s=WARM_UP_OF_WRITES_S),
    "mix": Load("80 % GET /users/{id}, 20 % POST /users", requests=mixed),
}

# SPDX-License-Identifier: Apache-2.0
