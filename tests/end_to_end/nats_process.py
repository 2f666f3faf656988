"""A nats-server with JetStream as a child process, in its own folder."""
import shutil
import signal
import subprocess

from redis_process import SECONDS_MAX, wait_for_port
from server_process import free_port


class Nats:
    """One server, which keeps its state when it is killed; a context manager that kills it."""

    def __init__(self, folder, port=None):
        self.port, self.store = port or free_port(), folder / "nats"
        self.process = None
        self.start()

    def start(self):
        """Start it, and return once it answers."""
        program = shutil.which("nats-server") or "/usr/sbin/nats-server"
        flags = ["-a", "127.0.0.1", "-p", str(self.port), "-js", "-sd", str(self.store)]
        self.process = subprocess.Popen([program, *flags], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        wait_for_port(self.process, self.port)

    def kill(self, forget=False):
        """End it at once, as a crash does; `forget`: its state is lost."""
        self.process.kill()
        self.process.wait(SECONDS_MAX)
        if forget:
            shutil.rmtree(self.store)

    def pause(self, paused=True):
        """Stop it without closing anything, or let it go on."""
        self.process.send_signal(signal.SIGSTOP if paused else signal.SIGCONT)

    @property
    def url(self):
        """Its URL."""
        return f"nats://127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()

# SPDX-License-Identifier: Apache-2.0
