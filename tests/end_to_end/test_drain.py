"""SIGTERM under load, with downloads and uploads in flight, and twice."""
import contextlib

import pytest

from load import Load
from raw_client import Reader, eventually, exchange, request
from server_process import Server

CHUNK = 1 << 16
# Longer than Server waits for the end: a server that only ends at its deadline, with nothing left to do, fails.
PATIENT = ("--drain-s", "300")


def refuses(server):
    """True when no new connection is accepted."""
    try:
        server.connect(timeout=0.5).close()
        return False
    except OSError:
        return True


def wait_for_drain(server):
    """Return when the server has begun to drain."""
    assert eventually(lambda: refuses(server), seconds=60) and server.alive()


@pytest.mark.parametrize("keep_alive", [True, False], ids=["keep-alive", "one-request-each"])
def test_a_drain_under_load_fails_no_request_that_was_sent(engine, keep_alive):
    """Three times, since a race shows only now and then."""
    for _ in range(3):
        server = Server(*PATIENT, engine=engine)
        load = Load(server.port, connections=32, keep_alive=keep_alive)
        try:
            load.start()
            assert eventually(lambda: load.finished > 1000), (load.finished, load.failed, load.crash)
            load.told_to_stop.set()
            report = server.stop()
            failed = load.stop()
        finally:
            server.kill()
            load.ending = True
        assert failed == [], f"{len(failed)} of {load.finished}: {failed[:5]}"
        assert report["cut_off"] == 0, report


def test_a_slow_download_in_flight_is_finished(engine):
    """20 MB, of which the client reads little before it is told to end; new connections are refused meanwhile."""
    size = 20_000_000
    server = Server(*PATIENT, engine=engine)
    with contextlib.closing(server.connect(timeout=30, receive_buffer=CHUNK)) as sock:
        sock.sendall(request(f"/bytes/{size}"))
        reader = Reader(sock)
        assert reader.head().fields["content-length"] == str(size)
        left, step = size, size // 20
        while left:
            reader.take(min(step, left))
            left -= min(step, left)
            if left == size - step:
                server.send_signal()
            elif left == size - 4 * step:
                wait_for_drain(server)
        assert sock.recv(1) == b""
    assert server.wait() == 0
    report = server.drain_report()
    assert report["cut_off"] == 0, report


def test_an_upload_in_flight_is_answered_and_the_connection_closed(engine):
    """The rest of the content is sent after SIGTERM."""
    content = bytes(range(256)) * 1024
    server = Server(*PATIENT, engine=engine)
    with contextlib.closing(server.connect()) as sock:
        octets = request("/echo", "POST", content=content, fields="Expect: 100-continue\r\n")
        head = octets.index(b"\r\n\r\n") + 4
        sock.sendall(octets[:head])
        reader = Reader(sock)
        assert reader.head().status == 100
        sock.sendall(octets[head:100_000])
        server.send_signal()
        wait_for_drain(server)
        for start in range(100_000, len(octets), 20_000):
            sock.sendall(octets[start:start + 20_000])
        assert reader.reply().body == content
        assert sock.recv(1) == b""
    assert server.wait() == 0
    report = server.drain_report()
    assert report["cut_off"] == 0, report


def test_idle_connections_do_not_hold_up_the_drain(engine):
    """Fifty keep-alive connections, none busy: they are closed without waiting for the deadline."""
    server = Server(*PATIENT, engine=engine)
    socks = [server.connect() for _ in range(50)]
    assert all(exchange(sock, request()).status == 200 for sock in socks)
    report = server.stop()
    assert report["cut_off"] == 0, report
    assert all(sock.recv(1) == b"" for sock in socks)


def test_a_second_signal_ends_at_once(engine):
    """An unread download holds the drain; a second signal need not wait for the deadline."""
    server = Server(*PATIENT, engine=engine)
    with contextlib.closing(server.connect(receive_buffer=CHUNK)) as sock:
        sock.sendall(request("/bytes/100000000"))
        reader = Reader(sock)
        assert reader.head().status == 200
        server.send_signal()
        wait_for_drain(server)
        reader.take(20_000_000)     # more than the buffers of the kernel hold: it is still sent
        assert server.alive(), "the first signal cut off a reply in flight"
        server.send_signal()
        status = server.wait(seconds=3)
    assert status in (0, 1), status


def test_a_drain_gives_up_at_its_deadline_and_says_what_it_cut_off(engine):
    """The drain with --drain-s 1, and a download that the client does not read."""
    server = Server("--drain-s", "1", engine=engine)
    with contextlib.closing(server.connect(receive_buffer=CHUNK)) as sock:
        sock.sendall(request("/bytes/100000000"))
        assert Reader(sock).head().status == 200
        report = server.stop()
    assert report["cut_off"] == 1, report

# SPDX-License-Identifier: Apache-2.0
