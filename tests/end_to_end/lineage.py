"""A program and those that succeed it: restarted by SIGUSR2, followed by the process ids that it logs, ended."""
import os
import re
import signal
import time

SERVES = re.compile(r"process ([0-9]+) serves from here on")
SECONDS_MAX = 30


def is_alive(process):
    """True while the process runs; one that has ended and was not waited for does not."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition, what):
    """Wait until the condition holds."""
    deadline = time.monotonic() + SECONDS_MAX
    while not condition():
        assert time.monotonic() < deadline, what()
        time.sleep(0.01)


class Lineage:
    """A program that was started: a Program, or an object with its `process` and `stderr()`.

    It is a context manager: remaining successors are killed at the end."""

    def __init__(self, first):
        self.first, self.processes = first, [first.process.pid]

    @property
    def pid(self):
        """The process that serves."""
        return self.processes[-1]

    def restart(self):
        """Restart it; return when the successor serves. Returns its process id."""
        before = len(SERVES.findall(self.first.stderr()))
        os.kill(self.pid, signal.SIGUSR2)
        wait_until(lambda: len(SERVES.findall(self.first.stderr())) > before, self.first.stderr)
        self.processes.append(int(SERVES.findall(self.first.stderr())[-1]))
        return self.pid

    def wait_for_end_of(self, process):
        """Wait until a process has ended."""
        if process == self.first.process.pid:
            assert self.first.process.wait(SECONDS_MAX) == 0, self.first.stderr()
        else:
            wait_until(lambda: not is_alive(process), lambda: f"{process} runs: {self.first.stderr()}")

    def end(self):
        """Tell the last one to end, and wait for all."""
        os.kill(self.pid, signal.SIGTERM)
        for each in self.processes:
            self.wait_for_end_of(each)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for each in self.processes[1:]:
            if is_alive(each):
                os.kill(each, signal.SIGKILL)
        self.first.kill()

# SPDX-License-Identifier: Apache-2.0
