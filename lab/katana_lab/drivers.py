"""Drivers: the generators of load, behind one interface. A new one is a class and a row in DRIVERS.

A driver turns a Job into a command line, and the output of the command into a Drive. `drive` runs it pinned, to its
end. Standard library only.
"""
from __future__ import annotations

import dataclasses
import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from katana_lab import LAB, LabError, proc


@dataclasses.dataclass(frozen=True)
class Job:
    """A job for a driver. It ignores members that it does not support; `flags` are specific to it."""

    port: int
    build: Path
    path: str = "/plaintext"
    host: str = "127.0.0.1"
    scheme: str = "http"
    connections: int = 64
    seconds: float | None = None         # either of the two
    requests: int | None = None
    in_flight: int = 1                   # on a connection: requests of a pipeline, streams
    flags: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        """Where it goes."""
        return f"{self.scheme}://{self.host}:{self.port}{self.path}"


@dataclasses.dataclass(frozen=True)
class Drive:
    """The result of a load. `told`: the complete report of the driver, in its own words."""

    requests: int
    rate_per_s: float
    errors: int
    told: dict


class Driver(Protocol):
    """A generator of load. Reading raises LabError for output without a result."""

    def command(self, job: Job) -> list[str]:
        """The argv, unpinned."""

    def read(self, output: str) -> Drive:
        """The result, from standard output."""


def _number(pattern: str, output: str, kind: type = int) -> float:
    found = re.search(pattern, output)
    if found is None:
        raise LabError(f"the load wrote no result: {output.strip() or 'it said nothing'}")
    return kind(found[1])


class Wrk:
    """wrk in a closed loop; a pipeline by lab/pipeline.lua."""

    def command(self, job: Job) -> list[str]:
        """With as many threads as one CPU can feed: one."""
        base = [proc.tool("wrk"), "-t1", f"-c{job.connections}", f"-d{job.seconds:g}s", *job.flags]
        if job.in_flight == 1:
            return [*base, job.url]
        return [*base, "-s", str(LAB / "pipeline.lua"), job.url, "--", str(job.in_flight)]

    def read(self, output: str) -> Drive:
        """Errors are failed connections and replies that are neither 2xx nor 3xx."""
        errors = sum(map(int, re.findall(r"(?:connect|read|write|timeout) (\d+)", output)))
        refused = re.search(r"Non-2xx or 3xx responses: (\d+)", output)
        return Drive(_number(r"(\d+) requests in", output), _number(r"Requests/sec:\s+([\d.]+)", output, float),
                     errors + (int(refused[1]) if refused else 0), {})


class H2load:
    """h2load: HTTP/2 by prior knowledge, a number of requests."""

    def command(self, job: Job) -> list[str]:
        """One thread."""
        return [proc.tool("h2load"), "-t1", f"-c{job.connections}", f"-m{job.in_flight}", "-n", str(job.requests),
                *job.flags, job.url]

    def read(self, output: str) -> Drive:
        """Errors are requests without a 2xx."""
        asked, good = _number(r"requests: (\d+) total", output), _number(r"status codes: (\d+) 2xx", output)
        return Drive(good, _number(r"([\d.]+) req/s", output, float), asked - good, {})


class H2loadTimed(H2load):
    """h2load for a time; `flags` may name a file of URIs (`-i FILE`), which are below the job's own. It tells no
    percentiles.
    """

    def command(self, job: Job) -> list[str]:
        """One thread."""
        return [proc.tool("h2load"), "-t1", f"-c{job.connections}", f"-m{job.in_flight}", "-D", f"{job.seconds:g}",
                *job.flags, *(("-B",) if "-i" in job.flags else ()), job.url]

    def read(self, output: str) -> Drive:
        """`bytes`: of all that came, TLS excluded."""
        done = super().read(output)
        return Drive(done.requests, done.rate_per_s, _number(r"(\d+) failed", output),
                     {"bytes": _number(r"traffic: \S+ \((\d+)\) total", output)})


class KatanaLoad:
    """katana-load of the build: HTTP/1.1; its subclasses are its other modes."""

    mode: tuple[str, ...] = ()

    def command(self, job: Job) -> list[str]:
        """The result comes as JSON on standard output."""
        end = ("-n", str(job.requests)) if job.requests else ("-d", f"{job.seconds:g}s")
        return [proc.built("katana-load", job.build), "-t", "1", "-c", str(job.connections), *end, *self.mode,
                *self.flight(job), *job.flags, "--quiet", "--json", "-", job.url]

    def flight(self, job: Job) -> tuple[str, ...]:
        """The flags for several requests in flight on a connection."""
        return ("--pipeline", str(job.in_flight)) if job.in_flight > 1 else ()

    def read(self, output: str) -> Drive:
        """The contract's keys."""
        try:
            told = json.loads(output)
        except ValueError:
            raise LabError(f"katana-load wrote no result: {output.strip() or 'it said nothing'}") from None
        errors = told.get("errors", {})
        return Drive(told["requests"], told["rate_per_s"], errors.get("total", sum(errors.values())), told)


class Churn(KatanaLoad):
    """A new connection for every request, closed by RST: no port is left in TIME_WAIT."""

    mode = ("--churn", "--reset")


class Http2(KatanaLoad):
    """Streams of HTTP/2."""

    mode = ("--http2",)

    def flight(self, job: Job) -> tuple[str, ...]:
        return ("--streams", str(job.in_flight))


class WebSocket(KatanaLoad):
    """Messages that come back; `flags` may say how long they are."""

    mode = ("--websocket",)


class ChatLoad:
    """chat_load of the build; `flags` are all but host and port. Requests are deliveries."""

    def command(self, job: Job) -> list[str]:
        """The result comes as JSON on standard output."""
        return [proc.built("chat_load", job.build), job.host, str(job.port), *job.flags, "--json", "/dev/stdout",
                "--quiet"]

    def read(self, output: str) -> Drive:
        """Missing deliveries count as errors."""
        told = KatanaLoad().read(output.replace('"delivered"', '"requests"', 1)).told
        return Drive(told["requests"], told["deliveries_per_s"], told["missing"], told)


class TlsHandshakes:
    """openssl s_time: full handshakes of TLS 1.2 and nothing else."""

    def command(self, job: Job) -> list[str]:
        """It counts in whole seconds."""
        return [proc.tool("openssl"), "s_time", "-connect", f"{job.host}:{job.port}", "-new", "-tls1_2", "-time",
                f"{job.seconds:.0f}"]

    def read(self, output: str) -> Drive:
        """Requests are handshakes."""
        count = _number(r"(\d+) connections in \d+ real seconds", output)
        return Drive(count, count / _number(r"connections in (\d+) real seconds", output), 0, {})


DRIVERS: dict[str, Driver] = {
    "wrk": Wrk(), "h2load": H2load(), "h2load-timed": H2loadTimed(),
    "katana-load": KatanaLoad(), "churn": Churn(), "http2": Http2(),
    "websocket": WebSocket(), "chat_load": ChatLoad(), "tls_handshakes": TlsHandshakes(),
}


def drive(name: str, job: Job, cpus: Sequence[int], prefix: Sequence[str] = ()) -> Drive:
    """Run a load on these CPUs to its end. `prefix`: what runs it, as `ip netns exec NAME`."""
    driver = DRIVERS[name]
    command = [*prefix, proc.tool("taskset"), "-c", ",".join(map(str, cpus)), *driver.command(job)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return driver.read(done.stdout or done.stderr)

# SPDX-License-Identifier: Apache-2.0
