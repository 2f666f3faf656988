"""The servers of `lab/peers`: which can run here, why not, how they are built and started."""
from __future__ import annotations

import dataclasses
import os
import shlex
import shutil
import string
import subprocess
from pathlib import Path

from katana_lab import LAB, ROOT, LabError, UsageError
from katana_lab.files import read_yaml, shown, write_whole
from katana_lab.models import Peer, Value

FOLDER = LAB / "peers"
TOOLCHAINS = ("/usr/local/go/bin", str(Path.home() / ".cargo/bin"), str(Path.home() / "go/bin"))
BUILD_SECONDS_MAX = 900


class Unavailable(LabError):
    """This server cannot run here; the message says why and what would help."""


@dataclasses.dataclass(frozen=True)
class Server:
    """A server with its name and the file that describes it."""

    name: str
    peer: Peer


def load_peers(folder: Path = FOLDER) -> dict[str, Server]:
    """Every described server by name."""
    return {path.stem: Server(path.stem, read_yaml(Peer, path)) for path in sorted(folder.glob("*.yaml"))}


def search_path() -> str:
    """PATH with the usual homes of toolchains that installers leave out of it."""
    return os.pathsep.join([os.environ.get("PATH", ""), *TOOLCHAINS])


def missing(server: Server, build: Path) -> str:
    """Why a server cannot run here, or nothing."""
    for program in server.peer.needs.programs:
        name = program.format(build=build)
        found = Path(name).exists() if "/" in name else shutil.which(name, path=search_path())
        if not found:
            return f"{shown(Path(name)) if '/' in name else name} is missing: {server.peer.needs.remedy}"
    return ""


def prepare(server: Server, build: Path) -> None:
    """Build what has to be built; Unavailable when it cannot be."""
    if reason := missing(server, build):
        raise Unavailable(reason)
    recipe = server.peer.build
    if recipe is None:
        return
    source, out = FOLDER / recipe.folder, ROOT / "build" / "peers" / server.name
    product = out / recipe.produces
    if product.exists() and product.stat().st_mtime >= max(file.stat().st_mtime for file in source.rglob("*")):
        return
    out.mkdir(parents=True, exist_ok=True)
    command = [part.format(out=out, source=source) for part in recipe.command]
    environment = {**os.environ, "PATH": search_path(),
                   **{key: value.format(out=out) for key, value in recipe.environment.items()}}
    try:
        run = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True, check=False,
                             timeout=BUILD_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"`{shlex.join(command)}` took longer than {BUILD_SECONDS_MAX} s") from None
    if run.returncode != 0 or not product.exists():
        last = (run.stderr.strip() or run.stdout.strip() or "it said nothing").splitlines()[-1]
        raise Unavailable(f"`{shlex.join(command)}` in {shown(source)} failed: {last}")
    os.utime(product)


def check_options(server: Server, options: dict[str, Value], source: str) -> None:
    """Refuse options that the server does not know."""
    for name in options:
        if name not in server.peer.options and name not in server.peer.defaults:
            known = ", ".join(sorted({*server.peer.options, *server.peer.defaults})) or "none"
            raise UsageError(f"{source}: {server.name} has no option '{name}'; it has: {known}")


class _Texts(string.Formatter):
    """`{name}` in the texts of a server; a wrong name is an error of the server's file."""

    def get_value(self, key, args, kwargs):
        if key not in kwargs:
            raise UsageError(f"lab/peers: there is no {{{key}}}; there are {', '.join(sorted(kwargs))}")
        return kwargs[key]


def command_of(server: Server, options: dict[str, Value], port: int, build: Path, work: Path) -> list[str]:
    """The argv that starts a server; writes its configuration into `work`."""
    peer = server.peer
    chosen = {**peer.defaults, **options}
    values = {**chosen, "port": port, "work": work, "build": build, "peers": FOLDER,
              "out": ROOT / "build" / "peers" / server.name}
    texts = _Texts()
    for name, text in peer.files.items():
        write_whole(work / name, texts.format(text, **values))
    parts = [texts.format(peer.command, **values)]
    for name, value in chosen.items():
        template = peer.options.get(name, "")
        if template and value is not False:
            parts.append(texts.format(template, **values, value=value))
    return shlex.split(" ".join(parts))

# SPDX-License-Identifier: Apache-2.0
