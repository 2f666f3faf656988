"""application_server as a child process, in its own folder."""
import os
import re
import signal
import socket
import subprocess
import threading
import urllib.error
import urllib.request
from pathlib import Path

from program_process import built, ready_line, stop_report
from server_process import environment

PROGRAM = "application_server"
SECONDS_MAX = 60


def program_path():
    """Return the path of the program."""
    return built(PROGRAM)


def clean_environment(**variables):
    """This process's variables without those that the program would read, and the given ones."""
    kept = {name: value for name, value in environment().items() if not name.startswith(("KATANA_", "NOTIFY_"))}
    return {**kept, **variables}


class Application:
    """One running program. `folder` is its working directory; a context manager that kills the remaining processes."""

    def __init__(self, folder, *flags, listener=None, wait=True, descriptors_max=None, plain=False, **variables):
        self.folder = folder
        command = [program_path(), "--set", "http.reactors=2", "--set", "http.drain_notice=0s", *flags]
        if plain:   # the flags say everything
            command = [program_path(), *flags]
        elif not any("port" in flag for flag in flags) and "KATANA_PORT" not in variables:
            command += ["--port", "0"]
        more = {}
        if listener is not None:    # as systemd does: the socket is descriptor 3, and the variables name the process
            command = ["/bin/sh", "-c", 'LISTEN_PID=$$ exec "$0" "$@"', *command]
            variables["LISTEN_FDS"] = "1"
            more = {"pass_fds": [3], "preexec_fn": lambda: os.dup2(listener.fileno(), 3)}
        if descriptors_max is not None:
            command = ["/bin/sh", "-c", f'ulimit -n {descriptors_max} && exec "$0" "$@"', *command]
        self.stderr_path = folder / "stderr"
        with open(self.stderr_path, "w", encoding="utf-8") as stderr:
            self.process = subprocess.Popen(command, cwd=folder, env=clean_environment(**variables), text=True,
                                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr, **more)
        if wait:
            killer = threading.Timer(SECONDS_MAX, self.process.kill)
            killer.start()
            line = self.process.stdout.readline()
            killer.cancel()
            self.ready = ready_line(PROGRAM).fullmatch(line)
            assert self.ready, f"{line!r}\n{self.stderr()}"
            self.url = self.ready["url"]

    def stderr(self):
        """Return its standard error so far, its log included."""
        return self.stderr_path.read_text(encoding="utf-8")

    def get(self, path, **fields):
        """Return status, text and fields of a reply."""
        request = urllib.request.Request(self.url + path, headers=fields)
        try:
            with urllib.request.urlopen(request, timeout=SECONDS_MAX) as reply:
                return reply.status, reply.read().decode(), reply.headers
        except urllib.error.HTTPError as reply:
            return reply.code, reply.read().decode(), reply.headers

    def connect(self):
        """Return a connected socket."""
        return socket.create_connection(("127.0.0.1", int(self.ready["port"])), timeout=SECONDS_MAX)

    def wait_for_log(self, pattern):
        """Wait until the log has a line with the pattern, and return it."""
        for _ in range(SECONDS_MAX * 100):
            found = re.search(f"^.*{pattern}.*$", self.stderr(), re.MULTILINE)
            if found:
                return found[0]
            assert self.process.poll() is None, f"ended with {self.process.returncode}: {self.stderr()}"
            threading.Event().wait(0.01)
        raise AssertionError(f"no {pattern!r} in the log: {self.stderr()}")

    def send_signal(self, number):
        """Send a signal."""
        self.process.send_signal(number)

    def has_signal(self, number, field):
        """Return whether a set of signals in the kernel's status has this one: ShdPnd (pending), SigBlk (blocked)."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return bool(int(re.search(rf"^{field}:\t([0-9a-f]+)$", status, re.MULTILINE)[1], 16) >> (number - 1) & 1)

    def end(self, number=signal.SIGTERM):
        """Signal it, if a number is given; wait, check the report, and return how many connections were cut off.

        Its log has the report, so it is one of the console."""
        if number is not None:
            self.send_signal(number)
        assert self.process.wait(SECONDS_MAX) == 0, self.stderr()
        return stop_report(self.stderr())["cut_off"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)
        self.process.stdout.close()

# SPDX-License-Identifier: Apache-2.0
