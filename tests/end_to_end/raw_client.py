"""Small blocking HTTP/1.1 client functions over plain sockets, for what real clients do not let a test do."""
import socket
import struct
import time

HOST = "Host: localhost\r\n"


def request(target="/plaintext", method="GET", fields="", content=b"", version="HTTP/1.1"):
    """Return the bytes of a request."""
    length = f"Content-Length: {len(content)}\r\n" if content else ""
    return f"{method} {target} {version}\r\n{HOST}{fields}{length}\r\n".encode("latin-1") + content


class Reply:
    """Status, fields (lower-case names) and content of one response."""

    def __init__(self, status, fields, body=b""):
        self.status, self.fields, self.body = status, fields, body


class Reader:
    """Reads responses one after another from a socket."""

    def __init__(self, sock):
        self.sock, self.data = sock, bytearray()

    def more(self):
        """Receive once; False at the end of the stream."""
        received = self.sock.recv(1 << 16)
        self.data += received
        return bool(received)

    def take(self, size):
        """Return the next `size` bytes."""
        while len(self.data) < size:
            if not self.more():
                raise EOFError(f"the stream ended after {len(self.data)} of {size} octets")
        taken = bytes(self.data[:size])
        del self.data[:size]
        return taken

    def line(self):
        """Return the next line without its CRLF."""
        while (end := self.data.find(b"\r\n")) < 0:
            if not self.more():
                raise EOFError(f"the stream ended inside a line: {bytes(self.data)!r}")
        return self.take(end + 2)[:-2]

    def head(self):
        """Return a Reply without its content."""
        status = int(self.line().split(b" ", 2)[1])
        fields = {}
        while line := self.line():
            name, _, value = line.partition(b":")
            fields[name.decode("latin-1").lower()] = value.strip().decode("latin-1")
        return Reply(status, fields)

    def reply(self):
        """Return the next whole Reply: content of a known length, or chunked."""
        reply = self.head()
        if reply.fields.get("transfer-encoding", "").lower() == "chunked":
            while size := int(self.line().split(b";")[0], 16):
                reply.body += self.take(size)
                self.take(2)
            while self.line():
                pass
        else:
            reply.body = self.take(int(reply.fields["content-length"]))
        return reply


def exchange(sock, octets):
    """Send a request and return its Reply."""
    sock.sendall(octets)
    return Reader(sock).reply()


def reset(sock):
    """Close with RST instead of FIN."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def eventually(condition, seconds=15, step=0.02):
    """Wait until condition() is true; return whether it became true."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(step)
    return True

# SPDX-License-Identifier: Apache-2.0
