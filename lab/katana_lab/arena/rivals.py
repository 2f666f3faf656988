"""The servers of the arena: KATANA's own, and rivals written here to HttpArena's rules; how they are built and started.

    lab/arena/rivals/build [NAME…]      # natively, into build/arena; without names all; --list tells of them

Not had here: Drogon and userver (no package of Debian 12, and their sources are on no registry that this uses).
"""
from __future__ import annotations

import argparse
import contextlib
import dataclasses
import functools
import itertools
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from katana_lab import ROOT, LabError, UsageError, peers, proc
from katana_lab.arena import BUILD, DATA, FOLDER, PROFILES, Ports
from katana_lab.costs import harness

SOURCES = FOLDER / "rivals"
BUILD_SECONDS_MAX = 1800
PORT_SETS = 16                           # in turn, so that a server does not begin among another's last connections
RUST, GO, NODE, PYTHON = BUILD / "rust", BUILD / "go", BUILD / "node", BUILD / "fastapi"
H1 = ("baseline", "pipelined", "limited-conn", "json")
BARE = (*H1, "json-tls", "upload", "baseline-h2", "baseline-h2c", "json-h2c")
NO_H2 = tuple(name for name in PROFILES if "-h2" not in name)


@dataclasses.dataclass(frozen=True)
class Server:
    """A server of the arena. `kind`: HttpArena's class. `needs`: programs of the machine, and what brings them.
    `builder`: the command that builds it, or `target`: that of this tree's own build.
    """

    name: str
    kind: str
    language: str
    about: str
    profiles: tuple[str, ...]
    command: Callable[[Path, Path], list[str]]                   # of the build's folder and a folder of its own
    needs: tuple[str, ...] = ()
    remedy: str = ""
    make: Callable[[], None] = lambda: None
    builder: str = "lab/arena/rivals/build"
    target: str = ""

    def missing(self, build: Path) -> str:
        """Why it cannot run here, or nothing."""
        for program in self.needs:
            if not shutil.which(program, path=peers.search_path()):
                return f"{program} is missing: {self.remedy}"
        program = self.command(build, Path("/"))[0]
        if "/" in program and not Path(program).exists():
            how = f"{self.builder} {self.name}" if not self.target else "cmake --preset bench && cmake --build" \
                f" --preset bench --target {self.target} (--build names another directory)"
            return f"{program} is missing: {how}"
        return ""


def run(command: Sequence[str], folder: Path, **environment: str) -> None:
    """Run a step of a build; LabError with its last line when it fails."""
    try:
        done = subprocess.run(command, cwd=folder, env={**os.environ, "PATH": peers.search_path(), **environment},
                              capture_output=True, text=True, check=False, timeout=BUILD_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        raise LabError(f"`{shlex.join(command)}` took longer than {BUILD_SECONDS_MAX} s") from None
    except OSError as error:
        raise LabError(f"`{shlex.join(command)}` cannot be run: {error.strerror}") from None
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[-1]
        raise LabError(f"`{shlex.join(command)}` in {folder} failed: {last}")


def cargo(name: str, sources: Path = SOURCES, out: Path = RUST, **environment: str) -> Callable[[], None]:
    """A package of a workspace."""
    return lambda: run(["cargo", "build", "--release", "--locked", "--quiet", "--target-dir", str(out), "-p", name],
                       sources, **environment)


def go(name: str, sources: Path = SOURCES, out: Path = GO, **environment: str) -> Callable[[], None]:
    """A program of a module; without C unless the environment says otherwise."""
    def make() -> None:
        out.mkdir(parents=True, exist_ok=True)
        run(["go", "build", "-trimpath", "-o", f"{out}/", f"./{name}"], sources, **{"CGO_ENABLED": "0", **environment})
    return make


def npm(folders: Sequence[str], sources: Path = SOURCES, out: Path = NODE, compiled: str = "",
        **environment: str) -> Callable[[], None]:
    """A copy of the last folder beside its packages, and of those that it reads: Node looks for packages above the file
    that wants them. `compiled`: a package in C++, which is built from its source.
    """
    def make() -> None:
        for folder in folders:
            shutil.copytree(sources / folder, out / folder, dirs_exist_ok=True)
        own = out / folders[-1]
        if (sources / folders[-1] / "package-lock.json").exists():
            run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], own)
        if compiled:
            run(["npm", "rebuild", compiled], own, npm_config_build_from_source="true", **environment)
    return make


def pip() -> None:
    """A virtual environment of its own."""
    if not (PYTHON / "venv/bin/python").exists():
        run(["python3", "-m", "venv", str(PYTHON / "venv")], SOURCES)
    run([str(PYTHON / "venv/bin/python"), "-m", "pip", "install", "--quiet", "--no-deps", "-r", "requirements.txt"],
        SOURCES / "fastapi")


def rust_server(name: str, kind: str, about: str, profiles: tuple[str, ...]) -> Server:
    """A rival in Rust."""
    return Server(name, kind, "Rust", about, profiles, lambda build, work: [f"{RUST}/release/arena_{name}"], ("cargo",),
                  "install Rust from https://rustup.rs", cargo(f"arena_{name}"))


def go_server(name: str, kind: str, about: str, profiles: tuple[str, ...]) -> Server:
    """A rival in Go."""
    return Server(name, kind, "Go", about, profiles, lambda build, work: [f"{GO}/{name}"], ("go",),
                  "install Go from https://go.dev/dl", go(name))


def node_server(name: str, kind: str, about: str, profiles: tuple[str, ...]) -> Server:
    """A rival on Node."""
    return Server(name, kind, "JavaScript", about, profiles, lambda build, work: ["node", f"{NODE}/{name}/server.mjs"],
                  ("node", "npm"), "install Node 20 or newer from https://nodejs.org", npm(("node_common", name)))


def configured(name: str, about: str, profiles: tuple[str, ...]) -> Server:
    """A server of the machine, by configuration."""
    return Server(name, "infrastructure", "C", about, profiles,
                  lambda build, work: [f"{SOURCES}/{name}/start", str(work)], (name,),
                  f"apt-get install {proc.PACKAGES.get(name, name)}")


SERVERS = {server.name: server for server in (
    Server("katana", "production", "C++", "apps/arena of this tree", PROFILES,
           lambda build, work: [f"{build}/arena"], target="arena"),
    rust_server("actix", "production", "actix-web 4, rustls, actix-files, actix-ws", PROFILES),
    rust_server("axum", "production", "axum 0.8 on tokio, rustls, tower-http", PROFILES),
    rust_server("hyper", "engine", "hyper 1 on tokio, rustls, no framework", BARE),
    go_server("net_http", "production", "Go's standard library, gzhttp, gorilla/websocket", PROFILES),
    go_server("fasthttp", "production", "fasthttp with its router, files and WebSocket", NO_H2),
    node_server("fastify", "production", "fastify 5 with its compress, static and websocket plugins", PROFILES),
    node_server("node_http", "engine", "node:http and node:http2, no framework", BARE),
    Server("fastapi", "production", "Python", "FastAPI on uvicorn, uvloop and httptools", NO_H2,
           lambda build, work: [f"{PYTHON}/venv/bin/python", f"{SOURCES}/fastapi/server.py"], ("python3",),
           "apt-get install python3-venv", pip),
    configured("nginx", "nginx of Debian by configuration", ("pipelined", "static", "static-h2")),
    configured("h2o", "h2o of Debian by configuration, sums by its mruby; it knows no q-values",
               ("baseline", "pipelined", "limited-conn", "upload", "static", "baseline-h2", "static-h2",
                "baseline-h2c")),
)}


def chosen(names: str | Sequence[str], servers: Mapping[str, Server] | None = None) -> list[Server]:
    """The servers of a list such as a,b, of the arena's or of others; UsageError for one that is not known."""
    known = SERVERS if servers is None else servers
    found = names.split(",") if isinstance(names, str) else names
    for name in found:
        if name not in known:
            raise UsageError(f"unknown server '{name}'; known: {', '.join(known)}")
    return [known[name] for name in found]


@functools.cache
def _port_sets() -> Iterator[Ports]:
    free = proc.free_port()
    return itertools.cycle([Ports.take(free) for _ in range(PORT_SETS)])


@contextlib.contextmanager
def running(server: Server, data: Path = DATA, build: Path = ROOT / "build/bench",
            prefix: Sequence[str] = ()) -> Iterator[tuple[harness.Running, Ports]]:
    """A fresh server with one thread on its CPU, once it listens on all the ports that its profiles need."""
    if reason := server.missing(build):
        raise LabError(f"{server.name}: {reason}")
    taken = next(_port_sets())
    wanted = {taken.h1, *(port for port, name in ((taken.h1_tls, "json-tls"), (taken.h2c, "baseline-h2c"),
                                                  (taken.tls, "static-h2")) if name in server.profiles)}

    def ready(port: int, process: subprocess.Popen, log: Path) -> None:
        proc.wait_until_up(server.name, port, "/pipeline", process, 20, log=log)
        if not proc.wait_for(lambda: all(proc.listens(process, each) for each in wanted), 10):
            raise LabError(f"{server.name} does not listen on all of {sorted(wanted)}")

    def command(_: int, work: Path) -> list[str]:
        return [*server.command(build, work), *taken.flags(data)]

    with harness.serving(server.name, command, iter([taken.h1]), ready, prefix) as process:
        yield process, taken


def make_all(servers: Sequence[Server]) -> int:
    """Build them; exit status 1 when one could not be."""
    status = 0
    for server in servers:
        print(f"{server.name} …", file=sys.stderr, flush=True)
        try:
            if any(not shutil.which(name, path=peers.search_path()) for name in server.needs):
                raise LabError(f"one of {', '.join(server.needs)} is missing: {server.remedy}")
            server.make()
        except LabError as error:
            print(f"{server.name}: {error}", file=sys.stderr)
            status = 1
    return status


def build_command(about: str | None, servers: Mapping[str, Server]) -> int:
    """The command of an experiment that builds its rivals: all that are no part of this tree, or those named."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--list", action="store_true", help="print the servers")
    options = parser.parse_args()
    wanted = chosen(options.names or [name for name, server in servers.items() if not server.target], servers)
    if not options.list:
        return make_all(wanted)
    for server in wanted:
        print(f"{server.name}: {server.about} ({server.language})")
    return 0


def main() -> int:
    """Build; exit status 1 when one could not be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--list", action="store_true", help="print the servers and their profiles")
    options = parser.parse_args()
    servers = chosen(options.names or [name for name in SERVERS if name != "katana"])
    if not options.list:
        return make_all(servers)
    for server in servers:
        print(f"{server.name}: {server.about} ({server.kind}, {server.language}): {', '.join(server.profiles)}")
    return 0

# SPDX-License-Identifier: Apache-2.0
