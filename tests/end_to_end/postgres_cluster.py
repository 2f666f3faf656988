"""A PostgreSQL server of a test's own, in a temporary folder, as an unprivileged user; never the system's."""
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

from server_process import free_port

PROGRAMS = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name),
               default=pathlib.Path("/usr/lib/postgresql/bin"))
START_SECONDS_MAX = 60


class Cluster:
    """A running server. A context manager: leaving it ends the server and removes its folder.

    It listens on a Unix socket in its folder and on 127.0.0.1. Unless `settings` say otherwise, it flushes nothing.
    """

    def __init__(self, **settings):
        self.settings = {"fsync": "off", "full_page_writes": "off", "max_connections": "60", "shared_buffers": "16MB",
                         "autovacuum": "off", **settings}
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="katana-postgres-"))
        self.port = free_port()
        self.process = None
        self._databases = 0
        # PostgreSQL refuses to run as root.
        self._user = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        try:
            if self._user:
                os.chown(self.folder, self._user.pw_uid, self._user.pw_gid)
            self._run("initdb", "-D", self.folder / "data", "-U", "katana", "-A", "trust", "-E", "UTF8", "--no-locale",
                      "-N", "--no-instructions")
            self.start()
        except BaseException:
            self.remove()
            raise

    def _identity(self):
        return {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []} if self._user else {}

    def _run(self, program, *arguments):
        """Run one of PostgreSQL's programs to its end and return its output."""
        ended = subprocess.run([PROGRAMS / program, *map(str, arguments)], cwd="/", capture_output=True, text=True,
                               timeout=START_SECONDS_MAX, check=False, **self._identity())
        assert ended.returncode == 0, f"{program}: {ended.stderr}"
        return ended.stdout

    def _log(self):
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    def start(self):
        """Start the server and return once it answers. Remains of a killed server may take a moment to end."""
        give_up = time.monotonic() + START_SECONDS_MAX
        while True:
            if self.process is None or self.process.poll() is not None:
                self._launch()
            if self.answers():
                return
            assert time.monotonic() < give_up, self._log()
            time.sleep(0.02)

    def _launch(self):
        settings = (part for name, value in self.settings.items() for part in ("-c", f"{name}={value}"))
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [PROGRAMS / "postgres", "-D", self.folder / "data", "-k", self.folder, "-h", "127.0.0.1", "-p",
                 str(self.port), *settings],
                cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **self._identity())

    def answers(self):
        """Whether it accepts connections."""
        return subprocess.run([PROGRAMS / "pg_isready", "-q", "-h", self.folder, "-p", str(self.port)], check=False,
                              timeout=START_SECONDS_MAX).returncode == 0

    def stop(self):
        """End it in order, as a restart would."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(START_SECONDS_MAX)

    def kill(self):
        """SIGKILL the postmaster; its processes end when they see that it is gone."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(START_SECONDS_MAX)

    def ask(self, statement, database="postgres"):
        """Run a statement and return the text of its values."""
        return self._run("psql", "-h", self.folder, "-p", self.port, "-U", "katana", "-d", database, "-X", "-A", "-t",
                         "-q", "-v", "ON_ERROR_STOP=1", "-c", statement).strip()

    def rows(self, statement, database="postgres"):
        """Run a statement and return its rows, each a list of texts."""
        return [line.split("|") for line in self.ask(statement, database).splitlines()]

    def url(self, database="postgres"):
        """The URL of a database for a program."""
        return f"postgresql://katana@127.0.0.1:{self.port}/{database}"

    def new_database(self):
        """Make an empty database and return its URL."""
        self._databases += 1
        name = f"test{self._databases}"
        self.ask(f"CREATE DATABASE {name}")
        return self.url(name)

    def remove(self):
        """End it at once, if it runs, and remove its folder."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            try:
                self.process.wait(START_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()

# SPDX-License-Identifier: Apache-2.0
