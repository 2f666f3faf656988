"""The checks of a contest: a client of one connection, counted expectations, and the command of the check."""
from __future__ import annotations

import argparse
import functools
import http.client
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from katana_lab import ROOT, LabError
from katana_lab.contest.servers import Contest, Server
from katana_lab.contest.wire import Reply

PATIENCE_S = 10.0
ERRORS = (OSError, ValueError, http.client.HTTPException, LabError)


class Client:
    """One connection; `opened`: how many it took."""

    def __init__(self, port: int):
        self.link = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        self.opened = 0

    def ask(self, method: str, target: str, content: bytes | None = None) -> Reply:
        """A request and its answer; OSError or HTTPException when there is none. `content` is JSON."""
        if self.link.sock is None:
            self.link.connect()
            self.opened += 1
        self.link.request(method, target, content, {"Content-Type": "application/json"} if content else {})
        got = self.link.getresponse()
        fields = {name.lower(): value for name, value in got.getheaders()}
        return Reply(got.status, "HTTP/1.1", fields, got.read())

    def get(self, target: str) -> Reply:
        """GET."""
        return self.ask("GET", target)


class Check:
    """One server under test: how many things were checked, and what failed. `scope` stands before each failure."""

    def __init__(self) -> None:
        self.count, self.scope = 0, ""
        self.failures: list[str] = []

    def judge(self, what: str, wrong: str) -> None:
        """Count a check; `wrong` names the mistake, or is empty."""
        self.count += 1
        if wrong:
            self.failures.append(f"{self.scope}{what}: {wrong}")

    def expect(self, what: str, is_right: bool, got: object) -> None:
        """Count a check; when it failed, say what and what came."""
        shown = f"{got.status} {got.text[:200]}" if isinstance(got, Reply) else str(got)[:200]
        self.judge(what, "" if is_right else f"got {shown}")

    def attempt(self, name: str, checks: Callable[[], None]) -> None:
        """Make some checks; that they cannot be made is a failure."""
        try:
            checks()
        except ERRORS as error:
            self.judge(name, f"the check cannot be made: {error!r}")

    def run_all(self, checks: Mapping[str, Callable]) -> None:
        """All of these, each of which is given this."""
        for name, one in checks.items():
            self.attempt(name, functools.partial(one, self))


def failures_of(examine: Callable[[], tuple[str, list[str]]]) -> tuple[str, list[str]]:
    """Return the number of checks and the failures, also where the server does not start."""
    try:
        return examine()
    except LabError as error:
        return "not checked", [str(error)]


def say(name: str, what: str, failures: Sequence[str]) -> bool:
    """One line, and one for each failure; whether there was none."""
    print(f"{name}: {what}: {'all passed' if not failures else f'{len(failures)} FAILED'}", flush=True)
    for failure in failures:
        print(f"  {failure}", flush=True)
    return not failures


def fit(servers: Sequence[Server], examine: Callable[[Server], tuple[str, list[str]]], left_out: list[str]
        ) -> list[Server]:
    """The servers that pass; the others are printed, and added to `left_out`."""
    found = []
    for server in servers:
        print(f"\rcheck: {server.name:<20}", end="", file=sys.stderr, flush=True)
        if failures := failures_of(functools.partial(examine, server))[1]:
            left_out.append(f"{server.name}: {failures[0]}")
            print(f"\nleft out: {left_out[-1]}", file=sys.stderr)
        else:
            found.append(server)
    print(file=sys.stderr)
    return found


def parser(about: str | None, contest: Contest) -> argparse.ArgumentParser:
    """The flags of every check."""
    made = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--servers", default=",".join(contest.servers), metavar="NAME,…", help="default: all")
    made.add_argument("--build", type=Path, default=ROOT / "build/bench", help="where the built programs are")
    return made


def check_all(servers: Sequence[Server], examine: Callable[[Server], tuple[str, list[str]]]) -> int:
    """Check and print each; exit status 1 when anything failed."""
    passed = [say(server.name, *failures_of(functools.partial(examine, server))) for server in servers]
    return int(not all(passed))

# SPDX-License-Identifier: Apache-2.0
