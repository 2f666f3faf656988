"""Clients that fill the server with messages do not delay the lines of other clients."""
import re
import selectors
import socket
import statistics
import threading
import time

import pytest

from chat_process import ChatServer, Client
from raw_client import eventually

READERS, HONEST, LINES, FLOODERS = 6, 5, 15, 8
INTERVAL_S = 0.05
FLOOD_S_MAX = 12
FLOOD = (b"f" * 1000 + b"\n") * 64
# More than is said, so that no reader is too slow, however busy this machine is.
QUEUE_BYTES = 1 << 28
LINE = re.compile(rb"line (\d+)/(\d+) at (\d+)\n")


class Reading(threading.Thread):
    """Takes all that comes, and keeps the honest lines, each with its age as it came."""

    def __init__(self, client):
        super().__init__(daemon=True)
        self.socket, self.heard, self.ages_ms = client.socket, [], []
        self.socket.settimeout(60)
        self.start()

    def run(self):
        """Until the connection ends."""
        left = b""
        while True:
            try:
                piece = self.socket.recv(1 << 20)
            except OSError:
                return
            if not piece:
                return
            now = time.monotonic_ns()
            text = left + piece
            for found in LINE.finditer(text) if b"line " in text else ():
                self.heard.append((int(found[1]), int(found[2])))
                self.ages_ms.append((now - int(found[3])) / 1e6)
            left = text[text.rfind(b"\n") + 1:]


class Flood(threading.Thread):
    """Connections that say as much as the server reads, until they are told to stop or have for long enough."""

    def __init__(self, port, room):
        super().__init__(daemon=True)
        self.sockets = [Client(port).enter() for _ in range(FLOODERS)]
        for each in self.sockets:
            each.say(f"/join {room}\n")
            each.hear(f"room {room}.\n")
        self.sockets = [each.socket for each in self.sockets]
        self.sent, self.stopped = 0, threading.Event()
        self.start()

    def run(self):
        """Read and discard all that the server sends to the flooding clients."""
        left = dict.fromkeys(self.sockets, FLOOD)
        with selectors.DefaultSelector() as ready:
            for each in self.sockets:
                each.setblocking(False)
                ready.register(each, selectors.EVENT_READ | selectors.EVENT_WRITE)
            end = time.monotonic() + FLOOD_S_MAX
            while not self.stopped.is_set() and time.monotonic() < end:
                for key, events in ready.select(0.1):
                    if events & selectors.EVENT_READ:
                        key.fileobj.recv(1 << 20)
                    if events & selectors.EVENT_WRITE:
                        count = key.fileobj.send(left[key.fileobj])
                        self.sent += count
                        left[key.fileobj] = left[key.fileobj][count:] or FLOOD


@pytest.mark.parametrize("elsewhere", [False, True], ids=["in_their_room", "in_another_room"])
def test_honest_lines_arrive_while_somebody_floods(engine, elsewhere, record_property):
    """Five clients say a line twenty times a second; all arrive, in order, before the flooder ends."""
    with ChatServer("--queue-bytes-max", str(QUEUE_BYTES), "--held-mib", "1024", engine=engine, threads=1) as server:
        hearing = [Client(server.port).enter() for _ in range(READERS)]
        honest = [Client(server.port).enter() for _ in range(HONEST)]
        for each in hearing + honest if elsewhere else ():
            each.say("/join quiet\n")
            each.hear("room quiet.\n")
        threads = [Reading(each) for each in hearing + honest]
        flood = Flood(server.port, "flooded" if elsewhere else "lobby")
        assert eventually(lambda: server.metrics()["message_bytes"] > 4 << 20)
        for number in range(LINES):
            for sender, each in enumerate(honest):
                each.say(f"line {sender}/{number} at {time.monotonic_ns()}\n")
            time.sleep(INTERVAL_S)      # the pace of a person who types
        everything = HONEST * LINES
        eventually(lambda: all(len(each.heard) >= everything for each in threads[:READERS]) or not flood.is_alive(),
                   seconds=2 * FLOOD_S_MAX)
        went_on = flood.is_alive()
        flood.stopped.set()
        flood.join()
        counts = [len(each.heard) for each in threads[:READERS]]
        metrics = server.metrics()
        ages = sorted(age for each in threads[:READERS] for age in each.ages_ms) or [0]
        figures = (f"{engine}: honest lines {min(counts)} to {max(counts)} of {everything} with each reader, age median"
                   f" {statistics.median(ages):.1f} ms, 99 % {ages[len(ages) * 99 // 100]:.1f} ms;"
                   f" flooders {flood.sent / 1e6:.0f} MB, {metrics['batches']:.0f} batches,"
                   f" {sum(v for k, v in metrics.items() if k.startswith('dropped')):.0f} dropped")
        record_property("figures", figures)
        print(figures)
        assert went_on, "the flooders came to their end before all honest lines had arrived: " + figures
        for each in threads[:READERS]:
            for sender in range(HONEST):
                assert [line for of, line in each.heard if of == sender] == list(range(LINES)), figures
        assert metrics["messages"] >= 10 * everything, figures      # nor are they shut out
        for each in [*flood.sockets, *(each.socket for each in hearing + honest)]:
            each.shutdown(socket.SHUT_RDWR)

# SPDX-License-Identifier: Apache-2.0
