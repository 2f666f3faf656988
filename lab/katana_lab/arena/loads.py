"""The requests of each profile: HttpArena's requests, by katana-load, with connections for one CPU.

HttpArena's numbers are for 64 server threads. `connections` divides them for a server with one thread. The rates of
paced profiles are divided, too. latency-10k has 1,000 requests/s for a thread: 156 would be too few to measure.
"""
from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from katana_lab.arena import Ports, data
from katana_lab.drivers import Job
from katana_lab.files import write_whole

PAIRS = ((1, 3), (5, 7), (10, 2), (15, 5), (25, 4), (40, 8), (50, 6))
PRICED = tuple(f"/json/{count}?m={m}" for count, m in PAIRS)
FILES = tuple(f"/static/{name}" for name in data.FILES)
SUM = "/baseline11?a=13&b=42"
UPLOADS = (512_000, 2 << 20, 10 << 20, 20 << 20)
ECHO_BYTES = 10_240
DELAY_MS = 10
FILE_ENCODINGS = "Accept-Encoding: br;q=1, gzip;q=0.8"
SCALE = 64


def post(target: str, content: str, **fields: str) -> dict:
    """A request of a file of requests."""
    return {"method": "POST", "target": target, "fields": fields, "content": content}


BASELINE = ({"method": "GET", "target": SUM}, post(SUM, "20"),
            post(SUM, "2\r\n20\r\n0\r\n\r\n", **{"Transfer-Encoding": "chunked"}))


@dataclasses.dataclass(frozen=True)
class Load:
    """One profile's. `port`: which of Ports; `theirs`: HttpArena's connections; `each`: requests of a connection, 0: as
    many as there are; `paths` or `requests` are sent in turn. `rate`: requests/s of a paced load, whose latency counts
    from the planned send; 0: a closed loop.
    """

    port: str
    theirs: tuple[int, ...]
    paths: tuple[str, ...] = ()
    requests: tuple[dict, ...] = ()
    each: int = 0
    in_flight: int = 1
    fields: tuple[str, ...] = ()
    driver: str = "katana-load"
    rate: int = 0

    def connections(self, scale: int = SCALE) -> list[int]:
        """Theirs divided, at least 1, each once."""
        return sorted({max(1, round(count / scale)) for count in self.theirs})

    def write(self, name: str, folder: Path) -> tuple[str, ...]:
        """Write the file of requests; return the flags that name it."""
        path = folder / "loads" / name
        text = "\n".join([*self.paths, *map(json.dumps, self.requests)]) + "\n"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            write_whole(path, text)
        return "--requests-file" if self.requests else "--urls", str(path)

    def by_h2load(self) -> Load:
        """The same by HttpArena's own generator of HTTP/2; itself where that is not HTTP/2."""
        return dataclasses.replace(self, driver="h2load-timed") if self.driver == "http2" else self

    def job(self, name: str, ports: Ports, build: Path, folder: Path, connections: int, seconds: float) -> Job:
        """The job for the driver."""
        secure = self.port in ("tls", "h1_tls")
        flags = [*(part for field in self.fields for part in ("-H", field))]
        if self.driver == "websocket":
            flags += ["--body", "hello"]
        elif self.driver == "h2load-timed":
            flags += ["-i", self.write(name, folder)[1]]
        else:
            flags += [*self.write(name, folder), "--expect-status", "2xx"]
        if self.rate:
            flags += ["--rate", str(self.rate)]
        if self.each:
            flags += [f"--churn={self.each}", "--reset", "--unannounced"]
        if secure and self.driver != "h2load-timed":
            flags += ["--insecure"]
        return Job(getattr(ports, self.port), build, "/ws" if self.driver == "websocket" else "/",
                   scheme="https" if secure else "http", connections=connections, seconds=seconds,
                   in_flight=self.in_flight, flags=tuple(flags))


LOADS = {
    "baseline": Load("h1", (4096,), requests=BASELINE),
    "limited-conn": Load("h1", (4096,), requests=BASELINE, each=10),
    "async": Load("h1", (32_000,), paths=(f"/delay/{DELAY_MS}",)),
    "latency-10k": Load("h1", (1024,), paths=("/baseline11?a=1&b=2",), rate=1000),
    "latency-1m": Load("h1", (1024,), paths=("/baseline11?a=1&b=2",), rate=1_000_000 // SCALE),
    "json-comp": Load("h1", (4096, 16384), paths=PRICED[4:], each=25, fields=("Accept-Encoding: gzip, br",)),
    "json-tls": Load("h1_tls", (4096,), paths=PRICED),
    "8gbit": Load("h1_tls", (512,), rate=50_000 // SCALE,
                  requests=(post("/echo", "x" * ECHO_BYTES, **{"Content-Type": "application/octet-stream"}),)),
    "baseline-h2": Load("tls", (256, 1024), paths=("/baseline2?a=1&b=1",), in_flight=100, driver="http2"),
    "static-h2": Load("tls", (256, 1024), paths=FILES, in_flight=32, fields=(FILE_ENCODINGS,), driver="http2"),
    "baseline-h2c": Load("h2c", (256, 1024, 4096), paths=("/baseline2?a=1&b=1",), in_flight=100, driver="http2"),
    "json-h2c": Load("h2c", (1024, 4096), paths=PRICED, in_flight=32, driver="http2"),
    "echo-ws": Load("h1", (512, 4096, 16384), driver="websocket"),
    "echo-ws-pipeline": Load("h1", (512, 4096, 16384), in_flight=16, driver="websocket"),
    "echo-ws-limited": Load("h1", (512, 4096), each=10, driver="websocket"),
    "pipelined": Load("h1", (4096,), paths=("/pipeline",), in_flight=16),
    "static-tls": Load("h1_tls", (1024,), paths=FILES, fields=(FILE_ENCODINGS,)),
    "json": Load("h1", (4096,), paths=PRICED, each=25),
    "upload": Load("h1", (32, 256), requests=tuple(post("/upload", "x" * size) for size in UPLOADS), each=5),
    "static": Load("h1", (1024, 4096, 6800), paths=FILES, fields=(FILE_ENCODINGS,)),
}

# SPDX-License-Identifier: Apache-2.0
