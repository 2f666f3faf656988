"""The servers of a contest: one form for KATANA's own and for rivals, how they are built and how they are started.

The sources of rivals are in lab/NAME/rivals, their programs in build/NAME. All packages of Rust have lab/Cargo.lock,
those of Node lab/package-lock.json: two contests measure the same version of a library.
"""
from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from katana_lab import LAB, ROOT, LabError, UsageError, peers, proc
from katana_lab.costs import harness

BUILD_SECONDS_MAX = 1800
RUST_REMEDY, GO_REMEDY = "install Rust from https://rustup.rs", "install Go from https://go.dev/dl"
NODE_REMEDY = "install Node 20 or newer from https://nodejs.org"
PYTHON = ROOT / "build" / "arena" / "fastapi" / "venv" / "bin" / "python"      # for all contests


@dataclasses.dataclass(frozen=True)
class Server:
    """A server of a contest. `command`: of the build's folder and its own folder. `needs`: programs of the machine, and
    the packages that bring them. `make` builds it, or `target` is that of this tree's own build.

    Other traits belong to one contest each. `kind` and `profiles` are HttpArena's class, and the profiles that it can
    answer. `database` is the way in which its flag names a file. `is_pipelined`: a connection to the database has many
    statements in flight. `is_ranked`: it keeps all the rules.
    """

    name: str
    language: str
    about: str
    command: Callable[[Path, Path], list[str]]
    needs: tuple[str, ...] = ()
    remedy: str = ""
    make: Callable[[], None] = lambda: None
    target: str = ""
    builder: str = ""
    kind: str = ""
    profiles: tuple[str, ...] = ()
    database: str = "{}"
    is_pipelined: bool = True
    is_ranked: bool = True

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


def make_fastapi() -> None:
    """The virtual environment of FastAPI, which all contests share."""
    sources = LAB / "arena" / "rivals" / "fastapi"
    if not PYTHON.exists():
        run(["python3", "-m", "venv", str(PYTHON.parents[1])], sources)
    run([str(PYTHON), "-m", "pip", "install", "--quiet", "--no-deps", "-r", "requirements.txt"], sources)


class Contest:
    """The servers of one contest by name, in the order of its tables. `name` is its folder in lab/ and in build/, and
    the target of KATANA's own server. Methods that are named by a language add a server in it.
    """

    def __init__(self, name: str):
        self.name = name
        self.sources, self.out = LAB / name / "rivals", ROOT / "build" / name
        self.builder = f"lab/{name}/rivals/build"
        self.servers: dict[str, Server] = {}
        self._ports = proc.free_port()

    def add(self, server: Server) -> None:
        """A server in whatever way it is built."""
        self.servers[server.name] = dataclasses.replace(server, builder=self.builder)

    def own(self, name: str, about: str, *flags: str, **traits: object) -> None:
        """This tree's own."""
        self.add(Server(name, "C++", about, lambda build, work: [f"{build}/{self.name}", *flags], target=self.name,
                        **traits))

    def rust(self, name: str, about: str, *flags: str, package: str = "", has_c: bool = False,
             environment: dict[str, str] | None = None, **traits: object) -> None:
        """A package of lab/Cargo.toml. `has_c`: something in it is compiled by a compiler of C."""
        program = f"{self.name}_{package or name}"

        def make() -> None:
            run(["cargo", "build", "--release", "--locked", "--quiet", "--target-dir", str(self.out / "rust"), "-p",
                 program], LAB, **(environment or {}))
        self.add(Server(name, "Rust", about, lambda build, work: [f"{self.out}/rust/release/{program}", *flags],
                        ("cargo", "cc") if has_c else ("cargo",),
                        RUST_REMEDY + (", and apt-get install gcc" if has_c else ""), make, **traits))

    def go(self, name: str, about: str, has_c: bool = False, environment: dict[str, str] | None = None,
           **traits: object) -> None:
        """A program of the contest's module; without C unless said."""
        def make() -> None:
            (self.out / "go").mkdir(parents=True, exist_ok=True)
            run(["go", "build", "-trimpath", "-o", f"{self.out}/go/", f"./{name}"], self.sources,
                **{"CGO_ENABLED": str(int(has_c)), **(environment or {})})
        self.add(Server(name, "Go", about, lambda build, work: [f"{self.out}/go/{name}"],
                        ("go", "cc") if has_c else ("go",), GO_REMEDY + (", and apt-get install gcc" if has_c else ""),
                        make, **traits))

    def node(self, name: str, about: str, beside: Sequence[str] = (), compiled: str = "",
             environment: dict[str, str] | None = None, **traits: object) -> None:
        """A copy of its folder, and of those that it reads, below the packages of lab/package.json: Node looks for
        packages above the file that wants them. `compiled`: a package in C++, which is built from its source.
        """
        out = self.out / "node"

        def make() -> None:
            for folder in (*beside, name):
                shutil.copytree(self.sources / folder, out / folder, dirs_exist_ok=True)
            for file in ("package.json", "package-lock.json"):
                shutil.copy(LAB / file, out / file)
            run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], out)
            if compiled:
                run(["npm", "rebuild", compiled], out, npm_config_build_from_source="true", **(environment or {}))
        self.add(Server(name, "JavaScript", about, lambda build, work: ["node", f"{out}/{name}/server.mjs"],
                        ("node", "npm", *(("make", "c++") if compiled else ())),
                        NODE_REMEDY + (", and apt-get install g++ make" if compiled else ""), make, **traits))

    def fastapi(self, about: str, **traits: object) -> None:
        """FastAPI in its virtual environment."""
        self.add(Server("fastapi", "Python", about, lambda build, work: [str(PYTHON),
                                                                         f"{self.sources}/fastapi/server.py"],
                        ("python3",), "apt-get install python3-venv", make_fastapi, **traits))

    def configured(self, name: str, about: str, **traits: object) -> None:
        """A server of the machine, by configuration."""
        self.add(Server(name, "C", about, lambda build, work: [f"{self.sources}/{name}/start", str(work)], (name,),
                        f"apt-get install {proc.PACKAGES.get(name, name)}", **traits))

    # ---- which, and how they are started ---------------------------------------------------------

    def chosen(self, names: str | Sequence[str]) -> list[Server]:
        """The servers of a list such as a,b; UsageError for one that is not known."""
        found = names.split(",") if isinstance(names, str) else names
        for name in found:
            if name not in self.servers:
                raise UsageError(f"unknown server '{name}'; known: {', '.join(self.servers)}")
        return [self.servers[name] for name in found]

    def present(self, asked: Sequence[str], build: Path) -> list[Server]:
        """The servers that were asked for; LabError where one cannot run here. Without names: all that can run here;
        the others are printed.
        """
        found = []
        for server in self.chosen(asked or list(self.servers)):
            reason = server.missing(build)
            if reason and asked:
                raise LabError(f"{server.name}: {reason}")
            if reason:
                print(f"left out: {server.name}: {reason}", file=sys.stderr)
            else:
                found.append(server)
        return found

    @contextlib.contextmanager
    def running(self, server: Server, build: Path, flags: Callable[[int], Sequence[str]],
                ready: Callable[[int, subprocess.Popen, Path], None] | str, ports: Iterator[int] | None = None,
                prefix: Sequence[str] = (), patience_s: float = 5.0) -> Iterator[harness.Running]:
        """A fresh server on its CPU with the flags of a port, once `ready` is satisfied (harness.serving)."""
        if reason := server.missing(build):
            raise LabError(f"{server.name}: {reason}")
        with harness.serving(server.name, lambda port, work: [*server.command(build, work), *flags(port)],
                             ports or self._ports, ready, prefix, patience_s) as process:
            yield process

    def make_all(self, servers: Sequence[Server]) -> list[Server]:
        """Build those that are no part of this tree's own build; those that could be, and who could not is said."""
        found = []
        for server in servers:
            try:
                if not server.target:
                    print(f"{server.name} …", file=sys.stderr, flush=True)
                    if any(not shutil.which(name, path=peers.search_path()) for name in server.needs):
                        raise LabError(f"one of {', '.join(server.needs)} is missing: {server.remedy}")
                    server.make()
                found.append(server)
            except LabError as error:
                print(f"{server.name}: {error}", file=sys.stderr)
        return found

    def build_command(self, about: str | None) -> int:
        """lab/NAME/rivals/build: all rivals, or those named; exit status 1 when one could not be built."""
        parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
        parser.add_argument("--list", action="store_true", help="print the servers")
        options = parser.parse_args()
        wanted = self.chosen(options.names or [name for name, one in self.servers.items() if not one.target])
        if not options.list:
            return int(len(self.make_all(wanted)) < len(wanted))
        for server in wanted:
            what = f": {', '.join(server.profiles)}" if server.profiles else ""
            print(f"{server.name}: {server.about} ({', '.join(filter(None, (server.kind, server.language)))}){what}")
        return 0

# SPDX-License-Identifier: Apache-2.0
