"""Instances of a program that share a bus, with clients attached: nats-server is killed, hangs, loses its state."""
import base64
import contextlib
import json
import os
import re
import socket
import threading
import time

import pytest

from application_process import Application, SECONDS_MAX
from fullstack_process import flags_of
from nats_process import Nats

SETTINGS = {"bus.required": "true", "bus.reconnect_max": "100ms", "bus.ping_interval": "100ms", "log.levels": "info",
            "http.drain_timeout": "10s"}


def start(folder, nats, **more):
    """Return a running instance, of two reactors, in its own folder."""
    folder.mkdir(exist_ok=True)
    settings = {**SETTINGS, "bus.url": nats.url, **{key.replace("__", "."): value for key, value in more.items()}}
    return Application(folder, *flags_of(f"{key}={value}" for key, value in settings.items()))


def until(holds, what):
    """Wait until `holds()`."""
    end = time.monotonic() + SECONDS_MAX
    while not holds():
        assert time.monotonic() < end, what() if callable(what) else what
        time.sleep(0.02)


class Reader:
    """A client whose connection is read by a thread: `text` is what came, chunked or in frames."""

    def __init__(self, app, request):
        self.socket, self.text = app.connect(), ""
        self.socket.settimeout(None)
        self.socket.sendall(request.encode())
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        with contextlib.suppress(OSError):
            while piece := self.socket.recv(65536):
                self.text += piece.decode("latin-1")

    def close(self):
        """Leave."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join(SECONDS_MAX)
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def events_of(app, last_id=None):
    """Return a reader of GET /news that has its place in the stream."""
    more = f"Last-Event-ID: {last_id}\r\n" if last_id else ""
    reader = Reader(app, f"GET /news HTTP/1.1\r\nHost: localhost\r\n{more}\r\n")
    until(lambda: "retry: " in reader.text, lambda: reader.text)
    return reader


def messages_of(app):
    """Return a WebSocket that is subscribed."""
    key = base64.b64encode(os.urandom(16)).decode()
    reader = Reader(app, "GET /news/socket HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                         f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n")
    until(lambda: "101 Switching" in reader.text, lambda: reader.text)
    return reader


def told(reader):
    """Return the data of the events that came, and the names of those without."""
    return [data or name for name, data in re.findall(r"(?:^event: (\S+)\n)?^data: (.*)$", reader.text, re.MULTILINE)]


def tell(app, text):
    """Publish an event and a message."""
    with app.connect() as connection:
        connection.sendall(f"POST /news/{text} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n"
                           "Connection: close\r\n\r\n".encode())
        reply = connection.makefile("rb").read().decode()
    assert " 202 " in reply, reply


def until_each_hears_the_other(apps, sockets):
    """A message of a topic reaches only those whose subscription the server has: tell until both have heard."""
    def heard():
        tell(apps[0], "from_first")
        tell(apps[1], "from_second")
        return "from_first" in sockets[1].text and "from_second" in sockets[0].text
    until(heard, lambda: [each.text for each in sockets])


def ready(app):
    """Return the status of /ready, and its check of the bus."""
    status, text, _ = app.get("/ready")
    return status, {check["name"]: check["status"] for check in json.loads(text)["checks"]}["bus"]


@pytest.fixture(name="nats")
def a_nats(tmp_path):
    """A server."""
    with Nats(tmp_path) as server:
        yield server


@pytest.mark.parametrize("sandbox", ["off", "on"])
def test_clients_that_stay_attached_are_told_everything_of_every_outage(tmp_path, nats, sandbox):
    """Killed, paused, killed with its state: events come at every instance, once and in order, a loss in its place."""
    with contextlib.ExitStack() as stack:
        apps = [stack.enter_context(start(tmp_path / name, nats, process__sandbox=sandbox)) for name in "ab"]

        def all_are_ready():
            for each in apps:
                until(lambda each=each: ready(each) == (200, "pass"), lambda each=each: each.get("/ready")[1])

        all_are_ready()
        events = [stack.enter_context(events_of(each)) for each in apps]
        sockets = [stack.enter_context(messages_of(each)) for each in apps]
        until_each_hears_the_other(apps, sockets)

        def all_have(text, of_sockets=sockets):
            for each in events:
                until(lambda each=each: text in told(each), lambda each=each: f"{text} is not in {each.text!r}")
            for each in of_sockets:
                until(lambda each=each: text in each.text, lambda each=each: f"{text} is not in {each.text!r}")

        tell(apps[0], "first")
        all_have("first")
        nats.kill()
        for each in apps:
            until(lambda each=each: ready(each) == (503, "fail"), "they are not ready")
        tell(apps[0], "killed")
        until(lambda: "killed" in sockets[0].text, "the clients of the same instance are told at once")
        nats.start()
        # A message of a topic is sent once: an instance that connects again after it was sent misses it.
        all_have("killed", sockets[:1])
        all_are_ready()
        tell(apps[0], "after_kill")
        all_have("after_kill")
        nats.pause()
        until(lambda: ready(apps[1]) == (503, "fail"), "a server that hangs is noticed")
        tell(apps[1], "paused")
        nats.pause(False)
        all_have("paused", sockets[1:])
        all_are_ready()
        tell(apps[0], "after_pause")
        all_have("after_pause")
        nats.kill(forget=True)
        for each in apps:
            until(lambda each=each: ready(each) == (503, "fail"), "they are not ready")
        nats.start()
        all_are_ready()
        tell(apps[1], "anew")
        all_have("anew")
        for each in events:
            sent = ["first", "killed", "after_kill", "paused", "after_pause", "anew"]
            assert [text for text in told(each) if text in sent] == sent, each.text
            assert "event: lost" in each.text, each.text
        for each in [*events, *sockets]:
            each.close()
        for each in apps:
            each.end()
            assert each.stderr().count("has lost messages: ") == 1, each.stderr()

# SPDX-License-Identifier: Apache-2.0
