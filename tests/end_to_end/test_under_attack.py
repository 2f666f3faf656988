"""Floods from many addresses of the loopback: each address gets its share, and a good client is served all the while.

Counts, never times: how long things take is for lab/under_attack.py.
"""
import contextlib
import re
import socket
import ssl
import struct

import pytest

from application_process import Application

ADDRESSES = [f"127.7.{number // 50}.{1 + number % 50}" for number in range(100)]
EACH = 4        # connections that each address opens
REQUEST = b"GET /greeting HTTP/1.1\r\nHost: localhost\r\n\r\n"
HELLO = b"\r\n\r\nHello"
# It comes again and again, and the server may not have seen its last end yet.
GOOD_IS_EXEMPT = "clients.exempt=[127.0.0.1]"


def connect(port, source, payload=b""):
    """Return a connection from an address, on which these bytes were sent."""
    made = socket.create_connection(("127.0.0.1", port), timeout=60, source_address=(source, 0))
    with contextlib.suppress(OSError):           # refused already
        made.sendall(payload)
    return made


def ended(connection):
    """Whether the server has closed it without a reply; waits for either."""
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def greeted(port):
    """Whether the good client, on a new connection, is served."""
    with connect(port, "127.0.0.1", REQUEST) as connection:
        got = b""
        while HELLO not in got:
            piece = connection.recv(4096)
            if not piece:
                return False
            got += piece
        return True


def figure(program, name):
    """Return the sum of a counter over the reactors."""
    text = program.get("/metrics")[1]
    return int(sum(float(value) for value in re.findall(rf"^{name}_total{{[^}}]*}} ([0-9.e+]+)$", text, re.M)))


@pytest.fixture
def program(tmp_path, request):
    """The program with the settings of the test."""
    flags = [part for setting in request.param for part in ("--set", f"http.{setting}")]
    with Application(tmp_path, *flags) as running:
        yield running
        assert running.end() == 0


def limits(*settings):
    """Run a test with these settings."""
    return pytest.mark.parametrize("program", [settings], indirect=True)


@limits("clients.connections_max=3", GOOD_IS_EXEMPT)
def test_a_flood_of_connections_leaves_each_address_what_it_may_have(program):
    """Each of 100 addresses opens four connections; three are served, whichever reactor they come to."""
    port = int(program.ready["port"])
    with contextlib.ExitStack() as open_ones:
        served = 0
        for address in ADDRESSES:
            ones = [open_ones.enter_context(connect(port, address, REQUEST)) for _ in range(EACH)]
            served += sum(not ended(one) for one in ones)
            assert address != ADDRESSES[50] or greeted(port)
        assert served == 3 * len(ADDRESSES)
        assert figure(program, "katana_client_connections_refused") == len(ADDRESSES)
        assert greeted(port)


@limits("clients.connections_per_s=1", "clients.connections_burst=2")
def test_a_flood_of_new_connections_is_cut_to_its_burst(program):
    """Closing them at once does not help, and coming from other addresses meanwhile does not either."""
    port = int(program.ready["port"])
    served = refused = 0
    for address in ADDRESSES:
        for _ in range(EACH):
            with connect(port, address, REQUEST) as one:
                if ended(one):
                    refused += 1
                else:
                    served += 1
    # A second that passes gives each address one more.
    assert served >= 2 * len(ADDRESSES) and served + refused == EACH * len(ADDRESSES)
    assert refused == figure(program, "katana_client_rate_refused")
    assert refused > 0


@limits("clients.connections_max=3", "head_timeout=600s", GOOD_IS_EXEMPT)
def test_slow_heads_hold_no_more_than_the_connections_of_their_address(program):
    """300 heads that never end, of 100 addresses, and the good client does not notice."""
    port = int(program.ready["port"])
    with contextlib.ExitStack() as open_ones:
        for address in ADDRESSES:
            for _ in range(EACH):
                open_ones.enter_context(connect(port, address, b"GET / HTTP/1.1\r\nX: "))
            assert greeted(port)
        assert figure(program, "katana_client_connections_refused") == len(ADDRESSES)


@limits("clients.requests_max=2")
def test_requests_beyond_those_in_progress_are_refused_one_by_one(program):
    """Three slow requests come from one address; one gets 429, and another address is served meanwhile."""
    port = int(program.ready["port"])
    slow = b"GET /sleep/3000 HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with contextlib.ExitStack() as open_ones:
        ones = [open_ones.enter_context(connect(port, ADDRESSES[0], slow)) for _ in range(3)]
        assert greeted(port)
        assert sorted(one.recv(4096)[:12] for one in ones) == [b"HTTP/1.1 200", b"HTTP/1.1 200", b"HTTP/1.1 429"]
        assert figure(program, "katana_client_requests_refused") == 1
        with connect(port, ADDRESSES[0], REQUEST) as after:
            assert after.recv(4096).startswith(b"HTTP/1.1 200 ")


def frame(kind, flags, stream, payload):
    """Return a frame of HTTP/2."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


@limits("clients.requests_max=8")
def test_streams_that_are_reset_are_given_back(program):
    """Streams that are opened and reset, connection after connection, leave no request counted behind."""
    port = int(program.ready["port"])
    head = b"\x82\x86\x84\x41\x01a"
    streams = b"".join(frame(1, 5, number, head) + frame(3, 0, number, struct.pack(">I", 8))
                       for number in range(1, 401, 2))
    for _ in range(20):
        with connect(port, ADDRESSES[0], b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") + streams) as one:
            with contextlib.suppress(OSError):       # it may be given up for its resets before that
                one.shutdown(socket.SHUT_WR)
                while one.recv(65_536):
                    pass
        assert greeted(port)
    with connect(port, ADDRESSES[0], REQUEST) as one:
        assert one.recv(4096).startswith(b"HTTP/1.1 200 ")


@limits("connection_age_max=1s")
def test_a_connection_that_is_old_enough_ends_with_its_reply(program):
    """A client that asks again and again is told that a reply is the last, and loses none."""
    port = int(program.ready["port"])
    with connect(port, "127.0.0.1") as connection:
        replies = 0
        while True:
            connection.sendall(REQUEST)
            got = b""
            while HELLO not in got:
                piece = connection.recv(4096)
                assert piece, f"no reply to request {replies + 1}"
                got += piece
            replies += 1
            if b"\r\nConnection: close\r\n" in got:
                break
        assert replies > 1
        assert connection.recv(1) == b""
    assert figure(program, "katana_connections_aged") >= 1


@limits("proxy_protocol=required", "trusted_proxies=[127.7.0.0/24]")
def test_only_a_trusted_address_is_let_name_clients(tmp_path, program):
    """From 127.7.0.1 the header is believed, and logged; from 127.7.1.1 the connection is closed."""
    del tmp_path
    port = int(program.ready["port"])
    line = b"PROXY TCP4 198.51.100.7 203.0.113.1 5000 443\r\n"
    with connect(port, "127.7.0.1", line + REQUEST) as one:
        assert one.recv(4096).startswith(b"HTTP/1.1 200 ")
    with connect(port, "127.7.1.1", line + REQUEST) as one:
        assert ended(one)
    program.wait_for_log(r"198\.51\.100\.7:5000")


@limits("proxy_protocol=required", "trusted_proxies=[127.7.0.0/24]", "tls.development=true")
def test_the_header_stands_in_front_of_tls(program):
    """A handshake follows the line. The log names the client of that line for a request in the connection."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with connect(int(program.ready["port"]), "127.7.0.1", b"PROXY TCP6 2001:db8::7 ::1 5000 443\r\n") as raw:
        with context.wrap_socket(raw, server_hostname="localhost") as sealed:
            sealed.sendall(REQUEST)
            assert sealed.recv(4096).startswith(b"HTTP/1.1 200 ")
    program.wait_for_log(r"\[2001:db8::7\]:5000")

# SPDX-License-Identifier: Apache-2.0
