"""A redis-server as a child process, in its own folder."""
import signal
import socket
import subprocess
import time

from server_process import free_port

SECONDS_MAX = 20


def wait_for_port(process, port):
    """Return once the process listens on the port."""
    end = time.monotonic() + SECONDS_MAX
    while True:
        assert process.poll() is None, f"{process.args[0]} ended with {process.returncode}"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            assert time.monotonic() < end, f"{process.args[0]} does not listen"
            time.sleep(0.01)


class Redis:
    """One server, which forgets everything when it ends; a context manager that kills it."""

    def __init__(self, folder, *flags, port=None):
        self.port = port or free_port()
        self.flags = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", "",
                      "--appendonly", "no", *flags]
        self.process = None
        self.start()

    def start(self):
        """Start it, and return once it answers."""
        self.process = subprocess.Popen(["redis-server", *self.flags], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for_port(self.process, self.port)

    def kill(self):
        """End it at once, as a crash does."""
        self.process.kill()
        self.process.wait(SECONDS_MAX)

    def pause(self, paused=True):
        """Stop it without closing anything, or let it go on."""
        self.process.send_signal(signal.SIGSTOP if paused else signal.SIGCONT)

    def ask(self, *words):
        """Return what redis-cli prints for a command."""
        return subprocess.run(["redis-cli", "-p", str(self.port), *words], capture_output=True, text=True,
                              timeout=SECONDS_MAX, check=True).stdout.strip()

    @property
    def url(self):
        """Its URL."""
        return f"redis://127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()

# SPDX-License-Identifier: Apache-2.0
