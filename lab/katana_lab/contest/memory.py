"""Memory of a server while it works: anonymous, of its processes, and its cgroup's without reclaimable page cache."""
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


class Group:
    """Its own cgroup below a folder of cgroup 2, or of the memory controller of cgroup 1."""

    def __init__(self, parent: Path):
        self.path = parent / f"katana-arena-{os.getpid()}-{next(_numbers)}"
        try:
            self.path.mkdir()
        except OSError as error:
            raise LabError(f"--cgroup {parent}: {error.strerror}; give a folder of cgroup that this user may write,"
                           " such as one that systemd delegates") from None

    @property
    def prefix(self) -> tuple[str, ...]:
        """The words that start a command within it."""
        return "/bin/sh", "-c", 'echo $$ > "$0" && exec "$@"', str(self.path / "cgroup.procs")

    def used_kib(self) -> int | None:
        """memory.current without inactive_file; None where it is not counted."""
        return used_kib(self.path)

    def close(self) -> None:
        """Remove it: its processes are gone, or it stays until they are."""
        def removed() -> bool:
            with contextlib.suppress(OSError):
                self.path.rmdir()
            return not self.path.exists()

        proc.wait_for(removed, 2)


def used_kib(folder: Path) -> int | None:
    """memory.current − inactive_file of a cgroup, or the same by the names of cgroup 1."""
    for current, inactive in (("memory.current", "inactive_file"), ("memory.usage_in_bytes", "total_inactive_file")):
        used = proc.read(folder / current).strip()
        cached = re.search(rf"^{inactive} (\d+)", proc.read(folder / "memory.stat"), re.M)
        if used and cached:
            return (int(used) - int(cached[1])) // 1024
    return None


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
