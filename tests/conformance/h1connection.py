"""A client connection that sends raw bytes and collects the replies, however rudely the server behaves."""
import select
import socket
import ssl
import time

from h1response import ResponseParser

RECEIVE_BYTES_MAX = 1 << 18
SEND_BYTES_MAX = 1 << 16


class Connection:
    """One connection to `options.host:options.port`; `parser` holds the received bytes.

    `failed_send` says that the server stopped taking bytes (it closed or reset the connection).
    """

    def __init__(self, options, head_responses=()):
        self.options = options
        sock = socket.create_connection((options.host, options.port), timeout=options.timeout)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if options.tls_context:
            sock = options.tls_context.wrap_socket(sock, server_hostname="localhost")
        sock.setblocking(False)
        self.sock = sock
        self.poll = select.poll()               # not select(): a test process may hold descriptors above 1023
        self.parser = ResponseParser(head_responses)
        self.failed_send = False

    def close(self):
        """Close at once."""
        self.sock.close()

    def send(self, data):
        """Send everything, receiving meanwhile; stop quietly when the server closes, resets or stalls."""
        view, deadline = memoryview(data), time.monotonic() + self.options.timeout
        while view and not self.parser.eof and not self.failed_send:
            try:
                view = view[self.sock.send(view[:SEND_BYTES_MAX]):]
            except (BlockingIOError, ssl.SSLWantWriteError):
                self._wait(select.POLLIN | select.POLLOUT, deadline - time.monotonic())
                self.failed_send = time.monotonic() >= deadline
            except OSError:
                self.failed_send = True
            if view:
                self.receive(0)

    def half_close(self):
        """Tell the server that no more bytes will come."""
        try:
            self.sock.shutdown(socket.SHUT_WR)
        except OSError:
            self.parser.eof = True

    def receive(self, seconds):
        """Wait up to `seconds` for more bytes or the end of the stream; False when nothing came."""
        deadline = time.monotonic() + seconds
        while not self.parser.eof and self._readable(deadline - time.monotonic()):
            try:
                data = self.sock.recv(RECEIVE_BYTES_MAX)
            except (BlockingIOError, ssl.SSLWantReadError):     # a TLS record without data for us
                continue
            except OSError:
                data = b""
            if data:
                self.parser.data += data
            else:
                self.parser.eof = True
            return True
        return False

    def _readable(self, seconds):
        if self.options.tls_context and self.sock.pending():
            return True
        return self._wait(select.POLLIN, seconds)

    def _wait(self, interest, seconds):
        self.poll.register(self.sock, interest)
        return bool(self.poll.poll(max(0, seconds) * 1000))

# SPDX-License-Identifier: Apache-2.0
