"""A WebSocket client that sends exactly the given bytes, for cases that no library would send.

Frames are written field by field, and replies are read as frames. No code here judges them.
"""
import os
import socket
import struct

TEXT, BINARY, CLOSE, PING, PONG, CONTINUATION = 1, 2, 8, 9, 10, 0
HANDSHAKE = ("GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n{more}\r\n")


def frame(opcode, payload=b"", fin=True, rsv=0, masked=True, length=None, mask=None):
    """Return the bytes of a frame. `length` (bytes) replaces the length field as it would be written."""
    mask = mask or os.urandom(4)
    size = len(payload)
    if length is None:
        length = bytes([size]) if size < 126 else (
            b"\x7e" + struct.pack(">H", size) if size < 65536 else b"\x7f" + struct.pack(">Q", size))
    head = bytes([(0x80 if fin else 0) | rsv << 4 | opcode, (0x80 if masked else 0) | length[0]]) + length[1:]
    if not masked:
        return head + payload
    key = int.from_bytes((mask * (size // 4 + 1))[:size], "big")
    return head + mask + (int.from_bytes(payload, "big") ^ key).to_bytes(size, "big")


def close_payload(code, reason=b""):
    """Return the payload of a close frame."""
    return struct.pack(">H", code) + reason


class Client:
    """One connection, after its handshake."""

    def __init__(self, port, path="/ws", more="", timeout=20.0):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        self.socket.sendall(HANDSHAKE.format(path=path, host=f"127.0.0.1:{port}", more=more).encode())
        while b"\r\n\r\n" not in self.buffer:
            piece = self.socket.recv(65536)
            if not piece:
                break
            self.buffer += piece
        self.head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data, chop=None):
        """Send bytes, in pieces of `chop` if given."""
        try:
            for at in range(0, len(data), chop or max(1, len(data))):
                self.socket.sendall(data[at:at + (chop or len(data))])
        except (BrokenPipeError, ConnectionResetError):
            pass  # the server has ended the connection; its bytes are read all the same

    def _take(self, count):
        while len(self.buffer) < count:
            piece = self.socket.recv(1 << 20)
            if not piece:
                raise EOFError
            self.buffer += piece
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def receive_frame(self):
        """Return (first byte, payload); raises EOFError at the end of the connection."""
        first, second = self._take(2)
        assert not second & 0x80, "a server must not mask"
        size = second & 0x7f
        if size == 126:
            size = struct.unpack(">H", self._take(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self._take(8))[0]
        return first, self._take(size)

    def receive_all(self):
        """Return the frames up to the end of the connection, as (opcode, payload)."""
        frames = []
        try:
            while True:
                first, payload = self.receive_frame()
                frames.append((first & 15, payload))
        except (EOFError, ConnectionResetError):
            return frames

# SPDX-License-Identifier: Apache-2.0
