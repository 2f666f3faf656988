"""A handler that spins and never returns: signals and the drain's deadline end the process all the same.

Other reactors go on, and no log record is lost."""
import re
import signal

import pytest

from application_process import Application, SECONDS_MAX
from program_process import engines, stop_report
from raw_client import eventually

FOR_EVER_MS = 3_600_000


def spin(app, ms=FOR_EVER_MS):
    """Keep a reactor busy, and return the connection that does, once that is known."""
    sock = app.connect()
    sock.sendall(f"GET /spin/{ms} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    app.wait_for_log(r"reactor [0-9]+ is stalled")
    return sock


def stuck_end(app):
    """Wait for the end, check its status, and return the report."""
    assert app.process.wait(SECONDS_MAX) == 1, app.stderr()
    assert re.search(r"reactor [0-9]+ did not end: busy for [0-9]+ ms with GET /spin/\{ms\}: the process ends",
                     app.stderr()), app.stderr()
    return stop_report(app.stderr())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("reactors", [1, 2])
def test_a_second_signal_ends_a_process_whose_reactor_is_stuck(tmp_path, number, reactors):
    """At once: long before the drain's deadline of an hour."""
    flags = ("--set", f"http.reactors={reactors}", "--set", "http.drain_timeout=1h")
    with Application(tmp_path, *flags) as app, spin(app):
        app.send_signal(number)
        # The kernel merges signals that are pending at once.
        assert eventually(lambda: not app.has_signal(number, "ShdPnd"), SECONDS_MAX)
        assert app.process.poll() is None
        app.send_signal(number)
        assert stuck_end(app)["cut_off"] >= 1


@pytest.mark.parametrize("engine", engines())
def test_new_connections_go_to_the_reactors_that_move(tmp_path, engine):
    """The kernel would give half of them to the stuck one, where they would wait for as long as it is."""
    flags = ("--set", f"http.engine={engine}", "--set", "http.drain_timeout=1ms")
    with Application(tmp_path, *flags) as app, spin(app):
        for _ in range(32):
            assert app.get("/greeting")[0] == 200
        app.send_signal(signal.SIGTERM)
        stuck_end(app)


def test_a_reactor_that_moves_again_gets_connections_again(tmp_path):
    """Each reactor then has some of 64 connections."""
    with Application(tmp_path) as app:
        with spin(app, 300) as sock:
            assert sock.recv(4096).startswith(b"HTTP/1.1 200 ")
            app.wait_for_log(r"reactor [0-9]+ was stalled")
        opened = [app.connect() for _ in range(64)]
        for sock in opened:
            sock.sendall(b"GET /greeting HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert sock.recv(4096).startswith(b"HTTP/1.1 200 ")
        metrics = app.get("/metrics")[1]
        shares = re.findall(r"^katana_connections_open\{reactor=\"[0-9]+\"\} ([0-9]+)", metrics, re.MULTILINE)
        assert len(shares) == 2 and all(int(share) > 4 for share in shares), shares
        for sock in opened:
            sock.close()


def test_a_drain_ends_at_its_deadline_although_a_reactor_is_stuck(tmp_path):
    """The other reactor has drained and reports its finished requests."""
    with Application(tmp_path, "--set", "http.drain_timeout=200ms") as app, spin(app):
        app.send_signal(signal.SIGTERM)
        assert stuck_end(app)["cut_off"] >= 1


def test_a_handler_that_returns_in_time_is_waited_for(tmp_path):
    """It is slow, not stuck: its reply is sent, and the end is an orderly one."""
    with Application(tmp_path) as app, spin(app, 1500) as sock:
        assert app.end() == 0
        assert sock.recv(4096).startswith(b"HTTP/1.1 200 ")


def test_a_second_signal_ends_a_process_whose_job_does_not_return(tmp_path):
    """The reactors have ended, and the pool waits for its job: the signal has its usual meaning again."""
    with Application(tmp_path, "--set", "http.drain_timeout=100ms") as app, app.connect() as sock:
        sock.sendall(f"GET /job/{FOR_EVER_MS} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert app.get("/greeting")[0] == 200
        app.send_signal(signal.SIGTERM)
        assert eventually(lambda: not app.has_signal(signal.SIGTERM, "SigBlk"), SECONDS_MAX)
        app.send_signal(signal.SIGTERM)
        assert app.process.wait(SECONDS_MAX) == -signal.SIGTERM

# SPDX-License-Identifier: Apache-2.0
