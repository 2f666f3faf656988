#!/usr/bin/env python3
"""A server of known latency and known loss.

    fake_server.py PORT DELAY_MS SLOW_EACH SLOW_MS LOSE_EACH [WARM_UP_S WARM_MS]

Each reply waits DELAY_MS; every SLOW_EACH-th waits SLOW_MS instead; every LOSE_EACH-th is a closed connection instead
(0: never). For WARM_UP_S after a second connection joined the first, each waits WARM_MS more. A load has several
connections. The laboratory's question whether the server is up, which may be repeated, has one.
"""
import contextlib
import socketserver
import sys
import threading
import time

REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!"


class Handler(socketserver.BaseRequestHandler):
    """One connection."""

    def handle(self):
        """Reply until the client ends."""
        with self.server.connected():
            self.reply_all()

    def reply_all(self):
        """Reply to each request of the connection."""
        data = b""
        while chunk := self.request.recv(65536):
            data += chunk
            while b"\r\n\r\n" in data:
                _, _, data = data.partition(b"\r\n\r\n")
                if not self.server.answer(self.request):
                    return


class Server(socketserver.ThreadingTCPServer):
    """Counts requests over all connections."""

    allow_reuse_address, daemon_threads, request_queue_size = True, True, 128

    def __init__(self, port, figures):
        self.delay_s, self.slow_s = figures[0] / 1e3, figures[2] / 1e3
        self.slow_each, self.lose_each = figures[1], figures[3]
        self.warm_up_s, self.warm_s = (figures[4], figures[5] / 1e3) if len(figures) > 5 else (0.0, 0.0)
        self.count, self.open, self.loaded_at, self.lock = -1, 0, None, threading.Lock()
        super().__init__(("127.0.0.1", port), Handler)

    @contextlib.contextmanager
    def connected(self):
        """Counts a connection while it is open."""
        with self.lock:
            self.open += 1
            if self.open == 2 and not self.loaded_at:
                self.loaded_at = time.monotonic()
        try:
            yield
        finally:
            with self.lock:
                self.open -= 1

    def answer(self, link):
        """One reply; False when it is to be lost."""
        with self.lock:
            self.count += 1
            number = self.count                          # the first is the laboratory's own question whether it is up
        if number and self.lose_each and number % self.lose_each == 0:
            return False
        wait = self.slow_s if self.slow_each and number and number % self.slow_each == 0 else self.delay_s
        if self.loaded_at and time.monotonic() - self.loaded_at < self.warm_up_s:
            wait += self.warm_s
        time.sleep(wait)
        link.sendall(REPLY)
        return True


if __name__ == "__main__":
    Server(int(sys.argv[1]), [float(text) for text in sys.argv[2:]]).serve_forever()

# SPDX-License-Identifier: Apache-2.0
