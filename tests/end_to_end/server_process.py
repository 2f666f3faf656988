"""hello_world_server as a child process: started, awaited, measured, drained and checked against its contract."""
import os
import random
import re
import resource
import signal
import socket
import subprocess

from program_process import Program, built, engines, ready_line, stop_report

PROGRAM = "hello_world_server"
ENGINES = engines()
# Below the range the kernel gives to clients, so that no client of another test sits on a port picked here.
PORTS = range(12000, 32000)
GIVEN = set()       # ports of this process's tests: none is given twice, because who asks for two wants two



def environment(**variables):
    """Return this process's environment without the server's variables, plus the given ones."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HELLO_")}
    return {**kept, **variables}


def free_port(address="127.0.0.1"):
    """Return a port on which no program listens, each once. Workers of one test run use separate slices of the
    range."""
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


def run_program(*arguments, program=PROGRAM, seconds=10, prefix=(), **variables):
    """Run the program to its end and return the CompletedProcess with text output; fails when it goes on running."""
    command = [*prefix, built(program), *arguments]
    try:
        return subprocess.run(command, env=environment(**variables), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as error:
        raise AssertionError(f"still running after {seconds} s: {error.cmd} {error.stdout} {error.stderr}") from None


def assert_refused(result, status, *names, program=PROGRAM):
    """One line on standard error that names the program and the culprit, nothing on standard output."""
    lines = result.stderr.splitlines()
    assert result.returncode == status, (result.returncode, result.stderr)
    assert len(lines) == 1 and program in lines[0], result.stderr
    assert all(name in lines[0] for name in names), result.stderr
    assert result.stdout == ""


def raise_descriptor_limit(wanted):
    """Let this process hold `wanted` descriptors; fails when the system forbids it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, max(hard, wanted)))


class Server(Program):
    """One running server. A context manager: leaving it drains the server and checks how that ended.

    `flags` are passed on; --port, --engine and --threads have defaults here. `descriptors` limits its open files.
    `variables` are set in its environment.
    """

    program = PROGRAM

    def __init__(self, *flags, engine="epoll-edge", threads=2, port=None, descriptors=None, variables=None):
        wanted = port if port is not None else free_port()
        command = [built(self.program), "--port", str(wanted), "--threads", str(threads), "--engine", engine, *flags]
        if descriptors:
            command = ["prlimit", f"--nofile={descriptors}:{descriptors}", *command]
        self._start(self.program, command, env=environment(**(variables or {})))
        try:
            self.check_ready(engine, threads, port=wanted)
        except AssertionError:
            self.kill()
            raise

    @classmethod
    def bare(cls, *flags, variables=None, prefix=()):
        """Start the program, perhaps behind another one, with exactly these flags; the caller checks the ready line."""
        server = cls.__new__(cls)
        server._start(cls.program, [*prefix, built(cls.program), *flags], env=environment(**(variables or {})))
        return server

    def check_ready(self, engine, threads, address="127.0.0.1", port=None):
        """Check that the ready line has the requested values."""
        said = self.ready
        assert (said["address"], said["port"]) == (address, str(port or self.port)), self.stdout
        assert (said["engine"], said["reactors"]) == (engine, str(threads)), self.stdout

    def url(self, path="/"):
        """Return the URL of a path."""
        return super().url(path)

    def connect(self, timeout=10, receive_buffer=None):
        """Return a connected client socket."""
        sock = socket.socket()
        if receive_buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        sock.settimeout(timeout)
        sock.connect(("127.0.0.1", self.port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def stop(self, number=signal.SIGTERM):
        """Drain the server; check exit status, output and report. Return the report."""
        if self.alive():
            self.send_signal(number)
        status = self.wait()
        assert status == 0, f"exit status {status}; stderr: {self.stderr()}"
        return self.drain_report()

    def drain_report(self):
        """Check that standard output was the ready line, and that the drain was reported once; return the report."""
        lines = self.stdout.splitlines()
        assert len(lines) >= 1 and ready_line(self.program).fullmatch(lines[0] + "\n"), self.stdout
        assert len(lines) == 1, f"more than the ready line on standard output: {self.stdout}"
        return stop_report(self.stderr())

# SPDX-License-Identifier: Apache-2.0
