"""chat_server as a child process, and its clients."""
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

from server_process import ROOT, START_SECONDS_MAX, STOP_SECONDS_MAX, free_port

FAREWELL = b"* The server is stopping. Goodbye.\n"
READY = re.compile(r"chat_server: ready on https?://(?P<address>[0-9.]+|\[[0-9a-f:]+\]):(?P<port>[0-9]+)"
                   r" \(engine (?P<engine>epoll-edge|epoll-level|io_uring), (?P<reactors>[0-9]+) reactors\)"
                   r" in [0-9.]+ ms\n")
STOPPED = re.compile(r"^chat_server: stopped: (?P<messages>\d+) messages on (?P<connections>\d+) connections finished,"
                     r" (?P<deliveries>\d+) deliveries, (?P<dropped>\d+) dropped,"
                     r" (?P<cut_off>\d+) connections cut off$", re.MULTILINE)


def built(name):
    """Return the path of a program of the build under test."""
    build = pathlib.Path(os.environ.get("KATANA_BUILD", ROOT / "build" / "release"))
    path = build / name
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: cmake --build --preset {build.name} --target {name}")
    return str(path)


class ChatServer:
    """One running server. A context manager: leaving it drains the server and checks how that ended."""

    def __init__(self, *flags, engine="epoll-edge", threads=2):
        self.port, self.metrics_port = free_port(), free_port()
        self._stderr = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [built("chat_server"), "--port", str(self.port), "--metrics-port", str(self.metrics_port), "--engine",
             engine, "--threads", str(threads), *flags],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._stderr, text=True)
        ready, _, _ = select.select([self.process.stdout], [], [], START_SECONDS_MAX)
        line = self.process.stdout.readline() if ready else ""
        self.ready = READY.fullmatch(line)
        assert self.ready, f"the ready line is not the one of the contract: {line!r} {self.stderr()}"
        assert (self.ready["engine"], self.ready["reactors"]) == (engine, str(threads))
        self.report = None

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            self.process.kill()
        elif self.report is None:
            self.stop()

    def stderr(self):
        """Return what the server has logged so far."""
        with open(f"/proc/self/fd/{self._stderr.fileno()}", encoding="utf-8", errors="replace") as log:
            return log.read()

    def stop(self):
        """Drain the server; return what it says it did."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(STOP_SECONDS_MAX) == 0, self.stderr()
        found = STOPPED.findall(self.stderr())
        assert len(found) == 1, self.stderr()
        self.report = {name: int(number) for name, number in STOPPED.search(self.stderr()).groupdict().items()}
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

    def rss_kib(self):
        """Return the resident size."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"^VmRSS:\s+(\d+) kB", status.read(), re.MULTILINE)[1])


class Client:
    """One connection, read until it has what is wanted."""

    def __init__(self, port, seconds=20):
        self.socket = socket.create_connection(("127.0.0.1", port), 10)
        self.seconds = seconds
        self.heard = b""

    def say(self, text):
        """Send text, whole lines or not."""
        self.socket.sendall(text.encode() if isinstance(text, str) else text)

    def read_until(self, wanted):
        """Return what was heard once `wanted(heard)` is true or the server has ended; fails when neither comes."""
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
