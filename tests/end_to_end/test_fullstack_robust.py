"""fullstack when something breaks: the replies that the user sees, and that no acknowledged write is lost."""
import concurrent.futures
import contextlib
import itertools
import os
import random
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import threading
import time

import httpx
import pytest

from fullstack_process import FullStack
from program_process import stop_report

PATIENCE_SECONDS = 20


def wait_until(holds, what):
    """Poll until holds() is true; fails when it does not become so."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < end, f"not within {PATIENCE_SECONDS} s: {what}"
        time.sleep(0.02)


class Writers:
    """Clients that add users until told to stop, or until the server is gone; they remember acknowledged users.

    No two clients share an address: a user of one would be refused for the other.
    """

    _numbers = itertools.count()

    def __init__(self, program, count=8):
        self.program = program
        self.acknowledged = []
        self._number = next(self._numbers)
        self._stop = threading.Event()
        self._pool = concurrent.futures.ThreadPoolExecutor(count)
        self._runs = [self._pool.submit(self._run, number) for number in range(count)]

    def _run(self, number):
        with httpx.Client(base_url=self.program.url(), timeout=20) as client:
            for serial in range(1_000_000):
                if self._stop.is_set():
                    return
                email = f"w{self._number}.{number}.{serial}@example.org"
                try:
                    reply = client.post("/users", json={"name": "Writer", "email": email})
                except httpx.TransportError:
                    return
                if reply.status_code == 201:
                    self.acknowledged.append(email)

    def wait_for(self, count):
        """Return once so many writes were acknowledged."""
        wait_until(lambda: len(self.acknowledged) >= count, f"{count} acknowledged writes")

    def end(self):
        """Stop the clients; return the acknowledged users."""
        self._stop.set()
        for run in self._runs:
            run.result(PATIENCE_SECONDS)
        self._pool.shutdown()
        return self.acknowledged


def stored(folder):
    """The addresses in the database of a program that has ended."""
    with sqlite3.connect(folder / "var" / "katana.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return {email for (email,) in database.execute("SELECT email FROM users")}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["kill", "term"])
def test_nothing_acknowledged_is_lost_when_it_is_ended_under_load(tmp_path, number):
    """kill -9 and kill -TERM; it starts again with the same files."""
    with FullStack(tmp_path) as program:
        writers = Writers(program)
        writers.wait_for(100)
        program.process.send_signal(number)
        status = program.wait()
        acknowledged = writers.end()
        assert status == (0 if number == signal.SIGTERM else -signal.SIGKILL), program.stderr()
        if number == signal.SIGTERM:
            assert stop_report(program.stderr())["cut_off"] == 0, program.stderr()
    assert set(acknowledged) <= stored(tmp_path)
    with FullStack(tmp_path) as program:
        assert program.client.get("/ready").status_code == 200
        assert program.add_user("After", "after@example.org").status_code == 201


def test_a_database_file_that_is_removed_is_missed_and_never_made_anew(tmp_path):
    """503 with Retry-After, /ready says why; when the file is back, so is the service."""
    file = tmp_path / "var" / "katana.db"
    with FullStack(tmp_path) as program:
        assert program.add_user("Ada", "ada@example.org").status_code == 201
        file.rename(tmp_path / "kept.db")
        statuses = []
        wait_until(lambda: statuses.append(program.add_user("X", "x@example.org").status_code) or statuses[-1] == 503,
                   "the file is missed")
        refused = program.add_user("X", "x@example.org")
        assert refused.headers["content-type"] == "application/problem+json" and "retry-after" in refused.headers
        assert str(tmp_path) not in refused.text
        wait_until(lambda: program.client.get("/ready").status_code == 503, "/ready says so")
        checks = {each["name"]: each for each in program.client.get("/ready").json()["checks"]}
        assert checks["database"]["status"] == "fail" and checks["database"]["detail"]
        assert program.client.get("/health").status_code == 200         # nothing that a restart would mend
        assert not file.exists()
        (tmp_path / "kept.db").rename(file)
        wait_until(lambda: program.client.get("/ready").status_code == 200, "it is ready again")
        # Acknowledged users are in the file that came back. The write that found the file gone was refused. It may be
        # there as well: it was in the file that no program could see any more.
        names = [each["name"] for each in program.client.get("/users").json()["users"]]
        assert names in (["Ada"] + ["X"] * statuses.count(201), ["Ada", "X"])


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a file system of 4 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = os.geteuid() == 0 and shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], capture_output=True, check=False)
    if not mounted or mounted.returncode != 0:
        pytest.skip("mounting a small file system needs root and the right to mount")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_refuses_writes_serves_reads_and_heals(small_disk):
    """503 for what cannot be stored; nothing acknowledged is lost; room makes it whole again."""
    with FullStack(small_disk) as program:
        assert program.add_user("Ada", "ada@example.org").status_code == 201
        kept = []
        for _ in range(200):
            reply = program.client.post("/api/data", json={"filler": "x" * 60_000})
            if reply.status_code != 201:
                break
            kept.append(reply.headers["location"])
        assert reply.status_code == 503 and "retry-after" in reply.headers, reply.text
        (small_disk / "ballast").write_bytes(b"")
        assert program.client.get("/health").status_code == 200
        free = small_disk / "var" / "log"
        shutil.rmtree(free)
        subprocess.run(["mount", "-o", "remount,size=16m", str(small_disk)], check=True)
        wait_until(lambda: program.client.get("/ready").status_code == 200, "it is ready again")
        wait_until(lambda: program.client.post("/api/data", json={"again": 1}).status_code == 201, "it stores again")
        assert all(program.client.get(path).status_code == 200 for path in kept)
        assert program.client.get("/users").json()["users"][0]["name"] == "Ada"


def test_a_log_folder_that_cannot_be_written_stops_nobody(tmp_path):
    """A line on standard error and a count; the service goes on."""
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "log").write_text("a file where a folder should be", encoding="ascii")
    with FullStack(tmp_path) as program:
        assert program.add_user("Ada", "ada@example.org").status_code == 201
        wait_until(lambda: "var/log/fullstack.log" in program.stderr(), "the sink is named")
        wait_until(lambda: 'katana_log_records_lost_total 0\n' not in program.client.get("/metrics").text,
                   "what is lost is counted")


def test_a_configuration_that_is_broken_at_a_reload_changes_nothing(tmp_path):
    """The log names the mistake and its place; the next good file is applied."""
    config = tmp_path / "fullstack.yaml"
    config.write_text("log: {levels: info}\n", encoding="ascii")
    with FullStack(tmp_path, "--config", "fullstack.yaml") as program:
        config.write_text("log: {levels: info}\nhttp: {prot: 1}\n", encoding="ascii")
        program.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "fullstack.yaml:2" in program.stderr(), "the line is named")
        assert "'port'" in program.stderr()
        assert program.client.get("/ready").status_code == 200
        config.write_text('log: {levels: "info,access=off"}\n', encoding="ascii")
        program.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "log.levels" in program.stderr(), "the change is said")
        before = program.stderr().count("GET /health")
        program.client.get("/health")
        program.client.get("/ready")
        assert program.stderr().count("GET /health") == before


def test_the_limit_of_open_files_stops_new_connections_and_nobody_else(tmp_path):
    """Connected clients are served; when some leave, others come in."""
    with FullStack(tmp_path, prefix=("prlimit", "--nofile=64:64")) as program:
        assert program.add_user("Ada", "ada@example.org").status_code == 201
        crowd = [socket.create_connection(("127.0.0.1", program.port), 5) for _ in range(80)]
        wait_until(lambda: program.open_descriptors() >= 60, "the limit is reached")
        assert program.client.get("/users/1").status_code == 200        # on the connection that it has
        for each in crowd:
            each.close()
        wait_until(lambda: httpx.get(program.url("/users/1"), timeout=20).status_code == 200, "others come in")
        assert program.add_user("Bob", "bob@example.org").status_code == 201


JSON = b'{"name":"Ada","email":"ada@example.org"}'
SAMPLES = (b"GET /api/users?limit=3&after=0 HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\n\r\n",
           b"POST /api/users HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
           b"Content-Length: 40\r\n\r\n" + JSON,
           b'PUT /api/users/1 HTTP/1.1\r\nHost: x\r\nIf-Match: "1"\r\nContent-Type: application/json\r\n'
           b"Transfer-Encoding: chunked\r\n\r\n28\r\n" + JSON + b"\r\n0\r\n\r\n",
           b"DELETE /api/users/7 HTTP/1.1\r\nHost: x\r\nX-Request-Id: seven\r\n\r\n",
           b"POST /api/data HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
           b'Content-Length: 9\r\n\r\n{"a":[1]}')
BITS = (b"\r\n", b"\r\n\r\n", b"\0", b"\xff", b"%00", b"%2e%2e/", b" ", b":", b"Content-Length: 5\r\n", b"chunked",
        b"-1", b"18446744073709551616", b'"', b"{", b"]", b"\\ud800", b"1e999", b"Host: y\r\n",
        b"Expect: 100-continue\r\n")


def mutated(draw):
    """A good request with one to four mistakes."""
    request = bytearray(draw.choice(SAMPLES))
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(request))
        end = at + draw.randint(1, 20)
        request[at:draw.choice((at, at, end))] = draw.choice((b"", request[at:end], *draw.sample(BITS, 3)))
    return bytes(request)


def test_requests_that_are_broken_in_any_way_are_refused_and_cost_nobody_else(tmp_path):
    """Drawn from a seed: 2xx to 4xx, 501 or 505, or the end; never a 500, and never an error in the log."""
    draw, statuses = random.Random(8), set()
    with FullStack(tmp_path) as program:
        for _ in range(500):
            with socket.create_connection(("127.0.0.1", program.port), 20) as connection:
                told = b""
                with contextlib.suppress(ConnectionError):              # a reset is an end, too
                    connection.sendall(mutated(draw))
                    connection.shutdown(socket.SHUT_WR)
                    while piece := connection.recv(65536):
                        told += piece
                statuses |= {int(status) for status in re.findall(rb"(?:^|\n)HTTP/1\.1 (\d+) ", told)}
        assert {status for status in statuses if status >= 500} <= {501, 505}, statuses
        assert {201, 400, 404} <= statuses, statuses                   # the mistakes are of all kinds
        assert program.client.get("/ready").status_code == 200
        assert not re.search(r"^\S+ (error|fatal)", program.stderr(), re.MULTILINE)


def test_clients_that_are_slow_are_told_so_and_nobody_waits_for_them(tmp_path):
    """A head and content that never end: 408. A client that does not read its replies does not delay others."""
    limits = ["http.head_timeout=300ms", "http.content_timeout=300ms"]
    with FullStack(tmp_path, sets=limits) as program:
        assert program.add_user("Ada", "ada@example.org").status_code == 201
        deaf = socket.create_connection(("127.0.0.1", program.port), 20)
        deaf.sendall(b"GET /api/users HTTP/1.1\r\nHost: x\r\n\r\n" * 2000)
        for begun in (b"GET /api/us", b"POST /api/users HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                                      b"Content-Length: 40\r\n\r\n{"):
            with socket.create_connection(("127.0.0.1", program.port), 20) as slow:
                slow.sendall(begun)
                assert program.client.get("/users/1").status_code == 200
                told = b""
                while piece := slow.recv(65536):
                    told += piece
                assert told.startswith(b"HTTP/1.1 408 ") and b"application/problem+json" in told, told
        deaf.close()


def test_streams_of_events_end_in_order_when_it_stops(tmp_path):
    """SIGTERM while a dashboard is open: the last chunk comes, and nothing is cut off."""
    with FullStack(tmp_path) as program:
        with socket.create_connection(("127.0.0.1", program.port), 20) as reader:
            reader.sendall(b"GET /dashboard/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            told = b""
            while b"retry:" not in told:
                told += reader.recv(65536)
            program.process.send_signal(signal.SIGTERM)
            while piece := reader.recv(65536):
                told += piece
        assert told.endswith(b"\r\n0\r\n\r\n"), told[-100:]
        assert program.wait() == 0
        assert stop_report(program.stderr())["cut_off"] == 0, program.stderr()

# SPDX-License-Identifier: Apache-2.0
