"""fullstack as a child process in a folder of its own: started, awaited, ended and checked against its contract."""
import os
import pathlib
import re
import select
import signal
import subprocess
import tempfile

import httpx

from server_process import ROOT, START_SECONDS_MAX, STOP_SECONDS_MAX, Server

READY = re.compile(r"fullstack: ready on http://(?P<address>[0-9.]+):(?P<port>[0-9]+)"
                   r" \(engine (?P<engine>epoll-edge|epoll-level|io_uring), (?P<reactors>[0-9]+) reactors\)"
                   r" in (?P<ms>[0-9.]+) ms\n")
STOPPED = re.compile(r"^fullstack: stopped: (?P<requests>\d+) requests on (?P<connections>\d+) connections finished,"
                     r" (?P<cut_off>\d+) connections cut off, (?P<failures>\d+) failures$", re.MULTILINE)
# Of the configuration: a test waits neither for whoever balances load nor for an idle client.
QUICK = ("http.drain_notice=0s", "http.drain_timeout=5s", "http.reactors=2")


def program_path():
    """Return the path of the program of the build under test."""
    build = pathlib.Path(os.environ.get("KATANA_BUILD", ROOT / "build" / "release"))
    path = build.resolve() / "fullstack"
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: cmake --build --preset {build.name} --target fullstack")
    return str(path)


def environment(**variables):
    """Return this process's environment without the program's variables, plus the given ones."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KATANA_")}
    return {**kept, **variables}


def flags_of(sets):
    """Return --set flags."""
    return [part for each in sets for part in ("--set", each)]


def run_program(folder, *arguments, seconds=20, prefix=(), **variables):
    """Run the program to its end in a folder and return the CompletedProcess with text output."""
    return subprocess.run([*prefix, program_path(), *arguments], cwd=folder, env=environment(**variables),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, check=False)


class FullStack:
    """One running program. A context manager: leaving it drains the program and checks how that ended.

    `sets` are configuration, as for --set. `prefix` is a program that starts it, such as prlimit. One that is `shared`
    by several tests is not ended when one of them fails.
    """

    def __init__(self, folder, *flags, sets=(), prefix=(), shared=False):
        self.folder = pathlib.Path(folder)
        self._stderr = tempfile.TemporaryFile("w+")             # a file never fills up, as a pipe would
        command = [*prefix, program_path(), "--port", "0", *flags_of(QUICK), *flags_of(sets), *flags]
        self.process = subprocess.Popen(command, cwd=folder, env=environment(), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=self._stderr, text=True)
        if not shared:
            Server.running.add(self)
        ready, _, _ = select.select([self.process.stdout], [], [], START_SECONDS_MAX)
        line = self.process.stdout.readline() if ready else ""
        self.ready = READY.fullmatch(line)
        if not self.ready:
            self.kill()
            raise AssertionError(f"the ready line is not the one of the contract: {line!r}; stderr: {self.stderr()}")
        self.port = int(self.ready["port"])
        self.client = httpx.Client(base_url=self.url(), timeout=20)

    def url(self, path=""):
        """Return the URL of a path."""
        return f"http://127.0.0.1:{self.port}{path}"

    def stderr(self):
        """Return what the program has logged so far."""
        with open(f"/proc/self/fd/{self._stderr.fileno()}", encoding="utf-8", errors="replace") as log:
            return log.read()

    @property
    def pid(self):
        """The process id."""
        return self.process.pid

    def rss_kib(self):
        """Return the resident size."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
            return int(re.search(r"^VmRSS:\s+(\d+) kB", status.read(), re.MULTILINE)[1])

    def descriptors(self):
        """Return how many files it holds open."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def add_user(self, name, email, path="/api/users"):
        """Add a user and return the reply."""
        return self.client.post(path, json={"name": name, "email": email})

    def wait(self, seconds=STOP_SECONDS_MAX):
        """Wait for the end and return the exit status."""
        self.client.close()
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"still running after {seconds} s: {self.stderr()}") from None
        Server.running.discard(self)
        return status

    def stop(self, number=signal.SIGTERM):
        """Drain it; check exit status and report. Return the report as a match."""
        self.process.send_signal(number)
        self.client.close()
        status = self.wait()
        report = STOPPED.findall(self.stderr())
        assert status == 0 and len(report) == 1, f"exit status {status}; stderr: {self.stderr()}"
        return STOPPED.search(self.stderr())

    def kill(self):
        """End it at once."""
        Server.running.discard(self)
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
            if kind is None and self.alive():
                self.stop()
        finally:
            self.kill()
            self.process.stdout.close()
            self._stderr.close()
