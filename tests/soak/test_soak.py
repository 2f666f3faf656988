"""fullstack under mixed load: memory and descriptors return to where they were, and nothing acknowledged is lost.

$KATANA_SOAK_S is how long the load lasts: 2 s when it is not set, which is what `make test` runs; `make soak` says 600.
"""
import concurrent.futures
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

import httpx
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "end_to_end"))
from chat_process import ChatServer  # noqa: E402  (its folder is not this one)
from fullstack_process import FullStack  # noqa: E402
from test_fullstack_robust import Writers, stored, wait_until  # noqa: E402

LOAD_SECONDS = float(os.environ.get("KATANA_SOAK_S", "2"))
LONG = LOAD_SECONDS >= 60
REST_SECONDS = 300 if LONG else 10
# The growth that a process may still have after a short load: thread stacks, caches of connections.
SLACK_KIB = 0 if LONG else 8 * 1024

pytestmark = pytest.mark.timeout(LOAD_SECONDS * 4 + REST_SECONDS + 120)


def read_fast(program, seconds):
    """Read users and figures as fast as the machine goes; by wrk where it is there."""
    wrk = shutil.which("wrk")
    if wrk:
        subprocess.run([wrk, "-t1", "-c32", f"-d{max(1, round(seconds))}s", program.url("/api/users/1")],
                       stdout=subprocess.DEVNULL, check=True)
        return
    end = time.monotonic() + seconds
    with httpx.Client(base_url=program.url()) as client:
        while time.monotonic() < end:
            client.get("/api/users/1")


def annoy(program, seconds):
    """Connect and leave: half a request, one that is none, a stream that is left alone, content that is too large."""
    sends = [b"GET /api/us", b"\0\0\0\r\n\r\n", b"GET /dashboard/events HTTP/1.1\r\nHost: localhost\r\n\r\n",
             b"POST /api/data HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 999999\r\n\r\n{"]
    end = time.monotonic() + seconds
    count = 0
    while time.monotonic() < end:
        with socket.create_connection(("127.0.0.1", program.port), 5) as connection:
            connection.sendall(sends[count % len(sends)])
        count += 1
        time.sleep(0.002)


def load(program, seconds):
    """Run all loads at once; return the acknowledged writes."""
    writers = Writers(program, 4)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for run in [pool.submit(read_fast, program, seconds), pool.submit(annoy, program, seconds)]:
            run.result()
    return writers.end()


def test_memory_and_descriptors_return_after_load(tmp_path):
    """RSS within 10 %, descriptors exactly."""
    with FullStack(tmp_path, sets=["log.levels=info,access=off", "http.connections_max=1024"]) as program:
        assert program.add_user("Ada", "ada@example.org").status_code == 201
        load(program, min(LOAD_SECONDS, 30))            # caches are full, statements prepared, pools warm
        program.client.get("/ready")
        time.sleep(1)
        rss_kib, descriptors = program.rss_kib(), program.open_descriptors()
        acknowledged = load(program, LOAD_SECONDS)
        assert acknowledged
        end = time.monotonic() + REST_SECONDS
        while time.monotonic() < end:
            program.client.get("/ready")
            grown = program.rss_kib() > rss_kib * 1.1 + SLACK_KIB
            if not grown and program.open_descriptors() <= descriptors:
                break
            time.sleep(0.5)
        assert program.open_descriptors() <= descriptors
        assert program.rss_kib() <= rss_kib * 1.1 + SLACK_KIB, f"{rss_kib} KiB before the load"
    assert set(acknowledged) <= stored(tmp_path)


def vanish(port, words, count):
    """Connect, say something that wants no answer, and be gone by a reset."""
    for _ in range(count):
        with socket.create_connection(("127.0.0.1", port), 5) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.sendall(words)


@pytest.mark.parametrize("engine", ["epoll-edge", "epoll-level", "io_uring"])
def test_clients_that_vanish_leave_no_descriptor(engine):
    """A chat has no deadline that would hide one that was missed."""
    with ChatServer("--idle-s", "0", engine=engine) as program:
        before = program.open_descriptors()
        end = time.monotonic() + LOAD_SECONDS
        while time.monotonic() < end:
            vanish(program.port, b"half a li", 200)
            time.sleep(0.05)  # the kernel's wake-ups differ for a server that sleeps
        wait_until(lambda: program.open_descriptors() <= before, "every descriptor is closed")


@pytest.mark.skipif(not LONG, reason="make soak runs it; its short form is in tests/end_to_end")
def test_it_survives_being_killed_again_and_again(tmp_path):
    """kill -9 under load, twenty times, on one database."""
    acknowledged = []
    for _ in range(20):
        with FullStack(tmp_path) as program:
            writers = Writers(program)
            writers.wait_for(200)
            program.process.send_signal(signal.SIGKILL)
            program.wait()
            acknowledged += writers.end()
        assert set(acknowledged) <= stored(tmp_path)
        with FullStack(tmp_path) as program:
            wait_until(lambda: program.client.get("/ready").status_code == 200, "it is ready")
            for email in acknowledged[-50:]:
                assert program.add_user("Again", email).status_code == 409
        acknowledged = []

# SPDX-License-Identifier: Apache-2.0
