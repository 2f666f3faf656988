"""Memory of a server while it works: anonymous, of its processes, and its cgroup's without reclaimable page cache. The
cgroup counts CPU time too.
"""
from __future__ import annotations

import contextlib
import itertools
import os
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from katana_lab import LabError, proc

SAMPLE_S = 0.5                           # HttpArena takes about two a second
_numbers = itertools.count()


def pss_anon_kib(pid: int) -> int:
    """Anonymous memory of the process tree; a page that n of all processes share counts as 1/n in each of them."""
    total = 0
    for member in proc.tree(pid):
        found = re.search(r"^Pss_Anon:\s+(\d+)", proc.read(f"/proc/{member}/smaps_rollup"), re.M)
        total += int(found[1]) if found else 0
    return total


CGROUPS = Path("/sys/fs/cgroup")


def own_parents() -> tuple[Path, ...]:
    """The folders of this machine's cgroups in which a group may be made; none where this user may not.

    They are one folder of cgroup 2, or the controllers of cgroup 1 that count memory and CPU time.
    """
    unified = (CGROUPS,) if (CGROUPS / "cgroup.controllers").exists() else ()
    found = unified or tuple(path for path in (CGROUPS / "memory", CGROUPS / "cpuacct") if path.exists())
    return found if all(os.access(path, os.W_OK) for path in found) else ()


class Group:
    """Its own cgroup below each of these folders: one of cgroup 2, or some of cgroup 1."""

    def __init__(self, *parents: Path):
        name = f"katana-arena-{os.getpid()}-{next(_numbers)}"
        self.paths = [parent / name for parent in parents]
        for path in self.paths:
            try:
                path.mkdir()
            except OSError as error:
                raise LabError(f"--cgroup {path.parent}: {error.strerror}; give a folder of cgroup that this user may"
                               " write, such as one that systemd delegates") from None

    @property
    def prefix(self) -> tuple[str, ...]:
        """The words that start a command within it."""
        files = [str(path / "cgroup.procs") for path in self.paths]
        enter = 'while [ "$1" != -- ]; do echo $$ >"$1" || exit 1; shift; done; shift; exec "$@"'
        return "/bin/sh", "-c", enter, "enter", *files, "--"

    def used_kib(self) -> int | None:
        """memory.current without inactive_file; None where it is not counted."""
        return next((used for path in self.paths if (used := used_kib(path)) is not None), None)

    def cpu_us(self) -> float | None:
        """CPU time of all that ran in it so far; None where it is not counted."""
        return next((used for path in self.paths if (used := cpu_us(path)) is not None), None)

    def close(self) -> None:
        """Remove it: its processes are gone, or it stays until they are."""
        def removed() -> bool:
            for path in self.paths:
                with contextlib.suppress(OSError):
                    path.rmdir()
            return not any(path.exists() for path in self.paths)

        proc.wait_for(removed, 2)


def used_kib(folder: Path) -> int | None:
    """memory.current − inactive_file of a cgroup, or the same by the names of cgroup 1."""
    for current, inactive in (("memory.current", "inactive_file"), ("memory.usage_in_bytes", "total_inactive_file")):
        used = proc.read(folder / current).strip()
        cached = re.search(rf"^{inactive} (\d+)", proc.read(folder / "memory.stat"), re.M)
        if used and cached:
            return (int(used) - int(cached[1])) // 1024
    return None


def cpu_us(folder: Path) -> float | None:
    """usage_usec of a cgroup, or the same of cgroup 1, which counts nanoseconds."""
    if found := re.search(r"^usage_usec (\d+)", proc.read(folder / "cpu.stat"), re.M):
        return float(found[1])
    nanoseconds = proc.read(folder / "cpuacct.usage").strip()
    return int(nanoseconds) / 1000 if nanoseconds else None


class Watch:
    """The most of each size that samples saw."""

    def __init__(self, pid: int, group: Group | None = None):
        self.pid, self.group = pid, group
        self.most: dict[str, int] = {}
        self._over = threading.Event()

    def look(self) -> None:
        """One sample."""
        found = {"pss_anon_kib": pss_anon_kib(self.pid), "rss_anon_kib": proc.memory_kib(self.pid, "RssAnon")}
        if self.group and (used := self.group.used_kib()) is not None:
            found["cgroup_kib"] = used
        for name, size in found.items():
            self.most[name] = max(size, self.most.get(name, 0))

    def _run(self) -> None:
        while not self._over.wait(SAMPLE_S):
            self.look()

    @contextlib.contextmanager
    def watching(self) -> Iterator[dict[str, int]]:
        """Sample until the block ends."""
        thread = threading.Thread(target=self._run, daemon=True)
        thread.start()
        try:
            yield self.most
        finally:
            self._over.set()
            thread.join()
            if not self.most:
                self.look()


def at_rest(pid: int, settle_s: float = 0.3) -> int:
    """Anonymous memory of a server that has answered once."""
    time.sleep(settle_s)
    return pss_anon_kib(pid)

# SPDX-License-Identifier: Apache-2.0
