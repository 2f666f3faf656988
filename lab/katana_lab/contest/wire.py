"""The clients of the checks: curl for requests, a socket for requests in pieces, and a small WebSocket client."""
from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import os
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from katana_lab import LabError, proc

PATIENCE_S = 5.0
PIECE_GAP_S = 0.03
CUT_GAP_S = 0.2
WEBSOCKET_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT, BINARY, CLOSE = 1, 2, 8


@dataclasses.dataclass(frozen=True)
class Reply:
    """An answer; status 0: there was none, and `body` says why."""

    status: int
    version: str
    fields: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body, stripped."""
        return self.body.decode("utf-8", "replace").strip()

    @property
    def kind(self) -> str:
        """Its media type, without parameters."""
        return self.fields.get("content-type", "").split(";")[0].strip().lower()

    def json(self) -> dict:
        """The body as an object; empty for any other body."""
        try:
            read = json.loads(self.body)
        except ValueError:
            return {}
        return read if isinstance(read, dict) else {}


def parse_fields(lines: Sequence[str]) -> dict[str, str]:
    """Fields by their names in lower case."""
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    return {name.strip().lower(): value.strip() for name, value in pairs}


def curl(url: str, *flags: str, body: bytes | None = None) -> Reply:
    """A request by curl. `body`: by POST, without a Content-Type."""
    with tempfile.TemporaryDirectory(prefix="arena-check-") as name:
        head, content, sent = (Path(name) / part for part in ("head", "content", "sent"))
        command = [proc.tool("curl"), "--silent", "--show-error", "--insecure", "--noproxy", "*", "--max-time", "20",
                   "-D", head, "-o", content, *flags]
        if body is not None:
            sent.write_bytes(body)
            command += ["--data-binary", f"@{sent}", "-H", "Content-Type:"]
        done = subprocess.run([*command, url], capture_output=True, text=True, check=False)
        got = content.read_bytes() if content.exists() else b""
        heads = proc.read(head).replace("\r\n", "\n").strip().split("\n\n")    # 100 (Continue) comes first
        lines = heads[-1].split("\n")
        if done.returncode != 0 or not lines[0].startswith("HTTP/"):
            return Reply(0, "", {}, (done.stderr.strip() or "no answer").encode())
        version, status = lines[0].split()[:2]
        return Reply(int(status), version, parse_fields(lines[1:]), got)


def _until_closed(link: socket.socket) -> tuple[bytes, bool]:
    got, end = b"", time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            piece = link.recv(65536)
        except TimeoutError:
            break
        except ConnectionResetError:
            return got, True
        if not piece:
            return got, True
        got += piece
    return got, False


def decode_chunked(content: bytes) -> bytes:
    """A chunked body's content, as far as it came."""
    found = b""
    while b"\r\n" in content:
        size, content = content.split(b"\r\n", 1)
        length = int(size.split(b";")[0] or b"0", 16)
        if length == 0:
            break
        found, content = found + content[:length], content[length + 2:]
    return found


def parse_reply(octets: bytes) -> Reply:
    """One HTTP/1.1 answer after which the connection ended."""
    head, _, content = octets.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    parts = lines[0].split()
    if len(parts) < 2 or not parts[0].startswith("HTTP/") or not parts[1].isdigit():
        return Reply(0, "", {}, octets[:80] or b"nothing came")
    fields = parse_fields(lines[1:])
    if fields.get("transfer-encoding", "").lower() == "chunked":
        content = decode_chunked(content)
    return Reply(int(parts[1]), parts[0], fields, content)


def in_pieces(port: int, pieces: Sequence[bytes]) -> tuple[Reply, bool]:
    """Send the pieces of a request with pauses; the answer, and whether the server closed."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as link:
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for number, piece in enumerate(pieces):
                if number:
                    time.sleep(PIECE_GAP_S)
                link.sendall(piece)
            octets, closed = _until_closed(link)
    except OSError as error:
        return Reply(0, "", {}, str(error).encode()), False
    return parse_reply(octets), closed


def cut_everywhere(port: int, request: bytes, wanted: str) -> list[str]:
    """Send a request cut in two, with a pause there, once for each place. The request ends its connection.

    Returns the wrong answers, by the length of the first piece.
    """
    links: dict[int, socket.socket] = {}
    wrong: list[str] = []
    try:
        for first in range(1, len(request)):
            link = links[first] = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            link.sendall(request[:first])
        time.sleep(CUT_GAP_S)
        for first, link in links.items():
            try:
                link.sendall(request[first:])
            except OSError as error:
                wrong.append(f"after {first} bytes: {error}")
        for first, link in links.items():
            octets, _ = _until_closed(link)
            reply = parse_reply(octets)
            if reply.status != 200 or reply.text != wanted:
                wrong.append(f"after {first} bytes: {reply.status} '{reply.text}'")
    except OSError as error:
        wrong.append(f"after {len(links) + 1} bytes: {error}")
    finally:
        for link in links.values():
            link.close()
    return wrong


def pipelined(port: int, request: bytes, count: int) -> list[bytes]:
    """The bodies of `count` requests in one write; those that came, by Content-Length or in chunks."""
    bodies: list[bytes] = []
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as link:
        link.sendall(request * count)
        with link.makefile("rb") as stream:
            try:
                while len(bodies) < count and stream.readline().startswith(b"HTTP/1.1 200"):
                    lines = []
                    while (line := stream.readline()) not in (b"\r\n", b""):
                        lines.append(line.decode("latin-1"))
                    fields = parse_fields(lines)
                    if "content-length" in fields:
                        bodies.append(stream.read(int(fields["content-length"])))
                        continue
                    body = b""
                    while size := int(stream.readline(), 16):
                        body += stream.read(size)
                        stream.readline()
                    stream.readline()
                    bodies.append(body)
            except (OSError, ValueError):
                pass                                             # the caller sees which are missing
    return bodies


class WebSocket:
    """A client of one connection; LabError for errors of the server."""

    def __init__(self, port: int):
        self.key = base64.b64encode(os.urandom(16)).decode()
        self.link = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self.stream = self.link.makefile("rb")
        self.link.sendall((f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
                           f"Connection: Upgrade\r\nSec-WebSocket-Key: {self.key}\r\n"
                           "Sec-WebSocket-Version: 13\r\n\r\n").encode())
        self.status_line = self.stream.readline().decode("latin-1").strip()
        lines = []
        while (line := self.stream.readline()) not in (b"\r\n", b""):
            lines.append(line.decode("latin-1"))
        self.fields = parse_fields(lines)

    @property
    def wanted_accept(self) -> str:
        """The expected value of Sec-WebSocket-Accept."""
        return base64.b64encode(hashlib.sha1((self.key + WEBSOCKET_SUFFIX).encode()).digest()).decode()

    def send(self, opcode: int, payload: bytes) -> None:
        """One masked frame."""
        mask = os.urandom(4)
        size = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + struct.pack("!H", len(payload))
        masked = bytes(octet ^ mask[at % 4] for at, octet in enumerate(payload))
        self.link.sendall(bytes([0x80 | opcode]) + size + mask + masked)

    def receive(self) -> tuple[int, bytes]:
        """One frame, which is whole and not masked."""
        head = self.stream.read(2)
        if len(head) < 2:
            raise LabError("the server ended the connection")
        size = head[1]
        if size & 0x80 or not head[0] & 0x80:
            raise LabError("the server masked a frame" if size & 0x80 else "the server fragmented a message")
        if size == 126:
            size = struct.unpack("!H", self.stream.read(2))[0]
        return head[0] & 0x0f, self.stream.read(size)

    def close(self) -> None:
        """Without a word."""
        self.stream.close()
        self.link.close()

# SPDX-License-Identifier: Apache-2.0
