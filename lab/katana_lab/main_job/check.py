"""Whether a server does the duties of the experiment main_job; exit status 1 with every failure.

    lab/main_job/check [--servers NAME,…] [--build build/bench]       # starts each of these itself, and checks it

The checks are the same for all servers. They test statuses and contents of each route, 404, 409, the reply to a wrong
POST, Location, and a connection that stays. For each POST that comes alone the log is flushed (strace). Each
acknowledged POST is there after kill -9 in the midst of others and a new start. A loss of power cannot be tested here:
the flush stands for it.
"""
from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from katana_lab import proc
from katana_lab.contest import check as contest_check
from katana_lab.contest.check import PATIENCE_S
from katana_lab.contest.servers import Server
from katana_lab.contest.wire import Reply
from katana_lab.main_job import BUILD, PAGE, servers

WRITERS, WRITES_MIN = 8, 40
ALONE = 10                               # POSTs one after another, whose flushes are counted
REFUSED = (400, 415, 422)
WRONG_USERS: dict[str, object] = {
    "without an email": {"name": "Ada"}, "without a name": {"email": "a@example.org"},
    "with an empty name": {"name": "", "email": "a@example.org"},
    "with a name of 101": {"name": "x" * 101, "email": "a@example.org"},
    "with an email without @": {"name": "Ada", "email": "example.org"},
    "with an email of 201": {"name": "Ada", "email": "a@" + ".".join(["x" * 62] * 3) + "x" * 5 + ".example"},
    "that is an array": [1], "that is no JSON": None,
}


class Client(contest_check.Client):
    """One connection that adds users."""

    def post(self, user: object) -> Reply:
        """POST a user; None: POST a body that is no JSON."""
        return self.ask("POST", "/users", b"{nothing" if user is None else json.dumps(user).encode())


class Check(contest_check.Check):
    """One server under test."""

    def __init__(self, port: int):
        super().__init__()
        self.port, self.client = port, Client(port)

    def expect_object(self, what: str, reply: Reply, statuses: Sequence[int], wanted: dict | None = None) -> None:
        """One of these statuses, and a JSON object: this one, if one is given."""
        is_json = reply.kind in ("application/json", "application/problem+json") and bool(reply.json())
        is_right = reply.status in statuses and is_json and (wanted is None or reply.json() == wanted)
        self.expect(f"{what} is {' or '.join(map(str, statuses))} with an object", is_right, reply)

    def add(self, name: str, email: str) -> int:
        """A user that has to be taken; its id, or 0."""
        reply = self.client.post({"name": name, "email": email})
        number = reply.json().get("id", 0)
        self.expect_object(f"POST of {email}", reply, [201], {"id": number, "name": name, "email": email})
        self.expect(f"POST of {email} has its Location", reply.fields.get("location") == f"/users/{number}",
                    reply.fields.get("location"))
        return number


def reads(check: Check) -> None:
    """Check a table that has some users."""
    get = check.client.get
    reply = get("/health")
    check.expect("GET /health is 200 with a status", reply.status == 200 and "status" in reply.json(), reply)
    ids = [check.add(f"user {number}", f"reads{number}@example.org") for number in range(2 * PAGE + 1)]
    check.expect_object("GET of a user", get(f"/users/{ids[3]}"), [200],
                        {"id": ids[3], "name": "user 3", "email": "reads3@example.org"})
    check.expect_object("GET of an unknown user", get("/users/987654321"), [404])
    reply = get("/users/abc")
    check.expect("GET of what is no number is refused", reply.status in (*REFUSED, 404), reply)
    for after, first, next_ in ((0, 0, ids[PAGE - 1]), (ids[PAGE - 1], PAGE, ids[2 * PAGE - 1]),
                                (ids[2 * PAGE - 1], 2 * PAGE, None)):
        reply = get(f"/users?limit={PAGE}&after={after}")
        users = [{"id": ids[at], "name": f"user {at}", "email": f"reads{at}@example.org"}
                 for at in range(first, min(first + PAGE, len(ids)))]
        check.expect_object(f"the page after {after}", reply, [200], {"users": users, "next": next_})
    check.expect("a page is of 20 without a limit", len(get("/users").json().get("users", [])) == 20, get("/users"))
    reply = get("/users?limit=1000")
    check.expect("a page of 1000 is refused", reply.status in REFUSED, reply)


def writes(check: Check) -> None:
    """Check which values are accepted, and which are refused."""
    number = check.add("ü" * 100, "writes@example.org")
    check.expect_object("GET of what was added", check.client.get(f"/users/{number}"), [200],
                        {"id": number, "name": "ü" * 100, "email": "writes@example.org"})
    taken = check.client.post({"name": "another", "email": "writes@example.org"})
    check.expect_object("POST of an email that is taken", taken, [409])
    for what, user in WRONG_USERS.items():
        reply = check.client.post(user)
        check.expect(f"POST {what} is refused", reply.status in REFUSED, reply)
    check.add("long", "a@" + ".".join(["x" * 60] * 3) + "." + "y" * 15)   # of 200
    after = check.add("after them", "after@example.org")
    check.expect("what was refused left nothing", after > number, after)


def stays(check: Check) -> None:
    """Its own connection: after errors, a server may close one."""
    client = Client(check.port)
    for number in range(5):
        client.get("/health")
        client.get("/users/1")
        client.post({"name": "stays", "email": f"stays{number}@example.org"})
    check.expect("a connection stays", client.opened == 1, f"{client.opened} connections")


def flushes(check: Check, pid: int) -> None:
    """Each POST that comes alone flushes at least once before it is answered."""
    if not shutil.which("strace"):
        print("  strace is missing: that the log is flushed is not checked (apt-get install strace)")
        return
    with tempfile.NamedTemporaryFile("r", prefix="main-job-") as calls:
        tracer = subprocess.Popen(["strace", "-f", "-q", "-e", "trace=fsync,fdatasync,sync_file_range,io_uring_enter",
                                   "-o", calls.name, *(part for each in proc.tree(pid) for part in ("-p", str(each)))],
                                  stderr=subprocess.DEVNULL)
        try:
            proc.wait_for(lambda: "TracerPid:\t0" not in proc.read(f"/proc/{pid}/status"), PATIENCE_S)
            time.sleep(0.3)                                      # its threads follow
            for number in range(ALONE):
                check.client.post({"name": "alone", "email": f"alone{number}@example.org"})
        finally:
            tracer.send_signal(signal.SIGINT)
            tracer.wait(PATIENCE_S)
        count = len(re.findall(r"\bf(?:data)?sync\(", calls.read()))
    check.expect(f"{ALONE} POSTs flush at least {ALONE} times", count >= ALONE, count)


CHECKS: dict[str, Callable[[Check], None]] = {"reads": reads, "writes": writes, "stays": stays}


def examine(port: int, pid: int | None = None) -> Check:
    """All checks of a server that runs over an empty table."""
    check = Check(port)
    check.run_all({**CHECKS, **({"flushes": lambda one: flushes(one, pid)} if pid else {})})
    return check


# ---- kill -9 -------------------------------------------------------------------------------------

class Writers:
    """Clients that add users until the server is gone; `acknowledged`: id -> email."""

    def __init__(self, port: int):
        self.port = port
        self.acknowledged: dict[int, str] = {}
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._write, args=(number,), daemon=True)
                         for number in range(WRITERS)]

    def _write(self, number: int) -> None:
        client = Client(self.port)
        with contextlib.suppress(OSError, http.client.HTTPException):
            for count in range(1_000_000):
                email = f"killed{number}-{count}@example.org"
                reply = client.post({"name": "killed", "email": email})
                if reply.status == 201:
                    with self._lock:
                        self.acknowledged[reply.json()["id"]] = email

    def start(self) -> None:
        """All of them."""
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        """Until each has seen that the server is gone."""
        for thread in self._threads:
            thread.join(2 * PATIENCE_S)


def kill(server: Server, build: Path, file: Path) -> tuple[int, list[str]]:
    """The number of acknowledged users when the server was killed; those that a new one lacks, and other mistakes."""
    with servers.running(server, build, file) as killed:
        writers = Writers(killed.port)
        writers.start()
        proc.wait_for(lambda: len(writers.acknowledged) >= WRITES_MIN, PATIENCE_S)
        for pid in proc.tree(killed.pid):
            os.kill(pid, signal.SIGKILL)
        writers.join()
    failures = [] if len(writers.acknowledged) >= WRITES_MIN else [
        f"only {len(writers.acknowledged)} POSTs were acknowledged in {PATIENCE_S:g} s"]
    with servers.running(server, build, file) as again:
        client = Client(again.port)
        for number, email in writers.acknowledged.items():
            reply = client.get(f"/users/{number}")
            if reply.status != 200 or reply.json().get("email") != email:
                failures.append(f"user {number}, acknowledged before kill -9: got {reply.status} {reply.text[:100]}")
    return len(writers.acknowledged), failures


def mode_of(file: Path) -> str:
    """The journal mode that a database has been left in."""
    with contextlib.closing(sqlite3.connect(file)) as database:
        return database.execute("PRAGMA journal_mode").fetchone()[0]


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """On the disk of the repository: /tmp may be memory."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="work-", dir=BUILD) as made:
        yield Path(made)


def check_server(server: Server, build: Path) -> tuple[str, list[str]]:
    """Return the number of checks and the failures."""
    with folder() as made:
        with servers.running(server, build, made / "check.db") as started:
            done = examine(started.port, started.pid)
        done.expect("the database is in WAL", mode_of(made / "check.db") == "wal", mode_of(made / "check.db"))
        acknowledged, lost = kill(server, build, made / "kill.db")
    return f"{done.count} checks, and {acknowledged} POSTs acknowledged before kill -9", done.failures + lost


def main() -> int:
    """Check; exit status 1 when anything failed."""
    options = contest_check.parser(__doc__, servers.CONTEST).parse_args()
    return contest_check.check_all(servers.chosen(options.servers), lambda server: check_server(server, options.build))

# SPDX-License-Identifier: Apache-2.0
