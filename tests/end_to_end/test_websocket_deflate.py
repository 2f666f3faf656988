"""permessage-deflate: a client with an unfinished compressed message does not delay messages of other clients."""
import os
import socket
import zlib

from server_process import Server

UNFINISHED = 200
OTHERS = 64
SECONDS_MAX = 20


def compressed(data):
    """Return `data` as the content of a compressed message (RFC 7692 §7.2.1)."""
    packer = zlib.compressobj(wbits=-15)
    return (packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH))[:-4]


def frame(first, payload):
    """Return a masked frame whose first byte is `first`."""
    size = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + len(payload).to_bytes(2, "big")
    mask = os.urandom(4)
    return bytes([first]) + size + mask + bytes(octet ^ mask[index % 4] for index, octet in enumerate(payload))


class Client:
    """One WebSocket connection that agreed on compression."""

    def __init__(self, server):
        self.sock = socket.create_connection(("127.0.0.1", server.port), SECONDS_MAX)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock.sendall(b"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                          b"Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n")
        self.kept = b""
        head = self.until(b"\r\n\r\n")
        assert b" 101 " in head and b"permessage-deflate" in head, head

    def until(self, end):
        """Receive up to and with `end`."""
        while end not in self.kept:
            self.receive()
        at = self.kept.index(end) + len(end)
        taken, self.kept = self.kept[:at], self.kept[at:]
        return taken

    def receive(self):
        """Receive some bytes."""
        data = self.sock.recv(65536)
        assert data, "the server has ended the connection"
        self.kept += data

    def frame(self):
        """Return the first byte and the payload of the next frame; at most 64 KiB."""
        while len(self.kept) < 4:
            self.receive()
        size, head = self.kept[1], 2
        if size == 126:
            size, head = int.from_bytes(self.kept[2:4], "big"), 4
        while len(self.kept) < head + size:
            self.receive()
        first, payload = self.kept[0], self.kept[head:head + size]
        self.kept = self.kept[head + size:]
        return first, payload

    def message(self):
        """Return the next message, or the code of a close frame."""
        packed, kind = b"", None
        while True:
            first, payload = self.frame()
            if first & 15 == 8:
                return int.from_bytes(payload[:2], "big")
            kind = first if kind is None else kind
            packed += payload
            if first & 0x80:
                break
        return zlib.decompressobj(wbits=-15).decompress(packed + b"\0\0\xff\xff") if kind & 0x40 else packed


def test_unfinished_compressed_messages_keep_no_other_message_waiting(engine):
    with Server("--websocket-deflate", engine=engine, threads=1) as server:
        half = compressed(b"an unfinished message, " * 40)
        unfinished = [Client(server) for _ in range(UNFINISHED)]
        for client in unfinished:
            client.sock.sendall(frame(0x41, half[:20]))
        others = [Client(server) for _ in range(OTHERS)]
        text = b"a whole message " * 100
        for client in others:
            client.sock.sendall(frame(0xc1, compressed(text)))
        answers = [client.message() for client in others]
        assert answers == [text] * OTHERS, f"{sum(each == text for each in answers)} of {OTHERS} were answered: " \
                                           f"{ {each for each in answers if each != text} }"
        # No client was closed because of the others.
        for client in unfinished:
            client.sock.sendall(frame(0x80, half[20:]))
        assert [client.message() for client in unfinished] == [b"an unfinished message, " * 40] * UNFINISHED
        for client in [*unfinished, *others]:
            client.sock.close()


def test_a_message_that_grows_beyond_the_limit_ends_its_own_connection_only(engine):
    with Server("--websocket-deflate", engine=engine, threads=1) as server:
        bomb, other = Client(server), Client(server)
        bomb.sock.sendall(frame(0xc2, compressed(b"\0" * (4 * 1024 * 1024))))
        assert bomb.message() == 1009
        other.sock.sendall(frame(0xc1, compressed(b"still here")))
        assert other.message() == b"still here"
        for client in (bomb, other):
            client.sock.close()

# SPDX-License-Identifier: Apache-2.0
