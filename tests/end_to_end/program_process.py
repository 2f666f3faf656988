"""A program of ours as a child process: found, started, awaited, measured and ended.

The program is that of $KATANA_BUILD, which defaults to build/release under the repository root. A module named after
the program has its promises beyond the ready line.
"""
import functools
import os
import pathlib
import queue
import re
import signal
import subprocess
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
START_SECONDS_MAX = 20
STOP_SECONDS_MAX = 30
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def built(name):
    """Return the path of a program of the build under test; fails with the command that builds it."""
    build = pathlib.Path(os.environ.get("KATANA_BUILD", ROOT / "build" / "release")).resolve()
    path = build / name
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: cmake --preset {build.name} && cmake --build --preset {build.name}"
                                f" --target {name} (or set KATANA_BUILD to the build directory)")
    return str(path)


@functools.cache
def engines():
    """The names of the engines of the build under test, whether or not they run here."""
    listed = subprocess.run([built("hello_world_server"), "--list-engines"], capture_output=True, text=True, timeout=20,
                            check=True)
    return tuple(line.split()[0] for line in listed.stdout.splitlines())


def ready_line(name):
    """Return the pattern of the line that a server prints once it accepts connections."""
    return re.compile(re.escape(name) + r": listening on "
                      r"(?P<url>\w+://(?P<address>[0-9.]+|\[[0-9a-f:]+\]):(?P<port>[0-9]+))"
                      r" \(engine (?P<engine>[a-z_-]+), (?P<reactors>[0-9]+) reactors\)"
                      r" in (?P<ms>[0-9.]+) ms\n")


STOPPED = re.compile(r"^.*\bstopped after (?P<requests>[0-9]+) (?:request|message)s?\b(?P<rest>.*)$", re.MULTILINE)
COUNTED = {"connections": r" on ([0-9]+) connection", "cut_off": r", ([0-9]+) connections? cut off",
           "failures": r", ([0-9]+) failure", "tasks_cancelled": r", ([0-9]+) tasks? cancelled"}


def stop_reports(text):
    """Return what each "stopped after" in the text says: names to figures, and the `line`.

    A program with a log writes a record with fields; one without writes a line that names counts above 0."""
    reports = []
    for found in STOPPED.finditer(text):
        fields = {name: int(number) for name, number in re.findall(r" (\w+)=([0-9]+)\b", found["rest"])}
        if not fields:
            fields = {name: int(match[1]) if (match := re.search(pattern, found["rest"])) else 0
                      for name, pattern in COUNTED.items()}
        reports.append({"requests": int(found["requests"]), **fields, "line": found[0]})
    return reports


def stop_report(text):
    """Return the one report in the text; fails unless there is exactly one."""
    reports = stop_reports(text)
    assert len(reports) == 1, f"wanted one line that says 'stopped after …': {text}"
    return reports[0]


class Program:
    """One running program. Leaving it as a context manager calls stop(), unless a test has failed, and kill()."""

    running = set()     # a test that fails half-way then leaves none behind: see conftest.py

    def _start(self, name, command, shared=False, **options):
        """Start it, and return once it is ready; `options` are Popen's. A `shared` one outlives a test that fails."""
        self.stdout, self._lines = "", queue.Queue()
        self._stderr = tempfile.TemporaryFile("w+")             # a file never fills up, as a pipe would
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._stderr,
                                        text=True, **options)
        if not shared:
            Program.running.add(self)
        self._reader = threading.Thread(target=self._read_stdout, daemon=True)
        self._reader.start()
        try:
            self.ready = self._wait_until_ready(ready_line(name))
        except BaseException:
            self.kill()
            raise
        self.port = int(self.ready["port"])

    def _read_stdout(self):
        for line in self.process.stdout:
            self.stdout += line
            self._lines.put(line)
        self._lines.put(None)

    def _wait_until_ready(self, pattern):
        try:
            line = self._lines.get(timeout=START_SECONDS_MAX)
        except queue.Empty:
            raise AssertionError(f"no ready line within {START_SECONDS_MAX} s; stderr: {self.stderr()}") from None
        assert line is not None, f"exit {self.process.wait(5)} before the ready line; stderr: {self.stderr()}"
        found = pattern.fullmatch(line)
        assert found, f"the ready line is not the one of the contract: {line!r}; stderr: {self.stderr()}"
        return found

    def stderr(self):
        """Return its log so far."""
        with open(f"/proc/self/fd/{self._stderr.fileno()}", encoding="utf-8", errors="replace") as log:
            return log.read()

    def url(self, path=""):
        """Return the URL of a path."""
        return f"http://127.0.0.1:{self.port}{path}"

    # ---- its costs --------------------------------------------------------------------------------

    @property
    def pid(self):
        """The process id."""
        return self.process.pid

    def status_kib(self, name):
        """Return a size of /proc/PID/status in KiB: VmRSS, VmHWM, …"""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
            return int(re.search(rf"^{name}:\s+(\d+) kB", status.read(), re.MULTILINE).group(1))

    def rss_kib(self):
        """Return the resident size."""
        return self.status_kib("VmRSS")

    def cpu_seconds(self):
        """Return user and system time used so far."""
        with open(f"/proc/{self.pid}/stat", encoding="utf-8") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND

    def open_descriptors(self):
        """Return how many files it holds open."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    # ---- the end ---------------------------------------------------------------------------------

    def send_signal(self, number=signal.SIGTERM):
        """Send a signal."""
        self.process.send_signal(number)

    def wait(self, seconds=STOP_SECONDS_MAX):
        """Wait for the end and return the exit status; kills it and fails when it does not end."""
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"still running {seconds} s after it was told to stop: {self.stderr()}") from None
        Program.running.discard(self)
        self._reader.join(5)
        return status

    def kill(self):
        """End it at once."""
        Program.running.discard(self)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)

    def alive(self):
        """True while it runs."""
        return self.process.poll() is None

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.stop()
        finally:
            self.kill()
            self._reader.join(5)
            self.process.stdout.close()
            self._stderr.close()

# SPDX-License-Identifier: Apache-2.0
