"""hello_world_server as a child process: started, awaited, measured, drained and checked against its contract.

The program is $KATANA_BUILD/hello_world_server; KATANA_BUILD defaults to build/release under the repository root.
"""
import os
import pathlib
import queue
import random
import re
import resource
import signal
import socket
import subprocess
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = "hello_world_server"
ENGINES = ("epoll-edge", "epoll-level", "io_uring")
START_SECONDS_MAX = 20
STOP_SECONDS_MAX = 30
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
# Below the range the kernel gives to clients, so that no client of another test sits on a port picked here.
PORTS = range(12000, 32000)
GIVEN = set()       # ports of this process's tests: none is given twice, because who asks for two wants two

READY = re.compile(
    PROGRAM + r": ready on https?://(?P<address>[0-9.]+|\[[0-9a-f:]+\]):(?P<port>[0-9]+)"
    r" \(engine (?P<engine>epoll-edge|epoll-level|io_uring), (?P<reactors>[0-9]+) reactors\) in (?P<ms>[0-9.]+) ms\n")
# One line that says what was finished and what was cut off, with figures.
DRAINED = re.compile(r"^.*\bfinished\b.*\bcut off\b.*$", re.MULTILINE)
CUT_OFF = re.compile(r"([0-9]+)[^0-9,;]*\bcut off\b")


def program_path():
    """Return the path of the server; fails with the command that builds it when it is missing."""
    build = pathlib.Path(os.environ.get("KATANA_BUILD", ROOT / "build" / "release"))
    path = build / PROGRAM
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: cmake --preset release && cmake --build --preset release"
                                " (or set KATANA_BUILD to the build directory)")
    return str(path)


def environment(**variables):
    """Return this process's environment without the server's variables, plus the given ones."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HELLO_")}
    return {**kept, **variables}


def free_port(address="127.0.0.1"):
    """Return a port nobody listens on, each once. Workers of one test run draw from separate slices of the range."""
    worker = int(re.sub(r"\D", "", os.environ.get("PYTEST_XDIST_WORKER", "")) or 0)
    candidates = [port for port in PORTS[worker % 8::8] if port not in GIVEN]
    for _ in range(200):
        port = random.choice(candidates)
        with socket.socket() as probe:
            try:
                probe.bind((address, port))
            except OSError:
                continue
        GIVEN.add(port)
        return port
    raise OSError("no free port found")


def run_program(*arguments, seconds=10, prefix=(), **variables):
    """Run the program to its end and return the CompletedProcess with text output; fails when it goes on running."""
    command = [*prefix, program_path(), *arguments]
    try:
        return subprocess.run(command, env=environment(**variables), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as error:
        raise AssertionError(f"still running after {seconds} s: {error.cmd} {error.stdout} {error.stderr}") from None


def raise_descriptor_limit(wanted):
    """Let this process hold `wanted` descriptors; fails when the system forbids it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, max(hard, wanted)))


def cut_off(report):
    """Return how much a drain report says was cut off."""
    return int(CUT_OFF.search(report).group(1))


class Server:
    """One running server. A context manager: leaving it drains the server and checks how that ended.

    `flags` are passed on; --port, --engine and --threads have defaults here. `descriptors` limits its open files.
    `variables` are set in its environment.
    """

    running = set()     # so that a test that fails half-way leaves none behind: see conftest.py

    def __init__(self, *flags, engine="epoll-edge", threads=2, port=None, descriptors=None, variables=None):
        self.port = port if port is not None else free_port()
        command = [program_path(), "--port", str(self.port), "--threads", str(threads), "--engine", engine, *flags]
        self._start(command, descriptors, variables or {})
        try:
            self.check_ready(engine, threads)
        except AssertionError:
            self.kill()
            raise

    @classmethod
    def bare(cls, *flags, variables=None, prefix=()):
        """Start the program, perhaps behind another one, with exactly these flags; the caller checks the ready line."""
        server = cls.__new__(cls)
        server._start([*prefix, program_path(), *flags], None, variables or {})
        server.port = int(server.ready["port"])
        return server

    def _start(self, command, descriptors, variables):
        if descriptors:
            command = ["prlimit", f"--nofile={descriptors}:{descriptors}", *command]
        self.stdout, self._lines = "", queue.Queue()
        self._stderr = tempfile.TemporaryFile("w+")             # a file never fills up, as a pipe would
        self.process = subprocess.Popen(command, env=environment(**variables), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=self._stderr, text=True)
        Server.running.add(self)
        self._reader = threading.Thread(target=self._read_stdout, daemon=True)
        self._reader.start()
        try:
            self.ready = self._wait_until_ready()
        except BaseException:
            self.kill()
            raise

    def _read_stdout(self):
        for line in self.process.stdout:
            self.stdout += line
            self._lines.put(line)
        self._lines.put(None)

    def _wait_until_ready(self):
        try:
            line = self._lines.get(timeout=START_SECONDS_MAX)
        except queue.Empty:
            raise AssertionError(f"no ready line within {START_SECONDS_MAX} s; stderr: {self.stderr()}") from None
        assert line is not None, f"exit {self.process.wait(5)} before the ready line; stderr: {self.stderr()}"
        found = READY.fullmatch(line)
        assert found, f"the ready line is not the one of the contract: {line!r}"
        return found

    def check_ready(self, engine, threads, address="127.0.0.1"):
        """Check that the ready line says what was asked for."""
        said = self.ready
        assert (said["address"], said["port"]) == (address, str(self.port)), self.stdout
        assert (said["engine"], said["reactors"]) == (engine, str(threads)), self.stdout

    def stderr(self):
        """Return what the server has logged so far."""
        self._stderr.flush()
        with open(f"/proc/self/fd/{self._stderr.fileno()}", encoding="utf-8", errors="replace") as log:
            return log.read()

    # ---- what it costs ---------------------------------------------------------------------------

    @property
    def pid(self):
        """The process id of the server."""
        return self.process.pid

    def status_kib(self, name):
        """Return a size of /proc/PID/status in KiB: VmRSS, VmHWM, …"""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
            return int(re.search(rf"^{name}:\s+(\d+) kB", status.read(), re.MULTILINE).group(1))

    def cpu_seconds(self):
        """Return user and system time used so far."""
        with open(f"/proc/{self.pid}/stat", encoding="utf-8") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND

    def open_descriptors(self):
        """Return how many files the server holds open."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    # ---- clients ---------------------------------------------------------------------------------

    def url(self, path="/"):
        """Return the URL of a path."""
        return f"http://127.0.0.1:{self.port}{path}"

    def connect(self, timeout=10, receive_buffer=None):
        """Return a connected client socket."""
        sock = socket.socket()
        if receive_buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        sock.settimeout(timeout)
        sock.connect(("127.0.0.1", self.port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    # ---- the end ---------------------------------------------------------------------------------

    def send_signal(self, number=signal.SIGTERM):
        """Send a signal."""
        self.process.send_signal(number)

    def wait(self, seconds=STOP_SECONDS_MAX):
        """Wait for the end and return the exit status; kills the server and fails when it does not end."""
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"still running {seconds} s after it was told to stop: {self.stderr()}") from None
        Server.running.discard(self)
        self._reader.join(5)
        return status

    def stop(self, number=signal.SIGTERM):
        """Drain the server; check exit status, output and report. Return the report."""
        if self.process.poll() is None:
            self.send_signal(number)
        status = self.wait()
        assert status == 0, f"exit status {status}; stderr: {self.stderr()}"
        return self.drain_report()

    def drain_report(self):
        """Check that standard output was the ready line, and that the drain was reported once; return the report."""
        lines = self.stdout.splitlines()
        assert len(lines) >= 1 and READY.fullmatch(lines[0] + "\n"), self.stdout
        reports = DRAINED.findall("\n".join(lines[1:]) + "\n" + self.stderr())
        assert len(reports) == 1 and CUT_OFF.search(reports[0]) and re.search(r"[0-9].*\bfinished\b", reports[0]), \
            f"wanted one line that says what was finished and what was cut off: {self.stdout}{self.stderr()}"
        assert len(lines) == 1 or lines[1:] == reports, f"more than the ready line on standard output: {self.stdout}"
        return reports[0]

    def kill(self):
        """End it at once."""
        Server.running.discard(self)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)

    def alive(self):
        """True while the process runs."""
        return self.process.poll() is None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        try:
            if kind is None:
                self.stop()
        finally:
            self.kill()
            self._stderr.close()
