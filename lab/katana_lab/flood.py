"""Floods of a server on this machine's loopback, from many addresses of 127.0.0.0/8, bounded in number and time.

A flood keeps so many sockets in use, each from the next address, and does on each what its kind says:

    connections   a byte, and then nothing
    handshakes    a ClientHello, which costs the server a signature; gone with the first reply, and again
    requests      batches of pipelined requests, as fast as they are answered
    slow_heads    a head that never ends, a byte at a time
    resets        streams of HTTP/2 that are opened and reset (CVE-2023-44487)

It never leaves 127.0.0.0/8: another target is refused. Standard library only.
"""
from __future__ import annotations

import dataclasses
import errno
import itertools
import multiprocessing
import os
import select
import socket
import ssl
import struct
import time

KINDS = ("connections", "handshakes", "requests", "slow_heads", "resets")
TARGET = "127.0.0.1"
SOCKETS_MAX = 4_000
SECONDS_MAX = 120.0
BATCH = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 32


def addresses(count: int) -> list[str]:
    """`count` addresses of 127.0.0.0/8, none of them the one that servers listen on."""
    return [f"127.{1 + number // 65_025}.{1 + number // 255 % 255}.{1 + number % 255}" for number in range(count)]


def client_hello() -> bytes:
    """The first flight of a TLS client."""
    context = ssl.create_default_context()
    outgoing = ssl.MemoryBIO()
    shaking = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    try:
        shaking.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """A frame of HTTP/2 (RFC 9113 §4.1)."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def reset_streams(first: int, count: int) -> bytes:
    """`count` streams, each opened by a request and reset at once."""
    head = b"\x82\x86\x84\x41\x01a"        # GET, http, /, and the authority "a" (RFC 7541)
    return b"".join(frame(1, 5, stream, head) + frame(3, 0, stream, struct.pack(">I", 8))
                    for stream in range(first, first + 2 * count, 2))


@dataclasses.dataclass
class Flooding:
    """One socket of a flood."""

    socket: socket.socket
    sent: int = 0            # batches, or bytes
    answered: bool = False
    left: bytes = b""


@dataclasses.dataclass
class Flooded:
    """The result of a flood."""

    opened: int = 0
    ended_by_server: int = 0
    unanswered: int = 0      # the part of them without a single byte of a reply
    failed: int = 0          # could not be connected


class Flood:
    """A flood in this process: step() does what can be done now."""

    def __init__(self, kind: str, port: int, sockets: int, from_addresses: int):
        if kind not in KINDS or not 0 < sockets <= SOCKETS_MAX:
            raise ValueError(f"no flood of {sockets} sockets and kind {kind!r}")
        self.kind, self.port, self.sockets = kind, port, sockets
        self.sources = itertools.cycle(addresses(from_addresses))
        self.poll = select.epoll()
        self.open: dict[int, Flooding] = {}
        self.done = Flooded()
        self.hello = client_hello() if kind == "handshakes" else b""
        self.slow_at = 0.0

    def connect(self) -> None:
        """One more socket."""
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        made.setblocking(False)
        made.setsockopt(socket.IPPROTO_IP, 24, 1)       # IP_BIND_ADDRESS_NO_PORT: the kernel has more ports then
        made.bind((next(self.sources), 0))
        if made.connect_ex((TARGET, self.port)) not in (0, errno.EINPROGRESS):
            self.done.failed += 1
            made.close()
            return
        self.open[made.fileno()] = Flooding(made)
        self.poll.register(made, select.EPOLLIN | select.EPOLLOUT)

    def payload(self, one: Flooding) -> bytes:
        """The bytes that it sends next; empty: it waits."""
        first = one.sent == 0
        if self.kind == "requests":
            return BATCH
        if self.kind == "resets":
            preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") if first else b""
            return preface + reset_streams(1 + 40 * one.sent, 20)
        if not first:
            return b""
        return {"connections": b"G", "handshakes": self.hello,
                "slow_heads": b"GET / HTTP/1.1\r\nHost: a\r\nX: "}[self.kind]

    def close(self, one: Flooding, by_server: bool) -> None:
        """This socket is over."""
        self.poll.unregister(one.socket)
        del self.open[one.socket.fileno()]
        if by_server:
            self.done.ended_by_server += 1
            self.done.unanswered += 0 if one.answered else 1
            one.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        one.socket.close()

    def write(self, one: Flooding) -> None:
        """Send, or wait for a reply."""
        one.left = one.left or self.payload(one)
        if one.left:
            count = one.socket.send(one.left)
            one.left = one.left[count:]
            if not one.left:
                one.sent += 1
        if not one.left and self.kind != "resets":
            self.poll.modify(one.socket, select.EPOLLIN)

    def read(self, one: Flooding) -> None:
        """Take what came."""
        got = one.socket.recv(65_536)
        one.answered = one.answered or bool(got)
        if not got:
            self.close(one, True)
        elif self.kind == "handshakes":
            self.close(one, False)
        elif self.kind == "requests":
            self.poll.modify(one.socket, select.EPOLLIN | select.EPOLLOUT)

    def step(self) -> None:
        """Open missing connections, and serve the ready ones."""
        for _ in range(min(200, self.sockets - len(self.open))):
            self.connect()
        for number, events in self.poll.poll(0.01):
            one = self.open.get(number)
            if one is None:
                continue
            try:
                if events & select.EPOLLOUT and one.sent == 0 and not one.left:
                    self.done.opened += 1
                if events & (select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR):
                    self.read(one)
                if one.socket.fileno() in self.open and events & select.EPOLLOUT:
                    self.write(one)
            except BlockingIOError:
                continue
            except OSError:
                self.close(one, True)
        if self.kind == "slow_heads" and time.monotonic() > self.slow_at:
            self.slow_at = time.monotonic() + 1
            for one in list(self.open.values()):
                try:
                    one.socket.send(b"x")
                except OSError:
                    pass


def _run(kind: str, port: int, sockets: int, from_addresses: int, seconds: float, result) -> None:
    """The child: floods until its time is over, with the lowest precedence."""
    os.nice(19)
    flood = Flood(kind, port, sockets, from_addresses)
    end = time.monotonic() + min(seconds, SECONDS_MAX)
    while time.monotonic() < end:
        flood.step()
    result.put(dataclasses.asdict(flood.done))
    result.close()
    result.join_thread()
    os._exit(0)                               # sockets and all: the process need not wait for thousands of closes


class Running:
    """A flood in a separate process; a context manager. `done`: its result, afterwards."""

    def __init__(self, kind: str, port: int, sockets: int, from_addresses: int, seconds: float):
        self.result = multiprocessing.Queue()
        self.process = multiprocessing.Process(target=_run, daemon=True,
                                               args=(kind, port, sockets, from_addresses, seconds, self.result))
        self.seconds = seconds
        self.done = Flooded()

    def __enter__(self) -> Running:
        self.process.start()
        return self

    def __exit__(self, *_) -> None:
        try:
            self.done = Flooded(**self.result.get(timeout=self.seconds + 30))
        finally:
            self.process.join(5)
            if self.process.is_alive():
                self.process.kill()

# SPDX-License-Identifier: Apache-2.0
