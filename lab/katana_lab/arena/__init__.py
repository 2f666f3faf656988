"""The arena: HttpArena's rules on this machine. Its data, its check of a server, the rivals, the loads and the score.

Every server has the same flags (`Ports.flags`), so that the check and the loads know nothing about any of them.
"""
from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

from katana_lab import LAB, ROOT

FOLDER = LAB / "arena"
BUILD = ROOT / "build" / "arena"
DATA = BUILD / "data"
# HttpArena's boards, with the profiles that give points and can be run here. The boards h3, gRPC and gateway need QUIC,
# a gRPC service and containers.
BOARDS = {
    "h1": ("baseline", "limited-conn", "async", "latency-10k", "latency-1m", "json-comp", "json-tls", "8gbit"),
    "h2": ("baseline-h2", "static-h2", "baseline-h2c", "json-h2c"),
    "ws": ("echo-ws", "echo-ws-pipeline", "echo-ws-limited"),
}
# Without points: HttpArena's references, and what its first edition had.
REFERENCES = ("pipelined", "static-tls")
FORMER = ("json", "upload", "static")
SCORED = tuple(profile for board in BOARDS.values() for profile in board)
PROFILES = (*SCORED, *REFERENCES, *FORMER)
# All that an entry may subscribe to: another name stops HttpArena's validation.
KNOWN_TO_HTTPARENA = frozenset((
    "baseline", "pipelined", "limited-conn", "async", "latency-10k", "latency-1m", "latency-500k-8cpu", "json-comp",
    "json-tls", "8gbit", "static-tls", "async-db", "fortunes", "baseline-h2", "static-h2", "baseline-h2c", "json-h2c",
    "baseline-h3", "static-h3", "unary-grpc", "unary-grpc-tls", "gateway-64", "gateway-h3", "production-stack",
    "echo-ws", "echo-ws-pipeline", "echo-ws-limited"))


@dataclasses.dataclass(frozen=True)
class Ports:
    """Where a server listens: HTTP/1.1, the same over TLS, HTTP/2 by prior knowledge, and HTTP/2 over TLS."""

    h1: int
    h1_tls: int
    h2c: int
    tls: int

    @classmethod
    def take(cls, ports: Iterator[int]) -> Ports:
        """Four that are free."""
        return cls(*(next(ports) for _ in range(4)))

    def flags(self, data: Path, threads: int = 1) -> list[str]:
        """The flags of every server of the arena."""
        return ["--h1", str(self.h1), "--h1-tls", str(self.h1_tls), "--h2c", str(self.h2c), "--tls", str(self.tls),
                "--static", str(data / "static"), "--dataset", str(data / "dataset.json"),
                "--cert", str(data / "server.crt"), "--key", str(data / "server.key"), "--threads", str(threads)]

# SPDX-License-Identifier: Apache-2.0
