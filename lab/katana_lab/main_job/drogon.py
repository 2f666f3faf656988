"""Drogon, built from the sources that Debian has at present (sid): Debian 12 has no package of it.

apt fetches and verifies them with lists of its own below build/main_job/drogon, so that nothing of the machine changes;
then trantor, drogon and the server are built as releases by g++, without shared libraries and without what the server
does not use. Needs libjsoncpp-dev, libsqlite3-dev, uuid-dev, zlib1g-dev, cmake and ninja-build.
"""
from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

from katana_lab import LabError, proc
from katana_lab.contest.servers import run
from katana_lab.main_job import BUILD, FOLDER

OUT = BUILD / "drogon"
PROGRAM = OUT / "server" / "main_job_drogon"
MIRROR = "http://deb.debian.org/debian"
SOURCES = f"deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {MIRROR} sid main\n"
UNUSED = ("BUILD_CTL", "BUILD_EXAMPLES", "BUILD_BROTLI", "BUILD_YAML_CONFIG", "BUILD_POSTGRESQL", "BUILD_MYSQL",
          "BUILD_REDIS", "BUILD_TESTING", "BUILD_C-ARES", "BUILD_SHARED_LIBS", "BUILD_DOC", "USE_SUBMODULE")
RELEASE = ("-GNinja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON",
           f"-DCMAKE_PREFIX_PATH={OUT}/prefix", f"-DCMAKE_INSTALL_PREFIX={OUT}/prefix")


def fetch(name: str) -> Path:
    """A source package; the folder of its sources."""
    unpacked = OUT / "sources" / name
    if unpacked.exists():
        return unpacked
    got = OUT / "downloads" / name
    got.mkdir(parents=True, exist_ok=True)
    run([*apt(), "source", "--download-only", "--tar-only", name], got)
    archive = next(got.glob("*.orig.tar.*"), None)
    if archive is None:
        raise LabError(f"apt-get source {name} brought no sources into {got}")
    fresh = OUT / "sources" / f".{name}"
    shutil.rmtree(fresh, ignore_errors=True)
    with tarfile.open(archive) as packed:
        packed.extractall(fresh, filter="data")
    next(path for path in fresh.iterdir() if path.is_dir()).rename(unpacked)
    return unpacked


def apt() -> list[str]:
    """apt-get with separate package lists."""
    return [proc.tool("apt-get"), "--quiet", "-o", f"Dir::Etc::sourcelist={OUT}/sources.list", "-o",
            "Dir::Etc::sourceparts=/dev/null", "-o", f"Dir::State={OUT}/state", "-o", f"Dir::Cache={OUT}/cache", "-o",
            f"Dir::State::status={OUT}/state/status"]


def cmake(source: Path, name: str, *flags: str) -> None:
    """Configure and build."""
    run(["cmake", "-S", str(source), "-B", str(OUT / name), *RELEASE, *flags], OUT)
    run(["cmake", "--build", str(OUT / name)], OUT)


def make() -> None:
    """The libraries, if they are not there, and the server."""
    for folder in ("state/lists/partial", "cache/archives/partial"):
        (OUT / folder).mkdir(parents=True, exist_ok=True)
    if not (OUT / "prefix/lib/cmake/Drogon").exists():
        (OUT / "sources.list").write_text(SOURCES, encoding="ascii")
        (OUT / "state/status").touch()
        run([*apt(), "update"], OUT)
        for name in ("trantor", "drogon"):
            cmake(fetch(name), f"build-{name}", *(f"-D{option}=OFF" for option in UNUSED), "-DBUILD_SQLITE=ON")
            run(["cmake", "--install", str(OUT / f"build-{name}")], OUT)
    cmake(FOLDER / "rivals" / "drogon", "server")

# SPDX-License-Identifier: Apache-2.0
