"""A program without work sleeps: no thread of it wakes, until something happens or a time-out of a client is due.

Counted are voluntary context switches, which are a thread's own: a busy machine adds none.
"""
import pathlib
import socket
import time

import httpx

from fullstack_process import FullStack

WINDOW_S = 2        # of periodic work even the rarest (a look of the log) shows
PATIENCE_S = 30


def wait_until(holds, what):
    """Wait until it holds; fail when that takes too long."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def wakes(pid):
    """Return the voluntary context switches of each thread: {id and name: count}."""
    counts = {}
    for task in proc_tasks(pid):
        fields = dict(line.split(":", 1) for line in (task / "status").read_text().splitlines() if ":" in line)
        counts[f"{fields['Name'].strip()} ({task.name})"] = int(fields["voluntary_ctxt_switches"])
    return counts


def proc_tasks(pid):
    """Return the folders of a process's threads."""
    return sorted((pathlib.Path("/proc") / str(pid) / "task").iterdir())


def assert_rests(program, window_s=WINDOW_S):
    """Some window passes in which no thread wakes; else name the threads that did in the last one."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        before = wakes(program.pid)
        time.sleep(window_s)
        after = wakes(program.pid)
        woken = {name: count - before.get(name, 0) for name, count in after.items() if count != before.get(name)}
        if not woken:
            return
        assert time.monotonic() < deadline, f"threads that woke within {window_s} s: {woken}"


def test_a_server_at_rest_is_not_woken_and_answers_at_once(server):
    """At its start, after requests, and with a client that stays connected."""
    assert_rests(server)
    with httpx.Client(base_url=server.url()) as client:
        for _ in range(3):
            assert client.get("/plaintext").status_code == 200
        assert_rests(server)
        assert client.get("/plaintext").status_code == 200
    assert_rests(server)


def test_a_program_with_everything_on_rests(engine, tmp_path):
    """fullstack with its defaults: log, database, watch over its reactors, dashboard; also after it was used."""
    with FullStack(tmp_path, sets=(f"http.engine={engine}",)) as program:
        assert_rests(program)
        assert program.add_user("Ada", "ada@example.org").status_code == 201
        assert program.client.get("/api/users/1").status_code == 200
        assert program.client.get("/ready").status_code == 200
        assert_rests(program)
        # The database is looked at again when it is used.
        (tmp_path / "var" / "katana.db").rename(tmp_path / "kept.db")
        wait_until(lambda: program.client.get("/ready").status_code == 503, "the lost file is missed")
        (tmp_path / "kept.db").rename(tmp_path / "var" / "katana.db")
        wait_until(lambda: program.client.get("/ready").status_code == 200, "it is ready again")


def test_figures_are_collected_while_somebody_reads_them(tmp_path):
    """The dashboard's events come once a second; afterwards the program rests."""
    with FullStack(tmp_path) as program:
        assert_rests(program)
        with socket.create_connection(("127.0.0.1", program.port), 20) as reader:
            reader.sendall(b"GET /dashboard/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            told = b""
            while told.count(b"event: figures") < 3:
                told += reader.recv(65536)
        assert_rests(program)

# SPDX-License-Identifier: Apache-2.0
