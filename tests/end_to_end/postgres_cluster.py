"""A PostgreSQL server of a test's own: in a folder, on a Unix socket, as an unprivileged user."""
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

BIN = pathlib.Path("/usr/lib/postgresql/15/bin")
START_SECONDS_MAX = 60


def unprivileged():
    """Popen's options for a user whom PostgreSQL does not refuse."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


class PostgresCluster:
    """One server; `settings` are NAME=VALUE. A context manager: leaving it ends the server and its folder."""

    def __init__(self, *settings):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="katana-cluster-", dir="/tmp"))
        self.settings, self.process = settings, None
        self.log = self.folder / "log"
        if os.geteuid() == 0:
            shutil.chown(self.folder, "nobody")
        self._run("initdb", "-D", self.data, "-U", "katana", "-A", "trust", "-E", "UTF8", "--no-locale",
                  "--no-instructions", "--no-sync")

    @property
    def data(self):
        """The folder of the server's files."""
        return str(self.folder / "data")

    def _run(self, program, *arguments):
        subprocess.run([BIN / program, *arguments], cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True,
                       check=True, timeout=120, **unprivileged())

    def start(self):
        """Start it, and return once it answers. What a killed one left behind may take a moment to end."""
        deadline = time.monotonic() + START_SECONDS_MAX
        while True:
            assert time.monotonic() < deadline, self.log.read_text()
            if self.process is None or self.process.poll() is not None:
                self._launch()
            if self.answers():
                return
            time.sleep(0.01)

    def _launch(self):
        options = [part for each in (*self.settings, "listen_addresses=", f"unix_socket_directories={self.folder}",
                                     "shared_buffers=16MB", "autovacuum=off") for part in ("-c", each)]
        with open(self.log, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen([BIN / "postgres", "-D", self.data, *options], cwd="/", stdout=log,
                                            stdin=subprocess.DEVNULL, stderr=log, **unprivileged())

    def answers(self):
        """True: it takes connections."""
        return subprocess.run([BIN / "pg_isready", "-q", "-h", self.folder], check=False, timeout=20).returncode == 0

    def kill(self):
        """SIGKILL the postmaster; its processes end when they see that it is gone."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)

    def ask(self, statement, database="postgres"):
        """Return the rows of a statement, each a list of texts."""
        command = [BIN / "psql", "-X", "-q", "-A", "-t", "-F", "\t", "-h", self.folder, "-U", "katana", "-d", database]
        done = subprocess.run([*command, "-c", statement], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, timeout=120)
        assert done.returncode == 0, f"{statement}: {done.stderr}"
        return [line.split("\t") for line in done.stdout.splitlines()]

    def url(self, database="postgres"):
        """The URL for a program."""
        return f"postgresql://katana@/{database}?host={str(self.folder).replace('/', '%2F')}"

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(60)
        shutil.rmtree(self.folder, ignore_errors=True)

# SPDX-License-Identifier: Apache-2.0
