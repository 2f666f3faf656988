"""chat_server as a child process, and its clients."""
import re
import signal
import socket
import time
import urllib.request

from program_process import Program, built, stop_report
from server_process import free_port

PROGRAM = "chat_server"
FAREWELL = b"* The server is stopping. Goodbye.\n"


class ChatServer(Program):
    """One running server. A context manager: leaving it drains the server and checks how that ended."""

    def __init__(self, *flags, engine="epoll-edge", threads=2):
        self.report = None
        self.metrics_port = free_port()
        self._start(PROGRAM, [built(PROGRAM), "--port", str(free_port()), "--metrics-port", str(self.metrics_port),
                              "--engine", engine, "--threads", str(threads), *flags])
        assert (self.ready["engine"], self.ready["reactors"]) == (engine, str(threads))

    def stop(self):
        """Drain the server, unless that is done; return its report."""
        if self.report is None:
            self.send_signal(signal.SIGTERM)
            assert self.wait() == 0, self.stderr()
            self.report = stop_report(self.stderr())
        return self.report

    def metrics(self):
        """Return the sums over reactors of the chat's series, by name and, where there is one, reason."""
        text = urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=10).read().decode()
        sums = {}
        for name, labels, value in re.findall(r"^katana_chat_(\w+?)(?:_total)?(?:\{([^}]*)\})? (\S+)$", text, re.M):
            reason = re.search(r'reason="(\w+)"', labels)
            key = f"{name}.{reason[1]}" if reason else name
            sums[key] = sums.get(key, 0) + float(value)
        return sums


class Client:
    """One connection, read until the wanted text has come."""

    def __init__(self, port, seconds=20):
        self.socket = socket.create_connection(("127.0.0.1", port), 10)
        self.seconds = seconds
        self.heard = b""

    def say(self, text):
        """Send text, whole lines or not."""
        self.socket.sendall(text.encode() if isinstance(text, str) else text)

    def read_until(self, wanted):
        """Return the heard text once `wanted(heard)` is true or the server has ended; fails when neither comes."""
        end = time.monotonic() + self.seconds
        while not wanted(self.heard):
            self.socket.settimeout(max(0.01, end - time.monotonic()))
            piece = self.socket.recv(1 << 16)
            if not piece:
                break
            self.heard += piece
        return self.heard

    def hear(self, text):
        """Read until the text has come; return what came before and with it, and forget that."""
        wanted = text.encode() if isinstance(text, str) else text
        heard = self.read_until(lambda all_of_it: wanted in all_of_it)
        at = heard.find(wanted)
        assert at >= 0, heard[-500:]
        self.heard = heard[at + len(wanted):]
        return heard[:at + len(wanted)].decode()

    def enter(self):
        """Return once the server has taken the connection in."""
        self.say("/who\n")
        self.hear(" in room ")
        self.hear("\n")
        return self

    def hear_end(self):
        """Return all that comes until the server ends the connection."""
        return self.read_until(lambda _: False).decode()

# SPDX-License-Identifier: Apache-2.0
