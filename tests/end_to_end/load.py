"""Clients under which a server is drained: one event loop, many connections, every request accounted for.

A request counts as sent once send() took its bytes on an established connection. The server must not yet have closed
the connection as far as the client could see. Each such request must get its complete reply: anything else is a
failure. A connection that is refused, or ends before a request was sent on it, is no failure.
"""
import errno
import select
import socket
import threading

REQUEST = b"GET /plaintext HTTP/1.1\r\nHost: localhost\r\n%s\r\n"
KEEP_ALIVE, ONE_EACH = REQUEST % b"", REQUEST % b"Connection: close\r\n"


class Client:
    """One connection after another, one request in flight at a time."""

    def __init__(self, load):
        self.load, self.sock, self.data, self.state = load, None, b"", "closed"   # connecting, waiting, refused

    def open(self):
        """Connect, and send at once if that is done at once, as it mostly is on the loopback."""
        self.sock = socket.socket()
        self.sock.setblocking(False)
        error = self.sock.connect_ex(("127.0.0.1", self.load.port))
        self.state = "connecting"
        self.load.watch(self, select.POLLOUT)
        at_once = select.poll()
        at_once.register(self.sock, select.POLLOUT)
        if at_once.poll(0) or error != errno.EINPROGRESS:
            self.on_ready()

    def refused(self, error):
        """No connection: the end of this client, which only a server that was told to stop may bring about."""
        self.close()
        self.state = "refused"
        if not self.load.told_to_stop.is_set():
            self.load.failed.append(f"{errno.errorcode[error]} on connecting before the server was told to stop")

    def close(self):
        """Forget the connection."""
        self.load.unwatch(self)
        self.sock.close()
        self.state = "closed"

    def on_ready(self):
        """Take the next step; the connection may be closed afterwards."""
        if self.state == "connecting":
            if error := self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                self.refused(error)
            else:
                self.load.watch(self, select.POLLIN)
                self.send()
            return
        try:
            received = self.sock.recv(4096)
        except BlockingIOError:
            return
        except OSError as error:
            return self.ended(error)
        if not received:
            return self.ended("end of stream")
        self.data += received
        head, found, body = self.data.partition(b"\r\n\r\n")
        if found and body == b"Hello, World!":
            self.on_reply(head)

    def send(self):
        """Send a request, unless the server closes or refuses it first."""
        try:
            if self.load.ending or self.sock.recv(1) == b"":
                return self.close()
        except BlockingIOError:
            pass
        except OSError:
            return self.close()
        try:
            sent = self.sock.send(self.load.request)
        except OSError:
            return self.close()
        assert sent == len(self.load.request)
        self.state, self.data = "waiting", b""

    def on_reply(self, head):
        """Count a whole reply and go on."""
        assert head.startswith(b"HTTP/1.1 200"), head
        self.load.finished += 1
        if b"connection: close" in head.lower():
            self.close()
        else:
            self.send()

    def ended(self, why):
        """The server ended the connection."""
        if self.state == "waiting":
            self.load.failed.append(f"{why} after {len(self.data)} octets of a reply")
        self.close()


class Load(threading.Thread):
    """`connections` clients that go on until the server refuses them after told_to_stop is set, or until stop()."""

    def __init__(self, port, connections, keep_alive):
        super().__init__(daemon=True)
        self.port, self.request = port, KEEP_ALIVE if keep_alive else ONE_EACH
        self.clients = [Client(self) for _ in range(connections)]
        self.finished, self.failed, self.crash = 0, [], None
        self.told_to_stop, self.ending = threading.Event(), False
        self._poll, self._watched = select.poll(), {}

    def watch(self, client, interest):
        """Wake the client on these events."""
        self._watched[client.sock.fileno()] = client
        self._poll.register(client.sock, interest)

    def unwatch(self, client):
        """Wake it no more."""
        self._poll.unregister(client.sock)
        del self._watched[client.sock.fileno()]

    def busy(self):
        """Return how many requests wait for their reply."""
        return sum(client.state == "waiting" for client in self.clients)

    def run(self):
        """The event loop; an exception ends it and is kept for stop()."""
        try:
            while not self.ending or self.busy():
                for client in self.clients:
                    if client.state == "closed" and not self.ending:
                        client.open()
                for number, _ in self._poll.poll(50):
                    if client := self._watched.get(number):
                        client.on_ready()
        except Exception as error:              # pylint: disable=broad-except
            self.crash = error

    def stop(self, seconds=10):
        """Give the requests in flight `seconds` to be answered, send no more, and return what failed."""
        self.ending = True
        self.join(seconds)
        if self.crash:
            raise self.crash
        return self.failed + [f"{self.busy()} requests without any reply"] * bool(self.busy())

# SPDX-License-Identifier: Apache-2.0
