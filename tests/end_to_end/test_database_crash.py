"""A process that writes is killed at any moment: acknowledged rows are there, and the file is whole.

KATANA_CRASHES=200 is the long form.
"""
import os
import random
import signal
import sqlite3
import subprocess
import time

import pytest

PROGRAM = os.path.join(os.environ.get("KATANA_BUILD", "build/release"), "database_crash")
CRASHES = int(os.environ.get("KATANA_CRASHES", "12"))
SPAN = 10_000_000  # ids of one process


class Writer:
    """A separate process database_crash, and the writes that it has acknowledged."""

    def __init__(self, path, number, callers):
        self.acknowledged = []
        arguments = [PROGRAM, str(path), str(number * SPAN + 1), str(callers)]
        # Unbuffered: what readline() had read ahead, communicate() would not see.
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)

    def wait_for_first(self):
        """It has acknowledged something: from here on it may be killed."""
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read().decode()
        self.acknowledged.append(int(line))

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        rest, errors = self.process.communicate(timeout=30)
        assert self.process.returncode == -signal.SIGKILL, errors.decode()
        self.acknowledged += [int(line) for line in rest.split(b"\n") if line]


def check(path, acknowledged):
    """Every acknowledged id is there, whole; no id is there in part; the file is whole."""
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        parts = dict(connection.execute("SELECT id, count(*) FROM rows GROUP BY id"))
    connection.close()
    lost = [number for number in acknowledged if number not in parts]
    assert not lost, f"acknowledged and lost: {lost[:10]} of {len(acknowledged)}"
    in_part = [number for number, count in parts.items() if count != (3 if number % 2 == 0 else 1)]
    assert not in_part, f"there in part: {in_part[:10]}"
    return len(parts)


@pytest.mark.parametrize("processes", [1, 2])
def test_killed_writers_lose_no_acknowledged_write(tmp_path, processes):
    """One process, and two on the same file that wait for each other's lock."""
    path, seed = tmp_path / "crash.db", random.randrange(1 << 32)
    chance, acknowledged, number = random.Random(seed), [], 0
    print(f"seed {seed}")
    crashes = CRASHES if processes == 1 else max(CRASHES // 4, 3)
    for _ in range(crashes):
        writers = []
        for _ in range(processes):
            number += 1
            writers.append(Writer(path, number, chance.choice([1, 4, 32])))
        for writer in writers:
            writer.wait_for_first()
        time.sleep(chance.random() * 0.15)  # the moment is the point
        for writer in writers:
            writer.kill()
            acknowledged += writer.acknowledged
        check(path, acknowledged)
    assert len(acknowledged) >= crashes * processes
    print(f"{crashes} crashes of {processes}: {len(acknowledged)} acknowledged, {check(path, acknowledged)} there")

# SPDX-License-Identifier: Apache-2.0
