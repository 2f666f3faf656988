"""Floods stay on the loopback, are bounded, and send what their kind says."""
import contextlib
import ipaddress
import socket
import time

import pytest

from katana_lab import flood


def test_addresses_are_different_ones_of_the_loopback():
    """A thousand of them, none of which is the server's."""
    found = flood.addresses(1_000)
    assert len(set(found)) == 1_000
    assert all(ipaddress.ip_address(one).is_loopback for one in found)
    assert flood.TARGET not in found


@pytest.mark.parametrize("kind, sockets", [("pings", 1), ("requests", 0), ("requests", flood.SOCKETS_MAX + 1)])
def test_what_is_no_flood_or_too_much_is_refused(kind, sockets):
    """The constructor refuses it, before any connection."""
    with pytest.raises(ValueError):
        flood.Flood(kind, 1, sockets, 1)


@pytest.mark.parametrize("kind, begins", [("connections", b"G"), ("handshakes", b"\x16\x03"),
                                          ("requests", b"GET / HTTP/1.1"),
                                          ("slow_heads", b"GET / HTTP/1.1\r\n"), ("resets", b"PRI * HTTP/2.0\r\n")])
def test_each_kind_sends_what_it_says_from_addresses_of_its_own(kind, begins):
    """Three sockets, from three addresses."""
    with contextlib.closing(socket.create_server((flood.TARGET, 0))) as server:
        one = flood.Flood(kind, server.getsockname()[1], 3, 1_000)
        end = time.monotonic() + 20
        peers = set()
        server.settimeout(20)
        for _ in range(3):
            one.step()
            accepted, (peer, _) = server.accept()
            peers.add(peer)
            accepted.settimeout(0.05)
            got = b""
            while len(got) < len(begins) and time.monotonic() < end:
                one.step()
                with contextlib.suppress(TimeoutError):
                    got += accepted.recv(65_536)
            assert got.startswith(begins)
            accepted.close()
        assert len(peers) == 3 and flood.TARGET not in peers

# SPDX-License-Identifier: Apache-2.0
