"""Long connections are even over the reactors, whatever queue the kernel has put them in; short ones stay there."""
import re
import signal

import pytest

from application_process import Application
from program_process import engines, stop_report

REACTORS, CONNECTIONS = 8, 128
ASK = b"GET /greeting HTTP/1.1\r\nHost: localhost\r\n\r\n"


def by_reactor(app, name):
    """Return a metric of each reactor, in their order."""
    found = re.findall(rf'^{name}{{reactor="[0-9]+"}} ([0-9]+)', app.get("/metrics")[1], re.MULTILINE)
    assert len(found) == REACTORS, found
    return [int(value) for value in found]


def asked(sock):
    """Send a request, and check that the reply is one."""
    sock.sendall(ASK)
    assert sock.recv(4096).startswith(b"HTTP/1.1 200 ")


def application(tmp_path, engine, *settings):
    """Return a program with eight reactors."""
    flags = [part for setting in (f"http.engine={engine}", f"http.reactors={REACTORS}", *settings)
             for part in ("--set", setting)]
    return Application(tmp_path, *flags)


@pytest.mark.parametrize("engine", engines())
@pytest.mark.parametrize("together", [False, True])
def test_long_connections_are_even_over_reactors(tmp_path, engine, together):
    """The kernel alone gives the busiest 20 or more. One of /metrics itself may be among them."""
    with application(tmp_path, engine) as app:
        opened = []
        for _ in range(CONNECTIONS):
            opened.append(app.connect())
            if not together:
                asked(opened[-1])
        for sock in opened:
            asked(sock)
        shares = by_reactor(app, "katana_connections_open")
        assert CONNECTIONS <= sum(shares) <= CONNECTIONS + 1 and max(shares) <= 18, shares
        passed_on = sum(by_reactor(app, "katana_connections_passed_on_total"))
        assert 0 < passed_on < CONNECTIONS, passed_on
        for sock in opened:
            asked(sock)
            sock.close()
        assert app.end() == 0
        assert stop_report(app.stderr())["connections"] == CONNECTIONS + 2


@pytest.mark.parametrize("engine", engines())
def test_a_connection_that_is_over_when_the_next_comes_is_not_passed_on(tmp_path, engine):
    with application(tmp_path, engine) as app:
        for _ in range(64):
            assert app.get("/greeting")[0] == 200
        assert sum(by_reactor(app, "katana_connections_passed_on_total")) <= 4


def test_the_kernels_choice_can_be_left_alone(tmp_path):
    with application(tmp_path, "epoll-edge", "http.balance=kernel") as app:
        opened = [app.connect() for _ in range(CONNECTIONS)]
        for sock in opened:
            asked(sock)
        assert sum(by_reactor(app, "katana_connections_passed_on_total")) == 0
        for sock in opened:
            sock.close()


@pytest.mark.parametrize("engine", engines())
def test_a_program_that_ends_while_connections_are_passed_on_answers_or_resets_each(tmp_path, engine):
    """Each client gets a reply or a reset, and none waits in vain."""
    with application(tmp_path, engine, "http.drain_notice=0s") as app:
        opened = [app.connect() for _ in range(CONNECTIONS)]
        for number, sock in enumerate(opened):
            sock.settimeout(20)
            try:
                sock.sendall(ASK)
            except OSError:
                continue        # it has ended
            if number == CONNECTIONS // 2:
                app.send_signal(signal.SIGTERM)
        for sock in opened:
            try:
                while sock.recv(4096):
                    pass
            except (ConnectionResetError, BrokenPipeError):
                pass
            except TimeoutError:
                pytest.fail("a connection was lost without a word")
            sock.close()

# SPDX-License-Identifier: Apache-2.0
